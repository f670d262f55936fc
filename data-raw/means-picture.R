# The picture of the README. Run from the root of the package.
library(riemdp)
png("man/figures/means.png", 1500, 520, res = 130, type = "cairo")
par(mfrow = c(1, 3), mar = c(1, 1, 2, 1))
direction <- function(lat, long) cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
x <- direction(quakes$lat * pi / 180, quakes$long * pi / 180)
set.seed(1)
with_simulation(1, {
plot(dp_mean(x, sphere(2), 0.05, direction(-20 * pi / 180, pi), 0.4), main = "a direction")
plot(dp_mean(wishart_spd[, , 1:200], spd(2), 1, diag(2), 1.5), main = "a covariance matrix")
plot(dp_mean(callosa, kendall(50), 3, callosum_template, 0.25), main = "a shape")
})
invisible(dev.off())
