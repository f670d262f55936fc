# A release holds the noisy value and public facts: never data, a non-private estimate, or an environment.

#' Private releases
#'
#' What [dp_mean()] and the other private functions return, and what can be done with it. `print()` says what was
#' released, what is promised, in one line a reviewer can quote, where the public bounds come from, and what the
#' expected error is about (see [dp_mean()]); `summary()` is a one-row data frame; `explain()` names theorem, constants
#' and assumptions; `plot()` draws a released point in its public ball (see [plot.riemdp_release()]). Everything done
#' with a release afterwards keeps its guarantee.
#'
#' `print()` remarks on budgets that promise little. Of two neighbouring data sets that are as likely before, an
#' \eqn{(\epsilon, \delta)}-private release tells the right one with a probability of at most
#' \eqn{(e^\epsilon + \delta)/(1 + e^\epsilon)}: that is said where \eqn{\epsilon} is above 10. A mechanism that
#' publishes one whole record, drawn by lot, has a \eqn{\delta} of 1/n, one that publishes all records with probability
#' \eqn{\delta} that \eqn{\delta}: said from 1/n, or from one half, on.
#'
#' @section What was drawn:
#' A private release has an entry `draws` (some baselines have none), a data frame with a row for each draw of noise:
#' its `law`, the `proof` of its price (a file of the installed folder `proofs`, and its section), the `sensitivity` (in
#' the law's norm, with what the solver's error adds), the `scale` of the noise, and the price that follows from the
#' two: `epsilon` and `delta`, or `mu` of normal noise (\eqn{\mu}-Gaussian differential privacy; squares add up). Steps
#' of [dp_optimize()] are one row; snapshots of `"rsvrg"` have a second one, whose price is in that of the steps. Under
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
  c("Private release", paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n), origin_words(x))),
    release_lines(x))
}

# the last lines of what a release says of itself
release_lines <- function(x) {
  budget <- format_budget(x$budget)
  c(if (length(budget)) paste0("  budget: ", budget),
    if (length(x$post_processed)) paste0("  post-processed: ", x$post_processed))
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
  cbind(summary(object$guarantee)[c("label", "epsilon", "delta", "nominal_epsilon", "adjacency")],
        source = object$source %||% NA_character_)
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

# what was drawn, and by which proof it costs what it costs
#' @rdname riemdp_release
#' @export
explain.riemdp_release <- function(x, ...) {
  cat(format(x$guarantee), "\n\n", sep = "")
  for (i in seq_len(NROW(x$draws))) {
    d <- x$draws[i, ]
    if (identical(d$law, "selection")) {
      cat(strwrap(sprintf("Choice: the best of a secret number of tries, at %g times what one may spend (proofs/%s).",
                          d$sensitivity, d$proof), exdent = 2), sep = "\n")
      next
    }
    cat(strwrap(sprintf("Noise: %s, scale %.6g, where replacing one %s moves at most %.6g (proofs/%s).", d$law, d$scale,
                        if (is.null(x$unit)) "record" else "unit", d$sensitivity, d$proof), exdent = 2), sep = "\n")
  }
  cat(strwrap(origin_sentence(x), exdent = 2), sep = "\n")
  explain_end(x)
}

# what was done afterwards, and why there is no guarantee
explain_end <- function(x) {
  if (length(x$post_processed)) {
    cat(strwrap(paste0("Post-processed: ", paste(x$post_processed, collapse = "; "),
                       ". A function of the release and of public settings: the guarantee is that of the release."),
                exdent = 2), sep = "\n")
  }
  if (x$guarantee$label == "none") cat(strwrap(paste0("No guarantee, because: ", x$guarantee$reason, ".")), sep = "\n")
  invisible(x)
}
