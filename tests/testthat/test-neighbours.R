test_that("every private function, method and form of input is tried", {
  calls <- neighbour_calls()
  table <- neighbour_table()
  private <- grep("^dp_", getNamespaceExports("riemdp"), value = TRUE)
  expect_setequal(private, c(grep("^dp_", names(calls), value = TRUE), TAKE_NO_RECORDS))
  # what takes no records has no argument for them
  for (name in TAKE_NO_RECORDS) expect_false(any(c("data", "formula", "problem") %in% names(formals(name))), label = name)
  tried <- function(name) unique(table$method[table$call == name])
  expect_setequal(setdiff(tried("dp_mean"), "auto"), names(riemdp:::mean_mechanisms()))
  expect_setequal(setdiff(tried("dp_lm"), c("auto", "sized")), names(riemdp:::linear_methods()))
  expect_setequal(setdiff(tried("dp_glm"), "sized"), names(riemdp:::glm_families()))
  expect_setequal(setdiff(sub("_product$", "", tried("dp_regression")), c("auto", "sized")), names(riemdp:::regression_mechanisms()))
  for (name in c("dp_optimize", "dp_pca")) expect_setequal(setdiff(tried(name), c("sized", "direct")), eval(formals(name)$method))
  # whatever holds chunks, and files by their ending
  forms <- neighbour_forms()
  # neighbours of records that a database adds up are in test-chunk-sums.R: all pairs of its cells
  expect_setequal(unlist(lapply(forms, `[[`, "piece")), setdiff(riemdp:::PIECE_KINDS, "sums"))
  expect_true(all(names(riemdp:::FILE_READERS) %in% names(forms)))
})

test_that("a gradient is measured within the ball, where its bound holds", {
  for (seed in c(48, 56)) {
    out <- neighbour_trial("dp_mean", "kng", "array", seed)
    expect_identical(out$findings, character(), info = out$what)
    expect_gt(out$moved[["gradient"]], 0.5)
  }
})

test_that("an iteration on one record alone ticks at nobody", {
  # an ill matrix takes Jacobi's sweeps, as many as it needs
  expect_identical(neighbour_trial("dp_optimize", "unit", "mf_points", 26)$findings, character())
})

test_that("what is kept of public numbers may be forgotten between two calls, which isn't a difference", {
  cache <- riemdp:::cache
  trial <- function() neighbour_trial("dp_mean", "wrapped_gaussian", "csv", 227)$findings
  trial()
  for (filled in 492:499) {
    rm(list = ls(cache), envir = cache)
    for (i in seq_len(filled)) assign(paste("filler", i), 1, envir = cache)
    expect_identical(trial(), character())
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
  # not by refusing everything: a call whose few pairs were all refused goes on until one is not
  for (name in setdiff(names(neighbour_calls()), released)) for (i in setdiff(which(table$call == name), once)) {
    out <- neighbour_trial(table$call[i], table$case[i], table$form[i], seed = i)
    expect_identical(out$findings, character(), info = out$what)
    if (out$outcome != "released") next
    released <- c(released, name)
    break
  }
  expect_setequal(released, names(neighbour_calls()))
  expect_gt(moved, 0.9)
})

test_that("whatever noise is added to is seen, in every private call, and moves by more than half of what its price states", {
  table <- neighbour_table()
  table$asked <- table$form %in% ASKED_FORMS
  table <- table[!duplicated(table[c("call", "asked", "method")]), ]
  seen <- lapply(seq_len(nrow(table)), function(i) neighbour_trial(table$call[i], table$case[i], table$form[i], seed = i, make_pair = extreme_pair))
  for (out in seen) expect_identical(out$findings, character(), info = out$what)
  # so a price that states half of a sensitivity is found: of every method, in one of its cases
  most <- vapply(seen, function(out) max(-1, out$moved[setdiff(names(out$moved), c("loss", "solver"))]), 0)
  most <- tapply(most, paste(table$call, table$method), max)
  expect_setequal(names(most)[most < 0], c("dp_mean chain", "dp_lm paper", "dp_regression paper", paste("site_answer", names(site_cases()))))
  for (name in names(most)[most >= 0]) expect_gt(most[[name]], 0.55, label = name)
})

# an estimator that nothing else knows of: `release` draws
made_up <- function(release, ..., reasons = NULL) {
  call <- function(data, case, space, budget) {
    estimator <- list(
      entry = function(plan, ask) "made up",
      plan = function(ask) list(guarantee = riemdp:::new_guarantee(1, 0, reasons, sampler = "exact", rng = "operating system", numerics = "real-valued")),
      draw = function(records, plan, ask, budget) release(records),
      answer = function(out, plan, ask, budget) list(value = out, guarantee = plan$guarantee)
    )
    riemdp:::release_private(estimator, list(), data, budget)
  }
  calls <- list(made_up = list(kind = "rows", cases = list(one = list(method = "one", spaces = "plane")), noisy = "^[$]value", call = call, ...))
  neighbour_trial("made_up", "one", "array", 1, make_pair = extreme_pair, calls = calls)
}

test_that("a new estimator is compared by what it draws with, and found where that isn't known or wasn't seen", {
  limited <- function(v, most = 1) pmax(pmin(v, most), -most)
  moments <- function(reach) function(x) riemdp:::release_statistics(rbind(1, limited(x[, 1])), rbind(limited(x[, 2], reach)), 1, 1, nrow(x))
  good <- made_up(moments(1))
  expect_identical(good$findings, character())
  expect_gt(good$moved[["k_norm"]], 0.99)
  # records that are moved to twice the reach, half of a width
  expect_match(made_up(moments(2))$findings, "k_norm moves by 2 ")
  widths <- riemdp:::statistic_widths
  narrow <- with_internals(made_up(moments(1)), statistic_widths = function(d) lapply(widths(d), `/`, 2))
  expect_match(narrow$findings, "k_norm moves by 2 ")
  # noise of its own, of which nothing is known here
  own <- function(proof) function(x) {
    riemdp:::pay(riemdp:::price_laplace(1, 1, proof))
    0
  }
  expect_match(made_up(own("new.md, 1"))$findings, "NUMBERS has no entry for new.md, 1")
  expect_match(made_up(own("linear-regression.md, 4"))$findings, "not to be had")
  # draws that follow records
  expect_match(made_up(function(x) for (i in seq_len(1 + (x[1, 1] > x[1, 2]))) riemdp:::pay(riemdp:::price_laplace(0.5, 1, "new.md, 1")))$findings,
               "other draws", all = FALSE)
  # nothing was seen, unless the call says why
  nothing <- function(...) made_up(function(x) 0, ..., reasons = "made up")
  expect_match(nothing()$findings, "no draw has passed")
  expect_identical(nothing(undrawn = "it is made up")$findings, character())
  expect_match(made_up(moments(1), undrawn = "it is made up")$findings, "though it is made up")
})

test_that("live runs are compared given the same noisy choice, and one that follows records stays a difference", {
  chosen <- function(v) v$chosen
  noisy <- function(side, live) list(value = list(chosen = stats::runif(1) < 0.5, side = side))
  set.seed(21)
  for (i in 1:20) {
    runs <- with_same_outcome(chosen, noisy(1, TRUE), noisy(2, TRUE), noisy, tries = 60)
    expect_identical(chosen(runs[[1]]$value), chosen(runs[[2]]$value))
    expect_identical(c(runs[[1]]$value$side, runs[[2]]$value$side), c(1, 2))
  }
  # noise that has left the space, of a release or of one of its groups
  far <- function(side, live) list(value = list(groups = list(a = list(), b = list(beyond = if (stats::runif(1) < 0.5) TRUE))))
  for (i in 1:20) {
    runs <- with_same_outcome(NULL, far(1, TRUE), far(2, TRUE), far, tries = 60)
    expect_identical(runs[[1]]$value, runs[[2]]$value)
  }
  follows <- function(side, live) list(value = list(chosen = side))
  runs <- with_same_outcome(chosen, follows(1, TRUE), follows(2, TRUE), follows)
  expect_false(chosen(runs[[1]]$value) == chosen(runs[[2]]$value))
})
