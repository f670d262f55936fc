# What is read of a ledger: what is left, and for a board one page with what was released, what is left and whether it
# is as it was entered.

# ---- what is left ----------------------------------------------------------------------------------------------------

# rows of the store as one list per account, with what is left: of each data set and part first the whole, where
# `analyst` is NA, then each analyst's
ledger_accounts <- function(ledger) {
  rows <- store_accounts(ledger)
  whole <- which(rows$part == "")
  accounts <- lapply(seq_along(rows$part), function(i) {
    root <- whole[rows$data_set[whole] == rows$data_set[i]]
    if (length(root) != 1 || is.na(rows$count[root])) abort_lost_sums("a data set's")
    part <- nzchar(rows$part[i])
    state_of <- function(x) {
      list(spent = x$spent[[root]], largest = x$largest[[root]], part = if (part) x$spent[[i]])
    }
    state <- state_of(rows)
    account <- function(analyst, x, state, sums) {
      list(data_set = rows$data_set[i], part = rows$part[i], analyst = analyst %||% NA_character_,
           releases = x$count[i], state = state,
           limits = (if (is.null(analyst)) 1 else rows$meta$quotas[[analyst]]) * rows$meta$limits,
           spent = sums_add(sums$spent, if (part) sums$part else sums$largest)[1, ],
           left = state_left(rows$meta, state, part, analyst))
    }
    own <- lapply(names(rows$own), function(analyst) {
      state$own <- state_of(rows$own[[analyst]])
      account(analyst, rows$own[[analyst]], state, state$own)
    })
    c(list(account(NULL, rows, state, state)), own)
  })
  do.call(c, accounts)
}

#' @rdname dp_ledger
#' @param object,x a ledger.
#' @export
summary.riemdp_ledger <- function(object, ...) {
  check_ledger(object)
  units <- rule_units(object)
  rows <- do.call(rbind, lapply(ledger_accounts(object), function(a) {
    data.frame(data_set = a$data_set, part = if (nzchar(a$part)) a$part else NA_character_, analyst = a$analyst,
               unit = units, limit = a$limits, spent = a$spent, left = a$left,
               share_left = ifelse(a$limits > 0, a$left / a$limits, NA), releases = a$releases)
  }))
  if (has_quotas(object)) rows else rows[setdiff(names(rows), "analyst")]
}

# size of the largest single release that is still covered
largest_release <- function(ledger, account) {
  analyst <- if (!is.na(account$analyst)) account$analyst
  LEDGER_RULES[[ledger$rule]]$room(account$left, function(event) {
    is.null(spend_step(ledger, account$state, ledger_cost(ledger, event), nzchar(account$part), analyst)$lacks)
  })
}

#' @rdname dp_ledger
#' @export
format.riemdp_ledger <- function(x, ...) {
  check_ledger(x)
  units <- rule_units(x)
  e <- symbol("epsilon")
  # of analysts one line for each data set: summary() has those for parts
  shown <- Filter(function(a) is.na(a$analyst) || !nzchar(a$part), ledger_accounts(x))
  crumb <- 1e-12 # of a limit: what rounding leaves
  lines <- vapply(shown, function(a) {
    room <- largest_release(x, a)
    best <- if (is_each(x$rule)) seq_along(units) else c(which.max(a$left[-length(units)] / x$limits[-length(units)]),
                                                    length(units))
    shown <- best[x$limits[best] > 0]
    sprintf(
      "%s: %s%s; %s", account_words(a),
      if (nzchar(a$part)) "" else sprintf("%d release%s, ", as.integer(a$releases), if (a$releases == 1) "" else "s"),
      paste0("left ", paste(sprintf("%s %.4g of %.4g", units[shown],
                                    ifelse(a$left > crumb * a$limits, a$left, 0)[shown], a$limits[shown]),
                            collapse = ", ")),
      if (room > crumb * max(a$limits)) LEDGER_RULES[[x$rule]]$enough(room) else
        LEDGER_RULES[[x$rule]]$nothing %||% "nothing more can be released"
    )
  }, "")
  place <- switch(x$kind, memory = "in memory", file = sprintf("in %s", basename(x$path)), "in a database")
  c(sprintf("Privacy ledger %s: (%s, %s) budget with %s = %s, %s = %s for each data set", place, e, symbol("delta"), e,
            format(x$epsilon), symbol("delta"), format(x$delta)),
    sprintf("  rule %s: %s; neighbours: %s", x$rule, LEDGER_RULES[[x$rule]]$adds,
            paste0(x$adjacency, if (isTRUE(x$pairs)) " (releases about one more or one less count as a group of two)")),
    sampled_words(x),
    if (isTRUE(x$trusted)) "  that its commits outlast a crash is taken on trust",
    if (has_quotas(x)) paste("  quotas of analysts; opened", if (is.null(x$analyst)) "to read" else
      sprintf("as \"%s\"", x$analyst)),
    if (length(lines)) lines else "  no data set yet")
}

account_words <- function(a) {
  if (!is.na(a$analyst)) return(sprintf("    analyst \"%s\"", a$analyst))
  if (nzchar(a$part)) sprintf("    part \"%s\"", a$part) else sprintf("  data set \"%s\"", a$data_set)
}

#' @rdname dp_ledger
#' @export
print.riemdp_ledger <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

# ---- what was spent --------------------------------------------------------------------------------------------------
# An odometer: an epsilon that holds at whatever moment one stops and asks (proofs/ledger.md, section 11).

# shares of the limits at which it can stand, beside nothing at all
ODOMETER_LEVELS <- 2^(-(0:40) / 4)

#' What a ledger's releases have cost so far, as an epsilon
#'
#' The budget of a [dp_ledger()] holds from the first release on. An odometer says what has been lost up to now, which
#' is less. Such a number needs a proof of its own, since who looks at it may go on or stop because of it: the price of
#' the releases made, as if they had been planned, holds for no such reader.
#'
#' Let T be the transcript of all releases up to any moment that an analyst chooses by what was released,
#' \eqn{\epsilon_T} the number told there, P and Q the laws of T for two neighbouring data sets. Then
#' \eqn{P(T \in S) \le E_Q[e^{\epsilon_T}; T \in S] + \delta} for all sets S, with the ledger's delta (Rogers et al.
#' 2016, in the form of an inequality of expectations). The numbers are those of 41 levels, fixed beforehand, which
#' share that delta: from the whole budget down in steps of a fourth root of 2. So the epsilon jumps, and is a fifth to
#' a half above what a plan would cost that was fixed in advance; with the whole budget spent it is above the budget,
#' which of course still holds. By `rule = "basic"` it is the sum of epsilons itself.
#'
#' @inheritParams ledger_verify
#' @return A data frame with one row for each data set and part: `data_set`, `part` (`NA` for the data set as a whole,
#'   which has lost what its dearest part has), `releases`, `epsilon` (0 before the first release) and `delta`. With
#'   `sampled` the numbers are about the population.
#' @references Rogers, R., Roth, A., Ullman, J. and Vadhan, S. (2016). Privacy odometers and filters: pay-as-you-go
#' composition. *Advances in Neural Information Processing Systems* 29. \doi{10.48550/arXiv.1605.08294}
#' @seealso [dp_ledger()], [ledger_report()]
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 2, delta = 1e-6, rule = "zcdp")
#' for (i in 1:10) ledger_spend(budget, event_pure(0.05))
#' ledger_odometer(budget)
#' budget
#' @export
ledger_odometer <- function(ledger) {
  check_ledger(ledger)
  rows <- Filter(function(a) is.na(a$analyst), ledger_accounts(ledger))
  field <- function(name, kind) vapply(rows, function(a) as.vector(a[[name]], mode(kind)), kind)
  part <- field("part", "")
  data.frame(data_set = field("data_set", ""), part = ifelse(nzchar(part), part, NA_character_),
             releases = field("releases", 0), delta = rep(ledger$delta, length(rows)),
             epsilon = vapply(rows, function(a) odometer_epsilon(ledger, a$spent), 0))[c(1:3, 5, 4)]
}

# `spent`: a ledger's sums
odometer_epsilon <- function(meta, spent) {
  main <- seq_len(length(spent) - 1)
  if (all(spent[main] == 0)) return(0)
  rule <- LEDGER_RULES[[meta$rule]]
  q <- meta$sampled[[1]]
  of_population <- function(epsilon) if (q < 1) outwards(sampled_epsilon(epsilon, q)) else epsilon
  if (is.null(rule$told)) return(of_population(spent[1] * (1 + 2 * LEDGER_ROUNDING)))
  delta <- inside_budget(meta$epsilon, meta$delta, q)[2] * (1 - if (is.null(rule$reserves)) 0 else meta$reserve)
  kinds <- if (is_each(meta$rule)) list(main) else as.list(main)
  each <- delta / (length(ODOMETER_LEVELS) * length(kinds))
  told <- vapply(kinds, function(which) {
    share <- max(0, spent[which] / meta$limits[which], na.rm = TRUE)
    reached <- ODOMETER_LEVELS[ODOMETER_LEVELS >= share * (1 - LEDGER_ROUNDING)]
    if (length(reached)) rule$told(outwards(min(reached) * meta$limits[which]), each, meta, which) else Inf
  }, 0)
  of_population(min(told))
}

# ---- the report ------------------------------------------------------------------------------------------------------

#' A report of a ledger
#'
#' What was released, when and for how much, what each data set and part has left, where the chain of entries ends, and
#' what [ledger_verify()] finds: as a web page in one file, for a board or a data protection officer, and as data
#' frames. It only reads, and it shows what the ledger holds and nothing else: no records, and no released values
#' either, as the ledger has none. Who made a release is known where the ledger has quotas, by the name that it was
#' opened by; else write it into `what` of [ledger_spend()]. Where the public ball comes from is each entry's `source`.
#'
#' The page needs nothing from elsewhere, runs no scripts, and all texts of the ledger are escaped in it.
#'
#' @inheritParams ledger_verify
#' @param file path of the page, which is written over if it is there; `NULL` writes none.
#' @return An object of class `riemdp_ledger_report`, invisibly if `file` is given: a list with `facts` (a named
#'   character vector), `accounts` (what `summary()` of the ledger gives), `entries` ([ledger_history()] with `link` and
#'   `head`) and `verification` (what [ledger_verify()] gives). `accounts` or `entries` are `NULL` where the ledger was
#'   damaged so that they can't be read. `as.data.frame()` is `entries`.
#' @seealso [ledger_verify()], [ledger_history()]
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 1)
#' ledger_spend(budget, event_pure(0.2), "counts <by> age", source = "a census")
#' page <- tempfile(fileext = ".html")
#' ledger_report(budget, page)
#' ledger_report(budget)
#' @export
ledger_report <- function(ledger, file = NULL, receipts = NULL) {
  check_ledger(ledger)
  if (!is.null(file)) check_report_file(file, ledger)
  receipts <- check_receipts(receipts)
  report <- if (is_memory(ledger)) {
    report_store(ledger, receipts, memory_reader(memory_state(ledger)))
  } else {
    # all from one transaction: others may spend meanwhile
    ledger_work(ledger, function(run, ask, con) {
      inside <- ledger
      inside[c("kind", "connection", "pid")] <- list("connection", con, Sys.getpid())
      report_store(inside, receipts, database_reader(ask, con))
    }, "read")
  }
  if (is.null(file)) return(report)
  classed(writeLines(enc2utf8(report_page(report)), file, useBytes = TRUE), "`file`")
  invisible(report)
}

report_store <- function(ledger, receipts, store) {
  verification <- verify_store(ledger, receipts, store)
  readable <- function(expr) tryCatch(expr, riemdp_error = function(e) NULL)
  entries <- readable({
    rows <- store_history(ledger)
    cbind(history_table(ledger, rows), rows[c("link", "head")])
  })
  structure(list(facts = ledger_facts(ledger), accounts = readable(summary(ledger)), entries = entries,
                 verification = verification), class = "riemdp_ledger_report")
}

check_report_file <- function(file, ledger) {
  if (!is_string(file) || !nzchar(file) || dir.exists(file) || !dir.exists(dirname(path.expand(file)))) {
    abort_riemdp("argument", "`file` must be the path of a file in a directory that exists, or NULL.")
  }
  place <- function(path) normalizePath(path, winslash = "/", mustWork = FALSE)
  if (identical(ledger$kind, "file") && identical(place(file), place(ledger$path))) {
    abort_riemdp("argument", "`file` is the ledger itself.")
  }
  # by whatever name: through a link, or where the ledger was opened by a connection
  if (is_database(file) || any(endsWith(place(file), c("-wal", "-journal", "-shm")))) {
    abort_riemdp("argument", "`file` is an SQLite database, such as a ledger, or belongs to one.")
  }
}

is_database <- function(file) {
  if (!file.exists(file)) return(FALSE)
  begins <- tryCatch(suppressWarnings(readBin(file, "raw", 16)), error = function(e) raw())
  identical(begins, c(charToRaw("SQLite format 3"), as.raw(0)))
}

ledger_facts <- function(ledger) {
  c(ledger = ledger$uid, epsilon = format(ledger$epsilon, digits = 15), delta = format(ledger$delta, digits = 15),
    rule = sprintf("%s: %s", ledger$rule, LEDGER_RULES[[ledger$rule]]$adds), neighbours = ledger$adjacency,
    sample = trimws(sampled_words(ledger) %||% "none"), if (has_quotas(ledger)) c(quotas = quota_words(ledger)))
}

# ---- as a page -------------------------------------------------------------------------------------------------------

html_text <- function(x) {
  x <- enc2utf8(as.character(x))
  x[is.na(x)] <- ""
  odd <- grepl("[^ -~]", x, perl = TRUE, useBytes = TRUE)
  x[odd] <- page_characters(x[odd])
  for (one in list(c("&", "&amp;"), c("<", "&lt;"), c(">", "&gt;"), c("\"", "&quot;"), c("'", "&#39;"))) {
    x <- gsub(one[1], one[2], x, fixed = TRUE)
  }
  x
}

# bytes that are no text as such, and a mark for what would be no character of a page, or would turn the text around it
page_characters <- function(x) {
  x <- iconv(x, "UTF-8", "UTF-8", sub = "byte")
  gsub(paste0("[\u0001-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069",
              "\uFFFE\uFFFF]"), "\uFFFD", x)
}

html_table <- function(rows, none) {
  if (is.null(rows)) return("<p>The ledger is damaged: this can't be read.</p>")
  if (!nrow(rows)) return(sprintf("<p>%s</p>", html_text(none)))
  cell <- function(x) {
    if (is.numeric(x)) sprintf("<td class=\"n\">%s</td>", html_text(number_words(x))) else
      sprintf("<td>%s</td>", html_text(x))
  }
  c("<table>", sprintf("<tr>%s</tr>", paste0("<th>", html_text(gsub("_", " ", names(rows))), "</th>", collapse = "")),
    sprintf("<tr>%s</tr>", do.call(paste0, lapply(rows, cell))), "</table>")
}

number_words <- function(x) {
  whole <- is.finite(x) & x == round(x) & abs(x) < 1e15
  ifelse(is.na(x), NA, ifelse(whole, sprintf("%.0f", x), sprintf("%.6g", x)))
}

report_page <- function(report) {
  v <- report$verification
  entries <- report$entries
  if (!is.null(entries)) {
    head <- iconv(entries$head, "UTF-8", "UTF-8", sub = "byte")
    entries$head <- ifelse(is.na(head), "", paste0(substr(head, 1, 12), "..."))
  }
  facts <- data.frame(fact = names(report$facts), is = unname(report$facts))
  c("<!DOCTYPE html>", "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Privacy ledger</title>", REPORT_STYLE,
    "</head><body>", "<h1>Privacy ledger</h1>", sprintf("<p>As of %s (UTC).</p>", html_text(v$checked_at)),
    "<h2>Budget</h2>", html_table(facts, ""),
    "<h2>What is left</h2>", html_table(report$accounts, "No data set yet."),
    "<h2>Verification</h2>",
    sprintf("<p class=\"%s\">%s</p>", if (v$ok) "ok" else "bad", if (v$ok) "All is as it was entered." else
      "The ledger is NOT as it was entered."),
    if (!v$ok) html_table(v$findings, ""),
    if (v$earlier > 0) sprintf("<p>%s.</p>", html_text(earlier_words(v))),
    sprintf("<p>The chain ends at link %.0f, <code>%s</code>.</p>", v$link, html_text(v$head)),
    html_table(v$receipts, paste("No receipt was compared: a ledger that was rewritten as a whole, or an older copy,",
                                 "looks whole in itself.")),
    "<h2>What was released</h2>", html_table(entries, "Nothing yet."), "</body></html>")
}

REPORT_STYLE <- paste0(
  "<style>body{font-family:sans-serif;margin:2em;max-width:80em}table{border-collapse:collapse;margin:1em 0}",
  "th,td{border:1px solid #999;padding:.2em .6em;text-align:left;vertical-align:top}td.n{text-align:right}",
  ".ok{color:#060}.bad{color:#a00;font-weight:bold}</style>"
)

# ---- as text ---------------------------------------------------------------------------------------------------------

#' @rdname ledger_report
#' @param x what `ledger_report()` returned.
#' @export
print.riemdp_ledger_report <- function(x, ...) {
  cat(sprintf("%s: %s", names(x$facts), x$facts), format(x$verification), sep = "\n")
  for (part in c("accounts", "entries")) {
    cat("\n", part, "\n", sep = "")
    if (is.null(x[[part]])) cat("can't be read\n") else print(x[[part]][setdiff(names(x[[part]]), "head")])
  }
  invisible(x)
}

#' @rdname ledger_report
#' @param row.names,optional not used.
#' @export
as.data.frame.riemdp_ledger_report <- function(x, row.names = NULL, optional = FALSE, ...) x$entries
