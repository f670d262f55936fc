# What a private regression along a curve answers: printing, regions, predictions.

#' @export
print.riemdp_regression_plan <- function(x, ...) {
  show <- plain_table(x)
  told <- population_lines(show)
  show <- population_told(show)
  print(show, ...)
  if (!is.null(told)) cat(told, sep = "\n")
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
  if (!is.null(x$details$sites)) say(shared_curve_words(x$details))
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

#' @rdname confint.riemdp_regression
#' @importFrom stats predict
#' @export
predict.riemdp_regression <- function(object, newdata = NULL, interval = c("none", "prediction"), residual = NULL,
                                      level = 0.95, nsim = 1000, ...) {
  interval <- check_choice(interval, "interval", c("none", "prediction"))
  level <- check_level(level)
  if (interval == "prediction") return(asked_band(object, newdata, residual, level, nsim, TRUE))
  as_made(curve_of_state(object$manifold, object$value, regression_predictors(object, newdata)))
}

#' Bands for the non-private curve, and for the population's
#'
#' With `about = "estimate"`: how far the private curve of [dp_regression()] may be from the non-private one, along the
#' predictor, at no budget.
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
#' @section About the population:
#' With a release of [dp_residual_scale()] for this curve as `residual` the band is about the curve of the population
#' that the records are a sample of: noise and sampling together, for `"newton"`, `"tangent"` and `"gradient"`. The
#' curve's last step solves an equation of sums over records in the tangent space where it began; `nsim` times noise,
#' the error of sampling, what the loss cuts and the predictors' moments are drawn, the last two from what was
#' released less its noise, and it is solved for the population's foot point and vectors (as for lines, see
#' [confint.riemdp_lm()]). At each predictor the radius is the `level` quantile of how far both curves are apart there,
#' to first order. Residuals are taken for even in all directions and of one law at all predictors. Of that law the last
#' step's loss needs the mean square and the mean slope of its derivative, which are released: it needn't be normal.
#' Predictors count by their first and second moments. It is asymptotic, and its target the curve of the method's loss:
#' that of residuals which are alike in opposite directions.
#'
#' `predict(interval = "prediction")` adds a new record's own error by the same scale: a ball around the curve at each
#' predictor, right for normal residuals. [dp_conformal()] needs no law and holds its level at any number of records;
#' it takes records that the curve wasn't made from, its own budget, and its ball is as wide everywhere.
#'
#' Curves of units, of a private number of records and from chunks have them as well, see [confint.riemdp_lm()];
#' [dp_regression_plan()] says beforehand what public numbers rule out.
#'
#' *No band* is told (`riemdp_error_unsupported`) where the last step was moved back into the public domain, where by
#' public numbers the noise in the predictors' sums of squares is above a sixth of the number of records, where draws
#' say that no curve is told, and for `"kng"` and `"paper"`; no ball of a new record where residuals were cut at a
#' `bound` that is too small. In `bench/coverage-lines.csv` 95 % bands held .94 to .99 on the sphere, .96 to .98 on
#' 3 x 3 matrices and .95 to .99 on shapes, with residuals of normal and other laws, where most runs tell one.
#'
#' @param object a release of [dp_regression()].
#' @param parm must be missing: a curve has no coefficients of its own.
#' @param level coverage at each point, between 0 and 1.
#' @param newdata a data frame with predictors, or `NULL` for 51 values along the range of the only predictor.
#' @param about `"estimate"` or `"population"`; the latter where `residual` is given.
#' @param residual a release of [dp_residual_scale()] for this curve.
#' @param interval `"none"`, or `"prediction"` for balls around the curve where a new record lies.
#' @param nsim about the population: how many draws, at least 100.
#' @param x a band.
#' @param main title.
#' @param ... not used, or graphical parameters.
#' @return A list of class `riemdp_band`: `x` (predictors from the middle of their ranges, a row for each), `curve`
#'   (points), `radius`, `level`, `basis`, `about`, `covers` and `leaves_out` (which error it covers, and which not);
#'   about the population also `std.error`, a matrix with columns `total`, `privacy` and `sampling` for one coordinate.
#'   `tidy()`: a data frame with the predictors, `radius` and these errors. `plot()` draws radii and errors along the
#'   only predictor.
#' @references
#' Ferrando, C., Wang, S. and Sheldon, D. (2022). Parametric bootstrap for differentially private confidence intervals.
#' *International Conference on Artificial Intelligence and Statistics*, PMLR 151, 1598-1618.
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' y <- mf_exp(sphere(2), c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
#' r <- dp_regression(y ~ x, sphere(2), epsilon = 2, center = c(0, 0, 1), radius = 0.4,
#'                    speed = 1.5, residual_bound = 0.1, bounds = c(0, 1))
#' range(confint(r)$radius)
#' # residuals and predictors, for a further epsilon
#' s <- dp_residual_scale(r, list(x = x, y = y), epsilon = 1)
#' band <- confint(r, residual = s, nsim = 200)
#' band
#' tidy(band)[1:2, ]
#' @export
confint.riemdp_regression <- function(object, parm, level = 0.95, newdata = NULL,
                                      about = if (is.null(residual)) "estimate" else "population", residual = NULL,
                                      nsim = 1000, ...) {
  if (!missing(parm)) abort_riemdp("argument", "`parm` isn't used for a curve: give other arguments by their names.")
  check_no_more(...)
  level <- check_level(level)
  if (check_choice(about, "about", c("estimate", "population")) == "population") {
    return(asked_band(object, newdata, residual, level, nsim))
  }
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

asked_band <- function(object, newdata, residual, level, nsim, new = FALSE) {
  nsim <- check_count(nsim, "nsim", least = 100, most = 1e6)
  why <- curve_why(object, residual)
  if (!is.null(why)) abort_riemdp(why[1], why[2])
  as_made(curve_population(object, residual, level, regression_predictors(object, newdata), nsim, new))
}

#' @export
format.riemdp_band <- function(x, ...) {
  c(sprintf("Band of level %g at %d points on %s: radius %.4g to %.4g", x$level, length(x$radius),
            label_manifold(x$manifold), min(x$radius), max(x$radius)), sprintf("  (%s)", x$basis),
    if (is.null(x$std.error)) strwrap(x$note %||% error_note("regression"), indent = 2, exdent = 2) else band_errors(x))
}

# each error by itself, where they are known
band_errors <- function(x) {
  middle <- apply(x$std.error, 2, function(s) sqrt(mean(s^2)))
  c(strwrap(sprintf("About %s: %s in it, %s not.", x$about, and_words(x$covers), x$leaves_out), indent = 2, exdent = 2),
    sprintf("  root mean square of the curve in one coordinate: noise of privacy %.3g, of sampling %.3g, total %.3g",
            middle[["privacy"]], middle[["sampling"]], middle[["total"]]))
}

#' @export
print.riemdp_band <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @rdname confint.riemdp_regression
#' @export
tidy.riemdp_band <- function(x, ...) {
  as_made({
    out <- data.frame(predictor = x$x, radius = x$radius)
    if (is.null(x$std.error)) return(out)
    cbind(out, std.error = x$std.error[, "total"], std.error.privacy = x$std.error[, "privacy"],
          std.error.sampling = x$std.error[, "sampling"])
  })
}
