#' Stiefel manifold
#'
#' Matrices W of n rows and p orthonormal columns, W'W = I, with the Euclidean metric \eqn{\mathrm{tr}(U'V)} or the
#' canonical metric \eqn{\mathrm{tr}(U'(I - WW'/2)V)}. Records are n x p x N arrays. For p = 1 it is a sphere, for p = n
#' the orthogonal group, whose two components no geodesic joins.
#'
#' With A = W'U and K = (I - WW')U = QR, geodesics are
#' \eqn{\exp_W U = [W, Q]\exp\left(\begin{array}{cc} cA & -R' \\ R & 0 \end{array}\right) [I; 0] \exp(-(c - 1)A)} where
#' c = 1 (canonical) or 2 (Euclidean). The logarithm has no closed form and is found by iteration in a space of at most
#' 2p dimensions (error `riemdp_error_no_convergence` or `riemdp_error_cut_locus` where it fails). Parallel transport
#' along the geodesic solves its linear differential equation to rounding; `mf_transport(method = "isometric")` is the
#' cheap isometry that matches frames. [mf_project()] is the polar factor.
#'
#' Curvature is in \eqn{[-1/2, 1]} (Euclidean; injectivity radius \eqn{\pi}) or \eqn{[0, 5/4]} (canonical; injectivity
#' radius at least \eqn{2\pi/\sqrt5}). Rotations with a bi-invariant metric, p = n and for the canonical metric p = n -
#' 1, have curvature in \eqn{[0, 1/4]} (Euclidean; 1/8 for n = 3; injectivity radius \eqn{\pi\sqrt2}) or \eqn{[0, 1/2]}
#' (canonical; 1/4 for n = 3; \eqn{\pi}), St(3, 2) with the Euclidean metric in \eqn{[-1/2, 1/2]}. Proofs: the file
#' `proofs/geometry.md` of the installed package.
#'
#' [mf_log()] and [mf_dist()] return the shortest geodesic, and its length, within the injectivity radius. A longer
#' result is the length of the geodesic that the iteration found: an upper bound of the distance, which may be several
#' times as long. Random points of [mf_random()] are uniform.
#'
#' @param n,p number of rows and columns, 1 <= p <= n, n at least 2, np at most 1e7.
#' @param metric `"euclidean"` or `"canonical"`.
#' @return A manifold object.
#' @references
#' Edelman, A., Arias, T. A. and Smith, S. T. (1998). The geometry of algorithms with orthogonality constraints. *SIAM
#' Journal on Matrix Analysis and Applications* 20, 303-353. \doi{10.1137/S0895479895290954}
#'
#' Zimmermann, R. and Hueper, K. (2022). Computing the Riemannian logarithm on the Stiefel manifold: metrics, methods,
#' and performance. *SIAM Journal on Matrix Analysis and Applications* 43, 953-980. \doi{10.1137/21M1425426}
#'
#' Zimmermann, R. and Stoye, J. (2024). The injectivity radius of the compact Stiefel manifold under the Euclidean
#' metric. \doi{10.48550/arXiv.2405.02268}
#' @examples
#' M <- stiefel(4, 2)
#' W <- diag(4)[, 1:2]
#' U <- mf_project_tangent(M, W, matrix(0.1 * (1:8), 4))
#' mf_dist(M, W, mf_exp(M, W, U)) - mf_norm(M, W, U)
#' @export
stiefel <- function(n, p, metric = c("euclidean", "canonical")) {
  metric <- check_choice(metric, "metric", c("euclidean", "canonical"))
  n <- check_count(n, "n", most = 1e5)
  p <- check_frame(n, check_count(p, "p", most = n))
  new_manifold(paste0("stiefel_", metric), c(n, p), "riemdp_stiefel", metric = metric)
}

#' @export
manifold_label.riemdp_stiefel <- function(M) {
  metric <- c(stiefel_euclidean = "Euclidean", stiefel_canonical = "canonical")
  sprintf("Stiefel manifold St(%d, %d), %s metric", M$param[1], M$param[2], metric[[M$name]])
}

#' @export
ambient_bounds.riemdp_stiefel <- function(M, center, radius) {
  stretch <- if (M$name == "stiefel_canonical") sqrt(2) else 1
  ambient_ball(stretch, 2 * stretch * radius)
}

# p where n x p matrices can be had, else an error: what the C code refuses is refused where it is asked for
check_frame <- function(n, p) {
  if (n < 2) abort_riemdp("argument", "`n` must be at least 2: one row has only the points 1 and -1.")
  size <- as.numeric(n) * p
  if (size > 1e7) {
    abort_riemdp("argument", sprintf(paste("n * p must be at most 1e7, the numbers of one point; it is %g: choose a",
                                           "smaller `p` or `n`."), size))
  }
  p
}
