# What makes a ledger provable afterwards: each entry's hash covers the one before it, and its reader keeps the last one
# as a receipt. Texts that are hashed, and what is remembered of ledgers, are here; R/ledger-store.R writes them, and
# R/ledger-verify.R compares (proofs/ledger.md, section 8).

# ---- numbers as text -------------------------------------------------------------------------------------------------
# Hexadecimal text is the one form that every database and every R gives back bit for bit.

hex <- function(x) paste(sprintf("%a", as.vector(x)), collapse = " ")

# numbers that were written by hex(); anything else is a broken ledger, never a zero
unhex <- function(text, count = NULL) {
  words <- strsplit(as.character(text), " ", fixed = TRUE)[[1]]
  x <- suppressWarnings(as.numeric(words))
  if (!length(x) || anyNA(x) || !all(is.finite(x)) || (!is.null(count) && length(x) != count)) {
    abort_riemdp("ledger",
                 paste("the ledger holds something that is no number: it is damaged or was changed by hand. Nothing is",
                       "released."))
  }
  x
}

# ---- canonical texts -------------------------------------------------------------------------------------------------

# Fields one after another, each behind its number of bytes in UTF-8, so that no two lists of fields give one text;
# vectorised over entries. NA is a mark of its own.
canonical <- function(...) {
  text <- function(x) if (is.numeric(x)) sprintf("%.0f", x) else as.character(x)
  field <- function(x) {
    x <- enc2utf8(x)
    out <- paste0(nchar(x, "bytes"), ":", x, ",")
    out[is.na(x)] <- "~,"
    out
  }
  texts <- lapply(list(...), text)
  if (all(lengths(texts) == 1)) return(paste(field(unlist(texts)), collapse = ""))
  do.call(paste0, lapply(texts, once_each, field))
}

# f(x) of a vector, where what is there many times is worked out once
once_each <- function(x, f) {
  if (length(x) < 1000 || anyDuplicated(utils::head(x, 1000)) == 0) return(f(x))
  each <- unique(x)
  f(each)[match(x, each)]
}

sha256 <- function(text) {
  hash <- remember("sha256", function() digest::getVDigest("sha256"))
  hash(text, serialize = FALSE)
}

# A ledger's facts as they are stored: the chain begins with them, word for word
fact_texts <- function(meta) {
  c(uid = meta$uid, rule = meta$rule, epsilon = hex(meta$epsilon), delta = hex(meta$delta), adjacency = meta$adjacency,
    reserve = hex(meta$reserve), orders = if (length(meta$orders)) hex(meta$orders) else "", limits = hex(meta$limits),
    sampled = paste(hex(meta$sampled), names(meta$sampled)), made_at = meta$made_at,
    if (has_quotas(meta)) c(quotas = quota_text(meta$quotas)))
}

has_quotas <- function(meta) length(meta$quotas) > 0

# quotas as one text: each analyst's name as in an address, so that no character of it stands between names, and the
# share
quota_text <- function(quotas) {
  names <- vapply(names(quotas), utils::URLencode, "", reserved = TRUE, repeated = TRUE)
  paste0(names, "=", sprintf("%a", quotas), collapse = " ")
}

# quotas that were written by quota_text()
read_quotas <- function(text) {
  words <- strsplit(text, " ", fixed = TRUE)[[1]]
  names <- suppressWarnings(vapply(sub("=.*", "", words), utils::URLdecode, "", USE.NAMES = FALSE))
  quotas <- stats::setNames(unhex(paste(sub(".*=", "", words), collapse = " "), length(words)), utf8_text(names))
  if (identical(quota_text(quotas), text) && all(quotas > 0 & quotas <= 1)) return(quotas)
  abort_riemdp("ledger", "the ledger's quotas are damaged or were changed by hand. Nothing is released.")
}

# the link before the first; `earlier`: what stood in the ledger before it had a chain, "" for nothing
chain_begin <- function(facts, earlier = "") {
  begin <- if ("quotas" %in% names(facts)) "riemdp-ledger-2" else "riemdp-ledger-1"
  sha256(do.call(canonical, c(list(begin), as.list(facts), list(earlier))))
}

# The hashes of entries, `rows` as they are stored: each from the hash of the one before it; `rows` have an analyst
# where the ledger has quotas
chain_next <- function(uid, before, rows) {
  kind <- if (is.null(rows$analyst)) "riemdp-entry-1" else "riemdp-entry-2"
  text <- canonical(kind, uid, before, rows$link, rows$data_set, rows$entry, rows$part, rows$made_at, rows$what,
                    rows$source, rows$event, rows$cost)
  sha256(paste0(text, if (!is.null(rows$analyst)) canonical(rows$analyst)))
}

# The entries of a ledger that had no chain yet: their number and one hash for all, in an order that no database decides
earlier_text <- function(rows) {
  if (!nrow(rows)) return("")
  rows <- rows[order(rows$data_set, rows$entry, method = "radix"), ]
  each <- canonical(rows$data_set, rows$entry, rows$part, rows$made_at, rows$what, rows$source, rows$event, rows$cost)
  paste(nrow(rows), sha256(paste(sha256(each), collapse = "")))
}

# ---- what a process remembers ----------------------------------------------------------------------------------------
# The last link that this process has seen of each ledger. One that has gone back since then was restored from an older
# copy: what it has forgotten was released all the same.

chain_marks <- new.env(parent = emptyenv())

# what was read of a ledger: the first that is known, or more than was known, if it goes on from that
see_mark <- function(meta, head_of) {
  mark <- chain_marks[[meta$uid]]
  if (!isTRUE(meta$links >= 0) || isTRUE(meta$links <= mark$links)) return(invisible())
  if (is.null(mark_fault(meta, head_of))) set_mark(meta$uid, meta$links, meta$head)
  invisible()
}

set_mark <- function(uid, links, head) chain_marks[[uid]] <- list(links = links, head = head)

# Why the chain `meta` doesn't go on from what was seen of it, or NULL; `head_of`: function(link), the hash stored
# there, of link 0 meta$begin()
mark_fault <- function(meta, head_of) {
  mark <- chain_marks[[meta$uid]]
  if (is.null(mark)) return(NULL)
  if (meta$links < mark$links) {
    return(sprintf("this process has seen link %.0f of the ledger, and now it ends at link %.0f", mark$links,
                   meta$links))
  }
  found <- if (meta$links == mark$links) meta$head else if (mark$links > 0) head_of(mark$links) else
    if (is.null(meta$begin)) mark$head else meta$begin() # ledger_verify() recomputes it anyway
  if (!identical(found, mark$head)) {
    sprintf("link %.0f of the ledger isn't what this process has seen there", mark$links)
  }
}

check_mark <- function(meta, head_of) {
  fault <- mark_fault(meta, head_of)
  if (is.null(fault)) return(invisible())
  abort_riemdp("ledger", paste0(
    fault, ": an older copy was restored, or entries were changed. What was released since then still counts. ",
    "ledger_verify() says more. Nothing is released."
  ))
}

# ---- receipts --------------------------------------------------------------------------------------------------------

RECEIPT_HEAD <- "riemdp-receipt-1"

new_receipt <- function(uid, link, head) {
  words <- paste(RECEIPT_HEAD, uid, sprintf("%.0f", link), head, sep = ":")
  structure(paste(words, substr(sha256(words), 1, 8), sep = ":"), class = "riemdp_receipt")
}

# list(ledger, link, head); `text` as new_receipt() wrote it, lines that a mail has broken and what stands around it
# aside
receipt_parts <- function(text) {
  text <- gsub("[[:space:]]", "", text, useBytes = TRUE)
  pattern <- paste0(RECEIPT_HEAD, ":[0-9a-f]{32}:[0-9]{1,15}:[0-9a-f]{64}:[0-9a-f]{8}")
  found <- regmatches(text, regexpr(pattern, text, useBytes = TRUE))
  words <- if (length(found)) strsplit(found, ":", fixed = TRUE)[[1]]
  if (is.null(words)) abort_riemdp("argument", "this is no receipt of a ledger, or a part of one is missing.")
  if (substr(sha256(paste(words[1:4], collapse = ":")), 1, 8) != words[5]) {
    abort_riemdp("argument", "the receipt's own check fails: it was copied with an error.")
  }
  list(ledger = words[2], link = as.numeric(words[3]), head = words[4])
}

# how a release names its receipt in a line
short_receipt <- function(receipt) {
  parts <- receipt_parts(receipt)
  sprintf("%.0f:%s", parts$link, substr(parts$head, 1, 8))
}

#' The receipt of a release
#'
#' A ledger is a chain: each entry has a number, its link, and a hash (SHA-256) that covers the entry, the hash before
#' it and so everything that was entered before. The receipt of a release is the link and the hash of its entry. Who
#' keeps it, a reader, a journal or a board, can hold the ledger to it later: [ledger_verify()] says whether the entry
#' is still in the ledger as it was, and with it all before it.
#'
#' A receipt is one line of letters, digits and colons, which can be pasted into a paper or a message, and is read back
#' also where a mail has broken the line. It tells how many entries the ledger had, and nothing of the records: the
#' entry is written before they are read. It isn't a signature: it says which ledger it is about and not who keeps it.
#'
#' @param x a release that was paid from a ledger, what [ledger_spend()] returned, or the text of a receipt.
#' @return The receipt: one string of class `riemdp_receipt`, `"riemdp-receipt-1:<ledger>:<link>:<hash>:<check>"`, whose
#'   last part tells errors of copying. `as.data.frame()` has its parts, `ledger`, `link` and `head`. An error of class
#'   `riemdp_error_argument` where there is none.
#' @seealso [ledger_verify()], [dp_ledger()]
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 1)
#' x <- cbind(quakes$long, quakes$lat)
#' r <- dp_mean(x, euclidean(2), epsilon = 0.6, center = c(175, -20), radius = 15, ledger = budget)
#' receipt <- ledger_receipt(r)
#' receipt
#' identical(ledger_receipt(paste("Our receipt:", receipt)), receipt)
#' ledger_verify(budget, receipt)
#' @export
ledger_receipt <- function(x) {
  text <- if (inherits(x, "riemdp_release")) x$budget$receipt else
    if (is.list(x) && !is.object(x)) x[["receipt"]] else x
  if (is.null(text)) abort_riemdp("argument", "this release was paid from no ledger, or by an earlier version.")
  text <- if (is.character(text)) unclass(text)
  if (!is_string(text)) abort_riemdp("argument", "`x` must be a release, or the text of one receipt.")
  parts <- receipt_parts(text)
  new_receipt(parts$ledger, parts$link, parts$head)
}

#' @export
print.riemdp_receipt <- function(x, ...) {
  cat(unclass(x), "\n", sep = "")
  invisible(x)
}

#' @export
as.data.frame.riemdp_receipt <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(receipt_parts(unclass(x)))
}
