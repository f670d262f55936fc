# Pictures of private modes of variation.

#' @rdname plot.riemdp_release
#' @param mode which of the directions of a [dp_pga()] release to draw: a picture of the released mean moved by -2 to 2
#'   standard deviations along it, as released (by -1/2 to 1/2 of the ball's radius where none was). One panel each for
#'   several.
#' @export
plot.riemdp_pga <- function(x, mode = seq_along(x$value$directions), main = NULL, ...) {
  q <- length(x$value$directions)
  if (!is.numeric(mode) || is.object(mode) || !length(mode) || anyNA(mode) || !all(mode %in% seq_len(q))) {
    abort_riemdp("argument", sprintf("`mode` must be of the numbers 1 to %d.", as.integer(q)))
  }
  if (!is.null(main)) main <- rep_len(main, length(mode))
  if (length(mode) > 1) {
    old <- graphics::par(mfrow = rev(grDevices::n2mfrow(length(mode))))
    on.exit(graphics::par(old))
  }
  for (i in seq_along(mode)) {
    plot_mode(x, mode[i], if (is.null(main)) mode_title(x, mode[i]) else main[i], ...)
  }
  invisible(x)
}

mode_title <- function(x, j) {
  share <- x$shares[j]
  known <- !is.null(x$shares) && !is.na(share)
  paste0("direction ", j, if (known) sprintf(", %.0f %% of the second moment", 100 * share))
}

# the mean moved along a direction: points from -2 to 2 standard deviations
mode_points <- function(x, j, times) {
  M <- x$manifold
  known <- isTRUE(x$sd[j] > 0)
  step <- if (known) x$sd[j] else x$radius / 4
  # no farther than where the exponential map is one to one
  far <- pmin(abs(times) * step, 0.99 * mf_facts(M)$injectivity_radius) * sign(times)
  v <- modes_at(M, x$value$mean, outer(far, x$components$loadings[, j]))
  mf_points(mf_exp(M, x$value$mean, v), M)
}

plot_mode <- function(x, j, main, ...) {
  M <- x$manifold
  colours <- c(COLOURS[["center"]], COLOURS[["release"]], COLOURS[["mean"]])
  unit <- if (isTRUE(x$sd[j] > 0)) "sd" else "quarter radii"
  labels <- c(paste("-2", unit), "mean", paste("+2", unit))
  if (picture(M) != "point") {
    curves <- closed_curves(M, mode_points(x, j, c(-2, 2, -1, 1, 0)), x$value$mean)
    plot_curves(M, curves, colours[c(1, 3, 1, 3, 2)], c(2, 2, 1, 1, 3), main, list(label = labels, col = colours), ...)
  } else {
    plot_layers(M, list(
      list(x = mode_points(x, j, seq(-2, 2, length.out = 81)), type = "line", col = COLOURS[["ball"]]),
      list(x = mode_points(x, j, -2), type = "points", col = colours[1], pch = 17, label = labels[1]),
      list(x = x$value$mean, type = "points", col = colours[2], pch = 19, label = labels[2]),
      list(x = mode_points(x, j, 2), type = "points", col = colours[3], pch = 15, label = labels[3])
    ), x$value$mean, main, TRUE, ...)
  }
  caption_below(paste("of the released numbers alone, at a", if (is.null(x$at)) "private mean" else "public point"))
}
