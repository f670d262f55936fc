# Renyi DP. Everything is kept as (alpha - 1) times the divergence, log E_Q[(P/Q)^alpha], which is convex in alpha and 0
# at 1: so between whole orders linear interpolation is an upper bound. Sums are taken of P/Q - 1 rather than P/Q:
# nothing cancels, so that q = 1e-6 and a million steps keep their digits.

# relative allowance for rounding, on every value
RDP_ROUNDING <- 1e-12

# Renyi divergence bound of an event at orders above 1
rdp_value <- function(event, orders) never_free(rdp_of(event, orders), event)

# long: a line for each kind of event
rdp_of <- function(event, orders) {
  p <- event$parameters
  switch(event$type,
    gaussian = orders / (2 * p$noise_multiplier^2),
    gdp = orders * p$mu^2 / 2,
    discrete_gaussian = orders * (p$sensitivity / p$sigma)^2 / 2,
    mixture = rdp_mixture(p, 1, orders),
    zcdp = orders * p$rho,
    pure = rdp_stated(p, orders),
    laplace = rdp_laplace(p$scale, orders),
    discrete_laplace = rdp_discrete_laplace(lattice_rate(p), p$sensitivity, orders),
    approx = rdp_pure(stated_pure(event, "Renyi DP"), orders),
    pair = rdp_pair(event, orders),
    rdp = rdp_between(p$orders, p$epsilons, orders),
    custom = best_claim(event, function(claim) rdp_value(claim, orders), "Renyi DP"),
    compose = sum_parts(event, function(child) rdp_value(child, orders)),
    parallel = parallel_price(event, function(child) rdp_value(child, orders)),
    poisson = rdp_poisson(event, orders),
    # E_Q[(P/Q)^alpha] is convex in the pair: 1 - q of equal laws, q of laws two moves apart
    poisson_replaced = log_mix((orders - 1) * orders * 2 / p$noise_multiplier^2, p$q) / (orders - 1) *
      (1 + RDP_ROUNDING),
    allocation = rdp_allocation(event, orders),
    sample = rdp_sample(event, orders),
    resample = rdp_resample(event, orders),
    shuffle = rdp_pure(event$children[[1]]$parameters$epsilon, orders),
    select = rdp_select(event, orders),
    unpriced(event, "Renyi DP")
  )
}

rdp_stated <- function(p, orders) {
  pure <- rdp_pure(p$epsilon, orders)
  if (isTRUE(p$range)) pmin(pure, orders * zcdp_range(p$epsilon)) else pure
}

# By direct sums, the larger of the directions; never more than its largest loss. Rounding of a logarithm of a mass is
# relative to it, up to 745.
rdp_pair <- function(event, orders) {
  top <- pair_pure(event, "Renyi DP")
  each <- lapply(pair_directions(event), function(law) {
    held <- law$p > 0
    log_p <- log(law$p[held])
    log_q <- log(law$q[held])
    vapply(orders, function(a) {
      log_sum(a * log_p + (1 - a) * log_q) / (a - 1) + 4e-16 * (a / (a - 1)) * (2 + max(-log_p, -log_q))
    }, 0)
  })
  pmin(top, pmax(Reduce(pmax, each), 0) * (1 + RDP_ROUNDING))
}

log_cosh <- function(x) abs(x) + log1p(exp(-2 * abs(x))) - log(2)

# randomised response, the dearest epsilon-DP step: cosh((alpha - 1/2) epsilon)/cosh(epsilon/2), here as
# 1 + 2 sinh(alpha epsilon/2) sinh((alpha - 1) epsilon/2)/cosh(epsilon/2) where that is small
rdp_pure <- function(epsilon, orders) {
  if (epsilon == 0) return(0 * orders)
  small <- (orders - 1) * epsilon < 1 & epsilon < 100
  a <- ifelse(small, orders * epsilon, 1) / 2
  b <- ifelse(small, (orders - 1) * epsilon, 1) / 2
  value <- ifelse(small, log1p(2 * sinh(a) * sinh(b) / cosh(min(epsilon, 100) / 2)),
                  log_cosh((orders - 0.5) * epsilon) - log_cosh(epsilon / 2))
  pmin(epsilon, value * (1 + RDP_ROUNDING) / (orders - 1))
}

# Mironov (2017), Table II, in terms that don't cancel
rdp_laplace <- function(scale, orders) {
  e <- 1 / scale
  a <- orders
  m <- 2 * a - 1
  large <- (a - 1) * e > 1
  x <- (a - 1) * e
  exact <- x + log(a / m + (a - 1) / m * exp(-m * e))
  # a/m e^x + (a - 1)/m e^(-a e) - 1
  near <- log1p((a * expm1(ifelse(large, 0, x)) + (a - 1) * expm1(-a * e)) / m)
  pmin(e, pmax(ifelse(large, exact, near), 0) * (1 + RDP_ROUNDING) / (a - 1) + 4e-16 * pmin(e, 1) * (a / (a - 1)))
}

# log of 1 + 2 e^(-m t/2)/(1 + r) (g(m) + (1 - r) sum of g(m - 2 x) over 1 <= x < m/2), r = e^-t,
# g(k) = 2 sinh(alpha t k/2) sinh((alpha - 1) t k/2): nothing cancels. g is convex, so of very many terms chords between
# some are above the sum.
rdp_discrete_laplace <- function(t, move, orders) {
  whole <- move * t
  if (!is.finite(whole)) return(whole + 0 * orders)
  last <- ceiling(move / 2) - 1
  x <- if (last >= 1) unique(round(seq(1, last, length.out = min(last, DISCRETE_TERMS))))
  gaps <- diff(x)
  log_weight <- c(0, if (length(x)) log(-expm1(-t)) + log((c(1, gaps) + c(gaps, 1)) / 2))
  x <- c(0, x)
  k <- (move - 2 * x) * t
  head <- stats::plogis(t, log.p = TRUE)
  value <- vapply(orders, function(a) {
    log_g <- log_weight + (a - 1) * k - t * x + log(-expm1(-a * k)) + log(-expm1(-(a - 1) * k))
    log1p_exp(head + log_sum(log_g))
  }, 0)
  pmin(whole, value * (1 + RDP_ROUNDING) / (orders - 1))
}

DISCRETE_TERMS <- 2000

# from a table of orders: divergences grow with the order, (alpha - 1) times them is convex
rdp_between <- function(known, values, orders) {
  g <- (known - 1) * values
  out <- rep(Inf, length(orders))
  below <- orders <= known[1]
  out[below] <- values[1]
  inside <- !below & orders <= known[length(known)]
  if (any(inside)) out[inside] <- stats::approx(known, g, orders[inside], ties = "ordered")$y / (orders[inside] - 1)
  above <- findInterval(orders[inside], known, left.open = TRUE) + 1
  out[inside] <- pmin(out[inside], values[above])
  out * (1 + RDP_ROUNDING)
}

# ---- the best of several runs ----------------------------------------------------------------------------------------

# Papernot and Steinke (2022), Theorem 2 (proofs/accounting.md, 4): the step's own divergence, and what the choice
# shows, by the best of other orders
rdp_select <- function(event, orders) {
  p <- event$parameters
  step <- event$children[[1]]
  others <- c(1.001, 1.01, 1.03, 1.1, 1.2, 1.4, 1.7, 2^seq(1, 9, 0.25))
  n <- length(others)
  value <- rdp_value(step, c(others, orders)) # asked once: a choice of choices would double the work each time
  again <- (1 + p$shape) * ((1 - 1 / others) * value[1:n] - select_rate(p$mean, p$shape) / others)
  out <- outwards(value[-(1:n)] + min(again) + log(p$mean) / (orders - 1))
  pure <- basic_price(event)
  if (is.null(pure)) out else pmin(out, rdp_pure(pure[1], orders))
}

# The logarithm of the chance gamma of the law of runs with this mean, rounded down. With the shape s above 0 the mean
# is s (1 - gamma)/(gamma (1 - gamma^s)), at 0 (1/gamma - 1)/log(1/gamma); it falls with gamma.
select_rate <- function(mean, shape) {
  if (shape < 1e-100) shape <- 0 # doubles tell no difference
  excess <- function(t) { # t = log(1/gamma)
    (if (shape > 0) log(shape) - log(-expm1(-shape * t)) else -log(t)) + log(expm1(t)) - log(mean)
  }
  most <- 1
  while (excess(most) < 0) most <- 2 * most
  least <- most / 2
  while (excess(least) > 0) least <- least / 2
  -outwards(stats::uniroot(excess, c(least, most), tol = 1e-13 * least)$root) - 1e-12
}

# ---- sampled steps ---------------------------------------------------------------------------------------------------

# steps whose dominating pair is one law and its mirror image: for them the loss of leaving dominates that of entering
mirrored <- function(event) {
  switch(event$type, pure = , laplace = , discrete_laplace = , gaussian = , gdp = , discrete_gaussian = TRUE,
         compose = all(vapply(event$children, mirrored, NA)), approx = event$parameters$delta == 0, FALSE)
}

# pure steps as such: the pairs behind a range are no mirror images
without_range <- function(event) {
  event$parameters$range <- NULL
  event$children <- lapply(event$children, without_range)
  event
}

# Mironov, Talwar and Zhang (2019), Theorem 5: for mirrored pairs leaving is the worse direction.
rdp_poisson <- function(event, orders) {
  q <- event$parameters$q
  step <- without_range(event$children[[1]])
  if (q == 1) return(rdp_value(step, orders))
  if (step$type == "poisson") { # a sample of a sample
    return(rdp_poisson(new_event("poisson", event$adjacency, list(q = q * step$parameters$q), step$children), orders))
  }
  if (step$type == "mixture") return(rdp_mixture(step$parameters, q, orders))
  mu <- gaussian_step(step)
  if (!is.null(mu)) {
    return(vapply(orders, function(alpha) rdp_poisson_gaussian(q, mu, alpha), 0))
  }
  if (!mirrored(step)) {
    pure <- basic_price(event)
    if (!is.null(pure) && pure[2] == 0) return(rdp_pure(pure[1], orders))
    unpriced(event, "Renyi DP", "no theorem for Poisson samples of such a step is used here")
  }
  whole_orders(orders, function(alpha, g) poisson_sum(q, alpha, g), step)
}

# By quadrature in both directions (proofs/accounting.md, 4); never more than with the largest move in place of each
# that isn't 0, which is a Poisson sample of Gaussian noise
rdp_mixture <- function(p, share, orders) {
  parts <- mixture_parts(p)
  mu <- max(parts$moves)
  rest <- 1 - share + share * parts$rest
  q <- min(1, outwards(share * parts$q)) # what is left out of it counts for more where q is near 1
  vapply(orders, function(alpha) {
    most <- if (rest == 0) alpha * mu^2 / 2 else rdp_poisson_gaussian(q, mu, alpha)
    min(most, mixture_divergence(parts$moves, share * parts$q * parts$weights, rest, alpha))
  }, 0)
}

mixture_divergence <- function(moves, weights, rest, alpha) {
  mu <- max(moves)
  if (alpha > 1e4 || (alpha * mu + 13) * mu > 600) return(Inf)
  h <- 2 * pi * min(1 / (mu * sqrt(alpha)), 4) / 78
  z <- seq(-(alpha - 1) * mu - 13, alpha * mu + 13, by = h)
  if (length(z) * length(moves) > 1e6) return(Inf)
  y <- w <- 0
  for (i in seq_along(moves)) {
    x <- moves[i] * (z - moves[i] / 2)
    y <- y + weights[i] * expm1(x)
    w <- w + weights[i] * exp(x)
  }
  loss <- ifelse(y < -0.5, log(rest + w), log1p(y))
  one_way <- function(power) {
    found <- second_order(power, y, loss, z)
    log(sum(found$rest)) + found$scale
  }
  total <- max(one_way(alpha), one_way(1 - alpha)) + log(h / sqrt(2 * pi))
  log1p_exp(total) * (1 + RDP_ROUNDING) / (alpha - 1)
}

# ((1 + y)^power - 1 - power y) e^(-z^2/2 - scale), which is never negative for powers above 1 and below 0: list(rest,
# scale). `log1p_y` is the logarithm of 1 + y.
second_order <- function(power, y, log1p_y, z) {
  big <- power * log1p_y - z^2 / 2
  scale <- max(0, big)
  weight <- exp(-z^2 / 2 - scale)
  series <- 1 + (power - 2) * y / 3 *
    (1 + (power - 3) * y / 4 * (1 + (power - 4) * y / 5 * (1 + (power - 5) * y / 6)))
  more <- if (power > 1) (1 + y) * expm1(pmin((power - 1) * log1p_y, 600)) - (power - 1) * y else
    expm1(pmin(power * log1p_y, 600)) - power * y
  rest <- ifelse(abs(power * y) < 1e-3 & abs(y) < 1e-3, y^2 * series * power * (power - 1) / 2 * weight,
                 ifelse(power * log1p_y < 600, more * weight, exp(big - scale)))
  list(rest = rest, scale = scale)
}

# log of sum over k of choose(alpha, k) (1 - q)^(alpha - k) q^k exp(g_k), where g_0 = g_1 = 0 and the weights sum to 1
poisson_sum <- function(q, alpha, g) {
  k <- 2:alpha
  log_terms <- lchoose(alpha, k) + (alpha - k) * log1p(-q) + k * log(q) + log_expm1(g[k])
  log1p_exp(log_sum(log_terms))
}

log_expm1 <- function(x) ifelse(x > 30, x, log(expm1(pmin(x, 30))))
log1p_exp <- function(x) ifelse(x > 30, x + exp(-pmax(x, 30)), log1p(exp(pmin(x, 30))))
log_sum <- function(x) {
  top <- max(x)
  if (!is.finite(top)) return(top)
  top + log(sum(exp(x - top)))
}

WHOLE_MOST <- 1100 # a sum over all lower orders costs as much as the order

# divergences at any order from f(alpha, g) at whole ones; g_k = (k - 1) times the step's own divergence at k
whole_orders <- function(orders, f, step) {
  out <- rep(Inf, length(orders))
  use <- orders <= WHOLE_MOST
  if (!any(use)) return(out)
  lower <- floor(orders[use])
  upper <- ceiling(orders[use])
  needed <- sort(unique(c(lower, upper)))
  g <- c(0, (seq_len(max(needed, 2) - 1)) * rdp_value(step, seq(2, max(needed, 2))))
  value <- vapply(needed, function(alpha) if (alpha == 1) 0 else f(alpha, g), 0) * (1 + RDP_ROUNDING)
  at <- function(alpha) value[match(alpha, needed)]
  share <- orders[use] - lower
  out[use] <- ((1 - share) * at(lower) + share * at(upper)) / (orders[use] - 1)
  # divergences grow with the order: the next whole order bounds as well, and serves where the sum at the lower one is
  # 0/0
  next_one <- pmax(upper, 2)
  out[use] <- pmin(out[use], ifelse(next_one %in% needed, at(next_one) / (next_one - 1), Inf))
  out
}

# log E[(1 + y)^alpha], y = q(exp((2 z mu - mu^2)/2) - 1), z standard normal, by the trapezoidal rule on y's
# second-order rest (1 + y)^alpha - 1 - alpha y = (1 + y) ((1 + y)^(alpha - 1) - 1) - (alpha - 1) y, which is never
# negative and has the same integral less 1; the second form loses nothing at orders near 1. The integrand is analytic
# for |Im z| < pi/mu; the step makes the rule's error e^-70 of the integral over the strip's edge.
rdp_poisson_gaussian <- function(q, mu, alpha) {
  if (mu == 0) return(0)
  whole <- alpha * mu^2 / 2 # never more than the step itself
  if (alpha > 1e5 || alpha * mu > 1e4) return(whole)
  strip <- min(0.99 * pi / mu, 4)
  h <- 2 * pi * strip / 78
  reach <- 13
  z <- seq(-reach, alpha * mu + reach, by = h)
  if (length(z) > 2e6) return(whole)
  loss <- mu * z - mu^2 / 2
  log_y <- log(q) + loss
  y <- q * expm1(pmin(loss, 690))
  log1p_y <- ifelse(log_y > 600, log_y, log1p(y))
  found <- second_order(alpha, y, log1p_y, z)
  total <- log(sum(found$rest) * h / sqrt(2 * pi)) + found$scale
  min(whole, log1p_exp(total) * (1 + RDP_ROUNDING) / (alpha - 1))
}

# One of `steps` Gaussian steps by lot, L the mean of the steps' ratios (proofs/accounting.md, 4). Leaving, E L^alpha at
# whole orders from its exponential generating function, a power; entering, E L^(1 - alpha) from the Laplace transform,
# a power too. Never more than the step that holds the record.
rdp_allocation <- function(event, orders) {
  step <- event$children[[1]]
  steps <- event$parameters$steps
  whole <- rdp_value(step, orders)
  mu <- gaussian_step(step)
  if (steps == 1 || is.null(mu) || mu == 0 || mu > 5) return(whole)
  use <- orders <= ALLOCATION_ORDERS
  if (!any(use)) return(whole)
  most <- ceiling(max(2, orders[use]))
  leave <- allocation_moments(mu, steps, most)
  lower <- floor(orders[use])
  share <- orders[use] - lower
  at <- (1 - share) * leave[lower] + share * leave[ceiling(orders[use])]
  enter <- vapply(orders[use], function(alpha) allocation_entering(mu, steps, alpha - 1), 0)
  # rounding of logarithms, as often as they are taken (proofs/accounting.md, 4)
  a <- ceiling(orders[use])
  rounding <- 1e-15 * a^2 * log2(4 * steps) * (45 + log(steps) + log(a) + a * mu^2)
  whole[use] <- pmin(whole[use], (pmax(at, enter, 0) * (1 + RDP_ROUNDING) + rounding) / (orders[use] - 1))
  whole
}

ALLOCATION_ORDERS <- 64

# log E L^k for k = 1, ..., most: k! [z^k] of (sum of E L_1^j (z/steps)^j/j!)^steps, all terms positive, powers by
# squaring
allocation_moments <- function(mu, steps, most) {
  k <- 0:most
  one <- k * (k - 1) / 2 * mu^2 - lfactorial(k) - k * log(steps)
  times <- function(a, b) vapply(k, function(n) log_sum(a[1:(n + 1)] + b[(n + 1):1]), 0)
  power <- one
  for (digit in binary_digits(steps)) {
    power <- times(power, power)
    if (digit == 1) power <- times(power, one)
  }
  (power + lfactorial(k))[-1]
}

# log E L^-b, b > 0: (steps^b/Gamma(b)) times the integral of u^(b - 1) psi(u)^steps, psi(u) = E e^(-u L_1), in log u
allocation_entering <- function(mu, steps, b) {
  if (b * mu > 20) return(Inf)
  if (b < 0.5) return(2 * b * allocation_entering(mu, steps, 0.5)) # convex in b, and 0 at 0
  strip <- min(1, 1 / sqrt(b))
  h <- 2 * pi * strip / 78
  f <- function(v) pmax(b * v + steps * log_laplace(mu, v, b), -1e300)
  middle <- stats::optimize(f, c(log(b / steps) - 1, log(b / steps) + b * mu^2 + 2), maximum = TRUE)$maximum
  reach <- function(side) { # to where the integrand, whose logarithm is concave, is below e^-90 of its top
    v <- middle
    jump <- side * h
    while (f(v) > f(middle) - 90) {
      v <- v + jump
      jump <- 1.5 * jump
    }
    v
  }
  v <- seq(reach(-1), reach(1), by = h)
  log_sum(f(v)) + log(h) + b * log(steps) - lgamma(b)
}

# log psi(e^v), several v: psi is 1 less the mean of 1 - e^(-u L)
log_laplace <- function(mu, v, b) {
  h <- 2 * pi * min(pi / (2 * mu), 4) / 78
  z <- seq(-13 - mu * (1 + b), 13 + mu, by = h)
  weight <- stats::dnorm(z) * h
  vapply(v, function(one) {
    x <- exp(pmin(one + mu * z - mu^2 / 2, 700))
    gap <- sum(weight * -expm1(-x))
    if (gap < 0.5) log1p(-gap) else log(sum(weight * exp(-x)))
  }, 0)
}

# Wang, Balle and Kasiviswanathan (2019), Theorem 9 (whole orders)
rdp_sample <- function(event, orders) {
  q <- event$parameters$q
  step <- event$children[[1]]
  if (q == 1) return(rdp_value(step, orders))
  pure <- basic_price(step)
  top <- if (!is.null(pure) && pure[2] == 0) pure[1] else Inf
  sampled <- whole_orders(orders, function(alpha, g) sample_sum(q, alpha, g, top), step)
  direct <- rdp_value(step, orders) # a sample never costs more than the whole
  if (is.finite(top)) direct <- pmin(direct, rdp_pure(sampled_epsilon(top, q), orders))
  pmin(sampled, direct)
}

# E_Q[(P/Q)^alpha] is convex in the pair, and told how often the record was drawn the laws are as many moves apart
rdp_resample <- function(event, orders) {
  p <- event$parameters
  mu <- gdp_price(event$children[[1]])
  if (p$size > 1e5) return(rep(Inf, length(orders)))
  k <- 0:p$size
  chance <- stats::dbinom(k, p$size, 1 / p$n, log = TRUE)
  vapply(orders, function(a) {
    grown <- chance[-1] + log_expm1(pmin(a * (a - 1) / 2 * (k[-1] * mu)^2, 1e300))
    (log1p_exp(log_sum(grown)) + 1e-11) * (1 + RDP_ROUNDING) / (a - 1)
  }, 0)
}

sample_sum <- function(q, alpha, g, top) {
  bounded <- function(j) pmin(log(2), j * log_expm1(top))
  second <- 2 * log(q) + lchoose(alpha, 2) + min(log(4) + log_expm1(g[2]), g[2] + bounded(2))
  j <- if (alpha > 2) 3:alpha
  rest <- if (alpha > 2) j * log(q) + lchoose(alpha, j) + g[j] + bounded(j)
  log1p_exp(log_sum(c(second, rest)))
}

# ---- from a Renyi bound to (epsilon, delta) --------------------------------------------------------------------------

# Mironov (2017), Proposition 3
epsilon_mironov <- function(alpha, value, delta) value - log(delta) / (alpha - 1)
# Balle et al. (2020), Theorem 21; Canonne, Kamath and Steinke (2020), Proposition 12. `over` is alpha - 1: near order 1
# doubles hold more of it than of alpha.
epsilon_balle <- function(alpha, value, delta, over = alpha - 1) {
  value - log1p(1 / over) - (log(delta) + log1p(over)) / over
}
log_delta_balle <- function(alpha, value, epsilon, over = alpha - 1) {
  over * (value - epsilon - log1p(1 / over)) - log1p(over)
}
log_delta_mironov <- function(alpha, value, epsilon) (alpha - 1) * (value - epsilon)
delta_balle <- function(alpha, value, epsilon, ...) exp(log_delta_balle(alpha, value, epsilon, ...))
delta_mironov <- function(alpha, value, epsilon) exp(log_delta_mironov(alpha, value, epsilon))
# the largest divergence at an order that gives (epsilon, delta); negative where even none would not do
renyi_limit <- function(alpha, epsilon, delta) epsilon - epsilon_balle(alpha, 0, delta)

# Asoodeh et al. (2020), Theorem 3: the least divergence among pairs of coins that breaks (epsilon, delta). With p the
# one coin and (p - delta) e^-epsilon the other the divergence is convex in p; a bound below its minimum implies
# (epsilon, delta).
least_divergence <- function(alpha, epsilon, delta) {
  # the minimum over p = delta + (1 - delta) w, w on the logit scale; what doesn't depend on w once, for there are
  # thousands of calls
  left <- log1p(-delta)
  fall <- exp(-epsilon)
  g <- function(t) {
    w <- stats::plogis(t)
    p <- delta + (1 - delta) * w
    a <- alpha * log(p) + (1 - alpha) * (left + stats::plogis(t, log.p = TRUE))
    b <- alpha * (left + stats::plogis(-t, log.p = TRUE)) + (1 - alpha) * (epsilon + log1p(-(1 - delta) * w * fall))
    max(-1e300, min(logs_add(a, b), 1e300))
  }
  # log of a convex function of p: one dip
  from <- log(delta) - log1p(-delta) - 5
  best <- stats::optimize(g, c(from - 40, 40), tol = 1e-3)
  near <- stats::optimize(g, best$minimum + c(-0.01, 0.01), tol = 1e-7) # flat there: the value is good to rounding
  epsilon + min(best$objective, near$objective) / (alpha - 1)
}

# rounding of the least divergence
divergence_slack <- function(alpha, epsilon, delta) 2e-15 * (alpha + 1) / (alpha - 1) * (1 - log(delta) + epsilon)

epsilon_asoodeh <- function(alpha, value, delta) {
  # the bound grows with epsilon; the closed form is an upper end
  upper <- max(epsilon_balle(alpha, value, delta), 0)
  miss <- function(epsilon) {
    least_divergence(alpha, epsilon, delta) - value * (1 + 1e-10) - divergence_slack(alpha, epsilon, delta)
  }
  if (miss(0) >= 0) return(0)
  if (upper == 0 || miss(upper) <= 0) return(upper)
  root <- stats::uniroot(miss, c(0, upper), tol = 1e-12 * upper)$root
  min(upper, step_until(root, 1e-12 * upper, function(x) x >= upper || miss(x) >= 0))
}

delta_asoodeh <- function(alpha, value, epsilon) {
  upper <- min(1 - 1e-12, delta_balle(alpha, value, epsilon))
  if (upper < 1e-300) return(upper)
  miss <- function(log_delta) {
    delta <- exp(log_delta)
    least_divergence(alpha, epsilon, delta) - value * (1 + 1e-10) - divergence_slack(alpha, epsilon, delta)
  }
  if (miss(log(upper)) <= 0) return(upper)
  lower <- log(upper) - 1
  while (miss(lower) > 0 && lower > -700) lower <- lower - 2
  if (miss(lower) > 0) return(exp(lower))
  root <- stats::uniroot(miss, c(lower, log(upper)), tol = 1e-12)$root
  min(upper, exp(step_until(root, 1e-11, function(x) x >= log(upper) || miss(x) >= 0) + 1e-14))
}

RDP_CONVERSIONS <- c("best", "asoodeh", "balle", "mironov")

# The order with the least `convert(order, value)`: a walk by factors from 1 + 8 up and down until it grows twice, then
# a search between the neighbours. Any order gives a valid bound, so the search can only lose a little.
best_order <- function(value, convert, orders = NULL) {
  score <- function(a) {
    v <- value(a)
    s <- convert(a, v)
    ifelse(is.finite(v) & !is.na(s), s, Inf)
  }
  if (!is.null(orders)) {
    s <- score(orders)
    i <- which.min(s)
    if (!is.finite(s[i])) return(NULL)
    return(list(order = orders[i], value = value(orders[i]), score = s[i]))
  }
  walk <- function(k, step) {
    best <- Inf
    worse <- 0
    tried <- scores <- double()
    while (worse < 2 && abs(k) <= 20) {
      s <- score(1 + 2^k)
      tried <- c(tried, k)
      scores <- c(scores, s)
      if (s < best) {
        best <- s
        worse <- 0
      } else if (is.finite(best) || step > 0) {
        worse <- worse + 1
      }
      k <- k + step
    }
    list(tried = tried, scores = scores)
  }
  down <- walk(3, -1)
  up <- walk(4, 1)
  tried <- c(rev(down$tried), up$tried)
  scores <- c(rev(down$scores), up$scores)
  i <- which.min(scores)
  if (!is.finite(scores[i])) return(NULL)
  f <- function(k) min(score(1 + 2^k), 1e300)
  near <- stats::optimize(f, tried[i] + c(-1, 1), tol = 2e-3)
  k <- if (near$objective < scores[i]) near$minimum else tried[i]
  # sums over whole orders have their corners there
  candidates <- c(1 + 2^k, max(2, round(1 + 2^k)))
  s <- c(min(near$objective, scores[i]), score(candidates[2]))
  a <- candidates[which.min(s)]
  list(order = a, value = value(a), score = min(s))
}

# from a curve of divergences to epsilon or delta
curve_epsilon <- function(value, delta, conversion = "best", orders = NULL) {
  closed <- if (conversion == "mironov") epsilon_mironov else epsilon_balle
  best <- best_order(value, function(a, v) pmax(closed(a, v, delta), 0), orders)
  if (is.null(best)) return(list(value = Inf))
  out <- best$score
  order <- best$order
  if (conversion %in% c("best", "asoodeh")) {
    # the two conversions' best orders differ by one where divergences rise like a cliff beyond some order: samples,
    # little noise
    tried <- if (is.null(orders) && order > 2) c(order, ceiling(order) - 1) else order
    found <- vapply(tried, function(a) epsilon_asoodeh(a, if (a == order) best$value else value(a), delta), 0)
    if (min(found) < out) order <- tried[which.min(found)]
    out <- min(out, found)
  }
  # the conversion's terms may cancel: what rounding leaves is relative to them
  terms <- best$value + (abs(log(delta)) + log(order) + 1) / (order - 1)
  list(value = if (out > 0) out * (1 + 1e-14) + 2e-15 * terms else out, order = order)
}

curve_delta <- function(value, epsilon, conversion = "best", orders = NULL) {
  closed <- if (conversion == "mironov") delta_mironov else delta_balle
  best <- best_order(value, function(a, v) closed(a, v, epsilon), orders)
  if (is.null(best)) return(list(value = 1))
  out <- best$score
  if (conversion %in% c("best", "asoodeh")) out <- min(out, delta_asoodeh(best$order, best$value, epsilon))
  # what is too small for doubles isn't nothing
  list(value = min(1, out * (1 + 1e-12) + 1e-307), order = best$order)
}

rdp_epsilon <- function(event, delta, conversion = "best", orders = NULL) {
  need_delta(event, delta, "rdp")
  curve_epsilon(function(orders) rdp_value(event, orders), delta, conversion, orders)
}

rdp_delta <- function(event, epsilon, conversion = "best", orders = NULL) {
  curve_delta(function(orders) rdp_value(event, orders), epsilon, conversion, orders)
}
