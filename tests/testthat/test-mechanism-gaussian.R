# Kolmogorov-Smirnov tests at a false-alarm rate of 1e-6 each, all else (moments, signs, hockey-stick
# estimates) at 5.5 standard errors (4e-8 each): 44 of the first and some 140 of the second, all together below 6e-5. With 1e5 draws a scale that is 5 % off
# gives a distance above .02, the bound is .0085.

draws <- function() if (quick()) 5000 else 1e5
# under valgrind and the like one case stands for all where everything is in R
some <- function(cases) if (quick()) cases[1] else cases

# distribution function of a radial density by the trapezoidal rule
law_of <- function(log_density, top, m = 8000) {
  x <- seq(0, top, length.out = m + 1)
  l <- log_density(x)
  f <- exp(l - max(l[is.finite(l)]))
  f[!is.finite(l)] <- 0
  area <- cumsum(c(0, diff(x) * (f[-1] + f[-length(f)]) / 2))
  moment <- function(k) sum(diff(x) * ((x^k * f)[-1] + (x^k * f)[-length(f)]) / 2) / area[length(area)]
  list(cdf = stats::approxfun(x, area / area[length(area)], rule = 2), mean = moment(1), square = moment(2))
}

expect_radii <- function(rho, law) {
  n <- length(rho)
  u <- sort(law$cdf(rho))
  expect_lt(max(u - (seq_len(n) - 1) / n, seq_len(n) / n - u), sqrt(log(2e6) / (2 * n)))
  expect_lt(abs(mean(rho) - law$mean), 5.5 * stats::sd(rho) / sqrt(n))
  expect_lt(abs(mean(rho^2) - law$square), 5.5 * stats::sd(rho^2) / sqrt(n))
}

radii <- function(M, sigma, seed = 1) with_simulation(seed, .Call(riemdp:::riemdp_gaussian_radii, M, draws(), sigma, TRUE))

# radial laws, written here from the volume elements and not from the package
sphere_law <- function(d, s) law_of(function(r) (d - 1) * log(pmax(sin(r), 0)) - r^2 / (2 * s^2), min(pi, s * (sqrt(d) + 12)))
hyperbolic_law <- function(d, s) {
  law_of(function(r) (d - 1) * (r + log1p(-exp(-2 * r))) - r^2 / (2 * s^2), (d - 1) * s^2 + s * (sqrt(d) + 12))
}
shape_law <- function(k, s) {
  law_of(function(r) (2 * k - 5) * log(sin(r)) + log(pmax(cos(r), 0)) - r^2 / (2 * s^2),
         min(pi / 2, s * (sqrt(2 * k) + 12)), 20000)
}
flat_law <- function(d, s) law_of(function(r) (d - 1) * log(r) - r^2 / (2 * s^2), s * (sqrt(d) + 12))
spd2_law <- function(s, power = 1) {
  phi <- (seq_len(400) - 0.5) / 400 * 2 * pi
  gap <- abs(cos(phi) - sin(phi))
  law_of(function(r) vapply(r, function(t) log(t) + log(mean(sinh(t * gap / 2)^power)), 0) - r^2 / (2 * s^2), s^2 + 14 * s, 3000)
}

test_that("radii follow the law on spheres, hyperbolic space, shapes, positive definite matrices and flat spaces", {
  for (d in c(1, 2, 10)) for (s in c(0.02, 0.3, 2)) expect_radii(radii(sphere(d), s, d), sphere_law(d, s))
  for (d in c(2, 5)) {
    expect_radii(radii(hyperbolic(d), 0.7), hyperbolic_law(d, 0.7))
    expect_radii(radii(hyperbolic(d, "ball"), 0.05), hyperbolic_law(d, 0.05))
  }
  for (k in c(3, 10)) for (s in c(0.01, 0.3)) expect_radii(radii(kendall(k), s, k), shape_law(k, s))
  for (s in c(0.1, 0.8)) expect_radii(radii(spd(2), s), spd2_law(s))
  for (s in c(0.1, 0.6)) expect_radii(radii(hermitian_spd(2), s), spd2_law(s, 2))
  expect_radii(radii(spd(3, "logeuclidean"), 0.1), flat_law(6, 0.1))
  expect_radii(radii(euclidean(4), 2), flat_law(4, 2))
  # lines in R^4, and planes in it by the angle between their singular values
  for (s in c(0.1, 0.8)) {
    expect_radii(radii(grassmann(4, 1), s), law_of(function(r) 2 * log(pmax(sin(r), 0)) - r^2 / (2 * s^2), min(pi / 2, 14 * s)))
    phi <- (seq_len(1000) - 0.5) / 1000 * pi / 4
    expect_radii(radii(grassmann(4, 2), s), law_of(function(r) vapply(r, function(t) {
      a <- t * cos(phi)
      b <- t * sin(phi)
      log(t) + log(mean((a < pi / 2) * abs(sin(a - b) * sin(a + b))))
    }, 0) - r^2 / (2 * s^2), min(pi / sqrt(2), 14 * s), 3000))
  }
})

test_that("points lie at the right distance in uniform directions; wrapped noise is normal", {
  n <- draws() / 5
  for (M in list(sphere(4), hyperbolic(3), kendall(5), spd(2, "logeuclidean"))) {
    p <- record(M, with_simulation(3, mf_random(M, 1)), 1)
    d <- mf_facts(M)$dimension
    a <- mf_coords(M, p, mf_log(M, p, with_simulation(2, laplace_noise(M, p, 0.05, n, "gaussian"))))
    share <- a^2 / rowSums(a^2)
    w <- mf_coords(M, p, mf_log(M, p, with_simulation(4, laplace_noise(M, p, 0.05, n, "wrapped_gaussian")))) / 0.05
    for (j in seq_len(d)) {
      expect_lt(abs(mean(a[, j] > 0) - 0.5), 2.75 / sqrt(n))
      expect_lt(abs(mean(share[, j]) - 1 / d), 5.5 * stats::sd(share[, j]) / sqrt(n))
      expect_gt(stats::ks.test(w[, j], "pnorm")$p.value, 1e-6)
    }
  }
  # a scale that is 3 % small shows by its second moment, 6 %
  M <- sphere(4)
  p <- c(1, 0, 0, 0, 0)
  w <- mf_coords(M, p, mf_log(M, p, with_simulation(5, laplace_noise(M, p, 0.05, 4e4, "wrapped_gaussian")))) / 0.05
  expect_lt(abs(mean(w^2) - 1), 5.5 * sqrt(2 / length(w)))
})

# (f_p - exp(eps) f_q)_+ by integration over radius and angle, with another formula for the distance than the package's
direct_delta <- function(k, d, s, far, eps, m = if (quick()) 500 else 1500) {
  top <- min(if (k > 0) pi else Inf, s * (sqrt(d) + 9) + (k < 0) * (d - 1) * s^2)
  r <- (seq_len(m) - 0.5) / m * top
  t <- (seq_len(m) - 0.5) / m * pi
  w <- sin(t)^(d - 2)
  g <- (if (k > 0) sin(r) else sinh(r))^(d - 1) * exp(-r^2 / (2 * s^2))
  g <- g / sum(g)
  total <- 0 * eps
  for (i in which(g > 1e-20)) {
    d2 <- if (k > 0) acos(pmin(1, cos(r[i]) * cos(far) + sin(r[i]) * sin(far) * cos(t))) else
      acosh(pmax(1, cosh(r[i]) * cosh(far) - sinh(r[i]) * sinh(far) * cos(t)))
    loss <- (d2^2 - r[i]^2) / (2 * s^2)
    for (j in seq_along(eps)) total[j] <- total[j] + g[i] * sum(w * pmax(0, -expm1(pmin(0, eps[j] - loss)))) / sum(w)
  }
  total
}

test_that("delta on spheres and hyperbolic space: an upper bound that is close to direct integration", {
  eps <- c(0, 0.3, 1)
  cases <- list(list(sphere(2), 1, 0.1, 0.03), list(sphere(3), 1, 0.5, 0.3), list(sphere(10), 1, 0.3, 0.1),
                list(sphere(5), 1, 1, 2.5), list(sphere(3), 1, 0.05, 0.15), list(hyperbolic(2), -1, 0.3, 0.1),
                list(hyperbolic(5), -1, 0.4, 0.2))
  for (case in some(cases)) {
    M <- case[[1]]
    delta <- privacy_profile(M, case[[3]], case[[4]], eps)
    direct <- direct_delta(case[[2]], mf_facts(M)$dimension, case[[3]], case[[4]], eps)
    # the midpoint rule is good to some 1e-4 here, the bound to .2 %
    expect_true(all(delta / direct > 1 - 5e-4 & delta / direct < 1.003))
  }
})

test_that("more cells bring the bound down, never below a finer one's limit", {
  space <- riemdp:::profile_space(sphere(3))
  delta <- vapply(c(100, 400, 1600, 6400), function(m) riemdp:::profile_delta(space, 0.2, 0.05, 0.8, m), 0)
  expect_true(all(diff(delta) < 0))
  # second order: four times the cells, a sixteenth of the excess
  excess <- delta[1:3] - delta[4]
  expect_lt(excess[3] / excess[2], 1 / 8)
})

# mean of (1 - exp(eps - loss))_+ over exact draws
stick <- function(M, s, far, eps) {
  d <- mf_facts(M)$dimension
  p <- record(M, with_simulation(5, mf_random(M, 1)), 1)
  q <- mf_exp(M, p, mf_from_coords(M, p, c(far, rep(0, d - 1))))
  x <- with_simulation(6, laplace_noise(M, p, s, draws(), "gaussian"))
  loss <- (mf_dist(M, q, x)^2 - mf_dist(M, p, x)^2) / (2 * s^2)
  vapply(eps, function(e) {
    v <- pmax(0, -expm1(pmin(0, e - loss)))
    c(mean(v), stats::sd(v) / sqrt(length(v)))
  }, numeric(2))
}

test_that("delta against draws on every kind of space", {
  eps <- c(0, 0.4)
  # the largest excess that the proofs' bounds leave: shapes lose some per cent, positive definite matrices a factor
  cases <- list(list(sphere(2), 0.2, 0.1, 0.005), list(sphere(1), 1, 0.5, 0), list(hyperbolic(3, "ball"), 0.3, 0.1, 0.005),
                list(kendall(3), 0.3, 0.2, 0.005), list(kendall(4), 0.1, 0.03, 0.05), list(kendall(10), 0.1, 0.1, 0.05),
                list(euclidean(3), 1, 0.4, 0), list(spd(2), 0.3, 0.1, 20), list(hermitian_spd(2), 0.3, 0.1, 20), list(spd(2, "logeuclidean"), 0.3, 0.1, 0),
                list(grassmann(4, 2), 0.1, 0.03, 0.05), list(grassmann(2, 1), 0.5, 0.1, 0.4), list(grassmann(5, 3), 0.1, 0.15, 1),
                list(grassmann(4, 1), 1, 0.7, 50))
  for (case in cases) {
    delta <- privacy_profile(case[[1]], case[[2]], case[[3]], eps)
    seen <- stick(case[[1]], case[[2]], case[[3]], eps)
    expect_true(all(delta > seen[1, ] - 5.5 * seen[2, ]))
    expect_true(all(delta < seen[1, ] * (1 + case[[4]]) + 5.5 * seen[2, ]))
  }
})

test_that("on subspaces delta is that of flat space, which it nears for small scales, and below mu^2/2 a little more", {
  delta <- function(mu, e) privacy_profile(grassmann(4, 2), 0.3, 0.3 * mu, e)
  for (mu in c(0.1, 0.5, 1.5, 3)) {
    above <- mu^2 / 2 * c(1, 1.5, 4)
    expect_equal(delta(mu, above), riemdp:::gaussian_delta(mu, above), tolerance = 1e-9)
    below <- mu^2 / 2 * c(0, 0.4, 0.9)
    # (1 - exp(epsilon - mu^2/2))^2/2, written out
    most <- pmin(2 * pnorm(mu / 2) - 1 + (1 - exp(-mu^2 / 2))^2 / 2, sqrt(1 - exp(-mu^2 / 2)))
    expect_equal(delta(mu, 0), most, tolerance = 1e-9)
    expect_true(all(delta(mu, below) >= riemdp:::gaussian_delta(mu, below)))
    expect_true(all(diff(delta(mu, c(below, above))) <= 0))
  }
  expect_identical(privacy_profile(grassmann(4, 2), 0.01, 0.5, c(0, 1)), c(1, 1))
  # every direction, near the edge of the law too
  M <- grassmann(4, 2)
  for (s in c(0.1, 1.5)) {
    x <- with_simulation(8, laplace_noise(M, diag(4)[, 1:2], s, draws(), "gaussian"))
    for (v in list(rbind(0, 0, diag(2)) / sqrt(2), rbind(0, 0, diag(1:0)), rbind(0, 0, diag(c(1, -1))) / sqrt(2))) for (far in c(0.3, 1) * s) {
      y <- mf_exp(M, diag(4)[, 1:2], far * v)
      expect_equal(mf_dist(M, y, diag(4)[, 1:2]), far, tolerance = 1e-9)
      loss <- (mf_dist(M, y, x)^2 - mf_dist(M, diag(4)[, 1:2], x)^2) / (2 * s^2)
      for (e in c(0, 0.1, 0.6)) {
        v1 <- pmax(0, -expm1(pmin(0, e - loss)))
        expect_gt(privacy_profile(M, s, far, e), mean(v1) - 5.5 * stats::sd(v1) / sqrt(length(v1)))
      }
    }
  }
})

test_that("every direction on positive definite matrices is covered", {
  M <- spd(2)
  x <- with_simulation(7, laplace_noise(M, diag(2), 0.3, draws(), "gaussian"))
  delta <- privacy_profile(M, 0.3, 0.1, 0.4)
  for (v in list(diag(2) / sqrt(2), diag(c(1, 0)), diag(c(1, -1)) / sqrt(2), matrix(c(0, 1, 1, 0), 2) / sqrt(2))) {
    loss <- (mf_dist(M, mf_exp(M, diag(2), 0.1 * v), x)^2 - mf_dist(M, diag(2), x)^2) / (2 * 0.3^2)
    expect_lt(mean(pmax(0, -expm1(pmin(0, 0.4 - loss)))), delta)
  }
})

test_that("small scales: the profile of flat space", {
  for (M in list(sphere(2), hyperbolic(3), kendall(10))) {
    delta <- privacy_profile(M, 1e-3, 3e-4, c(0, 0.5, 1))
    flat <- riemdp:::gaussian_delta(0.3, c(0, 0.5, 1))
    expect_true(all(abs(delta / flat - 1) < 3e-3))
  }
  # and the condition itself, by its two-sided form
  mu <- 0.3
  expect_equal(riemdp:::gaussian_delta(mu, 1), pnorm(mu / 2 - 1 / mu) - exp(1) * pnorm(-mu / 2 - 1 / mu), tolerance = 1e-10)
})

test_that("circle: against one-dimensional integration", {
  s <- 1.3
  far <- 0.9
  d <- function(x, c) pmin(abs(x - c), 2 * pi - abs(x - c))
  x <- seq(-pi, pi, length.out = 400001)[-1]
  f <- exp(-d(x, 0)^2 / (2 * s^2))
  g <- exp(-d(x, far)^2 / (2 * s^2))
  for (e in c(0, 0.2, 0.8, 1.5)) {
    direct <- sum(pmax(0, f - exp(e) * g)) / sum(f)
    expect_equal(privacy_profile(sphere(1), s, far, e), direct, tolerance = 1e-6)
  }
  # beyond the largest loss there is nothing
  expect_identical(privacy_profile(sphere(1), s, far, far * (2 * pi - far) / (2 * s^2) + 1e-9), 0)
})

test_that("delta grows with the distance of the centres and falls with epsilon", {
  for (M in some(list(sphere(2), sphere(6), hyperbolic(3), kendall(6), sphere(1)))) {
    delta <- vapply(seq(0.05, 0.6, by = 0.05), function(far) privacy_profile(M, 0.4, far, 0.3), 0)
    expect_true(all(diff(delta) > 0))
    expect_true(all(diff(privacy_profile(M, 0.4, 0.3, seq(0, 4, by = 0.25))) <= 0))
  }
})

test_that("calibrations round-trip", {
  for (M in some(list(sphere(2), sphere(1), hyperbolic(2), kendall(5), spd(2), hermitian_spd(2), euclidean(2), grassmann(4, 2)))) {
    space <- riemdp:::profile_space(M)
    for (delta in c(1e-3, 1e-8)) {
      s <- riemdp:::gaussian_scale(space, 0.04, 0.7, delta)
      at <- riemdp:::profile_delta(space, s, 0.04, 0.7)
      expect_lte(at, delta)
      expect_gt(at, delta * (1 - 1e-4))
      expect_equal(riemdp:::gaussian_epsilon(space, s, 0.04, delta), 0.7, tolerance = 1e-4)
    }
  }
  # whichever side of the answer a root finder ends on
  circle <- riemdp:::profile_space(sphere(1))
  for (epsilon in seq(0.1, 2, length.out = 20)) {
    expect_lte(riemdp:::profile_delta(circle, riemdp:::gaussian_scale(circle, 0.3, epsilon, 1e-5), 0.3, epsilon), 1e-5)
  }
  # Balle and Wang's condition: mu for (1, 1e-6), from the condition itself
  mu <- riemdp:::gaussian_mu(1, 1e-6)
  expect_equal(pnorm(mu / 2 - 1 / mu) - exp(1) * pnorm(-mu / 2 - 1 / mu), 1e-6, tolerance = 1e-8)
})

test_that("mu covers the whole trade-off", {
  for (case in some(list(list(sphere(1), 1.5, 1), list(hyperbolic(2), 0.5, 0.2)))) {
    mu <- gdp_parameter(case[[1]], case[[2]], case[[3]])
    eps <- seq(0.013, 4, length.out = 40)
    delta <- privacy_profile(case[[1]], case[[2]], case[[3]], eps)
    # the profile is itself .2 % above the truth, mu covers the truth: delta grows some 30 times as fast as mu in the tail
    expect_true(all(delta <= riemdp:::gaussian_delta(mu, eps) * 1.002 + 1e-15))
    # and some epsilon needs nearly all of it
    eps <- seq(0, 8, length.out = 81)
    lower <- riemdp:::gaussian_delta(mu * 0.99, eps)
    expect_true(any(privacy_profile(case[[1]], case[[2]], case[[3]], eps) > lower & lower > 1e-15))
  }
  expect_equal(gdp_parameter(euclidean(3), 2, 0.5), 0.25)
  space <- riemdp:::profile_space(if (quick()) sphere(1) else sphere(3))
  s <- riemdp:::gaussian_scale_gdp(space, 0.1, 0.5)
  mu <- riemdp:::gaussian_gdp(space, s, 0.1)
  expect_true(mu <= 0.5 && mu > 0.495)
})

test_that("expected errors agree with simulation", {
  for (case in list(list(sphere(2), 0.3), list(hyperbolic(5), 0.3), list(kendall(10), 0.05), list(euclidean(3), 1))) {
    rho <- radii(case[[1]], case[[2]])
    expect_lt(abs(expected_error(case[[1]], case[[2]], "gaussian") - mean(rho)), 5.5 * stats::sd(rho) / sqrt(length(rho)))
  }
  expect_equal(expected_error(sphere(10), 0.3, "gaussian"), sphere_law(10, 0.3)$mean, tolerance = 1e-6)
  expect_equal(expected_error(spd(2), 0.5, "gaussian"), spd2_law(0.5)$mean, tolerance = 0.02)
  # wrapped laws: quadrature against draws, at the centre and at the edge
  n <- draws() / 5
  for (M in some(list(kendall(4), sphere(1), sphere(2), sphere(9), hyperbolic(2), hyperbolic(4, "ball"), kendall(3), kendall(8)))) {
    d <- mf_facts(M)$dimension
    p <- record(M, with_simulation(3, mf_random(M, 1)), 1)
    for (law in c("gaussian", "knorm")) for (r in c(0, 0.3)) {
      sigma <- if (law == "gaussian") 0.25 else 0.25 / sqrt(d)
      z <- with_simulation(8, matrix(stats::rnorm(n * d), n))
      if (law == "knorm") z <- z / sqrt(rowSums(z^2)) * with_simulation(9, stats::rgamma(n, d))
      z <- sigma * z
      z[, 1] <- z[, 1] + r
      if (d == 1) z <- as.vector(z)
      target <- mf_exp(M, p, mf_from_coords(M, p, c(r, rep(0, d - 1))))
      seen <- mf_dist(M, target, mf_exp(M, p, mf_from_coords(M, p, z)))
      expect_lt(abs(riemdp:::wrapped_quadrature(M, sigma, r, law) - mean(seen)), 5.5 * stats::sd(seen) / sqrt(n))
    }
  }
  # small noise: nearly flat, to all digits that curvature leaves
  expect_equal(expected_error(sphere(4), 1e-7, "wrapped_gaussian", c(1, 0, 0, 0, 0), 1e-3),
               1e-7 * sqrt(2) * gamma(2.5) / gamma(2), tolerance = 1e-6)
  expect_equal(expected_error(euclidean(3), 0.5, "wrapped_gaussian"), 0.5 * sqrt(8 / pi))
})

directions <- function(n) mf_project(sphere(2), with_simulation(1, cbind(stats::rnorm(n, 0, 0.2), stats::rnorm(n, 0, 0.2), 1)))

test_that("what is found once for public numbers is what is found anew, for each space and budget", {
  kept <- function(...) {
    given <- list(...)
    riemdp:::gaussian_law(list(epsilon = given[[3]], delta = given[[4]], options = list()), given[[1]], given[[2]])$scale
  }
  first <- list(riemdp:::profile_space(sphere(2)), 0.1, 1, 1e-5)
  other <- list(riemdp:::profile_space(sphere(3)), 0.1 * (1 + 1e-9), 1.1, 2e-5)
  for (round in 1:2) for (i in 0:4) {
    case <- replace(first, i, other[i])
    expect_identical(do.call(kept, case), do.call(riemdp:::gaussian_scale, case))
  }
})

test_that("releases: labels, epsilon, delta and mu", {
  x <- directions(200)
  center <- c(0, 0, 1)
  ask <- function(...) dp_mean(x, sphere(2), center = center, radius = 0.5, ...)
  for (m in c("gaussian", "wrapped_gaussian")) {
    g <- guarantee(ask(epsilon = 1, delta = 1e-6, mechanism = m))
    expect_identical(g$label, "approx")
    expect_identical(c(g$epsilon, g$delta), c(1, 1e-6))
    expect_error(ask(epsilon = 1, mechanism = m), class = "riemdp_error_unsupported")
    expect_error(ask(epsilon = 1, delta = 1e-6, mechanism = m, calibration = "paper"), class = "riemdp_error_unsupported")
    if (m == "gaussian") {
      expect_error(ask(epsilon = 1, delta = 1e-6, mechanism = m, numerics = "lattice"), class = "riemdp_error_unsupported")
    } else {
      expect_identical(guarantee(ask(epsilon = 1, delta = 1e-6, mechanism = m, numerics = "lattice"))$numerics, "lattice")
    }
    expect_error(ask(epsilon = 1, delta = 1e-6, mechanism = m, options = list(mu = 1)), class = "riemdp_error_argument")
    r <- ask(delta = 1e-6, mechanism = m, options = list(mu = 0.5))
    expect_identical(guarantee(r)$label, "approx")
    expect_equal(guarantee(r)$mu, 0.5)
    # epsilon from the profile is at most what mu alone implies
    expect_lte(guarantee(r)$epsilon, riemdp:::gdp_epsilon(0.5, 1e-6) * (1 + 1e-9))
    by_hand <- guarantee(ask(sigma = r$scale, delta = 1e-6, mechanism = m))
    expect_equal(by_hand$epsilon, guarantee(r)$epsilon, tolerance = 1e-6)
    expect_identical(guarantee(with_simulation(1, ask(epsilon = 1, delta = 1e-6, mechanism = m)))$mu, Inf)
  }
  g <- guarantee(ask(epsilon = 1, delta = 1e-6, mechanism = "gaussian", options = list(report_mu = TRUE)))
  expect_gt(g$mu, 0.2)
  expect_output(print(g), "GDP")
  expect_output(explain(ask(epsilon = 1, delta = 1e-6, mechanism = "gaussian")), "with\\s+proven\\s+error")
  # "auto" may take Gaussian noise where delta is large and dimension high (with few records laws on the ball alone err less)
  big <- with_simulation(2, mf_project(sphere(60), cbind(3, matrix(stats::rnorm(500 * 60, 0, 0.05), 500))))
  r <- dp_mean(big, sphere(60), 1, c(1, rep(0, 60)), 0.3, delta = 1e-4)
  expect_match(r$mechanism, "gaussian")
})

test_that("the law of the released point", {
  # all records at the centre: the released point's distance from it is the noise
  n <- if (quick()) 100 else 1500
  x <- matrix(rep(c(0, 0, 1), 30), 30, byrow = TRUE)
  for (m in c("gaussian", "wrapped_gaussian", "tangent")) {
    ask <- riemdp:::mean_ask(sphere(2), 30, NULL, c(0, 0, 1), 0.3, 1e-6, m, 0.2, "proven", "ordinary", "real", 1e6, list())
    mechanism <- riemdp:::mean_mechanisms()[[m]]
    plan <- mechanism$plan(sphere(2), ask)
    rho <- with_simulation(11, vapply(seq_len(n), function(i) {
      mf_dist(sphere(2), c(0, 0, 1), mechanism$release(sphere(2), x, plan, ask))
    }, 0))
    law <- if (m == "gaussian") sphere_law(2, 0.2) else flat_law(2, 0.2)
    u <- sort(law$cdf(rho))
    expect_lt(max(abs(u - (seq_len(n) - 0.5) / n)), sqrt(log(2e6) / (2 * n)))
  }
})

test_that("tangent mean: its target, its sensitivity and its words", {
  x <- directions(40)
  M <- sphere(2)
  center <- c(0, 0, 1)
  target <- mf_exp(M, center, colMeans(mf_log(M, center, x)))
  ask <- function(...) dp_mean(x, M, center = center, radius = 0.7, mechanism = "tangent", numerics = "real", ...)
  # hardly any noise: the target, which is not the Frechet mean
  expect_lt(mf_dist(M, ask(sigma = 1e-12)$value, target), 1e-10)
  expect_lt(mf_dist(M, ask(sigma = 1e-12, delta = 1e-6)$value, target), 1e-10)
  expect_gt(mf_dist(M, frechet_mean(x, M)$mean, target), 1e-5)
  r <- ask(epsilon = 1)
  expect_equal(r$sensitivity, 2 * 0.7 / 40)
  expect_equal(r$scale, 2 * 0.7 / 40)
  expect_identical(guarantee(r)$label, "pure")
  expect_match(r$target, "NOT the Frechet mean")
  expect_output(print(r), "NOT the Frechet mean")
  expect_output(explain(r), "mean\\s+tangent\\s+vector")
  # records outside the ball are moved to it, one by one: one record can't move the target further than 2r/n
  far <- x
  far[1, ] <- c(sin(2), 0, cos(2))
  moved <- ask(sigma = 1e-12)$value
  there <- dp_mean(far, M, center = center, radius = 0.7, mechanism = "tangent", sigma = 1e-12)$value
  expect_lte(mf_norm(M, center, mf_log(M, center, moved) - mf_log(M, center, there)), 2 * 0.7 / 40 + 1e-9)
  g <- ask(epsilon = 1, delta = 1e-6, options = list(noise = "gaussian"))
  expect_identical(guarantee(g)$label, "approx")
  expect_equal(g$scale, 2 * 0.7 / 40 / riemdp:::gaussian_mu(1, 1e-6), tolerance = 1e-9)
  expect_error(ask(epsilon = 1, options = list(noise = "gaussian")), class = "riemdp_error_argument")
  # "auto" never takes it: its target differs
  expect_false(grepl("tangent", dp_mean(x, M, 1, center, 0.7)$chosen))
  # log-Euclidean: the target is the Frechet mean
  s <- with_simulation(3, mf_random(spd(2, "logeuclidean"), 30, sd = 0.2))
  r <- dp_mean(s, spd(2, "logeuclidean"), sigma = 1e-12, center = diag(2), radius = 5, mechanism = "tangent")
  expect_lt(mf_dist(spd(2, "logeuclidean"), r$value, frechet_mean(s, spd(2, "logeuclidean"))$mean), 1e-9)
  expect_no_match(r$target, "NOT")
  # and so it is wherever there is no curvature, on spaces that close up too
  around <- seq(1.6, 4.6, length.out = 21)^1.01 # about pi, the ball nearly half of the circle
  circle <- dp_mean(cbind(cos(around), sin(around)), sphere(1), sigma = 1e-12, center = c(-1, 0), radius = 1.57, mechanism = "tangent")
  expect_lt(mf_dist(sphere(1), circle$value, frechet_mean(cbind(cos(around), sin(around)), sphere(1))$mean), 1e-9)
  expect_match(circle$target, "on this flat space the Frechet mean")
  two <- mf_project(custom_torus(2), cbind(around, around / 2 - 1))
  torus <- dp_mean(two, custom_torus(2), sigma = 1e-12, center = c(3, 0.5), radius = 1.57, mechanism = "tangent")
  inside <- mf_to_ball(custom_torus(2), two, c(3, 0.5), 1.57)
  expect_lt(mf_dist(custom_torus(2), torus$value, frechet_mean(inside, custom_torus(2))$mean), 1e-9)
  expect_match(torus$target, "on this flat space the Frechet mean")
})

test_that("regions are quantiles of the noise", {
  x <- directions(100)
  ask <- function(M, x, center, ...) dp_mean(x, M, sigma = 0.05, center = center, radius = 0.5, delta = 1e-6, numerics = "real", ...)
  law <- sphere_law(2, 0.05)
  r <- ask(sphere(2), x, c(0, 0, 1), mechanism = "gaussian")
  expect_equal(law$cdf(confint(r, level = 0.9)$radius), 0.9, tolerance = 1e-3)
  r <- ask(sphere(2), x, c(0, 0, 1), mechanism = "wrapped_gaussian")
  expect_equal(confint(r, level = 0.9)$radius, 0.05 * sqrt(qchisq(0.9, 2)), tolerance = 1e-6)
  r <- ask(euclidean(2), matrix(0, 5, 2), c(0, 0), mechanism = "tangent")
  expect_equal(confint(r, level = 0.9)$radius, 0.05 * sqrt(qchisq(0.9, 2)), tolerance = 1e-6)
  r <- ask(euclidean(2), matrix(0, 5, 2), c(0, 0), mechanism = "tangent", options = list(noise = "knorm"))
  expect_equal(confint(r, level = 0.9)$radius, qgamma(0.9, 2, scale = 0.05), tolerance = 1e-6)
  r <- ask(spd(2), array(diag(2), c(2, 2, 50)), diag(2), mechanism = "gaussian")
  at <- spd2_law(0.05)$cdf(confint(r, level = 0.9)$radius)
  expect_true(at > 0.9 && at < 0.905)
})

test_that("what can't be served is refused from public facts", {
  expect_error(laplace_noise(stiefel(3, 2), diag(3)[, 1:2], 0.1, mechanism = "gaussian"), class = "riemdp_error_unsupported")
  expect_error(privacy_profile(stiefel(4, 2), 0.1, 0.1, 1), class = "riemdp_error_unsupported")
  expect_error(privacy_profile(sphere(2), 0.1, 4, 1), class = "riemdp_error_argument")
  expect_error(privacy_profile(sphere(2), 0.1, 0.1, -1), class = "riemdp_error_argument")
  # volume grows so fast that no scale protects
  x <- with_simulation(1, mf_random(hyperbolic(8), 2, sd = 0.1))
  expect_error(dp_mean(x, hyperbolic(8), 0.1, c(1, rep(0, 8)), 2, delta = 1e-9, mechanism = "gaussian"),
               class = "riemdp_error_existence")
})

test_that("a scale by hand that doubles can't serve is refused from public facts", {
  # once a release, by a law that was cut off where cosh overflows
  for (case in list(list(M = hyperbolic(2), center = c(1, 0, 0)), list(M = spd(3), center = diag(3)))) {
    x <- mf_exp(case$M, case$center, mf_from_coords(case$M, case$center, matrix(0.1, 5, mf_facts(case$M)$dimension)))
    ask <- function(sigma) dp_mean(x, case$M, center = case$center, radius = 1, mechanism = "gaussian", sigma = sigma, delta = 1e-6)
    for (sigma in c(10, 30, 1000, 1e8)) {
      expect_error(ask(sigma), class = "riemdp_error_existence")
      expect_error(laplace_noise(case$M, case$center, sigma, 2, "gaussian"), class = "riemdp_error_existence")
    }
    expect_true(is.finite(guarantee(ask(1.5))$epsilon))
  }
})

test_that("a law whose sampler would hardly ever keep a draw is refused by public numbers, and its draws end", {
  # shares that are kept, by simulation in R of Jacobian over its bound (2,000 draws)
  share <- function(k, sigma) riemdp:::radial_acceptance(spd(k), "gaussian", sigma)
  expect_lt(abs(share(5, 1) / 0.646 - 1), 0.05)
  expect_lt(abs(share(8, 1) / 0.129 - 1), 0.15)
  expect_identical(riemdp:::radial_acceptance(sphere(3), "gaussian", 2), 1)
  expect_gt(share(3, 1.5), 0.6)
  expect_lt(share(12, 1), 1e-3)
  setTimeLimit(elapsed = 60)
  on.exit(setTimeLimit(elapsed = Inf))
  expect_error(laplace_noise(spd(12), diag(12), 1, mechanism = "gaussian"), "one of", class = "riemdp_error_unsupported")
  expect_error(expected_error(spd(12), 1, "gaussian"), class = "riemdp_error_unsupported")
  expect_equal(dim(laplace_noise(spd(8), diag(8), 1, 3, "gaussian")), c(8, 8, 3))
  expect_error(.Call(riemdp:::riemdp_gaussian_radii, spd(6), 2, 4, TRUE), "rejects nearly all", class = "riemdp_error_unsupported")
})

test_that("profiles lie above 40 digits, on any mesh", {
  # S^2, quadrature by mpmath of the radius' law times the probability of the angle: sigma, distance, epsilon, delta
  exact <- rbind(
    c(0.1, 0.05, 0.3, 0.0960401703308926191), c(0.5, 0.05, 0.05, 0.0187763618737755832), c(0.5, 0.005, 0.01, 0.00073772240289971602),
    c(0.05, 0.005, 0.5, 6.77739182242888324e-9), c(1, 0.1, 0.1, 0.00486808176055180234), c(0.3, 0.3, 1.2, 0.0893207864393541734),
    c(0.01, 0.001, 0.2, 0.000937346636962646797), c(0.02, 0.1, 30, 0.000131035357782643406)
  )
  space <- riemdp:::profile_space(sphere(2))
  for (i in seq_len(nrow(exact))) {
    v <- exact[i, ]
    cells <- riemdp:::profile_cells(space, v[1], v[2])
    for (finer in c(1, 16)) {
      got <- riemdp:::profile_delta(space, v[1], v[2], v[3], cells * finer)
      expect_gte(got, v[4] * (1 + 1e-8))
      expect_lte(got, v[4] * (1 + if (finer == 1) 5e-3 else 3e-5))
    }
  }
})

profile_reference <- function(name) {
  skip_if_not_installed("jsonlite")
  jsonlite::fromJSON(test_path("reference", "gaussian_profile.json"), simplifyVector = FALSE)[[name]]
}

# a number x, against a sum of two doubles: the difference
beyond <- function(x, value) (x - value[[1]]) - value[[2]]

reference_space <- function(case) {
  riemdp:::profile_space(switch(case$space, sphere = sphere(case$d), hyperbolic = hyperbolic(case$d), kendall = kendall(case$d / 2 + 2), spd = spd(case$d)))
}

test_that("delta on every kind of space is above 40 digits, at extremes too", {
  for (v in profile_reference("curved")) {
    got <- riemdp:::profile_delta(reference_space(v), v$sigma, v$far, v$epsilon)
    expect_gte(got, v$delta)
    if (v$far > 1e-3 * v$sigma) expect_lte(got, v$delta * 1.004)
  }
  for (v in profile_reference("spd")) {
    got <- riemdp:::profile_delta(riemdp:::profile_space(spd(v$size)), v$sigma, v$far, v$epsilon)
    expect_gte(got, v$delta)
    expect_lte(got, v$delta * 1.0001)
  }
  for (v in profile_reference("circle")) {
    got <- riemdp:::circle_delta(v$sigma, v$far, v$epsilon)
    expect_gte(got, v$delta)
    expect_lte(got, v$delta * (1 + 1e-8))
  }
  for (v in profile_reference("flat")) {
    got <- riemdp:::gaussian_delta(v$mu, v$epsilon)
    expect_gte(got, v$delta)
    expect_lte(got, v$delta * 1.004)
  }
  # where sinh overflows, and at scales far below the space's
  expect_lt(privacy_profile(hyperbolic(2), 3.5, 0.5, 500), 1e-300)
  expect_equal(privacy_profile(sphere(2), 1e-30, 1e-31, 0.1), privacy_profile(hyperbolic(2), 1e-30, 1e-31, 0.1), tolerance = 1e-9)
})

expect_enclosed <- function(v, angle_cells = riemdp:::angle_cells) {
  on <- angle_cells(v$k, v$far, v$two, c(v$a, v$b))
  truth <- list(C = v$c, slope = v$slope, second = v$second)
  inside <- function(x, i, value) beyond(x$lo[i], value) <= 0 && beyond(x$hi[i], value) >= 0
  seen <- unlist(lapply(names(truth), function(part) vapply(truth[[part]], function(value) inside(on[[part]], 1, value), NA)))
  seen <- c(seen, inside(on$cosine, 1, v$c[[1]]), inside(on$cosine, 2, v$c[[3]]))
  # on cells as narrow as these nothing but rounding is left
  narrow <- on$cosine$hi - on$cosine$lo < 1e-11 * (1 + v$a / v$far + tan(min(v$far, pi - 0.01) / 2) / v$a)
  expect_true(all(seen) && all(narrow))
}

test_that("c, c' and c'' lie in their enclosures on cells of eight last digits, also with a worse C library", {
  for (v in profile_reference("cells")) expect_enclosed(v)
  # relative errors of 60 2^-53 in both directions
  bad <- new.env(parent = asNamespace("riemdp"))
  bad$sn <- function(k, x) riemdp:::sn(k, x) * (1 + 60 * 2^-53 * rep_len(bad$signs, length(x)))
  bad$cs <- function(k, x) riemdp:::cs(k, x) * (1 - 60 * 2^-53 * rep_len(bad$signs, length(x)))
  for (name in c("snc", "csq", "iv_sn", "angle_cells")) {
    f <- get(name, asNamespace("riemdp"))
    environment(f) <- bad
    assign(name, f, bad)
  }
  for (signs in list(c(1, -1), c(-1, 1), 1, -1)) {
    bad$signs <- signs
    for (v in profile_reference("cells")) expect_enclosed(v, bad$angle_cells)
  }
})

test_that("operations on intervals round outwards, whatever their signs", {
  x <- with_simulation(1, stats::rnorm(200) * 10^stats::runif(200, -100, 100))
  y <- with_simulation(2, stats::rnorm(200) * 10^stats::runif(200, -100, 100))
  ns <- asNamespace("riemdp")
  # a double that is off by a unit of rounding or less has the true number within two of it
  around <- function(interval, value) {
    expect_true(all(interval$lo <= value - 2^-52 * abs(value) & interval$hi >= value + 2^-52 * abs(value)))
  }
  for (i in 1:2) {
    around(ns$iv_add(list(lo = x, hi = x), list(lo = y, hi = y)), x + y)
    around(ns$iv_sub(list(lo = x, hi = x), list(lo = y, hi = y)), x - y)
    around(ns$iv_mul(list(lo = x, hi = x), list(lo = y, hi = y)), x * y)
    around(ns$iv_scale(list(lo = x, hi = x), y[1]), x * y[1])
    around(ns$iv_square(list(lo = x, hi = x)), x^2)
    around(ns$iv_over(list(lo = abs(x), hi = abs(x))), 1 / abs(x))
    y <- -y
  }
})

test_that("what the enclosures and the cells are made of is as exact as the proof says", {
  u <- 2^-53
  for (v in profile_reference("csq")) expect_lt(abs(beyond(riemdp:::csq(v$k, v$x), v$value)), 2000 * u * abs(v$value[[1]]))
  for (v in profile_reference("moments")) {
    m <- riemdp:::exp_moments(v$s)
    expect_lt(abs(beyond(m[[1]], v$zero)), 65 * u * v$zero[[1]])
    expect_lt(abs(beyond(m[[2]], v$one)), 300 * u * v$one[[1]])
  }
  for (v in profile_reference("density")) {
    law <- riemdp:::radial_law(reference_space(v), v$sigma)
    margin <- riemdp:::radial_rounding(law, 0, v$x)
    # the library may be a hundred times worse than it is here
    expect_lt(60 * abs(beyond(law$log(v$x), v$log)), margin)
    expect_lt(margin, 1e-7)
  }
  # the margins are on their sides: a law whose terms are a million times as large as its value has this much less, and more, of mass
  law <- list(log = function(x) -x, bend = function(a, b) 0 * a, most = function(a, b) -a, size = function(x) 1e6 + 0 * x)
  sums <- riemdp:::cell_sums(law, 0, c(0.5, 1), c(1, 1), 0, list(lo = 1, hi = 1))
  exact <- exp(-0.5) - exp(-1)
  expect_lt(sums$lo, exact * (1 - 1e6 * 2^-46))
  expect_gt(sums$hi, exact * (1 + 1e6 * 2^-46))
  # parabolas that leave their chord by all that the bend allows, each in its direction
  law <- list(log = function(x) 0 * x, bend = function(a, b) 0 * a, most = function(a, b) 0 * a, size = function(x) 0 * x)
  sums <- riemdp:::cell_sums(law, 0, c(1, 2), c(0.75, 0.75), 2, list(lo = 0.5, hi = 1))
  expect_true(sums$hi >= 11 / 12 && sums$lo <= 7 / 12)
  # a cell on which the law grows from nothing to all
  law <- list(log = function(x) 740 * (x - 1), bend = function(a, b) 0 * a, most = function(a, b) 740 * (b - 1), size = function(x) 740 + 0 * x)
  sums <- riemdp:::cell_sums(law, 0, c(1e-9, 1), c(1, 1), 0, list(lo = 1, hi = 1))
  expect_true(sums$lo <= 1 / 740 && sums$hi >= 1 / 740)
})

test_that("mu: a tangent below the one profile, a chord above the other", {
  above <- riemdp:::gdp_above
  exact <- function(mu, e) riemdp:::gaussian_delta(mu, e)
  for (mu in c(0.05, 0.5, 3)) for (touch in mu * c(0.1, 1, 2)) {
    at <- exact(mu, touch)
    expect_true(above(mu, touch, touch, touch, at * (1 - 1e-6), at * (1 - 1e-6)))
    expect_false(above(mu, touch, touch, touch, at * (1 + 1e-6), 0))
    expect_false(above(mu, touch, touch, touch, 0, at * (1 + 1e-6)))
    # a convex function lies above its tangent
    for (step in mu * c(0.3, 2)) {
      expect_false(above(mu, touch, touch, touch + step, 0, exact(mu, touch + step)))
      expect_false(above(mu, touch, max(0, touch - step), touch, exact(mu, max(0, touch - step)), 0))
    }
    # and near it lies close to it
    step <- mu * 1e-3
    expect_true(above(mu, touch, touch - step, touch + step, exact(mu, touch - step) * (1 - 1e-4), exact(mu, touch + step) * (1 - 1e-4)))
  }
})
