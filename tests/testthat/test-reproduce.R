# inst/reproduce: the runner, its page, and what the pages say of the committed results

# the built package has none of the papers' scripts: the repository does
reproduce <- function(...) {
  skip_if(!nzchar(system.file("reproduce", "run", package = "riemdp")), "the built package leaves the papers' scripts out")
  system.file("reproduce", ..., package = "riemdp", mustWork = TRUE)
}
full <- function(name) utils::read.csv(reproduce("full", paste0(name, ".csv")), check.names = FALSE)
shared <- function() {
  env <- new.env(parent = globalenv())
  sys.source(reproduce("common.R"), env)
  env
}

test_that("a paper's numbers stand beside ours with both calibrations", {
  env <- shared()
  row <- env$number
  table <- rbind(
    row("error", "n = 10", "paper", 0.123456, 0.01, 0.1, "p. 3", "a | b"), row("error", "n = 10", "honest", 0.2, 0.02),
    row("error", "n = 20", "paper", 0.3, NA), row("order", "sphere, n = 10", "paper", 1, NA, 1), row("order", "sphere, n = 20", "paper", 1, NA, 1)
  )
  told <- env$side_by_side(table)
  expect_identical(told$stated, c("0.1", "1"))
  expect_identical(told$ours, c("0.123 \u00b1 0.02", "1"))
  expect_identical(told$honest, c("0.2 \u00b1 0.04", ""))
  expect_identical(told$setting, c("n = 10", "sphere, every n"))
  expect_null(env$side_by_side(table[3, ]))
  lines <- env$markdown_table(told)
  expect_length(lines, 5)
  expect_match(lines[3], "a \\| b", fixed = TRUE)
})

test_that("the runner makes numbers, pictures and their page", {
  skip_if(quick(), "the runner starts in full runs only")
  out <- tempfile()
  on.exit(unlink(out, recursive = TRUE))
  log <- tempfile()
  status <- system2(file.path(R.home("bin"), "Rscript"), shQuote(c(reproduce("run"), "quick", paste0("--out=", out), "--only=003-figure-2")),
                    stdout = log, stderr = log, env = paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = .Platform$path.sep))))
  expect_identical(status, 0L, info = paste(readLines(log), collapse = "\n"))
  expect_true(file.exists(file.path(out, "paper-003-figure-2.csv")))
  page <- readLines(file.path(out, "index.md"), encoding = "UTF-8")
  expect_true(any(grepl("^## paper-003-figure-2", page)))
  expect_true(any(grepl("^## What can't be reproduced", page)))
  expect_match(paste(readLines(log), collapse = "\n"), "[#] 1 of 1", fixed = TRUE)
})

test_that("committed results say what the pages say of them", {
  steps <- full("paper-002-noise-steps")
  expect_gt(steps$over_isometric[grepl("SPD", steps$problem) & steps$method == "chain_10000"], 1e4)
  expect_true(all(steps$draw > 0))
  settings <- full("paper-002-accounting")
  expect_true(all(settings$epsilon_lower <= settings$epsilon_upper))
})

test_that("committed results say what the vignettes say of them", {
  x <- full("paper-003-figure-1")
  share <- function(n) x$value[x$quantity == "share not positive definite" & x$calibration == "paper" & x$setting == sprintf("SPD(2), r = 1.5, n = %d", n)]
  expect_lt(abs(share(20) - 0.32), 0.02)
  expect_lt(share(40), 0.1)
  expect_lt(max(abs(full("paper-001-figure-1-reference")$z)), 4)
  sphere <- full("paper-004-sphere")
  expect_lt(abs(sphere$value[sphere$quantity == "mean absolute error" & sphere$setting == "n = 20" & sphere$calibration == "paper"] - 0.045), 0.005)
  ibm <- full("paper-004-diffprivlib")
  expect_lt(abs(ibm$value[1] - 8.14), 0.01)
})
