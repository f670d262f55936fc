# From a formula, data and public ranges to the records of a private geodesic regression.

# The records of a call: list(y, x, n, spec, constants, scaled), x from the middle of the predictors' ranges. Nothing in
# a message comes from their numbers.
regression_records <- function(formula, M, data, bounds, env, least = 1) {
  if (is_chunks(data)) return(regression_chunks(formula, M, data, bounds, env))
  if (!(is.null(data) || is.list(data))) abort_riemdp("argument", "`data` must be a data frame or a list.")
  spec <- private_predictors(formula, names(data), bounds)
  rows <- formula_names(c(spec$response, spec$predictors), data, env, count = points_count(spec$response, M))
  y <- private_response(spec, rows, M)
  rows$n <- record_count(M, y, least)
  x <- private_columns(spec, rows)
  list(y = y, x = x, n = rows$n, spec = spec, constants = rows$constants, scaled = rows$scaled)
}

# the left side as points or numbers in the shape of points, valid or not
private_response <- function(spec, rows, M) points_values(spec$response, rows, M)

private_predictors <- function(formula, names, bounds, declared = character()) {
  spec <- linear_terms(formula, names, points = TRUE)
  response <- formula[[2]]
  check_points_term(response)
  if (length(spec$parts) < 1) abort_riemdp("argument", "`formula` has no predictor: dp_mean() releases a private mean.")
  if (is.numeric(bounds) && length(spec$predictors) == 1) {
    bounds <- stats::setNames(list(bounds), names(spec$predictors))
  }
  if (!is.list(bounds)) {
    abort_riemdp("argument",
                 "`bounds` must be two numbers for one predictor, or a list with a name for each variable.")
  }
  bounds <- linear_bounds(spec, bounds, "bounds")
  wants <- predictor_types(spec, bounds, "bounds")
  name_types(spec$predictors, wants, declared)
  columns <- linear_columns(spec, bounds)
  list(response = response, predictors = spec$predictors, wants = wants, declared = declared,
       bounds = list(x = bounds$x), columns = columns, formula = spec$formula[-2], parts = spec$parts)
}

# predictors from the middle of their ranges, k x n; NA where missing
private_columns <- function(spec, rows) {
  values <- row_values(spec$predictors, spec$wants, rows, spec$declared)
  raw <- t(column_values(spec$columns, spec$bounds, values, n = rows$n))
  raw[!is.finite(raw)] <- NA
  dimnames(raw) <- NULL
  raw - vapply(spec$columns, `[[`, 0, "middle")
}

# the curator's check of responses, whose errors are about the left side
checked_responses <- function(y, M) about_left_side(response_points(y, M))

about_left_side <- function(expr) {
  tryCatch(expr, riemdp_error = function(e) {
    abort_riemdp(sub("^riemdp_error_", "", class(e)[1]),
                 sub("^`x`", "the left side of the formula", conditionMessage(e)))
  })
}

# The records of a call whose tables are in chunks, as regression_records() has them. Variables come from the chunks; a
# formula's environment isn't sent to workers, its constants are.
regression_chunks <- function(formula, M, data, bounds, env) {
  names <- if (at_sites(data)) all.vars(formula) else chunk_names(check_chunks(data))
  spec <- private_predictors(formula, names, bounds, data$columns)
  environment(spec$formula) <- baseenv()
  found <- chunk_variables(c(spec$response, spec$predictors), names, data, env)
  y <- structure(list(M = M, data = data, spec = spec, constants = found$constants, names = found$columns),
                 class = "riemdp_regression_chunks")
  list(y = y, x = NULL, n = found$n, spec = spec, constants = found$constants)
}

chunked_method <- function(method) {
  if (identical(method, "paper")) {
    abort_riemdp("unsupported",
                 paste("method = \"paper\" is not available for records in chunks: it is for study, and looks at all",
                       "records at once."))
  }
}

# chunks' answers about these records, each of which counts by its share
regression_ask_chunks <- function(y, kernel, ...) {
  request <- list(kernel = kernel, M = y$M, spec = y$spec, constants = y$constants, names = y$names, counts = "frame",
                  ...)
  chunk_ask(y$data, request, each_chunk(y$data$sizes, y$share, "share"), private = TRUE)
}

# the curator's check
check_responses <- function(y) {
  found <- regression_ask_chunks(y, "regression_check")
  bad <- which(lengths(found) > 0)[1]
  if (!is.na(bad)) {
    abort_riemdp(sub("^riemdp_error_", "", found[[bad]]$class), sprintf("chunk %d: %s", bad, found[[bad]]$message))
  }
  y
}

# A chunk's responses and predictors as private calls see them. A variable that doesn't hold points is that many missing
# ones.
chunk_private <- function(q, x) {
  rows <- formula_names(c(q$spec$response, q$spec$predictors), x, constant_scope(q$constants),
                        if (is.data.frame(x)) NULL else q$size)
  y <- private_response(q$spec, rows, q$M)
  if (!holds_points(q$M, y, rows$n)) y <- new_points(matrix(NA_real_, rows$n, mf_facts(q$M)$ambient), q$M)
  list(y = y, x = with_shares(private_columns(q$spec, rows), q$share))
}

holds_points <- function(M, y, n) tryCatch(.Call(riemdp_count, M, y) == n, riemdp_error = function(e) FALSE)
