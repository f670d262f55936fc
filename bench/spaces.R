# Rotations beside what R has, products beside their parts, correlation matrices beside the log-Euclidean metric: what bench.R has no rows
# for. Rscript bench/spaces.R [quick], after tools/setup; the package 'rotations' takes part where it is installed. Writes spaces.csv.
# Ratios are of pairs in one process, CPU seconds of one thread: peer over ours for rotations (more is better), else ours over the yardstick.
arguments <- commandArgs(TRUE)
quick <- "quick" %in% arguments
bench <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
.libPaths(c(file.path(bench, "..", "library"), .libPaths()))
Sys.setenv(OMP_NUM_THREADS = 1)
suppressPackageStartupMessages(library(riemdp))
source(file.path(bench, "workloads.R"))
seed <- 20240607
n <- if (quick) 500 else 1e4
pairs <- if (quick) 2 else 9
least <- if (quick) 0.02 else 0.15
rows <- NULL

cpu <- function(f, k) {
  start <- proc.time()
  for (i in seq_len(k)) f()
  sum((proc.time() - start)[1:2]) / k
}

# calls that fill `least` seconds
often <- function(f) {
  k <- 1
  while ((t <- cpu(f, k) * k) < least) k <- ceiling(k * if (t < least / 20) 10 else 1.2 * least / t)
  k
}

# `yard`: a list of functions, the sum of whose times is the yardstick
compare <- function(work, n, yardstick, target, ours, yard, times = rep(1, length(yard)), faster = FALSE) {
  k <- often(ours)
  each <- vapply(yard, often, 0)
  both <- replicate(pairs, c(cpu(ours, k), sum(times * mapply(cpu, yard, each))))
  ratio <- if (faster) both[2, ] / both[1, ] else both[1, ] / both[2, ]
  row <- data.frame(work = work, n = n, yardstick = yardstick, ours = median(both[1, ]), yard = median(both[2, ]), ratio = median(ratio), low = min(ratio),
                    high = max(ratio), target = target, met = if (faster) median(ratio) >= target else median(ratio) <= target)
  cat(sprintf("%-34s %-26s %8.3g s %8.3g s  %6.2f (%.2f to %.2f)  target %g %s\n", work, yardstick, row$ours, row$yard, row$ratio, row$low, row$high, target,
              if (row$met) "met" else "NOT MET"))
  rows <<- rbind(rows, row)
}

map_of <- function(M, x, y) {
  v <- mf_log(M, x, y)
  list(log = function() mf_log(M, x, y), exp = function() mf_exp(M, x, v), dist = function() mf_dist(M, x, y), transport = function() mf_transport(M, x, y, v),
       mean = function() frechet_mean(x, M)$mean)
}
after <- c(seq_len(n)[-1], 1)

# ---- rotations --------------------------------------------------------------------------------------------------------------------------------

P <- data_rotations(n, seed)
Q <- P[after, ]
arrays <- function(x) array(t(x), c(3, 3, nrow(x)))
M <- rotations(3)
own <- map_of(M, arrays(P), arrays(Q))
V <- rotations_log(P, Q)
same <- function(a, b) max(abs(a - b)) < 1e-14
stopifnot(same(arrays(V), own$log()), same(arrays(rotations_exp(P, V)), own$exp()), same(rotations_dist(P, Q), own$dist()))
plain <- list(log = function() rotations_log(P, Q), exp = function() rotations_exp(P, V), dist = function() rotations_dist(P, Q))
for (work in names(plain)) compare(paste("rotations(3):", work), n, "plain R, own bases", 3, own[[work]], plain[work], faster = TRUE)
if (requireNamespace("rotations", quietly = TRUE)) {
  at <- map_of(M, diag(3), arrays(Q)) # it takes logarithms at the identity
  R <- rotations::as.SO3(t(matrix(aperm(arrays(Q), c(2, 1, 3)), 9)))
  S <- log(R)
  theirs <- list(log = function() log(R), exp = function() rotations::skew.exp(S), dist = function() rotations::rot.dist(R, method = "intrinsic"))
  for (work in names(theirs)) compare(paste("rotations(3):", work), n, "rotations, at the identity", 3, at[[work]], theirs[work], faster = TRUE)
  compare("rotations(3): mean", n, "rotations, geometric", 3, own$mean, list(function() mean(rotations::as.SO3(P), type = "geometric")), faster = TRUE)
}

# ---- products ---------------------------------------------------------------------------------------------------------------------------------

ball <- data_sphere(n, 2, 0.7, seed)
matrices <- data_spd(n, 3, 0.4, seed)
circle <- data_circle(n, seed)
parts <- list(sphere = map_of(sphere(2), ball, ball[after, ]), spd = map_of(spd(3), matrices, matrices[, , after]),
              circle = map_of(sphere(1), circle, circle[after, ]))
in_one <- function(M, x) map_of(M, x, x[after, ])
wholes <- list(
  list("product(sphere(2), spd(3))", in_one(product(sphere(2), spd(3)), cbind(ball, t(matrix(matrices, 9)))), c(sphere = 1, spd = 1)),
  list("power(sphere(2), 5)", in_one(power(sphere(2), 5), do.call(cbind, rep(list(ball), 5))), c(sphere = 5)),
  list("torus(3)", in_one(torus(3), cbind(circle, circle, circle)), c(circle = 3))
)
for (whole in wholes) for (work in names(whole[[2]])) {
  compare(paste0(whole[[1]], ": ", work), n, "sum of its parts", 1.1, whole[[2]][[work]], lapply(parts[names(whole[[3]])], `[[`, work), whole[[3]])
}

# ---- correlation matrices ---------------------------------------------------------------------------------------------------------------------

for (k in c(5, 12)) {
  count <- if (quick) 50 else 1000
  x <- data_correlation(count, k, seed)
  y <- x[, , c(2:count, 1)]
  yard <- map_of(spd(k, "log-euclidean"), x, y)
  for (metric in c("off-log", "log-cholesky")) {
    own <- map_of(correlation(k, metric), x, y)
    for (work in names(own)) {
      compare(sprintf("correlation(%d, \"%s\"): %s", k, metric, work), count, "spd(k, \"log-euclidean\")", 1, own[[work]], yard[work])
    }
  }
}
if (!quick) utils::write.csv(cbind(rows[1:3], lapply(rows[4:8], signif, 4), rows[9:10]), file.path(bench, "spaces.csv"), row.names = FALSE)
