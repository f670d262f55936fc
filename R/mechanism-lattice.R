# Lattice mode of the wrapped mechanism: proven bounds of rounding errors, discrete noise by integer arithmetic, its
# accounting. The theorems, and where each constant comes from: inst/proofs/lattice.md.

LATTICE_LAWS <- c("l2", "laplace", "gaussian")

# Bounds of the mean in lattice mode, or `why` there are none
lattice_bounds <- function(M, ball, n, target = "frechet") {
  bounds <- mean_steps(M, ball, n, target, lattice = TRUE)
  if (is.null(bounds$why) && !(bounds$steps <= 5000)) {
    bounds$why <- sprintf("a ball of this radius would take %.3g steps: choose a smaller `radius`", bounds$steps)
  }
  if (!is.null(bounds$why)) {
    bounds$why <- paste0("numerics = \"lattice\": ", bounds$why, if (bounds$model == "none") {
      " (there is on the package's own manifolds)"
    }, ".")
  }
  bounds
}

# ---- the mechanism: what "wrapped", "wrapped_gaussian" and "tangent" call for numerics = "lattice" -------------------

# in steps of the lattice
lattice_price <- function(M, plan) {
  shift <- plan$details$lattice_sensitivity
  scale <- plan$ratio[1] / plan$ratio[2]
  switch(plan$law, l2 = price_laplace(shift, scale, "lattice.md, 1"),
         laplace = price_laplace(outwards(sqrt(mf_facts(M)$dimension) * shift), scale, "lattice.md, 1"),
         gaussian = price_normal_discrete(shift, sqrt(scale), plan$guarantee$nominal_delta))
}

# target: "frechet", or "tangent" for the mean of the records' coordinates
mechanism_lattice <- list(
  options = c("law", "k"),
  unsupported = function(M, ask, target = "frechet") lattice_bounds(M, ask$ball, ask$n, target)$why,
  plan = function(M, ask, target = "frechet") {
    law <- check_choice(if (is.null(ask$options[["law"]])) "l2" else ask$options[["law"]], "law", LATTICE_LAWS)
    if (law == "gaussian" && !(ask$delta > 0)) {
      abort_riemdp("argument", "the discrete Gaussian needs `delta` > 0.")
    }
    bounds <- lattice_bounds(M, ask$ball, ask$n, target)
    if (!is.null(bounds$why)) abort_riemdp("unsupported", bounds$why)
    d <- mf_facts(M)$dimension
    r <- ask$ball$radius
    sensitivity <- if (target == "tangent") {
      structure(outwards(2 * r / ask$n), theorem = "2r/n, proofs/gaussian.md")
    } else if (is.null(ask$size)) {
      mean_sensitivity_at(ask$n, ask$ball, "proven")
    } else {
      padded_sensitivity(ask$n, ask$ball, ask$size$form)
    }
    # sums of records that may be more than they are divided by
    if (identical(ask$size$form, "sum")) bounds$error <- outwards(bounds$error * max(1, SIZE_MOST / ask$n))
    real <- as.numeric(sensitivity) + 2 * bounds$error
    if ((is.null(ask$size) || ask$n == 1) && !(2 * bounds$error <= as.numeric(sensitivity))) {
      abort_riemdp("unsupported", sprintf(
        paste("numerics = \"lattice\": the proven bound of rounding errors, %.3g, exceeds half the sensitivity %.3g:",
              "choose a smaller `radius`."),
        bounds$error, as.numeric(sensitivity)
      ))
    }
    # The default step: 2^-10 of what rounding and discreteness are compared with, so both cost a thousandth
    aim <- min(if (is.null(ask$sigma)) real / ask$epsilon else ask$sigma, real / sqrt(d)) / 2^10
    finest <- room_bits(r)
    k <- if (is.null(ask$options[["k"]])) {
      max(-150, min(150, finest, ceiling(-log2(aim))))
    } else {
      check_count(ask$options[["k"]], "k", -150, min(150, finest))
    }
    step <- 2^-k
    shift <- outwards(real / step + sqrt(d)) # Euclidean, in lattice steps
    noise <- lattice_scale(law, shift, d, ask, step)
    scale <- noise$scale * step
    list(
      scale = scale, sensitivity = as.numeric(sensitivity), theorem = attr(sensitivity, "theorem"),
      solver_error = shift * step - as.numeric(sensitivity),
      acceptance = if (law == "l2") exp(-sqrt(d) / (2 * noise$scale)) else 1,
      guarantee = list(
        epsilon = noise$epsilon, delta = noise$delta, reasons = NULL, sampler = "exact"
      ),
      law = law, numbers = bounds$numbers, ratio = noise$ratio,
      details = list(law = law, k = k, step = step, error_bound = bounds$error, lattice_sensitivity = shift,
                     lattice_scale = noise$scale, zcdp = noise$rho)
    )
  },
  error = function(M, plan, ask) lattice_expected_error(M, plan$law, plan$scale, ask),
  release = function(M, x, plan, ask) {
    .Call(riemdp_release_lattice, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
          plan$numbers, plan$details$k, plan$law, plan$ratio, pay(lattice_price(M, plan)))
  },
  region = function(r, level) {
    w <- r$details
    d <- mf_facts(r$manifold)$dimension
    s <- w$lattice_scale
    # Length of the noise in steps, bounded by that of continuous noise (proofs/lattice.md, section 2), and half a step
    # a coordinate for the rounding of the mean
    q <- switch(w$law,
      l2 = s * stats::qgamma((1 - level) * exp(-sqrt(d) / (2 * s)), d, lower.tail = FALSE) + sqrt(d) / 2,
      laplace = s * min(stats::qgamma(level, d), -sqrt(d) * log1p(-level^(1 / d))),
      gaussian = s * sqrt(stats::qchisq(level, d)) + sqrt(d)
    )
    wrapped_region(r, (q + sqrt(d) / 2) * w$step + w$error_bound)
  },
  words = function(r) {
    w <- r$details
    noise <- switch(w$law,
      l2 = sprintf("a point z of the lattice with probability proportional to exp(-|z|/s), s = %.6g steps,",
                   w$lattice_scale),
      laplace = sprintf("discrete Laplace noise of scale %.6g steps in each coordinate", w$lattice_scale),
      gaussian = sprintf(paste("discrete Gaussian noise with sigma = %.6g steps in each coordinate, accounted as zCDP",
                               "with rho = %.4g,"),
                         w$lattice_scale, w$zcdp)
    )
    sprintf(paste("Noise: the mean's coordinates at the public centre%s are rounded to multiples of 2^%d. %s",
                  "moves them by at most %.6g steps: the sensitivity, twice the proven bound %.3g of",
                  "the error that doubles make, and sqrt(d) steps for rounding. To them %s is added, drawn by",
                  "integer arithmetic on random bits; exp maps the sum back (proofs/lattice.md)."),
                  if (r$mechanism == "tangent") " (of the records' logarithms there)" else "", -w$k,
                  if (private_size(r)) "One record more or one less" else "Replacing one record",
                  w$lattice_sensitivity, w$error_bound, noise)
  }
)

# the ask of a mechanism whose law its name or another option says
with_law <- function(ask, law) {
  if (!is.null(ask$options[["mu"]]) || !is.null(ask$options[["report_mu"]])) {
    abort_riemdp("argument",
                 paste("`mu` belongs to numerics = \"real\": discrete Gaussian noise is no Gaussian, and is accounted",
                       "as zCDP."))
  }
  ask$options <- c(list(law = law), ask$options[names(ask$options) == "k"])
  ask
}

# scale in lattice steps as a fraction, rounded so that the promise holds, and the promise
lattice_scale <- function(law, shift, d, ask, step) {
  epsilon <- ask$epsilon
  delta <- if (law == "gaussian") ask$delta else 0
  by_hand <- !is.null(ask$sigma)
  rho <- NULL
  if (law == "gaussian") {
    rho <- if (by_hand) NULL else zcdp_rho(epsilon, delta)
    ratio <- as_ratio(if (by_hand) (ask$sigma / step)^2 else outwards(shift^2 / (2 * rho)),
                      if (by_hand) floor else ceiling)
    rho <- outwards(shift^2 / (2 * ratio[1] / ratio[2]))
    if (by_hand) epsilon <- outwards(rho_epsilon(rho, delta, "balle")$value)
    scale <- sqrt(ratio[1] / ratio[2])
  } else {
    move <- if (law == "l2") shift else outwards(sqrt(d) * shift)
    ratio <- as_ratio(if (by_hand) ask$sigma / step else outwards(move / epsilon), if (by_hand) floor else ceiling)
    scale <- ratio[1] / ratio[2]
    if (by_hand) epsilon <- outwards(move / scale)
    if (law == "l2" && 20 * scale < sqrt(d)) {
      abort_riemdp("unsupported", sprintf(paste0(
        paste("the l2 law with scale %.3g lattice steps would keep fewer than 1 in 20,000 trials in dimension %d: use",
              "a larger `k` "),
        "or options = list(law = \"laplace\")."
      ), scale, d))
    }
  }
  list(scale = scale, ratio = ratio, epsilon = epsilon, delta = delta, rho = rho)
}

# A positive number as whole numerator and denominator, exactly a power of two; `whole` says which way to round
as_ratio <- function(x, whole = round) {
  bits <- max(0, min(31, 52 - ceiling(log2(x))))
  num <- whole(x * 2^bits)
  if (!(num >= 1 && num <= 2^62)) {
    abort_riemdp("argument", sprintf("a scale of %.3g lattice steps is out of range: `k` of another size would do.", x))
  }
  c(num, 2^bits)
}

lattice_expected_error <- function(M, law, scale, ask) {
  d <- mf_facts(M)$dimension
  if (law == "l2") {
    return(expected_error(M, scale, "wrapped", ask$center, ask$ball$radius))
  }
  with_simulation(1, {
    noise <- matrix(if (law == "gaussian") stats::rnorm(4000 * d, sd = scale) else
      stats::rexp(4000 * d, 1 / scale) * sample(c(-1, 1), 4000 * d, TRUE), 4000)
    tangent_error(M, noise, ask$center, ask$ball$radius)
  })
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
