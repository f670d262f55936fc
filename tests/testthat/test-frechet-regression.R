# Frechet regression without privacy (R/frechet-regression.R)

at_of <- function(x) data.frame(x = x)

test_that("in flat space the global fit is linear regression, with weights and factors, and the local one local lines", {
  set.seed(1)
  n <- 60
  d <- data.frame(x = stats::runif(n), z = stats::rnorm(n, 100), g = rep(c("a", "b", "c"), 20), w = stats::runif(n))
  y <- cbind(d$x + (d$g == "b") + stats::rnorm(n, sd = 0.1), d$z / 10 - d$x^2)
  d$y <- mf_points(y, euclidean(2))
  new <- data.frame(x = c(-1, 0.3, 2), z = c(99, 101, 100), g = c("a", "c", "b"))
  fit <- frechet_regression(y ~ x + z + g, euclidean(2), d, weights = w)
  plain <- stats::lm(y ~ x + z + g, list(y = y, x = d$x, z = d$z, g = d$g), weights = d$w)
  expect_equal(as.matrix(predict(fit, new)), unname(stats::predict(plain, new)), tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(unname(residuals(fit)), unname(sqrt(rowSums(stats::residuals(plain)^2))), tolerance = 1e-8)
  for (kernel in c("gaussian", "epanechnikov")) {
    local <- frechet_regression(y ~ x, euclidean(2), d, bandwidth = 0.2, kernel = kernel)
    for (x in c(0, 0.4, 0.9)) {
      u <- (d$x - x) / 0.2
      k <- if (kernel == "gaussian") exp(-u^2 / 2) else pmax(0, 1 - u^2)
      line <- stats::lm(y ~ v, list(y = y, v = d$x - x), weights = k)
      expect_equal(as.matrix(predict(local, at_of(x))), unname(stats::coef(line)[1, , drop = FALSE]), tolerance = 1e-8, ignore_attr = TRUE)
    }
  }
  expect_identical(c(is.na(predict(local, at_of(c(9, NA, 0.5))))), c(TRUE, TRUE, FALSE))
  expect_identical(nobs(local), 60L)
  expect_output(print(local), "Local Frechet regression \\(epanechnikov kernel, bandwidth 0.2\\).*60 records; predictor x")
})

test_that("on curved spaces the prediction is the least sum of weighted squares, weights below 0 included", {
  set.seed(2)
  spaces <- list(list(sphere(2), c(0, 0, 1), 0.5), list(spd(2), diag(2), 1), list(hyperbolic(2), c(1, 0, 0), 1),
                 list(kendall(4), exp(2i * pi * (1:4) / 4), 0.2))
  for (s in spaces) {
    M <- s[[1]]
    k <- riemdp:::mf_facts(M)$dimension
    n <- 40
    x <- stats::runif(n)
    a <- cbind(s[[3]] * (2 * x - 1), matrix(0, n, k - 1)) + matrix(stats::rnorm(n * k, sd = 0.2 * s[[3]]), n)
    d <- list(x = x, y = mf_points(mf_exp(M, s[[2]], mf_from_coords(M, s[[2]], a)), M))
    for (bandwidth in list(NULL, 0.2)) for (at in c(0.05, 0.5, 1)) {
      fit <- frechet_regression(y ~ x, M, d, bandwidth = bandwidth)
      w <- riemdp:::frechet_weights(fit, at)
      expect_equal(c(sum(w), sum(w * x)), c(1, at), tolerance = 1e-8) # the weights of a line
      p <- predict(fit, at_of(at))
      cost <- function(q) sum(w * mf_dist(M, q, d$y)^2)
      around <- mf_exp(M, p, mf_from_coords(M, p, 1e-3 * rbind(diag(k), -diag(k))))
      costs <- vapply(seq_len(2 * k), function(i) cost(mf_points(around, M)[i]), 0)
      expect_true(all(costs > cost(p)))
      expect_lt(max(abs(costs[seq_len(k)] - costs[k + seq_len(k)])), 1e-7) # a stationary point
    }
    expect_true(any(riemdp:::frechet_weights(frechet_regression(y ~ x, M, d), 1) < 0))
    even <- frechet_regression(y ~ x, M, d)
    expect_lt(mf_dist(M, predict(even, at_of(mean(x))), frechet_mean(d$y, M)$mean), 1e-8)
  }
})

test_that("what is no fit is refused with a class, and steps that don't do are told", {
  d <- list(x = 1:6, z = c(1, 3, 2, 5, 4, 4), y = mf_points(cbind(sin(1:6 / 9), 0, cos(1:6 / 9)), sphere(2)))
  wrong <- function(...) expect_error(frechet_regression(...), class = "riemdp_error_argument")
  wrong(y ~ x + z, sphere(2), d, bandwidth = 1)
  wrong(y ~ x, sphere(2), d, bandwidth = -1)
  wrong(y ~ x, sphere(2), d, kernel = "square")
  wrong(~x, sphere(2), d)
  expect_error(frechet_regression(y ~ I(x - x), sphere(2), d), class = "riemdp_error_design")
  expect_warning(predict(frechet_regression(y ~ x, sphere(2), d, max_iter = 1), at_of(40)), class = "riemdp_warning_convergence")
  expect_identical(formula(frechet_regression(y ~ x, sphere(2), d)), y ~ x, ignore_formula_env = TRUE)
})
