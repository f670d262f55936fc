# What follows a private mean: where noise is not small beside the ball, the point drawn is moved towards the public
# centre, as far as a guess of the mean from the noise's law says: a function of the release and of public numbers. What
# it gains: inst/proofs/shrinkage.md.

# noise below that part of the radius is left as it is: there is little to gain
SHRINK_FROM <- 0.1

# not done where it makes the release worse than that for some mean in the ball
SHRINK_WORST <- 1.05

# A mechanism's `law(plan)` tells how its noise lies around the mean: `energy`, minus the log density at a distance,
# `flat` for noise in the tangent space at the centre, `truncated` where it ends at the ball's edge. plan_shrunk() adds
# `even` where such a law is one on a lattice of coordinates at the centre.

knorm_energy <- function(plan) function(rho) rho / plan$scale

normal_energy <- function(plan) function(rho) rho^2 / (2 * plan$scale^2)

# sine, sinh, or the length itself
side <- function(k, x) if (k == 0) x else sn(k, x)

# third side of triangles with sides a and b and the cosine of the angle between them; `across`: for each a and cosine
third_side <- function(k, a, b, cosine, across = `*`) {
  h <- sqrt(abs(side(k, (a - b) / 2)^2 + across(side(k, a) * side(k, b), (1 - cosine) / 2)))
  if (k == 0) return(2 * h)
  2 * if (k > 0) asin(pmin.int(h, 1)) else asinh(h)
}

# all angles, for a uniform direction: in high dimension a guess looks far from right angles
shrink_angles <- function(d) {
  if (d == 1) return(noise_cosine(1))
  rule <- gauss_density(LEGENDRE$length, 0, pi, function(t) (d - 2) * log(sin(t)))
  list(x = cos(rule$x), w = rule$w)
}

# log of the area of spheres, up to a constant; as in flat space for points of a lattice of coordinates
volume_log <- function(law, rho) {
  k <- if (isTRUE(law$even)) 0 else law$k
  (law$dimension - 1) * if (k < 0) rho + log(-expm1(-2 * rho)) else log(pmax(side(k, rho), 1e-300))
}

# distances that noise goes, and their weights
shrink_distances <- function(law) {
  log_density <- function(rho) volume_log(law, rho) - law$energy(rho)
  grid <- if (law$k > 0) pi * seq_len(1000) / 1000 else 2^(-1000:1000)
  # what is alive of the law, in finer and finer steps
  for (i in 1:4) {
    value <- log_density(grid)
    alive <- range(which(value > max(value) - 40))
    ends <- c(0, grid)[c(alive[1], min(alive[2] + 2, length(grid) + 1))]
    grid <- ends[1] + diff(ends) * seq_len(1000) / 1000
  }
  gauss_density(LEGENDRE$length, ends[1], ends[2], log_density)
}

# Where draws around a mean at distance t from the centre lie: their distance from the centre, from the mean, weights,
# and the log of what these add up to
shrink_draws <- function(law, t) {
  turn <- law$angles
  if (!isTRUE(law$truncated)) {
    far <- law$distances
    rho <- as.vector(third_side(law$k, far$x, t, -turn$x, outer))
    return(list(rho = rho, apart = rep(far$x, length(turn$x)), w = as.vector(outer(far$w, turn$w)), log_sum = 0))
  }
  far <- LEGENDRE$length$x * law$edge
  rho <- rep(far, length(turn$x))
  apart <- as.vector(third_side(law$k, far, t, turn$x, outer))
  log_w <- as.vector(outer(log(LEGENDRE$length$w), log(turn$w), "+")) + volume_log(law, rho) - law$energy(apart)
  w <- exp(log_w - max(log_w))
  list(rho = rho, apart = apart, w = w / sum(w), log_sum = max(log_w) + log(sum(w)))
}

# A mean whose distance t from the centre is as likely anywhere up to a bit beyond the radius, so that none at the edge
# is drawn inwards too far, and its direction any: nodes, and for each of them and each angle the log of its weight over
# a truncated law's constant, and how far along the way to the draw it lies
shrink_prior <- function(law, radius, error) {
  t <- LEGENDRE$angle$x * (radius + min(error / sqrt(law$dimension), radius) / 2)
  log_w <- log(LEGENDRE$angle$w) - vapply(t, function(t) shrink_draws(law, t)$log_sum, 0)
  list(t = t, log_w = as.vector(outer(log_w, log(law$angles$w), "+")), along = as.vector(outer(t, law$angles$x)))
}

# mean of t cos(angle) given a draw at distance rho: how far from the centre, on the way to the draw, the guess lies
guessed_length <- function(law, prior, rho) {
  at <- function(rho) {
    weight <- prior$log_w - law$energy(as.vector(third_side(law$k, prior$t, rho, law$angles$x, outer)))
    weight <- exp(weight - max(weight))
    sum(weight * prior$along) / sum(weight)
  }
  pmin.int(pmax.int(vapply(rho, at, 0), 0), rho)
}

# a flat law that stands for one on a space whose triangles have no formula: as wide as that
as_wide <- function(law, error) {
  wider <- error / sum(law$distances$w * law$distances$x)
  flat <- law$energy
  law$energy <- function(rho) flat(rho / wider)
  law$distances$x <- law$distances$x * wider
  law
}

# of the triangles by which a law is told
law_curvature <- function(M, law, error) {
  k <- if (isTRUE(law$flat)) 0 else switch(model_everywhere(mf_facts(M)), sphere = 1, hyperbolic = -1, 0)
  if (k < 0 && (law$dimension == 1 || error > 10)) 0 else k # a line is flat; farther out sinh leaves the doubles
}

# what is left of the error, by the law's kind
moved_errors <- function(M, law, prior, radius, center) {
  bent <- isTRUE(law$flat) && mf_facts(M)$k_min < 0 && law$dimension > 1
  if (bent) bent_errors(M, law, prior, radius, center) else shrunk_errors(law, prior, radius)
}

# list(law, prior, errors), by which guessed_length() tells how far to go, and what is left of the error for means at 0,
# 1/4, ... of the radius; NULL where the noise is small, or for some means the release would be worse. largest:
# `error` is that of the worst mean; the rule of a law on the ball goes by that at the centre.
shrinkage <- function(M, law, radius, error, center = NULL, largest = FALSE) {
  if (is.null(law) || !isTRUE(error > SHRINK_FROM * radius && is.finite(error))) return(NULL)
  # plans ask for the same again and again
  kind <- c(isTRUE(law$flat), isTRUE(law$truncated), isTRUE(law$even), largest)
  at <- if (is.null(center)) 0 else c(Re(center), Im(center))
  key <- manifold_key(M, radius, error, kind, law$energy(radius * 1:40 / 16), at)
  remember(paste("shrinkage", key), function() list(new_shrinkage(M, law, radius, error, center, largest)))[[1]]
}

new_shrinkage <- function(M, law, radius, error, center, largest) {
  law$dimension <- mf_facts(M)$dimension
  law$k <- law_curvature(M, law, error)
  law$angles <- shrink_angles(law$dimension)
  law$edge <- radius
  if (!isTRUE(law$truncated)) law$distances <- shrink_distances(law)
  if (law$k == 0 && !isTRUE(law$flat) && !isTRUE(law$truncated)) law <- as_wide(law, error)
  worst <- error
  if (largest && isTRUE(law$truncated)) {
    drawn <- shrink_draws(law, 0)
    error <- min(error, sum(drawn$w * drawn$apart))
  }
  prior <- shrink_prior(law, radius, error)
  errors <- moved_errors(M, law, prior, radius, center)
  if (isTRUE(max(errors) <= SHRINK_WORST * worst)) list(law = law, prior = prior, errors = errors)
}

# the rule, quick for many
quick_guess <- function(law, prior, radius) {
  top <- if (isTRUE(law$truncated)) radius else max(law$distances$x) + radius
  if (law$k > 0) top <- min(top, pi)
  grid <- top * (seq_len(41) - 1) / 40
  stats::approxfun(grid, guessed_length(law, prior, grid), rule = 2)
}

# The same where noise is drawn in the flat tangent space and exp stretches what comes of it: by quadrature in
# hyperbolic space, else by simulation with a fixed seed (section 4)
bent_errors <- function(M, law, prior, radius, center, at = (0:4) / 4) {
  guess <- quick_guess(law, prior, radius)
  if (model_everywhere(mf_facts(M)) == "hyperbolic") {
    return(vapply(at * radius, function(t) wrapped_quadrature(M, NULL, t, NULL, law$distances, guess), 0))
  }
  far <- law$distances
  with_simulation(1, {
    noise <- matrix(stats::rnorm(4000 * law$dimension), 4000)
    noise <- noise / sqrt(rowSums(noise^2)) * far$x[sample.int(length(far$x), 4000, TRUE, far$w)]
    tangent_errors(M, noise, center, at * radius, guess)
  })
}

# mean errors for means at 0, 1/4, ... of the radius from the centre
shrunk_errors <- function(law, prior, radius, at = (0:4) / 4) {
  guess <- quick_guess(law, prior, radius)
  vapply(at * radius, function(t) {
    drawn <- shrink_draws(law, t)
    length <- guess(drawn$rho)
    s <- side(law$k, drawn$rho) * side(law$k, t)
    cosine <- ifelse(s > 0, 1 - 2 * (side(law$k, drawn$apart / 2)^2 - side(law$k, (drawn$rho - t) / 2)^2) / s, 1)
    sum(drawn$w * third_side(law$k, length, t, pmin(pmax(cosine, -1), 1)))
  }, 0)
}

# a release with another value, made of the one drawn
post_processed <- function(r, value, what) {
  if (is.null(r$released)) r$released <- r$value # what regions are about
  r$value <- value
  r$post_processed <- c(r$post_processed, what)
  r
}
