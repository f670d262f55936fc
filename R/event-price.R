# What one event adds to a running sum: the units of a ledger. Bounds that hold whatever came before, so no privacy-loss
# distributions here except for a whole event that is turned into one (epsilon, delta).

unpriced <- function(event, unit, why = NULL) {
  abort_riemdp("unpriced", sprintf("an event of type %s has no price in %s%s.", dQuote(event$type, FALSE), unit,
                                   if (is.null(why)) "" else paste0(": ", why)))
}

check_orders <- function(orders) {
  if (!is.numeric(orders) || is.object(orders) || !length(orders) || anyNA(orders) ||
      any(orders <= 1 | !is.finite(orders))) {
    abort_riemdp("argument", "`orders` must be finite numbers above 1.")
  }
  as.double(orders)
}

# Sum over the composed parts; the parts' own prices by `price(part)`. What is too small for doubles counts as
# LEAST_PRICE, since many of it may be much.
sum_parts <- function(event, price) {
  total <- 0
  for (child in event$children) {
    one <- price(child)
    total <- total + if (isTRUE(all(one >= LEAST_PRICE)) || tells_nothing(child)) one else pmax(one, LEAST_PRICE)
  }
  total * event$parameters$times
}

LEAST_PRICE <- 1e-300

# whether an event's price is 0 by its parameters
# long: a line for each kind of event
tells_nothing <- function(event) {
  p <- event$parameters
  switch(event$type,
    pure = p$epsilon == 0, approx = p$epsilon == 0 && p$delta == 0, gdp = p$mu == 0, zcdp = p$rho == 0,
    rdp = all(p$epsilons == 0), gaussian = p$noise_multiplier == Inf, laplace = , discrete_laplace = p$scale == Inf,
    custom = any(vapply(event$children, tells_nothing, NA)),
    poisson = , allocation = , sample = , resample = , shuffle = , select = , compose = ,
    parallel = all(vapply(event$children, tells_nothing, NA)),
    FALSE
  )
}

# What one record may meet in parallel parts, as events: with public keys its own part; with private ones that part
# where it is replaced within it, or the part that it leaves and the one that it enters. NULL where there are too many
# to ask one by one.
parallel_choices <- function(event, most = 40) {
  keys <- vapply(event$children, event_key, "")
  kinds <- event$children[!duplicated(keys)]
  n <- length(kinds)
  private <- event$parameters$keys == "private"
  if (n > if (private) sqrt(2 * most) else most) return(NULL)
  if (!private) return(kinds)
  out <- lapply(kinds, within_part)
  for (i in seq_len(n)) {
    for (j in i:n) {
      if (i == j && sum(keys == unique(keys)[i]) == 1) next
      pair <- kinds[c(i, j)]
      out <- c(out, list(new_event("compose", join_adjacency(vapply(pair, `[[`, "", "adjacency")), list(times = 1),
                                   pair)))
    }
  }
  out
}

# A part's event where a record is replaced within it. What is open holds for that too; what is stated for one record
# more or less holds for a group of two.
within_part <- function(child) if (child$adjacency == "add-remove") grouped(child, 2, "replace-one") else child

# The event as a group of `size` records sees it (proofs/accounting.md, 2). Composed parts one by one: a group meets
# each of them. A part with a delta may say that another holds but for it, so then the whole is turned.
grouped <- function(event, size, adjacency) {
  p <- event$parameters
  alone <- c("compose", "pure", "laplace", "discrete_laplace", "gaussian", "gdp", "discrete_gaussian", "zcdp")
  if (event$type == "compose" && all(vapply(event$children, `[[`, "", "type") %in% alone)) {
    return(new_event("compose", adjacency, p, lapply(event$children, grouped, size, adjacency)))
  }
  if (event$type == "laplace") return(new_event("laplace", adjacency, list(scale = p$scale / size)))
  if (event$type == "pure") return(new_event("pure", adjacency, list(epsilon = size * p$epsilon)))
  if (event$type %in% c("discrete_gaussian", "discrete_laplace")) {
    p$sensitivity <- size * p$sensitivity
    return(new_event(event$type, adjacency, p))
  }
  mu <- gaussian_step(event)
  price <- if (is.null(mu)) basic_price(event)
  out <- if (!is.null(mu)) {
    new_event("gdp", adjacency, list(mu = size * mu))
  } else if (is.null(price)) {
    new_event("zcdp", adjacency, list(rho = size^2 * zcdp_price(event)))
  } else {
    new_event("approx", adjacency, list(epsilon = size * price[1], delta = several_delta(price, size)))
  }
  # what was taken on trust still is
  if (event_assumed(event)) new_event("custom", adjacency, list(label = "a group", assumed = TRUE), list(out)) else out
}

# delta times 1 + e^epsilon + ... + e^((size - 1) epsilon)
several_delta <- function(price, size) {
  if (price[2] == 0) return(0)
  steps <- if (price[1] == 0) size else if (price[1] > 700) Inf else expm1(size * price[1]) / expm1(price[1])
  min(1, outwards(price[2] * steps))
}

#' @rdname dp_event
#' @export
event_group <- function(event, size) {
  event <- check_event(event)
  size <- as.double(check_count(size, "size", most = 1e6))
  if (size == 1) return(event)
  if (!has_group(event)) {
    abort_riemdp("unsupported", paste("no theorem for groups is used here for that event: it must be one (epsilon,",
                                      "delta) step, or composed of pure, Laplace, Gaussian and zCDP steps."))
  }
  check_event(grouped(event, size, event$adjacency))
}

# Whether an event's group is known as well as the event: of samples, shuffles and choices it is less than what their
# (epsilon, delta) says, which would be told as attained
has_group <- function(event) {
  if (event$type == "compose") return(all(vapply(event$children, has_group, NA)) && !any_delta(event))
  known <- c("pure", "laplace", "discrete_laplace", "gaussian", "gdp", "discrete_gaussian", "zcdp", "approx", "pair")
  event$type %in% known || (event$type == "custom" && any(vapply(event$children, `[[`, "", "type") %in% known))
}

any_delta <- function(event) event$type == "approx" || any(vapply(event$children, any_delta, NA))

# a price that adds up, of parallel parts: the dearest, or the two dearest
parallel_price <- function(event, price) {
  prices <- lapply(event$children, price)
  if (event$parameters$keys == "public") return(Reduce(pmax, prices))
  prices <- do.call(rbind, prices)
  two <- apply(prices, 2, function(x) sum(utils::head(sort(x, decreasing = TRUE), 2)))
  Reduce(pmax, lapply(event$children, function(child) price(within_part(child))), two)
}

# the least price, at each order, of a custom event's bounds that the unit can hold
best_claim <- function(event, price, unit) {
  found <- Filter(Negate(is.null), lapply(event$children, function(claim) {
    tryCatch(price(claim), riemdp_error_unpriced = function(e) NULL)
  }))
  if (!length(found)) unpriced(event, unit)
  Reduce(pmin, found)
}

# epsilon of a stated bound that must be a pure one
stated_pure <- function(event, unit) {
  if (event$parameters$delta > 0) unpriced(event, unit, "its delta is above 0")
  event$parameters$epsilon
}

pair_pure <- function(event, unit) {
  price <- pair_basic(event)
  if (price[2] > 0) unpriced(event, unit, "one of its outcomes tells all")
  price[1]
}

# c(epsilon, delta) that holds without a choice of delta, or NULL
# long: a line for each kind of event
basic_price <- function(event) {
  p <- event$parameters
  both <- function(children, join) {
    prices <- lapply(children, basic_price)
    if (any(vapply(prices, is.null, NA))) NULL else Reduce(join, prices)
  }
  switch(event$type,
    pure = c(p$epsilon, 0),
    laplace = c(1 / p$scale, 0),
    discrete_laplace = c(p$sensitivity / p$scale, 0),
    approx = c(p$epsilon, p$delta),
    custom = {
      stated <- Filter(function(claim) claim$type == "approx", event$children)
      if (length(stated)) c(stated[[1]]$parameters$epsilon, stated[[1]]$parameters$delta)
    },
    pair = pair_basic(event),
    poisson = , sample = {
      inner <- basic_price(event$children[[1]])
      if (!is.null(inner)) c(sampled_epsilon(inner[1], p$q), p$q * inner[2])
    },
    poisson_capped = {
      inner <- basic_price(event$children[[1]])
      if (!is.null(inner)) {
        epsilon <- sampled_epsilon(inner[1], p$q)
        c(epsilon, min(1, p$q * inner[2] + capped_delta(capped_chance(p), epsilon)))
      }
    },
    allocation = , shuffle = basic_price(event$children[[1]]),
    select = {
      inner <- basic_price(event$children[[1]])
      if (!is.null(inner) && inner[2] == 0) c((2 + p$shape) * inner[1], 0)
    },
    compose = {
      inner <- both(event$children, `+`)
      if (!is.null(inner)) p$times * inner
    },
    parallel = if (!is.null(both(event$children, pmax))) pmin(parallel_price(event, basic_price), c(Inf, 1)),
    NULL
  )
}

# The chance that a sample is larger than it may be, rounded up
capped_chance <- function(p) {
  max(stats::pbinom(p$most, p$records, p$q, lower.tail = FALSE) * (1 + 1e-9), 1e-300)
}

# by how much delta grows where a step isn't what it is priced for with this chance (proofs/accounting.md, 1)
capped_delta <- function(chance, epsilon) outwards(chance * (1 + exp(min(epsilon, 700))))

# The chance that another report is one of the two that the record's own is: 2/(e^epsilon + 1), Feldman, McMillan and
# Talwar (2022), for every epsilon-DP randomiser (proofs/accounting.md, section 1)
clone_chance <- function(epsilon) 2 * stats::plogis(-epsilon)

# epsilon of a choice that randomised response dominates
pair_of_select <- function(event) {
  pure <- basic_price(event)
  if (is.null(pure)) unpriced(event, "randomised response", "the best of several runs has a pair for pure steps only")
  pure[1]
}

# the largest loss, and the mass of what tells all
pair_basic <- function(event) {
  Reduce(pmax, lapply(pair_directions(event), function(law) {
    both <- law$p > 0 & law$q > 0
    largest <- if (any(both)) outwards(max(0, log(law$p[both]) - log(law$q[both]))) else 0
    c(largest, min(1, outwards(sum(law$p[law$q == 0]))))
  }))
}

# log(1 + q(e^epsilon - 1)), also where e^epsilon overflows
sampled_epsilon <- function(epsilon, q) log_mix(epsilon, q)

# What tells something never costs 0, however little that is
never_free <- function(price, event, least = 1e-307) {
  if (any(price == 0, na.rm = TRUE) && !tells_nothing(event)) pmax(price, least) else price
}

zcdp_price <- function(event) never_free(zcdp_of(event), event)

# long: a line for each kind of event
zcdp_of <- function(event) {
  p <- event$parameters
  switch(event$type,
    gaussian = 0.5 / p$noise_multiplier^2,
    gdp = p$mu^2 / 2,
    discrete_gaussian = (p$sensitivity / p$sigma)^2 / 2,
    zcdp = p$rho,
    pure = if (isTRUE(p$range)) zcdp_range(p$epsilon) else zcdp_pure(p$epsilon),
    laplace = tanh(0.5 / p$scale) / p$scale,
    discrete_laplace = zcdp_discrete_laplace(lattice_rate(p), p$sensitivity),
    approx = zcdp_pure(stated_pure(event, "zCDP")),
    pair = zcdp_pure(pair_pure(event, "zCDP")),
    custom = best_claim(event, zcdp_price, "zCDP"),
    compose = sum_parts(event, zcdp_price),
    parallel = parallel_price(event, zcdp_price),
    allocation = zcdp_price(event$children[[1]]), # no more than the step that holds the record
    poisson = , sample = , shuffle = , select = zcdp_sampled(event),
    unpriced(event, "zCDP")
  )
}

zcdp_pure <- function(epsilon) epsilon * tanh(epsilon / 2)

# losses that lie between two numbers epsilon apart (proofs/accounting.md, 2)
zcdp_range <- function(epsilon) min(outwards(epsilon^2 / 8), zcdp_pure(epsilon))

# The Kullback-Leibler divergence m t - t (1 - e^(-m t))/sinh(t), t = 1/scale, as terms that don't cancel: it is the
# largest of D_alpha/alpha (proofs/accounting.md, 4)
zcdp_discrete_laplace <- function(t, move) {
  e <- move * t
  if (!is.finite(e)) return(Inf)
  bend <- if (e < 0.1) e^2 / 2 * (1 - e / 3 * (1 - e / 4 * (1 - e / 5 * (1 - e / 6 * (1 - e / 7 * (1 - e / 8)))))) else
    e + expm1(-e)
  lattice <- if (t < 0.1) t^2 / 6 * (1 - 7 * t^2 / 60 + 31 * t^4 / 2520 - 127 * t^6 / 100800 + 73 * t^8 / 570240) else
    1 - t / sinh(min(t, 700))
  outwards(bend - expm1(-e) * lattice)
}

# 1/scale of discrete Laplace noise
lattice_rate <- function(p) min(1 / p$scale, 1e300)

# pure steps stay pure when sampled or selected; a whole sample is the step itself
zcdp_sampled <- function(event) {
  if (identical(event$parameters$q, 1)) return(zcdp_price(event$children[[1]]))
  pure <- basic_price(event)
  if (is.null(pure) || pure[2] > 0) {
    unpriced(event, "zCDP", "samples of Gaussian noise, and the best of several, are not concentrated this way")
  }
  zcdp_pure(pure[1])
}

# `other`: the price of what isn't made of Gaussians
gdp_price <- function(event, other = gdp_other) {
  p <- event$parameters
  price <- function(child) gdp_price(child, other)
  switch(event$type,
    gaussian = 1 / p$noise_multiplier,
    gdp = p$mu,
    custom = best_claim(event, price, "GDP"),
    compose = sqrt(sum_parts(event, function(child) price(child)^2)),
    parallel = sqrt(parallel_price(event, function(child) price(child)^2)),
    poisson = , sample = if (p$q == 1) price(event$children[[1]]) else other(event),
    other(event)
  )
}

gdp_other <- function(event) {
  unpriced(event, "GDP", switch(event$type,
    poisson = , sample = "sampled Gaussian noise is no Gaussian; the central limit form is an estimate",
    discrete_gaussian = "a discrete Gaussian is no Gaussian", mixture = "a mixture of moves is no Gaussian",
    "Gaussian steps only"
  ))
}

# mu of an event whose parts are Gaussian or pure: for sums, where no part has to be a Gaussian. `kept`: as mu^2, noise
# that comes last and is never drawn, beside which pure parts show less
gdp_bound <- function(event, kept = 0) {
  never_free(gdp_price(event, function(part) {
    pure <- if (!part$type %in% c("compose", "parallel")) basic_price(part)
    if (is.null(pure) || pure[2] > 0) gdp_other(part)
    min(gdp_pure(pure[1]), gdp_pure_beside(pure[1], kept))
  }), event, 1e-153)
}

# The mu of an epsilon-DP step, rounded up (proofs/ledger.md, 1): twice the quantile of e^epsilon/(1 + e^epsilon). Near
# one half by its series, with t the probability beyond one half; far out, where quantiles are less exact, by the bound
# P(Z > z) <= exp(-z^2/2)/2.
gdp_pure <- function(epsilon) {
  t <- tanh(epsilon / 2) / 2
  z <- if (t < 1e-3) {
    u <- sqrt(2 * pi) * t
    u * (1 + u^2 / 6 + 7 * u^4 / 120 + u^6 / 30)
  } else if (epsilon > 600) {
    sqrt(2 * (epsilon - log(2)))
  } else {
    -stats::qnorm(stats::plogis(-epsilon, log.p = TRUE), log.p = TRUE)
  }
  outwards(2 * z)
}

# By how much mu^2 of normal noise grows with an epsilon-DP step beside it, as a mu, rounded up: both together are no
# worse than normal noise of mu^2 = kept + c if and only if their total variation isn't (proofs/ledger.md, 1). Where
# that is a difference of near numbers, or quantiles lie next to one half, by a bound in closed form.
gdp_pure_beside <- function(epsilon, kept) {
  if (!(kept > 0) || epsilon > 600) return(Inf)
  r <- epsilon^2 / kept + log1p(sinh(epsilon / 2)^2)
  if (r < 1e-4 || kept < 1e-4) return(if (r <= 0.4) outwards(sqrt(kept * r / (1 + kept / 4) * (1 + r))) else Inf)
  s <- sqrt(kept)
  beyond <- stats::plogis(epsilon) * stats::pnorm(s / 2 + epsilon / s, lower.tail = FALSE) +
    stats::plogis(-epsilon) * stats::pnorm(s / 2 - epsilon / s, lower.tail = FALSE)
  sqrt(max(0, 4 * stats::qnorm(beyond)^2 * (1 + 1e-11) - kept))
}

need_delta <- function(event, delta, accountant) {
  if (delta <= 0) unpriced(event, dQuote(accountant, FALSE), "at delta = 0 only pure steps have an epsilon")
}

# mu of a step that is made of Gaussians, else NULL
gaussian_step <- function(event) tryCatch(gdp_price(event), riemdp_error_unpriced = function(e) NULL)

# What parts of an event come to, each kind for itself: list(epsilon, delta, mu). NULL where a part is of another kind.
event_sum <- function(event) {
  parts <- lapply(event_parts(event), function(part) {
    p <- part$event$parameters
    one <- switch(part$event$type,
      pure = c(p$epsilon, 0, 0),
      approx = c(p$epsilon, p$delta, 0),
      laplace = c(1 / p$scale, 0, 0),
      discrete_laplace = c(p$sensitivity / p$scale, 0, 0),
      gaussian = c(0, 0, 1 / p$noise_multiplier),
      gdp = c(0, 0, p$mu)
    )
    if (!is.null(one)) one * c(part$times, part$times, sqrt(part$times))
  })
  if (any(vapply(parts, is.null, NA))) return(NULL)
  all <- do.call(cbind, parts)
  list(epsilon = sum(all[1, ]), delta = sum(all[2, ]), mu = sqrt(sum(all[3, ]^2)))
}
