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
#' **In space**, `kendall(k, m = 3)`, records are k x 3 x n arrays, centred and scaled on entry as well, and shapes are
#' taken modulo rotation, not reflection. With the singular values s of X'Y, the last with the sign of its determinant,
#' \eqn{d = \arccos(s_1+s_2+s_3)}; the logarithm is undefined where \eqn{s_2+s_3=0}. Landmarks all on a line are
#' refused: the space is singular there. Curvature is at least 1, and at most \eqn{1+3/(l_2^2+l_3^2)} with the singular
#' values \eqn{l_1\ge l_2\ge l_3} of X; the injectivity radius is the distance \eqn{\arccos l_1} from shapes on a line.
#' Over a ball both are found from its centre and radius. Parallel transport is integrated to some 1e-9. Random points
#' of [mf_random()] are exp of normal vectors at one point. Proofs: `proofs/geometry.md` of the installed package,
#' section 6.
#'
#' **Sizes and shapes**, `size_and_shape(k, m)`: landmarks modulo translation and rotation alone, so that a record that
#' is larger is another point. Records are k x m x n arrays (k x 2 also where `kendall()` has complex numbers), centred
#' on entry. With \eqn{R} the rotation that brings Y nearest to X, \eqn{d = |YR - X|}, \eqn{\log_X Y = YR - X},
#' \eqn{\exp_X V = X + V}; tangent vectors have a symmetric X'V. Curvature lies between 0 and \eqn{3/s^2}, where
#' \eqn{s} is the distance from what rotations leave as it is: in the plane the size of X, in space
#' \eqn{\sqrt{l_2^2+l_3^2}}; \eqn{s} is the injectivity radius as well (proof: section 10). Private is
#' `mechanism = "tangent"` alone, as for shapes in space. In the plane [product()] of a shape and a line of logarithms
#' of size is another metric, and has all mechanisms.
#'
#' @param k number of landmarks, 3 or more (in space 4).
#' @param m dimension of the space in which landmarks lie, 2 or 3.
#' @param links a matrix of two columns, numbers of landmarks that pictures join by a line (a wireframe). By default
#'   lines go around from the first landmark to the last; in space there are none. Points of spaces with other links
#'   don't mix in one vector; nothing else depends on them.
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
#' mf_dist(size_and_shape(3), cbind(c(0, 1, 0.5), c(0, 0, 1)), 2 * cbind(c(0, 1, 0.5), c(0, 0, 1)))
#' house <- kendall(5, links = rbind(c(1, 2), c(2, 3), c(3, 4), c(4, 1), c(3, 5), c(4, 5)))
#' plot(mf_points(cbind(c(0, 1, 1, 0, 0.5), c(0, 0, 1, 1, 1.5)), house))
#' @export
kendall <- function(k, m = 2, links = NULL) {
  landmark_space(k, m, links, c("kendall", "kendall_space"), c("riemdp_kendall", "riemdp_kendall_space"))
}

#' @rdname kendall
#' @export
size_and_shape <- function(k, m = 2, links = NULL) {
  landmark_space(k, m, links, c("size_plane", "size_space"), rep("riemdp_size_and_shape", 2))
}

# names and classes: those in the plane and in space
landmark_space <- function(k, m, links, names, classes) {
  m <- check_count(m, "m", least = 2, most = 3)
  k <- check_count(k, "k", least = m + 1)
  if (!is.null(links)) links <- landmark_numbers(k, links, "links", 2)
  new_manifold(names[m - 1], k, classes[m - 1], extra = if (is.null(links)) list() else list(links = links))
}

#' @export
manifold_label.riemdp_size_and_shape <- function(M) {
  sprintf("sizes and shapes of %d landmarks in %s", M$param,
          c(size_plane = "the plane", size_space = "space")[[M$name]])
}

# a matrix of landmarks' numbers, different ones in each row
landmark_numbers <- function(k, x, name, columns) {
  if (is.numeric(x) && is.null(dim(x)) && length(x) == columns) x <- t(x)
  fits <- is.numeric(x) && is.matrix(x) && ncol(x) == columns && nrow(x) > 0 && all(x %in% seq_len(k)) &&
    !any(apply(x, 1, anyDuplicated))
  if (!fits) {
    abort_riemdp("argument", sprintf("`%s` must be a matrix of %d columns with landmarks' numbers, 1 to %d.", name,
                                     as.integer(columns), k))
  }
  matrix(as.integer(x), ncol = columns)
}

#' @export
manifold_label.riemdp_kendall <- function(M) {
  sprintf("Kendall's planar shapes of %d landmarks (CP^%d)", M$param, M$param - 2L)
}

#' @export
manifold_label.riemdp_kendall_space <- function(M) sprintf("Kendall's shapes of %d landmarks in space", M$param)
