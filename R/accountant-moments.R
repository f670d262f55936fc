# The moments accountant of Utpala et al. (2023), Claims 3 to 5, for variance-reduced descent: K(lambda) is lambda times
# the Renyi divergence at lambda + 1. Kept to reproduce the paper; its Claim 4 isn't proven with the constant 28 (the
# theorem of Wang, Balle and Kasiviswanathan 2019 gives up to 1.64 times as much) and holds in a range of lambda only.

# Claim 3 for a Gaussian, Claim 4 for a sample: 3.5 q^2 times that. NA outside the range of Claim 4.
moments_of <- function(event, lambda, conditions = TRUE) {
  p <- event$parameters
  if (event$type == "compose") {
    total <- 0
    for (child in event$children) total <- total + moments_of(child, lambda, conditions)
    return(total * p$times)
  }
  if (event$type != "sample" || p$q == 1) {
    return(lambda * rdp_value(new_event("gdp", "either", list(mu = gdp_price(event))), lambda + 1))
  }
  mu <- gdp_price(event$children[[1]])
  out <- 3.5 * p$q^2 * lambda * (lambda + 1) * mu^2 / 2
  if (conditions) {
    s <- 1 / mu^2 # sigma^2/(4 C)^2
    inside <- s >= 0.75 & lambda <= 2 / 3 * s * log(1 / (p$q * (lambda + 1) * (1 + s)))
    out[!inside] <- NA
  }
  out
}

moments_epsilon <- function(event, delta, conversion = "best", conditions = TRUE) {
  need_delta(event, delta, "moments")
  curve <- function(orders) {
    k <- moments_of(event, orders - 1, conditions)
    ifelse(is.na(k), Inf, k / (orders - 1))
  }
  out <- curve_epsilon(curve, delta, conversion)
  if (!is.finite(out$value)) {
    unpriced(event, "the moments accountant",
             paste("no order meets the conditions of the sampling bound (noise multiplier at least 0.866, and few",
                   "orders where q is large)"))
  }
  out
}

moments_delta <- function(event, epsilon, conversion = "best", conditions = TRUE) {
  curve <- function(orders) {
    k <- moments_of(event, orders - 1, conditions)
    ifelse(is.na(k), Inf, k / (orders - 1))
  }
  curve_delta(curve, epsilon, conversion)
}
