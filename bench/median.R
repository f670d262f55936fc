# dp_median() against dp_mean() in wide balls, with and without outliers. Writes median.csv beside this file, some ten minutes:
#   Rscript bench/median.R [quick]
# Errors are medians over data sets, in standard deviations of the records along an axis: of dp_median() to the plain median of the records;
# of dp_mean() to the plain mean of those that are no outliers: by the best mechanism in a ball of four standard deviations around the truth
# (`tight`), by "adaptive" in the ball that the median has. Normal records; outliers at forty standard deviations, in one direction. The ball is
# `wide` times the tight one, its centre half its radius away from the truth.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])

spaces <- list(plane = list(M = euclidean(2), origin = c(0, 0), sd = 1), H2 = list(M = hyperbolic(2), origin = c(1, 0, 0), sd = 0.0025),
               `SPD(2)` = list(M = spd(2), origin = diag(2), sd = 0.0025), `SPD(3)` = list(M = spd(3), origin = diag(3), sd = 0.0025))

one <- function(s, n, outliers, wide, seed) {
  M <- s$M
  d <- mf_facts(M)$dimension
  set.seed(seed)
  a <- matrix(rnorm(n * d), n) * s$sd
  k <- round(outliers * n)
  if (k) a[seq_len(k), ] <- rep(c(40, rep(0, d - 1)), each = k) * s$sd
  put <- function(a) mf_exp(M, s$origin, mf_from_coords(M, s$origin, a))
  x <- put(a)
  away <- rnorm(d)
  radius <- 4 * s$sd * wide
  center <- put(matrix(away / sqrt(sum(away^2)) * radius / 2, 1))
  center <- if (length(dim(center)) == 3) center[, , 1] else drop(center)
  median <- frechet_median(x, M)$mean
  mean <- frechet_mean(put(a[(k + 1):n, ]), M)$mean
  error <- function(to, expr) tryCatch(mf_dist(M, to, expr$value) / s$sd, riemdp_error = function(e) NA_real_)
  with_simulation(seed, c(
    median = error(median, dp_median(x, M, 1, center, radius)),
    tight = error(mean, dp_mean(x, M, 1, s$origin, 4 * s$sd, numerics = "real")),
    adaptive = error(mean, dp_mean(x, M, 1, center, radius, mechanism = "adaptive", numerics = "real"))
  ))
}

settings <- expand.grid(wide = c(1, 100, 1000), n = c(100, 500, 2000), outliers = c(0, 0.05), space = names(spaces), stringsAsFactors = FALSE)
settings <- settings[settings$wide < 1000 | settings$space %in% c("plane", "H2"), ]
if (quick) settings <- settings[settings$n == 500 & settings$space != "SPD(3)", ]
rows <- lapply(seq_len(nrow(settings)), function(i) {
  at <- settings[i, ]
  sets <- if (quick) 5 else if (at$space == "SPD(3)") 40 else 100
  took <- system.time(e <- vapply(seq_len(sets), function(seed) one(spaces[[at$space]], at$n, at$outliers, at$wide, seed), numeric(3)))
  out <- data.frame(space = at$space, n = at$n, wide = at$wide, outliers = at$outliers, sets = sets,
                    t(signif(apply(e, 1, stats::median, na.rm = TRUE), 2)))
  message(paste(format(out), collapse = "  "), sprintf("  %.0f s", took[3]))
  out
})
table <- do.call(rbind, rows)
if (!quick) utils::write.csv(table, file.path(dirname(script), "median.csv"), row.names = FALSE)
print(table, row.names = FALSE)
