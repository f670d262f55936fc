# Ledgers about a secret sample of a population: what all releases together do to the population, counted out and by quadrature.

inner <- asNamespace("riemdp")

# ---- laws of transcripts, exactly ------------------------------------------------------------------------------------------

# An analyst's whole interaction with a sample of bits, whose answers are coins: `ask(answers)` gives the next question, list(f, epsilon) with
# f(sample) TRUE or FALSE, or NULL. Named probabilities of all transcripts.
transcripts <- function(ask, sample, before = logical()) {
  question <- ask(before)
  if (is.null(question)) return(stats::setNames(1, paste(as.integer(before), collapse = "")))
  p <- stats::plogis(if (question$f(sample)) question$epsilon else -question$epsilon)
  c(p * transcripts(ask, sample, c(before, TRUE)), (1 - p) * transcripts(ask, sample, c(before, FALSE)))
}

# law for a population: `without replacement` m of N; by Poisson sampling with probability q
fixed_law <- function(ask, x, m) {
  draws <- utils::combn(length(x), m, simplify = FALSE)
  Reduce(`+`, lapply(draws, function(i) transcripts(ask, x[i]))) / length(draws)
}
poisson_law <- function(ask, x, q) {
  draws <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), length(x))))
  if (!length(x)) draws <- matrix(FALSE, 1, 0)
  Reduce(`+`, lapply(seq_len(nrow(draws)), function(i) q^sum(draws[i, ]) * (1 - q)^sum(!draws[i, ]) * transcripts(ask, x[draws[i, ]])))
}
# the largest loss over all populations of n bits and all neighbours
fixed_loss <- function(ask, n, m) {
  worst <- 0
  for (bits in seq_len(2^n) - 1) {
    x <- bitwAnd(bits, 2^(seq_len(n) - 1)) > 0
    law <- fixed_law(ask, x, m)
    for (i in seq_len(n)) worst <- max(worst, abs(log(law / fixed_law(ask, replace(x, i, !x[i]), m))))
  }
  worst
}
poisson_loss <- function(ask, n, q) {
  worst <- 0
  for (k in seq_len(n)) for (bits in seq_len(2^k) - 1) {
    x <- bitwAnd(bits, 2^(seq_len(k) - 1)) > 0
    for (i in seq_len(k)) worst <- max(worst, abs(log(poisson_law(ask, x, q) / poisson_law(ask, x[-i], q))))
  }
  worst
}

# an analyst who takes what he asks from a ledger, the last question with all that is left; the next one depends on the answers
by_ledger <- function(ledger) {
  all <- ledger$limits[1]
  ledger_spend(ledger, event_pure(all / 3))
  ledger_spend(ledger, event_pure(all * 2 / 3))
  expect_error(ledger_spend(ledger, event_pure(1e-9)), class = "riemdp_error_budget")
  function(answers) {
    if (length(answers) == 0) return(list(f = any, epsilon = all / 3))
    if (length(answers) == 1) list(f = if (answers) any else function(s) sum(s) %% 2 == 1, epsilon = all * 2 / 3)
  }
}

test_that("all releases on a secret sample together cost the population its budget, and not less", {
  for (epsilon in c(0.2, 1, 3)) {
    for (case in list(c(4, 1), c(4, 2), c(5, 2), c(4, 3))) {
      ledger <- dp_ledger(NULL, epsilon, sampled = case[2] / case[1])
      expect_equal(fixed_loss(by_ledger(ledger), case[1], case[2]), epsilon, tolerance = 1e-9)
    }
    for (q in c(0.05, 0.4, 0.9)) {
      ledger <- dp_ledger(NULL, epsilon, sampled = q, adjacency = "add-remove")
      expect_equal(poisson_loss(by_ledger(ledger), 3, q), epsilon, tolerance = 1e-9)
    }
  }
})

test_that("the inside budget is rounded so that the promise holds", {
  for (epsilon in c(1e-8, 0.1, 1, 8, 400, 900)) {
    for (q in c(1e-9, 0.01, 0.1, 1 / 3, 0.999)) {
      ledger <- dp_ledger(NULL, epsilon, q / 1000, sampled = q)
      e <- ledger$limits[1]
      exact <- if (epsilon < 30) log(1 + expm1(epsilon) / q) else epsilon - log(q) + log1p(-(1 - q) * exp(-epsilon))
      if (epsilon > 1e-3) expect_equal(e, exact, tolerance = 1e-11)
      # back to the population: below, by no more than the rounding
      expect_lte(inner$log_mix(e, q), epsilon)
      expect_gt(inner$log_mix(e, q), epsilon * (1 - 1e-10))
      expect_lte(ledger$limits[2] * q, ledger$delta)
      expect_equal(ledger$limits[2], 0.001, tolerance = 1e-11)
      expect_lte(q * e, epsilon)
    }
  }
  # no sample: the budget to the bit
  expect_identical(dp_ledger(NULL, 1, 1e-6, sampled = 1)$limits, c(1, 1e-6))
  expect_identical(dp_ledger(NULL, 1, 1e-6, "zcdp", sampled = 1)$limits, dp_ledger(NULL, 1, 1e-6, "zcdp")$limits)
})

test_that("by every rule the population's (epsilon, delta) holds", {
  # delta of a mixture, by quadrature: (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), and the other way round
  stick <- function(first, second, epsilon) {
    parts <- seq(-12, 20, by = 1)
    f <- function(z) pmax(0, first(z) - exp(epsilon) * second(z))
    sum(vapply(parts, function(a) integrate(f, a, a + 1, rel.tol = 1e-10, subdivisions = 2000)$value, 0))
  }
  population <- function(mu, q, epsilon) {
    with <- function(z) (1 - q) * dnorm(z) + q * dnorm(z, mu)
    c(stick(with, dnorm, epsilon), stick(dnorm, with, epsilon))
  }
  for (case in list(c(1, 1e-3, 0.1), c(0.5, 0.01, 0.3), c(2, 0.02, 0.05))) {
    epsilon <- case[1]
    delta <- case[2]
    q <- case[3]
    inside <- c(log(1 + (exp(epsilon) - 1) / q), delta / q)
    for (rule in names(inner$LEDGER_RULES)) {
      ledger <- dp_ledger(NULL, epsilon, delta, rule, sampled = q, adjacency = "add-remove")
      expect_equal(ledger$limits, dp_ledger(NULL, inside[1], inside[2], rule)$limits, tolerance = 1e-6)
      expect_identical(ledger[c("epsilon", "delta")], list(epsilon = epsilon, delta = delta), ignore_attr = TRUE)
      if (rule %in% c("basic", "steps")) next
      mu <- sqrt(ledger$limits[1] * switch(rule, gdp = 1, zcdp = 2, rdp = 2 / ledger$orders))
      ledger_spend(ledger, event_gaussian((1 + 1e-9) / mu))
      found <- population(mu, q, epsilon)
      expect_lte(max(found), delta * (1 + 1e-7))
      if (rule == "gdp") expect_equal(found[1], delta, tolerance = 1e-6)
    }
    # basic: with probability d the sample is shown, else a coin says whether x is in it
    ledger <- dp_ledger(NULL, epsilon, delta, sampled = q)
    d <- ledger$limits[2]
    p <- stats::plogis(ledger$limits[1])
    inside <- c(d, 0, (1 - d) * c(p, 1 - p)) # x shown, the sample without x shown, yes, no
    outside <- c(0, d, (1 - d) * c(1 - p, p))
    expect_equal(sum(pmax(0, q * inside + (1 - q) * outside - exp(epsilon) * outside)), delta, tolerance = 1e-9)
  }
})

test_that("prices that are reduced one by one don't add up on one sample", {
  q <- 0.1
  k <- 10
  one <- log(1 + q * (exp(1) - 1))
  one_sample <- function(answers) if (length(answers) < k) list(f = any, epsilon = 1)
  with <- function(sample) transcripts(one_sample, sample)
  truth <- max(log(((1 - q) * with(FALSE) + q * with(TRUE)) / with(FALSE)))
  expect_equal(truth, log(1 - q + q * exp(k)), tolerance = 1e-12)
  expect_gt(truth, 4.8 * k * one)
  # the ledger of the sum's budget takes three of the ten
  ledger <- dp_ledger(NULL, k * one, sampled = q)
  for (i in 1:3) ledger_spend(ledger, event_pure(1))
  expect_error(ledger_spend(ledger, event_pure(1)), class = "riemdp_error_budget")
  # and so do events of one sample, or of ten
  steps <- event_compose(event_pure(1), times = k)
  for (make in list(event_poisson, event_sample)) {
    expect_equal(as.double(dp_epsilon(make(q, steps), 0)), truth, tolerance = 1e-12)
    expect_equal(as.double(dp_epsilon(event_compose(make(q, event_pure(1)), times = k), 0)), k * one, tolerance = 1e-12)
  }
})

test_that("a plan on one sample is priced at the whole plan's amplified profile", {
  coins <- function(e0, k) function(e) sum(stats::dbinom(0:k, k, stats::plogis(e0)) * pmax(0, -expm1(e - (2 * (0:k) - k) * e0)))
  # two Laplace steps, by quadrature over both losses
  laplace <- function(b) {
    z <- seq(-60, 60, length.out = 2^13 + 1)
    z <- (z[-1] + z[-length(z)]) / 2
    p <- exp(-abs(z - 1) / b)
    loss <- (abs(z) - abs(z - 1)) / b
    p <- p / sum(p)
    cells <- tapply(p, round(loss, 9), sum)
    both <- outer(as.numeric(names(cells)), as.numeric(names(cells)), `+`)
    mass <- outer(cells, cells)
    function(e) sum(mass * pmax(0, -expm1(e - both)))
  }
  # of laws that are each other's mirror image: leaving, and entering
  sampled <- function(f, q, poisson) {
    function(e) {
      rest <- 1 - exp(e) * (1 - q)
      max(q * f(log1p(expm1(e) / q)), if (poisson && rest > 0) rest * f(e + log(q) - log(rest)) else 0)
    }
  }
  plans <- list(list(event_compose(event_pure(0.4), times = 3), coins(0.4, 3), 1.2),
                list(event_compose(event_laplace(2), event_laplace(2)), laplace(2), 1))
  for (plan in plans) for (q in c(0.1, 0.5)) for (poisson in c(TRUE, FALSE)) {
    event <- (if (poisson) event_poisson else event_sample)(q, plan[[1]])
    expect_equal(as.double(dp_epsilon(event, 0)), log(1 + q * (exp(plan[[3]]) - 1)), tolerance = 1e-12)
    truth <- sampled(plan[[2]], q, poisson)
    for (e in c(0.01, 0.05, 0.2)) {
      said <- as.double(dp_delta(event, e))
      expect_gte(said, truth(e) * (1 - 1e-5))
      expect_lte(said, truth(e) * (1 + 1e-3) + 1e-9)
      expect_gte(as.double(dp_delta(event, e, "rdp")), truth(e))
    }
  }
  # what tells all with a delta of its own does so to a q-th
  event <- event_sample(0.2, event_compose(event_approx(0.3, 1e-4), event_pure(0.1), times = 2))
  expect_equal(unname(event_price(event)), c(log(1 + 0.2 * (exp(0.8) - 1)), 4e-5), tolerance = 1e-12)
  # normal noise composes before it is sampled
  expect_equal(as.double(dp_delta(event_poisson(0.1, event_compose(event_gaussian(3), times = 9)), 1)),
               as.double(dp_delta(event_poisson(0.1, event_gaussian(1)), 1)), tolerance = 1e-3)
})

# ---- what isn't proven is refused ----------------------------------------------------------------------------------------------

test_that("parts of a sample without replacement are refused, and priced by Poisson sampling", {
  # one of a part of his own, one drawn of two: that his part isn't empty says that he was drawn, and then his answer isn't diluted
  law <- function(x) c(empty = 1 / 2, yes = stats::plogis(x) / 2, no = stats::plogis(-x) / 2)
  expect_equal(max(log(law(1) / law(-1))), 1)
  expect_lt(log(1 + 0.5 * (exp(1) - 1)), 0.63)
  unsupported <- function(expr) expect_error(expr, class = "riemdp_error_unsupported")
  unsupported(dp_ledger(NULL, 1, sampled = 0.1, data_sets = list(a = c("x", "y"))))
  ledger <- dp_ledger(NULL, 1, sampled = 0.1)
  parts <- event_parallel(event_pure(0.1), event_pure(0.1))
  for (event in list(parts, event_compose(event_pure(0.1), event_compose(parts, times = 2)))) {
    unsupported(ledger_spend(ledger, event))
    unsupported(event_sample(0.1, event))
    expect_s3_class(event_sample(1, event), "riemdp_event")
  }
  expect_identical(summary(ledger)$spent[1], 0)
  # a record that may move costs two parts, which holds there as well
  expect_equal(ledger_spend(ledger, event_parallel(event_pure(0.1), event_pure(0.2), keys = "private"))$cost[["epsilon"]], 0.3)
  expect_s3_class(event_parallel(event_sample(0.1, event_pure(1)), event_pure(0.1)), "riemdp_event")
  poisson <- dp_ledger(NULL, 1, sampled = 0.1, adjacency = "add-remove", data_sets = list(a = c("x", "y")))
  for (part in c("x", "y")) ledger_spend(poisson, event_pure(poisson$limits[1]), data_set = "a", part = part)
  expect_error(ledger_spend(poisson, event_pure(0.01), data_set = "a"), class = "riemdp_error_budget")
  ledger_spend(dp_ledger(NULL, 1, sampled = 0.1, adjacency = "add-remove"), parts)
  skip_without_sqlite()
  file <- tempfile("ledger", fileext = ".sqlite")
  unsupported(dp_ledger(file, 1, sampled = 0.1, create = TRUE, data_sets = list(a = c("x", "y"))))
  expect_false(file.exists(file))
  dp_ledger(file, 1, sampled = 0.1, create = TRUE)
  unsupported(dp_ledger(file, data_sets = list(a = c("x", "y"))))
})

test_that("what was drawn is what a release protects", {
  M <- euclidean(2)
  set.seed(1)
  x <- matrix(runif(80, -1, 1), 40)
  mean <- function(ledger, ...) dp_mean(x, M, 0.5, c(0, 0), 2, ..., ledger = ledger)
  unsupported <- function(expr) expect_error(expr, class = "riemdp_error_unsupported")
  rows <- dp_ledger(NULL, 1, sampled = 0.1)
  persons <- dp_ledger(NULL, 1, sampled = c(unit = 0.1))
  unit <- rep(1:20, 2)
  unsupported(mean(rows, unit = unit))
  unsupported(mean(persons))
  unsupported(mean(dp_ledger(NULL, 1, sampled = c(hospital = 0.1)), unit = unit))
  unsupported(mean(dp_ledger(NULL, 1, sampled = c(row = 0.1)), unit = unit))
  expect_identical(c(summary(rows)$spent, summary(persons)$spent), numeric(4))
  words <- "the ledger, epsilon 0.5 .*; its budget is that of a population of which these records are a secret sample \\(rate 0.1"
  r <- mean(rows)
  expect_identical(r$budget$cost, c(epsilon = 0.5, delta = 0))
  expect_identical(r$guarantee$epsilon, 0.5) # about the sample, as it is
  expect_output(print(r), paste0(words, "\\)"))
  expect_output(print(mean(persons, unit = unit)), paste0(words, " of \"unit\"\\)"))
  expect_no_match(format(mean(dp_ledger(NULL, 1))), "population of which")
  # the same notion of neighbours, and what is counted as a group of two
  added <- function(ledger) mean(ledger, neighbours = "add_remove")
  expect_error(added(rows), class = "riemdp_error_adjacency")
  expect_error(mean(dp_ledger(NULL, 1, sampled = 0.1, adjacency = "add-remove")), class = "riemdp_error_adjacency")
  expect_equal(added(dp_ledger(NULL, 1, sampled = 0.1, adjacency = "add-remove"))$budget$cost[["epsilon"]], 0.5)
  expect_equal(added(dp_ledger(NULL, 1, sampled = 0.1, pairs = TRUE))$budget$cost[["epsilon"]], 1)
})

test_that("rates and deltas that promise nothing are refused", {
  for (bad in list(0, -0.1, 1.1, NA, NaN, Inf, "a", c(0.1, 0.2), TRUE, stats::setNames(0.1, ""), stats::setNames(0.1, NA))) {
    expect_error(dp_ledger(NULL, 1, sampled = bad), class = "riemdp_error_argument")
  }
  for (delta in c(0.1, 0.5)) expect_error(dp_ledger(NULL, 1, delta, sampled = 0.1), class = "riemdp_error_argument")
  expect_lt(dp_ledger(NULL, 1, 0.0999, sampled = 0.1)$limits[2], 1)
  expect_error(dp_ledger(NULL, 1, 0, "zcdp", sampled = 0.1), class = "riemdp_error_argument")
})

# ---- what is said and kept -----------------------------------------------------------------------------------------------------

test_that("a ledger of a sample says both budgets", {
  text <- format(dp_ledger(NULL, 1, 1e-6, "zcdp", sampled = 0.1))
  expect_match(text[1], "= 1, .* = 1e-06 for each data set")
  expect_match(text[3], "population: the records are a secret sample of it, without replacement, rate 0.1; on the sample .* = 2.9, .* = 1e-05")
  text <- format(dp_ledger(NULL, 1, sampled = c(patient = 0.25), adjacency = "add-remove"))
  expect_match(text[3], "Poisson, rate 0.25 of \"patient\"; on the sample .* = 2.063")
  expect_false(any(grepl("population", format(dp_ledger(NULL, 1)))))
  expect_equal(summary(dp_ledger(NULL, 1, sampled = 0.1))$limit, c(log(1 + (exp(1) - 1) / 0.1), 0), tolerance = 1e-11)
})

test_that("a file keeps the rate, and ledgers of earlier versions have none", {
  skip_without_sqlite()
  refused <- function(expr, ...) expect_error(expr, ..., class = "riemdp_error_ledger")
  file <- function() tempfile("ledger", fileext = ".sqlite")
  sql <- function(path, f, ...) {
    con <- DBI::dbConnect(RSQLite::SQLite(), path)
    on.exit(DBI::dbDisconnect(con))
    f(con, ...)
  }
  for (sampled in list(0.1, 1 / 3, c(row = 0.1), c("two words" = 0.1))) {
    path <- file()
    first <- dp_ledger(path, 1, 1e-6, "rdp", sampled = sampled, create = TRUE)
    expect_identical(names(first$sampled), names(sampled) %||% "row")
    again <- dp_ledger(path)
    expect_identical(unclass(again)[inner$LEDGER_FACTS], unclass(first)[inner$LEDGER_FACTS])
    expect_identical(dp_ledger(path, 1, 1e-6, sampled = sampled)$uid, first$uid)
    ledger_spend(again, event_pure(0.1))
    for (other in list(0.2, 1, c(other = sampled[[1]]))) refused(dp_ledger(path, sampled = other), "sampled = 0.[13]+")
    # a version that knows of no samples takes no other format than 1, one that knows of no chain none above 2
    expect_identical(sql(path, DBI::dbGetQuery, "SELECT format FROM riemdp_ledger")[[1]], 3L)
    # what is damaged is no budget
    for (bad in c("", "0x1p-2", "row", "NaN row")) {
      sql(path, DBI::dbExecute, "UPDATE riemdp_ledger SET sampled = ?", params = list(bad))
      refused(ledger_spend(again, event_pure(0.1)))
    }
    bent <- again
    bent$sampled <- c(row = 0.01)
    refused(ledger_spend(bent, event_pure(0.1)))
  }
  # as it was made before there was the column
  path <- file()
  dp_ledger(path, 1, create = TRUE)
  make_old(path, lacking = "sampled")
  old <- dp_ledger(path)
  expect_identical(old$sampled, c(row = 1))
  expect_identical(dp_ledger(path, sampled = 1)$uid, old$uid)
  refused(dp_ledger(path, sampled = 0.1), "sampled = 1,")
  ledger_spend(old, event_pure(1))
  expect_error(ledger_spend(old, event_pure(0.1)), class = "riemdp_error_budget")
})
