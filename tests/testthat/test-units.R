# A unit is a person with all their rows. Nothing here is a statistical test.

units_of <- function(M, x, unit, center, radius) {
  units <- riemdp:::read_units(unit, x)
  riemdp:::unit_means(M, units$x, units, center, riemdp:::check_radius(M, radius, center))
}

test_that("a unit's point is the mean of its own records in the ball, on every manifold, whatever the others are", {
  set.seed(41)
  for (case in all_manifolds()) {
    M <- case$M
    x <- mf_points(with_simulation(7, mf_random(M, 24)), M)
    center <- riemdp:::one_point(M, as.array(x[1]), "center")
    radius <- 0.1
    unit <- rep(c("b", "a", "c"), 8)
    if (inherits(M, "riemdp_custom")) {
      expect_error(units_of(M, as.array(x), unit, center, radius), class = "riemdp_error_unsupported")
      next
    }
    # close to the centre, and some outside of the ball
    x <- mf_points(mf_to_ball(M, as.array(x), center, 0.15), M)
    one <- mf_points(units_of(M, as.array(x), unit, center, radius), M)
    inside <- mf_points(mf_to_ball(M, as.array(x), center, radius), M)
    expect_true(all(mf_dist(M, one, center) <= radius * (1 + 1e-9)), label = label_of(M))
    for (u in 1:3) {
      own <- frechet_mean(inside[unit == unique(unit)[u]], M, tol = 1e-13)$mean
      expect_lt(mf_dist(M, one[u], own), 1e-8, label = label_of(M))
    }
    # the second unit's records don't matter to the others' points, to the last bit, nor does the order of rows of other units
    y <- x
    y[unit == "a"] <- rev(x[unit == "b"])
    two <- mf_points(units_of(M, as.array(y), unit, center, radius), M)
    expect_identical(as.array(two[c(1, 3)]), as.array(one[c(1, 3)]), label = label_of(M))
  }
})

test_that("a person of 50 rows is one record: what noise is added to moves as one of m, where row by row it moves 50 times as far", {
  m <- 8
  rows <- 50
  unit <- rep(seq_len(m), each = rows)
  for (space in neighbour_spaces()[c("sphere", "matrices", "hyperboloid", "plane")]) {
    M <- space$M
    d <- mf_facts(M)$dimension
    r <- space$radius
    coords <- function(a) mf_exp(M, space$center, mf_from_coords(M, space$center, a))
    others <- with_simulation(3, matrix(stats::runif((m - 1) * rows * d, -r, r) / sqrt(d) / 4, ncol = d))
    side <- function(sign) as.array(mf_points(coords(rbind(matrix(rep(c(sign * r, rep(0, d - 1)), rows), rows, byrow = TRUE), others)), M))
    told <- function(...) {
      run <- function(sign, after = NULL) draws_of(with_simulation(1, dp_mean(side(sign), M, 1, space$center, r, mechanism = "laplace", ...)), after)
      one <- run(1)
      max(moved_between(one, run(-1, one)))
    }
    whole <- told(unit = unit)
    expect_lte(whole, 1)
    expect_gt(whole, 0.85)
    expect_gt(told(), 0.85 * rows)
  }
})

test_that("without `unit` the words say one row, with it one unit with all its rows, down to the ledger", {
  x <- wishart_spd[, , 1:40]
  ledger <- dp_ledger(NULL, 10, 0)
  row <- dp_mean(x, spd(2), 1, diag(2), 1.5, ledger = ledger)
  person <- dp_mean(x, spd(2), 1, diag(2), 1.5, unit = rep(1:10, 4), ledger = ledger)
  expect_identical(guarantee(row)$unit, "row")
  expect_output(print(guarantee(row)), "replace-one, of one row (the number of records is public)", fixed = TRUE)
  expect_output(print(row), "protects one row", fixed = TRUE)
  expect_identical(person$n, 10L, ignore_attr = TRUE)
  expect_output(print(person), "Private mean of 10 units' means", fixed = TRUE)
  expect_output(print(guarantee(person)), "of one unit with all its rows (the number of units is public)", fixed = TRUE)
  expect_output(print(confint(person)), "mean of the units' means")
  said <- gsub("\\s+", " ", paste(capture.output(explain(person)), collapse = " "))
  expect_match(said, "one of the n = 10 units, with all its rows,", fixed = TRUE)
  expect_match(said, "section 13", fixed = TRUE)
  expect_no_match(said, "number of records is public")
  expect_equal(person$sensitivity, 2 * 1.5 / 10)
  expect_equal(row$sensitivity, 2 * 1.5 / 40)
  expect_identical(ledger_history(ledger)$what, c("dp_mean laplace", "dp_mean laplace, unit unit"))
  expect_identical(summary(guarantee(person))$unit, "unit")
  # nowhere how many rows there are
  expect_false(any(rapply(unclass(person)[setdiff(names(person), "value")], as.numeric, c("numeric", "integer"), how = "unlist") == 40, na.rm = TRUE))
  # a release of before there were units
  old <- row
  old$guarantee$unit <- NULL
  expect_output(print(guarantee(old)), "of one row", fixed = TRUE)
})

test_that("a column of the table names units; dates, factors, text and numbers do", {
  set.seed(5)
  d <- data.frame(a = stats::runif(30), b = stats::runif(30), person = rep(1:6, 5))
  keys <- list(d$person, letters[d$person], factor(d$person), as.Date("2024-01-01") + d$person, as.POSIXlt(as.Date("2024-01-01") + d$person),
               d$person == 1, d$person / 10)
  release <- function(x, unit, ...) with_simulation(2, dp_mean(x, euclidean(2), 1, center = c(0, 0), radius = 2, mechanism = "laplace", unit = unit, ...))
  value <- release(d, "person")
  expect_match(format(value)[3], "one unit (person) with all its rows", fixed = TRUE)
  # a column of that name doesn't make a guarantee about rows of one about units
  named <- release(stats::setNames(d, c("a", "b", "row")), "row")
  expect_identical(named$value, value$value)
  expect_match(format(named)[3], "one unit with all its rows", fixed = TRUE)
  expect_identical(guarantee(named)$unit, "unit")
  for (key in keys[-6]) expect_equal(release(as.matrix(d[1:2]), key)$value, value$value)
  expect_identical(release(d[1:2], keys[[6]])$n, 2L, ignore_attr = TRUE)
  # one row each: the plain mean
  plain <- release(d[1:2], NULL)
  alone <- release(d[1:2], seq_len(30))
  expect_equal(alone$value, plain$value, tolerance = 1e-9)
  expect_identical(alone$sensitivity, plain$sensitivity)
})

test_that("bad units are refused by their class before anything is spent, or have a total rule", {
  x <- mf_random(sphere(2), 12)
  x[, 3] <- abs(x[, 3])
  unit <- rep(1:4, 3)
  ledger <- dp_ledger(NULL, 10, 0)
  ask <- function(unit, x. = x, ...) dp_mean(x., sphere(2), 1, c(0, 0, 1), 0.7, mechanism = "laplace", unit = unit, ledger = ledger, ...)
  refused <- function(kind, ...) expect_error(ask(...), class = paste0("riemdp_error_", kind))
  refused("argument", replace(unit, 3, NA))
  refused("argument", factor(unit, levels = 1:5))
  refused("argument", rep(NA, 12))
  refused("argument", as.list(unit))
  refused("argument", matrix(unit, 3))
  refused("argument", character())
  refused("shape", 1:3)
  refused("shape", "person")
  refused("unsupported", unit, clipped = 0.1)
  refused("unsupported", unit, timing = "constant", delta = 1e-6)
  refused("unsupported", unit, chunks(x, 6))
  refused("unsupported", unit, x. = chunks(x, 6))
  expect_identical(nrow(ledger_history(ledger)), 0L)
  # total rules: rows without a unit are left out, levels without a row and records that are no points count as the centre
  points <- function(unit, x. = x) units_of(sphere(2), x., unit, c(0, 0, 1), 0.7)
  some <- replace(unit, c(3, 7), NA)
  expect_equal(points(some), points(some[-c(3, 7)], x[-c(3, 7), ])[match(unique(unit[-c(3, 7)]), unique(some[-c(3, 7)])), ])
  expect_equal(points(factor(unit, levels = 1:5))[5, ], c(0, 0, 1))
  broken <- x
  broken[c(1, 5, 9), ] <- c(NaN, 5, 0)
  expect_equal(points(unit, broken)[1, ], c(0, 0, 1))
  expect_identical(points(unit, broken)[2:4, ], points(unit)[2:4, ])
  for (bad in list(some, factor(unit, levels = 1:5))) expect_s3_class(ask(bad, invalid = "center"), "riemdp_mean")
  # all rows one unit's
  r <- ask(rep("a", 12))
  expect_identical(r$n, 1L, ignore_attr = TRUE)
})

# ---- optimisers -------------------------------------------------------------------------------------------------------------------

test_that("optimisers with one row a unit draw the very same numbers as without `unit`, by every method", {
  x <- wishart_spd[, , 1:60]
  run <- function(...) with_simulation(3, dp_optimize(problem_huber(spd(2), 0.5), x, 1, 1e-6, start = diag(2), lr = 0.5, ...))
  methods <- list(list(method = "rgd", steps = 3), list(method = "rsgd", batch = 7, steps = 3),
                  list(method = "rsgd", sampling = "disjoint", batch = 7, steps = 3),
                  list(method = "rsgd", sampling = "poisson", rate = 0.2, batch = 12, steps = 3),
                  list(method = "rsvrg", batch = 7, inner = 2, epochs = 1, clip = c(0.5, 0.3)))
  for (method in methods) {
    row <- do.call(run, method)
    person <- do.call(run, c(method, list(unit = sprintf("p%02d", 60:1))))
    expect_identical(person[c("value", "trace", "sd", "n")], row[c("value", "trace", "sd", "n")], label = paste(method$method, method$sampling))
  }
  own <- problem(NULL, function(w, z) w - unlist(z), euclidean(2))
  d <- data.frame(a = (1:20) / 20, b = 1 / (1:20), id = 20:1)
  mine <- function(...) with_simulation(4, dp_optimize(own, ..., epsilon = 1, delta = 1e-6, start = c(0, 0), clip = 1, lr = 0.5, steps = 3))$value
  expect_identical(mine(d, unit = "id"), mine(d[1:2]))
  pca <- function(...) with_simulation(5, dp_pca(as.matrix(iris[1:4]), 2, 1, 1e-6, 8, ...))$loadings
  expect_identical(pca(unit = seq_len(150)), pca())
})

# where one step with next to no noise leads: minus the mean gradient that the noise is added to
step_of <- function(x, problem, start, ...) {
  drop(dp_optimize(problem, x, delta = 1e-6, start = start, noise_multiplier = 1e-10, lr = 1, steps = 1, method = "rgd", ...)$value - start)
}

test_that("a unit's gradient is the average of its rows' clipped gradients", {
  set.seed(8)
  M <- euclidean(3)
  x <- matrix(stats::rnorm(90, sd = 2), 30)
  unit <- sample(c(1, 1, 1:5), 30, TRUE)
  pull <- x / pmax(1, sqrt(rowSums(x^2)) / 1.5)
  means <- t(sapply(split(seq_len(30), unit), function(i) colMeans(pull[i, , drop = FALSE])))
  expect_equal(step_of(x, problem_frechet(M), c(0, 0, 0), unit = unit, clip = 1.5), colMeans(means), tolerance = 1e-6)
  # more rows than go through at once
  many <- x[rep(1:30, 40), ]
  expect_equal(step_of(many, problem_frechet(M), c(0, 0, 0), unit = rep(unit, 40), clip = 1.5), colMeans(means), tolerance = 1e-6)
  # principal components: the mean of the units' own second-moment matrices
  S <- Reduce(`+`, lapply(split(seq_len(30), unit), function(i) crossprod(x[i, , drop = FALSE]) / length(i))) / length(unique(unit))
  top <- dp_pca(x, 1, delta = 1e-6, bound = 50, noise_multiplier = 1e-7, lr = 0.5 / eigen(S)$values[1], steps = 200, unit = unit)
  expect_equal(abs(drop(top$loadings)), abs(eigen(S)$vectors[, 1]), tolerance = 1e-4)
})

test_that("a person of 50 rows moves an optimiser's gradients as one of m, where row by row it moves 50 times as far", {
  m <- 8
  unit <- rep(seq_len(m), each = 50)
  M <- euclidean(2)
  others <- with_simulation(3, matrix(stats::runif(2 * 350, -1, 1), 350))
  # all of a person's rows far on one side, so clipped by themselves: a person whose mean is clipped would move no further
  side <- function(sign) rbind(matrix(rep(c(5 * sign, 0), 50), 50, byrow = TRUE), others)
  told <- function(problem, clip, ...) {
    moved <- step_of(side(1), problem, c(0, 0), clip = clip, ...) - step_of(side(-1), problem, c(0, 0), clip = clip, ...)
    r <- dp_optimize(problem, side(1), delta = 1e-6, start = c(0, 0), noise_multiplier = 1, lr = 1, steps = 1, method = "rgd", clip = clip, ...)
    sqrt(sum(moved^2)) / r$draws$sensitivity
  }
  whole <- told(problem_frechet(M), 0.7, unit = unit)
  expect_lte(whole, 1 + 1e-6)
  expect_gt(whole, 0.99)
  expect_gt(told(problem_frechet(M), 0.7), 0.99 * 50)
  # one of many rows against one of few
  few <- rbind(side(-1)[50 + 1:350, ], c(-5, 0))
  swapped <- step_of(side(1), problem_frechet(M), c(0, 0), clip = 0.7, unit = unit) -
    step_of(few, problem_frechet(M), c(0, 0), clip = 0.7, unit = c(unit[51:400], 1))
  expect_equal(sqrt(sum(swapped^2)), 2 * 0.7 / m, tolerance = 1e-6)
})

test_that("optimisers say who is protected, sample units and refuse bad ones before anything is spent", {
  x <- wishart_spd[, , 1:40]
  ledger <- dp_ledger(NULL, 10, 1e-3)
  ask <- function(...) dp_optimize(problem_huber(spd(2), 1), x, 1, 1e-6, start = diag(2), steps = 2, ledger = ledger, ...)
  row <- ask()
  person <- ask(unit = rep(1:10, 4))
  expect_output(print(row), "protects one row", fixed = TRUE)
  expect_output(print(row), ", 40 records", fixed = TRUE)
  expect_output(print(person), "protects one unit with all its rows", fixed = TRUE)
  expect_output(print(person), ", 10 units", fixed = TRUE)
  expect_output(explain(person), "Replacing a unit of 10 moves", fixed = TRUE)
  expect_identical(c(person$n, person$batch), c(10, 10))
  expect_identical(guarantee(person)$unit, "unit")
  expect_equal(person$draws$sensitivity, 2 / 10)
  expect_equal(row$draws$sensitivity, 2 / 40)
  expect_identical(ledger_history(ledger)$what, c("dp_optimize rgd", "dp_optimize rgd, unit unit"))
  expect_output(print(guarantee(dp_optimize(problem_huber(spd(2), 1), x, 1, 1e-6, start = diag(2), steps = 2, unit = rep(1:10, 4), sampling = "poisson",
                                            rate = 0.2, batch = 2))),
                "add-remove, of one unit with all its rows (the number of units is private)", fixed = TRUE)
  d <- data.frame(a = (1:30) / 30, b = 1, c = 0, who = rep(c("x", "y", "z"), 10))
  expect_identical(guarantee(dp_pca(d, 1, 1, 1e-6, 2, unit = "who"))$unit, "who")
  spent <- nrow(ledger_history(ledger))
  refused <- function(kind, ...) expect_error(ask(...), class = paste0("riemdp_error_", kind))
  unit <- rep(1:10, 4)
  refused("argument", unit = replace(unit, 3, NA))
  refused("argument", unit = factor(unit, levels = 1:11))
  refused("argument", unit = rep(NA, 40))
  refused("argument", unit = as.list(unit))
  refused("shape", unit = 1:3)
  refused("shape", unit = "person")
  refused("argument", unit = unit, method = "rsgd", batch = 11)
  expect_error(dp_optimize(problem_huber(spd(2), 1), chunks(x, 20), 1, 1e-6, start = diag(2), unit = unit), class = "riemdp_error_unsupported")
  expect_error(dp_pca(chunks(as.matrix(d[1:3]), 20), 1, 1, 1e-6, 2, unit = d$who), class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), spent)
  expect_identical(ask(unit = rep("a", 40))$n, 1)
})

test_that("a run of units goes on with the same units only", {
  x <- wishart_spd[, , 1:40]
  unit <- rep(1:10, 4)
  ledger <- dp_ledger(NULL, 10, 1e-3)
  path <- tempfile(fileext = ".rds")
  problem <- problem_huber(spd(2), 1)
  go_on <- internal("continue_run")
  times <- 0
  tryCatch(with_internals(
    dp_optimize(problem, x, 1, 1e-6, start = diag(2), steps = 40, unit = unit, ledger = ledger, checkpoint = path),
    continue_run = function(run, input, until) {
      times <<- times + 1
      if (times > 2) signalCondition(structure(class = c("units_stop", "condition"), list()))
      go_on(run, input, until)
    }
  ), units_stop = function(e) NULL)
  expect_true(file.exists(path))
  expect_error(dp_resume(path, problem, x, ledger), class = "riemdp_error_argument")
  expect_error(dp_resume(path, problem, x, ledger, unit = rep(1:8, 5)), class = "riemdp_error_argument")
  expect_error(dp_resume(path, problem, x, ledger, unit = rep(1:10, each = 4)), "aren.t those", class = "riemdp_error_argument")
  r <- dp_resume(path, problem, x, ledger, unit = unit)
  expect_identical(r$n, 10)
  expect_output(print(r), "protects one unit with all its rows", fixed = TRUE)
})
