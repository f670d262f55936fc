# The K-norm gradient mechanism: density proportional to exp(-|grad U|/scale) on the public ball, drawn exactly; and the
# Laplace law truncated to the ball, which the same sampler serves. Proofs: inst/proofs/kng.md.

# ---- laws on the lattice of medians: those of mechanism-kng-lattice.R, and medians ----------------------------------

# what the weights' exponentials may add to a loss (proofs/median.md, section 1)
LATTICE_WEIGHTS <- 2^-40
LATTICE_ASSUMES <- "IEEE 754 double precision; hypot, log, tan, exp2 to 32 units in the last place"

# as many as the sampler's tables and numbers are made for, and of medians as many as its bounds are of use in
LATTICE_LAW_DIMENSIONS <- 128
MEDIAN_DIMENSIONS <- 20

kng_on_lattice <- function(M) {
  !of_user(M) && mf_facts(M)$dimension <= LATTICE_LAW_DIMENSIONS
}

# Why there is no law on that lattice in the ball, a sentence's end of public facts after a subject, or NULL. `widest`:
# the largest radius on hyperbolic space
lattice_law_why <- function(M, ball, most = LATTICE_LAW_DIMENSIONS, widest = 15) {
  if (mf_facts(M)$dimension > most) {
    return(sprintf("needs at most %d dimensions: the sampler is made for no more", most))
  }
  unlist(lapply(part_leaves(M), function(leaf) lattice_part_why(leaf$M, ball$radius / sqrt(leaf$weight), widest)))[1]
}

lattice_part_why <- function(M, radius, widest) {
  facts <- mf_facts(M)
  if (inherits(M, "riemdp_hyperbolic") && radius > widest) {
    sprintf("needs a radius up to %g here: doubles don't tell points further out apart", widest)
  } else if (facts$rows > 0 && facts$k_min == 0 && facts$k_max == 0 && radius > 300) {
    "needs a radius up to 300 where points are exponentials of matrices"
  }
}

# points are at least so many times as far apart as their coordinates at the centre
kng_contract <- function(ball) {
  rho <- ball$radius * sqrt(max(ball$k_max, 0))
  if (rho > 0) sin(rho) / rho else 1
}

lattice_law_step <- function(ball) 2^(floor(log2(ball$radius)) - 51)

truncated_staircase <- function(plan) {
  function(rho) staircase_energy(rho, plan$scale, plan$details$shell, plan$details$first)
}

# ---- with doubles ----------------------------------------------------------------------------------------------------

# a sentence of public facts on why the sampler can't serve, or NULL
kng_unsupported <- function(M, ask, name) {
  if (!mf_facts(M)$has_kng) {
    sprintf("mechanism = \"%s\" has no exact sampler on %s%s. Use mechanism = \"wrapped\".", name, label_manifold(M),
            if (kng_on_lattice(M)) " for numerics = \"real\"" else "")
  } else if (ask$ball$k_min < 0 && ask$ball$radius >= 12) {
    sprintf(paste("mechanism = \"%s\" needs a radius below 12 where curvature is negative: doubles don't tell points",
                  "further apart."), name)
  } else if (ask$timing == "constant" && ask$delta == 0) {
    "`timing = \"constant\"` caps the number of trials, which needs `delta` > 0."
  }
}

# ---- a private number of records ---------------------------------------------------------------------------------
# Density proportional to exp(-w |grad U|/scale), w the number of records up to `most`: up to there the exponent is the
# length of the sum of the records' logarithms, which needs no number (proofs/kng.md, section 8).

abort_fine <- function(scale) {
  abort_riemdp("unsupported", sprintf(paste("the scale would be %.3g: doubles don't hold noise that small. A smaller",
                                            "epsilon would do."), scale))
}

# noise no smaller than what doubles hold and what rounding leaves of a gradient
kng_finest <- function(ball, steps) max(1e-11, 1e-11 * ball$radius, 4 * steps$slope)

kng_sum_bounds <- function(M, ask, loss) {
  ball <- ask$ball
  steps <- mean_steps(M, ball, 1)
  if (!is.null(steps$why)) abort_rounding(steps$why)
  at <- function(sensitivity, theorem) {
    # a record's own logarithm, the conversion of sums, and their norm
    extra <- outwards(2 * steps$gradient + SIZE_MOST * kng_conversion(M, ball))
    total <- sensitivity + extra
    list(sensitivity = sensitivity, theorem = theorem, solver_error = extra, total = total, steps = steps,
         most = min(SIZE_MOST, floor(loss * total / ask$epsilon / kng_finest(ball, steps))))
  }
  out <- at(outwards(2 * ball$radius), "2r, proofs/kng.md, section 8")
  if (out$most < SIZE_MOST && ball$k_max > 0) {
    replaced <- as.numeric(gradient_sensitivity_at(1, ball, "proven"))
    out <- at(max(replaced, out$sensitivity), "S(r sqrt K)/sqrt K, proofs/kng.md, section 8")
  }
  check_rounding(out$solver_error, out$sensitivity)
  if (out$most < 1) {
    abort_riemdp("unsupported", "the scale would be smaller than doubles hold here. A smaller epsilon would do.")
  }
  out
}

# What conversion to doubles, division and norm do to a sum, by the number of its records, for two neighbours; with the
# exponents made of it
kng_conversion <- function(M, ball) UNIT_ROUNDOFF * ball$radius * (40 + 4.1 * (mf_facts(M)$dimension / 2 + 4))

# Inverse scales s from 0 to that of the finest noise, in cells; for all s of a cell the bins of the last trials are the
# same, and a trial succeeds at least as often as is proven for the whole cell.
kng_cells <- function(M, ball, steps) {
  ratio <- exp(min(1.4, 2 / sqrt(mf_facts(M)$dimension)))
  first <- 0.1 / ball$radius
  last <- 1 / kng_finest(ball, steps)
  c(0, first * ratio^(0:floor(log(last / first) / log(ratio))), last)
}

kng_sum_acceptance <- function(M, ball, steps) {
  remember(paste("acceptance for all sums", manifold_key(M, ball$radius, steps$slope)), function() {
    s <- kng_cells(M, ball, steps)
    min(vapply(seq_along(s)[-1], function(j) {
      .Call(riemdp_kng_least_acceptance, M, ball$radius, "kng", 1 / c(s[j], s[j - 1]), steps$slope)
    }, 0))
  })
}

kng_sum_plan <- function(M, ask) {
  bounds <- kng_sum_bounds(M, ask, 2)
  steps <- bounds$steps
  law <- pure_scale(ask, bounds$total, 2)
  least <- kng_sum_acceptance(M, ask$ball, steps)
  cap <- kng_trials(M, ask, "kng", law$scale / bounds$most, law$epsilon, steps$slope, least)
  c(kng_sum_parts(bounds), kng_law_parts(law), list(trials = cap$trials, acceptance = cap$acceptance,
                                                    numbers = steps$numbers, gradient = steps$slope))
}

kng_sum_parts <- function(bounds) {
  c(bounds[c("sensitivity", "theorem", "solver_error", "total", "most")],
    list(details = list(moved = "sum of the logarithms, anywhere in the ball,", most = bounds$most)))
}

kng_law_parts <- function(law, delta = 0, reasons = NULL) {
  list(scale = law$scale, guarantee = list(epsilon = law$epsilon, delta = delta, reasons = reasons, sampler = "exact"))
}

# the scale of |grad U| for n records, and the range that the bins of the last trials are made for
kng_sum_scale <- function(M, plan, ask, n) {
  s <- min(n, plan$most) / plan$scale
  cells <- kng_cells(M, ask$ball, list(slope = plan$gradient))
  top <- min(length(cells), max(2, findInterval(s, cells, left.open = TRUE) + 1))
  1 / c(s, cells[top], cells[top - 1])
}

# How many trials the sampler makes at most. Each of the last ones succeeds with probability `acceptance` at least,
# whatever the records (proven). timing = "constant": all are made, and a failure of all costs delta; else so many that
# it costs less of epsilon than the scale was rounded up by (proofs/kng.md, section 6).
kng_trials <- function(M, ask, name, scale, epsilon, gradient, least = NULL) {
  r <- ask$ball$radius
  key <- paste("acceptance", name, manifold_key(M, r, scale, gradient))
  least <- least %||% remember(key, function() .Call(riemdp_kng_least_acceptance, M, r, name, scale, gradient))
  # log(1 + e^epsilon) without overflow
  log_factor <- epsilon + log1p(exp(-epsilon))
  constant <- ask$timing == "constant"
  d <- mf_facts(M)$dimension
  spread <- abs(ask$ball$k_min) + abs(ask$ball$k_max)
  log_share <- if (constant) log(ask$delta) - 1e-9 - log_factor else
    log(1e-13) + log(min(1, epsilon)) - (2 * r + 2 * gradient) / scale - (d - 1) * r * sqrt(spread)
  trials <- max(1, ceiling(log_share / log1p(-least)))
  most <- most_trials(M, ask, name)
  if (!(if (constant) trials <= min(most, 1e8) else least * most >= 1)) {
    abort_riemdp("unsupported", sprintf(
      paste("mechanism = \"%s\" would take %.3g trials here for some records%s: each is proven to succeed with",
            "probability %.3g, and %s. A smaller radius%s or mechanism = \"wrapped\" would do."),
      name, if (constant) trials else 1 / least, if (constant) "" else ", on average", least, trials_words(ask, most),
      if (constant) ", a larger `delta`, timing = \"ordinary\"" else ""
    ))
  }
  list(trials = trials, delta = if (constant) min(1, outwards(exp(log_factor + trials * log1p(-least)))) else 0,
       acceptance = least)
}

# ---- how long trials may take ----------------------------------------------------------------------------------------
# From public facts alone, roughly, in seconds of processor time. Plans hold these against how rarely a trial may
# succeed for the worst records of the ball, so what is refused, or left alone by "auto", doesn't depend on records.

# What the trials of a mechanism that is named may take on average for the worst records, and of one that "auto" takes
# where there are others: then no records take twice as long as others, where that can be noticed at all. Or as long as
# the mean, if that is longer.
TRIALS_NAMED <- 1
TRIALS_AUTO <- 0.1

# of a record's logarithm at a point
record_seconds <- function(M) {
  sum(vapply(part_leaves(M), function(leaf) {
    facts <- mf_facts(leaf$M)
    1e-9 * (100 + if (facts$cols > 0) 300 + 5 * facts$rows * facts$cols^2 else 8 * facts$ambient)
  }, 0))
}

# of a private number nothing is known: there the number of trials alone is held against `max_trials`
unknown_time <- function(ask) !is.null(ask$size) || is.na(ask$n)

# of one trial: a proposal, and for "kng" the gradient of all records, else the distance from their mean
trial_seconds <- function(M, ask, name) {
  d <- mf_facts(M)$dimension
  proposal <- if (identical(ask$numerics, "lattice")) 3e-6 + 2e-7 * d else 1e-6 + 5e-8 * d
  proposal + record_seconds(M) * if (name == "kng") ask$n else 4
}

# a mean takes some ten passes over the records
trials_room <- function(M, ask, seconds) max(seconds, 10 * ask$n * record_seconds(M))

# the most trials that the worst records may need on average, and whether "auto" would leave that many alone
most_trials <- function(M, ask, name) {
  if (!is.null(ask$max_trials)) return(ask$max_trials)
  if (ask$timing == "constant" || unknown_time(ask)) return(1e6)
  trials_room(M, ask, TRIALS_NAMED) / trial_seconds(M, ask, name)
}

trials_slow <- function(M, ask, name, acceptance) {
  if (unknown_time(ask)) return(FALSE)
  !(trial_seconds(M, ask, name) <= acceptance * trials_room(M, ask, TRIALS_AUTO))
}

# what a refusal says of them
trials_words <- function(ask, most) {
  if (is.null(ask$max_trials) && ask$timing != "constant" && !unknown_time(ask)) {
    sprintf("%.3g are what may take about a second, or as long as the mean; `max_trials` allows more", most)
  } else {
    sprintf("`max_trials` is %.3g", most)
  }
}

# How fast the energy's gradient grows around the mean for the worst records of the ball, on average over directions:
# where curvature is never positive as fast as the distance, if all records are one point, and never slower; else for
# records at two opposite points of the ball's edge (proofs/kng.md, section 11)
kng_slope <- function(M, ball) {
  d <- mf_facts(M)$dimension
  if (ball$k_max <= 0 || d == 1) return(1)
  across <- vapply(part_leaves(M), function(leaf) {
    facts <- mf_facts(leaf$M)
    k <- if (facts$mean_curvature != 0) facts$mean_curvature else facts$k_max
    if (!is.finite(k)) k <- ball$k_max * leaf$weight
    across <- cot_factor(ball$radius * sqrt(max(0, k) / leaf$weight))
    1 + (facts$dimension - 1) * (across^-2 - 1) / d
  }, 0)
  1 / sqrt(max(across))
}

# Mean distance to the Frechet mean for the worst records of the ball: the law's radius on the ball in the space of
# constant curvature that has the same mean curvature, the larger of that of a mean at the centre and of one at the
# edge.
kng_expected_error <- function(M, ask, scale, name, energy = NULL) {
  slope <- if (name == "kng") kng_slope(M, ask$ball) else 1
  r <- ask$ball$radius
  even <- identical(ask$numerics, "lattice")
  error <- function() {
    share <- share_inside(mf_facts(M), r, even)
    max(on_ball_error(M, r, scale, slope, energy), on_ball_error(M, 2 * r, scale, slope, energy, share))
  }
  told <- if (is.null(energy)) 0 else energy(r * 1:40 / 16)
  remember(paste("on ball", manifold_key(M, r, scale, slope, even, told)), error)
}

# Log of the share of a sphere around a point at the ball's edge that lies in the ball, as a function of its radius up
# to 2r; `even`: of what a measure that is even in coordinates at the centre makes of it
share_inside <- function(facts, r, even) {
  d <- facts$dimension
  if (d == 1) return(function(rho) 0)
  k <- sign(facts$mean_curvature)
  root <- if (k == 0) 1 else sqrt(abs(facts$mean_curvature))
  edge <- r * root
  rho <- 2 * edge * (1:1000 / 1000)^3
  inner <- side(k, pmax(0, edge - rho / 2)) * side(k, rho / 2) / (side(k, edge) * side(k, rho))
  angle <- outer(2 * asin(sqrt(pmin(1, inner))), LEGENDRE$angle$x)
  s <- third_side(k, as.vector(matrix(rho, length(rho), ncol(angle))), edge, cos(as.vector(angle)))
  density <- sin(angle)^(d - 2)
  if (even) density <- density * ifelse(s < 1e-4, 1, s / side(k, s))^(d - 1)
  share <- drop(density %*% LEGENDRE$angle$w) * asin(sqrt(pmin(1, inner)))
  share <- log(pmax(share, 1e-300))
  inside <- stats::approxfun(c(0, rho), c(share[1], share), rule = 2)
  function(rho) inside(rho * root)
}

# the law's mean radius up to `r`; share: a function of the radius that is added to the log of spheres' areas
on_ball_error <- function(M, r, scale, slope, energy, share = function(rho) 0) {
  d <- mf_facts(M)$dimension
  k <- mf_facts(M)$mean_curvature
  log_area <- function(rho) {
    s <- sqrt(abs(k)) * rho
    log(rho) + (if (k > 0) log(sin(s) / s) else if (k < 0) s + log(-expm1(-2 * s) / (2 * s)) else 0)
  }
  log_density <- function(rho) {
    (d - 1) * log_area(rho) + share(rho) - if (is.null(energy)) slope * rho / scale else energy(rho)
  }
  if (!is.null(energy)) { # with jumps: by midpoints, closer to each other near the mean
    ends <- r * (0:40000 / 40000)^3
    rho <- (ends[-1] + ends[-40001]) / 2
    mass <- diff(ends) * exp(log_density(rho) - max(log_density(rho)))
    return(sum(mass * rho) / sum(mass))
  }
  peak <- stats::optimize(log_density, c(0, r) + c(1e-9, 0) * r, maximum = TRUE, tol = 1e-9 * r)$maximum
  top <- log_density(peak)
  width <- scale * sqrt(d) / slope
  cuts <- sort(unique(pmin(pmax(c(0, peak + c(-8, -4, -2, -1, 0, 1, 2, 4, 8, 16, 40) * width, r), 0), r)))
  integral <- function(power) {
    sum(mapply(function(from, to) {
      stats::integrate(function(rho) rho^power * exp(log_density(rho) - top), from, to, rel.tol = 1e-6,
                       stop.on.error = FALSE)$value
    }, cuts[-length(cuts)], cuts[-1]))
  }
  integral(1) / integral(0)
}

# Up to which distance there are points, the curvature whose areas bound the base measure's from above beyond a distance
# and from below within it, how steep the exponent is at least and at most, that as a function of distance, and what
# rounding adds
region_bounds <- function(r, name, fewest) {
  top <- 2 * r$radius
  flat <- name != "kng"
  # as wide as the ball asks for where no number holds on all of the space
  ball <- check_radius(r$manifold, r$radius, r$center)
  k <- ball$k_min
  out <- list(top = top, k = k, low = if (flat || ball$k_max <= 0) 1 else cot_factor(top * sqrt(ball$k_max)),
              high = if (flat || k >= 0) 1 else top * sqrt(-k) / tanh(top * sqrt(-k)), spare = 1,
              energy = if (name == "staircase_truncated") truncated_staircase(r) else function(rho) rho / r$scale)
  if (r$guarantee$numerics != "lattice") return(out)
  # even in coordinates, which are flat (section 9)
  stretch <- sinhc_r(r$radius * sqrt(max(0, -k)))
  cells <- 2^-50 * sqrt(mf_facts(r$manifold)$dimension) * r$radius * out$high * stretch / r$scale
  out$low <- out$low * kng_contract(ball) / stretch
  out$top <- top * stretch
  out$k <- 0
  out$spare <- exp(cells + if (fewest < Inf) 0 else 2 * r$solver_error / r$scale)
  out
}

# Radius within which the release lies of the mean with probability `level`, for any records: beyond q the law weighs at
# most the left integral, within q at least the right one (proofs/kng.md, section 7). Sums are rounded outwards.
# Where the number of records is private, those of its interval: from its lower end on (section 8).
kng_region <- function(r, level, name) {
  fewest <- Inf
  if (name == "kng" && private_size(r)) {
    if (is.null(r$size)) return(NULL)
    fewest <- min(size_least(r, (1 + level) / 2), r$details$most)
    if (fewest < 1) return(NULL)
    level <- (1 + level) / 2
    r$scale <- r$scale / fewest
  }
  bend <- region_bounds(r, name, fewest)
  top <- bend$top
  k <- bend$k
  facts <- mf_facts(r$manifold)
  rho <- top * (0:20000 / 20000)^2
  s <- rho * sqrt(abs(k))
  log_area <- (facts$dimension - 1) * (if (k > 0) log(sin(s)) else if (k < 0) s + log(-expm1(-2 * s)) else log(rho))
  if (facts$dimension == 1) log_area[] <- 0
  from <- seq_len(20000)
  left <- log_area[from + 1] - bend$energy(bend$low * rho[from])
  right <- log_area[from] - bend$energy(bend$high * rho[from + 1])
  peak <- max(right, left)
  tail <- rev(cumsum(rev(exp(left - peak) * diff(rho)))) # from rho[i] on
  head <- c(0, cumsum(exp(right - peak) * diff(rho)))[from]
  if (fewest < Inf) {
    head <- head[pmax(1, findInterval(rho[from] * bend$low / bend$high, rho))]
    tail <- tail * exp(0.25) # rounding, where the noise is finest
  }
  tail <- tail * bend$spare
  enough <- which(tail <= (1 - level) * head)
  error <- if (fewest < Inf) 0 else r$solver_error
  list(radius = if (length(enough)) rho[enough[1]] + error else Inf,
       basis = paste0("a bound of the law's tail for any records", if (fewest < Inf) ", from the released size"))
}

gradient_bounds <- function(M, ask) {
  sensitivity <- gradient_sensitivity_at(ask$n, ask$ball, ask$calibration)
  steps <- mean_steps(M, ask$ball, ask$n)
  if (!is.null(steps$why)) abort_rounding(steps$why)
  extra <- outwards(2 * steps$gradient)
  check_rounding(extra, sensitivity)
  list(sensitivity = as.numeric(sensitivity), theorem = attr(sensitivity, "theorem"), solver_error = extra,
       total = as.numeric(sensitivity) + extra, steps = steps)
}

kng_plan <- function(M, ask, name, bounds, loss) {
  law <- pure_scale(ask, bounds$total, loss)
  if (law$scale < max(1e-11, 1e-11 * ask$ball$radius)) abort_fine(law$scale)
  steps <- mean_steps(M, ask$ball, ask$n)
  if (!(steps$slope <= 0.1 * law$scale)) abort_rounding("the noise would be no larger than rounding errors")
  cap <- kng_trials(M, ask, name, law$scale, law$epsilon, steps$slope)
  constant <- ask$timing == "constant"
  c(bounds[c("sensitivity", "theorem", "solver_error", "total")],
    kng_law_parts(law, cap$delta, paper_reason(ask)), list(
      trials = cap$trials, acceptance = cap$acceptance,
      slow = trials_slow(M, ask, name, cap$acceptance), numbers = steps$numbers, gradient = steps$slope,
      details = c(kng_moved(name), if (constant) list(trials = cap$trials))
    ))
}

kng_moved <- function(name) if (name == "kng") list(moved = "gradient of the energy, anywhere in the ball,")

# with a cap on trials: what it costs that all of them fail (section 6)
kng_price <- function(plan, capped) {
  price <- price_normalised(plan$sensitivity + plan$solver_error, plan$scale,
                            if (is.null(plan$most)) "kng.md, 1" else "kng.md, 8")
  if (capped) {
    price$delta <- min(1, exp(price$epsilon + log1p(exp(-price$epsilon)) + plan$trials * log1p(-plan$acceptance)))
  }
  price
}

kng_release <- function(M, x, plan, ask, name, scale = plan$scale) {
  .Call(riemdp_release_kng, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
        ask$ball$radius, name, scale, c(plan$numbers, list(gradient = plan$gradient)), plan$trials,
        identical(ask$timing, "constant"),
        pay(kng_price(plan, identical(ask$timing, "constant"))))
}

kng_timing_words <- function(r) {
  if (is.null(r$details$trials)) {
    paste("The sampler's number of trials depends on the records: who sees the run time learns something that the",
          "guarantee doesn't cover.")
  } else {
    sprintf(paste("A fixed number of %.0f trials, each evaluated in full; each succeeds with probability %.3g or more",
                  "for any records (proven), so all fail with a probability that delta pays for."), r$details$trials,
                  r$acceptance)
  }
}

kng_most_words <- function(r) {
  if (r$details$most >= SIZE_MOST) return("")
  sprintf(" up to %.0f of them; beyond that S is their mean logarithm times that", r$details$most)
}

kng_sum_words <- function(r) {
  c(
    sprintf(paste("Noise: density proportional to exp(-|S|/scale) on the public ball, S the sum of the records'",
                  "logarithms at the point; scale = 2 x sensitivity/epsilon = %.6g. No number of records is in it%s.",
                  "%s (proofs/kng.md, section 8)."), r$scale,
            kng_most_words(r),
            paste("The normalising constant depends on the records and takes the second half of epsilon; rounding",
                  "errors of up to 2^31 records are part of the sensitivity")),
    kng_timing_words(list())
  )
}

mechanism_kng <- list(
  name = "kng",
  auto = TRUE,
  on_ball = TRUE,
  chunks = TRUE,
  unsupported = function(M, ask) kng_unsupported(M, ask, "kng"),
  plan = function(M, ask) {
    if (!is.null(ask$size)) return(kng_sum_plan(M, ask))
    c(kng_plan(M, ask, "kng", gradient_bounds(M, ask), if (ask$calibration == "paper") 1 else 2),
      list(slope = kng_slope(M, ask$ball)))
  },
  error = function(M, plan, ask) {
    # without a number of records it isn't known
    if (!is.null(ask$size) && is.na(ask$n)) return(NA_real_)
    kng_expected_error(M, ask, if (is.null(ask$size)) plan$scale else plan$scale / min(ask$n, plan$most), "kng")
  },
  law = function(plan) {
    list(energy = knorm_energy(list(scale = plan$scale / (plan$slope %||% 1))), truncated = TRUE)
  },
  release = function(M, x, plan, ask) {
    if (is.null(ask$size)) return(kng_release(M, x, plan, ask, "kng"))
    kng_release(M, x$x, plan, ask, "kng", kng_sum_scale(M, plan, ask, x$n))
  },
  region = function(r, level) kng_region(r, level, "kng"),
  words = function(r) {
    if (private_size(r)) return(kng_sum_words(r))
    c(
      sprintf(paste("Noise: density proportional to exp(-|grad U|/scale) on the public ball, U the energy that the",
                    "mean minimises; scale = %s of grad U/epsilon = %.6g. %s (proofs/kng.md)."),
              if (r$calibration == "paper") "sensitivity" else "2 x sensitivity", r$scale,
              paste("The normalising constant depends on the records and takes the second half of epsilon; rounding",
                    "errors of grad U are part of the sensitivity")),
      kng_timing_words(r)
    )
  }
)

mechanism_laplace_truncated <- list(
  name = "laplace_truncated",
  auto = TRUE,
  on_ball = TRUE,
  chunks = TRUE,
  unsupported = function(M, ask) {
    if (ask$calibration == "paper") {
      "`calibration = \"paper\"` doesn't exist for mechanism = \"laplace_truncated\"."
    } else {
      kng_unsupported(M, ask, "laplace_truncated")
    }
  },
  plan = function(M, ask) kng_plan(M, ask, "laplace_truncated", mean_bounds(M, ask, wrapped = FALSE), 2),
  error = function(M, plan, ask) kng_expected_error(M, ask, plan$scale, "laplace_truncated"),
  law = function(plan) list(energy = knorm_energy(plan), truncated = TRUE),
  release = function(M, x, plan, ask) kng_release(M, x, plan, ask, "laplace_truncated"),
  region = function(r, level) kng_region(r, level, "laplace_truncated"),
  words = function(r) {
    c(
      sprintf(paste("Noise: density proportional to exp(-d/scale) around the mean, on the public ball only; scale = 2",
                    "x (sensitivity + solver error)/epsilon = %.6g: the normalising constant depends on where in",
                    "the ball the mean lies and takes the second half of epsilon (proofs/kng.md)."), r$scale),
      kng_timing_words(r)
    )
  }
)
