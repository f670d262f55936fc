# Expected errors over mean_lower_bound(), space by space: the mechanism with the smallest error among those with the promise. Writes
# lower-bounds.csv beside this file: Rscript bench/lower-bounds.R
suppressPackageStartupMessages(library(riemdp))
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
spaces <- list(
  "flat 1" = list(euclidean(1), 1), "flat 2" = list(euclidean(2), 1), "flat 5" = list(euclidean(5), 1), "flat 10" = list(euclidean(10), 1),
  "S2" = list(sphere(2), 0.4), "S10" = list(sphere(10), 0.4), "SPD(3)" = list(spd(3), 1), "H2" = list(hyperbolic(2), 1),
  "kendall(10)" = list(kendall(10), 0.25), "Gr(4,2)" = list(grassmann(4, 2), 0.3), "St(5,2)" = list(stiefel(5, 2), 0.3)
)
ways <- c("laplace", "staircase", "wrapped", "gaussian", "wrapped_gaussian")
cases <- expand.grid(n = c(30, 100, 1000, 10000), epsilon = c(0.1, 1, 8), delta = c(0, 1e-6), space = names(spaces), stringsAsFactors = FALSE)
rows <- lapply(seq_len(nrow(cases)), function(i) {
  case <- cases[i, ]
  M <- spaces[[case$space]][[1]]
  radius <- spaces[[case$space]][[2]]
  plan <- as.data.frame(dp_mean_plan(M, case$n, case$epsilon, radius = radius, delta = case$delta, mechanism = ways))
  bound <- mean_lower_bound(M, case$n, case$epsilon, radius, delta = case$delta)
  error <- suppressWarnings(min(plan$expected_error[plan$label %in% c("pure", "approx")], na.rm = TRUE))
  if (!is.finite(error)) error <- NA
  data.frame(case[c("space", "n", "epsilon", "delta")], radius = radius, mechanism = plan$mechanism[match(error, plan$expected_error)],
             error = signif(error, 4), bound = signif(as.vector(bound), 4), argument = attr(bound, "argument"), axes = attr(bound, "axes"),
             ratio = round(error / as.vector(bound), 2))
})
table <- do.call(rbind, rows)
utils::write.csv(table, file.path(dirname(script), "lower-bounds.csv"), row.names = FALSE)
print(table, row.names = FALSE)
