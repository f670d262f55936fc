test_that("every private function, method and form of input is tried", {
  calls <- neighbour_calls()
  table <- neighbour_table()
  private <- grep("^dp_", getNamespaceExports("riemdp"), value = TRUE)
  expect_setequal(private, c(grep("^dp_", names(calls), value = TRUE), TAKE_NO_RECORDS))
  # what takes no records has no argument for them
  for (name in TAKE_NO_RECORDS) expect_false(any(c("data", "formula", "problem") %in% names(formals(name))), label = name)
  tried <- function(name) unique(table$method[table$call == name])
  expect_setequal(setdiff(tried("dp_mean"), "auto"), names(riemdp:::mean_mechanisms()))
  expect_setequal(setdiff(tried("dp_lm"), "auto"), names(riemdp:::linear_methods()))
  expect_setequal(setdiff(tried("dp_regression"), "auto"), names(riemdp:::regression_mechanisms()))
  for (name in c("dp_optimize", "dp_pca")) expect_setequal(tried(name), eval(formals(name)$method))
  # whatever holds chunks, and files by their ending
  forms <- neighbour_forms()
  expect_setequal(unlist(lapply(forms, `[[`, "piece")), riemdp:::PIECE_KINDS)
  expect_true(all(names(riemdp:::FILE_READERS) %in% names(forms)))
})

test_that("a gradient is measured within the ball, where its bound holds", {
  for (seed in c(48, 56)) {
    out <- neighbour_trial("dp_mean", "kng", "array", seed)
    expect_identical(out$findings, character(), info = out$what)
    expect_gt(out$moved[["gradient"]], 0.5)
  }
})

test_that("nothing but noise tells two neighbours apart", {
  table <- neighbour_table()
  # Some of all: each case, and each function by each form (in the short form each form by some function), once or more; first what has
  # both anew
  set.seed(20)
  table <- table[sample(nrow(table)), ]
  cases <- paste(table$call, table$case)
  forms <- if (quick()) table$form else paste(table$call, table$form)
  once <- integer()
  for (least in 2:1) for (i in seq_len(nrow(table))) {
    if ((!cases[i] %in% cases[once]) + (!forms[i] %in% forms[once]) >= least) once <- c(once, i)
  }
  pairs <- table[once, ]
  released <- character()
  moved <- 0
  for (i in seq_len(nrow(pairs))) {
    out <- neighbour_trial(pairs$call[i], pairs$case[i], pairs$form[i], seed = i)
    expect_identical(out$findings, character(), info = out$what)
    if (out$outcome == "released") released <- c(released, pairs$call[i])
    moved <- max(moved, out$moved)
  }
  # not by refusing everything
  expect_setequal(released, names(neighbour_calls()))
  expect_gt(moved, 0.9)
})
