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
#' Neither hash nor receipt shows that a release was entered at all. Tokens of checkpoints, files of parts, and which
#' data sets and parts the ledger has, are not in the chain. The name of an analyst is the one that the ledger was
#' opened by, and not shown to be hers. A ledger that an earlier version made gets its chain when it is opened by this
#' one: what it held by then is covered by the first link as it was at that time, and not what was done to it before.
#'
#' @param ledger a ledger, see [dp_ledger()].
#' @param receipts what was kept outside: a release, a receipt or its text, several texts, or a list of such; `NULL` for
#'   nothing. A text may hold several receipts, and may be quoted as in an answer to a mail. A receipt that can't be
#'   read, and a vector or list without any, is an error of class `riemdp_error_argument`.
#' @param ... not used.
#' @return An object of class `riemdp_verification`, a list with `ok`; `findings`, a data frame with a row for each
#'   thing that isn't as it must be: `kind`, `data_set`, `entry`, `link` (`NA` where it is about none) and `says`; at
#'   most 100 rows of a kind; `entries`, the number of entries; `earlier`, how many of them are from before the chain;
#'   `link` and `head`, where the chain ends (`NA` where that can't be read); `receipts`, a data frame with `ledger`,
#'   `link` and `status` of each; `checked_at` (UTC). Kinds are
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
  if (is_memory(ledger)) return(verify_store(ledger, receipts, memory_reader(memory_state(ledger))))
  ledger_work(ledger, function(run, ask, con) verify_store(ledger, receipts, database_reader(ask, con)), "read")
}

# Kinds of findings, in words
VERIFY_KINDS <- list(
  tables = list(is = "tables that aren't as the package makes them (SQLite)"),
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
  spent <- is.list(x) && !is.object(x) && all(c("entry", "cost", "receipt") %in% names(x)) # by ledger_spend()
  if (inherits(x, "riemdp_release") || inherits(x, "riemdp_receipt") || spent) x <- list(x)
  if (is.character(x) && !is.object(x)) x <- as.list(x)
  if (!is.list(x) || is.object(x)) abort_riemdp("argument", "`receipts` must be releases, receipts or their texts.")
  if (!length(x)) abort_riemdp("argument", "`receipts` holds none: leave it out, or give those that were kept.")
  do.call(c, lapply(unname(x), receipts_of))
}

# the parts of each receipt in a release, in what ledger_spend() returned, or in a text
receipts_of <- function(one) {
  if (is.list(one) && !is.object(one)) one <- one[["receipt", exact = TRUE]] %||% ""
  if (!is.character(one)) one <- ledger_receipt(one)
  text <- unclass(one)
  if (!is_string(text)) abort_riemdp("argument", "`receipts` must be releases, receipts or their texts.")
  text <- gsub("[[:space:]>]", "", text, useBytes = TRUE) # a mail's line breaks, and what it quotes lines with
  starts <- gregexpr(paste0(RECEIPT_HEAD, ":"), text, fixed = TRUE, useBytes = TRUE)[[1]]
  pieces <- if (starts[1] < 0) text else byte_pieces(text, starts)
  lapply(pieces, receipt_parts)
}

# a text in pieces that begin at these bytes
byte_pieces <- function(text, starts) {
  bytes <- charToRaw(text)
  last <- c(starts[-1] - 1, length(bytes))
  vapply(seq_along(starts), function(i) rawToChar(bytes[starts[i]:last[i]]), "")
}

# ---- readers: what verifying asks of a store -------------------------------------------------------------------------
# list(meta: the ledger's row, as stored; accounts: a data frame, sums as text; entries: function(after), the next rows
# by their links; unlinked: rows without a link; stray: rows whose link is none that a chain has; odd: rows of which a
# field isn't stored as its type; total: the number of rows; faults: of tables and facts, texts by kind;
# head_of: function(link))

memory_reader <- function(state) {
  rows <- memory_rows(state)
  rows <- rows[order(rows$link), ]
  texts <- fact_texts(state$meta)
  table <- function(accounts) {
    flat <- flat_accounts(accounts)
    data.frame(data_set = flat$data_set, part = flat$part, version = flat$count, spent = vapply(flat$spent, hex, ""),
               largest_part = vapply(flat$largest, hex, ""))
  }
  quotas <- do.call(rbind, lapply(names(state$meta$quotas), function(analyst) {
    own <- lapply(state$accounts, function(account) account$own[[analyst]])
    if (length(own)) cbind(analyst = analyst, table(own))
  }))
  meta <- as.data.frame(as.list(texts))
  names(meta)[names(meta) == "rule"] <- "budget_rule"
  list(meta = cbind(meta, format = format_of(state$meta), links = state$links, head = state$head, earlier = ""),
       accounts = table(state$accounts), quotas = quotas, unlinked = rows[0, ], stray = rows[0, ], odd = rows[0, ],
       total = nrow(rows),
       faults = list(), entries = function(after) rows[rows$link > after, ],
       head_of = function(link) rows$head[rows$link %in% link])
}

database_reader <- function(ask, con) {
  sqlite <- is_sqlite(con)
  whole <- c("entry", "link", "version")
  # all as text or double numbers: an SQLite column may hold something else in each row
  cast <- function(columns) {
    types <- if (is_mariadb(con)) c("DOUBLE", "CHAR") else c("FLOAT", "TEXT")
    type <- ifelse(columns %in% whole, types[1], types[2])
    paste(sprintf("CAST(%s AS %s) AS %s", columns, type, columns), collapse = ", ")
  }
  meta <- ask("meta")
  quotas <- "quotas" %in% names(meta)
  # whatever is left of them
  analyst <- if (quotas) intersect("analyst", DBI::dbListFields(con, "riemdp_entry"))
  kept <- quotas && DBI::dbExistsTable(con, "riemdp_quota")
  sums <- c("data_set", "part", "version", "spent", "largest_part")
  columns <- paste("SELECT", cast(c(ENTRY_COLUMNS, analyst)), "FROM riemdp_entry WHERE")
  chained <- paste0("link >= 1 AND link <= ", LINKS_MOST)
  if (sqlite) chained <- paste("typeof(link) = 'integer' AND", chained)
  faults <- if (sqlite) list(tables = sqlite_faults(ask, quotas))
  if (sqlite && nrow(meta) == 1) faults$facts <- sqlite_odd_facts(ask, names(meta), kept)
  list(meta = meta, faults = faults, accounts = ask(paste("SELECT", cast(sums), "FROM riemdp_account")),
       quotas = if (kept) ask(paste("SELECT", cast(c("analyst", sums)), "FROM riemdp_quota")),
       unlinked = ask(paste(columns, "link IS NULL")),
       stray = ask(paste0(columns, " link IS NOT NULL AND NOT (", chained, ")")),
       odd = ask(paste(columns, if (sqlite) sqlite_odd(c(ENTRY_TEXTS, analyst), "entry", c("source", "head")) else
         "1 = 0")),
       total = as.numeric(ask("SELECT count(*) AS n FROM riemdp_entry")$n),
       entries = function(after) {
         ask(paste(columns, chained, sprintf("AND link > %.0f ORDER BY link LIMIT %d", after, VERIFY_CHUNK)))
       },
       head_of = function(link) ask(sprintf("%s link = %.0f", columns, link))$head)
}

LINKS_MOST <- "9007199254740992" # up to where doubles count one by one
ENTRY_TEXTS <- c("data_set", "part", "what", "event", "cost", "made_at", "source", "head")
META_COLUMNS <- c("uid", "budget_rule", "epsilon", "delta", "adjacency", "reserve", "orders", "limits", "made_at",
                  "sampled", "head", "earlier", "format", "links")

# ---- SQLite: what its tables are, and what is stored in them ---------------------------------------------------------

# SQL: a column that must hold text or a whole number holds something else, or text with a NUL that hides what follows
sqlite_odd <- function(texts, numbers, null = character()) {
  fits <- c(sprintf("typeof(%1$s) = 'text' AND instr(CAST(%1$s AS BLOB), x'00') = 0", texts),
            sprintf("typeof(%s) = 'integer'", numbers))
  null <- c(texts, numbers) %in% null
  fits[null] <- sprintf("(%s IS NULL OR %s)", c(texts, numbers)[null], fits[null])
  paste0("NOT (", paste(fits, collapse = " AND "), ")")
}

sqlite_odd_facts <- function(ask, columns, quotas) {
  numbers <- c("format", "links")
  odd <- sqlite_odd(setdiff(intersect(c(META_COLUMNS, "quotas"), columns), numbers), intersect(numbers, columns),
                    "sampled")
  odd <- ask(paste("SELECT count(*) AS n FROM riemdp_ledger WHERE id = 1 AND", odd))$n
  odd_sums <- function(table, more = character()) {
    texts <- c(more, "data_set", "part", "spent", "largest_part")
    ask(paste("SELECT count(*) AS n FROM", table, "WHERE", sqlite_odd(texts, "version")))$n > 0
  }
  c(if (odd > 0) "what the ledger was made with isn't stored as text and whole numbers",
    if (ask("SELECT count(*) AS n FROM riemdp_ledger")$n > 1) "there is more than one ledger's row",
    if (odd_sums("riemdp_account") || (quotas && odd_sums("riemdp_quota", "analyst"))) "sums aren't stored as text")
}

# how the tables differ from those that the package makes
sqlite_faults <- function(ask, quotas) {
  fresh <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(fresh))
  for (sql in c(LEDGER_TABLES, if (quotas) QUOTA_TABLES)) DBI::dbExecute(fresh, sql)
  made <- sqlite_schema(function(sql) DBI::dbGetQuery(fresh, sql))
  now <- sqlite_schema(ask)
  c(sprintf("%s is gone or was changed", setdiff(made, now)), sprintf("%s isn't the package's", setdiff(now, made)))
}

# one text for each table, column, index and trigger of a ledger
sqlite_schema <- function(ask) {
  from <- "SELECT '%s' AS place, type, lower(name) AS name, lower(tbl_name) AS tbl_name, sql FROM %s"
  all <- ask(paste(sprintf(from, "", "sqlite_master"), "UNION ALL", sprintf(from, "temporary ", "sqlite_temp_master")))
  tables <- TABLE_NAMES
  writes <- all$type %in% "trigger" & grepl("riemdp_", all$sql, ignore.case = TRUE, useBytes = TRUE)
  all <- all[all$tbl_name %in% tables | all$name %in% c(tables, "riemdp_link") | writes, ]
  columns <- lapply(tables, function(table) {
    info <- ask(sprintf("PRAGMA table_xinfo(%s)", table))
    sprintf("column %s.%s%s", rep_len(table, nrow(info)), info$name, ifelse(info$pk > 0, " (a key)", ""))
  })
  c(paste0(all$place, all$type, " ", all$name, ifelse(all$type %in% "index", paste(" on", all$tbl_name), ""),
           ifelse(all$type %in% "index" & !is.na(all$sql), sprintf(" (%s)", all$sql), "")), unlist(columns))
}

# ---- verifying -------------------------------------------------------------------------------------------------------

verify_store <- function(ledger, receipts, store) {
  if (nrow(store$meta) != 1) abort_riemdp("ledger", "there is no ledger in this database any more.")
  found <- new.env(parent = emptyenv())
  found$rows <- list()
  for (kind in names(store$faults)) for (says in store$faults[[kind]]) report_finding(found, kind, says)
  row <- plain_row(store$meta)
  texts <- stored_facts(row)
  texts[is.na(texts)] <- ""
  found$uid <- texts[["uid"]]
  found$links <- suppressWarnings(as.numeric(row$links))
  found$head <- as.character(row$head)
  format <- if ("quotas" %in% names(texts)) QUOTA_FORMAT else LEDGER_FORMAT
  if (!identical(suppressWarnings(as.numeric(row$format)), as.numeric(format))) {
    report_finding(found, "facts", "the ledger's format isn't this version's")
  }
  meta <- tryCatch(unhex_facts(texts), error = function(e) NULL)
  if (is.null(meta) || !meta$rule %in% names(LEDGER_RULES)) {
    report_finding(found, "facts", "what the ledger was made with can't be read")
    meta <- NULL
  } else {
    verify_facts(found, ledger, meta)
  }
  begin <- verify_earlier(found, row, texts, store$unlinked)
  sums <- verify_entries(found, texts[["uid"]], begin, store, meta)
  if (!is.null(meta)) {
    verify_sums(found, meta, sums$all, store$accounts)
    if (has_quotas(meta)) verify_quotas(found, meta, sums$own, store)
  }
  verify_outside(found, receipts, store)
  findings <- do.call(rbind, c(list(finding("", "")[0, ]), found$rows))
  structure(list(ok = nrow(findings) == 0, findings = findings, entries = found$entries,
                 earlier = nrow(store$unlinked), link = found$links, head = found$head, uid = found$uid,
                 receipts = found$receipts, checked_at = utc_now()), class = "riemdp_verification")
}

# the ledger's row with NA for columns that are gone, or that hold bytes
plain_row <- function(row) {
  for (name in c(META_COLUMNS, intersect("quotas", names(row)))) {
    if (is.null(row[[name]]) || is.list(row[[name]])) row[[name]] <- NA_character_
  }
  row
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
    report_finding(found, "earlier", if (!identical(earlier, "")) {
      "entries from before the chain aren't those that it began with"
    } else {
      "there are entries without a link"
    })
  }
  chain_begin(texts, earlier)
}

# sums of accounts, as entries come in
new_sums <- function() {
  sums <- new.env(parent = emptyenv())
  sums$key <- sums$set <- character()
  sums$sum <- list()
  sums$count <- numeric()
  sums
}

# Entries in the order of the chain; returns what they add up to, by account: `all`, and `own` of each analyst in the
# order of quotas, at last of nobody who has one
verify_entries <- function(found, uid, begin, store, meta) {
  sums <- list(all = new_sums(), own = lapply(seq_len(length(meta$quotas) + 1), function(i) new_sums()))
  found$entries <- nrow(store$unlinked) + nrow(store$stray)
  found$edited <- store$odd$link
  report_finding(found, "entry", "its link is none that a chain has: it was put in or edited", store$stray)
  report_finding(found, "entry", "a field of it isn't stored as its type: it was edited", store$odd)
  last <- list(link = 0, head = begin)
  add_prices(found, sums, store$unlinked, meta)
  add_prices(found, sums, store$stray, meta)
  repeat {
    rows <- store$entries(last$link)
    if (!nrow(rows)) break
    last <- verify_links(found, uid, last, rows)
    add_prices(found, sums, rows, meta)
    found$entries <- found$entries + nrow(rows)
    if (is.null(last)) break
  }
  if (store$total != found$entries) {
    says <- sprintf("the ledger has %.0f entries, and %.0f can be read in their order", store$total, found$entries)
    report_finding(found, "entry", says)
  }
  if (!identical(last$link, found$links) || !identical(last$head, found$head)) {
    report_finding(found, "head", "the ledger's head isn't that of its last entry: entries were cut off or added")
  }
  sums
}

# one stretch of the chain behind `last`; the last link of it, or NULL where the links don't grow, and reading would
# never end
verify_links <- function(found, uid, last, rows) {
  before <- c(last$head, rows$head[-nrow(rows)])
  gap <- rows$link - c(last$link, rows$link[-nrow(rows)]) - 1
  for (i in utils::head(which(gap > 0), FINDINGS_MOST)) {
    says <- if (gap[i] == 1) sprintf("link %.0f is gone", rows$link[i] - 1) else
      sprintf("links %.0f to %.0f are gone", rows$link[i] - gap[i], rows$link[i] - 1)
    report_finding(found, "missing", says)
  }
  wrong <- chain_next(uid, before, rows) != rows$head
  # behind a gap the hash before is missing
  wrong <- (is.na(wrong) | wrong) & (gap <= 0 | is.na(gap))
  report_finding(found, "entry", "it was edited, moved or put in, or the facts before it were changed", rows, wrong)
  found$edited <- c(found$edited, rows$link[wrong])
  end <- list(link = rows$link[nrow(rows)], head = rows$head[nrow(rows)])
  if (isTRUE(end$link > last$link)) return(end)
  report_finding(found, "entry", "its link isn't above the one before it", rows[nrow(rows), ])
  NULL
}

# Adds prices to the sums of their accounts, and counts; says which are none.
add_prices <- function(found, sums, rows, meta) {
  if (is.null(meta) || !nrow(rows)) return(invisible())
  units <- length(meta$limits)
  cost <- cost_columns(rows$cost, units)
  endless <- length(meta$orders) > 1 # an order at which nothing is known; never delta
  most <- rep(c(if (endless) Inf else .Machine$double.xmax, 1), c(units - 1, 1))
  bad <- colSums(!(cost >= 0 & cost <= most) | is.na(cost)) > 0
  report_finding(found, "price", "its price is negative, endless or no number", rows, bad)
  cost <- bounded_cost(meta, cost)
  add_costs(sums$all, rows[!bad, ], cost[, !bad, drop = FALSE])
  if (!has_quotas(meta)) return(invisible())
  whose <- whose_quota(meta, rows)
  for (i in unique(whose)) {
    mine <- !bad & whose == i
    add_costs(sums$own[[i]], rows[mine, ], cost[, mine, drop = FALSE])
  }
}

# of each row the number of its analyst's quota; one more where there is none
whose_quota <- function(meta, rows) {
  if (!NROW(rows)) return(integer())
  known <- names(meta$quotas)
  match(canonical(rows$analyst %||% rep(NA_character_, nrow(rows))), canonical(known), length(known) + 1L)
}

add_costs <- function(sums, rows, cost) {
  key <- canonical(rows$data_set, rows$part)
  new <- which(!duplicated(key) & !key %in% sums$key)
  sums$key <- c(sums$key, key[new])
  sums$set <- c(sums$set, rows$data_set[new])
  sums$sum <- c(sums$sum, rep(list(sums_zero(nrow(cost))), length(new)))
  sums$count <- c(sums$count, numeric(length(new)))
  at <- match(key, sums$key)
  for (mine in split(seq_along(at), at)) {
    i <- at[mine[1]]
    sums$sum[[i]] <- sums_add(sums$sum[[i]], sum_columns(cost[, mine, drop = FALSE]))
    sums$count[i] <- sums$count[i] + length(mine)
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

# `whose`: the analyst whose sums they are, in words; `share`: her quota
verify_sums <- function(found, meta, sums, accounts, whose = "", share = 1) {
  units <- length(meta$limits)
  agree <- function(text, sum) {
    kept <- tryCatch(unhex_sums(text, units), error = function(e) NULL)
    !is.null(kept) && isTRUE(all(abs((kept[1, ] - sum[1, ]) + (kept[2, ] - sum[2, ])) <= 2^-70 * abs(sum[1, ])))
  }
  say <- function(kind, says, set) {
    found$rows <- c(found$rows, list(finding(kind, paste0(whose, says), set)))
  }
  known <- if (NROW(accounts)) canonical(accounts$data_set, accounts$part)
  for (set in sums$set[!sums$key %in% known]) say("sums", "entries of a data set or part that isn't there", set)
  at <- match(known, sums$key)
  due <- lapply(at, function(i) if (is.na(i)) sums_zero(units) else sums$sum[[i]])
  count <- ifelse(is.na(at), 0, sums$count[at])
  for (set in unique(accounts$data_set)) {
    mine <- which(accounts$data_set %in% set)
    whole <- mine[accounts$part[mine] %in% ""]
    parts <- setdiff(mine, whole)
    if (length(whole) != 1) {
      say("sums", "what is kept as spent isn't what its entries cost", set)
      next
    }
    spent <- due[[whole]]
    right <- agree(accounts$spent[whole], spent) &&
      agree(accounts$largest_part[whole], Reduce(sums_max, due[parts], sums_zero(units))) &&
      all(vapply(parts, function(i) agree(accounts$spent[i], due[[i]]), NA))
    if (!right) say("sums", "what is kept as spent isn't what its entries cost", set)
    if (!identical(as.numeric(accounts$version[whole]), sum(count[mine]))) {
      say("sums", "its number of releases isn't that of entries", set)
    }
    # each part with the whole, as one that is spent from is: two parts may fit at different orders
    fits <- vapply(parts, function(i) within_limits(meta, sums_add(spent, due[[i]]), share), NA)
    if (!all(within_limits(meta, spent, share), fits)) {
      say("over", paste("its entries cost more than", if (nzchar(whose)) "the quota" else "its budget"), set)
    }
  }
}

# the same of each analyst
verify_quotas <- function(found, meta, own, store) {
  known <- names(meta$quotas)
  whose <- whose_quota(meta, store$quotas)
  if (length(own[[length(known) + 1]]$key)) report_finding(found, "sums", "there are entries of nobody who has a quota")
  if (any(whose > length(known))) report_finding(found, "sums", "there are sums of nobody who has a quota")
  accounts <- function(rows) if (NROW(rows)) sort(canonical(rows$data_set, rows$part))
  for (i in seq_along(known)) {
    mine <- store$quotas[which(whose == i), ]
    words <- sprintf("analyst %s: ", encodeString(known[i], quote = "\""))
    if (!identical(accounts(mine), accounts(store$accounts))) {
      report_finding(found, "sums", paste0(words, "sums of a data set or part are missing, or there are more"))
    }
    verify_sums(found, meta, own[[i]], mine, words, meta$quotas[[i]])
  }
}

# what others remember
verify_outside <- function(found, receipts, store) {
  now <- list(uid = found$uid, links = found$links, head = found$head)
  fault <- if (!is.na(now$links) && nzchar(now$uid)) mark_fault(now, store$head_of)
  if (!is.null(fault)) report_finding(found, "rollback", paste0(fault, ": an older copy was restored"))
  status <- vapply(receipts, function(r) {
    if (!identical(r$ledger, found$uid)) return("of another ledger")
    if (!isTRUE(r$link <= found$links)) return("beyond the end: an older copy was restored, or entries were cut off")
    if (!identical(store$head_of(r$link), r$head)) return("not in the chain: entries were changed since")
    if (r$link %in% found$edited) "found, but its entry was changed" else "found"
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
  set <- encodeString(shown$data_set, quote = "\"") # may be anything by now
  at <- ifelse(is.na(shown$entry), ifelse(is.na(shown$data_set), "", sprintf("data set %s: ", set)),
               sprintf("entry %d of data set %s: ", shown$entry, set))
  entries <- sprintf(if (x$entries == 1) "%.0f entry" else "%.0f entries", x$entries)
  c(sprintf("Ledger %s: %s, %s", substr(x$uid, 1, 8), entries,
            if (x$ok) "all as it was entered" else paste("NOT as it was entered:", count(nrow(x$findings), "finding"))),
    sprintf("  %s: %s%s", shown$kind, at, shown$says),
    if (nrow(x$findings) > 10) "  ... and more, see as.data.frame()",
    sprintf("  chain: ends at link %.0f, %s", x$link, encodeString(x$head)),
    if (x$earlier > 0) paste0("  ", earlier_words(x)),
    if (kept) sprintf("  receipts: %d of %d found", sum(x$receipts$status == "found"), kept) else
      "  no receipt was compared: a ledger that was rewritten as a whole, or an older copy, looks whole in itself")
}

earlier_words <- function(x) {
  sprintf("%.0f of %.0f entries %s from before the chain: it covers them as they were when it began", x$earlier,
          x$entries, if (x$earlier == 1) "is" else "are")
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
