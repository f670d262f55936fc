# What the lowest binary digits of a release tell. Used by test-mechanism-lattice.R and tools/bits.

# exponents of the lowest digits of doubles that aren't 0
lowest_digit <- function(x) {
  x <- abs(x[x != 0])
  top <- floor(log2(x))
  whole <- x * 2^(52 - top) # a whole number below 2^53
  zeros <- rep(0, length(x))
  for (i in 0:52) zeros <- zeros + (zeros == i & whole %% 2^(i + 1) == 0)
  top - 52 + zeros
}

# A lower bound of the loss between two neighbours that events of lowest digits show: list(loss, event, epsilon), or NULL where the mechanism
# can't be had. The neighbours: two records at the centre or at the edge, of which one moves.
bits_loss <- function(M, radius, mechanism, numerics, draws, epsilon = c(1, 4), seed = NULL) {
  center <- .Call(riemdp:::riemdp_origin, M)
  d <- mf_facts(M)$dimension
  delta <- if (mechanism %in% c("gaussian", "wrapped_gaussian")) 1e-9 else 0
  at <- function(part) mf_exp(M, center, mf_from_coords(M, center, rbind(rep(0, d), part * radius * c(1, rep(0, d - 1)))))
  release <- function(x, epsilon) {
    r <- dp_mean(x, M, epsilon, center, radius, delta = delta, mechanism = mechanism, numerics = numerics, post = FALSE)
    as.vector(r$value)
  }
  # laws around the mean don't exist for the smaller one where curvature is below 0
  epsilon <- Find(function(e) !is.null(tryCatch(release(at(0), e), riemdp_error = function(e) NULL)), epsilon)
  if (is.null(epsilon)) return(NULL)
  many <- function() lapply(c(0, 0.999), function(part) {
    x <- at(part)
    apply(do.call(rbind, lapply(seq_len(draws), function(i) release(x, epsilon))), 2, lowest_digit, simplify = FALSE)
  })
  digits <- if (is.null(seed)) many() else with_simulation(seed, many())
  best <- list(loss = 0, event = "nothing", epsilon = epsilon)
  for (j in seq_along(digits[[1]])) {
    steps <- unique(unlist(lapply(digits, `[[`, j)))
    level <- 1e-6 / (4 * length(steps) * length(digits[[1]]))
    for (t in steps) for (below in c(TRUE, FALSE)) for (first in 1:2) {
      count <- vapply(digits[c(first, 3 - first)], function(k) sum(if (below) k[[j]] < t else k[[j]] >= t), 0)
      lower <- if (count[1] > 0) stats::qbeta(level, count[1], draws - count[1] + 1) else 0
      upper <- if (count[2] < draws) stats::qbeta(level, count[2] + 1, draws - count[2], lower.tail = FALSE) else 1
      loss <- if (lower > delta) log((lower - delta) / upper) else 0
      if (loss > best$loss) {
        best$loss <- loss
        best$event <- sprintf("coordinate %d %s 2^%d: %d and %d of %d", j, if (below) "below" else "at or above", t, count[1], count[2], draws)
      }
    }
  }
  best
}
