#' Symmetric positive definite matrices
#'
#' The k x k symmetric positive definite matrices with one of four metrics. Records are k x k x n arrays.
#'
#' * `"affine"`, affine-invariant: \eqn{\langle U, V\rangle_P = \mathrm{tr}(P^{-1} U P^{-1} V)}. Complete, curvature in
#'   \eqn{[-1/2, 0]}, invariant under \eqn{X \mapsto A X A'}. With the Cholesky factor \eqn{P = LL'}:
#'   \eqn{\exp_P U = L \exp(L^{-1} U L^{-T}) L'}, and \eqn{d(P, Q)} is the root of the sum of squared
#'   logarithms of the eigenvalues of \eqn{L^{-1} Q L^{-T}}, taken as `log1p` of those of \eqn{L^{-1}(Q - P)L^{-T}}.
#' * `"bures"`, Bures-Wasserstein: \eqn{\langle U, V\rangle_P = \frac12 \mathrm{tr}(\mathcal{L}_P[U] V)} with
#'   \eqn{P\mathcal{L} + \mathcal{L}P = U}; \eqn{d^2 = \mathrm{tr} P + \mathrm{tr} Q - 2\,\mathrm{tr}(P^{1/2} Q
#'   P^{1/2})^{1/2}}. Curvature at least 0 and unbounded towards singular matrices, not complete:
#'   \eqn{\exp_P U = (I + \mathcal{L}) P (I + \mathcal{L})} needs \eqn{I + \mathcal{L}} positive definite. Parallel
#'   transport integrates its differential equation to 1e-13.
#' * `"log-euclidean"`: \eqn{\langle U, V\rangle_P = \langle D\log_P U, D\log_P V\rangle}, flat;
#'   \eqn{d(P, Q) = |\log P - \log Q|_F}.
#' * `"log-cholesky"`: with the Cholesky factor \eqn{P = LL'}, the Euclidean metric of the entries of L below its
#'   diagonal and the logarithms of those on it; flat, \eqn{d(P, Q)^2 = \sum_{i>j}(L_{ij} - K_{ij})^2 + \sum_j(\log
#'   L_{jj} - \log K_{jj})^2} for \eqn{Q = KK'}. No logarithm of a matrix is needed: with few rows it is the fastest.
#'   It depends on the order of the variables and on their units. Where doubles lose the factor in rounding,
#'   [mf_exp()] refuses (`riemdp_error_out_of_reach`).
#'
#' Symmetric results are exactly symmetric. Of a matrix that is symmetric within the tolerance 1e-8 the lower triangle
#' is used. [mf_project()] takes the symmetric part and lifts eigenvalues below `floor` times the largest to that value.
#' Random points of [mf_random()] are \eqn{\exp_I} of a Gaussian tangent vector under the affine-invariant metric (for
#' all metrics).
#'
#' @param k number of rows, 1 or more.
#' @param metric `"affine"`, `"bures"`, `"log-euclidean"` or `"log-cholesky"`, with or without the hyphen.
#' @param floor relative eigenvalue floor of [mf_project()], at least 0 and below 1.
#' @return A manifold object.
#' @references
#' Pennec, X., Fillard, P. and Ayache, N. (2006). A Riemannian framework for tensor computing. *International Journal of
#' Computer Vision* 66, 41-66. \doi{10.1007/s11263-005-3222-z}
#'
#' Bhatia, R., Jain, T. and Lim, Y. (2019). On the Bures-Wasserstein distance between positive definite matrices.
#' *Expositiones Mathematicae* 37, 165-191. \doi{10.1016/j.exmath.2018.01.002}
#'
#' Arsigny, V., Fillard, P., Pennec, X. and Ayache, N. (2007). Geometric means in a novel vector space structure on
#' symmetric positive-definite matrices. *SIAM Journal on Matrix Analysis and Applications* 29, 328-347.
#' \doi{10.1137/050637996}
#'
#' Lin, Z. (2019). Riemannian geometry of symmetric positive definite matrices via Cholesky decomposition. *SIAM
#' Journal on Matrix Analysis and Applications* 40, 1353-1370. \doi{10.1137/18M1221084}
#' @examples
#' P <- diag(2)
#' Q <- matrix(c(2, .5, .5, 1), 2)
#' mf_dist(spd(2), P, Q)
#' mf_dist(spd(2, "bures"), P, Q)
#' mf_dist(spd(2, "log-euclidean"), P, Q)
#' mf_dist(spd(2, "log-cholesky"), P, Q)
#' mf_project(spd(2, floor = 1e-6), matrix(1, 2, 2))
#' @export
spd <- function(k, metric = c("affine", "bures", "log-euclidean", "log-cholesky"), floor = 1e-10) {
  metric <- check_metric(metric, c("affine", "bures", "log-euclidean", "log-cholesky"))
  floor <- check_number(floor, "floor", least = 0, most = 1 - 1e-15)
  new_manifold(paste0("spd_", metric), check_count(k, "k", most = 5000), "riemdp_spd", metric = metric, floor = floor)
}

#' @export
manifold_label.riemdp_spd <- function(M) {
  metric <- c(spd_affine = "affine-invariant", spd_bures = "Bures-Wasserstein", spd_logeuclidean = "log-Euclidean",
              spd_logcholesky = "log-Cholesky")
  sprintf("%d x %d positive definite matrices, %s metric", M$param, M$param, metric[[M$name]])
}

# random points are those of the affine-invariant metric
#' @export
random_base.riemdp_spd <- function(M) spd(M$param, "affine")

#' @export
ambient_bounds.riemdp_spd <- function(M, center, radius) {
  lambda <- max(eigen(center, symmetric = TRUE, only.values = TRUE)$values)
  if (M$name == "spd_logcholesky") {
    factor <- t(chol(center))
    largest <- max(diag(factor)) * exp(radius)
    stretch <- 2 * (sqrt(sum(factor[lower.tri(factor)]^2)) + radius + largest) * max(1, largest)
    ambient_ball(stretch, 2 * radius * stretch, "frobenius")
  } else if (M$name == "spd_bures") {
    ambient_ball(2 * (sqrt(lambda) + radius), 2 * (2 * sqrt(lambda) * radius + radius^2), "frobenius")
  } else {
    ambient_ball(lambda * exp(radius), 2 * lambda * expm1(radius), "frobenius")
  }
}
