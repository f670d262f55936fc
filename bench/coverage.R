# How often 95 % regions about the population hold its mean, beside those about the estimate, and how wide they are. Writes coverage.csv beside
# this file: Rscript bench/coverage.R [runs a cell]. The population is that of records moved to the ball; its mean is that of 300,000 of them, and
# `plain` the radius without privacy for their covariance. epsilon is split by dp_region_plan() with a guess of the spread, the same for all laws.
suppressPackageStartupMessages(library(riemdp))
arguments <- commandArgs(TRUE)
runs <- if (length(arguments)) as.integer(arguments[1]) else 1000L
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
spaces <- list(
  "line" = list(euclidean(1), 1, 0), "flat 5" = list(euclidean(5), 1, rep(0, 5)), "S2" = list(sphere(2), 0.6, c(0, 0, 1)),
  "S9" = list(sphere(9), 0.6, c(rep(0, 9), 1)), "H2" = list(hyperbolic(2), 1, c(1, 0, 0)), "SPD(3)" = list(spd(3), 1, diag(3)),
  "kendall(10)" = list(kendall(10), 0.35, exp(2i * pi * (1:10) / 10))
)
# coordinates at the centre for a ball of radius 1, in d dimensions
laws <- list(
  normal = function(n, d) cbind(0.1, matrix(0, n, d - 1)) + matrix(stats::rnorm(n * d, sd = 0.4 / sqrt(d)), n),
  heavy = function(n, d) matrix(stats::rnorm(n * d, sd = 0.3 / sqrt(d)), n) * sqrt(4 / stats::rchisq(n, 4)),
  skewed = function(n, d) (matrix(stats::rexp(n * d), n) - 1) * 0.35 / sqrt(d),
  bimodal = function(n, d) cbind(0.5 * sample(c(-1, 1), n, TRUE, c(0.6, 0.4)), matrix(0, n, d - 1)) + matrix(stats::rnorm(n * d, sd = 0.15 / sqrt(d)), n),
  clipped = function(n, d) matrix(stats::rnorm(n * d, sd = 0.8 / sqrt(d)), n),
  `wrong centre` = function(n, d) cbind(0.6, matrix(0, n, d - 1)) + matrix(stats::rnorm(n * d, sd = 0.4 / sqrt(d)), n)
)
cases <- expand.grid(epsilon = c(0.2, 1, 10), n = c(50, 200, 1000, 10000), law = names(laws), space = names(spaces), stringsAsFactors = FALSE)
cases <- cases[cases$law == "normal" | cases$epsilon == 1, ]
drawn <- function(s, law, n) {
  a <- laws[[law]](n, mf_facts(s[[1]])$dimension)
  far <- sqrt(rowSums(a^2))
  list(a = a * pmin(1, 1 / far) * s[[2]], outside = mean(far > 1))
}
points <- function(s, a) mf_exp(s[[1]], s[[3]], mf_from_coords(s[[1]], s[[3]], a))
mf_facts <- getFromNamespace("mf_facts", "riemdp")
known <- list()
truth <- function(space, law) {
  key <- paste(space, law)
  if (is.null(known[[key]])) {
    s <- spaces[[space]]
    set.seed(1)
    found <- drawn(s, law, 3e5)
    x <- points(s, found$a)
    mean <- frechet_mean(x, s[[1]])$mean
    v <- mf_coords(s[[1]], mean, mf_log(s[[1]], mean, x))
    lambda <- eigen(crossprod(matrix(v, 3e5)) / 3e5, TRUE, only.values = TRUE)$values
    z <- matrix(stats::rnorm(1e5 * length(lambda))^2, length(lambda))
    known[[key]] <<- list(mean = mean, outside = found$outside, plain = sqrt(stats::quantile(colSums(lambda * z), 0.95, names = FALSE)))
  }
  known[[key]]
}
rows <- lapply(seq_len(nrow(cases)), function(i) {
  case <- cases[i, ]
  s <- spaces[[case$space]]
  true <- truth(case$space, case$law)
  plan <- dp_region_plan(s[[1]], case$n, case$epsilon, s[[3]], s[[2]], spread = 0.3 * s[[2]] / sqrt(mf_facts(s[[1]])$dimension))
  share <- plan$share[plan$chosen]
  out <- with_simulation(i, replicate(runs, {
    r <- dp_mean(points(s, drawn(s, case$law, case$n)$a), s[[1]], case$epsilon, s[[3]], s[[2]], variance = share, post = FALSE)
    c(mf_dist(s[[1]], r$value, true$mean), confint(r)$radius, confint(r, about = "estimate")$radius)
  }))
  message(paste(unlist(case), collapse = " "), " ", mean(out[1, ] <= out[2, ]))
  data.frame(case[c("space", "law", "n", "epsilon")], outside = signif(true$outside, 2), share = share, runs = runs,
             coverage = round(mean(out[1, ] <= out[2, ]), 4), by_estimate = round(mean(out[1, ] <= out[3, ]), 4),
             radius = signif(mean(out[2, ]), 3), plain = signif(true$plain / sqrt(case$n), 3), ball = s[[2]])
})
utils::write.csv(do.call(rbind, rows), file.path(dirname(script), "coverage.csv"), row.names = FALSE)
