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
    if (has_part(M, "custom|kendall_space|size_|psd")) {
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
      # the mean itself is what noise is added to: a law on a lattice weighs distances from it
      run <- function(sign, after = NULL) {
        draws_of(with_simulation(1, dp_mean(side(sign), M, 1, space$center, r, mechanism = "laplace", numerics = "real", ...)), after)
      }
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
  row <- dp_mean(x, spd(2), 1, diag(2), 1.5, mechanism = "laplace", ledger = ledger)
  person <- dp_mean(x, spd(2), 1, diag(2), 1.5, mechanism = "laplace", unit = rep(1:10, 4), ledger = ledger)
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
  refused("unsupported", unit, timing = "constant", delta = 1e-6)
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
  pca <- function(...) with_simulation(5, dp_pca(as.matrix(iris[1:4]), 2, 1, 1e-6, 8, mechanism = "rgd", ...))$loadings
  expect_identical(pca(unit = seq_len(150)), pca())
})

test_that("disjoint batches are of units by lot: no unit's rows decide in which batch others are", {
  # six units of two rows, next to no noise: the first batch has the gradient of one unit
  unit <- rep(c("a", "b", "c", "d", "e", "f"), 2)
  x <- rep(1:6, 2) / 100
  first <- function(x, unit, seed) {
    with_simulation(seed, dp_optimize(problem_frechet(euclidean(1)), x, delta = 1e-6, start = 0, clip = 1, lr = 1, steps = 1, method = "rsgd",
                                      sampling = "disjoint", batch = 1, noise_multiplier = 1e-12, unit = unit))$value
  }
  draws <- if (quick()) 120 else 600
  for (data in list(list(x, unit), list(rev(x), rev(unit)), list(chunks(x, 5), unit))) {
    seen <- vapply(seq_len(draws), function(seed) first(data[[1]], data[[2]], seed), 0)
    which <- round(100 * seen)
    expect_equal(seen, which / 100, tolerance = 1e-8)
    # one false alarm in a million
    expect_gt(stats::chisq.test(tabulate(which, 6))$p.value, 1e-6)
  }
  # all of an epoch's batches together are all units, each once
  whole <- with_simulation(1, dp_optimize(problem_frechet(euclidean(1)), x, delta = 1e-6, start = 0, clip = 1, lr = 1e-9, steps = 6, method = "rsgd",
                                          sampling = "disjoint", batch = 1, noise_multiplier = 1e-12, unit = unit))$value
  expect_equal(whole / 1e-9, sum(1:6) / 100, tolerance = 1e-3)
  budget <- dp_ledger(NULL, 5, 1e-5)
  expect_error(dp_optimize(problem_frechet(euclidean(1)), x, 1, 1e-6, start = 0, clip = 1, lr = 1, steps = 1, method = "rsgd", sampling = "disjoint",
                           batch = 1, unit = unit, ledger = budget, checkpoint = tempfile()), "by lot", class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(budget)), 0L)
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

test_that("a person of 50 rows moves the gradient of principal components as one of m", {
  m <- 8
  unit <- rep(seq_len(m), each = 50)
  w <- rep(1, 3) / sqrt(3)
  u <- c(1, -1, 0) / sqrt(2)
  others <- with_simulation(3, matrix(stats::runif(1050, -1, 1), 350))
  # at 45 degrees from the start on either side, as long as the bound: the steepest gradients
  side <- function(sign) rbind(matrix(rep(2 * (w + sign * u) / sqrt(2), 50), 50, byrow = TRUE), others)
  told <- function(...) {
    run <- function(sign, after = NULL) {
      draws_of(with_simulation(1, dp_pca(side(sign), 1, 1, 1e-3, 2, steps = 2, ...)), after)
    }
    one <- run(1)
    max(moved_between(one, run(-1, one)))
  }
  whole <- told(unit = unit)
  expect_lte(whole, 1)
  expect_gt(whole, 0.99)
  expect_gt(told(), 0.99 * 50)
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
  # the number of units is private then, and a unit more or less moves the sum by the clip
  poisson <- function(keep) {
    M <- euclidean(2)
    y <- matrix(c(9, 0), 40, 2, byrow = TRUE)[keep, ]
    dp_optimize(problem_frechet(M), y, delta = 1e-6, start = c(0, 0), noise_multiplier = 1e-10, lr = 1, steps = 1, clip = 0.5, unit = rep(1:10, 4)[keep],
                method = "rsgd", sampling = "poisson", rate = 1, batch = 2)
  }
  all <- poisson(rep(TRUE, 40))
  expect_true(is.na(all$n))
  expect_equal(all$draws$sensitivity, 0.5 / 2)
  expect_equal(all$value - poisson(rep(1:10, 4) != 3)$value, c(0.5 / 2, 0), tolerance = 1e-6)
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

# ---- linear regression --------------------------------------------------------------------------------------------------------------

lm_bounds <- list(x = c(0, 1), y = c(center = 0, scale = 1))
lm_methods <- c("objective", "recentred", "huber", "statistics", "adassp", "boosted", "newton", "descent", "gaussian", "output", "kng")
delta_of <- function(method) if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian", "gradient")) 1e-3 else 0
lm_of <- function(d, method, ..., epsilon = 1, formula = y ~ x, bounds = lm_bounds) {
  dp_lm(formula, d, epsilon, delta_of(method), bounds, method = method, ...)
}

test_that("with one row a unit linear fits draw the same numbers as without `unit`, where the constants are the same", {
  d <- with_simulation(6, data.frame(x = stats::runif(200), y = stats::rnorm(200), id = 200:1))
  for (method in setdiff(lm_methods, c("objective", "recentred", "huber", "gaussian"))) {
    some <- if (method == "kng") d[1:20, ] else d
    one <- function(...) with_simulation(3, lm_of(some, method, ...))
    row <- one()
    person <- one(unit = "id")
    expect_equal(person$value, row$value, tolerance = 1e-7, label = method) # a solver may go another way
    expect_equal(person$draws, row$draws, label = method)
  }
  # objective perturbation has another table of the loss; with the same one it is the same draw, to the last bit
  x <- rbind(1, d$x)
  alone <- riemdp:::with_shares(x, riemdp:::unit_shares(list(of = 1:200, count = 200)))
  rule <- riemdp:::perturbation_rule(200, 1, 1, 1)
  for (output in c(FALSE, TRUE)) {
    draw <- function(x) with_simulation(4, riemdp:::release_perturbed(x, rbind(d$y), rule, output))
    expect_identical(draw(alone), draw(x))
  }
  # a check of the guess, and a search
  d$y <- 40 + 3 * d$y
  one <- function(...) with_simulation(5, lm_of(d, "statistics", epsilon = 10, ...))
  expect_equal(one(unit = "id")$value, one()$value, tolerance = 1e-9)
  expect_true(one(unit = "id")$details$guess$searched)
})

# all of a person's rows at one end of the bounds or at the other, beside others
lm_side <- function(sign, m, rows = 50) {
  others <- with_simulation(3, data.frame(x = stats::runif((m - 1) * rows), y = stats::rnorm((m - 1) * rows)))
  rbind(data.frame(x = rep(1, rows), y = sign * 50), others)
}

test_that("a person of 50 rows moves what a linear fit's noise is added to as one of m, row by row 50 times as far", {
  m <- 8
  unit <- rep(seq_len(m), each = 50)
  for (method in lm_methods) {
    told <- function(epsilon, ...) {
      run <- function(sign, after = NULL) draws_of(with_simulation(1, lm_of(lm_side(sign, m), method, ..., epsilon = epsilon, guess = "trusted")), after)
      one <- run(1)
      moved_between(one, run(-1, one))
    }
    whole <- told(1, unit = unit)
    expect_false(anyNA(whole), label = paste(method, names(whole)[is.na(whole)]))
    expect_true(all(whole <= 1), label = paste(method, paste(names(whole), signif(whole, 3), collapse = " ")))
    # statistics of rows that differ in y alone; eigenvalues and scales are moved by other rows
    expect_gt(max(whole), if (method == "adassp") 0.6 else 0.9, label = method)
    if (method != "recentred") expect_gt(max(told(if (method == "kng") 0.05 else 1)), 30, label = method)
  }
  # counts: of the residuals within a limit, and of responses far from the guess
  scales <- function(...) {
    out <- function(y) {
      x <- riemdp:::with_shares(matrix(1, 1, 400), ...)
      c(riemdp:::residuals_within(x, y, 1)$count, riemdp:::guess_counts(x, y))
    }
    max(abs(out(rbind(rep(c(0, 9), c(50, 350)))) - out(rbind(rep(9, 400)))))
  }
  expect_identical(scales(NULL), 50)
  near <- scales(riemdp:::unit_shares(list(of = unit, count = m)))
  expect_lte(near, 1)
  expect_gt(near, 1 - 1e-6)
  # the search for a guess: every candidate's utility, of units with all sorts of numbers of rows
  of <- with_simulation(8, sample(rep(1:120, times = rep_len(c(1, 2, 3, 7), 120))))
  share <- riemdp:::unit_shares(list(of = of, count = 120))
  y <- with_simulation(9, stats::rnorm(length(of), 3, 2))
  cells <- function(y) riemdp:::guess_cells(riemdp:::with_shares(matrix(1, 1, length(y)), share), rbind(y), 1)[[1]]
  for (to in list(-4, 1e5, y[5], y)) {
    z <- replace(y, of == 4, rep_len(to, sum(of == 4)))
    worst <- 0
    for (k in c(-4:8, 40)) {
      level <- lapply(list(cells(y), cells(z)), riemdp:::guess_level, k = k, fraction = 0.7)
      every <- union(level[[1]]$at, level[[2]]$at)
      score <- lapply(level, function(l) c(l$floor, ifelse(every %in% l$at, l$score[match(every, l$at)], l$floor)))
      worst <- max(worst, abs(score[[1]] - score[[2]]))
    }
    expect_lte(worst, 1)
  }
  # what isn't listed has the utility of the floor, as if every candidate were
  whole <- cells(y)
  for (k in c(-6, -2, 0, 2, 4, 8)) {
    table <- whole[[1 + k %% 4]]
    total <- sum(table$count)
    unit_of <- 2^(k %/% 4 - 2)
    m_at <- -300:300
    sums <- vapply(m_at, function(m) {
      within <- function(from, to) sum(table$count[table$value >= from * unit_of & table$value < to * unit_of])
      a <- abs(within(m - 4, m + 4) - 0.7 * total)
      b <- within(-Inf, m - 1) - total / 2
      c <- total / 2 - within(-Inf, m + 1)
      -min(max(a, b, c), (0.7 - 0.05) * total)
    }, 0)
    level <- riemdp:::guess_level(whole, k, 0.7)
    expect_equal(ifelse(m_at %in% level$at, level$score[match(m_at, level$at)], level$floor), sums, tolerance = 1e-12)
  }
})

# what objective perturbation loses at coefficients B: noise and determinants of two data sets' sums, e1/2 each way
loss_between <- function(rule, one, two, B) {
  ridge <- matrix(rep(rule$ridge, each = rule$q), rule$q)
  of <- function(r) {
    args <- list(riemdp:::with_shares(r$x, r$share), r$y, ridge, 0 * ridge, riemdp:::kernel_loss(rule))
    s <- perturbed_sums(args, B)
    m <- length(ridge)
    h <- matrix(0, m, m)
    h[lower.tri(h, TRUE)] <- s[-seq_len(m)]
    list(gradient = matrix(s[seq_len(m)], rule$q), log_det = as.double(determinant(h + t(h) - diag(diag(h), m) + diag(as.vector(ridge), m))$modulus))
  }
  a <- of(one)
  b <- of(two)
  size <- max(sqrt(colSums((a$gradient - b$gradient)^2)))
  rule$rate * size + abs(a$log_det - b$log_det)
}

test_that("a person's rows may curve in many directions: the trace pays for it, logarithms of single rows don't", {
  corners <- rbind(1, t(as.matrix(expand.grid(c(-1, 1), c(-1, 1), c(-1, 1)))))
  dimnames(corners) <- NULL
  flat <- riemdp:::unit_shares(list(of = rep(1, 8), count = 1))
  for (q in 1:2) for (epsilon in c(0.5, 2, 8)) {
    loss <- function(averaged) {
      rule <- riemdp:::perturbation_rule(1, epsilon, 3, q, "closed", averaged = averaged)
      # at B = 0: the one's rows at the centre, so their curvature is whole, the other's far out
      rows <- function(size) list(x = corners, y = matrix(size * rule$tau, q, 8), share = flat)
      c(loss_between(rule, rows(0), rows(1e4), matrix(0, q, 4)), rule$epsilon - rule$solver)
    }
    row <- loss(FALSE)
    unit <- loss(TRUE)
    if (epsilon > 1) expect_gt(row[1], row[2] * 1.001, label = paste(q, epsilon)) # smaller ones leave some of the budget
    expect_lte(unit[1], unit[2], label = paste(q, epsilon))
    # where curvature is small beside the ridge nothing is given away
    if (epsilon == 0.5) expect_gt(unit[1], 0.75 * unit[2])
  }
  # every interval of the table keeps the condition with traces
  for (q in c(1, 4)) for (epsilon in c(0.3, 1, 5)) {
    rule <- riemdp:::perturbation_rule(200, epsilon, 2, q, averaged = TRUE)
    slope <- diff(rule$g) / riemdp:::LOSS_STEP
    across <- c(1, rule$g[-1] / (riemdp:::LOSS_STEP * seq_along(slope)))[seq_along(slope)]
    all <- rule$e1 * rule$g[-1] / 2 + rule$t * (slope + (q - 1) * across)
    expect_lte(max(all), rule$epsilon - rule$solver - rule$e1 / 2)
    expect_gt(max(all), 0.98 * (rule$epsilon - rule$solver - rule$e1 / 2))
    huber <- riemdp:::perturbation_rule(200, epsilon, 2, q, loss = "huber", averaged = TRUE)
    expect_lte(huber$e1 + q * huber$t, huber$epsilon - huber$solver)
    expect_equal(sum(1 / rule$ridge), rule$t)
  }
})

test_that("a unit's rows count with their average in a linear fit", {
  d <- with_simulation(6, data.frame(x = stats::runif(300), y = stats::rnorm(300)))
  unit <- with_simulation(7, sample(c(1, 1, 1:40), 300, TRUE))
  w <- 1 / tabulate(unit, 40)[unit]
  near <- stats::lm(y ~ x, d, weights = w)
  for (method in c("statistics", "adassp", "boosted", "newton", "descent", "gaussian", "output", "objective", "recentred")) {
    fit <- with_simulation(8, lm_of(d, method, unit = unit, epsilon = 1000, guess = "trusted"))
    expect_lt(max(abs(fit$value - stats::coef(near))), if (method %in% c("output", "objective", "boosted")) 0.15 else 0.1, label = method)
    expect_identical(fit$n, 40)
  }
  share <- riemdp:::unit_shares(list(of = unit, count = 40))
  expect_true(all(rowsum(as.vector(share), unit) <= 1))
  expect_equal(as.vector(share), w, tolerance = 1e-8)
  x <- rbind(1, d$x)
  sums <- riemdp:::moment_matrices(riemdp:::with_shares(x, share), rbind(d$y))
  expect_equal(sums$xx, x %*% (t(x) * w), tolerance = 1e-7)
  expect_equal(sums$xy, x %*% (d$y * w), tolerance = 1e-7)
  # the sampler by K-norm draws the same where rows are halved, envelope and all
  twice <- d[rep(1:12, 2), ]
  one <- function(d, unit = NULL) with_simulation(11, vapply(1:60, function(i) lm_of(d, "kng", unit = unit, epsilon = 3)$value, c(0, 0)))
  expect_equal(one(twice, rep(1:12, 2)), one(d[1:12, ]), tolerance = 1e-6)
  # a share's product, and sums of up to 2^26 rows, have their rounding in the solver's tolerance
  rule <- riemdp:::perturbation_rule(40, 1, 1, 1)
  eta <- function(rule) riemdp:::solver_tolerance(rule, rule$ridge, rule$rate, 1e6)
  expect_equal((eta(c(rule, averaged = TRUE)) - eta(rule)) / (4 * 40 * sqrt(2) * rule$tau * 2 * 2^-53), 1, tolerance = 1e-4)
})

test_that("plans for units state what the calls then do: constants, scales and errors", {
  d <- with_simulation(6, data.frame(x = stats::runif(120), y = stats::rnorm(120)))
  unit <- rep(1:40, 3)
  for (epsilon in c(1, 4)) {
    plan <- dp_lm_plan(40, 1, epsilon = epsilon, delta = 1e-3, unit = TRUE)
    rows <- dp_lm_plan(40, 1, epsilon = epsilon, delta = 1e-3)
    for (method in setdiff(plan$method[!is.na(plan$expected_error)], "paper")) {
      fit <- dp_lm(y ~ x, d, epsilon, 1e-3, lm_bounds, method = method, unit = unit)
      # Newton's steps tell of the residuals' scale
      if (!method %in% c("newton", "descent")) expect_equal(fit$expected_error, plan$expected_error[plan$method == method], label = method)
      made <- riemdp:::plan_linear_one(attr(plan, "ask"), method)
      own <- intersect(names(made), names(fit$details))
      expect_gt(length(own), 0)
      expect_equal(fit$details[own], made[own], label = method)
    }
    # three of them cost more than for rows
    more <- plan$expected_error > rows$expected_error * (1 + 1e-9)
    expect_true(all(more[plan$method %in% c("objective", "huber")]))
    expect_false(any(more[plan$method %in% c("statistics", "adassp")]))
  }
  expect_output(print(plan), "n = 40 units")
  expect_output(print(rows), "n = 40, 1 predictor", fixed = TRUE)
  expect_error(dp_lm_plan(40, 1, epsilon = 1, unit = "id"), class = "riemdp_error_argument")
  # curves
  d$y <- mf_points(mf_exp(sphere(2), c(0, 0, 1), cbind(d$x - 0.5, 0.1 * sin(9 * d$x), 0)), sphere(2))
  ask <- function(...) dp_regression_plan(sphere(2), 40, 2, c(0, 0, 1), 0.4, 1, 0.1, c(0, 1), delta = 1e-3, ...)
  plan <- ask(unit = TRUE)
  for (method in plan$method) {
    fit <- dp_regression(y ~ x, sphere(2), d, 2, c(0, 0, 1), 0.4, 1, 0.1, c(0, 1), delta = 1e-3, method = method, unit = unit)
    expect_equal(fit$expected_error, plan$expected_error[plan$method == method], label = method)
    expect_length(fit$details$shares, plan$steps[plan$method == method])
  }
  expect_gt(plan$expected_error[plan$method == "newton"], ask()$expected_error[plan$method == "newton"])
  expect_output(print(plan), "number of units")
  expect_output(print(plan[1, ]), "number of units")
  expect_no_match(paste(capture.output(print(ask())), collapse = " "), "units, each")
  expect_error(ask(unit = NA), class = "riemdp_error_argument")
})

test_that("linear fits say who is protected and refuse bad units before anything is spent", {
  d <- data.frame(x = (1:60) / 60, y = sin(1:60), who = rep(letters[1:20], 3))
  ledger <- dp_ledger(NULL, 10, 0)
  ask <- function(...) lm_of(..., method = "objective", ledger = ledger)
  row <- ask(d)
  person <- ask(d, unit = "who")
  expect_output(print(row), "regression of 60 records", fixed = TRUE)
  expect_output(print(row), "protects one row", fixed = TRUE)
  expect_output(print(person), "regression of 20 units", fixed = TRUE)
  expect_output(print(person), "protects one unit (who) with all its rows", fixed = TRUE)
  expect_output(print(guarantee(person)), "of one unit (who) with all its rows (the number of units is public)", fixed = TRUE)
  said <- gsub("\\s+", " ", paste(capture.output(explain(person)), collapse = " "))
  expect_match(said, "section 9 of proofs/linear-regression.md", fixed = TRUE)
  expect_no_match(said, "number of records is public")
  expect_identical(guarantee(row)$unit, "row")
  expect_identical(person$unit, "who")
  expect_identical(stats::nobs(person), 20)
  expect_identical(ledger_history(ledger)$what, c("dp_lm objective", "dp_lm objective, unit who"))
  # nowhere how many rows there are
  expect_false(any(rapply(unclass(person)[setdiff(names(person), "value")], as.numeric, c("numeric", "integer"), how = "unlist") == 60, na.rm = TRUE))
  refused <- function(kind, ..., data = d) expect_error(ask(data, ...), class = paste0("riemdp_error_", kind))
  unit <- rep(1:20, 3)
  refused("argument", unit = replace(unit, 3, NA))
  refused("argument", unit = factor(unit, levels = 1:21))
  refused("argument", unit = as.list(unit))
  refused("shape", unit = 1:3)
  refused("shape", unit = "nobody")
  refused("argument", unit = "who", formula = y ~ who) # no variable any more
  expect_error(lm_of(d, "paper", unit = unit), class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), 2L)
  expect_identical(ask(d, unit = rep("a", 60))$n, 1)
})

# ---- regression along a curve -----------------------------------------------------------------------------------------------------------

curve_of <- function(d, method, ..., epsilon = 1, M = sphere(2), center = c(0, 0, 1)) {
  dp_regression(y ~ x, M, d, epsilon, center, radius = 0.4, speed = 1, residual_bound = 0.1, bounds = c(0, 1), method = method,
                delta = delta_of(method), ...)
}

test_that("with one row a unit curves draw the same numbers as without `unit`, where the constants are the same", {
  x <- (1:40) / 40
  y <- mf_exp(sphere(2), c(0, 0, 1), cbind(x - 0.5, 0.1 * sin(9 * x), 0))
  for (method in c("gradient", "kng")) {
    some <- if (method == "kng") 1:15 else 1:40
    one <- function(...) with_simulation(3, curve_of(list(x = x[some], y = y[some, ]), method, ...))
    row <- one()
    person <- one(unit = sprintf("p%02d", rev(some)))
    expect_equal(person$value, row$value, tolerance = 1e-9, label = method)
    expect_equal(person$draws, row$draws, label = method)
  }
  # rows that are halved count as one
  kng <- function(some, unit = NULL) with_simulation(3, curve_of(list(x = x[some], y = y[some, ]), "kng", unit = unit))$value
  expect_equal(kng(rep(1:15, 3), rep(1:15, 3)), kng(1:15), tolerance = 1e-7)
  gradient <- function(some, unit = NULL) with_simulation(3, curve_of(list(x = x[some], y = y[some, ]), "gradient", unit = unit))$value
  expect_equal(gradient(rep(1:40, 2), rep(1:40, 2)), gradient(1:40), tolerance = 1e-9)
  # Gauss-Newton: the same step by the same rule
  plan <- riemdp:::newton_plan(40, 1, 2, 1, 0.4, 1, 0.1, 0.5)
  M <- sphere(2)
  ask <- riemdp:::regression_ask(M, 40, 1, c(0, 0, 1), 0.4, 1, 0.1, list(list(half = 0.5)), 0, "newton")
  step <- function(share) {
    state <- list(p = c(0, 0, 1), v = matrix(c(1, 0)))
    records <- riemdp:::step_records(M, state, riemdp:::with_shares(rbind(x - 0.5), share), y, ask)
    with_simulation(4, riemdp:::newton_step(records, plan$steps[[1]], 0.5))
  }
  expect_identical(step(riemdp:::unit_shares(list(of = 1:40, count = 40))), step(NULL))
  # whose table of the loss keeps the condition for averages where there are units
  for (space in list(sphere(2), hyperbolic(2))) for (epsilon in c(0.5, 4)) {
    center <- if (mf_facts(space)$k_max > 0) c(0, 0, 1) else c(1, 0, 0)
    ask <- riemdp:::regression_ask(space, 100, epsilon, center, 0.4, 1, 0.1, list(list(half = 0.5)), 0, "newton")
    ask$unit <- "unit"
    for (rule in riemdp:::mechanism_newton$plan(space, ask)$steps) {
      if (isTRUE(rule$noisy)) next
      slope <- diff(rule$g) / riemdp:::LOSS_STEP
      across <- c(1, rule$g[-1] / (riemdp:::LOSS_STEP * seq_along(slope)))[seq_along(slope)]
      expect_lte(max(rule$e1 * rule$g[-1] / 2 + rule$t * (slope + across)), rule$epsilon - rule$solver - rule$e1 / 2)
    }
  }
})

test_that("a person of 50 rows moves what a curve's noise is added to as one of m, row by row 50 times as far", {
  m <- 6
  unit <- rep(seq_len(m), each = 50)
  space <- list(sphere = list(M = sphere(2), center = c(0, 0, 1)), hyperboloid = list(M = hyperbolic(2), center = c(1, 0, 0)))
  for (name in names(space)) for (method in c("newton", "tangent", "gradient", "kng")) {
    M <- space[[name]]$M
    center <- space[[name]]$center
    others <- with_simulation(3, matrix(stats::runif(500, -0.2, 0.2), 250))
    side <- function(sign) {
      a <- rbind(matrix(rep(c(sign * 0.39, 0), 50), 50, byrow = TRUE), others)
      list(x = c(rep(1, 50), (1:250) / 250), y = mf_exp(M, center, mf_from_coords(M, center, a)))
    }
    told <- function(epsilon, ...) {
      run <- function(sign, after = NULL) {
        draws_of(with_simulation(1, curve_of(side(sign), method, ..., epsilon = epsilon, M = M, center = center)), after)
      }
      one <- run(1)
      moved_between(one, run(-1, one))
    }
    whole <- told(1, unit = unit)
    expect_false(anyNA(whole), label = paste(name, method, names(whole)[is.na(whole)]))
    expect_true(all(whole <= 1), label = paste(name, method, paste(names(whole), signif(whole, 3), collapse = " ")))
    expect_gt(max(whole), 0.6, label = paste(name, method))
    if (method != "kng") expect_gt(max(told(1)), 25, label = paste(name, method))
  }
})

test_that("curves say who is protected, and refuse bad units or have a total rule", {
  x <- rep((1:20) / 20, 3)
  d <- data.frame(x = x, who = rep(letters[1:20], 3))
  d$y <- mf_points(mf_exp(sphere(2), c(0, 0, 1), cbind(x - 0.5, 0, 0)), sphere(2))
  ledger <- dp_ledger(NULL, 10, 0)
  ask <- function(..., data = d) curve_of(data, "newton", ledger = ledger, ...)
  row <- ask()
  person <- ask(unit = "who")
  expect_output(print(row), "regression of 60 records", fixed = TRUE)
  expect_output(print(row), "protects one row", fixed = TRUE)
  expect_output(print(person), "regression of 20 units", fixed = TRUE)
  expect_output(print(person), "protects one unit (who) with all its rows", fixed = TRUE)
  expect_output(print(guarantee(person)), "the number of units is public", fixed = TRUE)
  expect_output(explain(person), "A unit counts with", fixed = TRUE)
  expect_identical(person$n, 20)
  expect_identical(ledger_history(ledger)$what, c("dp_regression newton", "dp_regression newton, unit who"))
  refused <- function(kind, ...) expect_error(ask(...), class = paste0("riemdp_error_", kind))
  unit <- rep(1:20, 3)
  some <- replace(unit, 3, NA)
  refused("argument", unit = some)
  refused("argument", unit = factor(unit, levels = 1:21))
  refused("argument", unit = as.list(unit))
  refused("shape", unit = 1:3)
  expect_error(curve_of(d, "paper", unit = unit), class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), 2L)
  # rows of nobody are left out, units without a row count as a missing record
  nobody <- with_simulation(5, curve_of(d, "gradient", unit = some, invalid = "ignore"))
  expect_equal(nobody$value, with_simulation(5, curve_of(d[-3, ], "gradient", unit = unit[-3]))$value)
  expect_identical(ask(unit = factor(unit, levels = 1:21), invalid = "ignore")$n, 21)
  expect_identical(ask(unit = rep("a", 60))$n, 1)
})

test_that("one unit's key changes nothing of the others, whatever its encoding, and what names nobody is no unit", {
  utf <- paste0("\u00e9", 1:50)
  latin <- iconv(utf, "UTF-8", "latin1")
  bytes <- "\xff"
  Encoding(bytes) <- "bytes"
  count <- function(key) riemdp:::read_units(c(utf, latin, key), rep(0, 101))$count
  expect_identical(count("z"), 51L)
  expect_identical(count(bytes), 50L)
  expect_identical(count("\xfe"), 50L)
  expect_identical(riemdp:::read_units(c("a", "", " \t", "NA", NA, "t"), 1:6)$of, c(1L, NA, NA, NA, NA, 2L))
  expect_identical(riemdp:::read_units(c(letters, "\\", "NAN", "na", "N A"), 1:30)$count, 30L)
  expect_error(dp_mean(1:4 / 10, euclidean(1), 1, 0, 1, unit = c("a", "", "b", "b")), "1 of the records has no unit: `unit` is missing there. With",
               class = "riemdp_error_argument")
  expect_error(dp_lm(y ~ x, data.frame(x = 1:4 / 4, y = 1:4, id = c("a", "", "NA", "b")), 1, bounds = list(x = c(0, 1), y = c(0, 4)), unit = "id"),
               "^2 of the records have no unit: `unit` is missing there[.]$", class = "riemdp_error_argument")
  d <- data.frame(a = 0, b = 0, c = 1, id = 1:3)
  expect_error(dp_mean(d, sphere(2), 1, c(0, 0, 1), 0.3, unit = "idd"), "`unit` is no column of `x`", class = "riemdp_error_shape")
})

test_that("a unit may have rows in several parts of a data set, so its release takes from the whole", {
  d <- data.frame(a = 0, b = 0, c = 1, id = rep(1:20, 2))
  budget <- dp_ledger(NULL, 1, data_sets = list(default = c("A", "B")))
  expect_error(dp_mean(d, sphere(2), 1, c(0, 0, 1), 0.3, unit = "id", ledger = budget, part = "A"), "several parts", class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(budget)), 0L)
  expect_s3_class(dp_mean(d, sphere(2), 1, c(0, 0, 1), 0.3, unit = "id", ledger = budget), "riemdp_mean")
})

test_that("units none of which has a row are released like any other", {
  none <- factor(character(), c("a", "b"))
  S <- subspace(sphere(2), c(0, 0, 1), c(1, 0, 0))
  x <- matrix(0, 0, 3)
  at <- list(x, sphere(2), 1, c(0, 0, 1), 0.3, unit = none, invalid = "center")
  expect_identical(do.call(dp_mean, at)$n, 2L, ignore_attr = TRUE)
  expect_s3_class(do.call(dp_mean, c(at, list(reduce = S))), "riemdp_mean")
  expect_s3_class(do.call(dp_mean, c(at, list(clipped = 0.3))), "riemdp_mean")
  expect_s3_class(do.call(dp_ball, at), "riemdp_ball")
  expect_s3_class(do.call(dp_median, at), "riemdp_median")
  at$invalid <- "error"
  expect_error(do.call(dp_mean, at), "levels of `unit` have no record", class = "riemdp_error_argument")
  expect_error(do.call(dp_mean, c(at, list(neighbours = "add_remove"))), "levels of `unit` have no record", class = "riemdp_error_argument")
  frame <- data.frame(t = numeric(), id = none)
  frame$y <- mf_points(c(0, 0, 1), sphere(2))[0]
  fit <- function(...) dp_regression(y ~ t, sphere(2), frame, 1, c(0, 0, 1), 0.3, speed = 1, residual_bound = 0.2, bounds = c(0, 1), unit = "id", ...)
  expect_s3_class(fit(invalid = "ignore"), "riemdp_regression")
  expect_error(fit(), "have no record", class = "riemdp_error_argument")
})

test_that("sums of shares are exact up to the most units that there can be", {
  units <- list(of = c(1L, 1L, 1L, 2L), count = 2L^24L)
  share <- riemdp:::unit_shares(units)
  expect_identical(as.vector(share * 2^28), c(rep(floor(2^28 / 3), 3), 2^28))
  expect_identical(as.vector(riemdp:::unit_shares(list(of = c(1L, 1L, 1L), count = 1L)) * 2^30), rep(floor(2^30 / 3), 3))
})
