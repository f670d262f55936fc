# The papers' second baseline: Laplace noise on each coordinate of each landmark of a mean shape.
# inst/proofs/baselines.md

# Range of each coordinate (real, then imaginary part, landmark by landmark) over centred configurations of size 1.
# Aligned: turned to the template, at distance at most `radius` from it, so y = cos d t + sin d v, and the coordinate is
# a linear functional with part alpha along t and beta across.
landmark_ranges <- function(template, radius, aligned) {
  k <- length(template)
  if (!aligned) return(rep(2 * sqrt(1 - 1 / k), 2 * k))
  alpha <- as.vector(rbind(Re(template), Im(template)))
  beta <- rep(sqrt(pmax(0, 1 - 1 / k - Mod(template)^2)), each = 2)
  most <- function(alpha) {
    ifelse(atan2(beta, alpha) <= radius, sqrt(alpha^2 + beta^2), alpha * cos(radius) + beta * sin(radius))
  }
  outwards(most(alpha) + most(-alpha))
}

# a configuration as the manifold stores it: centred, of size 1
unit_landmarks <- function(M, x) {
  x <- mf_project(M, x)
  if (is.complex(x)) as.vector(x) else complex(real = x[, 1], imaginary = x[, 2])
}

# each coordinate by itself, or all together in the l1 norm
pointwise_price <- function(plan) {
  scale <- if (is.null(plan$moved)) plan$scale else plan$scales
  price_laplace(plan$moved %||% plan$sensitivity, scale, "baselines.md, 2")
}

mechanism_pointwise <- list(
  name = "pointwise",
  auto = FALSE,
  chunks = TRUE, # a baseline, and its target isn't the Frechet mean
  options = c("rotation", "split"),
  by_center = function(M) TRUE, # by its landmarks
  unsupported = function(M, ask) {
    if (mf_facts(M)$model != "planar") {
      return(sprintf("mechanism = \"pointwise\" adds noise to landmarks: it is for kendall(), not for %s.",
                     label_manifold(M)))
    }
    if (ask$calibration == "paper" && !is.null(ask$sigma)) {
      return("the papers' scales are taken from the records: `sigma` is for the proven calibration.")
    }
    if (ask$calibration == "paper" && baseline_option(ask, "split", c("landmarks", "joint")) == "joint") {
      return("the papers divide the budget among the coordinates: `split = \"joint\"` is for the proven calibration.")
    }
    refuse_variants(ask, "pointwise")
  },
  plan = function(M, ask) {
    aligned <- baseline_option(ask, "rotation", c("align", "none")) == "align"
    k <- M$param
    details <- list(rotation = if (aligned) "align" else "none")
    if (ask$calibration == "paper") {
      # scale 2 d/n over epsilon/2k, d the largest distance of a record in that coordinate: known to the release only
      return(list(
        scale = NA_real_, sensitivity = NA_real_, theorem = "Soto et al. 2022, supplement 2.5.2", solver_error = 0,
        expected_error = NA_real_, acceptance = 1, aligned = aligned, scales = double(),
        factor = 4 * k / (ask$n * ask$epsilon), target = "Frechet mean",
        details = c(details, list(split = "landmarks")),
        guarantee = list(epsilon = ask$epsilon, delta = 0, sampler = "exact",
                         reasons = c(paper_reason(ask), "scales taken from the records"))
      ))
    }
    split <- baseline_option(ask, "split", c("joint", "landmarks"))
    range <- landmark_ranges(unit_landmarks(M, ask$center), ask$ball$radius, aligned)
    diameter <- if (aligned) 2 * sin(ask$ball$radius) else 2
    if (split == "joint") {
      sensitivity <- outwards(min(sqrt(2 * k) * diameter, sum(range)) / ask$n)
      theorem <- "sqrt(2k) times the diameter/n, l1 norm of all coordinates (proofs/baselines.md)"
      law <- pure_scale(ask, sensitivity)
      scales <- rep(law$scale, 2 * k)
    } else {
      # each coordinate at epsilon/2k
      sensitivity <- max(range) / ask$n
      theorem <- "the largest range of a coordinate/n, epsilon/2k each (proofs/baselines.md)"
      law <- pure_scale(ask, sum(range) / ask$n)
      scales <- if (is.null(ask$sigma)) outwards(range / ask$n * 2 * k / ask$epsilon) else rep(ask$sigma, 2 * k)
    }
    list(
      scale = max(scales), sensitivity = sensitivity, theorem = theorem, solver_error = 0, acceptance = 1,
      aligned = aligned, scales = scales, moved = if (split == "landmarks") range / ask$n, factor = 1,
      expected_error = pointwise_error(M, ask$center, scales),
      target = if (aligned) "mean of configurations turned to the centre, not the Frechet mean" else
        "mean of configurations as they lie, not the Frechet mean",
      details = c(details, list(split = split)),
      guarantee = list(epsilon = law$epsilon, delta = 0, reasons = NULL, sampler = "exact")
    )
  },
  release = function(M, x, plan, ask) {
    .Call(riemdp_pointwise_mean, M, mean_records(M, x, ask$center, ask$ball$radius), ask$center, ask$ball$radius,
          c(ask$ball$k_min, ask$ball$k_max), plan$aligned, plan$scales, plan$factor, SOLVER_TOLERANCE,
          pay(pointwise_price(plan)))
  },
  words = function(r) {
    aligned <- r$details$rotation == "align"
    if (r$calibration == "paper") {
      return(paste("Noise: Laplace on each coordinate of the Frechet mean, scale 4kd/(n epsilon), d the largest",
                   "distance of a record from the mean in that coordinate. These distances are read off the",
                   "records, so nothing is promised."))
    }
    sprintf(paste("Noise: configurations, centred and of size 1, are %s and averaged; each coordinate of each landmark",
                  "gets Laplace noise, %s. The sum is centred and scaled again (proofs/baselines.md)."),
            if (aligned) "turned to the public centre" else "taken as they lie",
            if (r$details$split == "joint") sprintf("scale = l1 sensitivity of all coordinates/epsilon = %.6g",
                                                    r$scale) else
              sprintf("scale = 2k times its own range/(n epsilon), the largest %.6g", r$scale))
  }
)

# mean shape distance of release and mean, for a mean at the centre
pointwise_error <- function(M, center, scales, draws = 1000) {
  z <- unit_landmarks(M, center)
  with_simulation(1, {
    noise <- stats::rexp(draws * length(scales)) * sample(c(-1, 1), draws * length(scales), TRUE) * scales
    noise <- matrix(noise, length(scales))
    odd <- seq(1, length(scales), 2)
    mean(mf_dist(M, z, z + matrix(complex(real = noise[odd, ], imaginary = noise[odd + 1, ]), length(z))))
  })
}
