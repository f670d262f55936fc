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
# SPD(k) through the eigenvalues of the logarithm, density prod sinh(|v_i - v_j|/2) exp(-|v|/sigma), by spherical quadrature; of Hermitian
# matrices the square of each factor
spd2_law <- function(sigma, power = 1) {
  phi <- (seq_len(400) - 0.5) / 400 * 2 * pi
  gap <- abs(cos(phi) - sin(phi))
  cdf_of(function(r) {
    vapply(r, function(t) log(t) + log(mean(sinh(t * gap / 2)^power)), 0) - r / sigma
  }, 60 * sigma, 3000)
}
spd3_law <- function(sigma, power = 1) {
  z <- (seq_len(120) - 0.5) / 60 - 1
  phi <- (seq_len(120) - 0.5) / 120 * pi # opposite directions have the same gaps
  u <- expand.grid(z = z, phi = phi)
  s <- sqrt(1 - u$z^2)
  v <- cbind(s * cos(u$phi), s * sin(u$phi), u$z)
  g <- cbind(abs(v[, 1] - v[, 2]), abs(v[, 1] - v[, 3]), abs(v[, 2] - v[, 3])) / 2
  cdf_of(function(r) {
    vapply(r, function(t) 2 * log(t) + log(mean((sinh(t * g[, 1]) * sinh(t * g[, 2]) * sinh(t * g[, 3]))^power)), 0) - r / sigma
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
  for (sigma in c(0.1, 0.3)) expect_law(radii(hermitian_spd(2), sigma), spd2_law(sigma, 2))
  for (sigma in c(0.05, 0.15)) expect_law(radii(hermitian_spd(3), sigma), spd3_law(sigma, 2))
  gamma <- function(d, sigma) cdf_of(function(r) (d - 1) * log(r) - r / sigma, sigma * (d + 60))
  expect_law(radii(spd(3, "logeuclidean"), 0.1), gamma(6, 0.1))
  expect_law(radii(euclidean(4), 2), gamma(4, 2))
})

# subspaces of dimension one or two of R^m: log of the mean volume density over directions of singular values, by quadrature
subspace_density <- function(m, p) {
  phi <- (seq_len(2000) - 0.5) / 2000 * pi / 4
  function(r) vapply(r, function(t) {
    if (p == 1) return(if (t < pi / 2) (m - 2) * log(sin(t)) else -Inf)
    s <- t * cbind(cos(phi), sin(phi))
    log(t) + log(mean(ifelse(s[, 1] < pi / 2, abs(sin(s[, 1] - s[, 2]) * sin(s[, 1] + s[, 2])) * (sin(s[, 1]) * sin(s[, 2]))^(m - 4), 0)))
  }, 0)
}

test_that("radii on subspaces follow the law, near and as far as there are any, and so do principal angles", {
  for (case in list(c(4, 2, 2), c(5, 3, 2), c(7, 2, 2), c(4, 1, 1), c(3, 2, 1), c(2, 1, 1))) for (sigma in c(0.04, 0.4)) {
    top <- min(pi / 2 * sqrt(case[3]), sigma * 90)
    law <- cdf_of(function(r) subspace_density(case[1], case[3])(r) - r / sigma, top, 3000)
    expect_law(radii(grassmann(case[1], case[2]), sigma), law)
  }
  # the smaller of two principal angles, seen from another subspace than the one that coordinates are made at
  M <- grassmann(5, 2)
  p <- record(M, with_simulation(4, mf_random(M, 1)), 1)
  x <- with_simulation(5, laplace_noise(M, p, 0.3, draws() / 10))
  angle <- apply(x, 3, function(y) acos(min(1, svd(crossprod(p, y))$d[1])))
  s <- expand.grid(a = (seq_len(600) - 0.5) / 600 * pi / 2, b = (seq_len(600) - 0.5) / 600 * pi / 2)
  w <- with(s, abs(sin(a - b) * sin(a + b)) * sin(a) * sin(b) * exp(-sqrt(a^2 + b^2) / 0.3))
  small <- pmin(s$a, s$b)
  for (k in 1:2) expect_lt(abs(mean(angle^k) - sum(w * small^k) / sum(w)), 5 * stats::sd(angle^k) / sqrt(length(angle)))
})

test_that("directions are uniform: each orthonormal coordinate is symmetric and they share the radius", {
  for (M in list(sphere(4), hyperbolic(3), spd(2), hermitian_spd(2), kendall(5), spd(2, "logeuclidean"))) {
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
      expect_lt(abs(mean(share) - 1 / d), 5 * stats::sd(share) / sqrt(n) + if (M$name %in% c("spd_affine", "hermitian_spd")) 0.01 else 0)
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

# ---- the staircase ---------------------------------------------------------------------------------------------------

# log density by the definition: how often a shell is left on the way out
stairs <- function(r, epsilon, step, first) -epsilon * ifelse(r <= first, 0, ceiling((r - first) / step))

staircase_radii <- function(M, center, n, epsilon, step, first, seed = 1) {
  x <- with_simulation(seed, .Call(riemdp:::riemdp_noise, M, center, n, "staircase", c(step / epsilon, step, first), TRUE))
  mf_dist(M, center, x)
}

test_that("radii of the staircase follow its law", {
  cases <- list(
    list(euclidean(1), 0, function(r) 0 * r, 3), list(euclidean(6), rep(0, 6), function(r) 5 * log(r), 3),
    list(sphere(2), c(0, 0, 1), function(r) log(sin(pmin(r, pi - 1e-12))), pi),
    list(hyperbolic(2), c(1, 0, 0), function(r) log(sinh(r)), 4),
    list(kendall(4), exp(2i * pi * (1:4) / 4), function(r) 3 * log(sin(r)) + log(cos(pmin(r, pi / 2 - 1e-12))), pi / 2)
  )
  for (case in cases) for (epsilon in c(0.8, 5)) for (first in c(0.03, 0.1)) {
    law <- cdf_of(function(r) case[[3]](r) + stairs(r, epsilon, 0.1, first), min(case[[4]], 10 / epsilon), 20000)
    expect_law(staircase_radii(case[[1]], case[[2]], draws(), epsilon, 0.1, first, seed = 10 * epsilon + 100 * first), law)
  }
  gap <- abs(cos(phi <- (seq_len(400) - 0.5) / 400 * 2 * pi) - sin(phi))
  law <- cdf_of(function(r) vapply(r, function(t) log(t) + log(mean(sinh(t * gap / 2))), 0) + stairs(r, 4, 0.2, 0.15), 3, 6000)
  expect_law(staircase_radii(spd(2), diag(2), draws(), 4, 0.2, 0.15), law)
  law <- cdf_of(function(r) subspace_density(4, 2)(r) + stairs(r, 4, 0.2, 0.15), pi / sqrt(2), 6000)
  expect_law(staircase_radii(grassmann(4, 2), diag(4)[, 1:2], draws(), 4, 0.2, 0.15), law)
})

test_that("no shift within the step costs more than epsilon, some cost as much, and wider shifts more", {
  # on the line, by the definition; the price says the same
  loss <- function(shift, step, first, epsilon) {
    x <- seq(-3, 3, by = 1e-4) + 3.3e-5
    max(abs(stairs(abs(x - shift), epsilon, step, first) - stairs(abs(x), epsilon, step, first)))
  }
  for (first in c(0.02, 0.1, 0.3)) for (shift in c(0.01, 0.15, 0.3)) expect_equal(loss(shift, 0.3, first, 1.5), 1.5)
  expect_equal(loss(0.31, 0.3, 0.1, 1.5), 3)
  for (shift in c(0.01, 0.3, 0.31, 0.95)) {
    stated <- riemdp:::price_staircase(shift, 0.3, 0.3 / 1.5)
    expect_equal(stated$epsilon, 1.5 * ceiling(shift / 0.3))
    expect_gte(stated$epsilon * (1 + 1e-12), loss(shift, 0.3, 0.1, 1.5))
  }
})

test_that("a release by the staircase says so, and its shells are as wide as the mean can move", {
  x <- rbind(c(0.1, 0.2, 1), c(0, -0.2, 1), c(0.1, 0, 1))
  x <- x / sqrt(rowSums(x^2))
  plan <- as.data.frame(dp_mean_plan(sphere(2), 3, 4, c(0, 0, 1), 0.5))
  r <- dp_mean(x, sphere(2), 4, c(0, 0, 1), 0.5, mechanism = "staircase")
  d <- r$details
  expect_equal(guarantee(r)[c("label", "epsilon", "delta")], list(label = "pure", epsilon = 4, delta = 0), ignore_attr = TRUE)
  expect_equal(d$step, r$sensitivity + r$solver_error)
  expect_gte(r$scale * 4, d$step)
  expect_lt(r$scale * 4, d$step * (1 + 1e-11))
  expect_true(d$first > 0 && d$first <= d$step)
  expect_equal(r$draws$epsilon, 4, tolerance = 1e-11)
  expect_identical(r$draws$proof, "laplace.md, 4")
  row <- plan[plan$mechanism == "staircase", ]
  expect_equal(row$expected_error, r$expected_error)
  expect_lt(row$expected_error, 0.9 * plan$expected_error[plan$mechanism == "laplace"])
  expect_output(explain(r), "constant up to distance", fixed = TRUE)
  no <- function(...) dp_mean(x, sphere(2), center = c(0, 0, 1), radius = 0.5, mechanism = "staircase", ...)
  expect_error(no(sigma = 1), "give `epsilon`", class = "riemdp_error_unsupported")
  expect_error(no(epsilon = 1, calibration = "paper"), "paper", class = "riemdp_error_unsupported")
  for (epsilon in c(30, 1e9)) expect_error(no(epsilon = epsilon), "by rejection", class = "riemdp_error_unsupported")
  expect_error(dp_mean(riemdp:::records_of(mf_random(stiefel(4, 2), 9), 1:9), stiefel(4, 2), 1, diag(4)[, 1:2], 0.2, mechanism = "staircase",
                       invalid = "center"), "homogeneous", class = "riemdp_error_unsupported")
})

test_that("auto takes the staircase where it is clearly better", {
  chosen <- function(M, epsilon, radius = 0.5, ...) {
    plan <- dp_mean_plan(M, 200, epsilon, radius = radius, numerics = "real", ...)
    best <- min(plan$expected_error[plan$mechanism %in% c("laplace", "staircase", "wrapped", "kng")], na.rm = TRUE)
    expect_lte(plan$expected_error[plan$chosen], 1.01 * best)
    plan$mechanism[plan$chosen]
  }
  expect_identical(chosen(sphere(2), 4), "staircase")
  expect_identical(chosen(sphere(2), 1), "laplace") # by less than 2 %
  expect_identical(chosen(euclidean(1), 1, 3), "staircase")
  expect_identical(chosen(spd(2), 4, 1.5), "staircase")
  expect_identical(chosen(sphere(2), 4, neighbours = "add_remove"), "staircase")
  # also at epsilons at which it can't be drawn
  expect_identical(chosen(sphere(2), 1e9), "laplace")
  x <- matrix(c(0, 0, 1), 200, 3, byrow = TRUE)
  expect_identical(dp_mean(x, sphere(2), 4, c(0, 0, 1), 0.5, numerics = "real")$mechanism, "staircase")
  expect_identical(dp_mean(x, sphere(2), 4, c(0, 0, 1), 0.5)$mechanism, "wrapped_staircase")
  r <- dp_mean(x, sphere(2), 4, c(0, 0, 1), 0.5, mechanism = "staircase", neighbours = "add_remove")
  expect_identical(r$mechanism, "staircase")
  expect_equal(sum(r$draws$epsilon), 4, tolerance = 1e-6)
})

test_that("the plan's error of the staircase is that of its draws, and the region holds its level", {
  cases <- list(list(sphere(2), c(0, 0, 1), 3), list(hyperbolic(3), c(1, 0, 0, 0), 1), list(spd(2), diag(2), 4), list(euclidean(1), 0, 2))
  for (case in cases) {
    M <- case[[1]]
    r <- with_simulation(1, dp_mean(mf_exp(M, case[[2]], mf_from_coords(M, case[[2]], matrix(0, 40, mf_facts(M)$dimension))), M,
                                    case[[3]], case[[2]], 0.4, mechanism = "staircase", numerics = "real"))
    rho <- staircase_radii(M, case[[2]], draws(), case[[3]], r$details$step, r$details$first)
    # 5 standard errors; with simulated weights 1 % more
    slack <- 5 * sd(rho) / sqrt(length(rho)) + if (M$name == "spd_affine") 0.01 * mean(rho) else 0
    expect_lt(abs(mean(rho) - r$noise_error), slack)
    for (level in c(0.5, 0.95)) {
      inside <- mean(rho <= stats::confint(r, level = level)$radius)
      expect_gt(inside, level - 5 * sqrt(level * (1 - level) / length(rho)))
      expect_lt(inside, level + 0.02 + 5 * sqrt(level * (1 - level) / length(rho)))
    }
  }
})

test_that("no radial law that keeps the promise has a smaller mean radius", {
  # densities on a grid with steps of 1/20 of the sensitivity, whose logarithm moves by epsilon at most within 20 of them:
  # random ones, some near the best staircase, in flat space of dimension d and on a sphere
  epsilon <- 2
  m <- 20
  cells <- 400
  area <- list(line = rep(1, cells), plane = seq_len(cells) - 0.5, sphere = sin(pi * (seq_len(cells) - 0.5) / cells))
  value <- (seq_len(cells) - 0.5) / m
  mean_of <- function(g, A) sum(value * A * g) / sum(A * g)
  allowed <- function(l) all(vapply(seq_len(m), function(k) max(abs(l[-seq_len(k)] - l[seq_len(cells - k)])) <= epsilon + 1e-9, NA))
  for (A in area) {
    best <- min(vapply(seq_len(m), function(a) mean_of(exp(stairs(value, epsilon, 1, a / m)), A), 0))
    for (seed in 1:60) {
      set.seed(seed)
      # an envelope of cones keeps any function within what is allowed
      l <- stairs(value, epsilon, 1, sample(m, 1) / m) + stats::rnorm(cells, sd = 0.3 * (seed %% 4))
      reach <- function(i) l + epsilon * ceiling(abs(seq_len(cells) - i) / m)
      l <- vapply(seq_len(cells), function(i) min(reach(i)), 0)
      expect_true(allowed(l))
      expect_gte(mean_of(exp(l), A), best * (1 - 1e-9))
    }
  }
  # and the plan's first step is the best of many
  for (case in list(list(sphere(2), 0.05), list(euclidean(6), 0.4), list(spd(2), 0.1))) for (epsilon in c(1, 6)) {
    found <- riemdp:::staircase_best(case[[1]], case[[2]] / epsilon, case[[2]])
    error <- riemdp:::staircase_error(case[[1]], case[[2]] / epsilon, case[[2]])
    expect_lte(found$error, min(vapply(case[[2]] * seq_len(97) / 97, error, 0)) * (1 + 1e-4))
  }
})
