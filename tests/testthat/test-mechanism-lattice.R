# a public centre and radius on every model in which rounding errors are bounded
lattice_cases <- function() {
  list(
    list(M = euclidean(3), center = c(0, 0, 0), radius = 1), list(M = sphere(1), center = c(1, 0), radius = 0.7),
    list(M = sphere(2), center = c(0.6, 0, 0.8), radius = 0.7), list(M = hyperbolic(2), center = c(sqrt(2), 1, 0), radius = 1),
    list(M = hyperbolic(3, "ball"), center = c(0.1, 0, 0), radius = 1), list(M = spd(2), center = diag(c(1, 3)), radius = 1),
    list(M = hermitian_spd(2), center = matrix(c(1, 0.3i, -0.3i, 3), 2), radius = 1),
    list(M = spd(3), center = diag(3), radius = 1.5), list(M = spd(3, "logeuclidean"), center = diag(3), radius = 1),
    list(M = spd(2, "log-cholesky"), center = matrix(c(1, 0.5, 0.5, 1), 2), radius = 1), list(M = simplex(3), center = c(0.5, 0.3, 0.2), radius = 1),
    list(M = correlation(3), center = matrix(c(1, 0.5, 0, 0.5, 1, 0, 0, 0, 1), 3), radius = 1),
    list(M = correlation(3, "log-cholesky"), center = matrix(c(1, 0.5, 0, 0.5, 1, 0, 0, 0, 1), 3), radius = 1),
    list(M = grassmann(5, 2), center = diag(5)[, 2:3], radius = 0.5), list(M = grassmann(3, 2), center = diag(3)[, 1:2], radius = 0.6),
    list(M = kendall(5), center = as.vector(mf_project(kendall(5), c(0, 1, 2i, 1 + 1i, -1))), radius = 0.35),
    list(M = spd(2, "bures"), center = matrix(c(1, 0.3, 0.3, 3), 2), radius = 0.25),
    list(M = stiefel(4, 2, "canonical"), center = diag(4)[, 2:3], radius = 0.3), list(M = stiefel(4, 2), center = diag(4)[, 2:3], radius = 0.3)
  )
}

bounds_of <- function(case, n, ...) {
  riemdp:::lattice_bounds(case$M, list(ball = riemdp:::check_radius(case$M, case$radius, case$center), n = n), ...)
}

# a law of its own, or the one that the options name
lattice_plan <- function(M, ask, law = "l2") riemdp:::mechanism_lattice$plan(M, riemdp:::with_law(ask, law))

coords_mean <- function(case, x, n) {
  .Call(riemdp:::riemdp_steps_mean_nonprivate, case$M, x, case$center, bounds_of(case, n)$numbers, NULL)
}

in_ball <- function(case, n, seed = 3, edge = FALSE) {
  set.seed(seed)
  mf_exp(case$M, case$center, scale_records(case$M, unit_tangents(case$M, case$center, n),
                                            case$radius * if (edge) rep(1.1, n) else runif(n)^0.3))
}

single_origin <- function(M) riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))

test_that("coordinates keep their error bound against 40 digits", {
  skip_if_not_installed("jsonlite")
  reference <- jsonlite::fromJSON(test_path("reference", "mean_steps.json"), simplifyDataFrame = FALSE)
  reference <- Filter(function(ref) is.null(ref$kind), reference) # the others: test-mean-steps.R
  expect_length(reference, 30)
  for (ref in reference) {
    d <- ref$d
    word <- strsplit(ref$model, " ")[[1]]
    M <- switch(word[1], grassmann = grassmann(as.numeric(word[2]), as.numeric(word[3])), sphere = sphere(d), hyperbolic = hyperbolic(d),
                kendall = kendall(d / 2 + 2), spd = spd((sqrt(8 * d + 1) - 1) / 2))
    center <- if (word[1] == "grassmann") diag(mf_facts(M)$rows)[, seq_len(mf_facts(M)$cols), drop = FALSE] else single_origin(M)
    case <- list(M = M, center = center, radius = ref$radius)
    x <- mf_exp(M, case$center, mf_from_coords(M, case$center, ref$records))
    n <- nrow(ref$records)
    a <- coords_mean(case, x, n)
    moved <- sqrt(rowSums((t(attr(a, "records")) - ref$records)^2))
    expect_lt(max(moved), 1e-13)
    # the bound, and what the way from coordinates to records and back has cost (the mean is 1.2-Lipschitz in each record's n-th)
    expect_lt(sqrt(sum((a - ref$mean)^2)), bounds_of(case, n)$error + 1.2 * mean(moved))
    expect_lt(bounds_of(case, n)$error, 1e-7)
  }
})

test_that("the mean is the Frechet mean of the records moved to the ball", {
  for (case in lattice_cases()) {
    x <- in_ball(case, 40)
    m <- frechet_mean(x, case$M, tol = 1e-12)
    z <- mf_coords(case$M, case$center, mf_log(case$M, case$center, m$mean))
    expect_lt(gap(as.vector(coords_mean(case, x, 40)), as.vector(z)), 1e-10)
    # far records count as the edge, invalid ones as the centre
    out <- attr(coords_mean(case, in_ball(case, 10, edge = TRUE), 10), "records")
    expect_lt(max(abs(sqrt(colSums(out^2)) / case$radius - 1)), 1e-9)
    expect_true(all(sqrt(colSums(out^2)) <= case$radius))
  }
})

test_that("neighbours' lattice points differ by no more than the sensitivity", {
  trials <- if (quick()) 3 else 12
  for (case in lattice_cases()) {
    ratio <- 0
    for (i in seq_len(trials)) {
      n <- c(1, 2, 5)[i %% 3 + 1]
      x <- in_ball(case, n + 1, seed = 50 + i, edge = i %% 2 == 0)
      pick <- function(rows) {
        f <- mf_facts(case$M)
        if (f$rows > 0 && f$cols == 0) x[, rows, drop = FALSE] else if (f$rows > 0) x[, , rows, drop = FALSE] else
          x[rows, , drop = FALSE]
      }
      ask <- list(n = n, epsilon = 1, delta = 0, center = case$center, calibration = "proven", options = list(),
                  ball = riemdp:::check_radius(case$M, case$radius, case$center))
      plan <- lattice_plan(case$M, ask)
      step <- plan$details$step
      one <- round(coords_mean(case, pick(seq_len(n)), n) / step)
      two <- round(coords_mean(case, pick(c(seq_len(n - 1), n + 1)), n) / step)
      ratio <- max(ratio, sqrt(sum((one - two)^2)) / plan$details$lattice_sensitivity)
    }
    expect_lte(ratio, 1)
    expect_gt(ratio, 0.5)
  }
})

test_that("releases lie on the image of the lattice and say what they are", {
  for (case in lattice_cases()) {
    x <- in_ball(case, 30)
    for (law in c("l2", "laplace", "gaussian", "staircase")) {
      staircase <- law == "staircase"
      r <- dp_mean(x, case$M, 8, case$center, case$radius, delta = if (law == "gaussian") 1e-6 else 0,
                   mechanism = if (staircase) "wrapped_staircase" else "wrapped", options = if (staircase) list() else list(law = law), post = FALSE)
      expect_identical(r$details$law, law)
      expect_true(mf_is_point(case$M, r$value))
      z <- mf_coords(case$M, case$center, mf_log(case$M, case$center, r$value)) / r$details$step
      # where noise wraps around a compact manifold the logarithm is another one
      if (sqrt(sum((z * r$details$step)^2)) < 1.2) expect_lt(gap(z, round(z)), 1e-4)
      g <- guarantee(r)
      expect_identical(g$label, if (law == "gaussian") "approx" else "pure")
      expect_identical(g$numerics, "lattice")
      expect_identical(g$epsilon, 8)
      expect_no_match(format(g), "real-number model")
      expect_output(explain(r), "integer\\s+arithmetic")
    }
  }
  expect_match(format(guarantee(dp_mean(1:5 / 5, euclidean(1), 1, 0, 1, mechanism = "wrapped", numerics = "real"))), "real-number model")
  r <- with_simulation(1, dp_mean(1:5 / 5, euclidean(1), 1, 0, 1))
  expect_identical(guarantee(r)$label, "none")
  expect_match(r$chosen, "on a lattice: laplace .*, staircase")
})

test_that("one record is its own mean to within the bound, a million are", {
  for (case in lattice_cases()) {
    x <- in_ball(case, 1, edge = TRUE)
    a <- coords_mean(case, x, 1)
    expect_lte(sqrt(sum((as.vector(a) - attr(a, "records"))^2)), bounds_of(case, 1)$error)
  }
  # two places on a geodesic through the centre, half a million records each: the mean is half-way
  n <- if (quick()) 1e4 else 1e6
  case <- lattice_cases()[[3]]
  x <- mf_exp(case$M, case$center, mf_from_coords(case$M, case$center, rbind(c(0.6, 0.1), c(-0.3, -0.05))))
  a <- coords_mean(case, x[rep(1:2, n / 2), ], n)
  ends <- attr(a, "records")[, 1:2]
  expect_lte(sqrt(sum((as.vector(a) - rowMeans(ends))^2)), bounds_of(case, n)$error)
})

test_that("the other wrapped mechanisms have a lattice mode", {
  cases <- c(lattice_cases(), list(
    list(M = stiefel(60, 2), center = diag(60)[, 1:2], radius = 0.5)
  ))
  for (case in cases) {
    x <- in_ball(case, 30)
    release <- function(...) dp_mean(x, case$M, 4, case$center, case$radius, ..., numerics = "lattice", post = FALSE)
    pure <- release(mechanism = "tangent")
    normal <- release(mechanism = "tangent", delta = 1e-6, options = list(noise = "gaussian", k = 18))
    expect_identical(c(guarantee(pure)$label, guarantee(normal)$label), c("pure", "approx"))
    expect_identical(guarantee(pure)$delta, 0)
    expect_match(pure$target, "logarithms")
    expect_equal(pure$sensitivity, 2 * case$radius / 30, tolerance = 1e-9)
    expect_identical(normal$details$step, 2^-18)
    expect_no_match(format(guarantee(pure)), "real-number model")
    expect_identical(normal$budget$event$type, "gaussian")
    expect_equal(normal$budget$event$parameters$noise_multiplier, 1 / guarantee(normal)$mu, tolerance = 1e-12)
    for (r in list(pure, normal)) {
      expect_true(mf_is_point(case$M, r$value))
      expect_output(explain(r), "of the\\s+records'\\s+logarithms")
      z <- mf_coords(case$M, case$center, mf_log(case$M, case$center, r$value)) / r$details$step
      if (sqrt(sum((z * r$details$step)^2)) < 0.8 && case$M$name != "spd_bures") expect_lt(gap(z, round(z)), 1e-4)
    }
    # by another name what law = "gaussian" is
    if (is.null(bounds_of(case, 30)$why)) {
      by_name <- with_simulation(4, release(mechanism = "wrapped_gaussian", delta = 1e-6))
      by_law <- with_simulation(4, release(mechanism = "wrapped", delta = 1e-6, options = list(law = "gaussian")))
      expect_identical(by_name$value, by_law$value)
      expect_identical(by_name$details, by_law$details)
      expect_identical(by_name$mechanism, "wrapped_gaussian")
      expect_output(explain(by_name), "discrete\\s+Gaussian")
      expect_true(is.finite(confint(by_name)$radius))
    }
  }
})

test_that("the tangent mean is the mean of the records' coordinates, to the last bits", {
  set.seed(8)
  for (case in list(list(M = stiefel(4, 2), center = diag(4)[, 1:2], radius = 0.5), lattice_cases()[[3]])) {
    x <- in_ball(case, 25)
    numbers <- bounds_of(case, 25, "tangent")
    a <- .Call(riemdp:::riemdp_steps_mean_nonprivate, case$M, x, case$center, numbers$numbers, NULL)
    expect_lte(sqrt(sum((as.vector(a) - rowMeans(attr(a, "records")))^2)), numbers$error + 1e-16)
    expect_lt(numbers$error, 1e-15)
  }
})

test_that("the order of records changes nothing, not even a bit", {
  for (case in lattice_cases()) {
    x <- in_ball(case, 20)
    f <- mf_facts(case$M)
    back <- if (f$rows > 0 && f$cols == 0) x[, 20:1] else if (f$rows > 0) x[, , 20:1] else x[20:1, , drop = FALSE]
    release <- function(x) {
      with_simulation(5, dp_mean(x, case$M, 1, case$center, case$radius, mechanism = "wrapped", numerics = "lattice"))$value
    }
    expect_identical(release(x), release(back))
  }
})

test_that("a release is a total function of the records", {
  for (case in lattice_cases()) {
    release <- function(x) {
      dp_mean(x, case$M, 1, case$center, case$radius, mechanism = "wrapped", numerics = "lattice", invalid = "center")
    }
    x <- in_ball(case, 6)
    for (value in c(NA, 0, NaN, Inf, 1e300, 1e-300)) {
      y <- x
      y[seq_along(y) %% 3 == 1] <- value
      expect_true(mf_is_point(case$M, release(y)$value))
    }
    y[] <- NA
    expect_true(mf_is_point(case$M, release(y)$value))
  }
})

test_that("noise of whole releases has the promised scale", {
  releases <- if (quick()) 300 else 3000
  x <- matrix(c(0.2, 0.1, -0.3, 0.4), 2)
  truth <- colMeans(x)
  for (law in c("l2", "laplace", "gaussian", "staircase")) {
    r <- dp_mean(x, euclidean(2), 1, c(0, 0), 1, delta = 1e-5, mechanism = if (law == "staircase") law else "wrapped",
                 options = if (law == "staircase") list() else list(law = law), post = FALSE)
    ask <- list(n = 2, epsilon = 1, delta = 1e-5, center = c(0, 0), ball = riemdp:::check_radius(euclidean(2), 1),
                options = if (law == "staircase") list() else list(law = law))
    plan <- lattice_plan(euclidean(2), ask, if (law == "staircase") law else "l2")
    expect_identical(plan$scale, r$scale)
    e <- with_simulation(2, replicate(releases, riemdp:::mechanism_lattice$release(euclidean(2), x, plan, ask) - truth))
    # of one coordinate: half of the mean of |z|^2, of a staircase over its shells
    second <- if (law == "staircase") {
      edge <- plan$steps[2] + plan$steps[1] * (0:80)
      weight <- exp(-(0:80))
      sum(weight * diff(c(0, edge)^4) / 4) / sum(weight * diff(c(0, edge)^2) / 2) / 2
    } else {
      switch(law, l2 = 3, laplace = 2, gaussian = 1) * r$scale^2
    }
    expect_lt(abs(mean(e^2) / second - 1), 5 * stats::sd(colSums(e^2)) / (2 * second) / sqrt(releases))
    expect_equal(r$expected_error, mean(sqrt(colSums(e^2))), tolerance = if (quick()) 0.3 else 0.06)
  }
})

test_that("the price of the lattice is small, public, and follows what is asked", {
  plan <- function(case, ..., n = 50, epsilon = 1, delta = 0, sigma = NULL) {
    ask <- list(n = n, epsilon = if (is.null(sigma)) epsilon, delta = delta, sigma = sigma, center = case$center,
                calibration = "proven", options = list(...), ball = riemdp:::check_radius(case$M, case$radius, case$center))
    lattice_plan(case$M, ask)
  }
  for (case in lattice_cases()) {
    p <- plan(case)
    d <- mf_facts(case$M)$dimension
    expect_lt(p$scale / p$sensitivity, 1.002)
    expect_gt(p$scale, p$sensitivity)
    expect_gte(p$details$lattice_scale, 1024)
    expect_gt(p$acceptance, 0.99)
    # what it promises is what its own numbers give
    expect_gte(p$ratio[1] / p$ratio[2], p$details$lattice_sensitivity)
    expect_gte(p$details$lattice_sensitivity, (p$sensitivity + 2 * p$details$error_bound) / p$details$step + sqrt(d))
    l <- plan(case, law = "laplace")$details
    expect_gte(l$lattice_scale, sqrt(d) * l$lattice_sensitivity)
    # discrete normals as normal ones of the variance without the rounding's
    g <- plan(case, law = "gaussian", delta = 1e-6)
    mu <- g$details$lattice_sensitivity / sqrt(g$ratio[1] / g$ratio[2] - 9)
    expect_lte(mu, g$guarantee$mu)
    expect_lte(pnorm(mu / 2 - 1 / mu) - exp(1) * pnorm(-mu / 2 - 1 / mu), 1e-6 * (1 + 1e-9))
    expect_lt(g$scale / (g$sensitivity / riemdp:::gaussian_mu(1, 1e-6)), 1.002)
    for (epsilon in c(0.5, 4, 12)) {
      s <- lattice_plan(case$M, list(n = 50, epsilon = epsilon, delta = 0, center = case$center, options = list(),
                                     ball = riemdp:::check_radius(case$M, case$radius, case$center)), "staircase")
      expect_gte(s$ratio[3], s$details$lattice_sensitivity)
      expect_gte(s$ratio[1] / s$ratio[2], s$ratio[3] / epsilon)
      expect_lt(s$scale / (s$sensitivity / epsilon), 1.002)
      expect_true(s$ratio[4] >= 0 && s$ratio[4] <= s$ratio[3])
    }
  }
  flat <- lattice_cases()[[1]]
  expect_identical(plan(flat, k = 4)$details$step, 2^-4)
  expect_gt(plan(flat, k = 4)$scale, 1.5 * plan(flat)$scale)
  by_hand <- plan(flat, sigma = 0.04)
  expect_equal(by_hand$guarantee$epsilon, 1, tolerance = 0.002)
  expect_gt(by_hand$guarantee$epsilon, by_hand$sensitivity / 0.04)
  again <- plan(flat, sigma = plan(flat, law = "gaussian", delta = 1e-6)$scale, law = "gaussian", delta = 1e-6)
  expect_equal(again$guarantee$epsilon, 1, tolerance = 0.002)
})

test_that("regions cover the mean as often as they say", {
  # coverage below 90 % by 5 standard errors would fail; 5 regions: false alarms below 1e-5
  releases <- if (quick()) 200 else 800
  M <- hyperbolic(2)
  x <- in_ball(list(M = M, center = c(1, 0, 0), radius = 1), 40)
  truth <- frechet_mean(x, M, tol = 1e-12)$mean
  for (law in c("l2", "laplace", "gaussian", "staircase")) {
    r <- dp_mean(x, M, 1, c(1, 0, 0), 1, delta = 1e-5, mechanism = if (law == "staircase") "wrapped_staircase" else "wrapped",
                 options = if (law == "staircase") list() else list(law = law))
    region <- confint(r, level = 0.9)
    expect_lt(region$radius, 4 * r$expected_error)
    ask <- list(n = 40, epsilon = 1, delta = 1e-5, center = c(1, 0, 0), ball = riemdp:::check_radius(M, 1),
                options = if (law == "staircase") list() else list(law = law))
    plan <- lattice_plan(M, ask, if (law == "staircase") law else "l2")
    covered <- with_simulation(3, replicate(releases, {
      one <- r
      one$value <- riemdp:::mechanism_lattice$release(M, x, plan, ask)
      mf_dist(M, one$value, truth) <= confint(one, level = 0.9)$radius
    }))
    expect_gt(mean(covered), 0.9 - 5 * sqrt(0.09 / releases))
  }
})

test_that("what can't be served is refused from public facts, with what would do", {
  refuse <- function(class, M, center, radius, ..., options = list(), numerics = "lattice") {
    x <- mf_exp(M, center, mf_from_coords(M, center, matrix(0.01, 3, mf_facts(M)$dimension)))
    expect_error(dp_mean(x, M, 1, center, radius, ..., options = options, numerics = numerics),
                 class = paste0("riemdp_error_", class))
  }
  e <- refuse("unsupported", custom_sphere(2), c(0, 0, 1), 0.5, mechanism = "wrapped")
  expect_match(conditionMessage(e), "the package's own manifolds")
  refuse("unsupported", custom_sphere(2), c(0, 0, 1), 0.5, mechanism = "tangent")
  refuse("unsupported", grassmann(5, 2), diag(5)[, 1:2], 1e-12, mechanism = "wrapped")
  refuse("unsupported", sphere(2), c(0, 0, 1), 0.5, mechanism = "tangent", options = list(k = 4), numerics = "real")
  refuse("unsupported", sphere(2), c(0, 0, 1), 0.5, delta = 1e-6, mechanism = "wrapped_gaussian", options = list(k = 4),
         numerics = "real")
  refuse("unsupported", sphere(2), c(0, 0, 1), 0.5, mechanism = "wrapped_gaussian")
  refuse("unsupported", spd(2, "bures"), diag(c(1, 1e8)), 0.2, mechanism = "wrapped")
  refuse("unsupported", spd(3), diag(3), 9, mechanism = "wrapped")
  refuse("unsupported", hyperbolic(2), c(1, 0, 0), 24, mechanism = "wrapped")
  refuse("unsupported", sphere(2), c(0, 0, 1), 0.5, mechanism = "laplace")
  refuse("argument", sphere(2), c(0, 0, 1), 0.5, mechanism = "wrapped", options = list(law = "gaussian"))
  refuse("argument", sphere(2), c(0, 0, 1), 0.5, mechanism = "wrapped", options = list(law = "cauchy"))
  refuse("argument", sphere(2), c(0, 0, 1), 0.5, mechanism = "wrapped", options = list(k = 1.5))
  refuse("unsupported", sphere(2), c(0, 0, 1), 0.5, mechanism = "wrapped", options = list(k = 4), numerics = "real")
})

test_that("a lattice is the default wherever there is one, and auto chooses among lattices", {
  # the staircase errs by 1.9 % less than the first of the list
  near <- dp_mean_plan(spd(3, "bures"), 500, 1, diag(3), 0.3)
  expect_identical(near$mechanism[near$chosen], "wrapped_staircase")
  for (case in lattice_cases()) {
    for (epsilon in c(1, 4)) {
      r <- dp_mean(in_ball(case, 30), case$M, epsilon, case$center, case$radius)
      expect_identical(guarantee(r)$numerics, "lattice")
      plan <- dp_mean_plan(case$M, 30, epsilon, case$center, case$radius)
      expect_identical(plan$numerics[plan$chosen], "lattice")
      expect_lte(plan$expected_error[plan$chosen], 1.01 * min(plan$expected_error[plan$numerics %in% "lattice" & !grepl("^target", plan$note)]))
    }
    real <- dp_mean(in_ball(case, 30), case$M, 1, case$center, case$radius, numerics = "real")
    expect_identical(guarantee(real)$numerics, "real-valued")
    size <- dp_mean(in_ball(case, 30), case$M, 1, case$center, case$radius, neighbours = "add_remove")
    expect_identical(guarantee(size)$numerics, "lattice")
  }
  # where there is none: by the mechanism, by the space, by the radius
  x <- in_ball(lattice_cases()[[3]], 30)
  own <- function(M, mechanism, radius = 0.5, ...) {
    guarantee(dp_mean(x, M, 1, c(0.6, 0, 0.8), radius, mechanism = mechanism, ...))$numerics
  }
  expect_identical(own(sphere(2), "laplace"), "real-valued")
  expect_identical(own(sphere(2), "wrapped"), "lattice")
  expect_identical(own(custom_sphere(2), "wrapped"), "real-valued")
  expect_identical(own(custom_sphere(2), "auto"), "real-valued")
  expect_identical(own(euclidean(3), "laplace"), "lattice")
  expect_identical(own(euclidean(3), "gaussian", delta = 1e-6), "lattice")
  # a scale by hand, and mu, as well
  expect_identical(own(euclidean(3), "wrapped_gaussian", delta = 1e-6, options = list(k = 20)), "lattice")
  r <- dp_mean(x, sphere(2), center = c(0.6, 0, 0.8), radius = 0.5, delta = 1e-6, mechanism = "wrapped_gaussian", options = list(mu = 0.5))
  expect_identical(guarantee(r)$numerics, "lattice")
  expect_equal(guarantee(r)$mu, 0.5, tolerance = 1e-6)
  expect_gte(guarantee(r)$mu * sqrt((r$scale / r$details$step)^2 - 9), r$details$lattice_sensitivity)
  fine <- dp_mean(x, sphere(2), center = c(0.6, 0, 0.8), radius = 0.5, delta = 1e-6, mechanism = "wrapped_gaussian", options = list(mu = 500))
  expect_lt(fine$scale / r$scale, 1.01 * 0.5 / 500)
})

test_that("the lowest digits of doubles tell neighbours apart on the line, those of a lattice don't", {
  skip_if(nzchar(Sys.getenv("RIEMDP_SLOWED")), "thousands of calls from R, which other tests make")
  draws <- 800 # fewer don't tell the doubles apart
  for (mechanism in c("laplace", "staircase", "wrapped", "tangent")) {
    expect_gt(bits_loss(euclidean(1), 1, mechanism, "real", draws, seed = 1)$loss, 1)
    expect_lt(bits_loss(euclidean(1), 1, mechanism, "lattice", draws, seed = 1)$loss, 1)
  }
  for (case in lattice_cases()[c(3, 4, 6, 10)]) {
    expect_lt(bits_loss(case$M, case$radius, "auto", "auto", 500, seed = 2)$loss, 1)
  }
})

test_that("staircases' quantiles hold where a shell is a few steps wide, and one that holds 0 alone", {
  for (s in list(c(40, 60, 7), c(5, 3, 1), c(20, 10, 0))) {
    z <- with_simulation(1, .Call(riemdp:::riemdp_lattice_noise, euclidean(3), 4000, "staircase", c(s[1], 1, s[2:3]), TRUE))
    for (level in c(0.5, 0.9, 0.99)) {
      q <- riemdp:::shells_quantile(level, 3, s[1], s[2], s[3])
      within <- mean(sqrt(rowSums(z^2)) <= q)
      expect_gt(within, level - 5 * sqrt(level * (1 - level) / 4000))
    }
  }
})

test_that("discrete normals are normal ones that were rounded, in one dimension term by term", {
  # a normal number of variance s^2, rounded to the integers with weights exp(-(z - x)^2/18): by quadrature
  for (s in c(0.5, 2, 7)) {
    z <- -12:12
    x <- seq(-12 * s - 2, 12 * s + 2, length.out = 40001)
    # the sum of the weights hardly depends on where x lies between the integers
    total <- vapply(x[1:50], function(x) sum(exp(-(-60:60 - (x - round(x)))^2 / 18)), 0)
    expect_lt(diff(range(total)) / total[1], 1e-14)
    p <- vapply(z, function(z) sum(dnorm(x, 0, s) * exp(-(z - x)^2 / 18)) * diff(x)[1] / total[1], 0)
    q <- exp(-z^2 / (2 * (s^2 + 9)))
    expect_lt(gap(p / p[13], q / q[13]), 1e-9)
  }
})

test_that("zCDP figures keep their delta at the ends of the range", {
  # the scale for small epsilon was once found by a difference that cancels
  zcdp_delta <- function(rho, epsilon) { # either is a bound; the first searches orders up to e^40 only
    min(vapply(c("balle", "bun-steinke"), function(by) as.double(dp_delta(event_zcdp(rho), epsilon, "zcdp", by)), 0))
  }
  for (epsilon in 10^seq(-16, 3, by = 1)) {
    for (delta in c(0.99, 0.1, 1e-6, 1e-100, 1e-300)) {
      rho <- riemdp:::zcdp_rho(epsilon, delta)
      expect_gt(rho, 0)
      expect_lte(zcdp_delta(rho, epsilon), delta * (1 + 1e-9) + 1e-306) # prices are rounded up near the least double
    }
  }
})
