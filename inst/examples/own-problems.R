# Two problems of a user's own: a metric for comparisons, and a low-rank model of incomplete records. Both are plain R functions, checked
# without privacy first and then solved with it. Rscript own-problems.R
library(riemdp)
set.seed(1)

# ---- metric learning ------------------------------------------------------------------------------------------------------------
# A record is a difference d of two items and whether they are alike (1) or not (0). With a positive definite matrix W, alike pairs should
# have small d'Wd and others small d'W^-1 d: geometric mean metric learning (Zadeh, Hosseini and Sra 2016,
# https://proceedings.mlr.press/v48/zadeh16.html). The Riemannian gradient W G W of the affine-invariant metric is Wdd'W, or -dd'.
metric <- problem(
  loss = function(w, z) if (z[3] == 1) sum(z[1:2] * (w %*% z[1:2])) else sum(z[1:2] * solve(w, z[1:2])),
  gradient = function(w, z) if (z[3] == 1) tcrossprod(w %*% z[1:2]) else -tcrossprod(z[1:2]),
  M = spd(2)
)
alike <- rep(1:0, each = 2000)
pairs <- cbind(matrix(rnorm(8000), 4000) %*% diag(c(1, 0.3)), alike) # alike pairs: first coordinate varies most
pairs[alike == 0, 1:2] <- pairs[alike == 0, 2:1]
pairs[, 1:2] <- pmin(pmax(pairs[, 1:2], -2), 2)

plain <- riemannian_optimize(metric, pairs, start = diag(2))
# the minimiser is a geometric mean, A^-1 # B
root <- function(s) with(eigen(s, symmetric = TRUE), vectors %*% (sqrt(values) * t(vectors)))
A <- crossprod(pairs[alike == 1, 1:2])
B <- crossprod(pairs[alike == 0, 1:2])
by_hand <- solve(root(A)) %*% root(root(A) %*% B %*% root(A)) %*% solve(root(A))
stopifnot(max(abs(plain$value - by_hand)) < 1e-7)

private <- dp_optimize(metric, pairs, epsilon = 1, delta = 1e-6, start = diag(2), clip = 2, lr = 1, steps = 15)
print(private)
cat(sprintf("distance of the private metric from the plain one: %.3f (from the start: %.3f)\n\n",
            mf_dist(spd(2), private$value, plain$value), mf_dist(spd(2), diag(2), plain$value)))

# ---- low rank with missing entries -----------------------------------------------------------------------------------------------
# A record is a row with missing entries. Its loss is its squared distance from the subspace spanned by W in the coordinates that are there,
# with a small ridge for rows that say little: min_a |x - Wa|^2/2 + ridge |a|^2/2. The gradient is -(x - Wa)a' there, 0 elsewhere.
coefficients <- function(w, z) {
  seen <- !is.na(z)
  u <- w[seen, , drop = FALSE]
  a <- solve(crossprod(u) + 0.1 * diag(ncol(w)), crossprod(u, z[seen]))
  list(a = a, seen = seen, r = z[seen] - u %*% a)
}
low_rank <- problem(
  loss = function(w, z) with(coefficients(w, z), sum(r^2) / 2 + 0.05 * sum(a^2)),
  gradient = function(w, z) {
    fit <- coefficients(w, z)
    g <- w * 0
    g[fit$seen, ] <- -fit$r %*% t(fit$a)
    g
  },
  M = grassmann(8, 2)
)
truth <- qr.Q(qr(matrix(rnorm(16), 8)))
x <- matrix(rnorm(3000), 1500) %*% t(truth) + 0.05 * matrix(rnorm(12000), 1500)
x[matrix(runif(12000) < 0.3, 1500)] <- NA
start <- qr.Q(qr(outer(1:8 - 0.5, 0:1, function(i, j) cos(pi * i * j / 8))))
plain <- riemannian_optimize(low_rank, x, start = start, tol = 1e-6)
cat(sprintf("low rank: distance of the plain subspace from the true one %.3f", mf_dist(grassmann(8, 2), plain$value, truth)))
private <- dp_optimize(low_rank, x, epsilon = 2, delta = 1e-6, start = start, clip = 0.5, lr = 4, steps = 15)
cat(sprintf(", of the private one %.3f (of the start %.3f)\n", mf_dist(grassmann(8, 2), private$value, truth),
            mf_dist(grassmann(8, 2), start, truth)))
