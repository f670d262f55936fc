# Laws around the mean on a lattice of hyperbolic space, with all of epsilon for the distance (R/mechanism-kng-lattice.R; inst/proofs/kng.md, section
# 10). Draws are compared within 5 standard errors (6e-7 each, some 40 of them).

AROUND <- c("laplace", "staircase")
pole <- function(d) c(1, rep(0, d))
around_plan <- function(n, epsilon, law, d = 2, radius = 1, sigma = NULL) {
  M <- hyperbolic(d)
  ask <- riemdp:::mean_ask(M, n, epsilon, pole(d), radius, 0, law, sigma, "proven", "ordinary", "lattice", 1e6, list())
  riemdp:::plan_one(M, ask, law, error = FALSE)
}
around_draws <- function(x, plan, count, d = 2) {
  bounds <- c(plan$numbers, list(gradient = plan$gradient, whole = plan$whole))
  with_simulation(1, .Call(riemdp:::riemdp_lattice_law_nonprivate, hyperbolic(d), x, pole(d), bounds, "laplace_truncated", 0,
                           c(plan$scale, plan$details$step, plan$details$first), count, TRUE))
}
at_coords <- function(a) mf_exp(hyperbolic(ncol(a)), pole(ncol(a)), mf_from_coords(hyperbolic(ncol(a)), pole(ncol(a)), a))
energy_of <- function(plan) {
  if (is.null(plan$details$step)) return(function(rho) rho / plan$scale)
  function(rho) pmax(0, ceiling((rho - plan$details$first) / plan$details$step)) * plan$details$step / plan$scale
}

test_that("draws have the law around the mean, wherever that lies", {
  # so wide that without the volume in the weights draws would be 10 standard errors nearer to the centre
  count <- if (quick()) 2e4 else 1.5e4
  for (d in c(2, if (!quick()) 4)) for (law in AROUND[seq_len(if (d == 2) 2 else 1)]) {
    plan <- around_plan(30, c(0.5, NA, 1.33)[d - 1], law, d)
    rho <- plan$details$reach * (seq_len(2e5) - 0.5) / 2e5
    w <- sinh(rho)^(d - 1) * exp(-energy_of(plan)(rho))
    moment <- function(k) sum(w * rho^k) / sum(w)
    for (at in c(if (d == 2 && !quick()) 0, 0.99)) {
      M <- hyperbolic(d)
      m <- at_coords(matrix(c(at, rep(0, d - 1)), 1))
      out <- around_draws(m, plan, count, d)
      expect_identical(out$clamped, 0)
      expect_gt(count / out$trials, 0.3 * plan$acceptance)
      far <- mf_dist(M, m, out$draws)
      expect_lt(abs(mean(far) - moment(1)), 5 * sqrt((moment(2) - moment(1)^2) / count), label = paste(law, d, at))
      expect_lt(abs(mean(far^2) - moment(2)), 5 * sqrt((moment(4) - moment(2)^2) / count), label = paste(law, d, at))
      # in any direction around the mean, not only around the centre
      towards <- mf_coords(M, m, mf_log(M, m, out$draws))
      expect_lt(max(abs(colMeans(towards))), 5 * sqrt(moment(2) / d / count))
      expect_lt(max(abs(colMeans(towards^2) / moment(2) * d - 1)), 5 * sqrt(3 * moment(4) / moment(2)^2 / count))
    }
  }
})

test_that("the loss of neighbours is what is promised, and nearly all of it: sums of weights are the same", {
  for (law in AROUND) {
    plan <- around_plan(20, 1, law)
    g <- polar_grid(2, plan$details$reach, c(800, 90, 0))
    y <- at_coords(g$a)
    rho <- sqrt(rowSums(g$a^2))
    far <- lapply(c(1, 1 - 2 / 20), function(at) mf_dist(hyperbolic(2), y, at_coords(matrix(c(at, 0), 1))))
    log_p <- lapply(far, function(rho) -energy_of(plan)(rho))
    sums <- vapply(log_p, function(l) sum(g$w * sinh(rho) / rho * exp(l)), 0)
    expect_lt(abs(log(sums[1] / sums[2])), 0.01) # of the grid
    loss <- max(abs(log_p[[1]] - log_p[[2]]))
    expect_lte(loss, 1)
    expect_gt(loss, 0.99)
  }
})

test_that("scales pay for sensitivity, rounding, the lattice's edge and cells", {
  for (law in AROUND) for (epsilon in c(1, 8)) for (n in c(30, 1e6)) {
    plan <- around_plan(n, epsilon, law)
    M <- hyperbolic(2)
    inner <- riemdp:::mean_steps(M, riemdp:::check_radius(M, 1, pole(2)), n)
    R <- plan$details$reach
    outer <- riemdp:::mean_steps(M, riemdp:::check_radius(M, R, pole(2)), 1)
    moved <- mean_sensitivity(M, n, 1, center = pole(2)) + 2 * inner$distance + 2 * outer$gradient + 40 * 2^-53 * R
    shells <- law == "staircase"
    if (shells) expect_gte(plan$details$step, as.numeric(moved))
    h <- 2^-52 * R
    off <- outer$gradient + 20 * 2^-53 * R + sinh(R) / R * h * sqrt(2) / 2
    steep <- if (shells) (exp(epsilon) - 1) / plan$details$step else 1 / plan$scale
    waste <- 2^-40 + 2 * off * steep + h * sqrt(2) + 2 * (1 + R) * 162 * 2^-53 + 2^-49
    expect_gte(plan$details$off, off)
    expect_gte(plan$details$waste, waste)
    expect_gte(plan$scale, as.numeric(moved + if (shells) 40 * 2^-53 * R else 0) / (epsilon - waste))
    expect_equal(plan$scale * epsilon, as.numeric(moved), tolerance = 1e-4)
    expect_equal(riemdp:::around_price(plan)$epsilon, epsilon, tolerance = 1e-9)
    expect_lte(riemdp:::around_price(plan)$epsilon, epsilon * (1 + 1e-12))
    # what lies beyond R for a mean at the edge, by antiderivatives of sinh(rho) exp(-rho/sigma); a staircase has up to exp(epsilon) of it
    share <- function(from, s) (exp(-from * (s - 1)) / (s - 1) - exp(-from * (s + 1)) / (s + 1)) / (1 / (s - 1) - 1 / (s + 1))
    expect_lte(share(R - 1, 1 / plan$scale), 2^-50 * if (shells) exp(-epsilon) else 1)
  }
  # by hand
  plan <- around_plan(1e6, NULL, "laplace", sigma = 0.01)
  total <- plan$sensitivity + plan$solver_error
  expect_gte(plan$guarantee$epsilon, total / 0.01 + plan$details$waste)
  expect_equal(plan$guarantee$epsilon, total / 0.01, tolerance = 1e-6)
})

test_that("the share that is kept is remembered of its own numbers", {
  for (case in list(c(2, 0.02, 2, 1e-9), c(3, 0.02, 2, 1e-9), c(2, 0.02 * (1 + 1e-9), 2, 1e-9), c(2, 0.02, 2.1, 1e-9), c(2, 0.02, 2, 1e-3))) {
    wide <- list(ball = list(radius = case[3]), steps = list(slope = case[4]))
    proposed <- .Call(riemdp:::riemdp_kng_proposed, case[1], case[3], 1, 0, 1 / case[2], 2 * case[4], 0, 0)
    law <- log(2) + case[1] / 2 * log(pi) - lgamma(case[1] / 2) + lgamma(case[1]) + case[1] * log(case[2])
    for (time in 1:2) {
      expect_equal(log(riemdp:::around_kept(case[1], case[2], wide)), law - (case[1] - 1) * log(sinh(case[3]) / case[3]) - proposed, tolerance = 1e-12)
    }
  }
})

test_that("releases: label, error, region, chunks, and what is refused", {
  M <- hyperbolic(2)
  o <- pole(2)
  x <- at_coords(with_simulation(2, matrix(stats::runif(120, -0.7, 0.7), 60)))
  m <- frechet_mean(x, M)$mean
  for (law in AROUND) {
    run <- function(x, ...) dp_mean(x, M, 2, o, 1, mechanism = law, post = FALSE, ...)
    r <- run(x)
    expect_identical(unlist(guarantee(r)[c("label", "numerics", "sampler")], use.names = FALSE), c("pure", "lattice", "exact"))
    expect_match(guarantee(r)$assumptions, "exp is right to", all = FALSE)
    expect_output(explain(r), "proofs/kng.md,\\s+section\\s+10")
    # as with doubles, and less than noise at the centre
    expect_equal(r$expected_error, run(x, numerics = "real")$expected_error, tolerance = 1e-6)
    expect_lt(r$expected_error, 0.93 * dp_mean(x, M, 2, o, 1, mechanism = "wrapped", post = FALSE)$expected_error)
    count <- if (quick()) 200 else 500
    far <- lapply(list(x, chunks(x, 25)), function(x) with_simulation(3, replicate(count, mf_dist(M, m, run(x)$value))))
    for (f in far) expect_lt(abs(mean(f) - r$expected_error), 5 * stats::sd(f) / sqrt(count))
    q <- confint(r, level = 0.9)$radius
    expect_gt(mean(unlist(far) <= q), 0.9 - 5 * sqrt(0.09 / (2 * count)))
    expect_lt(mean(unlist(far) <= q), 0.9 + 5 * sqrt(0.09 / (2 * count)) + 0.02)
    expect_error(run(x, numerics = "lattice", timing = "constant"), "constant time", class = "riemdp_error_unsupported")
    expect_identical(guarantee(run(x, timing = "constant"))$numerics, "real-valued")
    expect_error(run(x, numerics = "lattice", options = list(k = 20)), "no `options`", class = "riemdp_error_unsupported")
    expect_error(run(x, numerics = "lattice", max_trials = 1), "trials on a lattice", class = "riemdp_error_unsupported")
    wide <- function(radius, epsilon) dp_mean(x, M, epsilon, o, radius, mechanism = law, numerics = "lattice")
    expect_error(wide(14, 8), "up to 15", class = "riemdp_error")
    expect_error(wide(1, 0.01), class = "riemdp_error_existence")
    expect_identical(guarantee(run(x, neighbours = "add_remove"))$label, "pure")
    expect_error(dp_mean(x[1:5, ], sphere(2), 1, c(0, 0, 1), 0.3, mechanism = law, numerics = "lattice"), class = "riemdp_error")
  }
  expect_lt(min(as.data.frame(dp_mean_plan(M, 100, 1, radius = 1))$expected_error, na.rm = TRUE) * 1.02, 0.041)
  plan <- as.data.frame(dp_mean_plan(M, 100, 1, radius = 1))
  expect_identical(plan$numerics[plan$chosen], "lattice")
  expect_lt(plan$expected_error[plan$chosen], 1.05 * min(plan$expected_error, na.rm = TRUE))
})
