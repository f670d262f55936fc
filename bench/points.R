# Data objects of CRAN packages read by as_mf_points(), and one private mean of each. Writes points.csv beside this file, some seconds; packages that
# aren't there are left out (circular, compositions, rotations, shapes): Rscript bench/points.R [epsilon, 1]
# Centres and radii are round figures that follow from the space: a circle's and a globe's first axis with all but half of it, equal parts and 3,
# uncorrelated variables and 2, no rotation and 90 degrees, the first record's shape as if it had been published elsewhere and .3.
options(rgl.useNULL = TRUE)
suppressPackageStartupMessages(library(riemdp))
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
epsilon <- if (length(commandArgs(TRUE))) as.numeric(commandArgs(TRUE)[1]) else 1
set <- function(package, name) get(utils::data(list = name, package = package, envir = environment()), environment())
object <- function(package, name, M, center, radius, read = identity, ...) {
  list(package = package, object = name, M = M, center = center, radius = radius, read = read, how = list(...))
}
angle <- function(package, name, read = identity, ...) object(package, name, sphere(1), c(1, 0), 0.49 * pi, read, ...)
parts <- function(name, columns) {
  k <- length(columns)
  object("compositions", name, simplex(k), rep(1 / k, k), 3, function(x) as.matrix(as.data.frame(x)[columns]))
}
outlines <- function(name, read = function(x) x[, 1:2, ], package = "shapes") {
  list(package = package, object = name, radius = 0.3, read = read, how = list(), M = function(x) kendall(dim(x)[1]), center = function(x) x[, , 1])
}
weeks <- function(f) function(x) {
  returns <- diff(log(unclass(x)))
  lapply(split(seq_len(nrow(returns) %/% 10 * 10), rep(seq_len(nrow(returns) %/% 10), each = 10)), function(i) f(returns[i, ]))
}
objects <- list(
  object("datasets", "quakes", sphere(2), c(-1, 0, 0), 0.7, function(x) x[c("lat", "long")], units = "degrees"),
  object("datasets", "EuStockMarkets", spd(4), 1e-4 * diag(4), 3, weeks(stats::cov)),
  object("datasets", "EuStockMarkets", correlation(4), diag(4), 2, weeks(stats::cor)),
  object("riemdp", "wishart_spd", spd(2), diag(2), 3), outlines("callosa", package = "riemdp"),
  angle("circular", "wind", units = "radians"), angle("circular", "turtles", function(x) x$arrival, units = "degrees"), angle("circular", "pigeons", function(x) x$bearing, units = "degrees"),
  angle("circular", "swallows", function(x) x$heading, units = "degrees"), angle("circular", "ncfrog"), angle("circular", "fisherB1c"), angle("circular", "fisherB12c"),
  angle("circular", "fisherB6c", function(x) x[[1]]),
  parts("ArcticLake", c("sand", "silt", "clay")), parts("Boxite", LETTERS[1:5]), parts("Coxite", LETTERS[1:5]), parts("Hongite", LETTERS[1:5]),
  parts("Kongite", LETTERS[1:5]), parts("SkyeAFM", c("A", "F", "M")), parts("Bayesite", LETTERS[1:4]), parts("Blood23", c("P", "S", "L")),
  parts("SerumProtein", letters[1:4]), parts("Sediments", c("sand", "silt", "clay")), parts("HouseholdExp", c("Housing", "Food", "Other", "Services")),
  parts("Glacial", c("redsandstone", "graysandstone", "crystalline", "misc")), parts("Aar", c("SiO2", "Al2O3", "MgO", "CaO", "Na2O", "K2O")),
  parts("Hydrochem", c("Na", "K", "Mg", "Ca", "Cl", "HCO3")), parts("jura259", c("Cd", "Cu", "Pb", "Co", "Cr", "Ni", "Zn")),
  object("rotations", "drill", rotations(3), diag(3), 0.49 * pi, function(x) as.matrix(x[paste0("Q", 1:4)]), layout = "wxyz"),
  object("rotations", "nickel", rotations(3), diag(3), 0.49 * pi, function(x) as.matrix(x[paste0("V", 1:9)]), layout = "rows"),
  outlines("gorf.dat"), outlines("panf.dat"), outlines("pongof.dat"), outlines("macf.dat"), outlines("digit3.dat"), outlines("schizophrenia.dat"),
  outlines("qset2.dat"), outlines("mice", function(x) x$x)
)
rows <- lapply(objects, function(o) {
  if (!nzchar(system.file(package = o$package))) return(NULL)
  x <- o$read(set(o$package, o$object))
  if (is.function(o$M)) o$M <- o$M(x)
  if (is.function(o$center)) o$center <- o$center(x)
  points <- do.call(as_mf_points, c(list(x, o$M, invalid = "missing"), o$how))
  r <- dp_mean(points, o$M, epsilon, o$center, o$radius, invalid = "center")
  data.frame(package = o$package, object = o$object, space = sub("<manifold> ", "", format(o$M)[1]), n = length(points), missing = sum(is.na(points)),
             epsilon = epsilon, radius = signif(o$radius, 4), label = guarantee(r)$label, expected_error = signif(r$expected_error, 3))
})
table <- do.call(rbind, rows)
print(table)
utils::write.csv(table, file.path(dirname(script), "points.csv"), row.names = FALSE)
