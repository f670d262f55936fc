# Everything here is held against formulas of its own: matrices by series, quaternions by products, lines of R^4.

cross <- function(w) matrix(c(0, w[3], -w[2], -w[3], 0, w[1], w[2], -w[1], 0), 3)

# exp of a matrix by its series
series <- function(a) {
  out <- term <- diag(nrow(a))
  for (j in 1:60) {
    term <- term %*% a / j
    out <- out + term
  }
  out
}

turn <- function(w) series(cross(w))
plane_turns <- function(a) array(rbind(cos(a), sin(a), -sin(a), cos(a)), c(2, 2, length(a)))
stack <- function(x) array(unlist(x), c(dim(x[[1]]), length(x)))

# rotation vectors even in the ball, and the same rotations as matrices and as lines
some_rotations <- function(n, radius, seed = 5) {
  set.seed(seed)
  v <- matrix(rnorm(3 * n), n)
  v <- v / sqrt(rowSums(v^2)) * radius * runif(n)^(1 / 3)
  half <- sqrt(rowSums(v^2)) / 2
  list(vectors = v, matrices = stack(lapply(seq_len(n), function(i) turn(v[i, ]))),
       lines = array(t(cbind(cos(half), v * sin(half) / half / 2)), c(4, 1, n)))
}

identity_line <- matrix(c(1, 0, 0, 0), 4)

test_that("facts are those of the groups", {
  f <- mf_facts(rotations(3))
  expect_identical(f[c("dimension", "ambient", "rows", "cols")], list(dimension = 3, ambient = 9, rows = 3, cols = 3))
  expect_identical(c(f$k_min, f$k_max, f$injectivity_radius, f$diameter), c(0.25, 0.25, pi, pi))
  expect_identical(c(f$homogeneous, f$symmetric, f$has_laplace, f$uniform_by_projection, f$one_mean), c(TRUE, TRUE, TRUE, TRUE, FALSE))
  f <- mf_facts(rotations(2))
  expect_identical(c(f$dimension, f$k_min, f$k_max, f$injectivity_radius, f$diameter), c(1, 0, 0, pi, pi))
  for (n in 4:6) {
    f <- mf_facts(rotations(n))
    expect_equal(c(f$dimension, f$k_min, f$k_max, f$injectivity_radius, f$diameter), c(n * (n - 1) / 2, 0, 0.5, pi, pi * sqrt(n %/% 2)))
    expect_true(f$symmetric)
  }
  expect_identical(format(rotations(3))[1], "<manifold> rotations SO(3)")
  f <- mf_facts(rigid(3, scale = 10))
  expect_identical(c(f$dimension, f$k_min, f$k_max, f$injectivity_radius, f$diameter), c(6, 0, 0.25, pi, Inf))
  for (n in list(1, 2.5, "a", 0, NA, 1e5)) expect_error(rotations(n), class = "riemdp_error_argument")
  for (s in list(0, -1, Inf, "a", c(1, 2))) expect_error(rigid(3, s), class = "riemdp_error_argument")
})

test_that("distances are angles, geodesics are one-parameter groups", {
  M <- rotations(3)
  x <- some_rotations(40, 3.1)
  P <- turn(c(0.3, -2, 1))
  angle <- sqrt(rowSums(x$vectors^2))
  moved <- stack(lapply(1:40, function(i) P %*% x$matrices[, , i]))
  expect_lt(gap(mf_dist(M, P, moved), angle), 1e-14)
  expect_lt(gap(mf_dist(M, moved, P), angle), 1e-14)
  expect_lt(gap(mf_coords(M, P, mf_log(M, P, moved)), x$vectors), 2e-14)
  v <- stack(lapply(1:40, function(i) P %*% cross(x$vectors[i, ])))
  expect_lt(gap(mf_exp(M, P, v), moved), 2e-14)
  expect_lt(gap(mf_norm(M, P, v), angle), 1e-14)
  # the angle by the trace
  y <- some_rotations(40, 2, seed = 6)$matrices
  trace <- vapply(1:40, function(i) sum(x$matrices[, , i] * y[, , i]), 0)
  expect_lt(gap(cos(mf_dist(M, x$matrices, y)), (trace - 1) / 2), 1e-14)
  # left-invariant fields turn back by half the angle along a geodesic
  w <- c(0.5, 1, -2)
  u <- c(-1, 0.2, 0.7)
  expect_lt(gap(mf_coords(M, P %*% turn(w), mf_transport(M, P, P %*% turn(w), P %*% cross(u))), as.vector(turn(-w / 2) %*% u)), 1e-14)
  expect_lt(gap(mf_log_density(M, P, P %*% cross(w)), 2 * log(sin(sqrt(sum(w^2)) / 2) / (sqrt(sum(w^2)) / 2))), 1e-14)
  # more dimensions
  set.seed(1)
  for (n in 4:5) {
    a <- matrix(rnorm(n * n), n)
    a <- (a - t(a)) / sqrt(sum((a - t(a))^2))
    M <- rotations(n)
    expect_equal(mf_dist(M, diag(n), series(2 * a)), sqrt(2), tolerance = 1e-13)
    expect_lt(gap(mf_exp(M, diag(n), 2 * a), series(2 * a)), 1e-14)
  }
})

test_that("lines of R^4 give the same numbers", {
  M <- rotations(3)
  G <- grassmann(4, 1)
  x <- some_rotations(30, 3)
  y <- some_rotations(30, 3, seed = 7)
  expect_lt(gap(mf_dist(M, x$matrices, y$matrices), 2 * mf_dist(G, x$lines, y$lines)), 1e-14)
  near <- some_rotations(30, 1.5)
  a <- frechet_mean(near$matrices, M)
  b <- frechet_mean(near$lines, G)
  expect_lt(mf_dist(M, a$mean, as.array(as_mf_points(matrix(b$mean, 1), M, layout = "wxyz"))[, , 1]), 1e-9)
  expect_equal(a$variance, 4 * b$variance, tolerance = 1e-12)
  expect_identical(a$unique, TRUE)
  expect_equal(mf_dist(M, diag(3), frechet_median(near$matrices, M)$mean), 2 * mf_dist(G, identity_line, frechet_median(near$lines, G)$mean),
               tolerance = 1e-7)
})

test_that("the circle is one, O(2) is two", {
  M <- rotations(2)
  a <- c(3, -3, 1, 0.5, -2.9)
  expect_lt(gap(mf_dist(M, plane_turns(0.2)[, , 1], plane_turns(a)), abs((a - 0.2 + pi) %% (2 * pi) - pi)), 1e-14)
  expect_lt(gap(mf_coords(M, plane_turns(0.2)[, , 1], mf_log(M, plane_turns(0.2)[, , 1], plane_turns(a))),
                matrix((a - 0.2 + pi) %% (2 * pi) - pi)), 1e-14)
  mean <- frechet_mean(plane_turns(a), M)
  on_circle <- frechet_mean(cbind(cos(a), sin(a)), sphere(1))
  expect_lt(gap(mean$mean[, 1], on_circle$mean), 1e-14)
  expect_lt(gap(mean$mean, plane_turns(atan2(mean$mean[2, 1], mean$mean[1, 1]))[, , 1]), 1e-15)
  expect_equal(mean$variance, on_circle$variance)
  expect_equal(frechet_median(plane_turns(a), M)$mean[, 1], frechet_median(cbind(cos(a), sin(a)), sphere(1))$mean)
  for (metric in c("euclidean", "canonical")) {
    mean <- frechet_mean(plane_turns(c(0.1, 0.5))[, c(2, 1), ], stiefel(2, 2, metric))$mean
    expect_lt(gap(mean, plane_turns(0.3)[, c(2, 1), 1]), 1e-10)
  }
})

test_that("tiny angles and those next to pi keep their digits", {
  M <- rotations(3)
  axis <- c(2, -1, 2) / 3
  for (t in c(1e-150, 1e-12, 1e-6)) {
    R <- diag(3) + sin(t) * cross(axis) + 2 * sin(t / 2)^2 * cross(axis) %*% cross(axis)
    expect_equal(mf_dist(M, diag(3), R) / t, 1, tolerance = 1e-15)
    expect_equal(as.vector(mf_coords(M, diag(3), mf_log(M, diag(3), R))) / t, axis, tolerance = 1e-15)
    expect_equal(mf_exp(M, diag(3), t * cross(axis)), R, tolerance = 1e-15)
  }
  k <- outer(axis, axis)
  for (off in c(1e-3, 1e-9, 1e-13)) { # sin and cos of pi - off
    R <- -cos(off) * diag(3) + (1 + cos(off)) * k + sin(off) * cross(axis)
    expect_lt(abs(mf_dist(M, diag(3), R) - (pi - off)), 2e-15)
    expect_lt(gap(mf_coords(M, diag(3), mf_log(M, diag(3), R)), (pi - off) * matrix(axis, 1)), 1e-14)
    expect_lt(gap(mf_exp(M, diag(3), mf_log(M, diag(3), R)), R), 1e-14)
  }
  for (j in 1:3) { # the largest entry of the quaternion
    k <- diag(3)[j, ]
    R <- -cos(1e-9) * diag(3) + (1 + cos(1e-9)) * outer(k, k) + sin(1e-9) * cross(k)
    expect_lt(gap(mf_coords(M, diag(3), mf_log(M, diag(3), R)), (pi - 1e-9) * matrix(k, 1)), 1e-14)
  }
  R <- 2 * outer(axis, axis) - diag(3)
  expect_lt(abs(mf_dist(M, diag(3), R) - pi), 1e-15)
  expect_error(mf_log(M, diag(3), R), class = "riemdp_error_cut_locus")
  expect_error(mf_log(rotations(2), diag(2), -diag(2)), class = "riemdp_error_cut_locus")
  expect_error(mf_transport(M, diag(3), R, cross(axis)), class = "riemdp_error_cut_locus")
  expect_identical(mf_is_point(M, R), TRUE)
})

test_that("records are turned many at once, and none changes a bit of another", {
  M <- rotations(3)
  set.seed(4)
  n <- 131 # two chunks and some
  a <- matrix(rnorm(3 * n), n)
  a[70, ] <- c(4e12, 0, 0) # beyond what the fast sine takes
  a[3, ] <- 0
  p <- some_rotations(n, 3)$matrices
  p[, , 70] <- diag(3)
  v <- mf_from_coords(M, p, a)
  q <- mf_exp(M, p, v)
  one <- function(f) stack(lapply(seq_len(n), f))
  expect_identical(one(function(i) mf_exp(M, p[, , i], v[, , i])), q)
  expect_identical(mf_exp(M, p[, , -70], v[, , -70]), q[, , -70])
  turned <- function(i) { # Rodrigues' formula
    t <- sqrt(sum(a[i, ]^2))
    k <- cross(if (t > 0) a[i, ] / t else a[i, ])
    p[, , i] %*% (diag(3) + sin(t) * k + 2 * sin(t / 2)^2 * k %*% k)
  }
  expect_lt(gap(q[, , -70], one(turned)[, , -70]), 1e-14)
  expect_lt(gap(q[, , 70], turned(70)), 1e-14)
  near <- mf_exp(M, p, mf_from_coords(M, p, a / pmax(1, sqrt(rowSums(a^2)) / 3)))
  w <- mf_log(M, p, near)
  expect_identical(one(function(i) mf_log(M, p[, , i], near[, , i])), w)
  expect_identical(vapply(seq_len(n), function(i) mf_dist(M, p[, , i], near[, , i]), 0), mf_dist(M, p, near))
  expect_identical(one(function(i) mf_transport(M, p[, , i], near[, , i], v[, , i])), mf_transport(M, p, near, v))
  # as parts of a product, by columns and by records
  R <- rigid(3, 2)
  rows <- function(x, at = 0) cbind(t(matrix(x, 9)), at, at, at)
  expect_identical(mf_part(R, mf_exp(R, rows(p), rows(v)), 1), q)
  expect_identical(mf_part(R, mf_log(R, rows(p), rows(near)), 1), w)
  expect_identical(mf_dist(R, rows(p), rows(near)), mf_dist(M, p, near))
  expect_error(mf_exp(M, p, replace(v, 9 * 80 + 1, 5)), class = "riemdp_error_not_tangent")
  expect_error(mf_transport(M, p, near, replace(v, 9 * 80 + 1, 5)), class = "riemdp_error_not_tangent")
})

test_that("what is no rotation is none", {
  for (n in 2:5) {
    M <- rotations(n)
    mirror <- diag(c(-1, rep(1, n - 1)))
    bad <- stack(list(diag(n), mirror, replace(diag(n), 1, NaN), replace(diag(n), 1, 1 + 1e-6), diag(n)[, c(2:n, 1)] * 2, replace(diag(n), 1, Inf)))
    expect_identical(mf_is_point(M, bad), c(TRUE, rep(FALSE, 5)))
    expect_error(mf_dist(M, diag(n), mirror), class = "riemdp_error_off_manifold")
    # a cycle of n axes is a rotation where n is odd
    expect_identical(mf_is_point(M, diag(n)[, c(2:n, 1)]), n %% 2 == 1)
    expect_error(mf_project(M, mirror), class = "riemdp_error_off_manifold") # several are nearest
    expect_error(mf_project(M, 0 * mirror), class = "riemdp_error_off_manifold")
    # the nearest one, by the singular values
    set.seed(n)
    x <- array(rnorm(n * n * 20), c(n, n, 20))
    nearest <- stack(lapply(1:20, function(i) {
      s <- svd(x[, , i])
      s$u %*% diag(c(rep(1, n - 1), sign(det(s$u) * det(s$v)))) %*% t(s$v)
    }))
    expect_lt(gap(mf_project(M, x), nearest), 1e-11)
    expect_true(all(mf_is_point(M, mf_random(M, 20))))
  }
  # one record of determinant -1 among others is the centre for a private mean, whatever it is
  x <- some_rotations(20, 0.8)$matrices
  released <- function(last) {
    x[, , 20] <- last
    with_simulation(3, dp_mean(x, rotations(3), 1, diag(3), 0.8, invalid = "center"))$value
  }
  want <- released(diag(3))
  for (last in list(diag(c(1, 1, -1)), matrix(NaN, 3, 3), matrix(0, 3, 3), -diag(3), diag(c(1, -1, -1)))) expect_identical(released(last), want)
})

test_that("random rotations are uniform", {
  set.seed(2)
  angle <- mf_dist(rotations(3), diag(3), mf_random(rotations(3), 4000))
  expect_gt(ks.test(angle, function(t) (t - sin(t)) / pi)$p.value, 1e-4)
  angle <- mf_dist(rotations(2), diag(2), mf_random(rotations(2), 4000))
  expect_gt(ks.test(angle, "punif", 0, pi)$p.value, 1e-4)
  # entries of uniform rotations of R^4 have mean square 1/4, fourth moment 3/24
  x <- mf_random(rotations(4), 4000)
  expect_lt(max(abs(apply(x^2, 1:2, mean) - 1 / 4)), 5 * sqrt((1 / 8 - 1 / 16) / 4000))
})

test_that("private means err by twice what lines of R^4 do", {
  M <- rotations(3)
  G <- grassmann(4, 1)
  for (r in c(0.4, 1, 1.5)) expect_equal(c(mean_sensitivity(M, 30, r)), 2 * c(mean_sensitivity(G, 30, r / 2)), tolerance = 1e-12)
  # to just below a right angle
  expect_identical(guarantee(dp_mean(some_rotations(20, 1.5)$matrices, M, 1, diag(3), 1.57))$label, "pure")
  expect_error(dp_mean(some_rotations(20, 1.5)$matrices, M, 1, diag(3), pi / 2), class = "riemdp_error_radius")
  x <- some_rotations(50, 1.2)
  at <- frechet_mean(x$matrices, M)$mean
  line <- frechet_mean(x$lines, G)$mean
  for (name in c("laplace", "staircase", "wrapped", "kng", "gaussian", "wrapped_gaussian")) {
    delta <- if (endsWith(name, "gaussian")) 1e-5 else 0
    plan <- function(x, M, center, r, numerics = "auto") {
      dp_mean(x, M, 1, center, r, delta = delta, mechanism = name, numerics = numerics)
    }
    on_lattice <- name %in% c("wrapped", "kng", "wrapped_gaussian")
    for (numerics in c(if (name != "kng") "real", if (on_lattice) "lattice")) {
      a <- plan(x$matrices, M, diag(3), 1.2, numerics)
      b <- plan(x$lines, G, identity_line, 0.6, numerics)
      expect_identical(guarantee(a)$label, guarantee(b)$label)
      expect_equal(a$expected_error, 2 * b$expected_error, tolerance = 0.02, label = paste(name, numerics))
    }
  }
  # and by the law
  for (name in c("laplace", "wrapped", "gaussian")) {
    delta <- if (name == "gaussian") 1e-5 else 0
    draws <- function(x, M, center, r, at, seed) {
      with_simulation(seed, vapply(1:(if (quick()) 150 else 600), function(i) {
        mf_dist(M, at, dp_mean(x, M, 2, center, r, delta = delta, mechanism = name, numerics = "real")$value)
      }, 0))
    }
    expect_gt(ks.test(draws(x$matrices, M, diag(3), 1.2, at, 1), 2 * draws(x$lines, G, identity_line, 0.6, line, 2))$p.value, 1e-4)
  }
})

test_that("wide Laplace noise follows the area of spheres and ends at pi", {
  M <- rotations(3)
  density <- function(t) sin(t / 2)^2 * exp(-t / 1.5)
  whole <- integrate(density, 0, pi)$value
  law <- function(t) vapply(t, function(t) integrate(density, 0, t)$value / whole, 0)
  center <- turn(c(1, 2, -1))
  d <- mf_dist(M, center, with_simulation(8, laplace_noise(M, center, 1.5, 1500)))
  expect_gt(ks.test(d, law)$p.value, 1e-4)
  half <- product(M, weights = 1 / 4) # another sampler
  expect_match(format(half)[1], "half angles")
  d <- 2 * mf_dist(half, center, with_simulation(9, laplace_noise(half, center, 0.75, 1500)))
  expect_gt(ks.test(d, law)$p.value, 1e-4)
})

test_that("no neighbours move a mean further than is paid for", {
  M <- rotations(3)
  r <- 1.5
  set.seed(9)
  worst <- 0
  for (i in 1:30) {
    n <- sample(2:6, 1)
    e <- mf_random_tangent(M, diag(3), n + 1)
    x <- mf_exp(M, diag(3), scale_records(M, e, r * runif(n + 1)^0.1 / mf_norm(M, diag(3), e)))
    if (i %% 2) for (j in seq_len(n + 1)) x[, , j] <- turn(c(0, 0, (1 - 2 * (j %% 2)) * r))
    a <- frechet_mean(x[, , 1:n], M)$mean
    b <- frechet_mean(x[, , 2:(n + 1)], M)$mean
    worst <- max(worst, mf_dist(M, a, b) / mean_sensitivity(M, n, r))
  }
  expect_lt(worst, 1)
  expect_gt(worst, 0.25)
})

test_that("other releases take rotations", {
  M <- rotations(3)
  x <- some_rotations(60, 1)$matrices
  t <- seq(-1, 1, length.out = 60)
  points <- mf_points(x, M)
  frame <- data.frame(t = t)
  frame$points <- points
  labels <- list(
    dp_regression(points ~ t, M, frame, epsilon = 2, center = diag(3), radius = 1, speed = 0.5, residual_bound = 1, bounds = c(-1, 1)),
    dp_variance(x, M, epsilon = 2, center = diag(3), radius = 1), dp_median(x, M, epsilon = 2, center = diag(3), radius = 1),
    dp_local(x, M, epsilon = 2), dp_conformal(x, M, epsilon = 2, at = diag(3), bound = 2), dp_ball(x, M, epsilon = 2, center = diag(3), radius = 1),
    dp_test(x, M, epsilon = 2, group = rep(1:2, 30)), dp_mean(chunks(x, size = 16), M, 1, diag(3), 1)
  )
  for (release in labels) expect_identical(guarantee(release)$label, "pure", label = class(release)[1])
  expect_identical(guarantee(dp_optimize(problem_frechet(M), x, epsilon = 2, delta = 1e-6, start = diag(3), clip = 1))$label, "approx")
  whole <- with_simulation(4, dp_mean(x, M, 1, diag(3), 1))
  pieces <- with_simulation(4, dp_mean(chunks(x, size = 16), M, 1, diag(3), 1))
  expect_identical(whole$value, pieces$value)
  for (n in c(2, 4)) {
    x <- mf_exp(rotations(n), diag(n), mf_random_tangent(rotations(n), diag(n), 30, sd = 0.1))
    expect_identical(guarantee(dp_mean(x, rotations(n), 1, diag(n), 0.6))$label, "pure")
  }
  # a turn of one space's radius, a shift of another's
  R <- rigid(3, scale = 2)
  x <- mf_join(R, list(rotation = some_rotations(30, 0.5)$matrices, shift = matrix(rnorm(90), 30)))
  center <- mf_join(R, list(rotation = diag(3), shift = c(0, 0, 0)))
  expect_identical(guarantee(dp_mean(x, R, 1, center, 1))$label, "pure")
  expect_equal(mf_dist(R, center, mf_join(R, list(turn(c(0, 0.6, 0)), c(0, 0, 1.6)))), 1, tolerance = 1e-14)
})

test_that("kernels of rotations know how far records are apart", {
  for (n in 2:4) {
    M <- rotations(n)
    for (r in c(0.2, 1, 1.5, 10)) {
      space <- riemdp:::test_space(M, r)
      corner <- matrix(0, n, n)
      corner[1:2, 1:2] <- c(0, 1, -1, 0)
      far <- sqrt(sum((mf_exp(M, diag(n), corner * min(r, pi / 2)) - mf_exp(M, diag(n), -corner * min(r, pi / 2)))^2))
      expect_gt(space$diameter, far - 1e-12)
      if (n < 4) expect_lt(space$diameter, far + 1e-12)
    }
    expect_error(riemdp:::test_space(M, 1, "exponential"), class = "riemdp_error_unsupported")
  }
})

read <- function(x, layout, units = NULL, ...) unname(as.array(as_mf_points(x, rotations(3), units = units, layout = layout, ...)))

test_that("quaternions, rotation vectors and Euler angles become matrices", {
  x <- some_rotations(12, 3)
  q <- t(matrix(x$lines, 4))
  expect_lt(gap(read(q, "wxyz"), x$matrices), 1e-14)
  expect_lt(gap(read(-q[, c(2:4, 1)] * 1.005, "xyzw"), x$matrices), 1e-14)
  expect_lt(gap(read(x$vectors, "axis", "radians"), x$matrices), 1e-14)
  expect_lt(gap(read(as.data.frame(x$vectors * 180 / pi), "axis", "degrees"), x$matrices), 1e-14)
  expect_identical(read(t(matrix(x$matrices, 9)), "columns"), x$matrices)
  expect_identical(read(t(matrix(aperm(x$matrices, c(2, 1, 3)), 9)), "rows"), x$matrices)
  expect_identical(read(x$matrices, NULL), x$matrices)
  expect_lt(gap(as.vector(read(rbind(c(0, 0, 90)), "axis", "degrees")), c(0, 1, 0, -1, 0, 0, 0, 0, 1)), 1e-15)
  expect_identical(unname(as.matrix(as_mf_points(diag(3), rotations(3)))), matrix(as.double(diag(3)), 1))
  set.seed(3)
  angles <- matrix(runif(30, -3, 3), 10)
  for (axes in c("zyx", "xyz", "zxz", "yzy", "xzy")) {
    about <- function(i, j) turn(angles[i, j] * (c("x", "y", "z") == substr(axes, j, j)))
    intrinsic <- stack(lapply(1:10, function(i) about(i, 1) %*% about(i, 2) %*% about(i, 3)))
    extrinsic <- stack(lapply(1:10, function(i) about(i, 3) %*% about(i, 2) %*% about(i, 1)))
    expect_lt(gap(read(angles, paste("intrinsic", axes), "radians"), intrinsic), 1e-14)
    expect_lt(gap(read(angles * 180 / pi, paste("extrinsic", axes), "degrees"), extrinsic), 1e-14)
  }
  a <- c(10, 350, -20)
  expect_lt(gap(as.array(as_mf_points(a, rotations(2), units = "degrees")), plane_turns(a * pi / 180)), 1e-15)
})

test_that("records are converted each by itself", {
  x <- some_rotations(12, 3)
  q <- t(matrix(x$lines, 4))
  q[2, 3] <- NaN
  q[4, ] <- 0
  q[5, ] <- 2 * q[5, ]
  q[6, 1] <- Inf
  bad <- seq_len(12) %in% c(2, 4, 5, 6)
  y <- as_mf_points(q, rotations(3), layout = "wxyz", invalid = "missing")
  expect_identical(is.na(unname(y)), bad)
  expect_lt(gap(as.array(y[!bad]), x$matrices[, , !bad]), 1e-14)
  expect_error(as_mf_points(q, rotations(3), layout = "wxyz"), class = "riemdp_error_off_manifold")
  for (layout in c("axis", "intrinsic zyx")) {
    v <- x$vectors
    v[3, 2] <- NA
    v[7, 1] <- -Inf
    v[8, 3] <- 6.3 # beyond a turn: degrees?
    expect_identical(is.na(unname(as_mf_points(v, rotations(3), units = "radians", layout = layout, invalid = "missing"))),
                     seq_len(12) %in% c(3, 7, 8))
  }
})

test_that("converters ask for what numbers don't tell", {
  v <- matrix(0.1, 2, 3)
  q <- cbind(1, 0, 0, 0)
  for (call in list(quote(read(v, NULL)), quote(read(v, "axis")), quote(read(v, "axis", "turns")), quote(read(v, "wxyz", "radians")), quote(read(q, NULL)),
                    quote(read(q, "wxyz", "radians")), quote(read(v, "intrinsic zyx")), quote(read(v, "zyx", "degrees")),
                    quote(read(v, "intrinsic zzx", "degrees")), quote(read(v, c("intrinsic zyx", "intrinsic xyz"), "degrees")),
                    quote(read(structure(q, class = "Q4"), "wxyz")), quote(as_mf_points(1, rotations(2))))) {
    expect_error(eval(call), class = "riemdp_error_argument")
  }
  for (x in list(v[, 1:2], 1:4, "a", array(0, c(2, 3, 2)))) expect_error(read(x, NULL), class = "riemdp_error_shape")
})

test_that("objects of the package rotations are taken by their class", {
  x <- some_rotations(5, 2)
  q <- t(matrix(x$lines, 4))
  expect_lt(gap(read(structure(q, class = "Q4"), NULL), x$matrices), 1e-14)
  expect_lt(gap(read(structure(t(matrix(x$matrices, 9)), class = "SO3"), NULL), x$matrices), 1e-14)
  skip_if_not_installed("rotations")
  package <- asNamespace("rotations")
  expect_lt(gap(read(package$as.Q4(package$as.SO3(x$vectors)), NULL), x$matrices), 1e-12)
  expect_lt(gap(read(package$as.SO3(x$vectors), NULL), x$matrices), 1e-12)
})

test_that("a public point that is off by rounding serves all records alike", {
  M <- rotations(3)
  at <- diag(3) + 0.95e-8 * (1 - diag(3))
  expect_true(mf_is_point(M, at))
  set.seed(8)
  for (i in 1:20) {
    x <- array(diag(3), c(3, 3, 20))
    u <- rnorm(3)
    x[, , 7] <- mf_exp(M, diag(3), mf_from_coords(M, diag(3), 1.2 * u / sqrt(sum(u^2))))
    expect_equal(sqrt(sum(mf_coords(M, at, mf_log(M, at, x[, , 7]))^2)), 1.2, tolerance = 1e-6)
    expect_s3_class(dp_test(x, M, epsilon = 1, null = "symmetric", at = at, radius = 1.3, invalid = "center"), "riemdp_test")
  }
})
