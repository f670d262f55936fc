test_that("private regression over chunks is that of memory", {
  set.seed(1)
  n <- 120
  for (M in list(sphere(2), spd(2), euclidean(2))) {
    center <- list(sphere = c(0, 0, 1), spd_affine = diag(2), euclidean = c(0, 0))[[M$name]]
    d <- mf_facts(M)$dimension
    frame <- data.frame(t = runif(n), u = runif(n))
    y <- mf_exp(M, center, mf_from_coords(M, center, outer(frame$t - 0.5, rep(0.4, d)) + rnorm(n * d, sd = 0.02)))
    frame$y <- mf_points(y, M)
    run <- function(formula, data, ...) {
      with_simulation(2, dp_regression(formula, M, data, 1, center, 0.4, speed = 1.5, residual_bound = 0.1,
                                       x_range = list(t = c(0, 1), u = c(0, 1))[all.vars(formula[[3]])], delta = 1e-5, method = "gradient", ...))
    }
    for (formula in list(y ~ t, y ~ t + u)) {
      whole <- run(formula, frame)
      first <- run(formula, chunks(frame, 50))
      expect_equal(first$value, whole$value, tolerance = 1e-11)
      same <- c("n", "mechanism", "guarantee", "expected_error", "columns", "bounds")
      expect_identical(unclass(first)[same], unclass(whole)[same])
      expect_identical(run(formula, chunks(frame, 31, map = backwards))$value, first$value)
    }
    # lists of variables, the responses in their plain shape; a response that is missing has no pull
    plain <- list(list(y = if (is.matrix(y)) y[1:70, ] else y[, , 1:70], t = frame$t[1:70], u = frame$u[1:70]),
                  list(y = if (is.matrix(y)) y[71:n, ] else y[, , 71:n], t = frame$t[71:n], u = frame$u[71:n]))
    expect_identical(run(y ~ t, chunks(plain))$value, run(y ~ t, chunks(frame, 50))$value)
    frame$y[5] <- NA
    expect_equal(run(y ~ t, chunks(frame, 50), invalid = "ignore")$value, run(y ~ t, frame, invalid = "ignore")$value,
                 tolerance = 1e-11)
  }
  ask <- function(...) dp_regression(y ~ t, M, chunks(frame, 50), 1, center, 0.4, speed = 1.5, residual_bound = 0.1,
                                     x_range = c(0, 1), ...)
  expect_error(ask(method = "newton"), class = "riemdp_error_unsupported")
  expect_error(ask(), class = "riemdp_error_argument") # delta
  expect_identical(ask(delta = 1e-5, invalid = "ignore")$mechanism, "gradient")
})

test_that("geodesic regression over chunks is that of memory", {
  set.seed(3)
  n <- 90
  for (M in list(sphere(2), spd(2), grassmann(3, 1), kendall(4))) {
    case <- list(M = M, reach = 1)
    r <- chunk_records_on(case, 2)
    d <- mf_facts(M)$dimension
    frame <- data.frame(t = runif(n, 2, 3), u = rnorm(n))
    y <- mf_exp(M, r$one, mf_from_coords(M, r$one, outer(frame$t - 2.5, rep(0.5, d)) + outer(frame$u, rep(0.05,
      d)) + rnorm(n * d, sd = 0.03)))
    frame$y <- mf_points(y, M)
    frame$t[7] <- NA # left out by both
    for (formula in list(y ~ t, y ~ t + I(u^2))) {
      for (loss in list(list("squared"), list("huber", cutoff = 0.05))) {
        run <- function(data) do.call(geodesic_regression, c(list(formula, M, data), loss, list(origin = 2.5, tol = 1e-9)))
        whole <- run(frame)
        first <- run(chunks(frame, 25))
        expect_true(first$converged)
        new <- data.frame(t = c(2, 3), u = c(0, 1))
        apart <- mf_dist(M, predict(first, new), predict(whole, new))
        expect_lt(max(apart), 1e-7)
        for (name in c("value", "r.squared", "sigma", "df.residual")) expect_equal(first[[name]], whole[[name]], tolerance = 1e-9)
        expect_identical(nobs(first), 89)
        other <- run(chunks(frame, 40, map = backwards))
        expect_identical(coef(other), coef(first))
      }
    }
  }
  lad <- geodesic_regression(y ~ t, M, chunks(frame, 25), loss = "lad", tol = 1e-6)
  expect_equal(lad$value, geodesic_regression(y ~ t, M, frame, loss = "lad", tol = 1e-6)$value, tolerance = 1e-6)
  expect_output(print(lad), "89 records, loss lad", fixed = TRUE)
  expect_error(geodesic_regression(y ~ t, M, chunks(frame, 25), loss = "huber"), class = "riemdp_error_unsupported")
  expect_error(geodesic_regression(y ~ t, M, chunks(frame, 25), weights = u), class = "riemdp_error_unsupported")
  expect_error(geodesic_regression(y ~ I(0 * u + 1), M, chunks(frame, 25)), class = "riemdp_error_design")
  expect_error(geodesic_regression(y ~ u + I(2 * u), M, chunks(frame, 25)), class = "riemdp_error_design")
  expect_error(predict(lad), class = "riemdp_error_argument")
})
