# Private prediction balls (R/dp-conformal.R, R/dp-conformal-object.R; inst/proofs/conformal.md)

internal <- asNamespace("riemdp")

# what the mechanism says it does: the law of the choice, from counts within the radii, with the code's own misses
choice_law <- function(inside, n, rank, epsilon) {
  w <- exp(-epsilon / 2 * internal$conformal_misses(inside, n, rank))
  w / sum(w)
}

# Chance that the new one of n + 1 scores is missed: `cells` says how many are in each; each of them is the new one in turn
missed <- function(cells, rank, epsilon, private = FALSE) {
  n <- sum(cells) - 1
  J <- length(cells) - 1
  inside <- cumsum(cells)[seq_len(J)]
  sum(vapply(which(cells > 0), function(b) {
    p <- choice_law(inside - (seq_len(J) >= b), if (private) Inf else n, rank, epsilon)
    cells[b] / (n + 1) * sum(p[seq_along(p) < b])
  }, 0))
}

# all ways to put n into so many cells
fillings <- function(n, cells) {
  if (cells == 1) return(matrix(n))
  do.call(rbind, lapply(0:n, function(i) cbind(i, fillings(n - i, cells - 1))))
}

test_that("the level holds for every data set: all multisets of few scores, by the mechanism's own law", {
  near <- 0
  for (case in list(c(5, 3), c(9, 3), if (!quick()) c(11, 4), c(14, 2))) {
    if (is.null(case)) next
    n <- case[1]
    all <- fillings(n + 1, case[2] + 1)
    for (epsilon in c(0.7, 2, 4, 9)) for (level in c(0.3, 0.6, 0.8)) {
      margin <- internal$conformal_margin(case[2], epsilon / 2)
      rank <- internal$conformal_rank(n, level, margin)
      if (rank > n) next
      worst <- max(apply(all, 1, missed, rank = rank, epsilon = epsilon))
      # what is proven of this rank, and so the level
      expect_lte(worst, 1 - internal$conformal_coverage(n, rank, margin) + 1e-12)
      expect_gte(internal$conformal_coverage(n, rank, margin), level)
      near <- max(near, worst / (1 - internal$conformal_coverage(n, rank, margin)))
    }
  }
  expect_gt(near, 0.95) # and nearly all of it is needed
  # the rank is the least one for which the proof says so
  for (n in c(50, 1000)) for (level in c(0.5, 0.9)) {
    margin <- internal$conformal_margin(240, 0.5)
    rank <- internal$conformal_rank(n, level, margin)
    expect_lt(internal$conformal_coverage(n, rank - 1, margin), level)
  }
})

test_that("the margin is an upper bound of what it stands for, and hardly more", {
  # D of the proof for sequences s_1 >= s_2 >= ... of whole numbers: by random search it isn't exceeded
  g <- function(a) a / (1 + a)
  D <- function(s, rate) {
    A <- c(0, cumsum(exp(-rate * s)))
    sum(s * diff(g(A)))
  }
  set.seed(3)
  for (J in c(1, 5, 40, 240)) for (rate in c(0.05, 0.5, 2, 6)) {
    margin <- internal$conformal_margin(J, rate)
    middle <- log(J + 1) / rate
    found <- max(vapply(1:400, function(i) {
      spread <- stats::runif(1, 0, 1.5) * middle
      D(sort(pmax(1, round(middle * stats::runif(1, 0.2, 2) + spread * sort(stats::runif(J)))), decreasing = TRUE), rate)
    }, 0))
    expect_lte(found, margin)
    if (rate < 1) expect_gt(found, 0.85 * margin)
  }
})

test_that("neighbours' laws differ by no more than epsilon, and some by nearly that", {
  for (epsilon in c(0.5, 3)) {
    worst <- 0
    for (n in c(3, 8)) for (rank in unique(c(1, n %/% 2 + 1, n))) {
      all <- fillings(n, 4)
      laws <- apply(all, 1, function(cells) choice_law(cumsum(cells)[1:3], n, rank, epsilon))
      for (i in seq_len(nrow(all))) for (from in which(all[i, ] > 0)) for (to in 1:4) {
        other <- all[i, ]
        other[c(from, to)] <- other[c(from, to)] + if (from == to) 0 else c(-1, 1)
        j <- which(colSums(t(all) == other) == 4)
        worst <- max(worst, abs(log(laws[, i] / laws[, j])))
      }
    }
    expect_lte(worst, epsilon * (1 + 1e-9))
    # many radii that hold one record too few, and one that holds too many: a record leaves all of them
    inside <- rep(c(9, 12), c(238, 2))
    moved <- abs(log(choice_law(inside, 12, 10, epsilon) / choice_law(inside - 1, 12, 10, epsilon)))
    expect_lte(max(moved), epsilon * (1 + 1e-9))
    expect_gt(max(moved), 0.95 * epsilon)
  }
  # misses are whole numbers that a record moves by 1 at most, and one of them is 0
  for (cells in list(c(3, 0, 2), c(0, 0, 5), c(5, 0, 0))) {
    u <- internal$conformal_misses(cumsum(cells)[1:2], 5, 4)
    expect_identical(min(u), 0)
    expect_identical(sum(u == 0), 1L)
  }
})

test_that("the draw has the law that it says: counts of distances, chosen by exact weights", {
  M <- sphere(2)
  x <- mf_exp(M, c(0, 0, 1), cbind(c(0.05, 0.1, 0.1, 0.3, 0.5, 0.9), 0, 0))
  radii <- c(0.07, 0.2, 0.4, 0.8)
  ask <- internal$conformal_ask(M, 6, 2, 1, 0.2, radii)
  around <- c(ask, list(around = "point", at = c(0, 0, 1)))
  inside <- internal$conformal_counts(M, list(x = x), around)
  expect_identical(inside, c(1L, 3L, 4L, 5L))
  expect_equal(inside, internal$conformal_counts(M, list(x = chunks(mf_points(x, M), 4)), around))
  expect_lte(ask$rank, 6)
  # a score at a radius lies within it, as region_contains() says; one just beyond doesn't
  line <- c(internal$conformal_ask(euclidean(1), 3, 2, 1, 0.2, c(0.25, 0.5, 0.5 + 2^-30)), list(around = "point", at = 0))
  expect_identical(internal$conformal_counts(euclidean(1), list(x = c(-0.25, 0.5 + 2^-40, 0.5)), line), c(1L, 2L, 3L))
  draws <- if (quick()) 4000 else 20000
  index <- with_simulation(2, replicate(draws, {
    .Call(internal$riemdp_release_choice, as.double(internal$conformal_misses(inside, 6, ask$rank)), ask$ratio, internal$in_simulation())
  }))
  seen <- tabulate(index, 5)
  law <- choice_law(inside, 6, ask$rank, 2)
  expect_gt(stats::chisq.test(seen, p = law)$p.value, 1e-6)
  # the release draws from that
  released <- with_simulation(3, replicate(400, dp_conformal(x, M, 2, c(0, 0, 1), 1, level = 0.2, radii = radii)$value))
  expect_gt(stats::chisq.test(table(factor(released, c(radii, Inf))), p = law)$p.value, 1e-6)
})

# law of records, and where predictions are, for each space
CONFORMAL <- list(
  sphere = list(M = sphere(2), at = c(0, 0, 1), sd = 0.3), spd = list(M = spd(2), at = diag(c(1, 2)), sd = 0.4),
  hyperbolic = list(M = hyperbolic(2), at = c(1, 0, 0), sd = 0.5), shapes = list(M = kendall(4), at = exp(2i * pi * (1:4) / 4) / 2, sd = 0.15)
)
records_like <- function(s, n, heavy = FALSE) {
  d <- mf_facts(s$M)$dimension
  a <- matrix(stats::rnorm(n * d, sd = s$sd), n)
  if (heavy) a <- a / sqrt(stats::rchisq(n, 3) / 3) * 0.5
  length <- sqrt(rowSums(a^2))
  a <- a * pmin(1, 1.2 / length) # within reach
  mf_exp(s$M, s$at, mf_from_coords(s$M, s$at, a))
}

test_that("a new record lies in its ball as often as is said: on every space, by simulation", {
  # below the level by 5 standard errors fails; and above what rank and grid explain
  runs <- if (quick()) 150 else 600
  for (s in CONFORMAL) for (case in list(list(60, 4, 0.8, FALSE), list(200, 1, 0.9, TRUE))) {
    share <- with_simulation(4, replicate(runs, {
      x <- records_like(s, case[[1]], case[[4]])
      r <- dp_conformal(x, s$M, case[[2]], s$at, 10, level = case[[3]])
      mean(region_contains(r, records_like(s, 40, case[[4]])))
    }))
    error <- stats::sd(share) / sqrt(runs)
    expect_gt(mean(share), case[[3]] - 5 * error)
    ask <- internal$conformal_ask(s$M, case[[1]], case[[2]], 10, case[[3]], NULL)
    expect_lt(mean(share), ask$rank / (case[[1]] + 1) + 0.05 + 5 * error)
  }
  # a law for which the margin is needed: most records at the prediction, the others beyond the bound
  s <- CONFORMAL$sphere
  held <- with_simulation(5, replicate(4 * runs, {
    far <- stats::runif(101) > 0.86
    x <- mf_exp(s$M, s$at, cbind(as.numeric(far[1:100]), 0, 0))
    !far[101] || dp_conformal(x, s$M, 2, s$at, 0.5, level = 0.9)$value == Inf
  }))
  expect_gt(stats::pbinom(sum(held), length(held), 0.9), 1e-6)
})

test_that("around a released mean, a released curve, and each record's own point", {
  set.seed(6)
  M <- sphere(2)
  x <- stats::runif(400)
  y <- mf_exp(M, c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
  y <- mf_project(M, y + stats::rnorm(1200, sd = 0.03))
  table <- data.frame(x = x)
  fit <- dp_regression(y ~ x, M, list(y = y[1:200, ], x = x[1:200]), epsilon = 1, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1,
                       bounds = c(0, 1))
  r <- dp_conformal(y[201:400, ], M, 2, fit, 1, data = table[201:400, , drop = FALSE])
  expect_identical(r$around, "curve")
  expect_output(print(r), "of the released curve with\\s+probability 0.95 or more")
  ball <- predict(r, data.frame(x = c(0, 0.5, 2, NA)))
  expect_equal(as.array(ball$center)[1:2, ], as.array(predict(fit, data.frame(x = c(0, 0.5)))), tolerance = 1e-12)
  # moved into the range, and to its middle
  expect_equal(as.array(ball$center)[3:4, ], as.array(predict(fit, data.frame(x = c(1, 0.5)))), tolerance = 1e-12)
  expect_output(print(ball), "each of 4 points")
  inside <- region_contains(r, y, table)
  expect_equal(inside, mf_dist(M, predict(fit, table), y) <= r$value)
  expect_error(predict(r), class = "riemdp_error_argument")
  # the same predictions, given one by one
  own <- with_simulation(7, dp_conformal(y, M, 2, predict(fit, table), 1))
  curve <- with_simulation(7, dp_conformal(y, M, 2, fit, 1, data = table))
  expect_identical(own$value, curve$value)
  expect_identical(own$around, "each")
  expect_true(any(grepl("public rule", guarantee(own)$assumptions)))
  expect_identical(region_contains(own, y, at = predict(fit, table)), region_contains(curve, y, table))
  m <- dp_mean(y, M, 1, c(0, 0, 1), 0.7)
  around <- dp_conformal(y, M, 2, m, 1)
  expect_equal(around$at, m$value)
  expect_match(around$source, "dp_mean")
  expect_output(print(predict(around)), "the point")
  # the same wherever the records are, and in units the farthest row counts
  both <- lapply(list(y, chunks(mf_points(y, M), 7)), function(x) with_simulation(8, dp_conformal(x, M, 2, c(0, 0, 1), 1))$value)
  expect_identical(both[[1]], both[[2]])
  far <- mf_dist(M, c(0, 0, 1), y)
  of <- c(NA, rep_len(3:1, 399))
  expect_equal(internal$conformal_scores(M, y, c(0, 0, 1), list(of = of, count = 4)), c(vapply(1:3, function(u) max(far[which(of == u)]), 0), 0))
  unit <- dp_conformal(y, M, 5, c(0, 0, 1), 1, unit = rep(1:100, 4))
  expect_identical(unit$n, 100L)
  expect_output(print(unit), "all rows of a new unit")
})

test_that("where n epsilon is too small the whole space is the answer, from public numbers, and nothing is spent", {
  s <- CONFORMAL$spd
  x <- with_simulation(9, records_like(s, 60))
  ledger <- dp_ledger(NULL, 1)
  r <- dp_conformal(x, s$M, 1, s$at, 5, ledger = ledger)
  expect_identical(r$value, Inf)
  expect_identical(c(guarantee(r)$label, guarantee(r)$epsilon), c("pure", 0))
  expect_identical(nrow(ledger_history(ledger)), 0L)
  expect_null(r$draws)
  expect_true(all(region_contains(r, x)))
  expect_output(print(r), sprintf("n = %d", r$least$n))
  expect_output(explain(r), "nothing spent")
  expect_output(print(predict(r)), "whole space")
  # what it says is needed does, and no less
  served <- function(n, epsilon) internal$conformal_ask(s$M, n, epsilon, 5, 0.95, NULL)$rank <= n
  expect_true(served(r$least$n, 1) && !served(r$least$n - 1, 1))
  expect_true(served(60, r$least$epsilon * 1.001) && !served(60, r$least$epsilon * 0.999))
  few <- dp_conformal(x[, , 1:10], s$M, 1e5, s$at, 5)
  expect_identical(few$least$epsilon, Inf)
  expect_output(print(few), "n = 20 would")
  expect_identical(dp_conformal(x[, , 1, drop = FALSE], s$M, 1, s$at, 5)$value, Inf)
  paid <- dp_conformal(x, s$M, 1, s$at, 5, level = 0.5, ledger = ledger)
  expect_identical(guarantee(paid)$epsilon, 1)
  expect_identical(nrow(ledger_history(ledger)), 1L)
  expect_true(any(grepl("dp_conformal", unlist(ledger_history(ledger)))))
})

test_that("it is total, whatever the records are, and refuses from public facts alone", {
  s <- CONFORMAL$sphere
  x <- with_simulation(9, records_like(s, 100))
  ledger <- dp_ledger(NULL, 1)
  no <- function(..., class = "riemdp_error_argument") {
    expect_error(dp_conformal(..., ledger = ledger), class = class)
  }
  no(x, s$M, 1, s$at)
  no(x, s$M, 1, bound = 1)
  no(x, s$M, 1, frechet_mean(x, s$M), 1)
  no(x, s$M, 1, s$at, -1)
  no(x, s$M, 1, s$at, 1, level = 1)
  no(x, s$M, 1, s$at, 1, radii = 2)
  no(x, s$M, 1e-12, s$at, 1)
  no(x, s$M, 1, s$at, 1, data = data.frame(x = 1:100))
  no(x, s$M, 1, x[1:3, ], 1, class = "riemdp_error_shape")
  no(x, custom_sphere(2), 1, s$at, 1, class = "riemdp_error_unsupported")
  no(chunks(mf_points(x, s$M), 7), s$M, 1, s$at, 1, unit = rep(1:50, 2), class = "riemdp_error_unsupported")
  no(chunks(mf_points(x, s$M), 7), s$M, 5, x, 1, class = "riemdp_error_unsupported")
  expect_error(region_contains(1, x), class = "riemdp_error_argument")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  for (value in c(NA, Inf, 1e300)) {
    y <- x
    y[4, ] <- value
    no(y, s$M, 5, s$at, 1, class = "riemdp_error")
    r <- dp_conformal(y, s$M, 5, s$at, 1, invalid = "at")
    expect_s3_class(r, "riemdp_conformal")
    expect_true(region_contains(r, y)[4])
  }
  same <- dp_conformal(x[rep(1, 100), ], s$M, 5, x[1, ], 1)
  expect_true(is.finite(same$value))
  beyond <- dp_conformal(x, s$M, 20, -s$at, 0.01)
  expect_identical(beyond$value, Inf)
  expect_output(print(beyond), "no radius up to the bound")
})

# a private number: the rank that goes with each released one, and the law of that
private_ask <- function(epsilon, level, radii) internal$conformal_ask(euclidean(1), NA_real_, epsilon, 10, level, radii)
released_ranks <- function(n, ask) {
  s <- ask$size$scale
  z <- seq(-ceiling(40 * s), ceiling(40 * s))
  told <- pmax(0, n + z)
  rank <- internal$conformal_rank(told, ask$level, ask$margin)
  list(p = exp(-abs(z) / s) * tanh(0.5 / s), rank = rank, drawn = rank <= told)
}

test_that("with a private number the level holds over its noise: all multisets of few scores, and the bound for every number", {
  near <- 0
  for (case in list(c(4, 2), c(9, 2), if (!quick()) c(7, 3))) for (epsilon in c(4, 12, 40)) for (level in c(0.3, 0.7)) {
    if (is.null(case)) next
    ask <- private_ask(epsilon, level, seq_len(case[2]))
    all <- fillings(case[1] + 1, case[2] + 1)
    law <- released_ranks(case[1], ask)
    drawn <- which(law$drawn & law$p > 1e-9)
    rate <- 2 * ask$ratio[1] / ask$ratio[2] / 2
    at <- vapply(sort(unique(law$rank[drawn])), function(t) {
      sum(law$p[drawn][law$rank[drawn] == t]) * apply(all, 1, missed, rank = t, epsilon = rate, private = TRUE)
    }, numeric(nrow(all)))
    worst <- max(rowSums(matrix(at, nrow(all))))
    expect_lte(worst, 1 - level)
    near <- max(near, worst / (1 - level))
  }
  expect_gt(near, 0.5)
  # the bound of each draw, over the number's noise; without the margin's second part the level would be broken
  total <- function(n, ask, law = released_ranks(n, ask)) {
    v <- internal$conformal_margin(length(ask$radii), ask$ratio[1] / ask$ratio[2] / 2)
    sum((law$p * pmin(1, (pmax(0, n + 1 - law$rank) + v) / (n + 1)))[law$drawn])
  }
  for (level in c(0.5, 0.8, 0.95, 0.99)) for (epsilon in c(0.3, 1, 8)) {
    ask <- private_ask(epsilon, level, NULL)
    first <- ask$margin / (1 - level)
    n <- unique(round(c(0, 1, 5, first * c(0.3, 0.6, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.5, 2, 4))))
    miss <- vapply(n, total, 0, ask = ask)
    expect_lte(max(miss), 1 - level)
    if (level >= 0.95) expect_gt(max(miss), 0.85 * (1 - level))
    bare <- ask
    bare$margin <- internal$conformal_margin(240, ask$ratio[1] / ask$ratio[2] / 2)
    if (level >= 0.95 && epsilon < 2) expect_gt(max(vapply(n, total, 0, ask = bare)), 1 - level)
  }
})

test_that("with a private number neighbours are those with a record more, and what is said of it follows from what was released", {
  # the law of the draw, for any rank, also above the number of scores
  for (epsilon in c(0.5, 3)) {
    worst <- 0
    for (n in c(0, 3, 7)) for (rank in c(1, 4, 9)) {
      all <- fillings(n, 4)
      for (i in seq_len(nrow(all))) for (to in 1:4) {
        more <- all[i, ] + (1:4 == to)
        p <- choice_law(cumsum(all[i, ])[1:3], Inf, rank, epsilon)
        worst <- max(worst, abs(log(p / choice_law(cumsum(more)[1:3], Inf, rank, epsilon))))
      }
    }
    expect_lte(worst, epsilon * (1 + 1e-9))
    inside <- rep(c(9, 12), c(238, 2))
    moved <- abs(log(choice_law(inside, Inf, 10, epsilon) / choice_law(inside - 1, Inf, 10, epsilon)))
    expect_lte(max(moved), epsilon * (1 + 1e-9))
    expect_gt(max(moved), 0.95 * epsilon)
  }
  # more were released than there are: the whole space is the likeliest
  count <- internal$noisy_count
  as_forty <- function(...) {
    count(...)
    40
  }
  one <- function() dp_conformal(numeric(20), euclidean(1), 20, 0, 1, level = 0.6, neighbours = "add_remove")$value
  found <- with_simulation(1, with_internals(replicate(40, one()), noisy_count = as_forty))
  expect_true(all(found == Inf))
  s <- CONFORMAL$sphere
  x <- with_simulation(9, records_like(s, 400))
  ledger <- dp_ledger(NULL, 4, pairs = TRUE)
  r <- dp_conformal(x, s$M, 1, s$at, 4, neighbours = "add_remove", ledger = ledger)
  expect_identical(c(guarantee(r)$adjacency, guarantee(r)$label), c("add-remove", "pure"))
  expect_identical(r$n, NA_integer_)
  expect_equal(sum(r$draws$epsilon), 1, tolerance = 1e-6)
  expect_equal(r$draws$epsilon[1], 0.2, tolerance = 1e-9)
  expect_identical(r$rank, internal$conformal_rank(r$size$count, 0.95, r$margin))
  expect_true(is.finite(with_simulation(2, dp_conformal(x, s$M, 1, s$at, 4, neighbours = "add_remove"))$value))
  expect_output(print(r), "about .* records")
  expect_output(explain(r), "one more or less")
  # too few as released: the whole space, and the price is what it is
  few <- dp_conformal(x[1:20, ], s$M, 1, s$at, 4, neighbours = "add_remove", ledger = ledger)
  expect_identical(few$value, Inf)
  expect_identical(nrow(ledger_history(ledger)), 2L)
  expect_output(print(few), "whole space: at this n")
  expect_output(explain(few), "No radius was drawn")
  served <- function(n, epsilon) internal$conformal_rank(n, 0.95, private_ask(epsilon, 0.95, NULL)$margin) <= n
  expect_true(served(few$least$n, 1) && !served(few$least$n - 1, 1))
  expect_s3_class(dp_conformal(x[0, ], s$M, 50, s$at, 4, level = 0.1, neighbours = "add_remove"), "riemdp_conformal")
  unit <- dp_conformal(x, s$M, 9, s$at, 4, level = 0.8, unit = rep(1:100, 4), neighbours = "add_remove")
  expect_output(print(unit), "about .* units")
  expect_error(dp_conformal(chunks(mf_points(x, s$M), 7), s$M, 1, s$at, 4, neighbours = "add_remove"), class = "riemdp_error_unsupported")
  # held as often as is said
  runs <- if (quick()) 100 else 400
  share <- with_simulation(10, replicate(runs, {
    r <- dp_conformal(records_like(s, 150), s$M, 3, s$at, 4, level = 0.9, neighbours = "add_remove")
    mean(region_contains(r, records_like(s, 40)))
  }))
  expect_gt(mean(share), 0.9 - 5 * stats::sd(share) / sqrt(runs))
})

test_that("a prediction ball is drawn around its point or curve, from what was released alone", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (s in CONFORMAL) {
    x <- with_simulation(2, records_like(s, 60))
    for (bound in c(4, 1e-3)) { # a radius, and the whole space
      r <- dp_conformal(x, s$M, 8, s$at, bound, level = 0.8)
      expect_identical(plot(r), r)
      # nothing that wasn't released or public: as far from the prediction as the radius, or the prediction
      layers <- internal$conformal_layers(r)
      expect_length(layers, if (is.finite(r$value)) 2 else 1)
      if (is.finite(r$value)) expect_equal(range(mf_dist(s$M, s$at, layers[[1]]$x)), rep(r$value, 2), tolerance = 1e-6)
      expect_equal(mf_dist(s$M, s$at, layers[[length(layers)]]$x), 0, tolerance = 1e-7)
    }
  }
  M <- sphere(2)
  u <- stats::runif(300)
  y <- mf_project(M, mf_exp(M, c(0, 0, 1), outer(u - 0.5, c(0.8, 0.2, 0))) + stats::rnorm(900, sd = 0.03))
  fit <- dp_regression(y ~ u, M, list(y = y, u = u), epsilon = 2, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1))
  curve <- dp_conformal(y, M, 5, fit, 1, data = data.frame(u = u))
  expect_identical(plot(curve), curve)
  layers <- internal$conformal_layers(curve)
  expect_equal(unname(mf_dist(M, layers[[1]]$x, layers[[3]]$x)), rep(curve$value, 101), tolerance = 1e-6)
  expect_error(plot(dp_conformal(y, M, 5, predict(fit, data.frame(u = u)), 1)), class = "riemdp_error_unsupported")
  broken <- curve
  broken$at$value <- NULL
  expect_error(plot(broken), class = "riemdp_error")
  skip_if_not_installed("ggplot2")
  for (s in CONFORMAL) {
    r <- dp_conformal(with_simulation(2, records_like(s, 60)), s$M, 8, s$at, 4, level = 0.8)
    expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(r))$plot, "ggplot")
  }
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(curve))$plot, "ggplot")
})

test_that("what the scores are distances from is the same for all numbers of records, and no record's prediction is told", {
  set.seed(30)
  M <- sphere(2)
  x <- mf_exp(M, c(0, 0, 1), mf_from_coords(M, c(0, 0, 1), matrix(stats::rnorm(8, sd = 0.3), 4)))
  at <- mf_exp(M, c(0, 0, 1), mf_from_coords(M, c(0, 0, 1), matrix(stats::rnorm(8, sd = 0.3), 4)))
  for (n in 0:3) {
    rows <- seq_len(n)
    r <- dp_conformal(x[rows, , drop = FALSE], M, 1, at = at[rows, , drop = FALSE], bound = 2, neighbours = "add_remove")
    expect_identical(r$around, "each")
    expect_null(r$at)
  }
  unit <- factor("u03", levels = sprintf("u%02d", 1:30))
  r <- dp_conformal(x[1, , drop = FALSE], M, 10, at = at[1, , drop = FALSE], bound = 3, level = 0.5, unit = unit, invalid = "at")
  expect_null(r$at)
  # one point in the shape of one, and a row of its own where the number of records is public
  expect_identical(dp_conformal(x, M, 5, at = at[1, ], bound = 2, level = 0.2)$around, "point")
  expect_identical(dp_conformal(x, M, 5, at = at[1, , drop = FALSE], bound = 2, level = 0.2)$around, "point")
  expect_error(dp_conformal(x, M, 1, at = at[1, , drop = FALSE], bound = 2, neighbours = "add_remove"), class = "riemdp_error_shape")
})
