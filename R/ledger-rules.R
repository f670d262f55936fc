# The ledger is a privacy filter: it says, before a release, whether the budget still covers it, although what is asked
# may depend on everything released before. So each rule is a sum that is proven for that (proofs/ledger.md), and none
# is a privacy-loss distribution.

# Sums may exceed their limits by this share: what typing a tenth as a double costs, so that ten releases of .1 use up a
# budget of 1
LEDGER_ROUNDING <- 2^-50

RULE_WORDS <- c(
  basic = "epsilons are added, and deltas",
  zcdp = "rhos (zero-concentrated differential privacy) are added",
  rdp = "Renyi divergences at fixed orders are added",
  gdp = "squares of mu (Gaussian differential privacy) are added"
)

# rules that keep a share of delta for releases that have one of their own
RULES_RESERVING <- c("zcdp", "rdp")

RULE_NAMES <- c(basic = "basic composition", zcdp = "zCDP", rdp = "Renyi DP", gdp = "Gaussian DP")

# names and limits of a ledger's sums; the last is always delta
rule_units <- function(meta) {
  c(switch(meta$rule, basic = "epsilon", zcdp = "rho", rdp = sprintf("divergence (order %g)", meta$orders),
           gdp = "mu^2"), "delta")
}

rule_limits <- function(rule, epsilon, delta, reserve, orders) {
  main <- delta * (1 - reserve)
  inwards <- function(x) x * (1 - 1e-12)
  switch(rule,
    basic = c(epsilon, delta),
    zcdp = c(zcdp_rho(epsilon, main), delta * reserve),
    rdp = c(inwards(renyi_limit(orders, epsilon, main / length(orders))), delta * reserve),
    gdp = c(inwards(gaussian_mu(epsilon, main)^2), delta * reserve)
  )
}

# What can't be paid is entered as four times the limit: it fails now, and for an order of a grid ever after
bounded_cost <- function(limits, cost) {
  main <- seq_len(length(limits) - 1)
  cost[main] <- pmin(cost[main], 4 * limits[main])
  cost
}

# total: sums in twice double precision. Delta has to hold, and one of the others: with a grid of orders each has its
# own delta.
within_limits <- function(limits, total) {
  ok <- (total[1, ] - limits) + total[2, ] <= limits * LEDGER_ROUNDING
  last <- length(limits)
  ok[last] && any(ok[-last])
}

# The filter. `state`: sums of one data set; `cost`: what is asked. New state, or NULL where the budget doesn't cover
# it.
filter_step <- function(limits, state, cost, part) {
  cost <- bounded_cost(limits, cost)
  if (part) {
    state$part <- sums_add(state$part, cost)
    state$largest <- sums_max(state$largest, state$part)
    total <- sums_add(state$spent, state$part)
  } else {
    state$spent <- sums_add(state$spent, cost)
    total <- sums_add(state$spent, state$largest)
  }
  if (within_limits(limits, total)) state
}
