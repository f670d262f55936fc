# Pictures in base graphics. One function a manifold knows how to lay out points in the plane; everything else builds on
# it.

# list(xy =, depth =, xlab =, ylab =): plane coordinates, on a globe those behind it with depth < 0. `center` is where a
# globe looks from, or the base of a tangent chart.
layout_points <- function(M, x, center) UseMethod("layout_points")
#' @export
layout_points.default <- function(M, x, center) {
  a <- mf_coords(M, center, mf_log(M, center, x))
  a <- matrix(a, ncol = mf_facts(M)$dimension)
  list(xy = if (ncol(a) == 1) cbind(a, 0) else a[, 1:2, drop = FALSE],
       xlab = "tangent coordinate 1 at the centre",
       ylab = if (ncol(a) == 1) "" else "tangent coordinate 2 at the centre")
}
#' @export
layout_points.riemdp_sphere <- function(M, x, center) {
  if (M$param != 2) return(NextMethod())
  turn <- globe_view(center)
  list(xy = (x %*% t(turn))[, 1:2, drop = FALSE], depth = drop(x %*% turn[3, ]), xlab = "", ylab = "")
}
#' @export
layout_points.riemdp_hyperbolic <- function(M, x, center) {
  if (M$param != 2) return(NextMethod())
  list(xy = if (ncol(x) == 3) x[, -1, drop = FALSE] / (1 + x[, 1]) else x, xlab = "", ylab = "")
}
#' @export
layout_points.riemdp_euclidean <- function(M, x, center) {
  xy <- if (M$param == 1) cbind(as.vector(x), 0) else x[, 1:2, drop = FALSE]
  list(xy = xy, xlab = "coordinate 1", ylab = if (M$param == 1) "" else "coordinate 2")
}

# In other units a globe and a disc look the same, tangent coordinates don't.
#' @export
layout_points.riemdp_scaled <- function(M, x, center) {
  part <- M$parts[[1]]
  if (length(backdrop(part, center)) > 0) layout_points(part, x, center) else layout_points.default(M, x, center)
}

# What one point looks like: a "point" of a plane, the "outline" of a shape, the "ellipse" of a matrix.
picture <- function(M) UseMethod("picture")
#' @export
picture.default <- function(M) "point"
#' @export
picture.riemdp_kendall <- function(M) "outline"
#' @export
picture.riemdp_kendall_space <- function(M) "outline"
#' @export
picture.riemdp_size_and_shape <- function(M) "outline"
#' @export
picture.riemdp_spd <- function(M) "ellipse"
#' @export
picture.riemdp_scaled <- function(M) picture(M$parts[[1]])
#' @export
picture.riemdp_correlation <- function(M) "ellipse"

# rotation whose third row is the viewing direction, north up
globe_view <- function(center) {
  z <- center / sqrt(sum(center^2))
  up <- if (abs(z[3]) > 0.99) c(0, 1, 0) else c(0, 0, 1)
  y <- up - sum(up * z) * z
  y <- y / sqrt(sum(y^2))
  x <- c(y[2] * z[3] - y[3] * z[2], y[3] * z[1] - y[1] * z[3], y[1] * z[2] - y[2] * z[1])
  rbind(x, y, z)
}

# lines behind points, list of list(kind =, xy =): the edge of globe or disc, and the globe's grid where it can be seen
backdrop <- function(M, center) UseMethod("backdrop")
#' @export
backdrop.default <- function(M, center) list()
#' @export
backdrop.riemdp_scaled <- function(M, center) backdrop(M$parts[[1]], center)
#' @export
backdrop.riemdp_hyperbolic <- function(M, center) if (M$param == 2) list(disc_edge()) else list()
#' @export
backdrop.riemdp_sphere <- function(M, center) {
  if (M$param != 2) return(list())
  t <- seq(0, 2 * pi, length.out = 361)
  turn <- globe_view(center)
  seen <- function(p) {
    q <- p %*% t(turn)
    q[q[, 3] < 0, ] <- NA
    list(kind = "grid", xy = q[, 1:2])
  }
  c(lapply(seq(-75, 75, 15) * pi / 180, function(lat) seen(cbind(cos(lat) * cos(t), cos(lat) * sin(t), sin(lat)))),
    lapply(seq(0, 165, 15) * pi / 180, function(long) seen(cbind(cos(t) * cos(long), cos(t) * sin(long), sin(t)))),
    list(disc_edge()))
}

disc_edge <- function() {
  t <- seq(0, 2 * pi, length.out = 361)
  list(kind = "edge", xy = cbind(cos(t), sin(t)))
}

# points of the geodesic circle around center in the plane of the first two frame vectors
circle_points <- function(M, center, radius, m = 181) {
  d <- mf_facts(M)$dimension
  t <- seq(0, 2 * pi, length.out = m)
  a <- matrix(0, m, d)
  a[, 1] <- radius * cos(t)
  if (d > 1) a[, 2] <- radius * sin(t)
  tryCatch(mf_exp(M, center, mf_from_coords(M, center, if (d == 1) as.vector(a) else a)),
           riemdp_error = function(e) NULL)
}

plain_shape <- function(M, x) if (inherits(x, "riemdp_points")) as.array(x) else x

# points as drawing functions want them: one row a record where that is the plain shape
as_rows <- function(M, x) {
  x <- plain_shape(M, x)
  facts <- mf_facts(M)
  if (facts$rows == 0 && is.null(dim(x))) matrix(x, ncol = facts$ambient) else x
}

# what can be drawn of a vector of points
drawable <- function(x) {
  x <- x[!is.na(x)]
  if (length(x) == 0) abort_riemdp("shape", "there is no point to draw.")
  x
}

# lines of shapes, turned towards `to`, or ellipses of matrices, to be drawn as they are; none for NULL
closed_curves <- function(M, x, to = NULL) {
  if (is.null(x)) return(list())
  x <- plain_shape(M, x)
  if (picture(M) == "outline") return(lapply(as_outlines(M, x, to), linked_path, M))
  k <- mf_facts(M)$rows
  x <- array(x, c(k, k, .Call(riemdp_count, M, x)))
  lapply(seq_len(dim(x)[3]), function(i) ellipse_points(matrix(x[, , i], k)))
}

# landmarks in a plane: list of k x 2 matrices, turned towards `to`; in space of 2k x 2, two views side by side: along
# the last and the first of the principal axes of `to`, both upright
as_outlines <- function(M, x, to = NULL) {
  x <- landmark_matrices(M, x)
  to <- if (is.null(to)) x[[1]] else landmark_matrices(M, plain_shape(M, to))[[1]]
  y <- lapply(x, function(one) {
    s <- svd(crossprod(one, to))
    one %*% s$u %*% (c(rep(1, ncol(to) - 1), sign(det(s$u) * det(s$v))) * t(s$v))
  })
  if (ncol(to) == 2) return(y)
  axes <- svd(to, 0)$v
  axes <- axes * rep(sign(axes[cbind(max.col(t(abs(axes))), 1:3)]), each = 3)
  axes[, 3] <- axes[, 3] * sign(det(axes))
  aside <- 1.1 * sum(apply(to %*% axes[, c(1, 3)], 2, function(v) max(abs(v)))) + 0.05 * sqrt(sum(to^2))
  lapply(y, function(one) {
    v <- one %*% axes
    rbind(v[, 1:2], cbind(v[, 3] + aside, v[, 2]))
  })
}

# a list of k x m matrices
landmark_matrices <- function(M, x) {
  k <- mf_facts(M)$rows
  if (inherits(single_space(M), "riemdp_kendall")) {
    z <- matrix(mf_project(M, x_complex(M, x)), k)
    return(lapply(seq_len(ncol(z)), function(i) cbind(Re(z[, i]), Im(z[, i]))))
  }
  x <- array(mf_project(M, x), c(k, mf_facts(M)$cols, .Call(riemdp_count, M, x)))
  lapply(seq_len(dim(x)[3]), function(i) matrix(x[, , i], k))
}

# pairs of rows of an outline that a line joins; without links each landmark of a view in space with itself: a dot
outline_links <- function(M) {
  M <- single_space(M)
  k <- M$param
  spatial <- mf_facts(M)$cols == 3
  if (!is.null(M$links)) landmark_numbers(k, M$links, "links", 2) # it may come from a tampered file
  links <- M$links %||% (if (spatial) cbind(seq_len(k), seq_len(k)) else cbind(seq_len(k), c(seq_len(k)[-1], 1L)))
  if (spatial) rbind(links, links + k) else links
}

# the landmark from which each goes
outline_landmark <- function(M, links) (links[, 1] - 1) %% single_space(M)$param + 1

# how much wider a line is where it is a dot
dot_width <- function(M) if (picture(M) == "outline" && all(outline_links(M)[, 1] == outline_links(M)[, 2])) 4 else 1

# one path, broken where lines end
linked_path <- function(o, M) {
  if (is.null(single_space(M)$links) && nrow(o) == single_space(M)$param) return(rbind(o, o[1, ]))
  links <- outline_links(M)
  rbind(o, NA)[rbind(links[, 1], links[, 2], nrow(o) + 1L), , drop = FALSE]
}

# boundary of {u: u' P^-1 u = 1} for the leading two variables of an SPD matrix
ellipse_points <- function(P, m = 181) {
  t <- seq(0, 2 * pi, length.out = m)
  two <- if (nrow(P) == 1) diag(2) * P[1] else P[1:2, 1:2]
  cbind(cos(t), sin(t)) %*% chol(two)
}

#' Pictures of points, means and releases
#'
#' `plot()` for points ([mf_points()]), Frechet means and private releases. What is drawn depends on the manifold: a
#' globe seen from the centre for [sphere()] (2), Poincare's disc for [hyperbolic()] (2), outlines for [kendall()]
#' (points: coloured from the first landmark, dark, to the last, light), ellipses of the first two variables for [spd()]
#' (an image of all standard deviations and correlations for a release with more than two), the plane for [euclidean()],
#' the first two tangent coordinates at the centre elsewhere.
#'
#' The picture of a release shows the released point, the public centre and the public ball: nothing else is known to
#' it; that of [dp_conformal()] the prediction, or the released curve, and the edge of the ball around it (for ellipses
#' and outlines four points at its radius). The lines below say what its expected error is about: the privacy noise, and
#' the mean of the records moved to the ball, neither clipping nor sampling. Records are drawn only where the caller
#' hands them over (`records =` of the method for means).
#'
#' @param x an object.
#' @param records records to draw behind a (non-private) mean.
#' @param center point to look from; default: the mean, the release's public centre, or the first point.
#' @param main title.
#' @param panels for shapes: one panel for each, not all in one.
#' @param ... further arguments of [graphics::plot.default()].
#' @return `x`, invisibly.
#' @seealso [autoplot.riemdp_release] for the same by 'ggplot2'.
#' @examples
#' r <- dp_mean(wishart_spd[, , 1:200], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' plot(r)
#' plot(mf_points(mf_random(sphere(2), 50), sphere(2)))
#' @name plot.riemdp_release
NULL

# an empty plane with equal units; titles are sentences, so they are small, and smaller still where they wouldn't fit
blank <- function(x, y, main, axes = TRUE, xlab = "", ylab = "", ...) {
  given <- list(...)
  small <- given$cex.main
  given$cex.main <- NULL
  do.call(graphics::plot.default, c(
    list(NA, xlim = range(x, na.rm = TRUE), ylim = range(y, na.rm = TRUE), asp = 1, axes = axes, xlab = xlab,
         ylab = ylab), given
  ))
  wide <- max(0, graphics::strwidth(main, "inches", cex = 1, font = 2)) # strwidth() has par("cex") in it
  middle <- mean(graphics::par("plt")[1:2]) # titles are centred over the plane
  room <- 1.95 * min(middle, 1 - middle) * graphics::par("fin")[1]
  graphics::title(main, cex.main = small %||% min(0.85, room / max(wide, 1e-6)))
}

open_plane <- function(M, center, at, main, legend, ...) {
  behind <- backdrop(M, center)
  limits <- if (length(behind)) list(c(-1, 1), c(if (legend) -1.15 else -1, 1)) else {
    r <- apply(at$all, 2, range, na.rm = TRUE)
    pad <- max(diff(r), 1e-9) * 0.05
    list(r[, 1] + c(-pad, pad), r[, 2] + c(-pad, pad))
  }
  blank(limits[[1]], limits[[2]], main, axes = !length(behind), xlab = at$xlab, ylab = at$ylab, ...)
  for (l in behind) graphics::lines(l$xy, col = if (l$kind == "edge") "grey60" else "grey85")
}

# layers: list of list(x =, type = "points"/"line", col, pch, cex)
plot_layers <- function(M, layers, center, main, legend, ...) {
  placed <- lapply(layers, function(l) {
    c(l, list(at = layout_points(M, as_rows(M, l$x), center)))
  })
  at <- placed[[1]]$at
  at$all <- do.call(rbind, lapply(placed, function(l) l$at$xy))
  open_plane(M, center, at, main, length(legend) > 0, ...)
  for (l in placed) {
    xy <- l$at$xy
    if (!is.null(l$at$depth)) xy[l$at$depth < 0, ] <- NA
    if (l$type == "line") graphics::lines(xy, col = l$col, lwd = 2, lty = l$lty %||% 1) else {
      graphics::points(xy, col = l$col, pch = l$pch, cex = l$cex %||% 1)
    }
  }
  if (length(legend)) {
    shown <- Filter(function(l) !is.null(l$label), layers)
    shown <- shown[!duplicated(vapply(shown, `[[`, "", "label"))]
    labels <- vapply(shown, `[[`, "", "label")
    bare <- length(backdrop(M, center)) > 0 # then there is room below
    size <- if (bare) 0.8 else 1
    many <- length(labels) > 3
    if (bare) size <- size * legend_fit(if (many) rep(labels[which.max(nchar(labels))], 3) else labels, size)
    wide <- graphics::strwidth(labels, cex = size)
    graphics::legend(if (bare) "bottom" else "topright", labels, horiz = bare && !many,
                     ncol = if (bare && many) 3 else 1, cex = size, xpd = NA,
                     bty = "n", text.width = if (bare && !many) wide else max(wide),
                     col = vapply(shown, `[[`, "", "col"),
                     pch = vapply(shown, function(l) if (l$type == "line") NA_real_ else l$pch, 0),
                     lty = vapply(shown, function(l) if (l$type == "line") l$lty %||% 1 else 0, 0))
  }
}

# by how much a horizontal legend must shrink for the width of the figure
legend_fit <- function(labels, size) {
  plot <- graphics::par("plt")[1:2] # shares of the figure; the legend is in the middle of the plot
  room <- 1.96 * min(mean(plot), 1 - mean(plot)) * diff(graphics::par("usr")[1:2]) / diff(plot)
  needed <- graphics::legend("bottom", labels, horiz = TRUE, cex = size, lty = 1, pch = 19, plot = FALSE,
                             text.width = graphics::strwidth(labels, cex = size))$rect$w
  min(1, room / needed)
}

# closed curves in one plane: outlines of shapes without axes, ellipses with
plot_curves <- function(M, curves, cols, lwds, main, legend, ...) {
  all <- do.call(rbind, curves)
  ellipses <- picture(M) == "ellipse"
  span <- range(all[, 2], na.rm = TRUE)
  if (length(legend)) span[2] <- span[2] + 0.15 * diff(span) # room above the curves
  blank(all[, 1], span, main, axes = ellipses, xlab = if (ellipses) "variable 1" else "",
        ylab = if (ellipses) "variable 2" else "", ...)
  for (i in seq_along(curves)) {
    o <- curves[[i]]
    graphics::lines(o, col = cols[i], lwd = lwds[i] * dot_width(M))
    if (lwds[i] > 1 && !ellipses) graphics::points(o, col = cols[i], pch = 20, cex = 0.6)
  }
  if (length(legend)) {
    graphics::legend("top", legend$label, col = legend$col, lwd = lwds[match(legend$col, cols)], bty = "n",
                     horiz = TRUE, xpd = NA, cex = legend_fit(legend$label, 1))
  }
}

# outlines coloured from first to last landmark
plot_parametrised <- function(M, outlines, panels, main, ...) {
  links <- outline_links(M)
  colours <- riemdp_colours(single_space(M)$param, TRUE)[outline_landmark(M, links)]
  all <- do.call(rbind, outlines)
  if (panels) {
    wide <- ceiling(sqrt(length(outlines)))
    old <- graphics::par(mfrow = c(ceiling(length(outlines) / wide), wide), mar = c(0.5, 0.5, 1.5, 0.5))
    on.exit(graphics::par(old))
  }
  for (i in seq_along(outlines)) {
    if (panels || i == 1) blank(all[, 1], all[, 2], main, axes = FALSE, ...)
    o <- outlines[[i]]
    from <- o[links[, 1], , drop = FALSE]
    to <- o[links[, 2], , drop = FALSE]
    wide <- if (panels || length(outlines) == 1) 3 else 1
    graphics::segments(from[, 1], from[, 2], to[, 1], to[, 2], col = colours, lwd = wide * dot_width(M))
  }
}

plot_correlations <- function(P, main) {
  k <- nrow(P)
  r <- stats::cov2cor(P)
  names <- rownames(P) %||% paste("variable", seq_len(k))
  ramp <- grDevices::colorRampPalette(c("#D55E00", "white", "#0072B2"))(101)
  graphics::image(seq_len(k), seq_len(k), t(r[k:1, , drop = FALSE]), zlim = c(-1, 1), col = ramp, axes = FALSE,
                  xlab = "", ylab = "", main = main, asp = 1, cex.main = 0.85)
  graphics::axis(1, seq_len(k), names, tick = FALSE)
  graphics::axis(2, seq_len(k), rev(names), tick = FALSE, las = 1)
  text <- ifelse(diag(k) == 1, sprintf("sd %.3g", sqrt(diag(P))), sprintf("%.2f", r))
  graphics::text(col(r), k + 1 - row(r), text, col = ifelse(abs(r) > 0.6, "white", "black"))
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_points <- function(x, center = NULL, main = "", panels = FALSE, ...) {
  panels <- check_flag(panels, "panels")
  M <- attr(x, "manifold")
  x <- drawable(x)
  plain <- as.array(x)
  if (picture(M) == "outline") {
    plot_parametrised(M, as_outlines(M, plain, center), panels, main, ...)
  } else if (picture(M) == "ellipse") {
    plot_curves(M, closed_curves(M, plain), rep(COLOURS[["record"]], length(x)), rep(1, length(x)), main, NULL, ...)
  } else {
    center <- center %||% as_single(x[1])
    plot_layers(M, list(list(x = plain, type = "points", col = COLOURS[["record"]], pch = 20)), center, main, NULL, ...)
  }
  invisible(x)
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_frechet_mean <- function(x, records = NULL, main = "", ...) {
  M <- x$manifold
  label <- if (x$median) "median" else "mean"
  if (picture(M) != "point") {
    curves <- c(closed_curves(M, records, x$mean), closed_curves(M, x$mean))
    behind <- length(curves) - 1
    plot_curves(M, curves, c(rep(COLOURS[["record"]], behind), COLOURS[["mean"]]), c(rep(1, behind), 3), main,
                list(label = label, col = COLOURS[["mean"]]), ...)
  } else {
    layers <- list(list(x = x$mean, type = "points", col = COLOURS[["mean"]], pch = 17, cex = 1.5, label = label))
    if (!is.null(records)) {
      layers <- c(list(list(x = records, type = "points", col = COLOURS[["record"]], pch = 20)), layers)
    }
    plot_layers(M, layers, x$mean, main, TRUE, ...)
  }
  invisible(x)
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_mean <- function(x, main = format(x$guarantee, ascii = TRUE), ...) {
  plot_in_ball(x, main, "private mean", mean_caption(x), ...)
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_median <- function(x, main = format(x$guarantee, ascii = TRUE), ...) {
  plot_in_ball(x, main, "private median", median_caption(), ...)
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_local <- function(x, main = format(x$guarantee, ascii = TRUE), ...) {
  plot(mf_points(x$value, x$manifold), center = x$center, main = main, ...)
  caption_below(local_caption())
  invisible(x)
}

local_caption <- function() "each point was released by itself: their spread is the records' and the noise's"

# a released point in its public ball
plot_in_ball <- function(x, main, label, caption, ...) {
  M <- x$manifold
  both <- list(label = c("public centre", label), col = c(COLOURS[["center"]], COLOURS[["release"]]))
  if (picture(M) == "ellipse" && mf_facts(M)$rows > 2) {
    plot_correlations(x$value, main)
  } else if (picture(M) != "point") {
    plot_curves(M, c(closed_curves(M, x$center), closed_curves(M, x$value, x$center)), both$col, c(1, 3), main, both,
                ...)
  } else {
    edge <- circle_points(M, x$center, x$radius)
    layers <- list(
      list(x = x$center, type = "points", col = COLOURS[["center"]], pch = 3, label = "public centre"),
      list(x = x$value, type = "points", col = COLOURS[["release"]], pch = 17, cex = 1.5, label = label)
    )
    if (!is.null(edge)) {
      layers <- c(list(list(x = edge, type = "line", col = COLOURS[["ball"]], lty = 2, label = "public ball")), layers)
    }
    plot_layers(M, layers, x$center, main, TRUE, ...)
  }
  caption_below(caption)
  invisible(x)
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_ball <- function(x, main = format(x$guarantee, ascii = TRUE), ...) {
  M <- x$manifold
  both <- list(label = c("public centre", "private centre"), col = c(COLOURS[["center"]], COLOURS[["release"]]))
  center <- x$within$center
  if (picture(M) != "point") {
    plot_curves(M, c(closed_curves(M, center), closed_curves(M, x$value$center, center)), both$col, c(1, 3), main, both,
                ...)
  } else {
    edge <- function(ball, col, label) {
      at <- circle_points(M, ball$center, ball$radius)
      if (!is.null(at)) list(list(x = at, type = "line", col = col, lty = 2, label = label))
    }
    plot_layers(M, c(
      edge(x$within, COLOURS[["ball"]], "public ball"), edge(x$value, COLOURS[["release"]], "private ball"),
      list(list(x = center, type = "points", col = both$col[1], pch = 3, label = both$label[1]),
           list(x = x$value$center, type = "points", col = both$col[2], pch = 17, cex = 1.5, label = both$label[2]))
    ), center, main, TRUE, ...)
  }
  caption_below(sprintf("private radius %.3g, public radius %.3g", x$value$radius, x$within$radius))
  invisible(x)
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_conformal <- function(x, main = format(x$guarantee, ascii = TRUE), ...) {
  as_made({
    M <- x$manifold
    shown <- conformal_layers(x)
    if (picture(M) == "point") {
      plot_layers(M, shown, shown[[length(shown)]]$x, main, TRUE, ...)
    } else {
      parts <- lapply(shown, function(one) closed_curves(M, one$x, shown[[length(shown)]]$x))
      col <- vapply(shown, `[[`, "", "col")
      plot_curves(M, do.call(c, parts), rep(col, lengths(parts)), rep(vapply(shown, `[[`, 0, "lwd"), lengths(parts)),
                  main, list(label = vapply(shown, `[[`, "", "label"), col = col), ...)
    }
    caption_below(conformal_caption(x))
  })
  invisible(x)
}

# What is drawn of a prediction ball, the prediction last: its edge where points can be drawn in a plane, else some
# points at its radius, by coordinates. Public and released quantities only.
conformal_layers <- function(x) {
  M <- x$manifold
  if (x$around == "each") {
    abort_riemdp("unsupported", "each record has its own prediction, and the release holds none: nothing to draw.")
  }
  layer <- function(at, label, ...) {
    utils::modifyList(list(x = at, type = "points", col = COLOURS[["release"]], lwd = 1, label = label), list(...))
  }
  plane <- picture(M) == "point"
  ball <- "prediction ball"
  if (x$around == "curve") {
    if (nrow(x$at$columns) != 1) abort_riemdp("argument", "only curves, of one predictor, can be drawn.")
    at <- curve_of_state(M, x$at$value, matrix(seq(-1, 1, length.out = if (plane) 101 else 6) * x$at$columns$half, 1))
    sides <- if (plane && is.finite(x$value)) curve_sides(x$at, at, rep(x$value, 101), ball)
    return(c(sides, list(layer(at, "released curve", type = "line", col = COLOURS[["center"]], lwd = 2))))
  }
  edge <- if (is.finite(x$value)) {
    if (plane) circle_points(M, x$at, x$value) else circle_points(M, x$at, x$value, 5)
  }
  c(if (!is.null(edge)) list(layer(edge, ball, type = if (plane) "line" else "points", lty = 2)),
    list(layer(x$at, "prediction", col = COLOURS[["center"]], pch = 3, lwd = 3)))
}

conformal_caption <- function(x) {
  if (!is.finite(x$value)) return(sprintf("level %g: the whole space", x$level))
  sprintf("%s lies within %.3g with probability %g or more", if (is.null(x$unit)) "a new record" else
    "each row of a new unit", x$value, x$level)
}

# points at these radii to both sides of a released curve, on surfaces
curve_sides <- function(r, points, radius, label) {
  M <- r$manifold
  d <- mf_facts(M)$dimension
  if (d != 2) return(list())
  a <- drop(mf_coords(M, r$value$p, r$value$v))
  if (sqrt(sum(a^2)) < 1e-9) return(list())
  across <- mf_from_coords(M, r$value$p, c(-a[2], a[1]) / sqrt(sum(a^2)))
  curve <- plain_shape(M, points)
  side <- function(sign) {
    out <- t(vapply(seq_along(radius), function(i) {
      normal <- mf_transport(M, r$value$p, curve[i, ], across)
      as.double(mf_exp(M, curve[i, ], sign * radius[i] * drop(normal)))
    }, numeric(ncol(curve))))
    list(x = out, type = "line", col = COLOURS[["release"]], lty = 3, label = label)
  }
  list(side(1), side(-1))
}

#' @exportS3Method
plot.riemdp_release <- function(x, ...) {
  abort_riemdp("unsupported", "there is no picture of this kind of release: tidy() has its numbers.")
}

# small lines under a picture, smaller where they wouldn't fit
caption_below <- function(lines) {
  room <- graphics::par("fin")[1]
  size <- min(0.65, 0.98 * room / max(graphics::strwidth(lines, "inches", cex = 1), 1e-6))
  middle <- graphics::grconvertX(0.5, "nfc", "user")
  below <- max(graphics::par("mar")[1], 2)
  for (i in seq_along(lines)) {
    graphics::mtext(lines[i], 1, below - 2.05 + 0.6 * i, at = middle, cex = size * graphics::par("cex"), col = "grey30")
  }
}
