# What no private mean can do better: lower bounds of the largest expected distance between a release and the Frechet
# mean, over all data sets in the public ball. Proofs: inst/proofs/lower-bounds.md.

#' What no private mean can do better
#'
#' A number that the expected error of no mechanism stays below: for every way to release a point that is
#' \eqn{(\varepsilon,\delta)}-differentially private under replacement of one of `n` records, there are records in the
#' ball for which the expected distance between the point and their Frechet mean is at least this number.
#'
#' It is the largest of four bounds, each proven with its constants:
#' * `"chains"`: one or more orthogonal axes through the centre with records at both ends. A replaced record moves the
#'   mean by a step of \eqn{2r/n}; noise in steps can't be narrower than two-sided geometric noise on each axis.
#' * `"block"`: some records stand at one point of the ball, the others at the centre. Where that point is can't be told
#'   better than group privacy allows, by volume.
#' * `"two points"`: some records stand at either end of a diameter. It is the best for few records and small budgets.
#' * `"scores"`: small groups of records stand in random directions. A release that is near the mean points towards each
#'   of them, more often than group privacy allows (a fingerprinting attack). It counts in some 50 dimensions and more.
#'
#' On curved spaces the bounds of curvature and the radius make them smaller: chains on more than one axis, the block by
#' its volume, and scores; a single axis and two points are as in flat space. With the Bures-Wasserstein metric, on
#' manifolds of your own and wherever the curvature isn't bounded from below only those two are used.
#'
#' How close the bound is: in flat space and for large n the error of `"laplace"` or `"staircase"` is about
#' \eqn{\sqrt{d/2}} times that of chains in d dimensions where epsilon is small, so up to 2.4 times for d = 10, and
#' about 5 times the best bound in hundreds of dimensions. There it isn't known whether bound or mechanism could be
#' better at finite n. With `delta`, `"scores"` has the rate of Gaussian noise in d, n, epsilon and delta, for many
#' dimensions and records, and a fourth to a tenth of its size. The others lack its factor
#' \eqn{\sqrt{\log(1/\delta)}}.
#'
#' @param M a manifold.
#' @param n number of records, or of units.
#' @param epsilon budget, above 0.
#' @param radius radius of the public ball, in the units of the metric; the limits are those of [mean_sensitivity()].
#' @param ... nothing; later arguments must be named.
#' @param delta from 0 to below 1.
#' @param center centre of the ball; needed only where curvature depends on the point (Bures-Wasserstein).
#' @return One number in the units of the metric, rounded down, with attributes `argument` (which of the four it is)
#'   and `axes` (how many of them, for `"chains"`; else `NA`).
#' @seealso [dp_mean_plan()], which puts it beside each mechanism
#' @references Hardt, M. and Talwar, K. (2010). On the geometry of differential privacy. *STOC*, 705-714.
#'   \doi{10.1145/1806689.1806786}
#'
#'   Ghosh, A., Roughgarden, T. and Sundararajan, M. (2012). Universally utility-maximizing privacy mechanisms. *SIAM
#'   Journal on Computing* 41, 1673-1693. \doi{10.1137/09076828X}
#'
#'   Steinke, T. and Ullman, J. (2016). Between pure and approximate differential privacy. *Journal of Privacy and
#'   Confidentiality* 7(2), 3-22. \doi{10.29012/jpc.v7i2.648}
#' @examples
#' bound <- mean_lower_bound(sphere(2), n = 500, epsilon = 1, radius = 0.4)
#' bound
#' dp_mean_plan(sphere(2), n = 500, epsilon = 1, radius = 0.4)$expected_error[1] / as.vector(bound)
#' @export
mean_lower_bound <- function(M, n, epsilon, radius, ..., delta = 0, center = NULL) {
  check_dots_empty(...)
  check_manifold(M)
  n <- check_count(n, "n", most = .Machine$integer.max)
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  delta <- check_delta(delta)
  lower_bound_at(M, check_radius(M, radius, center), n, epsilon, delta)
}

# for what a guarantee promises; NA where that is nothing, or about something else than the Frechet mean
bound_of_promise <- function(M, g, ball, n, target) {
  about_mean <- is.null(target) || grepl("(^|on this flat space the )Frechet mean$", target)
  if (!about_mean || g$label == "none" || !(g$delta < 1) || !is.finite(g$epsilon)) return(NA_real_)
  lower_bound_at(M, ball, n, g$epsilon, g$delta)
}

bound_argument <- function(bound) {
  switch(attr(bound, "argument"), chains = sprintf("chains on %d ax%s", attr(bound, "axes"),
                                                   if (attr(bound, "axes") == 1) "is" else "es"),
         block = "records at one point", scores = "records in random directions", "two points")
}

# which of bound and mechanism is known to be to blame for a ratio above 2
bound_blame <- function(M, g, argument) {
  d <- mf_facts(M)$dimension
  open <- "it is open which of the two could be better."
  if (g$delta > 0 && d <= -log(g$delta)) {
    return(paste("In so few dimensions a pure mechanism may err less than one that needs delta: the plan says which.",
                 "Of what is left", open))
  }
  if (g$delta > 0) {
    return(paste(if (argument == "scores") {
      "For large n in flat space the bound is known to be to blame for a factor of 2 (section 8); of what is left"
    } else {
      "The bound lacks the factor sqrt(log(1/delta)) of Gaussian noise, which many dimensions need; for how much of it"
    }, open))
  }
  if (d == 1) {
    return("In one dimension the bound is to blame for large n: \"staircase\" is as good as any there (section 8).")
  }
  if (isTRUE(g$epsilon > 5)) {
    return(paste("For large epsilon the bound is known to be to blame for a factor of up to 2 (section 8); of what is",
                 "left", open))
  }
  paste0("For large n and small epsilon in flat space the bound is known to be to blame",
         if (argument == "chains") ", by about sqrt(d/2)", " (section 8); elsewhere ", open)
}

# dimension of a flat through each point that the space can be projected to without lengthening anything
rank_of <- function(facts) {
  if (facts$model %in% c("spd", "hermitian")) return(facts$rows)
  if (facts$k_min == 0 && facts$k_max == 0 && facts$injectivity_radius == Inf) facts$dimension else 1
}

lower_bound_at <- function(M, ball, n, epsilon, delta) {
  epsilon <- min(epsilon, 1e100) # 0 in doubles from far below that on
  facts <- mf_facts(M)
  # whose volumes and Hessians are bounded from both sides by proven numbers
  known <- !facts$local_bounds && is.finite(facts$k_min) && !of_user(M)
  space <- list(d = facts$dimension, r = ball$radius, k_min = facts$k_min, k_max = ball$k_max, known = known,
                rank = if (known) rank_of(facts) else 1)
  key <- paste(format(c(unlist(space), n, epsilon, delta), digits = 17), collapse = " ")
  remember(paste("lower bound", key), function() {
    found <- list(two_points_bound(space, n, epsilon, delta), block_bound(space, n, epsilon, delta),
                  chains_bound(space, n, epsilon, delta), scores_bound(space, n, epsilon, delta))
    best <- found[[which.max(vapply(found, `[[`, 0, "value"))]]
    value <- best$value * (1 - 1e-6)
    if (value < 1e-290) value <- 0 # doubles don't round down there
    structure(value, argument = best$argument, axes = best$axes %||% NA_integer_)
  })
}

# the largest of numbers some of which lie beyond doubles
best_of <- function(values) max(0, values[is.finite(values)])

# delta of k records replaced, rounded up
group_delta <- function(k, epsilon, delta) {
  if (delta == 0) return(0 * k)
  times <- if (epsilon < 1) expm1(k * epsilon) / expm1(epsilon) else exp(log_expm1(k * epsilon) - log_expm1(epsilon))
  ifelse(k == 1, delta, pmin(1, delta * times * (1 + 1e-13)))
}

# whole numbers from 1 to n, about evenly on the scale of logarithms
some_counts <- function(n, length = 60) unique(round(exp(seq(0, log(n), length.out = length))))

# ---- two points (section 2) ------------------------------------------------------------------------------------------

two_points_bound <- function(space, n, epsilon, delta) {
  k <- some_counts(n, 200)
  part <- 2 * k / n * (1 - group_delta(k, epsilon, delta)) * stats::plogis(-k * epsilon)
  list(value = best_of(space$r * part), argument = "two points")
}

# ---- k records at one point (section 3) ------------------------------------------------------------------------------

block_bound <- function(space, n, epsilon, delta) {
  if (!space$known) return(list(value = 0, argument = "block"))
  values <- vapply(some_counts(n), block_at, 0, space = space, n = n, epsilon = epsilon, delta = delta)
  list(value = best_of(values), argument = "block")
}

block_at <- function(k, space, n, epsilon, delta) {
  d <- space$d
  rho <- space$r * (k / n)
  # the ball's volume is as in flat space for a radius that is smaller by this factor
  size <- rho * (exp_shrink(space$k_max, rho) / exp_stretch(space$k_min, rho))^((d - 1) / d)
  # the root of d - (d + 1) c = (Q - 1) c^(d + 1), from below
  more <- log_expm1(k * epsilon)
  log_c <- c(-max(more, 0) / d - 2, 0)
  for (i in 1:60) {
    middle <- mean(log_c)
    if (d - (d + 1) * exp(middle) > exp(more + (d + 1) * middle)) log_c[1] <- middle else log_c[2] <- middle
  }
  c <- exp(log_c[1])
  lost <- (d + 1) * (1 - c) * exp(log(group_delta(k, epsilon, delta)) - k * epsilon - d * log_c[1])
  size * (c - lost)
}

# least factor by which exp shrinks lengths within `reach`, for curvature at most k_max
exp_shrink <- function(k_max, reach) {
  s <- reach * sqrt(max(0, k_max))
  if (s < 1e-4) 1 - s^2 / 6 else sin(s) / s
}

# ---- chains on orthogonal axes (sections 4 to 6) ---------------------------------------------------------------------

CHAIN_FINE <- 0.05 # a step of more records where one is a small part of the noise
CHAIN_LOG_T <- seq(-60, 40, by = 0.25)

chains_bound <- function(space, n, epsilon, delta) {
  k <- max(1, ceiling(CHAIN_FINE / epsilon))
  if (k > n) return(list(value = 0, argument = "chains")) # two points do better
  laws <- chain_laws(exp(-k * epsilon))
  best <- list(value = 0, argument = "chains")
  try_one <- function(groups, axes) {
    for (slots in chain_lengths(space, floor(n / (groups * axes * k)), axes, k * epsilon, delta)) {
      kept <- chain_kept(slots, axes, k, epsilon, delta)
      value <- sqrt(groups) * space$r * (2 * k / n) * chain_factor(space, groups * axes, slots * k, n) *
        (kept * root_mean(laws$error, axes) - root_mean(chain_excess(laws, slots), axes, above = TRUE))
      if (isTRUE(value > best$value && is.finite(value))) {
        best <<- list(value = value, argument = "chains", axes = as.integer(groups * axes))
      }
    }
  }
  for (axes in axes_tried(space, n)) {
    try_one(1, axes)
    if (delta == 0) next
    for (groups in setdiff(unique(floor(axes_tried(space, n) / axes)), 0:1)) try_one(groups, axes)
  }
  best
}

axes_tried <- function(space, n) {
  most <- min(space$d, n)
  if (!space$known) 1 else if (most <= 24) seq_len(most) else some_counts(most, 24)
}

# lengths of chains worth trying
chain_lengths <- function(space, most, axes, epsilon, delta) {
  if (most < 1) return(numeric(0))
  if (delta > 0) most <- min(most, ceiling(-log(delta) / (axes * epsilon)) + 2)
  if (delta == 0 && axes <= space$rank) most else some_counts(most, 25)
}

# What is left of a mechanism with delta where its densities are cut down to those of a pure one along the whole chain
chain_kept <- function(slots, axes, k, epsilon, delta) {
  if (delta == 0) return(1)
  step <- k * epsilon
  ends <- axes * (slots * step + log(-expm1(-(slots + 1) * step)) - log(-expm1(-step)))
  max(0, 1 - exp(log(delta) + ends - log_expm1(epsilon)))
}

# 1 - E exp(-t Z^2) at exp(CHAIN_LOG_T), Z two-sided geometric, and G geometric from 1 on: how far beyond an end
chain_laws <- function(q) {
  remember(paste("chain laws", format(q, digits = 17)), function() {
    far <- seq_len(max(3, ceiling(46 / -log(q))))
    lost <- -expm1(-outer(exp(CHAIN_LOG_T), far^2))
    list(q = q, error = drop(lost %*% (2 * (1 - q) / (1 + q) * q^far)), beyond = drop(lost %*% ((1 - q) * q^(far - 1))))
  })
}

# the same of how far a point of the prior is beyond the chain
chain_excess <- function(laws, slots) {
  q <- laws$q
  laws$beyond * (2 * q / (1 - q) / (slots - 1 + 2 / (1 - q)))
}

# E sqrt(sum of `axes` squares), from 1 - E exp(-t square): the integral of (1 - E exp(-tS)) t^(-3/2)/(2 sqrt(pi))
root_mean <- function(lost, axes, above = FALSE) {
  all <- -expm1(axes * log1p(-pmin(lost, 1)))
  value <- sum(all * exp(-CHAIN_LOG_T / 2)) * 0.25 / (2 * sqrt(pi))
  if (above) value * (1 + 1e-9) + 1e-8 else value
}

# How much less than in flat space the distance to a mean may be, for one that moves by at most `slots` records on each
# of `axes` axes (section 6)
chain_factor <- function(space, axes, slots, n) {
  if (axes <= space$rank) return(1)
  reach <- means_within(space, space$r * (sqrt(axes) * slots / n))
  if (reach == Inf) return(0)
  most <- hessian_most(space, space$r + 2 * reach)
  spread <- most - hessian_least(space, space$r + 2 * reach)
  max(0, 1 - sqrt(axes) * reach * spread / space$r) / most
}

# Where means are whose energies have a gradient of at most `pull` at the centre: within this distance; Inf where that
# isn't proven, or not within half the ball
means_within <- function(space, pull) {
  reach <- pull
  for (i in 1:50) reach <- pull / hessian_least(space, space$r + reach)
  reach <- reach * (1 + 1e-9)
  proven <- 2 * reach <= space$r & hessian_least(space, space$r + reach) * reach >= pull
  ifelse(is.na(proven) | !proven, Inf, reach)
}

# least and largest eigenvalue of the Hessian of half the squared distance from a point within `s`
hessian_least <- function(space, s) cot_factor(pmin(s * sqrt(max(0, space$k_max)), pi / 2))

hessian_most <- function(space, s) coth_factor(s * sqrt(max(0, -space$k_min)))

# ---- groups of k records in random directions (section 7) ------------------------------------------------------------

scores_bound <- function(space, n, epsilon, delta) {
  none <- list(value = 0, argument = "scores")
  most <- floor(min(n / 2, space$d / epsilon))
  if (!space$known || space$d < 2 || most < 1) return(none)
  tried <- expand.grid(k = some_counts(most, 30), part = c(1, 2, 5, 20, 10^(2:8)), c = c(1.1, 1.2, 1.35, 1.6, 2),
                       beyond = 0:1)
  tried$groups <- floor(n / (tried$k * tried$part))
  tried <- tried[tried$groups > tried$c^2, ]
  tried$reach <- means_within(space, space$r * (tried$k / n) * tried$c * sqrt(tried$groups))
  tried <- tried[tried$reach < Inf, ]
  if (nrow(tried)) none$value <- best_of(scores_at(tried, space, n, epsilon, delta))
  none
}

# `groups` of `k` records each, means within `reach`; lengths in units of b, by which a group moves the mean
scores_at <- function(tried, space, n, epsilon, delta) {
  k <- tried$k
  c <- tried$c / sqrt(tried$groups)
  cap <- cap_moments(space$d, k * epsilon + tried$beyond)
  t <- cap$t
  b <- space$r * (k / n)
  reach <- tried$reach
  most <- hessian_most(space, space$r + 2 * reach)
  bent <- 2 * reach * pmax(1 - hessian_least(space, space$r + 2 * reach), most - 1) / space$r
  far <- 2 * (reach / b) * most
  # the directions' sum is longer than assumed: how often, and its share of the mean square
  rare <- exp(space$d / 2 * (log(tried$c^2) + 1 - tried$c^2))
  square <- rare * tried$c^2 * (1 + 2 / (exp(1) * space$d * (tried$c^2 - 1)))
  # the release's distance at which its scores could be what privacy allows, and the scores without distance
  straight <- 1 - bent * (1 + t)
  at_best <- straight - t
  room <- pmax(straight^2 - t^2, 0)
  x <- room / (c * (straight + t^2) + sqrt(c^2 * (straight + t^2)^2 - (c^2 - t^2) * room))
  by_chance <- exp(k * epsilon + cap$log_mean)
  length_of_others <- square / c + far * rare + 1 + bent
  lost <- by_chance * length_of_others + group_delta(k, epsilon, delta) * (1 - t) * (sqrt(tried$groups) + far)
  value <- b * (1 - rare - lost / at_best) / (most * (1 / x + by_chance / at_best))
  value[at_best > 0]
}

# For a coordinate xi of a uniform point of the unit sphere in d dimensions: some t from 0 on with P(xi > t) about
# exp(-far), and log E(xi - t)_+
cap_moments <- function(d, far) {
  square <- -expm1(-2 * pmax(0, far - log(4 * pi * pmax(far, 0.1)) / 2) / d)
  log_p <- stats::pbeta(square, 0.5, (d - 1) / 2, lower.tail = FALSE, log.p = TRUE) - log(2)
  log_first <- lgamma(d / 2) - lgamma((d - 1) / 2) - log(pi) / 2 + (d - 1) / 2 * log1p(-square) - log(d - 1)
  t <- sqrt(square)
  list(t = t, log_mean = log_first + log1p(-pmin(t * exp(log_p - log_first), 1)))
}
