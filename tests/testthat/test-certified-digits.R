# `error = TRUE`: what is told is above the true error, and little above it. True values: tools/oracle/digits.py, 110 digits.

numbers <- function(text) as.numeric(strsplit(text, " ")[[1]])

digits_table <- function(name) read.csv(test_path("reference", name), colClasses = "character")

SPACES <- list(sphere = sphere, hyperboloid = hyperbolic, ball = function(d) hyperbolic(d, "ball"), spd = spd,
               logeuclidean = function(k) spd(k, "log-euclidean"))
matrix_or_not <- function(case, x) if (case$space %in% c("spd", "logeuclidean")) matrix(x, as.integer(case$k)) else x

# the length of the error `off` of what was computed, a point or a vector, in the metric at p; of points to first order
length_of <- function(M, space, p, off) {
  if (space == "sphere") return(sqrt(sum(off^2)))
  if (space == "hyperboloid") off[1] <- sum(p[-1] * off[-1]) / p[1]
  mf_norm(M, p, off)
}

test_that("told errors are true and not much more", {
  maps <- list(dist = mf_dist, log = mf_log, exp = mf_exp)
  cases <- digits_table("digits.csv")
  cases <- cases[cases$what != "nearest", ]
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    k <- as.integer(case$k)
    M <- SPACES[[case$space]](k)
    shape <- function(x) matrix_or_not(case, x)
    p <- shape(numbers(case$p))
    got <- maps[[case$what]](M, p, shape(numbers(case$q)), error = TRUE)
    expect_identical(got$value, maps[[case$what]](M, p, shape(numbers(case$q))))
    off <- (as.vector(got$value) - numbers(case$true)) - numbers(case$rest)
    if (case$space == "sphere" && case$what == "exp") off <- off - sum(off * got$value) * got$value
    true <- if (case$what == "dist") abs(off) else
      length_of(M, case$space, if (case$what == "log") p else got$value, shape(off))
    # the true length is itself computed in doubles
    expect_lte(true, got$error * 1.001, label = paste("the true error of", i, case$space, case$what))
    expect_lte(got$error, true * 1.2 + 1e-22, label = paste("the told error of", i, case$space, case$what))
  }
})

test_that("sets hold the true distance, where they are no smaller than the last digit of the nearest double", {
  cases <- digits_table("digits.csv")
  cases <- cases[cases$what == "nearest", ]
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    told <- .Call(riemdp:::riemdp_certified_dist, SPACES[[case$space]](as.integer(case$k)), matrix_or_not(case, numbers(case$p)),
                  matrix_or_not(case, numbers(case$q)), as.numeric(case$true))
    expect_gte(told, abs(as.numeric(case$rest)) * (1 - 1e-12), label = paste(i, case$space))
    expect_lte(told, 1e-12 * as.numeric(case$true) + 1e-18, label = paste(i, case$space))
  }
})

twofold <- function(operation, x, y = 0 * x) matrix(.Call(riemdp:::riemdp_twofold, operation, as.double(x), as.double(y)), 3)

test_that("each operation tells how far off it is, in the worst cases that were found", {
  cases <- digits_table("digits_arithmetic.csv")
  worst <- c()
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    z <- twofold(case$what, numbers(case$p), numbers(case$q))
    rest <- numbers(case$rest)
    off <- abs(((z[1] - as.numeric(case$true)) + (z[2] - rest[1])) - rest[2])
    expect_lte(off, z[3] * (1 + 1e-9), label = paste(i, case$what))
    worst[case$what] <- max(worst[case$what], off / z[3], na.rm = TRUE)
  }
  expect_true(all(worst[c("add", "multiply", "divide", "sine", "sinh", "exp")] > 0.5))
  expect_true(all(worst > 0.2))
})

test_that("sets hold the results of all numbers in them", {
  set.seed(1)
  two <- list(add = `+`, multiply = `*`, divide = `/`)
  one <- list(root = sqrt, sine = sin, cosine = cos, sinh = sinh, cosh = cosh, exp = exp, log = log, asinh = asinh)
  corners <- function(x) c(-1, -0.5, 0.5, 1) * x[3] + x[1]
  inside <- function(z, values) {
    expect_true(all(abs(values - z[1]) <= z[3] * (1 + 1e-9) + 1e-12 * abs(z[1])))
    max(abs(values - z[1]) / z[3])
  }
  for (i in 1:50) {
    x <- c(runif(1, 0.5, 3), 0, 10^runif(1, -6, -1.5))
    y <- c(runif(1, 0.5, 3), 0, if (i %% 2) 10^runif(1, -6, -1.5) else 0)
    wide <- c(runif(1, 0.5, 3), 0, runif(1, 0, 0.2))
    for (f in names(two)) {
      expect_gt(inside(twofold(f, x, y), outer(corners(x), corners(y), two[[f]])), 0.3)
      inside(twofold(f, x, wide), outer(corners(x), corners(wide), two[[f]]))
      inside(twofold(f, wide, wide), outer(corners(wide), corners(wide), two[[f]]))
    }
    for (f in names(one)) inside(twofold(f, x), one[[f]](corners(x)))
    inside(twofold("angle", x, y), outer(corners(x), corners(y), atan2))
  }
  # numbers that may be 0, and sets that hold numbers for which there is no result
  expect_lte(twofold("root", c(0, 0, 1e-4))[3], 0.011)
  expect_gte(twofold("root", c(0, 0, 1e-4))[3], 0.01)
  expect_gte(twofold("root", c(1e-9, 0, 1e-4))[3] + twofold("root", c(1e-9, 0, 1e-4))[1], 0.01)
  expect_false(is.finite(twofold("divide", c(1, 0, 0), c(1e-3, 0, 1e-2))[3]))
  expect_false(is.finite(sum(twofold("log", c(1, 0, 0.5)))))
  expect_false(is.finite(sum(twofold("log", c(-1, 0, 0)))))
  # beyond pi/2 the cosine is below 0, though its root isn't
  wide <- twofold("cosine", c(0.4, 0, 1.5))
  expect_lte(cos(1.9), wide[1] + wide[3])
  expect_gte(cos(1.9), wide[1] - wide[3])
})

test_that("products: by the weights of their parts", {
  set.seed(2)
  parts <- list(sphere(2), hyperbolic(2), spd(2))
  w <- c(0.25, 1, 9)
  M <- product(parts[[1]], parts[[2]], parts[[3]], weights = w)
  x <- lapply(parts, function(P) as.matrix(mf_points(mf_random(P, 30), P)))
  y <- lapply(parts, function(P) as.matrix(mf_points(mf_random(P, 30), P)))
  all <- function(x) do.call(cbind, x)
  of <- function(P, x) riemdp:::new_points(x, P)
  own <- function(f, y) vapply(1:3, function(i) f(parts[[i]], of(parts[[i]], x[[i]]), y[[i]], error = TRUE)$error, double(30))
  v <- mf_log(M, all(x), all(y), error = TRUE)
  logs <- own(mf_log, Map(of, parts, y))
  expect_equal(v$error / sqrt(as.vector(logs^2 %*% w)), rep(1, 30), tolerance = 1e-6)
  tangents <- lapply(1:3, function(i) mf_log(parts[[i]], of(parts[[i]], x[[i]]), of(parts[[i]], y[[i]])))
  exps <- own(mf_exp, tangents)
  expect_equal(mf_exp(M, all(x), v$value, error = TRUE)$error / sqrt(as.vector(exps^2 %*% w)), rep(1, 30), tolerance = 1e-6)
  # twice a distance: its true value is twice that of the part
  cases <- digits_table("digits.csv")
  cases <- cases[cases$space == "sphere" & cases$what == "dist" & cases$k == 2, ]
  for (i in seq_len(nrow(cases))) {
    P <- product(sphere(2), euclidean(1), weights = c(4, 1))
    d <- mf_dist(P, c(numbers(cases$p[i]), 7), c(numbers(cases$q[i]), 7), error = TRUE)
    true <- abs((d$value - 2 * as.numeric(cases$true[i])) - 2 * as.numeric(cases$rest[i]))
    expect_lte(true, d$error * (1 + 1e-9))
    expect_lte(d$error, true * 1.001 + 1e-28)
  }
})

test_that("Euclidean space: what is left of numbers of different size", {
  M <- euclidean(2)
  v <- mf_log(M, c(1, 1), c(2^60, 1), error = TRUE)
  expect_equal(v$error, 1, tolerance = 1e-12)
  expect_equal(mf_exp(M, c(2^60, 0), c(1, 0), error = TRUE)$error, 1, tolerance = 1e-12)
  expect_lt(mf_dist(M, c(0, 0), c(3, 4), error = TRUE)$error, 1e-30)
})

test_that("where nothing can be proven the error is Inf, and never NaN", {
  M <- sphere(2)
  d <- mf_dist(M, c(0, 0, 1), c(0, 0, -1), error = TRUE)
  expect_lt(abs(d$value - pi), d$error + 1e-15)
  expect_lt(d$error, 1e-15)
  same <- mf_log(M, c(0, 0, 1), c(0, 0, 1), error = TRUE)
  expect_lt(same$error, 1e-100)
  expect_lt(mf_exp(M, c(0, 0, 1), c(0, 0, 0), error = TRUE)$error, 1e-15)
  # a vector that leads twelve times around
  expect_lt(mf_exp(M, c(0, 0, 1), c(76, 0, 0), error = TRUE)$error, 1e-13)
  expect_lt(mf_exp(hyperbolic(2, "ball"), c(0.9, 0), c(0, 0), error = TRUE)$error, 1e-15)
  expect_lt(mf_log(hyperbolic(2), c(1, 0, 0), c(1, 0, 0), error = TRUE)$error, 1e-100)
  far <- mf_exp(spd(2), diag(2), diag(c(60, -60)), error = TRUE)
  expect_false(is.nan(far$error))
  # eigenvalues that are not in the matrix any more: all that can be said is nothing
  lost <- mf_exp(spd(2), diag(2), 20 * matrix(c(1, 2, 2, -1), 2), error = TRUE)
  expect_equal(lost$error, Inf)
})

test_that("branches for what is very small", {
  told <- function(what, M, p, q, x) .Call(if (what == "log") riemdp:::riemdp_certified_log else riemdp:::riemdp_certified_exp, M, p, q, x)
  # logarithms too short to have a direction in 32 digits, against a computed 0
  expect_gte(told("log", sphere(2), c(0.6, 0.8, 0), c(0.6, 0.8, 1e-100), c(0, 0, 0)), 9e-101)
  expect_gte(told("log", hyperbolic(2), c(1, 1e-150, 0), c(1, 0, 0), c(0, 0, 0)), 1e-150)
  expect_gte(riemdp:::mean_error(rbind(c(0.6, 0.8, 1e-100)), sphere(2), NULL, c(0.6, 0.8, 0)), 9e-101)
  # an arc and its chord
  expect_gte(told("exp", sphere(2), c(1, 0, 0), c(0, 0, 0), c(cos(0.95), sin(0.95), 0)), 0.95)
  expect_lte(told("exp", sphere(2), c(1, 0, 0), c(0, 0, 0), c(cos(0.95), sin(0.95), 0)), 0.96)
  expect_gte(told("exp", sphere(2), c(1, 0, 0), c(0, 0, 0), c(-1, 0, 0)), pi * (1 + 2^-53)) # pi itself is above the double
  expect_identical(told("exp", sphere(2), c(1, 0, 0), c(0, 0, 0), c(0, 0, 0)), Inf)
  # a product's mean is made of its parts' means
  expect_identical(.Call(riemdp:::riemdp_certified_mean, product(sphere(2), weights = 0.01), rbind(c(0, 0, 1)), NULL, c(0.6, 0, 0.8)), Inf)
  # errors of vectors are those of what exp makes of them
  expect_gte(told("exp", hyperbolic(2), c(1, 0, 0), c(0, 0, 0), c(cosh(3), sinh(3), 0)), 3)
  expect_gte(told("exp", spd(2), diag(2), matrix(0, 2, 2), diag(c(0.6, 1))), -log(0.6))
  # squares that are 0
  expect_lt(mf_dist(hyperbolic(1), c(cosh(1), sinh(1)), c(1, 1e-163), error = TRUE)$error, 1e-15)
  expect_lt(mf_dist(sphere(2), c(0.6, 0.8, 0), c(-0.6, -0.8, 1e-200), error = TRUE)$error, 1e-15)
})

test_that("points that are off by rounding stand for their projections", {
  M <- sphere(2)
  p <- c(0.6, 0, 0.8)
  q <- c(0, 0.6, 0.8)
  one <- mf_dist(M, p, q, error = TRUE)
  two <- mf_dist(M, p * (1 + 3e-9), q * (1 - 3e-9), error = TRUE)
  expect_lte(abs(one$value - two$value), one$error + two$error)
  v <- c(0.8, 0, -0.6)
  leaning <- mf_exp(M, p, v + 5e-9 * p, error = TRUE)
  expect_lte(abs(mf_dist(M, leaning$value, mf_exp(M, p, v))), leaning$error + 1e-15)
})

test_that("shapes, batches and points of a class", {
  set.seed(3)
  M <- spd(3)
  x <- mf_random(M, 7)
  y <- mf_random(M, 7)
  many <- mf_log(M, x, y, error = TRUE)
  expect_identical(many$value, mf_log(M, x, y))
  expect_length(many$error, 7)
  expect_identical(many$error[4], mf_log(M, x[, , 4], y[, , 4], error = TRUE)$error)
  expect_identical(mf_log(M, mf_points(x, M), mf_points(y, M), error = TRUE)$error, many$error)
  expect_identical(mf_exp(M, x, many$value, error = TRUE)$error[2], mf_exp(M, x[, , 2], many$value[, , 2], error = TRUE)$error)
  expect_identical(mf_dist(M, x[, , 1], y, error = TRUE)$error[3], mf_dist(M, x[, , 1], y[, , 3], error = TRUE)$error)
  expect_length(mf_dist(sphere(2), c(0, 0, 1), matrix(0, 0, 3), error = TRUE)$error, 0)
  expect_error(mf_dist(M, x, y, error = NA), class = "riemdp_error_argument")
  expect_error(mf_dist(M, x, y, error = "yes"), class = "riemdp_error_argument")
})

test_that("no bound is told where none is proven", {
  P <- diag(2)
  expect_error(mf_dist(spd(2, "bures"), P, 2 * P, error = TRUE), class = "riemdp_error_unsupported")
  expect_error(mf_log(grassmann(3, 1), c(1, 0, 0), c(0.6, 0.8, 0), error = TRUE), class = "riemdp_error_unsupported")
  M <- product(sphere(2), kendall(3))
  x <- mf_random(M, 2)
  expect_error(mf_dist(M, x, x, error = TRUE), class = "riemdp_error_unsupported")
  expect_error(frechet_mean(mf_random(kendall(4), 5), kendall(4), error = TRUE), class = "riemdp_error_unsupported")
  expect_error(frechet_mean(chunks(matrix(1:6, 3), 1), euclidean(2), error = TRUE), class = "riemdp_error_unsupported")
})

test_that("means: never farther from the minimiser than is told", {
  mean_error <- riemdp:::mean_error
  # by symmetry the mean is the pole; across the plane of two records the energy's curvature is the least
  for (s in c(0.1, 0.7, 1.2, 1.5)) {
    x <- rbind(c(sin(s), 0, cos(s)), c(-sin(s), 0, cos(s)))
    for (t in c(1e-12, 1e-8, 1e-4)) {
      told <- mean_error(x, sphere(2), NULL, c(0, sin(t), cos(t)))
      expect_gte(told, t * (1 - 1e-4))
      expect_lte(told, t * 1.01)
    }
  }
  # farther than that the theorem says nothing
  x <- rbind(c(sin(1.58), 0, cos(1.58)), c(-sin(1.58), 0, cos(1.58)))
  expect_identical(mean_error(x, sphere(2), NULL, c(0, 0, 1)), Inf)
  # a point that is a critical one and no minimiser
  x <- rbind(c(1, 0, 0), c(0.6, 0.8, 0), c(0.6, -0.8, 0))
  expect_identical(mean_error(x, sphere(2), NULL, c(-1, 0, 0)), Inf)
  # a distant point, from which the minimiser isn't in the ball of the argument
  x <- rbind(c(sin(0.8), 0, cos(0.8)), c(-sin(0.8), 0, cos(0.8)))
  for (t in c(0.1, 0.5)) expect_identical(mean_error(x, sphere(2), NULL, c(0, sin(t), cos(t))), Inf)
  # weights
  expect_equal(mean_error(cbind(c(0, 1)), euclidean(1), c(1, 3), 0.5), 0.25, tolerance = 1e-12)
  expect_equal(mean_error(rbind(c(0, 0, 1), c(0, 0, -1)), sphere(2), c(1, 0), c(0, 0, 1)), 0, tolerance = 1e-12)
  # on hyperbolic space the bound is the gradient's norm
  M <- hyperbolic(2)
  ray <- function(t) cbind(cosh(t), sinh(t), 0)
  expect_equal(mean_error(ray(c(-1, 1)), M, NULL, as.vector(ray(1e-6))) / 1e-6, 1, tolerance = 1e-6)
  # products
  P <- product(sphere(1), euclidean(1), weights = c(2, 5))
  x <- cbind(cos(c(-0.2, 0.2)), sin(c(-0.2, 0.2)), c(3, 5))
  expect_equal(mean_error(x, P, NULL, c(cos(1e-3), sin(1e-3), 4.25)), sqrt(2 * 1e-6 + 5 * 0.0625), tolerance = 1e-4)
})

test_that("means of ill-conditioned matrices", {
  skip_if_not_installed("jsonlite")
  for (case in jsonlite::fromJSON(test_path("reference", "mean.json"), simplifyDataFrame = FALSE)) {
    k <- case$k
    fit <- frechet_mean(array(t(case$x), c(k, k, nrow(case$x))), spd(k), error = TRUE)
    away <- (matrix(case$inverse, k) %*% matrix((as.vector(fit$mean) - case$hi) - case$lo, k))
    away <- sqrt(max(0, sum(diag(away %*% away))))
    expect_lte(away, fit$error_bound * 1.01)
    expect_lt(fit$error_bound, 3 * away + 1e-15)
  }
})

test_that("a mean's bound is printed as a proven one", {
  x <- wishart_spd[, , 1:20]
  fit <- frechet_mean(x, spd(2), error = TRUE)
  expect_true(fit$error_proven)
  plain <- frechet_mean(x, spd(2))
  expect_null(plain$error_proven)
  expect_identical(unclass(plain)[setdiff(names(plain), "error_bound")], unclass(fit)[setdiff(names(plain), "error_bound")])
  expect_lt(fit$error_bound, 1e-9)
  expect_output(print(fit), "provably at most .* from the mean of these records")
  expect_output(print(plain), ", at most .* from the mean of these records")
  wide <- frechet_mean(rbind(c(1, 0, 0), c(0, 1, 0), c(-0.6, -0.8, 0)), sphere(2), error = TRUE)
  expect_identical(wide$error_bound, Inf)
  expect_output(print(wide), "no proven bound of its distance from the mean")
})

test_that("small errors of a product's parts are not lost where their squares are 0", {
  x <- c(1, 2, 4) * 1e-150
  M <- euclidean(1)
  one <- frechet_mean(x, M, error = TRUE)$error_bound
  both <- frechet_mean(cbind(x, x), product(M, M), error = TRUE)$error_bound
  expect_gt(one, 0)
  expect_equal(both / one, sqrt(2), tolerance = 1e-9)
})
