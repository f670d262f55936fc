# Expected errors by quadrature: of laws on the manifold over the radius, of wrapped laws over radius and angles.

# nodes and weights of Gauss-Legendre quadrature on [0, 1] (Golub and Welsch 1969, doi:10.1090/S0025-5718-69-99647-1)
gauss_legendre <- function(m) {
  j <- seq_len(m - 1)
  jacobi <- matrix(0, m, m)
  jacobi[cbind(j, j + 1)] <- jacobi[cbind(j + 1, j)] <- j / sqrt(4 * j^2 - 1)
  e <- eigen(jacobi, symmetric = TRUE)
  list(x = (e$values + 1) / 2, w = e$vectors[1, ]^2)
}

LEGENDRE <- list(length = gauss_legendre(80), angle = gauss_legendre(40), phase = gauss_legendre(20))

gauss_density <- function(rule, from, to, log_density) {
  x <- from + (to - from) * rule$x
  value <- log_density(x)
  w <- rule$w * exp(value - max(value))
  list(x = x, w = w / sum(w))
}

# Length of the noise vector in R^d. law: "knorm", "gaussian", or the list(step, first) of a staircase.
noise_length <- function(d, sigma, law) {
  if (is.list(law)) return(shells_length(d, sigma, law))
  if (law == "gaussian") {
    center <- sigma * sqrt(d)
    gauss_density(LEGENDRE$length, max(0, center - 9 * sigma), center + 9 * sigma,
                  function(r) (d - 1) * log(r) - r^2 / (2 * sigma^2))
  } else {
    gauss_density(LEGENDRE$length, max(0, sigma * (d - 9 * sqrt(d) - 5)), sigma * (d + 10 * sqrt(d) + 25),
                  function(r) (d - 1) * log(r) - r / sigma)
  }
}

# Logarithms of the masses of shells in R^d, whose edges are moved outwards by `more`, with weights that fall by
# exp(-width/scale): as far out as any matter
shell_masses <- function(d, scale, width, first, more = 0) {
  count <- ceiling((d + 12 * sqrt(d) + 60) * scale / width) + 2
  edge <- pmax(0, more + first + width * (0:count))
  inner <- ifelse(edge > 0, c(0, edge[-length(edge)]) / edge, 0)
  d * log(edge) + log1p(-inner^d) - log(d) - (0:count) * width / scale
}

# nodes in each shell; where there are many the law is that of "knorm", about, and its nodes serve
shells_length <- function(d, sigma, law) {
  count <- ceiling((d + 10 * sqrt(d) + 25) * sigma / law$step) + 1
  if (count > 60) {
    rho <- noise_length(d, sigma, "knorm")
    return(list(x = rho$x * noise_mean_length(d, sigma, law) / sum(rho$w * rho$x), w = rho$w))
  }
  edge <- c(0, law$first + law$step * (0:count))
  rule <- LEGENDRE$phase
  x <- as.vector(outer(rule$x, diff(edge)) + rep(edge[-length(edge)], each = length(rule$x)))
  value <- (d - 1) * log(x) - rep(0:count * law$step / sigma, each = length(rule$x))
  w <- exp(value - max(value)) * as.vector(outer(rule$w, diff(edge)))
  list(x = x, w = w / sum(w))
}

noise_mean_length <- function(d, sigma, law) {
  if (is.list(law)) {
    mass <- function(d) log_sum(shell_masses(d, sigma, law$step, law$first))
    return(exp(mass(d + 1) - mass(d)))
  }
  if (law == "gaussian") sigma * sqrt(2) * exp(lgamma((d + 1) / 2) - lgamma(d / 2)) else d * sigma
}

# cosine of the angle between a uniform direction of R^d and a fixed one
noise_cosine <- function(d, rule = LEGENDRE$angle) {
  if (d == 1) {
    return(list(x = c(1, -1), w = c(0.5, 0.5)))
  }
  reach <- min(pi / 2, 12 / sqrt(d))
  rule <- gauss_density(rule, pi / 2 - reach, pi / 2 + reach, function(t) (d - 2) * log(sin(t)))
  list(x = cos(rule$x), w = rule$w)
}

# Mean distance of exp(z + w) from exp(z), |z| = r, w the noise; NULL where there is no formula. Distances by half-angle
# formulas, which keep their digits for small noise. rho: the noise's lengths and their weights. moved: how long z + w
# is made, by its length, before exp takes it.
wrapped_quadrature <- function(M, sigma, r, law, rho = noise_length(mf_facts(M)$dimension, sigma, law), moved = NULL) {
  facts <- mf_facts(M)
  d <- facts$dimension
  # whose law of distances is known, not only within small balls
  k <- if (facts$has_laplace) switch(model_everywhere(facts), sphere = , planar = 1, hyperbolic = -1, 0) else 0
  if (k == 0) {
    return(NULL)
  }
  u <- noise_cosine(d)
  g <- expand.grid(i = seq_along(rho$x), j = seq_along(u$x))
  s <- rho$x[g$i]
  c <- u$x[g$j]
  w <- rho$w[g$i] * u$w[g$j]
  v1 <- r + s * c
  across <- s^2 * (1 - c^2)
  R <- sqrt(v1^2 + across)
  # 1 - cos of the angle between z + w and z
  turn <- ifelse(R == 0, 0, ifelse(v1 > 0, across / (R * (R + v1)), (R - v1) / R))
  shift <- ifelse(R + r > 0, (s^2 + 2 * r * s * c) / (R + r), 0)
  if (!is.null(moved)) {
    R <- moved(R)
    shift <- R - r
  }
  h <- sn(k, shift / 2)^2 + sn(k, R) * sn(k, r) * turn / 2 # sn(dist/2)^2
  if (k < 0) {
    return(sum(w * 2 * asinh(sqrt(pmax(h, 0)))))
  }
  h <- pmin(pmax(h, 0), 1)
  if (facts$model == "sphere") {
    return(sum(w * 2 * asin(sqrt(h))))
  }
  # planar shapes: the component along i z turns the phase only
  phase <- if (d == 2) list(x = 1, w = 1) else noise_cosine(d - 1, LEGENDRE$phase)
  total <- 0
  for (j in seq_along(phase$x)) {
    v2 <- sqrt(across) * phase$x[j]
    lost <- sin(r)^2 * (sin(R) / pmax(R, 1e-300) * v2)^2
    total <- total + phase$w[j] * sum(w * asin(sqrt(pmin(pmax(4 * h * (1 - h) - lost, 0), 1))))
  }
  total
}

# Mean distance between the release and its target, noise in the tangent space at the public centre: the larger of a
# target at the centre and one at the edge of the ball.
wrapped_noise_error <- function(M, sigma, law, center, radius) {
  facts <- mf_facts(M)
  if (facts$k_min == 0 && facts$k_max == 0 && facts$injectivity_radius == Inf) {
    return(noise_mean_length(facts$dimension, sigma, law))
  }
  if (is.null(center) || is.null(radius)) {
    abort_riemdp("argument", "the wrapped mechanism's error depends on `center` and `radius`: give both.")
  }
  radius <- check_number(radius, "radius", positive = TRUE)
  error <- function() {
    at_edge <- wrapped_quadrature(M, sigma, radius, law)
    if (is.null(at_edge)) with_simulation(1, wrapped_error(M, sigma, center, radius, law = law)) else
      max(at_edge, wrapped_quadrature(M, sigma, 0, law))
  }
  # a user's functions may be anything
  if (of_user(M) || is.object(center) || is.list(center)) return(error())
  key <- paste(c("wrapped", unlist(law)), collapse = " ")
  remember(paste(key, manifold_key(M, sigma, radius, Re(center), Im(center))), error)
}

# far enough out for any dimension: beyond 1/sigma minus the growth of volume the tail is like that of a gamma law
laplace_reach <- function(M, sigma, level = 0) {
  d <- mf_facts(M)$dimension
  sigma / (1 - mf_facts(M)$volume_growth * sigma) * (d + 12 * sqrt(d) + 60 - 2 * log1p(-level))
}

# mean radius (to a power) of a law on the manifold: density exp(-penalty(rho)) with respect to the volume, next to
# nothing beyond `top`
radial_mean <- function(M, sigma, power = 1, law = "laplace") {
  facts <- mf_facts(M)
  d <- facts$dimension
  growth <- facts$volume_growth
  if (law == "laplace") {
    penalty <- function(rho) rho / sigma
    top <- laplace_reach(M, sigma)
  } else {
    penalty <- function(rho) rho^2 / (2 * sigma^2)
    top <- growth * sigma^2 + sigma * (sqrt(d) + 14)
  }
  top <- min(facts$diameter, top)
  log_density <- function(rho) as.numeric(.Call(riemdp_radial, M, rho)) - penalty(rho)
  grid <- seq(0, top, length.out = 4001)[-1]
  values <- log_density(grid)
  peak <- grid[which.max(values)]
  shift <- max(values)
  part <- function(g) {
    f <- function(rho) g(rho) * exp(log_density(rho) - shift)
    live <- range(grid[values > shift - 45])
    breaks <- sort(unique(c(max(0, live[1] - top / 4000), peak, min(top, live[2] + top / 4000))))
    sum(vapply(seq_len(length(breaks) - 1), function(i) {
      stats::integrate(f, breaks[i], breaks[i + 1], rel.tol = 1e-10, subdivisions = 1000, stop.on.error = FALSE)$value
    }, numeric(1)))
  }
  part(function(rho) rho^power) / part(function(rho) 1)
}

# Geodesic radius around the release of a region for the mean, where noise was added in the tangent space at the public
# centre and has length at most q with the wanted probability. Both ends of the segment lie within `reach` of the origin
# there; exp stretches it by no more than the comparison with the least curvature says, up to the first conjugate point
# (Rauch). NULL beyond, and on manifolds that aren't complete, where the release may have been shortened.
wrapped_region <- function(r, q) {
  facts <- mf_facts(r$manifold)
  reach <- r$radius + q
  if (!is.finite(facts$k_max) || !is.finite(facts$k_min)) return(NULL)
  if (facts$k_max > 0 && reach >= pi / sqrt(facts$k_max)) return(NULL)
  list(radius = (q + r$solver_error) * exp_stretch(facts$k_min, reach),
       basis = "the noise's law at the public centre, and how much exp can stretch")
}

# Quantile of the distance under a density proportional to area(rho) exp(-energy(rho)), by quadrature on a fine grid,
# rounded up. Where only a bound of the area is known, the quantile is no smaller than the true one, since bound over
# area grows with rho (SPD matrices: x -> sqrt(x) coth(sqrt(x)) is concave, so the mean slope of the log sinhc terms is
# largest where all are equal; subspaces: so is x -> sqrt(x) cot(sqrt(x)), of the log sinc terms). `law`: its numbers,
# for which quantiles are remembered: a region about the population asks for some 40.
radial_quantile <- function(M, law, energy, level, top, finer = NULL) {
  known <- remember(paste("quantiles", manifold_key(M, law)), function() new.env(parent = emptyenv()))
  key <- sprintf("%.17g", level)
  if (is.null(known[[key]])) assign(key, find_radial_quantile(M, energy, level, top, finer), known)
  known[[key]]
}

find_radial_quantile <- function(M, energy, level, top, finer) {
  top <- min(top, mf_facts(M)$diameter)
  rho <- seq(0, top, length.out = 20001)
  if (!is.null(finer)) rho <- sort(unique(c(rho, finer[finer < top])))
  width <- diff(rho)
  rho <- rho[-1]
  log_density <- as.numeric(.Call(riemdp_radial, M, rho)) - energy(rho)
  mass <- cumsum(width * exp(log_density - max(log_density)))
  mass <- mass / mass[length(mass)]
  rho[min(length(rho), which(mass >= level)[1] + 1)]
}

# Largest factor by which exp at a point stretches lengths within `reach` of it, for curvature at least k_min
exp_stretch <- function(k_min, reach) {
  s <- reach * sqrt(max(0, -k_min))
  if (s < 1e-4) 1 + s^2 / 6 else sinh(s) / s
}

# the mean that expected_error() describes, by simulation; call it in with_simulation()
wrapped_error <- function(M, sigma, center, radius, draws = 4000, law = "knorm") {
  d <- mf_facts(M)$dimension
  noise <- sigma * matrix(stats::rnorm(draws * d), draws)
  if (is.list(law)) {
    rho <- noise_length(d, sigma, law)
    noise <- noise / sqrt(rowSums(noise^2)) * rho$x[sample.int(length(rho$x), draws, TRUE, rho$w)]
  }
  if (identical(law, "knorm")) noise <- noise / sqrt(rowSums(noise^2)) * stats::rgamma(draws, d, scale = sigma)
  tangent_error(M, noise, center, radius)
}

# mean of d(exp(z + w), exp(z)) over rows w of `noise`, the larger of z = 0 and z at the ball's edge
tangent_error <- function(M, noise, center, radius) {
  out <- tangent_errors(M, noise, center, c(0, radius))
  if (all(is.na(out))) mean(sqrt(rowSums(noise^2))) else max(out, na.rm = TRUE)
}

# the same for z of each of these lengths, in the direction where exp stretches most. moved: as in wrapped_quadrature()
tangent_errors <- function(M, noise, center, lengths, moved = NULL) {
  u <- most_stretched(M)
  vapply(lengths, function(t) {
    y <- sweep(noise, 2, t * u, "+")
    if (!is.null(moved)) {
      R <- sqrt(rowSums(y^2))
      y <- y * ifelse(R > 0, moved(R) / R, 0)
    }
    target <- if (t == 0) center else mf_exp(M, center, mf_from_coords(M, center, t * u))
    # vectors beyond the domain of exp (incomplete manifolds) are left out: the release would shorten them
    reached <- tryCatch(mf_dist(M, mf_exp(M, center, mf_from_coords(M, center, y)), target),
                        riemdp_error = function(e) NULL)
    if (is.null(reached)) NA_real_ else mean(reached)
  }, 0)
}

# Coordinates of a unit vector in whose direction exp stretches most, as far as that is known: of a product the part
# with the least curvature, of positive definite matrices two eigenvalues that part (proofs/shrinkage.md, section 4)
most_stretched <- function(M) {
  if (of_user(M)) return(c(1, rep(0, mf_facts(M)$dimension - 1)))
  parts <- lapply(part_leaves(M), function(leaf) {
    facts <- mf_facts(leaf$M)
    u <- c(1, rep(0, facts$dimension - 1))
    if (facts$model %in% c("spd", "hermitian") && facts$rows > 1) {
      u <- as.vector(mf_coords(leaf$M, diag(facts$rows), diag(c(1, -1, rep(0, facts$rows - 2)) / sqrt(2))))
    }
    list(u = u, k = if (facts$dimension > 1) facts$k_min / leaf$weight else 0)
  })
  most <- which.min(vapply(parts, `[[`, 0, "k"))
  unlist(lapply(seq_along(parts), function(i) parts[[i]]$u * (i == most)))
}

# which of both is missing
no_area <- function(M) {
  if (!inherits(M, "riemdp_stiefel")) return(paste(label_manifold(M), "is not"))
  paste("the areas of spheres on", label_manifold(M), "are not known")
}

no_gaussian <- function(M) {
  paste0("the Gaussian mechanism needs a homogeneous manifold with a known area of spheres, or a product of such; ",
         no_area(M), ". Use mechanism = \"wrapped_gaussian\".")
}

# beyond what doubles hold of the law neither its profile nor its draws would be right
check_gaussian_reach <- function(space, sigma) {
  if (radial_far(space, sigma)) {
    abort_riemdp("existence", sprintf(
      paste("with scale %.3g the growth of volume rules the law: most of its mass lies further out than doubles can",
            "hold."), sigma
    ))
  }
}

# The least share of a sampler's draws to be kept (src/mechanism/mechanism_laplace.c, mechanism_heat.c), of public
# numbers alone. Nothing private rests on it: whatever it is, a million draws all fail with one probability for all
# records. It keeps that probability, and the time of a call, small.
LEAST_RADIAL <- 1e-3

radial_acceptance <- function(M, law, sigma, steps = NULL) {
  if (law == "gaussian" && inherits(M, "riemdp_product")) { # each part is drawn by itself
    return(min(vapply(part_leaves(M), function(leaf) radial_acceptance(leaf$M, law, sigma / sqrt(leaf$weight)), 0)))
  }
  chords <- law == "chordal" # which has no radius
  if (!chords && is.null(steps) && isTRUE(attr(.Call(riemdp_radial, M, 1e-3), "exact"))) return(1)
  key <- paste("radial", law, manifold_key(M, sigma, steps))
  count <- if (chords) 4000 else 2000
  remember(key, function() with_simulation(1, .Call(riemdp_radial_acceptance, M, count, law, c(sigma, steps), TRUE)))
}

check_radial <- function(M, law, sigma, steps = NULL) {
  if (law == "gaussian") { # each part of a product is drawn by itself, in its own units
    for (leaf in part_leaves(M)) check_gaussian_reach(profile_space(leaf$M), sigma / sqrt(leaf$weight))
  }
  check_kept(M, law, sigma, radial_acceptance(M, law, sigma, steps))
}

# that so many draws are kept
check_kept <- function(M, law, sigma, share) {
  if (!(share >= LEAST_RADIAL)) {
    abort_riemdp("unsupported", sprintf(paste0(
      paste("mechanism = \"%s\" draws by rejection, which on %s at scale %.3g would keep one of %.2g draws. A smaller",
            "scale would do (more "),
      "records, a larger epsilon, a smaller radius), or mechanism = \"wrapped%s\"."
    ), law, label_manifold(M), sigma, 1 / max(share, 1e-300), if (law %in% c("gaussian", "heat")) "_gaussian" else ""))
  }
}

# log of the area of the unit sphere of R^d
log_sphere_area <- function(d) log(2) + d / 2 * log(pi) - lgamma(d / 2)
