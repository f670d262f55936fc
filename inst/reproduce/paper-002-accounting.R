# Privacy of the settings of Utpala, Han, Jawanpuria and Mishra (2023), Improved Differentially Private Riemannian Optimization, as
# published and as it is: noise that their bounds give for a nominal epsilon, what that noise is worth, and what it would have to be.
#
#   Rscript paper-002-accounting.R [file.csv] [quick|full]     the table of all settings, some minutes, and a picture beside it; quick: of two
#                                                              data sets
#
# All lengths are in units of the clipping length C = C0 = C1. Neighbours differ in one record replaced.

paper_002 <- list(
  n = c(pathmnist_1 = 10704, pathmnist_2 = 10356, mnist_1 = 6903, mnist_2 = 7877, mammals = 1180), # sections 6.3 and C
  epsilon = c(0.1, 0.3, 0.5), delta = 1e-6, methods = c("DP-RGD", "DP-RSGD", "DP-RSVRG"),
  share = (sqrt(14) - 1) / 13 # of the variance for the full gradient: the minimum of equation (3)
)

# Steps at the least numbers of epochs that section C tunes over: 10 full gradients; n single records (one epoch); 5 snapshots, each
# followed by n/10 single records.
paper_002_steps <- function(method, n) switch(method, "DP-RGD" = 10, "DP-RSGD" = n, "DP-RSVRG" = 5 * floor(n / 10))

# The paper's sigma: its moments bounds K(lambda) = slope lambda (lambda + 1)/sigma^2 (Claim 3; 3.5/n^2 of it for a sampled record, as
# in Claim 4, whose conditions aren't looked at; equation (3)), turned into epsilon by Mironov's conversion, which it gives:
# epsilon = min over lambda of slope (lambda + 1)/sigma^2 - log(delta)/lambda = s + 2 sqrt(s log(1/delta)), s = slope/sigma^2.
paper_002_sigma <- function(method, n, epsilon, delta) {
  a <- paper_002$share
  slope <- paper_002_steps(method, n) / n^2 * switch(method, "DP-RGD" = 2, "DP-RSGD" = 3.5 * 2, "DP-RSVRG" = 2 / a + 28 / (1 - a))
  l <- -log(delta)
  sqrt(slope) / (sqrt(l + epsilon) - sqrt(l))
}

# What is really done with the records
paper_002_event <- function(method, n, sigma) {
  a <- paper_002$share
  steps <- paper_002_steps(method, n)
  switch(method,
    "DP-RGD" = event_compose(event_gaussian(n * sigma / 2), times = steps),
    "DP-RSGD" = event_compose(event_sample(1 / n, event_gaussian(sigma / 2)), times = steps),
    # a snapshot's noise is drawn once; the paper's inner steps have sensitivity 4 C1
    "DP-RSVRG" = event_compose(event_compose(event_gaussian(n * sqrt(a) * sigma / 2), times = 5),
                               event_compose(event_sample(1 / n, event_gaussian(sqrt(1 - a) * sigma / 4)), times = steps))
  )
}

# One setting: sigma/C of the paper, the epsilon that it really gives (lower and upper bound), and sigma/C by two accountants
paper_002_row <- function(method, n, epsilon, delta = paper_002$delta) {
  sigma <- paper_002_sigma(method, n, epsilon, delta)
  true <- dp_bounds(paper_002_event(method, n, sigma), delta)
  needed <- function(accountant) {
    as.double(dp_calibrate(function(s) paper_002_event(method, n, s), epsilon, delta, accountant, tol = 1e-4))
  }
  data.frame(method = method, n = n, steps = paper_002_steps(method, n), epsilon = epsilon, delta = delta, sigma_paper = sigma,
             epsilon_lower = true[["lower"]], epsilon_upper = true[["upper"]], sigma_rdp = needed("rdp"), sigma_pld = needed("pld"))
}

paper_002_table <- function(n = unname(paper_002$n), epsilon = paper_002$epsilon, methods = paper_002$methods) {
  settings <- expand.grid(epsilon = epsilon, method = methods, n = n, stringsAsFactors = FALSE)
  do.call(rbind, Map(paper_002_row, settings$method, settings$n, settings$epsilon, USE.NAMES = FALSE))
}

if (sys.nframe() == 0) {
  library(riemdp)
  file <- commandArgs(TRUE)
  table <- paper_002_table(unname(paper_002$n[if ("quick" %in% file) c("mnist_1", "mammals") else TRUE]))
  print(format(table, digits = 4))
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], signif, 6)
  if (length(file)) utils::write.csv(table, file[1], row.names = FALSE, quote = FALSE)
  if (length(file) && requireNamespace("ggplot2", quietly = TRUE)) {
    library(ggplot2)
    grDevices::png(sub("[.]csv$", ".png", file[1]), 9, 5, units = "in", res = 150, type = if (capabilities("cairo")) "cairo" else getOption("bitmapType"))
    print(ggplot(table, aes(epsilon, epsilon_upper, colour = method, shape = method)) +
      geom_line(aes(epsilon, epsilon), linetype = 3, colour = "grey50", inherit.aes = FALSE) +
      geom_point(position = position_dodge(width = 0.06), size = 2.4) + scale_y_log10() + scale_x_continuous(breaks = paper_002$epsilon) +
      scale_colour_manual(values = riemdp_colours(3)) + theme_riemdp() +
      labs(x = "announced", y = "true epsilon, delta = 1e-6", title = "What the paper's noise is worth", subtitle = "Each point is a data set of the paper; dotted: as announced"))
    invisible(grDevices::dev.off())
  }
}
