# What is drawn, and how base graphics draws it; R/theme.R draws the same by 'ggplot2'. Methods of plot_data()
# say what there is to see of an object, and nothing else of it reaches a device.

#' What is drawn of an object
#'
#' `plot()` and `ggplot2::autoplot()` of points, means, releases, plans, prices and ledgers draw the same data, which
#' `plot_data()` gives: for a picture of one's own, and to see what a picture tells. It holds what the picture shows and
#' no more; of releases that is public and released numbers alone.
#'
#' @param x an object that `plot()` draws.
#' @param ... what is drawn of it, as in the `plot()` method of its class (`center`, `panels`, `records`, `level`, ...).
#' @return A data frame of class `riemdp_picture` with a row for each corner: `panel`; `kind` (`"path"`, `"area"`,
#'   `"point"`, `"segment"`, `"tile"`, `"text"`, and `"across"` or `"up"` for lines through the whole panel); `role`,
#'   what it stands for; `group`, which corners are joined; `x`, `y`, and of segments `xend`, `yend` (tangent
#'   coordinates, coordinates of a plane, or of the screen for globes and discs); `text`; `value`, where colours follow
#'   a number (a landmark's place along an outline from 0 to 1, a correlation). `plot()` and `ggplot2::autoplot()` draw
#'   it.
#' @seealso [plot.riemdp_release], [autoplot.riemdp_release]
#' @examples
#' r <- dp_mean(wishart_spd[, , 1:200], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' d <- plot_data(r)
#' table(d$role)
#' plot(d)
#' @export
plot_data <- function(x, ...) UseMethod("plot_data")
#' @export
plot_data.default <- function(x, ...) abort_riemdp("argument", "there is no picture of such an object.")
#' @export
plot_data.riemdp_picture <- function(x, ...) x

# one part of a picture: corners of one kind and role; what isn't given is missing
corners <- function(kind, role, x, y, ..., group = 1L, panel = "") {
  given <- list(...)
  n <- max(length(x), length(y))
  if (n == 0) return(NULL)
  rest <- lapply(c(xend = "xend", yend = "yend", text = "text", value = "value"), function(name) {
    given[[name]] %||% if (name == "text") NA_character_ else NA_real_
  })
  data.frame(panel = panel, kind = kind, role = role, group = group, x = as.double(x), y = as.double(y), rest,
             row.names = seq_len(n))
}

# A panel's axes: `equal` units, `bare` of axes, `boxed` or without lines, marks as list(at, labels) where they aren't
# numbers
frame_of <- function(xlab = "", ylab = "", log = "", equal = FALSE, bare = FALSE, xlim = NULL, ylim = NULL,
                     xmarks = NULL, ymarks = NULL, boxed = TRUE) {
  list(xlab = xlab, ylab = ylab, log = log, equal = equal, bare = bare, xlim = xlim, ylim = ylim, xmarks = xmarks,
       ymarks = ymarks, boxed = boxed)
}

# how a role is drawn that isn't among ROLES
look <- function(role, colour = "grey50", shape = 16, size = 1.6, width = 0.8, line = 1, legend = TRUE) {
  data.frame(row.names = role, colour = colour, shape = shape, size = size, width = width, line = line, legend = legend)
}

# `frames`: one for each panel, by name, or one for all. Roles stand in the legend in the order of `looks`, then of
# the data.
new_picture <- function(parts, frames, looks = NULL, title = "", caption = character(), wide = NULL) {
  data <- do.call(rbind, parts)
  row.names(data) <- NULL
  panels <- unique(data$panel)
  if (!is.null(frames$log)) frames <- stats::setNames(rep(list(frames), length(panels)), panels)
  roles <- unique(c(rownames(looks), data$role))
  looks <- rbind(looks, ROLES[setdiff(roles, rownames(looks)), ])[roles, ]
  looks <- looks[rownames(looks) %in% data$role, , drop = FALSE]
  structure(data, class = c("riemdp_picture", "data.frame"), frames = frames, looks = looks, title = title,
            caption = caption, wide = wide)
}

# rows of a picture, and what a file may have made of it
#' @export
`[.riemdp_picture` <- function(x, ...) {
  out <- NextMethod()
  if (is.data.frame(out)) plain_table(out) else out
}

# ---- base graphics ---------------------------------------------------------------------------------------------------

#' @export
plot.riemdp_picture <- function(x, main = plain_letters(attr(x, "title")), ...) {
  frames <- attr(x, "frames")
  if (!is.list(frames) || !is.data.frame(attr(x, "looks"))) {
    abort_riemdp("argument", "the picture's frame is missing: make it again by plot_data().")
  }
  many <- length(frames) > 1
  words <- margin_words(x, many)
  first <- if (many) 0.2 else axis_room(frames[[1]])
  old <- if (many) open_panels(x, words, nzchar(main[1])) else widen_margins(frames[[1]], words, first)
  on.exit(graphics::par(old))
  for (i in seq_along(frames)) {
    part <- plain_table(x)[x$panel == names(frames)[i], , drop = FALSE]
    draw_panel(part, frames[[i]], attr(x, "looks"), if (many) names(frames)[i] else main[1], ...)
  }
  if (many && nzchar(main[1])) {
    wide <- graphics::strwidth(main[1], "inches", cex = 1 / graphics::par("cex"), font = 2)
    size <- whole_points(min(0.85, 0.97 * graphics::par("din")[1] / wide), 1) # of outer margins it is absolute
    graphics::mtext(main[1], 3, 0.3, outer = TRUE, font = 2, cex = size)
  }
  draw_words(words, many, first)
  invisible(x)
}

# base graphics' devices don't have Greek letters in all fonts
plain_letters <- function(words) {
  for (name in names(SYMBOLS)) words <- gsub(SYMBOLS[[name]], name, words, fixed = TRUE)
  words
}

# marks below are names, and written upwards
turned <- function(frame) any(nchar(frame$xmarks$labels) > 3) && length(frame$xmarks$at) > 4 && !frame$boxed

# lines of the margin below that an axis and its title take
axis_room <- function(frame) {
  if (frame$bare) return(0.2)
  if (!turned(frame)) return(if (nzchar(frame$xlab)) 2.6 else 1.6)
  max(graphics::strwidth(frame$xmarks$labels, "inches", cex = 0.85)) / line_inches() + 0.8
}

# a page of panels; the words of all are below them. Parameters as they were.
open_panels <- function(x, words, titled) {
  frames <- attr(x, "frames")
  across <- attr(x, "wide") %||% ceiling(sqrt(length(frames)))
  bare <- all(vapply(frames, `[[`, NA, "bare"))
  graphics::par(mfrow = c(ceiling(length(frames) / across), across),
                mar = if (bare) c(0.5, 0.5, 1.6, 0.5) else c(3, 3, 1.8, 0.8),
                oma = c(words$height + 0.3, 0, if (titled) 1.8 else 0, 0))
}

# Margins are left as they are where what belongs there has room: who adds to the picture needs them. Else they are
# widened, as far as something is left for the picture. Parameters as they were.
widen_margins <- function(frame, words, first) {
  mar <- graphics::par("mar")
  most <- 0.6 * graphics::par("fin") / line_inches()
  if (!is.null(frame$ymarks)) {
    room <- max(graphics::strwidth(frame$ymarks$labels, "inches", cex = 0.85)) / line_inches() + 1.2
    mar[2] <- max(mar[2], min(room + nzchar(frame$ylab), most[1]))
  }
  if (words$height > 0) mar[1] <- max(mar[1], min(first + words$height + 0.3, most[2]))
  if (all(mar == graphics::par("mar"))) list() else graphics::par(mar = mar)
}

draw_panel <- function(d, frame, looks, main, ...) {
  given <- list(...)
  small <- given$cex.main
  limits <- panel_limits(d, frame)
  first <- list(x = NA, xlim = limits$x, ylim = limits$y, log = frame$log, asp = if (frame$equal) 1 else NA,
                xlab = if (frame$bare) "" else frame$xlab, ylab = if (frame$bare) "" else frame$ylab)
  all <- c(first[setdiff(names(first), names(given))], given[setdiff(names(given), c("cex.main", "axes", "ann"))])
  do.call(graphics::plot.default, c(all, list(axes = FALSE, ann = FALSE)))
  if (!frame$bare && !isFALSE(given$axes)) {
    if (!identical(given$xaxt, "n")) draw_axis(1, frame)
    if (!identical(given$yaxt, "n")) draw_axis(2, frame)
    if (frame$boxed) graphics::box(col = "grey60")
    axis_title(1, all$xlab)
    axis_title(2, all$ylab, if (is.null(frame$ymarks)) 1.8 else graphics::par("mar")[2] - 1.1)
  }
  draw_title(main, small)
  for (role in unique(d$role)) for (kind in unique(d$kind[d$role == role])) {
    DRAWN[[kind]](d[d$role == role & d$kind == kind, , drop = FALSE], looks[role, ])
  }
}

# the height of a line of text in the margin
line_inches <- function() graphics::par("mai")[1] / max(graphics::par("mar")[1], 1e-9)

draw_axis <- function(side, frame) {
  marks <- if (side == 1) frame$xmarks else frame$ymarks
  log <- grepl(if (side == 1) "x" else "y", frame$log)
  if (is.null(marks) && log) {
    at <- graphics::axTicks(side)
    marks <- list(at = at, labels = vapply(at, format, "", digits = 3))
  }
  given <- list(side, mgp = c(2, 0.5, 0), cex.axis = 0.85, col = "grey60", col.axis = "grey20",
                lwd = if (frame$boxed) 1 else 0)
  upwards <- if (side == 1 && turned(frame)) 2 else if (log) 0 else side - 1
  if (!is.null(marks)) given <- c(given, list(at = marks$at, labels = marks$labels, las = upwards))
  if (!frame$boxed) given$pos <- 0.4 # beside the tiles, however wide the plane is
  do.call(graphics::axis, given)
}

# smaller where it wouldn't fit
axis_title <- function(side, words, line = 1.6) {
  room <- graphics::par("fin")[side]
  size <- whole_points(min(0.95, 0.95 * room / max(graphics::strwidth(words, "inches", cex = 1), 1e-6)))
  graphics::mtext(words, side, line, cex = size * graphics::par("cex"))
}

# what is drawn fits in; on logarithmic axes what is positive
panel_limits <- function(d, frame) {
  one <- function(values, given, log) {
    if (!is.null(given)) return(given)
    if (log) values <- values[values > 0]
    values <- values[is.finite(values)]
    if (!length(values)) return(c(0.5, 1.5))
    out <- range(values)
    if (diff(out) > 0) out else if (log) out * c(0.5, 2) else out + c(-1, 1) * max(0.05 * abs(out[1]), 1e-9)
  }
  across <- d$kind == "across"
  up <- d$kind == "up"
  out <- list(x = one(c(d$x[!across], d$xend), frame$xlim, grepl("x", frame$log)),
              y = one(c(d$y[!up], d$yend), frame$ylim, grepl("y", frame$log)))
  if (any(d$kind == "tile")) out <- lapply(out, function(v) v + c(-0.5, 0.5))
  out
}

# devices round sizes of letters to points, so that words that just fit might not
whole_points <- function(size, cex = graphics::par("cex")) {
  points <- graphics::par("ps") * cex
  max(1, floor(points * size)) / points
}

# titles are sentences: small, and smaller still where they wouldn't fit; centred over the plane
draw_title <- function(main, small = NULL) {
  wide <- max(0, graphics::strwidth(main, "inches", cex = 1, font = 2)) # strwidth() has par("cex") in it
  middle <- mean(graphics::par("plt")[1:2])
  room <- 1.95 * min(middle, 1 - middle) * graphics::par("fin")[1]
  graphics::title(main, cex.main = small %||% whole_points(min(0.85, room / max(wide, 1e-6))))
}

by_group <- function(d, draw) {
  for (g in unique(d$group)) draw(d[d$group == g, , drop = FALSE])
}

value_colours <- function(d, look) if (anyNA(d$value)) look$colour else landmark_colours(d$value)

DRAWN <- list(
  path = function(d, look) {
    by_group(d, function(one) graphics::lines(one$x, one$y, col = look$colour, lwd = 2 * look$width, lty = look$line))
  },
  area = function(d, look) {
    by_group(d, function(one) {
      graphics::polygon(one$x, one$y, border = NA, col = grDevices::adjustcolor(look$colour, 0.2))
    })
  },
  point = function(d, look) {
    graphics::points(d$x, d$y, pch = look$shape, cex = 0.55 * look$size, lwd = 2 * look$width,
                     col = value_colours(d, look))
  },
  segment = function(d, look) {
    graphics::segments(d$x, d$y, d$xend, d$yend, col = value_colours(d, look), lwd = 2 * look$width, lty = look$line)
  },
  tile = function(d, look) {
    graphics::rect(d$x - 0.5, d$y - 0.5, d$x + 0.5, d$y + 0.5, col = correlation_colours(d$value), border = "white",
                   lwd = 0.5)
  },
  text = function(d, look) {
    size <- 0.75
    cells <- !is.na(d$value) # a cell's words stay in it
    if (any(cells)) {
      wide <- diff(graphics::grconvertX(c(0, 1), "user", "inches")) / max(graphics::strwidth(d$text, "inches"))
      high <- diff(graphics::grconvertY(c(0, 1), "user", "inches")) / max(graphics::strheight(d$text, "inches"))
      size <- 0.85 * min(1, wide, 0.8 * high)
    }
    graphics::text(d$x, d$y, d$text, cex = size, xpd = NA,
                   col = ifelse(cells & abs(d$value) > 0.6, "white", look$colour))
  },
  across = function(d, look) graphics::abline(h = d$y, col = look$colour, lty = look$line, lwd = 2 * look$width),
  up = function(d, look) graphics::abline(v = d$x, col = look$colour, lty = look$line, lwd = 2 * look$width)
)

# ---- words below a picture -------------------------------------------------------------------------------------------

LEGEND_SIZE <- 0.8
CAPTION_SIZE <- 0.65

# the legend's entries with their rows and places, the caption's lines, and how many lines of a margin both need
margin_words <- function(p, outer) {
  looks <- attr(p, "looks")
  looks <- looks[looks$legend, , drop = FALSE]
  inches <- graphics::par(if (outer) "din" else "fin")[1] * 0.97
  wide <- vapply(rownames(looks), graphics::strwidth, 0, "inches", cex = LEGEND_SIZE) + 0.55
  row <- integer()
  left <- numeric()
  for (i in seq_along(wide)) { # in lines that are as long as there is room
    fits <- i > 1 && left[i - 1] + wide[i - 1] + wide[i] <= inches
    row[i] <- if (i == 1) 1 else row[i - 1] + !fits
    left[i] <- if (fits) left[i - 1] + wide[i - 1] else 0
  }
  letters <- graphics::strwidth("abcdefghijklmnopqrstuvwxyz", "inches", cex = CAPTION_SIZE) / 26
  lines <- plain_letters(attr(p, "caption"))
  lines <- unlist(lapply(lines, strwrap, width = max(20, floor(inches / letters)), exdent = 2))
  rows <- max(row, 0)
  length_of <- vapply(seq_len(rows), function(r) max(left[row == r] + wide[row == r]), 0)
  list(looks = looks, kinds = lapply(rownames(looks), function(role) unique(p$kind[p$role == role])), row = row,
       left = left, length = length_of, rows = rows, lines = lines,
       height = 1.1 * rows + 0.75 * length(lines) + (length(lines) > 0) * 0.4)
}

draw_words <- function(words, outer, first) {
  # places in inches from the left and in lines below the plane, in the last panel's coordinates
  line <- if (outer) graphics::par("omi")[1] / max(graphics::par("oma")[1], 1e-9) else line_inches()
  top <- if (outer) graphics::par("omi")[1] else graphics::par("mai")[1]
  size <- if (outer) graphics::par("din") else graphics::par("fin")
  area <- if (outer) "ndc" else "nfc"
  x <- function(inches) graphics::grconvertX(inches / size[1], area, "user")
  y <- function(lines) graphics::grconvertY((top - lines * line) / size[2], area, "user")
  middle <- if (outer) size[1] / 2 else mean(graphics::par("plt")[1:2]) * size[1]
  # below the middle of the plane, as far as the figure reaches
  start <- function(wide) max(0, min(middle - wide / 2, size[1] - wide))
  for (i in seq_len(nrow(words$looks))) {
    at <- start(words$length[words$row[i]]) + words$left[i]
    row <- y(first + 0.6 + 1.1 * (words$row[i] - 1))
    draw_key(words$looks[i, ], words$kinds[[i]], x(at + c(0.05, 0.2, 0.35)), row)
    graphics::text(x(at + 0.42), row, rownames(words$looks)[i], adj = c(0, 0.5), cex = LEGEND_SIZE, xpd = NA)
  }
  from <- first + 0.5 + 1.1 * words$rows + 0.1 * (words$rows > 0)
  for (i in seq_along(words$lines)) {
    wide <- graphics::strwidth(words$lines[i], "inches", cex = CAPTION_SIZE)
    graphics::text(x(start(wide) + wide / 2), y(from + 0.75 * (i - 1)), words$lines[i], cex = CAPTION_SIZE,
                   col = "grey30", xpd = NA)
  }
}

# how a role looks in the legend
draw_key <- function(look, kinds, x, y) {
  if ("area" %in% kinds) {
    high <- 0.35 * abs(diff(graphics::grconvertY(c(0, line_inches()), "inches", "ndc")))
    at <- graphics::grconvertY(graphics::grconvertY(y, "user", "ndc") + c(-high, high), "ndc", "user")
    graphics::rect(x[1], at[1], x[3], at[2], border = NA, col = grDevices::adjustcolor(look$colour, 0.2), xpd = NA)
  }
  if (any(c("path", "segment", "across", "up") %in% kinds)) {
    graphics::segments(x[1], y, x[3], y, col = look$colour, lty = look$line, lwd = 2 * look$width, xpd = NA)
  }
  if ("point" %in% kinds) {
    graphics::points(x[2], y, pch = look$shape, cex = min(1.2, 0.55 * look$size), lwd = 2 * look$width,
                     col = look$colour, xpd = NA)
  }
}
