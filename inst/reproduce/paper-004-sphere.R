# Kulkarni and Soto (2025), 4.1 and appendix B: private geodesic regression of simulated records on the sphere, epsilon = 1 for each of foot
# point and vector; beside it dp_regression() at epsilon = 2.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
source(file.path(here, "common.R"))
job <- start_job()

M <- sphere(2)
sets <- if (job$quick) 12 else 100 # data sets for each mean
sizes <- if (job$quick) c(20, 40, 100) else c(10, 20, 30, 40, 50, 60, 80, 100)
speeds <- c(0.25, 0.5, 1)
pairs <- if (job$quick) 100 else 2000
step <- steps(length(sizes) + length(speeds) + 3)

# 4.1: points of a random geodesic at uniform times, noise of variance .001 a coordinate in the surrounding space, projected. The paper
# doesn't state the geodesic's length: uniform on (0, 1) unless given.
experiment <- function(n, speed = stats::runif(1)) {
  q <- drop(mf_random(M, 1))
  v <- drop(mf_random_tangent(M, q))
  t <- stats::runif(n)
  y <- mf_exp(M, q, outer(t, v / sqrt(sum(v^2)) * speed))
  # public knowledge for dp_regression(): a centre .1 off the middle of the true curve
  middle <- mf_exp(M, q, v / sqrt(sum(v^2)) * speed / 2)
  off <- drop(mf_random_tangent(M, middle))
  list(x = t, y = mf_project(M, y + stats::rnorm(3 * n, sd = sqrt(0.001))), center = mf_exp(M, middle, off / sqrt(sum(off^2)) * 0.1))
}

grid <- data.frame(x = seq(0, 1, 0.05))
honest <- function(d, fit, method) {
  r <- dp_regression(y ~ x, M, d[c("x", "y")], epsilon = 2, center = d$center, radius = pi / 8, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1),
                     method = method)
  c(mae = mean(mf_dist(M, predict(r, d["x"]), d$y)), gap = sqrt(mean(mf_dist(M, predict(r, grid), predict(fit, grid))^2)))
}
# distance of the curves from the plain one: of the first vector at each foot point
published_gap <- function(r) {
  plain <- predict(r$fit, grid)
  p <- as.matrix(r$p)
  mean(vapply(seq_along(r$v), function(i) {
    curve <- mf_exp(M, p[i, ], outer(grid$x, as.matrix(r$v[[i]])[1, ]))
    sqrt(mean(mf_dist(M, curve, plain)^2))
  }, 0))
}
one_set <- function(n, speed = stats::runif(1), feet = 11, methods = c("auto", if (n <= 20) "kng")) {
  d <- experiment(n, speed)
  r <- nonprivate_regression_kng(y ~ x, M, d, epsilon = 1, feet = feet)
  sound <- lapply(c(auto = "auto", kng = "kng"), function(m) if (m %in% methods) honest(d, r$fit, m) else c(mae = NA, gap = NA))
  c(plain = mean(r$fit$residuals), paper = mean(r$mae), distance = mean(r$distance), distance_sd = stats::sd(r$distance), angle = sqrt(mean(r$angle^2)) * 180 / pi,
    paper_gap = published_gap(r), unlist(sound))
}
many <- function(n, speed = NULL) {
  out <- t(replicate(sets, if (is.null(speed)) one_set(n) else one_set(n, speed, methods = "none")))
  list(mean = colMeans(out), se = apply(out, 2, stats::sd) / sqrt(sets), low = apply(out, 2, min), high = apply(out, 2, max))
}

with_simulation(2025, {
  # Figures 2 and 3: a single data set, 200 foot points with 200 vectors each
  feet <- if (job$quick) 40 else 200
  single <- nonprivate_regression_kng(y ~ x, M, experiment(20), epsilon = 1, feet = feet)
  step()
  table <- rbind(
    number("mean distance of foot points", "one data set, n = 20", "paper", mean(single$distance), NA, 0.01, "4.1"),
    number("standard deviation of that distance", "one data set, n = 20", "paper", stats::sd(single$distance), NA, 0.01, "4.1"),
    number("standard deviation of the angle, degrees", "one data set, n = 20", "paper", sqrt(mean(single$angle[1, ]^2)) * 180 / pi, NA, 5.47, "4.1",
           "about 1/|v|, which the paper doesn't state"),
    number("mean absolute error of the plain fit", "one data set, n = 20", "none", mean(single$fit$residuals), NA, 0.043, "4.1"),
    number("mean absolute error", "one data set, n = 20", "paper", mean(single$mae), NA, 0.11, "4.1", "not reproducible with the stated noise and scale"),
    number("standard deviation over foot points of that error", "one data set, n = 20", "paper", stats::sd(rowMeans(single$mae)), NA, 0, "4.1")
  )
  # means over data sets by the curve's speed
  for (speed in speeds) {
    at <- sprintf("n = 20, |v| = %g", speed)
    r <- many(20, speed)
    step()
    table <- rbind(table, number("mean distance of foot points", at, "paper", r$mean[["distance"]], r$se[["distance"]], 0.01, "4.1"),
                   number("standard deviation of the angle, degrees", at, "paper", r$mean[["angle"]], r$se[["angle"]], 5.47, "4.1"),
                   number("mean absolute error", at, "paper", r$mean[["paper"]], r$se[["paper"]], 0.11, "4.1"),
                   number("mean absolute error of the plain fit, least", at, "none", r$low[["plain"]], NA),
                   number("mean absolute error of the plain fit, largest", at, "none", r$high[["plain"]], NA))
  }
  # Figure 6
  for (n in sizes) {
    at <- sprintf("n = %d", n)
    r <- many(n)
    step()
    table <- rbind(table, number("mean absolute error of the plain fit", at, "none", r$mean[["plain"]], r$se[["plain"]]),
                   number("mean absolute error", at, "paper", r$mean[["paper"]], r$se[["paper"]]),
                   number("mean absolute error", at, "honest", r$mean[["auto.mae"]], r$se[["auto.mae"]], note = "dp_regression(), epsilon = 2, method auto"),
                   number("distance to the plain curve", at, "paper", r$mean[["paper_gap"]], r$se[["paper_gap"]]),
                   number("distance to the plain curve", at, "honest", r$mean[["auto.gap"]], r$se[["auto.gap"]], note = "dp_regression(), epsilon = 2, method auto"))
    if (n <= 20) {
      table <- rbind(table, number("mean absolute error, K-norm gradient", at, "honest", r$mean[["kng.mae"]], r$se[["kng.mae"]], note = "method kng"),
                     number("distance to the plain curve, K-norm gradient", at, "honest", r$mean[["kng.gap"]], r$se[["kng.gap"]], note = "method kng"))
    }
  }

  # Figure 5: bound over difference, of data sets that leave out the first and the last of 21 records, at the first one's fit
  ratio <- t(replicate(pairs, {
    d <- experiment(21)
    fit <- geodesic_regression(y ~ x, M, list(x = d$x[-1], y = d$y[-1, ]))
    p <- fit$coefficients$p
    v <- fit$coefficients$v
    tau <- max(mf_dist(M, predict(fit, d["x"]), d$y))
    g <- lapply(c(1, 21), function(i) geodesic_gradient(M, p, v, d$x[-i], d$y[-i, ]))
    2 * tau / 20 * c(cos(1) / sqrt(sum((g[[1]]$p - g[[2]]$p)^2)), sin(1) / sqrt(sum((g[[1]]$v - g[[2]]$v)^2)))
  }))
  step()
  # and the worst: residuals along the curve, opposite ways
  worst <- function(which, x = 1) {
    at <- mf_exp(M, NORTH, c(x, 0, 0))
    ahead <- drop(mf_transport(M, NORTH, at, c(1, 0, 0)))
    g <- lapply(c(-1, 1), function(s) geodesic_gradient(M, NORTH, c(1, 0, 0), x, matrix(mf_exp(M, at, 0.1 * s * ahead), 1))[[which]])
    0.2 * c(cos(1), sin(1))[which] / sqrt(sum((g[[1]] - g[[2]])^2))
  }
  for (i in 1:2) {
    of <- c("foot point", "vector")[i]
    table <- rbind(table, number(paste("bound over difference, mean,", of), "Figure 5", "paper", mean(ratio[, i]), stats::sd(ratio[, i]) / sqrt(pairs),
                                 c(3.12, 3.92)[i], "B", "the mean of a law with a heavy tail: it isn't stable"),
                   number(paste("bound over difference, median,", of), "Figure 5", "paper", stats::median(ratio[, i]), NA),
                   number(paste("share of ratios below 1,", of), "Figure 5", "paper", mean(ratio[, i] < 1), sqrt(mean(ratio[, i] < 1) * mean(ratio[, i] >= 1) / pairs),
                          0, "B: no values being smaller than one"),
                   number(paste("bound over difference, least possible,", of), "Figure 5", "paper", worst(i), 0, 1, "B",
                          "two records whose residuals point along the curve, opposite ways, x = 1"))
  }
  step()
})
save_numbers(job, table)

if (requireNamespace("ggplot2", quietly = TRUE)) {
  library(ggplot2)
  d <- table[grepl("^n = [0-9]+$", table$setting), ]
  d$n <- as.numeric(sub("n = ", "", d$setting))
  d$panel <- ifelse(grepl("^distance", d$quantity), "distance to the plain curve", "mean absolute error of the records")
  d$line <- ifelse(d$calibration == "none", "plain fit", ifelse(d$calibration == "paper", "as published (not private)",
            ifelse(grepl("K-norm", d$quantity), "dp_regression(), kng", "dp_regression(), auto")))
  lines <- c("plain fit", "as published (not private)", "dp_regression(), auto", "dp_regression(), kng")
  d$line <- factor(d$line, lines)
  p <- ggplot(d, aes(n, value, colour = line)) + geom_errorbar(aes(ymin = value - 2 * se, ymax = value + 2 * se), width = 0.02) + geom_line() + geom_point() +
    facet_wrap(~panel, scales = "free_y") + scale_x_log10(breaks = c(10, 20, 40, 100)) + scale_y_log10() +
    scale_colour_manual(values = riemdp_colours(4), breaks = lines) +
    labs(x = "number of records", y = NULL, title = "Private geodesic regression on the sphere, epsilon = 2 in total",
         subtitle = "After Kulkarni and Soto (2025), Figure 6; bars: 2 standard errors") + theme_riemdp(10)
  save_picture(job, p, 10, 4.5)
}
