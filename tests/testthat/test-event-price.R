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

test_that("what a unit can't hold is refused, never free", {
  refused <- function(x) expect_error(x, class = "riemdp_error_unpriced")
  refused(event_price(event_gaussian(1), "basic"))
  refused(event_price(event_gaussian(1), "basic", delta = 0))
  refused(event_price(event_poisson(0.1, event_gaussian(1)), "zcdp"))
  refused(event_price(event_discrete_gaussian(1), "gdp"))
  refused(event_price(event_pure(1), "gdp"))
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
    expect_equal(event_price(event_pure(e), "rdp", orders = 1 + 1e-6) , event_price(event_pure(e), "zcdp"), tolerance = 1e-5)
  }
})

test_that("parallel parts cost the dearest, and two where a private value chooses the part", {
  parts <- list(event_pure(1), event_pure(2))
  expect_equal(event_price(event_parallel(parts), "basic")[["epsilon"]], 2)
  expect_equal(event_price(event_parallel(parts, keys = "private"), "basic")[["epsilon"]], 4)
  expect_equal(event_price(event_parallel(event_gaussian(1), event_gaussian(2), keys = "private"), "gdp"), sqrt(2))
})
