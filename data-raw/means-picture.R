# The picture of the README. Run from the root of the package.
library(riemdp)
png("man/figures/means.png", 1500, 580, res = 165, type = "cairo") # then reduced to 32 colours
par(mfrow = c(1, 3), mar = c(3, 2, 2, 1), mgp = c(1.8, 0.6, 0), cex.main = 1.6, cex = 0.75)
direction <- function(lat, long) cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
x <- direction(quakes$lat * pi / 180, quakes$long * pi / 180)
returns <- 100 * diff(log(EuStockMarkets[, c("DAX", "FTSE")]))
months <- split.data.frame(returns, floor(as.numeric(time(returns)) * 12))
covariances <- simplify2array(lapply(months[vapply(months, nrow, 1L) >= 15], cov))
with_simulation(1, {
  plot(dp_mean(x, sphere(2), 0.05, direction(-20 * pi / 180, pi), 0.4), main = "a direction")
  plot(dp_mean(covariances, spd(2), 1, 0.5 * diag(2) + 0.5, 2.5), main = "a covariance matrix")
  plot(dp_mean(callosa, kendall(50), 3, callosum_template, 0.25), main = "a shape")
})
invisible(dev.off())
