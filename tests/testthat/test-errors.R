# Bad input to plain functions: a classed error that says what must be, never a record.

expect_classed <- function(expr, class) {
  e <- expect_error(expr, class = paste0("riemdp_error_", class))
  expect_s3_class(e, "riemdp_error")
  expect_null(conditionCall(e))
  expect_no_match(conditionMessage(e), "7123")
  invisible(e)
}

marker <- 0.7123456

test_that("wrong shapes", {
  M <- sphere(2)
  expect_classed(mf_dist(M, c(1, 0), c(1, 0, 0)), "shape")
  expect_classed(mf_dist(M, matrix(marker, 2, 4), c(1, 0, 0)), "shape")
  expect_classed(mf_dist(M, "a", c(1, 0, 0)), "shape")
  expect_classed(mf_dist(M, list(1, 2, 3), c(1, 0, 0)), "shape")
  expect_classed(mf_dist(M, NULL, c(1, 0, 0)), "shape")
  expect_classed(mf_dist(M, c(1 + 1i, 0, 0), c(1, 0, 0)), "shape")
  expect_classed(mf_dist(M, diag(3), diag(3)[1:2, ]), "shape")
  expect_classed(mf_dist(M, data.frame(a = "x", b = 1, c = 1), c(1, 0, 0)), "shape")
  expect_classed(mf_dist(M, factor(1:3), c(1, 0, 0)), "shape")
  expect_classed(mf_dist(spd(2), diag(3), diag(2)), "shape")
  expect_classed(mf_dist(spd(2), array(marker, c(2, 3, 4)), diag(2)), "shape")
  expect_classed(mf_dist(kendall(4), diag(4), diag(4)), "shape")
  expect_classed(mf_from_coords(M, c(1, 0, 0), 1:3), "shape")
  expect_classed(mf_jacobi(M, c(1, 0, 0), c(0, 1, 0), c(1, 2), diag(3)), "shape")
  expect_match(conditionMessage(expect_classed(mf_dist(M, diag(3), rbind(diag(3), 1)), "shape")), "`p` has 3 records")
})

test_that("numbers that aren't points", {
  expect_classed(mf_dist(sphere(2), c(marker, NA, 0), c(1, 0, 0)), "not_finite")
  expect_classed(mf_dist(sphere(2), c(NaN, 1, 0), c(1, 0, 0)), "not_finite")
  expect_classed(mf_dist(sphere(2), c(Inf, 1, 0), c(1, 0, 0)), "not_finite")
  expect_classed(mf_dist(sphere(2), c(marker, 1, 0), c(1, 0, 0)), "off_manifold")
  expect_classed(mf_dist(sphere(2), c(1, 1e-3, 0), c(1, 0, 0)), "off_manifold")
  expect_silent(mf_dist(sphere(2), c(1, 1e-9, 0), c(1, 0, 0)))
  expect_classed(mf_dist(spd(2), matrix(c(1, marker, 0, 1), 2), diag(2)), "not_symmetric")
  expect_classed(mf_dist(spd(2), diag(c(1, -1)), diag(2)), "not_positive_definite")
  expect_classed(mf_dist(spd(2), diag(c(1, 0)), diag(2)), "not_positive_definite")
  expect_classed(mf_dist(hyperbolic(2), c(1, 1, 1), c(1, 0, 0)), "off_manifold")
  expect_classed(mf_dist(hyperbolic(2), c(-1, 0, 0), c(1, 0, 0)), "off_manifold")
  expect_classed(mf_dist(hyperbolic(2, "ball"), c(1, 0), c(0, 0)), "off_manifold")
  expect_classed(mf_dist(stiefel(3, 2), matrix(marker, 3, 2), diag(3)[, 1:2]), "off_manifold")
  expect_classed(mf_dist(kendall(3), c(1i, 1i, 1i), c(0, 1, 1i)), "zero_size")
  expect_classed(mf_exp(sphere(2), c(1, 0, 0), c(1, 0, 0)), "not_tangent")
  expect_classed(mf_norm(spd(2), diag(2), matrix(c(1, 2, 3, 4), 2)), "not_symmetric")
  e <- expect_classed(mf_dist(sphere(2), rbind(diag(3), marker), c(1, 0, 0)), "off_manifold")
  expect_match(conditionMessage(e), "record 4", fixed = TRUE)
})

test_that("a centre that is no point is named by its own name", {
  x <- matrix(c(0, 0, 1), 5, 3, byrow = TRUE)
  for (call in list(dp_mean, dp_median, dp_ball, dp_variance, dp_pga)) {
    expect_error(call(x, sphere(2), 1, c(0, 0, 0), 0.5), "`center` must lie on", class = "riemdp_error_off_manifold")
    expect_error(call(x, sphere(2), 1, "a", 0.5), "`center` must be", class = "riemdp_error_shape")
  }
  for (arg in c("center", "at")) {
    call <- function(value) {
      do.call(dp_test, c(list(x, sphere(2), epsilon = 1, null = if (arg == "at") "symmetric" else "uniform", radius = if (arg == "at") 0.5),
                         stats::setNames(list(value), arg)))
    }
    expect_error(call(c(0, 0, 0)), sprintf("`%s` must lie on", arg), class = "riemdp_error_off_manifold")
    expect_error(call("a"), sprintf("`%s` must be", arg), class = "riemdp_error_shape")
  }
  expect_error(dp_test(2 * x, sphere(2), epsilon = 1, null = "uniform"), "`x` must lie on", class = "riemdp_error_off_manifold")
  expect_error(dp_mean(2 * x, sphere(2), 1, c(0, 0, 1), 0.5), "`x` must lie on", class = "riemdp_error_off_manifold")
})

test_that("a prediction that is no point is named by its own name", {
  x <- matrix(c(0, 0, 1), 50, 3, byrow = TRUE)
  expect_error(dp_conformal(x, sphere(2), 5, c(0, 0, 0), 0.5), "`at` must lie on", class = "riemdp_error_off_manifold")
  expect_error(dp_conformal(x, sphere(2), 5, "a", 0.5), "`at` must be", class = "riemdp_error_shape")
})

test_that("cut loci and domains", {
  expect_classed(mf_log(sphere(2), c(1, 0, 0), c(-1, 0, 0)), "cut_locus")
  expect_equal(mf_dist(sphere(2), c(1, 0, 0), c(-1, 0, 0)), pi)
  expect_classed(mf_log(grassmann(4, 2), diag(4)[, 1:2], diag(4)[, 3:4]), "cut_locus")
  expect_equal(mf_dist(grassmann(4, 2), diag(4)[, 1:2], diag(4)[, 3:4]), pi / sqrt(2))
  expect_classed(mf_log(stiefel(3, 3), diag(3), diag(c(1, 1, -1))), "cut_locus")
  expect_classed(mf_exp(spd(2, "bures"), diag(2), -3 * diag(2)), "domain")
  x <- kendall(3)
  base <- as.vector(mf_project(x, c(0, 1, 1i)))
  v <- mf_from_coords(x, base, c(1, 0))
  opposite <- as.vector(v / sqrt(sum(Mod(v)^2)))
  expect_classed(mf_log(x, base, opposite), "cut_locus")
  expect_equal(mf_dist(x, base, opposite), pi / 2)
})

test_that("means of nothing, of one and with wrong weights", {
  expect_classed(frechet_mean(matrix(0, 0, 3), sphere(2)), "shape")
  expect_classed(frechet_mean(array(0, c(2, 2, 0)), spd(2)), "shape")
  expect_equal(frechet_mean(c(0, 0, 1), sphere(2))$mean, c(0, 0, 1))
  expect_equal(frechet_mean(rbind(c(0, 0, 1)), sphere(2))$variance, 0)
  expect_classed(frechet_mean(diag(3), sphere(2), weights = c(1, -1, 1)), "argument")
  expect_classed(frechet_mean(diag(3), sphere(2), weights = c(0, 0, 0)), "argument")
  expect_classed(frechet_mean(diag(3), sphere(2), weights = 1:2), "argument")
  expect_classed(frechet_mean(diag(3), sphere(2), weights = c(1, NA, 1)), "argument")
  expect_classed(frechet_mean(diag(3), sphere(2), tol = 0), "argument")
  expect_length(mf_dist(sphere(2), matrix(0, 0, 3), c(0, 0, 1)), 0)
  expect_equal(attr(mf_dist_matrix(sphere(2), c(0, 0, 1)), "Size"), 1L)
  expect_equal(dim(mf_log(sphere(2), c(0, 0, 1), matrix(0, 0, 3))), c(0L, 3L))
})

test_that("integer and data-frame input", {
  expect_equal(mf_dist(euclidean(2), 1:2, c(1, 2)), 0)
  expect_equal(mf_dist(sphere(2), c(1L, 0L, 0L), c(0, 1, 0)), pi / 2)
  expect_equal(dim(mf_log(euclidean(2), c(0, 0), data.frame(a = 1:3, b = 4:6))), c(3L, 2L))
})

test_that("tampered manifolds and constructors out of range", {
  expect_classed(sphere(0), "argument")
  expect_classed(sphere(1.5), "argument")
  expect_classed(sphere(NA), "argument")
  expect_classed(sphere("a"), "argument")
  expect_classed(spd(2, "affin"), "argument")
  expect_classed(spd(2, floor = 2), "argument")
  expect_classed(stiefel(2, 3), "argument")
  large <- custom_sphere(2)
  large$param <- c(1e6, 1e6)
  expect_classed(.Call(riemdp:::riemdp_chord, large, 0.1, numeric()), "unsupported")
  expect_classed(.Call(riemdp:::riemdp_gaussian_radii, large, 1, 0.1, TRUE), "unsupported")
  expect_classed(grassmann(2, 2), "argument")
  expect_classed(kendall(2), "argument")
  expect_classed(manifold_custom(3, 2, identity, identity), "argument")
  expect_classed(manifold_custom(2, 2, identity, 3), "argument")
  for (tamper in list(
    function(M) { M$param <- -1L; M }, function(M) { M$param <- NA_integer_; M }, function(M) { M$param <- 1e9; M },
    function(M) { M$name <- "nowhere"; M }, function(M) { M$name <- NULL; M }, function(M) { M$param <- "2"; M },
    function(M) { M$param <- 2.5; M }, function(M) structure(list(), class = "riemdp_manifold"),
    # methods go by the class, C by the name: they must agree
    function(M) { class(M)[1] <- "riemdp_spd"; M }, function(M) { class(M) <- c("riemdp_stiefel", class(M)); M },
    function(M) { class(M) <- "riemdp_manifold"; M }, function(M) { M$name <- "ball"; M$param <- 3; M }
  )) {
    expect_classed(mf_dist(tamper(sphere(2)), c(1, 0, 0), c(0, 1, 0)), "manifold")
  }
  own <- structure(sphere(2), class = c("mine", class(sphere(2))))
  expect_equal(mf_dist(own, c(1, 0, 0), c(0, 1, 0)), pi / 2)
  expect_classed(mf_facts(3), "manifold")
  M <- custom_sphere(2)
  M$functions$inner <- NULL
  expect_classed(mf_norm(M, c(1, 0, 0), c(0, 1, 0)), "manifold")
  M <- custom_sphere(2)
  M$functions$log <- function(p, q) "no"
  expect_classed(mf_log(M, c(1, 0, 0), c(0, 1, 0)), "callback")
  M$functions$log <- function(p, q) stop("mine")
  expect_error(mf_log(M, c(1, 0, 0), c(0, 1, 0)), "mine")
})

test_that("the table of errors lists them", {
  table <- riemdp_errors()
  expect_true(all(startsWith(table$class, "riemdp_error_")))
  expect_true(all(nzchar(table$must)), all(nzchar(table$mend)))
})

test_that("broken objects of all kinds give classed errors", {
  expect_classed(mf_is_point(sphere(1), structure(list(a = 1:3, b = 1:2), class = "data.frame", row.names = 1:3)), "shape")
  expect_classed(mf_check(euclidean(1), structure(list(a = 1), class = "data.frame")), "shape")
  expect_classed(mf_jacobi(sphere(2), c(1, 0, 0), c(0, 1, 0), sum, c(0, 1, 0)), "shape")
  expect_classed(dp_mean(array(diag(2), c(2, 2, 2)), spd(2, "logeuclidean"), 1, as.data.frame(diag(3)), 1), "shape")
  M <- hyperbolic(2, "ball")
  M$param <- c(2L, 3L)
  expect_classed(mf_facts(M), "manifold")
  M <- stiefel(4, 2)
  M$name <- "grassmann"
  expect_classed(laplace_noise(M, diag(4)[, 1:2], 0.1), "manifold")
  expect_classed(laplace_noise(stiefel(4, 2), diag(4)[, 1:2], 0.1), "unsupported")
  expect_classed(sphere(structure(1, class = "riemdp_points")), "argument")
  expect_classed(is.na(structure(1, class = "riemdp_points")), "shape")
  expect_classed(guarantee(1), "argument")
  expect_classed(mf_random(sphere(100), 1e8), "argument")
  expect_error(.Call(riemdp:::riemdp_pole, sphere(2), c(1, 0, 0), c(0, 1, 0), c(0, 1, 0), 2^31), class = "riemdp_error_argument")
})

test_that("no error advises to choose records or a centre by the data: private calls raise the same texts", {
  texts <- c(riemdp_errors()$must, riemdp_errors()$mend)
  expect_no_match(texts, "[Rr]emove (or|such|conf)|[Ii]mpute|[Ll]eave .* out|[Dd]rop |closer to the data")
  e <- expect_error(dp_mean(rbind(c(0, 0, 1), NA), sphere(2), epsilon = 1, center = c(0, 0, 1), radius = 0.4), class = "riemdp_error_not_finite")
  expect_match(conditionMessage(e), "public rule (see `invalid`)", fixed = TRUE)
})

test_that("budgets, noise, bounds and counts at the ends of doubles give answers or classed errors", {
  big <- .Machine$double.xmax
  o <- c(0, 0, 1)
  set.seed(1)
  x <- matrix(stats::rnorm(60), 20)
  points <- mf_project(sphere(2), cbind(stats::rnorm(20), stats::rnorm(20), 5))
  d <- data.frame(y = x[, 1], u = x[, 2])
  classed <- function(expr) {
    out <- tryCatch(suppressWarnings(expr), error = identity)
    expect_true(!inherits(out, "error") || inherits(out, "riemdp_error"), label = if (inherits(out, "error")) conditionMessage(out) else "")
    out
  }
  bounds <- list(y = c(-3, 3), u = c(-3, 3))
  optimum <- function(epsilon = 1, ...) dp_optimize(problem_frechet(sphere(2)), points, epsilon, 1e-6, start = o, clip = 0.5, lr = 0.5, ...)
  for (v in if (quick()) c(big, 1e-300) else c(big, 1e300, 800, 1e-154, 1e-300, 4.9e-324)) {
    classed(dp_pca(x, 1, v, 1e-6, bound = 3))
    classed(dp_pca(x, 1, v, 1e-6, bound = 3, mechanism = "rgd"))
    for (mechanism in c("gauss", "laplace", "wishart", "bingham")) classed(dp_pca(x, 1, v, 1e-6, bound = 3, mechanism = mechanism))
    classed(dp_pca(x, 1, 1, bound = v))
    classed(dp_pga(points, sphere(2), v, o, 0.5))
    classed(dp_covariance(points, sphere(2), v, o, 0.5, at = o))
    classed(dp_covariance(points, sphere(2), 1, o, 0.5, at = v))
    classed(dp_pca(x, 1, delta = 1e-6, bound = 3, noise_multiplier = v))
    classed(optimum(v, steps = 3))
    classed(optimum(v, epochs = 2, method = "rsvrg", batch = 4))
    classed(optimum(NULL, steps = 3, noise_multiplier = v))
    classed(dp_mean_plan(sphere(2), n = 200, center = o, radius = 0.5, epsilon = v, delta = 1e-6))
    classed(dp_regression_plan(sphere(2), n = 200, epsilon = v, center = o, radius = 0.5, speed = 1, residual_bound = 0.2, bounds = c(-1, 1)))
    classed(dp_spline_plan(sphere(2), n = 200, epsilon = v, radius = 0.5))
    classed(dp_spline(y ~ bs(u, df = 4), euclidean(1), replace(d, "u", list(c(v, d$u[-1]))), 1, 0, 3, c(-3, 3)))
    classed(dp_spline(y ~ bs(u, df = 4), euclidean(1), replace(d, "y", list(c(v, d$y[-1]))), 1, 0, 3, c(-3, 3)))
    classed(dp_spline(y ~ bs(u, df = 4), euclidean(1), d, 1, 0, v, c(-v, v)))
    classed(spline_regression(y ~ bs(u, df = 4), euclidean(1), replace(d, "y", list(c(v, d$y[-1])))))
    classed(dp_tradeoff(event_pure(v), c(0, 0.5, 1)))
    classed(dp_tradeoff(event_poisson(event_gaussian(v), 0.01), c(0, 0.5, 1)))
    for (family in c("poisson", "quantile")) {
      some <- replace(bounds, "y", list(c(0, 3)))
      for (column in c("y", "u")) classed(dp_glm(y ~ u, replace(d, column, c(v, d[[column]][-1])), 1, bounds = some, family = family))
      classed(dp_glm(y ~ u, d, 1, bounds = list(u = c(-v, v), y = c(0, v)), family = family))
    }
    for (method in c("objective", "statistics", "paper")) {
      for (column in c("y", "u")) {
        classed(dp_lm(y ~ u, replace(d, column, c(v, d[[column]][-1])), 1, bounds = bounds, method = method))
        classed(dp_lm(y ~ u, d, 1, bounds = replace(bounds, column, list(c(-v, v))), method = method))
      }
    }
  }
  classed(dp_mean_plan(spd(2), n = 200, center = diag(2), radius = 1, epsilon = big, delta = 1e-6, mechanism = "gaussian"))
  # more records than integers count
  plan <- dp_regression_plan(sphere(2), n = 2^31, epsilon = 1, center = o, radius = 0.5, speed = 1, residual_bound = 0.1, bounds = c(-1, 1))
  expect_identical(plan$n[1], 2^31)
  # right answers where exp(epsilon) overflows: on the sphere of this radius next to the flat profile
  space <- riemdp:::profile_space(sphere(2))
  for (epsilon in c(700, 800, 1e4)) {
    sigma <- 0.005 / riemdp:::gaussian_mu(epsilon, 1e-6)
    expect_lt(abs(riemdp:::profile_delta(space, sigma, 0.005, epsilon) / 1e-6 - 1), 0.3)
    expect_gte(riemdp:::profile_delta(space, sigma, 0.005, epsilon), 1e-6)
  }
  expect_equal(riemdp:::gdp_epsilon(1e-308, 1e-6), 0)
})
