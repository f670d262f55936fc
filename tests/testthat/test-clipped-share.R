# The share of records outside the ball: its law, its price, what is counted, and in which order

PLANE <- list(M = euclidean(2), center = c(0, 0), radius = 1)
# 60 records of which 21 lie outside
plane_records <- function() cbind(rep(c(0.5, 3), c(39, 21)), seq(-0.3, 0.3, length.out = 60))
share_of <- function(x, ..., epsilon = 1, clipped = 0.3) {
  dp_mean(x, PLANE$M, epsilon, PLANE$center, PLANE$radius, clipped = clipped, ...)
}
count_of <- function(x, M = PLANE$M, center = PLANE$center, radius = PLANE$radius) {
  ask <- list(n = riemdp:::record_count(M, x), center = center, ball = list(radius = radius))
  riemdp:::outside_count(M, x, ask)
}

test_that("the noise is two-sided geometric with scale one over its share of epsilon", {
  x <- plane_records()
  draws <- if (quick()) 2000 else 20000
  ask <- riemdp:::mean_ask(PLANE$M, 60, 2, PLANE$center, PLANE$radius, 0, "laplace", NULL, "proven", "ordinary", "real", 1e6, list(), 0.25)
  expect_equal(ask$clipped$scale, 1 / (0.25 * 2), tolerance = 1e-8)
  z <- with_simulation(2, vapply(seq_len(draws), function(i) riemdp:::release_clipped(PLANE$M, x, ask)$count, 0)) - 21
  expect_true(all(z == round(z)))
  expect_geometric_2(z)
})

test_that("scale times epsilon is the sensitivity, and the parts make up the whole", {
  x <- plane_records()
  for (epsilon in c(0.01, 0.37, 1, 30)) for (clipped in c(1e-4, 0.1, 0.5, 0.999)) for (mode in c("real", "lattice")) {
    r <- share_of(x, epsilon = epsilon, clipped = clipped, mechanism = "wrapped", numerics = mode)
    paid <- r$clipped$epsilon
    expect_gte(r$clipped$scale * paid, 1) # one record moves the count by 1
    expect_lt(r$clipped$scale * paid, 1 + 1e-6)
    of_mean <- (r$sensitivity + r$solver_error) / r$scale
    expect_lte(paid + of_mean, epsilon * (1 + 1e-15))
    expect_gt(paid + of_mean, epsilon * (1 - 1e-6))
    expect_identical(guarantee(r)[c("label", "epsilon", "nominal_epsilon")], list(label = "pure", epsilon = epsilon, nominal_epsilon = epsilon))
    expect_identical(r$clipped$share * 60, r$clipped$count, tolerance = 1e-12)
  }
  r <- share_of(x, delta = 1e-3, mechanism = "gaussian")
  expect_identical(guarantee(r)[c("label", "epsilon", "delta")], list(label = "approx", epsilon = 1, delta = 1e-3))
  expect_true(is.na(guarantee(r)$mu))
  # half of epsilon for the mean is the Gaussian noise of epsilon 1/2
  half <- dp_mean(x, PLANE$M, 0.5, PLANE$center, PLANE$radius, delta = 1e-3, mechanism = "gaussian")
  expect_equal(share_of(x, clipped = 0.5, delta = 1e-3, mechanism = "gaussian")$scale, half$scale, tolerance = 1e-9)
})

test_that("the ledger takes both parts, before anything is counted or drawn", {
  x <- plane_records()
  ledger <- dp_ledger(NULL, 1.5)
  r <- share_of(x, ledger = ledger)
  expect_equal(r$budget$cost[["epsilon"]], 1, tolerance = 1e-9)
  expect_lte(r$budget$cost[["epsilon"]], 1)
  expect_match(ledger_history(ledger)$event, "pure\\(epsilon = 0.3\\) \\+ pure\\(epsilon = 0.7\\)")
  # too dear: nothing is counted
  counted <- 0
  with_internals({
    expect_error(share_of(x, ledger = ledger), class = "riemdp_error_budget")
  }, outside_count = function(...) counted <<- counted + 1)
  expect_identical(counted, 0)
  # when records are counted the price is in the ledger
  fresh <- dp_ledger(NULL, 1.5)
  spent <- NULL
  with_internals(share_of(x, ledger = fresh), outside_count = function(...) {
    spent <<- summary(fresh)$spent[1]
    0
  })
  expect_equal(spent, 1, tolerance = 1e-9)
  for (rule in c("zcdp", "gdp")) {
    other <- dp_ledger(NULL, 5, 1e-6, rule = rule)
    one <- share_of(x, ledger = other, delta = 1e-6, mechanism = "gaussian")
    alone <- dp_mean(x, PLANE$M, 0.7, PLANE$center, PLANE$radius, delta = 1e-6, mechanism = "gaussian", ledger = other)
    count <- ledger_spend(other, event_pure(0.3))
    expect_equal(one$budget$cost[[1]], alone$budget$cost[[1]] + count$cost[[1]], tolerance = 1e-6)
  }
})

test_that("what is outside is decided record by record, in whatever form records come", {
  x <- plane_records()
  expect_identical(count_of(x), 21)
  expect_identical(count_of(chunks(x, 7)), 21)
  expect_identical(count_of(mf_points(x, PLANE$M)), 21)
  paths <- vapply(1:3, function(i) {
    path <- tempfile(fileext = ".csv")
    utils::write.csv(as.data.frame(x)[(20 * i - 19):(20 * i), ], path, row.names = FALSE)
    path
  }, "")
  on.exit(unlink(paths))
  files <- chunk_files(paths, sizes = c(20, 20, 20), shape = PLANE$M, columns = c(V1 = "number", V2 = "number"))
  expect_identical(count_of(files), 21)
  counts <- vapply(list(x, chunks(x, 7), mf_points(x, PLANE$M), files), function(data) {
    with_simulation(9, share_of(data, mechanism = "laplace"))$clipped$count
  }, 0)
  expect_identical(length(unique(counts)), 1L)
  # what is no point counts as the centre: not as outside
  bad <- x
  bad[1, ] <- c(NaN, 3)
  bad[60, ] <- c(Inf, 0)
  expect_identical(count_of(bad), 20)
  expect_error(share_of(bad), class = "riemdp_error_not_finite")
  expect_identical(guarantee(share_of(bad, invalid = "center"))$label, "pure")
  missing <- mf_points(x, PLANE$M)[c(1:59, NA)]
  expect_identical(count_of(missing), 20)
  # at the cut locus: outside, though its place is taken by the centre
  S <- rbind(c(0, 0, 1), c(0, 0, -1), c(sin(0.3), 0, cos(0.3)), c(2, 0, 0))
  expect_identical(count_of(S, sphere(2), c(0, 0, 1), 0.2), 2)
  # on the edge, up to rounding, and beyond
  expect_identical(count_of(cbind(c(1, 1 + 1e-12, 1 - 1e-12), 0)), 1)
})

test_that("a changed record changes the count by one at most, whatever it becomes", {
  set.seed(1)
  M <- spd(2)
  x <- wishart_spd[, , 1:20]
  before <- count_of(x, M, diag(2), 0.5)
  for (other in list(diag(2), diag(c(1e150, 1e-150)), matrix(NA_real_, 2, 2), -diag(2), matrix(0, 2, 2), matrix(c(1, 5, 5, 1), 2), diag(Inf, 2))) {
    y <- x
    y[, , 3] <- other
    expect_lte(abs(count_of(y, M, diag(2), 0.5) - before), 1)
  }
})

test_that("a unit is outside where any of its rows is, and moves the count by one at most", {
  x <- plane_records()
  unit <- rep(1:20, 3) # rows 40 to 60 lie outside: all units but one
  count <- function(x, unit, M = PLANE$M, center = PLANE$center, radius = PLANE$radius) {
    units <- riemdp:::read_units(unit, x)
    riemdp:::outside_count(M, units$x, list(n = units$count, center = center, ball = list(radius = radius)), units)
  }
  expect_identical(count(x, unit), 20)
  expect_identical(count(x, rep(1:6, each = 10)), 3)
  expect_identical(count(x, rep(1, 60)), 1)
  expect_identical(count(x, 1:60), count_of(x))
  expect_identical(count(x[1:39, ], unit[1:39]), 0)
  expect_identical(count(mf_points(x, PLANE$M), rep(1:6, each = 10)), 3)
  # rows of no unit, units without rows and rows that are no points count for nothing
  expect_identical(count(x, replace(rep(1:6, each = 10), 40:50, NA)), 1)
  expect_identical(count(x, factor(rep(1:6, each = 10), levels = 1:9)), 3)
  broken <- x
  broken[40:50, ] <- c(NaN, 5)
  expect_identical(count(broken, rep(1:6, each = 10)), 1)
  # whatever a unit's rows become, and how many they are
  keys <- rep(1:6, each = 10)
  for (to in list(x[0, ], matrix(9, 50, 2), rbind(c(0, 0), c(9, 0)), matrix(NaN, 3, 2), matrix(Inf, 2, 2))) {
    for (u in c(1, 5)) {
      y <- rbind(x[keys != u, ], to)
      of <- factor(c(keys[keys != u], rep(u, nrow(to))), levels = 1:6)
      expect_lte(abs(count(y, of) - count(x, keys)), 1)
    }
  }
  # the release: 3 of 6 units, of which 21 rows of 60
  ask <- function(...) dp_mean(x, PLANE$M, 2000, PLANE$center, PLANE$radius, unit = keys, clipped = 0.5, ...)
  r <- ask(ledger = dp_ledger(NULL, 2000))
  expect_identical(r$clipped$count, 3)
  expect_identical(r$clipped$share, 0.5)
  expect_equal(r$budget$cost[["epsilon"]], 2000)
  expect_equal(as.vector(confint(r, "clipped")), c(0.5, 0.5))
  expect_identical(r$n, 6L)
  expect_match(said(print(r)), "outside the ball: 50 % of the units (those with a row there) as released", fixed = TRUE)
  expect_match(said(print(r)), "their true share times their rows' average distance to the ball")
  expect_match(said(explain(r)), "The number of units with a row outside .* replacing one unit moves it by at most 1")
  own <- rowsum(x / pmax(1, sqrt(rowSums(x^2))), keys) / 10
  expect_equal(r$value, colMeans(own), tolerance = 1e-2, ignore_attr = TRUE)
  expect_s3_class(ask(numerics = "lattice", mechanism = "wrapped"), "riemdp_mean")
})

test_that("modes and manifolds: lattice, constant time, one's own, sites", {
  x <- plane_records()
  r <- share_of(x, mechanism = "wrapped", numerics = "lattice")
  expect_identical(guarantee(r)[c("label", "numerics")], list(label = "pure", numerics = "lattice"))
  r <- share_of(x, mechanism = "kng", timing = "constant", delta = 1e-3)
  expect_identical(guarantee(r)$label, "approx")
  expect_s3_class(share_of(x, mechanism = "adaptive"), "riemdp_mean")
  own <- manifold_custom(2, 2, exp = function(p, v) p + v, log = function(p, q) q - p, project = identity,
                         random = function(n) matrix(stats::rnorm(2 * n), n), k_min = 0, k_max = 0, injectivity_radius = Inf, label = "my plane")
  mine <- dp_mean(x, own, 1, c(0, 0), 1, clipped = 0.3, mechanism = "wrapped")
  expect_identical(guarantee(mine)$label, "none")
  expect_identical(guarantee(mine)$nominal_epsilon, 1)
  expect_null(mine$clipped$epsilon) # no bare promise
  expect_null(mine$budget$event)
  expect_identical(count_of(x, own), 21)
  ledger <- dp_ledger(NULL, 5)
  s <- sites(site(60, function(request) stop("asked")))
  expect_error(share_of(s, mechanism = "wrapped", ledger = ledger), class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("shares that can't be are refused, from public numbers", {
  x <- plane_records()
  for (bad in list(0, 1, -0.1, 2, NA, "a", c(0.1, 0.2), Inf, TRUE)) expect_error(share_of(x, clipped = bad), class = "riemdp_error_argument")
  expect_error(share_of(x, epsilon = NULL, sigma = 1, mechanism = "laplace"), class = "riemdp_error_argument")
  expect_error(share_of(x, epsilon = NULL, delta = 1e-3, mechanism = "gaussian", options = list(mu = 1)), class = "riemdp_error_argument")
  expect_error(share_of(x, epsilon = 1e-9, clipped = 1e-9), class = "riemdp_error_argument")
  expect_error(confint(dp_mean(x, PLANE$M, 1, c(0, 0), 1), "clipped"), class = "riemdp_error_unsupported")
})

test_that("the interval holds the share as often as it says, and what is printed is what is known", {
  x <- plane_records()
  draws <- if (quick()) 400 else 4000
  for (level in c(0.5, 0.95)) {
    r <- share_of(x, mechanism = "laplace")
    hits <- sum(with_simulation(7, vapply(seq_len(draws), function(i) {
      r$clipped$count <- 21 + discrete_laplace_noise(1, r$clipped$scale)
      ends <- confint(r, "clipped", level = level)
      ends[1] <= 21 / 60 && 21 / 60 <= ends[2]
    }, NA)))
    expect_gt(hits, qbinom(1e-6, draws, level) - 1)
    # and no more often than by the next smaller whole number
    r$clipped$count <- 30
    far <- round(60 * diff(as.vector(confint(r, "clipped", level = level))) / 2)
    held <- function(far) 1 - 2 * exp(-(far + 1) / r$clipped$scale) / (1 + exp(-1 / r$clipped$scale))
    expect_gte(held(far), level)
    expect_lt(held(far - 1), level)
  }
  text <- said(print(share_of(x, epsilon = 20)))
  expect_match(text, "outside the ball: 3[0-9](\\.[0-9])? % of the records as released")
  expect_match(text, "clipping: moved the mean by their true share times their average distance to the ball, at most")
  curved <- dp_mean(rbind(c(0, 0, 1), c(1, 0, 0))[rep(1:2, 30), ], sphere(2), 20, c(0, 0, 1), 0.3, clipped = 0.5)
  expect_match(said(print(curved)), "clipping: moved the mean by an unknown distance")
  inside <- share_of(x / 10, epsilon = 200)
  expect_match(said(print(inside)), "clipping: none, with that probability")
  expect_identical(summary(inside)$outside, 0)
  expect_true(is.na(summary(dp_mean(x, PLANE$M, 1, c(0, 0), 1))$outside))
  # far out of range as released, within it where it is told
  inside$clipped[c("share", "count")] <- list(-0.2, -12)
  expect_match(said(print(inside)), "outside the ball: 0 % of the records as released, 0 to 0 %")
})

test_that("clipping moves a mean by no more than is said, where curvature is at most 0", {
  set.seed(3)
  for (space in list(list(M = hyperbolic(2), center = c(1, 0, 0)), list(M = spd(2), center = diag(2)), list(M = euclidean(3), center = c(0, 0, 0)))) {
    for (trial in 1:5) {
      d <- mf_facts(space$M)$dimension
      x <- mf_exp(space$M, space$center, mf_from_coords(space$M, space$center, matrix(rnorm(30 * d), 30) + 0.5))
      moved <- .Call(riemdp:::riemdp_to_ball, space$M, x, space$center, 1)
      bound <- mean(pmax(0, mf_dist(space$M, space$center, x) - 1))
      expect_lte(mf_dist(space$M, frechet_mean(x, space$M)$mean, frechet_mean(moved, space$M)$mean), bound * (1 + 1e-7))
    }
  }
})

test_that("plans show what is left for the mean", {
  plan <- dp_mean_plan(PLANE$M, 60, 1, PLANE$center, PLANE$radius, clipped = 0.3)
  alone <- dp_mean_plan(PLANE$M, 60, 0.7, PLANE$center, PLANE$radius)
  expect_equal(plan$scale, alone$scale, tolerance = 1e-9)
  expect_true(all(plan$epsilon[plan$label %in% "pure"] == 1))
  expect_match(said(print(plan)), "of it 0.3 for the share of records outside the ball (standard deviation of its noise 7.8 %), 0.7 for the mean", fixed = TRUE)
  r <- share_of(plane_records())
  expect_identical(r$scale, plan$scale[plan$chosen])
  grid <- riemdp:::plan_errors(plan, "epsilon", 3)
  expect_equal(grid$grid, c(0.1, 1, 10))
  expect_equal(grid$errors, riemdp:::plan_errors(alone, "epsilon", 3)$errors, tolerance = 1e-9)
})
