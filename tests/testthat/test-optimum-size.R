# Private runs of any number of records. Draws of C are compared with the same draws by hand, at settings worked out here.

internal <- asNamespace("riemdp")
HUBER <- problem_huber(spd(2), 0.7)
run_of <- function(x, ..., epsilon = 1, problem = HUBER) {
  dp_optimize(problem, x, epsilon = epsilon, delta = 1e-6, start = diag(2), lr = 0.4, neighbours = "add_remove", ...)
}
some_spd <- function(n) wishart_spd[, , seq_len(n), drop = FALSE]
# a released number of so many, whatever there are
at_number <- function(count, expr) {
  with_internals(expr, noisy_count = function(n, ratio, proof) {
    internal$pay(internal$price_laplace(1, ratio[1] / ratio[2], proof))
    count
  })
}
# a run by hand, under the same seed
by_hand <- function(x, n, seed, ...) {
  settings <- utils::modifyList(list(sampling = "full", output = "last", batch = 1, lots = 0, rate = 1, clip = 0.7, inner = 0, snapshot_clip = 0.7,
                                     snapshot_sd = 0, snapshot_divisor = 1, paper = FALSE, restarts = 1, radius = 0, lr = 0.4, until = 1e12), list(...))
  with_simulation(seed, .Call(internal$riemdp_release_optimum, spd(2), x, "huber", 0.7, NULL, n, diag(2), NULL, settings, NULL, TRUE))$value
}
REST <- 0.95 # of epsilon, for the steps
MU <- internal$gaussian_mu(REST, 1e-6)

test_that("sums are divided by numbers that follow from the released one, and have the noise of one record more or less", {
  x <- some_spd(90)
  # two scales of 20 above what was released
  N <- 150 + 40
  run <- function(...) at_number(150, with_simulation(3, run_of(x, ...)))
  # all records
  r <- run(steps = 6)
  expect_identical(r$size[c("count", "points")], list(count = 150, points = N))
  sd <- sqrt(6) / MU * 0.7 / N
  expect_equal(r$sd, sd, tolerance = 1e-9)
  expect_equal(r$value, by_hand(x, 90, 3, steps = 6, divisor = N, sd = r$sd), tolerance = 1e-13)
  expect_equal(run(steps = 6, restarts = 2)$sd, sqrt(2) * sd, tolerance = 1e-9)
  # batches: each record by itself with rate b/N
  r <- run(steps = 6, method = "rsgd", batch = 19)
  z <- r$noise_multiplier
  expect_equal(r$sd, z * 0.7 / 19, tolerance = 1e-12)
  event <- function(z) event_compose(event_poisson(19 / N, event_gaussian(z)), times = 6)
  expect_lte(as.double(dp_epsilon(event(z), 1e-6, "pld")), REST)
  expect_gt(as.double(dp_epsilon(event(z / 1.003), 1e-6, "pld")), REST)
  expect_equal(r$value, by_hand(x, 90, 3, sampling = "poisson", rate = 19 / N, steps = 6, divisor = 19, sd = r$sd), tolerance = 1e-13)
  expect_identical(r$sampling, "poisson")
  # N follows, and with it the batch and the steps
  r <- run(method = "rsgd", epochs = 2)
  expect_identical(c(r$batch, r$steps), c(ceiling(N / 50), ceiling(2 * N / ceiling(N / 50))))
  # ten lots
  r <- run(steps = 23, method = "rsgd", batch = 19, sampling = "disjoint")
  expect_equal(r$sd, sqrt(3) / MU * 0.7 / 19, tolerance = 1e-9)
  expect_equal(r$value, by_hand(x, 90, 3, sampling = "disjoint", lots = 10, rate = 19 / N, steps = 23, divisor = 19, sd = r$sd), tolerance = 1e-13)
  expect_equal(run(steps = 23, restarts = 2, method = "rsgd", batch = 19, sampling = "disjoint")$sd, sqrt(6) / MU * 0.7 / 19, tolerance = 1e-9)
  # snapshots
  r <- run(steps = 8, inner = 4, method = "rsvrg", batch = 19, clip = c(0.6, 0.3), split = 1.5)
  z <- r$noise_multiplier
  expect_equal(c(r$sd, r$snapshot_sd), c(z * 0.3 / 19, 1.5 * z * 0.6 / N), tolerance = 1e-12)
  event <- function(z) event_compose(event_compose(event_gaussian(1.5 * z), times = 2), event_compose(event_poisson(19 / N, event_gaussian(z)), times = 8))
  expect_lte(as.double(dp_epsilon(event(z), 1e-6, "pld")), REST)
  expect_gt(as.double(dp_epsilon(event(z / 1.003), 1e-6, "pld")), REST)
  expect_equal(r$value, by_hand(x, 90, 3, sampling = "poisson", rate = 19 / N, steps = 8, inner = 4, divisor = 19, sd = r$sd, clip = 0.3,
                                snapshot_clip = 0.6, snapshot_sd = r$snapshot_sd, snapshot_divisor = N), tolerance = 1e-13)
  expect_identical(run(method = "rsvrg", epochs = 1)$steps, ceiling(N / 10))
  # few by the released number: no fewer than one scale; a batch of more than N takes all
  few <- at_number(-1000, with_simulation(3, run_of(x, steps = 2, method = "rsgd", batch = 30)))
  expect_identical(few$size$points, 20)
  expect_equal(few$sd, sqrt(2) / MU * 0.7 / 30, tolerance = 1e-3)
  # units
  of <- rep(1:30, 3)
  r <- run(steps = 3, unit = of)
  expect_equal(r$sd, sqrt(3) / MU * 0.7 / N, tolerance = 1e-9)
  expect_equal(r$value, by_hand(x, 90, 3, steps = 3, divisor = N, sd = r$sd, units = internal$unit_rows(list(of = of, count = 30L))), tolerance = 1e-13)
  # principal components
  z <- as.matrix(iris[1:4])
  r <- at_number(150, with_simulation(4, dp_pca(z, 1, 1, 1e-6, 8, mechanism = "rgd", neighbours = "add_remove")))
  expect_equal(r$sd, sqrt(20) / MU * 64 / N, tolerance = 1e-9)
  expect_identical(c(r$n, r$size$points), c(NA, N))
})

test_that("sums of snapshots and of differences are divided by the numbers stated, not by how many there are", {
  # five records at 1, start 0, step .1: a snapshot's sum over 10 is -.5; in the second step each record adds .05, over 8
  settings <- list(sampling = "poisson", output = "last", steps = 2, batch = 1, lots = 0, rate = 1, divisor = 8, clip = 9, sd = 0, inner = 2, snapshot_clip = 9,
                   snapshot_sd = 0, snapshot_divisor = 10, paper = FALSE, restarts = 1, radius = 0, lr = 0.1, until = 2)
  r <- .Call(internal$riemdp_release_optimum, euclidean(1), rep(1, 5), "frechet", 1, NULL, 5, 0, NULL, settings, NULL, FALSE)
  expect_equal(as.numeric(r$value), 0.05 + 0.1 * (0.5 - 0.05 * 5 / 8), tolerance = 1e-12)
})

test_that("the noise of a run is about half of that for a public number of records, and so is its error", {
  x <- some_spd(1000)
  public <- dp_optimize(HUBER, x, 1, 1e-6, start = diag(2), lr = 0.4)
  ours <- at_number(960, run_of(x))
  expect_identical(ours$size$points, 1000)
  expect_equal(ours$sd / public$sd, 0.5 * internal$gaussian_mu(1, 1e-6) / MU, tolerance = 1e-9)
  expect_lt(ours$sd / public$sd, 0.53)
})

# records that a callback is asked for, a list with a vector for each step, of n records in steps by lot
drawn_lots <- function(n, seed, ...) {
  seen <- list()
  fun <- function(p, which) {
    seen[[length(seen) + 1]] <<- which
    matrix(0, 2, length(which))
  }
  settings <- utils::modifyList(list(sampling = "disjoint", output = "last", batch = 1, clip = 1, sd = 0, inner = 0, snapshot_clip = 1, snapshot_sd = 0,
                                     snapshot_divisor = 1, divisor = 1, paper = FALSE, restarts = 1, radius = 0, lr = 0.1, until = 1e12), list(...))
  with_simulation(seed, .Call(internal$riemdp_release_optimum, euclidean(1), NULL, "callback", 1, fun, n, 0, NULL, settings, NULL, TRUE))
  seen
}

test_that("a record is in each lot with its rate, in one at most of an epoch, and in new ones in the next", {
  # 3 lots of rate .3, 200 records, an epoch a call: 60,000 places
  n <- 200
  k <- if (quick()) 60 else 300
  lots <- lapply(seq_len(k), function(i) drawn_lots(n, i, lots = 3, rate = 0.3, steps = 3))
  where <- vapply(lots, function(parts) {
    expect_length(parts, 3)
    at <- rep(0, n)
    for (t in 1:3) {
      expect_true(all(at[parts[[t]]] == 0) && !anyDuplicated(parts[[t]])) # in one at most
      at[parts[[t]]] <- t
    }
    at
  }, numeric(n))
  expect_gt(stats::chisq.test(table(factor(where, 0:3)), p = c(0.1, 0.3, 0.3, 0.3))$p.value, 1e-6)
  # two records' lots are independent, neighbours in the list and far apart
  for (j in c(2, 100)) {
    pairs <- table(factor(where[seq(1, n - j, 2 * j), ], 0:3), factor(where[seq(1, n - j, 2 * j) + j, ], 0:3))
    expect_gt(stats::chisq.test(pairs, simulate.p.value = TRUE, B = 1e5)$p.value, 1e-5)
  }
  # sizes are binomial
  sizes <- vapply(lots, function(parts) lengths(parts) + 0, numeric(3))
  expect_lt(abs(mean((sizes - 60)^2) / 42 - 1), 5 * sqrt(2 / (3 * k)) * 1.1)
  # two epochs: new lots; lots whose rates add up to 1 leave no record out
  two <- drawn_lots(n, 1, lots = 4, rate = 0.25, steps = 8)
  expect_setequal(unlist(two[1:4]), seq_len(n))
  expect_setequal(unlist(two[5:8]), seq_len(n))
  expect_length(unlist(two), 2 * n)
  expect_lt(length(intersect(two[[1]], two[[5]])), 40)
  # runs that are repeated begin a new epoch
  again <- drawn_lots(n, 1, lots = 4, rate = 0.25, steps = 2, restarts = 3)
  for (j in c(1, 3, 5)) expect_false(anyDuplicated(unlist(again[j + 0:1])) > 0)
  expect_gt(length(intersect(again[[1]], unlist(again[3:6]))), 0)
  expect_error(drawn_lots(n, 1, lots = 5, rate = 0.25, steps = 2), class = "riemdp_error_argument")
  # a state within an epoch is of lots that nobody has any more
  state <- c(0, 2, 8, rep(0, 5))
  go <- function(lots, step) {
    settings <- list(sampling = "disjoint", output = "last", batch = 1, lots = lots, rate = 0.25, clip = 1, sd = 0, inner = 0, snapshot_clip = 1,
                     snapshot_sd = 0, snapshot_divisor = 1, divisor = 1, paper = FALSE, restarts = 1, radius = 0, lr = 0.1, steps = 8, until = 8)
    .Call(internal$riemdp_release_optimum, euclidean(1), cos(1:9), "frechet", 1, NULL, 9, 0, NULL, settings, replace(state, 2, step), FALSE)$value
  }
  expect_error(go(4, 2), "state", class = "riemdp_error_argument")
  expect_length(go(4, 4), 1)
})

test_that("a run of a private number of records costs what it says, and says what it promises", {
  x <- some_spd(200)
  ways <- list(list(), list(steps = 4, restarts = 2), list(method = "rsgd", steps = 5, batch = 20),
               list(method = "rsgd", sampling = "disjoint", batch = 20, steps = 5), list(method = "rsvrg", batch = 20, inner = 3, steps = 6),
               list(unit = rep(1:100, 2)), list(epochs = 2))
  for (way in ways) {
    ledger <- dp_ledger(NULL, 1.001, 1e-4, adjacency = "add-remove")
    r <- do.call(run_of, c(list(x, ledger = ledger), way))
    g <- guarantee(r)
    expect_identical(c(g$label, g$adjacency), c("approx", "add-remove"))
    expect_identical(c(g$epsilon, g$delta), c(1, 1e-6))
    expect_identical(g$unit, if (is.null(way$unit)) "row" else "unit")
    expect_true(any(grepl("is private", g$assumptions)) && !any(grepl("number of (records|units) is public", g$assumptions)))
    expect_equal(unlist(r$draws[1, c("sensitivity", "epsilon")], use.names = FALSE), c(1, 0.05), tolerance = 1e-9)
    # all of it is used, and the events say no less
    spent <- if (r$draws$mu[2] > 0) internal$gdp_epsilon(r$draws$mu[2], 1e-6) else r$draws$epsilon[2]
    expect_lte(spent, REST * (1 + 1e-9))
    expect_gt(spent, REST * 0.997)
    told <- as.double(dp_epsilon(r$event, 1e-6))
    expect_lte(told, 1 + 1e-6)
    expect_gt(told, 0.8)
    expect_equal(summary(ledger)$spent[1], 1, tolerance = 0.02)
    expect_identical(ledger_history(ledger)$what, paste0("dp_optimize ", if (!is.null(way$epochs)) "auto" else r$mechanism,
                                                         if (!is.null(way$unit)) ", unit unit"))
    expect_true(is.na(r$n))
    expect_match(format(r), "and whether it is there", all = FALSE)
    expect_match(format(r)[1], sprintf("about %.0f \\(as released", max(0, r$size$count)))
    said <- paste(utils::capture.output(explain(r)), collapse = " ")
    expect_match(said, "more or less moves the sum")
    expect_match(said, "N\\s+=\\s+[0-9]+\\s+follows")
    expect_true(is.na(summary(r)$n))
    # the number itself is told by chance only
    told <- c(r$size$count, r$size$points, riemdp:::size_interval(r, 0.95))
    if (!200 %in% told) expect_no_match(paste(c(said, format(r)), collapse = " "), "[^0-9.]200[^0-9.]")
  }
  expect_error(run_of(x, ledger = dp_ledger(NULL, 0.99, 1e-4, adjacency = "add-remove")), class = "riemdp_error_budget")
  expect_error(run_of(x, ledger = dp_ledger(NULL, 5, 1e-4)), class = "riemdp_error_adjacency")
  # steps with all records are Gaussians whatever the number: also for rules that know no delta
  ledger <- dp_ledger(NULL, 2, 1e-5, "zcdp", adjacency = "add-remove")
  r <- run_of(x, steps = 7, ledger = ledger)
  expect_equal(summary(ledger)$spent[1], 0.05^2 / 2 + MU^2 / 2, tolerance = 1e-3)
  expect_identical(r$event, r$budget$event)
})

test_that("steps that cost more than what was told are stopped", {
  # noise for 3 % more than there is
  x <- some_spd(60)
  for (way in list(list(steps = 3), list(steps = 3, method = "rsgd", batch = 10), list(steps = 3, method = "rsgd", batch = 10, sampling = "disjoint"))) {
    plan <- internal$plan_optimum
    expect_error(with_internals(do.call(run_of, c(list(x), way)), plan_optimum = function(ask) {
      out <- plan(ask)
      out$sd <- 0.97 * out$sd
      out
    }), class = "riemdp_error_contract")
  }
  expect_error(with_internals(run_of(x, steps = 2), keeps_promise = function(at, stated, ask) FALSE), class = "riemdp_error_contract")
})

test_that("any number of records is served alike, none too", {
  shape <- function(r) list(class(r), names(r), lapply(unclass(r)[c("value", "n", "size", "trace", "sd", "batch", "steps")],
                                                       function(part) rapply(list(part), typeof)))
  own <- problem(NULL, function(w, z) w - unlist(z), euclidean(2))
  table <- data.frame(a = cos(1:30), b = sin(1:30))
  ways <- list(list(method = "rgd"), list(method = "rsgd", batch = 4), list(method = "rsgd", sampling = "disjoint", batch = 4),
               list(method = "rsvrg", batch = 4, inner = 2))
  for (way in ways) {
    all <- lapply(c(0, 1, 30), function(n) do.call(run_of, c(list(some_spd(n), steps = 4, center = diag(2), radius = 1), way)))
    expect_identical(shape(all[[1]]), shape(all[[3]]), info = way$method)
    expect_identical(shape(all[[2]]), shape(all[[3]]), info = way$method)
    all <- lapply(c(0, 1, 30), function(n) {
      do.call(dp_optimize, c(list(own, table[seq_len(n), ], epsilon = 1, delta = 1e-6, start = c(0, 0), clip = 1, lr = 0.1, steps = 4,
                                  neighbours = "add_remove"), way))
    })
    expect_identical(shape(all[[1]]), shape(all[[3]]), info = way$method)
  }
  for (n in c(0, 1, 30)) {
    r <- dp_pca(as.matrix(iris[seq_len(n), 1:4]), 2, 1, 1e-6, 8, mechanism = "rgd", neighbours = "add_remove")
    expect_identical(dim(r$loadings), c(4L, 2L))
  }
  expect_s3_class(run_of(mf_points(some_spd(9), spd(2))[0], steps = 2), "riemdp_optimize")
  # units: none at all, one
  expect_s3_class(run_of(some_spd(0), steps = 2, unit = integer()), "riemdp_optimize")
  expect_s3_class(run_of(some_spd(9), steps = 2, unit = rep("a", 9)), "riemdp_optimize")
  # by a public rate as well
  rated <- function(n, ...) dp_optimize(HUBER, some_spd(n), 1, 1e-6, start = diag(2), lr = 0.1, steps = 3, method = "rsgd", sampling = "poisson", rate = 0.1,
                                        batch = 5, ...)
  expect_identical(shape(rated(0)), shape(rated(30)))
  # without records the sum is 0: noise alone
  none <- at_number(80, with_simulation(2, run_of(some_spd(0), steps = 1)))
  expect_lt(mf_dist(spd(2), none$value, diag(2)), 0.4 * 6 * none$sd)
  # a public number of them is one at least
  expect_error(dp_optimize(HUBER, some_spd(0), 1, 1e-6, start = diag(2)), class = "riemdp_error_shape")
})

test_that("whose neighbours a run is about is said, and what can't be is refused before anything is spent", {
  x <- some_spd(40)
  ledger <- dp_ledger(NULL, 100, 1e-3, pairs = TRUE)
  poisson <- function(...) dp_optimize(HUBER, x, 1, 1e-6, start = diag(2), lr = 0.4, steps = 2, method = "rsgd", sampling = "poisson", rate = 0.1, batch = 4,
                                       ledger = ledger, ...)
  refused <- function(expr, what, class = "riemdp_error_unsupported") {
    before <- nrow(ledger_history(ledger))
    expect_error(expr, what, class = class)
    expect_identical(nrow(ledger_history(ledger)), before)
  }
  # by a public rate nothing is released of the number, whether it is asked for by name or not
  for (r in list(poisson(), poisson(neighbours = "add_remove"))) {
    expect_identical(c(guarantee(r)$adjacency, r$sampling), c("add-remove", "poisson"))
    expect_null(r$size)
    expect_identical(nrow(r$draws), 1L)
    expect_match(paste(guarantee(r)$assumptions, collapse = "; "), "the rate is public")
  }
  refused(poisson(neighbours = "replace"), "one record more or less", "riemdp_error_argument")
  expect_identical(guarantee(dp_optimize(HUBER, x, 1, 1e-6, start = diag(2), steps = 2, neighbours = "replace"))$adjacency, "replace-one")
  ask <- function(...) run_of(x, ledger = ledger, ...)
  refused(ask(method = "rsgd", sampling = "without-replacement"), "fixed size")
  refused(ask(method = "rsvrg", sampling = "without-replacement"), "fixed size")
  refused(ask(epsilon = NULL, noise_multiplier = 3), "give `epsilon`")
  refused(ask(epsilon = NULL), "^`epsilon` is public and has no default", class = "riemdp_error_argument")
  refused(ask(calibration = "paper"), "paper")
  refused(ask(method = "rsgd", sampling = "poisson", batch = 3), "rate", "riemdp_error_argument")
  refused(ask(method = "rsgd", batch = 3, rate = 0.2), "rate", "riemdp_error_argument")
  refused(ask(method = "rsvrg", steps = 20), "give `inner`")
  refused(ask(method = "rsvrg", steps = 20, inner = 3), "multiple", "riemdp_error_argument")
  refused(ask(method = "rsgd", steps = 4, batch = 3, sampling = "disjoint", checkpoint = tempfile()), "checkpoint")
  refused(ask(epsilon = 1e-4), "too small", "riemdp_error_argument")
  refused(ask(neighbours = "both"), "formal argument|matched|neighbours", "error")
  refused(dp_optimize(HUBER, x, 1, 1e-6, start = diag(2), neighbours = "both", ledger = ledger), "neighbours", "riemdp_error_argument")
  refused(dp_optimize(HUBER, x, 1, 1e-6, start = diag(2), lr = function(t) 1 / t, neighbours = "add_remove", ledger = ledger), "give `steps`")
  refused(dp_optimize(HUBER, x, 1, 1e-6, start = diag(2), lr = c(0.1, 0.2), neighbours = "add_remove", ledger = ledger), "give `steps`")
  refused(run_of(chunks(x, 10), ledger = ledger), "in memory")
  refused(run_of(NULL, ledger = ledger, problem = problem(NULL, function(w) w, spd(2)), clip = 1), "in `data`")
  refused(ask(clip = 1e-320), "clip", "riemdp_error_argument")
  refused(ask(clip = 1e-285), "at least 1e-150", "riemdp_error_argument")
  refused(ask(epsilon = 2000), "whatever the number", "riemdp_error_argument")
  refused(ask(unit = replace(rep(1:4, 10), 3, NA)), "no unit", "riemdp_error_argument")
  refused(dp_pca(chunks(as.matrix(iris[1:4]), 50), 1, 1, 1e-6, 8, neighbours = "add_remove", ledger = ledger), "in memory")
  refused(dp_pca(as.matrix(iris[1:4]), 1, 1, 1e-6, 8, neighbours = "replace", sampling = "poisson", ledger = ledger), "more or less", "riemdp_error_argument")
})

test_that("whatever number comes out can be planned for", {
  for (way in list(list(method = "rgd"), list(method = "rsgd"), list(method = "rsgd", sampling = "disjoint"), list(method = "rsvrg"), list(epochs = 3),
                   list(method = "rsgd", batch = 1e6, epochs = 0.5))) {
    for (epsilon in if (quick()) 1 else c(0.02, 1, 20)) for (N in if (quick()) c(1, 1e8) else c(1, 57, 1e8)) {
      args <- utils::modifyList(list(method = "auto", sampling = c("without-replacement", "poisson", "disjoint")), way)
      ask <- internal$optimum_ask(HUBER, N, epsilon, 1e-6, args$method, diag(2), NULL, NULL, NULL, args$epochs, args$batch, args$sampling, NULL, NULL, NULL, 1,
                                  "last", NULL, NULL, NULL, "proven", TRUE)
      plan <- internal$plan_optimum(ask)
      g <- internal$optimum_guarantee(HUBER, ask, plan)
      expect_true(internal$keeps_promise(g, list(label = "approx"), list(epsilon = epsilon, whole_delta = 1e-6)), info = paste(way$method, epsilon, N))
      expect_true(is.finite(plan$sd) && plan$sd > 0 && ask$steps <= 1e8)
    }
  }
})

test_that("progress doesn't tell whether a batch is empty", {
  # 30 records at a rate of .05: the first batch is empty one time in five
  ticks <- lapply(1:20, function(seed) {
    observe(with_simulation(seed, dp_optimize(HUBER, some_spd(30), noise_multiplier = 3, delta = 1e-6, start = diag(2), lr = 0.1, steps = 2, method = "rsgd",
                                              sampling = "poisson", rate = 0.05, batch = 2)))$ticks
  })
  expect_gt(sum(ticks[[1]] == "0 of 2"), 0)
  expect_length(unique(lapply(ticks[-1], identity)), 1) # the first call prices its steps
})

test_that("\"auto\" decides by the released number, and says so", {
  P <- problem_frechet(spd(2))
  run <- function(count) at_number(count, dp_optimize(P, some_spd(60), 20, 1e-6, center = diag(2), radius = 1, clip = 1, epochs = 1, neighbours = "add_remove"))
  expect_identical(run(3)$mechanism, "rgd")
  many <- run(3000)
  expect_identical(many$mechanism, "rsgd")
  expect_equal(many$steps, internal$steps_needed(P, 1))
})

test_that("a run of a private number of records goes on once, with the same records, and keeps their number to itself", {
  x <- some_spd(37)
  ledger <- dp_ledger(NULL, 10, 1e-3, adjacency = "add-remove")
  for (way in list(list(steps = 40), list(steps = 40, method = "rsgd", batch = 9), list(steps = 40, inner = 4, method = "rsvrg", batch = 9))) {
    path <- tempfile(fileext = ".rds")
    go_on <- internal$continue_run
    times <- 0
    tryCatch(with_internals(
      do.call(run_of, c(list(x, ledger = ledger, checkpoint = path), way)),
      continue_run = function(run, input, until) {
        times <<- times + 1
        if (times > 2) signalCondition(structure(class = c("size_stop", "condition"), list()))
        go_on(run, input, until)
      }
    ), size_stop = function(e) NULL)
    saved <- readRDS(path)
    # the number itself is told by chance only
    if (!37 %in% unlist(saved$size)) expect_false(37 %in% unlist(rapply(unclass(saved), function(v) v, "numeric", how = "unlist")))
    expect_error(dp_resume(path, HUBER, x[, , -1], ledger), "aren.t those", class = "riemdp_error_argument")
    copy <- tempfile(fileext = ".rds")
    file.copy(path, copy)
    r <- dp_resume(path, HUBER, x, ledger)
    expect_identical(r$size$points, saved$size$points)
    expect_identical(names(r), names(do.call(run_of, c(list(x), way))))
    expect_identical(r$draws$epsilon[1], r$size$epsilon, tolerance = 1e-9)
    expect_identical(c(guarantee(r)$epsilon, nrow(r$trace)), c(1, 40))
    expect_error(dp_resume(copy, HUBER, x, ledger), class = "riemdp_error_ledger")
    # what was changed in its file is held to what was paid
    whole <- with_simulation(1, do.call(run_of, c(list(x), way)))
    expect_true(is.na(whole$n))
  }
  expect_identical(nrow(ledger_history(ledger)), 3L)
})
