# Geodesic regression over tables in chunks: steps, solvers and samplers as in memory, their sums over records from
# chunk_ask().

# ---- plain -----------------------------------------------------------------------------------------------------------

# A chunk's design, of the records that count: list(x, z = (x - shift)/scale, y, w); NULL where there is none. Model
# frames of chunks are made one by one, so what a formula computes must be about single records.
chunk_design <- function(q, data) {
  tryCatch({
    if (!is.null(q$call$subset)) check_logical(eval(q$call$subset, data, baseenv()))
    frame <- regression_frame(q$formula, q$M, data, q$call, baseenv())
    design <- regression_design(frame, part = TRUE)
    x <- unname_rows(design$x)
    keep <- if (is.null(design$weights)) rep(TRUE, nrow(x)) else design$weights > 0
    if (!any(keep)) return(NULL)
    x <- x[keep, , drop = FALSE]
    z <- unname(x)
    if (!is.null(q$shift)) z <- (z - rep(q$shift, each = nrow(z))) / rep(q$scale, each = nrow(z))
    list(x = x, z = z, y = design$y[keep], w = design$weights[keep], frame = frame)
  }, riemdp_error_shape = function(e) if (identical(conditionMessage(e), NO_RECORD)) NULL else stop(e))
}

check_logical <- function(x) {
  if (!is.logical(x)) {
    abort_riemdp("argument", "for records in chunks `subset` must be logical: a record's number depends on its chunk.")
  }
}

unname_rows <- function(x) {
  rownames(x) <- NULL
  x
}

# products of (1, z), a row for each record
design_products <- function(z, w) {
  one <- cbind(1, z)
  k <- ncol(one)
  out <- one[, rep(seq_len(k), k), drop = FALSE] * one[, rep(seq_len(k), each = k), drop = FALSE]
  if (is.null(w)) out else w * out
}

# the curve at a chunk's records: shooting vectors at p, record by record (a product of matrices may round a record by
# how many others there are)
chunk_vectors <- function(M, z, v) {
  rows <- as.matrix(v)
  new_points(Reduce(`+`, lapply(seq_len(ncol(z)), function(j) outer(z[, j], rows[j, ]))), M, tangent = TRUE)
}

# distances from the curve; where there is none they are infinite
chunk_distances <- function(q, d) {
  size <- .Call(riemdp_regression_records, q$M, q$p, q$v, d$z, d$y, curve_loss(), TRUE)$distance
  size[is.na(size)] <- Inf
  size
}

# exact sums of what records add to the lower triangle of the linearisation's cross-products, in parts
chunk_crossproducts <- function(q, d) {
  width <- mf_facts(q$M)$dimension * (1 + ncol(d$z))
  pick <- which(lower.tri(diag(width), TRUE), arr.ind = TRUE)
  size <- max(1, floor(1e6 / nrow(pick)))
  lapply(seq(1, nrow(d$z), by = size), function(from) {
    which <- from:min(nrow(d$z), from + size - 1)
    z <- d$z[which, , drop = FALSE]
    J <- linear_directions(q$M, q$p, chunk_vectors(q$M, z, q$v), z)
    sums <- 0
    for (j in seq_len(dim(J)[1])) {
      one <- matrix(J[j, , ], length(which))
      sums <- sums + one[, pick[, 1], drop = FALSE] * one[, pick[, 2], drop = FALSE]
    }
    exact_rows(if (is.null(d$w)) sums else d$w[which] * sums)
  })
}

# ---- exact order statistics ------------------------------------------------------------------------------------------

# fetched where no more than so many lie between two counts
ORDER_FETCHED <- 20000

# The numbers of the given ranks among n that lie in chunks, none of them negative. count(edges): how many are at most
# as large as each edge, how many are finite, and the largest that is; fetch(low, high): those in (low, high]. `guess`:
# numbers near which they may lie.
chunk_order <- function(ranks, n, count, fetch, guess) {
  guess <- sort(unique(guess[is.finite(guess)]))
  seen <- count(guess)
  edges <- c(-1, guess[guess < seen$most], if (seen$finite) seen$most, Inf)
  below <- c(0, seen$count[guess < seen$most], if (seen$finite) seen$finite, n)
  out <- rep(NA_real_, length(ranks))
  repeat {
    high <- findInterval(ranks, below, left.open = TRUE) + 1 # the first edge with as many at or below it
    low <- high - 1
    open <- is.na(out)
    middle <- edges[low] + (edges[high] - edges[low]) / 2
    single <- open & (edges[high] %in% c(0, Inf) | !(middle > edges[low] & middle < edges[high])) # one number
    out[single] <- edges[high][single]
    open <- is.na(out)
    if (!any(open)) return(out)
    cells <- unique(high[open])
    if (sum(below[cells] - below[cells - 1]) <= ORDER_FETCHED) {
      got <- lapply(cells, function(h) sort(fetch(edges[h - 1], edges[h])))
      for (i in which(open)) out[i] <- got[[match(high[i], cells)]][ranks[i] - below[low[i]]]
      return(out)
    }
    new <- unlist(lapply(cells, function(h) {
      from <- max(edges[h - 1], 0)
      c(seq(from, edges[h], length.out = 300),
        exp(seq(log(max(from, edges[h] * 1e-16)), log(edges[h]), length.out = 300)),
        edges[h - 1] + (edges[h] - edges[h - 1]) / 2)
    }))
    new <- setdiff(sort(unique(new)), edges)
    seen <- count(new)
    all <- order(c(edges, new))
    edges <- c(edges, new)[all]
    below <- c(below, seen$count)[all]
  }
}

# ---- the plain fit ---------------------------------------------------------------------------------------------------

# geodesic_regression() of tables in chunks
#' @exportS3Method
fit_chunks.riemdp_chunks <- function(data, formula, M, call, na_action, loss, cutoff, origin, start, starts, tol,
                                     max_iter) {
  table <- scale_table(chunk_table(data, formula, M, call, na_action), origin)
  inner <- table$inner
  sample <- table_sample(table)
  given <- check_start(start, M, inner)
  fit_of <- function(loss, cutoff, given, tol, starts, constant = FALSE) {
    fit_table(table, sample, constant, loss, cutoff, given, tol, max_iter, starts)
  }
  fit <- fit_scaled(M, loss, cutoff, fit_of, function(now) table_quantiles(table, sample, 0.5, now), given, tol, starts)
  null <- fit_of(loss, fit$cutoff, NULL, tol, starts, constant = TRUE)
  foot <- new_points(fit$p, M)
  vectors <- new_points(fit$v, M, tangent = TRUE)
  outer <- outer_coefficients(M, foot, vectors, inner, table$names, TRUE)
  now <- list(p = as_single(foot), v = vectors)
  state <- c(as.vector(fit$p), as.vector(t(fit$v)))
  squares <- 2 * exact_total(ask_scaled(table, "energy", constant = FALSE, state = state,
                                        model = curve_loss()))[1]
  d <- mf_facts(M)$dimension
  parameters <- d * (1 + length(table$names))
  left <- table$n * d - parameters
  cross <- if (loss == "squared" && parameters <= CHUNK_PARAMETERS) {
    exact_total(unlist(ask_scaled(table, "crossproducts", p = now$p, v = now$v), recursive = FALSE))
  }
  first <- ask_table(table, "frame", only = table$here[1])[[1]]
  structure(list(
    coefficients = outer[c("p", "v")], r.squared = if (null$value > 0) 1 - fit$value / null$value else NA_real_,
    value = fit$value, null_value = null$value, sigma = if (left > 0) sqrt(squares / left) else NA_real_,
    df.residual = left, n = table$n, weight = table$total, log_weights = table$log_weights, squares = squares,
    cross = cross, quantiles = stats::setNames(table_quantiles(table, sample, (0:4) / 4, now), paste0(25 * (0:4), "%")),
    predictors = table$names, loss = loss, cutoff = fit$cutoff, converged = fit$converged,
    gradient_norm = fit$gradient_norm, gradient_floor = fit$gradient_floor,
    smoothing = fit$smoothing, iterations = fit$iterations, evaluations = fit$evaluations, starts = fit$starts,
    origin = outer$origin, manifold = M, call = call, formula = table$formula, part = table$part, terms = first$terms,
    xlevels = first$xlevels, contrasts = first$contrasts, points = first$points,
    inner = list(foot = as_single(foot), vectors = vectors, shift = inner$shift, scale = inner$scale)
  ), class = "riemdp_geodesic_regression_chunks")
}

# what chunks say of their records, by the name of a kernel
ask_table <- function(table, kernel, ..., each = NULL, only = table$here) {
  chunk_ask(table$data,
            list(kernel = kernel, formula = table$formula, M = table$M, counts = "frame", call = table$part, ...), each,
            only)
}

ask_scaled <- function(table, kernel, ..., each = NULL, only = table$here) {
  ask_table(table, kernel, ..., shift = table$inner$shift, scale = table$inner$scale, each = each, only = only)
}

# sums over all records of the products of (1, x), or (1, z)
table_products <- function(table, parts) matrix(exact_total(lapply(parts, `[[`, "sums")), length(table$names) + 1)

# A formula's tables in chunks: what to ask them (data, formula, M, part), the chunks that count (here, counts: their
# records without missing values, in the subset and with weight), n, the predictors' names, the sum of weights and those
# of the logarithms, and `raw`, the weighted means of the products of (1, x).
chunk_table <- function(data, formula, M, call, na_action) {
  check_chunks(data)
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument", "`formula` must have points on its left side and predictors on its right: y ~ x.")
  }
  environment(formula) <- baseenv()
  part <- call[c(1, match(c("subset", "weights", "na.action"), names(call), 0))]
  part[[1]] <- quote(geodesic_regression)
  part$na.action <- na_action
  table <- list(data = data, formula = formula, M = M, part = part, here = seq_along(data$pieces))
  seen <- ask_table(table, "design")
  counts <- vapply(seen, function(s) as.double(s$n), 0)
  table$here <- which(counts > 0)
  if (!length(table$here)) abort_riemdp("shape", NO_RECORD)
  seen <- seen[table$here]
  table$counts <- counts[table$here]
  table$n <- sum(table$counts)
  table$names <- seen[[1]]$names
  if (!all(vapply(seen, function(s) identical(s$names, table$names), NA))) {
    abort_riemdp("design",
                 paste("the columns of the model must be the same in every chunk: numbers, or factors with all levels",
                       "in each."))
  }
  raw <- table_products(table, seen)
  table$total <- raw[1, 1]
  table$raw <- raw / table$total
  table$log_weights <- if (is.null(part$weights)) 0 else exact_total(lapply(seen, `[[`, "logs"))
  table
}

# with `inner`, the predictors' origin, shift and scale, and `moments`, the means of the products of (1, z)
scale_table <- function(table, origin) {
  k <- length(table$names)
  raw <- table$raw
  if (identical(origin, "mean")) origin <- raw[1, -1]
  if (!is.numeric(origin) || is.object(origin) || !length(origin) %in% c(1, k) || !all(is.finite(origin))) {
    abort_riemdp("argument", "`origin` must be \"mean\", one number, or one for each column of the model matrix.")
  }
  origin <- unname(rep_len(as.double(origin), k))
  table$inner <- list(origin = origin, shift = if (k == 1) raw[1, 2] else origin, scale = rep(1, k))
  centred <- table_products(table, ask_scaled(table, "design")) / table$total
  scale <- sqrt(diag(centred)[-1])
  flat <- scale <= 1e-12 * sqrt(diag(raw)[-1]) | scale == 0
  if (any(flat)) {
    abort_riemdp("design", "the predictors and a constant must be linearly independent: leave out constant columns.")
  }
  table$inner$scale <- scale
  table$moments <- table_products(table, ask_scaled(table, "design")) / table$total
  unit <- table$moments / sqrt(outer(diag(table$moments), diag(table$moments)))
  if (table$n < k + 1 || qr(unit, tol = 1e-11)$rank < k + 1) {
    abort_riemdp("design", "the predictors and a constant must be linearly independent: leave out repeated columns.")
  }
  table
}

# a few records for starts, evenly spaced among those that count: list(z, y)
table_sample <- function(table) {
  at <- locate_records(table$counts, unique(round(seq(1, table$n, length.out = min(table$n, 1000)))))
  few <- ask_scaled(table, "sample", each = lapply(at$which, function(w) list(which = w)), only = table$here[at$chunk])
  list(z = do.call(rbind, lapply(few, `[[`, "z")), y = new_points(do.call(rbind, lapply(few, `[[`, "rows")), table$M))
}

# the C code's search; `constant`: without predictors
fit_table <- function(table, sample, constant, loss, cutoff, given, tol, max_iter, starts) {
  tally <- structure(list(n = table$n, total = table$total, energy = function(v) {
    model <- list(loss = v$loss, cutoff = v$cutoff, smoothing = v$smoothing, clip = Inf)
    exact_total(ask_scaled(table, "energy", constant = constant, state = v$state, model = model))
  }), class = "riemdp_tally")
  fit <- .Call(riemdp_regression_of, table$M, tally, sample$y, if (constant) sample$z[, 0, drop = FALSE] else sample$z,
               if (constant) 1 else as.vector(table$moments), given$p, given$v,
               curve_loss(loss, cutoff), fit_control(tol, max_iter, starts))
  fit$cutoff <- cutoff
  fit
}

# distances of the given ranks from a curve; the sample says where to look
table_order <- function(table, sample, ranks, now) {
  n <- table$n
  asked <- function(...) ask_scaled(table, "distance_order", p = now$p, v = now$v, ...)
  guess <- chunk_distances(list(M = table$M, p = now$p, v = now$v), sample)
  around <- unlist(lapply(ranks,
                          function(r) r / n + c(-2, 2) * sqrt(r / n * (1 - r / n) / length(guess)) +
                            c(-1, 1) / length(guess)))
  counted <- function(edges) {
    got <- asked(edges = edges)
    list(count = Reduce(`+`, lapply(got, `[[`, "count")), most = max(vapply(got, `[[`, 0, "most")),
         finite = sum(vapply(got, `[[`, 0, "finite")))
  }
  chunk_order(ranks, n, counted, function(low, high) unlist(asked(between = c(low, high))),
              stats::quantile(guess, clamp(around, 0, 1), names = FALSE))
}

table_quantiles <- function(table, sample, probs, now) { # type 7 of quantile(), and of median()
  rank <- 1 + (table$n - 1) * probs
  ends <- sort(unique(c(floor(rank), ceiling(rank))))
  sizes <- table_order(table, sample, ends, now)
  low <- sizes[match(floor(rank), ends)]
  high <- sizes[match(ceiling(rank), ends)]
  ifelse(low == high, low, low + (rank - floor(rank)) * (high - low))
}

# more of them have no covariance: its cross-products would be too many sums
CHUNK_PARAMETERS <- 100

#' Methods for geodesic regressions of records in chunks
#'
#' The fit holds no record: what is about single records takes them again.
#'
#' @param object,x a fit of [geodesic_regression()] for [chunks()].
#' @param newdata a data frame with new predictors.
#' @param data the records of the fit or others: in [chunks()], or a data frame or list.
#' @param digits digits to print.
#' @param ... not used.
#' @return
#' * `predict()`: points, as for fits in memory.
#' * `residuals()`: distances from the curve, one for each record that counts (no missing value, in the subset, positive
#'   weight), `Inf` where the response has none.
#' * `summary()`, `vcov()`, `deviance()`, `logLik()`: as in [regression-methods], from sums that were made with the fit.
#'   Quartiles of distances are exact. There is no `vcov()`, and no standard error, for more than 100 parameters.
#' * `glance()`: one row.
#' @examples
#' set.seed(1)
#' x <- runif(60)
#' y <- mf_exp(sphere(2), c(1, 0, 0), outer(x, c(0, 0.9, 0.6)))
#' records <- data.frame(x = x, w = rep(1:2, 30))
#' records$y <- mf_points(mf_project(sphere(2), y + rnorm(180, sd = 0.05)), sphere(2))
#' fit <- geodesic_regression(y ~ x, sphere(2), chunks(records, 25), weights = w)
#' summary(fit)
#' range(residuals(fit, records))
#' @name chunk-regression-methods
NULL

#' @rdname chunk-regression-methods
#' @export
print.riemdp_geodesic_regression_chunks <- function(x, digits = 4, ...) {
  cat(sprintf("Geodesic regression on %s, records in chunks (not private)\n", label_manifold(x$manifold)))
  cat(sprintf("  %s: %d steps, gradient norm %.2g\n", if (x$converged) "converged" else "NOT converged", x$iterations,
              x$gradient_norm))
  cat(sprintf("  %.0f records, loss %s, R squared %.*g, residual standard deviation %.*g a coordinate\n", x$n, x$loss,
              digits, x$r.squared,
              digits, x$sigma))
  cat("foot point\n")
  print(x$coefficients$p, digits = digits)
  cat(if (length(x$inner$scale) > 1) "shooting vectors" else "shooting vector", "\n")
  print(x$coefficients$v, digits = digits)
  invisible(x)
}

#' @export
coef.riemdp_geodesic_regression_chunks <- function(object, ...) object$coefficients

#' @export
nobs.riemdp_geodesic_regression_chunks <- function(object, ...) object$n

#' @export
formula.riemdp_geodesic_regression_chunks <- function(x, ...) x$formula

#' @export
df.residual.riemdp_geodesic_regression_chunks <- function(object, ...) object$df.residual

#' @rdname chunk-regression-methods
#' @export
predict.riemdp_geodesic_regression_chunks <- function(object, newdata, ...) {
  if (missing(newdata) || is.null(newdata)) {
    abort_riemdp("argument", "`newdata` must be given: the fit holds no records.")
  }
  predict.riemdp_geodesic_regression(object, newdata)
}

#' @rdname chunk-regression-methods
#' @export
residuals.riemdp_geodesic_regression_chunks <- function(object, data, ...) {
  if (missing(data) || is.null(data)) abort_riemdp("argument", "`data` must be given: the fit holds no records.")
  if (!is_chunks(data)) data <- chunks(list(data))
  check_chunks(data)
  inner <- object$inner
  unlist(chunk_ask(data,
                   list(kernel = "distance_order", formula = object$formula, M = object$manifold, counts = "frame",
                        call = object$part,
                        shift = inner$shift, scale = inner$scale, p = inner$foot, v = inner$vectors)))
}

#' @rdname chunk-regression-methods
#' @export
deviance.riemdp_geodesic_regression_chunks <- function(object, ...) {
  if (object$loss == "squared") object$squares else object$value * object$weight
}

#' @rdname chunk-regression-methods
#' @export
logLik.riemdp_geodesic_regression_chunks <- function(object, ...) normal_likelihood(object, object$log_weights)

#' @rdname chunk-regression-methods
#' @export
vcov.riemdp_geodesic_regression_chunks <- function(object, ...) {
  need_squared(object, "this covariance")
  if (is.null(object$cross)) {
    abort_riemdp("unsupported",
                 sprintf("for records in chunks there is no covariance of more than %d parameters.",
                         as.integer(CHUNK_PARAMETERS)))
  }
  width <- mf_facts(object$manifold)$dimension * (1 + length(object$predictors))
  a <- matrix(0, width, width)
  a[lower.tri(a, TRUE)] <- object$cross
  vcov_from(object, tryCatch(chol(t(a)), error = function(e) NULL), object$predictors)
}

#' @rdname chunk-regression-methods
#' @export
summary.riemdp_geodesic_regression_chunks <- function(object, ...) {
  fit_summary(object, speed_table(object, object$predictors, if (!is.null(object$cross)) stats::vcov(object)),
              object$quantiles)
}

#' @rdname chunk-regression-methods
#' @export
glance.riemdp_geodesic_regression_chunks <- function(x, ...) fit_glance(x)

# what regressions along curves ask of the records of a chunk
CURVE_KERNELS <- list(
  # plain regression: predictors of a chunk's model frame (a matrix with names), and sums over its records
  design = function(q, x) {
    d <- chunk_design(q, x)
    if (is.null(d)) return(list(n = 0))
    list(names = colnames(d$x), n = nrow(d$x), sums = exact_rows(design_products(d$z, d$w)),
         logs = if (!is.null(d$w)) exact_rows(matrix(log(d$w))))
  },
  frame = function(q, x) {
    d <- chunk_design(q, x)
    full <- stats::model.matrix(stats::delete.response(d$frame$terms), d$frame$model)
    terms <- d$frame$terms
    environment(terms) <- baseenv()
    list(terms = terms, xlevels = stats::.getXlevels(d$frame$terms, d$frame$model), contrasts = attr(full, "contrasts"),
         points = d$frame$points)
  },
  sample = function(q, x) {
    d <- chunk_design(q, x)
    list(z = d$z[q$which, , drop = FALSE], rows = as.matrix(d$y)[q$which, , drop = FALSE])
  },
  energy = function(q, x) {
    d <- chunk_design(q, x)
    .Call(riemdp_chunk_regression, q$M, q$state, if (q$constant) d$z[, 0, drop = FALSE] else d$z, d$y, d$w, q$model)
  },
  # how many distances from a curve are at most as large as each of `edges`, those in between, or all
  distance_order = function(q, x) {
    d <- chunk_design(q, x)
    size <- if (is.null(d)) double() else chunk_distances(q, d)
    if (!is.null(q$between)) return(size[size > q$between[1] & size <= q$between[2]])
    if (is.null(q$edges)) return(size)
    here <- size[is.finite(size)]
    list(count = findInterval(q$edges, sort(here)), most = max(-1, here), finite = as.double(length(here)))
  },
  crossproducts = function(q, x) {
    chunk_crossproducts(q, chunk_design(q, x))
  }
)
