# Colours of all pictures.

# Okabe and Ito's palette: told apart by colour-blind readers and in grey
COLOURS <- c(record = "grey45", mean = "#0072B2", release = "#D55E00", ball = "#009E73", center = "#000000")

# how each role is drawn, and whether the legend names it
ROLES <- local({
  one <- function(role, colour, shape = 16, size = 1, width = 0.8, line = 1, legend = TRUE) {
    data.frame(row.names = role, colour = colour, shape = shape, size = size, width = width, line = line,
               legend = legend)
  }
  rbind(
    one("grid", "grey85", width = 0.4, legend = FALSE), one("edge", "grey60", width = 0.5, legend = FALSE),
    one("label", "grey40", legend = FALSE), one("cell", "grey20", legend = FALSE),
    one("shape", COLOURS[["mean"]], size = 2, width = 1, legend = FALSE),
    one("shape behind", COLOURS[["mean"]], width = 0.5, legend = FALSE),
    one("record", COLOURS[["record"]], size = 1.3, width = 0.35),
    one("public ball", COLOURS[["ball"]], line = 2), one("private ball", COLOURS[["release"]], line = 2),
    one("95 % noise region", COLOURS[["release"]], line = 3, width = 0.5),
    one("prediction ball", COLOURS[["release"]], size = 2, line = 2),
    one("private curve", COLOURS[["release"]], width = 1.1), one("released curve", COLOURS[["center"]], width = 1.1),
    one("fitted curve", COLOURS[["mean"]], width = 1.1), one("fitted points", COLOURS[["mean"]], shape = 17, size = 2),
    one("mean", COLOURS[["mean"]], shape = 17, size = 3.2, width = 1.2),
    one("median", COLOURS[["mean"]], shape = 17, size = 3.2, width = 1.2),
    one("private mean", COLOURS[["release"]], size = 3.2, width = 1.2),
    one("private median", COLOURS[["release"]], size = 3.2, width = 1.2),
    one("private centre", COLOURS[["release"]], size = 3.2, width = 1.2),
    one("prediction", COLOURS[["center"]], shape = 3, size = 3, width = 0.9),
    # on top: what is known beforehand stays in sight
    one("public centre", COLOURS[["center"]], shape = 3, size = 2.6, width = 0.7)
  )
})

#' @rdname theme_riemdp
#' @export
riemdp_colours <- function(n = 8, landmarks = FALSE) {
  landmarks <- check_flag(landmarks, "landmarks")
  n <- check_count(n, "n", most = if (landmarks) 1e6 else 8)
  if (landmarks) {
    # the lightest eighth is hard to see on white
    return(grDevices::hcl.colors(ceiling(n * 8 / 7), "Viridis")[seq_len(n)])
  }
  c("#0072B2", "#D55E00", "#009E73", "#E69F00", "#000000", "#56B4E9", "#CC79A7", "#F0E442")[seq_len(n)]
}

# of places along an outline, 0 to 1
landmark_colours <- function(value) riemdp_colours(256, TRUE)[1 + round(255 * pmin(pmax(value, 0), 1))]

# of correlations, -1 to 1
correlation_colours <- function(value) {
  ramp <- grDevices::colorRampPalette(c(COLOURS[["release"]], "white", COLOURS[["mean"]]))(201)
  ramp[101 + round(100 * pmin(pmax(value, -1), 1))]
}

# along a predictor: dark to light, ordered in grey as well
ramp_colours <- function(n) grDevices::hcl.colors(max(n, 2), "Viridis")[seq_len(n)]
