# What a model object has to answer to.

#' Methods for geodesic regressions
#'
#' @param object,x,model a fit of [geodesic_regression()].
#' @param type of residuals: `"distance"` from the prediction; `"tangent"`, the logarithm of the response at its
#'   prediction, in the shape of the response; `"coords"`, the same carried to the foot point at the predictors' mean
#'   and written in orthonormal coordinates, one row a record.
#' @param newdata a data frame with new predictors; default: those of the fit.
#' @param data for `augment()`: the data of the fit; default: its model frame.
#' @param ... not used.
#' @return
#' * `fitted()`, `predict()`: points, as [mf_points()] where the response was so, else in the plain shape of the
#'   manifold.
#' * `residuals()`: see `type`. Records left out by `na.exclude` are missing in both.
#' * `deviance()`: for the squared loss the (weighted) sum of squared distances, else the sum of losses.
#' * `logLik()`: for the squared loss, of normal errors with equal variance in each of the `dim(M)` coordinates of the
#'   tangent space at the prediction. It leaves out the curvature within the noise, so it is for comparing models of one
#'   data set.
#' * `hatvalues()`: mean leverage a record, of the linearisation that `vcov()` is made of. Covariances, intervals,
#'   tests, simulation and Cook's distances: see [regression-inference].
#' * `summary()`: with a row for each predictor: its speed |v|, standard error by `vcov()` and a Wald test of v = 0: F
#'   on `dim(M)` and `df.residual` degrees of freedom, exact in flat space.
#' * `tidy()`: one row for each stored number of p and v. `glance()`: one row. `augment()`: data with `.fitted`
#'   (points), `.resid` (distances), `.hat` and `.std.resid`.
#' @examples
#' x <- (1:20) / 20
#' set.seed(1)
#' v <- outer(x, c(0, 1, 0.5)) + cbind(0, matrix(rnorm(40, sd = 0.1), 20))
#' y <- mf_exp(hyperbolic(2), c(1, 0, 0), v)
#' fit <- geodesic_regression(y ~ x, hyperbolic(2))
#' summary(fit)
#' glance(fit)
#' head(augment(fit)$.std.resid)
#' plot(fit, "residuals")
#' @name regression-methods
NULL

#' @export
print.riemdp_geodesic_regression <- function(x, digits = 4, ...) {
  cat(sprintf("Geodesic regression on %s (not private)\n", label_manifold(x$manifold)))
  cat("  call: ", paste(trimws(deparse(x$call, width.cutoff = 500L)), collapse = " "), "\n", sep = "")
  cat(sprintf("  %s: %d steps, gradient norm %.2g%s\n", if (x$converged) "converged" else "NOT converged", x$iterations,
              x$gradient_norm, if (x$gradient_floor > 0) sprintf(" (rounding floor %.2g)", x$gradient_floor) else ""))
  cat(sprintf("  %d records, loss %s, R squared %.*g, residual standard deviation %.*g a coordinate\n",
              nobs.riemdp_geodesic_regression(x),
              x$loss, digits, x$r.squared, digits, x$sigma))
  where <- if (any(x$origin != 0)) sprintf(" (at %s)", paste(format(x$origin, digits = digits), collapse = ", "))
  cat("foot point", where, "\n", sep = "")
  print(x$coefficients$p, digits = digits)
  cat(if (length(x$inner$scale) > 1) "shooting vectors" else "shooting vector", "\n")
  print(x$coefficients$v, digits = digits)
  invisible(x)
}

#' @export
nobs.riemdp_geodesic_regression <- function(object, ...) {
  if (is.null(object$weights)) length(object$residuals) else sum(object$weights > 0)
}

#' @export
formula.riemdp_geodesic_regression <- function(x, ...) {
  f <- eval(x$call$formula, environment(x$terms))
  if (inherits(f, "formula")) f else stats::formula(x$terms)
}

#' @export
coef.riemdp_geodesic_regression <- function(object, ...) object$coefficients

#' @export
weights.riemdp_geodesic_regression <- function(object, ...) stats::naresid(object$na.action, object$weights)

#' @export
df.residual.riemdp_geodesic_regression <- function(object, ...) object$df.residual

# points that na.exclude left out are missing
pad_points <- function(object, points) {
  omitted <- object$na.action
  if (!inherits(omitted, "exclude")) {
    return(points)
  }
  keep <- rep(NA_integer_, length(points) + length(omitted))
  keep[-omitted] <- seq_along(points)
  points[keep]
}

# predictors of new records, a row each
frame_predictors <- function(object, newdata) {
  if (!(is.list(newdata) || is.environment(newdata))) {
    abort_riemdp("argument", "`newdata` must be a data frame or list.")
  }
  x <- classed({
    terms <- stats::delete.response(object$terms)
    model <- stats::model.frame(terms, newdata, na.action = stats::na.pass, xlev = object$xlevels)
    full <- stats::model.matrix(terms, model, contrasts.arg = object$contrasts)
    full[, colnames(full) != "(Intercept)", drop = FALSE]
  }, "`newdata`")
  storage.mode(x) <- "double"
  x
}

as_given <- function(object, points) {
  if (object$points) {
    return(points)
  }
  plain <- as.array(points)
  if (identical(dim(plain), c(length(points), 1L))) as.vector(plain) else plain # records on the line
}

#' @rdname regression-methods
#' @export
fitted.riemdp_geodesic_regression <- function(object, ...) as_given(object, pad_points(object, object$fitted.values))

response_of <- function(object) object$model[[".response"]]

#' @rdname regression-methods
#' @export
residuals.riemdp_geodesic_regression <- function(object, type = c("distance", "tangent", "coords"), ...) {
  type <- check_choice(type, "type", c("distance", "tangent", "coords"))
  if (type == "distance") {
    return(stats::naresid(object$na.action, object$residuals))
  }
  M <- object$manifold
  e <- mf_log(M, object$fitted.values, response_of(object))
  if (type == "tangent") {
    return(as_given(object, pad_points(object, e)))
  }
  foot <- object$inner$foot
  a <- matrix(mf_coords(M, foot, mf_transport(M, object$fitted.values, foot, e)), ncol = mf_facts(M)$dimension)
  rownames(a) <- names(object$residuals)
  stats::naresid(object$na.action, a)
}

#' @rdname regression-methods
#' @export
predict.riemdp_geodesic_regression <- function(object, newdata = NULL, ...) {
  if (any(c("interval", "se.fit", "level") %in% ...names())) {
    abort_riemdp("unsupported",
                 paste("predictions on a manifold come without intervals: confint() has those of foot point and",
                       "vectors, dp_conformal() a ball for a new record."))
  }
  if (is.null(newdata)) {
    return(fitted.riemdp_geodesic_regression(object))
  }
  x <- frame_predictors(object, newdata)
  there <- rowSums(!is.finite(x)) == 0
  points <- curve_points(object, x[there, , drop = FALSE])
  keep <- rep(NA_integer_, nrow(x))
  keep[there] <- seq_len(sum(there))
  as_given(object, points[keep])
}

#' @export
model.frame.riemdp_geodesic_regression <- function(formula, ...) formula$model

#' @export
model.matrix.riemdp_geodesic_regression <- function(object, ...) {
  stats::model.matrix(stats::delete.response(object$terms), object$model, contrasts.arg = object$contrasts)
}

predictors_of <- function(object) {
  full <- model.matrix.riemdp_geodesic_regression(object)
  full[, colnames(full) != "(Intercept)", drop = FALSE]
}

#' @rdname regression-methods
#' @export
deviance.riemdp_geodesic_regression <- function(object, ...) {
  if (object$loss == "squared") {
    return(sum((object$weights %||% 1) * object$residuals^2))
  }
  object$value * if (is.null(object$weights)) length(object$residuals) else sum(object$weights)
}

#' @rdname regression-methods
#' @export
logLik.riemdp_geodesic_regression <- function(object, ...) {
  w <- object$weights
  normal_likelihood(object, if (is.null(w)) 0 else sum(log(w[w > 0])))
}

# log_weights: sum of the logarithms of positive weights
normal_likelihood <- function(object, log_weights) {
  need_squared(object, "the log-likelihood")
  d <- mf_facts(object$manifold)$dimension
  n <- stats::nobs(object)
  variance <- stats::deviance(object) / (n * d)
  structure(-n * d / 2 * (log(2 * pi * variance) + 1) + d / 2 * log_weights, nobs = n,
            df = d * (1 + length(object$inner$scale)) + 1, class = "logLik")
}

need_squared <- function(object, what) {
  if (object$loss != "squared") abort_riemdp("unsupported", sprintf("%s is for the squared loss.", what))
}

# Rows of the transposed linearisation, d x d (1 + q) for each record: how its prediction moves with p and v (at the
# foot of the solver's form), and the Cholesky factor of their weighted cross-products
linearise <- function(object) {
  M <- object$manifold
  d <- mf_facts(M)$dimension
  x <- predictors_of(object)
  n <- nrow(x)
  z <- (x - rep(object$inner$shift, each = n)) / rep(object$inner$scale, each = n)
  foot <- object$inner$foot
  w <- new_points(z %*% as.matrix(object$inner$vectors), M, tangent = TRUE)
  J <- linear_directions(M, foot, w, z)
  weights <- object$weights %||% rep(1, n)
  flat <- matrix(J * rep(sqrt(weights), each = d), d * n)
  list(J = flat, d = d, n = n, root = tryCatch(chol(crossprod(flat)), error = function(e) NULL))
}

# direction of the residual, record, parameter
linear_directions <- function(M, foot, w, z) {
  d <- mf_facts(M)$dimension
  n <- nrow(z)
  J <- array(0, c(d, n, d * (1 + ncol(z))))
  for (j in seq_len(d)) {
    axis <- matrix(as.double(seq_len(d) == j), 1)
    e <- new_points(as.matrix(mf_from_coords(M, mf_points(behind_many(M, foot), M), axis)), M, tangent = TRUE)
    f <- mf_jacobi(M, foot, w, rep(1, n), e[rep(1, n)])
    a <- matrix(mf_coords(M, foot, f$p), n)
    b <- matrix(mf_coords(M, foot, f$v), n)
    J[j, , seq_len(d)] <- a
    for (k in seq_len(ncol(z))) J[j, , k * d + seq_len(d)] <- z[, k] * b
  }
  J
}

# `root`: the Cholesky factor of the cross-products; NULL where there is none
vcov_from <- function(object, root, predictors) {
  d <- mf_facts(object$manifold)$dimension
  q <- length(predictors)
  names <- paste0(rep(c("p", predictors), each = d), ".", seq_len(d))
  out <- if (is.null(root)) matrix(NA_real_, d * (1 + q), d * (1 + q)) else object$sigma^2 * chol2inv(root)
  back <- rep(c(1, 1 / object$inner$scale), each = d)
  out <- out * outer(back, back)
  dimnames(out) <- list(names, names)
  out
}

#' @importFrom stats anova
#' @export
anova.riemdp_geodesic_regression <- function(object, ...) {
  abort_riemdp("unsupported",
               paste("squared distances don't split into sums of squares on a curved space: compare fits of the same",
                     "data by logLik(), AIC() and BIC(), and see the Wald tests of summary()."))
}

#' @rdname regression-methods
#' @importFrom stats hatvalues
#' @export
hatvalues.riemdp_geodesic_regression <- function(model, ...) {
  l <- linearise(model)
  h <- if (is.null(l$root)) rep(NA_real_, l$n) else {
    rows <- colSums(backsolve(l$root, t(l$J), transpose = TRUE)^2)
    colMeans(matrix(rows, l$d))
  }
  stats::naresid(model$na.action, stats::setNames(h, names(model$residuals)))
}

# speeds with standard errors and Wald tests
# covariance: NULL where there is none; not looked at but for the squared loss
speed_table <- function(object, predictors, covariance) {
  M <- object$manifold
  foot <- object$inner$foot
  d <- mf_facts(M)$dimension
  v <- new_points(as.matrix(object$inner$vectors) / object$inner$scale, M, tangent = TRUE)
  a <- matrix(mf_coords(M, foot, v), ncol = d)
  speed <- sqrt(rowSums(a^2))
  out <- data.frame(speed = speed, std.error = NA_real_, statistic = NA_real_, df = d, df.residual = object$df.residual,
                    p.value = NA_real_, row.names = predictors)
  if (object$loss != "squared" || !isTRUE(object$sigma > 0) || is.null(covariance)) {
    return(out)
  }
  for (j in seq_along(speed)) {
    B <- covariance[j * d + seq_len(d), j * d + seq_len(d)]
    if (anyNA(B)) next
    u <- a[j, ] / max(speed[j], 1e-300)
    out$std.error[j] <- sqrt(max(sum(u * (B %*% u)), 0))
    out$statistic[j] <- sum(a[j, ] * solve(B, a[j, ])) / d # F: sigma is estimated
    out$p.value[j] <- stats::pf(out$statistic[j], d, object$df.residual, lower.tail = FALSE)
  }
  out
}

#' @rdname regression-methods
#' @export
summary.riemdp_geodesic_regression <- function(object, ...) {
  fit_summary(object, speed_table(object, colnames(predictors_of(object)), stats::vcov(object)),
              stats::quantile(object$residuals))
}

fit_summary <- function(object, speeds, quartiles) {
  out <- list(call = object$call, manifold = object$manifold, loss = object$loss, n = stats::nobs(object),
              speeds = speeds, r.squared = object$r.squared, sigma = object$sigma, df.residual = object$df.residual,
              cutoff = object$cutoff, residuals = quartiles, converged = object$converged,
              gradient_norm = object$gradient_norm, gradient_floor = object$gradient_floor,
              smoothing = object$smoothing, iterations = object$iterations,
              starts = object$starts, na.action = object$na.action)
  structure(out, class = "summary.riemdp_geodesic_regression")
}

#' @export
print.summary.riemdp_geodesic_regression <- function(x, digits = 4, ...) {
  cat(sprintf("Geodesic regression on %s (not private), loss %s\n", label_manifold(x$manifold), x$loss))
  cat("\ndistances from the predictions:\n")
  print(x$residuals, digits = digits)
  cat("\npredictors (speed |v| in units of the metric; Wald test of v = 0):\n")
  print(x$speeds, digits = digits)
  cat(sprintf(paste("\n%d records, R squared %.*g, residual standard deviation %.*g a coordinate on %g degrees of",
                    "freedom\n"), x$n,
              digits, x$r.squared, digits, x$sigma, x$df.residual))
  if (!is.null(x$cutoff)) cat(sprintf("the Huber loss turns linear at %.*g\n", digits, x$cutoff))
  if (length(x$na.action)) cat(sprintf("%d records with missing values left out\n", length(x$na.action)))
  cat(sprintf("%s from %d start%s: gradient norm %.2g%s\n", if (x$converged) "converged" else "NOT converged", x$starts,
              if (x$starts == 1) "" else "s", x$gradient_norm,
              if (x$smoothing > 0) sprintf(" (smoothed at %.2g: the curve meets records)", x$smoothing) else ""))
  invisible(x)
}

#' @rdname tidy.riemdp
#' @export
glance.riemdp_geodesic_regression <- function(x, ...) fit_glance(x)

fit_glance <- function(x) {
  squared <- x$loss == "squared"
  likelihood <- if (squared) stats::logLik(x)
  data.frame(
    manifold = label_manifold(x$manifold), loss = x$loss, nobs = stats::nobs(x), r.squared = x$r.squared,
    sigma = x$sigma, df.residual = x$df.residual, deviance = stats::deviance(x),
    logLik = if (squared) as.numeric(likelihood) else NA_real_,
    AIC = if (squared) stats::AIC(likelihood) else NA_real_, BIC = if (squared) stats::BIC(likelihood) else NA_real_,
    converged = x$converged, gradient_norm = x$gradient_norm, iterations = x$iterations
  )
}

#' @rdname regression-methods
#' @importFrom generics augment
#' @export
augment.riemdp_geodesic_regression <- function(x, data = NULL, ...) {
  out <- if (is.null(data)) {
    frame <- x$model
    names(frame)[names(frame) == ".response"] <- response_name(x)
    attr(frame, "terms") <- NULL
    frame
  } else {
    if (!is.data.frame(data)) abort_riemdp("argument", "`data` must be a data frame.")
    data
  }
  padded <- !is.null(data) || inherits(x$na.action, "exclude")
  size <- if (padded) stats::naresid(x$na.action, x$residuals) else x$residuals
  if (length(size) != nrow(out)) {
    if (length(x$residuals) != nrow(out)) abort_riemdp("shape", "`data` must have the records of the fit.")
    size <- x$residuals
  }
  h <- hatvalues.riemdp_geodesic_regression(x)
  if (length(h) != nrow(out)) h <- h[!is.na(h)]
  points <- if (length(size) == length(x$fitted.values)) x$fitted.values else pad_points(x, x$fitted.values)
  d <- mf_facts(x$manifold)$dimension
  out$.fitted <- points
  out$.resid <- unname(size)
  out$.hat <- unname(h)
  # of length near one where the model holds
  out$.std.resid <- out$.resid / (x$sigma * sqrt(d * pmax(1 - out$.hat, 0)))
  out
}

response_name <- function(x) {
  f <- formula.riemdp_geodesic_regression(x)
  paste(deparse(f[[2]], width.cutoff = 500L), collapse = " ")
}

#' @export
generics::augment
