# Truth about compositions by contour integrals, in plain doubles with a bound of their error: no code of the package, no grid of losses, no transform.
#
#   delta(e) = 1/(2 pi i) int over Re s = theta > 0 of prod_i M_i(s)^T_i e^(-s e)/(s (s + 1)) ds,   M(s) = E_P[e^(s L)],
#
# since (1 - e^-y)_+ is the same integral of e^(s y). On s = theta + i k h the trapezoidal sum is, by Poisson's formula, exactly
# sum over m of delta(e + m p) e^(theta m p), p = 2 pi/h: terms of one sign, which Chernoff's bound at other theta holds (`alias`).
# What lies beyond the last k is held by a bound of |M| (`decay`): for an integral over z moved to z + i y the modulus of e^(s L) is
# e^(theta Re L - t Im L), which falls with t. Rounding of log M is relative to M(theta) - 1, since first-order terms are taken off analytically:
# a million steps of tiny samples keep their digits.
#
# A law is list(rho, ell, shift, nodes, ...): log density of Q over dz, loss, and how both change where z becomes z + i y. Laws:
#   line   z on the whole line, by the trapezoidal rule: exponentially exact, with a bound from the shifted line
#   edge   z on pieces, by Gauss-Legendre panels, and atoms
#   atoms  nothing but atoms
#   log    a closed logarithm of M
# judge_delta(parts, e) gives c(low, high) in logarithms, or NULL with the reason where too many nodes would be needed.

JUDGE_CUTS <- c(0.5, 0.25, 0.1) # shares of epsilon below which losses may be left out
JUDGE_SECONDS <- 4 # after which no other contour is tried
JUDGE_MOST <- 1.5e8 # products of nodes in s and in z

# ---- small things ---------------------------------------------------------------------------------------------------------------------------------

clog1p <- function(z) {
  r <- Mod(z)
  complex(real = ifelse(r < 0.5, 0.5 * log1p(2 * Re(z) + r^2), log(Mod(1 + z))), imaginary = atan2(Im(z), 1 + Re(z)))
}

cexpm1 <- function(z) {
  x <- Re(z)
  y <- Im(z)
  complex(real = expm1(x) * cos(y) - 2 * sin(y / 2)^2, imaginary = exp(x) * sin(y))
}

lsum <- function(x) {
  top <- max(x)
  if (!is.finite(top)) top else top + log(sum(exp(x - top)))
}

row_max <- function(x) if (ncol(x) == 1) x[, 1] else do.call(pmax, lapply(seq_len(ncol(x)), function(j) x[, j]))

# nodes and weights on [-1, 1]: eigenvalues of Jacobi's matrix
legendre <- local({
  n <- 20
  b <- seq_len(n - 1) / sqrt(4 * seq_len(n - 1)^2 - 1)
  m <- matrix(0, n, n)
  m[cbind(seq_len(n - 1), 2:n)] <- m[cbind(2:n, seq_len(n - 1))] <- b
  e <- eigen(m, symmetric = TRUE)
  list(x = rev(e$values), w = rev(2 * e$vectors[1, ]^2))
})

# ---- laws -----------------------------------------------------------------------------------------------------------------------------------------

# w(z) = rest + sum_i p_i e^(c_i z - c_i^2/2): P = w phi against Q = phi. How log w changes with z + i y: of shares p_i e^(...)/w.
tilt_of <- function(rest, p, moves) {
  remainder <- function(top) if (rest > 0) rest * exp(-top) else 0
  exponent <- function(z) outer(z, moves) + rep(log(p) - moves^2 / 2, each = length(z))
  list(
    log_w = function(z) {
      x <- exponent(z)
      top <- row_max(x)
      y <- rowSums(matrix(p, length(z), length(p), byrow = TRUE) * expm1(pmin(x - rep(log(p), each = length(z)), 600)))
      # what the rest and the shares sum to beside 1
      y <- y + (rest + sum(p) - 1)
      big <- if (rest > 0) pmax(top, 0) else top
      far <- big + log(remainder(big) + rowSums(exp(x - big)))
      ifelse(abs(y) < 0.5, log1p(pmax(y, -0.75)), far)
    },
    # how fast log w grows
    slope = function(z) {
      x <- exponent(z)
      top <- pmax(row_max(x), if (rest > 0) log(rest) else -Inf)
      share <- exp(x - top)
      as.vector(share %*% moves) / (remainder(top) + rowSums(share))
    },
    change = function(z, y) {
      x <- exponent(z)
      top <- pmax(row_max(x), if (rest > 0) log(rest) else -Inf)
      share <- exp(x - top)
      share <- share / (remainder(top) + rowSums(share))
      turn <- outer(rep_len(y, length(z)), moves)
      clog1p(complex(real = rowSums(share * -2 * sin(turn / 2)^2), imaginary = rowSums(share * sin(turn))))
    }
  )
}

# P = (1 - q) N(0, 1) + sum of the moved; `side`: leave, enter, or replaced (against the mirror image)
line_law <- function(rest, p, moves, side) {
  w <- tilt_of(rest, p, moves)
  log_phi <- function(z) -z^2 / 2 - log(2 * pi) / 2
  law <- switch(side,
    leave = list(rho = log_phi, ell = w$log_w, shift = function(z, y) list(rho = y^2 / 2, ell = w$change(z, y)), up = 1),
    enter = list(rho = function(z) log_phi(z) + w$log_w(z), ell = function(z) -w$log_w(z), shift = function(z, y) {
      d <- w$change(z, y)
      list(rho = y^2 / 2 + Re(d), ell = -d)
    }, up = -1),
    replaced = list(rho = function(z) log_phi(z) + w$log_w(-z), ell = function(z) w$log_w(z) - w$log_w(-z), shift = function(z, y) {
      d <- w$change(-z, -y)
      list(rho = y^2 / 2 + Re(d), ell = w$change(z, y) - d)
    }, up = 1)
  )
  m <- max(moves)
  # where phi w^(1 + theta) may matter
  law$range <- function(theta) if (side == "enter") c(-m * theta - 14, m + 14) else c(-14 - if (side == "leave") 0 else m * (1 + theta), m * (1 + theta) + 14)
  law$strip <- if (side == "replaced") pi / (2 * m) else if (side == "enter") pi / (2 * m) else pi / m
  law$kind <- "line"
  law$rest <- rest
  law$slope <- if (side == "replaced") function(z) w$slope(z) + w$slope(-z) else w$slope
  law$high <- if (side == "enter") -1 else 1
  law$place <- function(loss) { # z of a loss
    f <- function(z) law$high * (law$ell(z) - loss)
    if (f(-200) * f(200) > 0) NULL else stats::uniroot(f, c(-200, 200), tol = 1e-6)$root
  }
  law
}

# pieces: list(from, to, rho, ell, shift, up, edges); atoms: v (mass under Q), l; slope: of the exponents, at most
edge_law <- function(pieces, v, l, slope) list(kind = "edge", pieces = pieces, v = v, l = l, slope = slope)

# a sample without replacement: what the pair of leaving has above 0, its mirror image, and the rest at 0
sample_law <- function(q, mu) {
  w <- tilt_of(1 - q, q, mu)
  log_phi <- function(z) -z^2 / 2 - log(2 * pi) / 2
  to <- function(theta) mu * (1 + theta) + 14 + mu
  first <- list(from = mu / 2, to = to, rho = log_phi, ell = w$log_w, shift = function(z, y) list(rho = y^2 / 2, ell = w$change(z, y)), up = 1, edges = 1)
  second <- list(from = mu / 2, to = function(theta) mu + 14, rho = function(z) log_phi(z) + w$log_w(z), ell = function(z) -w$log_w(z), shift = function(z, y) {
    d <- w$change(z, y)
    list(rho = y^2 / 2 + Re(d), ell = -d)
  }, up = -1, edges = 1)
  # the mass of the atom at 0, whose loss adds nothing to M(s) - 1
  top <- stats::pnorm(mu / 2, lower.tail = FALSE)
  law <- edge_law(list(first, second), max(0, 1 - top * (2 - q) - q * stats::pnorm(mu / 2)), 0,
                  function(z, a) abs(z) + a * mu * min(1, exp(log(q) - log1p(-q) + mu * z - mu^2 / 2)))
  law$strip <- pi / mu
  law$tilt <- w$slope
  law$place <- function(loss) stats::uniroot(function(z) w$log_w(z) - loss, c(mu / 2, mu / 2 + 200 / mu + 200), tol = 1e-6)$root
  law
}

# Laplace noise over the sensitivity 1/e on a Poisson sample: x is the step's own loss
laplace_law <- function(e, q, side) {
  log_w <- function(x) {
    y <- q * expm1(pmin(x, 600))
    ifelse(x > 30 | y < -0.5, pmax(x, 0) + log((1 - q) * exp(-pmax(x, 0)) + q * exp(pmin(x, 0))), log1p(pmax(y, -0.75)))
  }
  change <- function(x, y) {
    share <- exp(log(q) + x - log_w(x))
    clog1p(share * cexpm1(complex(real = 0, imaginary = y)))
  }
  log_q <- function(x) -(x + e) / 2 - log(4)
  leave <- side == "leave"
  piece <- list(from = -e, to = function(theta) e, up = if (leave) 1 else -1, edges = 2,
                rho = if (leave) log_q else function(x) log_q(x) + log_w(x), ell = if (leave) log_w else function(x) -log_w(x),
                shift = if (leave) function(x, y) list(rho = 0, ell = change(x, y)) else function(x, y) {
                  d <- change(x, y)
                  list(rho = Re(d), ell = -d)
                })
  ends <- log_w(c(-e, e))
  v <- c(1, exp(-e)) / 2 # of Q, which is 1/2 at -e
  if (!leave) v <- v * exp(ends)
  edge_law(list(piece), v, if (leave) ends else -ends, function(z, a) 0.5 + a)
}

# ---- a law made ready for theta and |t| <= most ---------------------------------------------------------------------------------------------------

# list(log_v, l, wrong): nodes, and the quadrature's error over M(theta)
line_nodes <- function(law, theta, most, cut = NULL) {
  a <- 1 + theta
  range <- law$range(theta)
  wide <- min(0.9 * law$strip, 3)
  best <- NULL
  # from the widest step down to one whose error is below rounding
  tries <- expand.grid(c = wide * 2^-(0:6), room = c(70, 100, 200, 500))
  for (i in order(-tries$c / tries$room)) {
    c <- tries$c[i]
    h <- 2 * pi * c / tries$room[i]
    if (diff(range) / h > 1e6) break
    z <- seq(range[1], range[2], by = h)
    at <- law$rho(z) + a * law$ell(z)
    # what weighs under P, Q or the tilted law
    keep <- at > max(at) - 120 | law$rho(z) + pmax(0, law$ell(z)) > -100
    z <- z[keep]
    at <- at[keep]
    worst <- max(vapply(c(-c, c), function(y) {
      d <- law$shift(z, y)
      lsum(at + d$rho + a * Re(d$ell) + most * abs(Im(d$ell)) + if (is.null(cut)) 0 else (y / cut$width)^2 / 2)
    }, 0))
    wrong <- log(3) - tries$room[i] + worst - lsum(at)
    if (is.null(best) || wrong < best$wrong) best <- list(z = z, h = h, wrong = wrong)
    if (wrong < -55) break
  }
  if (is.null(best)) return(NULL)
  share <- if (is.null(cut)) NULL else stats::pnorm(law$high * (best$z - cut$at) / cut$width)
  list(log_v = law$rho(best$z) + log(best$h), l = law$ell(best$z), z = best$z, wrong = exp(best$wrong), smooth = TRUE, share = share)
}

edge_nodes <- function(law, theta, most, cut = NULL) {
  log_v <- log(law$v)
  l <- law$l
  z <- atom <- rep(NA, length(l))
  atom[] <- TRUE
  z[] <- 0
  piece_of <- rep(0, length(l))
  wrong <- -Inf
  for (i in seq_along(law$pieces)) {
    piece <- law$pieces[[i]]
    to <- piece$to(theta)
    x <- seq(piece$from, to, length.out = 2000)
    at <- piece$rho(x) + (1 + theta) * piece$ell(x)
    keep <- range(which(at > max(at) - 120 | piece$rho(x) + pmax(0, piece$ell(x)) > -100))
    from <- if (keep[1] == 1) piece$from else x[keep[1] - 1]
    if (keep[2] < 2000) to <- x[keep[2] + 1]
    a <- Mod(complex(real = 1 + theta, imaginary = most))
    r <- min(0.25, if (is.null(cut)) 1 else cut$width / 4, 6 / law$slope(max(abs(from), abs(to)), a), (to - from) / 2)
    count <- ceiling((to - from) / (2 * r))
    if (count > 2e4) return(NULL)
    r <- (to - from) / (2 * count)
    mid <- from + r * (2 * seq_len(count) - 1)
    zz <- as.vector(outer(r * legendre$x, mid, `+`))
    lv <- piece$rho(zz) + log(rep(r * legendre$w, count))
    ll <- piece$ell(zz)
    # 4.3 rho^-2n of the largest modulus on an ellipse that reaches 4 r around the panel
    top <- max(piece$rho(zz) + (1 + theta) * ll) + 4.1 * r * law$slope(max(abs(from), abs(to)) + 4 * r, a)
    wrong <- lsum(c(wrong, log(5 * count * r) - 40 * log(8) + top))
    log_v <- c(log_v, lv)
    l <- c(l, ll)
    z <- c(z, zz)
    atom <- c(atom, rep(FALSE, length(zz)))
    piece_of <- c(piece_of, rep(i, length(zz)))
  }
  share <- if (!is.null(cut)) ifelse(piece_of == 1, stats::pnorm((z - cut$at) / cut$width), 0)
  list(log_v = log_v, l = l, z = z, atom = atom, piece = piece_of, share = share, wrong = exp(wrong - lsum(log_v + (1 + theta) * l)))
}

ready <- function(law, theta, most, cut = NULL) {
  if (law$kind == "log") return(list(log = law$log_m, at = Re(law$log_m(complex(real = theta, imaginary = 0))), law = law))
  n <- switch(law$kind, line = line_nodes(law, theta, most, cut), edge = edge_nodes(law, theta, most, cut),
              atoms = list(log_v = log(law$v), l = law$l, wrong = 0, atom = rep(TRUE, length(law$l))))
  if (is.null(n)) return(NULL)
  n$law <- law
  a <- 1 + theta
  size <- n$log_v + a * n$l
  n$scaled <- max(size, n$log_v) > 300 || lsum(size) > 20
  if (n$scaled) {
    n$at <- lsum(size)
  } else {
    small <- abs(n$l) * Mod(complex(real = a, imaginary = most)) < 0.1
    n$small <- small
    v <- exp(n$log_v)
    # what weighs nothing even where t is large: |g_s| <= |s (1 + s)|/(theta (1 + theta)) g_theta
    weighs <- pmax(size, n$log_v, n$log_v + n$l + log(a))
    small_sum <- sum(exp(n$log_v[small]) * n$l[small]^2)
    held <- small | weighs > log(max(1e-300, small_sum, exp(max(weighs[!small], -700)) * 1e-6)) - 60
    if (!all(held)) {
      each <- c("log_v", "l", "z", "share", "atom", "piece")
      n[each] <- lapply(n[each], function(x) if (length(x) == length(held)) x[held] else x)
      size <- size[held]
      small <- small[held]
      v <- v[held]
      n$small <- small
    }
    n$moments <- vapply(2:13, function(k) sum(v[small] * n$l[small]^k), 0)
    n$big <- list(e = exp(size[!small]), l = n$l[!small], v = sum(v[!small]), y = sum((exp(n$log_v + pmax(n$l, 0)) * -expm1(-abs(n$l)) * sign(n$l))[!small]))
    n$excess <- sum(moment_series(n$moments, theta)) + sum(n$big$e) - n$big$v - a * n$big$y
    n$at <- log1p(n$excess)
  }
  # relative rounding of the terms, weighted
  weight <- exp(size - lsum(size))
  n$rough <- 2.3e-16 * (40 + 4 * sum(weight * (abs(n$log_v) + abs(a * n$l))))
  n$turn <- 9e-16 * sum(weight * abs(n$l))
  n
}

# sum over nodes of v (e^(a l) - 1 - a (e^l - 1)) = a s sum_k m_k (1 + a + ... + a^(k - 2))/k!
moment_series <- function(m, s) {
  a <- 1 + s
  total <- 0
  c <- 0
  power <- 1
  for (k in seq_along(m) + 1) {
    c <- c + power
    power <- power * a
    total <- total + m[k - 1] * c / factorial(k)
  }
  a * s * total
}

# complex sums of e_j e^(i t l_j), a block of t at a time
turned_sum <- function(e, l, t) {
  out <- complex(length(t))
  block <- max(1, floor(1e6 / max(1, length(l))))
  for (from in seq(1, length(t), by = block)) {
    k <- from:min(length(t), from + block - 1)
    x <- outer(t[k], l)
    out[k] <- complex(real = cos(x) %*% e, imaginary = sin(x) %*% e)
  }
  out
}

# list(log (complex log M), wrong (of it)) at theta + i t
log_moments <- function(n, theta, t) {
  s <- complex(real = theta, imaginary = t)
  if (!is.null(n[["log"]])) {
    x <- n[["log"]](s)
    return(list(log = x, wrong = 1e-15 * (Mod(x) + 4) * pmin(1, Mod(x) + 1e-300)))
  }
  if (n$scaled) {
    m <- turned_sum(exp(n$log_v + (1 + theta) * n$l - n$at), n$l, t)
    r <- n$rough + n$turn * t + 3 * n$wrong
    return(list(log = n$at + log(m), wrong = r / pmax(Mod(m), 1e-300)))
  }
  x <- moment_series(n$moments, s)
  far <- 0
  if (length(n$big$l)) {
    x <- x + turned_sum(n$big$e, n$big$l, t) - n$big$v - (1 + s) * n$big$y
    far <- 2.3e-16 * (8 * (sum(n$big$e) + n$big$v) + 4 * Mod(1 + s) * abs(n$big$y)) + 9e-16 * t * sum(n$big$e * abs(n$big$l))
  }
  ratio <- Mod(s * (1 + s)) / (theta * (1 + theta))
  r <- n$rough * pmin(ratio * abs(n$excess), 2 * exp(n$at) + ratio * abs(moment_series(n$moments, theta))) + far + 3 * n$wrong * exp(n$at)
  list(log = clog1p(x), wrong = 1.01 * r / pmax(Mod(1 + x), 1e-300))
}

# ---- how |M| falls --------------------------------------------------------------------------------------------------------------------------------

# log of a bound of |M(theta + i t')|/M(theta) for all t' >= t; with `share` (a smooth cut) of that part alone. Taken at nine tenths of what is won.
line_decay <- function(n, theta, t, cut = NULL) {
  law <- n$law
  a <- 1 + theta
  size <- n$log_v + a * n$l + if (is.null(cut)) 0 else log(n$share)
  keep <- size > max(size) - 100
  size <- size[keep]
  z <- n$z[keep]
  if (law$kind == "edge") law <- c(law$pieces[[1]], strip = law$strip, slope = law$tilt)
  weight <- exp(size - lsum(size))
  # moved by y(z), near t times the loss's slope where that is small and at most `most` where it is large
  gain <- function(most, share) {
    y <- function(z) most * tanh(share * t * law$slope(z) / most)
    bend <- (y(z + 1e-4) - y(z - 1e-4)) / 2e-4
    y <- y(z)
    d <- law$shift(z, law$up * y)
    x <- d$rho + a * Re(d$ell) - t * Im(d$ell) + log1p(bend^2) / 2 + if (is.null(cut)) 0 else (y / cut$width)^2 / 2
    if (max(x) > 600) return(1e10)
    log1p(max(-1 + 1e-300, sum(weight * expm1(x))))
  }
  best <- 0
  for (most in law$strip * c(0.9, 0.5, 0.2, 0.05)) for (share in c(1, 0.5, 0.2, 0.05)) best <- min(best, gain(min(most, 4), share))
  0.9 * min(0, best) + if (is.null(cut)) 0 else lsum(size) - n$at
}

# of the smooth pieces of an edge law: along the edges up and over
edge_decay <- function(n, theta, t) {
  a <- 1 + theta
  total <- -Inf
  for (i in seq_along(n$law$pieces)) {
    piece <- n$law$pieces[[i]]
    use <- n$piece == i
    size <- (n$log_v + a * n$l)[use]
    z <- n$z[use]
    keep <- size > max(size) - 80
    size <- size[keep]
    z <- z[keep]
    value <- function(log_y) {
      y <- exp(log_y)
      d <- piece$shift(z, piece$up * y)
      over <- lsum(size + d$rho + a * Re(d$ell) - t * Im(d$ell))
      v <- y * (10^seq(-6, 0, length.out = 80))
      edge <- function(x) {
        d <- piece$shift(rep(x, length(v)), piece$up * v)
        at <- piece$rho(x) + a * piece$ell(x)
        e <- at + d$rho + a * Re(d$ell) - t * Im(d$ell)
        # from above: the larger end of each piece
        lsum(pmax(c(at, e[-length(e)]), e) + log(diff(c(0, v))))
      }
      ends <- edge(piece$from)
      if (piece$edges == 2) ends <- lsum(c(ends, edge(piece$to(theta))))
      lsum(c(over, ends))
    }
    slope <- pi / 2 / max(1, n$law$slope(0, 1))
    found <- vapply(log(0.95 * slope) - seq(0, 9, by = 1.5), value, 0)
    total <- lsum(c(total, min(found)))
  }
  total - n$at
}

# ---- a composition in one direction ---------------------------------------------------------------------------------------------------------------

discrete_gaussian_log_m <- function(sigma) {
  # sum of 2 e^(-2 pi^2 sigma^2 k^2) cos(2 pi k s)
  dual <- function(s) Reduce(`+`, lapply(c(-3:-1, 1:3), function(k) exp(2i * pi * k * s - 2 * pi^2 * sigma^2 * k^2)))
  none <- Re(dual(0i))
  period <- 2 * pi * sigma^2
  function(s) {
    turns <- round(Im(s) / period)
    s <- s - complex(real = 0, imaginary = turns * period)
    s * (s + 1) / (2 * sigma^2) + clog1p((dual(s) - none) / (1 + none)) + complex(real = 0, imaginary = pi * turns)
  }
}

# the largest loss of a step, and what its two laws differ by at most
judge_limits <- function(law, kind, p, side) {
  ends <- if (!is.null(law[["l"]])) law[["l"]] else Inf
  law$top <- max(ends)
  if (kind %in% c("poisson", "mixture") && side == "enter") law$top <- if (law$rest > 0) -log(law$rest) else Inf
  if (kind == "sample" && p[1] < 1) law$top <- Inf
  law$distance <- if (kind %in% c("poisson", "poisson-laplace", "replaced", "sample")) p[1] else if (kind == "mixture") 1 - law$rest else 1
  law
}

# One kind's law and what it is on a lattice: list(unit, origin); `smooth` where |M| falls to 0.
judge_law <- function(kind, p, side) {
  switch(kind,
    gaussian = list(kind = "log", mu2 = 1 / p[1]^2, log_m = function(s) s * (s + 1) / (2 * p[1]^2)),
    poisson = line_law(1 - p[1], p[1], 1 / p[2], side),
    replaced = line_law(1 - p[1], p[1], 1 / p[2], "replaced"),
    mixture = {
      moves <- p[-(1:2)]
      line_law(1 - p[2] * length(moves) + p[2] * sum(moves == 0), rep(p[2], sum(moves > 0)), moves[moves > 0] / p[1], side)
    },
    sample = if (p[1] == 1) judge_law("gaussian", p[2], side) else sample_law(p[1], 1 / p[2]),
    laplace = laplace_law(1 / p[1], 1, "leave"),
    "poisson-laplace" = laplace_law(1 / p[2], p[1], side),
    pure = list(kind = "atoms", v = stats::plogis(c(p[1], -p[1])), l = c(-p[1], p[1]), unit = 2 * p[1], origin = -p[1], falls = TRUE),
    "discrete-laplace" = {
      t <- 1 / p[1]
      x <- seq_len(p[2] - 1)
      l <- (p[2] - 2 * c(0, x, p[2])) * t
      mass <- c(stats::plogis(t), exp(-t * x) * tanh(t / 2), exp(-t * (p[2] - 1)) * stats::plogis(-t))
      list(kind = "atoms", v = mass * exp(-l), l = l, unit = if (p[2] == 1) 2 * t else 2 * t, origin = -p[2] * t, falls = p[2] == 1)
    },
    discrete = if (p[1] >= 1) list(kind = "log", log_m = discrete_gaussian_log_m(p[1]), unit = 1 / p[1]^2, origin = -1 / (2 * p[1]^2), falls = TRUE) else {
      x <- -60:60
      mass <- exp(-x^2 / (2 * p[1]^2))
      l <- (2 * x + 1) / (2 * p[1]^2)
      v <- mass / sum(mass) * exp(-l)
      keep <- v > 0 & mass > 0
      list(kind = "atoms", v = v[keep], l = l[keep], unit = 1 / p[1]^2, origin = -1 / (2 * p[1]^2), falls = TRUE)
    }
  )
}

judge_parts <- function(parts) {
  lapply(strsplit(parts, " + ", fixed = TRUE)[[1]], function(term) {
    m <- regmatches(term, regexec("^([0-9.e+]+)\\*([a-z-]+)\\(([^)]*)\\)$", term))[[1]]
    list(times = as.numeric(m[2]), kind = m[3], p = as.numeric(strsplit(m[4], ";")[[1]]))
  })
}

chernoff_constant <- function(theta) theta * log(theta) - (1 + theta) * log1p(theta)

# what is asked of theta many times: log of prod M^T at a real theta, Inf where nodes are lacking
log_product <- function(laws, times, theta) {
  total <- 0
  for (i in seq_along(laws)) {
    n <- ready(laws[[i]], theta, 0)
    if (is.null(n)) return(Inf)
    total <- total + times[i] * Re(n$at)
  }
  total
}

# theta of the saddle point, the tilted spread, and the period 2 pi/h that leaves at most e^tol of delta from its images
judge_plan <- function(laws, times, epsilon, tol) {
  k <- memo(function(theta) log_product(laws, times, theta))
  f <- function(u) min(k(exp(u)) - exp(u) * epsilon - u - log1p(exp(u)), 1e300)
  at <- walk_down(f)
  plan <- list(k = k, epsilon = epsilon, tol = tol)
  plan <- plan_at(plan, exp(stats::optimize(f, at + c(-1, 1), tol = 1e-2)$minimum))
  # about log delta; where the tilted law is a few far losses its spread says little
  plan$size <- plan$value - log(2.5 * min(plan$spread, 5 / plan$theta))
  plan_at(plan, plan$theta)
}

# the same at another theta
plan_at <- function(plan, theta) {
  f <- function(u) plan$k(exp(u)) - exp(u) * plan$epsilon - u - log1p(exp(u))
  step <- 0.05
  plan$value <- f(log(theta))
  bend <- (f(log(theta) + step) - 2 * plan$value + f(log(theta) - step)) / step^2
  # the second derivative by log theta is theta^2 times the variance, nearly
  plan$spread <- spread <- sqrt(max(bend, 0.05)) / theta
  plan$theta <- theta
  if (is.null(plan$size)) return(plan)
  chernoff <- function(other) chernoff_constant(other) + plan$k(other) - other * plan$epsilon - plan$size - plan$tol
  up <- theta + c(0.25, 0.5, 1, 2, 4, 8, 16, 32) / spread
  up <- c(up, theta * c(1.1, 1.3, 1.7, 2.5))
  down <- theta * c(1e-3, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95)
  above <- min(vapply(up, chernoff, 0) / (up - theta))
  below <- min((-plan$size - plan$tol) / theta, vapply(down, chernoff, 0) / (theta - down))
  plan$period <- max(above, below, 4 * spread) * 1.05
  plan
}

# near the least value of a function that falls and then grows
walk_down <- function(f) {
  at <- 0
  value <- f(at)
  for (side in c(1, -1)) {
    moved <- FALSE
    while (abs(at) < 60 && isTRUE((new <- f(at + side)) < value)) {
      at <- at + side
      value <- new
      moved <- TRUE
    }
    if (moved) break
  }
  at
}

memo <- function(f) {
  known <- new.env()
  function(x) {
    key <- sprintf("%a", x)
    if (is.null(known[[key]])) known[[key]] <- f(x)
    known[[key]]
  }
}

# log of |prod M^T| bounded for |t'| >= t, over its value at theta, as a function of t
product_decay <- function(laws, nodes, times, theta) {
  each <- lapply(seq_along(laws), function(i) {
    law <- laws[[i]]
    if (law$kind == "line") return(function(t) line_decay(nodes[[i]], theta, t))
    if (!is.null(law$mu2)) return(function(t) -law$mu2 * t^2 / 2)
    if (law$kind == "edge") return(edge_table(law, theta))
    function(t) 0
  })
  function(t) sum(times * vapply(each, function(f) min(0, f(t)), 0))
}

# Of a law with edges and atoms: |M|^2 is the mean of cos(t (L - L')), whose second derivative is at most twice the variance V in size, so between two values d
# apart it is at most the larger and V d^2/4 more; from where atoms and what is left of the smooth pieces are less, these.
edge_table <- function(law, theta) {
  n <- ready(law, theta, 0)
  w <- exp(n$log_v + (1 + theta) * n$l - n$at)
  v <- sum(w * (n$l - sum(w * n$l))^2) * (1 + 1e-6)
  atoms <- sum(w[n$atom])
  t <- 1.15^seq(-100, 24) / sqrt(v)
  n <- ready(law, theta, max(t))
  if (is.null(n)) return(function(t) 0)
  # 1 - |M|^2 without a difference of near numbers where t is small
  m <- log_moments(n, theta, t)
  square <- 2 * (Re(m$log) - n$at + m$wrong)
  late <- t > 0.5 / sqrt(v) & seq_along(t) %% 3 == 2 # the last one, too
  beyond <- rep(0, length(t))
  beyond[late] <- vapply(t[late], function(t) 2 * log(min(1, atoms + exp(edge_decay(n, theta, t)))), 0)
  out <- beyond
  for (k in rev(seq_len(length(t) - 1))) {
    between <- log(exp(max(square[k + 0:1])) + v * (t[k + 1] - t[k])^2 / 4)
    out[k] <- min(beyond[k], max(between, out[k + 1]))
  }
  function(x) if (x < t[1]) 0 else if (x > t[length(t)]) log(min(1, atoms + exp(edge_decay(n, theta, x)))) else out[findInterval(x, t)] / 2
}

# The least |t| beyond which the integral is below e^tol of delta: list(most, tail), tail in logarithms of delta's size. `decay(t)` bounds the integrand but for
# 1/(s (s + 1)).
find_end <- function(plan, decay, tol) {
  tail <- function(t) {
    lead <- plan$value + log(plan$theta) + log1p(plan$theta) - plan$size
    decay(t) + lead - log(pi) - log(t)
  }
  t <- 2 / plan$spread
  repeat {
    at <- tail(t)
    if (is.nan(at)) return(list(most = t, tail = Inf))
    if (at < tol || t * plan$period > 1e7) break
    t <- t * 1.3
  }
  list(most = t, tail = at)
}

# How the integrand is made: list(nodes, decay, share (of each law, what is not in A), log_a (log of the bound, or value, of what A^T has of delta))
judge_ways <- function(laws, times, plan, epsilon) {
  whole <- lapply(laws, ready, plan$theta, 0)
  ways <- list(function() list(cut = NULL, decay = product_decay(laws, whole, times, plan$theta), log_a = -Inf))
  if (length(laws) == 1 && laws[[1]]$kind == "edge") ways <- c(ways, function() atoms_way(whole[[1]], times, plan, epsilon))
  for (level in JUDGE_CUTS) {
    ways <- c(ways, local({
      level <- level
      function() cut_way(laws, times, plan, epsilon, level)
    }))
  }
  ways
}

# A: the atoms alone, two of them on a lattice or one at 0, whose delta is a sum
atoms_way <- function(n, times, plan, epsilon) {
  a <- 1 + plan$theta
  alone <- lsum((n$log_v + a * n$l)[n$atom]) - n$at
  list(cut = "atoms", log_a = atoms_delta(n$log_v[n$atom] + n$l[n$atom], n$l[n$atom], times, epsilon), decay = function(t) {
    j <- edge_decay(n, plan$theta, t) - alone
    times * alone + logexpm1(times * log1p(exp(min(j, 30))))
  })
}

logexpm1 <- function(x) if (x > 30) x else if (x <= 0) -Inf else log(expm1(x))

# log of sum over j of choose(T, j) m_1^(T - j) m_2^j (1 - e^(epsilon - loss))_+
atoms_delta <- function(log_m, l, times, epsilon) {
  if (length(l) == 1) return(if (times * l <= epsilon) -Inf else times * log_m + log(-expm1(epsilon - times * l)))
  share <- stats::plogis(log_m[2] - log_m[1])
  spread <- 40 * sqrt(times * share * (1 - share)) + 60
  least <- (epsilon - times * l[1]) / (l[2] - l[1])
  j <- if (l[2] > l[1]) seq(max(0, ceiling(least)), min(times, max(ceiling(least), times * share) + spread)) else
    seq(max(0, min(floor(least), times * share) - spread), min(times, floor(least)))
  j <- unique(round(j[j >= 0 & j <= times]))
  loss <- (times - j) * l[1] + j * l[2]
  use <- loss > epsilon
  if (!any(use)) return(-Inf)
  lsum((lchoose(times, j) + (times - j) * log_m[1] + j * log_m[2] + log(-expm1(pmin(0, epsilon - loss))))[use])
}

# A: losses below a smooth cut; their sums' delta is held by Chernoff's bound
cut_way <- function(laws, times, plan, epsilon, level) {
  cuts <- lapply(laws, function(law) {
    if (is.null(law$place)) return(NULL)
    at <- law$place(epsilon * level)
    if (is.null(at)) NULL else list(at = at, width = 0.35)
  })
  if (all(vapply(cuts, is.null, NA))) return(NULL)
  for (i in seq_along(laws)) {
    edge <- laws[[i]]$kind == "edge" && !is.null(cuts[[i]])
    if (edge && stats::pnorm((laws[[i]]$pieces[[1]]$from - cuts[[i]]$at) / cuts[[i]]$width, log.p = TRUE) > -70) return(NULL)
  }
  below <- function(theta) {
    total <- 0
    for (i in seq_along(laws)) {
      n <- ready(laws[[i]], theta, 0, cuts[[i]])
      if (is.null(n)) return(Inf)
      total <- total + times[i] * if (is.null(cuts[[i]])) Re(n$at) else bulk_log(n, theta)
    }
    total
  }
  tries <- plan$theta * 2^seq(0, 12, by = 0.5)
  log_a <- min(vapply(tries, function(theta) chernoff_constant(theta) + below(theta) - theta * epsilon, 0))
  nodes <- Map(function(law, cut) ready(law, plan$theta, 0, cut), laws, cuts)
  alpha <- vapply(seq_along(laws), function(i) if (is.null(cuts[[i]])) 0 else bulk_log(nodes[[i]], plan$theta) - Re(nodes[[i]]$at), 0)
  list(cut = cuts, log_a = log_a, decay = function(t) {
    j <- vapply(seq_along(laws), function(i) if (is.null(cuts[[i]])) -Inf else line_decay(nodes[[i]], plan$theta, t, cuts[[i]]), 0)
    sum(times * alpha) + logexpm1(sum(times * log1p(exp(pmin(j - alpha, 30)))))
  })
}

bulk_log <- function(n, theta) {
  j <- lsum((n$log_v + (1 + theta) * n$l + log(n$share))[n$share > 0])
  n$at + log1p(-min(1 - 1e-16, exp(j - n$at)))
}

# list(low, high (logs of delta), theta), or list(why). Where the saddle point's tilt is for rare large losses, whose terms fall slowly, a smaller one may do.
judge_side <- function(laws, times, epsilon, tol = log(1e-9)) {
  plan <- judge_plan(laws, times, epsilon, tol)
  if (!is.finite(plan$size) || !is.finite(plan$period)) return(list(why = "no saddle point"))
  start <- proc.time()[[1]]
  # cheap contours first; what edges leave falls like 1/t only
  for (try in list(c(JUDGE_MOST / 50, tol), c(JUDGE_MOST / 50, log(1e-6)), c(JUDGE_MOST, tol), c(JUDGE_MOST, log(1e-6)))) {
    for (share in c(1, 0.6, 0.35, 0.2, 0.1, 0.05)) {
      if (proc.time()[[1]] - start > JUDGE_SECONDS) return(list(why = "too many nodes for the time"))
      one <- if (share == 1) plan else plan_at(plan, plan$theta * share)
      if (one$value > plan$value + 12 || !is.finite(one$period)) next
      found <- try_plan(laws, times, epsilon, one, max(tol, try[2]), try[1], try[1] == JUDGE_MOST)
      if (!is.null(found)) return(found)
    }
  }
  list(why = "too many nodes")
}

try_plan <- function(laws, times, epsilon, plan, tol, most, cuts) {
  h <- 2 * pi / plan$period
  ways <- judge_ways(laws, times, plan, epsilon)
  if (!cuts) ways <- ways[seq_len(length(ways) - length(JUDGE_CUTS))]
  for (make in ways) {
    way <- make()
    if (is.null(way) || (way$log_a > plan$size + tol && !identical(way$cut, "atoms"))) next
    end <- find_end(plan, way$decay, tol)
    count <- ceiling(end$most / h)
    if (end$tail > tol || count * 20 > most) next
    cuts <- if (is.list(way$cut)) way$cut else vector("list", length(laws))
    nodes <- Map(function(law, cut) ready(law, plan$theta, count * h, cut), laws, cuts)
    if (any(vapply(nodes, is.null, NA))) next
    wide <- sum(vapply(nodes, function(n) as.double(length(if (is.null(n$big)) n$l else n$big$l)) + length(n$share), 0))
    if (count * (wide + 10) > most) next
    return(c(judge_sum(nodes, times, epsilon, plan, h, count, way, end, tol), list(theta = plan$theta, count = count)))
  }
  NULL
}

judge_sum <- function(nodes, times, epsilon, plan, h, count, way, end, tol) {
  theta <- plan$theta
  t <- h * (0:count)
  s <- complex(real = theta, imaginary = t)
  total <- -s * epsilon - log(s) - log(1 + s)
  wrong <- 1e-15 * (10 + theta * epsilon + t * epsilon)
  lift <- lift_wrong <- 0
  for (i in seq_along(nodes)) {
    m <- log_moments(nodes[[i]], theta, t)
    total <- total + times[i] * m$log
    wrong <- wrong + times[i] * (m$wrong + 2.3e-16 * Mod(m$log))
    part <- if (identical(way$cut, "atoms")) !nodes[[i]]$atom else nodes[[i]]$share
    if (!is.null(part) && !is.null(way$cut)) {
      n <- nodes[[i]]
      e <- exp(n$log_v + (1 + theta) * n$l - n$at) * part
      use <- e > 0
      x <- turned_sum(e[use], n$l[use], t) * exp(n$at - m$log)
      lift <- lift + times[i] * clog1p(-x)
      lift_wrong <- lift_wrong + times[i] * Mod(x) / pmax(Mod(1 - x), 1e-300) * (m$wrong + n$rough + n$turn * t + 1e-15)
    }
  }
  top <- Re(total[1])
  f <- exp(total - top)
  error <- Mod(f) * expm1(pmin(wrong, 300))
  if (!is.null(way$cut)) {
    g <- -cexpm1(lift)
    error <- error * Mod(g) + Mod(f) * exp(Re(lift)) * expm1(pmin(lift_wrong + 1e-15, 300))
    f <- f * g
  }
  half <- c(0.5, rep(1, count))
  value <- h / pi * sum(Re(f) * half)
  error <- h / pi * (sum(error * half) + 2.3e-16 * (count + 10) * sum(Mod(f)))
  beside <- exp(plan$size - top + c(log(2.3) + tol, end$tail))
  a <- exp(way$log_a - top)
  exact <- identical(way$cut, "atoms")
  low <- value - error - sum(beside) + if (exact) a * (1 - 1e-10) else 0
  high <- value + error + beside[2] + a * if (exact) 1 + 1e-10 else 1
  list(low = if (low > 0) top + log(low) else -Inf, high = top + log(max(high, 1e-300)))
}

# atoms on one lattice: the sum over t in one period is all there is
judge_lattice <- function(law, times, epsilon, tol = log(1e-10)) {
  plan <- judge_plan(list(law), times, epsilon, tol)
  if (!is.finite(plan$size) || !is.finite(plan$period)) return(list(why = "no saddle point"))
  u <- law$unit
  theta <- plan$theta
  n <- 2 * ceiling(plan$period / u / 2) + 2
  if (n * max(10, length(law$l)) > JUDGE_MOST) return(list(why = "too many nodes"))
  x0 <- times * law$origin + u * ceiling((epsilon - times * law$origin) / u)
  at <- ready(law, theta, pi / u)
  t <- 2 * pi / (n * u) * (0:(n / 2))
  s <- complex(real = theta, imaginary = t)
  m <- log_moments(at, theta, t)
  total <- times * m$log - s * x0
  top <- Re(total[1])
  g <- -1 / cexpm1(-s * u) + exp(epsilon - x0) / cexpm1(-(s + 1) * u)
  f <- exp(total - top) * g
  weight <- c(1, rep(2, n / 2 - 1), 1) / n
  error <- sum(weight * (Mod(f) * expm1(pmin(300, times * (m$wrong + 2.3e-16 * Mod(m$log)) +
                                                        1e-15 * (10 + Mod(s) * abs(x0) + times * abs(law$origin) * Mod(s)))) +
                           1e-15 * Mod(exp(total - top)) * 2 * (1 / Mod(cexpm1(-s * u)))))
  value <- sum(weight * Re(f))
  low <- value - error - exp(plan$size + tol - top) * 2.3
  list(low = if (low > 0) top + log(low) else -Inf, high = top + log(max(value + error, 1e-300)), theta = theta, count = n)
}

# The same of parts, the larger of both directions; `enough`: a logarithm of delta below which no more is asked
judge_delta <- function(parts, epsilon, enough = -Inf, tol = log(1e-9)) {
  terms <- judge_parts(parts)
  kinds <- vapply(terms, `[[`, "", "kind")
  times <- vapply(terms, `[[`, 0, "times")
  sided <- any(kinds %in% c("poisson", "poisson-laplace", "mixture"))
  found <- lapply(if (sided) c("leave", "enter") else "leave", function(side) {
    laws <- lapply(terms, function(term) judge_limits(judge_law(term$kind, term$p, side), term$kind, term$p, side))
    if (sum(times * vapply(laws, `[[`, 0, "top")) * (1 + 1e-12) <= epsilon) return(list(low = -Inf, high = -Inf, theta = 1))
    known <- log(sum(times * vapply(laws, `[[`, 0, "distance")))
    if (known <= enough) return(list(low = -Inf, high = known, theta = 1))
    found <- if (length(laws) == 1 && !is.null(laws[[1]]$unit)) judge_lattice(laws[[1]], times, epsilon) else judge_side(laws, times, epsilon, tol)
    # delta is at most the laws' distance
    if (is.null(found$low) && known < 0) found <- c(list(low = -Inf, high = known), found)
    if (!is.null(found$high)) found$high <- min(found$high, max(known, found$low))
    found
  })
  lacking <- vapply(found, function(f) is.null(f$low), NA)
  low <- max(-Inf, unlist(lapply(found, `[[`, "low")))
  top <- if (any(lacking)) 0 else max(vapply(found, `[[`, 0, "high"))
  best <- if (all(lacking)) NULL else found[!lacking][[which.max(vapply(found[!lacking], `[[`, 0, "high"))]]
  why <- unlist(lapply(found, `[[`, "why"))
  list(low = low, high = top, theta = best$theta, count = best$count, why = if (length(why)) why[[1]])
}

# ---- random settings and what is judged of them ---------------------------------------------------------------------------------------------------

JUDGE_KINDS <- c("gaussian", "pure", "laplace", "discrete", "discrete-laplace", "poisson", "poisson-laplace", "replaced", "sample", "mixture", "composed")

judge_term <- function(kind) {
  far <- function(low, high) signif(10^stats::runif(1, log10(low), log10(high)), 4)
  q <- if (stats::runif(1) < 0.05 && kind != "replaced") 1 else min(far(1e-9, 1), if (kind == "replaced") 0.999 else 1)
  numbers <- switch(kind,
    gaussian = , laplace = far(1e-3, 1e6), pure = far(1e-6, 30), discrete = far(0.3, 300), "discrete-laplace" = c(far(0.1, 1e4), sample(20, 1)),
    poisson = , replaced = , sample = , "poisson-laplace" = c(q, far(1e-3, 1e6)),
    mixture = {
      k <- sample(4, 1)
      c(far(1e-2, 1e4), signif(q / k, 4), signif(stats::runif(k, 0.1, 3), 3))
    }
  )
  sprintf("%.0f*%s(%s)", round(10^stats::runif(1, 0, 8)), kind, paste(sprintf("%.15g", numbers), collapse = ";"))
}

# about the epsilon, by Chernoff's bound: settings that cost nothing or are hopeless are few
judge_guess <- function(parts, delta) {
  terms <- judge_parts(parts)
  times <- vapply(terms, `[[`, 0, "times")
  laws <- lapply(terms, function(term) judge_law(term$kind, term$p, "leave"))
  f <- function(u) {
    k <- log_product(laws, times, exp(u))
    if (is.finite(k)) (k + chernoff_constant(exp(u)) - log(delta)) / exp(u) else 1e300
  }
  f(walk_down(f))
}

judge_settings <- function(count, kind) {
  parts <- character()
  deltas <- numeric()
  while (length(parts) < count) {
    kinds <- if (kind != "composed") kind else {
      one_more <- stats::runif(1) < 0.6
      sample(c("gaussian", "pure", "laplace", "discrete",
               if (one_more) c("poisson", "mixture", "poisson-laplace") else c("sample", "replaced")), sample(2:4, 1))
    }
    one <- paste(vapply(kinds, judge_term, ""), collapse = " + ")
    delta <- signif(10^-stats::runif(1, log10(2), sample(c(3, 12, 300), 1)), 4)
    guess <- judge_guess(one, delta)
    if (!(guess > 1e-9 && guess < 1e3) && stats::runif(1) > 0.03) next
    parts <- c(parts, one)
    deltas <- c(deltas, delta)
  }
  data.frame(parts = parts, delta = deltas)
}

# What is wrong with a bracket of epsilon, in words; "" where nothing is: list(wrong, why (what could not be settled),
# apart (how far, in epsilon, the judge sees))
judge_bracket <- function(parts, delta, lower, upper) {
  ask <- function(epsilon) {
    on.exit(setTimeLimit())
    setTimeLimit(cpu = 2 * JUDGE_SECONDS, transient = TRUE)
    tryCatch(judge_delta(parts, epsilon, log(delta)), error = function(e) list(low = -Inf, high = 0, why = conditionMessage(e)))
  }
  wrong <- why <- character()
  sees <- 0
  if (is.finite(upper)) {
    truth <- ask(upper)
    if (truth$low > log(delta)) wrong <- sprintf("upper: delta is %.10g there", exp(truth$low))
    if (truth$high > log(delta) && !length(wrong)) {
      sees <- if (is.null(truth$theta)) Inf else (truth$high - truth$low) / (truth$theta * max(upper, 1e-300))
      if (sees > 1e-5) why <- c(why, paste("upper:", if (is.null(truth$why)) "not told apart" else truth$why))
    }
  }
  if (lower > 0) {
    truth <- ask(lower)
    if (truth$high < log(delta)) wrong <- c(wrong, sprintf("lower: delta is %.10g there", exp(truth$high)))
    if (truth$low < log(delta) && truth$high >= log(delta)) {
      one <- if (is.null(truth$theta)) Inf else (truth$high - truth$low) / (truth$theta * lower)
      sees <- max(sees, one)
      if (one > 1e-5) why <- c(why, paste("lower:", if (is.null(truth$why)) "not told apart" else truth$why))
    }
  }
  list(wrong = paste(wrong, collapse = "; "), why = paste(why, collapse = "; "), apart = sees)
}
