# Objective perturbation: the solver, the noise, the loss, and the privacy loss by exact density ratios.

rule_of <- function(...) riemdp:::perturbation_rule(...)

shared_fit <- function(x, y, rule, noise, newton = 60, eta = 1e-10, ridge = NULL) {
  if (is.null(ridge)) ridge <- matrix(rep(rule$ridge, each = nrow(y)), nrow(y))
  .Call(riemdp:::riemdp_perturbed_fit_nonprivate, x, y, ridge, 0 * ridge, noise, riemdp:::kernel_loss(rule), riemdp:::newton_solver(eta, 10, newton))
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
search_loss <- function(rule, q, log_noise, features = plain, starts = if (quick()) 4 else 8, common = TRUE) {
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

test_that("what a record costs is looked at on both ends of each piece of the loss", {
  at <- riemdp:::loss_ends(c(0, 0.04, 0.06, 0.06, 0.06))
  expect_equal(at, list(u = c(0, 0.04, 0.06, 0.04, 0.06, 0.06), across = c(1, 1, 0.75, 1, 0.75, 0.5), slope = c(1, 0.5, 0, 1, 0.5, 0)))
  # where psi rises steeply after a flat piece the first end decides
  rule <- list(g = 0.04 * c(0, 0, 0.5, rep(0.5, 9)), q = 4)
  z <- seq(1e-4, 0.4, 1e-4)
  psi <- stats::approx(0.04 * (0:11), rule$g, z)$y
  slope <- ifelse(z > 0.04 & z <= 0.08, 0.5, 0)
  for (fall in c(0, 3)) {
    expect_equal(riemdp:::shared_budget(rule, fall, 2, log1p), max(fall * psi + 3 * log1p(2 * psi / z) + log1p(2 * slope)), tolerance = 1e-3)
  }
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
  for (case in list(c(1, 1, 1), c(2, 4, 1), c(0.25, 2, 0), c(8, 1, 5), c(1, 16, 2))) {
    eps <- case[1]
    q <- case[2]
    d <- case[3]
    rule <- rule_of(500, eps, d, q, "closed")
    # the largest leverage of a record (1, x), x at a corner, against the ridge
    expect_lte(sum(1 / rule$ridge), rule$t * (1 + 1e-12))
    expect_gte(sum(1 / rule$ridge), rule$t * (1 - 1e-12))
    expect_length(rule$ridge, d + 1)
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
  for (rule in list(rule_of(500, 1, 3, 2, "model"), rule_of(500, 1, 3, 2, loss = "huber"))) {
    expect_lte(sum(1 / rule$ridge), rule$t * (1 + 1e-12))
  }
  expect_null(riemdp:::shared_loss(0.1, 0.5, 4, 1)) # q log(1 + t) is above k
  expect_error(.Call(riemdp:::riemdp_shared_loss, 1, 1, 0, 1, FALSE, 0.04, 200), class = "riemdp_error_argument")
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

# A tally whose sums are those of records in memory, gradients off by `off(step, coefficients)`; counts calls
counted_tally <- function(n, sums, off = function(step, b) 0) {
  step <- 0
  structure(list(n = n, sums = function(v) {
    step <<- step + 1
    b <- v[-1]
    m <- length(b) / 2
    b <- b[seq_len(m)] + b[m + seq_len(m)]
    out <- sums(b, v[1] == 1)
    out[seq_len(m)] <- out[seq_len(m)] + off(step, b)
    out
  }, steps = function() step), class = "riemdp_tally")
}

test_that("responses far from their guess: the true gradient is within eta, and soon", {
  # responses with 20 binary digits: those less 1e4 are exact, and so the gradient can be had without large numbers
  set.seed(11)
  for (case in list(if (!quick()) c(1e5, 0), c(2e4, 1), if (!quick()) c(1e6, 1))) {
    if (is.null(case)) next
    n <- case[1]
    d <- case[2]
    x <- rbind(rep(1, n), matrix(round(stats::runif(n * d, -1, 1) * 2^20) / 2^20, d, n))
    e <- round(stats::rnorm(n) * 2^20) / 2^20
    rule <- rule_of(n, 1, d, 1, "closed")
    ridge <- rbind(rule$ridge)
    noise <- rbind(c(5, -3)[seq_len(d + 1)])
    eta <- riemdp:::solver_tolerance(rule, ridge, rule$rate, 1e6)
    for (centre in c(1e4, -2^19)) {
      took <- system.time(fit <- shared_fit(x, rbind(centre + e), rule, noise, eta = eta))[["user.self"]]
      expect_lt(took, if (n > 2e5) 30 else 3)
      expect_true(fit[[3]])
      expect_lte(sqrt(sum(fit[[2]]^2)), 0.75 * eta)
      near <- drop((fit[[1]] - c(centre, 0)[seq_len(d + 1)]) + fit[[4]])
      r <- e - colSums(x * near)
      psi <- sign(r) * riemdp:::loss_at(rule$g, rule$tau, abs(r))$psi
      gradient <- drop(noise + ridge * (fit[[1]] + fit[[4]])) - apply(x * rep(psi, each = d + 1), 1, sum)
      expect_lte(sqrt(sum(gradient^2)), eta)
      expect_lte(sqrt(sum((gradient - fit[[2]])^2)), eta / 4)
    }
  }
})

test_that("the solver ends on records that nobody has bounded", {
  x <- 1e150 * rbind(1, seq(-1, 1, length.out = 6))
  loss <- list(tau = 1, step = 0.04, g = c(0, 0.04, 0.06, 0.07))
  run <- function(ridge) {
    setTimeLimit(elapsed = 60, transient = TRUE)
    on.exit(setTimeLimit())
    .Call(riemdp:::riemdp_perturbed_fit_nonprivate, x, rbind(seq(-1, 1, length.out = 6)), ridge, 0.1 * ridge, 0.3 * ridge, loss,
          riemdp:::newton_solver(1e-8, 2, 5))
  }
  expect_false(run(matrix(1, 1, 2))[[3]])
})

test_that("eta is four times what the proof says rounding may do", {
  for (case in list(c(1, 0), c(1, 3), c(3, 2))) {
    q <- case[1]
    d <- case[2]
    rule <- rule_of(1000, 1, d, q, "closed")
    ridge <- matrix(rep(rule$ridge, each = q), q)
    u <- .Machine$double.eps / 2
    # the leading term by hand, and what else there is: the noise's own rounding, and responses of any length that are allowed
    leading <- 4 * rule$n * sqrt(d + 1) * rule$tau * (q + 15) * u
    rate <- 1e10
    eta <- riemdp:::solver_tolerance(rule, ridge, rate, 1e6)
    expect_gte(eta, leading)
    expect_lt(eta, leading * (1 + 1e-5))
    expect_equal(riemdp:::solver_tolerance(rule, ridge, rule$rate, 1e6) - eta, 16 * u * riemdp:::noise_most(rule$norm, d, q, rule$rate),
                 tolerance = 1e-4)
    far <- riemdp:::solver_tolerance(rule, ridge, rate, 1e30) - eta
    expect_equal(far, 32 * (d + 2)^2 * u^2 * sqrt(q) * 1e30 * rule$n * sqrt(d + 1), tolerance = 1e-5)
    # no noise is longer than the length that stands for it
    draws <- with_simulation(1, .Call(riemdp:::riemdp_perturbation_noise, d + 1, q, 5000, rule$norm, 2, TRUE))
    expect_lt(max(colSums(matrix(draws^2, q * (d + 1)))), riemdp:::noise_most(rule$norm, d, q, 2)^2)
  }
})

test_that("the solver's last way stands gradients that are off by a quarter of eta, in the number of steps that is proven", {
  n <- 400
  set.seed(12)
  x <- rbind(1, stats::runif(n, -1, 1))
  y <- 3 + x[2, ] + stats::rnorm(n)
  rule <- rule_of(n, 1, 1, 1, "closed")
  ridge <- rbind(rule$ridge)
  noise <- rbind(c(2, -1))
  sums <- function(b, hessian) {
    r <- y - drop(b %*% x)
    at <- riemdp:::loss_at(rule$g, rule$tau, abs(r))
    h <- x %*% (at$slope * t(x))
    c(-drop(x %*% (sign(r) * at$psi)), if (hessian) h[lower.tri(h, TRUE)])
  }
  whole <- function(b) sums(b, FALSE) + drop(ridge) * b + drop(noise)
  for (eta in c(1e-3, 1e-6)) for (kind in 1:4) {
    off <- switch(kind, function(step, b) 0, function(step, b) eta / 4 * c(cos(step), sin(step)), function(step, b) eta / 4 * c(0, -1)^step,
                  function(step, b) { # gradients look shorter than they are
                    g <- whole(b)
                    -min(1, eta / 4 / sqrt(sum(g^2))) * g
                  })
    tally <- counted_tally(n, sums, off)
    fit <- shared_fit(tally, rbind(0), rule, noise, newton = 0, eta = eta)
    expect_true(fit[[3]])
    expect_lte(sqrt(sum(whole(drop(fit[[1]] + fit[[4]]))^2)), eta)
    l <- max(ridge) + n * 10
    far <- sqrt(sum((sums(c(0, 0), FALSE) + drop(noise))^2)) / eta * 4 / 3
    fast <- 2 * log(12 * l / min(ridge) * far) / sqrt(min(ridge) / l)
    expect_lte(tally$steps(), fast + 5.4 * l / min(ridge) * log(8 * l / min(ridge) * far^2) + 10)
    if (kind == 1) expect_lte(tally$steps(), fast + 10)
  }
  # the computed gradient has to be below three quarters of eta: the rest is what it may be off by
  eta <- sqrt(sum(whole(c(0, 0))^2)) / 0.9
  for (newton in c(0, 60)) {
    fit <- shared_fit(x, rbind(y), rule, noise, newton = newton, eta = eta)
    expect_lte(sqrt(sum(fit[[2]]^2)), 0.75 * eta)
    expect_true(any(fit[[1]] != 0))
  }
  # gradients that are off by more than that: it says so, after as many steps
  tally <- counted_tally(2, function(b, hessian) if (hessian) c(b, 1, 0, 1) else b, function(step, b) 0.1 * c(cos(step^2), sin(step^2)))
  expect_false(shared_fit(tally, rbind(0), rule, noise, newton = 3, eta = 1e-4)[[3]])
})

test_that("noise has the law of its norm", {
  # 40,000 draws: a scale 3 % off moves the norm's mean by 8 standard errors or more; 24 tests at 1e-6 each
  n <- 40000
  expect_gamma <- function(size, shape, rate) {
    expect_lt(abs(mean(size) * rate / shape - 1), 4.9 / sqrt(shape * n))
    expect_gt(stats::ks.test(size, stats::pgamma, shape, rate)$p.value, 1e-6)
  }
  draw <- function(p, q, norm, rate = 2) with_simulation(6, .Call(riemdp:::riemdp_perturbation_noise, p, q, n, norm, rate, TRUE))
  lengths_of <- function(b) sqrt(colSums(b^2)) # of columns, p x n
  for (case in list(c(1, 1), c(1, 4), c(2, 2), c(3, 1))) {
    d <- case[1]
    q <- case[2]
    m <- q * (d + 1)
    for (norm in c("vertex", "max")) {
      b <- draw(d + 1, q, norm)
      second <- apply(colSums(b^2), 1, mean) * 4
      # relative standard error of a second moment below 2.5/sqrt(n) a row; 5 of them
      expect_lt(max(abs(second / riemdp:::noise_second_moment(norm, d, q) - 1)), 12.5 / sqrt(n))
      if (norm == "max") { # the norm is Gamma(m)
        expect_gamma(apply(lengths_of(b), 2, max), m, 2)
      } else if (d == 1) { # the gauge of the vertices is Gamma(2q) as well
        columns <- function(sign) sqrt(colSums(matrix(b[, 1, ] + sign * b[, 2, ], q)^2))
        expect_gamma((columns(1) + columns(-1)) / 2, 2 * q, 2)
      }
    }
    expect_gamma(sqrt(colSums(matrix(draw(d + 1, q, "length"), m)^2)), m, 2)
  }
  z <- with_simulation(7, vapply(seq_len(n), function(i) .Call(riemdp:::riemdp_block_noise, c(1, 3, 1), 1, TRUE), double(5)))
  expect_gamma(pmax(abs(z[1, ]), sqrt(colSums(z[2:4, ]^2)), abs(z[5, ])), 5, 1)
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

test_that("the noise that pays for the solver is Gamma with the rate that eta asks for", {
  # 80 coefficients: the length is Gamma(80), and 3 % less noise is 12 standard errors of its mean
  rule <- riemdp:::perturbation_rule(30, 1, 1, 2)
  ridge <- matrix(rep(rule$ridge, each = 40), 40)
  eta <- 0.37
  z <- with_simulation(3, replicate(2000, riemdp:::draw_perturbed(matrix(0, 2, 30), matrix(0, 40, 30), ridge, rule, 1e12, eta, 2)))
  near_mean(sqrt(colSums(matrix(z^2, 80))), 80 * 2 * eta / min(rule$ridge) / rule$solver, 1 / sqrt(80))
  expect_equal(rule$solver, riemdp:::solver_share(30) * 1)
})

test_that("a scale's draw costs its share: probabilities of the exponential mechanism at half of it", {
  x <- rbind(rep(1, 12))
  y <- rbind(c(rep(0.02, 3), rep(0.5, 5), rep(5, 4)))
  share <- 0.8
  draws <- if (quick()) 4000 else 20000
  got <- with_simulation(4, replicate(draws, riemdp:::release_scale(x, y, matrix(0), share, 0.6)))
  grid <- riemdp:::SCALE_GRID
  count <- vapply(grid * sqrt(stats::qchisq(0.6, 1)), function(l) sum(abs(y) <= l), 0)
  # public weights, and the last is "more than the limit before"
  last <- length(grid)
  weight <- exp(-share * c(abs(count[-last] - 0.6 * 12), max(0, count[last - 1] - 0.6 * 12)) / 2) * exp(riemdp:::SCALE_WEIGHT)
  group <- pmin(pmax(round(2 * log2(grid)), -15), 6) # the rare ones together
  expect_gt(stats::chisq.test(table(factor(match(got, grid), levels = seq_along(grid))) |> as.vector() |> rowsum(group),
                              p = drop(rowsum(weight / sum(weight), group)))$p.value, 1e-6)
  expect_identical(grid[c(1, last)], 2^c(-20, 20))
})

test_that("residuals beyond every limit have the grid's top for their scale, and one record moves each score by at most 1", {
  x <- rbind(rep(1, 200))
  got <- with_simulation(5, replicate(200, riemdp:::release_scale(x, rbind(rep(3e6, 200)), matrix(0), 1, 0.6)))
  expect_identical(unique(got), max(riemdp:::SCALE_GRID)) # another has a probability of about e^-50
  set.seed(1)
  for (i in 1:200) {
    a <- rbind(10^stats::runif(9, -8, 8))
    b <- a
    b[sample(9, 1)] <- 10^stats::runif(1, -8, 8)
    scores <- lapply(list(a, b), function(e) riemdp:::scale_scores(riemdp:::residuals_within(rbind(rep(1, 9)), e, riemdp:::SCALE_GRID)$count, 0.6 * 9))
    expect_lte(max(abs(scores[[1]] - scores[[2]])), 1)
  }
})
