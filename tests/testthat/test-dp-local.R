# Points that are released each by itself: the laws, the two promises, and that no record has a part in another's draw.

tilted <- function(d) c(0.6, rep(0, d - 1), 0.8)
copies <- function(x, n) matrix(x, n, length(x), byrow = TRUE)
local_draws <- function(...) with_simulation(11, dp_local(...))

# a mean against its expectation in standard errors: beyond 5 once in 1.7 million
z_score <- function(x, expected) abs(mean(x) - expected) / (stats::sd(x) / sqrt(length(x)))

# by quadrature, in the test's own words: mean of f(angle) under weight exp(w(angle)) sin^(d - 1)
mean_angle <- function(d, f, w, top = pi) {
  area <- function(t) exp(w(t)) * sin(t)^(d - 1)
  part <- function(g) sum(vapply(1:200, function(i) stats::integrate(g, top * (i - 1) / 200, top * i / 200, rel.tol = 1e-9)$value, 0))
  part(function(t) f(t) * area(t)) / part(area)
}

test_that("the Laplace law around a point of a sphere has its angles, at every scale", {
  for (d in c(1, 2, 5)) for (per in c(2 / 6371, 0.3, 4)) {
    r <- local_draws(copies(tilted(d), 1e5), sphere(d), 1.6, per = per, mechanism = "laplace")
    s <- per / 1.6
    angle <- mf_dist(sphere(d), tilted(d), r$value)
    expect_equal(r$scale, s, tolerance = 1e-9)
    expected <- mean_angle(d, identity, function(t) -t / s, min(pi, 60 * s))
    expect_lt(z_score(angle, expected), 5)
    expect_equal(r$expected_error, expected, tolerance = 1e-5)
    expect_equal(1 / r$factor, mean_angle(d, cos, function(t) -t / s, min(pi, 60 * s)), tolerance = 1e-6)
    # 3 % more or less would be seen
    for (wrong in c(0.97, 1 / 0.97)) {
      if (s < 1) expect_gt(z_score(angle, mean_angle(d, identity, function(t) -t / (wrong * s), min(pi, 60 * s))), 5)
    }
  }
})

test_that("the von Mises-Fisher law has its mean resultant length", {
  for (d in c(1, 2, 9)) for (kappa in c(0.5, 20, 1e8)) {
    r <- local_draws(copies(tilted(d), 1e5), sphere(d), 2 * kappa, per = 2, mechanism = "vmf")
    expect_equal(1 / r$scale, kappa, tolerance = 1e-9)
    # 1 - cosine, whose digits a cosine hasn't
    away <- 2 * sin(mf_dist(sphere(d), tilted(d), r$value) / 2)^2
    left <- if (kappa > 1e4) d / (2 * kappa) else 1 - besselI(kappa, (d + 1) / 2, TRUE) / besselI(kappa, (d - 1) / 2, TRUE)
    expect_lt(z_score(away, left), 5)
    if (kappa > 1) expect_gt(z_score(away, left / 0.97), 5)
    if (d == 2 && kappa < 100) expect_equal(1 - left, 1 / tanh(kappa) - 1 / kappa, tolerance = 1e-9)
    expect_equal(1 / r$factor, 1 - left, tolerance = 1e-6)
    # its spread as well: in three dimensions the cosine is exponential, cut off
    if (d == 2) expect_lt(abs(stats::median(away) * kappa - -log((1 + exp(-2 * kappa)) / 2)), 0.02)
  }
})

# log density ratios of two values over the sphere, from the numbers that the release states
local_loss <- function(r, apart) {
  # y on the great circle through both and off it
  a <- seq(-pi, pi, length.out = 4001)
  ys <- rbind(cbind(sin(a), 0, cos(a)), cbind(sin(a) * 0.6, sin(a) * 0.8, cos(a)))
  x <- c(0, 0, 1)
  x2 <- c(sin(apart), 0, cos(apart))
  log_p <- function(x) switch(r$mechanism, laplace = -mf_dist(sphere(2), x, ys) / r$scale, vmf = drop(ys %*% x) / r$scale,
                              privunit = ifelse(mf_dist(sphere(2), x, ys) <= r$cap$angle, log(r$cap$p / stats::pbeta(sin(r$cap$angle / 2)^2, 1, 1)),
                                                log((1 - r$cap$p) / stats::pbeta(cos(r$cap$angle / 2)^2, 1, 1))))
  max(abs(log_p(x) - log_p(x2)))
}

test_that("metric privacy holds at every distance and is attained, and whole spheres lose no more than epsilon", {
  x <- copies(tilted(2), 2)
  for (per in c(0.05, 0.7, 3)) for (mechanism in c("laplace", "vmf")) {
    r <- dp_local(x, sphere(2), 1.3, per = per, mechanism = mechanism)
    for (apart in c(0.01, 0.4, 1.5, 3.1)) {
      chord <- 2 * sin(apart / 2)
      at_most <- 1.3 * (if (mechanism == "vmf") chord else apart) / per
      expect_lte(local_loss(r, apart), at_most * (1 + 1e-9))
      expect_gt(local_loss(r, apart), at_most * 0.99)
      expect_lte(local_loss(r, apart), r$whole_epsilon * (1 + 1e-9))
    }
  }
  for (mechanism in c("laplace", "vmf", "privunit")) {
    r <- dp_local(x, sphere(2), 1.3, mechanism = mechanism)
    expect_lte(local_loss(r, pi), 1.3 * (1 + 1e-9))
    expect_gt(local_loss(r, pi), 1.3 * 0.99)
    expect_equal(r$draws$epsilon, 1.3, tolerance = 1e-7)
    expect_lte(r$draws$epsilon, 1.3 * (1 + 1e-9))
  }
  # in a ball: the farthest two values
  for (mechanism in c("laplace", "vmf")) {
    r <- dp_local(x, sphere(2), 1.3, center = c(0, 0, 1), radius = 0.7, mechanism = mechanism)
    expect_lte(local_loss(r, 1.4), 1.3 * (1 + 1e-9))
    expect_gt(local_loss(r, 1.4), 1.3 * 0.99)
  }
})

test_that("a cap has its probability, no bias, the variance of the closed form, and the least of all", {
  for (d in c(1, 2, 20)) for (epsilon in c(0.5, 3)) {
    x <- copies(tilted(d), 1e5)
    r <- local_draws(x, sphere(d), epsilon, mechanism = "privunit")
    cosine <- drop(r$value %*% tilted(d))
    inside <- cosine >= cos(r$cap$angle)
    area <- function(t) sin(t)^(d - 1)
    whole <- function(f, from, to) stats::integrate(f, from, to, rel.tol = 1e-13)$value
    q <- whole(area, 0, r$cap$angle) / (whole(area, 0, pi / 2) + whole(area, pi / 2, pi))
    p <- r$cap$p
    expect_lt(abs(mean(inside) - p) / sqrt(p * (1 - p) / 1e5), 5)
    # the loss by quadrature: no more than epsilon, and nearly that
    loss <- log(p / (1 - p) * (1 - q) / q)
    expect_lte(loss, epsilon)
    expect_gt(loss, epsilon - 1e-6)
    # uniform in the cap and in the rest
    expect_lt(z_score(cosine[inside], mean_angle(d, cos, function(t) 0 * t, r$cap$angle)), 5)
    rest <- whole(function(t) cos(t) * area(t), r$cap$angle, pi) / whole(area, r$cap$angle, pi)
    expect_lt(z_score(cosine[!inside], rest), 5)
    expect_identical(r$unbiased, r$value * r$factor)
    for (j in seq_len(d + 1)) expect_lt(z_score(r$unbiased[, j], tilted(d)[j]), 5)
    expect_equal(mean(rowSums((r$unbiased - x)^2)), r$unbiased_error^2, tolerance = 0.05)
    expect_equal(r$unbiased_error^2, 1 / (p * mean_angle(d, cos, function(t) 0 * t, r$cap$angle) + (1 - p) * rest)^2 - 1, tolerance = 1e-6)
    # at every other angle with the probability that its epsilon allows
    angles <- seq(0.02, pi - 0.02, length.out = 400)
    others <- vapply(angles, function(a) {
      p <- stats::plogis(epsilon + riemdp:::log_cap(d, a) - riemdp:::log_cap(d, a, FALSE))
      riemdp:::cap_cosine(d, p, a)
    }, 0)
    expect_gt(1 / r$factor, max(others) * (1 - 1e-6))
    expect_gt(abs(r$cap$angle - angles[which.min(others)]), 0.01)
    # less variance than the other laws at the same epsilon
    for (mechanism in c("laplace", "vmf")) {
      expect_lt(r$unbiased_error, dp_local(x[1:2, ], sphere(d), epsilon, mechanism = mechanism)$unbiased_error)
    }
    expect_identical(dp_local(x[1:2, ], sphere(d), epsilon)$mechanism, "privunit")
  }
  expect_error(dp_local(tilted(2), sphere(2), 80, mechanism = "privunit"), class = "riemdp_error_unsupported")
})

test_that("in coordinates at the centre the noise is that of the largest distance, and of the stretch where curvature is positive", {
  M <- sphere(2)
  north <- c(0, 0, 1)
  x <- mf_exp(M, north, c(0.5, 0, 0))
  r <- dp_local(x, M, 2, center = north, radius = 0.7, numerics = "real", mechanism = "wrapped")
  expect_equal(r$scale, 2 * 0.7 / 2, tolerance = 1e-9)
  # around the record's coordinates: in the plane
  flat <- function(x) local_draws(copies(x, 1e5), euclidean(2), 2, center = c(0, 0), radius = 0.7, numerics = "real", mechanism = "wrapped")
  expect_lt(z_score(flat(c(0.5, 0))$value[, 1], 0.5), 5)
  expect_lt(z_score(flat(c(0, -9))$value[, 2], -0.7), 5)
  expect_lt(z_score(sqrt(rowSums(sweep(flat(c(0.5, 0))$value, 2, c(0.5, 0))^2)), 2 * 0.7), 5)
  on_lattice <- local_draws(copies(c(0.5, 0), 1e5), euclidean(2), 2, center = c(0, 0), radius = 0.7)
  expect_identical(on_lattice$guarantee$numerics, "lattice")
  expect_lt(z_score(sqrt(rowSums(sweep(on_lattice$value, 2, c(0.5, 0))^2)), 2 * on_lattice$scale), 5)
  expect_lt(z_score(on_lattice$value[, 1], 0.5), 5)
  expect_equal(on_lattice$scale, 0.7, tolerance = 0.01)
  # and what is paid: at least the farthest two values, in steps of the lattice
  expect_gte(on_lattice$sensitivity, 1.4)
  expect_gte(on_lattice$scale * 2, on_lattice$sensitivity * (1 - 1e-12))
  # the stretch is that of logarithms near the edge, across
  per <- dp_local(x, M, 2, per = 0.1, center = north, radius = 0.75, mechanism = "wrapped")
  edge <- function(angle) mf_exp(M, north, 0.75 * c(cos(angle), sin(angle), 0))
  apart <- mf_dist(M, edge(0), edge(0.001))
  coords <- sqrt(sum((mf_log(M, north, edge(0)) - mf_log(M, north, edge(0.001)))^2))
  expect_lte(coords / per$scale, 2 * apart / 0.1 * (1 + 1e-9))
  expect_gt(coords / per$scale, 2 * apart / 0.1 * (1 - 1e-5))
  expect_equal(dp_local(diag(2), spd(2), 2, per = 0.1, center = diag(2), radius = 1, mechanism = "wrapped")$scale, 0.05, tolerance = 1e-9)
})

test_that("metric privacy on a lattice pays for the rounding of its coordinates", {
  r <- dp_local(cbind(1:5, 0), euclidean(2), 2, per = 0.5, center = c(0, 0), radius = 10)
  expect_identical(r$guarantee$numerics, "lattice")
  expect_equal(r$rounding, sqrt(2) * 2^-riemdp:::local_lattice(riemdp:::local_ask(euclidean(2), 5, 2, 0.5, c(0, 0), 10))$k, tolerance = 1e-3)
  expect_lt(r$rounding, 1e-5 * 0.5)
  expect_gte(r$scale * 2, (0.5 + r$rounding) * (1 - 1e-12))
  expect_match(format(guarantee(r)), "metric privacy.*for each 0.5 of distance .exact sampler.$")
  # where doubles have no room for it, and on curved spaces, it is a matter of real numbers
  expect_identical(dp_local(cbind(1:5, 0), euclidean(2), 2, per = 1e-14, center = c(0, 0), radius = 10)$guarantee$numerics, "real-valued")
  expect_error(dp_local(diag(2), spd(2), 2, per = 0.5, center = diag(2), radius = 1, numerics = "lattice"), class = "riemdp_error_unsupported")
  # coordinates are off by no more than is paid for: noise of next to nothing shows them
  ask <- riemdp:::local_ask(euclidean(3), 1, 1, 1, c(1 / 3, 2, 1e-3), 10)
  plan <- riemdp:::local_lattice(ask)
  y <- with_simulation(4, rbind(matrix(stats::rnorm(600, sd = 4), 200), matrix(stats::rnorm(600, sd = 1e4), 200)))
  got <- .Call(riemdp:::riemdp_release_local_lattice, euclidean(3), y, ask$center, plan$numbers, riemdp:::room_bits(10), c(1, 8), FALSE)
  v <- sweep(y, 2, ask$center)
  moved <- sweep(v * pmin(1, 10 / sqrt(rowSums(v^2))), 2, ask$center, "+")
  expect_gt(plan$rounding - sqrt(3) * 2^-plan$k, 2 * 8 * (3 + 8) * 2^-53 * 10) # what shortening alone takes
  # and a few steps of noise
  expect_lt(max(sqrt(rowSums((got - moved)^2))), (plan$rounding - sqrt(3) * 2^-plan$k) / 2 + 20 * 2^-riemdp:::room_bits(10))
})

test_that("each release says which promise it makes, and a ledger is told what it costs", {
  x <- copies(tilted(2), 3)
  ledger <- dp_ledger(NULL, 30, 0)
  r <- dp_local(x, sphere(2), 1.5, ledger = ledger)
  expect_s3_class(r, c("riemdp_local", "riemdp_release"), exact = TRUE)
  g <- guarantee(r)
  expect_identical(list(g$label, g$epsilon, g$promise, g$adjacency), list("pure", 1.5, "local DP", "any two values of one record"))
  expect_match(format(g), "local DP")
  expect_equal(r$n, 3)
  expect_equal(ledger_history(ledger)$epsilon, 1.5)
  expect_match(ledger_history(ledger)$what, "^dp_local privunit")
  m <- dp_local(x, sphere(2), 1.5, per = 0.2, center = c(0, 0, 1), radius = 0.7, ledger = ledger)
  g <- guarantee(m)
  expect_identical(list(g$label, g$epsilon, g$promise, g$per, g$adjacency), list("pure", 1.5, "metric privacy", 0.2, "values of one record at distance 0.2"))
  expect_equal(m$whole_epsilon, 1.5 * 1.4 / 0.2, tolerance = 1e-9)
  expect_equal(ledger_history(ledger)$epsilon[2], 10.5, tolerance = 1e-9)
  # a length beyond the ball is no discount
  expect_equal(dp_local(x, sphere(2), 1.5, per = 9, center = c(0, 0, 1), radius = 0.7)$whole_epsilon, 1.5)
  line <- dp_local(1:4 + 0, euclidean(1), 1, per = 2)
  expect_identical(line$whole_epsilon, Inf)
  expect_error(dp_local(1:4 + 0, euclidean(1), 1, per = 2, ledger = ledger), class = "riemdp_error_unsupported")
  expect_error(dp_local(x, sphere(2), 99, ledger = ledger, mechanism = "vmf"), class = "riemdp_error_budget")
  expect_identical(nrow(ledger_history(ledger)), 2L)
  # nothing is promised of draws that can be repeated
  none <- local_draws(x, sphere(2), 1.5)
  expect_identical(guarantee(none)$label, "none")
  expect_identical(guarantee(none)$epsilon, Inf)
  expect_identical(none$whole_epsilon, Inf)
  # what is left out: records
  expect_false(any(c("x", "records") %in% names(r)))
  for (one in list(r, m, line)) {
    expect_output(print(one), "Private points, each released by itself")
    expect_output(explain(one), "Promise: ")
    expect_identical(nrow(summary(one)), 1L)
    expect_identical(nrow(tidy(one)), length(one$value))
  }
  expect_output(print(m), "two values at distance d")
  expect_no_match(paste(format(m), collapse = " "), "differ by e^epsilon", fixed = TRUE)
  expect_output(print(dp_local(copies(tilted(2), 9), sphere(2), 1)), "and 3 more")
})

local_cases <- function() {
  shapes <- with_simulation(1, mf_random(kendall(4), 6))
  list(
    cap = list(copies(tilted(2), 6), sphere(2), center = c(0, 0, 1)),
    vmf = list(copies(tilted(2), 6), sphere(2), per = 0.1, mechanism = "vmf", center = c(0, 0, 1)),
    laplace = list(copies(tilted(2), 6), sphere(2), per = 0.1, mechanism = "laplace", center = c(0, 0, 1)),
    in_ball = list(copies(tilted(2), 6), sphere(2), center = c(0, 0, 1), radius = 0.7),
    plane = list(cbind(1:6, 0), euclidean(2), per = 0.1, center = c(0, 0)), plane_ball = list(cbind(1:6, 0), euclidean(2), center = c(0, 0), radius = 3),
    matrices = list(wishart_spd[, , 1:6], spd(2), per = 0.1, center = diag(2)),
    matrices_ball = list(wishart_spd[, , 1:6], spd(2), center = diag(2), radius = 1),
    bures = list(wishart_spd[, , 1:6], spd(2, "bures"), center = diag(2), radius = 0.25),
    hyperboloid = list(mf_exp(hyperbolic(2), c(1, 0, 0), cbind(0, 1:6, 1)), hyperbolic(2), per = 0.1, center = c(1, 0, 0)),
    shapes = list(shapes, kendall(4), per = 0.1, center = shapes[, 1])
  )
}

test_that("no record has a part in what comes of another, whatever it holds", {
  nasty <- c(NA, Inf, -1e308, 5e-324, 0)
  for (name in names(local_cases())) {
    case <- local_cases()[[name]]
    x <- case[[1]]
    third <- function(value) {
      if (length(dim(x)) == 3) x[, , 3] <- value else if (is.complex(x)) x[, 3] <- value else x[3, ] <- value
      x
    }
    released <- function(x) {
      r <- with_simulation(5, do.call(dp_local, c(list(x), case[-1], epsilon = 1, invalid = "center")))
      riemdp:::storage_rows(r$value, case[[2]])
    }
    plain <- released(x)
    expect_true(all(is.finite(plain)), label = name)
    for (value in nasty) {
      other <- released(third(value))
      expect_identical(other[-3, ], plain[-3, ], label = name)
      expect_true(all(is.finite(other)), label = name)
      expect_true(mf_is_point(case[[2]], rows_to_points(other[3, , drop = FALSE], case[[2]])), label = name)
    }
    # a live one is another one each time
    live <- function() riemdp:::storage_rows(do.call(dp_local, c(case, epsilon = 1))$value, case[[2]])
    expect_false(identical(live(), live()), label = name)
  }
  # what is no point is noise around the centre, and records outside are moved to the edge
  far <- local_draws(rbind(c(NA, 1), c(50, 0)), euclidean(2), 1e6, center = c(2, 0), radius = 1, invalid = "center")$value
  expect_equal(far, rbind(c(2, 0), c(3, 0)), tolerance = 1e-4)
  far <- local_draws(rbind(c(NA, 1, 2), c(0, 1, 0)), sphere(2), 1e6, per = 1, center = c(0, 0, 1), radius = 0.5, invalid = "center")$value
  expect_equal(far, rbind(c(0, 0, 1), c(0, sin(0.5), cos(0.5))), tolerance = 1e-4)
  # points off the sphere by what a check lets pass leave no trace in lengths
  off <- dp_local(copies(tilted(2), 50) * (1 + 3e-9), sphere(2), 50, per = 1, mechanism = "laplace")$value
  expect_lt(max(abs(rowSums(off^2) - 1)), 1e-14)
})

test_that("units with several rows are one point each in a ball, and refused without", {
  x <- copies(tilted(2), 6)
  r <- dp_local(x, sphere(2), 1, center = c(0, 0, 1), radius = 0.7, unit = rep(1:3, 2))
  expect_identical(list(r$n, nrow(r$value), guarantee(r)$unit, guarantee(r)$epsilon), list(3L, 3L, "unit", 1))
  expect_error(dp_local(x, sphere(2), 1, unit = rep(1:3, 2)), class = "riemdp_error_unsupported")
  # very little noise: the mean of the unit's rows
  two <- local_draws(cbind(c(1, 0, 3, 0), 0), euclidean(2), 1e9, center = c(0, 0), radius = 5, unit = c("a", "b", "a", "b"))
  expect_equal(two$value, rbind(c(2, 0), c(0, 0)), tolerance = 1e-6)
})

test_that("one person's own point comes back as one point, and shapes are those of many", {
  expect_length(dp_local(tilted(2), sphere(2), 1)$value, 3)
  expect_identical(dim(dp_local(diag(2), spd(2), 1, per = 0.1)$value), c(2L, 2L))
  expect_identical(dim(dp_local(wishart_spd[, , 1:4], spd(2), 1, center = diag(2), radius = 1)$value), c(2L, 2L, 4L))
  expect_identical(dim(dp_local(mf_points(copies(tilted(2), 4), sphere(2)), epsilon = 1)$value), c(4L, 3L))
  expect_identical(dim(dp_local(data.frame(a = c(0.1, 0.2), b = 0), euclidean(2), 1, per = 1)$value), c(2L, 2L))
  expect_null(dimnames(dp_local(data.frame(a = c(0.1, 0.2), b = 0), euclidean(2), 1, per = 1)$value))
  expect_identical(dim(dp_local(with_simulation(1, mf_random(kendall(4), 5)), kendall(4), 1)$value), c(4L, 5L))
})

test_that("matrices that noise takes beyond what doubles hold are told to be no points", {
  r <- with_simulation(1, dp_local(wishart_spd[, , 1:20], spd(2), epsilon = 0.01, center = diag(2), radius = 1.5))
  gone <- sum(!mf_is_point(spd(2), r$value))
  expect_gt(gone, 10)
  expect_match(paste(utils::capture.output(print(r)), collapse = " "), sprintf("NO POINTS: %d of what is released are", gone))
  near <- with_simulation(1, dp_local(wishart_spd[, , 1:20], spd(2), epsilon = 10, center = diag(2), radius = 1.5))
  expect_no_match(paste(utils::capture.output(print(near)), collapse = " "), "NO POINTS")
})

test_that("what can't be had is refused from public numbers", {
  x <- copies(tilted(2), 3)
  refused <- function(class, ...) expect_error(dp_local(...), class = paste0("riemdp_error_", class))
  refused("argument", 1:3 + 0, euclidean(1), 1) # no bound, no length
  refused("argument", x, sphere(2))
  refused("argument", x, sphere(2), 1, radius = 0.3)
  refused("argument", x, sphere(2), 1, invalid = "center")
  refused("argument", x, sphere(2), -1)
  refused("argument", x, sphere(2), 1, per = 0)
  refused("radius", x, sphere(2), 1, center = c(0, 0, 1), radius = 2)
  refused("unsupported", x, sphere(2), 1, per = 0.1, mechanism = "privunit")
  refused("unsupported", x, sphere(2), 1, center = c(0, 0, 1), radius = 0.3, mechanism = "privunit")
  refused("unsupported", x, sphere(2), 1, mechanism = "wrapped")
  # lines of a plane, whose small balls are those of a circle, are half of one; frames of one vector have no such law
  ledger <- dp_ledger(NULL, 5, 0)
  refused("unsupported", array(c(1, 0), c(2, 1, 1)), grassmann(2, 1), 1, center = cbind(c(1, 0)), mechanism = "privunit", ledger = ledger)
  expect_identical(nrow(ledger_history(ledger)), 0L)
  refused("unsupported", array(c(1, 0), c(2, 1, 1)), grassmann(2, 1), 1, per = 1, mechanism = "vmf")
  refused("unsupported", array(c(1, 0, 0), c(3, 1, 1)), stiefel(3, 1), 1, center = cbind(c(1, 0, 0)), mechanism = "privunit")
  expect_error(.Call(riemdp:::riemdp_release_local, grassmann(2, 1), array(c(1, 0), c(2, 1, 1)), cbind(c(1, 0)), Inf, "privunit", c(0.5, 0.3), TRUE),
               class = "riemdp_error")
  refused("unsupported", x, sphere(2), 1, numerics = "lattice")
  refused("unsupported", wishart_spd[, , 1:2], spd(2), 1, per = 0.1, mechanism = "vmf")
  refused("unsupported", array(diag(4)[, 1:2], c(4, 2, 1)), stiefel(4, 2), 1, per = 1)
  refused("unsupported", chunks(x, 2), sphere(2), 1)
  refused("existence", diag(2), spd(2), 1, per = 5, mechanism = "laplace")
  expect_error(dp_local(rbind(x, NA), sphere(2), 1), class = "riemdp_error")
})

test_that("the same number of kilometres is promised everywhere on the earth, which a flat map doesn't do", {
  earth <- function(long, lat) {
    a <- pi / 180
    cbind(cos(a * lat) * cos(a * long), cos(a * lat) * sin(a * long), sin(a * lat))
  }
  km <- function(lat) 6371 * mf_dist(sphere(2), earth(20, lat)[1, ], local_draws(earth(rep(20, 2e4), lat), sphere(2), 1, per = 2 / 6371)$value)
  for (lat in c(0, 70, 89.99)) expect_lt(z_score(km(lat), 4), 5)
  # Laplace noise in degrees at the equator's scale: density exp(-epsilon |degrees| km/L), two places a little apart from west to east
  degrees <- 0.01
  apart <- 6371 * mf_dist(sphere(2), earth(20, 70)[1, ], earth(20 + degrees, 70)[1, ])
  flat <- degrees * 6371 * pi / 180
  expect_equal(flat / apart, 1 / cos(70 * pi / 180), tolerance = 1e-6)
  expect_equal(flat / apart, 2.92, tolerance = 2e-3)
})

test_that("released points are drawn, on every kind of space", {
  pdf(NULL)
  on.exit(grDevices::dev.off())
  gg <- requireNamespace("ggplot2", quietly = TRUE)
  look <- function(...) {
    r <- dp_local(...)
    expect_identical(plot(r), r)
    if (gg) expect_match(ggplot2::autoplot(r)$labels$caption, "released by itself")
  }
  look(cbind(quakes$long, quakes$lat)[1:20, ], euclidean(2), 1, per = 1)
  look(c(1, 2, 3), euclidean(1), 1, center = 0, radius = 5)
  look(rbind(c(0, 0, 1), c(0.6, 0, 0.8)), sphere(2), 4)
  look(wishart_spd[, , 1:5], spd(2), 5, center = diag(2), radius = 2)
  look(callosa[, , 1:2], kendall(50), 400, center = callosa[, , 1], radius = 0.2)
})
