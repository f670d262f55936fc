# Pictures by 'ggplot2', which is only suggested. What is laid out where is decided in R/plot-manifold.R, for both kinds
# of picture.

need_ggplot2 <- function() {
  if (!requireNamespace("ggplot2", quietly = TRUE)) {
    abort_riemdp("unsupported",
                 "this picture needs the package 'ggplot2': install.packages(\"ggplot2\"). plot() works without it.")
  }
}

#' A look for pictures, and the colours in it
#'
#' `theme_riemdp()` is a theme for 'ggplot2': white ground, thin grid, legend below. `riemdp_colours()` gives the
#' colours of Okabe and Ito, which colour-blind readers can tell apart, in an order in which neighbours also differ in
#' grey.
#'
#' @param base_size size of the text in points.
#' @param bare `TRUE`: without axes and grid, for shapes and globes.
#' @param n number of colours, 1 to 8; or for `landmarks = TRUE` any number.
#' @param landmarks `TRUE`: a sequence from dark to light, for landmarks in order along an outline.
#' @return `theme_riemdp()`: a 'ggplot2' theme. `riemdp_colours()`: character, colours as `#RRGGBB`.
#' @references Okabe, M. and Ito, K. (2008). Color universal design: how to make figures and presentations that are
#'   friendly to colorblind people. Jikei Medical School and University of Tokyo.
#' @seealso [autoplot.riemdp_release]
#' @examples
#' barplot(1:8, col = riemdp_colours(8))
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   ggplot2::ggplot(quakes, ggplot2::aes(long, lat)) + ggplot2::geom_point() + theme_riemdp()
#' }
#' @export
theme_riemdp <- function(base_size = 11, bare = FALSE) {
  need_ggplot2()
  base_size <- check_number(base_size, "base_size", positive = TRUE)
  bare <- check_flag(bare, "bare")
  blank <- ggplot2::element_blank()
  out <- ggplot2::theme_minimal(base_size = base_size) + ggplot2::theme(
    panel.grid.minor = blank, panel.grid.major = ggplot2::element_line(colour = "grey90", linewidth = 0.3),
    axis.title = ggplot2::element_text(colour = "grey20"), axis.text = ggplot2::element_text(colour = "grey30"),
    plot.title = ggplot2::element_text(face = "bold", size = ggplot2::rel(1.05)), plot.title.position = "plot",
    plot.subtitle = ggplot2::element_text(colour = "grey30", margin = ggplot2::margin(b = base_size / 2)),
    strip.text = ggplot2::element_text(face = "bold", hjust = 0, colour = "grey20"),
    legend.position = "bottom", legend.title = blank, legend.key.width = ggplot2::unit(1.6, "lines"),
    plot.background = ggplot2::element_rect(fill = "white", colour = NA)
  )
  if (bare) {
    out <- out + ggplot2::theme(panel.grid.major = blank, axis.text = blank, axis.title = blank, axis.ticks = blank)
  }
  out
}

# aesthetics from names of columns
by_name <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

lines_frame <- function(parts, role = NULL) {
  parts <- Filter(function(p) !is.null(p) && nrow(p) > 0, parts)
  out <- do.call(rbind, lapply(seq_along(parts), function(i) {
    data.frame(x = parts[[i]][, 1], y = parts[[i]][, 2], group = i, index = seq_len(nrow(parts[[i]])))
  }))
  if (!is.null(role)) out$role <- factor(role[out$group], unique(role))
  out
}

# the empty picture: backdrop, equal units
gg_plane <- function(M, center) {
  lines <- backdrop(M, center)
  plot <- ggplot2::ggplot()
  for (kind in unique(vapply(lines, `[[`, "", "kind"))) {
    these <- Filter(function(l) l$kind == kind, lines)
    plot <- plot + ggplot2::geom_path(
      by_name(x = "x", y = "y", group = "group"), lines_frame(lapply(these, `[[`, "xy")), na.rm = TRUE,
      colour = if (kind == "edge") "grey60" else "grey85", linewidth = if (kind == "edge") 0.5 else 0.3
    )
  }
  plot + ggplot2::coord_equal() + theme_riemdp(bare = length(lines) > 0)
}

role_colours <- function(roles) {
  ggplot2::scale_colour_manual(values = stats::setNames(ROLES[roles, "colour"], roles), breaks = roles)
}

# closed curves (outlines, ellipses), each with a role
gg_curves <- function(M, curves, roles) {
  ellipses <- picture(M) == "ellipse"
  data <- lines_frame(curves, roles)
  ggplot2::ggplot(data, by_name(x = "x", y = "y", group = "group", colour = "role", linewidth = "role")) +
    ggplot2::geom_path(lineend = "round", linejoin = "round", na.rm = TRUE) + role_colours(levels(data$role)) +
    ggplot2::scale_linewidth_manual(values = stats::setNames(dot_width(M) * ROLES[levels(data$role), "width"],
                                                             levels(data$role))) +
    ggplot2::coord_equal() +
    ggplot2::labs(x = if (ellipses) "variable 1", y = if (ellipses) "variable 2") + theme_riemdp(bare = !ellipses)
}

# outlines coloured from first to last landmark
gg_outlines <- function(M, outlines, panels, labels = NULL) {
  links <- outline_links(M)
  data <- do.call(rbind, lapply(seq_along(outlines), function(i) {
    o <- outlines[[i]]
    from <- o[links[, 1], , drop = FALSE]
    to <- o[links[, 2], , drop = FALSE]
    data.frame(x = from[, 1], y = from[, 2], xend = to[, 1], yend = to[, 2],
               landmark = outline_landmark(M, links), panel = i)
  }))
  data$panel <- factor(data$panel, labels = labels %||% as.character(seq_along(outlines)))
  plot <- ggplot2::ggplot(data, by_name(x = "x", y = "y", xend = "xend", yend = "yend", colour = "landmark")) +
    ggplot2::geom_segment(lineend = "round",
                          linewidth = dot_width(M) * if (panels || length(outlines) == 1) 1 else 0.5) +
    ggplot2::scale_colour_gradientn(colours = riemdp_colours(256, TRUE)) + ggplot2::coord_equal() +
    theme_riemdp(bare = TRUE) +
    ggplot2::theme(legend.title = ggplot2::element_text(), legend.key.height = ggplot2::unit(0.5, "lines"))
  if (panels) plot <- plot + ggplot2::facet_wrap(stats::as.formula("~ panel"))
  plot
}

gg_points <- function(M, layers, center) {
  roles <- unique(vapply(layers, `[[`, "", "label"))
  plot <- gg_plane(M, center)
  at <- NULL
  for (l in layers) {
    at <- layout_points(M, as_rows(M, l$x), center)
    xy <- at$xy
    if (!is.null(at$depth)) xy[at$depth < 0, ] <- NA
    data <- data.frame(x = xy[, 1], y = xy[, 2], role = factor(l$label, roles))
    look <- ROLES[l$label, ]
    plot <- plot + if (is.na(look$shape)) {
      ggplot2::geom_path(by_name(x = "x", y = "y", colour = "role"), data, linetype = look$line, linewidth = look$width,
                         na.rm = TRUE)
    } else {
      ggplot2::geom_point(by_name(x = "x", y = "y", colour = "role"), data, shape = look$shape, size = look$size,
                          stroke = 1, na.rm = TRUE)
    }
  }
  look <- ROLES[roles, ]
  plot + role_colours(roles) + ggplot2::labs(x = at$xlab, y = at$ylab) + ggplot2::guides(
    colour = ggplot2::guide_legend(override.aes = list(shape = look$shape, size = look$size, linetype = look$line))
  )
}

#' Pictures by 'ggplot2'
#'
#' Methods of `ggplot2::autoplot()` for points ([mf_points()]), Frechet means, private releases and plans: the pictures
#' of [plot.riemdp_release], to which layers, titles and themes can be added. `plot()` needs no other package.
#'
#' @param object points, a Frechet mean, a release or a plan.
#' @param records records to draw behind a (non-private) mean.
#' @param center point to look from; default: the mean, the release's public centre, or the first point.
#' @param panels for shapes and matrices: one panel for each record, not all in one.
#' @param labels names of the panels.
#' @param against,points as in [plot.riemdp_mean_plan()].
#' @param ... not used.
#' @return A `ggplot`.
#' @seealso [theme_riemdp()]
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   r <- dp_mean(wishart_spd[, , 1:200], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#'   ggplot2::autoplot(r)
#'   ggplot2::autoplot(mf_points(callosa[, , 1:4], kendall(50)), panels = TRUE)
#' }
#' @name autoplot.riemdp_release
NULL

#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_points <- function(object, center = NULL, panels = FALSE, labels = NULL, ...) {
  need_ggplot2()
  panels <- check_flag(panels, "panels")
  M <- attr(object, "manifold")
  x <- drawable(object)
  plain <- as.array(x)
  if (!is.null(labels) && length(labels) != length(x)) {
    abort_riemdp("shape", "`labels` must have one entry for each point.")
  }
  if (picture(M) == "outline") return(gg_outlines(M, as_outlines(M, plain, center), panels, labels))
  if (picture(M) == "ellipse") {
    plot <- gg_curves(M, closed_curves(M, plain), rep("record", length(x))) +
      ggplot2::theme(legend.position = "none")
    if (panels) {
      plot$data$panel <- factor(plot$data$group, labels = labels %||% as.character(seq_along(x)))
      plot <- plot + ggplot2::facet_wrap(stats::as.formula("~ panel"))
    }
    return(plot)
  }
  gg_points(M, list(list(x = plain, label = "record")), center %||% as_single(x[1])) +
    ggplot2::theme(legend.position = "none")
}

#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_frechet_mean <- function(object, records = NULL, ...) {
  need_ggplot2()
  M <- object$manifold
  label <- if (object$median) "median" else "mean"
  if (picture(M) != "point") {
    curves <- c(closed_curves(M, records, object$mean), closed_curves(M, object$mean, object$mean))
    roles <- c(rep("record", length(curves) - 1), label)
    return(gg_curves(M, curves, roles))
  }
  gg_points(M, c(if (!is.null(records)) list(list(x = records, label = "record")),
                 list(list(x = object$mean, label = label))), object$mean)
}

#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_mean <- function(object, ...) {
  gg_in_ball(object, "private mean", paste(mean_caption(object), collapse = "\n"))
}

#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_median <- function(object, ...) gg_in_ball(object, "private median", median_caption())

#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_local <- function(object, ...) {
  autoplot.riemdp_points(mf_points(object$value, object$manifold), object$center, ...) +
    ggplot2::labs(subtitle = format(object$guarantee), caption = local_caption())
}

#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_conformal <- function(object, ...) {
  need_ggplot2()
  as_made({
    M <- object$manifold
    shown <- conformal_layers(object)
    center <- shown[[length(shown)]]$x
    plot <- if (picture(M) == "point") gg_points(M, shown, center) else {
      parts <- lapply(shown, function(one) closed_curves(M, one$x, center))
      gg_curves(M, do.call(c, parts), rep(vapply(shown, `[[`, "", "label"), lengths(parts)))
    }
    plot + ggplot2::labs(subtitle = format(object$guarantee), caption = conformal_caption(object))
  })
}

gg_in_ball <- function(object, label, caption) {
  need_ggplot2()
  M <- object$manifold
  title <- ggplot2::labs(subtitle = format(object$guarantee), caption = caption)
  if (picture(M) == "ellipse" && mf_facts(M)$rows > 2) return(gg_correlations(object$value) + title)
  if (picture(M) != "point") {
    curves <- c(closed_curves(M, object$center), closed_curves(M, object$value, object$center))
    return(gg_curves(M, curves, c("public centre", label)) + title)
  }
  edge <- circle_points(M, object$center, object$radius)
  gg_points(M, c(
    if (!is.null(edge)) list(list(x = edge, label = "public ball")),
    list(list(x = object$center, label = "public centre"),
         list(x = object$value, label = label))
  ), object$center) + title
}

gg_correlations <- function(P) {
  k <- nrow(P)
  r <- stats::cov2cor(P)
  names <- rownames(P) %||% paste("variable", seq_len(k))
  data <- data.frame(x = factor(names[col(r)], names), y = factor(names[row(r)], rev(names)), r = as.vector(r),
                     words = as.vector(ifelse(diag(k) == 1, sprintf("sd %.3g", sqrt(diag(P))), sprintf("%.2f", r))))
  ggplot2::ggplot(data, by_name(x = "x", y = "y", fill = "r")) + ggplot2::geom_tile(colour = "white") +
    ggplot2::geom_text(by_name(label = "words"), colour = ifelse(abs(data$r) > 0.6, "white", "black")) +
    ggplot2::scale_fill_gradient2(low = COLOURS[["release"]], mid = "white", high = COLOURS[["mean"]],
                                  limits = c(-1, 1)) +
    ggplot2::coord_equal() + ggplot2::labs(x = NULL, y = NULL) + theme_riemdp() +
    ggplot2::theme(legend.position = "none", panel.grid.major = ggplot2::element_blank())
}

#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_mean_plan <- function(object, against = c("n", "epsilon"), points = 9, ...) {
  need_ggplot2()
  against <- match.arg(against, several.ok = TRUE)
  points <- check_count(points, "points", least = 2, most = 200)
  ask <- attr(object, "ask")
  words <- c(n = "number of records", epsilon = "epsilon")
  data <- do.call(rbind, lapply(against, function(what) {
    e <- plan_errors(object, what, points)
    data.frame(value = rep(e$grid, each = nrow(e$errors)), error = as.vector(e$errors),
               mechanism = factor(rep(rownames(e$errors), length(e$grid)), rownames(e$errors)), what = words[[what]])
  }))
  data$what <- factor(data$what, words[against])
  here <- data.frame(value = unlist(ask[c(n = "n", epsilon = "total")[against]]),
                     what = factor(words[against], words[against]))
  ways <- nlevels(data$mechanism)
  colours <- rep_len(riemdp_colours(7), ways)
  ggplot2::ggplot(data[is.finite(data$error), ],
                  by_name(x = "value", y = "error", colour = "mechanism", shape = "mechanism")) +
    ggplot2::geom_hline(yintercept = ask$ball$radius, linetype = 3, colour = "grey50") +
    ggplot2::geom_vline(by_name(xintercept = "value"), here, linetype = 3, colour = "grey70") +
    ggplot2::geom_line(linewidth = 0.7) + ggplot2::geom_point(size = 2) +
    ggplot2::scale_x_log10() + ggplot2::scale_y_log10() +
    ggplot2::scale_colour_manual(values = colours) +
    ggplot2::scale_shape_manual(values = rep_len(c(16, 17, 15, 3, 4, 8, 1, 2, 0, 5), ways)) +
    ggplot2::facet_wrap(stats::as.formula("~ what"), scales = "free_x", strip.position = "bottom") +
    ggplot2::labs(x = NULL, y = "expected error of the privacy noise",
                  subtitle = "Dotted: the public radius, and what the plan is for",
                  caption = paste(unlist(lapply(plan_undrawn(object), strwrap, width = 100, exdent = 4)),
                                  collapse = "\n")) +
    theme_riemdp() +
    ggplot2::theme(strip.placement = "outside", strip.text = ggplot2::element_text(hjust = 0.5),
                   plot.caption = ggplot2::element_text(hjust = 0))
}
