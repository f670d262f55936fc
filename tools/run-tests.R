# Runs tests/testthat on the installed package; the last line is "N passed, N failed". Used by test, sanitize and valgrind.
filter <- commandArgs(TRUE)
filter <- if (length(filter) && nzchar(filter[1])) filter[1]
options(testthat.summary.omit_dots = TRUE, testthat.summary.max_reports = 1000L)
started <- proc.time()[[3]]
result <- tryCatch({
  as.data.frame(testthat::test_dir(
    "tests/testthat", package = "riemdp", load_package = "installed", filter = filter, stop_on_failure = FALSE,
    reporter = testthat::SummaryReporter$new(show_praise = FALSE)
  ))
}, error = function(e) {
  cat("tests did not run:", conditionMessage(e), "\n")
  NULL
})
passed <- sum(result$passed)
skipped <- sum(result$skipped)
# an error ends its test, so it counts as one failure; no test at all is a failure too
failed <- sum(result$failed) + sum(result$error) + (passed == 0)
cat(sprintf("\n%.0f s\n", proc.time()[[3]] - started))
cat(sprintf("%d passed, %d failed%s\n", passed, failed, if (skipped) sprintf(", %d skipped", skipped) else ""))
if (failed) quit(status = 1)
