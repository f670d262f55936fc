# Whether a ledger still is what was entered: sums, limits and prices anew from its entries, the chain of their hashes
# from its start, and receipts that others have kept (proofs/ledger.md, section 8).

#' Verify a ledger
#'
#' Goes through a whole ledger: whether its limits are those that rule, epsilon and delta give, whether every price is a
#' number that can be one, whether its sums are those of the entries, whether the chain of hashes (SHA-256) holds from
#' the facts that the ledger was made with to its last entry, and whether receipts that were kept elsewhere are in it.
#' It only reads, and what it finds is a table and no error. See [ledger_receipt()] for what a reader keeps.
#'
#' @section What is shown, and what isn't:
#' The chain alone shows what was done to the ledger by whoever didn't recompute it: entries that were edited, deleted,
#' swapped or put in, prices, limits and facts that were changed. Whoever can write to the file and recomputes all the
#' hashes, or puts back an older copy, leaves a chain that is whole in itself. **Only something outside the file shows
#' that**: a receipt (each one shows that its entry, and all before it, are as they were), or the memory of an R
#' process, which refuses to spend from a ledger that has gone back since it last saw it. What was entered after the
#' last receipt that anybody keeps can be cut off unnoticed. So send receipts out: print them beside results, or post
#' the last one, which `print()` of the outcome shows, at regular times.
#'
#' Neither hash nor receipt shows that a release was entered at all. Tokens of checkpoints, and which data sets and
#' parts the ledger has, are not in the chain. A ledger that an earlier version made gets its chain when it is opened by
#' this one: what it held by then is covered by the first link as it was at that time, and not what was done to it
#' before.
#'
#' @param ledger a ledger, see [dp_ledger()].
#' @param receipts what was kept outside: a release, a receipt or its text, several texts, or a list of such. A receipt
#'   that can't be read is an error of class `riemdp_error_argument`.
#' @param ... not used.
#' @return An object of class `riemdp_verification`, a list with `ok`; `findings`, a data frame with a row for each
#'   thing that isn't as it must be: `kind`, `data_set`, `entry`, `link` (`NA` where it is about none) and `says`; at
#'   most 100 rows of a kind; `entries`, the number of entries; `link` and `head`, where the chain ends; `receipts`, a
#'   data frame with `ledger`, `link` and `status` of each; `checked_at` (UTC). Kinds are
#'   `r entry_list(VERIFY_KINDS, "is")`. `as.data.frame()` is `findings`.
#' @references
#' Haber, S. and Stornetta, W. S. (1991). How to time-stamp a digital document. *Journal of Cryptology* 3, 99-111.
#' \doi{10.1007/BF00196791}
#'
#' Schneier, B. and Kelsey, J. (1999). Secure audit logs to support computer forensics. *ACM Transactions on Information
#' and System Security* 2, 159-176. \doi{10.1145/317087.317089}
#' @seealso [ledger_receipt()], [ledger_report()], [dp_ledger()]
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 1)
#' kept <- ledger_receipt(ledger_spend(budget, event_pure(0.2), "a count"))
#' ledger_spend(budget, event_pure(0.1), "a mean")
#' ledger_verify(budget, kept)
#' # the receipt of another ledger
#' other <- ledger_receipt(ledger_spend(dp_ledger(NULL, epsilon = 1), event_pure(0.2)))
#' ledger_verify(budget, list(kept, other))$findings
#' @export
ledger_verify <- function(ledger, receipts = NULL) {
  check_ledger(ledger)
  receipts <- check_receipts(receipts)
  found <- new.env(parent = emptyenv())
  found$rows <- list()
  if (is_memory(ledger)) {
    verify_store(found, ledger, receipts, memory_reader(memory_state(ledger)))
  } else {
    ledger_work(ledger, function(run, ask, con) verify_store(found, ledger, receipts, database_reader(ask)), "read")
  }
  findings <- do.call(rbind, c(list(finding("", "")[0, ]), found$rows))
  structure(list(ok = nrow(findings) == 0, findings = findings, entries = found$entries, link = found$links,
                 head = found$head, uid = found$uid, receipts = found$receipts, checked_at = utc_now()),
            class = "riemdp_verification")
}

# Kinds of findings, in words
VERIFY_KINDS <- list(
  facts = list(is = "what the ledger was made with"),
  limits = list(is = "limits that the rule doesn't give"),
  earlier = list(is = "entries from before the chain"),
  missing = list(is = "entries that are gone"),
  entry = list(is = "entries that aren't what their hash says"),
  head = list(is = "a chain that ends elsewhere"),
  price = list(is = "prices that are none"),
  sums = list(is = "sums that aren't those of the entries"),
  over = list(is = "more spent than the limits allow"),
  rollback = list(is = "a ledger that has gone back"),
  receipt = list(is = "receipts that don't fit")
)

FINDINGS_MOST <- 100L
VERIFY_CHUNK <- 100000L # entries at a time

finding <- function(kind, says, data_set = NA_character_, entry = NA_integer_, link = NA_real_) {
  data.frame(kind = kind, data_set = data_set, entry = as.integer(entry), link = as.numeric(link), says = says)
}

# enters findings; of many rows the first ones, and how many there are
report_finding <- function(found, kind, says, rows = NULL, at = TRUE) {
  rows <- rows[which(rep_len(at, NROW(rows))), ]
  if (is.null(rows)) {
    new <- finding(kind, says)
  } else {
    if (!nrow(rows)) return(invisible())
    first <- rows[seq_len(min(nrow(rows), FINDINGS_MOST)), ]
    new <- finding(kind, says, first$data_set, suppressWarnings(as.integer(first$entry)), first$link)
    more <- nrow(rows) - nrow(first)
    if (more > 0) new <- rbind(new, finding(kind, sprintf("%s (and %d more)", says, more)))
  }
  found$rows <- c(found$rows, list(new))
}

check_receipts <- function(x) {
  if (is.null(x)) return(list())
  if (inherits(x, "riemdp_release") || inherits(x, "riemdp_receipt")) x <- list(x)
  if (is.character(x)) x <- as.list(x)
  if (!is.list(x) || is.object(x)) abort_riemdp("argument", "`receipts` must be releases, receipts or their texts.")
  if (is.character(x$receipt)) x <- list(x) # what ledger_spend() returned
  lapply(unname(x), function(one) receipt_parts(unclass(ledger_receipt(one))))
}

# ---- readers: what verifying asks of a store -------------------------------------------------------------------------
# list(meta: the ledger's row, as stored; accounts: a data frame, sums as text; entries: function(after), the next rows
# by their links; unlinked: rows without a link; head_of: function(link))

memory_reader <- function(state) {
  rows <- memory_rows(state)
  rows <- rows[order(rows$link), ]
  texts <- fact_texts(state$meta)
  accounts <- do.call(rbind, lapply(names(state$accounts), function(set) {
    a <- state$accounts[[set]]
    data.frame(data_set = set, part = c("", names(a$parts)), version = c(a$count, rep(NA, length(a$parts))),
               spent = c(hex(a$spent), vapply(a$parts, hex, "", USE.NAMES = FALSE)), largest_part = hex(a$largest))
  }))
  meta <- as.data.frame(as.list(texts))
  names(meta)[names(meta) == "rule"] <- "budget_rule"
  list(meta = cbind(meta, format = LEDGER_FORMAT, links = state$links, head = state$head, earlier = ""),
       accounts = accounts, unlinked = rows[0, ], entries = function(after) rows[rows$link > after, ],
       head_of = function(link) rows$head[rows$link %in% link])
}

database_reader <- function(ask) {
  text <- function(rows) {
    for (name in setdiff(ENTRY_COLUMNS, c("entry", "link"))) rows[[name]] <- as.character(rows[[name]])
    rows$entry <- as.numeric(rows$entry)
    rows$link <- as.numeric(rows$link)
    rows
  }
  columns <- paste("SELECT", paste(ENTRY_COLUMNS, collapse = ", "), "FROM riemdp_entry WHERE")
  list(meta = ask("meta"), accounts = ask("SELECT * FROM riemdp_account"),
       unlinked = text(ask(paste(columns, "link IS NULL"))),
       entries = function(after) {
         text(ask(paste(columns, sprintf("link > %.0f ORDER BY link LIMIT %d", after, VERIFY_CHUNK))))
       },
       head_of = function(link) as.character(ask("linked", link = as.integer(link))$head))
}

# ---- verifying -------------------------------------------------------------------------------------------------------

verify_store <- function(found, ledger, receipts, store) {
  row <- store$meta
  if (nrow(row) != 1) abort_riemdp("ledger", "there is no ledger in this database any more.")
  texts <- stored_facts(row)
  texts[is.na(texts)] <- ""
  found$uid <- texts[["uid"]]
  found$links <- as.numeric(row$links)
  found$head <- as.character(row$head)
  meta <- tryCatch(unhex_facts(texts), riemdp_error = function(e) NULL)
  if (is.null(meta) || !meta$rule %in% names(LEDGER_RULES)) {
    report_finding(found, "facts", "what the ledger was made with can't be read")
    meta <- NULL
  } else {
    verify_facts(found, ledger, meta)
  }
  begin <- verify_earlier(found, row, texts, store$unlinked)
  sums <- verify_entries(found, texts[["uid"]], begin, store, meta)
  if (!is.null(meta)) verify_sums(found, meta, sums, store$accounts)
  verify_outside(found, receipts, store)
}

verify_facts <- function(found, ledger, meta) {
  if (!identical(meta[LEDGER_FACTS], unclass(ledger)[LEDGER_FACTS])) {
    report_finding(found, "facts", "the ledger isn't the one that was opened: its facts are other ones now")
  }
  due <- tryCatch({
    inside <- inside_budget(meta$epsilon, meta$delta, meta$sampled[[1]])
    LEDGER_RULES[[meta$rule]]$limits(inside[1], inside[2], meta$reserve, meta$orders)
  }, error = function(e) NULL)
  # a computer may round them otherwise; the chain has them to the last bit
  same <- length(due) == length(meta$limits) && isTRUE(all(abs(meta$limits - due) <= 1e-9 * due))
  if (!same) report_finding(found, "limits", "the limits aren't those that rule, epsilon and delta give")
}

# the link that the chain begins with
verify_earlier <- function(found, row, texts, unlinked) {
  earlier <- as.character(row$earlier)
  if (!identical(earlier, earlier_text(unlinked))) {
    report_finding(found, "earlier", if (nzchar(earlier %||% "")) {
      "entries from before the chain aren't those that it began with"
    } else {
      "there are entries without a link"
    })
  }
  chain_begin(texts, earlier)
}

# Entries in the order of the chain; returns what they add up to, by account
verify_entries <- function(found, uid, begin, store, meta) {
  sums <- new.env(parent = emptyenv())
  found$entries <- nrow(store$unlinked)
  last <- list(link = 0, head = begin)
  add_prices(found, sums, store$unlinked, meta)
  repeat {
    rows <- store$entries(last$link)
    if (!nrow(rows)) break
    before <- c(last$head, rows$head[-nrow(rows)])
    gap <- rows$link - c(last$link, rows$link[-nrow(rows)]) - 1
    for (i in utils::head(which(gap > 0), FINDINGS_MOST)) {
      says <- if (gap[i] == 1) sprintf("link %.0f is gone", rows$link[i] - 1) else
        sprintf("links %.0f to %.0f are gone", rows$link[i] - gap[i], rows$link[i] - 1)
      report_finding(found, "missing", says)
    }
    wrong <- chain_next(uid, before, rows) != rows$head
    # behind a gap the hash before is missing
    report_finding(found, "entry", "it was edited, moved or put in, or the facts before it were changed", rows,
                   (is.na(wrong) | wrong) & gap <= 0)
    add_prices(found, sums, rows, meta)
    found$entries <- found$entries + nrow(rows)
    last <- list(link = rows$link[nrow(rows)], head = rows$head[nrow(rows)])
  }
  if (!identical(last$link, found$links) || !identical(last$head, found$head)) {
    report_finding(found, "head", "the ledger's head isn't that of its last entry: entries were cut off or added")
  }
  sums
}

# Adds prices to the sums of their accounts, and counts; says which are none. Numbers of a data set go up one by one.
add_prices <- function(found, sums, rows, meta) {
  if (is.null(meta) || !nrow(rows)) return(invisible())
  units <- length(meta$limits)
  each <- unique(rows$cost) # many releases cost the same
  words <- strsplit(each, " ", fixed = TRUE)
  fit <- lengths(words) == units & !is.na(each)
  cost <- matrix(NA_real_, units, length(each))
  cost[, fit] <- suppressWarnings(as.numeric(unlist(words[fit])))
  cost <- cost[, match(rows$cost, each), drop = FALSE]
  endless <- length(meta$orders) > 1 # an order at which nothing is known; never delta
  most <- rep(c(if (endless) Inf else .Machine$double.xmax, 1), c(units - 1, 1))
  bad <- colSums(!(cost >= 0 & cost <= most) | is.na(cost)) > 0
  report_finding(found, "price", "its price is negative, endless or no number", rows, bad)
  cost <- pmin(cost, c(4 * meta$limits[-units], Inf))
  groups <- split(seq_len(nrow(rows))[!bad], list(rows$data_set[!bad], rows$part[!bad]), drop = TRUE, sep = "\r")
  for (name in names(groups)) {
    old <- sums[[name]] %||% list(sum = sums_zero(units), count = 0)
    mine <- cost[, groups[[name]], drop = FALSE]
    sums[[name]] <- list(sum = sums_add(old$sum, sum_columns(mine)), count = old$count + ncol(mine))
  }
}

# sums of rows in twice double precision, halves of the columns at a time
sum_columns <- function(x) {
  units <- nrow(x)
  total <- rbind(as.vector(x), 0)
  while (ncol(total) > units) {
    n <- ncol(total) / units
    if (n %% 2) {
      total <- cbind(total, matrix(0, 2, units))
      n <- n + 1
    }
    first <- seq_len(n / 2 * units)
    total <- sums_add(total[, first, drop = FALSE], total[, -first, drop = FALSE])
  }
  total
}

verify_sums <- function(found, meta, sums, accounts) {
  units <- length(meta$limits)
  of <- function(set, part) sums[[paste(set, part, sep = "\r")]] %||% list(sum = sums_zero(units), count = 0)
  read <- function(text) tryCatch(unhex_sums(text, units), riemdp_error = function(e) NULL)
  agree <- function(text, sum) {
    kept <- read(text)
    !is.null(kept) && isTRUE(all(abs((kept[1, ] - sum[1, ]) + (kept[2, ] - sum[2, ])) <= 2^-70 * abs(sum[1, ])))
  }
  say <- function(kind, says, set) {
    found$rows <- c(found$rows, list(finding(kind, says, set)))
  }
  known <- paste(accounts$data_set, accounts$part, sep = "\r")
  for (name in setdiff(ls(sums), known)) {
    say("sums", "entries of a data set or part that isn't there", sub("\r.*", "", name))
  }
  for (set in unique(accounts$data_set)) {
    mine <- accounts[accounts$data_set %in% set, ]
    parts <- mine$part[mine$part != ""]
    largest <- Reduce(function(x, part) sums_max(x, of(set, part)$sum), parts, sums_zero(units))
    spent <- of(set, "")$sum
    whole <- mine[mine$part == "", ]
    right <- nrow(whole) == 1 && agree(whole$spent, spent) && agree(whole$largest_part, largest) &&
      all(vapply(parts, function(part) agree(mine$spent[mine$part == part], of(set, part)$sum), NA))
    if (!right) say("sums", "what is kept as spent isn't what its entries cost", set)
    count <- sum(vapply(c("", parts), function(part) of(set, part)$count, 0))
    if (!identical(as.numeric(whole$version), count)) say("sums", "its number of releases isn't that of entries", set)
    if (!within_limits(meta$limits, sums_add(spent, largest))) say("over", "its entries cost more than its budget", set)
  }
}

# what others remember
verify_outside <- function(found, receipts, store) {
  now <- list(uid = found$uid, links = found$links, head = found$head)
  fault <- if (length(now$links) == 1 && !is.na(now$links)) mark_fault(now, store$head_of)
  if (!is.null(fault)) report_finding(found, "rollback", paste0(fault, ": an older copy was restored"))
  status <- vapply(receipts, function(r) {
    if (!identical(r$ledger, found$uid)) return("of another ledger")
    if (!isTRUE(r$link <= found$links)) return("beyond the end: an older copy was restored, or entries were cut off")
    if (identical(store$head_of(r$link), r$head)) "found" else "not in the chain: entries were changed since"
  }, "")
  found$receipts <- data.frame(ledger = vapply(receipts, `[[`, "", "ledger"), link = vapply(receipts, `[[`, 0, "link"),
                               status = status)
  for (i in which(status != "found")) {
    new <- finding("receipt", paste("a receipt is", status[i]), link = receipts[[i]]$link)
    found$rows <- c(found$rows, list(new))
  }
}

# ---- what it says ----------------------------------------------------------------------------------------------------

#' @rdname ledger_verify
#' @param x what `ledger_verify()` returned.
#' @export
format.riemdp_verification <- function(x, ...) {
  count <- function(n, one) sprintf("%.0f %s%s", n, one, if (n == 1) "" else "s")
  kept <- nrow(x$receipts)
  shown <- utils::head(x$findings, 10)
  at <- ifelse(is.na(shown$entry), ifelse(is.na(shown$data_set), "", sprintf("data set \"%s\": ", shown$data_set)),
               sprintf("entry %d of data set \"%s\": ", shown$entry, shown$data_set))
  entries <- sprintf(if (x$entries == 1) "%.0f entry" else "%.0f entries", x$entries)
  c(sprintf("Ledger %s: %s, %s", substr(x$uid, 1, 8), entries,
            if (x$ok) "all as it was entered" else paste("NOT as it was entered:", count(nrow(x$findings), "finding"))),
    sprintf("  %s: %s%s", shown$kind, at, shown$says),
    if (nrow(x$findings) > 10) "  ... and more, see as.data.frame()",
    sprintf("  chain: ends at link %.0f, %s", x$link, x$head),
    if (kept) sprintf("  receipts: %d of %d found", sum(x$receipts$status == "found"), kept) else
      "  no receipt was compared: a ledger that was rewritten as a whole, or an older copy, looks whole in itself")
}

#' @rdname ledger_verify
#' @export
print.riemdp_verification <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @rdname ledger_verify
#' @param row.names,optional not used.
#' @export
as.data.frame.riemdp_verification <- function(x, row.names = NULL, optional = FALSE, ...) x$findings
