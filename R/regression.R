# Geodesic regression. The model frame is R's own; points enter it as mf_points, whatever their shape was. The fit runs
# with predictors of mean square one (one predictor: centred as well, which leaves the curve the same) and is turned
# back to the user's origin at the end; predictions come from the inner form, which never extrapolates to a far-off x
# = 0.

LOSSES <- c("squared", "huber", "lad")
NO_RECORD <- "there is no record without missing values."

#' Geodesic regression
#'
#' Least squares, Huber or least absolute deviations regression of points on a manifold on ordinary predictors:
#' \eqn{y_i \approx \exp_p(\sum_j x_{ij} v_j)} with a foot point p and one shooting vector \eqn{v_j} for each predictor.
#' A plain estimate, **not private**.
#'
#' The mean of \eqn{d^2/2} (squared), of Huber's function of d (quadratic up to `cutoff`, linear beyond) or of d (lad,
#' least absolute deviations) is minimised over (p, v), where d is the distance of a response from its prediction.
#' Gradients are made of adjoint Jacobi fields: closed forms on spheres, hyperbolic spaces, positive definite matrices
#' (all three metrics), Grassmann and Stiefel manifolds and planar shapes; differences of `exp` and `log` on manifolds
#' of your own. Steps are quasi-Newton (limited-memory BFGS on feet and velocities together) until the gradient's norm,
#' with predictors scaled to mean square one, is at most `tol`, or at the floor that rounding sets, which is then
#' measured.
#'
#' The energy has several valleys where curvature is positive or geodesics wind around. Unless all responses lie in a
#' small ball, the fit therefore starts from several points: tangent least squares at the Frechet mean and at records,
#' the constant, and (one predictor) geodesics through pairs of records far apart; the best few are followed to the end.
#' No finite number of starts proves that the lowest valley was found.
#'
#' For the Huber loss, `cutoff = NULL` takes 1.345 times a robust scale: the median distance over
#' \eqn{\sqrt{\chi^2_{d, .5}}}, d being the manifold's dimension, so that both hold for the same fit. The lad loss has
#' no gradient where the curve meets a record. Where that happens it is smoothed, \eqn{\sqrt{d^2 + s^2} - s}, with s
#' falling to 1e-9; `smoothing` in the result is the last s, or 0.
#'
#' @section Predictors and origin:
#' The right side of the formula is that of [lm()]: factors, interactions, transformations. The foot point takes the
#' place of the intercept, so `y ~ x - 1` is refused. With one predictor the curve does not depend on where x = 0 is.
#' **With several it does**: \eqn{\exp_p(x_1 v_1 + x_2 v_2)} is a geodesic only along rays from p, so give an `origin`
#' in the middle of the data (or centre the predictors) unless zero means something.
#'
#' @section Missing values:
#' Records with a missing predictor, response or weight are treated as `na.action` says, as in [lm()]. A response is
#' missing if any of its numbers is `NA`.
#'
#' @section Errors:
#' `riemdp_error_design` where predictors and constant are linearly dependent (one distinct x, more parameters than
#' records); `riemdp_error_cut_locus` where from no start all responses have a logarithm at their predictions (opposite
#' points); `riemdp_error_domain` where the curve ends, or its numbers overflow, before it reaches an `origin` that was
#' given.
#'
#' @param formula a formula with points on the left: [mf_points()], a column of that class in `data`, or records in any
#'   shape that functions on `M` accept. Right side as in [lm()].
#' @param M a manifold.
#' @param data a data frame, list or environment that holds the variables; or such tables in [chunks()]: then the result
#'   is a list of class `geodesic_regression_chunks`, which holds no record, see [chunk-regression-methods]. What the
#'   formula, `weights` and `subset` compute must be about single records then, `subset` logical, and variables come
#'   from the chunks only.
#' @param loss `"squared"`, `"huber"` or `"lad"`.
#' @param ... must be empty.
#' @param weights numbers, not negative, one a record: weights of the losses.
#' @param subset,na.action as in [lm()].
#' @param cutoff for the Huber loss: distance at which it turns linear, in the units of the metric.
#' @param origin predictor values at the foot point: one number for all, one for each column of the model matrix, or
#'   `"mean"`. Default: 0; with one predictor the mean, and a warning, where the curve can't be followed as far as 0.
#' @param start `list(p =, v =)` to start from, in the form of `coef()` at this `origin`.
#' @param starts number of starts (up to 32); default: one for responses in a small ball or without positive curvature,
#'   else 16 (6 on manifolds of your own).
#' @param tol gradient norm at which to stop.
#' @param max_iter most steps.
#' @return An object of class `riemdp_geodesic_regression`, for which there are [print()], [summary()], [coef()] (a list
#'   of the foot `p` and the vectors `v`: one tangent vector in its plain shape, or several in the shape of many),
#'   [fitted()], [residuals()], [predict()], [plot()], [update()], [nobs()], [deviance()], [logLik()], [vcov()],
#'   [hatvalues()], [tidy()], [glance()] and [augment()] methods. Components: `coefficients`, `fitted.values`,
#'   `residuals` (distances), `r.squared` (Fletcher 2013: one less the loss over that of the best constant), `value`
#'   (mean loss), `sigma` (residual standard deviation a coordinate), `cutoff`, `converged`, `gradient_norm`,
#'   `gradient_floor`, `smoothing`, `iterations`, `evaluations`, `starts`.
#' @references
#' Fletcher, P. T. (2013). Geodesic regression and the theory of least squares on Riemannian manifolds. *International
#' Journal of Computer Vision* 105, 171-185. \doi{10.1007/s11263-012-0591-y}
#'
#' Kim, H. J. and others (2014). Multivariate general linear models (MGLM) on Riemannian manifolds with applications to
#' statistical
#' analysis of diffusion weighted images. *CVPR 2014*, 2705-2712. \doi{10.1109/CVPR.2014.352}
#'
#' Shin, H.-Y. and Oh, H.-S. (2022). Robust geodesic regression. *International Journal of Computer Vision* 130,
#' 478-503. \doi{10.1007/s11263-021-01561-w}
#' @seealso [geodesic_gradient()], [frechet_mean()], [regression-methods]
#' @examples
#' # covariances of daily stock returns over time, by the month
#' returns <- 100 * diff(log(EuStockMarkets[, 1:2]))
#' block <- rep(1:88, each = 21)[1:nrow(returns)]
#' block[is.na(block)] <- 88
#' months <- data.frame(year = 1991.5 + tapply(seq_len(nrow(returns)), block, mean) / 260)
#' covariances <- vapply(split(as.data.frame(returns), block), cov, matrix(0, 2, 2))
#' months$covariance <- mf_points(unname(covariances), spd(2))
#' fit <- geodesic_regression(covariance ~ year, spd(2), months, origin = 1995)
#' fit
#' summary(fit)
#' predict(fit, data.frame(year = c(1992, 1998)))
#'
#' # a geodesic on the sphere with noise; the plain form of records works as well
#' set.seed(1)
#' x <- runif(30)
#' y <- mf_exp(sphere(2), c(1, 0, 0), outer(x, c(0, 0.9, 0.6)))
#' y <- mf_project(sphere(2), y + rnorm(90, sd = 0.05))
#' coef(geodesic_regression(y ~ x, sphere(2), loss = "huber"))
#'
#' if (requireNamespace("shapes", quietly = TRUE)) { # growth of rat skulls
#'   utils::data("rats", package = "shapes", envir = environment())
#'   growth <- geodesic_regression(x ~ log(time), kendall(8), rats)
#'   growth$r.squared
#'   plot(growth)
#' }
#' @export
geodesic_regression <- function(formula, M, data, loss = c("squared", "huber", "lad"), ..., weights, subset, na.action,
                                cutoff = NULL, origin = NULL, start = NULL, starts = NULL, tol = 1e-10,
                                max_iter = 1000) {
  call <- match.call()
  check_manifold(M)
  if (...length() > 0) abort_riemdp("argument", "there is an argument that geodesic_regression() does not have.")
  loss <- check_choice(loss, "loss", LOSSES)
  if (!is.null(cutoff)) {
    if (loss != "huber") abort_riemdp("argument", "`cutoff` belongs to the Huber loss.")
    cutoff <- check_number(cutoff, "cutoff", positive = TRUE)
  }
  tol <- check_number(tol, "tol", positive = TRUE)
  max_iter <- check_count(max_iter, "max_iter", least = 0, most = 1e9)
  starts <- if (is.null(starts)) 0L else check_count(starts, "starts", most = 32)
  if (missing(data)) data <- NULL
  elsewhere <- fit_chunks(data, formula, M, call, if (!missing(na.action)) na.action, loss, cutoff, origin %||% 0,
                          start, starts, tol, max_iter)
  if (!is.null(elsewhere)) return(elsewhere)
  frame <- regression_frame(formula, M, data, call, parent.frame())
  design <- regression_design(frame)
  x <- design$x
  w <- design$weights
  counts <- if (is.null(w)) rep(TRUE, nrow(x)) else w > 0
  check_design(x[counts, , drop = FALSE])
  inner <- inner_predictors(x, w, check_origin(origin %||% 0, x, w))
  given <- check_start(start, M, inner)
  d <- mf_facts(M)$dimension
  fit_of <- function(loss, cutoff, given, tol, starts) {
    fit_regression(M, design$y, inner$z, w, loss, cutoff, given, tol, max_iter, starts)
  }
  fit <- fit_scaled(M, loss, cutoff, fit_of, function(now) {
    curve <- list(manifold = M, inner = list(foot = now$p, vectors = now$v, shift = 0, scale = 1))
    stats::median(mf_dist(M, curve_points(curve, inner$z), design$y)[counts])
  }, given, tol, starts)
  null <- fit_regression(M, design$y, matrix(0, nrow(x), 0), w, loss, fit$cutoff, NULL, tol, max_iter, starts)
  foot <- new_points(fit$p, M)
  vectors <- new_points(fit$v, M, tangent = TRUE)
  outer <- outer_coefficients(M, foot, vectors, inner, colnames(x), !is.null(origin))
  out <- list(
    coefficients = outer[c("p", "v")], fitted.values = NULL, residuals = NULL,
    r.squared = if (null$value > 0) 1 - fit$value / null$value else NA_real_, value = fit$value,
    null_value = null$value, sigma = NULL, loss = loss, cutoff = fit$cutoff, converged = fit$converged,
    gradient_norm = fit$gradient_norm, gradient_floor = fit$gradient_floor, smoothing = fit$smoothing,
    iterations = fit$iterations, evaluations = fit$evaluations, starts = fit$starts, weights = w, origin = outer$origin,
    manifold = M, call = call, terms = frame$terms, xlevels = stats::.getXlevels(frame$terms, frame$model),
    contrasts = attr(design$full, "contrasts"), na.action = attr(frame$model, "na.action"), model = frame$model,
    points = frame$points,
    inner = list(foot = as_single(foot), vectors = vectors, shift = inner$shift, scale = inner$scale)
  )
  class(out) <- "riemdp_geodesic_regression"
  out$fitted.values <- curve_points(out, x)
  out$residuals <- stats::setNames(mf_dist(M, out$fitted.values, design$y), rownames(frame$model))
  left <- sum(counts) * d - d * (1 + ncol(x))
  out$df.residual <- left
  out$sigma <- if (left > 0) sqrt(sum((w %||% 1) * out$residuals^2) / left) else NA_real_
  out
}

# ---- model frame -----------------------------------------------------------------------------------------------------

# list(model, terms, points): a model frame whose response is mf_points under the name of the formula's left side
regression_frame <- function(formula, M, data, call, env) {
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument", "`formula` must have points on its left side and predictors on its right: y ~ x.")
  }
  if (!(is.null(data) || is.list(data) || is.environment(data))) {
    abort_riemdp("argument", "`data` must be a data frame, a list or an environment.")
  }
  classed({
    scope <- environment(formula) %||% env
    terms <- stats::terms(formula, data = if (is.data.frame(data)) data)
    if (attr(terms, "intercept") != 1) {
      abort_riemdp("argument", "the foot point takes the place of the intercept: it can't be left out of the formula.")
    }
    if (!is.null(attr(terms, "offset"))) abort_riemdp("unsupported", "there are no offsets in geodesic regression.")
    response <- eval(formula[[2]], data, scope)
    plain <- !inherits(response, "riemdp_points")
    points <- response_points(response, M)
    full <- stats::formula(terms) # what `.` stands for is written out
    full[[2]] <- quote(.response)
    environment(full) <- scope
    data <- if (is.data.frame(data) && nrow(data) == length(points)) {
      data$.response <- points
      data
    } else {
      list2env(c(as.list(data), list(.response = points)), parent = scope)
    }
    ask <- call[c(1, match(c("subset", "weights", "na.action"), names(call), 0))]
    ask[[1]] <- quote(stats::model.frame)
    ask$formula <- full
    ask$data <- data
    ask$drop.unused.levels <- TRUE
    model <- eval(ask, env)
    if (nrow(model) == 0) abort_riemdp("shape", NO_RECORD)
    list(model = model, terms = attr(model, "terms"), points = !plain)
  }, "the variables of the formula")
}

# points from any shape, where missing numbers make missing points
response_points <- function(y, M) {
  if (inherits(y, "AsIs")) class(y) <- setdiff(class(y), "AsIs")
  if (is.data.frame(y)) y <- data_frame_matrix(y)
  if (inherits(y, "riemdp_points")) {
    there <- !is.na(y)
    if (any(there)) mf_check(M, y[there])
    return(new_points(as.matrix(y), M))
  }
  if (!(is.numeric(y) || is.complex(y) || is.logical(y)) || is.object(y)) {
    abort_riemdp("shape",
                 "the left side of the formula must be points: mf_points, or numbers in the shape of points of `M`.")
  }
  if (anyNA(y)) points_with_gaps(y, M) else mf_points(y, M)
}

# a record with a missing number is read as the first whole one, then forgotten
points_with_gaps <- function(y, M) {
  facts <- mf_facts(M)
  rows <- facts$rows == 0 && length(dim(y)) == 2
  each <- if (rows) dim(y)[1] else length(y) / plain_length(y, facts)
  missing <- is.na(y)
  dim(missing) <- if (rows) dim(y) else c(length(y) / max(each, 1), each)
  gone <- if (rows) rowSums(missing) > 0 else colSums(missing) > 0
  if (all(gone)) abort_riemdp("shape", NO_RECORD)
  first <- which(!gone)[1]
  if (rows) {
    y[gone, ] <- y[rep(first, sum(gone)), ]
  } else {
    flat <- matrix(y, ncol = each)
    flat[, gone] <- flat[, first]
    y[] <- flat
  }
  points <- mf_points(y, M)
  points[gone] <- NA
  points
}

# list(x = predictors without intercept, y = points, weights); `part`: of the records, which may all have weight 0
regression_design <- function(frame, part = FALSE) {
  classed({
    model <- frame$model
    full <- stats::model.matrix(stats::delete.response(frame$terms), model)
    weights <- stats::model.weights(model)
    if (!is.null(weights)) {
      if (!is.numeric(weights) || anyNA(weights) || any(weights < 0) || !(part || any(weights > 0))) {
        abort_riemdp("argument", "`weights` must be numbers, not negative and not all zero, one for each record.")
      }
      weights <- as.double(weights)
    }
    x <- full[, colnames(full) != "(Intercept)", drop = FALSE]
    storage.mode(x) <- "double"
    if (!all(is.finite(x))) {
      abort_riemdp("not_finite",
                   "the predictors must be finite numbers; `na.action` says what happens to missing ones.")
    }
    y <- model[[".response"]]
    if (anyNA(y)) {
      abort_riemdp("not_finite", "the response must not be missing; `na.action` says what happens to such records.")
    }
    list(x = x, y = y, weights = weights, full = full)
  }, "the predictors")
}

check_design <- function(x) {
  both <- cbind(1, scale(x, center = FALSE, scale = pmax(apply(abs(x), 2, max), 1e-300)))
  centred <- x - rep(colMeans(x), each = nrow(x))
  size <- apply(abs(x), 2, max)
  flat <- apply(abs(centred), 2, max) <= 1e-12 * size | size == 0
  if (nrow(x) < ncol(x) + 1 || any(flat) || qr(both, tol = 1e-12)$rank < ncol(both)) {
    abort_riemdp("design", paste(
      "the predictors and a constant must be linearly independent on the records that count:", ncol(x), "predictors,",
      nrow(x), "records. Leave out constant or repeated columns, or bring more records."
    ))
  }
}

check_origin <- function(origin, x, w) {
  if (identical(origin, "mean")) {
    return(if (is.null(w)) colMeans(x) else colSums(w * x) / sum(w))
  }
  if (!is.numeric(origin) || is.object(origin) || !length(origin) %in% c(1, ncol(x)) || !all(is.finite(origin))) {
    abort_riemdp("argument", "`origin` must be \"mean\", one number, or one for each column of the model matrix.")
  }
  rep_len(as.double(origin), ncol(x))
}

# predictors as the solver wants them
inner_predictors <- function(x, w, origin) {
  mean_of <- function(a) if (is.null(w)) colMeans(a) else colSums(w * a) / sum(w)
  shift <- if (ncol(x) == 1) mean_of(x) else origin
  z <- x - rep(shift, each = nrow(x))
  scale <- sqrt(mean_of(z^2))
  list(z = z / rep(scale, each = nrow(x)), shift = unname(shift), scale = unname(scale), origin = unname(origin))
}

# ---- solving ---------------------------------------------------------------------------------------------------------

# what C is told of a loss: residuals beyond the cutoff count linearly, gradients are clipped to a length
curve_loss <- function(loss = "squared", cutoff = Inf, clip = Inf) {
  list(loss = loss, cutoff = cutoff %||% Inf, smoothing = 0, clip = clip)
}

fit_control <- function(tol, max_iter, starts) list(tol = tol, max_iter = max_iter, memory = 10, starts = starts)

fit_regression <- function(M, y, z, w, loss, cutoff, given, tol, max_iter, starts) {
  fit <- .Call(riemdp_regression, M, y, z, w, given$p, given$v, curve_loss(loss, cutoff),
               fit_control(tol, max_iter, starts))
  fit$cutoff <- cutoff
  fit
}

# The fit; Huber without a cutoff with the scale of its own residuals, to self-consistency. fit_of: function(loss,
# cutoff, given, tol, starts); median_of: function(curve), the median distance of the records that count.
fit_scaled <- function(M, loss, cutoff, fit_of, median_of, given, tol, starts) {
  if (loss != "huber" || !is.null(cutoff)) return(fit_of(loss, cutoff, given, tol, starts))
  fit <- fit_of("squared", NULL, given, 1e-6, starts)
  cutoff <- NULL
  for (round in 1:200) {
    now <- list(p = as_single(new_points(fit$p, M)), v = new_points(fit$v, M, tangent = TRUE))
    new <- huber_cutoff(median_of(now), mf_facts(M)$dimension)
    if (!is.null(cutoff) && abs(new - cutoff) <= 1e-11 * cutoff) break
    cutoff <- new
    last <- fit
    fit <- fit_of("huber", cutoff, now, tol, 1)
    fit$iterations <- fit$iterations + last$iterations
    fit$evaluations <- fit$evaluations + last$evaluations
    fit$starts <- last$starts
  }
  fit
}

# 1.345 times a robust scale
huber_cutoff <- function(median, d) {
  # that where the curve goes through more than half of the records
  max(1.345 * median / sqrt(stats::qchisq(0.5, d)), 1e-14)
}

# ---- between the solver's form and the user's ------------------------------------------------------------------------

# points of the curve (surface) at rows of predictors
curve_points <- function(fit, x) {
  inner <- fit$inner
  z <- (x - rep(inner$shift, each = nrow(x))) / rep(inner$scale, each = nrow(x))
  mf_exp(fit$manifold, inner$foot, new_points(z %*% as.matrix(inner$vectors), fit$manifold, tangent = TRUE))
}

# Foot and velocity at t of s -> exp_p(s v): the velocity as a logarithm of a point a little behind, since transport
# goes the shortest way between its ends.
along <- function(M, p, v, t) {
  speed <- mf_norm(M, p, v)[1]
  if (t == 0 || speed == 0) {
    return(list(p = p, v = v))
  }
  inj <- mf_facts(M)$injectivity_radius
  reach <- if (is.finite(inj) && inj > 0) 0.5 * inj else Inf
  back <- sign(t) * min(abs(t), reach / speed)
  there <- as_single(mf_exp(M, p, scale_vectors(v, t)))
  if (abs(back) * speed < 1e-3) {
    return(list(p = there, v = mf_transport(M, p, there, v)))
  }
  behind <- as_single(mf_exp(M, p, scale_vectors(v, t - back)))
  list(p = there, v = scale_vectors(mf_log(M, there, mf_points(behind_many(M, behind), M)), -1 / back, tangent = TRUE))
}

# numbers times tangent vectors held as mf_points
scale_vectors <- function(v, s, tangent = TRUE) new_points(as.matrix(v) * s, attr(v, "manifold"), tangent)

outer_coefficients <- function(M, foot, vectors, inner, names, asked) {
  p <- as_single(foot)
  v <- new_points(as.matrix(vectors) / inner$scale, M, tangent = TRUE)
  origin <- inner$origin
  if (length(v) == 1 && origin != inner$shift) {
    moved <- tryCatch(along(M, p, v, origin - inner$shift), riemdp_error = function(e) NULL)
    if (!is.null(moved) && all(is.finite(c(Re(moved$p), Im(moved$p)))) && all(is.finite(as.matrix(moved$v)))) {
      p <- moved$p
      v <- moved$v
    } else if (asked) {
      abort_riemdp("domain",
                   paste("the curve must stay in the manifold, and its numbers finite, until it reaches the `origin`:",
                         "give an origin among the data, e.g. origin = \"mean\"."))
    } else {
      origin <- inner$shift
      warning(structure(class = c("riemdp_warning_origin", "warning", "condition"), list(
        message = paste("the curve can't be followed as far as 0: the foot point is at the predictor's mean.",
                        "Give an `origin` to",
                        "choose where."), call = NULL)))
    }
  }
  list(p = p, v = plain_vectors(v, names), origin = origin)
}

# one tangent vector in its single shape, several in the shape of many with names
plain_vectors <- function(v, names) {
  if (length(v) == 1) {
    return(as_single(v))
  }
  out <- as.array(v)
  if (length(dim(out)) == 2 && is.complex(out)) colnames(out) <- names else if (length(dim(out)) == 3) {
    dimnames(out) <- list(NULL, NULL, names)
  } else {
    rownames(out) <- names
  }
  out
}

check_start <- function(start, M, inner) {
  if (is.null(start)) {
    return(NULL)
  }
  if (!is.list(start) || !all(c("p", "v") %in% names(start))) {
    abort_riemdp("argument", "`start` must be list(p =, v =), as coef() gives it.")
  }
  p <- one_point(M, start$p, "start$p")
  rows <- classed(storage_rows_tangent(start$v, M), "`start`")
  if (nrow(rows) != length(inner$scale)) {
    abort_riemdp("shape", "`start$v` must hold one tangent vector for each predictor.")
  }
  v <- new_points(rows * inner$scale, M, tangent = TRUE)
  if (length(v) == 1) {
    moved <- along(M, p, v, (inner$shift - inner$origin) / inner$scale)
    p <- moved$p
    v <- moved$v
  }
  list(p = p, v = v)
}

# ---- gradient --------------------------------------------------------------------------------------------------------

#' Gradient of geodesic regression
#'
#' The gradient of the mean loss of [geodesic_regression()] at any (p, v), by adjoint Jacobi fields: for the squared
#' loss the energy is \eqn{E = \frac{1}{2n} \sum_i d(\exp_p(\sum_j x_{ij} v_j), y_i)^2}.
#'
#' The derivative with respect to p moves the vectors along in parallel. With \eqn{\varepsilon_i} the residual logarithm
#' at the prediction, the gradients are \eqn{-\frac1n\sum_i (d_p\exp)^*\varepsilon_i} and
#' \eqn{-\frac1n\sum_i x_{ij} (d_w\exp)^*\varepsilon_i}, \eqn{w = \sum_j x_{ij} v_j}; see [mf_jacobi()] for the factors.
#' They hold beyond conjugate points and for geodesics that are not the shortest.
#'
#' @param M a manifold.
#' @param p a point.
#' @param v a tangent vector at p, or several, one for each predictor.
#' @param x predictor: one number for each record, or a matrix with one row for each.
#' @param y responses.
#' @param loss `"squared"`, `"huber"` or `"lad"`.
#' @param cutoff where the Huber loss turns linear.
#' @param weights weights of records.
#' @return `list(p =, v =)`: tangent vectors at p, in the shapes of `p` and `v`, with attribute `value`, the mean loss.
#' @references Fletcher, P. T. (2013). Geodesic regression and the theory of least squares on Riemannian manifolds.
#'   *International Journal of Computer Vision* 105, 171-185. \doi{10.1007/s11263-012-0591-y}
#' @examples
#' geodesic_gradient(sphere(2), c(1, 0, 0), c(0, 1, 0), c(0, 1), rbind(c(0.8, 0, 0.6), c(0, 1, 0)))
#' @export
geodesic_gradient <- function(M, p, v, x, y, loss = c("squared", "huber", "lad"), cutoff = NULL, weights = NULL) {
  check_manifold(M)
  loss <- check_choice(loss, "loss", LOSSES)
  if (loss == "huber" && is.null(cutoff)) abort_riemdp("argument", "the Huber loss needs a `cutoff`.")
  cutoff <- if (is.null(cutoff)) Inf else check_number(cutoff, "cutoff", positive = TRUE)
  if (!is.numeric(x) || is.object(x)) {
    abort_riemdp("shape", "`x` must be numbers: one, or one row of a matrix, for each record.")
  }
  storage.mode(x) <- "double"
  g <- .Call(riemdp_regression_gradient, M, p, v, x, y, check_weights(weights, .Call(riemdp_count, M, y)),
             curve_loss(loss, cutoff))
  vectors <- function(rows) new_points(rows, M, tangent = TRUE)
  out <- list(p = tangent_like(vectors(g$p), p, M), v = tangent_like(vectors(g$v), v, M))
  attr(out, "value") <- g$value
  out
}

# tangent vectors in the shape in which points or vectors were given
tangent_like <- function(g, like, M) {
  if (inherits(like, "riemdp_points")) {
    return(g)
  }
  plain <- as.array(g)
  if (!is.complex(like) && is.complex(plain) && mf_facts(M)$cols == 0) {
    plain <- aperm(array(c(Re(plain), Im(plain)), c(dim(plain), 2)), c(1, 3, 2))
  }
  if (is.data.frame(like)) {
    return(plain)
  }
  if (length(plain) == length(like)) {
    out <- as.vector(plain)
    dim(out) <- dim(like)
    dimnames(out) <- dimnames(like)
    return(out)
  }
  plain
}

# the fit to records in chunks; NULL where they are in memory
fit_chunks <- function(data, ...) UseMethod("fit_chunks")

#' @exportS3Method
fit_chunks.default <- function(data, ...) NULL
