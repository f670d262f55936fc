# Logistic, Poisson and quantile regression: inst/proofs/linear-regression.md, section 11.

inner <- function(name) get(name, asNamespace("riemdp"))
left_of <- function(family, level = 0.5) {
  b <- switch(family, binomial = c(0, 1), poisson = c(center = 4, limit = 12), quantile = c(center = 0, scale = 1))
  inner("glm_families")()[[family]]$left(b, "y", level)
}
rule_for <- function(family, n, epsilon, d = 1, level = 0.5, unit = NULL) {
  inner("glm_rule")(list(family = family, left = left_of(family, level), n = n, epsilon = epsilon, d = d, unit = unit))
}

# ---- an implementation of its own: the losses' curves, gradients and densities by plain matrices ---------------------------

# psi and its slope at linear predictor eta and response y, on public scales
curve_at <- function(family, rule, eta, y, level = 0.5) {
  width <- rule$step / 0.01 # of a quantile's smoothing
  most <- 3 # of counts over their guess
  value <- switch(family, binomial = y - 1 / (1 + exp(-eta)),
                  poisson = y - ifelse(eta <= log(most), exp(eta), most * (1 + eta - log(most))),
                  quantile = level - 1 / (1 + exp((y - eta) / width)))
  slope <- switch(family, binomial = 1 / (1 + exp(-eta)) / (1 + exp(eta)), poisson = pmin(exp(eta), most),
                  quantile = 1 / (1 + exp((y - eta) / width)) / (1 + exp(-(y - eta) / width)) / width)
  list(psi = pmax(-rule$tau, pmin(rule$tau, value)), slope = ifelse(abs(value) < rule$tau, slope, 0))
}

# log density of the released B (up to a constant), for noise of the largest coefficient, of one unit with rows of u and y
log_density <- function(family, rule, B, u, y, ridge, rate, level = 0.5) {
  x <- rbind(1, u)
  at <- curve_at(family, rule, drop(B %*% x), y, level)
  b <- drop(x %*% at$psi) / length(u) - ridge * B
  h <- diag(ridge) + x %*% (at$slope * t(x)) / length(u)
  -rate * max(abs(b)) + as.numeric(determinant(h)$modulus)
}

# The largest loss over neighbours of one unit with so many rows: both records' predictors and responses, and B
search_loss <- function(family, rule, ridge = rule$ridge, rate = rule$rate, rows = 1, starts = if (quick()) 4 else 8, level = 0.5) {
  most <- switch(family, binomial = 1, poisson = 3, quantile = NA)
  loss <- function(par) {
    B <- 10 * par[1:2]
    side <- function(k) {
      at <- 2 + (k - 1) * 2 * rows
      u <- tanh(2 * par[at + seq_len(rows)])
      y <- par[at + rows + seq_len(rows)]
      y <- if (is.na(most)) drop(B %*% rbind(1, u)) + 8 * rule$step / 0.01 * y else most * stats::plogis(8 * y)
      log_density(family, rule, B, u, y, ridge, rate, level)
    }
    weight <- side(1) - side(2)
    if (is.finite(weight)) weight else -1e3
  }
  best <- -Inf
  for (i in seq_len(starts)) {
    end <- sample(c(-1, 1), 1)
    par <- c(c(-1, 0.5 * end) * stats::runif(2, 0, 1) * sample(c(-1, 1), 1), stats::rnorm(4 * rows))
    for (again in 1:2) {
      fit <- stats::optim(par, loss, method = "Nelder-Mead", control = list(fnscale = -1, maxit = if (quick()) 400 else 800))
      par <- fit$par
    }
    best <- max(best, fit$value)
  }
  best
}

# psi by a table, from its numbers alone
at_table <- function(loss, e, y) {
  knots <- loss$first + loss$step * (seq_along(loss$g) - 1)
  pmax(-loss$tau, pmin(loss$tau, stats::approx(knots, loss$g, e, rule = 2)$y + if (loss$added) y else 0))
}

test_that("the privacy loss stays below epsilon and comes close to it, and the same search finds what is not private", {
  set.seed(1)
  for (family in c("binomial", "poisson", "quantile")) for (epsilon in if (quick()) 1 else c(0.3, 1, 4)) {
    rule <- rule_for(family, 300, epsilon)
    core <- rule$epsilon - rule$solver
    # and a ridge of the same leverage, which is all that the proof asks for
    turned <- inner("shared_ridge")(sum(1 / rule$ridge), 0.9, 1)
    found <- max(search_loss(family, rule), search_loss(family, rule, turned))
    expect_lte(found, core * (1 + 1e-6))
    expect_gte(found, 0.95 * core)
    expect_gt(search_loss(family, rule, turned, 2 * rule$rate), 1.3 * core)
    expect_gt(search_loss(family, rule, turned / 4), 1.15 * core)
  }
  # separate suprema of gradient and curvature would leave the logistic loss less than half of this leverage
  rule <- rule_for("binomial", 1e4, 1)
  expect_gt(rule$t, 2 * 4 * expm1(1 - rule$e1))
})

test_that("what is private for rows isn't for units of several rows, and what is for units is", {
  set.seed(2)
  for (family in c("binomial", "quantile")) {
    of <- list(row = rule_for(family, 300, 4), unit = rule_for(family, 300, 4, unit = "unit"))
    core <- 4 - of$row$solver
    found <- lapply(of, function(rule) search_loss(family, rule, inner("shared_ridge")(sum(1 / rule$ridge), 0.25, 1), rows = 2, starts = 12))
    expect_lte(found$unit, core * (1 + 1e-6))
    expect_gte(found$unit, 0.7 * core)
    if (family == "quantile") expect_gt(found$row, 1.05 * core)
  }
})

test_that("the condition holds at every response and predictor, and is used up", {
  for (family in c("binomial", "poisson", "quantile")) for (epsilon in c(0.2, 1, 6)) for (d in c(0, 3)) for (unit in list(NULL, "unit")) {
    rule <- rule_for(family, 500, epsilon, d, level = 0.8, unit)
    expect_lte(sum(1 / rule$ridge), rule$t * (1 + 1e-12))
    expect_gte(sum(1 / rule$ridge), rule$t * (1 - 1e-12))
    expect_length(rule$ridge, d + 1)
    expect_equal(rule$rate, rule$e1 / (2 * rule$tau))
    expect_equal(rule$solver, inner("solver_share")(500) * epsilon)
    k <- (epsilon - rule$solver) - rule$e1 / 2
    cost <- if (is.null(unit)) log1p else identity
    knots <- rule$first + rule$step * (seq_along(rule$g) - 1)
    e <- c(knots - 1e-9 * rule$step, knots + 1e-9 * rule$step, knots + 0.37 * rule$step)
    spent <- vapply(if (rule$added) seq(0, rule$most, length.out = 41) else 0, function(y) {
      psi <- at_table(rule, e, y)
      slope <- (at_table(rule, e + 1e-7 * rule$step, y) - psi) / (1e-7 * rule$step)
      expect_lte(max(abs(psi)), rule$tau)
      max(rule$e1 * abs(psi) / rule$tau / 2 + cost(rule$t * slope))
    }, 0)
    expect_lte(max(spent), k + 1e-6)
    at <- inner("table_steps")(rule)
    expect_equal(max(rule$e1 / 2, rule$e1 * at$u / 2 + cost(rule$t * at$slope)), k, tolerance = 1e-9)
  }
})

test_that("tables are the curves that they stand for", {
  eta <- seq(-15, 15, length.out = 3001)
  logistic <- inner("glm_families")()$binomial$loss(left_of("binomial"), 0)
  expect_lt(max(abs(at_table(logistic, -eta, 1) - (1 - stats::plogis(eta)))), 2e-6)
  at <- inner("table_at")(logistic, -eta, 1)
  expect_equal(at$psi, at_table(logistic, -eta, 1))
  expect_equal(at$slope, stats::dlogis(eta), tolerance = 0.01)
  for (family in c("poisson", "quantile")) {
    rule <- rule_for(family, 1000, 1, level = 0.7)
    e <- if (family == "poisson") eta / 5 else eta
    for (y in if (family == "poisson") c(0, 0.5, 2.75) else 0) {
      expect_lt(max(abs(at_table(rule, y * (family == "quantile") - e, y) - curve_at(family, rule, e, y, 0.7)$psi)), 1e-4)
    }
  }
  # quantiles: right ones without smoothing's limit, and the public model chooses less where there is more to spend
  expect_lt(rule_for("quantile", 1e5, 1, level = 0.9)$step, rule_for("quantile", 300, 1, level = 0.9)$step)
})

fit_table <- function(rule, x, y, noise, newton = 60, eta = 1e-9, ridge = rbind(rule$ridge)) {
  .Call(riemdp:::riemdp_perturbed_fit_nonprivate, x, rbind(y), ridge, 0 * ridge, rbind(noise), riemdp:::kernel_loss(rule),
        riemdp:::newton_solver(eta, nrow(x) * riemdp:::steepest(rule), newton))
}

test_that("the solver finds the minimiser, alone by its safeguard as well, and eta is what it says", {
  set.seed(4)
  n <- 150
  x <- rbind(1, stats::runif(n, -1, 1), stats::runif(n, -1, 1))
  for (family in c("binomial", "poisson", "quantile")) {
    rule <- rule_for(family, n, 1, 2)
    y <- switch(family, binomial = as.double(stats::rbinom(n, 1, 0.3)), poisson = stats::rpois(n, 4) / 4, quantile = c(1e5, stats::rcauchy(n - 1)))
    noise <- stats::rnorm(3, sd = 5)
    fit <- fit_table(rule, x, y, noise)
    expect_true(fit[[3]])
    eta <- drop(fit[[1]] %*% x)
    psi <- at_table(rule, if (rule$added) -eta else y - eta, y)
    gradient <- noise + rule$ridge * drop(fit[[1]]) - drop(x %*% psi)
    expect_lt(max(abs(gradient)), 1e-8)
    slow <- fit_table(rule, x, y, noise, newton = 0)
    expect_true(slow[[3]])
    expect_equal(slow[[1]], fit[[1]], tolerance = 1e-8)
    # shares count gradients and curvatures, and a record with features 0 counts nothing
    half <- fit_table(rule, structure(x, share = structure(rep(0.5, n), units = n)), y, noise / 2, ridge = rbind(rule$ridge / 2))
    expect_equal(half[[1]], fit[[1]], tolerance = 1e-8)
    expect_equal(fit_table(rule, cbind(x, 0), c(y, 0.5), noise)[[1]], fit[[1]], tolerance = 1e-8)
    # sums of a chunk are those of the gradient
    sums <- riemdp:::exact_total(list(.Call(riemdp:::riemdp_chunk_perturbed, x, rbind(y), cbind(fit[[1]], fit[[4]]), riemdp:::kernel_loss(rule), TRUE)))
    expect_equal(sums[1:3], -drop(x %*% psi), tolerance = 1e-8)
    e <- (if (rule$added) 0 else y) - eta
    slope <- (at_table(rule, e + 1e-7 * rule$step, y) - psi) / (1e-7 * rule$step)
    h <- x %*% (slope * t(x))
    expect_equal(sums[4:9], h[lower.tri(h, TRUE)], tolerance = 1e-3)
    eta <- riemdp:::solver_tolerance(rule, rbind(rule$ridge), 1e10, 1e6)
    u <- .Machine$double.eps / 2
    ends <- range(rule$first, rule$first + rule$step * (length(rule$g) - 1))
    s <- max(diff(rule$g)) / rule$step
    least <- 4 * n * sqrt(3) * u * (s * (max(abs(ends)) + 2.2 * diff(ends)) + max(abs(rule$g)) + 8 * rule$tau)
    expect_gte(eta, least)
    expect_lt(eta, least * 1.01)
    expect_gt(riemdp:::solver_tolerance(c(rule, averaged = TRUE), rbind(rule$ridge), 1e10, 1e6), eta)
  }
  wrong <- function(...) utils::modifyList(riemdp:::kernel_loss(rule), list(...))
  ask <- function(loss, y = rbind(0 * x[1, ])) {
    .Call(riemdp:::riemdp_perturbed_fit_nonprivate, x, y, matrix(1, nrow(y), 3), matrix(0, nrow(y), 3), matrix(0, nrow(y), 3), loss,
          riemdp:::newton_solver(1, 3, 5))
  }
  expect_error(ask(wrong(g = rev(rule$g))), class = "riemdp_error_argument")
  expect_error(ask(wrong(first = Inf)), class = "riemdp_error_argument")
  expect_error(ask(wrong(), matrix(0, 2, n)), class = "riemdp_error_argument")
})

frame_of <- function(n = 600, seed = 5) {
  set.seed(seed)
  d <- data.frame(x = stats::runif(n, 0, 10), g = sample(c("a", "b", "c"), n, TRUE))
  eta <- -1 + 0.3 * d$x - 0.5 * (d$g == "b")
  d$won <- stats::rbinom(n, 1, stats::plogis(eta))
  d$said <- c("no", "yes")[d$won + 1]
  d$count <- stats::rpois(n, exp(eta / 2))
  d$size <- eta + stats::rexp(n)
  d
}
x_bounds <- list(x = c(0, 10), g = c("a", "b", "c"))

test_that("with a large epsilon the fit is that of glm(), or the sample's quantiles", {
  d <- frame_of()
  at <- function(formula, bounds, ..., epsilon = 1000) coef(dp_glm(formula, d, epsilon, bounds = c(x_bounds, bounds), ...))
  plain <- coef(stats::glm(won ~ x + g, stats::binomial(), d))
  expect_equal(at(won ~ x + g, list(won = c(0, 1))), plain, tolerance = 0.01)
  expect_equal(at(said ~ x + g, list(said = c("no", "yes"))), plain, tolerance = 0.01)
  expect_equal(at(said ~ x + g, list(said = c("yes", "no"))), -plain, tolerance = 0.01)
  d$share <- (d$won + 1) / 3
  expect_equal(at(share ~ x + g, list(share = c(0, 1))), suppressWarnings(coef(stats::glm(share ~ x + g, stats::binomial(), d))), tolerance = 0.01)
  expect_equal(at(count ~ x + g, list(count = c(center = 1, limit = 40)), family = "poisson"),
               coef(stats::glm(count ~ x + g, stats::poisson(), d)), tolerance = 0.02)
  for (level in c(0.25, 0.5, 0.9)) {
    b <- at(size ~ x + g, list(size = c(center = 1, scale = 1.5)), family = "quantile", quantile = level)
    below <- d$size < drop(stats::model.matrix(~ x + g, d) %*% b)
    expect_equal(mean(below), level, tolerance = 0.07)
    expect_equal(b[["x"]], 0.3, tolerance = 0.2)
  }
  # the error falls with epsilon, and the public model knows it
  far <- vapply(c(0.2, 20), function(epsilon) {
    with_simulation(3, mean(replicate(if (quick()) 10 else 40, sum((at(won ~ x + g, list(won = c(0, 1)), epsilon = epsilon) - plain)^2))))
  }, 0)
  expect_lt(far[2], far[1] / 20)
})

test_that("errors are those of the public model", {
  skip_if(quick())
  set.seed(6)
  n <- 1000
  u <- stats::runif(n, -1, 1)
  cases <- list(binomial = stats::rbinom(n, 1, stats::plogis(u)), poisson = stats::rpois(n, 4 * exp(0.4 * u)), quantile = 0.5 * u + stats::rnorm(n, sd = 0.8))
  bounds <- list(binomial = c(0, 1), poisson = c(center = 4, limit = 20), quantile = c(center = 0, scale = 1))
  for (family in names(cases)) {
    d <- data.frame(u = u, y = cases[[family]])
    ask <- function(epsilon) dp_glm(y ~ u, d, epsilon, bounds = list(u = c(-1, 1), y = bounds[[family]]), family = family)
    best <- coef(with_simulation(1, ask(1000)))
    fits <- with_simulation(2, replicate(150, ask(1), simplify = FALSE))
    error <- mean(vapply(fits, function(r) mean((cbind(1, u) %*% (coef(r) - best))^2), 0))
    expect_lt(error, 2.5 * fits[[1]]$expected_error)
    expect_gt(error, 0.2 * fits[[1]]$expected_error)
    # intervals cover the fit without noise
    for (type in c("nominal", "bound")) {
      ends <- vapply(fits, function(r) confint(r, type = type), matrix(0, 2, 2))
      target <- best
      held <- mean(ends[, 1, ] <= target & target <= ends[, 2, ])
      expect_gt(held, if (type == "bound") 0.95 else 0.85)
    }
  }
})

# The fit without noise of a release with one predictor in [-1, 1], by the release's own constants
without_noise <- function(fit, u, y) {
  link <- fit$bounds$y["center", ]
  scale <- fit$bounds$left$units$scale
  drop(fit_table(fit$details$rule, rbind(1, u), y / scale, 0 * fit$scaled_coefficients[1, ], 1000, 1e-3)[[1]]) + c(link, 0)
}

test_that("intervals hold where responses aren't as guessed", {
  set.seed(9)
  n <- 3000
  u <- stats::runif(n, -1, 1)
  cases <- list(list("binomial", stats::rbinom(n, 1, 0.01), c(0, 1)),
                list("poisson", stats::rpois(n, 0.4 * exp(0.4 * u)), c(center = 4, limit = 20)))
  count <- if (quick()) 25 else 60
  for (case in cases) {
    d <- data.frame(u = u, y = case[[2]])
    fits <- with_simulation(2, replicate(count, dp_glm(y ~ u, d, 1, bounds = list(u = c(-1, 1), y = case[[3]]), family = case[[1]]), simplify = FALSE))
    best <- without_noise(fits[[1]], u, d$y)
    ends <- vapply(fits, confint, matrix(0, 2, 2))
    expect_gt(mean(ends[, 1, ] <= best & best <= ends[, 2, ]), 0.85) # two coefficients: .95 less five errors, about
    sd <- apply(vapply(fits, coef, c(0, 0)), 1, stats::sd)
    # print() says so
    far <- mean(vapply(fits, function(r) mean((cbind(1, u) %*% (coef(r) - best))^2), 0))
    said <- vapply(fits, function(r) {
      as.double(sub(".*rather ", "", grep("curvature at the released coefficients it is rather", format(r), value = TRUE)[1]))
    }, 0)
    expect_gt(far, 2 * fits[[1]]$expected_error)
    expect_lt(abs(log(stats::median(said) / far)), log(3))
    expect_lt(max(abs(log(sqrt(rowMeans(vapply(fits, function(r) diag(vcov(r)), c(0, 0)))) / sd))), log(2))
  }
})

test_that("curvature is that at the released coefficients", {
  set.seed(10)
  z <- sqrt(1 / 6) * matrix(stats::rnorm(4e5), 2)
  x <- rbind(1, z)
  for (family in c("binomial", "poisson")) {
    rule <- rule_for(family, 1000, 1, 2)
    b <- c(-0.7, 1, 0.5)
    eta <- drop(b %*% x)
    k <- if (family == "binomial") stats::plogis(eta) * stats::plogis(-eta) else {
      curve_at(family, rule, eta, pmin(12, stats::rpois(length(eta), 4 * exp(eta))) / 4)$slope
    }
    found <- inner("glm_curvature")(list(family = family, scaled_coefficients = rbind(b), bounds = list(left = left_of(family)), details = list(rule = rule)))
    expect_equal(found, x %*% (k * t(x)) / length(k), tolerance = 0.02)
  }
  rule <- rule_for("quantile", 1000, 1, 2)
  found <- inner("glm_curvature")(list(family = "quantile", scaled_coefficients = rbind(b), details = list(rule = rule)))
  expect_equal(found, diag(rule$kappa * c(1, 1 / 6, 1 / 6)))
})

test_that("the noise that covers the solver's error is in the rule, the error, standard errors and the bound", {
  set.seed(11)
  n <- 2e4
  u <- stats::runif(n, -1, 1)
  d <- data.frame(u = u, y = stats::rpois(n, 3 * exp(0.4 * u)))
  bounds <- list(u = c(-1, 1), y = c(center = 3, limit = 3e6))
  fits <- with_simulation(3, replicate(if (quick()) 20 else 60, dp_glm(y ~ u, d, 30, bounds = bounds, family = "poisson"), simplify = FALSE))
  rule <- fits[[1]]$details$rule
  best <- without_noise(fits[[1]], u, d$y)
  b <- vapply(fits, coef, c(0, 0)) - best
  cover <- rule$solver * min(rule$ridge) / 2 / inner("solver_tolerance")(rule, rule$ridge, rule$rate, 1e6)
  expect_equal(inner("covering_variance")(rule), 3 / cover^2)
  expect_equal(inner("covering_error")(rule), (1 + 1 / 6) * 3 / cover^2)
  noise <- inner("noise_second_moment")(rule$norm, 1, 1) / rule$rate^2
  through <- solve(n * inner("glm_curvature")(fits[[1]]) + diag(rule$ridge))
  expect_equal(unname(vcov(fits[[1]])), noise * through %*% through + diag(3 / cover^2, 2))
  expect_gt(3 / cover^2, 2 * max(diag(noise * through %*% through))) # most of it
  expect_lt(abs(log(mean(b^2) / mean(vapply(fits, function(r) mean(diag(vcov(r))), 0)))), log(if (quick()) 3 else 2))
  # the rule pays more for it where that is less, and none of what it can choose promises less
  expect_gt(rule$solver, 0.01 * 30)
  expect_gt(fits[[1]]$expected_error, inner("covering_error")(rule))
  expect_lt(fits[[1]]$expected_error, 0.01 * inner("covering_error")(replace(rule, c("solver", "ridge"), list(5e-4 * 30, rule$ridge / 10))))
  wide <- function(type) confint(fits[[1]], level = 0.99, type = type)[, 2] - coef(fits[[1]])
  expect_equal(unname(wide("bound")), inner("perturbation_length")(rule, 0.99) / sqrt(rule$ridge) +
                 (stats::qgamma(1 - 1e-6, 2) + rule$solver / 2) / cover, tolerance = 1e-6)
  # the same of linear models, where n epsilon is large
  linear <- inner("perturbation_rule")(1e6, 30, 3, 2)
  cover <- linear$solver * min(linear$ridge) / 2 / inner("solver_tolerance")(linear, linear$ridge, linear$rate, 1e6)
  expect_gt(linear$error, 1.5 * 9 / cover^2)
  expect_gt(1.5 * 9 / cover^2, 0.02 * linear$error)
})

test_that("a table that is steep and flat in turn ends soon", {
  set.seed(1)
  d <- data.frame(matrix(stats::runif(2000 * 20, -1, 1), 2000), y = sample(c(0, 1e4), 2000, TRUE))
  bounds <- c(stats::setNames(rep(list(c(-1, 1)), 20), names(d)[1:20]), list(y = c(center = 1, limit = 1e4)))
  setTimeLimit(elapsed = 30)
  on.exit(setTimeLimit(elapsed = Inf))
  expect_true(all(is.finite(coef(dp_glm(y ~ ., d, 30, bounds = bounds, family = "poisson")))))
  # that is what more steps are for
  args <- draws_of(dp_glm(y ~ ., d[1:50, ], 30, bounds = bounds, family = "poisson"))$draws[[1]]$args
  expect_gte(args[[6]]$steps, 1000)
})

test_that("without records the release is the noise through the ridge, of its law and rate", {
  for (family in c("binomial", "poisson", "quantile")) {
    rule <- rule_for(family, 50, 1)
    b <- with_simulation(8, replicate(if (quick()) 500 else 3000, riemdp:::release_perturbed(matrix(0, 2, 50), matrix(0, 1, 50), rule) * rule$ridge))
    expect_identical(rule$norm, "max")
    expect_gt(stats::ks.test(pmax(abs(b[1, 1, ]), abs(b[1, 2, ])), stats::pgamma, 2, rule$e1 / (2 * rule$tau))$p.value, 1e-5)
  }
})

test_that("any row has an answer, the broken ones a fixed one, and values are moved into their ranges", {
  d <- frame_of(60)
  fit <- function(d, formula, bounds, ...) with_simulation(1, coef(dp_glm(formula, d, 1, bounds = c(x_bounds, bounds), ...)))
  asks <- list(list(won ~ x + g, list(won = c(0, 1))), list(said ~ x + g, list(said = c("no", "yes"))),
               list(count ~ x + g, list(count = c(0, 6)), family = "poisson"),
               list(size ~ x + g, list(size = c(-1, 4)), family = "quantile"))
  for (ask in asks) {
    y <- all.vars(ask[[1]][[2]])
    of <- function(name, value) do.call(fit, c(list(replace(d, name, list(replace(d[[name]], 3, value)))), ask))
    missing <- of("x", NA)
    for (v in list(NA, NaN, Inf, -Inf)) expect_identical(of("x", v), missing)
    expect_identical(of("g", "z"), missing)
    expect_identical(of("g", NA), missing)
    expect_identical(of(y, NA), missing)
    expect_identical(of("x", 11), of("x", 10))
    if (y == "said") {
      expect_identical(of(y, "maybe"), missing)
    } else {
      for (v in list(NaN, Inf, -Inf)) expect_identical(of(y, v), missing)
      ends <- list(won = c(0, 1), count = c(0, 6), size = c(-1, 4))[[y]]
      expect_identical(of(y, 1e300), of(y, ends[2]))
      expect_identical(of(y, -7), of(y, ends[1]))
      expect_false(identical(of(y, ends[1]), missing))
      expect_false(identical(of(y, ends[1]), of(y, ends[2])))
    }
  }
  bad <- data.frame(x = rep(NA_real_, 3), g = "z", won = NA)
  expect_true(all(is.finite(fit(bad, won ~ x + g, list(won = c(0, 1))))))
})

test_that("draws cost what is stated, and a rule that costs more is stopped", {
  d <- frame_of(200)
  for (family in c("binomial", "poisson", "quantile")) for (unit in list(NULL, rep(1:50, 4))) {
    bounds <- c(x_bounds["x"], list(y = switch(family, binomial = c(0, 1), poisson = c(0, 8), c(-1, 4))))
    ask <- function() dp_glm(y ~ x, data.frame(x = d$x, y = d$count), 0.7, bounds = bounds, family = family, unit = unit)
    r <- ask()
    expect_identical(r$draws$proof, "linear-regression.md, 11")
    expect_lte(r$draws$epsilon, 0.7 * (1 + 1e-9))
    expect_gt(r$draws$epsilon, 0.7 * (1 - 1e-9))
    expect_equal(r$draws$sensitivity, 2 * r$details$rule$tau)
    expect_equal(r$draws$scale * r$details$rule$rate, 1, tolerance = 1e-9)
    rule <- r$details$rule
    for (wrong in list(replace(rule, "ridge", list(rule$ridge / 3)), replace(rule, "rate", 1.3 * rule$rate))) {
      price <- riemdp:::price_perturbed(wrong, wrong$rate, wrong$ridge, rule$solver)
      expect_gt(price$epsilon, 0.7 * 1.02)
    }
  }
  expect_identical(guarantee(r)[c("label", "numerics", "unit")], list(label = "pure", numerics = "real-valued", unit = "unit"))
  ledger <- dp_ledger(NULL, 1)
  dp_glm(won ~ x, d, 0.6, bounds = c(x_bounds["x"], list(won = c(0, 1))), ledger = ledger)
  expect_error(dp_glm(won ~ x, d, 0.6, bounds = c(x_bounds["x"], list(won = c(0, 1))), ledger = ledger), class = "riemdp_error_budget")
  expect_identical(ledger_history(ledger)$what, "dp_glm binomial")
})

test_that("its solver knows how steep a loss is", {
  d <- frame_of(100)
  args <- draws_of(dp_glm(count ~ x, d, 1, bounds = list(x = c(0, 10), count = c(center = 1, limit = 9)), family = "poisson"))$draws[[1]]$args
  loss <- args[[5]]
  expect_gte(args[[6]]$reach, 2 * max(diff(loss$g)) / loss$step)
  expect_lt(args[[6]]$reach, 2.01 * max(diff(loss$g)) / loss$step)
  expect_gt(max(diff(loss$g)) / loss$step, 8)
})

test_that("what is released says what it is, on either scale", {
  d <- frame_of(500)
  fit <- with_simulation(1, dp_glm(count ~ x + g, d, 2, bounds = c(x_bounds, list(count = c(0, 10))), family = "poisson"))
  expect_s3_class(fit, c("riemdp_glm", "riemdp_lm", "riemdp_release"), exact = TRUE)
  new <- data.frame(x = c(1, 5, 12), g = c("a", "b", "c"))
  expect_warning(link <- predict(fit, new), class = "riemdp_warning_range")
  expect_equal(link, drop(cbind(1, c(1, 5, 10), c(0, 1, 0), c(0, 0, 1)) %*% coef(fit)))
  expect_equal(predict(fit, new, "response", outside = "extend"), exp(predict(fit, new, outside = "extend")))
  expect_equal(fitted(fit, new, outside = "move"), exp(link))
  band <- predict(fit, new, "response", interval = "noise", outside = "move")
  expect_identical(colnames(band), c("fit", "lower", "upper"))
  expect_true(all(band[, "lower"] < band[, "fit"] & band[, "fit"] < band[, "upper"]))
  expect_equal(tidy(fit)$std.error^2, unname(diag(vcov(fit))))
  expect_output(print(fit), "Private Poisson regression of 500 records")
  expect_output(explain(fit), "Theorem 3 of proofs/linear-regression.md")
  expect_output(print(summary(fit)), "std.error")
  expect_identical(glance(fit)$nobs, 500)
  expect_identical(nobs(fit), 500)
  pdf(NULL)
  on.exit(dev.off())
  expect_invisible(plot(fit))
  expect_error(confint(fit, about = "population"), class = "riemdp_error_unsupported")
  expect_error(predict(fit, new, interval = "prediction", outside = "move"), class = "riemdp_error_unsupported")
  expect_error(dp_residual_scale(fit, d, 1), class = "riemdp_error_argument")
  expect_error(predict(fit), class = "riemdp_error_argument")
  expect_error(residuals(fit), class = "riemdp_error_unsupported")
  expect_equal(fitted(fit, new, type = "link", outside = "move"), link)
  expect_error(fitted(fit, new, type = "none"), class = "riemdp_error_argument")
  for (part in c("spec", "columns", "details", "scaled_coefficients")) {
    expect_error(vcov(replace(fit, part, list(NULL))), "as dp_glm\\(\\) made it", class = "riemdp_error_argument")
  }
  expect_false(any(grepl("rather", format(fit))))
  expect_output(print(fit), "a mean about the guessed centre and predictors spread about evenly")
  expect_output(explain(fit), "curvature at\\s+the\\s+released coefficients")
  expect_false(any(vapply(fit, is.environment, NA)))
  units <- dp_glm(won ~ x, d, 1, bounds = c(x_bounds["x"], list(won = c(0, 1))), unit = rep(1:100, 5))
  expect_identical(units$n, 100)
  expect_output(explain(units), "Theorem 4 of")
  expect_output(print(units), "logistic regression of 100 units")
  private <- dp_glm(won ~ x, d, 1, bounds = c(x_bounds["x"], list(won = c(0, 1))), neighbours = "add_remove")
  expect_identical(private$n, NA_real_)
  expect_identical(guarantee(private)$adjacency, "add-remove")
  weak <- dp_glm(won ~ x, d, 0.01, bounds = c(x_bounds["x"], list(won = c(0, 1))))
  expect_output(print(weak), "LITTLE MORE")
})

test_that("what can't be fitted is refused by public facts", {
  d <- frame_of(50)
  ask <- function(..., formula = won ~ x, bounds = c(x_bounds["x"], list(won = c(0, 1)))) dp_glm(formula, d, 1, bounds = bounds, ...)
  expect_error(dp_glm(cbind(won, count) ~ x, d, 1, bounds = list(x = c(0, 10), won = c(0, 1), count = c(0, 1))), class = "riemdp_error_unsupported")
  broken <- c("a\xff", "b")
  Encoding(broken) <- "UTF-8"
  expect_error(ask(bounds = list(x = broken, won = c(0, 1))), class = "riemdp_error_argument")
  for (b in list(c(0, 2), c("a", "b", "c"), c(center = 0, scale = 1), NULL, c(1, 0), "a", broken)) {
    expect_error(ask(bounds = list(x = c(0, 10), won = b)), class = "riemdp_error_argument")
  }
  for (b in list(c(1, 4), c(center = 3, scale = 1), c(center = 3, limit = 2), c(center = -1, limit = 2), c(center = 1, limit = Inf), c("a", "b"),
                 c(0, 1e-9), c(center = NA, limit = 2), c(center = 1e299, limit = 1e300), c(center = 1, limit = 1.1e9),
                 c(center = 9e-4, limit = 2), c(center = 0.002, limit = 3e6))) {
    expect_error(ask(bounds = list(x = c(0, 10), won = b), family = "poisson"), class = "riemdp_error_argument")
  }
  expect_error(ask(family = "gaussian"), class = "riemdp_error_argument")
  for (level in list(0, 1, NA, "a", c(0.1, 0.2))) expect_error(ask(quantile = level), class = "riemdp_error_argument")
  expect_error(dp_glm(won ~ x, chunks(d, 2), 1, bounds = list(x = c(0, 10), won = c(0, 1))), class = "riemdp_error_unsupported")
  expect_error(ask(formula = won ~ x - 1), class = "riemdp_error_unsupported")
  expect_error(ask(1), class = "riemdp_error_argument")
  expect_error(dp_glm(won ~ x, d, 1e-7, bounds = list(x = c(0, 10), won = c(0, 1))), class = "riemdp_error_argument")
  expect_error(dp_glm(won ~ x, d, bounds = list()), class = "riemdp_error_argument")
})
