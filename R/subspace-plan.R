# Which public subspace for a private mean? Noise on it, and what projecting public or simulated records does to a mean.

# The plan of dp_mean_plan(reduce = ): a row for each subspace and one for the whole space. `best(space, center, n,
# epsilon)` is the plan of the best mechanism there, `records` as bounds_records() has them, or NULL.
plan_subspaces <- function(M, reduce, radius, records, best, sought, n, epsilon, error) {
  tried <- subspaces_tried(M, reduce, radius, records)
  samples <- new.env(parent = emptyenv())
  row <- function(one, n, epsilon) subspace_row(M, one, best(one$space, one$origin, n, epsilon), records, samples, n)
  rows <- lapply(tried, function(one) {
    if (is.null(sought)) return(row(one, n, epsilon))
    at <- function(value) row(one, if (sought == "n") value else n, if (sought == "epsilon") value else epsilon)
    value <- least_value(function(v) at(v)$total, error, SOUGHT_RANGE[[sought]], whole = sought == "n")
    if (!is.null(value)) return(at(value))
    none <- at(SOUGHT_RANGE[[sought]][2])
    none[c("mechanism", "label", "noise", "total")] <- NA
    none[[SOUGHT[[sought]]]] <- NA_real_
    none$note <- sprintf("no %s from %g to %g gives this error.", sought, SOUGHT_RANGE[[sought]][1],
                         SOUGHT_RANGE[[sought]][2])
    none
  })
  table <- do.call(rbind, rows)
  rank <- table[[if (is.null(sought)) "total" else SOUGHT[[sought]]]]
  table$chosen <- seq_along(rank) %in% which.min(rank)
  row.names(table) <- NULL
  structure(table, class = c("riemdp_subspace_plan", "data.frame"), manifold = M, radius = radius, sought = sought,
            error = error, asked = list(n = n, epsilon = epsilon),
            records = if (!is.null(records)) records$words, subspaces = lapply(tried, `[[`, "subspace"))
}

# The candidates, the whole space the last of them: each a space, its centre, the records moved to the ball there and
# the way back
subspaces_tried <- function(M, reduce, radius, records) {
  if (inherits(reduce, "riemdp_subspace")) reduce <- list(reduce)
  if (!is.list(reduce) || !length(reduce)) {
    abort_riemdp("argument", "`reduce` must be a public subspace or a list of them: see subspace().")
  }
  moved <- function(space, center, x) if (!is.null(records)) mf_to_ball(space, x, center, radius)
  named <- names(reduce) %||% rep("", length(reduce))
  out <- lapply(seq_along(reduce), function(i) {
    S <- check_subspace(reduce[[i]], M)
    list(name = if (nzchar(named[i])) named[i] else S$name, space = S$inside, origin = S$origin, subspace = S,
         x = moved(S$inside, S$origin, projected(S, records$x)), back = function(p) put_back(S, p))
  })
  center <- reduce[[1]]$center
  c(out, list(list(name = "the whole space", space = M, origin = center, x = moved(M, center, records$x),
                   back = identity)))
}

subspace_row <- function(M, one, plan, records, samples, n) {
  noise <- plan$expected_error %||% NA_real_
  projection <- if (is.null(records)) NA_real_ else projection_error(M, one, records, samples, n)
  data.frame(
    subspace = one$name, dimension = mf_facts(one$space)$dimension, mechanism = plan$mechanism %||% NA_character_,
    label = plan$guarantee$label %||% NA_character_, n = n,
    nominal_epsilon = plan$guarantee$nominal_epsilon %||% NA_real_, noise = noise, projection = projection,
    total = if (is.null(records)) noise else sqrt(noise^2 + projection^2), chosen = FALSE, note = plan$why %||% ""
  )
}

# Root mean square of how far projecting records, and moving them to the ball, moves their mean, over means of as many
# as tell as little as public and private ones do together: around its own centre a sample has no error at all
projection_error <- function(M, one, records, samples, n) {
  drawn <- mean_samples(M, records, samples, max(1, round(records$worth(n))))
  apart <- vapply(drawn, function(d) {
    mf_dist(M, d$mean, one$back(plain_mean(one$space, records_of(one$x, d$which))))
  }, numeric(1))
  sqrt(mean(apart^2))
}

# the same for all candidates
mean_samples <- function(M, records, samples, worth) {
  key <- as.character(worth)
  if (is.null(samples[[key]])) {
    samples[[key]] <- with_simulation(1, lapply(seq_len(BOUNDS_CENTERS), function(i) {
      which <- sample.int(records$count, worth, replace = TRUE)
      list(which = which, mean = plain_mean(M, records_of(records$x, which)))
    }))
  }
  samples[[key]]
}
