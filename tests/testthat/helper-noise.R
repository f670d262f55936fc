# Tangent vectors in orthonormal coordinates by plain R, from the metrics' formulas: no frame of the package is involved. One row a
# vector; "off" is the largest part, relative to the vectors, that isn't tangent.
plain_coords <- function(M, p, v) {
  facts <- mf_facts(M)
  d <- facts$dimension
  k <- facts$rows
  n <- length(v) / (facts$ambient / if (is.complex(v)) 2 else 1)
  rows <- function(v) if (is.matrix(v)) v else matrix(v, n)
  # V -> f V f' on each matrix of a batch (symmetric V)
  both_sides <- function(f, v) {
    once <- function(v) array(f %*% matrix(v, k), c(k, k, n))
    once(aperm(once(v), c(2, 1, 3)))
  }
  symmetric <- function(s, weight = matrix(1, k, k)) {
    s <- matrix(s, k * k)
    low <- lower.tri(diag(k))
    t(rbind(s[diag(k) == 1, , drop = FALSE] * diag(weight), sqrt(2) * s[low, , drop = FALSE] * weight[low]))
  }
  skew_off <- function(v) max(abs(v - aperm(v, c(2, 1, 3)))) / max(abs(v))
  spherical <- function() {
    v <- rows(v)
    list(v %*% qr.Q(qr(matrix(p)), complete = TRUE)[, -1, drop = FALSE], max(abs(v %*% p)) / max(abs(v)))
  }
  on_frames <- function(scale) {
    W <- matrix(p, k)
    r <- ncol(W)
    full <- qr.Q(qr(W), complete = TRUE)
    V <- matrix(v, k)
    top <- array(crossprod(W, V), c(r, r, n))
    rest <- if (k > r) matrix(crossprod(full[, -seq_len(r), drop = FALSE], V), (k - r) * r)
    if (is.null(scale)) {
      list(t(rest), max(abs(top)) / max(abs(v)))
    } else {
      a <- scale * matrix(top, r * r)[lower.tri(diag(r)), , drop = FALSE]
      list(t(rbind(a, rest)), max(abs(top + aperm(top, c(2, 1, 3)))) / max(abs(v)))
    }
  }
  out <- switch(if (M$name == "custom") if (facts$ambient > d) "sphere" else "euclidean" else M$name,
    euclidean = list(rows(v), 0),
    sphere = spherical(),
    hyperboloid = {
      v <- rows(v)
      size <- sqrt(sum(p^2)) * sqrt(max(rowSums(v^2)))
      list(v[, -1, drop = FALSE] - outer(v[, 1] / (1 + p[1]), p[-1]), max(abs(v %*% (c(-1, rep(1, d)) * p))) / size)
    },
    ball = list(2 * rows(v) / (1 - sum(p^2)), 0),
    spd_affine = {
      e <- eigen(matrix(p, k), symmetric = TRUE)
      list(symmetric(both_sides(t(e$vectors) / sqrt(e$values), v)), skew_off(array(v, c(k, k, n))))
    },
    hermitian_spd = {
      e <- eigen(matrix(p, k), symmetric = TRUE)
      f <- Conj(t(e$vectors)) / sqrt(e$values)
      v <- array(v, c(k, k, n))
      s <- matrix(apply(v, 3, function(z) f %*% z %*% Conj(t(f))), k * k)
      below <- sqrt(2) * s[lower.tri(diag(k)), , drop = FALSE]
      list(t(rbind(Re(s[diag(k) == 1, , drop = FALSE]), Re(below), Im(below))), max(Mod(v - Conj(aperm(v, c(2, 1, 3))))) / max(Mod(v)))
    },
    spd_bures = , spd_logeuclidean = {
      e <- eigen(matrix(p, k), symmetric = TRUE)
      x <- log(e$values)
      near <- abs(outer(x, x, "-")) < 1e-9
      quotient <- ifelse(near, 1 / e$values, outer(x, x, "-") / outer(e$values, e$values, "-"))
      weight <- if (M$name == "spd_bures") 1 / sqrt(2 * outer(e$values, e$values, "+")) else quotient
      list(symmetric(both_sides(t(e$vectors), v), weight), skew_off(array(v, c(k, k, n))))
    },
    simplex_aitchison = , spd_logcholesky = , correlation_logcholesky = , correlation_offlog = chart_coords(M, p, v, n),
    stiefel_euclidean = on_frames(sqrt(2)), stiefel_canonical = , rotations_frames = on_frames(1), grassmann = on_frames(NULL),
    rotations = {
      a <- array(crossprod(matrix(p, k), matrix(v, k)), c(k, k, n))
      skew <- (a - aperm(a, c(2, 1, 3))) / 2
      list(if (k == 2) matrix(skew[2, 1, ]) else cbind(skew[3, 2, ], skew[1, 3, ], skew[2, 1, ]) / 2,
           max(abs(a + aperm(a, c(2, 1, 3)))) / max(abs(v)))
    },
    kendall = {
      normal <- cbind(rep(1, k) / sqrt(k), p)
      real <- rbind(cbind(Re(normal), -Im(normal)), cbind(Im(normal), Re(normal)))
      q <- qr.Q(qr(real), complete = TRUE)
      y <- crossprod(q, rbind(Re(matrix(v, k)), Im(matrix(v, k))))
      list(t(y[-(1:4), , drop = FALSE]), max(abs(y[1:4, ])) / max(abs(v)))
    },
    kendall_space = { # shifts, the radius and turns are taken out
      turns <- vapply(1:3, function(a) as.vector(matrix(p, k) %*% outer(1:3, 1:3, function(i, j) (i - j) * (i != a) * (j != a))), double(3 * k))
      q <- qr.Q(qr(cbind(diag(3) %x% rep(1, k), as.vector(p), turns)), complete = TRUE)
      y <- crossprod(q, matrix(v, 3 * k))
      list(t(y[-(1:7), , drop = FALSE]), max(abs(y[1:7, ])) / max(abs(v)))
    },
    size_plane = , size_space = , psd = { # turns are taken out, and shifts
      m <- facts$cols
      turns <- if (m > 1) apply(utils::combn(m, 2), 2, function(a) {
        as.vector(matrix(p, k) %*% (diag(m)[, a[1]] %o% diag(m)[, a[2]] - diag(m)[, a[2]] %o% diag(m)[, a[1]]))
      })
      out <- cbind(if (M$name != "psd") diag(m) %x% rep(1, k), turns)
      if (is.null(out)) list(t(matrix(v, m * k)), 0) else {
        y <- crossprod(qr.Q(qr(out), complete = TRUE), matrix(v, m * k))
        list(t(y[-seq_len(ncol(out)), , drop = FALSE]), max(abs(y[seq_len(ncol(out)), ])) / max(abs(v)))
      }
    },
    product = if (length(M$parts) == 1) {
      own <- plain_coords(M$parts[[1]], p, v)
      list(sqrt(M$weights) * own, attr(own, "off"))
    } else {
      v <- rows(v)
      each <- lapply(seq_along(M$parts), function(i) plain_coords(M$parts[[i]], mf_part(M, p, i), mf_part(M, v, i)))
      list(do.call(cbind, Map(function(a, w) sqrt(w) * a, each, M$weights)), max(vapply(each, attr, 0, "off")))
    }
  )
  structure(out[[1]], off = out[[2]])
}

# the derivative of a plain chart along v by differences of four points; clr images in an orthonormal basis
chart_coords <- function(M, p, v, n) {
  if (M$name != "simplex_aitchison") p <- as.matrix(p)
  rows <- if (mf_facts(M)$rows > 0) t(matrix(v, ncol = n)) else matrix(v, n)
  move <- function(v) {
    if (M$name != "simplex_aitchison") v <- matrix(v, M$param)
    h <- 1e-3 / max(abs(chart_of(M, p)), 1) * min(1, least_step(M, p) / max(abs(v)))
    at <- function(t) chart_of(M, p + t * v)
    (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
  }
  a <- t(apply(rows, 1, move))
  if (nrow(a) != n) a <- t(a)
  if (M$name == "simplex_aitchison") a <- a %*% qr.Q(qr(cbind(1, diag(ncol(a))[, -1])))[, -1, drop = FALSE]
  off <- switch(M$name,
    simplex_aitchison = max(abs(rowSums(rows))) / max(abs(v)),
    max(abs(apply(array(v, c(M$param, M$param, n)), 3, function(x) x - t(x)))) / max(abs(v)))
  list(a, off)
}
least_step <- function(M, p) {
  if (M$name == "simplex_aitchison") min(p) else min(eigen(as.matrix(p), symmetric = TRUE, only.values = TRUE)$values)
}

# base points at which frames and factors might fail
awkward_base <- function(M) {
  facts <- mf_facts(M)
  k <- facts$rows
  axis <- function(n) c(-1, rep(0, n - 1))
  turn <- function() qr.Q(qr(matrix(cos(seq_len(k^2)^2), k)))
  switch(M$name,
    sphere = if (facts$dimension > 1) c(-1e-9, rep(sqrt((1 - 1e-18) / facts$dimension), facts$dimension)) else axis(2),
    hyperboloid = c(cosh(9), sinh(9), rep(0, facts$dimension - 1)),
    ball = c(0.9999, rep(0, facts$dimension - 1)),
    hermitian_spd = awkward_base(spd(k)) * exp(1i * outer(seq_len(k), seq_len(k), "-")),
    spd_affine = , spd_bures = , spd_logeuclidean = if (k > 1) { # condition 1e8
      q <- turn()
      w <- q %*% (10^seq(-5, 3, length.out = k) * t(q))
      (w + t(w)) / 2
    },
    stiefel_euclidean = , stiefel_canonical = , grassmann = -diag(k)[, k + 1 - seq_len(facts$cols), drop = FALSE],
    rotations = if (k == 2) -diag(2) else 2 / 3 - diag(3), # by pi
    rotations_frames = -diag(k)[, k:1],
    kendall = mf_project(M, complex(real = c(rep(0, k - 1), 1), imaginary = 0)),
    NULL
  )
}

# p-values of what standard normal vectors must satisfy, from batches of them: `next_rows()` gives a matrix, NULL at the end. Means,
# covariances (each the least of its entries' p-values times their number), trace, Mardia's skewness and kurtosis for known moments,
# the length, and projections on fixed directions.
normal_law <- function(next_rows, d) {
  n <- 0
  first <- double(d)
  second <- matrix(0, d, d)
  fourth <- 0
  few <- min(d, 6)
  triples <- as.matrix(expand.grid(seq_len(few), seq_len(few), seq_len(few)))
  triples <- triples[triples[, 1] <= triples[, 2] & triples[, 2] <= triples[, 3], , drop = FALSE]
  third <- double(nrow(triples))
  directions <- qr.Q(qr(matrix(cos(seq_len(d^2)^1.5), d)))
  squares <- lines <- list()
  while (!is.null(a <- next_rows())) {
    stopifnot(is.matrix(a), ncol(a) == d, all(is.finite(a)))
    n <- n + nrow(a)
    first <- first + colSums(a)
    second <- second + crossprod(a)
    r <- rowSums(a^2)
    fourth <- fourth + sum(r^2)
    b <- a %*% directions[, seq_len(few), drop = FALSE]
    # Hermite polynomials of order three, orthonormal under the law
    third <- third + apply(triples, 1, function(t) {
      x <- b[, t[1]]
      y <- b[, t[2]]
      z <- b[, t[3]]
      equal <- c(t[1] == t[2], t[2] == t[3])
      if (all(equal)) sum(x^3 - 3 * x) / sqrt(6) else if (equal[1]) sum((x^2 - 1) * z) / sqrt(2) else
        if (equal[2]) sum((y^2 - 1) * x) / sqrt(2) else sum(x * y * z)
    })
    squares[[length(squares) + 1]] <- r
    lines[[length(lines) + 1]] <- b[, seq_len(min(few, 3)), drop = FALSE]
  }
  two_sided <- function(z) 2 * stats::pnorm(-abs(z))
  ks <- function(x, ...) suppressWarnings(stats::ks.test(x, ...))$p.value
  worst <- function(z) min(1, length(z) * min(two_sided(z)))
  lines <- do.call(rbind, lines)
  z <- (second / n - diag(d)) * sqrt(n)
  diag(z) <- diag(z) / sqrt(2)
  c(
    mean = worst(first / sqrt(n)), covariance = worst(z[lower.tri(z, diag = TRUE)]),
    trace = two_sided((sum(diag(second)) / n - d) * sqrt(n / (2 * d))),
    skewness = stats::pchisq(sum(third^2) / n, length(third), lower.tail = FALSE),
    kurtosis = two_sided((fourth / n - d * (d + 2)) * sqrt(n / (8 * d * (d + 2) * (d + 3)))),
    length = ks(unlist(squares), "pchisq", d),
    projections = min(1, ncol(lines) * min(apply(lines, 2, ks, "pnorm")))
  )
}

# noise at p in plain coordinates, made standard normal: Gaussian by its scale, Laplace through the distribution of its length
standard_noise <- function(M, p, n, sd, law = "gaussian", off = 1e-9, ...) {
  a <- plain_coords(M, p, tangent_noise(M, p, n, sd, law = law, ...))
  if (attr(a, "off") > off) stop("noise isn't tangent: ", format(attr(a, "off")))
  attr(a, "off") <- NULL
  if (law == "gaussian") return(a / sd)
  r <- sqrt(rowSums(a^2))
  a * sqrt(stats::qchisq(stats::pgamma(r / sd, ncol(a), lower.tail = FALSE), ncol(a), lower.tail = FALSE)) / r
}

# The mean of independent draws is what it should be; `sd` that of one draw, relative. 6 standard errors: false alarms below 2e-9 each.
near_mean <- function(values, expected, sd) expect_lt(abs(mean(values) / expected - 1), 6 * sd / sqrt(length(values)))

# what an expression prints, in one line
said <- function(expr) gsub("[[:space:]]+", " ", paste(utils::capture.output(expr), collapse = " "))
