# Privacy-loss distributions. Each composed part is a source of losses; it is put on a grid so that the hockey-stick divergence
# is bounded from above (connect the dots: Doroshenko et al. 2022) or from below (merged outcomes: post-processing), parts are
# convolved by FFT, and what truncation, wrap-around and rounding can do is added or taken off.
#
# Before the transform every law is tilted by e^(theta loss) with theta at the saddle point of the question: rounding is then
# relative to the delta that is asked for and not to 1, so that delta = 1e-12 after a million steps keeps its digits, and the
# window is a few standard deviations around the answer.

PLD_POINTS <- 2^22
PLD_STEPS <- 1e9
SHUFFLE_ATOMS <- 20000
# relative error of delta, at all and for each step: rounding of masses and of their tilted sums (proofs/accounting.md, section 6)
PLD_ROUNDING <- c(1e-9, 5e-13)
# error of a loss, in grid steps: atoms that are taken for grid points, rounding of the grid itself
PLD_SLACK <- 1e-9

# ---- sources ------------------------------------------------------------------------------------------------------------------
# list(pair = c(family, size, q, enter) or NULL, loss, mass (atoms), infinite (mass of infinite loss), fold, unit): `fold` means
# that only losses above 0 are meant and the rest is their mirror image; atoms are
# origin plus multiples of `unit` if that isn't NULL. Of `infinite`, which may hold what was truncated, `certain` is real.

pld_source <- function(pair = NULL, loss = double(), mass = double(), infinite = 0, fold = FALSE, unit = NULL, origin = 0, certain = 0) {
  list(pair = pair, loss = loss, mass = mass, infinite = infinite, fold = fold, unit = unit, origin = origin, certain = certain)
}

atoms_pure <- function(epsilon, delta = 0) {
  pld_source(loss = c(-epsilon, epsilon), mass = (1 - delta) * c(stats::plogis(-epsilon), stats::plogis(epsilon)), infinite = delta,
             certain = delta, unit = if (epsilon > 0) epsilon)
}

# Noise on the integers with mass proportional to exp(-x^2/(2 sigma^2)), moved by whole steps: the loss is linear. The noise's law
# is log-concave, so the largest move is the worst one.
atoms_discrete_gaussian <- function(sigma, sensitivity, dimension) {
  if (dimension > 1) {
    abort_riemdp("unpriced", paste("a discrete Gaussian in several dimensions has no privacy-loss distribution here: the worst",
                                   "direction isn't known. zCDP and Renyi DP price it."))
  }
  move <- ceiling(sensitivity)
  reach <- ceiling(sigma * 38)
  if (reach + move > 2e6) abort_riemdp("unpriced", "a discrete Gaussian that wide is priced by zCDP or Renyi DP.")
  x <- seq(-reach, reach) # noise of the first law, around `move`
  log_mass <- -x^2 / (2 * sigma^2)
  mass <- exp(log_mass) / sum(exp(log_mass))
  # log f(x)/f(x + move), where x is the noise
  loss <- (2 * x * move + move^2) / (2 * sigma^2)
  keep <- mass > 0
  pld_source(loss = loss[keep], mass = mass[keep], infinite = 1e-300, unit = move / (2 * sigma^2))
}

# Feldman, McMillan and Talwar (2021), Theorem 3.2: with C ~ Bin(n - 1, e^-epsilon), A ~ Bin(C, 1/2) and one coin for the record,
# the pair (A + coin, C - A + 1 - coin) against (A + 1 - coin, C - A + coin)
atoms_shuffle <- function(n, epsilon) {
  if (n > SHUFFLE_ATOMS) abort_riemdp("unpriced", sprintf("more than %g shuffled reports are priced alone, not in compositions.", SHUFFLE_ATOMS))
  p <- exp(-epsilon)
  s <- stats::plogis(epsilon)
  tiny <- 1e-30
  counts <- stats::qbinom(tiny, n - 1, p):stats::qbinom(tiny, n - 1, p, lower.tail = FALSE)
  parts <- lapply(counts, function(count) {
    a <- max(0, stats::qbinom(tiny, count, 0.5)):min(count + 1, stats::qbinom(tiny, count, 0.5, lower.tail = FALSE) + 1)
    up <- stats::dbinom(a - 1, count, 0.5)
    stay <- stats::dbinom(a, count, 0.5)
    weight <- stats::dbinom(count, n - 1, p)
    first <- s * up + (1 - s) * stay
    second <- (1 - s) * up + s * stay
    cbind(log(first / second), weight * first)
  })
  atoms <- do.call(rbind, parts)
  atoms <- atoms[is.finite(atoms[, 1]) & atoms[, 2] > 0, , drop = FALSE]
  pld_source(loss = atoms[, 1], mass = atoms[, 2], infinite = max(0, 2 * tiny * (length(counts) + 1)))
}

# Source of one part. `direction`: "leave" (the first data set holds the record), "enter", or "both" for replaced records, whose
# pairs are their own mirror images.
pld_part <- function(event, direction, upper = TRUE) {
  p <- event$parameters
  switch(event$type,
    pure = atoms_pure(p$epsilon),
    approx = atoms_pure(p$epsilon, p$delta),
    gaussian = pld_source(pair = c(0, 1 / p$noise_multiplier, 1, 0)),
    gdp = if (p$mu > 0) pld_source(pair = c(0, p$mu, 1, 0)) else atoms_pure(0),
    laplace = laplace_source(1 / p$scale, 1, 0),
    discrete_gaussian = atoms_discrete_gaussian(p$sigma, p$sensitivity, p$dimension),
    shuffle = atoms_shuffle(p$n, event$children[[1]]$parameters$epsilon),
    custom = {
      best <- Filter(function(claim) claim$type %in% c("approx", "gdp"), event$children)
      if (!length(best)) unpriced(event, "privacy-loss distributions")
      pld_part(best[[1]], direction, upper)
    },
    poisson = sampled_source(event$children[[1]], p$q, direction, upper),
    sample = {
      if (p$q == 1) return(pld_part(event$children[[1]], "both", upper))
      # the amplified curve and its mirror image at once (Dong, Roth and Su 2022, Theorem 9): above 0 that of "leave"
      source <- sampled_source(event$children[[1]], p$q, "leave", upper, inner = "both")
      source$fold <- TRUE
      positive <- source$loss[source$loss > 0]
      source$unit <- if (is.null(source$pair) && length(positive) == 1) positive
      source$origin <- 0
      source
    },
    parallel = {
      inner <- dearest(event)
      if (p$keys == "private") inner <- new_event("compose", event$adjacency, list(times = 2), list(inner))
      pld_part(inner, direction, upper)
    },
    compose = {
      # a composition inside something else: its own distribution, as atoms
      d <- pld_distribution(event, direction, upper)
      pld_source(loss = d$loss, mass = d$mass, infinite = d$infinite)
    },
    unpriced(event, "privacy-loss distributions", "only a bound of its Renyi divergence is known")
  )
}

laplace_source <- function(e, q, enter) {
  pld_source(pair = c(1, e, q, enter), loss = c(-e, e), mass = c(exp(-e) / 2, 1 / 2), unit = if (q == 1) e)
}

# (1 - q) Q + q P against Q, or Q against it, for the pair (P, Q) of a step
sampled_source <- function(step, q, direction, upper, inner = direction) {
  enter <- direction == "enter"
  # P against Q in coordinates that "enter" turns round: mirrored smooth pairs are their own
  mu <- gaussian_step(step)
  if (!is.null(mu)) return(if (mu > 0) pld_source(pair = c(0, mu, q, enter)) else atoms_pure(0))
  source <- if (step$type == "laplace") {
    e <- 1 / step$parameters$scale
    if (enter) {
      # atoms of Q: losses of P against Q are e with mass e^-e/2 and -e with mass 1/2
      out <- pld_source(pair = c(1, e, q, 1), loss = c(e, -e), mass = c(exp(-e) / 2, 1 / 2))
      out$loss <- -log_mix(out$loss, q)
      return(align_atoms(out))
    }
    laplace_source(e, q, 0)
  } else {
    pld_part(step, inner, upper)
  }
  if (source$fold || (!is.null(source$pair) && step$type != "laplace")) {
    # a sample of a sampled step: by its own grid
    single <- new_event("compose", step$adjacency, list(times = 1), list(step))
    d <- pld_distribution(single, inner, upper)
    source <- pld_source(loss = d$loss, mass = d$mass, infinite = d$infinite)
  }
  if (enter) {
    # the step's own entering pair (A, B): A against (1 - q) A + q B
    source$loss <- -log_mix(-source$loss, q)
    if (source$infinite > 0) {
      if (q < 1) {
        source$loss <- c(source$loss, -log1p(-q))
        source$mass <- c(source$mass, source$infinite)
        source$infinite <- source$certain <- 0
      }
    }
  } else {
    mixed <- log_mix(source$loss, q)
    source$mass <- source$mass * exp(mixed - source$loss)
    source$loss <- mixed
    # what Q holds where P doesn't, and rounding: at most the rest, at the lowest loss
    source$infinite <- q * source$infinite
    source$certain <- q * source$certain
    rest <- 1 - sum(source$mass) - source$infinite
    if (is.null(source$pair) && rest > 0 && upper && q < 1) {
      if (rest > 1e-12) {
        source$loss <- c(source$loss, log1p(-q))
        source$mass <- c(source$mass, rest)
      } else {
        source$mass <- source$mass * (1 + 2 * rest) # higher losses take it
      }
    }
  }
  align_atoms(source)
}

# two atoms lie on a grid of their own
align_atoms <- function(source) {
  source$unit <- NULL
  if (length(source$loss) == 2) {
    source$unit <- abs(diff(source$loss))
    source$origin <- min(source$loss)
    if (source$unit == 0) source$unit <- NULL
  }
  source
}

# log(1 - q + q e^x)
log_mix <- function(x, q) {
  ifelse(x > 500, x + log(q) + log1p((1 - q) / q * exp(-pmax(x, 500))), log1p(q * expm1(pmin(x, 500))))
}

# among parallel parts of one kind the one that dominates; there is no general rule
dearest <- function(event) {
  children <- event$children
  keys <- vapply(children, event_key, "")
  if (length(unique(keys)) == 1) return(children[[1]])
  mus <- lapply(children, gaussian_step)
  if (!any(vapply(mus, is.null, NA))) return(children[[which.max(unlist(mus))]])
  pure <- lapply(children, basic_price)
  if (!any(vapply(pure, is.null, NA))) {
    worst <- Reduce(pmax, pure)
    return(new_event("approx", event$adjacency, list(epsilon = worst[1], delta = worst[2])))
  }
  same <- unique(vapply(children, `[[`, "", "type"))
  if (length(same) == 1 && same %in% c("poisson", "sample")) {
    inner <- lapply(children, function(child) child$children[[1]])
    mus <- lapply(inner, gaussian_step)
    if (!any(vapply(mus, is.null, NA))) {
      # the larger share of the larger step dominates all of them
      q <- max(vapply(children, function(child) child$parameters$q, 0))
      return(new_event(same, event$adjacency, list(q = q), list(new_event("gdp", "either", list(mu = max(unlist(mus)))))))
    }
  }
  unpriced(event, "privacy-loss distributions", "its parts are of different kinds")
}

# ---- the smooth part's range --------------------------------------------------------------------------------------------------

# z outside leaves at most `tail` where the loss is large, and `low` where it is small: that side may be cut more roughly
smooth_range <- function(pair, tail, low = tail) {
  if (pair[1] == 1) return(c(-pair[2], pair[2]))
  if (pair[4] == 1) c(stats::qnorm(tail), -stats::qnorm(low)) else c(stats::qnorm(low), pair[2] - stats::qnorm(tail))
}

smooth_loss <- function(pair, z) {
  x <- if (pair[1] == 0) pair[2] * z - pair[2]^2 / 2 else z
  mixed <- if (pair[3] == 1) x else log_mix(x, pair[3])
  if (pair[4] == 1) -mixed else mixed
}

smooth_density <- function(pair, z) {
  q <- pair[3]
  if (pair[1] == 0) {
    second <- stats::dnorm(z)
    first <- stats::dnorm(z - pair[2])
  } else {
    second <- exp(-(z + pair[2]) / 2) / 4
    first <- exp((z - pair[2]) / 2) / 4
  }
  if (pair[4] == 1) second else (1 - q) * second + q * first
}

# mass beyond the range, of the side where the loss is large and where it is small
smooth_tails <- function(pair, range) {
  if (pair[1] == 1) return(c(high = 0, low = 0))
  q <- pair[3]
  if (pair[4] == 1) {
    return(c(high = stats::pnorm(range[1]), low = stats::pnorm(-range[2])))
  }
  c(high = (1 - q) * stats::pnorm(-range[2]) + q * stats::pnorm(pair[2] - range[2]),
    low = (1 - q) * stats::pnorm(range[1]) + q * stats::pnorm(range[1] - pair[2]))
}

# ---- a plan: theta, step and window -------------------------------------------------------------------------------------------

# the source as few atoms, for planning
plan_atoms <- function(source, tail, low) {
  loss <- source$loss
  mass <- source$mass
  if (!is.null(source$pair)) {
    range <- smooth_range(source$pair, tail, low)
    z <- seq(range[1], range[2], length.out = max(400, min(5000, ceiling(diff(range) / 0.05))))
    loss <- c(loss, smooth_loss(source$pair, z))
    mass <- c(mass, smooth_density(source$pair, z) * (z[2] - z[1]))
  }
  if (source$fold) {
    keep <- loss > 0
    loss <- loss[keep]
    mass <- mass[keep]
    mirror <- mass * exp(-loss)
    loss <- c(-loss, 0, loss)
    mass <- c(mirror, max(0, 1 - sum(mass, mirror)), mass)
  }
  keep <- mass > 0
  list(loss = loss[keep], log_mass = log(mass[keep]), infinite = source$infinite)
}

log_moment <- function(atoms, theta) {
  if (length(theta) == 1) return(log_sum(atoms$log_mass + theta * atoms$loss))
  l <- atoms$log_mass + outer(atoms$loss, theta)
  top <- apply(l, 2, max)
  top + log(colSums(exp(l - rep(top, each = nrow(l)))))
}

# mean and variance of the tilted law
tilted <- function(atoms, theta) {
  l <- atoms$log_mass + theta * atoms$loss
  w <- exp(l - max(l))
  w <- w / sum(w)
  mean <- sum(w * atoms$loss)
  c(mean, sum(w * (atoms$loss - mean)^2))
}

# `delta` or `epsilon` is the question; with both, the tilt is for epsilon and the truncation for delta
pld_plan <- function(sources, times, delta = NULL, epsilon = NULL, tol = 1e-4) {
  steps <- sum(times)
  if (steps > PLD_STEPS) {
    abort_riemdp("unpriced", sprintf("more than %g steps are beyond what the transform's rounding allows.", PLD_STEPS))
  }
  tail <- 1e-30 / steps
  low <- 1e-6 / steps
  for (round in 1:4) {
    atoms <- lapply(sources, plan_atoms, tail, low)
    K <- function(theta) { # of several theta at once
      out <- 0
      for (i in seq_along(atoms)) out <- out + times[i] * log_moment(atoms[[i]], theta)
      out
    }
    moments <- function(theta) colSums(times * t(vapply(atoms, tilted, double(2), theta)))
    if (round == 4) break # the atoms of the final truncation
    logs <- if (round == 1) seq(log(1e-3), log(1e7), length.out = 47) else log(theta) + seq(-1.5, 1.5, by = 0.5)
    if (is.null(epsilon)) {
      f <- function(s) (K(exp(s)) - log(delta)) / exp(s)
    } else {
      f <- function(s) K(exp(s)) - exp(s) * epsilon
    }
    scores <- f(logs)
    i <- which.min(scores)
    best <- stats::optimize(f, logs[c(max(1, i - 1), min(length(logs), i + 1))], tol = 1e-3)
    if (best$objective > scores[i]) best <- list(minimum = logs[i], objective = scores[i])
    # the smallest tilt that is nearly as good: where losses are bounded the best one is at infinity
    enough <- best$objective + if (is.null(epsilon)) 0.02 * abs(best$objective) else 0.05
    near <- c(logs, best$minimum)[c(scores, best$objective) <= enough]
    theta <- exp(min(near))
    # near the largest loss a greater tilt tells apart what the wanted accuracy of epsilon doesn't
    goal <- if (is.null(epsilon)) best$objective else epsilon
    if (!is.null(delta) && goal > 0) theta <- min(theta, 1 / (min(tol, 1e-5) * goal))
    aim <- moments(theta)
    widest <- max(vapply(atoms, function(a) max(abs(a$loss)), 0))
    sd <- max(sqrt(max(aim[2], 0)), 1e-6 * widest * sqrt(steps), 1e-12)
    target <- if (is.null(epsilon)) best$objective else epsilon
    if (is.null(epsilon) && target <= 0) theta <- 1e-3
    # the bound is above delta by about sqrt(2 pi) sd theta (theta + 1)
    log_delta <- if (is.null(delta)) best$objective - plan_excess(list(sd = sd, theta = theta)) else log(delta)
    tail <- exp(max(-600, min(log_delta, 0) - log(steps) - 10))
  }
  # bounds of epsilon (or delta) from the moments: Canonne, Kamath and Steinke (2020)
  list(theta = theta, mean = aim[1], sd = sd, target = target, log_delta = log_delta, tail = tail, low = low, atoms = atoms, K = K,
       steps = steps, tol = tol, known = !is.null(epsilon))
}

# The window outside of which less than e^-14 of the answer lies: c(low, high), and the tilts that show it. From above what lies
# beyond weighs e^(-theta loss) only, or its image's weight where that is above the target; from below all of it is taken off at
# its largest weight.
tilted_window <- function(plan, upper, h) {
  k0 <- plan$K(plan$theta)
  room <- 14 + max(plan_excess(plan), k0 - plan$theta * plan$target - plan$log_delta)
  s <- 2^seq(-3, 6, 0.5) * sqrt(2 * room) / plan$sd / 4
  above <- function(s) (plan$K(plan$theta + s) - k0 + room) / s
  light <- function(s) (plan$K(plan$theta + s) - k0 + room + plan$theta * plan$target) / (s + plan$theta)
  below <- function(s) -(plan$K(plan$theta - s) - k0 + room) / s
  least <- function(f) { # rare large losses need small tilts
    # beyond, the grid's splitting, steps (s h)^2/8, takes the bound's room
    t <- s[s * h <= min(1, sqrt(8 / plan$steps)) | seq_along(s) == 1]
    value <- f(t)
    for (round in 1:40) {
      if (which.min(value) > 1 || (round > 1 && value[1] > value[2] - 1e-2 * abs(value[2]))) break
      t <- c(t[1] / 2, t)
      value <- c(f(t[1]), value)
    }
    c(min(value), t[which.min(value)])
  }
  high <- least(above)
  low <- least(function(s) -below(s))
  low[1] <- -low[1]
  if (upper) {
    first <- least(light)
    image <- high[1] - max(0, plan$target - low[1])
    if (max(first[1], image) < high[1]) high <- c(max(first[1], image), first[2])
  }
  list(high = high[1], high_tilt = high[2], low = low[1], low_tilt = low[2])
}

# Where answers come from rare large losses no tilt brings them forward, and rounding of the bulk would drown them: then only sums
# with at least one loss above `cut` are composed, and the rest is bounded. The plan with the tilt that keeps the window narrow; as
# it is where the bulk alone reaches the target, or rounding is small.
with_jumps <- function(plan, times) {
  k0 <- plan$K(plan$theta)
  excess <- k0 - plan$theta * plan$target - plan$log_delta
  if (log(plan$steps * 1e-13) + excess < -14) return(plan)
  v <- max(plan$theta, 1 / plan$target) * 2^(-1:10)
  for (cut in plan$target * c(0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.025)) {
    bulk <- 0
    for (i in seq_along(times)) {
      a <- plan$atoms[[i]]
      keep <- a$loss <= cut
      if (!any(keep)) return(plan)
      bulk <- bulk + times[i] * log_moment(list(loss = a$loss[keep], log_mass = a$log_mass[keep]), v)
    }
    if (min(bulk - v * plan$target) > plan$log_delta - 16) next
    best <- NULL
    for (share in c(1, 0.7, 0.5, 0.35, 0.25)) {
      try <- plan
      try$theta <- share * plan$theta
      aim <- jumps <- 0
      for (i in seq_along(times)) {
        a <- plan$atoms[[i]]
        aim <- aim + times[i] * tilted(a, try$theta)[2]
        jumps <- jumps + times[i] * sum(exp(a$log_mass + try$theta * a$loss - log_moment(a, try$theta))[a$loss > cut])
      }
      if (jumps > 0.1) next # nothing gained
      try$sd <- max(sqrt(max(aim, 0)), 1e-12)
      window <- tilted_window(try, TRUE, 0)
      try$cut <- cut
      try$width <- max(window$high, plan$target) - min(window$low, plan$target)
      if (is.null(best) || try$width < 0.8 * best$width) best <- try
    }
    return(if (is.null(best)) plan else best)
  }
  plan
}

grid_step <- function(plan, for_delta) {
  # delta falls by this factor, at most, over a loss of 1: theta in the tail, the spread near the middle
  rate <- max(plan$theta, 0.5 / plan$sd) + 1
  # the grid adds at most h^2/6 of variance a step (a quarter where the law is rough), which moves epsilon by steps h^2 rate/12
  tol <- plan$tol / if (plan$steps <= 100) 16 else 1
  slack <- if (for_delta) tol * min(1 / plan$theta, plan$sd) else tol * max(abs(plan$target), 1e-3 * plan$sd)
  min(sqrt(12 * slack / (plan$steps * rate)), 0.25 / rate)
}

# the same where splitting of atoms has to be told apart: it moves the composed loss by some 2.5 h sqrt(steps)
couple_step <- function(parts, plan, for_delta) {
  split <- sum(parts$times[vapply(parts$sources, function(source) length(source$loss) > 0, NA)])
  slack <- plan$tol * if (for_delta) min(1 / plan$theta, plan$sd) else max(abs(plan$target), 1e-3 * plan$sd)
  min(grid_step(plan, for_delta), slack / (2.5 * sqrt(max(1, split))))
}

# ---- on the grid --------------------------------------------------------------------------------------------------------------

# Cells of a smooth part: list(step, first, bins) a block. Steps of h up to DENSE of them from 0, beyond steps that double with the
# loss: rare losses far above h need no finer cells, and there would be too many.
DENSE <- 2^16

cell_blocks <- function(ends, h, fold) {
  first <- if (fold) 0 else floor(ends[1] / h)
  last <- max(first + 1, ceiling(ends[2] / h))
  if (!is.finite(first) || !is.finite(last) || max(-first, last) > 2^52) spread_too_far()
  inner <- c(max(first, -DENSE), min(last, DENSE))
  blocks <- if (inner[1] < inner[2]) list(c(h, inner[1], inner[2] - inner[1])) else list()
  far <- function(reach, side, near) {
    k <- max(0, floor(log2(max(near, DENSE) / DENSE)))
    while (DENSE * 2^k < reach) {
      step <- 2^(k + 1)
      a <- floor(max(near, DENSE * 2^k) / step)
      b <- min(ceiling(reach / step), DENSE)
      blocks <<- c(blocks, list(c(step * h, if (side > 0) a else -b, b - a)))
      k <- k + 1
    }
  }
  if (last > DENSE) far(last, 1, first)
  if (first < -DENSE) far(-first, -1, -last)
  blocks
}

# sums of `mass` by the whole numbers `at`: list(at, mass), sorted
sum_at <- function(at, mass) {
  o <- order(at, method = "radix")
  at <- at[o]
  last <- c(which(diff(at) != 0), length(at))
  if (length(last) == length(at)) return(list(at = at, mass = mass[o]))
  id <- rep.int(seq_along(last), diff(c(0, last)))
  list(at = at[last], mass = as.vector(rowsum(mass[o], id, reorder = FALSE)))
}

# atoms split between the grid points around them: list(below, share of the one above)
split_atoms <- function(loss, h) {
  at <- loss / h
  near <- abs(at - round(at)) < 1e-9 & round(at) >= at # no lower than it is
  below <- ifelse(near, round(at), floor(at))
  list(below = below, share = ifelse(near, 0, pmin(1, expm1(below * h - loss) / expm1(-h))))
}

# list(at, mass, infinite, offset): masses at offset + at h, from above
grid_above <- function(source, h, tail, low, offset = 0) {
  at <- mass <- double()
  infinite <- source$infinite
  if (!is.null(source$pair)) {
    range <- smooth_range(source$pair, tail, low)
    offset <- 0 # atoms beside a smooth part lie where they do
    for (block in cell_blocks(range(smooth_loss(source$pair, range)), h, source$fold)) {
      at <- c(at, block[1] / h * (block[2] + 0:block[3]))
      mass <- c(mass, .Call(riemdp_pld_cells, c(source$pair, range), c(block, 0)))
    }
    tails <- smooth_tails(source$pair, range)
    infinite <- infinite + tails[["high"]]
    if (!source$fold) {
      # to the first point that lies above all of it
      i <- order(at)[2]
      mass[i] <- mass[i] + tails[["low"]]
    }
  }
  keep <- source$loss > if (source$fold) 0 else -Inf
  if (any(keep)) {
    parts <- split_atoms(source$loss[keep] - offset, h)
    at <- c(at, parts$below, parts$below + 1)
    mass <- c(mass, source$mass[keep] * (1 - parts$share), source$mass[keep] * parts$share)
  }
  sums <- sum_at(at, mass)
  if (source$fold) sums <- fold_up(sums$at, sums$mass, h, infinite)
  list(at = sums$at, mass = sums$mass, infinite = infinite, offset = offset)
}

# the mirror images of what lies above 0, and the rest at 0
fold_up <- function(at, mass, h, infinite) {
  positive <- at > 0
  at <- at[positive]
  mass <- mass[positive]
  mirror <- mass * exp(-h * at)
  list(at = c(-rev(at), 0, at), mass = c(rev(mirror), max(0, 1 - sum(mass, mirror) - infinite), mass))
}

spread_too_far <- function() abort_riemdp("unpriced", "the losses spread too far for a grid as fine as this answer needs.")

CELL_PARTS <- 4

# The same from below; infinite losses are left out. With `couple` atoms aren't merged but split as from above, and `slip` says how
# far that lifts losses: list(up, down, share, log_weight), see proofs/accounting.md, section 6.
grid_below <- function(source, h, tail, low, offset = NULL, couple = FALSE, theta = 0) {
  loss <- source$loss
  mass <- source$mass
  far <- list(loss = double(), mass = double())
  atoms <- list(loss = double(), mass = double())
  if (couple) {
    atoms <- list(loss = loss, mass = mass)
    loss <- mass <- double()
  }
  tails <- 0
  if (!is.null(source$pair)) {
    range <- smooth_range(source$pair, tail, low)
    for (block in cell_blocks(range(smooth_loss(source$pair, range)), h, source$fold)) {
      dense <- block[1] == h
      cells <- .Call(riemdp_pld_cells, c(source$pair, range), c(block, if (dense) CELL_PARTS else 1))
      if (dense) {
        loss <- c(loss, cells[, 1])
        mass <- c(mass, cells[, 2])
      } else {
        far <- list(loss = c(far$loss, cells[, 1]), mass = c(far$mass, cells[, 2]))
      }
    }
    tails <- smooth_tails(source$pair, range)[["high"]]
  }
  if (source$fold) {
    keep <- loss > 0
    far_keep <- far$loss > 0
    atom_keep <- atoms$loss > 0
    image <- function(l, m) list(loss = c(l, -l), mass = c(m, m * exp(-l)))
    smooth <- image(loss[keep], mass[keep])
    far <- image(far$loss[far_keep], far$mass[far_keep])
    atoms <- image(atoms$loss[atom_keep], atoms$mass[atom_keep])
    rest <- 1 - sum(smooth$mass, far$mass, atoms$mass) - 2 * (tails + source$infinite) - 1e-14
    loss <- c(smooth$loss, if (rest > 0) 0)
    mass <- c(smooth$mass, if (rest > 0) rest)
  }
  # groups start at the end where the law may be steep: sampled losses are bounded on one side
  down <- !is.null(source$pair) && source$pair[4] == 1
  if (is.null(offset)) {
    offset <- if (source$fold) 0 else if (length(atoms$loss)) atoms$loss[which.max(log(atoms$mass) + theta * atoms$loss)] else {
      o <- order(loss, method = "radix")
      o <- o[mass[o] > 0]
      first_group(loss[o], mass[o], h, down)
    }
  }
  offset <- offset - h * round(offset / h)
  at <- out <- double()
  keep <- mass > 0
  if (any(keep)) {
    o <- order(loss, method = "radix")
    o <- o[keep[o]]
    merged <- merge_groups(loss[o], mass[o], h, offset, down)
    at <- merged$at
    out <- merged$mass
  }
  keep <- far$mass > 0
  if (any(keep)) { # rare losses of more than DENSE steps: to the point below
    at <- c(at, floor((far$loss[keep] - offset) / h))
    out <- c(out, far$mass[keep])
  }
  slip <- NULL
  keep <- atoms$mass > 0
  if (any(keep)) {
    l <- atoms$loss[keep] - offset
    m <- atoms$mass[keep]
    parts <- split_atoms(l, h)
    x <- pmax(0, l - parts$below * h)
    slip <- list(x = x, share = parts$share, loss = atoms$loss[keep], mass = m, rest_at = at, rest = out)
    at <- c(at, parts$below, parts$below + 1)
    out <- c(out, m * (1 - parts$share), m * parts$share)
  }
  sums <- sum_at(at, out)
  list(at = sums$at, mass = sums$mass, infinite = source$certain, offset = offset, slip = slip)
}

# log E[e^(theta L + t S)] of one step less log E[e^(theta L)], L the loss on the grid and S how far splitting has lifted it
slip_moment <- function(g, h, theta, t) {
  s <- g$slip
  scale <- max(theta * (s$loss + h), theta * (g$offset + h * s$rest_at), -1e300)
  low <- s$mass * (1 - s$share) * exp(theta * (s$loss - s$x) - scale)
  high <- s$mass * s$share * exp(theta * (s$loss - s$x + h) - scale)
  rest <- sum(s$rest * exp(theta * (g$offset + h * s$rest_at) - scale))
  total <- sum(low, high, rest)
  vapply(t, function(v) log1p(sum(low * expm1(-v * s$x), high * expm1(v * (h - s$x))) / total), 0)
}

# list(by, log_odds): with tilted probability below e^log_odds, relative to all, the composed loss is lifted by more than `by`
slip_bound <- function(slips, times, h, theta, log_odds) {
  moved <- vapply(slips, function(g) any(g$slip$share > 0), NA)
  if (!any(moved)) return(list(by = 0, log_odds = -Inf))
  slips <- slips[moved]
  times <- times[moved]
  most <- sum(times * vapply(slips, function(g) max((h - g$slip$x)[g$slip$share > 0]), 0))
  t <- 2^seq(-4, 4, 0.5) * sqrt(-2 * log_odds / sum(times)) / h * 2
  t <- t[t * h < 500]
  log_moment <- Reduce(`+`, Map(function(g, k) k * slip_moment(g, h, theta, t), slips, times))
  by <- (log_moment * (1 + 1e-9) + 1e-12 * sum(times) * (1 + t * h) - log_odds) / t
  if (min(by) >= most) log_odds <- -Inf
  list(by = min(by, most) + 2 * PLD_SLACK * h * sum(times), log_odds = log_odds)
}

# sorted outcomes on the grid through `offset`
merge_groups <- function(loss, mass, h, offset, down) {
  l <- loss - offset
  first <- floor(l[1] / h) - 1
  bins <- ceiling(l[length(l)] / h) - first + 1
  if (!is.finite(bins) || bins > 4e7) spread_too_far()
  out <- .Call(riemdp_pld_merge, l, mass, c(h, first, bins, down))
  list(at = first + 0:bins, mass = out)
}

# Loss of the first merged outcome, which lies half a step before its own end: later groups then are half a step wide to either
# side as well, where the law is smooth. The grid goes through it.
first_group <- function(loss, mass, h, down) {
  n <- length(loss)
  i <- if (down) rev(which(loss > loss[n] - 4 * h)) else which(loss < loss[1] + 4 * h)
  x <- loss[i] - loss[i[1]]
  merged <- -log(cumsum(mass[i] * exp(-x)) / cumsum(mass[i]))
  half <- which(abs(x - merged) >= 0.5 * h)
  k <- if (length(half)) half[1] else max(which(abs(x) <= 0.85 * h))
  loss[i[1]] + merged[k]
}

# ---- composition --------------------------------------------------------------------------------------------------------------

# absolute error of one transform of masses that sum to 1
fft_error <- function(n) 8 * log2(n + 1) * .Machine$double.eps

# Composed law in a window: list(h, first, mass (tilted), error (each mass's rounding), log_scale (of the untilted mass at loss 0),
# infinite, out_high, out_low (probability of the tilted law beyond)).
pld_compose <- function(sources, times, plan, upper, h, couple = FALSE) {
  units <- unlist(lapply(sources, `[[`, "unit"))
  alone <- length(units) == 1 && length(sources) == 1
  common <- common_step(units, h)
  if (!is.null(common)) h <- common
  exact <- alone && is.null(sources[[1]]$pair) # atoms alone: nothing is rounded
  # the tilt blows up rounding by e^(theta h) from point to point
  if (exact) plan$theta <- min(plan$theta, 5 / units)
  window <- tilted_window(plan, upper, if (exact) 0 else h)
  low <- min(window$low, plan$target) - 2 * h
  width <- max(window$high, plan$target) - low + 4 * h
  least <- width / PLD_POINTS
  if (h < least) {
    h <- least
    common <- NULL
  }
  origin <- if (upper) 0 else NULL
  if (alone) {
    h <- if (exact) units else units / max(1, ceiling(units / h))
    origin <- sources[[1]]$origin
  }
  # powers of two only: R's transform is far less accurate with other factors
  free <- !alone && is.null(common)
  n <- 2^ceiling(log2(max(64, width / h)) - if (free) 0.25 else 0)
  if (free) h <- max(width / n, least)
  unit <- if (couple && free) commonest_unit(sources, times)
  if (!is.null(unit) && unit > h) h <- unit / floor(unit / h)
  if (n > 2 * PLD_POINTS) {
    abort_riemdp("unpriced", "the losses spread too far for a grid as fine as this answer needs.")
  }
  theta <- plan$theta
  half <- n %/% 2 + 1
  total <- NULL
  log_scale <- log_high <- log_low <- 0
  log_finite <- 0
  relative <- log_most <- shift <- 0
  slips <- list()
  jumps <- !is.null(plan$cut)
  lifts <- complex(half)
  wrong_lifts <- log_all <- double(half)
  bulk_tilts <- if (jumps) max(theta, 1 / plan$target) * 2^(-1:10)
  bulk_moment <- 0
  for (i in seq_along(sources)) {
    g <- if (upper) grid_above(sources[[i]], h, plan$tail, plan$low, origin) else
      grid_below(sources[[i]], h, plan$tail, plan$low, origin, couple, theta)
    if (!is.null(g$slip)) slips <- c(slips, list(c(g, times = times[i])))
    at <- g$offset / h + g$at
    shift <- shift + times[i] * g$offset
    l <- log(g$mass) + theta * h * at # log 0 = -Inf is meant
    top <- max(l)
    w <- exp(l - top)
    size <- sum(w)
    moment <- top + log(size)
    shifted <- function(s) log_sum(l + s * h * at) - moment
    log_high <- log_high + times[i] * shifted(window$high_tilt)
    log_low <- log_low + times[i] * shifted(-window$low_tilt)
    log_scale <- log_scale + times[i] * moment
    log_finite <- log_finite + times[i] * log1p(-g$infinite)
    w <- w / size
    jump <- if (jumps) h * at > plan$cut else FALSE
    bulk <- !jump
    z <- stats::fft(wrap(w[bulk], g$at[bulk], n))[seq_len(half)]
    size <- Mod(z)
    if (jumps) {
      bulk_moment <- bulk_moment + times[i] * if (any(bulk)) log_moment(list(loss = h * at[bulk], log_mass = log(g$mass[bulk])), bulk_tilts) else -Inf
      x <- if (any(jump)) stats::fft(wrap(w[jump], g$at[jump], n))[seq_len(half)] / z else complex(half)
      far <- Mod(x)
      lifts <- lifts + times[i] * complex(real = 0.5 * log1p(pmax(2 * Re(x) + far^2, -0.999)), imaginary = atan2(Im(x), 1 + Re(x)))
      wrong_lifts <- wrong_lifts + times[i] * (2.2 * fft_error(n) * (sum(w[jump]) + far) / size + 8 * .Machine$double.eps * far)
      wrong_lifts[!(far < 0.5)] <- Inf
      log_all <- log_all + times[i] * log(size * (1 + far) + 2 * fft_error(n))
    }
    relative <- relative + times[i] * (fft_error(n) / pmax(size, 1e-300) + 8 * .Machine$double.eps)
    log_most <- log_most + times[i] * log(size + fft_error(n))
    power <- if (times[i] == 1) list(log(size), Arg(z)) else list(times[i] * log(size), times[i] * Arg(z))
    total <- if (is.null(total)) power else list(total[[1]] + power[[1]], total[[2]] + power[[2]])
  }
  size <- exp(total[[1]])
  # of frequencies below rounding only the size is known
  rough <- which(relative >= 0.1)
  wrong <- size * relative * 1.1
  wrong[rough] <- size[rough] + exp(pmin(log_most[rough], 0))
  z <- complex(modulus = size, argument = total[[2]])
  z[size == 0] <- 0
  if (jumps) {
    # B ((1 + J/B)^times - 1) of bulk B and jumps J
    lift <- complex(real = expm1(Re(lifts)) * cos(Im(lifts)) - 2 * sin(Im(lifts) / 2)^2, imaginary = exp(Re(lifts)) * sin(Im(lifts)))
    wrong <- size * (Mod(lift) * (1.1 * relative + 16 * .Machine$double.eps) + 1.2 * exp(Re(lifts)) * wrong_lifts)
    z <- z * lift
    rough <- which(!(relative < 0.1 & wrong_lifts < 0.1 & is.finite(wrong)))
    wrong[rough] <- 2 * exp(pmin(log_all[rough], 0.5))
    z[rough] <- 0
    size <- Mod(z)
  }
  full <- c(z, Conj(rev(z[seq_len(n - half) + 1])))
  mass <- Re(stats::fft(full, inverse = TRUE)) / n
  error <- 2 * sum(wrong) / n + fft_error(n) * 2 * sum(size) / n
  slip <- if (length(slips)) slip_bound(slips, vapply(slips, `[[`, 0, "times"), h, theta, -14 - log1p(theta * plan$sd)) else
    list(by = 0, log_odds = -Inf)
  first <- floor((low - shift) / h)
  low <- shift + first * h
  list(h = h, loss = low + h * (seq_len(n) - 1), mass = if (first %% n == 0) mass else mass[c((first %% n + 1):n, seq_len(first %% n))], error = error,
       rounding = PLD_ROUNDING[1] + PLD_ROUNDING[2] * plan$steps, log_scale = log_scale, theta = theta, infinite = -expm1(log_finite), high = low + n * h, slip = slip,
       range = spread_of(sources, plan$tail, plan$low), bulk = if (jumps) list(tilts = bulk_tilts, moment = bulk_moment),
       log_out_high = log_high - window$high_tilt * (low + n * h), log_out_low = log_low + window$low_tilt * low)
}

# the unit of the source that is taken most often
commonest_unit <- function(sources, times) {
  some <- !vapply(sources, function(source) is.null(source$unit), NA)
  if (any(some)) sources[some][[which.max(times[some])]]$unit
}

# a step near h of which all units are multiples, so that no atom has to be moved; NULL where there is none
common_step <- function(units, h) {
  if (length(units) < 2) return(NULL)
  m <- seq_len(min(1e5, ceiling(30 * max(units) / h)))
  step <- max(units) / m
  fits <- Reduce(`&`, lapply(units, function(u) abs(u / step - round(u / step)) < 1e-10 * u / step & round(u / step) >= 1))
  fine <- which(fits & step <= 1.5 * h)
  if (length(fine)) step[fine[1]]
}

# the widest range of losses of one step
spread_of <- function(sources, tail, low) {
  max(vapply(sources, function(source) {
    diff(range(source$loss, if (!is.null(source$pair)) smooth_loss(source$pair, smooth_range(source$pair, tail, low))))
  }, 0))
}

# masses at whole numbers modulo n
wrap <- function(w, at, n) {
  at <- at %% n
  out <- double(n)
  if (anyDuplicated(at)) {
    sums <- sum_at(at, w)
    at <- sums$at
    w <- sums$mass
  }
  out[at + 1] <- w
  out
}

# delta at the grid's own losses, from above or below, as far as it is of use: list(loss, delta)
pld_profile <- function(d, upper, center) {
  loss <- d$loss
  keep <- if (loss[1] >= center - 200) TRUE else loss >= center - 200
  x <- loss[keep] - center
  mass <- if (upper) d$mass[keep] + d$error else pmax(0, d$mass[keep] - d$error)
  log_scale <- d$log_scale - d$theta * center
  # sum of w (1 - e^(loss - theirs)) over what lies above, from the top down by sums without cancellation
  w <- rev(mass * exp(-d$theta * x))
  above <- c(0, cumsum(w)[-length(w)])
  inner <- rev(as.vector(stats::filter(-expm1(-d$h) * above, exp(-d$h), "recursive")))
  scale <- exp(pmin(log_scale, 700))
  beyond <- if (upper) exp(pmin(d$log_out_high + d$log_scale - d$theta * d$high, 0)) else
    exp(pmin(logs_add(d$log_out_high, d$log_out_low) + d$log_scale - d$theta * loss[keep], 700))
  delta <- scale * inner * (1 + if (upper) d$rounding else -d$rounding)
  # where splitting has lifted losses by more than the answer allows for: (1 - e^-y)_+ <= c e^(theta y)
  if (!upper && d$slip$log_odds > -Inf) {
    c <- if (d$theta > 0) d$theta * log(d$theta) - (1 + d$theta) * log1p(d$theta) else 0
    beyond <- beyond + exp(pmin(c + d$slip$log_odds + d$log_scale - d$theta * loss[keep], 700)) * (1 + d$rounding)
  }
  if (upper && !is.null(d$bulk)) { # what was left out: Chernoff's bound, one tilt for all
    best <- which.min(d$bulk$moment - d$bulk$tilts * center)
    beyond <- beyond + exp(pmin(d$bulk$moment[best] - d$bulk$tilts[best] * loss[keep], 0)) * (1 + d$rounding)
  }
  delta <- if (upper) delta + beyond + d$infinite else delta - beyond + d$infinite
  delta[!is.finite(delta)] <- if (upper) 1 else 0
  list(loss = loss[keep], delta = pmin(pmax(delta, 0), 1))
}

logs_add <- function(a, b) pmax(a, b) + log1p(exp(-abs(a - b)))

# epsilon at delta on a curve that is linear in e^epsilon between grid points: the largest at which it reaches delta, since far
# below the answer the untilted rounding hides the curve. NA where nothing in the window is known to be above delta, or all is.
grid_epsilon <- function(profile, delta, upper) {
  last <- max(c(0, which(profile$delta > delta)))
  if (last == 0 || last == length(profile$delta)) return(if (upper && last == 0) profile$loss[1] else NA)
  l <- profile$loss[last]
  h <- profile$loss[last + 1] - l
  share <- (profile$delta[last] - delta) / (profile$delta[last] - profile$delta[last + 1])
  l + log1p(share * expm1(h))
}

grid_delta <- function(profile, epsilon) {
  i <- findInterval(epsilon, profile$loss)
  n <- length(profile$loss)
  if (i == 0 || i >= n) return(NA)
  h <- profile$loss[i + 1] - profile$loss[i]
  share <- expm1(epsilon - profile$loss[i]) / expm1(h)
  (1 - share) * profile$delta[i] + share * profile$delta[i + 1]
}

# ---- questions ----------------------------------------------------------------------------------------------------------------

has_poisson <- function(event) {
  (event$type == "poisson" && event$parameters$q < 1) || any(vapply(event$children, has_poisson, NA))
}

# list(sources, times) for a direction
pld_sources <- function(event, direction, upper) {
  parts <- event_parts(event)
  parts <- do.call(c, lapply(parts, function(part) { # a whole sample, or parallel parts, may be composed themselves
    while (part$event$type %in% c("poisson", "sample") && part$event$parameters$q == 1) part$event <- part$event$children[[1]]
    if (part$event$type == "parallel") {
      inner <- dearest(part$event)
      twice <- if (part$event$parameters$keys == "private") 2 else 1
      if (twice == 2 && has_poisson(inner)) unpriced(part$event, "privacy-loss distributions", "a record leaves one sampled part and enters another")
      return(event_parts(inner, part$times * twice))
    }
    if (part$event$type == "compose") event_parts(part$event, part$times) else list(part)
  }))
  times <- vapply(parts, `[[`, 0, "times")
  # Gaussians compose to one
  mus <- lapply(parts, function(part) if (part$event$type %in% c("gaussian", "gdp")) gaussian_step(part$event))
  flat <- !vapply(mus, is.null, NA)
  sources <- lapply(parts[!flat], function(part) pld_part(part$event, direction, upper))
  times <- times[!flat]
  if (any(flat)) {
    mu <- sqrt(sum(vapply(parts[flat], `[[`, 0, "times") * unlist(mus[flat])^2))
    if (mu > 0 || !length(sources)) {
      sources <- c(sources, list(if (mu > 0) pld_source(pair = c(0, mu, 1, 0)) else atoms_pure(0)))
      times <- c(times, 1)
    }
  }
  list(sources = sources, times = times)
}

pld_directions <- function(event) if (has_poisson(event)) c("leave", "enter") else "both"

# a loss is off by PLD_SLACK of a grid step, or by rounding where one step's losses reach far
pld_slack <- function(d, steps) PLD_SLACK * max(d$h, d$range * 2^-22) * steps

# one bound for one direction; `step` overrides the grid
pld_answer <- function(parts, plan, upper, delta = NULL, epsilon = NULL, step = NULL, couple = FALSE) {
  if (!is.null(epsilon) && plan$log_delta < -680) { # Chernoff's bound leaves nothing
    infinite <- -expm1(sum(parts$times * log1p(-vapply(parts$sources, `[[`, 0, "infinite"))))
    return(list(value = if (upper) 1e-290 + infinite else 0, h = NA))
  }
  h <- if (!is.null(step)) step else if (couple) couple_step(parts, plan, is.null(delta)) else grid_step(plan, is.null(delta))
  whole <- plan
  if (plan$known && plan$target > 0) plan <- with_jumps(plan, parts$times)
  d <- pld_compose(parts$sources, parts$times, plan, upper, h, couple)
  # the cut divides by the bulk's transform, which may be near 0 where a part is taken few times
  if (!is.null(plan$cut) && d$error * length(d$mass) > 1e-6) d <- pld_compose(parts$sources, parts$times, whole, upper, h, couple)
  profile <- pld_profile(d, upper, plan$target)
  slack <- pld_slack(d, plan$steps) + if (upper) 0 else d$slip$by
  if (is.null(epsilon)) {
    value <- grid_epsilon(profile, delta, upper)
    if (is.na(value)) {
      # above: infinite losses alone may exceed delta; below: smaller than the window shows
      value <- if (upper) Inf else 0
    }
    value <- if (upper) value + slack else value - slack
    list(value = max(0, value), h = d$h)
  } else {
    value <- grid_delta(profile, epsilon + if (upper) -slack else slack)
    if (is.na(value)) value <- if (upper) 1 else 0
    list(value = value, h = d$h)
  }
}

# log of how far Chernoff's bound is above delta, for smooth sums
plan_excess <- function(plan) log(max(1, 2.5 * plan$sd * plan$theta * (plan$theta + 1)))

# bound of epsilon (delta) from the plan's moments, to skip the direction that can't matter
plan_bound <- function(plan, delta = NULL, epsilon = NULL) {
  a <- plan$theta + 1
  v <- plan$K(plan$theta) / plan$theta
  extra <- sum(vapply(plan$atoms, `[[`, 0, "infinite"))
  if (extra > 0) return(Inf)
  if (is.null(epsilon)) epsilon_balle(a, v, delta * (1 - 1e-6)) * (1 + 1e-6) + 1e-9 else delta_balle(a, v, epsilon) * (1 + 1e-5)
}

# `near`: an epsilon near the answer for `delta`, if one is known
pld_bound <- function(event, upper, delta = NULL, epsilon = NULL, tol = 1e-4, step = NULL, near = NULL, couple = FALSE) {
  tries <- lapply(pld_directions(event), function(direction) {
    parts <- pld_sources(event, direction, upper)
    plan <- pld_plan(parts$sources, parts$times, delta, if (is.null(near)) epsilon else near, tol)
    list(parts = parts, plan = plan, bound = plan_bound(plan, delta, epsilon))
  })
  tries <- tries[order(-vapply(tries, `[[`, 0, "bound"))]
  best <- list(value = 0, h = NA)
  for (i in seq_along(tries)) {
    if (i > 1 && tries[[i]]$bound <= best$value) next
    a <- pld_answer(tries[[i]]$parts, tries[[i]]$plan, upper, delta, epsilon, step, couple)
    for (round in 1:4) {
      # bounded losses, or rare large ones: the moments' answer, and the grid made for it, are far from the true one
      plan <- tries[[i]]$plan
      if (is.null(delta) || !is.null(near) || !is.finite(a$value) || a$value <= 0) break
      if (a$value > 0.9 * plan$target && plan$theta * (plan$target - a$value) < 3 + plan_excess(plan)) break
      tries[[i]]$plan <- pld_plan(tries[[i]]$parts$sources, tries[[i]]$parts$times, delta, a$value, tol)
      if (abs(log(tries[[i]]$plan$theta / plan$theta)) < 0.3 && grid_step(tries[[i]]$plan, FALSE) > 0.7 * grid_step(plan, FALSE)) break
      again <- pld_answer(tries[[i]]$parts, tries[[i]]$plan, upper, delta, epsilon, step, couple)
      if (upper == (again$value < a$value)) a <- again
    }
    if (a$value >= best$value) best <- a
  }
  best
}

# the whole distribution on a grid, for steps inside a sample: untilted, with mass below the window moved up
pld_distribution <- function(event, direction, upper) {
  parts <- pld_sources(event, direction, upper)
  plan <- pld_plan(parts$sources, parts$times, delta = 1e-10)
  plan$theta <- 0
  aim <- colSums(parts$times * t(vapply(plan$atoms, tilted, double(2), 0)))
  plan$sd <- sqrt(aim[2])
  plan$target <- aim[1]
  d <- pld_compose(parts$sources, parts$times, plan, upper, plan$sd / 500)
  loss <- d$loss
  mass <- pmax(0, if (upper) d$mass + d$error else d$mass - d$error)
  scale <- exp(d$log_scale) * (1 + if (upper) d$rounding else -d$rounding)
  slack <- pld_slack(d, plan$steps)
  loss <- loss + if (upper) slack else -slack
  out <- min(1, exp(logs_add(d$log_out_high, d$log_out_low)))
  if (!upper) { # what was wrapped round may have landed at the top
    over <- pmax(0, cumsum(rev(mass)) - out)
    mass <- rev(pmin(rev(mass), over))
    out <- 0
  }
  list(h = d$h, loss = loss, mass = scale * mass, infinite = min(1, d$infinite + out))
}

pld_epsilon <- function(event, delta) {
  need_delta(event, delta, "pld")
  pld_bound(event, TRUE, delta = delta)
}
pld_delta <- function(event, epsilon) {
  a <- pld_bound(event, TRUE, epsilon = epsilon)
  a$value <- min(1, a$value)
  a
}
