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

# Bures-Wasserstein. Pairs in the eigenbasis of the first: off-diagonal entries that bring the second near to singular leave all
# entries of the transport map small and yet move it far.
graded_pairs <- function(k, condition) {
  basis <- qr.Q(qr(matrix(stats::rnorm(k^2), k)))
  low <- condition^(-(seq_len(k) - 1) / (k - 1))
  p <- basis %*% (low * t(basis))
  p <- (p + t(p)) / 2
  off <- lapply(c(0.1, 0.5, 0.9, 0.99), function(t) {
    s <- matrix(stats::runif(k^2, -1, 1), k)
    s <- s + t(s)
    diag(s) <- 0
    s <- diag(k) + t / max(abs(eigen(s)$values)) * s
    q <- basis %*% (sqrt(low) * s %*% diag(sqrt(low))) %*% t(basis)
    (q + t(q)) / 2
  })
  steps <- lapply(10^-(1:6), function(d) {
    u <- p %*% (crossprod(matrix(stats::rnorm(k^2), k)))
    u <- u + t(u) # S P + P S with S >= 0: exp is defined for all lengths
    mf_exp(spd(k, "bures"), p, u * (d / mf_norm(spd(k, "bures"), p, u)))
  })
  list(p = p, q = c(off, steps))
}

test_that("Bures-Wasserstein distances and logarithms hold on graded spectra", {
  set.seed(17)
  for (k in c(2, 3, 5)) for (condition in 10^c(2, 4, 6, 8)) {
    M <- spd(k, "bures")
    s <- graded_pairs(k, condition)
    for (q in s$q) {
      there <- mf_dist(M, s$p, q)
      # what rounding of the entries does to the root of the smallest eigenvalue
      floor <- 2^-52 / sqrt(min(eigen(s$p)$values, eigen(q)$values))
      expect_lt(abs(there - mf_dist(M, q, s$p)), 100 * floor + 1e-12 * there)
      v <- mf_log(M, s$p, q)
      expect_lt(mf_dist(M, mf_exp(M, s$p, v), q), 100 * floor)
      expect_lt(abs(mf_norm(M, s$p, v) - there), 100 * floor + 1e-12 * there)
      # the same bits alone and in a group
      group <- array(c(q, s$p, q, q, q), c(k, k, 5))
      expect_identical(mf_dist(M, s$p, group)[c(1, 3, 5)], rep(there, 3))
    }
  }
})

test_that("curvature of the Bures-Wasserstein metric stays below 3/(l1 + l2), and comes near to it", {
  set.seed(23)
  curvature <- function(w, s, t) { # O'Neill's formula, proofs/geometry.md
    n <- (t %*% s - s %*% t) / 2
    inner <- function(a, b) sum(diag(a %*% (w * b)))
    3 * sum(2 * outer(w, w) / outer(w, w, "+") * n^2) / (inner(s, s) * inner(t, t) - inner(s, t)^2)
  }
  near <- 0
  for (k in c(2, 3, 4)) for (trial in 1:(if (quick()) 2 else 4)) {
    w <- 10^stats::runif(k, -2, 2)
    low <- sum(sort(w)[1:2])
    from <- function(x) {
      half <- length(x) / 2
      lift <- function(y) {
        a <- matrix(0, k, k)
        a[lower.tri(a, TRUE)] <- y
        a + t(a)
      }
      curvature(w, lift(x[seq_len(half)]), lift(x[half + seq_len(half)]))
    }
    best <- max(vapply(1:(if (quick()) 2 else 3), function(i) {
      stats::optim(stats::rnorm(k * (k + 1)), function(x) -log(max(from(x), 1e-300)), method = "BFGS", control = list(maxit = 200))$value
    }, numeric(1)) * -1)
    expect_lt(exp(best), 3 / low * (1 + 1e-9))
    near <- max(near, exp(best) * low / 3)
  }
  expect_gt(near, 0.99)
  # the formula is the geometry's: the third side of a small triangle
  M <- spd(2, "bures")
  w <- c(1, 2)
  s <- matrix(c(0.3, 0.5, 0.5, -0.2), 2)
  t <- matrix(c(-0.1, 0.7, 0.7, 0.9), 2)
  u <- s %*% diag(w) + diag(w) %*% s
  v <- t %*% diag(w) + diag(w) %*% t
  h <- 0.02
  sides <- vapply(list(c(1, 1), c(1, -1), c(-1, 1), c(-1, -1)), function(e) {
    a <- e[1] * h * u
    b <- e[2] * h * v
    mf_norm(M, diag(w), a - b)^2 - mf_dist(M, mf_exp(M, diag(w), a), mf_exp(M, diag(w), b))^2
  }, numeric(1))
  area <- mf_norm(M, diag(w), u)^2 * mf_norm(M, diag(w), v)^2 - mf_inner(M, diag(w), u, v)^2
  expect_equal(3 * mean(sides) / h^4 / area, curvature(w, s, t), tolerance = 0.01)
})
