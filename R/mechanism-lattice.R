# Lattice mode of the wrapped mechanism: proven bounds of rounding errors, discrete noise by integer arithmetic, its
# accounting. The theorems, and where each constant comes from: inst/proofs/lattice.md.

# laws of mechanism = "wrapped"
LATTICE_LAWS <- c("l2", "laplace", "gaussian")

# Bounds of the mean in lattice mode, or `why` there are none
lattice_bounds <- function(M, ask, target = "frechet") {
  bounds <- mean_steps(M, ask$ball, ask$n, target, lattice = TRUE)
  if (!is.null(bounds$why)) {
    bounds$why <- paste0("numerics = \"lattice\": ", bounds$why, if (bounds$model == "none") {
      " (there is on the package's own manifolds)"
    }, ".")
  }
  bounds
}

# ---- the mechanism: what others call for numerics = "lattice" --------------------------------------------------------

# in steps of the lattice
lattice_price <- function(M, plan) {
  shift <- plan$details$lattice_sensitivity
  scale <- plan$ratio[1] / plan$ratio[2]
  switch(plan$law, l2 = price_laplace(shift, scale, "lattice.md, 1"),
         staircase = price_staircase(shift, plan$ratio[3], scale, "lattice.md, 1"),
         laplace = price_laplace(outwards(sqrt(mf_facts(M)$dimension) * shift), scale, "lattice.md, 1"),
         gaussian = price_normal_discrete(shift, sqrt(scale)))
}

# A mechanism that draws its law `law` on a lattice too: on every space with a bound of the mean's rounding errors, or
# on `flat` ones only, where noise at the mean is noise in the tangent space.
on_lattice <- function(mechanism, law, flat = FALSE) {
  lattice <- mechanism_lattice
  lattice$plan <- function(M, ask) mechanism_lattice$plan(M, with_law(ask, law))
  lattice_beside(mechanism, lattice, function(M) !flat || flat_space(M))
}

# A mechanism with what `lattice` does in its place where numerics = "lattice", on spaces that `served` says; what
# `lattice` doesn't have is the same there
lattice_beside <- function(mechanism, lattice, served) {
  real <- mechanism[c("unsupported", "plan", "error", "law", "release", "region", "words")]
  lattice <- utils::modifyList(real, lattice)
  asked <- function(ask) identical(ask$numerics, "lattice")
  was <- function(r) r$guarantee$numerics == "lattice"
  mechanism$options <- union(mechanism$options, lattice$options)
  mechanism$lattice <- served
  mechanism$unsupported <- function(M, ask) {
    if (!asked(ask)) return(c(lattice_option(ask, lattice$options), real$unsupported(M, ask))[1])
    c(if (ask$calibration == "paper") "`calibration = \"paper\"` isn't there for numerics = \"lattice\".",
      lattice$unsupported(M, ask))[1]
  }
  mechanism$plan <- function(M, ask) (if (asked(ask)) lattice else real)$plan(M, ask)
  mechanism$error <- function(M, plan, ask) (if (asked(ask)) lattice else real)$error(M, plan, ask)
  mechanism$law <- function(plan) (if (is.null(plan$law)) real else lattice)$law(plan)
  mechanism$release <- function(M, x, plan, ask) (if (asked(ask)) lattice else real)$release(M, x, plan, ask)
  mechanism$region <- function(r, level) (if (was(r)) lattice else real)$region(r, level)
  mechanism$words <- function(r) (if (was(r)) lattice else real)$words(r)
  mechanism
}

# a vector space in other coordinates: exp at one point is an isometry
flat_space <- function(M) {
  facts <- mf_facts(M)
  facts$k_min == 0 && facts$k_max == 0 && facts$injectivity_radius == Inf
}

# target: "frechet", or "tangent" for the mean of the records' coordinates
mechanism_lattice <- list(
  options = "k",
  unsupported = function(M, ask, target = "frechet") lattice_bounds(M, ask, target)$why,
  plan = function(M, ask, target = "frechet") {
    law <- ask$options$law
    bounds <- lattice_bounds(M, ask, target)
    if (!is.null(bounds$why)) abort_riemdp("unsupported", bounds$why)
    d <- mf_facts(M)$dimension
    r <- ask$ball$radius
    sensitivity <- if (target == "tangent") {
      structure(outwards(2 * r / ask$n), theorem = "2r/n, proofs/gaussian.md")
    } else if (is.null(ask$size)) {
      mean_sensitivity_at(ask$n, ask$ball, "proven")
    } else {
      sized_sensitivity(ask, wrapped = TRUE)
    }
    # sums of records that may be more than they are divided by
    if (identical(ask$size$form, "sum")) bounds$error <- outwards(bounds$error * max(1, SIZE_MOST / ask$n))
    if (identical(ask$size$form, "scaled")) bounds$error <- outwards(bounds$error * (STRETCH_MOST + 1))
    twice <- touched_errors(ask)
    real <- as.numeric(sensitivity) + twice * 2 * bounds$error
    if ((is.null(ask$size) || ask$n == 1) && !(2 * bounds$error <= as.numeric(sensitivity))) {
      abort_riemdp("unsupported", sprintf(
        paste("numerics = \"lattice\": the proven bound of rounding errors, %.3g, exceeds half the sensitivity %.3g:",
              "choose a smaller `radius`."),
        bounds$error, as.numeric(sensitivity)
      ))
    }
    wanted <- ask$sigma %||% (real / (ask$epsilon %||% max(1, ask$options$mu)))
    finest <- room_bits(r)
    k <- if (is.null(ask$options[["k"]])) {
      lattice_bits(wanted, real, d, finest)
    } else {
      check_count(ask$options[["k"]], "k", -150, min(150, finest))
    }
    step <- 2^-k
    shift <- outwards(real / step + twice * sqrt(d)) # Euclidean, in lattice steps
    noise <- lattice_scale(law, shift, d, ask, step)
    scale <- noise$scale * step
    list(
      scale = scale, sensitivity = as.numeric(sensitivity), theorem = attr(sensitivity, "theorem"),
      solver_error = shift * step - as.numeric(sensitivity), acceptance = noise$acceptance %||% 1,
      guarantee = noise$guarantee, law = law, numbers = bounds$numbers, ratio = noise$ratio,
      steps = noise$ratio[-(1:2)] * step,
      details = list(law = law, k = k, step = step, error_bound = bounds$error, lattice_sensitivity = shift,
                     lattice_scale = noise$scale, shells = noise$ratio[-(1:2)])
    )
  },
  error = function(M, plan, ask) {
    d <- mf_facts(M)$dimension
    law <- switch(plan$law, l2 = "knorm", gaussian = "gaussian",
                  staircase = list(step = plan$steps[1], first = plan$steps[2]))
    if (!is.null(law)) return(told_error(wrapped_noise_error(M, plan$scale, law, ask$center, ask$ball$radius)))
    told_error(with_simulation(1, {
      noise <- matrix(stats::rexp(4000 * d, 1 / plan$scale) * sample(c(-1, 1), 4000 * d, TRUE), 4000)
      tangent_error(M, noise, ask$center, ask$ball$radius)
    }))
  },
  law = function(plan) {
    # independent numbers on a lattice: as normal ones of the same variance
    if (plan$law == "laplace") plan$scale <- sqrt(2) * plan$scale
    list(flat = TRUE, energy = switch(plan$law, l2 = knorm_energy(plan), joint = joint_energy(plan),
      staircase = function(rho) staircase_energy(rho, plan$scale, plan$steps[1], plan$steps[2]),
      normal_energy(plan)))
  },
  release = function(M, x, plan, ask) {
    .Call(riemdp_release_lattice, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
          plan$numbers, plan$details$k, plan$law, plan$ratio, identical(ask$timing, "constant"),
          pay(lattice_price(M, plan)))
  },
  region = function(r, level) {
    w <- r$details
    d <- mf_facts(r$manifold)$dimension
    s <- w$lattice_scale
    # Length of the noise in steps, bounded by that of continuous noise (proofs/lattice.md, section 2), and half a step
    # a coordinate for the rounding of the mean
    q <- switch(w$law,
      l2 = s * stats::qgamma((1 - level) * exp(-sqrt(d) / (2 * s)), d, lower.tail = FALSE) + sqrt(d) / 2,
      staircase = shells_quantile(level, d, s, w$shells[1], w$shells[2]),
      laplace = s * min(stats::qgamma(level, d), -sqrt(d) * log1p(-level^(1 / d))),
      gaussian = s * sqrt(stats::qchisq(level, d)) + sqrt(d),
      joint = joint_quantile(level, joint_law(r$size))
    )
    if (w$law == "joint") r$solver_error <- 0 # of the sum, not of the mean
    wrapped_region(r, (q + sqrt(d) / 2) * w$step + w$error_bound)
  },
  words = function(r) {
    w <- r$details
    if (w$law == "joint") return(joint_words(r))
    noise <- switch(w$law,
      l2 = sprintf("a point z of the lattice with probability proportional to exp(-|z|/s), s = %.6g steps,",
                   w$lattice_scale),
      staircase = sprintf(paste("a point z of the lattice whose probability is the same up to a length of %.6g steps",
                                "and lower by the factor exp(-epsilon) on each further shell, %.6g steps wide,"),
                          w$shells[2], w$shells[1]),
      laplace = sprintf("discrete Laplace noise of scale %.6g steps in each coordinate", w$lattice_scale),
      gaussian = sprintf(paste("discrete Gaussian noise with sigma = %.6g steps in each coordinate, which protects as",
                               "normal noise of variance sigma^2 - 9 does,"), w$lattice_scale)
    )
    sprintf(paste("Noise: the mean's coordinates at the public centre%s are rounded to multiples of 2^%d. %s",
                  "moves them by at most %.6g steps: the sensitivity, twice the proven bound %.3g of",
                  "the error that doubles make, and sqrt(d) steps for rounding. To them %s is added, drawn by",
                  "integer arithmetic on random bits; exp maps the sum back (proofs/lattice.md)."),
                  if (r$mechanism == "tangent") " (of the records' logarithms there)" else "", -w$k,
                  sprintf(if (isTRUE(r$size$law %in% c("sum", "normal"))) "A replaced %s, in both groups together," else
                    if (private_size(r)) "One %s more or one less" else "Replacing one %s",
                    if (is.null(r$unit)) "record" else "unit"),
                  w$lattice_sensitivity, w$error_bound, noise)
  }
)

# The default step, 2^-bits: 2^-10 of what rounding and discreteness are compared with, so both cost a thousandth
lattice_bits <- function(scale, move, d, finest) {
  max(-150, min(150, finest, ceiling(-log2(min(scale, move / sqrt(d)) / 2^10))))
}

# the ask of a mechanism with a law of its own, or with the one that an option says
with_law <- function(ask, law) {
  ask$options$law <- check_choice(ask$options[["law"]] %||% law, "law", unique(c(law, LATTICE_LAWS)))
  ask
}

# Scale in lattice steps as a fraction, rounded so that the promise holds, and the promise. A staircase's fraction is
# followed by the widths of a shell and of the first one, whole numbers of steps.
lattice_scale <- function(law, shift, d, ask, step) {
  out <- switch(law, gaussian = normal_lattice_scale(shift, ask, step), staircase = shells_scale(shift, d, ask),
                pure_lattice_scale(law, shift, d, ask, step))
  if (law %in% c("l2", "staircase") && 20 * out$scale < sqrt(d)) {
    abort_riemdp("unsupported", sprintf(paste0(
      "the %s law with scale %.3g lattice steps would keep fewer than 1 in 20,000 trials in dimension %d: use a ",
      "larger `k` or options = list(law = \"laplace\")."
    ), law, out$scale, d))
  }
  out
}

pure_lattice_scale <- function(law, shift, d, ask, step) {
  by_hand <- !is.null(ask$sigma)
  move <- if (law == "l2") shift else outwards(sqrt(d) * shift)
  ratio <- as_ratio(if (by_hand) ask$sigma / step else outwards(move / ask$epsilon), if (by_hand) floor else ceiling)
  scale <- ratio[1] / ratio[2]
  list(scale = scale, ratio = ratio, acceptance = if (law == "l2") exp(-sqrt(d) / (2 * scale)),
       guarantee = list(epsilon = if (by_hand) outwards(move / scale) else ask$epsilon, delta = 0, reasons = NULL,
                        sampler = "exact"))
}

# Discrete normals of variance s^2 + 9 are what normal noise of variance s^2 becomes by a random rounding that looks at
# nothing else, but for one part in 10^60 (proofs/lattice.md, section 1): their promise is that one's.
normal_lattice_scale <- function(shift, ask, step) {
  if (!(ask$delta >= 1e-40)) abort_riemdp("argument", "the discrete Gaussian needs a `delta` of at least 1e-40.")
  by_hand <- !is.null(ask$sigma)
  if (by_hand) {
    if (!((ask$sigma / step)^2 > ROUNDING_VARIANCE)) {
      abort_riemdp("argument", "`sigma` must be more than 3 steps of the lattice: `k` of another size would do.")
    }
    ask$sigma <- sqrt((ask$sigma / step)^2 - ROUNDING_VARIANCE)
  }
  law <- gaussian_law(ask, FLAT_SPACE, shift)
  ratio <- as_ratio(outwards(law$scale^2 + ROUNDING_VARIANCE), if (by_hand) floor else ceiling)
  g <- law$guarantee
  g$mu <- outwards(shift / sqrt(ratio[1] / ratio[2] - ROUNDING_VARIANCE))
  g$mu_slack <- LATTICE_SLACK
  if (by_hand) g$epsilon <- gaussian_epsilon(FLAT_SPACE, shift / g$mu, shift, ask$delta)
  list(scale = sqrt(ratio[1] / ratio[2]), ratio = ratio, guarantee = g)
}

# The largest epsilon at which a staircase is drawn: few draws would be kept beyond. Below the least one it is the l2
# law, as far as its error goes.
LATTICE_RISE <- 12
LEAST_RISE <- 1e-3

shells_scale <- function(shift, d, ask) {
  if (is.null(ask$epsilon)) {
    abort_riemdp("unsupported", "a staircase has steps as wide as the sensitivity: give `epsilon`.")
  }
  if (ask$epsilon < LEAST_RISE) {
    abort_riemdp("unsupported", "steps this low make no difference: mechanism = \"wrapped\" is as good.")
  }
  if (ask$epsilon > LATTICE_RISE) {
    abort_riemdp("unsupported", sprintf("steps as high as epsilon = %.3g can't be drawn on a lattice: %d is the most.",
                                        ask$epsilon, LATTICE_RISE))
  }
  width <- ceiling(shift)
  ratio <- as_ratio(outwards(width / ask$epsilon), ceiling)
  if (!(width <= 2^52)) abort_riemdp("argument", "the lattice is too fine for a staircase: use a smaller `k`.")
  scale <- ratio[1] / ratio[2]
  first <- min(width, round(staircase_best(euclidean(d), scale, width)$first))
  list(scale = scale, ratio = c(ratio, width, first), acceptance = shells_kept(d, scale, width, first),
       guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"))
}

# share of draws of the l2 law that are kept
shells_kept <- function(d, scale, width, first) {
  exp(log_sum(shell_masses(d, scale, width, first)) - first / scale - d * log(scale) - lgamma(d))
}

# A length, in steps, that a draw exceeds with probability 1 - level at most: a point's share of the sum over the
# lattice is compared with the integral over its cube, of which no point is farther than half the diagonal h
shells_quantile <- function(level, d, scale, width, first) {
  h <- sqrt(d) / 2
  outer <- exp(shell_masses(d, scale, width, first, h) - log_sum(shell_masses(d, scale, width, first, -h)))
  beyond <- rev(cumsum(rev(outer))) * (1 + 1e-9)
  at <- which(c(beyond[-1], 0) <= 1 - level)[1]
  # within that shell, mass between radii a < b is in proportion to b^d - a^d
  edges <- h + c(-h, first + width * (seq_along(outer) - 1))
  spare <- min(1, max(0, (1 - level - c(beyond[-1], 0)[at]) / outer[at]))
  b <- edges[at + 1]
  b * (1 - spare * (1 - (edges[at] / b)^d))^(1 / d) + h
}

# ---- noise for users -------------------------------------------------------------------------------------------------

#' Exact discrete noise
#'
#' Draws on the integers whose probabilities are exactly those of the law, by integer arithmetic on random bits: no
#' rounding of floating-point numbers tells which value was perturbed (Mironov 2012). Every bit comes from the operating
#' system, so [set.seed()] has no effect; use [with_simulation()] for draws that can be repeated.
#'
#' * `discrete_laplace_noise()`: probability proportional to \eqn{\exp(-|z|/\mathrm{scale})}. On an integer that moves
#'   by at most \eqn{\Delta}, scale \eqn{\Delta/\epsilon} gives \eqn{\epsilon}-differential privacy.
#' * `discrete_gaussian_noise()`: proportional to \eqn{\exp(-z^2/(2\sigma^2))}; \eqn{\Delta^2/(2\sigma^2)}-zCDP. Its
#'   privacy is that of zCDP or of its own loss distribution, not that of the continuous Gaussian.
#' * `discrete_l2_noise()`: vectors with probability proportional to \eqn{\exp(-\|z\|/\mathrm{scale})}, Euclidean norm.
#'   On integer vectors that move by at most \eqn{\Delta} in that norm, scale \eqn{\Delta/\epsilon} gives
#'   \eqn{\epsilon}-differential privacy.
#'
#' The first two are the samplers of Canonne, Kamath and Steinke. The third draws a point with density
#' \eqn{\exp(-\|x\|/\mathrm{scale})} on \eqn{R^d}, its digits as they are needed, rounds it, and keeps the result with a
#' probability that makes up for rounding, on average at least \eqn{\exp(-\sqrt d/(2\,\mathrm{scale}))}.
#'
#' @param n number of draws.
#' @param scale positive; for `discrete_l2_noise()` at least \eqn{\sqrt{d}/20}. Scales (and squared sigmas) are used as
#'   fractions, to 52 binary digits or to multiples of \eqn{2^{-31}}, whichever is coarser.
#' @param sigma positive, at most 2^30.
#' @param dim number of coordinates.
#' @return Whole numbers as doubles: a vector of length n, or a matrix with n rows and `dim` columns.
#' @references
#' Canonne, C. L., Kamath, G. and Steinke, T. (2020). The Discrete Gaussian for Differential Privacy. *Advances in
#' Neural Information Processing Systems* 33. \doi{10.48550/arXiv.2004.00010}
#'
#' Karney, C. F. F. (2016). Sampling Exactly from the Normal Distribution. *ACM Transactions on Mathematical Software*
#' 42,
#' 3. \doi{10.1145/2710016}
#'
#' Mironov, I. (2012). On significance of the least significant bits for differential privacy. *Proceedings of the 2012
#' ACM Conference on Computer and Communications Security*, 650-661. \doi{10.1145/2382196.2382264}
#' @seealso [dp_mean()] with `numerics = "lattice"`
#' @examples
#' table(discrete_laplace_noise(1000, scale = 1))
#' var(discrete_gaussian_noise(1000, sigma = 3))
#' z <- discrete_l2_noise(1000, dim = 3, scale = 20)
#' mean(sqrt(rowSums(z^2)))  # about 3 * 20
#' @name discrete_noise
NULL

#' @rdname discrete_noise
#' @export
discrete_laplace_noise <- function(n, scale) {
  scale <- check_number(scale, "scale", least = 2^-20, most = 2^53)
  discrete_draws("laplace", n, 1L, scale)[, 1]
}

#' @rdname discrete_noise
#' @export
discrete_gaussian_noise <- function(n, sigma) {
  sigma <- check_number(sigma, "sigma", least = 2^-10, most = 2^30)
  discrete_draws("gaussian", n, 1L, sigma^2)[, 1]
}

#' @rdname discrete_noise
#' @export
discrete_l2_noise <- function(n, dim, scale) {
  dim <- check_count(dim, "dim", most = 1e4)
  scale <- check_number(scale, "scale", least = sqrt(dim) / 20, most = 2^53)
  discrete_draws("l2", n, dim, scale)
}

discrete_draws <- function(law, n, d, scale) {
  n <- check_count(n, "n", least = 0, most = 1e8)
  z <- .Call(riemdp_lattice_noise, euclidean(d), n, law, as_ratio(scale), in_simulation())
  attr(z, "trials") <- NULL
  z
}

# Whole numbers of steps of 2^-fine with a noise of the law that a plan has: list(law, "normal" or "l2", fine, shift,
# scale, ratio)
noisy_steps <- function(steps, plan, proof) {
  normal <- plan$law == "normal"
  simulated <- pay(if (normal) price_normal_discrete(plan$shift, plan$scale, proof) else
    price_laplace(plan$shift, plan$scale, proof))
  noise <- .Call(riemdp_lattice_noise, euclidean(length(steps)), 1L, if (normal) "gaussian" else "l2", plan$ratio,
                 simulated)
  (steps + as.vector(noise)) / 2^plan$fine
}
