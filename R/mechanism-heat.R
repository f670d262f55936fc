# The heat kernel around the mean: Brownian motion of the group that turns a compact space, which protects as normal
# noise in flat space does, or better. Proofs: inst/proofs/gaussian.md, section 7.

heat_law <- function(M, ask, total) {
  space <- heat_space(M)
  flat <- ask
  if (!is.null(ask$sigma)) flat$sigma <- heat_flat(space, ask$sigma)
  # the last part of delta is for what the sampler's law differs from the kernel by
  flat$delta <- ask$delta * (1 - 1e-6)
  law <- gaussian_law(flat, FLAT_SPACE, total)
  scale <- ask$sigma %||% heat_scale(space, law$scale)
  check_heat(M, scale)
  slack <- heat_slack(space, scale)
  if (!(slack <= min(1e-6 * ask$delta, GDP_SLACK))) {
    abort_riemdp("unsupported", sprintf(
      paste("mechanism = \"heat\" has no exact sampler at scale %.3g on %s: its law there isn't the kernel to within",
            "%g in delta. More records, a larger epsilon or a smaller radius would do."), scale, label_manifold(M),
      min(1e-6 * ask$delta, GDP_SLACK)
    ))
  }
  guarantee <- utils::modifyList(law$guarantee, list(delta = ask$delta, mu_slack = slack))
  list(scale = scale, acceptance = heat_kept(space, scale), guarantee = guarantee,
       details = list(flat = law$scale, ricci = space$ricci, longer = space$longer))
}

mechanism_heat <- list(
  name = "heat",
  auto = TRUE,
  chunks = TRUE,
  needs_delta = TRUE,
  options = c("mu", "report_mu"),
  unsupported = function(M, ask) {
    c(if (is.null(heat_space(M))) no_heat(M), gaussian_unsupported(ask, "heat"))[1]
  },
  plan = function(M, ask) {
    bounds <- mean_bounds(M, ask, wrapped = FALSE)
    c(bounds, heat_law(M, ask, bounds$total))
  },
  error = function(M, plan, ask) law_error(M, plan$scale, "heat"),
  law = function(plan) list(energy = normal_energy(plan)),
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, "heat"),
  region = function(r, level) {
    # distances of the motion are no longer than in flat space
    list(radius = r$details$longer * noise_length_quantile(r, "gaussian", level) + r$solver_error,
         basis = "the noise's law, by comparison with flat space")
  },
  words = function(r) {
    c(sprintf(paste("Noise: the heat kernel around the mean, the law of a Brownian motion from there with standard",
                    "deviation %.6g in each direction. Where Ricci curvature is at least %.3g this protects as normal",
                    "noise of standard deviation %.6g in flat space does (proofs/gaussian.md, section 7)."),
              r$scale, r$details$ricci, r$details$flat),
      if (r$details$longer > 1) {
        "The motion is that of the canonical metric, in which the mean moves no farther than in the Euclidean one."
      })
  }
)
