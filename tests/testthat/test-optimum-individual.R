# Budgets of single records: a run takes more steps than it pays for, and each record counts as long as its own gradients are paid for. What
# records count with is read off runs without noise, in which each of them pulls along an axis of its own, and compared with plain R.

internal <- asNamespace("riemdp")

# one run in C; `lengths`: rows are records, columns steps; what each record counted with in each step. `clip` is that of the run.
counted <- function(lengths, k, clip = 1, restarts = 1, ..., seed = 1, sd = 0) {
  n <- nrow(lengths)
  seen <- list()
  fun <- function(p, which) {
    seen[[length(seen) + 1]] <<- p
    rbind(-diag(lengths[, length(seen)], n)[, which, drop = FALSE], 0)
  }
  settings <- list(sampling = "full", output = "last", steps = ncol(lengths) / restarts, batch = n, lots = 0, rate = 1, divisor = 1, clip = clip, sd = sd,
                   inner = 0, snapshot_clip = 1, snapshot_sd = 0, snapshot_divisor = 1, paper = FALSE, restarts = restarts, radius = 0, lr = 1,
                   until = 1e12, individual = k)
  end <- with_simulation(seed, .Call(internal$riemdp_release_optimum, euclidean(n), NULL, "callback", 1, fun, n, double(n), NULL, settings, NULL, TRUE))$value
  unname(diff(rbind(do.call(rbind, seen), end)))
}

# the same by hand
rationed <- function(length, k, clip) {
  left <- k
  vapply(length, function(a) {
    a <- min(a / clip, 1, sqrt(left))
    left <<- max(0, left - a^2)
    a * clip
  }, 0)
}

test_that("a record counts until its squared gradients are used up, whoever else does", {
  clip <- 0.7
  steps <- 24
  k <- 5
  set.seed(1)
  lengths <- rbind(long = rep(100, steps), clipped = clip, just = clip * sqrt(k / steps) * (1 - 1e-9), half = clip / 2, none = 0,
                   waves = clip * (1 + sin(1:steps)), late = rep(c(0, 9), c(steps - 4, 4)), matrix(stats::rexp(20 * steps), 20))
  got <- counted(lengths, k, clip)
  want <- unname(apply(lengths, 1, rationed, k, clip))
  # (numbers are read off positions up to 20)
  expect_lt(max(abs(got - want)), 1e-7) # what is left is a root: where it is 1e-15 the next step has 3e-8
  expect_lt(max(abs(got - want)[want > 1e-3]), 1e-12)
  # all steps of long ones, k of them; short ones miss none
  expect_equal(got[, 1:2], matrix(rep(c(clip, 0), c(k, steps - k)), steps, 2), tolerance = 1e-13)
  expect_equal(got[, 3], unname(lengths[3, ]), tolerance = 1e-13)
  expect_equal(got[, 4], rep(c(clip / 2, 0), c(4 * k, steps - 4 * k)), tolerance = 1e-7)
  expect_equal(got[, 7], unname(lengths[7, ] > 0) * clip, tolerance = 1e-13)
  # and never more than that
  expect_true(all(colSums(got^2) <= k * clip^2 * (1 + 1e-13)))
  # sums go on when a run begins anew
  for (restarts in c(2, 3)) expect_equal(counted(lengths, k, clip, restarts = restarts), got, tolerance = 1e-13)
  # as many steps as there are: nobody misses one
  expect_equal(counted(lengths, steps, clip), t(unname(pmin(lengths, clip))), tolerance = 1e-13)
})

test_that("what is too little for doubles to be seen in a sum is counted all the same", {
  # 1 and 1e5 times .81e-16, each less than half of the last digit of 1; then all that is left of 2
  many <- 1e5
  got <- counted(matrix(c(1, rep(0.9e-8, many), 5), 1), 2)
  last <- got[many + 2]
  expect_lt(last^2, 1 - 0.8e-16 * many)
  expect_gt(last^2, 1 - 1e-9)
})

test_that("records of many blocks and units of many rows have their own budgets", {
  # 100 records on a line, of which the last 60 are far away; in memory they come in blocks of 32
  M <- euclidean(1)
  x <- c(rep(0.2, 40), rep(50, 60))
  run <- function(x, k, steps, ..., units = NULL, n = length(x)) {
    settings <- list(sampling = "full", output = "last", steps = steps, batch = n, lots = 0, rate = 1, divisor = n, clip = 1, sd = 0, inner = 0,
                     snapshot_clip = 1, snapshot_sd = 0, snapshot_divisor = 1, paper = FALSE, restarts = 1, radius = 0, lr = 0.1, until = 1e12,
                     individual = k, units = units)
    as.numeric(.Call(internal$riemdp_release_optimum, M, x, "frechet", 1, NULL, length(x), 0, NULL, settings, NULL, TRUE)$value)
  }
  by_hand <- function(x, k, steps, of = seq_along(x)) {
    left <- rep(k, max(of))
    w <- 0
    for (t in seq_len(steps)) {
      g <- tapply(pmax(-1, pmin(1, w - x)), of, mean)
      g <- sign(g) * pmin(abs(g), sqrt(left))
      left <- pmax(0, left - g^2)
      w <- w - 0.1 * mean(g)
    }
    w
  }
  for (k in c(1, 3, 30)) expect_equal(run(x, k, 30), by_hand(x, k, 30), tolerance = 1e-9)
  # three units, their rows here and there, one of more rows than a block has
  of <- c(rep(1:2, 20), rep(2:3, 25), rep(2, 10))
  units <- internal$unit_rows(list(of = of, count = 3L))
  for (k in c(1, 4, 30)) expect_equal(run(x, k, 30, units = units, n = 3), by_hand(x, k, 30, of), tolerance = 1e-9)
})

# The loss of a transcript about two data sets: what it tells of the one against the other. Gradients are along a line, so everything of a step is
# its noisy gradient. `records`: functions of the iterate; the last one is z in one data set and z2 in the other.
transcript_losses <- function(runs, steps, k, others, z, z2, sd, twice = TRUE) {
  n <- length(others) + 1
  total <- 0
  losses <- vapply(seq_len(runs), function(i) {
    seen <- double(steps + 1)
    at <- 0
    fun <- function(p, which) {
      seen[at <<- at + 1] <<- p
      rbind(vapply(c(others, z), function(f) f(p), 0)[which], 0)
    }
    settings <- list(sampling = "full", output = "last", steps = steps, batch = n, lots = 0, rate = 1, divisor = n, clip = 1, sd = sd / n, inner = 0,
                     snapshot_clip = 1, snapshot_sd = 0, snapshot_divisor = 1, paper = FALSE, restarts = 1, radius = 0, lr = 1, until = 1e12, individual = k)
    seen[steps + 1] <- .Call(internal$riemdp_release_optimum, euclidean(1), NULL, "callback", 1, fun, n, 0, NULL, settings, NULL, TRUE)$value
    noisy <- -diff(seen) * n # sums
    mean_of <- function(records) {
      rowSums(vapply(records, function(f) {
        g <- vapply(seen[seq_len(steps)], f, 0)
        sign(g) * rationed(abs(g), k, 1)
      }, double(steps)))
    }
    one <- mean_of(c(others, z))
    two <- mean_of(c(others, z2))
    total <<- max(total, sum((one - two)^2))
    sum((noisy - two)^2 - (noisy - one)^2) / (2 * sd^2)
  }, 0)
  list(losses = losses, moved = total)
}

test_that("whole transcripts tell two data sets apart by no more than the price says, and by as much where gradients are long", {
  k <- 3
  mu <- 1
  sd <- 2 * sqrt(k) / mu # of the sum of gradients
  runs <- if (quick()) 1500 else 8000
  others <- list(function(w) w - 0.2, function(w) w + 1, function(w) 5)
  check <- function(z, z2, attained) {
    steps <- 12
    found <- with_simulation(8, transcript_losses(runs, steps, k, others, z, z2, sd))
    expect_lte(found$moved, 4 * k * (1 + 1e-12))
    if (attained) expect_equal(found$moved, 4 * k, tolerance = 1e-12)
    for (epsilon in c(0, 0.5, 1)) {
      told <- pmax(0, 1 - exp(epsilon - found$losses))
      error <- 5 * stats::sd(told) / sqrt(runs)
      expect_lt(mean(told), internal$gaussian_delta(mu, epsilon) + error)
      if (attained) expect_gt(mean(told), internal$gaussian_delta(mu, epsilon) - error)
    }
    # how much was told has its mean and its variance: of half of mu^2 and of mu^2
    if (attained) expect_lt(abs(mean(found$losses) - mu^2 / 2), 5 * mu / sqrt(runs))
  }
  check(function(w) 9, function(w) -9, TRUE)
  # as far apart, in a different way in each transcript: one that pulls when w is above 0, its opposite below; nothing else
  check(function(w) if (w > 0) 1 else 0.3, function(w) if (w > 0) -1 else -0.3, FALSE)
  check(function(w) 0.4 * sin(5 * w), function(w) if (w < -0.5) -8 else 0.2, FALSE)
  check(function(w) w - 3, function(w) w + 3, FALSE)
})

test_that("the noise, the price and the event are those of as many steps as are paid for", {
  M <- euclidean(400)
  n <- 6
  x <- matrix(0, n, 400)
  mu <- internal$gaussian_mu(2, 1e-6)
  run <- function(..., data = x) dp_optimize(problem_frechet(M), data, epsilon = 2, delta = 1e-6, start = double(400), clip = 0.5, lr = 1, ...)
  sd <- sqrt(4) / mu * 2 * 0.5 / n
  r <- run(steps = 9, individual = 4)
  expect_equal(r$sd, sd, tolerance = 1e-9)
  expect_equal(r$noise_multiplier, sqrt(4) / mu, tolerance = 1e-9)
  expect_identical(r$event, event_compose(event_gaussian(r$noise_multiplier), times = 4L, adjacency = "replace-one"))
  expect_equal(c(guarantee(r)$mu, r$draws$mu), c(mu, mu), tolerance = 1e-9)
  expect_identical(r$draws$proof, "optimisers.md, Individual budgets")
  expect_identical(guarantee(r)$epsilon, 2)
  expect_identical(c(r$steps, r$individual), c(9L, 4L))
  # noise by hand: its price
  by_hand <- dp_optimize(problem_frechet(M), x, delta = 1e-6, noise_multiplier = 3, start = double(400), clip = 0.5, lr = 1, steps = 3, restarts = 4,
                         individual = 7)
  expect_equal(guarantee(by_hand)$mu, sqrt(7) / 3, tolerance = 1e-9)
  expect_identical(by_hand$steps, 12L)
  # nine times noise, drawn, and nothing else: 4.6 % of its variance would be seen, nine steps' price would make it 9/4
  draws <- 60
  flat <- problem(NULL, function(w, z) 0 * z, M, batched = TRUE)
  one <- function(i) dp_optimize(flat, x, epsilon = 2, delta = 1e-6, start = double(400), clip = 0.5, lr = 1, steps = 9, individual = 4)$value
  y <- with_simulation(3, vapply(seq_len(draws), one, double(400)))
  expect_lt(abs(mean(y^2) / (9 * sd^2) - 1), 5 * sqrt(2 / (400 * draws)))
  # one record more or less: half the change
  r <- run(steps = 9, individual = 4, neighbours = "add_remove")
  expect_equal(r$sd, sqrt(4) / internal$gaussian_mu(0.95 * 2, 1e-6) * 0.5 / r$size$points, tolerance = 1e-9)
  # a ledger takes these steps' price
  ledger <- dp_ledger(NULL, 5, 1e-5, "zcdp")
  run(steps = 9, individual = 4, ledger = ledger)
  expect_equal(summary(ledger)$spent[1], mu^2 / 2, tolerance = 1e-9)
})

test_that("a run with a budget for all its steps is the run without budgets", {
  x <- wishart_spd[, , 1:90]
  run <- function(...) with_simulation(5, dp_optimize(problem_huber(spd(2), 0.7), x, 1, 1e-6, start = diag(2), lr = 0.4, ...))
  plain <- run(method = "rgd", steps = 6)
  budgets <- run(steps = 6, individual = 6)
  expect_identical(budgets$value, plain$value)
  budgets$individual <- NULL
  budgets$draws$proof <- plain$draws$proof
  expect_equal(unclass(budgets), unclass(plain), tolerance = 1e-13)
  expect_equal(run(steps = 3, restarts = 2, individual = 6)$value, run(steps = 3, restarts = 2)$value, tolerance = 1e-13)
  of <- rep(1:30, 3)
  expect_equal(run(steps = 6, individual = 6, unit = of)$value, run(steps = 6, unit = of)$value, tolerance = 1e-12)
  # with fewer, records are left out: with next to no noise the run stops where these were used up
  long <- function(...) {
    dp_optimize(problem_frechet(euclidean(1)), rep(1e6, 2000), delta = 1e-6, noise_multiplier = 0.02, start = 0, clip = 1, lr = 1, ...)$value
  }
  near <- function(value, want) expect_lt(abs(value - want), 6 * 0.02 * sqrt(12) * 2 / 2000)
  near(with_simulation(1, long(steps = 12)), 12)
  near(with_simulation(1, long(steps = 12, individual = 5)), 5)
  near(with_simulation(1, long(steps = 3, restarts = 4, individual = 5)), 5)
  near(with_simulation(1, long(steps = 12, individual = 5, unit = rep(1:1000, 2))), 5)
})

test_that("a release by budgets says what it promises and tells nobody's", {
  M <- euclidean(2)
  run <- function(x, ...) dp_optimize(problem_frechet(M), x, 1, 1e-6, start = c(0, 0), clip = 1, lr = 0.1, steps = 8, individual = 3, ...)
  near <- run(matrix(0, 50, 2))
  far <- run(matrix(1e3, 50, 2))
  shape <- function(r) list(class(r), names(r), rapply(unclass(r)[setdiff(names(r), c("value", "trace"))], identity, how = "unlist"), dim(r$trace))
  expect_identical(shape(near), shape(far))
  words <- function(r) {
    said <- paste(c(utils::head(format(r), 6), utils::capture.output(explain(r), print(summary(r)))), collapse = " ")
    gsub("\\s+", " ", said)
  }
  expect_identical(words(near), words(far))
  expect_match(words(near), "8 steps at the price of 3 \\(budgets of single records\\)")
  expect_match(words(near), "no more than 3 times the clip's square")
  expect_match(words(near), "that of 3 steps. Who has used up how much is secret")
  expect_match(words(run(matrix(0, 50, 2), unit = rep(1:25, 2))), "budgets of single units.*with which a unit counts")
  expect_identical(summary(near)$individual, 3)
  plain <- dp_optimize(problem_frechet(M), matrix(0, 50, 2), 1, 1e-6, start = c(0, 0), clip = 1, lr = 0.1, steps = 8)
  expect_identical(summary(plain)$individual, NA_real_)
  expect_false(grepl("budgets of", words(plain)))
})

test_that("what budgets aren't proven for is refused before anything is spent", {
  M <- spd(2)
  x <- wishart_spd[, , 1:40]
  ledger <- dp_ledger(NULL, 5, 1e-5)
  refused <- function(..., data = x, individual = 2, class = "riemdp_error_unsupported") {
    expect_error(dp_optimize(problem_frechet(M), data, 0.5, 1e-6, start = diag(2), clip = 1, lr = 0.3, individual = individual, ..., ledger = ledger),
                 "individual|batch|rate", class = class)
    expect_identical(nrow(ledger_history(ledger)), 0L)
  }
  refused(steps = 5, method = "rsgd", batch = 4)
  refused(steps = 5, method = "rsgd", batch = 40)
  refused(steps = 4, method = "rsvrg", inner = 2, batch = 4)
  refused(steps = 5, sampling = "disjoint", batch = 4)
  refused(steps = 5, sampling = "poisson", rate = 0.1, batch = 4)
  refused(steps = 5, data = chunks(x, 10))
  refused(steps = 5, data = sites(site(40, function(request) stop("not asked"))))
  refused(steps = 5, calibration = "paper")
  refused(steps = 5, checkpoint = tempfile())
  refused(steps = 5, batch = 4, class = "riemdp_error_argument")
  refused(steps = 5, rate = 0.1, class = "riemdp_error_argument")
  for (k in list(0, 6, 1.5, -1, NA, "2", 1:2, Inf)) refused(steps = 5, individual = k, class = "riemdp_error_argument")
  refused(steps = 5, restarts = 2, individual = 11, class = "riemdp_error_argument")
  all_of_them <- dp_optimize(problem_frechet(M), x, 0.5, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 5, restarts = 2, individual = 10)
  expect_identical(c(all_of_them$steps, all_of_them$individual), c(10L, 10L))
  # a checkpoint that was given a budget by hand doesn't go on
  path <- tempfile(fileext = ".rds")
  stopped <- problem(NULL, function(w, z) {
    calls <<- calls + 1
    if (calls == 30) signalCondition(structure(class = c("interrupt", "condition"), list()))
    -mf_log(M, w, z)
  }, M, batched = TRUE)
  calls <- 0
  tryCatch(dp_optimize(stopped, x, 0.5, 1e-6, start = diag(2), clip = 1, lr = 0.3, steps = 40, ledger = ledger, checkpoint = path), interrupt = identity)
  saved <- readRDS(path)
  saved$ask$individual <- 40
  saveRDS(saved, path)
  expect_error(dp_resume(path, stopped, x, ledger), "individual", class = "riemdp_error_unsupported")
  # nor does the solver take what has none
  go <- function(..., data = double(5), state = NULL) {
    settings <- utils::modifyList(list(sampling = "full", output = "last", steps = 4, batch = 2, lots = 0, rate = 1, divisor = 5, clip = 1, sd = 0.1,
                                       inner = 0, snapshot_clip = 1, snapshot_sd = 0.1, snapshot_divisor = 5, paper = FALSE, restarts = 2, radius = 0,
                                       lr = 0.1, until = 8, individual = 3), list(...))
    .Call(internal$riemdp_release_optimum, euclidean(1), data, "frechet", 1, NULL, 5, 0, NULL, settings, state, FALSE)$value
  }
  expect_length(go(), 1)
  bad <- function(...) expect_error(go(...), "individual", class = "riemdp_error_argument")
  bad(sampling = "without-replacement")
  bad(sampling = "poisson")
  bad(sampling = "disjoint")
  bad(inner = 2)
  bad(state = c(0, 2, 4, double(5)))
  bad(data = internal$problem_tally(problem_frechet(euclidean(1)), chunks(double(5), 2), TRUE))
  for (k in list(0, 2.5, "3", NA, 1e13)) bad(individual = k)
})
