# Lower bounds of the error of a private mean (inst/proofs/lower-bounds.md)

space_of <- function(M, r) {
  f <- mf_facts(M)
  list(d = f$dimension, r = r, k_min = f$k_min, k_max = f$k_max, rank = riemdp:::rank_of(f), known = TRUE)
}

flat <- function(d) list(d = d, r = 1, k_min = 0, k_max = 0, rank = d, known = TRUE)

test_that("noise in steps: no weights that privacy allows have a mean distance below that of geometric noise", {
  set.seed(1)
  for (m in 1:2) {
    for (i in 1:200) {
      epsilon <- exp(runif(1, log(0.3), log(4)))
      reach <- ceiling(25 / epsilon)
      if (m == 2) reach <- min(reach, 20)
      grid <- as.matrix(expand.grid(rep(list(-reach:reach), m)))
      y <- runif(m, -2, 2)
      # the largest function with these slopes below random ones at some points: peaks, valleys, cliffs
      at <- grid[sample(nrow(grid), sample(1:6, 1)), , drop = FALSE]
      log_w <- apply(rbind(at, round(y)), 1, function(a) -epsilon * colSums(abs(t(grid) - a)) + (runif(1) < 0.7) * -rexp(1, 0.3))
      log_w <- if (is.matrix(log_w)) apply(log_w, 1, max) else log_w
      w <- exp(log_w)
      mean_distance <- sum(w * sqrt(colSums((t(grid) - y)^2))) / sum(w)
      laws <- riemdp:::chain_laws(exp(-epsilon))
      expect_gte(mean_distance, riemdp:::root_mean(laws$error, m) * (1 - 1e-3 - exp(-epsilon * reach) * 40))
    }
  }
})

test_that("mean lengths of steps are those of sums over the grid", {
  for (q in c(0.05, 0.4, 0.8)) {
    i <- -300:300
    p <- (1 - q) / (1 + q) * q^abs(i)
    laws <- riemdp:::chain_laws(q)
    expect_equal(riemdp:::root_mean(laws$error, 1), 2 * q / (1 - q^2), tolerance = 1e-8)
    expect_equal(riemdp:::root_mean(laws$error, 2), sum(outer(p, p) * sqrt(outer(i^2, i^2, "+"))), tolerance = 1e-8)
    # how far the prior goes beyond a chain of six records: weights 1 on 0 to 6, falling by q on either side
    theta <- -300:306
    prior <- q^pmax(-theta, 0, theta - 6)
    beyond <- pmax(-theta, 0, theta - 6)
    over <- riemdp:::root_mean(riemdp:::chain_excess(laws, 6), 1, above = TRUE)
    expect_equal(over, sum(prior * beyond) / sum(prior), tolerance = 1e-6)
    expect_gte(over, sum(prior * beyond) / sum(prior))
    pair <- sum(outer(prior, prior) * sqrt(outer(beyond^2, beyond^2, "+"))) / sum(prior)^2
    expect_equal(riemdp:::root_mean(riemdp:::chain_excess(laws, 6), 2, above = TRUE), pair, tolerance = 1e-6)
  }
})

# The least worst error over all mechanisms on the box {0, ..., K}^m of steps, outputs on its half-integers, by linear programming (lpSolve 5.6):
# K, m, epsilon, delta, error in steps
OPTIMA <- rbind(
  c(1, 1, 1, 0, 0.268941), c(2, 1, 1, 0, 0.459728), c(5, 1, 1, 0, 0.683710), c(10, 1, 1, 0, 0.803027), c(20, 1, 1, 0, 0.845744), c(40, 1, 1, 0, 0.850851),
  c(10, 1, 0.1, 0, 3.366596), c(40, 1, 0.1, 0, 6.988551), c(10, 1, 0.5, 0, 1.478986), c(40, 1, 0.5, 0, 1.877217), c(10, 1, 2, 0, 0.275442),
  c(20, 1, 2, 0, 0.275720), c(10, 1, 4, 0, 0.036644), c(2, 2, 1, 0, 0.786982), c(3, 2, 1, 0, 0.947570), c(4, 2, 1, 0, 1.071185), c(4, 2, 0.5, 0, 1.652848),
  c(3, 2, 2, 0, 0.443715), c(10, 1, 1, 1e-6, 0.803022), c(10, 1, 1, 1e-2, 0.764268), c(10, 1, 0.3, 1e-2, 1.902512)
)

test_that("chains stay below the optimum of linear programs, and near it", {
  for (i in seq_len(nrow(OPTIMA))) {
    case <- OPTIMA[i, ]
    n <- case[1] * case[2]
    bound <- riemdp:::chains_bound(flat(case[2]), n, case[3], case[4])$value * n / 2
    expect_lte(bound, case[5] + 1e-6)
    expect_gte(bound, case[5] * (if (case[4] > 1e-3) 0.2 else if (case[2] == 2) 0.78 else 0.84))
    # of two points: the ends of the chain are among its states
    if (case[2] == 1) expect_lte(riemdp:::two_points_bound(flat(1), n, case[3], case[4])$value * n / 2, case[5] + 1e-6)
  }
})

test_that("what is left of densities with delta along a chain is no less than stated", {
  # normal noise on a chain of four steps is (epsilon, delta)-private at its delta, step by step
  for (sigma in c(1.5, 3)) {
    epsilon <- 1
    delta <- pnorm(1 / (2 * sigma) - epsilon * sigma) - exp(epsilon) * pnorm(-1 / (2 * sigma) - epsilon * sigma)
    y <- seq(-40, 44, by = 0.001)
    p <- sapply(0:4, function(t) dnorm(y, t, sigma))
    cut <- sapply(0:4, function(t) apply(p * rep(exp(epsilon * abs(0:4 - t)), each = length(y)), 1, min))
    expect_gte(min(colSums(cut)) * 0.001, riemdp:::chain_kept(4, 1, 1, epsilon, delta))
  }
  expect_identical(riemdp:::chain_kept(4, 1, 1, 1, 0), 1)
  # the sum over the box, by hand
  expect_equal(riemdp:::chain_kept(2, 2, 1, 0.5, 1e-3), 1 - 1e-3 / (exp(0.5) - 1) * (1 + exp(0.5) + exp(1))^2, tolerance = 1e-12)
})

test_that("groups of records: delta is that of single steps, one after the other", {
  epsilon <- 0.7
  delta <- 0
  for (k in 1:5) {
    delta <- exp(epsilon) * delta + 1e-4
    expect_equal(riemdp:::group_delta(k, epsilon, 1e-4), delta, tolerance = 1e-12)
  }
  expect_identical(riemdp:::group_delta(1e6, 1, 1e-9), 1)
  # near 1 and for the smallest epsilon no digit of 1 - delta is lost
  expect_identical(riemdp:::group_delta(1:3, 1e-300, 1 - 1e-13), c(1 - 1e-13, 1, 1))
  expect_equal(1 - riemdp:::group_delta(2, 1e-9, 0.5 - 1e-8), 2e-8 - 5e-10, tolerance = 1e-3)
  expect_identical(riemdp:::group_delta(3, 1, 0), 0)
})

test_that("records at one point: the best posterior of a uniform prior on a ball, and volumes of curved balls", {
  for (d in c(1, 2, 7)) {
    for (epsilon in c(1e-6, 0.5, 3, 9)) {
      Q <- exp(epsilon)
      # density Q within a, else 1
      error <- function(a) d / (d + 1) * (1 + (Q - 1) * a^(d + 1)) / (1 + (Q - 1) * a^d)
      best <- optimize(error, c(0, 1), tol = 1e-10)$objective
      expect_equal(riemdp:::block_at(1, flat(d), 1, epsilon, 0), best, tolerance = 1e-7)
    }
  }
  # volumes: what counts in the proof
  s <- seq_len(20) / 20
  for (M in list(sphere(2), hyperbolic(2))) {
    rho <- 0.7
    volume <- if (M$name == "sphere") function(s) 1 - cos(s) else function(s) cosh(s) - 1
    size <- riemdp:::block_at(1, c(space_of(M, rho)), 1, 1, 0) / riemdp:::block_at(1, flat(2), 1, 1, 0)
    expect_true(all(volume(s * rho) / volume(rho) <= (s * rho / size)^2 * (1 + 1e-9)))
    expect_gt(size, 0.9 * rho)
  }
  # with delta: two groups of densities, one of them free for an event of that mass
  expect_lt(riemdp:::block_at(1, flat(2), 1, 1, 0.01), riemdp:::block_at(1, flat(2), 1, 1, 0))
  Q <- exp(1)
  c <- uniroot(function(c) 2 - 3 * c - (Q - 1) * c^3, c(0, 1), tol = 1e-13)$root
  expect_equal(riemdp:::block_at(1, flat(2), 1, 1, 0.01), c - 0.01 * c * (1 - c) / (Q * c^3 / 3), tolerance = 1e-8)
})

test_that("on curved spaces means are as far apart as the factor says, and from any other point", {
  set.seed(2)
  cases <- list(list(sphere(2), 0.4), list(sphere(3), 0.7), list(hyperbolic(2), 1), list(spd(2), 1), list(grassmann(4, 2), 0.3), list(stiefel(4, 2), 0.3),
                list(kendall(4), 0.3))
  for (case in cases) {
    M <- case[[1]]
    r <- case[[2]]
    d <- mf_facts(M)$dimension
    space <- space_of(M, r)
    space$rank <- 1
    slots <- if (d > 3) 2 else 3
    n <- 8 * d * slots
    phi <- riemdp:::chain_factor(space, d, slots, n)
    expect_gt(phi, 0.3)
    expect_lte(phi, 1)
    center <- .Call(riemdp:::riemdp_origin, M)
    end <- function(j, sign) mf_exp(M, center, mf_from_coords(M, center, replace(numeric(d), j, sign * r)))
    points <- do.call(c, lapply(seq_len(d), function(j) c(mf_points(end(j, -1), M), mf_points(end(j, 1), M))))
    points <- c(mf_points(center, M), points)
    mean_of <- function(theta) { # of `slots` records on each axis, the others at the centre
      counts <- c(n - d * slots, as.vector(rbind(slots - theta, theta)))
      frechet_mean(points[rep(seq_along(counts), counts)], M, tol = 1e-13)$mean
    }
    step <- 2 * r / n
    for (i in 1:8) {
      a <- sample(0:slots, d, TRUE)
      b <- if (i == 1) slots - a else sample(0:slots, d, TRUE)
      expect_gte(mf_dist(M, mean_of(a), mean_of(b)), phi * step * sqrt(sum((a - b)^2)) * (1 - 1e-7))
    }
    # another point, far from all means as well: theta of the proof by least squares
    y <- mf_exp(M, center, mf_from_coords(M, center, rnorm(d) * r / (6 * sqrt(d))))
    logs <- lapply(seq_along(points), function(i) as.vector(mf_coords(M, y, mf_log(M, y, as.array(points[i])))))
    g <- sapply(seq_len(d), function(j) logs[[2 * j + 1]] - logs[[2 * j]])
    middle <- (n - d * slots) * logs[[1]] + slots / 2 * Reduce(`+`, logs[-1])
    found <- slots / 2 + qr.solve(g, -middle)
    for (i in 1:4) {
      a <- sample(0:slots, d, TRUE)
      reached <- mf_dist(M, y, mean_of(a))
      expect_gte(reached, phi * step * sqrt(sum((found - a)^2)) * (1 - 1e-7))
    }
  }
  # flats, and single axes, lose nothing
  expect_identical(riemdp:::chain_factor(space_of(spd(3), 1), 3, 10, 30), 1)
  expect_lt(riemdp:::chain_factor(space_of(spd(3), 1), 4, 10, 100), 1)
  expect_identical(riemdp:::rank_of(mf_facts(hermitian_spd(3))), 3)
  expect_identical(riemdp:::rank_of(mf_facts(spd(3, "logeuclidean"))), mf_facts(spd(3))$dimension)
  expect_identical(riemdp:::rank_of(mf_facts(hyperbolic(3))), 1)
})

test_that("where the means would leave the part of the ball that is looked at, the factor is 0", {
  space <- space_of(sphere(2), 0.7)
  expect_identical(riemdp:::chain_factor(space, 2, 50, 100), 0)
  expect_gt(riemdp:::chain_factor(space, 2, 10, 100), 0.5)
  # where means are, from their gradient at the centre: as far in flat space, further where curvature lets Hessians fall, half the ball at most
  expect_equal(riemdp:::means_within(flat(3), c(0.1, 0.499)), c(0.1, 0.499), tolerance = 1e-8)
  expect_identical(riemdp:::means_within(flat(3), c(0.501, 7)), c(Inf, Inf))
  further <- stats::uniroot(function(R) R * (0.7 + R) / tan(0.7 + R) - 0.1, c(0, 0.3), tol = 1e-12)$root
  expect_equal(riemdp:::means_within(space, c(0.1, 0.6)), c(further, Inf), tolerance = 1e-6)
  # curvature costs: the Hessian's largest eigenvalue, in full
  expect_lte(riemdp:::chain_factor(space_of(hyperbolic(2), 2), 2, 1, 1e6), tanh(2) / 2)
})

test_that("no mechanism is expected to err by less, on any space, for any budget", {
  spaces <- list(list(euclidean(1), 1), list(euclidean(2), 1), list(euclidean(5), 1), list(euclidean(10), 1), list(sphere(1), 0.5), list(sphere(2), 0.4),
                 list(sphere(10), 0.4), list(spd(2), 1), list(spd(3), 1), list(spd(2, "logeuclidean"), 1), list(hyperbolic(2), 1), list(kendall(10), 0.2),
                 list(grassmann(4, 2), 0.3), list(stiefel(5, 2), 0.3), list(hermitian_spd(2), 1))
  if (quick()) spaces <- spaces[c(1, 3, 6, 9)]
  for (case in spaces) {
    for (n in c(1, 2, 30, 1000)) {
      for (epsilon in c(0.01, 1, 8)) {
        plan <- dp_mean_plan(case[[1]], n, epsilon, radius = case[[2]], delta = 1e-6,
                             mechanism = c("laplace", "staircase", "wrapped", "kng", "gaussian", "wrapped_gaussian"))
        known <- !is.na(plan$over_bound)
        # moved draws: their errors are computed as in flat space, on shapes to 1 %
        expect_true(all(plan$over_bound[known] >= 0.99), label = sprintf("%s n %g epsilon %g", label_of(case[[1]]), n, epsilon))
        expect_equal(plan$over_bound[known], (plan$expected_error / plan$lower_bound)[known])
        expect_identical(is.na(plan$over_bound), is.na(plan$expected_error))
        # another promise, another bound
        pure <- plan$lower_bound[which(plan$label == "pure")]
        if (length(pure)) expect_equal(pure[1], as.vector(mean_lower_bound(case[[1]], n, epsilon, case[[2]])))
        approx <- plan$lower_bound[which(plan$label == "approx")]
        if (length(approx)) expect_equal(approx[1], as.vector(mean_lower_bound(case[[1]], n, epsilon, case[[2]], delta = 1e-6)))
      }
    }
  }
})

test_that("where noise fills a compact space, no plan of a moved draw states less than the bound", {
  for (n in c(1, 5)) expect_gte(dp_mean_plan(grassmann(4, 2), n, 0.01, radius = 0.3, mechanism = "laplace")$over_bound, 1)
  # elsewhere the plan states what it computed
  plan <- dp_mean_plan(grassmann(4, 2), 100, 1, radius = 0.3, mechanism = "laplace")
  expect_gt(plan$over_bound, 1.1)
})

test_that("ratios are those of the proof: near 1 on the line, small in few dimensions", {
  ratio <- function(M, n, epsilon, radius) {
    min(dp_mean_plan(M, n, epsilon, radius = radius, mechanism = c("laplace", "staircase"))$over_bound)
  }
  expect_lt(ratio(euclidean(1), 1000, 0.1, 1), 1.03)
  expect_lt(ratio(euclidean(1), 50, 1, 1), 1.2)
  expect_lt(ratio(euclidean(2), 50, 1, 1), 1.55)
  expect_lt(ratio(euclidean(3), 50, 1, 1), 2)
  expect_lt(ratio(euclidean(5), 1000, 1, 1), 1.9)
  expect_lt(ratio(sphere(2), 50, 1, 0.4), 2)
  expect_lt(ratio(euclidean(1), 100, 8, 1), 2.1)
  # two points: next to nothing can be told of few records
  expect_equal(as.vector(mean_lower_bound(sphere(5), 1, 1e-6, 0.5)), 0.5, tolerance = 1e-5)
})

test_that("scores: caps of the sphere and sums of random directions are as the proof has them", {
  for (d in c(2, 3, 10, 200, 1e6)) {
    density <- function(x) exp(lgamma(d / 2) - lgamma((d - 1) / 2) - log(pi) / 2 + (d - 3) / 2 * log1p(-x^2))
    for (far in c(0.1, 3, if (d > 3) 8, if (d > 10) 30)) {
      cap <- riemdp:::cap_moments(d, far)
      upto <- min(1 - 1e-12, cap$t + 30 / sqrt(d))
      beyond <- stats::integrate(function(x) density(x) * exp(far), cap$t, upto, rel.tol = 1e-9)$value
      if (d > 3 && far > 1) expect_true(beyond > 0.95 && beyond < 3) else expect_true(cap$t >= 0)
      mean_over <- stats::integrate(function(x) (x - cap$t) * density(x) * exp(far), cap$t, upto, rel.tol = 1e-9)$value
      expect_equal(exp(cap$log_mean + far), mean_over, tolerance = 2e-5)
    }
  }
  # squares of the length of the sum, over N: mean 1, variance 2/d nearly; the share beyond c^2
  set.seed(2)
  for (d in c(4, 30)) {
    N <- 12
    squares <- replicate(20000, {
      u <- matrix(rnorm(N * d), N)
      sum(colSums(u / sqrt(rowSums(u^2)))^2) / N
    })
    for (c in c(1.1, 1.35, 1.6)) {
      rare <- (c^2 * exp(1 - c^2))^(d / 2)
      expect_lt(mean(squares > c^2), rare)
      expect_lt(mean(squares * (squares > c^2)), rare * c^2 * (1 + 2 / (exp(1) * d * (c^2 - 1))))
    }
  }
})

# the claim of section 7 of the proof, line by line, for one choice of k, N, c and t
score_claim <- function(space, n, k, N, c, far, epsilon, delta) {
  d <- space$d
  r <- space$r
  b <- k * r / n
  cot <- function(s) if (space$k_max > 0) min(1, s * sqrt(space$k_max) / tan(s * sqrt(space$k_max))) else 1
  coth <- function(s) if (space$k_min < 0) s * sqrt(-space$k_min) / tanh(s * sqrt(-space$k_min)) else 1
  R <- stats::uniroot(function(R) R * cot(r + R) - c * b * sqrt(N), c(0, r / 2), tol = 1e-14)$root
  Lambda <- coth(r + 2 * R)
  beta <- 2 * R * max(1 - cot(r + 2 * R), Lambda - 1) / r
  t <- riemdp:::cap_moments(d, far)$t
  mu <- exp(riemdp:::cap_moments(d, far)$log_mean)
  delta_k <- delta * (exp(k * epsilon) - 1) / (exp(epsilon) - 1)
  P <- (c^2 * exp(1 - c^2))^(d / 2)
  w <- P * c^2 * (1 + 2 / (exp(1) * d * (c^2 - 1)))
  D <- function(x) b * (1 - beta * (1 + t)) - c * x / sqrt(N) - t * sqrt(x^2 + b^2 + 2 * b * x * c / sqrt(N))
  x <- stats::uniroot(D, c(0, 1e3 * b), tol = 1e-15)$root
  L <- b * sqrt(N) * w / c + 2 * R * Lambda * P + b * (1 + beta)
  psi <- exp(k * epsilon) * mu / D(0)
  (1 - P - psi * L - delta_k * (1 - t) * (b * sqrt(N) + 2 * R * Lambda) / D(0)) / (Lambda * (1 / x + psi))
}

test_that("scores: the bound is the proof's claim, in flat and curved spaces", {
  for (case in list(list(flat(60), 2000), list(space_of(sphere(80), 0.4), 20000), list(space_of(hyperbolic(40), 0.7), 5000),
                    list(space_of(kendall(50), 0.3), 4000))) {
    n <- case[[2]]
    for (k in c(3, 6)) {
      tried <- data.frame(k = k, c = 1.35, beyond = 1, groups = floor(n / (2 * k)))
      tried$reach <- riemdp:::means_within(case[[1]], case[[1]]$r * k / n * tried$c * sqrt(tried$groups))
      for (delta in c(0, 1e-5)) {
        claim <- score_claim(case[[1]], n, k, tried$groups, 1.35, 0.8 * k + 1, 0.8, delta)
        expect_gt(claim, 0)
        expect_equal(riemdp:::scores_at(tried, case[[1]], n, 0.8, delta), claim, tolerance = 1e-6)
      }
    }
    best <- riemdp:::scores_bound(case[[1]], n, 0.8, 1e-5)$value
    expect_gte(best, claim)
    expect_lt(best, 1.6 * claim)
  }
})

test_that("scores: gradients at a release are near its distance and point as the proof says", {
  set.seed(3)
  for (case in list(list(sphere(6), 0.5, c(1, rep(0, 6))), list(hyperbolic(6), 0.8, c(1, rep(0, 6))))) {
    M <- case[[1]]
    r <- case[[2]]
    at <- case[[3]]
    space <- space_of(M, r)
    n <- 400
    N <- 40
    k <- 2
    for (i in 1:10) {
      U <- mf_log(M, at, mf_exp(M, at, mf_from_coords(M, at, matrix(rnorm(N * 6), N) / 10)))
      U <- U / mf_norm(M, at, U)
      x <- mf_exp(M, at, r * U)
      S <- colSums(U)
      R <- riemdp:::means_within(space, k * r / n * mf_norm(M, at, S))
      y <- mf_exp(M, at, mf_from_coords(M, at, (function(v) 2 * R * runif(1) * v / sqrt(sum(v^2)))(rnorm(6))))
      eta <- mf_log(M, at, y)
      back <- function(v) mf_transport(M, y, at, v)
      away <- back(-mf_log(M, y, at))
      logs <- t(apply(x, 1, function(p) back(mf_log(M, y, p))))
      h <- -(k * colSums(logs) - (n - N * k) * away) / n
      mean <- frechet_mean(rbind(x, at), M, weights = c(rep(k, N), n - N * k))$mean
      Lambda <- riemdp:::hessian_most(space, r + 2 * R)
      beta <- 2 * R * max(1 - riemdp:::hessian_least(space, r + 2 * R), Lambda - 1) / r
      b <- k * r / n
      expect_lte(mf_dist(M, at, mean), R)
      expect_lte(mf_norm(M, at, h), Lambda * mf_dist(M, y, mean) * (1 + 1e-6))
      h_i <- t(h + k / n * (t(logs) + as.vector(eta)))
      expect_true(all(mf_norm(M, at, h_i - matrix(h, N, 7, byrow = TRUE) - b * U) <= b * beta * (1 + 1e-9)))
      expect_true(all(mf_norm(M, at, h_i) <= b * mf_norm(M, at, matrix(S, N, 7, byrow = TRUE) - U) + 2 * R * Lambda))
    }
  }
})

test_that("the bound says which argument it has, falls with the budget, and asks for numbers as others do", {
  bound <- mean_lower_bound(sphere(2), 100, 1, 0.4)
  expect_identical(attr(bound, "argument"), "chains")
  expect_identical(attr(bound, "axes"), 2L)
  expect_identical(attr(mean_lower_bound(euclidean(2), 100, 10, 1), "argument"), "block")
  few <- mean_lower_bound(euclidean(3), 1, 0.01, 1)
  expect_identical(attr(few, "argument"), "two points")
  # many dimensions and a small delta: a fingerprinting attack
  many <- mean_lower_bound(euclidean(500), 1000, 1, 1, delta = 1e-6)
  expect_identical(attr(many, "argument"), "scores")
  expect_gt(many, 1.2 * riemdp:::chains_bound(flat(500), 1000, 1, 1e-6)$value)
  expect_identical(attr(few, "axes"), NA_integer_)
  for (M in list(euclidean(3), sphere(3), hyperbolic(3))) {
    by_epsilon <- vapply(c(0.01, 0.1, 1, 3, 10, 50), function(e) as.vector(mean_lower_bound(M, 60, e, 0.5)), 0)
    expect_true(all(diff(by_epsilon) < 0) && all(by_epsilon > 0))
    by_delta <- vapply(c(0, 1e-9, 1e-4, 1e-2, 0.5), function(delta) as.vector(mean_lower_bound(M, 60, 1, 0.5, delta = delta)), 0)
    expect_true(all(diff(by_delta) <= 0) && all(by_delta > 0))
  }
  expect_equal(as.vector(mean_lower_bound(euclidean(4), 60, 1, 3)), 3 * as.vector(mean_lower_bound(euclidean(4), 60, 1, 1)))
  expect_error(mean_lower_bound(sphere(2), 0, 1, 0.4), class = "riemdp_error_argument")
  expect_error(mean_lower_bound(sphere(2), 10, 0, 0.4), class = "riemdp_error")
  expect_error(mean_lower_bound(sphere(2), 10, 1, 1), class = "riemdp_error_radius")
  expect_error(mean_lower_bound(sphere(2), 10, 1, 0.4, delta = 1), class = "riemdp_error")
  expect_error(mean_lower_bound(sphere(2), 10, 1, 0.4, 1e-6), class = "riemdp_error")
})

test_that("numbers at the ends of doubles have a bound between 0 and the radius", {
  for (M in list(euclidean(1), sphere(2), spd(3))) {
    for (epsilon in c(4.9e-324, 1e-300, 1e-8, 1, 710, 1e6, .Machine$double.xmax)) {
      for (delta in c(0, 4.9e-324, 1e-6, 1 - 1e-16)) {
        for (n in c(1, 200, 2^31 - 1)) {
          for (radius in c(1e-300, 0.1, if (M$name != "sphere") 1e300)) {
            bound <- as.vector(mean_lower_bound(M, n, epsilon, radius, delta = delta))
            expect_true(isTRUE(bound >= 0 && bound <= radius), label = paste(M$name, epsilon, delta, n, radius))
          }
        }
      }
    }
  }
  # delta that grows beyond all doubles in between is 1 in the end
  expect_identical(riemdp:::group_delta(2000, 1, 4.9e-324), 1)
  expect_identical(riemdp:::chain_kept(3, 2, 1, 800, 1e-6), 0)
})

test_that("where volumes and Hessians aren't known only one axis and two points are used", {
  expect_error(mean_lower_bound(spd(2, "bures"), 100, 1, 0.1), class = "riemdp_error_argument")
  line <- as.vector(mean_lower_bound(euclidean(1), 100, 1, 0.1))
  expect_equal(as.vector(mean_lower_bound(spd(2, "bures"), 100, 1, 0.1, center = diag(2))), line)
  plane <- manifold_custom(2, 2, exp = function(p, v) p + v, log = function(p, q) q - p, k_min = 0, k_max = 0, injectivity_radius = Inf)
  expect_equal(as.vector(mean_lower_bound(plane, 100, 1, 0.1, center = c(0, 0))), line)
  expect_gt(as.vector(mean_lower_bound(euclidean(2), 100, 1, 0.1)), 1.3 * line)
})

said <- function(expr) gsub("\\s+", " ", paste(utils::capture.output(expr), collapse = " "))

test_that("plans and releases say the bound where it is proven, and nothing elsewhere", {
  x <- with_simulation(3, mf_random(sphere(2), 60))
  r <- dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4)
  bound <- mean_lower_bound(sphere(2), 60, 1, 0.4)
  text <- said(explain(r))
  expect_match(text, sprintf("an expected error of %.3g or more for some records of the ball (chains on 2 axes", bound), fixed = TRUE)
  expect_match(text, sprintf("here it is %.2f times that", r$expected_error / bound), fixed = TRUE)
  # a unit counts once
  unit <- rep(1:20, 3)
  text <- said(explain(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4, unit = unit)))
  expect_match(text, sprintf("%.3g or more", mean_lower_bound(sphere(2), 20, 1, 0.4)), fixed = TRUE)
  # of the whole budget, where a part of it goes elsewhere
  text <- said(explain(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4, clipped = 0.3)))
  expect_match(text, sprintf("%.3g or more", bound), fixed = TRUE)
  # which of the two is to blame
  expect_match(said(explain(dp_mean(matrix(0.1, 60, 10), euclidean(10), 1, rep(0, 10), 1))), "open which of the two")
  expect_match(said(explain(dp_mean(rep(0.1, 60), euclidean(1), 3, 0, 1))), "In one dimension the bound is to blame")
  expect_match(said(explain(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4, delta = 1e-6, mechanism = "gaussian"))), "a pure mechanism may err less")
  wide <- function(d, n, delta) said(explain(dp_mean(matrix(0, n, d), euclidean(d), 1, rep(0, d), 1, delta = delta, mechanism = "gaussian", post = FALSE)))
  expect_match(wide(30, 50, 1e-6), "lacks the factor")
  expect_match(wide(300, 400, 1e-6), "\\(records in random directions, .*known to be to blame for a factor of 2")
  # not proven: other targets, private numbers, no promise
  for (other in list(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4, mechanism = "tangent"), dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4, neighbours = "add_remove"),
                     with_simulation(1, dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4)))) {
    expect_no_match(said(explain(other)), "Lower bound")
  }
  plan <- dp_mean_plan(sphere(2), 60, 1, radius = 0.4)
  expect_match(said(print(plan)), "Ratio: the expected error over mean_lower_bound()", fixed = TRUE)
  expect_true(all(is.na(plan$lower_bound[plan$mechanism %in% c("tangent", "adaptive", "chain")])))
  expect_equal(plan$lower_bound[plan$mechanism == "laplace"], as.vector(bound))
  private <- dp_mean_plan(sphere(2), 60, 1, radius = 0.4, neighbours = "add_remove")
  expect_true(all(is.na(private$lower_bound)) && all(is.na(private$over_bound)))
  expect_no_match(said(print(private)), "Ratio:")
  # numbers that are found have bounds of their own
  found <- dp_mean_plan(sphere(2), epsilon = 1, radius = 0.4, error = 0.01, mechanism = c("laplace", "kng"))
  expect_equal(found$lower_bound, vapply(found$n, function(n) as.vector(mean_lower_bound(sphere(2), n, 1, 0.4)), 0))
  # "kng" has an error for the worst records too: it was one of records spread evenly, with no ratio
  expect_match(said(explain(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4, mechanism = "kng"))), "times that")
  expect_false(anyNA(dp_mean_plan(sphere(2), 60, 1, radius = 0.4, mechanism = c("kng", "laplace_truncated", "staircase_truncated"))$over_bound))
  # large epsilon has words of its own
  expect_match(said(explain(dp_mean(x, sphere(2), 8, c(0, 0, 1), 0.4))), "For large epsilon the bound is known to be to blame for a factor of up to 2")
  expect_match(said(explain(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4, mechanism = "kng"))), "or more for some records")
  # on flat space the mean of logarithms is the mean
  expect_false(is.na(dp_mean_plan(euclidean(2), 60, 1, radius = 1, mechanism = "tangent")$lower_bound))
})
