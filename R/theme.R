# Pictures by 'ggplot2', which is only suggested: they draw what plot_data() says, as R/picture.R does by base graphics.

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

# one layer a kind and role; sizes are those of base graphics, seen beside each other
GG_DRAWN <- list(
  path = function(d, look) {
    ggplot2::geom_path(by_name(x = "x", y = "y", group = "group", colour = "role"), d, linewidth = look$width,
                       linetype = look$line, lineend = "round", linejoin = "round", na.rm = TRUE)
  },
  area = function(d, look) {
    ggplot2::geom_polygon(by_name(x = "x", y = "y", group = "group", colour = "role"), d[!is.na(d$x), ],
                          fill = grDevices::adjustcolor(look$colour, 0.2), linetype = 0, key_glyph = "rect")
  },
  point = function(d, look) {
    if (!anyNA(d$value)) {
      return(ggplot2::geom_point(by_name(x = "x", y = "y"), d, shape = look$shape, size = look$size,
                                 colour = landmark_colours(d$value), na.rm = TRUE, show.legend = FALSE))
    }
    ggplot2::geom_point(by_name(x = "x", y = "y", colour = "role"), d, shape = look$shape, size = look$size,
                        stroke = look$width, na.rm = TRUE)
  },
  segment = function(d, look) {
    place <- by_name(x = "x", y = "y", xend = "xend", yend = "yend")
    if (!anyNA(d$value)) {
      return(ggplot2::geom_segment(place, d, colour = landmark_colours(d$value), linewidth = look$width,
                                   lineend = "round", show.legend = FALSE))
    }
    ggplot2::geom_segment(utils::modifyList(place, by_name(colour = "role")), d, linewidth = look$width,
                          linetype = look$line)
  },
  tile = function(d, look) {
    ggplot2::geom_tile(by_name(x = "x", y = "y"), d, fill = correlation_colours(d$value), colour = "white",
                       show.legend = FALSE)
  },
  text = function(d, look) {
    white <- !is.na(d$value) & abs(d$value) > 0.6
    ggplot2::geom_text(by_name(x = "x", y = "y", label = "text"), d, size = 3, show.legend = FALSE,
                       colour = ifelse(white, "white", look$colour))
  },
  across = function(d, look) {
    ggplot2::geom_hline(by_name(yintercept = "y", colour = "role"), d, linetype = look$line, linewidth = look$width,
                        key_glyph = "path")
  },
  up = function(d, look) {
    ggplot2::geom_vline(by_name(xintercept = "x", colour = "role"), d, linetype = look$line, linewidth = look$width,
                        key_glyph = "path")
  }
)

# a picture of plot_data() by 'ggplot2'
gg_picture <- function(p) {
  need_ggplot2()
  frames <- attr(p, "frames")
  looks <- attr(p, "looks")
  data <- plain_table(p)
  data$panel <- factor(data$panel, names(frames))
  data$role <- factor(data$role, rownames(looks))
  plot <- ggplot2::ggplot(data)
  for (role in rownames(looks)) for (kind in unique(data$kind[data$role == role])) {
    plot <- plot + GG_DRAWN[[kind]](data[data$role == role & data$kind == kind, , drop = FALSE], looks[role, ])
  }
  lines <- unlist(lapply(attr(p, "caption"), strwrap, 85, exdent = 4))
  caption <- if (length(lines)) paste(lines, collapse = "\n")
  frame <- frames[[1]]
  plot <- plot + gg_scales(frames) + gg_legend(looks, data) +
    ggplot2::labs(x = if (nzchar(frame$xlab)) frame$xlab, y = if (nzchar(frame$ylab)) frame$ylab,
                  subtitle = if (nzchar(attr(p, "title"))) attr(p, "title"), caption = caption) +
    theme_riemdp(bare = frame$bare) +
    ggplot2::theme(plot.caption = ggplot2::element_text(hjust = 0), plot.caption.position = "plot")
  if (!frame$boxed) plot <- plot + ggplot2::theme(panel.grid.major = ggplot2::element_blank())
  if (turned(frame)) {
    plot <- plot + ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5))
  }
  if (length(frames) == 1) return(plot)
  apart <- length(unique(lapply(frames, `[[`, "xlab"))) > 1
  plot + gg_facets(apart, attr(p, "wide"))
}

# panels: with axes of their own below each where these differ
gg_facets <- function(apart, wide) {
  panels <- stats::as.formula("~ panel")
  if (!apart) return(ggplot2::facet_wrap(panels, ncol = wide))
  list(ggplot2::facet_wrap(panels, scales = "free", strip.position = "bottom", ncol = wide), ggplot2::labs(x = NULL),
       ggplot2::theme(strip.placement = "outside", strip.text = ggplot2::element_text(hjust = 0.5)))
}

gg_scales <- function(frames) {
  frame <- frames[[1]]
  same <- length(unique(lapply(frames, `[`, c("xlim", "ylim")))) == 1
  one <- function(axis, marks) {
    log <- grepl(axis, frame$log)
    scale <- if (axis == "x") ggplot2::scale_x_continuous else ggplot2::scale_y_continuous
    given <- list(trans = if (log) "log10" else "identity")
    if (!is.null(marks)) given <- c(given, list(breaks = marks$at, labels = marks$labels))
    do.call(scale, given)
  }
  coord <- if (frame$equal) ggplot2::coord_equal else ggplot2::coord_cartesian
  limits <- if (same) list(xlim = frame$xlim, ylim = frame$ylim) else list()
  list(one("x", frame$xmarks), one("y", frame$ymarks), do.call(coord, Filter(length, limits)))
}

# colours by role, and what the legend shows of each
gg_legend <- function(looks, data) {
  named <- looks[looks$legend & rownames(looks) %in% data$role[!data$kind %in% c("tile", "text")], , drop = FALSE]
  has <- function(kinds) vapply(rownames(named), function(role) any(data$kind[data$role == role] %in% kinds), NA)
  lines <- has(c("path", "segment", "across", "up"))
  colours <- ggplot2::scale_colour_manual(values = stats::setNames(looks$colour, rownames(looks)),
                                          breaks = rownames(named))
  if (!nrow(named)) return(list(colours, ggplot2::theme(legend.position = "none")))
  keys <- list(shape = ifelse(has("point"), named$shape, NA), size = pmin(named$size, 3),
               linetype = ifelse(lines, named$line, 0),
               fill = ifelse(has("area"), grDevices::adjustcolor(named$colour, 0.2), NA))
  across <- max(1, floor(64 / (max(nchar(rownames(named))) + 6)))
  list(colours, ggplot2::guides(colour = ggplot2::guide_legend(override.aes = keys, ncol = min(nrow(named), across))))
}

#' Pictures by 'ggplot2'
#'
#' Methods of `ggplot2::autoplot()` for all that `plot()` draws: points, Frechet means, private releases, plans, prices
#' and ledgers. They draw the same ([plot_data()]), and layers, titles and themes can be added. `plot()` needs no other
#' package.
#'
#' @param object what `plot()` draws, or a picture of [plot_data()].
#' @param ... what is drawn of it, as in the `plot()` method of its class: `records`, `center`, `panels`, `labels`,
#'   `against`, `points`, `level`, ...
#' @return A `ggplot`.
#' @seealso [theme_riemdp()], [plot.riemdp_release]
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   r <- dp_mean(wishart_spd[, , 1:200], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#'   ggplot2::autoplot(r)
#'   ggplot2::autoplot(mf_points(callosa[, , 1:4], kendall(50)), panels = TRUE)
#' }
#' @rdname autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_release <- function(object, ...) gg_picture(plot_data(object, ...))
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_picture <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_points <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_frechet_mean <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_accountants <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_band <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_bounds_plan <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_event <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_geodesic_regression <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_groups <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_guarantee <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_ledger <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_lm_plan <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_mean_plan <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_regression_plan <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_spline_regression <- autoplot.riemdp_release
#' @exportS3Method ggplot2::autoplot
autoplot.riemdp_tradeoff <- autoplot.riemdp_release
