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
    list(event_discrete_laplace(3, 2), c(2 / 3, 0), 2 / 3 - (1 - exp(-2 / 3)) / (3 * sinh(1 / 3)), normal(2 / 3)),
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

test_that("what tells something never costs 0, and nothing is dearer than it may be by underflow", {
  small <- list(event_gaussian(1e200), event_laplace(1e200), event_discrete_laplace(1e200), event_pure(1e-200), event_gdp(1e-200),
                event_discrete_gaussian(1e200), event_compose(event_gaussian(1e200), times = 3))
  for (e in small) {
    expect_gt(event_price(e, "zcdp"), 0)
    expect_true(all(event_price(e, "rdp", orders = c(2, 30)) > 0))
    expect_gt(as.double(dp_delta(e, 0, accountant = "zcdp")), 0)
    expect_gt(as.double(dp_delta(e, 0)), 0)
  }
  expect_gt(event_price(event_parallel(event_gaussian(1e200), event_gaussian(1e201)), "gdp"), 0)
  for (rule in c("zcdp", "rdp", "gdp")) {
    expect_gt(ledger_spend(dp_ledger(NULL, 1, 1e-6, rule), event_gaussian(1e200))$cost[[1]], 0)
  }
  expect_identical(event_price(event_pure(0), "zcdp"), 0)
  # noise next to none
  expect_identical(as.double(dp_delta(event_discrete_laplace(1e-305), 1e302)), 1)
  # numbers whose squares aren't doubles: the norm of (1, 2/5, ...) times 1e-162
  for (size in c(1e-300, 1e-162, 1, 1e160, 1e300)) {
    e <- event_matrix(c(1, 0.4, 0.2) * size, size)
    expect_equal(e$parameters$noise_multiplier, 1 / sqrt(1.2), tolerance = 1e-12)
    expect_lte(e$parameters$noise_multiplier, 1 / sqrt(1.2))
  }
  # too small for a distribution: other accountants answer, or say why
  e <- event_poisson(1e-320, event_gaussian(1), adjacency = "replace-one")
  expect_gt(as.double(dp_delta(e, 1)), 0)
  expect_error(dp_delta(event_poisson(1e-300, event_gaussian(1e-3)), 0, accountant = "clt"), class = "riemdp_error_unpriced")
})

test_that("a delta below doubles isn't told as 0 from above, also that of a sample", {
  for (e in list(event_gaussian(1), event_sample(1e-200, event_gaussian(1)), event_poisson(1e-200, event_gaussian(1)), event_sample(1e-250, event_gdp(0.01)))) {
    for (epsilon in c(5, 60)) expect_gt(as.double(dp_delta(e, epsilon)), 0)
  }
  # what is 0 stays 0
  expect_identical(as.double(dp_delta(event_sample(0.1, event_pure(1)), 1)), 0)
  expect_identical(as.double(dp_delta(event_poisson(0.1, event_laplace(1)), 1)), 0)
})

# ---- discrete noise, mixtures of moves, matrices, replaced records in samples ----------------------------------------------------

# E(p - e^epsilon q)_+ of masses or of densities times weights
hockey <- function(p, q, epsilon) sum(pmax(0, p - exp(epsilon) * q))
renyi_of <- function(p, q, order) {
  l <- order * log(p) + (1 - order) * log(q)
  l <- l[is.finite(l)]
  (max(l) + log(sum(exp(l - max(l))))) / (order - 1)
}
# both ends around the truth and near each other; rounding of the truth is `off` of it
expect_around <- function(price, truth, apart = 1e-4, off = 1e-9) {
  expect_gte(as.double(price), truth * (1 - off))
  expect_lte(attr(price, "lower"), truth * (1 + off))
  if (truth > 1e-25) expect_gte(attr(price, "lower"), as.double(price) * (1 - apart))
}

discrete_laplace_laws <- function(scale, move) {
  k <- seq(-ceiling(60 * scale), ceiling(60 * scale) + move)
  mass <- function(k) exp(-abs(k) / scale) * tanh(1 / (2 * scale))
  list(p = mass(k), q = mass(k - move))
}

test_that("discrete Laplace noise costs what sums over the integers say", {
  for (case in list(c(0.4, 1), c(3, 2), c(2.5, 7), c(12, 30), c(0.7, 20))) {
    e <- event_discrete_laplace(case[1], case[2])
    law <- discrete_laplace_laws(case[1], case[2])
    top <- case[2] / case[1]
    expect_equal(event_price(e, "basic"), c(epsilon = top, delta = 0))
    expect_identical(attr(dp_epsilon(e, 0), "lower"), top * (1 - 1e-12))
    for (at in c(0, 0.31, 0.5, 0.97) * top) {
      truth <- hockey(law$p, law$q, at)
      expect_around(dp_delta(e, at), truth, 1e-9, 1e-12)
      expect_equal(as.double(dp_delta(e, at, "pld")) / truth, 1, tolerance = 1e-6)
      # no smaller move shows more
      if (case[2] > 1) for (less in unique(c(1, case[2] - 1))) {
        inner <- discrete_laplace_laws(case[1], less)
        expect_lte(hockey(inner$p, inner$q, at), truth * (1 + 1e-12))
      }
    }
    orders <- c(1.001, 1.5, 2, 9, 60)
    exact <- vapply(orders, function(a) renyi_of(law$p, law$q, a), 0)
    said <- event_price(e, "rdp", orders)
    expect_true(all(said >= exact * (1 - 1e-9)) && all(said <= exact * (1 + 1e-9)))
    divergence <- sum(law$p * ifelse(law$p > 0 & law$q > 0, log(law$p / law$q), 0))
    rho <- event_price(e, "zcdp")
    expect_equal(rho / divergence, 1, tolerance = 1e-10)
    expect_true(all(rho * orders >= exact))
  }
  # three steps: sums of three losses
  law <- discrete_laplace_laws(4, 3)
  loss <- round(4 * log(law$p / law$q))
  one <- tapply(law$p, factor(loss, -3:3), sum)
  one[is.na(one)] <- 0
  two <- stats::convolve(one, rev(one), type = "open")
  three <- stats::convolve(two, rev(one), type = "open")
  for (at in c(0.1, 0.9, 1.6)) {
    truth <- sum(three * pmax(0, -expm1(at - (-9:9) / 4)))
    expect_around(dp_delta(event_compose(event_discrete_laplace(4, 3), times = 3), at), truth, 1e-6, 1e-6)
  }
  expect_equal(attr(dp_epsilon(event_compose(event_discrete_laplace(4, 3), times = 3), 0), "lower"), 2.25)
  # by one step it is randomised response; by many, Laplace noise
  expect_identical(riemdp:::pld_part(event_discrete_laplace(2), "both")[c("loss", "unit")],
                   list(loss = c(0.5, -0.5), unit = 0.5))
  fine <- event_discrete_laplace(1e6, 1e6)
  for (a in c(1.2, 8)) expect_equal(event_price(fine, "rdp", a) / event_price(event_laplace(1), "rdp", a), 1, tolerance = 1e-5)
  expect_equal(event_price(fine, "zcdp"), exp(-1), tolerance = 1e-6)
  # chords between some terms are above all of them
  few <- function(e) with_internals(event_price(e, "rdp", c(1.5, 20)), DISCRETE_TERMS = 5)
  odd <- event_discrete_laplace(30, 77)
  expect_true(all(few(odd) > event_price(odd, "rdp", c(1.5, 20))) && all(few(odd) < 1.1 * event_price(odd, "rdp", c(1.5, 20))))
  many <- function(step) as.double(dp_epsilon(event_compose(step, times = 100), 1e-6))
  expect_lt(many(event_laplace(20 / 3)), many(event_discrete_laplace(20, 3)))
  expect_lt(many(event_discrete_laplace(20, 3)), 0.98 * many(event_pure(3 / 20)))
  # sampled: the sum over the integers
  law <- discrete_laplace_laws(2, 3)
  mixed <- 0.1 * law$p + 0.9 * law$q
  truth <- max(hockey(mixed, law$q, 0.05), hockey(law$q, mixed, 0.05))
  expect_around(dp_delta(event_poisson(0.1, event_discrete_laplace(2, 3)), 0.05), truth, 1e-4)
  expect_gte(event_price(event_poisson(0.1, event_discrete_laplace(2, 3)), "rdp", 4), renyi_of(mixed, law$q, 4))
  for (bad in list(0, 1.5, -1, Inf, "a")) expect_error(event_discrete_laplace(1, bad), class = "riemdp_error_argument")
  expect_identical(event_group(event_discrete_laplace(4, 2), 3), event_discrete_laplace(4, 6))
  expect_identical(check_event(event_discrete_laplace(4, 2)), event_discrete_laplace(4, 2))
  expect_output(print(event_discrete_laplace(4, 2)), "discrete Laplace(scale = 4, sensitivity = 2)", fixed = TRUE)
  expect_error(dp_epsilon(event_discrete_laplace(1e9, 3e6), 1e-6, "pld"), class = "riemdp_error_unpriced")
  for (e in list(event_discrete_laplace(1e-320, 3), event_discrete_laplace(1e300, 2^53))) {
    expect_false(anyNA(c(dp_epsilon(e, 1e-6), dp_delta(e, 1), event_price(e, "zcdp"), event_price(e, "rdp", c(1.5, 1e300)))))
  }
})

test_that("on a lattice in one dimension what moves moves by whole steps", {
  expect_error(event_discrete_gaussian(20, 1.01), class = "riemdp_error_argument")
  e <- event_discrete_gaussian(20, 1)
  e$parameters$sensitivity <- 1.01 # from a file
  expect_error(dp_epsilon(e, 1e-5), class = "riemdp_error_argument")
  expect_equal(event_price(event_discrete_gaussian(20, sqrt(2), 2), "zcdp"), 1 / 400)
  k <- -200:200
  p <- exp(-k^2 / 18)
  p <- p / sum(p)
  q <- exp(-(k - 2)^2 / 18) / sum(exp(-(k - 2)^2 / 18))
  for (at in c(0.1, 1)) expect_around(dp_delta(event_discrete_gaussian(3, 2), at), hockey(p, q, at), 1e-9)
})

# delta of one step whose loss grows with z, laws given by their upper tails: where it reaches epsilon
tail_delta <- function(loss, p, q, epsilon, range = c(-60, 90)) {
  z <- stats::uniroot(function(z) loss(z) - epsilon, range, tol = 1e-14)$root
  p(z) - exp(epsilon) * q(z)
}
above <- function(z) stats::pnorm(z, lower.tail = FALSE)
one_way <- function(event, direction, upper, epsilon) {
  parts <- riemdp:::pld_sources(event, direction, upper)
  riemdp:::pld_answer(parts, riemdp:::pld_plan(parts$sources, parts$times, epsilon = epsilon), upper, epsilon = epsilon)$value
}
mixture_delta <- function(moves, probabilities, epsilon, range = c(-60, 90)) {
  weight <- function(z) { # in two sums, so that it is exact next to 0
    l <- log(probabilities) + moves * z - moves^2 / 2
    max(l) + log(sum(exp(l - max(l))))
  }
  p <- function(z) sum(probabilities * above(z - moves))
  leave <- tail_delta(weight, p, above, epsilon, range)
  # entering: low z tell it
  least <- weight(range[1])
  enter <- if (-least <= epsilon) 0 else {
    z <- stats::uniroot(function(z) -weight(z) - epsilon, range, tol = 1e-14)$root
    stats::pnorm(z) - exp(epsilon) * sum(probabilities * stats::pnorm(z - moves))
  }
  c(leave = leave, enter = enter)
}

test_that("a record that moves by a random amount: one move and a sample are what they were, others by quadrature", {
  same <- function(x, y) for (upper in c(TRUE, FALSE)) {
    expect_equal(riemdp:::pld_bound(x, upper, 1e-6)$value, riemdp:::pld_bound(y, upper, 1e-6)$value, tolerance = 1e-4)
  }
  same(event_mixture(4, 2, 1), event_gaussian(2))
  same(event_compose(event_mixture(4, c(0, 2, 7), c(0.9, 0.1, 0)), times = 5),
       event_compose(event_poisson(0.1, event_gaussian(2)), times = 5))
  same(event_compose(event_poisson(0.2, event_mixture(1, c(1, 0), c(0.5, 0.5))), times = 5),
       event_compose(event_poisson(0.1, event_gaussian(1)), times = 5))
  expect_equal(event_price(event_mixture(1, 0:1, c(0.9, 0.1)), "rdp", c(1.5, 8)),
               event_price(event_poisson(0.1, event_gaussian(1)), "rdp", c(1.5, 8)))
  set.seed(4)
  for (run in 1:4) {
    moves <- c(if (run %% 3) 0, stats::rexp(1 + run %% 4) + 0.05)
    p <- stats::rexp(length(moves))
    p <- p / sum(p)
    s <- stats::runif(1, 0.5, 3)
    e <- event_mixture(s, moves, p)
    for (at in if (quick()) 0.2 else c(0.2, 1)) {
      for (case in list(list(e, mixture_delta(moves / s, p, at)),
                        list(event_poisson(0.3, e), mixture_delta(c(0, moves / s), c(0.7, 0.3 * p), at)))) {
        for (way in names(case[[2]])) { # from both sides
          truth <- case[[2]][[way]]
          expect_gte(one_way(case[[1]], way, TRUE, at), truth * (1 - 1e-8))
          expect_lte(one_way(case[[1]], way, TRUE, at), truth * (1 + 1e-3) + 1e-25)
          expect_lte(one_way(case[[1]], way, FALSE, at), truth * (1 + 1e-8) + 1e-18)
          expect_gte(one_way(case[[1]], way, FALSE, at), truth * (1 - 1e-2) - 1e-25)
        }
      }
    }
    # divergences in both directions by quadrature
    z <- seq(-14, 14 + 9 * max(moves) / s, length.out = 20001)
    q <- stats::dnorm(z)
    first <- colSums(p * t(outer(z, moves / s, function(z, m) stats::dnorm(z - m))))
    for (a in c(2, 5)) {
      exact <- c(renyi_of(first, q, a), renyi_of(q, first, a)) + log(diff(z[1:2])) / (a - 1)
      expect_gte(event_price(e, "rdp", a), max(exact) * (1 - 1e-9))
      expect_lte(event_price(e, "rdp", a), max(exact) * (1 + 1e-9) + 1e-12)
    }
  }
  expect_setequal(riemdp:::pld_directions(event_compose(event_mixture(1, 1:2, c(0.5, 0.5)))), c("leave", "enter"))
  # a question beyond all losses that a first plan sees, but not beyond all there are
  expect_equal(one_way(event_mixture(1, c(0, 0.1), c(0.2, 0.8)), "enter", TRUE, 1.2) / mixture_delta(c(0, 0.1), c(0.2, 0.8), 1.2)[["enter"]], 1,
               tolerance = 1e-3)
  # two steps: the second one's profile over the first one's loss
  moves <- c(0, 0.4, 1.1)
  p <- c(0.8, 0.15, 0.05)
  loss <- function(z) log(colSums(p * exp(outer(moves, z) - moves^2 / 2)))
  law <- function(z) colSums(p * stats::dnorm(outer(-moves, z, `+`)))
  one <- function(at) { # at any number
    low <- log(0.8)
    if (at <= low + 1e-9) -expm1(at) else tail_delta(function(z) loss(z), function(z) sum(p * above(z - moves)), above, at)
  }
  for (at in 0.6) {
    truth <- stats::integrate(function(z) law(z) * vapply(at - loss(z), one, 0), -9, 14, rel.tol = 1e-6, subdivisions = 2000)$value
    for (upper in c(TRUE, FALSE)) {
      ratio <- one_way(event_compose(event_mixture(1, moves, p), times = 2), "leave", upper, at) / truth
      expect_true(if (upper) ratio > 1 - 1e-6 && ratio < 1 + 1e-3 else ratio < 1 + 1e-6 && ratio > 1 - 1e-3)
    }
  }
  # a rare move of 0 bounds what its absence shows, to its own digits: 1 - q is off by a thousandth
  rare <- c(1e-13, 1 - 1e-13)
  ratio <- vapply(c(TRUE, FALSE), function(upper) one_way(event_mixture(1, c(0, 8), rare), "enter", upper, 29), 0) /
    mixture_delta(c(0, 8), rare, 29)[["enter"]]
  expect_true(ratio[1] > 1 - 1e-7 && ratio[2] < 1 + 1e-7 && diff(ratio) > -1e-3)
})

test_that("vectors are dominated by their lengths, whatever their directions", {
  set.seed(5)
  x <- seq(-7, 9, length.out = 161)
  grid <- as.matrix(expand.grid(x, x))
  cell <- diff(x[1:2])^2
  normal <- function(m) exp(-((grid[, 1] - m[1])^2 + (grid[, 2] - m[2])^2) / 2) / (2 * pi) * cell
  q <- normal(c(0, 0))
  for (run in 1:6) {
    lengths <- stats::runif(3, 0, 2)
    p <- stats::rexp(3)
    p <- p / sum(p)
    turn <- stats::runif(3, 0, 2 * pi)
    first <- Reduce(`+`, lapply(1:3, function(i) p[i] * normal(lengths[i] * c(cos(turn[i]), sin(turn[i])))))
    for (at in c(0, 0.3, 1)) {
      shown <- max(hockey(first, q, at), hockey(q, first, at))
      expect_lte(shown, max(mixture_delta(lengths, p, at)) * (1 + 1e-6) + 1e-9)
    }
    # a replaced record in a Poisson sample
    a <- 0.3 * normal(lengths[1] / 2 * c(1, 0)) + 0.7 * q
    b <- 0.3 * normal(lengths[2] / 2 * c(cos(turn[2]), sin(turn[2]))) + 0.7 * q
    for (at in c(0, 0.2)) expect_lte(hockey(a, b, at), as.double(dp_delta(event_poisson(0.3, event_gaussian(1), "replace-one"), at)) + 1e-9)
  }
})

test_that("mixtures that can't be are refused, and broken ones from files", {
  for (bad in list(list(1, 0, 1), list(1, c(1, -1), c(0.5, 0.5)), list(1, 1:2, 1), list(0, 1, 1), list(1, 1:2, c(0.5, 0.6)),
                   list(1, c(0, 1), c(1, 0)), list(1, c(1, Inf), c(0.5, 0.5)), list(1, 1:1001, rep(1 / 1001, 1001)))) {
    expect_error(do.call(event_mixture, bad), class = "riemdp_error_argument")
  }
  e <- event_mixture(2, 0:2, c(0.5, 0.3, 0.2))
  expect_identical(check_event(unserialize(serialize(e, NULL))), e)
  expect_output(print(e), "Gaussian(noise multiplier = 2, 3 moves up to 2) [add-remove]", fixed = TRUE)
  broken <- e
  broken$adjacency <- "replace-one"
  expect_error(check_event(broken), class = "riemdp_error_event")
  for (unit in c("zcdp", "gdp", "basic")) expect_error(event_price(e, unit), class = "riemdp_error_unpriced")
  expect_error(event_group(e, 2), class = "riemdp_error_unsupported")
  expect_error(event_sample(0.1, e), class = "riemdp_error_adjacency")
  # too little noise for a grid
  expect_identical(attr(dp_epsilon(event_mixture(1e-4, 0:1, c(0.5, 0.5)), 1e-6), "accountant"), "rdp")
})

test_that("matrix mechanisms: the norm of the columns that a record can meet, by trying all", {
  multiplier <- function(...) event_matrix(...)$parameters$noise_multiplier
  tree <- do.call(rbind, lapply(2^(0:3), function(k) kronecker(diag(8 / k), t(rep(1, k)))))
  expect_equal(multiplier(tree, 10), 5)
  expect_lte(multiplier(tree, 10), 5)
  set.seed(6)
  for (run in 1:10) {
    n <- 7
    C <- matrix(stats::rexp(6 * n), 6)
    cyclic <- max(vapply(1:n, function(j) {
      steps <- j + 2 * 0:2
      sqrt(sum(rowSums(C[, steps[steps <= n], drop = FALSE])^2))
    }, 0))
    expect_equal(multiplier(C, 3, 3, 2), 3 / cyclic, tolerance = 1e-12)
    expect_equal(multiplier(C, 3), 3 / sqrt(max(colSums(C^2))), tolerance = 1e-12)
    # contributions of length at most 1 in any direction, at these steps, move no further
    x <- matrix(0, n, 3)
    x[c(2, 4, 6), ] <- stats::rnorm(9)
    x <- x / pmax(1, sqrt(rowSums(x^2)))
    expect_lte(sqrt(sum((C %*% x)^2)), cyclic)
    # coefficients that fall: any three steps at least two apart
    coef <- sort(stats::rexp(n), decreasing = TRUE)
    T <- matrix(0, n, n)
    T[lower.tri(T, TRUE)] <- coef[(row(T) - col(T) + 1)[lower.tri(T, TRUE)]]
    sets <- Filter(function(s) all(diff(s) >= 2), utils::combn(n, 3, simplify = FALSE))
    apart <- max(vapply(sets, function(s) sqrt(sum(rowSums(T[, s])^2)), 0))
    expect_equal(multiplier(coef, 3, 3, 2, "apart"), 3 / apart, tolerance = 1e-12)
    expect_equal(multiplier(rev(coef), 3, 3, 2), multiplier(T * 0 + matrix(c(0, rev(coef))[pmax(row(T) - col(T) + 1, 0) + 1], n), 3, 3, 2),
                 tolerance = 1e-12)
  }
  expect_identical(event_matrix(diag(3), 2, adjacency = "add-remove")$adjacency, "add-remove")
  for (bad in list(list(-1, 1), list(0, 1), list("a", 1), list(NaN, 1), list(diag(3), 0), list(diag(3), 1, 4), list(diag(3), 1, 2),
                   list(diag(3), 1, 2, 0), list(diag(3), 1, 1, NULL, "else"), list(rep(1.7e308, 3), 1), list(array(1, c(2, 2, 2)), 1))) {
    expect_error(do.call(event_matrix, bad), class = "riemdp_error_argument")
  }
  for (strategy in list(diag(3), c(1, 2, 1))) expect_error(event_matrix(strategy, 1, 2, 1, "apart"), class = "riemdp_error_unsupported")
})

test_that("a replaced record in a Poisson sample: the pair of two opposite moves, by quadrature", {
  loss <- function(q, mu) function(z) log1p(q * expm1(mu * z - mu^2 / 2)) - log1p(q * expm1(-mu * z - mu^2 / 2))
  one <- function(q, mu, at) {
    if (at == 0) return(q * (above(-mu) - above(mu)))
    tail_delta(loss(q, mu), function(z) (1 - q) * above(z) + q * above(z - mu), function(z) (1 - q) * above(z) + q * above(z + mu), at)
  }
  step <- function(q, s) event_poisson(q, event_gaussian(s), "replace-one")
  for (case in list(c(0.01, 1), c(0.3, 0.5), c(0.9, 2), c(0.6, 1))) {
    q <- case[1]
    mu <- 1 / case[2]
    for (at in c(0, 0.1, 0.8)) {
      truth <- one(q, mu, at)
      expect_around(dp_delta(step(q, case[2]), at), truth, 2e-3, 1e-7)
    }
    z <- seq(-40, 40, length.out = 40001)
    law <- function(m) ((1 - q) * stats::dnorm(z) + q * stats::dnorm(z - m)) * diff(z[1:2])
    for (a in c(1.5, 4)) expect_gte(event_price(step(q, case[2]), "rdp", a), renyi_of(law(mu), law(-mu), a))
  }
  # two steps; losses of either sign are mirror images
  q <- 0.2
  L <- loss(q, 1)
  profile <- function(at) if (at >= 0) one(q, 1, at) else -expm1(at) + exp(at) * one(q, 1, -at)
  for (at in 0.4) {
    truth <- stats::integrate(function(z) ((1 - q) * stats::dnorm(z) + q * stats::dnorm(z - 1)) * vapply(at - L(z), profile, 0), -10, 12,
                              rel.tol = 1e-6, subdivisions = 2000)$value
    expect_around(dp_delta(event_compose(step(q, 1), times = 2), at), truth, 1e-3, 1e-6)
  }
  # more than a record less, and less than two; nearly everything is nearly all
  steps <- function(e) as.double(dp_epsilon(event_compose(e, times = 100), 1e-6))
  expect_gt(steps(step(0.05, 1)), 1.2 * steps(event_poisson(0.05, event_gaussian(1))))
  expect_lt(steps(step(0.05, 1)), steps(event_sample(0.05, event_gaussian(0.5))))
  expect_equal(steps(step(1 - 1e-9, 20)), steps(event_gaussian(10)), tolerance = 1e-3)
  # hardly any noise: who is in the sample shows
  expect_equal(as.double(dp_delta(event_compose(step(0.1, 1e-6), times = 3), 5)), 1 - 0.9^3, tolerance = 1e-6)
  e <- step(0.1, 2)
  expect_identical(check_event(unserialize(serialize(e, NULL))), e)
  expect_output(print(e), "Poisson sample(q = 0.1, Gaussian(noise multiplier = 2 [add-remove])) [replace-one]", fixed = TRUE)
  expect_identical(event_compose(e, event_sample(0.1, event_gaussian(1)))$adjacency, "replace-one")
  expect_error(event_compose(e, event_poisson(0.1, event_gaussian(1))), class = "riemdp_error_adjacency")
  expect_error(event_poisson(0.1, event_gaussian(1, "replace-one"), "replace-one"), class = "riemdp_error_adjacency")
  expect_error(event_poisson(0.1, event_laplace(1), "replace-one"), class = "riemdp_error_unsupported")
  expect_error(event_poisson(1, event_gaussian(1), "replace-one"), class = "riemdp_error_argument")
  for (a in c("zcdp", "gdp", "clt", "single", "pure", "moments")) expect_error(dp_epsilon(e, 1e-5, a), class = "riemdp_error_unpriced")
})

test_that("permute-and-flip is no mechanism of bounded range, and costs more than such a one", {
  # two answers whose scores are told apart by half the epsilon, either way: exponential noise of 2 sensitivity/epsilon, the larger wins
  for (e in c(0.2, 1, 3)) {
    p <- 1 - exp(-e / 2) / 2
    loss <- log(p / (1 - p))
    expect_lte(loss, e)
    expect_gt(2 * loss, 1.3 * e)
    divergence <- (2 * p - 1) * loss
    expect_gt(divergence, event_price(event_pure(e, range = TRUE), "zcdp"))
    expect_lte(divergence, event_price(event_pure(e), "zcdp"))
    # the exponential mechanism on the same scores
    p <- stats::plogis(e / 2)
    expect_lte(2 * stats::qlogis(p), e * (1 + 1e-12))
  }
})
