# The Laplace mechanism, and existence and expected error of the noise laws, from public quantities.

LAW <- c(laplace = 1, wrapped = 2)

has_laplace <- function(M) {
  facts <- mf_facts(M)
  facts$has_laplace && facts$homogeneous
}

no_laplace <- function(M) {
  sprintf("the Laplace mechanism needs a homogeneous manifold with a known area of spheres; %s is not. Use mechanism = \"wrapped\".",
          label_manifold(M))
}

mechanism_laplace <- list(
  name = "laplace",
  auto = TRUE,
  unsupported = function(M, ask) if (!has_laplace(M)) no_laplace(M),
  plan = function(M, ask) {
    bounds <- mean_bounds(ask, wrapped = FALSE)
    law <- pure_scale(ask, bounds$total)
    check_laplace(M, law$scale, ask$n, law$epsilon, ask$ball$radius)
    c(bounds, list(
      scale = law$scale, acceptance = NA_real_,
      guarantee = list(epsilon = law$epsilon, delta = 0, reasons = paper_reason(ask), sampler = "exact")
    ))
  },
  error = function(M, plan, ask) expected_error(M, plan$scale, "laplace"),
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, LAW[["laplace"]]),
  region = function(r, level) {
    d <- mf_facts(r$manifold)$dimension
    top <- r$scale / (1 - volume_growth(r$manifold) * r$scale) * (d + 12 * sqrt(d) + 60 - 2 * log1p(-level))
    q <- radial_quantile(r$manifold, function(rho) rho / r$scale, level, top)
    list(radius = q + r$solver_error, basis = "the noise's law")
  },
  words = function(r) {
    sprintf("Noise: density proportional to exp(-d/scale) around the mean, scale = (sensitivity + solver error)/epsilon = %.6g. The manifold is homogeneous, so the normalising constant is the same everywhere and cancels (proofs/laplace.md).", r$scale)
  }
)

release_mean <- function(M, x, plan, ask, law) {
  .Call(riemdp_release_mean, M, x, ask$center, ask$ball$radius, c(ask$ball$k_min, ask$ball$k_max), law, plan$scale,
        SOLVER_TOLERANCE, in_simulation())
}

# rate at which the volume of balls grows: the law with density exp(-d/sigma) exists only if 1/sigma exceeds it
volume_growth <- function(M) {
  switch(M$name,
    spd_affine = sqrt(M$param * (M$param^2 - 1) / 3) / 2,
    hyperboloid = , ball = M$param - 1,
    0
  )
}

laplace_exists <- function(M, sigma) 1 / sigma > 2 * volume_growth(M)

check_laplace <- function(M, sigma, n = NULL, epsilon = NULL, radius = NULL) {
  if (!has_laplace(M)) abort_riemdp("unsupported", no_laplace(M))
  if (!laplace_exists(M, sigma)) {
    factor <- 2 * volume_growth(M) * sigma
    abort_riemdp("existence", paste0(
      sprintf("the Laplace law with scale %.3g does not exist here with the margin that is asked for: ", sigma),
      sprintf("1/scale must exceed %.3g, twice the rate at which volume grows.", 2 * volume_growth(M)),
      if (!is.null(n)) {
        sprintf(" Any of these would do: n above %.0f, epsilon above %.3g, radius below %.3g; or mechanism = \"wrapped\".",
                floor(n * factor), epsilon * factor, radius / factor)
      }
    ))
  }
  invisible(M)
}

#' Draws of a private mechanism's noise law
#'
#' The noise of [dp_mean()] around a known point, for studies of the mechanism. Randomness is the operating system's, so
#' [set.seed()] has no effect; use [with_simulation()] for draws that can be repeated.
#'
#' * `"laplace"`: density proportional to \eqn{\exp(-d(x, c)/\sigma)} with respect to the Riemannian volume, drawn exactly: a
#'   radius from a log-concave bound of the area of geodesic spheres by tangent rejection, a uniform direction, both kept with
#'   probability true over bounding area. Exists only if \eqn{1/\sigma} exceeds the rate at which volume grows,
#'   \eqn{d - 1} on hyperbolic space and \eqn{\frac12\sqrt{k(k^2 - 1)/3}} for k x k matrices with the affine-invariant
#'   metric; twice that is asked for.
#' * `"wrapped"`: \eqn{\exp_c} of a tangent vector with density proportional to \eqn{\exp(-|z|/\sigma)}.
#'
#' @param M a manifold.
#' @param center the point around which to draw.
#' @param sigma scale, positive, in the units of the metric.
#' @param n number of draws.
#' @param mechanism `"laplace"` or `"wrapped"`.
#' @return n points in the plain shape of the manifold.
#' @references Hajri, H., Ilea, I., Said, S., Bombrun, L. and Berthoumieu, Y. (2016). Riemannian Laplace distribution on the
#'   space of symmetric positive definite matrices. *Entropy* 18, 98. \doi{10.3390/e18030098}
#' @examples
#' x <- laplace_noise(sphere(2), c(0, 0, 1), sigma = 0.05, n = 100)
#' mean(mf_dist(sphere(2), c(0, 0, 1), x))  # about 2 sigma
#' @export
laplace_noise <- function(M, center, sigma, n = 1, mechanism = c("laplace", "wrapped")) {
  check_manifold(M)
  mechanism <- check_choice(mechanism, "mechanism", c("laplace", "wrapped"))
  sigma <- check_number(sigma, "sigma", positive = TRUE)
  n <- check_count(n, "n", least = 0, most = 1e8)
  if (mechanism == "laplace") check_laplace(M, sigma)
  .Call(riemdp_noise, M, center, n, LAW[[mechanism]], sigma, in_simulation())
}

#' Expected error of a mechanism
#'
#' Mean geodesic distance between the released and the non-private mean, from public quantities only.
#'
#' For `"laplace"` the mean radius of the law: by quadrature where the area of geodesic spheres is known (sphere, hyperbolic,
#' planar shapes, flat spaces), by 20,000 simulated radii with a fixed seed on positive definite matrices with the affine-invariant
#' metric (relative standard error below .5 %). For `"wrapped"` the mean of \eqn{d(\exp_{m_0}(z + w), \exp_{m_0} z)} over the
#' noise w, the larger of z = 0 and z at the edge of the ball (4,000 simulated draws with a fixed seed; for z = 0 on flat
#' spaces exactly \eqn{d\sigma}).
#'
#' @param M a manifold.
#' @param sigma scale of the law, positive.
#' @param mechanism `"laplace"` or `"wrapped"`.
#' @param center,radius the public ball; needed for `"wrapped"` on curved manifolds.
#' @return One number in the units of the metric.
#' @examples
#' expected_error(sphere(2), 0.0166)
#' @export
expected_error <- function(M, sigma, mechanism = c("laplace", "wrapped"), center = NULL, radius = NULL) {
  check_manifold(M)
  mechanism <- check_choice(mechanism, "mechanism", c("laplace", "wrapped"))
  sigma <- check_number(sigma, "sigma", positive = TRUE)
  facts <- mf_facts(M)
  if (mechanism == "laplace") {
    check_laplace(M, sigma)
    if (isTRUE(attr(.Call(riemdp_radial, M, 1e-3), "exact"))) {
      return(radial_mean(M, sigma))
    }
    return(mean(with_simulation(1, .Call(riemdp_laplace_radii, M, 20000, sigma, TRUE))))
  }
  if (facts$k_min == 0 && facts$k_max == 0 && facts$injectivity_radius == Inf) {
    return(facts$dimension * sigma)
  }
  if (is.null(center) || is.null(radius)) {
    abort_riemdp("argument", "the wrapped mechanism's error depends on `center` and `radius`: give both.")
  }
  with_simulation(1, wrapped_error(M, sigma, center, check_number(radius, "radius", positive = TRUE)))
}

radial_mean <- function(M, sigma, power = 1) {
  upper <- mf_facts(M)$diameter
  d <- mf_facts(M)$dimension
  log_density <- function(rho) as.numeric(.Call(riemdp_radial, M, rho)) - rho / sigma
  # beyond 1/sigma minus the growth of volume the tail is Gamma-like: far enough out for any d
  top <- min(upper, sigma / (1 - volume_growth(M) * sigma) * (d + 12 * sqrt(d) + 60))
  grid <- seq(0, top, length.out = 4001)[-1]
  values <- log_density(grid)
  peak <- grid[which.max(values)]
  shift <- max(values)
  part <- function(g) {
    f <- function(rho) g(rho) * exp(log_density(rho) - shift)
    live <- range(grid[values > shift - 45])
    breaks <- sort(unique(c(max(0, live[1] - top / 4000), peak, min(top, live[2] + top / 4000))))
    sum(vapply(seq_len(length(breaks) - 1), function(i) {
      stats::integrate(f, breaks[i], breaks[i + 1], rel.tol = 1e-10, subdivisions = 1000, stop.on.error = FALSE)$value
    }, numeric(1)))
  }
  part(function(rho) rho^power) / part(function(rho) 1)
}
