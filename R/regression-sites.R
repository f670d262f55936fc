# Geodesic regression of records that stay at sites: steps along sums of clipped gradients, with the noise of all sites.
# Proof: inst/proofs/regression.md, section 3.

# ---- at a site -------------------------------------------------------------------------------------------------------
# A request for one step has the curve as it is (`center`: its point; `at`: coordinates of its vectors there), the frame
# in which gradients are written, `weight`: what residuals are shortened to, and `radius`: what gradients are.

curve_dimension <- function(q) mf_facts(q$M)$dimension * (1 + model_width(q$model))

# Each record's gradient, a function of it and of the request. The sum shortens it to the radius, whatever it is.
curve_rows <- function(q, x) {
  model <- read_model(q$model)
  spec <- list(response = as.name(q$model$responses[[1]]), predictors = model$spec$predictors, wants = model$wants,
               declared = character(), bounds = model$bounds["x"], columns = model$columns)
  r <- chunk_private(list(M = q$M, spec = spec, constants = list(), size = q$rows), x)
  d <- mf_facts(q$M)$dimension
  state <- list(p = stored_shape(q$M, q$center), v = matrix(q$at, d))
  ask <- list(reach = vapply(model$columns, `[[`, 0, "half"), speed = q$speed)
  data <- features_at(q$M, state, list(matrix(q$frame, d), q$lambda), r$x, r$y, ask)
  psi <- clipped_responses(data, q$weight)
  gradients <- matrix(data$features, curve_dimension(q)) * psi[rep(seq_len(d), 1 + length(ask$reach)), ]
  t(gradients)
}

curve_sum <- function(q, x) {
  rows <- curve_rows(q, x)
  MEAN_VECTORS$mean$sum(list(M = euclidean(ncol(rows)), center = numeric(ncol(rows)), radius = q$radius), rows)
}

curve_refused <- function(policy, request) {
  if (!is_model(request$model) || length(request$model$responses) != 1) return("message")
  d <- mf_facts(request$M)$dimension
  k <- model_width(request$model)
  finite <- function(v, size) is.double(v) && length(v) == size && all(is.finite(v))
  ok <- k >= 1 && finite(request$at, d * k) && finite(request$frame, d^2) && finite(request$lambda, d) &&
    finite(request$speed, k) && all(request$speed > 0 & request$speed < 1e60) && legs_fit(request, k)
  if (!ok) return("message")
  hold_to_types(policy, replace(model_types(request$model), 1, "points"))
}

# a curve that isn't many times round: residuals are carried back in few pieces
LEGS_MOST <- 64

legs_fit <- function(request, k) {
  half <- vapply(read_model(request$model)$columns, `[[`, 0, "half")
  regression_legs(request$M, list(speed = request$speed, reach = half)) <= LEGS_MOST
}

# a record at the curve's point, in the middle of all predictors
trial_record <- function(q) {
  types <- model_types(q$model)[-1]
  c(stats::setNames(list(trial_point(q)), q$model$responses[[1]]),
    stats::setNames(lapply(seq_along(types), function(i) {
      b <- q$model$x[[i]]
      if (is.list(b)) b[[1]] else mean(b)
    }), names(types)))
}

CURVE_VECTORS <- list(
  curve = list(sum = curve_sum, rows = function(q, x) shorten_rows(curve_rows(q, x), q$radius), trial = trial_record,
               length = function(q) q$radius, moved = function(q) 2 * q$radius,
               dimension = curve_dimension, refused = curve_refused,
               fields = c("M", "center", "at", "model", "weight", "frame", "lambda", "speed"))
)

# ---- the plan and the release ----------------------------------------------------------------------------------------

# what dp_regression() asks of sites that add noise
shared_curve <- function(ask, x) {
  if (!at_sites(x)) return(ask)
  check_sums_with_noise(x, ask$delta, ask$method, "gradient", "gradients")
  check_all_there(x$shares)
  spec <- ask$spec
  check_site_terms(list(responses = list(spec$response), predictors = spec$predictors))
  ask$model <- site_model(list(responses = list(spec$response), predictors = spec$predictors, parts = spec$parts),
                          list(x = spec$bounds$x, y = matrix(c(0, 1, 1), 3)))
  ask$method <- "gradient"
  ask$invalid <- "ignore" # nobody looks at records
  ask <- c(ask, noise_of_sites(x))
  ask$excess <- share_excess(x$shares)
  ask$assumptions <- c(ask$assumptions, share_assumption(x$shares))
  ask
}

step_about <- function(step, ask) {
  list(vector = "curve", M = ask$manifold, model = ask$model, radius = step$tau * step$gauge, speed = ask$speed)
}

# a step whose noise is told as the lattice of a secure sum has it
summed_step <- function(step, ask) {
  query <- step_plan(step, ask)$query
  if (!is.null(query)) step$sd <- summed_scale(query, ask$shares$sites, 1)
  step
}

step_plan <- function(step, ask) sites_plan(ask$shares, step_about(step, ask), step$least, ask$n)

step_request <- function(step, plan, ask, state, frame, cut) {
  here <- list(center = .Call(riemdp_stored, ask$manifold, state$p), at = as.vector(state$v), weight = cut,
               frame = as.vector(frame[[1]]), lambda = frame[[2]])
  c(shared_request(plan, step_about(step, ask)), here)
}

# a step's request where the curve begins: what policies say of it they say of later ones
first_request <- function(step, ask) {
  state <- list(p = ask$center, v = matrix(0, ask$q, ask$k))
  step_request(step, step_plan(step, ask), ask, state, list(diag(ask$q), numeric(ask$q)), step$tau)
}

# the sums of gradients that the sites' steps are made of
noisy_curves <- function(y, ask) {
  x <- y$data
  y$noisy <- function(state, frame, cut, step) {
    plan <- step_plan(step, ask)
    request <- step_request(step, plan, ask, state, frame, cut)
    if (is.null(plan$query)) {
      pay(price_normal(vector_moved(request), step$least, "regression.md, 3"))
      return(noisy_sum(x, request))
    }
    pay(price_normal_discrete(plan$shift, honest_sd(plan$query), "federation.md, 2"))
    secure_sum(x, request)$sum * request$step
  }
  y
}

shared_curve_words <- function(details) {
  sprintf("The noise of each step is %s. Records that are no points count as missing ones.", share_words(details))
}
