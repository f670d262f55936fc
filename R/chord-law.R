# The Laplace law of the chordal distance, on Stiefel manifolds: at which scales, its errors and its quantiles. Proofs:
# inst/proofs/laplace.md, section 5.

has_chord <- function(M) inherits(M, "riemdp_stiefel") && M$param[1] > M$param[2]

no_chord <- function(M) {
  sprintf(paste("the Laplace law of the chordal distance is that of frames of fewer vectors than dimensions (Stiefel",
                "manifolds). %s isn't one."), label_manifold(M))
}

check_chord <- function(M, sigma) {
  if (!has_chord(M)) abort_riemdp("unsupported", no_chord(M))
  check_kept(M, "chordal", sigma, max(radial_acceptance(M, "chordal", sigma), 1 / 4000)) # of 4,000 trials
}

# where no logarithm is found a draw counts as one at the diameter
chord_error <- function(M, sigma) {
  remember(paste("chordal", manifold_key(M, sigma)), function() {
    from <- diag(M$param[1])[, seq_len(M$param[2]), drop = FALSE]
    draws <- with_simulation(1, .Call(riemdp_noise, M, from, 4000, "chordal", sigma, TRUE))
    apart <- function(x) tryCatch(mf_dist(M, from, x), riemdp_error = function(e) NULL)
    mean(apart(draws) %||% apply(draws, 3, function(x) apart(x) %||% mf_facts(M)$diameter))
  })
}

# A distance that a draw keeps to with probability `level` at least: chords are no shorter than those of circles with
# the largest curvature of geodesics, volumes lie between those of coordinates
chord_quantile <- function(M, sigma, level) {
  d <- mf_facts(M)$dimension
  n <- M$param[1]
  p <- M$param[2]
  r <- min(p, n - p)
  curvature <- if (M$name == "stiefel_euclidean") 1 else sqrt(2.5)
  facts <- .Call(riemdp_chord, M, sigma, numeric())
  cap <- facts[1]
  ball <- log_sphere_area(d) - log(d) # of radius 1
  # log of the least volume over that of coordinates out to R <= 1/2: log(sin(x)/x) >= -x^2/5
  density <- function(R) -R^2 * max((p - 2) / 10, (2 * (r - 1) + abs(n - 2 * p)) / 5)
  R <- min(0.5, sigma * (d + 4 * sqrt(d)))
  least <- density(R) + log_sphere_area(d) + lgamma(d) + d * log(sigma) + stats::pgamma(R / sigma, d, log.p = TRUE)
  beyond <- function(x) {
    t <- seq(x, cap, length.out = 1001)
    inside <- exp(ball + density(min(x, 0.5)) + d * log(min(x, 0.5)) - least)
    reach <- t / .Call(riemdp_chord, M, sigma, t)[-(1:3)]
    most <- exp(ball + d * log(reach) - least - (t - x) / sigma) -
      inside * exp(-(t - x) / sigma)
    weights <- rep(c(4, 2), length.out = 999)
    body <- sum(c(1, weights, 1) * most) * (cap - x) / 3000 / sigma + most[1001]
    body * exp(-x / sigma) + exp(facts[3] - cap / sigma - least)
  }
  if (!(beyond(cap) < 1 - level)) return(mf_facts(M)$diameter)
  x <- stats::uniroot(function(x) log(beyond(x)) - log1p(-level), c(1e-3 * sigma, cap), tol = 1e-9 * cap)$root
  2 / curvature * asin(curvature * (x + 1e-9 * cap) / 2)
}
