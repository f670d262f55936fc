# Compositions with Fisher's metric, against closed forms.

some_compositions <- function(n, k) {
  set.seed(4)
  x <- matrix(rgamma(n * k, 0.7), n)
  x / rowSums(x)
}

test_that("distances are Fisher's, zeros are points, and points are read from counts", {
  for (k in c(2, 3, 6)) {
    M <- simplex(k, "fisher")
    x <- some_compositions(20, k)
    x[1, ] <- c(1, rep(0, k - 1))
    p <- as_mf_points(x, M)
    expect_equal(as.array(p), sqrt(x), tolerance = 1e-14)
    expect_equal(as.array(as_mf_points(1e300 * x, M)), sqrt(x), tolerance = 1e-14)
    expect_equal(as.array(as_mf_points(p, M)), as.array(p), tolerance = 1e-15)
    expect_equal(mf_dist(M, p[2], p[-2]), 2 * acos(drop(sqrt(x[-2, ]) %*% sqrt(x[2, ]))), tolerance = 1e-12)
  }
  expect_equal(mf_dist(M, c(1, 0, 0, 0, 0, 0), c(0, 1, 0, 0, 0, 0)), pi, tolerance = 1e-14)
  facts <- mf_facts(M)
  expect_equal(unlist(facts[c("k_min", "k_max", "injectivity_radius", "diameter")], use.names = FALSE), c(0.25, 0.25, 2 * pi, 2 * pi))
  # sum dp^2 / p
  q <- c(0.3, 0.2, 0.1, 0.15, 0.05, 0.2)
  h <- 1e-5 * c(1, -2, 1, 0.5, -0.5, 0)
  expect_equal(mf_dist(M, sqrt(q), sqrt(q + h))^2, sum(h^2 / q), tolerance = 1e-3)
  bad <- as_mf_points(rbind(c(1, 2, 1), c(0, 0, 0), c(1, -1, 3), c(NA, 1, 1), c(1, Inf, 1)), simplex(3, "fisher"), invalid = "missing")
  expect_identical(unname(is.na(bad)), c(FALSE, TRUE, TRUE, TRUE, TRUE))
  expect_error(simplex(1, "fisher"), class = "riemdp_error_argument")
  # points of another space aren't counts
  expect_error(as_mf_points(as_mf_points(x[, 1:3], simplex(3, "fisher")), simplex(3)), class = "riemdp_error_argument")
  expect_error(as_mf_points(mf_points(sqrt(x[, 1:6]), sphere(5)), simplex(6, "fisher")), class = "riemdp_error_argument")
})

test_that("random compositions are Dirichlet's with parameters 1/2", {
  M <- simplex(3, "fisher")
  set.seed(5)
  y <- mf_random(M, 4000)
  expect_true(all(y >= 0))
  expect_true(all(mf_random(M, 1) >= 0))
  # E p^2 = (1/2)(3/2) / ((3/2)(5/2)) = 1/5; sd of the mean .0043
  expect_lt(max(abs(colMeans(y^4) - 0.2)), 5 * 0.0043)
})

test_that("private means are pure, squares of them compositions no farther from the mean", {
  M <- simplex(3, "fisher")
  x <- some_compositions(200, 3) * 0.2 + 0.8 * matrix(c(0.9, 0.08, 0.02), 200, 3, byrow = TRUE)
  p <- as_mf_points(x, M)
  mean <- frechet_mean(p)$mean
  expect_true(all(mean >= 0))
  for (seed in 1:20) {
    set.seed(seed)
    r <- dp_mean(p, M, 0.2, sqrt(c(0.9, 0.08, 0.02)), 0.7)
    expect_identical(guarantee(r)$label, "pure")
    expect_equal(sum(r$value^2), 1, tolerance = 1e-12)
    expect_lte(mf_dist(M, mean, abs(r$value)), mf_dist(M, mean, r$value) + 1e-12)
  }
  # the sphere in other units: the same errors, twice as long
  one <- as.data.frame(dp_mean_plan(M, 200, 1, sqrt(c(1, 1, 1) / 3), 0.7))
  two <- as.data.frame(dp_mean_plan(sphere(2), 200, 1, sqrt(c(1, 1, 1) / 3), 0.35))
  expect_true("laplace" %in% one$mechanism[one$label == "pure"])
  best <- function(plan, name) plan$expected_error[plan$mechanism == name]
  expect_equal(best(one, "laplace"), 2 * best(two, "laplace"), tolerance = 0.01)
})
