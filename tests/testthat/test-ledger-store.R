# Where a ledger is kept: what is found, what is made, and that what was spent is still spent after a crash.

inner <- asNamespace("riemdp")
refused <- function(expr, ...) expect_error(expr, ..., class = "riemdp_error_ledger")

test_that("a ledger is made once, by name, and opening never makes one", {
  skip_without_sqlite()
  folder <- tempfile("ledger")
  elsewhere <- file.path(folder, "elsewhere")
  dir.create(elsewhere, recursive = TRUE)
  old <- setwd(folder)
  on.exit(setwd(old))
  refused(dp_ledger("x.sqlite", epsilon = 1), "no ledger in the file")
  expect_false(file.exists("x.sqlite"))
  first <- dp_ledger("x.sqlite", epsilon = 1, create = TRUE)
  ledger_spend(first, event_pure(0.9))
  setwd(elsewhere)
  refused(dp_ledger("x.sqlite", epsilon = 1), "create = TRUE")
  expect_false(file.exists("x.sqlite"))
  expect_error(ledger_spend(first, event_pure(0.9)), class = "riemdp_error_budget") # an open one knows where it is
  setwd(folder)
  expect_identical(summary(dp_ledger("x.sqlite"))$spent[1], 0.9)
  expect_identical(summary(dp_ledger("x.sqlite", epsilon = 1))$spent[1], 0.9)
  refused(dp_ledger("x.sqlite", epsilon = 1, create = TRUE), "a ledger already")
  # an empty file, and a database of something else
  file.create("empty.sqlite")
  refused(dp_ledger("empty.sqlite"))
  con <- DBI::dbConnect(RSQLite::SQLite(), "other.sqlite")
  DBI::dbExecute(con, "CREATE TABLE mine (x INTEGER)")
  refused(dp_ledger("other.sqlite"))
  refused(dp_ledger(con), "no ledger in this database")
  refused(dp_ledger(function() DBI::dbConnect(RSQLite::SQLite(), "other.sqlite")), "no ledger in this database")
  expect_s3_class(dp_ledger(con, 1, create = TRUE), "riemdp_ledger")
  expect_identical(dp_ledger("other.sqlite")$limits, dp_ledger(con)$limits)
  DBI::dbDisconnect(con)
  expect_s3_class(dp_ledger("empty.sqlite", 1, create = TRUE, data_sets = c("a", "b")), "riemdp_ledger")
  # two that make one at the same time: the second is told
  place <- inner$ledger_place("race.sqlite")
  meta <- inner$new_meta(list(epsilon = 1))
  inner$database_create(place, meta, list(default = character()))
  refused(inner$database_create(place, inner$new_meta(list(epsilon = 2)), list(default = character())), "another process")
  expect_identical(dp_ledger("race.sqlite")$uid, meta$uid)
  expect_error(dp_ledger("y.sqlite", 1, create = NA), class = "riemdp_error_argument")
  expect_error(dp_ledger("y.sqlite", create = TRUE), class = "riemdp_error_argument") # without a budget
  # in memory it is always a new one
  expect_false(identical(dp_ledger(NULL, 1)$uid, dp_ledger(NULL, 1, create = TRUE)$uid))
})

test_that("a ledger keeps where public bounds come from, one of an earlier version as well", {
  skip_without_sqlite()
  sources <- function(ledger) ledger_history(ledger)$source
  words <- "an atlas; with 'quotes', ?marks and \u00fcmlauts"
  for (place in list(NULL, tempfile(fileext = ".sqlite"))) {
    ledger <- dp_ledger(place, 1, create = !is.null(place))
    ledger_spend(ledger, event_pure(0.1))
    ledger_spend(ledger, event_pure(0.1), source = words)
    expect_identical(sources(ledger), c(NA, words))
    for (bad in list("", 1, c("a", "b"), strrep("a", 2001))) expect_error(ledger_spend(ledger, event_pure(0.1), source = bad), class = "riemdp_error_argument")
    expect_identical(length(sources(ledger)), 2L)
  }
  expect_identical(sources(dp_ledger(NULL, 1)), character())

  # as it was made before there was the column
  file <- tempfile(fileext = ".sqlite")
  ledger <- dp_ledger(file, 1, create = TRUE)
  ledger_spend(ledger, event_pure(0.1), "old")
  make_old(file, lacking = "source")
  again <- dp_ledger(file)
  expect_identical(sources(again), NA_character_)
  ledger_spend(again, event_pure(0.1), "silent")
  expect_identical(sources(again), c(NA_character_, NA))
  # one that isn't covered changes nothing
  expect_error(ledger_spend(again, event_pure(2), source = "x"), class = "riemdp_error_budget")
  for (i in 1:2) ledger_spend(again, event_pure(0.1), source = words)
  expect_identical(sources(again), c(NA, NA, words, words))
  expect_identical(ledger_history(again)$what[1:2], c("old", "silent"))
  expect_equal(summary(again)$spent[1], 0.4)
})

test_that("SQLite connections that don't promise the disk are refused before anything is spent", {
  skip_without_sqlite()
  file <- tempfile("ledger", fileext = ".sqlite")
  ledger <- dp_ledger(file, 1, create = TRUE)
  with_mode <- function(...) {
    con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
    for (sql in c(...)) DBI::dbExecute(con, sql)
    con
  }
  for (mode in c("MEMORY", "OFF")) {
    con <- with_mode(paste("PRAGMA journal_mode =", mode))
    refused(ledger_spend(dp_ledger(con), event_pure(0.1)), "journal_mode")
    DBI::dbDisconnect(con)
  }
  # what the ledger can set by itself it sets
  for (level in c("OFF", "NORMAL")) {
    con <- with_mode(paste("PRAGMA synchronous =", level))
    ledger_spend(dp_ledger(con), event_pure(0.1))
    expect_identical(DBI::dbGetQuery(con, "PRAGMA synchronous")[[1]], 3L)
    DBI::dbDisconnect(con)
  }
  expect_equal(summary(ledger)$spent[1], 0.2)
  # the journal of a connection of its own is kept, its head zeroed by the commit; a user's connection stays as it was
  ledger_spend(ledger, event_pure(0.1))
  own <- inner$kept_connections[[ledger$path]]$con
  expect_identical(DBI::dbGetQuery(own, "PRAGMA journal_mode")[[1]], "persist")
  expect_identical(DBI::dbGetQuery(own, "PRAGMA synchronous")[[1]], 3L)
  expect_true(all(readBin(paste0(file, "-journal"), "raw", 28) == 0))
  con <- with_mode()
  ledger_spend(dp_ledger(con), event_pure(0.1))
  expect_identical(DBI::dbGetQuery(con, "PRAGMA journal_mode")[[1]], "delete")
  DBI::dbDisconnect(con)
  nowhere <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  refused(dp_ledger(nowhere, 1, create = TRUE), "dp_ledger(NULL", fixed = TRUE)
  DBI::dbDisconnect(nowhere)
  # and no other database is taken on trust
  refused(inner$server_durable(structure(1, class = "SomeConnection")), "SomeConnection")
})

test_that("files on network drives are refused", {
  mounts <- c("/dev/sda1 / ext4 rw 0 0", "server:/home /home nfs4 rw 0 0", "/dev/sdb1 /home/local xfs rw 0 0",
              "//box/share /mnt/two\\040words cifs rw 0 0", "tmpfs /home/me/cache tmpfs rw 0 0", "me@host:/ /home/me/far fuse.sshfs rw 0 0")
  kind <- function(path) inner$file_system(path, mounts)
  expect_identical(vapply(c("/srv/x", "/home/x", "/homes/x", "/home/local/x", "/mnt/two words/x", "/home/me/cache/x", "/home/me/far/x", "//box/y"),
                          kind, "", USE.NAMES = FALSE),
                   c("ext4", "nfs4", "ext4", "xfs", "cifs", "tmpfs", "fuse.sshfs", "smb"))
  expect_identical(inner$file_system("/x", character()), "")
  # the later of two mounts at one place
  expect_identical(inner$file_system("/a/x", c("d /a ext4 rw", "s /a nfs rw")), "nfs")
  skip_without_sqlite()
  file <- tempfile("ledger", fileext = ".sqlite")
  ledger <- dp_ledger(file, 1, create = TRUE)
  was <- inner$mount_table
  table <- function(f) {
    unlockBinding("mount_table", inner)
    assign("mount_table", f, envir = inner)
  }
  on.exit(table(was))
  table(function() sprintf("server:/x %s nfs4 rw 0 0", dirname(normalizePath(file))))
  inner$drop_connection(normalizePath(file)) # a mount over it would show another file, and be opened anew
  refused(ledger_spend(ledger, event_pure(0.1)), "network drive \\(nfs4\\)")
  refused(dp_ledger(tempfile(fileext = ".sqlite"), 1, create = TRUE), "network drive")
  expect_identical(summary(ledger)$spent[1], 0)
})

test_that("a driver that answers NULL to what failed has written nothing", {
  skip_without_sqlite()
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  fill <- inner$filler(con)
  expect_identical(fill(function(...) 0, "lock", list()), 0)
  expect_error(fill(function(...) NULL, "lock", list()), "failed")
  expect_error(fill(function(...) NULL, "linked", list(link = 1)), "failed")
})

test_that("PostgreSQL: what was spent is spent after a crash, whatever the server is set to", {
  server <- postgres_start()
  on.exit(postgres_stop(server))
  server$query("ALTER DATABASE postgres SET synchronous_commit = off")
  ledger <- dp_ledger(server$open, 1, create = TRUE)
  # a setting, taken from the server, is left as it is outside
  con <- server$open()
  expect_identical(DBI::dbGetQuery(con, "SHOW synchronous_commit")[[1]], "off")
  through <- dp_ledger(con)
  for (i in 1:5) ledger_spend(ledger, event_pure(0.1))
  for (i in 1:5) ledger_spend(through, event_pure(0.1))
  expect_identical(DBI::dbGetQuery(con, "SHOW synchronous_commit")[[1]], "off")
  try(DBI::dbDisconnect(con), silent = TRUE)
  postgres_crash(server)
  again <- dp_ledger(server$open)
  expect_identical(summary(again)$spent[1], 1)
  expect_identical(nrow(ledger_history(again)), 10L)
  expect_true(ledger_verify(again)$ok)
  # columns that earlier versions don't have
  server$query("DROP INDEX riemdp_link", "ALTER TABLE riemdp_entry DROP COLUMN source, DROP COLUMN link, DROP COLUMN head",
               "ALTER TABLE riemdp_ledger DROP COLUMN sampled, DROP COLUMN links, DROP COLUMN head, DROP COLUMN earlier",
               "UPDATE riemdp_ledger SET format = 1")
  rm(list = again$uid, envir = inner$chain_marks)
  # some drivers warn where others stop
  suppressWarnings(refused(ledger_spend(again, event_pure(0.001)), "a statement failed|does not exist"))
  again <- dp_ledger(server$open, data_sets = "sourced")
  expect_identical(ledger_history(again)$source, rep(NA_character_, 10))
  for (i in 1:2) ledger_spend(again, event_pure(0.1), data_set = "sourced", source = "an atlas")
  expect_identical(ledger_history(again)$source, rep(c(NA, "an atlas"), c(10, 2)))
  expect_error(ledger_spend(again, event_pure(0.9)), class = "riemdp_error_budget")
  checked <- ledger_verify(again)
  expect_true(checked$ok)
  expect_identical(c(checked$entries, checked$link), c(12, 2))

  # tokens of checkpoints, and data sets, as well
  dp_ledger(server$open, data_sets = "more")
  token <- inner$ledger_token(again, "a seal")
  inner$ledger_use_token(again, token, "a seal")
  postgres_crash(server)
  refused(inner$ledger_use_token(again, token, "a seal"))
  expect_identical(unique(summary(again)$data_set), c("default", "more", "sourced"))
  # a stronger setting than needed is kept
  server$query("ALTER DATABASE postgres SET synchronous_commit = remote_apply")
  inner$ledger_work(again, function(run, ask, con) expect_identical(ask("SHOW synchronous_commit")[[1]], "remote_apply"))
  for (weak in c("local", "remote_write")) {
    server$query(paste("ALTER DATABASE postgres SET synchronous_commit =", weak))
    inner$ledger_work(again, function(run, ask, con) expect_identical(ask("SHOW synchronous_commit")[[1]], "on"))
  }

  # servers and tables that don't outlast a crash are refused before anything is spent
  server$query("DROP TABLE riemdp_ledger, riemdp_account, riemdp_entry, riemdp_token")
  ledger <- dp_ledger(server$open, 1, create = TRUE)
  refused(dp_ledger(server$open, 1, create = TRUE), "already")
  spend <- function() ledger_spend(ledger, event_pure(0.1))
  for (table in c("riemdp_account", "riemdp_entry")) {
    server$query(sprintf("ALTER TABLE %s SET UNLOGGED", table))
    refused(spend(), "unlogged")
    server$query(sprintf("ALTER TABLE %s SET LOGGED", table))
  }
  for (setting in c("fsync", "full_page_writes")) {
    server$query(sprintf("ALTER SYSTEM SET %s = off", setting), "SELECT pg_reload_conf()")
    refused(spend(), setting)
    server$query(sprintf("ALTER SYSTEM RESET %s", setting), "SELECT pg_reload_conf()")
  }
  expect_identical(summary(ledger)$spent[1], 0)
  spend()
  skip_on_os("windows")
  # the same budget from several processes
  folder <- tempfile("storm")
  dir.create(folder)
  set.seed(1)
  server$query("DROP TABLE riemdp_ledger, riemdp_account, riemdp_entry, riemdp_token")
  found <- ledger_storm(server$open, 3, 5, folder, mean_life = 0.4)
  expect_identical(storm_faults(found), NULL)
})

test_that("a process that has only looked remembers what it saw, and honest ledgers go on", {
  skip_without_sqlite()
  other <- function(file, n = 1) { # what another process spends
    inner <- asNamespace("riemdp")
    seen <- as.list(inner$chain_marks)
    forget_ledger(file)
    l <- dp_ledger(file)
    for (i in seq_len(n)) ledger_spend(l, event_pure(0.01))
    forget_ledger(file)
    list2env(seen, inner$chain_marks)
  }
  for (old in c(FALSE, TRUE)) { # one that was made and opened empty, and one that has just got its chain
    file <- tempfile(fileext = ".sqlite")
    l <- dp_ledger(file, epsilon = 1, create = TRUE)
    if (old) {
      ledger_spend(l, event_pure(0.1))
      make_old(file)
    }
    l <- dp_ledger(file)
    other(file)
    expect_identical(ledger_spend(l, event_pure(0.01))$entry, 2L + old)
    expect_true(ledger_verify(l)$ok)
  }
  # seen by opening, by printing
  for (look in list(function(file, l) dp_ledger(file), function(file, l) capture.output(print(l)))) {
    file <- tempfile(fileext = ".sqlite")
    l <- dp_ledger(file, epsilon = 1, create = TRUE)
    ledger_spend(l, event_pure(0.01))
    copy <- paste0(file, ".copy")
    file.copy(file, copy)
    other(file, 3)
    look(file, l)
    file.copy(copy, file, overwrite = TRUE)
    expect_error(ledger_spend(l, event_pure(0.01)), "link 4", class = "riemdp_error_ledger")
  }
  # what the first link covers is part of what was seen
  file <- tempfile(fileext = ".sqlite")
  l <- dp_ledger(file, epsilon = 1, create = TRUE)
  ledger_spend(l, event_pure(0.1))
  make_old(file)
  l <- dp_ledger(file)
  other(file)
  at_file(file, DBI::dbExecute, "UPDATE riemdp_ledger SET earlier = ''")
  expect_error(ledger_spend(l, event_pure(0.01)), "link 0", class = "riemdp_error_ledger")
})

test_that("a ledger whose format was put back gets no new chain", {
  skip_without_sqlite()
  for (drop in c(FALSE, TRUE)) {
    file <- tempfile(fileext = ".sqlite")
    l <- dp_ledger(file, epsilon = 1, create = TRUE)
    for (i in 1:3) ledger_spend(l, event_pure(0.1))
    at_file(file, DBI::dbExecute, "UPDATE riemdp_ledger SET format = 2")
    if (drop) for (column in c("links", "head", "earlier")) at_file(file, DBI::dbExecute, paste("ALTER TABLE riemdp_ledger DROP COLUMN", column))
    forget_ledger(file)
    expect_error(dp_ledger(file), "changed by hand", class = "riemdp_error_ledger")
  }
})

test_that("no further column, temporary table or number of entries takes the place of the ledger's own", {
  skip_without_sqlite()
  file <- tempfile(fileext = ".sqlite")
  l <- dp_ledger(file, epsilon = 1, create = TRUE)
  zero <- riemdp:::hex(riemdp:::sums_zero(2))
  at_file(file, DBI::dbExecute, sprintf("ALTER TABLE riemdp_ledger ADD COLUMN spent TEXT DEFAULT '%s'", zero))
  ledger_spend(l, event_pure(0.7))
  expect_error(ledger_spend(l, event_pure(0.7)), class = "riemdp_error_budget")
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con))
  open <- dp_ledger(con)
  for (table in c("riemdp_ledger", "riemdp_account", "riemdp_entry")) {
    DBI::dbExecute(con, sprintf("CREATE TEMP TABLE %s AS SELECT * FROM main.%s", table, table))
  }
  expect_error(ledger_spend(open, event_pure(0.01)), "temporary", class = "riemdp_error_ledger")
  expect_identical(DBI::dbGetQuery(con, "SELECT count(*) AS n FROM main.riemdp_entry")$n, 1L)
  at_file(file, DBI::dbExecute, "UPDATE riemdp_ledger SET links = 2147483646")
  forget_ledger(file)
  expect_error(ledger_spend(dp_ledger(file), event_pure(0.01)), "as many entries", class = "riemdp_error_ledger")
})

test_that("a token that was used up stays so, whatever an older copy says", {
  skip_without_sqlite()
  inner <- asNamespace("riemdp")
  file <- tempfile(fileext = ".sqlite")
  l <- dp_ledger(file, epsilon = 1, create = TRUE)
  tokens <- c(inner$ledger_token(l, "run"), inner$ledger_token(l, "run"))
  copy <- paste0(file, ".copy")
  file.copy(file, copy)
  expect_true(inner$ledger_use_token(l, tokens[1], "run"))
  ledger_spend(l, event_pure(0.1))
  file.copy(copy, file, overwrite = TRUE)
  expect_error(inner$ledger_use_token(l, tokens[1], "run"), "resumed before", class = "riemdp_error_ledger")
  expect_error(inner$ledger_use_token(l, tokens[2], "run"), "older copy", class = "riemdp_error_ledger")
})

test_that("MariaDB: what was spent is spent after a crash, names are compared byte by byte, and what doesn't promise the disk is refused", {
  server <- mariadb_start()
  on.exit(server$stop())
  odd <- "O'Brien ?set \\ \u00fc"
  for (driver in server$drivers) {
    server$query("DROP DATABASE IF EXISTS riemdp_test", "CREATE DATABASE riemdp_test CHARACTER SET latin1")
    open <- function() suppressMessages(server$open(driver, "riemdp_test"))
    ledger <- dp_ledger(open, 1, create = TRUE, data_sets = list(default = NULL, trial = c("a", "A", "a ", odd)))
    refused(dp_ledger(open, 1, create = TRUE), "already")
    for (part in c("a", "A", odd)) ledger_spend(ledger, event_pure(0.25), odd, data_set = "trial", part = part, source = odd)
    for (i in 1:2) done <- ledger_spend(ledger, event_pure(0.25))
    server$crash()
    server$start()
    again <- dp_ledger(open)
    expect_identical(subset(summary(again), unit == "epsilon" & data_set == "trial")$part, c(NA, "A", odd, "a", "a "))
    expect_identical(subset(summary(again), unit == "epsilon" & data_set == "trial")$spent, c(0.25, 0.25, 0.25, 0.25, 0))
    history <- ledger_history(again)
    expect_identical(history$what[history$data_set == "trial"], rep(odd, 3))
    expect_true(ledger_verify(again, done)$ok)
    expect_error(ledger_spend(again, event_pure(0.75)), class = "riemdp_error_budget")
    # nothing is cut off in silence
    refused(inner$ledger_work(again, function(run, ask, con) run("UPDATE riemdp_account SET data_set = ?x WHERE part = ''", x = strrep("x", 300))))
    token <- inner$ledger_token(again, "a seal")
    inner$ledger_use_token(again, token, "a seal")
    refused(inner$ledger_use_token(again, token, "a seal"))
    spend <- function() ledger_spend(again, event_pure(1 / 64))
    for (change in c("ENGINE=MyISAM", "ENGINE=Aria")) {
      server$query(paste("ALTER TABLE riemdp_test.riemdp_token", change))
      refused(spend(), "riemdp_token has an engine that isn't InnoDB")
    }
    server$query("ALTER TABLE riemdp_test.riemdp_token ENGINE=InnoDB", "ALTER TABLE riemdp_test.riemdp_entry COLLATE utf8mb4_general_ci")
    refused(spend(), "riemdp_entry aren't compared byte by byte")
    server$query("ALTER TABLE riemdp_test.riemdp_entry COLLATE utf8mb4_nopad_bin")
    refused(dp_ledger(function() {
      con <- open()
      DBI::dbExecute(con, "CREATE TEMPORARY TABLE riemdp_token (token TEXT) ENGINE=InnoDB")
      con
    }, data_sets = "more"), "riemdp_token is temporary")
    for (weak in c(0, 2)) {
      server$query(sprintf("SET GLOBAL innodb_flush_log_at_trx_commit = %d", weak))
      refused(spend(), sprintf("innodb_flush_log_at_trx_commit = %d", weak))
    }
    # what the user knows better
    trusting <- dp_ledger(open, durable = "trusted")
    expect_match(format(trusting), "taken on trust", all = FALSE)
    ledger_spend(trusting, event_pure(1 / 64))
    server$query("SET GLOBAL innodb_flush_log_at_trx_commit = 1")
    spend()
    expect_identical(summary(again)$spent[1], 0.53125)
    # quotas have columns and a table of their own
    server$query("DROP DATABASE riemdp_test", "CREATE DATABASE riemdp_test")
    ledger <- dp_ledger(open, 1, create = TRUE, quotas = stats::setNames(c(0.5, 0.25), c(odd, "anna")))
    own <- dp_ledger(open, analyst = odd)
    ledger_spend(own, event_pure(0.5))
    expect_error(ledger_spend(own, event_pure(1 / 64)), class = "riemdp_error_budget")
    expect_true(ledger_verify(ledger)$ok)
  }
  # several processes, killed now and then
  server$query("DROP DATABASE riemdp_test", "CREATE DATABASE riemdp_test")
  folder <- tempfile("storm")
  dir.create(folder)
  set.seed(4)
  found <- ledger_storm(open, 4, if (quick()) 4 else 12, folder, mean_life = 8)
  expect_identical(storm_faults(found), NULL)
  expect_true(ledger_verify(dp_ledger(open))$ok)
  # logs of replication: without them on the disk recovery rolls commits back; pages that may be torn
  spend <- function() ledger_spend(dp_ledger(open, data_sets = "late"), event_pure(1e-3), data_set = "late")
  server$crash()
  server$start("--log-bin=log", "--sync-binlog=0", "--server-id=1")
  refused(spend(), "sync_binlog = 0")
  server$query("SET GLOBAL sync_binlog = 1")
  spend()
  server$crash()
  server$start("--log-bin=log", "--sync-binlog=1", "--server-id=1", "--skip-innodb-doublewrite")
  refused(spend(), "innodb_doublewrite")
})

test_that("only a server's commits are taken on trust", {
  skip_without_sqlite()
  argument <- function(place) expect_error(dp_ledger(place, 1, durable = "trusted"), class = "riemdp_error_argument")
  argument(NULL)
  argument(tempfile(fileext = ".sqlite"))
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  argument(con)
  # an SQLite file is checked by whatever function it is opened
  argument(function() DBI::dbConnect(RSQLite::SQLite(), ":memory:"))
  # said each time: one that is opened from another asks again
  server <- structure(list(kind = "function", open = identity, trusted = TRUE), class = "riemdp_ledger")
  expect_null(inner$trust_place(server, "checked")$trusted)
  expect_true(inner$trust_place(server, "trusted")$trusted)
})
