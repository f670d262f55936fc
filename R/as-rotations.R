# Quaternions, rotation vectors and Euler angles as rotations: as_mf_points() of rotations(). Each record by itself.

#' @export
read_points.riemdp_rotations <- function(M, x, how) {
  check_unused(how, "template")
  n <- mf_facts(M)$rows
  if (inherits(x, c("SO3", "Q4"))) return(read_rotation_class(x, how, n))
  if (n == 2 && length(dim(x)) < 3 && !(is.matrix(x) && ncol(x) == 2) && (is.numeric(x) || is.data.frame(x))) {
    read <- read_angles(x, how, 1)
    read$rows <- cbind(read$rows, -read$rows[, 2], read$rows[, 1])
    return(read)
  }
  table <- n == 3 && is_table(x)
  if (table && identical(dim(x), c(3L, 3L)) && is.null(how$layout)) table <- FALSE # a rotation
  if (!table || !ncol(x) %in% c(3, 4, 9)) return(read_points.default(M, x, how))
  read_rotation_table(table_rows(x), how)
}

# a row each: the number of columns says what there can be, the layout what there is
read_rotation_table <- function(read, how) {
  x <- read$rows
  if (is.null(how$layout)) {
    abort_riemdp("argument", paste("`layout` must say what rows are: quaternions \"wxyz\" or \"xyzw\"; rotation",
                                   "vectors \"axis\"; Euler angles, e.g. \"intrinsic zyx\"; matrices by \"columns\" or",
                                   "\"rows\"."))
  }
  if (ncol(x) != 3) check_unused(how, "units")
  read$rows <- if (ncol(x) == 9) {
    by_rows <- check_choice(how$layout, "layout", c("columns", "rows")) == "rows"
    x[, if (by_rows) c(1, 4, 7, 2, 5, 8, 3, 6, 9) else 1:9, drop = FALSE]
  } else if (ncol(x) == 4) {
    rotation_from_quaternion(x, check_choice(how$layout, "layout", c("wxyz", "xyzw")))
  } else if (identical(how$layout, "axis")) {
    rotation_from_axis(x, angle_units(how))
  } else {
    rotation_from_euler(x, angle_units(how), how$layout)
  }
  if (ncol(x) == 3) read$hint <- " (an angle beyond a turn? Are `units` right?)"
  read
}

# of package rotations: matrices by columns, and quaternions with the real part first, in rows
read_rotation_class <- function(x, how, n) {
  check_unused(how, c("units", "layout"))
  columns <- if (inherits(x, "Q4")) 4 else 9
  x <- unclass(x)
  if (n != 3 || !is.numeric(x) || length(x) %% columns != 0 || !(is.null(dim(x)) || NCOL(x) == columns)) {
    abort_form("an SO3 or Q4 object as package rotations makes it, for rotations(3)")
  }
  x <- matrix(as.double(x), ncol = columns)
  list(rows = if (columns == 4) rotation_from_quaternion(x, "wxyz") else x)
}

# Quaternions whose length is within a hundredth of 1, scaled; others have no rotation.
rotation_from_quaternion <- function(x, order) {
  if (order == "xyzw") x <- x[, c(4, 1, 2, 3), drop = FALSE]
  size <- sqrt(rowSums(x^2))
  x[!(abs(size - 1) <= 0.01), ] <- NA
  quaternion_rows(x / size)
}

# of unit quaternions, real part first, the rotations' matrices by columns
quaternion_rows <- function(q) {
  w <- q[, 1]
  a <- q[, 2]
  b <- q[, 3]
  c <- q[, 4]
  cbind(1 - 2 * (b^2 + c^2), 2 * (a * b + w * c), 2 * (a * c - w * b),
        2 * (a * b - w * c), 1 - 2 * (a^2 + c^2), 2 * (b * c + w * a),
        2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a^2 + b^2))
}

rotation_from_axis <- function(x, units) {
  angle <- sqrt(rowSums(x^2))
  half <- half_turns(angle, units)
  quaternion_rows(cbind(half[, 1], x / ifelse(angle > 0, angle, 1) * half[, 2]))
}

# Columns turn in their order: about axes that turn along (intrinsic) or stay (extrinsic).
rotation_from_euler <- function(x, units, layout) {
  if (!is_string(layout) || !grepl("^(in|ex)trinsic [xyz]{3}$", layout) || grepl("xx|yy|zz", layout)) {
    abort_riemdp("argument", paste("`layout` of three columns must be \"axis\", or name what Euler angles turn about,",
                                   "e.g. \"intrinsic zyx\" or \"extrinsic xyz\": three axes, none twice in a row."))
  }
  axes <- strsplit(sub("^.* ", "", layout), "")[[1]]
  turns <- lapply(1:3, function(j) {
    half <- half_turns(x[, j], units)
    cbind(half[, 1], outer(half[, 2], as.double(c("x", "y", "z") == axes[j])))
  })
  if (startsWith(layout, "ex")) turns <- rev(turns)
  quaternion_rows(quaternion_product(quaternion_product(turns[[1]], turns[[2]]), turns[[3]]))
}

# cosine and sine of half an angle; none where that is beyond a turn
half_turns <- function(a, units) unit_circle(a / 2, units, 1 / 2)

quaternion_product <- function(p, q) {
  cbind(p[, 1] * q[, 1] - p[, 2] * q[, 2] - p[, 3] * q[, 3] - p[, 4] * q[, 4],
        p[, 1] * q[, 2] + p[, 2] * q[, 1] + p[, 3] * q[, 4] - p[, 4] * q[, 3],
        p[, 1] * q[, 3] - p[, 2] * q[, 4] + p[, 3] * q[, 1] + p[, 4] * q[, 2],
        p[, 1] * q[, 4] + p[, 2] * q[, 3] - p[, 3] * q[, 2] + p[, 4] * q[, 1])
}
