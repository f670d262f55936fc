# Any test made private by votes (R/dp-test-any.R; inst/proofs/testing.md, section 7)

internal <- asNamespace("riemdp")

test_that("the p-value is the tail of a binomial count with two-sided geometric noise, by enumeration", {
  for (scale in c(0.3, 1, 7)) for (p in c(0.05, 0.5)) {
    z <- -400:400
    noise <- exp(-abs(z) / scale)
    noise <- noise / sum(noise)
    tail <- function(k) sum(vapply(0:6, function(b) stats::dbinom(b, 6, p) * sum(noise[z >= k - b]), 0))
    k <- -12:20
    expect_equal(internal$votes_above(k, 6, p, scale), vapply(k, tail, 0), tolerance = 1e-12)
  }
  # power: the chance that the noisy count is enough
  for (epsilon in c(0.5, 2)) for (alpha in c(0.01, 0.1)) {
    scale <- internal$votes_question(epsilon, 12, 0.05)$scale
    k <- -200:200
    enough <- k[internal$votes_above(k, 12, 0.05, scale) <= alpha][1]
    expect_equal(power_test_any(0.7, epsilon, 12, alpha = alpha), internal$votes_above(enough, 12, 0.7, scale))
    expect_lte(power_test_any(0.05, epsilon, 12, alpha = alpha), alpha)
  }
  expect_equal(power_test_any(1, 20, 12), 1, tolerance = 1e-6)
})

test_that("a record is in one part, parts are nearly alike in size, and one vote is all that it moves", {
  ask <- list(m = 7, alpha0 = 0.5)
  x <- as.numeric(1:25)
  seen <- list()
  with_simulation(1, internal$votes_of(x, function(part) {
    seen[[length(seen) + 1]] <<- part
    1
  }, 25, ask))
  expect_identical(sort(unlist(seen)), x)
  expect_true(all(lengths(seen) %in% 3:4))
  count <- function(x) with_simulation(1, internal$votes_of(x, function(part) as.numeric(!any(part == 0)), 25, ask))
  expect_identical(c(count(x), count(replace(x, 9, 0))), c(0, 1))
  expect_identical(internal$votes_of(x, function(part) 0, 25, ask), 7)
})

test_that("what a test returns is read by itself: failures, other kinds and talk count as no rejection and are swallowed", {
  ask <- list(m = 5, alpha0 = 0.5)
  x <- cos(1:20)
  answers <- list(function(d) stop("secret 7123"), function(d) NULL, function(d) "a", function(d) NA, function(d) NaN, function(d) -1, function(d) 2,
                  function(d) c(0, 0), function(d) list(p.value = "0"), function(d) list(), function(d) list(1), function(d) list(p.value = NA_real_),
                  function(d) 0.51, function(d) stats::t.test(d, mu = mean(d)))
  for (f in answers) expect_identical(internal$votes_of(x, f, 20, ask), 0)
  for (f in list(function(d) 0.5, function(d) list(p.value = 0.1), function(d) stats::t.test(d, mu = 9))) expect_identical(internal$votes_of(x, f, 20, ask), 5)
  # classes with methods of their own, and a condition that is no error, which stop() would end the script with
  strange <- function(...) structure(list(p.value = 0), class = "strange_answer")
  registerS3method("[[", "strange_answer", function(x, ...) stop("secret"))
  plain_stop <- function(d) stop(structure(class = c("odd", "condition"), list(message = "secret", call = NULL)))
  for (f in list(function(d) as.POSIXlt(0, tz = "UTC"), strange, plain_stop)) expect_identical(internal$votes_of(x, f, 20, ask), 0)
  # a signal that nobody takes up is no failure
  signals <- function(d) {
    signalCondition(structure(class = c("odd", "condition"), list(message = "secret", call = NULL)))
    0.1
  }
  expect_identical(internal$votes_of(x, signals, 20, ask), 5)
  talks <- function(d) {
    print("secret")
    message("secret")
    warning("secret")
    cat("secret", file = stderr())
    stop("secret")
  }
  expect_silent(dp_test_any(x, talks, epsilon = 1, m = 5))
  said <- utils::capture.output(dp_test_any(x, talks, epsilon = 1, m = 5), type = "message")
  expect_identical(said, character())
  set.seed(5)
  before <- .Random.seed
  dp_test_any(x, function(d) stats::runif(1), epsilon = 1, m = 5)
  expect_identical(.Random.seed, before)
})

test_that("a release by votes is valid, costs what it says, and takes every kind of data", {
  ledger <- dp_ledger(NULL, 2)
  f <- function(d) stats::t.test(d$Sepal.Length, mu = 5)
  r <- dp_test_any(iris, f, epsilon = 1, m = 15, ledger = ledger)
  expect_identical(guarantee(r)$label, "pure")
  expect_identical(r$draws$epsilon <= 1 & r$draws$epsilon > 0.999, TRUE)
  expect_identical(r$budget$cost[["epsilon"]], 1)
  expect_lt(dp_test_any(iris, f, epsilon = 20, m = 15)$p.value, 1e-6)
  expect_output(print(r), "votes of disjoint parts")
  expect_output(explain(r), "geometric")
  expect_identical(nrow(tidy(r)), 1L)
  uses <- list(1:20, as.list(1:20), matrix(1:40, 20), data.frame(a = 1:20), mf_points(diag(3)[rep(1:3, 7), ], sphere(2)))
  for (data in uses) expect_s3_class(dp_test_any(data, function(d) 0.3, epsilon = 1, m = 4), "riemdp_test")
  no <- function(..., class = "argument") expect_error(dp_test_any(..., ledger = ledger), class = paste0("riemdp_error_", class))
  no(iris, f, epsilon = 1)
  no(iris, f, m = 5)
  no(iris, 1, epsilon = 1, m = 5)
  no(iris, f, epsilon = 1, m = 151)
  no(iris, f, epsilon = 1, m = 1)
  no(iris, f, epsilon = 0, m = 5)
  no(iris, f, epsilon = 1, m = 5, alpha0 = 1)
  no(iris, f, epsilon = 1, m = 5, 3, 4)
  no(NULL, f, epsilon = 1, m = 5, class = "shape")
  no(array(0, c(2, 2, 9)), f, epsilon = 1, m = 5, class = "shape")
  no(chunks(cos(1:20), 7), f, epsilon = 1, m = 5, class = "unsupported")
  expect_identical(nrow(ledger_history(ledger)), 1L)
  # size: a part rejects with probability alpha0; above the level by 5 standard errors fails
  runs <- if (quick()) 300 else 1000
  p <- with_simulation(2, replicate(runs, dp_test_any(1:12, function(d) stats::runif(1), epsilon = 1, m = 6, alpha0 = 0.2)$p.value))
  for (level in c(0.05, 0.2, 0.5)) expect_gt(stats::pbinom(sum(p <= level) - 1, runs, level, lower.tail = FALSE), 1e-7)
})
