# The best of several private releases, of a secret number of tries. Proof: inst/proofs/accounting.md, section 4.

#' The best of several private releases
#'
#' To choose a radius, a method or anything else by what releases themselves say. Each try takes a candidate by lot,
#' makes a private release with it, and gives it a score; of a secret number of tries the best is shown, and nothing of
#' the others. That costs three times what one try costs (twice with `shape = 0`), however many tries there are, where
#' showing all of them would cost their sum.
#'
#' All `tries` are made, so how long the call takes doesn't tell K, the number of those that count. K is drawn with
#' probabilities in proportion to \eqn{1/k^{1 - s}}{1/k^(1 - s)}, k = 1, ..., `tries`, where s is the shape: with `shape
#' = 1` all numbers are equally likely, with `shape = 0` few tries are likelier (19 of 100 on average), but each try may
#' spend half of `epsilon` and not a third. The result is \eqn{\epsilon}-differentially private by a theorem of Papernot
#' and Steinke (2022), whose condition holds for these laws too; for one try in every outcome, scores included.
#'
#' `run` and `score` see records, or may: **what they print, warn and return is swallowed, but not what they do
#' elsewhere**. A function that writes files, opens connections, changes variables, signals conditions of its own or
#' takes longer for some records tells of them. Both must read records by `dp_*()` functions alone, in this process. All
#' releases of a try count, also those that its score makes, and together they may spend the epsilon that `run` was
#' given, from no ledger of their own. A try that fails, has a score that is no number or spends more counts as the
#' worst. One try is rehearsed first, up to its first release, before anything is spent or drawn: a first release of
#' another kind is told then.
#'
#' What is shown was chosen for its score, so noise that makes a release look good is likelier in it: the errors and
#' intervals of a single release aren't its own, and it has none here.
#'
#' @param candidates a vector or list of what may be tried, public.
#' @param run function of a candidate and an epsilon, e.g. `function(radius, epsilon) dp_mean(...)`, that gives a
#'   release of label `pure` of at most that epsilon, for these `neighbours` and this `unit`.
#' @param score function of what `run` gave and its candidate that gives a number; the larger the better.
#' @param epsilon privacy budget of all tries together, positive.
#' @param tries number of tries, 2 to 100,000, public.
#' @param shape 1 or 0, of the law of the secret number, see above.
#' @param ... not used: further arguments are given by name.
#' @param neighbours,unit what each try protects, as for [dp_mean()].
#' @param source,ledger,data_set as for [dp_mean()]. There is no `part`: the ledger couldn't see what tries read.
#' @return A [riemdp_release] of class `riemdp_selection`: `value` of the chosen release, `candidate`, its number
#'   `which`, `score`, and so on.
#' @section Errors:
#' `riemdp_error_argument` where the rehearsed try gives another kind of release; `riemdp_error_failed` where all tries
#' that counted failed.
#' @references
#' Papernot, N. and Steinke, T. (2022). Hyperparameter tuning with Renyi differential privacy. *International Conference
#' on Learning Representations*. \doi{10.48550/arXiv.2110.03620}
#'
#' Liu, J. and Talwar, K. (2019). Private selection from private candidates. *ACM Symposium on Theory of Computing*,
#' 298-309. \doi{10.1145/3313276.3316377}
#' @seealso [event_select()] prices other such choices
#' @examples
#' x <- cbind(quakes$long, quakes$lat)
#' # a radius by the error of its noise and the released share of records that it cuts
#' run <- function(radius, epsilon) {
#'   dp_mean(x, euclidean(2), epsilon, center = c(180, -20), radius = radius, clipped = 0.3)
#' }
#' score <- function(r, radius) -r$expected_error - radius * max(0, r$clipped$share)
#' r <- dp_select(c(5, 10, 20, 40), run, score, epsilon = 2, tries = 20)
#' r
#' r$candidate
#' @export
dp_select <- function(candidates, run, score, epsilon, tries = 10 * length(candidates), shape = 1, ...,
                      neighbours = c("replace", "add_remove"), unit = NULL, source = NULL, ledger = NULL,
                      data_set = "default") {
  check_no_more(...)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(candidates = missing(candidates), run = missing(run), score = missing(score),
                epsilon = missing(epsilon)))
  candidates <- taken_apart(candidates)
  if (!is.function(run) || !is.function(score)) abort_riemdp("argument", "`run` and `score` must be functions.")
  shape <- check_number(shape, "shape", least = 0, most = 1)
  if (!shape %in% c(0, 1)) abort_riemdp("argument", "`shape` must be 0 or 1.")
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  if (!is.null(unit)) unit <- check_name(unit, "unit")
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  ask <- list(
    epsilon = epsilon, each = inwards(epsilon / (2 + shape)), shape = shape, count = length(candidates),
    tries = check_count(tries, "tries", 2, 1e5), adjacency = if (replace) "replace-one" else "add-remove",
    unit = unit, source = stated_source(source)
  )
  if (!(ask$each > 0)) abort_riemdp("argument", "`epsilon` is too small to be shared out.")
  release_private(selection_estimator, ask, list(candidates = candidates, run = run, score = score), ledger, data_set)
}

# one by one, whatever class they have
taken_apart <- function(x) {
  out <- if (is.atomic(x) || is.list(x)) contained(lapply(seq_along(x), function(i) x[[i]]), NULL)
  if (!length(out)) abort_riemdp("argument", "`candidates` must be a vector or list of at least one.")
  out
}

selection_estimator <- list(
  entry = function(plan, ask) entry_words("dp_select", sprintf("best of at most %d tries", ask$tries), ask$unit),
  parts = c(theorem = "text"),
  plan = function(ask) {
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"), c(
      if (ask$adjacency == "replace-one") "number of records is public",
      "candidates are public", "`run` and `score` read records by private functions alone, and do nothing elsewhere",
      "what each try assumes"
    ), adjacency = ask$adjacency)
    list(theorem = "proofs/accounting.md, section 4", guarantee = of_units(g, ask$unit))
  },
  # What the first release of a try would state, before anything is spent or drawn: what follows, and whether it fails,
  # may depend on records.
  ready = function(records, plan, ask) {
    if (keep_random_state(selection_try(1, records, ask, rehearsal = TRUE))$wrong) {
      abort_riemdp("argument", sprintf(paste(
        "`run` must give a release, and all releases that it makes must be of label pure, for neighbours \"%s\" and",
        "%s, from no ledger of their own, and together spend no more than the epsilon it is given. A rehearsed try did",
        "otherwise. Nothing was spent."
      ), ask$adjacency, if (is.null(ask$unit)) "rows" else paste("the unit", dQuote(ask$unit, FALSE))))
    }
    records
  },
  draw = function(records, plan, ask, budget) {
    pay(price_selection(ask$each, ask$shape))
    counts <- selection_number(ask$tries, ask$shape)
    best <- NULL
    make_all <- function() {
      for (i in seq_len(ask$tries)) {
        one <- selection_try(one_by_weight(rep(1, ask$count)), records, ask)
        if (i <= counts && !is.null(one$score) && (is.null(best) || one$score > best$score)) best <<- one
      }
    }
    if (in_simulation()) make_all() else keep_random_state(make_all())
    best
  },
  answer = function(out, plan, ask, budget) {
    if (is.null(out)) {
      abort_riemdp("failed", paste("no try that counted gave a release with a score that is a number. The budget is",
                                   "spent. What `run` and `score` say when they fail is told nowhere."))
    }
    new_release(
      out$release$value, "riemdp_selection", candidate = out$candidate, which = out$which, score = out$score,
      candidates = ask$count, tries = ask$tries, shape = ask$shape, mechanism = "selection", each = ask$each,
      theorem = plan$theorem, expected_error = NA_real_, manifold = out$release$manifold, budget = budget,
      guarantee = plan$guarantee
    )
  }
)

# K tries of pure releases of `each`, K's law of this shape, in whatever order scores have
price_selection <- function(each, shape) {
  draw_price("selection", "accounting.md, 4", 2 + shape, 1 / each, epsilon = (2 + shape) * each)
}

# how many tries count: k with probability in proportion to 1 (shape 1), or to 1/k (shape 0)
selection_number <- function(tries, shape) one_by_weight(1 / seq_len(tries)^(1 - shape))

# one of several, in the same time whichever it is: by a normal draw's place in its law
one_by_weight <- function(weights) {
  u <- stats::pnorm(.Call(riemdp_noise, euclidean(1), 0, 1, "wrapped_gaussian", 1, in_simulation())[1])
  sums <- cumsum(weights)
  min(length(weights), 1 + sum(sums <= u * sums[length(sums)]))
}

# One try with candidate i: list(release, candidate, which, score), where what fails has no score. What it says is
# lost. `rehearsal`: only until its first release; `wrong` says whether that, or that there is none, isn't as promised.
selection_try <- function(i, records, ask, rehearsal = FALSE) {
  candidate <- records$candidates[[i]]
  release <- score <- NULL
  ended <- FALSE
  before <- purse$tries
  on.exit(purse$tries <- before)
  tries <- purse$tries <- new.env(parent = emptyenv())
  tries$rehearsal <- rehearsal
  tries$ledger <- FALSE
  fine <- function() inherits(release, "riemdp_release") && states_no_more(tries$made, release$guarantee, ask)
  unheard(muted(contained(utils::capture.output({
    release <- records$run(candidate, ask$each)
    ended <- TRUE
    # scores may be private, of what is left
    if (fine()) score <- records$score(release, candidate)
    if (!fine()) score <- NULL
  }), NULL)))
  if (rehearsal) {
    first <- utils::head(tries$made, 1)
    return(list(wrong = tries$ledger || if (length(first)) !states_no_more(first, first[[1]], ask) else ended))
  }
  if (!is.numeric(score) || is.object(score) || length(score) != 1 || is.na(score)) return(list())
  list(release = release, candidate = candidate, which = i, score = as.double(score))
}

# Whether a try promises what the choice among tries is priced by: guarantees of all that was `made`, at least one, and
# of what came out. All must be about the same neighbours, and pure.
states_no_more <- function(made, shown, ask) {
  ok <- vapply(c(made, list(shown)), function(g) {
    inherits(g, "riemdp_guarantee") &&
      (identical(g$label, "pure") || in_simulation() && identical(g$reason, SIMULATED)) &&
      isTRUE(g$nominal_epsilon > 0) && isTRUE(g$nominal_delta == 0) && identical(g$adjacency, ask$adjacency) &&
      identical(g$unit, ask$unit %||% "row")
  }, NA)
  # a sum of doubles; `each` is rounded down by more
  all(ok) && length(made) > 0 && sum(vapply(made, `[[`, 0, "nominal_epsilon")) <= ask$each * (1 + 1e-13)
}

#' @export
format.riemdp_selection <- function(x, ...) {
  c(sprintf("Private selection: candidate %d of %d, the best of a secret number of tries (at most %d)", x$which,
            x$candidates, x$tries),
    sprintf("  score %.6g; each try spent %s = %.4g, all together cost what is stated", x$score, symbol("epsilon"),
            x$each),
    NextMethod()[-1])
}
