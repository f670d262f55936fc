# A release holds the noisy value and public facts: never data, a non-private estimate, or an environment.

new_release <- function(value, kind, ..., guarantee) {
  structure(c(list(value = value), list(...), list(guarantee = guarantee)), class = c(kind, "dp_release"))
}

#' Private releases
#'
#' What [dp_mean()] returns, and what can be done with it. `print()` says what was released and what is promised, in one line a
#' reviewer can quote; `summary()` is a one-row data frame; `explain()` names theorem, constants and assumptions; `plot()`
#' draws the released point in its public ball (see [plot.dp_release()]). Everything done with a release afterwards keeps its
#' guarantee.
#'
#' @param x,object a release.
#' @param ... not used.
#' @return `summary()`: a data frame with one row. `print()`, `explain()`: the release, invisibly. `format()`: character.
#' @examples
#' x <- cbind(quakes$long, quakes$lat)
#' r <- dp_mean(x, euclidean(2), epsilon = 1, center = c(175, -20), radius = 15)
#' r
#' summary(r)
#' explain(r)
#' @name dp_release
NULL

#' @rdname dp_release
#' @export
format.dp_release <- function(x, ...) {
  c(
    sprintf("Private mean of %d records on %s", as.integer(x$n), label_manifold(x$manifold)),
    paste0("  ", format(x$guarantee)),
    if (!is.null(x$target)) paste0("  target: ", x$target),
    sprintf("  mechanism %s, scale %.4g, public ball of radius %.4g", x$mechanism, x$scale, x$radius),
    sprintf("  expected error %.4g%s", x$expected_error,
            if (is.na(x$expected_error)) " (not known in advance)" else
            if (x$expected_error > x$radius) ": LARGER than the public radius, the release says less than the bounds do" else
              sprintf(", %.2g %% of the radius%s", 100 * x$expected_error / x$radius,
                      if (x$expected_error > 0.5 * x$radius) ": the release says LITTLE MORE than the bounds do" else "")),
    if (length(format_budget(x$budget))) paste0("  budget: ", format_budget(x$budget)),
    if (length(x$post_processed)) paste0("  post-processed: ", x$post_processed)
  )
}

#' @rdname dp_release
#' @export
print.dp_release <- function(x, ...) {
  cat(format(x), sep = "\n")
  print(x$value)
  invisible(x)
}

#' @rdname dp_release
#' @export
summary.dp_release <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, label = g$label,
    epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    radius = object$radius, sensitivity = object$sensitivity, scale = object$scale,
    expected_error = object$expected_error
  )
}

#' @export
generics::explain

#' @rdname dp_release
#' @export
explain.dp_release <- function(x, ...) {
  g <- x$guarantee
  cat(format(g), "\n\n", sep = "")
  moved <- if (!is.null(x$details$moved)) x$details$moved else if (is.null(x$target)) "Frechet mean" else sub(",.*", "", x$target)
  if (!is.na(x$sensitivity)) {
    cat(strwrap(sprintf(
      "Sensitivity: replacing one of the n = %d records moves the %s by at most %.6g, by the bound %s. The solver's error adds %.3g.",
      as.integer(x$n), moved, x$sensitivity, x$theorem, x$solver_error), exdent = 2), sep = "\n")
  }
  cat(strwrap(mean_mechanisms()[[x$mechanism]]$words(x), exdent = 2), sep = "\n")
  cat(strwrap("Records outside the public ball are moved to its nearest point, one by one; records that are no points, or lie at the cut locus of the centre, count as the centre. Their number is not part of the release.", exdent = 2), sep = "\n")
  cat(strwrap(paste0("Not protected: the time that the call takes", if (g$numerics == "lattice") "." else
    "; the rounding of doubles (the proof is about real numbers)."), exdent = 2), sep = "\n")
  if (length(x$post_processed)) {
    cat(strwrap(paste0("Post-processed: ", paste(x$post_processed, collapse = "; "), ". A function of the release and of public settings: the guarantee is that of the release."),
                exdent = 2), sep = "\n")
  }
  if (g$label == "none") cat(strwrap(paste0("No guarantee, because: ", g$reason, ".")), sep = "\n")
  sources <- mechanism_sources(x$mechanism)
  if (length(sources)) cat(strwrap(paste0("Sources: ", paste(sources, collapse = "; "), "."), exdent = 2), sep = "\n")
  invisible(x)
}
