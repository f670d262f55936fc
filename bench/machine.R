# What this machine can do, measured in the run: additions and multiplications a second in products of large matrices by the best BLAS at hand,
# and bytes a second read from memory. Sourced by bench.R.

# another BLAS than R's: RIEMDP_BENCH_BLAS=/path/to/libblas.so.3, or Debian's OpenBLAS where it is installed beside the one in use
other_blas <- function() {
  files <- c(Sys.getenv("RIEMDP_BENCH_BLAS"), Sys.glob("/usr/lib/*/openblas*/libblas.so.3"))
  files <- files[nzchar(files) & file.exists(files)]
  if (length(files) && normalizePath(files[1]) != normalizePath(extSoftVersion()[["BLAS"]])) files[1]
}

# lines that a script prints in a process with that BLAS, or with R's own
run_with_blas <- function(blas, script, ...) {
  env <- if (!is.null(blas)) paste0("LD_PRELOAD=", blas)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), ...), stdout = TRUE, env = env)
}

# c(flops, bytes): a second of CPU time
machine_rates <- function(blas) {
  script <- tempfile(tmpdir = scratch, fileext = ".R")
  writeLines(c(
    "options(matprod = 'blas')",
    "cpu <- function(f) { f(); min(replicate(7, { t <- proc.time(); f(); sum((proc.time() - t)[1:2]) })) }",
    "a <- matrix(runif(1.44e6), 1200)",
    "b <- matrix(runif(4e7), 4e4)",
    "cat(2 * 1200^3 / cpu(function() a %*% a), 8 * 4e7 / cpu(function() b %*% rep(1, 1000)))"
  ), script)
  out <- lapply(c(list(NULL), if (!is.null(blas)) list(blas)), function(b) as.double(strsplit(run_with_blas(b, script), " ")[[1]]))
  c(flops = max(vapply(out, `[`, 0, 1)), bytes = max(vapply(out, `[`, 0, 2)))
}

# Additions and multiplications a record and pass, by textbook counts: triangular solves and products of k x k matrices where the result is
# symmetric k^3, an eigenproblem with vectors 9 k^3, without them 4/3 k^3, a singular value decomposition of p x p 20 p^3, a function of a
# number (arc cosine, logarithm) 20
FLOPS <- list(
  spd_affine = function(k) 2 * k^3 + 9 * k^3 + k^3 + 20 * k,
  spd_bures = function(k) 2 * k^3 + 9 * k^3 + k^3,
  sphere = function(k) 4 * k + 40, ball = function(k) 6 * k + 40, kendall = function(k) 16 * k + 40,
  stiefel = function(k, p) 6 * k * p^2 + 25 * (2 * p)^3, grassmann = function(k, p) 6 * k * p^2 + 20 * p^3,
  log_spd = function(k) k^3 / 3 + 2 * k^3 + 9 * k^3 + k^3 + 2 * k^3, exp_spd = function(k) k^3 / 3 + 2 * k^3 + 9 * k^3 + k^3 + 2 * k^3,
  dist_spd = function(k) k^3 / 3 + k^3 + 4 / 3 * k^3 + 20 * k, transport_spd = function(k) 2 * k^3 / 3 + k^3 + 9 * k^3 + k^3 + 4 * k^3,
  pairs_spd = function(k) k^3 + 4 / 3 * k^3 + 20 * k,
  log_sphere = function(k) 6 * k + 40, exp_sphere = function(k) 6 * k + 40, dist_sphere = function(k) 4 * k + 20, transport_sphere = function(k) 8 * k
)

# Seconds that a row can't be done in on this machine: what its arithmetic takes at the rate of large products, or its numbers at that of memory,
# whichever is longer. A mean has three passes over its records: a start, a step that meets the tolerance, the sum of squares.
floor_of <- function(cost, n, d, rates) {
  if (is.null(cost)) return(NA_real_)
  x <- if (is.null(d$x)) d$p else d$x
  bytes <- 8 * cost$arrays * length(x) / n * (1 + is.complex(x))
  cost$times * n * max(do.call(FLOPS[[cost$kind]], as.list(cost$size)) / rates[["flops"]], bytes / rates[["bytes"]])
}
