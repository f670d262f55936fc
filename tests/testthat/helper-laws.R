# Every law on every manifold. A new manifold is one line in `all_manifolds()`.

# the short form: where it is asked for, and on machines that check packages by the thousand
quick <- function() nzchar(Sys.getenv("RIEMDP_QUICK")) || !identical(Sys.getenv("NOT_CRAN"), "true")

# counts z of two-sided geometric noise of scale 2: chi-square against its law, at rate 1e-6
expect_geometric_2 <- function(z) {
  q <- exp(-0.5)
  edges <- -8:8
  p <- (1 - q) / (1 + q) * q^abs(edges)
  rest <- q^9 / (1 + q)
  seen <- c(sum(z < -8), vapply(edges, function(e) sum(z == e), 0), sum(z > 8))
  expect_gt(chisq.test(seen, p = c(rest, p, rest))$p.value, 1e-6)
}

# the sphere again, written in R through manifold_custom()
custom_sphere <- function(d) {
  n2 <- function(v) sqrt(rowSums(v^2))
  manifold_custom(d, d + 1,
    exp = function(p, v) {
      t <- n2(v)
      cos(t) * p + ifelse(t > 0, sin(t) / pmax(t, 1e-300), 1) * v
    },
    log = function(p, q) {
      v <- q - rowSums(p * q) * p
      s <- n2(v)
      ifelse(s > 0, 2 * atan2(n2(q - p), n2(q + p)) / pmax(s, 1e-300), 1) * v
    },
    project = function(x) x / n2(x),
    project_tangent = function(p, v) v - rowSums(p * v) * p,
    random = function(n) {
      x <- matrix(rnorm(n * (d + 1)), n)
      x / n2(x)
    },
    k_min = 1, k_max = 1, injectivity_radius = pi, symmetric = TRUE, label = "custom sphere"
  )
}

custom_torus <- function(d) {
  wrap <- function(a) (a + pi) %% (2 * pi) - pi
  manifold_custom(d, d, exp = function(p, v) wrap(p + v), log = function(p, q) wrap(q - p), project = wrap,
                  random = function(n) matrix(runif(n * d, -pi, pi), n), k_min = 0, k_max = 0,
                  injectivity_radius = pi, symmetric = TRUE, label = "flat torus")
}

# name, manifold, how far two points may be apart so that log is safely defined
all_manifolds <- function() {
  cases <- list(
    list(M = euclidean(1), reach = 3), list(M = euclidean(4), reach = 3),
    list(M = sphere(1), reach = 2.5), list(M = sphere(2), reach = 2.5), list(M = sphere(9), reach = 2.5),
    list(M = sphere(100), reach = 2.5),
    list(M = hyperbolic(1), reach = 3), list(M = hyperbolic(2), reach = 3), list(M = hyperbolic(6), reach = 3),
    list(M = hyperbolic(1, "ball"), reach = 3), list(M = hyperbolic(2, "ball"), reach = 3),
    list(M = hyperbolic(6, "ball"), reach = 3),
    list(M = spd(1), reach = 2), list(M = spd(2), reach = 2), list(M = spd(3), reach = 2), list(M = spd(5), reach = 2),
    list(M = spd(24), reach = 2),
    list(M = hermitian_spd(1), reach = 2), list(M = hermitian_spd(2), reach = 2), list(M = hermitian_spd(4), reach = 2),
    list(M = spd(1, "bures"), reach = 0.3), list(M = spd(2, "bures"), reach = 0.3), list(M = spd(4, "bures"), reach = 0.3),
    list(M = spd(1, "logeuclidean"), reach = 2), list(M = spd(2, "logeuclidean"), reach = 2),
    list(M = spd(4, "logeuclidean"), reach = 2),
    list(M = spd(1, "log-cholesky"), reach = 2), list(M = spd(2, "log-cholesky"), reach = 2), list(M = spd(3, "log-cholesky"), reach = 2),
    list(M = spd(9, "log-cholesky"), reach = 2),
    list(M = correlation(2), reach = 2), list(M = correlation(3), reach = 2), list(M = correlation(4), reach = 2), list(M = correlation(12), reach = 2),
    list(M = correlation(2, "log-cholesky"), reach = 2), list(M = correlation(3, "log-cholesky"), reach = 2),
    list(M = correlation(4, "log-cholesky"), reach = 2), list(M = correlation(12, "log-cholesky"), reach = 2),
    list(M = simplex(2), reach = 2), list(M = simplex(3, floor = 0), reach = 2), list(M = simplex(7), reach = 2), list(M = simplex(40), reach = 2),
    list(M = simplex(2, "fisher"), reach = 2), list(M = simplex(4, "fisher"), reach = 2),
    list(M = stiefel(3, 1), reach = 2), list(M = stiefel(4, 2), reach = 1.5), list(M = stiefel(3, 2), reach = 1.5),
    list(M = stiefel(3, 3), reach = 1.5), list(M = stiefel(8, 3), reach = 1.5),
    list(M = stiefel(3, 1, "canonical"), reach = 2), list(M = stiefel(4, 2, "canonical"), reach = 1.5),
    list(M = stiefel(3, 2, "canonical"), reach = 1.5), list(M = stiefel(3, 3, "canonical"), reach = 1.5),
    list(M = stiefel(8, 3, "canonical"), reach = 1.5),
    list(M = grassmann(2, 1), reach = 1.2), list(M = grassmann(3, 2), reach = 1.2), list(M = grassmann(4, 2), reach = 1.2),
    list(M = grassmann(7, 3), reach = 1.2), list(M = grassmann(5, 4), reach = 1.2),
    list(M = rotations(2), reach = 2.5), list(M = rotations(3), reach = 2.8), list(M = rotations(4), reach = 2), list(M = rigid(3, 0.5), reach = 2),
    list(M = kendall(3), reach = 1.2), list(M = kendall(4), reach = 1.2), list(M = kendall(20), reach = 1.2),
    list(M = kendall(4, 3), reach = 0.25), list(M = kendall(9, 3), reach = 0.25),
    list(M = size_and_shape(3), reach = 0.3), list(M = size_and_shape(7), reach = 0.3), list(M = size_and_shape(4, 3), reach = 0.25),
    list(M = psd(3, 1), reach = 0.3), list(M = psd(4, 2), reach = 0.3), list(M = psd(6, 4), reach = 0.3),
    list(M = custom_sphere(2), reach = 2.5), list(M = custom_torus(2), reach = 2.5),
    list(M = product(sphere(2), euclidean(2), weights = c(1, 1 / 4)), reach = 2),
    list(M = product(spd(2), sphere(1), weights = c(2, 1 / 2)), reach = 1.2), list(M = torus(3), reach = 2.5),
    list(M = product(product(power(sphere(2), 2), kendall(3), weights = c(1, 3)), hyperbolic(2, "ball"), grassmann(4, 2),
                     weights = c(2, 1 / 3, 5)), reach = 1.2),
    list(M = product(stiefel(4, 2, "canonical"), spd(2, "bures"), hyperbolic(2), weights = c(1, 2, 1)), reach = 0.3),
    list(M = product(custom_sphere(1), euclidean(1), weights = c(4, 1)), reach = 2),
    list(M = product(kendall(4), weights = 4), reach = 2), list(M = product(spd(2, "bures"), weights = 1 / 4), reach = 0.15),
    list(M = hyperbolic(2, "ball", curvature = -2), reach = 2),
    list(M = product(correlation(3), simplex(3), sphere(1), weights = c(2, 1 / 2, 1)), reach = 1.2)
  )
  # under valgrind and the like: small sizes only, which take every path
  if (quick()) cases <- Filter(function(case) mf_facts(case$M)$dimension <= 6, cases)
  cases
}

label_of <- function(M) riemdp:::manifold_label(M)

# whether a space of one of these names, or a product with such a part
has_part <- function(M, names) grepl(names, riemdp:::manifold_key(M))

# n points of M at distance at most `reach` from each other's base, with their bases
law_pairs <- function(case, n, seed = 11) {
  set.seed(seed)
  M <- case$M
  d <- mf_facts(M)$dimension
  p <- if (M$name == "custom") mf_random(M, n) else mf_random(M, n, sd = 0.4)
  v <- unit_tangents(M, p, n)
  length <- case$reach * runif(n)^0.5
  v <- scale_records(M, v, length)
  list(p = p, v = v, q = mf_exp(M, p, v), length = length, n = n, d = d)
}

unit_tangents <- function(M, p, n) {
  v <- mf_random_tangent(M, p, n)
  scale_records(M, v, 1 / mf_norm(M, p, v))
}

# multiply record i by s[i], in any plain shape
scale_records <- function(M, v, s) {
  facts <- mf_facts(M)
  if (facts$rows == 0) {
    if (is.null(dim(v))) v * s else v * as.vector(s)
  } else {
    d <- dim(v)
    array(as.vector(v) * rep(s, each = length(v) / length(s)), d)
  }
}

record <- function(M, x, i) {
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$cols == 0) x[, i] else if (facts$rows > 0) x[, , i] else if (is.null(dim(x))) x[i] else x[i, ]
}

gap <- function(a, b) max(abs(a - b))

# What a mean that was stopped on its way tells of its gradient and its squares, which are sums over blocks and lanes, is what the logarithms of
# single records say
expect_mean_told <- function(case, count, tolerance) {
  M <- case$M
  set.seed(count)
  from <- record(M, mf_random(M, 2, sd = 0.2), 1)
  v <- mf_random_tangent(M, from, count + 1) # one alone has another shape
  v <- scale_records(M, v, c(case$reach * (0.1 + seq_len(count) / count / 4), 0) / mf_norm(M, from, v))
  x <- mf_points(mf_exp(M, from, v), M)[seq_len(count)]
  told <- suppressWarnings(frechet_mean(x, M, max_iter = 1, start = from))
  at <- told$mean
  g <- colMeans(matrix(mf_coords(M, at, mf_log(M, at, x)), count))
  expect_lt(abs(told$gradient_norm - sqrt(sum(g^2))), tolerance)
  expect_equal(told$variance, mean(mf_dist(M, at, x)^2), tolerance = tolerance)
}

# evaluates under an elapsed time limit that ends with the expression
with_time_limit <- function(seconds, expr) {
  setTimeLimit(elapsed = seconds, transient = TRUE)
  on.exit(setTimeLimit(elapsed = Inf))
  expr
}

# The charts of flat spaces by plain R: coordinates of one point, orthonormal in some order, and back. Of a unit lower triangular matrix the
# logarithm by its finite series, of a symmetric one by eigen().
chart_of <- function(M, x) {
  low <- function(x) x[lower.tri(x)]
  log_symmetric <- function(x) {
    e <- eigen(x, symmetric = TRUE)
    e$vectors %*% (log(e$values) * t(e$vectors))
  }
  switch(M$name,
    simplex_aitchison = log(x) - mean(log(x)),
    spd_logcholesky = {
      l <- t(chol(x))
      c(log(diag(l)), low(l))
    },
    correlation_logcholesky = {
      l <- t(chol(x))
      a <- l / diag(l) - diag(nrow(x))
      power <- a
      out <- 0
      for (t in seq_len(nrow(x) - 1)) {
        out <- out - (-1)^t * power / t
        power <- power %*% a
      }
      low(out)
    },
    correlation_offlog = sqrt(2) * low(log_symmetric(x))
  )
}

chart_back <- function(M, a) {
  k <- M$param
  lower <- function(a) replace(matrix(0, k, k), lower.tri(diag(k)), a)
  switch(M$name,
    simplex_aitchison = exp(a) / sum(exp(a)),
    spd_logcholesky = tcrossprod(lower(a[-seq_len(k)]) + diag(exp(a[seq_len(k)]), k)),
    correlation_logcholesky = {
      n <- lower(a)
      g <- term <- diag(k)
      for (t in seq_len(k - 1)) g <- g + (term <- term %*% n / t)
      x <- tcrossprod(g / sqrt(rowSums(g^2)))
      replace(x, diag(k) == 1, 1)
    },
    correlation_offlog = {
      # the fixed point of Archakov and Hansen
      s <- lower(a / sqrt(2))
      s <- s + t(s)
      for (t in seq_len(500)) {
        e <- eigen(s, symmetric = TRUE)
        x <- e$vectors %*% (exp(e$values) * t(e$vectors))
        diag(s) <- diag(s) - log(diag(x))
      }
      x / sqrt(outer(diag(x), diag(x)))
    }
  )
}

# a random isometry of M that maps records of any plain shape (one or many), or NULL
isometry <- function(M) {
  set.seed(33)
  facts <- mf_facts(M)
  rotation <- function(n) qr.Q(qr(matrix(rnorm(n * n), n)))
  rows <- function(f) function(x) if (is.null(dim(x))) as.vector(f(matrix(x, ncol = facts$ambient))) else f(x)
  matrices <- function(f) function(x) {
    y <- apply(array(x, c(facts$rows, facts$cols, length(x) / facts$ambient)), 3, f)
    array(y, if (length(x) == facts$ambient) c(facts$rows, facts$cols) else dim(x))
  }
  symmetric <- function(x) (x + t(x)) / 2
  switch(M$name,
    euclidean = {
      q <- rotation(facts$ambient)
      shift <- rnorm(facts$ambient)
      rows(function(x) sweep(x %*% q, 2, shift, "+"))
    },
    sphere = {
      q <- rotation(facts$ambient)
      rows(function(x) x %*% q)
    },
    hyperboloid = {
      d <- facts$dimension
      boost <- diag(d + 1)
      boost[1:2, 1:2] <- matrix(c(cosh(0.7), sinh(0.7), sinh(0.7), cosh(0.7)), 2)
      turn <- diag(d + 1)
      turn[-1, -1] <- rotation(d)
      rows(function(x) x %*% turn %*% boost)
    },
    ball = {
      # through the hyperboloid and back
      d <- facts$dimension
      lorentz <- isometry(hyperbolic(d))
      rows(function(x) {
        s <- rowSums(x^2)
        y <- lorentz(cbind((1 + s) / (1 - s), 2 * x / (1 - s)))
        y[, -1, drop = FALSE] / (1 + y[, 1])
      })
    },
    spd_affine = {
      a <- matrix(rnorm(facts$ambient), facts$rows) + 2 * diag(facts$rows)
      matrices(function(x) symmetric(a %*% x %*% t(a)))
    },
    hermitian_spd = {
      complex_normal <- function() matrix(complex(real = rnorm(facts$rows^2), imaginary = rnorm(facts$rows^2)), facts$rows)
      a <- complex_normal() + 2 * diag(facts$rows)
      function(x) {
        y <- apply(array(x, c(facts$rows, facts$rows, length(x) / facts$rows^2)), 3, function(z) a %*% z %*% Conj(t(a)))
        (array(y, dim(x)) + aperm(Conj(array(y, dim(x))), c(2, 1, 3)[seq_along(dim(x))])) / 2
      }
    },
    spd_bures = , spd_logeuclidean = {
      q <- rotation(facts$rows)
      matrices(function(x) symmetric(q %*% x %*% t(q)))
    },
    spd_logcholesky = , correlation_logcholesky = {
      # signs of the variables, and a translation in the chart
      sign <- (-1)^seq_len(facts$rows)
      at <- mf_random(M, 1, sd = 0.5)[, , 1]
      by <- chart_of(M, at)
      matrices(function(x) chart_back(M, chart_of(M, sign * t(sign * x)) + by))
    },
    correlation_offlog = {
      order <- sample(facts$rows)
      sign <- sample(c(-1, 1), facts$rows, replace = TRUE)
      matrices(function(x) sign * t(sign * x[order, order]))
    },
    simplex_aitchison = {
      order <- sample(facts$ambient)
      by <- exp(rnorm(facts$ambient))
      rows(function(x) {
        y <- sweep(x[, order, drop = FALSE], 2, by, "*")
        y / rowSums(y)
      })
    },
    stiefel_euclidean = , stiefel_canonical = , grassmann = {
      q <- rotation(facts$rows)
      r <- rotation(facts$cols)
      matrices(function(x) q %*% x %*% r)
    },
    rotations = , rotations_frames = {
      proper <- function(q) q * (if (det(q) < 0) rep(c(-1, 1), c(facts$rows, facts$ambient - facts$rows)) else 1)
      q <- proper(rotation(facts$rows))
      r <- proper(rotation(facts$rows))
      matrices(function(x) q %*% x %*% r)
    },
    kendall = {
      order <- sample(facts$rows)
      function(x) {
        z <- matrix(x, facts$rows)
        y <- t(t(z[order, , drop = FALSE]) * (1 + seq_len(ncol(z)) / 3) * exp(1i * seq_len(ncol(z)))) + (2 - 1i)
        if (is.null(dim(x))) as.vector(y) else y
      }
    },
    kendall_space = {
      order <- sample(facts$rows)
      turn <- rotation(3)
      turn <- turn * det(turn)
      matrices(function(x) 1.5 * x[order, ] %*% turn + 2)
    },
    psd = {
      q <- rotation(facts$rows)
      r <- rotation(facts$cols)
      matrices(function(x) q %*% x %*% r)
    },
    size_plane = ,
    size_space = {
      order <- sample(facts$rows)
      turn <- rotation(facts$cols)
      turn <- turn %*% diag(c(det(turn), rep(1, facts$cols - 1)))
      matrices(function(x) x[order, ] %*% turn + 2)
    },
    product = {
      moves <- lapply(M$parts, isometry)
      if (length(moves) == 1) moves[[1]] else if (!any(vapply(moves, is.null, NA))) rows(function(x) {
        mf_join(M, lapply(seq_along(moves), function(i) moves[[i]](mf_part(M, x, i))))
      })
    }
  )
}

# transport of two tangent vectors u of matrices keeps products, turns back, is what geodesics do, and what the pole ladder finds
expect_carried <- function(M, p, q, u, back, ladder) {
  moved <- mf_transport(M, p, q, u)
  expect_equal(c(crossprod(matrix(moved, ncol = 2))), c(crossprod(matrix(u, ncol = 2))), tolerance = 1e-10)
  expect_lt(max(abs(mf_transport(M, q, p, moved) - u)), back)
  # a geodesic's velocity
  expect_lt(max(abs(mf_transport(M, p, q, mf_log(M, p, q)) + mf_log(M, q, p))), 1e-10)
  h <- 1e-3
  one <- matrix(u[, , 1], nrow(p))
  near <- mf_exp(M, p, 2 * h * mf_log(M, p, q))
  middle <- mf_exp(M, p, h * mf_log(M, p, q))
  up <- mf_exp(M, p, h * one)
  through <- mf_exp(M, up, 2 * mf_log(M, up, middle))
  expect_lt(max(abs(-mf_log(M, near, through) / h - mf_transport(M, p, near, one))), ladder)
}

record_range <- function(M, x, i) {
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$cols == 0) x[, i] else if (facts$rows > 0) x[, , i, drop = FALSE] else x[i, , drop = FALSE]
}

# points of a geodesic of the hyperbolic plane through the origin
hyperbolic_line <- function(t) cbind(cosh(t), sinh(t), 0)
