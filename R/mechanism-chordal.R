# The Laplace law of the chordal distance around the mean, on Stiefel manifolds. Proofs: inst/proofs/laplace.md,
# section 5.

mechanism_chordal <- list(
  name = "chordal",
  auto = TRUE,
  chunks = TRUE,
  unsupported = function(M, ask) {
    if (!has_chord(M)) no_chord(M) else
      if (ask$calibration == "paper") "`calibration = \"paper\"` doesn't exist for mechanism = \"chordal\"."
  },
  plan = function(M, ask) {
    bounds <- mean_bounds(M, ask, wrapped = FALSE)
    law <- pure_scale(ask, bounds$total)
    check_chord(M, law$scale)
    c(bounds, list(scale = law$scale, acceptance = radial_acceptance(M, "chordal", law$scale),
                   guarantee = list(epsilon = law$epsilon, delta = 0, sampler = "exact")))
  },
  error = function(M, plan, ask) told_error(law_error(M, plan$scale, "chordal")),
  law = function(plan) list(energy = knorm_energy(plan)),
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, "chordal"),
  region = function(r, level) {
    list(radius = chord_quantile(r$manifold, r$scale, level) + r$solver_error, basis = "the noise's law")
  },
  words = function(r) {
    sprintf(paste("Noise: density proportional to exp(-D/scale) around the mean, scale = (sensitivity + solver",
                  "error)/epsilon = %.6g. D is the straight distance in a Euclidean space that holds the manifold with",
                  "its metric: no longer than the geodesic one, so the mean moves no farther. The manifold is",
                  "homogeneous, so the normalising constant is the same everywhere and cancels (proofs/laplace.md,",
                  "section 5)."),
            r$scale)
  }
)
