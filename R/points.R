# One vector class of points: a character vector whose elements are the records themselves, as texts that no method
# needs to have seen, with attribute "manifold", on top of vctrs.
#
# A data frame's column meets a great deal of code that knows nothing of classes: for (), ifelse(), unlist(), match(),
# the C code of model.frame() and complete.cases(), data.table. Such code takes elements of the underlying vector for
# the values. So the underlying elements have to be the values, or points are silently mixed up:
# * row numbers into a matrix that is kept elsewhere (the first form of this class) are no values: mean() of them is a
#   number;
# * an n x m matrix is a sample of n m numbers to whoever counts by length(): unlist(), ifelse(), tapply(), lm(),
#   data.table;
# * the fields of a vctrs record are m vectors of length n, a list of length m: data.table and model.frame() count m
#   records;
# * a list of n records is refused by model.frame(), complete.cases() and as a key of data.table, and flattened by
# unlist(). Of R's atomic types one can hold a whole record in an element, the string. A text
# (src/ffi/ffi_points_vector.c) is exact, has a check, and knows its kind and manifold: an element that ends up in a
# vector of another manifold is an error and no point there. Where a class is dropped, texts are left, never numbers,
# and mf_points() and the geometry take those as the points that they are.
#
# Texts alone would be slow (2 microseconds a record to make). The vector is one of R's alternative representations: it
# holds the n x m matrix that the kernels want, and texts are made when code without knowledge of points asks for them.
# vctrs is told of the matrix (vec_proxy), so its verbs, and with them dplyr and tidyr, make none.
#
# Tangent vectors that belong to such points have class c("riemdp_tangents", "riemdp_points", "vctrs_vctr").

#' Points as a vector
#'
#' A vector class of points on a manifold: its length is the number of records, so points can be a column of a data
#' frame, tibble or data.table, the left side of a formula, and go through [subset()], [merge()], [rbind()],
#' [model.frame()] and the verbs of dplyr and tidyr. Every function that takes points takes this form as well as the
#' plain ones.
#'
#' Points of one manifold can be put together, compared with `==` and `!=`, matched, counted and looked up; two are
#' equal if the same numbers are stored (on [kendall()] and [grassmann()] one point has many forms, which differ). Names
#' are kept, `NA` is a missing point. Points have no order and no arithmetic: `sort()`, `<`, `+`, `sum()`, `lm()` and
#' the like are errors, and so is putting points of different manifolds, or points and tangent vectors, into one vector.
#'
#' `mean()`, `median()` and `weighted.mean()` give the Frechet mean or median as a point, so that they can stand in
#' `tapply()`, `aggregate()` or `summarise()`. [frechet_mean()] gives the same point with what is to be known about it:
#' whether iterations converged, whether it is unique, the variance. None of them is private: see [dp_mean()].
#'
#' `as.character()` gives each point as a text that holds it exactly, with a check, and belongs to its manifold; so
#' points can go through files of text, and `mf_points()` reads them. The same texts are what remains where R itself
#' drops the class, as in `for (p in y)`, `unlist()` or `sapply(y, identity)`; functions on the manifold take them as
#' points, private ones do not.
#'
#' @param x records in any shape that functions on `M` accept, checked; or texts of points.
#' @param M a manifold.
#' @return An object of class `riemdp_points`. [as.matrix()] gives its n x m matrix of stored numbers (matrices by
#'   columns, complex landmarks as real, imaginary, ...), `as.array()` the plain shape of the manifold: a matrix with
#'   records as rows, a k x k x n (complex for [hermitian_spd()]) or n x p x N array, or a complex k x n matrix.
#' @examples
#' M <- spd(2)
#' y <- mf_points(wishart_spd[, , 1:4], M)
#' d <- data.frame(dose = c(1, 1, 2, 2))
#' d$y <- y
#' subset(d, dose == 2)
#' aggregate(y ~ dose, d, mean)
#' frechet_mean(d$y)$mean
#' as.array(y[1:2])
#' mf_points(as.character(y), M) == y
#' @importFrom vctrs vec_proxy vec_restore
#' @export
mf_points <- function(x, M) {
  check_manifold(M)
  if (inherits(x, "riemdp_points")) {
    return(mf_check(M, x))
  }
  if (is.data.frame(x)) x <- data_frame_matrix(x)
  if (is.character(x) && !is.object(x)) {
    return(representatives(M, new_points(.Call(riemdp_points_rows, x, M, FALSE), M, names = names(x))))
  }
  mf_check(M, x)
  representatives(M, new_points(storage_rows(unclass(x), M), M))
}

# points in the place of given ones, where a space has several names for each of its own
representatives <- function(M, x) UseMethod("representatives")

#' @exportS3Method
representatives.default <- function(M, x) x

# the one place where such vectors are made: rows is an n x ambient matrix
new_points <- function(rows, M, tangent = FALSE, names = NULL) .Call(riemdp_points, rows, M, tangent, names)

is_tangents <- function(x) inherits(x, "riemdp_tangents")

# the manifold of a vector or column of points: what functions of (x, M) take where M isn't given
manifold_of <- function(x) UseMethod("manifold_of")

#' @exportS3Method
manifold_of.default <- function(x) {
  if (is.data.frame(x) && length(x) == 1) x <- x[[1]]
  if (!inherits(x, "riemdp_points")) {
    abort_riemdp("manifold", "`M` must be given, e.g. sphere(2) or spd(3), unless the records are mf_points().")
  }
  check_manifold(attr(x, "manifold"))
}

# whether numbers of a point are pairs: of complex vectors, of complex matrices
of_complex <- function(facts) facts$rows > 0 && facts$ambient == 2 * facts$rows * max(facts$cols, 1)
# how many of the numbers in x a point has: real matrices are complex ones, real landmarks stand in two columns
plain_length <- function(x, facts) {
  facts$ambient / if (is.complex(x) || (of_complex(facts) && facts$cols > 0)) 2 else 1
}
# their numbers, also real ones, as pairs, records as columns; and back
complex_pairs <- function(z, facts) matrix(rbind(as.vector(Re(z)), as.vector(Im(z))), facts$ambient)
pairs_complex <- function(x) complex(real = x[c(TRUE, FALSE)], imaginary = x[c(FALSE, TRUE)])

# any accepted plain shape -> n x ambient matrix
storage_rows <- function(x, M) {
  facts <- mf_facts(M)
  if (facts$brings_records) x <- mf_project(M, x)
  if (of_complex(facts)) return(t(complex_pairs(if (facts$cols > 0) x else x_complex(M, x), facts)))
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
as.array.riemdp_points <- function(x, ...) {
  M <- attr(x, "manifold")
  facts <- mf_facts(M)
  rows <- point_rows(x)
  if (facts$rows == 0) return(rows)
  x <- if (of_complex(facts)) pairs_complex(t(rows)) else t(rows)
  array(x, c(facts$rows, if (facts$cols > 0) facts$cols, nrow(rows)))
}

# the n x ambient matrix of stored numbers; the vector itself holds it
point_rows <- function(x) .Call(riemdp_points_rows, x, attr(x, "manifold"), is_tangents(x))

#' @export
as.matrix.riemdp_points <- function(x, ...) {
  rows <- point_rows(x)
  if (!is.null(names(x))) rownames(rows) <- names(x)
  rows
}

# ---- vctrs -----------------------------------------------------------------------------------------------------------

# vctrs may write into a proxy: + 0 makes it a copy, and -0 the 0 to which it is equal
#' @export
vec_proxy.riemdp_points <- function(x, ...) {
  rows <- point_rows(x) + 0
  vctrs::new_data_frame(list(rows = rows, name = names(x) %||% character(nrow(rows))), n = nrow(rows))
}

# vctrs also asks this of plain vectors, which it takes for points in the making
#' @export
vec_restore.riemdp_points <- function(x, to, ...) {
  if (!is.data.frame(x)) vctrs::stop_incompatible_cast(x, to, x_arg = "", to_arg = "")
  named <- any(nzchar(x$name) & !is.na(x$name))
  new_points(x$rows, attr(to, "manifold"), is_tangents(to), if (named) ifelse(is.na(x$name), "", x$name))
}

#' @exportS3Method vctrs::vec_proxy_equal
vec_proxy_equal.riemdp_points <- function(x, ...) vec_proxy(x)["rows"]

#' @exportS3Method vctrs::vec_proxy_compare
vec_proxy_compare.riemdp_points <- function(x, ...) abort_points("no order")

#' @exportS3Method vctrs::vec_proxy_order
vec_proxy_order.riemdp_points <- vec_proxy_compare.riemdp_points

#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.riemdp_points.riemdp_points <- function(x, y, ..., x_arg = "", y_arg = "") {
  if (!same_points(x, y)) vctrs::stop_incompatible_type(x, y, x_arg = x_arg, y_arg = y_arg)
  x[0]
}

#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.riemdp_tangents.riemdp_tangents <- vec_ptype2.riemdp_points.riemdp_points

#' @exportS3Method vctrs::vec_cast
vec_cast.riemdp_points.riemdp_points <- function(x, to, ..., x_arg = "", to_arg = "") {
  if (!same_points(x, to)) vctrs::stop_incompatible_cast(x, to, x_arg = x_arg, to_arg = to_arg)
  x
}

#' @exportS3Method vctrs::vec_cast
vec_cast.riemdp_tangents.riemdp_tangents <- vec_cast.riemdp_points.riemdp_points

#' @exportS3Method vctrs::vec_ptype_full
vec_ptype_full.riemdp_points <- function(x, ...) {
  sprintf("%s<%s>", if (is_tangents(x)) "tangents" else "points", label_manifold(attr(x, "manifold")))
}

#' @exportS3Method vctrs::vec_ptype_full
vec_ptype_full.riemdp_tangents <- vec_ptype_full.riemdp_points

#' @exportS3Method vctrs::vec_ptype_abbr
vec_ptype_abbr.riemdp_points <- function(x, ...) "points"

#' @exportS3Method vctrs::vec_ptype_abbr
vec_ptype_abbr.riemdp_tangents <- function(x, ...) "tangents"

same_points <- function(x, y) is_tangents(x) == is_tangents(y) && identical(attr(x, "manifold"), attr(y, "manifold"))

abort_points <- function(what) {
  abort_riemdp("unsupported", paste0(
    "points on a manifold have ", what,
    ": use mf_dist(), mf_log(), mf_exp() and frechet_mean(), or mf_coords() for numbers in a ",
    "tangent space."
  ))
}

# ---- parts and wholes ------------------------------------------------------------------------------------------------

# the points at these positions; NA is a missing one
take <- function(x, at) {
  names <- names(x)[at]
  if (!is.null(names)) names[is.na(names)] <- "<NA>"
  new_points(point_rows(x)[at, , drop = FALSE], attr(x, "manifold"), is_tangents(x), names)
}

# what R's own rules make of a subscript: positions, NA beyond the end
positions <- function(x, i) {
  at <- seq_along(x)
  names(at) <- names(x)
  classed(unname(at[i]), "the subscript")
}

#' @export
`[.riemdp_points` <- function(x, i, ..., drop = TRUE) {
  if (...length() > 0) {
    abort_riemdp("argument", "points are a vector: one subscript takes some of them, as.matrix() gives numbers.")
  }
  if (missing(i)) x else take(x, positions(x, i))
}

#' @export
`[[.riemdp_points` <- function(x, i, ...) {
  at <- positions(x, i)
  if (length(at) != 1 || is.na(at)) abort_riemdp("argument", "the subscript must name one point that is there.")
  unname(x[at])
}

#' @export
`$.riemdp_points` <- function(x, name) {
  abort_riemdp("argument", "points have no parts with names: as.matrix() gives numbers.")
}

# values of any shape in which points may come; beyond the end the vector grows, as any other does
#' @export
`[<-.riemdp_points` <- function(x, i, ..., value) {
  value <- like_points(value, x)
  grown <- seq_along(x)
  names(grown) <- names(x)
  if (!missing(i)) classed(grown[i] <- 0L, "the subscript")
  if (length(grown) > length(x)) x <- `names<-`(x[seq_along(grown)], names(grown))
  at <- if (missing(i)) seq_along(x) else positions(x, i)
  if (length(value) == 1) at <- at[!is.na(at)]
  if (anyNA(at) || (length(at) > 0 && (length(value) == 0 || length(at) %% length(value) != 0))) {
    abort_riemdp("shape", "there must be one point, or as many as are replaced.")
  }
  rows <- point_rows(x)
  rows[at, ] <- point_rows(value)[rep_len(seq_along(value), length(at)), ]
  new_points(rows, attr(x, "manifold"), is_tangents(x), names(x))
}

#' @export
`[[<-.riemdp_points` <- function(x, i, ..., value) {
  x[i] <- value
  x
}

#' @export
`length<-.riemdp_points` <- function(x, value) {
  x[seq_len(check_count(value, "length", least = 0, most = .Machine$integer.max))]
}

#' @export
`names<-.riemdp_points` <- function(x, value) {
  if (!is.null(value)) value <- `length<-`(as.character(value), length(x))
  new_points(point_rows(x), attr(x, "manifold"), is_tangents(x), value)
}

# points of the manifold of x
like_points <- function(value, x) {
  if (inherits(value, "riemdp_points")) {
    check_same_manifold(list(x, value))
    return(value)
  }
  if (is.atomic(value) && is.null(dim(value)) && all(is.na(value))) {
    return(x[rep(NA_integer_, length(value))])
  }
  M <- attr(x, "manifold")
  if (is_tangents(x)) new_points(storage_rows_tangent(value, M), M, tangent = TRUE) else mf_points(value, M)
}

check_same_manifold <- function(parts) {
  same <- vapply(parts, function(p) inherits(p, "riemdp_points") && same_points(p, parts[[1]]), logical(1))
  if (!all(same)) {
    abort_riemdp("shape", "only points of the same manifold, or tangent vectors of the same, can be put together.")
  }
}

#' @export
c.riemdp_points <- function(...) {
  parts <- list(...)
  check_same_manifold(parts[!vapply(parts, function(p) is.null(p) || (is.logical(p) && all(is.na(p))), logical(1))])
  vctrs::vec_c(..., .name_spec = function(outer, inner) paste0(outer, inner))
}

#' @export
rbind.riemdp_points <- function(..., deparse.level = 1) c(...)

#' @export
cbind.riemdp_points <- function(..., deparse.level = 1) abort_points("no columns")

# ifelse() puts what it gets from rep() into a logical vector
#' @export
rep.riemdp_points <- function(x, ...) {
  if (called_from(sys.function(sys.parent()), base::ifelse)) {
    abort_riemdp("unsupported", "ifelse() drops the class of points: use y[test] <- z[test], or if_else() of dplyr.")
  }
  take(x, rep(seq_along(x), ...))
}

called_from <- function(f, base) identical(f, base)

#' @export
is.na.riemdp_points <- function(x) stats::setNames(rowSums(is.na(point_rows(x))) > 0, names(x))

#' @export
anyNA.riemdp_points <- function(x, recursive = FALSE) anyNA(point_rows(x))

#' @method all.equal riemdp_points
#' @export
all.equal.riemdp_points <- function(target, current, ...) {
  if (!inherits(current, "riemdp_points") || !same_points(target, current)) {
    return("points of different manifolds, or no points")
  }
  all.equal(as.matrix(target), as.matrix(current), ...)
}

# ---- what points are not ---------------------------------------------------------------------------------------------

#' @export
Ops.riemdp_points <- function(e1, e2) {
  known <- .Generic %in% c("==", "!=") # nolint: object_usage_linter.
  if (!known || nargs() != 2) abort_points("no arithmetic and no order")
  if (inherits(e1, "riemdp_points")) e2 <- like_points(e2, e1) else e1 <- like_points(e1, e2)
  if (length(e1) != length(e2) && min(length(e1), length(e2)) != 1) {
    abort_riemdp("shape", "there must be as many points on both sides, or one on either.")
  }
  same <- vctrs::vec_equal(e1, e2)
  if (.Generic == "==") same else !same # nolint: object_usage_linter.
}

#' @export
Math.riemdp_points <- function(x, ...) abort_points("no arithmetic")

#' @export
Complex.riemdp_points <- function(z) abort_points("no arithmetic")

#' @export
Summary.riemdp_points <- function(..., na.rm = FALSE) abort_points("no sum and no order")

#' @export
xtfrm.riemdp_points <- function(x) abort_points("no order")

#' @export
sort.riemdp_points <- function(x, decreasing = FALSE, ...) abort_points("no order")

#' @importFrom stats quantile median weighted.mean
#' @export
quantile.riemdp_points <- function(x, ...) abort_points("no order")

#' @export
cut.riemdp_points <- function(x, ...) abort_points("no order")

#' @export
as.double.riemdp_points <- function(x, ...) abort_points("no single number (as.matrix() gives the stored ones)")

#' @export
as.integer.riemdp_points <- as.double.riemdp_points

#' @export
as.logical.riemdp_points <- as.double.riemdp_points

#' @export
as.complex.riemdp_points <- as.double.riemdp_points

#' @importFrom stats t.test
#' @method t.test riemdp_points
#' @export
t.test.riemdp_points <- function(x, ...) abort_points("no arithmetic")

#' @importFrom stats wilcox.test
#' @method wilcox.test riemdp_points
#' @export
wilcox.test.riemdp_points <- function(x, ...) abort_points("no order")

#' @importFrom stats kruskal.test
#' @method kruskal.test riemdp_points
#' @export
kruskal.test.riemdp_points <- wilcox.test.riemdp_points

# ---- middle ----------------------------------------------------------------------------------------------------------

# one point, missing where a record is
middle <- function(x, f, na.rm, ...) {
  if (is_tangents(x)) abort_riemdp("unsupported", "tangent vectors at different points have no mean.")
  if (check_flag(na.rm, "na.rm")) x <- x[!is.na(x)]
  if (anyNA(x)) {
    return(x[NA_integer_])
  }
  M <- attr(x, "manifold")
  mf_points(behind_many(M, f(x, M, ...)$mean), M)
}

# ---- texts and pictures ----------------------------------------------------------------------------------------------

# factor() keeps texts as levels of whole numbers
#' @export
as.character.riemdp_points <- function(x, ...) {
  if (called_from(sys.function(sys.parent()), base::factor)) abort_points("no levels")
  as.vector(unclass(new_points(point_rows(x), attr(x, "manifold"), is_tangents(x)))) # refuses what are no points
}

#' @export
as.vector.riemdp_points <- function(x, mode = "any") {
  switch(mode, any = , character = as.character(x), list = as.list(x), abort_points("no single number"))
}

#' @export
format.riemdp_points <- function(x, digits = 3, ...) {
  rows <- point_rows(x)
  shown <- min(4, ncol(rows))
  if (nrow(rows) == 0) {
    return(character())
  }
  text <- apply(formatC(rows[, seq_len(shown), drop = FALSE], digits = digits, format = "g"), 1, function(r) {
    paste(trimws(r), collapse = ", ")
  })
  out <- paste0("(", text, if (ncol(rows) > shown) ", ...", ")")
  out[is.na(x)] <- NA
  stats::setNames(out, names(x))
}

#' @export
print.riemdp_points <- function(x, n = 6, ...) {
  cat(sprintf("<mf_points> %d %s on %s\n", length(x),
              if (is_tangents(x)) "tangent vectors" else if (length(x) == 1) "point" else "points",
              label_manifold(attr(x, "manifold"))))
  shown <- min(n, length(x))
  if (shown > 0) {
    text <- format(x[seq_len(shown)])
    cat(paste0("  ", if (!is.null(names(text))) paste0(names(text), " "), text), sep = "\n")
  }
  if (length(x) > shown) cat(sprintf("  ... and %d more\n", length(x) - shown))
  invisible(x)
}

#' @export
summary.riemdp_points <- function(object, ...) {
  structure(list(manifold = attr(object, "manifold"), n = length(object), missing = sum(is.na(object))),
            class = "summary.riemdp_points")
}

#' @export
print.summary.riemdp_points <- function(x, ...) {
  cat(sprintf("%d records on %s, %d missing\n", x$n, label_manifold(x$manifold), x$missing))
  invisible(x)
}

#' @export
format.summary.riemdp_points <- function(x, ...) c(n = as.character(x$n), missing = as.character(x$missing))

#' @export
str.riemdp_points <- function(object, ...) {
  cat(sprintf(" mf_points [1:%d] on %s\n", length(object), label_manifold(attr(object, "manifold"))))
}

#' @export
as.data.frame.riemdp_points <- function(x, row.names = NULL, optional = FALSE, ...,
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
#' @param M a manifold. Its help page states the law of its random points: uniform where the manifold is compact, exp of
#'   a Gaussian tangent vector at the reference point elsewhere, standard normal on [euclidean()].
#' @param n number of draws.
#' @param sd standard deviation of each orthonormal coordinate of the tangent vector.
#' @param p a point, or n points.
#' @return `mf_random()`: n points in the plain shape of the manifold. `mf_random_tangent()`: n tangent vectors at `p`,
#'   Gaussian and isotropic.
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
  own <- random_points(M, n, sd)
  if (!is.null(own)) return(own)
  normal <- stats::rnorm(n * facts$ambient)
  if (facts$model == "flat" && facts$rows == 0 && facts$ambient == facts$dimension && facts$injectivity_radius == Inf) {
    return(if (facts$ambient == 1) sd * normal else matrix(sd * normal, n))
  }
  if (facts$uniform_by_projection) return(mf_project(M, shape_points(normal, n, facts)))
  base <- random_base(M)
  origin <- .Call(riemdp_origin, base)
  mf_exp(base, origin, mf_random_tangent(base, origin, n, sd))
}

# n points' numbers in the plain shape
shape_points <- function(x, n, facts) {
  if (facts$rows == 0) return(matrix(x, n))
  if (facts$cols > 0) return(array(if (of_complex(facts)) pairs_complex(x) else x, c(facts$rows, facts$cols, n)))
  half <- seq_len(n * facts$rows)
  matrix(complex(real = x[half], imaginary = x[n * facts$rows + half]), facts$rows)
}

#' @rdname mf_random
#' @export
mf_random_tangent <- function(M, p, n = NULL, sd = 1) {
  d <- mf_facts(check_manifold(M))$dimension
  if (is.null(n)) n <- .Call(riemdp_count, M, p)
  n <- check_count(n, "n", least = 0, most = 1e8)
  mf_from_coords(M, p, matrix(stats::rnorm(n * d, sd = check_number(sd, "sd", positive = TRUE)), n, d))
}

# stored numbers of tangent vectors in any plain shape
storage_rows_tangent <- function(v, M) {
  if (inherits(v, "riemdp_points")) {
    return(as.matrix(v))
  }
  facts <- mf_facts(M)
  if (of_complex(facts)) return(t(complex_pairs(if (facts$cols > 0) v else x_complex(M, v), facts)))
  if (facts$rows > 0) t(matrix(as.double(v), facts$ambient)) else matrix(as.double(v), ncol = facts$ambient)
}

# a single point in the shape of many
behind_many <- function(M, p) {
  facts <- mf_facts(M)
  if (facts$rows == 0) matrix(p, 1) else if (facts$cols == 0) matrix(p, ncol = 1) else array(p, c(dim(as.matrix(p)), 1))
}

x_complex <- function(M, x) {
  if (is.complex(x)) {
    return(x)
  }
  k <- mf_facts(M)$rows
  planar <- array(x, c(k, 2, length(x) / (2 * k)))
  matrix(complex(real = planar[, 1, ], imaginary = planar[, 2, ]), k)
}

# one point in its plain single shape
as_single <- function(x) {
  M <- attr(x, "manifold")
  facts <- mf_facts(M)
  x <- as.array(x[1])
  if (facts$cols > 0) matrix(x, facts$rows) else as.vector(x)
}
