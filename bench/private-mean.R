# What privacy adds to a mean: dp_mean() beside frechet_mean() of the same records in the same run, by user calls with a plan that was made before.
# CPU microseconds a record, the median of five rounds by turns; a script of its own, a minute or two:
#   Rscript bench/private-mean.R [revision]
# writes bench/private-mean.csv: `ratio` is to the mean of the same round, `spread` how far records reach, as a part of the ball's radius.
library(riemdp)
n <- 1e4
cases <- list(
  list("S^2", sphere(2), 0.5, c(0, 0, 1)), list("S^50", sphere(50), 0.5, c(rep(0, 50), 1)), list("H^2", hyperbolic(2), 1, c(1, 0, 0)),
  list("SPD(3)", spd(3), 1, diag(3)), list("SPD(3)", spd(3), 3, diag(3)), list("SPD(11)", spd(11), 1, diag(11)), list("SPD(11)", spd(11), 4, diag(11)),
  list("HPD(2)", hermitian_spd(2), 1.5, diag(2)), list("SPD(3) log-Euclidean", spd(3, "log-euclidean"), 1.5, diag(3)),
  list("Kendall(50)", kendall(50), 0.25, exp(2i * pi * 1:50 / 50)), list("Gr(4, 2)", grassmann(4, 2), 0.3, diag(4)[, 1:2]),
  list("Gr(50, 5)", grassmann(50, 5), 0.25, diag(50)[, 1:5]), list("SO(3)", rotations(3), 0.4, diag(3)),
  list("S^2 x SPD(2)", product(sphere(2), spd(2)), 0.4, c(0, 0, 1, diag(2)))
)
microseconds <- function(f) {
  start <- proc.time()
  times <- 0
  repeat {
    f()
    times <- times + 1
    spent <- sum((proc.time() - start)[1:2])
    if (spent > 0.1) return(spent / times / n * 1e6)
  }
}
rows <- lapply(cases, function(case) do.call(rbind, lapply(c(0.3, 0.9), function(spread) {
  M <- case[[2]]
  radius <- case[[3]]
  centre <- case[[4]]
  set.seed(1)
  a <- matrix(stats::rnorm(n * mf_facts(M)$dimension), n)
  x <- mf_points(mf_exp(M, centre, mf_from_coords(M, centre, a / sqrt(rowSums(a^2)) * radius * spread)), M)
  private <- function(mechanism) function() dp_mean(x, M, epsilon = 1, center = centre, radius = radius, mechanism = mechanism)
  calls <- list(mean = function() frechet_mean(x, M), tangent = private("tangent"), laplace = private("laplace"))
  for (call in calls) call()
  cpu <- replicate(5, vapply(calls, microseconds, 0))
  data.frame(space = case[[1]], radius = radius, spread = spread, n = n, what = names(calls), us = round(apply(cpu, 1, stats::median), 2),
             ratio = round(apply(sweep(cpu, 2, cpu[1, ], "/"), 1, stats::median), 2))
})))
out <- cbind(do.call(rbind, rows), revision = c(commandArgs(TRUE), "")[1])
print(out, row.names = FALSE)
utils::write.csv(out, "bench/private-mean.csv", row.names = FALSE, quote = FALSE)
