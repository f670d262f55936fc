# A line by Newton's steps: inst/proofs/linear-regression.md, section 10

WEIGHTS <- riemdp:::NEWTON_WEIGHTS

# what a record adds, written once more, record by record
added <- function(x, y, stage) {
  there <- x[1]
  u <- x[-1]
  out <- if (stage$name == "spread") c(WEIGHTS[["there"]] * there, u, WEIGHTS[["square"]] * u^2) / sqrt(length(u)) else {
    z <- there * (u - stage$center) / stage$spread
    if (!is.null(stage$turn)) z <- drop(crossprod(stage$turn, z))
    if (stage$name == "moments") {
      f <- c(there, z)
      size <- sqrt(sum(f^2))
      products <- tcrossprod(f) / max(stage$length, size) / max(stage$reach, size)
      if (stage$diagonal) diag(products) else riemdp:::symmetric_entries(products)
    } else {
      f <- c(there, z)
      e <- there * drop(y - stage$b %*% f) / stage$tau
      size <- sqrt(sum(e^2))
      if (stage$name == "level") e / max(1, size) else
        c(outer(e / max(1, size), f / max(stage$length, sqrt(sum(f^2)))), WEIGHTS[["square"]] * min(1, size)^2)
    }
  }
  WEIGHTS[["safe"]] * out
}

a_stage <- function(name, d, q, turned = TRUE) {
  list(name = name, center = stats::runif(d, -0.5, 0.5), spread = stats::runif(d, 0.3, 1),
       turn = if (turned) matrix(stats::rnorm(d * d), d), b = matrix(stats::rnorm(q * (d + 1)), q),
       tau = stats::runif(1, 0.2, 2), length = sqrt(d + 1), reach = sqrt(d + 1) * stats::runif(1, 1, 3),
       diagonal = stats::runif(1) < 0.3)
}

some_records <- function(n, d, q) {
  x <- rbind(rep(1, n), matrix(stats::runif(n * d, -1, 1), d, n))
  y <- matrix(stats::rnorm(q * n, sd = 2), q)
  gone <- which(stats::runif(n) < 0.1)
  x[, gone] <- 0
  y[, gone] <- 0
  list(x = x, y = y)
}

total <- function(x, y, stage) riemdp:::exact_total(list(riemdp:::newton_part(x, y, stage)))

test_that("sums are those of the proof, exact, weighted by shares, and of no record that isn't finite", {
  set.seed(1)
  for (d in c(1, 2, 4)) for (q in c(1, 3)) for (name in names(riemdp:::newton_moves)) for (turned in c(TRUE, FALSE)) {
    r <- some_records(25, d, q)
    stage <- a_stage(name, d, q, turned)
    each <- vapply(1:25, function(i) added(r$x[, i], r$y[, i], stage), double(length(total(r$x, r$y, stage))))
    each <- matrix(each, ncol = 25)
    expect_equal(total(r$x, r$y, stage), rowSums(each), tolerance = 1e-13)
    share <- structure(stats::runif(25), units = 20)
    shared <- riemdp:::with_shares(r$x, share)
    expect_equal(total(shared, r$y, stage), drop(each %*% as.vector(share)), tolerance = 1e-13)
    # any order, to the last bit
    by <- sample(25)
    expect_identical(total(r$x[, by, drop = FALSE], r$y[, by, drop = FALSE], stage), total(r$x, r$y, stage))
    if (name %in% c("step", "level")) {
      far <- r$y
      far[q, 2] <- Inf
      expect_equal(total(r$x, far, stage), rowSums(each[, -2, drop = FALSE]), tolerance = 1e-13)
    }
  }
  stage <- a_stage("step", 0, 2)
  expect_length(total(matrix(1, 1, 5), matrix(1, 2, 5), stage), 3)
  for (wrong in list(list(b = 1), list(center = 1), list(tau = 0), list(length = NULL), list(name = "no"), list(turn = 1))) {
    expect_error(total(r$x, r$y, utils::modifyList(a_stage("step", 4, 3), wrong)), class = "riemdp_error")
  }
  for (wrong in list(list(reach = 0), list(diagonal = NA), list(reach = NULL))) {
    expect_error(total(r$x, r$y, utils::modifyList(a_stage("moments", 4, 3), wrong)), class = "riemdp_error")
  }
})

test_that("no record moves a sum further than its noise allows, and some move it as far", {
  set.seed(2)
  moves <- riemdp:::newton_moves
  far <- function(a, b) sqrt(sum((a - b)^2))
  for (d in c(1, 3)) for (q in c(1, 2)) for (name in names(moves)) {
    stage <- a_stage(name, d, q)
    one <- function() {
      r <- some_records(1, d, q)
      if (stats::runif(1) < 0.5) r$x[-1, ] <- sign(r$x[-1, ])
      if (stats::runif(1) < 0.3) r$y <- 1e6 * r$y
      total(r$x, r$y, stage)
    }
    pairs <- vapply(1:400, function(i) far(one(), one()), 0)
    expect_lte(max(pairs), moves[[name]])
  }
  # opposite ones, and where rounding might make them longer
  long <- vapply(1:300, function(i) {
    stage <- a_stage("step", 3, 2)
    r <- some_records(1, 3, 2)
    r$y <- 1e6 * r$y
    v <- total(r$x, r$y, stage)
    sqrt(sum(v[-length(v)]^2))
  }, 0)
  expect_lt(max(long), 1 - 1e-13)
  stage <- a_stage("step", 2, 1)
  expect_gt(far(total(cbind(c(1, 1, 1)), matrix(1e6), stage), total(cbind(c(1, 1, 1)), matrix(-1e6), stage)), 1.99)
  stage$name <- "level"
  expect_gt(far(total(cbind(c(1, 1, 1)), matrix(1e6), stage), total(cbind(c(1, 1, 1)), matrix(-1e6), stage)), 1.99)
  expect_gt(far(total(cbind(c(1, 1, 1)), matrix(0), list(name = "spread")), total(cbind(c(1, -1, -1)), matrix(0), list(name = "spread"))), 1.99)
  # long features of two predictors
  stage <- utils::modifyList(a_stage("moments", 2, 1, FALSE), list(center = c(0, 0), spread = c(0.01, 0.01), length = 1, reach = 50))
  for (diagonal in c(TRUE, FALSE)) {
    stage$diagonal <- diagonal
    expect_gt(far(total(cbind(c(1, 1, 0)), matrix(0), stage), total(cbind(c(1, 0, 1)), matrix(0), stage)), sqrt(2) - 1e-3)
  }
  # the squares' weight, and that of being there: over all sizes, closed forms of section 10
  s <- seq(0, 1, 0.001)
  pairs <- expand.grid(s = s, t = s)
  expect_lte(max((pairs$s + pairs$t)^2 + WEIGHTS[["square"]]^2 * (pairs$s^2 - pairs$t^2)^2), 4 + 1e-12)
  expect_lte(1 + WEIGHTS[["square"]]^2, 4)
  expect_lte(WEIGHTS[["there"]]^2 + 1 + WEIGHTS[["square"]]^2, 4)
})

test_that("noise is as wide as its price says, and prices add up to what was asked for", {
  set.seed(3)
  r <- some_records(200, 2, 1)
  lattice <- riemdp:::newton_lattice(2, 5, 0.7, 200)
  coarse <- riemdp:::newton_lattice(2, 5, 1e-6, 200)
  expect_lt(coarse$fine, 12)
  expect_gte(coarse$shift, 2 * 2^coarse$fine + sqrt(5))
  expect_null(riemdp:::newton_lattice(2, 500, 1e-8, 200))
  stage <- list(name = "spread")
  draws <- with_simulation(1, vapply(1:4000, function(i) riemdp:::noisy_newton_sum(r$x, r$y, stage, lattice)$sum, double(5)))
  exact <- total(r$x, r$y, stage)
  # 20,000 numbers with a standard deviation of 2/.7: the variance is known to 1 %, four standard errors
  expect_equal(mean((draws - exact)^2), (2 / 0.7)^2, tolerance = 0.045)
  expect_lt(max(abs(rowMeans(draws) - exact)), 5 * 2 / 0.7 / sqrt(4000))
  expect_identical(draws * 2^lattice$fine, round(draws * 2^lattice$fine))
  for (case in list(list(n = 1000, d = 1, q = 1), list(n = 20000, d = 5, q = 2), list(n = 3000, d = 0, q = 1),
                    list(n = 300, d = 5, q = 1))) {
    ask <- do.call(riemdp:::linear_ask, c(case, list(1, 1e-6, "newton", 0.3, "auto", "trusted")))
    plan <- riemdp:::plan_linear(ask)
    r <- some_records(case$n, case$d, case$q)
    draws <- draws_of(with_simulation(1, riemdp:::release_newton(r$x, r$y, plan$rule, ask)))$draws
    paid <- vapply(draws, function(d) d$price$mu, 0)
    mu <- riemdp:::gaussian_mu(1, 1e-6)
    expect_lte(sum(paid^2), mu^2)
    expect_gt(sum(paid^2), 0.999 * mu^2)
    expect_length(paid, 8 + sum(plan$rule$served))
    expect_identical(plan$rule$served[["moments"]], case$d > 0 && case$n > 300)
  }
})

test_that("what normal residuals say: slopes, squares and scales", {
  for (q in c(1, 2, 5)) for (k in c(0.4, 1.1, 3)) {
    law <- function(f, from, to) stats::integrate(function(r) f(r) * 2 * r * stats::dchisq(r^2, q), from, to, rel.tol = 1e-9)$value
    inside <- law(function(r) 1, 0, k)
    across <- if (q > 1) law(function(r) k / r, k, Inf) else 0
    square <- law(function(r) r^2, 0, k) / k^2 + law(function(r) 1, k, Inf)
    got <- riemdp:::cut_normal(k, q)
    expect_equal(got$kappa, inside + (q - 1) / q * across, tolerance = 1e-6)
    expect_equal(got$square, square, tolerance = 1e-6)
    expect_equal(got$loss, k^2 * square / q / got$kappa^2 - 1, tolerance = 1e-6)
    expect_equal(riemdp:::cut_scale(got$square, 1.7 * k, q), 1.7, tolerance = 1e-6)
  }
  # one even predictor with variance 1
  size <- function(v) sqrt(1 + v^2)
  mean_of <- function(f) stats::integrate(f, 0, sqrt(3))$value / sqrt(3)
  slope <- mean_of(function(v) pmin(size(v)^2, sqrt(2) * size(v))) / 2
  got <- riemdp:::cut_features(1)
  expect_equal(got$slope, slope, tolerance = 1e-3)
  expect_equal(got$lever, mean_of(function(v) pmin(size(v)^2, 2)) / 2 / slope^2, tolerance = 1e-3)
  expect_equal(got$counted(1.6), mean_of(function(v) pmin(size(v)^2, sqrt(2) * size(v)) * pmin(1, 1.6 / size(v))) / 2, tolerance = 1e-3)
  expect_equal(got$counted(2), slope, tolerance = 1e-3)
  expect_identical(riemdp:::cut_features(0)[c("slope", "lever")], list(slope = 1, lever = 1))
})

fitted_excess <- function(n, d, r_squared, runs, epsilon = 1, draw = function(m) stats::runif(m, -1, 1), seed = 1, method = "newton") {
  ask <- riemdp:::linear_ask(n, d, 1, epsilon, 1e-6, method, r_squared, "auto", "trusted")
  plan <- riemdp:::plan_linear(ask)
  set.seed(seed)
  excess <- with_simulation(seed, replicate(runs, {
    x <- rbind(1, matrix(pmin(1, pmax(-1, draw(n * d))), d))
    slopes <- stats::rnorm(d)
    line <- drop(slopes %*% x[-1, ])
    line <- (line - mean(line)) * sqrt(r_squared) / stats::sd(line)
    y <- line + sqrt(1 - r_squared) * stats::rnorm(n)
    off <- drop(riemdp:::release_newton(x, matrix(y, 1), plan$rule, ask)$b) - drop(solve(tcrossprod(x), x %*% y))
    mean(drop(off %*% x)^2)
  }))
  c(excess = mean(excess), expected = plan$error)
}

test_that("the error is the one that is expected, and far below that of noisy statistics", {
  for (case in list(list(2000, 1, 0.5), list(5000, 5, 0.9), list(20000, 10, 0.3))) {
    got <- do.call(fitted_excess, c(case, list(runs = if (quick()) 20 else 60)))
    # squares of a dozen numbers or fewer, 20 to 60 times: to 30 %
    expect_gt(got[["excess"]] / got[["expected"]], 0.5)
    expect_lt(got[["excess"]] / got[["expected"]], 1.6)
    plan <- dp_lm_plan(case[[1]], case[[2]], epsilon = 1, delta = 1e-6, r_squared = case[[3]])
    expect_lt(got[["excess"]], plan$expected_error[plan$method == "adassp"] / 2)
    others <- min(plan$expected_error[!plan$method %in% c("newton", "descent", "boosted")], na.rm = TRUE)
    expect_identical(plan$chosen[plan$method == "newton"], plan$expected_error[plan$method == "newton"] < 0.7 * others)
  }
  # predictors that fill a quarter of their range
  got <- fitted_excess(10000, 5, 0.5, 20, draw = function(m) stats::rnorm(m, sd = 0.25))
  expect_lt(got[["excess"]] / got[["expected"]], 2)
})

test_that("few records: shares of mu^2 for centres and spreads, which noise doesn't widen, and no step runs away", {
  # 80 (d/(mu n))^2, up to a quarter, less beyond; (24/(mu n))^2 up to a tenth; the usual share
  share <- riemdp:::newton_spread_share
  expect_equal(share(10, 200, 0.05), 80 * 0.05^2)
  expect_equal(share(20, 100, 0.05), 0.24^2)
  expect_equal(share(9, 90, 0.01), 0.25^2 / 0.8)
  expect_equal(share(1, 10, 0.05), 0.1)
  expect_equal(share(3, 1e4, 0.02), 0.02)
  # predictors with a standard deviation of .577 about 0, which noise hides: spreads are theirs
  ask <- riemdp:::linear_ask(800, 20, 1, 0.46, 1e-6, "newton", 0.3, "auto", "trusted")
  rule <- riemdp:::plan_linear(ask)$rule
  set.seed(21)
  x <- rbind(1, matrix(stats::runif(16000, -1, 1), 20))
  y <- matrix(stats::rnorm(800), 1)
  spread <- with_simulation(21, replicate(40, sqrt(mean(riemdp:::newton_spread(x, y, rule, ask)$spread^2))))
  expect_gt(mean(spread), 0.5)
  expect_lt(mean(spread), 0.75)
  # where a noisy square is beyond all squares the scale is as unknown as noise makes it
  stage <- list(b = matrix(0, 1, 2), tau = 1, length = sqrt(2), n = 100)
  seen <- riemdp:::newton_seen(list(sum = c(1, 1, 1.5 * 100 * 1.3), sd = 30), stage, ask)
  expect_gt(seen$error, 0.3)
  expect_lt(exp(seen$low), 3)
  runs <- if (quick()) 40 else 100
  expect_lt(fitted_excess(63, 2, 0.5, runs)[["excess"]], 1.2)
  got <- vapply(list(c(604, 12, 0.4), c(1000, 20, 0.3)), function(case) fitted_excess(case[1], case[2], case[3], runs), c(0, 0))
  # a dozen numbers or more, 40 times, whose sums of squares differ by a third of themselves: to 20 %
  expect_gt(min(got[1, ] / got[2, ]), 0.55)
  expect_lt(max(got[1, ] / got[2, ]), 1.5)
  expect_lt(max(got[1, ] / c(0.4, 0.3)), 0.5)
  # a range filled by a quarter, off its middle
  off <- fitted_excess(1000, 10, 0.98, runs, epsilon = 0.9, draw = function(m) stats::rexp(m, 4) - 0.5)
  expect_lt(off[["excess"]], 0.08)
})

test_that("descent: the same steps and prices with nothing released of the predictors, for even ones", {
  set.seed(22)
  for (case in list(list(n = 300, d = 5, q = 2), list(n = 5000, d = 1, q = 1))) {
    ask <- do.call(riemdp:::linear_ask, c(case, list(1, 1e-6, "descent", 0.3, "auto", "trusted")))
    plan <- riemdp:::plan_linear(ask)
    expect_identical(plan$rule$served[c("spread", "moments")], c(spread = FALSE, moments = FALSE))
    r <- some_records(case$n, case$d, case$q)
    paid <- vapply(draws_of(with_simulation(1, riemdp:::release_newton(r$x, r$y, plan$rule, ask)))$draws, function(d) d$price$mu, 0)
    expect_lte(sum(paid^2), riemdp:::gaussian_mu(1, 1e-6)^2)
    expect_gt(sum(paid^2), 0.999 * riemdp:::gaussian_mu(1, 1e-6)^2)
    expect_length(paid, 8 + plan$rule$served[["level"]])
  }
  runs <- if (quick()) 40 else 100
  got <- vapply(c(descent = "descent", newton = "newton"), function(m) fitted_excess(1000, 5, 0.9, runs, method = m), c(0, 0))
  expect_lt(got["excess", "descent"], 0.95 * got["excess", "newton"])
  expect_gt(got["excess", "descent"] / got["expected", "descent"], 0.6)
  expect_lt(got["excess", "descent"] / got["expected", "descent"], 1.5)
  # and not for others, so it is never chosen, and no interval is told
  quarter <- function(m) stats::rnorm(m, sd = 0.25)
  got <- vapply(c("descent", "newton"), function(m) fitted_excess(1000, 5, 0.5, 20, draw = quarter, method = m)[["excess"]], 0)
  expect_gt(got[["descent"]], got[["newton"]])
  plan <- dp_lm_plan(1000, 5, epsilon = 1, delta = 1e-6, guess = "trusted")
  expect_lt(plan$expected_error[plan$method == "descent"], plan$expected_error[plan$method == "newton"])
  expect_identical(plan$method[plan$chosen], "newton")
  frame <- data.frame(a = stats::runif(500, -1, 1), y = stats::rnorm(500))
  fit <- with_simulation(3, dp_lm(y ~ a, frame, 1, 1e-6, list(a = c(-1, 1), y = c(center = 0, scale = 1)), method = "descent", guess = "trusted"))
  expect_true(all(is.na(confint(fit))))
  expect_identical(guarantee(fit)$numerics, "lattice")
  expect_output(print(explain(fit)), "8 steps of gradient descent")
  expect_output(print(fit), "Nothing is released of the predictors")
  # a guess that is ten scales off is found
  frame <- data.frame(a = stats::runif(2000, -1, 1))
  frame$y <- 10 + frame$a + stats::rnorm(2000)
  fit <- with_simulation(3, dp_lm(y ~ a, frame, 1, 1e-6, list(a = c(-1, 1), y = c(center = 0, scale = 1)), method = "descent"))
  expect_lt(abs(fit$details$guess$center - 10), 1.5)
  expect_lt(max(abs(coef(fit) - c(10, 1))), 0.3)
  expect_error(dp_lm(y ~ a, frame, 1, bounds = list(a = c(-1, 1), y = c(center = 0, scale = 1)), method = "descent"), "needs `delta`",
               class = "riemdp_error_unsupported")
})

test_that("coefficients are shortened by what they and their noise are", {
  short <- function(b, cov) riemdp:::newton_shortened(matrix(b, 1), diag(cov, length(b)))
  expect_equal(short(0.1, 0.04), list(b = matrix(0), error = 0.04))
  expect_equal(short(1, 0.04)$b[1], 0.96)
  expect_equal(short(2, 1)$b[1], 1.5 / 1.75)
  expect_equal(short(c(0, 0), 0)$b[1], 0)
  # thirty slopes of .1, noise of .02: their own variance is most likely .08
  b <- c(0, sqrt(0.01) * rep(c(1, -1), 15))
  got <- short(b, 0.002)
  expect_equal(got$b, matrix(b * 0.8, 1), tolerance = 1e-3)
  most <- 0.008 + sqrt(2 / 30) * 0.002
  expect_equal(got$error, 0.002 + 30 * 0.002 * most / (most + 0.002), tolerance = 1e-3)
  expect_equal(riemdp:::shortened_error(1, 0.5, 2), 0.5 * 1.5 / 2)
  # what is left of slopes: two steps of one share each, by hand
  ask <- list(r_squared = 0.6, d = 2, q = 1)
  once <- riemdp:::shortened_error(0.6, 0.2 / 0.5, 2)
  got <- riemdp:::newton_left(list(shares = c(0.5, 0.5, 1), noise = 0.2), ask)
  twice <- riemdp:::shortened_error(0.6, 0.2 / (0.5 + 0.5 + 1 / (0.4 + once)), 2)
  expect_equal(got, list(slopes = twice, residuals = 0.4 + twice))
})

test_that("slopes follow second moments: rare levels, long tails and correlations are reached, and the error is told", {
  # mean slopes, without noise to speak of, against sums over records
  set.seed(11)
  n <- 4000
  x <- rbind(1, ifelse(stats::runif(n) < 0.05, 1, -1), stats::runif(n, -1, 1)^3)
  x <- rbind(x, pmin(1, pmax(-1, 0.9 * x[3, ] + 0.1 * stats::runif(n, -1, 1))))
  ask <- riemdp:::linear_ask(n, 3, 1, 1000, 1e-6, "newton", 0.3, "auto", "trusted")
  rule <- riemdp:::plan_linear(ask)$rule
  features <- riemdp:::cut_features(3)
  known <- with_simulation(1, {
    stage <- riemdp:::newton_spread(x, matrix(0, 1, n), rule, ask)
    moments <- riemdp:::newton_moments(x, matrix(0, 1, n), rule, stage, features)
    riemdp:::newton_slopes(moments)
  })
  expect_false(known$blurred)
  z <- t((x[-1, ] - stage$center) / stage$spread)
  slopes <- function(f, weight) crossprod(f * weight, f) / n
  f <- cbind(1, z)
  weight <- pmin(1, 2 / sqrt(rowSums(f^2)))
  expect_equal(moments$moments * features$slope, slopes(f, weight), tolerance = 0.03)
  turned <- cbind(1, z %*% known$turn)
  alike <- stats::cov2cor(slopes(f, weight))[-1, -1]
  expect_equal(known$turn %*% known$turn, solve(alike), tolerance = 0.1)
  expect_equal(known$slopes * features$slope, slopes(turned, weight), tolerance = 0.05)
  # told and found, by kind of predictors: mean squares over eight fits of five coefficients
  kinds <- list(level = function(m) ifelse(stats::runif(m) < 0.03, 1, -1), tail = function(m) stats::runif(m, -1, 1)^5,
                lognormal = function(m) pmin(1, 0.02 * exp(stats::rnorm(m, sd = 1.2))) * 2 - 1)
  for (kind in names(kinds)) {
    ask <- riemdp:::linear_ask(20000, 4, 1, 2, 1e-6, "newton", 0.5, "auto", "trusted")
    plan <- riemdp:::plan_linear(ask)
    got <- with_simulation(12, vapply(seq_len(8), function(i) {
      x <- rbind(1, matrix(kinds[[kind]](80000), 4))
      line <- drop(stats::rnorm(4) %*% x[-1, ])
      y <- (line - mean(line)) * sqrt(0.5) / stats::sd(line) + sqrt(0.5) * stats::rnorm(20000)
      fit <- riemdp:::release_newton(x, matrix(y, 1), plan$rule, ask)
      c(mean((drop(fit$b %*% x) - stats::lm.fit(t(x), y)$fitted.values)^2), fit$error)
    }, c(0, 0)))
    ratio <- mean(got[2, ]) / mean(got[1, ])
    expect_gt(ratio, 0.15)
    expect_lt(ratio, 4)
    expect_lt(mean(got[1, ]), 1e-3)
  }
})

test_that("where slopes are blurred that is said, and no interval is told", {
  frame <- data.frame(a = rep(c(1, -1), c(2, 1998)), y = stats::rnorm(2000))
  bounds <- list(a = c(-1, 1), y = c(center = 0, scale = 1))
  fit <- with_simulation(3, dp_lm(y ~ a, frame, 1, 1e-6, bounds, method = "newton", guess = "trusted"))
  expect_true(fit$details$blurred)
  expect_true(all(is.na(confint(fit))))
  expect_error(with_simulation(4, confint(fit, about = "population", residual = dp_residual_scale(fit, frame, 5))), "how large the residuals are",
               class = "riemdp_error_unsupported")
  expect_output(print(explain(fit)), "steps may end on the way")
  expect_output(print(fit), "error be far larger than is told")
  frame$a <- stats::runif(2000, -1, 1)
  fit <- with_simulation(3, dp_lm(y ~ a, frame, 1, 1e-6, bounds, method = "newton", guess = "trusted"))
  expect_false(fit$details$blurred)
  expect_false(anyNA(confint(fit)))
  expect_false(any(grepl("far larger", format(fit))))
})

test_that("correlated, constant, missing and few records: finite, and no worse than they must be", {
  set.seed(6)
  n <- 5000
  frame <- data.frame(a = stats::runif(n, -1, 1))
  frame$b <- pmin(1, pmax(-1, frame$a + 0.1 * stats::rnorm(n)))
  frame$y <- frame$a - frame$b + 0.3 * stats::rnorm(n)
  bounds <- list(a = c(-1, 1), b = c(-1, 1), y = c(center = 0, scale = 1))
  fit <- function(data, formula = y ~ a + b, ..., at = 4) {
    with_simulation(at, dp_lm(formula, data, 1, 1e-6, bounds[all.vars(formula)], method = "newton", ...))
  }
  off <- replicate(20, 0)
  for (i in 1:20) off[i] <- mean((stats::predict(fit(frame, at = i), frame) - stats::fitted(stats::lm(y ~ a + b, frame)))^2)
  expect_lt(mean(off), 2e-3)
  gone <- frame
  gone$y[1:3500] <- NA
  plain <- stats::lm(y ~ a, gone)
  expect_lt(mean((stats::predict(fit(gone, y ~ a), frame) - stats::predict(plain, frame))^2), 5e-3)
  flat <- frame
  flat$a <- 0.3
  expect_lt(mean((stats::predict(fit(flat), flat) - stats::predict(stats::lm(y ~ b, flat), flat))^2), 1e-2)
  for (n in c(1, 2, 30)) expect_lt(max(abs(coef(fit(frame[seq_len(n), ], guess = "trusted")))), 10)
  flat$b <- NA_real_
  expect_true(all(is.finite(coef(fit(flat)))))
  wide <- as.data.frame(matrix(stats::runif(30 * 60, -1, 1), 30))
  wide$y <- stats::rnorm(30)
  expect_lt(max(abs(coef(with_simulation(1, dp_lm(y ~ ., wide, 1, 1e-6, c(stats::setNames(rep(list(c(-1, 1)), 60), names(wide)[-61]), bounds["y"]),
                                                  method = "newton"))))), 10)
  # a centre that is ten scales off, on trust
  bounds$y <- c(center = 10, scale = 1)
  expect_lt(mean((stats::predict(fit(frame, y ~ a, guess = "trusted"), frame) - stats::fitted(stats::lm(y ~ a, frame)))^2), 0.01)
})

test_that("the promise is of the computer's numbers where the guess isn't checked, and intervals hold the population", {
  set.seed(7)
  runs <- if (quick()) 40 else 150
  held <- with_simulation(8, vapply(seq_len(runs), function(i) {
    n <- 2000
    frame <- data.frame(a = stats::runif(n, -1, 1), b = stats::runif(n, -1, 1))
    frame$y <- 0.5 * frame$a - 0.3 * frame$b + 0.6 * stats::rnorm(n)
    fit <- dp_lm(y ~ a + b, frame, 1, 1e-6, list(a = c(-1, 1), b = c(-1, 1), y = c(center = 0, scale = 0.7)), method = "newton")
    about <- confint(fit, about = "population", residual = dp_residual_scale(fit, frame, 1), nsim = 400)
    about[, 1] <= c(0, 0.5, -0.3) & c(0, 0.5, -0.3) <= about[, 2]
  }, NA[1:3]))
  expect_gt(mean(held), if (quick()) 0.87 else 0.91)
  # about the coefficients before they were shortened: what was held back comes off each draw
  object <- list(scaled_coefficients = matrix(0, 1, 2), details = list(noise = diag(0, 2), back = diag(2), held = matrix(c(0.3, -2), 1), inflation = 1))
  drawn <- riemdp:::newton_root(object, 0, list(mean = 0, cov = matrix(1 / 3)), "privacy", 100)
  expect_equal(drawn, matrix(c(-0.3, 2), 1))
  frame <- data.frame(y = stats::rnorm(300))
  fit <- function(..., delta = 1e-6) {
    with_simulation(1, dp_lm(y ~ 1, frame, 1, delta, list(y = c(center = 0, scale = 1)), method = "newton", ...))
  }
  # a checked guess makes no Gaussian promise: a real call, whose prices are held against what it states
  expect_true(is.na(guarantee(dp_lm(y ~ 1, frame, 1, 1e-6, list(y = c(center = 0, scale = 1)), method = "newton"))$mu %||% NA))
  expect_identical(guarantee(fit(guess = "trusted"))$numerics, "lattice")
  expect_identical(guarantee(fit())$numerics, "real-valued")
  # nor where the number of records is private, which may be so large that the guess is checked
  expect_identical(guarantee(fit(neighbours = "add_remove"))$numerics, "real-valued")
  expect_error(fit(guess = "trusted", delta = 1e-41), class = "riemdp_error_argument")
  expect_output(print(explain(fit())), "8 steps of Newton's method")
})
