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
  verification <- ledger_verify(ledger, receipts)
  readable <- function(expr) tryCatch(expr, riemdp_error = function(e) NULL)
  entries <- readable(cbind(ledger_history(ledger), store_history(ledger)[c("link", "head")]))
  report <- structure(list(facts = ledger_facts(ledger), accounts = readable(summary(ledger)), entries = entries,
                           verification = verification), class = "riemdp_ledger_report")
  if (is.null(file)) return(report)
  classed(writeLines(enc2utf8(report_page(report)), file, useBytes = TRUE), "`file`")
  invisible(report)
}

check_report_file <- function(file, ledger) {
  if (!is_string(file) || !nzchar(file) || dir.exists(file) || !dir.exists(dirname(path.expand(file)))) {
    abort_riemdp("argument", "`file` must be the path of a file in a directory that exists, or NULL.")
  }
  if (identical(normalizePath(file, winslash = "/", mustWork = FALSE), ledger$path)) {
    abort_riemdp("argument", "`file` is the ledger itself.")
  }
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
  for (one in list(c("&", "&amp;"), c("<", "&lt;"), c(">", "&gt;"), c("\"", "&quot;"), c("'", "&#39;"))) {
    x <- gsub(one[1], one[2], x, fixed = TRUE)
  }
  # what would be no character of a page
  gsub("[\001-\010\013\014\016-\037]", "\uFFFD", x)
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

number_words <- function(x) ifelse(is.na(x), NA, vapply(x, format, "", digits = 6))

report_page <- function(report) {
  v <- report$verification
  entries <- report$entries
  if (!is.null(entries)) entries$head <- ifelse(is.na(entries$head), "", paste0(substr(entries$head, 1, 12), "..."))
  facts <- data.frame(fact = names(report$facts), is = unname(report$facts))
  c("<!DOCTYPE html>", "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Privacy ledger</title>", REPORT_STYLE,
    "</head><body>", "<h1>Privacy ledger</h1>", sprintf("<p>As of %s (UTC).</p>", html_text(v$checked_at)),
    "<h2>Budget</h2>", html_table(facts, ""),
    "<h2>What is left</h2>", html_table(report$accounts, "No data set yet."),
    "<h2>Verification</h2>",
    sprintf("<p class=\"%s\">%s</p>", if (v$ok) "ok" else "bad", if (v$ok) "All is as it was entered." else
      "The ledger is NOT as it was entered."),
    if (!v$ok) html_table(v$findings, ""),
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
