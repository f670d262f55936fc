# What a private smooth curve answers, and its plan.

#' @export
format.riemdp_spline <- function(x, ...) {
  counted <- if (of_rows(x$guarantee)) "records" else "units"
  c(
    sprintf("Private smooth curve of %s %s on %s", if (is.na(x$n)) "a private number of" else format(x$n), counted,
            label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), protection_words(x), budget_remarks(x$guarantee, x$n))),
    sprintf("  %s, in [%.6g, %.6g]; %d B-splines", paste(deparse(x$formula, 500L), collapse = " "), x$range[1],
            x$range[2], nrow(x$value)),
    sprintf("  responses within %.4g of the public %s", x$radius,
            if (is.null(x$velocity)) "centre" else "geodesic through the centre"),
    if (identical(x$target, "frechet")) "  Frechet means of the records near each knot, smoothed",
    paste0("  ", origin_words(x)),
    if (is.na(x$expected_error)) "  expected error: none is told where the number of records is private" else
      c(sprintf("  expected error %.4g by a model (one wave, predictors even over the range)%s", x$expected_error,
                if (x$expected_error > x$constant) ": NO BETTER than the public reference" else ""),
        "    uneven predictors, intervals without records and more waves err more, in trials up to 30 times",
        model_error_lines(error_kind(x))),
    release_lines(x)
  )
}

#' @export
print.riemdp_spline <- function(x, ...) {
  cat(format(x), sep = "\n")
  cat("coefficients, in coordinates at the centre:\n")
  print(x$value)
  invisible(x)
}

#' @export
summary.riemdp_spline <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, label = g$label,
    epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    radius = object$radius, splines = nrow(object$value), expected_error = object$expected_error, covers = COVERS,
    source = object$source %||% NA_character_
  )
}

#' @export
explain.riemdp_spline <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(x$guarantee), "\n\n", sep = "")
  if (identical(x$target, "frechet")) {
    say("A record counts in eighths at the two knots beside its predictor, 8 in all. Released are, for each knot, ",
        "that number of records, and it times the logarithm of their Frechet mean, and how many records count: one ",
        "record moves the logarithms together by no more than a bound of what it moves one mean's, however many ",
        "knots there are (proofs/mean-sensitivity.md, Lemma 8).")
  } else {
    say("Released are sums over records of B-splines times logarithms, and of products of B-splines, and how many ",
        "records count. B-splines are not negative and add up to 1, so that one record moves all sums of a kind ",
        "together by no more than it moves their plain count.")
  }
  say(if (x$mechanism == "l2") {
        sprintf(paste("Each knot's or B-spline's sum has noise of density exp(-|z|/scale), all others two-sided",
                      "geometric noise, with %.3g of epsilon for the former"), x$share)
      } else {
        sprintf("All have discrete Gaussian noise, products of B-splines times %.3g", x$share)
      }, ", drawn by integer arithmetic.")
  for (i in seq_len(NROW(x$draws))) {
    d <- x$draws[i, ]
    say(sprintf("Noise: %s, scale %.6g, where one record moves at most %.6g (proofs/%s).", d$law, d$scale,
                d$sensitivity, d$proof))
  }
  say("Coefficients follow from these sums and from public numbers, the penalty as well.")
  say(origin_sentence(x))
  say("Errors: ", sub("^O", "o", error_note(error_kind(x))))
  say("Not protected: the time that the call takes.")
  say("Assumed: ", paste(x$guarantee$assumptions, collapse = "; "), ".")
  explain_end(x)
}

#' @export
coef.riemdp_spline <- function(object, ...) object$value

#' @export
nobs.riemdp_spline <- function(object, ...) object$n

#' @export
formula.riemdp_spline <- function(x, ...) x$formula

#' @rdname dp_spline
#' @export
predict.riemdp_spline <- function(object, newdata = NULL, ...) {
  if (any(c("interval", "se.fit", "level") %in% ...names())) {
    abort_riemdp("unsupported", "predictions of a smooth curve come without intervals.")
  }
  as_made(spline_at(object, regression_predictors(object, newdata), object$value))
}

#' @rdname dp_spline
#' @export
confint.riemdp_spline <- function(object, parm, level = 0.95, ...) {
  abort_riemdp("unsupported", paste("there are no bands for smooth curves: those of the penalty's model, at level .95,",
                                    "held .11 to .99 of the curve in trials."))
}

#' Plan of a private smooth curve
#'
#' How far a curve of [dp_spline()] would be from the spline without noise, before any data are touched.
#'
#' @param M a manifold.
#' @param n number of records (units), several for a table.
#' @param epsilon privacy budgets, one or several.
#' @param radius as in [dp_spline()].
#' @param df numbers of B-splines less one, as in `bs(t, df = )`, one or several; from `degree` to `degree + 100`.
#' @param ... nothing; later arguments must be named.
#' @param degree of the B-splines, from 1 to 10.
#' @param delta from 0 to below 1; above 0 normal noise may be drawn.
#' @param target as in [dp_spline()]; `"frechet"` is for `degree` 1, its default there, and pure.
#' @param center as in [dp_spline()]; needed for `"frechet"` where curvature isn't the same everywhere
#'   (Bures-Wasserstein).
#' @return A data frame with a row for each n, epsilon and df: `n`, `nominal_epsilon`, `df`, `mechanism` (`"l2"` or
#'   `"normal"`), `share` (of epsilon, of the sums of logarithms; for `"normal"` the weight of products),
#'   `expected_error` (root mean squared distance in the reference's tangent spaces, by the model) and `constant`
#'   (the same of the reference itself). Errors: `riemdp_error_argument` for arguments out of range,
#'   `riemdp_error_unsupported` where so small an epsilon can't be served.
#' @details The model: predictors even over their range, one wave over the range as curve, half the radius high in one
#'   coordinate, and the smoothing that is best for it. Of the noise alone, with what smoothing loses against it. In
#'   simulations of such curves (the sphere and `spd(3)`, 500 to 20,000 records, 5 to 61 B-splines) root mean squared
#'   distances from the plain spline with its own penalty were .4 to 1.5 times this. Where predictors aren't even they
#'   were more: 1 to 11 times for a beta law (5, 5), 5 times with an interval that holds no record, up to 32 times
#'   with three waves over such an interval or predictors that are five values. Of `target = "frechet"` the error is
#'   about local means without noise; what these flatten between knots isn't in it and may be most of all: of one wave
#'   half the radius high (the sphere, 10,000 records, epsilon = 5) curves with 5, 9, 17 and 33 knots were off by .11,
#'   .046, .014 and .0096 radii in all. So a plan doesn't say how many knots are best. Against the plain spline
#'   without penalty they may be hundreds of times this there.
#' @seealso [dp_spline()]
#' @examples
#' dp_spline_plan(sphere(2), n = c(500, 5000), epsilon = 1, radius = 0.6, df = c(5, 10, 30))
#' @export
dp_spline_plan <- function(M, n, epsilon, radius, df = 8, ..., degree = if (target == "frechet") 1 else 3, delta = 0,
                           target = c("tangent", "frechet"), center = NULL) {
  check_dots_empty(...)
  check_manifold(M)
  check_given(c(n = missing(n), epsilon = missing(epsilon), radius = missing(radius)))
  target <- check_choice(target, "target", c("tangent", "frechet"))
  if (!is.null(center)) center <- public_point(M, center)
  degree <- check_count(degree, "degree", most = BASIS_MOST[["degree"]])
  for (numbers in list(n, epsilon, df)) {
    if (!is.numeric(numbers) || is.object(numbers) || !length(numbers)) {
      abort_riemdp("argument", "`n`, `epsilon` and `df` must be numbers, at least one each.")
    }
  }
  delta <- check_delta(delta)
  radius <- spline_radius(M, radius)
  rows <- list()
  for (k in df) for (e in epsilon) for (m in n) {
    term <- list(kind = "bs", degree = degree)
    term <- c(term, checked_knots(list(df = check_count(k, "df", least = degree)), "bs", degree))
    basis <- basis_on(term, c(0, 1))
    ask <- list(manifold = M, n = check_count(m, "n", most = 1e12),
                epsilon = check_number(e, "epsilon", positive = TRUE), delta = delta, center = center,
                radius = radius, d = mf_facts(M)$dimension, basis = basis, range = c(0, 1), pairs = spline_pairs(basis))
    if (target == "frechet") ask <- local_means_ask(ask)
    noise <- spline_noise(ask)
    rows <- c(rows, list(data.frame(
      n = ask$n, nominal_epsilon = ask$epsilon, df = k, mechanism = noise$law, share = noise$share,
      expected_error = noise$error * radius, constant = radius / sqrt(8)
    )))
  }
  do.call(rbind, rows)
}
