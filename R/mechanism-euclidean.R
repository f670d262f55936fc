# The papers' first baseline: noise in the space around the manifold, then projection. inst/proofs/baselines.md

# what baselines can't do, whatever the manifold
refuse_variants <- function(ask, name) {
  if (ask$numerics == "lattice") sprintf("mechanism = \"%s\" has no lattice form.", name) else
    if (ask$timing == "constant") sprintf("mechanism = \"%s\" has no form with constant time.", name)
}

baseline_option <- function(ask, name, choices) {
  value <- ask$options[[name]]
  if (is.null(value)) choices[1] else check_choice(value, sprintf("options$%s", name), choices)
}

# What the papers print, or why they print nothing: `reach`, half of what two means can differ by at n = 1.
published_reach <- function(M, center, r) UseMethod("published_reach")
#' @export
published_reach.default <- function(M, center, r) {
  paste("the papers calibrate the Euclidean baseline on spheres and on positive definite matrices with the",
        "affine-invariant metric only.")
}
#' @export
published_reach.riemdp_euclidean <- function(M, center, r) list(reach = r, theorem = "2r/n")
#' @export
published_reach.riemdp_sphere <- function(M, center, r) {
  list(reach = 2 * sin(r / 2), theorem = "4 sin(r/2)/n, Reimherr, Bharath and Soto 2021, A.3.2")
}
#' @export
published_reach.riemdp_spd <- function(M, center, r) {
  if (mf_facts(M)$model != "spd") return(NextMethod())
  if (!identical(as.vector(center), as.vector(diag(M$param)))) {
    return("the papers' constant for positive definite matrices is for the identity as centre.")
  }
  list(reach = expm1(r), theorem = "2(exp(r) - 1)/n, Reimherr, Bharath and Soto 2021, Proposition 1")
}

mechanism_euclidean <- list(
  name = "euclidean",
  auto = FALSE,
  chunks = TRUE, # a baseline
  options = c("target", "into_ball"),
  by_center = function(M) inherits(M, c("riemdp_spd", "riemdp_correlation")), # by eigenvalues or factor
  unsupported = function(M, ask) {
    if (is.null(ambient_bounds(M, ask$center, ask$ball$radius))) {
      return(sprintf(paste("mechanism = \"euclidean\" is for spheres, positive definite and correlation matrices,",
                           "Stiefel manifolds and flat space, not for %s."),
                     label_manifold(M)))
    }
    if (ask$calibration == "paper") {
      published <- published_reach(M, ask$center, ask$ball$radius)
      if (is.character(published)) return(published)
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
      published <- published_reach(M, ask$center, r)
      sensitivity <- 2 * published$reach / ask$n
      total <- sensitivity
      theorem <- published$theorem
      if (b$norm == "frobenius") b$norm <- "vech"
    } else if (target == "arithmetic") {
      sensitivity <- outwards(b$diameter / ask$n)
      total <- sensitivity
      theorem <- "ambient diameter of the ball/n, proofs/baselines.md"
    } else {
      inner <- mean_bounds(M, ask, wrapped = FALSE)
      chord <- b$chord %||% function(d) min(b$stretch * d, b$diameter)
      sensitivity <- outwards(chord(inner$sensitivity))
      total <- outwards(chord(inner$total))
      numbers <- inner$numbers
      theorem <- paste0(inner$theorem, if (!is.null(b$chord)) ", as a chord" else ", times the ball's stretch",
                        " (proofs/baselines.md)")
    }
    law <- pure_scale(ask, total)
    list(
      scale = law$scale, sensitivity = sensitivity, theorem = theorem, solver_error = total - sensitivity,
      acceptance = 1,
      target = if (target == "arithmetic") "projected arithmetic mean, not the Frechet mean" else "Frechet mean",
      expected_error = ambient_error(M, ask, b$norm, law$scale, into_ball),
      norm = b$norm, mean_of = target, into_ball = into_ball, numbers = numbers,
      details = list(norm = b$norm, target = target, into_ball = into_ball),
      guarantee = list(epsilon = law$epsilon, delta = 0, reasons = paper_reason(ask), sampler = "exact")
    )
  },
  release = function(M, x, plan, ask) {
    .Call(riemdp_euclidean_mean, M, mean_records(M, x, ask$center, ask$ball$radius, plan$numbers), ask$center,
          ask$ball$radius, c(ask$ball$k_min, ask$ball$k_max), plan$mean_of, plan$norm, plan$scale,
          plan$into_ball, SOLVER_TOLERANCE, plan$numbers,
          pay(price_laplace(plan$sensitivity + plan$solver_error, plan$scale, "baselines.md, 1")))
  },
  region = function(r, level) {
    if (r$details$into_ball || r$details$target != "frechet") return(NULL)
    q <- ambient_shift(r$manifold, stats::qgamma(level, mf_facts(r$manifold)$ambient, scale = r$scale))
    if (is.null(q)) return(NULL)
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
    x <- .Call(riemdp_ambient_noise, M, p, center, draws, norm, sigma,
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
