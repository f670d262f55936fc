# Means of groups whose members and sizes are private: the price, what a moved record tells, totality, what is shown

internal <- asNamespace("riemdp")
SPACE <- list(M = sphere(2), center = c(0, 0, 1), radius = 0.6)
points_of <- function(a) mf_exp(SPACE$M, SPACE$center, mf_from_coords(SPACE$M, SPACE$center, a))
grouped <- function(x, by, levels = c("a", "b", "c"), ..., epsilon = 2) {
  dp_mean(x, SPACE$M, epsilon, SPACE$center, SPACE$radius, by = by, levels = levels, ...)
}
some <- function(n) points_of(matrix(0.2 * sin(seq_len(2 * n)), n))

test_that("groups cost what is asked for: all of it each where a record is there or not, else the sizes and two means", {
  x <- some(90)
  by <- rep(c("a", "b", "c"), 30)
  cases <- list(list(0, "laplace"), list(1e-5, "laplace"), list(1e-5, "wrapped_gaussian"), list(1e-5, "gaussian"))
  for (case in cases) for (neighbours in c("replace", "add_remove")) for (invalid in c("error", "center")) {
    delta <- case[[1]]
    mechanism <- case[[2]]
    moved <- neighbours == "replace"
    ledger <- dp_ledger(NULL, 5, 1e-3, adjacency = if (moved) "replace-one" else "add-remove")
    g <- grouped(x, by, delta = delta, neighbours = neighbours, mechanism = mechanism, ledger = ledger, invalid = invalid,
                 options = list(form = if (delta > 0) "tail" else "plain"))
    promised <- guarantee(g)
    expect_identical(promised$adjacency, if (moved) "replace-one" else "add-remove")
    expect_identical(promised$epsilon, 2)
    expect_identical(promised$delta, delta)
    expect_equal(g$budget$cost[["epsilon"]], 2, tolerance = 1e-12)
    expect_identical(nrow(ledger_history(ledger)), 1L)
    expect_equal(sum(g$draws$epsilon), 2)
    for (name in c("a", "b", "c")) {
      r <- g[[name]]
      # what the means may cost: with one draw for all sizes that is in the call's draws, not in the group's
      size <- if (moved) g$draws$epsilon[1] else r$draws$epsilon[1]
      mean <- r$draws[nrow(r$draws), ]
      left <- 2 - size
      expect_equal(r$size$epsilon * r$size$scale, if (moved) 2 else 1, tolerance = 1e-8)
      expect_gte(size * (1 + 1e-12), 2 / r$size$scale / (if (moved) 1 else 2))
      if (mean$mu == 0) expect_lte(mean$epsilon, left + 1e-12)
      each <- if (moved && mechanism == "gaussian") left / 2 else left
      expect_equal(mean$epsilon, if (mean$mu == 0) each else 0, tolerance = 1e-6)
      q <- exp(-1 / r$size$scale)
      p <- if (moved) internal$balanced_law(r$size$scale, if (invalid == "error") 3 else 4)
      tail <- if (r$size$form != "tail") 0 else if (moved) 2 * sum(p[seq_along(p) > r$size$shift]) else q^r$size$shift / (1 + q)
      noise <- if (mean$mu > 0) internal$gaussian_delta(mean$mu, left) else mean$delta * if (each < left) 1 + exp(each) else 1
      expect_lte(tail + noise, delta * (1 + 1e-3))
      expect_gt(mean$epsilon / 10 + mean$mu, 0.02)
      expect_identical(guarantee(r)$adjacency, promised$adjacency)
      expect_identical(r$n, NA_real_)
      # a record's move between two groups is in the sensitivity, with what is computed of both
      d <- moved && mechanism != "gaussian"
      ball <- internal$check_radius(SPACE$M, SPACE$radius, SPACE$center)
      one <- as.numeric(internal$padded_sensitivity(r$size$points, ball, r$size$form, !mechanism %in% internal$ABOUT_MEAN))
      steps <- internal$mean_steps(SPACE$M, ball, r$size$points)
      off <- if (promised$numerics == "lattice") 2 * steps$error + sqrt(mf_facts(SPACE$M)$dimension) * r$details$step else
        2 * if (r$mechanism %in% c("laplace", "gaussian")) steps$distance else steps$error
      expect_equal(r$solver_error / off, 1 + d, tolerance = 1e-6)
      expect_equal(r$sensitivity / one,
                   if (!d) 1 else if (mechanism == "laplace") 2 else 2 * internal$padded_reach(ball) / internal$joined_reach(ball), tolerance = 1e-6)
    }
  }
})

test_that("errors of computing cost no more than what they are given, whatever the sizes of the two groups", {
  # a record that leaves a group of N or more and enters one that is smaller: its parts of D are a and 1 - a, the errors any part of D
  for (form in c("sum", "scaled", "plain", "tail")) for (law in c("sum", "normal")) for (rho in c(0, 0.6)) {
    facts <- list(radius = 1, k_max = rho^2, k_min = 0)
    n <- 50
    whole <- as.numeric(internal$moved_sensitivity(n, facts, form, law == "normal"))
    each <- if (rho > 0) tan(rho) / rho else 1
    short <- if (rho > 0) each + rho / sin(rho) * (each - 1) else 1
    moves <- switch(form, sum = c(1, 1) / n, scaled = 1.01 * c(short, short) / n, plain = c(2, 2) * each / (n + 1), tail = c(short, short) / n)
    k <- internal$touched_errors(list(size = list(form = form, law = law)))
    costs <- outer(10^(-8:3), 10^(-8:3), function(x, y) {
      part <- function(move, error) (move / whole + error) / (1 + k * error)
      if (law == "normal") sqrt(part(moves[1], x)^2 + part(moves[2], y)^2) else part(moves[1], x) + part(moves[2], y)
    })
    expect_lte(max(costs), 1 + 1e-9)
  }
  expect_identical(internal$touched_errors(list(size = list(form = "plain", law = "half"))), 1)
})

# all that leaves the call, of the sizes and means of two groups on the line, for data with each record in one of them
two_groups <- function(ask, data) {
  counts <- lengths(data)
  sizes <- internal$noisy_sizes(counts, ask$size$ratio)
  lapply(seq_along(data), function(i) internal$release_size(ask$manifold, data[[i]], counts[i], ask, sizes[i]))
}
line_ask <- function(M = euclidean(1), ...) {
  ask <- internal$mean_ask(M, NA_real_, 2, if (mf_facts(M)$ambient == 1) 0 else c(1, 0, 0), 1, 0, "laplace", NULL, "proven", "ordinary", "real", 1e6, list(...))
  ask$manifold <- M
  ask$names <- c("a", "b")
  ask$invalid <- "error"
  internal$groups_ask(M, ask, TRUE, 3)
}

groups_asked <- function(M, center, radius, epsilon, delta, mechanism, n, groups = 2) {
  ask <- internal$mean_ask(M, NA_real_, epsilon, center, radius, delta, mechanism, NULL, "proven", "ordinary", "real", 1e6, list())
  ask$manifold <- M
  ask$names <- letters[seq_len(groups)]
  ask$invalid <- "error"
  internal$groups_ask(M, ask, TRUE, n)
}

test_that("a record that moves between groups loses no more than epsilon, and half of the noise is caught", {
  draws <- if (quick()) 2500 else 4000
  # a record at the edge moves from one group to the other
  one <- list(a = c(1, 1), b = numeric())
  two <- list(a = 1, b = 1)
  loss <- function(ask) {
    remembered <- plans_of_sizes()
    events <- function(data, seed) with_internals(with_simulation(seed, vapply(seq_len(draws), function(i) {
      out <- two_groups(ask, data)
      out[[1]]$size$count >= 2 && out[[1]]$value * out[[1]]$size$points >= 2 && out[[2]]$value * out[[2]]$size$points <= 0
    }, NA)), plan_size = remembered)
    k <- sum(events(one, 1))
    l <- sum(events(two, 2))
    log(stats::qbeta(1e-3, k, draws - k + 1)) - log(stats::qbeta(1 - 1e-3, l + 1, draws - l))
  }
  ask <- line_ask(count = 0.5)
  held <- loss(ask)
  expect_lte(held, 2)
  expect_gt(held, 0.8)
  # each mean as if a record touched no other
  expect_gt(with_internals(loss(ask), moved_sensitivity = function(n, facts, form, normal, wrapped) structure(facts$radius / n, theorem = "")), 2)
  # the sizes as if one of them moved
  ask$size$ratio <- internal$geometric_ratio(ask$size$epsilon * 2)
  expect_gt(loss(ask), 1.9)
})

test_that("the sizes' noise is 0 in all and has its law, one by one as well", {
  draws <- if (quick()) 20000 else 40000
  for (case in list(c(2, 3), c(3, 1.5), c(4, 0.8))) {
    C <- case[1]
    scale <- case[2]
    z <- with_simulation(C, .Call(internal$riemdp_lattice_noise, euclidean(C), draws, "balanced", internal$as_ratio(scale), TRUE))
    expect_true(all(rowSums(z) == 0))
    # by enumeration
    g <- as.matrix(expand.grid(rep(list(-40:40), if (C == 4) 2 else C - 1)))
    if (C == 4) g <- as.matrix(expand.grid(-14:14, -14:14, -14:14))
    p <- exp(-(rowSums(abs(g)) + abs(rowSums(g))) / scale)
    p <- p / sum(p)
    alone <- tapply(p, g[, 1], sum)
    exact <- as.vector(alone[as.character(0:8)])
    expect_equal(internal$balanced_law(scale, C)[1:9], exact, tolerance = 1e-6)
    for (j in unique(c(1, C))) {
      seen <- table(factor(pmin(pmax(z[, j], -6), 6), -6:6))
      wanted <- c(sum(alone[as.numeric(names(alone)) <= -6]), alone[as.character(-5:5)], sum(alone[as.numeric(names(alone)) >= 6]))
      expect_gt(suppressWarnings(stats::chisq.test(seen, p = wanted / sum(wanted)))$p.value, 1e-6)
    }
    # pairs of them, which a wrong acceptance would tie otherwise
    expect_equal(stats::cor(z[, 1], z[, C]), -1 / (C - 1), tolerance = 0.05)
    expect_equal(internal$size_mean(list(scale = scale, categories = C)), sum(p * abs(g[, 1])), tolerance = 1e-6)
    lag <- c(0, 1, 2.5)
    expect_equal(internal$size_excess(list(scale = scale, categories = C), lag), vapply(lag, function(l) sum(p * pmax(0, g[, 1] - l)), 0), tolerance = 1e-6)
    for (tail in c(0.2, 0.025, 1e-4)) {
      far <- internal$balanced_far(scale, C, tail)
      expect_lte(sum(p[g[, 1] > far]), tail)
      expect_gt(sum(p[g[, 1] > far - 1]), tail)
    }
  }
  # beyond what the Fourier sum tells, a bound
  expect_gte(internal$balanced_far(1e5, 2, 0.025), log(0.5 / 0.025) / 2e-5 * 0.99)
  expect_gte(internal$balanced_far(3, 5, 1e-12), internal$balanced_far(3, 5, 1e-9))
  expect_error(.Call(internal$riemdp_lattice_noise, euclidean(1), 1, "balanced", c(1, 1), TRUE), class = "riemdp_error_argument")
  # what is told of a size: the intervals hold the truth as often as they say
  x <- some(60)
  by <- rep(c("a", "b"), c(40, 20))
  held <- vapply(1:(if (quick()) 100 else 150), function(i) {
    g <- grouped(x, by, c("a", "b"))
    table <- as.data.frame(g, level = 0.8)
    expect_identical(sum(table$size), 60) # nobody is in none
    table$lower[1] <= 40 && 40 <= table$upper[1]
  }, NA)
  expect_gt(stats::pbinom(sum(held), length(held), 0.8), 1e-5)
  expect_equal(grouped(x, by, c("a", "b"))[["a"]]$size$categories, 2)
  expect_equal(grouped(x, by, c("a", "b"), invalid = "center")[["a"]]$size$categories, 3)
  expect_equal(grouped(x, rep("a", 60), "a")[["a"]]$size$categories, 2)
  expect_match(paste(guarantee(grouped(x, by, c("a", "b")))$assumptions, collapse = " "), "each record is in one of the groups")
  expect_no_match(paste(guarantee(grouped(x, by, c("a", "b"), invalid = "center"))$assumptions, collapse = " "), "each record is in one")
})

# ---- sizes and sums in one release -----------------------------------------------------------------------------------------------------

test_that("sizes and means together cost epsilon, add up to all records, and are what auto takes where they err less", {
  x <- some(90)
  by <- rep(c("a", "b", "c"), c(40, 30, 20))
  for (invalid in c("error", "center")) for (clipped in list(NULL, 0.1)) {
    ledger <- dp_ledger(NULL, 5, adjacency = "replace-one")
    g <- grouped(x, by, ledger = ledger, invalid = invalid, clipped = clipped)
    expect_identical(guarantee(g)$label, "pure")
    expect_identical(guarantee(g)$adjacency, "replace-one")
    expect_identical(guarantee(g)$epsilon, 2)
    expect_identical(guarantee(g)$numerics, "lattice")
    expect_match(paste(guarantee(g)$assumptions, collapse = "; "), "noisy size of each group is part of the release")
    expect_equal(g$budget$cost[["epsilon"]], 2, tolerance = 1e-12)
    expect_equal(sum(g$draws$epsilon), 2)
    expect_identical(nrow(ledger_history(ledger)), 1L)
    r <- g[["a"]]
    expect_identical(r$size$form, "joint")
    expect_equal(r$draws$epsilon, if (is.null(clipped)) 2 else 1.8, tolerance = 1e-6)
    # one record more or less moves a count by 1 and its sum by E at most: a shell each, and half of epsilon
    ball <- internal$check_radius(SPACE$M, SPACE$radius, SPACE$center)
    reach <- internal$stretched_reach(ball, TRUE) / (1 + internal$STRETCH_BEND)
    expect_equal(r$sensitivity, reach, tolerance = 1e-9)
    step <- r$details$step * r$size$points
    expect_equal(r$details$lattice_sensitivity * step, reach + r$solver_error + sqrt(2) * step, tolerance = 1e-9)
    bounds <- internal$mean_steps(SPACE$M, ball, 30, lattice = TRUE)
    expect_gte(r$solver_error, 2 * 90 * bounds$error)
    expect_gte(r$details$shells[1], r$details$lattice_sensitivity)
    expect_equal(r$details$shells[1] / r$details$lattice_scale, r$draws$epsilon / 2, tolerance = 1e-6)
    total <- sum(as.data.frame(g)$size)
    if (invalid == "error") expect_identical(total, 90)
    expect_identical(r$size$rest, invalid == "center")
    for (text in list(format(g), utils::capture.output(explain(g)), utils::capture.output(explain(r)), utils::capture.output(print(r)))) {
      expect_false(any(grepl("NA|NULL|numeric\\(", text)))
    }
    expect_match(paste(utils::capture.output(explain(g)), collapse = " "), "each of the two groups costs half of the price")
    expect_match(gsub(" +", " ", paste(utils::capture.output(explain(r)), collapse = " ")), "One record more or less moves the number by 1")
  }
  none <- grouped(x, replace(by, 1:5, "else"), invalid = "center", epsilon = 8)
  expect_lt(abs(sum(as.data.frame(none)$size) - 85), 30)
  # what it isn't there for, before anything is spent
  form <- list(form = "joint")
  ledger <- dp_ledger(NULL, 50, 1e-3)
  for (bad in list(list(numerics = "real"), list(delta = 1e-5), list(epsilon = 9), list(epsilon = 1e-3), list(mechanism = "laplace"),
                   list(options = list(form = "joint", count = 0.1)))) {
    expect_error(do.call(grouped, utils::modifyList(list(x, by, options = form, ledger = ledger), bad)), "joint", class = "riemdp_error_unsupported")
  }
  expect_identical(nrow(ledger_history(ledger)), 0L)
  many <- paste0("g", 1:17)
  expect_error(grouped(x, rep_len(many, 90), many, options = form), "16 groups", class = "riemdp_error_unsupported")
  expect_false(grouped(x, rep_len(many, 90), many)[["g1"]]$size$form == "joint")
  # the largest scale
  expect_identical(grouped(x, by, options = form, epsilon = 2e-3)[["a"]]$size$form, "joint")
})

test_that("one group's released size and sum have the law that intervals, regions and errors are from", {
  draws <- if (quick()) 4000 else 8000
  for (case in list(list(M = euclidean(1), rest = 0, C = 2), list(M = euclidean(2), rest = 1, C = 3), list(M = euclidean(3), rest = 0, C = 4))) {
    d <- mf_facts(case$M)$dimension
    s <- list(shells = c(600, 1, 900, 300), dimension = d, categories = case$C, rest = case$rest == 1)
    law <- internal$joint_law(s)
    groups <- case$C - case$rest
    z <- with_simulation(d, .Call(internal$riemdp_lattice_noise, euclidean(case$C + groups * d), draws, "joint", c(s$shells, 900, d, case$rest), TRUE))
    # the count
    p <- law$count * law$others[seq_along(law$count)]
    p <- p / (2 * sum(p) - p[1])
    seen <- table(factor(pmin(abs(z[, 1]), 6), 0:6))
    wanted <- c(p[1], 2 * p[2:6])
    expect_gt(suppressWarnings(stats::chisq.test(seen, p = c(wanted, 1 - sum(wanted))))$p.value, 1e-6)
    above <- internal$joint_above(law)
    expect_equal(above[1:4], vapply(0:3, function(j) sum(p[-seq_len(j + 1)]), 0), tolerance = 1e-6)
    # the length of the vector
    far <- sqrt(rowSums(z[, case$C + seq_len(d), drop = FALSE]^2))
    for (level in c(0.5, 0.95)) {
      q <- internal$joint_quantile(level, law)
      k <- sum(far <= q)
      expect_gt(stats::pbinom(k, draws, level), 1e-6)
      expect_lt(mean(far <= 0.97 * q), level + 0.01)
    }
    # both together, as the error's draws have them: of a count and a vector along one axis
    half <- z[, case$C + 1] + z[, 1] * 450
    ask <- list(n = 1, center = numeric(d), ball = list(radius = 900), size = c(s, reach = 900))
    told <- internal$joint_error(case$M, ask, 1, draws = 40000)
    rest <- rowSums(z[, case$C + seq_len(d)[-1], drop = FALSE]^2)
    expect_equal(told, mean(sqrt(half^2 + rest)), tolerance = if (quick()) 0.08 else 0.03)
    # the density by which large noise is answered: from the mixture, in units of a mean of two records
    plan <- list(ask = list(size = s), details = list(step = 0.5))
    energy <- internal$joint_energy(plan)
    r <- seq(50, 3000, 50)
    weight <- vapply(r, function(r) {
      t <- 0:(length(law$others) - 1)
      shell <- pmax(ceiling((pmax(900 * t, r) - 300) / 900), 0)
      w <- law$others * exp(-shell * 1.5)
      2 * sum(w) - w[1]
    }, 0)
    expect_equal(diff(energy(r / 2)), -diff(log(weight)), tolerance = 1e-6)
  }
})

test_that("a replaced record's counts and sums move by a shell in each group, and half of the noise is caught", {
  draws <- if (quick()) 2000 else 4000
  line <- list(M = euclidean(1), center = 0, radius = 1)
  ask <- internal$mean_ask(line$M, NA_real_, 2, 0, 1, 0, "wrapped_staircase", NULL, "proven", "ordinary", "lattice", 1e6, list(form = "joint"))
  ask[c("manifold", "names", "invalid")] <- list(line$M, c("a", "b"), "error")
  ask <- internal$groups_ask(line$M, ask, TRUE, 2)
  plan <- internal$joint_plan(line$M, ask, 1)
  # a record at the edge moves from one group to the other, whose count and sum grow
  one <- list(matrix(c(1, 1), 2), NULL)
  two <- list(matrix(1), matrix(1))
  loss <- function(plan) {
    events <- function(data, seed) with_simulation(seed, vapply(seq_len(draws), function(i) {
      out <- internal$joint_release(line$M, data, matrix(1), plan, ask)
      a <- out[[1]]
      b <- out[[2]]
      a$size$count >= 2 && a$value * a$size$points >= 1.2 && b$size$count <= 0 && b$value <= 0
    }, NA))
    k <- sum(events(one, 1))
    l <- sum(events(two, 2))
    log(stats::qbeta(1e-3, k, draws - k + 1)) - log(stats::qbeta(1 - 1e-3, l + 1, draws - l))
  }
  held <- with_internals(loss(plan), joint_plan = plans_of_sizes("joint_plan"))
  expect_lte(held, 2)
  expect_gt(held, 1)
  halved <- plan
  halved$ask$size$shells[1] <- ceiling(plan$ask$size$shells[1] / 2)
  expect_gt(with_internals(loss(halved), joint_mean = function(M, like, noisy, ask) {
    list(value = noisy[2] / max(1, noisy[1]), size = list(count = noisy[1], points = max(1, noisy[1])))
  }), 2)
})

test_that("regions and sizes' intervals of sizes and means together hold what they are about", {
  calls <- if (quick()) 60 else 90
  x <- some(60)
  by <- rep(c("a", "b"), c(45, 15))
  means <- lapply(split(1:60, by), function(i) frechet_mean(x[i, ], SPACE$M)$mean)
  held <- vapply(seq_len(calls), function(i) {
    g <- grouped(x, by, c("a", "b"), epsilon = 6)
    c(size = abs(g[["b"]]$size$count - 15) <= diff(unlist(as.data.frame(g, level = 0.8)[2, c("lower", "upper")])) / 2,
      region = mf_dist(SPACE$M, g[["a"]]$released %||% g[["a"]]$value, means$a) <= confint(g[["a"]], level = 0.8)$radius,
      error = mf_dist(SPACE$M, g[["a"]]$released %||% g[["a"]]$value, means$a) / g[["a"]]$noise_error)
  }, numeric(3))
  expect_gt(stats::pbinom(sum(held[1, ]), calls, 0.8), 1e-5)
  expect_gt(stats::pbinom(sum(held[2, ]), calls, 0.8), 1e-5)
  expect_lt(mean(held[3, ]), 1.3) # at the larger of two places, so it may be less
  expect_gt(mean(held[3, ]), 0.6)
  # a size may be off on both sides, each with half of what may fail
  size <- grouped(x, by, c("a", "b"), epsilon = 0.3, options = list(form = "joint"))[["a"]]$size
  expect_equal(internal$size_reach(list(size = size), 0.9), internal$joint_far(size, 0.05) / size$points * SPACE$radius)
  expect_gt(internal$joint_far(size, 0.05), internal$joint_far(size, 0.1))
  # with large noise, which is answered by moving the draw: what is said is of that, and of missing points
  ball <- internal$check_radius(SPACE$M, SPACE$radius, SPACE$center)
  told <- vapply(seq_len(calls / 2), function(i) {
    r <- grouped(x, by, c("a", "b"), epsilon = 1)[["a"]]
    c(said = r$expected_error, place = max(r$errors), off = mf_dist(SPACE$M, r$value, means$a), missing = r$size$points)
  }, numeric(4))
  expect_lt(max(told["said", ] - told["place", ]), 0.2 * SPACE$radius)
  expect_gt(min(told["said", ] - told["place", ]), 0.003)
  expect_lt(mean(told["off", ]), 1.3 * mean(told["said", ]))
  expect_gt(mean(told["off", ]), 0.3 * mean(told["said", ]))
  expect_error(internal$missing_error(list(n = 10, size = list(reach = 1))), class = "riemdp_error_contract")
  # any number of records, and what can't be had is refused before anything is spent
  ledger <- dp_ledger(NULL, 10)
  none <- grouped(x[0, ], character(), c("a", "b"), options = list(form = "joint"), ledger = ledger)
  expect_identical(sum(as.data.frame(none)$size), 0)
  expect_identical(nrow(ledger_history(ledger)), 1L)
  flat <- function(d, epsilon) {
    dp_mean(matrix(0, 2, d), euclidean(d), epsilon, rep(0, d), 1, by = c("a", "b"), levels = c("a", "b"), options = list(form = "joint"), ledger = ledger)
  }
  expect_error(flat(2100, 0.1), "so many dimensions", class = "riemdp_error_unsupported")
  expect_error(grouped(x, by, c("a", "b"), options = list(form = "joint"), timing = "constant"), "timing", class = "riemdp_error_unsupported")
  expect_error(grouped(x, by, c("a", "b"), timing = "constant", mechanism = "wrapped"), "groups of private size", class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), 1L)
  ask <- internal$mean_ask(euclidean(1), NA_real_, 1, 0, 1, 0, "auto", NULL, "proven", "ordinary", "lattice", 1e6, list(form = "joint"))
  ask[c("manifold", "names", "invalid")] <- list(euclidean(1), c("a", "b"), "error")
  expect_error(internal$groups_ask(euclidean(1), ask, TRUE, 4e9), class = "riemdp_error_unsupported")
  # empty groups, and one that holds all
  for (by in list(rep("a", 60), rep("b", 60))) {
    g <- grouped(x, by, c("a", "b"), options = list(form = "joint"), epsilon = 0.2)
    expect_true(all(vapply(g$groups, function(r) mf_is_point(SPACE$M, r$value), NA)))
  }
  # chunks of units, and a projected mean, are read as before
  units <- grouped(x, rep(c("a", "b"), 30), c("a", "b"), unit = rep(1:15, each = 4), invalid = "center")
  expect_identical(units[["a"]]$size$form, "joint")
  expect_match(paste(utils::capture.output(explain(units[["a"]])), collapse = " "), "One unit")
})

test_that("whatever the released sizes are, a replaced record costs no more than the means' share in both groups together", {
  spaces <- list(sphere = list(M = sphere(2), center = c(0, 0, 1), radius = 0.7), hyperbolic = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1))
  base <- function(s, a, N, form) { # coordinates of what noise is added to
    steps <- internal$mean_steps(s$M, s$ball, 1)
    if (form == "scaled") steps$numbers$stretch <- internal$stretch(nrow(a) / N)
    ask <- list(size = list(form = form), n = N, center = s$center, ball = list(radius = s$radius))
    x <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, rbind(a, c(0, 0))))[seq_len(nrow(a)), , drop = FALSE]
    y <- internal$sized_records(s$M, x, nrow(a), list(numbers = steps$numbers), ask)
    as.vector(.Call(internal$riemdp_steps_mean_nonprivate, s$M, y, s$center, steps$numbers, NULL))
  }
  for (s in spaces) {
    s$ball <- internal$check_radius(s$M, s$radius, s$center)
    at <- function(sign, k) matrix(rep(c(sign * s$radius * 0.999999, 0), k), k, 2, byrow = TRUE)
    moves <- function(k, N, form, sign = 1) sqrt(sum((base(s, at(-sign, k), N, form) - base(s, rbind(at(-sign, k), at(sign, 1)), N, form))^2))
    cost <- function(k, l, N, form) {
      D <- vapply(N, function(n) as.numeric(internal$moved_sensitivity(n, s$ball, form, FALSE, TRUE)), 0)
      moves(k, N[1], form) / D[1] + moves(l, N[2], form) / D[2]
    }
    worst <- c(scaled = 0, plain = 0)
    for (k in c(0, 3, 9)) for (l in c(0, 5, 12)) for (N in c(1, 4, 9, 15)) for (form in names(worst)) {
      # beside the one that moves there are k and l
      worst[form] <- max(worst[form], cost(k, l, c(N, 5), form))
    }
    expect_true(all(worst <= 1 + 1e-9))
    # along one geodesic; on positive curvature the bounds allow for more
    flat <- s$radius / internal$padded_reach(s$ball)
    expect_true(all(worst > c(0.75, 0.85) * flat^2))
    # within one group
    for (k in c(0, 3, 12)) for (N in c(1, 4, 12)) for (form in c("scaled", "plain", "tail")) for (normal in c(TRUE, FALSE)) {
      there <- rbind(at(1, k), at(1, 1))
      here <- rbind(at(1, k), at(-1, 1))
      most <- as.numeric(internal$moved_sensitivity(N, s$ball, form, normal, TRUE))
      expect_lte(sqrt(sum((base(s, there, N, form) - base(s, here, N, form))^2)), most * (1 + 1e-9))
    }
    # pure losses add up, those of normals as squares
    D <- function(form, normal) as.numeric(internal$moved_sensitivity(1000, s$ball, form, normal)) * 1000
    each <- internal$padded_reach(s$ball)
    short <- as.numeric(internal$padded_sensitivity(1000, s$ball, "tail")) * 1000
    one <- as.numeric(internal$padded_sensitivity(1000, s$ball, "scaled")) * 1000
    expect_equal(c(D("plain", FALSE), D("scaled", FALSE), D("tail", FALSE)), c(4 * each * 1000 / 1001, 2 * one, 2 * short))
    expect_equal(c(D("plain", TRUE), D("scaled", TRUE)), c(2 * sqrt(2) * each * 1000 / 1001, 2 * one))
    expect_equal(D("tail", TRUE), max(2 * each, sqrt(2) * short))
    # a small and a large group, whatever mechanisms they have: one with N records beside the one that moves, and an empty one
    for (mechanism in c("auto", "staircase", "laplace")) for (epsilon in c(1, 4)) {
      ask <- groups_asked(s$M, s$center, s$radius, epsilon, 0, mechanism, 24)
      plans <- lapply(c(1, 3, 10, 30), function(count) internal$plan_size(s$M, ask, count))
      price <- function(plan, moved) {
        (if (plan$mechanism == "staircase") ceiling(moved / plan$steps[1]) * plan$steps[1] else moved) / plan$scale
      }
      for (one in plans) for (two in plans) {
        expect_lte(price(one, moves(one$ask$n, one$ask$n, one$ask$size$form)) + price(two, moves(0, two$ask$n, two$ask$size$form)), ask$epsilon * (1 + 1e-9),
                   label = paste(mechanism, epsilon, one$mechanism, two$mechanism))
      }
    }
  }
  line <- internal$check_radius(euclidean(1), 1, 0)
  expect_equal(as.numeric(internal$moved_sensitivity(7, line, "sum", FALSE)), 2 / 7)
  expect_equal(as.numeric(internal$moved_sensitivity(7, line, "sum", TRUE)), 2 / 7)
})

test_that("what two groups cost adds up in one way for all sizes, as the mechanism that is asked for or the best at n/K says", {
  north <- function(d) c(rep(0, d), 1)
  apex <- function(d) c(1, rep(0, d))
  cases <- list(list(sphere(2), north(2), "auto", 4, 0), list(hyperbolic(2), apex(2), "staircase", 1, 0), list(hyperbolic(3), apex(3), "gaussian", 1, 1e-5),
                list(sphere(10), north(10), "auto", 1, 1e-5), list(hyperbolic(2), apex(2), "laplace", 1, 0), list(euclidean(3), c(0, 0, 0), "auto", 0.5, 0.01))
  for (case in cases) {
    ask <- groups_asked(case[[1]], case[[2]], 0.7, case[[4]], case[[5]], case[[3]], 60)
    plans <- lapply(c(1, 3, 10, 30, 100, 300), function(count) internal$plan_size(case[[1]], ask, count))
    expect_length(unique(lapply(plans, function(plan) plan$ask$size$law)), 1)
    expect_length(unique(lapply(plans, function(plan) plan$ask[c("epsilon", "delta")])), 1)
    # a mechanism that isn't the call's own has the call's way: half of epsilon where that is known of no other
    own <- c(laplace = "sum", wrapped = "sum", wrapped_gaussian = "normal", gaussian = "half", staircase = "half")
    if (case[[3]] != "auto") expect_identical(plans[[1]]$ask$size$law, own[[case[[3]]]])
  }
})

test_that("a record's group is found from the record alone, and counted nowhere where it is none", {
  read <- internal$read_groups
  x <- data.frame(u = 1:4, v = 4:1, sex = c("f", "m", NA, "x"), site = factor(c("s", "t", "s", "t")))
  one <- read("sex", c("m", "f"), x)
  expect_identical(one$of, c(2L, 1L, NA, NA))
  expect_identical(names(one$x), c("u", "v", "site"))
  two <- read(c("sex", "site"), list(c("m", "f"), NULL), x)
  expect_identical(two$names, c("m:s", "f:s", "m:t", "f:t"))
  expect_identical(two$of, c(2L, 3L, NA, NA))
  expect_identical(read(c(2, NA, 3), c(3, 2), NULL)$of, c(2L, NA, 1L))
  expect_identical(read(c(TRUE, NA), NULL, NULL)$of, c(2L, NA))
  expect_identical(read(factor("b", c("a", "b")), NULL, NULL)$names, c("a", "b"))
  expect_error(read(c("a", "b"), NULL, NULL), "declared", class = "riemdp_error_argument")
  for (bad in list(c("a", "a"), c("a", NA), character())) expect_error(read("a", bad, NULL), class = "riemdp_error_argument")
  expect_error(read(sum, "a", NULL), class = "riemdp_error_argument")
  # none of what is in no group is read
  counts <- NULL
  with_internals(grouped(some(6), c("a", "a", "b", NA, "z", "a"), invalid = "center", mechanism = "wrapped"),
                 noisy_sizes = function(count, ratio) {
                   counts <<- c(counts, count)
                   internal$pay(internal$price_laplace(1, ratio[1] / ratio[2] / 2, "test"))
                   count
                 })
  expect_equal(counts, c(3, 1, 0, 2))
  ledger <- dp_ledger(NULL, 10)
  expect_error(grouped(some(2), c("a", "z"), ledger = ledger), "none of the declared", class = "riemdp_error_argument")
  expect_error(grouped(some(2), "a", ledger = ledger), class = "riemdp_error_shape")
  expect_error(grouped(some(2), c("a", "b"), mechanism = "kng", ledger = ledger), class = "riemdp_error_unsupported")
  expect_error(dp_mean(some(2), SPACE$M, 1, SPACE$center, SPACE$radius, levels = "a"), class = "riemdp_error_argument")
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("a formula gives what `by` gives, bit for bit, and a mean of all where its right side is 1", {
  x <- some(24)
  d <- data.frame(sex = rep(c("f", "m"), 12), site = rep(c("A", "B", "A"), 8), id = rep(1:12, 2))
  d$scan <- mf_points(x, SPACE$M)
  levels <- list(site = c("B", "A"), sex = c("m", "f"))
  ask <- function(x, ..., M = SPACE$M, seed = 1) with_simulation(seed, dp_mean(x, M, 2, SPACE$center, SPACE$radius, ...))
  same <- function(a, b) {
    expect_identical(a$value, b$value)
    expect_identical(as.data.frame(a), as.data.frame(b))
    expect_identical(a$draws, b$draws)
    expect_identical(guarantee(a)[1:9], guarantee(b)[1:9])
  }
  by <- ask(x, by = d[c("sex", "site")], levels = levels[2:1])
  expect_identical(names(by$groups), c("m:B", "f:B", "m:A", "f:A"))
  same(ask(scan ~ sex + site, data = d, levels = levels), by)
  same(ask(scan ~ (sex + site), data = as.list(d), levels = rev(levels)), by)
  same(with_simulation(1, dp_mean(scan ~ sex + site, data = d, levels = levels, epsilon = 2, center = SPACE$center, radius = SPACE$radius)), by)
  # variables behind the formula, as other functions with a formula have them
  ball <- list(epsilon = 2, center = SPACE$center, radius = SPACE$radius, levels = levels)
  second <- function(...) with_simulation(1, do.call(dp_mean, c(list(scan ~ sex + site, ...), ball)))
  same(second(d), by)
  same(second(as.list(d)), by)
  same(second(d, M = SPACE$M), by)
  same(second(d, SPACE$M), by)
  inter <- interaction(d$sex, d$site, sep = ":")
  same(ask(x, by = as.character(inter), levels = names(by$groups)), by)
  # points of columns, lists, and of the formula's environment
  apart <- cbind(d[c("sex", "site")], x = x[, 1], y = x[, 2], z = x[, 3])
  same(ask(cbind(x, y, z) ~ sex + site, data = apart, levels = levels), by)
  M <- SPACE$M
  same(ask(mf_points(cbind(x, y, z), M) ~ sex + site, data = apart, levels = levels), by)
  apart$list <- lapply(1:24, function(i) x[i, ])
  same(ask(list ~ sex + site, data = apart, levels = levels), by)
  sex <- d$sex
  same(ask(mf_points(x, M) ~ sex + site, data = d["site"], levels = levels), by)
  same(ask(x ~ sex, levels = c("f", "m")), ask(x, by = sex, levels = c("f", "m")))
  # a factor's levels are declared with it, as for `by`; others never come from the records
  d$sex <- factor(d$sex, c("m", "f", "none"))
  same(ask(scan ~ sex + site, data = d, levels = levels["site"]), ask(x, by = d[1:2], levels = list(NULL, c("B", "A"))))
  d$sex <- as.character(d$sex)
  # records in no group, units, neighbours
  d$sex[3] <- NA
  same(ask(scan ~ sex, data = d, levels = list(sex = "m"), invalid = "center"), ask(x, by = d$sex, levels = "m", invalid = "center"))
  d$sex[3] <- "f"
  d$sex <- rep(c("f", "m"), 12)
  unit <- rep(1:12, 2)
  a <- ask(scan ~ sex, data = d, levels = list(sex = c("f", "m")), unit = "id", neighbours = "add_remove")
  b <- ask(x, by = d$sex, levels = c("f", "m"), unit = unit, neighbours = "add_remove")
  expect_identical(a$value, b$value)
  expect_identical(guarantee(a)$unit, "id")
  expect_identical(ask(scan ~ sex, data = d, levels = list(sex = c("f", "m")), unit = unit)$value, ask(x, by = d$sex, levels = c("f", "m"), unit = unit)$value)
  # 1: the plain call, with all that it has
  expect_identical(ask(scan ~ 1, data = d)$value, ask(x)$value)
  expect_identical(ask(scan ~ 1, data = d, unit = "id", clipped = 0.2)$value, ask(x, unit = unit, clipped = 0.2)$value)
  expect_identical(ask(scan ~ 1, data = d, neighbours = "add_remove")$value, ask(x, neighbours = "add_remove")$value)
  expect_s3_class(ask(scan ~ sex, data = d[0, ], levels = list(sex = c("f", "m"))), "riemdp_groups")
  # constants are public, and named
  by_two <- 1
  apart$sex <- d$sex
  for (r in list(ask(cbind(x, y, z) * by_two ~ sex, data = apart, levels = list(sex = c("f", "m"))), ask(cbind(x, y, z) * by_two ~ 1, data = apart))) {
    expect_match(paste(guarantee(r)$assumptions, collapse = " "), "by_two")
  }
})

test_that("a mean's formula is refused from public facts, before anything is spent or read", {
  d <- data.frame(sex = rep(c("f", "m"), 3), n = 1:6)
  d$scan <- mf_points(some(6), SPACE$M)
  ledger <- dp_ledger(NULL, 10)
  refused <- function(kind, x, ..., data = d, levels = list(sex = c("f", "m")), words = NULL) {
    expect_error(dp_mean(x, SPACE$M, 1, SPACE$center, SPACE$radius, data = data, levels = levels, ledger = ledger, ...), words,
                 class = paste0("riemdp_error_", kind))
  }
  refused("argument", scan ~ sex, levels = NULL, words = "of `sex`. must be declared")
  refused("argument", scan ~ sex, levels = list(c("f", "m")), words = "as names")
  refused("argument", scan ~ sex, levels = list(sex = "f", site = "A"), words = "as names")
  refused("argument", scan ~ sex + n, levels = c("f", "m"), words = "as names")
  refused("argument", scan ~ sex + n, words = "of `n`. must be declared")
  refused("argument", scan ~ sex + sex, words = "twice")
  refused("argument", scan ~ 1, words = "as names")
  refused("argument", scan ~ 1, levels = NULL, suppress = 5, words = "for groups")
  refused("argument", scan ~ nobody, words = "could not be found", levels = list(nobody = 1))
  refused("argument", scan ~ sex, by = d$sex, words = "one of them")
  refused("argument", ~sex, words = "left side")
  refused("argument", scan ~ sex, data = 3, words = "data frame")
  refused("argument", scan ~ sex, unit = "sex", words = "could not be found")
  for (right in list(quote(.), quote(factor(sex)), quote(sex * n), quote(sex - 1), quote(0), quote(sex:n), quote(sex + 2))) {
    refused("unsupported", eval(call("~", quote(scan), right)), words = "joined by")
  }
  refused("unsupported", scale(n) ~ sex, words = "mix rows")
  refused("unsupported", scan ~ sex, data = chunks(d, 3), words = "in memory")
  ball <- list(epsilon = 1, center = SPACE$center, radius = SPACE$radius, levels = list(sex = c("f", "m")), ledger = ledger)
  for (more in list(list(d, d), list(d, data = d), list(d, SPACE$M, 1), list(SPACE$M, d, d), list(nobody = d), list(d$sex))) {
    expect_error(do.call(dp_mean, c(list(scan ~ sex), more, ball)), class = "riemdp_error")
  }
  expect_error(dp_mean(some(6), d, 1, SPACE$center, SPACE$radius, ledger = ledger), "manifold", class = "riemdp_error_manifold")
  one <- "f"
  refused("shape", scan ~ one, levels = list(one = "f"), words = "an element for each record")
  long <- rep("f", 7)
  refused("shape", scan ~ long, levels = list(long = "f"))
  refused("argument", scan ~ scan, levels = list(scan = 1), words = "`scan` must be a vector")
  expect_error(dp_mean(some(6), SPACE$M, 1, SPACE$center, SPACE$radius, data = d), "for a formula", class = "riemdp_error_argument")
  expect_error(dp_mean(cbind(n, n) ~ 1, data = d, epsilon = 1, center = c(0, 0), radius = 1), "`M` must be given", class = "riemdp_error_manifold")
  # functions of the right side are never called, nor is what a variable holds
  called <- 0
  sex <- function(...) called <<- called + 1
  refused("unsupported", scan ~ sex(n))
  expect_identical(called, 0)
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("empty groups, one level, all in one group: each is served, shown and drawn", {
  x <- some(40)
  for (by in list(rep("a", 40), rep(c("a", "b"), 20), rep("z", 40))) {
    g <- grouped(x, by, invalid = "center")
    table <- as.data.frame(g)
    expect_identical(table$group, c("a", "b", "c"))
    expect_true(all(is.finite(table$size)) && all(table$lower <= table$upper) && all(table$region > 0))
    expect_output(print(g), "3 groups")
    expect_output(explain(g), "section 15")
    expect_identical(unique(tidy(g)$group), c("a", "b", "c"))
    pdf(NULL)
    plot(g)
    dev.off()
  }
  expect_identical(nrow(as.data.frame(grouped(x, rep("a", 40), "a"))), 1L)
  expect_identical(nrow(as.data.frame(grouped(x[0, ], character()))), 3L)
  hidden <- grouped(x, rep("a", 40), suppress = 1e6)
  expect_identical(hidden$suppressed, c("a", "b", "c"))
  expect_identical(nrow(as.data.frame(hidden)), 0L)
  expect_output(print(hidden), "not shown")
  expect_error(hidden[["a"]], "isn't shown", class = "riemdp_error_argument")
  expect_error(hidden[["q"]], class = "riemdp_error_argument")
  some_shown <- grouped(x, rep("a", 40), suppress = 25, epsilon = 20)
  expect_identical(names(some_shown$groups), "a")
  expect_length(some_shown$value, 1)
})

test_that("the distance of two means has an interval that holds it, from both regions", {
  a <- points_of(matrix(c(0.3, 0), 60, 2, byrow = TRUE))
  b <- points_of(matrix(c(-0.1, 0.2), 60, 2, byrow = TRUE))
  truth <- mf_dist(SPACE$M, a[1, ], b[1, ])
  count <- if (quick()) 60 else 90
  held <- vapply(seq_len(count), function(i) {
    d <- mean_difference(grouped(rbind(a, b), rep(c("a", "b"), each = 60)), "a", "b", level = 0.8)
    d$lower <= truth && truth <= d$upper
  }, NA)
  expect_gt(stats::pbinom(sum(held), count, 0.8), 1e-5)
  g <- grouped(rbind(a, b), rep(c("a", "b"), each = 60))
  d <- mean_difference(g, "a", "b", level = 0.9)
  radius <- function(name) confint(g[[name]], level = 0.95)$radius
  expect_equal(d$upper - d$distance, radius("a") + radius("b"))
  drawn <- function(r) if (is.null(r$released)) r$value else r$released
  expect_equal(d$distance, mf_dist(SPACE$M, drawn(g[["a"]]), drawn(g[["b"]])))
  expect_equal(mf_norm(SPACE$M, d$from, d$vector), d$distance)
  expect_output(print(d), "distance")
  one <- dp_mean(a, SPACE$M, 1, SPACE$center, SPACE$radius)
  expect_equal(mean_difference(one, g[["b"]])$distance, mf_dist(SPACE$M, drawn(one), drawn(g[["b"]])))
  expect_error(mean_difference(one, dp_mean(0, euclidean(1), 1, 0, 1)), class = "riemdp_error_manifold")
  expect_error(mean_difference(one, 3), class = "riemdp_error_argument")
  expect_error(mean_difference(g, "a", "q"), class = "riemdp_error_argument")
})

test_that("persons in private groups: a person has one group, of all their rows, and one point", {
  M <- euclidean(2)
  set.seed(31)
  id <- rep(1:60, 1 + (1:60) %% 4)
  group <- ifelse(id %% 2 == 0, "a", "b")
  x <- cbind(ifelse(group == "a", 1, -1), 0) + rnorm(2 * length(id), sd = 0.1)
  ask <- function(x, id, group, ...) {
    dp_mean(x, M, epsilon = 1e5, center = c(0, 0), radius = 2, unit = id, by = group, levels = c("a", "b"), ...)
  }
  g <- ask(x, id, group)
  expect_equal(as.data.frame(g)$size, c(30, 30))
  own <- rowsum(x, id) / as.vector(table(id))
  expect_equal(g[["a"]]$value, colMeans(own[seq(2, 60, 2), ]), tolerance = 1e-3)
  expect_identical(guarantee(g)$unit, "unit")
  expect_output(print(g), "protects one unit with all its rows, also which group it is in")
  # one row a unit: the same as without
  one <- with_simulation(3, ask(x[1:60, ], 1:60, group[1:60]))
  expect_equal(one[["b"]]$value, with_simulation(3, dp_mean(x[1:60, ], M, 1e5, c(0, 0), 2, by = group[1:60], levels = c("a", "b")))[["b"]]$value)
  # a person with rows in two groups is in none, whatever the others are; rows without a group don't count against one
  mixed <- group
  mixed[id == 6][1] <- "b"
  expect_error(ask(x, id, mixed), "several groups", class = "riemdp_error_argument")
  expect_equal(as.data.frame(ask(x, id, mixed, invalid = "center"))$size, c(29, 30))
  mixed[id == 6][1] <- NA
  expect_equal(as.data.frame(ask(x, id, mixed, invalid = "center"))$size, c(30, 30))
  expect_identical(riemdp:::unit_groups(c(1L, 1L, 2L, 1L, NA, NA), list(of = c(1L, 1L, 2L, 2L, 3L, NA), count = 4L)), c(1L, NA, NA, NA))
  expect_output(print(g), "about the mean of the units' means")
  expect_match(said(explain(g)), "A record is here a unit")
  expect_match(said(explain(g)), "whose rows name several groups, or none, is in none", fixed = TRUE)
  ledger <- dp_ledger(NULL, 2e5)
  ask(x, id, group, ledger = ledger)
  expect_match(ledger_history(ledger)$what, "unit") # as of any release about units
  expect_error(ask(x, id[-1], group), class = "riemdp_error_shape")
  expect_error(ask(x, id, group[-1]), class = "riemdp_error_shape")
  # a person of 50 rows who is replaced by one in the other group moves each size by one
  many <- c(rep(0, 50), id)
  moved <- function(to) ask(rbind(matrix(c(1, 0), 50, 2, byrow = TRUE), x), many, c(rep(to, 50), group))
  expect_equal(as.data.frame(moved("a"))$size, c(31, 30))
  expect_equal(as.data.frame(moved("b"))$size, c(30, 31))
})

test_that("each group's share of records outside is its own, and two of them move where a record changes its group", {
  inside <- points_of(matrix(0.1, 80, 2))
  x <- rbind(inside, points_of(matrix(0.9, 40, 2))) # beyond the ball of radius .6
  by <- c(rep(c("a", "b"), 40), rep("a", 30), rep("b", 10))
  for (neighbours in c("replace", "add_remove")) for (invalid in c("error", "center")) {
    moved <- neighbours == "replace"
    ledger <- dp_ledger(NULL, 100, 1e-3, adjacency = if (moved) "replace-one" else "add-remove")
    g <- grouped(x, by, c("a", "b"), clipped = 0.5, epsilon = 80, neighbours = neighbours, invalid = invalid, ledger = ledger)
    expect_identical(vapply(g$groups, function(r) r$clipped$count, 0), c(a = 30, b = 10)) # so little noise
    expect_equal(g$budget$cost[["epsilon"]], 80, tolerance = 1e-9)
    expect_identical(guarantee(g)$epsilon, 80)
    expect_equal(sum(g$draws$epsilon), 80, tolerance = 1e-6)
    r <- g[["a"]]
    expect_equal(r$clipped$scale * r$clipped$epsilon, if (moved) 2 else 1, tolerance = 1e-6)
    expect_identical(r$clipped$share, 30 / r$size$count)
    table <- as.data.frame(g)
    expect_equal(table$outside, c(30 / 70, 10 / 50), tolerance = 0.05)
    expect_true(all(table$outside_lower <= table$outside & table$outside <= table$outside_upper))
    expect_output(print(g), "outside, %")
    expect_true(all(nchar(grep("errors|brackets", format(g), value = TRUE)) <= 112))
    if (moved) expect_output(explain(r), "replaced\\s+record,\\s+in\\s+both\\s+groups\\s+together,\\s+moves")
    expect_output(explain(r), if (moved) "two\\s+groups\\s+by\\s+1" else "adding\\s+or\\s+removing")
    told <- said(explain(g))
    expect_match(told, sprintf("is released with two-sided geometric noise of scale %.6g", r$clipped$scale), fixed = TRUE)
    expect_match(told, if (moved) "moves those of two groups by 1" else "adding or removing one record moves it by at most 1", fixed = TRUE)
  }
  expect_false("outside" %in% names(as.data.frame(grouped(x, by, c("a", "b")))))
  # of units: one with a row outside is
  g <- grouped(x, by, c("a", "b"), clipped = 0.5, epsilon = 80, unit = paste(by, rep(1:5, 24)))
  expect_identical(sum(vapply(g$groups, function(r) r$clipped$count, 0)), 10)
  # all numbers together: the worst outcome of a record outside that changes its group costs all of their price, and no more
  ask <- internal$mean_ask(SPACE$M, NA_real_, 2, SPACE$center, SPACE$radius, 0, "wrapped", NULL, "proven", "ordinary", "real", 1e6, list(), 0.5)
  ask[c("names", "invalid")] <- list(c("a", "b"), "center")
  ask <- internal$groups_ask(SPACE$M, ask, TRUE, 120)
  counts <- function(of) {
    seen <- NULL
    with_internals(internal$outside_in_groups(SPACE$M, list(rows = x, n = 120, groups = list(of = of)), ask),
                   noisy_count = function(count, ratio, proof, moved) seen <<- list(count = count, price = moved / (ratio[1] / ratio[2])))
    seen
  }
  one <- counts(match(by, c("a", "b")))
  two <- counts(replace(match(by, c("a", "b")), 81, 2L)) # an outside record of "a"
  lost <- sum(abs(one$count - two$count)) / ask$clipped$scale
  expect_lte(lost, ask$clipped$epsilon)
  expect_gt(lost, ask$clipped$epsilon * (1 - 1e-6))
  expect_lte(one$price, ask$clipped$epsilon)
})

test_that("a record's group in any encoding changes nothing of the others, and words say what is protected", {
  bytes <- "\xff"
  Encoding(bytes) <- "bytes"
  by <- c(rep("\u00e9", 20), rep("b", 20), bytes)
  of <- riemdp:::read_groups(by, c("\u00e9", "b"), 1:41)$of
  expect_identical(of, c(rep(1L, 20), rep(2L, 20), NA))
  expect_identical(riemdp:::read_groups(iconv(by[1:40], "UTF-8", "latin1"), c("\u00e9", "b"), 1:40)$of, of[1:40])
  x <- some(40)
  for (neighbours in c("replace", "add_remove")) {
    r <- grouped(x, rep(c("a", "b"), 20), c("a", "b"), neighbours = neighbours)[["a"]]
    expect_output(print(r), if (neighbours == "replace") "protects one row, also which group it is in" else "protects one row, and whether it is there")
    if (neighbours == "replace") expect_no_match(format(r), "whether it is there")
  }
  # groups of two records whose names are those of two columns
  d <- data.frame(f = c(0.1, 0.2), m = c(0.1, 0.2))
  expect_error(dp_mean(d, euclidean(2), 1, c(0, 0), 1, by = c("f", "m"), levels = c("f", "m")), NA)
})
