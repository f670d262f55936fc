# Plain R, no package: logarithm and exponential at one point and many records. Gradients of the Frechet functional
# found with them decide how wrong an answer is. Written for clarity and accuracy, not for speed.
#
# An oracle is a list: log(m, x), the mean of the records' logarithms at m; exp(m, v); norm(m, v); error(a, b), a
# relative distance between two answers.

oracle_of <- list()

sum_over <- function(x, f) {
  total <- 0
  for (i in seq_len(dim(x)[3])) total <- total + f(x[, , i])
  total / dim(x)[3]
}

relative_frobenius <- function(a, b) sqrt(sum(Mod(a - b)^2) / sum(Mod(b)^2))

# log1p of the eigenvalues of the whitened difference, as accurate near m as elsewhere
oracle_of$spd_affine <- list(
  log = function(m, x) {
    r <- chol(m)
    inverse <- backsolve(r, diag(nrow(m)))
    whitened <- sum_over(x, function(y) symmetric_function(crossprod(inverse, (y - m) %*% inverse), log1p))
    crossprod(r, whitened %*% r)
  },
  exp = function(m, v) {
    r <- chol(m)
    inverse <- backsolve(r, diag(nrow(m)))
    out <- crossprod(r, symmetric_function(crossprod(inverse, v %*% inverse), exp) %*% r)
    (out + t(out)) / 2
  },
  norm = function(m, v) {
    inverse <- backsolve(chol(m), diag(nrow(m)))
    sqrt(sum(crossprod(inverse, v %*% inverse)^2))
  },
  error = relative_frobenius
)

oracle_of$spd_bures <- list(
  log = function(m, x) {
    root <- symmetric_function(m, sqrt)
    inverse <- solve(root)
    a <- root %*% sum_over(x, function(y) symmetric_function(root %*% y %*% root, sqrt)) %*% inverse
    a + t(a) - 2 * m
  },
  exp = function(m, v) {
    e <- eigen(m, symmetric = TRUE)
    l <- e$vectors %*% (crossprod(e$vectors, v %*% e$vectors) / outer(e$values, e$values, "+")) %*% t(e$vectors)
    out <- (diag(nrow(m)) + l) %*% m %*% (diag(nrow(m)) + l)
    (out + t(out)) / 2
  },
  norm = function(m, v) {
    e <- eigen(m, symmetric = TRUE)
    sqrt(sum(crossprod(e$vectors, v %*% e$vectors)^2 / outer(e$values, e$values, "+")) / 2)
  },
  error = relative_frobenius
)

oracle_of$sphere <- list(
  log = function(m, x) {
    m <- drop(m)
    along <- drop(x %*% m)
    across <- x - outer(along, m)
    s <- sqrt(rowSums(across^2))
    v <- colMeans(across * ifelse(s > 0, atan2(s, along) / s, 1))
    v - sum(v * m) * m
  },
  exp = function(m, v) {
    length <- sqrt(sum(v^2))
    out <- cos(length) * drop(m) + (if (length > 0) sin(length) / length else 1) * v
    out / sqrt(sum(out^2))
  },
  norm = function(m, v) sqrt(sum(v^2)),
  error = function(a, b) relative_frobenius(drop(a), drop(b))
)

preshape <- function(z) {
  z <- as.matrix(z)
  z <- z - rep(colMeans(z), each = nrow(z))
  z / rep(sqrt(colSums(Mod(z)^2)), each = nrow(z))
}

oracle_of$kendall <- list(
  log = function(m, x) {
    m <- drop(preshape(m))
    y <- preshape(x)
    inner <- drop(Conj(m) %*% y)
    y <- y * rep(Conj(inner) / Mod(inner), each = nrow(y))
    across <- y - outer(m, Mod(inner))
    s <- sqrt(colSums(Mod(across)^2))
    drop(across %*% (atan2(s, Mod(inner)) / s)) / ncol(y)
  },
  exp = function(m, v) {
    length <- sqrt(sum(Mod(v)^2))
    drop(preshape(cos(length) * drop(preshape(m)) + (if (length > 0) sin(length) / length else 1) * v))
  },
  norm = function(m, v) sqrt(sum(Mod(v)^2)),
  error = function(a, b) {
    a <- drop(preshape(a))
    b <- drop(preshape(b))
    inner <- sum(Conj(b) * a)
    sqrt(sum(Mod(a - b * inner)^2))
  }
)

oracle_of$grassmann <- list(
  log = function(m, x) {
    sum_over(x, function(y) {
      wy <- crossprod(m, y)
      s <- svd((y - m %*% wy) %*% solve(wy))
      s$u %*% (atan(s$d) * t(s$v))
    })
  },
  exp = function(m, v) {
    s <- svd(v)
    qr.Q(qr(m %*% s$v %*% (cos(s$d) * t(s$v)) + s$u %*% (sin(s$d) * t(s$v))))
  },
  norm = function(m, v) sqrt(sum(v^2)),
  error = function(a, b) sqrt(sum((a - b %*% crossprod(b, a))^2) / ncol(b))
)

# Stiefel logarithms have no closed form. riemdp's are taken and each is verified by the exponential below: what exp
# carries to the record, and is shorter than the injectivity radius, is the logarithm. NA where one fails.
stiefel_exp <- function(m, v, c) {
  p <- ncol(m)
  a <- crossprod(m, v)
  a <- (a - t(a)) / 2
  qr_k <- qr(v - m %*% crossprod(m, v))
  q <- qr.Q(qr_k)
  r <- qr.R(qr_k)[, order(qr_k$pivot), drop = FALSE]
  block <- rbind(cbind(c * a, -t(r)), cbind(r, matrix(0, p, p)))
  out <- cbind(m, q) %*% plain_expm(block)[, seq_len(p)]
  if (c == 1) out else out %*% plain_expm(-(c - 1) * a)
}

# Taylor's series after scaling, squared back: plenty for skew matrices of order ten
plain_expm <- function(a) {
  halvings <- max(0, ceiling(log2(max(colSums(abs(a)), 1e-300))) + 4)
  a <- a / 2^halvings
  term <- out <- diag(nrow(a))
  for (j in 1:14) {
    term <- term %*% a / j
    out <- out + term
  }
  for (j in seq_len(halvings)) out <- out %*% out
  out
}

oracle_stiefel <- function(M, c) {
  metric <- function(m, v) if (c == 1) sum(v^2) - sum(crossprod(m, v)^2) / 2 else sum(v^2)
  list(
    log = function(m, x) {
      v <- mf_log(M, m, x)
      wrong <- 0
      for (i in seq_len(dim(x)[3])) wrong <- max(wrong, abs(stiefel_exp(m, v[, , i], c) - x[, , i]))
      if (wrong > 1e-12) NA * m else apply(v, 1:2, mean)
    },
    exp = function(m, v) {
      s <- svd(stiefel_exp(m, v, c))
      tcrossprod(s$u, s$v)
    },
    norm = function(m, v) sqrt(metric(m, v)),
    error = relative_frobenius
  )
}

oracle_of$ball <- list(
  log = function(m, x) {
    m <- drop(m)
    y <- mobius_add(-m, x)
    length <- sqrt(rowSums(y^2))
    colMeans(y * ((1 - sum(m^2)) * atanh(length) / length))
  },
  exp = function(m, v) {
    length <- sqrt(sum(v^2))
    if (length == 0) return(drop(m))
    drop(mobius_add(drop(m), matrix(tanh(length / (1 - sum(m^2))) / length * v, 1)))
  },
  norm = function(m, v) 2 / (1 - sum(m^2)) * sqrt(sum(v^2)),
  error = function(a, b) relative_frobenius(drop(a), drop(b))
)

# Steps along the mean logarithm from `start` until the gradient no longer falls. Returns the best point and its
# gradient norm.
polish <- function(oracle, x, start, steps = 8) {
  best <- list(point = start, gradient = Inf)
  m <- start
  for (i in seq_len(steps)) {
    v <- oracle$log(m, x)
    g <- oracle$norm(m, v)
    if (is.na(g) || g >= best$gradient) break
    best <- list(point = m, gradient = g)
    if (g < 1e-15) break
    m <- oracle$exp(m, v)
  }
  best
}

# Batches: the same four maps of single records, for the sample of records that is checked
batch_oracle <- list(
  spd = list(
    log = function(p, q) oracle_of$spd_affine$log(p, array(q, c(dim(q), 1))),
    exp = function(p, v) oracle_of$spd_affine$exp(p, v),
    dist = function(p, q) oracle_of$spd_affine$norm(p, oracle_of$spd_affine$log(p, array(q, c(dim(q), 1)))),
    # E v E' with E = (q p^-1)^(1/2) = p^(1/2) (p^(-1/2) q p^(-1/2))^(1/2) p^(-1/2)
    transport = function(p, q, v) {
      root <- symmetric_function(p, sqrt)
      inverse <- symmetric_function(p, function(l) 1 / sqrt(l))
      e <- root %*% symmetric_function(inverse %*% q %*% inverse, sqrt) %*% inverse
      e %*% v %*% t(e)
    }
  ),
  sphere = list(
    log = function(p, q) oracle_of$sphere$log(p, matrix(q, 1)),
    exp = function(p, v) oracle_of$sphere$exp(p, v),
    dist = function(p, q) atan2(sqrt(sum((q - sum(p * q) * p)^2)), sum(p * q)),
    transport = function(p, q, v) v - sum(q * v) / (1 + sum(p * q)) * (p + q)
  )
)

# Geodesic regression with one predictor on the sphere or on planar shapes. An answer is the line where x is 0 and 1, two vectors of
# ambient numbers one after the other. Energy in plain R, its gradient by fourth-order differences, and Newton steps from riemdp's
# answer, where directions that don't move the points (scale, phase) are left out of the Hessian's inverse.
regression_oracle <- function(kind, d) {
  y <- if (kind == "sphere") t(d$y) else preshape(d$y)
  split_answer <- function(a) {
    half <- length(a) / 2
    two <- list(a[seq_len(half)], a[half + seq_len(half)])
    if (kind == "sphere") lapply(two, function(p) p / sqrt(sum(p^2))) else {
      lapply(two, function(p) drop(preshape(complex(real = p[seq_len(half / 2)], imaginary = p[half / 2 + seq_len(half / 2)]))))
    }
  }
  curve <- function(a, x) {
    two <- split_answer(a)
    c <- sum(Conj(two[[1]]) * two[[2]])
    if (kind == "kendall") two[[2]] <- two[[2]] * Conj(c) / Mod(c)
    c <- if (kind == "kendall") Mod(c) else c
    v <- two[[2]] - c * two[[1]]
    r <- sqrt(sum(Mod(v)^2))
    t <- atan2(r, c)
    outer(two[[1]], cos(x * t)) + outer(v / r, sin(x * t))
  }
  distance <- function(p, q) {
    c <- colSums(Conj(p) * q)
    r <- sqrt(colSums(Mod(q - p * rep(c, each = nrow(p)))^2))
    atan2(r, if (kind == "kendall") Mod(c) else c)
  }
  energy <- function(a) mean(distance(curve(a, d$x), y)^2) / 2
  gradient <- function(a, h = 1e-3) {
    vapply(seq_along(a), function(j) {
      e <- function(t) energy(replace(a, j, a[j] + t * h))
      (8 * (e(1) - e(-1)) - (e(2) - e(-2))) / (12 * h)
    }, 0)
  }
  size <- function(g) sqrt(sum(g^2))
  list(
    gradient = function(a) size(gradient(a)),
    error = function(a, b) max(distance(curve(a, c(0, 1)), curve(b, c(0, 1)))),
    polish = function(a, steps = 3) {
      best <- list(point = a, gradient = size(gradient(a)))
      for (i in seq_len(steps)) {
        g <- gradient(a)
        h <- 1e-4
        H <- vapply(seq_along(a), function(j) (gradient(replace(a, j, a[j] + h)) - gradient(replace(a, j, a[j] - h))) / (2 * h), a)
        e <- eigen((H + t(H)) / 2, symmetric = TRUE)
        keep <- abs(e$values) > 1e-6 * max(abs(e$values))
        a <- a - drop(e$vectors[, keep] %*% (crossprod(e$vectors[, keep], g) / e$values[keep]))
        now <- size(gradient(a))
        if (now >= best$gradient) break
        best <- list(point = a, gradient = now)
      }
      best
    }
  )
}
