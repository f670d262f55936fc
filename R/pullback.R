# Records that are points by a map: metrics pulled back, and orbits of a group.

#' Records that are points by a map, and orbits of a group
#'
#' `pullback()`: a space of records of another form, with the metric that a one to one map f to a manifold gives them:
#' two records are as far apart as their images. Normal laws with the Fisher metric, which f takes to a hyperbolic
#' plane, are an example. `mf_representatives()`: records that are known up to a finite group of isometries, as
#' orientations of a crystal are.
#'
#' Points of a pullback **are the images**, points of `M`. [as_mf_points()] makes them of records, one at a time;
#' [mf_original()] goes back. Curvature, injectivity radius and all proofs are those of `M`: a private function is given
#' images, each a function of one record, and what it releases is mapped back for nothing. So the guarantee rests on
#' nothing that f or its inverse does, but that they are functions of their argument alone. A record for which f fails,
#' or gives no point of `M`, is missing.
#'
#' Releases hold the space, so f and `inverse` must not carry data: they are read from their own text, and their
#' environment is the global one. They find what is defined at top level and in packages, and nothing of the function in
#' which they were written; functions that hold others that have no text (those of packages that make functions) are
#' refused.
#'
#' `mf_representatives()` puts the member of a record's orbit that is nearest to the public `center` in its place: a
#' function of that record alone. With D the distance between the centre and the nearest other member of its own orbit,
#' two records in a ball of radius at most D/4 are as far apart as their orbits. So what rests on distances of points of
#' the ball, as means and tests do, is that of orbits, and `radius` is checked against it (curves may leave the ball).
#' Up to D/6 the mean is that of orbits among all orbits, not in the ball alone (proof: `proofs/geometry.md` of the
#' installed package, section 9). The group acts on points by matrices: \eqn{x \mapsto Ax} on [sphere()],
#' \eqn{X \mapsto XA} on [rotations()], whose symmetries are those of the object that is turned. Axes, lines without a
#' sense, are [grassmann()] (d, 1).
#'
#' @param M a manifold.
#' @param f function of one record that gives one point of `M`: a vector or matrix of numbers. A record is a row of a
#'   data frame as a list of numbers, a row of a matrix or an element of a vector as numbers, or an element of a list as
#'   it is. Text and factors become numbers cell by cell, since the type of a column is one of all records.
#' @param inverse function of one point, in the same form, that gives the record, or `NULL`.
#' @param name what the space is called where it is printed.
#' @param x for `mf_original()`: points, a release of one point, a mean, or one point as `f` gives it. For
#'   `mf_representatives()`: records as [as_mf_points()] takes them.
#' @param group a list of orthogonal matrices, closed under products, the identity among them.
#' @param center the public centre, one point.
#' @param radius the radius of the ball that will be used, at most the bound above.
#' @param ... further arguments of [as_mf_points()].
#' @return `pullback()`: a manifold. `mf_original()`: what `inverse` gives, for several points a list.
#'   `mf_representatives()`: [mf_points()] of `M`.
#' @section Errors:
#' `riemdp_error_argument` for what is no function, no group or a `radius` beyond the bound, `riemdp_error_unsupported`
#' for groups on other manifolds.
#' @references Atkinson, C. and Mitchell, A. F. S. (1981). Rao's distance measure. *Sankhya A* 43, 345-365.
#'   <https://www.jstor.org/stable/25050283>
#'
#' Alekseevsky, D., Kriegl, A., Losik, M. and Michor, P. W. (2003). The Riemannian geometry of orbit spaces.
#'   *Publicationes Mathematicae Debrecen* 62, 247-276. \doi{10.5486/PMD.2003.2828}
#' @examples
#' # normal laws: (mean, sd) is a point of the half-plane, sqrt(2) times as far apart
#' # as in the hyperbolic plane
#' laws <- pullback(product(hyperbolic(2), weights = 2), function(r) {
#'   x <- r$mean / sqrt(2)
#'   c((x^2 + r$sd^2 + 1) / 2, x, (x^2 + r$sd^2 - 1) / 2) / r$sd
#' }, function(y) {
#'   sd <- 1 / (y[1] - y[3])
#'   list(mean = sqrt(2) * y[2] * sd, sd = sd)
#' }, "normal laws")
#' people <- data.frame(mean = rnorm(200, 5), sd = exp(rnorm(200, 0, 0.2)))
#' x <- as_mf_points(people, laws)
#' center <- as_mf_points(data.frame(mean = 5, sd = 1), laws)
#' r <- dp_mean(x, laws, epsilon = 5, center = center, radius = 2)
#' mf_original(r, laws)
#' # orientations of a body with a two-fold axis
#' half_turns <- list(diag(3), diag(c(-1, -1, 1)))
#' mf_representatives(diag(c(-1, -1, 1)), rotations(3), half_turns, diag(3), radius = 0.5)
#' @export
pullback <- function(M, f, inverse = NULL, name = "a pullback") {
  mf_facts(M)
  if (inherits(M, "riemdp_pullback") || of_user(M)) {
    abort_riemdp("unsupported", "a pullback is of one of the package's own manifolds.")
  }
  if (!is_string(name) || grepl("[[:cntrl:]]", name)) abort_riemdp("argument", "`name` must be one line of text.")
  M$pulled <- as.vector(name)
  M$f <- bare_function(f, "f")
  if (!is.null(inverse)) M$inverse <- bare_function(inverse, "inverse")
  structure(M, class = c("riemdp_pullback", class(M)))
}

#' @export
manifold_label.riemdp_pullback <- function(M) sprintf("%s, as points of %s", M$pulled, NextMethod())

# Read from its own text, which holds no environment of its own nor of functions inside it: releases hold it
bare_function <- function(f, name) {
  if (!is.function(f)) abort_riemdp("argument", sprintf("`%s` must be a function.", name))
  if (is.primitive(f)) return(f)
  f <- utils::removeSource(f)
  attributes(f) <- NULL
  text <- deparse(f, control = c("keepNA", "keepInteger", "digits17", "showAttributes"))
  text <- text[!grepl("^<(environment|bytecode)", text)]
  read <- tryCatch(eval(parse(text = text, keep.source = FALSE), globalenv()), error = function(e) NULL)
  if (!is.function(read)) {
    abort_riemdp("argument", sprintf("`%s` must be a function that is written out: it holds what has no text.", name))
  }
  read
}

#' @export
read_points.riemdp_pullback <- function(M, x, how) {
  if (inherits(x, "riemdp_points")) {
    if (identical(attr(x, "manifold"), M)) return(read_points.default(M, x, how))
    abort_other_space(M)
  }
  check_unused(how, c("units", "layout", "template"))
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$ambient != facts$rows * facts$cols) {
    abort_riemdp("unsupported", "a pullback's points are made of real numbers.")
  }
  size <- if (facts$rows > 0) c(facts$rows, facts$cols) else facts$ambient
  one <- record_getter(x)
  rows <- vapply(seq_len(one$count), function(i) contained(as.double(single_numbers(M$f(one$get(i)), size)),
                                                          rep(NA_real_, prod(size))), numeric(prod(size)))
  list(rows = matrix(rows, one$count, prod(size), byrow = TRUE), names = one$names, hint = " (or `f` fails there)")
}

# list(count, get, names): records one at a time, in the form that f takes; cells are numbers by themselves
record_getter <- function(x) {
  if (is.data.frame(x)) {
    if (!is_table(x)) abort_form("a data frame whose columns are vectors")
    columns <- lapply(as.list(x), number_cells)
    return(list(count = nrow(x), get = function(i) lapply(columns, `[`, i),
                names = if (is.character(attr(x, "row.names"))) row.names(x)))
  }
  if (is.matrix(x) && !is.object(x) && is.atomic(x)) {
    rows <- matrix(number_cells(as.vector(x)), nrow(x), dimnames = list(NULL, colnames(x)))
    return(list(count = nrow(x), get = function(i) rows[i, ], names = rownames(x)))
  }
  if (is.list(x) && !is.object(x) && is.null(dim(x))) {
    return(list(count = length(x), get = function(i) x[[i]], names = names(x)))
  }
  if (!is.null(dim(x)) || is.null(x) || !(is.factor(x) || (is.atomic(x) && !is.object(x)))) {
    abort_form("a data frame or matrix with a record in each row, a list or a vector")
  }
  cells <- number_cells(x)
  list(count = length(cells), get = function(i) cells[i], names = names(x))
}

#' @rdname pullback
#' @export
mf_original <- function(x, M) {
  mf_facts(M)
  if (!inherits(M, "riemdp_pullback") || !is.function(M$inverse)) {
    abort_riemdp("argument", "`M` must be a pullback() that was given its inverse.")
  }
  space <- if (is.list(x)) x$manifold else attr(x, "manifold")
  if (!is.null(space) && !identical(space, M)) {
    abort_other_space(M)
  }
  if (inherits(x, "riemdp_release")) x <- x$value
  if (inherits(x, "riemdp_frechet_mean")) x <- x$mean
  if (!inherits(x, "riemdp_points")) return(M$inverse(one_point(M, x, "x")))
  out <- lapply(seq_along(x), function(i) if (is.na(x[i])) NA else M$inverse(as_single(x[i])))
  stats::setNames(out, names(x))
}

#' @rdname pullback
#' @export
mf_representatives <- function(x, M, group, center, radius, ...) {
  facts <- mf_facts(M)
  right <- inherits(single_space(M), "riemdp_rotations")
  if (!right && !inherits(single_space(M), "riemdp_sphere")) {
    abort_riemdp("unsupported", "groups act on sphere() and rotations() alone.")
  }
  n <- if (right) facts$rows else facts$ambient
  group <- check_group(group, n, right)
  center <- public_point(M, center)
  orbits <- function(rows) lapply(group, function(A) {
    new_points(rows %*% if (right) kronecker(A, diag(n)) else t(A), M)
  })
  own <- as.vector(distances_to(M, center, orbits(t(as.vector(center)))))
  # beyond the cut locus a distance isn't found; it is no less than the injectivity radius
  own[is.na(own)] <- facts$injectivity_radius
  bound <- min(own[-1], Inf) / 4
  if (check_number(radius, "radius", positive = TRUE) > bound) {
    abort_riemdp("argument", sprintf(paste("`radius` must be at most %.4g: a quarter of the way from the centre to the",
                                           "nearest of its images under `group`."), bound))
  }
  x <- as_mf_points(x, M, ...)
  rows <- as.matrix(x)
  there <- which(!is.na(x))
  if (!length(there)) return(x)
  images <- orbits(rows[there, , drop = FALSE])
  d <- distances_to(M, center, images)
  d[is.na(d)] <- Inf
  nearest <- max.col(-pmin(d, 1e300), "first")
  for (j in seq_along(group)) rows[there[nearest == j], ] <- as.matrix(images[[j]])[nearest == j, ]
  new_points(unname(rows), M, names = names(x))
}

# distances of points from the centre, a column for each vector of points; none where one isn't found, point by point
distances_to <- function(M, center, images) {
  one <- function(y) tryCatch(mf_dist(M, center, y), riemdp_error = function(e) {
    if (length(y) == 1) NA_real_ else vapply(seq_along(y), function(i) one(y[i]), 0)
  })
  matrix(vapply(images, one, numeric(length(images[[1]]))), length(images[[1]]))
}

# the identity first
check_group <- function(group, n, turns) {
  fits <- is.list(group) && length(group) %in% 1:1000 && all(vapply(group, function(A) {
    is.numeric(A) && !is.object(A) && identical(dim(A), as.integer(c(n, n))) && all(is.finite(A)) &&
      max(abs(crossprod(A) - diag(n))) < 1e-8 && (!turns || det(A) > 0)
  }, NA))
  if (!fits) {
    abort_riemdp("argument", sprintf("`group` must be a list of %s %d x %d matrices.",
                                     if (turns) "rotation" else "orthogonal", as.integer(n), as.integer(n)))
  }
  flat <- vapply(group, as.vector, numeric(n * n))
  among <- function(A) which(colSums(abs(flat - as.vector(A))) < 1e-6)
  closed <- all(vapply(group, function(A) {
    all(vapply(group, function(B) length(among(A %*% B)) == 1, NA))
  }, NA))
  identity <- among(diag(n))
  if (!closed || length(identity) != 1) {
    abort_riemdp("argument", "`group` must be closed under products and have the identity, each member once.")
  }
  # to the last digit, so that images are points as records are
  lapply(group[c(identity, seq_along(group)[-identity])], function(A) {
    s <- svd(A)
    s$u %*% t(s$v)
  })
}
