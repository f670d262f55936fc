# The papers' first baseline: noise in the space around the manifold, then projection. inst/proofs/baselines.md

AMBIENT_NORM <- c(entries = 1, frobenius = 2, vech = 3)
AMBIENT_TARGET <- c(arithmetic = 1, frechet = 2)

# what baselines can't do, whatever the manifold
refuse_variants <- function(ask, name) {
  if (ask$numerics == "lattice") sprintf("mechanism = \"%s\" has no lattice form.", name) else
    if (ask$timing == "constant") sprintf("mechanism = \"%s\" has no form with constant time.", name)
}

baseline_option <- function(ask, name, choices) {
  value <- ask$options[[name]]
  if (is.null(value)) choices[1] else check_choice(value, sprintf("options$%s", name), choices)
}

# How the space around the manifold sees the ball: `stretch`, the largest length there of a tangent vector of unit
# length at a point of the ball; `diameter`, a bound of the distance of two of its points; the norm of the noise.
ambient_bounds <- function(M, center, radius) {
  if (grepl("^spd_", M$name)) lambda <- max(eigen(center, symmetric = TRUE, only.values = TRUE)$values)
  out <- switch(M$name,
    euclidean = list(stretch = 1, diameter = 2 * radius),
    sphere = list(stretch = 1, diameter = 2 * sin(radius)),
    stiefel_euclidean = list(stretch = 1, diameter = 2 * radius),
    stiefel_canonical = list(stretch = sqrt(2), diameter = 2 * sqrt(2) * radius),
    spd_affine = , spd_logeuclidean = list(stretch = lambda * exp(radius), diameter = 2 * lambda * expm1(radius)),
    spd_bures = list(stretch = 2 * (sqrt(lambda) + radius), diameter = 2 * (2 * sqrt(lambda) * radius + radius^2))
  )
  if (!is.null(out)) c(lapply(out, outwards), list(norm = if (grepl("^spd_", M$name)) "frobenius" else "entries"))
}

mechanism_euclidean <- list(
  name = "euclidean",
  auto = FALSE,
  chunks = TRUE, # a baseline
  options = c("target", "into_ball"),
  unsupported = function(M, ask) {
    if (!M$name %in% c("euclidean", "sphere", "stiefel_euclidean", "stiefel_canonical", "spd_affine",
                       "spd_logeuclidean",
                       "spd_bures")) {
      return(sprintf(paste("mechanism = \"euclidean\" is for spheres, positive definite matrices, Stiefel manifolds",
                           "and flat space, not for %s."),
                     label_manifold(M)))
    }
    if (ask$calibration == "paper") {
      if (!M$name %in% c("euclidean", "sphere", "spd_affine")) {
        return(paste("the papers calibrate the Euclidean baseline on spheres and on positive definite matrices with",
                     "the affine-invariant metric only."))
      }
      if (M$name == "spd_affine" && !identical(as.vector(ask$center), as.vector(diag(M$param)))) {
        return("the papers' constant for positive definite matrices is for the identity as centre.")
      }
      if (baseline_option(ask, "target", c("frechet", "arithmetic")) == "arithmetic") {
        return("the papers add noise to the Frechet mean: `target = \"arithmetic\"` is for the proven calibration.")
      }
    }
    refuse_variants(ask, "euclidean")
  },
  plan = function(M, ask) {
    target <- baseline_option(ask, "target", c("frechet", "arithmetic"))
    into_ball <- check_flag(ask$options$into_ball, "options$into_ball")
    numbers <- NULL
    r <- ask$ball$radius
    b <- ambient_bounds(M, ask$center, r)
    if (ask$calibration == "paper") {
      reach <- switch(M$name, euclidean = r, sphere = 2 * sin(r / 2), expm1(r))
      sensitivity <- 2 * reach / ask$n
      total <- sensitivity
      theorem <- switch(M$name, euclidean = "2r/n", sphere = "4 sin(r/2)/n, Reimherr, Bharath and Soto 2021, A.3.2",
                        "2(exp(r) - 1)/n, Reimherr, Bharath and Soto 2021, Proposition 1")
      if (b$norm == "frobenius") b$norm <- "vech"
    } else if (target == "arithmetic") {
      sensitivity <- outwards(b$diameter / ask$n)
      total <- sensitivity
      theorem <- "ambient diameter of the ball/n, proofs/baselines.md"
    } else {
      inner <- mean_bounds(M, ask, wrapped = FALSE)
      chord <- function(d) if (M$name == "sphere") 2 * sin(min(d, pi) / 2) else min(b$stretch * d, b$diameter)
      sensitivity <- outwards(chord(inner$sensitivity))
      total <- outwards(chord(inner$total))
      numbers <- inner$numbers
      theorem <- paste0(inner$theorem, if (M$name == "sphere") ", as a chord" else ", times the ball's stretch",
                        " (proofs/baselines.md)")
    }
    law <- pure_scale(ask, total)
    list(
      scale = law$scale, sensitivity = sensitivity, theorem = theorem, solver_error = total - sensitivity,
      acceptance = 1,
      target = if (target == "arithmetic") "projected arithmetic mean, not the Frechet mean" else "Frechet mean",
      expected_error = ambient_error(M, ask, b$norm, law$scale, into_ball),
      norm = b$norm, code = AMBIENT_TARGET[[target]], into_ball = into_ball, numbers = numbers,
      details = list(norm = b$norm, target = target, into_ball = into_ball),
      guarantee = list(epsilon = law$epsilon, delta = 0, reasons = paper_reason(ask), sampler = "exact")
    )
  },
  release = function(M, x, plan, ask) {
    .Call(riemdp_euclidean_mean, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
          ask$ball$radius, c(ask$ball$k_min, ask$ball$k_max), plan$code, AMBIENT_NORM[[plan$norm]], plan$scale,
          plan$into_ball, SOLVER_TOLERANCE, plan$numbers,
          pay(price_laplace(plan$sensitivity + plan$solver_error, plan$scale, "baselines.md, 1")))
  },
  region = function(r, level) {
    if (r$details$into_ball || r$details$target != "frechet" || !r$manifold$name %in% c("euclidean", "sphere")) {
      return(NULL)
    }
    q <- stats::qgamma(level, mf_facts(r$manifold)$ambient, scale = r$scale)
    if (r$manifold$name == "sphere") {
      if (q >= 1) return(NULL)
      q <- asin(q) # a unit vector turns by no more when something of length q < 1 is added
    }
    list(radius = q + r$solver_error, basis = "the noise's law in the space around the manifold")
  },
  words = function(r) {
    sprintf(paste("Noise: to the %s, as a point of the space around the manifold, a vector with density proportional",
                  "to exp(-|z|/scale) is added, scale = (sensitivity + solver error)/epsilon = %.6g, |z| the %s;",
                  "the nearest point of the manifold is released%s, the centre where there is none",
                  "(proofs/baselines.md). Sensitivity and scale are in that space's units."),
            if (r$details$target == "arithmetic") "arithmetic mean" else "Frechet mean", r$scale,
            switch(r$details$norm, entries = "Euclidean norm", frobenius = "Frobenius norm",
                   vech = "norm of the entries on and below the diagonal"),
            if (r$details$into_ball) ", moved into the public ball" else "")
  }
)

# mean distance of release and mean, the larger of the mean at the centre and at one point of the edge
ambient_error <- function(M, ask, norm, sigma, into_ball, draws = 2000) {
  center <- ask$center
  d <- mf_facts(M)$dimension
  edge <- mf_exp(M, center, mf_from_coords(M, center, c(0.999 * ask$ball$radius, rep(0, d - 1))))
  error_at <- function(p) {
    x <- .Call(riemdp_ambient_noise, M, p, center, draws, AMBIENT_NORM[[norm]], sigma,
               if (into_ball) ask$ball$radius else 0, TRUE, TRUE)
    mean(ambient_distance(M, p, x))
  }
  with_simulation(1, max(error_at(center), error_at(edge)))
}

# distances, with the diameter (or, where there is none, the norm) in place of those beyond the cut locus
ambient_distance <- function(M, p, x) {
  tryCatch(mf_dist(M, p, x), riemdp_error = function(e) {
    rows <- if (is.null(dim(x))) matrix(x, 1) else matrix(as.vector(x), ncol = length(p), byrow = length(dim(x)) == 3)
    sqrt(rowSums(sweep(rows, 2, as.vector(p))^2))
  })
}
