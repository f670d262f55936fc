# The adaptive mechanism: for users who only know that the data lie in a wide ball.

# Found by simulation of normal records in flat space (d from 1 to 10, spreads from a third to 1e-4 of the public
# radius). Where the first stage finds nothing it has cost half of its share, so that one stage with the rest is at most
# 1.3 times worse. What weighs in nats: SLACK that an empty ball is rarer than none, SURE that a ball that holds all is
# more likely than none, AROUND in each dimension.
ADAPTIVE_EARLY <- 0.44
ADAPTIVE_HALVINGS <- c(12, 18) # down to that part of the public radius, and where it takes next to nothing
ADAPTIVE_SLACK <- 6.5
ADAPTIVE_SURE <- 0.5
ADAPTIVE_AROUND <- 0.3
ADAPTIVE_CHEAP <- 0.05
ADAPTIVE_MOST_NOTHING <- 1e6 # where shares are given and records many: then no ball is as heavy as that
ADAPTIVE_FLOOR <- 13.75 # of what is proposed at least exp(-13.75), a millionth, is kept
ADAPTIVE_BITS <- 48 # of the whole numbers with which proposals are made
ADAPTIVE_RATE <- 400 # a record weighs no more than exp(400) anywhere

# How far beyond the radius with that fraction the released ball reaches: to where normal records would leave out a
# share that is the smaller, the less noise there is, as what is clipped then matters more.
adaptive_margin <- function(M, ask, fraction) {
  d <- mf_facts(M)$dimension
  left <- min(0.5, 15 * d / (ask$n * ask$epsilon))
  sqrt(max(1, stats::qchisq(left, d, lower.tail = FALSE) / stats::qchisq(min(max(fraction, 0.01), 0.99), d)))
}

# with three stages (chunks, constant time): radii from the public one down, by factors of the square root of 2
adaptive_grid <- function(radius) radius * 2^(-(0:24) / 2)

# log of the weight of half the radius: the larger, the rarer is a radius far too wide, and the more epsilon it takes;
# 10 where that is next to nothing
adaptive_bonus <- function(d, total) max(min(2.5, 1.3 + 0.3 * d), min(10, 0.01 * total / ADAPTIVE_HALVINGS[1]))

# How many ways the first stage's scores move: both where a record is replaced, one where it is there or isn't, and all
# weights grow or shrink together. A ball costs so many times the rate, none costs it once.
adaptive_ways <- function(ask) if (is.null(ask$size)) 2 else 1

# The first stage looks at places in memory, by as many trials as it takes: at least one of a million is kept, whatever
# the records. In more dimensions the worst records would take ten seconds and more, so there it has to be asked for.
PLACE_WORST <- 1e6
PLACE_DIM <- 20
adaptive_places <- function(ask) !isTRUE(ask$chunked) && !identical(ask$timing, "constant")

places_unasked <- function(M, ask) {
  adaptive_places(ask) && mf_facts(M)$dimension <= PLACE_DIM && (ask$max_trials %||% PLACE_WORST) >= PLACE_WORST
}

# How far a ball around coordinates within `reach` goes: exp stretches what lies apart in the coordinates, where
# curvature is negative.
adaptive_stretched <- function(M, radius, reach) {
  bend <- sqrt(max(0, -mf_facts(M)$k_min)) * (reach + radius)
  radius * if (bend > 0) sinh(bend) / bend else 1
}

# What a first stage looks through, from public numbers, where its rate is at most that `part` of epsilon: `levels`
# radii, two for each halving, from the `first` on, which is at most half the public one; none (0 or less) where it
# would find nothing. The rate times n has to outweigh all lattice points of the smallest radius and the bonus of all
# halvings: `part` is what that takes.
place_reach <- function(M, ask, part) {
  d <- mf_facts(M)$dimension
  R <- ask$ball$radius
  total <- min(ask$n * ask$epsilon, 1e12)
  bonus <- adaptive_bonus(d, total)
  ease <- log(max(1, total / d / 100)) # where there is more to lose, and it costs little
  # where a record is there or isn't, one stage may be off by half as much
  slack <- ADAPTIVE_SLACK + ease + if (adaptive_ways(ask) == 2) 0 else log(2)
  each <- d * log(2) + bonus
  first <- 2
  while (first < 24 && adaptive_stretched(M, R * 2^(-first / 2), R) > R / 2) first <- first + 1
  fixed <- ADAPTIVE_AROUND * d + slack + ADAPTIVE_SURE + ease + (1 - bonus) * first / 2
  deep <- max(ADAPTIVE_HALVINGS[1], min(ADAPTIVE_HALVINGS[2], floor(ADAPTIVE_CHEAP / 2 * total / each)))
  levels <- floor(2 * min(deep, (part * total - fixed) / each)) - first + 1
  list(first = first, levels = levels, bonus = bonus, slack = slack, each = each, d = d, total = total,
       part = (fixed + (levels + first - 1) / 2 * each) / total)
}

# the same with the log weight of finding `nothing`, for the rate that the stage has
place_weights <- function(how, part, ask) {
  part <- min(part, ADAPTIVE_RATE / ask$epsilon)
  levels <- max(1, how$levels)
  d <- how$d
  # the lattice points of all levels in the public ball, about, each with its bonus
  empty <- d * (log(pi) / 2 + log(2) * (1 + (levels + how$first - 1) / 2)) - lgamma(d / 2 + 1) +
    how$bonus * (levels - 1) / 2 - log1p(-exp(-how$each / 2))
  # and what holds no record, though all its shadows do, of weight exp(rate n - FLOOR)
  beside <- part * how$total - ADAPTIVE_FLOOR + d * log(3)
  list(first = how$first, levels = levels, bonus = how$bonus,
       nothing = min(max(empty, beside) + how$slack, ADAPTIVE_MOST_NOTHING))
}

# the shares of the four stages from public numbers, and what the first looks through
adaptive_shares <- function(M, ask) {
  total <- min(ask$n * ask$epsilon, 1e12)
  ways <- adaptive_ways(ask)
  given <- ask$options$shares
  if (!is.null(given)) given <- adaptive_given(given)
  if (is.null(given) && !places_unasked(M, ask)) {
    return(list(shares = adaptive_given(c(0.12, 0.11, 0.77)), first = 0, levels = 0, bonus = 0, nothing = 0))
  }
  how <- place_reach(M, ask, if (is.null(given)) ADAPTIVE_EARLY / 2 else given[["place"]] / ways)
  shares <- given
  if (is.null(given)) shares <- adaptive_given(if (how$levels < 1) c(0, 0, 0, 1) else {
    early <- c(ways * how$part, if (total < 150) c(0, 0) else c(min(0.09, 20 * how$d / total), min(0.1, 100 / total)))
    c(early, 1 - sum(early))
  })
  c(list(shares = shares), place_weights(how, shares[["place"]] / ways, ask))
}

# The rates of integer draws as fractions, none above what is paid for: of the place less what its weights are off
# (mean-sensitivity.md, section 12). What is too small for that is refused with the plan, from public numbers.
place_rate <- function(M, ask, share) {
  d <- mf_facts(M)$dimension
  stage_rate(min(share * ask$epsilon / adaptive_ways(ask), ADAPTIVE_RATE) - d * 2^-38, d * 2^-38)
}

# What a record more in a shadow weighs, from (1 - 2^-40) exp(rate/d) to exp(rate/d) with a product's rounding: 2^-41 is
# taken off, three times what the exponent's two roundings, exp and products may add.
place_growth <- function(M, rate) exp(rate[1] / rate[2] / mf_facts(M)$dimension) * (1 - 2^-41)

stage_rate <- function(rate, least = 0) {
  if (!(rate >= max(least, 2^-30))) {
    abort_riemdp("argument", sprintf(paste("a stage would have %.3g of epsilon: with that little no integer arithmetic",
                                           "draws it."), max(0, rate)))
  }
  as_ratio(min(rate, 1e6), floor) # more is as good as certain
}

check_stage_rates <- function(M, ask, shares) {
  if (shares[["place"]] > 0) place_rate(M, ask, shares[["place"]])
  if (shares[["radius"]] > 0 && !identical(ask$timing, "constant")) stage_rate(shares[["radius"]] * ask$epsilon)
}

mechanism_adaptive <- list(
  name = "adaptive",
  auto = FALSE, # its target is another one, and its error depends on the data
  chunks = TRUE,
  counts = TRUE,
  lattice = function(M) has_lattice(M, "wrapped"), # of stages that add noise; others choose by integers anyway
  options = c("shares", "fraction"),
  unsupported = function(M, ask) {
    if (ask$calibration == "paper") {
      "`calibration = \"paper\"` doesn't exist for mechanism = \"adaptive\"."
    } else if (!is.null(ask$sigma)) {
      "mechanism = \"adaptive\" has several stages and no single scale: give `epsilon` instead of `sigma`."
    } else if (of_user(M)) {
      "mechanism = \"adaptive\" isn't offered on a user's manifold."
    } else if (ask$numerics == "lattice" && identical(ask$timing, "constant")) {
      "a radius is chosen in constant time with doubles only: not with numerics = \"lattice\"."
    }
  },
  plan = function(M, ask) {
    how <- adaptive_shares(M, ask)
    check_stage_rates(M, ask, how$shares)
    fraction <- ask$options$fraction
    fraction <- if (is.null(fraction)) radius_fraction(ask$n, how$shares[["radius"]] * ask$epsilon) else
      check_number(fraction, "fraction", least = 0, most = 1)
    # what the stages would be on the public ball: shows that they can be served at all
    public <- list(center = ask$center, radius = ask$ball$radius)
    rough <- if (how$shares[["center"]] > 0) adaptive_stage(M, ask, how$shares[["center"]], public)
    last <- adaptive_stage(M, ask, how$shares[["mean"]], public, ask$delta)
    if (ask$numerics == "lattice") adaptive_stage(M, ask, 1, public, first = TRUE) # finer noise, if nothing is found
    delta <- if (!is.null(ask$size) || last$mechanism %in% GAUSSIAN_MECHANISMS) ask$delta else 0
    if (how$shares[["place"]] > 0 && !adaptive_places(ask)) {
      abort_riemdp("unsupported", paste("the first of four stages needs the records in memory, and its time depends on",
                                        "them: give three `shares`."))
    }
    list(
      scale = last$scale, sensitivity = last$sensitivity, theorem = last$theorem, solver_error = last$solver_error,
      acceptance = NA_real_, numbers = last$numbers, shares = how$shares, first = how$first, levels = how$levels,
      bonus = how$bonus, nothing = how$nothing, rough = rough, delta = delta,
      target = "the Frechet mean of the records moved into the released ball",
      details = list(shares = how$shares, fraction = fraction, margin = adaptive_margin(M, ask, fraction)),
      guarantee = list(
        epsilon = ask$epsilon, delta = delta, reasons = NULL, sampler = last$guarantee$sampler,
        assumptions = c("stages, each private given what those before released, their budgets added",
                        if (how$shares[["place"]] > 0) EXP_ASSUMES)
      )
    )
  },
  error = function(M, plan, ask) {
    # known once the stages before the last are released; before, only by simulation for a public guess of the spread
    if (is.null(plan$last)) NA_real_ else size_error(M, plan$last, plan$last$ask)
  },
  release = function(M, x, plan, ask) {
    shares <- plan$shares
    found <- list(center = ask$center, radius = ask$ball$radius, wide = FALSE, spent = 0)
    if (shares[["place"]] > 0) found <- adaptive_place(M, x, plan, ask)
    if (!found$wide && shares[["center"]] > 0) found <- adaptive_center(M, x, plan, ask, found)
    if (!found$wide && shares[["radius"]] > 0) found <- adaptive_radius(M, x, plan, ask, found)
    # what the stages left out would have taken is the last one's
    if (found$wide) shares[] <- c(found$spent, 0, 0, (1 - found$spent) * (1 - 1e-15))
    ball <- adaptive_served(M, ask, shares[["mean"]], found)
    last <- adaptive_stage(M, ask, shares[["mean"]], ball, plan$delta)
    structure(list(
      value = adaptive_pick(M, x, last),
      details = utils::modifyList(c(plan$details, last$details), list(
        shares = shares, none_found = found$wide, released_center = ball$center, released_radius = ball$radius,
        last = last$mechanism
      )),
      last = last, expected_error = NULL, scale = last$scale, sensitivity = last$sensitivity, theorem = last$theorem,
      solver_error = last$solver_error
    ), class = "riemdp_staged")
  },
  # the last stage's law around the mean of the records in the released ball
  region = function(r, level) {
    last <- r
    last[c("center", "radius")] <- moved_ball(r)
    last$mechanism <- r$details$last
    mean_mechanisms()[[last$mechanism]]$region(last, level)
  },
  words = function(r) {
    share <- r$details$shares
    stages <- c(
      place = paste0("a ball that holds most records, by the exponential mechanism over places and radii",
                     if (isTRUE(r$details$none_found)) ", which found none"),
      center = "a rough centre in it",
      radius = sprintf("a radius by the exponential mechanism, %.3g times one that aims at holding %.3g of the records",
                       r$details$margin, r$details$fraction),
      mean = sprintf(paste("the mean of the records moved into the ball of radius %.4g around the centre found, by",
                           "mechanism %s"), r$details$released_radius, r$details$last)
    )
    made <- names(share)[share > 0]
    paste0(if (length(made) > 1) "Stages, their budgets added: " else "One stage: ",
           paste(sprintf("%s (%.3g of epsilon)", stages[made], share[made]), collapse = "; "),
           if (!is.null(r$size)) ". Their epsilon is what the number of records has left",
           ". The last stage's bounds and scale depend on what those before released only. ",
           integers_sentence(r$guarantee))
  }
)

integers_sentence <- function(g) {
  if (g$numerics == "lattice") "All stages draw by integer arithmetic on random bits (proofs/lattice.md)."
}

# four shares, or three without the first
adaptive_given <- function(shares) {
  shares <- as_shares(shares, paste("numbers of at least 0 that add up to 1, the last positive: for the place, the",
                                    "centre, the radius, the mean, or without the first"),
                      length(shares) %in% 3:4 && isTRUE(shares[length(shares)] > 0))
  stats::setNames(c(if (length(shares) == 3) 0, shares), c("place", "center", "radius", "mean"))
}

# parts of a whole that are `needed`, with room for the rounding of their sum
as_shares <- function(shares, needed, ok) {
  ok <- is.numeric(shares) && !is.object(shares) && ok && !anyNA(shares) && all(shares >= 0) &&
    abs(sum(shares) - 1) < 1e-9
  if (!ok) abort_riemdp("argument", sprintf("`shares` must be %s.", needed))
  shares / sum(shares) * (1 - 1e-15)
}

# what the counts of stages read; where their number is private, NULL if there are none
adaptive_records <- function(x, ask) if (is.null(ask$size)) x else x$x

adaptive_pick <- function(M, x, stage) {
  if (!is.null(stage$ask$size)) return(release_at_size(M, x$x, x$n, stage, stage$ask)$value)
  mean_mechanisms()[[stage$mechanism]]$release(M, x, stage, stage$ask)
}

# ---- the stages, each of which returns the ball that it found --------------------------------------------------------

# A ball inside the public one, in the coordinates of the public centre, or none: the public ball, `wide`. Where a
# record is replaced half of the share pays for the answer that there is none, the other half for a ball.
place_drawn <- function(M, x, plan, ask) {
  share <- plan$shares[["place"]]
  ways <- adaptive_ways(ask)
  rate <- share * ask$epsilon / ways
  R <- ask$ball$radius
  once <- draw_price("choice", "mean-sensitivity.md, 12", 1, 1 / rate, epsilon = rate)
  integers <- place_rate(M, ask, share)
  drawn <- .Call(riemdp_release_place, M, adaptive_records(x, ask), ask$center, R, plan$first, plan$levels,
                 plan$bonus / 2, plan$nothing, ADAPTIVE_FLOOR, integers, place_growth(M, integers),
                 ADAPTIVE_BITS, pay(once))
  if (drawn[1] == 0) return(list(center = ask$center, radius = R, wide = TRUE, spent = share / ways))
  if (ways == 2) pay(once)
  a <- drawn[-1]
  reach <- sqrt(sum(a^2))
  radius <- adaptive_stretched(M, drawn[1], min(reach, R))
  center <- tryCatch(mf_exp(M, ask$center, mf_from_coords(M, ask$center, a * min(1, R / reach))),
                     riemdp_error = function(e) ask$center)
  list(center = clamp_to_ball(M, ask$center, R, center), radius = radius, smallest = radius / 4, wide = FALSE,
       spent = share)
}

# Where the ball found is hardly smaller, and to look further isn't cheap, `wide` as well: the public ball again, and
# what is left is all the last stage's.
adaptive_place <- function(M, x, plan, ask) {
  found <- place_drawn(M, x, plan, ask)
  share <- plan$shares[["place"]]
  R <- ask$ball$radius
  if (found$wide || found$radius / plan$shares[["mean"]] < R / (1 - share)) return(found)
  list(center = ask$center, radius = R, wide = sum(plan$shares[c("center", "radius")]) > ADAPTIVE_CHEAP, spent = share)
}

adaptive_center <- function(M, x, plan, ask, found) {
  share <- plan$shares[["center"]]
  rough <- adaptive_stage(M, ask, share, adaptive_served(M, ask, share, found))
  found$center <- clamp_to_ball(M, ask$center, ask$ball$radius, adaptive_pick(M, x, rough))
  found$rough <- rough
  found
}

adaptive_radius <- function(M, x, plan, ask, found) {
  radii <- if (is.null(found$smallest)) adaptive_grid(found$radius) else 2 * found$radius * 2^(-(0:12) / 4)
  found$radius <- drawn_radius(M, x, found$center, ask, radii[radii <= ask$ball$radius], plan$details$margin,
                               plan$details$fraction * ask$n, plan$shares[["radius"]])
  found
}

# All records lie within the larger radii, which differ by (1 - fraction) n in score from the one that is aimed at: that
# must weigh more than the number of radii.
radius_fraction <- function(n, epsilon) 1 - min(0.5, max(0.1, 60 / (n * epsilon)))

# one of `radii`, `margin` times one around that centre that aims at holding `aim` records
drawn_radius <- function(M, x, center, ask, radii, margin, aim, share) {
  epsilon <- share * ask$epsilon
  records <- mean_records(M, adaptive_records(x, ask), center, ask$ball$radius)
  # as many trials as it takes; in constant time with doubles
  rate <- if (identical(ask$timing, "constant")) epsilon else stage_rate(epsilon)
  radii[.Call(riemdp_release_radius, M, records, center, radii / margin, round(aim), rate,
              pay(price_choice(epsilon, "mean-sensitivity.md, 12")))]
}

# One stage on a ball that is public by then: Laplace where it exists (on a lattice that is on flat spaces), else
# wrapped, whose errors hardly differ. The last one may have a `delta`, for Gaussian noise where that is expected to be
# smaller, and for a private number of records for the "tail" of their size. `first`: only what it takes to know whether
# there is one.
adaptive_stage <- function(M, ask, share, ball, delta = 0, first = FALSE) {
  ask$epsilon <- share * ask$epsilon
  ask$delta <- 0
  ask$options <- list()
  ask$center <- ball$center
  ask$ball <- check_radius(M, ball$radius, ball$center)
  at <- function(name, form) {
    if (name %in% GAUSSIAN_MECHANISMS) ask$delta <- delta
    if (!is.null(form)) ask <- stage_at_size(M, ask, name, form)
    stage <- plan_one(M, ask, name, error = FALSE)
    stage$ask <- ask
    stage
  }
  forms <- if (is.null(ask$size)) list(NULL) else stage_forms(M, ask, delta)
  stage <- tryCatch(at("laplace", forms[[1]]), riemdp_error = function(e) at("wrapped", forms[[1]]))
  if (first) return(stage)
  off <- function(stage) tryCatch(size_error(M, stage, stage$ask), riemdp_error = function(e) Inf)
  for (form in forms) for (name in c(if (!identical(form, forms[[1]])) "wrapped", if (delta > 0) GAUSSIAN_MECHANISMS)) {
    other <- tryCatch(at(name, form), riemdp_error = function(e) NULL)
    if (!is.null(other) && isTRUE(off(other) < off(stage))) stage <- other
  }
  stage
}

stage_served <- function(M, ask, share, ball) {
  tryCatch({
    adaptive_stage(M, ask, share, ball, first = TRUE)
    TRUE
  }, riemdp_error = function(e) FALSE)
}

# Around a released centre not every radius can be served (on Bures-Wasserstein that depends on it): the ball, or the
# next wider one that can be, or the public one, of which the plan has shown it. The budget is spent by now.
adaptive_served <- function(M, ask, share, ball) {
  radii <- ball$radius * 2^((0:24) / 2)
  for (radius in radii[radii <= ask$ball$radius]) {
    wider <- list(center = ball$center, radius = radius)
    if (stage_served(M, ask, share, wider)) return(wider)
  }
  list(center = ask$center, radius = ask$ball$radius)
}

# post-processing: a released point moved to the nearest point of the public ball
clamp_to_ball <- function(M, center, radius, point) {
  tryCatch({
    v <- mf_log(M, center, point)
    size <- mf_norm(M, center, v)
    if (size <= radius) point else public_point(M, mf_exp(M, center, v * (radius / size)))
  }, riemdp_error = function(e) center)
}
