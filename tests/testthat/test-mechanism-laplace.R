# Laws of noise. Every Kolmogorov-Smirnov test below uses a false-alarm rate of 1e-6 (all together below 1e-4 by the union
# bound); with 1e5 draws a scale that is 5 % off gives a distance of .02 or more, well above the bound .0085.

draws <- function() if (quick()) 5000 else 1e5

ks_bound <- function(n, alpha = 1e-6) sqrt(log(2 / alpha) / (2 * n))

# distribution function of a density on (0, top) by the trapezoidal rule
cdf_of <- function(log_density, top, m = 8000) {
  x <- seq(0, top, length.out = m + 1)[-1]
  l <- log_density(x)
  f <- exp(l - max(l))
  f <- c(if (is.finite(l[1])) f[1] else 0, f)
  x <- c(0, x)
  area <- cumsum(c(0, diff(x) * (f[-1] + f[-length(f)]) / 2))
  list(cdf = stats::approxfun(x, area / area[length(area)], rule = 2),
       mean = sum(diff(x) * ((x * f)[-1] + (x * f)[-length(f)]) / 2) / area[length(area)],
       square = sum(diff(x) * ((x^2 * f)[-1] + (x^2 * f)[-length(f)]) / 2) / area[length(area)])
}

expect_law <- function(rho, law) {
  n <- length(rho)
  u <- law$cdf(sort(rho))
  distance <- max(u - (seq_len(n) - 1) / n, seq_len(n) / n - u)
  expect_lt(distance, ks_bound(n))
  # moments within 5 standard errors (false alarm 6e-7 each)
  expect_lt(abs(mean(rho) - law$mean), 5 * stats::sd(rho) / sqrt(n))
  expect_lt(abs(mean(rho^2) - law$square), 5 * stats::sd(rho^2) / sqrt(n))
}

radii <- function(M, sigma, seed = 1) {
  with_simulation(seed, .Call(riemdp:::riemdp_laplace_radii, M, 1e5, sigma, TRUE))
}

# radial log densities, written here from the volume elements and not from the package
sphere_law <- function(d, sigma) cdf_of(function(r) (d - 1) * log(sin(pmin(r, pi - 1e-12))) - r / sigma, pi)
hyperbolic_law <- function(d, sigma) {
  cdf_of(function(r) (d - 1) * (r + log1p(-exp(-2 * r))) - r / sigma, sigma / (1 - (d - 1) * sigma) * (d + 15 * sqrt(d) + 40))
}
kendall_law <- function(k, sigma) {
  cdf_of(function(r) (2 * k - 5) * log(sin(r)) + log(cos(pmin(r, pi / 2 - 1e-12))) - r / sigma, pi / 2, 20000)
}
# SPD(k) through the eigenvalues of the logarithm, density prod sinh(|v_i - v_j|/2) exp(-|v|/sigma), by spherical quadrature
spd2_law <- function(sigma) {
  phi <- (seq_len(400) - 0.5) / 400 * 2 * pi
  gap <- abs(cos(phi) - sin(phi))
  cdf_of(function(r) {
    vapply(r, function(t) log(t) + log(mean(sinh(t * gap / 2))), 0) - r / sigma
  }, 60 * sigma, 3000)
}
spd3_law <- function(sigma) {
  z <- (seq_len(120) - 0.5) / 60 - 1
  phi <- (seq_len(120) - 0.5) / 120 * pi # opposite directions have the same gaps
  u <- expand.grid(z = z, phi = phi)
  s <- sqrt(1 - u$z^2)
  v <- cbind(s * cos(u$phi), s * sin(u$phi), u$z)
  g <- cbind(abs(v[, 1] - v[, 2]), abs(v[, 1] - v[, 3]), abs(v[, 2] - v[, 3])) / 2
  cdf_of(function(r) {
    vapply(r, function(t) 2 * log(t) + log(mean(sinh(t * g[, 1]) * sinh(t * g[, 2]) * sinh(t * g[, 3]))), 0) - r / sigma
  }, 60 * sigma, 600)
}

test_that("radii on spheres follow the law, for small and large scales", {
  for (d in c(1, 2, 10, 50)) for (sigma in c(0.01, 0.2, 3)) {
    expect_law(radii(sphere(d), sigma, seed = d), sphere_law(d, sigma))
  }
})

test_that("points under the envelope are kept by the density", {
  # without that step laws differ by some tenths of a per cent: two million draws, distances at 1e-6
  n <- 2e6
  for (case in list(list(sphere(2), 0.2, sphere_law(2, 0.2)), list(sphere(10), 0.2, sphere_law(10, 0.2)), list(hyperbolic(2), 0.4, hyperbolic_law(2, 0.4)))) {
    rho <- with_simulation(31, .Call(riemdp:::riemdp_laplace_radii, case[[1]], n, case[[2]], TRUE))
    u <- case[[3]]$cdf(sort(rho))
    expect_lt(max(u - (seq_len(n) - 1) / n, seq_len(n) / n - u), ks_bound(n))
  }
})

test_that("radii on hyperbolic space follow the law, in both models", {
  for (d in c(2, 5)) {
    expect_law(radii(hyperbolic(d), 0.4 / (d - 1)), hyperbolic_law(d, 0.4 / (d - 1)))
    expect_law(radii(hyperbolic(d, "ball"), 0.05), hyperbolic_law(d, 0.05))
  }
})

test_that("far radii follow the law as well, where the hull is exponential", {
  # the mean excess over the radius that 2 % of the draws exceed; 5 standard errors, 1.8 %
  law <- hyperbolic_law(2, 0.4)
  from <- stats::uniroot(function(r) law$cdf(r) - 0.98, c(0, 20), tol = 1e-10)$root
  rho <- with_simulation(7, .Call(riemdp:::riemdp_laplace_radii, hyperbolic(2), 4e6, 0.4, TRUE))
  excess <- rho[rho > from] - from
  beyond <- function(f) stats::integrate(function(r) f(r) * sinh(r) * exp(-r / 0.4), from, from + 40, rel.tol = 1e-10)$value
  expect_lt(abs(mean(excess) / (beyond(function(r) r - from) / beyond(function(r) 1)) - 1), 0.018)
  expect_lt(abs(length(excess) / (0.02 * length(rho)) - 1), 5 * sqrt(0.98 / (0.02 * length(rho))) + 1e-3)
})

test_that("radii on planar shapes follow the law", {
  for (k in c(3, 10, 50)) for (sigma in c(0.002, 0.05)) {
    expect_law(radii(kendall(k), sigma, seed = k), kendall_law(k, sigma))
  }
})

test_that("radii on positive definite matrices follow the law", {
  for (sigma in c(0.15, 0.5)) expect_law(radii(spd(2), sigma), spd2_law(sigma))
  for (sigma in c(0.05, 0.2)) expect_law(radii(spd(3), sigma), spd3_law(sigma))
  gamma <- function(d, sigma) cdf_of(function(r) (d - 1) * log(r) - r / sigma, sigma * (d + 60))
  expect_law(radii(spd(3, "logeuclidean"), 0.1), gamma(6, 0.1))
  expect_law(radii(euclidean(4), 2), gamma(4, 2))
})

test_that("directions are uniform: each orthonormal coordinate is symmetric and they share the radius", {
  for (M in list(sphere(4), hyperbolic(3), spd(2), kendall(5), spd(2, "logeuclidean"))) {
    n <- draws() / 5
    p <- record(M, with_simulation(3, mf_random(M, 1)), 1)
    x <- with_simulation(2, laplace_noise(M, p, 0.05, n))
    a <- mf_coords(M, p, mf_log(M, p, x))
    rho <- sqrt(rowSums(a^2))
    d <- ncol(a)
    # squared direction cosines have mean 1/d; signs are balanced (5 standard errors)
    for (j in seq_len(d)) {
      expect_lt(abs(mean(a[, j] > 0) - 0.5), 2.5 / sqrt(n))
      share <- (a[, j] / rho)^2
      # on positive definite matrices volume depends on the direction a little
      expect_lt(abs(mean(share) - 1 / d), 5 * stats::sd(share) / sqrt(n) + if (M$name == "spd_affine") 0.01 else 0)
    }
  }
})

test_that("the operating system's randomness gives the same law", {
  n <- 1e5
  rho <- .Call(riemdp:::riemdp_laplace_radii, sphere(2), n, 0.1, FALSE)
  expect_law(rho, sphere_law(2, 0.1))
  x <- laplace_noise(euclidean(3), c(0, 0, 0), 0.5, n, mechanism = "wrapped")
  expect_law(sqrt(rowSums(x^2)), cdf_of(function(r) 2 * log(r) - r / 0.5, 30))
})

test_that("expected errors agree with quadrature and with the reference values", {
  expect_equal(expected_error(sphere(2), 0.1), sphere_law(2, 0.1)$mean, tolerance = 1e-5)
  expect_equal(expected_error(kendall(10), 0.01), kendall_law(10, 0.01)$mean, tolerance = 1e-5)
  expect_equal(expected_error(spd(2), 0.15), spd2_law(0.15)$mean, tolerance = 0.02)
  expect_equal(expected_error(euclidean(3), 0.5, "wrapped"), 1.5)
  skip_if_not_installed("jsonlite")
  ref <- jsonlite::fromJSON(test_path("reference", "laplace_kendall_quadrature.json"))
  for (i in seq_len(nrow(ref))) {
    expect_equal(expected_error(kendall(ref$k[i]), ref$sigma[i]), ref$Erho[i], tolerance = 1e-4)
  }
})

test_that("utility of the Laplace mechanism as in the reference table", {
  ref <- utils::read.csv(test_path("reference", "utility_public.csv"))
  rows <- ref[grepl("^Lap-full|^Lap .*unrestricted", ref$mechanism), ]
  expect_gt(nrow(rows), 4)
  for (i in seq_len(nrow(rows))) {
    M <- switch(rows$manifold[i], S2 = sphere(2), SPD2 = spd(2))
    sigma <- rows$sigma[i]
    x <- with_simulation(i, .Call(riemdp:::riemdp_laplace_radii, M, 1e5, sigma, TRUE))
    se <- sqrt(rows$geo_se[i]^2 + stats::var(x) / length(x))
    expect_lt(abs(mean(x) - rows$geo[i]), 4 * se)
  }
})

test_that("a law that doesn't exist is refused, with what would do", {
  expect_error(laplace_noise(hyperbolic(3), c(1, 0, 0, 0), 1), class = "riemdp_error_existence")
  e <- expect_error(dp_mean(mf_random(spd(4), 3), spd(4), 0.1, diag(4), 3, mechanism = "laplace"),
                    class = "riemdp_error_existence")
  expect_match(conditionMessage(e), "n above")
  expect_error(laplace_noise(stiefel(3, 2), diag(3)[, 1:2], 0.1), class = "riemdp_error_unsupported")
})
