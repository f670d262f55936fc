# How often 95 % regions about the population hold its mean, beside those about the estimate, and how wide they are. Writes coverage.csv beside
# this file, a row as soon as it is there, and goes on where it was stopped: Rscript bench/coverage.R [runs a cell] [processes].
# The population is that of records moved to the ball; its mean is that of a million of them. `size` is the radius of the ball that has the region's
# volume, `plain` that of the region without privacy for their covariance. epsilon is split by dp_region_plan() with a guess of the spread, the same
# for all laws and directions. Ellipsoids are for 1,000 records and more.
suppressPackageStartupMessages(library(riemdp))
arguments <- commandArgs(TRUE)
runs <- if (length(arguments)) as.integer(arguments[1]) else 1000L
processes <- if (length(arguments) > 1) as.integer(arguments[2]) else 1L
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
cases <- expand.grid(kind = c("ball", "ellipsoid"), epsilon = c(0.2, 1, 10), n = c(50, 200, 1000, 10000), law = names(laws), space = names(spaces),
                     stringsAsFactors = FALSE)
cases <- cases[cases$law == "normal" | cases$epsilon == 1, ]
cases <- cases[cases$kind == "ball" | cases$n >= 1000 & cases$space != "line", ]
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
    found <- drawn(s, law, 1e6)
    x <- points(s, found$a)
    mean <- frechet_mean(x, s[[1]])$mean
    v <- mf_coords(s[[1]], mean, mf_log(s[[1]], mean, x))
    lambda <- eigen(crossprod(matrix(v, 1e6)) / 1e6, TRUE, only.values = TRUE)$values
    half <- sqrt(lambda * stats::qchisq(0.95, length(lambda)))
    known[[key]] <<- list(mean = mean, outside = found$outside, plain = exp(mean(log(half))))
  }
  known[[key]]
}
file <- file.path(dirname(script), "coverage.csv")
seen <- if (file.exists(file)) utils::read.csv(file, colClasses = c(space = "character", law = "character"))
key <- function(t) paste(t$space, t$law, t$n, t$epsilon, t$kind)
todo <- which(!key(cases) %in% if (is.null(seen)) character() else key(seen))
volume <- function(region) if (is.null(region$half_axes)) region$radius else exp(mean(log(region$half_axes)))
# whether the region holds the mean, how large it is, and whether the region about the estimate holds it
released <- function(M, x, s, epsilon, share, kind, mechanism, true) {
  if (kind == "ball") {
    r <- dp_mean(x, M, epsilon, s[[3]], s[[2]], variance = share, mechanism = mechanism, post = FALSE)
    region <- confint(r)
  } else {
    r <- dp_mean(x, M, (1 - share) * epsilon, s[[3]], s[[2]], mechanism = mechanism, post = FALSE)
    region <- confint(r, covariance = dp_covariance(x, M, share * epsilon, s[[3]], s[[2]], at = r))
  }
  c(region_contains(region, true), volume(region), region_contains(confint(r, about = "estimate"), true))
}
one <- function(i) {
  case <- cases[i, ]
  s <- spaces[[case$space]]
  true <- truth(case$space, case$law)
  plan <- dp_region_plan(s[[1]], case$n, case$epsilon, s[[3]], s[[2]], kind = case$kind,
                         spread = 0.3 * s[[2]] / sqrt(mf_facts(s[[1]])$dimension))
  best <- plan[plan$chosen, ]
  out <- with_simulation(i, replicate(runs, released(s[[1]], points(s, drawn(s, case$law, case$n)$a), s, case$epsilon, best$share, case$kind,
                                                     best$mechanism, true$mean)))
  row <- data.frame(case[c("space", "law", "n", "epsilon", "kind")], outside = signif(true$outside, 2), share = best$share, runs = runs,
                    coverage = round(mean(out[1, ]), 4), by_estimate = round(mean(out[3, ]), 4), size = signif(mean(out[2, ]), 3),
                    plain = signif(true$plain / sqrt(case$n), 3), ball = s[[2]])
  utils::write.table(row, file, append = file.exists(file), sep = ",", qmethod = "double", row.names = FALSE, col.names = !file.exists(file))
}
# the cheap cells first
for (i in todo) truth(cases$space[i], cases$law[i])
invisible(parallel::mclapply(todo[order(cases$n[todo])], one, mc.cores = processes, mc.preschedule = FALSE))
