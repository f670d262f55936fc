test_that("a plan shows what a release would be", {
  plan <- dp_mean_plan(spd(2), 200, 1, diag(2), 1.5)
  expect_s3_class(plan, "riemdp_mean_plan")
  expect_identical(sum(plan$chosen), 1L)
  r <- dp_mean(wishart_spd[, , 1:200], spd(2), 1, diag(2), 1.5)
  row <- plan[plan$chosen, ]
  expect_identical(r$mechanism, row$mechanism)
  expect_identical(r$scale, row$scale)
  expect_identical(r$expected_error, row$expected_error)
  expect_identical(guarantee(r)$label, row$label)
  known <- plan$expected_error[!is.na(plan$expected_error)]
  expect_false(is.unsorted(known))
  expect_output(print(plan), "expected error")
})

test_that("what can't be served is said with its reason", {
  plan <- dp_mean_plan(grassmann(4, 2), 50, 1, diag(4)[, 1:2], 0.3)
  expect_match(plan$note[plan$mechanism == "laplace"], "homogeneous")
  expect_true(is.na(plan$scale[plan$mechanism == "laplace"]))
  expect_error(dp_mean_plan(sphere(2), 50, 1, c(0, 0, 1)), class = "riemdp_error_argument")
  expect_error(dp_mean_plan(sphere(2), 50, 1, c(0, 0, 1), 1), class = "riemdp_error_radius")
  expect_error(dp_mean_plan(sphere(2), 50, 1, c(0, 0, 1), 0.4, mechanism = "nonsense"), class = "riemdp_error_argument")
})

test_that("a guess of the spread gives the adaptive mechanism its simulated error, without R's generator noticing", {
  set.seed(1)
  before <- .Random.seed
  plan <- dp_mean_plan(euclidean(2), 1000, 1, c(0, 0), 0.5, spread = 0.02, mechanism = c("laplace", "adaptive"))
  expect_identical(.Random.seed, before)
  expect_false(anyNA(plan$expected_error))
  expect_identical(nrow(plan), 2L)
})

test_that("a plan can be drawn", {
  plan <- dp_mean_plan(sphere(2), 100, 1, c(0, 0, 1), 0.4, mechanism = c("laplace", "wrapped"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(plan, points = 3), plan)
})

test_that("rows of a plan are a plan, columns of one are a table", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plans <- list(
    dp_mean_plan(sphere(2), 100, 1, c(0, 0, 1), 0.4, mechanism = c("laplace", "wrapped")), dp_lm_plan(100, 1, epsilon = 1),
    dp_regression_plan(sphere(2), c(20, 50), 2, c(0, 0, 1), pi / 8, 1.5, 0.1, 0.5)
  )
  for (plan in plans) {
    kind <- class(plan)[1]
    for (rows in list(plan[1:2, ], subset(plan, expected_error > 0), head(plan, 1), plan[order(plan$expected_error), ], plan[0, ], plan[rep(1, 3), ])) {
      expect_s3_class(rows, kind)
      expect_output(print(rows))
    }
    expect_identical(subset(plan), plan)
    expect_identical(plot(plan[1:2, ]), plan[1:2, ])
    for (part in list(plan[, 1:3], plan[1:3], plan[1, 1:2], subset(plan, select = 2:3), plan["expected_error"])) {
      expect_identical(class(part), "data.frame")
      expect_output(print(part))
    }
    expect_identical(plan[, 2], plan[[2]])
    expect_identical(plan[["expected_error"]], plan$expected_error)
    # columns taken away by hand: still printed, and not drawn
    bent <- plan
    bent$expected_error <- NULL
    expect_output(print(bent))
    expect_error(plot(bent), class = "riemdp_error_argument")
    bent <- plan
    attributes(bent) <- attributes(plan)[c("names", "row.names", "class")]
    expect_output(print(bent))
  }
})
