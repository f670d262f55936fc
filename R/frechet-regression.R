# Global and local Frechet regression without privacy: at each predictor a Frechet mean whose weights may be negative.

#' Frechet regression
#'
#' Global and local Frechet regression (Petersen and Mueller 2019): at predictors x the point that minimises
#' \eqn{\sum_i s_i(x)\, d(p, y_i)^2} over the manifold, with the weights of linear, or of local linear, regression.
#' In flat space these are its predictions. A plain estimate, **not private**: weights of one record depend on all
#' predictors. With privacy there is [dp_spline()] with `target = "frechet"`, local, and on flat spaces
#' [dp_regression()], whose line the global fit is there.
#'
#' Without `bandwidth` \eqn{s_i(x) = 1 + (x_i - \bar x)' \Sigma^{-1} (x - \bar x)}, with mean and covariance of the
#' predictors: the global fit, for one or several predictors, numeric or factors. With `bandwidth` h, for one predictor,
#' \eqn{s_i(x) = K((x_i - x)/h)\,(\mu_2 - \mu_1 (x_i - x))}, \eqn{\mu_j} the means of \eqn{K((x_i - x)/h)(x_i - x)^j}.
#' Weights of records far from x, or beyond it, may be negative; then the minimum need not be unique on a curved space,
#' and what is found is the one that is reached by gradient steps from the plain Frechet mean.
#'
#' @param formula points on the left, predictors on the right, as in [geodesic_regression()].
#' @param M a manifold.
#' @param data a data frame, list or environment with the variables.
#' @param bandwidth `NULL`, or a positive number in the predictor's unit: half-width of the kernel `"epanechnikov"`,
#'   standard deviation of `"gaussian"`.
#' @param kernel `"gaussian"` or `"epanechnikov"`.
#' @param ... nothing; later arguments must be named. For methods further arguments, not used.
#' @param weights,subset,na.action as in [stats::lm()].
#' @param tol length of the mean step at which to stop, as a share of the root mean squared distance.
#' @param max_iter most steps; a warning of class `riemdp_warning_convergence` where they don't do.
#' @param object a fit.
#' @param newdata a data frame with the predictors; by default the records' own.
#' @return An object of class `riemdp_frechet_regression` with `manifold`, `x` (predictors), `response`, `weights`,
#'   `bandwidth`, `kernel`, `center` (the Frechet mean of all), `call`, `terms`. `predict()` gives points, missing ones
#'   where predictors are, or where no record has weight; `fitted()`, `residuals()` (distances), `nobs()`, `formula()`
#'   and `print()` go on from there. They look at all records for each predictor. Errors: those of
#'   [geodesic_regression()], and `riemdp_error_argument` for a bandwidth with several predictors.
#' @references
#' Petersen, A. and Mueller, H.-G. (2019). Frechet regression for random objects with Euclidean predictors. *Annals of
#' Statistics* 47, 691-719. \doi{10.1214/17-AOS1624}
#' @seealso [geodesic_regression()], [spline_regression()], [frechet_mean()]
#' @examples
#' # covariances of daily stock returns by the year
#' returns <- 100 * diff(log(EuStockMarkets[, 1:3]))
#' month <- pmin(88, ceiling(seq_len(nrow(returns)) / 21))
#' y <- vapply(split(as.data.frame(returns), month), cov, matrix(0, 3, 3))
#' d <- list(y = unname(y), year = 1991.5 + (1:88) * 21 / 260)
#' local <- frechet_regression(y ~ year, spd(3), d, bandwidth = 0.5)
#' predict(local, data.frame(year = c(1993, 1998)))
#' c(global = sqrt(mean(residuals(frechet_regression(y ~ year, spd(3), d))^2)),
#'   local = sqrt(mean(residuals(local)^2)))
#' @export
frechet_regression <- function(formula, M, data, bandwidth = NULL, ..., kernel = c("gaussian", "epanechnikov"), weights,
                               subset, na.action, tol = 1e-10, max_iter = 1000) {
  call <- match.call()
  check_manifold(M)
  check_dots_empty(...)
  kernel <- check_choice(kernel, "kernel", c("gaussian", "epanechnikov"))
  if (!is.null(bandwidth)) bandwidth <- check_number(bandwidth, "bandwidth", positive = TRUE)
  tol <- check_number(tol, "tol", positive = TRUE)
  max_iter <- check_count(max_iter, "max_iter", most = 1e9)
  frame <- regression_frame(formula, M, if (!missing(data)) data, call, parent.frame())
  design <- regression_design(frame)
  w <- design$weights %||% rep(1, nrow(design$x))
  if (!is.null(bandwidth) && ncol(design$x) != 1) {
    abort_riemdp("argument", "`bandwidth` is for one predictor; without it the fit is global.")
  }
  check_design(design$x[w > 0, , drop = FALSE])
  structure(list(
    manifold = M, x = design$x, response = design$y, weights = design$weights, bandwidth = bandwidth, kernel = kernel,
    center = frechet_mean(design$y, M, weights = w)$mean, tol = tol, max_iter = max_iter, call = call,
    terms = frame$terms, xlevels = stats::.getXlevels(frame$terms, frame$model),
    contrasts = attr(design$full, "contrasts"), points = frame$points
  ), class = "riemdp_frechet_regression")
}

# Weights of all records at one predictor, relative to their sum's size; all 0 where no record has weight
frechet_weights <- function(fit, at) {
  w <- fit$weights %||% rep(1, nrow(fit$x))
  if (is.null(fit$bandwidth)) {
    w <- w / sum(w)
    mean <- colSums(w * fit$x)
    apart <- fit$x - rep(mean, each = nrow(fit$x))
    # by an orthogonal basis of the predictors: their units don't matter
    basis <- qr(sqrt(w) * apart)
    along <- backsolve(qr.R(basis), (at - mean)[basis$pivot], transpose = TRUE)
    return(w + sqrt(w) * drop(qr.Q(basis) %*% along))
  }
  u <- (fit$x[, 1] - at) / fit$bandwidth
  k <- w * if (fit$kernel == "gaussian") exp(-u^2 / 2) else pmax(0, 1 - u^2)
  if (!(sum(k) > 0)) return(numeric(length(u)))
  k <- k / sum(k)
  m1 <- sum(k * u)
  m2 <- sum(k * u^2)
  # one value of the predictor has no slope: a mean of what is there
  if (!(m2 - m1^2 > 1e-12 * m2)) return(k)
  k * (m2 - m1 * u) / (m2 - m1^2)
}

# The point with the least sum of s_i times squared distances that steps from `start` reach: each goes along the mean
# logarithm, or half as far while the sum would grow
signed_mean <- function(M, y, s, start, tol, max_iter) {
  seen <- function(p) {
    a <- matrix(mf_coords(M, p, mf_log(M, p, y)), ncol = mf_facts(M)$dimension)
    squares <- rowSums(a^2)
    list(p = p, step = colSums(s * a), value = sum(s * squares), size = sqrt(mean(squares)))
  }
  now <- seen(start)
  for (k in seq_len(max_iter)) {
    length <- sqrt(sum(now$step^2))
    if (length <= tol * now$size) return(now$p)
    share <- 1
    repeat {
      then <- seen(mf_exp(M, now$p, mf_from_coords(M, now$p, share * now$step)))
      # what is gained is beyond rounding
      if (then$value <= now$value - 1e-4 * share * length^2 || share * length <= 1e-8 * now$size) break
      share <- share / 2
    }
    now <- then
  }
  warning(structure(class = c("riemdp_warning_convergence", "warning", "condition"), list(
    message = "a Frechet mean was not found to `tol` in `max_iter` steps.", call = NULL
  )))
  now$p
}

#' @rdname frechet_regression
#' @export
predict.riemdp_frechet_regression <- function(object, newdata = NULL, ...) {
  M <- object$manifold
  x <- if (is.null(newdata)) object$x else frame_predictors(object, newdata)
  name <- do.call(paste, unname(as.data.frame(matrix(sprintf("%a", x), nrow(x)))))
  keys <- match(name, unique(name))
  rows <- matrix(NA_real_, max(0, keys), mf_facts(M)$ambient)
  for (k in unique(keys)) {
    at <- x[match(k, keys), ]
    s <- if (all(is.finite(at))) frechet_weights(object, at) else 0
    if (!any(s != 0)) next
    point <- signed_mean(M, object$response, s, object$center, object$tol, object$max_iter)
    rows[k, ] <- as.matrix(mf_points(point, M))
  }
  as_given(object, new_points(rows[keys, , drop = FALSE], M))
}

#' @export
fitted.riemdp_frechet_regression <- function(object, ...) predict.riemdp_frechet_regression(object)

#' @export
residuals.riemdp_frechet_regression <- function(object, ...) {
  points <- mf_points(predict.riemdp_frechet_regression(object), object$manifold)
  stats::setNames(mf_dist(object$manifold, points, object$response), rownames(object$x))
}

#' @export
nobs.riemdp_frechet_regression <- function(object, ...) nrow(object$x)

#' @export
formula.riemdp_frechet_regression <- function(x, ...) formula.riemdp_geodesic_regression(x)

#' @export
print.riemdp_frechet_regression <- function(x, digits = 4, ...) {
  kind <- if (is.null(x$bandwidth)) "Global Frechet regression" else
    sprintf("Local Frechet regression (%s kernel, bandwidth %.*g)", x$kernel, digits, x$bandwidth)
  cat(sprintf("%s on %s (not private)\n", kind, label_manifold(x$manifold)))
  cat(sprintf("  %d records; predictor%s %s\n", nrow(x$x), if (ncol(x$x) == 1) "" else "s",
              paste(colnames(x$x), collapse = ", ")))
  invisible(x)
}
