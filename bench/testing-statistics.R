# Sizes and powers of dp_test() by variances within groups, Frechet ANOVA, independence and units, beside the permutation tests without
# privacy. Writes testing-statistics.csv beside this file, some ten minutes:
#   Rscript bench/testing-statistics.R [quick]
# Normal coordinates at the centre unless the cell says otherwise. `plain`: share of data sets in which the statistic is among the largest
# 5 % of its 200 values; `private` and `decision`: the mean chance, exactly from the weights, of a p-value of at most .05, and of a rejection
# with alpha = .05; `se`: the standard error of the first. `null`: "exact" where the p-value is proven to be uniform, "limit" where the level
# is that of a limit at most (proofs/testing.md, section 8), "beyond" where nothing is promised (of heavy tails straight distances and the ball
# take more, so variances differ), "false" for powers.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
internal <- asNamespace("riemdp")

outline <- as.vector(mf_project(kendall(10), exp(2i * pi * (1:10) / 10)))
spaces <- list(`S^2` = list(M = sphere(2), origin = c(0, 0, 1), sd = rep(0.25, 2), radius = 0.75),
               `SPD(3)` = list(M = spd(3), origin = diag(3), sd = rep(0.3, 6), radius = 1.5),
               `shapes, k = 10` = list(M = kendall(10), origin = outline, sd = rep(0.05, 16), radius = 0.35))

normal <- function(n, d) matrix(rnorm(n * d), n)
# of variance 1 in each direction
heavy <- function(n, d) normal(n, d) / sqrt(rchisq(n, 5) / 5) / sqrt(5 / 3)
skewed <- function(n, d) matrix(rexp(n * d) - 1, n)
lopsided <- function(n, d) normal(n, d) * rep(sqrt(2 * seq_len(d) / (d + 1)), each = n) # the same trace
first <- function(z, by) {
  z[, 1] <- z[, 1] + by
  z
}
# what each cell draws: coordinates in units of sd, and labels or predictors
groups <- function(share, a, b) function(n, d) {
  m <- round(share * n)
  list(z = rbind(a(m, d), b(n - m, d)), group = rep(1:2, c(m, n - m)))
}
trend <- function(x, of) function(n, d) {
  u <- x(n)
  list(z = of(u, d), predictors = matrix(2 * u - 1, 1))
}
even <- function(n) runif(n)
cells <- list(
  list("variance", "equal laws", "exact", groups(0.5, normal, normal)), list("variance", "equal laws, a fifth", "exact", groups(0.2, heavy, heavy)),
  list("variance", "other means", "limit", groups(0.5, normal, function(n, d) first(normal(n, d), 1))),
  list("variance", "other covariance, equal trace", "limit", groups(0.5, normal, lopsided)),
  list("variance", "heavy and normal, equal trace", "beyond", groups(0.5, normal, heavy)),
  list("variance", "heavy fifth, equal trace", "beyond", groups(0.2, heavy, normal)),
  list("anova", "equal laws", "exact", groups(0.5, skewed, skewed)), list("anova", "equal laws, a fifth", "exact", groups(0.2, heavy, heavy)),
  list("anova", "other covariance, equal trace", "beyond", groups(0.5, normal, lopsided)),
  list("anova", "heavy fifth, equal trace", "beyond", groups(0.2, heavy, normal)),
  list("independent", "independent", "exact", trend(even, function(u, d) normal(length(u), d))),
  list("independent", "independent, skewed", "exact", trend(function(n) rbeta(n, 0.5, 3), function(u, d) skewed(length(u), d))),
  list("variance", "sd times 1.15", "false", groups(0.5, normal, function(n, d) 1.15 * normal(n, d))),
  list("variance", "sd times 1.3", "false", groups(0.5, normal, function(n, d) 1.3 * normal(n, d))),
  list("variance", "sd times 1.6", "false", groups(0.5, normal, function(n, d) 1.6 * normal(n, d))),
  list("anova", "sd times 1.3", "false", groups(0.5, normal, function(n, d) 1.3 * normal(n, d))),
  list("anova", "shifted by .5 sd", "false", groups(0.5, normal, function(n, d) first(normal(n, d), 0.5))),
  list("anova", "shifted by 1 sd", "false", groups(0.5, normal, function(n, d) first(normal(n, d), 1))),
  list("independent", "slope 1 sd a range", "false", trend(even, function(u, d) first(normal(length(u), d), u))),
  list("independent", "slope 2 sd a range", "false", trend(even, function(u, d) first(normal(length(u), d), 2 * u))),
  list("independent", "slope 3 sd a range", "false", trend(even, function(u, d) first(normal(length(u), d), 3 * u)))
)

plans <- function(s, cell, made, n, epsilon) {
  null <- if (cell[[1]] == "independent") "independent" else "equal"
  lapply(list(private = NULL, decision = 0.05), function(alpha) {
    ask <- list(manifold = s$M, epsilon = epsilon, null = null, kind = "gaussian", statistic = if (null == "equal") cell[[1]] else "kernel", alpha = alpha,
                draws = 199, invalid = "error")
    ask <- internal$test_question(s$M, ask, c(list(n = n), made[-1]), NULL, NULL, s$origin, s$radius)
    list(ask = ask, law = internal$test_estimator$plan(ask)$law)
  })
}

one <- function(s, cell, n, epsilons, seed) {
  set.seed(seed)
  d <- length(s$sd)
  made <- cell[[4]](n, d)
  x <- mf_exp(s$M, s$origin, mf_from_coords(s$M, s$origin, made$z * rep(s$sd, each = n)))
  all <- lapply(stats::setNames(epsilons, epsilons), function(epsilon) plans(s, cell, made, n, epsilon))
  t <- with_simulation(seed, internal$test_statistics(c(list(x = x, n = n), made[-1]), all[[1]]$private$ask))
  chance <- function(plan) {
    w <- internal$law_weights(t, plan$law)
    sum(w[c(plan$law$at, plan$law$cells) <= 0.05 * plan$law$cells]) / sum(w)
  }
  c(plain = mean(t >= t[1]) <= 0.05, unlist(lapply(all, function(plan) vapply(plan, chance, 0))))
}

epsilons <- c(0.5, 1, 2, 20)
rows <- list()
for (space in names(spaces)) for (cell in cells) for (n in if (cell[[3]] == "false") 500 else c(60, 500)) {
  sets <- if (quick) 10 else if (cell[[3]] == "false") 50 else if (n == 60) 250 else 100
  got <- vapply(seq_len(sets), function(seed) one(spaces[[space]], cell, n, epsilons, seed), numeric(1 + 2 * length(epsilons)))
  mean <- rowMeans(got)
  se <- apply(got, 1, stats::sd) / sqrt(sets)
  out <- do.call(rbind, lapply(epsilons, function(e) {
    at <- paste0(e, c(".private", ".decision"))
    data.frame(space = space, statistic = cell[[1]], cell = cell[[2]], null = cell[[3]], n = n, epsilon = e, sets = sets, plain = signif(mean[["plain"]], 3),
               private = signif(mean[[at[1]]], 3), se = signif(se[[at[1]]], 2), decision = signif(mean[[at[2]]], 3))
  }))
  message(paste(format(out[epsilons == 1, ]), collapse = "  "))
  rows <- c(rows, list(out))
}
table <- do.call(rbind, rows)
if (!quick) utils::write.csv(table, file.path(dirname(script), "testing-statistics.csv"), row.names = FALSE)
false <- table$null %in% c("exact", "limit") & table$private > 0.05 + 2 * table$se
cat(sprintf("%d of %d cells of a null hypothesis are above .05 by more than two standard errors\n", sum(false), sum(table$null %in% c("exact", "limit"))))
print(table[false, ], row.names = FALSE)
