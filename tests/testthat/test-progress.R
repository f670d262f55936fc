test_that("a bar is drawn where it is wanted, and never fails", {
  old <- options(riemdp.progress = TRUE, cli.progress_show_after = 0, cli.progress_clear = FALSE)
  on.exit(options(old))
  riemdp:::progress_show(1, 10)
  expect_false(is.null(riemdp:::progress$bar))
  riemdp:::progress_show(5, 10)
  riemdp:::progress_hide(0, 0)
  expect_null(riemdp:::progress$bar)
  riemdp:::progress_show(1, 0) # a count without a known end
  expect_false(is.null(riemdp:::progress$bar))
  riemdp:::progress_hide(0, 0)
  options(riemdp.progress = FALSE)
  riemdp:::progress_show(1, 10)
  expect_null(riemdp:::progress$bar)
})

test_that("a long call shows a bar and takes it away, also when it is ended early", {
  old <- options(riemdp.progress = TRUE)
  on.exit(options(old))
  try(with_time_limit(2.6, suppressMessages(laplace_noise(spd(3), diag(3), 0.05, 3e6))), silent = TRUE)
  expect_null(riemdp:::progress$bar)
})
