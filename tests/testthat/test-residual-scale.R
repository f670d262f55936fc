# The private residual scale of a released line, and intervals about the population (R/dp-residual-scale.R, R/lm-population.R)

internal <- asNamespace("riemdp")
LINE <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
line_frame <- function(n, sd = 0.8) {
  x <- stats::runif(n, -1, 1)
  data.frame(x = x, y = 0.2 + 0.5 * x + stats::rnorm(n, sd = sd))
}
line_fit <- function(data, epsilon, method = "statistics") {
  dp_lm(y ~ x, data, epsilon, if (method == "adassp") 1e-6 else 0, bounds = LINE, method = method, guess = "trusted")
}
sums_of <- function(fit, data, bound = 3, epsilon = 1) {
  ask <- list(fit = fit, n = nrow(data), bound = bound, q = nrow(fit$scaled_coefficients), bits = internal$variance_bits(nrow(data), epsilon))
  values <- internal$linear_values(fit$spec, data, baseenv(), internal$predictor_types(fit$spec, fit$bounds))
  internal$residual_sums(values, ask) * bound^2 / 2^ask$bits
}

test_that("sums are those of squared residuals, cut, and a row moves them by no more than is paid", {
  set.seed(1)
  data <- line_frame(60)
  fit <- line_fit(data, 20)
  e <- pmax(-2.5, pmin(2.5, data$y)) - fit$value[[1]] - fit$value[[2]] * data$x
  expect_equal(sums_of(fit, data), sum(e^2), tolerance = 1e-9)
  expect_equal(sums_of(fit, data, bound = 0.5), sum(pmin(e^2, 0.25)), tolerance = 1e-9)
  # whatever a row holds
  for (value in c(NA, NaN, Inf, -Inf, 1e308, -1e308, 1e160)) for (column in c("x", "y")) {
    other <- data
    other[[column]][7] <- value
    moved <- abs(sums_of(fit, other) - sums_of(fit, data))
    expect_lte(moved, 9)
    s <- with_simulation(1, dp_residual_scale(fit, other, 1))
    expect_true(is.finite(s$value))
  }
  # nearly all of it: from no residual to the bound
  near <- transform(data, y = fit$value[[1]] + fit$value[[2]] * x)
  far <- near
  far$y[7] <- 2.5 + fit$value[[1]]
  expect_gt(abs(sums_of(fit, far, 1) - sums_of(fit, near, 1)), 0.999)
  # two responses: both sums, each by its own bound
  data$z <- 2 * data$y
  two <- dp_lm(cbind(y, z) ~ x, data, 5, bounds = c(LINE, list(z = c(center = 0, scale = 2))), method = "statistics", guess = "trusted")
  expect_length(sums_of(two, data), 2)
  released <- dp_residual_scale(two, data, 1e6)
  expect_equal(released$value^2 * (60 - 2), sums_of(two, data) * c(1, 4), tolerance = 1e-3, ignore_attr = TRUE)
  expect_named(released$value, c("y", "z"))
  # a row moves both sums, and that is what is paid for
  far <- near <- data
  far[7, c("y", "z")] <- c(-2, -4)
  near$y[7] <- sum(two$value[, "y"] * c(1, data$x[7]))
  near$z[7] <- sum(two$value[, "z"] * c(1, data$x[7]))
  moved <- sum(abs(sums_of(two, far, 1) - sums_of(two, near, 1)))
  expect_gt(moved, 1.99)
  paid <- dp_residual_scale(two, data, 1, bound = 1)$draws$sensitivity / 2^internal$variance_bits(60, 0.5)
  expect_lte(moved, paid)
})

test_that("a release costs what it says, its noise has the promised scale, and refusals are from public facts", {
  set.seed(2)
  data <- line_frame(80)
  ledger <- dp_ledger(NULL, 1)
  fit <- line_fit(data, 0.5)
  s <- dp_residual_scale(fit, data, 0.5, ledger = ledger)
  g <- guarantee(s)
  expect_identical(c(g$label, g$numerics, g$adjacency), c("pure", "lattice", "replace-one"))
  expect_equal(sum(s$draws$epsilon), 0.5, tolerance = 1e-9)
  expect_identical(nrow(ledger_history(ledger)), 1L)
  expect_output(print(s), "residual standard deviation of 80 records")
  expect_identical(summary(s)$sd, s$value[["y"]])
  truth <- sums_of(fit, data, epsilon = 0.5)
  draws <- if (quick()) 300 else 1500
  z <- with_simulation(3, replicate(draws, dp_residual_scale(fit, data, 0.5)$squares$sum)) - truth
  expect_lt(abs(mean(abs(z)) / 18 - 1), 5 / sqrt(draws))
  expect_lt(abs(mean(z)) / 18, 5 * sqrt(2 / draws))
  no <- function(..., class = "riemdp_error_argument") expect_error(dp_residual_scale(..., ledger = ledger), class = class)
  no(1, data, 0.1)
  no(fit, data)
  no(fit, data, 0.1, bound = 0)
  no(fit, data, 1e-12)
  no(with_simulation(1, line_fit(data, 1)), data, 0.1)
  no(fit, chunks(data, 30), 0.1, class = "riemdp_error_unsupported")
  unit <- dp_lm(y ~ x, data, 2, bounds = LINE, method = "statistics", unit = rep(1:40, 2))
  no(unit, data, 0.1, class = "riemdp_error_unsupported")
  no(fit, data[0, ], 0.1, class = "riemdp_error_shape")
  expect_identical(nrow(ledger_history(ledger)), 1L)
  for (n in 1:2) expect_s3_class(dp_residual_scale(fit, data[seq_len(n), ], 0.1), "riemdp_residual_scale")
})

test_that("intervals about the population hold the true line as often as they say", {
  # below .95 by 5 standard errors and .02 fails; without noise they are as wide as lm()'s
  runs <- if (quick()) 30 else 120
  for (method in c("statistics", "adassp")) for (case in list(c(500, 2), c(4000, 1))) {
    out <- with_simulation(4, replicate(runs, {
      data <- line_frame(case[1])
      fit <- line_fit(data, 0.8 * case[2], method)
      ends <- confint(fit, about = "population", residual = dp_residual_scale(fit, data, 0.2 * case[2]), nsim = 200)
      c(ends[1, 1] <= 0.2 && 0.2 <= ends[1, 2], ends[2, 1] <= 0.5 && 0.5 <= ends[2, 2])
    }))
    expect_gt(mean(out), 0.93 - 5 * sqrt(0.95 * 0.05 / (2 * runs)), label = paste(method, case[1]))
  }
  set.seed(5)
  data <- line_frame(3000, 0.5)
  fit <- line_fit(data, 500)
  s <- dp_residual_scale(fit, data, 100)
  ends <- confint(fit, about = "population", residual = s)
  plain <- stats::confint(stats::lm(y ~ x, data))
  expect_equal(ends[, 2] - ends[, 1], plain[, 2] - plain[, 1], tolerance = 0.08)
  expect_identical(ends, confint(fit, about = "population", residual = s), ignore_attr = TRUE)
  # noise makes them wider than either error alone
  noisy <- line_fit(data, 0.3)
  s <- dp_residual_scale(noisy, data, 0.3)
  both <- confint(noisy, about = "population", residual = s)
  expect_true(all(both[, 2] - both[, 1] > pmax(plain[, 2] - plain[, 1], 0.8 * (confint(noisy)[, 2] - confint(noisy)[, 1]))))
  expect_match(attr(both, "covers"), "sampling")
  expect_identical(dim(confint(noisy, "x", about = "population", residual = s)), c(1L, 2L))
  # refused from public facts
  refused <- function(fit, ..., class) expect_error(confint(fit, about = "population", ...), class = class)
  refused(noisy, class = "riemdp_error_argument")
  refused(fit, residual = s, class = "riemdp_error_argument")
  refused(dp_lm(y ~ x, data, 1, bounds = LINE, method = "objective"), residual = s, class = "riemdp_error_unsupported")
  refused(noisy, residual = s, nsim = 5, class = "riemdp_error_argument")
})
