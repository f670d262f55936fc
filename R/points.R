# One vector class of points: an integer vector that names rows of its attribute "rows", an n x ambient double matrix, with
# attribute "manifold". An integer of the right length is what data frames, rbind() and the C code of model.frame() take as a
# column, and any code that subsets the integers and keeps the attributes stays right. So does code that puts the attributes of
# the whole column on our own subset of it, as model.frame() does after `na.action`: a subset keeps its integers, drops the rows
# that are not referred to, and says in the attribute "id" of "rows" which integers (increasing) the rest answers to; without
# that they are row numbers. Tangent vectors that belong to such points have class c("mf_tangents", "mf_points").

#' Points as a vector
#'
#' A vector class of points on a manifold: its length is the number of records, so points can be a column of a data frame, the
#' left side of a formula, and go through [subset()], [merge()], [rbind()] and [model.frame()]. Every function that takes
#' points takes this form as well as the plain ones.
#'
#' @param x records in any shape that functions on `M` accept; checked.
#' @param M a manifold.
#' @return An object of class `mf_points`. [as.matrix()] gives its n x m matrix of stored numbers (matrices by columns, complex
#'   landmarks as real, imaginary, ...), `as.array()` the plain shape of the manifold: a matrix with records as rows, a
#'   k x k x n or n x p x N array, or a complex k x n matrix.
#' @examples
#' M <- spd(2)
#' y <- mf_points(wishart_spd[, , 1:4], M)
#' d <- data.frame(dose = c(1, 1, 2, 2))
#' d$y <- y
#' subset(d, dose == 2)
#' frechet_mean(d$y, M)$mean
#' as.array(y[1:2])
#' @export
mf_points <- function(x, M) {
  check_manifold(M)
  if (inherits(x, "mf_points")) {
    return(mf_check(M, x))
  }
  if (is.data.frame(x)) x <- data_frame_matrix(x)
  mf_check(M, x)
  new_points(storage_rows(x, M), M)
}

new_points <- function(rows, M, tangent = FALSE) {
  dimnames(rows) <- NULL
  structure(seq_len(nrow(rows)), rows = rows, manifold = M, class = c(if (tangent) "mf_tangents", "mf_points"))
}

# any accepted plain shape -> n x ambient matrix
storage_rows <- function(x, M) {
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$cols == 0) {
    x <- mf_project(M, x)
    if (!is.complex(x)) {
      planar <- array(x, c(facts$rows, 2, length(x) / (2 * facts$rows)))
      x <- matrix(complex(real = planar[, 1, ], imaginary = planar[, 2, ]), facts$rows)
    }
    x <- matrix(x, facts$rows)
    out <- matrix(0, ncol(x), facts$ambient)
    out[, seq(1, facts$ambient, 2)] <- t(Re(x))
    out[, seq(2, facts$ambient, 2)] <- t(Im(x))
    return(out)
  }
  if (facts$rows > 0) {
    return(t(matrix(as.double(x), facts$ambient)))
  }
  if (is.matrix(x)) {
    storage.mode(x) <- "double"
    return(unname(x))
  }
  matrix(as.double(x), ncol = facts$ambient)
}

#' @export
as.array.mf_points <- function(x, ...) {
  M <- attr(x, "manifold")
  facts <- mf_facts(M)
  rows <- as.matrix(x)
  if (facts$rows > 0 && facts$cols == 0) {
    odd <- seq(1, facts$ambient, 2)
    return(t(matrix(complex(real = rows[, odd], imaginary = rows[, odd + 1]), nrow(rows))))
  }
  if (facts$rows > 0) {
    return(array(t(rows), c(facts$rows, facts$cols, nrow(rows))))
  }
  rows
}

#' @export
as.matrix.mf_points <- function(x, ...) {
  rows <- attr(x, "rows")
  i <- row_numbers(x)
  attr(rows, "id") <- NULL
  rows[i, , drop = FALSE]
}

row_numbers <- function(x) {
  rows <- attr(x, "rows")
  i <- unclass(x)
  ok <- is.integer(i) && is.matrix(rows) && is.double(rows)
  id <- attr(rows, "id")
  if (ok && !is.null(id)) {
    ok <- is.integer(id) && length(id) == nrow(rows) && !anyNA(id) && !is.unsorted(id, strictly = TRUE)
    found <- if (ok) match(i, id, incomparables = NA)
    ok <- ok && !any(is.na(found) & !is.na(i))
    i <- found
  }
  if (!ok || any(i < 1 | i > nrow(rows), na.rm = TRUE)) {
    abort_riemdp("shape", "points must be as mf_points() makes them.")
  }
  as.integer(i)
}

#' @export
`[.mf_points` <- function(x, i, ...) {
  if (missing(i)) {
    return(x)
  }
  named <- as.vector(unclass(x))[i]
  rows <- as.matrix(x)[i, , drop = FALSE]
  out <- new_points(rows, attr(x, "manifold"), inherits(x, "mf_tangents"))
  if (!identical(named, seq_along(named))) {
    id <- sort(unique(named))
    kept <- rows[match(id, named), , drop = FALSE]
    attr(kept, "id") <- id
    out <- structure(named, rows = kept, manifold = attr(x, "manifold"), class = class(out))
  }
  out
}

#' @export
`[[.mf_points` <- function(x, i, ...) x[i]

#' @export
`[<-.mf_points` <- function(x, i, ..., value) {
  rows <- as.matrix(x)
  new <- if (inherits(value, "mf_points")) {
    check_same_manifold(list(x, value))
    as.matrix(value)
  } else if (length(value) == 1 && is.na(value)) {
    matrix(NA_real_, 1, ncol(rows))
  } else {
    as.matrix(mf_points(value, attr(x, "manifold")))
  }
  at <- seq_len(nrow(rows))
  if (!missing(i)) {
    if (is.numeric(i) && any(i > nrow(rows), na.rm = TRUE)) { # assignment beyond the end makes a vector longer
      rows <- rbind(rows, matrix(NA_real_, max(i) - nrow(rows), ncol(rows)))
    }
    at <- seq_len(nrow(rows))[i]
  }
  rows[at, ] <- new[rep_len(seq_len(nrow(new)), length(at)), ]
  new_points(rows, attr(x, "manifold"), inherits(x, "mf_tangents"))
}

#' @export
`length<-.mf_points` <- function(x, value) x[seq_len(value)]

check_same_manifold <- function(parts) {
  first <- attr(parts[[1]], "manifold")
  same <- vapply(parts, function(p) inherits(p, "mf_points") && identical(attr(p, "manifold"), first), logical(1))
  if (!all(same)) {
    abort_riemdp("shape", "only points of the same manifold can be put together.")
  }
  first
}

#' @export
c.mf_points <- function(...) {
  parts <- list(...)
  parts <- parts[!vapply(parts, is.null, logical(1))]
  M <- check_same_manifold(parts)
  new_points(do.call(rbind, lapply(parts, as.matrix)), M, inherits(parts[[1]], "mf_tangents"))
}

#' @export
rbind.mf_points <- function(..., deparse.level = 1) c.mf_points(...)

#' @export
rep.mf_points <- function(x, ...) x[rep(seq_len(length(x)), ...)]

#' @export
rev.mf_points <- function(x) x[rev(seq_len(length(x)))]

#' @export
unique.mf_points <- function(x, ...) x[!duplicated(as.matrix(x))]

#' @export
is.na.mf_points <- function(x) rowSums(is.na(as.matrix(x))) > 0

#' @export
anyNA.mf_points <- function(x, recursive = FALSE) anyNA(as.matrix(x))

#' @export
format.mf_points <- function(x, digits = 3, ...) {
  rows <- as.matrix(x)
  shown <- min(4, ncol(rows))
  if (nrow(rows) == 0) {
    return(character())
  }
  text <- apply(formatC(rows[, seq_len(shown), drop = FALSE], digits = digits, format = "g"), 1, function(r) {
    paste(trimws(r), collapse = ", ")
  })
  out <- paste0("(", text, if (ncol(rows) > shown) ", ...", ")")
  out[is.na(x)] <- NA
  out
}

#' @export
as.character.mf_points <- function(x, ...) format(x, ...)

#' @export
print.mf_points <- function(x, n = 6, ...) {
  cat(sprintf("<mf_points> %d %s on %s\n", length(x),
              if (inherits(x, "mf_tangents")) "tangent vectors" else if (length(x) == 1) "point" else "points",
              label_manifold(attr(x, "manifold"))))
  shown <- min(n, length(x))
  if (shown > 0) cat(paste0("  ", format(x[seq_len(shown)])), sep = "\n")
  if (length(x) > shown) cat(sprintf("  ... and %d more\n", length(x) - shown))
  invisible(x)
}

#' @export
summary.mf_points <- function(object, ...) {
  structure(list(manifold = attr(object, "manifold"), n = length(object), missing = sum(is.na(object))),
            class = "summary.mf_points")
}

#' @export
print.summary.mf_points <- function(x, ...) {
  cat(sprintf("%d records on %s, %d missing\n", x$n, label_manifold(x$manifold), x$missing))
  invisible(x)
}

#' @export
format.summary.mf_points <- function(x, ...) c(n = as.character(x$n), missing = as.character(x$missing))

#' @export
str.mf_points <- function(object, ...) {
  cat(sprintf(" mf_points [1:%d] on %s\n", length(object), label_manifold(attr(object, "manifold"))))
}

#' @export
as.data.frame.mf_points <- function(x, row.names = NULL, optional = FALSE, ...,
                                    nm = paste(deparse(substitute(x), width.cutoff = 500L), collapse = " ")) {
  out <- list(x)
  if (!optional) names(out) <- nm
  attr(out, "row.names") <- if (is.null(row.names)) .set_row_names(length(x)) else row.names
  class(out) <- "data.frame"
  out
}

#' Random points and tangent vectors
#'
#' Draws that follow [set.seed()], like [rnorm()]. For data, examples and tests; private noise never comes from here.
#'
#' @param M a manifold. Its help page states the law of its random points: uniform where the manifold is compact, exp of a
#'   Gaussian tangent vector at the reference point elsewhere, standard normal on [euclidean()].
#' @param n number of draws.
#' @param sd standard deviation of each orthonormal coordinate of the tangent vector.
#' @param p a point, or n points.
#' @return `mf_random()`: n points in the plain shape of the manifold. `mf_random_tangent()`: n tangent vectors at `p`, Gaussian
#'   and isotropic.
#' @examples
#' set.seed(1)
#' mf_random(sphere(2), 3)
#' x <- mf_random(spd(2), 1000, sd = 0.3)
#' mf_random_tangent(sphere(2), c(0, 0, 1), 2)
#' @export
mf_random <- function(M, n, sd = 1) {
  check_manifold(M)
  n <- check_count(n, "n", least = 0, most = 1e8)
  sd <- check_number(sd, "sd", positive = TRUE)
  facts <- mf_facts(M)
  if (n * facts$ambient > .Machine$integer.max) {
    abort_riemdp("argument", "`n` is too large: so many points don't fit into one array.")
  }
  if (inherits(M, "mf_custom")) {
    if (is.null(M$functions$random)) {
      abort_riemdp("unsupported", "this manifold has no law of random points: give manifold_custom() a `random` function.")
    }
    return(M$functions$random(n))
  }
  normal <- stats::rnorm(n * facts$ambient)
  switch(M$name,
    euclidean = if (facts$ambient == 1) sd * normal else matrix(sd * normal, n),
    sphere = mf_project(M, matrix(normal, n)),
    stiefel_euclidean = , stiefel_canonical = , grassmann = mf_project(M, array(normal, c(facts$rows, facts$cols, n))),
    kendall = mf_project(M, matrix(complex(real = normal[seq_len(n * facts$rows)],
                                           imaginary = normal[n * facts$rows + seq_len(n * facts$rows)]), facts$rows)),
    {
      base <- if (inherits(M, "mf_spd")) spd(M$param, "affine") else M
      origin <- .Call(riemdp_origin, base)
      mf_exp(base, origin, mf_random_tangent(base, origin, n, sd))
    }
  )
}

#' @rdname mf_random
#' @export
mf_random_tangent <- function(M, p, n = NULL, sd = 1) {
  d <- mf_facts(check_manifold(M))$dimension
  if (is.null(n)) n <- .Call(riemdp_count, M, p)
  n <- check_count(n, "n", least = 0, most = 1e8)
  mf_from_coords(M, p, matrix(stats::rnorm(n * d, sd = check_number(sd, "sd", positive = TRUE)), n, d))
}
