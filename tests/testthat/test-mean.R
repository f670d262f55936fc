gradient_norm_at <- function(M, x, m, w = NULL) {
  v <- mf_log(M, m, x)
  n <- nrow(as.matrix(mf_coords(M, m, v)))
  w <- if (is.null(w)) rep(1, n) else w
  sqrt(sum(colSums(w * as.matrix(mf_coords(M, m, v)) / sum(w))^2))
}

test_that("the mean's gradient vanishes on every manifold, from tight and from spread-out data", {
  for (case in all_manifolds()) {
    M <- case$M
    if (M$name == "custom") next
    set.seed(7)
    d <- mf_facts(M)$dimension
    base <- record(M, mf_random(M, 1, sd = 0.3), 1)
    for (spread in c(0.1, 0.45)) {
      v <- unit_tangents(M, base, 25)
      x <- mf_exp(M, base, scale_records(M, v, case$reach * spread * runif(25)))
      w <- runif(25)
      fit <- frechet_mean(x, M, weights = w)
      expect_true(fit$converged, label = paste(label_of(M), spread))
      expect_lte(fit$gradient_norm, max(1e-10, fit$gradient_floor))
      expect_lt(gradient_norm_at(M, x, fit$mean, w), 1e-9)
      expect_lt(abs(fit$variance - sum(w * mf_dist(M, x, fit$mean)^2) / sum(w)), 1e-9)
    }
  }
})

test_that("closed forms: flat spaces, two points, commuting matrices", {
  x <- matrix(rnorm(30), 10)
  expect_equal(frechet_mean(x, euclidean(3))$mean, colMeans(x), tolerance = 1e-12)
  expect_equal(frechet_mean(c(1, 2, 6), euclidean(1))$mean, 3, tolerance = 1e-12)
  a <- array(c(diag(c(1, 4)), diag(c(9, 1))), c(2, 2, 2))
  expect_equal(frechet_mean(a, spd(2))$mean, diag(c(3, 2)), tolerance = 1e-10)
  expect_equal(frechet_mean(a, spd(2, "logeuclidean"))$mean, diag(c(3, 2)), tolerance = 1e-10)
  expect_equal(frechet_mean(a, spd(2, "bures"))$mean, diag(c(4, 2.25)), tolerance = 1e-10)
  expect_equal(frechet_mean(rbind(c(1, 0, 0), c(0, 1, 0)), sphere(2))$mean, c(1, 1, 0) / sqrt(2), tolerance = 1e-10)
})

test_that("spread-out data that stall a plain secant step converge", {
  set.seed(1)
  expect_lte(frechet_mean(mf_random(sphere(2), 500), sphere(2))$gradient_norm, 1e-10)
  expect_lte(frechet_mean(mf_random(kendall(5), 200), kendall(5))$gradient_norm, 1e-10)
  fit <- frechet_mean(mf_random(spd(3), 100, sd = 3), spd(3))
  expect_lte(fit$gradient_norm, max(1e-10, fit$gradient_floor))
  fit <- frechet_mean(mf_random(hyperbolic(3), 100, sd = 5), hyperbolic(3))
  expect_lte(fit$gradient_norm, max(1e-10, fit$gradient_floor))
})

test_that("methods, starts and shapes agree", {
  set.seed(2)
  M <- kendall(6)
  z <- outer(exp(2i * pi * (1:6) / 6), rep(1, 12)) + matrix(complex(real = rnorm(72), imaginary = rnorm(72)) * 0.1, 6)
  planar <- array(rbind(Re(z), Im(z)), c(6, 2, 12))
  planar <- aperm(array(c(Re(z), Im(z)), c(6, 12, 2)), c(1, 3, 2))
  one <- frechet_mean(z, M)
  two <- frechet_mean(planar, M)
  expect_equal(dim(two$mean), c(6L, 2L))
  expect_lt(mf_dist(M, one$mean, complex(real = two$mean[, 1], imaginary = two$mean[, 2])), 1e-9)
  slow <- frechet_mean(z, M, method = "gradient")
  expect_lt(mf_dist(M, one$mean, slow$mean), 1e-9)
  expect_lt(mf_dist(M, one$mean, frechet_mean(z, M, start = z[, 3])$mean), 1e-9)
  expect_lt(mf_dist(M, one$mean, frechet_mean(mf_points(z, M), M)$mean), 1e-9)
  d <- data.frame(a = rnorm(5), b = rnorm(5))
  expect_equal(frechet_mean(d, euclidean(2))$mean, unname(colMeans(d)), tolerance = 1e-12)
})

test_that("uniqueness is claimed only where a theorem says so", {
  set.seed(3)
  expect_true(frechet_mean(mf_random(spd(2), 5), spd(2))$unique)
  expect_true(frechet_mean(mf_random(spd(2), 5), spd(2, "bures"))$unique)
  near <- mf_exp(sphere(2), c(0, 0, 1), mf_random_tangent(sphere(2), c(0, 0, 1), 20, 0.1))
  expect_true(frechet_mean(near, sphere(2))$unique)
  expect_identical(frechet_mean(mf_random(sphere(2), 50), sphere(2))$unique, NA)
  expect_identical(frechet_mean(mf_random(custom_torus(2), 5) / 4, custom_torus(2))$unique, TRUE)
})

test_that("medians satisfy their own optimality, also on a record", {
  set.seed(4)
  M <- sphere(2)
  x <- mf_exp(M, c(0, 0, 1), mf_random_tangent(M, c(0, 0, 1), 21, 0.3))
  m <- frechet_median(x, M)
  v <- mf_log(M, m$mean, x)
  expect_lt(sqrt(sum(colSums(v / mf_norm(M, m$mean, v))^2)) / 21, 1e-9)
  # many copies of one record: the median is that record
  heavy <- rbind(x[rep(1, 30), ], x[2:8, ])
  expect_lt(mf_dist(M, frechet_median(heavy, M)$mean, x[1, ]), 1e-9)
  expect_equal(frechet_median(c(1, 2, 10), euclidean(1))$mean, 2, tolerance = 1e-8)
  expect_equal(frechet_variance(c(1, 2, 6), euclidean(1)), 14 / 3, tolerance = 1e-12)
  expect_equal(frechet_variance(c(1, 2, 6), euclidean(1), center = 1), 26 / 3, tolerance = 1e-12)
})

test_that("medians on the hyperbolic line are medians of arc lengths", {
  M <- hyperbolic(1) # a step far out, where lengths of tangent vectors cancel, must not look like a gain
  for (seed in 1:60) {
    set.seed(seed)
    x <- mf_random(M, sample(3:30, 1), sd = runif(1, 0.1, 3))
    a <- asinh(x[, 2])
    least <- mean(abs(a - median(a)))
    expect_lt(mean(abs(a - asinh(frechet_median(x, M)$mean[2]))), least + 1e-9)
    if (seed <= 15) expect_lt(mean(abs(a - asinh(frechet_median(chunks(x, 4), M)$mean[2]))), least + 1e-9)
  }
})

test_that("ill-conditioned matrices: the floor is measured and reported", {
  # condition 1e12 and unrelated eigenvectors: logarithms are off by 1e-4, and the value's noise hides descent early
  k <- 6
  for (seed in 1:40) {
    set.seed(seed)
    q <- qr.Q(qr(matrix(rnorm(k * k), k)))
    x <- vapply(1:10, function(i) {
      r <- q %*% diag(10^seq(-6, 6, length.out = k) * exp(rnorm(k) * 0.1)) %*% t(q)
      (r + t(r)) / 2
    }, matrix(0, k, k))
    fit <- frechet_mean(x, spd(k))
    expect_true(fit$converged)
    expect_lte(fit$gradient_norm, max(1e-10, fit$gradient_floor))
  }
  expect_lte(frechet_mean(x, spd(k), max_iter = 2)$iterations, 2)
})

test_that("printing and summaries say what they are", {
  fit <- frechet_mean(wishart_spd[, , 1:20], spd(2))
  expect_output(print(fit), "not private")
  expect_equal(nrow(summary(fit)), 1)
  expect_equal(nrow(tidy(fit)), 4)
  expect_equal(glance(fit)$n, 20)
})
