# What a lattice costs: expected error and time of dp_mean() with numerics = "lattice" over those with "real", the mechanism chosen by "auto" in
# both. Writes bench/lattice.csv.   Rscript bench/lattice.R [quick]      (after tools/setup)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
root <- normalizePath(file.path(dirname(script), ".."))
.libPaths(c(file.path(root, "library"), .libPaths()))
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
spaces <- list(list(euclidean(1), 1), list(euclidean(10), 1), list(sphere(2), 0.4), list(sphere(10), 0.4), list(hyperbolic(2), 1),
               list(hyperbolic(2), 15), list(spd(3), 1.5), list(spd(2, "bures"), 0.25), list(kendall(10), 0.35), list(kendall(50), 0.35),
               list(grassmann(4, 2), 0.4), list(stiefel(5, 2), 0.4))
seconds <- function(f, times) stats::median(vapply(seq_len(times), function(i) system.time(f())[[1]], 0))
rows <- list()
for (s in spaces) for (n in if (quick) 100 else c(100, 1000)) for (epsilon in c(1, 4, 8)) {
  M <- s[[1]]
  center <- .Call(riemdp:::riemdp_origin, M)
  x <- with_simulation(1, mf_exp(M, center, mf_from_coords(M, center, {
    a <- matrix(stats::rnorm(n * mf_facts(M)$dimension), n)
    a / sqrt(rowSums(a^2)) * s[[2]] * stats::runif(n)
  })))
  run <- function(numerics) dp_mean(x, M, epsilon, center, s[[2]], numerics = numerics)
  found <- lapply(c(lattice = "lattice", real = "real"), function(numerics) tryCatch(run(numerics), riemdp_error = function(e) NULL))
  if (is.null(found$lattice) || is.null(found$real)) next
  # plans are remembered by now: what is left is the mean and the draw
  time <- function(numerics) {
    times <- if (quick) 5 else 15
    seconds(function() for (i in 1:3) dp_mean(x, M, epsilon, center, s[[2]], mechanism = found[[numerics]]$mechanism, numerics = numerics), times)
  }
  rows[[length(rows) + 1]] <- data.frame(
    space = riemdp:::label_manifold(M), radius = s[[2]], n = n, epsilon = epsilon, lattice = found$lattice$mechanism, real = found$real$mechanism,
    error = signif(found$lattice$expected_error / found$real$expected_error, 4), time = signif(time("lattice") / time("real"), 3)
  )
  print(rows[[length(rows)]], row.names = FALSE)
}
out <- do.call(rbind, rows)
if (!quick) utils::write.csv(out, file.path(root, "bench", "lattice.csv"), row.names = FALSE)
