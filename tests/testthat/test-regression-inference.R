# Covariances, intervals, the test of trend, simulation and influence of plain geodesic regressions (R/regression-inference.R)

# Records along a geodesic of M, normal errors in the tangent spaces; `sd` may be one for each record
curved_line <- function(M, foot, v, x, sd) {
  line <- mf_exp(M, foot, mf_from_coords(M, foot, outer(x, v)))
  d <- mf_facts(M)$dimension
  list(x = x, y = mf_exp(M, line, mf_from_coords(M, mf_points(line, M), matrix(stats::rnorm(length(x) * d), length(x)) * sd)))
}
CURVED <- list(
  sphere = list(M = sphere(2), foot = c(0, 0, 1), v = c(0.9, 0.3), sd = 0.1),
  hyperbolic = list(M = hyperbolic(2), foot = c(1, 0, 0), v = c(0.9, 0.3), sd = 0.2),
  spd = list(M = spd(2), foot = diag(2), v = c(0.5, 0.5, 0.5), sd = 0.2)
)

test_that("flat space: covariances, intervals and Cook's distances are lm()'s, the sandwich is HC1", {
  set.seed(2)
  n <- 25
  d <- data.frame(x = stats::runif(n), z = stats::rnorm(n))
  d$y <- matrix(d$x + stats::rnorm(n) * (0.5 + d$x))
  fit <- geodesic_regression(y ~ x + z, euclidean(1), d)
  plain <- stats::lm(y ~ x + z, d)
  expect_equal(unname(vcov(fit)), unname(stats::vcov(plain)), tolerance = 1e-7)
  expect_equal(unname(cooks.distance(fit)), unname(stats::cooks.distance(plain)), tolerance = 1e-6)
  X <- stats::model.matrix(plain)
  bread <- solve(crossprod(X))
  hc <- bread %*% crossprod(X * stats::resid(plain)) %*% bread * n / (n - 3)
  expect_equal(unname(vcov(fit, "sandwich")), unname(hc), tolerance = 1e-6)
  ends <- unname(stats::confint(plain, level = 0.9))
  expect_equal(unname(confint(fit, level = 0.9))[-1, ], ends[-1, ], tolerance = 1e-6)
  # the foot's own coordinate is 0
  expect_equal(unname(confint(fit, level = 0.9))[1, ], ends[1, ] - mean(ends[1, ]), tolerance = 1e-6)
  half <- diff(ends[2, ]) / 2
  error <- sqrt(hc[2, 2]) / sqrt(stats::vcov(plain)[2, 2])
  expect_equal(diff(confint(fit, "x.1", 0.9, type = "sandwich")[1, ]) / 2, half * error, tolerance = 1e-6, ignore_attr = TRUE)
  expect_identical(rownames(confint(fit, c(3, 2))), c("z.1", "x.1"))
  for (parm in list("q", 4, 0, TRUE, character())) expect_error(confint(fit, parm), class = "riemdp_error_argument")
  # weights, and records left out
  d$w <- c(0, 2, rep(1:2, length.out = n - 2))
  d$x[5] <- NA
  fit <- geodesic_regression(y ~ x + z, euclidean(1), d, weights = w, na.action = stats::na.exclude)
  plain <- stats::lm(y ~ x + z, d, weights = w, na.action = stats::na.exclude)
  # Cook's distance by its formula
  kept <- stats::model.matrix(plain)
  w <- stats::weights(plain)[-5]
  h <- w * rowSums((kept %*% solve(crossprod(kept * sqrt(w)))) * kept)
  far <- w * stats::residuals(plain)[-5]^2 * h / (1 - h)^2 / (3 * stats::sigma(plain)^2)
  expect_equal(unname(cooks.distance(fit)), unname(c(far[1:4], NA, far[5:24])), tolerance = 1e-6)
  bread <- solve(crossprod(kept * sqrt(w)))
  hc <- bread %*% crossprod(kept * w * stats::residuals(plain)[-5]) %*% bread
  expect_equal(unname(vcov(fit, "sandwich")), unname(hc) * 23 / 20, tolerance = 1e-6)
})

test_that("Cook's distance is what leaving the record out does, on curved spaces", {
  for (s in CURVED) {
    set.seed(3)
    r <- curved_line(s$M, s$foot, s$v, stats::runif(25), s$sd / 3)
    fit <- geodesic_regression(y ~ x, s$M, r)
    far <- cooks.distance(fit)
    internal <- asNamespace("riemdp")
    linear <- internal$linearise(fit)
    d <- mf_facts(s$M)$dimension
    back <- rep(c(1, fit$inner$scale), each = d)
    for (i in c(which.max(far), 1)) {
      keep <- seq_along(r$x)[-i]
      y <- mf_points(r$y, s$M)
      rest <- internal$fit_regression(s$M, y[keep], matrix((r$x[keep] - fit$inner$shift) / fit$inner$scale), NULL, "squared", NULL, NULL, 1e-10, 1000, 1)
      step <- internal$seen_from(fit, rest) - internal$own_coordinates(fit)
      step <- step * back
      expect_equal(unname(far[i]), sum(step * (crossprod(linear$root) %*% step)) / (length(step) * fit$sigma^2), tolerance = 0.05)
    }
  }
})

test_that("intervals hold the true foot and vectors as often as they say", {
  # below the level by 5 standard errors, or by .05, fails; the sandwich where errors grow along the curve
  runs <- if (quick()) 60 else 400
  held <- function(s, type, sd_of, nsim = 999) {
    set.seed(5)
    out <- replicate(runs, {
      x <- stats::runif(30)
      r <- curved_line(s$M, s$foot, s$v, x, sd_of(x))
      fit <- geodesic_regression(y ~ x, s$M, r)
      ends <- confint(fit, type = type, nsim = nsim)
      internal <- asNamespace("riemdp")
      # the truth, seen from the estimate
      truth <- list(p = mf_exp(s$M, s$foot, mf_from_coords(s$M, s$foot, fit$inner$shift * s$v)), v = NULL)
      ahead <- mf_exp(s$M, s$foot, mf_from_coords(s$M, s$foot, (fit$inner$shift + 0.5) * s$v))
      v <- 2 * mf_log(s$M, truth$p, ahead)
      p <- as.vector(mf_coords(s$M, fit$inner$foot, mf_log(s$M, fit$inner$foot, truth$p)))
      moved <- as.vector(mf_coords(s$M, fit$inner$foot, mf_transport(s$M, truth$p, fit$inner$foot, v)))
      ends[, 1] <= c(p, moved) & c(p, moved) <= ends[, 2]
    })
    mean(out)
  }
  for (s in CURVED) expect_gt(held(s, "model", function(x) s$sd), 0.95 - min(0.05, 5 * sqrt(0.05 * 0.95 / runs)) - 0.01)
  uneven <- function(s) function(x) s$sd * (0.2 + 4 * abs(x - 0.5))
  robust <- held(CURVED$sphere, "sandwich", uneven(CURVED$sphere))
  expect_gt(robust, 0.88)
  if (!quick()) expect_gt(robust, held(CURVED$sphere, "model", uneven(CURVED$sphere)))
  runs <- runs / 4
  expect_gt(held(CURVED$hyperbolic, "bootstrap", function(x) 0.2, nsim = 199), 0.95 - 5 * sqrt(0.05 * 0.95 / runs) - 0.03)
})

test_that("the bootstrap agrees with the sandwich, is drawn from its seed, and serves every loss", {
  s <- CURVED$sphere
  set.seed(7)
  r <- curved_line(s$M, s$foot, s$v, stats::runif(150), 0.1)
  fit <- geodesic_regression(y ~ x, s$M, r)
  before <- .Random.seed
  one <- vcov(fit, "bootstrap", nsim = 400, seed = 1)
  expect_identical(.Random.seed, before)
  expect_identical(one, vcov(fit, "bootstrap", nsim = 400, seed = 1))
  expect_identical(attr(one, "failed"), 0L)
  # a variance from 400 draws is within 5 standard errors, and .2 for what is left out
  expect_lt(max(abs(diag(one) / diag(vcov(fit, "sandwich")) - 1)), 5 * sqrt(2 / 400) + 0.2)
  for (loss in c("huber", "lad")) {
    robust <- update(fit, loss = loss)
    ends <- confint(robust, type = "bootstrap", nsim = 20, seed = 2)
    expect_true(all(ends[, 1] < ends[, 2]))
    expect_error(vcov(robust, "sandwich"), class = "riemdp_error_unsupported")
    expect_error(cooks.distance(robust), class = "riemdp_error_unsupported")
    expect_error(simulate(robust), class = "riemdp_error_unsupported")
  }
  # draws in which all predictors are equal are made again
  two <- geodesic_regression(y ~ x, euclidean(1), list(y = c(1, 2, 3, 5), x = c(0, 0, 0, 1)))
  expect_true(all(is.finite(vcov(two, "bootstrap", nsim = 50, seed = 1))))
  expect_error(vcov(fit, "bootstrap", nsim = 1), class = "riemdp_error_argument")
})

test_that("the test of trend keeps its level at any number of records, and finds trends", {
  # no trend: five records, all 120 orders by hand
  set.seed(8)
  internal <- asNamespace("riemdp")
  s <- CURVED$hyperbolic
  x <- c(0, 0.2, 0.5, 0.9, 2)
  orders <- as.matrix(expand.grid(rep(list(1:5), 5)))
  orders <- orders[apply(orders, 1, function(o) length(unique(o)) == 5), ]
  fit <- geodesic_regression(y ~ x, s$M, curved_line(s$M, s$foot, c(0, 0), x, 0.3))
  for (statistic in list(internal$score_statistic, internal$fit_statistic)) {
    of <- statistic(fit, matrix(x))
    all <- apply(orders, 1, of)
    p <- vapply(all, function(seen) mean(all >= seen * (1 - 1e-9)), 0)
    for (level in c(0.05, 0.2, 0.5)) expect_lte(mean(p <= level), level)
  }
  expect_equal(trend_test(fit, 4000, seed = 1)$p.value, mean(apply(orders, 1, internal$score_statistic(fit, matrix(x))) >=
    internal$score_statistic(fit, matrix(x))(1:5) * (1 - 1e-9)), tolerance = 0.15)
  # in the plane it is R squared, whatever the statistic
  y <- cbind(stats::rnorm(20), stats::rnorm(20))
  x <- data.frame(a = stats::runif(20), b = stats::rnorm(20))
  w <- stats::runif(20)
  for (weights in list(NULL, w)) {
    x$w <- weights
    x$y <- y
    flat <- if (is.null(weights)) geodesic_regression(y ~ a + b, euclidean(2), x) else geodesic_regression(y ~ a + b, euclidean(2), x, weights = w)
    tests <- lapply(c("score", "fit"), function(of) trend_test(flat, 200, of, seed = 3))
    expect_equal(unname(tests[[1]]$statistic), flat$r.squared, tolerance = 1e-6)
    expect_equal(tests[[1]]$statistic, tests[[2]]$statistic, tolerance = 1e-6)
    expect_identical(tests[[1]]$p.value, tests[[2]]$p.value)
  }
  found <- trend_test(geodesic_regression(y ~ x, sphere(2), curved_line(sphere(2), c(0, 0, 1), c(0.9, 0.3), stats::runif(30), 0.1)), 199, seed = 1)
  expect_identical(class(found), "htest") # nothing private is said of it
  expect_identical(found$p.value, 1 / 200)
  expect_output(print(found), "Permutation test of trend")
  expect_error(trend_test(1), class = "riemdp_error_argument")
  expect_error(trend_test(update(flat, loss = "huber"), statistic = "fit"), class = "riemdp_error_unsupported")
})

test_that("simulated responses have the fit's law", {
  s <- CURVED$spd
  set.seed(9)
  r <- curved_line(s$M, s$foot, s$v, stats::runif(40), 0.2)
  r$w <- c(0, rep(c(1, 4), length.out = 39))
  r$x[7] <- NA
  fit <- geodesic_regression(y ~ x, s$M, r, weights = w, na.action = stats::na.exclude)
  out <- simulate(fit, 200, seed = 1)
  expect_identical(dim(out), c(40L, 200L))
  expect_identical(out, simulate(fit, 200, seed = 1))
  expect_identical(attr(out, "seed"), structure(1, kind = as.list(RNGkind())))
  expect_true(is.na(out$sim_1[7]) && is.na(out$sim_1[1]) && sum(is.na(out$sim_1)) == 2)
  there <- !is.na(out$sim_1)
  far <- vapply(out, function(y) mf_dist(s$M, fit$fitted.values[there[-7]], y[there])^2, numeric(sum(there)))
  scaled <- far * r$w[there] / fit$sigma^2
  expect_lt(abs(mean(scaled) / 3 - 1), 5 * sqrt(2 / 3 / length(scaled)))
  expect_lt(abs(mean(scaled[r$w[there] == 4, ]) / 3 - 1), 5 * sqrt(4 / 3 / length(scaled)))
  # without a seed: the generator as it stands
  set.seed(4)
  a <- simulate(fit)
  set.seed(4)
  expect_identical(a, simulate(fit))
  set.seed(4)
  expect_identical(attr(a, "seed"), .Random.seed)
})
