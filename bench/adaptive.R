# dp_mean(mechanism = "adaptive") against what one would do who knew: one stage of "laplace" on the ball of the records' mean and their largest
# distance from it, with all of epsilon. Writes adaptive.csv beside this file, some twenty minutes; with one of the notions of neighbours its rows
# alone, the others stay:
#   Rscript bench/adaptive.R [quick] [replace | add_remove]
# Ratios are errors over that one's expected error: mean over data sets with its standard error, median, and the expected error of one stage on
# the public ball. Flat: normal records with that standard deviation in each coordinate, half-way from the centre of a public ball of radius 1.
# SPD(3): tangent normals of sd .05, half-way from the centre of a ball of radius 3. `skew`: exponential records in place of normal ones.
# `add_remove`: the number of records is private for all three. The error of the one who knew is then that of 10 calls for each data set, as a part of
# the radius, averaged over all data sets of a row; and that of one stage on the public ball the plan's, for a mean half-way to the edge.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
source(file.path(dirname(script), "simulations.R"))
notions <- intersect(c("replace", "add_remove"), commandArgs(TRUE))
if (!length(notions)) notions <- c("replace", "add_remove")

flat <- function(wide, draw = rnorm) function(n, d) {
  u <- rnorm(d)
  x <- sweep(matrix(draw(n * d) / wide, n), 2, u / sqrt(sum(u^2)) / 2, "+")
  list(M = euclidean(d), x = if (d == 1) x[, 1] else x, center = rep(0, d), radius = 1)
}
matrices <- function(n, d) list(M = spd(3), x = around(spd(3), diag(3), 3, n, 0.05), center = diag(3), radius = 3)

one <- function(make, n, d, seed, neighbours) {
  set.seed(seed)
  s <- make(n, d)
  s$x <- mf_to_ball(s$M, s$x, s$center, s$radius) # clipping by the public ball is no error of the mechanism
  mean <- frechet_mean(s$x, s$M)$mean
  tight <- max(mf_dist(s$M, mean, s$x)) * (1 + 1e-9)
  known <- function(center, radius) {
    dp_mean_plan(s$M, n = n, epsilon = 1, center = center, radius = radius, mechanism = "laplace", neighbours = neighbours, post = FALSE)$expected_error
  }
  error <- function(center, radius, mechanism) {
    r <- dp_mean(s$x, s$M, 1, center, radius, mechanism = mechanism, neighbours = neighbours, post = FALSE)
    c(mf_dist(s$M, r$value, mean), r$details$shares["mean"])
  }
  ours <- simulated(seed, error(s$center, s$radius, "adaptive"))
  oracle <- if (neighbours == "replace") known(mean, tight) else simulated(-seed, mean(replicate(10, error(mean, tight, "laplace")[1])))
  c(error = ours[[1]], oracle = oracle, tight = tight, one = known(s$center, s$radius), early = 1 - ours[[2]])
}

row <- function(name, make, n, d, sets, neighbours = "replace") {
  all <- vapply(seq_len(if (quick) 3 else sets), function(seed) one(make, n, d, seed, neighbours), numeric(5))
  oracle <- if (neighbours == "replace") all["oracle", ] else all["tight", ] * mean(all["oracle", ] / all["tight", ])
  ratio <- all["error", ] / oracle
  out <- data.frame(records = name, neighbours = neighbours, n = n, d = d, sets = length(ratio), mean = mean(ratio),
                    se = stats::sd(ratio) / sqrt(length(ratio)), median = stats::median(ratio), one_stage = mean(all["one", ] / oracle),
                    early = mean(all["early", ]))
  out[6:10] <- signif(out[6:10], 3)
  said(out)
}

flats <- list(c(100, 1), c(300, 1), c(1000, 1), c(200, 2), c(300, 2), c(500, 2), c(300, 3), c(600, 6), c(1000, 10), c(1500, 10), c(2500, 10))
rows <- list()
if ("replace" %in% notions) {
  for (wide in c(3, 10, 1e3, 1e4)) for (s in flats) {
    rows <- c(rows, list(row(sprintf("flat, R/sd = %g", wide), flat(wide), s[1], s[2], if (s[2] < 10) 200 else 60)))
  }
  for (s in flats[c(2, 6, 8)]) rows <- c(rows, list(row("flat, R/sd = 1000, skew", flat(1e3, function(n) rexp(n) - 1), s[1], s[2], 100)))
  for (n in c(500, 2000, 10000)) rows <- c(rows, list(row("SPD(3), radius 3, sd .05", matrices, n, 6, if (n > 5000) 30 else 100)))
}
if ("add_remove" %in% notions) {
  for (wide in c(3, 10, 1e3)) for (s in flats[c(2, 3, 5, 6, 8, 11)]) {
    rows <- c(rows, list(row(sprintf("flat, R/sd = %g", wide), flat(wide), s[1], s[2], if (s[2] < 10) 100 else 60, "add_remove")))
  }
  for (n in c(500, 2000, 10000)) {
    rows <- c(rows, list(row("SPD(3), radius 3, sd .05", matrices, n, 6, if (n > 5000) 30 else 60, "add_remove")))
  }
}
kept(rows, "adaptive.csv", function(old) !old$neighbours %in% notions)
