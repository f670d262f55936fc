#' Grassmann manifold
#'
#' The p-dimensional subspaces of \eqn{R^n}. A record is an n x p matrix W of orthonormal columns that span the
#' subspace; two matrices that differ by an orthogonal p x p factor are the same point. Tangent vectors U are
#' horizontal, W'U = 0, with \eqn{\mathrm{tr}(U'V)}. Records are n x p x N arrays.
#'
#' With the thin singular value decomposition U = QSV': \eqn{\exp_W U = WV\cos S\,V' + Q\sin S\,V'}. The distance is the
#' root of the sum of squared principal angles, \eqn{\theta = \mathrm{atan2}(\sin, \cos)} from the singular values of
#' (I - WW')Y and W'Y. The logarithm is undefined where the largest angle is \eqn{\pi/2}. A symmetric space, curvature
#' in \eqn{[0, 2]} (1 for lines and hyperplanes), injectivity radius \eqn{\pi/2}. Random points of [mf_random()] are
#' uniform.
#'
#' @param n,p dimension of the space and of the subspaces, 1 <= p < n, np at most 1e7.
#' @return A manifold object.
#' @references Bendokat, T., Zimmermann, R. and Absil, P.-A. (2024). A Grassmann manifold handbook: basic geometry and
#'   computational aspects. *Advances in Computational Mathematics* 50, 6. \doi{10.1007/s10444-023-10090-8}
#' @examples
#' M <- grassmann(4, 2)
#' W <- diag(4)[, 1:2]
#' turn <- matrix(c(0, 1, -1, 0), 2)
#' mf_dist(M, W, W %*% turn)
#' @export
grassmann <- function(n, p) {
  n <- check_count(n, "n", least = 2, most = 1e5)
  p <- check_frame(n, check_count(p, "p", most = n - 1))
  new_manifold("grassmann", c(n, p), "riemdp_grassmann")
}

#' @export
manifold_label.riemdp_grassmann <- function(M) sprintf("Grassmann manifold Gr(%d, %d)", M$param[1], M$param[2])
