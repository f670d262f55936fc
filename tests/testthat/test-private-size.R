# Means of a private number of records: what one record more or less moves, the law of the size, what is told of n

internal <- asNamespace("riemdp")
SIZED <- list(
  line = list(M = euclidean(1), center = 0, radius = 1),
  plane = list(M = euclidean(2), center = c(0, 0), radius = 2),
  sphere = list(M = sphere(2), center = c(0, 0, 1), radius = 0.7),
  hyperbolic = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1),
  spd = list(M = spd(2), center = diag(2), radius = 1.2),
  shapes = list(M = kendall(4), center = c(1, 1i, -1, -1i) / 2, radius = 0.35),
  bures = list(M = spd(2, "bures"), center = diag(2), radius = 0.3)
)
sized <- function(x, s, ..., epsilon = 1) dp_mean(x, s$M, epsilon, s$center, s$radius, neighbours = "add_remove", ...)
# records from coordinates at the centre, one a row
placed <- function(s, a) mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, a))
no_records <- function(s) {
  x <- placed(s, matrix(0, 2, mf_facts(s$M)$dimension))
  if (is.complex(x)) x[, 0] else if (length(dim(x)) == 3) x[, , 0] else if (is.null(dim(x))) x[0] else x[0, , drop = FALSE]
}
ask_of <- function(s, epsilon = 1, delta = 0, mechanism = "wrapped", options = list(), numerics = "real") {
  ask <- internal$mean_ask(s$M, NA_real_, epsilon, s$center, s$radius, delta, mechanism, NULL, "proven", "ordinary", numerics, 1e6, options)
  internal$size_ask(s$M, ask)
}
# coordinates at the centre of what noise is added to, for n records at the size N
base_of <- function(s, a, N, form, lattice = FALSE) {
  steps <- internal$mean_steps(s$M, internal$check_radius(s$M, s$radius, s$center), 1, lattice = lattice)
  if (form == "sum") return(colSums(rbind(a, 0)) / N)
  ask <- list(size = list(form = form), n = N, center = s$center, ball = list(radius = s$radius), numerics = if (lattice) "lattice" else "real")
  x <- if (nrow(a)) placed(s, a) else no_records(s)
  y <- internal$sized_records(s$M, x, nrow(a), list(numbers = steps$numbers), ask)
  if (form == "scaled") steps$numbers$stretch <- internal$stretch(nrow(a) / N)
  as.vector(.Call(internal$riemdp_steps_mean_nonprivate, s$M, y, s$center, steps$numbers, NULL))
}
at_edge <- function(u, s) 0.999999 * s$radius * u / sqrt(sum(u^2))

test_that("one record more moves the mean by no more than is said, and nearly by that", {
  set.seed(5)
  for (name in names(SIZED)) {
    s <- SIZED[[name]]
    d <- mf_facts(s$M)$dimension
    ball <- internal$check_radius(s$M, s$radius, s$center)
    forms <- if (name %in% c("line", "plane")) "sum" else c("scaled", "plain", "tail")
    for (form in forms) {
      most <- 0
      for (N in c(1, 2, 5)) for (n in unique(c(0, N - 1, if (form != "tail") c(N, N + 1, 2 * N), if (form == "scaled") c(49, 50, 60) * N))) for (kind in 1:4) {
        one <- at_edge(c(1, rep(0, d - 1)), s)
        a <- do.call(rbind, c(list(matrix(0, 0, d)), lapply(seq_len(n), function(i) {
          switch(kind, one, one, at_edge(stats::rnorm(d), s), if (i %% 2) one else -one)
        })))
        more <- rbind(a, switch(kind, -one, if (d > 1) at_edge(c(0, 1, rep(0, d - 2)), s) else one,
                                at_edge(stats::rnorm(d), s), if (d > 1) at_edge(c(0, 1, rep(0, d - 2)), s) else -one))
        bound <- function(wrapped) as.numeric(internal$padded_sensitivity(N, ball, form, wrapped))
        z <- base_of(s, a, N, form)
        y <- base_of(s, more, N, form)
        moved <- sqrt(sum((z - y)^2))
        point <- function(z) internal$public_point(s$M, mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, z)))
        apart <- mf_dist(s$M, point(z), point(y))
        expect_lte(moved, bound(TRUE) + 1e-9, label = paste(name, form, N, n, kind))
        if (form != "sum") expect_lte(apart, bound(FALSE) + 1e-9, label = paste(name, form, N, n, kind))
        most <- max(most, moved / bound(TRUE))
      }
      # the sharp cases are attained; on positive curvature the tail's factor may be more than is needed
      expect_gt(most, if (form == "scaled") 0.68 else if (ball$k_max > 0) 0.75 else 0.93, label = paste(name, form))
    }
  }
})

test_that("a mean of more records than the released size is moved away from the centre, no farther than the ball's edge", {
  for (name in c("sphere", "hyperbolic", "spd", "bures")) for (numerics in c("real", "lattice")) {
    s <- SIZED[[name]]
    d <- mf_facts(s$M)$dimension
    ask <- ask_of(s, 1e9, options = list(form = "scaled"), numerics = numerics)
    ends <- s$radius * c(0.1, 0.3)
    for (i in 1:2) {
      x <- placed(s, matrix(c(ends[i], rep(0, d - 1)), 40, d, byrow = TRUE))
      for (N in c(10, 20, 40, 80)) {
        out <- internal$release_size(s$M, x, 40, ask, N)
        far <- ends[i] * if (N > 40) 0.5 else (40 / N) * (1.01 - 0.01 * 40 / N)
        # where there are fewer the mean of them and of the centre, half-way by symmetry
        expect_equal(mf_dist(s$M, s$center, out$value), min(far, s$radius), tolerance = 1e-5, label = paste(name, numerics, i, N))
        expect_null(out$plan$numbers$stretch) # the number of records is in no plan
        ball <- internal$check_radius(s$M, s$radius, s$center)
        steps <- internal$mean_steps(s$M, ball, N, lattice = numerics == "lattice")
        off <- out$plan$solver_error - if (numerics == "lattice") sqrt(d) * out$plan$details$step else 0
        if (numerics == "real") expect_equal(off / (2 * steps$error), 26.5025, tolerance = 1e-6)
        if (numerics == "lattice") expect_gte(out$plan$details$error_bound / steps$error, 26.5)
      }
    }
  }
})

test_that("on positive curvature the bounds are those of the proof", {
  ball <- internal$check_radius(SIZED$sphere$M, 0.7, SIZED$sphere$center)
  expect_equal(as.numeric(internal$padded_sensitivity(5, ball, "plain")), 2 * tan(0.7) / 6, tolerance = 1e-9)
  expect_equal(as.numeric(internal$padded_sensitivity(5, ball, "tail")), (tan(0.7) + 0.7 / sin(0.7) * (tan(0.7) - 0.7)) / 5, tolerance = 1e-9)
  # the stretch: as the share of records at first, its slope falls to 0, and it stays
  x <- c(0.2, 1, 1.01, 2, 10, 50, 50.5, 51, 1e6)
  expect_equal(vapply(x, internal$stretch, 0), c(1, 1, x[3:6] * (1.01 - 0.01 * x[3:6]), rep(1.01^2 / 0.04, 3)))
})

test_that("the sum is that of the logarithms over the released size, whatever n is", {
  s <- SIZED$plane
  for (n in c(0, 1, 3, 40)) {
    a <- matrix(seq(-1, 1, length.out = 2 * n), n, 2)
    ask <- internal$ask_at_size(ask_of(s, epsilon = 1e8, options = list(count = 0.5)), 7)
    plan <- internal$plan_one(s$M, ask, "wrapped", error = FALSE)
    records <- internal$sized_records(s$M, a, n, plan, ask)
    got <- with_simulation(1, internal$mean_mechanisms()$wrapped$release(s$M, records, plan, ask))
    expect_equal(got, colSums(rbind(a, 0)) / 7, tolerance = 1e-5)
  }
})

test_that("the size's noise is two-sided geometric with its scale, the mean's a law with the rest of epsilon", {
  s <- SIZED$line
  x <- c(0.5, 0.25, -0.5)
  draws <- if (quick()) 1500 else 20000
  ask <- ask_of(s, epsilon = 2, options = list(count = 0.25))
  expect_equal(ask$size$scale, 2, tolerance = 1e-8)
  out <- with_simulation(3, lapply(seq_len(draws), function(i) internal$release_size(s$M, x, 3, ask)))
  z <- vapply(out, function(o) o$size$count, 0) - 3
  expect_geometric_2(z)
  N <- vapply(out, function(o) o$size$points, 0)
  expect_identical(N, pmax(1, z + 3))
  noise <- (vapply(out, function(o) o$value, 0) - sum(x) / N) * N * 1.5
  expect_gt(suppressWarnings(ks.test(noise, function(v) ifelse(v < 0, exp(v) / 2, 1 - exp(-v) / 2)))$p.value, 1e-6)
})

gaussian_delta_of <- function(r) internal$gaussian_delta(r$draws$mu[2], 1 - r$draws$epsilon[1]) / 1.01

test_that("what is paid adds up, and the event says it", {
  for (s in SIZED[c("plane", "sphere", "spd")]) for (delta in c(0, 1e-5)) {
    mechanisms <- c("laplace", "wrapped", if (delta > 0) c("gaussian", "wrapped_gaussian", "auto"))
    for (mechanism in mechanisms) for (form in c("scaled", "plain", if (delta > 0) "tail")) {
      r <- sized(placed(s, matrix(0.1, 300, mf_facts(s$M)$dimension)), s, delta = delta, mechanism = mechanism, options = list(form = form))
      g <- guarantee(r)
      expect_identical(g$adjacency, "add-remove")
      expect_identical(r$n, NA_real_)
      expect_identical(g$epsilon, 1)
      expect_lte(g$delta, delta)
      expect_identical(r$draws$proof[1], "mean-sensitivity.md, 14")
      expect_gte(r$draws$scale[1] * r$size$epsilon, 1 - 1e-15)
      expect_lte(sum(r$draws$epsilon), 1 + 1e-12)
      tail <- if (r$size$form == "tail") {
        q <- exp(-1 / r$size$scale)
        q^r$size$shift / (1 + q)
      } else 0
      expect_gte(delta, tail + max(r$draws$delta, if (r$draws$mu[2] > 0) gaussian_delta_of(r) else 0))
      event <- r$budget$event
      expect_identical(event$adjacency, "add-remove")
      expect_length(event$children, 2 + (r$size$form == "tail"))
      if (r$size$form == "tail") {
        expect_identical(event$children[[3]]$parameters$epsilon, 0)
        expect_gte(event$children[[3]]$parameters$delta, tail)
        expect_lte(r$sensitivity * r$size$points, s$radius * (1 + s$radius^2 / 2) * 1.5)
      }
      expect_gt(sum(r$draws$epsilon) + r$draws$mu[2], 0.1)
    }
  }
})

# the largest loss of events of (size, value) on two data sets, from below: events are chosen on one half of the draws
# and measured on the other, by Clopper and Pearson's bounds
lost <- function(s, one, two, draws, epsilon, delta = 0, options = list(), tamper = identity) {
  ask <- tamper(ask_of(s, epsilon, delta, "laplace", options))
  remembered <- plans_of_sizes()
  statistic <- function(x, n, seed) with_internals(with_simulation(seed, {
    out <- lapply(seq_len(draws), function(i) internal$release_size(s$M, x, n, ask))
    value <- do.call(rbind, lapply(out, `[[`, "value"))
    if (mf_facts(s$M)$k_max != 0 || ncol(value) > 1) value <- mf_coords(s$M, s$center, mf_log(s$M, s$center, value))
    cbind(vapply(out, function(o) o$size$count, 0), value[, 1])
  }), plan_size = remembered)
  a <- statistic(one$x, one$n, 1)
  b <- statistic(two$x, two$n, 2)
  first <- seq_len(draws / 2)
  events <- expand.grid(count = unique(stats::quantile(c(a[first, 1], b[first, 1]), seq(0, 1, 0.1), type = 1)),
                        value = stats::quantile(c(a[first, 2], b[first, 2]), seq(0.02, 0.98, 0.04)), low = c(TRUE, FALSE), left = c(TRUE, FALSE))
  hits <- function(z, e) sum((if (e$low) z[, 1] <= e$count else z[, 1] >= e$count) & (if (e$left) z[, 2] <= e$value else z[, 2] >= e$value))
  loss <- function(p, q, e, half) {
    upper <- function(k, m) stats::qbeta(1 - 1e-3, k + 1, m - k)
    lower <- function(k, m) if (k == 0) 0 else stats::qbeta(1e-3, k, m - k + 1)
    k <- hits(p[half, ], e)
    l <- hits(q[half, ], e)
    m <- length(half)
    log(max(1e-300, lower(k, m) - delta)) - log(upper(l, m))
  }
  best <- -Inf
  for (pair in list(list(a, b), list(b, a))) {
    found <- vapply(seq_len(nrow(events)), function(i) loss(pair[[1]], pair[[2]], events[i, ], first), 0)
    best <- max(best, loss(pair[[1]], pair[[2]], events[which.max(found), ], setdiff(seq_len(draws), first)))
  }
  best
}

test_that("worst neighbours lose no more than the label says, and the naive versions are caught", {
  draws <- if (quick()) 5000 else 8000
  s <- SIZED$hyperbolic
  side <- function(signs) list(x = if (length(signs)) placed(s, cbind(signs * 0.999, 0)) else no_records(s), n = length(signs))
  half <- list(count = 0.5)
  one <- side(rep(-1, 60))
  two <- side(c(rep(-1, 60), 1))
  expect_lte(lost(s, side(numeric()), side(1), draws, 2, options = half), 2)
  expect_lte(lost(s, one, two, draws, 2, options = half), 2)
  flat <- lost(SIZED$line, list(x = rep(1, 3), n = 3), list(x = rep(1, 4), n = 4), draws, 2, options = half)
  expect_lte(flat, 2)
  expect_gt(flat, 1) # it sees what there is
  tail <- list(count = 0.5, form = "tail")
  expect_lte(lost(s, one, two, draws, 2, 0.02, tail), 2)
  # no points beyond the released size: their number may be too small
  expect_gt(lost(s, one, two, draws, 2, 0.02, tail, function(ask) { ask$size$shift <- 0; ask }), 2)
  # the mean of all records as if each moved it by r/N
  with_internals(expect_gt(lost(s, one, two, draws, 2, options = half), 2),
                 padded_sensitivity = function(n, facts, form, wrapped) structure(facts$radius / n, theorem = ""))
})

test_that("the number of records is nowhere in what leaves the call", {
  n <- 1709
  s <- SIZED$sphere
  x <- placed(s, matrix(stats::rnorm(2 * n, sd = 0.1), n))
  everything <- function(v) {
    if (is.environment(v) || is.function(v)) return(NULL)
    if (is.list(v)) return(c(unlist(lapply(unclass(v), everything)), unlist(lapply(attributes(v), everything))))
    c(format(v, digits = 17, trim = TRUE), unlist(lapply(attributes(v), everything)))
  }
  cases <- list(list(s, x, "auto"), list(SIZED$plane, x[, 1:2], "auto"), list(s, x, "kng"), list(s, x, "adaptive", list(count = 0.02)))
  for (case in cases) for (unit in list(NULL, seq_len(n))) {
    told <- vapply(1:3, function(i) { # a noisy number may be the number itself, but not each time
      ledger <- dp_ledger(NULL, 1, adjacency = "add-remove")
      r <- sized(case[[2]], case[[1]], epsilon = 0.1, ledger = ledger, unit = unit, mechanism = case[[3]], options = c(case[-(1:3)], list(list()))[[1]])
      words <- c(everything(unserialize(serialize(r, NULL))), everything(ledger_history(ledger)), everything(tidy(r)),
                 capture.output(print(r), explain(r), print(guarantee(r)), print(confint(r)), print(summary(r))))
      any(grepl("(^|[^0-9.])1709($|[^0-9.])", words))
    }, NA)
    expect_false(all(told))
  }
  options(riemdp.progress = TRUE)
  on.exit(options(riemdp.progress = NULL))
  for (mechanism in c("auto", "kng", "adaptive")) {
    ticks <- NULL
    with_internals(sized(x[1:30, ], s, mechanism = mechanism), progress_wait = function() 0, progress_show = function(done, of) ticks <<- c(ticks, done, of))
    expect_gt(length(ticks), 0)
    expect_lt(max(ticks), 30)
  }
})

test_that("any number of records is served alike", {
  for (name in names(SIZED)) for (delta in c(0, 1e-5)) {
    s <- SIZED[[name]]
    d <- mf_facts(s$M)$dimension
    released <- function(...) lapply(c(0, 1, 2, 30), function(n) sized(if (n) placed(s, matrix(0.05, n, d)) else no_records(s), s, delta = delta, ...))
    seen <- released()
    staged <- released(mechanism = "adaptive", options = list(shares = c(0.5, 0.1, 0.1, 0.3)))
    if (name != "bures" && delta == 0) for (count in list(NULL, 0.2)) {
      kng <- lapply(c(0, 1, 2, 30), function(n) sized(if (n) placed(s, matrix(0.05, n, d)) else no_records(s), s, mechanism = "kng",
                                                      options = list(count = count)))
      for (r in kng) {
        expect_identical(names(r), names(kng[[1]]))
        expect_identical(r[c("scale", "sensitivity", "solver_error", "acceptance", "guarantee", "details")],
                         kng[[1]][c("scale", "sensitivity", "solver_error", "acceptance", "guarantee", "details")])
        expect_lte(mf_dist(s$M, r$value, s$center), s$radius * (1 + 1e-9))
        expect_s3_class(confint(r), "riemdp_region")
        expect_output(explain(r), "with no number of\\s+records in it")
      }
    }
    for (r in c(seen, staged)) {
      first <- if (r$mechanism == "adaptive") staged[[1]] else seen[[1]]
      expect_identical(names(r), names(first))
      expect_identical(guarantee(r), guarantee(first))
      expect_gte(r$size$points, 1)
      expect_s3_class(confint(r), "riemdp_region")
      expect_output(print(r), "as released")
      expect_output(explain(r), "Size:")
    }
  }
  # where the size asks for a scale at which the law doesn't exist another one serves
  r <- internal$plan_size(SIZED$spd$M, ask_of(SIZED$spd, mechanism = "laplace"), 2)
  expect_identical(r$mechanism, "wrapped")
  expect_match(r$chosen, "asked for, which doesn't exist")
  # units: none, levels without rows, rows without units
  s <- SIZED$sphere
  x <- placed(s, matrix(0.1, 6, 2))
  expect_s3_class(sized(x, s, unit = c(1, 1, 2, 2, 3, 3)), "riemdp_mean")
  expect_match(format(sized(x, s, unit = c(1, 1, 2, 2, 3, 3)))[3], "one unit with all its rows, and whether it is there")
  expect_match(paste(guarantee(sized(x, s, unit = 1:6))$assumptions, collapse = " "), "number of units is private")
  expect_s3_class(sized(x, s, unit = rep(NA, 6), invalid = "center"), "riemdp_mean")
  expect_s3_class(sized(x[0, ], s, unit = integer()), "riemdp_mean")
  expect_s3_class(sized(x[0, ], s, unit = factor(character(), c("a", "b")), invalid = "center"), "riemdp_mean")
  expect_error(sized(x, s, unit = 1:5), "for each record", class = "riemdp_error_shape")
})

test_that("what has no proof is refused before anything is spent", {
  s <- SIZED$sphere
  x <- placed(s, matrix(0.1, 6, 2))
  ledger <- dp_ledger(NULL, 10, 1e-3, adjacency = "add-remove")
  no <- function(..., class = "riemdp_error_unsupported") expect_error(sized(x, s, ..., ledger = ledger), class = class)
  for (m in c("laplace_truncated", "tangent", "euclidean", "chain")) no(mechanism = m)
  for (m in c("laplace", "gaussian")) no(numerics = "lattice", mechanism = m, delta = 1e-6)
  no(timing = "constant", delta = 1e-6)
  no(calibration = "paper", mechanism = "laplace")
  no(mechanism = "kng", clipped = 0.1)
  no(mechanism = "gaussian")
  kng <- function(...) no(mechanism = "kng", ...)
  kng(timing = "constant", delta = 1e-6)
  kng(calibration = "paper")
  kng(options = list(form = "plain"))
  kng(options = list(count = 1), class = "riemdp_error_argument")
  kng(options = list(count = 0), class = "riemdp_error_argument")
  kng(options = list(count = 1e-6), class = "riemdp_error_argument")
  kng(options = list(noise = "knorm"), class = "riemdp_error_argument")
  kng(max_trials = 1)
  kng(by = rep("a", 6), levels = "a")
  no(mechanism = "adaptive", options = list(form = "plain"), class = "riemdp_error_argument")
  no(mechanism = "adaptive", options = list(count = 1), class = "riemdp_error_argument")
  no(mechanism = "adaptive", timing = "constant")
  expect_error(dp_mean(x, s$M, 1, s$center, s$radius, mechanism = "adaptive", by = rep("a", 6), levels = "a"), "add_remove", class = "riemdp_error_unsupported")
  expect_error(sized(x, s, epsilon = 1e12, mechanism = "kng", ledger = ledger), "smaller epsilon", class = "riemdp_error_unsupported")
  expect_error(sized(no_records(SIZED$bures), SIZED$bures, mechanism = "kng", numerics = "real", ledger = ledger), "no exact sampler",
               class = "riemdp_error_unsupported")
  no(options = list(noise = "knorm"), class = "riemdp_error_argument")
  no(options = list(form = "tail"), class = "riemdp_error_argument")
  no(options = list(count = 1), class = "riemdp_error_argument")
  no(options = list(count = 1e-6), class = "riemdp_error_argument")
  expect_error(sized(chunks(list(x, x)), s, ledger = ledger), class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, s$M, center = s$center, radius = s$radius, sigma = 0.1, mechanism = "wrapped", neighbours = "add_remove"),
               class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, s$M, 1, s$center, s$radius, neighbours = "swap"), class = "riemdp_error_argument")
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("a region holds the mean of the records as often as it says, missing points and all", {
  for (case in list(list(SIZED$sphere, 12, "plain"), list(SIZED$spd, 12, "plain"), list(SIZED$plane, 12, "plain"), list(SIZED$sphere, 40, "tail"),
                    list(SIZED$sphere, 12, "scaled"), list(SIZED$spd, 12, "scaled"))) {
    s <- case[[1]]
    d <- mf_facts(s$M)$dimension
    x <- placed(s, matrix(at_edge(c(1, rep(0, d - 1)), s), case[[2]], d, byrow = TRUE)) # as far from the centre as can be
    truth <- frechet_mean(x, s$M)$mean
    count <- if (quick()) 120 else 160
    sizes <- logical(count)
    held <- vapply(seq_len(count), function(i) {
      r <- sized(x, s, epsilon = 3, delta = if (case[[3]] == "tail") 0.01 else 0, mechanism = "wrapped", options = list(form = case[[3]], count = 0.3))
      ends <- confint(r, parm = "size", level = 0.8)
      sizes[i] <<- case[[2]] >= ends[1] && case[[2]] <= ends[2]
      mf_dist(s$M, r$value, truth) <= confint(r, level = 0.8)$radius
    }, NA)
    expect_gt(stats::pbinom(sum(held), count, 0.8), 1e-5)
    expect_gt(stats::pbinom(sum(sizes), count, 0.8), 1e-5)
  }
  expect_error(confint(dp_mean(0.1, euclidean(1), 1, 0, 1), parm = "size"), class = "riemdp_error_unsupported")
})

test_that("a ledger doesn't mix notions unless asked to, and then a release counts as a group of two", {
  s <- SIZED$sphere
  x <- placed(s, matrix(0.1, 50, 2))
  plain <- dp_ledger(NULL, 10, 1e-3)
  expect_error(sized(x, s, ledger = plain), class = "riemdp_error_adjacency")
  expect_identical(nrow(ledger_history(plain)), 0L)
  expect_error(dp_mean(x, s$M, 1, s$center, s$radius, ledger = dp_ledger(NULL, 10, adjacency = "add-remove")), class = "riemdp_error_adjacency")
  two <- dp_ledger(NULL, 10, 1e-3, pairs = TRUE)
  expect_output(print(two), "group of two")
  r <- sized(x, s, ledger = two)
  expect_equal(r$budget$cost[["epsilon"]], 2, tolerance = 1e-9)
  expect_output(print(r), "counted as a group of two")
  expect_match(ledger_history(two)$what, "group of two")
  expect_match(ledger_history(two)$event, "replace-one")
  r <- sized(x, s, delta = 1e-5, mechanism = "wrapped_gaussian", options = list(form = "tail"), ledger = two)
  expect_equal(unname(r$budget$cost), c(2, (1 + exp(1)) * 1e-5), tolerance = 1e-9)
  own <- dp_ledger(NULL, 10, 1e-3, adjacency = "add-remove")
  expect_equal(sized(x, s, ledger = own)$budget$cost[["epsilon"]], 1, tolerance = 1e-9)
  expect_match(ledger_history(own)$event, "add-remove")
  expect_error(dp_ledger(NULL, 1, adjacency = "add-remove", pairs = TRUE), class = "riemdp_error_argument")
  dp_mean(x, s$M, 1, s$center, s$radius, ledger = two) # releases of its own notion as ever
  # by other rules: parts one by one, but not where one's delta is about the others
  both <- event_compose(event_pure(0.5), event_gaussian(10), adjacency = "add-remove")
  expect_equal(event_price(internal$within_part(both), "zcdp"), event_price(event_pure(1), "zcdp") + 4 * event_price(event_gaussian(10), "zcdp"))
  given <- event_compose(event_pure(0.5), event_pure(0.5), event_approx(0, 1e-6), adjacency = "add-remove")
  expect_equal(unname(event_price(internal$within_part(given), "basic")), c(2, (1 + exp(1)) * 1e-6))
})

test_that("a plan for a guess of n shows what a release will have, and what the number costs", {
  s <- SIZED$sphere
  plan <- dp_mean_plan(s$M, 300, 1, s$center, s$radius, delta = 1e-5, neighbours = "add_remove")
  expect_output(print(plan), "private number of about 300")
  able <- plan[!is.na(plan$scale), ]
  expect_setequal(able$mechanism, c("laplace", "staircase", "wrapped", "wrapped_staircase", "gaussian", "wrapped_gaussian", "kng", "adaptive"))
  expect_identical(sum(plan$chosen), 1L)
  expect_match(able$note[able$mechanism != "kng"], "of epsilon for the number of records")
  # the sum of the logarithms has no number in it; "auto" leaves it alone even where it would be the best
  expect_match(able$note[able$mechanism == "kng"], "\"auto\" never takes it")
  few <- dp_mean_plan(s$M, 3, 1, s$center, s$radius, neighbours = "add_remove", mechanism = c("laplace", "wrapped", "kng"))
  expect_identical(few$mechanism[1], "kng")
  expect_false(few$mechanism[few$chosen] == "kng")
  expect_true(dp_mean_plan(s$M, 3, 1, s$center, s$radius, neighbours = "add_remove", mechanism = "kng")$chosen)
  for (m in able$mechanism) {
    ask <- ask_of(s, 1, 1e-5, m, numerics = "auto")
    expect_equal(able$scale[able$mechanism == m], internal$plan_size(s$M, ask, 300)$scale)
  }
  # with a guess of the spread it tells that error of the adaptive one which releases have, and may choose it
  narrow <- dp_mean_plan(s$M, 1000, 1, s$center, s$radius, neighbours = "add_remove", mechanism = c("laplace", "adaptive"), spread = 0.005)
  expect_identical(narrow$mechanism[narrow$chosen], "adaptive")
  expect_lt(narrow$expected_error[1], 0.3 * narrow$expected_error[2])
  wide <- dp_mean_plan(s$M, 100, 1, s$center, s$radius, neighbours = "add_remove", mechanism = c("laplace", "adaptive"), spread = 0.3)
  expect_identical(wide$chosen, seq_along(wide$chosen) == which.min(wide$expected_error))
  public <- dp_mean_plan(s$M, 300, 1, s$center, s$radius, mechanism = "laplace")
  expect_lt(able$expected_error[able$mechanism == "laplace"] / public$expected_error, 1.5)
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(plan[plan$mechanism == "wrapped", ], points = 3))
})

# ---- the K-norm gradient mechanism in its sum form: no number of records is in it -----------------------------------------------------

SUMMED <- c(SIZED[c("sphere", "hyperbolic")], list(circle = list(M = sphere(1), center = c(1, 0), radius = 0.7)))
sum_ask <- function(s, epsilon = 1, options = list()) ask_of(s, epsilon, mechanism = "kng", options = options)
sum_plan <- function(s, ...) internal$plan_size(s$M, sum_ask(s, ...), NA_real_)

# points of the ball, their coordinates at the centre and their volumes
ball_grid <- function(s, cells = 200) {
  if (mf_facts(s$M)$dimension == 1) {
    a <- matrix((seq_len(20 * cells) - 0.5) / (10 * cells) - 1) * s$radius
    v <- rep(1, nrow(a))
  } else {
    rho <- (seq_len(cells) - 0.5) / cells * s$radius
    angle <- (seq_len(cells) - 0.5) / cells * 2 * pi
    a <- cbind(as.vector(outer(rho, cos(angle))), as.vector(outer(rho, sin(angle))))
    v <- rep(if (mf_facts(s$M)$k_max > 0) sin(rho) else sinh(rho), cells)
  }
  list(a = a, v = v / sum(v), y = placed(s, a))
}
# length of the sum of the logarithms of records (coordinates at the centre, rows of a) at the grid's points
sum_length <- function(s, grid, a) {
  total <- 0 * grid$a
  once <- unique(a)
  for (i in seq_len(nrow(once))) {
    times <- sum(apply(a, 1, function(b) all(b == once[i, ])))
    total <- total + times * matrix(mf_coords(s$M, grid$y, mf_log(s$M, grid$y, placed(s, once[i, , drop = FALSE]))), nrow(grid$a))
  }
  sqrt(rowSums(total^2))
}
axis_at <- function(s, t) {
  d <- mf_facts(s$M)$dimension
  matrix(c(t * 0.999999 * s$radius, rep(0, (d - 1) * length(t))), length(t), d)
}

test_that("sums of logarithms: draws have the law, for no record, one and several", {
  draws <- if (quick()) 500 else 2000
  for (s in SUMMED) {
    grid <- ball_grid(s)
    plan <- sum_plan(s, epsilon = 6)
    expect_equal(plan$scale, 4 * s$radius / 6, tolerance = 1e-4)
    for (t in list(numeric(), 1, c(1, 1, -0.5), rep(c(1, 0.3), 6))) {
      a <- axis_at(s, t)
      w <- grid$v * exp(-sum_length(s, grid, a) / plan$scale)
      x <- if (length(t)) placed(s, a) else no_records(s)
      ask <- sum_ask(s, epsilon = 6)
      out <- with_internals(with_simulation(1, lapply(seq_len(draws), function(i) internal$release_size(s$M, x, length(t), ask)$value)),
                            plan_size = plans_of_sizes())
      z <- matrix(mf_coords(s$M, s$center, mf_log(s$M, s$center, do.call(rbind, out))), draws)
      expect_lte(max(rowSums(z^2)), s$radius^2 * (1 + 1e-9))
      for (f in list(function(a) a[, 1], function(a) rowSums(a^2), function(a) a[, ncol(a)])) {
        value <- sum(w * f(grid$a)) / sum(w)
        expect_lt(abs(mean(f(z)) - value) / (stats::sd(f(z)) / sqrt(draws)), 5, label = paste(label_of(s$M), length(t)))
      }
    }
  }
})

test_that("one record more moves the sum by twice the radius at most, and nearly by that", {
  set.seed(8)
  for (s in SUMMED) {
    grid <- ball_grid(s, 100)
    d <- ncol(grid$a)
    most <- 0
    for (n in c(0, 1, 4)) for (kind in 1:3) {
      more <- switch(kind, axis_at(s, -1), at_edge(stats::rnorm(d), s), axis_at(s, 0.3))
      a <- switch(kind, axis_at(s, rep(1, n)), matrix(stats::rnorm(n * d, sd = s$radius / 5), n, d), axis_at(s, rep(-1, n)))
      moved <- max(abs(sum_length(s, grid, rbind(a, matrix(more, 1, d))) - sum_length(s, grid, a)))
      expect_lte(moved, 2 * s$radius)
      most <- max(most, moved)
    }
    expect_gt(most, 0.97 * 2 * s$radius)
    expect_equal(sum_plan(s)$sensitivity, 2 * s$radius, tolerance = 1e-9)
  }
})

test_that("worst neighbours lose no more than the label says, by quadrature, and a number of records in the law is caught", {
  # the largest log ratio of the two densities, at the scales with which the package draws
  loss <- function(s, grid, one, two, scale) {
    log_p <- function(a) {
      l <- if (nrow(a)) -sum_length(s, grid, a) / nrow(a) / scale(nrow(a)) else 0 * grid$v
      l - log(sum(grid$v * exp(l)))
    }
    max(abs(log_p(one) - log_p(two)))
  }
  for (s in SUMMED) for (epsilon in c(1, 8)) {
    grid <- ball_grid(s, if (quick()) 200 else 300)
    plan <- sum_plan(s, epsilon = epsilon)
    drawn <- function(n) internal$kng_sum_scale(s$M, plan, sum_ask(s, epsilon), n)[1]
    pairs <- lapply(c(0, 1, 2, 5, 40), function(n) list(axis_at(s, rep(1, n)), axis_at(s, c(rep(1, n), -1))))
    lost <- function(scale) max(vapply(pairs, function(p) loss(s, grid, p[[1]], p[[2]], scale), 0))
    expect_lte(lost(drawn), epsilon)
    expect_gt(lost(drawn), 0.5 * epsilon)
    # a guess of the number, or the published scale
    expect_gt(lost(function(n) drawn(40)), epsilon)
    if (epsilon == 1) expect_gt(lost(function(n) drawn(n) / 2), epsilon)
  }
})

test_that("trials have a proven success for every number of records, and the cap follows from public numbers", {
  cases <- c(SUMMED[c("sphere", "hyperbolic")], SIZED[c("spd", "shapes", "line")])
  draws <- if (quick()) 300 else 600
  for (s in cases) {
    plan <- sum_plan(s)
    d <- mf_facts(s$M)$dimension
    ask <- sum_ask(s)
    expect_gt(plan$acceptance, 0.01)
    bound <- internal$kng_sum_acceptance(s$M, ask$ball, list(slope = plan$gradient))
    expect_identical(plan$acceptance, bound)
    for (n in c(0, 1, 7, if (!quick()) c(300, 1e6), 2^31)) for (t in c(0, 1)) {
      scale <- internal$kng_sum_scale(s$M, plan, ask, n)
      expect_gte(scale[1] * (1 + 1e-9), scale[2])
      expect_lte(scale[1], scale[3])
      # the law knows the records' number by its scale only: one record stands for n at its place
      share <- with_simulation(4, .Call(internal$riemdp_kng_acceptance_nonprivate, s$M, placed(s, axis_at(s, t)), s$center, s$radius, "kng", scale,
                                        c(plan$numbers, list(gradient = plan$gradient)), TRUE, draws, TRUE))
      expect_gt(share, bound - 5 * sqrt(bound / draws))
      # for the range no more than for any scale of it, with the same bins
      least <- .Call(internal$riemdp_kng_least_acceptance, s$M, s$radius, "kng", scale[2:3], plan$gradient)
      expect_gte(least, bound)
      expect_gt(share, least - 5 * sqrt(least / draws))
    }
    # all fail with less than what the scale was rounded up by, also for 2^31 records
    spread <- abs(ask$ball$k_min) + abs(ask$ball$k_max)
    expect_lte(plan$trials * log1p(-plan$acceptance), log(1e-13) - plan$most * 2 * s$radius / plan$scale - (d - 1) * s$radius * sqrt(spread))
  }
  # one range for all is no more than any part of it
  at <- function(range) .Call(internal$riemdp_kng_least_acceptance, sphere(2), 0.7, "kng", range, 1e-10)
  for (wide in c(0.1, 0.3, 1, Inf)) for (to in c(0.1, min(wide, 0.2))) expect_lte(at(c(0.1, wide)), at(to) * 1.02)
  expect_gt(at(c(0.1, 0.2)), 0.8 * min(at(0.1), at(0.2)))
  # where curvature is negative it is less within the range than at its ends
  at <- function(range) .Call(internal$riemdp_kng_least_acceptance, hyperbolic(2), 1, "kng", range, 1e-10)
  for (to in c(0.2, 0.5, 1)) expect_lte(at(c(0.1, Inf)), at(to))
})

test_that("from some number of records on the noise stays as it is, and rounding of 2^31 records is paid for", {
  far <- list(M = spd(2), center = diag(2), radius = 4)
  plan <- sum_plan(far)
  expect_lt(plan$most, 1e7)
  expect_equal(plan$sensitivity, 8, tolerance = 1e-9) # curvature is at most 0
  expect_identical(internal$kng_sum_scale(far$M, plan, sum_ask(far), 1e9)[1], plan$scale / plan$most)
  expect_gte(plan$scale / plan$most, 4 * plan$gradient)
  # on positive curvature a record moves the scaled mean by more than the sum
  tight <- SIZED$sphere
  plan <- sum_plan(tight, epsilon = 1000)
  expect_lt(plan$most, 2^31)
  expect_equal(plan$sensitivity, as.numeric(gradient_sensitivity(sphere(2), 1, 0.7)), tolerance = 1e-9)
  expect_gt(plan$sensitivity, 1.02 * 1.4)
  expect_gte(plan$scale / plan$most, 1e-11)
  # sums are converted with a relative error: for 2^31 records that is far more than one record's own
  for (s in SUMMED) expect_gt(sum_plan(s)$solver_error, 2^31 * 2^-53 * s$radius * 16)
  expect_lt(sum_plan(SUMMED$sphere)$solver_error, 1e-4)
})

test_that("a release of a sum pays in its own notion, and tells an error only with a number that was paid for", {
  s <- SUMMED$sphere
  x <- placed(s, matrix(0.2, 400, 2))
  ledger <- dp_ledger(NULL, 10, adjacency = "add-remove")
  r <- sized(x, s, mechanism = "kng", ledger = ledger)
  expect_equal(r$budget$cost[["epsilon"]], 1, tolerance = 1e-12)
  expect_identical(r$draws$proof, "kng.md, 9")
  expect_equal(r$draws$epsilon, 1, tolerance = 1e-9)
  expect_identical(guarantee(r)[c("label", "adjacency", "epsilon", "delta")], list(label = "pure", adjacency = "add-remove", epsilon = 1, delta = 0))
  expect_null(r$size)
  expect_identical(r$expected_error, NA_real_)
  expect_match(confint(r)$basis, "not released")
  expect_equal(confint(r)$radius, s$radius + mf_dist(s$M, s$center, r$value))
  expect_error(confint(r, parm = "size"), "no number of records was released", class = "riemdp_error_unsupported")
  expect_match(format(r), "a private number, not released", all = FALSE)
  expect_match(format(r), "whether it is there", all = FALSE)
  expect_output(explain(r), "one record more or one less moves the sum")
  expect_error(sized(x, s, mechanism = "kng", ledger = dp_ledger(NULL, 10)), class = "riemdp_error_adjacency")
  r <- sized(x, s, mechanism = "kng", options = list(count = 0.25), ledger = ledger)
  expect_equal(r$draws$epsilon, c(0.25, 0.75), tolerance = 1e-9)
  expect_equal(r$scale, 4 * 0.7 / 0.75, tolerance = 1e-4)
  expect_equal(r$budget$cost[["epsilon"]], 1, tolerance = 1e-9)
  expect_length(r$budget$event$children, 2)
  expect_gt(r$expected_error, 0)
  expect_lt(confint(r)$radius, s$radius)
  expect_match(confint(r)$basis, "from the released size")
  expect_output(print(r), "the noise doesn't use it")
  # few: nothing but the ball
  few <- sized(x[1:2, ], s, mechanism = "kng", options = list(count = 0.01))
  if (internal$size_least(few, 0.975) == 0) expect_match(confint(few)$basis, "small as released")
  # units
  of_units <- sized(x, s, mechanism = "kng", unit = rep(1:80, 5))
  expect_match(format(of_units), "one unit with all its rows, and whether it is there", all = FALSE)
})

test_that("a region after a sum holds for every number of records from the interval's lower end on", {
  s <- SUMMED$sphere
  r <- sized(placed(s, matrix(0.2, 400, 2)), s, mechanism = "kng", options = list(count = 0.25), epsilon = 4)
  least <- internal$size_least(r, 0.975)
  expect_equal(least, r$size$count - internal$geometric_far(r$size$scale, 0.025))
  q <- confint(r)$radius
  bound <- internal$kng_region(r, 0.95, "kng")$radius
  expect_identical(q, min(bound, internal$ball_reach(r)))
  grid <- ball_grid(s, 400)
  for (n in least * c(1, 1.5, 4)) for (t in c(0, 1)) {
    a <- axis_at(s, t)
    w <- grid$v * exp(-sum_length(s, grid, a) * n / r$scale)
    expect_lte(sum(w[mf_dist(s$M, grid$y, placed(s, a)) > bound]) / sum(w), 0.025)
  }
  expect_lt(bound, s$radius)
})

# ---- on a lattice ---------------------------------------------------------------------------------------------------------------------

# centres whose logarithm at themselves doubles may not find to be 0
ODD <- local({
  m <- matrix(c(1.3, 0.37, 0.37, 0.71), 2)
  u <- c(0.3, -0.5, 0.8) / sqrt(0.98)
  list(line = SIZED$line, plane = SIZED$plane, sphere = list(M = sphere(2), center = u, radius = 0.7),
       hyperbolic = list(M = hyperbolic(2), center = c(sqrt(1 + 0.3^2 + 0.9^2), 0.3, 0.9), radius = 1), spd = list(M = spd(2), center = m, radius = 1.2),
       shapes = list(M = kendall(4), center = SIZED$shapes$center * exp(0.7i), radius = 0.35), bures = list(M = spd(2, "bures"), center = m, radius = 0.2))
})

test_that("on a lattice one record more moves the integers by no more than is said, and nearly by that", {
  for (name in names(ODD)) {
    s <- ODD[[name]]
    s$center <- internal$public_point(s$M, s$center)
    d <- mf_facts(s$M)$dimension
    forms <- if (name %in% c("line", "plane")) "sum" else c("scaled", "plain", "tail")
    for (form in forms) {
      ask <- ask_of(s, delta = if (form == "tail") 1e-3 else 0, numerics = "lattice", options = if (form != "sum") list(form = form) else list())
      most <- 0
      for (N in c(1, 2, 5)) for (n in unique(c(0, N - 1, if (form != "tail") c(N, 2 * N)))) for (kind in 1:2) {
        at <- utils::modifyList(ask, list(n = N))
        plan <- internal$plan_one(s$M, at, "wrapped", error = FALSE)
        one <- at_edge(c(1, rep(0, d - 1)), s)
        a <- matrix(rep(one, n), n, d, byrow = TRUE)
        more <- switch(kind, -one, if (d > 1) at_edge(c(0, 1, rep(0, d - 2)), s) else one)
        whole <- function(a) round(base_of(s, a, N, form, lattice = TRUE) * 2^plan$details$k)
        moved <- sqrt(sum((whole(a) - whole(rbind(a, more)))^2))
        expect_lte(moved, plan$details$lattice_sensitivity, label = paste(name, form, N, n, kind))
        expect_gte(plan$details$lattice_scale * at$epsilon, plan$details$lattice_sensitivity)
        most <- max(most, moved / plan$details$lattice_sensitivity)
      }
      expect_gt(most, if (form == "scaled") 0.68 else if (mf_facts(s$M)$k_max > 0) 0.75 else 0.93, label = paste(name, form))
    }
    # what stands for missing records is the centre to the last bit
    if (!"sum" %in% forms) {
      steps <- internal$mean_steps(s$M, internal$check_radius(s$M, s$radius, s$center), 1, lattice = TRUE)
      ask <- list(size = list(form = "plain"), n = 3, center = s$center, ball = list(radius = s$radius), numerics = "lattice")
      y <- internal$sized_records(s$M, placed(s, matrix(0.1, 1, d)), 1, list(numbers = steps$numbers), ask)
      expect_true(anyNA(y)) # no point, rather than one whose logarithm has to be 0
      a <- attr(.Call(internal$riemdp_steps_mean_nonprivate, s$M, y, s$center, steps$numbers, NULL), "records")
      expect_identical(a[, 2:3], matrix(0, d, 2))
      expect_gt(sum(a[, 1]^2), 0)
    }
  }
})

test_that("lattice releases of a private number of records: any number, their label, their price, groups", {
  for (name in names(ODD)) for (delta in c(0, 1e-5)) {
    s <- ODD[[name]]
    d <- mf_facts(s$M)$dimension
    seen <- lapply(c(0, 1, 30), function(n) sized(if (n) placed(s, matrix(0.05, n, d)) else no_records(s), s, delta = delta, numerics = "lattice"))
    for (r in seen) {
      g <- guarantee(r)
      expect_identical(g, guarantee(seen[[1]]))
      expect_identical(g[c("numerics", "adjacency")], list(numerics = "lattice", adjacency = "add-remove"))
      expect_no_match(format(r)[2], "real-number model")
      expect_true(r$mechanism %in% c("wrapped", "wrapped_staircase", if (delta > 0) "wrapped_gaussian",
                                     if (internal$flat_space(s$M)) c("laplace", "staircase", if (delta > 0) "gaussian")))
      expect_lte(sum(r$draws$epsilon), 1 + 1e-12)
      expect_lte(sum(r$draws$delta) + r$budget$event$parameters$times * 0, delta)
      expect_output(explain(r), "One record more or one less")
      expect_s3_class(confint(r), "riemdp_region")
    }
  }
  s <- ODD$sphere
  x <- placed(s, matrix(0.1, 60, 2))
  r <- sized(x, s, delta = 1e-5, mechanism = "wrapped_gaussian", numerics = "lattice", epsilon = 1,
             ledger = dp_ledger(NULL, 2, 1e-3, adjacency = "add-remove"))
  expect_lte(r$budget$cost[["epsilon"]], 1 + 1e-9)
  expect_identical(r$draws$law, c("laplace", "discrete normal"))
  g <- dp_mean(x, s$M, 1, s$center, s$radius, by = rep(c("a", "b"), 30), levels = c("a", "b"), numerics = "lattice")
  expect_identical(guarantee(g)$numerics, "lattice")
  expect_identical(guarantee(g)$epsilon, 1)
  # sums over a small released size are cut where integers end, on the side where they lie
  s <- ODD$line
  ask <- ask_of(s, epsilon = 1e13, numerics = "lattice", options = list(count = 0.5))
  plan <- internal$plan_one(s$M, internal$ask_at_size(ask, 1), "wrapped", error = FALSE)
  expect_gt(3e4 * 2^plan$details$k, 2^63)
  for (side in c(-1, 1)) {
    records <- internal$sized_records(s$M, rep(side, 3e4), 3e4, plan, plan_ask <- internal$ask_at_size(ask, 1))
    got <- with_simulation(1, internal$mean_mechanisms()$wrapped$release(s$M, records, plan, plan_ask))
    expect_equal(got, side * min(3e4, 2^61 / 2^plan$details$k), tolerance = 1e-6)
  }
  expect_gt(plan$details$error_bound, 2^31 * 2^-52)
})

test_that("which mechanism the released number allowed changes no type", {
  x <- with_simulation(1, mf_random(sphere(2), 30))
  for (mechanism in c("laplace", "wrapped")) {
    r <- dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.5, neighbours = "add_remove", mechanism = mechanism, invalid = "center")
    expect_identical(r$acceptance, NA_real_)
  }
})

# ---- fits --------------------------------------------------------------------------------------------------------------------

fit_table <- function(n, seed = 1) {
  set.seed(seed)
  x <- runif(n)
  data.frame(x = x, y = 0.5 * x + rnorm(n, sd = 0.2))
}
line_fit <- function(data, ..., epsilon = 1) dp_lm(y ~ x, data, epsilon, bounds = list(x = c(0, 1), y = c(center = 0, scale = 1)), ...)
more_fit <- function(data, ...) line_fit(data, neighbours = "add_remove", ...)
curve_list <- function(n, seed = 1) {
  set.seed(seed)
  x <- runif(n)
  list(x = x, y = mf_exp(sphere(2), c(0, 0, 1), matrix(outer(x - 0.5, c(0.5, 0.2, 0)), n)))
}
curve_fit <- function(data, ..., epsilon = 2) {
  dp_regression(y ~ x, sphere(2), data, epsilon = epsilon, center = c(0, 0, 1), radius = 0.4, speed = 1, residual_bound = 0.1, bounds = c(0, 1), ...)
}
more_curve <- function(data, ...) curve_fit(data, neighbours = "add_remove", ...)
# a released size of so many, whatever there are
at_count <- function(count, expr) {
  in_place_of("noisy_count", function(n, ratio, proof) {
    internal$pay(internal$price_laplace(1, ratio[1] / ratio[2], proof))
    count
  }, expr)
}
# `expr` with another function of the package by that name
in_place_of <- function(name, f, expr) {
  inner <- asNamespace("riemdp")
  kept <- get(name, inner)
  unlockBinding(name, inner)
  on.exit({
    assign(name, kept, inner)
    lockBinding(name, inner)
  })
  assign(name, f, inner)
  expr
}

test_that("so many records are taken for a fit, by lot and with all rows of a unit", {
  shares <- internal$taken_shares
  expect_identical(c(shares(3, 5)), structure(rep(1, 3), units = 5)[1:3])
  expect_identical(attr(shares(3, 5), "units"), 5)
  with_simulation(1, for (n in c(1, 6, 40)) for (N in c(1, 4)) {
    s <- shares(n, N)
    expect_identical(sum(s), as.double(min(n, N)))
    expect_identical(attr(s, "units"), N)
  })
  expect_length(shares(0, 2), 0)
  # each of the 15 pairs out of 6 is as likely: chi-square beyond 48 has probability 1e-5
  pairs <- with_simulation(2, replicate(3000, paste(which(shares(6, 2) > 0), collapse = " ")))
  expect_identical(length(unique(pairs)), 15L)
  expect_lt(sum((table(pairs) - 200)^2 / 200), 48)
  of <- c(1, 1, 2, 3, 3, 3, 4)
  given <- structure(c(0.5, 0.5, 1, 1, 1, 1, 1) / c(1, 1, 1, 3, 3, 3, 1), units = 4)
  with_simulation(3, for (i in 1:20) {
    s <- shares(7, 2, given, of)
    expect_identical(attr(s, "units"), 2)
    in_it <- tapply(c(s) > 0, of, unique)
    expect_true(is.logical(in_it)) # all rows of a unit, or none
    expect_identical(sum(in_it), 2L)
    expect_identical(c(s)[s > 0], c(given)[s > 0])
  })
})

test_that("a fit at a released size is that of N records, of which the missing ones are missing rows", {
  budget <- 1 - 0.05
  whole <- fit_table(120)
  padded <- rbind(whole, data.frame(x = rep(NA, 30), y = NA))
  for (m in c("objective", "recentred", "huber", "statistics", "output", "adassp", "boosted", "newton", "descent", "gaussian", "theil_sen")) {
    delta <- if (m %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-5 else 0
    one <- at_count(150, with_simulation(4, more_fit(whole, method = m, delta = delta)))
    two <- with_simulation(4, line_fit(padded, method = m, delta = delta, epsilon = budget))
    expect_equal(one$value, two$value, tolerance = 1e-6, info = m)
    expect_equal(one$draws[-1, ], two$draws, tolerance = 1e-6, ignore_attr = TRUE, info = m)
    expect_equal(one$expected_error, two$expected_error, tolerance = 1e-9, info = m)
    expect_identical(one$n, NA_real_)
    expect_identical(one$size$points, 150)
  }
  curve <- curve_list(90)
  gaps <- list(x = c(curve$x, rep(NA, 40)), y = rbind(curve$y, matrix(NA, 40, 3)))
  for (m in c("newton", "gradient", "tangent")) {
    delta <- if (m == "gradient") 1e-5 else 0
    one <- at_count(130, with_simulation(5, more_curve(curve, method = m, delta = delta, invalid = "ignore")))
    two <- with_simulation(5, curve_fit(gaps, method = m, delta = delta, invalid = "ignore", epsilon = 2 * budget))
    expect_equal(one$value, two$value, tolerance = 1e-6, info = m)
    expect_equal(one$draws[-1, ], two$draws, tolerance = 1e-6, ignore_attr = TRUE, info = m)
  }
  # fewer than there are: 40 of 120, planned as for 40
  few <- at_count(40, with_simulation(6, more_fit(whole, method = "statistics")))
  expect_identical(few$size$points, 40)
  plan <- dp_lm_plan(40, 1, epsilon = budget)
  expect_equal(few$expected_error, plan$expected_error[plan$method == "statistics"], tolerance = 1e-9)
  # no draw is larger than what the records that are taken can make: all 4,000 would move the sum by 4,000
  far <- data.frame(x = rep(1, 4000), y = 1)
  ours <- at_count(10, with_simulation(7, more_fit(far, method = "statistics", epsilon = 500)))
  expect_equal(sum(ours$value), 1, tolerance = 0.1)
})

test_that("rows that are left out are no candidates of a search for a guess", {
  # a guess that is off by much: a cell is found among the rows taken, whose responses are near 40
  seen <- list()
  look <- function(x, y, check, n, q) {
    seen[[length(seen) + 1]] <<- list(x = x, y = y)
    stop("seen")
  }
  try(in_place_of("release_guess", look, at_count(400, {
    with_simulation(8, more_fit(fit_table(1000), method = "statistics", epsilon = 5))
  })), silent = TRUE)
  expect_length(seen, 1)
  x <- seen[[1]]$x
  expect_identical(sum(x[1, ] != 0), 400L)
  expect_identical(unname(which(x[1, ] == 0)), which(c(attr(x, "share")) == 0))
  expect_true(all(seen[[1]]$y[, x[1, ] == 0] == 0))
})

test_that("fits of a private number of records cost what they say, and say what they promise", {
  ledger <- dp_ledger(NULL, 3, 1e-4, pairs = TRUE)
  for (delta in c(0, 1e-5)) {
    fits <- list(more_fit(fit_table(300), delta = delta), more_curve(curve_list(200), delta = delta, epsilon = 1),
                 more_fit(fit_table(300), delta = delta, unit = rep(1:100, 3)))
    for (r in fits) {
      g <- guarantee(r)
      expect_identical(g$label, if (delta > 0) "approx" else "pure")
      expect_identical(g$adjacency, "add-remove")
      expect_identical(c(g$epsilon, g$delta), c(1, delta))
      expect_true(any(grepl("is private", g$assumptions)) && !any(grepl("number of (records|units) is public", g$assumptions)))
      # the draws of two laws: size and fit; in the event as well
      price <- internal$event_sum(r$budget$event)
      expect_equal(price$epsilon, 1, tolerance = 1e-12)
      expect_identical(price$delta, delta)
      expect_equal(r$draws$epsilon[1], 0.05, tolerance = 1e-9)
      expect_lte(sum(r$draws$epsilon), 1)
      expect_identical(r$n, NA_real_)
      expect_true(is.na(nobs(r)))
      expect_match(format(r), "and whether it is there", all = FALSE)
      expect_match(format(r)[1], sprintf("about %.0f \\(as released", max(0, r$size$count)))
      expect_match(paste(utils::capture.output(explain(r)), collapse = " "), "section 16")
    }
  }
  expect_error(more_fit(fit_table(300), ledger = dp_ledger(NULL, 0.99, 0, pairs = TRUE)), class = "riemdp_error_budget")
  more_fit(fit_table(50), ledger = ledger)
  expect_equal(ledger_history(ledger)$epsilon, 2, tolerance = 1e-9) # of pairs: a group of two
})

test_that("fits of any number of records are total, and refusals are public and free", {
  ledger <- dp_ledger(NULL, 100, 1e-4, pairs = TRUE)
  shape <- function(r) list(class(r), names(r), lapply(unclass(r)[c("value", "n", "size")], function(part) rapply(list(part), typeof)))
  for (m in c("objective", "recentred", "huber", "statistics", "output")) {
    all <- lapply(c(0, 1, 30), function(n) more_fit(fit_table(30)[seq_len(n), ], method = m))
    expect_identical(shape(all[[1]]), shape(all[[3]]), info = m)
    expect_identical(shape(all[[2]]), shape(all[[3]]), info = m)
  }
  for (m in c("newton", "tangent")) {
    all <- lapply(c(0, 1, 30), function(n) {
      d <- curve_list(30)
      more_curve(list(x = d$x[seq_len(n)], y = d$y[seq_len(n), , drop = FALSE]), method = m)
    })
    expect_identical(shape(all[[1]]), shape(all[[3]]), info = m)
    expect_identical(shape(all[[2]]), shape(all[[3]]), info = m)
  }
  expect_s3_class(more_fit(fit_table(9), unit = factor(rep("a", 9), levels = "a")), "riemdp_lm")
  refused <- function(expr, what, class = "riemdp_error_unsupported") {
    expect_error(expr, what, class = class)
    expect_identical(nrow(ledger_history(ledger)), 0L)
  }
  d <- fit_table(30)
  refused(more_fit(chunks(d, 10), ledger = ledger), "in memory")
  refused(more_fit(d, method = "kng", ledger = ledger), "kng")
  refused(more_fit(d, method = "paper", ledger = ledger), "paper")
  refused(dp_lm(y ~ x, d, 1, bounds = "sample", neighbours = "add_remove", ledger = ledger), "sample")
  refused(more_fit(d, epsilon = 1e-4, ledger = ledger), "too small", "riemdp_error_argument")
  refused(more_curve(curve_list(9), method = "kng", ledger = ledger), "kng")
  y <- d$y
  x <- d$x
  refused(more_fit(NULL, ledger = ledger), "in `data`")
  refused(line_fit(d, neighbours = "other", ledger = ledger), "neighbours", "riemdp_error_argument")
})

test_that("a plan at a released size that promises less than was stated ends the call", {
  # all methods keep it, whatever the size
  stated <- list(label = "pure")
  for (N in c(1, 2, 3, 10, 1000, 1e6, 2^31)) {
    for (m in c("auto", "objective", "recentred", "huber", "statistics", "output")) {
      ask <- internal$fit_ask(internal$linear_ask(N, 2, 1, 1, 0, m, 0.3, "auto"), FALSE)
      ask$n <- N
      expect_true(internal$keeps_promise(internal$linear_promise(internal$plan_linear(ask)), stated, ask))
    }
  }
  ask <- list(epsilon = 0.95, whole_delta = 0)
  for (g in list(list(label = "none", epsilon = Inf, delta = 1), list(label = "pure", epsilon = 1, delta = 0),
                 list(label = "approx", epsilon = 0.9, delta = 1e-6), list(label = "approx-sampler", epsilon = 0.9, delta = 0))) {
    expect_false(internal$keeps_promise(g, stated, ask))
  }
  expect_error(in_place_of("keeps_promise", function(at, stated, ask) FALSE, more_fit(fit_table(20))), class = "riemdp_error_contract")
})

test_that("the share of records outside is of the released number, paid beside it and the mean", {
  s <- SIZED$plane
  x <- rbind(placed(s, matrix(0.3, 150, 2)), placed(s, matrix(9, 50, 2)))
  for (m in c("laplace", "wrapped", "gaussian", "adaptive", "kng", "auto")) {
    delta <- if (m == "gaussian") 1e-4 else 0
    ledger <- dp_ledger(NULL, 3, 1e-3, adjacency = "add-remove")
    r <- sized(x, s, mechanism = m, epsilon = 2, delta = delta, clipped = 0.25, ledger = ledger, options = if (m == "kng") list(count = 0.2) else list())
    expect_identical(guarantee(r)[c("epsilon", "delta", "adjacency")], list(epsilon = 2, delta = delta, adjacency = "add-remove"))
    expect_equal(r$budget$cost[["epsilon"]], 2, tolerance = 1e-9)
    expect_match(ledger_history(ledger)$event, if (delta > 0) "^approximate\\(epsilon = 2, delta = 0.0001\\)" else "^pure\\(epsilon = 0.5\\) \\+ ")
    # the count first, then the size, then the rest: all that there is, and no more
    expect_equal(r$draws$epsilon[1:2], c(0.5, r$size$epsilon), tolerance = 1e-6)
    expect_lte(sum(r$draws$epsilon), 2 * (1 + 1e-12))
    if (delta == 0) expect_equal(sum(r$draws$epsilon), 2, tolerance = 1e-4)
    expect_gte(r$clipped$scale * r$clipped$epsilon, 1)
    expect_lt(r$clipped$scale * r$clipped$epsilon, 1 + 1e-6)
    expect_identical(r$clipped$share, r$clipped$count / max(1, r$size$count))
    expect_identical(r$n, NA_real_)
    ends <- confint(r, "clipped")
    expect_true(ends[1] >= 0 && ends[1] < ends[2] && ends[2] <= 1 && ends[2] - ends[1] < 0.6)
    expect_output(print(r), "outside the ball: [.0-9]+ % of the records as released")
    expect_output(explain(r), "adding\\s+or\\s+removing\\s+one\\s+record")
  }
  # what is told of no record, and of units
  none <- sized(no_records(s), s, clipped = 0.5)
  expect_true(none$clipped$count == round(none$clipped$count))
  unit <- sized(x, s, epsilon = 50, clipped = 0.5, unit = rep(1:20, 10))
  expect_identical(unit$clipped$count, 20)
  empty <- sized(x[0, ], s, clipped = 0.5, unit = factor(character(), c("a", "b")), invalid = "center")
  expect_s3_class(empty, "riemdp_mean")
  # the law of the count, and how often the interval holds the share: a lower coverage by five standard errors fails
  draws <- if (quick()) 2000 else 3000
  ask <- internal$size_ask(s$M, internal$mean_ask(s$M, NA_real_, 1, s$center, s$radius, 0, "wrapped", NULL, "proven", "ordinary", "real", 1e6, list(), 0.5))
  seen <- with_simulation(5, lapply(seq_len(draws), function(i) {
    outside <- internal$release_clipped(s$M, x, ask, NULL, 200)
    size <- list(count = internal$noisy_count(200, ask$size$ratio, ""), scale = ask$size$scale)
    list(clipped = internal$share_of_size(outside, size), size = size, guarantee = list(adjacency = "add-remove"))
  }))
  expect_geometric_2(vapply(seen, function(r) r$clipped$count, 0) - 50)
  held <- vapply(seen, function(r) {
    ends <- internal$clipped_interval(r, 0.95)
    ends[1] <= 0.25 && ends[2] >= 0.25
  }, NA)
  expect_gt(mean(held), 0.95 - 5 * sqrt(0.05 / draws))
  # a small share in many records: half of what may fail is for the size
  far <- list(clipped = list(count = 5000, scale = 1), size = list(count = 10000, scale = 200), guarantee = list(adjacency = "add-remove"))
  off <- internal$geometric_far(200, 0.0125)
  expect_equal(internal$clipped_interval(far, 0.95), (5000 + c(-1, 1) * internal$geometric_far(1, 0.0125)) / (10000 + c(off, -off)))
})
