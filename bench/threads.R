# What options(riemdp.threads = 2) brings beside none, one and two busy neighbours on this machine's processors: clock time of user calls over that
# with one thread, by turns. A script of its own, a minute or two:
#   Rscript bench/threads.R [revision]
# writes bench/threads.csv: `ratio` is the median of pairs, `low` and `high` their quartiles. Where there is nothing to win it should be 1.
library(riemdp)
near <- function(M, n, o, sd) mf_points(mf_exp(M, o, mf_from_coords(M, o, matrix(stats::rnorm(n * mf_facts(M)$dimension, sd = sd), n))), M)
set.seed(1)
cases <- list(list("S^2", sphere(2), 1e5, c(0, 0, 1), 0.3), list("S^2", sphere(2), 1e6, c(0, 0, 1), 0.3), list("SPD(3)", spd(3), 1e5, diag(3), 0.3),
              list("SPD(3) log-Euclidean", spd(3, "log-euclidean"), 1e5, diag(3), 0.3), list("SPD(11)", spd(11), 5e4, diag(11), 0.1),
              list("Gr(50, 5)", grassmann(50, 5), 2e4, diag(50)[, 1:5], 0.02))
clock <- function(threads, call) {
  options(riemdp.threads = threads)
  start <- proc.time()[[3]]
  times <- 0
  while (proc.time()[[3]] - start < 0.15) {
    call()
    times <- times + 1
  }
  (proc.time()[[3]] - start) / times
}
measured <- function(case, neighbours) {
  M <- case[[2]]
  x <- case$x
  calls <- list(mean = function() frechet_mean(x, M), log = function() mf_log(M, case[[4]], x))
  do.call(rbind, lapply(names(calls), function(what) {
    calls[[what]]()
    pairs <- replicate(11, c(clock(1, calls[[what]]), clock(2, calls[[what]])))
    ratio <- stats::quantile(pairs[2, ] / pairs[1, ], c(0.25, 0.5, 0.75), names = FALSE)
    data.frame(space = case[[1]], n = case[[3]], call = what, busy = neighbours, one_ms = round(1e3 * stats::median(pairs[1, ]), 1),
               ratio = round(ratio[2], 2), low = round(ratio[1], 2), high = round(ratio[3], 2))
  }))
}
cases <- lapply(cases, function(case) c(case, list(x = near(case[[2]], case[[3]], case[[4]], case[[5]]))))
rows <- lapply(0:2, function(neighbours) {
  busy <- lapply(seq_len(neighbours), function(i) parallel::mcparallel(repeat sqrt(2), silent = TRUE))
  on.exit(for (job in busy) tools::pskill(job$pid))
  do.call(rbind, lapply(cases, measured, neighbours))
})
out <- cbind(do.call(rbind, rows), revision = c(commandArgs(TRUE), "")[1])
print(out, row.names = FALSE)
utils::write.csv(out, "bench/threads.csv", row.names = FALSE, quote = FALSE)
