# The wrapped mechanism: noise in the tangent space at the public centre. In lattice mode R/mechanism-lattice.R does the
# work.

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
  law = function(plan) {
    # independent numbers on a lattice: as normal ones of the same variance
    if (identical(plan$law, "laplace")) plan$scale <- sqrt(2) * plan$scale
    list(energy = if (is.null(plan$law) || plan$law == "l2") knorm_energy(plan) else normal_energy(plan), flat = TRUE)
  },
  release = function(M, x, plan, ask) {
    if (ask$numerics == "lattice") {
      mechanism_lattice$release(M, x, plan, ask)
    } else {
      release_mean(M, x, plan, ask, "wrapped")
    }
  },
  region = function(r, level) {
    if (r$guarantee$numerics == "lattice") return(mechanism_lattice$region(r, level))
    wrapped_region(r, stats::qgamma(level, mf_facts(r$manifold)$dimension, scale = r$scale))
  },
  words = function(r) {
    if (r$guarantee$numerics == "lattice") return(mechanism_lattice$words(r))
    sprintf(paste("Noise: the mean's logarithm at the public centre moves by no more than the sensitivity; to it a",
                  "vector with density proportional to exp(-|z|/scale) is added, scale = (sensitivity + solver",
                  "error)/epsilon = %.6g, and exp maps it back (proofs/laplace.md)."), r$scale)
  }
)
