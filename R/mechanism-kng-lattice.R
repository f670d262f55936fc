# The K-norm gradient mechanism, the truncated Laplace law and a staircase like it on the lattice of medians: drawn by
# integer arithmetic, and on every space of the package. Proofs: inst/proofs/kng.md, section 9.

kng_lattice_unsupported <- function(M, ask, name) {
  why <- lattice_law_why(M, ask$ball)
  if (!is.null(why)) {
    sprintf("mechanism = \"%s\" on a lattice %s.", name, why)
  } else if (ask$timing == "constant") {
    sprintf("mechanism = \"%s\" in constant time has doubles only: use numerics = \"real\".", name)
  }
}

# The share of trials that succeed for the worst records of the ball: what the weights add up to for a mean at the edge,
# over what is proposed at most (proofs/kng.md, Proposition 12). No privacy rests on it. `stair`: of a staircase the
# widths of a shell and of the first one. list(acceptance, public), the latter what the sampler needs to keep it.
kng_lattice_kept <- function(M, ball, scale, less, name, stair = c(0, 0)) {
  d <- mf_facts(M)$dimension
  r <- ball$radius
  root <- sqrt(max(0, -ball$k_min))
  contract <- kng_contract(ball)
  bend <- if (name == "kng") 1 - cot_factor(2 * r * sqrt(max(ball$k_max, 0))) else 0
  less <- less + 8 * lattice_law_step(ball) * sqrt(d) * sinhc_r(r * root) * coth_factor(2 * r * root)
  key <- paste(c("kept on a lattice", name, format(c(d, r, scale, less, contract, bend, root, ball$k_max, stair),
                                                   digits = 17)), collapse = " ")
  remember(key, function() {
    energy <- function(length) {
      if (name == "kng") length <- length * coth_factor(root * pmin(r + less + length, 2 * r))
      if (stair[1] > 0) staircase_energy(length + less, scale, stair[1], stair[2]) else (length + less) / scale
    }
    proposed <- .Call(riemdp_kng_proposed, d, r, contract, bend, 1 / scale, less, stair[1], stair[2], NULL)
    kept <- weights_least(d, r, scale, energy, root, sqrt(max(0, ball$k_max)))
    list(acceptance = min(1, 0.99 * exp(kept - proposed)), public = c(proposed, contract, bend, less, 0))
  })
}

# Log of what exp(-energy(distance from the mean)) adds up to in coordinates at least, for a mean at the edge: by a
# bound of distances in the whole ball, or by one of volumes. root, bent: of the least curvature, without its sign, and
# of the largest
weights_least <- function(d, r, scale, energy, root, bent) {
  u <- 2 * r * exp(seq(log(1e-3 * min(1, scale / r)), 0, length.out = 4000))
  from <- u[-4000]
  to <- u[-1]
  # what of a sphere around a point of the edge is inside, by the squared sine of half the angle
  inside <- function(q) {
    if (d == 1) log(1 / 2) else stats::pbeta(4 * q * (1 - q), (d - 1) / 2, 1 / 2, log.p = TRUE) - log(2)
  }
  shell <- log_sphere_area(d) + d * log(from) + log(expm1(d * log(to / from)) / d)
  sum_of <- function(parts) log_sum(parts[is.finite(parts)])
  flat <- sum_of(shell + inside((1 - pmin(1, to / (2 * r))) / 2) - energy(to * sinhc_r(r * root)))
  if (root == 0) return(flat)
  s <- function(x) sinh(root * x)
  edge <- pmax(0, s(r - to / 2)) * s(to / 2) / (s(r) * s(to))
  less <- (d - 1) * (log(sinhc_r(r * root)) - if (bent > 0) log(sin(bent * to) / (bent * to)) else 0)
  max(flat, sum_of(shell + inside(edge) - energy(to) - less))
}

check_lattice_trials <- function(M, ask, name, kept, most = most_trials(M, ask, name)) {
  if (kept * most >= 1) return(invisible())
  abort_riemdp("unsupported", sprintf(
    paste("mechanism = \"%s\" would take %.3g trials on a lattice here for some records, on average, and %s. A smaller",
          "radius or mechanism = \"wrapped\" would do."), name, 1 / kept, trials_words(ask, most)
  ))
}

weighed_parts <- function(law) {
  parts <- kng_law_parts(law)
  parts$guarantee$assumptions <- c(EXP_ASSUMES, LATTICE_ASSUMES)
  parts
}

kng_lattice_plan <- function(M, ask, name, bounds) {
  steps <- bounds$steps
  law <- pure_scale(ask, bounds$total, 2)
  # the exponentials' part of the loss (proofs/kng.md, section 9)
  if (is.null(ask$sigma)) {
    if (ask$epsilon < 2^-30) {
      abort_riemdp("unsupported", "an `epsilon` below 2^-30 is too small for what doubles weigh.")
    }
    law$scale <- outwards(law$scale * ask$epsilon / (ask$epsilon - LATTICE_WEIGHTS))
  } else {
    law$epsilon <- outwards(law$epsilon + LATTICE_WEIGHTS)
  }
  most <- bounds$most %||% 1
  if (law$scale / most < kng_finest(ask$ball, steps)) abort_fine(law$scale / most)
  # of a private number any scale from the finest on may be that of the gradient
  scales <- c(law$scale / most, if (!is.null(bounds$most)) ask$ball$radius * c(0.01, 0.03, 0.1, 0.3, 1, 100))
  stair <- if (name == "staircase_truncated") staircase_widths(M, law$scale, bounds$shell)
  rated <- lapply(scales, function(s) {
    kng_lattice_kept(M, ask$ball, s, 2 * steps$slope, name, as.numeric(unlist(stair) %||% c(0, 0)))
  })
  kept <- min(vapply(rated, function(one) one$acceptance, 0))
  public <- rated[[1]]$public
  # what is proposed for other scales than the finest isn't known here
  if (!is.null(bounds$most)) public[1] <- -Inf
  check_lattice_trials(M, ask, name, kept)
  c(bounds[c("sensitivity", "theorem", "solver_error", "total")], weighed_parts(law), list(
    acceptance = kept, slow = trials_slow(M, ask, name, kept), numbers = steps$numbers, gradient = steps$gradient,
    public = public, most = bounds$most,
    details = c(bounds$details %||% kng_moved(name), list(step = lattice_law_step(ask$ball)), stair)
  ))
}

# rounding of exponents and, of distances, of the logarithms that they are
lattice_law_bounds <- function(bounds, ball, more) {
  extra <- outwards(40 * UNIT_ROUNDOFF * ball$radius + more)
  bounds$solver_error <- bounds$solver_error + extra
  bounds$total <- outwards(bounds$total + extra)
  check_rounding(bounds$solver_error, bounds$sensitivity)
  bounds
}

# of the distance from the mean
distance_bounds <- function(M, ask) {
  steps <- mean_steps(M, ask$ball, ask$n)
  if (!is.null(steps$why)) abort_rounding(steps$why)
  bounds <- lattice_law_bounds(mean_bounds(M, ask, wrapped = FALSE), ask$ball, 2 * steps$gradient)
  bounds$steps <- steps
  bounds
}

# what the sampler takes of the law: its scale, and of a staircase the widths of a shell and of the first one
lattice_law_scale <- function(plan) c(plan$scale, plan$details$shell, plan$details$first)

kng_lattice_price <- function(plan) {
  price_normalised(plan$sensitivity + plan$solver_error + plan$scale * LATTICE_WEIGHTS / 2, plan$scale,
                   "kng.md, 9")
}

kng_lattice_release <- function(M, x, plan, ask, name, scale = lattice_law_scale(plan)) {
  .Call(riemdp_release_kng_lattice, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
        c(plan$numbers, list(gradient = plan$gradient, public = plan$public)), name, scale,
        pay(kng_lattice_price(plan)))
}

kng_lattice_words <- function(what, r) {
  sprintf(paste("Noise: a point of a lattice of normal coordinates at the public centre (step %.3g), in the public",
                "ball, with probability proportional to exp(-%s; scale = 2 x (sensitivity + solver error)/epsilon =",
                "%.6g. The sum of the weights depends on the records and takes the second half of epsilon. Drawn by",
                "integer arithmetic on random bits (proofs/kng.md, section 9). How many trials that takes depends on",
                "the records: who sees the run time learns something that the guarantee doesn't cover."),
          r$details$step, what, r$scale)
}

lattice_law <- function(name, plan, release, words,
                        unsupported = function(M, ask) kng_lattice_unsupported(M, ask, name)) {
  list(
    unsupported = unsupported,
    plan = plan,
    release = release,
    region = function(r, level) kng_region(r, level, name),
    words = words
  )
}

lattice_kng <- lattice_law(
  "kng",
  plan = function(M, ask) {
    if (is.null(ask$size)) {
      return(c(kng_lattice_plan(M, ask, "kng", lattice_law_bounds(gradient_bounds(M, ask), ask$ball, 0)),
               list(slope = kng_slope(M, ask$ball))))
    }
    bounds <- kng_sum_bounds(M, ask, 2)
    kng_lattice_plan(M, ask, "kng", c(bounds, kng_sum_parts(bounds)["details"]))
  },
  release = function(M, x, plan, ask) {
    if (is.null(ask$size)) return(kng_lattice_release(M, x, plan, ask, "kng"))
    kng_lattice_release(M, x$x, plan, ask, "kng", plan$scale / min(x$n, plan$most))
  },
  words = function(r) {
    if (!private_size(r)) {
      return(kng_lattice_words("|grad U|/scale), U the energy that the mean minimises", r))
    }
    kng_lattice_words(paste0("|S|/scale), S the sum of the records' logarithms at the point, with no number of ",
                             "records in it", kng_most_words(r)), r)
  }
)

lattice_laplace_truncated <- lattice_law(
  "laplace_truncated",
  plan = function(M, ask) kng_lattice_plan(M, ask, "laplace_truncated", distance_bounds(M, ask)),
  release = function(M, x, plan, ask) kng_lattice_release(M, x, plan, ask, "laplace_truncated"),
  words = function(r) kng_lattice_words("d/scale), d the distance from the mean", r)
)

# Shells around the mean on the ball, each lower by exp(-epsilon/2): the mean moves by one of them at most
mechanism_staircase_truncated <- list(
  name = "staircase_truncated",
  auto = TRUE,
  on_ball = TRUE,
  chunks = TRUE,
  lattice_only = TRUE,
  unsupported = function(M, ask) {
    paste("mechanism = \"staircase_truncated\"", if (!is.null(ask$sigma))
      "has steps as wide as the sensitivity: give `epsilon`." else
        "is drawn on a lattice only, in at most 128 dimensions.")
  },
  error = function(M, plan, ask) {
    kng_expected_error(M, ask, plan$scale, "staircase_truncated", truncated_staircase(plan))
  },
  law = function(plan) list(energy = truncated_staircase(plan), truncated = TRUE)
)

# the first shell's is that of noise on all of a flat space with half of epsilon; any width is as private as any other
staircase_widths <- function(M, scale, shell) {
  list(shell = shell, first = min(shell, staircase_best(euclidean(mf_facts(M)$dimension), scale, shell)$first))
}

lattice_staircase_truncated <- lattice_law(
  "staircase_truncated",
  unsupported = function(M, ask) {
    if (!is.null(ask$sigma)) mechanism_staircase_truncated$unsupported(M, ask) else
      kng_lattice_unsupported(M, ask, "staircase_truncated")
  },
  plan = function(M, ask) {
    bounds <- distance_bounds(M, ask)
    bounds$shell <- bounds$total
    # once more for the exponents, which are products of whole numbers of shells
    kng_lattice_plan(M, ask, "staircase_truncated", lattice_law_bounds(bounds, ask$ball, 0))
  },
  release = function(M, x, plan, ask) kng_lattice_release(M, x, plan, ask, "laplace_truncated"),
  words = function(r) {
    c(sprintf(paste("Probabilities are the same up to distance %.4g from the mean and lower by the factor",
                    "exp(-epsilon/2) on each further shell of width %.6g, which is as far as the mean can move."),
              r$details$first, r$details$shell),
      kng_lattice_words("k shell/scale), k the number of shells between the point and the mean", r))
  }
)

# ---- all of a space without positive curvature -----------------------------------------------------------------------
# Laplace's law and the staircase around the mean by the same sampler, in a ball so wide that next to nothing of them
# lies beyond, with weights that have the volume in them: so these add up to the same for all records, but for what
# `waste` pays, and no half of epsilon goes there (proofs/kng.md, section 10).

# hyperbolic spaces, positive definite matrices (affine-invariant), their products with each other and with flat ones
on_all_around <- function(M) {
  facts <- mf_facts(M)
  facts$dimension >= 2 && kng_on_lattice(M) && facts$k_max <= 0 && facts$k_min < 0 &&
    all(vapply(part_leaves(M), function(leaf) mf_facts(leaf$M)$model %in% c("hyperbolic", "spd", "hermitian", "flat"),
               NA))
}

# of the law's mass, what may lie beyond that ball for a privacy loss of 1, and as much less for a smaller one
WHOLE_TAIL <- 2^-17
# of the larger ball on hyperbolic space: cells there are a hundredth wide at most
AROUND_WIDEST <- 30
# trials that succeed more rarely would take seconds for the worst records
AROUND_KEPT <- 2e-6

# How volume grows in a ball of the space: in how many directions and at which rate at most, as long as at last, and how
# fast its logarithm may change along coordinates
around_volume <- function(M) {
  growth <- part_growth(M)
  list(curved = growth$curved, rate = sqrt(growth$bend / growth$curved), growth = mf_facts(M)$volume_growth,
       bend = sqrt(-mf_facts(M)$k_min), matrices = any(vapply(part_leaves(M), function(leaf) {
         mf_facts(leaf$M)$model %in% c("spd", "hermitian")
       }, NA)))
}

# radius beyond which the Laplace law, or a staircase with these shells, has no more than `tail` of its mass; flat: the
# logarithm of the least that is all of it, see log_flat_mass()
around_reach <- function(d, growth, scale, flat, first, tail) {
  left <- 1 / scale - growth
  log_share <- log(tail) + flat - lgamma(d) + d * log(left) - first / scale
  max(first, outwards(stats::qgamma(min(0, log_share), d, lower.tail = FALSE, log.p = TRUE) / left))
}

# the ball of the lattice, and the mean's public steps in it
around_ball <- function(M, ask, name, scale, stair, tail) {
  ball <- ask$ball
  d <- mf_facts(M)$dimension
  # a staircase steps down by epsilon at most
  flat <- log_flat_mass(d, if (stair[1] > 0) stair[1] / ask$epsilon else scale, stair)
  reach <- around_reach(d, mf_facts(M)$volume_growth, scale, flat, stair[2], tail)
  ball$radius <- (ball$radius + reach) * (1 + 1e-9)
  if (!is.finite(ball$radius)) abort_fine(scale)
  why <- lattice_law_why(M, ball, widest = AROUND_WIDEST)
  steps <- mean_steps(M, ball, 1)
  if (!is.null(why) || !is.null(steps$why)) {
    abort_riemdp("unsupported", sprintf(
      paste("mechanism = \"%s\" on a lattice needs room for its noise up to radius %.3g here, and doubles don't have",
            "it: %s. A smaller radius, a larger epsilon or mechanism = \"wrapped\" would do."), name, ball$radius,
      if (is.null(why)) steps$why else paste("it", why)
    ))
  }
  list(ball = ball, steps = steps)
}

# What a distance may be off by from that of any point of the cell, and what the sum of weights may be off by for two
# data sets, as a loss. steep: how fast the law's integral changes with an error of distances
around_waste <- function(d, volume, wide, steep, tail) {
  R <- wide$ball$radius
  half <- lattice_law_step(wide$ball) * sqrt(d) / 2
  off <- wide$steps$gradient + 20 * UNIT_ROUNDOFF * R + 1.01 * sinhc_r(volume$bend * R) * half
  computed <- (1 + volume$bend * R) * ((d + 160) * UNIT_ROUNDOFF + if (volume$matrices) 1e-11 else 0)
  volume <- volume$curved * (volume$bend * half + computed) + 200 * d * UNIT_ROUNDOFF
  list(off = off, waste = outwards(LATTICE_WEIGHTS + 2 * off * steep + 2 * volume - 2 * log1p(-tail)))
}

# The share of trials that succeed, for a mean up to distance r from the centre: what weights add up to is nearly the
# same for all (Lemma 10), `waste` of it at most is missing. As kng_lattice_kept().
around_kept <- function(d, volume, scale, wide, r, stair, waste = 0) {
  R <- wide$ball$radius
  less <- 2 * wide$steps$slope
  grows <- c(volume$curved, volume$rate, r)
  key <- paste(c("mass proposed", format(c(d, R, scale, less, grows, stair), digits = 17)), collapse = " ")
  proposed <- remember(key, function() {
    .Call(riemdp_kng_proposed, d, R, 1, 0, 1 / scale, less, stair[1], stair[2], grows)
  })
  most <- volume$curved * log(sinhc_r(volume$rate * R))
  list(acceptance = min(1, exp(log_sphere_area(d) + log_flat_mass(d, scale, stair) - most - waste - proposed)),
       public = c(proposed, 1, 0, less, r))
}

# of exp(-rho/scale) in flat space, over the area of spheres; of a staircase with shells so wide from the first on, of
# which so many are counted that next to nothing is left, or less than there is
log_flat_mass <- function(d, scale, stair) {
  if (stair[1] == 0) return(lgamma(d) + d * log(scale))
  edge <- stair[2] + stair[1] * (0:min(20000, ceiling(60 * (d + 1) * scale / stair[1])))
  inner <- c(0, edge[-length(edge)])
  parts <- d * log(edge) + log(-expm1(d * log(inner / edge))) - (edge - stair[2]) / scale
  max(parts) + log(sum(exp(parts - max(parts)))) - log(d)
}

around_plan <- function(M, ask, name) {
  d <- mf_facts(M)$dimension
  volume <- around_volume(M)
  stairs <- name == "staircase"
  bounds <- mean_bounds(M, ask, wrapped = FALSE)
  nominal <- ask$sigma %||% (bounds$total / ask$epsilon)
  widest <- 1.05 * nominal # with some room for what rounding adds
  check_laplace(M, widest, ask$n, ask$epsilon, ask$ball$radius)
  if (!(1 / widest > volume$curved * volume$rate)) {
    abort_riemdp("unsupported",
                 "volume may grow faster than the bound by which draws are proposed: a larger epsilon would do.")
  }
  tail <- WHOLE_TAIL * min(1, ask$epsilon %||% (bounds$total / widest))
  best <- if (stairs) staircase_best(M, nominal, bounds$total)
  stair <- if (stairs) c(bounds$total, min(bounds$total, best$first)) else c(0, 0)
  wide <- around_ball(M, ask, name, widest, stair, tail)
  bounds <- lattice_law_bounds(bounds, wide$ball, 2 * wide$steps$gradient)
  shell <- if (stairs) bounds$total
  # once more for the exponents of shells, which are products of whole numbers
  if (stairs) bounds <- lattice_law_bounds(bounds, wide$ball, 0)
  paid <- around_waste(d, volume, wide, if (stairs) expm1(ask$epsilon) / shell else 1 / nominal, tail)
  law <- pure_scale(ask, bounds$total)
  if (is.null(ask$sigma)) {
    law$scale <- outwards(law$scale * ask$epsilon / max(0, ask$epsilon - paid$waste))
  } else {
    law$epsilon <- outwards(law$epsilon + paid$waste)
  }
  if (!(law$scale <= widest)) abort_rounding("the lattice's own errors would take more than a twentieth of `epsilon`")
  if (law$scale < kng_finest(wide$ball, wide$steps)) abort_fine(law$scale)
  if (stairs) stair[1] <- shell
  rated <- around_kept(d, volume, law$scale, wide, ask$ball$radius, stair, paid$waste)
  kept <- rated$acceptance
  check_lattice_trials(M, ask, name, kept, min(most_trials(M, ask, name), 1 / AROUND_KEPT))
  parts <- weighed_parts(law)
  if (volume$matrices) {
    parts$guarantee$assumptions <- c(parts$guarantee$assumptions,
                                     "eigenvalues of symmetric matrices are right to 1e-12 of the largest")
  }
  c(bounds[c("sensitivity", "theorem", "solver_error", "total")], parts, list(
    acceptance = kept, slow = trials_slow(M, ask, name, kept), public = rated$public, numbers = bounds$numbers,
    gradient = wide$steps$gradient, whole = wide$steps$numbers,
    mean_radius = if (stairs) best$error * law$scale / nominal,
    details = c(list(lattice = lattice_law_step(wide$ball), reach = wide$ball$radius), paid,
                if (stairs) list(step = shell, first = stair[2]))
  ))
}

around_price <- function(plan) {
  total <- plan$sensitivity + plan$solver_error
  paid <- total + plan$scale * plan$details$waste
  if (is.null(plan$details$step)) return(price_laplace(paid, plan$scale, "kng.md, 10"))
  # a move by more than a shell would cost another one
  shells <- price_staircase(plan$sensitivity, plan$details$step, plan$scale, "kng.md, 10")
  shells$epsilon <- max(shells$epsilon, paid / plan$scale)
  shells
}

# `mechanism` on a lattice: as noise of the law `law` at the centre where the space is flat, as this where it is curved
on_lattice_around <- function(mechanism, law) {
  name <- mechanism$name
  whole <- list(
    unsupported = function(M, ask) {
      if (!is.null(ask$size)) { # size_lattice() knows
        return(sprintf("mechanism = \"%s\" has no lattice here for a private number of records.", name))
      }
      if (length(ask$options)) return(sprintf("mechanism = \"%s\" has no `options` on a lattice here.", name))
      c(mechanism$unsupported(M, ask), kng_lattice_unsupported(M, ask, name))[1]
    },
    plan = function(M, ask) around_plan(M, ask, name),
    error = mechanism$error,
    release = function(M, x, plan, ask) {
      .Call(riemdp_release_kng_lattice, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
            c(plan$numbers, list(gradient = plan$gradient, whole = plan$whole, public = plan$public)),
            "laplace_truncated", c(plan$scale, plan$details$step, plan$details$first), pay(around_price(plan)))
    },
    region = function(r, level) {
      out <- mechanism$region(r, 1 - (1 - level) * exp(-r$details$waste))
      out$radius <- out$radius + r$details$off
      out
    },
    words = function(r) {
      c(mechanism$words(r), sprintf(
        paste("It is drawn by integer arithmetic on random bits, as a point of a lattice of normal coordinates at the",
              "public centre (step %.3g) up to radius %.4g, with that density times the volume there for a weight;",
              "rounding, and what these weights add up to, enter the scale (proofs/kng.md, section 10). How many",
              "trials that takes depends on the records: who sees the run time learns something that the guarantee",
              "doesn't cover."), r$details$lattice, r$details$reach
      ))
    }
  )
  flat <- mechanism_lattice
  flat$plan <- function(M, ask) mechanism_lattice$plan(M, with_law(ask, law))
  on <- function(M) if (flat_space(M)) flat else whole
  lattice_beside(mechanism, list(
    options = flat$options,
    unsupported = function(M, ask) on(M)$unsupported(M, ask),
    plan = function(M, ask) on(M)$plan(M, ask),
    error = function(M, plan, ask) on(M)$error(M, plan, ask),
    law = flat$law,
    release = function(M, x, plan, ask) on(M)$release(M, x, plan, ask),
    region = function(r, level) on(r$manifold)$region(r, level),
    words = function(r) on(r$manifold)$words(r)
  ), function(M) flat_space(M) || on_all_around(M))
}
