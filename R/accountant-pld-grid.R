# ---- on the grid -----------------------------------------------------------------------------------------------------

# Cells of a smooth part: list(step, first, bins) a block. Steps of h up to DENSE of them from 0, beyond steps that
# double with the loss: rare losses far above h need no finer cells, and there would be too many.
DENSE <- 2^16

cell_blocks <- function(ends, h, fold, dense = DENSE) {
  first <- if (fold) 0 else floor(ends[1] / h)
  last <- max(first + 1, ceiling(ends[2] / h))
  if (!is.finite(first) || !is.finite(last) || max(-first, last) > 2^52 || h > PLD_REACH) spread_too_far()
  inner <- c(max(first, -dense), min(last, dense))
  blocks <- if (inner[1] < inner[2]) list(list(step = h, first = inner[1], bins = inner[2] - inner[1])) else list()
  far <- function(reach, side, near) {
    k <- max(0, floor(log2(max(near, dense) / dense)))
    while (dense * 2^k < reach) {
      step <- 2^(k + 1)
      a <- floor(max(near, dense * 2^k) / step)
      b <- min(ceiling(reach / step), dense)
      blocks <<- c(blocks, list(list(step = step * h, first = if (side > 0) a else -b, bins = b - a)))
      k <- k + 1
    }
  }
  if (last > dense) far(last, 1, first)
  if (first < -dense) far(-first, -1, -last)
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
grid_above <- function(source, h, tail, low, offset = 0, dense = DENSE) {
  at <- mass <- double()
  infinite <- source$infinite
  if (!is.null(source$pair)) {
    range <- smooth_range(source$pair, tail, low)
    offset <- 0 # atoms beside a smooth part lie where they do
    for (block in cell_blocks(range(smooth_loss(source$pair, range)), h, source$fold, dense)) {
      at <- c(at, block$step / h * (block$first + 0:block$bins))
      mass <- c(mass, .Call(riemdp_pld_cells, source$pair, range, c(block, parts = 0)))
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

spread_too_far <- function() {
  abort_riemdp("unpriced", "the losses spread too far for a grid as fine as this answer needs.")
}

CELL_PARTS <- 4

# The same from below; infinite losses are left out. With `couple` atoms aren't merged but split as from above, and
# `slip` says how far that lifts losses: list(up, down, share, log_weight), see proofs/accounting.md, section 6.
grid_below <- function(source, h, tail, low, offset = NULL, couple = FALSE, theta = 0) {
  losses <- losses_below(source, h, tail, low, couple)
  if (source$fold) losses <- fold_below(losses, source$infinite)
  near <- sorted_losses(losses$near)
  # groups start at the end where the law may be steep: sampled losses are bounded on one side
  down <- !is.null(source$pair) && source$pair$enter
  if (is.null(offset)) {
    atoms <- losses$atoms
    offset <- if (source$fold) 0 else
      if (length(atoms$loss)) atoms$loss[which.max(log(atoms$mass) + theta * atoms$loss)] else
      if (length(near$loss)) first_group(near$loss, near$mass, h, down) else 0
  }
  offset <- offset - h * round(offset / h)
  merged <- if (length(near$loss)) merge_groups(near$loss, near$mass, h, offset, down)
  far <- losses$far
  keep <- far$mass > 0 # rare losses of more than DENSE steps: to the point below
  at <- c(merged$at, floor((far$loss[keep] - offset) / h))
  mass <- c(merged$mass, far$mass[keep])
  slip <- NULL
  if (any(losses$atoms$mass > 0)) {
    split <- split_coupled(losses$atoms, h, offset)
    slip <- c(split$slip, list(rest_at = at, rest = mass))
    at <- c(at, split$at)
    mass <- c(mass, split$mass)
  }
  sums <- sum_at(at, mass)
  list(at = sums$at, mass = sums$mass, infinite = source$certain, offset = offset, slip = slip)
}

# A source's losses from below: list(near, far, atoms (each list(loss, mass)), beyond), where `far` lie beyond DENSE
# steps, `atoms` are those that aren't to be merged, and `beyond` is the mass above all of them.
losses_below <- function(source, h, tail, low, couple) {
  none <- list(loss = double(), mass = double())
  own <- list(loss = source$loss, mass = source$mass)
  out <- list(near = if (couple) none else own, far = none, atoms = if (couple) own else none, beyond = 0)
  if (is.null(source$pair)) return(out)
  range <- smooth_range(source$pair, tail, low)
  for (block in cell_blocks(range(smooth_loss(source$pair, range)), h, source$fold)) {
    dense <- block$step == h
    cells <- .Call(riemdp_pld_cells, source$pair, range, c(block, parts = if (dense) CELL_PARTS else 1))
    to <- if (dense) "near" else "far"
    out[[to]] <- list(loss = c(out[[to]]$loss, cells[, 1]), mass = c(out[[to]]$mass, cells[, 2]))
  }
  out$beyond <- smooth_tails(source$pair, range)[["high"]]
  out
}

# with their mirror images, and the rest at 0
fold_below <- function(losses, infinite) {
  both <- lapply(losses[c("near", "far", "atoms")], function(part) {
    keep <- part$loss > 0
    loss <- part$loss[keep]
    list(loss = c(loss, -loss), mass = c(part$mass[keep], part$mass[keep] * exp(-loss)))
  })
  rest <- 1 - sum(both$near$mass, both$far$mass, both$atoms$mass) - 2 * (losses$beyond + infinite) - 1e-14
  if (rest > 0) both$near <- list(loss = c(both$near$loss, 0), mass = c(both$near$mass, rest))
  both
}

sorted_losses <- function(part) {
  o <- order(part$loss, method = "radix")
  o <- o[part$mass[o] > 0]
  list(loss = part$loss[o], mass = part$mass[o])
}

# atoms split as from above: list(at, mass, slip)
split_coupled <- function(atoms, h, offset) {
  keep <- atoms$mass > 0
  loss <- atoms$loss[keep] - offset
  mass <- atoms$mass[keep]
  parts <- split_atoms(loss, h)
  list(at = c(parts$below, parts$below + 1), mass = c(mass * (1 - parts$share), mass * parts$share),
       slip = list(x = pmax(0, loss - parts$below * h), share = parts$share, loss = atoms$loss[keep], mass = mass))
}

# log E[e^(theta L + t S)] of one step less log E[e^(theta L)], L the loss on the grid and S how far splitting has
# lifted it
slip_moment <- function(g, h, theta, t) {
  s <- g$slip
  scale <- max(theta * (s$loss + h), theta * (g$offset + h * s$rest_at), -1e300)
  low <- s$mass * (1 - s$share) * exp(theta * (s$loss - s$x) - scale)
  high <- s$mass * s$share * exp(theta * (s$loss - s$x + h) - scale)
  rest <- sum(s$rest * exp(theta * (g$offset + h * s$rest_at) - scale))
  total <- sum(low, high, rest)
  vapply(t, function(v) log1p(sum(low * expm1(-v * s$x), high * expm1(v * (h - s$x))) / total), 0)
}

# list(by, log_odds): with tilted probability below e^log_odds, relative to all, the composed loss is lifted by more
# than `by`
slip_bound <- function(slips, times, h, theta, log_odds) {
  moved <- vapply(slips, function(g) any(g$slip$share > 0), NA)
  if (!any(moved)) return(list(by = 0, log_odds = -Inf))
  slips <- slips[moved]
  times <- times[moved]
  most <- sum(times * vapply(slips, function(g) max(c(0, (h - g$slip$x)[g$slip$share > 0])), 0))
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
  out <- .Call(riemdp_pld_merge, l, mass, list(step = h, first = first, bins = bins, down = down))
  list(at = first + 0:bins, mass = out)
}

# Loss of the first merged outcome, which lies half a step before its own end: later groups then are half a step wide to
# either side as well, where the law is smooth. The grid goes through it.
first_group <- function(loss, mass, h, down) {
  n <- length(loss)
  i <- if (down) rev(which(loss > loss[n] - 4 * h)) else which(loss < loss[1] + 4 * h)
  if (!length(i)) return(loss[if (down) n else 1]) # steps below the last digit of such losses
  x <- loss[i] - loss[i[1]]
  merged <- -log(cumsum(mass[i] * exp(-x)) / cumsum(mass[i]))
  half <- which(abs(x - merged) >= 0.5 * h)
  k <- if (length(half)) half[1] else max(which(abs(x) <= 0.85 * h))
  loss[i[1]] + merged[k]
}

# ---- composition -----------------------------------------------------------------------------------------------------

# absolute error of one transform of masses that sum to 1: 16 u log2(n), proven in proofs/accounting.md, section 6
fft_error <- function(n) 8 * log2(n + 1) * .Machine$double.eps

# relative error of masses on the grid: nodes, weights and exponentials of quadratures, or of an atom
mass_error <- function(source) {
  1e-12 + 1e-14 * (if (is.null(source$pair)) 0 else source$pair$size) + (source$rounding %||% 0)
}

# The parts' laws on one grid, tilted, and what is known of their sum without composing it: list(h, n, theta, laws (each
# at, w, jump, times), log_scale (log E[e^(theta loss)]), rounding (relative error of whatever is computed from them),
# infinite, slip, ...).
pld_laws <- function(sources, times, plan, upper, h, couple = FALSE) {
  grid <- pld_grid(sources, times, plan, upper, h, couple)
  h <- grid$h
  theta <- grid$theta
  window <- grid$window
  bulk_tilts <- if (!is.null(plan$cut)) max(theta, 1 / plan$target) * 2^(-1:10)
  placed <- lapply(sources, function(source) {
    origin <- if (grid$own_origin) source$origin else if (upper) 0
    g <- if (upper) grid_above(source, h, plan$tail, plan$low, origin) else
      grid_below(source, h, plan$tail, plan$low, origin, couple, theta)
    c(g, list(mass_error = mass_error(source),
              tilted = tilted_law(g, h, theta, window, mass_error(source), plan$cut, bulk_tilts)))
  })
  sums <- Reduce(`+`, Map(function(g, k) k * g$tilted$sums, placed, times))
  coupled <- !vapply(placed, function(g) is.null(g$slip), NA)
  slip <- if (any(coupled)) slip_bound(placed[coupled], times[coupled], h, theta, -14 - log1p(theta * plan$sd)) else
    list(by = 0, log_odds = -Inf)
  first <- floor((grid$low - sums[["shift"]]) / h)
  c(laws_from(placed, times, sums, window, h, theta, first, grid$n),
    list(infinite = -expm1(sums[["finite"]]), slip = slip, range = spread_of(sources, plan$tail, plan$low),
         steps = plan$steps,
         bulk = if (!is.null(plan$cut)) {
           list(tilts = bulk_tilts, moment = Reduce(`+`, Map(function(g, k) k * g$tilted$bulk, placed, times)),
                laws = if (!is.null(plan$bulk)) bulk_laws(placed, times, plan, upper, h))
         }))
}

# tilted laws on a grid of n points from the step `first` on
laws_from <- function(placed, times, sums, window, h, theta, first, n) {
  low <- sums[["shift"]] + first * h
  high <- low + n * h
  rounding <- sums[["rounding"]] + PLD_ROUNDING + 4 * (.Machine$double.eps / 2) * (n + abs(sums[["scale"]]))
  list(h = h, n = n, theta = theta, laws = Map(function(g, k) c(g$tilted$law, times = k), placed, times),
       first = first, low = low, high = high, rounding = rounding, log_scale = sums[["scale"]],
       # probability of the tilted law beyond the window
       log_out_high = sums[["high"]] - window$high_tilt * high + rounding,
       log_out_low = sums[["low"]] + window$low_tilt * low + rounding)
}

# What lies below the plan's cut, on the same grid with a tilt and a window of its own: as pld_laws(). NULL where a part
# has nothing there.
bulk_laws <- function(placed, times, plan, upper, h) {
  own <- plan$bulk
  window <- tilted_window(own, upper, h)
  kept <- lapply(placed, function(g) {
    keep <- h * (g$offset / h + g$at) <= plan$cut & g$mass > 0
    g$at <- g$at[keep]
    g$mass <- g$mass[keep]
    g$infinite <- 0
    g
  })
  if (any(vapply(kept, function(g) !length(g$at), NA))) return(NULL)
  kept <- lapply(kept, function(g) {
    g$tilted <- tilted_law(g, h, own$theta, window, g$mass_error, NULL, NULL)
    g
  })
  sums <- Reduce(`+`, Map(function(g, k) k * g$tilted$sums, kept, times))
  first <- floor((min(window$low, own$target) - 2 * h - sums[["shift"]]) / h)
  low <- sums[["shift"]] + first * h
  n <- 2^ceiling(log2(max(64, (max(window$high, own$target) - low) / h + 4)))
  if (n > 2 * PLD_POINTS) return(NULL)
  c(laws_from(kept, times, sums, window, h, own$theta, first, n),
    list(infinite = 0, slip = list(by = 0, log_odds = -Inf)))
}

# What the parts' atoms have in common: list(alone, the unit of a part that is the only one; step, of a lattice that
# holds the atoms; exact, whether it holds all there is).
common_lattice <- function(sources, h) {
  units <- unlist(lapply(sources, `[[`, "unit"))
  # atoms of one lattice alone: nothing is rounded, and no point between is needed
  atoms <- length(units) == length(sources) && all(vapply(sources, function(source) is.null(source$pair), NA))
  step <- common_step(units, if (atoms) Inf else h)
  list(alone = if (length(units) == 1 && length(sources) == 1) units, step = step, exact = atoms && !is.null(step))
}

# the grid of all parts, about h wide: list(h, n, low, theta, window, own_origin (whether it goes through the part's own
# origin))
pld_grid <- function(sources, times, plan, upper, h, couple) {
  lattice <- common_lattice(sources, h)
  exact <- lattice$exact
  h <- lattice$step %||% h
  # the tilt blows up rounding by e^(theta h) from point to point
  if (exact) plan$theta <- min(plan$theta, 5 / h)
  window <- tilted_window(plan, upper, if (exact) 0 else h)
  low <- min(window$low, plan$target) - 2 * h
  width <- max(window$high, plan$target) - low + 4 * h
  least <- width / PLD_POINTS
  if (h < least) {
    h <- least
    lattice$step <- NULL
    exact <- FALSE
  }
  alone <- !is.null(lattice$alone)
  if (alone && !exact) h <- lattice$alone / max(1, ceiling(lattice$alone / h))
  # transforms of powers of two only
  free <- !alone && is.null(lattice$step)
  n <- 2^ceiling(log2(max(64, width / h)) - if (free) 0.25 else 0)
  if (free) h <- max(width / n, least)
  unit <- if (couple && free) commonest_unit(sources, times)
  if (!is.null(unit) && unit > h) h <- unit / floor(unit / h)
  if (n > 2 * PLD_POINTS) spread_too_far()
  list(h = h, n = n, low = low, theta = plan$theta, window = window, own_origin = alone || exact)
}

# One part on the grid, tilted: list(law (at, w, jump), sums (what adds up over the parts, as often as each is taken),
# bulk (log moments of what lies below the cut)).
tilted_law <- function(g, h, theta, window, mass_error, cut, bulk_tilts) {
  at <- g$offset / h + g$at
  log_mass <- log(g$mass)
  l <- log_mass + theta * h * at # log 0 = -Inf is meant
  if (!length(l)) spread_too_far() # no finite loss is left of this step
  top <- max(l)
  w <- exp(l - top)
  size <- sum(w)
  moment <- top + log(size)
  shifted <- function(s) log_sum(l + s * h * at) - moment
  heavy <- l >= top - 100
  span <- max(abs(log_mass[heavy]) + abs(theta * h * at[heavy]))
  u <- .Machine$double.eps / 2
  sums <- c(rounding = mass_error + 4 * u * (span + abs(moment)) + 3e-14, high = shifted(window$high_tilt),
            low = shifted(-window$low_tilt), scale = moment, finite = log1p(-g$infinite), shift = g$offset)
  jump <- if (is.null(cut)) FALSE else h * at > cut
  bulk <- if (!is.null(cut)) {
    if (all(jump)) -Inf else log_moment(list(loss = h * at[!jump], log_mass = log_mass[!jump]), bulk_tilts)
  }
  list(law = list(at = g$at, w = w / size, jump = jump), sums = sums, bulk = bulk)
}

# The composed law in the window: the same list with loss, mass (tilted) and error (each mass's rounding).
pld_convolve <- function(d) {
  n <- d$n
  half <- n / 2 + 1
  u <- .Machine$double.eps / 2
  jumps <- !is.null(d$bulk)
  log_size <- angle <- lifts <- 0
  wrong_lifts <- log_all <- 0
  relative <- 16 * u
  log_most <- 0
  for (law in d$laws) {
    times <- law$times
    z <- .Call(riemdp_fft, wrap(law$w[!law$jump], law$at[!law$jump], n))
    size <- Mod(z)
    if (jumps) {
      x <- if (any(law$jump)) .Call(riemdp_fft, wrap(law$w[law$jump], law$at[law$jump], n)) else complex(half)
      log_all <- log_all + times * log(size + Mod(x) + 2 * fft_error(n))
      x <- x / z
      far <- Mod(x)
      lifts <- lifts + times *
        complex(real = 0.5 * log1p(pmax(2 * Re(x) + far^2, -0.999)), imaginary = atan2(Im(x), 1 + Re(x)))
      wrong_lifts <- wrong_lifts + times * (2.2 * fft_error(n) * (sum(law$w[law$jump]) + far) / size + 32 * u * far)
      wrong_lifts[!(far < 0.5)] <- Inf
    }
    relative <- relative + times * (fft_error(n) / pmax(size, 1e-300) + u * (16 + 2 * abs(log(pmax(size, 1e-300)))))
    log_most <- log_most + times * log(size + fft_error(n))
    log_size <- log_size + times * log(size)
    angle <- angle + times * Arg(z)
  }
  size <- exp(log_size)
  # of frequencies below rounding only the size is known
  rough <- which(relative >= 0.1)
  wrong <- size * relative * 1.1
  wrong[rough] <- size[rough] + 1.01 * exp(pmin(log_most[rough], 0))
  z <- complex(modulus = size, argument = angle)
  z[size == 0] <- 0
  if (jumps) {
    # B ((1 + J/B)^times - 1) of bulk B and jumps J
    lift <- complex(real = expm1(Re(lifts)) * cos(Im(lifts)) - 2 * sin(Im(lifts) / 2)^2,
                    imaginary = exp(Re(lifts)) * sin(Im(lifts)))
    wrong <- size * (Mod(lift) * (1.1 * relative + 32 * u) + 1.2 * exp(Re(lifts)) * wrong_lifts)
    z <- z * lift
    rough <- which(!(relative < 0.1 & wrong_lifts < 0.1 & is.finite(wrong)))
    wrong[rough] <- 2.02 * exp(pmin(log_all[rough], 0.5))
    z[rough] <- 0
    size <- Mod(z)
  }
  d$mass <- .Call(riemdp_fft, z)
  d$error <- 2 * (sum(wrong) + fft_error(n) * sum(size)) / n
  d$loss <- d$low + d$h * (seq_len(n) - 1)
  from <- d$first %% n
  if (from > 0) d$mass <- d$mass[c((from + 1):n, seq_len(from))]
  d
}

# the unit of the source that is taken most often
commonest_unit <- function(sources, times) {
  some <- !vapply(sources, function(source) is.null(source$unit), NA)
  if (any(some)) sources[some][[which.max(times[some])]]$unit
}

# a step near h, or the largest, of which all units are multiples, so that no atom has to be moved; NULL where there is
# none
common_step <- function(units, h) {
  if (length(units) < 2) return(if (is.infinite(h)) units)
  m <- seq_len(if (is.infinite(h)) 1e4 else min(1e5, ceiling(30 * max(units) / h)))
  step <- max(units) / m
  fits <- Reduce(`&`, lapply(units,
                             function(u) abs(u / step - round(u / step)) < 1e-10 * u / step & round(u / step) >= 1))
  fine <- which(fits & step <= 1.5 * h)
  if (length(fine)) step[fine[1]]
}

# the widest range of losses of one step
spread_of <- function(sources, tail, low) {
  max(vapply(sources, function(source) {
    pair <- source$pair
    reach <- diff(range(source$loss, if (!is.null(pair)) smooth_loss(pair, smooth_range(pair, tail, low))))
    kinds <- length(pair$moves)
    # terms of such a loss, which may be far larger than it is
    rough <- kinds > 1 || identical(pair$family, "exchange")
    if (rough) max(reach, 4 * (pair$size * (pair$size + 45) + max(-log(pair$weights * pair$q))) + kinds) else reach
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

# Where the tilt is taken off: near the answer, and where neither the law's scale nor what is lost below the smallest
# double is anything beside a delta of 1e-300.
untilted_near <- function(d, center) {
  if (d$theta <= 0) return(center)
  min(max(center, d$log_scale / d$theta), (d$log_scale + 600) / d$theta)
}

# delta at the grid's own losses, from above or below, as far as it is of use: list(loss, delta)
pld_profile <- function(d, upper, center) {
  loss <- d$loss
  keep <- if (loss[1] >= center - 200) TRUE else loss >= center - 200
  center <- untilted_near(d, center)
  x <- loss[keep] - center
  mass <- if (upper) d$mass[keep] + d$error else pmax(0, d$mass[keep] - d$error)
  log_scale <- d$log_scale - d$theta * center
  # sum of w (1 - e^(loss - theirs)) over what lies above, from the top down by sums without cancellation
  w <- rev(mass * exp(-d$theta * x))
  above <- c(0, cumsum(w)[-length(w)])
  inner <- rev(as.vector(stats::filter(-expm1(-d$h) * above, exp(-d$h), "recursive")))
  scale <- exp(log_scale)
  beyond <- if (upper) exp(pmin(d$log_out_high + d$log_scale - d$theta * d$high, 0)) else
    exp(pmin(logs_add(d$log_out_high, d$log_out_low) + d$log_scale - d$theta * loss[keep], 700))
  delta <- scale * inner * (1 + if (upper) d$rounding else -d$rounding)
  # where splitting has lifted losses by more than the answer allows for: (1 - e^-y)_+ <= c e^(theta y)
  if (!upper && d$slip$log_odds > -Inf) {
    c <- if (d$theta > 0) d$theta * log(d$theta) - (1 + d$theta) * log1p(d$theta) else 0
    beyond <- beyond + exp(pmin(c + d$slip$log_odds + d$log_scale - d$theta * loss[keep], 700)) * (1 + d$rounding)
  }
  if (upper && !is.null(d$bulk) && is.null(d$bulk$law)) { # what was left out: Chernoff's bound, one tilt for all
    best <- which.min(d$bulk$moment - d$bulk$tilts * center)
    beyond <- beyond + exp(pmin(d$bulk$moment[best] - d$bulk$tilts[best] * loss[keep], 0)) * (1 + d$rounding)
  }
  # what is smaller than doubles hold, at most 2^25 times
  delta <- if (upper) delta + beyond + d$infinite + 1e-310 else delta - beyond + d$infinite
  delta[!is.finite(delta)] <- if (upper) 1 else 0
  list(loss = loss[keep], delta = pmin(pmax(delta, 0), 1))
}

# With the sums that have no loss above the cut, on the same grid: beyond their window they have what they have at its
# end, or from below nothing.
whole_profile_of <- function(d, upper, center) {
  profile <- pld_profile(d, upper, center)
  if (is.null(d$bulk$law)) return(profile)
  bulk <- pld_profile(d$bulk$law, upper, center)
  i <- round((profile$loss - bulk$loss[1]) / d$h) + 1
  n <- length(bulk$loss)
  more <- bulk$delta[pmin(pmax(i, 1), n)]
  more[if (upper) i < 1 else i > n] <- if (upper) 1 else 0
  profile$delta <- pmin(1, profile$delta + more)
  profile
}

# epsilon at delta on a curve that is linear in e^epsilon between grid points: the largest at which it reaches delta,
# since far below the answer the untilted rounding hides the curve. NA where nothing in the window is known to be above
# delta, or all is.
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
