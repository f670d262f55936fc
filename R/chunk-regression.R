# Private geodesic regression over tables in chunks: noisy steps along sums of clipped gradients, which come from chunk_ask().

# What takes the place of the responses. Variables come from the chunks: a formula's environment isn't sent to workers.
regression_chunks <- function(formula, M, data, x_range) {
  check_chunks(data)
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument", "`formula` must have points on its left side and predictors on its right: y ~ x.")
  }
  environment(formula) <- baseenv()
  spec <- private_predictors(formula, NULL, x_range)
  environment(spec$formula) <- baseenv()
  structure(list(formula = formula, M = M, data = data, spec = spec), class = "regression_chunks")
}

# the method that is made of sums over records
chunked_method <- function(method) {
  if (!is.character(method) || length(method) != 1 || !method %in% c("auto", "gradient")) {
    abort_riemdp("unsupported", "for records in chunks `method` must be \"gradient\" (or \"auto\", which is the same there): the others need all records at once.")
  }
  "gradient"
}

# the curator's check
check_responses <- function(y) {
  found <- chunk_ask(y$data, list(kernel = "regression_check", M = y$M, formula = y$formula, counts = "frame"), private = TRUE)
  bad <- which(lengths(found) > 0)[1]
  if (!is.na(bad)) abort_riemdp(sub("^riemdp_error_", "", found[[bad]]$class), sprintf("chunk %d: %s", bad, found[[bad]]$message))
  y
}

# sum of clipped gradients, q x (1 + k)
chunk_gradient <- function(y, state, ask, tau) {
  request <- list(kernel = "regression", M = y$M, formula = y$formula, spec = y$spec, state = state, ask = ask[c("speed", "reach", "q", "k")],
                  tau = tau, counts = "frame")
  matrix(exact_total(chunk_ask(y$data, request, private = TRUE)), ask$q)
}
