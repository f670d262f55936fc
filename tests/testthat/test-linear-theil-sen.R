# dp_lm(method = "theil_sen"): inst/proofs/linear-regression.md, section 15
internal <- asNamespace("riemdp")
line_bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))

test_that("matchings: each record once at most in each, and no pair twice", {
  for (n in c(0:9, 50, 51, 60)) {
    k <- internal$theil_sen_matchings(n)
    expect_lte(k, if (n < 2) 0 else n - n %% 2 - 1)
    pair <- with_simulation(1, internal$theil_sen_pairs(n, k))
    expect_length(pair$i, k * (n %/% 2))
    if (k == 0) next
    both <- matrix(c(pair$i, pair$j), ncol = 2)
    expect_true(all(both >= 1 & both <= n))
    of <- rep(seq_len(k), each = n %/% 2)
    for (h in seq_len(k)) expect_identical(anyDuplicated(c(both[of == h, ])), 0L)
    expect_identical(anyDuplicated(paste(pmin(pair$i, pair$j), pmax(pair$i, pair$j))), 0L)
  }
  expect_identical(internal$theil_sen_matchings(51), 49)
  expect_identical(internal$theil_sen_matchings(1000), 50)
  expect_identical(internal$theil_sen_matchings(1e6), 10)
  expect_identical(internal$theil_sen_matchings(1e8), 1)
  # whole: an odd number leaves another one out each time, and all others are met
  pair <- with_simulation(2, internal$theil_sen_pairs(8, 7))
  expect_identical(sort(paste(pmin(pair$i, pair$j), pmax(pair$i, pair$j))), sort(apply(combn(8, 2), 2, paste, collapse = " ")))
})

test_that("what pairs say: the line through both, nothing of missing records and of equal predictors, functions of the pair alone", {
  r <- list(x = c(-0.5, 0.5, 0.25, 0.25, 0, 1), y = c(1, 2, 1e100, -1e100, 0, 3), there = c(TRUE, TRUE, TRUE, TRUE, FALSE, TRUE))
  pair <- list(i = c(1, 3, 5, 2), j = c(2, 4, 6, 6))
  expect_equal(internal$theil_sen_told(r, pair, 0), c(1.5, 1))
  expect_equal(internal$theil_sen_told(r, pair, 0.4), c(1.9, 1.8))
  # overflow is a side, or nothing
  far <- list(x = c(0, 5e-324, 1, 1), y = c(-1e100, 1e100, 0, 0), there = rep(TRUE, 4))
  expect_identical(internal$theil_sen_told(far, list(i = 1, j = 2), 0.4), Inf)
})

test_that("misses: how many more lie to one side than to the other, ties on neither", {
  grid <- internal$theil_sen_grid()
  expect_length(grid, 2^20)
  expect_identical(order(grid), seq_along(grid))
  expect_equal(grid, -rev(grid))
  expect_lt(max(grid), 100)
  expect_gt(max(grid), 99.9)
  expect_lt(max(diff(grid)[abs(grid[-1]) < 4]), 4e-5)
  told <- c(-1, 0, 0, 2, 5, 1e300)
  at <- c(-2, -1, -0.5, 0, 1, 2, 3, 9)
  plain <- vapply(at, function(t) abs(sum(told < t) - sum(told > t)), 0)
  expect_identical(internal$theil_sen_misses(told, at), plain)
  expect_identical(internal$theil_sen_misses(numeric(), at), rep(0, 8))
})

test_that("the law of a median: exp(-epsilon/2 misses/(4 k)), to 3 %", {
  grid <- c(-1, 0, 0.5, 2)
  told <- c(-3, -0.5, -0.5, 0, 0.2, 3, 4, 5, 6, 7)
  misses <- internal$theil_sen_misses(told, grid)
  for (case in list(c(11, 1), c(4, 5))) { # n with k = 9 and 3 matchings
    n <- case[1]
    epsilon <- case[2] * 4
    rule <- internal$theil_sen_rule(n, epsilon)
    k <- internal$theil_sen_matchings(n)
    expect_equal(rule$half, epsilon / 2, tolerance = 1e-12)
    expect_lte(rule$half, epsilon / 2)
    law <- exp(-epsilon / 2 * misses / (4 * k))
    draws <- if (quick()) 20000 else 80000
    seen <- with_simulation(3, replicate(draws, .Call(internal$riemdp_release_choice, misses, rule$ratio, TRUE)))
    expect_gt(chisq.test(tabulate(seen, 4), p = law / sum(law))$p.value, 1e-4)
    # another constant by 3 %: the ratio itself is exact
    expect_equal(rule$ratio[1] / rule$ratio[2], epsilon / (4 * k), tolerance = 1e-8)
    expect_lte(rule$ratio[1] / rule$ratio[2], epsilon / (4 * k))
  }
})

# exact losses: the law of both medians given the matchings, and at worst-case neighbours
median_law <- function(x, y, pair, rule, place, grid) {
  r <- list(x = x, y = y, there = !is.na(x))
  r$x[!r$there] <- r$y[!r$there] <- 0
  w <- exp(-rule$ratio[1] / rule$ratio[2] / 2 * internal$theil_sen_misses(internal$theil_sen_told(r, pair, place), grid))
  w / sum(w)
}
loss_between <- function(a, b, n, epsilon, seed = 1) {
  rule <- internal$theil_sen_rule(n, epsilon)
  pair <- with_simulation(seed, internal$theil_sen_pairs(n, rule$matchings))
  grid <- internal$theil_sen_grid()[seq(1, 2^20, 32)]
  sum(vapply(c(-0.4, 0.4), function(place) {
    max(abs(log(median_law(a$x, a$y, pair, rule, place, grid) / median_law(b$x, b$y, pair, rule, place, grid))))
  }, 0))
}

test_that("exact losses at neighbours stay below epsilon, and come close to it", {
  set.seed(4)
  worst <- 0
  for (trial in seq_len(if (quick()) 30 else 150)) {
    n <- sample(2:14, 1)
    a <- list(x = round(runif(n, -1, 1), sample(0:2, 1)), y = sample(c(0, 1, 1e6, -1e6), 1) + rnorm(n) * sample(c(0, 1), 1))
    b <- a
    b$x[1] <- sample(c(-1, 0, 1, NA), 1)
    b$y[1] <- sample(c(-1e100, 1e100, 0), 1)
    if (runif(1) < 0.3) a$x[1] <- NA
    for (epsilon in c(0.5, 3)) {
      loss <- loss_between(a, b, n, epsilon, trial)
      expect_lte(loss, epsilon)
      worst <- max(worst, loss / epsilon)
    }
  }
  # all pairs near the grid's lower end at both places; those of the record that moves go below it, where next to nothing lies
  n <- 12
  a <- list(x = seq(-1, -0.5, length.out = n), y = rep(-99, n))
  a$x[n] <- 0.4
  b <- list(x = a$x, y = replace(a$y, n, -1e100))
  one <- loss_between(a, b, n, 1)
  expect_gt(one, 0.485)
  # they go from below all others to above all of them
  u <- replace(seq(-1, -0.45, length.out = n), n, 1)
  y <- seq(-99.8, -99, length.out = n)
  across <- loss_between(list(x = u, y = replace(y, n, -1e100)), list(x = u, y = replace(y, n, 1e100)), n, 1)
  expect_gt(across, 0.98)
  expect_lte(max(worst, one, across), 1)
})

test_that("a record moves each value's misses by 2 k at most, and by so much", {
  n <- 20
  k <- internal$theil_sen_matchings(n)
  pair <- with_simulation(5, internal$theil_sen_pairs(n, k))
  set.seed(6)
  x <- runif(n, -1, 1)
  at <- function(y) internal$theil_sen_misses(internal$theil_sen_told(list(x = x, y = y, there = rep(TRUE, n)), pair, 0.4))
  y <- c(1e6, rep(0, n - 1))
  x[1] <- 0.4 # at the place: far up is up with every other record
  expect_identical(max(abs(at(y) - at(replace(y, 1, -1e6)))), 2 * k)
})

test_that("a fit: the plain medians where epsilon is large, missing rows and ties, a private number of records", {
  set.seed(7)
  n <- 200
  x <- runif(n, -0.6, 0.8)
  frame <- data.frame(x = x, y = 0.3 - 0.7 * x + rnorm(n, sd = 0.2))
  fit <- dp_lm(y ~ x, frame, 500, bounds = line_bounds, method = "theil_sen", guess = "trusted")
  expect_s3_class(fit, "riemdp_lm")
  expect_equal(unname(coef(fit)), unname(coef(lm(y ~ x, frame))), tolerance = 0.1)
  expect_identical(guarantee(fit)$label, "pure")
  expect_identical(guarantee(fit)$numerics, "lattice")
  expect_identical(guarantee(fit)$epsilon, 500)
  expect_identical(guarantee(dp_lm(y ~ x, frame, 5, bounds = line_bounds, method = "theil_sen"))$numerics, "real-valued")
  expect_true(all(is.na(confint(fit))))
  expect_equal(predict(fit, data.frame(x = c(-1, 0, 1))), unname(coef(fit)[1] + c(-1, 0, 1) * coef(fit)[2]))
  expect_error(confint(fit, about = "population", residual = 1), class = "riemdp_error_unsupported")
  expect_output(print(explain(fit)), "Medians of what pairs of records predict")
  expect_output(print(explain(fit)), "Alabi")
  # all missing, one row, two equal rows: total
  for (d in list(data.frame(x = rep(NA_real_, 5), y = 1), data.frame(x = 0, y = 0), data.frame(x = c(1, 1), y = 0:1))) {
    expect_true(all(is.finite(coef(dp_lm(y ~ x, d, 1, bounds = line_bounds, method = "theil_sen")))))
  }
  # a private number of records: shares stand for records that are left out or missing
  more <- dp_lm(y ~ x, frame, 200, bounds = line_bounds, method = "theil_sen", neighbours = "add_remove", guess = "trusted")
  expect_identical(guarantee(more)$adjacency, "add-remove")
  expect_equal(unname(coef(more)), unname(coef(lm(y ~ x, frame))), tolerance = 0.2)
})

test_that("of a private number the records that count are there, and missing ones for those that lack; \"auto\" doesn't know the method", {
  x <- rbind(1, c(0.1, 0.2, 0.3))
  y <- rbind(1:3)
  plain <- internal$theil_sen_records(x, y)
  expect_identical(plain, list(x = c(0.1, 0.2, 0.3), y = 1:3, there = rep(TRUE, 3)))
  some <- internal$theil_sen_records(internal$with_shares(x, structure(c(1, 0, 1), units = 2)), y)
  expect_identical(some, list(x = c(0.1, 0.3), y = c(1, 3), there = c(TRUE, TRUE)))
  few <- internal$theil_sen_records(internal$with_shares(x, structure(c(1, 1, 1), units = 5)), y)
  expect_identical(few$there, c(TRUE, TRUE, TRUE, FALSE, FALSE))
  fit <- dp_lm(y ~ x, data.frame(x = 0, y = rep(0, 500)), 1, bounds = line_bounds)
  expect_false("theil_sen" %in% fit$table$method)
})

test_that("what can't be served is refused from public numbers", {
  frame <- data.frame(x = runif(40), z = runif(40), y = rnorm(40), v = rnorm(40))
  bad <- function(...) expect_error(dp_lm(..., method = "theil_sen"), class = "riemdp_error_unsupported")
  bounds <- list(x = c(0, 1), z = c(0, 1), y = c(center = 0, scale = 1), v = c(center = 0, scale = 1))
  bad(y ~ x + z, frame, 1, bounds = bounds[1:3])
  bad(cbind(y, v) ~ x, frame, 1, bounds = bounds[c(1, 3, 4)])
  bad(y ~ 1, frame, 1, bounds = bounds[3])
  bad(y ~ x, frame, 1, bounds = bounds[c(1, 3)], unit = rep(1:20, 2))
  bad(y ~ x, frame, 1, bounds = bounds[c(1, 3)], subset = ~ x > 0.5)
  bad(y ~ x, chunks(frame, 20), 1, bounds = bounds[c(1, 3)])
})

test_that("the expected error is what is found with even predictors of the nominal size", {
  told <- function(n, epsilon, r_squared) {
    plan <- dp_lm_plan(n, 1, epsilon = epsilon, r_squared = r_squared, guess = "trusted")
    expect_false(plan$chosen[plan$method == "theil_sen"])
    plan$expected_error[plan$method == "theil_sen"]
  }
  found <- function(n, epsilon, r_squared, gamma, runs) {
    with_simulation(8, mean(replicate(runs, {
      x <- runif(n, -sqrt(0.5), sqrt(0.5))
      e <- if (gamma) (rgamma(n, 4) - 4) / 2 else rnorm(n)
      frame <- data.frame(x = x, y = sqrt(6 * r_squared) * x + sqrt(1 - r_squared) * e)
      fit <- dp_lm(y ~ x, frame, epsilon, bounds = line_bounds, method = "theil_sen", guess = "trusted", r_squared = r_squared)
      mean((cbind(1, x) %*% (coef(fit) - coef(lm(y ~ x, frame))))^2)
    })))
  }
  runs <- if (quick()) 25 else 150
  for (case in list(c(1000, 1, 0.3), c(1000, 1, 0.9), c(600, 1, 0.3))) {
    ratio <- told(case[1], case[2], case[3]) / found(case[1], case[2], case[3], TRUE, runs)
    expect_gt(ratio, 0.7)
    expect_lt(ratio, 1.4)
  }
  # with symmetric errors there is less
  expect_lt(found(1000, 1, 0.3, FALSE, runs), 0.4 * told(1000, 1, 0.3))
})

test_that("predictors in a small part of their range: far less error than that of \"auto\"", {
  runs <- if (quick()) 10 else 40
  found <- function(method) {
    with_simulation(9, mean(replicate(runs, {
      x <- pmin(1, pmax(-1, rnorm(1000, sd = 0.25)))
      frame <- data.frame(x = x, y = 4 * sqrt(0.9) * x + sqrt(0.1) * rnorm(1000))
      fit <- dp_lm(y ~ x, frame, 1, bounds = line_bounds, method = method, guess = "trusted")
      mean((cbind(1, x) %*% (coef(fit) - coef(lm(y ~ x, frame))))^2)
    })))
  }
  expect_lt(found("theil_sen"), 0.15 * found("auto"))
})
