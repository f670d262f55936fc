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
  expect_carried(M, p, q, u, back = 1e-9, ladder = 1e-4)
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

# ---- sizes and shapes --------------------------------------------------------------------------------------------------

some_sizes <- function(k, m, n, seed) {
  set.seed(seed)
  M <- size_and_shape(k, m)
  list(M = M, x = mf_project(M, array(3 * rnorm(k * m * n) + 5, c(k, m, n))))
}
nearest <- function(a, b) {
  s <- svd(crossprod(b, a))
  sqrt(sum((b %*% s$u %*% (c(rep(1, ncol(a) - 1), sign(det(s$u) * det(s$v))) * t(s$v)) - a)^2))
}

test_that("sizes and shapes: distances, facts and straight geodesics", {
  expect_identical(vapply(mf_facts(size_and_shape(6))[c("dimension", "ambient", "rows", "cols", "k_min", "k_max", "injectivity_radius")], as.double, 0),
                   c(dimension = 9, ambient = 12, rows = 6, cols = 2, k_min = 0, k_max = Inf, injectivity_radius = 0))
  expect_identical(mf_facts(size_and_shape(6, 3))$dimension, 12)
  for (m in 2:3) {
    with <- some_sizes(5, m, 30, 10 + m)
    M <- with$M
    x <- with$x
    d <- mf_dist(M, x[, , 1], x[, , -1])
    expect_lt(max(abs(d - apply(x[, , -1], 3, nearest, a = x[, , 1]))), 1e-12)
    # size alone is a line, shape alone Kendall's
    expect_equal(mf_dist(M, x[, , 1], 2.5 * x[, , 1]), 1.5 * sqrt(sum(x[, , 1]^2)), tolerance = 1e-13)
    size <- sqrt(apply(x^2, 3, sum))
    rho <- mf_dist(kendall(5, m), x[, , 1], x)
    expect_equal(mf_dist(M, x[, , 1], x)^2, size[1]^2 + size^2 - 2 * size[1] * size * cos(rho), tolerance = 1e-12)
    v <- mf_log(M, x[, , 1], x)
    expect_lt(max(mf_dist(M, mf_exp(M, x[, , 1], v), x)), 1e-12)
    expect_identical(mf_exp(M, x[, , 1], v), array(c(x[, , 1]), dim(x)) + v)
    lean <- apply(v, 3, function(u) max(abs(crossprod(x[, , 1], u) - crossprod(u, x[, , 1]))))
    expect_lt(max(lean), 1e-12)
    expect_error(mf_log(M, x[, , 1], x[, , 1] %*% diag(c(-1, rep(1, m - 1)))), NA)
    expect_error(mf_dist(M, x[, , 1], matrix(7, 5, m)), class = "riemdp_error_zero_size")
    expect_error(mf_dist(M, x[, , 1], 1e200 * x[, , 1]), class = "riemdp_error_out_of_reach")
    expect_error(size_and_shape(m, m), class = "riemdp_error_argument")
  }
  S <- size_and_shape(4, 3)
  expect_error(mf_project(S, outer(1:4, 1:3)), class = "riemdp_error_out_of_reach") # on a line
  expect_silent(mf_project(size_and_shape(4), outer(1:4, 1:2)))
  z <- exp(2i * pi * (1:4) / 4)
  P <- size_and_shape(4)
  expect_error(mf_log(P, cbind(Re(z), Im(z)), cbind(Re(z), -Im(z))), class = "riemdp_error_cut_locus")
})

test_that("sizes and shapes: far sizes, products, and the limit that an error tells", {
  for (m in 2:3) {
    with <- some_sizes(4, m, 6, 50 + m)
    M <- with$M
    x <- with$x
    for (h in c(1e-60, 1e60)) {
      expect_equal(mf_dist(M, h * x[, , 1], h * x) / h, mf_dist(M, x[, , 1], x), tolerance = 1e-12)
      expect_equal(mf_log(M, h * x[, , 1], h * x) / h, mf_log(M, x[, , 1], x), tolerance = 1e-12)
      expect_equal(mf_dist(M, x[, , 1], h * x) / max(1, h), mf_dist(M, h * x, array(c(x[, , 1]), dim(x))) / max(1, h), tolerance = 1e-12)
    }
    # carried towards small ones: back again, or an error, never another vector
    u <- mf_random_tangent(M, x[, , 1], 1)[, , 1]
    for (h in c(0.1, 0.01, 0.001, 1e-6)) {
      there <- tryCatch(mf_transport(M, x[, , 1], h * x[, , 2], u), riemdp_error_no_convergence = function(e) NULL)
      if (!is.null(there)) expect_equal(mf_transport(M, h * x[, , 2], x[, , 1], there), u, tolerance = 1e-5)
    }
    # raw records, and points, as a part of a product
    raw <- array(rnorm(24 * m) + 2, c(4, m, 6))
    P <- product(a = M, b = euclidean(1))
    joined <- as_mf_points(list(a = raw, b = 1:6), P)
    expect_false(anyNA(joined))
    expect_lt(max(mf_dist(M, mf_part(P, joined, "a"), raw)), 1e-12)
    expect_identical(as_mf_points(list(a = as_mf_points(raw, M), b = 1:6), P), joined)
    expect_true(all(mf_is_point(P, mf_join(P, list(a = as_mf_points(raw, M), b = 1:6)))))
    named <- as_mf_points(raw, M)
    names(named) <- letters[1:6]
    expect_identical(as_mf_points(named, M), named)
    expect_error(as_mf_points(as_mf_points(raw, kendall(4, m)), M), "another space", class = "riemdp_error_argument")
    told <- tryCatch(dp_mean(raw, M, 1, x[, , 1], 1e5, mechanism = "tangent"), error = conditionMessage)
    limit <- as.numeric(sub(".*below ([0-9.e+-]+) .*", "\\1", told))
    expect_silent(dp_mean(raw, M, 1, x[, , 1], 0.998 * limit, mechanism = "tangent"))
    expect_error(dp_mean(raw, M, 1, x[, , 1], 1.002 * limit, mechanism = "tangent"), class = "riemdp_error_radius")
    expect_identical(dp_mean_plan(M, 6, 1, x[, , 1], 0.1 * limit, mechanism = "tangent")$label, "pure")
  }
})

test_that("sizes and shapes: curvature is at most 3 over the squared distance from what turns leave, which is attained", {
  for (m in 2:3) {
    M <- size_and_shape(4, m)
    set.seed(20 + m)
    share <- replicate(200, {
      p <- mf_project(M, matrix(rnorm(4 * m), 4) %*% diag(c(1, 0.6, 0.1 + runif(1))[1:m]))
      a <- qr.Q(qr(matrix(rnorm(2 * mf_facts(M)$dimension), ncol = 2)))
      h <- 0.02 * sqrt(sum(p^2))
      uv <- mf_from_coords(M, p, h * t(a))
      side <- function(s) mf_dist(M, mf_exp(M, p, s * uv[, , 1]), mf_exp(M, p, s * uv[, , 2]))^2
      K <- 3 * (2 * h^2 - (side(1) + side(-1)) / 2) / h^4
      l <- svd(p)$d
      least <- if (m == 2) sqrt(sum(p^2)) else sqrt(sum(l[2:3]^2))
      bounds <- .Call(internal("riemdp_ball_bounds"), M, p, 0.01 * least)
      expect_equal(bounds, c(3 / (0.99 * least)^2, 0.99 * least), tolerance = 1e-9)
      # geodesics are shortest ones up to that distance
      v <- matrix(uv[, , 1], 4) / h
      expect_lt(abs(mf_dist(M, p, mf_exp(M, p, 0.999 * least * v)) - 0.999 * least), 1e-9 * least)
      c(K * least^2 / 3, K)
    })
    expect_lt(max(share[1, ]), 1.02)
    expect_gt(max(share[1, ]), 0.4)
    expect_gt(min(share[2, ]), -0.02)
  }
  # attained in the plane: u and iu across z
  z <- c(1, -1, 1i, -1i) / 2
  u <- c(1, 1, -1, -1) / 2
  h <- 1e-2
  planar <- function(w) cbind(Re(w), Im(w))
  M <- size_and_shape(4)
  side <- function(s) mf_dist(M, planar(z + s * h * u), planar(z + s * h * 1i * u))^2
  expect_equal(3 * (2 * h^2 - (side(1) + side(-1)) / 2) / h^4, 3, tolerance = 1e-2)
})

test_that("sizes and shapes: transport, means, landmarks as people have them, and the private mean", {
  for (m in 2:3) {
    with <- some_sizes(6, m, 3, 30 + m)
    M <- with$M
    p <- with$x[, , 1]
    set.seed(40 + m)
    q <- mf_exp(M, p, mf_random_tangent(M, p, 1, sd = 1)[, , 1])
    u <- mf_random_tangent(M, p, 2)
    expect_carried(M, p, q, u, back = 1e-8, ladder = 1e-4)
    x <- array(p, c(6, m, 40)) + rnorm(240 * m, sd = 0.2)
    table <- matrix(x, 6 * m)
    expect_identical(as_mf_points(t(table), M, layout = c("xxyy", "xxyyzz")[m - 1]), as_mf_points(x, M))
    f <- frechet_mean(x, M)
    expect_lt(sqrt(sum(apply(mf_log(M, f$mean, x), 1:2, mean)^2)), 1e-9)
    radius <- 0.25 * (if (m == 2) sqrt(sum(p^2)) else sqrt(sum(svd(p)$d[2:3]^2)))
    r <- dp_mean(x, M, 1e5, p, radius, mechanism = "tangent")
    expect_identical(guarantee(r)$label, "pure")
    logs <- mf_log(M, p, mf_to_ball(M, x, p, radius))
    expect_lt(mf_dist(M, r$value, mf_exp(M, p, apply(logs, 1:2, mean))), 0.01 * radius)
    expect_error(dp_mean(x, M, 1, p, 4 * radius, mechanism = "tangent"), class = "riemdp_error_radius")
    expect_error(dp_mean(x, M, 1, p, radius), "no bound of rounding errors", class = "riemdp_error_unsupported")
    links <- size_and_shape(6, m, links = c(1, 2))
    expect_identical(riemdp:::closed_curves(links, x)[[1]][3, ], c(NA_real_, NA))
    expect_equal(sum(riemdp:::as_outlines(M, x)[[1]][1:6, ]^2) <= sum(mf_project(M, x[, , 1])^2) + 1e-12, TRUE)
  }
})
