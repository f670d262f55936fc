# Thin wrappers: shapes and points are checked in C.

#' Geometry of records
#'
#' Maps between a manifold and its tangent spaces, distances and inner products, for one record or many on either side.
#'
#' @section Shapes:
#' A *single* point is a vector (for matrix manifolds a matrix, complex for [hermitian_spd()], for [kendall()] a complex
#' vector or a k x 2 matrix).
#' *Many* are an n x m matrix whose rows are records, a k x k x n or n x p x N array, a complex k x n matrix or k x 2 x
#' n array of landmarks, a data frame of numeric columns, or [mf_points()]. A single point on one side is used with
#' every record on the other. Results have the form of the argument with many records, and are single only if all
#' arguments are.
#'
#' @section Errors:
#' Points and tangent vectors are checked (tolerance 1e-8, relative): errors of class `riemdp_error_not_finite`,
#' `riemdp_error_off_manifold`, `riemdp_error_not_tangent`, `riemdp_error_cut_locus` and the like ([riemdp_errors()])
#' name the argument and the first bad record by its number.
#'
#' @section Certified digits:
#' With `error = TRUE` the true value for the stored numbers is enclosed once more, with some 32 digits, and the largest
#' distance of what was computed from it is told: an upper bound that is proven (`certified-digits.md` in
#' `inst/proofs`), and in ordinary cases the true error to several digits. Of `mf_dist()` it is the difference of
#' distances, of `mf_log()` the norm at `p` of that of the vectors, of `mf_exp()` the distance of the points. `Inf`
#' where nothing can be said, as where rounding has left a matrix that isn't positive definite. Stored numbers are taken
#' as exact; where they are a point but for rounding, they stand for: on spheres x/|x|, and of a vector its tangent
#' part; on the hyperboloid space coordinates; of a symmetric matrix the lower triangle. Available on [euclidean()],
#' [sphere()], [hyperbolic()], [spd()] with the affine-invariant and the Log-Euclidean metric, and on products and
#' powers of these; elsewhere an error of class `riemdp_error_unsupported`. It takes some
#' microseconds a record on spheres and .1 ms on 5 x 5 matrices. The result is a list, since numbers that carry a bound
#' with them would keep it when they are changed.
#'
#' @param M a manifold.
#' @param p,q points.
#' @param u,v tangent vectors at `p`, stored as points are.
#' @param x points, or for projections anything of that shape.
#' @param error `TRUE`: a list of `value`, the result to the same bits, and `error`, for each record a proven bound of
#'   what rounding has done to it, in the units of the metric.
#' @return `mf_exp()`: points. `mf_log()`, `mf_project_tangent()`: tangent vectors at `p`. `mf_dist()`, `mf_inner()`,
#'   `mf_norm()`: one number a record, in the units of the metric (radians on spheres and shape spaces). `mf_project()`:
#'   the nearest points of the manifold (of the Euclidean distance in storage; see each manifold's page). With
#'   `error = TRUE` a list.
#' @seealso [mf_transport()], [mf_coords()], [mf_check()], [mf_dist_matrix()], [frechet_mean()]
#' @references Tucker, W. (2011). *Validated Numerics*. Princeton University Press. (How true values are enclosed.)
#'
#' Absil, P.-A., Mahony, R. and Sepulchre, R. (2008). *Optimization Algorithms on Matrix Manifolds*.
#'   Princeton University Press. \doi{10.1515/9781400830244}
#' @examples
#' M <- sphere(2)
#' x <- mf_project(M, rbind(c(1, 1, 1), c(0, 1, 2)))
#' v <- mf_log(M, c(0, 0, 1), x)
#' mf_norm(M, c(0, 0, 1), v) - mf_dist(M, c(0, 0, 1), x)
#' mf_exp(M, c(0, 0, 1), v) - x
#' mf_dist(M, c(0, 0, 1), x, error = TRUE)
#' @name geometry
NULL

#' @rdname geometry
#' @export
mf_exp <- function(M, p, v, error = FALSE) {
  y <- .Call(riemdp_exp, M, p, v)
  if (wants_error(error)) list(value = y, error = .Call(riemdp_certified_exp, M, p, v, y)) else y
}

#' @rdname geometry
#' @export
mf_log <- function(M, p, q, error = FALSE) {
  v <- .Call(riemdp_log, M, p, q)
  if (wants_error(error)) list(value = v, error = .Call(riemdp_certified_log, M, p, q, v)) else v
}

#' @rdname geometry
#' @export
mf_dist <- function(M, p, q, error = FALSE) {
  d <- .Call(riemdp_dist, M, p, q)
  if (wants_error(error)) list(value = d, error = .Call(riemdp_certified_dist, M, p, q, d)) else d
}

# whether bounds of rounding errors are asked for; the usual FALSE costs nothing
wants_error <- function(error) !identical(error, FALSE) && check_flag(error, "error")

#' @rdname geometry
#' @export
mf_inner <- function(M, p, u, v) .Call(riemdp_inner, M, p, u, v)

#' @rdname geometry
#' @export
mf_norm <- function(M, p, v) .Call(riemdp_norm, M, p, v)

#' @rdname geometry
#' @export
mf_project <- function(M, x) .Call(riemdp_project, M, x)

# A point that doubles hold, for a released value: itself where it is one, else its projection, else the centre. Of a
# user's functions only the check is asked.
point_held <- function(M, value, center) {
  user <- of_user(M)
  held <- function(p) isTRUE(unless(mf_is_point(M, p) && (user || is.finite(.Call(riemdp_dist, M, center, p))), FALSE))
  if (held(value)) return(value)
  near <- unless(mf_project(M, value), center)
  if (held(near)) near else center
}

#' @rdname geometry
#' @export
mf_project_tangent <- function(M, p, v) .Call(riemdp_project_tangent, M, p, v)

#' Parallel transport
#'
#' Carries tangent vectors from `p` to `q` along the minimal geodesic.
#'
#' @param M a manifold.
#' @param p,q points.
#' @param v tangent vectors at `p`.
#' @param method `"parallel"`: parallel transport of the Levi-Civita connection, in closed form on symmetric spaces, by
#'   its differential equation on Bures-Wasserstein and Stiefel manifolds, by the pole ladder on [manifold_custom()]
#'   without its own. `"isometric"`: the isometry that matches the orthonormal frames of [mf_coords()], cheap everywhere
#'   and not parallel. `"pole"`: the pole ladder with `rungs` steps.
#' @param rungs number of rungs, 1 to 10,000, for `"pole"`; exact with one on symmetric spaces, of second order in
#'   1/rungs elsewhere.
#' @return Tangent vectors at `q`, of the shape of the argument with many records.
#' @references Guigui, N. and Pennec, X. (2022). Numerical accuracy of ladder schemes for parallel transport on
#'   manifolds. *Foundations of Computational Mathematics* 22, 757-790. \doi{10.1007/s10208-021-09515-x}
#' @examples
#' M <- sphere(2)
#' mf_transport(M, c(1, 0, 0), c(0, 1, 0), c(0, 1, 0))
#' @export
mf_transport <- function(M, p, q, v, method = c("parallel", "isometric", "pole"), rungs = 1) {
  method <- check_choice(method, "method", c("parallel", "isometric", "pole"))
  switch(method,
    parallel = .Call(riemdp_transport, M, p, q, v),
    isometric = .Call(riemdp_carry, M, p, q, v),
    pole = .Call(riemdp_pole, M, p, q, v, as.double(check_count(rungs, "rungs", most = 1e4)))
  )
}

#' Orthonormal coordinates of tangent vectors
#'
#' `mf_coords()` writes tangent vectors at `p` in an orthonormal frame that is a function of `p` alone;
#' `mf_from_coords()` goes back.
#'
#' @param M a manifold.
#' @param p points.
#' @param v tangent vectors at `p`.
#' @param a an n x dimension matrix of coordinates (a vector for one record).
#' @return `mf_coords()`: an n x dimension matrix, whose squared row sums are squared norms (a vector for one record).
#'   `mf_from_coords()`: tangent vectors.
#' @examples
#' M <- spd(2)
#' P <- matrix(c(2, .5, .5, 1), 2)
#' a <- mf_coords(M, P, matrix(c(1, 0, 0, 0), 2))
#' mf_from_coords(M, P, a)
#' @export
mf_coords <- function(M, p, v) .Call(riemdp_coords, M, p, v)

#' @rdname mf_coords
#' @export
mf_from_coords <- function(M, p, a) .Call(riemdp_from_coords, M, p, a)

#' Check points
#'
#' @param M a manifold.
#' @param x records, in any accepted shape.
#' @return `mf_check()` returns `x` invisibly, or raises an error that names the first record that is no point of `M`.
#'   `mf_is_point()` returns one logical a record.
#' @examples
#' mf_is_point(sphere(1), rbind(c(1, 0), c(1, 1), c(NA, 0)))
#' @export
mf_check <- function(M, x) {
  check_points(x, M)
  invisible(x)
}

check_points <- function(x, M) UseMethod("check_points")

#' @exportS3Method
check_points.default <- function(x, M) .Call(riemdp_check, M, x)

#' @rdname mf_check
#' @export
mf_is_point <- function(M, x) .Call(riemdp_is_point, M, x)

#' Volume density of the exponential map
#'
#' \eqn{\log|\det d\exp_p|} at `v`, in orthonormal frames: how much exp stretches volume there. In closed form on
#' symmetric spaces, by a fourth-order difference elsewhere.
#'
#' @param M a manifold.
#' @param p points.
#' @param v tangent vectors at `p`.
#' @return One number a record.
#' @examples
#' mf_log_density(sphere(2), c(0, 0, 1), c(1, 0, 0)) - log(sin(1))
#' @export
mf_log_density <- function(M, p, v) .Call(riemdp_log_density, M, p, v)

#' Jacobi factors
#'
#' The adjoints of the derivatives of \eqn{(p, v) \mapsto \exp_p(xv)}: with parallel transport along the geodesic,
#' \eqn{d\exp_p(xv) = PT(C\,dp + xS\,dv)}, and `mf_jacobi()` gives \eqn{C^*u} and \eqn{xS^*u}. These are the factors of
#' geodesic regression, where u is a residual carried back to p. On symmetric spaces C and S are self-adjoint and in
#' closed form (cosines and sines of \eqn{x\sqrt\lambda}, \eqn{\lambda} the eigenvalues of the curvature operator along
#' v), and so are the adjoints on Stiefel manifolds and in the Bures-Wasserstein metric; on manifolds of your own they
#' are found by differences.
#'
#' @param M a manifold.
#' @param p points.
#' @param v velocities, tangent at `p`.
#' @param x one number a record.
#' @param u tangent vectors at `p`.
#' @return A list of tangent vectors at `p`: `p` (\eqn{C^*u}) and `v` (\eqn{xS^*u}).
#' @references Fletcher, P. T. (2013). Geodesic regression and the theory of least squares on Riemannian manifolds.
#'   *International Journal of Computer Vision* 105, 171-185. \doi{10.1007/s11263-012-0591-y}
#' @examples
#' mf_jacobi(sphere(2), c(0, 0, 1), c(1, 0, 0), 0.5, c(0, 1, 0))
#' @export
mf_jacobi <- function(M, p, v, x, u) .Call(riemdp_jacobi, M, p, v, x, u)

#' Records moved into a ball
#'
#' What lies outside the geodesic ball around `center` moves to its nearest point, along the geodesic to the centre;
#' what is no point of the manifold, or has no logarithm at the centre (the cut locus), becomes the centre. A total
#' function of each record by itself, as [dp_mean()] applies it: it never fails on account of a record.
#'
#' @param M a manifold.
#' @param x records, in any shape that functions on `M` accept.
#' @param center one point.
#' @param radius positive, in the units of the metric.
#' @return The records in the shape they came in.
#' @examples
#' mf_to_ball(sphere(2), rbind(c(0, 0, 1), c(1, 0, 0), c(NA, 0, 0)), center = c(0, 0, 1), radius = 0.5)
#' @export
mf_to_ball <- function(M, x, center, radius) {
  check_manifold(M)
  .Call(riemdp_to_ball, M, x, center, check_number(radius, "radius", positive = TRUE))
}
