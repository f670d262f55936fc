# The best of a secret number of private tries (R/dp-select.R; inst/proofs/accounting.md, section 4)

internal <- asNamespace("riemdp")

# the law of K that help states
number_law <- function(tries, shape) {
  p <- 1 / seq_len(tries)^(1 - shape)
  p / sum(p)
}

# of the best of K results with these masses, in the order of their scores
chosen_law <- function(masses, p) {
  most <- vapply(cumsum(masses), function(f) sum(p * f^seq_along(p)), 0)
  diff(c(0, most))
}

# a private function of no records
fake_release <- function(value, epsilon, adjacency = "replace-one", delta = 0, unit = "row") {
  g <- internal$of_units(internal$promise_of(list(epsilon = epsilon, delta = delta, reasons = NULL), "none", adjacency = adjacency),
                         if (unit != "row") unit)
  internal$release_private(list(
    entry = function(plan, ask) "fake", plan = function(ask) list(guarantee = g), answer = function(out, plan, ask, budget) out,
    draw = function(records, plan, ask, budget) {
      internal$pay(internal$price_laplace(epsilon, 1))
      internal$new_release(value, "riemdp_fake", guarantee = g)
    }
  ), list(), NULL)
}

test_that("the choice costs 2 + shape times a try, over all pairs of laws and numbers of tries, and nearly that", {
  for (shape in 0:1) for (tries in c(2, 3, 10, 1000)) for (epsilon in c(0.1, 1, 3)) {
    e <- exp(epsilon)
    for (i in 1:40) {
      # Q and Q' within a factor of each other: any tilt of masses, the best outcome a rare one
      q <- with_simulation(i, stats::rgamma(4, 0.5) + 1e-9)
      q[4] <- q[4] * c(1, 1e-3, 1e-6)[i %% 3 + 1]
      up <- c(i %% 2, (i %/% 2) %% 2, (i %/% 4) %% 2, 1)
      # Q'(up) = e Q(up) where that leaves masses, the others lower in proportion
      q <- q / sum(q)
      high <- sum(q[up == 1])
      factor <- min(e, (e + (1 - high) / high) / (1 + (1 - high) / high), 1 / high)
      low <- (1 - factor * high) / (1 - high)
      if (!is.finite(low) || low < 1 / e) next
      other <- q * ifelse(up == 1, factor, low)
      p <- number_law(tries, shape)
      loss <- max(abs(log(chosen_law(q, p) / chosen_law(other, p))))
      expect_lte(loss, (2 + shape) * epsilon * (1 + 1e-9))
    }
  }
  # nearly all of it: a rare result, likelier in one data set, below a better one that is likelier in the other
  for (shape in 0:1) for (epsilon in c(0.1, 1)) {
    rare <- function(top, here) c(1 - top - here, here, top)
    p <- number_law(20000, shape)
    loss <- log(chosen_law(rare(0.01 * exp(-epsilon), 1e-5 * exp(epsilon)), p) / chosen_law(rare(0.01, 1e-5), p))[2]
    expect_lt(loss, (2 + shape) * epsilon)
    expect_gt(loss, 0.98 * (2 + shape) * epsilon)
  }
})

test_that("a secret number takes the same short time whichever it is", {
  expect_true(internal$selection_number(1e5, 0) %in% 1:1e5)
  expect_identical(internal$one_by_weight(c(0, 0, 1, 0)), 3)
})

test_that("numbers of tries and candidates follow their laws, and the best of those that count is shown", {
  for (shape in 0:1) {
    counts <- with_simulation(10 + shape, tabulate(replicate(4000, internal$selection_number(6, shape)), 6))
    expect_gt(stats::chisq.test(counts, p = number_law(6, shape))$p.value, 1e-6)
  }
  masses <- c(0.1, 0.5, 0.25, 0.15)
  records <- list(candidates = c(1, 2), run = function(candidate, epsilon) fake_release(sample(4, 1, prob = masses), epsilon),
                  score = function(r, candidate) r$value)
  ask <- list(epsilon = 1, each = 1 / 3, shape = 1, count = 2, tries = 5, adjacency = "replace-one")
  out <- with_simulation(3, replicate(1500, {
    best <- internal$selection_estimator$draw(records, NULL, ask, NULL)
    c(best$release$value, best$which, best$score)
  }))
  expect_gt(stats::chisq.test(tabulate(out[1, ], 4), p = chosen_law(masses, number_law(5, 1)))$p.value, 1e-6)
  expect_gt(stats::chisq.test(tabulate(out[2, ], 2))$p.value, 1e-6)
  expect_identical(out[1, ], out[3, ])
})

test_that("all tries are made whatever their number, each with its share of epsilon, and the price is theirs", {
  made <- 0
  given <- numeric()
  run <- function(candidate, epsilon) {
    made <<- made + 1
    given <<- c(given, epsilon)
    dp_mean(cbind(1:9, 2), euclidean(2), epsilon, c(5, 2), candidate)
  }
  score <- function(r, candidate) -candidate
  for (shape in 0:1) {
    made <- 0
    given <- numeric()
    r <- dp_select(list(5, 6), run, score, 0.7, tries = 7, shape = shape)
    expect_identical(made, 8) # one rehearsed
    expect_true(all(given * (2 + shape) <= 0.7 & given * (2 + shape) > 0.7 * (1 - 1e-11)))
    expect_equal(sum(r$draws$epsilon) / 0.7, 1, tolerance = 1e-11)
    expect_lte(sum(r$draws$epsilon), 0.7)
    expect_equal(r$draws$sensitivity / r$draws$scale, (2 + shape) * given[1])
  }
  expect_identical(guarantee(r)$label, "pure")
  expect_identical(guarantee(r)$epsilon, 0.7)
  expect_length(r$value, 2)
  expect_true(r$candidate %in% 5:6 && r$score == -r$candidate)
  budget <- dp_ledger(NULL, 1)
  dp_select(list(5, 6), run, score, 0.7, ledger = budget)
  made <- 0
  expect_error(dp_select(list(5, 6), run, score, 0.7, ledger = budget), class = "riemdp_error_budget")
  expect_identical(made, 1)
  expect_identical(guarantee(with_simulation(1, dp_select(list(5, 6), run, score, 0.7)))$label, "none")
  alike <- lapply(1:2, function(i) with_simulation(1, dp_select(list(5, 6), run, score, 0.7))$value)
  expect_identical(alike[[1]], alike[[2]])
  expect_true(any(grepl("best of a secret number of tries", format(r), fixed = TRUE)))
  expect_output(explain(r), "Choice: the best of a secret number of tries", fixed = TRUE)
})

test_that("a try whose releases state something else is told in rehearsal and is the worst later", {
  budget <- dp_ledger(NULL, 1)
  for (bad in list(
    function(candidate, epsilon) fake_release(1, 1.0001 * epsilon), function(candidate, epsilon) fake_release(1, epsilon, delta = 1e-9),
    function(candidate, epsilon) fake_release(1, epsilon, "add-remove"), function(candidate, epsilon) fake_release(1, epsilon, unit = "patient"),
    function(candidate, epsilon) 3, function(candidate, epsilon) NULL,
    function(candidate, epsilon) old, function(candidate, epsilon) with_simulation(1, fake_release(1, epsilon)),
    function(candidate, epsilon) dp_mean(cbind(1:9, 2), euclidean(2), epsilon, c(5, 2), 6, ledger = budget)
  )) {
    old <- fake_release(1, 1e-3)
    e <- expect_error(dp_select(1:3, bad, function(r, candidate) 1, 1, ledger = budget), class = "riemdp_error_argument")
    expect_true(all(summary(budget)$spent == 0))
    n <- 0
    later <- function(candidate, epsilon) {
      n <<- n + 1
      if (n == 1) fake_release(1, epsilon) else bad(candidate, epsilon)
    }
    expect_error(dp_select(1:3, later, function(r, candidate) 1, 1), class = "riemdp_error_failed")
  }
  # a study of simulations takes no others
  leaky <- function(candidate, epsilon) fake_release(1, epsilon, delta = 1e-9)
  expect_error(with_simulation(1, dp_select(1:3, leaky, function(r, candidate) 1, 1)), class = "riemdp_error_argument")
  # two of which one is shown, in a run or by its score
  two <- function(candidate, epsilon) {
    fake_release(1, epsilon / 100)
    fake_release(1, epsilon)
  }
  one <- function(candidate, epsilon) fake_release(1, epsilon)
  expect_error(dp_select(1:3, two, function(r, candidate) 1, 1), class = "riemdp_error_failed")
  expect_error(dp_select(1:3, one, function(r, candidate) fake_release(1, 1e-3)$value, 1), class = "riemdp_error_failed")
  half <- function(candidate, epsilon) fake_release(epsilon, epsilon / 2)
  expect_length(dp_select(1:3, half, function(r, candidate) fake_release(1, r$value / 2)$value, 1)$value, 1)
  # groups are one release
  by_groups <- function(candidate, epsilon) {
    dp_mean(cbind(1:20, 2), euclidean(2), epsilon, c(5, 2), 6, by = rep(1:2, 10), levels = 1:2)
  }
  expect_s3_class(dp_select(1:2, by_groups, function(r, candidate) 1, 1, tries = 2), "riemdp_selection")
  # several releases that keep to it, and a choice within a choice
  both <- function(candidate, epsilon) {
    fake_release(1, 0.3 * epsilon)
    fake_release(2, 0.7 * epsilon)
  }
  expect_identical(dp_select(1:3, both, function(r, candidate) 1, 1)$value, 2)
  within <- function(candidate, epsilon) dp_select(1:2, both, function(r, candidate) 1, epsilon)
  expect_identical(dp_select(1:3, within, function(r, candidate) 1, 1, tries = 2)$value, 2)
  units <- dp_select(1:3, function(candidate, epsilon) fake_release(1, epsilon, "add-remove", unit = "patient"), function(r, candidate) 1, 1,
                     neighbours = "add_remove", unit = "patient")
  expect_identical(guarantee(units)[c("adjacency", "unit")], list(adjacency = "add-remove", unit = "patient"))
})

test_that("what fails is told by the choice's own outcome, not in rehearsal, whose noise is known", {
  fine <- function(candidate, epsilon) fake_release(1, epsilon)
  one <- function(r, candidate) 1
  for (score in list(function(r, candidate) NA_real_, function(r, candidate) "a", function(r, candidate) c(1, 2), function(r, candidate) stop("secret 81"))) {
    budget <- dp_ledger(NULL, 1)
    e <- expect_error(dp_select(1:3, fine, score, 1, ledger = budget), class = "riemdp_error_failed")
    expect_no_match(conditionMessage(e), "81")
    expect_true(any(summary(budget)$spent == 1))
  }
  e <- expect_error(dp_select(1:3, function(candidate, epsilon) stop("secret 81"), one, 1), class = "riemdp_error_failed")
  expect_no_match(conditionMessage(e), "81")
  # it ends at its first release, also where a run goes on after errors, and neither spends nor draws
  reached <- FALSE
  ask <- list(epsilon = 1, each = 1 / 3, adjacency = "replace-one")
  stubborn <- function(candidate, epsilon) {
    for (i in 1:3) tryCatch({
      fake_release(1, epsilon)
      reached <<- TRUE
    }, error = function(e) NULL)
    NULL
  }
  expect_silent(internal$selection_estimator$ready(list(candidates = 1, run = stubborn, score = one), NULL, ask))
  expect_false(reached)
  # a failed try is below all others
  n <- 0
  some <- function(candidate, epsilon) {
    n <<- n + 1
    if (n %% 2) stop("no") else fake_release(n, epsilon)
  }
  expect_true(dp_select(1:3, some, function(r, candidate) -Inf, 1, tries = 1000)$value >= 2)
})

test_that("what tries say is lost, and R's random numbers are as they were", {
  loud <- function(candidate, epsilon) {
    print("secret")
    message("secret")
    warning("secret")
    cat("secret", file = stderr())
    stats::runif(3)
    fake_release(1, epsilon)
  }
  set.seed(5)
  before <- .Random.seed
  said <- utils::capture.output(expect_silent(dp_select(1:3, loud, function(r, candidate) 1, 1)), type = "message")
  expect_identical(said, character())
  expect_identical(.Random.seed, before)
})

test_that("no progress of a try is shown, which would tell how many there were of which candidate", {
  ticks <- 0
  ticking <- function(candidate, epsilon) {
    internal$progress_tick(1, 2)
    fake_release(1, epsilon)
  }
  count <- function(done, of) ticks <<- ticks + 1
  with_internals(dp_select(1:2, ticking, function(r, candidate) 1, 1), progress_show = count)
  expect_identical(ticks, 0)
  with_internals(internal$progress_tick(1, 2), progress_show = count)
  expect_identical(ticks, 1)
})

test_that("arguments are checked", {
  run <- function(candidate, epsilon) fake_release(1, epsilon)
  score <- function(r, candidate) 1
  refused <- function(expr) expect_error(expr, class = "riemdp_error_argument")
  refused(dp_select(list(), run, score, 1))
  refused(dp_select(sum, run, score, 1))
  refused(dp_select(1:2, run, score, 5e-324))
  registerS3method("length", "odd_candidates", function(x) 5L)
  refused(dp_select(structure(list(1), class = "odd_candidates"), run, score, 1))
  expect_s3_class(dp_select(as.POSIXlt(c("2020-01-01", "2020-01-02"), tz = "UTC"), run, score, 1)$candidate, "POSIXlt")
  refused(dp_select(1:2, 3, score, 1))
  refused(dp_select(1:2, run, "a", 1))
  refused(dp_select(1:2, run, score, 0))
  refused(dp_select(1:2, run, score, 1, tries = 1))
  refused(dp_select(1:2, run, score, 1, shape = 0.5))
  refused(dp_select(1:2, run, score, 1, 5, 1, "other"))
  refused(dp_select(1:2, run, score))
})
