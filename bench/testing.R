# Power of dp_test() for two groups, beside the permutation test without privacy. Writes testing.csv beside this file, some ten minutes:
#   Rscript bench/testing.R [quick]
# Normal coordinates at the centre; the second half of the records is shifted by `shift` standard deviations along one axis. `plain`: share of data sets
# in which the statistic is among the largest 5 % of its 200 values; `private` and `decision`: the mean chance, exactly from the weights, of a
# p-value of at most .05, and of a rejection with alpha = .05. A public ball, and the bandwidth that follows from it. In "shapes, 3 modes" all but three
# directions vary a fifth as much.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
internal <- asNamespace("riemdp")

outline <- as.vector(mf_project(kendall(10), exp(2i * pi * (1:10) / 10)))
spaces <- list(
  `S^2` = list(M = sphere(2), origin = c(0, 0, 1), sd = rep(0.3, 2), radius = 0.9), `SPD(3)` = list(M = spd(3), origin = diag(3), sd = rep(0.3, 6), radius = 1.5),
  `shapes, k = 10` = list(M = kendall(10), origin = outline, sd = rep(0.05, 16), radius = 0.35),
  `shapes, 3 modes` = list(M = kendall(10), origin = outline, sd = rep(c(0.05, 0.01), c(3, 13)), radius = 0.35)
)

plans <- function(s, n, epsilon) {
  lapply(list(private = NULL, decision = 0.05), function(alpha) {
    ask <- internal$test_question(s$M, list(manifold = s$M, epsilon = epsilon, null = "equal", statistic = "kernel", kind = "gaussian", alpha = alpha, draws = 199, invalid = "error"),
                                  list(n = n, group = rep(1:2, each = n / 2)), NULL, NULL, s$origin, s$radius)
    list(ask = ask, law = internal$test_estimator$plan(ask)$law)
  })
}

one <- function(s, n, shift, all, seed) {
  set.seed(seed)
  d <- length(s$sd)
  draw <- function(shift) {
    a <- matrix(rnorm(n / 2 * d), n / 2) * rep(s$sd, each = n / 2)
    a[, 1] <- a[, 1] + shift * s$sd[1]
    mf_exp(s$M, s$origin, mf_from_coords(s$M, s$origin, a))
  }
  records <- list(x = draw(0), y = draw(shift), n = n, group = rep(1:2, each = n / 2))
  t <- with_simulation(seed, internal$test_statistics(records, all[[1]]$private$ask))
  chance <- function(plan) {
    w <- internal$law_weights(t, plan$law)
    sum(w[c(plan$law$at, plan$law$cells) <= 0.05 * plan$law$cells]) / sum(w)
  }
  c(plain = mean(t >= t[1]) <= 0.05, unlist(lapply(all, function(plan) vapply(plan, chance, 0))))
}

settings <- expand.grid(shift = c(0, 0.2, 0.3, 0.4, 0.5, 0.7, 1), n = c(500, 2000), space = names(spaces), stringsAsFactors = FALSE)
settings <- settings[settings$n == 500 | settings$shift %in% c(0.2, 0.3), ]
if (quick) settings <- settings[settings$n == 500 & settings$shift == 0.4, ]
epsilons <- c(0.5, 1, 2)
rows <- lapply(seq_len(nrow(settings)), function(i) {
  at <- settings[i, ]
  s <- spaces[[at$space]]
  sets <- if (quick) 10 else if (at$n == 500) 80 else 20
  all <- lapply(stats::setNames(epsilons, epsilons), function(epsilon) plans(s, at$n, epsilon))
  power <- rowMeans(vapply(seq_len(sets), function(seed) one(s, at$n, at$shift, all, seed), numeric(1 + 2 * length(epsilons))))
  out <- do.call(rbind, lapply(epsilons, function(e) {
    private <- power[[paste0(e, ".private")]]
    data.frame(space = at$space, n = at$n, shift = at$shift, epsilon = e, sets = sets, plain = signif(power[["plain"]], 3), private = signif(private, 3),
               decision = signif(power[[paste0(e, ".decision")]], 3), share = signif(private / power[["plain"]], 2))
  }))
  message(paste(format(out[epsilons == 1, ]), collapse = "  "))
  out
})
table <- do.call(rbind, rows)
if (!quick) utils::write.csv(table, file.path(dirname(script), "testing.csv"), row.names = FALSE)
print(table, row.names = FALSE)
