# Far from the apex, to where doubles no longer say where a point is. Values to 25 digits there: test-reference.R.

at_radius <- function(d, r, direction = stats::rnorm(d)) {
  a <- sinh(r) * direction / sqrt(sum(direction^2))
  c(sqrt(1 + sum(a^2)), a)
}
# rounding of a point's own coordinates moves it by about this much
grain <- function(r) 2^-52 * cosh(r)

test_that("distances to the apex hold as far out as points do", {
  M <- hyperbolic(2)
  for (t in c(1e-8, 1e-3, 1, 10, 18, 25, 30, 32.5)) {
    far <- mf_exp(M, c(1, 0, 0), c(0, 0.6 * t, 0.8 * t))
    expect_equal(mf_dist(M, c(1, 0, 0), far), t, tolerance = 1e-15 * 4)
    expect_identical(mf_dist(M, far, c(1, 0, 0)), mf_dist(M, c(1, 0, 0), far))
    expect_equal(as.vector(mf_log(M, c(1, 0, 0), far)), c(0, 0.6 * t, 0.8 * t), tolerance = 4e-15)
  }
})

test_that("far out exp and log are inverse, transport isometric and its own inverse, up to rounding of what is stored", {
  set.seed(3)
  for (d in c(1, 2, 7)) for (r in c(4, 12, 20, 26, 31)) for (other in c(0.5, r / 2, 0.98 * r)) {
    M <- hyperbolic(d)
    p <- at_radius(d, r)
    q <- at_radius(d, other)
    there <- mf_dist(M, p, q)
    u <- mf_log(M, p, q)
    expect_lt(abs(mf_norm(M, p, u) / there - 1), 20 * d * grain(r))
    # a stored angle that is off by one grain ends sinh(there) of it away: no more than some grains, or exp may end anywhere
    if (grain(r) * sinh(there) < 1e-2) {
      expect_lt(mf_dist(M, mf_exp(M, p, u), q), 20 * d * (grain(r) * sinh(there) + grain(other)) * (1 + there))
    }
    home <- mf_log(M, c(1, numeric(d)), q)
    expect_lt(mf_dist(M, mf_exp(M, c(1, numeric(d)), home), q), 10 * d * grain(other) * (1 + other))
    a <- stats::rnorm(d)
    b <- stats::rnorm(d)
    v <- mf_from_coords(M, p, a)
    w <- mf_from_coords(M, p, b)
    expect_lt(max(abs(as.vector(mf_coords(M, p, v)) - a)), 20 * d * grain(r))
    tv <- mf_transport(M, p, q, v)
    tw <- mf_transport(M, p, q, w)
    expect_lt(abs(mf_inner(M, q, tv, tw) - sum(a * b)), 100 * d * (grain(r) + grain(other)))
    again <- mf_coords(M, p, mf_transport(M, q, p, tv))
    expect_lt(max(abs(as.vector(again) - a)), 100 * d * (grain(r) + grain(other)))
    # the geodesic's own velocity
    expect_lt(max(abs(mf_coords(M, q, mf_transport(M, p, q, u)) + mf_coords(M, q, mf_log(M, q, p)))),
              100 * d * (grain(r) + grain(other)) * (1 + there))
    # what is tangent but for rounding is its own projection
    expect_lt(max(abs(as.vector(mf_coords(M, p, mf_project_tangent(M, p, v))) - a)), 20 * d * grain(r))
  }
})

test_that("carrying a point to the apex and back keeps it", {
  set.seed(4)
  for (model in c("hyperboloid", "ball")) for (r in c(3, 15, 28)) {
    M <- hyperbolic(3, model)
    as_model <- function(x) if (model == "ball") x[-1] / (1 + x[1]) else x
    base <- as_model(at_radius(3, r))
    near <- mf_exp(M, base, mf_from_coords(M, base, c(0.3, -0.2, 0.5)))
    a <- mf_coords(M, base, mf_log(M, base, near))
    expect_equal(as.vector(a), c(0.3, -0.2, 0.5), tolerance = 100 * grain(r))
  }
})

test_that("the ball near its edge has the distances of the hyperboloid", {
  set.seed(5)
  M <- hyperbolic(2, "ball")
  for (gap in 10^-c(3, 6, 9, 12, 13)) {
    # both coordinates are multiples of 2^-53, so that 1 - |x|^2 is known: x along an axis
    x <- 1 - round(gap * 2^53) / 2^53
    g <- (1 - x) * (1 + x)
    expect_equal(mf_dist(M, c(0, 0), c(x, 0)), 2 * asinh(x / sqrt(g)), tolerance = 4e-15)
    expect_equal(mf_dist(M, c(0, x), c(x, 0)), 2 * asinh(sqrt(2) * x / g), tolerance = 4e-15)
    # the same point turned, where |x|^2 has terms that round
    expect_equal(mf_dist(M, c(0, 0), x * c(0.6, 0.8)), 2 * asinh(x / sqrt(g)), tolerance = 2^-52 / gap)
  }
})

test_that("means of records far out are where their logarithms cancel", {
  M <- hyperbolic(2)
  for (r in c(5, 15, 22, 30)) {
    x <- t(vapply(c(0, 1, 2.5), function(angle) at_radius(2, r, c(cos(angle), sin(angle))), numeric(3)))
    fit <- frechet_mean(x, M)
    m <- fit$mean
    expect_true(fit$converged)
    expect_lt(m[1], 10)
    # near the apex the textbook's formula has no cancellation: distances are large
    ch <- x[, 1] * m[1] - x[, 2] * m[2] - x[, 3] * m[3]
    away <- acosh(ch) * (x - outer(ch, m)) / sqrt(ch^2 - 1)
    expect_lt(max(abs(colMeans(away))), 1e-12 * r * m[1])
    expect_equal(fit$variance, mean(acosh(ch)^2), tolerance = 1e-12)
    ball <- frechet_mean(x[, -1] / (1 + x[, 1]), hyperbolic(2, "ball"))$mean
    expect_lt(max(abs(ball - m[-1] / (1 + m[1]))), grain(r) + 1e-9)
  }
})

test_that("points beyond what doubles hold are refused, and private releases end at the edge", {
  M <- hyperbolic(2)
  B <- hyperbolic(2, "ball")
  apex <- c(1, 0, 0)
  class <- "riemdp_error_out_of_reach"
  expect_true(mf_is_point(M, at_radius(2, 32.5)))
  expect_false(mf_is_point(M, at_radius(2, 33)))
  expect_error(mf_dist(M, apex, at_radius(2, 33)), class = class)
  expect_error(frechet_mean(rbind(apex, at_radius(2, 60)), M), class = class)
  expect_error(mf_exp(M, apex, c(0, 33, 0)), class = class)
  expect_error(mf_exp(M, apex, c(0, 1e4, 0)), class = class)
  expect_error(mf_exp(M, at_radius(2, 30, c(1, 0)), mf_log(M, at_radius(2, 30, c(1, 0)), apex) * -0.2), class = class)
  expect_error(mf_project(M, c(0, 1e16, 0)), class = class)
  expect_error(mf_dist(B, c(0, 0), c(1 - 1e-15, 0)), class = class)
  expect_error(mf_dist(B, c(0, 0), c(1, 0)), class = "riemdp_error_off_manifold")
  expect_error(mf_exp(B, c(0, 0), c(0, 20)), class = class)
  expect_true(mf_is_point(B, mf_project(B, c(3, 4))))
  for (case in list(list(M, apex), list(B, c(0, 0)))) {
    x <- rbind(case[[2]], case[[2]])
    for (seed in 1:5) {
      release <- with_simulation(seed, dp_mean(x, case[[1]], 0.3, center = case[[2]], radius = 5, mechanism = "wrapped"))
      expect_true(mf_is_point(case[[1]], release$value))
    }
  }
})
