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
                                       bounds = list(t = c(0, 1), u = c(0, 1))[all.vars(formula[[3]])], delta = 1e-5, method = "gradient", ...))
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
                                     bounds = c(0, 1), ...)
  expect_error(ask(method = "paper"), class = "riemdp_error_unsupported")
  expect_identical(ask(delta = 1e-5, method = "gradient", invalid = "ignore")$mechanism, "gradient")
  expect_error(ask(method = "gradient"), class = "riemdp_error_argument") # delta
})

test_that("private Newton steps and the K-norm gradient over chunks are those of memory", {
  set.seed(6)
  n <- 60
  passes <- new.env()
  counting <- function(X, FUN) {
    passes$count <- passes$count + 1
    lapply(X, FUN)
  }
  cases <- list(list(M = sphere(2), center = c(0, 0, 1)), list(M = spd(2), center = diag(2)), list(M = hyperbolic(2), center = c(1, 0, 0)),
                list(M = spd(2, "bures"), center = diag(2)))
  if (!quick()) cases <- c(cases, list(list(M = grassmann(4, 2), center = diag(4)[, 1:2]), list(M = euclidean(3), center = rep(0, 3))))
  for (case in cases) {
    M <- case$M
    d <- mf_facts(M)$dimension
    frame <- data.frame(t = runif(n), u = runif(n))
    y <- mf_exp(M, case$center, mf_from_coords(M, case$center, outer(frame$t - 0.5, rep(0.3, d)) + rnorm(n * d, sd = 0.02)))
    frame$y <- mf_points(y, M)
    frame$y[5] <- NA
    frame$t[9] <- NA
    run <- function(formula, data, method, epsilon = 1, ...) {
      with_simulation(2, dp_regression(formula, M, data, epsilon, case$center, 0.4, speed = 1.5, residual_bound = 0.1, method = method,
                                       bounds = list(t = c(0, 1), u = c(0, 1))[all.vars(formula[[3]])], invalid = "ignore", ...))
    }
    same <- function(formula, ...) {
      whole <- run(formula, frame, ...)
      passes$count <- 0
      first <- run(formula, chunks(frame, 25, map = counting), ...)
      expect_equal(first$value, whole$value, tolerance = 1e-9)
      expect_identical(run(formula, chunks(frame, 17, map = backwards), ...)$value, first$value)
      parts <- c("n", "mechanism", "guarantee", "expected_error", "columns", "bounds", "chosen")
      expect_identical(unclass(first)[parts], unclass(whole)[parts])
      # the last step is released as the value is: to the digits of the solver
      expect_identical(first$details[names(first$details) != "last"], whole$details[names(whole$details) != "last"])
      expect_equal(first$details$last, whole$details$last, tolerance = 1e-9)
    }
    for (formula in if (quick()) list(y ~ t + u) else list(y ~ t, y ~ t + u)) {
      for (method in c("newton", "tangent", "auto")) {
        same(formula, method)
        expect_lt(passes$count, 60)
      }
    }
    same(y ~ t, "newton", 20) # several steps: features along a curve that has been released
    expect_gt(length(run(y ~ t, frame, "newton", 20)$details$shares), 1)
    if (mf_facts(M)$has_kng) {
      same(y ~ t, "kng", 0.1)
      same(y ~ t, "kng", 0.1, loss = "lad")
      same(y ~ t, "kng", 0.1, chain = 10)
      expect_lte(passes$count, 11)
    }
  }
})

test_that("a last step along the noisy gradient over chunks is that of memory", {
  set.seed(7)
  M <- spd(4, "logeuclidean")
  frame <- data.frame(t = runif(80))
  frame$y <- mf_points(mf_exp(M, diag(4), mf_from_coords(M, diag(4), outer(frame$t - 0.5, rep(0.1, 10)))), M)
  run <- function(data) {
    with_simulation(3, dp_regression(y ~ t, M, data, 1, diag(4), 0.4, speed = 1, residual_bound = 0.2, bounds = c(0, 1), method = "newton"))
  }
  whole <- run(frame)
  expect_true(whole$details$noisy)
  expect_equal(run(chunks(frame, 30))$value, whole$value, tolerance = 1e-9)
  expect_identical(run(chunks(frame, 30))$value, run(chunks(frame, 7, map = backwards))$value)
})

test_that("sums of objective perturbation over parts are those of the kernel", {
  set.seed(8)
  rule <- riemdp:::perturbation_rule(100, 1, 2, 2)
  loss <- riemdp:::kernel_loss(rule)
  x <- rbind(1, matrix(runif(80, -1, 1), 2))
  y <- matrix(rnorm(80), 2)
  b <- matrix(rnorm(6), 2)
  for (own in c(FALSE, TRUE)) {
    features <- if (own) array(rnorm(240), c(2, 3, 40)) else x
    part <- function(i) if (own) features[, , i, drop = FALSE] else features[, i, drop = FALSE]
    sums <- function(b, ...) {
      b <- cbind(b, 0 * b) # what the coefficients lack to sums of two doubles
      riemdp:::exact_total(lapply(list(...), function(i) .Call(riemdp:::riemdp_chunk_perturbed, part(i), y[, i, drop = FALSE], b, loss, TRUE)))
    }
    got <- sums(b, 1:13, 14:40)
    expect_identical(sums(b, 20:40, 1:7, 8:19), got)
    # no steps from the centre b: its gradient there is the sum alone
    fit <- .Call(riemdp:::riemdp_perturbed_fit_nonprivate, features, y, matrix(1, 2, 3), b, matrix(0, 2, 3), loss, riemdp:::newton_solver(1e9, 9, 0))
    expect_equal(got[1:6], as.vector(fit[[2]]), tolerance = 1e-13)
    # the triangle is the derivative of the gradient
    h <- matrix(0, 6, 6)
    h[lower.tri(h, TRUE)] <- got[-(1:6)]
    numeric <- vapply(1:6, function(k) {
      step <- matrix(1e-6 * (1:6 == k), 2)
      (sums(b + step, 1:40)[1:6] - sums(b - step, 1:40)[1:6]) / 2e-6
    }, double(6))
    expect_equal(h[lower.tri(h, TRUE)], numeric[lower.tri(h, TRUE)], tolerance = 1e-5)
  }
  # what they lack counts
  low <- matrix(1e-3 * rnorm(6), 2)
  both <- riemdp:::exact_total(list(.Call(riemdp:::riemdp_chunk_perturbed, x, y, cbind(b, low), loss, TRUE)))
  expect_equal(both, riemdp:::exact_total(list(.Call(riemdp:::riemdp_chunk_perturbed, x, y, cbind(b + low, 0 * b), loss, TRUE))), tolerance = 1e-12)
  for (wrong in list(b[1, , drop = FALSE], b, cbind(b, b)[1, , drop = FALSE])) {
    expect_error(.Call(riemdp:::riemdp_chunk_perturbed, x, y, wrong, loss, TRUE), class = "riemdp_error_shape")
  }
})

test_that("private regression tells nothing of chunks that can't be read", {
  folder <- test_folder()
  frame <- data.frame(t = runif(40))
  frame$y <- mf_points(mf_exp(sphere(2), c(0, 0, 1), outer(frame$t - 0.5, c(0.4, 0, 0))), sphere(2))
  paths <- file.path(folder, sprintf("%d.rds", 1:2))
  for (i in 1:2) saveRDS(frame[20 * (i - 1) + 1:20, ], paths[i])
  reads <- 0
  x <- chunk_files(paths, function(path) {
    reads <<- reads + 1
    if (reads > 1) stop("secret 0.8123456")
    readRDS(path)
  }, sizes = c(20, 20))
  for (method in c("newton", "kng")) {
    reads <- 0
    e <- expect_error(dp_regression(y ~ t, sphere(2), x, 0.1, c(0, 0, 1), 0.4, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1),
                                    method = method, invalid = "ignore"), class = "riemdp_error_chunk")
    expect_no_match(conditionMessage(e), "8123", fixed = TRUE)
  }
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
  # weights that aren't, row numbers, a chunk with no record that counts, none at all, a variable that isn't in the chunks
  expect_error(geodesic_regression(y ~ t, M, chunks(frame, 25), weights = u), class = "riemdp_error_argument")
  expect_error(geodesic_regression(y ~ t, M, chunks(frame, 25), subset = 1:3), class = "riemdp_error_argument")
  expect_error(geodesic_regression(y ~ t, M, chunks(frame, 25), subset = t > 9), class = "riemdp_error_shape")
  outside <- frame$t
  expect_error(geodesic_regression(y ~ t, M, chunks(frame, 25), weights = outside), class = "riemdp_error")
  expect_error(geodesic_regression(y ~ t, M, chunks(frame, 25), na.action = na.fail), class = "riemdp_error_argument")
  frame$late <- seq_len(n) > 40
  fit <- geodesic_regression(y ~ t, M, chunks(frame, 20), subset = late, na.action = na.exclude)
  expect_identical(nobs(fit), 50)
  expect_equal(unname(residuals(fit, chunks(frame, 20))), unname(residuals(geodesic_regression(y ~ t, M, frame, subset = late))), tolerance = 1e-9)
  expect_length(residuals(fit, frame[60:70, ]), 11)
  expect_error(residuals(fit), class = "riemdp_error_argument")
  expect_error(geodesic_regression(y ~ I(0 * u + 1), M, chunks(frame, 25)), class = "riemdp_error_design")
  expect_error(geodesic_regression(y ~ u + I(2 * u), M, chunks(frame, 25)), class = "riemdp_error_design")
  expect_error(predict(lad), class = "riemdp_error_argument")
})

test_that("weights, subsets, Huber's own scale and summaries over chunks are those of memory", {
  set.seed(5)
  n <- 160
  for (M in if (quick()) list(spd(2)) else list(sphere(2), kendall(4))) {
    r <- chunk_records_on(list(M = M, reach = 1), 2)
    d <- mf_facts(M)$dimension
    frame <- data.frame(t = runif(n, 2, 3), u = rnorm(n), w = sample(0:3, n, TRUE) / 2)
    frame$y <- mf_points(mf_exp(M, r$one, mf_from_coords(M, r$one, outer(frame$t - 2.5, rep(0.5, d)) + outer(frame$u, rep(0.05, d)) +
                                                           rnorm(n * d, sd = 0.03))), M)
    frame$t[7] <- NA
    calls <- list(function(data, f) geodesic_regression(f, M, data, origin = 2.5, weights = w),
                  function(data, f) geodesic_regression(f, M, data, origin = 2.5, subset = t < 2.8 & u > -1),
                  function(data, f) geodesic_regression(f, M, data, "huber", origin = 2.5),
                  function(data, f) geodesic_regression(f, M, data, "huber", origin = "mean", weights = w, subset = u > -1))
    for (formula in c(if (!quick()) y ~ t, y ~ t + u)) for (run in calls) {
      whole <- run(frame, formula)
      first <- run(chunks(frame, 60), formula)
      new <- data.frame(t = c(2, 3), u = c(0, 1))
      expect_lt(max(mf_dist(M, predict(first, new), predict(whole, new))), 1e-9)
      for (name in c("value", "null_value", "r.squared", "sigma", "df.residual", "cutoff")) {
        expect_equal(first[[name]], whole[[name]], tolerance = 1e-10)
      }
      expect_identical(coef(run(chunks(frame, 47, map = backwards), formula)), coef(first))
      expect_equal(nobs(first), nobs(whole))
      expect_equal(deviance(first), deviance(whole), tolerance = 1e-9)
      expect_equal(summary(first)$speeds, summary(whole)$speeds, tolerance = 1e-7)
      expect_equal(glance(first)[names(glance(whole))[1:10]], glance(whole)[1:10], tolerance = 1e-8)
      count <- if (is.null(whole$weights)) TRUE else whole$weights > 0
      expect_equal(summary(first)$residuals, quantile(whole$residuals[count]), tolerance = 1e-7)
      if (whole$loss == "squared") { # the frame may turn with the last digits of the foot
        expect_equal(eigen(vcov(first))$values, eigen(vcov(whole))$values, tolerance = 1e-7)
        expect_identical(dimnames(vcov(first)), dimnames(vcov(whole)))
      }
    }
    expect_output(print(summary(first)), "Huber loss turns linear", fixed = TRUE)
    expect_error(vcov(first), class = "riemdp_error_unsupported")
  }
})

test_that("order statistics of numbers in chunks are exact", {
  set.seed(9)
  many <- list(even = runif(1e5), wide = exp(rnorm(1e5, sd = 40)), tied = c(rep(0.25, 6e4), runif(3e4), rep(0, 1e4)),
               lost = c(runif(7e4), rep(Inf, 3e4)), same = rep(pi, 1e5), few = c(3, 1, 2), zero = rep(0, 1e5),
               none = rep(Inf, 5))
  for (name in names(many)) for (guess in list(double(), c(0.1, 0.9), many[[name]][1:3])) {
    x <- many[[name]]
    passes <- 0
    ranks <- unique(c(1, ceiling(length(x) * c(0.2, 0.5, 0.51, 0.9)), length(x)))
    got <- riemdp:::chunk_order(ranks, length(x), function(edges) {
      passes <<- passes + 1
      list(count = findInterval(edges, sort(x)), most = max(-1, x[is.finite(x)]), finite = sum(is.finite(x)))
    }, function(low, high) x[x > low & x <= high], guess)
    expect_identical(got, sort(x)[ranks])
    expect_lt(passes, if (name == "wide") 40 else 25)
  }
})
