# What can be asked of the records of a chunk, where they are. Kernels are named in the request; a site answers these
# and nothing else.

chunk_answer <- function(request, x, size = NULL) {
  kernel <- registered("kernel", request$kernel)
  if (is.null(kernel)) abort_riemdp("argument", "this request is not known here.")
  table <- !is.null(request$model)
  if (isTRUE(request$private) && !table && !isTRUE(request$counts %in% c("own", "frame"))) x <- plain_numbers(x)
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

# ---- what a request for a sum with noise is about: public numbers, of the request alone ------------------------------
# An entry of the table "vector" is a list of functions: `sum` over records, `length` that no record's vector exceeds,
# how far one replaced record moves the sum (`moved`), and `dimension`, the number of coordinates. `rows`: each record's
# vector, no longer than that, for sums over units. `trial`: one record that any request can be tried with. `fields`:
# what a request must have beside `radius` and noise ("?": may have), and maybe `refused`, of policy and request: why a
# site doesn't answer, or NULL.

vector_of <- function(request) registered("vector", request$vector %||% "mean")

vector_dimension <- function(request) vector_of(request)$dimension(request)

vector_length <- function(request) vector_of(request)$length(request)

vector_moved <- function(request) vector_of(request)$moved(request)

# The sum itself, in doubles of which none is longer than that (proofs/federation.md, section 1). What the records don't
# give is 0.
vector_sum <- function(request, x) {
  sum <- if (is.null(request$share)) vector_of(request)$sum(request, x) else units_sum(request, x)
  d <- vector_dimension(request)
  if (is.double(sum) && length(sum) == d && all(is.finite(sum))) sum else rep(0, d)
}

# The sum over units of the averages of their records' vectors, each record counting by its share, a part of 1 within
# its unit; so many rows at a time
units_sum <- function(request, x, cells = 1e6) {
  rows <- vector_of(request)$rows(request, x)
  rows[!is.finite(rowSums(rows)), ] <- 0
  size <- max(1, floor(cells / ncol(rows)))
  exact_total(lapply(seq(1, nrow(rows), by = size), function(first) {
    i <- first:min(nrow(rows), first + size - 1)
    exact_rows(rows[i, , drop = FALSE] * request$share[i])
  }))
}

# each row's products a_i a_j as symmetric_entries() has those of one matrix
product_rows <- function(a) {
  pair <- which(upper.tri(diag(ncol(a))), arr.ind = TRUE)
  cbind(a^2, sqrt(2) * a[, pair[, 1], drop = FALSE] * a[, pair[, 2], drop = FALSE])
}

# Least radius whose square doubles hold, and how many steps the sum over all records may reach: so far three roundings
# to doubles move it by less than a hundredth of a step
LEAST_RADIUS <- 1e-150
MOST_RADIUS <- 1e100
radius_fits <- function(radius) radius >= LEAST_RADIUS && radius <= MOST_RADIUS
LATTICE_MOST <- 2^44

steps_fit <- function(request, n, step) isTRUE(n * vector_length(request) / step <= LATTICE_MOST)

# How far a replaced record moves a sum, in steps to which it is rounded at last
vector_shift <- function(request, step) {
  outwards(vector_moved(request) * (1 + 1e-9) / step + 1.02 * sqrt(vector_dimension(request)))
}

# A sum's noise on a lattice that is fine beside it and beside what a record moves: list(step, shift, ratio: variance in
# steps as a fraction), as normal noise of `multiplier` times the shift, made up of so many shares.
noise_steps <- function(request, multiplier, n, shares = 1) {
  wide <- max(sqrt(vector_dimension(request)), 5 * sqrt(shares))
  # coarser where noise is very large: samplers have their numbers
  fine <- vector_moved(request) * max(min(multiplier, 1) / (1024 * wide), multiplier / 2^29)
  step <- 2^ceiling(log2(max(fine / 2, n * vector_length(request) / LATTICE_MOST)))
  shift <- vector_shift(request, step)
  ratio <- as_ratio(outwards(((shift * multiplier)^2 * (1 + 1e-12) + ROUNDING_VARIANCE) / shares), ceiling)
  list(step = step, shift = shift, ratio = ratio)
}

# a site's sum in steps, with discrete Gaussian noise
site_integers <- function(request, x, step, ratio) {
  steps <- round(vector_sum(request, x) / step)
  steps + as.vector(.Call(riemdp_lattice_noise, euclidean(length(steps)), 1L, "gaussian", ratio, in_simulation()))
}

# the same as an answer: multiples of a step, whose digits say no more than the whole numbers do
site_sum <- function(request, x) {
  n <- request$units %||% request$rows %||%
    if (is.null(request$model)) as.double(.Call(riemdp_count, request$M, x)) else records_in(x)
  plan <- noise_steps(request, request$sd / vector_moved(request), n)
  draw <- function() plan$step * site_integers(request, x, plan$step, plan$ratio)
  if (in_simulation() && !is.null(request$seed)) with_simulation(request$seed, draw()) else draw()
}
