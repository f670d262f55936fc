# Private groups where a record is replaced, in form "joint": the groups' numbers of records and the sums that go with
# them, each that number times the mean's logarithm at the public centre, are one release. Proof:
# inst/proofs/mean-sensitivity.md, section 15.

# steps of a staircase higher than this keep few draws, as more groups do
JOINT_RISE <- 4
JOINT_MOST <- 16

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
  ask$size <- list(share = 0, epsilon = ask$epsilon, scale = NA_real_, reach = ask$ball$radius, form = "joint",
                   tail = 0, shift = 0, categories = categories, rest = ask$elsewhere, law = "joint", all = n)
  ask$guessed <- joint_plan(M, ask, ask$guess) # what can't be served is refused before anything is spent
  ask
}

# The plan for a group of that size. What is drawn doesn't depend on it, only what is said of errors does.
joint_plan <- function(M, ask, count) {
  ask$n <- max(1, ask$size$all) # as many as one group may have
  d <- mf_facts(M)$dimension
  r <- ask$ball$radius
  bounds <- lattice_bounds(M, ask)
  if (!is.null(bounds$why)) abort_riemdp("unsupported", bounds$why)
  reach <- outwards(counted_reach(ask$ball, wrapped = TRUE))
  # of a sum over as many records as there are
  off <- outwards(ask$size$all * (bounds$error + 4 * UNIT_ROUNDOFF * r))
  check_rounding(2 * off, reach)
  real <- reach + 2 * off
  each <- ask$epsilon / 2 # of both groups that a record touches
  k <- lattice_bits(real / each, real, d, room_bits(ask$n * r))
  step <- 2^-k
  shift <- outwards(real / step + sqrt(d))
  noise <- shells_scale(shift, d + 1, list(epsilon = each))
  ask$size[c("shells", "dimension")] <- list(noise$ratio, d)
  law <- joint_law(ask$size)
  if (is.null(law)) abort_riemdp("unsupported", "the law of so many groups' sizes can't be told.")
  if (noise$ratio[1] * (d + 1) > 2^62) {
    abort_riemdp("unsupported", "so small a budget has no such noise in so many dimensions.")
  }
  ask$size$missing <- joint_off(law)
  ask$n <- min(max(1, count), SIZE_MOST)
  plan <- list(
    mechanism = "wrapped_staircase", numerics = "lattice", law = "joint", scale = noise$scale * step,
    sensitivity = reach, theorem = "of form \"joint\", about r, proofs/mean-sensitivity.md, section 15",
    solver_error = 2 * off, acceptance = NA_real_, numbers = bounds$numbers, ask = ask,
    details = list(law = "joint", k = k, step = step / ask$n, error_bound = off / ask$n, lattice_sensitivity = shift,
                   lattice_scale = noise$scale, shells = noise$ratio[-(1:2)],
                   moved = "number of a group's records and that number times the mean's logarithm"),
    guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"),
    chosen = "smallest expected error at a public guess of a group's size"
  )
  plan$guarantee$reasons <- unproven_mean(M, plan)
  plan$guarantee <- promise_of(plan$guarantee, c("center and radius are public; the number of records is public",
                                                 steps_assumptions(M, plan)), trusted = M, numerics = "lattice")
  # a small size as released is no reason to keep anything back
  plan$expected_error <- tryCatch(joint_error(M, ask, step), riemdp_error = function(e) NA_real_)
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

# Whether the errors at a public guess of a group's size are smaller than where sizes come first; of those the noise's
# and that of missing points are at right angles, about
joint_errs_less <- function(M, joint, apart) {
  first <- plan_size(M, apart, max(1, round(apart$guess)))
  missing <- missing_error(first$ask)
  isTRUE(joint$guessed$noise_error < sqrt((first$noise_error - missing)^2 + missing^2))
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
  kept <- c("form", "shift", "reach", "epsilon", "scale", "categories", "rest", "law", "shells", "dimension")
  list(value = .Call(riemdp_placed, M, like, ask$center, noisy[-1] / plan$ask$n), plan = plan,
       size = c(list(count = noisy[1], points = plan$ask$n), plan$ask$size[kept]))
}
