# Records in the forms in which other programs hold them, as points: angles, places on a globe, tables of landmarks,
# halves of symmetric matrices, lists. Each record by itself: what can't be converted is that record's missing value.

#' Points from what one has in hand
#'
#' Makes [mf_points()] of records in forms that other programs and packages use: latitudes and longitudes, angles,
#' landmarks in tables, files and arrays, halves of symmetric matrices, lists of matrices. Each record is converted by
#' itself, by a public rule: nothing of one record depends on another one, so private functions keep their promise about
#' rows when they are given the result.
#'
#' Which forms are known, besides the plain ones of [geometry] and lists of single points:
#' * [sphere()] of two dimensions: places on a globe, in a data frame or matrix with two columns. Columns are known by
#'   their names (`lat`, `latitude`, `lon`, `lng`, `long`, `longitude`), or by `layout = "latlong"` or `"longlat"`;
#'   `units` must be said. Points of package sf (a geometry column, or a table with one) in geographical coordinates,
#'   which are degrees. North is (0, 0, 1), longitude 0 on the equator (1, 0, 0).
#' * `sphere(1)`: angles, whose `units` must be said; objects of package circular, whose units, zero and direction are
#'   theirs. [torus()]: a matrix or data frame of angles, a column for each circle.
#' * [kendall()]: arrays p x 2 x n of landmarks as packages geomorph, Morpho and shapes hold them; a table with a row a
#'   record, `layout = "xyxy"` (x1, y1, x2, y2, ...) or `"xxyy"` (all x first); what [read_tps()] gives. Records that
#'   have been superimposed together (`gpagen()`, `procSym()`) are refused: projecting them at their mean, and sliding
#'   landmarks, make each depend on all. Raw landmarks will do, since shapes need no superimposition, and
#'   [slide_landmarks()] slides each record by itself. In space, `kendall(k, m = 3)`: arrays p x 3 x n; tables with
#'   `layout = "xyzxyz"` or `"xxyyzz"`.
#' * [spd()]: a table with k(k + 1)/2 columns, or an array whose last dimension has as many, as images of diffusion
#'   tensors have: `layout = "lower"` is the lower triangle by columns (xx, xy, xz, yy, yz, zz), `"upper"` the upper
#'   triangle by columns (xx, xy, yy, xz, yz, zz; so do NIfTI files that say they hold symmetric matrices, read by
#'   package RNifti or oro.nifti), `"diagonal"` the diagonal before the rest by columns (xx, yy, zz, xy, xz, yz). Lists
#'   of matrices, as [cov()] makes them.
#'   [psd()]: the same, of the rank that the space has; factors as they are.
#' * [hermitian_spd()]: lists and arrays of complex matrices, or real ones; a table with k^2 columns, each number off
#'   the diagonal as its real and its imaginary part: `layout = "lower"` is the lower triangle by columns, `"rows"` the
#'   upper triangle by rows, as radar software has them (T11, T12_real, T12_imag, T13_real, ..., T22, ...).
#' * [correlation()]: tables and arrays as for `spd()` with k(k - 1)/2 columns, without the diagonal, `"lower"` or
#'   `"upper"`; lists as [cor()] makes them. [simplex()]: tables of counts or shares, objects of package compositions.
#' * `rotations(3)`: tables of quaternions, `layout = "wxyz"` or `"xyzw"`, w the real part (their length must be within
#'   a hundredth of 1 and is made 1); of rotation vectors, the axis times the angle, `layout = "axis"`; of Euler angles
#'   in the order of the turns, `layout = "intrinsic zyx"` (about z, then about the turned y, then about the turned
#'   x: \eqn{R_zR_yR_x}) or, about axes that stay, `"extrinsic xyz"` (the same matrix of columns x, y, z), or any other
#'   axes; of matrices by `"columns"` or `"rows"`. Angles need `units`. Objects of class `SO3` and `Q4` of package
#'   rotations. `rotations(2)`: angles.
#' * [product()]: a list with what each part takes; `units`, `layout` and `template` are lists by the parts' names or
#'   numbers then. [oblique()]: an n x k x N array.
#'
#' Angles in radians beyond a turn are most often degrees: such a record has no point, nor has a latitude beyond a right
#' angle.
#'
#' @param x records in one of these forms.
#' @param M a manifold.
#' @param units `"degrees"` or `"radians"`, of angles. There is no default: degrees that are taken for radians are
#'   points as well, and the wrong ones.
#' @param layout the order of numbers in a row, see above.
#' @param template for [kendall()]: public landmarks, k x 2 (in space k x 3) or a complex vector. A record's missing
#'   landmarks are put where the thin-plate spline that takes the template's other landmarks to the record's takes them:
#'   a function of that record and the template.
#' @param invalid what happens to a record that is no point: `"error"`, an error that gives its number, or
#'   `"missing"`, a missing point, which private functions with `invalid = "center"` count as the centre of the ball.
#' @return An [mf_points()] vector, one point a record, with the records' names where they have any.
#' @section Errors:
#' `riemdp_error_argument` where `units` or `layout` are missing or have no use, `riemdp_error_shape` for a form that
#' isn't known, `riemdp_error_off_manifold` for a record that is no point, `riemdp_error_unsupported` for records that
#' depend on each other.
#' @references Bookstein, F. L. (1989). Principal warps: thin-plate splines and the decomposition of deformations. *IEEE
#'   Transactions on Pattern Analysis and Machine Intelligence* 11, 567-585. \doi{10.1109/34.24792}
#' @seealso [rows_to_points()] for tables in the order in which points are stored, [read_tps()], [slide_landmarks()],
#'   [mf_join()]
#' @examples
#' towns <- data.frame(lat = c(60.2, 48.9, 41.9), lon = c(24.9, 2.4, 12.5))
#' as_mf_points(towns, sphere(2), units = "degrees")
#' as_mf_points(c(10, 350, 20), sphere(1), units = "degrees")
#' # tensors as images hold them: xx, xy, xz, yy, yz, zz
#' as_mf_points(rbind(c(2, 0.1, 0, 1, 0, 1), c(1, 0, 0.2, 3, 0, 1)), spd(3), layout = "lower")
#' # a landmark that could not be seen
#' x <- cbind(c(0, 1, 1, 0, 0.5), c(0, 0, 1, NA, 2))
#' square <- cbind(c(0, 1, 1, 0, 0.5), c(0, 0, 1, 1, 1.5))
#' as_mf_points(list(x), kendall(5), template = square)
#' @export
as_mf_points <- function(x, M, units = NULL, layout = NULL, template = NULL, invalid = c("error", "missing")) {
  mf_facts(M)
  invalid <- check_choice(invalid, "invalid", c("error", "missing"))
  read <- read_points(M, x, list(units = units, layout = layout, template = template))
  rows <- read$rows
  bad <- rowSums(!is.finite(rows)) > 0
  bad[!bad] <- !mf_is_point(M, new_points(rows[!bad, , drop = FALSE], M))
  if (invalid == "error" && any(bad)) {
    abort_riemdp("off_manifold", sprintf(
      "record %d is no point of %s%s. `invalid = \"missing\"` makes such records missing.", which(bad)[1],
      label_manifold(M), read$hint %||% ""
    ))
  }
  rows[bad, ] <- NA
  representatives(M, new_points(rows, M, names = read$names))
}

# list(rows, n x ambient numbers with NA where there is no number, names, hint): what records that are no points may be
read_points <- function(M, x, how) UseMethod("read_points")

#' @export
read_points.default <- function(M, x, how) {
  check_unused(how, c("units", "layout", "template"))
  facts <- mf_facts(M)
  plain_rows(x, if (facts$rows > 0) c(facts$rows, facts$cols) else facts$ambient)
}

#' @export
read_points.riemdp_scaled <- function(M, x, how) read_points(M$parts[[1]], x, how)

check_unused <- function(how, names) {
  for (name in names[!vapply(how[names], is.null, NA)]) {
    abort_riemdp("argument", sprintf("`%s` has no use for records of this form on this manifold.", name))
  }
}

abort_form <- function(what) {
  abort_riemdp("shape", sprintf("`x` must be %s: see ?as_mf_points.", what))
}

abort_other_space <- function(M) {
  abort_riemdp("argument", sprintf("`x` is of another space than %s.", label_manifold(M)))
}

# Numbers of records in a plain form: a list of single points, an array with records last, a table with a row each.
# `size`: of a point, one number or the sides of a matrix.
plain_rows <- function(x, size) {
  length <- prod(size)
  if (inherits(x, "riemdp_points")) {
    rows <- unname(as.matrix(x))
    if (ncol(rows) != length) abort_form(sprintf("points of %d numbers", length))
    return(list(rows = rows, names = names(x)))
  }
  if (is.list(x) && !is.object(x)) {
    return(list(rows = matrix(vapply(x, single_numbers, numeric(length), size), ncol = length, byrow = TRUE),
                names = names(x)))
  }
  if (length(size) == 2) matrix_rows(x, size) else vector_rows(x, length)
}

matrix_rows <- function(x, size) {
  d <- dim(x)
  if (!is.numeric(x) || is.object(x) || !length(d) %in% 2:3 || any(d[1:2] != size)) {
    abort_form(sprintf("%d x %d matrices, an array of them or a list", size[1], size[2]))
  }
  list(rows = matrix(as.double(x), ncol = prod(size), byrow = TRUE), names = dimnames(x)[3][[1]])
}

vector_rows <- function(x, length) {
  if (is_table(x) && ncol(x) == length) return(table_rows(x))
  if (is.numeric(x) && !is.object(x) && is.null(dim(x)) && (length == 1 || length(x) == length)) {
    return(list(rows = matrix(as.double(x), ncol = length), names = if (length == 1) names(x)))
  }
  abort_form(sprintf("records of %d numbers, a row each", length))
}

# of one element of a list; none where it isn't a point's shape
single_numbers <- function(p, size) {
  fits <- !is.object(p) && length(p) == prod(size) && (length(size) == 1 || identical(dim(p), as.integer(size)))
  if (fits) number_cells(as.vector(p)) else rep(NA_real_, prod(size))
}

is_table <- function(x) {
  if (is.data.frame(x)) return(all(vapply(x, function(v) is.null(dim(v)) && length(v) == nrow(x), NA)))
  is.matrix(x) && is.numeric(x) && !is.object(x)
}

# a row each; cells by themselves
table_rows <- function(x) {
  names <- if (!is.data.frame(x) || is.character(attr(x, "row.names"))) rownames(x)
  rows <- if (is.data.frame(x)) vapply(x, number_cells, numeric(nrow(x))) else as.double(x)
  list(rows = unname(matrix(rows, nrow(x), ncol(x))), names = names)
}

# ---- angles and places -----------------------------------------------------------------------------------------------

ANGLE_UNITS <- c("degrees", "radians")
TURN_HINT <- " (an angle beyond a turn, or a latitude beyond a right angle? Are `units` right?)"

# cosine and sine of angles in a unit, exact at right angles of degrees; none where one is beyond `most` turns
unit_circle <- function(a, units, most = 1) {
  a[!is.finite(a) | !(abs(a) <= most * if (units == "degrees") 360 else 2 * pi * (1 + 1e-9))] <- NA
  if (units == "degrees") cbind(cospi(a / 180), sinpi(a / 180)) else cbind(cos(a), sin(a))
}

angle_units <- function(how) {
  if (is.null(how$units)) {
    abort_riemdp("argument", "`units` must be said: \"degrees\" or \"radians\".")
  }
  check_choice(how$units, "units", ANGLE_UNITS)
}

# radians from the first axis, counter-clockwise, as package circular says what its numbers mean
circular_angles <- function(x) {
  how <- attr(x, "circularp")
  known <- is.list(how) && is_string(how$units) && how$units %in% c("radians", "degrees", "hours") &&
    is.numeric(x) && is.numeric(how$zero) && length(how$zero) == 1 && isTRUE(how$rotation %in% c("counter", "clock"))
  if (!known) abort_form("a circular object as package circular makes it")
  if (identical(how$modulo, "pi")) {
    abort_riemdp("unsupported", paste("directions without a sense (modulo pi) are no points of a circle: double the",
                                      "angles first."))
  }
  a <- as.double(unclass(x)) * switch(how$units, radians = 1, degrees = pi / 180, hours = pi / 12)
  how$zero + if (how$rotation == "clock") -a else a
}

#' @export
read_points.riemdp_sphere <- function(M, x, how) {
  check_unused(how, "template")
  d <- mf_facts(M)$dimension
  if (d == 1) return(read_angles(x, how, 1))
  if (d == 2 && inherits(x, c("sf", "sfc"))) return(read_sf(x, how))
  if (d == 2 && is_table(x) && ncol(x) == 2) return(read_places(x, how))
  read_points.default(M, x, how)
}

# unit vectors of so many circles, two numbers each
read_angles <- function(x, how, circles) {
  check_unused(how, c("layout", "template"))
  columns <- if (is.data.frame(x)) as.list(x) else list(x)
  if (any(vapply(columns, inherits, NA, "circular"))) {
    check_unused(how, "units")
    if (length(columns) != circles) abort_form(sprintf("angles of %d circles", circles))
    rows <- lapply(columns, function(a) unit_circle(circular_angles(a), "radians", Inf))
    return(list(rows = unname(do.call(cbind, rows))))
  }
  read <- if (is_table(x) && ncol(x) == circles) table_rows(x) else
    if (circles == 1 && is.null(dim(x)) && is.numeric(x) && !is.object(x)) {
      list(rows = matrix(as.double(x)), names = names(x))
    }
  if (is.null(read)) return(plain_rows(x, 2 * circles)) # unit vectors
  rows <- lapply(seq_len(circles), function(j) unit_circle(read$rows[, j], angle_units(how)))
  list(rows = do.call(cbind, rows), names = read$names, hint = TURN_HINT)
}

read_places <- function(x, how) {
  place <- match(tolower(colnames(x)), c("lat", "latitude", "lon", "lng", "long", "longitude"))
  named <- length(place) == 2 && !anyNA(place) && sum(place <= 2) == 1
  layout <- if (!is.null(how$layout)) check_choice(how$layout, "layout", c("latlong", "longlat")) else
    if (named) c("latlong", "longlat")[1 + (place[1] > 2)]
  if (is.null(layout)) {
    abort_riemdp("argument", paste("which column is the latitude? Name them lat and lon, or give layout =",
                                   "\"latlong\" or \"longlat\"."))
  }
  read <- table_rows(x)
  list(rows = globe_rows(read$rows, layout == "latlong", angle_units(how)), names = read$names, hint = TURN_HINT)
}

globe_rows <- function(x, latitude_first, units) {
  if (!latitude_first) x <- x[, 2:1, drop = FALSE]
  latitude <- unit_circle(x[, 1], units, 1 / 4)
  longitude <- unit_circle(x[, 2], units)
  cbind(latitude[, 1] * longitude, latitude[, 2])
}

# package sf holds points as numbers of longitude and latitude with the reference system beside
read_sf <- function(x, how) {
  check_unused(how, c("units", "layout"))
  if (inherits(x, "sf")) x <- if (is_string(attr(x, "sf_column"))) unclass(x)[[attr(x, "sf_column")]]
  system <- attr(x, "crs")
  text <- if (is.list(system)) as.character(system$wkt %||% NA) else NA
  degrees <- startsWith(text, "GEOG") && grepl("UNIT[\"degree\"", text, fixed = TRUE) &&
    grepl("PRIMEM[\"Greenwich\"", text, fixed = TRUE)
  if (!inherits(x, "sfc_POINT") || !isTRUE(degrees)) {
    abort_form("points in degrees from Greenwich and the equator, e.g. after sf::st_transform(x, 4326)")
  }
  place <- vapply(unclass(x), function(p) if (length(p) >= 2) as.double(p[1:2]) else c(NA_real_, NA), numeric(2))
  list(rows = globe_rows(matrix(place, ncol = 2, byrow = TRUE), FALSE, "degrees"), hint = TURN_HINT)
}

# ---- matrices and products -------------------------------------------------------------------------------------------

#' @export
read_points.riemdp_spd <- function(M, x, how) {
  check_unused(how, c("units", "template"))
  read_symmetric(x, as.integer(mf_facts(M)$rows), how$layout, c("lower", "upper", "diagonal"))
}

# a + ib as two numbers, which matrices and tables with a row each are made of
#' @export
read_points.riemdp_hermitian_spd <- function(M, x, how) {
  check_unused(how, c("units", "template"))
  k <- as.integer(mf_facts(M)$rows)
  if (is_table(x) && ncol(x) == k^2 && !(identical(dim(x), c(k, k)) && is.null(how$layout))) {
    return(hermitian_rows(table_rows(x), k, how$layout))
  }
  check_unused(how, "layout")
  read <- plain_rows(each_part(x, Re), c(k, k))
  other <- plain_rows(each_part(x, Im), c(k, k))
  rows <- rbind(as.vector(t(read$rows)), as.vector(t(other$rows)))
  list(rows = matrix(rows, ncol = 2 * k^2, byrow = TRUE), names = read$names)
}

hermitian_rows <- function(read, k, layout) {
  if (is.null(layout) && k > 1) {
    abort_riemdp("argument", "`layout` must say how halves are ordered: \"lower\" or \"rows\".")
  }
  below <- if (k > 1 && check_choice(layout, "layout", c("lower", "rows")) == "rows") -1 else 1 # upper ones: conjugates
  out <- array(0, c(nrow(read$rows), 2, k, k))
  at <- 0
  for (j in seq_len(k)) {
    for (i in j:k) {
      at <- at + 1
      out[, 1, i, j] <- out[, 1, j, i] <- read$rows[, at]
      if (i > j) {
        at <- at + 1
        out[, 2, i, j] <- below * read$rows[, at]
        out[, 2, j, i] <- -out[, 2, i, j]
      }
    }
  }
  list(rows = matrix(out, nrow(read$rows)), names = read$names)
}

# real or imaginary parts, of what is neither as it is
each_part <- function(x, part) {
  if (inherits(x, "riemdp_points")) x <- as.array(x)
  if (is.list(x) && !is.object(x)) return(lapply(x, each_part, part))
  if (is.object(x) || !(is.numeric(x) || is.complex(x))) x else part(x)
}

#' @export
read_points.riemdp_correlation <- function(M, x, how) {
  check_unused(how, c("units", "template"))
  read_symmetric(x, as.integer(mf_facts(M)$rows), how$layout, c("lower", "upper"))
}

# whole matrices, of which the largest eigenvalues and their vectors make factors; factors as they are
#' @export
read_points.riemdp_psd <- function(M, x, how) {
  facts <- mf_facts(M)
  k <- facts$rows
  r <- facts$cols
  if (inherits(x, "riemdp_points") || psd_factors(x, k, r)) return(read_points.default(M, x, how))
  check_unused(how, c("units", "template"))
  read <- read_symmetric(x, k, how$layout, c("lower", "upper", "diagonal"))
  read$rows <- t(apply(read$rows, 1, function(s) psd_factor(matrix(s, k), r)))
  if (!nrow(read$rows)) read$rows <- matrix(0, 0, k * r)
  c(read, hint = sprintf(" (not symmetric, or not of rank %d as far as doubles tell: 1e-8)", r))
}

psd_factors <- function(x, k, r) {
  if (is.list(x) && !is.data.frame(x) && length(x)) x <- x[[1]]
  identical(dim(x)[1:2], as.integer(c(k, r)))
}

# none where what the other eigenvalues leave isn't rounding
psd_factor <- function(s, r) {
  none <- rep(NA_real_, nrow(s) * r)
  if (!all(is.finite(s)) || max(abs(s - t(s))) > 1e-8 * max(abs(s))) return(none)
  e <- tryCatch(eigen(s, symmetric = TRUE), error = function(e) list(values = NA_real_))
  rest <- e$values[-seq_len(r)]
  if (anyNA(e$values) || !(e$values[r] > 0) || max(abs(rest)) > 1e-8 * e$values[1]) return(none)
  as.vector(e$vectors[, seq_len(r)] %*% diag(sqrt(e$values[seq_len(r)]), r))
}

# Symmetric matrices from their halves, or whole ones; an image's voxels in the order in which R stores them. Halves
# without "diagonal" among the orders have none: it is 1.
read_symmetric <- function(x, k, layout, orders) {
  whole <- "diagonal" %in% orders
  half <- k * (k + if (whole) 1 else -1) / 2
  d <- dim(x)
  image <- length(d) >= 4 && is.numeric(x) && d[length(d)] == half
  if (!image && !(is_table(x) && d[2] == half && !(identical(d, c(k, k)) && is.null(layout)))) {
    check_unused(list(layout = layout), "layout")
    return(plain_rows(x, c(k, k)))
  }
  if (is.null(layout)) {
    abort_riemdp("argument", sprintf("`layout` must say how halves are ordered: %s.",
                                     paste(dQuote(orders, FALSE), collapse = " or ")))
  }
  layout <- check_choice(layout, "layout", orders)
  read <- if (image) list(rows = matrix(as.double(x), ncol = half)) else table_rows(x)
  place <- matrix(0L, k, k)
  order <- switch(layout, lower = which(lower.tri(place, whole)), upper = which(upper.tri(place, whole)),
                  diagonal = c(which(diag(k) == 1), which(lower.tri(place))))
  place[order] <- seq_len(half)
  place <- pmax(place, t(place))
  if (!whole) diag(place) <- half + 1L
  read$rows <- cbind(read$rows, rep(1, nrow(read$rows)))[, place, drop = FALSE]
  read
}

# counts and shares as they are, and objects of package compositions; closed, and zeros raised, as on entry everywhere
#' @export
read_points.riemdp_simplex <- function(M, x, how) {
  read <- read_compositions(M, x, how)
  bad <- rowSums(!is.finite(read$rows)) > 0
  bad[!bad] <- !mf_is_point(M, read$rows[!bad, , drop = FALSE])
  read$rows[bad, ] <- NA
  if (!all(bad)) read$rows[!bad, ] <- mf_project(M, read$rows[!bad, , drop = FALSE])
  read
}

# roots of what has no negative part; of points they are taken already
#' @export
read_points.riemdp_roots <- function(M, x, how) {
  if (inherits(attr(x, "manifold"), "riemdp_roots")) return(read_points.default(M, x, how))
  read <- read_compositions(M, x, how)
  most <- do.call(pmax, as.data.frame(read$rows))
  read$rows[!(is.finite(most) & most > 0 & rowSums(read$rows < 0) == 0), ] <- NA
  share <- read$rows / most
  read$rows <- sqrt(share / rowSums(share))
  read
}

read_compositions <- function(M, x, how) {
  if (inherits(x, "riemdp_points") && !identical(attr(x, "manifold"), M)) {
    abort_other_space(M)
  }
  check_unused(how, c("units", "layout", "template"))
  if (inherits(x, c("acomp", "rcomp", "aplus", "rplus", "ccomp")) && is.numeric(x)) {
    x <- matrix(as.double(unclass(x)), ncol = if (is.matrix(x)) ncol(x) else length(x),
                dimnames = list(rownames(x), NULL))
  }
  plain_rows(x, mf_facts(M)$ambient)
}

#' @export
read_points.riemdp_product <- function(M, x, how) {
  if (is.list(x) && !is.data.frame(x) && length(x) == length(M$parts)) return(read_parts(M, x, how))
  circles <- all(vapply(M$parts, function(p) inherits(p, "riemdp_sphere") && mf_facts(p)$dimension == 1, NA))
  x <- part_columns(M, x)
  if (circles && (!is.list(x) || is.data.frame(x))) read_angles(x, how, length(M$parts)) else
    read_points.default(M, x, how)
}

# parts as columns of matrices: records in rows
part_columns <- function(M, x) {
  d <- dim(x)
  fits <- is.numeric(x) && length(d) == 3 && d[2] == length(M$parts) && prod(d[1:2]) == mf_facts(M)$ambient
  if (fits) matrix(aperm(x, c(3, 1, 2)), d[3]) else x
}

# a list with each part's form
read_parts <- function(M, x, how) {
  if (!is.null(names(M$parts)) && all(names(M$parts) %in% names(x))) x <- x[names(M$parts)]
  of <- function(given, i) {
    if (!is.list(given)) return(given)
    at <- if (is.null(names(given))) i else match(names(M$parts)[i], names(given), 0)
    if (length(at) == 1 && at %in% seq_along(given)) given[[at]]
  }
  read <- lapply(seq_along(x), function(i) read_points(M$parts[[i]], x[[i]], lapply(how, of, i)))
  counts <- vapply(read, function(r) nrow(r$rows), 0L)
  if (length(unique(counts)) > 1) abort_riemdp("shape", "the parts have different numbers of records.")
  list(rows = do.call(cbind, lapply(read, `[[`, "rows")), names = read[[1]]$names)
}
