# The private residual scale of a released line, and intervals about the population (R/dp-residual-scale.R, R/population-equation.R, R/lm-population.R)

internal <- asNamespace("riemdp")
LINE <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
line_frame <- function(n, sd = 0.8) {
  x <- stats::runif(n, -1, 1)
  data.frame(x = x, y = 0.2 + 0.5 * x + stats::rnorm(n, sd = sd))
}
line_fit <- function(data, epsilon, method = "statistics") {
  dp_lm(y ~ x, data, epsilon, if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-6 else 0, bounds = LINE, method = method,
        guess = "trusted")
}
sums_of <- function(fit, data, bound = 3, epsilon = 1) {
  ask <- list(fit = fit, curve = FALSE, n = nrow(data), bound = bound, q = nrow(fit$scaled_coefficients), bits = internal$variance_bits(nrow(data), epsilon))
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
  unit <- dp_lm(y ~ x, data, 2, bounds = LINE, method = "statistics", unit = rep(1:40, 2))
  no(unit, data, 0.1)
  no(fit, data, 0.1, unit = rep(1:40, 2))
  no(unit, data, 0.1, unit = rep(c(NA, 2:40), 2))
  more <- dp_lm(y ~ x, data, 2, bounds = LINE, method = "statistics", neighbours = "add_remove")
  no(more, chunks(data, 30), 0.1, class = "riemdp_error_unsupported")
  broken <- more
  broken$size <- NULL
  no(broken, data, 0.1)
  no(fit, data[0, ], 0.1, class = "riemdp_error_shape")
  expect_identical(nrow(ledger_history(ledger)), 1L)
  for (n in 1:2) expect_s3_class(dp_residual_scale(fit, data[seq_len(n), ], 0.1), "riemdp_residual_scale")
})

test_that("moments of predictors are sums over rows, which a row moves by no more than is paid, and nearly by all of it", {
  set.seed(6)
  for (d in 1:3) {
    data <- data.frame(matrix(stats::runif(40 * d, -2, 2), 40, dimnames = list(NULL, paste0("x", seq_len(d)))), y = stats::rnorm(40))
    formula <- stats::reformulate(paste0("x", seq_len(d)), "y")
    bounds <- c(stats::setNames(rep(list(c(-2, 2)), d), names(data)[seq_len(d)]), LINE["y"])
    fit <- dp_lm(formula, data, 5, bounds = bounds, method = "objective", guess = "trusted")
    s <- dp_residual_scale(fit, data, 1e7)
    u <- cbind(1, as.matrix(data[seq_len(d)]) / 2)
    expect_equal(s$moments$xx, crossprod(u), tolerance = 1e-5, ignore_attr = TRUE)
    expect_equal(sum(s$draws$epsilon), 1e7, tolerance = 1e-6)
    ask <- internal$residual_shares(list(fit = fit, curve = FALSE, n = 40, epsilon = 1, bound = 3))
    expect_lte(sum(ask$shares), 1)
    # the worst pair of rows: 1 everywhere against 1 - t
    sums <- function(row) internal$predictor_sums(matrix(row, d, 1), ask$moment_bits)
    most <- internal$predictor_most(d, ask$moment_bits)
    moved <- sum(abs(sums(rep(1, d)) - sums(rep(1 - (2 + d) / (1 + d), d))))
    expect_lte(moved, most)
    expect_gt(moved, 0.9999 * most)
    corners <- replicate(2000, sum(abs(sums(sample(c(-1, -0.5, 0, 0.5, 1), d, TRUE)) - sums(stats::runif(d, -1, 1)))))
    expect_lte(max(corners), most)
    paid <- s$draws
    expect_equal(paid$sensitivity[2] / paid$scale[2], paid$epsilon[2])
  }
  # whatever a row holds
  for (value in c(NA, Inf, -1e308)) {
    other <- data
    other$x2[3] <- value
    away <- dp_residual_scale(fit, other, 1e7)$moments$xx - s$moments$xx
    expect_lte(sum(abs(away[lower.tri(away, TRUE)])), internal$moments_moved(3) + 1e-3)
  }
  # noise of the told scale, in every number
  draws <- if (quick()) 200 else 800
  z <- with_simulation(7, replicate(draws, {
    m <- dp_residual_scale(fit, data, 2)$moments
    (m$xx - crossprod(u))[lower.tri(m$xx, TRUE)][-1] / m$scale
  }))
  expect_lt(abs(mean(abs(z)) - 1), 5 / sqrt(length(z)))
  expect_null(dp_residual_scale(line_fit(line_frame(50), 1), line_frame(50), 1)$moments)
})

test_that("no record of a private number releases as much as one", {
  data <- line_frame(60)
  for (method in c("objective", "statistics")) {
    fit <- dp_lm(y ~ x, data, 5, bounds = LINE, method = method, neighbours = "add_remove", guess = "trusted")
    shape <- function(data) lengths(unlist(unclass(dp_residual_scale(fit, data, 0.5))[c("value", "squares", "moments", "cuts")], recursive = FALSE))
    expect_identical(shape(data[0, ]), shape(data[1, ]), label = method)
    expect_true(all(is.finite(unlist(unclass(dp_residual_scale(fit, data[0, ], 0.5))[c("value", "squares", "moments")]))), label = method)
  }
})

test_that("what is drawn has the laws that it stands for", {
  # a Laplace law between two numbers, wherever they lie, against draws that are thrown away
  for (ends in list(c(-1, 2), c(0.5, 3), c(-4, -1), c(-Inf, 0.3))) {
    z <- with_simulation(1, internal$laplace_between(4000, 2, ends[1], ends[2]))
    plain <- with_simulation(2, 2 * stats::rexp(4e4) * sample(c(-1, 1), 4e4, TRUE))
    kept <- plain[plain > ends[1] & plain < ends[2]]
    expect_true(all(z >= ends[1] & z <= ends[2]))
    expect_gt(suppressWarnings(stats::ks.test(z, kept))$p.value, 1e-6)
  }
  expect_lt(max(abs(with_simulation(3, internal$laplace_between(50, 1, -1e6, -1e5)) + 1e5)), 30)
  # variances: chi-squared around what was released where noise is small, never beyond what can be
  v <- with_simulation(4, internal$drawn_variances(list(sum = c(50, 150), scale = 1e-6), 100, 9, 98, 4000))
  expect_equal(colMeans(v), c(50, 150) / 96, tolerance = 0.03)
  v <- with_simulation(5, internal$drawn_variances(list(sum = -40, scale = 10), 100, 9, 98, 500))
  expect_true(all(v > 0 & is.finite(v)))
  # predictors with given moments, on their range
  for (m in list(list(mean = 0.3, cov = matrix(0.2)), list(mean = c(-0.2, 0.1), cov = matrix(c(0.3, 0.1, 0.1, 0.2), 2)))) {
    u <- with_simulation(6, internal$drawn_predictors(m, 2e4))
    expect_equal(rowMeans(u)[-1], m$mean, tolerance = 0.05)
    expect_equal(stats::cov(t(u[-1, , drop = FALSE])), m$cov, tolerance = 0.05)
    if (length(m$mean) == 1) expect_lte(max(abs(u)), 1)
  }
  noise <- function() diag(c(0, stats::rnorm(1, sd = 30)))
  got <- with_simulation(8, replicate(200, internal$drawn_moments(diag(c(100, 10)), 100, noise)$cov[1]))
  expect_true(all(got >= internal$LEAST_SPREAD & got <= 1))
  # predictors of -1 and 1, whose mean squares are as large as can be, released a little larger
  noise <- function() {
    z <- matrix(stats::rnorm(25), 5)
    z + t(z)
  }
  got <- with_simulation(9, lapply(1:200, function(i) internal$drawn_moments(diag(100.5, 5), 100, noise)))
  expect_false(any(vapply(got, `[[`, NA, "short")))
  for (g in got) expect_lte(max(diag(g$cov) + g$mean^2), 1 + 1e-12)
  expect_gt(mean(vapply(got, function(g) sum(diag(g$cov)), 0)), 3.9)
})

test_that("an equation's root solves it, and there is none where sums can't reach", {
  loss <- internal$kernel_loss(list(tau = 1.5, g = internal$huber_loss()))
  x <- with_simulation(1, rbind(1, stats::runif(60, -1, 1)))
  e <- with_simulation(2, matrix(stats::rnorm(60), 1))
  h <- matrix(c(3, -2), 1)
  c <- internal$solved_equation(cbind(x, x), cbind(e, -e), h, loss, 1e3)
  left <- cbind(e, -e) - c %*% cbind(x, x)
  pulled <- pmax(-1.5, pmin(1.5, left)) %*% t(cbind(x, x)) - 1e-4 * 120 * c
  expect_equal(pulled, h, tolerance = 1e-5, ignore_attr = TRUE)
  expect_equal(internal$solved_equation(cbind(x, x), cbind(e, -e), 0 * h, loss, 1e3), 0 * h, tolerance = 1e-6)
  expect_identical(internal$solved_equation(x, e, matrix(c(1e4, 0), 1), loss, 1e3), matrix(1e3, 1, 2))
})

test_that("a fit's equation tells how far it is from the population, and a step along the gradient where the population is", {
  loss <- internal$kernel_loss(list(tau = 50, g = internal$huber_loss())) # psi is the residual itself
  moments <- list(mean = 0.2, cov = matrix(0.25))
  products <- rbind(c(1, 0.2), c(0.2, 0.29))
  off <- c(0.1, -0.3)
  eq <- list(step = matrix(c(0.5, -0.2), 1), loss = loss, pull = matrix(1000 * products %*% off, 1), noise = function() matrix(0, 1, 2), n = 1000,
             features = identity)
  root <- function(eq, parts = "privacy") rowMeans(with_simulation(1, replicate(60, drop(internal$equation_root(eq, 0.01, moments, parts)))))
  # residuals e - F c pull with -1000 S c; along the gradient those at the population, e + F d, with 1000 S d
  expect_equal(root(eq), -off, tolerance = 0.02)
  loud <- eq
  loud$noise <- function() eq$pull # noise of the same size pulls as far again
  expect_equal(root(loud), -2 * off, tolerance = 0.02)
  expect_equal(root(c(eq, turn = -1)), drop(eq$step) - off, tolerance = 0.02)
  expect_equal(root(c(eq, list(shift = function(noise) noise + c(1, 2)))), c(1, 2) - off, tolerance = 0.02)
  expect_equal(root(eq, "sampling"), c(0, 0), tolerance = 0.01)
  # the error of sampling: that of least squares with 1,000 records and errors of variance .01
  z <- with_simulation(2, replicate(400, drop(internal$equation_root(eq, 0.01, moments, "sampling"))))
  expect_equal(stats::cov(t(z)), 0.01 / 1000 * solve(products), tolerance = 0.35)
})

test_that("chunks release the same, units count once with all their rows, and a private number of records has its own noise", {
  set.seed(10)
  data <- line_frame(120)
  whole <- line_fit(chunks(data, 50), 5, "objective")
  pair <- lapply(list(data, chunks(data, 50)), function(d) with_simulation(1, dp_residual_scale(whole, d, 1)))
  expect_identical(pair[[1]][c("value", "squares", "moments")], pair[[2]][c("value", "squares", "moments")])
  # units whose rows are in several chunks: sums of the rows' averages
  of <- rep(1:30, 4)
  by_unit <- function(v) vapply(split(v, of), mean, 0)
  fit <- dp_lm(y ~ x, data, 5, bounds = LINE, method = "objective", unit = of)
  u <- dp_residual_scale(fit, data, 1e6, unit = of)
  e <- pmax(-10, pmin(10, data$y)) - fit$value[[1]] - fit$value[[2]] * data$x
  expect_equal(u$squares$sum, sum(by_unit(pmin(e^2, 9))), tolerance = 1e-4)
  expect_equal(u$moments$xx, matrix(c(30, sum(by_unit(data$x)), sum(by_unit(data$x)), sum(by_unit(data$x^2))), 2), tolerance = 1e-4)
  expect_identical(c(u$n, guarantee(u)$unit), c("30", "unit"))
  expect_output(print(u), "of 30 units")
  # a unit moves them by no more than is paid, however many rows it has, and nearly by all of that
  ask <- internal$residual_shares(list(fit = fit, curve = FALSE, n = 30, unit = "unit", epsilon = 1, bound = 1))
  sums <- function(d, of) {
    records <- internal$residual_records(fit, d, of, FALSE)
    internal$residual_totals(records, ask)
  }
  for (rows in c(1, 3, 7)) {
    of <- c(rep(1, rows), rep(2:30, length.out = 90))
    near <- far <- rbind(data[rep(1, rows), ], data[seq_len(90), ])
    here <- seq_len(rows)
    near$x[here] <- 1
    far$x[here] <- -0.5
    near$y[here] <- fit$value[[1]] + fit$value[[2]]
    far$y[here] <- 9
    for (data_of in list(identity, function(d) chunks(d, 40))) {
      moved <- abs(sums(data_of(near), of) - sums(data_of(far), of))
      expect_lte(moved[1], 2^ask$bits + 2)
      expect_gt(moved[1], 0.999 * 2^ask$bits)
      expect_lte(sum(moved[-1]), internal$predictor_most(1, ask$moment_bits))
      expect_gt(sum(moved[-1]), 0.999 * internal$predictor_most(1, ask$moment_bits))
    }
  }
  expect_gte(dp_residual_scale(fit, data, 1, unit = rep(1:30, 4))$draws$sensitivity[1], 2^ask$bits + 2)
  # a record more or less: the sums have all records, of which nothing is known but what the fit released
  more <- dp_lm(y ~ x, data, 5, bounds = LINE, method = "objective", neighbours = "add_remove", guess = "trusted")
  s <- dp_residual_scale(more, data[1:100, ], 1e6)
  e <- pmax(-10, pmin(10, data$y)) - more$value[[1]] - more$value[[2]] * data$x
  expect_equal(s$squares$sum, sum(pmin(e[1:100]^2, 9)), tolerance = 1e-4)
  expect_identical(list(s$n, s$size, guarantee(s)$adjacency), list(NA_real_, more$size, "add-remove"))
  expect_equal(s$moments$xx[1, 1], more$size$count)
  expect_s3_class(dp_residual_scale(more, data[0, ], 1), "riemdp_residual_scale")
  expect_output(print(s), "about .* records")
  ledger <- dp_ledger(NULL, 1, pairs = TRUE)
  dp_residual_scale(more, data, 0.5, ledger = ledger)
  expect_identical(nrow(ledger_history(ledger)), 1L)
  # what is drawn of a number: around what was released, with its noise, never below what a fit needs; the fit took some
  fake <- list(n = NA_real_, size = list(count = 100, points = 101, scale = 10))
  drawn <- with_simulation(2, internal$drawn_sizes(fake, 4000, 3))
  expect_equal(mean(abs(drawn$all - 100)), 10, tolerance = 0.1)
  expect_identical(drawn$taken, pmin(drawn$all, 101))
  fake$size$count <- -50
  expect_true(all(internal$drawn_sizes(fake, 100, 3)$all >= 3))
  expect_identical(internal$drawn_sizes(list(n = 7), 2, 3), list(all = c(7, 7), taken = c(7, 7)))
})

# n units of three rows each, alike within a unit by a share
unit_frame <- function(n, alike = 0.5) {
  x <- rep(stats::runif(n, -1, 1), 3)
  data.frame(x = x, y = 0.2 + 0.5 * x + rep(stats::rnorm(n, sd = 0.8 * sqrt(alike)), 3) + stats::rnorm(3 * n, sd = 0.8 * sqrt(1 - alike)))
}

test_that("a plan says beforehand which intervals about the population public numbers rule out, as confint() does", {
  set.seed(12)
  said <- function(fit, residual) {
    tryCatch({
      confint(fit, about = "population", residual = residual, nsim = 100)
      ""
    }, riemdp_error = conditionMessage)
  }
  number <- "public numbers"
  # a fit and its plan, of these records: both sides of what the plan says of the residual scale's price
  compare <- function(plan, fit, data, unit = NULL) {
    for (factor in c(0.97, 1.03)) {
      price <- if (nzchar(plan$population) || plan$residual_epsilon == 0) 1 else factor * plan$residual_epsilon
      words <- said(fit, dp_residual_scale(fit, data, price, unit = unit))
      if (nzchar(plan$population)) expect_identical(words, plan$population) else
        expect_identical(grepl(number, words), plan$residual_epsilon > 0 && factor < 1, label = fit$method %||% fit$mechanism)
    }
  }
  for (case in list(list(8, 1), list(60, 0.3), list(400, 1), list(400, 0.05))) for (form in c("rows", "units", "chunks")) {
    n <- case[[1]]
    plan <- dp_lm_plan(n, 1, epsilon = case[[2]], delta = 1e-6, unit = form == "units")
    data <- if (form == "units") unit_frame(n) else line_frame(n)
    of <- if (form == "units") rep(seq_len(n), 3)
    able <- plan$method[!nzchar(plan$why) & plan$label != "none"]
    if (form == "chunks") able <- setdiff(able, c("theil_sen", "kng"))
    for (method in able) {
      given <- if (form == "chunks") chunks(data, 150) else data
      delta <- if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-6 else 0
      fit <- dp_lm(y ~ x, given, case[[2]], delta, bounds = LINE, method = method, unit = of)
      compare(plan[plan$method == method, ], fit, given, of)
    }
  }
  # several predictors and responses; none
  data <- data.frame(x = stats::runif(200, -1, 1), z = stats::runif(200, -1, 1))
  data <- transform(data, y = x + stats::rnorm(200), w = z + stats::rnorm(200))
  for (method in c("objective", "statistics")) {
    fit <- dp_lm(cbind(y, w) ~ x + z, data, 2, bounds = c(LINE, list(z = c(-1, 1), w = c(center = 0, scale = 1))), method = method)
    plan <- dp_lm_plan(200, 2, 2, epsilon = 2)
    compare(plan[plan$method == method, ], fit, data)
  }
  none <- dp_lm_plan(20, 0, epsilon = 0.1)
  expect_true(all(none$residual_epsilon[none$method %in% c("objective", "statistics", "output")] == 0))
  # a private number, by what was released of it
  for (n in c(60, 400)) {
    data <- line_frame(n)
    fit <- dp_lm(y ~ x, data, 3, bounds = LINE, method = "objective", neighbours = "add_remove")
    least <- internal$least_residual_epsilon(max(1, fit$size$count), 1, 1, FALSE)
    compare(list(population = "", residual_epsilon = least), fit, data)
  }
  expect_output(print(dp_lm_plan(400, 1, epsilon = 0.05, delta = 1e-6)), "refused: no interval about the population at these public numbers")
  expect_output(print(dp_lm_plan(400, 1, epsilon = 1)), "what of epsilon dp_residual_scale")
})

test_that("intervals about the population hold the true line as often as they say", {
  # below .95 by 5 standard errors and .02 fails; without noise they are as wide as lm()'s
  runs <- if (quick()) 10 else 40
  cases <- list(statistics = list(c(500, 2), c(2000, 1)), adassp = list(c(500, 2)), newton = list(c(1000, 1)), objective = list(c(150, 2)),
                recentred = list(c(600, 3)), output = list(c(600, 4)))
  for (method in names(cases)) for (case in cases[[method]]) {
    out <- with_simulation(4, replicate(runs, {
      data <- line_frame(case[1])
      fit <- line_fit(data, 0.8 * case[2], method)
      ends <- confint(fit, about = "population", residual = dp_residual_scale(fit, data, 0.2 * case[2]), nsim = 150)
      c(ends[1, 1] <= 0.2 && 0.2 <= ends[1, 2], ends[2, 1] <= 0.5 && 0.5 <= ends[2, 2])
    }))
    expect_gt(mean(out), 0.93 - 5 * sqrt(0.95 * 0.05 / (2 * runs)), label = paste(method, case[1]))
  }
  set.seed(5)
  data <- line_frame(3000, 0.5)
  plain <- stats::confint(stats::lm(y ~ x, data))
  for (method in c("statistics", "objective", "recentred", "output")) {
    fit <- line_fit(data, 500, method)
    s <- dp_residual_scale(fit, data, 100)
    ends <- confint(fit, about = "population", residual = s, nsim = 1000)
    expect_equal((ends[, 2] - ends[, 1]) / (plain[, 2] - plain[, 1]), c(1, 1),
                 tolerance = if (method == "output") 0.3 else 0.15, ignore_attr = TRUE, label = method)
    expect_identical(ends, confint(fit, about = "population", residual = s, nsim = 1000), ignore_attr = TRUE)
    # whoever gives a scale of residuals asks about the population
    expect_identical(confint(fit, residual = s, nsim = 1000), ends)
  }
})

test_that("a ridge's shrinkage is told, noise makes intervals wider, and bands and tables say the same", {
  # a steep line that a ridge flattens: intervals hold it nonetheless
  steep <- function(n) {
    x <- stats::runif(n, -1, 1)
    data.frame(x = x, y = 2 * x + stats::rnorm(n, sd = 0.5))
  }
  for (method in c("objective", "output", "statistics")) {
    runs <- if (quick()) 8 else 25
    out <- with_simulation(9, replicate(runs, {
      data <- steep(150)
      fit <- dp_lm(y ~ x, data, 0.5, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1.5)), method = method, guess = "trusted")
      ends <- confint(fit, "x", about = "population", residual = dp_residual_scale(fit, data, 2, bound = 12), nsim = 150)
      c(ends[1] <= 2 && 2 <= ends[2], fit$value[["x"]])
    }))
    expect_gt(mean(out[1, ]), 0.93 - 5 * sqrt(0.95 * 0.05 / runs), label = method)
  }
  set.seed(5)
  data <- line_frame(3000, 0.5)
  plain <- stats::confint(stats::lm(y ~ x, data))
  for (method in c("statistics", "objective")) {
    noisy <- line_fit(data, 0.3, method)
    s <- dp_residual_scale(noisy, data, 2) # within 5 % of .5
    both <- confint(noisy, about = "population", residual = s)
    expect_true(all(both[, 2] - both[, 1] > plain[, 2] - plain[, 1]))
    expect_match(attr(both, "covers"), "sampling")
    expect_identical(dim(confint(noisy, "x", about = "population", residual = s)), c(1L, 2L))
    table <- tidy(noisy, residual = s)
    expect_equal(cbind(table$conf.low, table$conf.high), both, ignore_attr = TRUE)
    expect_equal(table$std.error^2, table$std.error.privacy^2 + table$std.error.sampling^2)
    expect_equal(table$std.error.sampling / (plain[, 2] - plain[, 1]) * 3.92, c(1, 1), tolerance = 0.2, ignore_attr = TRUE)
    expect_equal(table$std.error / unname(both[, 2] - both[, 1]) * 3.92, c(1, 1), tolerance = 0.3)
    at <- data.frame(x = c(-1, 0, 1))
    band <- predict(noisy, at, interval = "population", residual = s)
    expect_equal(band[2, c("lower", "upper")], both[1, ], ignore_attr = TRUE)
    wide <- predict(noisy, at, interval = "prediction", residual = s)
    expect_true(all(wide[, "upper"] - wide[, "lower"] > band[, "upper"] - band[, "lower"]))
    new <- line_frame(4000, 0.5)
    new <- new[abs(new$x) < 1, ]
    held <- predict(noisy, new[1:400, ], interval = "prediction", residual = s)
    expect_gt(mean(held[, "lower"] <= new$y[1:400] & new$y[1:400] <= held[, "upper"]), 0.9)
    expect_output(print(summary(noisy, residual = s)), "sampling together")
  }
  # how much of the variance the line tells, and the likelihood
  whole <- line_fit(data, 100, "statistics")
  s <- dp_residual_scale(whole, data, 100)
  told <- summary(whole, residual = s, nsim = 100)$fit
  lm <- stats::lm(y ~ x, data)
  expect_lt(abs(told$r.squared - summary(lm)$r.squared), 0.005)
  expect_lt(abs(told$AIC - stats::AIC(lm)), 3)
  expect_lt(abs(told$logLik - as.numeric(stats::logLik(lm))), 1.5)
  other <- dp_lm(y ~ x, data, 100, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 2)), method = "statistics", guess = "trusted")
  expect_lt(abs(summary(other, residual = dp_residual_scale(other, data, 100), nsim = 100)$fit$AIC - stats::AIC(lm)), 10)
  # their noise, and that of small slopes is taken out: by the same draws
  few <- data.frame(x = data$x[1:300], y = 0.02 * data$x[1:300] + data$y[1:300] - stats::fitted(lm)[1:300])
  rough <- line_fit(few, 1, "objective")
  s <- dp_residual_scale(rough, few, 1)
  told <- summary(rough, residual = s)$fit
  draws <- internal$line_draws(rough, s, 2000)
  b <- rough$scaled_coefficients[2]
  mean <- max(0, s$squares$sum) / 300
  explained <- b^2 * mean(draws$cov) - mean(pmin(draws$off[2, ]^2 * draws$cov, stats::quantile(draws$off[2, ]^2 * draws$cov, 0.99)))
  expect_equal(told$r.squared, max(0, explained) / (max(0, explained) + mean), tolerance = 1e-9)
  expect_true(told$r.squared.std.error >= 0)
  expect_output(print(summary(whole, residual = s <- dp_residual_scale(whole, data, 100), nsim = 100)), "logLik and AIC")
  # two responses, and a constant alone
  data$z <- 1 - data$y
  two <- dp_lm(cbind(y, z) ~ x, data, 3, bounds = c(LINE, list(z = c(center = 0, scale = 1))), guess = "trusted")
  s <- dp_residual_scale(two, data, 2)
  expect_identical(dim(confint(two, about = "population", residual = s, nsim = 100)), c(4L, 2L))
  both <- summary(two, residual = s, nsim = 100)$fit
  expect_identical(both$response, c("y", "z"))
  expect_lt(abs(both$r.squared[1] - both$r.squared[2]), 5 * sum(both$r.squared.std.error))
  expect_identical(dim(predict(two, at, interval = "population", residual = s, nsim = 100)), c(3L, 2L, 3L))
  for (method in c("objective", "statistics")) {
    flat <- dp_lm(y ~ 1, data, 2, bounds = LINE["y"], method = method, guess = "trusted")
    ends <- confint(flat, about = "population", residual = dp_residual_scale(flat, data, 1), nsim = 200)
    expect_equal((ends[2] - ends[1]) / (3.92 * stats::sd(data$y) / sqrt(3000)), 1, tolerance = 0.25)
  }
})

test_that("where levels aren't held there is no interval, by public numbers or by what was released", {
  set.seed(8)
  data <- line_frame(400)
  fit <- line_fit(data, 1)
  s <- dp_residual_scale(fit, data, 1)
  refused <- function(fit, ..., class = "riemdp_error_unsupported", words = "") expect_error(confint(fit, about = "population", ...), words, class = class)
  refused(fit, class = "riemdp_error_argument")
  refused(line_fit(data, 1), residual = s, class = "riemdp_error_argument")
  refused(fit, residual = s, nsim = 5, class = "riemdp_error_argument")
  other <- line_fit(data, 1, "objective")
  refused(other, residual = s, class = "riemdp_error_argument")
  few <- dp_lm(y ~ x, data[1:8, ], 1, bounds = LINE, method = "kng")
  refused(few, residual = dp_residual_scale(few, data[1:8, ], 1), words = "kng")
  # noise of the predictors' moments: known beforehand
  blurred <- line_fit(data[1:50, ], 0.1, "objective")
  refused(blurred, residual = dp_residual_scale(blurred, data[1:50, ], 0.1), words = "public numbers")
  small <- line_fit(data[1:50, ], 0.1)
  refused(small, residual = dp_residual_scale(small, data[1:50, ], 5), words = "public numbers")
  # residuals that are cut
  refused(fit, residual = dp_residual_scale(fit, data, 5, bound = 0.5), words = "larger `bound`")
  # predictors that are all the same tell no line
  data$x <- 0.3
  same <- line_fit(data, 3, "objective")
  refused(same, residual = dp_residual_scale(same, data, 200), words = "how large the residuals are")
})

test_that("intervals of units and of private numbers of records hold the true line as often as they say", {
  runs <- if (quick()) 8 else 20
  for (method in c("objective", "statistics")) for (case in c("more", "few", "unit", "alike")) {
    # "few" records: their number is released with as much noise as there are
    n <- if (case == "few") 60 else 400
    epsilon <- if (case == "few") 1.5 else 2
    out <- with_simulation(11, replicate(runs, {
      units <- case %in% c("unit", "alike")
      data <- if (units) unit_frame(n, if (case == "alike") 1 else 0.5) else line_frame(n)
      of <- if (units) rep(seq_len(n), 3)
      fit <- dp_lm(y ~ x, data, epsilon, bounds = LINE, method = method, guess = "trusted", unit = of,
                   neighbours = if (units) "replace" else "add_remove")
      s <- dp_residual_scale(fit, data, 2, unit = of)
      ends <- tryCatch(confint(fit, about = "population", residual = s, nsim = 150), riemdp_error_unsupported = function(e) NULL)
      if (is.null(ends)) return(c(NA, NA, NA))
      c(ends[1, 1] <= 0.2 && 0.2 <= ends[1, 2], ends[2, 1] <= 0.5 && 0.5 <= ends[2, 2], ends[2, 2] - ends[2, 1])
    }))
    held <- mean(out[1:2, ], na.rm = TRUE)
    if (case != "few" || method == "objective") expect_lt(mean(is.na(out)), 0.7)
    expect_gt(held, 0.93 - 5 * sqrt(0.95 * 0.05 / (2 * runs)), label = paste(method, case))
    # rows that are alike say no more than one: as wide as those of so many rows, noise apart
    if (case == "alike") expect_gt(mean(out[3, ], na.rm = TRUE), 0.9 * 3.92 * 0.8 / sqrt(n / 3))
  }
})

test_that("a line without predictors has a summary with its residual scale, by every method", {
  d <- with_simulation(1, data.frame(y = stats::rnorm(300)))
  for (method in c("statistics", "adassp", "newton", "auto")) {
    delta <- if (method %in% c("adassp", "newton")) 1e-6 else 0
    fit <- with_simulation(2, dp_lm(y ~ 1, d, 20, delta, list(y = c(center = 0, scale = 1)), method = method))
    r <- with_simulation(3, dp_residual_scale(fit, d, 20))
    told <- summary(fit, residual = r)
    expect_lt(abs(told$fit[["sigma"]] - 1), 0.4, label = method)
    expect_identical(told$fit[["r.squared"]], 0, label = method)
  }
})
