# Moving a noisy mean towards the public centre: inst/proofs/shrinkage.md.

flat <- function(M, scale, radius, error, truncated = NULL) riemdp:::shrinkage(M, list(energy = function(rho) rho / scale, truncated = truncated),
                                                                              radius, error)


test_that("the rule is the posterior mean in flat space", {
  # on a line: t uniform on both sides, by integrate()
  for (case in list(c(0.3, 1), c(1, 1), c(0.2, 0.4))) {
    s <- flat(euclidean(1), case[1], case[2], case[1])
    far <- case[2] + min(case[1], case[2]) / 2
    for (rho in c(0.1, 0.5, 1, 2)) {
      w <- function(t) exp(-abs(rho - t) / case[1])
      cut <- sort(c(-far, far, if (rho < far) rho))
      whole <- function(f) sum(vapply(seq_len(length(cut) - 1), function(i) stats::integrate(f, cut[i], cut[i + 1], rel.tol = 1e-10)$value, 0))
      expect_equal(riemdp:::guessed_length(s$law, s$prior, rho), max(0, min(rho, whole(function(t) t * w(t)) / whole(w))), tolerance = 2e-3)
    }
  }
  # in R^3, normal noise of a truncated law too: by a sum over a fine grid of t and angles
  M <- euclidean(3)
  for (truncated in c(FALSE, TRUE)) {
    law <- list(energy = function(rho) rho^2 / (2 * 0.3^2), truncated = truncated)
    error <- if (truncated) 0.6 else 0.3 * sqrt(8 / pi)
    s <- riemdp:::shrinkage(M, law, 1, error)
    t <- (seq_len(400) - 0.5) / 400 * (1 + error / sqrt(3) / 2)
    u <- (seq_len(400) - 0.5) / 200 - 1 # cosines are uniform in three dimensions
    inside <- vapply(t, function(t) {
      rho <- (seq_len(400) - 0.5) / 400
      if (truncated) sum(outer(rho, u, function(a, u) a^2 * exp(-(a^2 + t^2 - 2 * a * t * u) / 0.18))) else 1
    }, 0)
    for (rho in c(0.2, 0.7, 1.2)[1:(3 - truncated)]) {
      w <- outer(t, u, function(t, u) exp(-(t^2 + rho^2 - 2 * t * rho * u) / 0.18)) / inside
      expect_equal(riemdp:::guessed_length(s$law, s$prior, rho), sum(w * outer(t, u)) / sum(w), tolerance = 1e-3)
    }
  }
})

test_that("planned errors are those of releases", {
  skip_if(quick())
  rounds <- 150
  cases <- list(
    list(euclidean(6), rep(0, 6), 1, 40, "laplace"), list(sphere(2), c(0, 0, 1), 0.5, 15, "laplace"), list(spd(3), diag(3), 1, 20, "laplace"),
    list(hyperbolic(2), c(1, 0, 0), 1, 12, "staircase"), list(sphere(10), c(rep(0, 10), 1), 0.7, 60, "wrapped_gaussian"),
    list(grassmann(5, 2), diag(5)[, 1:2], 0.3, 20, "wrapped"), list(euclidean(6), rep(0, 6), 1, 40, "wrapped")
  )
  for (case in cases) {
    M <- case[[1]]
    r <- case[[3]]
    for (t in c(0, 2, 4)) {
      m <- riemdp:::public_point(M, mf_exp(M, case[[2]], mf_from_coords(M, case[[2]], c(r * t / 4 * (1 - 1e-9), rep(0, mf_facts(M)$dimension - 1)))))
      x <- if (is.matrix(m)) array(m, c(dim(m), case[[4]])) else matrix(m, case[[4]], length(m), byrow = TRUE)
      found <- with_simulation(1 + t, lapply(seq_len(rounds), function(i) {
        dp_mean(x, M, 1, case[[2]], r, mechanism = case[[5]], delta = if (case[[5]] == "wrapped_gaussian") 1e-5 else 0)
      }))
      errors <- vapply(found, function(f) mf_dist(M, f$value, m), 0)
      raw <- vapply(found, function(f) mf_dist(M, f$released, m), 0)
      planned <- found[[1]]$errors[1 + t]
      # normal tails at 1e-6 each, and 5 % for triangles that are flat ones
      expect_lt(abs(mean(errors) - planned), 4.9 * sd(errors) / sqrt(rounds) + 0.05 * planned)
      expect_lt(mean(errors - raw), 4.9 * sd(errors - raw) / sqrt(rounds) + 0.05 * found[[1]]$noise_error)
      expect_identical(found[[1]]$expected_error, max(found[[1]]$errors))
    }
  }
})

# mean error of releases of records at one point, `far` of the radius from the centre, and the largest that noise allows
measured_error <- function(M, center, radius, n, epsilon, mechanism, direction, far, rounds, delta = 0) {
  m <- riemdp:::public_point(M, mf_exp(M, center, mf_from_coords(M, center, direction * radius * far * (1 - 1e-9))))
  x <- if (is.matrix(m)) array(m, c(dim(m), n)) else matrix(m, n, length(m), byrow = TRUE)
  found <- with_simulation(7, lapply(seq_len(rounds), function(i) dp_mean(x, M, epsilon, center, radius, mechanism = mechanism, delta = delta)))
  errors <- vapply(found, function(f) mf_dist(M, f$value, m), 0)
  list(stated = found[[1]]$expected_error, mean = mean(errors), se = sd(errors) / sqrt(rounds), errors = found[[1]]$errors)
}

test_that("the worst mean is where exp stretches most, and a lattice's points lie further out than volume has them", {
  expect_identical(riemdp:::most_stretched(product(sphere(2), hyperbolic(2))), c(0, 0, 1, 0))
  expect_identical(riemdp:::most_stretched(product(hyperbolic(2), sphere(2))), c(1, 0, 0, 0))
  # even in coordinates: measured at the edge 2.6, and 2.0 by volume
  stated <- function(numerics) dp_mean_plan(hyperbolic(2), 30, 1, radius = 6, mechanism = "kng", numerics = numerics)$expected_error
  expect_gt(stated("lattice"), 1.2 * stated("real"))
})

test_that("no stated error is below that of records at one point at the ball's edge or centre where curvature is negative", {
  rounds <- if (quick()) 40 else 100
  H <- hyperbolic(2)
  P <- product(sphere(2), hyperbolic(2))
  cases <- list(list(H, c(1, 0, 0), 1, 30, 1, 1), list(H, c(1, 0, 0), 3, 30, 1, 1), list(H, c(1, 0, 0), 6, 30, 4, 1), list(spd(2), diag(2), 1, 20, 1, 2),
                list(spd(2), diag(2), 3, 20, 1, 2), list(spd(3), diag(3), 1, 20, 1, 3), list(spd(3), diag(3), 3, 20, 1, 3),
                list(P, c(0, 0, 1, 1, 0, 0), 0.7, 20, 1, 4))
  for (case in cases) {
    M <- case[[1]]
    d <- mf_facts(M)$dimension
    # on the hyperboloid's part of a product, and where the largest and the smallest eigenvalue part
    u <- switch(case[[6]], c(1, 0), as.vector(mf_coords(M, diag(2), diag(c(1, -1)) / sqrt(2))),
                as.vector(mf_coords(M, diag(3), diag(c(1, -1, 0)) / sqrt(2))), c(0, 0, 1, 0))
    laws <- c("wrapped", "wrapped_staircase", if (case[[6]] == 1) c("staircase", "kng", "staircase_truncated"))
    if (quick() && case[[6]] != 1) laws <- laws[1]
    for (law in laws) for (far in c(0, 1)) {
      if (law == "staircase" && case[[3]] > 2 && case[[5]] < 2) next # few trials are kept: slow
      e <- measured_error(M, case[[2]], case[[3]], case[[4]], case[[5]], law, u, far, rounds)
      # 70 comparisons at 1e-6 each
      expect_lt(e$mean - 4.9 * e$se, e$stated, label = paste(label_of(M), case[[3]], law, far))
      if (far == 1) expect_lt(e$stated, (e$mean + 4.9 * e$se) * 1.15)
    }
  }
})

test_that("what exp stretches is in errors of moved draws, by quadrature in hyperbolic space", {
  # draws of this file's own: noise of a gamma's length in the plane, moved by the rule, distances by the law of cosines
  scale <- 0.4
  s <- riemdp:::shrinkage(hyperbolic(2), list(energy = function(rho) rho / scale, flat = TRUE), 3, 4.2)
  with_seed <- with_simulation(3, {
    len <- rgamma(2e5, 2, scale = scale)
    phi <- runif(2e5, 0, 2 * pi)
    lapply(c(0, 1.5, 3), function(t) {
      y <- cbind(t + len * cos(phi), len * sin(phi))
      rho <- sqrt(rowSums(y^2))
      grid <- seq(0, max(rho), length.out = 300)
      h <- stats::approx(grid, riemdp:::guessed_length(s$law, s$prior, grid), rho)$y
      acosh(pmax(1, cosh(h) * cosh(t) - sinh(h) * sinh(t) * y[, 1] / rho))
    })
  })
  for (i in 1:3) expect_lt(abs(mean(with_seed[[i]]) - s$errors[2 * i - 1]), 5 * sd(with_seed[[i]]) / sqrt(2e5) + 0.01 * s$errors[2 * i - 1])
  expect_gt(s$errors[5], 2 * s$errors[1])
  # where curvature isn't negative triangles are flat ones, as they were
  for (M in list(sphere(2), kendall(4), euclidean(3))) {
    d <- mf_facts(M)$dimension
    law <- list(energy = function(rho) rho / 0.1, flat = TRUE)
    expect_identical(riemdp:::shrinkage(M, law, 0.35, 0.1 * d)$errors, riemdp:::shrinkage(euclidean(d), law, 0.35, 0.1 * d)$errors)
  }
})

test_that("auto takes what errs less at the edge and for records at one point", {
  taken <- function(...) {
    plan <- dp_mean_plan(hyperbolic(2), ...)
    plan$mechanism[plan$chosen]
  }
  # it took wrapped_staircase for .153 and .102, which erred by 2.05 and .396 at the edge, and "kng" for .048 and .178, with .16 and .39 of one point
  expect_identical(taken(30, 4, radius = 6), "staircase")
  expect_identical(taken(30, 4, radius = 4), "staircase")
  expect_identical(taken(100, 4, radius = 8), "staircase")
  expect_true(taken(100, 1, radius = 5) %in% c("staircase", "laplace"))
  plan <- dp_mean_plan(hyperbolic(2), 100, 4, radius = 8)
  kng <- plan$expected_error[plan$mechanism == "kng"]
  e <- measured_error(hyperbolic(2), c(1, 0, 0), 8, 100, 4, "kng", c(1, 0), 0, if (quick()) 60 else 200)
  expect_lt(abs(e$mean - kng), 4.9 * e$se + 0.05 * kng)
})

test_that("small noise, laws set by hand and post = FALSE leave the draw as it is", {
  x <- matrix(0.1, 40, 6)
  ask <- function(...) with_simulation(3, dp_mean(x, euclidean(6), center = rep(0, 6), radius = 1, mechanism = "laplace", ...))
  moved <- ask(epsilon = 1)
  raw <- ask(epsilon = 1, post = FALSE)
  expect_identical(moved$released, raw$value)
  expect_null(raw$released)
  expect_null(raw$errors)
  expect_identical(raw$expected_error, moved$noise_error)
  expect_identical(raw$noise_error, moved$noise_error)
  expect_lt(moved$expected_error, raw$expected_error)
  # on the way to the draw, by the rule
  s <- flat(euclidean(6), moved$scale, 1, moved$noise_error)
  rho <- sqrt(sum(raw$value^2))
  expect_equal(moved$value, raw$value * riemdp:::guessed_length(s$law, s$prior, rho) / rho, tolerance = 1e-9)
  expect_lt(sum(moved$value^2), rho^2)
  # nothing else changes: the price, the guarantee, the region
  expect_identical(moved[c("guarantee", "draws", "scale", "budget")], raw[c("guarantee", "draws", "scale", "budget")])
  expect_identical(confint(moved)[c("center", "radius", "level", "basis")], confint(raw)[c("center", "radius", "level", "basis")])
  expect_output(print(confint(moved)), "point drawn, of which the value\\s+was made")
  expect_output(print(moved), "post-processed: moved towards the centre of the ball by [.0-9]+ % of its distance from it")
  expect_output(print(moved), "at most")
  expect_output(explain(moved), "a\\s+guess\\s+of\\s+the\\s+mean\\s+from\\s+the\\s+noise's\\s+law")
  expect_null(ask(epsilon = 10)$released)
  expect_null(ask(sigma = 0.05)$released)
  expect_null(ask(epsilon = 1, calibration = "paper")$released)
  expect_null(dp_mean(x, euclidean(6), 1, rep(0, 6), 1, mechanism = "tangent")$released)
  expect_error(ask(epsilon = 1, post = 1), class = "riemdp_error_argument")
  # what stays where it was drawn says so, in an object of the same parts; an error that isn't known is no "NA at most"
  still <- dp_mean(x, euclidean(6), 100, rep(0, 6), 1, neighbours = "add_remove")
  expect_setequal(names(still), names(dp_mean(x, euclidean(6), 1, rep(0, 6), 1, neighbours = "add_remove")))
  expect_output(print(still), "post-processed: left where it was drawn")
  expect_false(any(grepl("at most|half-way|moved towards", format(still))))
  kng <- format(dp_mean(x, euclidean(6), 1, rep(0, 6), 1, neighbours = "add_remove", mechanism = "kng"))
  expect_false(any(grepl("\\bNA\\b", kng)))
  expect_true(any(grepl("error of the privacy noise not known: it depends on the number of records", kng)))
})

test_that("no release is worse than its centre at the worst, whatever the noise, and none worse than the draw by more than 5 %", {
  for (d in c(1, 2, 5, 30)) for (error in c(0.11, 0.3, 1, 10, 1e4)) for (truncated in c(FALSE, TRUE)) {
    s <- flat(euclidean(d), error / d, 1, error, truncated)
    if (is.null(s)) next
    expect_true(all(is.finite(s$errors)))
    expect_lte(max(s$errors), 1)
    expect_lte(max(s$errors), 1.05 * error)
    # noise of many dimensions has its own length, so little is left at the centre
    if (d == 30 && !truncated) expect_lt(s$errors[1], 0.35 * min(1, error))
  }
  expect_null(flat(euclidean(3), 0.01, 1, 0.099))
  expect_null(flat(euclidean(3), 0.01, 1, NA_real_))
})

test_that("noise of any size is planned", {
  for (M in list(hyperbolic(1), hyperbolic(2), hyperbolic(9), sphere(1), spd(4), kendall(30))) {
    for (epsilon in c(1e-6, 0.3)) for (radius in c(1e-6, 0.3)) {
      plan <- dp_mean_plan(M, 1, epsilon, radius = radius, delta = 1e-6)
      moved <- grepl("largest error", plan$note)
      expect_true(any(!is.na(plan$expected_error)))
      expect_true(all(plan$expected_error[moved] <= 1.02 * radius), label = paste(label_of(M), epsilon, radius))
    }
  }
})

test_that("auto plans with what is left of the error, also where records or groups are few in number or private", {
  # a law on the ball has twice the scale, but errs by no more than the ball: until the draw is moved
  plan <- function(post) dp_mean_plan(euclidean(20), 20, 1, radius = 1, post = post, numerics = "real")
  chosen <- function(p) p$mechanism[p$chosen]
  expect_identical(chosen(plan(FALSE)), "kng")
  expect_identical(chosen(plan(TRUE)), "laplace")
  expect_lt(min(plan(TRUE)$expected_error, na.rm = TRUE), 1)
  expect_output(print(plan(TRUE)), "laplace: the largest error over all means in the ball")
  expect_no_match(plan(FALSE)$note, "largest error")
  x <- matrix(0.01, 25, 20)
  r <- dp_mean(x, euclidean(20), 1, rep(0, 20), 1)
  expect_identical(r$mechanism, "laplace")
  expect_identical(guarantee(r)$numerics, "lattice")
  expect_lt(sqrt(sum(r$value^2)), 1)
  sized <- dp_mean(x, euclidean(20), 1, rep(0, 20), 1, neighbours = "add_remove", mechanism = "wrapped")
  expect_false(is.null(sized$released))
  expect_lt(sized$expected_error, sized$noise_error)
  groups <- dp_mean(x, euclidean(20), 1, rep(0, 20), 1, by = rep_len(c("a", "b"), 25), levels = c("a", "b"))
  for (g in c("a", "b")) expect_false(is.null(groups[[g]]$released))
  d <- mean_difference(groups, "a", "b")
  expect_identical(d$from, groups[["a"]]$released)
  # a ball found by the first stages is what the draw is moved towards
  adaptive <- with_simulation(1, dp_mean(matrix(0.3, 30, 3), euclidean(3), 1, rep(0, 3), 1, mechanism = "adaptive"))
  expect_false(is.null(adaptive$released))
  expect_lt(sum((adaptive$value - adaptive$details$released_center)^2), sum((adaptive$released - adaptive$details$released_center)^2))
})
