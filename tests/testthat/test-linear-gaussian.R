# Objective perturbation with normal noise: delta by exact densities, its bound and the features by independent values.

inner <- function(name) getFromNamespace(name, "riemdp")
tilted <- function(...) inner("tilted_rule")(...)

# a record as the fit has it: features (1, sqrt 6 u), shortened to the root of their number
record <- function(u, y, count = 1) {
  x <- c(1, sqrt(6) * u)
  list(x = x, y = y, w = count * min(1, sqrt(length(x) / sum(x^2))))
}

# log density at the rows of B (coefficients response by response, then feature by feature) for q(d + 1) <= 2, by plain formulas
log_density_at <- function(B, records, rule) {
  m <- ncol(B)
  q <- rule$q
  ridge <- rep(rule$ridge, each = q)
  phi <- -B * rep(ridge, each = nrow(B))
  A <- lapply(seq_len(m), function(k) lapply(seq_len(m), function(l) if (k == l) ridge[k] else 0))
  knots <- inner("LOSS_STEP") * (seq_along(rule$g) - 1)
  for (r in records) {
    e <- vapply(seq_len(q), function(j) r$y[j] - drop(B[, j + q * (seq_along(r$x) - 1), drop = FALSE] %*% r$x), numeric(nrow(B)))
    e <- matrix(e, ncol = q)
    z <- sqrt(rowSums(e^2)) / rule$tau
    g <- stats::approx(knots, rule$g, z, rule = 2)$y
    rise <- c(diff(rule$g) / inner("LOSS_STEP"), 0)[pmin(length(knots), findInterval(z, knots))]
    across <- ifelse(z > 0, g / z, rise)
    unit <- e / pmax(rule$tau * z, 1e-300)
    for (k in seq_len(m)) {
      f <- r$x[(k - 1) %/% q + 1]
      j <- (k - 1) %% q + 1
      phi[, k] <- phi[, k] + r$w * f * across * e[, j]
      for (l in seq_len(m)) {
        i <- (l - 1) %% q + 1
        A[[k]][[l]] <- A[[k]][[l]] + r$w * f * r$x[(l - 1) %/% q + 1] * (across * (i == j) + (rise - across) * unit[, i] * unit[, j])
      }
    }
  }
  det <- if (m == 1) A[[1]][[1]] else A[[1]][[1]] * A[[2]][[2]] - A[[1]][[2]]^2
  log(det) + m * log(rule$rate / sqrt(2 * pi)) - rule$rate^2 * rowSums(phi^2) / 2
}

# delta(epsilon) of the release's law, by quadrature, both ways; and what is left of the laws' mass
exact_delta <- function(one, two, rule, epsilon, points = if (quick()) 200 else 300) {
  m <- rule$q * (rule$d + 1)
  end <- (8.5 / rule$rate + 2.2 * rule$tau * sqrt(rule$d + 1)) / rep(rule$ridge, each = rule$q)
  axes <- lapply(end, function(e) seq(-e, e, length.out = if (m == 1) 1e5 else points))
  B <- as.matrix(do.call(expand.grid, axes))
  cell <- prod(vapply(axes, function(a) a[2] - a[1], 0))
  a <- log_density_at(B, one, rule)
  b <- log_density_at(B, two, rule)
  way <- function(a, b) sum(exp(a) * pmax(0, -expm1(epsilon + b - a))) * cell
  c(delta = max(way(a, b), way(b, a)), mass = sum(exp(a)) * cell)
}

core_of <- function(rule) rule$epsilon - rule$solver

# neighbours: far apart on both sides, with the curvature of one of them whole, and by chance
neighbours_of <- function(rule, count) {
  d <- rule$d
  q <- rule$q
  direction <- function() {
    v <- stats::rnorm(q)
    v / sqrt(sum(v^2))
  }
  far <- 1e5 * direction()
  u <- sample(c(-1, 1), d, TRUE)
  near <- rule$tau * stats::rexp(count, 0.3)
  pairs <- list(list(list(record(u, far)), list(record(u, -far))), list(list(record(u, far)), list(record(-u, far))),
                list(list(record(u / sqrt(6), 0 * far)), list(record(u, far))), list(list(record(u, far)), list(record(-u / 2, -0.7 * far))))
  if (count == 0) return(pairs)
  c(pairs, lapply(near, function(r) {
    common <- if (stats::runif(1) < 0.5) list(record(stats::runif(d, -1, 1), r * direction()))
    list(c(list(record(stats::runif(d, -1, 1), r * direction())), common), c(list(record(stats::runif(d, -1, 1), 3 * r * direction())), common))
  }))
}

worst_delta <- function(rule, count = if (quick()) 2 else 6, epsilon = core_of(rule)) {
  found <- vapply(neighbours_of(rule, count), function(pair) exact_delta(pair[[1]], pair[[2]], rule, epsilon), c(delta = 0, mass = 0))
  expect_lt(max(abs(found["mass", ] - 1)), 1e-3)
  max(found["delta", ])
}

test_that("delta is never above the promise and comes near it, by exact densities", {
  set.seed(1)
  for (case in list(c(0, 1, 0.5, 1e-2), c(0, 1, 1, 1e-6), c(0, 1, 4, 1e-2), c(1, 1, 1, 1e-4), c(1, 1, 4, 1e-2), c(0, 2, 1, 1e-2), c(0, 2, 4, 1e-5))) {
    rule <- tilted(10, case[3], case[4], case[1], case[2])
    worst <- worst_delta(rule, if (case[1] + case[2] == 1) 8 else if (quick()) 1 else 4)
    expect_lte(worst, case[4], label = paste(case, collapse = " "))
    expect_gt(worst, (if (case[2] == 1) 0.18 else 0.01) * case[4], label = paste(case, collapse = " "))
    # in epsilon: a tenth less isn't promised
    if (case[2] == 1 && case[4] < 1e-3) expect_gt(worst_delta(rule, 0, 0.88 * core_of(rule)), case[4], label = paste(case, collapse = " "))
  }
})

test_that("what isn't paid for is seen: less noise, curvature left out, a Gaussian mechanism's price", {
  set.seed(2)
  rule <- tilted(10, 1, 1e-3, 0, 1)
  loud <- rule
  loud$rate <- 1.4 * rule$rate
  expect_gt(worst_delta(loud, 0), 1e-3)
  # Huber's loss and a small ridge under noise that would do for a shift of 2 tau
  plain <- rule
  plain$g <- inner("huber_loss")()
  plain$rate <- inner("gaussian_mu")(core_of(rule), 1e-3) / (2 * rule$tau)
  plain$ridge <- 0.2
  r <- plain$tau
  found <- vapply(c(0, 0.5, 0.9, 1.2), function(y) {
    exact_delta(list(record(numeric(), y * r)), list(record(numeric(), 1e5)), plain, core_of(rule))[["delta"]]
  }, 0)
  expect_gt(max(found), 5e-3)
  # without a record's shortened features the shift is longer by the root of 7/2
  wide <- tilted(10, 1, 1e-3, 1, 1)
  long <- function(y) list(list(x = c(1, sqrt(6)), y = y, w = 1))
  expect_gt(exact_delta(long(1e5), long(-1e5), wide, core_of(wide))[["delta"]], 5e-3)
})

test_that("units: delta is never above the promise where a unit's rows count with their average", {
  set.seed(3)
  for (case in list(c(1, 1e-3), c(4, 1e-2))) {
    rule <- tilted(10, case[1], case[2], 1, 1, averaged = TRUE)
    expect_gt(1 / rule$rate, 1.02 / tilted(10, case[1], case[2], 1, 1)$rate / tilted(10, case[1], case[2], 1, 1)$tau * rule$tau)
    unit <- function(y) list(record(-1, y, 0.5), record(1, y, 0.5))
    for (y in c(1e5, rule$tau)) for (other in list(unit(-1e5), list(record(1, -1e5)), unit(0), list(record(-1, 0.3, 0.5))))
      expect_lte(exact_delta(unit(y), other, rule, core_of(rule))[["delta"]], case[2])
  }
})

# E f(R) of the length of q normals, by quadrature
over_length <- function(f, q, from = 0) {
  density <- function(r) exp((q - 1) * log(r) - r^2 / 2 - (q / 2 - 1) * log(2) - lgamma(q / 2)) * f(r)
  at <- max(from, 0)
  stats::integrate(density, at, at + 3, rel.tol = 1e-10)$value + stats::integrate(density, at + 3, at + 15, rel.tol = 1e-10)$value
}

test_that("delta is the theorem's, by other formulas", {
  delta <- inner("tilted_delta")
  loss <- function(E, mu, q) over_length(function(r) pmax(0, -expm1(E - mu^2 / 2 - mu * r)), q, (E - mu^2 / 2) / mu)
  for (case in list(c(1, 0.4, 0.35, 0.1), c(3, 1.2, 1, 0.3), c(0.5, 0.1, 0.05, 0.08))) {
    E <- case[1]
    k <- case[2]
    fall <- case[3]
    m <- case[4]
    # |R| of one normal number is either sign of it
    expect_equal(delta(E, k, fall, m, 1), loss(E - k, m, 1) + loss(E - k + fall, 2 * m, 1), tolerance = 1e-6)
    for (q in c(2, 5)) {
      bound <- loss(E - k, m, q) + 2 * loss(E - k + fall, 2 * m, q)
      expect_gte(delta(E, k, fall, m, q), bound)
      expect_lt(delta(E, k, fall, m, q), 1.03 * bound)
    }
    for (q in c(1, 3)) { # the best tangent, on a grid of its own
      tangent <- vapply(seq(0, 2, by = 0.05), function(v) {
        z <- E + v + 1 - exp(v)
        beyond <- function(at, scale) {
          r <- (z - at) / scale
          scale * if (r > 0) over_length(function(x) x - r, q, r) else sqrt(2) * gamma((q + 1) / 2) / gamma(q / 2) - r
        }
        exp(-v) * (beyond(k + m^2 / 2, m) + 2 * beyond(k - fall + 2 * m^2, 2 * m))
      }, 0)
      expect_equal(delta(E, k, fall, m, q, TRUE), min(tangent), tolerance = 0.01)
      expect_gte(delta(E, k, fall, m, q, TRUE), min(tangent) * (1 - 1e-7))
      expect_gt(delta(E, k, fall, m, q, TRUE), loss(E - k, m, q) + 2 * loss(E - k + fall, 2 * m, q))
    }
  }
  # where the lemma's condition fails each of four signs counts
  wide <- 2 * inner("gaussian_delta")(1, 0.1) + 4 * inner("gaussian_delta")(2, 0.6)
  expect_equal(delta(0.6, 0.5, 0.5, 1, 1), min(1, wide), tolerance = 1e-9)
  expect_equal(delta(4, 1, 1, 1.15, 1), 2 * inner("gaussian_delta")(1.15, 3) + 4 * inner("gaussian_delta")(2.3, 4), tolerance = 1e-9)
  # the lemma: shares of a squared shift cost no more than the whole
  n <- inner("gaussian_delta")
  for (E in c(0.5, 2)) for (mu in E / c(1.6, 4, 8)) if ((E / mu)^2 - mu^2 / 4 >= 2) for (part in c(0.01, 0.2, 0.5)) {
    expect_lte(n(mu * sqrt(part), E) + n(mu * sqrt(1 - part), E), n(mu, E) * (1 + 1e-9))
  }
  # the noise is the least that will do
  size <- inner("tilted_size")
  for (q in c(1, 4)) for (averaged in c(FALSE, TRUE)) {
    m <- size(1, 0.4, 0.3, q, 1e-6, averaged)
    expect_lte(delta(1, 0.4, 0.3, m, q, averaged), 1e-6)
    expect_gt(delta(1, 0.4, 0.3, 1.002 * m, q, averaged), 1e-6)
  }
  expect_error(size(1, 0.4, 0.3, 1, 1e-310), class = "riemdp_error_argument")
})

test_that("features are no longer than the root of their number, and their leverage no more than t", {
  set.seed(4)
  for (d in c(0, 1, 4, 25)) {
    corner <- rep_len(c(1, -1, 1), d)
    u <- c(corner, 0 * corner, corner / sqrt(6), stats::runif(200 * d, -1, 1) * rep(stats::runif(200), each = d))
    x <- cbind(rbind(rep(1, 203), matrix(u, d, 203)), 0)
    short <- inner("short_features")(x)
    w <- as.vector(attr(short, "share"))
    length <- w * sqrt(colSums(short^2))
    expect_lte(max(length), sqrt(d + 1))
    expect_gt(max(length), sqrt(d + 1) * (1 - 1e-11))
    expect_identical(attr(attr(short, "share"), "units"), ncol(x))
    expect_equal(matrix(short, d + 1)[-1, , drop = FALSE], sqrt(6) * x[-1, , drop = FALSE], tolerance = 1e-15, ignore_attr = TRUE)
    expect_equal(w, pmin(1, sqrt((d + 1) / pmax(colSums(short^2), 1e-9))), tolerance = 1e-11)
    # what is there counts less in proportion
    half <- inner("short_features")(inner("with_shares")(x, structure(rep(0.5, ncol(x)), units = 7)))
    expect_equal(as.vector(attr(half, "share")), w / 2)
    expect_identical(attr(attr(half, "share"), "units"), 7)
    for (split in c(0.05, 0.4, 0.9)) {
      ridge <- inner("short_ridge")(0.7, split, d)
      most <- max(w * colSums(short^2 / ridge))
      expect_lte(most, 0.7)
      expect_gt(most, 0.7 * (1 - 1e-9))
      expect_equal(inner("short_leverage")(ridge, d), 0.7)
    }
  }
})

test_that("the price is that of the noise, ridge and loss that are drawn with", {
  for (q in c(1, 3)) for (averaged in c(FALSE, TRUE)) {
    rule <- tilted(500, 1, 1e-5, 2, q, averaged)
    price <- function(rule, rate = rule$rate, ridge = rule$ridge) inner("price_tilted")(rule, rate, ridge, rule$solver)
    expect_equal(price(rule)$epsilon, 1)
    expect_lte(price(rule)$delta, 1e-5)
    expect_gt(price(rule)$delta, 0.5e-5)
    expect_gt(price(rule, 1.01 * rule$rate)$delta, 1.02 * price(rule)$delta)
    expect_gt(price(rule, ridge = rule$ridge / 3)$delta, 1e-5)
    steep <- rule
    steep$g <- inner("huber_loss")()
    expect_gt(price(steep)$delta, 1e-5)
    # (T) wherever a residual lies
    at <- inner("loss_at")(rule$g, 1, c(seq(0.0005, 9, by = 0.001), 1e4))
    cost <- if (averaged) identity else log1p
    all <- (q - 1) * cost(rule$t * at$across) + cost(rule$t * at$slope) + rule$e1 / 2 * at$psi
    budget <- inner("shared_budget")(rule, rule$e1 / 2, rule$t, cost)
    expect_lte(max(all), budget)
    expect_gt(max(all), 0.99 * budget)
    expect_equal(inner("short_leverage")(rule$ridge, 2), rule$t)
  }
})

test_that("the release is the minimiser for normal noise, on scales of the predictors as given", {
  rule <- tilted(50, 1, 1e-6, 1, 2)
  draws <- if (quick()) 500 else 3000
  none <- with_simulation(1, replicate(draws, inner("release_perturbed")(matrix(0, 2, 50), matrix(0, 2, 50), rule)))
  z <- none * rep(rule$ridge / c(1, sqrt(6)), each = 2) * rule$rate
  for (k in 1:2) for (j in 1:2) expect_gt(stats::ks.test(z[j, k, ], stats::pnorm)$p.value, 1e-6)
  expect_lt(max(abs(stats::cor(t(matrix(z, 4))) - diag(4))), 5.5 / sqrt(draws))
  # with little noise: weights and ridge by the normal equations, far from where the loss cuts
  set.seed(5)
  sharp <- tilted(200, 500, 1e-6, 2, 1)
  sharp$tau <- 50
  sharp$g <- inner("huber_loss")()
  sharp$rate <- 1e9
  u <- matrix(stats::runif(400, -1, 1), 2)
  y <- 0.3 + drop(c(1, -2) %*% u) + 0.1 * stats::rnorm(200)
  x <- rbind(1, sqrt(6) * u)
  w <- pmin(1, sqrt(3 / colSums(x^2)))
  near <- solve(x %*% (w * t(x)) + diag(sharp$ridge), x %*% (w * y)) * c(1, sqrt(6), sqrt(6))
  fit <- .Call(inner("riemdp_perturbed_fit_nonprivate"), inner("short_features")(rbind(1, u)), rbind(y), rbind(sharp$ridge), rbind(0 * sharp$ridge),
               rbind(0 * sharp$ridge), inner("kernel_loss")(sharp), inner("newton_solver")(1e-9, 13))
  expect_equal(drop(fit[[1]] %*% inner("drawn_map")(sharp)), drop(near), tolerance = 1e-8)
  got <- with_simulation(2, inner("release_perturbed")(rbind(1, u), rbind(y), sharp))
  expect_equal(drop(got), drop(near), tolerance = 1e-4)
})

test_that("the solver's error is covered: features' reach, weights' rounding, the noise's length", {
  rule <- tilted(1000, 1, 1e-6, 3, 1)
  u <- .Machine$double.eps / 2
  ridge <- rbind(rule$ridge)
  expect_equal(inner("most_reach")(rule), 1 + 6 * 3)
  leading <- 4 * rule$n * sqrt(19) * rule$tau * 18 * u
  eta <- inner("solver_tolerance")(rule, ridge, 1e12, 1e6)
  expect_gte(eta, leading)
  expect_lt(eta, leading * (1 + 1e-5))
  most <- inner("noise_most")("normal", 3, 2, 5)
  expect_equal(most, (sqrt(8) + 30) / 5)
  # a normal vector of 8 numbers is beyond it with a probability below e^-400
  expect_lt(stats::pchisq((5 * most)^2, 8, lower.tail = FALSE, log.p = TRUE), -400)
  expect_equal(inner("noise_second_moment")("normal", 3, 2), 2)
})

frame_of <- function(n, d, sd = 0.7) {
  u <- matrix(stats::runif(n * d, -1, 1), n, dimnames = list(NULL, paste0("X", seq_len(d))))
  data.frame(u, y = drop(u %*% rep(0.5, d)) + sd * stats::rnorm(n))
}
bounds_of <- function(d) c(stats::setNames(rep(list(c(-1, 1)), d), paste0("X", seq_len(d))), list(y = c(center = 0, scale = 1)))

test_that("calls: promise, refusals, plans, words and intervals", {
  data <- with_simulation(1, frame_of(400, 2))
  fit <- dp_lm(y ~ X1 + X2, data, 1, 1e-6, bounds_of(2), method = "gaussian", guess = "trusted")
  g <- guarantee(fit)
  expect_identical(c(g$label, format(g$epsilon), format(g$delta)), c("approx", "1", "1e-06"))
  expect_true(is.na(g$mu)) # none is proven
  expect_error(dp_lm(y ~ X1, data, 1, bounds = bounds_of(2)[c("X1", "y")], method = "gaussian"), class = "riemdp_error_unsupported")
  told <- function(r) paste(utils::capture.output(explain(r)), collapse = " ")
  expect_match(told(fit), "Theorem 6")
  expect_match(told(dp_lm(y ~ X1 + X2, data, 1, 1e-6, bounds_of(2), method = "gaussian", unit = rep(1:200, 2))), "Theorem 7")
  ledger <- dp_ledger(NULL, 3, 1e-5)
  dp_lm(y ~ X1 + X2, data, 1, 1e-6, bounds_of(2), method = "gaussian", ledger = ledger)
  # the nominal interval is within the certain one, which holds the noiseless fit
  nominal <- confint(fit)
  bound <- confint(fit, type = "bound")
  expect_true(all(bound[, 2] - bound[, 1] > nominal[, 2] - nominal[, 1]))
  # large in many coefficients
  plan <- dp_lm_plan(1000, 20, epsilon = 1, delta = 1e-6, guess = "trusted")
  error <- stats::setNames(plan$expected_error, plan$method)
  expect_lt(error[["gaussian"]], 0.7 * error[["objective"]])
  expect_true(is.na(dp_lm_plan(1000, 20, epsilon = 1)$expected_error[plan$method == "gaussian"]))
})

test_that("expected errors, standard errors and both intervals hold", {
  skip_if(quick())
  for (case in list(c(800, 2, 2), c(1500, 8, 1))) {
    n <- case[1]
    d <- case[2]
    data <- with_simulation(2, frame_of(n, d))
    x <- cbind(1, as.matrix(data[seq_len(d)]))
    ols <- stats::coef(stats::lm(y ~ ., data))
    got <- with_simulation(3, lapply(seq_len(150), function(i) {
      fit <- dp_lm(y ~ ., data, case[3], 1e-6, bounds_of(d), method = "gaussian", guess = "trusted")
      list(excess = mean((x %*% (stats::coef(fit) - ols))^2), b = stats::coef(fit), se = sqrt(diag(vcov(fit))), expected = fit$expected_error,
           bound = confint(fit, type = "bound"))
    }))
    excess <- mean(vapply(got, `[[`, 0, "excess"))
    expect_lt(excess, 1.3 * got[[1]]$expected)
    expect_gt(excess, 0.15 * got[[1]]$expected)
    b <- vapply(got, `[[`, ols, "b")
    ratio <- apply(b, 1, stats::sd) / rowMeans(vapply(got, `[[`, ols, "se"))
    expect_true(all(ratio > 0.5 & ratio < 1.5)) # even predictors have more than the nominal moment
    shrunk <- rowMeans(b)
    expect_true(all(vapply(got, function(one) all(one$bound[, 1] < shrunk & one$bound[, 2] > shrunk), NA)))
  }
})

test_that("intervals about the population hold", {
  skip_if(quick())
  line <- c(0.2, 0.5)
  hit <- with_simulation(4, vapply(seq_len(50), function(i) {
    data <- frame_of(1500, 1)
    data$y <- data$y + line[1]
    fit <- dp_lm(y ~ X1, data, 2, 1e-6, bounds_of(1), method = "gaussian", guess = "trusted")
    ends <- confint(fit, level = 0.9, residual = dp_residual_scale(fit, data, 1), nsim = 200)
    ends[, 1] <= line & ends[, 2] >= line
  }, c(NA, NA)))
  expect_true(all(rowSums(hit) >= 33)) # of 50, fewer have a probability below 1e-5
})

test_that("\"auto\" takes it with few records for each coefficient, not beside Newton's steps with more, which err less there", {
  chosen <- function(n, d) {
    plan <- dp_lm_plan(n, d, epsilon = 1, delta = 1e-6, guess = "trusted")
    plan$method[plan$chosen]
  }
  expect_identical(vapply(c(500, 1000, 5000), chosen, "", d = 10), c("gaussian", "newton", "newton"))
  expect_identical(vapply(c(1000, 2000), chosen, "", d = 40), c("gaussian", "newton"))
})
