# Gaussian DP: exact for Gaussian steps (Balle and Wang 2018; Dong, Roth and Su 2022, Corollary 2.13). For sampled ones the
# central limit theorem gives a mu that is an estimate, neither upper nor lower bound: it is never chosen by itself.

gdp_accountant_epsilon <- function(event, delta) {
  mu <- gdp_price(event)
  if (mu == 0) return(list(value = 0, mu = 0))
  need_delta(event, delta, "gdp")
  list(value = told_epsilon(mu, delta), mu = mu)
}

# dear beyond all numbers is an answer here, where a plan would be refused
told_epsilon <- function(mu, delta) tryCatch(gdp_epsilon(mu, delta), riemdp_error_existence = function(e) Inf)

gdp_accountant_delta <- function(event, epsilon) {
  mu <- gdp_price(event)
  if (mu == 0) return(list(value = 0, mu = 0))
  list(value = gaussian_delta(mu, epsilon), mu = mu)
}

# Dong, Roth and Su (2022), section 5.2 (replace-one); Bu, Dong, Long and Su (2020), section 2.4 (Poisson)
clt_mu <- function(event) {
  parts <- event_parts(event)
  sqrt(sum(vapply(parts, function(part) {
    e <- part$event
    if (!e$type %in% c("poisson", "sample")) return(part$times * gdp_price(e)^2)
    mu <- gdp_price(e$children[[1]])
    q <- e$parameters$q
    if (e$type == "poisson") return(part$times * q^2 * expm1(mu^2))
    2 * part$times * q^2 * max(0, exp(mu^2) * stats::pnorm(1.5 * mu) + 3 * stats::pnorm(-0.5 * mu) - 2)
  }, 0)))
}

clt_epsilon <- function(event, delta) {
  need_delta(event, delta, "clt")
  mu <- clt_mu(event)
  list(value = if (mu == 0) 0 else told_epsilon(mu, delta), mu = mu)
}

clt_delta <- function(event, epsilon) {
  mu <- clt_mu(event)
  list(value = if (mu == 0) 0 else gaussian_delta(mu, epsilon), mu = mu)
}
