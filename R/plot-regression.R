# Pictures of geodesic regressions: the curve among its records, and residuals.

# colours along a predictor: dark to light, ordered in grey as well
ramp_colours <- function(n) grDevices::hcl.colors(max(n, 2), "Viridis")[seq_len(n)]

#' @rdname regression-methods
#' @param which `"curve"`: records and fitted geodesic (a globe for the sphere, Poincare's disc, outlines for planar
#'   shapes, ellipses along the predictor for positive definite matrices, the plane, else two tangent coordinates); with
#'   several predictors the fitted points. `"residuals"`: distances against the predictor (or the order of records),
#'   with the .95 quantile of the normal model, and the squared distances against their chi-squared quantiles.
#' @param n points drawn along the curve.
#' @param main title.
#' @export
plot.riemdp_geodesic_regression <- function(x, which = c("curve", "residuals"), n = 101, main = "", ...) {
  which <- check_choice(which, "which", c("curve", "residuals"))
  n <- check_count(n, "n", least = 2, most = 1e5)
  if (which == "residuals") plot_residuals(x, main, ...) else plot_curve(x, n, main, ...)
  invisible(x)
}

# list(x = predictor values, points): the curve for one predictor, else NULL
curve_of <- function(fit, n) {
  x <- predictors_of(fit)
  if (ncol(x) != 1) {
    return(NULL)
  }
  at <- seq(min(x), max(x), length.out = n)
  list(x = at, points = curve_points(fit, matrix(at)))
}

plot_curve <- function(fit, n, main, ...) {
  M <- fit$manifold
  x <- predictors_of(fit)
  records <- response_of(fit)
  if (picture(M) == "ellipse") {
    return(plot_ellipses_along(fit, x, records, main, ...))
  }
  if (picture(M) == "outline") {
    return(plot_outlines_along(fit, x, records, main, ...))
  }
  line <- curve_of(fit, n)
  if (inherits(M, "riemdp_euclidean") && M$param == 1 && !is.null(line)) {
    graphics::plot.default(x, as.matrix(records), pch = 20, col = COLOURS[["record"]], xlab = colnames(x),
                           ylab = response_name(fit), main = main, cex.main = 0.85, ...)
    graphics::lines(line$x, as.matrix(line$points), col = COLOURS[["mean"]], lwd = 2)
    return(NULL)
  }
  middle <- curve_middle(fit, x)
  fitted <- if (is.null(line)) {
    list(x = as.array(fit$fitted.values), type = "points", col = COLOURS[["mean"]], pch = 17, label = "fitted points")
  } else {
    list(x = as.array(line$points), type = "line", col = COLOURS[["mean"]], label = "fitted geodesic")
  }
  layers <- list(list(x = as.array(records), type = "points", col = COLOURS[["record"]], pch = 20, label = "records"),
                 fitted)
  if (!is.null(line)) {
    layers <- c(layers, list(list(x = as.array(line$points[1]), type = "points", col = COLOURS[["mean"]], pch = 19,
                                  cex = 1.3, label = sprintf("%s = %s", colnames(x), format(line$x[1], digits = 3)))))
  }
  plot_layers(M, layers, middle, main, TRUE, ...)
}

# the fitted point at the middle of the predictors
curve_middle <- function(fit, x) {
  as_single(curve_points(fit, matrix(apply(x, 2, function(a) mean(range(a))), 1)))
}

# Ellipses set along the predictor: records in grey, fitted ones at even steps. With several predictors a few records,
# in their order, and their fitted values.
plot_ellipses_along <- function(fit, x, records, main, ...) {
  steps <- 7
  M <- fit$manifold
  k <- mf_facts(M)$rows
  line <- curve_of(fit, steps)
  if (is.null(line)) {
    few <- unique(round(seq(1, nrow(x), length.out = min(nrow(x), 2 * steps))))
    x <- x[few, , drop = FALSE]
    records <- records[few]
    fit$fitted.values <- fit$fitted.values[few]
  }
  at <- if (is.null(line)) few else x[, 1]
  goal <- if (is.null(line)) at else line$x
  outlines <- c(closed_curves(M, records), closed_curves(M, if (is.null(line)) fit$fitted.values else line$points))
  size <- stats::quantile(vapply(outlines, function(o) max(abs(o)), 0), 0.9)
  across <- if (is.null(line)) length(few) else steps
  wide <- max(diff(range(at)), 1e-300) / (2.2 * across) / size
  graphics::plot.default(NA, xlim = range(at) + c(-1, 1) * diff(range(at)) / (1.8 * steps),
                         ylim = c(-1, 1.2) * max(vapply(outlines, function(o) max(abs(o[, 2])), 0)),
                         xlab = if (is.null(line)) "record" else colnames(x), ylab = if (k > 1) "variable 2" else "",
                         main = main, cex.main = 0.85, ...)
  draw <- function(o, centre, col, lwd) graphics::lines(centre + wide * o[, 1], o[, 2], col = col, lwd = lwd)
  pale <- grDevices::adjustcolor(COLOURS[["record"]], min(1, 12 / length(at) + 0.15))
  for (i in seq_along(at)) draw(outlines[[i]], at[i], pale, 1)
  for (i in seq_along(goal)) draw(outlines[[length(at) + i]], goal[i], COLOURS[["mean"]], 2.5)
  graphics::legend("topright", c("records", "fitted"), col = c(COLOURS[["record"]], COLOURS[["mean"]]), lwd = c(1, 2.5),
                   bty = "n")
}

plot_outlines_along <- function(fit, x, records, main, ...) {
  M <- fit$manifold
  steps <- 6
  line <- curve_of(fit, steps)
  middle <- curve_middle(fit, x)
  fitted <- if (is.null(line)) fit$fitted.values else line$points
  behind <- as_outlines(M, as.array(records), middle)
  front <- as_outlines(M, as.array(fitted), middle)
  all <- do.call(rbind, c(behind, front))
  blank(all[, 1], all[, 2], main, axes = FALSE, ...)
  graphics::points(do.call(rbind, behind), pch = 20, cex = 0.4, col = COLOURS[["record"]])
  cols <- ramp_colours(length(front))
  for (i in seq_along(front)) graphics::lines(linked_path(front[[i]], M), col = cols[i], lwd = 2)
  if (!is.null(line)) {
    graphics::legend("topright", format(line$x, digits = 3), col = cols, lwd = 2, bty = "n", title = colnames(x),
                     cex = 0.8)
  }
}

plot_residuals <- function(fit, main, ...) {
  x <- predictors_of(fit)
  d <- mf_facts(fit$manifold)$dimension
  size <- fit$residuals
  at <- if (ncol(x) == 1) x[, 1] else seq_along(size)
  old <- graphics::par(mfrow = c(1, 2))
  on.exit(graphics::par(old))
  bound <- fit$sigma * sqrt(stats::qchisq(0.95, d))
  graphics::plot.default(at, size, ylim = c(0, max(size, bound, na.rm = TRUE)), pch = 20, col = COLOURS[["record"]],
                         xlab = if (ncol(x) == 1) colnames(x) else "record", ylab = "distance from the prediction",
                         main = main, cex.main = 0.85, ...)
  if (is.finite(bound)) {
    graphics::abline(h = bound, lty = 2, col = COLOURS[["mean"]])
    graphics::mtext(".95 quantile of the normal model", side = 3, adj = 1, line = 0.2, cex = 0.7,
                    col = COLOURS[["mean"]])
  }
  scaled <- sort((size / fit$sigma)^2)
  if (length(scaled) == length(size) && all(is.finite(scaled))) {
    q <- stats::qchisq(stats::ppoints(length(scaled)), d)
    graphics::plot.default(q, scaled, pch = 20, col = COLOURS[["record"]],
                           xlab = sprintf("chi-squared quantiles (%d)", as.integer(d)),
                           ylab = "squared distance / variance", main = "")
    graphics::abline(0, 1, col = COLOURS[["mean"]])
  }
}

# ellipses side by side along a predictor
plot_ellipse_row <- function(M, points, at, name, main, ...) {
  k <- mf_facts(M)$rows
  outlines <- closed_curves(M, points)
  size <- max(vapply(outlines, function(o) max(abs(o)), 0))
  wide <- diff(range(at)) / (2.2 * length(at)) / size
  graphics::plot.default(NA, xlim = range(at) + c(-1, 1) * diff(range(at)) / (1.8 * length(at)), ylim = c(-1, 1) * size,
                         xlab = name, ylab = if (k > 1) "variable 2" else "", main = main, cex.main = 0.85, ...)
  for (i in seq_along(at)) {
    graphics::lines(at[i] + wide * outlines[[i]][, 1], outlines[[i]][, 2], col = COLOURS[["release"]], lwd = 2.5)
  }
}

#' @rdname spline_regression
#' @export
plot.riemdp_spline_regression <- function(x, ...) {
  M <- x$manifold
  at <- function(m) matrix(seq(-1, 1, length.out = m) * x$columns$half, 1)
  if (picture(M) == "ellipse") {
    plot_ellipse_row(M, spline_at(x, at(9), x$coefficients), x$columns$middle + as.vector(at(9)), x$columns$name, "",
                     ...)
  } else {
    plot_layers(M, list(
      list(x = as.array(x$response), type = "points", col = COLOURS[["record"]], pch = 20, label = "records"),
      list(x = spline_at(x, at(201), x$coefficients), type = "line", col = COLOURS[["mean"]], label = "fitted curve")
    ), x$center, "", TRUE, ...)
  }
  invisible(x)
}
