# The Laplace mechanism, and existence and expected error of the noise laws, from public quantities.

# numbers of the laws in src/ffi/ffi_mechanism.c
NOISE_LAWS <- c("laplace", "wrapped", "gaussian", "wrapped_gaussian", "heat", "chordal")

has_laplace <- function(M) {
  facts <- mf_facts(M)
  facts$has_laplace && facts$homogeneous
}

no_laplace <- function(M, law = "Laplace") {
  sprintf(paste("the %s mechanism needs a homogeneous manifold with a known area of spheres, or a product of such; %s.",
                "Use mechanism = \"%s\"."),
          law, no_area(M), if (has_chord(M) && law == "Laplace") "chordal" else
            if (law == "staircase") "wrapped_staircase" else "wrapped")
}

mechanism_laplace <- list(
  name = "laplace",
  auto = TRUE,
  chunks = TRUE,
  unsupported = function(M, ask) if (!has_laplace(M)) no_laplace(M),
  plan = function(M, ask) {
    bounds <- mean_bounds(M, ask, wrapped = FALSE)
    law <- pure_scale(ask, bounds$total)
    check_laplace(M, law$scale, ask$n, law$epsilon, ask$ball$radius)
    check_radial(M, "laplace", law$scale)
    c(bounds, list(
      scale = law$scale, acceptance = NA_real_,
      guarantee = list(epsilon = law$epsilon, delta = 0, reasons = paper_reason(ask), sampler = "exact")
    ))
  },
  error = function(M, plan, ask) expected_error(M, plan$scale, "laplace"),
  law = function(plan) list(energy = knorm_energy(plan)),
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, "laplace"),
  region = function(r, level) {
    top <- laplace_reach(r$manifold, r$scale, level)
    q <- radial_quantile(r$manifold, c(1, r$scale), function(rho) rho / r$scale, level, top)
    list(radius = q + r$solver_error, basis = "the noise's law")
  },
  words = function(r) {
    sprintf(paste("Noise: density proportional to exp(-d/scale) around the mean, scale = (sensitivity + solver",
                  "error)/epsilon = %.6g. The manifold is homogeneous, so the normalising constant is the same",
                  "everywhere and cancels (proofs/laplace.md)."), r$scale)
  }
)

# of a draw of the law `law` around the mean, or around its coordinates at the centre
mean_price <- function(M, plan, law) {
  total <- plan$sensitivity + plan$solver_error
  switch(law, laplace = , wrapped = , tangent = price_laplace(total, plan$scale),
         staircase = price_staircase(total, plan$steps[1], plan$scale),
         wrapped_gaussian = , tangent_gaussian = price_normal(total, plan$scale),
         gaussian = price_normal_curved(profile_space(M), total, plan$scale, plan$guarantee$nominal_epsilon),
         heat = price_heat(M, total, plan$scale), chordal = price_laplace(total, plan$scale, "laplace.md, 5"),
         abort_contract(sprintf("nothing says what the law \"%s\" costs", law)))
}

release_mean <- function(M, x, plan, ask, law) {
  .Call(riemdp_release_mean, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
        ask$ball$radius, c(ask$ball$k_min, ask$ball$k_max), law, c(plan$scale, plan$steps), SOLVER_TOLERANCE,
        plan$numbers, identical(ask$timing, "constant"), pay(mean_price(M, plan, law)))
}

laplace_exists <- function(M, sigma) 1 / sigma > 2 * mf_facts(M)$volume_growth

check_laplace <- function(M, sigma, n = NULL, epsilon = NULL, radius = NULL) {
  if (!has_laplace(M)) abort_riemdp("unsupported", no_laplace(M))
  if (!laplace_exists(M, sigma)) {
    factor <- 2 * mf_facts(M)$volume_growth * sigma
    abort_riemdp("existence", paste0(
      sprintf("the Laplace law with scale %.3g does not exist here with the margin that is asked for: ", sigma),
      sprintf("1/scale must exceed %.3g, twice the rate at which volume grows.", 2 * mf_facts(M)$volume_growth),
      if (!is.null(n)) {
        sprintf(paste(" Any of these would do: n above %.0f, epsilon above %.3g, radius below %.3g; or mechanism =",
                      "\"wrapped\"."),
                floor(n * factor), epsilon * factor, radius / factor)
      }
    ))
  }
  invisible(M)
}

#' Draws of a private mechanism's noise law
#'
#' The noise of [dp_mean()] around a known point, for studies of the mechanism. Randomness is that of private releases
#' (see [with_simulation()]), so [set.seed()] has no effect; use [with_simulation()] for draws that can be repeated.
#'
#' * `"laplace"`: density proportional to \eqn{\exp(-d(x, c)/\sigma)} with respect to the Riemannian volume, drawn
#'   exactly: a radius from a log-concave bound of the area of geodesic spheres by tangent rejection, a uniform
#'   direction, both kept with probability true over bounding area. Exists only if \eqn{1/\sigma} exceeds the rate at
#'   which volume grows, \eqn{d - 1} on hyperbolic space and \eqn{\frac12\sqrt{k(k^2 - 1)/3}} for k x k matrices with
#'   the affine-invariant metric; twice that is asked for. On products the rates over the roots of the weights are
#'   joined as lengths are, and the law is drawn as a mixture of normal laws of the parts.
#' * `"wrapped"`: \eqn{\exp_c} of a tangent vector with density proportional to \eqn{\exp(-|z|/\sigma)}.
#' * `"gaussian"`: density proportional to \eqn{\exp(-d(x, c)^2/(2\sigma^2))}, drawn exactly in the same way, for every
#'   scale that doubles hold and at which one of 1,000 draws is kept (on positive definite matrices and in many
#'   dimensions of Grassmann manifolds that bounds the scale; others are refused); on products part by part.
#' * `"wrapped_gaussian"`: \eqn{\exp_c} of a tangent vector of independent normals with standard deviation \eqn{\sigma}.
#' * `"heat"`: the law of a Brownian motion from `center`, with standard deviation \eqn{\sigma} in each direction for
#'   small \eqn{\sigma} (the heat kernel at time \eqn{\sigma^2/2}): `center` is turned by the exponential of a random
#'   matrix of the group's Lie algebra, which a rejection sampler draws. On spheres, Stiefel and Grassmann manifolds,
#'   planar shapes, and products of these and flat spaces, each part by itself; scales at which it would keep fewer than
#'   one of 1,000 matrices are refused.
#' * `"chordal"`: on Stiefel manifolds, density proportional to \eqn{\exp(-D(x, c)/\sigma)}, D the straight distance in
#'   a Euclidean space that holds the manifold with its metric: \eqn{D^2 = |X - C|^2} for the Euclidean one,
#'   \eqn{\frac12|X - C|^2 + \frac14|XX' - CC'|^2} for the canonical one.
#'
#' @param M a manifold.
#' @param center the point around which to draw.
#' @param sigma scale, positive, in the units of the metric.
#' @param n number of draws.
#' @param mechanism `"laplace"`, `"wrapped"`, `"gaussian"`, `"wrapped_gaussian"`, `"heat"` or `"chordal"`.
#' @return n points in the plain shape of the manifold.
#' @references Hajri, H., Ilea, I., Said, S., Bombrun, L. and Berthoumieu, Y. (2016). Riemannian Laplace distribution on
#'   the space of symmetric positive definite matrices. *Entropy* 18, 98. \doi{10.3390/e18030098}
#'
#' Said, S., Bombrun, L., Berthoumieu, Y. and Manton, J. H. (2017). Riemannian Gaussian distributions on the space of
#' symmetric positive definite matrices. *IEEE Transactions on Information Theory* 63, 2153-2170.
#' \doi{10.1109/TIT.2017.2653803}
#'
#' Maher, D. G. (2012). Wrapping Brownian motion and heat kernels I: compact Lie groups. *Journal of Lie Theory* 22,
#' 1149-1168. \doi{10.48550/arXiv.1005.4746}
#' @examples
#' x <- laplace_noise(sphere(2), c(0, 0, 1), sigma = 0.05, n = 100)
#' mean(mf_dist(sphere(2), c(0, 0, 1), x))  # about 2 sigma
#' @export
laplace_noise <- function(M, center, sigma, n = 1,
                          mechanism = c("laplace", "wrapped", "gaussian", "wrapped_gaussian", "heat", "chordal")) {
  check_manifold(M)
  mechanism <- check_choice(mechanism, "mechanism", NOISE_LAWS)
  sigma <- check_number(sigma, "sigma", positive = TRUE)
  n <- check_count(n, "n", least = 0, most = 1e8)
  if (mechanism == "laplace") check_laplace(M, sigma)
  if (mechanism == "gaussian" && !has_laplace(M)) abort_riemdp("unsupported", no_gaussian(M))
  if (mechanism %in% c("laplace", "gaussian")) check_radial(M, mechanism, sigma)
  if (mechanism == "heat") check_heat(M, sigma)
  if (mechanism == "chordal") check_chord(M, sigma)
  .Call(riemdp_noise, M, center, n, mechanism, sigma, in_simulation())
}

#' Expected error of a mechanism
#'
#' Mean geodesic distance between the release and the quantity it protects, from public quantities only.
#'
#' For `"laplace"` and `"gaussian"` the mean radius of the law: by quadrature where the area of geodesic spheres is
#' known (sphere, hyperbolic, planar shapes, flat spaces), by 20,000 simulated radii with a fixed seed on positive
#' definite matrices with the affine-invariant metric, Grassmann manifolds and products (2,000 where few draws are kept;
#' relative standard error below .5 %). For `"wrapped"` and `"wrapped_gaussian"` the mean of
#' \eqn{d(\exp_{m_0}(z + w), \exp_{m_0} z)} over the noise w, the larger
#' of z = 0 and z at the edge of the ball: in closed form on flat spaces, by quadrature over the noise's
#' length and angles on spheres, hyperbolic space and planar shapes, by 4,000 simulated draws with a fixed seed
#' elsewhere. For `"heat"` the mean length of normal noise in flat space, which bounds it from above and is near it for
#' small `sigma`; for `"chordal"` 4,000 simulated draws.
#'
#' @param M a manifold.
#' @param sigma scale of the law, positive.
#' @param mechanism `"laplace"`, `"wrapped"`, `"gaussian"`, `"wrapped_gaussian"`, `"heat"` or `"chordal"`.
#' @param center,radius the public ball; needed for wrapped laws on curved manifolds.
#' @return One number in the units of the metric.
#' @examples
#' expected_error(sphere(2), 0.0166)
#' expected_error(sphere(2), 0.07, "gaussian")
#' @export
expected_error <- function(M, sigma,
                           mechanism = c("laplace", "wrapped", "gaussian", "wrapped_gaussian", "heat", "chordal"),
                           center = NULL, radius = NULL) {
  check_manifold(M)
  mechanism <- check_choice(mechanism, "mechanism", NOISE_LAWS)
  sigma <- check_number(sigma, "sigma", positive = TRUE)
  if (mechanism == "laplace") check_laplace(M, sigma)
  if (mechanism == "gaussian" && !has_laplace(M)) abort_riemdp("unsupported", no_gaussian(M))
  if (mechanism == "heat") check_heat(M, sigma)
  if (mechanism == "chordal") check_chord(M, sigma)
  told_error(law_error(M, sigma, mechanism, center, radius))
}

# an error, or a classed refusal where doubles don't hold it
told_error <- function(error) {
  out <- tryCatch(error, error = function(e) {
    pass_on(e)
    NaN
  })
  if (!is.finite(out)) {
    abort_riemdp("existence",
                 "the expected error can't be told: `sigma` is too small or too large for doubles on this manifold.")
  }
  out
}

law_error <- function(M, sigma, mechanism, center, radius) {
  if (mechanism == "heat") return(heat_error(M, sigma))
  if (mechanism == "chordal") return(chord_error(M, sigma))
  if (mechanism %in% c("wrapped", "wrapped_gaussian")) {
    return(wrapped_noise_error(M, sigma, if (mechanism == "wrapped") "knorm" else "gaussian", center, radius))
  }
  if (isTRUE(attr(.Call(riemdp_radial, M, 1e-3), "exact"))) {
    key <- paste("mean radius", mechanism, manifold_key(M, sigma))
    return(remember(key, function() radial_mean(M, sigma, law = mechanism)))
  }
  check_radial(M, mechanism, sigma)
  count <- if (radial_acceptance(M, mechanism, sigma) < 0.05) 2000 else 20000
  radii <- function() {
    if (mechanism == "laplace") {
      .Call(riemdp_laplace_radii, M, count, sigma, TRUE)
    } else {
      .Call(riemdp_gaussian_radii, M, count, sigma, TRUE)
    }
  }
  key <- paste("radii", mechanism, manifold_key(M, sigma))
  remember(key, function() mean(with_simulation(1, radii())))
}
