# Laws around the mean on a lattice of spaces without positive curvature, with all of epsilon for the distance (R/mechanism-kng-lattice.R;
# inst/proofs/kng.md, section 10). Draws are compared within 5 standard errors (6e-7 each, some 60 of them).

AROUND <- c("laplace", "staircase")
pole <- function(d) c(1, rep(0, d))
around_plan <- function(n, epsilon, law, M = hyperbolic(2), radius = 1, sigma = NULL, o = pole(2)) {
  ask <- riemdp:::mean_ask(M, n, epsilon, o, radius, 0, law, sigma, "proven", "ordinary", "lattice", 1e6, list())
  riemdp:::plan_one(M, ask, law, error = FALSE)
}
around_draws <- function(x, plan, count, M = hyperbolic(2), o = pole(2)) {
  bounds <- c(plan$numbers, list(gradient = plan$gradient, whole = plan$whole))
  with_simulation(1, .Call(riemdp:::riemdp_lattice_law_nonprivate, M, x, o, bounds, "laplace_truncated", 0,
                           c(plan$scale, plan$details$step, plan$details$first), count, TRUE))
}
at_coords <- function(a, M = hyperbolic(ncol(a)), o = pole(ncol(a))) mf_exp(M, o, mf_from_coords(M, o, a))
energy_of <- function(plan) {
  if (is.null(plan$details$step)) return(function(rho) rho / plan$scale)
  function(rho) pmax(0, ceiling((rho - plan$details$first) / plan$details$step)) * plan$details$step / plan$scale
}

# Spaces, records and epsilon for which noise is so wide that without the volume in the weights draws would be standard errors nearer to the
# centre; `s` of the coordinates are curved, with the volume sinhc(rate |s|)^(s - 1), the others flat. Positive definite 2 x 2 matrices are a line
# beside the hyperbolic plane of curvature -1/2, Hermitian ones beside hyperbolic space of that curvature.
around_spaces <- list(
  list(M = hyperbolic(2), o = pole(2), n = 30, epsilon = 0.5, radius = 1, s = 2, rate = 1, at = c(0, 0.99)),
  list(M = hyperbolic(4), o = pole(4), n = 30, epsilon = 1.33, radius = 1, s = 4, rate = 1, at = 0.99),
  list(M = spd(2), o = diag(2), n = 30, epsilon = 0.7, radius = 2, s = 2, rate = sqrt(0.5), at = c(0, 0.99)),
  list(M = product(hyperbolic(2), euclidean(1), weights = c(2, 1)), o = c(pole(2), 0), n = 30, epsilon = 0.7, radius = 1.4, s = 2, rate = sqrt(0.5),
       at = 0.99),
  list(M = hermitian_spd(2), o = diag(2), n = 40, epsilon = 0.9, radius = 1.5, s = 3, rate = sqrt(0.5), at = 0.99)
)
# curved coordinates and flat ones apart, and a direction in which volume grows
curved_part <- function(case, a) {
  if (case$M$name != "hermitian_spd") return(sqrt(rowSums(a[, seq_len(case$s), drop = FALSE]^2)))
  sqrt(rowSums(a[, 2:3, drop = FALSE]^2) + (a[, 1] - a[, 4])^2 / 2)
}
bent_way <- function(M, d) {
  if (M$name == "hermitian_spd") c(1, 0, 0, -1) / sqrt(2) else if (inherits(M, "riemdp_spd")) c(1, -1, 0) / sqrt(2) else c(1, rep(0, d - 1))
}
# E rho^k by a grid of the lengths of the curved and of the flat coordinates
around_moments <- function(case, plan) {
  flat <- riemdp:::mf_facts(case$M)$dimension - case$s
  far <- plan$details$reach
  s <- far * (seq_len(3000) - 0.5) / 3000
  t <- if (flat == 0) 0 else far * (seq_len(3000) - 0.5) / 3000
  rho <- sqrt(outer(s^2, t^2, `+`))
  w <- s^(case$s - 1) * (sinh(case$rate * s) / (case$rate * s))^(case$s - 1) * exp(-energy_of(plan)(rho)) * (rho < far)
  function(k) sum(w * rho^k) / sum(w)
}

test_that("draws have the law around the mean, wherever that lies", {
  count <- if (quick()) 1e4 else 1.5e4
  for (case in around_spaces[if (quick()) c(1, 3) else 1:5]) for (law in AROUND[seq_len(if (quick() || case$s > 2) 1 else 2)]) {
    M <- case$M
    d <- riemdp:::mf_facts(M)$dimension
    # what a staircase may have further out asks for a wider ball, which matrices don't have
    n <- if (law == "staircase" && inherits(M, "riemdp_spd")) 60 else case$n
    plan <- around_plan(n, case$epsilon, law, M, case$radius, o = case$o)
    moment <- around_moments(case, plan)
    for (at in if (quick()) 0.99 else case$at) {
      # in a direction in which volume grows: of matrices apart in their eigenvalues
      way <- bent_way(M, d)
      m <- at_coords(matrix(at * case$radius * way, 1), M, case$o)
      out <- around_draws(m, plan, count, M, case$o)
      label <- paste(format(M)[1], law, at)
      expect_identical(out$clamped, 0, label = label)
      expect_gt(count / out$trials, 0.3 * plan$acceptance, label = label)
      far <- mf_dist(M, m, out$draws)
      expect_lt(abs(mean(far) - moment(1)), 5 * sqrt((moment(2) - moment(1)^2) / count), label = label)
      expect_lt(abs(mean(far^2) - moment(2)), 5 * sqrt((moment(4) - moment(2)^2) / count), label = label)
      # in any direction around the mean, not only around the centre
      towards <- mf_coords(M, m, mf_log(M, m, out$draws))
      expect_lt(max(abs(colMeans(towards))), 5 * sqrt(1.5 * moment(2) / d / count), label = label)
      if (case$s == d) expect_lt(max(abs(colMeans(towards^2) / moment(2) * d - 1)), 5 * sqrt(3 * moment(4) / moment(2)^2 / count))
    }
  }
})

test_that("weights have the volume of normal coordinates, and proposals the bound that is proven", {
  sinhc <- function(x) ifelse(x == 0, 1, sinh(x) / x)
  for (case in around_spaces) {
    M <- case$M
    d <- riemdp:::mf_facts(M)$dimension
    plan <- around_plan(case$n, case$epsilon, "laplace", M, case$radius, o = case$o)
    f <- with_simulation(1, .Call(riemdp:::riemdp_lattice_law_bounds_nonprivate, M, case$o, case$o,
                                  c(plan$numbers, list(gradient = plan$gradient, whole = plan$whole)), "laplace_truncated", 0, 1, 300, TRUE))
    a <- f[is.finite(f[, 1]), -(1:5), drop = FALSE]
    gap <- if (inherits(M, "riemdp_spd")) {
      apply(a, 1, function(v) diff(range(eigen(matrix(mf_from_coords(M, case$o, v), 2), TRUE)$values)) / 2)
    } else {
      case$rate * curved_part(case, a)
    }
    volume <- riemdp:::around_volume(M)
    top <- volume$curved * log(sinhc(volume$rate * plan$details$reach))
    expect_gt(nrow(a), 150)
    expect_lt(max(abs(f[is.finite(f[, 1]), 4] - (top - (case$s - 1) * log(sinhc(gap))))), 1e-9, label = format(M)[1])
  }
})

test_that("weights are below the bound that draws are proposed by, which doesn't rise", {
  # shells so wide that volume grows a lot in one
  for (case in around_spaces) for (stairs in list(NULL, c(1, 0.7))) {
    M <- case$M
    d <- riemdp:::mf_facts(M)$dimension
    plan <- around_plan(case$n, case$epsilon, "laplace", M, case$radius, o = case$o)
    sigma <- 0.9 / (riemdp:::around_volume(M)$curved * riemdp:::around_volume(M)$rate)
    m <- at_coords(matrix(0.9 * case$radius * c(1, -1, rep(0, d - 2)) / sqrt(2), 1), M, case$o)
    f <- with_simulation(1, .Call(riemdp:::riemdp_lattice_law_bounds_nonprivate, M, m, case$o,
                                  c(plan$numbers, list(gradient = plan$gradient, whole = plan$whole)), "laplace_truncated", 0, c(sigma, stairs),
                                  if (quick()) 300 else 1000, TRUE))
    f <- f[order(f[, 3]), ]
    expect_lte(max(diff(f[, 5])), 0, label = format(M)[1])
    f <- f[is.finite(f[, 1]), ]
    # wherever it is proposed from the base, and farther out
    expect_lte(max(cummax(rev(-f[, 1] / sigma - f[, 4])) - rev(f[, 5])), 1e-9, label = format(M)[1])
  }
})

test_that("of staircases of all heights next to nothing lies beyond the ball", {
  # nearly flat: balls of flat space
  for (d in c(2, 4)) for (epsilon in seq(2, 8, 0.5)) {
    plan <- around_plan(3000, epsilon, "staircase", hyperbolic(d), o = pole(d))
    edge <- plan$details$first + plan$details$step * 0:400
    mass <- function(from) sum(exp(-(0:400) * plan$details$step / plan$scale) * (pmax(edge, from)^d - pmax(c(0, edge[-401]), from)^d))
    expect_lte(mass(plan$details$reach - 1) / mass(0), 1.02 * 2^-17, label = paste(d, epsilon))
  }
})

test_that("far from the centre as well, and proposals are bounds there", {
  for (case in list(list(hyperbolic(2), pole(2), 10, 100, "laplace"), list(hyperbolic(2), pole(2), 9, 300, "staircase"),
                    list(spd(3), diag(3), 3, 100, "staircase"))) {
    M <- case[[1]]
    d <- riemdp:::mf_facts(M)$dimension
    plan <- around_plan(case[[4]], 1, case[[5]], M, case[[3]], o = case[[2]])
    count <- if (quick()) 100 else 400
    real <- as.data.frame(dp_mean_plan(M, case[[4]], 1, case[[2]], case[[3]], mechanism = c(case[[5]], "wrapped"), numerics = "real", post = FALSE))
    stated <- real$expected_error[real$mechanism == case[[5]]]
    for (at in c(0.5, 0.99)) {
      m <- at_coords(matrix(at * case[[3]] * c(1, -1, rep(0, d - 2)) / sqrt(2), 1), M, case[[2]])
      out <- around_draws(m, plan, count, M, case[[2]])
      far <- mf_dist(M, m, out$draws)
      expect_identical(out$clamped, 0)
      expect_lt(abs(mean(far) - stated), 5 * stats::sd(far) / sqrt(count) + 0.03 * stated, label = paste(format(M)[1], at))
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
    tail <- 2^-17 * min(1, epsilon)
    waste <- 2^-40 + 2 * off * steep + h * sqrt(2) + 2 * (1 + R) * 162 * 2^-53 + 2 * tail
    expect_gte(plan$details$off, off)
    expect_gte(plan$details$waste, waste)
    expect_gte(plan$scale, as.numeric(moved + if (shells) 40 * 2^-53 * R else 0) / (epsilon - waste))
    expect_equal(plan$scale * epsilon, as.numeric(moved), tolerance = 1e-4)
    expect_lt(plan$details$waste, 2.1 * tail + 3 * off * steep)
    expect_equal(riemdp:::around_price(plan)$epsilon, epsilon, tolerance = 1e-9)
    expect_lte(riemdp:::around_price(plan)$epsilon, epsilon * (1 + 1e-12))
    # what lies beyond R for a mean at the edge, by quadrature
    weight <- function(rho) sinh(rho) * exp(-energy_of(plan)(rho))
    mass <- function(from, to) {
      edge <- unique(c(from, pmax(from, pmin(to, if (shells) plan$details$first + plan$details$step * 0:400 else plan$scale * 0:400)), to))
      sum(mapply(function(a, b) stats::integrate(weight, a, b, rel.tol = 1e-10)$value, edge[-length(edge)], edge[-1]))
    }
    beyond <- mass(R - 1, R - 1 + 200 * plan$scale)
    expect_lte(beyond / (beyond + mass(0, R - 1)), tail)
  }
  # by hand
  plan <- around_plan(1e6, NULL, "laplace", sigma = 0.01)
  total <- plan$sensitivity + plan$solver_error
  expect_gte(plan$guarantee$epsilon, total / 0.01 + plan$details$waste)
  expect_equal(plan$guarantee$epsilon, total / 0.01, tolerance = 1e-4)
})

test_that("volume's slopes and bounds of spaces with matrices", {
  # numbers of factors, their rate, how fast all grow, and the bend of one
  by_hand <- list(
    list(hyperbolic(4), 3, 1, 3, 1, FALSE), list(spd(2), 1, sqrt(0.5), sqrt(0.5), sqrt(0.5), TRUE), list(spd(3), 3, 0.5, sqrt(2), sqrt(0.5), TRUE),
    list(hermitian_spd(2), 2, sqrt(0.5), sqrt(2), sqrt(0.5), TRUE), list(hermitian_spd(3), 6, 0.5, sqrt(8), sqrt(0.5), TRUE),
    list(product(hyperbolic(2), spd(2), euclidean(1), weights = c(4, 1, 1)), 2, sqrt(0.5 / 2), sqrt(0.25 + 0.5), sqrt(0.5), TRUE)
  )
  for (case in by_hand) {
    volume <- riemdp:::around_volume(case[[1]])
    expect_equal(unlist(volume[c("curved", "rate", "growth", "bend")], use.names = FALSE), unlist(case[2:5]), tolerance = 1e-12)
    expect_identical(volume$matrices, case[[6]])
  }
  wide <- list(ball = list(radius = 2), steps = list(gradient = 1e-10))
  waste <- riemdp:::around_waste(6, riemdp:::around_volume(spd(3)), wide, 50, 1e-4)
  off <- 1e-10 + 40 * 2^-53 + 1.01 * sinh(sqrt(2)) / sqrt(2) * 2^-50 * sqrt(6) / 2
  expect_equal(waste$off, off, tolerance = 1e-12)
  computed <- (1 + sqrt(2)) * (166 * 2^-53 + 1e-11)
  expect_equal(waste$waste, 2^-40 + 100 * off + 6 * (sqrt(0.5) * 2^-50 * sqrt(6) / 2 + computed) + 2400 * 2^-53 - 2 * log1p(-1e-4), tolerance = 1e-10)
})

test_that("the share that is kept is remembered of its own numbers", {
  for (case in list(c(2, 0.02, 2, 1e-9, 1, 0, 0), c(3, 0.02, 2, 1e-9, 1, 0, 0), c(2, 0.02 * (1 + 1e-9), 2, 1e-9, 1, 0, 0), c(2, 0.02, 2.1, 1e-9, 1, 0, 0),
                    c(2, 0.02, 2, 1e-3, 1, 0, 0), c(2, 0.02, 2, 1e-9, 1.5, 0, 0), c(2, 0.02, 2, 1e-9, 1, 0.05, 0.02))) {
    wide <- list(ball = list(radius = case[3]), steps = list(slope = case[4]))
    volume <- list(curved = case[1] - 1, rate = 1)
    proposed <- .Call(riemdp:::riemdp_kng_proposed, case[1], case[3], 1, 0, 1 / case[2], 2 * case[4], case[6], case[7], c(case[1] - 1, 1, case[5]))
    # the law in flat space: of a staircase by the integral of its tail
    mass <- if (case[6] == 0) lgamma(case[1]) + case[1] * log(case[2]) else
      log(stats::integrate(function(rho) rho^(case[1] - 1) * exp(-pmax(0, ceiling((rho - case[7]) / case[6])) * case[6] / case[2]), 0, 1.5,
                           subdivisions = 5000, rel.tol = 1e-9)$value)
    law <- log(2) + case[1] / 2 * log(pi) - lgamma(case[1] / 2) + mass
    for (time in 1:2) {
      expect_equal(log(riemdp:::around_kept(case[1], volume, case[2], wide, case[5], case[6:7])$acceptance),
                   min(0, law - (case[1] - 1) * log(sinh(case[3]) / case[3]) - proposed), tolerance = 1e-6)
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
    expect_equal(r$expected_error, run(x, numerics = "real")$expected_error, tolerance = 5e-5)
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
    expect_error(wide(15.1, 8), class = "riemdp_error")
    expect_error(wide(14, 1), "needs room for its noise", class = "riemdp_error_unsupported")
    expect_error(wide(1, 0.01), class = "riemdp_error_existence")
    expect_identical(guarantee(run(x, neighbours = "add_remove"))$label, "pure")
    expect_error(dp_mean(x[1:5, ], sphere(2), 1, c(0, 0, 1), 0.3, mechanism = law, numerics = "lattice"), class = "riemdp_error")
  }
  expect_lt(min(as.data.frame(dp_mean_plan(M, 100, 1, radius = 1))$expected_error, na.rm = TRUE) * 1.02, 0.041)
})

test_that("what \"auto\" takes is on a lattice and costs less than 5 % beside doubles", {
  cases <- list(list(hyperbolic(2), 1, 100, 1), list(hyperbolic(2), 8, 100, 1), list(hyperbolic(2), 15, 1000, 1), list(hyperbolic(3), 6, 1000, 4),
                list(spd(2), 2, 100, 1), list(spd(2), 3, 1000, 8), list(spd(3), 2, 1000, 1), list(product(hyperbolic(2), spd(2)), 2, 300, 1))
  for (case in if (quick()) cases[c(2, 5)] else cases) {
    plan <- as.data.frame(dp_mean_plan(case[[1]], case[[3]], case[[4]], radius = case[[2]]))
    able <- plan$label %in% "pure" & !grepl("NOT|target", plan$note)
    expect_identical(plan$numerics[plan$chosen], "lattice")
    expect_lt(plan$expected_error[plan$chosen], 1.05 * min(plan$expected_error[able], na.rm = TRUE), label = paste(format(case[[1]])[1], case[[2]]))
  }
})

test_that("a lattice that is dear beside doubles isn't taken", {
  plan <- function(error, numerics = "lattice", ...) list(expected_error = error, numerics = numerics, ...)
  cheap <- function(...) names(riemdp:::cheap_lattice(list(...)))
  expect_identical(cheap(a = plan(1), b = plan(0.48, "real"), c = plan(2)), c("a", "c"))
  expect_null(cheap(a = plan(1), b = plan(0.47, "real"), c = plan(2)))
  # of laws that can't be served nothing is known
  expect_identical(cheap(a = plan(1), c = list(why = "no")), "a")
  # what may take long is left alone, but not for an error of four times and more
  left <- function(...) names(Filter(function(p) !is.null(p$why), riemdp:::worth_waiting(list(...))))
  expect_identical(left(a = plan(1), b = plan(0.26, slow = TRUE), c = list(why = "no")), c("b", "c"))
  expect_identical(left(a = plan(1), b = plan(0.24, slow = TRUE), c = list(why = "no")), "c")
  expect_identical(left(a = plan(1, slow = TRUE), b = plan(0.9, "real")), "a")
  expect_identical(left(a = plan(1, slow = TRUE), c = list(why = "no")), "c")
  # for want of room a lattice would have three times the error here
  M <- hyperbolic(10)
  r <- as.data.frame(dp_mean_plan(M, 1000, 0.2, radius = 3))
  best <- r[r$chosen, ]
  expect_identical(c(best$mechanism, best$numerics), c("laplace", "real"))
  expect_gt(min(r$expected_error[r$numerics %in% "lattice" & !grepl("NOT|target", r$note)], na.rm = TRUE), 2.1 * best$expected_error)
})

test_that("what is planned can be drawn, and a private number of records has the law with doubles", {
  # radii are those of the parts: 40 here is 4 on each hyperbolic plane
  wide <- product(hyperbolic(2), hyperbolic(2), weights = c(100, 100))
  o <- c(pole(2), pole(2))
  x <- matrix(o, 1000, 6, byrow = TRUE)
  r <- dp_mean(x, wide, 1, o, 40)
  expect_identical(c(r$mechanism, guarantee(r)$numerics), c("laplace", "lattice"))
  # shells narrower than 1e-12, and as many as there are for a small epsilon
  x <- matrix(pole(2), 1000, 3, byrow = TRUE)
  expect_identical(dp_mean(x, hyperbolic(2), 0.02, pole(2), 1.2e-10, mechanism = "staircase", numerics = "lattice")$mechanism, "staircase")
  expect_lt(riemdp:::log_flat_mass(2, 1, c(1e-6, 1e-6)), log(1))
  expect_equal(riemdp:::log_flat_mass(100, 1e-7, c(1e-12, 1e-12)), riemdp:::log_flat_mass(100, 1, c(1e-5, 1e-5)) + 100 * log(1e-7), tolerance = 1e-9)
  for (law in c("laplace", "staircase", "auto")) {
    r <- dp_mean(x, hyperbolic(2), 2, pole(2), 8, mechanism = law, neighbours = "add_remove")
    expect_identical(guarantee(r)$numerics, "real-valued")
    expect_lt(r$expected_error, 0.03)
    if (law != "auto") {
      expect_identical(r$mechanism, law)
      expect_error(dp_mean(x, hyperbolic(2), 2, pole(2), 8, mechanism = law, neighbours = "add_remove", numerics = "lattice"), "no lattice mode",
                   class = "riemdp_error_unsupported")
    }
  }
  expect_identical(guarantee(dp_mean(x, hyperbolic(2), 2, pole(2), 1, neighbours = "add_remove"))$numerics, "lattice")
  expect_match(paste(guarantee(dp_mean(array(diag(2), c(2, 2, 100)), spd(2), 1, diag(2), 2, mechanism = "laplace"))$assumptions, collapse = " "),
               "eigenvalues")
})
