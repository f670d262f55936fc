# Which noise for principal directions: scales, and errors expected at a public reference. Proofs:
# inst/proofs/subspaces.md.

COMPONENT_MECHANISMS <- c("gauss", "laplace", "wishart", "bingham")

# what each does, in words
COMPONENT_WORDS <- c(
  gauss = "discrete normal noise on the second-moment matrix, by integer arithmetic",
  laplace = "noise with density exp(-|H|/scale), |H| the Frobenius norm, on the second-moment matrix, in whole numbers",
  wishart = "the difference of two Wishart matrices, on the second-moment matrix",
  bingham = "directions drawn by the exponential mechanism, one after the other; no matrix is released"
)

# of a plan, for a ledger
component_words <- function(noise) {
  if (noise$mechanism != "look") noise$mechanism else paste("a look, then", paste(LOOK_CHOICES, collapse = " or "))
}

releases_matrix <- function(mechanism) mechanism != "bingham"

# the l2 law's sampler is proven up to so many dimensions
LAPLACE_MOST <- 1e4

# what a mechanism needs that is not given, in words, or NULL
component_refused <- function(mechanism, ask) {
  if (mechanism == "gauss" && !(ask$delta >= 1e-40)) "mechanism = \"gauss\" needs a `delta` of at least 1e-40." else
    if (mechanism == "laplace" && symmetric_count(ask$d) > LAPLACE_MOST) {
      sprintf("mechanism = \"laplace\" is for at most %d columns: \"wishart\" is better there.",
              as.integer(floor((sqrt(8 * LAPLACE_MOST + 1) - 1) / 2)))
    }
}

# in which of its numbers (moment_moves()) a mechanism takes what a record moves
COMPONENT_MOVES <- c(gauss = "frobenius", laplace = "frobenius", wishart = "trace", bingham = "along")

# One mechanism's noise, from public numbers: everything is in units of the square of the bound, which need not be known
component_noise <- function(mechanism, ask) {
  why <- component_refused(mechanism, ask)
  if (!is.null(why)) abort_riemdp("unsupported", why)
  pure <- list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact")
  moved <- moment_moves(ask$grid, is.na(ask$n))[[COMPONENT_MOVES[[mechanism]]]]
  noise <- switch(mechanism,
    gauss = lattice_moment("normal", ask$d, ask$grid, moved, ask$epsilon, ask$delta),
    laplace = lattice_moment("l2", ask$d, ask$grid, moved, ask$epsilon, 0),
    wishart = list(scale = outwards(moved / ask$epsilon), guarantee = pure),
    bingham = list(scale = outwards(2 * moved * ask$q / ask$epsilon), guarantee = pure)
  )
  noise$mechanism <- mechanism
  noise$moved <- moved
  noise$lattice <- mechanism %in% c("gauss", "laplace")
  # of an entry beside the diagonal
  noise$sd <- switch(mechanism,
    gauss = noise$scale * 2^-noise$fine / sqrt(2),
    laplace = noise$scale * 2^-noise$fine * sqrt((symmetric_count(ask$d) + 1) / 2),
    wishart = noise$scale * sqrt((ask$d + 1) / 2),
    bingham = NA_real_
  )
  noise$error <- component_error(noise, ask)
  noise
}

# The noise on a sum of products that sites make together, in units of the square of the bound as well. `about`: what a
# request says of the records' products.
shared_noise <- function(ask, shares, about) {
  check_normal_noise(ask)
  moved <- moment_moves(ask$grid, FALSE)[["frobenius"]]
  law <- gaussian_law(list(epsilon = if (is.null(ask$mu)) ask$epsilon, delta = ask$delta, options = ask["mu"]),
                      FLAT_SPACE, moved)
  noise <- list(mechanism = "gauss", lattice = FALSE, moved = moved, guarantee = law$guarantee, shares = shares,
                needed = law$scale)
  noise$guarantee$assumptions <- share_assumption(shares)
  shared_about(noise, about, ask)
}

check_normal_noise <- function(ask) {
  if (!(ask$mechanism %in% c("auto", "gauss"))) {
    abort_riemdp("unsupported", "sites add normal noise: mechanism = \"gauss\" and `delta` would do.")
  }
  why <- component_refused("gauss", ask)
  if (!is.null(why)) abort_riemdp("unsupported", paste("sites add normal noise:", why))
}

# the same noise for products at another point, whose lengths are other ones: what sites are asked for
shared_about <- function(noise, about, ask) {
  shares <- noise$shares
  length <- vector_length(about)
  noise$about <- about
  if (is.null(shares$threshold)) {
    noise$share <- noise$needed / sqrt(shares$sites - shares$colluding)
    noise$share_sd <- noise$share * length
    return(with_scale(noise, noise$needed * share_excess(shares), ask))
  }
  found <- secure_query(shares, about, noise$needed / noise$moved, ask$n)
  noise[names(found)] <- found
  with_scale(noise, summed_scale(noise$query, shares$sites, length), ask)
}

# normal noise of that scale in each of the entries, those beside the diagonal times root 2
with_scale <- function(noise, scale, ask) {
  noise$scale <- scale
  noise$sd <- scale / sqrt(2)
  noise$error <- component_error(noise, ask)
  noise
}

# The noisy sum from sites, in units of the square of the bound: list(sum, n, noise). Sites that fell silent have taken
# their records and their noise with them.
draw_shared <- function(x, noise, M, center, ask) {
  length <- vector_length(noise$about)
  d <- mf_facts(M)$dimension
  shares <- noise$shares
  if (is.null(noise$query)) {
    request <- shared_request(noise, noise$about, M, center)
    # against those who collude the others' shares are the noise
    pay(price_normal(noise$moved, noise$share * sqrt(shares$sites - shares$colluding), "chunks.md, 4"))
    plans <- lapply(x$sizes, function(n) noise_steps(request, request$sd / vector_moved(request), n))
    noise$spread <- shared_spread(lapply(plans, `[[`, "step"), lapply(plans, `[[`, "ratio"), length, d)
    return(list(sum = symmetric_matrix(noisy_sum(x, request) / length, d), n = ask$n, noise = noise))
  }
  query <- noise$query
  query$center <- .Call(riemdp_stored, M, center)
  pay(price_normal_discrete(noise$shift, honest_sd(query), "federation.md, 2"))
  found <- secure_sum(x, query)
  noise$alive <- length(found$alive)
  noise$spread <- shared_spread(rep(list(query$step), noise$alive), rep(list(query$ratio), noise$alive), length, d)
  list(sum = symmetric_matrix(found$sum * query$step / length, d), n = sum(x$sizes[found$alive]),
       noise = with_scale(noise, summed_scale(query, noise$alive, length), ask))
}

# How far the sum of discrete shares may spread: the standard deviation, beside the diagonal, of normal noise that is
# no less, and what rounding adds to it at most (proofs/subspaces.md, section 11)
shared_spread <- function(steps, ratios, length, d) {
  steps <- unlist(steps) / length
  variance <- vapply(ratios, function(ratio) ratio[1] / ratio[2], 0)
  list(sd = sqrt(sum(steps^2 * variance) / 2), rounding = sum(steps) * rounded_length(symmetric_count(d)))
}

# the sum of sites with its leading directions
draw_shared_components <- function(x, noise, M, center, ask) {
  out <- draw_shared(x, noise, M, center, ask)
  c(leading_directions(out$sum, ask$q), out[c("n", "noise")])
}

# `ask` of products at the point with coordinates `at` at the centre, for sites that add noise
ask_shared <- function(ask, x, at = NULL) {
  ask <- c(ask, noise_of_sites(x))
  ask$assumptions <- chunk_assumptions(x)
  ask$parts$grid <- scatter_grid(ask$parts$d)
  ask$about <- c(list(M = ask$manifold, radius = ask$ball$radius, vector = "scatter"), if (!is.null(at)) list(at = at))
  ask
}

# that no site's policy refuses the sum
check_shared <- function(x, noise, M, center, others = NULL) {
  check_policies(x, c(others, list(shared_request(noise, noise$about, M, center))))
}

# those of the mechanisms that there are
component_noises <- function(ask, mechanisms) {
  plans <- lapply(mechanisms, function(mechanism) {
    tryCatch(component_noise(mechanism, ask), riemdp_error_unsupported = function(e) NULL)
  })
  Filter(Negate(is.null), plans)
}

# The one whose number is the least; one on a lattice, whose guarantee is about the machine, where it has up to 5 % more
lattice_first <- function(plans, size) {
  lattice <- vapply(plans, `[[`, NA, "lattice")
  if (any(lattice) && min(size[lattice]) <= 1.05 * min(size)) size[!lattice] <- Inf
  which.min(size)
}

smallest_noise <- function(ask, mechanisms, what) {
  plans <- component_noises(ask, mechanisms)
  plans[[lattice_first(plans, vapply(plans, `[[`, 0, what))]]
}

# With a public guess of the gap that with the least expected error there. Without, the one that is on average over gaps
# by the least factor above the best at each; or a first look at the gap, which decides between two.
component_plan <- function(ask) {
  if (ask$mechanism != "auto") return(component_noise(ask$mechanism, ask))
  if (ask$guessed) return(smallest_noise(ask, COMPONENT_MECHANISMS, "error"))
  plans <- component_noises(ask, COMPONENT_MECHANISMS)
  signals <- component_signals(ask)
  lost <- lost_at(plans, ask, signals)
  best <- apply(lost, 1, min)
  worse <- colMeans(log(lost / best))
  one <- lattice_first(plans, exp(worse))
  look <- look_plan(ask, signals, best)
  if (!is.null(look) && look$worse < worse[one] - LOOK_GAIN) look else plans[[one]]
}

# n times the gap, evenly in its logarithm: gaps from 0.3 % of the largest there can be; where n is private what makes a
# difference to any mechanism
component_signals <- function(ask) {
  if (is.na(ask$n)) ask$d / ask$epsilon * 10^seq(-0.5, 3, length.out = 22) else ask$n / ask$q * 10^seq(-2.5, 0, 0.125)
}

# a row for each signal, a column for each plan
lost_at <- function(plans, ask, signals) {
  vapply(plans, function(noise) vapply(signals, component_lost, 0, noise = noise, ask = ask), numeric(length(signals)))
}

# ---- a first look ----------------------------------------------------------------------------------------------------
# Noise on the matrix ("wishart") or directions drawn: which of them errs less depends on the gap. A small part of
# epsilon shows enough of it where there are many dimensions.

LOOK_SHARES <- c(0.005, 0.01, 0.02, 0.03, 0.05)
LOOK_CHOICES <- c("wishart", "bingham")
LOOK_GAIN <- 0.01 # of the error, on average over gaps: for less no look is taken
LOOK_NOISE <- stats::ppoints(21, 0.5) # of the look's noise, at these quantiles

look_plan <- function(ask, signals, best) {
  looks <- lapply(LOOK_SHARES, function(share) look_with(ask, share, signals, best))
  looks <- Filter(Negate(is.null), looks)
  if (length(looks)) looks[[which.min(vapply(looks, `[[`, 0, "worse"))]]
}

# with that share of epsilon; NULL where nothing of it is left
look_with <- function(ask, share, signals, best) {
  own <- share * ask$epsilon
  if (own < 2^-20) return(NULL)
  rest <- ask
  rest$epsilon <- outwards_down(ask$epsilon - own)
  choices <- stats::setNames(component_noises(rest, LOOK_CHOICES), LOOK_CHOICES)
  moved <- look_moves(ask$d, ask$q, ask$grid, is.na(ask$n))
  look <- list(epsilon = own, share = share, moved = moved, scale = moved / own / 2^LOOK_BITS / ask$q,
               signals = signals, lost = lost_at(choices, ask, signals))
  noise <- look$scale * ifelse(LOOK_NOISE < 0.5, log(2 * LOOK_NOISE), -log(2 * (1 - LOOK_NOISE)))
  worse <- vapply(seq_along(signals), function(k) {
    chosen <- vapply(signals[k] + noise, look_choice, 0L, look = look)
    mean(log(look$lost[k, chosen] / best[k]))
  }, 0)
  list(mechanism = "look", lattice = FALSE, choices = choices, look = look, worse = mean(worse), scale = NA_real_,
       guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"))
}

# Which of the choices, given what was seen: post-processing. The least mean logarithm of the loss, over gaps as likely
# as they make what was seen.
look_choice <- function(seen, look) {
  weight <- exp(-abs(seen - look$signals) / look$scale + min(abs(seen - look$signals)) / look$scale)
  which.min(colSums(weight * log(look$lost)))
}

# what a record moves, the scale and the standard deviation of an entry, where 1 stands for `unit`
component_units <- function(noise, unit) {
  step <- if (noise$lattice) 2^-noise$fine else 1
  moved <- if (noise$lattice) noise$shift * step else noise$moved
  list(sensitivity = moved * unit, scale = noise$scale * step * unit, sd = noise$sd * unit)
}

# ---- expected errors -------------------------------------------------------------------------------------------------
# The second moment that the released directions have less than the best ones, as a share of the square of the bound,
# where q eigenvalues exceed all others, which are alike, by `gap` such shares.

component_error <- function(noise, ask) ask$q * ask$gap * component_lost(ask$n * ask$gap, noise, ask)

# Share of the q directions that is lost where the gap times n is `signal`
component_lost <- function(signal, noise, ask) {
  if (is.na(signal)) return(NA_real_)
  if (noise$mechanism != "bingham") return(spiked_lost(signal, noise, ask$d, ask$q))
  sum(vapply(seq_len(ask$q), function(j) bingham_lost(ask$q - j + 1, ask$d - ask$q, signal / noise$scale), 0)) / ask$q
}

# Share of a direction that noise turns away: that of many dimensions, where below a certain gap nothing is left
# (Benaych-Georges and Nadakuditi 2011), smoothed to what a direction by chance loses. How smooth it is was found by
# simulation, for 2 to 200 dimensions.
spiked_lost <- function(signal, noise, d, q) {
  chance <- 1 - q / d
  z <- noise$sd / signal
  turned <- (d - q) * z^2
  many <- (d / q)^0.4
  power <- 1 + 0.4 * many
  if (noise$mechanism == "wishart") { # of the law of the noise's eigenvalues, which isn't the semicircle
    y <- min(z^2 * d / 2, 0.24 - 0.2 * d^-0.4) # where nothing is left
    turned <- turned * (1 + y) / (1 - y)^2
    power <- 0.4 + 0.45 * many
  }
  if (turned == 0) return(0)
  (turned^-power + chance^-power)^(-1 / power)
}

# mean of 1 - u, u with density u^(a/2 - 1) (1 - u)^(b/2 - 1) exp(k u) on [0, 1]
bingham_lost <- function(a, b, k) {
  y <- seq(-60, 40, min(0.05, 0.5 / sqrt(max(a, b))))
  w <- stats::plogis(y)
  log_density <- b / 2 * stats::plogis(y, log.p = TRUE) + a / 2 * stats::plogis(-y, log.p = TRUE) - k * w
  p <- exp(log_density - max(log_density))
  sum(p * w) / sum(p)
}

# ---- what all of it costs --------------------------------------------------------------------------------------------

# the part of epsilon for a private number of records: directions don't need it, mean squares do
MOMENT_SIZE_SHARE <- 0.1

# public numbers of the noise, checked; n is NA where it is private. `units`: one of them is a unit of rows.
component_ask <- function(n, d, q, epsilon, delta, mechanism, gap, units = FALSE) {
  if (!is.na(n) && n < 1) abort_riemdp("shape", "`data` must hold at least one record.")
  if (d < 2) abort_riemdp("shape", "`data` must have at least two columns.")
  if (is.null(epsilon)) abort_no_default("epsilon")
  q <- check_count(q, "q", most = d - 1)
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  if (!(epsilon >= 2^-20 && epsilon <= 2^20)) {
    abort_riemdp("argument", "`epsilon` must be between 2^-20 and 2^20.")
  }
  if (is.na(n) && !is.null(gap)) {
    abort_riemdp("argument", "`gap` is for a public number of records: what it would decide depends on that.")
  }
  ask <- list(n = n, d = d, q = q, epsilon = epsilon, whole = epsilon, delta = check_delta(delta),
              mechanism = mechanism, gap = check_gap(gap, q), guessed = !is.null(gap),
              grid = moment_grid(n, d, units))
  if (is.na(n)) {
    own <- MOMENT_SIZE_SHARE * epsilon
    ratio <- geometric_ratio(own)
    ask$size <- list(epsilon = own, ratio = ratio, scale = ratio[1] / ratio[2])
    ask$epsilon <- outwards_down(epsilon - own)
  }
  ask
}

check_gap <- function(gap, q) {
  if (is.null(gap)) return(0.1 / q)
  check_number(check_number(gap, "gap", positive = TRUE), "gap", most = 1 / q)
}

# list(guarantee, event) of the noise, and of a released number of records with it. `public`: what is public, in words;
# `unit`: what a unit is called.
component_price <- function(noise, ask, public, trusted = NULL, unit = NULL) {
  private <- is.na(ask$n)
  adjacency <- if (private) "add-remove" else "replace-one"
  said <- sprintf("%s public; the number of records is %s", public, if (private) "private" else "public")
  g <- of_units(promise_of(noise$guarantee, c(said, component_assumptions(noise)), trusted = trusted,
                           adjacency = adjacency, numerics = if (noise$lattice) "lattice" else "real-valued"), unit)
  own <- g # of the noise alone
  if (private) g[c("nominal_epsilon", "mu", "mu_slack")] <- list(ask$whole, if (g$label == "none") Inf else NA_real_, 0)
  if (g$label == "none") return(list(guarantee = g, event = NULL))
  event <- if (noise$mechanism == "bingham") {
    step <- event_pure(2 * noise$moved / noise$scale, adjacency, range = TRUE)
    if (ask$q == 1) step else event_compose(step, times = ask$q)
  } else {
    release_event(own)
  }
  if (!private) return(list(guarantee = g, event = event))
  g$epsilon <- ask$whole
  list(guarantee = g, event = event_compose(list(event_pure(ask$size$epsilon, adjacency), event)))
}

component_assumptions <- function(noise) {
  if (noise$lattice) {
    return(c("IEEE 754 double precision; what is computed for one record doesn't depend on the others",
             "matrix products of the BLAS in use are sums of products in double precision, so exact for whole numbers"))
  }
  if (noise$mechanism %in% c("bingham", "look")) {
    paste("the sampler's number of trials depends on the records: who sees the run time learns something that the",
          "guarantee doesn't cover")
  }
}

component_theorem <- function(mechanism, shares = NULL) {
  section <- if (!is.null(shares)) 11 else switch(mechanism, gauss = , laplace = 2, wishart = 3, bingham = 4, look = 7)
  paste("proofs/subspaces.md, section", section)
}

# ---- after the noise -------------------------------------------------------------------------------------------------

noisy_moment <- function(sum, plan) {
  if (plan$lattice) noisy_moment_lattice(sum, plan) else noisy_moment_wishart(sum, plan$scale, plan$moved)
}

# the number of records or units, where it is private with noise; paid for before anything else is drawn
drawn_size <- function(n, ask) {
  if (!is.na(ask$n)) return(NULL)
  list(count = noisy_count(n, ask$size$ratio, "mean-sensitivity.md, 14"), epsilon = ask$size$epsilon,
       scale = ask$size$scale, form = "counted")
}

# The sum for records on a manifold, or their units' means, seen from p; with a column `constant`, its square a share of
# the square of `length`, beside their coordinates
tangent_moment <- function(records, ask, p, length, grid, constant = NULL, whole = 1) {
  d <- mf_facts(ask$manifold)$dimension
  rows <- if (records$n > 0) tangent_rows(ask$manifold, records$x, ask, p) else matrix(0, 0, d)
  if (is.null(constant)) return(moment_sum(moment_rows(rows, length, grid), grid))
  # coordinates are shortened before: the constant is the same for all
  rows <- cbind(shorten_rows(rows, length), rep(length * constant, nrow(rows)))
  moment_sum(moment_rows(rows, length * whole, grid), grid)
}

# What is public once all is drawn: how many records there are, or answered, and the gap, where a look has shown it
ask_after <- function(ask, out) {
  if (!is.null(out[["n"]])) ask$n <- out[["n"]] # by its whole name: `noise` begins alike
  if (!is.null(out$size)) ask$n <- max(1, out$size$count)
  if (!is.null(out$look)) ask$gap <- min(max(out$look$gap / ask$n, 1e-3 / ask$q), 1 / ask$q)
  ask
}

# What is drawn for records' sum of squares, and the leading directions of that; by which noise, and what a first look
# showed
draw_components <- function(sum, plan, q) {
  if (plan$mechanism == "look") {
    seen <- look_at(sum, q, plan$look$moved, plan$look$epsilon)
    out <- draw_components(sum, plan$choices[[look_choice(seen$gap, plan$look)]], q)
    return(c(out, list(look = seen)))
  }
  if (!releases_matrix(plan$mechanism)) {
    return(list(noise = plan, directions = bingham_directions(sum, q, plan$scale, plan$moved)))
  }
  c(list(noise = plan), leading_directions(noisy_moment(sum, plan), q))
}

leading_directions <- function(noisy, q) {
  e <- eigen(noisy, symmetric = TRUE)
  list(directions = e$vectors[, seq_len(q), drop = FALSE], sum = noisy, values = e$values)
}

# The parts of an answer: directions with the largest number positive; where a matrix was released, that, its
# eigenvalues, what the second moment along the directions may be without noise, and their shares
components_told <- function(out, noise, ask, bound, names = NULL) {
  v <- out$directions
  v <- v * rep(sign(v[cbind(max.col(abs(t(v)), "first"), seq_len(ncol(v)))]), each = nrow(v))
  told <- list(loadings = matrix(v, nrow(v), dimnames = list(names, NULL)), eigenvalues = NULL, moments = NULL,
               shares = NULL, moment = NULL)
  if (is.null(out$sum)) return(told)
  unit <- moment_value(1, ask$n, bound, ask$grid)
  told$eigenvalues <- out$values * unit
  told$moments <- without_noise(told$eigenvalues[seq_len(ncol(v))], noise$sd * unit, ask$d)
  told$shares <- told$moments / max(sum(diag(out$sum)) * unit, sum(told$moments), .Machine$double.xmin)
  told$moment <- out$sum * unit
  told
}

# what a release says of its directions: from what was drawn and public numbers
components_facts <- function(out, ask, bound, names = NULL) {
  ask <- ask_after(ask, out)
  noise <- out$noise
  unit <- moment_value(1, ask$n, bound, ask$grid)
  told <- component_units(noise, unit)
  c(components_told(out, noise, ask, bound, names), list(
    mechanism = noise$mechanism, bound = bound, gap = ask$gap, rounding = moment_rounding(ask$d, bound, ask$grid),
    look = if (!is.null(out$look)) list(gap = out$look$gap * unit, scale = out$look$scale * unit),
    sensitivity = told$sensitivity, scale = told$scale,
    noise = c(noise[intersect(c("mechanism", "scale", "fine", "sd", "lattice", "spread"), names(noise))],
              list(unit = unit)),
    details = shared_details(noise), expected_error = component_error(noise, ask) * bound^2,
    theorem = component_theorem(noise$mechanism, noise$shares)
  ))
}

# An eigenvalue g that stands alone becomes g + d sd^2/g by noise with that standard deviation beside the diagonal, and
# is lost below sd root d. Post-processing: a guess of g from that.
without_noise <- function(value, sd, d) {
  edge <- 2 * sd * sqrt(d)
  ifelse(value > edge, (value + sqrt(pmax(0, value^2 - edge^2))) / 2, 0)
}

# ---- how far the subspace may be from that without noise -------------------------------------------------------------
# A length that the noise's largest eigenvalue, in absolute value, exceeds with probability 1 - level at most, in units
# of the square of the bound (section 5)

noise_spread <- function(mechanism, noise, d, level) {
  t <- function(part) sqrt(-2 * log(part))
  rest <- (1 - level) * 0.999
  m <- symmetric_count(d)
  if (mechanism == "wishart") { # of each of two, whose trace is a Gamma number
    root <- (sqrt(d) + sqrt(d + 1) + t(rest / 2))^2 / 2
    return(noise$scale * min(root, stats::qgamma(rest / 2, m, lower.tail = FALSE)))
  }
  step <- if (noise$lattice) 2^-noise$fine
  # of a matrix with normal entries, 1 beside the diagonal and root 2 on it; the Frobenius norm is no less
  normal <- function(part) 2 * sqrt(d) + sqrt(2) * t(part / 2)
  rounding <- noise$spread$rounding %||% (step * rounded_length(m))
  if (mechanism == "gauss") {
    sd <- noise$spread$sd %||% noise$sd
    return(1.001 * sd * min(normal(rest), sqrt(2 * stats::qchisq(rest, m, lower.tail = FALSE))) + rounding)
  }
  short <- sqrt(2 * stats::qchisq(rest / 3, m))
  length <- min(stats::qgamma(rest / 3, m, lower.tail = FALSE) * normal(rest / 3) / short,
                stats::qgamma(rest, m, lower.tail = FALSE))
  1.001 * noise$scale * step * length + rounding
}

# in steps, of m entries, and of what makes normal noise discrete
rounded_length <- function(m) 8 * sqrt(m) + 40

# The largest angle between the released subspace and that without noise is at most this: Davis and Kahan's theorem with
# the released eigenvalues
angle_bound <- function(values, q, length) {
  gap <- values[q] - values[q + 1] - length
  if (gap > length) asin(length / gap) else pi / 2
}
