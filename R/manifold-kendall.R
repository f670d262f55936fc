#' Planar shapes of k landmarks
#'
#' Kendall's shape space of k points in the plane: landmarks as a complex vector, centred, scaled to size one and taken
#' modulo rotation. It is the complex projective space of real dimension 2k - 4, with curvature between 1 and 4 (4 for
#' triangles) and injectivity radius \eqn{\pi/2}.
#'
#' Records are a complex k x n matrix or a k x 2 x n array. **Raw landmarks are centred and scaled on entry** to every
#' function that takes points, so digitised coordinates can be used as they are; a configuration whose landmarks all
#' coincide is refused. Tangent vectors are horizontal at the centred and scaled point, sum v = 0 and x* v = 0.
#'
#' With y turned so that x* y > 0: \eqn{d = \mathrm{atan2}(|y - x(x^*y)|, |x^*y|)} in \eqn{[0, \pi/2]}; log is the
#' horizontal part \eqn{y - x(x^*y)} scaled to that length, undefined at distance \eqn{\pi/2};
#' \eqn{\exp_x v = \cos|v|\,x + \sin|v|\,v/|v|}; volume density \eqn{(\sin r/r)^{2k-6}\,\sin(2r)/(2r)}. Parallel
#' transport uses the complex product, so that the component along iv turns as well. Random points of [mf_random()] are
#' uniform.
#'
#' @param k number of landmarks, 3 or more.
#' @return A manifold object.
#' @references Kendall, D. G. (1984). Shape manifolds, Procrustean metrics, and complex projective spaces. *Bulletin of
#'   the London Mathematical Society* 16, 81-121. \doi{10.1112/blms/16.2.81}
#'
#' Dryden, I. L. and Mardia, K. V. (2016). *Statistical Shape Analysis, with Applications in R*. Wiley.
#' \doi{10.1002/9781119072492}
#' @examples
#' triangle <- c(0, 1, 0.5 + 1i)
#' turned <- (triangle + 2 - 1i) * 3 * exp(0.7i)
#' mf_dist(kendall(3), triangle, turned)
#' frechet_mean(callosa[, , 1:20], kendall(50))
#' @export
kendall <- function(k) new_manifold("kendall", check_count(k, "k", least = 3), "riemdp_kendall")

#' @export
manifold_label.riemdp_kendall <- function(M) {
  sprintf("Kendall's planar shapes of %d landmarks (CP^%d)", M$param, M$param - 2L)
}
