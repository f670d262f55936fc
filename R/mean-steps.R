# The Frechet mean by a public number of steps: how many, of what length, and a proven bound of all its rounding errors.
# From public quantities only. Every private mean whose label promises something rests on it. The theorems, and where
# each constant comes from: inst/proofs/mean-solver.md.

UNIT_ROUNDOFF <- 2^-53
MOST_STEPS <- 1e5

# Why a plan that rests on the package's own solver without such bounds would promise nothing, or NULL. Its own
# manifolds all have them; a user's has a reason of its own.
unproven_mean <- function(M, plan) {
  if (is.null(plan$numbers) && isTRUE(plan$solver_error > 0) && !of_user(M)) {
    sprintf("no bound of the mean's rounding errors is proven on %s", label_manifold(M))
  }
}

# what the bounds take for granted
steps_assumptions <- function(M, plan) {
  numbers <- plan$numbers
  if (is.null(numbers)) return(NULL)
  model <- if (numbers$tangent) "flat" else .Call(riemdp_steps_model, M)
  c(
    "the coordinates computed for one record don't depend on the others",
    if (model != "flat") paste("IEEE 754 double precision; sin, cos, sinh, cosh, asin, asinh, atan2 to 32 units in the",
                               "last place"),
    if (widest_product(M, model) > 128) "matrix products of the BLAS in use have the usual error bound"
  )
}

# the largest dimension of the matrices that are multiplied
widest_product <- function(M, model) {
  if (model == "product") {
    return(max(vapply(part_leaves(M), function(leaf) widest_product(leaf$M, .Call(riemdp_steps_model, leaf$M)), 0)))
  }
  facts <- mf_facts(M)
  if (startsWith(model, "stiefel")) return(max(facts$rows - facts$cols, 2 * facts$cols))
  if (model %in% c("spd", "hermitian", "grassmann", "bures")) steps_rows(model, facts) else 0
}

# of the matrices of a model, complex ones as real ones of twice the size
steps_rows <- function(model, facts) {
  if (facts$rows == 0 || model %in% c("flat", "sphere", "planar")) return(1)
  facts$rows * if (model == "hermitian") 2 else 1
}

# Rounding errors in the model spaces, as distances, at most: `gradient`, of the computed gradient at a point of the
# ball whose coordinates are given; `place`, of the point that the step from there leads to. `t`: length of the step;
# `unit`: what sums are rounded to.
steps_errors <- function(model, d, r, t, unit, k, base, terms, p = 0, lift = NULL) {
  u <- UNIT_ROUNDOFF
  quant <- sqrt(d) * unit
  slip <- 40 * (d + 2)^2 * exp(r) * u^2 # of inner products in twice the precision
  switch(model,
    sphere = {
      log <- 2 * r * ((16 * d + 900) * u + slip)
      list(gradient = log + quant + 8 * r * u, place = 1.01 * (2 * log + quant + 8 * r * u))
    },
    planar = list(gradient = (18 * d + 2000) * u + quant, place = (40 * d + 4000) * u + quant),
    hyperbolic = {
      nu <- (d / 2 + 6) * u
      log <- 2 * r * (nu * (9 + 12 * r) + (800 + 10 * d) * u + slip)
      gradient <- log + quant + 8 * r * u
      reach <- 2.02 * r * t
      across <- 2.9 * r * nu * (1 + sinh(reach)) + sinh(reach) * (nu * (5 + 5 * r) + (490 + 7 * d) * u + slip)
      list(gradient = gradient, place = 1.01 * (sinhc_r(reach) * t * gradient + log + across + 6 * u * sinh(1.01 * r)))
    },
    spd = spd_errors(r, t, quant, k, base, terms),
    hermitian = spd_errors(r, t, quant, k, base, terms, sqrt(2)),
    grassmann = {
      range <- subspace_range(r)
      off <- subspace_off(k, p)
      angle <- acos(1 - range$top)
      h <- angle / sin(angle)
      g <- (1 - angle / tan(angle)) / sin(angle)^2
      sum <- 1 / (1 - range$top / 2)
      logs <- 1.02 * (g * (1.1 * p^2 + 2.1 * sqrt(p)) + sum^2 * (0.6 * p^2 + 2.6 * sqrt(p)) + 1.7 * p^2 * h) * u +
        sqrt(p) * sum * (range$top / 2)^(terms + 1)
      lipschitz <- 1.03 * (angle / 2 / sin(angle / 2) + h + 2 * g)
      gradient <- lipschitz * off + logs + quant + 8 * r * u
      list(gradient = gradient, place = 1.01 * (gradient + lipschitz * off + logs))
    },
    bures = {
      log <- 1.01 * lift$top * lift$error + 1.03 * k^1.5 * u * lift$size
      gradient <- 2.02 * lift$factor + log + 2.2 * u * r + k * unit + 8 * r * u
      list(gradient = gradient,
           place = 1.01 * (lift$factor + t * gradient + u * (lift$size + 3 * r)) + log + 13 * u * r)
    },
    stiefel = {
      gradient <- lift$error + quant + 8 * r * u
      list(gradient = gradient, place = 1.01 * (t * gradient + 3 * r * u) + lift$error)
    },
    flat = { # a part of a product that isn't flat
      gradient <- 2.1 * r * u + quant + 8 * r * u
      list(gradient = gradient, place = t * gradient + 3.1 * r * u)
    },
    stiefel_euclidean = { # curvature from -1/2
      gradient <- lift$error + quant + 8 * r * u
      c <- sqrt(0.5)
      list(gradient = gradient,
           place = 1.01 * (sinhc_r(1.03 * c * r) * (t * gradient + 3 * r * u) + sinhc_r(1.01 * c * r) * lift$error))
    }
  )
}

# Positive definite matrices: of their exponentials, and of logarithms by a series, both by the matrix's size. root: how
# many times as long as they are tangent vectors are that are computed with, real forms of Hermitian matrices
spd_errors <- function(r, t, quant, k, base, terms, root = 1) {
  u <- UNIT_ROUNDOFF
  power <- max(1, 8 * root * r)
  exps <- function(R) (1.1 * power * (k^2 + 2 * k * sqrt(k) + 10 * sqrt(k)) + 2.2 * root * R) * u
  half <- 1.001 * r
  logs <- function(R) {
    (22 * (k + 4) * k * (1 + exp(R)) * cosh(R / 2)^2 + cosh(half / 2)^4 * (28 * k^2 + 80 * k) +
       2 * half * sqrt(k) * (3 * terms + 80) + 8 * sqrt(k) * cosh(half)^2) * u +
      4 * sqrt(k) * base^(2 * terms + 1) / ((2 * terms + 1) * (1 - base^2))
  }
  reach <- 2.02 * r * t
  there <- 1.02 * (exp(2 * r) * (1.01 * exps(r) + 2.02 * exps(r / 2)) +
                   k^2 * u * (1.03 * exp(3 * r) + 1.04 * exp(4 * r)))
  back <- 1.02 * (2.02 * exp(r + reach) * exps(r / 2) + 1.01 * exp(2 * reach) * exps(reach) +
                    k^2 * u * (1.03 * exp(r + 2 * reach) + 1.05 * exp(2 * r + reach)))
  c <- sqrt(0.5)
  stretch <- sinhc_r(1.01 * c * r)
  own <- if (root > 1) 8 * r * u else 0 # of the way from the real form back
  gradient <- (there + logs(2 * half)) / root + own + quant + 8 * r * u
  off <- (if (root > 1) stretch else 1) * back / root + stretch * (logs(1.01 * r) / root + own)
  list(gradient = gradient, place = 1.01 * (sinhc_r(c * reach) * t * gradient + off))
}

# Error of exp(X) as it acts on a frame of p columns and l other rows, by series of at most norm 1.6 each: y bounds X's
# spectral norm
turned_frame <- function(y, l, p) {
  parts <- max(1, ceiling(y / 1.6))
  x <- y / parts
  parts * 1.03 * sqrt(p) * exp(x) * (2.1 + (l + 4 * p + 16) * (x + x^2 / 2)) * UNIT_ROUNDOFF
}

# Stiefel manifolds: how many steps follow a logarithm on its way, and as many where it ends; their contraction q; what
# it may be off by. `near`: how far from it a step starts; `each`: what one step may be off by
followed_steps <- function(r, k_max, near, q, each) {
  angle <- 2.02 * r * sqrt(k_max)
  speed <- 1.03 * r * angle / sin(angle)
  terms <- ceiling(max(speed / (0.97 * (1 - q) * near), log(near / (1e-16 * r)) / -log(q)))
  if (!(each <= min(0.02 * (1 - q) * near, 1e-3))) return(list(terms = Inf))
  list(terms = terms, q = q, error = 1.01 * each / (1 - q) + 1e-16 * r)
}

# canonical metric
frame_steps <- function(r, n, p, k_max) {
  bend <- function(x) if (x < 0.1) x / 2 else sqrt(1 - 2 * sin(x) / x + (2 * sin(x / 2) / x)^2) # |1 - (1 - e^-ix)/(ix)|
  near <- min(0.2 * r, 0.18 * (1 - bend(2.02 * sqrt(2) * r)))
  widest <- sqrt(2) * (2.02 * r + near)
  q <- (bend(widest) + sqrt(2) * near) * (1 + 1e-9)
  if (!(q < 0.97 && widest <= 2.028)) return(list(terms = Inf))
  each <- 2 * turned_frame(1.04 * r, n - p, p) + turned_frame(2.23 * r, n - p, p) + 6 * r * UNIT_ROUNDOFF
  followed_steps(r, k_max, near, q, each)
}

# Euclidean metric, by parallel transport: curvature of size `bend` at most
transported_steps <- function(r, n, p, k_max, bend) {
  top <- function(z) sinhc_r(sqrt(bend) * z)
  near <- min(0.2 * r, 0.07 * (2 - top(2.02 * r)))
  grow <- 3.13 * 2.23 * r # of the errors of the transport's series
  slip <- 1e-11 + (1.5 * grow + 6) * exp(grow) * (n + 20) * (1 + sqrt(p)) * UNIT_ROUNDOFF
  q <- (top(2.02 * r + near) * (1 + 4.25 * near) - 1) * (1 + 1e-9) + 2 * slip
  if (!(near > 0 && q < 0.97)) return(list(terms = Inf))
  both <- function(y) { # the right factor as well
    1.01 * (turned_frame(y, n - p, p) + turned_frame(y, 0, p)) + 1.02 * p^2 * UNIT_ROUNDOFF
  }
  followed_steps(r, k_max, near, q, 2 * both(1.46 * r) + both(3.15 * r) + 8 * r * UNIT_ROUNDOFF)
}

# Products B'A of two factors of points in the ball around diag(roots^2): how many steps X(3 - X'X)/2 come to their
# polar factors, and how far from them as computed; what factors themselves may be off by, and bounds of their two norms
polar_steps <- function(roots, r) {
  u <- UNIT_ROUNDOFF
  k <- length(roots)
  size <- sqrt(sum(roots^2)) + 1.01 * r
  top <- max(roots) + 1.01 * r
  scale <- 1 / (top^2 * (1 + 1e-6))
  factor <- 7 * u * size
  step <- (2.1 * k^2 + 1.6 * sqrt(k)) * u
  first <- scale * (1.02 * k * u * size^2 + 2.1 * factor * top) + 1.01 * sqrt(k) * u
  least <- scale * (min(roots) - 1.01 * r)^2 - first # of the singular values
  if (!(least > 100 * first && first < 5e-7 && step < 1e-7 && size < 2^100)) return(list(terms = Inf))
  error <- first / least
  terms <- 0
  repeat {
    gap <- max(1.5 * (1 - least)^2, 8 * step^2) # after the next step
    least <- min(0.5 * least * (3 - least^2), 1 - 8 * step^2) - step
    error <- error + step / least
    terms <- terms + 1
    if (gap < u / 2 || terms > 1000) break
  }
  list(terms = terms, error = (error + sqrt(k) * (gap + step)) * (1 + 1e-9), factor = factor, top = top, size = size)
}

# Subspaces within 2r of the centre: 1 - cos of twice a principal angle, with room for errors
subspace_range <- function(r) {
  top <- 1 - cos(4 * r)
  room <- 1e-3 * (2 - top)
  list(top = top + room, room = room)
}

# terms of the series of a logarithm of subspaces; none do where a basis may be off by more than there is room
subspace_terms <- function(r, n, p) {
  range <- subspace_range(r)
  if (!(5.1 * subspace_off(n, p) <= range$room)) return(Inf)
  ceiling(max(1, log(1e-13 * r * (1 - range$top / 2)) / log(range$top / 2)))
}

# error of a carried basis: p columns in n rows
subspace_off <- function(n, p) {
  l <- n - p
  (10 * p^1.5 + 30 * sqrt(p) + 3 * l + 3 * p^2 + 8 * p^1.5 + 30 * sqrt(p) + 3 * l * sqrt(p)) * UNIT_ROUNDOFF
}

# What the parts of a product are planned for: of each the model, facts, the ball that holds the parts of all points of
# the product's ball, and series
product_series <- function(M, ball) {
  parts <- lapply(seq_along(ball$parts), function(i) {
    leaf <- ball$parts[[i]]
    facts <- mf_facts(leaf$M)
    own <- list(radius = outwards(ball$radius / sqrt(leaf$weight)), k_min = facts$k_min,
                k_max = min(facts$k_max, outwards(ball$k_max * leaf$weight)), roots = leaf$roots)
    model <- .Call(riemdp_steps_model, leaf$M)
    c(list(model = model, facts = facts, ball = own, weight = leaf$weight), steps_series(model, facts, own))
  })
  why <- unlist(lapply(parts, `[[`, "why"))
  list(why = why[1], parts = parts, terms = max(vapply(parts, function(p) p$terms %||% 1, 0)))
}

# Errors of a product are those of its parts, as its metric adds them up; `unit` and conversions of coordinates are
# errors of each (proofs/products.md, section 3)
product_errors <- function(parts, d, r, t, unit) {
  rest <- sqrt(max(d, 1)) * unit + 14 * r * UNIT_ROUNDOFF
  each <- lapply(parts, function(p) {
    own <- rest / sqrt(p$weight * p$facts$dimension)
    steps_errors(p$model, p$facts$dimension, p$ball$radius, t, own, p$k, p$base, p$terms, p$facts$cols, p$lift)
  })
  total <- function(what) {
    sqrt(sum(mapply(function(p, e) p$weight * e[[what]]^2, parts, each))) * (1 + 1e-9)
  }
  list(gradient = total("gradient"), place = total("place"))
}

# numbers of the parts for the C code
product_numbers <- function(parts, numbers) {
  lapply(parts, function(p) {
    own <- utils::modifyList(numbers, list(radius = p$ball$radius, terms = p$terms))
    if (p$model %in% c("spd", "hermitian")) own$base <- p$base
    if (p$model == "bures") own$roots <- p$ball$roots
    own
  })
}

# Length and number of the steps, their contraction and the largest eigenvalue of the energy's Hessian, for iterates
# whose energy may exceed that of the centre a little: as if records were at most (1 + room) r from it in the mean
# square
steps_length <- function(ball, room) {
  r <- ball$radius
  rho <- r * sqrt(max(ball$k_max, 0))
  far <- r * (1 + room) * sqrt(max(-ball$k_min, 0))
  zeta <- coth_factor(far)
  h <- 1 - 0.25 * (1 - cot_factor(2 * rho)) * (1 + room)^2
  step <- min(cot_factor(rho) / zeta, 2 / (zeta * (zeta + h))) * (1 - 1e-12)
  q <- sqrt((1 - step * h)^2 + (zeta - 1) * (step * h)^2) * (1 + 1e-9) + 1e-9
  list(step = step, q = q, zeta = zeta, count = if (q < 1) ceiling(log(1e-12) / log(q)) else Inf)
}

# Of the mean of n records in the ball: the numbers that the C code takes; `error`, a bound of its coordinates' error,
# and `distance`, of its distance from the exact mean; `gradient`, of the error of a computed gradient, and `slope`, of
# what the mean's own gradient and that error come to together. Or `why` there are no such bounds. target "tangent": the
# mean of the coordinates themselves. lattice: as lattice mode wants it, around the centre as it is, else around the
# reference point.
mean_steps <- function(M, ball, n, target = "frechet", lattice = FALSE) {
  model <- if (of_user(M)) {
    "none"
  } else if (target == "tangent") {
    "flat"
  } else if (has_no_model(M)) {
    "none"
  } else {
    .Call(riemdp_steps_model, M)
  }
  facts <- mf_facts(M)
  r <- ball$radius
  no <- function(...) list(why = paste0(...), model = model)
  if (model == "none") {
    return(no("there is no proven bound of the mean's rounding errors on ", label_manifold(M)))
  }
  if (!(r >= 2^-100 && r <= 2^100)) return(no("the radius must be between 2^-100 and 2^100"))
  if (n > 2^31) return(no("there is no room for sums of more than 2^31 records"))
  bits <- room_bits(r)
  unit <- 2^-bits
  numbers <- list(radius = r, step = 1, steps = 1, bits = bits, base = 0, terms = 1, accept = 0, carried = !lattice,
                  tangent = target == "tangent")
  if (model == "flat") {
    error <- 4 * UNIT_ROUNDOFF * r
    return(list(numbers = numbers, error = error, distance = error, gradient = 2 * error,
                slope = 4 * error, model = model, steps = 1))
  }
  series <- if (model == "product") product_series(M, ball) else steps_series(model, facts, ball)
  if (!is.null(series$why)) return(no(series$why))
  s <- fitting_steps(model, facts, ball, series, unit)
  if (!is.null(s$why)) return(no(s$why))
  errors <- s$errors
  rho <- r * sqrt(max(ball$k_max, 0))
  across <- cot_factor(2 * rho)
  # a mean found otherwise is taken where its computed gradient is no longer than `accept`
  accept <- max(1e-11 * r, 4 * errors$gradient + 4 * s$zeta * s$rounding)
  distance <- max(settled_distance(s, r), ((1 + 1e-6) * accept + errors$gradient) / across) + s$convert
  numbers[c("step", "steps", "terms", "accept")] <- list(s$step, s$count, series$terms, accept)
  if (model %in% c("spd", "hermitian")) numbers$base <- series$base
  if (model == "bures") numbers$roots <- ball$roots
  if (model == "product") numbers$parts <- product_numbers(series$parts, numbers)
  list(numbers = numbers,
       error = outwards((if (rho > 0) rho / sin(rho) else 1) * distance), distance = outwards(distance),
       gradient = outwards(errors$gradient), slope = outwards(s$zeta * (distance + s$rounding) + 2 * errors$gradient),
       model = model, steps = s$count)
}

# of all steps, each of which is off by eta
settled_distance <- function(s, r) s$q^s$count * r + s$eta / (1 - s$q)

# How far the series and iterations of a model's logarithms go: list(k, base, terms, lift), where `lift` is what carries
# frames or polar factors; or `why` there are no useful bounds.
steps_series <- function(model, facts, ball) {
  r <- ball$radius
  k <- steps_rows(model, facts)
  base <- tanh(1.001 * r / 2)
  lift <- if (model == "bures") polar_steps(ball$roots, r)
  if (model %in% c("stiefel", "stiefel_euclidean")) {
    lift <- if (model == "stiefel") frame_steps(r, k, facts$cols, ball$k_max) else
      transported_steps(r, k, facts$cols, ball$k_max, max(ball$k_max, -ball$k_min))
  }
  if (!is.null(lift) && !is.finite(lift$terms)) {
    return(list(why = if (model == "bures") "the centre's eigenvalues are too far apart, or too far from 1" else
      "logarithms on this manifold have no useful bound of rounding errors in a ball of this radius"))
  }
  # series whose last term is below 1e-13 of the radius
  terms <- if (model %in% c("spd", "hermitian")) {
    ceiling(max(1, log(1e-13 * r * (1 - base^2) / (4 * sqrt(k))) / (2 * log(base))))
  } else if (model == "grassmann") subspace_terms(r, k, facts$cols) else lift$terms %||% 1
  list(k = k, base = base, terms = terms, lift = lift)
}

# The step and its contraction, with room for perturbed steps: as little of it as will do. With the rounding errors of
# one step and of what surrounds it; or `why` there is no room that holds them.
fitting_steps <- function(model, facts, ball, series, unit) {
  d <- facts$dimension
  r <- ball$radius
  for (room in c(1e-4, 1e-2)) {
    s <- steps_length(ball, room)
    if (!(s$count <= MOST_STEPS && series$terms <= 5000)) {
      return(list(why = sprintf("a ball of this radius would take %.3g steps: choose a smaller `radius`",
                                max(s$count, series$terms))))
    }
    parts <- series$parts
    errors <- if (is.null(parts)) {
      steps_errors(model, d, r, s$step, unit, series$k, series$base, series$terms, facts$cols, series$lift)
    } else {
      widest <- sum(vapply(parts, function(p) if (p$model == "bures") p$facts$ambient else p$facts$dimension, 0))
      product_errors(parts, widest, r, s$step, unit)
    }
    # the step, the way back into the ball, and the rounding of the coordinates; a product's have another length than
    # its parts'
    stretch <- sinhc_r(1.001 * r * sqrt(max(-ball$k_min, 0)))
    convert <- if (is.null(parts)) 0 else 4 * UNIT_ROUNDOFF * r * stretch
    rounding <- 10 * (d + 8) * UNIT_ROUNDOFF * r + (2 * UNIT_ROUNDOFF * r + sqrt(d) * unit) * stretch + convert
    eta <- 2 * errors$place + rounding
    fits <- is.finite(eta) && eta <= 0.5 * room * r / s$count && eta / (1 - s$q) <= room * r &&
      errors$gradient <= 1e-3 * r
    if (fits) return(c(s, list(errors = errors, rounding = rounding, eta = eta, convert = convert)))
  }
  list(why = "rounding errors have no useful bound in a ball of this radius: choose another `radius`")
}

# one point a unit: the Frechet mean of its records in the public ball, which lies there (proofs/mean-sensitivity.md,
# section 13)
unit_means <- function(M, x, units, center, ball) {
  steps <- mean_steps(M, ball, 1)
  if (!is.null(steps$why)) abort_riemdp("unsupported", paste0("no mean of a unit's records: ", steps$why, "."))
  coords <- if (is_chunks(x)) chunk_unit_coords(M, x, units, center, steps$numbers) else
    .Call(riemdp_unit_coords, M, x, center, steps$numbers, units$of, units$count)
  .Call(riemdp_unit_points, M, if (!is_chunks(x)) x, center, steps$numbers, coords)
}
