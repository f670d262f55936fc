# The staircase mechanism: a density that is constant up to a first distance from the mean, and lower by the factor
# exp(-epsilon) on each further shell that is as wide as the mean can move. Proof and optimality:
# inst/proofs/laplace.md, section 4.

# edges of the shells, out to where next to nothing of the law's mass is left
staircase_shells <- function(M, scale, step, first) {
  facts <- mf_facts(M)
  reach <- min(facts$diameter, laplace_reach(M, scale) + step)
  count <- max(1, min(20000, ceiling((reach - first) / step) + 1))
  pmin(c(0, first + step * (0:count)), facts$diameter)
}

# by Gauss-Legendre quadrature on each shell
staircase_mean_radius <- function(M, scale, step, first) {
  edge <- staircase_shells(M, scale, step, first)
  width <- diff(edge)
  rule <- if (length(width) > 100) LEGENDRE$phase else LEGENDRE$angle
  rho <- outer(width, rule$x) + edge[-length(edge)]
  log_density <- matrix(as.numeric(.Call(riemdp_radial, M, as.vector(rho))), nrow(rho)) -
    (seq_along(width) - 1) * (step / scale)
  mass <- width * exp(log_density - max(log_density)) * rep(rule$w, each = nrow(rho))
  sum(mass * rho) / sum(mass)
}

# minus the density's logarithm
staircase_energy <- function(rho, scale, step, first) pmax.int(ceiling((rho - first) / step), 0) * (step / scale)

# Mean radius, as a function of the first step: by quadrature where areas of spheres are known, else by weights of
# Laplace radii that were drawn with a fixed seed.
staircase_error <- function(M, scale, step) {
  if (isTRUE(attr(.Call(riemdp_radial, M, 1e-3), "exact"))) {
    return(function(first) staircase_mean_radius(M, scale, step, first))
  }
  key <- paste("radii of laplace", manifold_key(M, scale))
  rho <- remember(key, function() with_simulation(1, .Call(riemdp_laplace_radii, M, 20000, scale, TRUE)))
  function(first) stats::weighted.mean(rho, exp((rho - first) / scale - staircase_energy(rho, scale, step, first)))
}

# The first step with the least mean radius, none above the width of a shell: list(first, error). Any first step is as
# private as any other.
staircase_best <- function(M, scale, step) {
  remember(paste("staircase", manifold_key(M, scale, step)), function() {
    error <- staircase_error(M, scale, step)
    tried <- step * c(2^(-(16:5)), seq_len(16) / 16)
    at <- vapply(tried, error, 0)
    i <- which.min(at)
    if (!length(i)) return(list(first = step, error = NA_real_)) # steps so high that next to no draw would be kept
    finite <- function(first) min(error(first), .Machine$double.xmax, na.rm = TRUE)
    found <- stats::optimize(finite, tried[pmin(pmax(i + c(-1, 1), 1), length(tried))], tol = 1e-6 * tried[i])
    if (found$objective <= at[i]) list(first = found$minimum, error = found$objective) else
      list(first = tried[i], error = at[i])
  })
}

mechanism_staircase <- list(
  name = "staircase",
  auto = TRUE,
  chunks = TRUE,
  unsupported = function(M, ask) {
    if (!has_laplace(M)) return(no_laplace(M, "staircase"))
    if (ask$calibration == "paper") "`calibration = \"paper\"` doesn't exist for mechanism = \"staircase\"." else
      if (!is.null(ask$sigma)) "mechanism = \"staircase\" has steps as wide as the sensitivity: give `epsilon`."
  },
  plan = function(M, ask) {
    bounds <- mean_bounds(M, ask, wrapped = FALSE)
    step <- bounds$total
    scale <- outwards(step / ask$epsilon)
    check_laplace(M, scale, ask$n, ask$epsilon, ask$ball$radius)
    best <- staircase_best(M, scale, step)
    steps <- c(step, best$first)
    check_radial(M, "staircase", scale, steps)
    c(bounds, list(
      scale = scale, steps = steps, mean_radius = best$error, acceptance = NA_real_,
      details = list(step = step, first = best$first),
      guarantee = list(epsilon = ask$epsilon, delta = 0, sampler = "exact")
    ))
  },
  error = function(M, plan, ask) plan$mean_radius,
  law = function(plan) {
    list(energy = function(rho) staircase_energy(rho, plan$scale, plan$details$step, plan$details$first))
  },
  release = function(M, x, plan, ask) release_mean(M, x, plan, ask, "staircase"),
  region = function(r, level) {
    step <- r$details$step
    first <- r$details$first
    energy <- function(rho) staircase_energy(rho, r$scale, step, first)
    top <- laplace_reach(r$manifold, r$scale, level) + step
    q <- radial_quantile(r$manifold, c(0, r$scale, step, first), energy, level, top, seq_len(500) / 500 * first)
    list(radius = q + r$solver_error, basis = "the noise's law")
  },
  words = function(r) {
    sprintf(paste("Noise: density around the mean constant up to distance %.4g, then lower by the factor",
                  "exp(-epsilon) on each further shell of width %.6g = sensitivity + solver error, which is as far as",
                  "the mean can move. The manifold is homogeneous, so the normalising constant is the same everywhere",
                  "and cancels (proofs/laplace.md, section 4)."), r$details$first, r$details$step)
  }
)
