# Pictures of releases, plans and guarantees.

#' @rdname plot.riemdp_guarantee
#' @export
plot.riemdp_guarantee <- function(x, main = format(x, ascii = TRUE), ...) {
  alpha <- seq(0, 1, length.out = 401)
  beta <- if (x$label == "none") 0 * alpha else {
    pmax(0, 1 - x$delta - exp(x$epsilon) * alpha, exp(-x$epsilon) * (1 - x$delta - alpha))
  }
  blank(alpha, c(0, 1), main, xlab = "type I error", ylab = "smallest type II error", ...)
  graphics::abline(1, -1, lty = 3, col = "grey50")
  graphics::lines(alpha, beta, lwd = 2, col = COLOURS[["release"]])
  invisible(x)
}

#' @rdname dp_mean_plan
#' @param x a plan.
#' @param against `"n"`, `"epsilon"` or both.
#' @param points number of grid points from a tenth to ten times the plan's value.
#' @export
plot.riemdp_mean_plan <- function(x, ..., against = c("n", "epsilon"), points = 9) {
  against <- match.arg(against, several.ok = TRUE)
  points <- check_count(points, "points", least = 2, most = 200)
  ask <- attr(x, "ask")
  drawn <- plan_curves(x)
  if (!nrow(x)) plan_drawn(x) # which raises
  below <- unlist(lapply(plan_undrawn(x), strwrap, width = 140, exdent = 4))
  # the lines below have their share of the height
  old <- graphics::par(mfrow = c(1, length(against)), mar = c(4.5, 4.5, 2, 1),
                       oma = c(0.5 + 0.75 * length(below), 0, 0, 0))
  on.exit(graphics::par(old))
  staged <- x[x$mechanism == "adaptive" & !is.na(x$expected_error), , drop = FALSE]
  for (what in against) {
    e <- if (length(drawn)) plan_errors(x, what, points)
    name <- if (what == "n") "number of records" else "epsilon"
    here <- if (what == "n") staged$n else staged$nominal_epsilon
    colours <- rep_len(riemdp_colours(7), length(drawn))
    limits <- range(e$errors, staged$expected_error, ask$ball$radius, na.rm = TRUE)
    at <- e$grid %||% ((if (what == "n") ask$n else ask$total) * c(0.1, 10))
    graphics::plot.default(range(at, here), limits, type = "n", log = "xy", xlab = name,
                           ylab = "expected error of the privacy noise", ...)
    if (length(drawn)) graphics::matlines(e$grid, t(e$errors), type = "b", pch = seq_along(drawn), lty = 1, lwd = 1.5,
                                          col = colours)
    graphics::points(here, staged$expected_error, pch = 8, cex = 1.3)
    graphics::abline(h = ask$ball$radius, lty = 3, col = "grey50")
    graphics::abline(v = if (what == "n") ask$n else ask$total, lty = 3, col = "grey80")
    one <- nrow(staged) > 0
    if (one || length(drawn)) graphics::legend(
      "bottomleft", c(drawn, if (one) "adaptive"), col = c(colours, if (one) "black"),
      pch = c(seq_along(drawn), if (one) 8), lty = c(rep(1, length(drawn)), if (one) NA), bty = "n",
      cex = 0.8
    )
  }
  for (i in seq_along(below)) {
    graphics::mtext(below[i], 1, line = 0.75 * i - 0.6, outer = TRUE, at = 0.01, adj = 0, cex = 0.55, col = "grey30")
  }
  invisible(x)
}

#' @rdname dp_bounds_plan
#' @export
plot.riemdp_bounds_plan <- function(x, ...) {
  curve <- as.data.frame(x)
  here <- curve[curve$center == x$best & !is.na(curve$total), ]
  shown <- c(clipping = "clipping", noise = "privacy noise", total = "both")
  colours <- stats::setNames(riemdp_colours(3), names(shown))
  errors <- c(unlist(curve[names(shown)]), x$error)
  drawn <- errors[which(errors > 1e-3 * max(here$noise))]
  graphics::plot.default(range(curve$radius, x$radius), range(drawn), type = "n", log = "xy",
                         xlab = "radius of the public ball", ylab = "error", ...)
  for (k in setdiff(unique(curve$center), x$best)) {
    graphics::lines(curve$radius[curve$center == k], curve$total[curve$center == k], col = "grey75")
  }
  for (name in names(shown)) {
    wide <- if (name == "total") 3 else 1.5
    graphics::lines(here$radius, pmax(here[[name]], 1e-300), col = colours[[name]], lwd = wide)
  }
  graphics::abline(v = x$radius, lty = 3, col = "grey50")
  graphics::points(x$radius, x$error, pch = 19, cex = 1.4, col = COLOURS[["release"]])
  others <- length(unique(curve$center)) > 1
  graphics::legend("bottomright",
                   c(shown, sprintf("best radius, %.3g", x$radius), if (others) "both, other centres"),
                   col = c(colours, COLOURS[["release"]], if (others) "grey75"),
                   pch = c(NA, NA, NA, 19, if (others) NA),
                   lty = c(1, 1, 1, NA, if (others) 1), lwd = c(1.5, 1.5, 3, NA, if (others) 1), bg = "white",
                   box.lty = 0, cex = 0.8)
  graphics::box()
  graphics::mtext(x$source, 3, line = 0.4, cex = 0.75, col = "grey30")
  invisible(x)
}

#' @rdname predict.riemdp_lm
#' @export
plot.riemdp_lm <- function(x, level = 0.95, ...) {
  whole_release(x)
  level <- check_level(level)
  numeric <- length(x$bounds$x) == 1 && !is.null(x$bounds$x[[1]]$range)
  if (!numeric) {
    table <- made_by_dp_lm(x, cbind(tidy(x), confint(x, level = level)))
    at <- rev(seq_len(nrow(table)))
    limits <- range(0, table$estimate, table[[5]], table[[6]], finite = TRUE)
    graphics::plot(limits, range(at), type = "n", yaxt = "n",
                   xlab = "released coefficient, and what noise may have added", ylab = "",
                   bty = "n", main = paste(deparse(x$formula, 500L), collapse = " "))
    graphics::axis(2, at, rownames(table), las = 1, tick = FALSE, cex.axis = 0.8)
    graphics::abline(v = 0, lty = 3, col = "grey50")
    graphics::segments(table[[5]], at, table[[6]], at, col = COLOURS[["release"]])
    graphics::points(table$estimate, at, pch = 19, col = COLOURS[["release"]])
    return(invisible(x))
  }
  # over the public range; a variable that is a call is drawn on its own scale
  u <- seq(x$bounds$x[[1]]$range[1], x$bounds$x[[1]]$range[2], length.out = 101)
  made_by_dp_lm(x, {
    design <- cbind(1, column_values(x$columns, x$bounds, list(u)))
    value <- as_matrix_value(x)
    cov <- noise_covariance(x)
    width <- vapply(cov, function(c) stats::qnorm((1 + level) / 2) * sqrt(rowSums((design %*% c) * design)),
                    numeric(101))
    fit <- design %*% value
    q <- ncol(value)
    inverse <- if (inherits(x, "riemdp_glm")) glm_families()[[x$family]]$inverse else identity
    old <- graphics::par(mar = c(4, 4, if (q > 1) 1 else 3, 1), mgp = c(2.2, 0.7, 0))
    # several responses share the page, unless a layout of the caller's does that
    if (q > 1 && all(graphics::par("mfrow") == 1)) old <- c(old, graphics::par(mfrow = grDevices::n2mfrow(q)))
    on.exit(graphics::par(old))
    for (j in seq_len(q)) {
      middle <- inverse(fit[, j])
      low <- inverse(fit[, j] - width[, j])
      high <- inverse(fit[, j] + width[, j])
      graphics::plot(range(u), range(middle, low, high, finite = TRUE), type = "n",
                     xlab = (x$spec$ranged %||% names(x$spec$predictors))[1], ylab = colnames(value)[j], bty = "n", ...)
      if (all(is.finite(width[, j]))) {
        graphics::polygon(c(u, rev(u)), c(low, rev(high)), border = NA,
                          col = grDevices::adjustcolor(COLOURS[["release"]], 0.2))
      }
      graphics::lines(u, middle, col = COLOURS[["release"]], lwd = 2)
    }
  })
  invisible(x)
}

#' @rdname dp_lm_plan
#' @export
plot.riemdp_lm_plan <- function(x, ...) {
  check_plan(x)
  show <- x[!is.na(x$expected_error), , drop = FALSE]
  at <- rev(seq_len(nrow(show)))
  values <- c(show$expected_error, show$high, attr(x, "signal"))
  graphics::plot(range(values[values > 0]), range(c(at, 0.5)), type = "n", log = "x", yaxt = "n", ylab = "", bty = "n",
                 xlab = "expected excess of the mean squared error", main = "Private linear regression")
  graphics::axis(2, at, show$method, las = 1, tick = FALSE)
  graphics::abline(v = attr(x, "signal"), lty = 3, col = "grey50")
  graphics::points(show$expected_error, at, pch = ifelse(show$chosen, 19, 21), col = COLOURS[["release"]])
  graphics::points(show$high, at, pch = 4, col = COLOURS[["mean"]])
  graphics::legend("bottomright", c("at the guess of R-squared", "at .95", "constant fit"), pch = c(19, 4, NA),
                   lty = c(NA, NA, 3), col = c(COLOURS[["release"]], COLOURS[["mean"]], "grey50"), bty = "n", cex = 0.8)
  invisible(x)
}

#' Trace of a private run
#'
#' Draws the length of the noisy gradient against the step, noisy quantities only, and as a dotted line the length that
#' noise alone would have.
#'
#' @param x a release of [dp_optimize()].
#' @param main title.
#' @param ... further arguments of [graphics::plot.default()].
#' @return The release, invisibly.
#' @examples
#' plot(dp_optimize(problem_huber(spd(2), 1), wishart_spd, epsilon = 1, delta = 1e-6, start = diag(2)))
#' @export
plot.riemdp_optimize <- function(x, main = "length of the noisy gradient", ...) {
  noise <- x$sd * sqrt(mf_facts(x$manifold)$dimension)
  given <- list(...)
  looks <- list(type = "l", xlab = "step", ylab = "", ylim = range(0, noise, x$trace$gradient_norm), lwd = 2,
                col = riemdp_colours(1))
  do.call(graphics::plot.default,
          c(list(x$trace$step, x$trace$gradient_norm, main = main), looks[setdiff(names(looks), names(given))], given))
  graphics::abline(h = noise, lty = 3, lwd = 2, col = "grey40")
  invisible(x)
}

#' Picture of a private geodesic regression
#'
#' The released curve over the public range, with the public ball of the foot point: on a globe for the sphere, in
#' Poincare's disc, ellipses along the predictor for positive definite matrices, outlines for planar shapes. Public and
#' released quantities only.
#'
#' @param x a release of [dp_regression()] with one predictor.
#' @param main title.
#' @param level of the band drawn around the curve where points can be drawn in a plane, or `NULL` for none; see
#'   [confint.riemdp_regression()].
#' @param residual a release of [dp_residual_scale()] for this curve: the band is about the population.
#' @param ... further arguments of the plot.
#' @return The release, invisibly.
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' y <- mf_exp(sphere(2), c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
#' plot(dp_regression(y ~ x, sphere(2), epsilon = 2, center = c(0, 0, 1), radius = 0.4,
#'                    speed = 1.5, residual_bound = 0.1, bounds = c(0, 1)))
#' @export
plot.riemdp_regression <- function(x, main = format(x$guarantee, ascii = TRUE), level = 0.95, residual = NULL, ...) {
  M <- x$manifold
  if (nrow(x$columns) != 1) abort_riemdp("argument", "only curves, of one predictor, can be drawn.")
  at <- function(m) seq(-1, 1, length.out = m) * x$columns$half
  points <- function(m) curve_of_state(M, x$value, matrix(at(m), 1))
  shown <- function(m) x$columns$middle + at(m)
  if (picture(M) == "outline") {
    plot_curves(M, closed_curves(M, points(6), x$center), ramp_colours(6), rep(2, 6), main,
                list(label = format(shown(6), digits = 3), col = ramp_colours(6)), ...)
  } else if (picture(M) == "ellipse") {
    plot_ellipse_row(M, points(7), shown(7), x$columns$name, main, ...)
  } else {
    edge <- circle_points(M, x$center, x$radius)
    layers <- list(list(x = points(101), type = "line", col = COLOURS[["release"]], label = "private curve"),
                   list(x = x$value$p, type = "points", col = COLOURS[["release"]], pch = 19, cex = 1.3,
                        label = sprintf("%s = %s", x$columns$name, format(x$columns$middle, digits = 3))),
                   list(x = x$center, type = "points", col = COLOURS[["center"]], pch = 3, label = "public centre"))
    if (!is.null(edge)) {
      layers <- c(list(list(x = edge, type = "line", col = COLOURS[["ball"]], lty = 2, label = "public ball")), layers)
      if (!is.null(level) && !is.null(residual %||% x$spread)) layers <- c(layers, band_layers(x, level, residual))
    }
    plot_layers(M, layers, x$center, main, TRUE, ...)
  }
  invisible(x)
}

#' @rdname dp_spline
#' @export
plot.riemdp_spline <- function(x, main = format(x$guarantee, ascii = TRUE), ...) {
  M <- x$manifold
  at <- function(m) matrix(seq(-1, 1, length.out = m) * x$columns$half, 1)
  points <- function(m) spline_at(x, at(m), x$value)
  shown <- function(m) x$columns$middle + as.vector(at(m))
  if (picture(M) == "outline") {
    plot_curves(M, closed_curves(M, points(6), x$center), ramp_colours(6), rep(2, 6), main,
                list(label = format(shown(6), digits = 3), col = ramp_colours(6)), ...)
  } else if (picture(M) == "ellipse") {
    plot_ellipse_row(M, points(9), shown(9), x$columns$name, main, ...)
  } else {
    layers <- list(list(x = points(201), type = "line", col = COLOURS[["release"]], label = "private curve"),
                   list(x = x$center, type = "points", col = COLOURS[["center"]], pch = 3, label = "public centre"))
    edge <- if (is.null(x$velocity)) circle_points(M, x$center, x$radius)
    if (!is.null(edge)) {
      layers <- c(list(list(x = edge, type = "line", col = COLOURS[["ball"]], lty = 2, label = "public ball")), layers)
    }
    plot_layers(M, layers, x$center, main, TRUE, ...)
  }
  invisible(x)
}

# the band's edges on surfaces
band_layers <- function(r, level, residual) {
  band <- confint(r, level = level, residual = residual)
  curve_sides(r, band$curve, band$radius, sprintf("band of level %g%s", level, if (is.null(residual)) "" else
    " (population)"))
}
