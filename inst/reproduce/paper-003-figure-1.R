# Reimherr, Bharath and Soto (2021), Figure 1: sensitivity and utility of the Laplace mechanism for the Frechet mean of SPD(2) (panels 1, 2)
# and of the sphere (panels 3, 4), against noise in the surrounding space. epsilon = 1.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
source(file.path(here, "common.R"))
job <- start_job()

replicates <- if (job$quick) 150 else 1500
copies <- 8 # releases of one data set, averaged: the standard error is one over data sets
pairs <- if (job$quick) 60 else 1000
sizes <- list(spd = if (job$quick) c(20, 40, 100) else c(20, 30, 40, 60, 80, 100, 150, 200),
              sphere = if (job$quick) c(10, 50, 200) else c(10, 20, 30, 50, 75, 100, 150, 200))
step <- steps(2 * sum(lengths(sizes)))
spaces <- list(
  spd = list(M = spd(2), r = 1.5, center = diag(2), sample = wishart_sample),
  sphere = list(M = sphere(2), r = pi / 8, center = NORTH, sample = polar_sample)
)

# panels 1 and 3: how far the mean moves when one record is drawn anew, and the bounds
moved <- function(space, n) {
  replicate(pairs, {
    x <- space$sample(n + 1, space$r)
    one <- if (is.matrix(x)) x[seq_len(n), ] else x[, , seq_len(n)]
    two <- if (is.matrix(x)) x[c(seq_len(n - 1), n + 1), ] else x[, , c(seq_len(n - 1), n + 1)]
    mf_dist(space$M, frechet_mean(one, space$M)$mean, frechet_mean(two, space$M)$mean)
  })
}

# scales of the three calibrations
scales <- function(name, n) {
  r <- spaces[[name]]$r
  bound <- function(calibration) as.numeric(mean_sensitivity(spaces[[name]]$M, n, r, calibration = calibration))
  if (name == "spd") {
    list(laplace_paper = bound("paper"), laplace_honest = bound("proven"), euclid_paper = 2 * expm1(r) / n,
         euclid_honest = exp(r) * 2 * r / n)
  } else {
    # the paper's simulations use the largest difference of logarithms on a grid, over h: its B.1
    empirical <- as.numeric(gradient_sensitivity(sphere(2), n, r)) / h_curved(2 * r)
    list(laplace_paper = empirical, laplace_theorem = bound("paper"), laplace_honest = bound("proven"), euclid_paper = 4 * sin(r / 2) / n,
         euclid_honest = 2 * sin(bound("proven") / 2))
  }
}

# panels 2 and 4: Euclidean distance of release and mean. The paper's noise for matrices is isotropic in vech; the honest bound is one in
# the Frobenius norm, so its noise is isotropic there.
utility <- function(name, n) {
  space <- spaces[[name]]
  s <- scales(name, n)
  runs <- vapply(seq_len(replicates), function(i) {
    center <- frechet_mean(space$sample(n, space$r), space$M)$mean
    flat <- if (name == "spd") vech(center) else center
    out <- vapply(grep("laplace", names(s), value = TRUE), function(law) {
      draw <- laplace_noise(space$M, center, s[[law]], copies)
      draw <- if (name == "spd") t(apply(draw, 3, vech)) else draw
      mean(sqrt(rowSums(sweep(draw, 2, flat)^2)))
    }, 0)
    if (name == "spd") out[["laplace_honest"]] <- out[["laplace_paper"]] # the same scale
    paper <- euclidean_laplace(copies, 3, s$euclid_paper)
    honest <- euclidean_laplace(copies, 3, s$euclid_honest)
    if (name == "spd") honest[, 2] <- honest[, 2] * sqrt(0.5)
    lost <- function(z) if (name == "spd") mean(!(flat[1] + z[, 1] > 0 & (flat[1] + z[, 1]) * (flat[3] + z[, 3]) > (flat[2] + z[, 2])^2)) else 0
    c(out, euclid_paper = mean(sqrt(rowSums(paper^2))), euclid_honest = mean(sqrt(rowSums(honest^2))),
      lost_paper = lost(paper), lost_honest = lost(honest))
  }, numeric(length(s) + 2))
  list(mean = rowMeans(runs), se = apply(runs, 1, stats::sd) / sqrt(replicates), runs = runs)
}

table <- with_simulation(2021, {
  do.call(rbind, lapply(names(spaces), function(name) {
    do.call(rbind, lapply(sizes[[name]], function(n) {
      at <- sprintf("%s, n = %d", if (name == "spd") "SPD(2), r = 1.5" else "sphere, r = pi/8", n)
      d <- moved(spaces[[name]], n)
      step()
      s <- scales(name, n)
      u <- utility(name, n)
      step()
      bound <- if (name == "spd") s$laplace_paper else s$laplace_theorem
      rows <- rbind(
        number("distance of neighbours' means, average", at, "none", mean(d), stats::sd(d) / sqrt(pairs)),
        number("distance of neighbours' means, largest", at, "none", max(d), NA),
        number("sensitivity bound", at, "paper", bound), number("sensitivity bound", at, "honest", s$laplace_honest)
      )
      rows <- rbind(rows, do.call(rbind, lapply(grep("lost", rownames(u$runs), value = TRUE, invert = TRUE), function(law) {
        words <- c(laplace = "Laplace on the manifold", euclid = "Laplace in the surrounding space")[[sub("_.*", "", law)]]
        note <- if (law == "laplace_theorem") "the bound of its Theorem 2; the simulations use the one of B.1" else ""
        number(paste("Euclidean error,", words), at, if (grepl("honest", law)) "honest" else "paper", u$mean[[law]], u$se[[law]], note = note)
      })))
      if (name == "spd") {
        rows <- rbind(rows, number("share not positive definite", at, "paper", u$mean[["lost_paper"]], u$se[["lost_paper"]],
                                   paper = if (n %in% 20:40) 0.25 else NA, source = if (n %in% 20:40) "5.1: about 25 % at n = 20 to 40" else "",
                                   note = "the paper's baseline is under-noised 1.8 times"),
                      number("share not positive definite", at, "honest", u$mean[["lost_honest"]], u$se[["lost_honest"]]))
      } else {
        less <- 1 - u$mean[["laplace_paper"]] / u$mean[["euclid_paper"]]
        se <- sqrt(u$se[["laplace_paper"]]^2 + (u$mean[["laplace_paper"]] / u$mean[["euclid_paper"]] * u$se[["euclid_paper"]])^2) /
          u$mean[["euclid_paper"]]
        told <- if (n == 10) 0.168 else if (n == 200) 0.12 else NA
        rows <- rbind(rows, number("less noise than in the surrounding space", at, "paper", less, se, paper = told,
                                   source = if (is.na(told)) "" else "5.2: 16.8 % at the smaller sizes, 12 % at the larger"),
                      number("less noise than in the surrounding space", at, "honest",
                             1 - u$mean[["laplace_honest"]] / u$mean[["euclid_honest"]],
                             sqrt(sum((c(u$se[["laplace_honest"]], u$se[["euclid_honest"]]) / u$mean[["euclid_honest"]])^2))))
      }
      rows
    }))
  }))
})
save_numbers(job, table)

if (requireNamespace("ggplot2", quietly = TRUE)) {
  library(ggplot2)
  table$n <- as.numeric(sub(".*n = ", "", table$setting))
  table$space <- ifelse(grepl("SPD", table$setting), "SPD(2)", "sphere")
  keep <- grepl("distance|bound|error", table$quantity) & !grepl("Theorem 2", table$note)
  d <- table[keep, ]
  d$panel <- factor(paste0(d$space, ": ", ifelse(grepl("error", d$quantity), "error of the release", "how far the mean moves")),
                    c("SPD(2): how far the mean moves", "SPD(2): error of the release", "sphere: how far the mean moves",
                      "sphere: error of the release"))
  d$line <- ifelse(grepl("average", d$quantity), "average", ifelse(grepl("largest", d$quantity), "largest seen",
            ifelse(grepl("bound", d$quantity), paste("bound,", d$calibration),
            paste0(ifelse(grepl("manifold", d$quantity), "Laplace on the manifold, ", "in the surrounding space, "), d$calibration))))
  lines <- c("average", "largest seen", "bound, paper", "bound, honest", "Laplace on the manifold, paper", "Laplace on the manifold, honest",
             "in the surrounding space, paper", "in the surrounding space, honest")
  d$line <- factor(d$line, lines)
  colours <- riemdp_colours(8)[c(6, 5, 2, 1, 2, 1, 4, 3)]
  kinds <- c(1, 1, 2, 1, 2, 1, 2, 1)
  # on SPD(2) the two bounds, and the two Laplace scales, are the same
  p <- ggplot(d, aes(n, value, colour = line, linetype = line)) +
    geom_ribbon(aes(ymin = value - 2 * se, ymax = value + 2 * se, fill = line), colour = NA, alpha = 0.2, show.legend = FALSE) +
    geom_line(linewidth = 0.8) + geom_point(size = 1.4) + facet_wrap(~panel, scales = "free", nrow = 1) +
    scale_x_log10() + scale_y_log10() + scale_colour_manual(values = colours, breaks = lines) +
    scale_fill_manual(values = colours, breaks = lines) + scale_linetype_manual(values = kinds, breaks = lines) +
    labs(x = "number of records", y = NULL, title = "Sensitivity and error of private Fréchet means, epsilon = 1",
         subtitle = "After Reimherr, Bharath and Soto (2021), Figure 1; dashed: the paper's calibration, solid: a proven one; bands: 2 standard errors") +
    theme_riemdp(10) + guides(colour = guide_legend(nrow = 2))
  save_picture(job, p, 13, 5)
}
