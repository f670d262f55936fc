#' Unit sphere
#'
#' The sphere \eqn{S^d} of unit vectors in \eqn{R^{d+1}} with the metric of the surrounding space: curvature 1 (a
#' circle, d = 1, is flat), injectivity radius \eqn{\pi}. Records are rows of an n x (d + 1) matrix.
#'
#' Formulas: \eqn{\exp_p v = \cos|v|\, p + \sin|v|\, v/|v|};
#' \eqn{d(p, q) = 2\,\mathrm{atan2}(|p - q|, |p + q|)}, accurate for near and for nearly opposite points;
#' \eqn{\log_p q} is \eqn{(q - p) + |q - p|^2 p/2} scaled to that length, undefined at \eqn{q = -p};
#' parallel transport \eqn{u - (q'u)/(1 + p'q)\,(p + q)}; volume density of exp \eqn{(\sin|v|/|v|)^{d-1}}.
#' Random points of [mf_random()] are uniform.
#'
#' **Angles** are points of `sphere(1)`, (cos a, sin a), places on a globe of `sphere(2)`; [as_mf_points()] makes them
#' of degrees or radians, of objects of package circular and of package sf. On the circle a private mean's ball may have
#' a radius up to \eqn{\pi/2}, all of a half circle; angles of several circles are points of [torus()]. Directions
#' without a sense, which are the same after half a turn, are points of `grassmann(2, 1)`, or of the circle once
#' doubled.
#'
#' @param d dimension of the sphere, 1 or more; points have d + 1 coordinates.
#' @return A manifold object.
#' @references Mardia, K. V. and Jupp, P. E. (1999). *Directional Statistics*. Wiley. \doi{10.1002/9780470316979}
#' @examples
#' M <- sphere(2)
#' north <- c(0, 0, 1)
#' v <- mf_log(M, north, c(1, 0, 0))
#' mf_exp(M, north, v / 2)
#' @export
sphere <- function(d) new_manifold("sphere", check_count(d, "d"), "riemdp_sphere")

#' @export
manifold_label.riemdp_sphere <- function(M) sprintf("sphere S^%d in R^%d", M$param, M$param + 1L)

#' @export
ambient_bounds.riemdp_sphere <- function(M, center, radius) {
  ambient_ball(1, 2 * sin(radius), chord = function(d) 2 * sin(min(d, pi) / 2))
}
# a unit vector turns by no more when something of length q < 1 is added
#' @export
ambient_shift.riemdp_sphere <- function(M, q) if (q < 1) asin(q)
