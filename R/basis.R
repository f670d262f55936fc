# Terms of a private formula that are several columns: B-splines bs(), natural splines ns() and polynomials poly() of
# one variable, with public knots and a public range. Each column is a function of one row and of public numbers, with
# a range that is proven in inst/proofs/linear-regression.md, section 12. Everything else that R takes from the records
# there, quantiles for knots, ranges, orthogonalisation by the sample, is refused or has a public number in its place.

# what may be said of each, in the places that R has for it
BASES <- list(
  bs = function(x, df = NULL, knots = NULL, degree = 3, intercept = FALSE, Boundary.knots = NULL) NULL,
  ns = function(x, df = NULL, knots = NULL, intercept = FALSE, Boundary.knots = NULL) NULL,
  poly = function(x, degree = 1, raw = FALSE) NULL
)
BASIS_SAID <- c(bs = "`df` or `knots`, `degree` and `Boundary.knots`", ns = "`df` or `knots`, and `Boundary.knots`",
                poly = "`degree` and `raw`")
# knots are no nearer to each other and to the ends than this part of the range
KNOTS_APART <- 1e-6
BASIS_MOST <- c(knots = 100, degree = 10)
# what public numbers may be made by, where they stand
PUBLIC_CALLS <- c("c", ":", "seq", "(", "-", "+", "*", "/")

# "bs", "ns", "poly", or "" for other terms
basis_kind <- function(expr) {
  if (!is.call(expr)) return("")
  head <- expr[[1]]
  of <- c(bs = "splines", ns = "splines", poly = "stats")
  if (is.call(head) && identical(head[[1]], quote(`::`))) {
    name <- as.character(head[[3]])
    return(if (name %in% names(of) && identical(as.character(head[[2]]), of[[name]])) name else "")
  }
  if (called(expr) %in% names(of)) called(expr) else ""
}

# A term's public side, NULL for a term that is one column: list(kind, x: the expression of its variable, df, knots,
# degree, ends, raw, constants). `columns`: names that are records' and so are no public numbers.
basis_term <- function(expr, columns, env) {
  kind <- basis_kind(expr)
  if (!nzchar(kind)) return(NULL)
  given <- tryCatch(as.list(match.call(BASES[[kind]], expr))[-1], error = function(e) NULL)
  if (is.null(given$x)) {
    abort_riemdp("unsupported", sprintf("%s() in the formula takes one variable, and of public numbers %s, no more.",
                                        kind, BASIS_SAID[[kind]]))
  }
  said <- given[setdiff(names(given), "x")]
  constants <- named_constants(said, c(columns, all.vars(given$x)), env)
  value <- lapply(said, basis_numbers, constants, kind)
  term <- utils::modifyList(as.list(formals(BASES[[kind]]))[-1], value)
  check_rowwise(given$x)
  c(list(kind = kind, x = given$x, constants = constants), checked_basis(term, kind))
}

named_constants <- function(said, columns, env) {
  names <- unique(unlist(lapply(said, all.vars)))
  for (name in intersect(names, columns)) refuse_constant(name)
  lapply(stats::setNames(nm = as.character(names)), find_value, env)
}

refuse_constant <- function(name) {
  abort_riemdp("unsupported", sprintf(paste("bs(), ns() and poly() in the formula: `%s` is a variable of the records,",
                                            "where public numbers belong."), name))
}

basis_numbers <- function(expr, constants, kind) {
  if (is.name(expr)) {
    value <- constants[[as.character(expr)]]
  } else if (!is.call(expr)) {
    value <- expr
  } else if (called(expr) %in% PUBLIC_CALLS) {
    args <- lapply(as.list(expr)[-1], basis_numbers, constants, kind)
    value <- tryCatch(do.call(get(called(expr), baseenv()), args), error = function(e) NA)
  } else {
    value <- NA
  }
  plain <- is.null(value) || (is.atomic(value) && !is.object(value) && is.null(dim(value)) &&
                                (is.numeric(value) || is.logical(value)) && all(is.finite(value)))
  if (!plain) {
    abort_riemdp("unsupported", sprintf(
      paste("%s() in the formula takes public numbers only, as they stand there or under a name: knots and ranges",
            "that are taken from the records, quantiles say, aren't private."), kind))
  }
  value
}

no_basis <- function(kind, what) {
  abort_riemdp("argument", sprintf("%s() in the formula: %s.", kind, what))
}

is_whole <- function(x, least, most) {
  is.numeric(x) && length(x) == 1 && x == round(x) && x >= least && x <= most
}

# numbers of a term, checked: list(degree, raw), or list(degree, inner: how many knots, knots, ends)
checked_basis <- function(term, kind) {
  degree <- if (kind == "ns") 3 else term$degree
  if (!is_whole(degree, 1, BASIS_MOST[["degree"]])) {
    no_basis(kind, sprintf("`degree` must be a whole number from 1 to %g", BASIS_MOST[["degree"]]))
  }
  if (kind == "poly") {
    if (!(is.logical(term$raw) && length(term$raw) == 1)) no_basis(kind, "`raw` must be TRUE or FALSE")
    return(list(degree = degree, raw = term$raw))
  }
  if (!identical(term$intercept, FALSE)) no_basis(kind, "the intercept is the model's: leave `intercept` out")
  ends <- term$Boundary.knots
  if (!is.null(ends) && !(is.numeric(ends) && length(ends) == 2 && ends[1] < ends[2] && is.finite(ends[2] - ends[1]))) {
    no_basis(kind, "`Boundary.knots` must be two numbers, the smaller first")
  }
  c(list(degree = degree, ends = ends), checked_knots(term, kind, if (kind == "ns") 1 else degree))
}

# `fewest`: columns without a knot
checked_knots <- function(term, kind, fewest) {
  most <- BASIS_MOST[["knots"]]
  if (!is.null(term$df) && (!is.null(term$knots) || !is_whole(term$df, fewest, fewest + most))) {
    no_basis(kind, sprintf("`df` must be a whole number from %g to %g, and there are `knots` or `df`, not both", fewest,
                           fewest + most))
  }
  if (!is.null(term$knots) && !(is.numeric(term$knots) && length(term$knots) <= most)) {
    no_basis(kind, sprintf("`knots` must be at most %g numbers", most))
  }
  list(inner = if (!is.null(term$df)) term$df - fewest, knots = sort(as.double(term$knots)))
}

# A term on its variable's public range: what its columns are made from, list(kind, degree, raw, ends, knots on [0, 1],
# turn: from B-splines to natural ones, lower, upper: the columns' ranges)
basis_on <- function(term, range) {
  kind <- term$kind
  ends <- term$ends %||% range
  out <- list(kind = kind, degree = term$degree, raw = isTRUE(term$raw), ends = ends)
  if (kind == "poly") return(c(out, polynomial_ranges(term, range)))
  if (ends[1] > range[1] || ends[2] < range[2]) {
    no_basis(kind, "`Boundary.knots` must hold the public range of the variable")
  }
  m <- term$inner
  knots <- if (!is.null(m)) seq_len(m) / (m + 1) else (term$knots - ends[1]) / (ends[2] - ends[1])
  if (any(diff(c(0, knots, 1)) < KNOTS_APART)) {
    no_basis(kind, "knots must lie apart from each other, within the public range or `Boundary.knots`")
  }
  out$knots <- knots
  if (kind == "bs") {
    count <- length(knots) + term$degree
    return(c(out, list(lower = rep(0, count), upper = rep(1, count))))
  }
  turn <- natural_turn(knots)
  # a column is a mixture of these numbers and 0
  c(out, list(turn = turn, lower = pmin(0, apply(turn, 2, min)), upper = pmax(0, apply(turn, 2, max))))
}

polynomial_ranges <- function(term, range) {
  k <- seq_len(term$degree)
  if (!isTRUE(term$raw)) return(list(lower = rep(-1, length(k)), upper = rep(1, length(k))))
  low <- range[1]^k
  high <- range[2]^k
  middle <- range[1] < 0 & range[2] > 0 & k %% 2 == 0
  list(lower = ifelse(middle, 0, pmin(low, high)), upper = pmax(low, high))
}

bspline_values <- function(z, knots, degree, derivative = 0L) {
  splines::splineDesign(c(rep(0, degree + 1), knots, rep(1, degree + 1)), z, degree + 1, rep(derivative, length(z)))
}

# what maps cubic B-splines but the first to splines that are linear beyond their ends, as splines::ns() has it
natural_turn <- function(knots) {
  bent <- bspline_values(c(0, 1), knots, 3, 2L)[, -1, drop = FALSE]
  qr.Q(qr(t(bent)), complete = TRUE)[, -(1:2), drop = FALSE]
}

# Columns of a basis at values of its variable, moved into `range`: a total function of each value. What is missing is
# missing in all columns. Sums are over columns, so that no value is rounded by how many others there are.
basis_values <- function(basis, range, v) {
  v <- as.double(v)
  good <- is.finite(v)
  out <- matrix(NA_real_, length(v), length(basis$lower))
  if (!any(good)) return(out)
  v <- pmin(range[2], pmax(range[1], v[good]))
  z <- pmin(1, pmax(0, (v - basis$ends[1]) / (basis$ends[2] - basis$ends[1])))
  values <- switch(basis$kind,
    bs = bspline_values(z, basis$knots, basis$degree)[, -1, drop = FALSE],
    ns = {
      b <- bspline_values(z, basis$knots, 3)[, -1, drop = FALSE]
      each <- 0
      for (j in seq_len(ncol(b))) each <- each + outer(b[, j], basis$turn[j, ])
      each
    },
    poly = if (basis$raw) outer(v, seq_len(basis$degree), `^`) else legendre_values(2 * z - 1, basis$degree)
  )
  for (k in seq_along(basis$lower)) {
    out[good, k] <- pmin(basis$upper[k], pmax(basis$lower[k], values[, k]))
  }
  out[!is.finite(out)] <- NA
  out
}

# Legendre polynomials P_1, ..., P_degree on [-1, 1], where none is longer than 1
legendre_values <- function(z, degree) {
  out <- matrix(z, length(z), degree)
  before <- 1 + 0 * z
  for (k in seq_len(degree - 1)) {
    out[, k + 1] <- ((2 * k + 1) * z * out[, k] - k * before) / (k + 1)
    before <- out[, k]
  }
  out
}

# how many B-splines there are, with the one that the columns leave out
spline_count <- function(basis) length(basis$lower) + 1
