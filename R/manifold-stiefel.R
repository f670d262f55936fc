#' Stiefel manifold
#'
#' Matrices W of n rows and p orthonormal columns, W'W = I, with the Euclidean metric \eqn{\mathrm{tr}(U'V)} or the canonical
#' metric \eqn{\mathrm{tr}(U'(I - WW'/2)V)}. Records are n x p x N arrays. For p = 1 it is a sphere, for p = n the orthogonal
#' group, whose two components no geodesic joins.
#'
#' With A = W'U and K = (I - WW')U = QR, geodesics are
#' \eqn{\exp_W U = [W, Q]\exp\left(\begin{array}{cc} cA & -R' \\ R & 0 \end{array}\right) [I; 0] \exp(-(c - 1)A)} where c = 1
#' (canonical) or 2 (Euclidean). The logarithm has no closed form and is found by iteration in a space of at most 2p dimensions
#' (error `riemdp_error_no_convergence` or `riemdp_error_cut_locus` where it fails). Parallel transport along the geodesic
#' solves its linear differential equation to rounding; `mf_transport(method = "isometric")` is the cheap isometry that
#' matches frames. [mf_project()] is the polar factor.
#'
#' Curvature is in \eqn{[-1/2, 1]} (Euclidean; injectivity radius \eqn{\pi}) or \eqn{[0, 5/4]} (canonical; injectivity radius
#' at least \eqn{2\pi/\sqrt5}). Random points of [mf_random()] are uniform.
#'
#' @param n,p number of rows and columns, 1 <= p <= n.
#' @param metric `"euclidean"` or `"canonical"`.
#' @return A manifold object.
#' @references
#' Edelman, A., Arias, T. A. and Smith, S. T. (1998). The geometry of algorithms with orthogonality constraints. *SIAM Journal on
#' Matrix Analysis and Applications* 20, 303-353. \doi{10.1137/S0895479895290954}
#'
#' Zimmermann, R. and Hueper, K. (2022). Computing the Riemannian logarithm on the Stiefel manifold: metrics, methods, and
#' performance. *SIAM Journal on Matrix Analysis and Applications* 43, 953-980. \doi{10.1137/21M1425426}
#'
#' Zimmermann, R. and Stoye, J. (2024). The injectivity radius of the compact Stiefel manifold under the Euclidean metric.
#' \doi{10.48550/arXiv.2405.02268}
#' @examples
#' M <- stiefel(4, 2)
#' W <- diag(4)[, 1:2]
#' U <- mf_project_tangent(M, W, matrix(0.1 * (1:8), 4))
#' mf_dist(M, W, mf_exp(M, W, U)) - mf_norm(M, W, U)
#' @export
stiefel <- function(n, p, metric = c("euclidean", "canonical")) {
  metric <- check_choice(metric, "metric", c("euclidean", "canonical"))
  n <- check_count(n, "n", most = 1e5)
  p <- check_count(p, "p", most = n)
  new_manifold(paste0("stiefel_", metric), c(n, p), "mf_stiefel", metric = metric)
}

#' @export
manifold_label.mf_stiefel <- function(M) {
  metric <- c(stiefel_euclidean = "Euclidean", stiefel_canonical = "canonical")
  sprintf("Stiefel manifold St(%d, %d), %s metric", M$param[1], M$param[2], metric[[M$name]])
}
