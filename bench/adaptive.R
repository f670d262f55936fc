# dp_mean(mechanism = "adaptive") against what one would do who knew: one stage of "laplace" on the ball of the records' mean and their largest
# distance from it, with all of epsilon. Writes adaptive.csv beside this file, some twenty minutes:
#   Rscript bench/adaptive.R [quick]
# Ratios are errors over that one's expected error: mean over data sets with its standard error, median, and the expected error of one stage on
# the public ball. Flat: normal records with that standard deviation in each coordinate, half-way from the centre of a public ball of radius 1.
# SPD(3): tangent normals of sd .05, half-way from the centre of a ball of radius 3. `skew`: exponential records in place of normal ones.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])

around <- function(M, center, radius, n, sd) {
  v <- tangent_noise(M, center, 1, 1)
  middle <- mf_exp(M, center, v * (radius / 2 / mf_norm(M, center, v)))
  mf_exp(M, middle, tangent_noise(M, middle, n, sd))
}
flat <- function(wide, draw = rnorm) function(n, d) {
  u <- rnorm(d)
  x <- sweep(matrix(draw(n * d) / wide, n), 2, u / sqrt(sum(u^2)) / 2, "+")
  list(M = euclidean(d), x = if (d == 1) x[, 1] else x, center = rep(0, d), radius = 1)
}
matrices <- function(n, d) list(M = spd(3), x = around(spd(3), diag(3), 3, n, 0.05), center = diag(3), radius = 3)

one <- function(make, n, d, seed) {
  set.seed(seed)
  s <- make(n, d)
  s$x <- mf_to_ball(s$M, s$x, s$center, s$radius) # clipping by the public ball is no error of the mechanism
  mean <- frechet_mean(s$x, s$M)$mean
  known <- function(center, radius) dp_mean_plan(s$M, n = n, epsilon = 1, center = center, radius = radius, mechanism = "laplace")$expected_error
  oracle <- known(mean, max(mf_dist(s$M, mean, s$x)) * (1 + 1e-9))
  r <- riemdp:::with_simulation(seed, dp_mean(s$x, s$M, 1, s$center, s$radius, mechanism = "adaptive", post = FALSE))
  c(ratio = mf_dist(s$M, r$value, mean) / oracle, one = known(s$center, s$radius) / oracle, early = 1 - r$details$shares[["mean"]])
}

row <- function(name, make, n, d, sets) {
  all <- vapply(seq_len(if (quick) 3 else sets), function(seed) one(make, n, d, seed), numeric(3))
  out <- data.frame(records = name, n = n, d = d, sets = ncol(all), mean = mean(all[1, ]), se = stats::sd(all[1, ]) / sqrt(ncol(all)),
                    median = stats::median(all[1, ]), one_stage = mean(all[2, ]), early = mean(all[3, ]))
  out[5:9] <- signif(out[5:9], 3)
  message(paste(format(out), collapse = "  "))
  out
}

flats <- list(c(100, 1), c(300, 1), c(1000, 1), c(200, 2), c(300, 2), c(500, 2), c(300, 3), c(600, 6), c(1000, 10), c(1500, 10), c(2500, 10))
rows <- list()
for (wide in c(3, 10, 1e3, 1e4)) for (s in flats) {
  rows <- c(rows, list(row(sprintf("flat, R/sd = %g", wide), flat(wide), s[1], s[2], if (s[2] < 10) 200 else 60)))
}
for (s in flats[c(2, 6, 8)]) rows <- c(rows, list(row("flat, R/sd = 1000, skew", flat(1e3, function(n) rexp(n) - 1), s[1], s[2], 100)))
for (n in c(500, 2000, 10000)) rows <- c(rows, list(row("SPD(3), radius 3, sd .05", matrices, n, 6, if (n > 5000) 30 else 100)))
table <- do.call(rbind, rows)
if (!quick) utils::write.csv(table, file.path(dirname(script), "adaptive.csv"), row.names = FALSE)
print(table, row.names = FALSE)
