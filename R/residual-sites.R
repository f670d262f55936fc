# The residual scale of a released line from records that stay at sites: one sum of cut squares, with the noise of all.
# Proof: inst/proofs/inference.md, section 7.

# ---- at a site -------------------------------------------------------------------------------------------------------
# A request has the line: `at` its coefficients on public scales, `radius` what responses are moved to, `weight` where
# residuals are cut. A row's squares are parts of 1, rounded up to whole numbers of these units.

RESIDUAL_BITS <- 20

model_responses <- function(q) length(q$model$responses)

# a row for each response, of whole numbers
residual_squares <- function(q, x) {
  r <- model_records(q, x)
  k <- model_responses(q)
  numbers <- line_residuals(r$x, r$y, matrix(q$at, k), q$weight)
  ceiling(2^RESIDUAL_BITS * cut_squares(numbers$off, k))
}

residuals_refused <- function(policy, request) {
  if (!is_model_request(request)) return("message")
  count <- model_responses(request) * (1 + model_width(request$model))
  if (!is.double(request$at) || length(request$at) != count || !all(is.finite(request$at))) return("message")
  hold_to_types(policy, model_types(request$model))
}

# each response's square is from 0 to 1
RESIDUAL_VECTORS <- list(
  residuals = list(sum = function(q, x) rowSums(residual_squares(q, x)) / 2^RESIDUAL_BITS,
                   rows = function(q, x) t(residual_squares(q, x)) / 2^RESIDUAL_BITS, trial = blank_row,
                   length = function(q) outwards(sqrt(model_responses(q))),
                   moved = function(q) outwards(sqrt(model_responses(q))), dimension = model_responses,
                   refused = residuals_refused, fields = c("model", "at", "weight"))
)

# ---- the plan and the release ----------------------------------------------------------------------------------------

# what dp_residual_scale() asks of sites that add noise
shared_residual <- function(ask, x) {
  fit <- ask$fit
  refuse <- function(...) abort_riemdp("unsupported", paste0(...))
  if (is.null(fit$details$moments) || !is.null(fit$details$rule$window)) {
    refuse("at sites a residual scale is for a line that released sums of products: one of dp_lm() over sites.")
  }
  check_site_terms(fit$spec)
  reach <- fit$details$reach
  if (!(is.numeric(reach) && length(reach) == 1 && isTRUE(reach > 0 && reach < Inf))) not_as_made(fit)
  if (is.null(x$shares)) {
    refuse("sites give no residuals without noise: sites(shares = TRUE) or sites(secure = TRUE) would do.")
  }
  check_all_there(x$shares)
  if (!identical(as.double(fit$n), ask$n)) {
    abort_riemdp("argument", "the line is of another number of records than are at the sites.")
  }
  if (!identical(fit$unit, ask$unit)) {
    abort_riemdp("argument", "the line is one of other units than the sites' policies have.")
  }
  if (ask$delta == 0) refuse("sites add normal noise: `delta` must be > 0.")
  ask$about <- list(vector = "residuals", model = site_model(fit$spec, fit$bounds), radius = fit$details$reach,
                    at = as.vector(fit$scaled_coefficients), weight = ask$bound)
  ask$assumptions <- c(ask$assumptions, share_assumption(x$shares))
  c(ask, noise_of_sites(x))
}

plan_shared_residual <- function(ask) {
  mu <- adassp_mu(ask)
  plan <- c(list(about = ask$about, mu = mu, sensitivity = vector_moved(ask$about)),
            sites_plan(ask$shares, ask$about, outwards(vector_moved(ask$about) / mu), ask$n))
  g <- promise_of(list(epsilon = ask$epsilon, delta = ask$delta, mu = mu, reasons = NULL),
                  c("the fit and its bounds are public or released; the number of records is public",
                    ask$assumptions), numerics = "real-valued")
  plan$guarantee <- of_units(g, ask$unit)
  plan
}
