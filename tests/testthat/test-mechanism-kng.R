# The K-norm gradient mechanism. Moments are compared within 5 standard errors (false alarm 6e-7 each; some 100 of them below, so
# less than 1e-4 together). With the numbers of draws here a scale that is 5 % off moves mean distances by 15 standard errors or more.

# what the C code takes of the mean's bounds
kng_bounds <- function(M, radius, center, n = 100) {
  b <- riemdp:::mean_steps(M, riemdp:::check_radius(M, radius, center), n)
  if (!is.null(b$why)) stop(b$why)
  c(b$numbers, gradient = b$slope)
}

kng_laws <- c("kng", "laplace_truncated")

kng_draws <- function(M, x, center, radius, sigma, n, law = "kng", trials = 0, envelope = 0, seed = 1) {
  with_simulation(seed, .Call(riemdp:::riemdp_kng_nonprivate, M, x, center, radius, law, sigma, kng_bounds(M, radius, center), trials, n, envelope,
                              TRUE))
}

kng_release <- function(M, x, center, radius, sigma, law = "kng", trials = 1e4, constant = FALSE) {
  .Call(riemdp:::riemdp_release_kng, M, x, center, radius, law, sigma, kng_bounds(M, radius, center), trials, constant, FALSE)
}

expect_moment <- function(x, value, weights = NULL, label = NULL) {
  expect_lt(abs(mean(x) - value) / (stats::sd(x) / sqrt(length(x))), 5, label = label)
}

origin_of <- function(M) .Call(riemdp:::riemdp_origin, M)

# n records in the ball, at radii r u^power around the origin; `line`: along one direction
ball_records <- function(M, n, radius, seed, power = 1, line = FALSE) {
  d <- mf_facts(M)$dimension
  o <- origin_of(M)
  a <- with_simulation(seed, {
    a <- matrix(stats::rnorm(n * d), n)
    if (line) a <- outer(sample(c(-1, 1), n, TRUE), a[1, ])
    a / sqrt(rowSums(a^2)) * radius * stats::runif(n)^power
  })
  mf_exp(M, o, mf_from_coords(M, o, a))
}

# An independent account of the law: points around the mean at radii of a gamma law, weighted by density over proposal, with the
# volume element and the gradient from R. Returns self-normalised moments of f and their standard errors.
weighted_moments <- function(M, x, records, center, radius, sigma, f, n, volume) {
  d <- mf_facts(M)$dimension
  m <- frechet_mean(x, M, tol = 1e-13)$mean
  rho <- stats::rgamma(n, d, scale = sigma)
  keep <- rho < 2 * radius
  rho <- rho[keep]
  a <- matrix(stats::rnorm(length(rho) * d), length(rho))
  a <- a / sqrt(rowSums(a^2)) * rho
  y <- mf_exp(M, m, mf_from_coords(M, m, a))
  inside <- which(mf_dist(M, center, y) <= radius)
  y <- if (is.null(dim(y))) y[inside] else record_range(M, y, inside)
  a <- a[inside, , drop = FALSE]
  rho <- rho[inside]
  total <- 0
  for (i in seq_len(records)) total <- total + mf_log(M, y, record(M, x, i))
  w <- exp(volume(a) - (mf_norm(M, y, total) / records - rho) / sigma)
  values <- f(y, m)
  lapply(values, function(v) {
    mean <- sum(w * v) / sum(w)
    c(mean, sqrt(sum(w^2 * (v - mean)^2)) / sum(w))
  })
}

sinc <- function(x) ifelse(abs(x) < 1e-6, 1 - x^2 / 6, sin(x) / x)
sinhc <- function(x) ifelse(abs(x) < 1e-6, 1 + x^2 / 6, sinh(x) / x)
size <- function(a) sqrt(rowSums(a^2))
spd_volume <- function(k) function(a) {
  apply(a, 1, function(z) {
    v <- mf_from_coords(spd(k), diag(k), z)
    e <- eigen(v, symmetric = TRUE, only.values = TRUE)$values
    sum(log(sinhc(outer(e, e, "-")[lower.tri(diag(k))] / 2)))
  })
}
kendall_volume <- function(k) function(a) (2 * k - 6) * log(sinc(size(a))) + log(sinc(2 * size(a)))

test_that("draws on S^2 agree with quadrature, whatever the envelope", {
  skip_if_not_installed("jsonlite")
  ref <- jsonlite::fromJSON(test_path("reference", "kng_sphere_quadrature.json"), simplifyVector = FALSE)
  n <- if (quick()) 2000 else 1e5
  for (q in ref) for (envelope in 0:3) {
    x <- do.call(rbind, lapply(q$data, unlist))
    out <- kng_draws(sphere(2), x, c(0, 0, 1), q$r, q$sigma, n, envelope = envelope, seed = 10 + envelope)
    d <- mf_dist(sphere(2), out$mean, out$draws)
    expect_moment(d, q$quad_Ed)
    expect_moment(d^2, q$quad_Ed2)
    expect_moment(drop(out$draws %*% unlist(q$e1)), q$quad_Ee1)
    expect_moment(out$draws[, 3], q$quad_Ez)
    expect_identical(out$clamped, 0)
    expect_lte(max(mf_dist(sphere(2), c(0, 0, 1), out$draws)), q$r * (1 + 1e-12))
    if (envelope == 0) expect_gt(n / out$trials, 0.95)
  }
})

test_that("draws agree with importance sampling on every space, inside the ball and at its edge", {
  cases <- list(
    list(M = euclidean(1), r = 1, s = 0.4, volume = function(a) 0),
    list(M = euclidean(3), r = 1, s = 0.4, volume = function(a) 0),
    list(M = sphere(1), r = 1, s = 0.4, volume = function(a) 0),
    list(M = sphere(5), r = 0.7, s = 0.1, volume = function(a) 4 * log(sinc(size(a)))),
    list(M = hyperbolic(3), r = 1, s = 0.2, volume = function(a) 2 * log(sinhc(size(a)))),
    list(M = hyperbolic(2, "ball"), r = 1, s = 0.4, volume = function(a) log(sinhc(size(a)))),
    list(M = spd(2), r = 1.5, s = 0.3, volume = spd_volume(2)),
    list(M = spd(3), r = 1, s = 0.15, volume = spd_volume(3)),
    list(M = hermitian_spd(2), r = 1.2, s = 0.2, volume = function(a) 2 * log(sinhc(sqrt(((a[, 1] - a[, 4])^2 / 2 + a[, 2]^2 + a[, 3]^2) / 2)))),
    list(M = spd(2, "logeuclidean"), r = 1, s = 0.3, volume = function(a) 0),
    list(M = kendall(3), r = 0.35, s = 0.2, volume = kendall_volume(3)),
    list(M = kendall(10), r = 0.3, s = 0.02, volume = kendall_volume(10)),
    list(M = grassmann(4, 1), r = 0.7, s = 0.2, volume = function(a) 2 * log(sinc(size(a)))),
    list(M = grassmann(4, 2), r = 0.5, s = 0.1, volume = function(a) {
      s <- t(apply(a, 1, function(z) svd(matrix(mf_from_coords(grassmann(4, 2), diag(4)[, 1:2], z), 4))$d))
      log(sinc(s[, 1] - s[, 2])) + log(sinc(s[, 1] + s[, 2]))
    })
  )
  n <- if (quick()) 1000 else 2e4
  for (case in cases) for (edge in c(FALSE, TRUE)) {
    M <- case$M
    o <- origin_of(M)
    # at the edge: records in a small cluster there
    x <- ball_records(M, 6, case$r, 3)
    if (edge) {
      d <- mf_facts(M)$dimension
      a <- rep(c(0.97, 0.9, 0.95), each = 1) * case$r
      a <- cbind(a, matrix(if (d > 1) with_simulation(4, stats::rnorm(3 * (d - 1))) * 0.05 * case$r / sqrt(d) else 0, 3, d - 1))
      x <- mf_exp(M, o, mf_from_coords(M, o, a))
    }
    records <- if (edge) 3 else 6
    f <- function(y, m) list(mf_dist(M, m, y), mf_dist(M, o, y)^2, mf_dist(M, record(M, x, 1), y))
    want <- with_simulation(5, weighted_moments(M, x, records, o, case$r, case$s, f, n, case$volume))
    out <- kng_draws(M, x, o, case$r, case$s, n, seed = 6)
    expect_identical(out$clamped, 0)
    got <- f(out$draws, out$mean)
    for (j in seq_along(got)) {
      se <- sqrt(stats::var(got[[j]]) / n + want[[j]][2]^2)
      expect_lt(abs(mean(got[[j]]) - want[[j]][1]) / se, 5, label = paste(label_of(M), edge, j))
    }
  }
})

test_that("with all records at one point both laws are the truncated Laplace law", {
  n <- if (quick()) 2000 else 5e4
  for (tilt in c(0, 0.6)) {
    center <- c(0, 0, 1)
    p <- c(sin(tilt * pi / 8), 0, cos(tilt * pi / 8))
    # the radius by quadrature on the ball, in polar coordinates at p
    grid <- expand.grid(rho = (seq_len(1500) - 0.5) / 1500 * 1.6 * pi / 8, phi = (seq_len(720) - 0.5) / 720 * pi)
    height <- cos(tilt * pi / 8) * cos(grid$rho) + sin(tilt * pi / 8) * sin(grid$rho) * cos(grid$phi)
    w <- (height >= cos(pi / 8)) * sin(grid$rho) * exp(-grid$rho / 0.1)
    for (law in kng_laws) {
      out <- kng_draws(sphere(2), matrix(p, 4, 3, byrow = TRUE), center, pi / 8, 0.1, n, law = law, seed = 20 + match(law, kng_laws))
      d <- mf_dist(sphere(2), p, out$draws)
      expect_lt(abs(mean(d) - sum(w * grid$rho) / sum(w)), 5 * stats::sd(d) / sqrt(n) + 1e-4)
      expect_lt(abs(mean(d^2) - sum(w * grid$rho^2) / sum(w)), 5 * stats::sd(d^2) / sqrt(n) + 1e-4)
    }
  }
})

test_that("the lower bounds hold at random points, for spread and for adversarial records", {
  n <- if (quick()) 50 else 1000
  for (M in list(sphere(2), sphere(20), kendall(3), kendall(4), kendall(12), hyperbolic(2), hyperbolic(4, "ball"), spd(2), spd(3), hermitian_spd(2),
                 grassmann(3, 1), grassmann(4, 2), grassmann(5, 2), euclidean(2))) {
    limit <- riemdp:::radius_limit(riemdp:::ball_facts(M, 0.1))
    radius <- min(0.999 * limit, 2)
    for (k in 1:12) {
      x <- ball_records(M, 1 + k %% 4, radius, 100 + k, power = k %% 2, line = k %% 3 == 0)
      worst <- with_simulation(k,
                               .Call(riemdp:::riemdp_kng_domination_nonprivate, M, x, origin_of(M), radius, radius / 3, kng_bounds(M, radius, origin_of(M)), n,
                                     TRUE))
      expect_identical(worst[4], 0, label = label_of(M))
      expect_lt(max(worst[1:3]), 1e-11)
    }
  }
})

test_that("acceptance rates on workloads", {
  # S^50, 200 records over the ball of radius pi/8; shapes of 50 noisy landmarks on an ellipse
  x <- ball_records(sphere(50), 200, pi / 8, 1)
  for (n_epsilon in c(20, 200, 2000)) {
    sigma <- 2 * as.numeric(gradient_sensitivity(sphere(50), n_epsilon, pi / 8))
    expect_gt(1000 / kng_draws(sphere(50), x, origin_of(sphere(50)), pi / 8, sigma, 1000)$trials, 0.9)
  }
  # Grassmann: the Hessian and the bound of the third derivative at work (the slope alone accepts .69, .30)
  for (case in list(list(4, 2, 0.9), list(7, 3, 0.85), list(5, 3, 0.85))) {
    M <- grassmann(case[[1]], case[[2]])
    x <- ball_records(M, 100, 0.5, 1, power = 0.5)
    sigma <- 2 * as.numeric(gradient_sensitivity(M, 400, 0.5))
    expect_gt(1000 / kng_draws(M, x, origin_of(M), 0.5, sigma, 1000)$trials, case[[3]])
  }
  skip_if(quick())
  t <- seq(0, 2 * pi, length.out = 51)[-1]
  outline <- (1 + 0.3 * cos(3 * t)) * complex(real = 1.5 * cos(t), imaginary = sin(t))
  shapes <- with_simulation(2, outline + matrix(complex(real = stats::rnorm(50 * 409, sd = 0.15), imaginary = stats::rnorm(50 * 409, sd = 0.15)), 50))
  M <- kendall(50)
  center <- mf_project(M, outline)
  radius <- 0.3
  sigma <- 2 * as.numeric(gradient_sensitivity(M, 409, radius))
  expect_gt(200 / kng_draws(M, shapes, center, radius, sigma, 200)$trials, 0.6)
})

test_that("utility as in the reference table", {
  ref <- utils::read.csv(test_path("reference", "utility_public.csv"))
  rows <- unique(ref[grepl("^KNG-ball", ref$mechanism), ])
  rows <- rows[!duplicated(rows[c("manifold", "sigma")]), ]
  expect_gt(nrow(rows), 8)
  # data sets of the same law as there, some draws each: standard errors over data sets
  sets <- if (quick()) 20 else 150
  e <- new.env()
  utils::data("wishart_spd", package = "riemdp", envir = e)
  for (i in seq_len(nrow(rows))) {
    n <- rows$n[i]
    M <- switch(rows$manifold[i], S2 = sphere(2), SPD2 = spd(2))
    errors <- vapply(seq_len(sets), function(k) {
      x <- with_simulation(1000 * i + k, if (M$name == "sphere") {
        theta <- stats::runif(n, 0, pi / 8)
        phi <- stats::runif(n, 0, 2 * pi)
        cbind(sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta))
      } else {
        e$wishart_spd[, , sample(1000, n)]
      })
      center <- if (M$name == "sphere") c(0, 0, 1) else diag(2)
      out <- kng_draws(M, x, center, if (M$name == "sphere") pi / 8 else 1.5, rows$sigma[i], 40, seed = k)
      mean(mf_dist(M, out$mean, out$draws))
    }, 0)
    se <- sqrt(rows$geo_se[i]^2 + stats::var(errors) / sets)
    expect_lt(abs(mean(errors) - rows$geo[i]), 4 * se, label = rows$mechanism[i])
  }
})

test_that("edge cases give a point of the ball", {
  cases <- list(
    list(sphere(2), c(1e-6, 0.1, pi / 4 * 0.9999)), list(sphere(1), c(1e-6, 1.5)), list(sphere(30), c(1e-6, 0.785)),
    list(euclidean(1), c(1e-6, 1e3)), list(hyperbolic(1), 1), list(hyperbolic(2), c(1e-6, 11.9)), list(hyperbolic(3, "ball"), c(1e-6, 11.9)),
    list(spd(1), c(1e-6, 2)), list(spd(2), c(1e-6, 6)), list(kendall(3), c(1e-6, 0.392)), list(kendall(5), c(1e-6, 0.392)), list(grassmann(2, 1), c(1e-6, 0.7)),
    list(grassmann(3, 2), c(1e-6, 0.78)), list(grassmann(4, 2), c(1e-6, 0.55)), list(spd(2, "logeuclidean"), 1e-6)
  )
  for (case in cases) for (radius in case[[2]]) {
    M <- case[[1]]
    o <- origin_of(M)
    one <- record(M, ball_records(M, 2, radius, 1, power = 0), 1)
    same <- ball_records(M, 5, 0, 1)
    edge <- ball_records(M, 4, radius, 2, power = 0)
    line <- ball_records(M, 2, radius, 3, power = 0, line = TRUE)
    for (x in list(one, same, edge, line)) for (law in kng_laws) for (factor in c(0.01, 1)) {
      y <- kng_release(M, x, o, radius, radius * factor, law = law)
      expect_true(mf_is_point(M, y))
      # points near the origin are known to some 1e-16
      expect_lt(mf_dist(M, o, y), radius * (1 + 1e-9) + 1e-14, label = paste(label_of(M), radius))
      expect_gt(mf_dist(M, o, y), 0, label = paste(label_of(M), radius, factor, law))
    }
  }
  # records that are none, and records outside
  x <- rbind(c(NA, 0, 1), c(0, 0, -1), c(1, 0, 0), c(5, 5, 5))
  expect_true(mf_is_point(sphere(2), kng_release(sphere(2), x, c(0, 0, 1), 0.3, 0.1)))
})

test_that("a capped number of trials: the same law, an honest bound, refused where absurd", {
  least <- function(M, radius, sigma, law = "kng") .Call(riemdp:::riemdp_kng_least_acceptance, M, radius, law, sigma, 1e-10)
  share <- function(M, x, radius, sigma, law = "kng") {
    with_simulation(3, .Call(riemdp:::riemdp_kng_acceptance_nonprivate, M, x, origin_of(M), radius, law, sigma,
                             kng_bounds(M, radius, origin_of(M)), TRUE, if (quick()) 300 else 3000, TRUE))
  }
  # close to the value h^d that no envelope of slope h can beat where the ball is large: .617 and .299
  expect_gt(least(sphere(2), pi / 8, 2 * as.numeric(gradient_sensitivity(sphere(2), 1000, pi / 8))), 0.60)
  expect_gt(least(sphere(5), pi / 8, 2 * as.numeric(gradient_sensitivity(sphere(5), 1000, pi / 8))), 0.28)
  for (case in list(list(sphere(1), 1, 0.1), list(sphere(2), pi / 8, 0.05), list(sphere(2), 0.7, 0.5), list(hyperbolic(2), 1, 0.1),
                    list(spd(2), 1, 0.05), list(kendall(3), 0.3, 0.02), list(kendall(4), 0.2, 0.02), list(euclidean(3), 1, 0.3),
                    list(grassmann(4, 2), 0.4, 0.1), list(grassmann(3, 1), 0.4, 0.1))) {
    for (law in kng_laws) {
      p <- least(case[[1]], case[[2]], case[[3]], law)
      expect_gt(p, 0)
      for (k in 1:4) {
        x <- switch(k, ball_records(case[[1]], 5, case[[2]], 1), ball_records(case[[1]], 2, case[[2]], 2, power = 0, line = TRUE),
                    ball_records(case[[1]], 5, 0, 3), record(case[[1]], ball_records(case[[1]], 2, case[[2]], 4, power = 0), 1))
        expect_gt(share(case[[1]], x, case[[2]], case[[3]], law), p - 5 * sqrt(p / if (quick()) 300 else 3000))
      }
    }
  }
  skip_if_not_installed("jsonlite")
  q <- jsonlite::fromJSON(test_path("reference", "kng_sphere_quadrature.json"), simplifyVector = FALSE)[[2]]
  x <- do.call(rbind, lapply(q$data, unlist))
  out <- kng_draws(sphere(2), x, c(0, 0, 1), q$r, q$sigma, if (quick()) 500 else 2e4, trials = 30)
  d <- mf_dist(sphere(2), out$mean, out$draws)
  expect_moment(d, q$quad_Ed)
  expect_moment(d^2, q$quad_Ed2)
  expect_moment(out$draws[, 3], q$quad_Ez)
  expect_identical(out$trials, 30 * length(d))
})

test_that("plans: labels, delta, scales by hand, refusals from public quantities", {
  M <- sphere(2)
  x <- ball_records(M, 50, 0.3, 1)
  o <- origin_of(M)
  release <- function(..., mechanism = "kng") dp_mean(x, M, center = o, radius = pi / 8, mechanism = mechanism, numerics = "real", ...)
  r <- release(epsilon = 1)
  expect_identical(guarantee(r)$label, "pure")
  expect_equal(r$scale, 2 * as.numeric(gradient_sensitivity(M, 50, pi / 8)), tolerance = 1e-9)
  # the computed gradient's error, not the mean's
  expect_gt(r$solver_error, 0)
  expect_lt(r$solver_error, 1e-12)
  expect_gt(r$acceptance, 0.7) # whatever the records
  expect_equal(guarantee(release(sigma = r$scale))$epsilon, 1, tolerance = 1e-9)
  paper <- release(epsilon = 1, calibration = "paper")
  expect_identical(guarantee(paper)$label, "none")
  expect_equal(paper$scale, 2 * pi / 8 * (2 - pi / 4 / tan(pi / 4)) / 50, tolerance = 1e-9)
  capped <- release(epsilon = 1, timing = "constant", delta = 1e-6)
  expect_identical(guarantee(capped)$label, "approx")
  expect_lte(guarantee(capped)$delta, 1e-6)
  expect_equal(guarantee(capped)$delta, (1 + exp(1)) * (1 - capped$acceptance)^capped$details$trials, tolerance = 1e-9)
  expect_error(release(epsilon = 1, timing = "constant"), class = "riemdp_error_unsupported")
  big <- sphere(50)
  expect_error(dp_mean(ball_records(big, 1000, 0.1, 1), big, 1, center = origin_of(big), radius = 0.7, mechanism = "kng", delta = 1e-9,
                       timing = "constant"), "trials", class = "riemdp_error_unsupported")
  expect_error(dp_mean(mf_random(stiefel(4, 2), 3), stiefel(4, 2), 1, center = diag(4)[, 1:2], radius = 0.1, mechanism = "kng", numerics = "real"),
               class = "riemdp_error_unsupported")
  truncated <- release(epsilon = 1, mechanism = "laplace_truncated")
  expect_equal(truncated$scale, 2 * (as.numeric(mean_sensitivity(M, 50, pi / 8)) + truncated$solver_error), tolerance = 1e-9)
  expect_error(release(epsilon = 1, mechanism = "laplace_truncated", calibration = "paper"), class = "riemdp_error_unsupported")
  for (q in list(r, capped, paper, truncated)) expect_output(explain(q), "proofs/kng.md")
})

test_that("regions cover the mean as often as they say, and auto leaves alone what would take long", {
  for (case in list(list(sphere(2), pi / 8, 100), list(hyperbolic(2), 1, 200), list(spd(2), 1, 200), list(euclidean(2), 1, 50))) {
    M <- case[[1]]
    x <- ball_records(M, case[[3]], case[[2]], 1)
    for (name in c("kng", "laplace_truncated")) {
      r <- with_simulation(1, dp_mean(x, M, 1, center = origin_of(M), radius = case[[2]], mechanism = name, numerics = "real"))
      q <- confint(r, level = 0.9)
      expect_match(q$basis, "tail")
      out <- kng_draws(M, x, origin_of(M), case[[2]], r$scale, 2000, law = name)
      expect_gt(mean(mf_dist(M, out$mean, out$draws) <= q$radius), 0.9 - 5 * sqrt(0.09 / 2000))
      expect_lt(q$radius, case[[2]])
    }
  }
  # for the worst records of the ball, not for some that are spread over it
  ask <- function(M, n, radius, center) riemdp:::mean_ask(M, n, 1, center, radius, 0, "auto", NULL, "proven", "ordinary", "real", 1e6, list())
  plans <- function(...) riemdp:::plan_mean(list(...)[[1]], ask(...))
  M <- hyperbolic(5)
  expect_match(plans(M, 1000, 10, as.vector(origin_of(M)))$chosen, "kng \\(slow\\)")
  expect_true(riemdp:::plan_one(M, ask(M, 1000, 10, as.vector(origin_of(M))), "kng", error = FALSE)$slow)
  # once a call without an end: records near one point of the edge
  M <- grassmann(50, 5)
  center <- diag(50)[, 1:5]
  x <- mf_exp(M, center, mf_from_coords(M, center, matrix(rep(c(0.49, rep(0.001, 224)), 20), 20, byrow = TRUE)))
  seconds <- system.time(r <- dp_mean(x, M, 1, center, 0.5), gcFirst = FALSE)[["elapsed"]]
  expect_lt(seconds, 30)
  expect_false(r$mechanism %in% c("kng", "laplace_truncated"))
  for (name in c("kng", "laplace_truncated")) {
    expect_error(dp_mean(x, M, 1, center, 0.5, mechanism = name), "would take", class = "riemdp_error_unsupported")
  }
})

test_that("trials end, and what the last resort costs is below what scales are rounded up by", {
  # one trial of each kind, then the public draw
  M <- sphere(20)
  x <- ball_records(M, 3, 0.7, 1, power = 0)
  far <- replicate(if (quick()) 60 else 300, mf_dist(M, origin_of(M), kng_release(M, x, origin_of(M), 0.7, 0.5, trials = 1)))
  expect_true(all(far <= 0.7 * (1 + 1e-9)))
  for (case in list(list(sphere(5), 0.5, 50), list(hyperbolic(3), 2, 100), list(spd(2), 1, 40), list(kendall(5), 0.3, 60))) {
    M <- case[[1]]
    r <- case[[2]]
    d <- mf_facts(M)$dimension
    for (mechanism in c("kng", "laplace_truncated")) for (epsilon in c(0.1, 2)) {
      ask <- riemdp:::mean_ask(M, case[[3]], epsilon, riemdp:::public_point(M, origin_of(M)), r, 0, mechanism, NULL, "proven", "ordinary",
                               "real", 1e6, list())
      plan <- riemdp:::plan_one(M, ask, mechanism, error = FALSE)
      # all fail with this probability; a public draw's density is at most this many times the law's
      log_failure <- plan$trials * log1p(-plan$acceptance)
      k <- mf_facts(M)[c("k_min", "k_max")]
      log_ratio <- 2 * r / plan$scale + (d - 1) * (if (k$k_max > 0) -log(sin(r * sqrt(k$k_max)) / (r * sqrt(k$k_max))) else
        log(sinh(r * sqrt(-k$k_min)) / (r * sqrt(-k$k_min))))
      expect_lt(3 * exp(log_failure + log_ratio), epsilon * 1e-12)
    }
  }
})

test_that("the gradient's sensitivity is that of the reference, and no pair of logarithms exceeds it", {
  skip_if_not_installed("jsonlite")
  ref <- jsonlite::fromJSON(test_path("reference", "kng_sensitivity_sphere.json"))
  for (r in names(ref)) {
    radius <- as.numeric(r) # rounded to six digits there
    if (abs(radius - pi / 8) < 1e-5) radius <- pi / 8
    if (abs(radius - pi / 16) < 1e-5) radius <- pi / 16
    expect_equal(as.numeric(gradient_sensitivity(sphere(2), 1, radius)) / (2 * radius), ref[[r]]$S_over_2r, tolerance = 2e-6)
    expect_equal(as.numeric(gradient_sensitivity(sphere(2), 1, radius, calibration = "paper")) / (2 * radius),
                 ref[[r]]$paper_2_minus_h, tolerance = 2e-5)
  }
  for (case in list(list(sphere(3), 0.78), list(kendall(4), 0.39), list(grassmann(4, 2), 0.5), list(hyperbolic(3), 1), list(spd(2), 1))) {
    M <- case[[1]]
    x <- ball_records(M, 300, case[[2]], 1, power = 0)
    y <- ball_records(M, 300, case[[2]], 2, power = 0)
    m <- ball_records(M, 300, case[[2]], 3, power = 0.2)
    top <- max(mf_norm(M, m, mf_log(M, m, x) - mf_log(M, m, y)))
    expect_lte(top, as.numeric(gradient_sensitivity(M, 1, case[[2]])))
    expect_gt(top, 0.8 * as.numeric(gradient_sensitivity(M, 1, case[[2]])))
  }
})

test_that("expected errors are those of simulated records", {
  for (case in list(list(sphere(2), pi / 8, 50), list(sphere(10), 0.5, 100), list(spd(2), 1.5, 20), list(kendall(8), 0.3, 100),
                    list(hyperbolic(3), 1, 30), list(grassmann(4, 2), 0.5, 40), list(euclidean(2), 1, 3))) {
    M <- case[[1]]
    sigma <- 2 * as.numeric(gradient_sensitivity(M, case[[3]], case[[2]]))
    ball <- riemdp:::check_radius(M, case[[2]], origin_of(M))
    told <- riemdp:::on_ball_error(M, case[[2]], sigma, riemdp:::kng_slope(M, ball), NULL)
    expect_gte(riemdp:::kng_expected_error(M, list(ball = ball, numerics = "real"), sigma, "kng"), told)
    # of the worst: records at one point, or where curvature is positive at both ends of an axis. They were records spread evenly, whose error
    # is no promise for others.
    v <- mf_from_coords(M, origin_of(M), c(case[[2]] * (1 - 1e-9), rep(0, mf_facts(M)$dimension - 1)))
    ends <- list(origin_of(M), if (ball$k_max > 0) mf_exp(M, origin_of(M), v), if (ball$k_max > 0) mf_exp(M, origin_of(M), -v))
    ends <- Filter(Negate(is.null), if (ball$k_max > 0) ends[-1] else ends)
    n <- length(ends)
    x <- if (is.matrix(ends[[1]])) array(unlist(ends), c(dim(ends[[1]]), n)) else if (is.complex(ends[[1]])) do.call(cbind, ends) else do.call(rbind, ends)
    out <- kng_draws(M, x, origin_of(M), case[[2]], sigma, if (quick()) 300 else 3000)
    expect_equal(told, mean(mf_dist(M, out$mean, out$draws)), tolerance = 0.07, label = label_of(M))
    # and no others err more
    y <- ball_records(M, 40, case[[2]], 7, power = 1 / mf_facts(M)$dimension)
    spread <- kng_draws(M, y, origin_of(M), case[[2]], sigma, if (quick()) 300 else 3000)
    expect_lt(mean(mf_dist(M, spread$mean, spread$draws)), 1.07 * told)
  }
})
