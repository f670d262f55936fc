# Private geodesic regression: what is asked for, the plan from public numbers alone, the release and its object. The
# mechanisms are lists in R/regression-*.R: name, needs_delta, auto (FALSE: only by name), plan(M, ask), release(M, x,
# y, plan, ask), words(r).

regression_mechanisms <- function() {
  all <- list(mechanism_newton, mechanism_regression_tangent, mechanism_regression_gradient, mechanism_regression_kng,
              mechanism_regression_paper)
  stats::setNames(all, vapply(all, function(m) m$name, ""))
}

#' Private geodesic regression
#'
#' Releases a differentially private geodesic \eqn{x \mapsto \exp_p(\sum_j (x_j - a_j) v_j)} through records
#' \eqn{(x_i, y_i)} with responses on a manifold: a foot point p at the middle \eqn{a} of the predictors' public ranges
#' and a shooting vector \eqn{v_j} for each predictor.
#'
#' Everything that steers the fit is public: `center` and `radius` bound the foot point, `speed` the vectors, `bounds`
#' the predictors, and `residual_bound` says how far responses usually lie from the curve; residuals that are much
#' longer lose their pull, but no response is refused. None of them may be read off the records; there are no defaults.
#'
#' @section Methods:
#' * `"newton"`: a few Gauss-Newton steps. Each carries residuals back to the last released foot point and solves a
#'   regularised linear regression there by objective perturbation, exactly: with probability density, no chain and no
#'   rejection. Where the noise outweighs the rest (many dimensions, few records, no negative curvature) the last step
#'   is one along the sum of clipped gradients, with K-norm noise on it. Pure \eqn{\epsilon}-differential privacy on
#'   every manifold with exp and log, without conditions on curvature.
#' * `"tangent"`: its first step alone, from the centre.
#' * `"gradient"`: noisy steps along clipped gradients, with Gaussian noise; needs `delta` > 0.
#' * `"kng"`: the K-norm gradient mechanism for p and v at once, on the public domain: density \eqn{\exp(-N/\sigma)}, N
#'   the larger of the mean clipped gradients with respect to p and v, each over the largest one record can have. For
#'   one predictor on spheres, hyperbolic spaces, positive definite matrices (affine-invariant, log-Euclidean), planar
#'   shapes, Grassmann manifolds and Euclidean space. Drawn exactly by rejection, which can be had only up to
#'   \eqn{n\epsilon} of about 42; its error isn't predicted, so it has to be asked for. Beyond, `chain =` takes the
#'   state after that many steps of a Metropolis chain: the label is `approx-sampler` where the chain's distance t from
#'   the law is proven to be so small that \eqn{(1 + e^\epsilon)t} is at most `delta`, and `none` elsewhere. The proof
#'   rests on the chain's uniform moves and asks for more steps than rejection has trials, so that beyond rejection's
#'   reach the label is `none`: for comparisons. No diagnostics are kept, since they would depend on the records.
#' * `"paper"`: the mechanism of Kulkarni and Soto (2025) as published, one draw, **not private** and labelled so; see
#'   [nonprivate_regression_kng()].
#' * `"auto"`: of the others the one with the least expected error by a public model, see [dp_regression_plan()].
#'
#' With one predictor on a symmetric space (spheres, hyperbolic spaces, positive definite matrices with the
#' affine-invariant or log-Euclidean metric, Grassmann manifolds, planar shapes, Euclidean space) steps use the Jacobi
#' fields along the released geodesic. Elsewhere, and with several predictors, they use those of flat space: as private,
#' and the fixed point solves the estimating equation \eqn{\sum_i \psi(e_i) (1, x_i) = 0} of residuals carried back to p
#' instead of that of least squares. On the sphere and the hyperbolic plane with two predictors the two fits were
#' \eqn{3 \cdot 10^{-5}}{3e-5} and \eqn{7 \cdot 10^{-5}}{7e-5} apart at n = 2,000 and noise of .03 and .06, a thirtieth
#' and a twentieth of the private error at epsilon 2. With several predictors curves depend on where the foot point is:
#' compare with `geodesic_regression(origin = )` at the middle of the ranges.
#'
#' @section Records:
#' A record counts as it is whatever the others are: a predictor outside its range is moved to the end; a response that
#' is missing, is no point of the manifold, or has no logarithm at the current curve, has no pull. None of this is told.
#' The right side of the formula may hold only terms that are functions of one row, as in [dp_lm()], and so may the left
#' side: a variable that holds points, `cbind()` of columns, columns of a matrix (`y[, 1:3]`), numbers taken element by
#' element, and `mf_points()`, `mf_project()` or [rows_to_points()] of these. Where numbers come from [scale()] the
#' release says so; constants are public, and [guarantee()] names them. With `invalid = "error"` (for the curator, who
#' may see the records) responses that are no points are reported by number before anything is drawn; this check is not
#' part of the release.
#'
#' @section Units:
#' With `unit` each unit counts with the average of its rows' clipped gradients and curvatures, so the number of units
#' takes the place of n, and what is fitted is the curve for which each row weighs 1 over how many its unit has (rounded
#' down to a multiple of \eqn{2^{-30}}). Steps by objective perturbation cost more than for rows at equal n, as in
#' [dp_lm()]: by the public model the whole plan's error is up to 1.2 times that, 1.3 times at n epsilon of 50;
#' `"gradient"` and `"kng"` cost the same. `dp_regression_plan(unit = TRUE)` says it beforehand. The number of units is
#' public; how many rows each has is not, and is not released. `invalid = "error"` also refuses rows without a unit
#' (`NA`) and levels without a row, before anything is spent; with `"ignore"` the former are left out, and the latter
#' count as a missing record. `"paper"` is refused. For tables in chunks see [chunks()], "Units". Proof: section 5 of
#' the file `proofs/regression.md` of the installed package.
#'
#' @section A private number of records:
#' With `neighbours = "add_remove"`, as in [dp_lm()], section "A private number of records". Not for `"kng"`, `"paper"`,
#' chunks, or variables outside of `data`.
#'
#' @param formula points on the left as in [geodesic_regression()]; predictors on the right.
#' @param M a manifold.
#' @param data a data frame or list. Or such tables in [chunks()]: then variables come from `data` only. `"newton"`
#'   takes some 10 to 20 passes over them, `"gradient"` one a step, `"kng"` one for every 32 trials or for each step of
#'   its chain. Or [sites()] that add noise, whose policies have `columns` with points: `"gradient"` then, one request
#'   for each step, and the formula's variables are columns there; what is no point counts as missing.
#' @param epsilon privacy budget, positive.
#' @param center,radius the public ball that holds the foot point: one point, and a radius in the units of the metric,
#'   below the injectivity radius.
#' @param speed public bound on the length of each shooting vector, in units of the metric for one unit of the
#'   predictor: one number, or one for each column of the model.
#' @param residual_bound public guess of the distance from the curve within which about 95 % of the responses lie, in
#'   the units of the metric. Not needed for privacy; it sets where residuals are clipped.
#' @param bounds public ranges of the predictors: `c(lower, upper)` for a single one, else a list with a name for each
#'   variable of the right side (two numbers, or the levels of a factor).
#' @param ... nothing; later arguments must be named.
#' @param delta from 0 to below 1; needed by `"gradient"`, not used by pure methods.
#' @param method `"auto"` or one of the methods above.
#' @param loss of `"kng"`: `"huber"`, quadratic up to `residual_bound`, or `"lad"`, least absolute deviations, whose
#'   gradients all have length 1 and which doesn't use `residual_bound`. The other methods make their own.
#' @param chain of `"kng"`: `NULL` for exact draws, or the number of steps of a chain.
#' @param invalid `"error"` or `"ignore"`: what to do with responses that are no points.
#' @param unit `NULL`: one record is one row, and nobody who has several rows is protected as a whole. Else which unit,
#'   a person say, each row is of: a vector with an element for each row (numbers, text, dates; the levels of a factor
#'   are all its units), or the name of a column of a data frame `data`. What is protected then is one unit, replaced
#'   with all its rows; see "Units".
#' @param ledger,data_set,part as in [dp_mean()].
#' @inheritParams dp_mean
#' @return An object of class `riemdp_regression` and [riemdp_release]: `value` (`p` and `v`), `manifold`, `mechanism`,
#'   `n` (of records or units), `unit`, `center`, `radius`, `speed`, `residual_bound`, `columns` (name, middle and half
#'   width of each predictor),
#'   `expected_error` (root mean squared distance to the curve without noise over the ranges by the public model,
#'   neither clipping nor sampling in it, see [confint()][confint.riemdp_regression]; `NA` for `"kng"`), `details`
#'   (shares of the steps), `chosen`, `source`, `guarantee`, `budget`. There are `coef()`, `predict()`, `confint()`,
#'   `plot()`, `print()`, `summary()`, [explain()], `nobs()`, `formula()`, `tidy()` and `glance()` methods, and
#'   [dp_uncertainty()]. It holds no record. With a private number of records `n` is `NA`, and there is `size`, as in
#'   [dp_lm()].
#' @references
#' Fletcher, P. T. (2013). Geodesic regression and the theory of least squares on Riemannian manifolds. *International
#' Journal of Computer Vision* 105, 171-185. \doi{10.1007/s11263-012-0591-y}
#'
#' Kifer, D., Smith, A. and Thakurta, A. (2012). Private convex empirical risk minimization and high-dimensional
#' regression. *Proceedings of the 25th Annual Conference on Learning Theory*, PMLR 23, 25.1-25.40.
#'
#' Chaudhuri, K., Monteleoni, C. and Sarwate, A. D. (2011). Differentially private empirical risk minimization. *Journal
#' of Machine Learning Research* 12, 1069-1109.
#' @seealso [geodesic_regression()], [dp_regression_plan()], [dp_lm()]
#' @examples
#' # a noisy geodesic on the sphere; bounds are round numbers that one would know beforehand
#' set.seed(1)
#' x <- runif(300)
#' y <- mf_exp(sphere(2), c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
#' y <- mf_project(sphere(2), y + rnorm(900, sd = 0.03))
#' r <- dp_regression(y ~ x, sphere(2), epsilon = 1, center = c(0, 0, 1), radius = 0.4,
#'                    speed = 1.5, residual_bound = 0.1, bounds = c(0, 1))
#' r
#' predict(r, data.frame(x = c(0, 0.5, 1)))
#' @export
dp_regression <- function(formula, M, data = NULL, epsilon, center, radius, speed, residual_bound, bounds, ...,
                          delta = 0, method = "auto", loss = c("huber", "lad"), chain = NULL,
                          invalid = c("error", "ignore"), unit = NULL, neighbours = c("replace", "add_remove"),
                          source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_proven(check_manifold(M))
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius), speed = missing(speed),
                residual_bound = missing(residual_bound), bounds = missing(bounds)))
  invalid <- check_choice(invalid, "invalid", c("error", "ignore"))
  env <- environment(formula) %||% parent.frame()
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  check_whole_rows(data, unit, replace)
  given <- with_units(unit, data, "data", least = replace)
  data <- given$x
  chunked <- is_chunks(data)
  check_fit_size(replace, data, method)
  records <- regression_records(formula, M, data, bounds, env, least = replace && is.null(unit))
  spec <- records$spec
  if (chunked) chunked_method(method)
  shares <- fit_shares(given$units, records$n, method, !replace, if (invalid == "error") {
    paste("With invalid = \"ignore\"", c("they are left out.", "each counts as a missing record."))
  })
  if (chunked) records$y$share <- shares else records$x <- with_shares(records$x, shares)
  ask <- regression_ask(M, counted(shares, records$n), epsilon, center, radius, speed, residual_bound, spec$columns,
                        delta, method, loss, chain)
  ask$source <- stated_source(source, list(center = center, radius = radius))
  ask$manifold <- M
  ask$invalid <- invalid
  ask$spec <- spec
  ask$unit <- unit_name(given$units, data)
  ask$constants <- records$constants
  ask$assumptions <- c(if (isTRUE(records$scaled)) SCALED, constants_said(records$constants),
                       if (chunked) chunk_assumptions(data))
  if (chunked) ask <- shared_curve(ask, data)
  records <- c(records[c("x", "y")], list(of = given$units$of, n = counted(shares, records$n), rows = records$n))
  gaussian <- names(Filter(function(m) isTRUE(m$needs_delta), regression_mechanisms()))
  release_fit(curve_estimator, sized_curve_estimator(), replace, ask, records, gaussian, ledger, data_set, part)
}

curve_estimator <- list(
  entry = function(plan, ask) entry_words("dp_regression", plan$mechanism, ask$unit),
  parts = c(mechanism = "text", expected_error = "number", chosen = "text"),
  plan = function(ask) {
    plan <- plan_regression(ask$manifold, ask)
    if (!is.null(ask$shares)) plan$steps <- lapply(plan$steps, summed_step, ask)
    plan$guarantee$assumptions <- c(plan$guarantee$assumptions, ask$assumptions)
    plan$guarantee <- of_units(plan$guarantee, ask$unit)
    plan
  },
  ready = function(records, plan, ask) {
    if (!is.null(ask$shares)) check_policies(records$y$data, lapply(plan$steps, first_request, ask))
    if (records$rows == 0) return(no_rows(records, ask$manifold, ask$n))
    if (ask$invalid == "error") {
      chunked <- inherits(records$y, "riemdp_regression_chunks")
      records$y <- if (chunked) check_responses(records$y) else checked_responses(records$y, ask$manifold)
    }
    records
  },
  draw = function(records, plan, ask, budget) {
    if (!is.null(ask$shares)) records$y <- noisy_curves(records$y, ask)
    uncounted(regression_mechanisms()[[plan$mechanism]]$release(ask$manifold, records$x, records$y, plan, ask))
  },
  answer = function(out, plan, ask, budget) {
    new_release(
      out[c("p", "v")], "riemdp_regression",
      manifold = ask$manifold, mechanism = plan$mechanism, n = ask$n, unit = ask$unit, center = ask$center,
      radius = ask$radius,
      speed = ask$speed, residual_bound = ask$residual_bound, columns = strip_columns(ask$spec$columns),
      terms = ask$spec$formula, response = ask$spec$response, constants = ask$constants, bounds = ask$spec$bounds,
      expected_error = plan$expected_error, spread = plan$spread,
      details = c(plan$details, list(last = out$last), shared_details(list(shares = ask$shares))),
      chosen = plan$chosen,
      budget = budget, guarantee = plan$guarantee
    )
  }
)

# the number of records is private: its noisy value is released first
sized_curve_estimator <- function() utils::modifyList(
  sized_fit(curve_estimator, function(records, points) {
    shares <- taken_shares(records$rows, points, attr(records$x, "share"), records$of)
    if (records$rows == 0) return(no_rows(records, records$M, points))
    records$x <- with_shares(records$x, shares)
    records
  }),
  list(ready = function(records, plan, ask) {
    records$M <- ask$manifold
    if (records$rows > 0) curve_estimator$ready(records, plan, ask) else records
  })
)

# a record of which nothing is known, and which counts nothing, where there is none
no_rows <- function(records, M, units) {
  records$x <- with_shares(matrix(NA_real_, nrow(records$x), 1), structure(0, units = units))
  records$y <- new_points(matrix(NA_real_, 1, mf_facts(M)$ambient), M)
  records
}

strip_columns <- function(columns) {
  data.frame(name = vapply(columns, `[[`, "", "name"), middle = vapply(columns, `[[`, 0, "middle"),
             half = vapply(columns, `[[`, 0, "half"))
}

# What is asked for, checked: public quantities only
regression_ask <- function(M, n, epsilon, center, radius, speed, residual_bound, columns, delta, method, loss = "huber",
                           chain = NULL) {
  center <- public_point(M, center)
  radius <- check_number(public_value(radius, "radius"), "radius", positive = TRUE)
  limit <- mf_facts(M)$injectivity_radius
  if (limit > 0 && radius >= limit) {
    abort_riemdp("radius", sprintf("`radius` is %.4g, but must be below %.4g, the injectivity radius.", radius, limit))
  }
  k <- length(columns)
  if (!is.numeric(speed) || is.object(speed) || !length(speed) %in% c(1, k) || !all(is.finite(speed)) ||
      any(speed <= 0)) {
    abort_riemdp("argument", "`speed` must be one positive number, or one for each column of the model.")
  }
  method <- check_choice(method, "method", c("auto", names(regression_mechanisms())))
  loss <- check_choice(loss, "loss", c("huber", "lad"))
  if (loss == "lad" && method != "kng") abort_riemdp("unsupported", "loss = \"lad\" is for method = \"kng\".")
  if (!is.null(chain)) {
    chain <- check_count(chain, "chain", most = 1e9)
    if (method != "kng") abort_riemdp("unsupported", "`chain` is for method = \"kng\".")
  }
  residual_bound <- check_number(residual_bound, "residual_bound", positive = TRUE)
  reach <- vapply(columns, `[[`, 0, "half")
  sizes <- c(residual_bound, radius, speed, reach, speed * reach)
  if (any(sizes < 1e-60 | sizes > 1e60)) {
    abort_riemdp("unsupported",
                 paste("bounds, and `speed` times half a predictor's range, must be between 1e-60 and 1e60: squares",
                       "must fit into doubles."))
  }
  list(
    n = n, q = mf_facts(M)$dimension, k = k, epsilon = check_number(epsilon, "epsilon", positive = TRUE),
    delta = check_delta(delta), center = center, radius = radius, speed = rep_len(as.double(speed), k),
    residual_bound = residual_bound, reach = reach, method = method, loss = loss, chain = chain
  )
}

# methods whose error is predicted
automatic_regressions <- function() {
  names(Filter(function(m) !isFALSE(m$auto), regression_mechanisms()))
}

plan_regression <- function(M, ask) {
  names <- if (ask$method == "auto") {
    Filter(function(name) ask$delta > 0 || !isTRUE(regression_mechanisms()[[name]]$needs_delta),
           automatic_regressions())
  } else ask$method
  plans <- list()
  for (name in names) {
    mechanism <- regression_mechanisms()[[name]]
    if (isTRUE(mechanism$needs_delta) && ask$delta == 0) {
      abort_riemdp("argument", sprintf("method = \"%s\" needs `delta` > 0: its noise is Gaussian.", name))
    }
    plan <- plan_regression_one(M, ask, name)
    if (!is.null(plan)) plans <- c(plans, list(plan))
  }
  if (!length(plans)) {
    abort_riemdp("unsupported", "no method can be planned for this epsilon and dimension: ask for more budget.")
  }
  plan <- if (length(plans) == 1) plans[[1]] else plans[[which.min(vapply(plans, function(p) p$expected_error, 0))]]
  plan$chosen <- if (ask$method == "auto") "the least expected error by the public model" else "asked for"
  plan
}

plan_regression_one <- function(M, ask, name) {
  plan <- regression_mechanisms()[[name]]$plan(M, ask)
  if (is.null(plan)) return(NULL)
  plan$mechanism <- name
  plan$guarantee <- promise_of(plan$guarantee, c(
    "center, radius, speed, residual_bound and bounds are public; the number of records is public",
    if (of_user(M)) "a callback's result for a record depends on that record and the curve alone"
  ))
  plan
}

# of a public range
half_width <- function(range) {
  numbers <- is.numeric(range) && !is.object(range) && length(range) == 2 && all(is.finite(range))
  if (!numbers || range[1] >= range[2]) {
    abort_riemdp("argument",
                 "`bounds` must be two numbers, the smaller first, or a list of such, one for each predictor.")
  }
  diff(as.numeric(range)) / 2
}

#' Plan of a private geodesic regression
#'
#' What [dp_regression()] would do and how far its curve would be from the non-private one, before any data are touched.
#'
#' @inheritParams dp_regression
#' @param n number of records, with `unit = TRUE` of units; several for a table over n.
#' @param bounds the predictors' public ranges: `c(lower, upper)` for a single one, or a list with one for each.
#' @param unit whether the fit is to be one with `unit`, which protects n units with all their rows.
#' @return A data frame of class `riemdp_regression_plan` with a row for each n, epsilon and method: `n`,
#'   `nominal_epsilon` (what is asked for), `method`, `label` (see [guarantee()]), `steps` (their number),
#'   `expected_error` (root mean squared distance of the private from the non-private curve, by the model) and
#'   `constant` (that of the best guess without data: a curve that stays at the centre, if half the bounds are used up),
#'   `population` and `residual_epsilon` (of bands about the population, as in [dp_lm_plan()]). `plot()` draws the
#'   errors.
#' @details The model: predictors uniform on their range, residuals normal and 95 % of them within `residual_bound`,
#'   foot point and vectors at half their bounds. In simulations on six spaces with bounds that fit, means of 100
#'   releases were .56 to .82 times the predicted ones (`reproduce/geodesic-regression.R`), up to 1.13 times where the
#'   speed was near its bound at n = 20, and up to 2 times where the residual bound was three times too small. Curves of
#'   length 5 (of 3.5) had 2.3 times (1.3 times) the predicted error at n = 300 and epsilon = 1.5, 1.1 to 1.2 times at n
#'   = 2,000: the model is for curves that bend little. Intervals about the estimate say too little there.
#' @examples
#' dp_regression_plan(sphere(2), n = c(20, 100, 500), epsilon = 2, center = c(0, 0, 1),
#'                    radius = pi / 8, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1))
#' @export
dp_regression_plan <- function(M, n, epsilon, center, radius, speed, residual_bound, bounds, delta = 0,
                               unit = FALSE) {
  check_proven(check_manifold(M))
  check_given(c(n = missing(n), epsilon = missing(epsilon), center = missing(center), radius = missing(radius),
                speed = missing(speed), residual_bound = missing(residual_bound), bounds = missing(bounds)))
  half <- vapply(if (is.list(bounds) && length(bounds)) bounds else list(bounds), half_width, 0)
  if (!is.numeric(n) || is.object(n) || !length(n) || !is.numeric(epsilon) || is.object(epsilon) || !length(epsilon)) {
    abort_riemdp("argument", "`n` and `epsilon` must be numbers, at least one each.")
  }
  unit <- if (check_flag(unit, "unit")) "unit"
  columns <- lapply(half, function(h) list(name = "x", middle = 0, half = h))
  rows <- list()
  for (e in epsilon) for (m in n) {
    ask <- regression_ask(M, check_count(m, "n", most = 1e12), e, center, radius, speed, residual_bound, columns, delta,
                          "auto")
    ask$unit <- unit
    rows <- c(rows, lapply(automatic_regressions(), regression_plan_row, M = M, ask = ask))
  }
  out <- do.call(rbind, rows)
  if (is.null(out)) {
    abort_riemdp("unsupported", "no method can be planned for this epsilon and dimension: ask for more budget.")
  }
  structure(out, unit = unit, class = c("riemdp_regression_plan", "data.frame"))
}

# NULL where the method can't be had
regression_plan_row <- function(name, M, ask) {
  if (isTRUE(regression_mechanisms()[[name]]$needs_delta) && ask$delta == 0) return(NULL)
  plan <- plan_regression_one(M, ask, name)
  if (is.null(plan)) return(NULL)
  data.frame(n = ask$n, nominal_epsilon = ask$epsilon, method = name, label = plan$guarantee$label,
             steps = length(plan$details$shares),
             expected_error = plan$expected_error, constant = plan$details$constant, curve_population_row(ask, name))
}

#' @export
`[.riemdp_regression_plan` <- function(x, ...) part_of_plan(x, NextMethod())

# ---- methods ---------------------------------------------------------------------------------------------------------

#' @importFrom stats coef
#' @export
coef.riemdp_regression <- function(object, ...) object$value

#' @importFrom stats nobs
#' @export
nobs.riemdp_regression <- function(object, ...) object$n

#' @importFrom stats formula
#' @export
formula.riemdp_regression <- function(x, ...) x$terms

# predictors from the middle of their ranges, k x n; with `clip` a total function of each row, as a private call reads
# its records: moved into the ranges, missing ones to the middle
regression_predictors <- function(object, newdata, clip = FALSE) {
  if (is.null(newdata)) {
    if (nrow(object$columns) != 1) abort_riemdp("argument", "`newdata` must be given: a release holds no records.")
    return(matrix(seq(-1, 1, length.out = 51) * object$columns$half, 1))
  }
  if (!is.list(newdata)) abort_riemdp("argument", "`newdata` must be a data frame.")
  full <- object$terms
  full[[3]] <- full[[2]]
  full[[2]] <- 0
  spec <- linear_terms(full)
  spec$constants <- object$constants
  n <- if (is.data.frame(newdata)) .row_names_info(newdata, 2L) else max(lengths(newdata), 0)
  values <- new_values(spec, object$bounds, newdata, n)
  columns <- linear_columns(spec, object$bounds)
  x <- t(column_values(columns, object$bounds, values, clip = clip, n = n)) - object$columns$middle
  if (clip) {
    x[!is.finite(x)] <- 0
    x[] <- pmin(object$columns$half, pmax(-object$columns$half, x))
  }
  if (!all(is.finite(x))) abort_riemdp("not_finite", "predictors in `newdata` must be finite.")
  dimnames(x) <- NULL
  x
}

# what private regressions ask of the records of a chunk
PRIVATE_CURVE_KERNELS <- list(
  regression_check = function(q, x) {
    tryCatch({
      checked_responses(chunk_private(q, x)$y, q$M)
      list()
    }, riemdp_error = function(e) list(class = class(e)[1], message = conditionMessage(e)))
  },
  regression = function(q, x) {
    d <- chunk_private(q, x)
    records <- features_at(q$M, q$state, q$frame, d$x, d$y, q$ask)
    psi <- clipped_responses(records, q$tau)
    if (!is.null(q$share)) psi <- psi * rep(shares_of(records$features), each = nrow(psi))
    parts <- lapply(seq_len(dim(records$features)[2]), function(j) matrix(records$features[, j, ], nrow(psi)) * psi)
    exact_rows(t(do.call(rbind, parts)))
  },
  regression_perturbed = function(q, x) {
    d <- chunk_private(q, x)
    records <- features_at(q$M, q$state, q$frame, d$x, d$y, q$ask)
    .Call(riemdp_chunk_perturbed, scaled_features(records$features, q$scale),
          limited_responses(records$responses, q$most), q$b, q$loss, q$hessian)
  },
  regression_pull = function(q, x) {
    d <- chunk_private(q, x)
    d <- kng_predictors(d$x, q$reach, d$y)
    pulls <- do.call(cbind, lapply(q$at, function(at) {
      do.call(cbind, kng_gradients(q$M, at$p, tangent_vectors(q$M, at$p, matrix(at$b)), at$speed, d, q$rule, q$reach))
    }))
    exact_rows(if (is.null(d$share)) pulls else pulls * d$share)
  }
)
