# Geodesic regressions on data of other packages, where they are installed:
# source(system.file("examples", "curves.R", package = "riemdp"))
library(riemdp)
if (nzchar(system.file(package = "dplyr"))) { # the track of a storm; its records are times
  utils::data("storms", package = "dplyr", envir = environment())
  storm <- subset(storms, name == "Joyce" & year == 2000)
  lat <- storm$lat * pi / 180
  long <- storm$long * pi / 180
  track <- cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
  fit <- geodesic_regression(track ~ hours, sphere(2), list(hours = 6 * seq_along(lat)))
  plot(fit)
}

if (nzchar(system.file(package = "DirichletReg"))) { # compositions: square roots on the sphere
  utils::data("ArcticLake", package = "DirichletReg", envir = environment())
  root <- mf_project(sphere(2), sqrt(as.matrix(ArcticLake[, 1:3])))
  geodesic_regression(root ~ log(depth), sphere(2), ArcticLake)
}
