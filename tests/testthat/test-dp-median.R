# Private medians. Moments are compared within 5 standard errors (false alarm 6e-7 each; some 60 of them below, so less than 1e-4
# together).

median_numbers <- function(M, center, radius) {
  steps <- riemdp:::median_steps(M, riemdp:::check_radius(M, radius, center))
  c(steps$numbers, list(gradient = steps$gradient))
}

median_draws <- function(M, x, center, radius, smooth, sigma, n, seed = 1) {
  with_simulation(seed, .Call(riemdp:::riemdp_lattice_law_nonprivate, M, x, center, median_numbers(M, center, radius), "median", smooth,
                              sigma * length(mf_points(x, M)), n, TRUE))
}

origin_point <- function(M) riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))

# Moments of f under the law by midpoints of polar coordinates around the ball's centre (d up to 3), with vectors by R. Coordinates at the
# centre are what is uniform without records.
median_quadrature <- function(M, x, center, radius, smooth, sigma, f, cells = c(300, 60, 48)) {
  d <- mf_facts(M)$dimension
  at <- polar_grid(d, radius, cells)
  y <- mf_exp(M, center, mf_from_coords(M, center, at$a))
  total <- 0
  n <- length(mf_points(x, M))
  for (i in seq_len(n)) {
    v <- mf_log(M, y, record(M, x, i))
    size <- sqrt(mf_norm(M, y, v)^2 + smooth^2)
    total <- total + v / (if (length(dim(v)) == 3) rep(size, each = prod(dim(v)[1:2])) else size)
  }
  w <- at$w * exp(-mf_norm(M, y, total) / n / sigma)
  vapply(f(y), function(v) sum(w * v) / sum(w), 0)
}

expect_median_law <- function(M, x, center, radius, smooth, sigma, f, n, ..., accept = 0.005) {
  want <- median_quadrature(M, x, center, radius, smooth, sigma, f, ...)
  out <- median_draws(M, x, center, radius, smooth, sigma, n)
  expect_identical(out$clamped, 0)
  expect_gt(n / out$trials, accept)
  got <- f(out$draws)
  for (j in seq_along(got)) {
    expect_lt(abs(mean(got[[j]]) - want[j]) / (stats::sd(got[[j]]) / sqrt(n)), 5, label = paste(label_of(M), smooth, j))
  }
}

# uneven, so that nothing is symmetric
few <- cbind(c(0.1, -0.3, 0.5, 0.2, -0.1), c(0.2, 0.1, -0.4, 0.35, 0))

test_that("a median's words fit on lines, and one record is one", {
  M <- euclidean(2)
  one <- dp_median(matrix(0, 1, 2), M, 1, c(0, 0), 1)
  expect_match(format(one)[1], "of 1 record on", fixed = TRUE)
  expect_match(format(dp_mean(matrix(0, 1, 2), M, 1, c(0, 0), 1))[1], "of 1 record on", fixed = TRUE)
  expect_match(format(dp_mean(matrix(0, 2, 2), M, 1, c(0, 0), 1, unit = c(1, 1)))[1], "of 1 unit's mean on", fixed = TRUE)
  expect_match(format(dp_median(matrix(0, 2, 2), M, 1, c(0, 0), 1))[1], "of 2 records on", fixed = TRUE)
  expect_true(all(nchar(format(one)) <= 112))
})

test_that("draws agree with quadrature on lines and planes, with and without ties", {
  n <- if (quick()) 4000 else 8000
  f <- function(y) list(y, y^2, abs(y - 0.2))
  line <- list(c(0.1, -0.3, 0.5, 0.2, -0.1), c(0.2, 0.2, 0.2, -0.4), 0.7, c(-0.5, 0.9), rep(0.3, 4))
  for (x in line) for (smooth in c(0, 0.1)) expect_median_law(euclidean(1), x, 0, 1, smooth, 0.2, f, n, accept = 0.1)
  f <- function(y) list(y[, 1], y[, 2]^2, sqrt((y[, 1] - 0.05)^2 + (y[, 2] - 0.1)^2))
  plane <- list(few, few[c(1, 1, 1, 2, 3), ], cbind(few[, 1], 0), few[1:2, ], few[1, , drop = FALSE], few[c(2, 2, 2, 2), ])
  for (x in plane) for (smooth in c(0, 0.1)) expect_median_law(euclidean(2), x, c(0, 0), 1, smooth, 0.15, f, n)
})

test_that("draws agree with quadrature where curvature is negative", {
  n <- if (quick()) 3000 else 5000
  for (M in list(hyperbolic(2), hyperbolic(2, "ball"))) {
    o <- origin_point(M)
    x <- mf_exp(M, o, mf_from_coords(M, o, 3 * few))
    f <- function(y) list(mf_dist(M, o, y), mf_dist(M, record(M, x, 1), y), mf_dist(M, record(M, x, 3), y)^2)
    for (smooth in c(0, 0.5)) {
      expect_median_law(M, x, o, 2, smooth, 0.15, f, n)
    }
  }
  n <- if (quick()) 2000 else 4000
  a <- cbind(few * 1.5, c(0.3, -0.2, 0.1, 0.5, -0.6))
  for (metric in c("affine", "logeuclidean", "bures")) {
    M <- spd(2, metric)
    radius <- if (metric == "bures") 0.3 else 1.5
    x <- mf_exp(M, diag(2), mf_from_coords(M, diag(2), a * radius / 1.5))
    f <- function(y) list(mf_dist(M, diag(2), y), mf_dist(M, record(M, x, 1), y), mf_dist(M, record(M, x, 3), y)^2)
    for (smooth in c(0, radius / 3)) expect_median_law(M, x, diag(2), radius, smooth, 0.15, f, n)
  }
})

test_that("draws agree with quadrature on spheres", {
  n <- if (quick()) 3000 else 5000
  for (d in 2:3) {
    M <- sphere(d)
    o <- c(rep(0, d), 1)
    a <- 1.2 * (if (d == 2) few else cbind(few, c(0.3, -0.2, 0.1, 0.5, -0.1)))
    for (records in list(a, a[c(1, 1, 1, 2), ])) {
      x <- mf_to_ball(M, mf_exp(M, o, mf_from_coords(M, o, records)), o, 0.75)
      f <- function(y) list(mf_dist(M, o, y), mf_dist(M, record(M, x, 1), y), y[, 1])
      for (smooth in c(0, 0.2)) expect_median_law(M, x, o, 0.75, smooth, 0.15, f, n, accept = 0.002)
    }
  }
})

test_that("draws agree with weighted uniform points where curvature varies", {
  n <- if (quick()) 300 else 600
  for (M in list(kendall(4), grassmann(4, 2), stiefel(3, 2, "canonical"))) {
    o <- origin_point(M)
    d <- mf_facts(M)$dimension
    radius <- min(0.4, 0.9 * riemdp:::radius_limit(riemdp:::ball_facts(M, 0.01, o)))
    ball <- with_simulation(8, matrix(stats::rnorm(20 * n * d), ncol = d))
    ball <- radius * ball / sqrt(rowSums(ball^2)) * with_simulation(9, stats::runif(20 * n))^(1 / d)
    x <- mf_exp(M, o, mf_from_coords(M, o, 0.9 * ball[1:4, ]))
    for (smooth in c(0, 0.2 * radius)) {
      y <- mf_exp(M, o, mf_from_coords(M, o, ball))
      total <- 0
      for (i in 1:4) {
        v <- mf_coords(M, y, mf_log(M, y, record(M, x, i)))
        total <- total + v / sqrt(rowSums(v^2) + smooth^2)
      }
      w <- exp(-sqrt(rowSums(total^2)) / 4 / 0.15)
      w <- w / sum(w)
      out <- median_draws(M, x, o, radius, smooth, 0.15, n)
      expect_identical(out$clamped, 0)
      for (to in list(o, record(M, x, 1))) {
        f <- mf_dist(M, to, y)
        got <- mf_dist(M, to, out$draws)
        error <- sqrt(stats::var(got) / n + sum(w^2 * (f - sum(w * f))^2))
        expect_lt(abs(mean(got) - sum(w * f)) / error, 5, label = label_of(M))
      }
    }
  }
})

test_that("lower bounds hold at random points, for any records", {
  draws <- if (quick()) 100 else 200
  spread <- function(M, n, scale, seed) {
    d <- mf_facts(M)$dimension
    with_simulation(seed, {
      a <- matrix(stats::rnorm(n * d), n) * exp(stats::runif(n, -6, 0)) * scale
      list(
        free = a, line = outer(a[, 1], seq_len(d) == 1),
        tied = a[pmax(1, seq_len(n) - n %/% 2), , drop = FALSE], one = a[rep(1, n), , drop = FALSE],
        alone = a[1, , drop = FALSE], two = a[1:2, , drop = FALSE], edge = 3 * a / sqrt(rowSums(a^2)),
        cross = rbind(diag(d), -diag(d)) * 2.96 * scale,
        apart = rbind(a[1:(n %/% 2), , drop = FALSE] * 1e-4, -a[-(1:(n %/% 2)), , drop = FALSE])
      )
    })
  }
  spaces <- list(euclidean(1), euclidean(2), euclidean(6), euclidean(20), hyperbolic(2), hyperbolic(3), spd(2), spd(3), hermitian_spd(2),
                 spd(2, "logeuclidean"), sphere(1), sphere(2), sphere(7), sphere(20), grassmann(3, 1), grassmann(4, 2), kendall(4), kendall(7),
                 stiefel(4, 2), stiefel(4, 2, "canonical"),
                 spd(2, "bures"))
  tight <- c()
  for (M in spaces) for (records in c(3, 60)) {
    if (quick() && mf_facts(M)$dimension > 6 && records == 3) next
    n <- if (startsWith(mf_facts(M)$model, "stiefel")) max(20, draws / 25) else draws
    o <- .Call(riemdp:::riemdp_origin, M)
    center <- riemdp:::public_point(M, o)
    radius <- if (mf_facts(M)$local_bounds) 0.3 else min(3, 0.99 * riemdp:::radius_limit(riemdp:::ball_facts(M, 0.01, center)))
    for (a in spread(M, records, radius / 3, records)) for (smooth in c(0, 0.02)) {
      x <- mf_to_ball(M, mf_exp(M, center, mf_from_coords(M, center, a * pmin(1, radius / sqrt(rowSums(a^2))))), center, radius)
      b <- with_simulation(1, .Call(riemdp:::riemdp_lattice_law_bounds_nonprivate, M, x, center, median_numbers(M, center, radius), "median",
                                    smooth, 1, n, TRUE))
      b <- b[!is.nan(b[, 1]), , drop = FALSE]
      # within 1e-6 of a record rounding turns vectors
      expect_lte(max(b[b[, 3] > 1e-6, 2] - b[b[, 3] > 1e-6, 1]), 0, label = label_of(M))
      tight <- c(tight, mean(pmax(b[, 2], 0) / pmax(b[, 1], 1e-300)))
    }
  }
  expect_gt(mean(tight), 0.5)
})

test_that("no neighbours lose more than epsilon on a line, and some nearly half", {
  # density constant between records at -1, 0, 1/2, 1: by lengths of these parts
  loss <- function(counts, moved, scale, replace) {
    ends <- c(-1, 0, 0.05, 1)
    law <- function(k) {
      left <- cumsum(k)[1:3]
      f <- exp(-abs(2 * left - sum(k)) / scale)
      log(f) - log(sum(f * diff(ends)))
    }
    max(abs(law(counts) - law(moved)))
  }
  epsilon <- 2
  worst <- c(replace = 0, add_remove = 0)
  for (n in c(1, 2, 3, 8, 20)) {
    scale <- c(dp_median(cos(seq_len(n)), euclidean(1), epsilon, 0, 1)$scale,
               dp_median(cos(seq_len(n)), euclidean(1), epsilon, 0, 1, neighbours = "add_remove")$scale)
    grid <- expand.grid(a = 0:n, b = 0:n, c = 0:n)
    grid <- as.matrix(grid[rowSums(grid) <= n, ])
    for (i in seq_len(nrow(grid))) {
      counts <- c(grid[i, ], n - sum(grid[i, ]))
      for (to in 1:4) {
        worst[2] <- max(worst[2], loss(counts, counts + (1:4 == to), scale[2]))
        for (from in which(counts > 0)) worst[1] <- max(worst[1], loss(counts, counts - (1:4 == from) + (1:4 == to), scale[1]))
      }
    }
  }
  expect_lte(max(worst), epsilon)
  expect_gt(min(worst), 0.6 * epsilon)
})

test_that("a record moves the sum of vectors by no more than it may, anywhere", {
  for (M in list(euclidean(2), hyperbolic(2), spd(2))) {
    o <- origin_point(M)
    put <- function(a) mf_exp(M, o, mf_from_coords(M, o, a))
    d <- mf_facts(M)$dimension
    a <- with_simulation(3, matrix(stats::rnorm(7 * d), 7))
    sum_at <- function(a, at, smooth) .Call(riemdp:::riemdp_lattice_law_sum_nonprivate, M, put(a), o, median_numbers(M, o, 4), "median", smooth, put(at))
    for (smooth in c(0, 0.3)) {
      most <- c(0, 0)
      for (far in c(1e-9, 0.1, 1, 3.5, 9)) {
        at <- matrix(c(0.2, rep(0.1, d - 1)), 1)
        b <- rbind(a, at + far * (1:d == 1))
        c <- rbind(a, at - far * (1:d == 1))
        one <- sum_at(b, at, smooth)
        most <- pmax(most, sqrt(c(sum((one - sum_at(c, at, smooth))^2), sum((one - sum_at(a, at, smooth))^2))))
      }
      expect_lte(most[1], 2)
      expect_lte(most[2], 1)
      expect_gt(most[1], 1.9)
      expect_gt(most[2], 0.95)
    }
    # what is no point, or is at the point itself, is one vector less
    expect_equal(sum_at(rbind(a, a[1, ]), a[1, , drop = FALSE], 1e-6), sum_at(a, a[1, , drop = FALSE], 1e-6), tolerance = 1e-6)
  }
})

test_that("the plan states what is drawn", {
  x <- cbind(sin(1:50), cos(1:50))
  r <- dp_median(x, euclidean(2), 0.5, c(0, 0), 20)
  expect_equal(r$scale, 2 * 2 / 0.5, tolerance = 1e-9)
  expect_gte(r$scale, 8)
  expect_equal(r$sensitivity, 2)
  expect_identical(guarantee(r)$label, "pure")
  expect_identical(r$expected_error, NA_real_)
  expect_equal(r$draws$epsilon, 0.5, tolerance = 1e-9)
  expect_equal(dp_median(x, euclidean(2), 2^-28, c(0, 0), 20)$draws$epsilon, 2^-28, tolerance = 1e-9)
  expect_match(r$draws$proof, "median.md, 1")
  expect_gt(r$solver_error, 2 * 50 * 2^-53)
  expect_gte(dp_median(x, euclidean(2), 2^-20, c(0, 0), 20)$scale, 4 / (2^-20 - 2^-40))
  expect_error(dp_median(x, euclidean(2), 2^-31, c(0, 0), 20), class = "riemdp_error_argument")
  # distances are smoothed by what the lattice and logarithms ask for
  expect_gte(r$smoothed, 64 * 50 / r$scale * 20 * 2^-52)
  far <- array(2 * diag(2), c(2, 2, 50))
  expect_gte(dp_median(far, spd(2), 0.5, diag(2), 4)$smoothed,
             16 * 50 / r$scale * riemdp:::mean_steps(spd(2), riemdp:::check_radius(spd(2), 4, diag(2)), 1)$gradient)
  expect_identical(dp_median(x, euclidean(2), 0.5, c(0, 0), 20, smooth = 0.1)$smoothed, 0.1)
  expect_false(grepl("real-number", format(guarantee(r))))
  more <- dp_median(x, euclidean(2), 0.5, c(0, 0), 20, neighbours = "add_remove", smooth = 0.1)
  expect_equal(more$scale, 2 / 0.5, tolerance = 1e-5)
  expect_identical(more$guarantee$adjacency, "add-remove")
  expect_identical(more$n, NA_real_)
  expect_gt(more$solver_error, 2 * 2^31 * 2^-53)
  expect_match(more$draws$proof, "median.md, 2")
  expect_lte(mf_dist(euclidean(2), c(0, 0), more$value), 20 * (1 + 1e-12))
  # the scale is that of the sum: of the mean's length over n
  draws <- median_draws(euclidean(2), x, c(0, 0), 20, 0, r$scale / 50, if (quick()) 500 else 2000)$draws
  seen <- with_simulation(2, t(replicate(if (quick()) 100 else 200, dp_median(x, euclidean(2), 0.5, c(0, 0), 20)$value)))
  expect_gt(stats::ks.test(sqrt(rowSums(draws^2)), sqrt(rowSums(seen^2)))$p.value, 1e-6)
  seen <- with_simulation(3, t(replicate(if (quick()) 100 else 200, dp_median(x, euclidean(2), 0.25, c(0, 0), 20, neighbours = "add_remove")$value)))
  expect_gt(stats::ks.test(sqrt(rowSums(draws^2)), sqrt(rowSums(seen^2)))$p.value, 1e-6)
})

test_that("no records, and records all at one point, leave a uniform law; a smoothed one finds the point", {
  n <- if (quick()) 100 else 200
  far <- function(x, epsilon = 1, ...) {
    draws <- with_simulation(4, vapply(seq_len(n), function(i) dp_median(x, euclidean(2), epsilon, c(0, 0), 2, ...)$value, numeric(2)))
    colSums(draws^2) / 4
  }
  expect_gt(stats::ks.test(far(matrix(0, 0, 2), neighbours = "add_remove"), "punif")$p.value, 1e-6)
  expect_gt(stats::ks.test(far(matrix(0, 0, 2), 20, neighbours = "add_remove", smooth = 0.5), "punif")$p.value, 1e-6)
  expect_gt(stats::ks.test(far(matrix(0.3, 50, 2)), "punif")$p.value, 1e-6)
  smoothed <- far(matrix(0.3, 200, 2), smooth = 0.05)
  expect_lt(stats::median(smoothed), 0.06)
})

test_that("whether there is a record at all decides no type", {
  K <- kendall(4)
  z <- c(1 + 0i, -1 + 0i, 1i, -1i) / 2
  for (center in list(z, cbind(Re(z), Im(z)))) for (x in list(matrix(z, 4, 1), array(cbind(Re(z), Im(z)), c(4, 2, 1)))) {
    none <- if (is.complex(x)) x[, 0, drop = FALSE] else x[, , 0, drop = FALSE]
    value <- function(x) dp_median(x, K, 1, center, 0.3, neighbours = "add_remove")$value
    expect_identical(attributes(value(none)), attributes(value(x)))
    expect_identical(typeof(value(none)), typeof(value(x)))
    ball <- function(x) dp_ball(x, K, 1, center, 0.3, neighbours = "add_remove")
    for (r in list(ball(none), ball(x))) {
      expect_identical(typeof(r$value$center), typeof(center))
      expect_identical(typeof(r$found$center), typeof(center))
    }
  }
})

test_that("outliers and a wide ball do little", {
  x <- with_simulation(5, matrix(stats::rnorm(2000), 1000))
  x[1:50, ] <- 1e4
  near <- frechet_median(x, euclidean(2))$mean
  error <- with_simulation(6, replicate(20, mf_dist(euclidean(2), near, dp_median(x, euclidean(2), 1, c(300, 0), 1000)$value)))
  expect_lt(max(error), 0.2)
})

test_that("what isn't proven is refused from public facts", {
  x <- cbind(1:3, 0)
  no <- function(...) expect_error(dp_median(...), class = "riemdp_error_unsupported")
  # by the plan, before anything is spent
  plane <- manifold_custom(2, 2, exp = function(p, v) p + v, log = function(p, q) q - p, k_min = 0, k_max = 0, injectivity_radius = Inf)
  no(x, plane, 1, c(0, 0), 1)
  expect_error(dp_median(matrix(0, 3, 21), euclidean(21), 1, rep(0, 21), 1), "at most 20 dimensions", class = "riemdp_error_unsupported")
  no(rbind(c(1, 0, 0)), hyperbolic(2), 1, c(1, 0, 0), 30)
  no(x, euclidean(2), 1e13, c(0, 0), 1)
  no(x, euclidean(2), 100, c(0, 0), 1, neighbours = "add_remove")
  no(x, euclidean(2), 1, c(0, 0), 1e101)
  no(array(diag(2), c(2, 2, 3)), spd(2, "logeuclidean"), 1, diag(2), 301)
  no(chunks(x, size = 2), euclidean(2), 1, c(0, 0), 1)
  expect_error(dp_median(x, euclidean(2), 1, c(0, 0), 1, smooth = -1), class = "riemdp_error_argument")
  expect_error(dp_median(matrix(0, 0, 2), euclidean(2), 1, c(0, 0), 1), class = "riemdp_error_shape")
  expect_error(dp_median(rbind(x, NA), euclidean(2), 1, c(0, 0), 1), class = "riemdp_error_not_finite")
  expect_silent(dp_median(rbind(x, NA), euclidean(2), 1, c(0, 0), 1, invalid = "center"))
})

test_that("a median's release says what it is", {
  r <- dp_median(cbind(quakes$long, quakes$lat), euclidean(2), 1, c(180, 0), 90, smooth = 1, source = "a map")
  text <- paste(utils::capture.output(print(r)), collapse = "\n")
  expect_match(text, "geometric median of 1000 records")
  expect_match(text, "smoothed by 1")
  expect_match(text, "no error is stated")
  expect_match(paste(utils::capture.output(explain(r)), collapse = " "), "whatever the radius")
  expect_identical(tidy(r)$estimate, as.vector(r$value))
  region <- confint(r)
  expect_equal(region$radius, mf_dist(euclidean(2), c(180, 0), r$value) + 90)
  expect_match(region$about, "geometric median")
  expect_identical(nrow(summary(r)), 1L)
  pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(r))
  more <- dp_median(wishart_spd, spd(2), 1, diag(2), 4, neighbours = "add_remove", unit = rep(1:200, length.out = dim(wishart_spd)[3]))
  expect_match(paste(utils::capture.output(print(more)), collapse = "\n"), "private number, not released, of units' means")
  expect_match(paste(utils::capture.output(explain(more)), collapse = " "), "one unit more or less|one unit with all its rows")
  expect_silent(plot(more))
})

test_that("`finest` is where normal records begin to be lost", {
  found <- function(tau, n, radius, d = 2) {
    x <- with_simulation(7, matrix(stats::rnorm(n * d), n)) * tau
    draws <- median_draws(euclidean(d), x, rep(0, d), radius, 0, 4 / n, 400)$draws
    mean(sqrt(rowSums(draws^2)) < 30 * tau)
  }
  r <- dp_median(cbind(sin(1:100), cos(1:100)), euclidean(2), 1, c(0, 0), 1e6)
  expect_gt(found(r$finest * 5, 100, 1e6), 0.8)
  expect_lt(found(r$finest / 5, 100, 1e6), 0.2)
  expect_output(print(dp_median(cbind(sin(1:9), cos(1:9)), euclidean(2), 1, c(0, 0), 10)), "FEW RECORDS.*standard deviation below")
  # a smoothing length above it leaves nothing to be missed
  expect_lt(dp_median(cbind(sin(1:100), cos(1:100)), euclidean(2), 1, c(0, 0), 1e6, smooth = 2 * r$finest)$finest, r$finest / 1e6)
  expect_identical(dp_median(cbind(1, 1), euclidean(2), 1, c(0, 0), 1, neighbours = "add_remove")$finest, NA_real_)
})

test_that("ties, and balls far wider than the records, don't keep the sampler from an answer", {
  line <- function(x, ...) dp_median(x, euclidean(1), 1, 50, 100, ...)$value
  set.seed(2)
  ages <- round(rnorm(1e4, 45, 15))
  expect_lt(abs(line(ages) - 45), 3)
  coin <- line(rbinom(1000, 1, 0.3)) # between the numbers the vectors' sum is the same, elsewhere longer
  expect_true(coin > -0.1 && coin < 1)
  plane <- function(x, radius, epsilon = 1, ...) dp_median(x, euclidean(2), epsilon, c(0, 0), radius, ...)$value
  expect_true(all(abs(plane(matrix(sample(0:9, 2000, TRUE), 1000), 50, epsilon = 5) - 4.5) < 2))
  expect_length(plane(matrix(3, 300, 2), 50), 2)
  expect_length(plane(rbind(matrix(NA_real_, 1000, 2), matrix(rnorm(1000), 500)), 50, invalid = "center"), 2)
  expect_length(plane(matrix(rep(c(100, 0), each = 1000), 1000), 5), 2)
  same <- array(diag(2) * 2, c(2, 2, 2000))
  expect_true(mf_is_point(spd(2), dp_median(same, spd(2), 1, diag(2), 2)$value))
  pole <- matrix(rep(c(0, 0, 0, 1), each = 1000), 1000)
  far <- mf_exp(sphere(3), c(0, 0, 0, 1), mf_from_coords(sphere(3), c(0, 0, 0, 1), matrix(rnorm(3000, sd = 0.1), 1000)))
  expect_lt(mf_dist(sphere(3), dp_median(rbind(pole, far), sphere(3), 1, c(0, 0, 0, 1), 0.7)$value, c(0, 0, 0, 1)), 0.05)
  x <- matrix(rnorm(4000), 2000)
  for (radius in c(1e9, 1e14, 1e30)) expect_true(all(abs(plane(x, radius)) < 0.5 + 1e-11 * radius))
  expect_true(all(abs(plane(1 + 1e-12 * x, 5) - 1) < 1e-12))
  # what no trial would be kept of is refused before anything is spent
  budget <- dp_ledger(NULL, 1e10)
  expect_error(dp_median(matrix(rnorm(200), 100), euclidean(2), 1e9, c(0, 0), 5, ledger = budget), class = "riemdp_error_unsupported")
  expect_error(dp_median(matrix(0.5, 10, 1), hyperbolic(1, "ball"), 1, 0, 500, ledger = budget), "radius up to 15", class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(budget)), 0L)
})

test_that("few trials fail where records are equal or far closer together than the radius, whatever epsilon is", {
  # the largest mean number of trials a draw is below 20 in all; before, 13,526 of 24 equal points, and no end from 40 on
  trials <- function(M, x, center, radius, epsilon, draws = 20, least = 0) {
    n <- length(mf_points(x, M))
    smooth <- riemdp:::median_smooth(riemdp:::median_ask(M, n, epsilon, center, radius, 0), 4 / epsilon)
    smooth <- max(smooth, least)
    o <- with_time_limit(20, median_draws(M, x, center, radius, smooth, 4 / epsilon / n, draws))
    expect_identical(o$clamped, 0)
    o$trials / draws
  }
  for (n in c(5, 20, 24, 30, 40, 50, 60, 90)) {
    expect_lt(trials(euclidean(2), matrix(c(0.2, 0.3), n, 2, TRUE), c(0, 0), 2, 5), 60)
    expect_lt(trials(spd(2), array(c(2, 0.3, 0.3, 1), c(2, 2, n)), diag(2), 2, 5), 60)
    expect_lt(trials(euclidean(1), matrix(0.2, n), 0, 2, 5), 60)
  }
  # two groups, and one to a side, smoothed: thousands of trials where the sampler stood at the median itself
  for (x in list(rep(c(-1, 1), 500), stats::qexp(stats::ppoints(1000)))) expect_lt(trials(euclidean(1), matrix(x), 0, 4, 20, 5, least = 1), 30)
  # where distances are smoothed by more than records are apart, what lies in the middle is no longer the median
  set.seed(8)
  M <- spd(2)
  x <- mf_exp(M, diag(2), mf_from_coords(M, diag(2), matrix(rexp(300, 7500), 100)))
  for (epsilon in c(10, 100, 1000)) {
    expect_lt(trials(M, x, diag(2), 4, epsilon), 30)
    expect_lt(trials(euclidean(1), matrix(rexp(100, 7500)), 0, 4, epsilon), 30)
    expect_lt(trials(sphere(2), mf_exp(sphere(2), c(0, 0, 1), cbind(matrix(rexp(200, 7500), 100), 0)), c(0, 0, 1), 0.7, epsilon), 60)
  }
})
