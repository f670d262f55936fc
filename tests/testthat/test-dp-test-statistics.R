# Variances within groups, Frechet ANOVA, independence and units of private tests (R/permutation-test.R, R/dp-test.R; inst/proofs/testing.md,
# sections 8 to 10)

internal <- asNamespace("riemdp")
SPACES <- list(
  line = euclidean(1), plane = euclidean(3), circle = sphere(1), sphere = sphere(2), affine = spd(3), bures = spd(2, "bures"),
  log = spd(2, "logeuclidean"), hyperbolic = hyperbolic(2), ball = hyperbolic(2, "ball"), frames = stiefel(4, 2),
  canonical = stiefel(4, 2, "canonical"), subspaces = grassmann(4, 2), shapes = kendall(5)
)
question <- function(M, n, statistic = "kernel", sizes = c(n %/% 2, n - n %/% 2), radius = NULL, center = NULL, at = NULL, bandwidth = NULL, u = NULL,
                     draws = 99, null = if (is.null(u)) "equal" else "independent", private = FALSE) {
  ask <- list(manifold = M, kind = "gaussian", statistic = statistic, epsilon = 1, null = null, draws = draws,
              invalid = "error", private = private)
  internal$test_question(M, ask, list(n = n, group = rep(seq_along(sizes), sizes), predictors = u), at, bandwidth, center, radius)
}
sensitivity_of <- function(ask) internal$test_estimator$plan(ask)$sensitivity
statistics_of <- function(ask, x, u = NULL, seed = 1) {
  n <- if (is.na(ask$n)) length(x) else ask$n
  with_simulation(seed, internal$test_statistics(list(x = x, n = n, group = rep(seq_along(ask$sizes), ask$sizes), predictors = u), ask))
}
vectors_of <- function(ask, x) internal$test_vectors(ask$manifold, x, ask$kernel, ask$center)
lots_of <- function(n, draws = 99) with_simulation(1, cbind(seq_len(n), internal$orders_by_lot(n, draws)))
row_of <- function(v, n) matrix(v, n, length(v), byrow = TRUE)

# by definition, of squared distances D over b^2 and labels g
by_hand <- function(D, g, statistic) {
  l <- tabulate(g) / length(g)
  V <- vapply(seq_along(l), function(k) sum(D[g == k, g == k]) / (2 * sum(g == k)^2), 0)
  spread <- sum(l * (V - sum(l * V))^2)
  sqrt(if (statistic == "variance") spread else spread + sum(D) / (2 * length(g)^2) - sum(l * V))
}

test_that("variances and the ANOVA are those of the definition on every space", {
  n <- 24
  sizes <- c(7, 9, 8)
  g <- rep(1:3, sizes)
  lots <- lots_of(n)
  for (name in names(SPACES)) {
    M <- SPACES[[name]]
    x <- with_simulation(6, mf_random(M, n))
    radius <- if (M$name %in% c("euclidean", "hyperboloid", "ball", "spd_affine", "spd_logeuclidean")) 9
    for (statistic in c("variance", "anova")) {
      if (name == "bures" && statistic == "anova") next
      ask <- question(M, n, statistic, sizes, radius, bandwidth = if (name == "bures") 2)
      D <- as.matrix(stats::dist(vectors_of(ask, x)))^2 / ask$kernel$bandwidth^2
      if (name != "bures") expect_lt(max(D), 1) # none is cut
      D <- pmin(D, 1)
      true <- apply(lots, 2, function(o) by_hand(D, g[o], statistic))
      expect_lt(max(abs(statistics_of(ask, x) - true)), if (statistic == "variance") 1e-8 else 1e-4, label = paste(name, statistic))
    }
  }
  # from a point: means of squares over the square of the bandwidth, no more than 1 each
  M <- sphere(2)
  x <- with_simulation(6, mf_random(M, n))
  ask <- question(M, n, "variance", sizes, bandwidth = 1.2, at = c(0, 0, 1))
  s <- pmin(1, rowSums((x - row_of(c(0, 0, 1), n))^2) / 1.44)
  true <- apply(lots, 2, function(o) {
    m <- tapply(s[order(o)][o][order(order(o))], g[o], mean) # the same records under labels g[o]
    sqrt(sum(sizes / n * (m - sum(sizes / n * m))^2))
  })
  expect_lt(abs(statistics_of(ask, x)[1] - true[1]), 1e-8)
  expect_lt(max(abs(sort(statistics_of(ask, x)) - sort(apply(lots, 2, function(o) {
    m <- tapply(s[o], g, mean)
    sqrt(sum(sizes / n * (m - sum(sizes / n * m))^2))
  })))), 1e-8)
  # rounded squares of distances have features once the slack is on the diagonal, and need it
  z <- seq(0, 1, length.out = 40)
  ask <- question(euclidean(1), 40, "anova", radius = 1)
  D <- round(outer(z, z, `-`)^2 / ask$kernel$bandwidth^2 * 2^28) / 2^28
  C <- diag(40) - 1 / 40
  gram <- -C %*% D %*% C / 2
  expect_lt(min(eigen(gram, TRUE, TRUE)$values), -1e-10)
  expect_gte(min(eigen(gram + ask$kernel$slack * C, TRUE, TRUE)$values), -1e-15)
  expect_lt(ask$kernel$slack, 1e-6)
})

test_that("one record moves variances and the ANOVA by no more than is said, and some by that", {
  n <- 12
  for (name in names(SPACES)) {
    M <- SPACES[[name]]
    points <- mf_points(with_simulation(8, mf_random(M, n + 1)), M)
    radius <- if (M$name %in% c("euclidean", "hyperboloid", "ball", "spd_affine", "spd_logeuclidean")) 0.7
    hard <- list(points, points[c(rep(1, n), 2)], points[c(rep(1, 6), rep(2, 6), 3)])
    for (statistic in c("variance", "anova")) for (sizes in list(c(6, 6), c(3, 9), c(2, 4, 6))) for (x in hard) for (j in c(1, 12)) {
      if (name == "bures" && statistic == "anova") next
      ask <- question(M, n, statistic, sizes, radius, bandwidth = if (name == "bures") 0.5)
      moved <- abs(statistics_of(ask, x[seq_len(n)]) - statistics_of(ask, x[replace(seq_len(n), j, n + 1)]))
      expect_lte(max(moved), sensitivity_of(ask))
    }
  }
  # all at one place, one moved to the other end; of groups with 2 and 3 records the larger one moves most
  for (sizes in list(c(6, 6), c(3, 9), c(2, 10), c(2, 3, 7))) {
    ask <- question(euclidean(1), 12, "variance", sizes, radius = 1, draws = 199)
    moved <- abs(statistics_of(ask, rep(-1, 12)) - statistics_of(ask, c(1, rep(-1, 11))))
    expect_gt(max(moved), 0.9999 * sensitivity_of(ask))
    ask <- question(euclidean(1), 12, "variance", sizes, radius = 3, at = 0, draws = 199)
    moved <- abs(statistics_of(ask, rep(0, 12)) - statistics_of(ask, c(40, rep(0, 11))))
    expect_gt(max(moved), 0.9999 * sensitivity_of(ask))
    expect_lte(max(moved), sensitivity_of(ask))
  }
  # both parts of the ANOVA; a fit of mean and spread at once is beyond the larger part
  ask <- question(euclidean(1), 12, "anova", radius = 1, draws = 199)
  moved <- abs(statistics_of(ask, rep(-1, 12)) - statistics_of(ask, c(1, rep(-1, 11))))
  expect_gt(max(moved), 0.95 * sensitivity_of(ask))
  expect_lte(max(moved), sensitivity_of(ask))
  expect_equal(sensitivity_of(ask), sqrt((1 / 12)^2 + (5 / 72)^2), tolerance = 1e-4)
  # the sphere and a cap
  expect_equal(question(sphere(2), 9, "variance")$kernel$bandwidth, 2, tolerance = 1e-5)
  expect_equal(question(sphere(2), 9, "variance", radius = 0.6, center = c(0, 0, 1))$kernel$bandwidth, 2 * sin(0.6), tolerance = 1e-5)
  expect_equal(question(sphere(2), 9, "variance", radius = 0.6, at = c(0, 0, 1))$kernel$bandwidth, 2 * sin(0.3), tolerance = 1e-5)
  expect_equal(question(euclidean(2), 9, "variance", radius = 0.6, at = c(0, 0))$kernel$bandwidth, 0.6, tolerance = 1e-5)
})

test_that("the statistic of independence is the root of the biased HSIC, to the last bit whatever the order of records", {
  n <- 25
  u <- rbind(seq(-1, 1, length.out = n), cos(1:n))
  for (name in c("line", "sphere", "affine", "shapes")) {
    M <- SPACES[[name]]
    x <- with_simulation(6, mf_random(M, n))
    ask <- question(M, n, bandwidth = 0.7, u = u)
    K <- exp(-as.matrix(stats::dist(t(u)))^2 / (2 * 2)) # bandwidth half of 2 sqrt(2)
    L <- exp(-as.matrix(stats::dist(vectors_of(ask, x)))^2 / (2 * 0.7^2))
    H <- diag(n) - 1 / n
    true <- apply(lots_of(n), 2, function(o) sqrt(sum((H %*% K %*% H) * L[o, o])) / n)
    expect_lt(max(abs(statistics_of(ask, x, u) - true)), 1e-4, label = name)
    turn <- c(seq(1, n, 2), seq(2, n, 2))
    z <- vectors_of(ask, x)
    again <- with_simulation(1, internal$product_statistics(u[, turn], z[turn, , drop = FALSE], ask$predictors, ask$kernel, 99))
    expect_identical(again[1], statistics_of(ask, x, u)[1])
  }
  # sums of products beyond what doubles hold exactly: all kernels 1, so that nothing but the slack is left
  n <- 700
  ask <- question(euclidean(1), n, bandwidth = 1, u = matrix(0, 1, n))
  t <- statistics_of(ask, rep(0, n), matrix(0, 1, n))
  left <- sqrt((n - 1) * ask$kernel$slack * ask$predictors$slack) / n
  expect_lt(max(abs(t - left)), 2^-22)
  p <- .Call(internal$riemdp_kernel_products_nonprivate, matrix(0, 1, n), matrix(0, 1, n), list("gaussian", "gaussian"), list(1, 1), matrix(n:1, n))
  expect_identical(p, list(pairs = 2^56 * n * (n - 1) / 2, rows = 2^56 * n * (n - 1)^2, all = rep(2^28 * n * (n - 1) / 2, 2)))
})

test_that("one record moves the statistic of independence by no more than is said, and some by nearly that", {
  n <- 12
  u <- matrix(cos(1:n), 1)
  for (name in names(SPACES)) {
    M <- SPACES[[name]]
    points <- mf_points(with_simulation(8, mf_random(M, n + 1)), M)
    ask <- question(M, n, bandwidth = 0.5, u = u, draws = 199)
    for (x in list(points, points[c(rep(1, n), 2)], points[c(rep(1, 6), rep(2, 6), 3)])) for (j in c(1, 7)) for (to in c(-1, 1)) {
      moved <- abs(statistics_of(ask, x[seq_len(n)], u) - statistics_of(ask, x[replace(seq_len(n), j, n + 1)], replace(u, j, to)))
      expect_lte(max(moved), sensitivity_of(ask))
    }
  }
  # 3/(2n) from it: under a lot with y_j beside x_l, and beside x_j the only y that differs
  v <- replace(rep(-1, n), 2, 1)
  x <- replace(rep(0, n), 3, 40)
  ask <- question(euclidean(1), n, bandwidth = 1, u = matrix(v, 1), draws = 999)
  moved <- statistics_of(ask, replace(x, 1, 40), matrix(replace(v, 1, 1), 1)) - statistics_of(ask, x, matrix(v, 1))
  expect_gt(max(moved), 0.999 * (2 * n - 5) / (2 * n - 2) * sensitivity_of(ask))
  expect_equal(sensitivity_of(ask), 2 * 11 / 144 * sqrt(2 * (2 - 2 * exp(-2))), tolerance = 1e-4)
})

test_that("predictors are read record by record, and moved into their public ranges", {
  M <- euclidean(1)
  d <- list(y = cos(1:6), a = c(0, 5, 10, 99, NA, -3), who = c("f", "m", NA, "x", "f", "m"))
  r <- internal$trend_records(y ~ a, M, d, c(0, 10), NULL)
  expect_equal(r$predictors, matrix(c(-1, 0, 1, 1, 0, -1), 1))
  r <- internal$trend_records(y ~ a + who, M, d, list(a = c(0, 10), who = c("f", "m")), NULL)
  expect_equal(r$predictors[2, ], c(-1, 1, 0, 0, -1, 1))
  expect_identical(r$n, 6)
  scale <- 3
  expect_match(internal$trend_records(y ~ I(a / scale), M, d, list("I(a/scale)" = c(0, 10)), NULL)$said, "scale")
  units <- list(of = c(1L, 1L, NA, 3L), count = 3)
  expect_equal(internal$units_average(rbind(c(-1, 0.5, 9, 1), 1:4), units), rbind(c(-0.25, 0, 1), c(1.5, 0, 4)))
})

test_that("a unit counts by one point, wherever its rows lie, and its replacement moves a statistic as a record does", {
  M <- sphere(2)
  x <- with_simulation(3, mf_random(M, 30, sd = 0.3))
  unit <- rep(1:10, 3)
  ask <- question(M, 10, sizes = c(4, 6), radius = 0.7, center = c(0, 0, 1))
  ask$ball <- internal$check_radius(M, 0.7, c(0, 0, 1))
  made <- function(x, unit, y = NULL) {
    given <- internal$test_records(M, x, y, rep(1:2, c(4, 6)), factor(unit, 1:10), if (is.null(y)) "equal" else "paired")
    internal$units_ready(given, ask)
  }
  ready <- made(x, unit)
  expect_identical(ready$n, 10L)
  own <- .Call(internal$riemdp_to_ball, M, x[unit == 4, ], c(0, 0, 1), 0.7)
  expect_lt(mf_dist(M, mf_points(ready$x, M)[4], frechet_mean(own, M)$mean), 1e-7)
  turn <- order(cos(1:30))
  expect_equal(made(x[turn, ], unit[turn])$x, ready$x, tolerance = 1e-12)
  # other rows, and more of them, of one unit; none of it
  pole <- row_of(c(0, 0, 1), 10)
  side <- row_of(c(sin(0.7), 0, cos(0.7)), 5)
  for (more in list(list(side, rep(1, 5)), list(-side, rep(1, 5)), list(side[0, ], integer()))) {
    a <- statistics_of(ask, made(pole, 1:10)$x)
    b <- statistics_of(ask, made(rbind(pole[-1, ], more[[1]]), c(2:10, more[[2]]))$x)
    expect_lte(max(abs(a - b)), sensitivity_of(ask))
  }
  expect_identical(as.vector(mf_points(made(x[0, , drop = FALSE], integer())$x, M)[3]), as.vector(mf_points(c(0, 0, 1), M)))
  pairs <- made(x, unit, x[30:1, ])
  expect_identical(nrow(pairs$y), 10L)
  r <- dp_test(x, M, epsilon = 1, group = rep(1:2, 5), unit = unit, center = c(0, 0, 1), radius = 0.7, draws = 99)
  expect_identical(c(r$n, r$members), c(10L, 5L, 5L))
  expect_output(print(r), "10 units in 2 groups.*protects one unit with all its rows, not its group")
  expect_output(explain(r), "replacing one unit moves")
  expect_identical(guarantee(r)$unit, "unit")
  d <- data.frame(y = cos(1:30), a = 1:30, id = rep(letters[1:10], 3))
  r <- dp_test(y ~ a, euclidean(1), data = d, epsilon = 1, bounds = c(0, 40), unit = "id", center = 0, radius = 1, draws = 99)
  expect_identical(c(r$n, r$unit), c("10", "id"))
})

# Kolmogorov's distance of `runs` uniform numbers is above this with a probability below 1e-6 (Massart 1990)
uniform_enough <- function(p, label) {
  p <- sort(p)
  n <- length(p)
  expect_lt(max(seq_len(n) / n - p, p - (seq_len(n) - 1) / n), sqrt(log(2e6) / (2 * n)), label = label)
}

test_that("p-values are uniform where laws are equal, and where predictors have nothing to do with responses", {
  runs <- if (quick()) 80 else 400
  M <- sphere(2)
  around <- function(n) mf_random(M, n, sd = 0.3)
  top <- c(0, 0, 1)
  cases <- list(
    variance = function() dp_test(around(14), M, epsilon = 20, group = rep(1:2, c(4, 10)), statistic = "variance", draws = 99),
    distances = function() dp_test(around(14), M, epsilon = 20, group = rep(1:2, c(4, 10)), statistic = "variance", at = top, draws = 99),
    anova = function() dp_test(around(15), M, epsilon = 20, group = rep(1:3, 5), statistic = "anova", draws = 99),
    independent = function() dp_test(x ~ a, M, data = list(x = around(14), a = stats::runif(14)), epsilon = 20, bounds = c(0, 1), draws = 99),
    unit = function() {
      x <- around(20)[rep(1:20, each = 2), ] # rows of one unit are alike: tested row by row, p would be small
      dp_test(x, M, epsilon = 1e3, group = rep(1:2, 10), unit = rep(1:20, each = 2), center = top, radius = 0.7, draws = 99)
    }
  )
  for (name in names(cases)) uniform_enough(with_simulation(10, replicate(runs, cases[[name]]()$p.value)), name)
})

test_that("what each statistic looks for is found", {
  n <- 300
  set.seed(13)
  # noise is live: a small p value is above .02 once in some 250 releases, one without effect below it once in 40
  tried <- function(times, found, ...) {
    for (i in seq_len(times)) {
      p <- dp_test(..., epsilon = 3, draws = 199)$p.value
      if (found(p)) break
    }
    p
  }
  small <- function(...) expect_lt(tried(3, function(p) p < 0.02, ...), 0.02)
  large <- function(...) expect_gt(tried(5, function(p) p > 0.02, ...), 0.02)
  line <- euclidean(1)
  narrow <- stats::rnorm(n, sd = 0.3)
  wide <- stats::rnorm(n)
  small(narrow, line, y = wide, statistic = "variance", radius = 3)
  small(narrow, line, y = wide, statistic = "variance", at = 0, radius = 3)
  small(narrow, line, y = wide, statistic = "anova", radius = 2)
  small(narrow, line, y = narrow + 0.7, statistic = "anova", radius = 3)
  large(narrow, line, y = narrow + 0.7, statistic = "variance", radius = 3) # of one spread
  M <- sphere(2)
  x <- with_simulation(3, mf_random(M, n, sd = 0.2))
  a <- seq(0, 1, length.out = n)
  turned <- mf_project(M, cbind(x[, 1] + 2 * a, x[, 2:3]))
  small(turned ~ a, M, bounds = c(0, 1), bandwidth = 0.5)
  large(x ~ a, M, bounds = c(0, 1), bandwidth = 0.5)
  who <- rep(c("a", "b"), each = n / 2) # a label that is private
  small(turned ~ who, M, bounds = list(who = c("a", "b")), bandwidth = 0.5)
})

test_that("these tests are total, and refused from public facts before anything is spent", {
  top <- c(0, 0, 1)
  M <- sphere(2)
  x <- with_simulation(14, mf_random(M, 12))
  bad <- x
  bad[2, ] <- NaN
  a <- replace(1:12, 3, NA)
  fine <- function(...) {
    r <- dp_test(..., epsilon = 1, draws = 99)
    expect_true(r$p.value > 0 && r$p.value <= 1)
  }
  for (statistic in c("variance", "anova")) {
    fine(bad, M, group = rep(1:2, 6), statistic = statistic, center = top, invalid = "center")
    fine(x[1:2, ], M, group = 1:2, statistic = statistic)
    fine(x[rep(1, 12), ], M, group = rep(1:2, 6), statistic = statistic)
    for (name in setdiff(names(SPACES), "bures")) {
      points <- mf_points(with_simulation(15, mf_random(SPACES[[name]], 4)), SPACES[[name]])
      fine(points, group = c(1, 2, 2, 2), statistic = statistic, radius = 0.3, center = points[1])
    }
  }
  fine(bad, M, group = rep(1:2, 6), statistic = "variance", at = top, invalid = "center")
  fine(bad ~ a, M, bounds = c(0, 12), center = top, invalid = "center")
  fine(x ~ a, M, bounds = c(0, 12))
  fine(y ~ b, M, data = list(y = mf_points(x[1, , drop = FALSE], M), b = 1), bounds = c(0, 1))
  fine(bad, M, group = rep(1:2, 3), unit = factor(c(rep(1:5, 2), NA, 1), 1:6), center = top, radius = 0.7, invalid = "center")
  ledger <- dp_ledger(NULL, 2)
  no <- function(..., class = "argument") expect_error(dp_test(..., epsilon = 1, ledger = ledger), class = paste0("riemdp_error_", class))
  g <- rep(1:2, 6)
  no(1:12, euclidean(1), group = g, statistic = "variance")
  no(1:12, euclidean(1), group = g, statistic = "anova")
  no(1:12, euclidean(1), group = g, statistic = "anova", bandwidth = 1)
  no(x, M, group = g, statistic = "anova", at = top)
  no(x, M, group = g, at = top)
  no(x, M, group = g, statistic = "variance", at = top, center = top)
  no(x, M, group = g, statistic = "variance", kernel = "exponential")
  no(x, M, statistic = "variance", null = "uniform")
  no(wishart_spd[, , 1:12], spd(2, "bures"), group = g, statistic = "anova", radius = 1, class = "unsupported")
  no(x ~ a, M)
  no(x ~ a, bounds = c(0, 1))
  no(x ~ a, M, bounds = c(0, 1), group = g)
  no(x ~ a, M, bounds = c(0, 1), at = top)
  no(x ~ a, M, bounds = c(0, 1), null = "equal")
  no(x ~ a, M, bounds = c(0, 1), statistic = "anova")
  no(x, M, null = "independent")
  no(x, M, group = g, bounds = c(0, 1))
  no(x, M, group = g, data = list())
  no(bad ~ a, M, bounds = c(0, 1), class = "not_finite")
  no(x, M, group = rep(1:2, 3), unit = rep(1:6, 2), center = top)
  no(x, M, group = rep(1:2, 3), unit = rep(1:6, 2), radius = 0.5)
  no(x, M, group = rep(1:2, 3), unit = rep(1:6, 2), center = top, radius = 1, class = "radius")
  no(x, M, group = g, unit = rep(1:6, 2), center = top, radius = 0.5)
  no(x, M, group = rep(1:2, 3), unit = c(NA, 1:6, 2:6), center = top, radius = 0.5)
  no(x, M, group = rep(1:2, 3), unit = rep(1:6, 3), center = top, radius = 0.5, class = "shape")
  no(x, M, y = x, unit = rep(1:6, 2), center = top, radius = 0.5)
  no(x, M, null = "uniform", unit = rep(1:6, 2), class = "unsupported")
  no(x, M, null = "symmetric", at = top, radius = 0.5, unit = rep(1:6, 2), class = "unsupported")
  no(x ~ a, M, data = chunks(data.frame(a = 1:12), 5), bounds = c(0, 1), class = "unsupported")
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("a plan tells the power that tests have, and spends nothing", {
  M <- euclidean(1)
  simulate <- function() list(x = c(stats::rnorm(30), stats::rnorm(30, 1)), group = rep(1:2, each = 30))
  set.seed(5)
  plan <- with_simulation(5, dp_test_plan(simulate, M, c(0.2, 1, 5), bandwidth = 1, draws = 99, runs = 60))
  expect_identical(names(plan), c("epsilon", "n", "p.value", "decision", "se", "plain", "runs"))
  expect_identical(plan$n, rep(60, 3))
  expect_false(is.unsorted(plan$p.value))
  expect_true(all(plan$decision >= plan$p.value) && plan$p.value[3] <= plan$plain[3] + 0.05)
  # both are shares of calls, and se says how far the mean may be off
  runs <- if (quick()) 150 else 600
  calls <- with_simulation(6, replicate(runs, {
    made <- simulate()
    c(dp_test(made$x, M, epsilon = 5, group = made$group, bandwidth = 1, draws = 99)$p.value <= 0.05,
      dp_test(made$x, M, epsilon = 5, group = made$group, bandwidth = 1, draws = 99, alpha = 0.05)$reject)
  }))
  expect_lt(max(abs(rowMeans(calls) - unlist(plan[3, 3:4]))), 5 * sqrt(0.25 / runs + plan$se[3]^2))
  null <- with_simulation(7, dp_test_plan(function() list(x = stats::rnorm(20), group = rep(1:2, 10)), M, 1, bandwidth = 1, alpha = 0.2, draws = 99, runs = 60))
  expect_lt(abs(null$p.value - 0.2), 5 * null$se + 1e-3)
  # other tests, units, formulas
  pairs <- function() list(x = stats::rnorm(9), y = stats::rnorm(9))
  units <- function() list(x = stats::rnorm(20), group = rep(1:2, 5), unit = rep(1:10, 2))
  trend <- function() {
    age <- stats::runif(20)
    list(x = y ~ age, data = list(y = 3 * age, age = age))
  }
  expect_identical(dp_test_plan(pairs, M, 1, null = "paired", bandwidth = 1, draws = 99, runs = 2)$n, 9)
  expect_identical(dp_test_plan(units, M, 1, statistic = "variance", center = 0, radius = 2, draws = 99, runs = 2)$n, 10)
  expect_identical(dp_test_plan(trend, M, 1e3, bounds = c(0, 1), bandwidth = 1, draws = 99, runs = 2)$plain, 1)
  no <- function(...) expect_error(dp_test_plan(...), class = "riemdp_error_argument")
  no(1, M, 1)
  no(simulate, M)
  no(simulate, M, "a")
  no(simulate, M, c(1, -1))
  no(simulate, M, structure(1, class = "integer64"))
  no(simulate, M, 1, bandwidth = 1, runs = 1)
  no(simulate, M, 1, bandwidth = 1, source = "a")
  no(simulate, M, 1, 1)
  no(simulate, M, 1) # no bandwidth
  no(function() 1:3, M, 1, bandwidth = 1)
  no(function() stop("no"), M, 1, bandwidth = 1)
  no(function() list(group = 1), M, 1, bandwidth = 1)
  no(function() list(x = 1:4, epsilon = 9, group = c(1, 1, 2, 2)), M, 1, bandwidth = 1)
})

# ---- a private number of records -------------------------------------------------------------------------------------

test_that("statistics of a private number of records are sums, which a record more moves by what is said", {
  n <- 12
  u <- matrix(cos(1:(n + 1)), 1)
  lots <- with_simulation(3, internal$orders_by_lot(n, 199))
  for (name in names(SPACES)) {
    M <- SPACES[[name]]
    points <- mf_points(with_simulation(8, mf_random(M, n + 1)), M)
    ask <- question(M, n, bandwidth = 0.5, u = u, draws = 199, private = TRUE)
    expect_identical(ask$n, NA_real_)
    public <- question(M, n, bandwidth = 0.5, u = u[, 1:n, drop = FALSE], draws = 199)
    before <- u[, 1:n, drop = FALSE]
    if (name == "plane") {
      times <- statistics_of(ask, points[1:n], before) / statistics_of(public, points[1:n], before)
      expect_equal(times / n * 1e4, rep(1, 200), tolerance = 0.01)
    }
    z <- vectors_of(ask, points)
    sums <- function(rows, lots) {
      t <- with_internals(internal$product_statistics(u[, rows, drop = FALSE], z[rows, , drop = FALSE], ask$predictors, ask$kernel, 199),
                          orders_by_lot = function(n, draws) lots)
      internal$counted_statistics(t, length(rows), 1e4)
    }
    for (j in c(1, 5, n + 1)) { # the new one takes what j has under each lot, and j the new one's
      coupled <- rbind(lots, as.integer(n + 1))
      coupled[c(j, n + 1), ] <- coupled[c(n + 1, j), ]
      moved <- abs(sums(1:(n + 1), coupled) - sums(1:n, lots))
      expect_lte(max(moved), sensitivity_of(ask))
      expect_lte(moved[1], sensitivity_of(ask) / 2) # the data's has one term more and no other change
    }
  }
  ask <- question(euclidean(1), n, bandwidth = 1, u = u, private = TRUE)
  # the first record that is elsewhere, beside the only predictor that differs: half of what is said
  odd <- matrix(replace(rep(-1, n), 2, 1), 1)
  more <- statistics_of(ask, c(rep(0, n), 40), cbind(odd, 1)) - statistics_of(ask, rep(0, n), odd)
  expect_gt(more[1], 0.4 * sensitivity_of(ask))
  times <- function(ask, by) sensitivity_of(ask) / by # of the same order as 1, so that tolerances are relative
  expect_equal(times(ask, 1e-4), 2 * sqrt(2 * (2 - 2 * exp(-2))), tolerance = 0.01)
  expect_equal(times(question(sphere(2), n, null = "symmetric", at = c(0, 0, 1), radius = 0.5, private = TRUE), 1e-6), 2, tolerance = 0.01)
  uniform <- question(sphere(2), n, null = "uniform", private = TRUE)
  expect_equal(times(uniform, 1e-6), 1, tolerance = 0.01)
  expect_equal(internal$test_estimator$plan(uniform)$law$loss, 9 / 4) # lots move as well: there is one direction more in them
  pairs <- question(euclidean(1), n, null = "paired", bandwidth = 1, private = TRUE)
  expect_equal(times(pairs, 1e-4), 2 * sqrt(2), tolerance = 0.01)
  expect_equal(pairs$kernel$slack, 20002 * 2^-28) # of as many as there may be
})

test_that("of more records than a test takes some are taken by lot, where their number is private", {
  M <- euclidean(1)
  x <- (1:15)^2
  u <- matrix(sin(1:15), 1)
  ask <- question(M, 15, bandwidth = 20, u = u, private = TRUE)
  ask$most <- 10
  lot <- with_simulation(4, internal$orders_by_lot(15, 1))[1:10]
  plain <- question(M, 10, bandwidth = 20, u = u[, lot, drop = FALSE])
  expect_equal(statistics_of(ask, x, u, seed = 4)[1], statistics_of(plain, x[lot], u[, lot, drop = FALSE])[1], tolerance = 1e-4)
  expect_gt(length(unique(vapply(1:20, function(seed) statistics_of(ask, x, u, seed = seed)[1], 0))), 15)
  expect_error(question(M, 10001, bandwidth = 1, u = matrix(0, 1, 10001)), class = "riemdp_error_unsupported")
  ask <- question(sphere(2), 15, null = "symmetric", at = c(0, 0, 1), radius = 0.5, private = TRUE)
  ask$most <- 10
  expect_length(statistics_of(ask, mf_points(with_simulation(1, mf_random(sphere(2), 15)), sphere(2))), 100)
})

test_that("tests of a private number of records say neither it nor groups' sizes", {
  M <- sphere(2)
  two <- list(x = with_simulation(1, mf_project(M, cbind(matrix(rnorm(800, sd = 0.2), 400) + rep(c(-0.5, 0.5), each = 200), 1))),
              sex = rep(c("f", "m"), each = 200))
  test <- function(n, ...) {
    x <- mf_points(two$x, M)[seq(1, 400, length.out = n)]
    sex <- two$sex[seq(1, 400, length.out = n)]
    dp_test(x ~ sex, M, epsilon = 2, bounds = list(sex = c("f", "m")), center = c(0, 0, 1), radius = 1, draws = 199, neighbours = "add_remove", ...)
  }
  r <- test(400)
  expect_lt(r$p.value, 0.05)
  expect_true(test(400, alpha = 0.05)$reject)
  expect_identical(r$n, NA_real_)
  expect_null(r$members)
  expect_identical(guarantee(r)[c("label", "epsilon", "adjacency")], list(label = "pure", epsilon = 2, adjacency = "add-remove"))
  expect_match(r$data.name, "records of a private number on sphere")
  expect_match(paste(format(r), collapse = " "), "and whether it is there")
  expect_output(explain(r), "One record more or less changes no")
  expect_identical(r$draws$proof, "testing.md, 11")
  few <- test(90)
  same <- setdiff(names(r), c("value", "p.value", "draws"))
  expect_identical(unclass(few)[same], unclass(r)[same])
  expect_identical(few$draws, r$draws)
  ledger <- dp_ledger(NULL, epsilon = 9, adjacency = "add-remove")
  test(100, ledger = ledger)
  expect_equal(ledger_history(ledger)$epsilon, 2)
  # nobody, and one
  for (n in 0:1) {
    x <- as.matrix(mf_points(two$x, M))[seq_len(n), , drop = FALSE]
    call <- function(...) dp_test(x, M, epsilon = 1, draws = 99, neighbours = "add_remove", ...)$p.value
    expect_true(call(null = "uniform") > 0)
    expect_true(call(null = "symmetric", at = c(0, 0, 1), radius = 0.5) > 0)
    expect_true(call(null = "paired", y = x) > 0)
    expect_true(dp_test(x ~ a, M, epsilon = 1, data = list(a = numeric(n)), bounds = c(0, 1), draws = 99, neighbours = "add_remove")$p.value > 0)
  }
  e <- expect_error(dp_test(two$x, M, epsilon = 1, group = two$sex, neighbours = "add_remove"), class = "riemdp_error_unsupported")
  expect_match(conditionMessage(e), "x ~ group")
  # units: how many there are is private as well
  unit <- dp_test(x ~ sex, M, epsilon = 2, data = list(x = two$x, sex = two$sex), bounds = list(sex = c("f", "m")), center = c(0, 0, 1), radius = 0.7,
                  unit = rep(1:200, each = 2), draws = 99, neighbours = "add_remove")
  expect_identical(guarantee(unit)$unit, "unit")
  expect_match(unit$data.name, "units of a private number")
  plan <- dp_test_plan(function() list(x = x ~ a, data = list(x = rnorm(30), a = runif(30))), euclidean(1), epsilon = 1, bandwidth = 1, bounds = c(0, 1),
                       neighbours = "add_remove", draws = 99, runs = 2)
  expect_identical(plan$n, 30)
})

test_that("no number of records, nor of units, is told by a refusal or a word", {
  df <- data.frame(y1 = c(0.1, 0.2, 0.05), y2 = c(0.1, 0, -0.1), y3 = 1, g = c("a", "b", "a"), u = 1:3)
  test <- function(formula, data, ...) dp_test(formula, sphere(2), epsilon = 1, data = data, bounds = list(g = c("a", "b")), center = c(0, 0, 1),
                                               radius = 0.7, invalid = "center", neighbours = "add_remove", draws = 99, ...)
  for (k in 0:3) {
    one <- test(cbind(y1, y2, y3) ~ g, df[seq_len(k), ], unit = "u")
    expect_s3_class(one, "riemdp_test")
    expect_s3_class(test(mf_project(sphere(2), cbind(y1, y2, y3)) ~ g, df[seq_len(k), ]), "riemdp_test")
  }
  nobody <- df
  nobody$u <- NA
  expect_s3_class(test(cbind(y1, y2, y3) ~ g, nobody, unit = "u"), "riemdp_test")
  # one record and more have the same words, whether a single value is a record's or a constant
  said <- lapply(1:3, function(n) {
    y <- cbind(0.1, seq_len(n) / 10, 1)
    z <- as.double(seq_len(n))
    k <- 2
    r <- dp_test(y ~ I(z * k), sphere(2), epsilon = 1, bounds = stats::setNames(list(c(0, 20)), "I(z * k)"), center = c(0, 0, 1), radius = 0.7,
                 invalid = "center", neighbours = "add_remove", draws = 99)
    r$guarantee$assumptions
  })
  expect_identical(said[[1]], said[[2]])
  expect_identical(said[[3]], said[[2]])
})

test_that("projections are those of each record, for as many records as the array has dimensions", {
  for (n in 1:4) {
    y <- matrix(seq_len(3 * n) / 7, n)
    expect_equal(unclass(as.matrix(riemdp:::project_records(sphere(2), y))), y / sqrt(rowSums(y^2)), ignore_attr = TRUE)
    S <- array(diag(2), c(2, 2, n)) * rep(seq_len(n), each = 4)
    expect_equal(as.array(riemdp:::project_records(spd(2), S)), S, ignore_attr = TRUE)
  }
})
