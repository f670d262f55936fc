# Random numbers with fixed seeds throughout. Bounds of 5 standard errors, some 60 of them: a false alarm less than once in 1e4 choices
# of seeds.

spread <- function(M, n, sd = 0.3, seed = 1) {
  set.seed(seed)
  M <- if (M$name == "custom") return(mf_random(M, n)) else M
  p <- record(M, mf_random(M, 2, sd = 0.5), 1)
  d <- mf_facts(M)$dimension
  mf_exp(M, p, mf_from_coords(M, p, matrix(rnorm(n * d, sd = sd / sqrt(d)), n)))
}

reference <- function() jsonlite::fromJSON(test_path("reference", "optimiser_utility.json"))

# the reference's data: a linear congruential generator and Box-Muller
lcg_normals <- function(seed, n) {
  s <- seed
  u <- numeric(n)
  for (i in seq_len(n)) {
    s <- (16807 * s) %% 2147483647
    u[i] <- s / 2147483647
  }
  r <- sqrt(-2 * log(u[c(TRUE, FALSE)]))
  angle <- 2 * pi * u[c(FALSE, TRUE)]
  as.vector(rbind(r * cos(angle), r * sin(angle)))
}

reference_spd <- function() {
  g <- matrix(lcg_normals(12345, 50000), 10)
  s <- array(0, c(4, 4, 5000))
  k <- 0
  for (i in 1:4) for (j in i:4) {
    k <- k + 1
    s[i, j, ] <- s[j, i, ] <- 0.3 * g[k, ] / if (i == j) 1 else sqrt(2)
  }
  a <- diag(sqrt(1:4))
  array(apply(mf_exp(spd(4), diag(4), s), 3, function(e) a %*% e %*% a), c(4, 4, 5000))
}

reference_sphere <- function() {
  z <- t(matrix(lcg_normals(54321, 1e5), 20))
  z[, 1] <- 2 * z[, 1]
  z / sqrt(rowSums(z^2))
}

loss_at <- function(problem, data, p) riemdp:::nonprivate_objective(problem, data, p)$loss

# one run in C with every setting by hand
raw_run <- function(M, data, kind, start, ..., lr, n) {
  settings <- utils::modifyList(list(sampling = "full", output = "last", steps = 1, batch = 1, lots = 0, rate = 1, clip = 1, sd = 0, inner = 0,
                                     snapshot_clip = 1, snapshot_sd = 0, snapshot_divisor = n, paper = FALSE, restarts = 1, radius = 0, lr = lr,
                                     until = 1e12), list(...))
  settings$divisor <- settings$divisor %||% if (settings$sampling == "full") n else settings$batch
  .Call(riemdp:::riemdp_release_optimum, M, data, kind, 1, NULL, n, start, NULL, settings, NULL, riemdp:::in_simulation())$value
}

test_that("gradients are those of the losses", {
  # central differences of the loss along geodesics, in every direction of a frame
  slope <- function(P, data, p) {
    M <- P$manifold
    d <- mf_facts(M)$dimension
    h <- 1e-5
    vapply(seq_len(d), function(j) {
      e <- mf_from_coords(M, p, as.double(seq_len(d) == j))
      (loss_at(P, data, mf_exp(M, p, h * e)) - loss_at(P, data, mf_exp(M, p, -h * e))) / (2 * h)
    }, 0)
  }
  for (M in list(sphere(3), spd(3), hermitian_spd(2), spd(2, "bures"), hyperbolic(3, "ball"), hyperbolic(2), grassmann(4, 2), stiefel(4, 2), kendall(4))) {
    x <- spread(M, 12)
    p <- record(M, spread(M, 3, seed = 1), 2)
    for (P in list(problem_frechet(M), problem_huber(M, 0.25))) {
      g <- riemdp:::nonprivate_objective(P, x, p)$gradient
      expect_lt(max(abs(as.vector(mf_coords(M, p, g)) - slope(P, x, p))), 1e-7, label = label_of(M))
    }
  }
  set.seed(4)
  z <- matrix(rnorm(60), 12)
  for (M in list(sphere(4), grassmann(5, 2), stiefel(5, 2), stiefel(5, 3, "canonical"))) {
    p <- record(M, mf_random(M, 2), 1)
    g <- riemdp:::nonprivate_objective(problem_pca(M), z, p)$gradient
    expect_lt(max(abs(as.vector(mf_coords(M, p, g)) - slope(problem_pca(M), z, p))), 1e-7, label = label_of(M))
  }
})

test_that("gradients stay within the clip bounds that problem_facts() tells", {
  for (M in list(sphere(2), spd(2), hyperbolic(2))) {
    x <- spread(M, 50, sd = 1)
    center <- record(M, x, 1)
    x <- mf_to_ball(M, x, center, 0.4)
    facts <- problem_facts(problem_frechet(M), 0.4)
    expect_lte(max(mf_dist_matrix(M, x)), facts$clip * (1 + 1e-9))
    expect_equal(problem_facts(problem_huber(M, 0.1), 0.4)$clip, 0.1)
  }
  # the second derivative of half the squared distance at distance 2r on the hyperbolic plane, by differences
  M <- hyperbolic(2)
  r <- 0.7
  z <- matrix(c(cosh(2 * r), sinh(2 * r), 0), 1)
  f <- function(t) mf_dist(M, c(cosh(t), 0, sinh(t)), z)^2 / 2
  expect_equal((f(1e-4) - 2 * f(0) + f(-1e-4)) / 1e-8, problem_facts(problem_frechet(M), r)$smoothness, tolerance = 1e-5)
  z <- matrix(rnorm(15), 5)
  z <- z / sqrt(rowSums(z^2)) * 2
  w <- c(1, 1, 1) / sqrt(3)
  g <- apply(z, 1, function(x) sqrt(sum(riemdp:::nonprivate_objective(problem_pca(sphere(2)), matrix(x, 1), w)$gradient^2)))
  expect_lte(max(g), problem_facts(problem_pca(sphere(2)), 2)$clip)
})

test_that("plain solvers agree with frechet_mean() and with singular vectors", {
  for (M in list(sphere(3), spd(3), hermitian_spd(2), hyperbolic(3, "ball"), grassmann(4, 2), kendall(4), spd(2, "bures"))) {
    x <- spread(M, 40)
    mean <- frechet_mean(x, M)$mean
    for (method in c("lbfgs", "conjugate", "gradient")) {
      fit <- riemannian_optimize(problem_frechet(M), x, start = record(M, x, 1), method = method)
      expect_lt(mf_dist(M, fit$value, mean), 1e-8, label = paste(label_of(M), method))
      expect_true(fit$converged)
    }
  }
  set.seed(2)
  z <- matrix(rnorm(600), 100) %*% diag(c(3, 2.5, 1, 1, 0.5, 0.2))
  v <- svd(z)$v
  for (method in c("lbfgs", "conjugate", "gradient")) {
    w <- riemannian_optimize(problem_pca(sphere(5)), z, start = rep(1, 6) / sqrt(6), method = method)$value
    expect_lt(min(max(abs(w - v[, 1])), max(abs(w + v[, 1]))), 1e-8)
    for (M in list(grassmann(6, 2), stiefel(6, 2), stiefel(6, 2, "canonical"))) {
      w <- riemannian_optimize(problem_pca(M), z, start = diag(6)[, 3:4] + 0 * 1, method = method, max_iter = 3000)
      # a coordinate subspace is a saddle only if the data have no correlations
      expect_lt(gap(tcrossprod(w$value), tcrossprod(v[, 1:2])), 1e-7, label = paste(label_of(M), method))
    }
  }
})

test_that("the reference's minima are found", {
  ref <- reference()
  fit <- riemannian_optimize(problem_frechet(spd(4)), reference_spd(), start = diag(4))
  expect_lt(gap(fit$value, ref$spd$W_star), 1e-8)
  expect_lt(abs(2 * fit$loss - ref$spd$F_star), 1e-12)
  fit <- riemannian_optimize(problem_pca(sphere(19)), reference_sphere(), start = rep(1, 20) / sqrt(20))
  expect_lt(gap(fit$value, ref$sph$W_star), 1e-7)
  expect_lt(abs(fit$loss - ref$sph$F_star), 1e-12)
})

test_that("plain solvers agree with pymanopt's answers", {
  ref <- jsonlite::fromJSON(test_path("reference", "pymanopt.json"))
  rows <- function(seed, n, d) t(matrix(lcg_normals(seed, n * d), d))
  g <- rows(101, 60, 6)
  s <- array(0, c(3, 3, 60))
  k <- 0
  for (i in 1:3) for (j in i:3) {
    k <- k + 1
    s[i, j, ] <- s[j, i, ] <- 0.5 * g[, k] / if (i == j) 1 else sqrt(2)
  }
  a <- diag(sqrt(1:3))
  spds <- array(apply(mf_exp(spd(3), diag(3), s), 3, function(e) a %*% e %*% a), c(3, 3, 60))
  z <- rows(202, 200, 6) %*% diag(c(3, 2.5, 1, 1, 0.5, 0.2))
  b <- 0.3 * rows(303, 30, 3)
  b <- b / (1 + sqrt(rowSums(b^2)))
  x <- 0.3 * rows(404, 40, 3)
  x[, 1] <- x[, 1] + 1
  x <- x / sqrt(rowSums(x^2))
  # a user's own: Brockett's cost, whose minimum on the Stiefel manifold is unique up to signs
  N <- diag(2:1)
  brockett <- problem(function(w, z) -sum((z %*% w)^2 %*% N), function(w, z) -2 * z %o% as.vector(z %*% w) %*% N, stiefel(6, 2))
  w0 <- qr.Q(qr(outer(1:6 - 0.5, 0:1, function(i, j) cos(pi * i * j / 6))))
  signed <- function(w) w %*% diag(sign(w[cbind(max.col(t(abs(w))), seq_len(ncol(w)))]))
  cases <- list(
    spd_mean = list(problem_frechet(spd(3)), spds, diag(3), identity),
    sphere_mean = list(problem_frechet(sphere(2)), x, x[1, ], identity),
    ball_mean = list(problem_frechet(hyperbolic(3, "ball")), b, b[1, ], identity),
    sphere_pca = list(problem_pca(sphere(5)), z, rep(1, 6) / sqrt(6), function(w) w * sign(w[1]) * sign(ref$sphere_pca$value[1])),
    grassmann_pca = list(problem_pca(grassmann(6, 2)), z, w0, tcrossprod),
    stiefel_brockett = list(brockett, z, w0, signed)
  )
  for (name in names(cases)) {
    case <- cases[[name]]
    methods <- if (name == "stiefel_brockett") "lbfgs" else c("lbfgs", "conjugate", "gradient")
    for (method in methods) {
      fit <- riemannian_optimize(case[[1]], case[[2]], start = case[[3]], method = method, tol = 1e-10, max_iter = 5000)
      expect_lt(max(abs(case[[4]](fit$value) - ref[[name]]$value)), 1e-8, label = paste(name, method))
      expect_lt(abs(fit$loss - ref[[name]]$loss), 1e-12 * max(1, abs(ref[[name]]$loss)), label = paste(name, method))
    }
  }
  for (name in c("spd_mean", "sphere_mean", "ball_mean")) {
    mean <- frechet_mean(cases[[name]][[2]], cases[[name]][[1]]$manifold)$mean
    expect_lt(max(abs(mean - ref[[name]]$value)), 1e-8, label = name)
  }
})

test_that("Huber's mean is the Frechet mean for large thresholds and near the median for small ones", {
  M <- spd(2)
  x <- spread(M, 60, sd = 0.6)
  x[, , 1] <- diag(c(1e6, 1e-6))
  start <- record(M, x, 2)
  expect_lt(mf_dist(M, riemannian_optimize(problem_huber(M, 100), x, start = start)$value, frechet_mean(x, M)$mean), 1e-8)
  robust <- riemannian_optimize(problem_huber(M, 1e-3), x, start = start, tol = 1e-7)$value
  expect_lt(mf_dist(M, robust, frechet_median(x, M)$mean), 1e-2)
  expect_gt(mf_dist(M, frechet_mean(x, M)$mean, frechet_mean(x[, , -1], M)$mean), 0.1)
})

test_that("a user's own problem gives what the built-in one gives", {
  M <- sphere(2)
  x <- spread(M, 30)
  one <- problem(function(w, z) mf_dist(M, w, z)^2 / 2, function(w, z) -mf_log(M, w, z), M)
  many <- problem(function(w, z) mf_dist(M, w, z)^2 / 2, function(w, z) -mf_log(M, w, z), M, batched = TRUE)
  want <- riemannian_optimize(problem_frechet(M), x, start = x[1, ])$value
  expect_equal(riemannian_optimize(one, x, start = x[1, ])$value, want, tolerance = 1e-9)
  expect_equal(riemannian_optimize(many, x, start = x[1, ])$value, want, tolerance = 1e-9)
  rows <- lapply(seq_len(30), function(i) x[i, ])
  expect_equal(riemannian_optimize(one, rows, start = x[1, ])$value, want, tolerance = 1e-9)
  private <- function(P, data = x) with_simulation(5, dp_optimize(P, data, 1, 1e-6, start = x[1, ], clip = 0.3, lr = 1))$value
  expect_equal(private(one), private(problem_frechet(M)), tolerance = 1e-12)
  expect_equal(private(many), private(problem_frechet(M)), tolerance = 1e-12)
  # matrices and shapes
  for (M in list(spd(2), kendall(4))) {
    x <- spread(M, 20)
    own <- problem(function(w, z) mf_dist(M, w, z)^2 / 2, function(w, z) -mf_log(M, w, z), M, batched = TRUE)
    data <- if (M$name == "kendall") seq_len(20) else x
    if (M$name == "kendall") {
      own <- problem(function(w, i) mf_dist(M, w, x[, i])^2 / 2, function(w, i) -mf_log(M, w, x[, i]), M, batched = TRUE)
    }
    start <- record(M, x, 1)
    expect_lt(mf_dist(M, riemannian_optimize(own, data, start = start)$value, frechet_mean(x, M)$mean), 1e-8)
  }
  # no data: a function of the point
  f <- problem(function(w) -w[3], function(w) c(0, 0, -1), sphere(2))
  expect_equal(riemannian_optimize(f, start = c(1, 0, 0))$value, c(0, 0, 1), tolerance = 1e-9)
})

test_that("one step is the mean of clipped gradients, computed by hand", {
  M <- spd(2)
  x <- spread(M, 25, sd = 1)
  p <- diag(2)
  logs <- mf_log(M, p, x)
  length <- mf_norm(M, p, logs)
  clip <- stats::median(length)
  mean <- apply(scale_records(M, logs, pmin(1, clip / length)), 1:2, mean)
  got <- raw_run(M, x, "frechet", p, clip = clip, lr = 0.7, n = 25)
  expect_lt(mf_dist(M, got, mf_exp(M, p, 0.7 * mean)), 1e-12)
  # a Poisson batch with everybody, divided by a public number
  got <- raw_run(M, x, "frechet", p, sampling = "poisson", divisor = 40, clip = clip, lr = 0.7, n = 25)
  expect_lt(mf_dist(M, got, mf_exp(M, p, 0.7 * mean * 25 / 40)), 1e-12)
  # disjoint batches: the second step sees the second batch only
  first <- raw_run(M, x, "frechet", p, sampling = "disjoint", batch = 10, clip = 1e9, lr = 1, n = 25)
  expect_lt(mf_dist(M, first, mf_exp(M, p, apply(logs[, , 1:10], 1:2, mean))), 1e-12)
  second <- raw_run(M, x, "frechet", p, sampling = "disjoint", batch = 10, steps = 2, clip = 1e9, lr = 1, n = 25)
  expect_lt(mf_dist(M, second, mf_exp(M, first, apply(mf_log(M, first, x[, , 11:20]), 1:2, mean))), 1e-11)
  # variance reduction without noise and clipping, with all records, is gradient descent
  plain <- raw_run(M, x, "frechet", p, steps = 6, clip = 1e9, lr = 0.4, n = 25)
  for (paper in 0:1) {
    reduced <- raw_run(M, x, "frechet", p, steps = 6, batch = 25, inner = 3, clip = 1e9, snapshot_clip = 1e9, paper = paper, lr = 0.4, n = 25)
    expect_lt(mf_dist(M, reduced, plain), 1e-11)
  }
  # and with batches it is close to it: the corrections cancel what batches add
  with_simulation(1, near <- raw_run(M, x, "frechet", p, sampling = "without-replacement", steps = 40, batch = 1, inner = 5, clip = 1e9,
                                     snapshot_clip = 1e9, lr = 0.4, n = 25))
  expect_lt(mf_dist(M, near, frechet_mean(x, M)$mean), 1e-6)
})

test_that("noise has the standard deviation that the sensitivity and the multiplier say", {
  # all records at the start: gradients vanish, and one step shows the noise alone. 3000 draws of 3 coordinates: a
  # 5 % wrong constant moves the variance by 10 %, more than 6 standard errors of 1.5 %
  M <- spd(2)
  p <- matrix(c(2, 0.5, 0.5, 1), 2)
  x <- array(p, c(2, 2, 20))
  n <- if (quick()) 400 else 3000
  shares <- function(...) {
    r <- dp_optimize(problem_frechet(M), x, noise_multiplier = 3, delta = 1e-6, start = p, clip = 0.5, lr = 0.01, ...)
    r$sd
  }
  expect_equal(shares(steps = 1), 3 * 2 * 0.5 / 20)
  expect_equal(shares(steps = 1, method = "rsgd", batch = 4), 3 * 2 * 0.5 / 4)
  expect_equal(shares(steps = 1, method = "rsgd", sampling = "disjoint", batch = 5), 3 * 2 * 0.5 / 5)
  expect_equal(shares(steps = 1, method = "rsgd", sampling = "poisson", batch = 4, rate = 0.2), 3 * 0.5 / 4)
  expect_equal(shares(steps = 1, method = "rsvrg", inner = 1, batch = 4, split = 2), 3 * 2 * 0.5 / 4)
  spread_of <- function(...) {
    y <- with_simulation(7, vapply(seq_len(n), function(i) as.vector(raw_run(M, x, "frechet", p, ..., lr = 0.01, n = 20)), double(4)))
    mean(mf_norm(M, p, mf_log(M, p, array(y, c(2, 2, n))))^2) / 3 / 0.01^2
  }
  expect_var <- function(got, want) expect_lt(abs(got / want - 1), 5 * sqrt(2 / (3 * n)))
  expect_var(spread_of(sd = 0.15), 0.15^2)
  expect_var(spread_of(sampling = "without-replacement", batch = 4, sd = 0.75), 0.75^2)
  expect_var(spread_of(sampling = "disjoint", batch = 5, sd = 0.6), 0.6^2)
  expect_var(spread_of(sampling = "poisson", rate = 0.2, divisor = 4, sd = 0.375), 0.375^2)
  # variance reduction: the snapshot's noise is drawn once and stays through its epoch, the steps' is fresh
  expect_var(spread_of(sampling = "without-replacement", batch = 4, inner = 1, sd = 0.5, snapshot_sd = 0.3), 0.5^2 + 0.3^2)
  expect_var(spread_of(sampling = "without-replacement", batch = 4, steps = 4, inner = 4, sd = 0, snapshot_sd = 0.3), (4 * 0.3)^2)
  expect_var(spread_of(sampling = "without-replacement", batch = 4, steps = 4, inner = 4, sd = 0.3, snapshot_sd = 0), 4 * 0.3^2)
})

test_that("each noise of a step is as large as stated: 3 % would be seen", {
  # 400 coordinates a draw, 60 draws: the variance has a relative standard error of .91 %, 3 % less noise is 6.6 of them
  M <- euclidean(400)
  x <- matrix(0, 6, 400)
  n <- 60
  ratio <- function(...) {
    y <- with_simulation(11, vapply(seq_len(n), function(i) raw_run(M, x, "frechet", rep(0, 400), ..., clip = 1e-9, lr = 1, n = 6), double(400)))
    mean(y^2)
  }
  exact <- function(got, want) expect_lt(abs(got / want - 1), 5 * sqrt(2 / (400 * n)))
  exact(ratio(steps = 1, sd = 0.7), 0.7^2)
  exact(ratio(steps = 1, sampling = "without-replacement", batch = 2, sd = 0.7), 0.7^2)
  exact(ratio(steps = 1, sampling = "poisson", rate = 0.5, divisor = 3, sd = 0.7), 0.7^2)
  exact(ratio(steps = 2, sampling = "disjoint", batch = 2, sd = 0.7), 2 * 0.7^2)
  exact(ratio(steps = 1, sampling = "without-replacement", batch = 2, inner = 1, snapshot_clip = 1, sd = 0.7, snapshot_sd = 0), 0.7^2)
  exact(ratio(steps = 1, sampling = "without-replacement", batch = 2, inner = 1, snapshot_clip = 1, sd = 0, snapshot_sd = 0.7), 0.7^2)
})

test_that("clips hold for every record, in every pass", {
  # one record a thousand clips away, the rest at the start: a step is exactly its clip over the batch
  M <- euclidean(2)
  x <- rbind(c(1000, 0), matrix(0, 4, 2))
  step <- function(...) with_simulation(5, raw_run(M, x, "frechet", c(0, 0), ..., lr = 1, n = 5))
  expect_equal(step(steps = 1, clip = 0.5), c(0.1, 0), tolerance = 1e-12)
  expect_equal(step(steps = 1, sampling = "without-replacement", batch = 5, clip = 0.5), c(0.1, 0), tolerance = 1e-12)
  expect_equal(step(steps = 1, sampling = "poisson", rate = 1, divisor = 10, clip = 0.5), c(0.05, 0), tolerance = 1e-12)
  # variance reduction: at the snapshot differences vanish, so the step is the snapshot's clipped mean
  expect_equal(step(steps = 1, sampling = "without-replacement", batch = 5, inner = 1, clip = 0.5, snapshot_clip = 0.25), c(0.05, 0), tolerance = 1e-12)
  # later steps of an epoch add differences, each clipped: of logarithms at two points of the sphere, far beyond the clip
  S <- sphere(2)
  near <- matrix(rep(c(0, 0, 1), 3), 3, byrow = TRUE)
  tiny <- 1e-6
  after <- function(steps, clip) with_simulation(5, raw_run(S, near, "frechet", c(sin(1), 0, cos(1)), steps = steps, sampling = "without-replacement",
                                                           batch = 3, inner = 2, clip = clip, snapshot_clip = 0.1, lr = 1, n = 3))
  # the snapshot's clipped mean moves the point by .1; then the difference (.1 towards the pole, cut to `clip`) takes its share back
  expect_equal(mf_dist(S, after(2, tiny), c(0, 0, 1)), 1 - 0.2 + tiny, tolerance = 1e-9)
  expect_equal(mf_dist(S, after(2, 0.04), c(0, 0, 1)), 1 - 0.2 + 0.04, tolerance = 1e-9)
})

test_that("no clip is so small that squares of lengths vanish: what has no length would pass it", {
  # a gradient of 1e-165 has a squared length of 0 in doubles, and the noise at a clip of 1e-200 would be some 1e-200
  M <- euclidean(2)
  x <- rbind(c(1e-165, 0), matrix(0, 9, 2))
  run <- function(clip, ...) dp_optimize(problem_frechet(M), x, 1, 1e-6, start = c(0, 0), clip = clip, lr = 1, steps = 1, ...)
  ledger <- dp_ledger(NULL, 5, 1e-5)
  expect_error(run(1e-200, ledger = ledger), "at least 1e-150", class = "riemdp_error_argument")
  expect_error(run(c(1, 1e-200), method = "rsvrg", batch = 2, inner = 1), "at least 1e-150", class = "riemdp_error_argument")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  expect_error(raw_run(M, x, "frechet", c(0, 0), clip = 1e-200, lr = 1, n = 10), class = "riemdp_error_argument")
  expect_error(raw_run(M, x, "frechet", c(0, 0), snapshot_clip = 1e-200, lr = 1, n = 10), class = "riemdp_error_argument")
  chunk <- list(clip = 1e-200, apart = FALSE, losses = FALSE)
  expect_error(.Call(riemdp:::riemdp_chunk_gradients, M, x, "frechet", 1, NULL, 10, c(0, 0), NULL, chunk, NULL, NULL), class = "riemdp_error_argument")
  # the smallest one clips
  x[1, 1] <- 1e-140
  expect_equal(raw_run(M, x, "frechet", c(0, 0), clip = 1e-150, lr = 1, n = 10)[1] / 1e-151, 1, tolerance = 1e-9)
})

test_that("batches are uniform and Poisson", {
  # Euclidean line, records 1e4^i apart in nothing but name: one step of length one shows which records were drawn
  M <- euclidean(5)
  x <- diag(5)
  n <- 2000
  draws <- function(...) with_simulation(3, t(vapply(seq_len(n), function(i) raw_run(M, x, "frechet", rep(0, 5), ..., clip = 9, lr = 1, n = 5), double(5))))
  y <- draws(sampling = "without-replacement", batch = 2, steps = 1) * 2
  expect_true(all(rowSums(y) == 2))
  pairs <- table(apply(y, 1, function(r) paste(which(r == 1), collapse = " ")))
  expect_equal(length(pairs), 10)
  expect_gt(stats::chisq.test(pairs)$p.value, 1e-6)
  y <- draws(sampling = "poisson", rate = 0.3, divisor = 1, steps = 1)
  expect_gt(suppressWarnings(stats::chisq.test(table(factor(rowSums(y), 0:5)), p = stats::dbinom(0:5, 5, 0.3)))$p.value, 1e-6)
  expect_lt(max(abs(colMeans(y) - 0.3)) / sqrt(0.21 / n), 5)
})

test_that("the reference's utilities are reached", {
  # means over k runs against means over many: 5 standard errors
  ref <- reference()
  k <- if (quick()) 3 else 12
  z <- list(spd = reference_spd(), sph = reference_sphere())
  cases <- list(
    spd = list(problem = problem_frechet(spd(4)), kind = "frechet", start = diag(4), factor = 2, clip = 1.25, lr = c(0.5, 0.5, 0.001, 0.1, 0.004)),
    sph = list(problem = problem_pca(sphere(19)), kind = "pca", start = rep(1, 20) / sqrt(20), factor = 1, clip = 1, lr = c(2, 2, 0.003, 0.5, 0.003))
  )
  sd <- ref$calibration[["1.0"]]
  runs <- list(
    `RGD eps=0.5` = list(steps = 20, sd = ref$calibration[["0.5"]]$RGD_T20),
    `RGD eps=1` = list(steps = 20, sd = sd$RGD_T20),
    `RSGD_b1 eps=1` = list(sampling = "without-replacement", batch = 1, steps = 5000, sd = sd$RSGD_b1_T5000),
    `RSGD_poisson eps=1` = list(sampling = "poisson", rate = 0.02, divisor = 100, steps = 200, sd = sd$RSGD_poisson_sigma),
    `RSVRG eps=1` = list(sampling = "without-replacement", batch = 1, steps = 1000, inner = 500, paper = 1, sd = sd$RSVRG_S2_m500_sigma)
  )
  for (name in names(cases)) {
    case <- cases[[name]]
    expect_setequal(names(runs), names(ref[[name]]$targets)) # all of them
    for (j in seq_along(runs)) {
      settings <- runs[[j]]
      settings$sd <- settings$sd * case$clip
      fixed <- list(M = case$problem$manifold, data = z[[name]], kind = case$kind, start = case$start, clip = case$clip,
                    snapshot_clip = case$clip, lr = case$lr[j], n = 5000)
      excess <- with_simulation(j, vapply(seq_len(k), function(i) {
        case$factor * loss_at(case$problem, z[[name]], do.call(raw_run, c(fixed, settings))) - ref[[name]]$F_star
      }, 0))
      target <- ref[[name]]$targets[[names(runs)[j]]]
      expect_lt(abs(mean(excess) - target$mean) / (target$sd / sqrt(k)), 5, label = paste(name, names(runs)[j]))
    }
  }
})

test_that("noise is calibrated to the budget", {
  ref <- reference()$calibration
  x <- array(diag(2), c(2, 2, 5000))
  ask <- function(epsilon, ...) dp_optimize(problem_huber(spd(2), 1), x, epsilon, 1e-6, ..., start = diag(2))
  for (epsilon in c(0.5, 1, 2)) {
    r <- ask(epsilon, steps = 20)
    expect_equal(r$sd, ref[[format(epsilon, nsmall = 1)]]$RGD_T20, tolerance = 1e-5)
    expect_equal(guarantee(r)$mu, sqrt(20) / r$noise_multiplier)
  }
  # the noise of the reference costs the reference's epsilon
  r <- dp_optimize(problem_huber(spd(2), 1), x, noise_multiplier = ref[["1.0"]]$RSGD_b1_T5000 / 2, delta = 1e-6, start = diag(2),
                   method = "rsgd", batch = 1, steps = 5000)
  expect_equal(guarantee(r)$epsilon, 1, tolerance = 1e-3)
  r <- ask(1, method = "rsgd", sampling = "poisson", rate = 0.02, batch = 100, steps = 200)
  expect_equal(r$sd, ref[["1.0"]]$RSGD_poisson_sigma, tolerance = 1e-3)
  expect_equal(guarantee(r)$adjacency, "add-remove")
  # one pass over disjoint batches costs one Gaussian, two passes two
  one <- ask(1, method = "rsgd", sampling = "disjoint", batch = 50)
  expect_equal(one$noise_multiplier, 1 / riemdp:::gaussian_mu(1, 1e-6))
  expect_equal(ask(1, method = "rsgd", sampling = "disjoint", batch = 50, epochs = 2)$noise_multiplier, sqrt(2) * one$noise_multiplier)
  # a multiplier by hand implies its epsilon
  again <- dp_optimize(problem_huber(spd(2), 1), x, noise_multiplier = one$noise_multiplier, delta = 1e-6, start = diag(2), steps = 1)
  expect_equal(guarantee(again)$epsilon, 1, tolerance = 1e-6)
  # restarts multiply the events
  expect_equal(ask(1, steps = 5, restarts = 4)$noise_multiplier, ask(1, steps = 20)$noise_multiplier)
})

test_that("a run's price and noise are those of its steps, for every method, recomputed", {
  M <- euclidean(2)
  n <- 40
  x <- matrix(0, n, 2)
  z <- 30
  order <- 4
  gaussian <- order / (2 * z^2) # Renyi divergence of a step with all records
  sampled <- function(make, q, z) as.double(event_price(make(q, event_gaussian(z)), "rdp", orders = order))
  # settings, Renyi price, noise over z, noise of snapshots over z (of split 1.5): clip 0.5 for steps, 0.8 for snapshots
  two <- c(0.8, 0.5)
  table <- list(
    list(list(method = "rgd", steps = 6), 6 * gaussian, 2 * 0.5 / n),
    list(list(method = "rgd", steps = 6, restarts = 3), 18 * gaussian, 2 * 0.5 / n),
    list(list(method = "rsgd", batch = 4, steps = 6), 6 * sampled(event_sample, 0.1, z), 2 * 0.5 / 4),
    list(list(method = "rsgd", batch = 4, steps = 6, restarts = 2), 12 * sampled(event_sample, 0.1, z), 2 * 0.5 / 4),
    list(list(method = "rsgd", sampling = "poisson", rate = 0.1, batch = 4, steps = 6), 6 * sampled(event_poisson, 0.1, z), 0.5 / 4),
    list(list(method = "rsgd", sampling = "poisson", rate = 0.1, batch = 4, steps = 6, restarts = 2), 12 * sampled(event_poisson, 0.1, z), 0.5 / 4),
    list(list(method = "rsgd", sampling = "disjoint", batch = 4, steps = 10), gaussian, 2 * 0.5 / 4), # one pass: each record is in one batch
    list(list(method = "rsgd", sampling = "disjoint", batch = 4, steps = 11), 2 * gaussian, 2 * 0.5 / 4),
    list(list(method = "rsgd", sampling = "disjoint", batch = 4, steps = 11, restarts = 2), 4 * gaussian, 2 * 0.5 / 4),
    list(list(method = "rsvrg", batch = 4, inner = 3, steps = 6, split = 1.5, clip = two), 2 * gaussian / 1.5^2 + 6 * sampled(event_sample, 0.1, z),
         2 * 0.5 / 4, 1.5 * 2 * 0.8 / n),
    list(list(method = "rsvrg", batch = 4, inner = 3, steps = 6, split = 1.5, clip = two, restarts = 2),
         4 * gaussian / 1.5^2 + 12 * sampled(event_sample, 0.1, z), 2 * 0.5 / 4, 1.5 * 2 * 0.8 / n),
    list(list(method = "rsvrg", batch = n, inner = 3, steps = 6, split = 1.5, clip = two), 2 * gaussian / 1.5^2 + 6 * gaussian, 2 * 0.5 / n, 1.5 * 2 * 0.8 / n)
  )
  for (row in table) {
    poisson <- identical(row[[1]]$sampling, "poisson")
    # (an rdp ledger keeps what one call costs at its order)
    ledger <- dp_ledger(NULL, 50, 1e-5, "rdp", orders = order, adjacency = if (poisson) "add-remove" else "replace-one")
    settings <- utils::modifyList(list(clip = 0.5, lr = 0.1, start = c(0, 0), noise_multiplier = z, delta = 1e-6), row[[1]])
    r <- do.call(dp_optimize, c(list(problem_frechet(M), x, ledger = ledger), settings))
    expect_equal(summary(ledger)$spent[1] / row[[2]], 1, tolerance = 1e-9)
    expect_equal(r$sd / (z * row[[3]]), 1, tolerance = 1e-9)
    # sums of Gaussians: mu from the same divergence
    gaussians <- row[[1]]$method == "rgd" || identical(row[[1]]$sampling, "disjoint") || identical(row[[1]]$batch, n)
    expect_equal(guarantee(r)$mu, if (gaussians) sqrt(2 * row[[2]] / order) else NA_real_, tolerance = 1e-9)
    if (length(row) > 3) expect_equal(r$snapshot_sd / (z * row[[4]]), 1, tolerance = 1e-9)
    # and the epsilon that is stated is that of these steps: above the true one, which all accountants bound
    at <- function(orders) min(vapply(orders, function(a) {
      g <- a / (2 * z^2)
      s <- function(make) as.double(event_price(make(0.1, event_gaussian(z)), "rdp", orders = a))
      f <- row[[1]]
      count <- f$steps * if (is.null(f$restarts)) 1 else f$restarts
      total <- switch(f$method, rgd = count * g, rsvrg = count / 3 * g / 1.5^2 + count * if (f$batch == n) g else s(event_sample),
                      if (identical(f$sampling, "disjoint")) ceiling(f$steps / 10) * count / f$steps * g else
                        s(if (poisson) event_poisson else event_sample) * count)
      total + log1p(-1 / a) - log(1e-6 * a) / (a - 1)
    }, 0))
    expect_lte(guarantee(r)$epsilon, at(2^seq(1, 12, 0.25)) * (1 + 1e-9))
    expect_gt(guarantee(r)$epsilon, 0)
  }
})

test_that("the paper's calibration is equation (3), and is labelled not private", {
  x <- array(diag(2), c(2, 2, 1000))
  ask <- function(...) dp_optimize(problem_huber(spd(2), 1), x, 0.5, 1e-6, ..., start = diag(2), calibration = "paper")
  r <- ask(method = "rsvrg", inner = 50, epochs = 2, batch = 1)
  # K(l) at the sd returned, and min over l of (K + log 1/delta)/l
  implied <- stats::optimize(function(l) (100 * l * (l + 1) * (sqrt(2) + sqrt(28))^2 / (1e6 * r$sd^2) + log(1e6)) / l, c(0.01, 1e4))$objective
  expect_equal(implied, 0.5, tolerance = 1e-6)
  expect_equal(guarantee(r)$label, "none")
  expect_error(ask(method = "rsgd", sampling = "poisson", rate = 0.1, batch = 5), class = "riemdp_error_argument")
})

test_that("failures of records are silent and count as gradient 0", {
  M <- sphere(2)
  x <- spread(M, 20)
  p <- x[1, ]
  broken <- x
  broken[3, ] <- NA
  broken[4, ] <- 5
  broken[5, ] <- -p # the cut locus of the start
  zeroed <- x
  zeroed[3:5, ] <- rep(p, each = 3) # gradient 0 at the start
  one <- function(x) raw_run(M, x, "frechet", p, clip = 1, lr = 1, n = 20)
  expect_silent(a <- one(broken))
  expect_equal(a, one(zeroed), tolerance = 1e-14)
  # callbacks
  run <- function(gradient, batched = FALSE) {
    with_simulation(2, dp_optimize(problem(NULL, gradient, M, batched), x, 1, 1e-6, clip = 0.2, lr = 1, start = p, steps = 3))$value
  }
  good <- function(w, z) -mf_log(M, w, z)
  bad <- x[7, 1]
  zero <- run(function(w, z) if (z[1] == bad) 0 * z else good(w, z))
  expect_silent(a <- run(function(w, z) if (z[1] == bad) stop("record 7 is secret") else good(w, z)))
  expect_identical(a, zero)
  expect_identical(run(function(w, z) if (z[1] == bad) c(NA, 1, 1) else good(w, z)), zero)
  expect_identical(run(function(w, z) if (z[1] == bad) 1:2 else good(w, z)), zero)
  expect_identical(run(function(w, z) if (z[1] == bad) "a" else good(w, z)), zero)
  expect_silent(a <- run(function(w, z) {
    if (z[1] == bad) warning("secret")
    message("secret")
    good(w, z)
  }))
  expect_equal(run(function(w, z) if (any(z[, 1] == bad)) stop("secret") else good(w, z), batched = TRUE), zero, tolerance = 1e-14)
  # a normal part is dropped
  expect_equal(run(function(w, z) good(w, z) + 3 * w), run(good), tolerance = 1e-12)
})

test_that("a release holds noisy and public quantities only", {
  x <- spread(spd(2), 500)
  fields <- c("value", "manifold", "mechanism", "problem", "n", "unit", "steps", "batch", "sampling", "restarts", "clip", "noise_multiplier", "split", "sd",
              "snapshot_sd", "event", "output", "center", "radius", "trace", "calibration", "chosen", "budget", "guarantee", "draws", "source")
  own <- problem(NULL, function(w, z) -mf_log(spd(2), w, z), spd(2))
  for (P in list(problem_frechet(spd(2)), own)) {
    r <- dp_optimize(P, x, 1, 1e-6, center = diag(2), radius = 2, clip = 1, lr = 0.5, steps = 5)
    expect_true(all(names(r) %in% fields))
    found <- rapply(unclass(r), function(f) is.function(f) || is.environment(f), how = "unlist")
    expect_false(any(found))
    expect_lt(length(serialize(r, NULL)), 20000)
  }
  expect_equal(guarantee(r)$label, "approx")
  expect_equal(guarantee(with_simulation(1, dp_optimize(P, x, 1, 1e-6, start = diag(2), clip = 1, lr = 0.5, steps = 5)))$label, "none")
  # Poisson: the number of records is private
  r <- dp_optimize(problem_frechet(spd(2)), x, 1, 1e-6, start = diag(2), method = "rsgd", sampling = "poisson", rate = 0.1, batch = 50, clip = 1)
  expect_true(is.na(r$n))
  expect_false(any(grepl("(^|[^0-9.])500([^0-9.]|$)", capture.output(print(r), explain(r), print(summary(r))))))
  # the trace: lengths of noisy gradients; two runs differ
  expect_named(r$trace, c("step", "lr", "gradient_norm"))
  expect_equal(r$trace$step, 1:10)
  expect_lte(nrow(dp_optimize(problem_huber(spd(2), 1), x, 1, 1e-6, start = diag(2), method = "rsgd", batch = 1, steps = 5000)$trace), 1001)
  r <- dp_optimize(problem_huber(spd(2), 1), x, 1, 1e-6, start = diag(2), steps = 4, restarts = 3, output = "random", lr = function(t) 1 / t)
  expect_equal(r$trace$step, 1:12)
  expect_equal(r$trace$lr, rep(1 / 1:4, 3))
})

test_that("the public ball holds the iterates, and averages are intrinsic", {
  x <- spread(spd(2), 300)
  r <- dp_optimize(problem_frechet(spd(2)), x, 0.05, 1e-6, center = diag(2), radius = 0.2, steps = 10)
  expect_lte(mf_dist(spd(2), r$value, diag(2)), 0.2 + 1e-9)
  # on the Euclidean line the average is the arithmetic one: start 0, records at 1, step .5: iterates 1/2, 3/4, 7/8
  expect_equal(raw_run(euclidean(1), rep(1, 4), "frechet", 0, steps = 3, output = "average", clip = 9, lr = 0.5, n = 4), (1 / 2 + 3 / 4 + 7 / 8) / 3)
  picks <- with_simulation(1, replicate(300, raw_run(euclidean(1), rep(1, 4), "frechet", 0, steps = 3, output = "random", clip = 9, lr = 0.5, n = 4)))
  expect_gt(stats::chisq.test(table(factor(picks, c(0, 1 / 2, 3 / 4))))$p.value, 1e-6)
})

test_that("wrong settings end in clear errors before anything is drawn", {
  x <- spread(spd(2), 50)
  P <- problem_frechet(spd(2))
  expect_bad <- function(..., class = "riemdp_error_argument") {
    args <- utils::modifyList(list(problem = P, data = x, epsilon = 1, delta = 1e-6, start = diag(2), clip = 1), list(...))
    expect_error(do.call(dp_optimize, args), class = class)
  }
  expect_bad(clip = 0)
  expect_bad(clip = -1)
  expect_bad(clip = c(1, 2))
  expect_bad(clip = NULL)
  expect_bad(method = "rsgd", batch = 51)
  expect_bad(method = "rsgd", sampling = "poisson", batch = 5)
  expect_bad(method = "rsgd", batch = 5, rate = 0.1)
  expect_bad(method = "rgd", batch = 5)
  expect_bad(method = "rsvrg", sampling = "poisson", rate = 0.1, batch = 5)
  expect_bad(delta = 0)
  expect_bad(epsilon = NULL)
  expect_bad(noise_multiplier = 1)
  expect_bad(steps = 5, epochs = 2)
  expect_bad(lr = -1)
  expect_bad(lr = c(1, 2))
  expect_bad(start = NULL)
  expect_bad(start = frechet_mean(x, spd(2)))
  expect_bad(radius = 1)
  expect_bad(stps = 1)
  expect_bad(problem = 1)
  expect_bad(data = 1:3, class = "riemdp_error_shape")
  expect_bad(lr = 1e9, class = "riemdp_error_diverged")
  expect_error(problem_pca(spd(2)), class = "riemdp_error_unsupported")
  expect_error(problem_huber(spd(2), 0), class = "riemdp_error_argument")
  expect_error(riemannian_optimize(P, x, start = diag(3)), class = "riemdp_error_shape")
  expect_error(riemannian_optimize(problem(NULL, identity, spd(2)), x, start = diag(2)), class = "riemdp_error_argument")
  expect_error(riemannian_optimize(problem(function(w, z) stop("mine"), function(w, z) z, spd(2)), x, start = diag(2)), "mine")
})

test_that("callbacks that stop or are interrupted leave nothing behind", {
  M <- sphere(2)
  x <- spread(M, 10)
  interrupt <- problem(NULL, function(w, z) {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    -mf_log(M, w, z)
  }, M)
  out <- tryCatch(dp_optimize(interrupt, x, 1, 1e-6, start = x[1, ], clip = 1, lr = 0.1), interrupt = function(c) "interrupted")
  expect_identical(out, "interrupted")
  expect_s3_class(dp_optimize(problem_frechet(M), x, 1, 1e-6, start = x[1, ], clip = 1), "riemdp_release")
})

test_that("private principal components approach the plain ones", {
  set.seed(6)
  z <- matrix(rnorm(24000), 4000) %*% diag(c(3, 2.5, 0.6, 0.5, 0.4, 0.3))
  colnames(z) <- letters[1:6]
  v <- svd(z)$v
  r <- dp_pca(z, q = 2, epsilon = 20, delta = 1e-6, bound = 8, lr = 0.05, steps = 40)
  expect_equal(crossprod(r$loadings), diag(2), tolerance = 1e-9)
  expect_equal(rownames(r$loadings), letters[1:6])
  expect_lt(sqrt(sum((tcrossprod(r$loadings) - tcrossprod(v[, 1:2]))^2)), 0.1)
  r <- dp_pca(as.data.frame(z), epsilon = 20, delta = 1e-6, bound = 8, lr = 0.05, steps = 40)
  expect_gt(abs(sum(r$loadings * v[, 1])), 0.99)
  expect_s3_class(r, "riemdp_release")
  # rows beyond the bound and missing ones are no error and have no more say than others
  z[1, ] <- 1e12
  z[2, 1] <- NA
  expect_silent(r <- dp_pca(z, epsilon = 20, delta = 1e-6, bound = 8, lr = 0.05, steps = 40))
  expect_gt(abs(sum(r$loadings * v[, 1])), 0.99)
  # lots of public probability: a row more or less, at the price of such a run
  r <- dp_pca(z, epsilon = 20, delta = 1e-6, bound = 8, lr = 0.05, steps = 40, method = "rsgd", sampling = "poisson", rate = 0.5, batch = 2000)
  expect_identical(guarantee(r)$adjacency, "add-remove")
  expect_equal(as.double(dp_epsilon(event_compose(event_poisson(0.5, event_gaussian(r$noise_multiplier)), times = 40), 1e-6)), 20, tolerance = 1e-3)
  expect_gt(abs(sum(r$loadings * v[, 1])), 0.99)
  expect_error(dp_pca(z, epsilon = 20, delta = 1e-6, bound = 8, method = "rsgd", sampling = "poisson"), "`rate` and `batch`", class = "riemdp_error_argument")
  expect_error(dp_pca(z, epsilon = 1, delta = 1e-6), class = "riemdp_error_argument")
  expect_error(dp_pca(z, q = 6, epsilon = 1, delta = 1e-6, bound = 1), class = "riemdp_error_argument")
})

test_that("a run takes its price from a ledger before it draws, and none comes back", {
  x <- spread(spd(2), 100)
  P <- problem_huber(spd(2), 1)
  ledger <- dp_ledger(epsilon = 1, delta = 1e-5, rule = "basic")
  r <- dp_optimize(P, x, 0.7, 1e-6, start = diag(2), ledger = ledger)
  expect_false(is.null(r$budget$entry))
  expect_error(dp_optimize(P, x, 0.7, 1e-6, start = diag(2), ledger = ledger), class = "riemdp_error")
  ledger <- dp_ledger(epsilon = 1, delta = 1e-5, rule = "basic")
  expect_error(dp_optimize(P, x, 0.7, 1e-6, start = diag(2), lr = 1e9, ledger = ledger), class = "riemdp_error_diverged")
  expect_error(dp_optimize(P, x, 0.7, 1e-6, start = diag(2), ledger = ledger), class = "riemdp_error")
})

interrupt_at <- function(M, call, from = new.env()) {
  from$calls <- -Inf # without those that look whether rows mix
  P <- problem(NULL, function(w, z) {
    from$calls <- from$calls + 1
    if (from$calls == call) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    -mf_log(M, w, z)
  }, M, batched = TRUE)
  from$calls <- 0
  P
}

test_that("an interrupted run goes on from its checkpoint, once, and is paid for once", {
  M <- spd(2)
  x <- spread(M, 40)
  P <- interrupt_at(M, 60)
  file <- tempfile(fileext = ".rds")
  ledger <- dp_ledger(epsilon = 1, delta = 1e-5, rule = "basic")
  run <- function(P, ...) dp_optimize(P, x, 0.7, 1e-6, start = diag(2), clip = 1, lr = 0.3, source = "a table", ledger = ledger, checkpoint = file, ...)
  expect_identical(tryCatch(run(P, steps = 100), interrupt = function(e) "interrupted"), "interrupted")
  expect_true(file.exists(file))
  spent <- summary(ledger)$spent
  # noisy and public numbers only: no record, no function, no generator's state
  saved <- readRDS(file)
  found <- rapply(unclass(saved), function(f) is.function(f) || is.environment(f), how = "unlist")
  expect_false(any(found))
  expect_lt(length(serialize(saved, NULL)), 20000)
  expect_equal(saved$state[1:2], c(0, 55))
  copy <- tempfile(fileext = ".rds")
  file.copy(file, copy)
  # what doesn't belong to it uses nothing up
  expect_error(dp_resume(file, problem_frechet(M), x, ledger), class = "riemdp_error_argument")
  expect_error(dp_resume(file, P, x[, , -1], ledger), class = "riemdp_error_argument")
  expect_error(dp_resume(file, P, x, dp_ledger(epsilon = 1)), class = "riemdp_error_ledger")
  expect_error(with_simulation(1, dp_resume(file, P, x, ledger)), class = "riemdp_error_argument")
  expect_error(dp_resume(tempfile(), P, x, ledger), class = "riemdp_error_argument")
  damaged <- tempfile(fileext = ".rds")
  saveRDS(1, damaged)
  expect_error(dp_resume(damaged, P, x, ledger), class = "riemdp_error_argument")
  # a new run doesn't write over it
  expect_error(run(P, steps = 100), class = "riemdp_error_argument")
  r <- dp_resume(file, P, x, ledger)
  expect_s3_class(r, "riemdp_optimize")
  expect_equal(r$trace$step, 1:100)
  expect_identical(r$source, "a table")
  expect_equal(guarantee(r)$epsilon, 0.7)
  expect_equal(r$draws$mu, riemdp:::gaussian_mu(0.7, 1e-6), tolerance = 1e-9)
  expect_identical(summary(ledger)$spent, spent)
  expect_equal(nrow(ledger_history(ledger)), 1)
  expect_false(file.exists(file))
  expect_error(dp_resume(copy, P, x, ledger), class = "riemdp_error_ledger")
})

test_that("a run isn't gone on with on other records, problems, data sets or parts than it was paid for", {
  M <- spd(2)
  patients <- spread(M, 40)
  staff <- 1.1 * patients
  wrong <- function(...) {
    before <- readRDS(file)
    expect_error(dp_resume(file, ...), class = "riemdp_error_argument")
    expect_identical(readRDS(file), before)
  }
  for (form in c("array", "list")) {
    as_form <- switch(form, array = identity, points = function(x) mf_points(x, M), chunks = function(x) chunks(x, size = 15),
                      list = function(x) lapply(seq_len(dim(x)[3]), function(i) x[, , i]))
    made <- interrupt_at(M, if (form == "list") 1100 else if (form == "chunks") 90 else 30)
    P <- if (form == "list") problem(NULL, made$gradient, M) else made
    ledger <- dp_ledger(NULL, 5, 1e-5, data_sets = list(patients = c("a", "b"), staff = NULL))
    file <- tempfile(fileext = ".rds")
    tryCatch(dp_optimize(P, as_form(patients), 0.7, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 60, ledger = ledger, data_set = "patients",
                         part = "a", checkpoint = file), interrupt = identity)
    wrong(P, as_form(staff), ledger, data_set = "patients", part = "a")
    wrong(P, as_form(patients), ledger, data_set = "staff")
    wrong(P, as_form(patients), ledger, data_set = "patients", part = "b")
    wrong(P, as_form(patients), ledger)
    one <- patients
    one[1, 1, 7] <- one[1, 1, 7] * (1 + 2^-50) # one record by a last digit
    wrong(P, as_form(one), ledger, data_set = "patients", part = "a")
    wrong(P, as_form(patients[, , 40:1]), ledger, data_set = "patients", part = "a")
    other <- P
    body(other$gradient)[[2]] <- quote(from$calls <- from$calls + 2)
    wrong(other, as_form(patients), ledger, data_set = "patients", part = "a")
    wrong(problem_frechet(M), as_form(patients), ledger, data_set = "patients", part = "a")
    # the fingerprint is in the ledger, its key in the file, and neither in both
    saved <- readRDS(file)
    seal <- riemdp:::memory_state(ledger)$tokens[[saved$token]]
    expect_match(seal, "^[0-9a-f]{64}$")
    expect_false(grepl(seal, paste(unlist(rapply(saved, as.character, how = "unlist")), collapse = " "), fixed = TRUE))
    expect_length(saved$key, 32)
    r <- dp_resume(file, P, as_form(patients), ledger, data_set = "patients", part = "a")
    expect_identical(nrow(r$trace), 60L)
  }
  # the same numbers under another key have nothing in common
  key <- function(i) as.raw((seq_len(32) * i) %% 256)
  expect_false(identical(riemdp:::seal_of(key(1), patients), riemdp:::seal_of(key(3), patients)))
  expect_identical(riemdp:::seal_of(key(1), 1:10), riemdp:::seal_of(key(1), c(1:9, 10L)))
  expect_error(dp_optimize(problem_frechet(M), sites(site(40, function(request) stop("not asked"))), 0.7, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 60,
                           ledger = ledger, data_set = "staff", checkpoint = tempfile()), class = "riemdp_error_unsupported")
  expect_identical(summary(ledger)$releases[summary(ledger)$data_set == "staff"][1], 0L)
})

test_that("a checkpoint is over once its run has ended or was resumed, whatever copies there are", {
  M <- spd(2)
  x <- spread(M, 40)
  ledger <- dp_ledger(epsilon = 5, delta = 1e-5, rule = "basic")
  file <- tempfile(fileext = ".rds")
  copies <- character()
  keep <- new.env()
  keep$calls <- 0
  P <- problem(NULL, function(w, z) { # copies the file while the run goes on
    keep$calls <- keep$calls + 1
    if (keep$calls %% 30 == 0 && file.exists(file)) {
      copies <<- c(copies, tempfile(fileext = ".rds"))
      file.copy(file, copies[length(copies)])
    }
    -mf_log(M, w, z)
  }, M, batched = TRUE)
  r <- dp_optimize(P, x, 0.7, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 100, ledger = ledger, checkpoint = file)
  expect_length(copies, 3)
  expect_false(file.exists(file))
  for (copy in copies) expect_error(dp_resume(copy, P, x, ledger), class = "riemdp_error_ledger")
  # a run that diverges is over too
  expect_error(dp_optimize(problem_frechet(M), x, 0.7, 1e-6, start = diag(2), clip = 1, lr = function(t) if (t > 50) 1e9 else 0.1, steps = 100,
                           ledger = ledger, checkpoint = file), class = "riemdp_error_diverged")
  expect_false(file.exists(file))
  expect_error(dp_optimize(P, x, 0.7, 1e-6, start = diag(2), clip = 1, lr = 0.3, checkpoint = file), class = "riemdp_error_argument")
  expect_error(dp_optimize(P, x, 0.7, 1e-6, start = diag(2), clip = 1, lr = 0.3, ledger = ledger, checkpoint = 3), class = "riemdp_error_argument")
})

test_that("a checkpoint that can't be written ends the run in a clear error", {
  x <- spread(spd(2), 20)
  directory <- tempfile()
  dir.create(directory)
  file <- file.path(directory, "state.rds")
  gone <- problem(NULL, function(w, z) {
    unlink(directory, recursive = TRUE)
    0 * w
  }, spd(2))
  expect_error(dp_optimize(gone, x, 0.5, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 40, ledger = dp_ledger(epsilon = 1, delta = 1e-5),
                           checkpoint = file), "can't be written", class = "riemdp_error_argument")
})

test_that("a checkpoint is resumed with a ledger that is opened again", {
  skip_if_not_installed("RSQLite")
  M <- spd(2)
  x <- spread(M, 20)
  path <- tempfile(fileext = ".ledger")
  file <- tempfile(fileext = ".rds")
  ledger <- dp_ledger(path, epsilon = 1, delta = 1e-5, rule = "zcdp", create = TRUE)
  P <- interrupt_at(M, 30)
  tryCatch(dp_optimize(P, x, 0.5, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 40, ledger = ledger, checkpoint = file), interrupt = identity)
  copy <- tempfile(fileext = ".rds")
  file.copy(file, copy)
  again <- dp_ledger(path)
  spent <- summary(again)$spent
  expect_s3_class(dp_resume(file, P, x, again), "riemdp_optimize")
  expect_identical(summary(again)$spent, spent)
  expect_error(dp_resume(copy, P, x, dp_ledger(path)), class = "riemdp_error_ledger")
})

test_that("a run in parts draws what a run in one piece draws", {
  M <- spd(2)
  x <- spread(M, 30)
  P <- problem_frechet(M)
  settings <- list(
    list(steps = 23, output = "average"), list(steps = 24, restarts = 3, output = "random"),
    list(method = "rsgd", sampling = "disjoint", batch = 7, steps = 25), list(method = "rsgd", sampling = "poisson", rate = 0.3, batch = 9, steps = 21),
    list(method = "rsvrg", inner = 7, batch = 30, steps = 21, output = "average")
  )
  for (s in settings) {
    run <- function(...) with_simulation(4, do.call(dp_optimize, c(list(P, x, 1, 1e-6, start = diag(2), clip = 0.7, lr = 0.2), s, list(...))))
    poisson <- identical(s$sampling, "poisson")
    ledger <- dp_ledger(epsilon = 5, delta = 1e-5, rule = "basic", adjacency = if (poisson) "add-remove" else "replace-one")
    whole <- run()
    parts <- run(ledger = ledger, checkpoint = tempfile())
    expect_equal(parts$value, whole$value, tolerance = 1e-14)
    expect_equal(parts$trace$gradient_norm, whole$trace$gradient_norm)
  }
})

test_that("states that were changed by hand are refused", {
  M <- sphere(2)
  x <- spread(M, 5)
  x0 <- x[1, ]
  go <- function(state, inner = 0) {
    settings <- list(sampling = "full", output = "last", steps = 4, batch = 5, lots = 0, rate = 1, divisor = 5, clip = 1, sd = 0.1,
                     inner = inner, snapshot_clip = 1, snapshot_sd = 0.1, snapshot_divisor = 5, paper = FALSE, restarts = 2, radius = 0, lr = 0.1, until = 8)
    .Call(riemdp:::riemdp_release_optimum, M, x, "frechet", 1, NULL, 5, x0, NULL, settings, state, FALSE)
  }
  good <- c(1, 2, 4, rep(x0, 3), 0, 0, 0, 0, 0, 0)
  expect_length(go(good)$value, 3)
  for (bad in list(good[-1], replace(good, 1, 2), replace(good, 2, 4), replace(good, 2, 1.5), replace(good, 3, 9), replace(good, 4, 7),
                   replace(good, 5, NaN), as.character(good), list())) {
    expect_error(go(bad), class = "riemdp_error_argument")
  }
  expect_error(go(good, inner = 2), class = "riemdp_error_argument") # no snapshot
})

test_that("metric learning as a user's own problem finds the geometric mean of the two kinds of pairs", {
  set.seed(9)
  z <- cbind(matrix(rnorm(120), 60) %*% diag(c(1, 0.3)), rep(1:0, 30))
  z[z[, 3] == 0, 1:2] <- z[z[, 3] == 0, 2:1]
  metric <- problem(function(w, z) if (z[3] == 1) sum(z[1:2] * (w %*% z[1:2])) else sum(z[1:2] * solve(w, z[1:2])),
                    function(w, z) if (z[3] == 1) tcrossprod(w %*% z[1:2]) else -tcrossprod(z[1:2]), spd(2))
  # Zadeh, Hosseini and Sra (2016): the W with W A W = B
  A <- crossprod(z[z[, 3] == 1, 1:2])
  B <- crossprod(z[z[, 3] == 0, 1:2])
  w <- riemannian_optimize(metric, z, start = diag(2))$value
  expect_lt(gap(w %*% A %*% w, B), 1e-7)
  expect_lt(gap(mf_exp(spd(2), solve(A), 0.5 * mf_log(spd(2), solve(A), B)), w), 1e-7) # the midpoint of A^-1 and B
  r <- with_simulation(1, dp_optimize(metric, z[rep(1:60, 50), ], 5, 1e-6, start = diag(2), clip = 3, lr = 1, steps = 12))
  expect_lt(mf_dist(spd(2), r$value, w), 0.1)
  frame <- as.data.frame(z)
  one_row <- problem(metric$loss, function(w, z) metric$gradient(w, as.numeric(z)), spd(2))
  same <- with_simulation(1, dp_optimize(one_row, frame[rep(1:60, 50), ], 5, 1e-6, start = diag(2), clip = 3, lr = 1, steps = 1))
  first <- with_simulation(1, dp_optimize(metric, z[rep(1:60, 50), ], 5, 1e-6, start = diag(2), clip = 3, lr = 1, steps = 1))
  expect_equal(same$value, first$value)
})

test_that("variance reduction is priced as its events say, and the split is the one of least noise", {
  x <- spread(spd(2), 2000)
  run <- function(...) dp_optimize(problem_frechet(spd(2)), x, 1, 1e-6, start = diag(2), radius = 2, center = diag(2), method = "rsvrg", ...)
  r <- run(batch = 40, inner = 50, epochs = 2, clip = c(1, 0.4))
  z <- r$noise_multiplier
  expect_equal(c(r$snapshot_sd, r$sd), c(z * r$split * 2 * 1 / 2000, z * 2 * 0.4 / 40))
  # guarantees: S Gaussians for the snapshots, S m samples for the steps
  by_hand <- event_compose(event_compose(event_gaussian(z * r$split), times = 2), event_compose(event_sample(40 / 2000, event_gaussian(z)), times = 100))
  expect_equal(as.double(dp_epsilon(by_hand, 1e-6)), 1, tolerance = 1e-3)
  expect_lte(as.double(dp_epsilon(r$event, 1e-6)), 1)
  # smaller and larger splits have more noise: what stays for an epoch in full, what is fresh by a/(2 - a)
  a <- min(1, 1 * 1) # lr = 1/smoothness
  noise <- function(r) r$snapshot_sd^2 + a / (2 - a) * r$sd^2
  for (factor in c(0.4, 2.5)) expect_gt(noise(run(batch = 40, inner = 50, epochs = 2, clip = c(1, 0.4), split = factor * r$split)), noise(r))
  # a user's own problem has no known curvature
  own <- problem(NULL, function(w, z) -mf_log(spd(2), w, z), spd(2), batched = TRUE)
  r <- dp_optimize(own, x, 1, 1e-6, center = diag(2), radius = 2, clip = 1, lr = 0.2, method = "rsvrg", batch = 40, inner = 20, epochs = 1)
  expect_true(is.finite(r$split) && r$split > 0)
  # where few steps are sampled from, the normal limit that steers the split is close
  for (q in c(0.02, 1)) for (square in c(1e-4, 0.01)) {
    z <- riemdp:::step_multiplier(q, square)
    event <- event_compose(event_sample(q, event_gaussian(z)), times = 200)
    expect_equal(riemdp:::gdp_epsilon(sqrt(200 * square), 1e-6), as.double(dp_epsilon(event, 1e-6)), tolerance = if (z > 1) 0.05 else 0.3)
  }
})

test_that("noise of sampled steps is the least that keeps the budget", {
  make <- function(q, times) function(z) event_compose(event_sample(q, event_gaussian(z)), times = times)
  for (case in list(list(0.02, 300, 0.5), list(1 / 2000, 2000, 1), list(0.3, 40, 4))) {
    f <- make(case[[1]], case[[2]])
    z <- riemdp:::calibrate_steps(f, case[[3]], 1e-6)
    expect_lte(as.double(dp_epsilon(f(z), 1e-6)), case[[3]])
    expect_gt(as.double(dp_epsilon(f(z * (1 - 1e-3)), 1e-6)), case[[3]])
  }
  # a price that can't be had by this way falls back to dp_calibrate()
  expect_equal(riemdp:::calibrate_steps(function(z) event_gaussian(z), 1, 1e-6), as.double(dp_calibrate(event_gaussian, 1, 1e-6)), tolerance = 1e-3)
})

test_that("\"auto\" decides by public quantities and says why", {
  x <- spread(spd(2), 400)
  P <- problem_frechet(spd(2))
  run <- function(...) dp_optimize(P, x, 1, 1e-6, center = diag(2), radius = 1, clip = 1, ...)
  expect_equal(run()$mechanism, "rgd")
  expect_equal(run(epochs = 30)$mechanism, "rgd")
  few <- run(epochs = 1)
  expect_equal(few$mechanism, "rsgd")
  expect_equal(few$steps, riemdp:::steps_needed(P, 1))
  expect_match(few$chosen, "passes")
  expect_equal(run(batch = 10, epochs = 1)$batch, 10)
  expect_equal(run(steps = 2)$mechanism, "rgd")
  # the records have no say
  expect_identical(dp_optimize(P, x[, , rep(1, 400)], 1, 1e-6, center = diag(2), radius = 1, clip = 1, epochs = 1)$chosen, few$chosen)
  expect_output(explain(few), "passes")
})

test_that("interrupted and refused runs leave a ledger as the rules say", {
  M <- spd(2)
  x <- spread(M, 60)
  ledger <- dp_ledger(epsilon = 1, delta = 1e-5, rule = "basic")
  # interrupted without a checkpoint: spent
  out <- tryCatch(dp_optimize(interrupt_at(M, 3), x, 0.6, 1e-6, start = diag(2), clip = 1, lr = 0.1, ledger = ledger), interrupt = function(e) "interrupted")
  expect_identical(out, "interrupted")
  expect_equal(summary(ledger)$spent[1], 0.6)
  # Poisson sampling protects against one record more or less; a ledger for replaced records refuses it before anything is drawn
  calls <- 0
  counting <- problem(NULL, function(w, z) {
    calls <<- calls + 1
    0 * w
  }, M)
  expect_error(dp_optimize(counting, x, 0.1, 1e-6, start = diag(2), clip = 1, lr = 0.1, method = "rsgd", sampling = "poisson", rate = 0.1, batch = 6,
                           ledger = ledger), class = "riemdp_error_adjacency")
  expect_error(dp_optimize(counting, x, 0.6, 1e-6, start = diag(2), clip = 1, lr = 0.1, ledger = ledger), class = "riemdp_error_budget")
  expect_equal(calls, 0)
  expect_equal(summary(ledger)$spent[1], 0.6)
  # a diverging step size is judged on the iterate, with the budget spent and said so
  ledger <- dp_ledger(epsilon = 1, delta = 1e-5, rule = "basic")
  expect_error(dp_optimize(problem_frechet(M), x, 0.6, 1e-6, start = diag(2), clip = 1, lr = 1e6, ledger = ledger), "public.*whole budget is spent",
               class = "riemdp_error_diverged")
  expect_equal(summary(ledger)$spent[1], 0.6)
  # in a public ball nothing can diverge
  r <- dp_optimize(problem_frechet(M), x, 0.3, 1e-6, center = diag(2), radius = 1, clip = 1, lr = 50, ledger = ledger)
  expect_lte(mf_dist(M, r$value, diag(2)), 1 + 1e-9)
})

test_that("step sizes may depend on the number of steps, and those of principal components fall", {
  set.seed(30)
  x <- mf_random(sphere(15), 30, sd = 0.3)
  r <- dp_pca(x, epsilon = 1, delta = 1e-6, bound = 1, steps = 5)
  expect_equal(r$trace$lr, 8 * (1 / 32)^(0:4 / 4))
  expect_equal(nrow(dp_pca(x, epsilon = 1, delta = 1e-6, bound = 1, mechanism = "rgd")$trace), 20)
  r <- dp_optimize(problem_huber(sphere(15), 1), x, 1, 1e-6, start = x[1, ] * 0 + 0.25, steps = 3, lr = function(t, steps) t / steps)
  expect_equal(r$trace$lr, 1:3 / 3)
  expect_error(dp_optimize(problem_huber(sphere(15), 1), x, 1, 1e-6, start = x[1, ] * 0 + 0.25, steps = 3, lr = function(t) stop("no")),
               class = "riemdp_error_argument")
})

test_that("what can be refused is refused before anything is spent", {
  M <- spd(2)
  x <- spread(M, 40)
  P <- problem_frechet(M)
  ledger <- dp_ledger(NULL, 5, 1e-5)
  refused <- function(...) {
    expect_error(dp_optimize(P, x, 0.5, 1e-6, ..., ledger = ledger), class = "riemdp_error")
    expect_identical(nrow(ledger_history(ledger)), 0L)
  }
  refused(start = diag(2), clip = 1, lr = 0.3, steps = 5, method = "rsgd", batch = 1.7)
  refused(start = diag(2), clip = 1, lr = 0.3, steps = 5, method = "rsgd", batch = 41)
  refused(start = diag(2), clip = 1e-320, lr = 0.3, steps = 5)
  refused(start = diag(2), clip = 1e308, lr = 0.3, steps = 5)
  refused(start = diag(3), clip = 1, lr = 0.3, steps = 5)
  refused(start = diag(2), clip = 1, lr = c(0.3, 0.2), steps = 5)
  # a Poisson batch is the number that sums are divided by: any public one
  ledger <- dp_ledger(NULL, 5, 1e-5, adjacency = "add-remove")
  r <- dp_optimize(P, x, 0.5, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 5, method = "rsgd", sampling = "poisson", rate = 0.04, batch = 1.7,
                   ledger = ledger)
  expect_identical(nrow(ledger_history(ledger)), 1L)
  expect_identical(guarantee(r)$adjacency, "add-remove")
})

test_that("a batched problem whose rows mix is caught on made-up records, when it is made or when a run begins", {
  M <- sphere(2)
  x <- spread(M, 30)
  bad <- function(f, M = sphere(2), loss = NULL) expect_error(problem(loss, f, M, batched = TRUE), "made-up", class = "riemdp_error_callback")
  pull <- function(w, z) -mf_log(M, w, z)
  bad(function(w, z) { g <- pull(w, z); g - rep(colMeans(g), each = nrow(g)) })
  bad(function(w, z) { g <- pull(w, z); g / max(abs(g)) })
  bad(function(w, z) pull(w, z) / nrow(z))
  bad(function(w, z) pull(w, z)[rank(z[, 1]), , drop = FALSE])
  bad(function(w, z) { g <- pull(w, z); g[1, ] <- 0; g })
  bad(function(w, z) { g <- pull(w, z); g[nrow(g), ] <- 2 * g[nrow(g), ]; g })
  bad(function(w, z) { g <- pull(w, z); rbind(g[-1, , drop = FALSE], g[1, ]) })
  bad(function(w, z) -mf_log(spd(2), w, z) * mean(z), spd(2))
  bad(function(w, z) pull(w, z), loss = function(w, z) { d <- mf_dist(M, w, z); d - mean(d) })
  # what can't be told from points of M is told from the form of the data
  table <- data.frame(a = x[, 1], b = x[, 2], c = x[, 3], k = rep(1:3, 10))
  run <- function(P, data) dp_optimize(P, data, 1, 1e-6, start = x[1, ], clip = 0.3, lr = 1, steps = 2)
  mixed <- problem(NULL, function(w, z) { g <- cbind(z$a, z$b, z$c); g - rep(colMeans(g), each = nrow(g)) }, M, batched = TRUE)
  expect_identical(mixed$tried, NA)
  expect_error(run(mixed, table), "made-up", class = "riemdp_error_callback")
  wide <- problem(NULL, function(w, z) (z[, 4] - mean(z[, 4])) * z[, 1:3], M, batched = TRUE)
  expect_error(run(wide, as.matrix(table)), "made-up", class = "riemdp_error_callback")
  expect_error(run(problem(NULL, function(w, i) x[i, , drop = FALSE] / length(i), M, batched = TRUE), 1:30), "made-up", class = "riemdp_error_callback")
  # data decide nothing: only their type and columns are looked at
  expect_error(run(mixed, replace(table, 1:3, NA_real_)), "made-up", class = "riemdp_error_callback")
  # rows that stay apart: accepted, in one call for many; the generator is left as it was
  sizes <- integer()
  good <- problem(NULL,
                  function(w, z) { sizes <<- c(sizes, nrow(z)); -(z[, 4] - drop(as.matrix(z[, 1:3, drop = FALSE]) %*% w)) * as.matrix(z[, 1:3, drop = FALSE]) },
                  M, batched = TRUE)
  for (data in list(table, as.matrix(table))) {
    sizes <- integer()
    set.seed(4)
    before <- .Random.seed
    r <- run(good, data)
    expect_identical(.Random.seed, before)
    rm(".Random.seed", envir = globalenv())
    problem(NULL, function(w, z) { stats::runif(1); 0 * z - rep(w, each = nrow(z)) }, euclidean(3), batched = TRUE)
    expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
    expect_true(30 %in% sizes)
    expect_match(paste(guarantee(r)$assumptions, collapse = " "), "otherwise trusted")
  }
  expect_identical(problem(NULL, pull, M, batched = TRUE)$tried, TRUE)
  # where neither shows anything, private runs take records one by one
  rows <- lapply(1:30, function(i) x[i, ])
  sizes <- integer()
  own <- problem(NULL, function(w, z) { sizes <<- c(sizes, length(z)); -mf_log(M, w, do.call(rbind, z)) }, M, batched = TRUE)
  r <- with_simulation(1, run(own, rows))
  expect_false(any(sizes == 30))
  expect_equal(r$value, with_simulation(1, run(problem(NULL, pull, M, batched = TRUE), x))$value, tolerance = 1e-12)
})
