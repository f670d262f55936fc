# Splines and polynomials with public knots: inst/proofs/linear-regression.md, section 12.

inner <- function(name) get(name, asNamespace("riemdp"))
frame_of <- function(formula, range = c(8, 14)) {
  spec <- inner("linear_terms")(formula)
  bounds <- inner("linear_bounds")(spec, list(x = range, y = c(0, 1)))
  list(spec = spec, bounds = bounds, columns = inner("linear_columns")(spec, bounds))
}
columns_of <- function(formula, x, range = c(8, 14)) {
  f <- frame_of(formula, range)
  inner("column_values")(f$columns, f$bounds, rep(list(x), length(f$bounds$x)))
}
curve <- function(x) sin(3 * x)
around <- list(x = c(-1, 1), y = c(center = 0, scale = 0.7))

test_that("columns are those of splines and stats at public knots, each value's by itself", {
  set.seed(1)
  x <- c(8, 14, 9.5, 10.5, stats::runif(200, 8, 14))
  k <- c(9.5, 10.5, 12)
  z <- (x - 11) / 3
  even <- function(m) 8 + 6 * seq_len(m) / (m + 1)
  cases <- list(
    list(y ~ bs(x, knots = k), splines::bs(x, knots = k, Boundary.knots = c(8, 14))),
    list(y ~ splines::bs(x, 5, degree = 2), splines::bs(x, knots = even(3), degree = 2, Boundary.knots = c(8, 14))),
    list(y ~ bs(x, knots = seq(9, 13), Boundary.knots = c(5, 15)), splines::bs(x, knots = 9:13, Boundary.knots = c(5, 15))),
    list(y ~ bs(x, degree = 1), matrix((x - 8) / 6)),
    list(y ~ ns(x, knots = c(9.5, 10.5, 12)), splines::ns(x, knots = k, Boundary.knots = c(8, 14))),
    list(y ~ ns(x, 4), splines::ns(x, knots = even(3), Boundary.knots = c(8, 14))),
    list(y ~ poly(x, 3), cbind(z, (3 * z^2 - 1) / 2, (5 * z^3 - 3 * z) / 2)),
    list(y ~ poly(x, degree = 3, raw = TRUE), cbind(x, x^2, x^3)))
  for (case in cases) {
    made <- columns_of(case[[1]], x)
    expect_equal(unname(made), unname(unclass(case[[2]])), tolerance = 1e-12, ignore_attr = TRUE)
    # ranges hold, and numbers of one value don't move with others
    f <- frame_of(case[[1]])
    range <- vapply(f$columns, function(column) column$of[[1]]$range, c(0, 0))
    expect_true(all(t(made) >= range[1, ] & t(made) <= range[2, ]))
    for (i in c(1, 2, 50)) expect_identical(columns_of(case[[1]], x[i])[1, ], made[i, ])
    # beyond the range, and what is no number
    odd <- columns_of(case[[1]], c(-Inf, NA, NaN, 1e300, -1e300, x[50]))
    expect_identical(is.na(odd[, 1]), c(TRUE, TRUE, TRUE, FALSE, FALSE, FALSE))
    expect_identical(odd[c(4, 5), ], made[c(2, 1), ], ignore_attr = TRUE)
    expect_identical(odd[6, ], made[50, ])
  }
  # names are those of lm()
  k <- c(9.5, 10.5, 12)
  d <- data.frame(x = x, y = x)
  bs <- splines::bs
  expect_identical(colnames(columns_of(y ~ bs(x, knots = k), x)), names(stats::coef(stats::lm(y ~ bs(x, knots = k), d)))[-1])
  expect_identical(colnames(columns_of(y ~ poly(x, 1), x)), names(stats::coef(stats::lm(y ~ poly(x, 1), d)))[-1])
  # powers on a range around 0, with their extremes inside
  f <- frame_of(y ~ poly(x, 4, raw = TRUE), c(-2, 1))
  expect_identical(lapply(f$columns, function(column) column$of[[1]]$range), list(c(-2, 1), c(0, 4), c(-8, 1), c(0, 16)))
})

test_that("features of a block aren't negative and add up to at most 1, whatever the rows are", {
  set.seed(2)
  for (formula in list(y ~ bs(x, 7), y ~ bs(x, 20, degree = 5), y ~ bs(x, 5) + ns(x, 3) + poly(x, 2))) {
    f <- frame_of(formula)
    simplex <- inner("linear_simplex")(f$spec, f$columns, f$bounds)
    x <- c(8, 14, NA, Inf, stats::runif(300, 8, 14))
    values <- list(x = rep(list(x), length(f$bounds$x)), y = list(0 * seq_along(x)), n = length(x))
    rows <- inner("linear_records")(f$columns, f$bounds, values)$x
    s <- inner("simplex_features")(rows, simplex)
    # the whole basis stands in the first block
    whole <- seq_len(sum(simplex$block == 1))
    degree <- f$bounds$x[[1]]$basis$degree
    basis <- splines::splineDesign(c(rep(0, degree + 1), f$bounds$x[[1]]$basis$knots, rep(1, degree + 1)), (x[-(3:4)] - 8) / 6, degree + 1)
    expect_equal(t(s[whole, -(3:4)]), basis, tolerance = 1e-12)
    expect_true(all(s[, 3:4] == 0))
    sums <- colSums(s[whole, ])
    expect_lte(max(sums), 1)
    expect_gte(max(sums), 1 - 1e-12)
    expect_gte(min(s[whole, ]), 0)
    # coefficients on one side are those on the other
    theta <- stats::rnorm(nrow(s))
    expect_equal(drop(theta %*% s), drop(theta %*% simplex$map %*% rows), tolerance = 1e-11)
    # blocks of one number are as they were
    other <- which(tabulate(simplex$block)[simplex$block] == 1)
    expect_identical(s[other, ], rows[other, ])
    # rounding is no way out
    bent <- inner("simplex_features")(rows * (1 + 1e-9), simplex)
    expect_lte(max(colSums(bent[whole, ])), 1)
    expect_gte(min(bent[whole, ]), 0)
  }
  spec <- inner("linear_terms")(y ~ bs(x, 4) + bs(I(x), 3) + poly(x, 2))
  bounds <- inner("linear_bounds")(spec, list(x = c(8, 14), `I(x)` = c(8, 14), y = c(0, 1)))
  simplex <- inner("linear_simplex")(spec, inner("linear_columns")(spec, bounds), bounds)
  expect_identical(simplex$block, c(1, 1, 1, 1, 1, 2, 2, 2, 3, 4))
  expect_null(inner("linear_simplex")(frame_of(y ~ x)$spec, frame_of(y ~ x)$columns, frame_of(y ~ x)$bounds))
})

# ---- the privacy loss, by an implementation of its own -----------------------------------------------------------------------

# log density of the released coefficients for one common record and one that differs: psi by the table, by plain matrices
log_density <- function(theta, records, rule, rate, ridge, block, q) {
  b <- -rep(ridge, each = q) * theta
  h <- diag(rep(ridge, each = q))
  for (record in records) {
    map <- kronecker(t(record$s), diag(q))
    e <- record$y - drop(map %*% theta)
    r <- sqrt(sum(e^2))
    step <- inner("LOSS_STEP")
    z <- r / rule$tau
    at <- min(floor(z / step), length(rule$g) - 2)
    past <- z >= step * (length(rule$g) - 1)
    slope <- if (past) 0 else (rule$g[at + 2] - rule$g[at + 1]) / step
    size <- rule$tau * if (past) rule$g[length(rule$g)] else rule$g[at + 1] + slope * (z - step * at)
    across <- if (r > 0) size / r else slope
    unit <- if (r > 0) e / r else e
    b <- b + drop(crossprod(map, across * e))
    h <- h + t(map) %*% (across * diag(q) + (slope - across) * tcrossprod(unit)) %*% map
  }
  rows <- sqrt(colSums(matrix(b, q)^2))
  -rate * max(tapply(rows, block, sum)) + as.numeric(determinant(h)$modulus)
}

# The largest loss over neighbours: features of both records and of a common one, residuals and coefficients. `features`
# makes some of as many free numbers.
search_loss <- function(rule, features, q = 1, rate = rule$rate, ridge = rule$ridge, block = rule$simplex$block,
                        starts = if (quick()) 4 else 6) {
  p <- length(ridge)
  free <- features$free
  loss <- function(par) {
    theta <- 10 * par[seq_len(p * q)]
    record <- function(k) {
      from <- p * q + (k - 1) * (free + q)
      s <- features$make(par[from + seq_len(free)])
      list(s = s, y = drop(matrix(theta, q) %*% s) + rule$tau * par[from + free + seq_len(q)])
    }
    value <- log_density(theta, list(record(1), record(3)), rule, rate, ridge, block, q) -
      log_density(theta, list(record(2), record(3)), rule, rate, ridge, block, q)
    if (is.finite(value)) value else -1e3
  }
  best <- -Inf
  for (i in seq_len(starts)) {
    w <- stats::rnorm(q)
    w <- w / sqrt(sum(w^2))
    at <- features$corner()
    s <- features$make(at)
    # opposite residuals at one corner, coefficients far out along it
    theta <- matrix(outer(w, s * block_first(s)), q) * stats::runif(1, 2, 8) * sample(c(-1, 1), 1)
    par <- c(theta, at, stats::runif(1, 0, 1.5) * w, at, -stats::runif(1, 3, 30) * w, features$corner(), 40 * w)
    for (again in 1:2) {
      fit <- stats::optim(par, loss, method = "Nelder-Mead", control = list(fnscale = -1, maxit = if (quick()) 400 else 800))
      par <- fit$par
    }
    best <- max(best, fit$value)
  }
  best
}
block_first <- function(s) as.double(seq_along(s) == which.max(abs(s)))

# points of a simplex, near its corners too, and predictors in [-1, 1] behind it
mixed <- function(j, d = 0, lift = 0) {
  soft <- function(v) exp(v - max(v)) / sum(exp(v - max(v)))
  list(free = j + d, make = function(v) c(soft(8 * v[seq_len(j)]), if (d > 0) tanh(3 * v[j + seq_len(d)]), if (lift) 1),
       corner = function() c(2 * (seq_len(j) == sample(j, 1)), if (d > 0) sample(c(-2, 2), d, TRUE)))
}
simplex_of <- function(block, moments = diag(1 / length(block), length(block))) {
  list(block = block, map = diag(length(block)), gram = moments)
}

test_that("the privacy loss stays below epsilon and comes close to it, and the same search finds what is not private", {
  set.seed(3)
  for (case in list(list(j = 4, d = 0, q = 1), list(j = 3, d = 0, q = 2), list(j = 3, d = 1, q = 1))) {
    simplex <- simplex_of(c(rep(1, case$j), 1 + seq_len(case$d)))
    rule <- inner("perturbation_rule")(100, 1, case$j + case$d - 1, case$q, "closed", simplex = simplex)
    core <- rule$epsilon - rule$solver
    features <- mixed(case$j, case$d)
    found <- search_loss(rule, features, case$q)
    expect_lte(found, core * (1 + 1e-6))
    expect_gte(found, 0.9 * core)
    if (case$d == 0) {
      expect_gt(search_loss(rule, features, case$q, rate = 2 * rule$rate, starts = 3), 1.2)
      expect_gt(search_loss(rule, features, case$q, ridge = rule$ridge / 3, starts = 3), 1.1)
      # each function's ridge is for all of t; shares of it, as columns each by itself would have, aren't asked for
      expect_equal(rule$ridge, rep(1 / rule$t, case$j))
    }
  }
  # a whole basis and the intercept in one block add up to 2
  simplex <- simplex_of(rep(1, 4))
  rule <- inner("perturbation_rule")(100, 1, 3, 1, "closed", simplex = simplex)
  expect_gt(search_loss(rule, mixed(3, lift = 1), starts = 3), 1.3)
  # and so do two bases; apart they may have a rule of their own
  two <- mixed(2)
  both <- list(free = 4, make = function(v) c(two$make(v[1:2]), two$make(v[3:4])), corner = function() c(two$corner(), two$corner()))
  expect_gt(search_loss(rule, both, starts = 3), 1.3)
  apart <- inner("perturbation_rule")(100, 1, 3, 1, "closed", simplex = simplex_of(c(1, 1, 2, 2)))
  expect_lte(search_loss(apart, both), apart$epsilon - apart$solver + 1e-6)
})

test_that("noise in blocks has the law of its norm", {
  n <- if (quick()) 10000 else 40000
  for (case in list(list(rep(1, 5), 1), list(c(1, 1, 2, 3, 3, 3), 2), list(c(1, 2, 3), 1), list(c(2, 1, 2), 3))) {
    block <- case[[1]]
    q <- case[[2]]
    p <- length(block)
    b <- with_simulation(6, .Call(inner("riemdp_perturbation_noise"), p, q, n, block, 2, TRUE))
    rows <- matrix(sqrt(colSums(b^2)), p)
    size <- apply(rows, 2, function(r) max(tapply(r, block, sum)))
    # 4 tests of each kind, 1e-6 each; a scale 3 % off is 13 standard errors or more
    expect_gt(stats::ks.test(size, stats::pgamma, p * q, 2)$p.value, 1e-6)
    second <- rowMeans(rows^2) * 4
    expect_lt(max(abs(second / inner("noise_second_moment")("simplex", p - 1, q, list(block = block)) - 1)), 20 / sqrt(n))
    if (all(block == 1)) { # independent lengths
      expect_gt(stats::ks.test(rows[2, ], stats::pgamma, q, 2)$p.value, 1e-6)
      expect_lt(abs(stats::cor(rows[1, ], rows[2, ])), 5 / sqrt(n))
    }
  }
  draw <- function(block) .Call(inner("riemdp_perturbation_noise"), 3, 1, 1, block, 2, TRUE)
  for (block in list(c(1, 1), c(0, 1, 1), c(1, 1, 4), c(1, 1.5, 1), c(1, NA, 1))) {
    expect_error(with_simulation(1, draw(block)), class = "riemdp_error_argument")
  }
})

test_that("without records the release is the noise through the ridge, and costs what is stated", {
  f <- frame_of(y ~ bs(x, 5) + poly(x, 1))
  simplex <- inner("linear_simplex")(f$spec, f$columns, f$bounds)
  rule <- inner("perturbation_rule")(50, 1, 6, 1, "closed", simplex = simplex)
  p <- 7
  back <- solve(simplex$map)
  draws <- if (quick()) 500 else 3000
  b <- with_simulation(8, replicate(draws, drop(inner("release_perturbed")(matrix(0, p, 50), matrix(0, 1, 50), rule) %*% back) * rule$ridge))
  size <- apply(abs(b), 2, function(r) max(tapply(r, simplex$block, sum)))
  expect_gt(stats::ks.test(size, stats::pgamma, p, rule$rate)$p.value, 1e-5)
  price <- inner("price_perturbed")(rule, rule$rate, rule$ridge, rule$solver)
  expect_lte(price$epsilon, 1)
  expect_gte(price$epsilon, 0.97)
  # leverage by blocks, at corners of both
  at <- c(rep(0, p - 2), 1, 1)
  expect_equal(inner("most_leverage")(rule$ridge, simplex), rule$t)
  expect_equal(sum(at^2 / rule$ridge), rule$t)
  expect_gt(inner("price_perturbed")(rule, rule$rate, rule$ridge / 2, rule$solver)$epsilon, 1.1)
})

test_that("with a large epsilon the fit is that of lm() or glm() at public knots", {
  set.seed(4)
  n <- 4000
  d <- data.frame(x = stats::runif(n, -1, 1), z = stats::runif(n), g = sample(c("a", "b"), n, TRUE))
  d$y <- curve(d$x) + 0.3 * stats::rnorm(n)
  d$b <- as.numeric(stats::runif(n) < stats::plogis(curve(d$x)))
  at <- data.frame(x = seq(-1, 1, 0.1), z = 0.3, g = "b")
  bs <- splines::bs
  ns <- splines::ns
  k <- c(-0.5, 0.2)
  e <- c(-1, 1)
  bounds <- c(around, list(z = c(0, 1), g = c("a", "b"), b = c(0, 1)))
  for (formula in list(y ~ bs(x, knots = k, Boundary.knots = e), y ~ ns(x, knots = k, Boundary.knots = e) + z, y ~ poly(x, 3, raw = TRUE),
                       y ~ bs(x, knots = k, Boundary.knots = e) * g)) {
    fit <- dp_lm(formula, d, 500, bounds = bounds[setdiff(all.vars(formula), c("k", "e"))], guess = "trusted")
    plain <- stats::lm(formula, d)
    expect_identical(names(coef(fit)), names(stats::coef(plain)))
    # least squares but for the cut of residuals
    expect_lt(max(abs(predict(fit, at) - stats::predict(plain, at))), 0.03)
    expect_lt(max(abs(coef(fit) - stats::coef(plain))), 0.15)
  }
  formula <- b ~ bs(x, knots = k, Boundary.knots = e)
  fit <- dp_glm(formula, d, 100, bounds = list(x = c(-1, 1), b = c(0, 1)))
  expect_lt(max(abs(predict(fit, at) - stats::predict(stats::glm(formula, stats::binomial(), d), at))), 0.15)
})

test_that("errors and standard errors are those of the public model, and blocks pay", {
  set.seed(5)
  n <- 3000
  d <- data.frame(x = stats::runif(n, -1, 1))
  d$y <- curve(d$x) + 0.3 * stats::rnorm(n)
  at <- data.frame(x = seq(-0.99, 0.99, 0.02))
  runs <- if (quick()) 40 else 80
  fits <- with_simulation(3, lapply(seq_len(runs), function(i) dp_lm(y ~ bs(x, 6), d, 1, bounds = around, guess = "trusted")))
  values <- vapply(fits, predict, numeric(100), at)
  least <- stats::predict(stats::lm(y ~ splines::bs(x, knots = c(-0.5, 0, 0.5), Boundary.knots = c(-1, 1)), d), at)
  error <- mean((values - least)^2) / 0.49
  # relative standard error of a run's error below 1: .16 in the quick form
  expect_gt(error / fits[[1]]$expected_error, 0.4)
  expect_lt(error / fits[[1]]$expected_error, 1.8)
  spread <- apply(vapply(fits, coef, numeric(7)), 1, stats::sd)
  se <- sqrt(diag(vcov(fits[[1]])))
  expect_lt(max(abs(log(spread / se))), log(if (quick()) 1.9 else 1.5))
  # the same method with noise for columns by themselves has three times the error (20 runs: standard error .2 of it)
  f <- fits[[1]]
  rows <- inner("linear_records")(f$columns, f$bounds, list(x = list(d$x), y = list(d$y), n = n))
  design <- rbind(1, 2 * t(inner("column_values")(f$columns, f$bounds, list(at$x))) - 1)
  rule <- inner("perturbation_rule")(n, 1, 6, 1)
  one <- with_simulation(4, replicate(20, drop(inner("release_perturbed")(rows$x, rows$y, rule) %*% design)))
  expect_gt(mean((one - least / 0.7)^2), 2 * error)
})

test_that("a fit with a basis is one like others", {
  set.seed(6)
  n <- 400
  d <- data.frame(x = stats::runif(n, -1, 1))
  d$y <- curve(d$x) + 0.3 * stats::rnorm(n)
  k <- c(-0.2, 0.5)
  fit <- dp_lm(y ~ bs(x, knots = k), d, 2, bounds = around)
  expect_match(fit$guarantee$assumptions, "constants of the formula are public: `k`", all = FALSE)
  expect_identical(fit$guarantee$label, "pure")
  expect_identical(fit$method, "objective")
  expect_output(explain(fit), "-0.2, 0.5")
  k <- 3 # what a name meant then
  inside <- predict(fit, data.frame(x = c(-1, 1)))
  expect_warning(expect_identical(predict(fit, data.frame(x = c(-7, 7))), inside), class = "riemdp_warning_range")
  expect_identical(predict(fit, data.frame(x = c(-7, 7)), outside = "move"), inside)
  expect_identical(is.na(predict(fit, data.frame(x = c(NA, 0)))), c(TRUE, FALSE))
  expect_error(predict(fit, d, outside = "extend"), class = "riemdp_error_unsupported")
  band <- predict(fit, d[1:3, ], interval = "noise")
  expect_true(all(band[, "lower"] < band[, "fit"] & band[, "fit"] < band[, "upper"]))
  # wide, and certain: the target is the same loss and ridge without noise
  expect_true(all(diff(t(confint(fit, type = "bound"))) > diff(t(confint(fit)))))
  scale <- dp_residual_scale(fit, d, 1)
  expect_gte(scale$value, 0)
  expect_error(confint(fit, about = "population", residual = scale), class = "riemdp_error_unsupported")
  # in chunks, bit by bit, and for units
  k <- c(-0.2, 0.5)
  pieces <- chunks(lapply(1:4, function(i) d[(i - 1) * 100 + 1:100, ]))
  draw <- function(data, ...) coef(with_simulation(3, dp_lm(y ~ bs(x, knots = k), data, 1, bounds = around, guess = "trusted", ...)))
  expect_identical(draw(pieces), draw(d))
  expect_equal(draw(d, unit = rep(1:100, each = 4)), draw(pieces, unit = rep(1:100, each = 4)), tolerance = 1e-9)
  # methods without a model of their own for such columns don't claim an error
  for (method in c("recentred", "statistics", "output")) {
    expect_true(is.na(dp_lm(y ~ ns(x, 3), d, 1, bounds = around, method = method)$expected_error))
  }
  expect_identical(dp_lm(y ~ bs(x, 5), d, 1, bounds = "sample")$guarantee$label, "none")
  # broken cells are missing, and nothing else happens
  odd <- data.frame(x = c("a", "0.3", NA, "Inf", "1e300", ""), y = c("1", "b", NA, "3", "4", "5"))
  expect_true(all(is.finite(coef(dp_lm(y ~ bs(x, 5), odd, 1, bounds = around)))))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit), fit)
})

test_that("what would come from the sample, or can't be, is refused by class", {
  d <- data.frame(x = c(-0.5, 0.1, 0.7), y = 0:2, z = 1:3)
  fit <- function(formula, bounds = around, ...) dp_lm(formula, d, 1, bounds = bounds, ...)
  far <- c(0, Inf)
  for (formula in list(y ~ bs(x, knots = quantile(x)), y ~ bs(x, knots = x), y ~ bs(x, knots = z), y ~ bs(x, knots = y), y ~ bs(x, z),
                       y ~ bs(x, knots = stats::runif(2)), y ~ bs(x, knots = "a"), y ~ bs(x, knots = far), y ~ bs(x, knots = letters),
                       y ~ poly(x, 2, coefs = far), y ~ poly(x, z, degree = 2), y ~ bs(knots = 0), y ~ bs(scale(x), 3), y ~ I(bs(x, 3)),
                       y ~ bs(bs(x, 3), 3), bs(y, 3) ~ x, y ~ stats::bs(x, 3), y ~ bs(x, 3) - 1)) {
    expect_error(fit(formula), class = "riemdp_error_unsupported")
  }
  for (formula in list(y ~ bs(x, 2), y ~ bs(x, 4.5), y ~ bs(x, 4, knots = 0), y ~ bs(x, 4, intercept = TRUE), y ~ bs(x, knots = c(0, 0)),
                       y ~ bs(x, knots = 3), y ~ bs(x, knots = -1), y ~ bs(x, knots = seq(-0.9, 0.9, length.out = 101)), y ~ bs(x, degree = 0),
                       y ~ bs(x, Boundary.knots = c(0, 1)), y ~ bs(x, Boundary.knots = 2), y ~ ns(x, 0), y ~ poly(x, 2.5), y ~ poly(x, 11),
                       y ~ poly(x, 2, raw = 3), y ~ bs(x, knots = none_such))) {
    expect_error(fit(formula), class = "riemdp_error_argument")
  }
  expect_error(fit(y ~ bs(x, 3), c(around["y"], list(x = c("a", "b")))), class = "riemdp_error_shape")
  expect_error(fit(y ~ bs(x, 3), around["y"]), "lacks `x`", class = "riemdp_error_argument")
  expect_error(fit(y ~ poly(x, 10, raw = TRUE), list(x = c(-1e60, 1e60), y = c(0, 1))), class = "riemdp_error_argument")
  # no column of the data where they come from the environment
  x <- d$x
  y <- d$y
  expect_error(dp_lm(y ~ bs(x, knots = y), epsilon = 1, bounds = around), class = "riemdp_error_unsupported")
  # nor a variable that stands elsewhere in the call, or has a number for each record
  z <- c(-0.4, 0.2, 0.5)
  wide <- c(around, list(z = c(-1, 1)))
  d$z <- NULL
  for (data in list(NULL, d)) {
    expect_error(dp_lm(y ~ bs(x, knots = z) + z, data, 1, bounds = wide), "`z` is a variable of the records", class = "riemdp_error_unsupported")
    expect_error(dp_lm(y ~ bs(x, knots = z), data, 1, bounds = c(around, list(z = c(0, 1))), weights = ~z), class = "riemdp_error_unsupported")
    expect_error(dp_lm(y ~ bs(x, knots = z), data, 1, bounds = around, subset = ~ z > 0.1), class = "riemdp_error_unsupported")
    expect_error(dp_lm(y ~ bs(x, knots = z), data, 1, bounds = around, unit = z), class = "riemdp_error_unsupported")
    expect_error(dp_glm(y ~ bs(x, knots = z), data, 1, bounds = list(x = c(-1, 1), y = c(0, 3)), family = "poisson"), class = "riemdp_error_unsupported")
  }
  # a private number of records decides nothing
  expect_s3_class(dp_lm(y ~ bs(x, knots = z), d, 1, bounds = around, neighbours = "add_remove"), "riemdp_lm")
  expect_error(dp_regression(y ~ bs(x, 3), euclidean(1), d, 1,
                             center = 0, radius = 3, speed = 3, residual_bound = 1, bounds = c(-1, 1)), class = "riemdp_error_unsupported")
})

test_that("errors of methods whose model has columns that aren't correlated aren't told, and words are those of the fit", {
  set.seed(3)
  d <- data.frame(x = runif(80, -1, 1), y = rnorm(80))
  for (method in c("huber", "recentred")) {
    fit <- dp_lm(y ~ bs(x, 4), d, 5, bounds = around, method = method, guess = "trusted")
    expect_true(all(is.na(confint(fit))) && all(is.na(vcov(fit))) && all(is.na(tidy(fit)$std.error)), label = method)
    expect_false(anyNA(confint(dp_lm(y ~ x, d, 5, bounds = around, method = method, guess = "trusted"))))
  }
  fit <- dp_lm(y ~ bs(x, 4), d, 5, bounds = around)
  expect_false(anyNA(confint(fit)))
  ridge <- fit$details$rule$ridge
  expect_output(explain(fit), sprintf("ridge \\(from %.4g to %.4g\\)", min(ridge), max(ridge)))
  expect_error(confint(fit, about = "population"), "objective", class = "riemdp_error_unsupported")
})
