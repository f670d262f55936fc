#' Products of manifolds
#'
#' `product()` makes one manifold of several: a record has a point on each of them. `power()` is the product of k copies
#' of one, `torus()` that of d circles, and `oblique()` that of k spheres: matrices of n rows whose k columns have
#' length 1. `mf_join()` makes points of a product from points of its parts, `mf_part()`
#' takes those of a part out again.
#'
#' The metric is \eqn{\sum_i w_i\langle u_i, v_i\rangle_i} with positive weights, so
#' \eqn{d(p, q)^2 = \sum_i w_i\,d_i(p_i, q_i)^2}: a weight of 4 counts distances of that part twice, as on a sphere
#' of radius 2. exp, log and parallel transport are those of the parts; volume densities and Jacobi factors too. The
#' Frechet mean of records is made of the parts' means. One manifold alone is that space in other units:
#' `product(sphere(2), weights = 4)` is a sphere of radius 2, with the same points.
#'
#' What is known of the parts is known of the product ([mf_facts()]; `proofs/products.md` of the installed package):
#' * curvature lies between the least and the largest of 0 and the parts' bounds over their weights, since planes across
#'   two parts are flat (of one part alone, between its bounds over its weight);
#' * the injectivity radius is the least of \eqn{\sqrt{w_i}} times the parts', the squared diameter the sum of
#'   \eqn{w_i} times theirs;
#' * a product of homogeneous spaces is homogeneous, one of symmetric spaces is symmetric, and means are unique wherever
#'   those of all parts are.
#'
#' Private releases ([dp_mean()] and others) take a product as they take any manifold: a ball is a geodesic ball of the
#' product, and noise is drawn for all parts at once, which errs less than a release of each with a share of
#' `epsilon`. A part that is a [manifold_custom()] makes the label `none`. Where all parts have them, there are
#' `"laplace"`, `"staircase"`, `"gaussian"` and `"heat"` around the mean, drawn exactly at any scale that exists
#' (`proofs/products.md`, section 5; flat parts count for `"heat"`). Where some part's curvature is negative,
#' `"gaussian"` draws more noise than `"wrapped_gaussian"`. What needs one space by name (`"chordal"`, the baselines) is
#' refused.
#'
#' A record is stored as the numbers of its points one after the other (matrices by columns, complex landmarks in
#' pairs): records are rows of a matrix. Points of one part alone keep its form. [mf_random()] draws each part by its
#' own law.
#'
#' @param ... manifolds, also products; with names, these name the parts of points. Or one list of them.
#' @param weights positive numbers between 1e-12 and 1e12, one for each manifold, or one for all.
#' @param M for `power()` a manifold; for `mf_join()` and `mf_part()` a product.
#' @param n number of rows, 2 or more.
#' @param k,d number of copies, at least 1; a power of one copy is the manifold itself, in the units of `weight`.
#' @param weight weight of each copy.
#' @param x for `mf_join()` a list with the points of each part, in any form that the part takes, as many records each
#'   or one; in order, or by the parts' names. For `mf_part()` points of the product, or tangent vectors.
#' @param which a part, by number or name.
#' @return `product()`, `power()`, `torus()` and `oblique()`: a manifold object; products may be nested to depth 3.
#'   `mf_join()`: points of the product, a row a record, a vector if all are single. `mf_part()`: points (or tangent
#'   vectors) of the part, in its plain form, or [mf_points()] of it where `x` is such.
#' @section Private means:
#' [dp_mean()] has joint noise, which errs less than a release of each part for the same epsilon: by 1.4 to 3.1 times
#' (`proofs/products.md`, section 4). Where parts are wanted with budgets or balls of their own, `epsilon` or `radius`
#' takes one number for each.
#' @section Errors:
#' `riemdp_error_argument` for weights or parts that are none, `riemdp_error_shape` where numbers of records differ.
#' @references O'Neill, B. (1983). *Semi-Riemannian Geometry with Applications to Relativity*. Academic Press, chapters
#'   3 and 7. \doi{10.1016/s0079-8169(08)x6002-7}
#' @seealso [sphere()], [spd()] and the other manifolds
#' @examples
#' # a direction in space and two numbers, of which a difference of 1 counts as much as an angle of 1/2
#' M <- product(direction = sphere(2), size = euclidean(2), weights = c(1, 1/4))
#' x <- mf_join(M, list(direction = mf_random(sphere(2), 5), size = matrix(rnorm(10), 5)))
#' mf_dist(M, x[1, ], x)
#' mf_part(M, frechet_mean(x, M)$mean, "direction")
#' mf_facts(torus(3))$injectivity_radius
#' @export
product <- function(..., weights = 1) {
  parts <- list(...)
  if (length(parts) == 1 && is.list(parts[[1]]) && !inherits(parts[[1]], "riemdp_manifold")) parts <- parts[[1]]
  if (length(parts) < 1 || length(parts) > 1000) abort_riemdp("argument", "a product has 1 to 1000 parts.")
  lapply(parts, check_manifold)
  if (any(vapply(parts, inherits, NA, "riemdp_quotient"))) {
    abort_riemdp("unsupported", paste("a quotient is no part of a product; quotient() takes a scaled sphere or scaled",
                                      "rotations."))
  }
  weights <- check_part_weights(weights, length(parts))
  if (length(parts) == 1) return(rescaled(parts[[1]], weights))
  if (max(vapply(parts, product_depth, 0)) >= 3) abort_riemdp("argument", "products can be nested to depth 3.")
  M <- new_manifold("product", length(parts), "riemdp_product", parts = parts, weights = weights)
  leaves <- part_leaves(M)
  check_part_weights(vapply(leaves, `[[`, 0, "weight"), length(leaves)) # those of nested products are multiplied
  if (length(leaves) > 1000) abort_riemdp("argument", "a product has at most 1000 parts, those of parts too.")
  M
}

#' @rdname product
#' @export
power <- function(M, k, weight = 1) {
  check_manifold(M)
  product(rep(list(M), check_count(k, "k", most = 1000)), weights = check_part_weights(weight, 1))
}

#' @rdname product
#' @export
torus <- function(d) power(sphere(1), d)

#' @rdname product
#' @export
oblique <- function(n, k) power(sphere(check_count(n, "n", least = 2) - 1), k)

# A manifold with its metric multiplied by a weight: a product of that one part, whose points keep their form. `title`
# names it, where it has a name.
rescaled <- function(M, weight, title = NULL) {
  check_part_weights(weight, 1)
  if (inherits(M, "riemdp_product")) {
    M$weights <- M$weights * weight
    if (is.null(title)) M$title <- NULL
    parts <- part_leaves(M)
    check_part_weights(vapply(parts, `[[`, 0, "weight"), length(parts))
    return(if (length(parts) > 1 || M$weights[1] != 1) M else M$parts[[1]])
  }
  if (weight == 1 && is.null(title)) return(M)
  new_manifold("product", 1, c("riemdp_scaled", "riemdp_product"), parts = list(M), weights = weight,
               extra = list(title = title))
}

# the space that is rescaled
single_space <- function(M) if (inherits(M, "riemdp_scaled")) single_space(M$parts[[1]]) else M

check_part_weights <- function(weights, count) {
  if (!is.numeric(weights) || is.object(weights) || !length(weights) %in% c(1, count) ||
      !all(weights >= 1e-12 & weights <= 1e12) || anyNA(weights)) {
    abort_riemdp("argument",
                 "`weights` must be positive numbers (1e-12 to 1e12), one for each manifold or one for all.")
  }
  rep_len(as.double(weights), count)
}

product_depth <- function(M) {
  if (!inherits(M, "riemdp_product")) return(0)
  (!inherits(M, "riemdp_scaled")) + max(vapply(M$parts, product_depth, 0))
}

#' @rdname product
#' @export
mf_join <- function(M, x) {
  check_product(M)
  if (!is.list(x) || is.data.frame(x) || length(x) != length(M$parts)) {
    abort_riemdp("argument", sprintf("`x` must be a list with the points of each of the %d parts.", length(M$parts)))
  }
  if (!is.null(names(x)) && !is.null(names(M$parts)) && any(nzchar(names(x)))) {
    if (!setequal(names(x), names(M$parts))) abort_riemdp("argument", "the names of `x` must be those of the parts.")
    x <- x[names(M$parts)]
  }
  rows <- lapply(seq_along(x), function(i) unname(as.matrix(mf_points(x[[i]], M$parts[[i]]))))
  single <- vapply(seq_along(x), function(i) is_single_point(x[[i]], M$parts[[i]]), NA)
  counts <- vapply(rows, nrow, 0L)
  n <- if (all(counts == 1L)) 1L else counts[counts != 1L][1]
  if (any(counts != n & counts != 1L)) {
    abort_riemdp("shape", "the parts have different numbers of records: give as many of each, or one.")
  }
  out <- do.call(cbind, lapply(rows, function(r) r[rep_len(seq_len(nrow(r)), n), , drop = FALSE]))
  dimnames(out) <- NULL
  if (all(single)) as.vector(out) else out
}

#' @rdname product
#' @export
mf_part <- function(M, x, which) {
  check_product(M)
  i <- part_number(M, which)
  ends <- cumsum(vapply(M$parts, function(part) mf_facts(part)$ambient, 0))
  whole <- ends[length(ends)]
  classed <- inherits(x, "riemdp_points")
  single <- !classed && is_single_point(x, M)
  fits <- if (classed) mf_facts(attr(x, "manifold"))$ambient == whole else
    is.numeric(x) && (single || (is.matrix(x) && ncol(x) == whole))
  if (!fits) abort_riemdp("shape", "`x` must be points of the product, a row a record.")
  at <- c(0, ends)[i] + seq_len(ends[i] - c(0, ends)[i])
  out <- new_points(storage_rows_tangent(x, M)[, at, drop = FALSE], M$parts[[i]], is_tangents(x))
  if (classed) out else if (single) as_single(out) else as.array(out)
}

part_number <- function(M, which) {
  one <- length(which) == 1 && !is.object(which) && (is.numeric(which) || is.character(which))
  i <- if (one) match(which, if (is.character(which)) names(M$parts) else seq_along(M$parts))
  if (is.null(i) || is.na(i)) abort_riemdp("argument", "`which` must be the number or the name of a part.")
  i
}

# whether a plain x is one point in its single shape
is_single_point <- function(x, M) {
  facts <- mf_facts(M)
  if (inherits(x, "riemdp_points")) return(FALSE)
  if (facts$rows > 0 && facts$cols == 0) return(length(dim(x)) < if (is.complex(x)) 2 else 3)
  length(x) == plain_length(x, facts) && length(dim(x)) < if (facts$rows > 0) 3 else 2
}

# whether the formulas of a space of the package, or of a part, have no model: no bounds of rounding errors are proven
has_no_model <- function(M) {
  any(vapply(part_leaves(M), function(leaf) mf_facts(leaf$M)$model == "none" && !of_user(leaf$M), NA))
}

# The parts of a product, of products of products as well, each with its weight and the places of its numbers; a
# manifold that is no product is its own part
part_leaves <- function(M) {
  found <- list()
  at <- 0
  walk <- function(M, weight) {
    if (inherits(M, "riemdp_product")) {
      for (i in seq_along(M$parts)) walk(M$parts[[i]], weight * M$weights[i])
    } else {
      ambient <- mf_facts(M)$ambient
      found[[length(found) + 1]] <<- list(M = M, weight = weight, at = at + seq_len(ambient))
      at <<- at + ambient
    }
  }
  walk(M, 1)
  found
}

# a part's point, in its plain single shape, of a point of the product
leaf_point <- function(M, leaf, point) {
  as_single(new_points(as.matrix(mf_points(point, M))[, leaf$at, drop = FALSE], leaf$M))
}

# How volume may grow on a product: in how many directions, and minus the least Ricci curvature; a space that is no
# product is its own part. That of src/geometry/manifold_product_area.c
part_growth <- function(M) {
  parts <- vapply(part_leaves(M), function(leaf) {
    facts <- mf_facts(leaf$M)
    k <- facts$rows
    if (facts$k_min == 0 || facts$k_max > 0) return(c(0, 0))
    each <- switch(facts$model, spd = 1, hermitian = 2, 0) # dimensions that a pair of eigenvalues has
    if (each > 0) c(each * k * (k - 1) / 2, each * k / 4 / leaf$weight) else
      c(facts$dimension - 1, (facts$dimension - 1) / leaf$weight)
  }, c(0, 0))
  list(curved = sum(parts[1, ]), bend = max(parts[2, ]))
}

check_product <- function(M) {
  if (!inherits(check_manifold(M), "riemdp_product")) abort_riemdp("argument", "`M` must be a product of manifolds.")
}

#' @export
manifold_label.riemdp_product <- function(M) {
  names <- vapply(M$parts, function(part) {
    text <- manifold_label(part)
    if (inherits(part, "riemdp_product")) paste0("(", text, ")") else text
  }, "")
  same <- length(unique(names)) == 1 && length(unique(M$weights)) == 1
  weights <- if (all(M$weights == 1)) "" else {
    sprintf(", weight%s %s", if (same) "" else "s",
            paste(vapply(if (same) M$weights[1] else M$weights, format, "", digits = 4), collapse = ", "))
  }
  paste0(if (same) sprintf("%d times %s", length(names), names[1]) else paste(names, collapse = " x "), weights)
}

#' @export
manifold_label.riemdp_scaled <- function(M) {
  if (is.null(M$title)) sprintf("%s, metric times %.4g", manifold_label(M$parts[[1]]), M$weights) else M$title
}

#' @export
random_points.riemdp_scaled <- function(M, n, sd) mf_random(M$parts[[1]], n, sd / sqrt(M$weights))

#' @export
random_points.riemdp_product <- function(M, n, sd) {
  do.call(cbind, lapply(seq_along(M$parts), function(i) {
    as.matrix(mf_points(mf_random(M$parts[[i]], n, sd / sqrt(M$weights[i])), M$parts[[i]]))
  }))
}
