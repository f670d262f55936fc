# One of many steps by lot. With the record the step I is drawn by the first law of a pair, the others by the second, I
# uniform and secret: the likelihood ratio is the mean of independent ratios L_i under the second law. Its law is made
# by doubling, from above by splitting sums so that masses and means are kept, from below by conditional means: the mean
# of a convex function only grows, or only falls (proofs/accounting.md, section 1).

# What is left out at the low end of a law, which may count as often as there are steps, and at the high one, each time.
ALLOCATION_LOW <- 1e-36
ALLOCATION_HIGH <- 1e-31

# points of the last law, and of the first ones at least
ALLOCATION_POINTS <- 16384
ALLOCATION_LEAST <- 2048

ALLOCATION_FEW <- 500 # so few outcomes aren't merged

# The source of losses of `steps` steps, one of which holds the record, from that of one step: `source` is for leaving.
# `key` names it.
allocated_source <- function(source, steps, enter, upper, key) {
  if (max(0, abs(source$loss)) > 300) {
    abort_riemdp("unpriced", "losses that large have no privacy-loss distribution where steps are allocated by lot.")
  }
  if (source$fold || identical(source$pair$family, "exchange") || isTRUE(source$pair$enter)) {
    abort_riemdp("unpriced", "a step of that kind has no privacy-loss distribution where it is allocated by lot.")
  }
  law <- remember(sprintf("allocation %s %s %.0f", if (upper) "above" else "below", key, steps),
                  function() if (upper) allocation_above(source, steps) else allocation_below(source, steps))
  out <- if (upper) allocated_above(law, enter) else allocated_below(law, enter)
  # each mass is a product of as many masses, and a sum of as many numbers at each level
  out$rounding <- steps * mass_error(source) + law$levels * 4 * ALLOCATION_POINTS * .Machine$double.eps
  out
}

# points of a law of n of the steps: later sums weigh more
allocation_points <- function(n, steps) {
  max(ALLOCATION_LEAST, ALLOCATION_POINTS * min(1, n / steps)^0.25)
}

# the range of one step's losses, and what lies beyond under both laws: list(range (of z), loss, low, high (each c(p,
# q)))
allocation_ends <- function(source) {
  pair <- source$pair
  finite <- source$loss[source$mass > 0]
  if (is.null(pair)) return(list(loss = range(finite), low = c(0, 0), high = c(0, 0)))
  range <- smooth_range(pair, ALLOCATION_HIGH, ALLOCATION_LOW)
  tails <- smooth_tails(pair, range)
  second <- if (pair$family == "laplace") c(0, 0) else c(stats::pnorm(range[1]), stats::pnorm(-range[2]))
  list(range = range, loss = range(smooth_loss(pair, range), finite), low = c(tails[["low"]], second[1]),
       high = c(tails[["high"]], second[2]))
}

# ---- from above ------------------------------------------------------------------------------------------------------

# Laws from above: list(first, q (masses under the second law of the numbers e^(step (first + 0, 1, ...))), step, zero
# (its mass of 0), lost (what the mean may have beyond, of the first law's mass), moved (of what the second law has, how
# much was moved up, as often as it is taken), n)

# One step: cells are split between their ends.
allocation_term <- function(source, step, steps) {
  ends <- allocation_ends(source)
  first <- floor(ends$loss[1] / step) - 1
  bins <- ceiling(ends$loss[2] / step) + 2 - first
  mass <- double(bins + 1)
  if (!is.null(source$pair)) {
    mass <- .Call(riemdp_pld_cells, source$pair, ends$range, list(step = step, first = first, bins = bins, parts = 0))
  }
  if (length(source$loss)) {
    parts <- split_atoms(source$loss, step)
    sums <- sum_at(c(parts$below, parts$below + 1), c(source$mass * (1 - parts$share), source$mass * parts$share))
    i <- sums$at - first + 1
    mass[i] <- mass[i] + sums$mass
  }
  q <- mass * exp(-step * (first + 0:bins))
  # what only the second law has; beside a smooth pair there is nothing
  zero <- if (is.null(source$pair)) max(0, 1 - sum(q)) else 0
  held <- range(which(q > 0))
  q[held] <- q[held] + c(ends$low[2], ends$high[2])
  trim_above(list(first = first, q = q, step = step, zero = zero, lost = source$infinite + ends$high[1],
                  moved = steps * ends$low[2], n = 1), steps)
}

# Without the ends that hardly matter. High numbers are lowered to the highest that is kept, and what they had above is
# counted apart; low ones are raised to the lowest that is kept, which for a function that falls counts as if they were
# 0.
trim_above <- function(law, steps) {
  x <- law$step * (law$first + seq_along(law$q) - 1)
  p <- law$q * exp(x - log(law$n))
  m <- length(p)
  held <- which(law$q > 0)
  low <- max(held[1], 1 + sum(cumsum(law$q) <= ALLOCATION_LOW))
  high <- min(held[length(held)], m - sum(cumsum(rev(p)) <= ALLOCATION_HIGH))
  q <- law$q[low:high]
  if (high < m) {
    i <- (high + 1):m
    q[length(q)] <- q[length(q)] + sum(law$q[i])
    law$lost <- law$lost + sum(p[i])
  }
  if (low > 1) {
    more <- sum(law$q[1:(low - 1)])
    q[1] <- q[1] + more
    law$moved <- law$moved + more * steps / law$n
  }
  law$first <- law$first + low - 1
  law$q <- q
  law
}

# the logarithm of the sum of two numbers with these logarithms, in steps: c(a point below it, one above it)
steps_of_sum <- function(x, y, step) {
  at <- logs_add(x, y) / step
  c(floor(at) - 2, ceiling(at) + 2)
}

# Where most of a law lies: list(middle, sd) of x, by quantiles; far above there may be rare means with a large term.
bulk_of <- function(x, q) {
  at <- x[pmin(findInterval(c(0.16, 0.5, 0.84), cumsum(q) / sum(q)) + 1, length(x))]
  list(middle = at[2], sd = (at[3] - at[1]) / 2)
}

ALLOCATION_BULK <- 14 # in sd

# The law in two: list(dense, rare), the second on every `coarse`-th point only, or NULL. Numbers far above the bulk are
# split between these.
law_in_two <- function(law) {
  m <- length(law$q)
  bulk <- bulk_of(seq_len(m), law$q)
  cut <- ceiling(bulk$middle + ALLOCATION_BULK * max(bulk$sd, ALLOCATION_LEAST / 8))
  dense <- list(mass = law$q, first = law$first, coarse = 1)
  if (m - cut < ALLOCATION_POINTS) return(list(dense = dense))
  coarse <- 2^ceiling(log2((m - cut) / ALLOCATION_LEAST))
  at <- law$first + cut:(m - 1)
  q <- law$q[(cut + 1):m]
  below <- floor(at / coarse)
  share <- expm1((at - below * coarse) * law$step) / expm1(coarse * law$step)
  sums <- sum_at(c(below, below + 1), c(q * (1 - share), q * share))
  mass <- double(diff(range(sums$at)) + 1)
  mass[sums$at - sums$at[1] + 1] <- sums$mass
  dense$mass <- law$q[seq_len(cut)]
  list(dense = dense, rare = list(mass = mass, first = sums$at[1], coarse = coarse))
}

# the ends of a law's points
law_ends <- function(law) law$coarse * (law$first + c(0, length(law$mass) - 1))

# `out`, masses from the point `first` on, with those of sums of numbers of two laws (or of one, `b` NULL), `times`
# over, which are made on every `coarse`-th point; `refine` fine points are one step.
add_sums <- function(out, first, a, b, step, refine, coarse = 1, times = 1) {
  ends <- rbind(law_ends(a), law_ends(b %||% a)) * step
  span <- c(steps_of_sum(ends[1, 1], ends[2, 1], step * coarse / refine)[1],
            steps_of_sum(ends[1, 2], ends[2, 2], step * coarse / refine)[2])
  unit <- a$coarse # the first law has steps of its own
  a$coarse <- 1
  if (!is.null(b)) b$coarse <- b$coarse / unit
  q <- .Call(riemdp_allocation_spread, a, b, list(step = step * unit, refine = refine * unit / coarse,
                                                  first = span[1], bins = span[2] - span[1] + 1))
  held <- which(q > 0)
  i <- (span[1] + held - 1) * coarse - first + 1
  out[i] <- out[i] + times * q[held]
  out
}

# twice as many steps
double_above <- function(law, refine, steps) {
  m <- length(law$q)
  fine <- law$step / refine
  ends <- law$first + c(0, m - 1)
  two <- law_in_two(law)
  coarse <- two$rare$coarse %||% 1
  first <- if (law$zero > 0) ends[1] * refine else steps_of_sum(ends[1] * law$step, ends[1] * law$step, fine)[1]
  last <- steps_of_sum((ends[2] + coarse) * law$step, (ends[2] + coarse) * law$step, fine)[2] + 4 * coarse * refine
  q <- add_sums(double(last - first + 1), first, two$dense, NULL, law$step, refine)
  if (!is.null(two$rare)) {
    q <- add_sums(q, first, two$dense, two$rare, law$step, refine, times = 2)
    q <- add_sums(q, first, two$rare, NULL, law$step, refine, coarse * refine)
  }
  if (law$zero > 0) {
    i <- (ends[1]:ends[2]) * refine - first + 1
    q[i] <- q[i] + 2 * law$zero * law$q
  }
  trim_above(list(first = first, q = q, step = fine, zero = law$zero^2, lost = law$lost, moved = law$moved,
                  n = 2 * law$n), steps)
}

# one step more, on a coarser grid: it weighs little
add_above <- function(law, source, width, steps) {
  two <- law_in_two(law)
  coarse <- max(two$rare$coarse, 2^max(0, floor(log2(width / law$step / ALLOCATION_LEAST))))
  term <- allocation_term(source, law$step * coarse, steps)
  other <- list(mass = term$q, first = term$first, coarse = coarse)
  own <- law$first + c(0, length(law$q) - 1)
  far <- law_ends(other)
  zeros <- law$zero > 0 || term$zero > 0
  first <- if (zeros) min(own[1], far[1]) else steps_of_sum(own[1] * law$step, far[1] * law$step, law$step)[1]
  last <- steps_of_sum((own[2] + coarse) * law$step, far[2] * law$step, law$step)[2] + 4 * coarse
  q <- add_sums(double(last - first + 1), first, two$dense, other, law$step, 1)
  if (!is.null(two$rare)) q <- add_sums(q, first, two$rare, other, law$step, 1, two$rare$coarse)
  if (zeros) {
    i <- own[1]:own[2] - first + 1
    q[i] <- q[i] + term$zero * law$q
    i <- seq(far[1], far[2], by = coarse) - first + 1
    q[i] <- q[i] + law$zero * term$q
  }
  n <- law$n + 1
  trim_above(list(first = first, q = q, step = law$step, zero = law$zero * term$zero,
                  lost = (law$n * law$lost + term$lost) / n, moved = law$moved + term$moved, n = n), steps)
}

# how much finer the next law's points are to be: as many as are wanted where most of it lies
refinement <- function(law, steps) {
  want <- allocation_points(2 * law$n, steps)
  m <- length(law$q)
  bulk <- 2 * ALLOCATION_BULK * bulk_of(seq_len(m), law$q)$sd
  2^min(10, max(0, round(log2(max(want / m, if (bulk > 0) min(want / bulk, ALLOCATION_MANY / m))))))
}

ALLOCATION_MANY <- 1e6

allocation_above <- function(source, steps) {
  width <- max(diff(allocation_ends(source)$loss), 1e-12)
  law <- allocation_term(source, width / allocation_points(1, steps), steps)
  levels <- 1
  for (digit in binary_digits(steps)) {
    law <- double_above(law, refinement(law, steps), steps)
    if (digit == 1) law <- add_above(law, source, width, steps)
    levels <- levels + 1 + digit
  }
  c(law, levels = levels)
}

# Each level's numbers are off by 1e-15 of themselves at most (the split is exact for a number that near); places on the
# grid by the rounding of their logarithm.
allocated_above <- function(law, enter) {
  parts <- law_in_two(law) # rare numbers on fewer points
  x <- law$step * unlist(lapply(parts, function(part) part$coarse * (part$first + seq_along(part$mass) - 1)),
                         use.names = FALSE) - log(law$n)
  q <- unlist(lapply(parts, `[[`, "mass"), use.names = FALSE)
  off <- 2e-15 * law$levels + 4e-16 * max(abs(x), log(law$n))
  held <- q > 0
  source <- if (enter) {
    pld_source(loss = off - x[held], mass = q[held], infinite = law$zero + law$moved)
  } else {
    pld_source(loss = x[held] + off, mass = (q * exp(x + off))[held], infinite = law$lost)
  }
  source$unit <- law$step
  source$origin <- source$loss[which.max(source$mass)]
  source
}

# ---- from below ------------------------------------------------------------------------------------------------------

# Laws from below: list(q, value (ascending), certain (what the first law has where the second has nothing), n)

# one step: cells are merged, and so is what lies beyond them
term_below <- function(source, step) {
  ends <- allocation_ends(source)
  loss <- source$loss
  mass <- source$mass
  q <- mass * exp(-loss)
  if (!is.null(source$pair)) {
    first <- floor(ends$loss[1] / step) - 1
    bins <- ceiling(ends$loss[2] / step) + 1 - first
    cells <- .Call(riemdp_pld_cells, source$pair, ends$range, list(step = step, first = first, bins = bins, parts = 1))
    mass <- c(mass, cells[, 2], ends$low[1], ends$high[1])
    q <- c(q, cells[, 2] * exp(-cells[, 1]), ends$low[2], ends$high[2])
  } else {
    rest <- 1 - 1e-12 - sum(q)
    mass <- c(mass, 0)
    q <- c(q, max(0, rest))
  }
  held <- q > 0
  value <- mass[held] / q[held]
  o <- order(value)
  trim_below(list(q = q[held][o], value = value[o], certain = source$certain, n = 1))
}

# the ends merged
trim_below <- function(law) {
  p <- law$q * law$value / law$n
  m <- length(p)
  low <- sum(cumsum(law$q) <= ALLOCATION_LOW)
  high <- sum(cumsum(rev(p)) <= ALLOCATION_HIGH)
  group <- pmin(pmax(seq_len(m), low), max(low, m - high + 1))
  q <- as.vector(rowsum(law$q, group, reorder = FALSE))
  law$value <- as.vector(rowsum(law$q * law$value, group, reorder = FALSE)) / q
  law$q <- q
  # conditional means of neighbouring bins ascend, but for rounding
  if (is.unsorted(law$value)) {
    o <- order(law$value)
    law$q <- law$q[o]
    law$value <- law$value[o]
  }
  law
}

# where bins of sums start, in logarithms: fine where most of them lie, if rare ones lie far above
sum_edges <- function(law, low, high, step, points) {
  held <- law$value > 0
  bulk <- bulk_of(log(law$value[held]), law$q[held])
  cut <- bulk$middle + ALLOCATION_BULK * bulk$sd + high - log(law$value[length(law$value)])
  fine <- 2 * ALLOCATION_BULK * bulk$sd / points
  if (fine > 1e-12 && fine < step / 2 && cut < high && cut - low < 4 * points * fine) {
    return(c(seq(low, cut, by = fine), seq(cut, high, length.out = points / 4)))
  }
  seq(low, high, length.out = min(1e6, max(1, ceiling((high - low) / step))) + 1)
}

# the sums of two laws, or of one with itself, in about `points` bins
sum_below <- function(law, other, points) {
  second <- other %||% law
  value <- law$value[law$value > 0]
  step <- log(value[length(value)] / value[1]) / points
  low <- law$value[1] + second$value[1]
  low <- log(if (low > 0) low else min(value, second$value[second$value > 0]))
  high <- log(law$value[length(law$value)] + second$value[length(second$value)])
  edges <- c(0, unique(exp(sum_edges(law, low, high, max(step, 1e-12), points))))
  found <- .Call(riemdp_allocation_merge, list(mass = law$q, value = law$value),
                 if (!is.null(other)) list(mass = other$q, value = other$value), edges)
  held <- found[, 1] > 0
  n <- law$n + second$n
  trim_below(list(q = found[held, 1], value = found[held, 2] / found[held, 1],
                  certain = (law$n * law$certain + second$n * second$certain) / n, n = n))
}

allocation_below <- function(source, steps) {
  width <- max(diff(allocation_ends(source)$loss), 1e-12)
  law <- term_below(source, width / allocation_points(1, steps))
  term <- term_below(source, width / ALLOCATION_LEAST)
  levels <- 1
  for (digit in binary_digits(steps)) {
    points <- allocation_points(2 * law$n, steps)
    law <- sum_below(law, NULL, points)
    if (digit == 1) law <- sum_below(law, term, points)
    levels <- levels + 1 + digit
  }
  c(law, levels = levels)
}

# On a grid four times as wide as the bins, by merging, where there are many. Numbers are off by what their sums'
# rounding may be.
allocated_below <- function(law, enter) {
  held <- law$value > 0
  x <- log(law$value[held] / law$n)
  q <- law$q[held]
  off <- law$levels * 4 * ALLOCATION_POINTS * .Machine$double.eps
  loss <- if (enter) rev(-x) else x
  mass <- if (enter) rev(q) else q * exp(x - off)
  real <- if (enter) sum(law$q[!held]) else law$certain
  if (length(x) < ALLOCATION_FEW) return(pld_source(loss = loss - off, mass = mass, infinite = real, certain = real))
  bulk <- 8 * ALLOCATION_BULK * bulk_of(x, q)$sd / ALLOCATION_POINTS
  step <- 4 * diff(range(x)) / length(x)
  step <- max(1e-13, if (bulk > 0) min(step, max(bulk, diff(range(x)) / ALLOCATION_MANY)) else step)
  offset <- first_group(loss, mass, step, enter)
  merged <- merge_groups(loss, mass, step, offset, enter)
  kept <- merged$mass > 0
  source <- pld_source(loss = (offset + step * merged$at - off)[kept], mass = merged$mass[kept], infinite = real,
                       certain = real, unit = step)
  source$origin <- source$loss[which.max(source$mass)]
  source
}
