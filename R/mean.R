#' Frechet mean, median and variance
#'
#' The Frechet mean minimises the weighted mean of squared distances to the records, the Frechet median the weighted mean of
#' distances. Plain estimates, **not private**: see [dp_mean()].
#'
#' Computed by quasi-Newton steps (limited-memory BFGS) with backtracking, or by `method = "gradient"` (steps along the mean
#' logarithm). The mean's gradient is \eqn{-\sum w_i \log_m x_i/\sum w_i}; iteration ends when its norm is at most `tol`, or at
#' the floor that rounding sets, which is then measured and reported. A median may lie on a record; there optimality is that
#' the pull of the other records does not exceed the record's own weight.
#'
#' @param x records, in any shape that functions on `M` accept (see [geometry]), or in [chunks()].
#' @param M a manifold.
#' @param weights numbers, not negative and not all zero, one a record; default: all equal.
#' @param tol gradient norm at which to stop, in the units of the metric.
#' @param method `"lbfgs"` or `"gradient"`.
#' @param start a point to start from; default: a projected arithmetic mean or the first record (for the median: the mean).
#' @param max_iter most steps.
#' @return A list of class `frechet_mean`:
#' * `mean` (for `frechet_median()` also called so): one point, in the shape of a single record;
#' * `gradient_norm`; `gradient_floor`, the measured rounding floor (0 where `tol` was reached); `iterations`; `converged`;
#' * `unique`: `TRUE` if the minimiser is provably the only one for these records (non-positive curvature; a ball of radius
#'   below half of \eqn{\min(\mathrm{inj}, \pi/\sqrt{\kappa})} around it holds all records, Afsari 2011; positive definite matrices
#'   with the Bures-Wasserstein metric, Agueh and Carlier 2011), else `NA`;
#' * `variance`: the minimum, a mean squared distance (mean distance for the median);
#' * `n`, `manifold`, `method`.
#'
#' `frechet_variance()` returns the mean squared distance to the mean, or to `center`.
#' @references
#' Afsari, B. (2011). Riemannian Lp center of mass: existence, uniqueness, and convexity. *Proceedings of the American
#' Mathematical Society* 139, 655-673. \doi{10.1090/S0002-9939-2010-10541-5}
#'
#' Agueh, M. and Carlier, G. (2011). Barycenters in the Wasserstein space. *SIAM Journal on Mathematical Analysis* 43, 904-924.
#' \doi{10.1137/100805741}
#'
#' Huang, W., Gallivan, K. A. and Absil, P.-A. (2015). A Broyden class of quasi-Newton methods for Riemannian optimization. *SIAM
#' Journal on Optimization* 25, 1660-1685. \doi{10.1137/140955483}
#'
#' Vardi, Y. and Zhang, C.-H. (2000). The multivariate L1-median and associated data depth. *Proceedings of the National Academy
#' of Sciences* 97, 1423-1426. \doi{10.1073/pnas.97.4.1423}
#' @examples
#' fit <- frechet_mean(wishart_spd[, , 1:100], spd(2))
#' fit
#' frechet_variance(wishart_spd[, , 1:100], spd(2))
#' frechet_median(rbind(c(1, 0, 0), c(0, 1, 0), c(0, 0, 1)), sphere(2))$mean
#' @export
frechet_mean <- function(x, M, weights = NULL, tol = 1e-10, method = c("lbfgs", "gradient"), start = NULL,
                         max_iter = 1000) {
  fit_center(x, M, weights, tol, method, start, max_iter, median = FALSE)
}

#' @rdname frechet_mean
#' @export
frechet_median <- function(x, M, weights = NULL, tol = 1e-10, method = c("lbfgs", "gradient"), start = NULL,
                           max_iter = 1000) {
  if (is.null(start)) {
    start <- fit_center(x, M, weights, 1e-3, method, NULL, max_iter, median = FALSE)$mean
  }
  fit_center(x, M, weights, tol, method, start, max_iter, median = TRUE)
}

#' @rdname frechet_mean
#' @param center a point; default: the Frechet mean.
#' @export
frechet_variance <- function(x, M, weights = NULL, center = NULL) {
  if (is.null(center)) {
    return(frechet_mean(x, M, weights)$variance)
  }
  if (is_chunks(x)) {
    return(chunk_variance(x, M, check_weights(weights), center))
  }
  d2 <- mf_dist(M, x, center)^2
  if (is.null(weights)) mean(d2) else sum(check_weights(weights) * d2) / sum(weights)
}

check_weights <- function(weights) {
  if (!is.null(weights)) {
    if (!is.numeric(weights)) abort_riemdp("argument", "`weights` must be numeric with one number for each record.")
    weights <- as.double(weights)
  }
  weights
}

fit_center <- function(x, M, weights, tol, method, start, max_iter, median) {
  check_manifold(M)
  method <- check_choice(method, "method", c("lbfgs", "gradient"))
  tol <- check_number(tol, "tol", positive = TRUE)
  max_iter <- check_count(max_iter, "max_iter", least = 0, most = 1e9)
  memory <- if (method == "lbfgs") 6L else 0L
  fit <- if (is_chunks(x)) {
    chunk_fit(x, M, check_weights(weights), tol, memory, start, max_iter, median)
  } else {
    .Call(riemdp_mean, M, x, check_weights(weights), start, tol, max_iter, memory, median)
  }
  fit$unique <- if (median) NA else provably_unique(M, fit$farthest)
  fit$farthest <- NULL
  if (is.null(fit$n)) fit$n <- .Call(riemdp_count, M, x)
  fit$manifold <- M
  fit$method <- method
  fit$median <- median
  structure(fit, class = "frechet_mean")
}

provably_unique <- function(M, farthest) {
  if (M$name == "spd_bures") {
    return(TRUE)
  }
  facts <- mf_facts(M)
  reach <- facts$injectivity_radius
  if (facts$k_max > 0) reach <- min(reach, pi / sqrt(facts$k_max))
  if (reach == Inf || farthest < reach / 2) TRUE else NA
}

#' @export
print.frechet_mean <- function(x, ...) {
  cat(sprintf("Frechet %s of %d records on %s (not private)\n", if (x$median) "median" else "mean", as.integer(x$n),
              label_manifold(x$manifold)))
  cat(sprintf("  %s: %d iterations, gradient norm %.2g%s\n",
              if (x$converged) "converged" else "NOT converged", x$iterations, x$gradient_norm,
              if (x$gradient_floor > 0) sprintf(" (rounding floor %.2g)", x$gradient_floor) else ""))
  cat(sprintf("  %s %.6g; %s\n", if (x$median) "mean distance" else "variance", x$variance,
              if (isTRUE(x$unique)) "provably unique" else "uniqueness not proven for these records"))
  print(x$mean)
  invisible(x)
}

#' @export
summary.frechet_mean <- function(object, ...) {
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, variance = object$variance, iterations = object$iterations,
    gradient_norm = object$gradient_norm, gradient_floor = object$gradient_floor, converged = object$converged,
    unique = object$unique
  )
}
