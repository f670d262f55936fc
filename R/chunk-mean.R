# Means of records in chunks: the solver and the noise are those of records in memory, its sums come from chunk_ask().

# stored numbers of records, one a column
chunk_records <- function(M, x, which) {
  at <- locate_records(x$sizes, which)
  got <- chunk_ask(x, list(kernel = "records", M = M), lapply(at$which, function(w) list(which = w)), at$chunk)
  do.call(cbind, got)
}

chunk_fit <- function(x, M, weights, tol, memory, start, max_iter, median) {
  n <- chunk_count(x)
  sizes <- x$sizes
  each <- each_chunk(sizes, weights, "weights")
  total <- n
  first <- 1
  if (!is.null(weights)) {
    total <- sum(weights)
    first <- which(weights > 0)[1]
  }
  facts <- mf_facts(M)
  # the records that say how long the first step may be, and the first one that counts
  looked <- chunk_records(M, x, unique(c(first, seq(1, n, by = floor(n / 16) + 1))))
  reference <- if (is.null(start)) looked[, 1]
  sums <- exact_total(chunk_ask(x, list(kernel = "start", M = M, reference = reference), each))
  begin <- if (!is.null(start)) {
    .Call(riemdp_stored, M, start)
  } else if (is.double(sums)) {
    sums
  } else {
    looked[, 1]
  }
  reach <- function(p) do.call(rbind, chunk_ask(x, list(kernel = "reach", M = M, p = p), each))
  tally <- structure(list(
    n = n,
    logs = function(p) exact_total(chunk_ask(x, list(kernel = "logs", M = M, p = p, median = median), each)),
    nearest = function(p) {
      near <- reach(p)
      i <- which.min(near[, 1])
      if (!is.finite(near[i, 1])) return(NULL)
      record <- chunk_records(M, x, sum(sizes[seq_len(i - 1)]) + near[i, 2])
      c(record, sum(reach(as.vector(record))[, 4]))
    }
  ), class = "riemdp_tally")
  fit <- .Call(riemdp_mean_of, M, tally, begin, looked, total, tol, max_iter, memory, median)
  fit$farthest <- if (facts$k_max > 0 || facts$injectivity_radius < Inf) max(reach(fit$stored)[, 3]) else 0
  fit$stored <- NULL
  fit
}

# mean squared distance to a point
chunk_variance <- function(x, M, weights, center) {
  n <- chunk_count(x)
  each <- each_chunk(x$sizes, weights, "weights")
  sums <- exact_total(chunk_ask(x, list(kernel = "logs", M = M, p = .Call(riemdp_stored, M, center), median = FALSE),
                                each))
  if (!is.double(sums)) abort_riemdp("cut_locus", "a record has no logarithm at `center`.")
  sums[length(sums)] / if (is.null(weights)) n else sum(weights)
}

# what means ask of the records of a chunk
MEAN_KERNELS <- list(
  logs = function(q, x) .Call(riemdp_chunk_logs, q$M, x, q$weights, q$p, q$median),
  reach = function(q, x) .Call(riemdp_chunk_reach, q$M, x, q$weights, q$p),
  ball = function(q, x) .Call(riemdp_chunk_ball, q$M, x, q$center, q$radius, q$p, q$what),
  steps = function(q, x) .Call(riemdp_chunk_steps, q$M, x, q$center, q$numbers, q$n, q$at, NULL),
  squares = function(q, x) .Call(riemdp_chunk_steps, q$M, x, q$center, q$numbers, q$n, q$at, q$squares),
  kng = function(q, x) .Call(riemdp_chunk_kng, q$M, x, q$center, q$radius, q$n, q$base, q$far),
  # a sum that leaves with its share of the noise, drawn here
  noisy = function(q, x) site_sum(q, x),
  counts = function(q, x) .Call(riemdp_chunk_counts, q$M, x, q$center, q$radii, NULL, 0)
)
