# Colours of all pictures.

# Okabe and Ito's palette: told apart by colour-blind readers and in grey
COLOURS <- c(record = "grey45", mean = "#0072B2", release = "#D55E00", ball = "#009E73", center = "#000000")

# how each role is drawn
ROLES <- data.frame(
  row.names = c("public ball", "public centre", "private mean", "mean", "median", "record", "private median",
                "prediction ball", "prediction", "released curve"),
  colour = COLOURS[c("ball", "center", "release", "mean", "mean", "record", "release", "release", "center", "center")],
  shape = c(NA, 3, 17, 17, 17, 16, 17, NA, 3, NA), size = c(1, 2.5, 3.5, 3.5, 3.5, 1.3, 3.5, 1, 2.5, 1),
  width = c(0.7, 0.5, 1.1, 1.1, 1.1, 0.3, 1.1, 0.7, 1.1, 1.1), line = c(2, 0, 0, 0, 0, 0, 0, 2, 0, 1)
)

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
