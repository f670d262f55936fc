# The private residual scale of a released line or curve, and second moments of its predictors: whole numbers, one a
# record, and two-sided geometric noise on their sums. Proof: inst/proofs/inference.md, section 7.

#' Private residual standard deviation of a released line or curve
#'
#' Releases the mean squared residual of records around a line that [dp_lm()] has released, or a curve of
#' [dp_regression()], and where the fit holds none the first and second moments of its predictors: a release of its own,
#' with a price of its own. With it [confint()][predict.riemdp_lm] tells intervals about the population,
#' [confint()][confint.riemdp_regression] bands, and `predict()` where new records lie.
#'
#' The line is public by then. Rows are moved into the public ranges and limits of the fit, each residual is cut at
#' `bound` public standard deviations of its response (the `scale` in use; of a curve, a distance, at `bound` times its
#' `residual_bound`), and its square rounded up to a whole number of small units. A replaced row moves each response's
#' sum by at most that of `bound` squared; the sums have two-sided geometric noise, drawn by integer arithmetic: the
#' guarantee is about what the machine does. A row with a missing cell has the residual 0, and so has a response that is
#' no point.
#'
#' Methods that release sums of squares and products (`"statistics"`, `"adassp"`) have their predictors' moments in the
#' fit. For all others a public share of `epsilon` goes to them (.57 for one predictor, .85 for five), as sums of the
#' predictors on \[-1, 1\] and of their products.
#'
#' @param fit a release of [dp_lm()] or [dp_regression()].
#' @param data a data frame (of a curve also a list) with the records' variables, in memory; their number is public.
#' @param epsilon privacy budget, positive.
#' @param ... nothing; later arguments must be named.
#' @param bound where residuals are cut, in units of the responses' public scales, or of a curve's `residual_bound`;
#'   positive. By default 3 for a line and 2 for a curve.
#' @param source,ledger,data_set,part as in [dp_mean()].
#' @return An object of class `riemdp_residual_scale` and [riemdp_release]: `value` (a residual standard deviation for
#'   each response, in its own units, on n - d - 1 degrees of freedom for d columns; of a curve one for each coordinate
#'   of the tangent space), `n`, `bound`, `squares` (the released `sum` of squares and its noise's `scale` on public
#'   scales), `moments` (where they were released: `xx`, sums of products of 1 and the predictors on public scales, and
#'   their noise's `scale`), `coefficients` (of the line, on public scales; of a curve its `p` and `v`), `sensitivity`
#'   (of a sum, on public scales), `source`, `guarantee`, `budget`, `draws`. Errors: `riemdp_error_argument` for what is
#'   no proven release of a line or curve; `riemdp_error_unsupported` for chunks, and for fits of units or of a private
#'   number of records.
#' @references
#' Ferrando, C., Wang, S. and Sheldon, D. (2022). Parametric bootstrap for differentially private confidence intervals.
#' *International Conference on Artificial Intelligence and Statistics*, PMLR 151, 1598-1618.
#' @seealso [dp_lm()], [dp_regression()], [dp_conformal()]
#' @examples
#' bounds <- list(alcohol = c(8, 14), density = c(center = 0.997, scale = 0.002))
#' fit <- dp_lm(density ~ alcohol, red_wine, epsilon = 2, bounds = bounds)
#' s <- dp_residual_scale(fit, red_wine, epsilon = 0.5)
#' s
#' confint(fit, about = "population", residual = s)
#' predict(fit, data.frame(alcohol = 11), interval = "prediction", residual = s)
#' @export
dp_residual_scale <- function(fit, data, epsilon, ..., bound = if (inherits(fit, "riemdp_regression")) 2 else 3,
                              source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(epsilon = missing(epsilon)))
  curve <- inherits(fit, "riemdp_regression")
  if (!curve && !inherits(fit, "riemdp_lm")) {
    abort_riemdp("argument", "`fit` must be a release of dp_lm() or of dp_regression().")
  }
  public_value(fit, "fit")
  if (curve) check_released_curve(fit) else check_released_line(fit)
  if (curve && of_user(fit$manifold)) {
    abort_riemdp("unsupported", "a residual scale isn't offered on a user's manifold.")
  }
  if (is_chunks(data)) abort_riemdp("unsupported", "a residual scale needs the records in memory.")
  if (!of_rows(fit$guarantee) || is.na(fit$n)) {
    abort_riemdp("unsupported", "a residual scale is for fits of a public number of rows.")
  }
  values <- if (curve) curve_values(fit, data) else
    linear_values(fit$spec, data, constant_scope(fit$spec$constants), predictor_types(fit$spec, fit$bounds))
  ask <- list(fit = fit, curve = curve, n = as.double(values$n),
              epsilon = check_number(epsilon, "epsilon", positive = TRUE),
              bound = check_number(bound, "bound", positive = TRUE, most = 1e6), source = stated_source(source))
  if (!(ask$epsilon >= 2^-30)) {
    abort_riemdp("argument", "an `epsilon` below 2^-30 is too small for what doubles weigh.")
  }
  if (ask$bound < 1e-6) abort_riemdp("argument", "`bound` must be from 1e-6 to 1e6.")
  release_private(residual_estimator, residual_shares(ask), values, ledger, data_set, part)
}

# What goes to the squares, and to moments where the fit has none: by how large their noise is beside what they tell of
# nominal records, and how much an interval grows with it.
residual_shares <- function(ask) {
  ask$q <- if (ask$curve) 1 else nrow(ask$fit$scaled_coefficients)
  ask$d <- if (ask$curve) nrow(ask$fit$columns) else length(ask$fit$columns)
  each <- c(squares = 5 * ask$q, moments = if (ask$d > 0 && is.null(ask$fit$details$moments)) 3 * moments_moved(ask$d))
  shares <- each^(2 / 3) / sum(each^(2 / 3))
  ask$shares <- vapply(shares * ask$epsilon, function(e) if (length(each) > 1) outwards_down(e) else e, 0)
  ask$bits <- variance_bits(ask$n, ask$shares[["squares"]] / ask$q)
  if ("moments" %in% names(each)) {
    ask$moment_bits <- variance_bits(ask$n, ask$shares[["moments"]] / ceiling(moments_moved(ask$d)))
  }
  ask
}

# how far two rows' predictors and their products, from -1 to 1, can be apart in all (section 7 of the proof)
moments_moved <- function(d) d * (2 + d)^2 / (2 * (1 + d))

# one that may come from a tampered file: its own numbers are public
check_released_line <- function(fit) {
  b <- fit$scaled_coefficients
  none <- function(n) rep(list(0), n)
  whole <- tryCatch({
    is.list(fit$spec$responses) && is.matrix(b) && is.numeric(b) && all(is.finite(b)) && is.list(fit$bounds) &&
      is.list(fit$columns) && identical(dim(b), c(length(fit$spec$responses), length(fit$columns) + 1L)) &&
      is.matrix(fit$bounds$y) && identical(ncol(fit$bounds$y), nrow(b)) && is.numeric(fit$n) && length(fit$n) == 1 &&
      is.list(fit$details) && length(predictor_types(fit$spec, fit$bounds)) == length(fit$spec$predictors) &&
      ncol(linear_records(fit$columns, fit$bounds, list(x = none(length(fit$bounds$x)), y = none(nrow(b)),
                                                        n = 1))$x) == 1
  }, error = function(e) FALSE)
  if (!isTRUE(whole)) {
    abort_riemdp("argument", "the release must be as dp_lm() made it: parts of it are missing or of another kind.")
  }
}

check_released_curve <- function(fit) {
  whole <- tryCatch({
    k <- nrow(fit$columns)
    is.numeric(fit$n) && length(fit$n) == 1 && is.list(fit$details) && all(fit$columns$half > 0) &&
      is.numeric(fit$residual_bound) && length(fit$residual_bound) == 1 && fit$residual_bound > 0 &&
      inherits(fit$terms, "formula") && is.language(fit$response) && are_lists(fit$bounds, fit$bounds$x) &&
      do.call(are_lists, fit$bounds$x) && are_lists(as.list(fit$constants)) &&
      length(curve_anyway(fit, matrix(0, k, 1))) == 1
  }, error = function(e) FALSE)
  if (!isTRUE(whole)) {
    abort_riemdp("argument",
                 "the release must be as dp_regression() made it: parts of it are missing or of another kind.")
  }
}

are_lists <- function(...) all(vapply(list(...), is.list, NA))

# the records of a curve: list(x, y, n)
curve_values <- function(fit, data) {
  formula <- fit$terms
  formula[[3]] <- formula[[2]]
  formula[[2]] <- fit$response
  ranges <- lapply(fit$bounds$x, function(b) b$range %||% b$levels)
  regression_records(formula, fit$manifold, data, ranges, constant_scope(fit$constants))[c("x", "y", "n")]
}

# Of each record alone: squared residuals over that of the bound, a row for each sum, and predictors on [-1, 1]; both 0
# where something is missing
residual_numbers <- function(values, ask) {
  fit <- ask$fit
  if (ask$curve) {
    x <- values$x
    x[!is.finite(x)] <- 0
    x[] <- pmin(fit$columns$half, pmax(-fit$columns$half, x))
    off <- matrix(.Call(riemdp_scores_nonprivate, fit$manifold, values$y, curve_anyway(fit, x)), 1)
    u <- x / fit$columns$half
    u[] <- pmin(1, pmax(-1, u))
    return(list(off = off / (ask$bound * fit$residual_bound), u = u))
  }
  records <- linear_records(fit$columns, fit$bounds, values, TRUE, fit$details$reach %||% REACH)
  off <- fitted_away(records$x, records$y, fit$scaled_coefficients) / ask$bound
  off[, records$x[1, ] == 0] <- 0
  list(off = off, u = records$x[-1, , drop = FALSE])
}

# Whole numbers for each response, summed: each residual by its own row alone
residual_sums <- function(values, ask, numbers = residual_numbers(values, ask)) {
  share <- pmin(1, abs(numbers$off))^2
  share[is.nan(share)] <- 1 # where a line goes beyond doubles
  rowSums(ceiling(2^ask$bits * matrix(share, ask$q)))
}

# Sums of predictors, then of their products (lower triangle), in whole numbers
predictor_sums <- function(u, bits) {
  d <- nrow(u)
  at <- which(lower.tri(diag(d), TRUE), arr.ind = TRUE)
  c(rowSums(round(2^bits * u)), rowSums(round(2^bits * u[at[, 1], , drop = FALSE] * u[at[, 2], , drop = FALSE])))
}

# what a row moves them by, rounding counted in
predictor_most <- function(d, bits) ceiling(2^bits * moments_moved(d) * (1 + 1e-9)) + 2 * (d + symmetric_count(d))

residual_estimator <- list(
  entry = function(plan, ask) "dp_residual_scale geometric",
  parts = c(sensitivity = "number"),
  plan = function(ask) {
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"),
                    "the fit and its bounds are public or released; the number of records is public",
                    numerics = "lattice")
    list(sensitivity = ask$q * 2^ask$bits, guarantee = g)
  },
  draw = function(records, plan, ask, budget) {
    numbers <- residual_numbers(records, ask)
    squares <- noisy_squares(residual_sums(records, ask, numbers), plan$sensitivity, ask$shares[["squares"]],
                             "inference.md, 7")
    if (is.null(ask$moment_bits)) return(list(squares = squares))
    list(squares = squares, moments = noisy_squares(predictor_sums(numbers$u, ask$moment_bits),
                                                    predictor_most(ask$d, ask$moment_bits), ask$shares[["moments"]],
                                                    "inference.md, 7"))
  },
  answer = function(out, plan, ask, budget) {
    fit <- ask$fit
    unit <- ask$bound^2 / 2^ask$bits
    squares <- list(sum = as.vector(out$squares$sum) * unit, scale = out$squares$scale * unit)
    mean <- pmin(pmax(squares$sum, 0) / residual_left(fit, ask$n), ask$bound^2)
    new_release(
      if (ask$curve) sqrt(mean) * fit$residual_bound else
        stats::setNames(sqrt(mean) * fit$bounds$y["scale", ], names(fit$spec$responses)), "riemdp_residual_scale",
      n = ask$n, bound = ask$bound, squares = squares, moments = moments_told(out$moments, ask),
      coefficients = if (ask$curve) fit$value else fit$scaled_coefficients, mechanism = "geometric",
      sensitivity = ask$bound^2, budget = budget, guarantee = plan$guarantee
    )
  }
)

# degrees of freedom that residuals leave, of each sum of squares
residual_left <- function(fit, n) {
  if (inherits(fit, "riemdp_lm")) return(max(1, n - ncol(fit$scaled_coefficients)))
  q <- mf_facts(fit$manifold)$dimension
  max(1, q * (n - 1 - nrow(fit$columns)))
}

# sums of products of (1, u), with the scale of their noise
moments_told <- function(noisy, ask) {
  if (is.null(noisy)) return(NULL)
  unit <- 2^-ask$moment_bits
  sums <- as.vector(noisy$sum) * unit
  list(xx = bordered(sums, ask$d, ask$n), scale = noisy$scale * unit)
}
