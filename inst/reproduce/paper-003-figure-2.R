# Reimherr, Bharath and Soto (2021), Figure 2: the difference of two logarithms at a point of a ball on the sphere, against the ball's
# radius: 2r, the paper's bound 2r(2 - h), the largest on a grid; and the exact value. No noise.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
source(file.path(here, "common.R"))
job <- start_job()

radii <- seq(0.05, 0.78, length.out = if (job$quick) 12 else 40)
points <- if (job$quick) 120 else 720
step <- steps(length(radii))

# the footpoint is any point of the edge: the ball is symmetric
on_grid <- function(r) {
  t <- seq(0, 2 * pi, length.out = points + 1)[-1]
  edge <- cbind(sin(r) * cos(t), sin(r) * sin(t), cos(r))
  v <- mf_log(sphere(2), edge[points, ], edge)
  step()
  max(stats::dist(v))
}

table <- do.call(rbind, lapply(radii, function(r) {
  at <- sprintf("r = %.4f", r)
  exact <- as.numeric(gradient_sensitivity(sphere(2), 1, r))
  rbind(
    number("2r", at, "none", 2 * r), number("2r(2 - h)", at, "paper", 2 * r * (2 - h_curved(2 * r))),
    number("largest on a grid of the edge", at, "none", on_grid(r), note = sprintf("%d points", points)),
    number("exact value (gradient_sensitivity)", at, "honest", exact)
  )
}))
found <- function(q) table$value[table$quantity == q]
stopifnot(found("2r") < found("exact value (gradient_sensitivity)"),
          found("largest on a grid of the edge") <= found("exact value (gradient_sensitivity)") * (1 + 1e-9),
          found("exact value (gradient_sensitivity)") < found("2r(2 - h)"))
save_numbers(job, table)

if (requireNamespace("ggplot2", quietly = TRUE)) {
  library(ggplot2)
  table$r <- as.numeric(sub("r = ", "", table$setting))
  table$quantity <- factor(table$quantity, c("2r(2 - h)", "exact value (gradient_sensitivity)", "largest on a grid of the edge", "2r"))
  p <- ggplot(table, aes(r, value, colour = quantity, linetype = quantity)) +
    geom_line(data = table[table$quantity != "largest on a grid of the edge", ], linewidth = 0.9) +
    geom_point(data = table[table$quantity == "largest on a grid of the edge", ], size = 1.6) +
    scale_colour_manual(values = riemdp_colours(5)[c(2, 1, 5, 3)], drop = FALSE) +
    scale_linetype_manual(values = c(2, 1, 0, 3), drop = FALSE) +
    guides(colour = guide_legend(override.aes = list(shape = c(NA, NA, 16, NA)), nrow = 2)) +
    labs(x = "radius of the ball on the unit sphere", y = "largest |log x - log y|", title = "What one record can move",
         subtitle = "After Reimherr, Bharath and Soto (2021), Figure 2, with the exact value") + theme_riemdp()
  save_picture(job, p, 7, 5)
}
