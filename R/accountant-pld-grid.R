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
  out <- .Call(riemdp_pld_merge, l, mass, c(h, first, bins, down))
  list(at = first + 0:bins, mass = out)
}

# Loss of the first merged outcome, which lies half a step before its own end: later groups then are half a step wide to either
# side as well, where the law is smooth. The grid goes through it.
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

# ---- composition --------------------------------------------------------------------------------------------------------------

# absolute error of one transform of masses that sum to 1: 16 u log2(n), proven in proofs/accounting.md, section 6
fft_error <- function(n) 8 * log2(n + 1) * .Machine$double.eps

# relative error of masses on the grid: nodes, weights and exponentials of quadratures, or of an atom
mass_error <- function(source) 1e-12 + 1e-14 * if (is.null(source$pair)) 0 else source$pair[2]

# The parts' laws on one grid, tilted, and what is known of their sum without composing it: list(h, n, theta, laws (each at, w, jump,
# times), log_scale (log E[e^(theta loss)]), rounding (relative error of whatever is computed from them), infinite, slip, ...).
pld_laws <- function(sources, times, plan, upper, h, couple = FALSE) {
  units <- unlist(lapply(sources, `[[`, "unit"))
  alone <- length(units) == 1 && length(sources) == 1
  # atoms of one lattice alone: nothing is rounded, and no point between is needed
  atoms <- length(units) == length(sources) && all(vapply(sources, function(source) is.null(source$pair), NA))
  common <- common_step(units, if (atoms) Inf else h)
  exact <- atoms && !is.null(common)
  if (!is.null(common)) h <- common
  # the tilt blows up rounding by e^(theta h) from point to point
  if (exact) plan$theta <- min(plan$theta, 5 / h)
  window <- tilted_window(plan, upper, if (exact) 0 else h)
  low <- min(window$low, plan$target) - 2 * h
  width <- max(window$high, plan$target) - low + 4 * h
  least <- width / PLD_POINTS
  if (h < least) {
    h <- least
    common <- NULL
    exact <- FALSE
  }
  if (alone && !exact) h <- units / max(1, ceiling(units / h))
  # transforms of powers of two only
  free <- !alone && is.null(common)
  n <- 2^ceiling(log2(max(64, width / h)) - if (free) 0.25 else 0)
  if (free) h <- max(width / n, least)
  unit <- if (couple && free) commonest_unit(sources, times)
  if (!is.null(unit) && unit > h) h <- unit / floor(unit / h)
  if (n > 2 * PLD_POINTS) spread_too_far()
  theta <- plan$theta
  log_scale <- log_high <- log_low <- log_finite <- shift <- rounding <- bulk_moment <- 0
  bulk_tilts <- if (!is.null(plan$cut)) max(theta, 1 / plan$target) * 2^(-1:10)
  u <- .Machine$double.eps / 2
  laws <- slips <- list()
  for (i in seq_along(sources)) {
    origin <- if (alone || exact) sources[[i]]$origin else if (upper) 0
    g <- if (upper) grid_above(sources[[i]], h, plan$tail, plan$low, origin) else
      grid_below(sources[[i]], h, plan$tail, plan$low, origin, couple, theta)
    if (!is.null(g$slip)) slips <- c(slips, list(c(g, times = times[i])))
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
    rounding <- rounding + times[i] * (mass_error(sources[[i]]) + 4 * u * (span + abs(moment)) + 3e-14)
    log_high <- log_high + times[i] * shifted(window$high_tilt)
    log_low <- log_low + times[i] * shifted(-window$low_tilt)
    log_scale <- log_scale + times[i] * moment
    log_finite <- log_finite + times[i] * log1p(-g$infinite)
    shift <- shift + times[i] * g$offset
    jump <- if (is.null(plan$cut)) FALSE else h * at > plan$cut
    if (!is.null(plan$cut)) {
      bulk <- !jump
      bulk_moment <- bulk_moment + times[i] *
        if (any(bulk)) log_moment(list(loss = h * at[bulk], log_mass = log_mass[bulk]), bulk_tilts) else -Inf
    }
    laws[[i]] <- list(at = g$at, w = w / size, jump = jump, times = times[i])
  }
  rounding <- rounding + PLD_ROUNDING + 4 * u * (n + abs(log_scale))
  slip <- if (length(slips)) slip_bound(slips, vapply(slips, `[[`, 0, "times"), h, theta, -14 - log1p(theta * plan$sd)) else
    list(by = 0, log_odds = -Inf)
  first <- floor((low - shift) / h)
  low <- shift + first * h
  list(h = h, n = n, theta = theta, laws = laws, first = first, low = low, high = low + n * h, rounding = rounding, log_scale = log_scale,
       infinite = -expm1(log_finite), slip = slip, range = spread_of(sources, plan$tail, plan$low), steps = plan$steps,
       bulk = if (!is.null(plan$cut)) list(tilts = bulk_tilts, moment = bulk_moment),
       # probability of the tilted law beyond the window
       log_out_high = log_high - window$high_tilt * (low + n * h) + rounding, log_out_low = log_low + window$low_tilt * low + rounding)
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
      lifts <- lifts + times * complex(real = 0.5 * log1p(pmax(2 * Re(x) + far^2, -0.999)), imaginary = atan2(Im(x), 1 + Re(x)))
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
    lift <- complex(real = expm1(Re(lifts)) * cos(Im(lifts)) - 2 * sin(Im(lifts) / 2)^2, imaginary = exp(Re(lifts)) * sin(Im(lifts)))
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

# a step near h, or the largest, of which all units are multiples, so that no atom has to be moved; NULL where there is none
common_step <- function(units, h) {
  if (length(units) < 2) return(if (is.infinite(h)) units)
  m <- seq_len(if (is.infinite(h)) 1e4 else min(1e5, ceiling(30 * max(units) / h)))
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
