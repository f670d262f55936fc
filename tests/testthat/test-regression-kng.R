# The K-norm gradient mechanism for curves: sensitivity by search, law and privacy loss by quadrature, and the published calibration, which
# the same searches catch. Seeds are fixed. Statistical tests compare 8 means of draws with quadrature, and 6 of a chain with exact draws,
# at 5 standard errors (of batches for the chain): false alarms below 2e-5.

kng_ask <- function(M, n, epsilon = 2, tau = 0.1, radius = 0.4, speed = 1.5, reach = 0.5, center = NULL, loss = "huber") {
  q <- mf_facts(M)$dimension
  center <- center %||% switch(M$name, sphere = c(rep(0, q), 1), spd_affine = diag(2), hyperboloid = c(1, rep(0, q)), rep(0, q))
  list(n = n, q = q, k = 1, epsilon = epsilon, delta = 0, center = center, radius = radius, speed = speed, residual_bound = tau,
       reach = reach, method = "kng", loss = loss)
}
`%||%` <- function(a, b) if (is.null(a)) b else a

# the two gradients, over their bounds, that one record has: residual e (coordinates at the prediction) at x on the curve (p, v). Before the
# cut that makes sure of the bounds, which thus can be missed.
record_pull <- function(M, p, b, x, e, rule, reach) {
  v <- mf_from_coords(M, p, b)
  at <- if (x == 0) p else mf_exp(M, p, mf_from_coords(M, p, x * b))
  y <- mf_exp(M, at, mf_from_coords(M, at, e))
  speed <- sqrt(sum(b^2))
  g <- .Call(riemdp:::riemdp_regression_records, M, p, v, x, y, rule$loss, TRUE)$gradient
  matrix(g, 2, byrow = TRUE) / riemdp:::kng_factors(rule$k_min, speed, reach)
}

# N of two data sets that differ in a record differs at most by the larger of these over n
largest_move <- function(M, tries, residual = 3, speed = 1.5, loss = "huber") {
  ask <- kng_ask(M, 1, speed = speed, loss = loss)
  rule <- riemdp:::curve_kng_rule(M, ask)
  q <- ask$q
  value <- function(par) {
    b <- par[seq_len(q)]
    b <- b * speed / max(speed, sqrt(sum(b^2)))
    x <- ask$reach * sin(par[q + 1:2])
    e <- matrix(residual * ask$residual_bound * tanh(par[-seq_len(q + 2)]), 2, byrow = TRUE)
    moved <- record_pull(M, ask$center, b, x[1], e[1, ], rule, ask$reach) - record_pull(M, ask$center, b, x[2], e[2, ], rule, ask$reach)
    max(sqrt(rowSums(moved^2))) / (2 * rule$tau)
  }
  max(vapply(seq_len(tries), function(i) {
    -stats::optim(stats::rnorm(3 * q + 2), function(par) -value(par), control = list(maxit = 400))$value
  }, 0))
}

test_that("no replaced record moves the gradients by more than 2 tau/n, and some do by .99 of it", {
  with_simulation(1, {
    tries <- if (quick()) 2 else 4
    for (M in list(euclidean(1), euclidean(2), sphere(1), sphere(2), sphere(3))) {
      most <- largest_move(M, tries)
      expect_lte(most, 1 + 1e-9)
      expect_gte(most, 0.99)
    }
    # long way around, and curvature below 0
    expect_lte(largest_move(sphere(2), tries, residual = 20, speed = 9), 1 + 1e-9)
    for (M in list(hyperbolic(2), spd(2))) for (loss in c("huber", "lad")) expect_lte(largest_move(M, tries, loss = loss), 1 + 1e-9)
    for (M in list(euclidean(2), sphere(2))) {
      most <- largest_move(M, tries, loss = "lad")
      expect_lte(most, 1 + 1e-9)
      expect_gte(most, 0.99)
    }
  })
})

test_that("gradients in the computer keep their bounds whatever they came out as", {
  # bounds of a space without negative curvature, in the hyperbolic plane: gradients are longer, and are cut
  M <- hyperbolic(2)
  ask <- kng_ask(M, 40)
  rule <- riemdp:::curve_kng_rule(M, ask)
  rule$k_min <- 0
  set.seed(5)
  x <- stats::runif(40, -0.5, 0.5)
  v <- mf_from_coords(M, ask$center, c(1.5, 0))
  y <- mf_exp(M, ask$center, mf_from_coords(M, ask$center, matrix(stats::rnorm(80), 40)))
  raw <- .Call(riemdp:::riemdp_regression_records, M, ask$center, v, x, y, rule$loss, TRUE)$gradient
  g <- riemdp:::kng_gradients(M, ask$center, v, 1.5, list(x = x, y = y, lost = rep(FALSE, 40)), rule, 0.5)
  for (i in 1:2) {
    most <- c(1, 0.5)[i] * rule$tau
    before <- raw[, 2 * i - 1:0]
    size <- sqrt(rowSums(before^2))
    expect_gt(max(size), 1.01 * most)
    expect_lte(max(sqrt(rowSums(g[[i]]^2))), most * (1 + 1e-12))
    expect_equal(g[[i]], before * pmin(1, most / size), tolerance = 1e-12)
  }
})

test_that("factors are those of Jacobi fields", {
  expect_identical(riemdp:::kng_factors(0, 3, 0.5), c(1, 0.5))
  f <- riemdp:::kng_factors(-1, 2, 0.5)
  # across the geodesic, on the hyperbolic plane
  p <- c(1, 0, 0)
  ask <- kng_ask(hyperbolic(2), 1)
  rule <- riemdp:::curve_kng_rule(hyperbolic(2), ask)
  v <- mf_from_coords(hyperbolic(2), p, c(2, 0))
  at <- mf_exp(hyperbolic(2), p, 0.5 * v)
  y <- mf_exp(hyperbolic(2), at, 0.05 * c(0, 0, 1))
  raw <- .Call(riemdp:::riemdp_regression_records, hyperbolic(2), p, v, 0.5, y, riemdp:::curve_loss("huber", rule$tau, rule$tau), TRUE)$gradient
  expect_equal(c(sqrt(sum(raw[1:2]^2)), sqrt(sum(raw[3:4]^2))), 0.05 * f, tolerance = 1e-9)
})

# N on a grid of (p, v) for data on the line or the circle
grid_norms <- function(M, ask, x, y, cells) {
  rule <- riemdp:::curve_kng_rule(M, ask)
  middle <- (seq_len(cells) - 0.5) / cells * 2 - 1
  g <- expand.grid(a = middle * ask$radius, b = middle * ask$speed)
  g$norm <- vapply(seq_len(nrow(g)), function(i) riemdp:::kng_norm(M, g$a[i], g$b[i], list(x = x, y = y, lost = is.na(x)), rule, ask)$norm, 0)
  g$density <- exp(-g$norm / rule$scale)
  g$density <- g$density / sum(g$density)
  g
}

test_that("the norm is what it says, and draws follow its law", {
  M <- euclidean(1)
  n <- 8
  ask <- kng_ask(M, n)
  x <- seq(-0.5, 0.5, length.out = n)
  y <- 0.15 + 0.8 * x + 0.05 * (-1)^(1:n)
  g <- grid_norms(M, ask, x, y, if (quick()) 31 else 61)
  # written out anew: Huber's psi, predictors in [-1/2, 1/2], ridges that pull by min(tau, scale) at the edges
  scale <- 4 * 0.1 / n / 2
  pull <- min(0.1, scale)
  again <- vapply(seq_len(nrow(g)), function(i) {
    psi <- pmax(-0.1, pmin(0.1, g$a[i] + x * g$b[i] - y))
    max(abs(mean(psi) + pull * g$a[i] / 0.4), abs(mean(x * psi) + pull * 0.5 * g$b[i] / 1.5) / 0.5)
  }, 0)
  expect_equal(g$norm, again, tolerance = 1e-10)
  draws <- if (quick()) 300 else 3000
  out <- with_simulation(3, {
    plan <- riemdp:::mechanism_regression_kng$plan(M, ask)
    t(vapply(seq_len(draws), function(i) unlist(riemdp:::mechanism_regression_kng$release(M, matrix(x, 1), matrix(y), plan, ask)), c(0, 0)))
  })
  # least absolute deviations: signs in the place of psi
  signs <- kng_ask(M, n, loss = "lad")
  lad <- grid_norms(M, signs, x, y, 15)
  again <- vapply(seq_len(nrow(lad)), function(i) {
    psi <- sign(lad$a[i] + x * lad$b[i] - y)
    pull <- min(1, 4 / n / 2)
    max(abs(mean(psi) + pull * lad$a[i] / 0.4), abs(mean(x * psi) + pull * 0.5 * lad$b[i] / 1.5) / 0.5)
  }, 0)
  expect_equal(lad$norm, again, tolerance = 1e-10)
  tests <- list(function(p, v) p, function(p, v) v, function(p, v) p^2, function(p, v) v^2, function(p, v) p * v, function(p, v) abs(p - 0.15),
                function(p, v) abs(v - 0.8), function(p, v) as.double(p > 0.2))
  for (f in tests) {
    seen <- f(out[, 1], out[, 2])
    expect_lt(abs(mean(seen) - sum(g$density * f(g$a, g$b))), 5 * stats::sd(seen) / sqrt(draws) + 0.002)
  }
})

test_that("candidates are uniform on curved balls", {
  with_simulation(4, for (M in list(sphere(2), hyperbolic(2))) {
    radius <- 1.2
    ask <- kng_ask(M, 1, radius = radius)
    a <- do.call(rbind, lapply(1:(if (quick()) 4 else 60), function(i) riemdp:::kng_candidates(M, ask, 256)$a))
    rho <- sqrt(rowSums(a^2))
    area <- function(r) if (M$name == "sphere") 1 - cos(r) else cosh(r) - 1
    expect_gt(stats::ks.test(area(rho) / area(radius), "punif")$p.value, 1e-6)
  })
})

test_that("the privacy loss stays within epsilon on the line and the circle", {
  with_simulation(5, for (M in list(euclidean(1), sphere(1))) {
    n <- 4
    ask <- kng_ask(M, n, epsilon = 1)
    cells <- if (quick()) 15 else 31
    angle <- function(t) if (M$name == "sphere") cbind(sin(t), cos(t)) else matrix(t)
    worst <- 0
    for (pair in 1:(if (quick()) 3 else 12)) {
      x <- stats::runif(n, -0.5, 0.5)
      t <- 0.1 + 0.9 * x + stats::rnorm(n, sd = 0.1)
      other <- list(x = x, t = t)
      x[n] <- 0.5
      other$x[n] <- sample(c(-0.5, 0.5), 1)
      t[n] <- 1.5
      other$t[n] <- -1.5
      loss <- log(grid_norms(M, ask, x, angle(t), cells)$density) - log(grid_norms(M, ask, other$x, angle(other$t), cells)$density)
      worst <- max(worst, abs(loss))
    }
    expect_lte(worst, 1 + 1e-9)
    expect_gte(worst, 0.4)
  })
})

test_that("by quadrature over (p, v) the sound law loses less than its epsilon, each of the published ways more", {
  M <- euclidean(1)
  n <- 4
  epsilon <- 0.5
  ask <- kng_ask(M, n, epsilon)
  # three records near the edge of the domain; the fourth goes from far below to far above. And the other way round: the same loss.
  x <- numeric(n)
  y <- c(0.3, 0.3, 0.3, -2)
  other <- replace(y, n, 2)
  loss <- function(rule, rule_other = rule) {
    one <- function(rule, y) {
      g <- expand.grid(a = seq(-0.975, 0.975, 0.05) * ask$radius, b = seq(-0.95, 0.95, 0.1) * ask$speed)
      log_density <- vapply(seq_len(nrow(g)), function(i) -riemdp:::kng_norm(M, g$a[i], g$b[i], list(x = x, y = y, lost = is.na(x)), rule, ask)$norm, 0) /
        rule$scale
      log_density - max(log_density) - log(sum(exp(log_density - max(log_density))))
    }
    max(abs(one(rule, y) - one(rule_other, other))) / epsilon
  }
  rule <- riemdp:::curve_kng_rule(M, ask)
  expect_lte(loss(rule), 1)
  expect_gte(loss(rule), 0.6)
  expect_lte(loss(riemdp:::curve_kng_rule(M, kng_ask(M, n, epsilon, loss = "lad"))), 1)
  with_ridge <- function(...) utils::modifyList(rule, list(...))
  expect_gt(loss(with_ridge(scale = rule$scale / 2)), 1.3) # no factor 2 for the normaliser
  expect_gt(loss(with_ridge(scale = rule$scale / 2, ridge = c(0, 0))), 1.5)
  expect_gt(loss(with_ridge(scale = rule$scale * cos(1), ridge = c(0, 0))), 1.4) # cos(1) in the place of c_p = 1
  # tau read off the records, the largest residual of each data set's own mean: 20 records that agree, or all but one
  n <- 20
  ask <- kng_ask(M, n, epsilon)
  x <- numeric(n)
  y <- 0.1 + 0.03 * (-1)^(1:n)
  other <- replace(y, n, 2)
  own <- function(y) {
    tau <- max(abs(y - mean(y)))
    with_ridge(tau = tau, loss = riemdp:::curve_loss("huber", tau, tau), scale = 4 * tau / n / epsilon, ridge = c(0, 0))
  }
  expect_gt(loss(own(y), own(other)), 2)
  fixed <- riemdp:::curve_kng_rule(M, ask)
  expect_lte(loss(fixed), 1)
})

test_that("it is asked for by name, where it can be drawn, and labelled", {
  M <- sphere(2)
  x <- seq(0, 1, length.out = 12)
  y <- mf_exp(M, c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
  ask <- function(...) do.call(dp_regression, utils::modifyList(
    list(formula = y ~ x, M = M, data = list(x = x, y = y), epsilon = 1, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1,
         bounds = c(0, 1), method = "kng"), list(...)))
  r <- ask()
  expect_identical(guarantee(r)$label, "pure")
  expect_true(is.na(r$expected_error))
  expect_lte(mf_dist(M, r$value$p, c(0, 0, 1)), 0.4 + 1e-9)
  expect_lte(mf_norm(M, r$value$p, r$value$v), 1.5 + 1e-9)
  expect_output(print(r), "no model")
  expect_output(explain(r), "K-norm gradient")
  expect_error(confint(r), class = "riemdp_error_unsupported")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(r), r)
  expect_identical(ask(method = "auto")$mechanism, "newton")
  lad <- ask(loss = "lad")
  expect_identical(guarantee(lad)$label, "pure")
  expect_output(explain(lad), "least absolute")
  expect_error(ask(loss = "lad", method = "newton"), "lad", class = "riemdp_error_unsupported")
  expect_error(ask(loss = "squared"), class = "riemdp_error")
  expect_error(ask(epsilon = 10), "n = 12 and epsilon = 10", class = "riemdp_error_unsupported")
  expect_error(ask(radius = 3.1415), NA) # the whole sphere
  for (wild in list(list(residual_bound = 1e300), list(residual_bound = 1e-300), list(speed = 1e300), list(bounds = c(0, 1e300)),
                    list(bounds = c(0, 1e-300)))) {
    expect_error(do.call(ask, wild), class = "riemdp_error_unsupported")
  }
  expect_error(dp_regression(y ~ x + z, M, list(x = x, y = y, z = x^2), epsilon = 1, center = c(0, 0, 1), radius = 0.4, speed = 1, residual_bound = 0.1,
                             bounds = list(x = c(0, 1), z = c(0, 1)), method = "kng"), "one predictor", class = "riemdp_error_unsupported")
  for (other in list(stiefel(4, 2), spd(2, "bures"), sphere(60))) {
    p <- if (other$name == "sphere") c(rep(0, 60), 1) else if (other$name == "stiefel") rbind(diag(2), 0, 0) else diag(2)
    expect_error(riemdp:::mechanism_regression_kng$plan(other, kng_ask(other, 5, radius = 1.5, center = p)), class = "riemdp_error_unsupported")
  }
  # missing cells and wild records count for themselves
  lost <- list(x = c(NA, x[-1]), y = y)
  bad <- list(x = x, y = rbind(NA, y[-1, ]))
  one <- function(d) with_simulation(8, ask(data = d, invalid = "ignore")$value)
  expect_identical(one(lost), one(bad))
  far <- list(x = x, y = -y)
  expect_true(all(is.finite(unlist(one(far)))))
})

test_that("points that doubles can't hold are outside the domain, not an error on the way", {
  M <- spd(2, "logeuclidean")
  x <- seq(0, 1, length.out = 10)
  y <- mf_exp(M, diag(2), mf_from_coords(M, diag(2), outer(x, c(0.1, 0.2, 0))))
  ask <- function(radius) {
    dp_regression(y ~ x, M, epsilon = 0.1, center = diag(2), radius = radius, speed = 1, residual_bound = 0.1, bounds = c(0, 1), method = "kng")
  }
  expect_error(ask(30), "fit into doubles", class = "riemdp_error_unsupported")
  expect_null(riemdp:::kng_point(M, c(0, 30, 0), c(0, 0, 0), diag(2)))
  # a matrix whose eigenvalues' ratio is e^35 holds the logarithm of the smaller one to e^35 u = .2 only
  for (i in 1:20) expect_lte(mf_dist(M, with_simulation(i, ask(25))$value$p, diag(2)), 25 + exp(25 * sqrt(2)) * 2^-53)
})

test_that("a chain has the same law in the long run", {
  M <- sphere(2)
  n <- 8
  x <- seq(-0.5, 0.5, length.out = n)
  ask <- kng_ask(M, n)
  y <- mf_exp(M, ask$center, cbind(0.15 + 0.8 * x, 0.05 * (-1)^(1:n), 0))
  draws <- if (quick()) 300 else 2000
  statistics <- function(p, v) c(p[1], sqrt(sum(p[1:2]^2)), sum(p[1:2]^2), sqrt(sum(v^2)), sum(v^2), sum(p * c(v[2], -v[1], 0)))
  exact <- with_simulation(5, {
    plan <- riemdp:::mechanism_regression_kng$plan(M, ask)
    vapply(seq_len(draws), function(i) {
      value <- riemdp:::mechanism_regression_kng$release(M, matrix(x, 1), y, plan, ask)
      statistics(value$p, value$v)
    }, numeric(6))
  })
  states <- if (quick()) 6000 else 60000
  seen <- matrix(0, 6, states)
  i <- 0
  with_simulation(6, {
    riemdp:::kng_chain(M, list(x = x, y = y, lost = rep(FALSE, n)), riemdp:::curve_kng_rule(M, ask), ask, states, function(state) {
      i <<- i + 1
      seen[, i] <<- statistics(state$p, mf_from_coords(M, state$p, state$v))
    })
  })
  batches <- apply(array(seen, c(6, states / 40, 40)), c(1, 3), mean)
  error <- sqrt(apply(exact, 1, stats::var) / draws + apply(batches, 1, stats::var) / 40)
  expect_lt(max(abs(rowMeans(exact) - rowMeans(seen)) / error), 5)
})

test_that("a chain is labelled by what is proven of it", {
  M <- sphere(2)
  x <- seq(0, 1, length.out = 40)
  y <- mf_exp(M, c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
  ask <- function(n, chain, delta = 0, ...) {
    dp_regression(y ~ x, M, list(x = x[seq_len(n)], y = y[seq_len(n), ]), epsilon = 1, center = c(0, 0, 1), radius = 0.4, speed = 1.5,
                  residual_bound = 0.1, bounds = c(0, 1), method = "kng", chain = chain, delta = delta, ...)
  }
  r <- ask(4, 600, 0.01)
  t <- (1 - 0.1 * exp(-2))^600 # n epsilon/4 + 1 = 2
  expect_identical(guarantee(r)$label, "approx-sampler")
  expect_equal(guarantee(r)$delta, (1 + exp(1)) * t, tolerance = 1e-10)
  expect_output(print(r), "Markov chain")
  expect_output(explain(r), "600 steps")
  expect_equal(r$budget$event, event_approx(1, guarantee(r)$delta, adjacency = "replace-one"))
  expect_identical(guarantee(ask(4, 300, 0.01))$label, "none")
  far <- ask(40, 300) # beyond what rejection reaches at 400 records; here too few steps, and no delta
  expect_identical(guarantee(far)$label, "none")
  expect_match(guarantee(far)$reason, "not proven")
  expect_lte(mf_norm(M, far$value$p, far$value$v), 1.5 + 1e-9)
  expect_error(ask(4, 0), class = "riemdp_error_argument")
  expect_error(dp_regression(y ~ x, M, list(x = x, y = y), epsilon = 1, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1,
                             bounds = c(0, 1), chain = 10), class = "riemdp_error_unsupported")
})

test_that("exact draws end, and what the last resort costs is below what the scale is rounded up by", {
  M <- sphere(2)
  ask <- kng_ask(M, 20)
  x <- seq(-0.5, 0.5, length.out = 20)
  y <- mf_points(t(vapply(x, function(z) mf_exp(M, ask$center, c(z, 0.2, 0)), numeric(3))), M)
  plan <- riemdp:::mechanism_regression_kng$plan(M, ask)
  # a scale at which the law is far from uniform, so that a draw of it would be noticed
  plan$steps[[1]]$scale <- plan$steps[[1]]$scale / 20
  release <- function(blocks) riemdp:::mechanism_regression_kng$release(M, rbind(x), y, replace(plan, "blocks", blocks), ask)
  # none: uniform coordinates of the foot point in the disc of radius .4, a uniform vector in that of radius 1.5
  count <- if (quick()) 60 else 300
  drawn <- with_simulation(3, replicate(count, release(0), simplify = FALSE))
  far <- vapply(drawn, function(r) mf_dist(M, ask$center, r$p), 0)
  expect_lte(max(far), 0.4 * (1 + 1e-9))
  expect_gt(stats::ks.test((far / 0.4)^2, "punif")$p.value, 1e-5)
  speed <- vapply(drawn, function(r) sqrt(sum(r$v^2)), 0)
  expect_gt(stats::ks.test((speed / 1.5)^2, "punif")$p.value, 1e-5)
  for (case in list(list(sphere(2), 20, 2), list(sphere(2), 400, 0.1), list(hyperbolic(3), 30, 1), list(euclidean(1), 4, 8))) {
    ask <- kng_ask(case[[1]], case[[2]], case[[3]])
    if (case[[1]]$name == "hyperboloid") ask$center <- c(1, 0, 0, 0)
    plan <- riemdp:::mechanism_regression_kng$plan(case[[1]], ask)
    rule <- plan$steps[[1]]
    gap <- diff(riemdp:::kng_volume(case[[1]], ask))
    # largest exponent of the law: every clipped gradient and the ridge pull alike
    L <- (rule$tau + max(rule$ridge[1] * ask$radius, rule$ridge[2] * ask$speed / ask$reach)) / rule$scale
    expect_lte(rule$log_trials, L * (1 + 1e-12))
    expect_lte(256 * plan$blocks * log1p(-exp(-L - gap)), log(1e-13 * min(1, case[[3]])) - L - gap)
    expect_lte(256 * riemdp:::chain_blocks(case[[1]], ask) * log1p(-exp(-gap)), -800)
  }
})
