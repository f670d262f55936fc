#' Correlation matrices
#'
#' The k x k correlation matrices of full rank, with one of two flat metrics: both make the space isometric to
#' \eqn{R^{k(k-1)/2}}, so means, regressions and every mechanism are exact, as on [euclidean()]. Records are k x k x n
#' arrays. What is released is a correlation matrix, its diagonal exactly 1.
#'
#' * `"off-log"`: \eqn{d(C, D) = |\mathrm{off}(\log C) - \mathrm{off}(\log D)|_F}, of the matrix logarithms without
#'   their diagonals. It doesn't depend on the order of the variables. Any symmetric S with zero diagonal is
#'   \eqn{\mathrm{off}(\log C)} of one C: the diagonal matrix D for which \eqn{\exp(D + S)} has unit diagonal is found
#'   by Newton's method, with the steps of Archakov and Hansen, which always converge, where that gains nothing.
#' * `"log-cholesky"`: with \eqn{C = LL'} and the rows of L over its diagonal, \eqn{\Gamma = \mathrm{diag}(L)^{-1}L},
#'   \eqn{d(C, D) = |\log\Gamma_C - \log\Gamma_D|_F}. (Log-Euclidean-Cholesky metric.) It does depend on the order,
#'   which suits variables that have one, in time or along a hierarchy. Matrices close to singular ones are farther
#'   apart than in the other metric.
#'
#' For k = 2 both are functions of the one correlation r: \eqn{\sqrt2\,\mathrm{atanh}\,r}, which is Fisher's z but for
#' the factor, and \eqn{r/\sqrt{1-r^2}}. Tangent vectors are symmetric with zero diagonal. [mf_project()] takes the
#' symmetric part, scales it to unit diagonal, lifts eigenvalues below `floor` times the largest to that and scales
#' again, until none is below; so it makes a correlation matrix of a covariance matrix, of one with missing pairs, or
#' of a singular one. Elsewhere matrices must be positive definite with unit diagonal (tolerance 1e-8,
#' `riemdp_error_off_manifold`); [cor()] of fewer rows than variables is not.
#'
#' Doubles hold no matrix whose coordinates are lost in rounding, as where the smallest eigenvalue is below some
#' 1e-15: [mf_exp()] refuses to go there (`riemdp_error_out_of_reach`); noise that goes there is shortened, which is a
#' function of the noisy value alone.
#'
#' @param k number of variables, 2 or more.
#' @param metric `"off-log"` or `"log-cholesky"`, with or without the hyphen.
#' @param floor relative eigenvalue floor of [mf_project()], at least 0 and below 1.
#' @return A manifold object.
#' @references Thanwerdas, Y. and Pennec, X. (2022). Theoretically and computationally convenient geometries on
#'   full-rank correlation matrices. *SIAM Journal on Matrix Analysis and Applications* 43, 1851-1872.
#'   \doi{10.1137/22M1471729}
#'
#' Thanwerdas, Y. (2024). Permutation-invariant log-Euclidean geometries on full-rank correlation matrices. *SIAM
#' Journal on Matrix Analysis and Applications* 45, 930-953. \doi{10.1137/22M1538144}
#'
#' Archakov, I. and Hansen, P. R. (2021). A new parametrization of correlation matrices. *Econometrica* 89, 1699-1715.
#' \doi{10.3982/ECTA16910}
#' @examples
#' M <- correlation(3)
#' C <- cor(iris[1:50, 1:3])
#' D <- cor(iris[51:100, 1:3])
#' mf_dist(M, C, D)
#' mf_dist(correlation(3, "log-cholesky"), C, D)
#' mf_project(M, cov(iris[, 1:3]))
#' x <- array(c(C, D, cor(iris[101:150, 1:3])), c(3, 3, 3))
#' frechet_mean(x, M)$mean
#' dp_mean(x, M, epsilon = 100, center = diag(3), radius = 2)
#' @export
correlation <- function(k, metric = c("off-log", "log-cholesky"), floor = 1e-10) {
  metric <- check_metric(metric, c("off-log", "log-cholesky"))
  floor <- check_number(floor, "floor", least = 0, most = 1 - 1e-15)
  new_manifold(paste0("correlation_", metric), check_count(k, "k", least = 2, most = 5000), "riemdp_correlation",
               metric = metric, floor = floor)
}

#' @export
manifold_label.riemdp_correlation <- function(M) {
  metric <- c(correlation_offlog = "off-log", correlation_logcholesky = "log-Euclidean-Cholesky")
  sprintf("%d x %d correlation matrices, %s metric", M$param, M$param, metric[[M$name]])
}

# inst/proofs/geometry.md, section 5
#' @export
ambient_bounds.riemdp_correlation <- function(M, center, radius) {
  k <- M$param
  stretch <- if (M$name == "correlation_offlog") {
    e <- eigen(center, symmetric = TRUE)
    s <- e$vectors %*% (log(e$values) * t(e$vectors))
    min(k, exp(max(eigen(s - diag(diag(s)), symmetric = TRUE, only.values = TRUE)$values) + radius))
  } else {
    size <- .Call(riemdp_dist, M, diag(k), center)
    2 * sqrt(k) * exp(min(size + radius, 700))
  }
  ambient_ball(stretch, min(2 * radius * stretch, 2 * sqrt(k * (k - 1))), "frobenius")
}
