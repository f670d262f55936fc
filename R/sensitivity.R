# Bounds from the public radius and curvature, each with its theorem. Rounded outwards.

# curvature bounds and injectivity radius that hold on the ball
ball_facts <- function(M, radius, center = NULL) {
  facts <- mf_facts(M)
  k_max <- facts$k_max
  inj <- facts$injectivity_radius
  roots <- NULL
  if (facts$local_bounds) {
    if (is.null(center)) {
      abort_riemdp("argument", "on this manifold the sensitivity depends on `center`: give it.")
    }
    bounds <- .Call(riemdp_ball_bounds, M, center, radius)
    k_max <- bounds[1]
    inj <- bounds[2]
    # of the centre's eigenvalues
    if (facts$model == "bures" && facts$rows > 1) roots <- .Call(riemdp_ball_roots, M, center)
  }
  list(k_min = facts$k_min, k_max = k_max, injectivity_radius = inj, roots = roots,
       parts = if (facts$model == "product") ball_parts(M, center))
}

# of each part what its mean's bounds need to know of its centre
ball_parts <- function(M, center) {
  lapply(part_leaves(M), function(leaf) {
    facts <- mf_facts(leaf$M)
    bures <- facts$model == "bures" && facts$rows > 1
    list(M = leaf$M, weight = leaf$weight,
         roots = if (bures) .Call(riemdp_ball_roots, leaf$M, leaf_point(M, leaf, center)))
  })
}

# largest radius that the theorems allow
radius_limit <- function(facts) {
  if (facts$k_max > 0) {
    min(facts$injectivity_radius, pi / (2 * sqrt(facts$k_max))) / 2
  } else {
    facts$injectivity_radius / 2
  }
}

# what a space asks of a ball besides: an error where its centre or radius won't do
check_ball_place <- function(M, radius, center) UseMethod("check_ball_place")

#' @exportS3Method
check_ball_place.default <- function(M, radius, center) invisible()

check_radius <- function(M, radius, center = NULL) {
  radius <- check_number(radius, "radius", positive = TRUE)
  check_ball_place(M, radius, center)
  facts <- ball_facts(M, radius, center)
  limit <- radius_limit(facts)
  if (!(radius < limit)) {
    if (isTRUE(mf_facts(M)$local_bounds)) { # which hold at the radius that was asked for
      limit <- widest_radius(M, center, radius)
      facts <- ball_facts(M, limit, center)
    }
    abort_riemdp("radius", sprintf(
      "`radius` is %.4g, but must be below %.4g on this manifold: %s. %s", radius, limit,
      if (facts$k_max > 0) {
        sprintf("half of min(injectivity radius, pi/(2 sqrt(K))) with K = %.4g and injectivity radius %.4g",
                facts$k_max,
                facts$injectivity_radius)
      } else {
        "half of the injectivity radius"
      },
      "Larger balls may hold data whose mean isn't unique; records outside a smaller ball are moved to its edge."
    ))
  }
  c(facts, list(radius = radius))
}

# the largest radius for which the bounds over its ball allow it
widest_radius <- function(M, center, radius) {
  ends <- c(0, radius)
  for (i in 1:60) {
    middle <- mean(ends)
    ends[if (middle < radius_limit(ball_facts(M, middle, center))) 1 else 2] <- middle
  }
  ends[1]
}

# s cot(s)
cot_factor <- function(s) ifelse(s < 1e-4, 1 - s^2 / 3, s / tan(s))

# s coth(s)
coth_factor <- function(s) ifelse(s < 1e-4, 1 + s^2 / 3, s / tanh(s))

# sinh(s)/s
sinhc_r <- function(s) if (s < 1e-4) 1 + s^2 / 6 else sinh(s) / s

#' Sensitivity of the Frechet mean
#'
#' How far, at most, the Frechet mean of n records in a ball can move when one record is replaced.
#'
#' For curvature at most 0 it is 2r/n. For curvature at most \eqn{\kappa > 0}, with \eqn{\rho = r\sqrt\kappa}, it is
#' \deqn{\Delta = \frac{2\tan\rho}{n\sqrt\kappa}F,\quad F = \frac{\mathrm{asinh}\sqrt c}{\sqrt{c(1 + c)}},\quad
#' c = \frac{\rho\tan\rho}{3n},}
#' attained on spheres as n grows. No lower bound of the curvature is needed. The ball must have a radius below half of
#' \eqn{\min(\mathrm{inj}, \pi/(2\sqrt\kappa))}: \eqn{\pi/4} on spheres, \eqn{\pi/8} on planar shapes. Proof: the file
#' `proofs/mean-sensitivity.md` of the installed package.
#'
#' @param M a manifold.
#' @param n number of records.
#' @param radius radius of the ball that holds them.
#' @param center its centre; needed only where curvature depends on the point (Bures-Wasserstein).
#' @param calibration `"proven"`, or `"paper"` for the larger constant 2r(2 - h)/(nh), h = 2\eqn{\rho} cot(2\eqn{\rho}),
#'   of Reimherr, Bharath and Soto (2021).
#' @return The sensitivity, one number in the units of the metric, with attribute `theorem`.
#' @references Reimherr, M., Bharath, K. and Soto, C. (2021). Differential Privacy over Riemannian Manifolds. *Advances
#'   in Neural Information Processing Systems* 34.
#' @examples
#' mean_sensitivity(sphere(2), n = 50, radius = pi / 8)
#' mean_sensitivity(spd(3), n = 50, radius = 1.5)
#' @export
mean_sensitivity <- function(M, n, radius, center = NULL, calibration = c("proven", "paper")) {
  check_manifold(M)
  n <- check_number(n, "n", least = 1)
  calibration <- check_choice(calibration, "calibration", c("proven", "paper"))
  facts <- check_radius(M, radius, center)
  mean_sensitivity_at(n, facts, calibration)
}

mean_sensitivity_at <- function(n, facts, calibration) {
  r <- facts$radius
  if (facts$k_max <= 0) {
    return(structure(outwards(2 * r / n), theorem = "2r/n (curvature at most 0)"))
  }
  root <- sqrt(facts$k_max)
  rho <- r * root
  if (calibration == "paper") {
    h <- cot_factor(2 * rho)
    return(structure(2 * r * (2 - h) / (n * h), theorem = "2r(2 - h)/(nh), Reimherr, Bharath and Soto 2021, Theorem 2"))
  }
  c <- rho * tan(rho) / (3 * n)
  f <- if (c < 1e-6) 1 - 2 * c / 3 + 8 * c^2 / 15 else asinh(sqrt(c)) / sqrt(c * (1 + c))
  structure(outwards(2 * tan(rho) / (n * root) * f),
            theorem = "2 tan(r sqrt K)/(n sqrt K) F, proofs/mean-sensitivity.md")
}

# how far the mean moves where all its points leave the centre
padded_reach <- function(facts) {
  root <- sqrt(max(facts$k_max, 0))
  if (facts$radius * root > 0) tan(facts$radius * root) / root else facts$radius
}

# Where the records are x >= 1 times as many as a mean was planned for, its logarithm at the centre is this many times
# as long, if the ball has room: x, but that it levels off (proofs/mean-sensitivity.md, section 14).
STRETCH_BEND <- 0.01
STRETCH_MOST <- (1 + STRETCH_BEND)^2 / (4 * STRETCH_BEND)

stretch <- function(x) {
  x <- min(max(1, x), (1 + STRETCH_BEND) / (2 * STRETCH_BEND))
  x * (1 + STRETCH_BEND - STRETCH_BEND * x)
}

# N times how far one record moves the mean of N records or more that is stretched like that. wrapped: its logarithm at
# the centre, else also itself.
stretched_reach <- function(facts, wrapped) (1 + STRETCH_BEND) * counted_reach(facts, wrapped)

# how far one record moves the mean's logarithm at the centre times the number of records
counted_reach <- function(facts, wrapped) {
  r <- facts$radius
  far <- r * sqrt(max(0, -facts$k_min))
  most <- coth_factor(2 * far)
  rho <- r * sqrt(max(facts$k_max, 0))
  reach <- if (rho > 0) {
    each <- padded_reach(facts)
    each + rho / sin(rho) * max(each - r, r - r * sin(rho) / (rho * most))
  } else {
    r * sqrt(2 - 1 / most)
  }
  wider <- if (wrapped || far == 0) 1 else sinhc_r(far) * if (rho > 0) rho / sin(rho) else 1
  wider * reach
}

# N times how far a record moves the mean of N points that takes a centre's place
joined_reach <- function(facts) {
  each <- padded_reach(facts)
  rho <- facts$radius * sqrt(max(facts$k_max, 0))
  if (rho > 0) each + rho / sin(rho) * (each - facts$radius) else each
}

# How far the mean of `n` points moves by one record more or less, n being a released size and missing records points at
# the centre (proofs/mean-sensitivity.md, section 14). form: "sum", the sum of logarithms over n, where the space is
# flat; "plain", the mean of n points or of all records, if these are more; "scaled", the latter stretched; "tail",
# where they are no more for certain.
padded_sensitivity <- function(n, facts, form, wrapped = FALSE) {
  r <- facts$radius
  rho <- r * sqrt(max(facts$k_max, 0))
  each <- padded_reach(facts)
  switch(form,
    sum = structure(outwards(r / n), theorem = "r/N, proofs/mean-sensitivity.md, section 14"),
    plain = structure(outwards(2 * each / (n + 1)),
                      theorem = if (rho > 0) {
                        "2 tan(r sqrt K)/((N + 1) sqrt K), proofs/mean-sensitivity.md, section 14"
                      } else {
                        "2r/(N + 1), proofs/mean-sensitivity.md, section 14"
                      }),
    scaled = structure(outwards(stretched_reach(facts, wrapped) / n),
                       theorem = "of form \"scaled\", about r/N, proofs/mean-sensitivity.md, section 14"),
    tail = structure(outwards(joined_reach(facts) / n),
                     theorem = if (rho > 0) "of form \"tail\", about r/N, proofs/mean-sensitivity.md, section 14" else
                       "r/N, proofs/mean-sensitivity.md, section 14")
  )
}

# The same where a record may also leave one group of records for another, in the two that it touches together: what
# each of them is planned for, so that both cost what is asked for. `normal`: their losses add up as squares, else as
# they are.
moved_sensitivity <- function(n, facts, form, normal, wrapped = FALSE) {
  r <- facts$radius
  each <- padded_reach(facts)
  short <- joined_reach(facts)
  both <- function(a, b) if (normal) sqrt(a^2 + b^2) else a + b
  value <- switch(form,
    sum = 2 * r / n,
    scaled = 2 * stretched_reach(facts, wrapped) / n,
    plain = max(both(2 * each, 2 * each) / (n + 1), 2 * each / n),
    tail = max(both(short, short), 2 * each) / n
  )
  structure(outwards(value), theorem = sprintf("of form \"%s\", proofs/mean-sensitivity.md, section 15", form))
}

#' Sensitivity of the gradient of the Frechet energy
#'
#' How much, at most, the gradient of \eqn{U(m) = \frac1{2n}\sum_i d(m, x_i)^2} changes at any point m of a ball when
#' one of n records in it is replaced. The K-norm gradient mechanism rests on it.
#'
#' For curvature at most 0 it is 2r/n. For curvature at most \eqn{\kappa > 0} it is \eqn{S_\kappa(r)/n}, the value on
#' the sphere of that curvature, where it is attained: with \eqn{\rho = r\sqrt\kappa},
#' \deqn{S_\kappa(r) = \frac{2\sin\rho}{\sqrt\kappa}\max_{0\le c\le 1}\frac{d_c}{\sin d_c}\sqrt{1 - c^2},\quad
#'   \cos d_c = \cos^2\rho - c\sin^2\rho.}
#' Proof: the file `proofs/gradient-sensitivity.md` of the installed package. The radius is bounded as for
#' [mean_sensitivity()].
#'
#' @inheritParams mean_sensitivity
#' @param calibration `"proven"`, or `"paper"` for the larger constant 2r(2 - h)/n, h = 2\eqn{\rho} cot(2\eqn{\rho}), of
#'   Soto and others (2022).
#' @return The sensitivity, one number in the units of the metric, with attribute `theorem`.
#' @references Soto, C., Bharath, K., Reimherr, M. and Slavkovic, A. (2022). Shape and structure preserving differential
#'   privacy. *Advances in Neural Information Processing Systems* 35.
#' @examples
#' gradient_sensitivity(sphere(2), n = 50, radius = pi / 8)
#' @export
gradient_sensitivity <- function(M, n, radius, center = NULL, calibration = c("proven", "paper")) {
  check_manifold(M)
  n <- check_number(n, "n", least = 1)
  calibration <- check_choice(calibration, "calibration", c("proven", "paper"))
  facts <- check_radius(M, radius, center)
  gradient_sensitivity_at(n, facts, calibration)
}

gradient_sensitivity_at <- function(n, facts, calibration) {
  r <- facts$radius
  if (facts$k_max <= 0) {
    return(structure(outwards(2 * r / n), theorem = "2r/n (curvature at most 0)"))
  }
  root <- sqrt(facts$k_max)
  rho <- r * root
  if (calibration == "paper") {
    return(structure(2 * r * (2 - cot_factor(2 * rho)) / n, theorem = "2r(2 - h)/n, Soto and others 2022, Theorem 2"))
  }
  distance <- function(c) 2 * asin(sin(rho) * sqrt((1 + c) / 2)) # cos d = cos^2 rho - c sin^2 rho
  # log of the maximand is concave: bisection on the sign of its slope
  slope <- function(c) {
    d <- distance(c)
    sin(rho)^2 * (if (d < 1e-2) 1 / 3 + 7 * d^2 / 90 else (sin(d) - d * cos(d)) / (d * sin(d)^2)) - c / (1 - c^2)
  }
  lower <- 0
  upper <- 1
  for (k in 1:60) {
    middle <- (lower + upper) / 2
    if (slope(middle) > 0) lower <- middle else upper <- middle
  }
  d <- distance(lower)
  s <- 2 * sin(rho) / root * (if (d < 1e-4) 1 + d^2 / 6 else d / sin(d)) * sqrt(1 - lower^2)
  # a value near the maximum is below it, by no more than |slope| times the interval in relative terms
  s <- s * exp(abs(slope(lower)) * (upper - lower))
  structure(outwards(s / n), theorem = "S(r sqrt K)/(n sqrt K), proofs/gradient-sensitivity.md")
}

# what the solver's error adds: the mean is known to a gradient of at most tau
solver_error <- function(facts, tau, wrapped) {
  rho <- facts$radius * sqrt(max(facts$k_max, 0))
  h <- if (rho > 0) cot_factor(2 * rho) else 1
  outwards(2 * tau / h * if (wrapped && rho > 0) rho / sin(rho) else 1)
}
