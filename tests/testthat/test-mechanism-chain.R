# Markov chains. Errors of means from batch means: with 40 batches a deviation of 6.5 standard errors has a false-alarm rate of
# 1e-7 (t with 39 degrees of freedom); some fifty comparisons, so below 1e-5 together. Batches are much longer than the
# correlation (effective sizes are in the thousands), except where the comment says so.

chain_length <- function(full) if (quick()) 400 else full

# matrix of states (iterations x chains): mean and standard error
batch_mean <- function(x, batches = 40) {
  x <- as.matrix(x)
  per <- batches / ncol(x)
  size <- floor(nrow(x) / per)
  b <- apply(x[seq_len(size * per), , drop = FALSE], 2, function(column) colMeans(matrix(column, size)))
  c(mean = mean(b), se = sd(b) / sqrt(length(b)))
}

expect_mean <- function(x, value, slack = 0) {
  b <- batch_mean(x)
  expect_lt(abs(b[["mean"]] - value), 6.5 * b[["se"]] + slack)
}

test_that("volume densities are symmetric, so isotropic proposals need no Hastings factor", {
  for (case in all_manifolds()) {
    if (mf_facts(case$M)$dimension > 10) next
    s <- law_pairs(case, 4)
    there <- mf_log_density(case$M, s$p, mf_log(case$M, s$p, s$q))
    back <- mf_log_density(case$M, s$q, mf_log(case$M, s$q, s$p))
    expect_lt(max(abs(there - back) / (1 + abs(there))), 1e-5)
  }
})

# n records, all at the point o: the gradient is the distance from o, and both targets are the Laplace law around it
at_one_point <- function(M, o, n) {
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$cols > 0) array(o, c(facts$rows, facts$cols, n)) else
    if (facts$rows > 0) matrix(o, length(o), n) else matrix(o, n, length(o), byrow = TRUE)
}

test_that("the isotropic chain has the law of the exact Laplace sampler", {
  cases <- list(
    list(M = sphere(2), sigma = 0.15, r = 0.5), list(M = sphere(1), sigma = 0.3, r = 0.5),
    list(M = sphere(9), sigma = 0.05, r = 0.5),
    list(M = spd(2), sigma = 0.3, r = 1), list(M = spd(3), sigma = 0.1, r = 1), list(M = hyperbolic(2), sigma = 0.3, r = 1),
    list(M = hyperbolic(3, "ball"), sigma = 0.1, r = 1), list(M = kendall(5), sigma = 0.05, r = 0.3),
    list(M = spd(2, "logeuclidean"), sigma = 0.3, r = 1), list(M = euclidean(3), sigma = 0.5, r = 1)
  )
  for (case in cases) {
    M <- case$M
    o <- record(M, with_simulation(4, mf_random(M, 1)), 1)
    x <- at_one_point(M, o, 2)
    exact <- with_simulation(1, .Call(riemdp:::riemdp_laplace_radii, M, if (quick()) 2000 else 50000, case$sigma, TRUE))
    for (target in c("laplace", "kng")) {
      chain <- with_simulation(2, nonprivate_chain(x, M, case$sigma, o, case$r, target = target, truncate = FALSE,
                                                   iterations = chain_length(8000), burn_in = 500))
      rho <- chain$variables[, , "distance"]
      # slack: five standard errors of the exact draws
      expect_mean(rho, mean(exact), 5 * sd(exact) / sqrt(length(exact)))
      for (q in quantile(exact, c(0.25, 0.75))) expect_mean(rho <= q, mean(exact <= q), 2.5 / sqrt(length(exact)))
      expect_true(all(chain$acceptance > 0.15 & chain$acceptance < 0.8))
      expect_equal(as.vector(chain$variables[, , "log_density"]), -as.vector(rho) / case$sigma, tolerance = 1e-6)
    }
  }
})

test_that("the gradient's chain has its exact mean distance on positive definite matrices, dropping rejections has not", {
  # n = 50, r = 1.5, scale 4r/n: .349 by exact rejection sampling (standard error .001)
  x <- wishart_spd[, , 1:50]
  run <- function(...) with_simulation(3, nonprivate_chain(x, spd(2), 0.12, diag(2), 1.5, iterations = chain_length(5000), ...))
  right <- run()$variables[, , "distance"]
  expect_mean(right, 0.349, 0.004)
  skip_if(quick())
  # the same proposals, rejected candidates drawn again: the density times the probability of acceptance
  dropped <- batch_mean(run(redraw = TRUE)$variables[, , "distance"])
  expect_gt(dropped[["mean"]] - 10 * dropped[["se"]], 0.36)
  # as published, in short runs from the mean of the records: far above the exact mean
  published <- with_simulation(4, nonprivate_chain(x, spd(2), 0.12, diag(2), 1.5, proposal = "published", start = "mean",
                                                   chains = 100, burn_in = 1500,
                                                   iterations = 100, thin = 10))
  each <- colMeans(published$variables[, , "distance"])
  # chains are independent: t with 99 degrees of freedom
  expect_gt(mean(each) - 6 * sd(each) / 10, 0.36)
  # a small step stays near the mean of the records, whatever the density: a leak
  short <- with_simulation(5, nonprivate_chain(x, spd(2), 0.12, diag(2), 1.5, proposal = "published", step = 0.01, start = "mean",
                                               burn_in = 100, iterations = 50))
  expect_lt(max(short$variables[, , "distance"]), 0.3 * 0.349)
})

# stationary law of a transition matrix
stationary <- function(k) {
  n <- nrow(k)
  solve(rbind(t(diag(n) - k)[-n, ], 1), c(numeric(n - 1), 1))
}

test_that("chains as published have the limits of their transition kernels, found on a grid", {
  # 1 x 1 matrices in y = log x: candidates uniform on y +- exp(-y) w/2, density exp(-|y|/sigma) around records at 1
  sigma <- 0.25
  step <- 3
  w <- step * sigma
  y <- seq(-2.2, 3.3, length.out = 551)
  h <- y[2] - y[1]
  half <- exp(-y) * w / 2
  propose <- pmin(pmax((half - abs(outer(y, y, "-"))) / h + 0.5, 0), 1) * h / (2 * half)
  accept <- pmin(exp((outer(abs(y), rep(1, length(y))) - outer(rep(1, length(y)), abs(y))) / sigma), 1)
  move <- propose * accept
  kept <- move
  diag(kept) <- diag(kept) + 1 - rowSums(move)
  dropped <- move / rowSums(move)
  x <- array(1, c(1, 1, 3))
  for (redraw in c(FALSE, TRUE)) {
    p <- stationary(if (redraw) dropped else kept)
    expect_true(all(p > -1e-12) && sum(p[y < -2.1 | y > 3.2]) < 1e-3) # the grid holds the law
    chain <- with_simulation(6, nonprivate_chain(x, spd(1), sigma, matrix(1), 1, proposal = "published", redraw = redraw,
                                                 step = step, iterations = chain_length(20000), thin = 2))
    z <- log(matrix(chain$draws, ncol = 4))
    expect_mean(z, sum(p * y), 0.005)
    expect_mean(z > 0.2, sum(p[y > 0.2]), 0.005)
    # and not the density's: Laplace would be symmetric
    expect_gt(abs(sum(p[y > 0.2]) - exp(-0.2 / sigma) / 2), 0.04)
  }
})

test_that("dropping rejected candidates multiplies the density by the probability of acceptance", {
  sigma <- 0.5
  step <- 1.5
  x <- seq(-12, 12, length.out = 2401)
  a <- vapply(x, function(s) {
    integrate(function(v) dnorm(v, 0, step) * pmin(1, exp((abs(s) - abs(s + v)) / sigma)), -8 * step, 8 * step,
              subdivisions = 1000)$value
  }, 0)
  p <- exp(-abs(x) / sigma) * a
  chain <- with_simulation(7, nonprivate_chain(c(0, 0), euclidean(1), sigma, 0, 1, redraw = TRUE, step = step,
                                               iterations = chain_length(20000)))
  expect_mean(chain$variables[, , "distance"], sum(p * abs(x)) / sum(p), 1e-3)
  expect_gt(sum(p * abs(x)) / sum(p), 1.1 * sigma)
})

test_that("on the sphere the published candidates are symmetric: with all states kept the law is right", {
  o <- c(0, 0, 1)
  exact <- expected_error(sphere(2), 0.1)
  run <- function(redraw) {
    with_simulation(8, nonprivate_chain(rbind(o, o), sphere(2), 0.1, o, 0.3, target = "laplace", proposal = "published",
                                        redraw = redraw, step = 2, iterations = chain_length(10000), thin = 3))$variables[, , "distance"]
  }
  expect_mean(run(FALSE), exact, 1e-3)
  skip_if(quick())
  b <- batch_mean(run(TRUE))
  expect_gt(b[["mean"]] - 6.5 * b[["se"]], exact)
})

test_that("a truncated chain stays in the ball and has the truncated law", {
  chain <- with_simulation(9, nonprivate_chain(matrix(0, 3, 2), euclidean(2), 1, c(0, 0), 1.5, truncate = TRUE,
                                               iterations = chain_length(10000)))
  rho <- chain$variables[, , "distance"]
  expect_lte(max(rho), 1.5)
  f <- function(r, p) r^(1 + p) * exp(-r)
  expect_mean(rho, integrate(f, 0, 1.5, p = 1)$value / integrate(f, 0, 1.5, p = 0)$value)
  far <- nonprivate_chain(mf_random(sphere(2), 5), sphere(2), 5, c(0, 0, 1), 0.3, iterations = 200)
  expect_lte(max(mf_dist(sphere(2), c(0, 0, 1), far$draws)), 0.3 * (1 + 1e-12))
  expect_true(far$truncate)
})

test_that("published candidates on planar shapes, and chains on other manifolds, run", {
  chain <- nonprivate_chain(callosa[, , 1:10], kendall(50), 0.01, callosa[, , 11], 0.3, proposal = "published",
                            iterations = 50, burn_in = 50)
  expect_true(all(mf_is_point(kendall(50), chain$draws)))
  for (M in list(stiefel(3, 2), grassmann(4, 2), spd(2, "bures"), custom_sphere(2))) {
    o <- if (M$name == "spd_bures") diag(2) else if (M$name == "custom") c(0, 0, 1) else diag(4)[seq_len(M$param[1]), 1:2]
    x <- mf_exp(M, o, mf_from_coords(M, o, matrix(rnorm(5 * mf_facts(M)$dimension) * 0.05, 5)))
    chain <- nonprivate_chain(x, M, 0.02, o, 0.25, iterations = 60, burn_in = 10)
    expect_true(all(mf_is_point(M, chain$draws)))
    expect_true(all(chain$acceptance > 0))
    expect_error(nonprivate_chain(x, M, 0.02, o, 0.25, proposal = "published"), class = "riemdp_error_unsupported")
  }
})

test_that("diagnostics by posterior", {
  skip_if_not_installed("posterior")
  x <- mf_exp(sphere(2), c(0, 0, 1), matrix(c(0.1, 0, 0, 0, 0.1, 0), 2, byrow = TRUE))
  good <- with_simulation(10, nonprivate_chain(x, sphere(2), 0.05, c(0, 0, 1), 0.3, iterations = 1000))
  s <- summary(good)
  expect_setequal(s$variable, c("log_density", "distance", "coord[1]", "coord[2]"))
  if (!quick()) {
    expect_true(all(s$rhat < 1.05))
    expect_true(all(s$ess_bulk > 200 & s$ess_tail > 200))
  }
  expect_equal(s$mean[2], mean(good$variables[, , "distance"]))
  expect_identical(dim(posterior::as_draws(good)), dim(good$variables))
  # steps far too small: chains don't leave their starts
  stuck <- with_simulation(11, nonprivate_chain(x, sphere(2), 0.05, c(0, 0, 1), 0.3, iterations = 200, step = 1e-4, burn_in = 0))
  expect_gt(max(summary(stuck)$rhat), 1.5)
  expect_output(print(stuck), "NOT PRIVATE")
})

test_that("shapes of draws, simulation and arguments", {
  run <- function(x, M, center, ...) nonprivate_chain(x, M, 0.1, center, 0.3, chains = 2, iterations = 5, burn_in = 1, ...)
  expect_identical(dim(run(wishart_spd[, , 1:3], spd(2), diag(2))$draws), c(2L, 2L, 10L))
  expect_identical(dim(run(callosa[, , 1:3], kendall(50), callosa[, , 4])$draws), c(50L, 10L))
  expect_length(run(c(1, 2), euclidean(1), 0)$draws, 10)
  one <- with_simulation(1, run(c(1, 2), euclidean(1), 0))
  expect_identical(one, with_simulation(1, run(c(1, 2), euclidean(1), 0)))
  expect_error(run(c(1, NA), euclidean(1), 0), class = "riemdp_error_not_finite")
  expect_error(run(c(1, 2), euclidean(1), 0, start = "nowhere"), class = "riemdp_error_argument")
  expect_error(run(c(1, 2), euclidean(1), 0, step = -1), class = "riemdp_error_argument")
})

test_that("as a mechanism a chain is never private and gives one state", {
  x <- wishart_spd[, , 1:50]
  for (target in c("kng", "laplace")) for (proposal in c("isotropic", "published")) {
    r <- dp_mean(x, spd(2), 1, diag(2), 1.5, mechanism = "chain",
                 options = list(target = target, proposal = proposal, burn_in = 50))
    expect_identical(guarantee(r)$label, "none")
    expect_identical(guarantee(r)$epsilon, Inf)
    expect_match(guarantee(r)$reason, "Markov chain")
    expect_identical(guarantee(r)$sampler, "chain")
    expect_true(mf_is_point(spd(2), r$value))
    expect_output(explain(r), "nothing is promised")
  }
  # scales: 2 sensitivity/epsilon for the gradient, as published sensitivity/epsilon on the sphere
  scale <- function(M, center, radius, ...) dp_mean(mf_random(M, 50), M, 1, center, radius, mechanism = "chain", ...)$scale
  quickly <- list(burn_in = 1)
  expect_equal(scale(spd(2), diag(2), 1.5, options = quickly), 4 * 1.5 / 50, tolerance = 1e-9)
  h <- (pi / 4) / tan(pi / 4)
  expect_equal(scale(sphere(2), c(0, 0, 1), pi / 8, calibration = "paper", options = quickly), pi / 4 * (2 - h) / 50,
               tolerance = 1e-9)
  # where the papers have no chain of their own, their rule for the others
  expect_equal(scale(euclidean(2), c(0, 0), 1.5, calibration = "paper", options = quickly), 4 * 1.5 / 50, tolerance = 1e-9)
  # the gradient's proven range: 1.0265 times 2r at r = pi/8
  expect_equal(scale(sphere(2), c(0, 0, 1), pi / 8, options = quickly), 2 * 1.0265 * pi / 4 / 50, tolerance = 1e-4)
  # distances of last states: the law's mean at n = 50 (300 independent runs: a standard error of .013)
  skip_if(quick())
  m <- frechet_mean(x, spd(2))$mean
  d <- with_simulation(12, replicate(300, mf_dist(spd(2), m, dp_mean(x, spd(2), 1, diag(2), 1.5, mechanism = "chain",
                                                                     options = list(burn_in = 300))$value)))
  expect_lt(abs(mean(d) - 0.349), 5 * sd(d) / sqrt(300))
})
