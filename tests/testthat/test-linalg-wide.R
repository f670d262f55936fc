# Kernels that work on four matrices at once, against base R: each set of them, whatever this processor would choose.

SETS <- c(plain = 0, fma = 1, apart = 2)

run_wide <- function(x, y = x, set) {
  out <- tryCatch(.Call(riemdp:::riemdp_wide, spd(dim(x)[1]), x, y, set), riemdp_error_unsupported = function(e) NULL)
  if (is.null(out)) testthat::skip("not on this processor")
  out
}

stack <- function(...) {
  m <- list(...)
  array(unlist(m), c(dim(as.matrix(m[[1]])), length(m)))
}

random_symmetric <- function(k) {
  a <- matrix(rnorm(k * k), k)
  (a + t(a)) / 2
}

# matrices on which eigenvalue iterations have failed: repeated, zero and graded eigenvalues, blocks, extreme sizes
awkward <- function(k) {
  q <- qr.Q(qr(matrix(rnorm(k * k), k)))
  e <- matrix(0, k, k)
  e[cbind(1:k, k:1)] <- 1
  tri <- diag(2, k)
  tri[abs(row(tri) - col(tri)) == 1] <- -1
  half <- random_symmetric(k)
  half[row(half) <= k / 2 & col(half) > k / 2] <- 0
  half[col(half) <= k / 2 & row(half) > k / 2] <- 0
  zero_diagonal <- random_symmetric(k)
  diag(zero_diagonal) <- 0
  out <- list(
    matrix(0, k, k), diag(k), diag(seq_len(k)), e, tri, half, zero_diagonal, tcrossprod(rnorm(k)), tcrossprod(q[, 1]) - tcrossprod(q[, k]),
    q %*% diag(rep(c(1, 2), length.out = k), k) %*% t(q), q %*% diag(10^-seq(0, 12, length.out = k), k) %*% t(q),
    1e200 * random_symmetric(k), 1e-200 * random_symmetric(k), diag(10^seq(-150, 0, length.out = k), k), matrix(1, k, k)
  )
  lapply(out, function(a) (a + t(a)) / 2)
}

test_that("eigenvalues and vectors agree with base R", {
  for (set in SETS) for (k in c(1, 2, 3, 4, 5, 11, 20, if (!quick()) c(33, 65))) {
    set.seed(k)
    all <- c(replicate(8, random_symmetric(k), simplify = FALSE), awkward(k))
    while (length(all) %% 4) all <- c(all, all[1])
    for (from in seq(1, length(all), 4)) {
      group <- all[from:(from + 3)]
      out <- run_wide(do.call(stack, group), set = set)
      for (i in 1:4) {
        a <- group[[i]]
        size <- max(abs(a))
        if (size == 0) size <- 1
        label <- sprintf("set %g, size %d, matrix %d", set, k, from + i - 1)
        values <- eigen(a / size, symmetric = TRUE)$values
        expect_lt(max(abs(sort(out$values[, i] / size, TRUE) - values)), 1e-13 * k, label = label)
        expect_lt(max(abs(sort(out$values_alone[, i] / size, TRUE) - values)), 1e-13 * k, label = label)
        v <- as.matrix(out$vectors[, , i])
        expect_lt(max(abs(crossprod(v) - diag(k))), 1e-13 * k, label = label)
        expect_lt(max(abs(out$spectral[, , i] / size - a / size)), 1e-13 * k, label = label)
      }
    }
  }
})

test_that("a matrix gives the same bits whatever its neighbours are", {
  set.seed(4)
  for (set in SETS) for (k in c(2, 7, 13)) {
    all <- c(awkward(k)[c(2, 7, 11)], list(random_symmetric(k)))
    spd <- lapply(all, function(a) crossprod(a) + diag(k))
    together <- run_wide(do.call(stack, spd), do.call(stack, all), set)
    for (i in 1:4) {
      alone <- run_wide(stack(spd[[i]]), stack(all[[i]]), set)
      for (part in setdiff(names(alone), "status")) {
        whole <- together[[part]]
        one <- if (length(dim(whole)) == 3) whole[, , i] else whole[, i]
        expect_identical(as.vector(alone[[part]]), as.vector(one), label = paste(set, k, i, part))
      }
    }
  }
})

test_that("pairs of equal eigenvalues, where a sweep is done again, change no bit of neighbours", {
  set.seed(5)
  doubled <- function(k) {
    a <- random_symmetric(k)
    b <- matrix(rnorm(k * k), k)
    kronecker(a, diag(2)) + kronecker((b - t(b)) / 2, matrix(c(0, 1, -1, 0), 2))
  }
  for (set in SETS) for (k in 2:3) {
    moved <- 0
    for (r in 1:100) { # a group in 80 had been moved
      all <- replicate(4, doubled(k), simplify = FALSE)
      together <- run_wide(do.call(stack, all), set = set)
      for (i in 1:4) {
        alone <- run_wide(stack(all[[i]]), set = set)
        moved <- moved + !identical(alone$values_alone[, 1], together$values_alone[, i]) + !identical(alone$values[, 1], together$values[, i])
        expect_equal(rep(sort(eigen(all[[i]], TRUE)$values)[2 * seq_len(k)], each = 2), sort(alone$values_alone[, 1]), tolerance = 1e-12)
      }
    }
    expect_identical(moved, 0, label = paste(set, k))
  }
})

test_that("a matrix beside one that is scaled, because it is tiny or huge, has the same bits", {
  q <- matrix(c(61, 17, 0, 17, 53, 0, 0, 0, 29), 3)
  q[3, 1] <- q[1, 3] <- 2e-145 # of no size, but above what counts
  q[3, 2] <- q[2, 3] <- 1.4e-145
  for (other in c(1e-110, 1e110)) {
    for (set in SETS) {
      together <- run_wide(stack(q, diag(3) * other, q, diag(3)), set = set)
      alone <- run_wide(stack(q), set = set)
      expect_identical(as.vector(together$vectors[, , 1]), as.vector(alone$vectors[, , 1]), label = paste(set, other))
      expect_identical(together$values_alone[, 1], alone$values_alone[, 1])
    }
    v <- q / 100
    M <- spd(3)
    together <- mf_exp(M, diag(3), array(c(v, diag(3) * min(other, 1)), c(3, 3, 2)))
    expect_identical(as.vector(together[, , 1]), as.vector(mf_exp(M, diag(3), v)))
  }
})

test_that("factors and products agree with base R", {
  for (set in SETS) for (k in c(1, 2, 5, 11, 24)) {
    set.seed(k)
    spd <- replicate(3, crossprod(matrix(rnorm(k * k), k)) + diag(k), simplify = FALSE)
    other <- replicate(3, random_symmetric(k), simplify = FALSE)
    out <- run_wide(do.call(stack, spd), do.call(stack, other), set)
    for (i in 1:3) {
      l <- t(chol(spd[[i]]))
      same <- function(part, value) {
        expect_lt(max(abs(out[[part]][, , i] - value)) / max(abs(value)), 1e-12, label = paste(set, k, part))
      }
      same("chol", l)
      same("inverse", solve(spd[[i]]))
      white <- solve(l, t(solve(l, other[[i]])))
      same("whitened", white)
      same("unwhitened", other[[i]])
      same("mul", l %*% other[[i]])
      same("mul_transposed", crossprod(l, other[[i]]))
      same("symmetric", l %*% other[[i]] %*% t(l))
    }
  }
})

test_that("matrices that aren't finite or positive are told by status", {
  for (set in SETS) {
    bad <- stack(diag(3), matrix(NaN, 3, 3))
    expect_null(run_wide(bad, set = set)$values)
    expect_gt(run_wide(bad, set = set)$status, 0)
    indefinite <- stack(diag(3), diag(c(1, -1, 1)))
    expect_null(run_wide(indefinite, set = set)$chol)
    expect_gt(run_wide(indefinite, set = set)$status, 0)
  }
})
