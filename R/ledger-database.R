# Ledgers in databases: tables, statements, connections and what a commit is worth. What is written there is decided in
# R/ledger-store.R.

LEDGER_TABLES <- c(
  "CREATE TABLE IF NOT EXISTS riemdp_ledger (id INTEGER NOT NULL PRIMARY KEY, uid VARCHAR(64) NOT NULL,
   format INTEGER NOT NULL, budget_rule VARCHAR(16) NOT NULL, epsilon VARCHAR(64) NOT NULL, delta VARCHAR(64) NOT NULL,
   adjacency VARCHAR(16) NOT NULL, reserve VARCHAR(64) NOT NULL, orders TEXT NOT NULL,
   limits TEXT NOT NULL, made_at VARCHAR(32) NOT NULL, sampled TEXT, links INTEGER, head VARCHAR(64), earlier TEXT)",
  "CREATE TABLE IF NOT EXISTS riemdp_account (data_set VARCHAR(200) NOT NULL, part VARCHAR(200) NOT NULL,
   version INTEGER NOT NULL, spent TEXT NOT NULL, largest_part TEXT NOT NULL, PRIMARY KEY (data_set, part))",
  "CREATE TABLE IF NOT EXISTS riemdp_entry (data_set VARCHAR(200) NOT NULL, entry INTEGER NOT NULL,
   part VARCHAR(200) NOT NULL, what TEXT NOT NULL, event TEXT NOT NULL, cost TEXT NOT NULL,
   made_at VARCHAR(32) NOT NULL, source TEXT, link INTEGER, head VARCHAR(64), PRIMARY KEY (data_set, entry))",
  "CREATE UNIQUE INDEX IF NOT EXISTS riemdp_link ON riemdp_entry (link)",
  "CREATE TABLE IF NOT EXISTS riemdp_token (token VARCHAR(64) NOT NULL PRIMARY KEY, what TEXT NOT NULL,
   made_at VARCHAR(32) NOT NULL, used_at VARCHAR(32) NOT NULL)"
)

# what a ledger with quotas has as well
QUOTA_TABLES <- c(
  "ALTER TABLE riemdp_ledger ADD COLUMN quotas TEXT", "ALTER TABLE riemdp_entry ADD COLUMN analyst VARCHAR(200)",
  "CREATE TABLE riemdp_quota (analyst VARCHAR(200) NOT NULL, data_set VARCHAR(200) NOT NULL,
   part VARCHAR(200) NOT NULL, version INTEGER NOT NULL, spent TEXT NOT NULL, largest_part TEXT NOT NULL,
   PRIMARY KEY (analyst, data_set, part))"
)

TABLE_NAMES <- c("riemdp_ledger", "riemdp_account", "riemdp_entry", "riemdp_token", "riemdp_quota")

# Facts, where the chain stands, and sums of a data set: by name, so that no further column takes a name's place
state_statement <- function(more = "") {
  paste0("SELECT l.uid, l.format, l.budget_rule, l.epsilon, l.delta, l.adjacency, l.reserve, l.orders, l.limits, ",
         "l.made_at, l.sampled, l.links, l.head, l.earlier, ", more, "a.version, a.spent, a.largest_part FROM ",
         "riemdp_ledger l, riemdp_account a WHERE l.id = 1 AND a.data_set = ?data_set AND a.part = ?part")
}

entry_statement <- function(more = character()) {
  columns <- c("data_set", "entry", "part", "what", "event", "cost", "made_at", "source", "link", "head", more)
  sprintf("INSERT INTO riemdp_entry (%s) VALUES (%s)", paste(columns, collapse = ", "),
          paste0("?", columns, collapse = ", "))
}

# What a release runs. Each finds its row by a key, so that none slows down as the ledger grows.
LEDGER_STATEMENTS <- c(
  lock = "SELECT id FROM riemdp_ledger WHERE id = 1 FOR UPDATE",
  meta = "SELECT * FROM riemdp_ledger WHERE id = 1",
  state = state_statement(),
  state_quotas = state_statement("l.quotas, "),
  read = "SELECT version, spent, largest_part FROM riemdp_account WHERE data_set = ?data_set AND part = ?part",
  write = paste("UPDATE riemdp_account SET version = version + 1, spent = ?spent, largest_part = ?largest WHERE",
                "data_set = ?data_set AND part = ?part AND version = ?version"),
  write_part = paste("UPDATE riemdp_account SET spent = ?spent, version = version + 1 WHERE data_set = ?data_set AND",
                     "part = ?part"),
  own = paste("SELECT version, spent, largest_part FROM riemdp_quota WHERE analyst = ?analyst AND",
              "data_set = ?data_set AND part = ?part"),
  write_own = paste("UPDATE riemdp_quota SET version = version + 1, spent = ?spent, largest_part = ?largest WHERE",
                    "analyst = ?analyst AND data_set = ?data_set AND part = ?part"),
  entry = entry_statement(),
  entry_analyst = entry_statement("analyst"),
  chain = "UPDATE riemdp_ledger SET links = ?link, head = ?head WHERE id = 1",
  linked = "SELECT head FROM riemdp_entry WHERE link = ?link",
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
is_postgres <- function(con) inherits(con, c("PqConnection", "PostgreSQLConnection", "PostgreSQL"))
is_mariadb <- function(con) inherits(con, c("MariaDBConnection", "MySQLConnection"))

# ---- connections -----------------------------------------------------------------------------------------------------
# Connections to files that stay open between operations, by path. One is used again only by the process that opened
# it, and only while the file's size and times are those that it left behind: who wrote since then, or put another file
# in its place, makes it open anew. A forked process neither uses nor closes what its parent opened.
kept_connections <- new.env(parent = emptyenv())

file_stamp <- function(path) unlist(file.info(path, extra_cols = FALSE)[c("size", "mtime", "ctime")])

keeps_connection <- function(ledger) {
  ledger$kind == "file" && !isTRUE(ledger$creating) && .Platform$OS.type != "windows" # where open files can't be moved
}

# the connection that is to be used again, or NULL
kept_connection <- function(path) {
  kept <- kept_connections[[path]]
  if (is.null(kept)) return(NULL)
  mine <- identical(kept$pid, Sys.getpid())
  if (mine && identical(kept$stamp, file_stamp(path)) && isTRUE(DBI::dbIsValid(kept$con))) return(kept)
  drop_connection(path)
  NULL
}

keep_connection <- function(path, con, durable) {
  if (is.null(kept_connections[[path]])) {
    old <- ls(kept_connections, pattern = "^/")
    if (length(old) >= 8) lapply(old, drop_connection)
  }
  kept_connections[[path]] <- list(con = con, durable = durable, pid = Sys.getpid(), stamp = file_stamp(path))
}

drop_connection <- function(path) {
  kept <- kept_connections[[path]]
  if (is.null(kept)) return(invisible())
  rm(list = path, envir = kept_connections)
  if (identical(kept$pid, Sys.getpid())) {
    try(DBI::dbDisconnect(kept$con), silent = TRUE)
  } else {
    kept_connections$parents <- c(kept_connections$parents, list(kept$con)) # else it would be closed when R tidies up
  }
  invisible()
}

abort_no_server <- function() {
  abort_riemdp("argument", "durable = \"trusted\" is for database servers: what SQLite does is known.")
}

# a connection, and whether it is known to wait for the disk: list(con, durable)
ledger_connection <- function(ledger) {
  kept <- if (keeps_connection(ledger)) kept_connection(ledger$path)
  if (!is.null(kept)) return(kept[c("con", "durable")])
  con <- ledger_connect(ledger)
  if (is_sqlite(con)) {
    if (isTRUE(ledger$trusted)) abort_no_server()
    RSQLite::sqliteSetBusyHandler(con, LEDGER_PATIENCE) # waits for other processes
  }
  list(con = con, durable = FALSE)
}

# a new connection
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

# `own`: the connection is the ledger's, and not one that a user has set up
sqlite_durable <- function(con, own = FALSE) {
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
  hidden <- DBI::dbGetQuery(con, "SELECT count(*) FROM temp.sqlite_master WHERE name LIKE 'riemdp@_%' ESCAPE '@'")
  if (hidden[[1]] > 0) abort_not_durable("tables of the ledger are temporary on this connection.")
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
  # a commit that zeroes the journal's head is as durable as one that deletes the file, and has less to do
  if (own && mode == "delete") DBI::dbGetQuery(con, "PRAGMA main.journal_mode = PERSIST")
}

# in the transaction that is to be durable
server_durable <- function(con, trusted = FALSE) {
  if (trusted) return(invisible())
  if (is_postgres(con)) return(postgres_durable(con))
  if (is_mariadb(con)) return(mariadb_durable(con))
  abort_not_durable(sprintf(paste("commits through %s connections aren't known to be on the disk: use a file (SQLite),",
                                  "PostgreSQL or MariaDB; or say durable = \"trusted\", if you know that they are."),
                            class(con)[1]))
}

postgres_durable <- function(con) {
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
    paste(sprintf("to_regclass('%s')", TABLE_NAMES), collapse = ", "), ")"
  ))[[1]]
  if (as.numeric(passing) > 0) abort_not_durable("tables of the ledger are unlogged or temporary.")
}

# What a commit needs there: the log on the disk, also of replication, without which recovery rolls the commit back;
# pages that can't be torn; tables of the engine that has transactions, in which names are compared byte by byte.
MARIADB_NEEDS <- list(innodb_flush_log_at_trx_commit = "1", innodb_doublewrite = c("1", "ON"))

mariadb_durable <- function(con) {
  ask <- function(sql) DBI::dbGetQuery(con, sql)
  names <- c(names(MARIADB_NEEDS), "sync_binlog", "log_bin", "innodb_flush_method")
  found <- ask(paste0("SELECT version() AS version, ", paste0("@@global.", names, " AS ", names, collapse = ", ")))
  found <- vapply(found, function(x) toupper(as.character(x)), "")
  if (!grepl("MARIADB", found[["version"]], fixed = TRUE)) {
    abort_not_durable("this is a MySQL server, which isn't known here: use MariaDB, PostgreSQL or a file (SQLite).")
  }
  needs <- c(MARIADB_NEEDS, if (found[["log_bin"]] %in% c("1", "ON")) list(sync_binlog = "1"))
  for (name in names(needs)) {
    if (!found[[name]] %in% needs[[name]]) {
      abort_not_durable(sprintf("the MariaDB server runs with %s = %s.", name, tolower(found[[name]])))
    }
  }
  if (grepl("NOSYNC|LITTLESYNC", found[["innodb_flush_method"]])) {
    abort_not_durable("the MariaDB server runs with an innodb_flush_method that doesn't wait for the disk.")
  }
  there <- ask(sprintf("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database() AND
                       table_name IN (%s)", paste0("'", TABLE_NAMES, "'", collapse = ", ")))$name
  for (table in there) mariadb_table(table, ask(sprintf("SHOW CREATE TABLE %s", table))[[2]])
}

# `made`: the statement that would make the table anew, as the server tells it
mariadb_table <- function(table, made) {
  if (!grepl("^CREATE TABLE ", made)) abort_not_durable(sprintf("the table %s is temporary, or a view.", table))
  if (!grepl("ENGINE=InnoDB", made, fixed = TRUE)) {
    abort_not_durable(sprintf("the table %s has an engine that isn't InnoDB.", table))
  }
  if (!grepl("COLLATE=utf8mb4_nopad_bin", made, fixed = TRUE)) {
    abort_riemdp("ledger", sprintf(paste("names in the table %s aren't compared byte by byte: two data sets would be",
                                         "one. Nothing is released."), table))
  }
}

# What this connection does with text: nothing is cut off, and no other set of characters is written
mariadb_session <- function(con) {
  DBI::dbExecute(con, "SET NAMES utf8mb4")
  DBI::dbExecute(con, "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'")
}

# MariaDB ends a transaction with each table that is made: what a crash has left half made is completed, and what
# follows has a transaction of its own
make_tables <- function(run, con, tables, trusted) {
  if (!is_mariadb(con)) return(for (sql in tables) run(sql))
  for (sql in tables) {
    sql <- sub("CREATE TABLE (IF NOT EXISTS )?", "CREATE TABLE IF NOT EXISTS ", sql)
    sql <- sub("ADD COLUMN ", "ADD COLUMN IF NOT EXISTS ", sql)
    table <- if (startsWith(sql, "CREATE TABLE")) " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin"
    run(paste0(sql, table))
  }
  server_durable(con, trusted)
  DBI::dbExecute(con, "START TRANSACTION")
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

# ---- one operation ---------------------------------------------------------------------------------------------------

# Runs work(run, ask, con) on a connection, in a transaction unless `write` is FALSE: `run` gives the number of rows
# changed, `ask` a data frame. What the database says becomes a classed error; after any error nothing is written.
# `write` "read": a transaction that sees one state and writes nothing.
ledger_work <- function(ledger, work, write = TRUE) {
  for (left in rev(seq_len(LEDGER_TRIES)) - 1) {
    out <- ledger_once(ledger, work, write, left > 0)
    if (!inherits(out, "riemdp_again")) return(out$value)
    Sys.sleep(stats::runif(1, 0, 0.01) * 2^(LEDGER_TRIES - left)) # apart from those that it ran into
  }
}

LEDGER_TRIES <- 8L

# Errors after which a server has written nothing and asks to try again: another transaction came between
AGAIN <- "could not serialize access|deadlock detected|try restarting transaction|\\b(40001|40P01)\\b"

ledger_once <- function(ledger, work, write, again) {
  con <- NULL
  open <- done <- durable <- FALSE
  on.exit({
    if (open) try(if (is_sqlite(con)) DBI::dbExecute(con, "ROLLBACK") else DBI::dbRollback(con), silent = TRUE)
    if (!is.null(con) && ledger$kind != "connection") close_connection(ledger, con, done, durable)
  })
  tryCatch(
    {
      found <- ledger_connection(ledger)
      con <- found$con
      sqlite <- is_sqlite(con)
      durable <- found$durable
      if (sqlite && isTRUE(write) && !durable) {
        sqlite_durable(con, ledger$kind == "file")
        durable <- TRUE
      }
      if (!isFALSE(write)) begin_work(con, isTRUE(write))
      open <- !isFALSE(write)
      if (isTRUE(write) && !sqlite) server_durable(con, isTRUE(ledger$trusted))
      fill <- filler(con)
      value <- work(function(sql, ...) fill(DBI::dbExecute, sql, list(...)),
                    function(sql, ...) fill(DBI::dbGetQuery, sql, list(...)), con)
      if (open) {
        if (sqlite) DBI::dbExecute(con, "COMMIT") else DBI::dbCommit(con)
        open <- FALSE
      }
      done <- TRUE
      list(value = value)
    },
    error = function(e) {
      pass_on(e)
      if (again && grepl(AGAIN, conditionMessage(e))) return(structure(list(), class = "riemdp_again"))
      abort_riemdp("ledger",
                   paste0("the ledger's database says: ", sub("[.[:space:]]+$", "", conditionMessage(e)),
                          ". Nothing is released."))
    }
  )
}

begin_work <- function(con, write) {
  # the right to write first, so that waiting can't end in a deadlock
  if (is_sqlite(con)) return(DBI::dbExecute(con, if (write) "BEGIN IMMEDIATE" else "BEGIN"))
  # whoever writes locks the ledger's row first, and has to see what was committed while it waited for that
  level <- paste("SET TRANSACTION ISOLATION LEVEL", if (write) "READ COMMITTED" else "REPEATABLE READ")
  if (is_mariadb(con)) {
    mariadb_session(con)
    DBI::dbExecute(con, level) # of the next transaction
  }
  DBI::dbBegin(con)
  if (is_postgres(con)) DBI::dbExecute(con, level)
}

close_connection <- function(ledger, con, done, durable) {
  if (done && keeps_connection(ledger)) return(keep_connection(ledger$path, con, durable))
  kept <- if (keeps_connection(ledger)) kept_connections[[ledger$path]]
  if (!is.null(kept)) drop_connection(ledger$path) else try(DBI::dbDisconnect(con), silent = TRUE)
}

# How a statement gets its values: SQLite binds them, elsewhere they are written into its text. A driver that answers
# NULL to what failed, with a warning (RPostgreSQL), is no answer: the transaction is lost by then, though it commits.
filler <- function(con) {
  bound <- is_sqlite(con)
  function(does, sql, values) {
    if (sql %in% names(LEDGER_STATEMENTS)) sql <- LEDGER_STATEMENTS[[sql]]
    answer <- if (!length(values)) {
      does(con, sql)
    } else if (bound) {
      does(con, gsub("?", ":", sql, fixed = TRUE), params = values)
    } else {
      does(con, DBI::sqlInterpolate(con, sql, .dots = values))
    }
    if (is.null(answer)) stop("a statement failed")
    answer
  }
}
