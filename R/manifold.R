# A manifold in R is a list of plain data: it survives saveRDS(), forks and workers. All that follows from its
# parameters is derived in C (init() of its table), each time it is read.

new_manifold <- function(name, param, class, ..., extra = list()) {
  structure(c(list(name = name, param = as.integer(param)), list(...), extra), class = c(class, "riemdp_manifold"))
}

#' Facts about a manifold
#'
#' @param M a manifold.
#' @return A list:
#' * `dimension`: dimension of the manifold; `ambient`: real numbers that store one point; `rows`, `cols`: shape of one
#'   record where it is a matrix, complex where `ambient` is twice their product (0 otherwise; `cols` 0 and `rows` k for
#'   k complex landmarks).
#' * `k_min`, `k_max`: lower and upper bound of the sectional curvatures; `mean_curvature`: their mean, 0 where it isn't
#'   known.
#' * `injectivity_radius`: a lower bound over all points (0 where it depends on the point and has no positive bound).
#' * `diameter`: largest distance, `Inf` where unbounded or not known.
#' * `volume_growth`: rate at which the logarithm of a large ball's volume grows with its radius, 0 where volume grows
#'   like a power.
#' * `homogeneous`, `two_point_homogeneous`, `symmetric`: logical.
#' * `orthonormal`: whether points are unit vectors, or matrices with orthonormal columns.
#' * `brings_records`: whether raw records are brought to the manifold wherever points are taken: shapes are centred and
#'   scaled, compositions closed.
#' * `one_mean`: whether records have one Frechet mean, however far apart they lie.
#' * `uniform_by_projection`: whether a normal vector of the space around the manifold, projected, is uniformly
#'   distributed; `arithmetic_stays`: whether the projected arithmetic mean of points of a ball lies in the ball.
#' * `local_bounds`: whether `k_max` and the injectivity radius are found anew for each ball.
#' * `has_laplace`, `has_kng`: whether the Riemannian Laplace law, and the K-norm gradient mechanism, can be drawn
#'   exactly here with doubles (on a lattice the latter can on every space, see [dp_mean()]).
#' * `model`: the space whose formulas hold within the ball of half the injectivity radius, a word: `"flat"`,
#'   `"sphere"`, `"hyperbolic"`, `"planar"` (complex projective space), `"spd"`, `"hermitian"`, `"grassmann"`,
#'   `"bures"`, `"stiefel"`, `"stiefel_euclidean"`, `"product"` (each part has its own), `"none"`.
#' @seealso [sphere()], [spd()], [hermitian_spd()], [hyperbolic()], [kendall()], [stiefel()], [grassmann()],
#'   [euclidean()], [simplex()], [correlation()], [product()], [manifold_custom()]
#' @examples
#' mf_facts(sphere(2))$k_max
#' str(mf_facts(spd(3)))
#' @export
mf_facts <- function(M) {
  .Call(riemdp_facts, check_manifold(M))
}

#' @export
print.riemdp_manifold <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @export
format.riemdp_manifold <- function(x, ...) {
  facts <- mf_facts(x)
  number <- function(v) formatC(v, digits = 4, format = "fg")
  curvature <- if (facts$k_min == facts$k_max) number(facts$k_min) else {
    sprintf("in [%s, %s]", number(facts$k_min), number(facts$k_max))
  }
  inj <- if (facts$injectivity_radius == 0) "depends on the point" else number(facts$injectivity_radius)
  c(
    sprintf("<manifold> %s", label_manifold(x)),
    sprintf("  dimension %d, curvature %s, injectivity radius %s", as.integer(facts$dimension), curvature, inj)
  )
}

# What tells one manifold from another in the keys of remembered figures, which depend on public numbers only
manifold_key <- function(M, ...) {
  parts <- if (is.list(M$parts)) paste0("(", vapply(M$parts, manifold_key, ""), ")")
  paste(c(M$name, format(c(M$param, M$floor, M$weights, ...), digits = 17), parts), collapse = " ")
}

# whether a manifold is a user's own, or a product with such a part: what it says of itself is taken on trust
of_user <- function(M) {
  inherits(M, "riemdp_custom") || (is.list(M$parts) && any(vapply(M$parts, of_user, NA)))
}

# Whether a manifold is Euclidean space in other coordinates: flat, and all that is exact there is exact here
is_flat <- function(M) {
  facts <- mf_facts(M)
  facts$model == "flat" && facts$has_kng
}

# The model of small balls, where it is that of the whole space; lines and hyperplanes have balls like those of spheres
# only.
model_everywhere <- function(facts) {
  if (facts$model == "sphere" && !(facts$diameter > 3)) "grassmann" else facts$model
}

# What a manifold's own file adds to its table in C. The manifold whose exp at its origin makes the points of
# mf_random() where they aren't uniform:
random_base <- function(M) UseMethod("random_base")
#' @export
random_base.default <- function(M) M

# n random points by a law of the manifold's own, or NULL
random_points <- function(M, n, sd) UseMethod("random_points")
#' @export
random_points.default <- function(M, n, sd) NULL

# How the space around the manifold sees a ball, or NULL: `stretch`, the largest length there of a tangent vector of
# unit length at a point of the ball; `diameter`, a bound of the distance there of two of its points; `norm`, that of
# noise added there; `chord`, the exact distance there of points at a distance, where it is known. Rounded outwards.
ambient_bounds <- function(M, center, radius) UseMethod("ambient_bounds")
#' @export
ambient_bounds.default <- function(M, center, radius) NULL
ambient_ball <- function(stretch, diameter, norm = "entries", chord = NULL) {
  list(stretch = outwards(stretch), diameter = outwards(diameter), norm = norm, chord = chord)
}

# How far a point moves at most when a vector of length q is added to it in the space around and the sum is projected;
# NULL where nothing is known.
ambient_shift <- function(M, q) UseMethod("ambient_shift")
#' @export
ambient_shift.default <- function(M, q) NULL

# One line that names a manifold, also one that somebody has tampered with.
label_manifold <- function(M) {
  text <- tryCatch(manifold_label(M), error = function(e) NULL, warning = function(w) NULL)
  if (is.character(text) && length(text) == 1 && !is.na(text)) text else "a manifold"
}

manifold_label <- function(M) UseMethod("manifold_label")
#' @export
manifold_label.default <- function(M) M$name
