# Any test made private by votes of disjoint parts. Proofs: inst/proofs/testing.md, section 7.

#' Any test, made private
#'
#' Splits the records at random into `m` parts, runs a test that you give on each, and counts in how many of them its
#' p-value is at most `alpha0`. One record is in one part, so it moves that count by at most 1: the count is released
#' with two-sided geometric noise, drawn by integer arithmetic, and a p-value follows from it, since under the null
#' hypothesis the count is at most binomial. Needs nothing to be known of the test, and is much less powerful than
#' [dp_test()]: each part has only n/m records. `power_test_any()` tells what power is left, from public numbers.
#'
#' The p-value is valid at any number of records where that of the given test is at `alpha0`, and where the parts are
#' independent under the null hypothesis (records that are drawn independently). `f` sees records: **what it prints,
#' warns, draws and returns is swallowed, but not what it does elsewhere**. A function that writes files, opens
#' connections, changes variables, signals conditions of its own or runs longer for some records tells of them. An `f`
#' that fails, or whose answer is no number between 0 and 1, counts as not rejecting.
#'
#' @param data records: a data frame or matrix (rows), an atomic vector, a list, or [mf_points()].
#' @param f a function of such data, of a part of the records, that returns an `htest` (or a list with `p.value`), or a
#'   p-value.
#' @param epsilon privacy budget, positive.
#' @param m number of parts, public, 2 to 10,000, no more than records. Parts differ in size by one record at most.
#' @param alpha0 level of the test in each part, public, between 0 and 1.
#' @param ... not used: further arguments are given by name.
#' @param source,ledger,data_set,part as for [dp_mean()].
#' @return `dp_test_any()`: an object of classes `riemdp_test`, `htest` and [riemdp_release] as of [dp_test()]: `value`
#'   and `p.value`, `count` (the noisy number of parts that reject; it may be negative or above m), `m`, `alpha0`,
#'   `scale` of the noise and so on. `power_test_any()`: a probability. Errors: `riemdp_error_argument`,
#'   `riemdp_error_shape`.
#' @references
#' Kazan, Z., Shi, K., Groce, A. and Bray, A. (2023). The test of tests: a framework for differentially private
#' hypothesis testing. *Proceedings of Machine Learning Research* 202. \doi{10.48550/arXiv.2302.04260}
#'
#' Awan, J. and Slavkovic, A. (2018). Differentially private uniformly most powerful tests for binomial data. *Advances
#' in Neural Information Processing Systems* 31. \doi{10.48550/arXiv.1805.09236}
#' @seealso [dp_test()]
#' @examples
#' dp_test_any(iris, function(d) t.test(d$Sepal.Length, mu = 5.6), epsilon = 1, m = 15)
#' # a test that has power .6 with 10 records
#' power_test_any(0.6, epsilon = 1, m = 15)
#' @export
dp_test_any <- function(data, f, epsilon, m, alpha0 = 0.05, ..., source = NULL, ledger = NULL, data_set = "default",
                        part = NULL) {
  check_no_more(...)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(epsilon = missing(epsilon), m = missing(m)))
  if (!is.function(f)) abort_riemdp("argument", "`f` must be a function of a part of the records.")
  n <- rows_of(data)
  m <- check_count(m, "m", 2, 10000)
  if (n < m) abort_riemdp("argument", "`m` must be no more than there are records.")
  ask <- votes_question(epsilon, m, alpha0)
  ask$n <- n
  ask$source <- stated_source(source)
  release_private(votes_estimator, ask, list(data = data, f = f, n = n), ledger, data_set, part)
}

#' @rdname dp_test_any
#' @param power power of the given test in a part, at `alpha0`, between 0 and 1.
#' @param alpha level of the private test, between 0 and 1.
#' @export
power_test_any <- function(power, epsilon, m, alpha0 = 0.05, alpha = 0.05) {
  power <- check_number(power, "power", least = 0, most = 1)
  alpha <- check_level(alpha)
  ask <- votes_question(epsilon, check_count(m, "m", 2, 10000), alpha0)
  # the least count that is enough, and the chance of that or more
  far <- geometric_far(ask$scale, alpha / 4)
  least <- seq(-far, ask$m + far)
  enough <- least[votes_above(least, ask$m, ask$alpha0, ask$scale) <= alpha]
  votes_above(enough[1], ask$m, power, ask$scale)
}

votes_question <- function(epsilon, m, alpha0) {
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  ratio <- geometric_ratio(epsilon)
  list(null = "any", epsilon = epsilon, m = m, alpha0 = check_level(alpha0), ratio = ratio,
       scale = ratio[1] / ratio[2])
}

rows_of <- function(data) {
  if (is_chunks(data)) abort_riemdp("unsupported", "dp_test_any() needs the records in memory.")
  if (inherits(data, "riemdp_points") || is.data.frame(data) || is.matrix(data)) return(NROW(data))
  if (!(is.atomic(data) || is.list(data)) || is.null(data) || !is.null(dim(data))) {
    abort_riemdp("shape", "`data` must be a data frame, a matrix, a vector, a list or mf_points().")
  }
  length(data)
}

# P(B + Z >= count), B binomial and Z two-sided geometric: a value for each count
votes_above <- function(count, m, p, scale) {
  b <- stats::dbinom(0:m, m, p)
  vapply(count, function(k) {
    j <- k - 0:m # P(Z >= j)
    q <- exp(-1 / scale)
    sum(b * ifelse(j >= 1, exp(-pmax(j, 0) / scale), 1 + q - exp(-(1 - pmin(j, 0)) / scale))) / (1 + q)
  }, 0)
}

votes_estimator <- list(
  entry = function(plan, ask) entry_words("dp_test_any", sprintf("%d parts", ask$m), NULL),
  parts = c(sensitivity = "number", theorem = "text"),
  plan = function(ask) {
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"),
                    c("m and alpha0 are public; the number of records is public",
                      "`f` does nothing elsewhere that depends on records"), numerics = "lattice")
    list(sensitivity = 1, theorem = "proofs/testing.md, section 7", guarantee = g)
  },
  draw = function(records, plan, ask, budget) {
    noisy_count(votes_of(records$data, records$f, records$n, ask), ask$ratio, "testing.md, 7", plan$sensitivity)
  },
  answer = function(out, plan, ask, budget) {
    p <- min(1, votes_above(out, ask$m, ask$alpha0, ask$scale))
    words <- TEST_WORDS$any
    new_release(
      p, c("riemdp_test", "htest"), p.value = p, method = words[["method"]], alternative = words[["alternative"]],
      data.name = test_data_words(ask), parameter = c(parts = ask$m, level = ask$alpha0), null = "any", n = ask$n,
      count = out, m = ask$m, part_level = ask$alpha0, mechanism = "geometric", sensitivity = plan$sensitivity,
      scale = ask$scale, theorem = plan$theorem, expected_error = NA_real_, budget = budget, guarantee = plan$guarantee
    )
  }
)

# In how many parts the test rejects. Which records form a part is drawn by lot, not by what they hold. R's random
# numbers are left as they were, and what goes to the screen is lost.
votes_of <- function(data, f, n, ask) {
  lot <- by_lot(n)
  part <- rep_len(seq_len(ask$m), n)
  votes <- function() sum(vapply(seq_len(ask$m), function(i) vote(f, some_rows(data, lot[part == i]), ask$alpha0), 0))
  keep_random_state(unheard(votes()))
}

some_rows <- function(data, rows) if (length(dim(data)) == 2) data[rows, , drop = FALSE] else data[rows]

# 1 where the test rejects, 0 else: also where it fails, or what it returns does, of a class with methods of its own
vote <- function(f, data, alpha0) {
  rejects <- FALSE
  contained(utils::capture.output({
    p <- f(data)
    if (is.list(p)) p <- p[["p.value"]]
    rejects <- is.numeric(p) && length(p) == 1 && isTRUE(as.double(p) >= 0 && as.double(p) <= min(1, alpha0))
  }), NULL)
  as.numeric(isTRUE(rejects))
}
