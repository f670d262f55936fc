# What plans of means have in common: inverse questions, and records that are public or made up.

# ---- inverse questions -----------------------------------------------------------------------------------------------

# "n", "epsilon" or NULL
what_is_sought <- function(n, epsilon, error) {
  lacking <- c(n = is.null(n), epsilon = is.null(epsilon))
  if (is.null(error)) {
    check_given(lacking)
    return(NULL)
  }
  if (sum(lacking) != 1) {
    abort_riemdp("argument", "with `error` one of `n` and `epsilon` is sought and the other given: one must be NULL.")
  }
  names(lacking)[lacking]
}

# the column in which an answer stands
SOUGHT <- c(n = "n", epsilon = "nominal_epsilon")
SOUGHT_RANGE <- list(n = c(1, 2e9), epsilon = c(1e-6, 1e6))
SOUGHT_TOLERANCE <- 1e-3

# The least value with error(value) <= target, to SOUGHT_TOLERANCE: both it and one that is lower by no more than that
# (by one, of whole numbers) have been tried. NULL where none of the range will do, NA where an error isn't known.
least_value <- function(error, target, range, whole) {
  round_up <- if (whole) ceiling else identity
  within <- function(v) min(range[2], max(range[1], round_up(v)))
  enough <- function(v) isTRUE(error(v) <= target)
  # errors are nearly inverse to the value: begin where that leads to
  first <- within(sqrt(range[1] * range[2]))
  known <- error(first)
  if (isTRUE(is.finite(known))) first <- within(first * known / target)
  low <- high <- first
  factor <- 1 + 4 * SOUGHT_TOLERANCE
  if (enough(first)) {
    repeat {
      if (high == range[1]) return(high)
      low <- min(within(high / factor), high - whole)
      if (!enough(low)) break
      high <- low
      factor <- factor^2
    }
  } else {
    repeat {
      if (low == range[2]) return(NULL)
      high <- max(within(low * factor), min(low + whole, range[2]))
      if (enough(high)) break
      low <- high
      factor <- factor^2
    }
  }
  while (high - low > max(whole, SOUGHT_TOLERANCE * low)) {
    middle <- sqrt(low * high)
    if (whole) middle <- max(low + 1, min(high - 1, round(middle)))
    if (enough(middle)) high <- middle else low <- middle
  }
  high
}

# ---- records ---------------------------------------------------------------------------------------------------------

BOUNDS_SIMULATED <- 1000
BOUNDS_CENTERS <- 8
BOUNDS_WORTH <- 4 # of how many simulated records a centre is the mean

# list(x, count, worth = function(n): of how many records a centre drawn at random is the mean, center, words); `plan`:
# the function that asks
bounds_records <- function(M, n, simulate, public, plan) {
  if (is.null(simulate) == is.null(public)) {
    abort_riemdp("argument", "give one of `public`, records that are public, and `simulate`, how to make some up.")
  }
  if (is.null(public)) return(simulated_records(M, n, simulate, plan))
  if (is_chunks(public) || inherits(public, c("riemdp_release", "riemdp_frechet_mean"))) {
    abort_riemdp("argument", "`public` must be records in memory, public ones.")
  }
  x <- plain_numbers(public)
  mf_check(M, x)
  m <- record_count(M, x)
  if (m < 2) abort_riemdp("argument", "`public` must hold two records at least.")
  list(x = x, count = m, worth = function(n) m * n / (m + n), center = NULL, widened = 1 + 1.5 / sqrt(m),
       words = sprintf("computed from %d records that were called public (%s)", as.integer(m), plan))
}

simulated_records <- function(M, n, simulate, plan) {
  count <- min(5 * BOUNDS_SIMULATED, max(BOUNDS_SIMULATED, n))
  center <- NULL
  if (is.function(simulate)) {
    make <- function() simulate(count)
  } else if (is.list(simulate) && !is.object(simulate) && setequal(names(simulate), c("center", "spread"))) {
    center <- public_point(M, simulate$center, "simulate$center")
    spread <- check_number(public_value(simulate$spread, "spread"), "simulate$spread", positive = TRUE)
    make <- function() tangent_normals(M, center, count, spread)
  } else {
    abort_riemdp("argument", paste("`simulate` must be a function of a number of records that returns them, or a",
                                   "list(center = , spread = )."))
  }
  x <- with_simulation(1, plain_numbers(classed(make(), "`simulate`")))
  mf_check(M, x)
  if (record_count(M, x) != count) {
    abort_riemdp("shape", sprintf("`simulate(%d)` must return as many records.", as.integer(count)))
  }
  list(x = x, count = count, worth = function(n) BOUNDS_WORTH, center = center, widened = 1,
       words = sprintf("computed from simulated records (%s)", plan))
}

# n records: normal tangent vectors at a point, shortened where they would go beyond `most` or the cut locus
tangent_normals <- function(M, center, n, spread, most = Inf) {
  d <- mf_facts(M)$dimension
  a <- matrix(stats::rnorm(n * d, sd = spread), n)
  long <- sqrt(rowSums(a^2))
  facts <- if (mf_facts(M)$local_bounds) ball_facts(M, 1e-9, center) else mf_facts(M)
  limit <- min(facts$injectivity_radius, most) * 0.99
  mf_exp(M, center, mf_from_coords(M, center, a * pmin(1, limit / long)))
}

plain_mean <- function(M, x) suppressWarnings(public_point(M, frechet_mean(x, M)$mean))
