# What can be asked of the records of a chunk, where they are. Kernels are named in the request; a site answers these
# and nothing else.

chunk_answer <- function(request, x, size = NULL) {
  kernel <- registered("kernel", request$kernel)
  if (is.null(kernel)) abort_riemdp("argument", "this request is not known here.")
  if (isTRUE(request$private) && !isTRUE(request$counts %in% c("own", "frame"))) x <- plain_numbers(x)
  if (!is.null(size) && !(is.null(request$M) && is.null(request$counts))) {
    n <- switch(if (is.null(request$counts)) "points" else request$counts, own = own_count(x), rows = records_in(x),
                frame = if (is.data.frame(x)) nrow(x) else records_in(x), .Call(riemdp_count, request$M, x))
    if (n != size) {
      abort_riemdp("chunk_size",
                   "it has another number of records than was fixed when the chunks were made: sizes are public.")
    }
  }
  request$size <- size
  kernel(request, x)
}

SOURCE_KERNELS <- list(
  count = function(q, x) records_in(x),
  contents = function(q, x) list(n = records_in(x), names = if (is.list(x)) names(x)),
  names = function(q, x) {
    if (!is.list(x) || is.null(names(x))) abort_riemdp("shape", "a chunk must be a table, or a list of variables.")
    names(x)
  },
  # what is wrong with a record, which names its number and no more, is the answer
  check = function(q, x) {
    tryCatch({
      .Call(riemdp_check, q$M, x)
      list()
    }, riemdp_error = function(e) list(class = class(e)[1], message = conditionMessage(e)))
  },
  start = function(q, x) .Call(riemdp_chunk_start, q$M, x, q$weights, q$reference),
  records = function(q, x) .Call(riemdp_chunk_records, q$M, x, q$which),
  seal = function(q, x) seal_of(q$key, plain_records(x))
)

# The sum that a request for one with noise is about, in d coordinates: of vectors no longer than request$radius, in
# doubles (proofs/federation.md, section 1). What the records don't give is 0.
vector_sum <- function(request, x) {
  sum <- registered("vector", request$vector %||% "mean")(request, x)
  d <- mf_facts(request$M)$dimension
  if (is.double(sum) && length(sum) == d && all(is.finite(sum))) sum else rep(0, d)
}

# Least radius whose square doubles hold, and how many steps the sum over all records may reach: so far rounding it to
# a double moves it by a 256th of a step
LEAST_RADIUS <- 1e-150
STEPS_MOST <- 2^45

# How far a replaced record moves a sum of vectors no longer than r, in steps to which it is rounded at last
vector_shift <- function(r, step, dimension) outwards(2 * r * (1 + 1e-12) / step + 1.02 * sqrt(dimension))

# A sum's noise on a lattice that is fine beside it and beside 2r: list(step, shift, ratio: variance in steps as a
# fraction), as normal noise of `multiplier` times the shift, made up of so many shares.
noise_steps <- function(r, multiplier, n, dimension, shares = 1) {
  fine <- 2 * r * min(multiplier, 1) / (1024 * max(sqrt(dimension), 5 * sqrt(shares)))
  step <- 2^ceiling(log2(max(fine / 2, n * r / STEPS_MOST)))
  shift <- vector_shift(r, step, dimension)
  ratio <- as_ratio(outwards(((shift * multiplier)^2 * (1 + 1e-12) + ROUNDING_VARIANCE) / shares), ceiling)
  list(step = step, shift = shift, ratio = ratio)
}

# A sum with its noise: multiples of a step, whose digits are those of whole numbers with discrete Gaussian noise
noisy_sum <- function(request, x) {
  d <- mf_facts(request$M)$dimension
  plan <- noise_steps(request$radius, request$sd / (2 * request$radius), records_at(request$M, x), d)
  simulated <- in_simulation()
  draw <- function() .Call(riemdp_lattice_noise, euclidean(d), 1L, "gaussian", plan$ratio, simulated)
  noise <- if (simulated && !is.null(request$seed)) with_simulation(request$seed, draw()) else draw()
  plan$step * (round(vector_sum(request, x) / plan$step) + as.vector(noise))
}

records_at <- function(M, x) as.double(.Call(riemdp_count, M, x))
