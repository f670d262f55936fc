# The private residual scale of a released linear model: whole numbers, one a record and response, and two-sided
# geometric noise on their sums. Proof: inst/proofs/inference.md, section 7.

#' Private residual standard deviation of a released linear model
#'
#' Releases the mean squared residual of records around a line that [dp_lm()] has released: a release of its own, with
#' a price of its own. With it [confint()][predict.riemdp_lm] tells intervals about the population for the methods that
#' release sums of squares and products (`"statistics"`, `"adassp"`).
#'
#' The line is public by then. Rows are moved into the public ranges and limits of the fit, each residual is cut at
#' `bound` public standard deviations of its response (the `scale` in use), and its square rounded up to a whole number
#' of small units. A replaced row moves each response's sum by at most that of `bound` squared; the sums have two-sided
#' geometric noise, drawn by integer arithmetic: the guarantee is about what the machine does. A row with a missing cell
#' has the residual 0.
#'
#' @param fit a release of [dp_lm()].
#' @param data a data frame with the records, in memory; their number is public.
#' @param epsilon privacy budget, positive.
#' @param ... nothing; later arguments must be named.
#' @param bound where residuals are cut, in units of the responses' public scales, positive.
#' @param source,ledger,data_set,part as in [dp_mean()].
#' @return An object of class `riemdp_residual_scale` and [riemdp_release]: `value` (a residual standard deviation for
#'   each response, in its own units, on n - d - 1 degrees of freedom for d columns), `n`, `bound`, `squares` (the
#'   released `sum` of squares and its noise's `scale` on public scales), `coefficients` (of the fit, on public scales),
#'   `sensitivity` (of a sum, on public scales), `source`, `guarantee`, `budget`, `draws`. Errors:
#'   `riemdp_error_argument` for what is no proven release of [dp_lm()]; `riemdp_error_unsupported` for chunks, and for
#'   fits of units or of a private number of records.
#' @references
#' Ferrando, C., Wang, S. and Sheldon, D. (2022). Parametric bootstrap for differentially private confidence intervals.
#' *International Conference on Artificial Intelligence and Statistics*, PMLR 151, 1598-1618.
#' @seealso [dp_lm()]
#' @examples
#' bounds <- list(alcohol = c(8, 14), density = c(center = 0.997, scale = 0.002))
#' fit <- dp_lm(density ~ alcohol, red_wine, epsilon = 2, bounds = bounds, method = "statistics")
#' s <- dp_residual_scale(fit, red_wine, epsilon = 0.5)
#' s
#' confint(fit, about = "population", residual = s)
#' @export
dp_residual_scale <- function(fit, data, epsilon, ..., bound = 3, source = NULL, ledger = NULL, data_set = "default",
                              part = NULL) {
  check_dots_empty(...)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(epsilon = missing(epsilon)))
  if (!inherits(fit, "riemdp_lm")) abort_riemdp("argument", "`fit` must be a release of dp_lm().")
  public_value(fit, "fit")
  check_released_line(fit)
  if (is_chunks(data)) abort_riemdp("unsupported", "a residual scale needs the records in memory.")
  if (!of_rows(fit$guarantee) || is.na(fit$n)) {
    abort_riemdp("unsupported", "a residual scale is for fits of a public number of rows.")
  }
  values <- linear_values(fit$spec, data, constant_scope(fit$spec$constants), predictor_types(fit$spec, fit$bounds))
  ask <- list(fit = fit, n = as.double(values$n), epsilon = check_number(epsilon, "epsilon", positive = TRUE),
              bound = check_number(bound, "bound", positive = TRUE, most = 1e6), source = stated_source(source))
  if (!(ask$epsilon >= 2^-30)) {
    abort_riemdp("argument", "an `epsilon` below 2^-30 is too small for what doubles weigh.")
  }
  if (ask$bound < 1e-6) abort_riemdp("argument", "`bound` must be from 1e-6 to 1e6.")
  ask$q <- nrow(fit$scaled_coefficients)
  ask$bits <- variance_bits(ask$n, ask$epsilon / ask$q)
  release_private(residual_estimator, ask, values, ledger, data_set, part)
}

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

# Whole numbers for each response, summed: each residual by its own row alone
residual_sums <- function(values, ask) {
  fit <- ask$fit
  records <- linear_records(fit$columns, fit$bounds, values, TRUE, fit$details$reach %||% REACH)
  off <- fitted_away(records$x, records$y, fit$scaled_coefficients) / ask$bound
  off[, records$x[1, ] == 0] <- 0
  share <- pmin(1, abs(off))^2
  share[is.nan(share)] <- 1 # where a line goes beyond doubles
  rowSums(ceiling(2^ask$bits * matrix(share, ask$q)))
}

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
    noisy_squares(residual_sums(records, ask), plan$sensitivity, ask$epsilon, "inference.md, 7")
  },
  answer = function(out, plan, ask, budget) {
    fit <- ask$fit
    unit <- ask$bound^2 / 2^ask$bits
    squares <- list(sum = as.vector(out$sum) * unit, scale = out$scale * unit)
    mean <- pmin(pmax(squares$sum, 0) / max(1, ask$n - ncol(fit$scaled_coefficients)), ask$bound^2)
    new_release(
      stats::setNames(sqrt(mean) * fit$bounds$y["scale", ], names(fit$spec$responses)), "riemdp_residual_scale",
      n = ask$n, bound = ask$bound, squares = squares, coefficients = fit$scaled_coefficients,
      mechanism = "geometric", sensitivity = ask$bound^2, budget = budget, guarantee = plan$guarantee
    )
  }
)
