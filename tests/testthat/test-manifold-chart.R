# Flat spaces seen through a chart, against the charts written in plain R (helper-laws.R). False alarms are stated where chance decides.

chart_cases <- function() {
  list(
    list(M = spd(1, "log-cholesky"), center = matrix(1)), list(M = spd(3, "log-cholesky"), center = diag(3)),
    list(M = correlation(2), center = diag(2)), list(M = correlation(4), center = diag(4)),
    list(M = correlation(2, "log-cholesky"), center = diag(2)), list(M = correlation(4, "log-cholesky"), center = diag(4)),
    list(M = simplex(2), center = c(1, 1) / 2), list(M = simplex(4), center = rep(0.25, 4))
  )
}

of_many <- function(M, x) {
  n <- length(x) / mf_facts(M)$ambient
  t(matrix(vapply(seq_len(n), function(i) {
    one <- record(M, x, i)
    chart_of(M, if (mf_facts(M)$rows > 0) matrix(one, M$param) else one)
  }, chart_of(M, if (mf_facts(M)$rows > 0) diag(M$param) else rep(1, M$param))), ncol = n))
}

test_that("distances, geodesics and means are those of the charts", {
  for (case in chart_cases()) {
    M <- case$M
    set.seed(4)
    x <- mf_random(M, 8, sd = 0.8)
    y <- mf_random(M, 8, sd = 0.8)
    a <- of_many(M, x)
    b <- of_many(M, y)
    expect_lt(gap(mf_dist(M, x, y), sqrt(rowSums((a - b)^2))), 1e-11)
    third <- mf_exp(M, x, scale_records(M, mf_log(M, x, y), rep(1 / 3, 8)))
    for (i in 1:8) expect_lt(gap(record(M, third, i), chart_back(M, a[i, ] + (b[i, ] - a[i, ]) / 3)), 1e-12)
    m <- frechet_mean(x, M, weights = 1:8)
    expect_lt(gap(m$mean, chart_back(M, colSums(a * 1:8) / 36)), 1e-12)
    expect_true(m$unique)
    # the orthonormal coordinates at any point are the chart's, in one order or basis
    expect_lt(gap(tcrossprod(mf_coords(M, record(M, x, 1), mf_log(M, record(M, x, 1), y))), tcrossprod(sweep(b, 2, a[1, ]))), 1e-10)
  }
})

test_that("two by two correlations have closed forms", {
  r <- c(-0.9, -0.2, 0.6, 0.99)
  x <- vapply(r, function(r) matrix(c(1, r, r, 1), 2), diag(2))
  expect_equal(mf_dist(correlation(2), diag(2), x), sqrt(2) * atanh(abs(r)), tolerance = 1e-13)
  expect_equal(mf_dist(correlation(2, "log-cholesky"), diag(2), x), abs(r) / sqrt(1 - r^2), tolerance = 1e-13)
  # and one part against another is a log-ratio over the root of two
  expect_equal(mf_dist(simplex(2), c(1, 1), cbind(c(1, 2, 50), 1)), log(c(1, 2, 50)) / sqrt(2), tolerance = 1e-14)
  expect_equal(mf_dist(spd(1, "log-cholesky"), 1, 9), log(3), tolerance = 1e-14)
})

test_that("the log-Cholesky charts keep their digits where the series would lose them", {
  # I + A = (I - Z)^-1 with the shift Z has the logarithm Z + Z^2/2 + ...; powers of A are binomial coefficients, 2^48 and more
  k <- 50
  g <- lower.tri(diag(k), TRUE) + 0
  x <- tcrossprod(g / sqrt(rowSums(g)))
  diag(x) <- 1
  n <- outer(seq_len(k), seq_len(k), function(i, j) ifelse(i > j, 1 / (i - j), 0))
  expect_equal(mf_dist(correlation(k, "log-cholesky"), diag(k), x), sqrt(sum(n^2)), tolerance = 1e-13)
  M <- correlation(k, "log-cholesky")
  expect_lt(gap(mf_exp(M, diag(k), mf_log(M, diag(k), x)), x), 1e-13)
})

test_that("names of metrics may leave out hyphens", {
  expect_identical(spd(2, "logeuclidean"), spd(2, "log-euclidean"))
  expect_identical(spd(2, "logcholesky"), spd(2, "log-cholesky"))
  expect_identical(correlation(3), correlation(3, "offlog"))
  expect_error(correlation(3, "log"), "off-log", class = "riemdp_error_argument")
  expect_error(simplex(3, "fisher-rao"), class = "riemdp_error_argument")
  expect_error(simplex(1), class = "riemdp_error_argument")
  expect_error(correlation(1), class = "riemdp_error_argument")
  expect_error(simplex(3, floor = 1), class = "riemdp_error_argument")
})

test_that("records come to the simplex by a public rule, each by itself", {
  M <- simplex(3, floor = 0.01)
  expect_equal(mf_project(M, c(60, 30, 10)), c(0.6, 0.3, 0.1))
  expect_equal(mf_project(M, c(100, 50, 0)), c(100, 50, 1) / 151)
  expect_equal(mf_project(M, c(100, 0.1, 0)), c(100, 0.1, 1) / 101.1)
  expect_equal(mf_dist(M, c(100, 50, 0), c(200, 100, 2)), 0)
  x <- mf_project(M, c(1e300, 0, 1e-300))
  expect_lt(gap(mf_project(M, x), x), 1e-16)
  # points stay, also those with parts below the floor
  set.seed(3)
  y <- matrix(stats::rexp(60)^9, 20)
  m <- frechet_mean(y, M)$mean
  expect_lt(gap(mf_project(M, m), m), 1e-16)
  expect_identical(mf_is_point(M, rbind(c(1, 0, 0), c(0, 0, 0), c(1, -1e-9, 1), c(1, NA, 1), c(1, Inf, 1), c(5, 1, 1))),
                   c(TRUE, FALSE, FALSE, FALSE, FALSE, TRUE))
  expect_error(mf_dist(M, c(0, 0, 0), c(1, 1, 1)), class = "riemdp_error_not_composition")
  expect_error(mf_dist(simplex(3, floor = 0), c(1, 0, 0), c(1, 1, 1)), class = "riemdp_error_not_composition")
  expect_lt(gap(mf_dist(simplex(2, floor = 0), c(1e-200, 1), c(1, 1)), 200 * log(10) / sqrt(2)), 1e-10)
  expect_error(mf_exp(M, c(1, 1, 1), c(1, 0, 0)), class = "riemdp_error_not_tangent")
})

test_that("a point near a vertex has logarithms that are tangent, and its region is around itself", {
  for (floor in c(1e-6, 1e-9, 1e-12)) for (k in c(3, 10, 50)) {
    S <- simplex(k, floor = floor)
    vertex <- c(1, rep(floor, k - 1))
    set.seed(k)
    x <- matrix(stats::rexp(200 * k)^6, 200)
    a <- mf_coords(S, vertex, mf_log(S, vertex, x))
    expect_equal(sqrt(rowSums(a^2)), mf_dist(S, vertex, x), tolerance = 1e-7)
  }
  S <- simplex(10, floor = 1e-9)
  center <- c(1, rep(1e-9, 9))
  y <- x <- matrix(center, 20, 10, byrow = TRUE)
  y[7, ] <- c(1e-9, 1e-9, 0.0209, 0.0011, 1e-9, 1e-9, 1.95e-5, 0.094, 1e-9, 1)
  for (z in list(x, y)) {
    expect_s3_class(dp_covariance(z, S, epsilon = 1, center = center, radius = mf_dist(S, center, y[7, ]) + 5, at = center, invalid = "center"),
                    "riemdp_covariance")
  }
  # the released point is the one that is measured from
  k <- 60
  S <- simplex(k)
  y <- c(rep(1, 40), rep(1e-6, 20))
  x <- matrix(y, 600, k, byrow = TRUE)
  inside <- vapply(1:200, function(s) {
    region_contains(confint(with_simulation(s, dp_mean(x, S, epsilon = 1, center = y, radius = 30)), level = 0.95), y / sum(y))
  }, NA)
  expect_gt(mean(inside), 0.87) # rate 1e-5
  v <- mf_exp(simplex(3), c(1, 1, 1), mf_from_coords(simplex(3), c(1, 1, 1), c(20, 20)))
  expect_equal(mf_coords(simplex(3), c(1, 1, 1), mf_log(simplex(3), c(1, 1, 1), v)), c(20, 20), tolerance = 1e-10)
  # in products records are brought to the simplex where they are joined
  P <- product(diet = simplex(3), age = euclidean(1))
  joined <- mf_join(P, list(diet = matrix(c(50, 30, 20), 40, 3, byrow = TRUE), age = rep(0, 40)))
  expect_equal(joined[1, ], c(0.5, 0.3, 0.2, 0))
  expect_equal(mf_points(rbind(c(50, 30, 20)), simplex(3)), mf_points(rbind(c(5, 3, 2)), simplex(3)))
})

test_that("directions of noise that doubles hold no point for are released all the same", {
  set.seed(1)
  x <- array(diag(3), c(3, 3, 12))
  for (i in 1:6) expect_s3_class(dp_pga(x, correlation(3), epsilon = 1, center = diag(3), radius = 30, invalid = "center"), "riemdp_pga")
})

test_that("projection makes a correlation matrix of a covariance matrix and of one that isn't definite", {
  for (metric in c("off-log", "log-cholesky")) {
    M <- correlation(3, metric, floor = 0.01)
    s <- crossprod(matrix(c(1, 2, 3, 4, 5, 7, 2, 0, 1), 3)) + diag(3)
    expect_equal(mf_project(M, s), stats::cov2cor(s), tolerance = 1e-14)
    bad <- matrix(c(1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1), 3)
    p <- mf_project(M, bad)
    expect_identical(diag(p), c(1, 1, 1))
    e <- eigen(p)$values
    expect_gte(e[3] / e[1], 0.01)
    expect_lt(e[3] / e[1], 0.0103)
    expect_lt(gap(mf_project(M, p), p), 1e-15)
    expect_true(mf_is_point(M, mf_project(M, matrix(1, 3, 3))))
    expect_error(mf_project(M, diag(c(1, 0, 1))), class = "riemdp_error_not_positive_definite")
    expect_error(mf_dist(M, diag(3), 2 * diag(3)), class = "riemdp_error_off_manifold")
    expect_error(mf_dist(M, diag(3), matrix(1, 3, 3)), class = "riemdp_error_not_positive_definite")
    expect_error(mf_exp(M, diag(3), diag(3)), class = "riemdp_error_not_tangent")
  }
})

test_that("every mechanism and regression is that of Euclidean space in the chart's coordinates", {
  # one seed, and the same draws: what rounds differently are coordinates, and one step of the lattice
  for (case in chart_cases()[c(2, 4, 6, 8)]) {
    M <- case$M
    d <- mf_facts(M)$dimension
    E <- euclidean(d)
    set.seed(9)
    x <- mf_random(M, 15, sd = 0.7)
    chart <- function(x) mf_coords(M, case$center, mf_log(M, case$center, x))
    z <- matrix(chart(x), 15)
    # no mechanism's law is about anything but distances
    same <- function(fit, tolerance) {
      a <- with_simulation(5, fit(x, M, case$center))
      b <- with_simulation(5, fit(z, E, double(d)))
      expect_lt(gap(as.vector(chart(a$value)), b$value), tolerance)
      expect_equal(a$scale, b$scale, tolerance = 1e-12)
      expect_identical(a$guarantee$epsilon, b$guarantee$epsilon)
    }
    for (m in c("laplace", "staircase", "wrapped", "kng", "laplace_truncated", "tangent")) {
      same(function(x, M, c) dp_mean(x, M, 2, center = c, radius = 1.5, mechanism = m, numerics = "lattice"), 1e-6)
    }
    for (m in c("laplace", "wrapped")) {
      same(function(x, M, c) dp_mean(x, M, 2, center = c, radius = 1.5, mechanism = m, numerics = "real"), 1e-10)
    }
    for (m in c("gaussian", "wrapped_gaussian")) {
      same(function(x, M, c) dp_mean(x, M, 2, center = c, radius = 1.5, delta = 1e-6, mechanism = m, numerics = "real"), 1e-10)
    }
    t <- seq(0, 1, length.out = 15)
    line <- function(x, M, c) {
      dp_regression(x ~ t, M, data.frame(x = mf_points(x, M), t = t), epsilon = 20, center = c, radius = 1.5, speed = 2, residual_bound = 1, bounds = c(0, 1))
    }
    a <- with_simulation(5, line(x, M, case$center))
    b <- with_simulation(5, line(z, E, double(d)))
    expect_lt(gap(as.vector(chart(a$value$p)), as.vector(b$value$p)), 1e-4)
  }
})

test_that("noise has its law in the chart's coordinates", {
  # Kolmogorov-Smirnov at 1e-6, means to 5 standard errors (6e-7): 1e-5 together. A scale that is 3 % off is 5 of them and more.
  n <- if (quick()) 10000 else 40000
  for (case in chart_cases()[c(2, 4, 6, 8)]) {
    M <- case$M
    d <- mf_facts(M)$dimension
    p <- record(M, with_simulation(2, mf_random(M, 2, sd = 0.5)), 1)
    a <- sweep(of_many(M, with_simulation(3, laplace_noise(M, p, 0.2, n))), 2, chart_of(M, p))
    r <- sqrt(rowSums(a^2))
    expect_gt(suppressWarnings(stats::ks.test(r, "pgamma", d, 5))$p.value, 1e-6, label = label_of(M))
    expect_lt(abs(mean(r) / (0.2 * d) - 1), 5 / sqrt(d * n))
    for (j in seq_len(ncol(a))) expect_lt(abs(mean(a[, j])), 5 * stats::sd(a[, j]) / sqrt(n))
    share <- colMeans((a / r)^2) # of orthonormal coordinates 1/d each; of clr images their sum is 1 as well
    expect_lt(max(abs(share - 1 / ncol(a))), 5 / sqrt(n))
  }
})

test_that("a private correlation matrix has a diagonal of exactly 1, a private composition sums to 1, however wide the noise", {
  for (case in chart_cases()) {
    M <- case$M
    for (epsilon in c(5, 0.1, 1e-3, 1e-6)) for (m in c("laplace", "wrapped")) for (numerics in c("real", "lattice")) {
      set.seed(2)
      v <- dp_mean(mf_random(M, 20, sd = 0.5), M, epsilon, center = case$center, radius = 1, mechanism = m, numerics = numerics)$value
      expect_true(mf_is_point(M, v))
      if (M$name == "simplex_aitchison") expect_lt(abs(sum(v) - 1), 1e-15 * M$param) else expect_identical(v, t(v))
      if (inherits(M, "riemdp_correlation")) expect_identical(diag(v), rep(1, M$param))
    }
  }
})

# records at the edge of what doubles hold, and beyond: some are points, some aren't
edge_records <- function(M) {
  k <- M$param
  if (M$name == "simplex_aitchison") {
    list(c(1, rep(0, k - 1)), c(rep(1e-300, k - 1), 1), c(1e300, rep(1e-5, k - 1)), c(1, rep(1e-320, k - 1)), rep(0, k), c(NA, rep(1, k - 1)), -seq_len(k))
  } else if (M$name == "spd_logcholesky") {
    near <- replace(matrix(1 - 1e-15, k, k), diag(k) == 1, 1)
    list(diag(10^seq(0, 12, length.out = k), k), diag(10^seq(-150, 150, length.out = k), k), near, 1e-320 * diag(k), matrix(NaN, k, k), -diag(k), 1e200 * near)
  } else {
    level <- function(r) replace(matrix(r, k, k), diag(k) == 1, 1)
    list(level(1 - 1e-10), level(1 - 4e-16), level(1), level(-1 / (k - 1) + 1e-12), level(-1), level(NaN), 2 * diag(k))
  }
}

test_that("extreme records count by a public rule, and no error speaks of one", {
  for (case in chart_cases()) {
    M <- case$M
    set.seed(5)
    x <- mf_random(M, 6, sd = 0.3)
    move <- function(z) if (length(dim(x)) == 3) replace(x, seq_along(z), z) else replace(x, cbind(1, seq_along(z)), z)
    call <- function(x, mechanism) {
      with_simulation(3, dp_mean(x, M, center = case$center, radius = 1, mechanism = mechanism, sigma = 1e-9, invalid = "center", numerics = "real"))$value
    }
    for (m in c("wrapped", "laplace")) {
      before <- call(x, m)
      for (z in edge_records(M)) expect_lte(mf_dist(M, before, call(move(z), m)), 2 / 6 + 1e-7)
    }
    # whatever is no point is the centre
    worst <- edge_records(M)[[6]]
    expect_lt(mf_dist(M, call(move(worst), "wrapped"), call(move(case$center), "wrapped")), 1e-7)
    for (z in edge_records(M)) {
      ok <- tryCatch(mf_is_point(M, if (M$name == "simplex_aitchison") z else matrix(z, M$param)), error = function(e) NA)
      expect_true(isTRUE(ok) || isFALSE(ok))
      if (ok) expect_true(is.finite(mf_dist(M, case$center, z)))
    }
  }
})

test_that("exp refuses to go where doubles hold no point, and noise that goes there is shortened", {
  for (case in chart_cases()) {
    M <- case$M
    d <- mf_facts(M)$dimension
    far <- function(s) mf_from_coords(M, case$center, rep(s, d))
    expect_error(mf_exp(M, case$center, far(1e160)), class = "riemdp_error_out_of_reach")
    # along the ray, as far as it goes
    y <- with_simulation(4, laplace_noise(M, case$center, 1e200, 50))
    expect_true(all(mf_is_point(M, y)))
    expect_true(all(is.finite(mf_dist(M, case$center, y))))
    expect_gt(stats::median(mf_dist(M, case$center, y)), 3)
  }
})

test_that("ambient bounds of correlations and of log-Cholesky balls hold along geodesics", {
  set.seed(8)
  for (case in list(list(correlation(3), 0.5), list(correlation(4), 2), list(correlation(3, "log-cholesky"), 0.5), list(correlation(4, "log-cholesky"), 1),
                    list(spd(2, "log-cholesky"), 0.5), list(spd(3, "log-cholesky"), 1.5))) {
    M <- case[[1]]
    p <- record(M, mf_random(M, 2, sd = 0.3), 1)
    b <- riemdp:::ambient_bounds(M, p, case[[2]])
    d <- mf_facts(M)$dimension
    a <- matrix(rnorm(200 * d), 200)
    x <- mf_exp(M, p, mf_from_coords(M, p, a / sqrt(rowSums(a^2)) * case[[2]] * runif(200)^(1 / d)))
    v <- mf_from_coords(M, x, a / sqrt(rowSums(a^2)))
    expect_lte(max(sqrt(colSums(matrix(v, M$param^2)^2))), b$stretch)
    expect_lte(max(stats::dist(t(matrix(x, M$param^2)))), b$diameter)
  }
  # at the identity the off-log stretch is one, and nearly reached
  expect_lt(riemdp:::ambient_bounds(correlation(3), diag(3), 1e-3)$stretch, 1.0011)
  v <- mf_from_coords(correlation(3), diag(3), c(1, 0, 0))
  expect_equal(sqrt(sum(v^2)), 1, tolerance = 1e-12)
})
