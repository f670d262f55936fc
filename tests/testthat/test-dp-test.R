# Private permutation tests (R/permutation-test.R, R/dp-test.R; inst/proofs/testing.md)

internal <- asNamespace("riemdp")
TESTED <- list(
  line = euclidean(1), plane = euclidean(3), circle = sphere(1), sphere = sphere(2), affine = spd(3), hermitian = hermitian_spd(2), bures = spd(2, "bures"),
  log = spd(2, "logeuclidean"), hyperbolic = hyperbolic(2), ball = hyperbolic(2, "ball"), frames = stiefel(4, 2),
  canonical = stiefel(4, 2, "canonical"), subspaces = grassmann(4, 2), shapes = kendall(5)
)
asked_test <- function(M, n, null = "equal", sizes = c(n %/% 2, n - n %/% 2), bandwidth = 1, radius = NULL, center = NULL, at = NULL, alpha = NULL,
                       epsilon = 1, draws = 99, kernel = if (M$name %in% c("sphere", "hyperboloid") && null == "equal") "exponential" else "gaussian") {
  ask <- list(manifold = M, kind = kernel, statistic = "kernel", epsilon = epsilon, null = null, alpha = alpha, draws = draws, invalid = "error",
              private = FALSE)
  internal$test_question(M, ask, list(n = n, group = rep(seq_along(sizes), sizes)), at, if (null %in% c("equal", "paired")) bandwidth, center, radius)
}
planned <- function(ask) internal$test_estimator$plan(ask)
# the statistics of records and lots, of one seed
statistics_of <- function(ask, x, y = NULL, seed = 1) {
  with_simulation(seed, internal$test_statistics(list(x = x, y = y, n = ask$n, group = rep(seq_along(ask$sizes), ask$sizes)), ask))
}
vectors_of <- function(ask, x) internal$test_vectors(ask$manifold, x, ask$kernel, ask$center)

# ---- the law of p ----------------------------------------------------------------------------------------------------

law_of <- function(moves = "permuted", sensitivity = 0.01, epsilon = 1, draws = 99, alpha = NULL) {
  internal$test_law(moves, sensitivity, epsilon, draws, alpha)
}
on_grid <- function(t) floor(t * 2^40) / 2^40

test_that("edges of cells are where the mean survival function has their level, however far statistics lie apart", {
  set.seed(1)
  for (draws in c(99, 999)) for (shape in 1:6) {
    law <- law_of(draws = draws)
    n <- draws + 1
    t <- on_grid(switch(shape, rep(0.3, n), runif(n), rep(c(0.1, 0.9), n / 2), rep(c(0, 0.2, 1), c(n - 5, 2, 3)), 0.5 + rnorm(n) * law$scale / 1000,
                        seq_len(n) * law$scale * 40 * (100 / n)))
    x <- internal$law_edges(t, law)
    expect_false(is.unsorted(-x))
    for (i in round(seq(1, length(x), length.out = 97))) {
      below <- sum(exp(-(x[i] - t[t <= x[i]]) / law$scale)) / 2
      beyond <- sum(exp(-(t[t > x[i]] - x[i]) / law$scale)) / 2
      whole <- (law$at[i] * n - sum(t > x[i]) * law$cells) / law$cells # exact, so nothing is lost where all are far
      expect_lt(abs(below - beyond - whole), 1e-9 * (below + beyond))
    }
  }
  # the middle of two far clusters, by symmetry
  law <- law_of(alpha = 0.5)
  expect_equal(internal$law_edges(rep(c(0.1, 0.9), 50), law), 0.5, tolerance = 1e-12)
})

test_that("under the null hypothesis every cell is as likely as its size, whatever the statistics", {
  set.seed(2)
  for (t in list(runif(100), rep(c(0, 0.5), 50), c(rep(0, 99), 1))) for (alpha in list(NULL, 0.05, 0.9)) {
    t <- on_grid(t)
    law <- law_of(alpha = alpha)
    all <- lapply(seq_along(t), function(i) internal$law_weights(t[c(i, seq_along(t)[-i])], law))
    for (w in all[c(1, 100)]) expect_true(all(w == floor(w) & w > 0) && sum(w) < 2^53)
    mean <- Reduce(`+`, lapply(all, function(w) w / sum(w))) / length(t)
    size <- diff(c(0, law$at, law$cells)) / law$cells
    expect_lt(max(abs(mean / size - 1)), 1e-4)
    expect_lt(law$rounding, 1e-3)
  }
  # many lots and a small epsilon: fewer cells, never more of epsilon than stated
  expect_identical(law_of(epsilon = 1e-3, draws = 999)$cells, 100)
  expect_error(law_of(epsilon = 1e-9), class = "riemdp_error_argument")
  for (epsilon in c(0.003, 0.1, 1, 30)) for (alpha in list(NULL, 0.01)) {
    law <- law_of(epsilon = epsilon, draws = 999, alpha = alpha)
    expect_lte(law$loss * 0.01 / law$scale + law$rounding, epsilon)
  }
})

# the largest loss over the cells of both laws
lost <- function(t, by, law) {
  w <- lapply(list(t, on_grid(t + by)), internal$law_weights, law = law)
  max(abs(log(w[[1]] / sum(w[[1]])) - log(w[[2]] / sum(w[[2]]))))
}

test_that("no neighbours' probabilities differ by more than exp(epsilon), and some do by nearly that: exactly, from the weights", {
  set.seed(3)
  n <- 1000
  for (epsilon in c(0.1, 1, 4)) for (alpha in list(NULL, 0.05, 0.5)) {
    law <- law_of(epsilon = epsilon, draws = n - 1, alpha = alpha)
    d <- 0.01 - 2^-40
    fixed <- law_of("fixed", epsilon = epsilon, draws = n - 1, alpha = alpha)
    worst <- c(0, 0)
    # three quarters below, one above, all of them moving apart or together, the first one against the most of them
    for (half in c(0.3, 1, 3)) for (share in c(0.25, 0.5, 0.75, 0.95)) for (sign in c(-1, 1)) for (first in c(-1, 1)) {
      k <- round(share * n)
      t <- on_grid(0.7 + c(first * 9 * law$scale, rep(c(-1, 1) * half * law$scale, c(k, n - 1 - k))))
      by <- sign * d * c(-1, rep(c(1, -1), c(k, n - 1 - k)))
      worst[1] <- max(worst[1], lost(t, by, law), lost(t, by * c(-1, rep(1, n - 1)), law))
      worst[2] <- max(worst[2], lost(t, c(d, rep(0, n - 1)), fixed))
    }
    for (try in 1:10) {
      t <- on_grid(0.3 + runif(n)^2 * sample(c(0.001, 0.1, 1), 1))
      worst[1] <- max(worst[1], lost(t, d * sample(c(-1, 1), n, TRUE), law), lost(t, d * ifelse(t > median(t), 1, -1), law))
      worst[2] <- max(worst[2], lost(t, c(-d, rep(0, n - 1)), fixed))
    }
    expect_lte(worst[1], epsilon)
    expect_lte(worst[2], epsilon)
    expect_gt(worst[1], (if (is.null(alpha)) 0.93 else 0.85) * epsilon)
    expect_gt(worst[2], 0.98 * epsilon)
  }
})

test_that("cells are drawn with exactly these chances", {
  w <- c(5, 0, 1, 2^20, 2^21)
  draws <- with_simulation(4, replicate(4000, .Call(internal$riemdp_weighted_cell, w, TRUE)))
  expect_false(2 %in% draws)
  expect_lt(abs(mean(draws == 4) - 1 / 3), 5 * sqrt(2 / 9 / 4000))
  few <- with_simulation(5, replicate(4000, .Call(internal$riemdp_weighted_cell, c(1, 2, 3), TRUE)))
  expect_gt(stats::chisq.test(tabulate(few, 3), p = 1:3 / 6)$p.value, 1e-6)
  expect_identical(.Call(internal$riemdp_weighted_cell, c(0, 2^53, 0), FALSE), 2)
  for (bad in list(0, -1, 0.5, NaN, Inf, 2^54, c(2^53, 1), double(), "a", 1L)) {
    expect_error(.Call(internal$riemdp_weighted_cell, bad, FALSE), class = "riemdp_error_argument")
  }
})

# ---- statistics --------------------------------------------------------------------------------------------------------

test_that("kernels are those of the definition, positive definite, and statistics those of dense matrices", {
  for (name in names(TESTED)) {
    M <- TESTED[[name]]
    n <- 24
    x <- with_simulation(6, mf_random(M, n))
    ask <- asked_test(M, n, sizes = c(7, 9, 8), bandwidth = 0.7)
    z <- vectors_of(ask, x)
    d <- switch(ask$kernel$kind, gaussian = as.matrix(stats::dist(z)), as.matrix(mf_dist_matrix(M, x)))
    # the distance of the Gaussian kernels, by other means
    rows <- as.matrix(mf_points(x, M))
    each <- function(f) lapply(seq_len(n), function(i) f(matrix(rows[i, ], M$param[1])))
    own <- switch(name, line = , plane = , log = as.matrix(mf_dist_matrix(M, x)), affine = as.matrix(mf_dist_matrix(spd(3, "logeuclidean"), x)),
                  hermitian = as.matrix(stats::dist(t(apply(x, 3, function(a) { # of the logarithms' entries
                    e <- eigen(a, symmetric = TRUE)
                    l <- as.vector(e$vectors %*% (log(e$values) * Conj(t(e$vectors))))
                    c(Re(l), Im(l))
                  })))),
                  bures = , frames = , canonical = as.matrix(stats::dist(rows)),
                  subspaces = as.matrix(stats::dist(t(simplify2array(each(function(a) as.vector(a %*% t(a))))))),
                  shapes = sqrt(2) * sin(as.matrix(mf_dist_matrix(M, x))), d)
    expect_equal(unname(d), unname(own), tolerance = 1e-7, label = name)
    expect_lte(max(d), ask$kernel$diameter)
    K <- if (ask$kernel$kind == "gaussian") exp(-d^2 / (2 * 0.7^2)) else exp(-d / 0.7)
    expect_gt(min(eigen(K, TRUE, TRUE)$values), -1e-10)
    expect_gte(2 - 2 * min(K), 0)
    expect_lte(2 - 2 * min(K), ask$kernel$apart)
    P <- function(g) {
      Z <- outer(g, 1:3, `==`)
      Z %*% diag(1 / colSums(Z)) %*% t(Z) - 1 / n
    }
    lots <- with_simulation(1, cbind(rep(1:3, ask$sizes), matrix(rep(1:3, ask$sizes)[internal$orders_by_lot(n, 99)], n)))
    true <- apply(lots, 2, function(g) sqrt(sum(P(g) * K) / n))
    expect_lt(max(abs(statistics_of(ask, x) - true)), 1e-4, label = name)
    # whole numbers: records in another order with their labels have the same statistic, to the last bit
    turn <- c(seq(1, n, 2), seq(2, n, 2))
    again <- with_simulation(1, internal$group_statistics(vectors_of(ask, x)[turn, , drop = FALSE], rep(1:3, ask$sizes)[turn], ask$kernel, 99))
    expect_identical(again[1], statistics_of(ask, x)[1])
    # pairs
    y <- with_simulation(7, mf_random(M, n))
    ask <- asked_test(M, n, "paired", bandwidth = 0.7)
    both <- if (is.null(dim(x))) c(x, y) else if (length(dim(x)) == 3) array(c(x, y), dim(x) * c(1, 1, 2)) else if (is.complex(x)) cbind(x, y) else rbind(x, y)
    z <- vectors_of(ask, both)
    d <- if (ask$kernel$kind == "gaussian") as.matrix(stats::dist(z)) else as.matrix(mf_dist_matrix(M, both))
    K <- if (ask$kernel$kind == "gaussian") exp(-d^2 / (2 * 0.7^2)) else exp(-d / 0.7)
    signs <- with_simulation(1, cbind(1, 1 - 2 * internal$sides_by_lot(n, 99)))
    true <- apply(signs, 2, function(s) sqrt(sum(outer(c(s, -s), c(s, -s)) * K)) / n)
    expect_lt(max(abs(statistics_of(ask, x, y) - true)), 1e-4, label = name)
  }
  # rounding keeps it positive semidefinite with what is put on the diagonal
  z <- matrix(seq(0, 1, length.out = 40), 1)
  values <- outer(1:40, 1:40, Vectorize(function(i, j) {
    if (i == j) return(1)
    .Call(internal$riemdp_kernel_sums_nonprivate, z[, c(i, j), drop = FALSE], NULL, "gaussian", 3, matrix(0L, 2, 1))$within[1] * 2^-28
  }))
  expect_lt(min(eigen(values, TRUE, TRUE)$values), -1e-10) # it needs that
  slack <- asked_test(euclidean(1), 40, bandwidth = 3)$kernel$slack
  expect_gte(min(eigen(values + diag(slack, 40), TRUE, TRUE)$values), 0)
  expect_lt(slack, 1e-6)
  expect_lt(max(abs(values - exp(-outer(z[1, ], z[1, ], `-`)^2 / 18))), 2^-29 + 1e-12)
})

test_that("one record moves every statistic by no more than is said, and some by nearly that", {
  for (name in names(TESTED)) {
    M <- TESTED[[name]]
    n <- 12
    points <- mf_points(with_simulation(8, mf_random(M, n + 1)), M)
    hard <- list(points, points[c(rep(1, n), 2)], points[c(rep(1, 6), rep(2, 6), 3)])
    for (sizes in list(c(6, 6), c(3, 9), c(2, 4, 6))) for (x in hard) for (j in c(1, 12)) {
      ask <- asked_test(M, n, sizes = sizes, bandwidth = 0.5, draws = 199)
      one <- statistics_of(ask, x[seq_len(n)])
      two <- statistics_of(ask, x[replace(seq_len(n), j, n + 1)])
      expect_lte(max(abs(one - two)), planned(ask)$sensitivity)
    }
    ask <- asked_test(M, n, "paired", bandwidth = 0.5, draws = 199)
    a <- points[rep(1, n)]
    b <- points[rep(2, n)]
    at <- c(2, rep(1, n - 1))
    moved <- abs(statistics_of(ask, a, b) - statistics_of(ask, points[at], points[3 - at]))
    expect_lte(max(moved), planned(ask)$sensitivity)
  }
  # nearly: features at right angles, one of a smallest group
  far <- matrix(c(rep(0, 12), 40), 13)
  for (sizes in list(c(6, 6), c(3, 9))) {
    ask <- asked_test(euclidean(1), 12, sizes = sizes)
    moved <- abs(statistics_of(ask, far[1:12]) - statistics_of(ask, far[c(13, 2:12)]))
    expect_gt(max(moved), 0.999 * planned(ask)$sensitivity)
  }
  ask <- asked_test(euclidean(1), 12, "paired")
  moved <- abs(statistics_of(ask, rep(0, 12), rep(40, 12)) - statistics_of(ask, c(40, rep(0, 11)), c(0, rep(40, 11))))
  expect_gt(max(moved), 0.999 * planned(ask)$sensitivity)
  # a ball, and a bounded space: opposite ends
  ask <- asked_test(euclidean(1), 12, radius = 1, center = 5, bandwidth = 2)
  moved <- abs(statistics_of(ask, rep(-9, 12)) - statistics_of(ask, c(30, rep(4, 11))))
  expect_lte(max(moved), planned(ask)$sensitivity)
  expect_gt(max(moved), 0.999 * planned(ask)$sensitivity)
  expect_lt(planned(ask)$sensitivity, 0.65 * planned(asked_test(euclidean(1), 12))$sensitivity)
  pole <- matrix(c(0, 0, 1), 12, 3, byrow = TRUE)
  other <- pole * c(-1, rep(1, 11))
  ask <- asked_test(sphere(2), 12, bandwidth = 2)
  moved <- abs(statistics_of(ask, pole) - statistics_of(ask, other))
  expect_lte(max(moved), planned(ask)$sensitivity)
  expect_gt(max(moved), 0.999 * planned(ask)$sensitivity)
  # straight distances of records in a ball: as far as is said at most, and on spheres and of shapes as far as that
  for (space in list(sphere(2), kendall(5), grassmann(4, 2), stiefel(4, 2), stiefel(4, 2, "canonical"), hyperbolic(2))) for (r in c(0.1, 0.5)) {
    points <- mf_points(with_simulation(8, mf_random(space, 12)), space)
    o <- points[1]
    d <- mf_facts(space)$dimension
    ends <- mf_points(mf_exp(space, o, mf_from_coords(space, o, matrix(c(1.2 * r, -1.2 * r, rep(0, 2 * (d - 1))), 2))), space)
    ask <- asked_test(space, 14, radius = r, center = o, kernel = "gaussian", bandwidth = r)
    apart <- max(stats::dist(vectors_of(ask, c(points, ends))))
    expect_lte(apart, ask$kernel$diameter * (1 + 1e-6))
    expect_gt(apart, (if (space$name %in% c("sphere", "kendall", "hyperboloid")) 0.99999 else 0.45) * ask$kernel$diameter)
    moved <- abs(statistics_of(ask, ends[rep(1, 14)]) - statistics_of(ask, ends[c(2, rep(1, 13))]))
    expect_lte(max(moved), planned(ask)$sensitivity)
  }
  for (space in list(hyperbolic(2), spd(2))) { # moved to the ball by themselves
    o <- if (space$name == "hyperboloid") c(1, 0, 0) else diag(2)
    ends <- mf_points(mf_exp(space, o, mf_from_coords(space, o, matrix(c(5, -5, rep(0, 2 * (mf_facts(space)$dimension - 1))), 2))), space)
    ask <- asked_test(space, 12, radius = 1, bandwidth = 1)
    moved <- abs(statistics_of(ask, ends[rep(1, 12)]) - statistics_of(ask, ends[c(2, rep(1, 11))]))
    expect_lte(max(moved), planned(ask)$sensitivity)
    expect_gt(max(moved), 0.999 * planned(ask)$sensitivity)
  }
  # signs and directions
  ask <- asked_test(sphere(2), 12, "uniform")
  moved <- abs(statistics_of(ask, pole) - statistics_of(ask, other))
  expect_lte(max(moved), planned(ask)$sensitivity)
  expect_gt(moved[1], 0.999 * planned(ask)$sensitivity)
  expect_identical(max(moved[-1]), 0)
  ask <- asked_test(sphere(2), 12, "symmetric", at = c(0, 0, 1), radius = 0.5)
  side <- matrix(c(1, 0, 0), 12, 3, byrow = TRUE)
  moved <- abs(statistics_of(ask, side) - statistics_of(ask, side * c(-1, rep(1, 11))))
  expect_lte(max(moved), planned(ask)$sensitivity)
  expect_gt(moved[1], 0.999 * planned(ask)$sensitivity)
})

# ---- size and power ----------------------------------------------------------------------------------------------------

# Kolmogorov's distance of `runs` uniform numbers is above this with a probability below 1e-6 (Massart 1990)
uniform_enough <- function(p, label) {
  p <- sort(p)
  n <- length(p)
  expect_lt(max(seq_len(n) / n - p, p - (seq_len(n) - 1) / n), sqrt(log(2e6) / (2 * n)), label = label)
}

test_that("p-values are uniform under every null hypothesis", {
  runs <- if (quick()) 80 else 400
  around <- function(M, n) if (M$name == "kendall") mf_random(M, n) else mf_random(M, n, sd = 0.3)
  for (M in list(sphere(2), spd(3), kendall(10))) {
    fresh <- function() around(M, 18)
    p <- with_simulation(9, replicate(runs, dp_test(fresh(), M, epsilon = 2, group = rep(1:2, 9), bandwidth = 0.5, draws = 99)$p.value))
    uniform_enough(p, label_of(M))
  }
  M <- sphere(2)
  cases <- list(
    three = function() dp_test(around(M, 15), M, epsilon = 5, group = rep(1:3, c(3, 5, 7)), draws = 99),
    paired = function() dp_test(around(M, 12), M, epsilon = 5, y = around(M, 12), null = "paired", draws = 99),
    symmetric = function() dp_test(around(M, 12), M, epsilon = 5, null = "symmetric", at = c(0, 0, 1), radius = 0.5, draws = 99),
    uniform = function() dp_test(mf_project(M, matrix(stats::rnorm(36), 12)), M, epsilon = 5, null = "uniform", draws = 99),
    sharp = function() dp_test(around(M, 12), M, epsilon = 1e4, group = rep(1:2, 6), draws = 99)
  )
  at_pole <- identical(round(mean(with_simulation(1, around(M, 500))[, 3]), 1), 1)
  for (name in setdiff(names(cases), if (!at_pole) "symmetric")) uniform_enough(with_simulation(10, replicate(runs, cases[[name]]()$p.value)), name)
  # all records alike: statistics are 0, and p is noise
  alike <- function() dp_test(rep(1, 8), euclidean(1), epsilon = 1, group = rep(1:2, 4), bandwidth = 1, draws = 99)$p.value
  uniform_enough(with_simulation(11, replicate(runs, alike())), "alike")
  rejected <- with_simulation(12, replicate(runs, dp_test(around(M, 12), M, epsilon = 1, group = rep(1:2, 6), alpha = 0.2, draws = 99)$reject))
  expect_gt(stats::binom.test(sum(rejected), runs, 0.2)$p.value, 1e-6)
})

test_that("what is far from the null hypothesis is rejected, and noise is as small as it may be", {
  n <- 400
  M <- sphere(2)
  set.seed(13)
  turn <- function(x, angle) x %*% rbind(c(cos(angle), 0, -sin(angle)), c(0, 1, 0), c(sin(angle), 0, cos(angle)))
  x <- mf_exp(M, c(0, 0, 1), cbind(matrix(stats::rnorm(2 * n, sd = 0.3), n), 0))
  y <- turn(x, 0.3)
  small <- function(...) expect_lt(dp_test(..., draws = 199)$p.value, 0.02)
  expect_true(dp_test(x, M, epsilon = 3, y = y, bandwidth = 0.7, alpha = 0.05, draws = 199)$reject)
  small(x, M, epsilon = 3, y = y, bandwidth = 0.7)
  small(x, M, epsilon = 3, y = y, null = "paired", bandwidth = 0.7)
  small(y, M, epsilon = 3, null = "symmetric", at = c(0, 0, 1), radius = 0.8)
  small(x, M, epsilon = 3, null = "uniform")
  # spread alone
  small(0.1 * stats::rnorm(n), euclidean(1), epsilon = 3, y = stats::rnorm(n), radius = 2)
})

# ---- releases ----------------------------------------------------------------------------------------------------------

test_that("a test's release says what it is, costs what it says, and holds public numbers only", {
  M <- sphere(2)
  x <- with_simulation(14, mf_random(M, 30))
  ledger <- dp_ledger(NULL, 2)
  r <- dp_test(x, M, epsilon = 1, group = rep(1:2, 15), ledger = ledger, draws = 99)
  g <- guarantee(r)
  expect_identical(c(g$label, g$numerics, g$adjacency), c("pure", "lattice", "replace-one"))
  expect_identical(class(r), c("riemdp_test", "htest", "riemdp_release"))
  expect_identical(r$value, r$p.value)
  expect_identical(r$p.value, round(1e4 * r$p.value) / 1e4)
  expect_null(r[["statistic"]])
  expect_identical(r$data.name, "30 records in 2 groups on sphere S^2 in R^3")
  expect_identical(r$budget$cost[["epsilon"]], 1)
  expect_equal(r$draws$epsilon, 1, tolerance = 1e-3)
  expect_lte(r$draws$epsilon, 1)
  expect_equal(9 / 4 * r$sensitivity / r$scale, 1, tolerance = 1e-3)
  expect_output(print(r), "p-value = .*lots = 99")
  expect_output(print(r), "-DP")
  expect_output(print(r), "protects one row, not its group")
  expect_output(explain(r), "integer\\s+arithmetic")
  expect_identical(dim(tidy(r)), c(1L, 6L))
  expect_identical(tidy(r)$p.value, r$p.value)
  expect_identical(glance(r)$n, 30L)
  d <- dp_test(x, M, epsilon = 1, group = rep(1:2, 15), alpha = 0.1, draws = 99)
  expect_identical(d$p.value, NA_real_)
  expect_identical(d$value, d$reject)
  expect_equal(2 * d$sensitivity / d$scale, 1, tolerance = 1e-3)
  expect_output(print(d), "rejected at level 0.1")
  expect_equal(dp_test(x, M, epsilon = 1, null = "uniform", draws = 99)$scale, 2 / 30, tolerance = 2e-3)
  # a column of labels, and two vectors of points
  frame <- data.frame(a = x[, 1], b = x[, 2], c = x[, 3], who = rep(c("u", "v"), 15))
  expect_identical(dp_test(frame, M, epsilon = 1, group = "who", draws = 99)$members, c(15L, 15L))
  expect_identical(dp_test(mf_points(x, M), epsilon = 1, y = mf_points(x[1:4, ], M), draws = 99)$members, c(30L, 4L))
  # refused from public facts, and nothing spent
  no <- function(..., class = "argument") expect_error(dp_test(..., ledger = ledger), class = paste0("riemdp_error_", class))
  no(x, M, epsilon = 1)
  no(x, M, epsilon = 1, group = rep(1, 30))
  no(x, M, epsilon = 1, group = 1:29)
  no(x, M, epsilon = 1, group = c(NA, 1:29))
  no(x, M, epsilon = 1, group = rep(1:2, 15), y = x)
  no(x, M, epsilon = 1, group = rep(1:2, 15), alpha = 0.00005)
  no(x, M, epsilon = 1, group = rep(1:2, 15), draws = 10)
  no(x, M, epsilon = 1, group = rep(1:2, 15), at = c(0, 0, 1))
  no(x, M, epsilon = 1, group = rep(1:2, 15), bandwidth = 0)
  no(x, M, epsilon = 1, group = rep(1:2, 15), invalid = "center")
  no(x, M, epsilon = 1, group = rep(1:2, 15), radius = 1)
  no(wishart_spd[, , 1:30], spd(2, "bures"), epsilon = 1, group = rep(1:2, 15), radius = 1, bandwidth = 1, class = "unsupported")
  no(wishart_spd[, , 1:30], spd(2), epsilon = 1, group = rep(1:2, 15), kernel = "exponential", bandwidth = 1, class = "unsupported")
  no(x, M, epsilon = 1, group = rep(1:2, 15), wrong = 1)
  no(x, M, group = rep(1:2, 15))
  no(x, M, epsilon = 1, y = x[1:4, ], null = "paired", class = "shape")
  no(x, M, epsilon = 1, null = "symmetric")
  no(x, M, epsilon = 1, null = "symmetric", at = c(0, 0, 1))
  no(x, M, epsilon = 1, null = "symmetric", at = c(0, 0, 1), radius = 4)
  no(1:30, euclidean(1), epsilon = 1, group = rep(1:2, 15))
  no(1:30, euclidean(1), epsilon = 1, null = "uniform", class = "unsupported")
  no(chunks(x, 7), M, epsilon = 1, group = rep(1:2, 15), class = "unsupported")
  no(x, custom_sphere(2), epsilon = 1, group = rep(1:2, 15), class = "unsupported")
  no(x, M, epsilon = 1e-9, group = rep(1:2, 15))
  no(rep(0, 10001), euclidean(1), epsilon = 1, bandwidth = 1, group = rep(1:3, 3334)[1:10001], class = "unsupported")
  expect_identical(nrow(ledger_history(ledger)), 1L)
})

test_that("tests are total: few records, all alike, what is no point", {
  for (name in names(TESTED)) {
    M <- TESTED[[name]]
    points <- mf_points(with_simulation(15, mf_random(M, 6)), M)
    same <- points[rep(1, 4)]
    for (x in list(points[1:2], points[1:3], same)) {
      r <- dp_test(x, M, epsilon = 1, group = c(1, rep(2, length(x) - 1)), bandwidth = 1, draws = 99)
      expect_true(r$p.value > 0 && r$p.value <= 1)
    }
    expect_s3_class(dp_test(same, M, epsilon = 1, y = same, null = "paired", bandwidth = 1, draws = 99), "riemdp_test")
    expect_s3_class(dp_test(points[1], M, epsilon = 1, y = points[2], null = "paired", bandwidth = 1, draws = 99), "riemdp_test")
    for (x in list(points[1], same)) {
      expect_s3_class(dp_test(x, M, epsilon = 1, null = "symmetric", at = points[1], radius = 0.2, draws = 99), "riemdp_test")
    }
    # numbers that are no points, in each shape
    plain <- with_simulation(15, mf_random(M, 6))
    for (bad in c(NA, Inf, 1e300)) {
      y <- plain
      if (is.null(dim(y))) y[2] <- bad else if (length(dim(y)) == 3) y[1, 1, 2] <- bad else if (is.complex(y)) y[1, 2] <- bad else y[2, 1] <- bad
      for (null in c("equal", "paired", "symmetric")) {
        more <- switch(null, equal = list(group = rep(1:2, 3), bandwidth = 1, center = points[1]), paired = list(y = plain, bandwidth = 1, center = points[1]),
                       list(at = points[1], radius = 0.2))
        r <- do.call(dp_test, c(list(y, M, epsilon = 1, null = null, invalid = "center", draws = 99), more))
        expect_true(r$p.value > 0 && r$p.value <= 1, label = paste(name, bad, null))
      }
    }
  }
  y <- diag(3)[c(1, 2, 3, 1), ]
  y[2, ] <- NaN
  expect_s3_class(dp_test(y, sphere(2), epsilon = 1, null = "uniform", invalid = "center", center = c(0, 0, 1), draws = 99), "riemdp_test")
})
