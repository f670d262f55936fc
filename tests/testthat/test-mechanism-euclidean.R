# Baselines with ambient and point-wise noise. Kolmogorov-Smirnov bounds have a false-alarm rate of 1e-6 each, means 5 standard
# errors (6e-7 each): below 1e-4 together.

noise_draws <- function() if (quick()) 2000 else 20000

frobenius <- function(a) sqrt(sum(a^2))

plan_of <- function(M, n, epsilon, center, radius, mechanism, calibration = "proven", options = list()) {
  ask <- riemdp:::mean_ask(M, n, epsilon, center, radius, 0, mechanism, NULL, calibration, "ordinary", "real", 1e6, options)
  riemdp:::plan_mean(M, ask)
}

# n random points of the ball
in_ball <- function(M, center, radius, n) {
  d <- mf_facts(M)$dimension
  a <- matrix(rnorm(n * d), n)
  mf_exp(M, center, mf_from_coords(M, center, a / sqrt(rowSums(a^2)) * radius * runif(n)^(1 / d)))
}

ball_cases <- list(
  list(M = sphere(2), center = c(0, 0, 1), r = pi / 8), list(M = sphere(5), center = c(1, 0, 0, 0, 0, 0), r = 0.75),
  list(M = spd(2), center = diag(2), r = 1.5), list(M = spd(3), center = diag(c(3, 1, 0.5)), r = 0.8),
  list(M = spd(2, "logeuclidean"), center = matrix(c(2, 0.5, 0.5, 1), 2), r = 1),
  list(M = spd(2, "bures"), center = diag(c(2, 1)), r = 0.3),
  list(M = spd(2, "log-cholesky"), center = matrix(c(2, 0.5, 0.5, 1), 2), r = 1),
  list(M = correlation(3), center = matrix(c(1, 0.5, 0, 0.5, 1, 0, 0, 0, 1), 3), r = 1),
  list(M = correlation(3, "log-cholesky"), center = matrix(c(1, 0.5, 0, 0.5, 1, 0, 0, 0, 1), 3), r = 0.5),
  list(M = stiefel(3, 2), center = diag(3)[, 1:2], r = 0.4),
  list(M = stiefel(4, 2, "canonical"), center = diag(4)[, 1:2], r = 0.4),
  list(M = euclidean(3), center = c(1, 2, 3), r = 2)
)

test_that("stretch and diameter of the ball hold for every pair of its points", {
  set.seed(1)
  for (case in ball_cases) {
    b <- riemdp:::ambient_bounds(case$M, case$center, case$r)
    n <- if (quick()) 50 else 300
    x <- in_ball(case$M, case$center, case$r, n)
    y <- in_ball(case$M, case$center, case$r, n)
    d <- mf_dist(case$M, x, y)
    e <- vapply(seq_len(n), function(i) frobenius(record(case$M, x, i) - record(case$M, y, i)), 0)
    expect_true(all(e <= b$stretch * d * (1 + 1e-9)))
    expect_true(all(e <= b$diameter))
    # and they aren't idle: in the direction of the largest eigenvalue both are nearly reached
    if (case$M$name == "spd_affine") {
      s <- eigen(case$center)
      top <- function(t) case$center + (exp(t) - 1) * s$values[1] * tcrossprod(s$vectors[, 1])
      expect_equal(frobenius(top(case$r) - top(case$r - 1e-5)) / 1e-5, b$stretch, tolerance = 1e-3)
    }
  }
})

test_that("the papers' constants are exceeded by the Frechet mean, the proven ones never", {
  # matrices: all records at e^r, one moved to e^-r (guarantee: e^r(1 - exp(-2r/n)) n = 12.49 at n = 20, r = 1.5; papers' 6.96)
  n <- 20
  r <- 1.5
  at <- function(t) diag(c(exp(t), 1))
  x <- array(at(r), c(2, 2, n))
  y <- x
  y[, , 1] <- at(-r)
  moved <- frobenius(frechet_mean(x, spd(2))$mean - frechet_mean(y, spd(2))$mean)
  expect_equal(moved * n, exp(r) * (1 - exp(-2 * r / n)) * n, tolerance = 1e-8)
  proven <- plan_of(spd(2), n, 1, diag(2), r, "euclidean")
  paper <- plan_of(spd(2), n, 1, diag(2), r, "euclidean", "paper")
  expect_equal(proven$sensitivity, exp(r) * 2 * r / n, tolerance = 1e-9)
  expect_equal(paper$sensitivity, 2 * (exp(r) - 1) / n, tolerance = 1e-12)
  expect_lt(moved, proven$sensitivity)
  expect_gt(moved, 1.79 * paper$sensitivity)

  # sphere: half of the records on either side, the moved one across
  n <- 101
  r <- pi / 8
  at <- function(t, phi) c(sin(t) * cos(phi), sin(t) * sin(phi), cos(t))
  x <- t(sapply(seq_len(n), function(i) if (i == 1) at(r, pi / 2) else at(r, pi * (i %% 2))))
  y <- x
  y[1, ] <- at(r, -pi / 2)
  moved <- frobenius(frechet_mean(x, sphere(2), tol = 1e-12)$mean - frechet_mean(y, sphere(2), tol = 1e-12)$mean)
  proven <- plan_of(sphere(2), n, 1, c(0, 0, 1), r, "euclidean")$sensitivity
  paper <- plan_of(sphere(2), n, 1, c(0, 0, 1), r, "euclidean", "paper")$sensitivity
  expect_equal(paper, 4 * sin(r / 2) / n)
  expect_gt(moved, 1.05 * paper)
  expect_lt(moved, proven)
  expect_gt(moved, 0.999 * proven)
})

test_that("random searches never exceed the proven constants", {
  set.seed(2)
  for (case in ball_cases) {
    n <- 4
    most <- c(frechet = 0, arithmetic = 0)
    for (trial in seq_len(if (quick()) 3 else 20)) {
      x <- in_ball(case$M, case$center, case$r, n + 1)
      mean_of <- function(keep) {
        kept <- if (length(dim(x)) == 3) x[, , keep] else x[keep, ]
        list(frechet = frechet_mean(kept, case$M)$mean,
             arithmetic = if (length(dim(x)) == 3) apply(kept, 1:2, mean) else colMeans(kept))
      }
      a <- mean_of(1:n)
      b <- mean_of(c(1:(n - 1), n + 1))
      most <- pmax(most, c(frobenius(a$frechet - b$frechet), frobenius(a$arithmetic - b$arithmetic)))
    }
    for (target in names(most)) {
      plan <- plan_of(case$M, n, 1, case$center, case$r, "euclidean", options = list(target = target))
      expect_lt(most[[target]], plan$sensitivity)
      expect_equal(plan$scale, plan$sensitivity + plan$solver_error, tolerance = 1e-9)
    }
  }
})

ambient_draws <- function(M, p, norm, sigma, project = FALSE, seed = 1) {
  with_simulation(seed, .Call(riemdp:::riemdp_ambient_noise, M, p, p, noise_draws(), norm, sigma, 0, project, TRUE))
}

test_that("ambient noise has Gamma radii in its norm, and uniform directions", {
  ks <- function(x, d, sigma) {
    u <- sort(pgamma(x, d, scale = sigma))
    n <- length(u)
    expect_lt(max(u - (seq_len(n) - 1) / n, seq_len(n) / n - u), sqrt(log(2 / 1e-6) / (2 * n)))
  }
  z <- ambient_draws(sphere(3), c(1, 0, 0, 0), "entries", 0.7) - c(1, 0, 0, 0)
  ks(sqrt(colSums(z^2)), 4, 0.7)
  share <- z[2, ]^2 / colSums(z^2)
  expect_lt(abs(mean(share) - 1 / 4), 5 * sd(share) / sqrt(length(share)))
  for (k in 2:3) {
    d <- k * (k + 1) / 2
    z <- ambient_draws(spd(k), diag(k), "frobenius", 0.7) - as.vector(diag(k))
    ks(sqrt(colSums(z^2)), d, 0.7)
    share <- 2 * z[2, ]^2 / colSums(z^2) # an off-diagonal pair is one coordinate
    expect_lt(abs(mean(share) - 1 / d), 5 * sd(share) / sqrt(length(share)))
    z <- ambient_draws(spd(k), diag(k), "vech", 0.7) - as.vector(diag(k))
    expect_identical(z[2, ], z[k + 1, ])
    ks(sqrt(colSums(z[as.vector(lower.tri(diag(k), TRUE)), ]^2)), d, 0.7)
  }
})

test_that("errors agree with the reference table", {
  ref <- utils::read.csv(test_path("reference", "utility_public.csv"))
  for (n in c(10, 50)) {
    row <- ref[ref$manifold == "S2" & ref$n == n & ref$mechanism == "Eucl projected", ]
    x <- ambient_draws(sphere(2), c(0, 0, 1), "entries", row$sigma, TRUE, seed = n)
    d <- mf_dist(sphere(2), c(0, 0, 1), x)
    expect_lt(abs(mean(d) - row$geo), 5 * sqrt(row$geo_se^2 + var(d) / length(d)))
    plan <- plan_of(sphere(2), n, 1, c(0, 0, 1), pi / 8, "euclidean", "paper")
    expect_equal(plan$scale, row$sigma, tolerance = 1e-9)
    expect_equal(plan$expected_error, row$geo, tolerance = 0.05)
  }
  # matrices: length of vech noise, and the share that isn't positive definite, over data sets of 20
  row <- ref[ref$manifold == "SPD2" & ref$n == 20 & grepl("^Eucl", ref$mechanism), ]
  expect_equal(plan_of(spd(2), 20, 1, diag(2), 1.5, "euclidean", "paper")$scale, row$sigma, tolerance = 1e-9)
  bad <- vapply(1:50, function(i) {
    m <- frechet_mean(wishart_spd[, , 20 * (i - 1) + 1:20], spd(2))$mean
    z <- with_simulation(i, .Call(riemdp:::riemdp_ambient_noise, spd(2), m, m, 400, "vech", row$sigma, 0, FALSE, TRUE))
    mean(z[1, ] * z[4, ] <= z[2, ]^2 | z[1, ] <= 0)
  }, 0)
  # 20,000 draws and 50 data sets: a standard error of .0045
  expect_lt(abs(mean(bad) - row$frac_not_PD), 5 * sd(bad) / sqrt(50) + 0.003)
})

test_that("releases have the planned scale and lie on the manifold", {
  x <- matrix(c(1, 2, 3), 20, 3, byrow = TRUE)
  plan <- plan_of(euclidean(3), 20, 1, c(0, 0, 0), 5, "euclidean")
  times <- if (quick()) 50 else 400
  e <- with_simulation(5, replicate(times, {
    frobenius(dp_mean(x, euclidean(3), 1, c(0, 0, 0), 5, mechanism = "euclidean")$value - 1:3)
  }))
  expect_lt(abs(mean(e) - 3 * plan$scale), 5 * sqrt(3) * plan$scale / sqrt(times))
  for (case in ball_cases) {
    x <- in_ball(case$M, case$center, case$r, 12)
    for (target in c("frechet", "arithmetic")) {
      r <- dp_mean(x, case$M, 2, case$center, case$r, mechanism = "euclidean", options = list(target = target, into_ball = TRUE))
      expect_identical(guarantee(r)$label, "pure")
      expect_true(mf_is_point(case$M, r$value))
      expect_lte(mf_dist(case$M, case$center, r$value), case$r * (1 + 1e-9))
      expect_gt(r$expected_error, 0)
    }
  }
  # the result of noise alone may have no nearest matrix: the centre then
  worst <- with_simulation(3, .Call(riemdp:::riemdp_ambient_noise, spd(1), matrix(1), matrix(1), 200, "frobenius", 50, 0, TRUE, TRUE))
  expect_true(any(worst == 1) && all(worst > 0))
})

test_that("regions cover the mean", {
  x <- matrix(c(0, 0, 1), 20, 3, byrow = TRUE)
  times <- if (quick()) 50 else 500
  for (M in list(sphere(2), euclidean(3))) {
    hit <- with_simulation(8, replicate(times, {
      r <- dp_mean(x, M, 5, c(0, 0, 1), 0.7, mechanism = "euclidean")
      region <- confint(r, level = 0.8)
      c(mf_dist(M, c(0, 0, 1), r$value) <= region$radius, grepl("noise's law", region$basis))
    }))
    expect_true(all(hit[2, ] == 1))
    # exactly .8 in flat space, at least .8 on the sphere (5 standard errors)
    expect_gt(mean(hit[1, ]), 0.8 - 5 * 0.4 / sqrt(times))
    if (M$name == "euclidean") expect_lt(mean(hit[1, ]), 0.8 + 5 * 0.4 / sqrt(times))
  }
})

test_that("labels, hand-set scales and refusals", {
  x <- in_ball(sphere(2), c(0, 0, 1), 0.3, 20)
  paper <- dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.3, mechanism = "euclidean", calibration = "paper")
  expect_identical(guarantee(paper)$label, "none")
  expect_identical(guarantee(paper)$epsilon, Inf)
  one <- dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.3, mechanism = "euclidean")
  by_hand <- dp_mean(x, sphere(2), NULL, c(0, 0, 1), 0.3, mechanism = "euclidean", sigma = one$scale / 2)
  expect_equal(guarantee(by_hand)$epsilon, 2, tolerance = 1e-9)
  expect_output(explain(one), "Euclidean norm")
  refused <- function(...) expect_error(dp_mean(...), class = "riemdp_error_unsupported")
  refused(callosa, kendall(50), 1, callosa[, , 1], 0.3, mechanism = "euclidean")
  refused(wishart_spd, spd(2), 1, diag(2) * 2, 1, mechanism = "euclidean", calibration = "paper")
  refused(wishart_spd, spd(2), 1, diag(2), 1, mechanism = "euclidean", numerics = "lattice")
  refused(wishart_spd, spd(2), 1, diag(2), 1, mechanism = "pointwise")
  expect_error(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.3, mechanism = "euclidean", options = list(split = "joint")),
               class = "riemdp_error_argument")
  expect_error(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.3, mechanism = "euclidean", options = list(target = "median")),
               class = "riemdp_error_argument")
})

# ---- landmarks

unit <- function(z) {
  z <- z - mean(z)
  z / sqrt(sum(Mod(z)^2))
}
turned <- function(z, to) z * Conj(sum(Conj(to) * z)) / Mod(sum(Conj(to) * z))
coordinates <- function(z) as.vector(rbind(Re(z), Im(z)))

test_that("ranges of coordinates hold over the ball and are attained", {
  set.seed(3)
  M <- kendall(6)
  t <- unit(complex(real = rnorm(6), imaginary = rnorm(6)))
  for (r in c(0.1, 0.38)) {
    range <- riemdp:::landmark_ranges(t, r, TRUE)
    y <- in_ball(M, t, r, 500)
    y <- apply(y, 2, function(z) coordinates(turned(z, t)))
    expect_true(all(apply(y, 1, max) - apply(y, 1, min) <= range))
    # diameter in l1 against the bound of the joint form
    expect_true(all(as.matrix(dist(t(y), "manhattan")) <= sqrt(12) * 2 * sin(r)))
    for (j in 1:12) {
      e <- numeric(12)
      e[j] <- 1
      e <- complex(real = e[c(TRUE, FALSE)], imaginary = e[c(FALSE, TRUE)])
      along <- Re(sum(Conj(t) * e))
      across <- e - mean(e) - sum(Conj(t) * e) * t
      v <- across / sqrt(sum(Mod(across)^2))
      value <- function(d, v) Re(sum(Conj(e) * turned(mf_exp(M, t, d * v), t)))
      d <- seq(0, r, length.out = 2001)
      reached <- max(sapply(d, value, v)) - min(sapply(d, value, -v))
      expect_equal(reached, range[j], tolerance = 1e-6)
      expect_equal(along, coordinates(t)[j])
    }
  }
  expect_equal(riemdp:::landmark_ranges(t, 0.1, FALSE), rep(2 * sqrt(5 / 6), 12))
})

test_that("point-wise releases have the planned scale", {
  x <- callosa[, , 1:100]
  center <- callosa[, , 101]
  landmarks <- function(y) unit(complex(real = y[, 1], imaginary = y[, 2]))
  z <- apply(x, 3, function(y) turned(landmarks(y), landmarks(center)))
  target <- unit(rowMeans(z))
  times <- if (quick()) 20 else 150
  for (split in c("joint", "landmarks")) {
    plan <- plan_of(kendall(50), 100, 400, center, 0.3, "pointwise", options = list(split = split))
    dev <- with_simulation(6, replicate(times, {
      r <- dp_mean(x, kendall(50), 400, center, 0.3, mechanism = "pointwise", options = list(split = split))$value
      coordinates(turned(complex(real = r[, 1], imaginary = r[, 2]), target) - target)
    }))
    # standardised deviations: mean absolute value 1 but for centring, turning and scaling (4 of 100 dimensions)
    s <- mean(abs(dev) / (plan$scales / sqrt(sum(Mod(rowMeans(z))^2))))
    expect_lt(abs(s - 1), 0.03 + 5 / sqrt(100 * times))
  }
  joint <- plan_of(kendall(50), 100, 1, center, 0.3, "pointwise")
  expect_equal(joint$scale, sqrt(100) * 2 * sin(0.3) / 100, tolerance = 1e-9)
  loose <- plan_of(kendall(50), 100, 1, center, 0.3, "pointwise", options = list(rotation = "none"))
  expect_equal(loose$scale / joint$scale, 1 / sin(0.3), tolerance = 1e-9)
})

test_that("point-wise labels; the published form keeps its data-made scales to itself", {
  x <- callosa[, , 1:30]
  r <- dp_mean(x, kendall(50), 1, callosa[, , 31], 0.3, mechanism = "pointwise")
  expect_identical(guarantee(r)$label, "pure")
  expect_match(r$target, "not the Frechet mean")
  for (rotation in c("align", "none")) {
    p <- dp_mean(x, kendall(50), 1, callosa[, , 31], 0.3, mechanism = "pointwise", calibration = "paper",
                 options = list(rotation = rotation))
    expect_identical(guarantee(p)$label, "none")
    expect_match(guarantee(p)$reason, "taken from the records")
    expect_identical(p$scale, NA_real_)
    expect_identical(p$expected_error, NA_real_)
    expect_output(print(p), "NOT PRIVATE")
    expect_output(explain(p), "read off the records")
  }
  # published scale: 4 k d/(n epsilon) with d the largest distance from the mean; configurations that don't turn spread farther
  y <- x
  y[, , 2] <- x[, , 2] %*% matrix(c(0, 1, -1, 0), 2)
  error <- function(x, rotation) {
    m <- frechet_mean(x, kendall(50))$mean
    with_simulation(7, mean(replicate(20, mf_dist(kendall(50), m, dp_mean(
      x, kendall(50), 2000, callosa[, , 31], 0.3, mechanism = "pointwise", calibration = "paper",
      options = list(rotation = rotation))$value))))
  }
  expect_equal(error(x, "align"), error(y, "align"), tolerance = 1e-6)
  expect_gt(error(y, "none"), 2 * error(y, "align"))
})

test_that("records that are no points count as the centre, silently", {
  x <- callosa[, , 1:10]
  x[1, 1, 3] <- NA
  x[, , 4] <- 1
  for (mechanism in c("pointwise", "chain")) {
    r <- dp_mean(x, kendall(50), 1, callosa[, , 31], 0.3, mechanism = mechanism, invalid = "center",
                 options = if (mechanism == "chain") list(burn_in = 20) else list())
    expect_true(all(is.finite(r$value)))
    expect_error(dp_mean(x, kendall(50), 1, callosa[, , 31], 0.3, mechanism = mechanism), class = "riemdp_error")
  }
  y <- rbind(c(0, 0, 1), c(NA, 0, 0), c(0, 0, -1), c(5, 5, 5))
  r <- dp_mean(y, sphere(2), 100, c(0, 0, 1), 0.3, mechanism = "euclidean", invalid = "center", options = list(into_ball = TRUE))
  expect_lt(mf_dist(sphere(2), c(0, 0, 1), r$value), 0.31)
})
