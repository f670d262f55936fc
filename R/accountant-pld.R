# Privacy-loss distributions. Each composed part is a source of losses; it is put on a grid so that the hockey-stick
# divergence is bounded from above (connect the dots: Doroshenko et al. 2022) or from below (merged outcomes:
# post-processing), parts are convolved by FFT, and what truncation, wrap-around and rounding can do is added or taken
# off.
#
# Before the transform every law is tilted by e^(theta loss) with theta at the saddle point of the question: rounding is
# then relative to the delta that is asked for and not to 1, so that delta = 1e-12 after a million steps keeps its
# digits, and the window is a few standard deviations around the answer.

# Source of one part. `direction`: "leave" (the first data set holds the record), "enter", or "both" for replaced
# records, whose pairs are their own mirror images.
# long: a line for each kind of event
pld_part <- function(event, direction, upper = TRUE) {
  if (!upper && several_claims(event)) return(atoms_pure(0))
  p <- event$parameters
  switch(event$type,
    pure = atoms_pure(p$epsilon),
    approx = atoms_pure(p$epsilon, p$delta),
    gaussian = pld_source(pair = smooth_pair("gaussian", 1 / p$noise_multiplier)),
    gdp = if (p$mu > 0) pld_source(pair = smooth_pair("gaussian", p$mu)) else atoms_pure(0),
    laplace = laplace_source(1 / p$scale, 1, 0),
    discrete_laplace = atoms_discrete_laplace(lattice_rate(p), p$sensitivity),
    discrete_gaussian = atoms_discrete_gaussian(p$sigma, p$sensitivity, p$dimension),
    mixture = mixture_source(p, direction == "enter"),
    shuffle = shuffle_source(event),
    select = atoms_pure(pair_of_select(event)),
    custom = claimed_source(event, direction, upper),
    pair = atoms_pair(pair_laws(p, direction == "enter")),
    poisson = sampled_source(event$children[[1]], p$q, direction, upper),
    poisson_replaced = exchanged_gaussian(1 / p$noise_multiplier, p$q, upper),
    allocation = tryCatch(
      allocated_step(event$children[[1]], p$steps, direction, upper),
      # of grids that are too long or too wide
      riemdp_error_argument = function(e) unpriced(event, "privacy-loss distributions", "its losses are too many")
    ),
    sample = replaced_source(event$children[[1]], p$q, upper),
    resample = if (upper) resampled_source(event) else atoms_pure(0), # not known to be attained
    poisson_capped = unpriced(event, "privacy-loss distributions", "within other events"),
    parallel = pld_part(dearest(event, upper), direction, upper),
    compose = {
      # a composition inside something else: its own distribution, as atoms
      d <- pld_distribution(event, direction, upper)
      pld_source(loss = d$loss, mass = d$mass, infinite = d$infinite)
    },
    unpriced(event, "privacy-loss distributions", "only a bound of its Renyi divergence is known")
  )
}

# one of many steps by lot, from the step's own pair for leaving
allocated_step <- function(step, steps, direction, upper) {
  mu <- gaussian_step(step)
  if (!is.null(mu) && mu > 0) {
    if (mu > ALLOCATION_GAUSSIAN_MOST) unpriced(step, "privacy-loss distributions", "so little noise by lot has none")
    step <- new_event("gdp", step$adjacency, list(mu = mu))
  }
  if (!lone_step(step)) {
    unpriced(step, "privacy-loss distributions", "where steps are allocated by lot each has to be one step by itself")
  }
  allocated_source(pld_part(step, "leave", upper), steps, direction == "enter", upper, event_key(step))
}

# whether its pair is known as it is, not by a grid that bounds it
lone_step <- function(event) {
  if (event$type == "poisson") return(event$children[[1]]$type != "poisson" && lone_step(event$children[[1]]))
  event$type %in% c("pure", "approx", "gaussian", "gdp", "laplace", "discrete_laplace", "discrete_gaussian", "mixture",
                    "pair", "custom", "select")
}

# beyond, ratios of densities leave doubles
ALLOCATION_GAUSSIAN_MOST <- 15

# (1 - q) Q + q P against Q, or Q against it, for the pair (P, Q) of a step
sampled_source <- function(step, q, direction, upper, inner = direction) {
  enter <- direction == "enter"
  mu <- gaussian_step(step)
  if (!is.null(mu)) return(sampled_gaussian(mu, q, enter, upper))
  if (step$type == "mixture") return(mixture_source(step$parameters, enter, q))
  if (step$type == "laplace") return(sampled_laplace(1 / step$parameters$scale, q, enter, upper))
  source <- pld_part(step, inner, upper)
  if (source$fold || !is.null(source$pair)) {
    # a sample of a sampled step: by its own grid
    single <- new_event("compose", step$adjacency, list(times = 1), list(step))
    d <- pld_distribution(single, inner, upper)
    source <- pld_source(loss = d$loss, mass = d$mass, infinite = d$infinite)
  }
  align_atoms(if (enter) entering(source, q, upper) else leaving(source, q, upper))
}

# So little noise that a grid of doubles doesn't hold its losses: from above nothing is known, from below as little
# noise as it holds. P against Q in coordinates that "enter" turns round: mirrored smooth pairs are their own.
sampled_gaussian <- function(mu, q, enter, upper) {
  if (mu > PLD_GAUSSIAN_MOST && upper) return(sampled_openly(q, enter))
  if (mu > 0) pld_source(pair = smooth_pair("gaussian", min(mu, PLD_GAUSSIAN_MOST), q, enter)) else atoms_pure(0)
}

# (1 - q) N(0, 1) + q N(mu, 1) against (1 - q) N(0, 1) + q N(-mu, 1), its own mirror image; without noise what is in the
# sample shows
exchanged_gaussian <- function(mu, q, upper) {
  if (mu > PLD_GAUSSIAN_MOST && upper) return(pld_source(loss = 0, mass = 1 - q, infinite = q, certain = q))
  pld_source(pair = smooth_pair("exchange", min(mu, PLD_GAUSSIAN_MOST), q))
}

sampled_laplace <- function(e, q, enter, upper) {
  if (e > PLD_REACH && upper) return(sampled_openly(q, enter))
  e <- min(e, PLD_REACH)
  if (!enter) return(align_atoms(leaving(laplace_source(e, q, 0), q, upper)))
  # atoms of Q: losses of P against Q are e with mass e^-e/2 and -e with mass 1/2
  out <- pld_source(pair = smooth_pair("laplace", e, q, TRUE), loss = c(e, -e), mass = c(exp(-e) / 2, 1 / 2))
  out$loss <- -log_mix(out$loss, q)
  align_atoms(out)
}

# the step's own entering pair (A, B): A against (1 - q) A + q B
entering <- function(source, q, upper) {
  source$loss <- -log_mix(-source$loss, q)
  # from below only what is no truncation
  real <- if (upper) source$infinite else source$certain
  if (real > 0 && q < 1) {
    source$loss <- c(source$loss, -log1p(-q))
    source$mass <- c(source$mass, real)
    source$infinite <- source$certain <- 0
  }
  source
}

# (1 - q) Q + q P against Q
leaving <- function(source, q, upper) {
  # what P has no mass for in doubles is among the rest below
  held <- source$mass > 0
  source$loss <- source$loss[held]
  source$mass <- source$mass[held]
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
  source
}

# A share of the records, one of which is replaced: the amplified curve and its mirror image at once (Dong, Roth and Su
# 2022, Theorem 9), above 0 that of "leave".
replaced_source <- function(step, q, upper) {
  if (q == 1) return(pld_part(step, "both", upper))
  source <- sampled_source(step, q, "leave", upper, inner = "both")
  source$fold <- TRUE
  positive <- source$loss[source$loss > 0]
  if (is.null(source$pair) && !length(positive)) {
    return(pld_source(loss = 0, mass = 1 - source$infinite, infinite = source$infinite, certain = source$certain))
  }
  source$unit <- if (is.null(source$pair) && length(positive) == 1) positive
  source$origin <- 0
  source
}

RESAMPLE_DENSE <- 2^10

# With replacement: above 0 the losses of a sample, with the share by which a record is drawn at all, of a step that
# tells how often it was (proofs/accounting.md, section 1), on one grid for all numbers of draws.
resampled_source <- function(event) {
  draws <- resample_draws(event$parameters)
  mu <- gdp_price(event$children[[1]])
  known <- draws$count * mu <= PLD_GAUSSIAN_MOST
  # cells that grow with the loss: few, and what lies between two points is moved apart by little
  h <- draws$share * min(mu, 1) / 200
  found <- remember(paste("resample", event_key(event)), function() {
    parts <- Map(function(count, chance) {
      pair <- smooth_pair("gaussian", count * mu, draws$share)
      grid <- grid_above(pld_source(pair = pair, fold = TRUE), h, RESAMPLE_TAIL, RESAMPLE_TAIL,
                         dense = RESAMPLE_DENSE)
      keep <- grid$at > 0
      list(at = grid$at[keep], mass = chance / draws$share * grid$mass[keep],
           infinite = chance / draws$share * grid$infinite)
    }, draws$count[known], draws$chance[known])
    sums <- sum_at(unlist(lapply(parts, `[[`, "at")), unlist(lapply(parts, `[[`, "mass")))
    c(sums, infinite = sum(vapply(parts, `[[`, 0, "infinite")))
  })
  # what isn't on the grid counts as telling all
  infinite <- found$infinite + (draws$beyond + sum(draws$chance[!known])) / draws$share
  source <- pld_source(loss = h * found$at, mass = found$mass, infinite = min(1, infinite), fold = TRUE)
  source$rounding <- 2e-12 + 1e-14 * max(c(0, draws$count[known] * mu))
  source
}

# of what meets several stated bounds none is known to be attained
several_claims <- function(event) {
  (event$type == "custom" && length(event$children) > 1) || any(vapply(event$children, several_claims, NA))
}

# the best of several stated bounds
claimed_source <- function(event, direction, upper) {
  known <- Filter(function(claim) claim$type %in% c("approx", "gdp"), event$children)
  if (!length(known)) unpriced(event, "privacy-loss distributions")
  size <- vapply(known, function(claim) tryCatch(rdp_value(claim, 8), riemdp_error_unpriced = function(e) Inf), 0)
  pld_part(known[[which.min(size)]], direction, upper)
}

# From above: one event that dominates whatever a record meets in parallel parts; there is no general rule. From below:
# one of the parts.
dearest <- function(event, upper) {
  choices <- parallel_choices(event)
  if (length(choices) == 1) return(choices[[1]])
  children <- event$children
  if (!upper) return(dearest_choice(choices %||% children))
  mu <- largest_mu(choices)
  if (!is.null(mu)) return(new_event("gdp", event$adjacency, list(mu = mu)))
  private <- event$parameters$keys == "private"
  # a record may meet two open parts
  two <- private && length(children) > 1 && !any(vapply(children, `[[`, "", "adjacency") == "add-remove")
  pure <- lapply(children, basic_price)
  if (!any(vapply(pure, is.null, NA))) {
    response <- function(price) new_event("approx", event$adjacency, list(epsilon = price[1], delta = min(1, price[2])))
    if (!two) return(response(basic_price(event)))
    # losses of two responses don't tell whose epsilon goes with whose delta
    of_rank <- function(i) response(apply(do.call(rbind, pure), 2, function(x) sort(x, decreasing = TRUE)[i]))
    return(new_event("compose", event$adjacency, list(times = 1), list(of_rank(1), of_rank(2))))
  }
  sampled <- if (!private) dearest_sample(event)
  if (!is.null(sampled)) return(sampled)
  if (two && length(children) == 2) return(new_event("compose", event$adjacency, list(times = 1), children))
  unpriced(event, "privacy-loss distributions", "its parts are of different kinds")
}

dearest_choice <- function(choices) {
  size <- vapply(choices, function(choice) tryCatch(max(rdp_value(choice, 4)), riemdp_error_unpriced = function(e) 0),
                 0)
  choices[[which.max(size)]]
}

# of Gaussian steps; NULL where there is another one
largest_mu <- function(events) {
  mus <- lapply(events, gaussian_step)
  if (length(mus) && !any(vapply(mus, is.null, NA))) max(unlist(mus))
}

# Gaussian steps, all on samples of one kind: the larger share of the larger step dominates all of them
dearest_sample <- function(event) {
  kind <- unique(vapply(event$children, `[[`, "", "type"))
  if (length(kind) != 1 || !kind %in% c("poisson", "sample")) return(NULL)
  mu <- largest_mu(lapply(event$children, function(child) child$children[[1]]))
  if (is.null(mu)) return(NULL)
  q <- max(vapply(event$children, function(child) child$parameters$q, 0))
  new_event(kind, event$adjacency, list(q = q), list(new_event("gdp", "either", list(mu = mu))))
}

# ---- questions -------------------------------------------------------------------------------------------------------

# list(sources, times) for a direction
pld_sources <- function(event, direction, upper) {
  parts <- event_parts(event)
  parts <- do.call(c, lapply(parts, function(part) { # a whole sample, or parallel parts, may be composed themselves
    while (part$event$type %in% c("poisson", "sample") && part$event$parameters$q == 1) {
      part$event <- part$event$children[[1]]
    }
    if (part$event$type == "parallel") return(event_parts(dearest(part$event, upper), part$times))
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
      sources <- c(sources, list(if (mu > 0) pld_source(pair = smooth_pair("gaussian", mu)) else atoms_pure(0)))
      times <- c(times, 1)
    }
  }
  # losses that a grid of doubles holds, with masses whose rounding is proven
  reach <- vapply(sources, source_reach, 0)
  if (anyNA(reach) || any(reach > PLD_REACH | (reach > 0 & reach < 1e-100))) {
    unpriced(event, "privacy-loss distributions", "the losses of its steps are too large or too small for them")
  }
  list(sources = sources, times = times)
}

# a loss is off by PLD_SLACK of a grid step, or by rounding where one step's losses reach far
pld_slack <- function(d) PLD_SLACK * max(d$h, d$range * 2^-20) * d$steps

# Chernoff's bound of epsilon (delta) from laws on the grid that bound the parts from above
chernoff <- function(d, delta = NULL, epsilon = NULL) {
  if (d$theta <= 0) return(if (is.null(epsilon)) Inf else 1)
  v <- (d$log_scale + d$rounding) / d$theta
  if (!is.null(epsilon)) {
    delta <- delta_balle(value = v, epsilon = epsilon - pld_slack(d), over = d$theta)
    return(min(1, delta + d$infinite * (1 + 1e-12) + 1e-300))
  }
  if (d$infinite >= delta) return(Inf)
  max(0, epsilon_balle(value = v, delta = delta - d$infinite, over = d$theta) + pld_slack(d))
}

# One bound for one direction; `step` overrides the grid. From above: `least` is returned where the answer can't be
# more.
pld_answer <- function(parts, plan, upper, delta = NULL, epsilon = NULL, step = NULL, couple = FALSE, least = -Inf) {
  if (is.null(step) && lone_atoms(parts)) {
    return(list(value = atoms_value(parts$sources[[1]], upper, delta, epsilon), h = NA, n = 0))
  }
  cut <- if (plan$known && plan$target > 0) with_jumps(plan, parts$times) else plan
  if (couple) cut$bulk <- NULL # what is split goes with all sums
  h <- step %||% if (couple) couple_step(parts, plan, is.null(delta)) else grid_step(cut, is.null(delta))
  laws <- function(plan) pld_laws(parts$sources, parts$times, plan, upper, h, couple)
  tiny <- !is.null(epsilon) && plan$log_delta < -680 # a bound of the moments leaves nothing
  if (tiny && !upper) return(list(value = 0, h = NA))
  whole <- NULL
  if (upper && (tiny || least > 0)) {
    whole <- laws(plan)
    bound <- chernoff(whole, delta, epsilon)
    if (tiny || bound <= least) return(list(value = bound, h = whole$h))
  }
  d <- pld_composed(laws, plan, cut, whole)
  list(value = pld_value(d, plan, upper, delta, epsilon), h = d$h, n = d$n)
}

# one step whose losses are atoms
lone_atoms <- function(parts) {
  sum(parts$times) == 1 && is.null(parts$sources[[1]]$pair) && !parts$sources[[1]]$fold
}

# its price: sums over them, on no grid
atoms_value <- function(source, upper, delta, epsilon) {
  side <- if (upper) 1 else -1
  off <- mass_error(source) + PLD_ROUNDING
  told <- if (upper) source$infinite else source$certain
  delta_at <- function(x) max(0, told + sum(source$mass * -expm1(pmin(0, x - source$loss))) * (1 + side * off))
  # losses and roots are off by less than 1e-12 of themselves
  if (is.null(delta)) return(min(1, delta_at(epsilon * (1 - side * 1e-12)) + if (upper) 1e-300 else 0))
  if (told >= delta) return(if (upper) Inf else max(0, source$loss))
  most <- max(0, source$loss)
  if (delta_at(0) <= delta) return(0)
  if (upper) return(falling_root(delta_at, delta, most) * (1 + 1e-12))
  # from below: the largest epsilon at which more than delta is known
  root <- falling_root(delta_at, delta, most)
  (1 - 1e-12) * max(0, -step_until(-root, 1e-13 * root + 1e-16, function(x) -x <= 0 || delta_at(-x) >= delta))
}

# the parts composed, as `cut` plans it; `whole`: their laws without a cut, where there are such already
pld_composed <- function(laws, plan, cut, whole = NULL) {
  d <- pld_convolve(if (is.null(whole) || !is.null(cut$cut)) laws(cut) else whole)
  # the cut divides by the bulk's transform, which may be near 0 where a part is taken few times
  if (!is.null(cut$cut) && d$error * length(d$mass) > 1e-6) return(pld_convolve(laws(plan)))
  if (!is.null(d$bulk$laws)) d$bulk$law <- pld_convolve(d$bulk$laws)
  d
}

# epsilon for `delta`, or delta for `epsilon`, moved by what the losses may be off
pld_value <- function(d, plan, upper, delta, epsilon) {
  profile <- whole_profile_of(d, upper, plan$target)
  slack <- pld_slack(d) + if (upper) 0 else d$slip$by
  if (is.null(epsilon)) {
    value <- grid_epsilon(profile, delta, upper)
    # above: infinite losses alone may exceed delta; below: smaller than the window shows
    if (is.na(value)) value <- if (upper) Inf else 0
    value <- value * (1 + if (upper) 1e-12 else -1e-12) + if (upper) slack else -slack
    return(max(0, value))
  }
  value <- grid_delta(profile, epsilon + if (upper) -slack else slack)
  if (!is.na(value)) value else if (upper) 1 else 0
}

# about the epsilon (delta) of a direction, to take the dearer one first
plan_guess <- function(plan, delta = NULL, epsilon = NULL) {
  v <- plan$K(plan$theta) / plan$theta
  if (!is.null(epsilon)) return(delta_balle(value = v, epsilon = epsilon, over = plan$theta))
  epsilon_balle(value = v, delta = delta, over = plan$theta)
}

# The composed laws' distance is at most that of the steps together, of a sampled one its share, rounded up
total_variation <- function(parts) {
  each <- vapply(parts$sources, function(source) {
    if (!is.null(source$pair)) return(source$pair$q)
    sum(source$mass * -expm1(-pmax(0, source$loss)), source$infinite) * (1 + (source$rounding %||% 0))
  }, 0)
  (sum(parts$times * each) + 1e-300) * (1 + 1e-9)
}

# `near`: a number near the answer, if one is known
pld_bound <- function(event, upper, delta = NULL, epsilon = NULL, tol = 1e-4, step = NULL, near = NULL,
                      couple = FALSE) {
  tries <- lapply(pld_directions(event), function(direction) {
    parts <- pld_sources(event, direction, upper)
    if (any(vapply(parts$sources, lost_source, NA))) return(list(lost = TRUE))
    if (all(vapply(parts$sources, free_source, NA))) return(NULL)
    if (is.null(epsilon) && total_variation(parts) <= delta) return(NULL) # epsilon 0 is enough
    plan <- pld_plan(parts$sources, parts$times, delta %||% near, epsilon %||% near, tol)
    list(parts = parts, plan = plan, guess = plan_guess(plan, delta, epsilon))
  })
  tries <- Filter(Negate(is.null), tries)
  if (any(vapply(tries, function(try) isTRUE(try$lost), NA))) {
    return(list(value = if (!upper) 0 else if (is.null(epsilon)) Inf else 1, h = NA))
  }
  best <- list(value = 0, h = NA)
  for (try in tries[order(-vapply(tries, `[[`, 0, "guess"))]) {
    a <- pld_answer(try$parts, try$plan, upper, delta, epsilon, step, couple, best$value)
    if (a$value <= best$value) next
    if (is.null(near)) {
      answer <- function(plan) pld_answer(try$parts, plan, upper, delta, epsilon, step, couple)
      a <- if (is.null(delta)) replanned_delta(a, try$parts, try$plan, tol, upper, answer, epsilon) else
        replanned(a, try$parts, try$plan, tol, upper, answer, delta)
    }
    if (a$value >= best$value) best <- a
  }
  best
}

# Bounded losses, or rare large ones: the moments' answer, and the grid made for it, are far from the true one. Plans
# are made anew for the answer found until one fits, on coarse grids, and once more on the grid that is wanted.
replanned <- function(a, parts, plan, tol, upper, answer, delta) {
  coarse <- max(tol, 1e-2)
  found <- 0
  for (round in 1:5) {
    if (!is.finite(a$value) || a$value <= 0) break
    if (a$value > 0.9 * plan$target && plan$theta * (plan$target - a$value) < 3 + plan_excess(plan)) break
    new <- pld_plan(parts$sources, parts$times, delta, a$value, tol)
    if (abs(log(new$theta / plan$theta)) < 0.3 && grid_step(new, FALSE) > 0.7 * grid_step(plan, FALSE)) break
    again <- answer(utils::modifyList(new, list(tol = coarse)))
    found <- again$value
    if (upper == (again$value < a$value)) a <- again
    plan <- new
  }
  if (found <= 0 || !is.finite(found) || coarse == tol) return(a)
  again <- answer(pld_plan(parts$sources, parts$times, delta, found, tol))
  if (upper == (again$value < a$value)) again else a
}

# The same for delta: the moments' delta may be far above the true one, and rounding that is small beside it isn't
# small beside the answer.
replanned_delta <- function(a, parts, plan, tol, upper, answer, epsilon) {
  told <- plan$log_delta
  found <- a$value
  for (round in 1:6) {
    if (epsilon <= 0 || found <= 0 || found >= 1 || log(found) > told - 1) break
    told <- log(found)
    found <- answer(pld_plan(parts$sources, parts$times, found, epsilon, max(tol, 1e-2)))$value
  }
  if (found == a$value || found <= 0 || found >= 1) return(a)
  again <- answer(pld_plan(parts$sources, parts$times, found, epsilon, tol))
  if (upper == (again$value < a$value)) again else a
}

REFINE_POINTS <- 2^19 # a grid of more points isn't refined: a finer one takes many seconds

# From both sides: c(lower, upper), the grid refined until they are within `tol` of each other, as far as memory and
# rounding allow. The upper end is never above that of the usual grid.
pld_bracket <- function(event, delta = NULL, epsilon = NULL, tol = 1e-4) {
  usual <- 1e-4
  grid <- min(usual, tol / 4)
  most <- if (is.null(epsilon)) Inf else 1
  best <- c(lower = 0, upper = most)
  if (grid < usual) best[[2]] <- min(most, pld_bound(event, TRUE, delta, epsilon, usual)$value)
  gap <- Inf
  step <- NA
  refine <- 1 / 8
  has_atoms <- any(vapply(pld_sources(event, pld_directions(event)[1], FALSE)$sources,
                          function(source) length(source$loss) > 0, NA))
  for (round in 1:5) {
    found <- pld_ends(event, has_atoms, delta, epsilon, grid, if (best[[2]] > 0 && best[[2]] < most) best[[2]], tol)
    # no finer grid fits into memory
    if (round > 1 && isTRUE(abs(found$h / step - 1) < 0.2)) break
    step <- found$h
    best <- c(lower = max(best[[1]], found$lower), upper = min(best[[2]], found$upper))
    if (best[[2]] - best[[1]] <= tol * best[[2]] || !is.finite(best[[2]]) || found$n > REFINE_POINTS) break
    if (best[[1]] <= 0) break # nothing is known from below, nor would a finer grid know more
    if (best[[2]] - best[[1]] > 0.7 * gap) {
      # where rounding decides, finer grids don't help; a coarser one may
      if (refine > 1) break
      refine <- 64
      grid <- min(usual, tol / 4)
    }
    gap <- best[[2]] - best[[1]]
    grid <- grid * refine
  }
  c(lower = min(best), best["upper"])
}

# both bounds by one grid, `near` being a number near the answer: list(lower, upper, h)
pld_ends <- function(event, has_atoms, delta, epsilon, grid, near, tol) {
  above <- pld_bound(event, TRUE, delta, epsilon, grid, near = near)
  upper <- above$value
  if (upper > 0 && upper < if (is.null(epsilon)) Inf else 1) near <- upper
  lower <- pld_bound(event, FALSE, delta, epsilon, grid, near = near)$value
  points <- above$n %||% 0
  # split atoms lose about as much as their grid is wide: first a coarse one, which tells how fine it has to be
  finer <- COARSE_SPLIT
  before <- Inf
  while (has_atoms && upper - lower > tol * upper) {
    split <- pld_bound(event, FALSE, delta, epsilon, grid * finer, near = near, couple = TRUE)
    lower <- max(lower, split$value)
    points <- max(points, split$n, na.rm = TRUE)
    gap <- upper - split$value
    if (finer <= 1 || points > 4 * REFINE_POINTS || gap > 0.7 * before || split$value <= 0) break
    before <- gap
    finer <- max(1, finer * min(0.5, 0.6 * tol * upper / gap))
  }
  list(lower = lower, upper = upper, h = above$h, n = points)
}

COARSE_SPLIT <- 32

# the whole distribution on a grid, for steps inside a sample: untilted, with mass below the window moved up
pld_distribution <- function(event, direction, upper) {
  parts <- pld_sources(event, direction, upper)
  if (any(vapply(parts$sources, lost_source, NA))) {
    return(list(h = 1, loss = 0, mass = 0, infinite = if (upper) 1 else 0))
  }
  plan <- pld_plan(parts$sources, parts$times, delta = 1e-10)
  plan$theta <- 0
  aim <- colSums(parts$times * t(vapply(plan$atoms, tilted, double(2), 0)))
  plan$sd <- max(sqrt(aim[2]), 1e-12)
  plan$target <- aim[1]
  d <- pld_convolve(pld_laws(parts$sources, parts$times, plan, upper, plan$sd / 500))
  loss <- d$loss
  mass <- pmax(0, if (upper) d$mass + d$error else d$mass - d$error)
  scale <- exp(d$log_scale) * (1 + if (upper) d$rounding else -d$rounding)
  slack <- pld_slack(d)
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
pld_both <- function(event, given, wanted) {
  if (wanted == "delta") {
    ends <- pld_bracket(event, epsilon = given)
  } else {
    need_delta(event, given, "pld")
    ends <- pld_bracket(event, delta = given)
  }
  list(value = ends[["upper"]], lower = ends[["lower"]])
}
pld_delta <- function(event, epsilon) {
  a <- pld_bound(event, TRUE, epsilon = epsilon)
  a$value <- min(1, a$value)
  a
}
