# Where privacy losses come from: list(pair = smooth_pair() or NULL, loss, mass (atoms), infinite (mass of
# infinite loss), fold, unit). `fold` means that only losses above 0 are meant and the rest is their mirror image; atoms
# are origin plus multiples of `unit` if that isn't NULL. Of `infinite`, which may hold what was truncated, `certain` is
# real.

PLD_POINTS <- 2^22

PLD_STEPS <- 1e9

SHUFFLE_ATOMS <- 20000

# relative error of delta beside those of masses and of their tilted sums (proofs/accounting.md, section 6)
PLD_ROUNDING <- 1e-9

# error of a loss, in grid steps: atoms that are taken for grid points, rounding of the grid itself
PLD_SLACK <- 1e-9

# largest losses of a step, and the Gaussian steps (mu) that have them
PLD_REACH <- 5e5

PLD_GAUSSIAN_MOST <- 900

# Two laws with densities: of this size, sampled with probability q (rest is 1 - q), P and Q changed round where a
# record enters. Of normal laws P is the mixture of those at `moves`, of which the size is the largest.
smooth_pair <- function(family, size, q = 1, enter = FALSE, rest = 1 - q, moves = size, weights = 1) {
  if (q < .Machine$double.xmin) {
    abort_riemdp("unpriced", "a sample that small has no privacy-loss distribution in doubles.")
  }
  list(family = family, size = size, q = q, enter = enter, rest = rest, moves = as.double(moves),
       weights = as.double(weights))
}

pld_source <- function(pair = NULL, loss = double(), mass = double(), infinite = 0, fold = FALSE, unit = NULL,
                       origin = 0, certain = 0) {
  list(pair = pair, loss = loss, mass = mass, infinite = infinite, fold = fold, unit = unit, origin = origin,
       certain = certain)
}

atoms_pure <- function(epsilon, delta = 0) {
  pld_source(loss = c(-epsilon, epsilon), mass = (1 - delta) * c(stats::plogis(-epsilon), stats::plogis(epsilon)),
             infinite = delta, certain = delta, unit = if (epsilon > 0) epsilon)
}

# a stated pair of masses; outcomes that the first law doesn't have show nothing of it
atoms_pair <- function(law) {
  held <- law$p > 0 & law$q > 0
  tells <- sum(law$p[law$q == 0])
  pld_source(loss = log(law$p[held]) - log(law$q[held]), mass = law$p[held], infinite = tells, certain = tells)
}

# Noise on the integers with mass proportional to r^|x|, r = e^-t, moved by whole steps: losses (m - 2 x) t for x from 0
# to m, where all x below 0 count as 0 and all above m as m. The law is log-concave, so the largest move is the worst.
atoms_discrete_laplace <- function(t, move) {
  if (move > 2e6) {
    abort_riemdp("unpriced", "discrete Laplace noise that moves by so many steps is priced by zCDP or Renyi DP.")
  }
  x <- 0:move
  mass <- exp(-t * x) * tanh(t / 2)
  mass[1] <- stats::plogis(t)
  mass[move + 1] <- exp(-t * (move - 1)) * stats::plogis(-t)
  keep <- mass > 0
  pld_source(loss = (move - 2 * x[keep]) * t, mass = mass[keep], infinite = if (all(keep)) 0 else 1e-300, unit = t)
}

# Noise on the integers with mass proportional to exp(-x^2/(2 sigma^2)), moved by whole steps: the loss is linear. The
# noise's law is log-concave, so the largest move is the worst one.
atoms_discrete_gaussian <- function(sigma, sensitivity, dimension) {
  if (dimension > 1) {
    abort_riemdp("unpriced",
                 paste("a discrete Gaussian in several dimensions has no privacy-loss distribution here: the worst",
                       "direction isn't known. zCDP and Renyi DP price it."))
  }
  move <- sensitivity
  reach <- ceiling(sigma * 38)
  if (reach + move > 2e6 || sigma < 1e-3) {
    abort_riemdp("unpriced", "a discrete Gaussian that wide or narrow is priced by zCDP or Renyi DP.")
  }
  x <- seq(-reach, reach) # noise of the first law, around `move`
  log_mass <- -x^2 / (2 * sigma^2)
  mass <- exp(log_mass) / sum(exp(log_mass))
  # log f(x)/f(x + move), where x is the noise
  loss <- (2 * x * move + move^2) / (2 * sigma^2)
  keep <- mass > 0
  pld_source(loss = loss[keep], mass = mass[keep], infinite = 1e-300, unit = move / (2 * sigma^2))
}

# With C ~ Bin(n - 1, clone_chance(epsilon)), A ~ Bin(C, 1/2) and one coin for the record: the pair
# (A + coin, C - A + 1 - coin) against (A + 1 - coin, C - A + coin)
atoms_shuffle <- function(n, epsilon) {
  p <- clone_chance(epsilon)
  s <- stats::plogis(epsilon)
  other <- stats::plogis(-epsilon)
  tiny <- 1e-30
  counts <- stats::qbinom(tiny, n - 1, p):stats::qbinom(tiny, n - 1, p, lower.tail = FALSE)
  parts <- lapply(counts, function(count) {
    a <- max(0, stats::qbinom(tiny, count, 0.5)):min(count + 1, stats::qbinom(tiny, count, 0.5, lower.tail = FALSE) + 1)
    up <- stats::dbinom(a - 1, count, 0.5)
    stay <- stats::dbinom(a, count, 0.5)
    weight <- stats::dbinom(count, n - 1, p)
    first <- s * up + other * stay
    second <- other * up + s * stay
    cbind(log(first / second), weight * first)
  })
  atoms <- do.call(rbind, parts)
  atoms <- atoms[atoms[, 2] > 0, , drop = FALSE]
  far <- atoms[, 1] == Inf
  pld_source(loss = atoms[!far, 1], mass = atoms[!far, 2],
             infinite = min(1, sum(atoms[far, 2]) + 2 * tiny * (length(counts) + 1)))
}

laplace_source <- function(e, q, enter) {
  pld_source(pair = smooth_pair("laplace", e, q, enter), loss = c(-e, e), mass = c(exp(-e) / 2, 1 / 2),
             unit = if (q == 1) e)
}

# A move of 0 is what a Poisson sample without the record is: list(moves (the others, over the noise), weights (of them,
# summing to 1), q (the chance that it is one of them), rest)
mixture_parts <- function(p) {
  probabilities <- p$probabilities / sum(p$probabilities)
  held <- p$moves > 0 & probabilities > 0
  q <- sum(probabilities[held])
  list(moves = pmax(p$moves[held] / p$noise_multiplier, 1e-300), weights = probabilities[held] / q, q = min(1, q),
       rest = sum(probabilities[p$moves == 0]))
}

# a Poisson sample of it, with probability `share`, is such a mixture too
mixture_source <- function(p, enter, share = 1) {
  parts <- mixture_parts(p)
  pair <- smooth_pair("gaussian", max(parts$moves), share * parts$q, enter, 1 - share + share * parts$rest, parts$moves,
                      parts$weights)
  pld_source(pair = pair)
}

# a sample of a step without noise: what a record's own presence shows, with probability q
sampled_openly <- function(q, enter) {
  if (enter) {
    pld_source(loss = -log1p(-q), mass = 1)
  } else {
    pld_source(loss = log1p(-q), mass = 1 - q, infinite = q, certain = q)
  }
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

# z outside leaves at most `tail` where the loss is large, and `low` where it is small: that side may be cut more
# roughly
smooth_range <- function(pair, tail, low = tail) {
  if (pair$family == "laplace") return(c(-pair$size, pair$size))
  if (pair$enter) c(stats::qnorm(tail), -stats::qnorm(low)) else c(stats::qnorm(low), pair$size - stats::qnorm(tail))
}

smooth_loss <- function(pair, z) {
  if (pair$family == "exchange") {
    one <- function(z) log_mix(pair$size * z - pair$size^2 / 2, pair$q)
    return(one(z) - one(-z))
  }
  x <- if (pair$family == "laplace") z else if (length(pair$moves) == 1) pair$size * z - pair$size^2 / 2 else
    Reduce(logs_add, Map(function(move, weight) log(weight) + move * (z - move / 2), pair$moves, pair$weights))
  mixed <- if (pair$rest == 0) x else log_mix(x, pair$q, pair$rest)
  if (pair$enter) -mixed else mixed
}

smooth_density <- function(pair, z) {
  q <- pair$q
  if (pair$family != "laplace") {
    second <- stats::dnorm(z)
    first <- normal_mixture(pair, stats::dnorm, z)
  } else {
    second <- exp(-(z + pair$size) / 2) / 4
    first <- exp((z - pair$size) / 2) / 4
  }
  if (pair$enter) second else pair$rest * second + q * first
}

# a function of the distance from each move, by the moves' weights
normal_mixture <- function(pair, f, z) {
  Reduce(`+`, Map(function(move, weight) weight * f(z - move), pair$moves, pair$weights))
}

# mass beyond the range, of the side where the loss is large and where it is small
smooth_tails <- function(pair, range) {
  if (pair$family == "laplace") return(c(high = 0, low = 0))
  q <- pair$q
  if (pair$enter) {
    return(c(high = stats::pnorm(range[1]), low = stats::pnorm(-range[2])))
  }
  beyond <- function(z) stats::pnorm(z, lower.tail = FALSE)
  c(high = pair$rest * beyond(range[2]) + q * normal_mixture(pair, beyond, range[2]),
    low = pair$rest * stats::pnorm(range[1]) + q * normal_mixture(pair, stats::pnorm, range[1]))
}

has_poisson <- function(event) {
  (event$type == "poisson" && event$parameters$q < 1) || any(vapply(event$children, has_poisson, NA))
}

source_reach <- function(source) {
  pair <- source$pair
  smooth <- if (is.null(pair)) 0 else if (pair$family != "laplace") pair$size^2 / 2 + 40 * pair$size else pair$size
  # how small the losses of a sample are, its share says as well
  max(0, abs(source$loss), if (smooth > 1) smooth else smooth * pair$q)
}

# steps whose pairs for leaving and entering aren't mirror images
two_sided <- function(event) {
  if (event$type %in% c("mixture", "allocation")) return(TRUE)
  (event$type == "pair" && event$adjacency == "add-remove") || any(vapply(event$children, two_sided, NA))
}

pld_directions <- function(event) if (has_poisson(event) || two_sided(event)) c("leave", "enter") else "both"

# all of the mass may tell all
lost_source <- function(source) is.null(source$pair) && !any(source$mass > 0)

free_source <- function(source) {
  is.null(source$pair) && all(source$loss == 0) && source$infinite == 0 && any(source$mass > 0)
}
