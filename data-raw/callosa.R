# Simulated outlines of the corpus callosum: 409 shapes of 50 landmarks, the size of the study in Soto et al. (2022).
# Run from the root of the package. All numbers come from this script; no image and no patient's record is used.

RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(409)

n <- 409
landmarks <- 50

# Standardised factors in which individuals differ; 0 is the template.
shape_factors <- c("length", "body", "genu", "isthmus", "splenium", "arch", "apex", "droop", "hook")

# Closed outline in mm as a dense complex polyline (last point = first), from the tip of the rostrum over the genu and
# the upper side to the splenium, then back along the lower side. The front of the head is on the left.
callosum_outline <- function(factors = numeric(length(shape_factors)), grid = 801) {
  f <- setNames(as.list(factors), shape_factors)
  s <- seq(0, 1, length.out = grid)
  step <- 106 * (1 + 0.08 * f$length) / (grid - 1)

  # Centre line by its direction, which turns clockwise in three places: genu, body, splenium.
  turn <- function(total, at, width) {
    g <- pnorm((s - at) / width)
    total * (g - g[1]) / (g[grid] - g[1])
  }
  degrees <- 178 + 13 * f$hook + 5 * f$arch -
    turn(142 + 13 * f$hook, 0.185, 0.055) -
    turn(56 + 10 * f$arch, 0.55 + 0.04 * f$apex, 0.2) -
    turn(50 + 13 * f$droop, 0.925, 0.05)
  tangent <- exp(1i * degrees * pi / 180)
  centre <- step * c(0, cumsum((tangent[-1] + tangent[-grid]) / 2))

  # Half thickness in mm: body, tapered into the rostrum and narrowed at the isthmus, plus genu and splenium.
  bump <- function(at, width) exp(-((s - at) / width)^2 / 2)
  body <- 3.1 * exp(0.14 * f$body)
  half <- body * (1 - exp(-(s + 0.02) / 0.09) - 0.24 * exp(0.3 * f$isthmus) * bump(0.76, 0.055)) +
    2.6 * exp(0.2 * f$genu) * bump(0.215, 0.06) +
    3 * exp(0.18 * f$splenium) * bump(0.965, 0.065)

  # Envelope of the discs of that radius along the centre line, closed by arcs of the first and last disc.
  slope <- c(half[2] - half[1], (half[-(1:2)] - half[seq_len(grid - 2)]) / 2, half[grid] - half[grid - 1]) / step
  upper <- centre + half * (-slope + 1i * sqrt(1 - slope^2)) * tangent
  lower <- centre + half * (-slope - 1i * sqrt(1 - slope^2)) * tangent
  arc <- function(middle, from, to) {
    angle <- (Arg(to - middle) - Arg(from - middle)) %% (2 * pi) - 2 * pi
    middle + (from - middle) * exp(1i * angle * seq(0, 1, length.out = 61))
  }
  back <- arc(centre[grid], upper[grid], lower[grid])
  tip <- arc(centre[1], lower[1], upper[1])
  c(tip[31:61], upper[-1], back[-1], rev(lower)[-1], tip[2:31])
}

arc_length <- function(z) c(0, cumsum(Mod(diff(z))))

# Smooth outward displacement of sd `sd` mm: harmonics 3 to 9 of arc length with variances as order^-2.
roughen <- function(z, sd = 0.3) {
  u <- arc_length(z) / sum(Mod(diff(z)))
  m <- length(z)
  normal <- 1i * (c(z[-1], z[2]) - c(z[m - 1], z[-m]))
  normal <- normal / Mod(normal)
  order <- 3:9
  amplitude <- sd * (1 / order) / sqrt(sum(1 / order^2))
  a <- rnorm(length(order)) * amplitude
  b <- rnorm(length(order)) * amplitude
  angle <- 2 * pi * outer(u, order)
  z + drop(cos(angle) %*% a + sin(angle) %*% b) * normal
}

# Landmarks at equal arc length; the first point of the outline is the first landmark and isn't repeated.
place_landmarks <- function(z, k) {
  u <- arc_length(z)
  at <- u[length(u)] * (seq_len(k) - 1) / k
  complex(real = approx(u, Re(z), at)$y, imaginary = approx(u, Im(z), at)$y)
}

# Standard normal within +-2.5, so that no individual is far from the template.
bounded_normal <- function(m) qnorm(runif(m, pnorm(-2.5), pnorm(2.5)))

draw <- function() {
  z <- place_landmarks(roughen(callosum_outline(bounded_normal(length(shape_factors)))), landmarks)
  # Size, tilt and place of the head in the scanner: they are no part of the shape.
  size <- exp(0.06 * bounded_normal(1))
  tilt <- exp(1i * 8 * pi / 180 * bounded_normal(1))
  shift <- complex(real = bounded_normal(1), imaginary = bounded_normal(1))
  size * tilt * (z - mean(z)) + 6 * shift
}

z <- replicate(n, draw())
callosa <- array(NA_real_, c(landmarks, 2, n), dimnames = list(NULL, c("x", "y"), NULL))
callosa[, "x", ] <- round(Re(z), 2)
callosa[, "y", ] <- round(Im(z), 2)

# Checks on the rounded landmarks.
preshape <- function(z) {
  z <- z - mean(z)
  z / sqrt(sum(Mod(z)^2))
}
# arccos|x*y| from sine and cosine, since arccos loses half the digits near 1.
shape_distance <- function(x, y) {
  inner <- sum(Conj(x) * y)
  atan2(sqrt(sum(Mod(y - inner * x)^2)), Mod(inner))
}
p <- apply(callosa, 3, function(x) preshape(complex(real = x[, 1], imaginary = x[, 2])))

# Full Procrustes mean: the leading eigenvector of the sum of z z*.
procrustes_mean <- eigen(p %*% Conj(t(p)), symmetric = TRUE)$vectors[, 1]
to_mean <- apply(p, 2, shape_distance, x = procrustes_mean)
template <- preshape(place_landmarks(callosum_outline(), landmarks))
to_template <- apply(p, 2, shape_distance, x = template)

# Intrinsic (Fréchet) mean by fixed-point steps; it differs a little from the Procrustes mean.
frechet <- procrustes_mean
for (i in 1:100) {
  gradient <- rowMeans(apply(p, 2, function(y) {
    inner <- sum(Conj(frechet) * y)
    side <- y * Conj(inner) / Mod(inner) - Mod(inner) * frechet
    if (sum(Mod(side)^2) == 0) side else side / sqrt(sum(Mod(side)^2)) * shape_distance(frechet, y)
  }))
  length_gradient <- sqrt(sum(Mod(gradient)^2))
  if (length_gradient < 1e-12) break
  frechet <- preshape(cos(length_gradient) * frechet + sin(length_gradient) * gradient / length_gradient)
}
to_frechet <- apply(p, 2, shape_distance, x = frechet)

# TRUE if no two sides of the closed polygon cross.
is_simple <- function(x) {
  k <- nrow(x)
  b <- x[c(2:k, 1), ]
  area <- function(p, q, r) (q[, 1] - p[, 1]) * (r[, 2] - p[, 2]) - (q[, 2] - p[, 2]) * (r[, 1] - p[, 1])
  pair <- combn(k, 2)
  i <- pair[1, ]
  j <- pair[2, ]
  apart <- (j - i) %in% 2:(k - 2)
  i <- i[apart]
  j <- j[apart]
  x_i <- x[i, ]
  b_i <- b[i, ]
  x_j <- x[j, ]
  b_j <- b[j, ]
  !any(area(x_i, b_i, x_j) * area(x_i, b_i, b_j) <= 0 & area(x_j, b_j, x_i) * area(x_j, b_j, b_i) <= 0)
}

stopifnot(
  identical(dim(callosa), c(50L, 2L, 409L)),
  all(is.finite(callosa)),
  length_gradient < 1e-12,
  # the radius that the help page states, below the limit pi / 8 of Kendall's planar shapes
  max(to_mean, to_frechet, to_template) < 0.22,
  all(apply(callosa, 3, is_simple))
)

message(sprintf("distance to the Procrustes mean: median %.4f, maximum %.4f", median(to_mean), max(to_mean)))
message(sprintf("maximum to the Frechet mean %.4f, to the template %.4f", max(to_frechet), max(to_template)))

save(callosa, file = "data/callosa.rda", version = 2, compress = "xz")

# The template in mm, centred: a public centre, since no simulated individual went into it.
z <- place_landmarks(callosum_outline(), landmarks)
z <- z - mean(z)
callosum_template <- round(cbind(x = Re(z), y = Im(z)), 2)
save(callosum_template, file = "data/callosum_template.rda", version = 2, compress = "xz")
