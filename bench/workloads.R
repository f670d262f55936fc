# The data of every benchmark: functions of n and a seed, nothing else. Each returns records in riemdp's plain shapes.
# The generator is R's default (Mersenne Twister, inversion), pinned, so that a seed means the same records everywhere.

with_seed <- function(seed, expr) {
  old <- RNGkind("Mersenne-Twister", "Inversion", "Rejection")
  on.exit(RNGkind(old[1], old[2], old[3]))
  set.seed(seed)
  expr
}

random_orthonormal <- function(n, p = n) qr.Q(qr(matrix(rnorm(n * p), n)))[, seq_len(p), drop = FALSE]

# A root and exponential of symmetric matrices by R's own eigen(): no package under test makes its own data
symmetric_function <- function(x, f) {
  e <- eigen(x, symmetric = TRUE)
  out <- e$vectors %*% (f(e$values) * t(e$vectors))
  (out + t(out)) / 2
}

# SPD(k): M^(1/2) exp(S) M^(1/2), M = Q diag(geometric .3 to 3) Q', S the symmetric part of spread times a Gaussian
# matrix
data_spd <- function(n, k, spread, seed) {
  with_seed(seed, {
    q <- random_orthonormal(k)
    root <- q %*% (sqrt(exp(seq(log(0.3), log(3), length.out = k))) * t(q))
    x <- array(0, c(k, k, n))
    for (i in seq_len(n)) {
      g <- matrix(rnorm(k * k, sd = spread), k)
      y <- root %*% symmetric_function((g + t(g)) / 2, exp) %*% root
      x[, , i] <- (y + t(y)) / 2
    }
    x
  })
}

# The spreads that go with k in the tables; for other k one that keeps the norm of S near that of SPD(11)
spd_spread <- function(k) switch(as.character(k), "2" = 0.6, "11" = 0.4, "50" = 0.2, min(0.6, 4.4 / (k + 1)))

# Sphere in d + 1 coordinates: exp at a random mean of a tangent normal, sd r / sqrt(d) a coordinate, length cut at 1.4
data_sphere <- function(n, d, r, seed) {
  with_seed(seed, {
    mean <- rnorm(d + 1)
    mean <- mean / sqrt(sum(mean^2))
    basis <- qr.Q(qr(cbind(mean, diag(d + 1)[, seq_len(d)])))[, -1, drop = FALSE]
    v <- matrix(rnorm(n * d, sd = r / sqrt(d)), n) %*% t(basis)
    length <- sqrt(rowSums(v^2))
    cut <- pmin(length, 1.4)
    x <- outer(cos(cut), mean) + v * (sin(cut) / length)
    x / sqrt(rowSums(x^2))
  })
}

# Groups of n records each on the sphere, within .5 of the pole: means at a spread of directions, the same for each n.
# Private groups (by =) against public keys, dp_mean() of each group with its number public, at equal epsilon.
data_groups <- function(n, groups, seed) {
  with_seed(seed, {
    turn <- 2 * pi * seq_len(groups) / groups
    a <- cbind(0.15 * cos(turn), 0.15 * sin(turn))[rep(seq_len(groups), each = n), , drop = FALSE]
    a <- a + matrix(rnorm(2 * n * groups, sd = 0.1), n * groups)
    long <- sqrt(rowSums(a^2))
    list(x = cbind(a * (sin(long) / long), cos(long)), flat = a, by = factor(rep(seq_len(groups), each = n)))
  })
}

# Mean error with private groups over that with public keys, n records in each, on the sphere or the plane; delta = 0: the pure laws
groups_ratio <- function(n, epsilon = 2, delta = 0, groups = 4, repeats = 50, neighbours = "replace", plane = FALSE, ...) {
  data <- data_groups(n, groups, 1)
  M <- if (plane) riemdp::euclidean(2) else riemdp::sphere(2)
  center <- if (plane) c(0, 0) else c(0, 0, 1)
  x <- if (plane) data$flat else data$x
  truth <- lapply(split(seq_along(data$by), data$by), function(i) {
    riemdp::frechet_mean(riemdp::mf_to_ball(M, x[i, ], center, 0.5), M)$mean
  })
  errors <- vapply(seq_len(repeats), function(i) {
    g <- riemdp::dp_mean(x, M, epsilon, center, 0.5, delta = delta, by = data$by, neighbours = neighbours, post = FALSE, ...)
    vapply(seq_len(groups), function(k) {
      own <- riemdp::dp_mean(x[data$by == k, ], M, epsilon, center, 0.5, delta = delta, post = FALSE, ...)
      c(riemdp::mf_dist(M, g[[k]]$value, truth[[k]]), riemdp::mf_dist(M, own$value, truth[[k]]))
    }, numeric(2))
  }, matrix(0, 2, groups))
  mean(errors[1, , ]) / mean(errors[2, , ])
}

# Kendall: 50 landmarks on (1 + .3 cos 3t)(1.5 cos t, sin t), noise .15 a coordinate, random turn, scale on [.5, 2],
# shift sd 3
data_kendall <- function(n, k = 50, seed) {
  with_seed(seed, {
    t <- 2 * pi * (seq_len(k) - 1) / k
    outline <- (1 + 0.3 * cos(3 * t)) * complex(real = 1.5 * cos(t), imaginary = sin(t))
    noise <- matrix(complex(real = rnorm(k * n, sd = 0.15), imaginary = rnorm(k * n, sd = 0.15)), k)
    turn <- exp(1i * runif(n, 0, 2 * pi)) * runif(n, 0.5, 2)
    shift <- complex(real = rnorm(n, sd = 3), imaginary = rnorm(n, sd = 3))
    (outline + noise) * rep(turn, each = k) + rep(shift, each = k)
  })
}

# Grassmann(n, p): exp at a random base of horizontal normal noise
data_grassmann <- function(records, n = 50, p = 5, sd = 0.07, seed) {
  with_seed(seed, {
    w <- random_orthonormal(n, p)
    x <- array(0, c(n, p, records))
    for (i in seq_len(records)) {
      u <- matrix(rnorm(n * p, sd = sd), n)
      s <- svd(u - w %*% crossprod(w, u))
      x[, , i] <- w %*% s$v %*% (cos(s$d) * t(s$v)) + s$u %*% (sin(s$d) * t(s$v))
    }
    x
  })
}

# Stiefel(n, p): polar factor of base + .06 G
data_stiefel <- function(records, n = 50, p = 5, sd = 0.06, seed) {
  with_seed(seed, {
    w <- random_orthonormal(n, p)
    x <- array(0, c(n, p, records))
    for (i in seq_len(records)) {
      s <- svd(w + matrix(rnorm(n * p, sd = sd), n))
      x[, , i] <- tcrossprod(s$u, s$v)
    }
    x
  })
}

# Ungar's addition in Poincare's ball, row by row; a may be one point
mobius_add <- function(a, b) {
  if (!is.matrix(a)) a <- matrix(a, nrow(b), length(a), byrow = TRUE)
  ab <- rowSums(a * b)
  aa <- rowSums(a^2)
  bb <- rowSums(b^2)
  ((1 + 2 * ab + bb) * a + (1 - aa) * b) / (1 + 2 * ab + aa * bb)
}

# Hyperbolic: exp at the ball's centre of a tangent normal (.35 a coordinate of the ball), then translated by `at`
data_ball <- function(n, seed, at = c(0.3, -0.2, 0.1, 0.25, -0.1)) {
  with_seed(seed, {
    v <- matrix(rnorm(n * length(at), sd = 0.35), n)
    length <- sqrt(rowSums(v^2))
    mobius_add(at, v * (tanh(length) / length))
  })
}

# The same points on the hyperboloid
ball_to_hyperboloid <- function(x) {
  s <- 1 - rowSums(x^2)
  cbind((2 - s) / s, 2 * x / s)
}

hyperboloid_to_ball <- function(x) x[, -1, drop = FALSE] / (1 + x[, 1])

# Geodesic regression on the sphere: p = e1, v = (0, .9, .6), x uniform on [0, 1], normal noise .1 in the tangent plane
data_regression_sphere <- function(n, seed) {
  with_seed(seed, {
    v <- c(0, 0.9, 0.6)
    speed <- sqrt(sum(v^2))
    x <- runif(n)
    line <- outer(cos(speed * x), c(1, 0, 0)) + outer(sin(speed * x), v / speed)
    g <- matrix(rnorm(3 * n, sd = 0.1), n)
    u <- g - rowSums(g * line) * line
    length <- sqrt(rowSums(u^2))
    y <- cos(length) * line + u * (sin(length) / length)
    list(x = x, y = y / sqrt(rowSums(y^2)))
  })
}

# Geodesic regression on planar shapes: the outline of data_kendall() turning into another one, x uniform on [0, 1], noise .05 a
# coordinate, random turn, scale and shift
data_regression_kendall <- function(n, k = 8, seed) {
  with_seed(seed, {
    t <- 2 * pi * (seq_len(k) - 1) / k
    x <- runif(n)
    one <- (1 + 0.3 * cos(3 * t)) * complex(real = 1.5 * cos(t), imaginary = sin(t))
    two <- complex(real = cos(t), imaginary = 1.2 * sin(t)) + 0.2 * sin(2 * t)
    z <- outer(one, 1 - x) + outer(two, x) + complex(real = rnorm(k * n, sd = 0.05), imaginary = rnorm(k * n, sd = 0.05))
    z <- z * rep(exp(1i * runif(n, 0, 2 * pi)) * runif(n, 0.5, 2), each = k)
    list(x = x, y = z + rep(complex(real = rnorm(n, sd = 3), imaginary = rnorm(n, sd = 3)), each = k))
  })
}

# Geodesic regression on SPD(2): p = I, v = (.5, .2; .2, -.3), x uniform on [0, 1], symmetric noise of spread .15
data_regression_spd <- function(n, seed) {
  with_seed(seed, {
    v <- matrix(c(0.5, 0.2, 0.2, -0.3), 2)
    x <- runif(n)
    y <- array(0, c(2, 2, n))
    for (i in seq_len(n)) {
      root <- symmetric_function(x[i] * v / 2, exp)
      g <- matrix(rnorm(4, sd = 0.15), 2)
      z <- root %*% symmetric_function((g + t(g)) / 2, exp) %*% root
      y[, , i] <- (z + t(z)) / 2
    }
    list(x = x, y = y)
  })
}

# Rotations of space about a random one, half rotation vectors normal, sd .4 a coordinate; by Rodrigues' formula
data_rotations <- function(n, seed) {
  with_seed(seed, {
    base <- random_orthonormal(3)
    if (det(base) < 0) base[, 1] <- -base[, 1]
    a <- matrix(rnorm(3 * n, sd = 0.4), n)
    rotations_exp(matrix(base, n, 9, byrow = TRUE), skew_rows(base, a))
  })
}

# Rotations in plain R, one a row of nine columns: what a patient hand would write
rows_pull <- function(p, u) { # p'u
  out <- matrix(0, nrow(p), 9)
  for (k in 0:2) for (j in 0:2) {
    out[, 1 + j + 3 * k] <- p[, 1 + 3 * j] * u[, 1 + 3 * k] + p[, 2 + 3 * j] * u[, 2 + 3 * k] + p[, 3 + 3 * j] * u[, 3 + 3 * k]
  }
  out
}

rows_push <- function(p, a) { # p a
  out <- matrix(0, nrow(p), 9)
  for (k in 0:2) for (i in 1:3) out[, i + 3 * k] <- p[, i] * a[, 1 + 3 * k] + p[, i + 3] * a[, 2 + 3 * k] + p[, i + 6] * a[, 3 + 3 * k]
  out
}

skew_rows <- function(base, a) {
  rows_push(matrix(base, nrow(a), 9, byrow = TRUE), cbind(0, a[, 3], -a[, 2], -a[, 3], 0, a[, 1], a[, 2], -a[, 1], 0))
}

rotations_turn <- function(p, q) {
  e <- rows_pull(p, q)
  list(x = cbind(e[, 6] - e[, 8], e[, 7] - e[, 3], e[, 2] - e[, 4]) / 2, cosine = (e[, 1] + e[, 5] + e[, 9] - 1) / 2)
}

rotations_log <- function(p, q) {
  turn <- rotations_turn(p, q)
  s <- sqrt(rowSums(turn$x^2))
  a <- turn$x * ifelse(s > 1e-8, atan2(s, turn$cosine) / s, 1)
  rows_push(p, cbind(0, a[, 3], -a[, 2], -a[, 3], 0, a[, 1], a[, 2], -a[, 1], 0))
}

rotations_dist <- function(p, q) {
  turn <- rotations_turn(p, q)
  atan2(sqrt(rowSums(turn$x^2)), turn$cosine)
}

rotations_exp <- function(p, v) {
  a <- rotations_turn(p, v)$x
  x <- a[, 1]
  y <- a[, 2]
  z <- a[, 3]
  t <- sqrt(x * x + y * y + z * z)
  s <- ifelse(t > 1e-8, sin(t) / t, 1)
  c <- ifelse(t > 1e-4, (1 - cos(t)) / t^2, 0.5)
  rows_push(p, cbind(1 - c * (y * y + z * z), s * z + c * x * y, c * x * z - s * y, c * x * y - s * z, 1 - c * (x * x + z * z), s * x + c * y * z,
                     s * y + c * x * z, c * y * z - s * x, 1 - c * (x * x + y * y)))
}

# Correlation matrices: of L L', L unit lower triangular with normal entries, sd .3
data_correlation <- function(n, k, seed) {
  with_seed(seed, {
    vapply(seq_len(n), function(i) {
      l <- diag(k)
      l[lower.tri(l)] <- rnorm(k * (k - 1) / 2, sd = 0.3)
      cov2cor(tcrossprod(l))
    }, matrix(0, k, k))
  })
}

data_circle <- function(n, seed) {
  with_seed(seed, {
    angle <- rnorm(n, sd = 0.4)
    cbind(cos(angle), sin(angle))
  })
}
