# What a private regression along a curve answers: printing, regions, predictions.

#' @export
print.riemdp_regression_plan <- function(x, ...) {
  print(plain_table(x), ...)
  if (whole_plan(x) && !is.null(attr(x, "unit"))) cat("n: number of units, each protected with all its rows\n")
  if (whole_plan(x)) cat(strwrap(paste0("expected_error: ", sub("^O", "o", error_note("regression")))), sep = "\n")
  invisible(x)
}

#' @export
format.riemdp_regression <- function(x, ...) {
  c(
    sprintf("Private geodesic regression of %s %s on %s", size_words(x),
            if (of_rows(x$guarantee)) "records" else "units", label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), protection_words(x), budget_remarks(x$guarantee, x$n))),
    sprintf("  predictors: %s", paste(sprintf("%s in [%.4g, %.4g]", x$columns$name, x$columns$middle - x$columns$half,
                                              x$columns$middle + x$columns$half), collapse = ", ")),
    sprintf("  method %s, %d step%s; foot point within %.4g of the public centre, speed at most %s", x$mechanism,
            length(x$details$shares), if (length(x$details$shares) > 1) "s" else "", x$radius,
            paste(format(x$speed, digits = 4), collapse = ", ")),
    paste0("  ", origin_words(x)),
    if (is.na(x$expected_error)) "  expected distance to the non-private curve: no model for this method" else
      sprintf("  expected distance to the non-private curve %.4g%s", x$expected_error,
            if (x$expected_error > x$details$constant) ": NO BETTER than a curve that stays at the public centre" else
              ""),
    if (!is.na(x$expected_error)) model_error_lines("regression"),
    if (length(format_budget(x$budget))) paste0("  budget: ", format_budget(x$budget))
  )
}

#' @export
print.riemdp_regression <- function(x, ...) {
  cat(format(x), sep = "\n")
  cat("foot point at ", paste(x$columns$name, "=", format(x$columns$middle, digits = 4), collapse = ", "), ":\n",
      sep = "")
  print(x$value$p)
  cat("shooting vector", if (nrow(x$columns) > 1) "s" else "", ":\n", sep = "")
  print(x$value$v)
  invisible(x)
}

#' @export
summary.riemdp_regression <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, label = g$label,
    epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    radius = object$radius,
    residual_bound = object$residual_bound, expected_error = object$expected_error, covers = COVERS,
    source = object$source %||% NA_character_
  )
}

#' @export
explain.riemdp_regression <- function(x, ...) {
  g <- x$guarantee
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(g), "\n\n", sep = "")
  say(regression_mechanisms()[[x$mechanism]]$words(x))
  say(paste("Predictors are moved into their public ranges, record by record; responses that are missing, no points,",
            "or without a logarithm "),
      "at the current curve have no pull. Their number is not part of the release.",
      if (!of_rows(g)) paste(" A unit counts with the average over its rows, and how many it has is not part of the",
                             "release either (section 5 of the proof)."))
  if (!is.null(x$size)) say(size_sentence(x), " ", TAKEN)
  say(origin_sentence(x))
  say("Method: ", x$mechanism, " (", x$chosen, ").")
  say("Errors and bands: ", sub("^O", "o", error_note("regression")))
  say("Not protected: the time that the call takes; the rounding of doubles (the proof is about real numbers).")
  if (g$label == "none") say("No guarantee, because: ", g$reason, ".")
  say("Assumed: ", paste(g$assumptions, collapse = "; "), ".")
  say("Proof: proofs/regression.md and proofs/linear-regression.md of the installed package.")
  invisible(x)
}

#' @importFrom stats predict
#' @export
predict.riemdp_regression <- function(object, newdata = NULL, ...) {
  as_made(curve_of_state(object$manifold, object$value, regression_predictors(object, newdata)))
}

#' Band for the non-private curve
#'
#' How far the private curve of [dp_regression()] may be from the non-private one, along the predictor, at no budget.
#'
#' The law of the released curve depends on the records, so this rests on the public error model of
#' [dp_regression_plan()] and not on a theorem: where the bounds given were far from the truth it is off. It covers the
#' privacy noise, neither clipping, what moving predictors into their ranges and shortening residuals does to the curve,
#' nor sampling, how the records differ from their population. Each predictor value has a geodesic radius, `level`
#' quantile of the length of a normal error with the model's spread of foot point and vectors. In simulations with
#' bounds that fit (the six spaces of `reproduce/geodesic-regression.R`, n from 20 to 500, epsilon .5 to 8, 100
#' releases each) bands of level .95 held .96 to 1 of the non-private curve; with a residual bound three times too small
#' .52 to .98.
#'
#' @param object a release of [dp_regression()].
#' @param parm not used.
#' @param level coverage at each point, between 0 and 1.
#' @param newdata a data frame with predictors, or `NULL` for 51 values along the range of the only predictor.
#' @param ... not used.
#' @return A list of class `riemdp_band`: `x` (predictors from the middle of their ranges, a row for each), `curve`
#'   (points), `radius`, `level`, `basis`, `about`, `covers` and `leaves_out` (which error it covers, and which not).
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' y <- mf_exp(sphere(2), c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
#' r <- dp_regression(y ~ x, sphere(2), epsilon = 2, center = c(0, 0, 1), radius = 0.4,
#'                    speed = 1.5, residual_bound = 0.1, x_range = c(0, 1))
#' range(confint(r)$radius)
#' @export
confint.riemdp_regression <- function(object, parm, level = 0.95, newdata = NULL, ...) {
  level <- check_level(level)
  if (is.null(object$spread)) {
    abort_riemdp("unsupported", "there is no error model for this method, so no band.")
  }
  as_made({
    x <- regression_predictors(object, newdata)
    q <- mf_facts(object$manifold)$dimension
    share <- rbind(1, (x / object$columns$half)^2)
    spread <- sqrt(drop(object$spread %*% share) / q)
    structure(list(x = t(x), curve = curve_of_state(object$manifold, object$value, x),
                   radius = spread * sqrt(stats::qchisq(level, q)), level = level, manifold = object$manifold,
                   basis = "the public error model, which is no theorem", about = error_about("regression"),
                   covers = COVERS, leaves_out = c("clipping", "sampling")), class = "riemdp_band")
  })
}

#' @export
print.riemdp_band <- function(x, ...) {
  cat(sprintf("Band of level %g at %d points on %s: radius %.4g to %.4g\n  (%s)\n", x$level, length(x$radius),
              label_manifold(x$manifold), min(x$radius), max(x$radius), x$basis))
  cat(strwrap(error_note("regression"), indent = 2, exdent = 2), sep = "\n")
  invisible(x)
}
