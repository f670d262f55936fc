# Zero-concentrated DP: divergence rho alpha at every order, so the sum is one number and the order is free.

ZCDP_CONVERSIONS <- c(RDP_CONVERSIONS, "bun-steinke")

zcdp_accountant_epsilon <- function(event, delta, conversion = "best") {
  need_delta(event, delta, "zcdp")
  rho_epsilon(zcdp_price(event), delta, conversion)
}

rho_epsilon <- function(rho, delta, conversion = "best") {
  if (rho == 0) return(list(value = 0))
  # Bun and Steinke (2016), Proposition 1.3
  if (conversion == "bun-steinke") return(list(value = rho + 2 * sqrt(-rho * log(delta))))
  out <- curve_epsilon(function(orders) rho * orders, delta, conversion)
  if (conversion == "best") out$value <- min(out$value, rho + 2 * sqrt(-rho * log(delta)))
  out
}

zcdp_accountant_delta <- function(event, epsilon, conversion = "best") {
  rho <- zcdp_price(event)
  if (rho == 0) return(list(value = 0))
  if (conversion == "bun-steinke") return(list(value = if (epsilon <= rho) 1 else exp(-(epsilon - rho)^2 / (4 * rho))))
  curve_delta(function(orders) rho * orders, epsilon, conversion)
}
