# Soto, Bharath, Reimherr and Slavkovic (2022), Figures 2 and 3: shapes of 409 corpora callosa with 50 landmarks. A sample, the mean, six
# private means by each method (epsilon = 1), and the same smoothed by local linear regression. The paper's shapes come from patients'
# images and aren't public; `callosa`, simulated, have their number and layout.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
source(file.path(here, "common.R"))
job <- start_job()

M <- kendall(50)
epsilon <- 1
releases <- if (job$quick) 12 else 60
mean_shape <- frechet_mean(callosa, M)$mean
# the paper's ball: around the mean, up to the farthest record; both from the records
bounds <- list(center = mean_shape, radius = max(mf_dist(M, callosa, mean_shape)) * (1 + 1e-9))
# a public one: the template, and a round figure
public <- list(center = callosum_template, radius = 0.25)
methods <- shape_methods(epsilon, bounds, public)

step <- steps(length(methods))
drawn <- with_simulation(2024, lapply(methods, function(arguments) {
  out <- replicate(releases, {
    r <- do.call(dp_mean, c(list(callosa, M), arguments))
    list(raw = as_complex(r$value), smooth = as_complex(smooth_outline(r)$value))
  }, simplify = FALSE)
  step()
  out
}))

table <- do.call(rbind, lapply(names(drawn), function(name) {
  calibration <- if (grepl("proven", name)) "honest" else "paper"
  do.call(rbind, lapply(c("raw", "smooth"), function(what) {
    z <- sapply(drawn[[name]], `[[`, what)
    d <- monte_carlo(mf_dist(M, z, mean_shape))
    x <- monte_carlo(apply(z, 2, crossings))
    words <- if (what == "smooth") ", smoothed" else ""
    rbind(number(paste0("shape distance to the mean", words), name, calibration, d[["value"]], d[["se"]]),
          number(paste0("crossings of the outline", words), name, calibration, x[["value"]], x[["se"]]))
  }))
}))
# what the paper says of its picture: KNG keeps the structure, point-wise noise distorts more, without alignment nothing is left
error <- function(name) table$value[table$setting == name & table$quantity == "shape distance to the mean"]
order <- function(step) {
  as.numeric(error(paste("K-norm gradient, paper's chain, step", step)) < error("point-wise Laplace, aligned, paper") &&
               error("point-wise Laplace, aligned, paper") < error("point-wise Laplace, not aligned, paper"))
}
table <- rbind(table, do.call(rbind, lapply(c(".001", ".01"), function(step) {
  number("gradient < aligned < not aligned", paste("error, chain's step", step), "paper", order(step), NA, paper = 1, source = "4.3, Figure 2",
         note = "1: this order holds; the paper doesn't state the step")
})),
               number("radius of the ball", "from the records", "paper", bounds$radius), number("radius of the ball", "public", "honest", public$radius))
save_numbers(job, table)

if (requireNamespace("ggplot2", quietly = TRUE)) {
  library(ggplot2)
  gallery <- function(what, names) {
    z <- do.call(cbind, lapply(names, function(name) sapply(drawn[[name]][1:6], `[[`, what)))
    labels <- paste0(rep(names, each = 6), c("", strrep(" ", 1:5)))
    # names only above the first of six
    autoplot(mf_points(z, M), center = mean_shape, panels = TRUE, labels = labels) +
      facet_wrap(~panel, ncol = 6, labeller = function(l) {
        l[[1]] <- ifelse(grepl(" $", l[[1]]), "", as.character(l[[1]]))
        l
      }) + theme(legend.position = "none", strip.text = element_text(size = 8), strip.clip = "off")
  }
  sample <- autoplot(mf_points(array(c(callosa[, , 1:10], NA), c(50, 2, 10)), M), center = mean_shape) +
    labs(title = "Ten of 409 simulated corpora callosa") + theme(legend.position = "none")
  save_picture(job, sample, 6, 3.5, "sample")
  middle <- autoplot(mf_points(mean_shape, M)) + labs(title = "Fréchet mean of all 409, not private")
  save_picture(job, middle, 6, 3.8, "mean")
  all <- names(methods)
  raw <- gallery("raw", all) + labs(title = "Six private means by each method, epsilon = 1",
                                    subtitle = "After Soto and others (2022), Figure 2; \"paper\": scales from the records, no guarantee")
  save_picture(job, raw, 10.5, 11)
  kept <- grep("not aligned", all, value = TRUE, invert = TRUE)
  smooth <- gallery("smooth", kept) + labs(title = "The same, smoothed by local linear regression",
                                           subtitle = "After Soto and others (2022), Figure 3; smoothing is post-processing and costs nothing")
  save_picture(job, smooth, 10.5, 9, "smoothed")
}
