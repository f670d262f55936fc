# Smooth curves along a public geodesic: logarithms of the records there, carried back to its foot, as a spline of one
# predictor with public knots; the plain fit, and what the private one has in common with it. Proof of the latter:
# inst/proofs/regression.md, section 6.

# ---- the term and its features ---------------------------------------------------------------------------------------

# A formula y ~ bs(t, df = ) or y ~ poly(t, degree): list(term, formula: y ~ t). A polynomial is the spline without
# knots inside. `columns`: names that are records'.
spline_term <- function(formula, columns, env) {
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument", "`formula` must have points on its left side and bs() or poly() on its right.")
  }
  right <- formula[[3]]
  while (called(right) == "(") right <- right[[2]]
  if (!basis_kind(right) %in% c("bs", "poly")) {
    abort_riemdp("unsupported", paste("the right side of a smooth curve's formula is one term, bs() or poly() of one",
                                      "variable: y ~ bs(t, df = 8)."))
  }
  term <- basis_term(right, c(columns, all.vars(formula[[2]])), env)
  if (term$kind == "poly") term <- utils::modifyList(term, list(kind = "bs", inner = 0))
  formula[[3]] <- if (is.name(term$x)) term$x else call("I", term$x)
  list(term = term, formula = formula)
}

# B-splines at values of the variable, all of them: basis x n. None is negative, and those of a value add up to at most
# 1 as real numbers, in spite of rounding; 0 where the value is missing. A function of each value by itself.
spline_features <- function(basis, range, v) {
  rest <- t(basis_values(basis, range, v))
  first <- 1
  for (k in seq_len(nrow(rest))) first <- first - rest[k, ]
  s <- rbind(pmax(0, first), rest, deparse.level = 0)
  total <- 0
  for (k in seq_len(nrow(s))) total <- total + s[k, ]
  s <- s * rep(SIMPLEX_EDGE / pmax(1, total), each = nrow(s))
  s[, !is.finite(total)] <- 0
  s
}

# where two B-splines overlap, and the first of them: row and column of each entry of their products
spline_pairs <- function(basis) {
  count <- spline_count(basis)
  at <- which(lower.tri(diag(count), TRUE), arr.ind = TRUE)
  unname(at[at[, 1] - at[, 2] <= basis$degree, , drop = FALSE])
}

# The penalty's matrix: squared changes of the control polygon's slope over the lengths on which they come to pass. The
# predictor's range has length 1, and straight lines are free.
spline_penalty <- function(basis) {
  m <- basis$degree
  count <- spline_count(basis)
  if (count < 3) return(matrix(0, count, count))
  all <- c(rep(0, m + 1), basis$knots, rep(1, m + 1))
  gaps <- diff(vapply(seq_len(count), function(j) mean(all[j + seq_len(m)]), 0))
  bend <- matrix(0, count - 2, count)
  for (j in seq_len(count - 2)) {
    bend[j, j + 0:2] <- c(1 / gaps[j], -1 / gaps[j] - 1 / gaps[j + 1], 1 / gaps[j + 1]) / sqrt(mean(gaps[j + 0:1]))
  }
  crossprod(bend)
}

# Of a predictor that is even on its range: the features, their mean products, and those of three, of which two are one
# of the `pairs`. Of local means features themselves are in the place of products of two.
spline_nominal <- function(basis, range, pairs, n = 1000, local = FALSE) {
  s <- spline_features(basis, range, range[1] + (seq_len(n) - 0.5) / n * diff(range))
  two <- if (local) s else s[pairs[, 1], , drop = FALSE] * s[pairs[, 2], , drop = FALSE]
  list(s = s, gram = if (local) diag(rowMeans(s), nrow(s)) else tcrossprod(s) / n, triple = tcrossprod(two, s) / n)
}

# ---- the reference ---------------------------------------------------------------------------------------------------

# The public geodesic that curves are drawn along: list(center, velocity: coordinates, NULL for the centre alone, reach:
# half of the predictor's range)
spline_reference <- function(M, center, velocity, reach) {
  center <- public_point(M, center)
  if (is.null(velocity)) return(list(center = center, reach = reach))
  velocity <- public_value(velocity, "velocity")
  a <- tryCatch(as.double(mf_coords(M, center, velocity)), riemdp_error = function(e) NULL)
  if (length(a) != mf_facts(M)$dimension || !all(is.finite(a))) {
    abort_riemdp("argument", "`velocity` must be one tangent vector at `center`.")
  }
  limit <- mf_facts(M)$injectivity_radius
  if (limit > 0 && !(sqrt(sum(a^2)) * reach <= limit / 2)) {
    abort_riemdp("argument", sprintf(
      paste("`velocity` times half of the range must be no longer than %.4g, half of the injectivity radius: what is",
            "carried along the geodesic must come back the same way."), limit / 2
    ))
  }
  list(center = center, velocity = a, reach = reach)
}

# Logarithms of responses at the reference, carried back to its foot, d x n, with 0 where there is none; and which ones
# there are. x: from the middle of the range, 1 x n. Each column is of its record alone.
spline_responses <- function(M, reference, x, y) {
  d <- mf_facts(M)$dimension
  v <- tangent_vectors(M, reference$center, matrix(reference$velocity %||% rep(0, d)))
  found <- .Call(riemdp_gauss_newton_records_nonprivate, M, reference$center, v, x, y, diag(d), rep(0, d),
                 reference$reach, 1)
  list(c = matrix(found[[2]], d), there = found[[1]][1, 1, ] != 0)
}

# points of the curve with coefficients theta (basis x d) at predictors x, from the middle; s: their features
spline_points <- function(M, reference, theta, s, x) {
  w <- mf_from_coords(M, reference$center, crossprod(s, theta))
  if (is.null(reference$velocity)) return(mf_exp(M, reference$center, w))
  at <- mf_exp(M, reference$center, mf_from_coords(M, reference$center, outer(as.vector(x), reference$velocity)))
  mf_exp(M, at, mf_transport(M, reference$center, at, w))
}

# ---- sums to coefficients --------------------------------------------------------------------------------------------

# Cholesky factor of a matrix that is positive up to rounding
firm_factor <- function(A) {
  ridge <- 0
  size <- max(diag(A), .Machine$double.xmin)
  if (!all(is.finite(A))) abort_riemdp("not_finite", "sums of a smooth curve are beyond what doubles hold.")
  repeat {
    R <- tryCatch(chol(A + diag(ridge * size, nrow(A))), error = function(e) NULL)
    if (!is.null(R)) return(R)
    ridge <- max(1e-15, 10 * ridge)
  }
}

log_det <- function(R) 2 * sum(log(diag(R)))

# by the factor of a matrix
factor_solve <- function(R, b) backsolve(R, forwardsolve(t(R), b))

# The plain fit: least squares of sums with `penalty` times the squared bends, or by generalised cross-validation. A
# ridge of 1e-9 of a record holds what no record tells.
spline_solve <- function(gram, moment, squares, n, P, penalty) {
  ridge <- diag(1e-9 * max(1, n), nrow(gram))
  fit <- function(penalty) {
    R <- firm_factor(gram + penalty * P + ridge)
    theta <- factor_solve(R, moment)
    left <- max(0, squares - 2 * sum(theta * moment) + sum(theta * (gram %*% theta)))
    df <- sum(diag(factor_solve(R, gram)))
    list(theta = theta, penalty = penalty, df = df, left = left, score = left / max(n - df, 1e-9)^2)
  }
  if (!identical(penalty, "auto")) return(fit(penalty))
  tried <- lapply(n * 10^seq(-9, 4, by = 0.25), fit)
  tried[[which.min(vapply(tried, `[[`, 0, "score"))]]
}

check_penalty <- function(penalty) {
  if (identical(penalty, "auto")) return(penalty)
  if (!is.numeric(penalty)) abort_riemdp("argument", "`penalty` must be \"auto\" or a number that isn't negative.")
  check_number(penalty, "penalty", least = 0, most = 1e12)
}

# ---- the plain fit ---------------------------------------------------------------------------------------------------

#' Smooth curves on a manifold
#'
#' Penalised least squares with B-splines of one predictor: each response's logarithm at a reference, carried back to
#' its foot, is fitted by a spline \eqn{c(t) = \sum_j \theta_j B_j(t)} there, and the curve is exp of it at the
#' reference. The reference is a point, or a geodesic through it. A plain estimate, **not private**; the private one is
#' [dp_spline()].
#'
#' The criterion is \eqn{\sum_i |c_i - c(t_i)|^2 + \lambda \sum_j b_j^2}: \eqn{b_j} are the changes of the control
#' polygon's slope, over the root of the length on which they come to pass, with the predictor's range as 1. So
#' straight lines in the reference's tangent spaces are free, and with a large \eqn{\lambda} the curve becomes one:
#' for a constant reference near a geodesic. `penalty = "auto"` takes the \eqn{\lambda} with the least generalised
#' cross-validation.
#'
#' What is minimised are squared distances in the tangent space, not on the manifold: the two differ by the curvature
#' times the squared distance of the curve from its reference. A reference along the data keeps that small.
#'
#' @param formula points on the left as in [geodesic_regression()]; on the right one term, `bs()` or `poly()` of one
#'   variable, as in [dp_lm()]: `y ~ bs(t, df = 8)`, `y ~ bs(t, knots = c(1, 4))`, `y ~ poly(t, 3)`. Knots for `df` are
#'   even over the range.
#' @param M a manifold.
#' @param data a data frame or list.
#' @param center the reference at the middle of the range: a point. By default the Frechet mean of the responses.
#' @param velocity `NULL` for a constant reference, or its velocity there: one tangent vector for one unit of the
#'   predictor. Times half the range it is no longer than half of the injectivity radius.
#' @param bounds the predictor's range, two numbers; what lies outside is moved to its end. By default that of the
#'   records.
#' @param penalty `"auto"`, or \eqn{\lambda}, a number from 0 to 1e12.
#' @param target `"tangent"`, or `"frechet"`: local Frechet regression (Petersen and Mueller 2019) at the knots of
#'   `bs(t, df, degree = 1)`: Frechet means of the responses, weighted by how near the knot their predictors are, in
#'   the place of averages of logarithms; the same penalty, and between knots lines in the tangent space. With
#'   `penalty = 0` coefficients are the logarithms of these means.
#' @param x,object a fit.
#' @param newdata a data frame with the predictor; by default that of the records.
#' @param ... not used, or further arguments of the plot.
#' @return An object of class `riemdp_spline_regression`: `coefficients` (a row for each B-spline, in the coordinates
#'   of [mf_coords()] at the centre), `fitted.values` (points), `residuals` (distances from the curve), `penalty`,
#'   `df` (effective number of coefficients for each coordinate), `sigma` (residual standard deviation of a
#'   coordinate of the tangent space), `center`, `velocity`, `manifold`, `columns` (name, middle and half width of
#'   the predictor). There are `print()`, `coef()`, `fitted()`, `residuals()`, `predict()`, `nobs()`, `formula()` and
#'   `plot()` methods. Errors: `riemdp_error_argument` and `riemdp_error_unsupported` for arguments and formulas of
#'   other kinds, `riemdp_error_not_finite` where a predictor is missing, those of [mf_check()] for responses.
#' @references
#' Eilers, P. H. C. and Marx, B. D. (1996). Flexible smoothing with B-splines and penalties. *Statistical Science* 11,
#' 89-121. \doi{10.1214/ss/1038425655}
#'
#' Petersen, A. and Mueller, H.-G. (2019). Frechet regression for random objects with Euclidean predictors. *Annals of
#' Statistics* 47, 691-719. \doi{10.1214/17-AOS1624}
#'
#' Craven, P. and Wahba, G. (1979). Smoothing noisy data with spline functions. *Numerische Mathematik* 31, 377-403.
#' \doi{10.1007/BF01404567}
#' @seealso [dp_spline()], [geodesic_regression()]
#' @examples
#' # covariances of daily stock returns, month by month, beside a geodesic
#' returns <- 100 * diff(log(EuStockMarkets[, 1:3]))
#' month <- pmin(88, ceiling(seq_len(nrow(returns)) / 21))
#' y <- vapply(split(as.data.frame(returns), month), cov, matrix(0, 3, 3))
#' d <- list(y = unname(y), year = 1991.5 + (1:88) * 21 / 260)
#' fit <- spline_regression(y ~ bs(year, df = 12), spd(3), d)
#' fit
#' c(geodesic = sqrt(mean(residuals(geodesic_regression(y ~ year, spd(3), d, origin = 1995))^2)),
#'   spline = sqrt(mean(residuals(fit)^2)))
#' plot(fit)
#' @export
spline_regression <- function(formula, M, data = NULL, center = NULL, ..., velocity = NULL, bounds = NULL,
                              penalty = "auto", target = c("tangent", "frechet")) {
  check_dots_empty(...)
  check_manifold(M)
  penalty <- check_penalty(penalty)
  target <- check_choice(target, "target", c("tangent", "frechet"))
  if (!(is.null(data) || (is.list(data) && !is_chunks(data)))) {
    abort_riemdp("argument", "`data` must be a data frame or a list.")
  }
  env <- (if (inherits(formula, "formula")) environment(formula)) %||% parent.frame()
  asked <- spline_term(formula, names(data), env)
  if (is.null(bounds)) bounds <- seen_range(asked$term$x, data, env)
  records <- regression_records(asked$formula, M, data, bounds, env)
  y <- checked_responses(records$y, M)
  if (!all(is.finite(records$x))) abort_riemdp("not_finite", "the predictor must be finite in every record.")
  column <- strip_columns(records$spec$columns)
  range <- column$middle + c(-1, 1) * column$half
  reference <- spline_reference(M, center %||% frechet_mean(y, M)$mean, velocity, column$half)
  fit <- list(manifold = M, reference = reference, basis = basis_on(asked$term, range), range = range, columns = column,
              terms = records$spec$formula, formula = formula, bounds = records$spec$bounds,
              constants = records$constants, center = reference$center, velocity = velocity, target = target)
  if (target == "frechet") check_local(fit)
  structure(plain_spline(fit, records$x, y, penalty), class = "riemdp_spline_regression")
}

# the predictor's range in the records
seen_range <- function(variable, data, env) {
  v <- tryCatch(as.double(eval(variable, data, env)), error = function(e) NULL)
  v <- v[is.finite(v)]
  if (!length(v) || !(min(v) < max(v))) {
    abort_riemdp("argument", "the predictor must be numbers, two of them different, or `bounds` be given.")
  }
  range(v)
}

plain_spline <- function(fit, x, y, penalty) {
  M <- fit$manifold
  s <- spline_features(fit$basis, fit$range, as.vector(x) + fit$columns$middle)
  found <- spline_responses(M, fit$reference, x, y)
  if (!all(found$there)) {
    abort_riemdp("cut_locus", "a response has no logarithm at the reference: another `center` would do.")
  }
  if (!is.finite(sum(found$c^2))) {
    abort_riemdp("not_finite", "responses are so far from the reference that doubles don't hold squared distances.")
  }
  n <- ncol(s)
  sums <- if (fit$target == "frechet") local_sums(fit, s, y) else
    list(gram = tcrossprod(s), moment = tcrossprod(s, found$c))
  solved <- spline_solve(sums$gram, sums$moment, sum(found$c^2), n, spline_penalty(fit$basis), penalty)
  points <- spline_points(M, fit$reference, solved$theta, s, x)
  c(fit, list(coefficients = solved$theta, penalty = solved$penalty, df = solved$df,
              sigma = sqrt(solved$left / (nrow(found$c) * max(n - solved$df, 1e-9))),
              fitted.values = points, residuals = mf_dist(M, points, y), response = y, x = x))
}

#' @export
print.riemdp_spline_regression <- function(x, digits = 4, ...) {
  cat(sprintf("Smooth curve on %s (not private)\n", label_manifold(x$manifold)))
  cat("  ", paste(deparse(x$formula, 500L), collapse = " "), "\n", sep = "")
  cat(sprintf("  %d records, %d B-splines, penalty %.*g, %.*g effective coefficients a coordinate\n",
              length(x$residuals), nrow(x$coefficients), digits, x$penalty, digits, x$df))
  cat(sprintf("  residual standard deviation %.*g a coordinate\n", digits, x$sigma))
  invisible(x)
}

#' @rdname spline_regression
#' @export
predict.riemdp_spline_regression <- function(object, newdata = NULL, ...) {
  if (is.null(newdata)) return(object$fitted.values)
  spline_at(object, regression_predictors(object, newdata), object$coefficients)
}

# points of a fit or a release at predictors from the middle, 1 x n: moved into the range, as in the fit
spline_at <- function(object, x, theta) {
  x[] <- pmin(object$columns$half, pmax(-object$columns$half, x))
  s <- spline_features(object$basis, object$range, as.vector(x) + object$columns$middle)
  spline_points(object$manifold, object$reference, theta, s, x)
}

#' @export
coef.riemdp_spline_regression <- function(object, ...) object$coefficients

#' @export
fitted.riemdp_spline_regression <- function(object, ...) object$fitted.values

#' @export
residuals.riemdp_spline_regression <- function(object, ...) object$residuals

#' @export
nobs.riemdp_spline_regression <- function(object, ...) length(object$residuals)

#' @export
formula.riemdp_spline_regression <- function(x, ...) x$formula
