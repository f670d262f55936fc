# Where ledgers are kept: in memory, or in a database through DBI. A store knows no privacy: it hands the sums to a
# function that decides and writes what comes back, in one transaction. R/ledger-rules.R decides.

# ---- numbers ---------------------------------------------------------------------------------------------------------
# Running sums are kept in twice the precision of doubles: rows "hi" and "lo", a column for each unit. Hexadecimal text
# is the one form that every database and every R gives back bit for bit.

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

unhex_sums <- function(text, count) matrix(unhex(text, 2 * count), 2)

random_id <- function() {
  parts <- vapply(1:8, function(i) .Call(riemdp_system_uniform, euclidean(1)), numeric(1))
  paste(sprintf("%04x", as.integer(floor(parts * 65536))), collapse = "")
}

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
  state$meta <- meta
  state$accounts <- list()
  state$entries <- new.env(parent = emptyenv()) # by number: adding one doesn't copy the others
  state$tokens <- list()
  assign(uid, state, envir = memory_ledgers)
}

# ---- databases -------------------------------------------------------------------------------------------------------

LEDGER_TABLES <- c(
  "CREATE TABLE IF NOT EXISTS riemdp_ledger (id INTEGER NOT NULL PRIMARY KEY, uid VARCHAR(64) NOT NULL,
   format INTEGER NOT NULL, budget_rule VARCHAR(16) NOT NULL, epsilon VARCHAR(64) NOT NULL, delta VARCHAR(64) NOT NULL,
   adjacency VARCHAR(16) NOT NULL, reserve VARCHAR(64) NOT NULL, orders TEXT NOT NULL,
   limits TEXT NOT NULL, made_at VARCHAR(32) NOT NULL, sampled TEXT)",
  "CREATE TABLE IF NOT EXISTS riemdp_account (data_set VARCHAR(200) NOT NULL, part VARCHAR(200) NOT NULL,
   version INTEGER NOT NULL, spent TEXT NOT NULL, largest_part TEXT NOT NULL, PRIMARY KEY (data_set, part))",
  "CREATE TABLE IF NOT EXISTS riemdp_entry (data_set VARCHAR(200) NOT NULL, entry INTEGER NOT NULL,
   part VARCHAR(200) NOT NULL, what TEXT NOT NULL, event TEXT NOT NULL, cost TEXT NOT NULL,
   made_at VARCHAR(32) NOT NULL, source TEXT, PRIMARY KEY (data_set, entry))",
  "CREATE TABLE IF NOT EXISTS riemdp_token (token VARCHAR(64) NOT NULL PRIMARY KEY, what TEXT NOT NULL,
   made_at VARCHAR(32) NOT NULL, used_at VARCHAR(32) NOT NULL)"
)

# What a release runs. Each finds its row by a primary key, so that none slows down as the ledger grows.
LEDGER_STATEMENTS <- c(
  lock = "UPDATE riemdp_account SET version = version + 1 WHERE data_set = ?data_set AND part = ''",
  meta = "SELECT * FROM riemdp_ledger WHERE id = 1",
  read = "SELECT version, spent, largest_part FROM riemdp_account WHERE data_set = ?data_set AND part = ?part",
  write = paste("UPDATE riemdp_account SET spent = ?spent, largest_part = ?largest WHERE data_set = ?data_set AND part",
                "= ?part AND version = ?version"),
  write_part = paste("UPDATE riemdp_account SET spent = ?spent, version = version + 1 WHERE data_set = ?data_set AND",
                     "part = ?part"),
  entry = paste("INSERT INTO riemdp_entry (data_set, entry, part, what, event, cost, made_at) VALUES (?data_set,",
                "?entry, ?part, ?what, ?event, ?cost, ?at)"),
  source = "UPDATE riemdp_entry SET source = ?source WHERE data_set = ?data_set AND entry = ?entry",
  token = "INSERT INTO riemdp_token (token, what, made_at, used_at) VALUES (?token, ?what, ?at, '')",
  token_read = "SELECT what, used_at FROM riemdp_token WHERE token = ?token",
  use = "UPDATE riemdp_token SET used_at = ?at WHERE token = ?token AND used_at = ''"
)

need_database <- function(file) {
  needed <- c("DBI", if (file) "RSQLite")
  absent <- needed[!vapply(needed, requireNamespace, NA, quietly = TRUE)]
  if (length(absent)) {
    abort_riemdp("unsupported", sprintf(
      "a ledger in a %s needs the package%s %s: install %s, or use a ledger in memory, dp_ledger(NULL, ...).",
      if (file) "file" else "database", if (length(absent) > 1) "s" else "", paste(absent, collapse = " and "),
      if (length(absent) > 1) "them" else "it"
    ))
  }
}

is_sqlite <- function(con) inherits(con, "SQLiteConnection")

# A connection for one operation. Files and functions give a fresh one each time: none is shared with a forked process,
# and none can have been closed.
ledger_connect <- function(ledger) {
  switch(ledger$kind,
    file = {
      need_database(TRUE)
      if (!isTRUE(ledger$creating) && !file.exists(ledger$path)) {
        abort_riemdp("ledger", "the ledger's file is gone. Nothing is released.")
      }
      flags <- if (isTRUE(ledger$creating)) RSQLite::SQLITE_RWC else RSQLite::SQLITE_RW
      DBI::dbConnect(RSQLite::SQLite(), ledger$path, flags = flags, synchronous = NULL)
    },
    connection = {
      if (!identical(ledger$pid, Sys.getpid())) {
        abort_riemdp("ledger", paste(
          paste("this ledger's connection belongs to another process. Give dp_ledger() a path, or a function that",
                "returns a new"),
          "connection."
        ))
      }
      # a driver that can't tell will say so at the first statement
      if (isFALSE(tryCatch(DBI::dbIsValid(ledger$connection), error = function(e) NA))) {
        abort_riemdp("ledger", "the ledger's database connection is closed. Nothing is released.")
      }
      ledger$connection
    },
    `function` = {
      con <- ledger$open()
      if (!inherits(con, "DBIConnection")) {
        abort_riemdp("ledger", "the function that opens the ledger's database must return a DBI connection.")
      }
      con
    }
  )
}

LEDGER_PATIENCE <- 60000L # milliseconds

# ---- what a commit is worth ------------------------------------------------------------------------------------------
# A price must be on the disk before noise is drawn. Where a database promises less it is set to promise that, or
# refused.

abort_not_durable <- function(...) {
  abort_riemdp("ledger", paste0(..., " What was spent could come back after a crash. Nothing is released."))
}

sqlite_durable <- function(con) {
  pragma <- function(name) {
    out <- DBI::dbGetQuery(con, paste("PRAGMA main.", name, sep = ""))
    if (nrow(out)) as.character(out[[1]][1]) else ""
  }
  files <- DBI::dbGetQuery(con, "PRAGMA database_list")
  file <- files$file[files$name == "main"]
  if (!length(file) || is.na(file[1]) || !nzchar(file[1])) {
    abort_not_durable("this SQLite database is in memory: for a ledger in memory use dp_ledger(NULL, ...).")
  }
  refuse_network(file[1])
  # RSQLite's own default doesn't wait for the disk; on macOS the disk's cache has to be emptied as well
  DBI::dbExecute(con, "PRAGMA main.synchronous = EXTRA")
  DBI::dbExecute(con, "PRAGMA fullfsync = ON")
  if (!pragma("synchronous") %in% c("2", "3")) {
    abort_not_durable("the SQLite connection doesn't wait for the disk (PRAGMA synchronous).")
  }
  mode <- pragma("journal_mode")
  if (!mode %in% c("delete", "truncate", "persist", "wal")) {
    abort_not_durable(sprintf("the SQLite database has journal_mode = %s: use delete, truncate, persist or wal.", mode))
  }
}

is_postgres <- function(con) inherits(con, c("PqConnection", "PostgreSQLConnection", "PostgreSQL"))

# in the transaction that is to be durable
server_durable <- function(con) {
  if (!is_postgres(con)) {
    abort_not_durable(sprintf(paste("commits through %s connections aren't known to be on the disk: use a file",
                                    "(SQLite) or PostgreSQL."), class(con)[1]))
  }
  setting <- function(name) as.character(DBI::dbGetQuery(con, paste("SHOW", name))[[1]])
  for (name in c("fsync", "full_page_writes")) {
    if (setting(name) != "on") abort_not_durable(sprintf("the PostgreSQL server runs with %s = off.", name))
  }
  # "off" answers before the log is on the disk, "local" and "remote_write" before it is on that of a standby that may
  # take over
  if (!setting("synchronous_commit") %in% c("on", "remote_apply")) {
    DBI::dbExecute(con, "SET LOCAL synchronous_commit = on")
  }
  passing <- DBI::dbGetQuery(con, paste0(
    "SELECT count(*) AS n FROM pg_class WHERE relpersistence <> 'p' AND oid IN (",
    paste(sprintf("to_regclass('%s')", c("riemdp_ledger", "riemdp_account", "riemdp_entry", "riemdp_token")),
          collapse = ", "), ")"
  ))[[1]]
  if (as.numeric(passing) > 0) abort_not_durable("tables of the ledger are unlogged or temporary.")
}

# file systems on other machines, as Linux names them
NETWORK_DRIVES <- c("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "ncp", "afs", "coda", "9p", "davfs",
                    "ceph", paste0("fuse.",
                                   c("sshfs", "davfs", "davfs2", "rclone", "s3fs", "gcsfuse", "curlftpfs", "smbnetfs",
                                     "glusterfs")))

mount_table <- function() {
  file <- "/proc/self/mounts"
  if (file.exists(file)) readLines(file, warn = FALSE) else character()
}

# type of the file system that holds a path: that of the longest mount point above it
file_system <- function(path, mounts = mount_table()) {
  if (grepl("^(//|\\\\\\\\)", path)) return("smb")
  words <- strsplit(mounts, " ", fixed = TRUE)
  words <- words[lengths(words) >= 3]
  at <- vapply(words, `[`, "", 2)
  # spaces and the like are written in octal
  for (code in unique(unlist(regmatches(at, gregexpr("\\\\[0-7]{3}", at))))) {
    at <- gsub(code, intToUtf8(strtoi(substring(code, 2), 8L)), at, fixed = TRUE)
  }
  above <- at == "/" | path == at | startsWith(path, paste0(at, "/"))
  if (!any(above)) return("")
  # of two mounts at one place the later one is seen
  best <- which(above & nchar(at) == max(nchar(at[above])))
  words[[best[length(best)]]][3]
}

refuse_network <- function(file) {
  type <- file_system(normalizePath(file, winslash = "/", mustWork = FALSE))
  if (type %in% NETWORK_DRIVES) {
    abort_not_durable(sprintf(paste("the file is on a network drive (%s), whose locks and flushes can't be relied on:",
                                    "use a local disk or PostgreSQL."), type))
  }
}

# Runs work(run, ask) on a connection, in a transaction unless `write` is FALSE: `run` gives the number of rows changed,
# `ask` a data frame. What the database says becomes a classed error; after any error nothing is written.
ledger_work <- function(ledger, work, write = TRUE) {
  con <- NULL
  open <- FALSE
  on.exit({
    if (open) try(if (is_sqlite(con)) DBI::dbExecute(con, "ROLLBACK") else DBI::dbRollback(con), silent = TRUE)
    if (!is.null(con) && ledger$kind != "connection") try(DBI::dbDisconnect(con), silent = TRUE)
  })
  fill <- function(sql, values) {
    if (sql %in% names(LEDGER_STATEMENTS)) sql <- LEDGER_STATEMENTS[[sql]]
    if (length(values)) DBI::sqlInterpolate(con, sql, .dots = values) else sql
  }
  tryCatch(
    {
      con <- ledger_connect(ledger)
      if (is_sqlite(con)) RSQLite::sqliteSetBusyHandler(con, LEDGER_PATIENCE) # waits for other processes
      if (write && is_sqlite(con)) sqlite_durable(con)
      if (write) {
        # SQLite: the right to write first, so that waiting can't end in a deadlock
        if (is_sqlite(con)) DBI::dbExecute(con, "BEGIN IMMEDIATE") else DBI::dbBegin(con)
        open <- TRUE
        if (!is_sqlite(con)) server_durable(con)
      }
      value <- work(function(sql, ...) DBI::dbExecute(con, fill(sql, list(...))),
                    function(sql, ...) DBI::dbGetQuery(con, fill(sql, list(...))), con)
      if (write) {
        if (is_sqlite(con)) DBI::dbExecute(con, "COMMIT") else DBI::dbCommit(con)
        open <- FALSE
      }
      value
    },
    error = function(e) {
      if (inherits(e, "riemdp_error")) stop(e)
      abort_riemdp("ledger",
                   paste0("the ledger's database says: ", sub("[.[:space:]]+$", "", conditionMessage(e)),
                          ". Nothing is released."))
    }
  )
}

# the rate of a ledger that isn't about a sample
NO_SAMPLE <- c(row = 1)

is_sampled <- function(meta) isTRUE(meta$sampled < 1)

# the ledger's fixed facts as stored; NULL where there is no ledger
read_meta <- function(ask) {
  row <- ask("meta")
  if (nrow(row) == 0) return(NULL)
  format <- as.integer(row$format)
  if (nrow(row) != 1 || !format %in% 1:2) {
    abort_riemdp("ledger", "the ledger was written by another version of the package.")
  }
  # only a ledger of a sample is of format 2, so that versions which know of none refuse it
  sampled <- if (format == 2) stats::setNames(unhex(sub(" .*", "", row$sampled), 1), sub("^[^ ]* ", "", row$sampled))
  orders <- if (nzchar(row$orders)) unhex(row$orders) else numeric()
  list(uid = row$uid, rule = row$budget_rule, epsilon = unhex(row$epsilon, 1), delta = unhex(row$delta, 1),
       adjacency = row$adjacency, reserve = unhex(row$reserve, 1), orders = orders, limits = unhex(row$limits),
       sampled = sampled %||% NO_SAMPLE, made_at = row$made_at)
}

# the column that ledgers of earlier versions lack; they can do with it
add_source <- function(con, run) {
  if ("source" %in% DBI::dbListFields(con, "riemdp_entry")) return(invisible())
  run(paste("ALTER TABLE riemdp_entry ADD COLUMN", if (is_postgres(con)) "IF NOT EXISTS", "source TEXT"))
}

has_ledger <- function(con) DBI::dbExistsTable(con, "riemdp_ledger")

database_create <- function(ledger, meta, data_sets) {
  ledger_work(ledger, function(run, ask, con) {
    for (sql in LEDGER_TABLES) run(sql)
    if (!is.null(read_meta(ask))) {
      abort_riemdp("ledger",
                   "there is a ledger already, made by another process just now: leave `create` out to open it.")
    }
    run(paste("INSERT INTO riemdp_ledger (id, uid, format, budget_rule, epsilon, delta, adjacency, reserve,",
              "orders, limits, made_at, sampled)",
              "VALUES (1, ?uid, ?format, ?rule, ?epsilon, ?delta, ?adjacency, ?reserve, ?orders, ?limits, ?at,",
              "?drawn)"),
        uid = meta$uid, format = if (is_sampled(meta)) 2L else 1L,
        drawn = paste(hex(meta$sampled), names(meta$sampled)), rule = meta$rule, epsilon = hex(meta$epsilon),
        delta = hex(meta$delta), adjacency = meta$adjacency, reserve = hex(meta$reserve),
        orders = if (length(meta$orders)) hex(meta$orders) else "", limits = hex(meta$limits), at = meta$made_at)
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
      }
    }
  }
}

# ---- what R/ledger.R asks of a store ---------------------------------------------------------------------------------

is_memory <- function(ledger) identical(ledger$kind, "memory")

store_meta <- function(ledger) {
  if (is_memory(ledger)) return(memory_state(ledger)$meta)
  ledger_work(ledger, function(run, ask, con) if (has_ledger(con)) read_meta(ask), write = FALSE)
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
    for (set in names(data_sets)) {
      if (is.null(state$accounts[[set]])) {
        state$accounts[[set]] <- list(count = 0L, spent = zero, largest = zero, parts = list())
      }
      for (part in data_sets[[set]]) {
        if (is.null(state$accounts[[set]]$parts[[part]])) state$accounts[[set]]$parts[[part]] <- zero
      }
    }
    return(invisible())
  }
  ledger_work(ledger, function(run, ask, con) declare_accounts(run, ask, data_sets, read_meta(ask)))
  invisible()
}

# Hands decide() the sums of a data set (`spent` on the whole, `largest` over its parts, `part` of one) and writes what
# it returns, all or nothing. The entry's number comes back.
store_spend <- function(ledger, data_set, part, entry, decide) {
  if (is_memory(ledger)) {
    state <- memory_state(ledger)
    account <- state$accounts[[data_set]]
    if (is.null(account)) abort_unknown_account(data_set, "")
    mine <- if (nzchar(part)) account$parts[[part]]
    if (nzchar(part) && is.null(mine)) abort_unknown_account(data_set, part)
    after <- decide(state$meta, list(spent = account$spent, largest = account$largest, part = mine))
    number <- account$count + 1L
    suspendInterrupts({
      state$entries[[paste(number, data_set)]] <- c(list(data_set = data_set, entry = number, part = part,
                                                         made_at = utc_now()), entry)
      account[c("spent", "largest", "count")] <- list(after$spent, after$largest, number)
      if (nzchar(part)) account$parts[[part]] <- after$part
      state$accounts[[data_set]] <- account
    })
    return(number)
  }
  ledger_work(ledger, function(run, ask, con) {
    # writing comes first: it takes the lock that makes a second process wait until this one has committed
    if (run("lock", data_set = data_set) != 1) abort_unknown_account(data_set, "")
    meta <- read_meta(ask)
    if (!identical(meta$uid, ledger$uid)) {
      abort_riemdp("ledger", "the database holds another ledger than the one that was opened. Nothing is released.")
    }
    units <- length(meta$limits)
    whole <- ask("read", data_set = data_set, part = "")
    mine <- if (nzchar(part)) ask("read", data_set = data_set, part = part)
    if (nzchar(part) && nrow(mine) != 1) abort_unknown_account(data_set, part)
    after <- decide(meta, list(
      spent = unhex_sums(whole$spent, units), largest = unhex_sums(whole$largest_part, units),
      part = if (nzchar(part)) unhex_sums(mine$spent, units)
    ))
    number <- as.integer(whole$version) # every change of the row is an entry
    changed <- run("write", spent = hex(after$spent), largest = hex(after$largest), data_set = data_set, part = "",
                   version = number)
    if (nzchar(part)) {
      changed <- c(changed, run("write_part", spent = hex(after$part), data_set = data_set, part = part))
    }
    changed <- c(changed,
                 run("entry", data_set = data_set, entry = number, part = part, what = entry$what, event = entry$event,
                     cost = entry$cost, at = utc_now()))
    if (!is.na(entry$source)) {
      add_source(con, run)
      changed <- c(changed, run("source", source = entry$source, data_set = data_set, entry = number))
    }
    if (!all(changed == 1)) abort_riemdp("ledger", "the ledger changed while it was locked. Nothing is released.")
    number
  })
}

# data frame: data_set, part ("" for the whole), sums as list columns
store_accounts <- function(ledger) {
  if (is_memory(ledger)) {
    state <- memory_state(ledger)
    rows <- lapply(names(state$accounts), function(set) {
      account <- state$accounts[[set]]
      list(data_set = set, part = c("", names(account$parts)), count = c(account$count, rep(NA, length(account$parts))),
           spent = c(list(account$spent), unname(account$parts)),
           largest = list(account$largest)[rep(1, 1 + length(account$parts))])
    })
    return(list(
      meta = state$meta, data_set = rep(vapply(rows, `[[`, "", "data_set"),
                                        vapply(rows, function(r) length(r$part), 1L)),
      part = unlist(lapply(rows, `[[`, "part")), count = unlist(lapply(rows, `[[`, "count")),
      spent = do.call(c, lapply(rows, `[[`, "spent")), largest = do.call(c, lapply(rows, `[[`, "largest"))
    ))
  }
  ledger_work(ledger, function(run, ask, con) {
    meta <- read_meta(ask)
    rows <- ask("SELECT * FROM riemdp_account ORDER BY data_set, part")
    units <- length(meta$limits)
    list(meta = meta, data_set = as.character(rows$data_set), part = as.character(rows$part),
         count = ifelse(rows$part == "", as.integer(rows$version), NA),
         spent = lapply(rows$spent, unhex_sums, count = units),
         largest = lapply(rows$largest_part, unhex_sums, count = units))
  }, write = FALSE)
}

store_history <- function(ledger) {
  if (is_memory(ledger)) {
    state <- memory_state(ledger)
    entries <- unname(as.list(state$entries))
    column <- function(name) vapply(entries, function(e) as.character(e[[name]]), "")
    rows <- data.frame(data_set = column("data_set"), entry = as.integer(column("entry")), part = column("part"),
                       what = column("what"), event = column("event"), cost = column("cost"),
                       made_at = column("made_at"), source = column("source"))
    rows <- rows[order(rows$data_set, rows$entry), ]
  } else {
    rows <- ledger_work(ledger, function(run, ask, con) {
      ask("SELECT * FROM riemdp_entry ORDER BY data_set, entry")
    }, write = FALSE)
    if (is.null(rows$source)) rows$source <- rep(NA_character_, nrow(rows)) # of an earlier version
    rows$source <- as.character(rows$source)
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
    ledger_work(ledger, function(run, ask, con) {
      # writing first takes the lock; an error takes it back
      if (run("use", at = utc_now(), token = token) != 1) over()
      if (!identical(ask("token_read", token = token)$what, seal)) other()
    })
  }
  invisible(TRUE)
}
