# A ball by dp_ball() with epsilon and a mean on it with as much, against one mean with both on the public ball. Writes dp-ball.csv beside this file,
# some five minutes; the help of dp_ball() has its figures:
#   Rscript bench/dp-ball.R [quick]
# `ratio`: mean error of the first over that of the second over data sets, with its standard error; errors are distances from the mean of the records.
# Epsilon is 1 and 1 against 2. Records are normal, and `wide` is the public radius over their largest distance from their mean, which lies half-way
# from the public centre to the edge; for a tight ball, wide = 1, it is the centre. `place`: whether dp_ball() has all its stages, or by
# `shares = c(0.6, 0.4)` no place. `found`: the part of the calls that found a place; `radius`: the median released radius over that distance.
# With `add_remove` the number of records is private for ball and means. Means have `post = FALSE`: errors of the noise before it is answered.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
source(file.path(dirname(script), "simulations.R"))
sets <- if (quick) 3 else 120

spaces <- list("euclidean(2)" = list(M = euclidean(2), center = c(0, 0), radius = 1),
               "euclidean(5)" = list(M = euclidean(5), center = rep(0, 5), radius = 1), "spd(2)" = list(M = spd(2), center = diag(2), radius = 4))

# records whose largest distance from their mean is the radius over `wide`
drawn <- function(space, n, wide) {
  M <- space$M
  x <- around(M, space$center, space$radius, n, 1e-3 * space$radius, if (wide > 1) 0.5 else 0)
  mean <- frechet_mean(x, M)$mean
  v <- mf_log(M, mean, x)
  v <- v * (space$radius / wide / max(mf_norm(M, mean, v)))
  x <- mf_exp(M, mean, v)
  list(x = x, mean = mean, center = if (wide > 1) space$center else mean)
}

one <- function(space, n, wide, shares, neighbours, seed) {
  set.seed(seed)
  s <- drawn(space, n, wide)
  M <- space$M
  mean <- function(epsilon, center, radius) mf_dist(M, dp_mean(s$x, M, epsilon, center, radius, neighbours = neighbours, post = FALSE)$value, s$mean)
  simulated(seed, {
    ball <- dp_ball(s$x, M, 1, s$center, space$radius, shares = shares, neighbours = neighbours)
    c(two = mean(1, ball, ball), one = mean(2, s$center, space$radius), found = ball$found$radius < space$radius,
      radius = ball$value$radius / space$radius * wide)
  })
}

row <- function(name, n, wide, place, neighbours) {
  shares <- if (!place) c(0.6, 0.4)
  all <- vapply(seq_len(sets), function(seed) one(spaces[[name]], n, wide, shares, neighbours, seed), numeric(4))
  part <- apply(all[1:2, ], 1, function(e) stats::sd(e) / sqrt(sets) / mean(e))
  ratio <- mean(all["two", ]) / mean(all["one", ])
  said(data.frame(space = name, neighbours = neighbours, wide = wide, place = place, n = n, sets = sets, ratio = signif(ratio, 3),
                  se = signif(ratio * sqrt(sum(part^2)), 2), found = round(mean(all["found", ]), 2),
                  radius = signif(stats::median(all["radius", ]), 3)))
}

rows <- list()
for (n in c(50, 100, 300, 1000)) {
  for (name in c("euclidean(2)", "euclidean(5)")) for (wide in c(1, 20, 1000)) {
    for (place in c(TRUE, FALSE)) rows <- c(rows, list(row(name, n, wide, place, "replace")))
    if (wide < 1000) rows <- c(rows, list(row(name, n, wide, TRUE, "add_remove")))
  }
  for (wide in c(1, 20)) rows <- c(rows, list(row("spd(2)", n, wide, TRUE, "replace")))
}
kept(rows, "dp-ball.csv")
