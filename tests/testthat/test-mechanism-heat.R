# The heat kernel (R/mechanism-heat.R, src/mechanism/mechanism_heat.c; inst/proofs/gaussian.md, section 7).

# A function of the distance or frames that the Laplacian multiplies by -rate: its mean over the kernel at time t is exp(-rate t) times its
# value at the start.
waves <- function(M, center) {
  n <- M$param[1]
  if (M$name == "sphere") {
    first <- function(x) as.vector(x %*% center)
    list(list(of = first, rate = n), list(of = function(x) ((n + 1) * first(x)^2 - 1) / n, rate = 2 * (n + 1)))
  } else if (M$name == "kendall") {
    list(list(of = function(x) cos(mf_dist(M, center, x))^2 - 1 / (n - 1), rate = 4 * (n - 1)))
  } else {
    p <- M$param[2]
    inner <- function(x) apply(x, 3, function(y) crossprod(center, y))
    planes <- list(of = function(x) colSums(matrix(inner(x)^2, p^2)) - p^2 / n, rate = 2 * n)
    frames <- list(of = function(x) colSums(matrix(inner(x), p^2)[seq(1, p^2, p + 1), , drop = FALSE]), rate = n - 1)
    if (M$name == "grassmann") list(planes) else if (p == n) list(frames) else list(frames, planes)
  }
}
TURNED <- list(sphere(1), sphere(2), sphere(3), sphere(4), kendall(3), kendall(5), kendall(6), stiefel(4, 2, "canonical"),
               stiefel(5, 2), stiefel(3, 3, "canonical"),
               stiefel(4, 1), grassmann(4, 2), grassmann(5, 2), grassmann(2, 1))
start_of <- function(M) {
  if (M$name == "sphere") c(rep(0, M$param), 1) else if (M$name == "kendall") mf_project(M, exp(2i * pi * (seq_len(M$param) - 1) / M$param) + 0.3) else
    diag(M$param[1])[, seq_len(M$param[2]), drop = FALSE]
}

test_that("draws are those of the kernel: means of what the Laplacian multiplies", {
  # 40 figures at 5 standard errors: 3e-5 of a false alarm. A scale that is 3 % off moves each by 10 of them or more.
  count <- if (quick()) 4e4 else 1e5
  for (M in TURNED) {
    center <- start_of(M)
    for (sigma in c(0.15, 0.4)) {
      x <- with_simulation(31, laplace_noise(M, center, sigma, count, "heat"))
      expect_true(all(mf_is_point(M, mf_points(x, M)[1:50])))
      for (wave in waves(M, center)) {
        f <- wave$of(x)
        one <- wave$of(if (M$name == "kendall") center else if (length(dim(x)) == 3) array(center, c(dim(center), 1)) else matrix(center, 1))
        expect_lt(abs(mean(f) - one * exp(-wave$rate * sigma^2 / 2)), 5 * stats::sd(f) / sqrt(count), label = paste(label_of(M), sigma))
      }
    }
  }
  # in whatever direction
  x <- with_simulation(32, laplace_noise(sphere(2), c(0, 0, 1), 0.5, 1e5, "heat"))
  expect_lt(max(abs(colMeans(cbind(x[, 1:2], x[, 1] * x[, 2], x[, 1]^2 - x[, 2]^2))) / c(0.4, 0.4, 0.1, 0.2)), 5 / sqrt(1e5))
})

# log of the sampler's factor, by R's eigenvalues
kept_at <- function(n, unitary, sigma) {
  a <- matrix(stats::rnorm(n^2), n)
  a <- (a - t(a)) / sqrt(2)
  if (unitary) {
    b <- matrix(stats::rnorm(n^2), n)
    a <- a + 1i * (b + t(b)) / sqrt(2)
  }
  w <- sort(eigen(1i * a, symmetric = TRUE, only.values = TRUE)$values, decreasing = TRUE) * sigma
  pairs <- if (unitary || n > 3) utils::combn(if (unitary) n else n %/% 2, 2) else matrix(0, 2, 0)
  roots <- c(w[pairs[1, ]] - w[pairs[2, ]], if (!unitary) c(w[pairs[1, ]] + w[pairs[2, ]], if (n %% 2) w[seq_len(n %/% 2)]))
  prod(ifelse(roots == 0, 1, sin(roots / 2) / (roots / 2)))
}

test_that("as many matrices are kept as the plan says, and the law is signed next to nowhere", {
  set.seed(1)
  for (case in list(list(sphere(2), 3, FALSE), list(sphere(3), 4, FALSE), list(grassmann(5, 2), 5, FALSE), list(stiefel(6, 2), 6, FALSE),
                    list(kendall(4), 3, TRUE), list(kendall(6), 5, TRUE))) {
    space <- riemdp:::heat_space(case[[1]])
    expect_identical(space$dimension, if (case[[3]]) case[[2]]^2 else case[[2]] * (case[[2]] - 1) / 2)
    for (sigma in c(0.2, 0.4)) {
      parts <- max(1, ceiling(space$rho * sigma^2 / 2))
      expect_identical(riemdp:::heat_parts(space, sigma), parts)
      kept <- replicate(3000, kept_at(case[[2]], case[[3]], sigma / sqrt(parts)))
      expect_lt(abs(mean(kept) - parts * riemdp:::heat_kept(space, sigma)), 5 * stats::sd(kept) / sqrt(3000), label = label_of(case[[1]]))
    }
    # no factor is 0 nearer than that, and at the nearest one is
    expect_equal(space$reach, if (case[[3]]) pi else if (case[[2]] == 3) 2 * pi else sqrt(2) * pi)
  }
  # SO(3): the signed part by quadrature
  space <- riemdp:::heat_space(sphere(2))
  for (sigma in c(0.8, 1.5, 2.5)) {
    density <- function(r) pmax(0, -sin(r / 2)) / (r / 2) * sqrt(2 / pi) * r^2 / sigma^3 * exp(-r^2 / (2 * sigma^2))
    below <- stats::integrate(density, 2 * pi, 4 * pi, rel.tol = 1e-8)$value
    expect_gte(riemdp:::heat_slack(space, sigma), 4 * below * exp(sigma^2 / 8))
    expect_lt(riemdp:::heat_slack(space, sigma), 3000 * below * exp(sigma^2 / 8))
  }
  expect_identical(riemdp:::heat_slack(riemdp:::heat_space(sphere(1)), 5), 0)
  # of several motions the masses of all count: kendall(6) with sigma = .6 has 4 of them, of U(5) with 25 dimensions
  space <- riemdp:::heat_space(kendall(6))
  expect_identical(riemdp:::heat_parts(space, 0.6), 4)
  one <- 4 * exp(20 * 0.3^2 / 2) * stats::pchisq((pi / 0.3)^2, 25, lower.tail = FALSE)
  expect_equal(riemdp:::heat_slack(space, 0.6) / (4 * one), 1, tolerance = 1e-6)
})

# profile of the kernel on S^2 by quadrature: cells of equal weight around the first centre
sphere_profile <- function(t, distance, epsilon) {
  rule <- seq(-1, 1, length.out = 4001)
  l <- 0:200
  density <- function(z) { # sum of (2l + 1)/(4 pi) exp(-l(l + 1)t) P_l(z)
    before <- rep(1, length(z))
    now <- z
    sum <- before + 3 * exp(-2 * t) * now
    for (k in 2:200) {
      weight <- (2 * k + 1) * exp(-k * (k + 1) * t)
      if (weight < 1e-18) break
      following <- ((2 * k - 1) * z * now - (k - 1) * before) / k
      before <- now
      now <- following
      sum <- sum + weight * now
    }
    pmax(sum, 0) / (4 * pi)
  }
  z <- (rule[-1] + rule[-length(rule)]) / 2
  turn <- (seq_len(600) - 0.5) / 600 * pi
  p <- density(z)
  # the other centre lies `distance` from the first one
  other <- outer(z, cos(turn), function(z, c) z * cos(distance) + sqrt(1 - z^2) * sin(distance) * c)
  q <- matrix(stats::approx(seq(-1, 1, length.out = 20001), density(seq(-1, 1, length.out = 20001)), other)$y, length(z))
  vapply(epsilon, function(e) sum(pmax(p - exp(e) * q, 0)) * 2 * pi * (2 / 4000) / 600, 0)
}

test_that("what the kernel tells of its start is no more than flat normal noise does, and little less", {
  space <- riemdp:::heat_space(sphere(2))
  epsilon <- c(0, 0.3, 1, 2)
  for (case in list(c(0.3, 0.1), c(0.3, 0.5), c(0.8, 0.4), c(0.8, 1.2))) {
    true <- sphere_profile(case[1]^2 / 2, case[2], epsilon)
    stated <- riemdp:::gaussian_delta(case[2] / riemdp:::heat_flat(space, case[1]), epsilon)
    expect_true(all(true <= stated * (1 + 1e-3) + 1e-7), label = paste(case, collapse = " "))
    # twice the curvature would promise too much
    wrong <- riemdp:::gaussian_delta(case[2] / riemdp:::heat_flat(utils::modifyList(space, list(ricci = 3)), case[1]), epsilon)
    expect_true(any(true > wrong * 1.002 + 1e-7), label = paste("wrong", paste(case, collapse = " ")))
    expect_gt(true[2] / stated[2], 0.8)
  }
  for (M in TURNED) {
    space <- riemdp:::heat_space(M)
    for (flat in c(1e-6, 0.1, 0.5)) {
      sigma <- riemdp:::heat_scale(space, flat)
      expect_gte(riemdp:::heat_flat(space, sigma), flat * (1 - 1e-15))
      expect_equal(riemdp:::heat_flat(space, sigma), flat, tolerance = 1e-9)
    }
    n <- if (M$name == "sphere") M$param + 1 else M$param[1]
    expect_equal(space$ricci, switch(M$name, sphere = , grassmann = n - 2, kendall = 2 * n - 2, (n - 2) / 2), label = label_of(M))
  }
})

delta_at_epsilon <- function(mu, epsilon) stats::pnorm(mu / 2 - epsilon / mu) - exp(epsilon) * stats::pnorm(-mu / 2 - epsilon / mu)

test_that("a release: its scale, what it states, its region and its error", {
  for (M in list(sphere(2), stiefel(4, 2), kendall(4), stiefel(4, 2, "canonical"), grassmann(4, 2))[if (quick()) 1:3 else 1:5]) {
    center <- start_of(M)
    radius <- 0.3
    x <- with_simulation(3, laplace_noise(M, center, 0.05, 60, "heat"))
    ledger <- dp_ledger(NULL, 10, 1e-3)
    run <- function(...) dp_mean(x, M, 1, center, radius, delta = 1e-6, mechanism = "heat", post = FALSE, ...)
    r <- run(ledger = ledger)
    g <- guarantee(r)
    expect_identical(c(g$label, g$numerics), c("approx", "real-valued"))
    expect_identical(c(g$epsilon, g$delta), c(1, 1e-6))
    total <- r$sensitivity + r$solver_error
    space <- riemdp:::heat_space(M)
    mu <- total / riemdp:::heat_flat(space, r$scale)
    expect_lte(delta_at_epsilon(mu, 1), 1e-6)
    expect_gt(delta_at_epsilon(mu * 1.0001, 1), 0.9999e-6)
    expect_equal(r$draws$mu, mu)
    expect_equal(g$mu, mu, tolerance = 1e-9)
    expect_lte(g$mu_slack, 1e-15)
    expect_output(explain(r), "heat kernel")
    expect_identical(nrow(ledger_history(ledger)), 1L)
    mean <- frechet_mean(x, M)$mean
    far <- with_simulation(4, replicate(if (quick()) 150 else 300, mf_dist(M, mean, run()$value)))
    region <- confint(r, level = 0.9)
    expect_gt(mean(far <= region$radius), 0.9 - 5 * 0.3 / sqrt(length(far)))
    expect_lt(abs(mean(far) / r$expected_error - 1), 0.02 + 5 * stats::sd(far) / mean(far) / sqrt(length(far)))
    answered <- function() dp_mean(x, M, 1, center, radius, delta = 1e-6, mechanism = "heat")
    moved <- with_simulation(5, replicate(if (quick()) 80 else 200, mf_dist(M, mean, answered()$value)))
    plan <- answered()
    expect_lt(mean(moved), plan$expected_error * 1.02 + 5 * stats::sd(moved) / sqrt(length(moved)))
    by_hand <- dp_mean(x, M, NULL, center, radius, delta = 1e-6, mechanism = "heat", sigma = 0.05)
    expect_equal(delta_at_epsilon(total / riemdp:::heat_flat(space, 0.05), guarantee(by_hand)$epsilon) / 1e-6, 1, tolerance = 1e-4)
    expect_equal(guarantee(dp_mean(x, M, NULL, center, radius, delta = 1e-6, mechanism = "heat", options = list(mu = 0.2)))$mu, 0.2)
  }
  # over chunks the same
  x <- with_simulation(3, laplace_noise(sphere(2), c(0, 0, 1), 0.05, 60, "heat"))
  both <- lapply(list(x, chunks(x, 13)), function(x) {
    with_simulation(6, dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.3, delta = 1e-6, mechanism = "heat"))$value
  })
  expect_equal(both[[1]], both[[2]], tolerance = 1e-9)
})

test_that("what has no kernel, or none that can be drawn, is refused before anything is spent", {
  ledger <- dp_ledger(NULL, 10, 1e-3)
  no <- function(M, center, radius = 0.2, ..., delta = 1e-6, class = "riemdp_error_unsupported") {
    x <- if (is.matrix(center)) array(center, c(dim(center), 2)) else matrix(center, 2, length(center), byrow = TRUE)
    expect_error(dp_mean(x, M, 1, center, radius, delta = delta, mechanism = "heat", ..., ledger = ledger), class = class)
  }
  no(hyperbolic(2), c(1, 0, 0))
  no(spd(2), diag(2))
  no(spd(2, "bures"), diag(2))
  pole <- matrix(c(0, 0, 1), 1)
  ask <- function(..., class = "riemdp_error_unsupported") {
    expect_error(dp_mean(pole, sphere(2), center = c(0, 0, 1), radius = 0.5, mechanism = "heat", ..., ledger = ledger), class = class)
  }
  ask(epsilon = 1)
  ask(epsilon = 1, delta = 1e-6, numerics = "lattice")
  ask(epsilon = 1, delta = 1e-6, calibration = "paper")
  ask(epsilon = 1, delta = 1e-6, neighbours = "add_remove")
  ask(epsilon = 0.5, delta = 1e-6)
  expect_identical(nrow(ledger_history(ledger)), 0L)
  expect_error(laplace_noise(spd(2), diag(2), 0.1, 1, "heat"), class = "riemdp_error_unsupported")
  expect_error(laplace_noise(kendall(50), mf_project(kendall(50), exp(1i * (1:50))), 0.3, 1, "heat"), "keep one of", class = "riemdp_error_unsupported")
  expect_error(expected_error(hyperbolic(2), 0.1, "heat"), class = "riemdp_error_unsupported")
  expect_identical(riemdp:::heat_space(euclidean(3)), NULL)
})
