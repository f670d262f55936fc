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
  draws <- if (quick()) 500 else 20000
  seen <- with_simulation(2, replicate(draws, .Call(riemdp:::riemdp_release_radius, M, x, 0, radii + 1e-12, 0.8, 0.4, TRUE)))
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
  draws <- if (quick()) 300 else 2000
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
  # a rejection sampler against all of its outcomes; chi-square at rate 1e-6. With little slack the floor of the score matters
  for (case in list(list(d = 1, epsilon = 1.5, slack = 13.75, first = 0, nothing = 0), list(d = 2, epsilon = 2, slack = 13.75, first = 1, nothing = 11),
                    list(d = 2, epsilon = 2, slack = 1, first = 0, nothing = -20))) {
    set.seed(21)
    x <- matrix(rnorm(9 * case$d, 0.3, 0.15), 9)
    x[1, ] <- 2 / sqrt(case$d) # on the edge
    M <- euclidean(case$d)
    law <- place_law(x, 2, 5, 0.4, case$epsilon, case$slack, case$first, case$nothing)
    draws <- if (quick()) 1500 else 20000
    given <- if (case$d == 1) x[, 1] else x
    seen <- with_simulation(5, replicate(draws, .Call(riemdp:::riemdp_release_place, M, given, rep(0, case$d), 2, case$first, 5, 0.4,
                                                      case$nothing, case$slack, case$epsilon, TRUE)))
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
  draws <- if (quick()) 600 else 3000
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
  few <- dp_mean(matrix(0.1, 20, 2), M, 1, c(0, 0), 2, mechanism = "adaptive")
  expect_identical(unname(few$details$shares[1:3]), c(0, 0, 0))
  expect_equal(few$scale, dp_mean(matrix(0.1, 20, 2), M, 1, c(0, 0), 2, mechanism = "laplace")$scale, tolerance = 1e-9)
})

test_that("with a delta the last stage is Gaussian where that is expected to be nearer, and only then the delta is promised", {
  set.seed(26)
  d <- 40
  x <- matrix(rnorm(4000 * d, 0.05, 0.001), ncol = d)
  ask <- function(x, d, delta) dp_mean(x, euclidean(d), 1, rep(0, d), 1, delta = delta, mechanism = "adaptive")
  wide <- with_simulation(10, ask(x, d, 1e-6))
  expect_identical(wide$details$last, "wrapped_gaussian")
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
    far <- function(how) sqrt(sum((dp_mean(x, M, 1, rep(0, 6), 1, mechanism = how)$value - inside)^2))
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
