#' Positive semidefinite matrices of low rank
#'
#' k x k positive semidefinite matrices of a fixed rank r below k, as covariances of r factors, or of fewer records than
#' variables. **Points are factors**: k x r matrices Y with \eqn{S = YY'}, which orthogonal r x r matrices of the right
#' side leave the same; records are k x r x n arrays, and [as_mf_points()] makes them of the matrices S themselves.
#' `tcrossprod()` of a point is the matrix.
#'
#' The metric is that of Bures and Wasserstein, whose square is the least \eqn{|YQ - X|^2} over orthogonal Q, or
#' \eqn{\mathrm{tr}\,S + \mathrm{tr}\,T - 2\,\mathrm{tr}(S^{1/2}TS^{1/2})^{1/2}}. With the best Q, the polar factor
#' of Y'X, \eqn{\log_X Y = YQ - X} and \eqn{\exp_X V = X + V}; tangent vectors have a symmetric X'V. The logarithm is
#' undefined where Y'X is singular. With the singular values \eqn{l_1 \ge \dots \ge l_r} of X, the injectivity radius
#' is \eqn{l_r}, the distance from matrices of lower rank, and curvature lies between 0 and
#' \eqn{3/(l_r^2 + l_{r-1}^2)} (rank 1: 0). Proof: `proofs/geometry.md` of the installed package, section 11. Parallel
#' transport is integrated to some 1e-9.
#'
#' Private is `dp_mean(mechanism = "tangent")` alone, in a ball whose radius is below a third of the centre's
#' \eqn{l_r}; other private functions refuse, since no bound of the rounding errors of means is proven. Matrices of full
#' rank are [spd()].
#'
#' @param k number of rows of the matrices, 2 or more.
#' @param rank their rank, 1 to k - 1.
#' @return A manifold object.
#' @references Massart, E., Hendrickx, J. M. and Absil, P.-A. (2019). Curvature of the manifold of fixed-rank
#'   positive-semidefinite matrices endowed with the Bures-Wasserstein metric. *Geometric Science of Information*,
#'   739-748. \doi{10.1007/978-3-030-26980-7_77}
#'
#' Massart, E. and Absil, P.-A. (2020). Quotient geometry with simple geodesics for the manifold of fixed-rank
#'   positive-semidefinite matrices. *SIAM Journal on Matrix Analysis and Applications* 41, 171-198.
#'   \doi{10.1137/18M1231389}
#' @examples
#' M <- psd(4, 2)
#' X <- cbind(c(2, 0, 1, 0), c(0, 1, 0, 1))
#' Y <- X + 0.1
#' mf_dist(M, X, Y)
#' mf_dist(M, X, X %*% cbind(c(0, 1), c(1, 0))) # the same matrix
#' S <- lapply(1:100, function(i) tcrossprod(X + rnorm(8, sd = 0.1)))
#' x <- as_mf_points(S, M)
#' r <- dp_mean(x, M, epsilon = 5, center = X, radius = 0.4, mechanism = "tangent")
#' round(tcrossprod(r$value), 2)
#' @export
psd <- function(k, rank) {
  k <- check_count(k, "k", least = 2)
  new_manifold("psd", c(k, check_count(rank, "rank", most = k - 1)), "riemdp_psd")
}

#' @export
manifold_label.riemdp_psd <- function(M) {
  sprintf("%1$d x %1$d positive semidefinite matrices of rank %2$d", M$param[1], M$param[2])
}
