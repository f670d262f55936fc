# Records that are points by a map: metrics pulled back, and orbits of a group.

#' Records that are points by a map, and orbits of a group
#'
#' `pullback()`: a space of records of another form, with the metric that a one to one map f to a manifold gives them:
#' two records are as far apart as their images. Normal laws with the Fisher metric, which f takes to a hyperbolic
#' plane, are an example. `quotient()`: the space of records that are known up to a finite group of isometries, as
#' orientations of a crystal are, near a public centre.
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
#' Points of a quotient **are representatives**, points of `M`: [as_mf_points()] and [mf_points()] put the member of a
#' record's orbit that is nearest to the public `center` in its place, a function of that record alone. Let D be the
#' distance between the centre and the nearest other member of its own orbit. Representatives no farther than D/4 from
#' the centre are as far apart as their orbits, and up to D/6 the mean is that of orbits among all orbits (proof:
#' `proofs/geometry.md` of the installed package, section 9). So a public ball must lie within D/6 of the quotient's
#' centre: other balls are refused. Beyond D/4 distances, logarithms and plain means are those of representatives and
#' may be longer than those of orbits; curves of regressions may go there. Rows of numbers that aren't [mf_points()],
#' and records in [chunks()], are taken for representatives as they are. The group acts on points by matrices:
#' \eqn{x \mapsto Ax} on [sphere()], \eqn{X \mapsto XA} on [rotations()], whose symmetries are those of the object that
#' is turned. Axes, lines without a sense, are [grassmann()] (d, 1), which needs no centre.
#'
#' @param M a manifold.
#' @param f function of one record that gives one point of `M`: a vector or matrix of numbers. A record is a row of a
#'   data frame as a list of numbers, a row of a matrix or an element of a vector as numbers, or an element of a list as
#'   it is. Text and factors become numbers cell by cell, since the type of a column is one of all records.
#' @param inverse function of one point, in the same form, that gives the record, or `NULL`.
#' @param name what the space is called where it is printed.
#' @param x points, a release of one point, a mean, or one point as `f` gives it.
#' @param group a list of orthogonal matrices, closed under products, the identity among them.
#' @param center the public centre, one point, that the identity alone leaves where it is.
#' @return `pullback()`, `quotient()`: a manifold. `mf_original()`: what `inverse` gives, for several points a list.
#' @section Errors:
#' `riemdp_error_argument` for what is no function or no group, or a centre that another member leaves where it is,
#' `riemdp_error_unsupported` for groups on other manifolds, for pullbacks and quotients of these spaces and products
#' with a quotient, `riemdp_error_radius` from private functions for balls beyond D/6.
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
#' Q <- quotient(rotations(3), half_turns, diag(3))
#' turns <- lapply(runif(300, -0.3, 0.3), function(a) {
#'   rbind(c(1, 0, 0), c(0, cos(a), -sin(a)), c(0, sin(a), cos(a))) %*% half_turns[[sample(2, 1)]]
#' })
#' dp_mean(as_mf_points(turns, Q), Q, epsilon = 1, center = diag(3), radius = 0.4)
#' @export
pullback <- function(M, f, inverse = NULL, name = "a pullback") {
  mf_facts(M)
  if (inherits(M, c("riemdp_pullback", "riemdp_quotient")) || of_user(M)) {
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
quotient <- function(M, group, center) {
  facts <- mf_facts(M)
  turns <- inherits(single_space(M), "riemdp_rotations")
  if (inherits(M, c("riemdp_pullback", "riemdp_quotient")) ||
      !(turns || inherits(single_space(M), "riemdp_sphere"))) {
    abort_riemdp("unsupported", "groups act on sphere() and rotations() alone.")
  }
  n <- if (turns) facts$rows else facts$ambient
  group <- check_group(group, n, turns)
  # what makes the other members of an orbit from rows of numbers
  M$orbit <- list(center = as.double(public_point(M, center)),
                  moves = lapply(group, function(A) if (turns) kronecker(A, diag(n)) else t(A)))
  plain <- new_points(t(M$orbit$center), M) # of M, which is no quotient yet
  own <- as.vector(distances_to(M, plain, orbit_members(M, as.matrix(plain), M$orbit$moves)))
  # beyond the cut locus a distance isn't found; it is no less than the injectivity radius
  own[is.na(own)] <- facts$injectivity_radius
  M$orbit$apart <- min(own[-1], Inf)
  if (!(M$orbit$apart > 1e-6)) {
    abort_riemdp("argument", "`center` must be a point that no member of `group` but the identity leaves where it is.")
  }
  structure(M, class = c("riemdp_quotient", class(M)))
}

#' @export
manifold_label.riemdp_quotient <- function(M) {
  sprintf("%s, up to %d symmetries", NextMethod(), length(M$orbit$moves))
}

# what a quotient knows of its group: list(center, moves, apart)
orbit_of <- function(M) {
  o <- M$orbit
  size <- mf_facts(M)$ambient
  held <- is.list(o) && is.double(o$center) && length(o$center) == size && is.list(o$moves) && length(o$moves) &&
    all(vapply(o$moves, function(A) is.double(A) && identical(dim(A), as.integer(c(size, size))), NA)) &&
    is.double(o$apart) && length(o$apart) == 1 && isTRUE(o$apart > 0)
  if (!held) abort_riemdp("manifold", "`M` must be a quotient as quotient() makes it.")
  o
}

# all members of the orbits of points, from rows of their numbers
orbit_members <- function(M, rows, moves = orbit_of(M)$moves) lapply(moves, function(A) new_points(rows %*% A, M))

# distances of points of a quotient from its centre
from_orbit_center <- function(M, images) distances_to(M, new_points(t(orbit_of(M)$center), M), images)

#' @exportS3Method
representatives.riemdp_quotient <- function(M, x) {
  rows <- as.matrix(x)
  there <- which(!is.na(x))
  if (!length(there)) return(x)
  images <- orbit_members(M, rows[there, , drop = FALSE])
  d <- from_orbit_center(M, images)
  d[is.na(d)] <- Inf
  nearest <- max.col(-pmin(d, 1e300), "first")
  for (j in seq_along(images)) rows[there[nearest == j], ] <- as.matrix(images[[j]])[nearest == j, ]
  new_points(unname(rows), M, names = names(x))
}

# representatives that lie where their mean is that of orbits
#' @exportS3Method
own_mean_only.riemdp_quotient <- function(M, x) {
  inherits(x, "riemdp_points") && isTRUE(all(from_orbit_center(M, list(x)) <= orbit_of(M)$apart / 6))
}

# a ball of a quotient lies within a sixth of the way from its centre to the nearest of its images (geometry.md, 9)
#' @exportS3Method
check_ball_place.riemdp_quotient <- function(M, radius, center) {
  most <- orbit_of(M)$apart / 6
  # beyond the cut locus no distance is found
  off <- if (is.null(center)) 0 else from_orbit_center(M, list(mf_points(public_point(M, center), M)))
  limit <- if (is.na(off)) 0 else max(0, most - off)
  if (!(radius <= limit)) {
    abort_riemdp("radius", sprintf(
      paste("`radius` is %.4g, but a ball around `center` must lie within %.4g of the quotient's centre, which allows",
            "%.4g here: a sixth of the way from that centre to the nearest of its images under `group`."),
      radius, most, limit
    ))
  }
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
