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
#'   record where it is a matrix (0 otherwise; `cols` 0 and `rows` k for k complex landmarks).
#' * `k_min`, `k_max`: lower and upper bound of the sectional curvatures.
#' * `injectivity_radius`: a lower bound over all points (0 where it depends on the point and has no positive bound).
#' * `diameter`: largest distance, `Inf` where unbounded or not known.
#' * `homogeneous`, `two_point_homogeneous`, `symmetric`: logical.
#' * `has_laplace`: whether the Riemannian Laplace law can be drawn exactly here.
#' @seealso [sphere()], [spd()], [hyperbolic()], [kendall()], [stiefel()], [grassmann()], [euclidean()],
#'   [manifold_custom()]
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

# One line that names a manifold, also one that somebody has tampered with.
label_manifold <- function(M) {
  text <- tryCatch(manifold_label(M), error = function(e) NULL, warning = function(w) NULL)
  if (is.character(text) && length(text) == 1 && !is.na(text)) text else "a manifold"
}

manifold_label <- function(M) UseMethod("manifold_label")
#' @export
manifold_label.default <- function(M) M$name
