# Linear regression from noisy sufficient statistics: sums over records of u, u u' (without the constant 1, whose sum is
# n), and x y', x = (1, u), every |u_k| <= 1, |y| <= reach. Pure by K-norm noise (Awan and Slavkovic 2021), approximate
# by AdaSSP (Wang 2018).

# Widths of the statistics' differences between two records: u_k in [-1, 1], u_k^2 in [0, 1], u_j u_k in [-1, 1], x_k y
# in a ball (xy: over the reach)
statistic_widths <- function(d) {
  square <- if (d > 0) outer(seq_len(d), seq_len(d), `==`)
  list(u = rep(2, d), uu = if (d > 0) ifelse(square, 1, 2)[lower.tri(square, TRUE)] else numeric(), xy = rep(2, d + 1))
}

moment_matrices <- function(x, y) {
  if (inherits(x, "riemdp_linear_chunks")) return(linear_moments(x, y))
  share <- shares_of(x)
  if (is.null(share)) return(list(xx = tcrossprod(x), xy = tcrossprod(x, y)))
  root <- rep(sqrt(share), each = nrow(x))
  half <- matrix(x, nrow(x)) * root
  list(xx = tcrossprod(half), xy = tcrossprod(half * root, y))
}

# a symmetric matrix from its lower triangle
from_lower <- function(values, d) {
  a <- matrix(0, d, d)
  a[lower.tri(a, TRUE)] <- values
  a + t(a) - diag(diag(a), d)
}

# a symmetric matrix with this corner: v holds the rest of its first row, then the lower triangle of what is left
bordered <- function(v, d, corner = 0) {
  if (d == 0) return(matrix(corner))
  first <- v[seq_len(d)]
  unname(rbind(c(corner, first), cbind(first, from_lower(v[-seq_len(d)], d))))
}

# K-norm noise: norm = max over blocks of |difference|/width, each block one number of xx, or a row of xy. How many
# numbers they have
statistic_blocks <- function(d, q) as.double(c(rep(1, d + d * (d + 1) / 2), rep(q, d + 1)))

# the noise `z` of these blocks in its places: list(xx, xy), in whose corner, a number that is public, there is none
statistics_noise <- function(z, d, q, reach) {
  width <- statistic_widths(d)
  k <- d + d * (d + 1) / 2
  list(xx = bordered(z[seq_len(k)] * c(width$u, width$uu), d),
       xy = width$xy * reach * t(matrix(z[k + seq_len(q * (d + 1))], q)))
}

release_statistics <- function(x, y, epsilon, reach, n) {
  plain <- moment_matrices(x, y)
  d <- nrow(plain$xx) - 1
  q <- ncol(plain$xy)
  rate <- outwards_down(epsilon)
  z <- .Call(riemdp_block_noise, statistic_blocks(d, q), rate,
             pay(price_laplace(1, 1 / rate, "linear-regression.md, 4")))
  noise <- statistics_noise(z, d, q, reach)
  xx <- plain$xx + noise$xx
  xx[1, 1] <- n
  dimnames(xx) <- NULL
  list(xx = xx, xy = plain$xy + noise$xy)
}

# standard deviation of one number's noise before its width
statistics_sd <- function(d, q, epsilon) {
  m <- d + d * (d + 1) / 2 + q * (d + 1)
  sqrt((m + 1) * (m + 2)) / epsilon * c(one = sqrt(1 / 3), block = sqrt(1 / (q + 2)))
}

solve_statistics <- function(s, ridge) {
  e <- eigen(s$xx + diag(ridge, nrow(s$xx)), symmetric = TRUE)
  value <- pmax(e$values, max(ridge, 1e-8 * abs(e$values[1]), 1e-300))
  t(e$vectors %*% (crossprod(e$vectors, s$xy) / value)) # q x (d + 1)
}
