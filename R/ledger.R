# Ledgers: making and opening them, and spending. What their rules add up is in ledger-rules.R, where it is kept in
# ledger-store.R, what is left in ledger-report.R.

# what never changes, and objects know as well as the store
LEDGER_FACTS <- c("uid", "rule", "epsilon", "delta", "adjacency", "reserve", "orders", "limits", "sampled", "quotas")

# ---- making and opening ----------------------------------------------------------------------------------------------

#' A ledger for the privacy budget
#'
#' Each private release tells a little about the people in the data, and these bits add up. A ledger holds a **budget**
#' for a data set, says no to a release that would exceed it, and remembers what was released. Every `dp_*()` function
#' takes one as `ledger =`: the price is then taken from the ledger *before* noise is drawn, so that no error, crash or
#' killed process gives it back.
#'
#' @section How to begin:
#' Decide on the budget before you look at any result: `epsilon`, and `delta` well below one over the number of people.
#' Make the ledger once, in a file beside the data, `dp_ledger(path, epsilon = 1, create = TRUE)`; everyone who works
#' with the data opens it by `dp_ledger(path)`. Where there is none, as in another working directory, opening is an
#' error and never a fresh budget, and so is making one where there is one. If you don't know which rule to take:
#' `"basic"` for a handful of releases, `"zcdp"` for more than ten or so, or for Gaussian noise.
#'
#' Make one ledger for the people that it protects: two ledgers for the same data are two budgets, and the data then
#' have the sum of both. Don't restore an older copy of the file: the releases that it has forgotten still count. A
#' process that has seen more refuses to spend from such a copy; others can tell by receipts, see [ledger_verify()].
#'
#' @section Rules:
#' What the next release asks for may depend on what earlier ones showed. The rule is fixed when the ledger is made, and
#' each is proven for that case:
#'
#' `r entry_items(LEDGER_RULES, "help")`
#'
#' What is left is told in the rule's unit, since "epsilon spent so far" is no guarantee while choices are still to be
#' made. Numerical composition of privacy-loss distributions is exact for plans fixed in advance, and wrong as a running
#' rule: an analyst who chooses by the results gets up to 1.475 times the delta with two releases already. One `dp_*()`
#' call may be priced that way, for it is a plan; between calls the rule's sum holds.
#'
#' Releases that have a delta of their own under `r choice_words(rules_with("reserves"), code = TRUE)` (such as Gaussian
#' noise on a curved manifold) use up `reserve`, a share of `delta` kept for them; the rest turns the sum into (epsilon,
#' delta).
#'
#' @section Data sets and parts:
#' Each data set named in `data_sets` has the whole budget to itself. A person who is in two of them can lose both. If
#' the records of a data set fall into parts by something public and fixed, such as the hospital or the year, a release
#' on one part costs that part only, and the data set as a whole loses the largest of its parts (replacing a record must
#' not move it to another part; a part chosen by a person's own private value is none). There is one division into parts
#' for each data set: parts must not overlap. Of records from [chunk_files()] the names of files are compared: a release
#' that reads a file which was released as another part is refused (`riemdp_error_argument`), and nothing is spent. What
#' is in files is not compared, since whether it is the same may tell of a person; by another name, in memory or in a
#' database the same records are not seen, unless parts are told apart by a public column, [ledger_part()]. A release
#' about units takes no `part`: a person with rows at two hospitals is in both, and would lose the sum.
#'
#' @section Secret samples:
#' Where the records are a random sample of a larger population and nobody knows who was taken, `sampled` makes the
#' ledger's budget one of the population: a person of the population may lose `epsilon` and `delta` by all releases
#' together. On the sample that allows more, \eqn{\log(1 + (e^\epsilon - 1)/q)}{log(1 + (e^epsilon - 1)/q)} and
#' \eqn{\delta/q}{delta/q} for a rate of q: 2.9 in place of 1 at q = .1. This is the limit from which releases are paid;
#' what a release states, and the price that is entered, are about the sample. All releases share one sample, so prices
#' that are reduced one by one would not add up.
#'
#' It holds if the sample was drawn once, before anything was released; by chance alone, each record by itself with
#' probability q (`adjacency = "add-remove"`), or a fixed number m of N, q = m/N, records standing in the order of
#' drawing or of another lot (`"replace-one"`); if q is public and no less than the true rate; and if who was taken
#' stays secret. Who is known to be in the sample is protected by the larger numbers only. Other releases about the same
#' people count on top. What was drawn must be what releases protect: rows, or by `c(patient = q)` all rows of a
#' patient, for releases with that `unit`. A sample of fixed size has no parts: in it a record may have taken the place
#' of one of another part.
#'
#' To price a plan that is fixed in advance: `event_poisson(q, event_compose(...))`, or [event_sample()] of it.
#'
#' @section Quotas of analysts:
#' `quotas = c(anna = 0.5, ben = 0.3)` says which share of the budget of each data set an analyst may use. Who spends
#' opens the ledger by name, `dp_ledger(path, analyst = "anna")`; without a name it can be read and not be spent from. A
#' release is refused (`riemdp_error_budget`, which says whose quota) where her own releases would exceed her share, in
#' the same transaction that keeps the whole budget, which always holds as well: the shares may add up to more than 1.
#' Where they add up to at most 1, nobody else can use up what is hers (with a grid of `orders` that isn't so).
#'
#' A share is one of each of the rule's sums: of epsilon and of delta, of rho and of the reserve, of \eqn{\mu^2}, of the
#' divergence at each order. Her releases on all records and her dearest part count, as for the ledger. Quotas are made
#' with the ledger and can't be changed. They are no promise of privacy beyond that of the budget, and none of security:
#' whoever can write to the file can open it by any name. Each entry has its analyst's name, which the chain of hashes
#' covers as it does the quotas.
#'
#' @section Safety:
#' A release is entered and checked in one transaction, which is on the disk before the noise is drawn: neither a killed
#' process nor a power cut gives budget back. What the database would have to be set to otherwise is set for the
#' transaction or refused by an error of class `riemdp_error_ledger` before anything is spent. Processes that share a
#' file wait for each other; several can't spend the same budget. Sums are kept in twice double precision, and checking
#' takes the same time for the millionth release as for the first. A ledger in memory, `dp_ledger(NULL, ...)`, is for
#' short scripts: it ends with the R session, and refuses to work in a forked or other process.
#'
#' * A file is an SQLite database with the tables `riemdp_ledger`, `riemdp_account`, `riemdp_entry`, `riemdp_token` and,
#'   with quotas, `riemdp_quota`, which versions that know of no quotas refuse; each commit waits for the disk
#'   (`synchronous = EXTRA`). SQLite's journal stays beside it, a file whose name ends in `-journal` and that holds
#'   nothing between commits: it may be deleted while no process has the ledger open. A journal in memory or none is
#'   refused, and so is a network drive, as far as the system tells (mount table on Linux, UNC paths on Windows): their
#'   locks and flushes can't be relied on.
#' * A database server is the answer there. Give a function that returns a new DBI connection,
#'   `dp_ledger(function() DBI::dbConnect(RPostgres::Postgres(), ...), ...)`; a connection itself is taken too, for this
#'   process only. For PostgreSQL each spending transaction sets `synchronous_commit` to `on` where it is less; `fsync`
#'   or `full_page_writes` off, and tables that are unlogged or temporary, are refused.
#'   For MariaDB (packages RMariaDB or RMySQL) `innodb_flush_log_at_trx_commit` other than 1, doublewrite off, a binary
#'   log without `sync_binlog = 1`, other engines than InnoDB and temporary tables are refused; its tables compare names
#'   byte by byte; the connection is left with utf8mb4 and a strict `sql_mode`. A replica that takes over may have
#'   forgotten releases: that is yours to rule out.
#' * Other databases are refused, MySQL too: how their commits reach the disk isn't known here. `durable = "trusted"`
#'   skips what is asked of a server's settings and of the tables' engine, for one that speaks the language of
#'   PostgreSQL or MariaDB and of which you know that what it has committed outlasts a crash. The ledger says so where
#'   it is printed.
#'
#' That disks keep what they report as written is assumed. Whoever may write to the file or database may change it: keep
#' it with the curator. The entries are a chain of hashes, whose last link each release carries as its receipt:
#' [ledger_verify()] says whether the ledger still is what was entered. A ledger of an earlier version gets its chain
#' when it is opened, for which it has to be writable; earlier versions refuse it then.
#'
#' @param path the ledger's file; or a function that returns a new DBI connection, or a DBI connection; or a ledger, to
#'   open it once more, such as by another `analyst`; or `NULL` for a new ledger in memory.
#' @param epsilon,delta the budget of each data set: `epsilon` positive, `delta` from 0 to below 1. May be left out for
#'   a ledger that is there; must agree with it if given.
#' @param rule `r choice_words(names(LEDGER_RULES), code = TRUE)`.
#' @param ... nothing; later arguments must be named.
#' @param create `TRUE` to make a ledger where there is none yet; `FALSE` opens one. A ledger in memory is always a new
#'   one.
#' @param data_sets names of data sets; or a list with the parts of each, e.g.
#'   `list(survey = NULL, trial = c("north", "south"))`. `"default"` if not given. A ledger that is there gets those
#'   that it hasn't yet.
#' @param orders for `r choice_words(rules_with("orders"), code = TRUE)`: orders above 1, at most 64. If not given, one
#'   that suits Gaussian noise.
#' @param reserve for `r choice_words(rules_with("reserves"), "and", TRUE)`: share of `delta`, from 0 to below 1, for
#'   releases that have a delta of their own; .1 if not given. For `r choice_words(rules_with("keeps"), code = TRUE)`:
#'   share of \eqn{\mu^2} that is never spent; 0 if not given. Beside that much normal noise a pure release of a small
#'   epsilon costs \eqn{\epsilon^2} and not \eqn{1.57 \epsilon^2}: for n releases, pure ones among them, a share of
#'   some \eqn{0.4/\sqrt{n}} allows most, and loses twice that share at most. For
#'   `r choice_words(rules_with("divides"), code = TRUE)`: share of \eqn{\mu^2} that Gaussian noise may use;
#'   0 if not given, for pure releases alone.
#' @param step for `r choice_words(rules_with("step"), code = TRUE)`: the epsilon of one step; a fiftieth of `epsilon`
#'   if not given. The epsilon that is released most is best: one of half a step costs a step, one of two steps costs 7,
#'   one of three 15.
#' @param adjacency which data sets are neighbours: those that differ by one record replaced (what `dp_*()` functions
#'   protect unless asked otherwise), or by one record more or less. Events of the other kind are refused: the same
#'   noise means another price.
#' @param pairs `TRUE`: releases about one record more or less are taken by a ledger about a replaced record, as what
#'   they are for a group of two, since a replaced record is one less and then one more: at twice their epsilon, or
#'   twice the \eqn{\mu} of normal noise. Said each time the ledger is opened, and not kept in it; its entries say what
#'   was counted so.
#' @param sampled the public rate at which the records were sampled, above 0 and at most 1 (no sample), which may have
#'   the name of the unit that was sampled; see "Secret samples". `delta` must be below it.
#' @param quotas shares of the budget by the names of analysts, each above 0 and at most 1; `NULL` for a ledger from
#'   which anybody may spend. See "Quotas of analysts".
#' @param analyst the name of the analyst who spends by this object.
#' @param durable `"checked"`: databases that don't promise the disk are refused; `"trusted"`: a server's promise isn't
#'   asked for, see "Safety". Said each time the ledger is opened.
#' @return An object of class `riemdp_ledger`. `print()` says what is left; `summary()` is a data frame with one row for
#'   each data set, part and unit: `data_set`, `part`, `unit`, `limit`, `spent`, `left`, `share_left`, `releases`;
#'   `as.data.frame()` is [ledger_history()]. With `sampled` all of these are about the sample. With `quotas` there is
#'   a row for each `analyst` as well (`NA` for all of them): `limit` is her quota, `spent` what she spent, and `left`
#'   what both her quota and the whole budget leave.
#' @references
#' Rogers, R., Roth, A., Ullman, J. and Vadhan, S. (2016). Privacy odometers and filters: pay-as-you-go composition.
#' *Advances in Neural Information Processing Systems* 29. \doi{10.48550/arXiv.1605.08294}
#'
#' Feldman, V. and Zrnic, T. (2021). Individual privacy accounting via a Renyi filter. *Advances in Neural Information
#' Processing Systems*
#' 34. \doi{10.48550/arXiv.2008.11193}
#'
#' Whitehouse, J., Ramdas, A., Rogers, R. and Wu, Z. S. (2023). Fully-adaptive composition in differential privacy.
#' *International Conference on Machine Learning*. \doi{10.48550/arXiv.2203.05481}
#'
#' Smith, A. and Thakurta, A. (2022). Fully adaptive composition for Gaussian differential privacy.
#' \doi{10.48550/arXiv.2210.17520}
#'
#' Canonne, C. L., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential privacy. *Advances in
#' Neural Information Processing Systems* 33. \doi{10.48550/arXiv.2004.00010}
#' @seealso [ledger_spend()], [ledger_history()], [ledger_verify()], [ledger_receipt()], [ledger_report()], [dp_mean()]
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 1) # in memory; give a path to keep it
#' x <- cbind(quakes$long, quakes$lat)
#' dp_mean(x, euclidean(2), epsilon = 0.6, center = c(175, -20), radius = 15, ledger = budget)
#' budget
#' # more than is left: refused, and nothing is released
#' tryCatch(dp_mean(x, euclidean(2), 0.6, center = c(175, -20), radius = 15, ledger = budget),
#'          riemdp_error_budget = function(e) conditionMessage(e))
#' summary(budget)
#' ledger_history(budget)
#' # these records are a secret tenth of a population, drawn without replacement:
#' # its budget of 1 is 2.9 for the sample
#' dp_ledger(NULL, epsilon = 1, sampled = 0.1)
#' # two analysts, of whom neither may use up what the other needs
#' shared <- dp_ledger(NULL, epsilon = 3, quotas = c(anna = 0.5, ben = 0.3))
#' anna <- dp_ledger(shared, analyst = "anna")
#' ledger_spend(anna, event_pure(1), "her count")
#' anna
#' tryCatch(ledger_spend(anna, event_pure(1)), riemdp_error_budget = function(e) conditionMessage(e))
#' @export
dp_ledger <- function(path = NULL, epsilon, delta, rule = "basic", ..., create = FALSE, data_sets = NULL,
                      orders = NULL, reserve = NULL, adjacency = c("replace-one", "add-remove"), pairs = FALSE,
                      sampled = NULL, quotas = NULL, analyst = NULL, step = NULL,
                      durable = c("checked", "trusted")) {
  check_no_more(...)
  durable <- check_choice(durable, "durable", c("checked", "trusted"))
  create <- check_flag(create, "create")
  pairs <- check_flag(pairs, "pairs")
  asked <- list(
    epsilon = if (!missing(epsilon)) check_number(epsilon, "epsilon", positive = TRUE),
    delta = if (!missing(delta)) check_delta(delta),
    rule = if (!missing(rule)) check_choice(rule, "rule", names(LEDGER_RULES)),
    orders = check_ledger_orders(orders),
    step = if (!is.null(step)) check_step(step),
    reserve = if (!is.null(reserve)) check_number(reserve, "reserve", least = 0, most = 1),
    adjacency = if (!missing(adjacency)) check_choice(adjacency, "adjacency", ADJACENCIES),
    sampled = check_sampled(sampled), quotas = check_quotas(quotas)
  )
  if (identical(asked$reserve, 1)) abort_riemdp("argument", "`reserve` must be below 1.")
  if (!is.null(data_sets)) data_sets <- check_data_sets(data_sets)
  ledger <- trust_place(ledger_place(path), durable)
  found <- find_meta(ledger, create)
  made <- found %||% new_meta(asked)
  check_sampled_parts(made, data_sets)
  analyst <- check_analyst(made, analyst)
  if (is.null(found)) {
    found <- made
    if (is.null(data_sets)) data_sets <- list(default = character())
    if (is_memory(ledger)) memory_create(found) else database_create(ledger, found, data_sets)
  }
  check_same_ledger(found, asked)
  ledger$creating <- NULL
  ledger[LEDGER_FACTS] <- found[LEDGER_FACTS]
  ledger$analyst <- analyst
  if (pairs && found$adjacency != "replace-one") {
    abort_riemdp("argument", "`pairs` is for a ledger whose neighbours are replace-one.")
  }
  if (pairs) ledger$pairs <- TRUE
  if (!is.null(data_sets)) store_declare(ledger, data_sets)
  ledger
}

# what the ledger was made with; NULL where one is to be made
find_meta <- function(ledger, create) {
  new <- if (is_memory(ledger)) is.null(ledger$uid) else isTRUE(ledger$creating)
  found <- if (!new) store_meta(ledger)
  if (!is.null(found) && create) abort_riemdp("ledger", "there is a ledger already: leave `create` out to open it.")
  if (is.null(found) && !create && !is_memory(ledger)) abort_no_ledger(ledger)
  if (!is.null(ledger$uid) && !identical(ledger$uid, found$uid)) {
    abort_riemdp("ledger", "there is another ledger now where this one was kept.")
  }
  found
}

# a budget that starts anew where one was looked for would be a second one
abort_no_ledger <- function(ledger) {
  abort_riemdp("ledger", paste(
    if (ledger$kind == "file") sprintf("there is no ledger in the file %s.", dQuote(ledger$path, FALSE)) else
      "there is no ledger in this database.",
    paste("If there should be one, look for it: a new one would be a second budget. To make the first one, say create",
          "= TRUE, once.")
  ))
}

new_meta <- function(asked) {
  if (is.null(asked$epsilon)) {
    abort_riemdp("argument", "there is no ledger yet: give `epsilon`, the budget that it shall keep.")
  }
  rule <- asked$rule %||% names(LEDGER_RULES)[1]
  delta <- asked$delta %||% 0
  check_rule_asked(rule, delta, asked)
  entry <- LEDGER_RULES[[rule]]
  reserve <- asked$reserve %||% if (is.null(entry$reserves)) 0 else 0.1
  sampled <- asked$sampled %||% NO_SAMPLE
  inside <- inside_budget(asked$epsilon, delta, sampled[[1]])
  orders <- asked$orders %||% asked$step
  if (is.null(orders)) {
    usual <- entry$orders %||% entry$step %||% function(epsilon, delta) numeric()
    orders <- usual(inside[1], inside[2] * (1 - reserve))
  }
  limits <- entry$limits(inside[1], inside[2], reserve, orders)
  check_limits(limits, rule, orders)
  list(uid = random_id(), rule = rule, epsilon = asked$epsilon, delta = delta,
       adjacency = asked$adjacency %||% "replace-one", reserve = reserve, orders = orders, limits = limits,
       sampled = sampled, quotas = asked$quotas %||% numeric(), made_at = utc_now())
}

# that the rule has a use for what was asked
check_rule_asked <- function(rule, delta, asked) {
  if (rule %in% rules_with("needs_delta") && delta == 0) {
    others <- setdiff(names(LEDGER_RULES), rules_with("needs_delta"))
    abort_riemdp("argument", sprintf("rule = \"%s\" needs `delta` > 0: without a delta only %s holds.", rule,
                                     choice_words(others)))
  }
  kept <- c(rules_with("reserves"), rules_with("keeps"), rules_with("divides"))
  if (!rule %in% kept && !is.null(asked$reserve) && asked$reserve > 0) {
    abort_riemdp("argument", sprintf("rule = \"%s\" has no `reserve`.", rule))
  }
  for (name in c("orders", "step")) {
    if (!rule %in% rules_with(name) && !is.null(asked[[name]])) {
      abort_riemdp("argument", sprintf("`%s` is for rule = %s.", name, choice_words(rules_with(name))))
    }
  }
}

# that something can be spent; the last limit is that of delta, which may be 0
check_limits <- function(limits, rule, orders) {
  sums <- if (is_each(rule)) limits[1] else limits[-length(limits)]
  if (all(is.finite(limits)) && all(sums > 0)) return(invisible())
  abort_riemdp("argument", if (rule %in% rules_with("step")) {
    "not one release of `step` fits into this budget: give a smaller step or reserve, or a larger epsilon or delta."
  } else if (length(orders)) {
    sprintf("at order %g nothing is left of this budget: leave it out, or give a larger epsilon or delta.",
            orders[which.min(sums)])
  } else {
    "the budget is out of the range of doubles."
  })
}

check_same_ledger <- function(found, asked) {
  found[c("orders", "step")] <- lapply(c("orders", "step"), function(name) {
    if (found$rule %in% rules_with(name)) found$orders # which both are kept as
  })
  for (name in names(asked)) {
    same <- identical(as.vector(asked[[name]]), as.vector(found[[name]])) &&
      identical(names(asked[[name]]), names(found[[name]]))
    if (!is.null(asked[[name]]) && !same) {
      abort_riemdp("ledger", sprintf(
        paste("the ledger was made with %s = %s, which can't be changed: leave `%s` out, or make another ledger for",
              "other data."),
        name, fact_words(found, name), name
      ))
    }
  }
}

fact_words <- function(found, name) {
  fact <- found[[name]]
  if (is.character(fact)) return(dQuote(fact, FALSE))
  switch(name, sampled = rate_words(found), quotas = quota_words(found),
         paste(format(fact, digits = 15), collapse = ", "))
}

check_ledger_orders <- function(x) {
  if (is.null(x)) return(NULL)
  ok <- is.numeric(x) && !is.object(x) && length(x) >= 1 && length(x) <= 64 && all(is.finite(x)) && all(x > 1) &&
    all(x <= 1e6)
  if (!ok) abort_riemdp("argument", "`orders` must be 1 to 64 numbers above 1, none above 1e6.")
  sort(unique(as.double(x)))
}

check_data_sets <- function(x) {
  if (is.character(x)) x <- stats::setNames(rep(list(NULL), length(x)), x)
  if (!is.list(x) || is.object(x) || !length(x) || is.null(names(x)) || anyDuplicated(names(x))) {
    abort_riemdp("argument",
                 "`data_sets` must be different names, or a list with different names that holds the parts of each.")
  }
  names(x) <- vapply(names(x), check_name, "", name = "data_sets")
  lapply(x, function(parts) {
    if (!is.null(parts) && (!is.character(parts) || is.object(parts) || length(parts) > 1e4 || anyDuplicated(parts))) {
      abort_riemdp("argument", "the parts in `data_sets` must be different strings, at most 10,000.")
    }
    vapply(as.vector(parts), check_name, "", name = "data_sets", USE.NAMES = FALSE)
  })
}

# ---- spending --------------------------------------------------------------------------------------------------------

# what an event, one that was checked, costs by a ledger's rule: one number for each of its sums
ledger_cost <- function(meta, event, delta = NULL) {
  if (meta$adjacency == "replace-one" && event$adjacency == "add-remove") {
    abort_riemdp("adjacency", paste(
      "the ledger is about a replaced record (replace-one), the release about one record more or less (add-remove):",
      "their epsilons don't add up. dp_ledger(adjacency = \"add-remove\") makes a ledger for such releases; one opened",
      "with dp_ledger(pairs = TRUE) counts them as a group of two, at twice their epsilon. Nothing is released."
    ))
  }
  set_adjacency(event$adjacency, meta$adjacency, "the ledger")
  if (fixed_sample(meta)) refuse_public_parts(event)
  if (!is.null(delta) && !meta$rule %in% rules_with("stated")) {
    abort_riemdp("argument", sprintf("rule = \"%s\" prices events without a `delta`.", meta$rule))
  }
  LEDGER_RULES[[meta$rule]]$cost(event, meta$orders, delta, kept_beside(meta))
}

# whether an event counts as a group of two
in_pairs <- function(ledger, event) {
  isTRUE(ledger$pairs) && ledger$adjacency == "replace-one" && event$adjacency == "add-remove"
}

#' Spend from a ledger
#'
#' `ledger_spend()` enters a release before it is made: it takes its price off the budget, or raises an error of class
#' `riemdp_error_budget` and changes nothing. (A ledger with quotas that was opened without an analyst's name is read
#' only, `riemdp_error_ledger`.) `dp_*()` functions with `ledger =` do this by themselves; call it for
#' releases made by other means. `ledger_history()` lists what was entered.
#'
#' @param ledger a ledger, see [dp_ledger()].
#' @param event what the release does with the data, e.g. `event_pure(0.1)`: an event, made before anything is drawn.
#' @param what a note for the history. It is kept in the ledger: nothing from the records should be in it.
#' @param ... nothing; later arguments must be named.
#' @param data_set name of the data set.
#' @param part name of one of its parts (see [dp_ledger()]), if the release touches no record of another; `NULL` for
#'   all.
#' @param delta for `rule = "basic"` and events that have an epsilon only at some delta, such as Gaussian noise: that
#'   delta.
#' @param source where the release's public bounds come from, one string, or `NULL`; kept as `what` is.
#' @return `ledger_spend()`: invisibly a list with `entry` (its number), `data_set`, `part`, `event`, `cost` and `left`
#'   (in the rule's units), and `receipt` (see [ledger_receipt()]). `ledger_history()`: a data frame with one row for
#'   each entry, `data_set`, `entry`, `part` (`NA` for all), `analyst` (of a ledger with quotas), `what`, `source` (`NA`
#'   for none), `event`, a column for each of the rule's units with the cost, and `made_at` (UTC).
#' @seealso [dp_ledger()], [ledger_verify()]
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 1, delta = 1e-6, rule = "zcdp")
#' ledger_spend(budget, event_pure(0.1), "median of another package")
#' ledger_spend(budget, event_gaussian(20))
#' ledger_history(budget)
#' plot(budget)
#' @export
ledger_spend <- function(ledger, event, what = "", ..., data_set = "default", part = NULL, delta = NULL,
                         source = NULL) {
  check_dots_empty(...)
  check_ledger(ledger)
  if (!is.null(delta)) delta <- check_delta(delta)
  spend_event(ledger, event, what, data_set, part, delta, source)
}

# `files`: names of those that the records lie in
# `once`: list(id, digest) of a request that is paid for once; `most`, `of`: how many such there may be of one kind
spend_event <- function(ledger, event, what, data_set, part, delta = NULL, source = NULL, files = NULL, once = NULL) {
  if (!identical(what, "")) what <- check_name(what, "what")
  source <- source %||% NA_character_
  if (!identical(source, NA_character_)) source <- check_name(source, "source", 2000)
  event <- check_event(event)
  if (in_pairs(ledger, event)) {
    event <- within_part(event)
    what <- paste0(what, if (nzchar(what)) " ", "(counted as a group of two)")
  }
  entry <- list(what = what, source = source, event = paste(format(event), collapse = " "), files = files, once = once,
                key = if (inherits(part, "riemdp_part")) attr(part, "column"))
  spend_cost(ledger, ledger_cost(ledger, event, delta), entry, data_set, part)
}

# tries have no ledger: its entries would tell which were made
check_no_try <- function() {
  if (is.null(purse$tries)) return(invisible())
  purse$tries$ledger <- TRUE
  abort_riemdp("argument", "a try of dp_select() spends from no ledger: give the ledger to dp_select() itself.")
}

# entry: its `what`, `source` and `event`, as they are kept; and `files`
spend_cost <- function(ledger, cost, entry, data_set, part) {
  check_no_try()
  check_spender(ledger)
  analyst <- ledger$analyst
  data_set <- check_name(data_set, "data_set")
  part <- if (is.null(part)) "" else check_name(plain_part(part), "part")
  after <- NULL
  done <- store_spend(ledger, data_set, part, c(entry, list(cost = hex(cost), analyst = analyst)),
    function(meta, state) {
      if (!identical(meta[LEDGER_FACTS], unclass(ledger)[LEDGER_FACTS])) { # else the price may be in another unit
        abort_riemdp("ledger",
                     "the ledger object was changed: open the ledger again with dp_ledger(). Nothing is released.")
      }
      limits <- meta$limits
      if (length(cost) != length(limits) || !is.numeric(cost) || anyNA(cost) || any(cost < 0)) {
        abort_riemdp("argument", "this event has no price by the ledger's rule.")
      }
      step <- spend_step(meta, state, cost, nzchar(part), analyst)
      if (!is.null(step$lacks)) abort_budget(meta, state, cost, data_set, part, if (step$lacks == "quota") analyst)
      after <<- state_left(meta, step$state, nzchar(part), analyst)
      step$state
    })
  names(after) <- names(cost) <- rule_units(ledger)
  invisible(list(entry = done$entry, data_set = data_set, part = if (nzchar(part)) part, event = entry$event,
                 cost = cost, left = after, receipt = done$receipt))
}

# ---- releases of dp_*() functions ------------------------------------------------------------------------------------

# What a release does to the data, from its guarantee: the event that a ledger prices. NULL where nothing is promised.
release_event <- function(g) {
  if (g$label == "none") return(NULL)
  latest("event", g, function() {
    if (is.finite(g$mu) && g$mu > 0 && g$mu_slack <= LATTICE_SLACK) {
      event_gaussian(1 / g$mu, adjacency = g$adjacency)
    } else if (g$delta > 0) {
      event_approx(g$epsilon, g$delta, adjacency = g$adjacency)
    } else {
      event_pure(g$epsilon, adjacency = g$adjacency)
    }
  })
}

# Takes the price of a release that is about to be drawn; what the release then says about it. Everything here is
# public.
spend_release <- function(ledger, g, event, what, data_set, part, source = NULL, files = NULL) {
  if (is.null(ledger)) return(list(event = event))
  if (g$rng == "simulation") return(list(note = "a simulation: nothing was taken from the ledger"))
  if (!is.null(part) && !identical(g$unit, "row")) {
    abort_riemdp("unsupported", paste("`part` isn't available with `unit`: a unit may have rows in several parts,",
                                      "whose prices would add up. Without `part` the release costs the whole data",
                                      "set. Nothing is released."))
  }
  check_sampled_unit(ledger, g$unit)
  if (g$label == "none") {
    abort_riemdp("ledger", sprintf(
      paste("a release that is labelled NOT PRIVATE (%s) has no price and can't be entered in a ledger. Nothing is",
            "released."), g$reason
    ))
  }
  # what the release states, and not what another accountant finds for its noise, where epsilons and deltas are added
  priced <- if (ledger$rule %in% rules_with("stated") && g$delta > 0) {
    event_approx(g$epsilon, g$delta, adjacency = g$adjacency)
  } else {
    event
  }
  entry <- spend_event(ledger, priced, what, data_set, part, source = source, files = files)
  c(list(event = event, rule = ledger$rule, entry = entry$entry, data_set = entry$data_set, part = entry$part,
         cost = entry$cost, receipt = entry$receipt),
    if (is_sampled(ledger)) list(sampled = ledger$sampled),
    if (in_pairs(ledger, priced)) list(pairs = TRUE))
}

format_budget <- function(b) {
  if (!is.null(b$note)) return(b$note)
  if (!is.null(b$entry)) {
    cost <- b$cost[b$cost > 0]
    return(sprintf("entry %d of data set \"%s\"%s in the ledger, %s (rule %s)%s%s%s", as.integer(b$entry), b$data_set,
                   if (is.null(b$part)) "" else sprintf(", part \"%s\",", b$part),
                   paste(names(cost), sprintf("%.4g", cost), collapse = ", "), b$rule,
                   if (isTRUE(b$pairs)) ", counted as a group of two: its neighbours are replace-one" else "",
                   if (is_sampled(b)) sample_note(b) else "",
                   if (is.null(b$receipt)) "" else paste("; receipt", short_receipt(b$receipt))))
  }
  if (!is.null(b$event)) paste0("in no ledger; it costs ", format(b$event))
}

# `analyst`: whose quota it is that doesn't cover the cost
abort_budget <- function(meta, state, cost, data_set, part, analyst = NULL) {
  units <- rule_units(meta)
  left <- state_left(meta, state, nzchar(part), analyst)
  shown <- cost > 0 | seq_along(cost) == 1
  abort_riemdp("budget", paste0(
    if (is.null(analyst)) "the budget of" else sprintf("the quota of analyst \"%s\" on", analyst),
    sprintf(" data set \"%s\"%s doesn't cover this: it costs ", data_set,
            if (nzchar(part)) sprintf(", part \"%s\",", part) else ""),
    paste(sprintf("%s %.6g, left %.6g", units[shown], cost[shown], left[shown]), collapse = "; "),
    ". Nothing was spent and nothing is released."
  ))
}

#' @rdname ledger_spend
#' @export
ledger_history <- function(ledger) {
  check_ledger(ledger)
  history_table(ledger, store_history(ledger))
}

#' @rdname ledger_spend
#' @param x a ledger.
#' @param row.names,optional not used.
#' @export
as.data.frame.riemdp_ledger <- function(x, row.names = NULL, optional = FALSE, ...) ledger_history(x)
