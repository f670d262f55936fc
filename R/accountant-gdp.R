# Gaussian DP: exact for Gaussian steps (Balle and Wang 2018; Dong, Roth and Su 2022, Corollary 2.13). For sampled ones
# the central limit theorem gives a mu that is an estimate, neither upper nor lower bound: it is never chosen by itself.

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

gdp_lower <- function(event, given, wanted, value) {
  mu <- gdp_price(event)
  if (mu == 0) return(0)
  closed_lower(function(epsilon) gaussian_delta(mu, epsilon, TRUE), given, wanted, value)
}

# A lower bound of `wanted` from one of delta at an epsilon: for epsilon the nearest number below `value` at which that
# is above the delta asked for, NA where none is near.
closed_lower <- function(below, given, wanted, value) {
  if (wanted == "delta") return(min(below(given), value))
  if (value == 0) return(0)
  for (lower in value * (1 - 10^(-12:-2))) if (isTRUE(below(lower) >= given)) return(lower)
  NA
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
  if (is.na(mu)) unpriced(event, "the central limit form", "its mu is out of the range of doubles")
  list(value = if (mu == 0) 0 else told_epsilon(mu, delta), mu = mu)
}

clt_delta <- function(event, epsilon) {
  mu <- clt_mu(event)
  if (is.na(mu)) unpriced(event, "the central limit form", "its mu is out of the range of doubles")
  list(value = if (mu == 0) 0 else gaussian_delta(mu, epsilon), mu = mu)
}

# delta of N(0, 1) against N(mu, 1), mu > 0, rounded up; or with `below` down
gaussian_delta <- function(mu, epsilon, below = FALSE) {
  if (mu == Inf) return(rep(1, length(epsilon)))
  at <- pmax(mu / 2 - epsilon / mu, -1e100) # beyond, nothing is left in doubles
  a <- stats::pnorm(at, log.p = TRUE)
  b <- epsilon + stats::pnorm(-mu / 2 - epsilon / mu, log.p = TRUE)
  # rounding (proofs/gaussian.md, section 1)
  out <- exp(a) * -expm1(pmin.int(b - a, 0))
  small <- 1e-14 * pmin.int(mu / 2 + epsilon / mu, 1e300) * stats::dnorm(at)
  margin <- 1e-13 * (1 + abs(a)) * exp(a) + small
  if (below) return(ifelse(at > -37, pmax(0, out - margin), 0))
  pmin.int(1, 1e-307 + either(at > -40, out + margin, 0))
}

# Symmetric spaces without negative curvature whose volume density is log-concave: that of the flat space, and below
# mu^2/2 a little more (proofs/gaussian.md, Theorem 4).
hinge_delta <- function(sigma, far, epsilon) {
  mu <- outwards(far / sigma)
  more <- expm1(pmin(epsilon - mu^2 / 2, 0))^2 / 2
  pmin(gaussian_delta(mu, epsilon) + outwards(more), outwards(sqrt(-expm1(-mu^2 / 2))), 1)
}

check_normal_delta <- function(delta) {
  if (!(delta >= 1e-300)) {
    abort_riemdp("argument",
                 "for Gaussian noise `delta` must be at least 1e-300: doubles tell no smaller probabilities.")
  }
}

# largest mu for which the condition holds, rounded down
gaussian_mu <- function(epsilon, delta) {
  check_normal_delta(delta)
  f <- function(log_mu) log(gaussian_delta(exp(log_mu), epsilon)) - log(delta)
  lower <- log(epsilon + 1e-3) - log(50)
  while (f(lower) > 0) lower <- lower - 2
  upper <- lower + 2
  while (f(upper) < 0) upper <- upper + 2
  root <- stats::uniroot(f, c(lower, upper), tol = 1e-13)$root
  exp(step_until(root, -1e-12, function(x) gaussian_delta(exp(x), epsilon) <= delta))
}

# smallest epsilon that mu-GDP implies at delta, rounded up; the concentrated bound is always enough
gdp_epsilon <- function(mu, delta) {
  if (!(mu < 1e100)) abort_riemdp("existence", "no epsilon can be told in doubles: the noise is too small.")
  mu <- max(mu, 1e-290)
  falling_root(function(epsilon) gaussian_delta(mu, epsilon), delta, mu^2 / 2 + mu * sqrt(-2 * log(delta)))
}
