# Weights and subsets of linear models: inst/proofs/linear-regression.md, section 13.

inner <- function(name) get(name, asNamespace("riemdp"))
some <- function(n, seed) {
  set.seed(seed)
  d <- data.frame(x = stats::runif(n, -1, 1), g = sample(c("a", "b"), n, TRUE), w = stats::rexp(n))
  d$y <- ifelse(d$g == "a", d$x, -d$x) + 0.3 * stats::rnorm(n)
  d$b <- as.numeric(d$y > 0)
  d
}
around <- list(x = c(-1, 1), y = c(center = 0, scale = 0.7))

test_that("what a row counts is a total function of it, from 0 to 1", {
  w <- c(0, 1, 4, 9, -3, NA, NaN, Inf, -Inf, 1e-300)
  expect_identical(inner("row_counts")(list(weights = w), 4), c(0, 0.25, 1, 1, 0, 0, 0, 0, 0, 2.5e-301))
  expect_identical(inner("row_counts")(list(subset = c(TRUE, FALSE, NA)), 1), c(1, 0, 0))
  expect_identical(inner("row_counts")(list(subset = c(2, 0, NaN)), 1), c(1, 0, 0))
  expect_identical(inner("row_counts")(list(weights = c(2, 2), subset = c(TRUE, FALSE)), 4), c(0.5, 0))
  expect_null(inner("row_counts")(list(), 1))
  shares <- inner("counted_shares")(NULL, c(1, 1 / 3, 0), 3)
  expect_identical(as.vector(shares), c(1, floor(2^30 / 3) / 2^30, 0))
  expect_identical(attr(shares, "units"), 3)
  half <- structure(c(0.5, 0.5, 1), units = 2)
  expect_identical(inner("counted_shares")(half, c(1, 0.5, 0.25), 3), structure(c(0.5, 0.25, 0.25), units = 2))
  expect_identical(inner("counted_shares")(half, NULL, 3), half)
})

# log density of the released coefficients (1, u) at B, of records with features x, responses y and counts w
log_density <- function(B, records, rule, rate, ridge) {
  b <- -ridge * B
  h <- diag(ridge)
  step <- inner("LOSS_STEP")
  for (record in records) {
    x <- c(1, record$u)
    e <- record$y - sum(B * x)
    z <- abs(e) / rule$tau
    past <- z >= step * (length(rule$g) - 1)
    at <- min(floor(z / step), length(rule$g) - 2)
    slope <- if (past) 0 else (rule$g[at + 2] - rule$g[at + 1]) / step
    size <- rule$tau * if (past) rule$g[length(rule$g)] else rule$g[at + 1] + slope * (z - step * at)
    b <- b + record$w * sign(e) * size * x
    h <- h + record$w * slope * tcrossprod(x)
  }
  -rate * max(abs(b)) + as.numeric(determinant(h)$modulus)
}

# the largest loss over neighbours whose counts go up to `most`
search_loss <- function(rule, most = 1, rate = rule$rate, ridge = rule$ridge, starts = if (quick()) 4 else 10,
                        features = function(v) list(u = tanh(2 * v[1]), w = most * stats::plogis(4 * v[3]))) {
  loss <- function(par) {
    B <- 10 * par[1:2]
    record <- function(k) {
      v <- par[2 + 3 * (k - 1) + 1:3]
      x <- features(v)
      c(x, y = sum(B * c(1, x$u)) + rule$tau * v[2])
    }
    log_density(B, list(record(1), record(3)), rule, rate, ridge) - log_density(B, list(record(2), record(3)), rule, rate, ridge)
  }
  best <- -Inf
  for (i in seq_len(starts)) {
    end <- sample(c(-1, 1), 1)
    B <- c(1, end) * stats::runif(1, 2, 8) * sample(c(-1, 1), 1)
    par <- c(B, end, stats::runif(1, 0, 1.5), 2, end, -stats::runif(1, 3, 30), 2, 0, 40, stats::rnorm(1))
    for (again in 1:2) {
      fit <- stats::optim(par, loss, method = "Nelder-Mead", control = list(fnscale = -1, maxit = if (quick()) 400 else 800))
      par <- fit$par
    }
    best <- max(best, fit$value)
  }
  best
}

test_that("with counts of up to 1 the privacy loss stays below epsilon and comes close to it, beyond it doesn't stay", {
  set.seed(1)
  rule <- inner("perturbation_rule")(100, 1, 1, 1, "closed")
  core <- rule$epsilon - rule$solver
  found <- search_loss(rule)
  expect_lte(found, core * (1 + 1e-6))
  expect_gte(found, 0.9 * core)
  expect_gt(search_loss(rule, 2), 1.2)
  expect_gt(search_loss(rule, rate = 2 * rule$rate), 1.2)
})

test_that("records beyond a window cost no more than those within, because of what they count", {
  set.seed(4)
  rule <- inner("perturbation_rule")(100, 1, 1, 1, "closed")
  core <- rule$epsilon - rule$solver
  within <- function(power) {
    function(v) {
      x <- inner("window_features")(rbind(1, tanh(v[1])), list(center = 0.3, half = 0.1))
      list(u = x[2, 1], w = attr(x, "share")[1]^power)
    }
  }
  found <- search_loss(rule, features = within(1))
  expect_lte(found, core * (1 + 1e-6))
  expect_gte(found, 0.8 * core)
  expect_gt(search_loss(rule, features = within(0.5)), 1.2) # as if rows counted the inverse of their length
})

test_that("with a large epsilon the fit is that of lm() or glm() with these weights, of the subset", {
  d <- some(4000, 2)
  bounds <- c(around, list(w = c(0, 3)))
  fit <- dp_lm(y ~ x, d, 200, bounds = bounds, weights = ~w, subset = ~ g == "b" & x > -0.5)
  plain <- stats::lm(y ~ x, d, weights = pmin(w, 3), subset = g == "b" & x > -0.5)
  expect_lt(max(abs(coef(fit) - stats::coef(plain))), 0.02)
  for (method in c("huber", "output")) {
    fit <- with_simulation(3, dp_lm(y ~ x, d, 200, bounds = bounds, weights = ~w, subset = ~ g == "b", method = method))
    expect_lt(max(abs(coef(fit) - stats::coef(stats::lm(y ~ x, d, weights = pmin(w, 3), subset = g == "b")))), 0.05)
  }
  fit <- dp_glm(b ~ x, d, 100, bounds = list(x = c(-1, 1), b = c(0, 1), w = c(0, 3)), weights = ~w, subset = ~ g == "a")
  plain <- suppressWarnings(stats::glm(b ~ x, stats::binomial(), d, weights = pmin(w, 3), subset = g == "a"))
  expect_lt(max(abs(coef(fit) - stats::coef(plain))), 0.1)
})

test_that("a record outside counts nothing, whatever is in it, and n stays", {
  d <- some(60, 3)
  draw <- function(d, ...) {
    fit <- with_simulation(4, dp_lm(y ~ x, d, 1, bounds = c(around, list(w = c(0, 3))), weights = ~w, subset = ~ g == "a", ...))
    fit[c("value", "n", "expected_error", "details")]
  }
  first <- draw(d)
  expect_identical(first$n, 60)
  out <- which(d$g == "b")[1]
  for (other in list(data.frame(x = NA, g = "b", w = NA, y = Inf, b = 0), data.frame(x = 1e300, g = "b", w = 7, y = -1e300, b = 1),
                     data.frame(x = 0, g = NA, w = 1, y = 0, b = 0), data.frame(x = 0.5, g = "a", w = 0, y = 9, b = 0),
                     data.frame(x = 0.5, g = "a", w = NaN, y = 9, b = 0), data.frame(x = 0.5, g = "a", w = -1, y = 9, b = 0))) {
    moved <- d
    moved[out, ] <- other
    expect_identical(draw(moved), first)
  }
  moved <- d
  moved$g[out] <- "a"
  expect_false(identical(draw(moved)$value, first$value))
  # units, and a private number
  unit <- rep(1:20, each = 3)
  expect_identical(draw(d, unit = unit)$n, 20)
  expect_true(all(is.finite(draw(d, neighbours = "add_remove")$value)))
  expect_true(all(is.finite(coef(dp_lm(y ~ x, d[0, ], 1, bounds = around, subset = ~ x > 0, neighbours = "add_remove")))))
})

test_that("what isn't known isn't told, and a product with a count has its rounding paid for", {
  d <- some(200, 5)
  fit <- dp_lm(y ~ x, d, 2, bounds = around, subset = ~ g == "a")
  expect_identical(fit$guarantee$label, "pure")
  expect_true(is.na(fit$expected_error))
  expect_true(all(is.na(tidy(fit)$std.error)) && all(is.na(confint(fit))))
  expect_true(all(diff(t(confint(fit, type = "bound"))) > 0))
  expect_output(print(fit), "not known in advance")
  expect_output(explain(fit), "counts nothing")
  expect_output(explain(fit), "Theorem 5")
  expect_output(print(fit), "only records with g == \"a\" count; how many they are stays private", fixed = TRUE)
  expect_null(fit$details$guess) # isn't checked
  glm <- dp_glm(b ~ x, d, 2, bounds = list(x = c(-1, 1), b = c(0, 1), w = c(0, 3)), weights = ~w)
  expect_output(print(glm), "not known in advance")
  expect_output(explain(glm), "over the largest")
  expect_output(print(glm), "count by their weights, w", fixed = TRUE)
  expect_no_match(paste(capture.output(print(glm), explain(glm)), collapse = " "), "even odds|curvature at the released")
  expect_true(is.na(glm$expected_error))
  for (rule in list(fit$details$rule, glm$details$rule)) {
    eta <- function(rule) inner("solver_tolerance")(rule, matrix(rule$ridge, 1), rule$rate, 1e6)
    plain <- rule
    plain$weighted <- NULL
    # two more roundings of tau for each of n records, four times
    expect_gte(eta(rule) - eta(plain), 4 * 2 * rule$n * rule$tau * 2^-53)
  }
})

test_that("what can't be is refused by public facts", {
  d <- some(30, 6)
  fit <- function(..., bounds = around) dp_lm(y ~ x, d, 1, bounds = bounds, ...)
  expect_error(fit(weights = ~w), class = "riemdp_error_argument")
  expect_error(fit(weights = ~w, bounds = c(around, list(w = c(1, 3)))), class = "riemdp_error_argument")
  expect_error(fit(weights = ~w, bounds = c(around, list(w = c("a", "b")))), class = "riemdp_error_argument")
  expect_error(fit(weights = ~w, bounds = "sample"), class = "riemdp_error_argument")
  expect_identical(fit(subset = ~ x > 0, bounds = "sample")$guarantee$label, "none")
  expect_error(fit(weights = d$w), class = "riemdp_error_argument")
  expect_error(fit(subset = d$g == "a"), class = "riemdp_error_argument")
  expect_error(fit(subset = y ~ x), class = "riemdp_error_argument")
  # names mean what they mean where the formula was written
  cutoff <- -1
  elsewhere <- function() {
    cutoff <- 2
    ~ x > cutoff
  }
  expect_error(fit(subset = elsewhere()), "written elsewhere", class = "riemdp_error_unsupported")
  expect_s3_class(dp_lm(y ~ x, d, 1, bounds = around, subset = ~ x > cutoff), "riemdp_lm")
  # with a private number of records a vector beside `data` would tell it
  beside <- d$w
  for (rows in c(30, 29)) {
    for (wrong in list(function(...) dp_lm(y ~ x, ..., weights = ~beside), function(...) dp_lm(y ~ x + beside, ...),
                       function(data, e, bounds, ...) dp_glm(b ~ x + beside, data, e, bounds = c(bounds[-2], list(b = c(0, 1))), ...))) {
      expect_error(wrong(d[seq_len(rows), ], 1, bounds = c(around, list(beside = c(0, 3))), neighbours = "add_remove"), "columns of `data`",
                   class = "riemdp_error_unsupported")
    }
  }
  expect_error(fit(subset = ~ x > mean(x)), class = "riemdp_error_unsupported")
  expect_error(fit(subset = ~ as.character(x)), class = "riemdp_error_unsupported")
  expect_error(fit(weights = ~ bs(w, 3), bounds = c(around, list(w = c(0, 3)))), class = "riemdp_error_unsupported")
  for (method in c("recentred", "statistics", "theil_sen", "kng", "paper")) {
    expect_error(fit(subset = ~ x > 0, method = method), class = "riemdp_error_unsupported")
  }
  for (method in c("adassp", "boosted", "newton", "descent")) {
    expect_error(fit(subset = ~ x > 0, method = method, delta = 1e-6), class = "riemdp_error_unsupported")
  }
  expect_error(dp_lm(y ~ x, chunks(list(d)), 1, bounds = around, subset = ~ x > 0), class = "riemdp_error_unsupported")
  made <- fit(subset = ~ x > 0)
  expect_error(dp_residual_scale(made, d, 1), class = "riemdp_error_unsupported")
  expect_error(confint(made, about = "population"), class = "riemdp_error_unsupported")
})
