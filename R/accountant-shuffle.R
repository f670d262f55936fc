# n shuffled reports whose randomiser has a stated total variation between its laws (proofs/accounting.md, section 1).
# With e = e^epsilon0 there are the counts A and B of the two parts that tell the record's answers apart, and K of what
# both answers share: one record in n trials. The pair is M(A, B, K) (e A + B + common K)/n against
# M(A, B, K) (A + e B + common K)/n.

# e^-epsilon0 is beyond doubles from here on
SHUFFLE_EPSILON_MOST <- 700

# the grid of K, over the spread of a sum at the loss that matters, and over its own: with few clones their coins say
# nothing of how fine it must be
SHUFFLE_FINE <- 1 / 32
SHUFFLE_COARSE <- 2
SHUFFLE_FEW <- 400

# What is known of a shuffle besides its epsilon0, or NULL where that is nothing: list(epsilon, n, variation, clone
# (chance of A or B), common (over e), chance (of K)). More clones and a larger common ratio are worse: rounded up.
shuffle_told <- function(event) {
  p <- event$parameters
  epsilon <- event$children[[1]]$parameters$epsilon
  share <- if (is.null(p$variation)) 1 else outwards(p$variation / tanh(epsilon / 2))
  if (share >= 1) return(NULL)
  common <- if (is.null(p$common)) 1 else min(1, outwards(exp(log(p$common) - epsilon)))
  clone <- share * clone_chance(epsilon)
  # (1 - share)/e over `common`; the sum of all chances is at most 1
  chance <- min((1 - share) * exp(-epsilon) / common, 1 - clone)
  list(epsilon = epsilon, n = p$n, variation = p$variation, clone = clone, common = common, chance = chance)
}

# The law of A + B without what has a chance below `tiny`, and that of K given it on a grid: a law under which no convex
# function that falls has a lower mean. list(clones, chance, at, share (rows for clones))
shuffle_law <- function(told, tiny, most) {
  others <- told$n - 1
  clones <- max(1, stats::qbinom(tiny, others, told$clone)):
    (stats::qbinom(tiny, others, told$clone, lower.tail = FALSE) + 1)
  rate <- min(1, told$chance / (1 - told$clone))
  left <- told$n - clones
  from <- stats::qbinom(tiny, min(left), rate)
  to <- max(from, stats::qbinom(tiny, max(left), rate, lower.tail = FALSE))
  step <- shuffle_step(told, rate, (to - from) * length(clones) / most)
  at <- unique(c(0, seq(from, to + step - 1, by = step)))
  list(clones = clones, chance = stats::dbinom(clones, told$n, told$clone), at = at,
       share = spread_counts(left, rate, at))
}

# How far the points may be apart: tightness alone depends on it. `least` is what there is room for where that isn't
# coarse.
shuffle_step <- function(told, rate, least) {
  clones <- max(1, told$n * told$clone)
  shared <- told$n * told$chance
  tells <- -expm1(-told$epsilon)
  far <- shuffle_far(told)
  wanted <- SHUFFLE_FINE * tells * (1 + exp(far)) * sqrt(clones) / 2 / (told$common * expm1(far))
  spread <- sqrt(shared * (1 - rate))
  if (clones < SHUFFLE_FEW) wanted <- min(wanted, spread / 8)
  if (least < 0.1) 1 else max(1, floor(min(max(wanted, least), SHUFFLE_COARSE * spread)))
}

# the loss of counts that are six standard deviations out
shuffle_far <- function(told) {
  clones <- max(1, told$n * told$clone)
  other <- (1 + exp(-told$epsilon)) * clones / 2 + told$common * told$n * told$chance
  min(told$epsilon, -6 * expm1(-told$epsilon) * sqrt(clones) / other)
}

# Binomial laws of `size` trials, a row each, with the numbers between two points split between them so that the mean
# stays, or falls by what rounding may do; those beyond the last point are taken for it. Tails are good to some 1e-13 of
# themselves.
spread_counts <- function(size, rate, at) {
  held <- cell_chances(size, rate, at)
  mass <- pmax(held$mass, 0) + 4e-13 * held$tail
  points <- length(at)
  if (points == 1) return(mass)
  # E(K; cell) = size rate P(a number less of one trial less is in it)
  inner <- cell_chances(pmax(size - 1, 0), rate, at - 1)
  above <- size * rate * (inner$mass - 4e-13 * inner$tail) - mass * rep(at, each = length(size))
  moved <- pmin(pmax(above / rep(c(diff(at), 1), each = length(size)), 0), mass)
  moved[, points] <- 0
  mass - moved + cbind(0, moved[, -points, drop = FALSE])
}

# Chances of the numbers from each point up to the next, or to any: list(mass, tail (the one that it is a part of)),
# rows for sizes. Above the mean they are differences of upper tails.
cell_chances <- function(size, rate, at) {
  right <- at >= mean(size) * rate
  tails <- matrix(0, length(size), length(at) + 1)
  for (i in seq_along(at)) tails[, i] <- stats::pbinom(at[i] - 1, size, rate, lower.tail = !right[i])
  mass <- tail <- tails[, -1, drop = FALSE]
  for (i in seq_along(at)) {
    next_one <- if (i == length(at)) 0 else if (right[i] == right[i + 1]) tails[, i + 1] else 1 - tails[, i + 1]
    mass[, i] <- if (right[i]) tails[, i] - next_one else if (i == length(at)) 1 - tails[, i] else next_one - tails[, i]
    tail[, i] <- if (right[i]) tails[, i] else if (i == length(at)) 1 else next_one
  }
  list(mass = mass, tail = tail)
}

# The record's own report, all others being told: a bound for any n
shuffle_alone <- function(told, epsilon) {
  min(1, told$variation * (expm1(epsilon - told$epsilon) / expm1(-told$epsilon)) * (1 + 1e-14))
}

# E(X_1 + ... + X_n)_+ / n, summed over the clones and what is shared
told_delta <- function(told, epsilon) {
  if (epsilon >= told$epsilon) return(0)
  alone <- shuffle_alone(told, epsilon)
  if (told$epsilon > SHUFFLE_EPSILON_MOST || told$epsilon < 1e-15) return(alone)
  tiny <- 1e-20
  law <- shuffle_law(told, tiny, SHUFFLE_TERMS)
  clones <- law$clones[row(law$share)]
  shared <- told$common * expm1(epsilon) * law$at[col(law$share)] # what K takes off, over e
  gain <- -expm1(epsilon - told$epsilon)
  loss <- expm1(epsilon) - expm1(-told$epsilon)
  # the best set is A > T, that is B up to this number, where the next one counts as nothing
  most <- floor((gain * clones * (1 + 1e-14) - shared * (1 - 1e-14)) / (gain + loss))
  # of clones - 1 coins: one is the one that is counted
  below <- stats::pbinom(most, clones - 1, 0.5)
  under <- stats::pbinom(most - 1, clones - 1, 0.5)
  first <- clones * gain * below
  second <- clones * loss * under + shared * (below + under)
  # binomial tails are good to some 1e-13 of themselves
  value <- pmax(first - second, 0) + 1e-12 * (first + pmin(second, first))
  weight <- law$chance * (exp(told$epsilon) / (2 * told$n))
  min(alone, sum(weight * rowSums(law$share * matrix(value, length(law$clones)))) * (1 + 1e-9) + 2 * tiny)
}

SHUFFLE_TERMS <- 1e5
