# The private residual scale of a released line or curve, and second moments of its predictors: whole numbers, one a
# record, and two-sided geometric noise on their sums, or normal noise of sites. Proof: inst/proofs/inference.md,
# section 7.

#' Private residual standard deviation of a released line or curve
#'
#' Releases the mean squared residual of records around a line that [dp_lm()] has released, or a curve of
#' [dp_regression()]; with it, where the fit holds none, the first and second moments of its predictors, and for a curve
#' what its loss cuts of residuals. It is a release of its own, with a price of its own. By it
#' [confint()][predict.riemdp_lm] tells intervals about the population, [confint()][confint.riemdp_regression] bands,
#' and `predict()` where new records lie.
#'
#' The line is public by then. Rows are moved into the public ranges and limits of the fit, each residual is cut at
#' `bound` public standard deviations of its response (the `scale` in use; of a curve, a distance, at `bound` times its
#' `residual_bound`), and its square rounded up to a whole number of small units. A replaced row moves each response's
#' sum by at most that of `bound` squared; the sums have two-sided geometric noise, drawn by integer arithmetic: the
#' guarantee is about what the machine does. A row with a missing cell has the residual 0, and so has a response that is
#' no point.
#'
#' Methods that release sums of squares and products (`"statistics"`, `"adassp"`) have their predictors' moments in the
#' fit. For all others a public share of `epsilon` goes to them (.55 for one predictor, .84 for five), as sums of the
#' predictors on \[-1, 1\] and of their products. For a curve (.42 with one predictor) .24 go to what its loss cuts:
#' the sums of \eqn{\psi^2} over its most, and of what the mean slope of \eqn{\psi} misses to 1, where \eqn{\psi} is
#' the derivative of the last step's loss. [dp_lm_plan()] and [dp_regression_plan()] tell which `epsilon` an interval
#' about the population needs at least.
#'
#' Who is protected is as in the fit: of a fit of units each counts with the average over its rows, and `unit` has to be
#' given; of a fit of a private number of records the sums are over all there are, and a record more or less moves them
#' no farther than a replaced one. What is divided by is the number that the fit released.
#'
#' Records at [sites()] that add noise are for a line of [dp_lm()] over the same sites. What they send is one vector of
#' squares, each in parts of 1, which a replaced record, or person, moves by at most the root of the number of
#' responses; its noise is normal, so `delta` is needed. All sites must answer.
#'
#' @param fit a release of [dp_lm()] or [dp_regression()].
#' @param data a data frame (of a curve also a list) with the records' variables, or data frames in [chunks()], or
#'   [sites()]. Their number is public, unless the fit's is private; then they must be in memory.
#' @param epsilon privacy budget, positive.
#' @param ... nothing; later arguments must be named.
#' @param delta for records at sites, whose noise is normal: below 1, positive. Else 0.
#' @param bound where residuals are cut, in units of the responses' public scales, or of a curve's `residual_bound`;
#'   positive. By default 3 for a line and 2 for a curve.
#' @param unit for a fit of units: which one each row is of, as in [dp_lm()]; not at sites, whose policies say it.
#' @param source,ledger,data_set,part as in [dp_mean()].
#' @return An object of class `riemdp_residual_scale` and [riemdp_release]: `value` (a residual standard deviation for
#'   each response, in its own units, on n - d - 1 degrees of freedom for d columns; of a curve one for each coordinate
#'   of the tangent space), `n` (of records or units; `NA` where it is private, `size` then has what the fit released),
#'   `unit`, `bound`, `squares` (the released `sum` of squares and its noise's `scale` on public
#'   scales, with `law = "normal"` a standard deviation), `moments` (where they were released: `xx`, sums of products of
#'   1 and the predictors on public scales, or
#'   of windows that the fit found, moved to their ends; and their noise's `scale`), `cuts` (of a curve: both `sum`s of
#'   what its loss cuts, between 0 and n but for noise, and its `scale`), `coefficients` (of the line, on
#'   public scales; of a curve its `p` and `v`), `sensitivity` (of a sum, on public scales), `source`, `guarantee`,
#'   `budget`, `draws`. Errors: `riemdp_error_argument` for what is no proven release of a line or curve, and where
#'   `unit` is missing (for a line, a row's too) or too much, and where sites have another number of records than the
#'   line; `riemdp_error_unsupported` for curves at sites, for `delta` elsewhere, and for chunks of a private number of
#'   records.
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
dp_residual_scale <- function(fit, data, epsilon, ..., delta = 0,
                              bound = if (inherits(fit, "riemdp_regression")) 2 else 3, unit = NULL, source = NULL,
                              ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(epsilon = missing(epsilon)))
  curve <- inherits(fit, "riemdp_regression")
  check_released(fit, curve)
  records <- residual_records(fit, data, unit, curve)
  ask <- list(fit = fit, curve = curve, n = if (is.na(fit$n)) NA_real_ else as.double(records$n),
              epsilon = check_number(epsilon, "epsilon", positive = TRUE), delta = check_delta(delta),
              unit = records$unit, bound = check_number(bound, "bound", positive = TRUE, most = 1e6),
              source = stated_source(source),
              assumptions = if (is_chunks(records$data)) chunk_assumptions(records$data))
  if (!(ask$epsilon >= 2^-30)) {
    abort_riemdp("argument", "an `epsilon` below 2^-30 is too small for what doubles weigh.")
  }
  if (ask$bound < 1e-6) abort_riemdp("argument", "`bound` must be from 1e-6 to 1e6.")
  there <- at_sites(data)
  if (!there && ask$delta > 0) {
    abort_riemdp("unsupported", "`delta` is for records at sites, which add normal noise: other noise here needs none.")
  }
  ask <- if (there) shared_residual(ask, data) else residual_shares(ask)
  uncounted(release_private(if (there) shared_residual_estimator else residual_estimator, ask, records, ledger,
                            data_set, part))
}

check_released <- function(fit, curve) {
  if (!curve && (!inherits(fit, "riemdp_lm") || inherits(fit, "riemdp_glm"))) {
    abort_riemdp("argument", "`fit` must be a release of dp_lm() or of dp_regression().")
  }
  public_value(fit, "fit")
  if (!curve) return(check_released_line(fit))
  check_released_curve(fit)
  if (of_user(fit$manifold)) abort_riemdp("unsupported", "a residual scale isn't offered on a user's manifold.")
}

# The records of a call: list(values, of a line NULL in chunks; data, the chunks; shares of units' rows; n, of records
# or units; unit, its name). Who is protected is the fit's.
residual_records <- function(fit, data, unit, curve) {
  private <- is.na(fit$n)
  if (at_sites(data)) {
    if (curve) {
      abort_riemdp("unsupported", "of a curve the residual scale needs records in memory or in chunks, not at sites.")
    }
    if (!is.null(unit)) abort_riemdp("argument", "at sites the policies' unit says what `unit` would.")
  } else if (is.null(unit) != of_rows(fit$guarantee)) {
    abort_riemdp("argument", if (is.null(unit)) "the fit is one of units: give `unit`, as there." else
      "the fit is one of rows: no `unit`.")
  }
  if (private && (is_chunks(data) || is.null(data))) {
    abort_riemdp("unsupported", paste("with a private number of records they must be in memory, in `data`: the sizes",
                                      "of chunks are public."))
  }
  given <- with_units(unit, data, "data", least = !private)
  data <- given$x
  least <- !private && is.null(unit)
  values <- if (curve) curve_values(fit, data, least) else line_values(fit, data, least)
  # rows of no unit are a curator's fault in a line, as there; a curve takes any record
  shares <- fit_shares(given$units, values$n, "any", private, if (!curve) c("", ""))
  list(values = values, data = if (is_chunks(data)) data, shares = shares, n = counted(shares, values$n),
       unit = unit_name(given$units, if (at_sites(data)) data))
}

residual_shares <- function(ask) {
  q <- if (ask$curve) 1 else nrow(ask$fit$scaled_coefficients)
  d <- if (ask$curve) nrow(ask$fit$columns) else length(ask$fit$columns)
  ask$loss <- if (ask$curve) last_loss(ask$fit)
  c(ask, residual_split(ask$n, q, d, is.null(ask$fit$details$moments), ask$epsilon, !is.null(ask$loss)))
}

# one that may come from a tampered file: its own numbers are public
check_released_line <- function(fit) {
  if (length(fit$spec$counts)) {
    abort_riemdp("unsupported", "there is no residual scale for a fit with `weights` or `subset`.")
  }
  b <- fit$scaled_coefficients
  none <- function(n) rep(list(0), n)
  whole <- tryCatch({
    are_lists(fit$spec$responses, fit$bounds, fit$columns, fit$details) && is_named_list(fit$spec$constants) &&
      is.matrix(b) && is.numeric(b) && all(is.finite(b)) &&
      identical(dim(b), c(length(fit$spec$responses), length(fit$columns) + 1L)) &&
      is.matrix(fit$bounds$y) && identical(ncol(fit$bounds$y), nrow(b)) && size_told(fit) &&
      is_window(fit$details$rule$window, length(fit$columns)) &&
      length(predictor_types(fit$spec, fit$bounds)) == length(fit$spec$predictors) &&
      ncol(linear_records(fit$columns, fit$bounds, list(x = none(length(fit$bounds$x)), y = none(nrow(b)),
                                                        n = 1))$x) == 1
  }, error = function(e) FALSE)
  if (!isTRUE(whole)) not_as_made(fit)
}

is_window <- function(window, d) {
  is.null(window) || (is.list(window) && are_numbers(window$center, d) && are_numbers(window$half, d) &&
                        all(window$half > 0))
}

check_released_curve <- function(fit) {
  whole <- tryCatch({
    k <- nrow(fit$columns)
    size_told(fit) && is.list(fit$details) && are_numbers(fit$columns$half, k) && all(fit$columns$half > 0) &&
      are_numbers(fit$residual_bound) && fit$residual_bound > 0 &&
      inherits(fit$terms, "formula") && is.language(fit$response) && are_lists(fit$bounds, fit$bounds$x) &&
      do.call(are_lists, fit$bounds$x) && is_named_list(fit$constants) &&
      length(curve_anyway(fit, matrix(0, k, 1))) == 1 && is_last(fit$details$last) && is_loss(last_loss(fit))
  }, error = function(e) FALSE)
  if (!isTRUE(whole)) {
    abort_riemdp("argument",
                 "the release must be as dp_regression() made it: parts of it are missing or of another kind.")
  }
}

# what the loss of the last step is found from
is_last <- function(last) {
  is.null(last) || (is.matrix(last$step) && are_numbers(last$lambda, nrow(last$step)) && are_numbers(last$rule$tau) &&
                      (is.null(last$rule$g) || is.numeric(last$rule$g)))
}

are_numbers <- function(x, count = 1) is.numeric(x) && length(x) == count && all(is.finite(x))

is_loss <- function(loss) {
  is.null(loss) || all(lengths(loss[c("tau", "q")]) == 1, length(loss$g) > 1, is.finite(loss$tau), loss$tau > 0,
                       is.finite(loss$g), is.finite(cut_numbers(c(0, 2 * loss$tau), loss)))
}

are_lists <- function(...) all(vapply(list(...), is.list, NA))

is_named_list <- function(x) is.null(x) || (is.list(x) && length(names(x)) == length(x))

# whether the number of records is public, or what is told of a private one is there
size_told <- function(fit) {
  one <- function(x) is.numeric(x) && length(x) == 1
  one(fit$n) && (!is.na(fit$n) || all(vapply(c("count", "points", "scale"), function(name) {
    one(fit$size[[name]]) && is.finite(fit$size[[name]])
  }, NA)))
}

# the records of a line: list(x, y, n); in chunks list(n)
line_values <- function(fit, data, least) {
  scope <- constant_scope(fit$spec$constants)
  if (at_sites(data)) return(list(n = chunk_count(data)))
  if (is_chunks(data)) {
    return(chunk_variables(c(fit$spec$responses, fit$spec$predictors), chunk_names(data), data, scope)["n"])
  }
  linear_values(fit$spec, data, scope, predictor_types(fit$spec, fit$bounds), least = least)
}

# the records of a curve: list(x, y, n)
curve_values <- function(fit, data, least = TRUE) {
  formula <- fit$terms
  formula[[3]] <- formula[[2]]
  formula[[2]] <- fit$response
  ranges <- lapply(fit$bounds$x, function(b) b$range %||% b$levels)
  regression_records(formula, fit$manifold, data, ranges, constant_scope(fit$constants), least)[c("x", "y", "n")]
}

residual_totals <- function(records, ask) {
  shared <- !is.null(records$shares)
  if (records$values$n == 0) return(numeric(length(sum_kinds(ask))))
  if (is.null(records$data)) {
    return(residual_total(list(residual_part(residual_numbers(records$values, ask), ask, records$shares)), ask, shared))
  }
  fit <- ask$fit
  sent <- c(ask[c("bits", "moment_bits", "cut_bits", "q", "loss")],
            list(bound = ask$bound, window = fit$details$rule$window))
  parts <- if (ask$curve) {
    y <- records$values$y
    y$share <- records$shares
    regression_ask_chunks(y, "curve_residuals", residual = sent,
                          fit = fit[c("manifold", "value", "columns", "residual_bound")])
  } else {
    numbers <- linear_chunks(records$data, fit$spec, fit$columns, fit$bounds, fit$details$reach %||% REACH)
    linear_ask_chunks(with_shares(numbers$x, records$shares), "line_residuals", numbers$y, residual = sent,
                      b = fit$scaled_coefficients)
  }
  residual_total(parts, ask, shared)
}

residual_estimator <- list(
  entry = function(plan, ask) entry_words("dp_residual_scale", "geometric", ask$unit),
  parts = c(sensitivity = "number"),
  plan = function(ask) {
    private <- is.na(ask$n)
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"), c(
      sprintf("the fit and its bounds are public or released; the number of records is %s",
              if (private) "private" else "public"), ask$assumptions),
      adjacency = if (private) "add-remove" else "replace-one", numerics = "lattice")
    # of units, whose sums are rounded as a whole
    list(sensitivity = ask$q * whole_most(ask$bits, ask), guarantee = of_units(g, ask$unit))
  },
  draw = function(records, plan, ask, budget) {
    sums <- residual_totals(records, ask)
    kinds <- sum_kinds(ask)
    noisy <- function(kind, most) {
      if (kind %in% kinds) noisy_squares(sums[kinds == kind], most, ask$shares[[kind]], "inference.md, 7")
    }
    list(squares = noisy("squares", plan$sensitivity), cuts = noisy("cuts", 2 * whole_most(ask$cut_bits, ask)),
         moments = noisy("moments", predictor_most(ask$d, ask$moment_bits)))
  },
  answer = function(out, plan, ask, budget) {
    fit <- ask$fit
    unit <- ask$bound^2 / 2^(ask$bits %||% 0)
    n <- if (is.na(ask$n)) max(1, fit$size$count) else ask$n
    squares <- list(sum = as.vector(out$squares$sum) * unit, scale = out$squares$scale * unit)
    squares$law <- out$squares$law
    mean <- pmin(pmax(squares$sum, 0) / residual_left(fit, n), ask$bound^2)
    new_release(
      if (ask$curve) sqrt(mean) * fit$residual_bound else
        stats::setNames(sqrt(mean) * fit$bounds$y["scale", ], names(fit$spec$responses)), "riemdp_residual_scale",
      n = ask$n, size = if (is.na(ask$n)) fit$size, unit = ask$unit, bound = ask$bound, squares = squares,
      moments = moments_told(out$moments, ask, n),
      cuts = if (!is.null(out$cuts)) list(sum = as.vector(out$cuts$sum) / 2^ask$cut_bits,
                                          scale = out$cuts$scale / 2^ask$cut_bits),
      coefficients = if (ask$curve) fit$value else fit$scaled_coefficients,
      mechanism = if (is.null(squares$law)) "geometric" else "gaussian", details = out$details,
      sensitivity = ask$bound^2, budget = budget, guarantee = plan$guarantee
    )
  }
)

# the same of a line's records at sites
shared_residual_estimator <- list(
  entry = function(plan, ask) entry_words("dp_residual_scale", "gaussian", ask$unit),
  parts = residual_estimator$parts,
  plan = function(ask) plan_shared_residual(ask),
  ready = function(records, plan, ask) {
    check_policies(records$data, list(shared_request(plan, plan$about)))
    records
  },
  draw = function(records, plan, ask, budget) {
    found <- draw_shared_sum(records$data, plan, ask$shares, "inference.md, 7")
    list(squares = list(sum = found$sum, scale = found$sd, law = "normal"),
         details = shared_details(list(shares = ask$shares)))
  },
  answer = residual_estimator$answer
)

# degrees of freedom that residuals leave, of each sum of squares
residual_left <- function(fit, n) {
  if (inherits(fit, "riemdp_lm")) return(pmax(1, n - ncol(fit$scaled_coefficients)))
  q <- mf_facts(fit$manifold)$dimension
  pmax(1, q * (n - 1 - nrow(fit$columns)))
}

# sums of products of (1, u), with the scale of their noise
moments_told <- function(noisy, ask, n) {
  if (is.null(noisy)) return(NULL)
  unit <- 2^-ask$moment_bits
  sums <- as.vector(noisy$sum) * unit
  list(xx = bordered(sums, ask$d, n), scale = noisy$scale * unit)
}
