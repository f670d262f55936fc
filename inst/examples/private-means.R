# Private means of real records: covariances of monthly stock returns and epicentres of earthquakes.
# Usage: Rscript private-means.R [directory for the pictures]

library(riemdp)

target <- commandArgs(trailingOnly = TRUE)
target <- if (length(target)) target[1] else "."
dir.create(target, showWarnings = FALSE, recursive = TRUE)

picture <- function(name, expr) {
  if (capabilities("png")) {
    file <- file.path(target, paste0(name, ".png"))
    grDevices::png(file, width = 900, height = 900, res = 130)
  } else {
    file <- file.path(target, paste0(name, ".pdf"))
    grDevices::pdf(file)
  }
  on.exit(grDevices::dev.off())
  force(expr)
  cat("picture:", file, "\n\n")
}

# 1. Covariances of daily returns, one matrix a month --------------------------------------------------------------------------
# Each record is one month: the 4 x 4 covariance of the daily log returns (per cent) of DAX, SMI, CAC and FTSE.
returns <- 100 * diff(log(EuStockMarkets))
month <- floor(as.numeric(time(returns)) * 12)
days <- table(month)
whole <- names(days)[days >= 15]
covariances <- vapply(whole, function(m) stats::cov(returns[month == m, ]), matrix(0, 4, 4))

# Public centre: a round figure that could be written down without these records, 1 % a day and correlation one half.
usual <- 0.5 * diag(4) + 0.5
# Public radius: 3 in the affine-invariant metric, about a factor 4.5 in every direction at once, or 20 in a single one.
cat("Monthly return covariances of EuStockMarkets:", dim(covariances)[3], "records\n")
cat("public centre: 1 % a day, correlations one half, a round figure chosen without the records\n\n")
stocks <- dp_mean(covariances, spd(4), epsilon = 1, center = usual, radius = 3)
dimnames(stocks$value) <- list(colnames(EuStockMarkets), colnames(EuStockMarkets))
print(stocks)
cat(sprintf("expected error of the noise %.3g beside the public radius %.3g; mechanism: %s (%s)\n", stocks$expected_error, stocks$radius,
            stocks$mechanism, stocks$chosen))
picture("stocks", plot(stocks))

# 2. Epicentres as directions --------------------------------------------------------------------------------------------------
# Each record is one of 1,000 earthquakes near Fiji, as a unit vector.
direction <- function(lat, long) {
  cbind(x = cos(lat) * cos(long), y = cos(lat) * sin(long), z = sin(lat))
}
epicentres <- direction(quakes$lat * pi / 180, quakes$long * pi / 180)

# Public centre: 20 S, 180 E, from a map of the Tonga-Fiji region; public radius: .4 radians, 2,550 km.
fiji <- drop(direction(-20 * pi / 180, pi))
cat("Epicentres of quakes:", nrow(epicentres), "records\n")
cat("public centre: 20 S, 180 E, from a map of the region; radius .4 radians, some 2,550 km\n\n")
quake <- dp_mean(epicentres, sphere(2), epsilon = 1, center = fiji, radius = 0.4)
print(quake)
cat(sprintf("in degrees: latitude %.2f, longitude %.2f; expected error of the noise %.2f degrees\n",
            asin(quake$value[3]) * 180 / pi, (atan2(quake$value[2], quake$value[1]) * 180 / pi) %% 360,
            quake$expected_error * 180 / pi))
picture("quakes", plot(quake))

# 3. Simulated outlines of the corpus callosum ---------------------------------------------------------------------------------
# Thirty shapes of 50 landmarks have 96 dimensions to hide in: an honest example of too few records. The public centre is the
# mean of thirty other outlines, taken as an earlier, published study.
cat("What a private mean cannot do: 30 shapes at epsilon = 1\n\n")
earlier <- frechet_mean(callosa[, , 1:30], kendall(50))$mean
few <- dp_mean(callosa[, , 31:60], kendall(50), epsilon = 1, center = earlier, radius = 0.35)
cat(format(few), sep = "\n")
cat("\nThe same by noise that isn't confined to the ball:\n")
cat(format(dp_mean(callosa[, , 31:60], kendall(50), 1, earlier, 0.35, mechanism = "laplace"))[3:4], sep = "\n")
