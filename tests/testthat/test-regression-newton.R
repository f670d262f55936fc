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

# What a step is drawn with for eigenvalues lambda, reach 1: the noise's rate, the ridge, and by what features are divided (2 x q)
drawn_with <- function(lambda, rule) {
  list(rule = rule, rate = riemdp:::newton_rate(rule, riemdp:::bent_angles(lambda, 1, rule$norm)), ridge = rule$ridge,
       scale = t(riemdp:::feature_scale(lambda, 1)))
}

# a record's pull and curvature: x, the logarithm of its residual's length over tau, the residual's direction
one_record <- function(par, lambda, step) {
  q <- length(lambda)
  direction <- par[2 + seq_len(q)] / sqrt(sum(par[2 + seq_len(q)]^2))
  r <- exp(min(par[2], 300)) * step$rule$tau
  at <- psi_at(step$rule, r)
  f <- features(lambda, par[1]) / step$scale
  along <- tcrossprod(direction)
  curved <- at$psi / r * (diag(q) - along) + at$slope * along
  twice <- rep(seq_len(q), 2)
  # F' curved F, F the q x 2q matrix of the two rows' diagonals
  list(shift = f * rep(at$psi * direction, each = 2), hessian = tcrossprod(as.vector(t(f))) * curved[twice, twice])
}

# log density ratio of two records alone against each other at the coefficients where the ratio of the noise's densities is largest:
# N(F'w - F_'w_) for the noise, exact determinants
step_loss <- function(par, lambda, step) {
  q <- length(lambda)
  records <- lapply(list(par[seq_len(q + 2)], par[q + 2 + seq_len(q + 2)]), function(par) one_record(c(sin(par[1]), par[-1]), lambda, step))
  ridge <- diag(rep(step$ridge, each = q))
  log_det <- function(h) as.double(determinant(ridge + h)$modulus)
  step$rate * gauge(records[[2]]$shift - records[[1]]$shift) + log_det(records[[1]]$hessian) - log_det(records[[2]]$hessian)
}

# the largest that is found, from records at an end of the range whose residuals are opposite and long
worst_loss <- function(lambda, step, tries) {
  q <- length(lambda)
  best <- -Inf
  for (i in seq_len(tries)) {
    end <- if (i %% 2) 1.5 else stats::runif(1, -2, 2)
    w <- stats::rnorm(q)
    par <- c(end, stats::runif(1, -1, 2), w, end, 9, -w)
    for (again in 1:2) {
      fit <- stats::optim(par, function(par) -step_loss(par, lambda, step), control = list(maxit = 1500))
      par <- fit$par
    }
    best <- max(best, -fit$value)
  }
  best
}

test_that("a step loses at most its epsilon and nearly all of it, on curved spaces too; with constants of flat ones it loses more", {
  with_simulation(1, {
    for (lambda in list(0, c(0, 0), c(0, 0.5), c(0, 1), c(0, 4), c(0, 9), c(0, -1), c(0, -4), c(0, 1, 1), c(0, 1, -2))) {
      rule <- step_constants(length(lambda), first = FALSE)
      rule$norm <- "vertex"
      step <- drawn_with(lambda, rule)
      loss <- worst_loss(lambda, step, if (quick()) 6 else 16)
      expect_lte(loss, rule$epsilon - rule$solver + 1e-9)
      expect_gte(loss, 0.97 * (rule$epsilon - rule$solver))
    }
    rule <- step_constants(2, first = FALSE)
    for (lambda in list(c(0, 9), c(0, -1))) {
      step <- drawn_with(lambda, rule)
      step$scale[] <- 1
      step$rate <- if (lambda[2] > 0) 1.15 * step$rate else rule$rate
      expect_gt(worst_loss(lambda, step, if (quick()) 4 else 16), 1.01 * rule$epsilon)
    }
  })
})

test_that("what a record may cost is bounded for gradient and curvature together, by little more than is found", {
  with_simulation(7, {
    for (averaged in c(FALSE, TRUE)) for (lambda in list(c(0, 0.3), c(0, 1, 1, 4), c(0, 9), c(-1, 0, 2), c(0, 100), c(1e-14, 1e-3, 1))) {
      q <- length(lambda)
      rule <- riemdp:::newton_rule(300, 1.5, q, 1, 0.1, c(0.4, 0.6), FALSE, averaged = averaged)
      step <- drawn_with(lambda, rule)
      angles <- riemdp:::bent_angles(lambda, 1, "vertex")
      ridge <- rule$ridge * c(1, 0.7)
      lines <- riemdp:::record_lines(rule, ridge, angles)
      own <- function(par, v) {
        r <- one_record(c(sin(par[1]), par[-1]), lambda, step)
        # half the curvature's determinant is the loss in nothing but the ridge's metric
        h <- r$hessian / sqrt(tcrossprod(rep(ridge, each = q)))
        v * (lines$gauge + gauge(r$shift) / rule$tau) + if (averaged) sum(diag(h)) else as.double(determinant(diag(2 * q) + h)$modulus)
      }
      for (v in rule$e1 * c(0.2, 0.5, 1)) {
        bound <- max(lines$constant + lines$slope * v)
        seen <- max(vapply(1:(if (quick()) 6 else 20), function(i) {
          -stats::optim(c(stats::runif(1, -2, 2), stats::runif(1, -1, 2), stats::rnorm(q)), function(par) -own(par, v),
                        control = list(maxit = 1000))$value
        }, 0), vapply(1:300, function(i) own(c(stats::runif(1, -2, 2), stats::runif(1, -2, 3), stats::rnorm(q)), v), 0))
        expect_lte(seen, bound)
        expect_gte(seen, 0.96 * bound)
      }
    }
  })
})

test_that("on no cell features exceed what is said of them, whatever tangents' places are", {
  for (theta in list(c(0, 0.4), 1.7, c(0, 2, 9), 40)) {
    ridge <- c(2, 0.5)
    f <- riemdp:::feature_cells(theta, ridge)
    cells <- nrow(f$plus)
    for (at in list(list(plus = rep(1, cells), minus = rep(1, cells)), list(plus = rep(1.9, cells), minus = rep(0.1, cells)))) {
      bound <- riemdp:::tangent_squares(f, at)
      seen <- slack <- 0
      for (part in seq(0, 1, length.out = 21)) {
        x <- (seq_len(cells) - 1 + part) / cells
        bend <- cos(outer(x, theta))
        swing <- sin(outer(x, theta)) / rep(ifelse(theta == 0, 1, theta), each = cells)
        swing[, theta == 0] <- x
        seen <- pmax(seen, (bend + swing)^2 / at$plus + (bend - swing)^2 / at$minus)
        slack <- pmax(slack, bend^2 / ridge[1] + swing^2 / ridge[2])
      }
      expect_lte(max(seen - bound), 1e-12)
      expect_lte(max(slack - f$leverage), 1e-12)
      if (max(theta) < 10) expect_lt(max(bound - seen), 0.05) else expect_lt(max(bound), 40)
    }
  }
})

test_that("the rate is the largest that the bound lets, and is what the price is of", {
  for (averaged in c(FALSE, TRUE)) for (epsilon in c(1e-7, 0.3, 4, 1000)) for (lambda in list(c(0, 1), c(0, 1, -1, 3))) {
    q <- length(lambda)
    rule <- riemdp:::newton_rule(300, epsilon, q, 1, 0.1, c(0.4, 0.6), FALSE, averaged = averaged)
    angles <- riemdp:::bent_angles(lambda, 1, "vertex")
    rate <- riemdp:::newton_rate(rule, angles)
    price <- function(rate, ridge = rule$ridge) riemdp:::price_perturbed(rule, rate, ridge, rule$solver, angles = angles)
    expect_lte(price(rate)$epsilon, epsilon)
    expect_gte(price(rate)$epsilon, epsilon * (1 - 1e-4))
    expect_gt(price(1.03 * rate)$epsilon, 1.01 * epsilon)
    expect_gt(price(rate, rule$ridge / 2)$epsilon, epsilon)
    expect_equal(price(rate)$sensitivity, 2 * rule$tau * riemdp:::newton_gauge(lambda, 1, "vertex"), tolerance = 1e-2)
    # less noise than by gauge and leverage apart
    expect_gt(rate, 0.999 * rule$rate / riemdp:::newton_gauge(lambda, 1, "vertex"))
  }
  expect_identical(riemdp:::newton_rate(rule, NULL), rule$rate * (1 - 1e-14))
  expect_null(riemdp:::bent_angles(c(0, -1), 1, "vertex"))
  expect_null(riemdp:::bent_angles(c(0, 1), 1, "max"))
  expect_null(riemdp:::bent_angles(c(0, 1), c(1, 1), "vertex"))
})

test_that("the gauge bounds the norm of every record's gradient and isn't wide of the mark", {
  with_simulation(2, {
    for (lambda in list(c(0, 1), c(0, 9), c(0, 1, 4), c(0, -1), c(0, -0.25, -4), c(0, 100), c(0, -4, 2), c(0, 1e12))) {
      bound <- riemdp:::newton_gauge(lambda, 1, "vertex")
      q <- length(lambda)
      scale <- t(riemdp:::feature_scale(lambda, 1))
      # records at 2000 places, 20 directions each
      seen <- max(vapply(stats::runif(2000, -1, 1), function(x) {
        w <- matrix(stats::rnorm(20 * q) * stats::rexp(20 * q), q)
        w <- w / rep(sqrt(colSums(w^2)), each = q)
        f <- features(lambda, x) / scale
        long <- function(v) sqrt(colSums((v * w)^2))
        max(long(f[1, ] + f[2, ]) + long(f[1, ] - f[2, ])) / 2
      }, 0))
      expect_lte(seen, bound)
      expect_gte(seen, if (max(lambda) > 1e6) 0.8 else 0.98 * bound)
      expect_lte(bound, if (all(lambda <= 0)) 1 else if (max(lambda) > 1e6) sqrt(2) else 1.2)
    }
    expect_identical(riemdp:::newton_gauge(c(0, 4), 1, "max"), 1)
    expect_identical(riemdp:::newton_gauge(c(0, -4), 0.5, "max"), 1)
    expect_identical(riemdp:::newton_gauge(c(0, 4), c(1, 1), "vertex"), 1)
  })
})

test_that("features over their scale are within those of flat space, and leverage within t", {
  for (lambda in list(c(0, 4), c(0, -4), c(-1, -9), c(0, -1e-20))) for (first in c(TRUE, FALSE)) {
    rule <- step_constants(2, first = first)
    scale <- t(riemdp:::feature_scale(lambda, 1))
    for (x in seq(-1, 1, 0.01)) {
      f <- features(lambda, x) / scale
      expect_lte(max(colSums(f^2 / rule$ridge)), rule$t * (1 + 1e-9))
      expect_lte(max(abs(f)), 1)
      if (all(lambda <= 0)) expect_lte(max(abs(f[1, ] + f[2, ]) - 1 - x, abs(f[1, ] - f[2, ]) - 1 + x), 1e-15)
    }
    if (all(lambda <= 0)) expect_equal(unname(features(lambda, 1) / scale), matrix(1, 2, 2), tolerance = 1e-9)
  }
  expect_identical(riemdp:::feature_scale(c(0, -4), c(1, 1)), matrix(1, 2, 3))
  expect_equal(riemdp:::feature_scale(c(0, -4), 0.5), rbind(1, c(cosh(1), sinh(1))))
  # in numbers that doubles don't hold nothing is left of a record
  steep <- riemdp:::feature_scale(c(0, -1e7), 1)
  expect_identical(riemdp:::scaled_features(array(c(1, Inf, 1, Inf), c(2, 2, 1)), steep)[2, , 1], c(0, 0))
})

test_that("features are the derivative of the prediction on symmetric spaces", {
  with_simulation(3, {
    for (M in list(sphere(2), sphere(5), hyperbolic(3), spd(3), hermitian_spd(2), spd(2, "logeuclidean"), grassmann(5, 2), kendall(5), euclidean(2))) {
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
    for (M in list(sphere(5), hyperbolic(4), spd(2), spd(3), hermitian_spd(2), grassmann(4, 2), grassmann(5, 2), kendall(5))) {
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
  for (lambda in list(c(0, 1), c(0, -1))) {
    records <- list(features = f, responses = e, lambda = lambda)
    theta <- with_simulation(5, riemdp:::noisy_step(records, rule, 0.5))
    rate <- rule$rate / riemdp:::newton_gauge(lambda, 0.5, rule$norm) * (1 - 1e-14)
    noise <- with_simulation(5, .Call(riemdp:::riemdp_perturbation_noise, 2, 2, 1, rule$norm, rate, TRUE))[, , 1]
    noise <- noise * if (lambda[2] < 0) rbind(1, c(cosh(0.5), sinh(0.5) / 0.5)) else 1
    expect_equal(theta, (by_hand + noise) * rep(rule$size, each = 2), tolerance = 1e-11)
  }
  # where features are beyond doubles the step stays, whatever the records are
  far <- list(features = 1e308 * f, responses = e, lambda = c(0, -1e7))
  expect_identical(riemdp:::noisy_step(far, rule, 0.5), matrix(0, 2, 2))
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

test_that("of a step's lines those are kept that are the largest somewhere, and angles that are none are flat", {
  internal <- asNamespace("riemdp")
  set.seed(12)
  slope <- matrix(stats::rexp(600), 60)
  constant <- matrix(stats::rnorm(600) - slope^2 / 3, 60)
  kept <- internal$upper_lines(slope, constant)
  expect_lt(length(kept$slope), 200)
  for (v in c(0, 10^seq(-3, 3, by = 0.25))) expect_identical(max(kept$constant + kept$slope * v), max(constant + slope * v))
  expect_null(internal$bent_angles(c(2e-17, 0, -1), 1, "vertex"))
  expect_identical(internal$bent_angles(c(1, 0, -1), 2, "vertex"), c(2, 0, 0))
  expect_null(internal$bent_angles(c(1, 0), 2, "max"))
  expect_null(internal$bent_angles(c(1, 0), c(2, 1), "vertex"))
})
