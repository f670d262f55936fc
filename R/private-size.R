# Where the number of records is private (neighbours = "add_remove"): a noisy size is released first, and the mean is
# that of a number of points which follows from it. Proof: inst/proofs/mean-sensitivity.md, section 14.

# ---- two-sided geometric noise on counts -----------------------------------------------------------------------------
# P(Z = z) = (1 - q)/(1 + q) q^|z|, q = exp(-1/scale)

# what comes out is cut to this range
COUNT_MOST <- 2^44

# the scale that `epsilon` pays for, as a fraction
geometric_ratio <- function(epsilon) as_ratio(max(outwards(1 / epsilon), 2^-20), ceiling)

# least j with P(Z > j) <= tail
geometric_far <- function(scale, tail) {
  # P(Z > j) = exp(-(j + 1)/scale)/(1 + exp(-1/scale))
  max(0, ceiling(-scale * log(tail * (1 + exp(-1 / scale))) * (1 + 1e-12)) - 1)
}

geometric_sd <- function(scale) sqrt(2 * exp(-1 / scale)) / -expm1(-1 / scale)

# E|Z|
geometric_mean <- function(scale) 2 * exp(-1 / scale) / -expm1(-2 / scale)

# E max(0, Z - lag)
geometric_excess <- function(scale, lag) exp(-(lag + 1) / scale) / -expm1(-2 / scale)

# ---- noise on the sizes of groups that is 0 in all -------------------------------------------------------------------
# P(Z = z) proportional to exp(-(|z_1| + ... + |z_C|)/scale) on z_1 + ... + z_C = 0: a replaced record moves two sizes
# by 1 and costs 2/scale. Each Z_j has the law of a two-sided geometric number times the chance that C - 1 others sum to
# it.

noisy_sizes <- function(counts, ratio) {
  scale <- ratio[1] / ratio[2]
  price <- draw_price("balanced geometric", "mean-sensitivity.md, 15, sizes", 1, scale / 2, epsilon = 2 / scale)
  counts + as.vector(.Call(riemdp_lattice_noise, euclidean(length(counts)), 1, "balanced", ratio, pay(price)))
}

# scales above it are told by a bound, and by the law at this one
BALANCED_SCALE <- 2^12

# P(Z_1 = j), j = 0, 1, ...: sums of C - 1 numbers by their characteristic function on a circle so long that nothing
# comes around. Rounded upwards: by what the transform may be off, of its largest value.
balanced_law <- function(scale, categories) {
  remember(sprintf("balanced %.17g %d", scale, as.integer(categories)), function() {
    m <- categories - 1
    far <- ceiling(45 * scale) + 1
    long <- 2^ceiling(log2(2 * far + scale * (60 + 16 * sqrt(2 * m)) + 64))
    q <- exp(-1 / scale)
    angle <- 2 * pi * (seq_len(long) - 1) / long
    sums <- Re(stats::fft(1 / (1 + 4 * q / (1 - q)^2 * sin(angle / 2)^2)^m)) / long
    p <- (pmax(sums[seq_len(far)], 0) + 1e-15 * sums[1]) * q^(seq_len(far) - 1)
    p / (2 * sum(p) - p[1])
  })
}

# least j with P(Z_1 > j) <= tail
balanced_far <- function(scale, categories, tail) {
  # at most (1 + q)^2/(1 + q^2) <= 2 times the tail of a geometric number
  bound <- geometric_far(scale, tail / 2)
  if (scale > BALANCED_SCALE || tail < 1e-9) return(bound)
  above <- rev(cumsum(rev(balanced_law(scale, categories))))[-1] * (1 + 1e-9) + 1e-14 # P(Z_1 > 0), P(Z_1 > 1), ...
  min(bound, which(above <= tail)[1] - 1, na.rm = TRUE)
}

# E f(Z_1) for Z_1 > 0, as a plan needs it
balanced_sum <- function(scale, categories, f) {
  coarse <- min(scale, BALANCED_SCALE)
  p <- balanced_law(coarse, categories)[-1]
  sum(p * f(seq_along(p) * scale / coarse))
}

# the law of a released size, of one alone or of one among several
size_far <- function(s, tail) {
  if (identical(s$form, "joint")) return(joint_far(s, tail))
  if (!is.null(s$sd)) return(s$sd * stats::qnorm(tail, lower.tail = FALSE))
  if (is.null(s$categories)) geometric_far(s$scale, tail) else balanced_far(s$scale, s$categories, tail)
}

size_mean <- function(s) {
  if (is.null(s$categories)) geometric_mean(s$scale) else 2 * balanced_sum(s$scale, s$categories, identity)
}

size_excess <- function(s, lag) {
  if (is.null(s$categories)) return(geometric_excess(s$scale, lag))
  vapply(lag, function(l) balanced_sum(s$scale, s$categories, function(z) pmax(0, z - l)), 0)
}

# of one number, or of several that a record moves by `moved` in all
noisy_count <- function(count, ratio, proof, moved = 1, most = COUNT_MOST) {
  noise <- .Call(riemdp_lattice_noise, euclidean(length(count)), 1, "laplace", ratio,
                 pay(price_laplace(moved, ratio[1] / ratio[2], proof)))
  pmin(pmax(count + as.vector(noise), -most), most)
}

# ---- what is asked for -----------------------------------------------------------------------------------------------

# mechanisms whose proof holds for a released size, among which "auto" chooses; and one that needs no size
SIZE_MECHANISMS <- c("laplace", "staircase", "wrapped", "wrapped_staircase", "gaussian", "wrapped_gaussian")
SIZE_SERVED <- c(SIZE_MECHANISMS, "kng", "adaptive")

# what `options` may hold
size_options <- function(mechanism) {
  c("count", if (mechanism == "adaptive") mean_mechanisms()$adaptive$options else "form")
}

# those that take the place of one that a size doesn't allow: they exist at every scale
SIZE_INSTEAD <- c(laplace = "wrapped", staircase = "wrapped", wrapped = "wrapped", wrapped_staircase = "wrapped",
                  gaussian = "wrapped_gaussian", wrapped_gaussian = "wrapped_gaussian", kng = "kng",
                  adaptive = "adaptive")

# `ask` of a mean whose number of records is private: `sized` and `whole_delta` that number and mean cost, `epsilon` and
# `delta` of the mean, and of the size those in `size`. `categories`: into how many groups a replaced record's kind
# falls, whose sizes are released together; then `epsilon` and `delta` are of the means of all groups.
size_ask <- function(M, ask, categories = NULL) {
  if (ask$numerics == "auto") return(size_numerics(M, ask, categories))
  check_size_served(M, ask)
  if (ask$mechanism == "kng") return(paid_size(ask, ask$options[["count"]], list(form = "none"), 0))
  if (ask$mechanism == "adaptive") return(staged_size(M, ask)) # never with `categories`
  cost <- if (is.null(categories)) form_cost else moved_cost
  costs <- lapply(size_forms(M, ask), cost, M = M, ask = ask, categories = categories)
  best <- costs[[which.min(vapply(costs, `[[`, 0, "cost"))]]
  tail <- if (best$form == "tail") tail_delta(ask) else 0
  paid_size(ask, ask$options[["count"]] %||% best$share, best, tail, categories)
}

# numerics = "auto": on a lattice where that can be had at every size. With mechanism = "auto" not where it is dear at a
# public size, which only curvature below 0 makes it: laws around the mean have no lattice there for a private number.
size_numerics <- function(M, ask, categories) {
  with <- function(numerics) {
    sized <- size_ask(M, utils::modifyList(ask, list(numerics = numerics)), categories)
    if (numerics == "lattice") check_sizes(M, sized, FALSE)
    sized
  }
  sized <- lattice_or_real(with)
  if (ask$mechanism != "auto" || sized$numerics == "real" || ask$ball$k_min >= 0) return(sized)
  real <- with("real")
  error <- function(sized) plan_size(M, sized, min(SIZE_MOST, ceiling(1000 / ask$epsilon)))$expected_error
  if (error(real) * LATTICE_DEAR < error(sized)) real else sized
}

# "laplace" and "staircase" around the mean are planned for a public number there
size_lattice <- function(M, name) {
  has_lattice(M, name) && (flat_space(M) || !name %in% c("laplace", "staircase"))
}

# The plan at the smallest size: what can't be served at all is refused before anything is spent. A lattice also ends
# where noise is finest. What moving a draw would save matters where mechanisms are compared only.
check_sizes <- function(M, ask, compared = ask$mechanism == "auto") {
  plan <- plan_size(M, ask, 1 - ask$size$shift, compared)
  if (ask$numerics == "lattice") plan_size(M, ask, SIZE_MOST, FALSE)
  plan
}

# `ask` with a share of epsilon taken off for the size, and a tail off delta. No share: no size is released, for the
# mechanism that needs none.
paid_size <- function(ask, share, best, tail, categories = NULL) {
  none <- is.null(share)
  share <- if (none) 0 else check_number(share, "options$count", positive = TRUE, most = 1)
  own <- share * ask$epsilon
  if (share >= 1) abort_riemdp("argument", "`options$count` must be a share of epsilon below 1.")
  if (!none && !(own >= 1e-5)) {
    abort_riemdp("argument", sprintf(paste("%.3g of epsilon for the number of records is too little: its noise would",
                                           "be larger than most numbers of records."), own))
  }
  # a size alone moves by 1, of those together two do
  ratio <- if (!none) geometric_ratio(if (is.null(categories)) own else own / 2)
  scale <- if (none) NA_real_ else ratio[1] / ratio[2]
  ask$size <- list(
    share = share, epsilon = own, ratio = ratio, scale = scale, noise = (best$noise %||% 0) * ask$ball$radius,
    reach = padded_reach(ask$ball), form = best$form, tail = tail, categories = categories
  )
  # P(Z <= -shift) = P(Z > shift - 1) <= tail, of each of two groups half of it
  ask$size$shift <- if (tail > 0) size_far(ask$size, if (is.null(categories)) tail else tail / 2) + 1 else 0
  ask$sized <- ask$epsilon
  ask$whole_delta <- ask$delta
  if (!none) ask$epsilon <- outwards_down(ask$epsilon - own)
  if (!(ask$epsilon > 0)) abort_riemdp("argument", "`options$count` leaves nothing of `epsilon` for the mean.")
  ask$delta <- if (ask$delta > 0) outwards_down(ask$delta - tail * gaussian_asked(ask)) else 0
  ask$options <- list()
  ask
}

size_forms <- function(M, ask) {
  form <- ask$options[["form"]]
  if (!is.null(form)) form <- check_choice(form, "options$form", c("scaled", "plain", "tail"))
  if (identical(form, "tail") && ask$delta == 0) {
    abort_riemdp("argument", "`options = list(form = \"tail\")` needs `delta` > 0: a part of it pays for the tail.")
  }
  if (mean_steps(M, ask$ball, 1)$model == "flat") return("sum")
  form %||% c("scaled", "plain", if (ask$delta > 0) "tail")
}

gaussian_asked <- function(ask) {
  ask$mechanism %in% c("auto", "gaussian", "wrapped_gaussian", "adaptive") && ask$delta > 0
}

# those whose noise is around the mean itself, not its logarithm
ABOUT_MEAN <- c("laplace", "staircase", "gaussian")

# the part of delta for sizes that come out too small: half where noise needs the other half, else all of it
tail_delta <- function(ask) if (gaussian_asked(ask)) ask$delta / 2 else ask$delta * (1 - 1e-9)

# The best share of epsilon for the size, and the error with it, up to a factor radius/(n epsilon): a/(1 - s) of the
# mean's noise and b/s of missing points, for a mean half-way from the centre to the edge.
form_cost <- function(form, M, ask, categories = NULL) {
  each <- padded_reach(ask$ball) / ask$ball$radius
  a <- form_noise(form, M, ask)
  # "plain": where N lies 1.5 scales below the released number, as it will for a few hundred records
  b <- each / 2 * switch(form, sum = , scaled = 1, plain = 0.5 * exp(-1.5), tail = max(1, -log(tail_delta(ask))))
  list(form = form, share = 1 / (1 + sqrt(a / b)), cost = (sqrt(a) + sqrt(b))^2, noise = a)
}

# length of the noise times n epsilon/radius
form_noise <- function(form, M, ask) {
  each <- padded_reach(ask$ball) / ask$ball$radius
  joined <- joined_reach(ask$ball) / ask$ball$radius
  scaled <- stretched_reach(ask$ball, !ask$mechanism %in% ABOUT_MEAN) / ask$ball$radius
  min(noise_lengths(M, ask), Inf) * switch(form, sum = 1, scaled = scaled, plain = 2 * each, tail = joined)
}

# mean lengths of noise for sensitivity 1 at epsilon 1, of pure and normal noise where they may be used
noise_lengths <- function(M, ask) {
  d <- mf_facts(M)$dimension
  c(
    if (!ask$mechanism %in% GAUSSIAN_MECHANISMS) c(pure = d),
    if (gaussian_asked(ask)) {
      c(normal = ask$epsilon * noise_mean_length(d, gaussian_scale(FLAT_SPACE, 1, ask$epsilon, ask$delta / 2),
                                                 "gaussian"))
    }
  )
}

# The same for the sizes and means of groups at once, at a public guess of a group's size (`ask$guess`). Noise and
# missing points are at right angles on average: the root of their squares' sum is made least, over shares and, for
# "plain", over how far below the released size N lies (in scales of the size's noise, as all that is about it).
moved_cost <- function(form, M, ask, categories) {
  long <- noise_lengths(M, ask)
  unit <- list(radius = 1, k_max = ask$ball$k_max * ask$ball$radius^2, k_min = ask$ball$k_min * ask$ball$radius^2)
  wrapped <- !ask$mechanism %in% ABOUT_MEAN
  many <- 1e6 # points, so many that N + 1 is N
  moved <- vapply(names(long), function(law) moved_sensitivity(many, unit, form, law == "normal", wrapped) * many, 0)
  a <- min(long * moved)
  law <- list(scale = 64, categories = categories) # far from 0 the law's shape doesn't depend on its scale
  lag <- if (form == "plain") seq(0, 8, 0.25) else 0
  missing <- switch(form, sum = , scaled = size_mean(law), plain = size_excess(law, lag * 64),
                    tail = size_far(law, tail_delta(ask) / 2)) / 64
  if (form == "tail") lag <- -missing
  errors <- lapply(seq(0.01, 0.6, 0.01), function(share) {
    scale <- 2 / (share * ask$epsilon)
    noise <- a / ((1 - share) * ask$epsilon)
    sqrt(noise^2 + (padded_reach(unit) / 2 * scale * missing)^2) / pmax(1, ask$guess - lag * scale)
  })
  best <- which.min(vapply(errors, min, 0))
  list(form = form, share = best / 100, cost = min(errors[[best]]), noise = a)
}

# what has no proof for a private number of records is refused from public facts, before anything is spent
check_size_served <- function(M, ask) {
  no <- function(...) {
    abort_riemdp("unsupported", paste0(if (isTRUE(ask$replace)) "groups of private size: " else
      "neighbours = \"add_remove\": ", ...))
  }
  if (!ask$mechanism %in% c("auto", SIZE_SERVED)) {
    no("mechanism = \"", ask$mechanism, "\" has no proof for a private number of records. ",
       choice_words(SIZE_SERVED), " have one.")
  }
  if (ask$mechanism == "kng") check_kng_size(ask, no)
  if (is.null(ask$epsilon)) no("give `epsilon` instead of `sigma`: a part of it pays for the number of records.")
  if (isTRUE(ask$chunked)) no("records must be in memory: the sizes of chunks are public.")
  if (ask$timing == "constant") no("`timing = \"constant\"` isn't available: the time tells the number of records.")
  if (ask$numerics == "lattice" && ask$mechanism != "auto" && !size_lattice(M, ask$mechanism)) {
    no("mechanism = \"", ask$mechanism, "\" has no lattice mode on ", label_manifold(M), " for that.")
  }
  if (ask$calibration == "paper") no("`calibration = \"paper\"` isn't available.")
  if (of_user(M)) no("it isn't offered on users' manifolds.")
  if (ask$mechanism %in% GAUSSIAN_MECHANISMS && ask$delta == 0) {
    no("mechanism = \"", ask$mechanism, "\" needs `delta` > 0.")
  }
}

check_kng_size <- function(ask, no) {
  if (!is.null(ask$options[["form"]])) {
    no("mechanism = \"kng\" adds nothing to a mean of N points: it has no `form`.")
  }
  if (!is.null(ask$clipped) && is.null(ask$options[["count"]])) {
    no("`clipped` needs a released number of records: options = list(count = ) with mechanism = \"kng\".")
  }
}

# ---- plans for a size ------------------------------------------------------------------------------------------------

# The ask of a mean at a released number, or at a public guess of it: N is that number, moved by a public `shift`. It is
# upwards for "tail"; for "plain" downwards by so much that the error of missing points and that of the larger noise
# are least together.
ask_at_size <- function(ask, count) {
  s <- ask$size
  if (s$form == "plain" && count > 1) {
    lag <- as.numeric(0:min(count - 1, ceiling(20 * s$scale)))
    if (!is.null(s$categories)) lag <- unique(round(seq(0, max(lag), length.out = 200)))
    both <- if (is.null(s$categories)) `+` else function(a, b) sqrt(a^2 + b^2)
    error <- both(s$noise / ask$epsilon, s$reach / 2 * size_excess(s, lag)) / (count - lag)
    s$shift <- -lag[which.min(error)]
  }
  ask$n <- min(max(1, count + s$shift), SIZE_MOST) # NA where none is released
  if (s$form == "stages") s$count <- count
  s$missing <- switch(s$form, none = , stages = 0, sum = , scaled = size_mean(s), plain = size_excess(s, -s$shift),
                      tail = s$shift)
  ask$size <- s
  ask
}

# ---- several stages at one size --------------------------------------------------------------------------------------

# The stages of "adaptive" share one released number. The last ball's centre is near the mean, so that missing points do
# less there: for the size's share they are taken to be off by this part of the radius, found by simulation. A part of
# delta is kept for the tail of sizes that come out too small, whether the last stage uses it or not.
STAGED_OFF <- 0.1

staged_size <- function(M, ask) {
  tail <- if (ask$delta > 0 && !identical(size_forms(M, ask), "sum")) tail_delta(ask) else 0
  share <- ask$options[["count"]] %||% (1 / (1 + sqrt(min(noise_lengths(M, ask), Inf) / STAGED_OFF)))
  options <- ask$options[setdiff(names(ask$options), "count")]
  ask <- paid_size(ask, share, list(form = "stages"), tail)
  ask$options <- options
  ask$size$shift <- 0 # each stage has its own
  ask
}

stage_forms <- function(M, ask, delta) {
  ask$delta <- delta
  as.list(size_forms(M, ask))
}

# `ask` of one stage on its own ball, whose points are taken in that form
stage_at_size <- function(M, ask, name, form) {
  ask$mechanism <- name
  s <- ask$size
  s$form <- form
  s$noise <- form_noise(form, M, ask) * ask$ball$radius
  s$reach <- padded_reach(ask$ball)
  s$shift <- if (form == "tail") size_far(s, s$tail) + 1 else 0
  ask$size <- s
  ask_at_size(ask, s$count)
}

# The plan at that size, by the mechanism that was asked for, or the one with the smallest expected error. Where it
# can't be served at this size the wrapped noise of the same kind is, so that no size ends the call. `shrunk`: with what
# moving the draw towards the centre saves.
plan_size <- function(M, ask, count, shrunk = TRUE) {
  ask <- ask_at_size(ask, count)
  at <- function(name) {
    ask <- moved_ask(ask, name)
    plan <- plan_one(M, ask, name, error = FALSE)
    plan$ask <- ask
    plan$expected_error <- tryCatch(size_error(M, plan, ask), riemdp_error = function(e) NA_real_)
    plan$noise_error <- plan$expected_error
    if (shrunk) plan_shrunk(M, plan, ask) else plan
  }
  names <- if (ask$mechanism == "auto")
    setdiff(Filter(function(name) ask$numerics == "real" || size_lattice(M, name), SIZE_MECHANISMS),
            if (ask$delta == 0) GAUSSIAN_MECHANISMS)
    else unique(c(ask$mechanism, SIZE_INSTEAD[[ask$mechanism]]))
  if (!is.null(ask$size$law) && ask$size$law != "half") { # all groups have one
    names <- Filter(function(name) moved_law(ask, name) == ask$size$law, names)
  }
  plans <- list()
  for (name in names) {
    if (ask$mechanism != "auto" && length(plans)) break
    plans[[name]] <- tryCatch(at(name), riemdp_error = function(e) {
      if (name %in% SIZE_INSTEAD || inherits(e, "riemdp_error_contract")) stop(e) # they have public reasons only
      NULL
    })
  }
  errors <- planned_errors(plans)
  plan <- plans[[which.min(errors)]]
  plan$chosen <- if (ask$mechanism == "auto") paste0(
    "smallest expected error at the released size: ",
    paste(sprintf("%s %.4g", names(plans), vapply(plans, `[[`, 0, "expected_error")), collapse = ", ")
  ) else if (plan$mechanism == ask$mechanism) "asked for" else {
    sprintf("mechanism = \"%s\" was asked for, which doesn't exist at the scale that the released size asks for",
            ask$mechanism)
  }
  plan
}

# How the losses of the two groups that a replaced record touches add up under this mechanism. Of normal laws on curved
# spaces, and of staircases, it is known only that two prices do: each group has half of epsilon.
moved_law <- function(ask, name) {
  if (name == "wrapped_gaussian" || (name == "gaussian" && ask$size$form == "sum")) return("normal")
  if (name %in% c("laplace", "wrapped")) "sum" else "half"
}

# Of two groups it is known how they add up where both have the same of these laws: one for all sizes, from public
# numbers, that of the mechanism that is asked for or of the best at a public guess of a size. In a group where another
# mechanism serves it has its scale by that law; "half" holds for all of them.
one_law <- function(M, ask) {
  best <- if (ask$mechanism == "auto") plan_size(M, ask, max(1, round(ask$guess)))$mechanism else ask$mechanism
  ask$size$law <- moved_law(ask, best)
  ask
}

# `ask` of one group's mean by that mechanism
moved_ask <- function(ask, name) {
  if (is.null(ask$size$categories)) return(ask)
  ask$size$law <- ask$size$law %||% moved_law(ask, name)
  if (ask$size$law != "half") return(ask)
  ask$epsilon <- outwards_down(ask$epsilon / 2)
  ask$delta <- outwards_down(ask$delta / (1 + exp(ask$epsilon)))
  ask
}

size_error <- function(M, plan, ask) mean_mechanisms()[[plan$mechanism]]$error(M, plan, ask) + missing_error(ask)

# a promise about a replaced record as one about a record more or less, at the whole price
one_more_or_less <- function(g, epsilon, delta) {
  g$nominal_epsilon <- epsilon
  g$nominal_delta <- delta
  g$adjacency <- "add-remove"
  g$mu <- if (g$label == "none") Inf else NA_real_
  g$mu_slack <- 0
  if (g$label != "none") {
    g$epsilon <- g$nominal_epsilon
    g$delta <- g$nominal_delta
    g$label <- if (g$delta > 0) "approx" else "pure"
  }
  g
}

# what a promise about a mean becomes with that about a size
with_size <- function(g, ask) {
  normal <- gaussian_asked(list(mechanism = ask$mechanism, delta = ask$whole_delta))
  g <- one_more_or_less(g, ask$sized, if (normal) ask$whole_delta else ask$size$tail)
  g$assumptions <- c(
    "center and radius are public; the number of records is private",
    setdiff(g$assumptions, "center and radius are public; the number of records is public"),
    if (ask$size$share > 0) {
      sprintf(if (is.null(ask$size$categories)) {
        "a noisy number of records is a release of its own, with %.3g of epsilon, the mean with the rest"
      } else {
        "noisy sizes of all groups are one release of their own, with %.3g of epsilon, the means with the rest"
      }, ask$size$epsilon / (ask$total %||% ask$sized)) # of all that the call costs
    } else if (ask$size$form == "joint") {
      "a noisy size of each group is part of the release of its mean"
    }
  )
  g
}

# the price: the size, the mean, and the part of delta for sizes that come out too small
size_event <- function(ask) {
  mean <- if (ask$mechanism == "wrapped_gaussian") {
    event_gaussian(1 / outwards(gaussian_mu(ask$epsilon, ask$delta)), adjacency = "add-remove")
  } else if (gaussian_asked(list(mechanism = ask$mechanism, delta = ask$whole_delta))) {
    event_approx(ask$epsilon, ask$delta, adjacency = "add-remove")
  } else {
    event_pure(ask$epsilon, adjacency = "add-remove")
  }
  event_compose(c(
    if (ask$size$share > 0) list(event_pure(ask$size$epsilon, adjacency = "add-remove")),
    list(mean),
    if (ask$size$tail > 0) list(event_approx(0, ask$size$tail, adjacency = "add-remove"))
  ))
}

# ---- the release -----------------------------------------------------------------------------------------------------

# Records as a mean at the size N takes them. "none": as they are, with their number; "stages" as well, each of which
# asks again. "sum": their logarithms' sum, to be divided by N. Else N points, those that are missing at the centre; or
# all records where these are more.
sized_records <- function(M, x, n, plan, ask) {
  if (ask$size$form == "stages") return(list(x = if (n > 0) x, n = n))
  if (ask$size$form == "none") return(list(x = if (n == 0) ask$center else x, n = n))
  if (ask$size$form == "sum") {
    m0 <- .Call(riemdp_stored, M, ask$center)
    sums <- function(a) {
      if (n == 0) return(rep(0, 2 * mf_facts(M)$dimension))
      as.vector(.Call(riemdp_chunk_steps, M, x, m0, plan$numbers, n, a, NULL))
    }
    return(structure(list(n = ask$n, steps = sums), class = "riemdp_tally"))
  }
  # on a lattice those at the centre have its coordinates exactly, 0, whatever doubles make of its logarithm
  at_center <- if (identical(ask$numerics, "lattice")) 0L else NA_integer_
  .Call(riemdp_gathered, M, if (n == 0) ask$center else x, ask$center, ask$ball$radius,
        c(seq_len(n), rep(at_center, max(0, ask$n - n))))
}

# What the plan releases at the size N, list(value, plan). "scaled": the mean of more records than N is stretched, by a
# number that no plan keeps.
release_at_size <- function(M, x, n, plan, ask) {
  scaled <- plan
  if (identical(ask$size$form, "scaled")) scaled$numbers$stretch <- stretch(n / ask$n)
  out <- release_plan(M, sized_records(M, x, n, plan, ask), scaled, ask)
  out$plan$numbers <- plan$numbers
  out
}

# list(value, plan, size); `count` is the released number, NA where none is
release_size <- function(M, x, n, ask, count = noisy_count(n, ask$size$ratio, "mean-sensitivity.md, 14")) {
  told <- ask$size$share > 0
  count <- if (told) min(max(count, -COUNT_MOST), COUNT_MOST) else NA_real_
  plan <- plan_size(M, ask, count)
  if (told) plan$acceptance <- NA_real_ # whatever mechanism the released number allows
  out <- release_at_size(M, x, n, plan, plan$ask)
  at <- out$plan$last$ask # of several stages
  form <- if (is.null(at)) ask$size$form else at$size$form
  at <- at %||% plan$ask
  c(out, list(size = if (told) list(count = count, points = at$n, form = form, shift = at$size$shift,
                         reach = at$size$reach, epsilon = ask$size$epsilon, scale = ask$size$scale,
                         categories = ask$size$categories, law = at$size$law)))
}

# ---- what is known of the number of records --------------------------------------------------------------------------

# the number of records is no less, with that probability
size_least <- function(r, level) max(0, r$size$count - geometric_far(r$size$scale, 1 - level))

# c(lower, upper): the number of records lies there with probability `level` at least
size_interval <- function(r, level) {
  if (is.null(r$size)) {
    abort_riemdp("unsupported", if (private_size(r)) {
      "no number of records was released: `options = list(count = )` of dp_mean() does."
    } else {
      "the number of records is public: no size was released."
    })
  }
  far <- size_far(r$size, (1 - level) / 2)
  pmax(0, r$size$count + c(-far, far))
}

# how far the mean of the records is, at most, from what noise was added to, with that probability
size_reach <- function(r, level) {
  s <- r$size
  far <- max(0, s$shift + size_far(s, (1 - level) / if (s$form %in% c("sum", "scaled", "joint")) 2 else 1))
  # what the size is cut to
  if (s$points != s$count + s$shift) far <- far + abs(s$points - s$count - s$shift)
  far / s$points * s$reach
}
