#' Rotations and rigid motions
#'
#' `rotations()` is SO(n), the n x n orthogonal matrices with determinant 1, with the metric \eqn{\mathrm{tr}(U'V)/2}:
#' in the plane and in space the distance of two rotations is the angle, in radians, of the one that leads from one to
#' the other. Turning all records, before or after themselves, changes no distance. Records are n x n x N arrays;
#' [as_mf_points()] makes them of quaternions, rotation vectors and Euler angles. `rigid()` is the product of rotations
#' and shifts, see [product()].
#'
#' Geodesics are \eqn{P\exp(tA)}, A skew. For n = 3 everything goes by unit quaternions q and -q, which are the same
#' rotation: curvature is 1/4, the injectivity radius and the diameter are \eqn{\pi}, and the logarithm is undefined at
#' rotations by \eqn{\pi} only. These are lines of \eqn{R^4} with distances doubled, [grassmann()], and what is proven
#' there holds: Laplace, staircase and normal laws are drawn exactly, and a private mean's ball may have any radius
#' below \eqn{\pi/2}. [mf_coords()] of a tangent vector at P is the rotation vector of the turn that follows P. n = 2
#' is a circle. For more dimensions curvature lies in \eqn{[0, 1/2]}, the injectivity radius is \eqn{\pi}, logarithms
#' are found as on [stiefel()], and private balls have radii up to 40 degrees (.70), where the bounds of rounding
#' errors end; of laws around the mean the heat kernel alone can be drawn there, wrapped ones can. Proofs:
#' `proofs/geometry.md` of the installed package.
#'
#' A matrix of determinant -1 is no rotation: a private call counts it by the rule that `invalid` names. [mf_project()]
#' gives the nearest rotation. Random rotations of [mf_random()] are uniform.
#'
#' **Rigid motions** are pairs of a rotation and a shift, parts `"rotation"` and `"shift"`, with \eqn{d^2 =
#' \mathrm{angle}^2 + |\mathrm{shift}|^2/\mathrm{scale}^2}. Shifts are those of the public origin in which they are
#' written: moving that origin changes distances, turning the axes doesn't.
#'
#' @param n dimension of the space that is turned, 2 or more; n^2 at most 1e7.
#' @param scale how long a shift is that counts as much as an angle of one radian, in the units of the shifts.
#' @return A manifold object.
#' @references
#' Moakher, M. (2002). Means and averaging in the group of rotations. *SIAM Journal on Matrix Analysis and Applications*
#' 24, 1-16. \doi{10.1137/S0895479801383877}
#' @seealso [stiefel()] for frames, [grassmann()] for subspaces
#' @examples
#' M <- rotations(3)
#' x <- as_mf_points(cbind(0, 0, c(10, 20, 90)), M, units = "degrees", layout = "axis")
#' mf_dist(M, x[1], x) * 180 / pi
#' mean <- frechet_mean(x, M)$mean
#' mf_coords(M, diag(3), mf_log(M, diag(3), mean)) * 180 / pi
#' mf_facts(rigid(3, scale = 0.5))$injectivity_radius
#' @export
rotations <- function(n) {
  n <- check_count(n, "n", least = 2, most = 1e5)
  check_frame(n, n)
  M <- new_manifold(if (n < 4) "rotations" else "rotations_frames", n, "riemdp_rotations")
  if (n == 3) rescaled(M, 4, "rotations SO(3)") else M # its table measures half the angle
}

#' @export
manifold_label.riemdp_rotations <- function(M) {
  sprintf("rotations SO(%d)%s", M$param, if (M$param == 3) ", half angles" else "")
}

#' @rdname rotations
#' @export
rigid <- function(n, scale) {
  scale <- check_number(scale, "scale", least = 1e-6, most = 1e6)
  product(rotation = rotations(n), shift = euclidean(n), weights = c(1, 1 / scale^2))
}
