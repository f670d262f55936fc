# Gaussian noise: on the manifold, and wrapped from the tangent space at the public centre.

FLAT_SPACE <- list(kind = "flat")

# what no mechanism with Gaussian noise can serve
gaussian_unsupported <- function(ask, name) {
  if (ask$calibration == "paper") {
    sprintf("`calibration = \"paper\"` doesn't exist for mechanism = \"%s\".", name)
  }
}

check_gaussian_options <- function(ask) {
  o <- ask$options
  mu <- if (!is.null(o$mu)) check_number(o$mu, "options$mu", positive = TRUE)
  if (!is.null(mu) && (!is.null(ask$epsilon) || !is.null(ask$sigma))) {
    abort_riemdp("argument", "give one of `epsilon`, `sigma` and `options = list(mu = )`: each decides the scale.")
  }
  report <- o$report_mu
  if (!is.null(report) && !(is.logical(report) && length(report) == 1 && !is.na(report))) {
    abort_riemdp("argument", "`options$report_mu` must be TRUE or FALSE.")
  }
  list(mu = mu, report = isTRUE(report))
}

# Scale, epsilon and mu of Gaussian noise for centres at distance `total` in `space`
gaussian_law <- function(ask, space, total) {
  wanted <- check_gaussian_options(ask)
  epsilon <- ask$epsilon
  # on a curved space each is a search over a profile
  once <- function(what, find, ...) {
    if (space$kind == "flat") return(find(space, ...))
    key <- paste(c("gaussian", what, unlist(space), format(c(...), digits = 17)), collapse = " ")
    remember(key, function() find(space, ...))
  }
  if (!is.null(wanted$mu)) {
    scale <- once("scale of mu", gaussian_scale_gdp, total, wanted$mu)
  } else if (!is.null(ask$sigma)) {
    scale <- ask$sigma
    check_gaussian_reach(space, scale)
  } else {
    scale <- once("scale", gaussian_scale, total, epsilon, ask$delta)
  }
  if (is.na(scale)) {
    abort_riemdp("existence", paste0(
      paste("no scale of the Gaussian law gives what is asked for on this manifold: its volume grows exponentially,",
            "and beyond some "),
      "scale more noise protects no better. More records, a larger epsilon or delta, a smaller radius or ",
      "mechanism = \"wrapped_gaussian\" would do."
    ))
  }
  if (is.null(epsilon)) epsilon <- once("epsilon", gaussian_epsilon, scale, total, ask$delta)
  mu <- if (space$kind == "flat") outwards(total / scale) else
    if (!is.null(wanted$mu)) wanted$mu else if (wanted$report) once("mu", gaussian_gdp, scale, total) else NA_real_
  list(scale = scale, guarantee = list(
    epsilon = epsilon, delta = ask$delta, mu = mu, mu_slack = if (space$kind == "flat") 0 else GDP_SLACK,
    sampler = "exact", reasons = if (!is.finite(epsilon)) "no finite epsilon is known at this scale and delta"
  ))
}

mechanism_gaussian <- list(
  name = "gaussian",
  auto = TRUE,
  chunks = TRUE,
  needs_delta = TRUE,
  options = c("mu", "report_mu"),
  unsupported = function(M, ask) {
    c(if (is.null(profile_space(M))) no_gaussian(M), gaussian_unsupported(ask, "gaussian"))[1]
  },
  plan = function(M, ask) {
    bounds <- mean_bounds(M, ask, wrapped = FALSE)
    law <- gaussian_law(ask, profile_space(M), bounds$total)
    check_radial(M, "gaussian", law$scale)
    c(bounds, law, list(acceptance = NA_real_, details = list(profile = profile_space(M)$kind)))
  },
  error = function(M, plan, ask) expected_error(M, plan$scale, "gaussian"),
  law = function(plan) list(energy = normal_energy(plan)),
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, "gaussian"),
  region = function(r, level) {
    growth <- 1.25 * mf_facts(r$manifold)$volume_growth # the bound of the area grows a little faster than the area
    top <- growth * r$scale^2 + r$scale * (sqrt(mf_facts(r$manifold)$dimension) + 14 + sqrt(-2 * log1p(-level)))
    q <- radial_quantile(r$manifold, c(2, r$scale), function(rho) rho^2 / (2 * r$scale^2), level, top)
    list(radius = q + r$solver_error, basis = "the noise's law")
  },
  words = function(r) {
    paste0(
      sprintf("Noise: density proportional to exp(-d^2/(2 scale^2)) around the mean, scale = %.6g. ", r$scale),
      switch(r$details$profile,
        flat = "The space is flat: delta is the exact one of normal noise.",
        hinge = paste("Curvature is nowhere negative: delta is that of normal noise in flat space, and below epsilon =",
                      "mu^2/2 by up to (1 - exp(epsilon - mu^2/2))^2/2 more."),
        bound = paste("The privacy loss is at most D (2 rho + D)/(2 scale^2) with D the sensitivity and rho the",
                      "noise's length; delta is a bound of the integral of that over the law of rho."),
        paste("Distances from one centre to another are alike for all pairs of centres equally far apart, and delta",
              "grows with their distance; delta is an upper bound of its integral, by quadrature with proven error.")
      ),
      " (proofs/gaussian.md)"
    )
  }
)

mechanism_wrapped_gaussian <- list(
  name = "wrapped_gaussian",
  auto = TRUE,
  chunks = TRUE,
  needs_delta = TRUE,
  options = c("mu", "report_mu"),
  unsupported = function(M, ask) gaussian_unsupported(ask, "wrapped_gaussian"),
  plan = function(M, ask) {
    bounds <- mean_bounds(M, ask, wrapped = TRUE)
    c(bounds, gaussian_law(ask, FLAT_SPACE, bounds$total), list(acceptance = 1))
  },
  error = function(M, plan, ask) {
    # a user's callbacks aren't asked: what they do is their own, and an error here would be loud
    if (of_user(M)) return(noise_mean_length(mf_facts(M)$dimension, plan$scale, "gaussian"))
    expected_error(M, plan$scale, "wrapped_gaussian", ask$center, ask$ball$radius)
  },
  law = function(plan) list(energy = normal_energy(plan), flat = TRUE),
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, "wrapped_gaussian"),
  region = function(r, level) wrapped_region(r, noise_length_quantile(r, "gaussian", level)),
  words = function(r) {
    sprintf(paste("Noise: the mean's logarithm at the public centre moves by no more than the sensitivity; to it a",
                  "vector of independent normals with standard deviation %.6g is added, by the exact condition",
                  "for Gaussian noise (Balle and Wang 2018), and exp maps it back (proofs/gaussian.md)."), r$scale)
  }
)

# quantile of the length of noise in the tangent space
noise_length_quantile <- function(r, law, level) {
  d <- mf_facts(r$manifold)$dimension
  if (law == "gaussian") r$scale * sqrt(stats::qchisq(level, d)) else stats::qgamma(level, d, scale = r$scale)
}

#' Privacy of the Gaussian law on a manifold
#'
#' `privacy_profile()` gives the delta that a draw with density proportional to \eqn{\exp(-d(x, c)^2/(2\sigma^2))} has
#' at each epsilon when centres c of neighbouring data sets are at most `distance` apart; `gdp_parameter()` the
#' \eqn{\mu} of Gaussian differential privacy that it implies. Both are upper bounds, with the error of the quadrature
#' on the safe side.
#'
#' On flat spaces the profile is the exact one of normal noise (Balle and Wang 2018), \eqn{\mu = distance/\sigma}. On
#' spheres and hyperbolic space it is an integral over the radius, whose angular part is an incomplete beta function;
#' bounds of the integrand's derivatives by interval arithmetic bound the error, some .1 % of delta. It grows with the
#' distance of the centres, so the largest distance is the worst one. On planar shapes the angular part is bounded by
#' that of the sphere. On positive definite matrices with the affine-invariant metric, where directions differ, the
#' privacy loss is bounded by its largest value at each radius: valid in every direction, with 20 to 50 % more noise
#' than in flat space for small matrices. On subspaces (Grassmann manifolds) it is at most that of flat space for
#' \eqn{\epsilon \ge \mu^2/2}, and by up to \eqn{(1 - \exp(\epsilon - \mu^2/2))^2/2} more below; so it is on products
#' without negative curvature. On other products the loss is bounded as on positive definite matrices. Proofs: the files
#' `proofs/gaussian.md` and, section 5, `proofs/products.md` of the installed package.
#'
#' \eqn{\mu} holds up to \eqn{10^{-15}} in delta, except on flat spaces, where it is exact.
#'
#' @param M a homogeneous manifold with a known area of spheres: sphere, hyperbolic, planar shapes, subspaces, flat,
#'   positive definite matrices with the affine-invariant or log-Euclidean metric; or a product of such.
#' @param sigma scale of the law, positive.
#' @param distance largest distance of the centres, positive, e.g. [mean_sensitivity()].
#' @param epsilon numbers from 0 to 500.
#' @return `privacy_profile()`: one delta for each epsilon. `gdp_parameter()`: one number, `Inf` where no bound below 30
#'   was found.
#' @references Jiang, Y., Chang, X., Liu, Y., Ding, L., Kong, L. and Jiang, B. (2023). Gaussian Differential Privacy on
#' Riemannian Manifolds. *Advances in Neural Information Processing Systems* 36. \doi{10.48550/arXiv.2311.10101}
#'
#' Balle, B. and Wang, Y.-X. (2018). Improving the Gaussian mechanism for differential privacy: analytical calibration
#' and optimal denoising. *International Conference on Machine Learning*. \doi{10.48550/arXiv.1805.06530}
#'
#' Dong, J., Roth, A. and Su, W. J. (2022). Gaussian differential privacy. *Journal of the Royal Statistical Society B*
#' 84, 3-37. \doi{10.1111/rssb.12454}
#' @examples
#' privacy_profile(sphere(2), sigma = 0.1, distance = 0.02, epsilon = c(0, 0.5, 1))
#' privacy_profile(euclidean(2), sigma = 0.1, distance = 0.02, epsilon = c(0, 0.5, 1))
#' gdp_parameter(sphere(1), sigma = 1.5, distance = 1)
#' @export
privacy_profile <- function(M, sigma, distance, epsilon) {
  space <- checked_profile_space(M, sigma, distance)
  if (!is.numeric(epsilon) || is.object(epsilon) || anyNA(epsilon) || any(epsilon < 0 | epsilon > 500)) {
    abort_riemdp("argument", "`epsilon` must be numbers between 0 and 500.")
  }
  profile_delta(space, sigma, distance, as.double(epsilon))
}

#' @rdname privacy_profile
#' @export
gdp_parameter <- function(M, sigma, distance) {
  gaussian_gdp(checked_profile_space(M, sigma, distance), sigma, distance)
}

checked_profile_space <- function(M, sigma, distance) {
  check_manifold(M)
  space <- profile_space(M)
  if (is.null(space)) abort_riemdp("unsupported", no_gaussian(M))
  sigma <- check_number(sigma, "sigma", positive = TRUE)
  distance <- check_number(distance, "distance", positive = TRUE)
  diameter <- mf_facts(M)$diameter
  if (!(distance < diameter)) {
    abort_riemdp("argument", sprintf("`distance` must be below the manifold's diameter, %.4g.", diameter))
  }
  ratio <- sigma / distance
  if (ratio < 1e-3 || ratio > 1e9 || radial_far(space, sigma)) {
    abort_riemdp("argument", paste(
      "`sigma` must be between 1e-3 and 1e9 times `distance`, and not so large that the growth of volume rules the law."
    ))
  }
  space
}
