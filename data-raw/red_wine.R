# The red wines of the UCI data set "Wine Quality" (number 186), taken from the CRAN package liver (data set red_wines),
# which keeps the original order of the rows. Only liver's data file is read: nothing is installed. Run from the root
# of the package.

folder <- tempfile("liver")
dir.create(folder)
archive <- download.packages("liver", folder, type = "source")[1, 2]
untar(archive, "liver/data/red_wines.RData", exdir = folder)
source_data <- new.env()
load(file.path(folder, "liver", "data", "red_wines.RData"), envir = source_data)
red_wine <- as.data.frame(source_data$red_wines)

# Snake case whatever the separators; pH keeps its symbol.
names(red_wine) <- sub("^ph$", "pH", gsub("[^a-z]+", "_", tolower(names(red_wine))))
red_wine$quality <- as.integer(red_wine$quality)
rownames(red_wine) <- NULL

# Mean squared error of least squares on alcohol, averaged over the four responses of Kulkarni and Soto; every column is
# standardised within the rows used, with divisor n.
wine_error <- function(rows) {
  z <- as.data.frame(lapply(red_wine[rows, ], function(v) (v - mean(v)) / sqrt(mean((v - mean(v))^2))))
  mean(residuals(lm(cbind(fixed_acidity, density, pH, residual_sugar) ~ alcohol, data = z))^2)
}

stopifnot(
  identical(dim(red_wine), c(1599L, 12L)),
  identical(names(red_wine), c(
    "fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides", "free_sulfur_dioxide",
    "total_sulfur_dioxide", "density", "pH", "sulphates", "alcohol", "quality"
  )),
  !anyNA(red_wine),
  # the published counts of the scores 3 to 8
  identical(as.vector(table(red_wine$quality)), c(10L, 53L, 681L, 638L, 199L, 18L)),
  abs(wine_error(1:100) - 0.87359) < 5e-6,
  abs(wine_error(1:1599) - 0.92649) < 5e-6
)

save(red_wine, file = "data/red_wine.rda", version = 2, compress = "xz")
unlink(folder, recursive = TRUE)
