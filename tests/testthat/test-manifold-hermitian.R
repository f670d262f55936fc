# Complex Hermitian matrices, held against real ones of twice the size in another arrangement than the package's own, R's complex eigen(),
# hyperbolic space, real matrices and small triangles.

blocks <- function(z) rbind(cbind(Re(z), -Im(z)), cbind(Im(z), Re(z)))
all_blocks <- function(x) array(apply(x, 3, blocks), c(2, 2, 1) * dim(x))
adjoint <- function(z) Conj(t(z))
complex_normal <- function(k) matrix(complex(real = rnorm(k^2), imaginary = rnorm(k^2)), k)
some_hermitian <- function(k, n, seed, sd = 0.6) {
  set.seed(seed)
  mf_random(hermitian_spd(k), n, sd)
}

test_that("facts are public", {
  f <- mf_facts(hermitian_spd(3))
  expect_identical(c(f$dimension, f$ambient, f$rows, f$cols, f$k_min, f$k_max, f$injectivity_radius), c(9, 18, 3, 3, -0.5, 0, Inf))
  expect_equal(c(f$mean_curvature, f$volume_growth), c(-1 / 6, sqrt(8)), tolerance = 1e-15)
  expect_true(f$homogeneous && f$symmetric && f$one_mean && f$has_laplace && f$has_kng && !f$two_point_homogeneous && !f$local_bounds)
  expect_identical(unlist(mf_facts(hermitian_spd(1))[c("dimension", "k_min", "k_max", "volume_growth")], use.names = FALSE), c(1, 0, 0, 0))
  for (k in list(0, 2.5, NA, "a", 2501)) expect_error(hermitian_spd(k), class = "riemdp_error_argument")
  for (floor in list(-1, 1, NA, "a")) expect_error(hermitian_spd(2, floor), class = "riemdp_error_argument")
})

test_that("they are a totally geodesic copy in the real matrices of twice the size, distances times sqrt(2)", {
  for (k in c(1, 2, 3, 6)) {
    M <- hermitian_spd(k)
    S <- spd(2 * k)
    x <- some_hermitian(k, 9, k)
    p <- array(x[, , 1], c(k, k))
    P <- blocks(p)
    X <- all_blocks(x)
    expect_lt(gap(mf_dist(M, p, x), mf_dist(S, P, X) / sqrt(2)), 1e-13)
    v <- array(mf_log(M, p, x), dim(x))
    expect_lt(gap(all_blocks(v), mf_log(S, P, X)), 1e-12)
    expect_lt(gap(all_blocks(array(mf_exp(M, p, 1.7 * v), dim(x))), mf_exp(S, P, 1.7 * all_blocks(v))), 1e-10)
    expect_lt(gap(mf_inner(M, p, v, v[, , 9:1, drop = FALSE]), mf_inner(S, P, all_blocks(v), all_blocks(v[, , 9:1, drop = FALSE])) / 2), 1e-11)
    moved <- array(mf_transport(M, p, array(x[, , 2], c(k, k)), v), dim(x))
    expect_lt(gap(all_blocks(moved), mf_transport(S, P, blocks(array(x[, , 2], c(k, k))), all_blocks(v))), 1e-11)
    expect_lt(gap(blocks(frechet_mean(x, M)$mean), frechet_mean(X, S)$mean), 1e-9)
    # twice the real matrices' logarithm has each pair of eigenvalues four times
    expect_lt(gap(2 * mf_log_density(M, p, v), mf_log_density(S, P, all_blocks(v))), 1e-11)
    # results are Hermitian to the last bit
    for (y in list(v, moved, mf_exp(M, p, v))) expect_identical(array(y, dim(x)), aperm(Conj(array(y, dim(x))), c(2, 1, 3)))
  }
})

test_that("distances, norms and means are those of eigenvalues; congruence moves nothing", {
  k <- 4
  M <- hermitian_spd(k)
  x <- some_hermitian(k, 12, 5)
  a <- complex_normal(k)
  moved <- array(apply(x, 3, function(z) a %*% z %*% adjoint(a)), dim(x))
  moved <- (moved + aperm(Conj(moved), c(2, 1, 3))) / 2
  d <- mf_dist(M, x[, , 1], x)
  own <- apply(x, 3, function(z) sqrt(sum(log(Re(eigen(solve(x[, , 1], z))$values))^2)))
  expect_lt(gap(d, own), 1e-12)
  expect_lt(gap(mf_dist(M, moved[, , 1], moved), d), 1e-11)
  u <- mf_random_tangent(M, x[, , 1], 5)
  trace <- apply(u, 3, function(z) Re(sum(diag(solve(x[, , 1], z) %*% solve(x[, , 1], u[, , 2])))))
  expect_lt(gap(mf_inner(M, x[, , 1], u, u[, , 2]), trace), 1e-12)
  e <- eigen(x[, , 2], symmetric = TRUE)
  middle <- e$vectors %*% (sqrt(e$values) * adjoint(e$vectors))
  expect_lt(gap(frechet_mean(array(c(diag(k), x[, , 2]), c(k, k, 2)), M)$mean, middle), 1e-11)
  # k = 1 is the line of logarithms
  expect_equal(mf_dist(hermitian_spd(1), 2, c(1, 2, 8)), abs(log(2) - log(c(1, 2, 8))), tolerance = 1e-15)
  expect_equal(frechet_median(array(c(1, 2, 50), c(1, 1, 3)), hermitian_spd(1))$mean, matrix(2 + 0i), tolerance = 1e-12)
})

test_that("real matrices are a totally geodesic copy of spd(k), and taken as they are", {
  set.seed(6)
  x <- mf_random(spd(3), 8, 0.7)
  M <- hermitian_spd(3)
  v <- mf_log(M, x[, , 1], x)
  expect_true(is.complex(v) && max(abs(Im(v))) < 1e-14)
  expect_lt(gap(Re(v), mf_log(spd(3), x[, , 1], x)), 1e-13)
  expect_lt(gap(mf_dist(M, x[, , 1], x), mf_dist(spd(3), x[, , 1], x)), 1e-13)
  m <- frechet_mean(x, M)$mean
  expect_lt(max(abs(Im(m))), 1e-12)
  expect_lt(gap(Re(m), frechet_mean(x, spd(3))$mean), 1e-9)
})

test_that("2 x 2 matrices are a line and hyperbolic space of curvature -1/2", {
  # the logarithm of the determinant, and what is left of the matrix in Pauli's basis: a point of the hyperboloid
  x <- some_hermitian(2, 30, 7)
  det <- apply(x, 3, function(z) Re(z[1, 1] * z[2, 2]) - Mod(z[1, 2])^2)
  line <- log(det) / sqrt(2)
  unit <- apply(x, 3, function(z) c(Re(z[1, 1] + z[2, 2]), Re(z[1, 1] - z[2, 2]), 2 * Re(z[2, 1]), 2 * Im(z[2, 1])) / 2)
  y <- t(unit) / sqrt(det)
  y[, 1] <- sqrt(1 + rowSums(y[, -1]^2))
  d2 <- (line - line[1])^2 + 2 * mf_dist(hyperbolic(3), y[1, ], y)^2
  expect_lt(gap(mf_dist(hermitian_spd(2), x[, , 1], x)^2, d2), 1e-11)
})

# curvature of planes by |[X, Y]|^2 / 4, and by the third side of a small triangle
by_bracket <- function(x, y) {
  b <- x %*% y - y %*% x
  -sum(Mod(b)^2) / 4 / (sum(Mod(x)^2) * sum(Mod(y)^2) - Re(sum(Conj(x) * y))^2)
}

test_that("curvature is at least -1/2 and at most 0; both are attained", {
  set.seed(8)
  pauli <- list(matrix(c(0, 1, 1, 0), 2) + 0i, matrix(c(0, 1i, -1i, 0), 2), diag(c(1, -1)) + 0i)
  for (i in 2:3) expect_equal(by_bracket(pauli[[1]], pauli[[i]]), -0.5, tolerance = 1e-15)
  planes <- list(pauli[1:2], pauli[2:3], list(diag(2) + 0i, pauli[[1]]))
  for (k in 2:4) planes <- c(planes, replicate(60, lapply(1:2, function(i) (function(z) z + adjoint(z))(complex_normal(k))), simplify = FALSE))
  found <- vapply(planes, function(p) {
    k <- nrow(p[[1]])
    M <- hermitian_spd(k)
    x <- p[[1]] / sqrt(sum(Mod(p[[1]])^2))
    y <- p[[2]] - Re(sum(Conj(x) * p[[2]])) * x
    y <- y / sqrt(sum(Mod(y)^2))
    third <- function(s) (mf_dist(M, mf_exp(M, diag(k), s * x), mf_exp(M, diag(k), s * y))^2 - 2 * s^2) * -3 / s^4
    expect_equal((4 * third(0.02) - third(0.04)) / 3, by_bracket(x, y), tolerance = 1e-4)
    by_bracket(x, y)
  }, 0)
  expect_true(all(found >= -0.5 - 1e-12 & found <= 1e-12))
  expect_equal(range(found), c(-0.5, 0), tolerance = 1e-12)
  # Ricci curvature: -k/2 at most where a trace vanishes, which rates of volume rest on
  for (k in 2:3) {
    M <- hermitian_spd(k)
    a <- c(1, rep(0, k^2 - 1)) # E_11
    density <- mf_log_density(M, diag(k), mf_from_coords(M, diag(k), 0.01 * a))
    expect_equal(-6 * density / 1e-4, -(k - 1) / 2, tolerance = 1e-3)
    growth <- diff(c(mf_log_density(M, diag(k), diag(60 * (k:1))), mf_log_density(M, diag(k), diag(80 * (k:1)))))
    rho <- sqrt(sum((k:1 - mean(k:1))^2))
    polynomial <- k * (k - 1) * log(80 / 60)
    flat <- diff(c(mf_log_density(M, diag(k), diag(60 * (k:1 - mean(k:1)) / rho)), mf_log_density(M, diag(k), diag(80 * (k:1 - mean(k:1)) / rho))))
    expect_equal((flat + polynomial) / 20, mf_facts(M)$volume_growth, tolerance = 1e-9)
    expect_equal(growth + polynomial, 20 * sum(outer(k:1, k:1, "-")[upper.tri(diag(k))]), tolerance = 1e-9)
  }
})

test_that("projection takes the Hermitian part and lifts eigenvalues; what isn't Hermitian, or isn't positive, is refused", {
  M <- hermitian_spd(3, floor = 1e-3)
  z <- array(some_hermitian(3, 1, 9), c(3, 3))
  skew <- complex_normal(3)
  skew <- (skew - adjoint(skew)) / 2
  expect_lt(gap(mf_project(M, z + skew), z), 1e-15 * 10)
  expect_identical(mf_project(M, z), z)
  low <- mf_project(M, complex_normal(3)[, 1] %*% adjoint(complex_normal(3)[, 1, drop = FALSE]) + diag(3))
  expect_true(mf_is_point(M, low))
  v <- complex_normal(3)[, 1, drop = FALSE]
  e <- eigen(mf_project(M, v %*% adjoint(v)), symmetric = TRUE)$values
  expect_equal(e / e[1], c(1, 1e-3, 1e-3), tolerance = 1e-9)
  expect_error(mf_dist(M, z + 1e-3 * skew, z), "`p` must be a symmetric matrix.*Conj", class = "riemdp_error_not_symmetric")
  expect_error(mf_dist(M, z + diag(c(1i, 0, 0)), z), class = "riemdp_error_not_symmetric")
  expect_error(mf_dist(M, z, diag(c(1, -1, 1))), class = "riemdp_error_not_positive_definite")
  expect_error(mf_exp(M, z, skew), class = "riemdp_error_not_symmetric")
  expect_error(mf_dist(M, z, z * NA), class = "riemdp_error_not_finite")
  # within the tolerance the lower triangle is the matrix
  near <- z
  near[1, 2] <- near[1, 2] + 1e-10i
  diag(near) <- diag(near) + 1e-10i
  expect_identical(mf_dist(M, diag(3), near), mf_dist(M, diag(3), z))
})

test_that("shapes: singles, arrays, points, tables; others name the converter", {
  M <- hermitian_spd(2)
  x <- some_hermitian(2, 5, 10)
  p <- mf_points(x, M)
  expect_identical(as.array(p), x)
  expect_identical(dim(as.matrix(p)), c(5L, 8L))
  expect_identical(mf_points(as.character(p), M) == p, rep(TRUE, 5))
  expect_identical(as.array(mf_points(rows_to_points(as.matrix(p), M), M)), x)
  expect_identical(mf_dist(M, p[1], p), mf_dist(M, x[, , 1], x))
  expect_identical(dim(mf_exp(M, diag(2), mf_log(M, diag(2), x))), dim(x))
  expect_identical(dim(mf_log(M, diag(2), x[, , 1])), c(2L, 2L))
  for (bad in list(1:3, diag(3), "a", list(1), x[1, 1, ], matrix(0, 5, 8))) {
    expect_error(mf_dist(M, bad, x), "complex 2 x 2 matrix.*as_mf_points", class = "riemdp_error_shape")
  }
  # numbers of spd(2) or spd(4) are no points of it
  expect_error(mf_dist(M, mf_points(diag(2), spd(2)), x), class = "riemdp_error_shape")
  expect_error(mf_dist(spd(2), p, p), class = "riemdp_error_shape")
  # lists, real ones, tables of halves; each record by itself
  named <- list(a = x[, , 1], b = diag(2), c = "?", d = diag(3), e = x[, , 2] * 1i)
  read <- as_mf_points(named, M, invalid = "missing")
  expect_identical(is.na(read), c(a = FALSE, b = FALSE, c = TRUE, d = TRUE, e = TRUE))
  expect_identical(as.array(read[1:2]), array(c(x[, , 1], diag(2)), c(2, 2, 2)))
  expect_error(as_mf_points(named, M), "record 3 is no point", class = "riemdp_error_off_manifold")
  for (form in list(x, lapply(1:5, function(i) x[, , i]), p)) expect_identical(as.array(as_mf_points(form, M)), x)
  y <- some_hermitian(3, 4, 11)
  table <- t(apply(y, 3, function(z) c(Re(z[1, 1]), Re(z[1, 2]), Im(z[1, 2]), Re(z[1, 3]), Im(z[1, 3]), Re(z[2, 2]), Re(z[2, 3]), Im(z[2, 3]), Re(z[3, 3]))))
  expect_identical(as.array(as_mf_points(table, hermitian_spd(3), layout = "rows")), y)
  expect_identical(as.array(as_mf_points(as.data.frame(table), hermitian_spd(3), layout = "lower")), Conj(y))
  expect_error(as_mf_points(table, hermitian_spd(3)), "`layout` must say", class = "riemdp_error_argument")
  expect_error(as_mf_points(table, hermitian_spd(3), layout = "upper"), class = "riemdp_error_argument")
  expect_error(as_mf_points(y, hermitian_spd(3), layout = "rows"), "no use", class = "riemdp_error_argument")
  expect_error(as_mf_points(diag(4), hermitian_spd(3)), "3 x 3 matrices.*as_mf_points", class = "riemdp_error_shape")
  expect_identical(as.array(as_mf_points(cbind(c(2, 3)), hermitian_spd(1))), array(c(2, 3) + 0i, c(1, 1, 2)))
})

test_that("products have them as parts, regressions as responses", {
  M <- product(spectrum = hermitian_spd(2), place = sphere(2), weights = c(1, 4))
  x <- some_hermitian(2, 12, 12, 0.3)
  y <- mf_random(sphere(2), 12, sd = 0.2)
  z <- mf_join(M, list(x, y))
  expect_equal(mf_dist(M, z[1, ], z), sqrt(mf_dist(hermitian_spd(2), x[, , 1], x)^2 + 4 * mf_dist(sphere(2), y[1, ], y)^2), tolerance = 1e-13)
  expect_identical(mf_part(M, z, "spectrum"), x)
  expect_identical(dim(mf_part(M, z[1, ], "spectrum")), c(2L, 2L))
  m <- frechet_mean(mf_points(z, M))$mean
  expect_lt(gap(mf_part(M, m, 1), frechet_mean(x, hermitian_spd(2))$mean), 1e-8)
  scaled <- product(hermitian_spd(2), weights = 4)
  expect_equal(mf_dist(scaled, x[, , 1], x), 2 * mf_dist(hermitian_spd(2), x[, , 1], x), tolerance = 1e-14)
  t <- seq(-1, 1, length.out = 12)
  set.seed(13)
  v <- mf_random_tangent(hermitian_spd(2), diag(2), sd = 0.5)
  on <- mf_exp(hermitian_spd(2), diag(2), scale_records(hermitian_spd(2), array(v, c(2, 2, 12)), t))
  d <- data.frame(t = t)
  d$p <- mf_points(on, hermitian_spd(2))
  fit <- geodesic_regression(p ~ t, hermitian_spd(2), d)
  expect_lt(max(fit$residuals), 1e-7)
  expect_lt(max(mf_dist(hermitian_spd(2), as.array(predict(fit, data.frame(t = 0))), diag(2))), 1e-7)
})

test_that("real arrays and records that are no points go where complex ones go", {
  M <- hermitian_spd(2)
  set.seed(14)
  x <- mf_random(spd(2), 9, 0.4)
  t <- seq_len(9)
  gaps <- x
  gaps[1, 2, 4] <- NA
  expect_equal(geodesic_regression(gaps ~ t, M)$fitted.values, geodesic_regression((gaps + 0i) ~ t, M)$fitted.values, tolerance = 1e-10)
  for (center in list(diag(2), matrix(c(2, 1i, -1i, 2), 2))) for (y in list(x, x + 0i)) {
    y[, , c(2, 5)] <- NA
    whole <- riemdp:::with_center(M, y, riemdp:::public_point(M, center))
    expect_identical(whole[, , 2] + 0i, center + 0i)
    expect_identical(whole[, , 5] + 0i, center + 0i)
    expect_identical(whole[, , -c(2, 5)] + 0i, x[, , -c(2, 5)] + 0i)
  }
  m <- frechet_mean(x + 0i, M)
  expect_identical(generics::tidy(m)[6, ], data.frame(row = 2L, col = 1L, part = "im", estimate = Im(m$mean[2, 1]), row.names = 6L))
  fit <- riemannian_optimize(problem(function(w, z) sum(mf_dist(M, w, z)^2) / 2, function(w, z) -mf_log(M, w, z), M), x, start = diag(2), method = "gradient")
  expect_lt(mf_dist(M, fit$value, m$mean), 1e-5)
})

test_that("releases are matrices of complex numbers, of which the label, the price and the region hold", {
  M <- hermitian_spd(2)
  center <- matrix(c(1.2, 0.2 + 0.3i, 0.2 - 0.3i, 1), 2)
  x <- with_simulation(15, mf_exp(M, center, mf_random_tangent(M, center, 200, 0.25)))
  mean <- frechet_mean(x, M)$mean
  for (how in list(c("laplace", "real"), c("laplace", "lattice"), c("staircase", "real"), c("wrapped", "lattice"), c("kng", "real"), c("tangent", "lattice"))) {
    run <- function() dp_mean(x, M, 2, center, 1.5, mechanism = how[1], numerics = how[2], post = FALSE)
    r <- run()
    label <- paste(how, collapse = " ")
    expect_true(is.complex(r$value) && identical(dim(r$value), c(2L, 2L)) && mf_is_point(M, r$value), label = label)
    expect_identical(r$guarantee$label, "pure", label = label)
    expect_gte(r$scale, 3 / 200 / 2)
    # distances from the mean: their expectation as planned, and the region's level, each at 5 standard errors
    n <- if (quick()) 40 else 400
    far <- with_simulation(16, replicate(n, mf_dist(M, mean, run()$value)))
    expect_lt(mean(far), r$expected_error * 1.02 + 5 * stats::sd(far) / sqrt(n), label = label)
    if (how[1] %in% c("laplace", "staircase")) expect_gt(mean(far), r$expected_error * 0.98 - 5 * stats::sd(far) / sqrt(n), label = label)
    expect_gt(mean(far <= confint(r, level = 0.9)$radius), 0.9 - 5 * sqrt(0.09 / n), label = label)
    expect_silent(capture.output(print(r), print(summary(r)), print(generics::tidy(r))))
  }
  expect_error(dp_mean(x, M, 2, center, 1.5, mechanism = "heat"), class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, M, center = center, radius = 1.5, mechanism = "laplace", numerics = "real", sigma = 0.4), class = "riemdp_error_existence")
})

test_that("matrices up to the largest doubles stay what they are", {
  M <- hermitian_spd(2)
  for (h in c(1.2e308, 1.7e308)) {
    B <- diag(2) * h
    expect_identical(mf_project(M, B), B + 0i)
    expect_equal(mf_exp(M, B, 0 * B) / h, diag(2) + 0i, tolerance = 1e-12)
    expect_true(all(is.finite(mf_transport(M, diag(2), B, diag(2)))))
  }
  C <- diag(2) * 6e307
  x <- array(C * exp(0.43), c(2, 2, 20))
  r <- dp_mean(x, M, 200, C, 1, mechanism = "laplace")
  expect_lt(abs(log(Re(r$value[1, 1]) / 6e307) - 0.43), 0.05)
})
