# dp_lm(): formula and bounds, methods, what the object holds, bad input, ledger.

wine_names <- c("fixed_acidity", "density", "pH", "residual_sugar")
z_scores <- function(v) (v - mean(v)) / sqrt(mean((v - mean(v))^2))

wine_rows <- function(n) cbind(data.frame(alcohol = red_wine$alcohol[1:n]), lapply(red_wine[1:n, wine_names], z_scores))

wine_bounds <- c(list(alcohol = c(8, 14)), sapply(wine_names, function(name) c(center = 0, scale = 1), simplify = FALSE))

wine_formula <- cbind(fixed_acidity, density, pH, residual_sugar) ~ alcohol

# mean squared errors of draws of the method that dp_lm() takes, without its overhead; alcohol as it is moved into its range
wine_errors <- function(n, draws, ..., method = "auto", seed = 1, guess = "trusted") {
  z <- wine_rows(n)
  fit <- dp_lm(wine_formula, z, 2, bounds = wine_bounds, method = method, guess = guess)
  spec <- riemdp:::linear_terms(wine_formula, z)
  records <- riemdp:::linear_records(fit$columns, riemdp:::linear_bounds(spec, wine_bounds), riemdp:::linear_values(spec, z, globalenv()))
  used <- fit$bounds$y # the guess as released: what a fit is in units of
  line <- fit$scaled_coefficients * used["scale", ]
  line[, 1] <- line[, 1] + used["center", ]
  expect_equal(predict(fit, z), t(line %*% records$x), ignore_attr = TRUE)
  ask <- riemdp:::linear_ask(n, 1, 4, 2, 0, method, 0.3, "auto", guess)
  plan <- riemdp:::plan_linear(ask)
  expect_identical(plan$method, fit$method)
  with_simulation(seed, vapply(seq_len(draws), function(i) {
    out <- riemdp:::release_linear(records$x, records$y, plan, ask)
    guess <- out$guess %||% list(center = 0, scale = 1)
    b <- out$b * guess$scale
    b[, 1] <- b[, 1] + guess$center
    mean((records$y - b %*% records$x)^2)
  }, 0))
}

cars_bounds <- list(wt = c(1, 6), mpg = c(center = 20, scale = 6))

test_that("the wines: the errors that the public rule is to have", {
  skip_if(quick())
  plain <- function(n, x) mean(stats::residuals(stats::lm(as.matrix(wine_rows(n)[wine_names]) ~ x))^2)
  expect_equal(plain(100, red_wine$alcohol[1:100]), 0.87359, tolerance = 1e-5)
  expect_equal(plain(1599, red_wine$alcohol), 0.92649, tolerance = 1e-5)
  expect_equal(plain(1599, pmin(14, red_wine$alcohol)), 0.92598, tolerance = 1e-5) # alcohol moved into its range
  small <- wine_errors(100, 3000)
  expect_lt(mean(small), 0.982) # .9788 measured over 9,000 draws; standard error .0007, so 1e-5
  expect_lt(mean(wine_errors(1599, 300, method = "objective")), 0.9278) # .92757 over 1,200; standard error 4e-5
  expect_lt(mean(wine_errors(1599, 300)), 0.9279) # with the insurance against a high R-squared .92767
  expect_lt(mean(wine_errors(1599, 300, guess = "checked")), 0.9281) # residual sugar has a heavy tail: not to be searched
  # plain Huber is worse by more than their difference's standard error times 4.5
  huber <- wine_errors(100, 3000, method = "huber")
  expect_gt(mean(huber), mean(small) + 0.007)
})

test_that("a trusted guess is taken as it is, and all of epsilon is the fit's", {
  set.seed(1)
  data <- data.frame(x = stats::runif(1000, -1, 1))
  data$y <- data$x + stats::rnorm(1000) + 50
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  expect_warning(fit <- with_simulation(1, dp_lm(y ~ x, data, 1, bounds = bounds, guess = "trusted")), class = "riemdp_warning_guess")
  expect_null(fit$details$guess)
  expect_identical(fit$bounds$y["center", ], 0)
  expect_no_match(paste(utils::capture.output(explain(fit)), collapse = " "), "was checked")
  trusted <- dp_lm_plan(1000, 1, 1, 1, guess = "trusted")
  checked <- dp_lm_plan(1000, 1, 1, 1)
  expect_null(attr(trusted, "check"))
  at <- function(plan) plan$expected_error[plan$method == "objective"]
  expect_lt(at(trusted), at(checked))
  n_epsilon <- 1000 * (1 - attr(checked, "check")$check - attr(checked, "check")$window$check) # what the checks leave
  expect_equal(at(checked), at(dp_lm_plan(1000, 1, 1, n_epsilon / 1000, guess = "trusted")), tolerance = 1e-6)
  expect_error(dp_lm(y ~ x, data, 1, bounds = bounds, guess = "no"), class = "riemdp_error_argument")
})

test_that("the published mechanism is reproduced, and labelled not private", {
  z <- as.data.frame(lapply(red_wine[1:100, ], z_scores))
  bounds <- wine_bounds
  bounds$alcohol <- c(-1, 1) # a scale only: the published mechanism moves nothing
  y <- as.matrix(z[wine_names])
  release <- function() dp_lm(wine_formula, z, 2, bounds = bounds, method = "paper")
  expect_identical(guarantee(release())$label, "none")
  expect_match(guarantee(release())$reason, "published")
  draws <- if (quick()) 100 else 300
  error <- with_simulation(2, vapply(seq_len(draws), function(i) mean((y - cbind(1, z$alcohol) %*% coef(release()))^2), 0))
  expect_lt(abs(mean(error) - 1.048), 5 * stats::sd(error) / sqrt(draws)) # 1.048 over 5,000 draws
  if (!quick()) expect_lt(abs(stats::median(error) - 1.016), 0.025)
})

test_that("coefficients are on the variables' scales", {
  set.seed(1)
  n <- 20000
  data <- data.frame(u = stats::runif(n, 10, 30), kind = sample(c("a", "b", "c"), n, TRUE), flag = sample(c(TRUE, FALSE), n, TRUE))
  data$y <- 3 + 0.5 * data$u + 2 * (data$kind == "b") - 4 * data$flag + stats::rnorm(n, sd = 0.5)
  data$z <- -data$y
  bounds <- list(u = c(10, 30), kind = c("a", "b", "c"), flag = c("FALSE", "TRUE"), y = c(center = 12, scale = 3), z = c(-30, 6))
  for (method in c("objective", "recentred", "huber", "statistics", "adassp", "boosted", "newton", "gaussian")) {
    fit <- dp_lm(cbind(y, z) ~ u + kind + flag, data, 20, if (method %in% c("adassp", "boosted", "newton", "gaussian")) 1e-6 else 0, bounds, method = method)
    want <- coef(stats::lm(cbind(y, z) ~ u + kind + flag, data))
    expect_identical(dimnames(coef(fit)), dimnames(want))
    expect_lt(max(abs(coef(fit) - want) / c(1, 0.05, 0.3, 0.3, 0.3)), if (method %in% c("objective", "recentred")) 0.2 else 2)
  }
  # an interaction and a function of a variable, by their own columns
  fit <- dp_lm(y ~ log(u) * flag, data, 20, bounds = list(`log(u)` = log(c(10, 30)), flag = c("FALSE", "TRUE"), y = bounds$y))
  want <- coef(stats::lm(y ~ log(u) * flag, data))
  expect_identical(names(coef(fit)), names(want))
  at <- data[1:50, ]
  expect_lt(max(abs(predict(fit, at) - stats::predict(stats::lm(y ~ log(u) * flag, data), at))), 0.5)
  # the intercept alone
  expect_equal(unname(coef(dp_lm(y ~ 1, data, 50, bounds = bounds["y"]))), mean(data$y), tolerance = 0.05)
})

test_that("a row with anything missing counts with a fixed contribution, and n stays", {
  data <- mtcars[c("mpg", "wt")]
  broken <- data
  broken$mpg[3] <- NA
  broken$wt[7] <- NaN
  broken$wt[9] <- Inf
  broken$mpg[9] <- -Inf
  spec <- riemdp:::linear_terms(mpg ~ wt, data)
  public <- riemdp:::linear_bounds(spec, cars_bounds)
  columns <- riemdp:::linear_columns(spec, public)
  records <- riemdp:::linear_records(columns, public, riemdp:::linear_values(spec, broken, globalenv()))
  expect_identical(records$x[, c(3, 7, 9)], matrix(0, 2, 3))
  expect_identical(records$y[, c(3, 7, 9)], rep(0, 3))
  expect_true(all(abs(records$x) <= 1))
  for (method in c("objective", "recentred", "statistics", "output", "kng")) {
    fit <- dp_lm(mpg ~ wt, broken, 1, bounds = cars_bounds, method = method)
    expect_identical(nobs(fit), 32)
    expect_true(all(is.finite(coef(fit))))
  }
  # predictors outside their range are moved to its end, responses to their limit
  data$wt[1] <- 1e9
  data$mpg[2] <- -1e300
  records <- riemdp:::linear_records(columns, public, riemdp:::linear_values(spec, data, globalenv()), reach = 4)
  expect_equal(records$x[2, 1], 1)
  expect_equal(records$y[1, 2], -4)
})

test_that("any data of the right shape give a release", {
  bounds <- list(x = c(0, 1), y = c(-1, 1))
  for (x in list(c(1, NA), rep(0.5, 5), c(NA, NA, NA), c(Inf, -Inf), 1, c(1e308, -1e308), c(NaN, 2))) {
    data <- data.frame(x = as.double(x), y = seq_along(x) * 1e200)
    for (method in c("auto", "objective", "recentred", "huber", "statistics", "adassp", "boosted", "newton", "descent", "gaussian", "theil_sen", "output",
                     "kng", "paper")) {
      fit <- dp_lm(y ~ x, data, 0.5, if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-5 else 0, bounds, method = method)
      expect_true(all(is.finite(coef(fit))) || method == "paper")
    }
  }
  # more parameters than records
  wide <- as.data.frame(matrix(0.5, 3, 6))
  fit <- dp_lm(V1 ~ ., wide, 1, bounds = sapply(names(wide), function(v) c(0, 1), simplify = FALSE))
  expect_length(coef(fit), 6)
  expect_output(print(fit), "LITTLE MORE")
})

test_that("what a formula takes out again asks for nothing", {
  set.seed(1)
  d <- data.frame(x = stats::runif(60), z = NA_real_, y = stats::runif(60))
  bounds <- list(x = c(0, 1), y = c(0, 1))
  fit <- function(formula, bounds) with_simulation(1, dp_lm(formula, d, epsilon = 5, bounds = bounds))
  plain <- fit(y ~ x, bounds)
  # a cell that isn't used makes no row incomplete, and has no range
  for (f in list(y ~ . - z, y ~ x - z, y ~ x * z - z - x:z)) {
    expect_identical(coef(fit(f, bounds)), coef(plain))
    expect_identical(coef(fit(f, c(bounds, list(z = c(0, 1))))), coef(plain))
  }
  expect_identical(names(coef(fit(y ~ x - x, bounds["y"]))), "(Intercept)")
  expect_identical(coef(fit(y ~ x + bs(z) - bs(z), c(bounds, list(z = c(0, 1))))), coef(plain))
  expect_identical(predict(fit(y ~ . - z, bounds), d[1, "x", drop = FALSE]), predict(plain, d[1, ]))
})

test_that("bad input is refused by class, and no message shows a record", {
  bad <- function(class, expr) expect_error(expr, class = paste0("riemdp_error_", class))
  fit <- function(formula = mpg ~ wt, data = mtcars, epsilon = 1, bounds = cars_bounds, ...) dp_lm(formula, data, epsilon, bounds = bounds, ...)
  for (epsilon in list(0, -1, NA, NaN, Inf, "1", c(1, 2))) bad("argument", fit(epsilon = epsilon))
  for (delta in list(-0.1, 1, NA)) bad("argument", fit(delta = delta))
  bad("unsupported", fit(method = "adassp"))
  bad("unsupported", fit(method = "newton"))
  bad("argument", fit(method = "adassp", delta = 1e-309))
  expect_identical(fit(delta = 1e-309)$guarantee$delta, 0)
  bad("argument", fit(method = "none such"))
  bad("argument", fit(bounds = cars_bounds["wt"]))
  bad("argument", fit(bounds = c(cars_bounds, list(cyl = c(4, 8)))))
  bad("argument", fit(bounds = list(wt = c(6, 1), mpg = c(0, 40))))
  bad("argument", fit(bounds = list(wt = c(1, Inf), mpg = c(0, 40))))
  bad("argument", fit(bounds = list(wt = c(1, 6), mpg = c(center = 20, scale = 0))))
  bad("argument", fit(bounds = list(wt = c(1, 6), mpg = 20)))
  bad("unsupported", fit(mpg ~ scale(wt), bounds = list(`scale(wt)` = c(-2, 2), mpg = c(0, 40))))
  bad("unsupported", fit(mpg ~ I(poly(wt, 2))))
  bad("unsupported", fit(mpg ~ wt - 1))
  bad("unsupported", fit(mpg ~ wt + offset(hp)))
  expect_error(fit(mpg ~ mpg), "`mpg` stands on both sides", class = "riemdp_error_argument")
  expect_error(fit(cbind(mpg, wt) ~ hp * wt), "`wt` stands on both sides", class = "riemdp_error_argument")
  expect_error(fit(mpg ~ mpg + wt), "`mpg` stands on both sides", class = "riemdp_error_argument")
  expect_error(fit(`a b` ~ `a b` + wt, stats::setNames(mtcars, c("a b", names(mtcars)[-1]))), "`a b` stands on both sides",
               class = "riemdp_error_argument")
  bad("unsupported", fit(mpg ~ wt:hp, bounds = c(cars_bounds, list(hp = c(50, 350)))))
  bad("argument", fit(mpg ~ nowhere, bounds = list(mpg = c(0, 40), nowhere = c(0, 1))))
  bad("shape", fit(mpg ~ factor(cyl), bounds = list(mpg = c(0, 40), `factor(cyl)` = c(0, 1))))
  bad("argument", fit(~wt))
  bad("argument", fit("mpg"))
  bad("argument", fit(data = list(mpg = 1, wt = 2)))
  bad("shape", fit(data = mtcars[0, ]))
  bad("argument", fit(r_squared = 1))
  bad("argument", fit(extra = 1))
  bad("argument", dp_lm(mpg ~ wt, mtcars, 1))
  bad("unsupported", fit(mpg ~ wt + hp, bounds = c(cars_bounds, list(hp = c(50, 350))), method = "paper"))
  bad("unsupported", fit(mpg ~ factor(cyl) * factor(gear), method = "kng",
                         bounds = list(mpg = c(0, 40), `factor(cyl)` = c("4", "6", "8"), `factor(gear)` = c("3", "4", "5"))))
  secret <- data.frame(y = c(31337.25, 1), x = I(diag(2)))
  message <- tryCatch(dp_lm(y ~ x, secret, 1, bounds = list(x = c(0, 1), y = c(0, 1))), error = conditionMessage)
  expect_false(grepl("31337", message))
  # a function of the caller under the name of a base function isn't used
  sqrt <- function(x) x - mean(x)
  expect_equal(predict(with_simulation(3, dp_lm(mpg ~ sqrt(wt), mtcars, 1e3, bounds = list(`sqrt(wt)` = c(1, 2.5), mpg = c(0, 40)))),
                       data.frame(wt = 4)), stats::predict(stats::lm(mpg ~ base::sqrt(wt), mtcars), data.frame(wt = 4)),
               tolerance = 0.1, ignore_attr = TRUE)
})

# the variable's values as the fit sees them
seen <- function(formula, data) {
  riemdp:::linear_values(riemdp:::linear_terms(formula, data), data, globalenv())$x[[1]]
}

test_that("no term of the formula mixes rows, by methods of classes neither", {
  d <- data.frame(y = 1:6, x = c(0.31, 0.12, 0.55, 0.44, 0.93, 0.78), g = factor(c("b", "c", "b", "c", "b", "c")))
  d$o <- factor(d$g, ordered = TRUE)
  d$start <- as.POSIXct("2020-01-01", tz = "UTC")
  d$end <- d$start + 86400 * d$x
  d$day <- as.Date("2020-01-01") + 1:6
  d$list <- as.list(d$x)
  d$text <- as.character(d$x)
  # codes and order of levels, types that depend on the rows, calls that may mix rows, data in the formula
  for (f in list(y ~ as.numeric(factor(x)), y ~ I(o > "b"), y ~ ifelse(x > 0, factor(x), 0), y ~ I(factor(x) > 2), y ~ I(g + "1"),
                 y ~ factor(x, labels = lab), y ~ as.numeric(as.factor(end)), y ~ I(x == g), y ~ I("a" == 1), y ~ log(x, base = c(2, 3)),
                 y ~ as.numeric(round(end - start)) + I(poly(x, 2)), y ~ as.numeric(x - 1, units = "mins"), y ~ as.numeric(x, "mins"),
                 y ~ pmin(x, 1, na.rm = x),
                 eval(bquote(y ~ I(x - .(d$x)))))) {
    expect_error(seen(f, d), class = "riemdp_error_unsupported")
  }
  d$gap <- d$end - d$start
  # replacing a record leaves what is made of the others
  other <- d
  other$x[1] <- 9
  other$end[1] <- d$start[1] + 1
  other$g <- factor(c("a", "c", "b", "c", "b", "c"))
  other$gap <- other$end - other$start
  other$list[[1]] <- "none"
  other$text[1] <- "none"
  for (f in list(y ~ factor(x), y ~ as.numeric(end - start), y ~ I(end > start), y ~ as.character(g), y ~ I(g == "b"), y ~ ifelse(g == "b", x, 0),
                 y ~ as.numeric(text), y ~ as.numeric(day), y ~ I(day - day), y ~ is.na(end), y ~ log(x, base = 2), y ~ pmin(x, 0.5), y ~ g,
                 y ~ as.numeric(gap, units = "hours"), y ~ as.numeric(gap), y ~ as.integer(g), y ~ ifelse(x > 9, "big", x), y ~ as.numeric(list),
                 y ~ I(day > text), y ~ I(end > text), y ~ as.numeric(as.character(end)), y ~ as.numeric(g) + as.numeric(o), y ~ is.na(list))) {
    one <- seen(f, d)
    expect_length(one, 6)
    expect_identical(class(one), class(seen(f, other)))
    expect_identical(one[-1], seen(f, other)[-1])
    one_row <- seen(f, d[2, ])
    expect_identical(one_row, one[2])
  }
  expect_equal(seen(y ~ as.numeric(end - start), d), 86400 * d$x, tolerance = 1e-9)
  expect_equal(seen(y ~ as.numeric(gap), d), 86400 * d$x, tolerance = 1e-9)
  expect_equal(seen(y ~ as.numeric(gap, units = "hours"), d), 24 * d$x, tolerance = 1e-9)
  expect_equal(seen(y ~ as.numeric(list), d), d$x)
  expect_identical(seen(y ~ ifelse(x > 0.5, "hi", g), d), ifelse(d$x > 0.5, "hi", as.character(d$g)))
  expect_identical(seen(y ~ ifelse(is.na(x) | x > 0.5, NA, x), d), ifelse(d$x > 0.5, NA, d$x))
  # the sample's z-scores are told wherever the formula uses them
  z <- transform(mtcars, wt = 0)
  z$wt <- scale(mtcars$wt)
  fit <- dp_lm(mpg ~ I(2 * wt), z, 1, bounds = list(`I(2 * wt)` = c(-5, 5), mpg = c(0, 40)))
  expect_match(fit$guarantee$assumptions[2], "scale")
})

test_that("a replaced record, whatever is in it, changes the value alone", {
  set.seed(11)
  weird <- c(NA, NaN, Inf, -Inf, 0, 1e308, -1e308, 1e-320, 1e160, 1e6)
  d <- data.frame(y = rnorm(20), x = rnorm(20), z = rnorm(20), k = sample(3, 20, TRUE), g = sample(c("a", "b", NA), 20, TRUE),
                  text = as.character(round(rnorm(20), 1)))
  other_record <- function(d) {
    i <- sample(20, 1)
    for (name in c("y", "x", "z")) d[i, name] <- sample(weird, 1)
    d$k[i] <- sample(c(NA, -5L, 2L), 1)
    d$g[i] <- sample(c("zzz", NA, "a"), 1)
    d$text[i] <- sample(c("", "1e400", "NaN", "yes"), 1)
    d
  }
  told <- function(d, formula, bounds, method) {
    said <- character()
    r <- withCallingHandlers(
      dp_lm(formula, d, 1, delta = if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-6 else 0, bounds = bounds, method = method),
      warning = function(w) said <<- c(said, conditionMessage(w)), message = function(m) said <<- c(said, conditionMessage(m)))
    r <- unclass(r)
    r$details[c("moments", "squares", "ridge", "scales")] <- NULL # released, too
    if (method == "recentred") { # its later rules and draws follow from the released scales
      r$details <- names(r$details)
      r$draws <- names(r$draws)
    }
    list(said, r[setdiff(names(r), c("value", "scaled_coefficients"))], dimnames(as.matrix(r$value)), all(is.finite(r$value)))
  }
  public <- list(y = c(center = 0, scale = 1), `log(y)` = c(-3, 3))
  ranges <- list(x = c(-1, 1), `log(x)` = c(-2, 1), `I(1/x)` = c(-5, 5), `ifelse(x > 0, z, 1)` = c(-1, 1), `factor(k)` = c("1", "2", "3"),
                 g = c("a", "b"), `as.numeric(text)` = c(-2, 2), z = c(0, 1e300))
  for (method in c("objective", "recentred", "huber", "statistics", "adassp", "boosted", "output", "kng")) for (round in seq_len(if (quick()) 2 else 6)) {
    terms <- sample(names(ranges), if (method == "kng") 1 else 2)
    if (method == "kng" && terms == "factor(k)") next
    left <- sample(names(public), 1)
    formula <- stats::as.formula(paste(left, "~", paste(terms, collapse = "+")))
    bounds <- c(public[left], ranges[terms])
    one <- told(d, formula, bounds, method)
    expect_true(one[[4]])
    expect_length(one[[1]], 0)
    expect_identical(told(other_record(d), formula, bounds, method), one)
  }
})

test_that("a fit without predictors is one like others", {
  for (method in c("objective", "statistics", "output", "recentred", "huber")) {
    fit <- dp_lm(mpg ~ 1, mtcars, 8, bounds = list(mpg = c(0, 40)), method = method)
    expect_named(coef(fit), "(Intercept)")
    expect_identical(predict(fit, data.frame(a = 1:3)), rep(unname(coef(fit)), 3))
    expect_identical(dim(predict(fit, data.frame(a = 1:3), interval = "noise")), c(3L, 3L))
    expect_identical(tidy(fit)$term, "(Intercept)")
    expect_identical(dim(confint(fit)), c(1L, 2L))
  }
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit), fit)
  expect_output(print(summary(fit)), "Intercept")
  fit <- dp_lm(cbind(mpg, qsec) ~ 1, mtcars, 8, bounds = list(mpg = c(0, 40), qsec = c(10, 25)))
  expect_identical(dim(predict(fit, data.frame(a = 1:3))), c(3L, 2L))
})

test_that("what a fitted model answers and a release can't is refused with the reason", {
  fit <- dp_lm(cbind(mpg, qsec) ~ wt, mtcars, 4, bounds = c(cars_bounds, list(qsec = c(10, 25))))
  for (f in list(stats::anova, stats::logLik, stats::AIC, stats::BIC, stats::deviance, stats::sigma, stats::df.residual, stats::hatvalues,
                 stats::influence, stats::residuals, stats::model.frame, stats::model.matrix, augment, stats::update)) {
    expect_error(f(fit), class = "riemdp_error_unsupported")
  }
  expect_identical(sqrt(diag(vcov(fit))), stats::setNames(tidy(fit)$std.error, rownames(confint(fit))))
  expect_equal(unname(confint(fit)[, 2] - confint(fit)[, 1]), unname(2 * qnorm(0.975) * sqrt(diag(vcov(fit)))))
  expect_s3_class(terms(fit), "terms")
  expect_error(predict(fit, mtcars, se.fit = TRUE), class = "riemdp_error_unsupported")
  # a message says what was wrong, not that the release was broken
  expect_error(confint(fit, type = "bound", level = 2), "level")
})

test_that("labels promise what is proven and no more", {
  # its last trials would take long for some records, whatever these are
  bad_kng <- function(data, epsilon) {
    expect_error(dp_lm(mpg ~ wt, data, epsilon, bounds = cars_bounds, method = "kng"), class = "riemdp_error_unsupported")
  }
  bad_kng(rbind(mtcars, mtcars), 2)
  bad_kng(mtcars, 1.5)
  for (method in c("auto", "objective", "recentred", "huber", "statistics", "output", "kng")) {
    g <- guarantee(dp_lm(mpg ~ wt, mtcars, 1.2, bounds = cars_bounds, method = method))
    expect_identical(g[c("label", "epsilon", "delta", "adjacency")],
                     structure(list(label = "pure", epsilon = 1.2, delta = 0, adjacency = "replace-one"), class = "riemdp_guarantee")[1:4])
  }
  g <- guarantee(dp_lm(mpg ~ wt, mtcars, 1.5, 1e-5, cars_bounds, method = "adassp"))
  expect_identical(g$label, "approx")
  expect_lte(riemdp:::gdp_epsilon(g$mu, 1e-5), 1.5)
  expect_identical(guarantee(dp_lm(mpg ~ wt, mtcars, 1, bounds = "sample"))$label, "none")
  expect_identical(guarantee(with_simulation(1, dp_lm(mpg ~ wt, mtcars, 1, bounds = cars_bounds)))$label, "none")
  scaled <- mtcars
  scaled$wt <- scale(scaled$wt)[, 1]
  attr(scaled$wt, "scaled:center") <- 3.2
  g <- guarantee(dp_lm(mpg ~ wt, scaled, 1, bounds = list(wt = c(-3, 3), mpg = c(0, 40))))
  expect_match(g$assumptions, "scaled rows", all = FALSE)
})

test_that("the object holds no record and no environment", {
  secret <- 31337.0625
  data <- data.frame(y = c(secret, 1:99), x = c(secret / 7, 1:99))
  hidden <- new.env()
  hidden$table <- data
  formula <- y ~ x
  environment(formula) <- hidden
  holds <- function(bytes, value) {
    pattern <- writeBin(value, raw(), endian = "big")
    first <- which(bytes == pattern[1])
    any(vapply(first, function(i) i + 7 <= length(bytes) && identical(bytes[i:(i + 7)], pattern), NA))
  }
  for (method in c("objective", "recentred", "statistics", "adassp", "boosted", "output", "kng")) {
    fit <- dp_lm(formula, data, if (method == "kng") 0.3 else 0.5, if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-5 else 0,
                 list(x = c(0, 100), y = c(0, 100)),
                 method = method)
    bytes <- serialize(list(fit, summary(fit)), NULL, ascii = FALSE, xdr = TRUE)
    expect_false(holds(bytes, secret) || holds(bytes, secret / 7))
    expect_true(holds(bytes, unname(coef(fit))[1])) # the search can find
    expect_lt(length(bytes), 60000)
    expect_false(any(grepl("hidden", rawToChar(bytes[bytes != 0]), useBytes = TRUE)))
    # nothing has a place for each record
    long <- unlist(rapply(unclass(fit), length, how = "unlist"))
    expect_false(any(long == nrow(data)))
  }
  expect_error(residuals(fit), class = "riemdp_error_unsupported")
  expect_error(fitted(fit), class = "riemdp_error_argument")
  expect_error(predict(fit), class = "riemdp_error_argument")
})

test_that("it behaves as a fitted model does", {
  fit <- dp_lm(cbind(mpg, qsec) ~ wt, mtcars, 2, bounds = c(cars_bounds, list(qsec = c(14, 24))))
  again <- unserialize(serialize(fit, NULL))
  expect_identical(predict(again, mtcars), predict(fit, mtcars))
  expect_identical(fitted(fit, mtcars), predict(fit, mtcars))
  expect_equal(predict(fit, data.frame(wt = 3)), matrix(c(1, 3) %*% coef(fit), 1, dimnames = list(NULL, c("mpg", "qsec"))))
  # what lies outside is moved, and said unless it was asked for
  expect_warning(moved <- predict(fit, data.frame(wt = c(9, 2))), "`wt`", class = "riemdp_warning_range")
  expect_identical(moved, predict(fit, data.frame(wt = c(6, 2))))
  expect_silent(predict(fit, data.frame(wt = c(1, 6, NA))))
  expect_identical(expect_silent(predict(fit, data.frame(wt = 9), outside = "move")), moved[1, , drop = FALSE])
  expect_identical(expect_silent(fitted(fit, data.frame(wt = 9), outside = "move")), moved[1, , drop = FALSE])
  expect_equal(predict(fit, data.frame(wt = 9), outside = "extend")[1, ], drop(c(1, 9) %*% coef(fit)))
  band <- predict(fit, mtcars, interval = "noise")
  expect_identical(dim(band), c(32L, 2L, 3L))
  expect_true(all(band[, , "lower"] < band[, , "fit"]))
  expect_identical(dim(confint(fit)), c(4L, 2L))
  expect_true(all(confint(fit, type = "bound")[, 1] < confint(fit)[, 1]))
  expect_identical(nrow(tidy(fit)), 4L)
  expect_identical(nrow(glance(fit)), 1L)
  expect_equal(formula(fit), cbind(mpg, qsec) ~ wt, ignore_attr = TRUE)
  expect_output(print(fit), "Private linear regression of 32 records")
  expect_output(print(summary(fit)), "std.error")
  expect_output(explain(fit), "linear-regression.md")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit), fit)
  two <- dp_lm(mpg ~ wt + hp, mtcars, 2, bounds = c(cars_bounds, list(hp = c(50, 350))))
  expect_identical(plot(two), two)
  # pictures leave the caller's layout as it is, and take its next place
  one <- dp_lm(mpg ~ wt, mtcars, 2, bounds = cars_bounds)
  kept <- c("mfrow", "mar", "mgp")
  before <- graphics::par(kept)
  plot(fit)
  expect_identical(graphics::par(kept), before)
  graphics::par(mfrow = c(2, 2))
  plot(one)
  expect_identical(graphics::par("mfg"), c(1L, 1L, 2L, 2L))
  plot(one)
  expect_identical(graphics::par("mfg"), c(1L, 2L, 2L, 2L))
  plot(fit)
  expect_identical(graphics::par("mfg"), c(2L, 2L, 2L, 2L))
  expect_identical(graphics::par("mfrow"), c(2L, 2L))
  graphics::par(mfrow = c(1, 1))
  plan <- dp_lm_plan(100, 1, epsilon = 1, delta = 1e-6)
  expect_output(print(plan), "Chosen")
  expect_identical(plot(plan), plan)
  expect_identical(sum(plan$chosen), 1L)
})

test_that("intervals cover what they are about", {
  set.seed(4)
  n <- 300
  data <- data.frame(x = stats::runif(n, -1, 1))
  data$y <- 0.3 + data$x + stats::rnorm(n) * 0.7
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  draws <- if (quick()) 60 else 150
  # the same loss and ridge without noise
  rule <- riemdp:::perturbation_rule(n, 1, 1, 1)
  target <- .Call(riemdp:::riemdp_perturbed_fit_nonprivate, rbind(1, data$x), rbind(data$y), rbind(rule$ridge), 0 * rbind(rule$ridge),
                  0 * rbind(rule$ridge), riemdp:::kernel_loss(rule), riemdp:::newton_solver(1e-10, 2))[[1]]
  covered <- function(method, target, type, epsilon = 1) {
    with_simulation(5, mean(vapply(seq_len(draws), function(i) {
      fit <- dp_lm(y ~ x, data, epsilon, bounds = bounds, method = method)
      ci <- confint(fit, level = 0.9, type = type)
      mean(ci[, 1] <= target & target <= ci[, 2])
    }, 0)))
  }
  expect_gte(covered("objective", drop(target), "bound"), 0.9 - 4 * sqrt(0.09 / draws))
  # nominal: the law of the noise is right and only linearised
  expect_gt(covered("statistics", coef(stats::lm(y ~ x, data)), "nominal", 10), 0.8)
  expect_gt(covered("objective", drop(target), "nominal"), 0.8)
})

test_that("a released scale of residuals is hardly ever far above them, wherever they lie on its grid", {
  for (q in c(1, 3, 10)) for (n in c(600, 1000, 3000, 6000, 10000, 15000, 20000, 1e5)) {
    share <- riemdp:::recentring_shares(riemdp:::linear_ask(n, 1, q, 1, 0, "recentred", 0.3, "auto"))
    grid <- riemdp:::SCALE_GRID
    limit <- grid * sqrt(stats::qchisq(share$fraction, q))
    for (size in 2^(0:7 / 16)) {
      score <- riemdp:::scale_scores(n * stats::pchisq((limit / size)^2, q), share$fraction * n) + 2 * riemdp:::SCALE_WEIGHT / share$scale
      weight <- exp(share$scale / 2 * (score - max(score)))
      expect_lt(sum(weight[grid > 4 * size]) / sum(weight), if (n < 1e4) 0.005 else 1e-5)
    }
  }
})

test_that("a high R-squared is what re-centring is for", {
  skip_if(quick())
  set.seed(6)
  n <- 1000
  x <- stats::runif(n, -1, 1)
  data <- data.frame(x = x, y = 0.2 + sqrt(3 * 0.95) * x + stats::rnorm(n) * sqrt(0.05))
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  want <- stats::fitted(stats::lm(y ~ x, data))
  excess <- function(...) with_simulation(7, mean(vapply(1:200, function(i) {
    mean((predict(dp_lm(y ~ x, data, 1, bounds = bounds, ...), data) - want)^2)
  }, 0)))
  # .20 and .16 of it are expected; over 200 draws these ratios have standard deviations of .027 and .018
  plain <- excess(method = "objective")
  expect_lt(excess(), 0.34 * plain) # the insurance
  expect_lt(excess(method = "recentred", r_squared = 0.95), 0.25 * plain)
  fit <- dp_lm(y ~ x, data, 1, bounds = bounds, r_squared = 0.95)
  expect_identical(fit$method, "recentred")
  expect_true(fit$details$unit < 1)
})

test_that("shares of re-centring's rounds never add up to more than epsilon, whatever is released", {
  grid <- expand.grid(n = c(3, 200, 1000, 1e6), epsilon = c(0.1, 1, 10), d = c(0, 3), q = c(1, 4), r_squared = c(0.3, 0.95))
  for (i in seq_len(nrow(grid))) {
    ask <- riemdp:::linear_ask(grid$n[i], grid$d[i], grid$q[i], grid$epsilon[i], 0, "recentred", grid$r_squared[i], "closed")
    if (!is.null(riemdp:::linear_recentred$unsupported(ask))) next
    share <- riemdp:::recentring_shares(ask)
    most <- riemdp:::most_rounds(share)
    expect_gte(most, 1)
    for (rounds in seq_len(most)) {
      last <- riemdp:::recentring_last(ask, share, rounds)
      first <- riemdp:::perturbation_rule(ask$n, share$first * ask$epsilon, ask$d, ask$q, "closed")
      expect_lte(rounds * (first$epsilon + share$scale * ask$epsilon) + last$epsilon, ask$epsilon)
      expect_gte(last$epsilon, 0.49 * ask$epsilon)
    }
  }
  # no insurance where it is dear
  expect_false(riemdp:::insured_fit(riemdp:::linear_ask(100, 1, 1, 1, 0, "auto", 0.3, "auto")))
  expect_true(riemdp:::insured_fit(riemdp:::linear_ask(1000, 1, 1, 1, 0, "auto", 0.3, "auto")))
})

test_that("the gradient mechanism draws from its density", {
  set.seed(8)
  n <- 30
  y <- rbind(stats::rnorm(n) + 0.5)
  y[1] <- 40
  x <- rbind(rep(1, n))
  ask <- riemdp:::linear_ask(n, 0, 1, 2, 0, "kng", 0.3, "auto")
  rule <- riemdp:::kng_rule(ask)
  draws <- if (quick()) 300 else 1500
  b <- with_simulation(1, replicate(draws, riemdp:::linear_kng$release(x, y, list(rule = rule), ask)))
  radius <- rule$radius / sqrt(rule$ridge[1])
  at <- seq(-radius, radius, length.out = 20001)
  size <- vapply(at, function(z) abs(sum(pmax(-rule$tau, pmin(rule$tau, y - z))) - rule$ridge[1] * z), 0)
  mass <- cumsum(exp(-rule$rate * size))
  expect_gt(stats::ks.test(b, stats::approxfun(at, mass / mass[length(mass)]))$p.value, 1e-5)
  # two coefficients, on the boundary of a small ball too
  x <- rbind(1, stats::runif(n, -1, 1))
  y <- rbind(2 + x[2, ] + stats::rnorm(n))
  call <- function(radius, trials, rate) .Call(riemdp:::riemdp_release_clipped_kng, x, y, rbind(c(2, 2)), rbind(c(0, 0)),
                                 riemdp:::kernel_loss(list(tau = 1, g = riemdp:::huber_loss())), riemdp:::newton_solver(1e-6, 2),
                                 list(rate = rate, radius = radius, trials = trials[1], last = trials[2]), TRUE)
  # by the envelope that suits the records, and by the public one
  for (case in list(list(2, c(1e5, 0)), list(20, c(1e5, 0)), list(2, c(0, 1e7), 0.1), list(200, c(0, 1e7), 0.03))) {
    radius <- case[[1]]
    rate <- if (length(case) > 2) case[[3]] else 0.4
    draws <- if (radius == 200) 12000 else if (quick()) 300 else 1500
    b <- with_simulation(9, replicate(draws, call(radius, case[[2]], rate)))
    side <- radius / sqrt(2)
    grid <- expand.grid(a = seq(-side, side, length.out = 301), b = seq(-side, side, length.out = 301))
    grid <- as.matrix(grid[grid$a^2 + grid$b^2 <= side^2, ])
    e <- rep(1, nrow(grid)) %*% y - grid %*% x
    g <- pmax(pmin(e, 1), -1) %*% t(x) - 2 * grid
    w <- exp(-rate * pmax(abs(g[, 1]), abs(g[, 2])))
    w <- w / sum(w)
    want <- colSums(w * grid)
    sd <- sqrt(colSums(w * grid^2) - want^2)
    expect_lt(max(abs(apply(b, 2, mean) - want) / sd), 5.5 / sqrt(draws) + 0.01)
    # a standard deviation's relative error: below 1/sqrt(draws), for laws with the tails of the exponential
    expect_lt(max(abs(apply(b, 2, stats::sd) / sd - 1)), if (draws > 1e4) 5.5 / sqrt(draws) + 0.003 else 8 / sqrt(draws) + 0.01)
  }
  # the public envelope where it is sharp: all responses far on one side pull with n tau, and the law is a Laplace law around it
  x <- rbind(rep(1, 10))
  y <- rbind(rep(1e3, 10))
  b <- with_simulation(4, replicate(4000, .Call(
    riemdp:::riemdp_release_clipped_kng, x, y, cbind(2), cbind(0), riemdp:::kernel_loss(list(tau = 1, g = riemdp:::huber_loss())),
    riemdp:::newton_solver(1e-6, 2), list(rate = 0.5, radius = 200, trials = 0, last = 1e6), TRUE
  )))
  laplace <- function(z) ifelse(z < 0, exp(z) / 2, 1 - exp(-z) / 2)
  expect_gt(stats::ks.test(0.5 * (2 * b - 10), laplace)$p.value, 1e-5)
})

test_that("the gradient mechanism ends whatever the records are, and its last resort costs less than the rate is rounded down by", {
  # records that say nothing of one direction, and contradict the bounds: the records' own envelope hardly ever accepts
  x <- matrix(1, 2, 60)
  y <- matrix(100, 1, 60)
  ask <- riemdp:::linear_ask(60, 1, 1, 1, 0, "kng", 0.3, "auto")
  rule <- riemdp:::kng_rule(ask)
  setTimeLimit(elapsed = 40)
  on.exit(setTimeLimit(elapsed = Inf))
  expect_length(with_simulation(1, riemdp:::linear_kng$release(x, y, list(rule = rule), ask)), 2)
  ridge <- rbind(rule$ridge)
  last <- function(trials) with_simulation(2, replicate(400, .Call(
    riemdp:::riemdp_release_clipped_kng, x, y, ridge, 0 * ridge, riemdp:::kernel_loss(rule), riemdp:::newton_solver(1e-3, 2),
    list(rate = rule$rate, radius = rule$radius, trials = trials[1], last = trials[2]), TRUE
  )))
  # no trial: uniform where the ridge's gauge is at most 1/rate
  gauge <- apply(abs(last(c(0, 0))[1, , ]) * rule$ridge * rule$rate, 2, max)
  expect_gt(stats::ks.test(gauge^2, "punif")$p.value, 1e-5)
  # the domain's part in it, by quadrature
  for (case in list(c(60, 0, 1, 1), c(600, 1, 1, 0.1), c(6, 2, 1, 10), c(20, 0, 3, 1), c(30, 0, 2, 2))) {
    rule <- riemdp:::kng_rule(riemdp:::linear_ask(case[1], case[2], case[3], case[4], 0, "kng", 0.3, "auto"))
    m <- (case[2] + 1) * case[3]
    pull <- case[1] * case[4] / 4
    reach <- rule$rate * rule$radius / sqrt(sum(1 / rule$ridge))
    mass <- function(f, to) stats::integrate(function(r) r^(m - 1) * exp(f(r)), 0, to, rel.tol = 1e-10)$value
    under <- mass(function(r) -r - pull, min(reach, 60))
    over <- pull^m / m + mass(function(t) (m - 1) * (log(pull + t) - log(t)) - t, 80)
    got <- riemdp:::kng_last_trials(rule, case[4])
    expect_equal(got[["least"]], under / over, tolerance = 1e-6)
    # the law is no smaller than `under/over` times the small ball's uniform density over e, times that ball's share
    ball <- min(1, reach)^m / m
    failure <- got[["trials"]] * log1p(-got[["least"]])
    expect_lte(failure, log(1e-13 * min(1, case[4])) + log(exp(-pull - 1) * ball / over) + 1e-6)
  }
})

test_that("the ledger is charged once, and for releases with a price only", {
  ledger <- dp_ledger(NULL, 1, 0)
  fit <- dp_lm(mpg ~ wt, mtcars, 0.6, bounds = cars_bounds, ledger = ledger)
  expect_equal(fit$budget$cost[["epsilon"]], 0.6)
  expect_error(dp_lm(mpg ~ wt, mtcars, 0.6, bounds = cars_bounds, ledger = ledger), class = "riemdp_error")
  expect_error(dp_lm(mpg ~ wt, mtcars, 0.1, bounds = cars_bounds, method = "paper", ledger = ledger), class = "riemdp_error_ledger")
})

# exp(mu)-type price of normal noise: delta at epsilon of mu-Gaussian differential privacy, by its formula
gaussian_delta <- function(mu, epsilon) stats::pnorm(-epsilon / mu + mu / 2) - exp(epsilon) * stats::pnorm(-epsilon / mu - mu / 2)

test_that("each method's noise is what its stated sensitivity and epsilon ask for", {
  # records that are all missing: what is released is noise
  n <- 40
  x <- matrix(0, 2, n)
  y <- matrix(0, 2, n)
  epsilon <- 1.3
  m <- 4
  draws <- if (quick()) 10000 else 40000 # a Gamma(4) mean within 3 %
  plan <- function(method, delta = 0) riemdp:::plan_linear(riemdp:::linear_ask(n, 1, 2, epsilon, delta, method, 0.3, "auto"))
  draw <- function(method, plan) {
    with_simulation(1, replicate(draws, {
      out <- riemdp:::linear_methods()[[method]]$release(x, y, plan, list(n = n, d = 1, q = 2, epsilon = epsilon))
      if (is.list(out)) with(out$details$moments, cbind(xx[, 2], xy)) else out
    }))
  }
  for (method in c("objective", "huber")) {
    p <- plan(method)
    rule <- p$rule
    # a record's gradient is at most tau g long in the noise's gauge, another's at most tau; determinants as in theorem 1, t = sum 1/ridge
    z <- c(seq(0, 9, 0.001))
    at <- riemdp:::loss_at(rule$g, 1, z)
    t <- sum(1 / rule$ridge)
    # slopes jump at knots: the larger of both sides
    slope <- pmax(at$slope, c(at$slope[1], at$slope[-length(z)]))
    loss <- max(rule$rate * rule$tau * (1 + at$psi) + log1p(t * pmin(1, at$across)) + log1p(t * slope))
    if (method == "huber") loss <- rule$rate * rule$tau * 2 + 2 * log1p(t)
    expect_lte(loss, epsilon - rule$solver + 1e-9)
    expect_gte(loss, 0.97 * (epsilon - rule$solver))
    b <- draw(method, p) * rep(rule$ridge, each = 2)
    size <- if (rule$norm == "max") apply(sqrt(colSums(b^2)), 2, max) else
      (sqrt(colSums((b[, 1, ] + b[, 2, ])^2)) + sqrt(colSums((b[, 1, ] - b[, 2, ])^2))) / 2
    near_mean(size, m / rule$rate, 1 / 2)
  }
  # the minimiser moves by 2 tau sqrt(t) in the ridge's metric
  p <- plan("output")
  b <- draw("output", p) * rep(sqrt(p$rule$ridge), each = 2)
  near_mean(sqrt(colSums(matrix(b^2, m))), m * 2 * p$rule$tau * sqrt(sum(1 / p$rule$ridge)) / (epsilon - p$rule$solver), 1 / 2)
  # rows of x y' move by 2 reach: their noise's norm, over that and with those of u and u^2, is Gamma; a block of two numbers in a ball
  p <- plan("statistics")
  s <- draw("statistics", p)
  b <- s[, -1, ] / (2 * p$reach)
  blocks <- c(1, 1, 2, 2)
  # u moves by 2 and u^2 by 1: each of their noises is uniform below such a width times the norm's length, which is Gamma
  near_mean(abs(s[1, 1, ]), (sum(blocks) + 1) / epsilon, sqrt(32 / 21 - 1))
  near_mean(abs(s[2, 1, ]), (sum(blocks) + 1) / epsilon / 2, sqrt(32 / 21 - 1))
  size <- apply(sqrt(apply(b^2, c(1, 3), sum)), 2, max)
  near_mean(size, (sum(blocks) + 1) / epsilon * integrate(function(r) 1 - pmin(1, r)^4, 0, 1)$value, 1 / 2)
  # three normal releases: an eigenvalue that moves by b^2, X'X by sqrt 2 b^2, X'Y by 2 b reach, b^2 = 2
  p <- plan("adassp", 1e-6)
  mu <- sqrt(sum((c(2, 2 * sqrt(2), 2 * sqrt(2) * p$reach) / p$sd)^2))
  expect_lte(gaussian_delta(mu, epsilon), 1e-6)
  expect_gte(gaussian_delta(mu * 1.001, epsilon), 1e-6)
  # X'X has the part of mu^2 that the error model likes best: more of it with more predictors
  parts <- vapply(c(1, 5, 20, 50), function(d) {
    ask <- riemdp:::linear_ask(1000 * d, d, 1, 1, 1e-6, "adassp", 0.3, "auto")
    best <- riemdp:::linear_adassp$plan(ask)
    others <- vapply(c(0.1, 0.2, 0.35, 0.5, 0.7), function(xx) riemdp:::adassp_noise(ask, best$mu, xx)$error, 0)
    expect_true(all(best$error <= others * (1 + 1e-6)))
    (riemdp:::adassp_sensitivity(d, best$reach)[["xx"]] / best$sd[["xx"]] / best$mu)^2
  }, 0)
  expect_true(all(diff(parts) > 0.02) && parts[1] > 0.2 && parts[4] < 0.85)
  s <- with_simulation(2, replicate(draws, {
    moments <- riemdp:::linear_adassp$release(x, y, p, list(n = n, d = 1, q = 2, epsilon = epsilon))$details$moments
    c(moments$xx[1:2, 2], moments$xy)
  }))
  near_mean(s[3:6, ]^2, p$sd[["xy"]]^2, sqrt(2))
  near_mean(s[2, ]^2, p$sd[["xx"]]^2, sqrt(2))
  near_mean(s[1, ]^2, p$sd[["xx"]]^2 / 2, sqrt(2)) # weighed by sqrt 2 off the diagonal
  # the norm of the clipped gradient moves by 2 tau, in the density and in its integral
  rule <- riemdp:::kng_rule(riemdp:::linear_ask(n, 1, 1, epsilon, 0, "kng", 0.3, "auto"))
  expect_equal(rule$rate * 2 * (2 * rule$tau), epsilon)
})

test_that("the price is taken before a record is read, by every method", {
  set.seed(12)
  frame <- data.frame(x = runif(60, -1, 1), y = rnorm(60))
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  methods <- names(riemdp:::linear_methods())
  for (method in setdiff(methods, c("theil_sen", "kng", "paper"))) {
    ledger <- dp_ledger(epsilon = 1, delta = 1e-5)
    entries <- NULL
    records <- chunks(list(frame[1:30, ], frame[31:60, ]), sizes = c(30, 30), columns = c(x = "number", y = "number"), shape = function(x) {
      entries <<- c(entries, nrow(ledger_history(ledger)))
      x
    })
    delta <- if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-6 else 0
    dp_lm(y ~ x, records, 0.5, delta, bounds, method = method, ledger = ledger)
    # the first chunk is asked for the names of its columns, which are public
    expect_gte(sum(entries == 1), 2)
    expect_identical(sum(entries == 0), 1L, label = method)
    # and what can't be paid isn't begun
    entries <- NULL
    expect_error(dp_lm(y ~ x, records, 0.9, delta, bounds, method = method, ledger = ledger), class = "riemdp_error_budget")
    expect_length(entries, 1)
  }
  # in memory: the method's own release sees the entry
  seen <- NULL
  watch_releases("linear_methods", function() seen <<- c(seen, nrow(ledger_history(ledger))))
  for (method in setdiff(methods, "paper")) {
    ledger <- dp_ledger(epsilon = 1, delta = 1e-5)
    seen <- NULL
    dp_lm(y ~ x, frame[1:20, ], 0.5, if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-6 else 0, bounds, method = method,
          ledger = ledger)
    expect_identical(seen, 1L, label = method)
  }
})
