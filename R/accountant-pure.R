# Composition of epsilon-DP and (epsilon, delta)-DP steps from those numbers alone.

# basic composition: sums
basic_total <- function(event) {
  price <- basic_price(event)
  if (is.null(price)) unpriced(event, "basic composition", "it has no stated (epsilon, delta)")
  price
}

pure_epsilon <- function(event, delta) {
  price <- basic_total(event)
  if (price[2] > delta) unpriced(event, "basic composition", "the deltas of its parts add up to more than the delta asked for")
  list(value = price[1])
}

pure_delta <- function(event, epsilon) {
  price <- basic_total(event)
  if (price[1] > epsilon * (1 + 4e-16)) {
    unpriced(event, "basic composition", "the epsilons of its parts add up to more than the epsilon asked for")
  }
  list(value = price[2])
}

# one (epsilon, delta) and the number of steps, where all steps are alike
equal_steps <- function(event) {
  parts <- event_parts(event)
  prices <- lapply(parts, function(part) basic_total(part$event))
  first <- prices[[1]]
  if (!all(vapply(prices, identical, NA, first))) {
    unpriced(event, "optimal composition", "its steps are not all alike")
  }
  list(epsilon = first[1], delta = first[2], times = sum(vapply(parts, `[[`, 0, "times")))
}

# Kairouz, Oh and Viswanath (2017), Theorem 3.3: k randomised responses. Every term is positive: with J ~ Bin(k, plogis(epsilon0)),
# the sum of P(J = j) (1 - e^(epsilon - (2 j - k) epsilon0)) over positive brackets.
optimal_delta_of <- function(step, epsilon) {
  k <- step$times
  e <- step$epsilon
  spread <- sqrt(k * stats::plogis(e) * stats::plogis(-e)) * 45 + 50
  from <- max(0, ceiling((epsilon / e + k) / 2))
  if (e == 0 || from > k) {
    inner <- 0
  } else {
    peak <- max(from, floor(k * stats::plogis(e)))
    if (spread > 5e6) abort_riemdp("unpriced", "that many steps are beyond the exact sum; privacy-loss distributions price them.")
    j <- seq(max(from, floor(peak - spread)), min(k, ceiling(peak + spread)))
    beyond <- stats::pbinom(max(j), k, stats::plogis(e), lower.tail = FALSE) +
      if (min(j) > from) stats::pbinom(min(j) - 1, k, stats::plogis(e)) else 0
    inner <- sum(stats::dbinom(j, k, stats::plogis(e)) * -expm1(pmin(0, epsilon - (2 * j - k) * e))) + beyond
  }
  finite <- k * log1p(-step$delta)
  min(1, -expm1(finite) + exp(finite) * inner * (1 + 1e-13 * log2(k + 2)))
}

optimal_epsilon <- function(event, delta) {
  step <- equal_steps(event)
  if (-expm1(step$times * log1p(-step$delta)) > delta) unpriced(event, "optimal composition", "its deltas exceed the delta asked for")
  list(value = falling_root(function(epsilon) optimal_delta_of(step, epsilon), delta, step$times * step$epsilon))
}

optimal_delta <- function(event, epsilon) list(value = optimal_delta_of(equal_steps(event), epsilon))

# smallest epsilon up to `most` (where f(most) <= delta) with f(epsilon) <= delta, rounded up; f falls
falling_root <- function(f, delta, most) {
  if (f(0) <= delta) return(0)
  if (most == 0 || delta == 0) return(most)
  lower <- 0
  upper <- most
  log_f <- function(epsilon) log(max(f(epsilon), 1e-320)) - log(delta)
  root <- stats::uniroot(log_f, c(lower, upper), f.upper = min(log_f(upper), -1e-300), tol = 1e-14 * (1 + upper))$root
  min(most, step_until(root, 1e-13 * root + 1e-16, function(x) x >= most || f(x) <= delta))
}

# Dwork, Rothblum and Vadhan (2010), kept for comparison
advanced_epsilon <- function(event, delta) {
  need_delta(event, delta, "advanced composition")
  parts <- event_parts(event)
  prices <- vapply(parts, function(part) basic_total(part$event), double(2))
  times <- vapply(parts, `[[`, 0, "times")
  if (any(prices[2, ] > 0)) unpriced(event, "advanced composition", "its steps are not all pure")
  e <- prices[1, ]
  list(value = (sqrt(-2 * log(delta) * sum(times * e^2)) + sum(times * e * expm1(e))) * (1 + 1e-15))
}

# A single shuffle (Feldman, McMillan and Talwar 2021, Theorem 3.2), summed over the number of clones
shuffle_delta_of <- function(n, epsilon0, epsilon) {
  if (epsilon >= epsilon0) return(0)
  s <- stats::plogis(epsilon0)
  p <- exp(-epsilon0)
  tiny <- 1e-20
  clones <- stats::qbinom(tiny, n - 1, p):stats::qbinom(tiny, n - 1, p, lower.tail = FALSE)
  # the ratio exceeds e^epsilon where a/(clones + 1) exceeds this
  edge <- (s * exp(epsilon) - (1 - s)) / ((2 * s - 1) * (1 + exp(epsilon)))
  t <- floor(edge * (clones + 1))
  above <- stats::pbinom(t, clones, 0.5, lower.tail = FALSE)
  at <- stats::pbinom(t - 1, clones, 0.5, lower.tail = FALSE)
  gain <- (s * at + (1 - s) * above) - exp(epsilon) * ((1 - s) * at + s * above)
  min(1, sum(stats::dbinom(clones, n - 1, p) * (pmax(gain, 0) + 1e-15)) * (1 + 1e-9) + 2 * tiny)
}

single_shuffle <- function(event) {
  parts <- event_parts(event)
  if (length(parts) != 1 || parts[[1]]$times != 1 || parts[[1]]$event$type != "shuffle") {
    unpriced(event, "the shuffle bound", "it is for one shuffle alone")
  }
  e <- parts[[1]]$event
  list(n = e$parameters$n, epsilon = e$children[[1]]$parameters$epsilon)
}

shuffle_epsilon <- function(event, delta) {
  s <- single_shuffle(event)
  if (delta == 0) return(list(value = s$epsilon))
  list(value = falling_root(function(epsilon) shuffle_delta_of(s$n, s$epsilon, epsilon), delta, s$epsilon))
}

shuffle_delta <- function(event, epsilon) {
  s <- single_shuffle(event)
  list(value = shuffle_delta_of(s$n, s$epsilon, epsilon))
}
