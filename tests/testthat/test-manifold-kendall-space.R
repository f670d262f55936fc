# Shapes of landmarks in space, held against rotations found by optimisation, singular values, planar shapes, triangles.

quaternion_turn <- function(u) {
  u <- u / sqrt(sum(u^2))
  a <- u[1]; b <- u[2]; c <- u[3]; d <- u[4]
  matrix(c(a^2 + b^2 - c^2 - d^2, 2 * (b * c + a * d), 2 * (b * d - a * c), 2 * (b * c - a * d), a^2 - b^2 + c^2 - d^2,
           2 * (c * d + a * b), 2 * (b * d + a * c), 2 * (c * d - a * b), a^2 - b^2 - c^2 + d^2), 3)
}

some_shapes <- function(k, n, seed) {
  set.seed(seed)
  mf_project(kendall(k, 3), array(rnorm(3 * k * n), c(k, 3, n)))
}

# by singular values, the last with the sign of the determinant
angle_of <- function(a, b) {
  s <- svd(crossprod(a, b))
  acos(min(1, sum(s$d * c(1, 1, sign(det(s$u) * det(s$v))))))
}

test_that("facts are public", {
  f <- mf_facts(kendall(6, 3))
  expect_identical(c(f$dimension, f$ambient, f$rows, f$cols, f$k_min, f$k_max, f$injectivity_radius), c(11, 18, 6, 3, 1, Inf, 0))
  expect_true(f$brings_records && f$local_bounds && !f$has_laplace && !f$homogeneous && !f$uniform_by_projection)
  expect_identical(kendall(6, m = 2), kendall(6))
  for (m in list(1, 4, 2.5, NA, "a")) expect_error(kendall(6, m), class = "riemdp_error_argument")
  expect_error(kendall(3, 3), class = "riemdp_error_argument")
})

test_that("distances are those of the best rotation; reflections aren't among them", {
  M <- kendall(5, 3)
  x <- some_shapes(5, 40, 1)
  d <- mf_dist(M, x[, , 1], x[, , -1])
  expect_lt(max(abs(d - apply(x[, , -1], 3, angle_of, a = x[, , 1]))), 1e-13)
  found <- vapply(2:7, function(i) {
    max(replicate(6, -optim(rnorm(4), function(u) -sum(x[, , 1] * (x[, , i] %*% quaternion_turn(u))), method = "BFGS",
                            control = list(reltol = 1e-14))$value))
  }, 0)
  expect_lt(max(abs(acos(found) - d[1:6])), 1e-7)
  turned <- 3 * x[, , 2] %*% quaternion_turn(c(1, -2, 0.5, 3)) + rep(c(5, -1, 2), each = 5)
  expect_lt(mf_dist(M, x[, , 2], turned), 1e-14)
  expect_gt(mf_dist(M, x[, , 2], x[, , 2] %*% diag(c(1, 1, -1))), 0.05)
})

test_that("flat configurations are planar shapes up to reflection", {
  set.seed(3)
  z <- array(rnorm(14 * 30), c(7, 2, 30))
  w <- array(0, c(7, 3, 30))
  w[, 1:2, ] <- z
  mirrored <- z
  mirrored[, 2, ] <- -z[, 2, ]
  planar <- pmin(mf_dist(kendall(7), z[, , 1], z), mf_dist(kendall(7), z[, , 1], mirrored))
  expect_lt(max(abs(mf_dist(kendall(7, 3), w[, , 1], w) - planar)), 1e-14)
})

test_that("logarithms are horizontal and stop where the best rotation isn't unique; lines are no points", {
  M <- kendall(6, 3)
  x <- some_shapes(6, 20, 4)
  v <- mf_log(M, x[, , 1], x)
  expect_lt(max(abs(mf_dist(M, mf_exp(M, x[, , 1], v), x))), 1e-13)
  lean <- apply(v, 3, function(u) max(abs(crossprod(x[, , 1], u) - crossprod(u, x[, , 1])), abs(sum(u * x[, , 1]))))
  expect_lt(max(lean), 1e-14)
  o <- .Call(internal("riemdp_origin"), M)
  expect_error(mf_log(M, o, o %*% diag(c(1, 1, -1))), class = "riemdp_error_cut_locus")
  expect_error(mf_dist(M, o, outer(1:6, 1:3)), class = "riemdp_error_out_of_reach")
  expect_error(mf_project(M, outer(1:6, 1:3)), class = "riemdp_error_out_of_reach")
  expect_error(mf_dist(M, o, matrix(1, 6, 3)), class = "riemdp_error_zero_size")
})

test_that("curvature lies between 1 and 1 + 3/(l2^2 + l3^2), and comes close; the bounds of balls hold", {
  M <- kendall(4, 3)
  set.seed(5)
  share <- replicate(300, {
    p <- mf_project(M, matrix(rnorm(12), 4) %*% diag(c(1, 0.6, 0.1 + runif(1))))
    a <- qr.Q(qr(matrix(rnorm(10), 5)))
    uv <- mf_from_coords(M, p, 0.01 * t(a))
    side <- function(s) mf_dist(M, mf_exp(M, p, s * uv[, , 1]), mf_exp(M, p, s * uv[, , 2]))^2
    K <- 3 * (2e-4 - (side(1) + side(-1)) / 2) / 1e-8
    l <- svd(p)$d
    bounds <- .Call(internal("riemdp_ball_bounds"), M, p, 0.01)
    expect_equal(bounds, c(1 + 3 / sin(acos(l[1]) - 0.01)^2, acos(l[1]) - 0.01), tolerance = 1e-9)
    c(K / (1 + 3 / sum(l[2:3]^2)), K)
  })
  expect_lt(max(share[1, ]), 1.001)
  expect_gt(max(share[1, ]), 0.75)
  expect_gt(min(share[2, ]), 0.99)
})

test_that("within the injectivity radius exp goes the shortest way, to the nearest line it ends there", {
  M <- kendall(5, 3)
  x <- some_shapes(5, 60, 6)
  for (i in 1:60) {
    p <- x[, , i]
    v <- mf_random_tangent(M, p, 1)[, , 1]
    t <- 0.999 * acos(svd(p)$d[1])
    expect_lt(abs(mf_dist(M, p, mf_exp(M, p, v * t / sqrt(sum(v^2)))) - t), 1e-10)
  }
  s <- svd(p)
  line <- s$u[, 1] %o% s$v[, 1]
  v <- line - s$d[1] * p
  expect_error(mf_exp(M, p, v * acos(s$d[1]) / sqrt(sum(v^2))), class = "riemdp_error_domain")
})

test_that("transport keeps products, turns back, and is what geodesics do", {
  M <- kendall(6, 3)
  p <- some_shapes(6, 1, 7)[, , 1]
  set.seed(8)
  q <- mf_exp(M, p, mf_random_tangent(M, p, 1, sd = 0.1)[, , 1])
  u <- mf_random_tangent(M, p, 2)
  moved <- mf_transport(M, p, q, u)
  expect_equal(c(crossprod(matrix(moved, ncol = 2))), c(crossprod(matrix(u, ncol = 2))), tolerance = 1e-10)
  expect_lt(max(abs(mf_transport(M, q, p, moved) - u)), 1e-9)
  # a geodesic's velocity
  expect_lt(max(abs(mf_transport(M, p, q, mf_log(M, p, q)) + mf_log(M, q, p))), 1e-10)
  # pole ladder
  h <- 1e-3
  near <- mf_exp(M, p, 2 * h * mf_log(M, p, q))
  middle <- mf_exp(M, p, h * mf_log(M, p, q))
  up <- mf_exp(M, p, h * u[, , 1])
  through <- mf_exp(M, up, 2 * mf_log(M, up, middle))
  expect_lt(max(abs(-mf_log(M, near, through) / h - mf_transport(M, p, near, u[, , 1]))), 1e-4)
})

test_that("arrays and tables of landmarks are read, means and regressions found", {
  M <- kendall(6, 3)
  o <- .Call(internal("riemdp_origin"), M)
  set.seed(9)
  x <- array(rep(o, 30) + rnorm(540, sd = 0.03), c(6, 3, 30))
  p <- as_mf_points(2 * x + 5, M)
  expect_lt(max(abs(mf_dist(M, p, x))), 1e-13)
  rows <- t(apply(x, 3, function(z) c(t(z))))
  expect_lt(max(abs(mf_dist(M, as_mf_points(rows, M, layout = "xyzxyz"), x))), 1e-13)
  expect_lt(max(abs(mf_dist(M, as_mf_points(t(matrix(x, 18)), M, layout = "xxyyzz"), x))), 1e-13)
  expect_error(as_mf_points(rows, M), class = "riemdp_error_argument")
  expect_error(as_mf_points(structure(list(), class = "gpagen"), M), class = "riemdp_error_unsupported")
  expect_error(as_mf_points(x, kendall(5, 3)), class = "riemdp_error_shape")
  f <- frechet_mean(x, M)
  expect_lt(sqrt(sum(apply(mf_log(M, f$mean, x), 1:2, mean)^2)), 1e-9)
  t <- seq(-1, 1, length.out = 30)
  v <- mf_random_tangent(M, o, 1, sd = 0.03)[, , 1]
  d <- list(y = mf_exp(M, o, array(rep(v, 30) * rep(t, each = 18), c(6, 3, 30))), t = t)
  expect_lt(max(mf_dist(M, fitted(geodesic_regression(y ~ t, M, d)), d$y)), 1e-5)
})

test_that("the tangent mean is private, all else refuses", {
  M <- kendall(6, 3)
  o <- .Call(internal("riemdp_origin"), M)
  set.seed(10)
  x <- array(rep(o, 40) + rnorm(720, sd = 0.03), c(6, 3, 40))
  r <- dp_mean(x, M, 1, o, 0.2, mechanism = "tangent")
  expect_identical(r$guarantee$label, "pure")
  expect_equal(r$guarantee$epsilon, 1)
  f <- internal("check_radius")(M, 0.2, o)
  expect_equal(mean_sensitivity(M, 40, 0.2, o), internal("mean_sensitivity_at")(40, f, "proven"))
  expect_error(dp_mean(x, M, 1, o, 0.27, mechanism = "tangent"), class = "riemdp_error_radius")
  pair <- product(shape = M, size = euclidean(1))
  refused <- function(expr) expect_error(expr, class = "riemdp_error_unsupported")
  refused(dp_mean(x, M, 1, o, 0.2))
  for (m in c("wrapped", "laplace", "gaussian", "kng", "adaptive", "euclidean")) refused(dp_mean(x, M, 1, o, 0.2, mechanism = m))
  refused(dp_mean(mf_join(pair, list(x, rnorm(40, sd = 0.01))), pair, 1, mf_join(pair, list(o, 0)), 0.2))
  refused(dp_ball(x, M, 1, o, 0.2))
  refused(dp_median(x, M, 1, o, 0.2))
  refused(dp_variance(x, M, 1, o, 0.2))
  refused(dp_local(x, M, 1, center = o, radius = 0.2))
  refused(dp_pga(x, M, 1, o, 0.2))
})
