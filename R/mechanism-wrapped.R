# The wrapped mechanism: noise in the tangent space at the public centre. In lattice mode R/mechanism-lattice.R does the work.

mechanism_wrapped <- list(
  name = "wrapped",
  auto = TRUE,
  chunks = TRUE,
  lattice = TRUE,
  options = mechanism_lattice$options,
  unsupported = function(M, ask) {
    if (ask$calibration == "paper") {
      "`calibration = \"paper\"` doesn't exist for mechanism = \"wrapped\"."
    } else if (ask$numerics == "lattice") {
      mechanism_lattice$unsupported(M, ask)
    } else {
      lattice_option(ask, mechanism_lattice$options)
    }
  },
  plan = function(M, ask) {
    if (ask$numerics == "lattice") return(mechanism_lattice$plan(M, ask))
    bounds <- mean_bounds(M, ask, wrapped = TRUE)
    law <- pure_scale(ask, bounds$total)
    c(bounds, list(
      scale = law$scale, acceptance = 1,
      guarantee = list(epsilon = law$epsilon, delta = 0, reasons = NULL, sampler = "exact")
    ))
  },
  error = function(M, plan, ask) {
    if (ask$numerics == "lattice") return(mechanism_lattice$error(M, plan, ask))
    # a user's callbacks aren't asked: what they do is their own, and an error here would be loud
    if (inherits(M, "riemdp_custom")) return(mf_facts(M)$dimension * plan$scale)
    expected_error(M, plan$scale, "wrapped", ask$center, ask$ball$radius)
  },
  release = function(M, x, plan, ask) {
    if (ask$numerics == "lattice") mechanism_lattice$release(M, x, plan, ask) else release_mean(M, x, plan, ask, LAW[["wrapped"]])
  },
  region = function(r, level) {
    if (r$guarantee$numerics == "lattice") return(mechanism_lattice$region(r, level))
    wrapped_region(r, stats::qgamma(level, mf_facts(r$manifold)$dimension, scale = r$scale))
  },
  words = function(r) {
    if (r$guarantee$numerics == "lattice") return(mechanism_lattice$words(r))
    sprintf("Noise: the mean's logarithm at the public centre moves by no more than the sensitivity; to it a vector with density proportional to exp(-|z|/scale) is added, scale = (sensitivity + solver error)/epsilon = %.6g, and exp maps it back (proofs/laplace.md).", r$scale)
  }
)

# the mean that expected_error() describes, by simulation; call it in with_simulation()
wrapped_error <- function(M, sigma, center, radius, draws = 4000, law = "knorm") {
  d <- mf_facts(M)$dimension
  noise <- sigma * matrix(stats::rnorm(draws * d), draws)
  if (law == "knorm") noise <- noise / sqrt(rowSums(noise^2)) * stats::rgamma(draws, d, scale = sigma)
  tangent_error(M, noise, center, radius)
}

# mean of d(exp(z + w), exp(z)) over rows w of `noise`, the larger of z = 0 and z at the ball's edge
tangent_error <- function(M, noise, center, radius) {
  d <- ncol(noise)
  edge <- mf_from_coords(M, center, c(radius, rep(0, d - 1)))
  error_at <- function(z, target) {
    v <- mf_from_coords(M, center, sweep(noise, 2, z, "+"))
    # vectors beyond the domain of exp (incomplete manifolds) are left out: the release would shorten them
    reached <- tryCatch(mf_dist(M, mf_exp(M, center, v), target), riemdp_error = function(e) NULL)
    if (is.null(reached)) NA_real_ else mean(reached)
  }
  out <- c(error_at(rep(0, d), center), error_at(c(radius, rep(0, d - 1)), mf_exp(M, center, edge)))
  if (all(is.na(out))) mean(sqrt(rowSums(noise^2))) else max(out, na.rm = TRUE)
}
