# Geodesic and linear regressions on real records, plain and private side by side: storm tracks, rat skulls, covariances of returns,
# sediments of a lake, wines. Data of other packages are used where these are installed.
# Usage: Rscript curves.R [directory for the pictures]
# Bounds are round numbers that one could write down beforehand; the text says where they come from.

library(riemdp)

target <- commandArgs(trailingOnly = TRUE)
target <- if (length(target)) target[1] else "."
dir.create(target, showWarnings = FALSE, recursive = TRUE)

picture <- function(name, expr, width = 1500, height = 760) {
  if (capabilities("png")) {
    file <- file.path(target, paste0(name, ".png"))
    grDevices::png(file, width = width, height = height, res = 120)
  } else {
    file <- file.path(target, paste0(name, ".pdf"))
    grDevices::pdf(file, width = width / 120, height = height / 120)
  }
  on.exit(grDevices::dev.off())
  graphics::par(mfrow = c(1, 2), mar = c(4, 4, 2.5, 0.5))
  force(expr)
  cat("picture:", file, "\n\n")
}
has <- function(package) {
  there <- nzchar(system.file(package = package))
  if (!there) cat("(package '", package, "' isn't installed: its example is left out)\n\n", sep = "")
  there
}
data_of <- function(name, package) {
  e <- new.env()
  utils::data(list = name, package = package, envir = e)
  e[[name]]
}
report <- function(title, fit, release, at) {
  apart <- sqrt(mean(mf_dist(fit$manifold, predict(fit, at), predict(release, at))^2))
  cat(title, "\n", sep = "")
  cat(format(release), sep = "\n")
  cat(sprintf("plain: R squared %.2f, residual standard deviation %.3g a coordinate; private curve %.3g from it (not private)\n",
              fit$r.squared, fit$sigma, apart))
}

# 1. Storm tracks on the globe ---------------------------------------------------------------------------------------------------
# A record is a position, every six hours. Public: storms of the tropical Atlantic start near 15 N, 45 W, stay within .6 radians (3,800 km) of
# it, move less than .15 radians (950 km) a day; half the bound of residuals is 130 km. Few records: a large epsilon.
if (has("dplyr")) {
  storms <- as.data.frame(data_of("storms", "dplyr"))
  degrees <- pi / 180
  on_globe <- function(lat, long) cbind(cos(lat * degrees) * cos(long * degrees), cos(lat * degrees) * sin(long * degrees), sin(lat * degrees))
  for (which in list(c("Joyce", 2000), c("Beryl", 1982))) {
    track <- storms[storms$name == which[1] & storms$year == as.numeric(which[2]), ]
    days <- (seq_len(nrow(track)) - 1) / 4
    records <- list(track = mf_points(on_globe(track$lat, track$long), sphere(2)), days = days)
    fit <- geodesic_regression(track ~ days, sphere(2), records)
    release <- dp_regression(track ~ days, sphere(2), records, epsilon = 8, center = drop(on_globe(15, -45)), radius = 0.6, speed = 0.15,
                             residual_bound = 0.04, bounds = c(0, 10))
    report(sprintf("Storm %s, %s: %d positions", which[1], which[2], length(days)), fit, release, data.frame(days = days))
    picture(tolower(paste(which, collapse = "-")), {
      plot(fit, main = sprintf("%s %s: records and plain geodesic", which[1], which[2]))
      plot(release)
    })
  }
}

# 2. Rat skulls over the logarithm of age ------------------------------------------------------------------------------------------
# A record is the outline of a skull, eight landmarks, of a rat that was X-rayed eight times from day 7 to day 150. Rats numbered up to 6
# stand for an earlier study, whose mean shape is public; the shapes of the others are the records. What is protected is one shape.
if (has("shapes")) {
  rats <- data_of("rats", "shapes")
  M <- kendall(8)
  earlier <- rats$no <= 6
  centre <- frechet_mean(mf_points(rats$x[, , earlier], M), M)$mean
  records <- list(skull = mf_points(rats$x[, , !earlier], M), log_age = log(rats$time[!earlier]))
  fit <- geodesic_regression(skull ~ log_age, M, records, origin = log(30))
  release <- dp_regression(skull ~ log_age, M, records, epsilon = 8, center = centre, radius = 0.1, speed = 0.15, residual_bound = 0.08,
                           bounds = log(c(7, 150)))
  report(sprintf("Rat skulls: %d shapes", length(records$log_age)), fit, release, data.frame(log_age = log(c(7, 14, 30, 60, 150))))
  picture("rats", {
    plot(fit, main = "Rat skulls from day 7 to 150: records and plain geodesic")
    plot(release)
  })
}

# 3. Covariances of returns over time ------------------------------------------------------------------------------------------------
# A record is a month: the covariance of the daily log returns (per cent) of DAX and FTSE. Public: about 1 % a day, correlation one half; within
# 2 of that in the affine-invariant metric; change by less than .5 a year; months scatter by 1.5 around their trend.
returns <- 100 * diff(log(EuStockMarkets[, c("DAX", "FTSE")]))
month <- floor(as.numeric(stats::time(returns)) * 12)
whole <- as.numeric(names(which(table(month) >= 15)))
covariances <- vapply(whole, function(m) stats::cov(returns[month == m, ]), matrix(0, 2, 2))
records <- list(covariance = mf_points(covariances, spd(2)), year = whole / 12)
fit <- geodesic_regression(covariance ~ year, spd(2), records, origin = 1995)
release <- dp_regression(covariance ~ year, spd(2), records, epsilon = 4, center = 0.5 * diag(2) + 0.5, radius = 2, speed = 0.5,
                         residual_bound = 1.5, bounds = c(1991.5, 1998.7))
report(sprintf("Covariances of DAX and FTSE: %d months", length(whole)), fit, release, data.frame(year = 1992:1998))
picture("stocks-over-time", {
  plot(fit, main = "Covariance of DAX and FTSE: months and plain geodesic")
  plot(release)
})

# 4. Sediments of an Arctic lake ------------------------------------------------------------------------------------------------------
# A record is a composition of sand, silt and clay at a depth: square roots lie on the sphere. Public: equal parts in the middle; every
# composition is within .96 of that; a sample scatters by .3; depths from 10 to 110 m on a log scale.
if (has("DirichletReg")) {
  lake <- as.data.frame(data_of("ArcticLake", "DirichletReg"))
  records <- list(parts = mf_points(mf_project(sphere(2), sqrt(as.matrix(lake[, c("sand", "silt", "clay")]))), sphere(2)), log_depth = log(lake$depth))
  fit <- geodesic_regression(parts ~ log_depth, sphere(2), records)
  release <- dp_regression(parts ~ log_depth, sphere(2), records, epsilon = 8, center = rep(1, 3) / sqrt(3), radius = 0.6, speed = 0.6,
                           residual_bound = 0.3, bounds = log(c(10, 110)))
  report(sprintf("Arctic lake: %d samples", nrow(lake)), fit, release, data.frame(log_depth = log(c(10, 20, 40, 80))))
  parts <- predict(release, data.frame(log_depth = log(c(10, 30, 100))))
  cat("private parts of sand, silt, clay at 10, 30 and 100 m:\n")
  print(round(parts^2 / rowSums(parts^2), 2))
  picture("arctic-lake", {
    plot(fit, main = "Arctic lake: roots of sand, silt, clay and plain geodesic")
    plot(release)
  })
}

# 5. Red wines ------------------------------------------------------------------------------------------------------------------------
# Density and pH over alcohol, with ranges that hold for table wine in general.
bounds <- list(alcohol = c(8, 15), density = c(center = 0.996, scale = 0.002), pH = c(center = 3.3, scale = 0.15))
plain <- stats::lm(cbind(density, pH) ~ alcohol, red_wine)
release <- dp_lm(cbind(density, pH) ~ alcohol, red_wine, epsilon = 1, bounds = bounds)
cat("Red wines:", nrow(red_wine), "records\n")
print(release)
cat("least squares (not private):\n")
print(stats::coef(plain))
picture("wines", for (name in c("density", "pH")) {
  graphics::plot(red_wine$alcohol, red_wine[[name]], pch = 20, cex = 0.5, col = "grey70", bty = "n", xlab = "alcohol, per cent", ylab = name)
  graphics::abline(stats::coef(plain)[, name], lwd = 2)
  graphics::abline(stats::coef(release)[, name], lwd = 2, lty = 2, col = riemdp_colours(3)[2])
  graphics::legend("topright", c("least squares", "private, epsilon 1"), lty = 1:2, lwd = 2, col = c("black", riemdp_colours(3)[2]), bty = "n")
})
