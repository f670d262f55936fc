# Zero-concentrated DP: divergence rho alpha at every order, so the sum is one number and the order is free.

ZCDP_CONVERSIONS <- c(RDP_CONVERSIONS, "bun-steinke")

zcdp_accountant_epsilon <- function(event, delta, conversion = "best") {
  need_delta(event, delta, "zcdp")
  rho_epsilon(zcdp_price(event), delta, conversion)
}

rho_epsilon <- function(rho, delta, conversion = "best") {
  if (rho == 0 || rho > 1e300) return(list(value = if (rho == 0) 0 else Inf))
  # Bun and Steinke (2016), Proposition 1.3
  if (conversion == "bun-steinke") return(list(value = (rho + 2 * sqrt(-rho * log(delta))) * (1 + 1e-15)))
  closed <- if (conversion == "mironov") epsilon_mironov else epsilon_balle
  order <- dip_order(function(alpha) closed(alpha, alpha * rho, delta))
  out <- curve_epsilon(function(orders) rho * orders, delta, conversion, order)
  if (conversion == "best") out$value <- min(out$value, (rho + 2 * sqrt(-rho * log(delta))) * (1 + 1e-15))
  out
}

zcdp_accountant_delta <- function(event, epsilon, conversion = "best") {
  rho <- zcdp_price(event)
  if (rho == 0 || rho > 1e300) return(list(value = if (rho == 0) 0 else 1))
  if (conversion == "bun-steinke") return(list(value = if (epsilon <= rho) 1 else exp(-(epsilon - rho)^2 / (4 * rho))))
  closed <- if (conversion == "mironov") log_delta_mironov else log_delta_balle
  order <- dip_order(function(alpha) closed(alpha, alpha * rho, epsilon))
  curve_delta(function(orders) rho * orders, epsilon, conversion, order)
}

# the order at which most Gaussian noise passes for (epsilon, delta), and the rho of that noise, rounded down
zcdp_order <- function(epsilon, delta) dip_order(function(alpha) -renyi_limit(alpha, epsilon, delta) / alpha)
zcdp_rho <- function(epsilon, delta) {
  order <- zcdp_order(epsilon, delta)
  limit <- -log(delta)
  # Bun and Steinke's, where the difference in the other cancels
  simple <- (epsilon / (sqrt(epsilon + limit) + sqrt(limit)))^2
  max(renyi_limit(order, epsilon, delta) / order, simple) * (1 - 1e-12)
}

# The order with the least score. Every order gives a valid bound, so the search can only lose a little.
dip_order <- function(score) {
  f <- function(t) pmax(pmin(score(1 + exp(t)), 1e300), -1e300)
  t <- seq(-15, 40, by = 0.25)
  start <- t[which.min(f(t))]
  1 + exp(stats::optimize(f, start + c(-0.5, 0.5), tol = 1e-10)$minimum)
}
