# Problems whose records are in chunks: sums of gradients from chunk_ask(), the steps and the noise as in memory.

# What the optimisers' C code takes for the records. `bound`: rows are shortened to this length first (dp_pca()). With
# `units` it asks for units by their numbers, each the average over its records.
problem_tally <- function(problem, x, private, bound = NULL, units = NULL) {
  check_chunks(x)
  rows <- if (!is.null(units)) unit_rows(units)
  size <- if (!is.null(units)) diff(rows$first)
  share <- if (!is.null(units)) 1 / size[units$of]
  M <- problem$manifold
  counts <- problem_counts(problem)
  if (private) problem["loss"] <- list(NULL)
  ask <- function(p, snapshot, step, which) {
    request <- list(kernel = "gradients", M = M, problem = problem, p = p, snapshot = snapshot, step = step,
                    bound = bound, counts = counts)
    if (is.null(which)) {
      parts <- chunk_ask(x, request, each_chunk(x$sizes, share, "share"), private = private)
    } else {
      if (!is.null(units)) which <- rows$rows[sequence(size[which], rows$first[which] + 1)]
      at <- locate_records(x$sizes, which)
      before <- c(0, cumsum(x$sizes))
      each <- Map(function(i, w) list(which = w, share = share[before[i] + w]), at$chunk, at$which)
      parts <- chunk_ask(x, request, each, at$chunk, private)
    }
    exact_total(parts)
  }
  structure(list(
    n = units$count %||% sum(x$sizes), paths = x$paths, chunks = x,
    of_units = function(units) problem_tally(problem, x, private, bound, units),
    objective = function(p) ask(p, NULL, list(clip = Inf, apart = FALSE, losses = TRUE), NULL),
    gradients = function(v) ask(v$p, v$snapshot, list(clip = v$clip, apart = v$apart, losses = FALSE), v$which)
  ), class = "riemdp_tally")
}

# What sites that add noise are asked for at a point (stored numbers): a sum of gradients. `sd`: that of a curator's
# noise on the mean.
gradient_request <- function(x, problem, clip, sd, p) {
  n <- sum(x$sizes)
  about <- list(M = problem$manifold, radius = clip, vector = "gradient", problem = problem)
  c(shared_request(sites_plan(x$shares, about, sd * n, n), about), list(center = p))
}

# Gradients of all records from such sites: the C code adds no noise
shared_gradients <- function(x, problem, clip, sd) {
  function(v) {
    request <- gradient_request(x, problem, clip, sd, v$p)
    sum <- if (request$kernel == "noisy") noisy_sum(x, request) else
      secure_sum(x, request)$sum * request$step
    coords_stored(problem$manifold, v$p, sum)
  }
}

# by what the records of a chunk are counted
problem_counts <- function(problem) switch(problem$kind, pca = "rows", callback = "own", "points")

# columns of tables in chunks; sites aren't asked for them
chunk_width <- function(x) {
  if (at_sites(x)) site_width(x) else chunk_ask(x, list(kernel = "columns"), only = 1, private = TRUE)[[1]]
}
