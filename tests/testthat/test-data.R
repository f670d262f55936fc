test_that("red wine is the public table", {
  expect_identical(dim(red_wine), c(1599L, 12L))
  expect_false(anyNA(red_wine))
  # regression on alcohol of four responses, first 100 rows, population z-scores
  z <- function(v) (v - mean(v)) / sqrt(mean((v - mean(v))^2))
  w <- red_wine[1:100, ]
  mse <- mean(vapply(c("fixed_acidity", "density", "pH", "residual_sugar"), function(y) {
    mean(stats::lm(z(w[[y]]) ~ z(w$alcohol))$residuals^2)
  }, 0))
  expect_equal(mse, 0.87359, tolerance = 1e-5)
})

test_that("callosa lie within the ball that planar shapes allow", {
  expect_identical(dim(callosa), c(50L, 2L, 409L))
  M <- kendall(50)
  m <- frechet_mean(callosa, M)
  expect_lt(max(mf_dist(M, callosa, m$mean)), pi / 8)
  expect_true(m$unique)
  expect_identical(dim(callosum_template), c(50L, 2L))
  expect_lt(max(mf_dist(M, callosa, callosum_template)), 0.22)
})

test_that("Wishart matrices are truncated where the papers say", {
  expect_identical(dim(wishart_spd), c(2L, 2L, 1000L))
  expect_true(all(mf_is_point(spd(2), wishart_spd)))
  expect_lt(max(mf_dist(spd(2), wishart_spd, diag(2))), 1.5)
})

test_that("real shapes of the shapes package are read as they come", {
  skip_if_not_installed("shapes")
  old <- options(rgl.useNULL = TRUE) # rgl, which shapes loads, would look for a display
  on.exit(options(old))
  e <- new.env()
  utils::data("schizophrenia.dat", package = "shapes", envir = e)
  fit <- frechet_mean(e$schizophrenia.dat, kendall(13))
  expect_lte(fit$gradient_norm, 1e-10)
  expect_equal(fit$n, 28)
})
