# A release holds the noisy value and public facts: never data, a non-private estimate, or an environment.

#' Private releases
#'
#' What [dp_mean()] returns, and what can be done with it. `print()` says what was released, what is promised, in one
#' line a reviewer can quote, and what the expected error is about (see [dp_mean()]); `summary()` is a one-row data
#' frame; `explain()` names theorem, constants and assumptions; `plot()` draws the released point in its public ball
#' (see [plot.riemdp_release()]). Everything done with a release afterwards keeps its guarantee.
#'
#' @section What was drawn:
#' A private release has an entry `draws` (some baselines have none), a data frame with a row for each draw of noise:
#' its `law`, the `proof` of its price (a file of the installed folder `proofs`, and its section), the `sensitivity` (in
#' the law's norm, with what the solver's error adds), the `scale` of the noise, and the price that follows from the
#' two: `epsilon` and `delta`, or `mu` of normal noise (\eqn{\mu}-Gaussian differential privacy; squares add up). Under
#' the label `none` these are `nominal_epsilon` and so on. Each draw is priced before it is made, and a release that
#' would draw more than its guarantee states is stopped (`riemdp_error_contract`, a fault of the package). Everything in
#' the table is public or follows from what was released.
#'
#' @param x,object a release.
#' @param ... not used.
#' @return `summary()`: a data frame with one row; `covers` says which error `expected_error` is, `outside` is the
#'   released share of records outside the ball, between 0 and 1 (`NA` where none was released). `print()`, `explain()`:
#'   the release, invisibly. `format()`: character. `as.matrix()`: the released matrix, or the released vector as one
#'   row; `as.array()`, `as.numeric()`, `as.complex()`: its stored numbers; `as.data.frame()`: as [tidy()][tidy.riemdp].
#'   A release is no number: arithmetic with one, `mean()`, `c()`, `rbind()` and the like are refused by an error of
#'   class `riemdp_error_unsupported`.
#' @examples
#' x <- cbind(quakes$long, quakes$lat)
#' r <- dp_mean(x, euclidean(2), epsilon = 1, center = c(175, -20), radius = 15)
#' r
#' summary(r)
#' explain(r)
#' @name riemdp_release
NULL

#' @rdname riemdp_release
#' @export
format.riemdp_release <- function(x, ...) {
  c(
    sprintf("Private mean of %d records on %s", as.integer(x$n), label_manifold(x$manifold)),
    paste0("  ", format(x$guarantee)),
    if (!is.null(x$target)) paste0("  target: ", x$target),
    sprintf("  mechanism %s, scale %.4g, public ball of radius %.4g", x$mechanism, x$scale, x$radius),
    sprintf("  expected error of the %s %.4g%s", COVERS, x$expected_error, error_beside_radius(x)),
    mean_error_lines(x),
    if (length(format_budget(x$budget))) paste0("  budget: ", format_budget(x$budget)),
    if (length(x$post_processed)) paste0("  post-processed: ", x$post_processed)
  )
}

error_beside_radius <- function(x) {
  if (is.na(x$expected_error)) return(" (not known in advance)")
  if (x$expected_error > x$radius) return(": LARGER than the public radius, the release says less than the bounds do")
  sprintf(", %.2g %% of the radius%s", 100 * x$expected_error / x$radius,
          if (x$expected_error > 0.5 * x$radius) ": the release says LITTLE MORE than the bounds do" else "")
}

#' @rdname riemdp_release
#' @export
print.riemdp_release <- function(x, ...) {
  cat(format(x), sep = "\n")
  print(x$value)
  invisible(x)
}

#' @rdname riemdp_release
#' @export
summary.riemdp_release <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, label = g$label,
    epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    radius = object$radius, sensitivity = object$sensitivity, scale = object$scale,
    expected_error = object$expected_error, covers = COVERS,
    outside = if (is.null(object$clipped)) NA_real_ else min(1, max(0, object$clipped$share))
  )
}

#' @rdname riemdp_release
#' @param row.names,optional not used.
#' @export
as.data.frame.riemdp_release <- function(x, row.names = NULL, optional = FALSE, ...) tidy(x)

#' @rdname riemdp_release
#' @export
as.matrix.riemdp_release <- function(x, ...) {
  value <- plain_value(x)
  if (is.matrix(value)) value else matrix(value, 1, dimnames = if (!is.null(names(value))) list(NULL, names(value)))
}

#' @rdname riemdp_release
#' @export
as.array.riemdp_release <- function(x, ...) as.array(plain_value(x))

#' @rdname riemdp_release
#' @export
as.double.riemdp_release <- function(x, ...) {
  value <- plain_value(x)
  if (is.complex(value)) abort_riemdp("unsupported", "the released point is complex: as.complex() takes it out.")
  as.double(value)
}

#' @rdname riemdp_release
#' @export
as.complex.riemdp_release <- function(x, ...) as.complex(plain_value(x))

plain_value <- function(x) {
  if (!is.numeric(x$value) && !is.complex(x$value)) {
    abort_riemdp("unsupported",
                 "the released value isn't a single point: coef() takes its parts out, tidy() its numbers.")
  }
  x$value
}

#' @export
generics::explain

#' @rdname riemdp_release
#' @export
explain.riemdp_release <- function(x, ...) {
  g <- x$guarantee
  cat(format(g), "\n\n", sep = "")
  moved <- if (!is.null(x$details$moved)) x$details$moved else if (is.null(x$target)) "Frechet mean" else
    sub("^the ", "", sub(",.*", "", x$target))
  if (!is.na(x$sensitivity)) {
    cat(strwrap(sprintf(
      paste("Sensitivity: replacing one of the n = %d records moves the %s by at most %.6g, by the bound %s. The",
            "solver's error adds %.3g."),
      as.integer(x$n), moved, x$sensitivity, x$theorem, x$solver_error), exdent = 2), sep = "\n")
  }
  cat(strwrap(mean_mechanisms()[[x$mechanism]]$words(x), exdent = 2), sep = "\n")
  cat(strwrap(paste("Records outside the public ball are moved to its nearest point, one by one; records that are no",
                    "points, or lie at the cut locus of the centre, count as the centre."), exdent = 2), sep = "\n")
  cat(strwrap(if (is.null(x$clipped)) "The number of records outside is not part of the release." else sprintf(
    paste("The number of records outside (those that are no points not among them) is released with two-sided",
          "geometric noise of scale %.6g: replacing one record moves it by at most 1",
          "(proofs/mean-sensitivity.md, section 11)."),
    x$clipped$scale), exdent = 2), sep = "\n")
  cat(strwrap(paste0("Errors: what is stated is ", sub("^O", "o", error_note(error_kind(x)))), exdent = 2), sep = "\n")
  for (line in c(clipped_words(x), edge_words(x))) {
    cat(strwrap(paste0(toupper(substr(line, 1, 1)), substring(line, 2), "."), exdent = 2), sep = "\n")
  }
  cat(strwrap(paste0("Not protected: the time that the call takes", if (g$numerics == "lattice") "." else
    "; the rounding of doubles (the proof is about real numbers)."), exdent = 2), sep = "\n")
  if (length(x$post_processed)) {
    cat(strwrap(paste0("Post-processed: ", paste(x$post_processed, collapse = "; "),
                       ". A function of the release and of public settings: the guarantee is that of the release."),
                exdent = 2), sep = "\n")
  }
  if (g$label == "none") cat(strwrap(paste0("No guarantee, because: ", g$reason, ".")), sep = "\n")
  sources <- mechanism_sources(x$mechanism)
  if (length(sources)) cat(strwrap(paste0("Sources: ", paste(sources, collapse = "; "), "."), exdent = 2), sep = "\n")
  invisible(x)
}
