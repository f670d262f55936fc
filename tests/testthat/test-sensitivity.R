# How far the mean really moves, by search: half of the data at each of two opposite boundary points, one record moved.
move_on_sphere <- function(n, r, tries) {
  M <- sphere(2)
  at <- function(t, psi) c(sin(t) * cos(psi), sin(t) * sin(psi), cos(t))
  worst <- 0
  for (a in tries) {
    base <- rbind(t(replicate(ceiling((n - 1) / 2), at(r, 0))), t(replicate(floor((n - 1) / 2), at(r, pi))))[seq_len(n - 1), , drop = FALSE]
    one <- frechet_mean(rbind(base, at(r, a[1])), M)$mean
    two <- frechet_mean(rbind(base, at(r, a[2])), M)$mean
    worst <- max(worst, mf_dist(M, one, two))
  }
  worst
}

test_that("the closed form bounds the mean's move and is reached within 2 % for n of 10 or more", {
  tries <- list(c(pi / 2, -pi / 2), c(0, pi), c(1.2, -1.2), c(pi / 2, -1.4))
  for (r in c(0.3, pi / 8, 0.6, 0.75)) {
    for (n in c(3, 11, 41)) {
      moved <- move_on_sphere(n, r, tries)
      delta <- as.numeric(mean_sensitivity(sphere(2), n, r))
      expect_lte(moved, delta)
      if (n >= 10) expect_gt(moved, 0.98 * delta)
    }
  }
})

test_that("random adjacent data sets never exceed the bound", {
  set.seed(9)
  for (case in list(list(sphere(2), pi / 8), list(sphere(3), 0.7), list(kendall(4), 0.35), list(spd(2), 1.5), list(hermitian_spd(2), 1.5),
                    list(hyperbolic(2), 2), list(stiefel(3, 2), 0.5), list(grassmann(4, 2), 0.4))) {
    M <- case[[1]]
    r <- case[[2]]
    base <- record(M, mf_random(M, 1, sd = 0.1), 1)
    for (trial in 1:10) {
      n <- sample(2:6, 1)
      x <- mf_exp(M, base, scale_records(M, unit_tangents(M, base, n + 1), r * runif(n + 1)^0.2))
      pick <- function(i) if (mf_facts(M)$rows == 0) x[i, , drop = FALSE] else if (length(dim(x)) == 2) x[, i, drop = FALSE] else x[, , i, drop = FALSE]
      one <- frechet_mean(pick(1:n), M)$mean
      two <- frechet_mean(pick(2:(n + 1)), M)$mean
      expect_lte(mf_dist(M, one, two), as.numeric(mean_sensitivity(M, n, r)))
    }
  }
})

test_that("the bound lies below the older values and above the flat one", {
  skip_if_not_installed("jsonlite")
  ref <- jsonlite::fromJSON(test_path("reference", "laplace_mean_sensitivity_sphere.json"))
  for (name in names(ref)) {
    r <- as.numeric(name)
    for (n in c(2, 5, 10, 100, 1000)) {
      old <- ref[[name]]$nDelta_over_2r[[as.character(n)]]
      new <- mean_sensitivity(sphere(2), n, r) * n / (2 * r)
      if (!is.null(old) && !is.na(old)) expect_lte(as.numeric(new), old)
      expect_gt(as.numeric(new), 1)
    }
    expect_equal(as.numeric(mean_sensitivity(sphere(2), 100, r, calibration = "paper")) * 100 / (2 * r), ref[[name]]$seeds,
                 tolerance = 2e-5)
  }
  value <- function(n) as.numeric(mean_sensitivity(sphere(2), n, pi / 8)) * n / (pi / 4)
  expect_equal(c(value(2), value(5), value(10), value(1e9)), c(1.0361, 1.0472, 1.0510, 1.0548), tolerance = 1e-4)
})

test_that("radius limits follow curvature and injectivity", {
  expect_error(mean_sensitivity(sphere(2), 10, pi / 4), class = "riemdp_error_radius")
  expect_error(mean_sensitivity(kendall(5), 10, pi / 8), class = "riemdp_error_radius")
  expect_error(mean_sensitivity(sphere(1), 10, pi / 2), class = "riemdp_error_radius")
  expect_error(mean_sensitivity(custom_torus(2), 10, 2), class = "riemdp_error_radius")
  expect_error(mean_sensitivity(spd(2, "bures"), 10, 0.6, center = diag(2)), class = "riemdp_error_radius")
  expect_silent(mean_sensitivity(spd(2, "bures"), 10, 0.3, center = diag(2)))
  # the largest curvature at the ball's point nearest to singular matrices, and the injectivity radius there
  for (k in 2:3) {
    ball <- riemdp:::check_radius(spd(k, "bures"), 0.3, diag(c(9, 4, 1)[(4 - k):3]))
    expect_equal(ball$k_max, 3 / (sqrt(5) - 0.3)^2, tolerance = 1e-11)
    expect_equal(ball$injectivity_radius, 0.7, tolerance = 1e-11)
    expect_gt(ball$k_max, 3 / (sqrt(5) - 0.3)^2)
    expect_lt(ball$injectivity_radius, 0.7)
  }
  expect_equal(as.numeric(mean_sensitivity(spd(3), 10, 5)), 1, tolerance = 1e-10)
})

test_that("the private solver's number of steps is public and small", {
  steps <- function(...) .Call(riemdp:::riemdp_ball_steps, ...)
  expect_lte(steps(1, 1, pi / 8, 1e-10)[2], 12)
  expect_lte(steps(0, 0, 5, 1e-10)[2], 3)
  expect_lte(steps(-0.5, 0, 1.5, 1e-10)[2], 40)
})

test_that("a solver's error counts for both neighbours, over the least curvature of the energy, stretched by the logarithm", {
  for (k in c(1, 4)) for (r in c(0.05, 0.3)) {
    rho <- r * sqrt(k)
    ball <- list(radius = r, k_max = k)
    plain <- 2 * 1e-10 * tan(2 * rho) / (2 * rho)
    # as ratios: numbers below the tolerance are compared by their difference
    expect_equal(riemdp:::solver_error(ball, 1e-10, FALSE) / plain, 1, tolerance = 1e-9)
    expect_equal(riemdp:::solver_error(ball, 1e-10, TRUE) / (plain * rho / sin(rho)), 1, tolerance = 1e-9)
  }
  expect_equal(riemdp:::solver_error(list(radius = 3, k_max = 0), 1e-10, TRUE) / 2e-10, 1, tolerance = 1e-9)
  # and a plan on a space where it is what counts, a user's, pays for it
  M <- custom_sphere(2)
  r <- dp_mean(matrix(c(0, 0, 1), 20, 3, byrow = TRUE), M, 1, c(0, 0, 1), 0.1, mechanism = "wrapped")
  ball <- riemdp:::check_radius(M, 0.1, c(0, 0, 1))
  expect_equal(r$solver_error / riemdp:::solver_error(ball, riemdp:::SOLVER_TOLERANCE, TRUE), 1, tolerance = 1e-9)
  expect_equal(r$scale, r$sensitivity + r$solver_error, tolerance = 1e-9)
})

test_that("the gradient's bound is the maximum over mirrored points, found here by a search of its own", {
  for (rho in c(0.05, 0.3, 0.6, 0.75, 0.78)) for (k in c(1, 4)) {
    # two records at angle 2 phi on the ball's edge, seen from a third point of it: proofs/gradient-sensitivity.md
    value <- function(c) {
      d <- 2 * asin(sin(rho) * sqrt((1 + c) / 2))
      2 * sin(rho) * d / sin(d) * sqrt(1 - c^2)
    }
    grid <- seq(0, 0.999, length.out = 2001)
    at <- grid[which.max(value(grid))]
    best <- stats::optimize(value, c(max(0, at - 1e-3), at + 1e-3), maximum = TRUE, tol = 1e-12)$objective
    M <- if (k == 1) sphere(2) else kendall(5)
    ratio <- as.numeric(gradient_sensitivity(M, 10, rho / sqrt(k))) * 10 * sqrt(k) / best
    expect_gte(ratio, 1 - 1e-12)
    expect_lte(ratio, 1 + 1e-9)
  }
})

test_that("where curvature is at most 0 both bounds are 2r/n, which two records at opposite ends reach", {
  for (M in list(euclidean(3), hyperbolic(2), spd(2))) for (n in c(1, 10)) for (f in list(mean_sensitivity, gradient_sensitivity)) {
    expect_equal(as.numeric(f(M, n, 0.7)) * n / 1.4, 1, tolerance = 1e-11)
    expect_gte(as.numeric(f(M, n, 0.7)) * n, 1.4)
  }
})
