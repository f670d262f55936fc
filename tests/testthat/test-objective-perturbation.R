# Objective perturbation: the solver, the noise, the loss, and the privacy loss by exact density ratios.

rule_of <- function(...) riemdp:::perturbation_rule(...)

shared_fit <- function(x, y, rule, noise, newton = 60, eta = 1e-10, ridge = NULL) {
  if (is.null(ridge)) ridge <- matrix(rep(rule$ridge, each = nrow(y)), nrow(y))
  .Call(riemdp:::riemdp_perturbed_fit_nonprivate, x, y, ridge, 0 * ridge, noise, riemdp:::kernel_loss(rule), c(eta, newton, 10))
}

# ---- an implementation of its own: psi and its derivative at one residual, gradients and densities by plain matrices -------

psi_of <- function(g, tau, e) {
  h <- riemdp:::LOSS_STEP
  r <- sqrt(sum(e^2))
  z <- r / tau
  top <- (length(g) - 1) * h
  value <- if (z >= top) g[length(g)] else stats::approx(h * (seq_along(g) - 1), g, z)$y
  slope <- if (z >= top) 0 else (g[floor(z / h) + 2] - g[floor(z / h) + 1]) / h
  across <- if (r > 0) tau * value / r else slope
  unit <- if (r > 0) e / r else 0 * e
  list(psi = across * e, size = tau * value, derivative = across * diag(length(e)) + (slope - across) * tcrossprod(unit))
}

# features of a record as a q x (p q) matrix; columns run over responses, then features
record_map <- function(f) if (is.matrix(f)) do.call(cbind, lapply(seq_len(ncol(f)), function(k) diag(f[, k], nrow(f)))) else NULL

# log density of the released B (up to a constant) for records list(f, y)
log_density <- function(B, records, rule, log_noise, ridge = as.vector(matrix(rep(rule$ridge, each = nrow(B)), nrow(B)))) {
  b <- -ridge * as.vector(B)
  hessian <- diag(ridge)
  for (record in records) {
    map <- record_map(record$f)
    at <- psi_of(rule$g, rule$tau, record$y - drop(map %*% as.vector(B)))
    b <- b + drop(crossprod(map, at$psi))
    hessian <- hessian + t(map) %*% at$derivative %*% map
  }
  log_noise(matrix(b, nrow(B))) + as.numeric(determinant(hessian)$modulus)
}

# one predictor: the gauge of the vertices, and the largest column
log_vertex <- function(rate) function(b) -rate * (sqrt(sum((b[, 1] + b[, 2])^2)) + sqrt(sum((b[, 1] - b[, 2])^2))) / 2
log_max <- function(rate) function(b) -rate * max(sqrt(colSums(b^2)))

plain <- function(u, q) matrix(rep(c(1, u), each = q), q)

# The largest loss over neighbours of one common record, found by a direct search: the differing records' predictors and residuals,
# a common record, and B. Residuals are parametrised rather than responses, since both are free.
search_loss <- function(rule, q, log_noise, features = plain, starts = 8, common = TRUE) {
  direction <- function(v) v / sqrt(sum(v^2))
  loss <- function(par) {
    B <- matrix(par[1:(2 * q)] * 10, q)
    at <- 2 * q
    record <- function(k) {
      u <- tanh(2 * par[at + k])
      e <- par[at + k + seq_len(q)] * rule$tau
      f <- features(u, q)
      list(f = f, y = drop(record_map(f) %*% as.vector(B)) + e)
    }
    one <- record(1)
    other <- record(q + 2)
    rest <- if (common) list(record(2 * q + 3)) else list()
    log_density(B, c(list(one), rest), rule, log_noise) - log_density(B, c(list(other), rest), rule, log_noise)
  }
  best <- -Inf
  for (i in seq_len(starts)) {
    # from opposite residuals at one end of the range, the other one far out: the common record small and far out
    end <- sample(c(-1, 1), 1)
    w <- direction(stats::rnorm(q))
    z <- stats::runif(1, 0, 1.5)
    B <- matrix(outer(w, c(1, end)), q) * stats::runif(1, 2, 8) * sample(c(-1, 1), 1)
    par <- c(B, end, z * w, end, -stats::runif(1, 3, 30) * w, if (common) c(0, 40 * direction(stats::rnorm(q))))
    fit <- stats::optim(par, loss, method = "Nelder-Mead", control = list(fnscale = -1, maxit = if (quick()) 300 else 500))
    best <- max(best, fit$value)
  }
  best
}

test_that("the privacy loss stays below epsilon and comes close to it", {
  set.seed(1)
  for (q in 1:4) {
    rule <- rule_of(100, 1, 1, q, "closed")
    core <- rule$epsilon - rule$solver
    for (law in c("vertex", "max")) {
      found <- search_loss(rule, q, switch(law, vertex = log_vertex, max = log_max)(rule$rate), starts = if (quick()) 3 else 5)
      expect_lte(found, core * (1 + 1e-9))
      expect_gte(found, 0.9 * core)
    }
  }
})

test_that("the same search finds what is not private", {
  set.seed(2)
  # the ridge of one response for four
  q <- 4
  t <- expm1(0.5)
  broken <- list(g = riemdp:::huber_loss(), tau = 1, ridge = riemdp:::shared_ridge(t, 1 / 4, 1), rate = 0.5 / 2)
  expect_gt(search_loss(broken, q, log_max(broken$rate)), 1.5)
  sound <- broken
  sound$ridge <- riemdp:::shared_ridge(expm1(0.5 / q), 1 / 4, 1)
  expect_lte(search_loss(sound, q, log_max(broken$rate)), 1 + 1e-9)
  # noise of half the size
  rule <- rule_of(100, 1, 1, 2, "closed")
  expect_gt(search_loss(rule, 2, log_vertex(2 * rule$rate)), 1.2)
  # a loss that was made for a smaller t
  rule$ridge <- rule$ridge / 3
  expect_gt(search_loss(rule, 2, log_vertex(rule$rate)), 1.1)
})

test_that("a K-norm draw around least squares is not private", {
  # b = X'X (B - B^) of density exp(-epsilon N(b)/(2 Delta)), Delta from |x| <= sqrt 2, |y| <= 1 at the fit: log density at B
  draw <- function(B, u, y, rate) {
    x <- cbind(1, u)
    g <- drop(crossprod(x, x %*% B - y))
    -rate * max(abs(g)) + as.numeric(determinant(crossprod(x))$modulus)
  }
  u <- c(-1, -0.5, 0, 0.5, 1)
  y <- c(0.2, -0.1, 0.3, 0, 0.1)
  rate <- 1 / (2 * 2) # nominal epsilon 1 for gradients that move by 2
  B <- c(20, 20) # far out, where the K-norm law still has mass and the squared loss's gradient has grown
  other <- u
  other[5] <- -1
  expect_gt(abs(draw(B, u, y, rate) - draw(B, other, y, rate)), 5)
})

test_that("curved features: the noise takes the sup of their gauge, and without it the loss exceeds epsilon", {
  set.seed(3)
  # two directions, the second bent as on a hyperbolic plane: cosh and sinh features at |v| x_m = a
  a <- 0.8
  bent <- function(u, q) rbind(c(1, u), c(cosh(a * u), sinh(a * u) / a))
  grid <- seq(-1, 1, length.out = 401)
  angle <- seq(0, pi, length.out = 181)
  gauge <- function(u) {
    f <- bent(u, 2)
    w <- rbind(cos(angle), sin(angle))
    plus <- w * (f[, 1] + f[, 2])
    minus <- w * (f[, 1] - f[, 2])
    max((sqrt(colSums(plus^2)) + sqrt(colSums(minus^2))) / 2)
  }
  c_k <- max(vapply(grid, gauge, 0)) * (1 + 1e-3)
  rule <- rule_of(100, 1, 1, 2, "closed")
  core <- rule$epsilon - rule$solver
  # the ridge so that sup of the largest eigenvalue of F L^-1 F' is t
  lift <- max(vapply(grid, function(u) max(rowSums(bent(u, 2)^2 / rep(rule$ridge, each = 2))), 0)) / rule$t * (1 + 1e-3)
  rule$ridge <- rule$ridge * lift
  found <- search_loss(rule, 2, log_vertex(rule$rate / c_k), bent)
  expect_lte(found, core * (1 + 1e-9))
  expect_gte(found, 0.9 * core)
  expect_gt(search_loss(rule, 2, log_vertex(rule$rate), bent), 1.02 * core)
})

test_that("the loss meets its condition at every point, and is Huber's where there is room", {
  for (case in list(c(1, 1), c(2, 4), c(0.25, 2), c(8, 1), c(1, 16))) {
    eps <- case[1]
    q <- case[2]
    rule <- rule_of(500, eps, 1, q, "closed")
    k <- rule$epsilon - rule$solver - rule$e1 / 2
    z <- c(10^seq(-6, 0, length.out = 200), seq(0.001, 12, by = 0.0007))
    at <- riemdp:::loss_at(rule$g, 1, z)
    left <- c(diff(rule$g), 0)[pmax(1, ceiling(z / riemdp:::LOSS_STEP - 1e-9))] / riemdp:::LOSS_STEP
    left[z > 8] <- 0
    spent <- rule$e1 * at$psi / 2 + (q - 1) * log1p(rule$t * at$across) + log1p(rule$t * pmax(at$slope, left))
    expect_lte(max(spent), k)
    expect_gte(max(spent), k * 0.98)
    expect_true(all(diff(rule$g) >= 0) && all(rule$g <= 1) && all(at$across <= 1 + 1e-12))
  }
  expect_null(riemdp:::shared_loss(0.1, 0.5, 4, 1)) # q log(1 + t) is above k
  expect_error(.Call(riemdp:::riemdp_shared_loss, 1, 1, 0, 1, 0.04, 200), class = "riemdp_error_argument")
})

test_that("the public rule is the one that was measured", {
  rule <- riemdp:::closed_rule(100, 2, 1, 4)
  expect_equal(rule$e1, 1.6)
  expect_equal(round(rule$t, 5), 0.22247)
  expect_equal(round(rule$ridge, c(2, 3)), c(17.98, 5.993))
  expect_equal(round(rule$tau, 4), 1.3328)
  # e1 + e2 + e3 is what was asked for
  made <- rule_of(100, 2, 1, 4, "closed")
  expect_equal(made$solver + (made$epsilon - made$solver), 2)
  expect_lt(made$e1, 0.8 * 2)
  # in time, and once: public numbers alone are kept
  took <- system.time(rule_of(12345, 0.7, 2, 3, "model"))[["user.self"]]
  expect_lt(took, 0.5)
  expect_identical(rule_of(12345, 0.7, 2, 3, "model"), rule_of(12345, 0.7, 2, 3, "model"))
})

test_that("the solver finds the minimiser, alone by its safeguard as well", {
  set.seed(4)
  for (case in list(c(50, 1, 1), c(200, 3, 2), c(300, 1, 4), c(40, 0, 3))) {
    n <- case[1]
    d <- case[2]
    q <- case[3]
    x <- rbind(rep(1, n), matrix(stats::runif(n * d, -1, 1), d, n))
    y <- matrix(stats::rt(n * q, 2), q)
    y[, 1] <- 1e5
    rule <- rule_of(n, 1, d, q, "closed")
    noise <- matrix(stats::rnorm(q * (d + 1), sd = 5), q)
    fit <- shared_fit(x, y, rule, noise)
    expect_true(fit[[3]])
    expect_lt(sqrt(sum(fit[[2]]^2)), 1.01e-10)
    # the gradient again, by the implementation above
    gradient <- noise + matrix(rep(rule$ridge, each = q), q) * fit[[1]]
    for (i in seq_len(n)) gradient <- gradient - outer(psi_of(rule$g, rule$tau, y[, i] - fit[[1]] %*% x[, i])$psi[, 1], x[, i])
    expect_lt(max(abs(gradient)), 1e-9)
    slow <- shared_fit(x, y, rule, noise, newton = 0)
    expect_true(slow[[3]])
    expect_equal(slow[[1]], fit[[1]], tolerance = 1e-9)
    # features of their own for each response, here the same ones
    own <- array(rep(x, each = q), c(q, d + 1, n))
    if (q > 1) expect_equal(shared_fit(own, y, rule, noise)[[1]], fit[[1]], tolerance = 1e-10)
  }
})

test_that("the public tolerance is within reach of rounding for a million records", {
  skip_if(quick())
  set.seed(5)
  n <- 1e6
  x <- rbind(1, stats::runif(n, -1, 1))
  y <- rbind(3 * x[2, ] + stats::rnorm(n))
  rule <- rule_of(n, 1, 1, 1, "closed")
  fit <- shared_fit(x, y, rule, matrix(c(5, -3), 1), eta = riemdp:::solver_tolerance(rule$n, rule$tau, length(rule$ridge), rule$rate) / 10)
  expect_true(fit[[3]])
})

test_that("noise has the law of its norm", {
  n <- if (quick()) 4000 else 40000
  for (case in list(c(1, 1), c(1, 4), c(2, 2), c(3, 1))) {
    d <- case[1]
    q <- case[2]
    m <- q * (d + 1)
    for (norm in c("vertex", "max")) {
      b <- with_simulation(6, .Call(riemdp:::riemdp_perturbation_noise, d + 1, q, n, riemdp:::NOISE_NORM[[norm]], 2, TRUE))
      second <- apply(b, 2, function(v) sum(v^2)) / n * 4
      # relative standard error of a second moment below 2.5/sqrt(n) a row; 5 of them: a false alarm rate of 1e-5 over all
      expect_lt(max(abs(second / riemdp:::noise_second_moment(norm, d, q) - 1)), 12.5 / sqrt(n))
      if (norm == "max") { # the norm is Gamma(m)
        size <- apply(sqrt(apply(b^2, 2:3, sum)), 2, max)
        expect_gt(stats::ks.test(size[1:2000], stats::pgamma, m, 2)$p.value, 1e-5)
      } else if (d == 1) { # the gauge of the vertices is Gamma(2q) as well
        size <- (sqrt(colSums((b[, 1, , drop = FALSE] + b[, 2, , drop = FALSE])^2)) + sqrt(colSums((b[, 1, , drop = FALSE] - b[, 2, , drop = FALSE])^2))) / 2
        expect_gt(stats::ks.test(as.vector(size)[1:2000], stats::pgamma, 2 * q, 2)$p.value, 1e-5)
      }
    }
  }
  z <- with_simulation(7, replicate(4000, .Call(riemdp:::riemdp_block_noise, c(1, 3, 1), 1, TRUE)))
  size <- pmax(abs(z[1, ]), sqrt(colSums(z[2:4, ]^2)), abs(z[5, ]))
  expect_gt(stats::ks.test(size, stats::pgamma, 5, 1)$p.value, 1e-5)
})

test_that("the release is the minimiser for noise of the right law", {
  # no records: B = -L^-1 b + z, so L B has b's law up to the solver's noise
  rule <- rule_of(50, 1, 1, 2, "closed")
  x <- matrix(0, 2, 50)
  y <- matrix(0, 2, 50)
  draws <- if (quick()) 500 else 3000
  b <- with_simulation(8, replicate(draws, riemdp:::release_perturbed(x, y, rule) * rep(rule$ridge, each = 2)))
  size <- (sqrt(colSums((b[, 1, ] + b[, 2, ])^2)) + sqrt(colSums((b[, 1, ] - b[, 2, ])^2))) / 2
  expect_gt(stats::ks.test(size, stats::pgamma, 4, rule$rate)$p.value, 1e-5)
})

test_that("the exponential mechanism chooses by its weights", {
  score <- c(-3, 0, -1)
  n <- if (quick()) 2000 else 20000
  pick <- with_simulation(9, replicate(n, .Call(riemdp:::riemdp_exponential_choice, score, 2, TRUE)))
  expect_gt(stats::chisq.test(tabulate(pick, 3), p = exp(score) / sum(exp(score)))$p.value, 1e-5)
})

test_that("the error model is on the safe side of what is measured", {
  skip_if(quick())
  set.seed(10)
  for (case in list(c(200, 1, 1, 1), c(500, 1, 2, 3))) {
    n <- case[1]
    d <- case[3]
    q <- case[4]
    x <- rbind(1, matrix(stats::runif(n * d, -1, 1), d))
    beta <- matrix(stats::rnorm(q * (d + 1)), q) * rep(sqrt(riemdp:::nominal_prior(d))[c(1, rep(2, d))], each = q)
    y <- beta %*% x + matrix(stats::rgamma(n * q, 4) - 4, q) / 2 * sqrt(0.8)
    ols <- t(solve(tcrossprod(x), tcrossprod(x, y)))
    rule <- rule_of(n, case[2], d, q)
    excess <- with_simulation(1, replicate(300, mean(((riemdp:::release_perturbed(x, y, rule) - ols) %*% x)^2)))
    expect_lt(mean(excess), 1.2 * rule$error)
    expect_gt(mean(excess), 0.15 * rule$error)
  }
})
