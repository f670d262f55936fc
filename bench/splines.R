# Private smooth curves beside private geodesics: root mean squared distances to the curve that records scatter around, against n and epsilon.
# Writes splines.csv beside this file, in some minutes of one core:
#   Rscript bench/splines.R [quick]
# Curves: "bend", a wave across a short geodesic; "long", a wave across one that is twice as long as the radius around its middle would hold well.
# `spline`: dp_spline() with 9 B-splines at the public centre; `told`: what it expects of the noise. `along`: a third of epsilon for dp_regression(),
# the rest for dp_spline() along what that released, with a smaller radius. `geodesic`: dp_regression(). `plain_*`: without privacy. "stocks" are real:
# 1,855 five-day covariances of EuStockMarkets; distances there are to the plain spline, of records as they are: shortening logarithms to the radius,
# which `told` leaves out, is in them. Means of `draws` releases.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])

spaces <- list(S2 = list(M = sphere(2), center = c(0, 0, 1)), SPD3 = list(M = spd(3), center = diag(3)))
shapes <- list(bend = list(along = 0.8, across = 0.3, radius = 0.7, near = 0.5, speed = 1.5),
               long = list(along = 2, across = 0.25, radius = 1.3, near = 0.5, speed = 2.5))
grid <- seq(0.005, 0.995, 0.01)

track <- function(space, shape) {
  d <- mf_facts(space$M)$dimension
  function(t) {
    a <- matrix(0, length(t), d)
    a[, 1] <- shape$along * (t - 0.5)
    foot <- mf_exp(space$M, space$center, mf_from_coords(space$M, space$center, a))
    b <- matrix(0, length(t), d)
    b[, 2] <- shape$across * sin(2 * pi * t)
    mf_exp(space$M, foot, mf_transport(space$M, space$center, foot, mf_from_coords(space$M, space$center, b)))
  }
}

scattered <- function(M, points, sd) {
  d <- mf_facts(M)$dimension
  mf_exp(M, points, mf_from_coords(M, points, matrix(rnorm(length(grid_points(M, points)) * d, sd = sd), ncol = d)))
}
grid_points <- function(M, points) mf_points(points, M)

off <- function(M, fit, goal) sqrt(mean(mf_dist(M, predict(fit, data.frame(t = grid)), goal)^2))

one <- function(space, shape, n, epsilon) {
  M <- space$M
  curve <- track(space, shape)
  t <- runif(n)
  d <- list(t = t, y = scattered(M, curve(t), 0.04))
  goal <- curve(grid)
  spline <- function(epsilon, radius, ...) {
    dp_spline(y ~ bs(t, df = 8), M, d, epsilon, center = space$center, radius = radius, bounds = c(0, 1), ...)
  }
  geodesic <- function(epsilon) {
    dp_regression(y ~ t, M, d, epsilon, center = space$center, radius = shape$radius, speed = shape$speed, residual_bound = 0.4, bounds = c(0, 1))
  }
  r <- spline(epsilon, shape$radius)
  g <- geodesic(epsilon / 3)
  space$center <- g$value$p
  along <- spline(2 * epsilon / 3, shape$near, velocity = g$value$v)
  space$center <- spaces[[space$name]]$center
  c(spline = off(M, r, goal), told = r$expected_error, along = off(M, along, goal), geodesic = off(M, geodesic(epsilon), goal),
    plain_spline = off(M, spline_regression(y ~ bs(t, df = 8), M, d, center = space$center, bounds = c(0, 1)), goal),
    plain_geodesic = off(M, geodesic_regression(y ~ t, M, d, origin = 0.5), goal))
}

stocks <- function(epsilon) {
  M <- spd(2)
  returns <- 100 * diff(log(EuStockMarkets[, 1:2]))
  d <- list(t = seq_len(1855) / 1855, y = vapply(1:1855, function(i) cov(returns[i + 0:4, ]) + diag(0.05, 2), matrix(0, 2, 2)))
  center <- matrix(c(0.6, 0.3, 0.3, 0.6), 2)
  plain <- spline_regression(y ~ bs(t, df = 8), M, d, center = center, bounds = c(0, 1))
  goal <- predict(plain, data.frame(t = grid))
  r <- dp_spline(y ~ bs(t, df = 8), M, d, epsilon, center = center, radius = 3, bounds = c(0, 1))
  g <- dp_regression(y ~ t, M, d, epsilon, center = center, radius = 1.5, speed = 2, residual_bound = 2.5, bounds = c(0, 1))
  c(spline = off(M, r, goal), told = r$expected_error, along = NA, geodesic = off(M, g, goal), plain_spline = 0,
    plain_geodesic = off(M, geodesic_regression(y ~ t, M, d, origin = 0.5), goal))
}

cells <- expand.grid(curve = names(shapes), space = names(spaces), n = c(1000, 5000, 25000), epsilon = c(0.5, 1, 4), stringsAsFactors = FALSE)
if (quick) cells <- cells[cells$n == 1000 & cells$epsilon == 1, ]
draws <- if (quick) 3 else 6
rows <- lapply(seq_len(nrow(cells)), function(i) {
  cell <- cells[i, ]
  set.seed(i)
  runs <- if (cell$n > 5000) ceiling(draws / 4) else draws
  space <- c(spaces[[cell$space]], name = cell$space)
  found <- rowMeans(with_simulation(i, vapply(seq_len(runs), function(k) one(space, shapes[[cell$curve]], cell$n, cell$epsilon), numeric(6))))
  cat(paste(cell, collapse = " "), format(found, digits = 2), "\n")
  data.frame(cell, t(signif(found, 2)), draws = runs)
})
rows <- c(rows, lapply(c(0.5, 1, 4), function(epsilon) {
  found <- rowMeans(with_simulation(1, vapply(seq_len(draws), function(k) stocks(epsilon), numeric(6))))
  data.frame(curve = "stocks", space = "SPD2", n = 1855, epsilon = epsilon, t(signif(found, 2)), draws = draws)
}))
write.csv(do.call(rbind, rows), if (quick) stdout() else file.path(dirname(script), "splines.csv"), row.names = FALSE, na = "")
