# Statistical bounds: 5.5 standard errors of each of some 1e4 entries and p > 1e-7 of each of some 150 tests. Seeds are fixed, but for
# the test of the system's stream, which fails by chance less than once in 1e5 runs.

draws_of <- function(M, p, n, sd, ...) as.matrix(mf_coords(M, p, tangent_noise(M, p, n, sd, ...)))

expect_isotropic <- function(a, sd, label, d = ncol(a)) {
  n <- nrow(a)
  s <- crossprod(a) / (n * sd^2)
  z <- (s - diag(d)) * sqrt(n)
  diag(z) <- diag(z) / sqrt(2)
  expect_lt(max(abs(z)), 5.5, label = label)
  expect_lt(max(abs(colMeans(a))) / sd * sqrt(n), 5.5, label = label)
  r <- rowSums(a^2) / sd^2
  expect_gt(suppressWarnings(stats::ks.test(r, "pchisq", d))$p.value, 1e-7, label = label)
  # the trace decides on the scale: a constant that is 5 % wrong is seen
  expect_lt(abs(mean(r) / d - 1) * sqrt(n * d / 2), 5.5, label = label)
  stopifnot(sqrt(2 / (n * d)) * 5.5 < 0.05)
}

test_that("noise has covariance sd^2 I in orthonormal coordinates on every manifold", {
  for (case in all_manifolds()) {
    M <- case$M
    d <- mf_facts(M)$dimension
    n <- if (M$name == "custom") 30000 / d else if (d > 40) 1500 else 25000
    set.seed(5)
    p <- record(M, if (M$name == "custom") mf_random(M, 2) else mf_random(M, 2, sd = 0.7), 1)
    with_simulation(3, expect_isotropic(draws_of(M, p, n, 0.3), 0.3, label_of(M)))
  }
})

test_that("noise is right at ill-conditioned base points and at the edges of charts", {
  d <- diag(10^seq(-4, 4, length.out = 4))
  q <- qr.Q(qr(matrix(c(1, 2, 3, 4, 2, 1, 5, 2, 7, 1, 0, 2, 3, 3, 1, 1), 4)))
  w <- q %*% d %*% t(q)
  w <- (w + t(w)) / 2
  with_simulation(8, {
    expect_isotropic(draws_of(spd(4), w, 25000, 2), 2, "affine")
    expect_isotropic(draws_of(spd(4, "bures"), diag(10^seq(-4, 2, 2)), 25000, 2), 2, "bures")
    expect_isotropic(draws_of(spd(4, "logeuclidean"), diag(10^seq(-4, 2, 2)), 25000, 2), 2, "logeuclidean")
    expect_isotropic(draws_of(hyperbolic(3, "ball"), c(0.99, 0.1, 0), 25000, 2), 2, "ball")
    expect_isotropic(draws_of(sphere(3), c(-1, 0, 0, 0), 25000, 2), 2, "sphere")
  })
})

test_that("the metric's length has the closed-form law on independent formulas", {
  # tr(W^-1 U W^-1 U) written out, and 4|u|^2/(1 - |w|^2)^2: no frame of the package is involved
  w <- matrix(c(3, 1, 0.5, 1, 2, 0.3, 0.5, 0.3, 1), 3)
  with_simulation(4, u <- tangent_noise(spd(3), w, 20000, 0.5))
  i <- solve(w)
  sq <- apply(u, 3, function(s) sum(diag(i %*% s %*% i %*% s)))
  expect_gt(suppressWarnings(stats::ks.test(sq / 0.25, "pchisq", 6))$p.value, 1e-7)
  x <- c(0.5, -0.3)
  with_simulation(4, u <- tangent_noise(hyperbolic(2, "ball"), x, 20000, 0.5))
  sq <- 4 * rowSums(u^2) / (1 - sum(x^2))^2
  expect_gt(suppressWarnings(stats::ks.test(sq / 0.25, "pchisq", 2))$p.value, 1e-7)
  # Stiefel, Euclidean metric: tangent at W and of Frobenius length
  q <- qr.Q(qr(matrix(c(1, 2, 3, 4, 2, 1, 5, 2, 7, 1), 5)))
  with_simulation(4, u <- tangent_noise(stiefel(5, 2), q, 20000, 0.5))
  normal <- apply(u, 3, function(s) max(abs(crossprod(q, s) + crossprod(s, q))))
  expect_lt(max(normal), 1e-12)
  expect_gt(suppressWarnings(stats::ks.test(apply(u^2, 3, sum) / 0.25, "pchisq", 7))$p.value, 1e-7)
})

test_that("the slower methods draw the same law", {
  set.seed(1)
  for (M in list(sphere(3), spd(2), stiefel(4, 2), grassmann(4, 2), kendall(4), hyperbolic(2), spd(2, "bures"))) {
    p <- record(M, mf_random(M, 2, sd = 0.4), 1)
    with_simulation(6, {
      for (method in c("basis", "gram-schmidt")) expect_isotropic(draws_of(M, p, 25000, 0.2, method = method), 0.2, method)
      # chains are correlated with their start only: 400 steps forget it; a 10 % wrong scale is seen
      chain <- draws_of(M, p, 1500, 0.2, method = "chain", steps = 400)
      expect_lt(abs(mean(rowSums(chain^2)) / 0.04 / ncol(chain) - 1), 0.12)
    })
  }
})

test_that("Laplace noise has a Gamma length and a uniform direction", {
  with_simulation(2, a <- draws_of(spd(2), diag(c(4, 0.5)), 20000, 0.3, law = "laplace"))
  r <- sqrt(rowSums(a^2))
  expect_gt(suppressWarnings(stats::ks.test(r / 0.3, "pgamma", 3))$p.value, 1e-7)
  expect_lt(max(abs(crossprod(a / r) / nrow(a) - diag(3) / 3)), 5.5 / sqrt(nrow(a)))
})

test_that("normals of the system's stream are normal to the tails", {
  n <- if (quick()) 2e4 else 1e6
  x <- as.vector(tangent_noise(euclidean(1), 0, n))
  expect_gt(suppressWarnings(stats::ks.test(x, "pnorm"))$p.value, 1e-7)
  # 4,000 equally likely cells see the edges of the 256 layers
  cells <- if (quick()) 100 else 4000
  counts <- tabulate(pmin(cells, 1 + floor(cells * stats::pnorm(x))), cells)
  expect_gt(stats::chisq.test(counts)$p.value, 1e-7)
  # the tail beyond the last edge, 3.654, and the smallest numbers
  tail <- sum(abs(x) > 3.6541528853610088)
  expect_gt(stats::poisson.test(tail, n * 2 * stats::pnorm(-3.6541528853610088))$p.value, 1e-7)
  beyond <- stats::pnorm(-abs(x[abs(x) > 3.6541528853610088])) / stats::pnorm(-3.6541528853610088)
  if (!quick()) expect_gt(stats::ks.test(beyond, "punif")$p.value, 1e-7)
  expect_gt(stats::poisson.test(sum(abs(x) < 1e-3), n * (1 - 2 * stats::pnorm(-1e-3)))$p.value, 1e-7)
  expect_equal(anyDuplicated(x), 0)
  expect_lt(abs(stats::cor(x[-1], x[-n])), 5.5 / sqrt(n))
})

test_that("many base points get one draw each, in their shape", {
  M <- spd(2)
  p <- with_simulation(1, mf_random(M, 7))
  with_simulation(2, v <- tangent_noise(M, p, sd = 0.1))
  expect_equal(dim(v), dim(p))
  with_simulation(2, w <- tangent_noise(M, mf_points(p, M), sd = 0.1))
  expect_s3_class(w, "mf_points")
  expect_equal(as.vector(as.array(w)), as.vector(v))
  expect_equal(dim(tangent_noise(M, diag(2), 3, 0.1)), c(2, 2, 3))
  expect_error(tangent_noise(M, p, 3, 0.1), class = "riemdp_error_shape")
  expect_error(tangent_noise(M, diag(2), 3, 0), class = "riemdp_error_argument")
  expect_error(tangent_noise(M, diag(2), 3, 1, law = "laplace", method = "chain"), class = "riemdp_error_argument")
  expect_error(tangent_noise(M, diag(c(1, -1)), 3), class = "riemdp_error")
})

test_that("set.seed() has no say outside simulations, and simulations repeat", {
  set.seed(1)
  a <- tangent_noise(sphere(2), c(0, 0, 1), 1)
  set.seed(1)
  expect_false(identical(a, tangent_noise(sphere(2), c(0, 0, 1), 1)))
  expect_identical(with_simulation(1, tangent_noise(sphere(2), c(0, 0, 1), 5)), with_simulation(1, tangent_noise(sphere(2), c(0, 0, 1), 5)))
})
