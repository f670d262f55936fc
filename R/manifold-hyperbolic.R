#' Hyperbolic space
#'
#' \eqn{H^d} in one of two models, of curvature -1 or any other below 0.
#'
#' * `"hyperboloid"`: points x in \eqn{R^{d+1}} with \eqn{\langle x, x\rangle_L = -x_1^2 + x_2^2 + \dots = -1},
#'   \eqn{x_1 > 0}. \eqn{\sinh^2(d/2) = \sinh^2((r_x - r_y)/2) + |a||b|\sin^2(\theta/2)} with space parts a, b of x, y
#'   at an angle \eqn{\theta} and \eqn{\sinh r_x = |a|}, \eqn{\exp_x u = \cosh|u|\,x + \sinh|u|\,u/|u|}, transport
#'   \eqn{u + \langle y, u\rangle_L/(1 - \langle x, y\rangle_L)\,(x + y)}. [mf_project()] keeps
#'   \eqn{x_2, \dots, x_{d+1}}.
#' * `"ball"`, Poincare's: points x in \eqn{R^d} with |x| < 1 and metric \eqn{4\langle u, v\rangle/(1 - |x|^2)^2};
#'   \eqn{d = 2\,\mathrm{asinh}(|x - y|/\sqrt{(1 - |x|^2)(1 - |y|^2)})}; exp, log and transport by Ungar's gyrovectors.
#'
#' On the hyperboloid the space coordinates \eqn{x_2, \dots, x_{d+1}} alone say which point is meant, and the space part
#' of a tangent vector which vector; the time coordinate is only checked, to 1e-8. Distances and logarithms of the
#' points so given keep their digits wherever these lie (`inst/proofs/geometry.md`). What is stored doesn't: rounding of
#' coordinates moves a point at a distance r from the apex, or from the centre of the ball, by some \eqn{2^{-53} e^r/2}.
#' Beyond r = 32.5, where that is a hundredth, points are refused (`riemdp_error_out_of_reach`), and so is [mf_exp()] to
#' there; private releases end at that edge instead.
#'
#' Records are rows of a matrix. Volume density of exp: \eqn{(\sinh|v|/|v|)^{d-1}}. Random points of [mf_random()] are
#' exp of a Gaussian tangent vector at the apex (the centre of the ball).
#'
#' @param d dimension, 1 or more.
#' @param model `"hyperboloid"` (d + 1 coordinates) or `"ball"` (d coordinates).
#' @param curvature sectional curvature, -1e12 to -1e-12. Points are the same for all; distances are those of curvature
#'   -1 divided by \eqn{\sqrt{-\kappa}}: a [product()] of one part with the weight \eqn{-1/\kappa}.
#' @return A manifold object.
#' @references Ungar, A. A. (2008). *Analytic Hyperbolic Geometry and Albert Einstein's Special Theory of Relativity*.
#'   World Scientific. \doi{10.1142/6625}
#'
#' Nickel, M. and Kiela, D. (2018). Learning continuous hierarchies in the Lorentz model of hyperbolic geometry.
#' *Proceedings of Machine Learning Research* 80, 3779-3788.
#' @examples
#' mf_dist(hyperbolic(2, "ball"), c(0, 0), c(0.5, 0))
#' mf_dist(hyperbolic(2), c(1, 0, 0), c(cosh(1), sinh(1), 0))
#' @export
hyperbolic <- function(d, model = c("hyperboloid", "ball"), curvature = -1) {
  model <- check_choice(model, "model", c("hyperboloid", "ball"))
  curvature <- check_number(curvature, "curvature")
  if (!(curvature >= -1e12 && curvature <= -1e-12)) {
    abort_riemdp("argument", "`curvature` must be below 0, between -1e12 and -1e-12.")
  }
  M <- new_manifold(model, check_count(d, "d"), "riemdp_hyperbolic", model = model)
  if (curvature == -1) return(M)
  rescaled(M, -1 / curvature, sprintf("%s, curvature %.4g", manifold_label(M), curvature))
}

#' @export
manifold_label.riemdp_hyperbolic <- function(M) {
  sprintf("hyperbolic space H^%d, %s", M$param, if (M$name == "ball") "Poincare ball" else "hyperboloid")
}
