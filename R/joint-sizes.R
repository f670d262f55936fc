# Private groups where a record is replaced, in form "joint": the groups' numbers of records and the sums that go with
# them, each that number times the mean's logarithm at the public centre, are one release. Proof:
# inst/proofs/mean-sensitivity.md, section 15.

# steps of a staircase higher than this keep few draws, as more groups do
JOINT_RISE <- 4
JOINT_MOST <- 16

# ---- the noise -------------------------------------------------------------------------------------------------------
# Whole counts t_1, ..., t_C that add up to 0, and whole vectors z_j: probability exp(-rise) for each shell of each
# group, in which max(width |t_j|, |z_j|) lies, and for each count of those in no group.

joint_shells <- function(s) {
  rise <- s$shells[3] * s$shells[2] / s$shells[1]
  i <- 0:(ceiling((s$dimension + 1 + 12 * sqrt(s$dimension + 1) + 60) / rise) + 2)
  edge <- s$shells[4] + s$shells[3] * i
  # |t| <= most and |z| <= edge in the first shells; their weight, which falls by log_fall at the edge
  list(rise = rise, edge = edge, most = floor(edge / s$shells[3]), log_fall = -rise * i)
}

# numbers on 0, 1, ... and on the other side of it, on a circle
circle_transform <- function(p, long) {
  at <- numeric(long)
  at[seq_along(p)] <- p
  at[long + 2 - seq_along(p)[-1]] <- p[-1]
  Re(stats::fft(at))
}

# The law of one group's count and vector: even on {|z| <= edge} given a shell, the count among |t| <= most after
# `others`, P(others add up to 0), P(... 1), ...; a shell's probability is exp(log_p) times the d-th power of its edge.
# NULL where the others' law would be too long.
joint_law <- function(s) {
  remember(paste(c("joint", s$shells, s$dimension, s$categories, s$rest), collapse = " "), function() {
    shells <- joint_shells(s)
    d <- s$dimension
    most <- max(shells$most)
    if (most * s$categories > 2^21) return(NULL)
    long <- 2^ceiling(log2(2 * s$categories * (most + 1)))
    # counts alone: the volume that is left to the vector
    log_volume <- shells$log_fall + d * log(pmax(shells$edge, 1e-300))
    count <- rev(cumsum(rev(exp(log_volume - max(log_volume)))))
    if (shells$most[1] > 0) count <- c(count[1], count)
    transform <- circle_transform(count / (2 * sum(count) - count[1]), long)^(s$categories - 1 - s$rest)
    if (s$rest) {
      q <- exp(-shells$rise)
      transform <- transform * circle_transform((1 - q) / (1 + q) * q^(0:most), long)
    }
    others <- pmax(Re(stats::fft(transform))[seq_len(most + 1)] / long, 0)
    within <- 2 * cumsum(others) - others[1]
    c(list(dimension = d, others = others, within = within, count = count,
           log_p = shells$log_fall + log(within[shells$most + 1])), shells)
  })
}

# by integrals over balls whose radius is that much larger
joint_masses <- function(law, more = 0) law$log_p + law$dimension * log(pmax(law$edge + more, 1e-300))

# half of the diagonal of a lattice's cube: what lies in a ball is compared with integrals over it
joint_half <- function(law) sqrt(law$dimension) / 2

# A length that |z| exceeds with probability 1 - level at most
joint_quantile <- function(level, law) {
  h <- joint_half(law)
  outer <- joint_masses(law, h) - log_sum(joint_masses(law, -h))
  beyond <- function(q) {
    inside <- pmin(1, pmax(0, q - h) / (law$edge + h))^law$dimension
    if (any(inside < 1)) log_sum((outer + log1p(-inside))[inside < 1]) + 1e-9 else -Inf
  }
  ends <- c(0, max(law$edge) + 2 * h)
  for (i in 1:60) {
    q <- mean(ends)
    ends[if (beyond(q) <= log1p(-level)) 2 else 1] <- q
  }
  ends[2]
}

# P(t > 0), P(t > 1), ...; above 1e-10 by sums, below by the others' largest probability
joint_above <- function(law) {
  above <- function(p) rev(cumsum(rev(p)))[-1]
  p <- law$count * law$others[seq_along(law$count)]
  whole <- 2 * sum(p) - p[1]
  pmin(above(p) / whole + 1e-13, above(law$count) * max(law$others) / whole)
}

# least j with P(t > j) <= tail, in any of the groups
joint_far <- function(s, tail) {
  law <- joint_law(s)
  h <- joint_half(law)
  # what the lattice's points may add to a probability, in each of the groups
  excess <- exp(s$categories * (log_sum(joint_masses(law, h)) - log_sum(joint_masses(law, -h)))) * (1 + 1e-9)
  far <- which(joint_above(law) * excess <= tail)[1] - 1
  if (is.na(far)) length(law$count) else far
}

# ---- the plan --------------------------------------------------------------------------------------------------------

# why it isn't there, from public facts, or NULL
joint_refused <- function(ask, categories) {
  if (!ask$mechanism %in% c("auto", "wrapped_staircase")) {
    sprintf("mechanism = \"%s\" has no such form, \"wrapped_staircase\" has.", ask$mechanism)
  } else if (ask$numerics == "real") {
    "it is drawn on a lattice: not with numerics = \"real\"."
  } else if (ask$delta > 0) {
    "it is pure: give no `delta`."
  } else if (!is.null(ask$epsilon) && !(ask$epsilon <= 2 * JOINT_RISE && ask$epsilon >= 2 * LEAST_RISE)) {
    sprintf("it is there for `epsilon` from %g to %g.", 2 * LEAST_RISE, 2 * JOINT_RISE)
  } else if (!is.null(ask$options[["count"]])) {
    "no share of epsilon is for the sizes alone: give no `count`."
  } else if (categories > JOINT_MOST) {
    sprintf("it is there for %d groups at most, those in none counted as one.", JOINT_MOST)
  }
}

# `ask` of groups in that form; `n` records in all, in so many categories
joint_ask <- function(M, ask, n, categories) {
  why <- joint_refused(ask, categories)
  if (!is.null(why)) abort_riemdp("unsupported", paste0("options = list(form = \"joint\"): ", why))
  check_size_served(M, ask)
  ask$numerics <- "lattice"
  ask$sized <- ask$epsilon
  ask$whole_delta <- 0
  ask$options <- list()
  ask$size <- list(share = 0, epsilon = ask$epsilon, scale = NA_real_, reach = ask$ball$radius, form = "joint", tail = 0,
                   shift = 0, categories = categories, rest = ask$elsewhere, law = "joint", all = n)
  joint_plan(M, ask, ask$guess) # what can't be served is refused before anything is spent
  ask
}

# The plan for a group of that size. What is drawn doesn't depend on it, only what is said of errors does.
joint_plan <- function(M, ask, count) {
  ask$n <- max(1, round(ask$guess))
  d <- mf_facts(M)$dimension
  r <- ask$ball$radius
  bounds <- lattice_bounds(M, ask)
  if (!is.null(bounds$why)) abort_riemdp("unsupported", bounds$why)
  reach <- outwards(counted_reach(ask$ball, wrapped = TRUE))
  # of a sum over as many records as there are
  off <- outwards(ask$size$all * (bounds$error + 4 * UNIT_ROUNDOFF * r))
  check_rounding(2 * off, reach)
  real <- reach + 2 * off
  each <- outwards_down(ask$epsilon / 2)
  finest <- room_bits(max(1, ask$size$all) * r)
  k <- max(-150, min(150, finest, ceiling(-log2(min(real / each, real / sqrt(d)) / 2^10))))
  step <- 2^-k
  shift <- outwards(real / step + sqrt(d))
  width <- ceiling(shift)
  ratio <- as_ratio(outwards(width / each), ceiling)
  scale <- ratio[1] / ratio[2]
  shells <- c(width, min(width, round(staircase_best(euclidean(d + 1), scale, width)$first)))
  ask$size[c("shells", "dimension")] <- list(c(ratio, shells), d)
  if (is.null(joint_law(ask$size))) abort_riemdp("unsupported", "the law of so many groups' sizes can't be told.")
  ask$n <- min(max(1, count), SIZE_MOST)
  plan <- list(
    mechanism = "wrapped_staircase", numerics = "lattice", law = "joint", scale = scale * step, sensitivity = reach,
    theorem = "of form \"joint\", about r, proofs/mean-sensitivity.md, section 15", solver_error = 2 * off,
    acceptance = NA_real_, numbers = bounds$numbers, ask = ask,
    details = list(law = "joint", k = k, step = step / ask$n, error_bound = off / ask$n, lattice_sensitivity = shift,
                   lattice_scale = scale, shells = shells,
                   moved = "number of a group's records and that number times the mean's logarithm"),
    guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"),
    chosen = "smallest expected error at a public guess of a group's size"
  )
  plan$guarantee$reasons <- unproven_mean(M, plan)
  plan$guarantee <- promise_of(plan$guarantee, c("center and radius are public; the number of records is public",
                                                 steps_assumptions(M, plan)), trusted = M, numerics = "lattice")
  plan$expected_error <- joint_error(M, ask, step)
  typed_plan(plan_shrunk(M, plan, ask), c(MEAN_PARTS, MEAN_ERRORS))
}

# By draws with a fixed seed, a shell after its probability: the error of a mean half-way from the centre to the edge
joint_error <- function(M, ask, step, draws = 4000) {
  s <- ask$size
  law <- joint_law(s)
  p <- joint_masses(law)
  told_error(with_simulation(1, {
    i <- sample.int(length(p), draws, TRUE, exp(p - max(p)))
    z <- matrix(stats::rnorm(draws * s$dimension), draws)
    z <- z / sqrt(rowSums(z^2)) * law$edge[i] * stats::runif(draws)^(1 / s$dimension) * step
    count <- findInterval(stats::runif(draws) * law$within[law$most[i] + 1], law$within)
    z[, 1] <- z[, 1] + sample(c(-1, 1), draws, TRUE) * count * s$reach / 2
    tangent_error(M, z / ask$n, ask$center, ask$ball$radius)
  }))
}

# minus the log of the density of the noise around the mean, up to a constant
joint_energy <- function(plan) {
  law <- joint_law(plan$ask$size)
  beyond <- rev(cumsum(rev(exp(law$log_p))))
  last <- length(beyond)
  function(rho) {
    i <- pmax(ceiling((rho / plan$details$step - law$edge[1]) / diff(law$edge[1:2])), 0) + 1
    pmax(i - last, 0) * law$rise - log(beyond[pmin(i, last)])
  }
}

# Whether the errors at a public guess of a group's size are smaller than where sizes come first; of those the noise's
# and that of missing points are at right angles, about
joint_errs_less <- function(M, joint, apart) {
  first <- plan_size(M, apart, max(1, round(apart$guess)))
  missing <- missing_error(first$ask)
  joint_plan(M, joint, joint$guess)$noise_error < sqrt((first$noise_error - missing)^2 + missing^2)
}

# ---- the release -----------------------------------------------------------------------------------------------------

# list(value, plan, size) of each group; `records`: a list of each one's, NULL where it has none
joint_release <- function(M, records, like, plan, ask) {
  w <- plan$details
  s <- plan$ask$size
  rise <- ceiling(w$lattice_sensitivity / w$shells[1]) * w$shells[1] / w$lattice_scale
  price <- draw_price("counts and sums", "mean-sensitivity.md, 15, joint", w$lattice_sensitivity, w$lattice_scale,
                      epsilon = 2 * rise) # in both groups that a record touches
  noisy <- .Call(riemdp_release_groups, M, records, ask$center, plan$numbers, w$k,
                 c(s$shells, w$shells[1], s$dimension, s$rest), pay(price))
  lapply(seq_along(records), function(i) joint_mean(M, like, noisy[, i], ask))
}

# of a group's released number and sum
joint_mean <- function(M, like, noisy, ask) {
  plan <- joint_plan(M, ask, noisy[1])
  a <- noisy[-1] / plan$ask$n
  a <- a * min(1, ask$ball$radius / max(sqrt(sum(a^2)), 1e-300))
  kept <- c("form", "shift", "reach", "epsilon", "scale", "categories", "rest", "law", "shells", "dimension")
  list(value = .Call(riemdp_placed, M, like, ask$center, a), plan = plan,
       size = c(list(count = noisy[1], points = plan$ask$n), plan$ask$size[kept]))
}

# ---- what is said of it ----------------------------------------------------------------------------------------------

joint_words <- function(r) {
  w <- r$details
  sprintf(paste("Noise: the group's number of %s, and that number times the mean's logarithm at the public centre,",
                "rounded to multiples of 2^%d, are released together, with those of all groups. To the number t is",
                "added and to the coordinates z, whole steps whose probability falls with the larger of %.6g |t| and",
                "|z|: the same up to %.6g steps and lower by the factor exp(-epsilon/2) on each further shell, %.6g",
                "steps wide. One %s more or less moves the number by 1 and the coordinates by at most %.6g steps: the",
                "bound above, twice the error that doubles make, and sqrt(d) for rounding. All is drawn by integer",
                "arithmetic on random bits; the sum over the number is moved to the ball, and exp maps it back",
                "(proofs/lattice.md)."),
          if (is.null(r$unit)) "records" else "units", -w$k, w$shells[1], w$shells[2], w$shells[1],
          if (is.null(r$unit)) "record" else "unit", w$lattice_sensitivity)
}

joint_size_words <- function(r) {
  paste("Size: released with the mean, and the noise of all groups' sizes adds up to 0. What the size's noise does to",
        "the mean is part of the expected error and of regions (proofs/mean-sensitivity.md, section 15).")
}
