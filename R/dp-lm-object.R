# Methods of released linear models. All are functions of the release and of what the caller gives: post-processing.

#' Released linear models
#'
#' What can be done with a release of [dp_lm()]. There are no fitted values and residuals in it, since those are
#' functions of records: `predict(r, newdata)` makes predictions wherever they are wanted, and `fitted(r, data)` is the
#' same for rows that you hold.
#'
#' @section Uncertainty:
#' `confint()`, `vcov()`, the standard errors of `summary()` and `tidy()`, and bands of `predict()` are about the noise
#' that privacy adds, from public numbers and the release alone; they cost no budget. They cover neither clipping, what
#' moving rows into their public ranges and limits does to the fit, nor sampling, the records' own error; nor does the
#' expected excess that `print()` shows, which is about records that keep the public bounds. They are in units of the
#' responses' scales, those that were released where a guess was off, and of the budget that its check left; where
#' guesses are taken as they are (few records, see "Wrong guesses" in [dp_lm()]) they believe them.
#' * `type = "nominal"`: normal intervals. For `"statistics"`, `"adassp"` and `"output"` the noise's law is public and
#'   only linearised; for objective perturbation it passes through the records' curvature, for which the public model
#'   stands in, and for `"newton"` the residuals' released scale with normal errors. `NA` for
#'   `"descent"`, `"theil_sen"` and `"boosted"`, of which nothing is told, and where [explain()] says that of
#'   `"newton"`.
#' * `type = "bound"`: for `"objective"`, `"huber"` and `"gaussian"`: the released coefficients differ from those of the
#'   same loss and ridge without noise by no more than the noise's length in the ridge's metric, whatever the records
#'   are (proof: the ridge bounds the curvature from below), and what covers the solver's error. Wide, and certain. The
#'   target is shrunk as the release is.
#'
#' @section About the population:
#' `confint(about = "population")` is about the line of the population that the rows are a sample of, moved into the
#' public ranges and limits: sampling and privacy noise together. It takes a private residual scale, a release of
#' [dp_residual_scale()] for this very fit. What was released solves an equation of sums over rows, known numbers and
#' noise of a known law. `nsim` times noise, the error of sampling, the errors' variances and the predictors' moments
#' are drawn, the last two from what was released less a draw of its noise, and the equation is solved for the
#' population's coefficients; the interval is between quantiles of those (the parametric bootstrap of Ferrando, Wang and
#' Sheldon 2022, turned round as in Hannig, Iyer, Lai and Lee 2016). A ridge's shrinkage is in it, so where n epsilon is
#' small the release need not lie in the middle. It is asymptotic: errors are taken for normal with one variance, and
#' predictors by their first and second moments. `"objective"`, `"recentred"`, `"huber"`, `"newton"`, `"gaussian"` and
#' `"output"` are about the line that the loss has in the population: for errors that are symmetric, or slopes where
#' errors don't depend on predictors, the usual one. With `"statistics"` and `"adassp"` it is that of moved responses:
#' limits that cut many make another line.
#'
#' `interval = "population"` of `predict()` are bands of the same kind, each value by itself, and
#' `interval = "prediction"` adds a new record's error, by the released scale and a normal law: where the law may be
#' another, and the level has to hold at any number of records, [dp_conformal()] is the way, at a price of its own.
#'
#' Fits of units, of a private number of records and from chunks have them as well. Of n units the error of sampling is
#' taken as large as that of n rows, one of each: an upper bound, which rows that are alike need, and up to the root of
#' how many rows a unit has too wide where they aren't. A private number is drawn, as released less its noise.
#' [dp_lm_plan()] says beforehand what public numbers rule out.
#'
#' *No interval* is told (`riemdp_error_unsupported`) where its level wasn't held: where by public numbers the noise in
#' the predictors' sums of squares is above a sixth of the number of records, where draws say that no line is told,
#' where residuals were cut at a `bound` that is too small, and for `"theil_sen"`, `"kng"`, `"boosted"` and
#' `"paper"`.
#' `bench/coverage-lines.csv` has what was seen elsewhere.
#'
#' @param object,x a release of [dp_lm()].
#' @param newdata a data frame with the predictors.
#' @param interval `"none"`, `"noise"` for bands of the noise that privacy adds, or with `residual` `"population"` for
#'   bands of the population's line and `"prediction"` for a new record.
#' @param level coverage, between 0 and 1.
#' @param outside what a predictor outside its public range does: `"move"`, to the range's end, as in the fit, or
#'   `"extend"` the line (not of splines and polynomials). Where it isn't given and a predictor is moved, a warning of
#'   class `riemdp_warning_range` says so.
#' @param parm names or numbers of coefficients; all by default.
#' @param type `"nominal"` or `"bound"`, see below.
#' @param about `"estimate"`, or `"population"`: the default where `residual` is given. See below.
#' @param residual about the population: a release of [dp_residual_scale()] for this fit. `tidy()` and `summary()` then
#'   have errors of sampling too.
#' @param nsim about the population: how many draws, at least 100.
#' @param conf.level of `tidy()`: coverage of its intervals about the population.
#' @param data a data frame with the predictors.
#' @param ... not used, graphical parameters, or of `fitted()` those of `predict()`.
#' @return `coef()`: as `object$value`. `predict()`: a vector, or a matrix with a column for each response; with
#'   `interval` an array with `fit`, `lower`, `upper` as its last dimension (a matrix for one response). `confint()`: a
#'   matrix with a row for each coefficient, and an attribute `covers` that says which error it covers. `vcov()`: the
#'   covariance of the noise, without the (weak) one between responses. `summary()`: a list of class `summary.riemdp_lm`
#'   with `coefficients`, a data frame, and with `residual` also `fit`, one with a row for each response: `sigma`,
#'   `r.squared` with `r.squared.std.error`, and `logLik` and `AIC` of a normal law with the released sum of squares
#'   (`NA` of units, and where that sum isn't positive). `r.squared` is about the population's line (`NA` where ranges
#'   were found too wide, see "Wrong guesses" in [dp_lm()]); what slopes seem to
#'   tell because noise and sampling move them is taken out, so it may be 0. `tidy()`: a data frame with `response`,
#'   `term`, `estimate`, `std.error` (of the noise); with `residual` `std.error` of noise and sampling together,
#'   `std.error.privacy` and `std.error.sampling` (half of what holds .68 of the draws), `conf.low` and `conf.high`
#'   about the population.
#'   `glance()`: one row. `nobs()`: the public number of records. `formula()`: the formula, without its environment.
#' @references
#' Ferrando, C., Wang, S. and Sheldon, D. (2022). Parametric bootstrap for differentially private confidence intervals.
#' *International Conference on Artificial Intelligence and Statistics*, PMLR 151, 1598-1618.
#'
#' Hannig, J., Iyer, H., Lai, R. C. S. and Lee, T. C. M. (2016). Generalized fiducial inference: a review and new
#' results. *Journal of the American Statistical Association* 111, 1346-1361. \doi{10.1080/01621459.2016.1165102}
#' @examples
#' fit <- dp_lm(mpg ~ wt, mtcars, epsilon = 4,
#'              bounds = list(wt = c(1, 6), mpg = c(center = 20, scale = 6)))
#' summary(fit)
#' confint(fit)
#' predict(fit, data.frame(wt = c(2, 4)), interval = "noise")
#' plot(fit)
#' @name predict.riemdp_lm
NULL

as_matrix_value <- function(object) {
  value <- object$value
  if (is.matrix(value)) value else matrix(value, ncol = 1, dimnames = list(names(value), names(object$spec$responses)))
}

whole_release <- function(object) {
  ok <- is.list(object$spec) && is.list(object$bounds) && is.list(object$columns) && is.numeric(object$value) &&
    is.list(object$details)
  if (!ok) {
    not_as_made(object)
  }
  object
}

made_by_dp_lm <- function(object, expr) {
  tryCatch(expr, error = function(e) {
    pass_on(e)
    not_as_made(object)
  })
}

#' @export
coef.riemdp_lm <- function(object, ...) object$value

#' @rdname predict.riemdp_lm
#' @importFrom stats nobs
#' @export
nobs.riemdp_lm <- function(object, ...) object$n

#' @export
formula.riemdp_lm <- function(x, ...) x$formula

#' @importFrom stats terms
#' @export
terms.riemdp_lm <- function(x, ...) stats::terms(x$formula)

#' @rdname predict.riemdp_lm
#' @importFrom stats predict
#' @export
predict.riemdp_lm <- function(object, newdata, interval = c("none", "noise", "population", "prediction"), level = 0.95,
                              outside = c("move", "extend"), residual = NULL, nsim = 2000, ...) {
  whole_release(object)
  if (missing(newdata)) {
    abort_riemdp("argument", "a private fit holds no records: give `newdata`, a data frame with the predictors.")
  }
  if ("se.fit" %in% ...names()) {
    abort_riemdp("unsupported",
                 "there is no `se.fit`: interval = \"noise\" gives bands of the noise that privacy adds.")
  }
  interval <- check_choice(interval, "interval", c("none", "noise", "population", "prediction"))
  if (interval %in% c("population", "prediction")) nsim <- asked_of_population(object, residual, nsim)
  level <- check_level(level)
  asked <- !missing(outside)
  outside <- check_choice(outside, "outside", c("move", "extend"))
  design <- new_design(object, newdata, outside == "move", !asked)
  made_by_dp_lm(object, {
    value <- as_matrix_value(object)
    fit <- design %*% value
    rownames(fit) <- NULL
    if (interval == "none") return(if (is.matrix(object$value)) fit else fit[, 1])
    ends <- if (interval == "noise") {
      cov <- noise_covariance(object)
      width <- vapply(seq_len(ncol(value)), function(j) {
        stats::qnorm((1 + level) / 2) * sqrt(rowSums((design %*% cov[[j]]) * design))
      }, numeric(nrow(design)))
      c(fit - width, fit + width)
    } else line_band(object, design, value, residual, level, nsim, interval == "prediction")
    out <- array(c(fit, ends), c(dim(fit), 3),
                 list(NULL, colnames(fit), c("fit", "lower", "upper")))
    if (is.matrix(object$value)) out else matrix(out, nrow(fit), dimnames = list(NULL, c("fit", "lower", "upper")))
  })
}

new_design <- function(object, newdata, clip, warn = FALSE) {
  if (!is.data.frame(newdata)) abort_riemdp("argument", "`newdata` must be a data frame with the predictors.")
  if (!clip && any(are_bases(object$spec$bases))) {
    abort_riemdp("unsupported", paste("bs(), ns() and poly() aren't extended beyond the public range: outside =",
                                      "\"move\" moves values to its end, as in the fit."))
  }
  n <- .row_names_info(newdata, 2L)
  made_by_dp_lm(object, {
    values <- new_values(object$spec, object$bounds, newdata, n)
    if (clip && warn) warn_moved(object, values)
    cbind("(Intercept)" = rep(1, n), column_values(object$columns, object$bounds, values, clip, n))
  })
}

warn_moved <- function(object, values) {
  ranges <- lapply(object$bounds$x, `[[`, "range")
  moved <- mapply(function(v, range) !is.null(range) && any(v < range[1] | v > range[2], na.rm = TRUE), values, ranges)
  if (!any(moved)) return(invisible())
  warning(structure(class = c("riemdp_warning_range", "warning", "condition"), list(message = sprintf(
    paste("values of %s lie outside the public range and were moved to its end, as in the fit: outside = \"move\" says",
          "so without this warning, \"extend\" extends the line."),
    quoted_names(unique(object$spec$ranged[moved]))), call = NULL)))
}

# the same where little room is
count_lines <- function(object) {
  counts <- count_terms(object)
  c(if (!is.null(counts$subset)) {
      sprintf("  only records with %s count; how many they are stays private", counts$subset)
    },
    if (!is.null(counts$weights)) sprintf("  records count by their weights, %s", counts$weights))
}

count_terms <- function(object) lapply(object$spec$counts, function(v) paste(deparse(v, 500L), collapse = " "))

# what rows count where they don't count alike
count_words <- function(object) {
  counts <- count_terms(object)
  c(if (!is.null(counts$weights)) {
      sprintf("A record's weight is `%s` moved into its public range, over the largest.", counts$weights)
    },
    if (!is.null(counts$subset)) {
      sprintf("A record for which `%s` isn't true counts nothing, and is protected as all others.", counts$subset)
    },
    if (length(counts)) paste("How much all records count together is not part of the release, so neither errors nor",
                              "standard errors are known: section 13 of proofs/linear-regression.md."))
}

# the public numbers of terms with several columns
basis_words <- function(object) {
  out <- character()
  for (i in which(are_bases(object$spec$bases))) {
    b <- object$bounds$x[[i]]
    basis <- b$basis
    at <- basis$ends[1] + basis$knots * (basis$ends[2] - basis$ends[1])
    out <- c(out, sprintf("`%s`: %s, `%s` moved into its public range from %.6g to %.6g.",
                          names(object$spec$predictors)[i],
                          switch(basis$kind,
                            bs = sprintf("B-splines of degree %g", basis$degree), ns = "natural cubic splines",
                            poly = if (basis$raw) "powers" else
                              "Legendre polynomials, orthogonal over the public range and not over the records"),
                          object$spec$ranged[i], b$range[1], b$range[2]),
             if (basis$kind != "poly") {
               sprintf("Its knots, public: %s%s.", if (length(at)) paste(signif(at, 5), collapse = ", ") else "none",
                       if (identical(basis$ends, b$range)) "" else
                         sprintf(", boundary knots %.6g and %.6g", basis$ends[1], basis$ends[2]))
             })
  }
  if (length(out)) c(out, "Section 12 of proofs/linear-regression.md.")
}

#' @rdname predict.riemdp_lm
#' @importFrom stats fitted
#' @export
fitted.riemdp_lm <- function(object, data, ...) { # of rows that the caller holds
  if (missing(data)) {
    abort_riemdp("argument",
                 paste("a private fit holds no records: fitted values need `data`. They are functions of the released",
                       "coefficients and of your predictors."))
  }
  predict(object, data, ...)
}

#' @importFrom stats residuals
#' @export
residuals.riemdp_lm <- function(object, ...) {
  abort_riemdp("unsupported",
               paste("residuals are functions of the records: a private fit has none, and publishing them would not be",
                     "private."))
}

# ---- uncertainty -----------------------------------------------------------------------------------------------------

# Covariance matrices of the noise in coefficients on public scales, one a response
scaled_covariance <- function(object) {
  details <- object$details
  d <- length(object$columns)
  q <- ncol(as_matrix_value(object))
  moment <- c(1, rep(NOMINAL_MOMENT, d))
  if (!is.null(details$moments)) { # linearised: (S + N1 + ridge) B = S_xy + N2
    a <- details$moments$xx + diag(details$ridge, d + 1)
    inverse <- tryCatch(solve(a), error = function(e) matrix(NA_real_, d + 1, d + 1))
    b <- object$scaled_coefficients
    sd <- if (object$method == "adassp") details$sd[c("xx", "xy")] else {
      s <- statistics_sd(d, q, details$left) # what the check of the guess left
      c(2 * s[["one"]], 2 * details$reach * s[["block"]])
    }
    return(lapply(seq_len(q), function(j) (sd[[2]]^2 + sd[[1]]^2 * sum(b[j, ]^2)) * inverse %*% inverse))
  }
  unknown <- isTRUE(details$blurred) || isTRUE(details$rule$weighted) || correlated_model(object)
  if (unknown) return(rep(list(matrix(NA_real_, d + 1, d + 1)), q))
  if (object$method %in% names(NEWTON_BLURRED)) return(rep(list(tcrossprod(details$back %*% details$noise)), q))
  rule <- details$rule
  if (is.null(rule)) return(rep(list(matrix(NA_real_, d + 1, d + 1)), q))
  if (object$method == "output") {
    variance <- (q * (d + 1) + 1) / rule$rate^2 / rule$ridge + covering_variance(rule, TRUE)
  } else {
    unit <- if (is.null(details$unit)) 1 else details$unit
    size <- if (is.null(details$scales)) 1 else details$scales[length(details$scales)] / unit
    noise <- noise_second_moment(rule$norm, d, q, rule$simplex) / q / rule$rate^2
    if (!is.null(rule$simplex)) return(rep(list(simplex_covariance(object, rule, noise)), q))
    if (inherits(object, "riemdp_glm")) {
      through <- solve(rule$n * glm_curvature(object) + diag(rule$ridge, d + 1))
      return(list(noise * tcrossprod(through) + diag(covering_variance(rule), d + 1)))
    }
    loss <- loss_at(rule$g, rule$tau, size * nominal_errors(q, "gamma")$r)
    kappa <- mean(loss$slope + (q - 1) * loss$across) / q
    map <- drawn_map(rule)
    if (rule$norm == "normal") moment <- cut_features(d)$slope # on the scale of shortened features
    variance <- unit^2 * (noise / (rule$n * kappa * moment + rule$ridge)^2 + covering_variance(rule))
    if (!is.null(map)) return(rep(list(t(map) %*% (variance * map)), q))
  }
  rep(list(diag(variance, d + 1)), q)
}

# the model of errors is for columns that aren't correlated, as those of bases are
correlated_model <- function(object) {
  object$method %in% c("huber", "recentred", "gaussian") && is.null(object$details$rule$simplex) &&
    any(are_bases(object$spec$bases))
}

# the same of coefficients whose features were mapped
simplex_covariance <- function(object, rule, noise) {
  curvature <- if (inherits(object, "riemdp_glm")) glm_curvature(object) else {
    loss <- loss_at(rule$g, rule$tau, nominal_errors(rule$q, "gamma")$r)
    mean(loss$slope + (rule$q - 1) * loss$across) / rule$q * rule$simplex$gram
  }
  through <- solve(rule$n * curvature + diag(rule$ridge))
  t(rule$simplex$map) %*% (through %*% (noise * through) + diag(covering_variance(rule), length(rule$ridge))) %*%
    rule$simplex$map
}

# from the coefficients that noise was drawn for to those of the variables as given
from_drawn <- function(object) {
  map <- drawn_map(object$details$rule)
  t <- back_transform(object$columns)
  if (is.null(map)) t else t %*% t(map)
}

noise_covariance <- function(object) {
  t <- back_transform(object$columns)
  Map(function(cov, scale) scale^2 * t %*% cov %*% t(t), scaled_covariance(object), object$bounds$y["scale", ])
}

standard_errors <- function(object) {
  se <- vapply(noise_covariance(object), function(cov) sqrt(pmax(0, diag(cov))), numeric(length(object$columns) + 1))
  matrix(se, length(object$columns) + 1)
}

# |B - B^|_L <= |b|_{L^-1}: a quantile of that length, from 20,000 draws of the public law, taken one in a thousand too
# high
perturbation_length <- function(rule, level) {
  d <- rule$d
  q <- rule$q
  draws <- remember(paste(c("draws", law_of(rule), d, q), collapse = " "), function() {
    .Call(riemdp_perturbation_noise, d + 1, q, 20000, law_of(rule), 1, FALSE)
  })
  size <- sqrt(colSums(matrix(draws^2 / rep(rep(rule$ridge, each = q), 20000), q * (d + 1))))
  sort(size)[min(20000, ceiling(20000 * (level + 0.001 + 3 * sqrt(level * (1 - level) / 20000))))] / rule$rate
}

coefficient_names <- function(value) {
  if (ncol(value) == 1) rownames(value) else paste(rep(colnames(value), each = nrow(value)), rownames(value), sep = ":")
}

#' @rdname predict.riemdp_lm
#' @export
vcov.riemdp_lm <- function(object, ...) {
  whole_release(object)
  made_by_dp_lm(object, {
    name <- coefficient_names(as_matrix_value(object))
    out <- matrix(0, length(name), length(name), dimnames = list(name, name))
    cov <- noise_covariance(object)
    size <- length(object$columns) + 1
    for (j in seq_along(cov)) out[(j - 1) * size + seq_len(size), (j - 1) * size + seq_len(size)] <- cov[[j]]
    out
  })
}

#' @rdname predict.riemdp_lm
#' @export
confint.riemdp_lm <- function(object, parm, level = 0.95, type = c("nominal", "bound"),
                              about = if (is.null(residual)) "estimate" else "population", residual = NULL,
                              nsim = 2000, ...) {
  check_no_more(...)
  whole_release(object)
  level <- check_level(level)
  type <- check_choice(type, "type", c("nominal", "bound"))
  if (check_choice(about, "about", c("estimate", "population")) == "population") {
    return(population_interval(object, parm, level, residual, nsim))
  }
  if (type == "bound" && !object$method %in% c("objective", "huber", "gaussian")) {
    abort_riemdp("unsupported", "type = \"bound\" is for methods \"objective\", \"huber\" and \"gaussian\".")
  }
  out <- made_by_dp_lm(object, {
    value <- as_matrix_value(object)
    width <- if (type == "nominal") stats::qnorm((1 + level) / 2) * standard_errors(object) else {
      rule <- object$details$rule
      t <- from_drawn(object)
      size <- perturbation_length(rule, level) * sqrt(drop(t^2 %*% (1 / rule$ridge))) +
        covering_length(rule) * sqrt(rowSums(t^2))
      outer(size, object$bounds$y["scale", ])
    }
    name <- coefficient_names(value)
    side <- (1 - level) / 2
    matrix(c(value - width, value + width), ncol = 2,
           dimnames = list(name, sprintf("%.4g %%", 100 * c(side, 1 - side))))
  })
  chosen_coefficients(out, parm, COVERS_SHORT)
}

chosen_coefficients <- function(out, parm, covers) {
  if (missing(parm)) return(structure(out, covers = covers))
  ok <- (is.character(parm) && all(parm %in% rownames(out))) || (is.numeric(parm) && all(parm %in% seq_len(nrow(out))))
  if (!ok) abort_riemdp("argument", "`parm` must be names or numbers of coefficients.")
  structure(out[parm, , drop = FALSE], covers = covers)
}

# nsim, checked with all that intervals about the population ask for
asked_of_population <- function(object, residual, nsim) {
  nsim <- check_count(nsim, "nsim", least = 100, most = 1e6)
  why <- population_why(object, residual)
  if (!is.null(why)) abort_riemdp(why[1], why[2])
  nsim
}

population_interval <- function(object, parm, level, residual, nsim) {
  nsim <- asked_of_population(object, residual, nsim)
  out <- made_by_dp_lm(object, {
    side <- (1 - level) / 2
    matrix(population_ends(object, residual, level, nsim), ncol = 2,
           dimnames = list(coefficient_names(as_matrix_value(object)), sprintf("%.4g %%", 100 * c(side, 1 - side))))
  })
  chosen_coefficients(out, parm, "privacy noise and sampling, not clipping")
}

# ---- summaries -------------------------------------------------------------------------------------------------------

#' @rdname predict.riemdp_lm
#' @export
tidy.riemdp_lm <- function(x, residual = NULL, conf.level = 0.95, nsim = 2000, ...) {
  whole_release(x)
  level <- check_level(conf.level)
  if (!is.null(residual)) nsim <- asked_of_population(x, residual, nsim)
  made_by_dp_lm(x, {
    value <- as_matrix_value(x)
    out <- data.frame(response = rep(colnames(value), each = nrow(value)), term = rep(rownames(value), ncol(value)),
                      estimate = as.vector(value), std.error = as.vector(standard_errors(x)))
    if (is.null(residual)) return(out)
    error <- lapply(population_errors(x, residual, nsim), as.vector)
    ends <- matrix(population_ends(x, residual, level, nsim), ncol = 2)
    out$std.error <- error$total
    cbind(out, std.error.privacy = error$privacy, std.error.sampling = error$sampling, conf.low = ends[, 1],
          conf.high = ends[, 2])
  })
}

#' @rdname predict.riemdp_lm
#' @export
glance.riemdp_lm <- function(x, ...) {
  whole_release(x)
  g <- x$guarantee
  data.frame(method = x$method, nobs = x$n, predictors = length(x$columns), responses = length(x$spec$responses),
             label = g$label, epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon,
             adjacency = g$adjacency, expected_error = x$expected_error, covers = COVERS,
             source = x$source %||% NA_character_)
}

#' @rdname predict.riemdp_lm
#' @export
summary.riemdp_lm <- function(object, residual = NULL, nsim = 2000, ...) {
  out <- list(release = object, coefficients = tidy(object, residual, nsim = nsim))
  if (!is.null(residual)) out$fit <- made_by_dp_lm(object, population_fit(object, residual, nsim))
  structure(out, class = "summary.riemdp_lm")
}

#' @export
print.summary.riemdp_lm <- function(x, ...) {
  cat(format(x$release), sep = "\n")
  both <- "std.error.sampling" %in% names(x$coefficients)
  cat("\nCoefficients; std.error is that of ",
      if (both) "noise and sampling together, intervals are about the population:\n" else
        "the noise which privacy adds, by the public model:\n", sep = "")
  print(x$coefficients, row.names = FALSE)
  if (!is.null(x$fit)) {
    cat("\nHow much of the variance the population's line tells, from released numbers;",
        "logLik and AIC of a normal law:\n")
    print(x$fit, row.names = FALSE)
  }
  invisible(x)
}

#' @export
format.riemdp_lm <- function(x, ...) {
  whole_release(x)
  made_by_dp_lm(x, c(
    sprintf("Private linear regression of %s %s: %s", size_words(x), if (of_rows(x$guarantee)) "records" else "units",
            paste(deparse(x$formula, 500L), collapse = " ")),
    count_lines(x), silent_sites(x$details),
    paste0("  ", c(format(x$guarantee), protection_words(x), budget_remarks(x$guarantee, x$n), origin_words(x))),
    sprintf("  method %s; expected excess of the mean squared error %.3g%s", x$method, x$expected_error,
            if (is.na(x$expected_error)) " (not known in advance)" else if (x$expected_error > 0.5 * x$constant_error)
              sprintf(", against %.3g of a constant: the release says LITTLE MORE than the bounds do",
                      x$constant_error) else
                " squared public standard deviations per response"),
    model_error_lines("lm"),
    if (isTRUE(x$details$blurred)) paste0("  ", NEWTON_BLURRED[[x$method]]),
    if (any(x$details$guess$searched)) sprintf(paste("  the guess of %s was off, and the fit is in units of what was",
                                                     "released: %s"),
                                               quoted_names(x$details$guess$response[x$details$guess$searched]),
                                               guess_listed(x$details$guess)),
    if (any(x$details$windows$narrowed)) paste("  ranges were found too wide, and the fit is weighted: rows count less",
                                               "beyond", windows_listed(x$details$windows)),
    if (length(format_budget(x$budget))) paste0("  budget: ", format_budget(x$budget))
  ))
}

#' @export
print.riemdp_lm <- function(x, ...) {
  cat(format(x), sep = "\n")
  print(x$value)
  invisible(x)
}

#' @export
explain.riemdp_lm <- function(x, ...) {
  whole_release(x)
  g <- x$guarantee
  cat(format(g), "\n\n", sep = "")
  lines <- made_by_dp_lm(x, c(
    guess_words(x),
    windows_words(x),
    if (is.null(x$details$sites)) linear_methods()[[x$method]]$words(x) else shared_lm_words(x),
    basis_words(x),
    paste0("Why this method: ", x$chosen, "."),
    paste0("Errors and intervals: ", sub("^O", "o", error_note("lm"))),
    paste("Predictors are moved into their public ranges, responses to their limits, row by row; a row with a missing",
          "or infinite cell counts with a fixed contribution. The number of such rows is not part of the release."),
    count_words(x),
    if (!of_rows(g)) paste("A unit counts with the average over its rows, and how many it has is not part of the",
                           "release: section 9 of proofs/linear-regression.md."),
    if (!is.null(x$size)) paste(size_sentence(x), TAKEN),
    origin_sentence(x),
    if (length(g$assumptions)) paste0("Assumed: ", paste(g$assumptions, collapse = "; "), "."),
    paste0("Not protected: the time that the call takes",
           if (x$guarantee$numerics != "lattice") "; the rounding of doubles (the proof is about real numbers)", "."),
    if (g$label == "none") paste0("No guarantee, because: ", g$reason, "."),
    switch(x$method,
      newton = ,
      descent = "Source: Avella-Medina, Bradshaw and Loh (2023), doi:10.48550/arXiv.2103.11003.",
      theil_sen = paste("Source: Alabi, McMillan, Sarathy, Smith and Vadhan (2022),",
                        "doi:10.48550/arXiv.2007.05157."),
      adassp = "Source: Wang (2018), doi:10.48550/arXiv.1803.02596.",
      boosted = "Source: Tang et al. (2023), doi:10.48550/arXiv.2303.03451.",
      statistics = "Source: Awan and Slavkovic (2021), doi:10.1080/01621459.2020.1773831.",
      paper = "Source: Kulkarni and Soto (2025), doi:10.48550/arXiv.2504.11304.",
      "Sources: Chaudhuri, Monteleoni and Sarwate (2011); Kifer, Smith and Thakurta (2012)."
    )
  ))
  for (line in lines) cat(strwrap(line, exdent = 2), sep = "\n")
  invisible(x)
}

#' @rdname dp_lm_plan
#' @export
print.riemdp_lm_plan <- function(x, ...) {
  if (!whole_plan(x)) {
    print(plain_table(x))
    return(invisible(x))
  }
  ask <- attr(x, "ask")
  cat(sprintf(paste("Private linear regression: n = %g%s, %d predictor%s, %d response%s, epsilon %g, delta %g, guess",
                    "of R-squared %g\n"), ask$n, if (is.null(ask$unit)) "" else " units", ask$d,
              if (ask$d == 1) "" else "s", ask$q, if (ask$q == 1) "" else "s", ask$epsilon, ask$delta, ask$r_squared))
  cat(sprintf("Expected excess of the mean squared error (a constant fit: %.3g):\n", attr(x, "signal")))
  show <- plain_table(x)
  for (column in c("expected_error", "high")) {
    if (is.numeric(show[[column]])) show[[column]] <- signif(show[[column]], 3)
  }
  told <- population_lines(show)
  show <- population_told(show)
  print(show, row.names = FALSE)
  if (!is.null(told)) cat(told, sep = "\n")
  if (length(attr(x, "reason"))) cat(strwrap(paste0("Chosen: ", attr(x, "reason"))), sep = "\n")
  cat(strwrap(paste0("Errors are ", sub("^O", "o", error_note("lm")))), sep = "\n")
  check <- attr(x, "check")
  if (!is.null(check)) {
    cat(strwrap(sprintf(paste("Counted in: a check of the guess of each response, %.2g of epsilon. Where it finds a",
                              "guess off, another %.2g pays for a search, and the error grows accordingly."),
                        check$check / ask$epsilon, check$search / ask$epsilon)), sep = "\n")
    if (!is.null(check$window)) {
      cat(strwrap(sprintf(paste("So is a check of the range of each predictor that is a number, of up to three, %.2g;",
                                "where it is too wide another %.2g pays for a search, and %.2g for a trial."),
                          check$window$check / ask$epsilon, check$window$search / ask$epsilon,
                          check$window$trial / ask$epsilon)), sep = "\n")
    }
  } else cat("The guesses of responses are taken as they are: see \"Wrong guesses\" in ?dp_lm.\n")
  invisible(x)
}
