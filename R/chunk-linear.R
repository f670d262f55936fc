# Private linear regression over tables in chunks: the solver, the statistics and the scale's counts as in memory, their sums from
# chunk_ask().

linear_in_chunks <- function(method) {
  if (isTRUE(linear_methods()[[method]]$whole)) {
    abort_riemdp("unsupported", sprintf("method = \"%s\" is not available for records in chunks: it looks at all records at once.", method))
  }
}

# What takes the place of features x and responses y. `y`: what is done to the responses, a list of list(b, scale, limit), one after the
# other.
linear_chunks <- function(data, spec, columns, bounds, reach) {
  x <- structure(list(data = check_chunks(data), ask = list(spec = spec[c("responses", "predictors")], columns = columns, bounds = bounds,
                                                            reach = reach, counts = "frame")), class = "linear_chunks")
  list(x = x, y = list())
}

linear_ask_chunks <- function(x, kernel, y, ...) {
  chunk_ask(x$data, c(list(kernel = kernel, steps = y, ...), x$ask), private = TRUE)
}

# in the worker: list(x, y)
linear_chunk <- function(q, x) {
  r <- linear_records(q$columns, q$bounds, linear_values(q$spec, x, baseenv()), TRUE, q$reach)
  for (step in q$steps) {
    r$y <- fitted_away(r$x, r$y, step$b) / step$scale
    if (step$limit) r$y <- limit_rows(r$y)
  }
  r
}

# y - b x, record by record: a product of matrices may round a record by how many others there are
fitted_away <- function(x, y, b) {
  for (k in seq_len(nrow(x))) y <- y - outer(b[, k], x[k, ])
  y
}

linear_tally <- function(x, y, loss, shape) {
  perturbed_tally(chunk_count(x$data), shape, function(b, hessian) {
    exact_total(linear_ask_chunks(x, "linear_perturbed", y, b = matrix(b, shape[1]), loss = loss, hessian = hessian))
  })
}

linear_within <- function(x, y, b, limit) {
  list(count = Reduce(`+`, linear_ask_chunks(x, "linear_within", y, b = b, limit = limit)), n = chunk_count(x$data))
}

linear_moments <- function(x) {
  sums <- matrix(exact_total(linear_ask_chunks(x, "linear_moments", list())), length(x$ask$columns) + 1)
  k <- nrow(sums)
  list(xx = sums[, seq_len(k), drop = FALSE], xy = sums[, -seq_len(k), drop = FALSE])
}
