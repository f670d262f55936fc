test_that("the adaptive mechanism is total, pure, and says its target", {
  M <- sphere(2)
  set.seed(3)
  x <- mf_exp(M, c(0, 0, 1), mf_from_coords(M, c(0, 0, 1), matrix(rnorm(400, sd = 0.05), 200)))
  r <- dp_mean(x, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive")
  g <- guarantee(r)
  expect_identical(g$label, "pure")
  expect_identical(g$epsilon, 1)
  expect_equal(sum(r$details$shares), 1)
  expect_gte(r$scale * r$details$shares[["mean"]], (r$sensitivity + r$solver_error) * (1 - 1e-9))
  expect_match(r$target, "released ball")
  expect_match(paste(capture.output(explain(r)), collapse = " "), "Stages, their budgets\\s+added: a ball that holds most records")
  expect_true(mf_is_point(M, r$value))
  bad <- x
  bad[3, ] <- NA
  bad[4, ] <- c(0, 0, -1)
  expect_s3_class(dp_mean(bad, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive", invalid = "center"), "riemdp_mean")
  expect_error(dp_mean(x, M, center = c(0, 0, 1), radius = 0.7, sigma = 1, mechanism = "adaptive"),
               class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive", options = list(shares = c(1, 1, 1))),
               class = "riemdp_error_argument")
  for (case in list(list(spd(2), diag(2), 1), list(spd(2, "bures"), diag(2), 0.25), list(grassmann(4, 2), diag(4)[, 1:2], 0.5),
                    list(kendall(5), exp(2i * pi * (1:5) / 5), 0.35), list(euclidean(1), 0, 5))) {
    y <- mf_exp(case[[1]], case[[2]], scale_records(case[[1]], unit_tangents(case[[1]], case[[2]], 30), case[[3]] / 4))
    expect_s3_class(dp_mean(y, case[[1]], 1, case[[2]], case[[3]], mechanism = "adaptive"), "riemdp_mean")
  }
})

test_that("the radius follows its law", {
  # one dimension, distances known: scores, and so the law of the index, by hand; chi-square at rate 1e-6
  M <- euclidean(1)
  x <- seq(0.05, 1, by = 0.05)
  radii <- c(2, 1, 0.5, 0.25)
  count <- vapply(radii, function(r) sum(x <= r + 1e-12), numeric(1))
  p <- exp(-0.5 * 0.4 * abs(count - 0.8 * 20))
  p <- p / sum(p)
  draws <- if (quick()) 500 else 6000
  seen <- with_simulation(2, replicate(draws, .Call(riemdp:::riemdp_release_radius, M, x, 0, radii + 1e-12, 16, riemdp:::as_ratio(0.4), TRUE)))
  expect_gt(suppressWarnings(stats::chisq.test(tabulate(seen, 4), p = p)$p.value), 1e-6)
})

test_that("a whole release chooses its radius with the radius' share of epsilon, and no more", {
  # the centre takes nearly all of a large epsilon, so that it is released where it is; the radius has .5 of 2,000. Its law by hand, twice
  # or half of that share is seen: chi-square at rate 1e-6
  M <- euclidean(1)
  x <- c(-1, 1) %o% (seq(0.05, 1, by = 0.05) - 0.02) # none where a radius of the grid ends
  total <- 2000
  shares <- c(1 - 0.5 / total - 0.1, 0.5 / total, 0.1)
  radii <- riemdp:::adaptive_grid(2)
  ask <- riemdp:::mean_ask(M, length(x), total, 0, 2, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list(shares = shares, fraction = 0.6))
  count <- vapply(radii / riemdp:::adaptive_margin(M, ask, 0.6), function(r) sum(abs(x) <= r), 0)
  law <- exp(-0.5 * 0.5 * abs(count - 0.6 * length(x)))
  ask <- function() dp_mean(as.vector(x), M, total, 0, 2, mechanism = "adaptive", options = list(shares = shares, fraction = 0.6))$details$released_radius
  draws <- if (quick()) 300 else 1000
  seen <- with_simulation(4, replicate(draws, which.min(abs(radii - ask()))))
  groups <- cut(seq_along(radii), c(0, 1, 2, 3, 4, 5, 25))
  law <- tapply(law, groups, sum) / sum(law)
  expect_gt(suppressWarnings(stats::chisq.test(table(groups[seen]), p = law)$p.value), 1e-6)
  for (wrong in c(0.5, 2)) {
    other <- exp(-0.5 * 0.5 * wrong * abs(count - 0.6 * length(x)))
    expect_lt(suppressWarnings(stats::chisq.test(table(groups[seen]), p = tapply(other, groups, sum) / sum(other))$p.value), 1e-4)
  }
})

test_that("where records are concentrated and many it beats one stage, and is never the default", {
  skip_if(quick())
  M <- euclidean(2)
  set.seed(8)
  x <- matrix(rnorm(2e4, sd = 0.02), ncol = 2) + 0.1
  error <- function(mechanism) with_simulation(4, mean(replicate(40, {
    sqrt(sum((dp_mean(x, M, 1, c(0, 0), pi / 8, mechanism = mechanism)$value - colMeans(x))^2))
  })))
  expect_lt(error("adaptive"), 0.5 * error("laplace")) # about .2
  expect_false(dp_mean(x, M, 1, c(0, 0), pi / 8)$mechanism == "adaptive")
})

test_that("records are moved into a ball one by one", {
  M <- sphere(2)
  out <- mf_to_ball(M, rbind(c(0, 0, 1), c(1, 0, 0), c(NA, 0, 0), c(0, 0, -1)), c(0, 0, 1), 0.5)
  expect_equal(out, rbind(c(0, 0, 1), c(sin(0.5), 0, cos(0.5)), c(0, 0, 1), c(0, 0, 1)))
  inside <- mf_to_ball(spd(2), wishart_spd[, , 1:50], diag(2), 0.4)
  expect_lte(max(mf_dist(spd(2), diag(2), inside)), 0.4 * (1 + 1e-12))
  expect_error(mf_to_ball(M, c(0, 0, 1), c(0, 0, 1), -1), class = "riemdp_error_argument")
})

test_that("a last stage can be served wherever the released centre lies", {
  # near the smallest eigenvalue no radius is left between curvature and rounding, for a thousand million records
  M <- spd(2, "bures")
  center <- diag(c(1, 0.005))
  radius <- 0.3 * sqrt(0.005)
  ask <- riemdp:::mean_ask(M, 1e9, 1, center, radius, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list())
  share <- riemdp:::plan_one(M, ask, "adaptive", error = FALSE)$shares[["mean"]]
  v <- mf_log(M, center, diag(c(1, 0.0025)))
  edge <- list(center = mf_exp(M, center, v * radius / mf_norm(M, center, v)), radius = radius / 2)
  expect_error(riemdp:::adaptive_stage(M, ask, share, edge), class = "riemdp_error_rounding")
  served <- riemdp:::adaptive_served(M, ask, share, edge)
  expect_identical(served, list(center = center, radius = radius))
  expect_gt(riemdp:::adaptive_stage(M, ask, share, served)$scale, 0)
})

# ---- the first stage -------------------------------------------------------------------------------------------------

# the law of place and radius by hand: rows for level and lattice point, the first for no ball, and their probabilities
place_law <- function(x, radius, levels, bonus, epsilon, slack = 13.75, first = 0, nothing = 0) {
  d <- ncol(x)
  rate <- epsilon / 2
  rows <- lapply(seq_len(levels) - 1, function(level) {
    s <- radius * 2^(-(first + level) / 2)
    last <- ceiling(4 * radius / s)
    step <- s / 2
    cells <- pmax(pmin(floor((x + radius) / step), last - 1), 0)
    k <- as.matrix(expand.grid(rep(list(0:last), d)))
    shadow <- function(j) vapply(k[, j], function(at) sum(cells[, j] >= at - 2 & cells[, j] < at + 2), 0)
    average <- rowMeans(matrix(vapply(seq_len(d), shadow, numeric(nrow(k))), ncol = d))
    p <- k * step - radius
    held <- apply(p, 1, function(at) sum(colSums((t(x) - at)^2) <= s^2 * (1 + 1e-9)))
    held[rowSums(p^2) > radius^2] <- -Inf
    score <- pmax(pmin(held, average), average - slack / rate)
    data.frame(s = s, p, log = rate * score + bonus * level)
  })
  out <- do.call(rbind, rows)
  none <- out[1, ]
  none[] <- c(rep(0, d + 1), nothing)
  out <- rbind(none, out)
  p <- exp(out$log - max(out$log))
  cbind(out, p = p / sum(p))
}

test_that("the place and its radius follow their law, and so does that there is none", {
  # a rejection sampler against all of its outcomes; chi-square at rate 1e-6. With little slack the floor of the score matters; with few bits
  # proposals are far from their weights, and the law must not be
  for (case in list(list(d = 1, epsilon = 1.5, slack = 13.75, first = 0, nothing = 0, bits = 48),
                    list(d = 2, epsilon = 2, slack = 13.75, first = 1, nothing = 11, bits = 48),
                    list(d = 2, epsilon = 2, slack = 1, first = 0, nothing = -20, bits = 48),
                    list(d = 2, epsilon = 1.5, slack = 1.4, first = 0, nothing = 10, bits = 2),
                    list(d = 1, epsilon = 1, slack = 13.75, first = 0, nothing = 7, bits = 1))) {
    set.seed(21)
    x <- matrix(rnorm(9 * case$d, 0.3, 0.15), 9)
    x[1, ] <- 2 / sqrt(case$d) # on the edge
    M <- euclidean(case$d)
    law <- place_law(x, 2, 5, 0.4, case$epsilon, case$slack, case$first, case$nothing)
    draws <- if (quick()) 1500 else 6000
    rate <- riemdp:::as_ratio(case$epsilon / 2)
    given <- if (case$d == 1) x[, 1] else x
    seen <- with_simulation(5, replicate(draws, .Call(riemdp:::riemdp_release_place, M, given, rep(0, case$d), 2, case$first, 5, 0.4,
                                                      case$nothing, case$slack, rate, riemdp:::place_growth(M, rate), case$bits, TRUE)))
    name <- function(table) do.call(paste, lapply(as.data.frame(table), function(z) sprintf("%.6f", round(z, 6) + 0)))
    at <- match(name(t(seen)), name(law[, seq_len(case$d + 1)]))
    expect_false(anyNA(at))
    if (case$nothing > 0) expect_gt(law$p[1], 0.2)
    many <- law$p * draws >= 8
    count <- tabulate(at, nrow(law))
    expect_gt(suppressWarnings(stats::chisq.test(c(count[many], sum(count[!many])), p = c(law$p[many], sum(law$p[!many])))$p.value), 1e-6)
  }
})

test_that("a replaced record changes no probability of place and radius by more than its epsilon, that of none by half, and worst neighbours by nearly that", {
  epsilon <- 1.5
  change <- function(x, y, nothing) abs(log(place_law(x, 2, 4, 0.4, epsilon, nothing = nothing)$p / place_law(y, 2, 4, 0.4, epsilon, nothing = nothing)$p))
  set.seed(22)
  ball <- none <- 0
  for (i in 1:20) {
    x <- matrix(runif(16, -1.4, 1.4), 8)
    if (i %% 2) x[-1, ] <- rep(c(1.3, 1.3), each = 7) else x[-1, ] <- x[rep(2, 7), ]
    y <- x
    y[1, ] <- runif(2, -1.4, 1.4)
    if (i == 1) {
      x[1, ] <- 1.3
      y[1, ] <- -1.3
    }
    for (nothing in c(-5, 4)) {
      loss <- change(x, y, nothing)
      ball <- max(ball, loss[-1])
      none <- max(none, loss[1])
    }
  }
  expect_lte(ball, epsilon * (1 + 1e-9))
  expect_gt(ball, 0.8 * epsilon) # half the rate for a replaced record is needed
  expect_lte(none, epsilon / 2 * (1 + 1e-9))
  expect_gt(none, 0.8 * epsilon / 2)
})

test_that("a whole release finds its place with the place's share of epsilon, and no more", {
  # most of the records in one place, the others at the edges: the law of the radius, by hand, and one that 1.5 times the share gives
  M <- euclidean(1)
  x <- c(rep(0.1, 24), rep(c(-1.9, 1.9), 8))
  share <- 0.1
  total <- 10
  shares <- list(shares = c(share, 0, 0, 1 - share))
  ask <- riemdp:::mean_ask(M, 40, total, 0, 2, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6, shares)
  how <- riemdp:::adaptive_shares(M, ask)
  of_radius <- function(epsilon) with(place_law(cbind(x), 2, how$levels, how$bonus / 2, epsilon, first = how$first, nothing = how$nothing), tapply(p, s, sum))
  law <- of_radius(share * total)
  expect_gt(law[[1]], 0.05)
  expect_lt(law[[1]], 0.95)
  draws <- if (quick()) 600 else 1500
  seen <- with_simulation(8, replicate(draws, {
    r <- dp_mean(x, M, total, 0, 2, mechanism = "adaptive", options = shares)
    if (r$details$none_found) 0 else r$details$released_radius
  }))
  seen <- tabulate(match(round(seen, 9), round(as.numeric(names(law)), 9)), length(law))
  expect_identical(sum(seen), as.integer(draws))
  expect_gt(suppressWarnings(stats::chisq.test(seen, p = law)$p.value), 1e-6)
  expect_lt(suppressWarnings(stats::chisq.test(seen, p = of_radius(1.5 * share * total))$p.value), 1e-6)
})

test_that("the first stage spends its share, half of it where it finds nothing, and what it leaves out is the last one's", {
  M <- euclidean(2)
  set.seed(23)
  narrow <- matrix(rnorm(2000, 0.5, 0.01), ncol = 2)
  wide <- matrix(runif(2000, -1.4, 1.4), ncol = 2)
  narrow <- with_simulation(6, dp_mean(narrow, M, 1, c(0, 0), 2, mechanism = "adaptive"))
  wide <- with_simulation(6, dp_mean(wide, M, 1, c(0, 0), 2, mechanism = "adaptive"))
  spent <- function(r) unlist(r$draws[grep("epsilon", names(r$draws))], use.names = FALSE)
  share <- narrow$details$shares
  expect_true(all(share > 0))
  expect_equal(spent(narrow), unname(share[c(1, 1:4)] * c(0.5, 0.5, 1, 1, 1)), tolerance = 1e-6)
  expect_lt(narrow$details$released_radius, 0.2)
  expect_false(narrow$details$none_found)
  expect_true(wide$details$none_found)
  expect_match(said(explain(wide)), "which found none", fixed = TRUE)
  expect_equal(wide$details$shares[["place"]], share[["place"]] / 2)
  expect_identical(unname(wide$details$shares[c("center", "radius")]), c(0, 0))
  expect_equal(spent(wide), unname(wide$details$shares[c("place", "mean")]), tolerance = 1e-6)
  expect_equal(sum(wide$details$shares), 1)
  expect_identical(wide$details$released_radius, 2)
  # whatever is found, at least 1/1.3 of epsilon is left where nothing is
  for (n in c(60, 100, 300, 1000, 1e5)) for (d in c(1, 3, 10)) {
    ask <- riemdp:::mean_ask(euclidean(d), n, 1, rep(0, d), 2, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list())
    shares <- riemdp:::adaptive_shares(euclidean(d), ask)$shares
    expect_gt(1 - shares[["place"]] / 2, 1 / 1.3)
    expect_gt(shares[["mean"]], 0.35)
  }
  # one stage with all of epsilon where a first one would find nothing
  few <- dp_mean(matrix(0.1, 20, 2), M, 1, c(0, 0), 2, mechanism = "adaptive", numerics = "real")
  expect_identical(unname(few$details$shares[1:3]), c(0, 0, 0))
  expect_equal(few$scale, dp_mean(matrix(0.1, 20, 2), M, 1, c(0, 0), 2, mechanism = "laplace", numerics = "real")$scale, tolerance = 1e-9)
})

test_that("with a delta the last stage is Gaussian where that is expected to be nearer, and only then the delta is promised", {
  set.seed(26)
  d <- 40
  x <- matrix(rnorm(4000 * d, 0.05, 0.001), ncol = d)
  ask <- function(x, d, delta) dp_mean(x, euclidean(d), 1, rep(0, d), 1, delta = delta, mechanism = "adaptive")
  wide <- with_simulation(10, ask(x, d, 1e-6))
  expect_true(wide$details$last %in% c("gaussian", "wrapped_gaussian"))
  released <- ask(x, d, 1e-6)
  g <- guarantee(released)
  expect_identical(g$label, "approx")
  expect_identical(g[c("epsilon", "delta")], list(epsilon = 1, delta = 1e-6))
  draws <- released$draws
  expect_lte(riemdp:::gaussian_delta(sum(draws$mu), 1 - sum(draws$epsilon)), 1e-6 * (1 + 1e-6))
  # the same draws of the first stage, hence the same ball
  pure <- with_simulation(10, ask(x, d, 0))
  expect_identical(pure$details$released_radius, wide$details$released_radius)
  expect_lt(wide$expected_error, pure$expected_error)
  expect_equal(confint(released)$level, 0.95)
  # few dimensions
  pure <- ask(x[, 1:2], 2, 1e-6)
  expect_true(pure$details$last %in% c("laplace", "wrapped"))
  expect_identical(guarantee(pure)$label, "pure")
  expect_identical(guarantee(pure)$delta, 0)
  expect_identical(guarantee(ask(x, d, 0))$label, "pure")
})

test_that("units count once in all stages", {
  set.seed(27)
  M <- sphere(2)
  x <- mf_exp(M, c(0, 0, 1), mf_from_coords(M, c(0, 0, 1), matrix(rnorm(2400, 0.1, 0.01), ncol = 2)))
  unit <- rep(seq_len(400), 3)
  inside <- mf_to_ball(M, x, c(0, 0, 1), 0.7)
  means <- t(vapply(1:400, function(u) frechet_mean(inside[unit == u, ], M)$mean, numeric(3)))
  by_unit <- with_simulation(3, dp_mean(x, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive", unit = unit))
  alone <- with_simulation(3, dp_mean(means, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive"))
  expect_equal(by_unit$value, alone$value, tolerance = 1e-9)
  expect_identical(by_unit$details[c("shares", "released_radius")], alone$details[c("shares", "released_radius")])
  expect_gt(by_unit$details$shares[["place"]], 0)
  expect_match(confint(by_unit)$about, "units' means.*released", perl = TRUE)
})

test_that("its error is near that of one stage on a ball known to be tight, and with wide records not far above one stage's", {
  skip_if(quick())
  # medians: among 100 data sets one may fail
  error <- function(n, d, spread, reps) {
    M <- euclidean(d)
    set.seed(24)
    middle <- rep(0.5 / sqrt(d), d)
    errors <- with_simulation(7, replicate(reps, {
      x <- sweep(matrix(rnorm(d * n, sd = spread), n), 2, middle, "+")
      r <- dp_mean(x, M, 1, rep(0, d), 1, mechanism = "adaptive")
      c(sqrt(sum((r$value - colMeans(x))^2)), 2 * d / n * sqrt(max(colSums((t(x) - colMeans(x))^2))))
    }))
    median(errors[1, ] / errors[2, ])
  }
  expect_lt(error(600, 6, 1e-3, 100), 2.2) # 1.7
  expect_lt(error(600, 6, 1e-4, 60), 2.4) # 1.8
  expect_lt(error(300, 3, 1e-3, 100), 2.5) # 2
  expect_lt(error(1000, 1, 1e-3, 100), 1.6) # 1.1
  M <- euclidean(6)
  set.seed(25)
  one <- with_simulation(9, rowMeans(replicate(100, {
    x <- matrix(rnorm(3600, sd = 1 / 3), 600)
    inside <- colMeans(mf_to_ball(M, x, rep(0, 6), 1))
    far <- function(how) sqrt(sum((dp_mean(x, M, 1, rep(0, 6), 1, mechanism = how, numerics = "real")$value - inside)^2))
    c(far("adaptive"), far("laplace"))
  })))
  expect_lt(one[1], 1.4 * one[2]) # 1.2
})

test_that("what takes as many trials as records ask for is no part of a call in constant time", {
  M <- euclidean(2)
  x <- matrix(rep(c(0.1, 0.2), each = 500), 500)
  constant <- function(...) dp_mean(x, M, 1, c(0, 0), 2, mechanism = "adaptive", timing = "constant", ...)
  expect_identical(constant()$details$shares[["place"]], 0)
  expect_error(constant(options = list(shares = c(0.1, 0.1, 0.1, 0.7))), class = "riemdp_error_unsupported")
  expect_gt(dp_mean(x, M, 1, c(0, 0), 2, mechanism = "adaptive")$details$shares[["place"]], 0)
})

# ---- a private number of records -------------------------------------------------------------------------------------

test_that("the first stage is left out where its trials may take long, unless it is asked for", {
  share <- function(d, ...) {
    plan <- dp_mean(matrix(0, 5000, d), euclidean(d), 1, numeric(d), 1, mechanism = "adaptive", ...)
    plan$details$shares[["place"]]
  }
  expect_gt(share(20), 0)
  expect_identical(share(21), 0)
  expect_identical(share(2, max_trials = 1e5), 0)
  expect_gt(share(2, max_trials = 1e6), 0)
  expect_gt(share(21, options = list(shares = c(0.2, 0.1, 0.1, 0.6))), 0)
  place <- function(d, ...) dp_ball(matrix(0, 5000, d), euclidean(d), 1, numeric(d), 1, ...)$shares[["place"]]
  expect_gt(place(20), 0)
  expect_identical(place(21), 0)
})

test_that("a record more or less changes no probability of place and radius, nor that of none, by more than the rate, which worst neighbours nearly do", {
  rate <- 0.9
  law <- function(x, nothing) place_law(x, 2, 4, 0.4, 2 * rate, nothing = nothing)$p
  set.seed(31)
  most <- c(ball = 0, none = 0)
  for (i in 1:20) {
    x <- matrix(runif(16, -1.4, 1.4), 8)
    if (i %% 2) x[] <- rep(runif(2, -1.4, 1.4), each = 8)
    for (nothing in c(-5, 6)) {
      loss <- log(law(x, nothing) / law(x[-1, ], nothing))
      expect_lte(max(loss[1]), 1e-9) # none is rarer with more records, never the other way round
      most <- pmax(most, c(max(abs(loss[-1])), abs(loss[1])))
    }
  }
  expect_true(all(most <= rate * (1 + 1e-9)))
  expect_true(all(most > 0.9 * rate)) # twice the rate, as the ways it costs would seem to allow, would lose twice as much
})

test_that("what is rare has its probability, however rare proposals take it to be", {
  # 40 records at one place, and so many empty places that each is proposed with the smallest number: their share of all by hand, in draws at
  # several sizes of these numbers. Poisson, 1e-7 each side
  M <- euclidean(1)
  x <- rep(0.3, 40)
  rate <- riemdp:::as_ratio(0.36)
  growth <- riemdp:::place_growth(M, rate)
  last <- 4 * 2^10
  k <- 0:last
  step <- 2 / last
  cell <- floor((0.3 + 1) / step)
  held <- cell >= k - 2 & cell < k + 2
  weight <- ifelse(!held, 1, ifelse(abs(k * step - 1 - 0.3) <= 2 * step, exp(0.36 * 40), exp(0.36 * 40 - 13.75)))
  share <- sum(weight[!held]) / sum(weight)
  draws <- 1e5
  for (bits in if (quick()) 16 else c(12, 16, 20, 24, 48)) {
    seen <- with_simulation(bits, replicate(draws, .Call(riemdp:::riemdp_release_place, M, x, 0, 1, 20, 1, 0, -50, 13.75, rate, growth, bits, TRUE)[2]))
    empty <- sum(abs(seen - 0.3) > 2^-8)
    expect_gt(stats::ppois(empty, share * draws), 1e-7)
    expect_gt(stats::ppois(empty - 1, share * draws, lower.tail = FALSE), 1e-7)
  }
})

test_that("stages draw by integers, with rates and weights that what is paid allows, and say where they don't", {
  set.seed(29)
  M <- sphere(2)
  north <- c(0, 0, 1)
  x <- mf_exp(M, north, mf_from_coords(M, north, matrix(rnorm(800, sd = 0.02), 400)))
  numerics <- function(r) guarantee(r)$numerics
  r <- dp_mean(x, M, 1, north, 0.7, mechanism = "adaptive")
  expect_identical(numerics(r), "lattice")
  expect_gt(r$details$shares[["place"]], 0)
  expect_identical(r$details$last, "wrapped")
  expect_output(explain(r), "All stages draw by integer")
  # what is released is a point of the last stage's lattice, at the ball that was found
  z <- mf_coords(M, r$details$released_center, mf_log(M, r$details$released_center, r$released %||% r$value)) * 2^r$details$k
  expect_lt(max(abs(z - round(z))), 1e-3)
  expect_identical(numerics(dp_mean(x, M, 1, north, 0.7, mechanism = "adaptive", neighbours = "add_remove")), "lattice")
  expect_identical(numerics(dp_mean(x, M, 1, north, 0.7, mechanism = "adaptive", numerics = "real")), "real-valued")
  timed <- function(...) dp_mean(x, sphere(2), 1, north, 0.7, mechanism = "adaptive", timing = "constant", delta = 1e-6, ...)
  expect_identical(numerics(timed()), "real-valued")
  expect_error(timed(numerics = "lattice"), "constant time", class = "riemdp_error_unsupported")
  # no rate above what is paid, that of the place with room for its weights
  for (d in c(1, 3, 40)) for (epsilon in c(1e-3, 0.3, 1 / 3, 7, 5000)) {
    M <- euclidean(d)
    rate <- riemdp:::place_rate(M, list(epsilon = epsilon), 0.31)
    paid <- min(0.31 * epsilon / 2, 400)
    expect_lte(rate[1] / rate[2], paid - d * 2^-38)
    expect_gt(rate[1] / rate[2], paid * (1 - 1e-5))
    expect_true(all(rate == round(rate)))
    off <- riemdp:::place_growth(M, rate) / exp(rate[1] / rate[2] / d) - 1
    expect_lt(off, -2^-42)
    expect_gt(off, -2^-40)
    rate <- riemdp:::stage_rate(epsilon)
    expect_lte(rate[1] / rate[2], epsilon)
    expect_gt(rate[1] / rate[2], epsilon * (1 - 1e-5))
  }
  # what can't be drawn is refused before anything is spent
  ledger <- dp_ledger(NULL, 10)
  # of the place also where many dimensions leave nothing of the growth of a weight
  thin <- 2 * (2^-30 * 1.05 + 3000 * 2^-38) / 0.2
  expect_error(dp_ball(matrix(0, 5, 3000), euclidean(3000), epsilon = thin, center = rep(0, 3000), radius = 1, shares = c(0.2, 0.4, 0.4), ledger = ledger),
               "no integer arithmetic", class = "riemdp_error_argument")
  expect_gte(riemdp:::place_growth(euclidean(3000), riemdp:::place_rate(euclidean(3000), list(epsilon = 1), 2^-24)), 1)
  expect_s3_class(timed(options = list(shares = c(0.5 - 1e-10, 1e-10, 0.5))), "riemdp_mean") # with doubles
  expect_identical(riemdp:::stage_rate(1e300), riemdp:::as_ratio(1e6))
  for (shares in list(c(1e-10, 0.2, 0.2, 0.6), c(0.3, 0.2, 1e-10, 0.5))) {
    expect_error(dp_mean(x, sphere(2), 1, north, 0.7, mechanism = "adaptive", options = list(shares = shares), ledger = ledger), "no integer arithmetic",
                 class = "riemdp_error_argument")
  }
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("with no records at all place and radius have their laws", {
  M <- euclidean(1)
  draws <- if (quick()) 1000 else 3000
  seen <- with_simulation(11, replicate(draws, .Call(riemdp:::riemdp_release_place, M, NULL, 0, 2, 0, 3, 0.4, 2, 13.75, c(3, 2), 1.5, 48, TRUE)))
  # levels have 5, 7 and 9 points, of which none lies outside, each of weight exp(0.4 level)
  law <- exp(c(2, 0.4 * c(0, 1, 2))) * c(1, 5, 7, 9)
  count <- tabulate(match(round(seen[1, ], 6), round(c(0, 2 * 2^(-(0:2) / 2)), 6)), 4)
  expect_identical(sum(count), as.integer(draws))
  expect_gt(stats::chisq.test(count[-3], p = law[-3] / sum(law[-3]))$p.value, 1e-6) # at the second level some points lie outside
  radius <- with_simulation(12, replicate(draws, .Call(riemdp:::riemdp_release_radius, M, NULL, 0, c(2, 1, 0.5), 7, c(3, 1), TRUE)))
  expect_gt(stats::chisq.test(tabulate(radius, 3))$p.value, 1e-6)
})

test_that("where the number of records is private the first stage has its share of what the size has left, once, and no more", {
  # the size takes so much that its noise is 0; the law of the radius by hand, as above, at a rate that is the whole share
  M <- euclidean(1)
  x <- c(rep(0.1, 24), rep(c(-1.9, 1.9), 8))
  share <- 0.05
  total <- 100
  options <- list(count = 0.9, shares = c(share, 0, 0, 1 - share))
  internals <- asNamespace("riemdp")
  ask <- internals$mean_ask(M, NA_real_, total, 0, 2, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6, options)
  ask <- internals$ask_at_size(internals$size_ask(M, ask), 40)
  how <- internals$adaptive_shares(M, ask)
  of_radius <- function(rate) with(place_law(cbind(x), 2, how$levels, how$bonus / 2, 2 * rate, first = how$first, nothing = how$nothing), tapply(p, s, sum))
  rate <- share * 0.1 * total
  law <- of_radius(rate)
  expect_gt(law[[1]], 0.05)
  expect_lt(law[[1]], 0.95)
  draws <- if (quick()) 400 else 1500
  seen <- with_simulation(13, replicate(draws, {
    r <- dp_mean(x, M, total, 0, 2, mechanism = "adaptive", options = options, neighbours = "add_remove")
    c(if (r$details$none_found) 0 else r$details$released_radius, r$size$count)
  }))
  expect_true(all(seen[2, ] == 40))
  seen <- tabulate(match(round(seen[1, ], 9), round(as.numeric(names(law)), 9)), length(law))
  expect_identical(sum(seen), as.integer(draws))
  fits <- function(law) suppressWarnings(stats::chisq.test(seen, p = law)$p.value)
  expect_gt(fits(law), 1e-6)
  for (wrong in c(0.5, 1.7)) expect_lt(fits(of_radius(wrong * rate)), 1e-6)
})

test_that("with a private number of records prices add up, plans follow from the released number, and centres are the released ones", {
  set.seed(32)
  S <- sphere(2)
  flat <- list(M = euclidean(2), x = matrix(rnorm(2000, 0.5, 0.01), ncol = 2), center = c(0, 0), radius = 2)
  curved <- list(M = S, x = mf_exp(S, c(0, 0, 1), mf_from_coords(S, c(0, 0, 1), matrix(rnorm(2000, 0.1, 0.005), ncol = 2))), center = c(0, 0, 1), radius = 0.7)
  for (s in list(flat, curved)) for (delta in c(0, 1e-6)) {
    ask <- function(x, ...) dp_mean(x, s$M, 1, s$center, s$radius, delta = delta, mechanism = "adaptive", neighbours = "add_remove", ...)
    # a wide ball in about one release of a hundred: in none of four 1e-8
    for (i in 1:4) {
      r <- ask(s$x)
      if (r$details$released_radius < s$radius / 4) break
    }
    share <- r$details$shares
    g <- guarantee(r)
    expect_identical(g[c("epsilon", "delta", "adjacency")], list(epsilon = 1, delta = delta, adjacency = "add-remove"))
    expect_identical(r$n, NA_real_)
    expect_false(r$details$none_found)
    rest <- 1 - r$size$epsilon
    # one price of the place, not two halves
    pure <- r$draws$epsilon > 0
    expect_equal(r$draws$epsilon[pure], c(r$size$epsilon, share * rest)[pure], tolerance = 1e-6, ignore_attr = TRUE)
    expect_lte(sum(r$draws$epsilon), 1 + 1e-12)
    expect_equal(event_price(r$budget$event, "basic"), c(epsilon = 1, delta = delta), tolerance = 1e-9)
    expect_lt(r$details$released_radius, s$radius / 4)
    expect_identical(r$size$form, if (s$radius == 2) "sum" else if (r$size$shift > 0) "tail" else if (r$size$shift < 0) "plain" else "scaled")
    # the last mean is that of a private number of points in the released ball
    ball <- riemdp:::check_radius(s$M, r$details$released_radius, r$details$released_center)
    expect_equal(r$sensitivity, as.numeric(riemdp:::padded_sensitivity(r$size$points, ball, r$size$form)))
    expect_equal(r$size$reach, riemdp:::padded_reach(ball))
    expect_match(said(r), "released centre", fixed = TRUE)
    expect_match(said(explain(r)), "what the number of records has left", fixed = TRUE)
    expect_lt(mf_dist(s$M, r$value, frechet_mean(s$x, s$M)$mean), 0.01)
    # none found: the share once, and the rest is the last one's
    few <- ask(s$x[1:40, ], options = list(shares = c(0.2, 0.1, 0.1, 0.6)))
    if (few$details$none_found) expect_equal(few$details$shares[["place"]], 0.2)
    expect_lte(sum(few$draws$epsilon), 1 + 1e-12)
    # the same released number, the same plan, whatever the records' number is
    plan <- function(count) {
      a <- riemdp:::mean_ask(s$M, NA_real_, 1, s$center, s$radius, delta, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list())
      riemdp:::plan_size(s$M, riemdp:::size_ask(s$M, a), count)
    }
    expect_equal(plan(r$size$count)$details$fraction, r$details$fraction)
    expect_equal(sum(plan(r$size$count)$shares), 1)
  }
  # however many are released: what is given is served, and so is nothing
  for (count in c(-1e6, 0, 1, 1e5)) for (shares in list(NULL, c(0.5, 0.1, 0.1, 0.3))) {
    a <- riemdp:::mean_ask(S, NA_real_, 1, c(0, 0, 1), 0.7, 1e-6, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list(shares = shares))
    a <- riemdp:::size_ask(S, a)
    out <- with_simulation(14, riemdp:::release_size(S, curved$x[1:3, ], 3, a, count))
    expect_true(mf_is_point(S, out$value))
  }
})

test_that("a size that comes out too small costs delta once, and the last stage may have the tail", {
  d <- 100
  M <- hyperbolic(d)
  origin <- c(1, rep(0, d))
  a <- riemdp:::mean_ask(M, NA_real_, 1, origin, 1, 1e-6, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list(count = 0.3))
  a <- riemdp:::size_ask(M, a)
  # what delta is divided into: the tail, and noise
  expect_equal(a$size$tail + a$delta, 1e-6, tolerance = 1e-9)
  at <- riemdp:::ask_at_size(a, 5000)
  ball <- list(center = origin, radius = 1)
  stage <- riemdp:::adaptive_stage(M, at, 0.5, ball, a$delta)
  expect_identical(stage$ask$size$form, "tail")
  q <- exp(-1 / a$size$scale)
  expect_lte(q^stage$ask$size$shift / (1 + q), a$size$tail)
  expect_identical(stage$ask$n, 5000 + stage$ask$size$shift)
  # a stage without delta has none of it
  expect_true(riemdp:::adaptive_stage(M, at, 0.5, ball)$ask$size$form %in% c("scaled", "plain"))
})

test_that("groups are released each by itself where a record is there or isn't", {
  M <- euclidean(2)
  set.seed(33)
  x <- rbind(matrix(rnorm(2000, 0.5, 0.01), ncol = 2), matrix(rnorm(2000, -0.5, 0.01), ncol = 2))
  r <- dp_mean(x, M, 1, c(0, 0), 2, mechanism = "adaptive", neighbours = "add_remove", by = rep(c("a", "b"), each = 1000), levels = c("a", "b", "c"))
  expect_identical(names(r$groups), c("a", "b", "c"))
  expect_identical(guarantee(r)$epsilon, 1)
  for (g in r$groups) expect_lte(sum(g$draws$epsilon), 1 + 1e-12)
  expect_lt(max(abs(r$value$a - 0.5), abs(r$value$b + 0.5)), 0.05)
  expect_lt(abs(r$groups$c$size$count), 100) # an empty one is released like any other
})

test_that("with a private number of records it is as near as with a public one", {
  skip_if(quick())
  # over the noise of a tight ball, of a private number of records: r/n, half of that where a record is replaced
  ratio <- function(n, d, spread, reps) {
    M <- euclidean(d)
    set.seed(34)
    median(with_simulation(15, replicate(reps, {
      x <- sweep(matrix(rnorm(d * n, sd = spread), n), 2, rep(0.5 / sqrt(d), d), "+")
      r <- dp_mean(x, M, 1, rep(0, d), 1, mechanism = "adaptive", neighbours = "add_remove")
      sqrt(sum((r$value - colMeans(x))^2)) / (d / n * sqrt(max(colSums((t(x) - colMeans(x))^2))))
    })))
  }
  expect_lt(ratio(600, 6, 1e-3, 100), 2.2) # 1.7
  expect_lt(ratio(300, 3, 1e-3, 100), 2.7) # 2.1
  expect_lt(ratio(1000, 2, 1e-3, 100), 2) # 1.2
})
