# The wrapped mechanism: noise in the tangent space at the public centre.

mechanism_wrapped <- list(
  name = "wrapped",
  auto = TRUE,
  chunks = TRUE,
  options = "law",
  unsupported = function(M, ask) {
    if (ask$calibration == "paper") "`calibration = \"paper\"` doesn't exist for mechanism = \"wrapped\"." else
      lattice_option(ask, "law")
  },
  plan = function(M, ask) {
    bounds <- mean_bounds(M, ask, wrapped = TRUE)
    law <- pure_scale(ask, bounds$total)
    c(bounds, list(
      scale = law$scale, acceptance = 1,
      guarantee = list(epsilon = law$epsilon, delta = 0, reasons = NULL, sampler = "exact")
    ))
  },
  error = function(M, plan, ask) {
    # a user's callbacks aren't asked: what they do is their own, and an error here would be loud
    if (of_user(M)) return(mf_facts(M)$dimension * plan$scale)
    expected_error(M, plan$scale, "wrapped", ask$center, ask$ball$radius)
  },
  law = function(plan) list(energy = knorm_energy(plan), flat = TRUE),
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, "wrapped"),
  region = function(r, level) {
    wrapped_region(r, stats::qgamma(level, mf_facts(r$manifold)$dimension, scale = r$scale))
  },
  words = function(r) {
    sprintf(paste("Noise: the mean's logarithm at the public centre moves by no more than the sensitivity; to it a",
                  "vector with density proportional to exp(-|z|/scale) is added, scale = (sensitivity + solver",
                  "error)/epsilon = %.6g, and exp maps it back (proofs/laplace.md)."), r$scale)
  }
)

# a staircase in the tangent space, drawn on a lattice
mechanism_wrapped_staircase <- list(
  name = "wrapped_staircase",
  auto = TRUE,
  chunks = TRUE,
  unsupported = function(M, ask) {
    paste("mechanism = \"wrapped_staircase\" is drawn on a lattice only; \"staircase\" is its like with doubles, on",
          "homogeneous manifolds.")
  }
)
