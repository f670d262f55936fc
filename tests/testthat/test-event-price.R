test_that("units add up", {
  e <- event_compose(event_pure(0.1), event_laplace(5), times = 3)
  expect_equal(event_price(e, "basic"), c(epsilon = 0.9, delta = 0))
  expect_equal(event_price(event_compose(event_approx(1, 1e-6), event_pure(1), times = 2), "basic"), c(epsilon = 4, delta = 2e-6))
  expect_equal(event_price(event_poisson(0.1, event_pure(1)), "basic")[["epsilon"]], log1p(0.1 * expm1(1)))
  expect_equal(event_price(event_compose(event_gaussian(2), event_zcdp(0.1), times = 2), "zcdp"), 2 * (1 / 8 + 0.1))
  expect_equal(event_price(event_discrete_gaussian(3, 2), "zcdp"), 4 / 18)
  expect_equal(event_price(event_gaussian(2), "rdp", orders = c(2, 8)), c(2, 8) / 8)
  expect_equal(event_price(event_compose(event_gaussian(2), event_gdp(1), times = 4), "gdp"), sqrt(5))
  # a given delta turns the whole event into one pair
  g <- event_gaussian(1)
  expect_equal(event_price(g, "basic", delta = 1e-5), c(epsilon = as.double(dp_epsilon(g, 1e-5)), delta = 1e-5))
})

test_that("units are those of the ledger's rules", {
  rules <- riemdp:::LEDGER_RULES
  rules$made_up <- utils::modifyList(rules$gdp, list(price = function(event, orders, delta) 7))
  with_internals(expect_identical(event_price(event_pure(1), "made_up"), 7), LEDGER_RULES = rules)
  expect_error(event_price(event_pure(1), "made_up"), class = "riemdp_error_argument")
})

test_that("what a unit can't hold is refused, never free", {
  refused <- function(x) expect_error(x, class = "riemdp_error_unpriced")
  refused(event_price(event_gaussian(1), "basic"))
  refused(event_price(event_gaussian(1), "basic", delta = 0))
  refused(event_price(event_poisson(0.1, event_gaussian(1)), "zcdp"))
  refused(event_price(event_discrete_gaussian(1), "gdp"))
  refused(event_price(event_approx(1, 1e-6), "gdp"))
  refused(event_price(event_sample(0.1, event_gaussian(1)), "gdp"))
  refused(event_price(event_approx(1, 1e-6), "zcdp"))
  refused(event_price(event_compose(event_gaussian(1), event_approx(1, 1e-6)), "rdp", orders = 2))
  refused(event_price(event_rdp(2, 1), "zcdp"))
  expect_identical(event_price(event_rdp(c(2, 4), c(1, 2)), "rdp", orders = 5), Inf)
  expect_error(event_price(event_gaussian(1), "rdp", orders = 1), class = "riemdp_error_argument")
})

test_that("randomised response bounds epsilon-DP: the divergence and its zCDP slope", {
  for (e in c(1e-3, 0.3, 3)) {
    p <- stats::plogis(e)
    for (a in c(1.01, 2, 7.5, 40)) {
      direct <- log(p^a * (1 - p)^(1 - a) + (1 - p)^a * p^(1 - a)) / (a - 1)
      expect_equal(event_price(event_pure(e), "rdp", orders = a), direct, tolerance = if (e < 0.01) 1e-6 else 1e-10)
      expect_gte(a * event_price(event_pure(e), "zcdp") * (1 + 1e-9), direct)
    }
    # the slope is attained as the order falls to 1
    expect_equal(event_price(event_pure(e), "rdp", orders = 1 + 1e-6), event_price(event_pure(e), "zcdp"), tolerance = 1e-5)
  }
})

test_that("parallel parts cost the dearest, and the two dearest where a private value chooses the part", {
  parts <- list(event_pure(1), event_pure(2), event_pure(0.5))
  private <- function(...) event_parallel(..., keys = "private")
  two <- function(...) event_compose(...)
  expect_equal(event_price(event_parallel(parts), "basic")[["epsilon"]], 2)
  expect_equal(event_price(private(parts), "basic")[["epsilon"]], 3)
  expect_equal(event_price(private(event_pure(2), event_pure(2)), "basic")[["epsilon"]], 4)
  expect_equal(event_price(private(event_pure(2)), "basic")[["epsilon"]], 2)
  expect_equal(event_price(private(event_approx(1, 1e-6), event_approx(0.5, 1e-5), event_pure(0.7)), "basic"), c(epsilon = 1.7, delta = 1.1e-5))
  expect_equal(event_price(private(event_gaussian(1), event_gaussian(2), event_gaussian(4)), "gdp"), sqrt(1.25))
  expect_equal(event_price(private(event_gaussian(1), event_gaussian(2), event_pure(0.1)), "zcdp"), 0.5 + 0.125)
  expect_equal(event_price(private(event_gaussian(1), event_pure(1)), "rdp", orders = c(2, 30)),
               event_price(two(event_gaussian(1), event_pure(1)), "rdp", orders = c(2, 30)))
  # at every question and by every accountant the pair's own price, alone and in compositions
  same <- function(x, y) expect_equal(as.double(x), as.double(y), tolerance = 1e-4)
  cases <- list(list(event_gaussian(1), event_gaussian(2)), list(event_pure(1), event_pure(0.3)), list(event_gaussian(1), event_laplace(2)),
                list(event_approx(1, 1e-7), event_approx(0.5, 1e-6)), list(event_pure(1), event_gaussian(2)))
  for (case in cases) {
    small <- event_pure(1e-4)
    pair <- do.call(event_compose, case)
    for (delta in c(1e-3, 1e-5)) same(dp_epsilon(do.call(private, c(case, list(small))), delta), dp_epsilon(pair, delta))
    same(dp_delta(do.call(private, case), 0.8), dp_delta(pair, 0.8))
    same(dp_bounds(do.call(private, case), 1e-5), dp_bounds(pair, 1e-5))
    with <- function(e) event_compose(event_gaussian(3), e, times = 2)
    same(dp_epsilon(with(do.call(private, case)), 1e-5, "pld"), dp_epsilon(with(pair), 1e-5, "pld"))
    # a record that stays in its part, which is stated for one more or less only, is a group of two
    fixed <- do.call(private, c(lapply(case, function(e) event_compose(e, adjacency = "add-remove"))))
    if (!is.null(riemdp:::gaussian_step(case[[1]])) && !is.null(riemdp:::gaussian_step(case[[2]]))) {
      expect_equal(event_price(fixed, "gdp"), 2)
      same(dp_epsilon(fixed, 1e-5), dp_epsilon(event_gaussian(0.5), 1e-5))
      expect_equal(event_price(fixed, "zcdp"), 2)
    }
    if (case[[1]]$type == "approx") expect_equal(event_price(fixed, "basic"), c(epsilon = 2, delta = max((1 + exp(1)) * 1e-7, (1 + exp(0.5)) * 1e-6)))
  }
  # many parts: no pair by pair
  many <- private(lapply(seq(0.1, 2, length.out = 60), event_pure))
  expect_equal(event_price(many, "basic")[["epsilon"]], 2 + 2 - 1.9 / 59)
  expect_equal(as.double(dp_epsilon(many, 1e-6, "pld")), as.double(dp_epsilon(event_compose(event_pure(2), event_pure(2 - 1.9 / 59)), 1e-6)), tolerance = 1e-4)
})

test_that("parts and claims that aren't attained together are in no lower bound", {
  # (1, 0) or (.1, 1e-5): the pair of both maxima dominates, and is more than either
  parts <- event_compose(event_parallel(event_pure(1), event_approx(0.1, 1e-5)), event_gaussian(5))
  bounds <- dp_bounds(parts, 1.2e-5)
  each <- vapply(list(event_pure(1), event_approx(0.1, 1e-5)), function(e) dp_bounds(event_compose(e, event_gaussian(5)), 1.2e-5)[["upper"]], 0)
  expect_lte(bounds[["lower"]], max(each))
  expect_gte(bounds[["upper"]], max(each) * (1 - 1e-6))
  claims <- event_custom("two claims", epsilon = 5, mu = 0.1)
  expect_lte(dp_bounds(claims, 1e-6)[["lower"]], as.double(dp_epsilon(claims, 1e-6)))
})

test_that("every event has the price that it should, in every unit that adds up", {
  # prices written here from the events' laws: c(basic epsilon, basic delta), zCDP's rho, GDP's mu; NA where the unit can't hold it
  slope <- function(e) e * (exp(e) - 1) / (exp(e) + 1) # KL divergence of randomised response: its zCDP
  mix <- function(e, q) log(1 + q * (exp(e) - 1))
  laplace_kl <- function(b) exp(-1 / b) - 1 + 1 / b
  normal <- function(e) 2 * stats::qnorm(stats::plogis(e)) # the normal noise that shows no less than e-DP
  table <- list(
    list(event_pure(0.7), c(0.7, 0), slope(0.7), normal(0.7)),
    list(event_laplace(1.6), c(1 / 1.6, 0), slope(1 / 1.6), normal(1 / 1.6)),
    list(event_approx(0.7, 1e-6), c(0.7, 1e-6), NA, NA), list(event_gaussian(1.7), NA, 1 / (2 * 1.7^2), 1 / 1.7),
    list(event_gdp(0.6), NA, 0.18, 0.6), list(event_zcdp(0.3), NA, 0.3, NA), list(event_discrete_gaussian(3, 2), NA, 4 / 18, NA),
    list(event_poisson(0.2, event_pure(0.7)), c(mix(0.7, 0.2), 0), slope(mix(0.7, 0.2)), normal(mix(0.7, 0.2))),
    list(event_sample(0.2, event_laplace(1.6)), c(mix(1 / 1.6, 0.2), 0), slope(mix(1 / 1.6, 0.2)), normal(mix(1 / 1.6, 0.2))),
    list(event_poisson(0.2, event_approx(0.7, 1e-4)), c(mix(0.7, 0.2), 2e-5), NA, NA),
    list(event_sample(0.2, event_approx(0.7, 1e-4)), c(mix(0.7, 0.2), 2e-5), NA, NA),
    list(event_sample(1, event_gaussian(1.7)), NA, 1 / (2 * 1.7^2), 1 / 1.7)
  )
  no_price <- function(x) tryCatch(x, riemdp_error_unpriced = function(e) NA)
  compare <- function(got, want) expect_equal(as.double(got), as.double(want), tolerance = 1e-11)
  for (row in table) for (times in c(1, 7)) {
    event <- event_compose(row[[1]], times = times)
    compare(no_price(event_price(event, "basic")), times * row[[2]])
    compare(no_price(event_price(event, "zcdp")), times * row[[3]])
    compare(no_price(event_price(event, "gdp")), sqrt(times) * row[[4]])
  }
  # a zCDP price bounds the divergence at every order; near 1 the divergence is the KL divergence
  renyi <- function(b, a) log(a / (2 * a - 1) * exp((a - 1) / b) + (a - 1) / (2 * a - 1) * exp(-a / b)) / (a - 1) # Mironov (2017)
  for (b in c(0.3, 1, 4)) {
    rho <- event_price(event_laplace(b), "zcdp")
    for (a in c(1.5, 2, 8, 40)) {
      expect_gte(a * rho, renyi(b, a))
      expect_equal(event_price(event_laplace(b), "rdp", orders = a), renyi(b, a), tolerance = 1e-9)
    }
    expect_gte(rho, laplace_kl(b))
  }
})

test_that("what every accountant says is above the exact delta, and not far above where it is exact", {
  # exact profiles by closed forms and quadrature: delta(epsilon) of n compositions
  gaussian <- function(mu) function(e) stats::pnorm(mu / 2 - e / mu) - exp(e) * stats::pnorm(-mu / 2 - e / mu)
  response <- function(e0, k) function(e) { # k coins of bias e0
    j <- 0:k
    p <- stats::dbinom(j, k, stats::plogis(e0))
    l <- (2 * j - k) * e0
    sum(p * pmax(0, -expm1(e - l)))
  }
  sampled <- function(q, sigma) function(e) { # one Poisson step of Gaussian noise, the dearer direction: the record is there
    z <- stats::uniroot(function(z) log1p(q * expm1((2 * z - 1) / (2 * sigma^2))) - e, c(-50, 200), tol = 1e-13)$root
    (1 - q) * stats::pnorm(-z / sigma) + q * stats::pnorm((1 - z) / sigma) - exp(e) * stats::pnorm(-z / sigma)
  }
  laplace <- function(b) function(e) if (e < 1 / b) -expm1((e - 1 / b) / 2) else 0
  cases <- list(
    list(event_gaussian(2), gaussian(0.5), c("single", "zcdp", "rdp", "gdp", "pld", "moments")),
    list(event_compose(event_gaussian(3), times = 9), gaussian(1), c("zcdp", "rdp", "gdp", "pld")),
    list(event_pure(0.8), response(0.8, 1), c("pure", "single", "zcdp", "rdp", "pld")),
    list(event_compose(event_pure(0.2), times = 20), response(0.2, 20), c("pure", "optimal", "advanced", "zcdp", "rdp", "pld")),
    list(event_compose(event_approx(0.2, 1e-4), times = 20), function(e) 1 - (1 - 1e-4)^20 * (1 - response(0.2, 20)(e)), c("optimal", "pld")),
    list(event_laplace(1.25), laplace(1.25), c("pure", "single", "zcdp", "rdp", "pld")),
    list(event_poisson(0.1, event_gaussian(0.8)), sampled(0.1, 0.8), c("single", "rdp", "pld"))
  )
  expect_true(all(riemdp:::accountants_with("proven") %in% unlist(lapply(cases, `[[`, 3))))
  exact <- c("gdp", "pld", "optimal", "single")
  for (case in cases) for (epsilon in c(0.1, 0.5)) {
    truth <- case[[2]](epsilon)
    for (accountant in case[[3]]) {
      # sums of pure steps answer from their own epsilon on
      said <- tryCatch(as.double(dp_delta(case[[1]], epsilon, accountant)), riemdp_error_unpriced = function(e) 1)
      expect_gte(said, truth * (1 - 1e-11))
      if (accountant %in% exact) expect_lte(said, truth * (1 + 2e-3) + 1e-12)
    }
  }
  # beyond a step's epsilon what tells all is left: its delta, times the share that is sampled, of each step that may show it
  for (make in list(event_poisson, event_sample)) for (times in c(1, 3)) {
    said <- as.double(dp_delta(event_compose(make(0.2, event_approx(0.5, 1e-3)), times = times), 2, "pld"))
    expect_equal(said / (1 - (1 - 2e-4)^times), 1, tolerance = 1e-3)
  }
  # Bun and Steinke's conversion is what it says, above the best one
  for (rho in c(0.02, 0.5)) for (epsilon in c(1, 3)) {
    published <- as.double(dp_delta(event_zcdp(rho), epsilon, "zcdp", "bun-steinke"))
    expect_equal(published / exp(-(epsilon - rho)^2 / (4 * rho)), 1, tolerance = 1e-9)
    expect_lte(as.double(dp_delta(event_zcdp(rho), epsilon, "zcdp")), published)
  }
})

test_that("a stated pair is priced in both directions, by sums written here, and says that it is a claim", {
  p <- c(0.5, 0.3, 0.15, 0.05)
  q <- c(0.2, 0.25, 0.35, 0.2)
  e <- event_pair("four outcomes", p, q, "add-remove")
  expect_true(attr(dp_epsilon(e, 1e-3), "assumed"))
  expect_output(print(e), "assumed: 4 outcomes")
  expect_identical(check_event(e), e)
  for (change in list(list(p = c(0.5, 0.3, 0.15, 0.06)), list(q = q[-1]), list(p = -p), list(label = 1))) {
    broken <- e
    broken$parameters <- utils::modifyList(e$parameters, change)
    expect_error(check_event(broken), class = "riemdp_error_argument")
  }
  expect_error(event_pair("x", p, q, "either"), class = "riemdp_error_argument")
  expect_equal(event_price(e, "basic"), c(epsilon = log(4), delta = 0)) # that of entering; leaving has log(2.5)
  expect_equal(event_price(event_pair("x", p, q, "replace-one"), "basic")[["epsilon"]], log(2.5))
  renyi <- function(p, q, a) log(sum(p^a * q^(1 - a))) / (a - 1)
  for (a in c(1.2, 2, 9)) {
    expect_equal(event_price(e, "rdp", orders = a), max(renyi(p, q, a), renyi(q, p, a)), tolerance = 1e-10)
    expect_gte(a * event_price(e, "zcdp"), renyi(q, p, a))
  }
  # three steps: all 64 outcomes
  profile <- function(p, q, epsilon) {
    p3 <- outer(outer(p, p), p)
    q3 <- outer(outer(q, q), q)
    sum(pmax(0, p3 - exp(epsilon) * q3))
  }
  three <- function(e) event_compose(e, times = 3)
  for (epsilon in c(0.1, 1, 2.5)) {
    truth <- max(profile(p, q, epsilon), profile(q, p, epsilon))
    said <- as.double(dp_delta(three(e), epsilon, "pld"))
    expect_gte(said, truth * (1 - 1e-9))
    expect_lte(said, truth * (1 + 1e-2))
    # a Poisson sample of it
    mixed <- 0.3 * p + 0.7 * q
    truth <- max(profile(mixed, q, epsilon), profile(q, mixed, epsilon))
    said <- as.double(dp_delta(three(event_poisson(0.3, e)), epsilon, "pld"))
    expect_gte(said, truth * (1 - 1e-9))
    expect_lte(said, truth * (1 + 1e-2) + 1e-12)
  }
  # an outcome that tells all
  tells <- event_pair("tells", c(0.1, 0.9), c(0, 1), "replace-one")
  expect_equal(event_price(tells, "basic"), c(epsilon = 0, delta = 0.1))
  expect_equal(as.double(dp_delta(three(tells), 5, "pld")), 1 - 0.9^3, tolerance = 1e-6)
  expect_error(event_price(tells, "rdp", orders = 2), class = "riemdp_error_unpriced")
})

test_that("many of what is too small for doubles isn't nothing", {
  for (step in list(event_pure(1e-170), event_gaussian(1e170), event_laplace(1e170), event_gdp(1e-170), event_poisson(1e-200, event_gaussian(1)))) {
    many <- Reduce(function(e, i) event_compose(e, times = 1e12), 1:30, step)
    for (unit in c("zcdp", "gdp", "rdp")) {
      price <- tryCatch(event_price(many, unit, orders = if (unit == "rdp") c(2, 50)), riemdp_error_unpriced = function(e) NULL)
      if (!is.null(price)) expect_true(all(price > 1e30), label = paste(step$type, unit))
    }
  }
  # three of mu = 1e10, told by their sum
  expect_gte(event_price(Reduce(function(e, i) event_compose(e, times = 1e12), 1:30, event_gaussian(1e170)), "gdp"), 1e10)
  # what tells nothing stays so
  for (free in list(event_pure(0), event_gdp(0), event_zcdp(0), event_compose(event_pure(0), event_gdp(0)), event_poisson(0.1, event_pure(0)))) {
    expect_identical(as.double(event_price(event_compose(free, times = 1e12), "zcdp")), 0)
  }
})

# ---- the best of several runs, and groups ------------------------------------------------------------------------------------

# the law of the best of K runs, outcomes from worst to best, by the law of K itself
best_of <- function(q, mean, shape) {
  k <- 1:40000
  weight <- function(gamma) {
    log_w <- k * log1p(-gamma) + if (shape > 0) lgamma(k + shape) - lgamma(k + 1) else -log(k)
    w <- exp(log_w - max(log_w))
    w / sum(w)
  }
  gamma <- stats::uniroot(function(g) log(sum(k * weight(g)) / mean), c(1e-3, 1 - 1e-9), tol = 1e-13)$root
  below <- cumsum(q)
  pgf <- vapply(c(0, below), function(x) sum(weight(gamma) * x^k), 0)
  diff(pgf)
}

test_that("the best of several runs shows no more than its price, which some nearly attain", {
  one_way <- function(p, q, a) riemdp:::log_sum(a * log(p) + (1 - a) * log(q)) / (a - 1)
  renyi <- function(p, q, a) max(0, one_way(p, q, a), one_way(q, p, a))
  share <- 0
  orders <- c(1.5, 2, 4, 10, 50)
  set.seed(1)
  for (shape in c(0, 0.5, 1, 3)) {
    for (mean in c(1.5, 20)) {
      for (run in 1:6) {
        e <- c(0.2, 1)[1 + run %% 2]
        m <- c(2, 3, 6)[1 + run %% 3]
        # one outcome is the best, and rare: it is found where runs are many
        q <- stats::rexp(m) * c(rep(1, m - 1), 0.01)
        p <- q * exp(e / 2 * c(-1, 1)[c(sample(2, m - 1, TRUE), 2)])
        q <- q / sum(q)
        p <- p / sum(p)
        loss <- max(abs(log(p / q)))
        if (loss < 0.01) next # one law
        said <- dp_epsilon(event_select(event_pure(loss), mean, shape), 0)
        expect_equal(as.double(said), (2 + shape) * loss, tolerance = 1e-12)
        a <- best_of(p, mean, shape)
        b <- best_of(q, mean, shape)
        expect_lte(max(abs(log(a / b))), as.double(said) * (1 + 1e-9))
        share <- max(share, max(abs(log(a / b))) / as.double(said))
        # a step of which the divergences alone are known
        known <- seq(1.001, 300, length.out = 600)
        step <- event_rdp(known, vapply(known, function(at) renyi(p, q, at), 0))
        bound <- event_price(event_select(step, mean, shape), "rdp", orders)
        expect_true(all(vapply(orders, function(at) renyi(a, b, at), 0) <= bound))
      }
    }
  }
  expect_gt(share, 0.75)
  # by hand: one order decides
  others <- c(1.001, 1.01, 1.03, 1.1, 1.2, 1.4, 1.7, 2^seq(1, 9, 0.25))
  rho <- 0.005
  by_hand <- 3 * rho + 2 * min((1 - 1 / others) * rho * others + log(20) / others) + log(20) / 2
  expect_equal(event_price(event_select(event_zcdp(rho), 20), "rdp", 3), by_hand, tolerance = 1e-10)
  for (shape in c(0, 1e-9, 0.5, 1, 7)) { # gamma of a mean
    for (mean in c(1.001, 3, 1e4)) {
      t <- -riemdp:::select_rate(mean, shape)
      expect_equal((if (shape > 0) shape / -expm1(-shape * t) else 1 / t) * expm1(t) / mean, 1, tolerance = 1e-9)
    }
  }
})

test_that("a choice of choices asks its step once a level, and a shape next to 0 is 0", {
  count <- function(e) if (e$type == "select") 1 + count(e$children[[1]]) else 0
  e <- event_gaussian(50)
  for (i in 1:40) e <- event_select(e, 1.1, 0)
  expect_identical(count(e), 40)
  expect_true(is.finite(event_price(e, "rdp", 2))) # with two questions a level this had no end
  expect_identical(event_price(event_select(event_gaussian(5), 2, 5e-324), "rdp", 3), event_price(event_select(event_gaussian(5), 2, 0), "rdp", 3))
})

test_that("what is chosen from several runs is priced where a theorem holds, and nowhere else", {
  pure <- event_select(event_pure(0.1), 20)
  expect_equal(as.double(dp_delta(pure, 0.1)), stats::plogis(0.3) * -expm1(-0.2), tolerance = 1e-12)
  expect_equal(as.double(dp_epsilon(event_compose(pure, event_gaussian(3)), 1e-6)),
               as.double(dp_epsilon(event_compose(event_pure(0.3), event_gaussian(3)), 1e-6)), tolerance = 1e-4)
  expect_true(is.na(attr(dp_epsilon(pure, 1e-6), "lower")))
  expect_equal(event_price(pure, "zcdp"), 0.3 * tanh(0.15))
  normal <- event_select(event_gaussian(10), 20)
  expect_identical(attr(dp_epsilon(normal, 1e-6), "accountant"), "rdp")
  for (unit in c("zcdp", "basic")) expect_error(event_price(normal, unit), class = "riemdp_error_unpriced")
  expect_error(dp_epsilon(event_select(event_approx(0.1, 1e-9), 20), 1e-6), class = "riemdp_error_unpriced")
  for (bad in list(1, 0.5, Inf, "a")) expect_error(event_select(event_pure(1), bad), class = "riemdp_error_argument")
  for (bad in list(-0.1, 101, NA)) expect_error(event_select(event_pure(1), 2, bad), class = "riemdp_error_argument")
  expect_identical(check_event(unserialize(serialize(normal, NULL))), normal)
  expect_output(print(normal), "best of several(mean = 20, shape = 1, Gaussian(noise multiplier = 10))", fixed = TRUE)
  ledger <- dp_ledger(NULL, 1)
  ledger_spend(ledger, pure)
  expect_equal(summary(ledger)$spent[1], 0.3)
})

test_that("a group of records is protected by as much less as each theorem says", {
  expect_identical(event_group(event_gaussian(5), 1), event_gaussian(5))
  expect_equal(as.double(dp_epsilon(event_group(event_gaussian(6), 3), 1e-6)), as.double(dp_epsilon(event_gaussian(2), 1e-6)), tolerance = 1e-9)
  expect_identical(event_group(event_pure(0.1, "add-remove"), 4), event_pure(0.4, "add-remove"))
  expect_identical(event_group(event_laplace(6), 3), event_laplace(2))
  expect_identical(event_group(event_zcdp(0.1), 3)$parameters$rho, 0.9)
  expect_identical(event_group(event_discrete_gaussian(4, 2), 3)$parameters$sensitivity, 6)
  p <- event_group(event_approx(0.5, 1e-7), 4)$parameters
  expect_equal(c(p$epsilon, p$delta), c(2, 1e-7 * sum(exp(0.5 * 0:3))), tolerance = 1e-10)
  expect_equal(event_group(event_approx(0, 1e-7), 4)$parameters$delta, 4e-7, tolerance = 1e-10)
  both <- event_group(event_compose(event_laplace(6), event_compose(event_pure(0.1), event_gaussian(3), times = 2), times = 5), 2)
  expect_equal(as.double(dp_epsilon(both, 1e-6)),
               as.double(dp_epsilon(event_compose(event_laplace(3), event_compose(event_pure(0.2), event_gaussian(1.5), times = 2), times = 5), 1e-6)),
               tolerance = 1e-9)
  # what was taken on trust still is, in a ledger's groups of two as well
  for (e in list(event_custom("x", mu = 0.5), event_custom("x", epsilon = 0.1, delta = 1e-9), event_pair("x", c(0.6, 0.4), c(0.4, 0.6), "replace-one"),
                 event_compose(event_custom("x", rho = 0.1), event_gaussian(3), times = 2))) {
    expect_true(attr(dp_epsilon(event_group(e, 2), 1e-6), "assumed"))
    expect_identical(check_event(event_group(e, 2)), event_group(e, 2))
  }
  two <- dp_ledger(NULL, 10, 1e-3, pairs = TRUE)
  ledger_spend(two, event_custom("x", epsilon = 1, adjacency = "add-remove"))
  expect_match(ledger_history(two)$event, "assumed")
  parts <- function(keys) event_parallel(event_approx(800, 1e-5, "add-remove"), event_approx(1, 1e-5, "add-remove"), keys = keys)
  expect_identical(unname(event_price(parts("private"), "basic")), c(1600, 1))
  # at the ends of doubles
  expect_error(event_group(event_approx(1e3, 0.5), 2), class = "riemdp_error_argument")
  expect_error(event_group(event_pure(1e307), 1e3), class = "riemdp_error_argument")
  # no theorem here
  expect_error(event_group(event_poisson(0.1, event_gaussian(1)), 2), class = "riemdp_error_unsupported")
  expect_error(event_group(event_rdp(2, 1), 2), class = "riemdp_error_unsupported")
  # what such a price is a bound of isn't attained
  for (e in list(event_poisson(0.1, event_pure(1)), event_shuffle(100, event_pure(1)), event_select(event_pure(1), 3),
                 event_compose(event_approx(0.1, 1e-9), event_pure(1)), event_parallel(event_pure(1), event_pure(2)))) {
    expect_error(event_group(e, 2), class = "riemdp_error_unsupported")
  }
  for (bad in list(0, 1.5, Inf)) expect_error(event_group(event_pure(1), bad), class = "riemdp_error_argument")
})

test_that("a delta below doubles isn't told as 0 from above, also that of a sample", {
  for (e in list(event_gaussian(1), event_sample(1e-200, event_gaussian(1)), event_poisson(1e-200, event_gaussian(1)), event_sample(1e-250, event_gdp(0.01)))) {
    for (epsilon in c(5, 60)) expect_gt(as.double(dp_delta(e, epsilon)), 0)
  }
  # what is 0 stays 0
  expect_identical(as.double(dp_delta(event_sample(0.1, event_pure(1)), 1)), 0)
  expect_identical(as.double(dp_delta(event_poisson(0.1, event_laplace(1)), 1)), 0)
})
