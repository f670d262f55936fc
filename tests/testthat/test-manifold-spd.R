# exp of short tangent vectors is a polynomial, of longer ones an eigenproblem: both against R's eigen(), and at the border.

exp_by_eigen <- function(p, v) {
  e <- eigen(p, symmetric = TRUE)
  root <- e$vectors %*% (sqrt(e$values) * t(e$vectors))
  back <- e$vectors %*% (t(e$vectors) / sqrt(e$values))
  s <- eigen(back %*% v %*% back, symmetric = TRUE)
  out <- root %*% s$vectors %*% (exp(s$values) * t(s$vectors)) %*% root
  (out + t(out)) / 2
}

test_that("exp is right on both sides of the border between its two ways", {
  set.seed(4)
  for (k in c(1, 2, 5, 11)) {
    M <- spd(k)
    p <- crossprod(matrix(stats::rnorm(2 * k^2), 2 * k)) / k
    length <- c(0, 1e-12, 1e-3, 0.1, 0.1799999, 0.18, 0.1800001, 0.5, 3)
    v <- vapply(length, function(l) {
      u <- mf_from_coords(M, p, stats::rnorm(mf_facts(M)$dimension))
      array(l * u / mf_norm(M, p, u), c(k, k))
    }, matrix(0, k, k))
    v <- array(v, c(k, k, length(length)))
    out <- array(mf_exp(M, p, v), dim(v))
    for (i in seq_along(length)) {
      want <- exp_by_eigen(p, v[, , i])
      expect_lt(max(abs(out[, , i] - want)) / max(abs(want)), 2e-14 * k)
      # alone, and beside any neighbours: the same bits
      expect_identical(as.vector(mf_exp(M, p, matrix(v[, , i], k))), as.vector(out[, , i]))
    }
    turned <- rev(seq_along(length))
    expect_identical(array(mf_exp(M, p, v[, , turned, drop = FALSE]), dim(v)), out[, , turned, drop = FALSE])
    # what a short step moves is the step itself, to the second order
    u <- v[, , 3]
    expect_lt(max(abs(out[, , 3] - p - u - u %*% solve(p, u) / 2)), 1e-9 * max(abs(p)))
  }
})
