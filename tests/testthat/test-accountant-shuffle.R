# Shuffled reports of which the total variation of two laws is known, and what they share.

# what k-ary randomised response has of it
response_variation <- function(e0, k) expm1(e0) / (exp(e0) + k - 1)

response_laws <- function(e0, k) (matrix(1, k, k) + diag(expm1(e0), k)) / (exp(e0) + k - 1)

# Counts of reports by records with the rows `rows` of `laws`: chances named by the counts
shuffled_law <- function(laws, rows) {
  out <- list(counts = matrix(0L, 1, ncol(laws)), chance = 1)
  for (row in rows) {
    counts <- do.call(rbind, lapply(seq_len(ncol(laws)), function(i) {
      out$counts[, i] <- out$counts[, i] + 1L
      out$counts
    }))
    key <- apply(counts, 1, paste, collapse = " ")
    sums <- tapply(as.vector(outer(out$chance, laws[row, ])), key, sum)
    out <- list(counts = counts[match(names(sums), key), , drop = FALSE], chance = sums)
  }
  out$chance
}

# the exact delta of both directions: the first record has row 1 or 2, the others `rest`
shuffled_delta <- function(laws, rest, epsilon) {
  p <- shuffled_law(laws, c(1, rest))
  q <- shuffled_law(laws, c(2, rest))[names(p)]
  max(sum(pmax(p - exp(epsilon) * q, 0)), sum(pmax(q - exp(epsilon) * p, 0)))
}

# The pair in its own terms: list(p, q) over the counts (A, B, K), by what the record's own report is
shuffle_pair <- function(n, e0, variation, common = exp(e0)) {
  p <- variation / expm1(e0)
  shared <- 1 - (exp(e0) + 1) * p
  others <- c(p, p, shared / common, 1 - 2 * p - shared / common)
  laws <- rbind(c(exp(e0) * p, p, shared, 0), c(p, exp(e0) * p, shared, 0), pmax(others, 0))
  one <- shuffled_law(laws, c(1, rep(3, n - 1)))
  list(p = one, q = shuffled_law(laws, c(2, rep(3, n - 1)))[names(one)])
}

pair_delta <- function(pair, epsilon) sum(pmax(pair$p - exp(epsilon) * pair$q, 0))

expect_upper <- function(x, truth, tol) {
  x <- as.double(x)
  expect_gte(x, truth * (1 - 4e-15))
  expect_lte(x, truth * (1 + tol))
}

test_that("shuffles of known variation: against sums over all counts in 50 digits", {
  # mpmath: the pair as it is defined, the record's own report and n - 1 others, over every (A, B, K)
  known <- rbind(c(2, 1, 0.2, NA, 0.3, 0.11764097880846751), c(6, 2, 0.1, NA, 0.25, 0.070921327820613243),
                 c(12, 3, 0.5, NA, 0.5, 0.31129516415055173), c(12, 3, 0.5, 1, 0.5, 0.30687920646155397),
                 c(12, 3, 0.5, 4, 1, 0.2010355397650535), c(40, 1.5, 0.25, NA, 0.75, 0.00018032771135662268),
                 c(40, 1.5, 0.25, 1, 0.75, 2.4644429826144954e-6), c(20, 8, 0.75, 2, 6, 0.22383556511914849))
  for (i in seq_len(nrow(known))) {
    x <- known[i, ]
    e <- event_shuffle(x[1], event_pure(x[2]), x[3], if (!is.na(x[4])) x[4])
    for (by in c("single", "pld")) {
      value <- as.double(dp_delta(e, x[5], by))
      expect_gte(value, x[6])
      expect_lte(value, x[6] * (1 + 1e-8))
    }
  }
})

test_that("shuffles of known variation: no randomiser shows more than the bound, in any data set", {
  set.seed(3)
  nearest <- 0
  for (k in 3:4) {
    for (e0 in c(0.5, 1.5, 3)) {
      laws <- response_laws(e0, k)
      for (n in if (quick()) c(2, 4) else 2:5) {
        data <- rbind(rep(3, n - 1), rep(1, n - 1), rep(1:2, length.out = n - 1), matrix(sample(k, 4 * (n - 1), TRUE), 4))
        for (at in c(0, 0.3, 0.7) * e0) {
          bound <- function(...) as.double(dp_delta(event_shuffle(n, event_pure(e0), response_variation(e0, k), ...), at))
          one <- bound(common = 1)
          expect_lte(one, bound() * (1 + 1e-8))
          truth <- apply(data, 1, function(rest) shuffled_delta(laws, rest, at))
          expect_lte(max(truth), one * (1 + 1e-9))
          # others at a third value
          nearest <- c(nearest, truth[1] / one)
        }
      }
    }
  }
  expect_gt(max(nearest), 0.99999)
  expect_gt(mean(nearest[-1]), 0.9)
  # Laplace noise on numbers from 0 to 1, told in bins
  for (e0 in c(1, 3)) {
    edges <- c(-Inf, seq(-0.2, 1.2, length.out = 7), Inf)
    cumulated <- function(x) ifelse(x < 0, exp(x) / 2, 1 - exp(-x) / 2)
    laws <- t(vapply(c(0, 1, 0.5, 0.1), function(x) diff(cumulated((edges - x) * e0)), numeric(8)))
    variation <- -expm1(-e0 / 2)
    expect_lte(sum(pmax(laws[1, ] - laws[2, ], 0)), variation * (1 + 1e-12))
    for (rest in list(c(3, 3), c(1, 2), c(4, 3), c(2, 2))) {
      for (at in c(0, 0.4) * e0) {
        truth <- shuffled_delta(laws, rest, at)
        bound <- as.double(dp_delta(event_shuffle(3, event_pure(e0), variation), at))
        expect_lte(truth, bound * (1 + 1e-9))
        expect_lte(bound, as.double(dp_delta(event_shuffle(3, event_pure(e0)), at)) * (1 + 1e-9))
      }
    }
  }
})

test_that("shuffles of known variation: laws that are what the proof allows attain the bound", {
  for (set in list(c(5, 1, 0.2, exp(1)), c(4, 2, 0.5, exp(2)), c(4, 2, 0.1, 1), c(5, 3, 0.6, 5))) {
    pair <- shuffle_pair(set[1], set[2], set[3], set[4])
    e <- event_shuffle(set[1], event_pure(set[2]), set[3], set[4])
    for (at in c(0, 0.2, 0.5, 0.9) * set[2]) expect_equal(as.double(dp_delta(e, at)) / pair_delta(pair, at), 1, tolerance = 1e-8)
    # twice, by privacy losses: against all pairs of outcomes
    twice <- list(p = as.vector(outer(pair$p, pair$p)), q = as.vector(outer(pair$q, pair$q)))
    for (at in c(0.1, 0.5, 1.2) * set[2]) {
      truth <- pair_delta(twice, at)
      value <- as.double(dp_delta(event_compose(e, times = 2), at, "pld"))
      expect_gte(value, truth * (1 - 1e-12))
      expect_lte(value, truth * 1.001 + 1e-12)
    }
  }
})

test_that("shuffles of known variation: what the others share is counted, or randomisers would show more", {
  # epsilon-DP among its three laws; outcomes 3 and 4 are as likely for both of the record's answers, and not for the others
  e <- exp(2)
  p <- 0.1 / (e + 1)
  fourth <- (1 - p) / (e + 1)
  third <- 1 - (e + 1) * p - fourth
  laws <- rbind(c(e * p, p, third, fourth), c(p, e * p, third, fourth), c(p, p, third / e, e * fourth))
  expect_equal(rowSums(laws), rep(1, 3))
  expect_equal(max(apply(log(laws), 2, function(x) diff(range(x)))), 2)
  truth <- shuffled_delta(laws, rep(3, 5), 0.3)
  expect_equal(truth, 0.05059776, tolerance = 1e-6)
  variation <- (e - 1) * p
  # the pair of A and B alone
  others <- rbind(c(e * p, p, 1 - (e + 1) * p), c(p, e * p, 1 - (e + 1) * p), c(p, p, 1 - 2 * p))
  expect_lt(shuffled_delta(others, rep(3, 5), 0.3), 0.996 * truth)
  bound <- as.double(dp_delta(event_shuffle(6, event_pure(2), variation), 0.3))
  expect_gt(bound, truth)
  expect_lt(bound, 1.003 * truth)
})

test_that("shuffles without a variation, or with the largest, cost what they did", {
  e <- event_shuffle(50, event_pure(1))
  expect_named(e$parameters, "n")
  expect_identical(riemdp:::event_key(e), "shuffle{0x1.9p+5}(pure{0x1p+0}())")
  expect_identical(format(e), "shuffle(n = 50, pure(epsilon = 1)) [replace-one]")
  for (e0 in c(0.3, 4, 30)) {
    old <- event_shuffle(200, event_pure(e0))
    most <- event_shuffle(200, event_pure(e0), response_variation(e0, 2))
    expect_identical(as.double(dp_epsilon(most, 1e-6)), as.double(dp_epsilon(old, 1e-6)))
    expect_identical(as.double(dp_delta(most, e0 / 3)), as.double(dp_delta(old, e0 / 3)))
    # hardly less is no other law
    less <- event_shuffle(200, event_pure(e0), tanh(e0 / 2) * (1 - 1e-9))
    expect_equal(as.double(dp_delta(less, e0 / 3)) / as.double(dp_delta(old, e0 / 3)), 1, tolerance = 1e-7)
  }
  # more is dearer, of both
  price <- function(...) as.double(dp_epsilon(event_shuffle(1000, event_pure(3), ...), 1e-6))
  variations <- c(vapply(c(0.02, 0.1, 0.3, 0.6, 0.9), price, 0), price())
  expect_true(all(diff(variations) > 0))
  expect_true(all(diff(vapply(c(1, 3, 10, exp(3)), function(common) price(0.2, common), 0)) > 0))
  expect_identical(price(0.2, exp(3)), price(0.2))
  # below what the variation alone says there is nothing to pay
  expect_identical(price(1e-7), 0)
})

test_that("shuffles of many reports: a coarse grid of what is shared is never below the sum", {
  # randomised response among ten and among a hundred answers: what the help and the articles say
  price <- function(n, e0, k, ...) as.double(dp_epsilon(event_shuffle(n, event_pure(e0), response_variation(e0, k), ...), 1e-6))
  expect_equal(price(1e4, 4, 10), 0.38273, tolerance = 2e-4)
  expect_equal(price(1e4, 4, 100, common = 1), 0.23374, tolerance = 2e-4)
  expect_equal(price(1e4, 6, 100, common = 1), 1.18235, tolerance = 2e-4)
  expect_equal(price(1e4, 6, 100), 1.32740, tolerance = 2e-4)
  # the sum over every number of clones and of what is shared, the record's own report told apart
  direct <- function(n, e0, variation, common, epsilon) {
    e <- exp(e0)
    g <- exp(epsilon)
    p <- variation / (e - 1)
    shared <- 1 - (e + 1) * p
    sum(vapply(0:stats::qbinom(1e-18, n - 1, 2 * p, lower.tail = FALSE), function(m) {
      rate <- min(1, shared / common / (1 - 2 * p))
      k <- stats::qbinom(1e-18, n - 1 - m, rate):stats::qbinom(1e-18, n - 1 - m, rate, lower.tail = FALSE)
      edge <- function(m, k) floor((m * (g * e - 1) + common * k * (g - 1)) / ((e - 1) * (g + 1)))
      above <- function(t) stats::pbinom(t, m, 0.5, lower.tail = FALSE)
      t <- edge(m + 1, k)
      own <- e * p * above(t - 1) + p * above(t) - g * (p * above(t - 1) + e * p * above(t))
      stats::dbinom(m, n - 1, 2 * p) * sum(stats::dbinom(k, n - 1 - m, rate) * (own + (1 - g) * shared * above(edge(m, k + 1))))
    }, 0))
  }
  for (set in list(c(2000, 4, 0.3, exp(4), 0.4), c(2000, 4, 0.3, 1, 0.4), c(5000, 1, 0.1, exp(1), 0.03), c(500, 6, 0.6, 20, 2))) {
    truth <- direct(set[1], set[2], set[3], set[4], set[5])
    e <- event_shuffle(set[1], event_pure(set[2]), set[3], set[4])
    for (by in c("single", "pld")) {
      value <- as.double(dp_delta(e, set[5], by))
      expect_gte(value, truth * (1 - 1e-9))
      expect_lte(value, truth * (if (by == "single") 1.003 else 1.02))
    }
  }
  # no convex function that falls has a lower mean under the grid's law
  size <- c(900, 1000)
  for (step in c(1, 7, 30)) {
    for (rate in c(0.05, 0.5)) {
      at <- c(0, seq(20, 700, by = step))
      share <- riemdp:::spread_counts(size, rate, at)
      for (t in c(0, 30, 51, 60, 333, 470, 511, 720)) {
        for (i in 1:2) {
          truth <- sum(stats::dbinom(0:1000, size[i], rate) * pmax(t - 0:1000, 0))
          expect_gte(sum(share[i, ] * pmax(t - at, 0)), truth * (1 - 1e-13))
        }
      }
      expect_equal(rowSums(share), c(1, 1), tolerance = 1e-10)
      expect_equal(as.vector(share %*% at), size * rate, tolerance = 1e-9)
    }
  }
})

test_that("shuffles of known variation at the ends of doubles", {
  # the record's own report alone, where nobody else's hides it: variation (1 - e^(epsilon - e0))/(1 - e^-e0)
  for (e0 in c(50, 300, 699, 701, 1e5)) {
    e <- event_shuffle(10, event_pure(e0), 0.4)
    for (by in c("single", if (e0 < 600) "pld")) expect_upper(dp_delta(e, e0 - 1, by), -0.4 * expm1(-1), 1e-6)
    expect_upper(dp_epsilon(e, 0.1), e0 + log1p(-0.25), 1e-6)
    expect_identical(as.double(dp_delta(e, e0)), 0)
  }
  for (e0 in c(1e-3, 1e-8, 1e-16, 1e-300)) {
    e <- event_shuffle(3, event_pure(e0), e0 / 8)
    expect_lte(as.double(dp_delta(e, 0)), e0 / 8 * (1 + 1e-12))
    expect_gte(as.double(dp_delta(e, 0)), e0 / 64)
  }
  expect_error(dp_epsilon(event_shuffle(20001, event_pure(1), 0.1), 1e-6, "pld"), "alone, not in compositions", class = "riemdp_error_unpriced")
})

test_that("shuffles say what is known of them, and refuse what can't be", {
  e <- event_shuffle(100, event_pure(2), 0.25, common = 1)
  expect_named(e$parameters, c("n", "variation", "common"))
  expect_identical(format(e), "shuffle(n = 100, variation = 0.25, common = 1, pure(epsilon = 2)) [replace-one]")
  expect_match(format(event_shuffle(100, event_pure(2), 0.25)), "shuffle(n = 100, variation = 0.25, pure", fixed = TRUE)
  expect_identical(check_event(e), e)
  expect_false(riemdp:::event_key(e) == riemdp:::event_key(event_shuffle(100, event_pure(2), 0.25, 2)))
  # two of different variation are different steps
  both <- event_compose(e, event_shuffle(100, event_pure(2)))
  expect_length(riemdp:::event_parts(both), 2)
  for (bad in list(0, -1, tanh(1) * 1.001, 1, NA, "a", c(0.1, 0.2))) {
    expect_error(event_shuffle(100, event_pure(2), bad), class = "riemdp_error_argument")
  }
  expect_error(event_shuffle(100, event_pure(2), 0.8), "at most tanh(epsilon/2), here 0.761594", fixed = TRUE, class = "riemdp_error_argument")
  for (bad in list(0.99, exp(2) * 1.001, NA, -1)) {
    expect_error(event_shuffle(100, event_pure(2), 0.2, bad), class = "riemdp_error_argument")
  }
  expect_error(event_shuffle(100, event_pure(2), common = 1), "belongs to `variation`", class = "riemdp_error_argument")
  expect_error(event_shuffle(100, event_gaussian(2), 0.1), class = "riemdp_error_unsupported")
  broken <- e
  broken$parameters$variation <- 0.9
  expect_error(check_event(broken), class = "riemdp_error")
  broken <- event_shuffle(100, event_pure(2))
  broken$parameters$common <- 1
  expect_error(check_event(broken), class = "riemdp_error")
  expect_error(event_to_json(e), class = "riemdp_error_unsupported")
  expect_error(event_group(e, 2), class = "riemdp_error")
  # the pair isn't known to be attained
  expect_identical(attr(dp_epsilon(e, 1e-6), "lower"), NA_real_)
  expect_lte(as.double(dp_epsilon(e, 1e-6)), 2)
  expect_identical(event_price(e, "basic"), event_price(event_pure(2), "basic"))
})
