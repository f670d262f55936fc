# Problems whose records are in chunks: sums of gradients from chunk_ask(), the steps and the noise as in memory.

# What the optimisers' C code takes for the records. `bound`: rows are shortened to this length first (dp_pca()).
problem_tally <- function(problem, x, private, bound = NULL) {
  check_chunks(x)
  M <- problem$manifold
  ambient <- mf_facts(M)$ambient
  counts <- problem_counts(problem)
  if (private) problem["loss"] <- list(NULL)
  ask <- function(p, snapshot, numbers, which) {
    request <- list(kernel = "gradients", M = M, problem = problem, p = p, snapshot = snapshot, numbers = numbers,
                    bound = bound, counts = counts)
    if (is.null(which)) {
      parts <- chunk_ask(x, request, private = private)
    } else {
      at <- locate_records(x$sizes, which)
      parts <- chunk_ask(x, request, lapply(at$which, function(w) list(which = w)), at$chunk, private)
    }
    exact_total(parts)
  }
  structure(list(
    n = sum(x$sizes),
    objective = function(p) ask(p, NULL, c(Inf, 0, 1), NULL),
    # v: clip, apart, whether there is a snapshot, whether all records are meant, the point, the snapshot, numbers of
    # records
    gradients = function(v) {
      p <- v[4 + seq_len(ambient)]
      snapshot <- if (v[3] == 1) v[4 + ambient + seq_len(ambient)]
      ask(p, snapshot, c(v[1], v[2], 0), if (v[4] == 0) v[-seq_len(4 + 2 * ambient)])
    }
  ), class = "riemdp_tally")
}

# by what the records of a chunk are counted
problem_counts <- function(problem) switch(problem$kind, pca = "rows", callback = "own", "points")

# columns of tables in chunks
chunk_width <- function(x) chunk_ask(check_chunks(x), list(kernel = "columns"), only = 1, private = TRUE)[[1]]

# rows longer than `bound` shortened to it, one by one
shorten_rows <- function(data, bound) {
  length <- sqrt(rowSums(data^2))
  data * ifelse(length > bound, bound / length, 1)
}
