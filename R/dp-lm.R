#' Private linear regression
#'
#' Fits a linear model with one or several responses and releases its coefficients with differential privacy. A record is a row.
#'
#' @section Bounds:
#' All ranges are public and none is taken from the data. `bounds` is a list with a name for each variable of the formula:
#' * a numeric predictor: `c(lower, upper)`, its range; values outside are moved to the nearer end, one by one and silently;
#' * a factor, character or logical predictor: its levels, the first being the reference; other values count as missing;
#' * a response: `c(center = , scale = )`, a public guess of its mean and standard deviation, and `limit` (how far from the centre a value
#'   may lie before it is moved) where one is known; or a range `c(lower, upper)`, of which the middle is the centre and a sixth
#'   of the width the scale.
#'
#' The better `center` and `scale` fit, the smaller the error; privacy never depends on them. Z-scores of the sample are data:
#' a fit to columns that were standardised by their own mean and standard deviation is private relative to the scaled rows, and a release whose
#' columns come from [scale()] says so. `bounds = "sample"` takes everything from the records, for comparison: labelled none.
#'
#' @section Methods:
#' * `"objective"`: objective perturbation. A random linear term tilts a Huber-like loss with a ridge; gradient and curvature of a record
#'   share one budget, and the noise is the smaller of two laws. Ridge, threshold and the budget's split follow from n, epsilon, the
#'   number of predictors and of responses: by a closed form, or by minimising a public error model where that promises 15 % less error
#'   (`rule = "closed"`, `"model"` force one). Pure.
#' * `"recentred"`: a rough fit and a scale for its residuals by the exponential mechanism, again if the scale is small, and a fit of the
#'   scaled residuals with what is left. For a high R-squared; pure. Where rough fit and scale cost at most a tenth of epsilon
#'   (n epsilon of about 1,000 with one predictor and one response), `"auto"` takes it as an insurance. On 30 made sets of data, with normal,
#'   skewed and heavy-tailed errors, its mean error over that of `"objective"` was 1.4 at R-squared 0, 1.3 at .3, 1.4 at .7, .15 at .95 and .08
#'   at .99 (geometric means over the sets), with `r_squared` of .7 or more 1.4, 1.25, 1.0, .09 and .04; at worst 6.6, for lognormal errors at
#'   R-squared .7.
#' * `"huber"`: objective perturbation of Huber's loss with plain accounting, to compare. Pure.
#' * `"statistics"`: sums of squares and products with K-norm noise, then a ridge regression. Pure.
#' * `"adassp"`: the same with normal noise and a ridge chosen by a private eigenvalue (Wang 2018); needs `delta` > 0.
#' * `"output"`: noise on the minimiser of Huber's loss with a ridge. Pure.
#' * `"kng"`: density proportional to exp(-rate N(gradient)) on a public ball, N a norm of the clipped gradient with a ridge; by
#'   rejection, so for at most three coefficients and n epsilon up to 60. Pure.
#' * `"paper"`: the mechanism of Kulkarni and Soto (2025) as published; never labelled private.
#' * `"auto"`: the least expected error at the public numbers, see [dp_lm_plan()], which also says why.
#'
#' `r_squared` is a public guess and moves the choice, and shares of `"recentred"`, only; from .7 on its rough fits get more.
#'
#' @section What is promised:
#' Errors depend on public facts: types, lengths, bounds, budget. A row with a missing, NaN or infinite cell counts with a fixed contribution, and n
#' stays as it is. The object holds coefficients, public numbers and the formula, no record, no residual and no fitted value, so
#' [predict()][predict.dp_lm] needs `newdata`. Terms of the formula must be functions of one row: arithmetic, comparisons, `exp()`, `log()`,
#' `ifelse()`, `as.numeric()`, `as.character()`, `factor()` and the like; `scale(x)` and `poly(x, 2)` are refused, and so is what depends on the levels of a
#' factor (its codes) or on the units of a time difference. Differences of dates are days, of times seconds.
#' Proofs: the file `proofs/linear-regression.md` of the installed package.
#'
#' @param formula as in [stats::lm()], with an intercept; `cbind(y1, y2) ~ x` for several responses.
#' @param data a data frame; its number of rows is public. Or data frames in [chunks()], for all methods but `"kng"` and `"paper"`: one pass over
#'   them for statistics, some 2 to 10 for the others.
#' @param epsilon,delta privacy budget; `delta` only for `"adassp"`.
#' @param bounds public bounds, see below.
#' @param method one of the methods below.
#' @param ... nothing; later arguments must be named.
#' @param r_squared public guess of the share of variance that the predictors explain, from 0 to below 1; it never affects privacy.
#' @param rule how `"objective"` and `"recentred"` get their constants.
#' @param ledger,data_set,part a budget to take the price from, as in [dp_mean()].
#' @return An object of class `dp_lm` and [dp_release]: `value` (coefficients on the variables' scales: a vector, or a matrix with a column for
#'   each response), `formula`, `bounds`, `method`, `n`, `epsilon`, `delta`, `expected_error` (excess of the mean squared error over least squares,
#'   per response and in units of its squared `scale`, by the public model), `chosen`, `details` (public constants, and what else was
#'   released), `guarantee` (see [guarantee()]), `budget`.
#' @references
#' Chaudhuri, K., Monteleoni, C. and Sarwate, A. D. (2011). Differentially private empirical risk minimization. *Journal of Machine
#' Learning Research* 12, 1069-1109. <https://www.jmlr.org/papers/v12/chaudhuri11a.html>
#'
#' Kifer, D., Smith, A. and Thakurta, A. (2012). Private convex empirical risk minimization and high-dimensional regression. *Conference on
#' Learning Theory* 25. <https://proceedings.mlr.press/v23/kifer12.html>
#'
#' Awan, J. and Slavkovic, A. (2021). Structure and sensitivity in differential privacy: comparing K-norm mechanisms. *Journal of the American
#' Statistical Association* 116, 935-954. \doi{10.1080/01621459.2020.1773831}
#'
#' Wang, Y.-X. (2018). Revisiting differentially private linear regression. *Uncertainty in Artificial Intelligence* 34.
#' \doi{10.48550/arXiv.1803.02596}
#'
#' Kulkarni, A. and Soto, C. (2025). Differentially private geodesic and linear regression. \doi{10.48550/arXiv.2504.11304}
#' @seealso [predict.dp_lm()], [dp_lm_plan()], [dp_ledger()], [guarantee()]
#' @examples
#' # ranges by what wines are like, not by these wines
#' bounds <- list(alcohol = c(8, 14), density = c(center = 0.997, scale = 0.002),
#'                pH = c(center = 3.3, scale = 0.15))
#' fit <- dp_lm(cbind(density, pH) ~ alcohol, red_wine, epsilon = 1, bounds = bounds)
#' fit
#' predict(fit, data.frame(alcohol = c(9, 12)))
#' @export
dp_lm <- function(formula, data = NULL, epsilon, delta = 0, bounds, ...,
                  method = c("auto", "objective", "recentred", "huber", "statistics", "adassp", "output", "kng", "paper"),
                  r_squared = 0.3, rule = c("auto", "model", "closed"), ledger = NULL, data_set = "default", part = NULL) {
  check_no_more(...)
  if (!is.null(ledger)) check_ledger(ledger)
  if (missing(formula)) abort_no_default("formula")
  if (missing(epsilon)) abort_no_default("epsilon")
  if (missing(bounds)) abort_no_default("bounds")
  spec <- linear_terms(formula, data)
  env <- environment(formula)
  if (is.null(env)) env <- globalenv()
  from_sample <- identical(bounds, "sample")
  if (!from_sample) public <- linear_bounds(spec, bounds)
  chunked <- is_chunks(data)
  values <- if (chunked) list(n = chunk_count(data), scaled = FALSE) else linear_values(spec, data, env)
  if (chunked && from_sample) {
    abort_riemdp("unsupported", "for records in chunks `bounds` must be given: bounds from the sample need all records at once.")
  }
  if (from_sample) public <- sample_bounds(spec, values)
  check_kinds(public, values$x, names(spec$predictors))
  columns <- linear_columns(spec, public)
  ask <- linear_ask(values$n, length(columns), length(spec$responses), epsilon, delta, method, r_squared, rule)
  if (chunked && ask$method != "auto") linear_in_chunks(ask$method)
  plan <- plan_linear(ask)
  g <- plan$guarantee
  simulated <- in_simulation()
  promise <- new_guarantee(
    g$epsilon, g$delta,
    c(g$reasons, if (from_sample) "the bounds are taken from the records",
      if (simulated) "seeded simulation: the noise can be drawn again"),
    sampler = "exact", rng = if (simulated) "simulation" else "operating system", numerics = "real-valued",
    assumptions = c("bounds, guesses and the formula are public; the number of records is public",
                    if (values$scaled) SCALED),
    mu = g$mu
  )
  budget <- spend_release(ledger, promise, release_event(promise), paste("dp_lm", plan$method), data_set, part)
  reach <- if (is.null(plan$reach)) REACH else plan$reach
  records <- if (chunked) linear_chunks(data, spec, columns, public, reach) else
    linear_records(columns, public, values, !isFALSE(plan$clip), reach)
  out <- linear_methods()[[plan$method]]$release(records$x, records$y, plan, ask)
  more <- NULL
  if (is.list(out)) {
    more <- out$details
    out <- out$b
  }
  details <- c(plan[setdiff(names(plan), c("error", "guarantee", "method", "chosen", "table", "clip"))], more)
  new_release(
    raw_coefficients(out, columns, public, names(spec$responses)), "dp_lm",
    formula = spec$formula, spec = spec, bounds = public, columns = columns, method = plan$method, n = ask$n, epsilon = ask$epsilon, delta = ask$delta,
    r_squared = ask$r_squared, expected_error = plan$error, constant_error = guess(ask)$constant, chosen = plan$chosen, table = plan$table,
    scaled_coefficients = out, details = details, budget = budget, guarantee = promise
  )
}

linear_ask <- function(n, d, q, epsilon, delta, method, r_squared, rule) {
  methods <- names(linear_methods())
  r_squared <- check_number(r_squared, "r_squared", least = 0, most = 1)
  if (r_squared > 0.999) abort_riemdp("argument", "`r_squared` must be from 0 to .999.")
  if ((d + 1) * q > 500) abort_riemdp("shape", "there may be at most 500 coefficients.")
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  if (epsilon < 1e-6 || epsilon > 1e3) abort_riemdp("argument", "`epsilon` must be between 1e-6 and 1000.")
  list(n = as.double(n), d = as.double(d), q = as.double(q), epsilon = epsilon, delta = check_delta(delta), r_squared = r_squared,
       method = check_choice(if (identical(method, c("auto", "objective", "recentred", "huber", "statistics", "adassp", "output", "kng", "paper"))) "auto" else method,
                             "method", c("auto", methods)),
       rule = check_choice(rule, "rule", c("auto", "model", "closed")))
}

plan_linear_one <- function(ask, name) {
  m <- linear_methods()[[name]]
  why <- m$unsupported(ask)
  if (!is.null(why)) abort_riemdp("unsupported", why)
  c(m$plan(ask), method = name)
}

plan_linear <- function(ask) {
  if (ask$method != "auto") {
    plan <- plan_linear_one(ask, ask$method)
    plan$chosen <- "asked for"
    return(plan)
  }
  names <- names(Filter(function(m) m$auto, linear_methods()))
  plans <- lapply(stats::setNames(nm = names), function(name) tryCatch(plan_linear_one(ask, name), riemdp_error = function(e) conditionMessage(e)))
  able <- Filter(is.list, plans)
  error <- vapply(able, `[[`, 0, "error")
  best <- names(error)[which.min(error)]
  insured <- best == "objective" && !is.null(able$recentred) && insured_fit(ask)
  if (insured) best <- "recentred"
  plan <- able[[best]]
  plan$chosen <- paste0(
    if (insured) "insurance against a high R-squared, which costs little here: " else "smallest expected error: ",
    paste(sprintf("%s %.4g", names(error), error), collapse = ", "),
    if (length(able) < length(plans)) paste0("; not available here: ", paste(setdiff(names(plans), names(able)), collapse = ", ")))
  plan$table <- data.frame(method = names(error), expected_error = unname(error))
  plan
}

# "recentred" insures against a high R-squared that nobody guessed: it is taken where a useful rough fit and its scale are cheap
insured_fit <- function(ask) {
  share <- recentring_shares(ask)
  share$first + share$scale <= PREMIUM[["share"]] && share$error <= PREMIUM[["error"]]
}

#' Compare methods of private linear regression before data are touched
#'
#' What [dp_lm()] would do with so many records, predictors and responses, from public numbers alone: the expected excess of the mean squared
#' error over least squares, per response and in units of its squared public scale. A constant fit has `signal` excess, so a method with
#' an expected error near that says nothing.
#'
#' @param n number of records.
#' @param d number of predictors (columns of the model without the intercept).
#' @param q number of responses.
#' @param epsilon,delta,r_squared,rule as in [dp_lm()].
#' @param x a plan.
#' @param ... not used.
#' @return A data frame of class `dp_lm_plan` with a row for each method: `method`, `expected_error` at `r_squared`, `high` (at
#'   \eqn{R^2 = .95}), `private`, `chosen`, `why` (why not available). `print()` returns it invisibly, `plot()` draws the errors.
#' @examples
#' dp_lm_plan(n = 1000, d = 2, epsilon = 1)
#' @export
dp_lm_plan <- function(n, d, q = 1, epsilon, delta = 0, r_squared = 0.3, rule = c("auto", "model", "closed")) {
  for (name in c("n", "d", "epsilon")[c(missing(n), missing(d), missing(epsilon))]) abort_no_default(name)
  ask <- linear_ask(check_count(n, "n", most = 1e9), check_count(d, "d", 0, 500), check_count(q, "q", most = 500), epsilon, delta, "auto",
                    r_squared, rule)
  chosen <- plan_linear(ask)
  high <- ask
  high$r_squared <- 0.95
  rows <- lapply(names(linear_methods()), function(name) {
    one <- function(ask) tryCatch(plan_linear_one(ask, name), riemdp_error = function(e) conditionMessage(e))
    plan <- one(ask)
    if (!is.list(plan)) return(data.frame(method = name, expected_error = NA_real_, high = NA_real_, private = NA, chosen = FALSE, why = plan))
    data.frame(method = name, expected_error = plan$error, high = one(high)$error, private = is.null(plan$guarantee$reasons),
               chosen = name == chosen$method, why = "")
  })
  out <- do.call(rbind, rows)
  structure(out, ask = ask, reason = chosen$chosen, signal = guess(ask)$constant, class = c("dp_lm_plan", "data.frame"))
}

#' @rdname dp_lm_plan
#' @export
print.dp_lm_plan <- function(x, ...) {
  ask <- attr(x, "ask")
  if (is.list(ask)) {
    cat(sprintf("Private linear regression: n = %g, %d predictor%s, %d response%s, epsilon %g, delta %g, guess of R-squared %g\n", ask$n, ask$d,
                if (ask$d == 1) "" else "s", ask$q, if (ask$q == 1) "" else "s", ask$epsilon, ask$delta, ask$r_squared))
    cat(sprintf("Expected excess of the mean squared error (a constant fit: %.3g):\n", attr(x, "signal")))
  }
  show <- as.data.frame(x)
  class(show) <- "data.frame"
  for (column in c("expected_error", "high")) if (is.numeric(show[[column]])) show[[column]] <- signif(show[[column]], 3)
  print(show, row.names = FALSE)
  if (length(attr(x, "reason"))) cat(strwrap(paste0("Chosen: ", attr(x, "reason"))), sep = "\n")
  invisible(x)
}

#' @rdname dp_lm_plan
#' @export
plot.dp_lm_plan <- function(x, ...) {
  show <- x[!is.na(x$expected_error), , drop = FALSE]
  at <- rev(seq_len(nrow(show)))
  values <- c(show$expected_error, show$high, attr(x, "signal"))
  graphics::plot(range(values[values > 0]), range(c(at, 0.5)), type = "n", log = "x", yaxt = "n", ylab = "", bty = "n",
                 xlab = "expected excess of the mean squared error", main = "Private linear regression")
  graphics::axis(2, at, show$method, las = 1, tick = FALSE)
  graphics::abline(v = attr(x, "signal"), lty = 3, col = "grey50")
  graphics::points(show$expected_error, at, pch = ifelse(show$chosen, 19, 21), col = COLOURS[["release"]])
  graphics::points(show$high, at, pch = 4, col = COLOURS[["mean"]])
  graphics::legend("bottomright", c("at the guess of R-squared", "at .95", "constant fit"), pch = c(19, 4, NA), lty = c(NA, NA, 3),
                   col = c(COLOURS[["release"]], COLOURS[["mean"]], "grey50"), bty = "n", cex = 0.8)
  invisible(x)
}
