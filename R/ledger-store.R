# Where ledgers are kept: in memory, or in a database through DBI. A store knows no privacy: it hands the sums to a
# function that decides and writes what comes back, in one transaction. R/ledger-rules.R decides.

# ---- numbers ---------------------------------------------------------------------------------------------------------
# Running sums are kept in twice the precision of doubles: rows "hi" and "lo", a column for each unit.

sums_zero <- function(count) matrix(0, 2, count)

# x + y, exact up to 2^-104 (Knuth's two-sum); y may be plain numbers
sums_add <- function(x, y) {
  if (is.null(dim(y))) y <- rbind(y, 0)
  s <- x[1, ] + y[1, ]
  z <- s - x[1, ]
  e <- (x[1, ] - (s - z)) + (y[1, ] - z) + x[2, ] + y[2, ]
  hi <- s + e
  unname(rbind(hi, e - (hi - s)))
}

sums_max <- function(x, y) {
  later <- y[1, ] > x[1, ] | (y[1, ] == x[1, ] & y[2, ] > x[2, ])
  x[, later] <- y[, later]
  x
}

unhex_sums <- function(text, count) matrix(unhex(text, 2 * count), 2)

utc_now <- function() format(Sys.time(), "%Y-%m-%dT%H:%M:%SZ", tz = "UTC")

# ---- in memory -------------------------------------------------------------------------------------------------------
# The sums live here and not in the object: copies of the object, also through saveRDS(), all mean the same ledger.

memory_ledgers <- new.env(parent = emptyenv())

memory_state <- function(ledger) {
  state <- if (identical(ledger$pid, Sys.getpid())) memory_ledgers[[ledger$uid]]
  if (is.null(state)) {
    abort_riemdp("ledger", paste(
      "this ledger is in the memory of another process: a copy in a worker could spend the same budget again.",
      "Use a ledger in a file, dp_ledger(path, ...), which processes can share."
    ))
  }
  state
}

memory_create <- function(meta) {
  uid <- meta$uid
  state <- new.env(parent = emptyenv())
  state$meta <- meta # with the sums of each account those of each analyst are kept, in `own`
  state$accounts <- list()
  state$entries <- new.env(parent = emptyenv()) # by number: adding one doesn't copy the others
  state$tokens <- list()
  state$links <- 0
  state$head <- chain_begin(fact_texts(meta))
  assign(uid, state, envir = memory_ledgers)
}

# ---- in databases ----------------------------------------------------------------------------------------------------

# the rate of a ledger that isn't about a sample
NO_SAMPLE <- c(row = 1)

is_sampled <- function(meta) isTRUE(meta$sampled < 1)

LEDGER_FORMAT <- 3L # with a chain; versions that write none refuse it
QUOTA_FORMAT <- 4L # with quotas; versions that know of none refuse it

format_of <- function(meta) if (has_quotas(meta)) QUOTA_FORMAT else LEDGER_FORMAT

# the ledger's fixed facts as stored, and where its chain stands; NULL where there is no ledger
read_meta <- function(ask) parse_meta(ask("meta"))

# the same, and this process remembers it
seen_meta <- function(ask) {
  meta <- read_meta(ask)
  if (isTRUE(meta$format >= LEDGER_FORMAT)) see_mark(meta, stored_head(ask))
  meta
}

# function(link): the hash that is stored there
stored_head <- function(ask) function(link) ask("linked", link = as.integer(link))$head

parse_meta <- function(row) {
  if (nrow(row) == 0) return(NULL)
  format <- as.integer(row$format)
  if (nrow(row) != 1 || !isTRUE(format %in% seq_len(QUOTA_FORMAT))) {
    abort_riemdp("ledger", "the ledger was written by another version of the package.")
  }
  texts <- stored_facts(row)
  if ((format == QUOTA_FORMAT) != ("quotas" %in% names(texts))) {
    abort_riemdp("ledger", "the ledger's quotas were changed by hand, or it was. Nothing is released.")
  }
  kept <- read_metas[["found"]]
  if (!identical(kept$texts, texts)) {
    kept <- list(texts = texts, meta = unhex_facts(texts))
    assign("found", kept, envir = read_metas)
  }
  meta <- kept$meta
  if (format < LEDGER_FORMAT) return(c(meta, list(links = NA_real_, head = NA_character_, format = format)))
  c(meta, list(links = as.numeric(row$links), head = as.character(row$head), format = format,
               begin = function() chain_begin(texts, as.character(row$earlier))))
}

# the last one that was read, so that numbers aren't read from the same text again
read_metas <- new.env(parent = emptyenv())

# the facts' texts, with the names of fact_texts()
stored_facts <- function(row) {
  # only a ledger of a sample has a rate that isn't 1, in earlier formats by its number
  sampled <- row$sampled %||% NA_character_
  if (isTRUE(row$format == 1) || is.na(sampled)) sampled <- paste(hex(NO_SAMPLE), names(NO_SAMPLE))
  vapply(c(uid = row$uid, rule = row$budget_rule, epsilon = row$epsilon, delta = row$delta, adjacency = row$adjacency,
           reserve = row$reserve, orders = row$orders, limits = row$limits, sampled = sampled, made_at = row$made_at,
           if (!is.null(row$quotas)) c(quotas = row$quotas)), as.character, "")
}

unhex_facts <- function(texts) {
  x <- as.list(texts)
  list(uid = x$uid, rule = x$rule, epsilon = unhex(x$epsilon, 1), delta = unhex(x$delta, 1), adjacency = x$adjacency,
       reserve = unhex(x$reserve, 1), orders = if (nzchar(x$orders)) unhex(x$orders) else numeric(),
       limits = unhex(x$limits),
       sampled = stats::setNames(unhex(sub(" .*", "", x$sampled), 1), sub("^[^ ]* ", "", x$sampled)),
       quotas = if (is.null(x$quotas)) numeric() else read_quotas(x$quotas), made_at = x$made_at)
}

# A ledger of an earlier version gets its chain when it is opened. What it holds by then is covered by the first link.
begin_chain <- function(ledger) {
  ledger_work(ledger, function(run, ask, con) {
    if (!is_sqlite(con)) ask("lock")
    meta <- ask("meta")
    if (!isTRUE(as.integer(meta$format) < LEDGER_FORMAT)) return(invisible()) # another process was faster
    # which this function adds together with the format: somebody else has put the format back
    late <- intersect(c("links", "head", "earlier"), DBI::dbListFields(con, "riemdp_ledger"))
    if (length(late) || "link" %in% DBI::dbListFields(con, "riemdp_entry")) {
      abort_riemdp("ledger", paste("the ledger says that it has no chain yet, and has parts of one: it was changed by",
                                   "hand. Nothing is released."))
    }
    more <- list(riemdp_ledger = c(sampled = "TEXT", links = "INTEGER", head = "VARCHAR(64)", earlier = "TEXT"),
                 riemdp_entry = c(source = "TEXT", link = "INTEGER", head = "VARCHAR(64)"))
    for (table in names(more)) {
      for (column in setdiff(names(more[[table]]), DBI::dbListFields(con, table))) {
        run(sprintf("ALTER TABLE %s ADD COLUMN %s %s", table, column, more[[table]][[column]]))
      }
    }
    run(grep("riemdp_link", LEDGER_TABLES, value = TRUE))
    facts <- stored_facts(meta)
    earlier <- earlier_text(ask("SELECT * FROM riemdp_entry"))
    run(paste("UPDATE riemdp_ledger SET format = ?format, sampled = ?sampled, links = 0, head = ?head, earlier =",
              "?earlier WHERE id = 1"),
        format = LEDGER_FORMAT, sampled = facts[["sampled"]], head = chain_begin(facts, earlier), earlier = earlier)
  })
}

has_ledger <- function(con) DBI::dbExistsTable(con, "riemdp_ledger")

database_create <- function(ledger, meta, data_sets) {
  ledger_work(ledger, function(run, ask, con) {
    trusted <- isTRUE(ledger$trusted)
    make_tables(run, con, LEDGER_TABLES, trusted)
    if (!is.null(read_meta(ask))) {
      abort_riemdp("ledger",
                   "there is a ledger already, made by another process just now: leave `create` out to open it.")
    }
    facts <- fact_texts(meta)
    quotas <- has_quotas(meta)
    if (quotas) make_tables(run, con, QUOTA_TABLES, trusted)
    do.call(run, c(list(
      paste("INSERT INTO riemdp_ledger (id, uid, format, budget_rule, epsilon, delta, adjacency, reserve, orders,",
            "limits, made_at, sampled, links, head, earlier", if (quotas) ", quotas", ")",
            "VALUES (1, ?uid, ?format, ?rule, ?epsilon, ?delta, ?adjacency, ?reserve, ?orders, ?limits, ?made_at,",
            "?sampled, 0, ?head, ''", if (quotas) ", ?quotas", ")"),
      format = format_of(meta), head = chain_begin(facts)
    ), as.list(facts)))
    declare_accounts(run, ask, data_sets, meta)
  })
}

declare_accounts <- function(run, ask, data_sets, meta) {
  zero <- hex(sums_zero(length(meta$limits)))
  for (set in names(data_sets)) {
    for (part in c("", data_sets[[set]])) {
      if (nrow(ask("read", data_set = set, part = part)) == 0) {
        run(paste("INSERT INTO riemdp_account (data_set, part, version, spent, largest_part) VALUES (?set, ?part, 0,",
                  "?zero, ?zero)"),
            set = set, part = part, zero = zero)
        for (analyst in names(meta$quotas)) {
          run(paste("INSERT INTO riemdp_quota (analyst, data_set, part, version, spent, largest_part) VALUES",
                    "(?analyst, ?set, ?part, 0, ?zero, ?zero)"),
              analyst = analyst, set = set, part = part, zero = zero)
        }
      }
    }
  }
}

# ---- what R/ledger.R asks of a store ---------------------------------------------------------------------------------

is_memory <- function(ledger) identical(ledger$kind, "memory")

store_meta <- function(ledger) {
  if (is_memory(ledger)) return(memory_state(ledger)$meta)
  find <- function(run, ask, con) if (has_ledger(con)) seen_meta(ask)
  meta <- ledger_work(ledger, find, write = FALSE)
  if (isTRUE(meta$format < LEDGER_FORMAT)) {
    begin_chain(ledger)
    meta <- ledger_work(ledger, find, write = FALSE)
  }
  meta
}

abort_unknown_account <- function(data_set, part) {
  abort_riemdp("argument", if (nzchar(part)) {
    sprintf(paste("the ledger has no part \"%s\" of data set \"%s\": name the parts when the ledger is made,",
                  "dp_ledger(data_sets = list(...))."), part, data_set)
  } else {
    sprintf(paste("the ledger has no data set \"%s\": name data sets when the ledger is made, dp_ledger(data_sets =",
                  "...)."), data_set)
  })
}

# adds data sets and parts; those that are there stay as they are
store_declare <- function(ledger, data_sets) {
  if (is_memory(ledger)) {
    state <- memory_state(ledger)
    zero <- sums_zero(length(state$meta$limits))
    new <- list(count = 0L, spent = zero, largest = zero, parts = list())
    analysts <- names(state$meta$quotas)
    new_set <- c(new, list(own = stats::setNames(rep(list(new), length(analysts)), analysts)))
    for (set in names(data_sets)) {
      account <- state$accounts[[set]] %||% new_set
      for (part in setdiff(data_sets[[set]], names(account$parts))) {
        account$parts[[part]] <- zero
        for (analyst in analysts) account$own[[analyst]]$parts[[part]] <- zero
      }
      state$accounts[[set]] <- account
    }
    return(invisible())
  }
  ledger_work(ledger, function(run, ask, con) declare_accounts(run, ask, data_sets, read_meta(ask)))
  invisible()
}

# Hands decide() the sums of a data set (`spent` on the whole, `largest` over its parts, `part` of one; `own`, the same
# three of the entry's analyst, where it has one) and writes what it returns, all or nothing: list(entry, its number in
# the data set; receipt).
store_spend <- function(ledger, data_set, part, entry, decide) {
  if (is_memory(ledger)) return(memory_spend(memory_state(ledger), data_set, part, entry, decide))
  row <- ledger_work(ledger, function(run, ask, con) {
    # SQLite's transaction has the lock already; elsewhere the ledger's row makes others wait until this one commits
    if (!is_sqlite(con)) ask("lock")
    whole <- ask(if (has_quotas(ledger)) "state_quotas" else "state", data_set = data_set, part = "")
    if (nrow(whole) != 1) abort_unknown_account(data_set, "")
    meta <- parse_meta(whole)
    if (!identical(meta$uid, ledger$uid)) {
      abort_riemdp("ledger", "the database holds another ledger than the one that was opened. Nothing is released.")
    }
    check_links(meta)
    check_mark(meta, stored_head(ask))
    units <- length(meta$limits)
    mine <- if (nzchar(part)) ask("read", data_set = data_set, part = part)
    if (nzchar(part) && nrow(mine) != 1) abort_unknown_account(data_set, part)
    after <- decide(meta, list(
      spent = unhex_sums(whole$spent, units), largest = unhex_sums(whole$largest_part, units),
      part = if (nzchar(part)) unhex_sums(mine$spent, units),
      own = if (!is.null(entry$analyst)) read_own(ask, entry$analyst, data_set, part, units)
    ))
    version <- as.integer(whole$version) # every change of the row is an entry
    changed <- run("write", spent = hex(after$spent), largest = hex(after$largest), data_set = data_set, part = "",
                   version = version)
    if (nzchar(part)) {
      changed <- c(changed, run("write_part", spent = hex(after$part), data_set = data_set, part = part))
    }
    claim_part(ledger$uid, data_set, part, entry, function(token) ask("token_read", token = token)$what,
               function(token, owner) run("token", token = token, what = owner, at = utc_now()))
    if (!is.null(entry$analyst)) changed <- c(changed, write_own(run, entry$analyst, data_set, part, after$own))
    row <- chained_row(meta, data_set, part, version + 1L, entry)
    changed <- c(changed, do.call(run, c(list(if (is.null(row$analyst)) "entry" else "entry_analyst"), row)),
                 run("chain", link = row$link, head = row$head))
    if (!all(changed == 1)) abort_riemdp("ledger", "the ledger changed while it was locked. Nothing is released.")
    row
  })
  set_mark(ledger$uid, row$link, row$head)
  list(entry = row$entry, receipt = new_receipt(ledger$uid, row$link, row$head))
}

# how many of so many slots are free
store_slots <- function(ledger, of, most) {
  left <- function(read) most - slots_taken(ledger$uid %||% store_meta(ledger)$uid, of, most, read)
  if (is_memory(ledger)) {
    tokens <- memory_state(ledger)$tokens
    return(left(function(token) tokens[[token]]))
  }
  ledger_work(ledger, function(run, ask, con) left(function(token) ask("token_read", token = token)$what),
              write = FALSE)
}

# an analyst's sums, as those of the whole ledger
read_own <- function(ask, analyst, data_set, part, units) {
  sums <- function(part) {
    row <- ask("own", analyst = analyst, data_set = data_set, part = part)
    if (nrow(row) != 1) abort_lost_sums("an analyst's")
    lapply(row[c("spent", "largest_part")], unhex_sums, count = units)
  }
  whole <- sums("")
  list(spent = whole$spent, largest = whole$largest_part, part = if (nzchar(part)) sums(part)$spent)
}

# number of rows that each statement changed
write_own <- function(run, analyst, data_set, part, own) {
  write <- function(part, spent, largest) {
    run("write_own", spent = hex(spent), largest = hex(largest), analyst = analyst, data_set = data_set, part = part)
  }
  c(write("", own$spent, own$largest), if (nzchar(part)) write(part, own$part, 0 * own$part))
}

abort_lost_sums <- function(whose) {
  abort_riemdp("ledger", paste(whose, "sums are missing, or were changed by hand. Nothing is released."))
}

memory_spend <- function(state, data_set, part, entry, decide) {
  account <- state$accounts[[data_set]]
  if (is.null(account)) abort_unknown_account(data_set, "")
  mine <- if (nzchar(part)) account$parts[[part]]
  if (nzchar(part) && is.null(mine)) abort_unknown_account(data_set, part)
  analyst <- entry$analyst
  own <- if (!is.null(analyst)) account$own[[analyst]]
  sums <- list(spent = account$spent, largest = account$largest, part = mine,
               own = if (!is.null(own)) list(spent = own$spent, largest = own$largest, part = own$parts[[part]]))
  after <- decide(state$meta, sums)
  row <- chained_row(c(state$meta, list(links = state$links, head = state$head)), data_set, part, account$count + 1L,
                     entry)
  moved <- function(account, after) {
    account[c("spent", "largest", "count")] <- list(after$spent, after$largest, account$count + 1L)
    if (nzchar(part)) account$parts[[part]] <- after$part
    account
  }
  account <- moved(account, after)
  if (!is.null(analyst)) account$own[[analyst]] <- moved(own, after$own)
  tokens <- state$tokens
  claim_part(state$meta$uid, data_set, part, entry, function(token) tokens[[token]],
             function(token, owner) tokens[[token]] <<- owner)
  suspendInterrupts({
    state$tokens <- tokens
    state$entries[[sprintf("%.0f", row$link)]] <- row
    state$links <- row$link
    state$head <- row$head
    state$accounts[[data_set]] <- account
  })
  list(entry = row$entry, receipt = new_receipt(state$meta$uid, row$link, row$head))
}

check_links <- function(meta) {
  if (isTRUE(meta$links >= 0) && isTRUE(nchar(meta$head) == 64)) {
    if (meta$links < .Machine$integer.max - 1) return(invisible())
    abort_riemdp("ledger", "the ledger has as many entries as its numbers can count. Nothing is released.")
  }
  abort_riemdp("ledger", paste("the ledger's chain is broken, or it is of an earlier version: open it again with",
                               "dp_ledger(). Nothing is released."))
}

# a new entry as it is stored, with its link
chained_row <- function(meta, data_set, part, number, entry) {
  row <- list(data_set = data_set, entry = number, part = part, what = entry$what, event = entry$event,
              cost = entry$cost, made_at = utc_now(), source = entry$source %||% NA_character_,
              link = as.integer(meta$links) + 1L)
  row$analyst <- entry$analyst
  row$head <- chain_next(meta$uid, meta$head, row)
  row
}

# Rows of all accounts: data_set, part ("" for the whole), count, and sums as lists; `own` has count and sums of each
# analyst, in the same rows
store_accounts <- function(ledger) {
  if (is_memory(ledger)) {
    state <- memory_state(ledger)
    own <- lapply(stats::setNames(nm = names(state$meta$quotas)), function(analyst) {
      flat_accounts(lapply(state$accounts, function(account) account$own[[analyst]]))
    })
    return(c(list(meta = state$meta), flat_accounts(state$accounts), list(own = own)))
  }
  ledger_work(ledger, function(run, ask, con) {
    meta <- seen_meta(ask)
    sums <- function(rows) {
      read <- function(text) lapply(text, unhex_sums, count = length(meta$limits))
      list(count = ifelse(rows$part == "", as.integer(rows$version), NA), spent = read(rows$spent),
           largest = read(rows$largest_part))
    }
    rows <- ask("SELECT * FROM riemdp_account ORDER BY data_set, part")
    quotas <- if (has_quotas(meta)) ask("SELECT * FROM riemdp_quota")
    own <- lapply(stats::setNames(nm = names(meta$quotas)), function(analyst) {
      at <- match(canonical(analyst, rows$data_set, rows$part),
                  canonical(quotas$analyst, quotas$data_set, quotas$part))
      if (anyNA(at)) abort_lost_sums("an analyst's")
      sums(quotas[at, ])
    })
    c(list(meta = meta, data_set = as.character(rows$data_set), part = as.character(rows$part)), sums(rows),
      list(own = own))
  }, write = FALSE)
}

# accounts of a ledger in memory as rows
flat_accounts <- function(accounts) {
  parts <- lapply(accounts, function(a) length(a$parts))
  list(data_set = as.character(rep(names(accounts), 1 + unlist(parts))),
       part = as.character(unlist(lapply(accounts, function(a) c("", names(a$parts))), use.names = FALSE)),
       count = unlist(lapply(accounts, function(a) c(a$count, rep(NA, length(a$parts)))), use.names = FALSE),
       spent = do.call(c, unname(lapply(accounts, function(a) c(list(a$spent), unname(a$parts))))),
       largest = do.call(c, unname(lapply(accounts, function(a) rep(list(a$largest), 1 + length(a$parts))))))
}

ENTRY_COLUMNS <- c("data_set", "entry", "part", "what", "event", "cost", "made_at", "source", "link", "head")

memory_rows <- function(state) {
  entries <- unname(as.list(state$entries))
  column <- function(name) vapply(entries, function(e) as.character(e[[name]]), "")
  rows <- as.data.frame(lapply(stats::setNames(nm = c(ENTRY_COLUMNS, if (has_quotas(state$meta)) "analyst")), column))
  rows$entry <- as.integer(rows$entry)
  rows$link <- as.numeric(rows$link)
  rows
}

store_history <- function(ledger) {
  if (is_memory(ledger)) {
    rows <- memory_rows(memory_state(ledger))
    rows <- rows[order(rows$data_set, rows$entry), ]
  } else {
    rows <- ledger_work(ledger, function(run, ask, con) {
      ask("SELECT * FROM riemdp_entry ORDER BY data_set, entry")
    }, write = FALSE)
    rows$source <- as.character(rows$source)
    if (has_quotas(ledger)) rows$analyst <- as.character(rows$analyst)
  }
  row.names(rows) <- NULL
  rows
}

# ---- tokens: what may happen once ------------------------------------------------------------------------------------

# A checkpoint of an optimiser holds a token. Going on from it uses the token up, so that it can't be resumed twice for
# one price. `seal`: what the token is good for; whoever uses it has to come with the same.
ledger_token <- function(ledger, seal) {
  token <- random_id()
  if (is_memory(ledger)) {
    state <- memory_state(ledger)
    state$tokens[[token]] <- seal
  } else {
    ledger_work(ledger, function(run, ask, con) run("token", token = token, what = seal, at = utc_now()))
  }
  token
}

# those that this process has used up
used_tokens <- new.env(parent = emptyenv())

ledger_use_token <- function(ledger, token, seal) {
  if (!is.character(token) || length(token) != 1 || is.na(token)) {
    abort_riemdp("argument", "`token` must be one string.")
  }
  over <- function() {
    abort_riemdp("ledger", "this checkpoint was resumed before, or belongs to another ledger: it can be resumed once.")
  }
  other <- function() {
    abort_riemdp("argument",
                 paste("`data`, `unit`, `problem`, `data_set` or `part` aren't those that the run began with and was",
                       "paid for. Nothing is used up."))
  }
  if (is_memory(ledger)) {
    state <- memory_state(ledger)
    kept <- state$tokens[[token]]
    if (is.null(kept) || identical(kept, "")) over()
    if (!identical(kept, seal)) other()
    state$tokens[[token]] <- ""
  } else {
    if (token %in% used_tokens[["all"]]) over() # whatever an older copy of the ledger says
    ledger_work(ledger, function(run, ask, con) {
      # writing first takes the lock; an error takes it back
      if (run("use", at = utc_now(), token = token) != 1) over()
      meta <- read_meta(ask)
      if (!identical(meta$uid, ledger$uid)) over()
      check_mark(meta, stored_head(ask))
      if (!identical(ask("token_read", token = token)$what, seal)) other()
    })
    assign("all", c(used_tokens[["all"]], token), envir = used_tokens)
  }
  invisible(TRUE)
}
