# What a plain geodesic regression says beyond its estimate: covariances, intervals, a test of trend, new responses, and
# which records it hangs on. Not private.

#' Intervals and tests for geodesic regressions
#'
#' Covariances and intervals of foot point and vectors, a permutation test of trend, simulated responses and Cook's
#' distances of [geodesic_regression()]. All are functions of the records: **not private**.
#'
#' Covariances are about the estimate in orthonormal coordinates at the foot point, p first (whose own coordinates are
#' 0), then the vector of each predictor; with one predictor the foot is at the predictor's mean. Three kinds:
#'
#' * `"model"`: the Gauss-Newton covariance of normal errors that are alike in all directions and at all records. Exact
#'   where space is flat.
#' * `"sandwich"`: errors may differ between records and directions: the scores' own products between two inverses of
#'   the Gauss-Newton matrix, times n/(n - 1 - q) for q predictors (as HC1 has it). The curvature's part of the second
#'   derivative, which is proportional to the residuals, is left out, as in `"model"`.
#' * `"bootstrap"`: records drawn with replacement and fitted again, from the estimate on; feet and vectors are brought
#'   to the estimated foot by log and parallel transport. For every loss; a Huber cutoff stays what it was. Draws in
#'   which predictors and constant are linearly dependent are made again, fits that fail are left out (`failed`).
#'
#' `confint()` has Student intervals of the first two, on the residual degrees of freedom, and the bootstrap's quantiles
#' of the third. In simulations on S^2, H^2 and 2 x 2 matrices (30 records, a curve of length 1, errors of .1 and .2,
#' 500 data sets, 150 of the bootstrap) intervals of level .95 held .956 to .963 of the true coordinates (`"model"`),
#' .942 to .95 (`"sandwich"`) and .928 to .942 (`"bootstrap"`); with errors that are eleven times larger at the ends
#' than in the middle .92 (`"model"`) and .942 (`"sandwich"`).
#'
#' `trend_test()`: if the predictors have nothing to do with the responses, every order of the predictors' rows is as
#' likely, given all the rest. So `p.value`, the share of orders (`nsim` drawn and the one seen) whose statistic is as
#' large, is at most any level with at most that probability, at any number of records. Statistic `"score"`: R squared
#' of the responses' logarithms at their Frechet mean on the predictors; the mean is the same for all orders, so it
#' takes little time, and where records are spread over a small ball nothing is lost. `"fit"`: R squared of a fit for
#' each order. Several predictors are tested together.
#'
#' `simulate()`: responses from the fitted curve with normal errors in the tangent spaces of its predictions, standard
#' deviation `sigma` in each coordinate, over the root of the weight. `cooks.distance()`: by one Newton step without the
#' record, as in [stats::cooks.distance()], over `dim(M)` (1 + q) coordinates; in flat space exact.
#'
#' @param object,model a fit of [geodesic_regression()]; of the squared loss but for the bootstrap and `"score"`.
#' @param type which covariance.
#' @param nsim how many draws, or sets of responses.
#' @param seed one whole number, or `NULL` for the generator as it stands. Afterwards it is as before.
#' @param parm names or numbers of coordinates; default: all.
#' @param level coverage, between 0 and 1.
#' @param statistic `"score"` or `"fit"`.
#' @param ... not used.
#' @return `vcov()`: a matrix with names; `NA` where there is no inverse; of `"bootstrap"` with an attribute `failed`.
#'   `confint()`: a matrix with a row for each coordinate and two columns. `trend_test()`: a list of class
#'   `htest` with `statistic`, `p.value`, `parameter` (`nsim`), `method`, `data.name`. `simulate()`: a data frame
#'   with `nsim` columns of [mf_points()] (missing where the weight is 0), and the attribute `seed` as in
#'   [stats::simulate()]. `cooks.distance()`: a number for each record.
#' @section Errors: `riemdp_error_unsupported` for other losses, `riemdp_error_argument` for `parm` that doesn't exist.
#' @references
#' White, H. (1980). A heteroskedasticity-consistent covariance matrix estimator and a direct test for
#' heteroskedasticity. *Econometrica* 48, 817-838. \doi{10.2307/1912934}
#'
#' Cook, R. D. (1977). Detection of influential observation in linear regression. *Technometrics* 19, 15-18.
#' \doi{10.1080/00401706.1977.10489493}
#'
#' Freedman, D. A. (1981). Bootstrapping regression models. *Annals of Statistics* 9, 1218-1228.
#' \doi{10.1214/aos/1176345638}
#'
#' Phipson, B. and Smyth, G. K. (2010). Permutation p-values should never be zero. *Statistical Applications in Genetics
#' and Molecular Biology* 9(1), 39. \doi{10.2202/1544-6115.1585}
#' @seealso [geodesic_regression()], [regression-methods]
#' @examples
#' x <- (1:20) / 20
#' set.seed(1)
#' v <- outer(x, c(0, 1, 0.5)) + cbind(0, matrix(rnorm(40, sd = 0.1), 20))
#' y <- mf_exp(hyperbolic(2), c(1, 0, 0), v)
#' fit <- geodesic_regression(y ~ x, hyperbolic(2))
#' confint(fit)
#' confint(fit, "x.1", type = "bootstrap", nsim = 99, seed = 1)
#' trend_test(fit, nsim = 199, seed = 1)
#' round(cooks.distance(fit), 2)
#' simulate(fit, 2, seed = 1)
#' @name regression-inference
NULL

#' @rdname regression-inference
#' @export
vcov.riemdp_geodesic_regression <- function(object, type = c("model", "sandwich", "bootstrap"), nsim = 999, seed = NULL,
                                            ...) {
  type <- check_choice(type, "type", c("model", "sandwich", "bootstrap"))
  predictors <- colnames(predictors_of(object))
  if (type == "bootstrap") {
    draws <- bootstrap_coordinates(object, nsim, seed)
    names <- coordinate_names(object, predictors)
    return(structure(stats::var(draws), dimnames = list(names, names), failed = attr(draws, "failed")))
  }
  need_squared(object, "this covariance")
  linear <- linearise(object)
  plain <- vcov_from(object, linear$root, predictors)
  if (type == "model" || is.null(linear$root)) return(plain)
  scores <- score_rows(object)
  middle <- crossprod(scores * rep(object$weights %||% 1, length.out = nrow(scores)))
  bread <- chol2inv(linear$root)
  n <- stats::nobs(object)
  q <- length(predictors)
  back <- rep(c(1, 1 / object$inner$scale), each = linear$d)
  plain[] <- (bread %*% middle %*% bread) * outer(back, back) * (if (n > 1 + q) n / (n - 1 - q) else NA_real_)
  plain
}

# Gradients of the records' half squared distances, a row for each, in the solver's coordinates (foot, then vectors)
score_rows <- function(object) {
  inner <- object$inner
  x <- predictors_of(object)
  z <- (x - rep(inner$shift, each = nrow(x))) / rep(inner$scale, each = nrow(x))
  vectors <- if (length(inner$scale) == 1) as_single(inner$vectors) else inner$vectors
  .Call(riemdp_regression_records, object$manifold, inner$foot, vectors, z, response_of(object), curve_loss(),
        FALSE)$gradient
}

coordinate_names <- function(object, predictors) {
  paste0(rep(c("p", predictors), each = mf_facts(object$manifold)$dimension), ".",
         seq_len(mf_facts(object$manifold)$dimension))
}

# the estimate in the coordinates of vcov()
own_coordinates <- function(object) {
  M <- object$manifold
  d <- mf_facts(M)$dimension
  v <- new_points(as.matrix(object$inner$vectors) / object$inner$scale, M, tangent = TRUE)
  c(numeric(d), t(matrix(mf_coords(M, object$inner$foot, v), ncol = d)))
}

#' @rdname regression-inference
#' @importFrom stats confint
#' @export
confint.riemdp_geodesic_regression <- function(object, parm, level = 0.95, type = c("model", "sandwich", "bootstrap"),
                                               nsim = 999, seed = NULL, ...) {
  check_no_more(...)
  type <- check_choice(type, "type", c("model", "sandwich", "bootstrap"))
  level <- check_level(level)
  names <- coordinate_names(object, colnames(predictors_of(object)))
  parm <- if (missing(parm)) seq_along(names) else check_coordinates(parm, names)
  ends <- (1 + c(-level, level)) / 2
  out <- if (type == "bootstrap") {
    t(apply(bootstrap_coordinates(object, nsim, seed), 2, stats::quantile, ends, type = 6, names = FALSE))
  } else {
    error <- sqrt(diag(stats::vcov(object, type = type)))
    own_coordinates(object) + error * rep(if (object$df.residual > 0) stats::qt(ends, object$df.residual) else NA_real_,
                                          each = length(names), length.out = 2 * length(names))
  }
  dim(out) <- c(length(names), 2)
  dimnames(out) <- list(names, paste(format(100 * ends, trim = TRUE, digits = 3), "%"))
  out[parm, , drop = FALSE]
}

check_coordinates <- function(parm, names) {
  at <- if (is.character(parm)) match(parm, names) else if (is.numeric(parm)) match(parm, seq_along(names)) else NA
  if (!length(at) || anyNA(at)) abort_riemdp("argument", "`parm` must be names or numbers of coordinates, see vcov().")
  at
}

# ---- the bootstrap ---------------------------------------------------------------------------------------------------

# value of expr, drawn from a generator started at `seed`, which is then as before; or from the one there is
with_seed <- function(seed, expr) {
  if (is.null(seed)) return(expr)
  seed <- check_count(seed, "seed", -.Machine$integer.max, .Machine$integer.max)
  keep_random_state({
    set.seed(seed)
    expr
  })
}

# nsim rows of coordinates at the estimated foot
bootstrap_coordinates <- function(object, nsim, seed) {
  nsim <- check_count(nsim, "nsim", least = 2, most = 1e6)
  inner <- object$inner
  x <- predictors_of(object)
  z <- (x - rep(inner$shift, each = nrow(x))) / rep(inner$scale, each = nrow(x))
  y <- response_of(object)
  given <- list(p = inner$foot, v = inner$vectors)
  width <- mf_facts(object$manifold)$dimension * (1 + ncol(x))
  one <- function(i) {
    rows <- full_rank_rows(z, object$weights)
    fit <- tryCatch(fit_regression(object$manifold, y[rows], z[rows, , drop = FALSE], object$weights[rows], object$loss,
                                   object$cutoff, given, 1e-8, 1000, 1), riemdp_error = function(e) NULL)
    if (is.null(fit)) return(rep(NA_real_, width))
    tryCatch(seen_from(object, fit), riemdp_error = function(e) rep(NA_real_, width))
  }
  draws <- with_seed(seed, t(vapply(seq_len(nsim), one, numeric(width))))
  gone <- rowSums(is.na(draws)) > 0
  if (sum(!gone) < 2) abort_riemdp("domain", "fits to records drawn with replacement fail, or leave the foot's reach.")
  structure(draws[!gone, , drop = FALSE], failed = sum(gone))
}

# numbers of records, drawn with replacement until predictors and constant are independent on those that count
full_rank_rows <- function(z, w) {
  n <- nrow(z)
  for (trial in 1:1000) {
    rows <- sample.int(n, n, TRUE)
    counts <- if (is.null(w)) rows else rows[w[rows] > 0]
    distinct <- unique(counts)
    if (length(distinct) > ncol(z) && qr(cbind(1, z[distinct, , drop = FALSE]), tol = 1e-9)$rank > ncol(z)) {
      return(rows)
    }
  }
  abort_riemdp("design", "too few distinct predictors to draw records with replacement.")
}

# another fit's foot and vectors in coordinates at the estimated foot
seen_from <- function(object, fit) {
  M <- object$manifold
  d <- mf_facts(M)$dimension
  foot <- object$inner$foot
  there <- as_single(new_points(fit$p, M))
  v <- new_points(as.matrix(new_points(fit$v, M, tangent = TRUE)) / object$inner$scale, M, tangent = TRUE)
  moved <- mf_transport(M, mf_points(behind_many(M, there), M), mf_points(behind_many(M, foot), M), v)
  c(mf_coords(M, foot, mf_log(M, foot, there)), t(matrix(mf_coords(M, foot, moved), ncol = d)))
}

# ---- a test of trend -------------------------------------------------------------------------------------------------

#' @rdname regression-inference
#' @export
trend_test <- function(object, nsim = 999, statistic = c("score", "fit"), seed = NULL) {
  if (!inherits(object, "riemdp_geodesic_regression")) {
    abort_riemdp("argument", "`object` must be a fit of geodesic_regression().")
  }
  nsim <- check_count(nsim, "nsim", most = 1e7)
  statistic <- check_choice(statistic, "statistic", c("score", "fit"))
  if (statistic == "fit" && object$loss == "huber") {
    abort_riemdp("unsupported", "a Huber cutoff belongs to one order of the records: take statistic = \"score\".")
  }
  of <- tryCatch({
    x <- predictors_of(object)
    if (statistic == "score") score_statistic(object, x) else fit_statistic(object, x)
  }, error = function(e) {
    pass_on(e)
    abort_riemdp("argument", "the fit must be as geodesic_regression() made it.")
  })
  n <- nrow(x)
  seen <- of(seq_len(n))
  drawn <- with_seed(seed, vapply(seq_len(nsim), function(i) of(sample.int(n)), 0))
  larger <- sum(drawn >= seen * (1 - 1e-9) - 1e-15)
  structure(list(
    statistic = c("R squared" = seen), parameter = c(nsim = nsim), p.value = (1 + larger) / (nsim + 1),
    method = sprintf("Permutation test of trend on %s (%s)", label_manifold(object$manifold), statistic),
    alternative = "the responses depend on the predictors",
    data.name = paste(deparse(stats::formula(object), width.cutoff = 500L), collapse = " ")
  ), class = "htest")
}

# R squared of logarithms at the Frechet mean, which no order changes, on predictors in an order
score_statistic <- function(object, x) {
  M <- object$manifold
  y <- response_of(object)
  w <- object$weights
  mean <- frechet_mean(y, M, weights = w)$mean
  root <- sqrt(w %||% rep(1, length(y)))
  logs <- root * matrix(mf_coords(M, mean, mf_log(M, mean, y)), length(y))
  logs <- logs - root * rep(colSums(root * logs) / sum(root^2), each = length(y))
  total <- sum(logs^2)
  basis <- function(x) qr.Q(qr(root * cbind(1, x)))
  if (total == 0) return(function(order) 0)
  if (!is.null(w)) return(function(order) sum(crossprod(basis(x[order, , drop = FALSE]), logs)^2) / total)
  whole <- basis(x)
  function(order) sum(crossprod(whole[order, , drop = FALSE], logs)^2) / total
}

# R squared of a fit to predictors in an order, by the same steps for each
fit_statistic <- function(object, x) {
  y <- response_of(object)
  w <- object$weights
  value <- function(z) {
    fit_regression(object$manifold, y, z, w, object$loss, NULL, NULL, 1e-8, 1000, object$starts)$value
  }
  none <- value(matrix(0, nrow(x), 0))
  function(order) {
    if (none <= 0) return(0)
    z <- inner_predictors(x[order, , drop = FALSE], w, object$inner$shift)$z
    max(0, 1 - tryCatch(value(z), riemdp_error = function(e) none) / none)
  }
}

# ---- responses, and influence ----------------------------------------------------------------------------------------

#' @rdname regression-inference
#' @importFrom stats simulate
#' @export
simulate.riemdp_geodesic_regression <- function(object, nsim = 1, seed = NULL, ...) {
  need_squared(object, "simulation")
  nsim <- check_count(nsim, "nsim", most = 1e6)
  if (is.na(object$sigma)) abort_riemdp("unsupported", "there is no residual standard deviation: too few records.")
  M <- object$manifold
  d <- mf_facts(M)$dimension
  n <- length(object$fitted.values)
  w <- object$weights %||% rep(1, n)
  sd <- object$sigma / sqrt(ifelse(w > 0, w, Inf))
  one <- function(i) {
    y <- mf_points(mf_exp(M, object$fitted.values, mf_from_coords(M, object$fitted.values,
                                                                 matrix(stats::rnorm(n * d), n) * sd)), M)
    if (any(w == 0)) y[w == 0] <- NA
    pad_points(object, y)
  }
  if (is.null(seed) && !exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  state <- if (is.null(seed)) get(".Random.seed", envir = globalenv()) else structure(seed, kind = as.list(RNGkind()))
  out <- with_seed(seed, lapply(seq_len(nsim), one))
  names(out) <- paste0("sim_", seq_len(nsim))
  out <- structure(out, class = "data.frame", row.names = seq_along(out[[1]]))
  attr(out, "seed") <- state
  out
}

#' @rdname regression-inference
#' @importFrom stats cooks.distance
#' @export
cooks.distance.riemdp_geodesic_regression <- function(model, ...) {
  need_squared(model, "Cook's distance")
  l <- linearise(model)
  scores <- score_rows(model)
  w <- model$weights %||% rep(1, l$n)
  whole <- if (!is.null(l$root)) crossprod(l$root)
  one <- function(i) {
    if (is.null(whole)) return(NA_real_)
    rows <- l$J[(i - 1) * l$d + seq_len(l$d), , drop = FALSE]
    rest <- whole - crossprod(rows) # rows have the root of the weight in them
    step <- tryCatch(solve(rest, w[i] * scores[i, ], tol = 1e-14), error = function(e) NULL)
    if (is.null(step)) return(NaN) # nothing but this record says where the curve is
    sum(step * (whole %*% step)) / (length(step) * model$sigma^2)
  }
  out <- vapply(seq_len(l$n), one, 0)
  stats::naresid(model$na.action, stats::setNames(out, names(model$residuals)))
}
