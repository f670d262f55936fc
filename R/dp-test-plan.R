# The power of private tests before anything is spent, from simulated records.

#' Power of a private test, from simulated records
#'
#' What [dp_test()] would do on records that are made up, for several budgets, beside the same test without privacy. The
#' chances of a rejection are worked out from the law of the p-value for each simulated data set, so few runs are
#' needed, and the noise isn't drawn. Nothing is spent, and nothing is private: **`simulate` must not look at the real
#' records**, nor at what others have found in them.
#'
#' @param simulate a function without arguments that makes one data set by R's random numbers: a list of those
#'   arguments of [dp_test()] that hold records (`x`, `y`, `group`, `data`, `unit`; of `x` all but `x` may be absent).
#' @param M the manifold.
#' @param epsilon budgets, positive: one row of the answer each.
#' @param ... further arguments of [dp_test()] by name: `null`, `statistic`, `at`, `kernel`, `bandwidth`, `center`,
#'   `radius`, `bounds`, `invalid`, `neighbours`.
#' @param alpha level, a multiple of .0001 between 0 and 1.
#' @param draws number of lots, 99 to 9,999.
#' @param runs number of simulated data sets, 2 to 100,000.
#' @return A data frame with a row for each epsilon: `epsilon`, `n` (records or units of the first data set), `p.value`
#'   (mean chance that a released p-value is at most `alpha`), `decision` (the same with `alpha` given to [dp_test()]),
#'   `se` (standard error of `p.value`), `plain` (share of data sets in which the test without privacy rejects),
#'   `runs`. Errors as of [dp_test()].
#' @references
#' Kim, I. and Schrab, A. (2023). Differentially private permutation tests: applications to kernel methods.
#' \doi{10.48550/arXiv.2310.19043}
#' @seealso [dp_test()], [power_test_any()]
#' @examples
#' # two groups of 100 directions, shifted by half a standard deviation
#' simulate <- function() {
#'   z <- cbind(matrix(rnorm(400, sd = 0.3), 200), 1)
#'   z[101:200, 1] <- z[101:200, 1] + 0.15
#'   list(x = mf_project(sphere(2), z), group = rep(1:2, each = 100))
#' }
#' dp_test_plan(simulate, sphere(2), epsilon = c(0.5, 1, 2), bandwidth = 0.5, runs = 20)
#' @export
dp_test_plan <- function(simulate, M, epsilon, ..., alpha = 0.05, draws = 199, runs = 50) {
  check_manifold(M)
  check_given(c(epsilon = missing(epsilon)))
  if (!is.function(simulate)) abort_riemdp("argument", "`simulate` must be a function without arguments.")
  if (!is.numeric(epsilon) || is.object(epsilon) || !length(epsilon)) {
    abort_riemdp("argument", "`epsilon` must be positive numbers.")
  }
  for (e in epsilon) check_number(e, "epsilon", positive = TRUE)
  alpha <- check_alpha(alpha)
  runs <- check_count(runs, "runs", 2, 1e5)
  fixed <- utils::modifyList(test_defaults(list(...)), list(M = M, draws = draws), keep.null = TRUE)
  n <- NULL
  chances <- vapply(seq_len(runs), function(i) {
    asked <- simulated_test(simulate, utils::modifyList(fixed, list(epsilon = epsilon[1]), keep.null = TRUE))
    n <<- n %||% asked$records$n
    test_powers(asked, epsilon, alpha)
  }, numeric(1 + 2 * length(epsilon)))
  mean <- rowMeans(chances)
  at <- 1 + seq_along(epsilon)
  data.frame(epsilon = epsilon, n = as.numeric(n), p.value = mean[at], decision = mean[at + length(epsilon)],
             se = apply(chances[at, , drop = FALSE], 1, stats::sd) / sqrt(runs), plain = mean[1], runs = runs)
}

TEST_HOLD <- c("x", "y", "group", "data", "unit")
TEST_FIXED <- c("null", "statistic", "at", "kernel", "bandwidth", "center", "radius", "bounds", "invalid",
                "neighbours")

# `given` over the defaults of dp_test()
test_defaults <- function(given) {
  if (length(given) && (is.null(names(given)) || !all(names(given) %in% TEST_FIXED))) {
    abort_riemdp("argument", sprintf("`...` may hold %s, by name.", paste(TEST_FIXED, collapse = ", ")))
  }
  other <- setdiff(names(formals(dp_test)), c("x", "M", "epsilon", "...", "source", "ledger", "data_set", "part"))
  utils::modifyList(lapply(as.list(formals(dp_test))[other], eval, baseenv()), given, keep.null = TRUE)
}

simulated_test <- function(simulate, fixed) {
  made <- tryCatch(simulate(), error = function(e) {
    abort_riemdp("argument", paste("`simulate` failed:", conditionMessage(e)))
  })
  if (!is.list(made) || is.null(names(made)) || !all(names(made) %in% TEST_HOLD) || is.null(made[["x"]])) {
    abort_riemdp("argument", "`simulate` must return a list with `x`, and `y`, `group`, `data` or `unit` as needed.")
  }
  asked <- asked_test(utils::modifyList(fixed, made, keep.null = TRUE))
  asked$records <- test_estimator$ready(asked$records, NULL, asked$ask)
  asked
}

# the plain test's decision, and the chances that a p-value is at most alpha, and of a rejection
test_powers <- function(asked, epsilon, alpha) {
  ask <- asked$ask
  statistics <- test_statistics(asked$records, ask)
  chance <- function(epsilon, own) {
    ask$epsilon <- epsilon
    ask["alpha"] <- list(own)
    law <- test_estimator$plan(ask)$law
    weights <- law_weights(statistics, law)
    sum(weights[c(law$at, law$cells) <= alpha * law$cells * (1 + 1e-9)]) / sum(weights)
  }
  c(mean(statistics >= statistics[1]) <= alpha, vapply(epsilon, chance, 0, NULL), vapply(epsilon, chance, 0, alpha))
}
