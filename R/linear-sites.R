# Linear regression of records that stay at sites: one sum of products of features and responses, with the noise of all.
# Proof: inst/proofs/linear-regression.md, section 17.

# ---- a model as a request tells it -----------------------------------------------------------------------------------
# list(responses, predictors: names of columns; x: each predictor's range, or a list of its levels; y: centre, scale and
# limit of each response, 3 x q; parts: which predictors each term multiplies). Names and numbers only: nothing of it is
# evaluated.

MODEL_COLUMNS <- 250
MODEL_LIMIT <- 1e300

check_site_terms <- function(spec) {
  if (!all(vapply(c(spec$responses, spec$predictors), is.name, NA)) || any(are_bases(spec$bases))) {
    abort_riemdp("unsupported",
                 paste("at sites the terms of `formula` are columns and products of them: what is computed from a",
                       "column must be a column there."))
  }
}

site_model <- function(spec, bounds) {
  y <- unname(bounds$y)
  y[3, ] <- pmin(y[3, ], MODEL_LIMIT)
  text <- function(all) as.list(unname(vapply(all, as.character, "")))
  model <- list(responses = text(spec$responses), predictors = text(spec$predictors),
                x = lapply(unname(bounds$x), function(b) if (is.null(b$levels)) b$range else as.list(b$levels)),
                y = y, parts = lapply(spec$parts, as.double))
  if (!is_model(model)) {
    abort_riemdp("unsupported", sprintf("sites take models of at most %d columns, 500 coefficients, and plain names.",
                                        MODEL_COLUMNS))
  }
  model
}

# whether that is one, whatever came in
is_model <- function(v) {
  fields <- c("responses", "predictors", "x", "y", "parts")
  if (!is.list(v) || length(v) != length(fields) || !setequal(names(v), fields)) return(FALSE)
  if (!are_strings(v$responses) || !are_strings(v$predictors)) return(FALSE)
  q <- length(v$responses)
  p <- length(v$predictors)
  # how many levels and columns there are is known before each is looked at
  q >= 1 && p <= MODEL_COLUMNS && is.list(v$x) && length(v$x) == p && are_model_parts(v$parts, p) &&
    model_width(v) <= MODEL_COLUMNS && (model_width(v) + 1) * q <= 500 && are_model_bounds(v$x) &&
    are_model_scales(v$y, q) && is.list(tryCatch(read_model(v), riemdp_error = function(e) NULL))
}

are_strings <- function(v) {
  is.list(v) && is.null(names(v)) && all(vapply(v, function(s) is_string(s) && nzchar(s) && wire_plain(s), NA)) &&
    !anyDuplicated(unlist(v))
}

are_model_bounds <- function(x) {
  all(vapply(x, function(b) (is.double(b) && is_range(b)) || (are_strings(b) && length(b) >= 2), NA))
}

are_model_scales <- function(y, q) {
  is.double(y) && identical(dim(y), c(3L, as.integer(q))) && all(is.finite(y)) && all(y[-1, ] > 0)
}

are_model_parts <- function(parts, p) {
  is.list(parts) && length(parts) <= MODEL_COLUMNS && setequal(unlist(parts), seq_len(p)) &&
    all(vapply(parts, function(part) {
      is.double(part) && length(part) >= 1 && all(part %in% seq_len(p)) && !anyDuplicated(part)
    }, NA))
}

# columns but the constant: of numbers one each, of levels one less, and products of these
model_width <- function(model) {
  own <- vapply(model$x, function(b) if (is.list(b)) length(b) - 1 else 1, 0)
  sum(vapply(model$parts, function(part) prod(own[part]), 0))
}

# list(spec, bounds, columns, wants) as linear_values() and linear_records() take them
read_model <- function(model) {
  names_of <- function(all) stats::setNames(lapply(all, as.name), unlist(all))
  spec <- list(responses = names_of(model$responses), predictors = names_of(model$predictors), parts = model$parts)
  bounds <- list(x = lapply(model$x, function(b) if (is.list(b)) list(levels = unlist(b)) else list(range = b)),
                 y = model$y)
  rownames(bounds$y) <- c("center", "scale", "limit")
  list(spec = spec, bounds = bounds, columns = linear_columns(spec, bounds),
       wants = vapply(model$x, function(b) if (is.list(b)) "text" else "number", ""))
}

# the types that a model takes its columns for, by their names
model_types <- function(model) {
  of <- c(rep("number", length(model$responses)),
          vapply(model$x, function(b) if (is.list(b)) "text" else "number", ""))
  stats::setNames(of, c(unlist(model$responses), unlist(model$predictors)))
}

# ---- at a site -------------------------------------------------------------------------------------------------------

# d, q; b: squared length of (1, u) at most; square: whether x x' says more than the number of rows; cross: the square
# of `weight` times the responses' reach
products_widths <- function(q) {
  d <- model_width(q$model)
  k <- length(q$model$responses)
  reach <- q$radius * (1 + sqrt(k) / (2 * scatter_grid(k)$inside)) # rounded, moment_rows()
  list(d = d, q = k, b = d + 1, square = d > 0, cross = (q$weight * reach)^2)
}

# How far two rows' vectors (xx', weight xy') lie apart at most: |x|^2 <= b, |y| <= reach
products_moved <- function(q) {
  w <- products_widths(q)
  s <- if (w$square) min(w$b, w$cross / 2) else w$b
  outwards(sqrt(2 * w$square * (w$b^2 - s^2) + 2 * w$cross * (w$b + s)))
}

products_length <- function(q) {
  w <- products_widths(q)
  outwards(sqrt(w$square * w$b^2 + w$cross * w$b))
}

products_dimension <- function(q) {
  w <- products_widths(q)
  symmetric_count(w$b) - 1 + w$b * w$q
}

# Each row's features and responses as whole numbers: products and sums are exact. A row that misses one is 0. The
# corner of X'X, a public number, stays.
products_sum <- function(q, x) {
  r <- products_records(q, x)
  S <- scatter_matrix(cbind(r$x, r$y), r$grid)
  k <- seq_len(ncol(r$x))
  c(symmetric_entries(S[k, k, drop = FALSE])[-1], S[k, -k] * (q$radius * q$weight * r$grid$stretch))
}

# a table's features and responses, on public scales and moved into their bounds
model_records <- function(q, x) {
  model <- read_model(q$model)
  if (!is.data.frame(x)) x <- plain_columns(x, model_types(q$model), q$rows %||% records_in(x))
  values <- linear_values(model$spec, x, emptyenv(), model$wants)
  linear_records(model$columns, model$bounds, values, TRUE, q$radius)
}

# the same as whole numbers, a row each
products_records <- function(q, x) {
  r <- model_records(q, x)
  grid <- scatter_grid(nrow(r$y))
  list(x = t(round(r$x * 2^grid$bits)), y = moment_rows(t(r$y), q$radius, grid), grid = grid)
}

products_rows <- function(q, x) {
  r <- products_records(q, x)
  one <- 2^r$grid$bits
  b <- ncol(r$x)
  k <- ncol(r$y)
  xy <- r$x[, rep(seq_len(b), k), drop = FALSE] * r$y[, rep(seq_len(k), each = b), drop = FALSE]
  cbind(product_rows(r$x / one)[, -1, drop = FALSE], xy * (q$radius * q$weight * r$grid$stretch / one^2))
}

# whether a request is one for a sum by a model, on scales that doubles square
is_model_request <- function(request) {
  fits <- function(v) v >= 2^-30 && v <= 2^30
  is_model(request$model) && fits(request$radius) && fits(request$weight)
}

# why a site by its policy doesn't answer, or NULL: a model of the policy's columns
products_refused <- function(policy, request) {
  if (!is_model_request(request)) return("message")
  hold_to_types(policy, model_types(request$model))
}

hold_to_types <- function(policy, types) {
  if (!all(names(types) %in% names(policy$columns)) || !all(types == policy$columns[names(types)])) "columns"
}

# a table of those variables of a list that a model is about
plain_columns <- function(x, types, n) {
  structure(x[names(types)], class = "data.frame", row.names = .set_row_names(n))
}

# a row of which nothing is known
blank_row <- function(q) {
  types <- model_types(q$model)
  plain_columns(stats::setNames(lapply(types, function(type) if (type == "text") NA_character_ else NA_real_),
                                names(types)), types, 1)
}

PRODUCT_VECTORS <- list(
  products = list(sum = products_sum, rows = products_rows, trial = blank_row, length = products_length,
                  moved = products_moved, dimension = products_dimension, refused = products_refused,
                  fields = c("model", "weight"))
)

# ---- the plan --------------------------------------------------------------------------------------------------------

# a regression over sites has one method, and they add noise
check_sums_with_noise <- function(x, delta, method, able, what) {
  refuse <- function(...) abort_riemdp("unsupported", paste0(...))
  if (is.null(x$shares)) {
    refuse("sites give no sums for regressions without noise: sites(shares = TRUE) or sites(secure = TRUE) would do.")
  }
  if (!method %in% c("auto", able)) {
    refuse(sprintf("sites add normal noise to sums of %s: method = \"%s\" would do.", what, able))
  }
  if (delta == 0) refuse("sites add normal noise: `delta` must be > 0.")
}

# what dp_lm() asks of sites that add noise
shared_lm <- function(ask, x) {
  if (!at_sites(x)) return(ask)
  check_sums_with_noise(x, ask$delta, ask$method, "adassp", "products")
  ask <- c(ask, noise_of_sites(x))
  ask$method <- "adassp"
  ask$trusted <- TRUE # its check would be further requests
  ask$model <- site_model(ask$spec, ask$bounds)
  ask$assumptions <- c(ask$assumptions, share_assumption(ask$shares))
  ask
}

# The weight of products with responses has the least error by the public model; all have the noise of one vector.
shared_products <- function(ask) {
  mu <- adassp_mu(ask)
  reach <- STATISTICS_CLIP * sqrt(ask$q)
  noise <- function(weight) {
    about <- list(vector = "products", model = ask$model, radius = reach, weight = weight)
    least <- outwards(vector_moved(about) / mu)
    c(list(about = about, least = least), products_spread(ask, least * share_excess(ask$shares), weight, reach))
  }
  best <- stats::optimize(function(at) noise(exp(at))$error, log(c(0.01, 10)))$minimum
  noise(exp(best))
}

# list(sd, lift, error) of a vector's noise
products_spread <- function(ask, sd, weight, reach) {
  b <- ask$d + 1
  lift <- sd * sqrt(b * log(2 * b^2 / 0.05)) # as in products_noise()
  list(sd = c(xx = sd, xy = sd / weight), lift = lift,
       error = statistics_error(ask, expected_ridge(ask, lift), sd, sd / weight, reach))
}

plan_shared_lm <- function(ask) {
  found <- shared_products(ask)
  shares <- ask$shares
  plan <- list(method = "adassp", chosen = "the method for sites that add noise", reach = found$about$radius,
               weight = found$about$weight, mu = adassp_mu(ask), shared = found[c("about", "least")],
               guarantee = list(epsilon = ask$epsilon, delta = ask$delta, mu = adassp_mu(ask)))
  plan$shared <- c(plan$shared, sites_plan(shares, found$about, found$least, ask$n))
  query <- plan$shared$query
  sd <- if (is.null(query)) found$least * share_excess(shares) else summed_scale(query, shares$sites, 1)
  c(plan, products_spread(ask, sd, plan$weight, plan$reach))
}

# ---- the release -----------------------------------------------------------------------------------------------------

release_shared_lm <- function(x, plan, ask) {
  found <- draw_shared_sum(x, plan$shared, ask$shares, "linear-regression.md, 17")
  if (!is.null(found$alive)) {
    ask$n <- found$n
    told <- products_spread(ask, found$sd, plan$weight, plan$reach)
    plan[names(told)] <- told
  }
  s <- split_products(found$sum, ask, plan$weight)
  # X'X has no eigenvalue below 0
  ridge <- max(0, plan$lift - max(0, min(eigen(s$xx, symmetric = TRUE, only.values = TRUE)$values)))
  plan$shared <- NULL
  list(b = solve_statistics(s, ridge), plan = plan, n = ask$n, error = plan$error, left = ask$epsilon,
       details = c(list(moments = s, ridge = ridge), shared_details(list(shares = ask$shares, alive = found$alive))))
}

# X'X, whose corner is public, and X'Y
split_products <- function(v, ask, weight) {
  k <- symmetric_count(ask$d + 1)
  v <- c(ask$n, v)
  list(xx = symmetric_matrix(v[seq_len(k)], ask$d + 1), xy = matrix(v[-seq_len(k)], ask$d + 1) / weight)
}

shared_lm_words <- function(r) {
  d <- r$details
  c(sprintf(paste("The sums of x x' and x y' over all sites' rows are released with normal noise, %s. As one vector,",
                  "products with responses times %.3g, a %s moves them by so much that this is %.4g-GDP. The ridge is",
                  "%.4g, such that no eigenvalue is below %.4g, which is post-processing. Responses are moved to %.3g",
                  "public standard deviations; their guess isn't checked at sites."),
            share_words(d), d$weight, if (is.null(r$unit)) "row" else "unit", d$mu, d$ridge, d$lift, d$reach),
    silent_sites(d), "Section 17 of proofs/linear-regression.md.")
}
