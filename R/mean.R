#' Frechet mean, median and variance
#'
#' The Frechet mean minimises the weighted mean of squared distances to the records, the Frechet median the weighted
#' mean of distances. Plain estimates, **not private**: see [dp_mean()].
#'
#' Computed by quasi-Newton steps (limited-memory BFGS) with backtracking, or by `method = "gradient"` (steps along the
#' mean logarithm). The mean's gradient is \eqn{-\sum w_i \log_m x_i/\sum w_i}. Iteration ends when its norm is at most
#' `tol` times the records' spread (the root of the variance), or where rounding hides any descent. A median's steps are
#' in units of the mean distance, and each lowers it. A median may lie on a record; there optimality is that the pull of
#' the other records does not exceed the record's own weight.
#'
#' On circles (`sphere(1)`, `stiefel(2, 1)`, `grassmann(2, 1)`, `rotations(2)`) mean and median are the global minima,
#' found by sorting: between two antipodes of records the variance is a parabola (Hotz and Huckemann 2015). The median
#' on a line is that of the coordinates, halfway where there are two. A `start` has no say there.
#'
#' @param x records, in any shape that functions on `M` accept (see [geometry]), or in [chunks()].
#' @param M a manifold; by default that of the records, where those are [mf_points()].
#' @param weights numbers, not negative and not all zero, one a record; default: all equal.
#' @param tol gradient norm at which to stop: for means in units of the records' spread, for medians, whose gradient has
#'   no unit, as it is.
#' @param method `"lbfgs"` or `"gradient"`.
#' @param start a point to start from; default: a projected arithmetic mean or the first record (for the median: the
#'   mean).
#' @param max_iter most steps.
#' @param error `TRUE`: the mean comes with a proven `error_bound`, and `error_proven` is `TRUE`. It holds whatever the
#'   iteration did: the gradient at the mean is enclosed with some 32 digits, and divided by the least curvature of the
#'   energy around it; `Inf` where that isn't positive (on spheres: records at \eqn{\pi/2} or farther) or a record's
#'   logarithm isn't known. For the spaces of [geometry], section Certified digits, and records in memory; elsewhere an
#'   error of class `riemdp_error_unsupported`.
#' @return A list of class `riemdp_frechet_mean`:
#' * `mean` (for `frechet_median()` also called so): one point, in the shape of a single record;
#' * `gradient_norm`; `tolerance`, the norm asked for; `gradient_floor`, what rounding errors of the stored numbers do
#'   to the gradient, an estimate from a few records; `converged`: whether the norm is at most one of the two;
#'   `iterations`;
#' * `error_bound`, for means: how far the mean may be from that of the records as they are stored, (`gradient_norm` +
#'   `gradient_floor`)/h with the least curvature h of the energy over the records' ball; `NA` where that is not
#'   positive or not known, and for medians; an estimate, but for `error = TRUE`;
#' * `unique`: `TRUE` if the minimiser is provably the only one for these records (non-positive curvature; a ball of
#'   radius below half of \eqn{\min(\mathrm{inj}, \pi/\sqrt{\kappa})} around it holds all records, Afsari 2011; positive
#'   definite matrices with the Bures-Wasserstein metric, Agueh and Carlier 2011), else `NA`;
#' * `variance`: the minimum, a mean squared distance (mean distance for the median);
#' * `n`, `manifold`, `method`.
#'
#' `frechet_variance()` returns the mean squared distance to the mean, or to `center`. What hasn't converged comes with
#' a warning of class `riemdp_warning_convergence`. Errors: `riemdp_error_argument` for weights that are not finite,
#' negative, all zero or not one a record.
#' @references
#' Afsari, B. (2011). Riemannian Lp center of mass: existence, uniqueness, and convexity. *Proceedings of the American
#' Mathematical Society* 139, 655-673. \doi{10.1090/S0002-9939-2010-10541-5}
#'
#' Agueh, M. and Carlier, G. (2011). Barycenters in the Wasserstein space. *SIAM Journal on Mathematical Analysis* 43,
#' 904-924. \doi{10.1137/100805741}
#'
#' Hotz, T. and Huckemann, S. (2015). Intrinsic means on the circle: uniqueness, locus and asymptotics. *Annals of the
#' Institute of Statistical Mathematics* 67, 177-193. \doi{10.1007/s10463-013-0444-7}
#'
#' Huang, W., Gallivan, K. A. and Absil, P.-A. (2015). A Broyden class of quasi-Newton methods for Riemannian
#' optimization. *SIAM Journal on Optimization* 25, 1660-1685. \doi{10.1137/140955483}
#'
#' Vardi, Y. and Zhang, C.-H. (2000). The multivariate L1-median and associated data depth. *Proceedings of the National
#' Academy of Sciences* 97, 1423-1426. \doi{10.1073/pnas.97.4.1423}
#' @examples
#' fit <- frechet_mean(wishart_spd[, , 1:100], spd(2))
#' fit
#' frechet_variance(wishart_spd[, , 1:100], spd(2))
#' frechet_median(rbind(c(1, 0, 0), c(0, 1, 0), c(0, 0, 1)), sphere(2))$mean
#' @export
frechet_mean <- function(x, M = manifold_of(x), weights = NULL, tol = 1e-10, method = c("lbfgs", "gradient"),
                         start = NULL,
                         max_iter = 1000, error = FALSE) {
  if (!wants_error(error)) return(fit_center(x, M, weights, tol, method, start, max_iter, median = FALSE))
  if (is_chunks(x)) abort_riemdp("unsupported", "`error = TRUE` is not available for records in chunks().")
  fit <- fit_center(x, M, weights, tol, method, start, max_iter, median = FALSE)
  fit$error_bound <- mean_error(x, M, check_weights(weights, fit$n), fit$mean)
  fit$error_proven <- TRUE
  fit
}

# A proven bound of the distance of `point` from the mean of the records, whatever it was computed by. The mean of a
# product is made of its parts' means.
mean_error <- function(x, M, weights, point) {
  if (!inherits(M, "riemdp_product")) return(.Call(riemdp_certified_mean, M, x, weights, point))
  rows <- as.matrix(mf_points(x, M))
  leaves <- part_leaves(M)
  each <- vapply(leaves, function(leaf) {
    own <- new_points(rows[, leaf$at, drop = FALSE], leaf$M)
    mean_error(own, leaf$M, weights, leaf_point(M, leaf, point))
  }, 0)
  most <- max(each) # squares of small numbers are 0
  if (most == 0 || most == Inf) return(most)
  most * sqrt(sum(vapply(leaves, `[[`, 0, "weight") * (each / most)^2)) * (1 + 1e-12) + 2^-1060
}

#' @rdname frechet_mean
#' @export
frechet_median <- function(x, M = manifold_of(x), weights = NULL, tol = 1e-10, method = c("lbfgs", "gradient"),
                           start = NULL,
                           max_iter = 1000) {
  if (is.null(start)) {
    start <- fit_center(x, M, weights, 1e-3, method, NULL, max_iter, median = FALSE, rough = TRUE)$mean
  }
  fit_center(x, M, weights, tol, method, start, max_iter, median = TRUE)
}

#' @rdname frechet_mean
#' @param center a point; default: the Frechet mean.
#' @export
frechet_variance <- function(x, M = manifold_of(x), weights = NULL, center = NULL) {
  if (is.null(center)) {
    return(frechet_mean(x, M, weights)$variance)
  }
  if (is_chunks(x)) {
    return(chunk_variance(x, M, check_weights(weights, chunk_count(x)), center))
  }
  check_manifold(M)
  if (.Call(riemdp_count, M, center) != 1) abort_riemdp("shape", "`center` must be one point.")
  d2 <- mf_dist(M, x, center)^2
  weights <- check_weights(weights, length(d2))
  if (is.null(weights)) mean(d2) else sum(weights * d2) / sum(weights)
}

# NULL or n doubles
check_weights <- function(weights, n) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || is.object(weights) || length(weights) != n) {
    abort_riemdp("argument", "`weights` must be numeric with one number for each record.")
  }
  weights <- as.double(weights)
  if (anyNA(weights) || any(weights < 0 | weights == Inf)) {
    abort_riemdp("argument", "`weights` must be finite and not negative.")
  }
  if (!(sum(weights) > 0)) abort_riemdp("argument", "`weights` must not all be zero.")
  weights
}

# `rough`: a start for something else, which needs no warning
fit_center <- function(x, M, weights, tol, method, start, max_iter, median, rough = FALSE) {
  check_manifold(M)
  method <- check_choice(method, "method", c("lbfgs", "gradient"))
  tol <- check_number(tol, "tol", positive = TRUE)
  max_iter <- check_count(max_iter, "max_iter", least = 0, most = 1e9)
  n <- if (is_chunks(x)) chunk_count(x) else .Call(riemdp_count, M, x)
  weights <- check_weights(weights, n)
  fit <- found_center(x, M, n, weights, tol, method, start, max_iter, median)
  if (is.null(fit$unique)) fit$unique <- if (median) NA else provably_unique(M, fit$farthest)
  if (!own_mean_only(M, x)) fit$unique <- NA
  if (is.null(fit$error_bound)) {
    fit$error_bound <- if (median) NA_real_ else
      (fit$gradient_norm + fit$gradient_floor) / least_hessian(M, fit$farthest)
  }
  fit$farthest <- NULL
  fit$n <- n
  fit$manifold <- M
  fit$method <- method
  fit$median <- median
  if (!fit$converged && !rough) {
    warning(structure(class = c("riemdp_warning_convergence", "warning", "condition"), list(message = sprintf(
      paste("the Frechet %s has not converged: gradient norm %.2g after %d iterations. Raise `max_iter`, or give",
            "another `start`."),
      if (median) "median" else "mean", fit$gradient_norm, as.integer(fit$iterations)), call = NULL)))
  }
  structure(fit, class = "riemdp_frechet_mean")
}

found_center <- function(x, M, n, weights, tol, method, start, max_iter, median) {
  memory <- if (method == "lbfgs") 6L else 0L
  if (is_chunks(x)) {
    chunk_fit(x, M, weights, tol, memory, start, max_iter, median)
  } else if (n > 0 && inherits(M, "riemdp_scaled")) {
    scaled_center(x, M, weights, tol, method, start, max_iter, median)
  } else if (n > 0 && mf_facts(M)$dimension == 1 && (is_circle(M) || (median && !of_user(M)))) {
    line_center(x, M, weights, median)
  } else if (n > 0 && inherits(M, "riemdp_product") && !median && is.null(start)) {
    product_center(x, M, weights, tol, method, max_iter)
  } else {
    .Call(riemdp_mean, M, x, weights, start, tol, max_iter, memory, median)
  }
}

# below the second derivative of half the squared distance to any record within `farthest`; NA where nothing positive is
# known
least_hessian <- function(M, farthest) {
  facts <- mf_facts(M)
  if (!is.finite(facts$k_max)) return(NA_real_)
  if (facts$k_max <= 0) return(if (farthest < facts$injectivity_radius) 1 else NA_real_)
  s <- farthest * sqrt(facts$k_max)
  if (s < 1e-4) 1 else if (s < pi / 2) s / tan(s) else NA_real_
}

# The mean on a product is made of its parts' means: each is found for itself, on circles among all local ones. Each
# part checks its own numbers; what is wrong is then said of the whole.
product_center <- function(x, M, weights, tol, method, max_iter) {
  leaves <- part_leaves(M)
  rows <- if (is.matrix(x) && is.double(x) && !is.object(x)) x else as.matrix(mf_points(x, M))
  fits <- tryCatch(lapply(leaves, function(leaf) {
    fit_center(new_points(rows[, leaf$at, drop = FALSE], leaf$M), leaf$M, weights,
               tol / sqrt(leaf$weight * length(leaves)), method, NULL, max_iter, FALSE, rough = TRUE)
  }), riemdp_error = function(e) {
    mf_check(M, x)
    stop(e)
  })
  weight <- vapply(leaves, `[[`, 0, "weight")
  each <- function(what) vapply(fits, function(fit) as.double(fit[[what]]), 0)
  length_of <- function(what) sqrt(sum(weight * each(what)^2))
  point <- lapply(seq_along(fits), function(i) as.matrix(mf_points(fits[[i]]$mean, leaves[[i]]$M)))
  list(mean = as.vector(do.call(cbind, point)), gradient_norm = length_of("gradient_norm"),
       gradient_floor = length_of("gradient_floor"), iterations = max(each("iterations")),
       converged = all(vapply(fits, `[[`, NA, "converged")), variance = sum(weight * each("variance")),
       tolerance = length_of("tolerance"), error_bound = length_of("error_bound"),
       unique = all(vapply(fits, `[[`, NA, "unique")))
}

# In other units the centre is the part's own, and so is a median's gradient, which has no unit.
scaled_center <- function(x, M, weights, tol, method, start, max_iter, median) {
  part <- M$parts[[1]]
  own <- function(p) if (!is.null(p)) new_points(as.matrix(mf_points(p, M)), part)
  fit <- fit_center(own(x), part, weights, tol, method, own(start), max_iter, median, rough = TRUE)
  lengths <- c("error_bound", if (!median) c("gradient_norm", "gradient_floor", "tolerance"))
  fit[lengths] <- lapply(fit[lengths], `*`, sqrt(M$weights))
  fit$variance <- fit$variance * if (median) sqrt(M$weights) else M$weights
  unclass(fit)
}

# O(2) is two of them
is_circle <- function(M) {
  facts <- mf_facts(M)
  facts$dimension == 1 && facts$orthonormal && facts$diameter < Inf
}

# Spaces of one dimension, by sorting. On a line: the median of coordinates.
line_center <- function(x, M, weights, median) {
  facts <- mf_facts(M)
  rows <- as.matrix(mf_points(x, M))
  w <- if (is.null(weights)) rep(1, nrow(rows)) else weights
  one <- function(p) as_single(new_points(matrix(p, 1), M))
  if (is_circle(M)) {
    period <- 2 * facts$injectivity_radius
    a <- atan2(rows[, 2], rows[, 1]) %% period
    found <- circle_center(a, w / sum(w), period, median)
    p <- c(cos(found$at), sin(found$at), if (facts$cols == 2) c(-sin(found$at), cos(found$at)))
    far <- max(abs((a - found$at + period / 2) %% period - period / 2))
    size <- period
  } else {
    base <- one(rows[1, ])
    a <- as.vector(mf_coords(M, base, mf_log(M, base, x)))
    found <- line_median(a, w / sum(w))
    p <- as.matrix(mf_points(mf_exp(M, base, mf_from_coords(M, base, matrix(found$at))), M))
    far <- max(abs(a - found$at))
    size <- max(abs(a))
  }
  list(mean = one(p), gradient_norm = 0, gradient_floor = 4 * .Machine$double.eps * size, iterations = 0L,
       converged = TRUE, variance = found$value, tolerance = 0, farthest = far, unique = if (found$alone) TRUE else NA)
}

# weights add up to 1; halfway where two values have half of them on either side
line_median <- function(a, w) {
  a <- a[w > 0]
  w <- w[w > 0]
  order <- order(a)
  a <- a[order]
  below <- cumsum(w[order])
  i <- which(below >= 0.5 - 1e-14)[1]
  even <- below[i] <= 0.5 + 1e-14 && i < length(a)
  at <- if (even) (a[i] + a[i + 1]) / 2 else a[i]
  list(at = at, value = sum(w[order] * abs(a - at)), alone = !even || a[i] == a[i + 1])
}

# On a circle of length `period`. Between antipodes of neighbouring records the variance is a parabola: cutting the
# circle there, after k records in order, its minimum is the mean of unrolled angles, and no candidate's parabola lies
# below the variance. The mean distance is linear with kinks upwards at records only, so one of them is its minimum.
circle_center <- function(a, w, period, median) {
  order <- order(a)
  a <- a[order]
  w <- w[order]
  n <- length(a)
  before <- c(0, cumsum(w)[-n]) # weight of the k records that are counted one turn further on
  if (!median) {
    at <- sum(w * a) + period * before
    value <- sum(w * a^2) + cumsum(c(0, (w * (2 * period * a + period^2))[-n])) - at^2
  } else {
    # records in the half circle from each record on, whose distances grow as one walks back
    twice <- c(a, a + period)
    weight <- c(0, cumsum(c(w, w)))
    moment <- c(0, cumsum(c(w, w) * twice))
    end <- findInterval(a + period / 2, twice)
    from <- seq_len(n) - 1
    at <- a
    ahead <- weight[end + 1] - weight[from + 1]
    ahead_sum <- moment[end + 1] - moment[from + 1]
    rest <- weight[from + n + 1] - weight[end + 1]
    rest_sum <- moment[from + n + 1] - moment[end + 1]
    value <- (ahead_sum - a * ahead) + (rest * (a + period) - rest_sum)
  }
  best <- which.min(value)
  apart <- abs((at - at[best] + period / 2) %% period - period / 2) > 1e-9 * period
  list(at = at[best] %% period, value = max(0, value[best]),
       alone = !any(apart & value <= value[best] + 1e-12 * period^2))
}

# whether no other point than those near these records can be their mean, where a space is more than what it looks like
own_mean_only <- function(M, x) UseMethod("own_mean_only")

#' @exportS3Method
own_mean_only.default <- function(M, x) TRUE

provably_unique <- function(M, farthest) {
  facts <- mf_facts(M)
  if (facts$one_mean) return(TRUE)
  reach <- facts$injectivity_radius
  if (facts$k_max > 0) reach <- min(reach, pi / sqrt(facts$k_max))
  if (reach == Inf || farthest < reach / 2) TRUE else NA
}

#' @export
print.riemdp_frechet_mean <- function(x, ...) {
  cat(sprintf("Frechet %s of %d records on %s (not private)\n", if (x$median) "median" else "mean", as.integer(x$n),
              label_manifold(x$manifold)))
  cat(sprintf("  %s: %d iterations, gradient norm %.2g (asked: %.2g; rounding: %.2g)%s\n",
              if (x$converged) "converged" else
                paste0("NOT converged, this is no ", if (x$median) "median" else "mean"), x$iterations, x$gradient_norm,
              x$tolerance, x$gradient_floor,
              say_error_bound(x)))
  cat(sprintf("  %s %.6g; %s\n", if (x$median) "mean distance" else "variance", x$variance,
              if (isTRUE(x$unique)) "provably unique" else "uniqueness not proven for these records"))
  print(x$mean)
  invisible(x)
}

say_error_bound <- function(x) {
  if (is.na(x$error_bound)) return("")
  if (x$error_bound == Inf) return(", no proven bound of its distance from the mean of these records")
  sprintf(", %sat most %.2g from the mean of these records", if (isTRUE(x$error_proven)) "provably " else "",
          x$error_bound)
}

#' @export
summary.riemdp_frechet_mean <- function(object, ...) {
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, variance = object$variance,
    iterations = object$iterations, gradient_norm = object$gradient_norm, gradient_floor = object$gradient_floor,
    error_bound = object$error_bound, converged = object$converged, unique = object$unique
  )
}

#' @export
mean.riemdp_points <- function(x, ..., na.rm = FALSE) middle(x, frechet_mean, na.rm, ...)

#' @export
median.riemdp_points <- function(x, na.rm = FALSE, ...) middle(x, frechet_median, na.rm, ...)

#' @export
weighted.mean.riemdp_points <- function(x, w, ..., na.rm = FALSE) {
  if (na.rm && !missing(w) && length(w) == length(x)) w <- w[!is.na(x)]
  middle(x, frechet_mean, na.rm, weights = if (!missing(w)) w, ...)
}
