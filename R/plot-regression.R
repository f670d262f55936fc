# Pictures of curves: geodesics and splines among their records, released ones in their ball, and residuals.

#' @rdname regression-methods
#' @param which `"curve"`: records and fitted geodesic (a globe for the sphere, Poincare's disc, outlines for planar
#'   shapes, ellipses along the predictor for positive definite matrices, the plane, else two tangent coordinates); with
#'   several predictors the fitted points. `"residuals"`: distances against the predictor (or the order of records),
#'   with the .95 quantile of the normal model, and the squared distances against their chi-squared quantiles.
#' @param n points drawn along the curve.
#' @param main title.
#' @export
plot.riemdp_geodesic_regression <- function(x, which = c("curve", "residuals"), n = 101, main = "", ...) {
  plot(plot_data(x, which = which, n = n), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_geodesic_regression <- function(x, which = c("curve", "residuals"), n = 101, ...) {
  check_dots_empty(...)
  which <- check_choice(which, "which", c("curve", "residuals"))
  n <- check_count(n, "n", least = 2, most = 1e5)
  if (which == "residuals") residual_picture(x) else fit_picture(x, n)
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

fit_picture <- function(fit, n) {
  M <- fit$manifold
  x <- predictors_of(fit)
  records <- response_of(fit)
  if (picture(M) == "ellipse") return(fit_ellipses(fit, x, records))
  if (picture(M) == "outline") return(fit_outlines(fit, x, records))
  line <- curve_of(fit, n)
  if (mf_facts(M)$dimension == 1 && !is.null(line)) {
    return(along_picture(M, curve_middle(fit, x), line$x, line$points, "fitted curve", colnames(x),
                         records = list(x = x[, 1], points = records)))
  }
  fitted <- if (is.null(line)) layer(fit$fitted.values, "fitted points") else layer(line$points, "fitted curve", "path")
  first <- if (!is.null(line)) sprintf("%s = %s", colnames(x), format(line$x[1], digits = 3))
  plane_picture(M, c(layer(records, "record"), fitted, if (!is.null(line)) layer(line$points[1], first)),
                curve_middle(fit, x), looks = if (!is.null(line)) look(first, COLOURS[["mean"]], 16, 2.4))
}

# the fitted point at the middle of the predictors
curve_middle <- function(fit, x) {
  as_single(curve_points(fit, matrix(apply(x, 2, function(a) mean(range(a))), 1)))
}

# In one dimension a curve is drawn against its predictor, records and the public ball beside it
along_picture <- function(M, center, at, points, role, xlab, records = NULL, ball = NULL, ...) {
  place <- function(p) layout_points(M, as_rows(M, p), center)
  y <- place(points)
  new_picture(c(
    if (!is.null(records)) list(corners("point", "record", records$x, place(records$points)$xy[, 1])),
    if (!is.null(ball)) {
      edges <- range(place(ball)$xy[, 1])
      lapply(1:2, function(i) corners("across", "public ball", NA, edges[i], group = i))
    },
    list(corners("path", role, at, y$xy[, 1]))
  ), frame_of(xlab, y$xlab), ...)
}

# Ellipses side by side along a predictor, in equal units so that circles look round: places along it, `goal` shown as
# marks, are spread over as much room as that many ellipses need.
ellipse_places <- function(outlines, at, goal) {
  size <- stats::quantile(vapply(outlines, function(o) max(abs(o)), 0), 0.9)
  from <- min(at)
  unit <- 2.3 * size * max(1, length(goal) - 1) / max(diff(range(at)), 1e-300)
  function(value) (value - from) * unit
}

ellipses_at <- function(outlines, x, role, from = 0L) {
  do.call(rbind, Map(function(o, place, i) corners("path", role, place + o[, 1], o[, 2], group = from + i), outlines, x,
                     seq_along(outlines)))
}

row_frame <- function(M, name, place, goal) {
  frame_of(name, if (mf_facts(M)$rows > 1) "variable 2" else "", equal = TRUE,
           xmarks = list(at = place(goal), labels = vapply(goal, format, "", digits = 3)))
}

# Records in grey, fitted ones at even steps. With several predictors a few records, in their order, and their fitted
# values.
fit_ellipses <- function(fit, x, records) {
  steps <- 7
  M <- fit$manifold
  line <- curve_of(fit, steps)
  at <- x[, 1]
  fitted <- line$points
  if (is.null(line)) {
    at <- unique(round(seq(1, nrow(x), length.out = min(nrow(x), 2 * steps))))
    records <- records[at]
    fitted <- fit$fitted.values[at]
  }
  goal <- if (is.null(line)) at else line$x
  behind <- closed_curves(M, records)
  front <- closed_curves(M, fitted)
  place <- ellipse_places(c(behind, front), at, goal)
  pale <- grDevices::adjustcolor(COLOURS[["record"]], min(1, 12 / length(at) + 0.15))
  new_picture(list(ellipses_at(behind, place(at), "record"), ellipses_at(front, place(goal), "fitted", length(at))),
              row_frame(M, if (is.null(line)) "record" else colnames(x), place, goal),
              rbind(look("record", pale, width = 0.4), look("fitted", COLOURS[["mean"]], width = 1.1)))
}

# ellipses of a curve, side by side along its predictor
ellipse_row <- function(M, points, at, name, role, ...) {
  outlines <- closed_curves(M, points)
  place <- ellipse_places(outlines, at, at)
  new_picture(list(ellipses_at(outlines, place(at), role)), row_frame(M, name, place, at),
              look(role, ROLES[role, "colour"], width = 1.1, legend = FALSE), ...)
}

# outlines of a curve in one plane, coloured along its predictor
outline_row <- function(M, points, at, name, to, records = NULL, ...) {
  front <- as_outlines(M, as.array(points), to)
  roles <- if (is.null(at)) "fitted" else paste(name, "=", format(at, digits = 3))
  looks <- do.call(rbind, Map(look, unique(roles), ramp_colours(length(unique(roles))), size = 1.6, width = 1))
  kind <- if (as_dots(M)) "point" else "path"
  roles <- rep_len(roles, length(front))
  behind <- if (!is.null(records)) as_outlines(M, as.array(records), to)
  new_picture(c(
    lapply(seq_along(behind), function(i) corners("point", "record", behind[[i]][, 1], behind[[i]][, 2])),
    Map(function(o, role, i) {
      o <- linked_path(o, M)
      corners(kind, role, o[, 1], o[, 2], group = i)
    }, front, roles, seq_along(front)),
    if (as_dots(M)) list(landmark_numbers_at(M, front[[length(front)]]))
  ), frame_of(equal = TRUE, bare = TRUE), rbind(looks, look("record", "grey75", size = 0.6)), ...)
}

fit_outlines <- function(fit, x, records) {
  line <- curve_of(fit, 6)
  outline_row(fit$manifold, if (is.null(line)) fit$fitted.values else line$points, line$x, colnames(x),
              curve_middle(fit, x), records)
}

residual_picture <- function(fit) {
  x <- predictors_of(fit)
  d <- mf_facts(fit$manifold)$dimension
  size <- fit$residuals
  bound <- fit$sigma * sqrt(stats::qchisq(0.95, d))
  quantile <- ".95 quantile of the normal model"
  normal <- "normal model"
  left <- new_picture(list(
    corners("point", "record", if (ncol(x) == 1) x[, 1] else seq_along(size), size),
    if (is.finite(bound)) corners("across", quantile, NA, bound)
  ), frame_of(if (ncol(x) == 1) colnames(x) else "record", "distance from the prediction",
              ylim = c(0, max(size, bound, 0, na.rm = TRUE))), look(quantile, COLOURS[["mean"]], line = 2))
  scaled <- sort((size / fit$sigma)^2)
  if (length(scaled) != length(size) || !all(is.finite(scaled))) return(left)
  q <- stats::qchisq(stats::ppoints(length(scaled)), d)
  right <- new_picture(list(corners("point", "record", q, scaled), corners("path", normal, range(q), range(q))),
                       frame_of(sprintf("chi-squared quantiles (%d)", as.integer(d)), "squared distance / variance"),
                       look(normal, COLOURS[["mean"]]))
  side_by_side(list(residuals = left, quantiles = right))
}

#' @rdname spline_regression
#' @export
plot.riemdp_spline_regression <- function(x, ...) {
  plot(plot_data(x), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_spline_regression <- function(x, ...) {
  check_dots_empty(...)
  M <- x$manifold
  at <- function(m) matrix(seq(-1, 1, length.out = m) * x$columns$half, 1)
  on <- function(m) spline_at(x, at(m), x$coefficients)
  shown <- function(m) x$columns$middle + as.vector(at(m))
  if (picture(M) == "ellipse") return(ellipse_row(M, on(9), shown(9), x$columns$name, "fitted curve"))
  if (picture(M) == "outline") return(outline_row(M, on(6), shown(6), x$columns$name, x$center, x$response))
  plane_picture(M, c(layer(as.array(x$response), "record"), layer(on(201), "fitted curve", "path")), x$center)
}

# ---- released curves -------------------------------------------------------------------------------------------------

#' Picture of a private geodesic regression
#'
#' The released curve over the public range, with the public ball of the foot point: on a globe for the sphere, in
#' Poincare's disc, ellipses along the predictor for positive definite matrices, outlines for planar shapes, in one
#' dimension against the predictor. Public and released quantities only.
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
  plot(plot_data(x, level = level, residual = residual), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_regression <- function(x, level = 0.95, residual = NULL, ...) {
  check_dots_empty(...)
  if (!is.null(level)) level <- check_level(level)
  M <- x$manifold
  if (nrow(x$columns) != 1) abort_riemdp("argument", "only curves, of one predictor, can be drawn.")
  ball <- circle_points(M, x$center, x$radius)
  first <- sprintf("%s = %s", x$columns$name, format(x$columns$middle, digits = 3))
  among <- layer(x$value$p, first)
  if (!is.null(ball) && !is.null(level) && !is.null(residual %||% x$spread)) {
    among <- c(band_layers(x, level, residual), among)
  }
  curve_picture(x, function(at) curve_of_state(M, x$value, at), ball, among,
                rbind(look(first, COLOURS[["release"]], 16, 2.4), if (!is.null(level)) {
                  look(band_name(level, residual), COLOURS[["release"]], line = 3)
                }))
}

#' @export
plot_data.riemdp_spline <- function(x, ...) {
  check_dots_empty(...)
  curve_picture(x, function(at) spline_at(x, at, x$value),
                if (is.null(x$velocity)) circle_points(x$manifold, x$center, x$radius))
}

# a released curve, `on` places of its predictor from the middle; `among`: further layers in a plane, of `looks`
curve_picture <- function(x, on, ball, among = NULL, looks = NULL) {
  M <- x$manifold
  name <- x$columns$name
  title <- format(x$guarantee)
  at <- function(m) matrix(seq(-1, 1, length.out = m) * x$columns$half, 1)
  shown <- function(m) x$columns$middle + as.vector(at(m))
  if (picture(M) == "ellipse") return(ellipse_row(M, on(at(7)), shown(7), name, "private curve", title = title))
  if (picture(M) == "outline") {
    return(outline_row(M, mf_points(on(at(6)), M), shown(6), name, x$center, title = title))
  }
  if (mf_facts(M)$dimension == 1) {
    return(along_picture(M, x$center, shown(101), on(at(101)), "private curve", name, ball = ball, title = title))
  }
  plane_picture(M, c(layer(ball, "public ball", "path"), layer(on(at(201)), "private curve", "path"), among,
                     layer(x$center, "public centre")), x$center, c("public ball", "private curve"), looks = looks,
                title = title)
}

band_name <- function(level, residual) {
  sprintf("band of level %g%s", level, if (is.null(residual)) "" else " (population)")
}

# the band's edges on surfaces
band_layers <- function(r, level, residual) {
  band <- confint(r, level = level, residual = residual)
  curve_sides(r, band$curve, band$radius, band_name(level, residual))
}
