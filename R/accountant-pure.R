# Composition of epsilon-DP and (epsilon, delta)-DP steps from those numbers alone.

# basic composition: sums
basic_total <- function(event) {
  price <- basic_price(event)
  if (is.null(price)) unpriced(event, "basic composition", "it has no stated (epsilon, delta)")
  price
}

pure_epsilon <- function(event, delta) {
  price <- basic_total(event)
  if (price[2] > delta) {
    unpriced(event, "basic composition", "the deltas of its parts add up to more than the delta asked for")
  }
  list(value = price[1])
}

pure_delta <- function(event, epsilon) {
  price <- basic_total(event)
  # sums are read to the last digit but one; a single step has its number
  if (price[1] > epsilon * if (event$type %in% c("compose", "parallel")) 1 + 4e-16 else 1) {
    unpriced(event, "basic composition", "the epsilons of its parts add up to more than the epsilon asked for")
  }
  list(value = price[2])
}

# Sums are attained where delta is 0 and every step is: the largest loss of randomised response, of Laplace noise and of
# their samples
pure_lower <- function(event, given, wanted, value) {
  if (wanted == "epsilon" && given == 0 && attained(event)) value * (1 - 1e-12) else NA
}

attained <- function(event) {
  event$type %in% c("pure", "laplace", "discrete_laplace") ||
    (event$type %in% c("poisson", "sample", "compose", "parallel") && all(vapply(event$children, attained, NA)) &&
       !identical(event$parameters$keys, "private"))
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

# Kairouz, Oh and Viswanath (2017), Theorem 3.3: k randomised responses. Every term is positive: with J ~ Bin(k,
# plogis(epsilon0)), the sum of P(J = j) (1 - e^(epsilon - (2 j - k) epsilon0)) over positive brackets.
optimal_delta_of <- function(step, epsilon, below = FALSE) {
  k <- step$times
  e <- step$epsilon
  spread <- sqrt(k * stats::plogis(e) * stats::plogis(-e)) * 45 + 50
  from <- max(0, ceiling((epsilon / e + k) / 2))
  beyond <- 0
  if (e == 0 || from > k) {
    inner <- 0
  } else {
    peak <- max(from, floor(k * stats::plogis(e)))
    if (spread > 5e6) {
      abort_riemdp("unpriced", "that many steps are beyond the exact sum; privacy-loss distributions price them.")
    }
    j <- seq(max(from, floor(peak - spread)), min(k, ceiling(peak + spread)))
    beyond <- stats::pbinom(max(j), k, stats::plogis(e), lower.tail = FALSE) +
      if (min(j) > from) stats::pbinom(min(j) - 1, k, stats::plogis(e)) else 0
    inner <- sum(stats::dbinom(j, k, stats::plogis(e)) * -expm1(pmin(0, epsilon - (2 * j - k) * e))) + beyond
  }
  finite <- k * log1p(-step$delta)
  if (inner == 0) return(min(1, -expm1(finite)) * if (below) 1 - 1e-13 else 1)
  # binomial weights are good to some 1e-13, and worse by what rounding the mean and the losses does far from the mean
  rounding <- 1e-13 * log2(k + 2) + if (e == 0) 0 else 1e-15 * (spread + epsilon / e)
  if (below) return(max(0, -expm1(finite) + exp(finite) * (inner - beyond) * (1 - rounding)) * (1 - 1e-13))
  min(1, -expm1(finite) + exp(finite) * inner * (1 + rounding))
}

optimal_epsilon <- function(event, delta) {
  step <- equal_steps(event)
  if (-expm1(step$times * log1p(-step$delta)) > delta) {
    unpriced(event, "optimal composition", "its deltas exceed the delta asked for")
  }
  list(value = falling_root(function(epsilon) optimal_delta_of(step, epsilon), delta, step$times * step$epsilon))
}

optimal_delta <- function(event, epsilon) list(value = optimal_delta_of(equal_steps(event), epsilon))

# of the composition of the stated (epsilon, delta): what other mechanisms lose isn't said by those numbers
optimal_lower <- function(event, given, wanted, value) {
  stated <- vapply(event_parts(event), function(part) part$event$type %in% c("pure", "approx"), NA)
  if (!all(stated)) return(NA)
  step <- equal_steps(event)
  closed_lower(function(epsilon) optimal_delta_of(step, epsilon, TRUE), given, wanted, value)
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

shuffle_delta <- function(event, epsilon) {
  told <- shuffle_told(event)
  if (is.null(told)) shuffle_delta_of(event$parameters$n, event$children[[1]]$parameters$epsilon, epsilon) else
    told_delta(told, epsilon)
}

# a single shuffle, summed over the number of clones
shuffle_delta_of <- function(n, epsilon0, epsilon) {
  if (epsilon >= epsilon0) return(0)
  if (epsilon0 < 1e-15) return(epsilon0) # randomised response alone has half of it
  s <- stats::plogis(epsilon0)
  other <- stats::plogis(-epsilon0)
  p <- clone_chance(epsilon0)
  tiny <- 1e-20
  clones <- stats::qbinom(tiny, n - 1, p):stats::qbinom(tiny, n - 1, p, lower.tail = FALSE)
  # the ratio exceeds e^epsilon where a/(clones + 1) exceeds this
  edge <- (s - other * exp(-epsilon)) / (tanh(epsilon0 / 2) * (1 + exp(-epsilon)))
  # any set of outcomes is below the best one: near 1 rounding of the edge takes the next number for it
  gain <- Reduce(pmax, lapply(-1:1, function(move) {
    t <- pmin(floor(edge * (clones + 1)), clones) + move
    above <- stats::pbinom(t, clones, 0.5, lower.tail = FALSE)
    at <- stats::pbinom(t - 1, clones, 0.5, lower.tail = FALSE)
    first <- s * at + other * above
    second <- if (epsilon < 700) exp(epsilon) * (other * at + s * above) else 0
    # binomial tails are good to some 1e-13 of themselves
    pmax(first - second, 0) + 1e-12 * (first + pmin(second, first))
  }))
  min(1, sum(stats::dbinom(clones, n - 1, p) * gain) * (1 + 1e-9) + 2 * tiny)
}

# ---- one step alone: its privacy profile in closed form --------------------------------------------------------------

# delta at epsilon >= 0; for samples the step's own at log(1 + (e^epsilon - 1)/q), q times (Balle, Barthe and
# Gaboardi 2018). With `below` all is rounded down.
# long: a line for each kind of event
single_delta_of <- function(event, epsilon, below = FALSE) {
  p <- event$parameters
  inner <- function(at) single_delta_of(event$children[[1]], at, below)
  side <- if (below) -1 else 1
  down <- min(1, 1 + side * 1e-15)
  out <- switch(event$type,
    gaussian = , gdp = step_delta(gdp_price(event), epsilon, below),
    pure = response_delta(p$epsilon, epsilon, side),
    select = response_delta(pair_of_select(event), epsilon, side),
    approx = down * (p$delta + (1 - p$delta) * response_delta(p$epsilon, epsilon, side)),
    laplace = max(0, -expm1((epsilon - (1 + side * 4e-16) / p$scale) / 2)) * (1 + side * 1e-15),
    discrete_laplace = if (p$scale < 1e-300) as.double(!below) else
      discrete_laplace_delta(lattice_rate(p), p$sensitivity, epsilon, side),
    discrete_gaussian = discrete_delta(p, epsilon, below),
    shuffle = shuffle_delta(event, epsilon), # never asked from below
    sample = down * times_share(p$q, inner(above_sample(epsilon, p$q, side)), side),
    poisson = poisson_delta_of(inner, p$q, epsilon, side),
    resample = resample_delta_of(event, epsilon),
    compose = if (length(event$children) == 1 && p$times == 1) inner(epsilon) else NULL,
    NULL
  )
  if (is.null(out)) unpriced(event, "the profile of a single step", "it is no single step with a closed form")
  min(1, out)
}

# a share of a delta; from above no delta becomes 0 by being small
times_share <- function(q, delta, side) if (side > 0 && delta > 0) max(q * delta, 1e-307) else q * delta

step_delta <- function(mu, epsilon, below) if (mu == 0) 0 else gaussian_delta(mu, epsilon, below)

discrete_delta <- function(p, epsilon, below) {
  a <- atoms_discrete_gaussian(p$sigma, p$sensitivity, p$dimension)
  out <- sum(a$mass * -expm1(pmin(0, epsilon - a$loss)))
  if (below) out * (1 - 1e-12) else out * (1 + 1e-13) + a$infinite
}

# The best set of outcomes is that of at most n, the largest whole number with (m - 2 n) t > epsilon; where rounding
# decides which that is, it is the best of its neighbours. (1 - e^(epsilon - (m - n) t) + r (1 - e^(-n t)))/(1 + r), r =
# e^-t, has no difference of near numbers.
discrete_laplace_delta <- function(t, move, epsilon, side) {
  n <- pmax(ceiling((move - epsilon / t) / 2) - 2:0, 0)
  first <- -expm1(epsilon - (move - n) * t * (1 + side * 4e-16))
  second <- ifelse(n > 0, exp(-t) * -expm1(-n * t), 0)
  max(0, (first + second) * stats::plogis(t)) * (1 + side * 1e-14)
}

# of a step of which each record is part with probability q: the larger of a record's leaving and its entering
poisson_delta_of <- function(inner, q, epsilon, side) {
  leave <- times_share(q, inner(above_sample(epsilon, q, side)), side)
  # Q against the mixture: (1 - g(1 - q)) delta(g q/(1 - g(1 - q))), g = e^epsilon; it grows with the factor, which is
  # rounded up
  rest <- if (epsilon < 40) 1 - exp(epsilon) * (1 - q) + side * 4e-16 * exp(epsilon) else 0
  enter <- if (rest > 0) {
    times_share(rest, inner(max(0, (epsilon + log(q) - log(rest)) * (1 - side * 1e-15) - side * 1e-15)), side)
  } else {
    0
  }
  max(leave, enter) * if (side < 0) 1 - 1e-15 else 1
}

# Balle, Barthe and Gaboardi (2018), Theorem 10: the record was drawn k times, and that is told; never asked from below
resample_delta_of <- function(event, epsilon) {
  draws <- resample_draws(event$parameters)
  mu <- gdp_price(event$children[[1]])
  at <- above_sample(epsilon, draws$share)
  sum(draws$chance * vapply(draws$count * mu, step_delta, 0, at, FALSE)) * (1 + 1e-12) + draws$beyond
}

# How often a record is drawn: list(share (the chance that it is at all), count, chance, beyond (of more often));
# relative errors of the chances are below 1e-12
resample_draws <- function(p) {
  count <- seq_len(max(1, stats::qbinom(RESAMPLE_TAIL, p$size, 1 / p$n, lower.tail = FALSE)))
  if (length(count) > RESAMPLE_COUNTS) {
    abort_riemdp("unpriced", "a sample with replacement in which records are drawn that often is priced by Renyi DP.")
  }
  list(share = min(1, outwards(-expm1(p$size * log1p(-1 / p$n)))), count = count,
       chance = stats::dbinom(count, p$size, 1 / p$n) * (1 + 1e-12),
       beyond = stats::pbinom(max(count), p$size, 1 / p$n, lower.tail = FALSE) * (1 + 1e-9))
}

RESAMPLE_TAIL <- 1e-30

RESAMPLE_COUNTS <- 150

response_delta <- function(epsilon0, epsilon, side) {
  if (epsilon >= epsilon0) 0 else stats::plogis(epsilon0) * -expm1(epsilon - epsilon0) * (1 + side * 1e-15)
}

# rounded down: a smaller epsilon has the larger delta
above_sample <- function(epsilon, q, side = 1) {
  odds <- expm1(min(epsilon, 700)) / q
  (if (odds < 1e300) log1p(odds) else epsilon - log(q)) * (1 - side * 4e-16)
}

single_lower <- function(event, given, wanted, value) {
  closed_lower(function(epsilon) single_delta_of(event, epsilon, TRUE), given, wanted, value)
}

single_delta <- function(event, epsilon) list(value = single_delta_of(event, epsilon))

single_epsilon <- function(event, delta) {
  f <- function(epsilon) single_delta_of(event, epsilon)
  pure <- basic_price(event)
  if (!is.null(pure) && pure[2] == 0) {
    if (delta == 0) return(list(value = pure[1]))
    return(list(value = falling_root(f, delta, pure[1])))
  }
  need_delta(event, delta, "single")
  most <- 1
  while (f(most) > delta && most < 1e6) most <- 2 * most
  if (f(most) > delta) unpriced(event, "the profile of a single step", "part of its delta stays at any epsilon")
  list(value = falling_root(f, delta, most))
}
