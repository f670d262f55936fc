# The K-norm gradient mechanism and the truncated Laplace law on a lattice. Moments are compared within 5 standard errors (false alarm 6e-7 each; some
# 100 of them below, so less than 1e-4 together). A scale that is 3 % off moves those on lines and planes by 7 standard errors or more.

LAWS <- c("kng", "laplace_truncated")
ALL_LAWS <- c(LAWS, "staircase_truncated")

law_numbers <- function(M, center, radius, n) {
  steps <- riemdp:::mean_steps(M, riemdp:::check_radius(M, radius, center), n)
  if (!is.null(steps$why)) stop(steps$why)
  c(steps$numbers, list(gradient = steps$gradient))
}

law_draws <- function(M, x, center, radius, law, sigma, n, seed = 1) {
  with_simulation(seed, .Call(riemdp:::riemdp_lattice_law_nonprivate, M, x, center, law_numbers(M, center, radius, length(mf_points(x, M))), law, 0,
                              sigma, n, TRUE))
}

center_of <- function(M) riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))

# F of the law at points y, by R
law_length <- function(M, x, y, law) {
  if (law == "laplace_truncated") return(mf_dist(M, y, frechet_mean(x, M, tol = 1e-13)$mean))
  n <- length(mf_points(x, M))
  total <- 0
  for (i in seq_len(n)) total <- total + mf_log(M, y, record(M, x, i))
  mf_norm(M, y, total) / n
}

# uneven records at coordinates around the centre, within the radius
records_at <- function(M, center, radius, seed = 5, n = 5) {
  d <- mf_facts(M)$dimension
  a <- with_simulation(seed, matrix(stats::rnorm(n * d), n))
  a <- a / sqrt(rowSums(a^2)) * radius * seq(0.2, 0.98, length.out = n)
  a[1:2, ] <- abs(a[1:2, ])
  mf_exp(M, center, mf_from_coords(M, center, a))
}

expect_law <- function(M, radius, factor, n, ..., center = center_of(M), accept = 0.02) {
  x <- records_at(M, center, radius)
  at <- polar_grid(mf_facts(M)$dimension, radius, ...)
  y <- mf_exp(M, center, mf_from_coords(M, center, at$a))
  for (law in LAWS) for (sigma in factor * radius) {
    w <- at$w * exp(-law_length(M, x, y, law) / sigma)
    out <- law_draws(M, x, center, radius, law, sigma, n)
    expect_identical(out$clamped, 0)
    expect_gt(n / out$trials, accept)
    m <- record(M, x, 1)
    for (f in list(function(y) mf_dist(M, center, y), function(y) mf_dist(M, m, y), function(y) mf_dist(M, out$median, y)^2)) {
      got <- f(out$draws)
      expect_lt(abs(mean(got) - sum(w * f(y)) / sum(w)) / (stats::sd(got) / sqrt(n)), 5, label = paste(label_of(M), law, sigma))
    }
  }
}

test_that("shells are drawn as they are told", {
  n <- 1e4
  for (M in list(euclidean(1), sphere(2))) {
    radius <- if (mf_facts(M)$dimension == 1) 1 else 0.7
    x <- records_at(M, center_of(M), radius)
    at <- polar_grid(mf_facts(M)$dimension, radius)
    y <- mf_exp(M, center_of(M), mf_from_coords(M, center_of(M), at$a))
    far <- law_length(M, x, y, "laplace_truncated")
    for (stair in list(c(0.05, 0.2, 0.07), c(0.3, 0.1, 0.1))) {
      w <- at$w * exp(-pmax(0, ceiling((far - stair[3]) / stair[2])) * stair[2] / stair[1])
      out <- law_draws(M, x, center_of(M), radius, "laplace_truncated", stair, n)
      expect_identical(out$clamped, 0)
      got <- mf_dist(M, frechet_mean(x, M)$mean, out$draws)
      for (edge in stair[3] + stair[2] * (0:2)) {
        p <- sum(w[far <= edge]) / sum(w)
        expect_lt(abs(mean(got <= edge) - p), 5 * sqrt(p * (1 - p) / n) + 1e-3 * p)
      }
      expect_lt(abs(mean(got) - sum(w * far) / sum(w)), 5 * stats::sd(got) / sqrt(n))
    }
  }
  # as planned, on a space that has no other staircase around the mean
  M <- stiefel(3, 2)
  o <- diag(3)[, 1:2]
  release <- function() dp_mean(array(o, c(3, 2, 200)), M, 4, o, 0.25, mechanism = "staircase_truncated")
  one <- release()
  expect_identical(guarantee(one)$numerics, "lattice")
  expect_gte(one$scale, 2 * (one$details$shell + 40 * 2^-53 * 0.25) / (4 - 2^-40))
  expect_gte(one$details$shell, one$sensitivity + 40 * 2^-53 * 0.25)
  # of many records, where that is more than scales are rounded up by
  ask <- riemdp:::mean_ask(euclidean(1), 1e6, 1, 0, 1, 0, "staircase_truncated", NULL, "proven", "ordinary", "lattice", 1e6, list())
  plan <- riemdp:::plan_one(euclidean(1), ask, "staircase_truncated", error = FALSE)
  expect_gte(plan$scale, 2 * (plan$details$shell + 40 * 2^-53) / (1 - 2^-40))
  far <- with_simulation(2, replicate(if (quick()) 200 else 400, mf_dist(M, o, release()$value)))
  expect_lt(abs(mean(far) / one$expected_error - 1), 0.05 + 5 * stats::sd(far) / mean(far) / sqrt(length(far)))
  expect_error(dp_mean(1:3 / 3, euclidean(1), center = 0, radius = 1, sigma = 1, mechanism = "staircase_truncated"), "epsilon",
               class = "riemdp_error_unsupported")
  expect_error(dp_mean(1:3 / 3, euclidean(1), 1, 0, 1, mechanism = "staircase_truncated", numerics = "real"), "lattice only",
               class = "riemdp_error_unsupported")
})

test_that("draws agree with quadrature in up to three dimensions", {
  n <- if (quick()) 6000 else 1e4
  expect_law(euclidean(1), 1, c(0.1, 1), n)
  expect_law(euclidean(2), 1, c(0.1, 1), n)
  expect_law(sphere(2), 0.75, 0.15, n)
  expect_law(hyperbolic(2), 2, 0.1, n)
  expect_law(hyperbolic(2, "ball"), 2, 0.1, n)
  for (metric in c("affine", "logeuclidean", "bures")) expect_law(spd(2, metric), if (metric == "bures") 0.25 else 1.2, 0.2, n)
  expect_law(stiefel(3, 2), 0.3, 0.2, n)
  if (quick()) return()
  expect_law(sphere(3), 0.7, 0.2, n)
  expect_law(stiefel(3, 2, "canonical"), 0.3, 0.2, n)
  expect_law(spd(2, "bures"), 0.2, 0.2, n, center = matrix(c(2, 0.3, 0.3, 1), 2))
})

test_that("draws agree with weighted uniform points in more dimensions", {
  n <- 1500
  for (case in list(list(kendall(4), 0.3), list(grassmann(4, 2), 0.4), list(sphere(5), 0.6), list(stiefel(4, 2), 0.2))) {
    M <- case[[1]]
    radius <- case[[2]]
    o <- center_of(M)
    d <- mf_facts(M)$dimension
    a <- with_simulation(8, matrix(stats::rnorm(20 * n * d), ncol = d))
    a <- radius * a / sqrt(rowSums(a^2)) * with_simulation(9, stats::runif(20 * n))^(1 / d)
    x <- records_at(M, o, radius)
    y <- mf_exp(M, o, mf_from_coords(M, o, a))
    for (law in LAWS) {
      sigma <- 0.25 * radius
      w <- exp(-law_length(M, x, y, law) / sigma)
      w <- w / sum(w)
      out <- law_draws(M, x, o, radius, law, sigma, n)
      expect_identical(out$clamped, 0)
      for (to in list(o, record(M, x, 1), record(M, x, 5))) {
        f <- mf_dist(M, to, y)
        got <- mf_dist(M, to, out$draws)
        error <- sqrt(stats::var(got) / n + sum(w^2 * (f - sum(w * f))^2))
        expect_lt(abs(mean(got) - sum(w * f)) / error, 5, label = paste(label_of(M), law))
      }
    }
  }
})

test_that("draws in many dimensions: lengths by the gamma law, directions even, off the centre by other proposals", {
  n <- if (quick()) 800 else 1500
  # next to nothing of the law lies beyond the ball
  shape <- function(d, sigma, a, m) {
    away <- sweep(a, 2, m)
    rho <- sqrt(rowSums(away^2))
    expect_lt(abs(mean(rho) / sigma - d) / sqrt(d / n), 5)
    expect_lt(abs(mean(rho^2) / sigma^2 / (d * (d + 1)) - 1) / sqrt((4 * d + 6) / (d * (d + 1)) / n), 5)
    along <- away / rho
    for (j in c(1, d)) {
      expect_lt(abs(mean(along[, j])) * sqrt(n * d), 5)
      expect_lt(abs(mean(along[, j]^2) * d - 1) / sqrt(2 * (d - 1) / (d + 2) / n), 5)
    }
  }
  for (case in list(list(euclidean(50), 0.4), list(euclidean(128), 0.2), list(sphere(60), 0), list(kendall(20), 0))) {
    M <- case[[1]]
    o <- center_of(M)
    d <- mf_facts(M)$dimension
    m <- case[[2]] * c(1, numeric(d - 1))
    at <- mf_exp(M, o, mf_from_coords(M, o, m * 0.3))
    x <- mf_exp(M, o, mf_from_coords(M, o, rbind(m, m, m) * 0.3))
    sigma <- 0.1 / d
    for (law in LAWS) {
      out <- law_draws(M, x, o, 0.3, law, sigma, n)
      expect_identical(out$clamped, 0)
      # the width of bins costs exp(d/64)
      expect_gt(n / out$trials, 0.25 * exp(-d / 64))
      shape(d, sigma, mf_coords(M, o, mf_log(M, o, out$draws)), m * 0.3)
    }
  }
  # on a curved space off the centre, with Laplace's law in coordinates to weigh against
  M <- sphere(40)
  o <- center_of(M)
  m <- 0.2 * c(1, numeric(39))
  x <- mf_exp(M, o, mf_from_coords(M, o, rbind(m, m)))
  sigma <- 0.05 / 40
  b <- with_simulation(3, {
    u <- matrix(stats::rnorm(20 * n * 40), ncol = 40)
    u / sqrt(rowSums(u^2)) * stats::rgamma(20 * n, 40, 1 / sigma)
  })
  away <- sweep(b, 2, m, `+`)
  far <- mf_dist(M, mf_exp(M, o, mf_from_coords(M, o, away)), mf_exp(M, o, mf_from_coords(M, o, m)))
  w <- exp((sqrt(rowSums(b^2)) - far) / sigma)
  w <- w / sum(w)
  for (law in LAWS) {
    a <- mf_coords(M, o, mf_log(M, o, law_draws(M, x, o, 0.3, law, sigma, n)$draws))
    for (f in list(function(a) sqrt(rowSums(sweep(a, 2, m)^2)), function(a) a[, 1], function(a) rowSums(a^2))) {
      got <- f(a)
      told <- f(away)
      error <- sqrt(stats::var(got) / n + sum(w^2 * (told - sum(w * told))^2))
      expect_lt(abs(mean(got) - sum(w * told)) / error, 5, label = law)
    }
  }
})

test_that("many dimensions: wide noise, shells, and how many trials are planned of them", {
  # even over the ball, but for a little
  M <- euclidean(50)
  out <- law_draws(M, matrix(0, 2, 50), numeric(50), 1, "laplace_truncated", 10, 300)
  expect_lt(out$trials, 300 * 150)
  rho <- sqrt(rowSums(out$draws^2))
  expect_lt(abs(mean(rho) - 50 / 51) / stats::sd(rho) * sqrt(300), 6)
  for (case in list(list(50, 100, 40), list(100, 1, 1500), list(128, 2, 1000))) {
    M <- euclidean(case[[1]])
    edge <- c(1 - 1e-6, numeric(case[[1]] - 1))
    x <- matrix(edge, case[[2]], case[[1]], byrow = TRUE)
    r <- dp_mean(x, M, case[[3]], numeric(case[[1]]), 1, mechanism = "staircase_truncated")
    out <- law_draws(M, x, numeric(case[[1]]), 1, "laplace_truncated", riemdp:::lattice_law_scale(r), 200)
    expect_gt(200 / out$trials, 0.5 * r$acceptance, label = case[[1]])
    expect_lt(200 / out$trials, 10 * r$acceptance, label = case[[1]])
  }
  # there are no doubles to fall back to: the lattice's own reason is told
  expect_error(dp_mean(matrix(0, 100, 50), euclidean(50), 1, numeric(50), 0.1, mechanism = "staircase_truncated"), "trials on a lattice",
               class = "riemdp_error_unsupported")
})

test_that("the default is a lattice on shapes of fifty landmarks, and says so", {
  M <- kendall(50)
  for (law in LAWS) {
    r <- dp_mean(callosa, M, 20, callosa[, , 1], 0.1, mechanism = law)
    expect_identical(guarantee(r)$numerics, "lattice")
    expect_gte(r$scale, 2 * r$sensitivity / 20)
    expect_lt(mf_dist(M, r$value, callosa[, , 1]), 0.1 * (1 + 1e-9))
  }
  expect_error(dp_mean(matrix(0, 3, 129), euclidean(129), 1, numeric(129), 1, mechanism = "kng", numerics = "lattice"), "no lattice mode",
               class = "riemdp_error_unsupported")
})

# spaces with radii near the largest that are served
wide <- list(list(euclidean(1), 1), list(euclidean(20), 1), list(sphere(1), 0.7), list(sphere(2), 0.78), list(sphere(10), 0.78), list(hyperbolic(2), 8),
             list(hyperbolic(4), 3), list(spd(2), 3), list(spd(3), 2), list(spd(3, "logeuclidean"), 2), list(spd(2, "bures"), 0.29),
             list(kendall(4), 0.38), list(kendall(8), 0.38), list(grassmann(4, 2), 0.5), list(grassmann(5, 1), 0.7), list(stiefel(4, 2), 0.3),
             list(stiefel(4, 2, "canonical"), 0.3))

test_that("lower bounds hold at random points, for any records, and are of use", {
  draws <- if (quick()) 300 else 600
  for (case in wide) {
    M <- case[[1]]
    radius <- case[[2]]
    o <- center_of(M)
    for (spread in c(1, 0.99, 0.05, 1e-7)) {
      # both ends of one axis: all else is across
      ends <- mf_exp(M, o, mf_from_coords(M, o, cbind(c(-1, 1), matrix(0, 2, mf_facts(M)$dimension - 1)) * radius * (1 - 1e-9)))
      records <- if (spread == 1) ends else records_at(M, o, spread * radius)
      for (law in LAWS) {
        f <- with_simulation(1, .Call(riemdp:::riemdp_lattice_law_bounds_nonprivate, M, records, o,
                                      law_numbers(M, o, radius, length(mf_points(records, M))), law, 0, 1, draws, TRUE))
        f <- f[is.finite(f[, 1]), ]
        expect_gt(nrow(f), draws / 10)
        expect_true(all(f[, 2] <= f[, 1] * (1 + 1e-12)), label = paste(label_of(M), law))
        # near records that lie together distances are as in flat space
        near <- f[f[, 3] < 0.05 * radius & f[, 3] > 0.001 * radius, , drop = FALSE]
        if (spread < 1e-6) expect_gt(min(near[, 2] / near[, 1]), 0.85, label = paste(label_of(M), law))
      }
    }
  }
  # of one record what its own distance bends on the way
  M <- sphere(3)
  o <- center_of(M)
  f <- with_simulation(1, .Call(riemdp:::riemdp_lattice_law_bounds_nonprivate, M, o, o, law_numbers(M, o, 0.78, 1), "kng", 0, 1, 300, TRUE))
  f <- f[is.finite(f[, 1]) & f[, 3] > 0.2, ]
  # coordinates that far apart from the centre
  on_the_way <- vapply(sin(pmin(f[, 3], 0.78)) * pmax(1, f[, 3] / 0.78), function(rho) stats::integrate(function(s) s / tan(s), 0, rho)$value, 0)
  expect_lt(max(f[, 2] / on_the_way), 1 + 1e-6)
  expect_gt(min(f[, 2] / on_the_way), 0.97)
})

test_that("what a record moves at each point is what is paid for", {
  for (case in wide[c(1, 4, 6, 8, 11, 12, 14, 16, 17)]) {
    M <- case[[1]]
    radius <- case[[2]]
    center <- center_of(M)
    d <- mf_facts(M)$dimension
    n <- 3
    for (law in LAWS) {
      r <- tryCatch(dp_mean(records_at(M, center, radius, n = n), M, 1, center, radius, mechanism = law, numerics = "lattice", max_trials = 1e9),
                    riemdp_error_unsupported = function(e) NULL)
      if (is.null(r)) next
      total <- r$sensitivity + r$solver_error
      # both exponents' sums and their exponentials
      expect_gte(r$scale, 2 * total / (1 - 2^-40))
      expect_equal(r$scale, 2 * total, tolerance = 1e-9)
      bounds <- law_numbers(M, center, radius, n)
      # two gradients, or two means and two logarithms, and what exponents are rounded by
      steps <- riemdp:::mean_steps(M, riemdp:::check_radius(M, radius, center), n)
      expect_gte(r$solver_error, 2 * steps$gradient + 40 * 2^-53 * radius + if (law == "kng") 0 else 2 * steps$distance)
      length_at <- function(a, at) {
        x <- mf_exp(M, center, mf_from_coords(M, center, a))
        v <- .Call(riemdp:::riemdp_lattice_law_sum_nonprivate, M, x, center, bounds, law, 0, at)
        sqrt(sum(v^2))
      }
      worst <- with_simulation(3, vapply(seq_len(if (quick()) 30 else 80), function(i) {
        edge <- function(k) {
          a <- matrix(stats::rnorm(k * d), k)
          radius * a / sqrt(rowSums(a^2))
        }
        a <- rbind(edge(n), if (i %% 2) edge(1))
        b <- a[1:n, , drop = FALSE]
        b[1, ] <- if (i %% 2) a[n + 1, ] else -a[1, ]
        at <- mf_exp(M, center, mf_from_coords(M, center, 0.999 * edge(1) * stats::runif(1)^(1 / 3)))
        abs(length_at(a[1:n, , drop = FALSE], at) - length_at(b, at))
      }, 0))
      expect_lte(max(worst), total)
      expect_gt(max(worst), (if (d > 3) 0.2 else 0.3) * total, label = paste(label_of(M), law))
    }
  }
})

test_that("the law's loss on a line is what is promised, and most of it", {
  at <- (seq_len(2e5) - 0.5) / 1e5 - 1
  for (epsilon in c(0.5, 1, 4)) for (law in ALL_LAWS) {
    r <- dp_mean(c(1, -1, 1, 1), euclidean(1), epsilon, 0, 1, mechanism = law)
    expect_identical(guarantee(r)$numerics, "lattice")
    p <- lapply(list(c(1, 1, 1, 1), c(-1, 1, 1, 1)), function(x) {
      far <- abs(at - mean(x))
      if (law == "staircase_truncated") far <- pmax(0, ceiling((far - r$details$first) / r$details$shell)) * r$details$shell
      w <- exp(-far / r$scale)
      w / sum(w)
    })
    loss <- max(abs(log(p[[1]] / p[[2]])))
    expect_lte(loss, epsilon)
    expect_gt(loss, 0.6 * epsilon)
  }
})

test_that("releases: labels, spaces that had none of these laws, and what is refused", {
  for (case in list(list(stiefel(4, 2), 0.2), list(stiefel(4, 2, "canonical"), 0.2), list(spd(3, "bures"), 0.2), list(sphere(2), 0.5), list(spd(2), 1))) {
    M <- case[[1]]
    center <- center_of(M)
    x <- records_at(M, center, case[[2]], n = 40)
    for (law in ALL_LAWS) {
      r <- dp_mean(x, M, 1, center, case[[2]], mechanism = law)
      expect_identical(guarantee(r)$label, "pure")
      expect_identical(guarantee(r)$numerics, "lattice")
      expect_identical(guarantee(r)$epsilon, 1)
      expect_true(mf_is_point(M, r$value))
      expect_lte(mf_dist(M, center, r$value), case[[2]] * (1 + 1e-9))
      expect_output(explain(r), "proofs/kng.md,\\s+section\\s+9")
      expect_match(guarantee(r)$assumptions, "exp is right to", all = FALSE)
      # the other label is another sampler's
      if (mf_facts(M)$has_kng && law %in% LAWS) {
        expect_identical(guarantee(dp_mean(x, M, 1, center, case[[2]], mechanism = law, numerics = "real"))$numerics, "real-valued")
      }
    }
  }
  M <- sphere(2)
  o <- c(0, 0, 1)
  x <- records_at(M, o, 0.4)
  for (law in LAWS) {
    ask <- function(epsilon = 1, ...) dp_mean(x, M, epsilon, o, 0.5, mechanism = law, ...)
    expect_error(ask(numerics = "lattice", timing = "constant", delta = 1e-6), "constant time", class = "riemdp_error_unsupported")
    expect_identical(guarantee(ask(timing = "constant", delta = 1e-6))$numerics, "real-valued")
    expect_error(ask(numerics = "lattice", calibration = "paper"), class = "riemdp_error_unsupported")
    expect_error(ask(numerics = "lattice", max_trials = 1), "trials on a lattice", class = "riemdp_error_unsupported")
    expect_error(dp_mean(matrix(0, 5, 21), euclidean(21), 1, rep(0, 21), 1, mechanism = law, numerics = "lattice"), class = "riemdp_error_unsupported")
    expect_error(dp_mean(cbind(1, 0, 0), hyperbolic(2), 1, c(1, 0, 0), 16, mechanism = law, numerics = "lattice"), "up to 15",
                 class = "riemdp_error_unsupported")
    expect_error(ask(numerics = "lattice", epsilon = 2^-31), class = "riemdp_error")
    # the exponentials' part is next to nothing, but for the smallest budgets
    small <- ask(epsilon = 2^-20)
    expect_gte(small$scale, 2 * (small$sensitivity + small$solver_error) / (2^-20 - 2^-40))
    wide <- dp_mean(x, M, center = o, radius = 0.5, mechanism = law, sigma = small$scale)
    expect_gte(guarantee(wide)$epsilon, 2 * (small$sensitivity + small$solver_error) / small$scale + 2^-40)
    # the price of a scale that is set by hand
    hand <- dp_mean(x, M, center = o, radius = 0.5, mechanism = law, sigma = 0.4)
    expect_equal(guarantee(hand)$epsilon, 2 * (hand$sensitivity + hand$solver_error) / 0.4, tolerance = 1e-9)
    expect_gte(guarantee(hand)$epsilon, 2 * (hand$sensitivity + hand$solver_error) / 0.4 + 2^-40)
  }
  # over chunks, where the gradient is a pass
  for (M in list(sphere(2), hyperbolic(2))) for (law in ALL_LAWS) {
    o <- center_of(M)
    x <- records_at(M, o, 0.4, n = 60)
    both <- lapply(list(x, chunks(x, 25)), function(x) with_simulation(1, dp_mean(x, M, 1, o, 0.5, mechanism = law, numerics = "lattice")))
    expect_identical(guarantee(both[[2]])$label, "none") # simulated
    expect_identical(both[[2]]$scale, both[[1]]$scale)
    far <- lapply(list(x, chunks(x, 25)), function(x) {
      with_simulation(2, replicate(150, mf_dist(M, o, dp_mean(x, M, 1, o, 0.5, mechanism = law, post = FALSE)$value)))
    })
    expect_lt(abs(mean(far[[1]]) - mean(far[[2]])), 5 * sqrt((stats::var(far[[1]]) + stats::var(far[[2]])) / 150))
  }
})

test_that("a private number of records: on the lattice too, with none at all", {
  for (case in list(list(sphere(2), 0.5), list(stiefel(4, 2), 0.2), list(spd(2, "bures"), 0.2))) {
    M <- case[[1]]
    o <- center_of(M)
    x <- records_at(M, o, case[[2]], n = 200)
    ask <- function(x) dp_mean(x, M, 1, o, case[[2]], mechanism = "kng", neighbours = "add_remove")
    r <- ask(x)
    expect_identical(guarantee(r)$numerics, "lattice")
    expect_identical(guarantee(r)$adjacency, "add-remove")
    expect_equal(r$scale, 4 * case[[2]], tolerance = 1e-4)
    m <- frechet_mean(x, M)$mean
    far <- with_simulation(1, replicate(30, mf_dist(M, m, ask(x)$value)))
    d <- mf_facts(M)$dimension
    # a gamma law of shape d and the scale of the gradient, bent by less than a third
    expect_lt(mean(far), 1.1 * d * r$scale / 200 * (1 + 5 / sqrt(30 * d)))
    expect_gt(mean(far), 0.5 * d * r$scale / 200 * (1 - 5 / sqrt(30 * d)))
  }
  # beyond a public number the noise stays as fine as doubles hold
  fine <- function() dp_mean(matrix(0.5, 100, 1), euclidean(1), 1e10, 0, 1, mechanism = "kng", neighbours = "add_remove", post = FALSE)
  r <- fine()
  expect_lt(r$details$most, 50)
  far <- with_simulation(4, replicate(200, abs(fine()$value - 0.5)))
  expect_lt(abs(mean(far) - r$scale / r$details$most), 5 * r$scale / r$details$most / sqrt(200))
  # even over the ball of coordinates
  nobody <- function() dp_mean(matrix(0, 0, 2), euclidean(2), 1, c(0, 0), 1, mechanism = "kng", neighbours = "add_remove")
  none <- with_simulation(2, replicate(400, sqrt(sum(nobody()$value^2))))
  expect_lt(abs(mean(none) - 2 / 3), 5 * sqrt(1 / 18 / 400))
})

test_that("regions cover the mean, and trials are about as many as the plan says", {
  count <- if (quick()) 300 else 600
  for (case in list(list(sphere(2), 0.4, 100), list(hyperbolic(2), 1, 200), list(spd(2), 1, 200), list(euclidean(2), 1, 50), list(stiefel(3, 2), 0.2, 100),
                    list(spd(2, "bures"), 0.2, 100))) {
    M <- case[[1]]
    o <- center_of(M)
    d <- mf_facts(M)$dimension
    edge <- c(case[[2]] * (1 - 1e-6), rep(0, d - 1))
    for (x in list(records_at(M, o, case[[2]], n = case[[3]]),
                   mf_exp(M, o, mf_from_coords(M, o, matrix(edge, case[[3]], d, byrow = TRUE))))) for (law in ALL_LAWS) {
      r <- dp_mean(x, M, 1, o, case[[2]], mechanism = law)
      q <- confint(r, level = 0.9)
      expect_match(q$basis, "tail")
      out <- law_draws(M, x, o, case[[2]], if (law == "kng") law else "laplace_truncated", riemdp:::lattice_law_scale(r), count)
      m <- frechet_mean(x, M)$mean
      expect_gt(mean(mf_dist(M, m, out$draws) <= q$radius), 0.9 - 5 * sqrt(0.09 / count))
      expect_lt(q$radius, case[[2]])
      expect_gt(count / out$trials, 0.5 * r$acceptance, label = paste(label_of(M), law))
    }
  }
})
