# Half of a data set as public records for dp_bounds_plan(), the other half private: the error with the ball that is found over that of the best
# radius in hindsight, on public data sets. Writes balls.csv beside this file:
#   Rscript bench/balls.R [quick]
# Total errors are those of dp_bounds_plan(), of the private half: clipping by its own records, and the expected error of the noise. The best
# radius in hindsight is one for all splits of a data set, around the same centres: for a single split there is nearly always a radius with which
# the errors of centre and clipping happen to cancel. `few` has 20 public records in the place of half.
suppressPackageStartupMessages(library(riemdp))
Sys.setenv(RGL_USE_NULL = "TRUE")
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])

direction <- function(lat, long) cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
degrees <- pi / 180
unit <- function(x) x / sqrt(rowSums(x^2))
columns <- function(x) unname(as.matrix(x[stats::complete.cases(x), , drop = FALSE]))

# covariances of daily returns of two or more indices, in blocks of ten days
stock_blocks <- function(k) {
  returns <- 100 * diff(log(as.matrix(datasets::EuStockMarkets)))[, seq_len(k)]
  block <- (seq_len(nrow(returns)) - 1) %/% 10
  keep <- block < max(block)
  parts <- split(as.data.frame(returns[keep, ]), block[keep])
  array(vapply(parts, function(p) unname(stats::cov(p)), matrix(0, k, k)), c(k, k, length(parts)))
}

# leading directions of these covariances, up to sign
stock_axes <- function() {
  s <- stock_blocks(4)
  array(vapply(seq_len(dim(s)[3]), function(i) eigen(s[, , i])$vectors[, 1, drop = FALSE], matrix(0, 4, 1)), c(4, 1, dim(s)[3]))
}

# normal laws as points of the hyperbolic plane (Fisher's metric over 2), from the half-plane to the ball
normal_laws <- function(mean, sd) {
  z <- complex(real = mean / sqrt(2), imaginary = sd)
  w <- (z - 1i * 10) / (z + 1i * 10)
  cbind(Re(w), Im(w))
}

# unit normals of the surface of the volcano
volcano_normals <- function() {
  v <- datasets::volcano
  i <- 2:(nrow(v) - 1)
  j <- 2:(ncol(v) - 1)
  n <- unit(cbind(as.vector(v[i - 1, j] - v[i + 1, j]) / 20, as.vector(v[i, j - 1] - v[i, j + 1]) / 20, 1))
  n[seq(1, nrow(n), by = 5), ]
}

data_sets <- list(
  "quakes: epicentres" = function() list(sphere(2), with(datasets::quakes, direction(lat * degrees, long * degrees))),
  "state.center: states of the US" = function() list(sphere(2), with(datasets::state.center, direction(y * degrees, x * degrees))),
  "volcano: normals of its surface" = function() list(sphere(2), volcano_normals()),
  "EuStockMarkets: covariances, two indices" = function() list(spd(2), stock_blocks(2)),
  "EuStockMarkets: leading axes" = function() list(grassmann(4, 1), stock_axes()),
  "wishart_spd: simulated covariances" = function() list(spd(2), wishart_spd[, , 1:600]),
  "ChickWeight: weights of a chick as a normal law" = function() {
    w <- split(datasets::ChickWeight$weight, as.character(datasets::ChickWeight$Chick))
    w <- w[lengths(w) > 3]
    list(hyperbolic(2, "ball"), normal_laws(vapply(w, mean, 0) / 10, vapply(w, stats::sd, 0) / 10))
  },
  "callosa: outlines, every tenth landmark" = function() list(kendall(5), callosa[seq(1, 50, by = 10), , ]),
  "iris: logarithms of four lengths" = function() list(euclidean(4), log(columns(datasets::iris[1:4]))),
  "faithful: eruptions and waiting times" = function() list(euclidean(2), scale(columns(datasets::faithful))),
  "airquality: ozone, wind, temperature" = function() list(euclidean(3), scale(columns(datasets::airquality[c("Ozone", "Wind", "Temp")]))),
  "rivers: logarithms of lengths" = function() list(euclidean(1), log(datasets::rivers)),
  "precip: rain in cities" = function() list(euclidean(1), as.vector(datasets::precip)),
  "Nile: yearly flow" = function() list(euclidean(1), as.vector(datasets::Nile)),
  "lynx: logarithms of trappings" = function() list(euclidean(1), log(as.vector(datasets::lynx))),
  "morley: speed of light" = function() list(euclidean(1), datasets::morley$Speed),
  "USArrests: logarithms" = function() list(euclidean(3), log(columns(datasets::USArrests[c("Murder", "Assault", "Rape")]))),
  "red_wine: alcohol and pH" = function() list(euclidean(2), scale(columns(red_wine[c("alcohol", "pH")]))),
  "MASS::geyser: waiting and duration" = function() list(euclidean(2), scale(columns(MASS::geyser))),
  "MASS::crabs: logarithms of five lengths" = function() list(euclidean(5), log(columns(MASS::crabs[4:8]))),
  "MASS::Boston: values and status" = function() list(euclidean(2), scale(log(columns(MASS::Boston[c("medv", "lstat")])))),
  "cluster::ruspini: four clusters" = function() list(euclidean(2), scale(columns(cluster::ruspini))),
  "survival::lung: age and weight loss" = function() list(euclidean(2), scale(columns(survival::lung[c("age", "wt.loss")])))
)

records <- function(x, which) {
  d <- dim(x)
  if (is.null(d)) x[which] else if (length(d) == 3) x[, , which, drop = FALSE] else x[which, , drop = FALSE]
}
count <- function(x) if (is.null(dim(x))) length(x) else if (length(dim(x)) == 3) dim(x)[3] else nrow(x)

# squared totals of the private half: with the ball of the plan, and over a grid of radii around the same centre
split_errors <- function(M, x, public, radii, seed) {
  set.seed(seed)
  order <- sample(count(x))
  half <- count(x) %/% 2
  private <- records(x, order[-seq_len(half)])
  n <- count(private)
  plan <- dp_bounds_plan(M, n = n, epsilon = 1, public = records(x, order[seq_len(min(public, half))]))
  at <- function(r) dp_bounds_plan(M, n = n, epsilon = 1, public = private, centers = plan$center, radii = r)[]
  curve <- at(radii)
  found <- stats::setNames(curve$total^2, format(curve$radius, digits = 12))[format(sort(radii), digits = 12)]
  list(plan = at(plan$radius)$total^2, grid = found, radius = as.vector(plan$radius), mechanism = plan$mechanism)
}

ratio <- function(M, x, public, splits) {
  far <- stats::quantile(mf_dist(M, frechet_mean(x, M)$mean, x), c(0.5, 1), names = FALSE)
  radii <- exp(seq(log(far[1] / 6), log(1.6 * far[2]), length.out = 16))
  all <- lapply(seq_len(splits), function(seed) split_errors(M, x, public, radii, seed))
  grid <- rowMeans(do.call(cbind, lapply(all, `[[`, "grid")))
  c(ratio = sqrt(mean(vapply(all, `[[`, 0, "plan")) / min(grid, na.rm = TRUE)), error = sqrt(mean(vapply(all, `[[`, 0, "plan"))),
    radius = mean(vapply(all, `[[`, 0, "radius")))
}

rows <- lapply(names(data_sets), function(name) {
  made <- tryCatch(data_sets[[name]](), error = function(e) NULL) # a package that isn't here
  if (is.null(made)) return(NULL)
  M <- made[[1]]
  x <- made[[2]]
  splits <- if (quick) 2 else 6
  half <- ratio(M, x, Inf, splits)
  few <- ratio(M, x, 20, splits)
  row <- data.frame(data = name, space = sub("^<manifold> ", "", format(M)[1]), records = count(x), radius = signif(half[["radius"]], 3),
                    error = signif(half[["error"]], 3), half = round(half[["ratio"]], 2), few = round(few[["ratio"]], 2))
  message(paste(format(row), collapse = "  "))
  row
})
table <- do.call(rbind, rows)
if (!quick) utils::write.csv(table, file.path(dirname(script), "balls.csv"), row.names = FALSE)
print(table, row.names = FALSE)
