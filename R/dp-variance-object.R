# What a private variance answers.

#' @rdname riemdp_release
#' @export
format.riemdp_variance <- function(x, ...) {
  c(
    sprintf("Private %s of %s on %s", if (is.null(x$at)) "Frechet variance" else "mean squared distance",
            how_many_words(x), label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x)),
    sprintf("  public ball of radius %.4g%s; standard deviation %.4g", x$radius,
            if (is.null(x$at)) "" else sprintf(", seen from a public point %.3g from its centre",
                                               mf_dist(x$manifold, x$center, x$at)), sqrt(x$value)),
    paste0("  ", origin_words(x)),
    sprintf("  expected error %.3g of the privacy noise alone", x$expected_error),
    error_lines(c(paste("it is about", x$target), error_left_out(error_kind(x)))),
    release_lines(x)
  )
}

#' @rdname riemdp_release
#' @export
summary.riemdp_variance <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, variance = object$value, sd = sqrt(object$value),
    label = g$label, epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon,
    adjacency = g$adjacency, radius = object$radius, sensitivity = object$sensitivity,
    expected_error = object$expected_error, covers = COVERS, source = object$source %||% NA_character_
  )
}

#' @rdname riemdp_release
#' @export
explain.riemdp_variance <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  s <- x$squares
  cat(format(x$guarantee), "\n\n", sep = "")
  say("Sensitivity: ", moving_words(x), sprintf(" moves the sum of squares by at most %.6g (%s)", s$most, x$theorem),
      if (x$solver_error > 0) sprintf("; rounding adds %.3g", x$solver_error * x$n), ".")
  say(sprintf("Noise: two-sided geometric on a sum of whole numbers, units of %.3g, scale %.6g, by integer arithmetic.",
              s$unit, s$scale))
  if (!is.null(x$size)) say(size_sentence(x))
  explain_records(x, say)
  say(unprotected_sentence(x$guarantee))
  explain_end(x)
}

#' @rdname dp_variance
#' @param object a release of this function.
#' @param parm `"variance"`, or `"size"` where the number of records is private.
#' @param level coverage, between 0 and 1.
#' @param about `"population"` or `"estimate"`, see "Intervals".
#' @export
confint.riemdp_variance <- function(object, parm = c("variance", "size"), level = 0.95,
                                    about = c("population", "estimate"), ...) {
  check_no_more(...)
  parm <- check_choice(parm, "parm", c("variance", "size"))
  level <- check_level(level)
  about <- check_choice(about, "about", c("population", "estimate"))
  as_made(if (parm == "size") size_row(object, level) else
    interval_row(variance_interval(object, level, about), about, level))
}
