# Expected errors of every mechanism over mean_lower_bound(), space by space, after large noise is answered as dp_mean() does by default. Writes
# lower-bounds.csv beside this file, some ten minutes: Rscript bench/lower-bounds.R
# `error`, `bound` and `ratio` are those of what "auto" chooses; `over_best` is that error over the smallest of all mechanisms for the
# Frechet mean with the promise; `over_alike` is that over the smallest of those with the same numerics, as a lattice's promise holds to the last
# digit; `trials` how many draws the chosen one tries on average, empty where it tries none. A column for each of them has its ratio: empty where it isn't offered.
suppressPackageStartupMessages(library(riemdp))
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
template <- function(k) exp(2i * pi * seq_len(k) / k)
spaces <- list(
  "flat 1" = list(euclidean(1), 1, 0), "flat 2" = list(euclidean(2), 1, c(0, 0)), "flat 5" = list(euclidean(5), 1, rep(0, 5)),
  "flat 10" = list(euclidean(10), 1, rep(0, 10)), "S2" = list(sphere(2), 0.4, c(0, 0, 1)), "S10" = list(sphere(10), 0.4, c(rep(0, 10), 1)),
  "SPD(3)" = list(spd(3), 1, diag(3)), "H2" = list(hyperbolic(2), 1, c(1, 0, 0)), "kendall(10)" = list(kendall(10), 0.25, template(10)),
  "kendall(50)" = list(kendall(50), 0.25, template(50)), "Gr(4,2)" = list(grassmann(4, 2), 0.3, diag(4)[, 1:2]),
  "St(5,2)" = list(stiefel(5, 2), 0.3, diag(5)[, 1:2])
)
ways <- c("laplace", "staircase", "wrapped", "wrapped_staircase", "kng", "laplace_truncated", "staircase_truncated", "euclidean", "gaussian",
          "wrapped_gaussian", "heat", "chordal")
cases <- expand.grid(delta = c(0, 1e-6), n = c(30, 100, 1000, 10000), epsilon = c(0.1, 1, 4, 8), space = names(spaces), stringsAsFactors = FALSE)
rows <- lapply(seq_len(nrow(cases)), function(i) {
  case <- cases[i, ]
  space <- spaces[[case$space]]
  plan <- as.data.frame(dp_mean_plan(space[[1]], case$n, case$epsilon, radius = space[[2]], center = space[[3]], delta = case$delta))
  bound <- mean_lower_bound(space[[1]], case$n, case$epsilon, space[[2]], delta = case$delta)
  promised <- plan$mechanism %in% ways & plan$label %in% c("pure", "approx")
  errors <- ifelse(promised, plan$expected_error, NA)[match(ways, plan$mechanism)]
  chosen <- which(plan$chosen)
  alike <- promised & plan$numerics %in% plan$numerics[chosen]
  message(paste(unlist(case), collapse = " "))
  data.frame(case[c("space", "n", "epsilon", "delta")], radius = space[[2]], mechanism = plan$mechanism[chosen],
             error = signif(plan$expected_error[chosen], 4), bound = signif(as.vector(bound), 4), argument = attr(bound, "argument"),
             axes = attr(bound, "axes"), ratio = round(plan$expected_error[chosen] / as.vector(bound), 2),
             over_best = round(plan$expected_error[chosen] / min(errors, na.rm = TRUE), 3),
             trials = signif(1 / plan$acceptance[chosen], 3), over_alike = round(plan$expected_error[chosen] / min(plan$expected_error[alike]), 3),
             as.list(stats::setNames(round(errors / as.vector(bound), 2), ways)))
})
table <- do.call(rbind, rows)
utils::write.csv(table, file.path(dirname(script), "lower-bounds.csv"), row.names = FALSE)
