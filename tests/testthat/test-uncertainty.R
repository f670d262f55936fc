# Coverage by simulation: draws around a known mean; 300 releases a case in the full form, two-sided error rate 1e-6 a comparison.

covers <- function(M, x, center, radius, mechanism, level, draws) {
  m <- frechet_mean(x, M)$mean
  hits <- with_simulation(5, vapply(seq_len(draws), function(i) {
    r <- dp_mean(x, M, epsilon = 1, center = center, radius = radius, mechanism = mechanism)
    mf_dist(M, r$value, m) <= confint(r, level = level)$radius
  }, logical(1)))
  sum(hits)
}

test_that("regions cover the non-private mean as often as they say", {
  draws <- if (quick()) 50 else 300
  # laplace: the quantile is exact on these spaces; wrapped: conservative where exp stretches
  exact <- list(
    list(M = sphere(2), x = rbind(c(0, 0, 1), c(0.2, 0, sqrt(0.96)))[rep(1:2, 100), ], center = c(0, 0, 1), radius = 0.5),
    list(M = euclidean(3), x = matrix(seq(-0.5, 0.5, length.out = 90), 30), center = c(0, 0, 0), radius = 1)
  )
  for (case in exact) for (level in c(0.5, 0.9)) {
    hits <- covers(case$M, case$x, case$center, case$radius, "laplace", level, draws)
    expect_gt(hits, qbinom(5e-7, draws, level) - 1, label = label_of(case$M))
    expect_lt(hits, qbinom(1 - 5e-7, draws, level) + 1, label = label_of(case$M))
  }
  curved <- list(
    list(M = hyperbolic(2), x = hyperbolic_line(seq(-0.8, 0.8, length.out = 50)), center = c(1, 0, 0), radius = 1),
    list(M = spd(2), x = wishart_spd[, , 1:100], center = diag(2), radius = 1.5)
  )
  for (case in curved) for (mechanism in c("laplace", "wrapped")) {
    hits <- covers(case$M, case$x, case$center, case$radius, mechanism, 0.8, draws)
    expect_gt(hits, qbinom(5e-7, draws, 0.8) - 1, label = paste(label_of(case$M), mechanism))
  }
})

test_that("a region never says less than the public ball, and grows with its level", {
  x <- wishart_spd[, , 1:20]
  r <- dp_mean(x, spd(2), 0.05, diag(2), 1.5, mechanism = "wrapped", post = FALSE)
  reach <- mf_dist(spd(2), r$value, diag(2)) + 1.5
  expect_lte(confint(r, level = 0.999)$radius, reach * (1 + 1e-6))
  table <- dp_uncertainty(dp_mean(wishart_spd[, , 1:500], spd(2), 1, diag(2), 1.5))
  expect_true(all(diff(table$radius) > 0))
  expect_output(print(confint(r)), "the mean of the records moved to the public ball")
  expect_error(confint(r, level = 1), class = "riemdp_error_argument")
  expect_error(dp_uncertainty(1), class = "riemdp_error_argument")
  expect_error(dp_uncertainty(r, levels = 2), class = "riemdp_error_argument")
})

test_that("quantiles of the radial law agree with closed forms", {
  # plane: the distance is Gamma(2); three dimensions: Gamma(3)
  for (d in 2:3) {
    q <- riemdp:::radial_quantile(euclidean(d), c(1, 0.1), function(rho) rho / 0.1, 0.9, 10)
    expect_equal(q, qgamma(0.9, d, scale = 0.1), tolerance = 2e-3)
    expect_gte(q, qgamma(0.9, d, scale = 0.1))
  }
})

test_that("noise beyond the reach of doubles still ends in a point, whose region is the public ball's", {
  # wrapped noise of scale 300 leaves matrices whose eigenvalues' ratio no double holds, and infinite ones
  x <- wishart_spd[, , 1:20]
  seen <- 0
  for (seed in 1:20) {
    r <- with_simulation(seed, dp_mean(x, spd(2), 5e-4, diag(2), 1.5, mechanism = "wrapped"))
    expect_true(is.finite(mf_dist(spd(2), diag(2), r$value)))
    if (!isTRUE(r$beyond)) next
    seen <- seen + 1
    expect_equal(confint(r)$radius, mf_dist(spd(2), diag(2), r$value) + 1.5)
    expect_match(confint(r)$basis, "beyond the reach of doubles")
    expect_output(print(r), "farther out than doubles hold")
  }
  expect_gt(seen, 0)
  M <- spd(2)
  expect_identical(riemdp:::point_held(M, diag(2) * 3, diag(2)), diag(2) * 3)
  near <- riemdp:::point_held(M, diag(c(1, 1e-30)), diag(2))
  expect_equal(eigen(near)$values, c(1, 1e-10))
  expect_identical(riemdp:::point_held(M, diag(c(Inf, 1)), diag(2)), diag(2))
  # taken for a matrix with a Cholesky factor, and without logarithm
  logs <- spd(2, "logeuclidean")
  for (seed in 1:200) {
    r <- with_simulation(seed, dp_mean(x, logs, 0.01, diag(2), 1.5, mechanism = "laplace"))
    if (!isTRUE(is.finite(mf_dist(logs, diag(2), r$value)))) fail("a release that is no point")
  }
  # one that is a point goes untouched
  r <- with_simulation(1, dp_mean(x, M, 1, diag(2), 1.5, mechanism = "wrapped", post = FALSE))
  expect_null(r$beyond)
  reach <- mf_dist(M, diag(2), r$value) + 1.5
  expect_lt(confint(r, level = 0.1)$radius, reach)
  r$beyond <- TRUE # the law of its noise would say more
  expect_equal(confint(r, level = 0.1)$radius, reach)
})

test_that("remembered quantiles are those of their own law, space and level", {
  for (i in 1:2) for (M in list(hyperbolic(2), sphere(2), spd(2))) for (scale in c(0.01, 0.02)) for (level in c(0.5, 0.95)) {
    for (law in list(list(1, function(rho) rho / scale), list(2, function(rho) rho^2 / (2 * scale^2)))) {
      expect_identical(riemdp:::radial_quantile(M, c(law[[1]], scale), law[[2]], level, 0.5), riemdp:::find_radial_quantile(M, law[[2]], level, 0.5, NULL))
    }
  }
})

test_that("an argument that confint() doesn't know is an error: it would leave sampling out without a word", {
  set.seed(1)
  x <- matrix(rnorm(200, sd = 0.2), 100)
  d <- data.frame(x = runif(100, -1, 1), y = rnorm(100))
  curve <- list(x = d$x, y = x)
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  of <- function(f, ...) f(x, euclidean(2), 1, c(0, 0), 2, ...)
  all <- list(
    of(dp_mean), of(dp_variance), of(dp_median), of(dp_pga), dp_pca(x, 1, 1, bound = 1),
    dp_lm(y ~ x, d, 1, bounds = bounds), geodesic_regression(y ~ x, euclidean(2), curve),
    dp_regression(y ~ x, euclidean(2), curve, 1, c(0, 0), 2, 1, 0.5, c(-1, 1)), dp_ball(x, euclidean(2), 1, c(0, 0), 2)
  )
  for (r in all) expect_error(confint(r, residuals = 1), "not known", class = "riemdp_error_argument", label = class(r)[1])
  # what is given by its place may not be taken for nothing either
  fit <- dp_regression(y ~ x, euclidean(2), curve, 1, c(0, 0), 2, 1, 0.5, c(-1, 1))
  expect_error(confint(fit, dp_residual_scale(fit, curve, 1)), "isn't used for a curve", class = "riemdp_error_argument")
})
