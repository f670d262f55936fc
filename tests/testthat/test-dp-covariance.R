# Private covariances and ellipsoids from them (R/dp-covariance.R, R/uncertainty.R; inst/proofs/inference.md, section 9)

internal <- asNamespace("riemdp")
AROUND <- list(
  plane = list(M = euclidean(2), center = c(0.5, 0), radius = 2), sphere = list(M = sphere(2), center = c(0, 0, 1), radius = 0.7),
  hyperbolic = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1.5), spd = list(M = spd(2), center = diag(c(1, 2)), radius = 1),
  bures = list(M = spd(2, "bures"), center = diag(2), radius = 0.25), shapes = list(M = kendall(4), center = exp(2i * pi * (1:4) / 4), radius = 0.35),
  subspaces = list(M = grassmann(4, 2), center = diag(4)[, 1:2], radius = 0.4), frames = list(M = stiefel(4, 2), center = diag(4)[, 1:2], radius = 0.4)
)
around <- function(s, n, seed, spread = 0.3) {
  d <- mf_facts(s$M)$dimension
  a <- with_simulation(seed, matrix(stats::rnorm(n * d), n)) %*% diag(seq(1, 0.3, length.out = d)) * spread * s$radius / sqrt(d)
  mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, a * pmin(1, 0.99 * s$radius / sqrt(rowSums(a^2)))))
}
step <- function(s, t) mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, c(t * s$radius, numeric(mf_facts(s$M)$dimension - 1))))

test_that("the matrix is that of logarithms at the point, whatever the space", {
  for (s in AROUND) {
    x <- around(s, 40, 1)
    at <- step(s, 0.3)
    v <- matrix(mf_coords(s$M, at, mf_log(s$M, at, x)), 40)
    for (mechanism in c("laplace", "wishart")) {
      r <- dp_covariance(x, s$M, 2^20, s$center, s$radius, at = at, mechanism = mechanism)
      expect_lt(sqrt(sum((r$moment - crossprod(v) / 40)^2)), 1e-4 * s$radius^2, label = paste(label_of(s$M), mechanism))
      expect_lt(mf_dist(s$M, r$point, at), 1e-7)
    }
    expect_equal(r$length, 1.3 * s$radius, tolerance = 1e-6)
    # a point outside is moved into the ball, and no logarithm counts more than it may
    r <- with_simulation(1, dp_covariance(x, s$M, 1, s$center, s$radius, at = step(s, 1.2)))
    expect_lte(mf_dist(s$M, r$point, s$center), s$radius * (1 + 1e-9))
    expect_equal(r$length, 2 * s$radius, tolerance = 1e-6)
    ask <- internal$covariance_ask(s$M, 40, 1, s$center, s$radius, at, 0, "laplace")
    rows <- internal$tangent_rows(s$M, x, ask, ask$point)
    short <- internal$moment_rows(rows, ask$length / 100, ask$parts$grid)
    expect_lte(max(rowSums(short^2)), 4^ask$parts$grid$bits)
  }
})

test_that("noise has the stated size, and the law that is said of it afterwards", {
  M <- sphere(3)
  center <- c(0, 0, 0, 1)
  x <- rbind(center, center)
  runs <- if (quick()) 600 else 3000
  for (mechanism in c("gauss", "laplace", "wishart")) {
    all <- with_simulation(2, lapply(seq_len(runs), function(i) {
      dp_covariance(x, M, 1, center, 0.5, at = center, delta = if (mechanism == "gauss") 1e-5 else 0, mechanism = mechanism)
    }))
    size <- function(S) sum(S^2) / all[[1]]$expected_error^2
    drawn <- vapply(all, function(r) size(r$moment), 0)
    said <- vapply(with_simulation(3, internal$covariance_noises(all[[1]], runs)), size, 0)
    # six standard errors
    expect_lt(abs(mean(drawn) - 1), 6 * stats::sd(drawn) / sqrt(runs), label = mechanism)
    expect_lt(abs(mean(said) - 1), 6 * stats::sd(said) / sqrt(runs), label = mechanism)
    expect_gt(stats::ks.test(drawn, said, exact = FALSE)$p.value, 1e-6)
    diagonal <- vapply(all, function(r) r$moment[1, 1], 0)
    beside <- vapply(all, function(r) r$moment[1, 2], 0)
    expect_equal(stats::var(diagonal) / stats::var(beside), 2, tolerance = 0.35)
  }
  expect_identical(all[[1]]$scale, internal$outwards(2) * internal$moment_value(1, 2, all[[1]]$length, internal$moment_grid(2, 3)))
})

test_that("without noise the ellipsoid is Hotelling's", {
  M <- euclidean(3)
  n <- 40
  x <- with_simulation(4, matrix(stats::rnorm(3 * n), n)) %*% diag(c(0.3, 0.1, 0.03))
  m <- with_simulation(5, dp_mean(x, M, 1e7, c(0, 0, 0), 2))
  s <- with_simulation(5, dp_covariance(x, M, 2^20, c(0, 0, 0), 2, at = m))
  s$value <- s$moment <- diag(c(0.09, 0.01, 0.001))
  s$noise$sd <- s$scale <- 0
  r <- confint(m, covariance = s)
  expect_equal(r$half_axes, sqrt(c(0.09, 0.01, 0.001) / n * 3 * (n - 1) / (n - 3) * stats::qf(0.95, 3, n - 3)), tolerance = 0.02)
  expect_equal(abs(unname(as.matrix(r$axes))), diag(3), tolerance = 1e-6)
  ends <- rbind(m$value + c(0.99 * r$half_axes[1], 0, 0), m$value + c(0, 0, 1.01 * r$half_axes[3]), m$value)
  expect_identical(region_contains(r, ends), c(TRUE, FALSE, TRUE))
  ball <- confint(m, about = "estimate")
  expect_identical(region_contains(ball, ends), mf_dist(M, ball$center, ends) <= ball$radius)
  expect_match(format(r)[1], "an ellipsoid around the released point with half-axes")
})

# what a covariance's release keeps, with noise of this standard deviation beside the diagonal
noisy_release <- function(lambda, sd, mechanism = "gauss") {
  d <- length(lambda)
  s <- list(mechanism = mechanism, noise = list(sd = sd), moment = diag(lambda), rounding = 0, length = 100, point = numeric(d),
            scale = switch(mechanism, gauss = NA, wishart = sd / sqrt((d + 1) / 2), laplace = sd / sqrt((d * (d + 1) / 2 + 1) / 2)))
  structure(s, class = "riemdp_covariance")
}

test_that("ellipsoids hold their level, in little room, where noise takes eigenvalues below 0", {
  n <- 1000
  runs <- if (quick()) 60 else 120
  d <- 9
  m <- with_simulation(1, dp_mean(matrix(0, n, d), euclidean(d), 1e4, numeric(d), 5, mechanism = "laplace", post = FALSE))
  spread <- 100^-seq(0, 1, length.out = d)
  cases <- list(list(rep(1, d), 0.3, 1.15), list(spread / mean(spread), 0.1, 1.4), list(c(9, rep(0.2, d - 1)), 1, 3))
  for (case in cases) {
    s <- noisy_release(case[[1]], case[[2]])
    plain <- exp(mean(log(case[[1]]))) * stats::qchisq(0.95, d) / n
    out <- with_simulation(2, replicate(runs, {
      x <- matrix(stats::rnorm(n * d), n) * rep(sqrt(case[[1]]), each = n)
      s$moment <- crossprod(x) / n + internal$covariance_noises(s, 1)[[1]]
      s$value <- internal$without_negative(s$moment)
      r <- internal$covariance_region(m, s, 0.95)
      c(sum(colMeans(x) * solve(r$shape, colMeans(x))) <= 1, exp(mean(log(r$half_axes^2))) / plain)
    }))
    expect_gt(stats::pbinom(sum(out[1, ]), runs, 0.95), 1e-6)
    expect_lt(sqrt(stats::median(out[2, ])), case[[3]])
  }
})

test_that("covariances that a release may stand for are what the truth looks like from there", {
  d <- 9
  lambda <- c(8, 4, rep(1, d - 2))
  for (mechanism in c("gauss", "laplace", "wishart")) {
    s <- noisy_release(lambda, 0.4, mechanism)
    out <- with_simulation(3, replicate(if (quick()) 40 else 100, {
      s$moment <- diag(lambda) + internal$covariance_noises(s, 1)[[1]]
      drawn <- internal$covariance_draws(s, 40)
      truth <- colSums(drawn$basis^2 * lambda)
      c(rowMeans(vapply(drawn$all, diag, numeric(d))) - truth, eigen(s$moment, TRUE, TRUE)$values - truth)
    }))
    off <- rowMeans(out)
    by <- apply(out, 1, stats::sd) / sqrt(ncol(out))
    # large eigenvalues, and all others together; what was released is off by much more
    expect_true(all(abs(off[1:2]) < 5 * by[1:2] + 0.05), label = mechanism)
    rest <- colMeans(out[3:d, ])
    expect_lt(abs(mean(rest)), 5 * stats::sd(rest) / sqrt(ncol(out)) + 0.03, label = mechanism)
    expect_lt(off[2 * d], -1)
  }
})

test_that("a draw of a covariance, number by number", {
  known <- list(sd = 0.5, values = c(9, 5, 2, 1, -1), seen = 1:2, rest = 3:5)
  noise <- diag(c(0.2, -0.3, 0.1, 0, 0))
  S <- with_simulation(1, internal$covariance_draw(known, 0.7, 2.4, noise))
  excess <- c(9 - 0.2, 5 + 0.3) - 0.7
  excess <- vapply(excess, function(y) stats::uniroot(function(l) l + 3 * 0.25 / l - y, c(0.87, 20), tol = 1e-12)$root, 0)
  turned <- 3 * 0.25 / excess^2
  expect_equal(diag(S)[1:2], excess * (1 - turned) + 0.8)
  expect_equal(sum(diag(S)), sum(excess) + 5 * 0.8)
  expect_gt(min(eigen(S, TRUE, TRUE)$values), 0)
  # one that noise leaves within its own: its size there, and nothing known of its direction
  known <- list(sd = 0.5, values = c(2.2, 1, 0.5, 0.6), seen = 1, rest = 2:4)
  S <- with_simulation(1, internal$covariance_draw(known, 0.7, 2.4, diag(0, 4)))
  expect_equal(S[1, ], c(0.8, 0, 0, 0))
  expect_equal(sum(diag(S)), 4 * 0.8 + 0.5 * sqrt(3))
  # what isn't seen: the trace, and the distance from an even matrix that noise leaves
  for (noise in list(matrix(0, 3, 3), diag(c(0.4, 0.4, 0.4)))) {
    B <- with_simulation(2, internal$unseen_draw(c(2, 1, 0), 6, noise))
    expect_equal(sum(diag(B)), 6)
    expect_equal(sum((B - diag(2, 3))^2), 2)
    expect_equal(eigen(B, TRUE, TRUE)$values[2:3], rep(2 - sqrt(2 / 6), 2))
  }
  # noise along the difference and all other
  noise <- matrix(c(0.3, 0.1, 0, 0.1, -0.2, 0.2, 0, 0.2, 0.5), 3)
  B <- with_simulation(2, internal$unseen_draw(c(3, 1, -1), 6, noise))
  u <- with_simulation(2, internal$even_direction(3))
  G <- (tcrossprod(u) - diag(1 / 3, 3)) / sqrt(2 / 3)
  H <- noise - diag(0.2, 3)
  expect_equal((sqrt(sum((B - diag(2, 3))^2)) + sum(H * G))^2 + sum(H^2) - sum(H * G)^2, 8)
  expect_equal(with_simulation(2, internal$unseen_draw(c(9, 0, 0), 1, 0 * noise)), tcrossprod(u)) # no less than 0
  expect_identical(internal$unseen_draw(-3, 0.5, matrix(1)), matrix(0.5))
  # what noise has pushed seen ones up by is the others'
  s <- noisy_release(c(8, 4, 1, 1, 1, 1), 0.4, "wishart")
  s$scale <- 0 # draws of 0
  drawn <- with_simulation(3, internal$covariance_draws(s, 5))
  stands <- function(y) stats::uniroot(function(l) l + 4 * 0.16 / l - y, c(0.8, 20), tol = 1e-12)$root
  rest <- 14 - stands(7) - stands(3)
  excess <- c(stands(8 - rest / 4), stands(4 - rest / 4))
  expect_identical(drawn$seen, 2)
  expect_equal(diag(drawn$all[[1]])[1:2], rest / 4 + excess * (1 - 0.64 / excess^2))
  expect_equal(sum(diag(drawn$all[[1]])), 1.5 * rest + sum(excess))
  # without noise it is what was released, and one below 0 still stands for something
  s <- noisy_release(c(3, 2, 1), 0)
  drawn <- with_simulation(3, internal$covariance_draws(s, 5))
  expect_equal(drawn$all[[5]], diag(c(3, 2, 1)))
  s <- noisy_release(c(-5, -6, -7), 1)
  drawn <- with_simulation(3, internal$covariance_draws(s, 100))
  expect_identical(drawn$seen, 0)
  expect_gte(length(drawn$all), 5)
  expect_gt(min(vapply(drawn$all, function(S) min(eigen(S, TRUE, TRUE)$values), 0)), -1e-9)
})

test_that("eigenvalues are seen above those of noise in as many directions", {
  d <- 6
  noises <- with_simulation(1, internal$covariance_noises(noisy_release(rep(1, d), 1), 2000))
  top <- function(q) {
    stats::quantile(with_simulation(2, replicate(4000, {
      z <- matrix(stats::rnorm(q^2), q)
      h <- (z + t(z)) / sqrt(2)
      eigen(h, TRUE, TRUE)$values[1] - mean(diag(h))
    })), 0.95)
  }
  for (q in c(2, 4, 6)) {
    lead <- 100 * seq_len(d - q) + 100
    for (side in c(-1, 1)) {
      # one that stands by 4 % of the edge below or above it
      values <- c(rev(lead), (1 + 0.04 * side) * top(q) * q / (q - 1), rep(0, q - 1))
      seen <- internal$eigenvalues_seen(values, noises)
      if (side < 0) expect_identical(seen, d - q, label = q) else expect_gt(seen, d - q, label = q)
    }
  }
})

test_that("a summary's trace isn't made larger by noise", {
  r <- with_simulation(5, dp_covariance(matrix(0, 50, 6), euclidean(6), 1, numeric(6), 1, at = numeric(6)))
  for (moment in list(diag(c(4, 1, 0, -1, -2, 0)), -diag(6))) {
    r$moment <- moment
    r$value <- internal$without_negative(moment)
    expect_equal(summary(r)$trace, max(0, sum(diag(moment))))
  }
})

test_that("errors of sampling: bending, lengths and numbers", {
  ball <- internal$check_radius(sphere(3), 0.5, c(0, 0, 0, 1))
  S <- diag(c(0.05, 0.02, 0.01))
  covariance <- list(length = 0.8, rounding = 0)
  one <- function(S, times) internal$sampling_covariances(list(S), covariance, list(times = times, n = 50), ball)[[1]]
  expect_equal(one(S, 1), S / (50 * internal$least_bend(ball, 0.08, 0.64)^2))
  expect_equal(one(S, 2), 2 * S / (50 * internal$least_bend(ball, 0.16, 0.64)^2))
  expect_equal(one(100 * S, 1), 8 * S / (50 * internal$least_bend(ball, 0.64, 0.64)^2))
  drawn <- list(basis = diag(3), seen = 1)
  axes <- internal$ellipsoid_shape(list(S, 3 * S), drawn, list(far = c(1, 2), cells = list(weight = c(0.25, 0.75))))
  expect_equal(axes, c(0.1, 0.03, 0.03) + 3.25 / 3)
})

test_that("ellipsoids hold the mean of a population as often as they say, in less room than balls", {
  s <- AROUND$sphere
  runs <- if (quick()) 100 else 300
  for (epsilon in c(1, 20)) {
    out <- with_simulation(6, replicate(runs, {
      x <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, matrix(stats::rnorm(400), 200) %*% diag(c(0.2, 0.03))))
      m <- dp_mean(x, s$M, epsilon / 2, s$center, s$radius, mechanism = "wrapped", post = FALSE)
      r <- confint(m, covariance = dp_covariance(x, s$M, epsilon / 2, s$center, s$radius, at = m))
      c(region_contains(r, s$center), prod(r$half_axes), confint(m, about = "estimate")$radius)
    }))
    expect_gt(stats::pbinom(sum(out[1, ]), runs, 0.95), 1e-6, label = epsilon)
    # not above 1.6 times the room of the ellipse without privacy, where noise is small
    if (epsilon == 20) expect_lt(mean(out[2, ]), 1.6 * 0.2 * 0.03 / 200 * stats::qchisq(0.95, 2))
  }
})

test_that("with a private number of records ellipsoids hold the mean of a population as often as they say", {
  s <- AROUND$sphere
  away <- c(0.2, 0)
  mu <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, away))
  runs <- if (quick()) 60 else 200
  out <- with_simulation(7, replicate(runs, {
    a <- matrix(stats::rnorm(600), 300) %*% diag(c(0.2, 0.03)) + rep(away, each = 300)
    x <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, a))
    m <- dp_mean(x, s$M, 10, s$center, s$radius, mechanism = "wrapped", variance = 0.2, neighbours = "add_remove")
    r <- confint(m, covariance = dp_covariance(x, s$M, 10, s$center, s$radius, at = m, neighbours = "add_remove"))
    c(region_contains(r, mu), prod(r$half_axes), confint(m)$radius^2)
  }))
  expect_gt(stats::pbinom(sum(out[1, ]), runs, 0.95), 1e-6)
  expect_lt(mean(out[2, ]), 0.6 * mean(out[3, ])) # in less room than a ball
})

test_that("an ellipsoid and a ball that is added to it", {
  Q <- diag(c(0.09, 0.01, 0.0001))
  W <- riemdp:::with_ball(Q, 0.05)
  turns <- with_simulation(8, matrix(stats::rnorm(3000), 3))
  support <- function(A) sqrt(colSums(turns * (A %*% turns)))
  both <- support(Q) + 0.05 * sqrt(colSums(turns^2))
  expect_gte(min(support(W) / both), 1 - 1e-9)
  expect_lt(min(support(W) / both), 1.001)
  p <- sqrt(sum(diag(Q)) / 3) / 0.05
  expect_lt(sum(diag(W)), sum(diag((1 + 1.1 / p) * Q + (1 + p / 1.1) * 0.05^2 * diag(3))))
  expect_identical(riemdp:::with_ball(Q, 0), Q)
})

test_that("a private number of records enters by the least there may be, and by how far missing ones may pull", {
  s <- AROUND$sphere
  x <- with_simulation(9, mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, matrix(stats::rnorm(200), 100) %*% diag(c(0.2, 0.03)))))
  m <- with_simulation(9, dp_mean(x, s$M, 1, s$center, s$radius, mechanism = "wrapped", neighbours = "add_remove"))
  v <- with_simulation(9, dp_covariance(x, s$M, 2, s$center, s$radius, at = m, neighbours = "add_remove"))
  told <- riemdp:::ellipsoid_counted(m, v, 0.9)
  expect_equal(told$n, confint(m, "size", level = 1 - 0.1 / 20)[1])
  expect_equal(told$level, 0.91)
  expect_equal(told$pull, riemdp:::size_reach(m, 1 - 0.1 / 20))
  expect_gt(told$pull, 0.01)
  expect_equal(told$times, v$size$count / told$n)
  # what the two sizes and the noise are adds up to what a region about the estimate has
  expect_equal(told$noise(0.975) + riemdp:::size_reach(m, 0.975), confint(m, level = 0.95)$radius)
  # the covariance is of a sum: what it was divided by doesn't matter
  w <- v
  w$size$count <- 2 * v$size$count
  for (part in c("value", "moment", "scale", "sensitivity")) w[[part]] <- v[[part]] / 2
  w$noise$sd <- v$noise$sd / 2
  expect_equal(confint(m, covariance = w)$half_axes, confint(m, covariance = v)$half_axes)
  expect_match(confint(m, covariance = v)$basis, "law of the released size")
  expect_false(grepl("size", confint(dp_mean(x, s$M, 10, s$center, s$radius, variance = 0.2))$basis))
})

test_that("what doesn't fit is refused before anything is spent", {
  M <- sphere(2)
  x <- rbind(c(0, 0, 1), c(0, 0.1, 1) / sqrt(1.01))
  up <- c(0, 0, 1)
  ledger <- dp_ledger(NULL, 10)
  asked <- function(...) dp_covariance(x, M, 1, up, 0.5, ..., ledger = ledger)
  expect_error(asked(), class = "riemdp_error_argument")
  expect_error(asked(at = c(1, 1, 1)), "`at`", class = "riemdp_error")
  for (radius in c(1e300, 1e-300, -1, NA)) {
    expect_error(dp_covariance(x[, 1:2], euclidean(2), 1, c(0, 0), radius, at = c(0, 0)), "`radius`", class = "riemdp_error_argument")
  }
  expect_error(dp_covariance(1:3, euclidean(1), 1, 0, 5, at = 0, ledger = ledger), class = "riemdp_error_unsupported")
  expect_error(dp_covariance(chunks(mf_points(x, M), 1), M, 1, up, 0.5, at = up, ledger = ledger), class = "riemdp_error_unsupported")
  expect_error(asked(at = up, mechanism = "gauss"), class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  m <- dp_mean(x, M, 1, up, 0.5)
  s <- dp_covariance(x, M, 1, up, 0.5, at = m)
  expect_s3_class(confint(m, covariance = s), "riemdp_ellipsoid")
  expect_error(confint(m, covariance = diag(2)), class = "riemdp_error_argument")
  expect_error(confint(m, covariance = s, about = "estimate"), class = "riemdp_error_argument")
  expect_error(confint(m, covariance = s, method = "finite"), class = "riemdp_error_argument")
  expect_error(confint(m, covariance = dp_covariance(x, M, 1, up, 0.5, at = c(0, sin(0.4), cos(0.4)))), class = "riemdp_error_argument")
  expect_error(confint(m, covariance = dp_covariance(x[1, ], M, 1, up, 0.5, at = m)), class = "riemdp_error_argument")
  more <- dp_mean(x, M, 1, up, 0.5, neighbours = "add_remove")
  # the mean of records moved elsewhere, or another mean
  for (mechanism in c("adaptive", "tangent")) {
    other <- dp_mean(x, M, 1, up, 0.5, mechanism = mechanism)
    expect_error(confint(other, covariance = dp_covariance(x, M, 1, up, 0.5, at = other)), class = "riemdp_error_unsupported")
  }
  # one with a private number of records, the other without; one whose noise is not that of a released number
  expect_error(confint(more, covariance = s), class = "riemdp_error_argument")
  sized <- function(at) dp_covariance(x, M, 1, up, 0.5, at = at, neighbours = "add_remove")
  expect_error(confint(m, covariance = sized(m)), class = "riemdp_error_argument")
  expect_s3_class(confint(more, covariance = sized(more)), "riemdp_ellipsoid")
  steep <- dp_mean(x, M, 1, up, 0.5, neighbours = "add_remove", mechanism = "kng")
  expect_error(confint(steep, covariance = sized(steep)), class = "riemdp_error_unsupported")
  expect_error(region_contains(m, up), class = "riemdp_error_argument")
  broken <- confint(m, covariance = s)
  broken$shape <- NULL
  expect_error(region_contains(broken, up), class = "riemdp_error_argument")
  expect_error(region_contains(confint(m), c(1, 1, 1)), class = "riemdp_error_off_manifold")
  # one record, all alike, all at the edge
  for (x in list(rbind(up), rbind(up, up, up), rbind(c(sin(0.5), 0, cos(0.5)), c(-sin(0.5), 0, cos(0.5))))) {
    r <- dp_covariance(x, M, 1, up, 0.5, at = up)
    expect_true(all(is.finite(r$value)) && all(eigen(r$value, TRUE, TRUE)$values > -1e-9))
  }
})

test_that("with units it is the covariance of their means, and an ellipsoid holds the mean of the population of units as often as it says", {
  s <- AROUND$sphere
  x <- around(s, 60, 7)
  who <- rep(1:12, 5)
  means <- do.call(rbind, lapply(1:12, function(u) frechet_mean(x[who == u, ], s$M)$mean))
  at <- step(s, 0.3)
  v <- mf_coords(s$M, at, mf_log(s$M, at, means))
  for (neighbours in c("replace", "add_remove")) {
    r <- dp_covariance(x, s$M, 2^20, s$center, s$radius, at = at, unit = who, neighbours = neighbours)
    expect_lt(sqrt(sum((r$moment - crossprod(v) / 12)^2)), (if (neighbours == "replace") 1e-4 else 1e-3) * s$radius^2) # rows are rounded more there
    expect_identical(guarantee(r)$unit, "unit")
    expect_identical(guarantee(r)$adjacency, if (neighbours == "replace") "replace-one" else "add-remove")
    expect_match(r$target, "units' means")
  }
  expect_identical(r$n, NA_real_)
  expect_equal(r$size$count, 12)
  # what one unit, or one record of a private number, moves; and what that costs
  told <- function(...) dp_covariance(x, s$M, 1, s$center, s$radius, at = at, mechanism = "wishart", ...)
  expect_equal(told(unit = who)$draws$scale, 2)
  alone <- told(neighbours = "add_remove")
  expect_equal(alone$draws$epsilon, c(0.1, 0.9))
  expect_equal(alone$draws$scale[2], 1 / 0.9)
  expect_identical(guarantee(alone)$epsilon, 1)
  expect_match(format(alone)[1], "as released")
  none <- dp_covariance(x[0, ], s$M, 1, s$center, s$radius, at = at, neighbours = "add_remove")
  expect_identical(dim(none$value), c(2L, 2L))
  # units differ by more than their rows do
  runs <- if (quick()) 60 else 200
  held <- with_simulation(8, replicate(runs, {
    own <- matrix(stats::rnorm(300), 150) %*% diag(c(0.2, 0.03))
    x <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, own[rep(1:150, 3), ] + stats::rnorm(900, sd = 0.02)))
    m <- dp_mean(x, s$M, 10, s$center, s$radius, mechanism = "wrapped", post = FALSE, unit = rep(1:150, 3))
    region_contains(confint(m, covariance = dp_covariance(x, s$M, 10, s$center, s$radius, at = m, unit = rep(1:150, 3))), s$center)
  }))
  expect_gt(stats::pbinom(sum(held), runs, 0.95), 1e-6)
  m <- dp_mean(x, s$M, 1, s$center, s$radius, unit = who)
  other <- function(...) dp_covariance(x, s$M, 1, s$center, s$radius, at = m, ...)
  expect_error(confint(m, covariance = other(unit = rep(1:12, 5), neighbours = "add_remove")), class = "riemdp_error_argument")
  m <- dp_mean(x[1:12, ], s$M, 1, s$center, s$radius)
  expect_error(confint(m, covariance = dp_covariance(x, s$M, 1, s$center, s$radius, at = m, unit = who)), class = "riemdp_error_argument")
})

test_that("an ellipsoid counts what rounding rows to few bits takes from the covariance", {
  S <- diag(c(4, 1)) * 1e-4
  for (far in c(1e-3, 0.1)) {
    wide <- riemdp:::unrounded(S / 2, far, 2)
    # whatever was rounded by that much in one direction has its root mean square in it
    for (angle in seq(0, pi, length.out = 7)) {
      t <- c(cos(angle), sin(angle))
      expect_gte(drop(t %*% (2 * wide) %*% t), (sqrt(drop(t %*% S %*% t)) + far)^2 * (1 - 1e-12))
    }
  }
  expect_equal(riemdp:::unrounded(0 * S, 0.1, 1), diag(0.01, 2))
  # records closer together than the grid
  held <- with_simulation(4, vapply(1:15, function(i) {
    x <- cbind(0.3 + 3e-4 * rnorm(2e4), 0.2 + 3e-4 * rnorm(2e4))
    r <- dp_mean(x, euclidean(2), 2e4, c(0, 0), 1, neighbours = "add_remove")
    s <- dp_covariance(x, euclidean(2), 2e4, c(0, 0), 1, at = r, neighbours = "add_remove")
    region_contains(confint(r, covariance = s), rbind(c(0.3, 0.2)))
  }, NA))
  expect_gte(sum(held), 11) # 15 regions of level .95 hold fewer with probability 6e-5; .2 of them did without
})
