# Geodesic regression over tables in chunks: steps, solvers and samplers as in memory, their sums over records from chunk_ask().

# What takes the place of the responses. Variables come from the chunks: a formula's environment isn't sent to workers.
regression_chunks <- function(formula, M, data, x_range) {
  check_chunks(data)
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument", "`formula` must have points on its left side and predictors on its right: y ~ x.")
  }
  environment(formula) <- baseenv()
  spec <- private_predictors(formula, NULL, x_range)
  environment(spec$formula) <- baseenv()
  structure(list(formula = formula, M = M, data = data, spec = spec), class = "regression_chunks")
}

chunked_method <- function(method) {
  if (identical(method, "paper")) {
    abort_riemdp("unsupported", "method = \"paper\" is not available for records in chunks: it is for study, and looks at all records at once.")
  }
}

# the curator's check
check_responses <- function(y) {
  found <- chunk_ask(y$data, list(kernel = "regression_check", M = y$M, formula = y$formula, counts = "frame"), private = TRUE)
  bad <- which(lengths(found) > 0)[1]
  if (!is.na(bad)) abort_riemdp(sub("^riemdp_error_", "", found[[bad]]$class), sprintf("chunk %d: %s", bad, found[[bad]]$message))
  y
}

# What regression_steps() sees of the records: sums over them. The frame is made here, once, and sent.
chunk_steps <- function(y, state, ask, frame) {
  ask_all <- function(kernel, ...) {
    exact_total(chunk_ask(y$data, list(kernel = kernel, M = y$M, formula = y$formula, spec = y$spec, state = state, frame = frame,
                                       ask = ask[c("speed", "reach", "q", "k")], counts = "frame", ...), private = TRUE))
  }
  list(
    frame = frame[[1]], lambda = frame[[2]], sum = function(tau) matrix(ask_all("regression", tau = tau), ask$q),
    perturbed = function(most, loss) {
      shape <- c(ask$q, 1 + ask$k)
      perturbed_tally(chunk_count(y$data), shape, function(b, hessian) {
        ask_all("regression_perturbed", most = most, loss = loss, b = matrix(b, shape[1]), hessian = hessian)
      })
    }
  )
}

# What riemdp_release_perturbed takes for the records. Solvers ask for the Hessian where they have just been for the gradient: both come in
# one pass, unless the Hessian is large.
perturbed_tally <- function(n, shape, sums) {
  m <- prod(shape)
  last <- NULL
  structure(list(n = n, sums = function(v) {
    hessian <- v[1] == 1
    b <- v[-1]
    if (is.null(last) || !identical(last$b, b) || (hessian && length(last$sums) == m)) {
      last <<- list(b = b, sums = sums(b, hessian || m <= 60))
    }
    if (hessian) last$sums else last$sums[seq_len(m)]
  }), class = "riemdp_tally")
}

# a chunk's responses and predictors as private calls see them
chunk_private <- function(q, x) {
  y <- private_response(q$formula, x, baseenv())
  list(y = y, x = private_columns(q$spec, x, baseenv(), .Call(riemdp_count, q$M, y)))
}

# ---- the K-norm gradient mechanism ------------------------------------------------------------------------------------------

# trials that share a pass
KNG_TOGETHER <- 32

# mean clipped gradients at some candidates (2 x q each), in one pass
chunk_pull <- function(y, at, rule, reach) {
  sums <- exact_total(chunk_ask(y$data, list(
    kernel = "regression_pull", M = y$M, formula = y$formula, spec = y$spec, at = lapply(at, `[`, c("p", "b", "speed")), rule = rule,
    reach = reach, counts = "frame"
  ), private = TRUE))
  q <- length(at[[1]]$b)
  lapply(seq_along(at), function(i) matrix(sums[(i - 1) * 2 * q + seq_len(2 * q)], 2, byrow = TRUE) / chunk_count(y$data))
}

# ---- plain --------------------------------------------------------------------------------------------------------------------

# A chunk's design: list(x, z = (x - shift)/scale, y). Model frames of chunks are made one by one, so what a formula computes
# must be about single records.
chunk_design <- function(q, data) {
  frame <- regression_frame(q$formula, q$M, data, quote(geodesic_regression()), baseenv())
  design <- regression_design(frame)
  x <- unname_rows(design$x)
  z <- unname(x)
  if (!is.null(q$shift)) z <- (z - rep(q$shift, each = nrow(z))) / rep(q$scale, each = nrow(z))
  list(x = x, z = z, y = design$y, frame = frame)
}

unname_rows <- function(x) {
  rownames(x) <- NULL
  x
}

# products of (1, z), a row for each record
design_products <- function(z) {
  one <- cbind(1, z)
  k <- ncol(one)
  one[, rep(seq_len(k), k), drop = FALSE] * one[, rep(seq_len(k), each = k), drop = FALSE]
}

# geodesic_regression() of tables in chunks
chunk_geodesic <- function(formula, M, data, call, loss, cutoff, origin, start, starts, tol, max_iter) {
  check_chunks(data)
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument", "`formula` must have points on its left side and predictors on its right: y ~ x.")
  }
  if (loss == "huber" && is.null(cutoff)) {
    abort_riemdp("unsupported",
                 "for records in chunks the Huber loss needs a `cutoff`: its own scale is a median of all records.")
  }
  environment(formula) <- baseenv()
  ask <- function(kernel, ..., each = NULL, only = seq_along(data$pieces)) {
    chunk_ask(data, list(kernel = kernel, formula = formula, M = M, counts = "frame", ...), each, only)
  }
  # predictors: names, mean products of (1, x), then of (1, z)
  seen <- ask("design")
  names <- seen[[1]]$names
  if (!all(vapply(seen, function(s) identical(s$names, names), NA))) {
    abort_riemdp("design",
                 "the columns of the model must be the same in every chunk: numbers, or factors with all levels in each.")
  }
  k <- length(names)
  n <- sum(vapply(seen, function(s) as.double(s$n), 0)) # records without missing values
  products <- function(parts) matrix(exact_total(lapply(parts, `[[`, "sums")) / n, k + 1)
  raw <- products(seen)
  inner <- list(origin = NULL, shift = NULL, scale = NULL)
  if (identical(origin, "mean")) origin <- raw[1, -1]
  if (!is.numeric(origin) || is.object(origin) || !length(origin) %in% c(1, k) || !all(is.finite(origin))) {
    abort_riemdp("argument", "`origin` must be \"mean\", one number, or one for each column of the model matrix.")
  }
  inner$origin <- unname(rep_len(as.double(origin), k))
  inner$shift <- if (k == 1) raw[1, 2] else inner$origin
  centred <- products(ask("design", shift = inner$shift, scale = rep(1, k)))
  inner$scale <- sqrt(diag(centred)[-1])
  flat <- inner$scale <= 1e-12 * sqrt(diag(raw)[-1]) | inner$scale == 0
  if (any(flat)) abort_riemdp("design", "the predictors and a constant must be linearly independent: leave out constant columns.")
  moments <- products(ask("design", shift = inner$shift, scale = inner$scale))
  unit <- moments / sqrt(outer(diag(moments), diag(moments)))
  if (n < k + 1 || qr(unit, tol = 1e-11)$rank < k + 1) {
    abort_riemdp("design", "the predictors and a constant must be linearly independent: leave out repeated columns.")
  }
  # a few records for starts, evenly spaced among those that count
  counts <- vapply(seen, function(s) as.double(s$n), 0)
  at <- locate_records(counts, unique(round(seq(1, n, length.out = min(n, 1000)))))
  few <- ask("sample", shift = inner$shift, scale = inner$scale, each = lapply(at$which, function(w) list(which = w)),
             only = at$chunk)
  z <- do.call(rbind, lapply(few, `[[`, "z"))
  y <- new_points(do.call(rbind, lapply(few, `[[`, "rows")), M)
  given <- check_start(start, M, inner)
  fit_one <- function(constant, cutoff, given) {
    tally <- structure(list(n = n, energy = function(v) {
      exact_total(ask("energy", shift = inner$shift, scale = inner$scale, constant = constant, state = v[-(1:3)],
                      numbers = c(v[1:3], Inf)))
    }), class = "riemdp_tally")
    numbers <- c(match(loss, LOSSES), cutoff %||% Inf, 0, Inf, tol, max_iter, 10, starts)
    .Call(riemdp_regression_of, M, tally, y, if (constant) z[, 0, drop = FALSE] else z, if (constant) 1 else as.vector(moments),
          given$p, given$v,
          numbers)
  }
  fit <- fit_one(FALSE, cutoff, given)
  null <- fit_one(TRUE, cutoff, NULL)
  foot <- new_points(fit$p, M)
  vectors <- new_points(fit$v, M, tangent = TRUE)
  outer <- outer_coefficients(M, foot, vectors, inner, names, TRUE)
  state <- c(as.vector(fit$p), as.vector(t(fit$v)))
  squares <- exact_total(ask("energy", shift = inner$shift, scale = inner$scale, constant = FALSE, state = state,
                             numbers = c(1, Inf, 0, Inf)))
  d <- mf_facts(M)$dimension
  left <- n * d - d * (1 + k)
  first <- chunk_frame(data, formula, M)
  structure(list(
    coefficients = outer[c("p", "v")], r.squared = if (null$value > 0) 1 - fit$value / null$value else NA_real_,
    value = fit$value, null_value = null$value, sigma = if (left > 0) sqrt(2 * squares[1] / left) else NA_real_,
    df.residual = left, n = n, loss = loss, cutoff = cutoff, converged = fit$converged, gradient_norm = fit$gradient_norm,
    gradient_floor = fit$gradient_floor, smoothing = fit$smoothing, iterations = fit$iterations,
    evaluations = fit$evaluations, starts = fit$starts, origin = outer$origin, manifold = M, call = call, terms = first$terms,
    xlevels = first$xlevels, contrasts = first$contrasts, points = first$points,
    inner = list(foot = as_single(foot), vectors = vectors, shift = inner$shift, scale = inner$scale)
  ), class = "geodesic_regression_chunks")
}

# what predict() needs of a model frame: no record
chunk_frame <- function(data, formula, M) {
  chunk_ask(data, list(kernel = "frame", formula = formula, M = M, counts = "frame"), only = 1)[[1]]
}

#' @export
print.geodesic_regression_chunks <- function(x, digits = 4, ...) {
  cat(sprintf("Geodesic regression on %s, records in chunks (not private)\n", label_manifold(x$manifold)))
  cat(sprintf("  %s: %d steps, gradient norm %.2g\n", if (x$converged) "converged" else "NOT converged", x$iterations,
              x$gradient_norm))
  cat(sprintf("  %.0f records, loss %s, R squared %.*g, residual standard deviation %.*g a coordinate\n", x$n, x$loss, digits,
              x$r.squared,
              digits, x$sigma))
  cat("foot point\n")
  print(x$coefficients$p, digits = digits)
  cat(if (length(x$inner$scale) > 1) "shooting vectors" else "shooting vector", "\n")
  print(x$coefficients$v, digits = digits)
  invisible(x)
}

#' @export
coef.geodesic_regression_chunks <- function(object, ...) object$coefficients

#' @export
nobs.geodesic_regression_chunks <- function(object, ...) object$n

#' @export
predict.geodesic_regression_chunks <- function(object, newdata, ...) {
  if (missing(newdata) || is.null(newdata)) abort_riemdp("argument", "`newdata` must be given: the fit holds no records.")
  predict.geodesic_regression(object, newdata)
}
