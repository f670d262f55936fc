# What a board reads of a ledger: one page with what was released, what is left and whether it is as it was entered.

#' A report of a ledger
#'
#' What was released, when and for how much, what each data set and part has left, where the chain of entries ends, and
#' what [ledger_verify()] finds: as a web page in one file, for a board or a data protection officer, and as data
#' frames. It only reads, and it shows what the ledger holds and nothing else: no records, and no released values
#' either, as the ledger has none. The ledger doesn't know who made a release; write it into `what` of [ledger_spend()]
#' if it should. Where the public ball comes from is each entry's `source`.
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
    sample = trimws(sampled_words(ledger) %||% "none"))
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
