# The share of records outside the public ball: their number and two-sided geometric noise, a release of its own paid
# out of the call's epsilon. Proof: inst/proofs/mean-sensitivity.md, section 11.

# `ask` with the parts of epsilon: `total` that the call costs, `epsilon` of the mean, and of the count and of the mean
# squared distance those in `clipped` and `variance`
share_epsilon <- function(ask, epsilon, clipped, variance = NULL) {
  ask$total <- epsilon
  own <- own_epsilon("clipped", clipped, epsilon)
  if (!is.null(own)) {
    ratio <- geometric_ratio(own)
    ask$clipped <- list(share = clipped, epsilon = own, ratio = ratio, scale = ratio[1] / ratio[2])
    ask$epsilon <- outwards_down(ask$epsilon - own)
  }
  own <- own_epsilon("variance", variance, epsilon)
  if (!is.null(own)) {
    ask$variance <- list(share = variance, epsilon = own)
    ask$epsilon <- outwards_down(ask$epsilon - own)
  }
  if (isTRUE(ask$epsilon <= 0)) {
    abort_riemdp("argument", "`clipped` and `variance` leave nothing of `epsilon` for the mean.")
  }
  ask
}

# what of epsilon a share of it comes to
own_epsilon <- function(name, share, epsilon) {
  if (is.null(share)) return(NULL)
  share <- check_number(share, name, positive = TRUE, most = 1)
  if (share >= 1) {
    abort_riemdp("argument", sprintf("`%s` must be a share of epsilon below 1: the rest is for the mean.", name))
  }
  if (is.null(epsilon)) {
    abort_riemdp("argument", sprintf("`%s` is a share of `epsilon`: give `epsilon` instead of `sigma` or `mu`.", name))
  }
  if (!(share * epsilon >= 2^-30)) {
    abort_riemdp("argument",
                 sprintf(paste("`%s` leaves too little of `epsilon` to release a number: noise would be larger than",
                               "any that there can be."), name))
  }
  share * epsilon
}

# the promise of a mean, a count and a sum of squares, each fixed before it is drawn: their epsilons add up
with_parts <- function(g, ask) {
  own <- c(ask$clipped$epsilon, ask$variance$epsilon)
  if (is.null(own)) return(g)
  both <- max(ask$total, g$nominal_epsilon + sum(own))
  g$nominal_epsilon <- both
  if (g$label != "none") {
    g$epsilon <- both
    g$mu <- NA_real_
    g$mu_slack <- 0
  }
  g$assumptions <- c(
    g$assumptions,
    if (!is.null(ask$clipped)) {
      sprintf(paste("the share of records outside the ball is a release of its own, with %g of epsilon, the mean with",
                    "the rest"), ask$clipped$share)
    },
    if (!is.null(ask$variance)) {
      sprintf(paste("the mean squared distance from the released point is a release of its own, with %g of epsilon,",
                    "the mean with the rest"), ask$variance$share)
    }
  )
  g
}

shares_event <- function(event, ask) {
  own <- c(ask$clipped$epsilon, ask$variance$epsilon)
  if (is.null(own) || is.null(event)) return(event)
  event_compose(c(lapply(own, event_pure, adjacency = event$adjacency), list(event)))
}

# Which records are farther from the centre than the radius, each decided from the record alone: 1, else 0. What is no
# point counts as the centre. Of units, which have such a record among their own.
outside_each <- function(M, x, ask, units = NULL) {
  if (is.null(units)) {
    n <- record_count(M, x, 0)
    units <- list(of = seq_len(n), count = n)
  }
  m0 <- .Call(riemdp_stored, M, ask$center)
  as.double(.Call(riemdp_chunk_counts, M, x, m0, ask$ball$radius, units$of, units$count) > 0)
}

outside_count <- function(M, x, ask, units = NULL) {
  if (!is_chunks(x)) return(sum(outside_each(M, x, ask, units)))
  m0 <- .Call(riemdp_stored, M, ask$center)
  if (!is.null(units)) return(chunk_units_beyond(M, x, units, m0, ask$ball$radius))
  ask$n - Reduce(`+`, chunk_ask(x, list(kernel = "counts", M = M, center = m0, radii = ask$ball$radius),
                                private = TRUE))
}

release_clipped <- function(M, x, ask, units = NULL, n = ask$n) {
  if (is.null(ask$clipped)) return(NULL)
  count <- noisy_count(if (n > 0) outside_count(M, x, ask, units) else 0, ask$clipped$ratio, "mean-sensitivity.md, 11")
  outside_share(count, n, ask)
}

outside_share <- function(count, n, ask) {
  list(share = count / n, count = count, epsilon = ask$clipped$epsilon, scale = ask$clipped$scale)
}

# of a released number of records
share_of_size <- function(outside, size) {
  if (!is.null(outside)) outside$share <- outside$count / max(1, size$count)
  outside
}

# How many are outside in each of the groups. Where a record is replaced they are one release: if it leaves one group
# and enters another, it moves two of them by 1. Else each is released with its group.
outside_in_groups <- function(M, records, ask) {
  if (is.null(ask$clipped)) return(NULL)
  beyond <- if (records$n > 0) outside_each(M, records$rows, ask, records$units)
  counts <- vapply(seq_along(ask$names), function(i) sum(beyond[records$groups$of %in% i]), 0)
  if (!ask$replace) return(counts)
  noisy_count(counts, ask$clipped$ratio, "mean-sensitivity.md, 15, shares outside", moved = 2)
}

# c(lower, upper) for the share of records outside: with probability 1 - level at most the released number is off by
# more than `far`, or the size lies elsewhere
clipped_interval <- function(r, level) {
  released <- r$clipped
  if (is.null(released)) {
    abort_riemdp("unsupported", "no share of records outside the ball was released: dp_mean(clipped = ) does.")
  }
  if (!private_size(r)) {
    far <- geometric_far(released$scale, (1 - level) / 2)
    return(pmin(1, pmax(0, (released$count + c(-far, far)) / r$n)))
  }
  far <- geometric_far(released$scale, (1 - level) / 4)
  ends <- pmax(1, size_interval(r, (1 + level) / 2))
  pmin(1, pmax(0, (released$count + c(-far, far)) / rev(ends)))
}

percent <- function(share) format(signif(100 * share, 3))

# lines of print() on the released share and what it says of the error of clipping
clipped_words <- function(r, level = 0.95) {
  if (is.null(r$clipped)) return(NULL)
  ends <- clipped_interval(r, level)
  facts <- mf_facts(r$manifold)
  wide <- is.null(r$target) && facts$k_max <= 0 && facts$injectivity_radius == Inf
  c(
    sprintf("outside the ball: %s %% of the %s as released, %s to %s %% with probability %g",
            percent(min(1, max(0, r$clipped$share))),
            paste0(if (!is.null(r$subspace)) "projected ", if (is.null(r$unit)) "records" else
              "units (those with a row there)"), percent(ends[1]), percent(ends[2]),
            level),
    if (identical(r$mechanism, "adaptive")) {
      "clipping: moved the mean by an unknown distance: the released ball moves records of its own"
    } else if (ends[2] == 0) {
      "clipping: none, with that probability"
    } else if (wide) {
      sprintf(paste("clipping: moved the mean by their true share times %s average distance to the ball, at most; that",
                    "distance is unknown"), if (is.null(r$unit)) "their" else "their rows'")
    } else {
      "clipping: moved the mean by an unknown distance, which depends on how far outside they lie"
    }
  )
}
