# Private linear regression over tables in chunks: the solver, the statistics and the scale's counts as in memory, their
# sums from chunk_ask().

# What takes the place of features x and responses y. `y`: what is done to the responses, a list of list(b, scale,
# limit), one after the other.
linear_chunks <- function(data, spec, columns, bounds, reach, names = chunk_names(data)) {
  wants <- predictor_types(spec, bounds)
  found <- chunk_variables(c(spec$responses, spec$predictors), names, data, constant_scope(spec$constants))
  ask <- list(spec = spec[c("responses", "predictors")], wants = wants, declared = data$columns,
              constants = found$constants, names = found$columns, columns = columns, bounds = bounds, reach = reach,
              counts = "frame")
  x <- structure(list(data = check_chunks(data), ask = ask), class = "riemdp_linear_chunks")
  list(x = x, y = list())
}

linear_ask_chunks <- function(x, kernel, y, ...) {
  chunk_ask(x$data, c(list(kernel = kernel, steps = y, ...), x$ask),
            each_chunk(x$data$sizes, attr(x, "share"), "share"), private = TRUE)
}

# A sum over all records: `own` of those in memory, else what a kernel says of each chunk, put together by `add`
linear_total <- function(x, y, kernel, own, ..., add = `+`) {
  if (inherits(x, "riemdp_linear_chunks")) Reduce(add, linear_ask_chunks(x, kernel, y, ...)) else own
}

# in the worker: list(x, y)
linear_chunk <- function(q, x) {
  values <- linear_values(q$spec, x, constant_scope(q$constants), q$wants, declared = q$declared)
  r <- linear_records(q$columns, q$bounds, values, TRUE, q$reach)
  for (step in q$steps) r$y <- stepped(r$x, r$y, step)
  r$x <- with_shares(r$x, q$share)
  if (!is.null(q$drawn)) r$x <- drawn_features(r$x, q$drawn)
  r
}

# (y - b x)/scale, moved to a length of `limit`
stepped <- function(x, y, step) limit_rows(fitted_away(x, y, step$b) / step$scale, step$limit)

linear_width <- function(x) if (inherits(x, "riemdp_linear_chunks")) length(x$ask$columns) + 1 else nrow(x)

# y - b x, record by record: a product of matrices may round a record by how many others there are
fitted_away <- function(x, y, b) {
  for (k in seq_len(nrow(x))) y <- y - outer(b[, k], x[k, ])
  y
}

linear_tally <- function(x, y, loss, shape) {
  perturbed_tally(counted_in(x, chunk_count(x$data)), shape, function(b, hessian) {
    exact_total(linear_ask_chunks(x, "linear_perturbed", y, b = matrix(b, shape[1]), loss = loss, hessian = hessian))
  })
}

linear_within <- function(x, y, b, limit) {
  list(count = Reduce(`+`, linear_ask_chunks(x, "linear_within", y, b = b, limit = limit)),
       n = counted_in(x, chunk_count(x$data)))
}

linear_moments <- function(x, y = list()) {
  sums <- matrix(exact_total(linear_ask_chunks(x, "linear_moments", y)), linear_width(x))
  k <- nrow(sums)
  list(xx = sums[, seq_len(k), drop = FALSE], xy = sums[, -seq_len(k), drop = FALSE])
}

# longer responses are moved to the length `limit`, per record
limit_rows <- function(y, limit) {
  if (limit == Inf) return(y)
  size <- sqrt(colSums(y^2))
  y * rep(pmin(1, limit / pmax(size, 1e-300)), each = nrow(y))
}
