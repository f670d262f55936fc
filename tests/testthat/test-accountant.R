# Against the reference rows: closed forms to 1e-10, bounds of privacy-loss distributions around the value and 1e-3 apart.

reference_rows <- function() jsonlite::fromJSON(test_path("reference", "accountant.json"), simplifyVector = FALSE)$rows
number <- function(x) as.numeric(unclass(x))[1]

test_that("closed forms agree with the reference", {
  skip_if_not_installed("jsonlite")
  seen <- 0
  for (row in reference_rows()) {
    p <- row$params
    q <- row$query
    if (row$mechanism == "gaussian" && !is.null(q$delta_at_eps)) {
      found <- number(dp_delta(event_gaussian(p$sigma / p$sensitivity), q$delta_at_eps))
    } else if (row$mechanism == "gaussian_composition") {
      found <- number(dp_epsilon(event_compose(event_gaussian(p$sigma / p$sensitivity), times = p$k), q$eps_at_delta))
    } else if (row$mechanism == "gdp") {
      found <- number(dp_epsilon(event_gdp(p$mu), q$eps_at_delta))
    } else if (row$mechanism == "pure_composition_basic") {
      found <- number(dp_epsilon(event_compose(event_pure(p$eps0), times = p$k), 0, accountant = "pure"))
    } else {
      next
    }
    seen <- seen + 1
    expect_equal(found, row$value, tolerance = 1e-9, label = paste(row$mechanism, seen))
    expect_gte(found, row$value * (1 - 1e-12))
  }
  expect_gt(seen, 7)
})

test_that("bounds of privacy-loss distributions bracket the reference", {
  skip_if_not_installed("jsonlite")
  for (row in reference_rows()) {
    p <- row$params
    if (row$mechanism != "subsampled_gaussian_remove" || is.null(row$query$eps_at_delta)) next
    if (quick() && p$k > 1000) next
    # the reference is one direction of the pair; both together cost no less
    event <- event_compose(event_poisson(p$q, event_gaussian(p$noise_multiplier)), times = p$k)
    bounds <- dp_bounds(event, row$query$eps_at_delta)
    expect_gte(bounds[["upper"]], row$value - row$abs_err)
    expect_lte(bounds[["upper"]], bounds[["lower"]] * (1 + 1e-3))
  }
})

test_that("what can't be priced, and bad input, is an error", {
  expect_error(dp_epsilon(event_gaussian(1), 0), class = "riemdp_error")
  expect_error(dp_epsilon(event_gaussian(1), -1), class = "riemdp_error")
  expect_error(dp_epsilon(event_gaussian(1), NaN), class = "riemdp_error")
  expect_error(event_pure(Inf), class = "riemdp_error")
  expect_error(event_pure(-1), class = "riemdp_error")
  expect_error(event_gaussian(NaN), class = "riemdp_error")
  expect_error(event_compose(event_poisson(0.1, event_gaussian(1)), event_sample(0.1, event_gaussian(1))), class = "riemdp_error")
})

test_that("calibration comes back to what was asked for, on the sound side", {
  s <- number(dp_calibrate(function(s) event_compose(event_gaussian(s), times = 10), 1, 1e-6))
  found <- number(dp_epsilon(event_compose(event_gaussian(s), times = 10), 1e-6))
  expect_lte(found, 1 + 1e-9)
  expect_gt(found, 0.999)
})
