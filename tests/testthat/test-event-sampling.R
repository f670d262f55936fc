# One of many steps by lot, samples with replacement, samples that are cut. expect_around() and renyi_of() are as in test-event-price.R.

above <- function(z) stats::pnorm(z, lower.tail = FALSE)
around <- function(price, truth, apart = 1e-3, off = 1e-9) {
  expect_gte(as.double(price), truth * (1 - off))
  expect_lte(attr(price, "lower"), truth * (1 + off))
  if (truth > 1e-25) expect_gte(attr(price, "lower"), as.double(price) * (1 - apart))
}
# delta of a law of finitely many likelihood ratios L under Q, in both directions: list(leave, enter), functions of epsilon
ratio_deltas <- function(L, q, lost = 0) {
  list(leave = function(e) lost + sum(q * pmax(0, L - exp(e))), enter = function(e) sum(q * pmax(0, 1 - exp(e) * L)))
}
dearer <- function(d, e) max(d$leave(e), d$enter(e))
# all means of `steps` outcomes of a pair of masses, by trying all: list(L, q, lost)
allocation_by_trial <- function(p, q, steps) {
  L <- ifelse(q > 0, p / q, 0)
  at <- as.matrix(expand.grid(rep(list(seq_along(p)), steps)))
  mass <- apply(at, 1, function(i) prod(q[i]))
  list(L = apply(at, 1, function(i) mean(L[i]))[mass > 0], q = mass[mass > 0], lost = sum(p[q == 0]))
}
# two of them composed
twice <- function(law) {
  list(L = as.vector(outer(law$L, law$L)), q = as.vector(outer(law$q, law$q)), lost = 1 - (1 - law$lost)^2)
}

test_that("one of two Gaussian steps by lot costs what quadrature says, in the dearer direction", {
  for (s in c(0.4, 2)) {
    mu <- 1 / s
    # E(L - c)_+ of one ratio
    call <- function(c) ifelse(c <= 0, 1 - c, above(log(pmax(c, 1e-300)) / mu - mu / 2) - c * above(log(pmax(c, 1e-300)) / mu + mu / 2))
    mean_of <- function(f) stats::integrate(function(z) stats::dnorm(z) * f(exp(mu * z - mu^2 / 2)), -12, 12 + 2 * mu, rel.tol = 1e-11,
                                            subdivisions = 5000)$value
    for (e in c(0.05, 1) / s) {
      g <- exp(e)
      leave <- mean_of(function(L) call(2 * g - L) / 2)
      enter <- mean_of(function(L) g / 2 * (call(2 / g - L) + 2 / g - L - 1))
      around(dp_delta(event_allocation(2, event_gaussian(s)), e), max(leave, enter), 2e-3, 1e-7)
      # each direction for itself
      for (direction in c("leave", "enter")) {
        said <- vapply(c(FALSE, TRUE), function(upper) {
          riemdp:::atoms_value(riemdp:::allocated_step(event_gaussian(s), 2, direction, upper), upper, NULL, e)
        }, 0)
        truth <- if (direction == "leave") leave else enter
        if (truth > 1e-12) expect_true(said[1] <= truth * (1 + 1e-6) && said[2] >= truth * (1 - 1e-6) && said[2] < truth * 1.002)
      }
    }
  }
})

test_that("laws of means keep the mean, and bound the second and third moment from both sides", {
  for (s in c(0.4, 8)) for (steps in c(1, 7, 1234)) {
    source <- riemdp:::pld_part(event_gaussian(s), "leave", TRUE)
    up <- riemdp:::allocation_above(source, steps)
    low <- riemdp:::allocation_below(source, steps)
    expect_identical(c(up$n, low$n), c(steps, steps))
    L <- exp(up$step * (up$first + seq_along(up$q) - 1)) / steps
    expect_equal(sum(up$q), 1, tolerance = 1e-9)
    expect_equal(sum(up$q * L) + up$lost, 1, tolerance = 1e-9)
    expect_equal(sum(low$q), 1, tolerance = 1e-9)
    expect_equal(sum(low$q * low$value) / steps, 1, tolerance = 1e-9)
    expect_lt(up$lost + up$moved, 1e-25)
    v <- 1 / s^2
    second <- expm1(v) / steps
    third <- (exp(3 * v) - 3 * exp(v) + 2) / steps^2
    moment <- function(q, L, k) sum(q * (L - 1)^k)
    expect_lte(moment(low$q, low$value / steps, 2), second * (1 + 1e-8))
    expect_gte(moment(up$q, L, 2), second * (1 - 1e-8))
    expect_lt(moment(up$q, L, 2) / moment(low$q, low$value / steps, 2), 1.002)
    # where rare means lie far above most, there are fewer of these, whose means are kept
    for (enter in c(FALSE, TRUE)) {
      found <- riemdp:::allocated_above(up, enter)
      sign <- if (enter) -1 else 1
      expect_lt(length(found$loss), 4e4)
      expect_equal(sum(found$mass * exp(-found$loss)), 1, tolerance = 1e-9)
      ratio <- exp(sign * found$loss)
      expect_equal(sum((if (enter) found$mass else found$mass / ratio) * (ratio - 1)^2) / moment(up$q, L, 2), 1, tolerance = 1e-3)
    }
    # of x^3, which is convex above 0
    cube <- 1 + 3 * second + third
    expect_lte(sum(low$q * (low$value / steps)^3), cube * (1 + 1e-8))
    expect_gte(sum(up$q * L^3), cube * (1 - 1e-8))
  }
})

test_that("many steps by lot: Monte Carlo lies between both ends, and Poisson samples are near where there are many", {
  set.seed(11)
  draws <- if (nzchar(Sys.getenv("RIEMDP_QUICK"))) 2e4 else 2e5
  for (case in list(c(0.7, 30, 1), c(1.5, 200, 0.02))) {
    mu <- 1 / case[1]
    steps <- case[2]
    L <- replicate(draws, mean(exp(mu * stats::rnorm(steps) - mu^2 / 2)))
    # the record's own step with it: weights by L come for nothing
    with <- L + (exp(mu * stats::rnorm(draws) + mu^2 / 2) - exp(mu * stats::rnorm(draws) - mu^2 / 2)) / steps
    e <- case[3]
    leave <- pmax(0, 1 - exp(e) / pmax(with, 1e-300))
    enter <- pmax(0, 1 - exp(e) * L)
    price <- dp_delta(event_allocation(steps, event_gaussian(case[1])), e)
    found <- max(mean(enter) - 5.5 * stats::sd(enter) / sqrt(draws), 0)
    expect_gte(as.double(price), found)
    for (direction in c("leave", "enter")) {
      x <- if (direction == "leave") pmax(0, L - exp(e)) else enter
      said <- vapply(c(FALSE, TRUE), function(upper) {
        riemdp:::atoms_value(riemdp:::allocated_step(event_gaussian(case[1]), steps, direction, upper), upper, NULL, e)
      }, 0)
      margin <- 6 * stats::sd(x) / sqrt(draws)
      expect_gte(said[2], mean(x) - margin)
      expect_lte(said[1], mean(x) + margin)
    }
  }
  one <- as.double(dp_epsilon(event_compose(event_allocation(1000, event_gaussian(1)), times = 100), 1e-6))
  expect_equal(one, as.double(dp_epsilon(event_compose(event_poisson(0.001, event_gaussian(1)), times = 1e5), 1e-6)), tolerance = 0.05)
  # more steps hide more, less than the step itself
  costs <- vapply(c(1, 2, 3, 10, 100), function(t) as.double(dp_epsilon(event_allocation(t, event_gaussian(2)), 1e-6)), 0)
  expect_true(all(diff(costs) < 0))
  expect_identical(costs[1], as.double(dp_epsilon(event_gaussian(2), 1e-6)))
})

test_that("steps of finitely many outcomes by lot: all means by trial, alone, composed and in a sample", {
  for (swapped in c(FALSE, TRUE)) for (steps in c(2, 3, 5)) {
    p <- c(0.3, 0.35, 0.2, 0.15, 0)
    q <- c(0.15, 0.3, 0.5, 0, 0.05)
    # what tells all is seen from the other side, so that entering is the dearer way
    if (swapped) {
      p <- c(0.05, 0.4, 0.55, 0, 0)
      q <- c(0.1, 0.25, 0.25, 0, 0.4)
    }
    step <- event_pair("five answers", p, q, "add-remove")
    law <- allocation_by_trial(p, q, steps)
    d <- ratio_deltas(law$L, law$q, law$lost)
    expect_equal(law$lost, if (swapped) 0 else 0.15)
    if (swapped) expect_gt(d$enter(0.2), d$leave(0.2))
    for (e in c(0.02, 0.2, 0.5)) {
      said <- as.double(dp_delta(event_allocation(steps, step), e))
      expect_gte(said, dearer(d, e) * (1 - 1e-9))
      expect_lte(said, dearer(d, e) * (1 + 1e-4))
    }
  }
  response <- c(stats::plogis(1), stats::plogis(-1))
  for (steps in c(2, 6)) {
    law <- allocation_by_trial(response, rev(response), steps)
    e1 <- event_allocation(steps, event_pure(1))
    two <- twice(law)
    for (e in c(0.1, 0.4)) {
      around(dp_delta(e1, e, "pld"), dearer(ratio_deltas(law$L, law$q), e), 1e-3)
      around(dp_delta(event_compose(e1, times = 2), e, "pld"), dearer(ratio_deltas(two$L, two$q), e), 2e-2)
    }
    # a Poisson sample of it: the ratio is 1 - q + q L
    mixed <- ratio_deltas(0.8 + 0.2 * law$L, law$q)
    said <- as.double(dp_delta(event_poisson(0.2, e1), 0.05, "pld"))
    expect_gte(said, dearer(mixed, 0.05) * (1 - 1e-9))
    expect_lte(said, dearer(mixed, 0.05) * 1.001)
  }
  # what tells all: whichever step it is, seen from one side; from the other side only if every step tells
  tells <- event_allocation(3, event_approx(0.1, 1e-3))
  expect_equal(as.double(dp_delta(tells, 5, "pld")), 1e-3, tolerance = 1e-6)
  for (upper in c(FALSE, TRUE)) {
    source <- riemdp:::allocated_step(event_approx(0.1, 1e-3), 3, "enter", upper)
    expect_equal(riemdp:::atoms_value(source, upper, NULL, 5) / 1e-9, 1, tolerance = 1e-3)
  }
  # Laplace noise: the smooth part and both atoms, by a fine sum
  z <- (seq_len(4000) - 0.5) / 4000 * 2 - 1
  first <- exp((z - 1) / 2) / 4 / 2000
  L <- c(exp(z), exp(-1), exp(1))
  mass <- c(first * exp(-z), 0.5, exp(-1) / 2)
  both <- outer(L, L, "+") / 2
  weights <- outer(mass, mass)
  truth <- ratio_deltas(as.vector(both), as.vector(weights))
  said <- dp_delta(event_allocation(2, event_laplace(1)), 0.3, "pld")
  around(said, dearer(truth, 0.3), 1e-3, 1e-5)
})

test_that("Renyi divergences of steps by lot, in both directions, are those of quadrature and of exact moments", {
  for (s in c(0.6, 1, 4)) {
    mu <- 1 / s
    z <- seq(-14 - 3 * mu, 14 + 8 * mu, length.out = 1501)
    L <- exp(mu * z - mu^2 / 2)
    W <- outer(stats::dnorm(z), stats::dnorm(z)) * diff(z[1:2])^2
    m <- outer(L, L, "+") / 2
    for (a in c(2, 4)) {
      truth <- max(log(sum(W * m^a)), log(sum(W * m^(1 - a)))) / (a - 1)
      said <- event_price(event_allocation(2, event_gaussian(s)), "rdp", orders = a)
      expect_equal(said, truth, tolerance = 1e-5)
      expect_gte(said, truth * (1 - 1e-9))
    }
    said <- event_price(event_allocation(2, event_gaussian(s)), "rdp", orders = c(1.2, 2.5))
    truth <- vapply(c(1.2, 2.5), function(a) max(log(sum(W * m^a)), log(sum(W * m^(1 - a)))) / (a - 1), 0)
    expect_true(all(said >= truth) && all(said <= c(1.2, 2.5) / (2 * s^2) * (1 + 1e-9)))
    for (steps in c(10, 1000)) {
      second <- log1p(expm1(mu^2) / steps)
      said <- event_price(event_allocation(steps, event_gaussian(s)), "rdp", orders = 2)
      expect_gte(said, second)
      # entering is the smaller one here
      expect_lte(said, second * (1 + 1e-6) + 1e-9)
      expect_gte(riemdp:::allocation_moments(mu, steps, 3)[3], log(1 + 3 * expm1(mu^2) / steps + (exp(3 * mu^2) - 3 * exp(mu^2) + 2) / steps^2) - 1e-9)
    }
    for (b in c(0.7, 3)) expect_equal(riemdp:::allocation_entering(mu, 2, b), log(sum(W * m^-b)), tolerance = 1e-6)
  }
  # of other steps, and where sums are too long, no more than the step that holds the record
  expect_identical(event_price(event_allocation(50, event_pure(0.3)), "rdp", orders = c(2, 30)), event_price(event_pure(0.3), "rdp", orders = c(2, 30)))
  expect_identical(event_price(event_allocation(50, event_gaussian(1)), "rdp", orders = 500), 250)
  expect_identical(event_price(event_allocation(50, event_gaussian(2)), "zcdp"), 1 / 8)
  expect_identical(event_price(event_allocation(50, event_pure(0.3)), "basic"), c(epsilon = 0.3, delta = 0))
  expect_identical(event_price(event_allocation(50, event_approx(0.3, 1e-4)), "basic"), c(epsilon = 0.3, delta = 1e-4))
  expect_error(event_price(event_allocation(50, event_gaussian(2)), "gdp"), class = "riemdp_error_unpriced")
})

test_that("allocations are about one record more or less, and what has no proof has no price", {
  e <- event_allocation(20, event_gaussian(2))
  expect_identical(e$adjacency, "add-remove")
  expect_identical(check_event(unserialize(serialize(e, NULL))), e)
  expect_output(print(e), "one of 20 steps by lot(Gaussian(noise multiplier = 2)) [add-remove]", fixed = TRUE)
  expect_error(event_allocation(20, event_gaussian(2, "replace-one")), class = "riemdp_error_adjacency")
  expect_error(event_allocation(20, event_sample(0.1, event_gaussian(2))), class = "riemdp_error_adjacency")
  for (bad in list(0, 2.5, 1e10, "a")) expect_error(event_allocation(bad, event_gaussian(1)), class = "riemdp_error_argument")
  expect_error(event_group(e, 2), class = "riemdp_error_unsupported")
  refused <- list(event_zcdp(0.1), event_gaussian(0.01), event_pure(400), event_discrete_gaussian(2, 1, dimension = 3), e,
                  event_poisson(0.1, event_compose(event_laplace(2), event_pure(2))))
  for (step in refused) expect_error(dp_epsilon(event_allocation(5, step), 1e-5, "pld"), class = "riemdp_error_unpriced")
  # composed Gaussians are one, others are put on a grid of their own
  two <- event_allocation(5, event_compose(event_gaussian(2), event_gaussian(2)))
  expect_equal(as.double(dp_epsilon(two, 1e-5)), as.double(dp_epsilon(event_allocation(5, event_gaussian(sqrt(2))), 1e-5)), tolerance = 1e-6)
  expect_error(dp_epsilon(event_allocation(5, event_compose(event_laplace(2), event_gaussian(2))), 1e-5, "pld"), class = "riemdp_error_unpriced")
})

test_that("with replacement: one draw is a sample, more are Balle, Barthe and Gaboardi's sum", {
  for (s in 0.8) for (times in c(1, 20)) {
    one <- event_compose(event_resample(1, 50, event_gaussian(s)), times = times)
    same <- event_compose(event_sample(1 / 50, event_gaussian(s)), times = times)
    expect_equal(as.double(dp_epsilon(one, 1e-6)), as.double(dp_epsilon(same, 1e-6)), tolerance = 1e-4)
    expect_gte(as.double(dp_epsilon(one, 1e-6)), attr(dp_epsilon(same, 1e-6), "lower"))
  }
  gaussian <- function(mu, e) stats::pnorm(mu / 2 - e / mu) - exp(e) * stats::pnorm(-mu / 2 - e / mu)
  theorem <- function(size, n, s, e) {
    eta <- 1 - (1 - 1 / n)^size
    inner <- log1p((exp(e) - 1) / eta)
    sum(stats::dbinom(1:40, size, 1 / n) * gaussian((1:40) / s, inner))
  }
  for (case in list(c(300, 100, 2), c(1000, 1e5, 0.5))) for (e in c(0.1, 1)) {
    step <- event_resample(case[1], case[2], event_gaussian(case[3]))
    truth <- theorem(case[1], case[2], case[3], e)
    expect_equal(as.double(dp_delta(step, e)) / truth, 1, tolerance = 1e-8)
    expect_gte(as.double(dp_delta(step, e)), truth * (1 - 1e-11))
    grid <- as.double(dp_delta(step, e, "pld"))
    expect_true(grid >= truth * (1 - 1e-9) && grid <= truth * 1.003)
    expect_true(is.na(attr(dp_delta(step, e), "lower")))
  }
})

test_that("with replacement, composed: no pair of data sets loses more, and the price is that of the told pair", {
  # the record is x or x', all others 0: K copies move the sum by K either way
  size <- 4
  n <- 6
  s <- 2 # over |x - x'| = 2, so the noise is 4
  k <- 0:size
  pk <- stats::dbinom(k, size, 1 / n)
  y <- seq(-50, 50, length.out = 4001)
  law <- function(x) colSums(pk * outer(k, y, function(k, y) stats::dnorm(y, k * x, 2 * s))) * diff(y[1:2])
  others <- function(move) law(move)
  for (pair in list(c(1, -1), c(2, 0))) {
    P <- others(pair[1])
    Q <- others(pair[2])
    step <- event_resample(size, n, event_gaussian(s))
    for (e in c(0, 0.5)) {
      expect_gte(as.double(dp_delta(step, e)), sum(pmax(0, P - exp(e) * Q)) * (1 - 1e-6))
      at <- findInterval(e - log(P / Q), sort(log(P / Q)))
      o <- order(log(P / Q))
      up <- function(x) c(rev(cumsum(rev(x[o]))), 0)
      both <- sum(P * up(P)[at + 1]) - exp(e) * sum(Q * up(Q)[at + 1])
      expect_gte(as.double(dp_delta(event_compose(step, times = 2), e)), both * (1 - 1e-6))
    }
    for (a in c(1.5, 3)) {
      expect_gte(event_price(step, "rdp", orders = a), log(sum(exp(a * log(P) + (1 - a) * log(Q)))) / (a - 1) - 1e-9)
    }
  }
  # the told pair, folded, by quadrature: losses above 0, their mirror images, the rest at 0
  eta <- 1 - (1 - 1 / n)^size
  mu <- 1 / s
  z <- seq(-12, 12 + size * mu, length.out = 60001)
  w <- pk[-1] / eta
  loss <- unlist(lapply(1:size, function(k) log1p(eta * expm1(k * mu * z - (k * mu)^2 / 2))))
  mass <- unlist(lapply(1:size, function(k) w[k] * ((1 - eta) * stats::dnorm(z) + eta * stats::dnorm(z - k * mu)) * diff(z[1:2])))
  keep <- loss > 0
  loss <- loss[keep]
  mass <- mass[keep]
  one <- stats::approxfun(seq(0, 6, by = 0.002), vapply(seq(0, 6, by = 0.002), function(e) sum(mass * pmax(0, -expm1(e - loss))), 0), rule = 2)
  profile <- function(e) ifelse(e >= 0, one(e), -expm1(e) + exp(e) * one(-e))
  for (e in c(0.2, 0.6)) {
    rest <- 1 - sum(mass) - sum(mass * exp(-loss))
    truth <- sum(mass * profile(e - loss)) + sum(mass * exp(-loss) * profile(e + loss)) + rest * profile(e)
    expect_equal(as.double(dp_delta(event_compose(event_resample(size, n, event_gaussian(s)), times = 2), e)), truth, tolerance = 2e-3)
  }
  e <- event_resample(4, 6, event_gaussian(2))
  expect_identical(e$adjacency, "replace-one")
  expect_identical(check_event(unserialize(serialize(e, NULL))), e)
  expect_output(print(e), "sample with replacement(size = 4 of 6, Gaussian(noise multiplier = 2)) [replace-one]", fixed = TRUE)
  expect_error(event_resample(4, 6, event_laplace(2)), class = "riemdp_error_unsupported")
  expect_error(event_resample(4, 6, event_gaussian(2, "add-remove")), class = "riemdp_error_adjacency")
  for (bad in list(0, 1.5, NA)) expect_error(event_resample(bad, 6, event_gaussian(2)), class = "riemdp_error_argument")
  expect_error(event_resample(4, 1, event_gaussian(2)), class = "riemdp_error_argument")
  expect_error(dp_epsilon(event_resample(1e5, 100, event_gaussian(2)), 1e-5, "pld"), class = "riemdp_error_unpriced")
  expect_error(event_group(e, 2), class = "riemdp_error_unsupported")
})

test_that("a sample that is cut costs the chance that it is, times 1 + e^epsilon, on top", {
  step <- event_gaussian(1)
  cut <- function(most) event_poisson(0.1, step, most = most, records = 1000)
  whole <- event_poisson(0.1, step)
  for (case in list(c(130, 1, 0.2), c(160, 1, 1), c(160, 5, 1))) {
    most <- case[1]
    times <- case[2]
    e <- case[3]
    beyond <- stats::pbinom(most, 1000, 0.1, lower.tail = FALSE)
    said <- dp_delta(event_compose(cut(most), times = times), e)
    truth <- as.double(dp_delta(event_compose(whole, times = times), e)) + times * beyond * (1 + exp(e))
    expect_gte(as.double(said), truth * (1 - 1e-12))
    expect_equal(as.double(said), truth, tolerance = 1e-4)
    expect_true(is.na(attr(said, "lower")))
  }
  # epsilon: what is told fits, and hardly less would
  e <- as.double(dp_epsilon(event_compose(cut(160), times = 5), 1e-5))
  rest <- function(e) 1e-5 - 5 * stats::pbinom(160, 1000, 0.1, lower.tail = FALSE) * (1 + exp(e))
  expect_gte(e, as.double(dp_epsilon(event_compose(whole, times = 5), rest(e * (1 - 1e-4)))) * (1 - 1e-6))
  expect_lte(as.double(dp_delta(event_compose(cut(160), times = 5), e)), 1e-5)
  expect_error(dp_epsilon(event_compose(cut(130), times = 5), 1e-6), class = "riemdp_error_unpriced")
  expect_identical(cut(1000), whole)
  # the step itself, cut by lot: six records, three at most
  q <- 0.5
  others <- 0:5
  kept <- q * sum(stats::dbinom(others, 5, q) * pmin(1, 3 / (others + 1)))
  d <- function(share, e) { # a mixture against none, both directions
    z <- seq(-15, 16, length.out = 20001)
    P <- ((1 - share) * stats::dnorm(z) + share * stats::dnorm(z - 1)) * diff(z[1:2])
    Q <- stats::dnorm(z) * diff(z[1:2])
    max(sum(pmax(0, P - exp(e) * Q)), sum(pmax(0, Q - exp(e) * P)))
  }
  for (e in c(0, 0.5)) expect_gte(as.double(dp_delta(event_poisson(q, step, most = 3, records = 6), e)), d(kept, e))
  # sums of stated numbers; other units have no place for the chance
  basic <- event_price(event_compose(event_poisson(0.1, event_pure(0.5), most = 150, records = 1000), times = 3), "basic")
  inner <- log1p(0.1 * expm1(0.5))
  expect_equal(basic[["epsilon"]], 3 * inner)
  expect_equal(basic[["delta"]], 3 * stats::pbinom(150, 1000, 0.1, lower.tail = FALSE) * (1 + exp(inner)), tolerance = 1e-6)
  for (unit in c("zcdp", "gdp")) expect_error(event_price(cut(150), unit), class = "riemdp_error_unpriced")
  expect_error(event_price(cut(150), "rdp", orders = 2), class = "riemdp_error_unpriced")
  for (around in list(event_poisson(0.5, cut(150)), event_allocation(3, cut(150)), event_compose(event_parallel(cut(150), event_gaussian(9)), times = 2))) {
    expect_error(dp_epsilon(around, 1e-4), class = "riemdp_error_unpriced")
  }
  expect_identical(dp_bounds(cut(150), 1e-4)[["upper"]], as.double(dp_epsilon(cut(150), 1e-4)))
  # a chance below doubles isn't none
  rare <- event_poisson(1e-9, step, most = 5e5, records = 1e6)
  expect_gt(riemdp:::uncapped(rare)$chance, 0)
  e <- cut(150)
  expect_identical(check_event(unserialize(serialize(e, NULL))), e)
  expect_output(print(e), "Poisson sample(q = 0.1, at most 150 of 1000, Gaussian(noise multiplier = 1)) [add-remove]", fixed = TRUE)
  bad <- function(...) expect_error(event_poisson(0.1, step, ...), class = "riemdp_error_argument")
  bad(most = 10)
  bad(records = 10)
  bad(most = 20, records = 10)
  bad(most = 1.5, records = 10)
  bad("replace-one", most = 5, records = 10)
})

test_that("of several stated bounds no lower end is told, in samples and allocations either", {
  stated <- event_custom("x", epsilon = 0.1, mu = 5)
  for (event in list(event_allocation(10, stated), event_poisson(0.5, stated), event_compose(event_poisson(0.5, stated), event_gaussian(50, "add-remove")))) {
    expect_lte(dp_bounds(event, 1e-5)[["lower"]], as.double(dp_epsilon(event, 1e-5)))
  }
})

test_that("allocations whose losses are too many for a distribution are priced by other accountants", {
  for (event in list(event_allocation(100, event_pure(3)), event_compose(event_allocation(100, event_pure(3)), times = 2))) {
    expect_lte(as.double(dp_epsilon(event, 0.01)), as.double(dp_epsilon(event, 0.01, accountant = "pure")))
    expect_error(dp_epsilon(event, 0.01, accountant = "pld"), class = "riemdp_error_unpriced")
  }
  expect_lt(as.double(dp_epsilon(event_allocation(777, event_gaussian(1e4)), 1e-6)), 1e-3)
  expect_error(riemdp:::pld_part(event_allocation(3, event_poisson(0.5, event_poisson(0.5, event_gaussian(1)))), "leave"), class = "riemdp_error_unpriced")
})

test_that("of a sample that is cut bounds are an upper one, and say so", {
  capped <- event_poisson(0.01, event_gaussian(1), most = 300, records = 1e4)
  for (event in list(capped, event_compose(capped, times = 10))) {
    found <- dp_bounds(event, 1e-6)
    expect_identical(c(found[["lower"]], found[["upper"]], attr(found, "apart")), c(0, as.double(dp_epsilon(event, 1e-6)), Inf))
  }
})

test_that("the kernels refuse laws that don't fit their grids", {
  law <- list(mass = c(0.5, 0.5), first = 0, coarse = 1)
  grid <- list(step = 0.1, refine = 1, first = 5, bins = 10)
  expect_identical(sum(.Call(riemdp:::riemdp_allocation_spread, law, NULL, grid)), 1)
  for (broken in list(list(first = 8), list(bins = 2), list(step = 0), list(refine = 0))) {
    expect_error(.Call(riemdp:::riemdp_allocation_spread, law, NULL, utils::modifyList(grid, broken)), class = "riemdp_error_argument")
  }
  expect_error(.Call(riemdp:::riemdp_allocation_spread, utils::modifyList(law, list(mass = c(-1, 1))), NULL, grid), class = "riemdp_error_argument")
  expect_error(.Call(riemdp:::riemdp_allocation_spread, utils::modifyList(law, list(coarse = 2)), NULL, grid), class = "riemdp_error_argument")
  values <- list(mass = c(0.5, 0.5), value = c(1, 2))
  expect_identical(.Call(riemdp:::riemdp_allocation_merge, values, NULL, c(0, 2.5, 3.5)), cbind(c(0.25, 0.5, 0.25), c(0.5, 1.5, 1)))
  expect_identical(.Call(riemdp:::riemdp_allocation_merge, values, list(mass = 1, value = 1), c(0, 2.5)), cbind(c(0.5, 0.5), c(1, 1.5)))
  for (edges in list(c(1, 1), numeric(), "a")) {
    expect_error(.Call(riemdp:::riemdp_allocation_merge, values, NULL, edges), class = "riemdp_error_argument")
  }
  expect_error(.Call(riemdp:::riemdp_allocation_merge, list(mass = c(1, 1), value = c(2, 1)), NULL, 0), class = "riemdp_error_argument")
})
