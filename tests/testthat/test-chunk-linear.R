test_that("private linear regression over chunks is that of memory", {
  set.seed(2)
  n <- 600
  frame <- data.frame(x = runif(n, -1, 1), g = sample(c("a", "b"), n, TRUE), z = rnorm(n))
  frame$y <- 0.3 * rnorm(n) + frame$x
  frame$y[3] <- NA
  bounds <- list(x = c(-1, 1), g = c("a", "b"), y = c(center = 0, scale = 1), z = c(center = 0, scale = 1))
  for (method in c("auto", "objective", "recentred", "huber", "statistics", "adassp", "boosted", "newton", "descent", "gaussian", "output")) {
    for (formula in list(y ~ x, cbind(y, z) ~ x * g)) {
      run <- function(data) {
        delta <- if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-5 else 0
        with_simulation(3, dp_lm(formula, data, 1, delta, bounds[all.vars(formula)], method = method))
      }
      whole <- run(frame)
      first <- run(chunks(frame, 150))
      expect_equal(first$value, whole$value, tolerance = 1e-9)
      same <- c("n", "method", "guarantee", "expected_error", "columns", "bounds", "chosen", "formula")
      expect_identical(unclass(first)[same], unclass(whole)[same])
      expect_identical(first$details$scales, whole$details$scales)
      expect_identical(run(chunks(frame, 77, map = backwards))$value, first$value)
    }
  }
})

test_that("responses far from their guess come to the same end in chunks", {
  n <- 3000
  set.seed(4)
  frame <- data.frame(y = 1e5 + round(rnorm(n) * 2^20) / 2^20)
  run <- function(data) with_simulation(3, dp_lm(y ~ 1, data, 1, bounds = list(y = c(center = 0, scale = 1)), method = "objective"))
  # within eta over the ridge of each other, whatever was added up first
  whole <- run(frame)
  rule <- whole$details$rule
  near <- 2 * riemdp:::solver_tolerance(rule, rule$ridge, rule$rate, riemdp:::REACH) / min(rule$ridge)
  expect_lt(near, 1e-9)
  expect_lte(abs(coef(run(chunks(frame, 999))) - coef(whole)), near + 1e-11)
})

test_that("the further stages of recentring over chunks are those of memory", {
  set.seed(3)
  n <- 5000
  frame <- data.frame(x = runif(n, -1, 1))
  frame$y <- 0.01 * rnorm(n) + frame$x
  run <- function(data) {
    with_simulation(3, dp_lm(y ~ x, data, 4, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1)), method = "recentred"))
  }
  whole <- run(frame)
  expect_length(whole$details$scales, 2)
  first <- run(chunks(frame, 1700))
  expect_identical(first$details$scales, whole$details$scales)
  expect_equal(first$value, whole$value, tolerance = 1e-9)
  expect_identical(run(chunks(frame, 999, map = backwards))$value, first$value)
})

test_that("what private linear regression over chunks can't do is said", {
  frame <- data.frame(x = runif(40, -1, 1), y = rnorm(40))
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  x <- chunks(frame, 20)
  for (method in c("theil_sen", "kng", "paper")) expect_error(dp_lm(y ~ x, x, 1, bounds = bounds, method = method), class = "riemdp_error_unsupported")
  expect_error(dp_lm(y ~ x, x, 1, bounds = "sample"), class = "riemdp_error_unsupported")
  expect_error(dp_lm(y ~ scale(x), x, 1, bounds = bounds), class = "riemdp_error_unsupported")
  # cells that are no numbers are missing ones, in a predictor and in a response
  for (other in list(data.frame(x = c("0.8123456", "b"), y = 1:2), data.frame(x = 1:2, y = c("0.8123456", "b")))) {
    expect_identical(dp_lm(y ~ x, chunks(list(frame, other), sizes = c(40, 2)), 1, bounds = bounds)$n, 42)
  }
  # a column that isn't there: which, but not where
  e <- expect_error(dp_lm(y ~ x, chunks(list(frame, frame["x"])), 1, bounds = bounds), class = "riemdp_error_chunk")
  expect_match(conditionMessage(e), "no column `y`", fixed = TRUE)
  expect_no_match(conditionMessage(e), "2", fixed = TRUE)
  e <- expect_error(dp_lm(y ~ x, chunks(list(frame, frame), sizes = c(40, 39)), 1, bounds = bounds), class = "riemdp_error_chunk")
  expect_no_match(conditionMessage(e), "0[.][0-9]")
})
