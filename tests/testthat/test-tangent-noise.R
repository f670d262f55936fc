# Seeds are fixed, but for the tests of the secure stream, which fail by chance less than once in 1e5 runs (bounds of 1e-7).

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

# p-values of the whole law, in coordinates that plain R makes (helper-noise.R); tools/noise-laws does the same with 1e6 draws
law_of <- function(M, p, n, sd, ...) {
  calls <- 0
  normal_law(function() if ((calls <<- calls + 1) == 1) standard_noise(M, p, n, sd, ...), mf_facts(M)$dimension)
}

test_that("noise is N(0, sd^2 I) in orthonormal coordinates on every manifold", {
  # fixed seeds: nothing fails by chance. A variance that is 5 % wrong is 5.6 standard errors off in one dimension, more in others.
  for (case in all_manifolds()) {
    M <- case$M
    d <- mf_facts(M)$dimension
    n <- if (M$name == "custom") 4000 else if (d > 40) 2000 else if (quick()) ceiling(25000 / min(d, 4)) else 25000
    set.seed(5)
    p <- record(M, if (M$name == "custom") mf_random(M, 2) else mf_random(M, 2, sd = 0.7), 1)
    with_simulation(3, expect_gt(min(law_of(M, p, n, 0.3)), 1e-6, label = label_of(M)))
  }
})

test_that("noise is right at ill-conditioned base points and at the edges of charts", {
  for (M in list(spd(4), spd(11), hermitian_spd(4), spd(4, "bures"), spd(4, "logeuclidean"), hyperbolic(3), hyperbolic(3, "ball"), sphere(3),
                 stiefel(5, 2), stiefel(5, 2, "canonical"), grassmann(5, 2), kendall(5))) {
    n <- if (mf_facts(M)$dimension > 40) 4000 else if (quick()) 8000 else 25000
    with_simulation(8, expect_gt(min(law_of(M, awkward_base(M), n, 2, off = 1e-6)), 1e-6, label = label_of(M)))
  }
})

test_that("Laplace noise has its law on every manifold", {
  for (M in list(euclidean(1), sphere(3), spd(2), hermitian_spd(2), spd(3, "bures"), spd(2, "logeuclidean"), hyperbolic(2), hyperbolic(2, "ball"),
                 stiefel(4, 2), stiefel(4, 2, "canonical"), grassmann(4, 2), kendall(4))) {
    set.seed(5)
    p <- record(M, mf_random(M, 2, sd = 0.5), 1)
    with_simulation(9, expect_gt(min(law_of(M, p, 10000, 0.3, law = "laplace")), 1e-6, label = label_of(M)))
  }
})

test_that("the statistics see noise that is wrong", {
  set.seed(6)
  normal <- function(change = identity) {
    calls <- 0
    normal_law(function() if ((calls <<- calls + 1) == 1) change(matrix(stats::rnorm(75000), ncol = 3)), 3)
  }
  expect_gt(min(normal()), 1e-4)
  expect_lt(normal(function(a) 1.025 * a)[["trace"]], 1e-7)
  expect_lt(normal(function(a) a %*% rbind(c(1, 0.1, 0), c(0, 1, 0), c(0, 0, 1)))[["covariance"]], 1e-7)
  expect_lt(normal(function(a) a + 0.05)[["mean"]], 1e-7)
  expect_lt(normal(function(a) matrix(stats::runif(75000, -sqrt(3), sqrt(3)), ncol = 3))[["kurtosis"]], 1e-7)
  expect_lt(normal(function(a) matrix(stats::rexp(75000) - 1, ncol = 3))[["skewness"]], 1e-7)
  # normal margins, a law that isn't: equal lengths of coordinates
  expect_lt(normal(function(a) cbind(a[, 1], abs(a[, 1]) * sign(a[, 2]), a[, 3]))[["length"]], 1e-7)
})

test_that("noise from the secure stream, drawn one by one and in batches, has the law", {
  # fails by chance less than once in 1e5 runs
  M <- spd(3)
  p <- awkward_base(M)
  n <- if (quick()) 2000 else 20000
  expect_gt(min(law_of(M, p, n, 0.7, off = 1e-6)), 1e-7)
  many <- vapply(seq_len(n / 10), function(i) as.vector(standard_noise(M, p, 1, 0.7, off = 1e-6)), double(6))
  calls <- 0
  expect_gt(min(normal_law(function() if ((calls <<- calls + 1) == 1) t(many), 6)), 1e-7)
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
      n <- if (quick()) ceiling(25000 / mf_facts(M)$dimension) else 25000
      for (method in c("basis", "gram-schmidt")) expect_isotropic(draws_of(M, p, n, 0.2, method = method), 0.2, method)
      # chains are correlated with their start only: 400 steps forget it; a 10 % wrong scale is seen
      chain <- draws_of(M, p, 1500, 0.2, method = "chain", steps = 400)
      expect_lt(abs(mean(rowSums(chain^2)) / 0.04 / ncol(chain) - 1), 0.12)
    })
  }
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
  expect_s3_class(w, "riemdp_points")
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

test_that("long draws can be interrupted, in each method, and leave nothing behind", {
  ended <- function(expr) {
    start <- proc.time()[["elapsed"]]
    expect_error(with_time_limit(0.2, expr), "time limit")
    expect_lt(proc.time()[["elapsed"]] - start, 30)
  }
  M <- custom_sphere(60)
  ended(tangent_noise(spd(3), diag(3), 1, 0.1, method = "chain", steps = 1e8))
  ended(tangent_noise(spd(70), diag(70), 1, 0.1, method = "gram-schmidt"))
  ended(tangent_noise(M, c(1, rep(0, 60)), 2e4, 0.1))
  # the next call works, and has a key of its own
  expect_true(all(is.finite(tangent_noise(spd(2), diag(2), 10, 0.1))))
})
