# Pictures of points. One function a manifold knows how to lay out points in the plane; everything else builds on it.

# list(xy =, depth =, xlab =, ylab =): plane coordinates, on a globe those behind it with depth < 0. `center` is where a
# globe looks from, or the base of a tangent chart.
layout_points <- function(M, x, center) UseMethod("layout_points")
#' @export
layout_points.default <- function(M, x, center) {
  a <- mf_coords(M, center, mf_log(M, center, x))
  a <- matrix(a, ncol = mf_facts(M)$dimension)
  d <- ncol(a)
  if (d == 1) return(list(xy = cbind(a, 0), xlab = "tangent coordinate at the centre", ylab = ""))
  name <- sprintf("tangent coordinate %d%s at the centre", 1:2, if (d > 2) sprintf(" of %.0f", d) else "")
  list(xy = a[, 1:2, drop = FALSE], xlab = name[1], ylab = name[2])
}
#' @export
layout_points.riemdp_sphere <- function(M, x, center) {
  if (M$param == 1) return(list(xy = x, xlab = "", ylab = ""))
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
  name <- paste0("coordinate ", 1:2, if (M$param > 2) sprintf(" of %.0f", M$param))
  list(xy = xy, xlab = if (M$param == 1) "value" else name[1], ylab = if (M$param == 1) "" else name[2])
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

# lines behind points, list of list(kind =, xy =): the edge of globe or disc, and the globe's grid of so many degrees
# where it can be seen
backdrop <- function(M, center, degrees = 15) UseMethod("backdrop")
#' @export
backdrop.default <- function(M, center, degrees = 15) list()
#' @export
backdrop.riemdp_scaled <- function(M, center, degrees = 15) backdrop(M$parts[[1]], center, degrees)
#' @export
backdrop.riemdp_hyperbolic <- function(M, center, degrees = 15) if (M$param == 2) list(disc_edge()) else list()
#' @export
backdrop.riemdp_sphere <- function(M, center, degrees = 15) {
  if (M$param == 1) return(list(disc_edge()))
  if (M$param != 2) return(list())
  t <- seq(0, 2 * pi, length.out = 361)
  turn <- globe_view(center)
  # meridians meet at the poles: there they keep their distance
  apart <- if (abs(center[3]) > 0.9 * sqrt(sum(center^2))) 15 else degrees
  seen <- function(p) {
    q <- p %*% t(turn)
    q[q[, 3] < 0, ] <- NA
    list(kind = "grid", xy = q[, 1:2])
  }
  parallel <- function(lat) seen(cbind(cos(lat) * cos(t), cos(lat) * sin(t), sin(lat)))
  meridian <- function(long) seen(cbind(cos(t) * cos(long), cos(t) * sin(long), sin(t)))
  c(lapply(seq(degrees - 90, 90 - degrees, degrees) * pi / 180, parallel),
    lapply(seq(0, 180 - apart, apart) * pi / 180, meridian), list(disc_edge()))
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

# Fewer landmarks in a plane than these are hardly an outline: without links they are dots
OUTLINE_LEAST <- 20

# pairs of rows of an outline that a line joins; a dot is joined with itself
outline_links <- function(M) {
  M <- single_space(M)
  k <- M$param
  spatial <- mf_facts(M)$cols == 3
  if (!is.null(M$links)) landmark_numbers(k, M$links, "links", 2) # it may come from a tampered file
  dots <- spatial || k < OUTLINE_LEAST
  links <- M$links %||% cbind(seq_len(k), if (dots) seq_len(k) else c(seq_len(k)[-1], 1L))
  if (spatial) rbind(links, links + k) else links
}

# the landmark from which each goes
outline_landmark <- function(M, links) (links[, 1] - 1) %% single_space(M)$param + 1

# landmarks that nothing joins
as_dots <- function(M) picture(M) == "outline" && all(outline_links(M)[, 1] == outline_links(M)[, 2])

# one path, broken where lines end
linked_path <- function(o, M) {
  if (as_dots(M)) return(o)
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
#' `plot()` and `ggplot2::autoplot()` for points ([mf_points()]), Frechet means and private releases draw what
#' [plot_data()] says. What that is depends on the manifold: a globe seen from the centre for [sphere()] (2), Poincare's
#' disc for [hyperbolic()] (2), landmarks for [kendall()] and its like, ellipses of the first two variables for [spd()]
#' (correlations with standard deviations beside them for a release with more than two), the plane for [euclidean()], a
#' line in one dimension, the first two tangent coordinates at the centre elsewhere.
#'
#' Landmarks are joined as the manifold's `links` say. Without links 20 or more in a plane are an outline in their
#' order, fewer ones and those in space are dots with their numbers. Points are coloured from the first landmark, dark,
#' to the last, light.
#'
#' The picture of a release shows the released point, the public centre and the public ball: nothing else is known to
#' it. In a plane it also shows the region in which the mean without noise lies with probability .95
#' ([confint()][confint.riemdp_mean]), where that is smaller than the ball. A globe or disc is drawn as far as the ball
#' and a little beyond. That of [dp_conformal()] shows the prediction, or the released curve, and the edge of the ball
#' around it (for ellipses and outlines some points at its radius). The lines below say what its expected error is
#' about: the privacy noise, and the mean of the records moved to the ball, neither clipping nor sampling. Records are
#' drawn only where the caller hands them over (`records =` of the method for means).
#'
#' @param x an object.
#' @param records records to draw behind a (non-private) mean.
#' @param center point to look from; default: the mean, the release's public centre, or the first point.
#' @param main title.
#' @param panels for shapes and matrices: one panel for each, not all in one.
#' @param labels names of the panels.
#' @param ... further arguments of [graphics::plot.default()].
#' @return `x`, invisibly.
#' @seealso [autoplot.riemdp_release] for the same by 'ggplot2', [plot_data()] for what is drawn.
#' @examples
#' r <- dp_mean(wishart_spd[, , 1:200], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' plot(r)
#' plot(mf_points(mf_random(sphere(2), 50), sphere(2)))
#' @name plot.riemdp_release
NULL

# ---- pictures of points and of what is made of them ------------------------------------------------------------------

# a part of a picture before it is laid out
layer <- function(x, role, kind = "point") if (!is.null(x)) list(list(x = x, role = role, kind = kind))

# Points and lines laid out in a plane, on a globe or a disc; `fit`: the roles that a globe or disc is drawn as far as
plane_picture <- function(M, layers, center, fit = NULL, ...) {
  placed <- lapply(layers, function(l) {
    at <- layout_points(M, as_rows(M, l$x), center)
    if (!is.null(at$depth)) at$xy[at$depth < 0, ] <- NA
    c(l, list(at = at))
  })
  edge <- length(backdrop(M, center)) > 0
  if (mf_facts(M)$dimension == 1 && !edge) return(line_picture(placed, ...))
  view <- if (edge) view_of(do.call(rbind, lapply(placed, function(l) if (l$role %in% fit) l$at$xy)))
  step <- 15
  if (!is.null(view) && diff(view$x) < 1) step <- max(c(1, 2, 5)[c(1, 2, 5) <= max(1, diff(view$x) * 180 / pi / 5)])
  behind <- backdrop(M, center, step)
  parts <- c(
    Map(function(l, i) corners("path", l$kind, l$xy[, 1], l$xy[, 2], group = -i), behind, seq_along(behind)),
    Map(function(l, i) corners(l$kind, l$role, l$at$xy[, 1], l$at$xy[, 2], group = i), placed, seq_along(placed))
  )
  frame <- frame_of(placed[[1]]$at$xlab, placed[[1]]$at$ylab, equal = TRUE, bare = edge, xlim = view$x, ylim = view$y)
  new_picture(parts, frame, ...)
}

# the part of a globe or disc in which these are, square; all of it where they are spread
view_of <- function(xy) {
  whole <- list(x = c(-1, 1), y = c(-1, 1))
  if (is.null(xy) || !any(is.finite(xy))) return(whole)
  span <- apply(xy, 2, range, na.rm = TRUE)
  half <- 0.6 * max(span[2, ] - span[1, ])
  if (half > 0.7 || half < 1e-6) return(whole)
  middle <- colMeans(span)
  list(x = middle[1] + c(-half, half), y = middle[2] + c(-half, half))
}

# in one dimension each role has a row of its own, and lines are from end to end
line_picture <- function(placed, ...) {
  roles <- unique(vapply(placed, `[[`, "", "role"))
  parts <- lapply(seq_along(placed), function(i) {
    l <- placed[[i]]
    u <- l$at$xy[, 1]
    row <- length(roles) + 1 - match(l$role, roles)
    if (l$kind == "point") return(corners("point", l$role, u, row, group = i))
    corners("segment", l$role, min(u), row, xend = max(u), yend = row, group = i)
  })
  out <- new_picture(parts, frame_of(placed[[1]]$at$xlab, ylim = c(0.5, length(roles) + 0.5),
                                     ymarks = list(at = rev(seq_along(roles)), labels = roles)), ...)
  attr(out, "looks")$legend <- FALSE
  out
}

# closed curves in one plane, each with a role: outlines of shapes without axes, ellipses with
curves_picture <- function(M, curves, roles, ...) {
  ellipses <- picture(M) == "ellipse"
  dots <- as_dots(M)
  parts <- lapply(seq_along(curves), function(i) {
    corners(if (dots) "point" else "path", roles[i], curves[[i]][, 1], curves[[i]][, 2], group = i)
  })
  if (dots) parts <- c(parts, list(landmark_numbers_at(M, curves[[length(curves)]])))
  new_picture(parts, frame_of(if (ellipses) "variable 1" else "", if (ellipses) "variable 2" else "", equal = TRUE,
                              bare = !ellipses), ...)
}

# a released outline or ellipse over the thinner one of the public centre; a cross stays in sight over its dot
pair_picture <- function(M, value, center, roles, ...) {
  curves <- c(closed_curves(M, value, center), closed_curves(M, center))
  order <- if (as_dots(M)) 1:2 else 2:1
  curves_picture(M, curves[order], roles[order], ...)
}

# the numbers of landmarks beside their dots, a little above
landmark_numbers_at <- function(M, o, panel = "") {
  k <- single_space(M)$param
  if (k > 60) return(NULL)
  first <- seq_len(min(k, nrow(o)))
  up <- 0.035 * max(apply(o, 2, function(v) diff(range(v, na.rm = TRUE))))
  corners("text", "label", o[first, 1], o[first, 2] + up, text = as.character(first), panel = panel)
}

# shapes coloured from the first to the last landmark
outlines_picture <- function(M, outlines, panels, labels) {
  links <- outline_links(M)
  k <- single_space(M)$param
  place <- (outline_landmark(M, links) - 1) / max(1, k - 1)
  labels <- labels %||% as.character(seq_along(outlines))
  role <- if (panels || length(outlines) == 1) "shape" else "shape behind"
  parts <- lapply(seq_along(outlines), function(i) {
    o <- outlines[[i]]
    from <- o[links[, 1], , drop = FALSE]
    to <- o[links[, 2], , drop = FALSE]
    panel <- if (panels) labels[i] else ""
    if (!as_dots(M)) {
      return(corners("segment", role, from[, 1], from[, 2], xend = to[, 1], yend = to[, 2], value = place, group = i,
                     panel = panel))
    }
    rbind(corners("point", "shape", from[, 1], from[, 2], value = place, group = i, panel = panel),
          if (panels || i == length(outlines)) landmark_numbers_at(M, o, panel))
  })
  new_picture(parts, frame_of(equal = TRUE, bare = TRUE))
}

# correlations, with standard deviations beside them; numbers where there is room
matrix_picture <- function(P, ...) {
  k <- nrow(P)
  r <- stats::cov2cor(P)
  named <- !is.null(rownames(P))
  shown <- seq(1, k, by = ceiling(k / 25))
  names <- if (named) rownames(P) else as.character(seq_len(k))
  off <- col(r) != row(r)
  cell <- function(kind, text, which) {
    corners(kind, "cell", col(r)[which], (k + 1 - row(r))[which], value = r[which], text = text)
  }
  parts <- list(
    cell("tile", NA_character_, seq_along(r)),
    if (k <= 12) cell("text", sprintf("%.2f", round(r[off], 2) + 0), which(off)),
    if (k <= 25) {
      corners("text", "label", 0.6 + k + 0.09 * (k + 4), c(k + 1, k:1), text = c("sd", sprintf("%.3g", sqrt(diag(P)))))
    }
  )
  beside <- if (k <= 25) 0.18 * (k + 4) else 0
  new_picture(parts, frame_of(if (named) "" else "variable", if (named) "" else "variable", equal = TRUE,
                              xlim = c(1, k + beside), ylim = c(1, k + (k <= 25)),
                              xmarks = list(at = shown, labels = names[shown]),
                              ymarks = list(at = k + 1 - shown, labels = names[shown]), boxed = FALSE), ...)
}

# pictures as panels of one, each with its name
side_by_side <- function(pictures, wide = NULL, title = attr(pictures[[1]], "title")) {
  frames <- lapply(pictures, function(p) attr(p, "frames")[[1]])
  parts <- Map(function(p, name) {
    p <- plain_table(p)
    p$panel <- name
    p
  }, pictures, names(pictures))
  looks <- NULL
  for (p in pictures) looks <- rbind(looks, attr(p, "looks")[setdiff(rownames(attr(p, "looks")), rownames(looks)), ])
  new_picture(unname(parts), frames, looks, title, unique(unlist(lapply(pictures, attr, "caption"))), wide)
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_points <- function(x, center = NULL, main = "", panels = FALSE, labels = NULL, ...) {
  plot(plot_data(x, center = center, panels = panels, labels = labels), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_points <- function(x, center = NULL, panels = FALSE, labels = NULL, ...) {
  check_dots_empty(...)
  panels <- check_flag(panels, "panels")
  M <- attr(x, "manifold")
  x <- drawable(x)
  if (!is.null(labels) && length(labels) != length(x)) {
    abort_riemdp("shape", "`labels` must have one entry for each point.")
  }
  plain <- as.array(x)
  if (picture(M) == "outline") return(outlines_picture(M, as_outlines(M, plain, center), panels, labels))
  # points alone need no legend
  looks <- look("record", COLOURS[["record"]], size = 1.3, width = 0.4, legend = FALSE)
  if (picture(M) == "point") {
    return(plane_picture(M, layer(plain, "record"), center %||% as_single(x[1]), looks = looks))
  }
  curves <- closed_curves(M, plain)
  if (!panels) return(curves_picture(M, curves, rep("record", length(curves)), looks = looks))
  each <- lapply(curves, function(one) curves_picture(M, list(one), "record", looks = looks))
  side_by_side(stats::setNames(each, labels %||% seq_along(each)))
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_frechet_mean <- function(x, records = NULL, main = "", ...) {
  plot(plot_data(x, records = records), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_frechet_mean <- function(x, records = NULL, ...) {
  check_dots_empty(...)
  M <- x$manifold
  label <- if (x$median) "median" else "mean"
  if (picture(M) == "point") return(plane_picture(M, c(layer(records, "record"), layer(x$mean, label)), x$mean))
  curves <- c(closed_curves(M, records, x$mean), closed_curves(M, x$mean, x$mean))
  curves_picture(M, curves, c(rep("record", length(curves) - 1), label))
}

#' @rdname plot.riemdp_release
#' @export
plot.riemdp_release <- function(x, main = format(x$guarantee, ascii = TRUE), ...) {
  plot(plot_data(x), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_release <- function(x, ...) {
  abort_riemdp("unsupported", "there is no picture of this kind of release: tidy() has its numbers.")
}

#' @export
plot_data.riemdp_mean <- function(x, ...) {
  check_dots_empty(...)
  ball_picture(x, "private mean", mean_caption(x))
}

#' @export
plot_data.riemdp_median <- function(x, ...) {
  check_dots_empty(...)
  ball_picture(x, "private median", median_caption())
}

# a released point in its public ball
ball_picture <- function(x, label, caption) {
  M <- x$manifold
  title <- format(x$guarantee)
  if (picture(M) == "ellipse" && mf_facts(M)$rows > 2) return(matrix_picture(x$value, title = title, caption = caption))
  if (picture(M) != "point") {
    return(pair_picture(M, x$value, x$center, c(label, "public centre"), title = title, caption = caption))
  }
  region <- noise_circle(x)
  plane_picture(M, c(layer(circle_points(M, x$center, x$radius), "public ball", "path"),
                     layer(region, "95 % noise region", "area"), layer(region, "95 % noise region", "path"),
                     layer(x$value, label), layer(x$center, "public centre")), x$center, "public ball", title = title,
                caption = caption)
}

# the edge of a mean's region, where there is one in sight
noise_circle <- function(x) {
  if (!inherits(x, "riemdp_mean")) return(NULL)
  region <- tryCatch(mean_region(x, 0.95), riemdp_error = function(e) NULL)
  if (!is.null(region) && region$radius < x$radius) circle_points(x$manifold, region$center, region$radius)
}

#' @export
plot_data.riemdp_local <- function(x, ...) {
  out <- plot_data(mf_points(x$value, x$manifold), center = x$center, ...)
  attr(out, "title") <- format(x$guarantee)
  attr(out, "caption") <- "each point was released by itself: their spread is the records' and the noise's"
  out
}

#' @export
plot_data.riemdp_ball <- function(x, ...) {
  check_dots_empty(...)
  M <- x$manifold
  center <- x$within$center
  title <- format(x$guarantee)
  caption <- sprintf("private radius %.3g, public radius %.3g", x$value$radius, x$within$radius)
  if (picture(M) != "point") {
    return(pair_picture(M, x$value$center, center, c("private centre", "public centre"), title = title,
                        caption = caption))
  }
  edge <- function(ball, role) layer(circle_points(M, ball$center, ball$radius), role, "path")
  plane_picture(M, c(edge(x$within, "public ball"), edge(x$value, "private ball"),
                     layer(x$value$center, "private centre"), layer(center, "public centre")), center, "public ball",
                title = title, caption = caption)
}

#' @export
plot_data.riemdp_conformal <- function(x, ...) {
  check_dots_empty(...)
  as_made({
    M <- x$manifold
    shown <- conformal_layers(x)
    last <- shown[[length(shown)]]$x
    if (picture(M) == "point") {
      plane_picture(M, shown, last, c("prediction ball", "prediction", "released curve"), title = format(x$guarantee),
                    caption = conformal_caption(x))
    } else {
      parts <- lapply(shown, function(one) closed_curves(M, one$x, last))
      curves_picture(M, do.call(c, parts), rep(vapply(shown, `[[`, "", "role"), lengths(parts)),
                     title = format(x$guarantee), caption = conformal_caption(x))
    }
  })
}

# What is drawn of a prediction ball, the prediction last: its edge where points can be drawn in a plane, else some
# points at its radius, by coordinates. Public and released quantities only.
conformal_layers <- function(x) {
  M <- x$manifold
  if (x$around == "each") {
    abort_riemdp("unsupported", "each record has its own prediction, and the release holds none: nothing to draw.")
  }
  plane <- picture(M) == "point"
  ball <- "prediction ball"
  if (x$around == "curve") {
    if (nrow(x$at$columns) != 1) abort_riemdp("argument", "only curves, of one predictor, can be drawn.")
    at <- curve_of_state(M, x$at$value, matrix(seq(-1, 1, length.out = if (plane) 101 else 6) * x$at$columns$half, 1))
    sides <- if (plane && is.finite(x$value)) curve_sides(x$at, at, rep(x$value, 101), ball)
    return(c(sides, layer(at, "released curve", "path")))
  }
  edge <- if (is.finite(x$value)) {
    if (plane) circle_points(M, x$at, x$value) else circle_points(M, x$at, x$value, 5)
  }
  c(layer(edge, ball, if (plane) "path" else "point"), layer(x$at, "prediction"))
}

conformal_caption <- function(x) {
  if (!is.finite(x$value)) return(sprintf("level %g: the whole space", x$level))
  sprintf("%s lies within %.3g with probability %g or more", if (is.null(x$unit)) "a new record" else
    "each row of a new unit", x$value, x$level)
}

# points at these radii to both sides of a released curve, on surfaces
curve_sides <- function(r, points, radius, role) {
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
    layer(out, role, "path")
  }
  c(side(1), side(-1))
}
