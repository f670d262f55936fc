# Private Gauss-Newton steps: features against differences of the prediction, constants against searches, the loss of a step by exact
# density ratios. Seeds are fixed; nothing here is a statistical test except where a rate is given.

step_constants <- function(q, epsilon = 1, bound = 0.1, first = TRUE) {
  riemdp:::newton_rule(100, epsilon, q, 1, bound, c(0.4, 0.6), first)
}

# F as in the kernel for eigenvalues lambda at x, reach 1
features <- function(lambda, x) {
  angle <- sqrt(abs(lambda)) * x
  bend <- cos(angle)
  swing <- sin(angle)
  low <- lambda < 0
  bend[low] <- cosh(angle[low])
  swing[low] <- sinh(angle[low])
  flat <- abs(angle) < 1e-9
  swing <- swing / angle
  swing[flat] <- 1
  rbind(bend, swing * x)
}

psi_at <- function(rule, r) {
  z <- r / (rule$tau * riemdp:::LOSS_STEP)
  i <- min(floor(z), riemdp:::LOSS_KNOTS)
  rise <- if (i + 1 < length(rule$g)) rule$g[i + 2] - rule$g[i + 1] else 0
  list(psi = rule$tau * (rule$g[i + 1] + rise * (z - i)), slope = rise / riemdp:::LOSS_STEP)
}

gauge <- function(b) (sqrt(sum((b[1, ] + b[2, ])^2)) + sqrt(sum((b[1, ] - b[2, ])^2))) / 2

# log density ratio of two records alone against each other at the coefficients where the ratio of the noise's densities is largest:
# N(F'w - F_'w_) for the noise, exact determinants
step_loss <- function(par, lambda, rule, c, grow, q) {
  identity <- diag(q)
  twice <- rep(seq_len(q), 2)
  record <- function(par) {
    x <- sin(par[1])
    direction <- par[3:(2 + q)]
    direction <- direction / sqrt(sum(direction^2))
    r <- exp(par[2]) * rule$tau
    at <- psi_at(rule, r)
    f <- features(lambda, x)
    along <- tcrossprod(direction)
    curved <- at$psi / r * (identity - along) + at$slope * along
    # F' curved F, F the q x 2q matrix of the two rows' diagonals
    list(shift = f * rep(at$psi * direction, each = 2), hessian = tcrossprod(as.vector(t(f))) * curved[twice, twice])
  }
  one <- record(par[seq_len(q + 2)])
  two <- record(par[q + 2 + seq_len(q + 2)])
  ridge <- diag(rep(rule$ridge * grow, each = q))
  log_det <- function(h) as.double(determinant(ridge + h)$modulus)
  rule$rate / c * gauge(two$shift - one$shift) + log_det(one$hessian) - log_det(two$hessian)
}

worst_loss <- function(lambda, rule, c, grow, tries) {
  q <- length(lambda)
  best <- -Inf
  for (i in seq_len(tries)) {
    fit <- stats::optim(c(stats::runif(1, -2, 2), stats::rnorm(1), stats::rnorm(q), stats::runif(1, -2, 2), stats::rnorm(1), stats::rnorm(q)),
                        function(par) -step_loss(par, lambda, rule, c, grow, q), control = list(maxit = 3000))
    best <- max(best, -fit$value)
  }
  best
}

test_that("a step loses at most its epsilon and nearly all of it; without the gauge it loses more", {
  with_simulation(1, {
    for (lambda in list(0, c(0, 0), c(0, 1), c(0, 4), c(0, -1), c(0, -4))) {
      rule <- step_constants(length(lambda))
      rule$norm <- "vertex"
      c <- riemdp:::newton_gauge(lambda, 1, "vertex")
      grow <- riemdp:::newton_ridge_factor(lambda, 1, rule$share)
      loss <- worst_loss(lambda, rule, c, grow, if (quick()) 3 else 12)
      expect_lte(loss, rule$epsilon - rule$solver + 1e-9)
      if (all(lambda == 0)) expect_gte(loss, 0.9)
    }
    # a speed of 3 on the sphere
    rule <- step_constants(2)
    c <- riemdp:::newton_gauge(c(0, 9), 1, "vertex")
    expect_gt(c, 1.05)
    with <- worst_loss(c(0, 9), rule, c, 1, if (quick()) 4 else 20)
    expect_lte(with, rule$epsilon)
    expect_gt(worst_loss(c(0, 9), rule, 1, 1, if (quick()) 4 else 20), with + 0.01)
  })
})

test_that("the gauge bounds the norm of every record's gradient and isn't wide of the mark", {
  with_simulation(2, {
    for (lambda in list(c(0, 1), c(0, 9), c(0, 1, 4), c(0, -1), c(0, -0.25, -4), c(0, 100))) {
      bound <- riemdp:::newton_gauge(lambda, 1, "vertex")
      q <- length(lambda)
      # records at 2000 places, 20 directions each
      seen <- max(vapply(stats::runif(2000, -1, 1), function(x) {
        w <- matrix(stats::rnorm(20 * q) * stats::rexp(20 * q), q)
        w <- w / rep(sqrt(colSums(w^2)), each = q)
        f <- features(lambda, x)
        long <- function(v) sqrt(colSums((v * w)^2))
        max(long(f[1, ] + f[2, ]) + long(f[1, ] - f[2, ])) / 2
      }, 0))
      expect_lte(seen, bound)
      expect_gte(seen, 0.97 * bound)
      if (all(lambda >= 0)) expect_lte(bound, 1.2)
    }
    expect_identical(riemdp:::newton_gauge(c(0, 4), 1, "max"), 1)
    expect_equal(riemdp:::newton_gauge(c(0, -4), 0.5, "max"), cosh(1))
    expect_identical(riemdp:::newton_gauge(c(0, 4), c(1, 1), "vertex"), 1)
  })
})

test_that("ridges keep the leverage of every record at or below t", {
  for (lambda in list(c(0, 4), c(0, -4), c(-1, -9))) for (first in c(TRUE, FALSE)) {
    rule <- step_constants(2, first = first)
    ridge <- rule$ridge * riemdp:::newton_ridge_factor(lambda, 1, rule$share)
    leverage <- max(vapply(seq(-1, 1, 0.01), function(x) max(colSums(features(lambda, x)^2 / ridge)), 0))
    expect_lte(leverage, rule$t * (1 + 1e-9))
    expect_gte(leverage, 0.5 * rule$t)
  }
})

test_that("features are the derivative of the prediction on symmetric spaces", {
  with_simulation(3, {
    for (M in list(sphere(2), sphere(5), hyperbolic(3), spd(3), spd(2, "logeuclidean"), grassmann(5, 2), kendall(5), euclidean(2))) {
      q <- mf_facts(M)$dimension
      p <- riemdp:::public_point(M, mf_random(M, 1))
      a <- 0.4 * stats::rnorm(q) / sqrt(q)
      frame <- .Call(riemdp:::riemdp_gauss_newton_frame, M, p, mf_from_coords(M, p, a))
      expect_equal(crossprod(frame[[1]]), diag(q), tolerance = 1e-10)
      x <- 0.9
      at <- function(dp, dv) { # a point near, in coordinates at p of the moved curve's foot
        foot <- riemdp:::public_point(M, mf_exp(M, p, mf_from_coords(M, p, dp)))
        v <- mf_transport(M, p, foot, mf_from_coords(M, p, a + dv))
        riemdp:::public_point(M, mf_exp(M, foot, x * v))
      }
      records <- function(y) .Call(riemdp:::riemdp_gauss_newton_records_nonprivate, M, p, mf_from_coords(M, p, a), matrix(x), y, frame[[1]],
                                   frame[[2]], 1, 1)
      step <- 1e-5
      for (part in 1:2) for (j in seq_len(q)) {
        move <- frame[[1]][, j] * step
        zero <- numeric(q)
        plus <- if (part == 1) at(move, zero) else at(zero, move)
        minus <- if (part == 1) at(-move, zero) else at(zero, -move)
        f <- records(plus)
        slope <- drop(f[[2]] - records(minus)[[2]]) / (2 * step)
        expected <- numeric(q)
        expected[j] <- f[[1]][j, part, 1]
        expect_equal(slope, expected, tolerance = 1e-5, label = paste(M$name, part, j))
      }
    }
  })
})

test_that("the frame doesn't turn with the last digits, though eigenvalues coincide", {
  with_simulation(4, {
    for (M in list(sphere(5), hyperbolic(4), spd(2), spd(3), grassmann(4, 2), grassmann(5, 2), kendall(5))) {
      q <- mf_facts(M)$dimension
      p <- riemdp:::public_point(M, mf_random(M, 1))
      a <- 0.4 * stats::rnorm(q) / sqrt(q)
      frame <- function(a) .Call(riemdp:::riemdp_gauss_newton_frame, M, p, mf_from_coords(M, p, a))
      one <- frame(a)
      for (i in 1:5) {
        other <- frame(a * (1 + 1e-13 * stats::rnorm(q)))
        expect_lt(max(abs(other[[1]] - one[[1]])), 1e-7, label = M$name)
        expect_lt(max(abs(other[[2]] - one[[2]])), 1e-9, label = M$name)
      }
    }
  })
})

test_that("a record alone decides its own features and residual; what is missing or no point has none", {
  M <- sphere(2)
  p <- c(0, 0, 1)
  v <- c(0.5, 0, 0)
  y <- rbind(c(0, 0, 1), c(0.6, 0, 0.8), c(NA, 0, 1), c(5, 5, 5), c(0, 0, -1), c(Inf, 0, 0), c(0, 0.6, 0.8), c(0, 0.6, 0.8))
  x <- c(0, 1, 1, 1, 0, 1, NA, 7)
  frame <- .Call(riemdp:::riemdp_gauss_newton_frame, M, p, v)
  all <- .Call(riemdp:::riemdp_gauss_newton_records_nonprivate, M, p, v, matrix(x, 1), y, frame[[1]], frame[[2]], 1, 1)
  for (i in seq_along(x)) {
    one <- .Call(riemdp:::riemdp_gauss_newton_records_nonprivate, M, p, v, matrix(x[i]), y[i, ], frame[[1]], frame[[2]], 1, 1)
    expect_identical(one[[1]][, , 1], all[[1]][, , i])
    expect_identical(one[[2]][, 1], all[[2]][, i])
  }
  expect_true(all(all[[1]][, , 3:7] == 0))
  expect_true(all(all[[2]][, 3:7] == 0))
  expect_true(all(is.finite(unlist(all))))
  # beyond its range a predictor counts as the end of the range
  edge <- .Call(riemdp:::riemdp_gauss_newton_records_nonprivate, M, p, v, matrix(1), y[8, ], frame[[1]], frame[[2]], 1, 1)
  expect_identical(edge[[2]][, 1], all[[2]][, 8])
})

test_that("a last step along the gradient is the clipped sum with noise of its rate, and loses its epsilon at most", {
  with_simulation(4, {
    for (lambda in list(0, c(0, 0), c(0, 1), c(0, 9))) {
      q <- length(lambda)
      rule <- riemdp:::noisy_rule(50, 1, q, 1, 0.1, c(0.1, 0.1))
      c <- riemdp:::newton_gauge(lambda, 1, "vertex")
      expect_identical(rule$rate, 1 / (2 * rule$tau))
      psi <- function(par) rule$tau * par / max(1, sqrt(sum(par^2)))
      shift <- function(par) features(lambda, sin(par[1])) * rep(psi(par[-1]), each = 2)
      loss <- function(par) rule$rate / c * gauge(shift(par[seq_len(q + 1)]) - shift(par[q + 1 + seq_len(q + 1)]))
      worst <- max(vapply(1:6, function(i) {
        -stats::optim(stats::rnorm(2 * q + 2, sd = 2), function(par) -loss(par), control = list(maxit = 2000))$value
      }, 0))
      expect_lte(worst, 1 + 1e-12)
      expect_gte(worst, if (any(lambda > 4)) 0.9 else 0.97)
    }
  })
  # three records: the sum by hand, the noise drawn again
  rule <- riemdp:::noisy_rule(3, 1, 2, 1, 0.1, c(0.1, 0.1))
  e <- cbind(c(0.01, 0), c(3, 4), c(0, 0))
  f <- array(c(1, 1, 0.5, 0.5, 0.9, 1, -1, -0.8, 0, 0, 0, 0), c(2, 2, 3))
  psi <- cbind(e[, 1], e[, 2] / 5 * rule$tau, 0)
  expect_true(rule$tau > 0.01)
  by_hand <- sapply(1:2, function(k) rowSums(f[, k, ] * psi))
  records <- list(features = f, responses = e, lambda = c(0, 1))
  theta <- with_simulation(5, riemdp:::noisy_step(records, rule, 0.5))
  rate <- rule$rate / riemdp:::newton_gauge(c(0, 1), 0.5, rule$norm) * (1 - 1e-14)
  noise <- with_simulation(5, .Call(riemdp:::riemdp_perturbation_noise, 2, 2, 1, rule$norm, rate, TRUE))[, , 1]
  expect_equal(theta, (by_hand + noise) * rep(rule$size, each = 2), tolerance = 1e-12)
})

test_that("plans exist where residuals are far beyond their bound at first", {
  for (M in list(euclidean(1), sphere(1), sphere(2), sphere(20))) {
    p <- .Call(riemdp:::riemdp_origin, M)
    for (bound in c(1e-40, 1e-3, 1e3)) for (n in c(1, 50)) {
      plan <- dp_regression_plan(M, n, c(0.1, 8), p, 1.2, 5, bound, c(-1, 1))
      expect_true(all(is.finite(plan$expected_error) & plan$expected_error > 0))
    }
  }
})

test_that("plans exist for any budget that a loss exists for, and say so where none does", {
  plan <- function(epsilon, n = 20, M = sphere(2), center = c(0, 0, 1)) {
    dp_regression_plan(M, n, epsilon, center, radius = pi / 8, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1))
  }
  errors <- vapply(10^c(-6, -2, 0, 2, 3, 5, 8, 300), function(e) plan(e)$expected_error[1], 0)
  expect_true(all(is.finite(errors) & errors > 0))
  expect_false(is.unsorted(-errors))
  expect_identical(errors[7], errors[8])
  for (M in list(euclidean(1), euclidean(30))) for (e in c(1e-8, 1e5)) {
    expect_true(all(is.finite(plan(e, 1e6, M, numeric(mf_facts(M)$dimension))$expected_error)))
  }
  d <- with_simulation(6, {
    x <- stats::runif(30)
    list(x = x, y = mf_exp(sphere(2), c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0))))
  })
  for (e in c(1e-7, 1e5, 1e9)) {
    r <- dp_regression(y ~ x, sphere(2), d, epsilon = e, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1))
    expect_identical(guarantee(r)$epsilon, e)
    expect_true(all(is.finite(unlist(r$value))))
  }
  for (wild in list(c(1e300, 1, 1), c(1e-300, 1, 1), c(1, 1e300, 1), c(1, 1, 1e-300), c(1, 1e50, 1e50))) {
    expect_error(dp_regression_plan(sphere(2), 20, 1, c(0, 0, 1), 0.4, wild[2], wild[1], c(-1, 1) * wild[3]), class = "riemdp_error_unsupported")
  }
  expect_true(all(is.finite(dp_regression_plan(sphere(2), 20, 1, c(0, 0, 1), 0.4, 1e20, 1e-50, c(-1e20, 1e20), delta = 1e-6)$expected_error)))
  # without noise to speak of it is the plain curve
  ends <- mf_exp(sphere(2), c(0, 0, 1), outer(c(-0.5, 0.5), c(0.8, 0.2, 0)))
  expect_lt(max(mf_dist(sphere(2), predict(r, data.frame(x = c(0, 1))), ends)), 1e-3)
})

test_that("what the steps of a plan lose adds up to no more than epsilon, recomputed from their noise", {
  # of a perturbed step: its noise's rate times 2 tau (half of it for a record's gradient, the other half and the curvature by the loss'
  # knots), and the noise that pays for the solver; of a step along the gradient its rate times 2 tau
  lost <- function(rule, q) {
    if (isTRUE(rule$noisy)) return(2 * rule$tau * rule$rate)
    e1 <- 2 * rule$tau * rule$rate
    h <- riemdp:::LOSS_STEP
    at <- seq_along(rule$g)
    a <- c(1, rule$g[-1] / (h * (at[-1] - 1)))
    slope <- c(diff(rule$g) / h, 0)
    most <- c(rule$g[-1], rule$g[length(rule$g)])
    curve <- max(e1 * most / 2 + (q - 1) * log1p(rule$t * a) + log1p(rule$t * slope))
    expect_lte(1 / min(rule$ridge[1]) + (length(rule$ridge) - 1) / min(c(rule$ridge[-1], Inf)), rule$t * (1 + 1e-9)) # leverage at the range's ends
    e1 / 2 + curve + rule$solver
  }
  seen <- 0
  for (epsilon in c(0.3, 4)) for (n in c(30, 3000)) for (q in c(1, 3)) for (k in c(1, 3)) for (last in c(FALSE, TRUE)) {
    plan <- riemdp:::newton_plan(n, epsilon, q, k, 0.4, 0.8, 0.1, rep(0.5, k), noisy = last)
    if (is.null(plan)) next
    total <- sum(vapply(plan$steps, lost, 0, q))
    expect_lte(total, epsilon * (1 + 1e-9))
    expect_gt(total, 0.9 * epsilon) # and hardly anything is wasted
    seen <- seen + 1
  }
  expect_gt(seen, 20)
})

test_that("the last step along the gradient is for many dimensions and no negative curvature", {
  plan <- function(M, center, n) riemdp:::plan_regression(M, list(
    n = n, q = mf_facts(M)$dimension, k = 1, epsilon = 2, delta = 0, center = center, radius = 0.3, speed = 0.75, residual_bound = 0.1, reach = 0.5,
    method = "newton"))$details$noisy
  expect_true(plan(kendall(10), exp(2i * pi * (1:10) / 10), 50))
  expect_false(plan(sphere(2), c(0, 0, 1), 200))
  expect_false(plan(hyperbolic(10), c(1, numeric(10)), 50))
})
