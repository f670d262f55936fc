#' Rotations and rigid motions
#'
#' `rotations()` is SO(n), the n x n orthogonal matrices with determinant 1, with the metric \eqn{\mathrm{tr}(U'V)/2}:
#' in the plane and in space the distance of two rotations is the angle, in radians, of the one that leads from one to
#' the other. Turning all records, before or after themselves, changes no distance. Records are n x n x N arrays;
#' `as_rotations()` makes them of quaternions, rotation vectors and Euler angles. `rigid()` is the product of rotations
#' and shifts, see [product()].
#'
#' Geodesics are \eqn{P\exp(tA)}, A skew. For n = 3 everything goes by unit quaternions q and -q, which are the same
#' rotation: curvature is 1/4, the injectivity radius and the diameter are \eqn{\pi}, and the logarithm is undefined at
#' rotations by \eqn{\pi} only. These are lines of \eqn{R^4} with distances doubled, [grassmann()], and what is proven
#' there holds: Laplace, staircase and normal laws are drawn exactly, and a private mean's ball may have any radius below
#' \eqn{\pi/2}. [mf_coords()] of a tangent vector at P is the rotation vector of the turn that follows P. n = 2 is a
#' circle. For more dimensions curvature lies in \eqn{[0, 1/2]}, the injectivity radius is \eqn{\pi}, logarithms are
#' found as on [stiefel()], and private balls have radii up to 40 degrees (.70), where the bounds of rounding errors
#' end; of laws around the mean the heat kernel alone can be drawn there, wrapped ones can. Proofs:
#' `proofs/geometry.md` of the installed package.
#'
#' A matrix of determinant -1 is no rotation: a private call counts it by the rule that `invalid` names. [mf_project()]
#' gives the nearest rotation. Random rotations of [mf_random()] are uniform.
#'
#' **Rigid motions** are pairs of a rotation and a shift, parts `"rotation"` and `"shift"`, with \eqn{d^2 =
#' \mathrm{angle}^2 + |\mathrm{shift}|^2/\mathrm{scale}^2}. Shifts are those of the public origin in which they are
#' written: moving that origin changes distances, turning the axes doesn't.
#'
#' **Converters** go record by record. What is no rotation (a missing or infinite number; a quaternion whose length
#' isn't within a hundredth of 1, all others are scaled) becomes a matrix of NA, which [mf_is_point()] tells and a
#' private call counts by its public rule. With `units = "radians"` angles beyond a whole turn are taken as they are,
#' with a warning: they are likely degrees. Give `units` and `order` from what is known of the file, not from the
#' numbers.
#'
#' @param n dimension of the space that is turned, 2 or more; n^2 at most 1e7.
#' @param scale how long a shift is that counts as much as an angle of one radian, in the units of the shifts.
#' @param x n x 4 quaternions or n x 3 rotation vectors or Euler angles, records in rows, a vector for one; or an object
#'   of class `SO3` or `Q4` of the package rotations.
#' @param from what `x` holds: `"quaternion"`; `"axis"`, rotation vectors, the axis times the angle; or `"euler"`. Not
#'   for classes.
#' @param units of angles, `"radians"` or `"degrees"`.
#' @param order of quaternions `"wxyz"` or `"xyzw"`, w the real part. Of Euler angles a word and three axes, in the
#'   order of the columns: `"intrinsic zyx"` turns about z, then about the turned y, then about the twice turned x,
#'   \eqn{R_zR_yR_x}; `"extrinsic xyz"` about axes that stay, \eqn{R_zR_yR_x} of columns x, y, z.
#' @return `rotations()` and `rigid()` a manifold object; `as_rotations()` a 3 x 3 x N array, a matrix for a vector.
#' @section Errors:
#' `riemdp_error_argument` for what `units` and `order` must name, `riemdp_error_shape` for another number of columns.
#' @references
#' Moakher, M. (2002). Means and averaging in the group of rotations. *SIAM Journal on Matrix Analysis and Applications*
#' 24, 1-16. \doi{10.1137/S0895479801383877}
#'
#' Stanfill, B., Hofmann, H. and Genschel, U. (2014). rotations: An R Package for SO(3) Data. *The R Journal* 6, 68-78.
#' \doi{10.32614/RJ-2014-007}
#' @seealso [stiefel()] for frames, [grassmann()] for subspaces
#' @examples
#' M <- rotations(3)
#' x <- as_rotations(cbind(0, 0, c(10, 20, 90)), from = "axis", units = "degrees")
#' mf_dist(M, x[, , 1], x) * 180 / pi
#' mean <- frechet_mean(x, M)$mean
#' mf_coords(M, diag(3), mf_log(M, diag(3), mean)) * 180 / pi
#' mf_facts(rigid(3, scale = 0.5))$injectivity_radius
#' @export
rotations <- function(n) {
  n <- check_count(n, "n", least = 2, most = 1e5)
  check_frame(n, n)
  M <- new_manifold(if (n < 4) "rotations" else "rotations_frames", n, "riemdp_rotations")
  if (n == 3) scaled(M, 4, "rotations SO(3)") else M # its table measures half the angle
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

#' @rdname rotations
#' @export
as_rotations <- function(x, from = NULL, units = NULL, order = NULL) {
  if (inherits(x, c("SO3", "Q4"))) {
    if (!is.null(c(from, units, order))) {
      abort_riemdp("argument", "objects of class SO3 and Q4 say what they hold: nothing else is to be given.")
    }
    return(rotation_from_class(x))
  }
  from <- check_choice(from, "from", c("quaternion", "axis", "euler"))
  rows <- rotation_rows(x, if (from == "quaternion") 4 else 3)
  out <- if (from == "quaternion") {
    if (!is.null(units)) abort_riemdp("argument", "quaternions have no `units`.")
    rotation_from_quaternion(rows, order)
  } else {
    if (from == "axis" && !is.null(order)) abort_riemdp("argument", "rotation vectors have no `order`.")
    units <- check_choice(units, "units", c("radians", "degrees"))
    if (units == "radians" && isTRUE(any(abs(rows) > 2 * pi + 1e-6 & is.finite(rows)))) {
      warning(structure(class = c("riemdp_warning_units", "warning", "condition"), list(
        message = "some angles are beyond a whole turn: `units` says radians, these may be degrees.", call = NULL)))
    }
    if (from == "axis") rotation_from_axis(rows, units) else rotation_from_euler(rows, units, order)
  }
  if (is.null(dim(x))) matrix(out, 3) else out
}

# records in rows, and whole numbers as doubles
rotation_rows <- function(x, columns) {
  ok <- is.numeric(x) && if (is.null(dim(x))) length(x) == columns else is.matrix(x) && ncol(x) == columns
  if (!ok) {
    abort_riemdp("shape", sprintf("`x` must be a numeric matrix of %1$d columns, a row a record, or %1$d numbers.",
                                  columns))
  }
  matrix(as.double(x), ncol = columns)
}

# Records in rows to 3 x 3 x N arrays, each row by itself; NA where it is no rotation.
rotation_from_quaternion <- function(x, order) {
  order <- check_choice(order, "order", c("wxyz", "xyzw"))
  if (order == "xyzw") x <- x[, c(4, 1, 2, 3), drop = FALSE]
  size <- sqrt(rowSums(x^2))
  x[!is.finite(size) | abs(size - 1) > 0.01, ] <- NA
  x <- x / size
  w <- x[, 1]
  v <- x[, -1, drop = FALSE]
  rotation_rows_of(w, v)
}

# of unit quaternions (w, v)
rotation_rows_of <- function(w, v) {
  a <- v[, 1]
  b <- v[, 2]
  c <- v[, 3]
  rows <- rbind(1 - 2 * (b^2 + c^2), 2 * (a * b + w * c), 2 * (a * c - w * b),
                2 * (a * b - w * c), 1 - 2 * (a^2 + c^2), 2 * (b * c + w * a),
                2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a^2 + b^2))
  array(rows, c(3, 3, length(w)))
}

rotation_from_axis <- function(x, units) {
  x <- angle_radians(x, units)
  half <- sqrt(rowSums(x^2)) / 2
  rotation_rows_of(cos(half), x / 2 * ifelse(half > 0, sin(half) / half, 1))
}

rotation_from_euler <- function(x, units, order) {
  axes <- if (is_string(order)) strsplit(sub("^(in|ex)trinsic ", "", order), "")[[1]]
  if (!is_string(order) || !grepl("^(in|ex)trinsic [xyz]{3}$", order) || any(axes[-1] == axes[-3])) {
    abort_riemdp("argument", paste("`order` must name what Euler angles turn about, e.g. \"intrinsic zyx\" or",
                                   "\"extrinsic xyz\": three axes, none twice in a row."))
  }
  half <- angle_radians(x, units) / 2
  turns <- lapply(1:3, function(j) cbind(cos(half[, j]), outer(sin(half[, j]), as.double(c("x", "y", "z") == axes[j]))))
  if (startsWith(order, "ex")) turns <- rev(turns)
  q <- quaternion_product(quaternion_product(turns[[1]], turns[[2]]), turns[[3]])
  rotation_rows_of(q[, 1], q[, -1, drop = FALSE])
}

quaternion_product <- function(p, q) {
  cbind(p[, 1] * q[, 1] - p[, 2] * q[, 2] - p[, 3] * q[, 3] - p[, 4] * q[, 4],
        p[, 1] * q[, 2] + p[, 2] * q[, 1] + p[, 3] * q[, 4] - p[, 4] * q[, 3],
        p[, 1] * q[, 3] - p[, 2] * q[, 4] + p[, 3] * q[, 1] + p[, 4] * q[, 2],
        p[, 1] * q[, 4] + p[, 2] * q[, 3] - p[, 3] * q[, 2] + p[, 4] * q[, 1])
}

# with NA for what is no angle, of the whole record
angle_radians <- function(x, units) {
  units <- check_choice(units, "units", c("radians", "degrees"))
  x[!is.finite(rowSums(x)), ] <- NA
  if (units == "degrees") x * (pi / 180) else x
}

# of the package rotations: matrices by columns in rows, and quaternions with the real part first
rotation_from_class <- function(x) {
  four <- inherits(x, "Q4")
  x <- rotation_rows(if (length(dim(x)) == 2) unclass(x) else as.vector(unclass(x)), if (four) 4 else 9)
  if (four) rotation_from_quaternion(x, "wxyz") else array(t(x), c(3, 3, nrow(x)))
}
