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
  expect_lte(fit$gradient_norm, 1e-10 * sqrt(fit$variance))
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

test_that("converged and the error bound mean what they say where matrices are ill-conditioned", {
  for (case in jsonlite::fromJSON(test_path("reference", "mean.json"), simplifyDataFrame = FALSE)) {
    k <- case$k
    fit <- frechet_mean(array(t(case$x), c(k, k, nrow(case$x))), spd(k))
    away <- (matrix(case$inverse, k) %*% matrix((as.vector(fit$mean) - case$hi) - case$lo, k))
    away <- sqrt(max(0, sum(diag(away %*% away))))
    expect_true(fit$converged)
    expect_lte(away, fit$error_bound)
    # and it is no empty statement: a few hundred roundings of the worst direction
    expect_lt(fit$error_bound, 1e-9 * fit$variance + 1e4 * .Machine$double.eps * case$condition)
  }
})

test_that("convergence, medians and bounds are in the records' own scale", {
  set.seed(1)
  x <- matrix(rnorm(60), 20)
  mean_one <- frechet_mean(x + 10, euclidean(3))$mean
  median_one <- frechet_median(x, euclidean(3))$mean
  for (s in 10^c(-9, -3, 3, 9)) {
    fit <- frechet_mean((x + 10) * s, euclidean(3))
    expect_true(fit$converged)
    expect_lt(max(abs(fit$mean / s - mean_one)), 1e-13)
    expect_lt(fit$error_bound, 1e-9 * s)
    fit <- frechet_median(x * s, euclidean(3))
    expect_true(fit$converged)
    expect_lt(max(abs(fit$mean / s - median_one)), 1e-9)
  }
  expect_true(frechet_mean(rnorm(1000) * 1e6 + 1e7, euclidean(1))$converged)
  far <- c(0.1, 0.2, 0.3, 0.4, 1e6)
  expect_equal(frechet_median(far, euclidean(1))$mean, 0.3)
  expect_equal(frechet_median(cbind(far, 0), euclidean(2))$mean, c(0.3, 0), tolerance = 1e-9)
  expect_equal(frechet_median(chunks(cbind(far, 0), 2), euclidean(2))$mean, c(0.3, 0), tolerance = 1e-9)
})

test_that("medians of data with ties, copies and lines are minima", {
  for (seed in 1:60) {
    set.seed(seed)
    n <- sample(3:9, 1)
    x <- matrix(round(rnorm(2 * n) * sample(c(1, 3), 1)), n)
    if (seed %% 3 == 0) x[, 2] <- 0
    loss <- function(m) mean(sqrt(rowSums((x - rep(m, each = n))^2)))
    fit <- frechet_median(x, euclidean(2))
    expect_true(fit$converged)
    around <- outer(exp(2i * pi * (1:8) / 8), 10^-(0:5))
    expect_lte(fit$variance, min(apply(x, 1, loss), vapply(around, function(z) loss(fit$mean + c(Re(z), Im(z))), 0)) + 1e-9)
  }
  set.seed(1)
  expect_warning(fit <- frechet_median(matrix(rnorm(10), 5), euclidean(2), max_iter = 0), class = "riemdp_warning_convergence")
  expect_output(print(fit), "NOT converged, this is no median")
})

test_that("on circles means and medians are global minima, with records at antipodes too", {
  spaces <- list(sphere(1), stiefel(2, 1), stiefel(2, 1, "canonical"), grassmann(2, 1))
  for (M in spaces) for (seed in 1:25) {
    set.seed(seed)
    period <- 2 * mf_facts(M)$injectivity_radius
    n <- sample(1:12, 1)
    a <- runif(n, 0, 2 * pi)
    if (seed %% 4 == 0) a <- round(a / (pi / 4)) * pi / 4
    w <- if (seed %% 2) runif(n) else rep(1, n)
    x <- rbind(cos(a), sin(a))
    x <- if (M$name == "sphere") t(x) else array(x, c(2, 1, n))
    d <- function(t) abs((a - t + period / 2) %% period - period / 2)
    grid <- c(a, seq(0, period, length.out = 721))
    for (power in 1:2) {
      fit <- (if (power == 2) frechet_mean else frechet_median)(x, M, weights = w)
      loss <- function(t) sum(w * d(t)^power) / sum(w)
      expect_lt(abs(loss(atan2(fit$mean[2], fit$mean[1])) - fit$variance), 1e-10)
      expect_lte(fit$variance, min(vapply(grid, loss, 0)) + 1e-10)
    }
  }
  # two minima are told from one
  expect_identical(frechet_mean(cbind(c(1, -1), 0), sphere(1))$unique, NA)
  expect_true(frechet_mean(cbind(c(1, 0), c(0, 1)), sphere(1))$unique)
})

test_that("a record opposite to the start is no obstacle", {
  x <- cbind(cos(c(0, 0, 0, pi)), sin(c(0, 0, 0, pi)), 0)
  fit <- frechet_mean(x, sphere(2))
  expect_true(fit$converged)
  expect_lt(abs(fit$mean[1] - cos(pi / 4)), 1e-9) # a quarter of the way round
  expect_lt(abs(frechet_mean(chunks(x, 2), sphere(2))$mean[1] - cos(pi / 4)), 1e-9)
  expect_lt(abs(frechet_mean(x, sphere(2), start = c(1, 0, 0))$mean[1] - cos(pi / 4)), 1e-9)
})

test_that("weights are one number a record, and 64-bit integers are numbers", {
  x <- c(1, 2, 3)
  for (w in list(c(1, 2), c(-1, 1, 1), c(NA, 1, 1), c(0, 0, 0), "a", c(1, 1, Inf), 1, factor(1:3))) {
    for (f in list(frechet_mean, frechet_median, frechet_variance)) {
      expect_error(f(x, euclidean(1), weights = w), class = "riemdp_error_argument")
      expect_error(f(chunks(x, 2), euclidean(1), weights = w), class = "riemdp_error_argument")
    }
    expect_error(frechet_variance(x, euclidean(1), weights = w, center = 0), class = "riemdp_error_argument")
  }
  expect_error(frechet_variance(x, euclidean(1), center = c(1, 2)), class = "riemdp_error_shape")
  # the bits of the integers 1, 2 and of the missing one, as doubles
  whole <- structure(c(4.94065645841246544e-324, 9.88131291682493088e-324), class = "integer64")
  expect_equal(frechet_mean(whole, euclidean(1))$mean, 1.5)
  expect_error(frechet_mean(structure(-0, class = "integer64"), euclidean(1)), class = "riemdp_error")
})
