# Positive semidefinite matrices of low rank, held against the formula of the metric, eigenvalues, small triangles.

some_factors <- function(k, r, n, seed) {
  set.seed(seed)
  array(rnorm(k * r * n), c(k, r, n))
}
# the metric by square roots of whole matrices
bures <- function(S, T) {
  e <- eigen(S, TRUE)
  R <- e$vectors %*% (sqrt(pmax(e$values, 0)) * t(e$vectors))
  sqrt(max(0, sum(diag(S)) + sum(diag(T)) - 2 * sum(sqrt(pmax(0, eigen(R %*% T %*% R, TRUE, TRUE)$values)))))
}
KINDS <- list(c(4, 2), c(5, 1), c(5, 3))

test_that("facts, points and what is none", {
  f <- mf_facts(psd(5, 3))
  expect_identical(c(f$dimension, f$ambient, f$rows, f$cols, f$k_min, f$k_max, f$injectivity_radius), c(12, 15, 5, 3, 0, Inf, 0))
  expect_true(f$local_bounds && !f$brings_records && !f$homogeneous)
  for (bad in list(list(3, 3), list(1, 1), list(3, 0), list(3, 1.5), list("a", 1))) expect_error(do.call(psd, bad), class = "riemdp_error_argument")
  M <- psd(4, 2)
  X <- cbind(c(1, 2, 0, 0), c(0, 1, 1, 0))
  expect_error(mf_dist(M, X, X[, c(1, 1)]), class = "riemdp_error_out_of_reach")
  expect_error(mf_dist(M, X, 1e200 * X), class = "riemdp_error_out_of_reach")
  expect_error(mf_dist(M, X, NA * X), class = "riemdp_error")
  expect_identical(mf_project(M, X), X)
})

test_that("distances are those of Bures and Wasserstein, whatever the factor", {
  for (kind in KINDS) {
    M <- psd(kind[1], kind[2])
    x <- some_factors(kind[1], kind[2], 25, 1)
    p <- matrix(x[, , 1], kind[1])
    d <- mf_dist(M, p, x)
    expect_lt(max(abs(d[-1] - apply(x[, , -1, drop = FALSE], 3, function(y) bures(tcrossprod(p), tcrossprod(matrix(y, kind[1])))))), 1e-7)
    turn <- qr.Q(qr(matrix(rnorm(kind[2]^2), kind[2])))
    expect_lt(mf_dist(M, p, p %*% turn), 1e-14)
    v <- mf_log(M, p, x)
    expect_equal(sqrt(apply(v^2, 3, sum)), d, tolerance = 1e-13)
    expect_lt(max(mf_dist(M, mf_exp(M, p, v), x)), 1e-13)
    lean <- apply(v, 3, function(u) max(abs(crossprod(p, matrix(u, kind[1])) - crossprod(matrix(u, kind[1]), p))))
    expect_lt(max(lean), 1e-13)
    expect_identical(mf_exp(M, p, v), array(c(p), dim(x)) + v)
  }
  # near full rank it is the metric of spd(k, "bures")
  set.seed(2)
  S <- mf_random(spd(3), 2, sd = 0.3)
  off <- vapply(c(1e-3, 1e-4), function(h) {
    near <- function(i) tcrossprod(S[, 1:2, i]) + h^2 * diag(3)
    abs(mf_dist(psd(3, 2), S[, 1:2, 1], S[, 1:2, 2]) - mf_dist(spd(3, "bures"), near(1), near(2)))
  }, 0)
  expect_lt(max(off), 1e-3)
  expect_lt(off[2], off[1] + 1e-9)
  X <- cbind(c(1, 0, 0), c(0, 1, 0))
  expect_error(mf_log(psd(3, 2), X, cbind(c(0, 0, 1), c(0, 1, 0))), class = "riemdp_error_cut_locus")
})

test_that("curvature is at most three over the squared distance from two ranks less, the injectivity radius the distance from one", {
  for (kind in list(c(3, 2), c(4, 3), c(4, 1))) {
    M <- psd(kind[1], kind[2])
    r <- kind[2]
    set.seed(3)
    share <- replicate(150, {
      p <- matrix(rnorm(prod(kind)), kind[1]) %*% diag(c(1, 0.5 + runif(1), 0.3 + runif(1))[seq_len(r)], r)
      l <- svd(p)$d
      two <- if (r > 1) sqrt(sum(l[r - 0:1]^2)) else l
      h <- 0.01 * l[r]
      a <- qr.Q(qr(matrix(rnorm(2 * mf_facts(M)$dimension), ncol = 2)))
      uv <- mf_from_coords(M, p, h * t(a))
      side <- function(s) mf_dist(M, mf_exp(M, p, s * uv[, , 1, drop = FALSE]), mf_exp(M, p, s * uv[, , 2, drop = FALSE]))^2
      K <- 3 * (2 * h^2 - (side(1) + side(-1)) / 2) / h^4
      bounds <- .Call(internal("riemdp_ball_bounds"), M, p, 0.01 * l[r])
      expect_equal(bounds, c(if (r > 1) 3 / (two - 0.01 * l[r])^2 else 0, 0.99 * l[r]), tolerance = 1e-9)
      v <- matrix(uv[, , 1], kind[1]) / h
      expect_lt(abs(mf_dist(M, p, mf_exp(M, p, 0.999 * l[r] * v)) - 0.999 * l[r]), 1e-9)
      K * two^2 / 3
    })
    expect_lt(max(share), 1.02)
    expect_gt(min(share), -0.03)
    if (r > 1) expect_gt(max(share), 0.4) else expect_lt(max(abs(share)), 0.03)
    # the line to the nearest matrix of lower rank is horizontal, and ends there
    s <- svd(p <- matrix(rnorm(prod(kind)), kind[1]))
    v <- -s$u[, r, drop = FALSE] %*% t(s$v[, r, drop = FALSE])
    expect_lt(abs(mf_norm(M, p, v) - 1), 1e-12)
    if (r > 1) expect_error(mf_exp(M, p, s$d[r] * v), class = "riemdp_error_domain")
  }
})

test_that("transport keeps products, turns back, and is what geodesics do", {
  for (kind in KINDS) {
    M <- psd(kind[1], kind[2])
    p <- some_factors(kind[1], kind[2], 1, 5)[, , 1, drop = FALSE]
    p <- matrix(p, kind[1])
    set.seed(6)
    q <- mf_exp(M, p, 0.5 * min(svd(p)$d) * (function(v) v / sqrt(sum(v^2)))(matrix(mf_random_tangent(M, p, 1), kind[1])))
    u <- mf_random_tangent(M, p, 2)
    expect_carried(M, p, q, u, back = 1e-8, ladder = 2e-4)
  }
})

test_that("matrices become factors one by one, and the private mean is that of logarithms", {
  M <- psd(4, 2)
  X <- cbind(c(2, 0, 1, 0), c(0, 1, 0, 1))
  set.seed(7)
  S <- lapply(1:60, function(i) tcrossprod(X + rnorm(8, sd = 0.05)))
  x <- as_mf_points(S, M)
  expect_lt(max(vapply(1:60, function(i) max(abs(tcrossprod(as.array(x)[, , i]) - S[[i]])), 0)), 1e-13)
  half <- t(vapply(S, function(s) s[lower.tri(s, TRUE)], numeric(10)))
  expect_equal(mf_dist(M, as_mf_points(half, M, layout = "lower"), x), rep(0, 60), tolerance = 1e-7)
  expect_identical(as.array(as_mf_points(as.array(x), M)), as.array(x))
  bad <- list(S[[1]], diag(4), S[[1]] + c(0, 1, rep(0, 14)), -S[[2]], tcrossprod(X[, 1]), matrix(NA_real_, 4, 4), diag(3))
  expect_identical(is.na(as_mf_points(bad, M, invalid = "missing")), c(FALSE, rep(TRUE, 6)))
  expect_identical(as.matrix(as_mf_points(bad, M, invalid = "missing"))[1, ], as.matrix(x)[1, ])
  expect_error(as_mf_points(bad, M), "not of rank 2", class = "riemdp_error_off_manifold")
  f <- frechet_mean(x)
  expect_lt(sqrt(sum(apply(mf_log(M, f$mean, as.array(x)), 1:2, mean)^2)), 1e-9)
  r <- dp_mean(x, M, 1e5, X, 0.3, mechanism = "tangent")
  expect_identical(guarantee(r)$label, "pure")
  expect_lt(mf_dist(M, r$value, mf_exp(M, X, apply(mf_log(M, X, mf_to_ball(M, as.array(x), X, 0.3)), 1:2, mean))), 1e-3)
  expect_error(dp_mean(x, M, 1, X, 0.472, mechanism = "tangent"), class = "riemdp_error_radius") # a third of l_2, the root of 2
  expect_error(dp_mean(x, M, 1, X, 0.3), "no bound of rounding errors", class = "riemdp_error_unsupported")
  expect_error(dp_variance(x, M, 1, X, 0.3), class = "riemdp_error_unsupported")
})
