# Smooth curves, plain and private (R/spline.R, R/dp-spline.R; inst/proofs/regression.md, section 6)

internal <- asNamespace("riemdp")
POLE <- c(0, 0, 1)
# what is asked of a call, and what its parts see of records
asked <- function(M, center, radius, term = quote(bs(t, df = 6)), velocity = NULL, n = 50, epsilon = 1, delta = 0, range = c(0, 1), unit = NULL) {
  basis <- internal$basis_on(internal$spline_term(stats::as.formula(call("~", quote(y), term)), "t", globalenv())$term, range)
  c(internal$spline_ask(M, n, epsilon, center, radius, velocity, delta, basis, range), list(penalty = "auto", unit = unit))
}
rows_of <- function(ask, noise, t, y) {
  q <- c(ask[c("manifold", "reference", "basis", "range", "pairs", "radius")], noise[c("bits", "weight")],
         list(middle = mean(ask$range), numbers = internal$spline_numbers(ask)))
  one <- internal$spline_numbers_of(matrix(t - q$middle, 1), y, q)
  internal$spline_rows(one$s, one$logs, q)
}
# of columns of whole numbers, 3 x columns: lengths of each B-spline's vector added up, those of the products, and of all
block_sums <- function(v, ask) {
  v <- as.matrix(v)
  count <- internal$spline_count(ask$basis)
  squares <- 0
  for (k in seq_len(ask$d)) squares <- squares + v[(k - 1) * count + seq_len(count), , drop = FALSE]^2
  rbind(moment = colSums(sqrt(squares)), gram = colSums(abs(v[-seq_len(count * ask$d), , drop = FALSE])), all = sqrt(colSums(v^2)))
}
# records that are as bad as can be: at knots, ends and between, in all directions, near and far, broken
nasty <- function(M, center, velocity, radius) {
  t <- c(0, 0.25, 0.5, 0.61, 0.75, 1, -3, 9)
  d <- mf_facts(M)$dimension
  a <- rbind(diag(d), -diag(d), 0.3 * diag(d), rep(1, d) / sqrt(d)) * radius
  grid <- expand.grid(t = t, k = seq_len(nrow(a)), far = c(1, 1.7))
  x <- pmin(1, pmax(0, grid$t)) - 0.5
  s <- a[grid$k, , drop = FALSE] * grid$far
  w <- mf_from_coords(M, center, s)
  if (is.null(velocity)) y <- mf_exp(M, center, w) else {
    at <- mf_exp(M, center, mf_from_coords(M, center, outer(x, as.vector(mf_coords(M, center, velocity)))))
    y <- mf_exp(M, at, mf_transport(M, center, at, w))
  }
  list(t = c(grid$t, NA, NaN, Inf, 0.5), y = mf_points(y, M)[c(seq_along(grid$t), 1, 2, 3, 4)])
}
REFERENCES <- list(
  sphere = list(M = sphere(2), center = POLE, radius = 0.7), moving = list(M = sphere(2), center = POLE, radius = 0.7, velocity = c(0.9, 0.4, 0)),
  matrices = list(M = spd(2), center = diag(c(1, 2)), radius = 1, velocity = matrix(c(0.5, 0.2, 0.2, -0.3), 2)),
  hyperbolic = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1.2), frames = list(M = stiefel(3, 2), center = diag(3)[, 1:2], radius = 0.4)
)

test_that("no two records are farther apart than the noise is for, and some are as far", {
  for (s in REFERENCES) for (term in list(quote(bs(t, df = 6)), quote(bs(t, df = 3, degree = 1)), quote(poly(t, 4)))) {
    ask <- asked(s$M, s$center, s$radius, term, s$velocity)
    one <- asked(s$M, s$center, s$radius, term, s$velocity, n = NA_real_)
    d <- nasty(s$M, s$center, s$velocity, s$radius)
    pure <- list(internal$spline_pure(ask, 0.6), internal$spline_pure(one, 0.6))
    rows <- rows_of(ask, pure[[1]], d$t, d$y)
    pairs <- utils::combn(ncol(rows), 2)
    moved <- block_sums(rows[, pairs[1, ]] - rows[, pairs[2, ]], ask)
    expect_true(all(rows == round(rows)))
    expect_lte(max(moved["moment", ]), pure[[1]]$shift[1])
    expect_lte(max(moved["gram", ]), pure[[1]]$shift[2])
    expect_gt(max(moved["moment", ]), 0.999 * pure[[1]]$shift[1])
    expect_gt(max(moved["gram", ]), 0.999 * pure[[1]]$shift[2])
    # of a record that is there or not
    rows <- rows_of(one, pure[[2]], d$t, d$y)
    alone <- block_sums(rows, one)
    for (k in 1:2) {
      expect_lte(max(alone[k, ]), pure[[2]]$shift[k])
      expect_gt(max(alone[k, ]), 0.999 * pure[[2]]$shift[k])
    }
    expect_lt(pure[[2]]$shift[1] / 2^pure[[2]]$bits, 1 + 1e-4)
    for (weight in internal$SPLINE_WEIGHTS) {
      ask$delta <- one$delta <- 1e-6
      normal <- internal$spline_normal(ask, weight)
      rows <- rows_of(ask, normal, d$t, d$y)
      apart <- max(block_sums(rows[, pairs[1, ]] - rows[, pairs[2, ]], ask)["all", ])
      expect_lte(apart, normal$shift)
      expect_gt(apart, 0.9 * normal$shift) # attained by no pair where alpha is large and degrees are
      single <- internal$spline_normal(one, weight)
      apart <- max(block_sums(rows_of(one, single, d$t, d$y), one)["all", ])
      expect_lte(apart, single$shift)
      expect_gt(apart, 0.999 * single$shift)
    }
    expect_true(all(rows[, length(d$t) - 3:1] == 0)) # missing predictors
  }
})

test_that("the normal noise's sensitivity is the maximum over pairs of simplices", {
  for (w in internal$SPLINE_WEIGHTS^2) {
    f <- function(p) 2 + 2 * p + 2 * w * (1 - p^2)
    ask <- asked(sphere(2), POLE, 0.5, delta = 1e-6)
    normal <- internal$spline_normal(ask, sqrt(w))
    expect_equal(normal$shift / 2^normal$bits, sqrt(max(f(seq(0, 1, 1e-4)))), tolerance = 1e-5)
  }
})

test_that("losses by exact laws are what is promised, and twice that with an intercept beside the basis", {
  # on the line: two-sided geometric noise of the scale that was drawn, for the two records that move most
  y <- function(v) c(v, 0.1, -0.3)
  d <- list(t = c(0, 0.2, 0.7), y = y(1))
  draw <- function(d) dp_spline(y ~ bs(t, df = 1, degree = 1), euclidean(1), d, epsilon = 0.8, center = 0, radius = 1, bounds = c(0, 1))
  seen <- draw(d)$draws
  sums <- function(d) {
    ask <- asked(euclidean(1), 0, 1, quote(bs(t, df = 1, degree = 1)), n = 3, epsilon = 0.8)
    rowSums(rows_of(ask, internal$spline_noise(ask), d$t, d$y))
  }
  loss <- function(a, b, scale) { # the largest log ratio of probabilities over outputs, number by number
    sum(vapply(seq_along(a), function(i) max(abs(abs(-5:5 * 1e9 - a[i]) - abs(-5:5 * 1e9 - b[i]))), 0)) / scale
  }
  worst <- c(0, 0)
  for (t in c(0, 0.5, 1)) for (v in c(-1, 1, 40)) {
    other <- sums(list(t = c(t, 0.2, 0.7), y = y(v)))
    first <- sums(d)
    worst <- pmax(worst, c(loss(first[1:2], other[1:2], seen$scale[1]), loss(first[-(1:2)], other[-(1:2)], seen$scale[2])))
  }
  expect_lte(sum(worst), 0.8)
  expect_gt(sum(worst), 0.799)
  # features 1 and the other spline, as bs() has them beside an intercept: sums of 2
  s <- rbind(1, c(1, 0.2, 0.7))
  off <- s[, 1] * 1 - s[, 1] * -1
  bits <- internal$spline_noise(asked(euclidean(1), 0, 1, quote(bs(t, df = 1, degree = 1)), n = 3, epsilon = 0.8))$bits
  expect_equal(sum(abs(off)) * 2^bits / seen$scale[1] / seen$epsilon[1], 2, tolerance = 1e-6)
})

test_that("the noise is what is said of it", {
  ask <- asked(sphere(2), POLE, 0.5, quote(bs(t, df = 3, degree = 2)), n = 100, delta = 1e-3)
  zero <- numeric(internal$spline_numbers(ask))
  runs <- if (quick()) 1000 else 4000
  for (noise in list(internal$spline_pure(ask, 0.6), internal$spline_normal(ask, 1))) {
    all <- with_simulation(1, lapply(seq_len(runs), function(i) internal$noisy_spline_sums(zero, noise, ask)))
    moment <- vapply(all, function(s) s$moment, matrix(0, 4, 2))
    gram <- vapply(all, function(s) s$gram, matrix(0, 4, 4))
    close <- function(x, variance) expect_lt(abs(mean(x^2) / variance - 1), 6 * stats::sd(x^2) / mean(x^2) / sqrt(length(x)))
    close(moment, noise$variance[["moment"]])
    close(c(gram[1, 1, ], gram[4, 4, ]), noise$variance[["gram"]])
    close(c(gram[1, 2, ], gram[4, 3, ]), noise$variance[["beside"]])
    close(vapply(all, function(s) s$count, 0), noise$variance[["count"]])
    expect_identical(gram[1, 2, ], gram[2, 1, ])
    expect_true(all(gram[1, 4, ] == 0)) # splines that don't overlap
    expect_lt(abs(stats::cor(moment[1, 1, ], moment[2, 1, ])), 5 / sqrt(runs))
    length <- sqrt(colSums(moment[1, , ]^2))
    if (noise$law == "l2") {
      expect_gt(stats::ks.test(length * 2^noise$bits / noise$scale[1], "pgamma", 2)$p.value, 1e-6)
      expect_gt(noise$scale[1], noise$shift[1] / (0.6 * ask$epsilon) * (1 - 1e-9))
      expect_gt(noise$scale[2], noise$shift[2] / (0.4 * ask$epsilon) * (1 - 1e-9))
    } else {
      expect_gt(stats::ks.test(moment[1, 1, ] / sqrt(noise$variance[["moment"]]), "pnorm")$p.value, 1e-6)
    }
  }
})

test_that("a record is by itself: broken ones count nothing, far ones count as those at the edge, units as their average", {
  M <- sphere(2)
  t <- c(0.1, 0.4, 0.8, 0.9)
  y <- mf_exp(M, POLE, cbind(c(0.2, 0.9, -0.1, 0), c(0, 0.4, 0.3, -0.2), 0))
  total <- function(t, y, unit = NULL, ...) {
    sums <- NULL
    trace_sums <- internal$noisy_spline_sums
    with_internals(dp_spline(y ~ bs(t, df = 4), M, list(t = t, y = y), epsilon = 1, center = POLE, radius = 0.5, bounds = c(0, 1),
                             invalid = "ignore", unit = unit, ...),
                   noisy_spline_sums = function(s, noise, ask) trace_sums(sums <<- s, noise, ask))
    sums
  }
  all <- total(t, y)
  expect_identical(total(rev(t), y[4:1, ]), all)
  # farther than the radius, and beyond the range
  edge <- mf_to_ball(M, y, POLE, 0.5)
  expect_lt(max(abs(total(t, edge) - all)), 1e-9 * 2^28)
  expect_identical(total(c(-7, t[-1]), y), total(c(0, t[-1]), y))
  # missing, no point, opposite
  for (broken in list(c(NA, 0, 1), c(3, 0, 0), -POLE, c(Inf, 0, 0))) expect_identical(total(t, rbind(y[-4, ], broken)), total(c(t[-4], NA), y))
  # records are taken in blocks
  n <- 3e5
  q <- internal$spline_numbers(asked(M, POLE, 0.5, quote(bs(t, df = 4))))
  expect_gt(n * q, 1.5 * 2^22)
  many <- rep(1:4, n / 4)
  one <- n / 4 * total(t, y) / 2^internal$spline_noise(asked(M, POLE, 0.5, quote(bs(t, df = 4)), n = 4))$bits
  expect_lt(max(abs(total(t[many], y[many, ]) / 2^internal$spline_noise(asked(M, POLE, 0.5, quote(bs(t, df = 4)), n = n))$bits / one - 1)), 1e-3)
  # each part of the sums by definition
  s <- splines::bs(t, df = 4, Boundary.knots = c(0, 1), knots = 0.5, intercept = TRUE)
  c <- mf_coords(M, POLE, mf_log(M, POLE, edge)) / 0.5
  bits <- internal$spline_noise(asked(M, POLE, 0.5, quote(bs(t, df = 4)), n = 4))$bits
  expect_lt(max(abs(matrix(all[1:10], 5) / 2^bits - crossprod(s, c))), 1e-7)
  pairs <- internal$spline_pairs(internal$basis_on(list(kind = "bs", degree = 3, inner = 1, knots = double()), c(0, 1)))
  expect_lt(max(abs(all[-(1:10)] / 2^bits - c((crossprod(s) * (2 - diag(5)))[pairs], 4))), 1e-7)
  # a unit counts with the average over its rows
  who <- c("a", "b", "b", "c")
  apart <- lapply(1:4, function(i) total(t[i], y[i, , drop = FALSE]) / 2^internal$spline_noise(asked(M, POLE, 0.5, quote(bs(t, df = 4)), n = 1))$bits)
  bits <- internal$spline_noise(asked(M, POLE, 0.5, quote(bs(t, df = 4)), n = 3, unit = "unit"))$bits
  expect_lt(max(abs(total(t, y, unit = who) / 2^bits - (apart[[1]] + (apart[[2]] + apart[[3]]) / 2 + apart[[4]]))), 1e-7)
  # no more than the noise is for: a unit of opposite records, and one of equal ones
  unit <- internal$spline_pure(asked(M, POLE, 0.5, quote(bs(t, df = 4)), n = 3, unit = "unit"), 0.6)
  rows <- internal$spline_pure(asked(M, POLE, 0.5, quote(bs(t, df = 4)), n = 3), 0.6)
  expect_gte(unit$shift[1] - rows$shift[1], 5 * sqrt(2) - 1)
  expect_gte(unit$shift[2] - rows$shift[2], nrow(pairs))
})

test_that("chunks, private numbers and units of chunks give the sums of records in memory", {
  M <- hyperbolic(2)
  n <- 60
  t <- with_simulation(1, stats::runif(n))
  y <- mf_exp(M, c(1, 0, 0), cbind(0, sin(3 * t), 0.3 * t))
  tables <- lapply(split(seq_len(n), rep(1:3, 20)), function(i) list(t = t[i], y = y[i, ]))
  sums <- function(data, ...) {
    out <- NULL
    trace_sums <- internal$noisy_spline_sums
    with_internals(r <- dp_spline(y ~ bs(t, df = 5), M, data, epsilon = 1, center = c(1, 0, 0), radius = 1, bounds = c(0, 1), ...),
                   noisy_spline_sums = function(s, noise, ask) trace_sums(out <<- s, noise, ask))
    list(sums = out, release = r)
  }
  whole <- sums(list(t = t, y = y))
  expect_identical(sums(chunks(unname(tables)))$sums, whole$sums)
  more <- sums(list(t = t, y = y), neighbours = "add_remove")
  scale <- function(s) s$sums[-length(s$sums)] / max(abs(s$sums[1:12])) # the count is halved
  expect_lt(max(abs(scale(more) - scale(whole))), 1e-3)
  expect_identical(guarantee(more$release)$adjacency, "add-remove")
  expect_true(is.na(nobs(more$release)) && is.na(more$release$expected_error))
  expect_equal(more$release$draws$sensitivity[1] / more$release$draws$scale[1], more$release$draws$epsilon[1])
  none <- dp_spline(y ~ bs(t, df = 5), M, data.frame(t = double(), y = I(mf_points(y, M)[0])), epsilon = 1, center = c(1, 0, 0), radius = 1,
                    bounds = c(0, 1), neighbours = "add_remove")
  expect_true(all(is.finite(none$value)))
})

test_that("plain fits are least squares with splines, and straight lines under a large penalty", {
  n <- 80
  t <- with_simulation(2, stats::runif(n, 1, 3))
  y <- cbind(sin(2 * t), t^2) + with_simulation(3, matrix(stats::rnorm(2 * n, sd = 0.1), n))
  line <- stats::lm(y ~ splines::bs(t, df = 7, knots = seq(1, 3, length.out = 6)[2:5], Boundary.knots = c(1, 3)))
  fit <- spline_regression(y ~ bs(t, df = 7), euclidean(2), list(t = t, y = y), bounds = c(1, 3), penalty = 0)
  expect_lt(max(abs(as.matrix(fitted(fit)) - stats::fitted(line))), 1e-6)
  expect_equal(fit$df, 8, tolerance = 1e-6)
  expect_equal(fit$sigma^2, sum(stats::residuals(line)^2) / (2 * (n - 8)), tolerance = 1e-6)
  expect_equal(residuals(fit), unname(sqrt(rowSums(stats::residuals(line)^2))), tolerance = 1e-5)
  straight <- spline_regression(y ~ bs(t, df = 7), euclidean(2), list(t = t, y = y), bounds = c(1, 3), penalty = 1e8)
  expect_lt(max(abs(as.matrix(fitted(straight)) - stats::fitted(stats::lm(y ~ t)))), 1e-4)
  expect_equal(straight$df, 2, tolerance = 1e-3)
  # a polynomial is the spline without knots
  cubic <- spline_regression(y ~ poly(t, 3), euclidean(2), list(t = t, y = y), penalty = 0)
  expect_lt(max(abs(as.matrix(fitted(cubic)) - stats::fitted(stats::lm(y ~ stats::poly(t, 3))))), 1e-6)
  # cross-validation by its definition, among penalties
  score <- function(penalty) {
    f <- spline_regression(y ~ bs(t, df = 7), euclidean(2), list(t = t, y = y), bounds = c(1, 3), penalty = penalty)
    n * sum(residuals(f)^2) / (n - f$df)^2
  }
  auto <- spline_regression(y ~ bs(t, df = 7), euclidean(2), list(t = t, y = y), bounds = c(1, 3))
  expect_true(all(score(auto$penalty) <= vapply(auto$penalty * 10^c(-1, -0.25, 0.25, 1), score, 0) * (1 + 1e-9)))
  # an interval that holds no record
  gap <- t < 1.5 | t > 2.4
  some <- spline_regression(y ~ bs(t, df = 30), euclidean(2), list(t = t[gap], y = y[gap, ]), bounds = c(1, 3))
  at <- predict(some, data.frame(t = seq(1, 3, 0.05)))
  expect_lt(max(abs(at - cbind(sin(2 * seq(1, 3, 0.05)), seq(1, 3, 0.05)^2))), 1.5)
})

test_that("along a geodesic the reference itself is fitted by zeros, and a curve beside it comes back", {
  for (s in REFERENCES[c("moving", "matrices")]) {
    t <- seq(0, 1, length.out = 40)
    v <- as.vector(mf_coords(s$M, s$center, s$velocity))
    along <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, outer(t - 0.5, v)))
    fit <- spline_regression(y ~ bs(t, df = 5), s$M, list(t = t, y = along), center = s$center, velocity = s$velocity, penalty = 0)
    expect_lt(max(abs(coef(fit))), 1e-7)
    # a cubic in the parallel frame
    a <- cbind(0.3 * t^2 - 0.1, 0.2 * t^3, 0.1)[, seq_along(v)]
    y <- mf_exp(s$M, along, mf_transport(s$M, s$center, along, mf_from_coords(s$M, s$center, a)))
    fit <- spline_regression(y ~ bs(t, df = 5), s$M, list(t = t, y = y), center = s$center, velocity = s$velocity, penalty = 0)
    expect_lt(max(residuals(fit)), 1e-6)
    r <- dp_spline(y ~ bs(t, df = 5), s$M, list(t = t, y = y), epsilon = 2^17, center = s$center, velocity = s$velocity, radius = 0.6, bounds = c(0, 1),
                   penalty = 0)
    expect_lt(max(mf_dist(s$M, predict(r, data.frame(t = t)), y)), 0.01)
  }
  expect_error(dp_spline(y ~ bs(t, df = 5), sphere(2), list(t = 1:3 / 3, y = diag(3)), epsilon = 1, center = POLE, velocity = c(4, 0, 0), radius = 0.6,
                         bounds = c(0, 1)), "half of the injectivity radius", class = "riemdp_error_argument")
})

test_that("errors are near those that are told; many knots and gaps do little harm", {
  M <- sphere(2)
  curve <- function(t) mf_exp(M, POLE, cbind(0.3 * sin(2 * pi * t), 0.2 * (t - 0.5), 0))
  grid <- seq(0.005, 0.995, 0.01)
  told <- function(df, n, runs, t = function() stats::runif(n)) {
    with_simulation(4, vapply(seq_len(runs), function(i) {
      t <- t()
      y <- mf_project(M, curve(t) + stats::rnorm(3 * n, sd = 0.03))
      r <- dp_spline(y ~ bs(t, df = df), M, list(t = t, y = y), epsilon = 1, center = POLE, radius = 0.6, bounds = c(0, 1))
      off <- mf_dist(M, predict(r, data.frame(t = grid)), curve(grid))
      c(error = sqrt(mean(off^2)) / r$expected_error, far = max(off))
    }, c(error = 0, far = 0)))
  }
  runs <- if (quick()) 8 else 40
  for (df in c(8, 30)) {
    seen <- told(df, 4000, runs)
    expect_gt(mean(seen["error", ]), 0.7)
    expect_lt(mean(seen["error", ]), 1.7)
  }
  gap <- told(20, 4000, runs, function() with(list(u = stats::runif(4000)), ifelse(u > 0.4 & u < 0.6, u / 2, u)))
  expect_lt(mean(gap["error", ]), 4)
  expect_lt(max(gap["far", ]), 0.6)
  # predictors on a few values
  far <- with_simulation(8, vapply(1:4, function(i) {
    t <- sample(0:4 / 4, 2000, TRUE)
    r <- dp_spline(y ~ bs(t, df = 12), M, list(t = t, y = mf_project(M, curve(t) + stats::rnorm(6000, sd = 0.03))), epsilon = 1, center = POLE,
                   radius = 0.6, bounds = c(0, 1))
    sqrt(mean(mf_dist(M, predict(r, data.frame(t = 0:4 / 4)), curve(0:4 / 4))^2))
  }, 0))
  expect_lt(mean(far), 0.06)
  # where noise is all there is, nothing is longer than the radius
  few <- with_simulation(5, dp_spline(y ~ bs(t, df = 40), M, list(t = c(0.2, 0.4), y = diag(3)[2:3, ]), epsilon = 0.01, center = POLE, radius = 0.6,
                                      bounds = c(0, 1)))
  expect_lte(max(sqrt(rowSums(few$value^2))), 0.6 * (1 + 1e-9))
  expect_match(format(few), "NO BETTER", all = FALSE)
  expect_match(format(few), "by a model", all = FALSE)
  expect_error(confint(few), "no bands", class = "riemdp_error_unsupported")
})

test_that("neighbours with units: no message tells how many rows there are, and no share how many units", {
  inner <- c(0.2, 0.4, 0.5, 0.6, 0.8)
  rows <- function(n) data.frame(t = seq(0, 1, length.out = n), y = 0, z = 1, who = c("a", "a", "b", rep("c", n - 3)))
  for (n in 4:6) {
    curve <- dp_spline(y ~ bs(t, knots = inner), euclidean(1), rows(n), epsilon = 1, center = 0, radius = 1, bounds = c(0, 1), unit = "who")
    expect_s3_class(curve, "riemdp_spline")
    line <- dp_lm(y ~ bs(t, knots = inner), rows(n), epsilon = 1, bounds = list(t = c(0, 1), y = c(-1, 1)), unit = "who")
    expect_s3_class(line, "riemdp_lm")
    class <- dp_glm(z ~ bs(t, knots = inner), rows(n), epsilon = 1, bounds = list(t = c(0, 1), z = c(0, 1)), unit = "who")
    expect_s3_class(class, "riemdp_glm")
  }
  expect_error(dp_spline(y ~ bs(t, knots = inner), euclidean(1), rows(5), epsilon = 1, center = 0, radius = 1, bounds = c(0, 1)), "inner",
               class = "riemdp_error_unsupported")
  for (count in 2^c(2, 22, 24, 25)) {
    share <- function(count) sum(internal$fit_shares(list(of = rep(1:2, c(3, 11)), count = count, stray = 0, empty = 0, lost = 0), 14, "any",
                                                     private = TRUE, NULL))
    expect_identical(share(count), share(count + 1))
  }
})

test_that("the curve stays in the predictor's range, along a geodesic too", {
  M <- sphere(2)
  t <- with_simulation(3, stats::runif(300, 0, 2))
  y <- mf_exp(M, POLE, cbind(pmin(t, 1) - 0.5, 0.2 * sin(6 * t), 0))
  for (velocity in list(NULL, c(1, 0, 0))) {
    plain <- spline_regression(y ~ bs(t, df = 6), M, list(t = t, y = y), center = POLE, bounds = c(0, 1), velocity = velocity)
    expect_lt(max(mf_dist(M, fitted(plain), predict(plain, data.frame(t = t)))), 1e-9)
    r <- dp_spline(y ~ bs(t, df = 6), M, list(t = t, y = y), epsilon = 1, center = POLE, radius = 1, bounds = c(0, 1), velocity = velocity)
    expect_identical(predict(r, data.frame(t = c(-3, 0, 1, 9)))[c(1, 4), ], predict(r, data.frame(t = c(0, 1))))
  }
})

test_that("budgets at the ends, and plans by the fit's own rules", {
  expect_silent(dp_spline_plan(sphere(2), 1e9, 10, radius = 0.6))
  expect_silent(dp_spline_plan(sphere(2), 1000, 1e-4, radius = 0.6))
  expect_error(dp_spline_plan(sphere(2), 1000, 1, radius = 5), "injectivity", class = "riemdp_error_radius")
  expect_error(dp_spline_plan(sphere(2), 1000, 1e-9, radius = 0.6), "budget", class = "riemdp_error_unsupported")
})

test_that("the penalty that is asked for is the plain fit's, and the posterior that of the normal equations", {
  M <- euclidean(2)
  n <- 4000
  t <- with_simulation(6, stats::runif(n))
  y <- cbind(sin(6 * t), cos(5 * t)) / 2 + with_simulation(7, matrix(stats::rnorm(2 * n, sd = 0.2), n))
  for (penalty in c(0.01, 10)) {
    r <- dp_spline(y ~ bs(t, df = 9), M, list(t = t, y = y), epsilon = 2^16, center = c(0, 0), radius = 2, bounds = c(0, 1), penalty = penalty)
    fit <- spline_regression(y ~ bs(t, df = 9), M, list(t = t, y = y), bounds = c(0, 1), penalty = penalty, center = c(0, 0))
    expect_lt(max(abs(coef(r) - coef(fit))), 0.02)
    expect_equal(r$penalty, penalty)
  }
  # what has no likelihood has no part, a penalty of 0 neither
  none <- list(theta = matrix(0, 2, 1), covariance = diag(2), penalty = 0, score = -Inf)
  expect_identical(internal$averaged_curve(list(none, utils::modifyList(none, list(penalty = 2, score = 0))))$penalty, 2)
  # one pair of hyperparameters against dense formulas
  ask <- c(asked(M, c(0, 0), 1, quote(bs(t, df = 4)), n = 100))
  ask$penalty <- 2
  P <- internal$spline_penalty(ask$basis)
  G <- crossprod(matrix(sin(1:25), 5)) + diag(5)
  H <- matrix(cos(1:10), 5)
  V <- crossprod(matrix(cos(1:25), 5)) / 9 + diag(1:5 / 3)
  one <- internal$likely_curves(G, H, V, P, ask)[[3]]
  scatter <- exp(seq(log(1e-5), log(1 / 2), length.out = 7))[3]
  K <- solve(2 / scatter * P + diag(2 / 5, 5))
  S <- G %*% K %*% G + V + scatter * G
  expect_equal(one$theta, K %*% G %*% solve(S, H))
  expect_equal(one$covariance, K - K %*% G %*% solve(S, G %*% K))
  expect_equal(one$score, -sum(H * solve(S, H)) / 2 - as.double(determinant(S)$modulus))
  # products given what was released of them, by dense formulas; what errors in them do, by its definition
  triple <- internal$spline_nominal(ask$basis, c(0, 1), ask$pairs)$triple
  k <- nrow(ask$pairs)
  v <- seq_len(k + 1)
  given <- internal$gram_given(3, 0.1, v, 100, triple, ask$pairs, P)
  C <- 1e4 * triple %*% solve(P / 9 + diag(0.2, 5)) %*% t(triple) + diag((10 * rowSums(triple))^2)
  see <- rbind(diag(k), 2 - (ask$pairs[, 1] == ask$pairs[, 2]))
  y <- 5 * sin(seq_len(k + 1))
  expect_equal(as.vector(crossprod(given$gain, forwardsolve(t(given$factor), y))), as.vector(C %*% t(see) %*% solve(see %*% C %*% t(see) + diag(v), y)))
  expect_equal(given$covariance, C - C %*% t(see) %*% solve(see %*% C %*% t(see) + diag(v), see %*% C))
  expect_equal(as.vector(see %*% given$mean)[k + 1], 100, tolerance = 1e-9)
  theta <- matrix(cos(1:10), 5)
  root <- chol(given$covariance)
  each <- lapply(seq_len(k), function(i) internal$pair_matrix(root[i, ], ask) %*% theta)
  expect_equal(internal$gram_blur(given$covariance, theta, ask$pairs), Reduce(`+`, lapply(each, tcrossprod)) / 2)
  # even predictors with little noise come back, and with much noise those that are even
  n <- 1e4
  G <- n * internal$spline_nominal(ask$basis, c(0, 1), ask$pairs)$gram
  odd <- internal$pair_matrix((2 + sin(seq_len(k))) * G[ask$pairs], ask)
  known <- function(gram, v) internal$smooth_gram(list(gram = gram, count = sum(gram)), rep(v, k + 1), P, replace(ask, "n", n))$gram
  expect_equal(known(odd, 1e-6), odd, tolerance = 1e-6)
  expect_lt(max(abs(known(G + 300 * sin(11 * seq_len(25)), 300^2) - G)), 0.5 * 300)
  # straight lines are free, whatever the knots
  at <- c(0, 0, 0, 0.1, 0.5, 0.6, 1, 1, 1)
  basis <- internal$basis_on(list(kind = "bs", degree = 2, knots = c(0.1, 0.5, 0.6)), c(0, 1))
  expect_lt(max(abs(internal$spline_penalty(basis) %*% cbind(1, (at[2:7] + at[3:8]) / 2))), 1e-10)
})

test_that("plans say what a release says, and normal noise is taken where it is less", {
  d <- list(t = 1:200 / 200, y = mf_exp(spd(3), diag(3), mf_from_coords(spd(3), diag(3), matrix(0.1 * sin(1:1200), 200))))
  for (delta in c(0, 0.01)) {
    plan <- dp_spline_plan(spd(3), 200, 2, 1.5, df = 6, delta = delta)
    r <- dp_spline(y ~ bs(t, df = 6), spd(3), d, epsilon = 2, center = diag(3), radius = 1.5, bounds = c(0, 1), delta = delta)
    expect_equal(plan$expected_error, r$expected_error, tolerance = 1e-6)
    expect_identical(plan$mechanism, r$mechanism)
    expect_identical(guarantee(r)$label, if (delta > 0) "approx" else "pure")
    expect_identical(guarantee(r)$numerics, "lattice")
  }
  expect_identical(plan$mechanism, "normal")
  n <- dp_spline_plan(sphere(2), c(500, 1000, 4000), 1, 0.5, df = 8)$expected_error
  expect_true(all(diff(n) < 0))
})

test_that("as far as a radius may be, doubles hold the curve's points", {
  set.seed(12)
  t <- stats::runif(60)
  for (s in list(list(hyperbolic(2), c(1, 0, 0), 15), list(spd(2), diag(2), 21), list(spd(2, "logeuclidean"), diag(2), 21), list(power(spd(2), 2), NULL, 15))) {
    M <- s[[1]]
    center <- s[[2]] %||% mf_join(M, list(diag(2), diag(2)))
    y <- mf_points(mf_exp(M, center, mf_from_coords(M, center, matrix(stats::rnorm(60 * mf_facts(M)$dimension), 60))), M)
    call <- function(radius) dp_spline(y ~ bs(t, df = 4), M, list(y = y, t = t), 0.5, center, radius, c(0, 1), source = "s")
    expect_true(all(mf_is_point(M, predict(call(s[[3]])))))
    expect_error(call(s[[3]] * 1.5), "doubles hold", class = "riemdp_error_radius")
  }
})

test_that("what is asked for is checked, and said", {
  d <- list(t = 1:9 / 9, y = mf_exp(sphere(2), POLE, cbind(sin(1:9) / 4, cos(1:9) / 4, 0)), knots = 1:9)
  ask <- function(formula, ..., data = d, radius = 0.5, bounds = c(0, 1)) {
    dp_spline(formula, sphere(2), data, epsilon = 1, center = POLE, radius = radius, bounds = bounds, ...)
  }
  for (f in list(y ~ t, y ~ bs(t) + t, y ~ ns(t, 4), y ~ bs(t, knots = quantile(t)), y ~ bs(t, knots = knots), y ~ bs(t, df = 5) * 2)) {
    expect_error(ask(f), class = "riemdp_error_unsupported")
  }
  nine <- (1:9) / 10
  expect_error(ask(y ~ bs(t, knots = nine)), "variable of the records", class = "riemdp_error_unsupported") # a number for each record
  outside <- d$t
  expect_error(ask(y ~ bs(outside, df = 5), neighbours = "add_remove"), "must be columns", class = "riemdp_error_unsupported")
  expect_error(ask(~ bs(t)), class = "riemdp_error_argument")
  expect_error(ask(y ~ bs(t), radius = 4), class = "riemdp_error_radius")
  expect_error(ask(y ~ bs(t), penalty = "small"), class = "riemdp_error_argument")
  expect_error(ask(y ~ bs(t), bounds = list(t = c("a", "b"))), class = "riemdp_error_shape")
  expect_error(dp_spline_plan(sphere(2), 100, 2^-25, 0.5), "more budget", class = "riemdp_error_unsupported")
  inner <- c(0.3, 0.6)
  r <- ask(y ~ bs(t, knots = inner, degree = 2))
  expect_match(guarantee(r)$assumptions, "constants of the formula are public: `inner`", all = FALSE)
  expect_identical(dim(coef(r)), c(5L, 2L))
  expect_output(print(r), "Private smooth curve of 9 records")
  expect_output(explain(r), "proofs/regression.md, 6")
  expect_identical(nobs(r), 9)
  expect_equal(dim(predict(r)), c(51L, 3L))
  expect_error(predict(r, data.frame(t = 0.5), interval = "prediction"), class = "riemdp_error_unsupported")
  log_time <- ask(y ~ bs(log(t), df = 4), bounds = c(-3, 0))
  expect_equal(dim(predict(log_time, data.frame(t = c(0.1, 0.5)))), c(2L, 3L))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (M in list(spd(2), kendall(5), euclidean(1), hyperbolic(2))) {
    one <- as.vector(.Call(internal$riemdp_origin, M))
    center <- tryCatch(internal$public_point(M, .Call(internal$riemdp_origin, M)), riemdp_error = function(e) exp(2i * pi * (1:5) / 5))
    y <- mf_exp(M, center, mf_from_coords(M, center, matrix(0.1, 9, mf_facts(M)$dimension)))
    r <- dp_spline(y ~ bs(t), M, list(t = d$t, y = y), epsilon = 1, center = center, radius = 0.3, bounds = c(0, 1))
    expect_identical(plot(r), r)
    fit <- spline_regression(y ~ bs(t), M, list(t = d$t, y = y))
    expect_identical(plot(fit), fit)
  }
})
