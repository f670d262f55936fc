# Methods of released generalised linear models, where a linear model's won't do: post-processing.

#' Released generalised linear models
#'
#' What can be done with a release of [dp_glm()]: all that [predict.riemdp_lm()] has, for the linear predictor, but for
#' what is about the population. Standard errors, `vcov()`, `confint()` and bands are about the noise that privacy adds,
#' by a model (`type = "nominal"`) or certain (`"bound"`).
#'
#' The model's predictors are spread about evenly over their ranges, independently of each other. Curvature is that of
#' the loss at the released coefficients for `"binomial"` and `"poisson"`; for `"quantile"` that of the guess. So where
#' predictors fill a small part of their ranges, or depend on each other, where responses aren't of the family's law,
#' and where a quantile's guess is off, standard errors and `"nominal"` intervals can be much too narrow: then only
#' `"bound"` holds. `expected_error` is public, so a matter of the bounds alone: for `"binomial"` it is about odds that
#' are nearly even, for the others about a right guess.
#'
#' @param object a release of [dp_glm()].
#' @param newdata,data a data frame with the predictors.
#' @param type `"link"`, the linear predictor, or `"response"`: the probability, the mean count or the quantile. Neither
#'   is moved into the response's public range: mean counts may lie above the limit, quantiles outside the bounds.
#' @param ... of `predict()`: `interval` (`"none"` or `"noise"`), `level` and `outside`, as in [predict.riemdp_lm()]; of
#'   `fitted()` those of `predict()`.
#' @return As [predict.riemdp_lm()].
#' @examples
#' fit <- dp_glm(am ~ wt, mtcars, epsilon = 8, bounds = list(wt = c(1, 6), am = c(0, 1)))
#' summary(fit)
#' confint(fit)
#' predict(fit, data.frame(wt = 2:4), type = "response", interval = "noise")
#' @export
predict.riemdp_glm <- function(object, newdata, type = c("link", "response"), ...) {
  type <- check_choice(type, "type", c("link", "response"))
  if (missing(newdata)) return(predict.riemdp_lm(object, ...))
  out <- predict.riemdp_lm(object, newdata, ...)
  if (type == "response") made_by_dp_lm(object, glm_families()[[object$family]]$inverse(out)) else out
}

#' @rdname predict.riemdp_glm
#' @export
fitted.riemdp_glm <- function(object, data, type = c("response", "link"), ...) {
  fitted.riemdp_lm(object, data, type = check_choice(type, "type", c("response", "link")), ...)
}

#' @export
format.riemdp_glm <- function(x, ...) {
  whole_release(x)
  made_by_dp_lm(x, c(
    sprintf("Private %s regression of %s %s: %s", glm_families()[[x$family]]$model, size_words(x),
            if (of_rows(x$guarantee)) "records" else "units", paste(deparse(x$formula, 500L), collapse = " ")),
    count_lines(x),
    paste0("  ", c(format(x$guarantee), protection_words(x), budget_remarks(x$guarantee, x$n), origin_words(x))),
    sprintf("  expected mean squared error of the %s %.3g%s", glm_families()[[x$family]]$of, x$expected_error,
            if (is.na(x$expected_error)) " (not known in advance)" else if (x$expected_error > 0.5 * x$constant_error) {
              sprintf(", against %.3g of a constant: the release says LITTLE MORE than the bounds do", x$constant_error)
            } else if (x$family == "quantile") " squared public scales" else ""),
    if (!is.na(x$expected_error)) {
      error_lines(paste("for", model_words(x), "which aren't checked: much more for others"))
    },
    error_lines(released_error_words(x)),
    model_error_lines("lm"),
    if (length(format_budget(x$budget))) paste0("  budget: ", format_budget(x$budget))
  ))
}

#' @export
explain.riemdp_glm <- function(x, ...) {
  whole_release(x)
  g <- x$guarantee
  cat(format(g), "\n\n", sep = "")
  lines <- made_by_dp_lm(x, c(
    glm_words(x),
    basis_words(x),
    paste0("Errors and intervals: ", sub("^O", "o", error_note("lm"))),
    if (!is.na(x$expected_error)) {
      paste0("The expected error is for ", model_words(x), " which aren't checked. Standard errors and nominal ",
             "intervals ",
             if (x$family == "quantile") "are for the same." else
               "have the curvature at the released coefficients for such predictors.",
             " For other records they can be much too small; confint(type = \"bound\") holds for all.")
    },
    paste("Predictors and responses are moved into their public ranges, row by row; a row with a missing or infinite",
          "cell counts with a fixed contribution. The number of such rows is not part of the release."),
    count_words(x),
    if (!of_rows(g)) paste("A unit counts with the average over its rows, and how many it has is not part of the",
                           "release: sections 9 and 11 of proofs/linear-regression.md."),
    if (!is.null(x$size)) paste(size_sentence(x), TAKEN),
    origin_sentence(x),
    if (length(g$assumptions)) paste0("Assumed: ", paste(g$assumptions, collapse = "; "), "."),
    "Not protected: the time that the call takes; the rounding of doubles (the proof is about real numbers).",
    if (g$label == "none") paste0("No guarantee, because: ", g$reason, "."),
    "Sources: Chaudhuri, Monteleoni and Sarwate (2011); Kifer, Smith and Thakurta (2012)."
  ))
  for (line in lines) cat(strwrap(line, exdent = 2), sep = "\n")
  invisible(x)
}

model_words <- function(x) {
  sprintf("%s%s,", glm_families()[[x$family]]$guess,
          if (length(x$columns) > 0) " and predictors spread about evenly over their ranges" else "")
}

# the error by the standard errors, where that is more than twice what bounds tell
released_error_words <- function(x) {
  moments <- diag(c(1, rep(NOMINAL_MOMENT, length(x$columns))), length(x$columns) + 1)
  if (!is.null(x$details$rule$simplex)) moments <- tcrossprod(nominal_features(x$spec, x$columns, x$bounds)) / 2000
  error <- sum(scaled_covariance(x)[[1]] * moments)
  if (isTRUE(error > 2 * x$expected_error)) {
    sprintf("by the curvature at the released coefficients it is rather %.2g", error)
  }
}

glm_words <- function(x) {
  rule <- x$details$rule
  c(sprintf(paste("Objective perturbation: the released coefficients minimise the sum of the %s loss (derivatives no",
                  "longer than %.4g on public scales), a ridge (%s) and a random linear term of rate %.4g, drawn",
                  "from a public law."), glm_families()[[x$family]]$model, rule$tau, ridge_words(rule), rule$rate),
    sprintf("Where a %s's gradient is large its curvature may be small: both share one budget.",
            if (isTRUE(rule$averaged)) "row" else "record"),
    sprintf("%.3g of epsilon pays for the solver's error, which a little noise of its own covers.", rule$solver),
    sprintf("Theorem %d of proofs/linear-regression.md.",
            if (isTRUE(rule$weighted)) 5 else if (isTRUE(rule$averaged)) 4 else 3))
}
