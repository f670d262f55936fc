# Pictures of private modes of variation.

#' @rdname plot.riemdp_release
#' @param mode which of the directions of a [dp_pga()] release to draw: a picture of the released mean moved by -2 to 2
#'   standard deviations along it, as released (by -1/2 to 1/2 of the ball's radius where none was). One panel each for
#'   several.
#' @export
plot.riemdp_pga <- function(x, mode = seq_along(x$value$directions), main = NULL, ...) {
  p <- plot_data(x, mode = mode)
  plot(p, main = main %||% plain_letters(attr(p, "title")), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_pga <- function(x, mode = seq_along(x$value$directions), ...) {
  check_dots_empty(...)
  q <- length(x$value$directions)
  if (!is.numeric(mode) || is.object(mode) || !length(mode) || anyNA(mode) || !all(mode %in% seq_len(q))) {
    abort_riemdp("argument", sprintf("`mode` must be of the numbers 1 to %d.", as.integer(q)))
  }
  each <- lapply(mode, function(j) mode_picture(x, j))
  if (length(each) == 1) return(each[[1]])
  names(each) <- vapply(each, attr, "", "title")
  side_by_side(each, grDevices::n2mfrow(length(mode))[1], format(x$guarantee))
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

mode_picture <- function(x, j) {
  M <- x$manifold
  unit <- if (isTRUE(x$sd[j] > 0)) "sd" else "quarter radii"
  low <- paste("-2", unit)
  high <- paste("+2", unit)
  looks <- rbind(look("between", COLOURS[["ball"]], legend = FALSE), look(low, COLOURS[["center"]], 17, 2.6),
                 look("mean", COLOURS[["release"]], 16, 2.6, 1.2), look(high, COLOURS[["mean"]], 15, 2.6))
  caption <- paste("of the released numbers alone, at a", if (is.null(x$at)) "private mean" else "public point")
  title <- mode_title(x, j)
  if (picture(M) != "point") {
    curves <- closed_curves(M, mode_points(x, j, c(-1, 1, -2, 2, 0)), x$value$mean)
    return(curves_picture(M, curves, c("between", "between", low, high, "mean"), looks = looks, title = title,
                          caption = caption))
  }
  plane_picture(M, c(layer(mode_points(x, j, seq(-2, 2, length.out = 81)), "between", "path"),
                     layer(mode_points(x, j, -2), low), layer(x$value$mean, "mean"), layer(mode_points(x, j, 2), high)),
                x$value$mean, looks = looks, title = title, caption = caption)
}
