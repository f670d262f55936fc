# Privacy profile of the Riemannian Gaussian law: delta as a function of epsilon for two centres at a given distance, as
# upper bounds of integrals over the radius. Why they are bounds: proofs/gaussian.md. Every integral is a sum over
# cells; in a cell the radial density lies between log-linear interpolation and that times exp(curvature), the angular
# probability within its chord plus or minus h^2/8 times a bound of its second derivative. Those bounds come from
# interval arithmetic.

# ---- interval arithmetic on vectors: list(lo, hi), every operation rounded outwards (proofs/gaussian.md, section 4) --

BASIC <- 2^-51 # what is taken off and added after + - * / and square roots, relative to the result
LIBRARY <- 2^-46 # after functions of the C library

iv_out <- function(lo, hi = lo, by = BASIC) list(lo = lo - (abs(lo) * by + 1e-300), hi = hi + (abs(hi) * by + 1e-300))
iv <- function(lo, hi = lo) list(lo = lo, hi = hi) # as they are
iv_ends <- function(a, b, by) iv_out(pmin.int(a, b), pmax.int(a, b), by) # range of a monotone function from its ends
iv_add <- function(x, y) iv_out(x$lo + y$lo, x$hi + y$hi)
iv_sub <- function(x, y) iv_out(x$lo - y$hi, x$hi - y$lo)
iv_mul <- function(x, y) {
  a <- x$lo * y$lo
  b <- x$lo * y$hi
  c <- x$hi * y$lo
  d <- x$hi * y$hi
  iv_out(pmin.int(a, b, c, d), pmax.int(a, b, c, d))
}
iv_over <- function(x) iv_out(1 / x$hi, 1 / x$lo) # of a positive x
iv_scale <- function(x, s) if (s >= 0) iv_out(x$lo * s, x$hi * s) else iv_out(x$hi * s, x$lo * s)
iv_square <- function(x) {
  a <- x$lo^2
  b <- x$hi^2
  iv_out(ifelse(x$lo <= 0 & x$hi >= 0, 0, pmin.int(a, b)), pmax.int(a, b))
}
iv_meet <- function(x, lo, hi) iv(pmax.int(x$lo, lo, na.rm = TRUE), pmin.int(x$hi, hi, na.rm = TRUE))
# from nodes to cells, for what is monotone on each
iv_cells <- function(x) {
  n <- length(x$lo)
  iv(pmin.int(x$lo[-n], x$lo[-1]), pmax.int(x$hi[-n], x$hi[-1]))
}
# the same for arguments that grow
iv_between <- function(x) iv(x$lo[-length(x$lo)], x$hi[-1])

# ---- geometry of the comparison space: curvature k = 1 or -1 ---------------------------------------------------------

sn <- function(k, x) if (k > 0) sin(x) else sinh(x)
cs <- function(k, x) if (k > 0) cos(x) else cosh(x)
snc <- function(k, x) either(abs(x) < 1e-4, 1 - k * x^2 / 6, sn(k, x) / x)
# (cs - snc)/x^2, where small by its series
csq <- function(k, x) {
  y <- -k * x^2
  series <- -k * (1 / 3 +
                  y * (1 / 30 + y * (1 / 840 +
                                     y * (1 / 45360 + y * (1 / 3991680 + y * (1 / 518918400 + y / 93405312000))))))
  either(abs(x) < 0.5, series, (cs(k, x) - snc(k, x)) / x^2)
}

# range of sn over [a, b] in [0, pi]
iv_sn <- function(k, x) {
  out <- iv_ends(sn(k, x$lo), sn(k, x$hi), LIBRARY)
  if (k > 0) out$hi[x$lo < 1.5708 & x$hi > 1.5707] <- 1
  out
}

# The radial law: dimension d, curvature k, for shapes ("cp") the extra factor cos; `bound` is the growth of a bounding
# law rho^plain sinh(c rho)^pairs, of SPD and of products.
profile_space <- function(M) {
  facts <- mf_facts(M)
  if (!facts$has_laplace || !facts$homogeneous) return(NULL)
  d <- facts$dimension
  if (facts$k_min == 0 && facts$k_max == 0 && facts$injectivity_radius == Inf) {
    return(list(kind = "flat", d = d))
  }
  # matrices, products with them: a bound of the law
  if (facts$model %in% c("spd", "hermitian", "product")) return(bounded_space(part_growth(M), d))
  switch(model_everywhere(facts),
    grassmann = list(kind = "hinge", d = d),
    sphere = if (d == 1) list(kind = "circle", d = 1) else
      list(kind = "curved", k = 1, d = d, top = pi, unit = 1, cp = FALSE),
    hyperbolic = if (d == 1) list(kind = "flat", d = 1) else
      list(kind = "curved", k = -1, d = d, top = Inf, unit = 1, cp = FALSE),
    # CP^1 is the sphere of radius 1/2
    planar = if (d == 2) list(kind = "curved", k = 1, d = 2, top = pi, unit = 2, cp = FALSE) else
      list(kind = "curved", k = 1, d = d, top = pi / 2, unit = 1, cp = TRUE),
    NULL
  )
}

bounded_space <- function(g, d) {
  if (g$curved == 0) return(list(kind = "hinge", d = d))
  list(kind = "bound", d = d, plain = d - 1 - g$curved, pairs = g$curved, rate = sqrt(g$bend / g$curved), top = Inf,
       unit = 1)
}

# log of the radial density (up to a constant), its slope, on cells a bound of minus its second derivative and of its
# size; and the sum of the absolute values of the terms of the log, to which its rounding is proportional
radial_law <- function(space, sigma) {
  if (space$kind == "bound") {
    c <- space$rate
    log_sinh <- function(x) x + log(-expm1(-2 * x)) - log(2)
    return(list(
      log = function(x) ifelse(x > 0, space$plain * log(x) + space$pairs * log_sinh(c * x), -Inf) - x^2 / (2 * sigma^2),
      slope = function(x) space$plain / x + space$pairs * c / tanh(c * x) - x / sigma^2,
      bend = function(a, b) space$plain / a^2 + space$pairs * c^2 / sinh(pmin.int(c * a, 300))^2 + 1 / sigma^2,
      most = function(a, b) space$plain * log(b) + space$pairs * log_sinh(c * b) - a^2 / (2 * sigma^2),
      size = function(x) space$plain * (1 + abs(log(x))) + space$pairs * (2 + 4 * c * x + abs(log_sinh(c * x))) +
        x^2 / (2 * sigma^2)
    ))
  }
  k <- space$k
  power <- space$d - 1
  log_sn <- function(x) if (k > 0) log(pmax.int(sin(x), 0)) else x + log(-expm1(-2 * x)) - log(2)
  log_cs <- function(x) if (space$cp) log(pmax.int(cos(x), 0)) else 0
  list(
    log = function(x) power * log_sn(x) + log_cs(x) - x^2 / (2 * sigma^2),
    slope = function(x) power / (if (k > 0) tan(x) else tanh(x)) - (if (space$cp) tan(x) else 0) - x / sigma^2,
    bend = function(a, b) {
      power / pmin.int(sn(k, a), sn(k, b))^2 + (if (space$cp) 1 / pmax.int(cos(b), 0)^2 else 0) + 1 / sigma^2
    },
    most = function(a, b) power * (if (k > 0) log(iv_sn(k, iv(a, b))$hi) else log_sn(b)) + log_cs(a) -
      a^2 / (2 * sigma^2),
    size = function(x) power * (2 + 2 * (k < 0) * x + abs(log_sn(x))) + 1 + abs(log_cs(x)) + x^2 / (2 * sigma^2)
  )
}

# where a concave function changes the sign of its slope, in (lo, hi); `hi` may be Inf
concave_mode <- function(slope, hi, start) {
  if (!is.finite(hi)) {
    hi <- start
    while (slope(hi) > 0) hi <- 2 * hi
  }
  lo <- hi * 1e-300
  for (i in 1:200) {
    mid <- (lo + hi) / 2
    if (mid == lo || mid == hi) break # no double lies between
    at <- slope(mid)
    if (is.nan(at) || at <= 0) hi <- mid else lo <- mid
  }
  (lo + hi) / 2
}

# where a decreasing log density has dropped by `drop` below its value at `from`
drop_point <- function(f, from, top, drop) {
  target <- f(from) - drop
  step <- if (from > 0) from / 4 else top / 4
  far <- min(top, from + step)
  while (f(far) > target) {
    if (far >= top) {
      return(top)
    }
    step <- 2 * step
    far <- min(top, from + step)
  }
  top <- far
  lo <- from
  for (i in 1:80) {
    mid <- (lo + top) / 2
    if (mid == lo || mid == top) break # no double lies between
    if (f(mid) > target) lo <- mid else top <- mid
  }
  top
}

# integrals over [0, 1] of exp(s u) and u exp(s u)
exp_moments <- function(s) {
  series <- 0
  for (k in 20:0) series <- 1 / (k + 2) + series * s / (k + 1)
  list(either(abs(s) < 1e-9, 1 + s / 2, expm1(s) / s), either(abs(s) < 1, series, (exp(s) * (s - 1) + 1) / s^2))
}

# How far the log density, less `shift`, may be off at x: a bound
radial_rounding <- function(law, shift, x) either(x > 0, 2^-46 * (law$size(x) + abs(shift)), 0)

# Lower and upper bound of the integral of g psi over a mesh: psi at the nodes; `bend` bounds |psi''| on the cells in
# the direction that matters, `range` holds psi on the cells. CELL: what its arithmetic and psi may be off by, relative
# to each term.
CELL <- 1e-11
cell_sums <- function(law, shift, x, psi, bend, range) {
  n <- length(x)
  a <- x[-n]
  b <- x[-1]
  h <- b - a
  value <- law$log(x) - shift
  off <- radial_rounding(law, shift, x)
  up <- 1 + 2 * (CELL + pmax.int(off[-n], off[-1]))
  down <- 2 - up
  ga <- exp(value[-n])
  gb <- exp(value[-1])
  curve <- h^2 / 8 * law$bend(a, b)
  s <- value[-1] - value[-n]
  smooth <- ga > 0 & gb > 0 & is.finite(curve) & curve < 0.2 & abs(s) < 30
  crude <- up * h * exp(law$most(a, b) - shift)
  s <- either(smooth, s, 0)
  m <- exp_moments(s)
  mass <- either(smooth, h * ga * m[[1]], 0)
  mass_lo <- down * mass
  mass_hi <- either(smooth, pmin.int(up * exp(curve) * mass, crude), crude)
  chord <- h * ga * (psi[-n] * m[[1]] + (psi[-1] - psi[-n]) * m[[2]])
  off <- either(is.finite(bend), h^2 / 8 * bend * up, Inf)
  smooth <- smooth & is.finite(off)
  top <- either(smooth, up * exp(curve) * chord + mass_hi * off, Inf)
  bottom <- either(smooth, down * chord - mass_hi * off, -Inf)
  list(lo = sum(pmax.int(bottom, mass_lo * range$lo, 0)), hi = sum(pmin.int(top, mass_hi * range$hi)))
}

# what is left of rounding: sums, quotients and exp(epsilon)
ROUNDING <- 1e-10
CELLS <- 2000

# small mu: the two tails nearly cancel; high dimension: the angular law is steep. Both want smaller cells for the same
# excess.
profile_cells <- function(space, sigma, far) {
  2 * ceiling(CELLS / 2 * min(4, max(1, sqrt(0.05 * sigma / far)) * max(1, (space$d / 50)^0.25)))
}

# Bounds of the normaliser, and what every epsilon needs of the law.
profile_setup <- function(space, sigma, cells) {
  law <- radial_law(space, sigma)
  mode <- concave_mode(law$slope, space$top, sigma * sqrt(space$d))
  shift <- law$log(mode)
  lo <- drop_point(function(x) law$log(mode - x), 0, mode, 80)
  lo <- mode - lo
  hi <- drop_point(law$log, mode, space$top, 80)
  x <- seq(lo, hi, length.out = cells + 1)
  if (lo < mode * 1e-6) x[1] <- 0
  if (space$kind != "bound" && space$k > 0 && space$top - hi < 1e-9) x[cells + 1] <- space$top
  one <- rep(1, cells + 1)
  z <- cell_sums(law, shift, x, one, rep(0, cells), iv(one[-1]))
  beyond <- if (hi < space$top) exp(law$log(hi) - shift) / -law$slope(hi) else 0
  list(law = law, mode = mode, shift = shift, lo = z$lo, hi = z$hi + 1.01 * (x[1] * exp(law$log(lo) - shift) + beyond))
}

# nodes between from and to, dense near `from`, where the angular probability starts like a power
graded <- function(from, to, cells) from + (to - from) * seq(0, 1, length.out = cells + 1)^2

# Enclosures of the cosine c = c(rho) at the nodes x (in ascending order, above 0), and of c, c' and c'' on the cells
# between them; `two` = 2 sigma^2 t and `far` are exact. Where D isn't real there is no c, and nothing is said.
angle_cells <- function(k, far, two, x) {
  n <- length(x)
  over_far_sn <- iv_over(iv_out(sn(k, far), by = LIBRARY))
  far_cs <- iv_out(cs(k, far), by = LIBRARY)
  far_tn <- iv_mul(iv_out(sn(k, far / 2), by = LIBRARY), iv_over(iv_out(cs(k, far / 2), by = LIBRARY)))
  rho <- iv(x)
  squared <- iv_add(iv_square(rho), iv(two))
  D <- iv_out(sqrt(pmax.int(squared$lo, 0)), sqrt(pmax.int(squared$hi, 0)))
  D$lo <- pmax.int(D$lo, 0)
  mean <- iv_scale(iv_add(D, rho), 0.5)
  half <- iv_scale(iv_over(mean), two / 4) # (D - rho)/2
  half_sn <- iv_ends(sn(k, half$lo), sn(k, half$hi), LIBRARY)
  node_sn <- iv_out(sn(k, x), by = LIBRARY)
  node_cs <- iv_out(cs(k, x), by = LIBRARY)
  node_cot <- iv_mul(node_cs, iv_over(node_sn))
  cosine_of <- function(cot, mean, half_sn, over_sn) {
    iv_sub(iv_mul(cot, far_tn), iv_mul(iv_mul(iv_mul(iv_sn(k, mean), half_sn), over_sn), iv_scale(over_far_sn, 2)))
  }
  cosine <- cosine_of(node_cot, mean, half_sn, iv_over(node_sn))

  rho <- iv_between(rho)
  over_sn <- iv_over(iv_sn(k, rho))
  COT <- iv_cells(node_cot)
  SNC <- iv_cells(iv_ends(snc(k, D$lo), snc(k, D$hi), LIBRARY))
  Q <- iv_cells(iv_ends(csq(k, D$lo), csq(k, D$hi), 2^-42))
  C <- cosine_of(COT, iv_between(mean), iv_cells(half_sn), over_sn)
  slope <- iv_mul(iv_sub(far_cs, iv_mul(iv_mul(rho, SNC), over_sn)), over_far_sn)
  slope <- iv_sub(slope, iv_mul(C, COT))
  B <- iv_sub(iv_sub(iv_mul(iv_cells(node_cs), far_cs), SNC), iv_mul(iv_square(rho), Q))
  B <- iv_mul(iv_mul(B, over_sn), over_far_sn)
  h <- iv_out(x[-1] - x[-n])
  a <- iv(cosine$lo[-n], cosine$hi[-n])
  b <- iv(cosine$lo[-1], cosine$hi[-1])
  chord <- iv_mul(iv_sub(b, a), iv_over(h))
  for (round in 1:2) {
    second <- iv_sub(iv_sub(B, iv_scale(iv_mul(COT, slope), 2)), iv_scale(C, -k))
    size <- pmax.int(abs(second$lo), abs(second$hi))
    wide <- iv_mul(h, iv(size))$hi
    bow <- iv_mul(h, iv(wide))$hi / 8
    near <- iv_out(chord$lo - wide, chord$hi + wide)
    slope <- iv_meet(slope, near$lo, near$hi)
    near <- iv_out(pmin.int(a$lo, b$lo) - bow, pmax.int(a$hi, b$hi) + bow)
    C <- iv_meet(C, near$lo, near$hi)
  }
  # where doubles hold nothing: anything
  cosine$hi[is.nan(cosine$hi)] <- Inf
  C$lo[is.nan(C$lo)] <- -Inf
  C$hi[is.nan(C$hi)] <- Inf
  list(cosine = cosine, C = C, slope = slope, second = second)
}

# Bound of -(F o c)'' on the cells, Inf where there is none: F' = kappa (1 - c^2)^m for the angle in dimension d
angle_bend <- function(d, on) {
  m <- (d - 3) / 2
  log_kappa <- -lbeta(1 / 2, (d - 1) / 2)
  y <- iv_sub(iv(1), iv_square(on$C)) # 1 - c^2
  y <- iv(pmax.int(y$lo, 0), pmax.int(y$hi, 0))
  power <- function(m) {
    log_y <- pmax.int(-log(y$lo), abs(log(y$hi)))
    iv_ends(exp(log_kappa + m * log(y$lo)), exp(log_kappa + m * log(y$hi)), CELL + 2^-46 * abs(m) * log_y)
  }
  bend <- iv_mul(power(m), on$second)
  if (m != 0) bend <- iv_sub(bend, iv_scale(iv_mul(iv_mul(on$C, power(m - 1)), iv_square(on$slope)), 2 * m))
  ifelse(y$lo > 0 & is.finite(bend$lo), pmax.int(-bend$lo, 0), Inf)
}

# distance beyond which the sphere's far side leaves no loss above `two`/(2 sigma^2)
far_side <- function(top, far, two) {
  round <- 2 * pi - far
  end <- min(top, (round^2 - two) / (2 * round) + 2^-46 * (round + two / round))
  room <- top^2 * (1 + 2^-48) - two
  if (room > 0) min(end, sqrt(room) * (1 + 2^-48)) else -1
}

# of the whole ball of radius `to`, at most
ball_mass <- function(law, shift, to, cells) {
  x <- seq(0, to, length.out = cells + 1)
  one <- rep(1, cells + 1)
  cell_sums(law, shift, x, one, rep(0, cells), iv(one[-1]))$hi
}

# Upper (t > 0: P(L > t)) or lower (t < 0: P(L < t)) bound of the probability that the privacy loss of centre p against
# q, at distance `far`, lies beyond t; law of p, unnormalised. Ends of the mesh that decide something are moved by more
# than they are off.
tail_sums <- function(space, set, sigma, far, t, cells) {
  k <- space$k
  law <- set$law
  top <- space$top
  above <- t >= 0
  two <- iv_out(2 * sigma^2 * t)$lo # a smaller t makes either bound safe, and then this one is exact
  if (above) two <- max(two, 0)
  edge <- (two - far^2) / (2 * far) # P(L > t | rho) = 0 up to here; where negative, 1 up to its absolute value
  blur <- 2^-48 * (abs(two) / far + far)
  start <- if (!above) blur - edge else if (edge < 0) -edge else max(0, edge - blur)
  end <- if (k <= 0) Inf else if (above) far_side(top, far, two) else top
  whole <- 0
  tiny <- 1e-8 * sigma # keeps the mesh off 0, where the cosine has no value
  # the loss exceeds t on the whole ball of radius |edge|; a tiny one counts in full
  if (above && (edge < 0 || start < tiny)) {
    start <- max(start, tiny)
    whole <- ball_mass(law, set$shift, min(start, top), cells)
  }
  if (start >= end || start >= top) {
    return(whole)
  }
  from <- max(start, set$mode)
  if (from >= end) from <- (start + end) / 2
  stop_at <- min(end, drop_point(law$log, max(from, set$mode * (1 + 1e-12)), top, 80))
  if (stop_at <= start) stop_at <- end
  beyond <- if (above && stop_at < end) 1.01 * exp(law$log(stop_at) - set$shift) / -law$slope(stop_at) else 0
  x <- graded(start, stop_at, cells)
  x[cells + 1] <- stop_at
  p <- (space$d - 1) / 2
  cdf <- function(u) stats::pbeta(pmin.int(pmax.int(u, 0), 1), p, p)
  on <- angle_cells(k, far, two, x)
  bend <- angle_bend(space$d, on)
  if (above) {
    up <- function(c) cdf((1 + c) / 2 * (1 + 2^-50))
    whole + beyond + cell_sums(law, set$shift, x, up(on$cosine$hi), bend, iv(0, up(on$C$hi)))$hi
  } else {
    down <- function(c) cdf((1 - c) / 2 * (1 - 2^-50))
    cell_sums(law, set$shift, x, down(on$cosine$hi), bend, iv(down(on$C$hi), 1))$lo
  }
}

# exp(e) p for a probability, where exp(e) alone would overflow; 0 for p = 0, whatever e is
exp_times <- function(e, p) if (p > 0) exp(e + log(p)) else 0

curved_delta <- function(space, sigma, far, epsilon, cells) {
  sigma <- sigma * space$unit
  far <- far * space$unit
  set <- profile_setup(space, sigma, cells)
  vapply(epsilon, function(e) {
    # the loss is (d2 - d1)(d2 + d1)/(2 sigma^2), d2 - d1 <= far, d1 + d2 <= 2 pi - far on spheres and pi on shapes
    if (space$k > 0 && e * 2 * sigma^2 >= far * (2 * space$top - (if (space$cp) 0 else far)) * (1 + 1e-14)) {
      return(0)
    }
    plus <- tail_sums(space, set, sigma, far, e, cells) / set$lo
    minus <- if (e > 0) tail_sums(space, set, sigma, far, -e, cells) / set$hi else
      tail_sums(space, set, sigma, far, -1e-300, cells) / set$hi
    other <- exp_times(e, minus)
    min(1, plus - other + ROUNDING * (plus + other) + 1e-305)
  }, numeric(1))
}

# Any homogeneous space whose radial law is known or bounded: the loss is at most far (2 rho + far)/(2 sigma^2).
bounded_delta <- function(space, sigma, far, epsilon, cells) {
  set <- profile_setup(space, sigma, cells)
  law <- set$law
  vapply(epsilon, function(e) {
    start <- max(0, (2 * sigma^2 * e - far^2) / (2 * far) - 2^-48 * (sigma^2 * e / far + far))
    stop_at <- drop_point(law$log, max(start, set$mode) * (1 + 1e-12), Inf, 80)
    x <- seq(start, stop_at, length.out = cells + 1)
    loss <- far * (2 * x + far) / (2 * sigma^2)
    over <- pmin.int(e - loss - 2^-49 * (e + loss), 0) # what the loss exceeds epsilon by, with its rounding
    psi <- -expm1(over)
    n <- cells + 1
    bend <- (far / sigma^2)^2 * exp(pmin.int(over[-n] + 2^-48 * (e + loss[-n]), 0))
    total <- cell_sums(law, set$shift, x, psi, bend, iv(psi[-n], psi[-1]))$hi
    beyond <- 1.01 * exp(law$log(stop_at) - set$shift) / -law$slope(stop_at)
    min(1, (total + beyond) / set$lo * (1 + ROUNDING) + 1e-305)
  }, numeric(1))
}

# Circle of length 2 pi: the set where the loss exceeds epsilon is one arc.
circle_delta <- function(sigma, far, epsilon) {
  round <- 2 * pi - far
  total <- 2 * stats::pnorm(pi / sigma) - 1
  vapply(epsilon, function(e) {
    if (2 * sigma^2 * e >= far * round * (1 + 1e-14)) {
      return(0)
    }
    from <- sigma^2 * e / round - round / 2 # loss increases up to far - pi, then decreases
    to <- far / 2 - sigma^2 * e / far
    p <- stats::pnorm(to / sigma) - stats::pnorm(from / sigma)
    # q's distance: far - x on the right of its antipode, 2 pi - far + x on the left
    q <- stats::pnorm((to - far) / sigma) - stats::pnorm(-pi / sigma) +
      stats::pnorm((from + 2 * pi - far) / sigma, lower.tail = FALSE) - stats::pnorm(pi / sigma, lower.tail = FALSE)
    other <- exp_times(e, max(q, 0))
    ends <- (far / sigma + sigma * e / far) * stats::dnorm(to / sigma) +
      (round / sigma + sigma * e / round) * stats::dnorm(from / sigma) +
      pi / sigma * stats::dnorm((pi - far) / sigma)
    min(1, max(0, (p - other) / total) + (1e-13 * (stats::pnorm(to / sigma) + other) + 1e-14 * ends) / total + 1e-305)
  }, numeric(1))
}

profile_delta <- function(space, sigma, far, epsilon, cells = profile_cells(space, sigma, far)) {
  switch(space$kind,
    flat = gaussian_delta(far / sigma, epsilon),
    circle = circle_delta(sigma, far, epsilon),
    curved = curved_delta(space, sigma, far, epsilon, cells),
    bound = bounded_delta(space, sigma, far, epsilon, cells),
    hinge = hinge_delta(sigma, far, epsilon)
  )
}

# ---- calibration -----------------------------------------------------------------------------------------------------

# Smallest scale found for which delta(epsilon) <= delta at distance `far`, or NA. The bound itself is checked at the
# result, so nothing rests on its being monotone in the scale; where volume grows exponentially it isn't.
gaussian_scale <- function(space, far, epsilon, delta) {
  flat <- outwards(far / gaussian_mu(epsilon, delta))
  if (space$kind == "flat") {
    return(flat)
  }
  if (radial_far(space, flat)) {
    return(NA_real_)
  }
  if (!(flat >= 1e-9 * far)) {
    abort_riemdp("existence",
                 sprintf("doubles don't hold the Gaussian law's profile at scale %.3g: `epsilon` is too large.", flat))
  }
  at <- function(log_sigma) {
    out <- profile_delta(space, exp(log_sigma), far, epsilon)
    if (is.na(out)) {
      abort_riemdp("existence", sprintf(paste("doubles don't hold the Gaussian law's profile at scale %.3g: `epsilon`",
                                              "is too large."), exp(log_sigma)))
    }
    out
  }
  f <- function(log_sigma) log(max(at(log_sigma), 1e-300)) - log(delta)
  upper <- log(flat)
  steps <- 0
  if (f(upper) > 0) {
    repeat {
      lower <- upper
      upper <- upper + 0.1
      steps <- steps + 1
      if (steps > 200 || radial_far(space, exp(upper))) {
        return(NA_real_)
      }
      if (f(upper) <= 0) break
    }
  } else {
    lower <- upper
    repeat {
      upper <- lower
      lower <- lower - 0.1
      steps <- steps + 1
      if (steps > 200) break
      if (f(lower) > 0) break
    }
  }
  root <- stats::uniroot(f, c(lower, upper), tol = 1e-7, extendInt = "no")$root
  exp(step_until(root, 1e-7, function(x) at(x) <= delta))
}

# the law reaches so far that volume growth rules it: a larger scale brings nothing
radial_far <- function(space, sigma) {
  space$kind %in% c("curved", "bound") && !is.finite(space$top) &&
    (sigma > 1e100 || concave_mode(radial_law(space, sigma)$slope, Inf, sigma * sqrt(space$d)) > 15)
}

# smallest epsilon found for which delta(epsilon) <= delta
gaussian_epsilon <- function(space, sigma, far, delta) {
  if (space$kind == "flat") {
    return(gdp_epsilon(far / sigma, delta))
  }
  at <- function(e) profile_delta(space, sigma, far, e)
  f <- function(e) log(max(at(e), 1e-300)) - log(delta)
  if (at(0) <= delta) {
    return(0)
  }
  upper <- gdp_epsilon(far / sigma, delta) + 0.01
  while (f(upper) > 0) {
    upper <- 1.5 * upper
    if (upper > 500) {
      return(Inf)
    }
  }
  root <- stats::uniroot(f, c(0, upper), tol = 1e-7 * upper)$root
  step_until(root, 1e-6 * root + 1e-12, function(x) at(x) <= delta)
}

# Smallest mu found for which delta(epsilon) <= delta_mu(epsilon) + GDP_SLACK for every epsilon >= 0. Both sides are
# convex in exp(epsilon): between nodes a chord bounds the left side and a tangent the right one, and two lines are
# compared at two points. Beyond the last node the left side is below GDP_SLACK.
GDP_SLACK <- 1e-15

gaussian_gdp <- function(space, sigma, far) {
  if (space$kind == "flat") {
    return(outwards(far / sigma))
  }
  mu0 <- far / sigma
  if (mu0 > 12) {
    return(Inf)
  }
  first <- gaussian_delta(mu0, 0)
  # nodes: delta falls by 10 % from one to the next where mu is mostly decided, by a third in the tail
  falls <- c(0.1 * 1:25, 2.5 + 0.4 * seq_len(max(2, ceiling(2.5 * log(first / GDP_SLACK) - 6))))
  at <- c(0, vapply(first * exp(-falls), function(delta) gdp_epsilon(mu0, delta), 0))
  step <- at[length(at)] - at[length(at) - 1]
  cells <- profile_cells(space, sigma, far) / 2 # many epsilons: some .1 % of mu for half the time
  delta <- profile_delta(space, sigma, far, at, cells)
  while (delta[length(delta)] > GDP_SLACK) {
    if (at[length(at)] > 600) {
      return(Inf)
    }
    more <- at[length(at)] + step * 1:5
    step <- 2 * step
    at <- c(at, more)
    delta <- c(delta, profile_delta(space, sigma, far, more, cells))
  }
  keep <- seq_len(which(delta <= GDP_SLACK)[1])
  at <- at[keep]
  delta <- rev(cummax(rev(delta[keep]))) # the true one decreases: so may its bound
  n <- length(at)
  if (n == 1) {
    return(0)
  }
  slope <- diff(delta) / (exp(at[-n]) * expm1(diff(at)))
  covers <- function(mu) {
    # where the two are closest; any other point would do
    touch <- -mu * (stats::qnorm(pmin.int(pmax.int(-slope, 1e-300), 1)) + mu / 2)
    touch <- pmin.int(pmax.int(touch, at[-n]), at[-1])
    all(gdp_above(mu, touch, at[-n], at[-1], delta[-n] - GDP_SLACK, delta[-1] - GDP_SLACK))
  }
  lower <- 0
  upper <- mu0
  while (!covers(upper)) {
    lower <- upper
    upper <- upper * 1.2
    if (upper > 30) {
      return(Inf)
    }
  }
  for (i in 1:30) {
    mid <- (lower + upper) / 2
    if (covers(mid)) upper <- mid else lower <- mid
  }
  upper
}

# whether the tangent of delta_mu, as a function of exp(epsilon), at `touch` lies above y1 at e1 and above y2 at e2, by
# more than rounding; e1 <= touch <= e2
gdp_above <- function(mu, touch, e1, e2, y1, y2) {
  a <- stats::pnorm(mu / 2 - touch / mu, log.p = TRUE)
  b <- pmin.int(touch + stats::pnorm(-mu / 2 - touch / mu, log.p = TRUE), a)
  margin <- 1e-12 * (1 + abs(a)) * exp(a) + 1e-13 * (mu / 2 + touch / mu) * stats::dnorm(mu / 2 - touch / mu)
  value <- exp(a) * -expm1(b - a) - margin
  # the tangent's slope times exp(touch) is -exp(b), which is off by no more than the margin
  value - pmax.int(exp(b) - margin, 0) * expm1(e1 - touch) >= y1 & value - (exp(b) + margin) * expm1(e2 - touch) >= y2
}

# Scale for mu-GDP, or NA
gaussian_scale_gdp <- function(space, far, mu) {
  sigma <- outwards(far / mu)
  if (space$kind == "flat") {
    return(sigma)
  }
  best <- NA_real_
  for (i in 1:12) {
    if (radial_far(space, sigma)) break
    now <- gaussian_gdp(space, sigma, far)
    if (!is.finite(now)) {
      sigma <- sigma * 2
      next
    }
    if (now <= mu) {
      best <- sigma
      if (now > mu * 0.998) break
    }
    sigma <- sigma * max(now / mu, 0.2) * (1 + 5e-4)
  }
  best
}
