# What is done to a ledger behind its back is noticed: by its chain, by receipts, and by a process that has seen more.

inner <- asNamespace("riemdp")
kinds <- function(ledger, receipts = NULL) sort(unique(ledger_verify(ledger, receipts)$findings$kind))

# a ledger in a file with five entries and their receipts
kept_ledger <- function(rule = "zcdp") {
  file <- tempfile("ledger", fileext = ".sqlite")
  ledger <- dp_ledger(file, 1, 1e-5, rule, create = TRUE, data_sets = list(default = NULL, trial = c("a", "b")))
  event <- function(x) if (rule == "gdp") event_gaussian(1 / x) else event_pure(x)
  entries <- list(
    ledger_spend(ledger, event(0.02), "first", source = "an atlas"), ledger_spend(ledger, event(0.03), "second"),
    ledger_spend(ledger, event(0.01), "third", data_set = "trial", part = "a"), ledger_spend(ledger, event(0.03), "fourth", data_set = "trial"),
    ledger_spend(ledger, event(0.05), "fifth")
  )
  list(file = normalizePath(file), ledger = ledger, receipts = lapply(entries, ledger_receipt))
}
run_at <- function(file, ...) for (sql in c(...)) at_file(file, DBI::dbExecute, sql)
rows_at <- function(file, sql) at_file(file, DBI::dbGetQuery, sql)

# ---- whole ledgers ---------------------------------------------------------------------------------------------------------

test_that("a ledger that nobody touched is as it was entered, by every rule, with parts and without", {
  places <- c(list(NULL), if (requireNamespace("RSQLite", quietly = TRUE)) list("file"))
  for (place in places) for (rule in names(inner$LEDGER_RULES)) {
    path <- if (!is.null(place)) tempfile(fileext = ".sqlite")
    ledger <- dp_ledger(path, 1, 1e-5, rule, create = !is.null(path), data_sets = list(default = NULL, trial = c("a", "b", "c")),
                        orders = if (rule == "rdp") c(20, 40, 80))
    expect_true(ledger_verify(ledger)$ok)
    event <- function(x) if (rule == "gdp") event_gaussian(1 / x) else event_pure(x)
    last <- NULL
    for (i in 1:7) {
      set <- c("default", "trial")[1 + i %% 2]
      part <- if (i %% 4 == 1) "a" else if (i %% 4 == 3) "b"
      last <- ledger_spend(ledger, event(0.01 * i), data_set = set, part = part)
    }
    if (rule == "rdp") last <- ledger_spend(ledger, event_rdp(c(20, 40), c(0.01, 0.01))) # endless at one order
    found <- ledger_verify(ledger, last$receipt)
    expect_true(found$ok, label = paste(rule, paste(format(found), collapse = "\n")))
    expect_identical(found$entries, if (rule == "rdp") 8L else 7L, ignore_attr = TRUE)
    expect_identical(found$head, as.data.frame(last$receipt)$head)
    expect_identical(found$receipts$status, "found")
    expect_output(print(found), "all as it was entered")
    expect_identical(as.data.frame(found), found$findings)
  }
  expect_output(print(ledger_verify(dp_ledger(NULL, 1))), "no receipt was compared")
  for (bad in list(1, NULL, "x")) expect_error(ledger_verify(bad), class = "riemdp_error_argument")
})

test_that("an entry's hash is that of the text which the proof describes", {
  ledger <- dp_ledger(NULL, 1)
  parts <- as.data.frame(ledger_receipt(ledger_spend(ledger, event_pure(0.5), "a \u00fc", source = "b:1,")))
  row <- inner$store_history(ledger)
  field <- function(x) sprintf("%d:%s,", length(charToRaw(enc2utf8(x))), x)
  hash <- function(...) digest::digest(enc2utf8(paste0(...)), "sha256", serialize = FALSE)
  begin <- hash("15:riemdp-ledger-1,", field(ledger$uid), "5:basic,6:0x1p+0,6:0x0p+0,11:replace-one,6:0x0p+0,0:,13:0x1p+0 0x0p+0,10:0x1p+0 row,",
                field(inner$memory_state(ledger)$meta$made_at), "0:,")
  text <- paste0("14:riemdp-entry-1,", field(ledger$uid), field(begin), "1:1,7:default,1:1,0:,", field(row$made_at), "4:a \u00fc,4:b:1,,",
                 field("pure(epsilon = 0.5) [adjacency open]"), "13:0x1p-1 0x0p+0,")
  expect_identical(parts$head, hash(text))
  expect_identical(c(parts$ledger, parts$link), c(ledger$uid, 1), ignore_attr = TRUE)
  # so there is nothing else in it, and no two lists of fields have one text
  expect_false(inner$canonical("a", "b") == inner$canonical("a,1:b", ""))
  expect_false(inner$canonical(NA) == inner$canonical("NA"))
  expect_false(inner$canonical("~") == inner$canonical(NA))
  expect_identical(inner$canonical(100000), "6:100000,")
})

# ---- receipts --------------------------------------------------------------------------------------------------------------

test_that("a receipt is one line that is read back, and tells errors of copying", {
  ledger <- dp_ledger(NULL, 1)
  x <- cbind(quakes$long, quakes$lat)
  mean <- function(...) dp_mean(x, euclidean(2), 0.1, center = c(175, -20), radius = 15, ...)
  r <- mean(ledger = ledger)
  receipt <- ledger_receipt(r)
  expect_match(unclass(receipt), "^riemdp-receipt-1:[0-9a-f]{32}:1:[0-9a-f]{64}:[0-9a-f]{8}$")
  expect_output(print(receipt), unclass(receipt), fixed = TRUE)
  head <- as.data.frame(receipt)$head
  expect_output(print(r), paste0("receipt 1:", substr(head, 1, 8)))
  wrapped <- paste0("see ", substr(receipt, 1, 50), "\n  ", substr(receipt, 51, 200), " (our ledger).")
  for (same in list(unclass(receipt), wrapped, receipt, list(receipt = receipt))) expect_identical(ledger_receipt(same), receipt)
  for (i in c(20, 52, 60, 110, nchar(receipt))) {
    typo <- unclass(receipt)
    substr(typo, i, i) <- if (substr(typo, i, i) == "1") "2" else "1"
    expect_error(ledger_receipt(typo), class = "riemdp_error_argument")
  }
  for (bad in list("", "riemdp", NA, 1, NULL, c(receipt, receipt), substr(receipt, 1, 100), list(), mean(), mean)) {
    expect_error(ledger_receipt(bad), class = "riemdp_error_argument")
  }
  for (bad in list("", 1, mean())) expect_error(ledger_verify(ledger, bad), class = "riemdp_error_argument")
  more <- ledger_spend(ledger, event_pure(0.1))
  for (kept in list(r, list(r, receipt, more), more, c(unclass(receipt), unclass(more$receipt)))) expect_true(ledger_verify(ledger, kept)$ok)
  # a release without a ledger, and a simulation, have none
  expect_null(mean()$budget$receipt)
  expect_null(with_simulation(1, mean(ledger = ledger))$budget$receipt)
})

test_that("a receipt is about the ledger that it is of", {
  one <- dp_ledger(NULL, 1)
  two <- dp_ledger(NULL, 1)
  for (ledger in list(one, two)) ledger_spend(ledger, event_pure(0.1), "the same")
  foreign <- ledger_receipt(ledger_spend(two, event_pure(0.1)))
  found <- ledger_verify(one, foreign)
  expect_false(found$ok)
  expect_match(found$receipts$status, "another ledger")
  expect_identical(found$findings$kind, "receipt")
})

# ---- attacks ---------------------------------------------------------------------------------------------------------------

test_that("what is edited, deleted, swapped or put in is noticed", {
  skip_without_sqlite()
  edit <- function(column, to) sprintf("UPDATE riemdp_entry SET %s = %s WHERE link = 2", column, to)
  swap <- function(column) {
    sprintf("UPDATE riemdp_entry SET %s = (SELECT %s FROM riemdp_entry AS o WHERE o.link = 3 - riemdp_entry.link) WHERE link <= 2", column, column)
  }
  negative <- "('default', 4, '', 'x', 'x', '-0x1p-4 0x0p+0', '2026-01-01T00:00:00Z', NULL, 6, 'aa')"
  attacks <- list(
    what = list(edit("what", "'other'"), "entry"), source = list(edit("source", "'other'"), "entry"),
    no_source = list("UPDATE riemdp_entry SET source = NULL WHERE link = 1", "entry"), event = list(edit("event", "'pure'"), "entry"),
    cost = list(edit("cost", "'0x1p-30 0x0p+0'"), c("entry", "sums")), same_cost = list(edit("cost", "cost || ' '"), c("entry")),
    time = list(edit("made_at", "'2020-01-01T00:00:00Z'"), "entry"), part = list(edit("part", "'a'"), c("entry", "sums")),
    number = list(edit("entry", "9"), "entry"),
    set = list(c("UPDATE riemdp_entry SET data_set = 'trial', entry = 3 WHERE link = 2"), c("entry", "sums")), hash = list(edit("head", "'00'"), "entry"),
    unknown = list(edit("data_set", "'none'"), c("entry", "sums")),
    delete = list("DELETE FROM riemdp_entry WHERE link = 2", c("missing", "sums")),
    delete_first = list("DELETE FROM riemdp_entry WHERE link = 1", c("missing", "sums")),
    delete_last = list("DELETE FROM riemdp_entry WHERE link = 5", c("head", "sums")),
    delete_all = list("DELETE FROM riemdp_entry", c("head", "sums")),
    swap = list(swap("what"), "entry"),
    swap_links = list(c("UPDATE riemdp_entry SET link = -1 WHERE link = 1", "UPDATE riemdp_entry SET link = 1 WHERE link = 2",
                        "UPDATE riemdp_entry SET link = 2 WHERE link = -1"), "entry"),
    negative = list(c(paste("INSERT INTO riemdp_entry (data_set, entry, part, what, event, cost, made_at, source, link, head) VALUES", negative)),
                    c("entry", "head", "price")),
    endless = list(edit("cost", "'Inf 0x0p+0'"), c("entry", "price", "sums")), no_price = list(edit("cost", "'NaN'"), c("entry", "price", "sums")),
    null_price = list(c("UPDATE riemdp_entry SET cost = '' WHERE link = 4"), c("entry", "price", "sums")),
    unlinked = list("UPDATE riemdp_entry SET link = NULL WHERE link = 5", c("earlier", "head")),
    sums = list("UPDATE riemdp_account SET spent = '0x0p+0 0x0p+0 0x0p+0 0x0p+0' WHERE data_set = 'default'", "sums"),
    part_sums = list("UPDATE riemdp_account SET spent = '0x0p+0 0x0p+0 0x0p+0 0x0p+0' WHERE part = 'a'", "sums"),
    largest = list("UPDATE riemdp_account SET largest_part = '0x0p+0 0x0p+0 0x0p+0 0x0p+0' WHERE part = ''", "sums"),
    no_sums = list("UPDATE riemdp_account SET spent = 'x'", "sums"), version = list("UPDATE riemdp_account SET version = version - 1", "sums"),
    account = list("DELETE FROM riemdp_account WHERE data_set = 'trial'", "sums"),
    limits = list("UPDATE riemdp_ledger SET limits = '0x1p+3 0x1p-20'", c("entry", "facts", "limits")),
    limits_bit = list("UPDATE riemdp_ledger SET limits = replace(limits, 'p', '0p')", "entry"),
    epsilon = list("UPDATE riemdp_ledger SET epsilon = '0x1p+3'", c("entry", "facts", "limits")),
    rule = list("UPDATE riemdp_ledger SET budget_rule = 'none'", c("entry", "facts")),
    no_limits = list("UPDATE riemdp_ledger SET limits = 'x'", c("entry", "facts")),
    sampled = list("UPDATE riemdp_ledger SET sampled = '0x1p-4 row'", c("entry", "facts", "limits")),
    made_at = list("UPDATE riemdp_ledger SET made_at = '2020-01-01T00:00:00Z'", c("entry")),
    head = list("UPDATE riemdp_ledger SET head = 'aa'", "head"), links = list("UPDATE riemdp_ledger SET links = 4", "head")
  )
  for (name in names(attacks)) {
    k <- kept_ledger()
    do.call(run_at, c(list(k$file), attacks[[name]][[1]]))
    forget_ledger(k$file) # as another process sees it, without receipts
    expect_identical(kinds(k$ledger), sort(attacks[[name]][[2]]), label = name)
    expect_output(print(ledger_verify(k$ledger)), "NOT as it was entered", label = name)
  }
  # what holds the same number in other words is seen by the chain alone
  k <- kept_ledger()
  run_at(k$file, "UPDATE riemdp_entry SET cost = cost || ' ' WHERE link = 2")
  expect_identical(ledger_verify(k$ledger)$findings[c("kind", "data_set", "entry", "link")],
                   data.frame(kind = "entry", data_set = "default", entry = 2L, link = 2))
})

test_that("an older copy is seen by receipts, and by a process that has seen more", {
  skip_without_sqlite()
  for (way in c("write over", "put in its place")) {
    k <- kept_ledger()
    old <- paste0(k$file, ".old")
    file.copy(k$file, old)
    late <- ledger_spend(k$ledger, event_pure(0.1), "forgotten")
    spent <- summary(k$ledger)$spent[1]
    if (way == "write over") file.copy(old, k$file, overwrite = TRUE) else file.rename(old, k$file)
    expect_lt(summary(k$ledger)$spent[1], spent) # gone
    # the running process doesn't spend it again, however it opens the ledger
    expect_error(ledger_spend(k$ledger, event_pure(0.01)), "older copy", class = "riemdp_error_ledger")
    expect_error(ledger_spend(dp_ledger(k$file), event_pure(0.01)), "older copy", class = "riemdp_error_ledger")
    expect_identical(kinds(k$ledger), "rollback")
    expect_identical(kinds(k$ledger, late), c("receipt", "rollback"))
    # another process has only the receipt
    forget_ledger(k$file)
    expect_identical(kinds(k$ledger), character())
    expect_identical(kinds(k$ledger, k$receipts), character())
    expect_identical(kinds(k$ledger, late), "receipt")
    expect_match(ledger_verify(k$ledger, late)$receipts$status, "beyond")
    # and when the ledger has grown past it again
    for (i in 1:2) ledger_spend(k$ledger, event_pure(0.01))
    expect_match(ledger_verify(k$ledger, late)$receipts$status, "not in the chain")
  }
})

test_that("a process refuses a ledger that went back and has grown since", {
  skip_without_sqlite()
  skip_on_os("windows")
  elsewhere <- function(file, times) {
    parallel::mccollect(parallel::mcparallel({
      rm(list = ls(inner$chain_marks), envir = inner$chain_marks)
      for (i in seq_len(times)) ledger_spend(dp_ledger(file), event_pure(0.001))
      times
    }))[[1]]
  }
  # what others enter is no reason to refuse
  k <- kept_ledger()
  for (times in 1:2) {
    expect_identical(elsewhere(k$file, times), times)
    ledger_spend(k$ledger, event_pure(0.001))
  }
  expect_true(ledger_verify(k$ledger, k$receipts)$ok)
  for (times in 1:3) {
    k <- kept_ledger()
    file.copy(k$file, paste0(k$file, ".old"))
    ledger_spend(k$ledger, event_pure(0.1))
    ledger_spend(k$ledger, event_pure(0.1))
    file.rename(paste0(k$file, ".old"), k$file)
    expect_identical(elsewhere(k$file, times), times)
    expect_error(ledger_spend(k$ledger, event_pure(0.01)), "Nothing is released", class = "riemdp_error_ledger")
    dp_ledger(k$file)
    expect_error(ledger_spend(k$ledger, event_pure(0.01)), "Nothing is released", class = "riemdp_error_ledger")
  }
})

test_that("who rewrites everything is seen by receipts only", {
  skip_without_sqlite()
  k <- kept_ledger()
  # the second entry never was: sums, numbers, links and hashes are made anew
  rows <- rows_at(k$file, "SELECT * FROM riemdp_entry WHERE what <> 'second' ORDER BY link")
  rows$entry <- ave(seq_len(nrow(rows)), rows$data_set, FUN = seq_along)
  meta <- rows_at(k$file, "SELECT * FROM riemdp_ledger")
  head <- inner$chain_begin(inner$stored_facts(meta))
  for (i in seq_len(nrow(rows))) {
    rows$link[i] <- i
    head <- rows$head[i] <- inner$chain_next(meta$uid, head, rows[i, ])
  }
  cost <- do.call(rbind, lapply(strsplit(rows$cost[rows$data_set == "default"], " "), as.numeric))
  spent <- inner$hex(inner$sums_add(inner$sums_add(inner$sums_zero(2), cost[1, ]), cost[2, ]))
  at_file(k$file, function(con) {
    DBI::dbExecute(con, "DELETE FROM riemdp_entry")
    DBI::dbAppendTable(con, "riemdp_entry", rows)
    DBI::dbExecute(con, "UPDATE riemdp_account SET spent = ?, version = 2 WHERE data_set = 'default'", params = list(spent))
    DBI::dbExecute(con, "UPDATE riemdp_ledger SET head = ?, links = 4", params = list(head))
  })
  forget_ledger(k$file)
  expect_true(ledger_verify(k$ledger)$ok)
  expect_identical(ledger_verify(k$ledger, k$receipts)$receipts$status == "found", c(TRUE, FALSE, FALSE, FALSE, FALSE))
})

test_that("more than the budget is seen where sums were made to fit", {
  skip_without_sqlite()
  k <- kept_ledger("basic")
  run_at(k$file, "UPDATE riemdp_entry SET cost = '0x1p+1 0x0p+0' WHERE link = 1")
  expect_true("over" %in% kinds(k$ledger))
})

# ---- earlier versions ------------------------------------------------------------------------------------------------------

test_that("a ledger of an earlier version gets its chain at opening, which covers what it holds", {
  skip_without_sqlite()
  for (format in 1:2) for (lacking in list(character(), c("source", "sampled"))) {
    if (format == 2 && length(lacking)) next
    file <- tempfile(fileext = ".sqlite")
    q <- if (format == 2) 0.25 else 1
    ledger <- dp_ledger(file, 1, 1e-5, "zcdp", create = TRUE, sampled = q, data_sets = c("b", "a"))
    for (set in c("b", "a", "b")) ledger_spend(ledger, event_pure(0.1), "old", data_set = set)
    before <- summary(ledger)
    make_old(file, format, lacking)
    # an object from before the chain doesn't spend past it
    expect_error(ledger_spend(ledger, event_pure(0.1), data_set = "a"), class = "riemdp_error_ledger")
    frozen <- DBI::dbConnect(RSQLite::SQLite(), file, flags = RSQLite::SQLITE_RO)
    expect_error(dp_ledger(frozen), class = "riemdp_error_ledger")
    DBI::dbDisconnect(frozen)
    expect_identical(rows_at(file, "SELECT format FROM riemdp_ledger")[[1]], format)
    again <- dp_ledger(file)
    expect_identical(again$sampled[[1]], q)
    expect_identical(rows_at(file, "SELECT format FROM riemdp_ledger")[[1]], 3L)
    expect_identical(summary(again), before)
    expect_true(ledger_verify(again)$ok)
    kept <- ledger_receipt(ledger_spend(again, event_pure(0.1), "new", data_set = "a"))
    expect_identical(as.data.frame(kept)$link, 1)
    found <- ledger_verify(dp_ledger(file), kept)
    expect_true(found$ok)
    expect_identical(c(found$entries, found$link), c(4, 1))
    run_at(file, "UPDATE riemdp_entry SET what = 'other' WHERE data_set = 'b' AND entry = 1")
    expect_identical(kinds(again), "earlier")
    run_at(file, "UPDATE riemdp_entry SET what = 'old' WHERE data_set = 'b' AND entry = 1", "DELETE FROM riemdp_entry WHERE entry = 2 AND data_set = 'b'")
    expect_identical(kinds(again), c("earlier", "sums"))
  }
})

# ---- connections -----------------------------------------------------------------------------------------------------------

test_that("a connection stays open for its process and its file only", {
  skip_without_sqlite()
  skip_on_os("windows")
  k <- kept_ledger("basic")
  own <- inner$kept_connections[[k$file]]
  expect_true(DBI::dbIsValid(own$con))
  ledger_spend(k$ledger, event_pure(0.01))
  expect_identical(inner$kept_connections[[k$file]]$con, own$con)
  expect_identical(DBI::dbGetQuery(own$con, "PRAGMA synchronous")[[1]], 3L)
  # a child opens its own, and doesn't close its parent's
  child <- parallel::mccollect(parallel::mcparallel({
    ledger_spend(k$ledger, event_pure(0.01))
    mine <- inner$kept_connections[[k$file]]
    gc()
    list(same = identical(mine$con@ptr, own$con@ptr), pid = mine$pid, valid = DBI::dbIsValid(own$con))
  }))[[1]]
  expect_false(child$same || child$pid == Sys.getpid())
  expect_true(child$valid)
  # the child wrote: this process looks again
  ledger_spend(k$ledger, event_pure(0.01))
  expect_false(identical(inner$kept_connections[[k$file]]$con@ptr, own$con@ptr))
  expect_true(ledger_verify(k$ledger)$ok)
  # another ledger in its place is seen
  other <- kept_ledger("basic")
  file.copy(other$file, paste0(k$file, ".new"))
  file.rename(paste0(k$file, ".new"), k$file)
  expect_error(ledger_spend(k$ledger, event_pure(0.01)), "another ledger", class = "riemdp_error_ledger")
  # no more than a few stay open
  for (i in 1:12) kept_ledger()
  expect_lte(length(setdiff(ls(inner$kept_connections), "parents")), 9)
  # nor does one after an error
  k <- kept_ledger()
  expect_error(ledger_spend(k$ledger, event_pure(50)), class = "riemdp_error_budget")
  expect_null(inner$kept_connections[[k$file]])
})

test_that("what a server asks to be tried again is tried again, a few times", {
  skip_without_sqlite()
  k <- kept_ledger()
  tried <- 0
  flaky <- function(fails, says) {
    tried <<- 0
    inner$ledger_work(k$ledger, function(run, ask, con) {
      tried <<- tried + 1
      run("UPDATE riemdp_account SET version = version + 1")
      if (tried <= fails) stop(says)
      "done"
    })
  }
  before <- rows_at(k$file, "SELECT sum(version) FROM riemdp_account")[[1]]
  for (says in c("ERROR: could not serialize access due to concurrent update", "deadlock detected")) {
    expect_identical(flaky(3, says), "done")
    expect_identical(tried, 4)
  }
  # only what was not written is tried again
  accounts <- nrow(rows_at(k$file, "SELECT * FROM riemdp_account"))
  expect_equal(rows_at(k$file, "SELECT sum(version) FROM riemdp_account")[[1]], before + 2 * accounts)
  expect_error(flaky(100, "could not serialize access"), "could not serialize", class = "riemdp_error_ledger")
  expect_identical(tried, as.numeric(inner$LEDGER_TRIES))
  expect_error(flaky(100, "disk full"), class = "riemdp_error_ledger")
  expect_identical(tried, 1)
})

test_that("sixteen processes share a budget", {
  skip_without_sqlite()
  skip_on_os(c("windows", "mac"))
  folder <- tempfile("storm")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  set.seed(2)
  place <- file.path(folder, "ledger.sqlite")
  found <- ledger_storm(place, 16, if (quick()) 3 else 12, folder, mean_life = 2)
  expect_identical(storm_faults(found), NULL)
  checked <- ledger_verify(dp_ledger(place))
  expect_true(checked$ok, label = paste(format(checked), collapse = "\n"))
  expect_equal(checked$entries, found$entries)
})

test_that("PostgreSQL: no default of isolation is in the way, and the chain holds", {
  server <- postgres_start()
  on.exit(postgres_stop(server))
  server$query("ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'")
  folder <- tempfile("storm")
  dir.create(folder)
  set.seed(3)
  found <- ledger_storm(server$open, 4, 4, folder, mean_life = 8)
  expect_identical(storm_faults(found), NULL)
  ledger <- dp_ledger(server$open)
  expect_true(ledger_verify(ledger)$ok)
  server$query("UPDATE riemdp_entry SET what = 'other' WHERE link = 3")
  expect_identical(kinds(ledger), "entry")
})

# ---- the report ------------------------------------------------------------------------------------------------------------

test_that("a report shows what the ledger holds, escaped, and changes nothing", {
  places <- c(list(NULL), if (requireNamespace("RSQLite", quietly = TRUE)) list(tempfile(fileext = ".sqlite")))
  for (place in places) {
    nasty <- "<script>alert(\"x\")</script> & 'more'"
    ledger <- dp_ledger(place, 1, create = TRUE, data_sets = stats::setNames(list("<b>"), "<i>"))
    ledger_spend(ledger, event_pure(0.25), nasty, data_set = "<i>", part = "<b>", source = paste(nasty, "\u00fc"))
    kept <- ledger_receipt(ledger_spend(ledger, event_pure(0.25), "second", data_set = "<i>"))
    before <- list(summary(ledger), ledger_history(ledger), ledger_verify(ledger)[c("ok", "link", "head")])
    page <- tempfile(fileext = ".html")
    expect_invisible(ledger_report(ledger, page, kept))
    text <- paste(readLines(page, encoding = "UTF-8"), collapse = "\n")
    expect_false(grepl("<script|<i>|<b>|http|src=", text))
    expect_match(text, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39; \u00fc", fixed = TRUE)
    expect_match(text, "All is as it was entered", fixed = TRUE)
    expect_match(text, as.data.frame(kept)$head, fixed = TRUE)
    expect_match(text, "<td>found</td>", fixed = TRUE)
    report <- ledger_report(ledger)
    expect_identical(as.data.frame(report)[names(ledger_history(ledger))], ledger_history(ledger))
    expect_identical(as.data.frame(report)$head[2], as.data.frame(kept)$head)
    expect_identical(report$accounts, summary(ledger))
    expect_output(print(report), "second")
    expect_identical(list(summary(ledger), ledger_history(ledger), ledger_verify(ledger)[c("ok", "link", "head")]), before)
    for (bad in list(1, "", NA_character_, file.path(tempdir(), "nowhere", "x"), tempdir())) {
      expect_error(ledger_report(ledger, bad), class = "riemdp_error_argument")
    }
    # an empty one
    ledger_report(dp_ledger(NULL, 1), page)
    expect_match(paste(readLines(page), collapse = ""), "Nothing yet")
  }
  skip_without_sqlite()
  expect_error(ledger_report(ledger, place), "the ledger itself", class = "riemdp_error_argument")
  run_at(place, "UPDATE riemdp_account SET spent = 'x'")
  run_at(place, "UPDATE riemdp_entry SET cost = 'x', head = '</td><script>' WHERE link = 1")
  ledger_report(ledger, page)
  text <- paste(readLines(page), collapse = "\n")
  expect_match(text, "NOT as it was entered", fixed = TRUE)
  expect_match(text, "can't be read", fixed = TRUE)
  expect_false(grepl("<script", text))
})

# ---- what is hidden from the chain -----------------------------------------------------------------------------------------

test_that("entries that the chain's order doesn't reach are found, and verifying ends", {
  skip_without_sqlite()
  put_in <- function(link, cost = "'0x1p-9 0x0p+0'") {
    sprintf("INSERT INTO riemdp_entry SELECT data_set, 99, part, 'put in', event, %s, made_at, source, %s, head FROM riemdp_entry WHERE link = 1", cost, link)
  }
  links <- c("0", "-1", "-9000000000", "1.5", "'abc'", "x'ff'", "9223372036854775807", "9e18")
  for (link in links) {
    k <- kept_ledger("basic")
    run_at(k$file, put_in(link))
    setTimeLimit(elapsed = 20, transient = TRUE)
    found <- ledger_verify(k$ledger)
    setTimeLimit()
    expect_identical(sort(unique(found$findings$kind)), c("entry", "sums"), label = link)
    expect_equal(found$entries, 6)
    # an entry that was there is moved out of the chain
    k <- kept_ledger("basic")
    run_at(k$file, sprintf("UPDATE riemdp_entry SET link = %s WHERE link = 5", link))
    setTimeLimit(elapsed = 20, transient = TRUE)
    found <- ledger_verify(k$ledger, k$receipts)
    setTimeLimit()
    expect_identical(sort(unique(found$findings$kind)), c("entry", "head", "receipt"), label = link)
  }
  # rows of one link, where the index was taken away
  k <- kept_ledger("basic")
  run_at(k$file, "DROP INDEX riemdp_link", put_in("2"))
  expect_true(all(c("entry", "sums", "tables") %in% kinds(k$ledger)))
  # a store whose links don't grow, or that hides some
  reader <- function(...) utils::modifyList(inner$memory_reader(inner$memory_state(ledger)), list(...))
  ledger <- dp_ledger(NULL, 1)
  ledger_spend(ledger, event_pure(0.1))
  rows <- reader()$entries(0)
  said <- function(...) inner$verify_store(ledger, list(), reader(...))$findings
  expect_identical(nrow(said()), 0L)
  setTimeLimit(elapsed = 20, transient = TRUE)
  expect_match(said(entries = function(after) rows)$says, "isn't above", all = FALSE)
  setTimeLimit()
  expect_match(said(total = 2)$says, "2 entries, and 1 can be read")
})

test_that("what isn't stored as its type is found, where it reads the same", {
  skip_without_sqlite()
  edit <- function(to) sprintf("UPDATE riemdp_entry SET %s WHERE link = 2", to)
  same <- c("entry = 2.3", "what = CAST(what AS BLOB)", "what = what || char(0) || 'hidden'", "made_at = CAST(made_at AS BLOB)",
            "cost = cost || char(0) || '9'", "source = x''", "head = CAST(head AS BLOB)", "link = 2.2")
  for (to in same) {
    k <- kept_ledger()
    run_at(k$file, edit(to))
    found <- ledger_verify(k$ledger, k$receipts)
    expect_true("entry" %in% found$findings$kind, label = to)
    expect_match(found$receipts$status[2], "entry was changed|not in the chain", label = to)
  }
  facts <- c("UPDATE riemdp_ledger SET uid = CAST(uid AS BLOB)", "UPDATE riemdp_ledger SET made_at = made_at || char(0) || 'x'",
             "UPDATE riemdp_ledger SET links = 'abc'", "UPDATE riemdp_ledger SET links = NULL", "UPDATE riemdp_ledger SET head = NULL",
             "UPDATE riemdp_ledger SET earlier = NULL", "UPDATE riemdp_ledger SET limits = x'ff'", "UPDATE riemdp_ledger SET uid = ''",
             "UPDATE riemdp_account SET spent = CAST(spent AS BLOB)", "UPDATE riemdp_account SET version = '1abc'",
             "INSERT INTO riemdp_account SELECT CAST(data_set AS BLOB), part, version, spent, largest_part FROM riemdp_account")
  for (sql in facts) {
    k <- kept_ledger()
    done <- tryCatch(run_at(k$file, sql), error = function(e) "refused")
    if (identical(done, "refused")) next
    found <- suppressWarnings(ledger_verify(k$ledger))
    expect_true(any(c("facts", "sums", "earlier", "head") %in% found$findings$kind), label = sql)
    expect_output(print(found), "NOT as it was entered", label = sql)
  }
})

test_that("an edited entry's receipt is found and says that the entry was changed", {
  skip_without_sqlite()
  k <- kept_ledger()
  run_at(k$file, "UPDATE riemdp_entry SET what = 'other' WHERE link = 2")
  found <- ledger_verify(k$ledger, k$receipts)
  expect_identical(found$receipts$status, c("found", "found, but its entry was changed", "found", "found", "found"))
  expect_identical(sort(found$findings$kind), c("entry", "receipt"))
})

test_that("the format, tables, indexes and triggers are compared", {
  skip_without_sqlite()
  for (format in c("7", "2", "1", "'x'")) {
    k <- kept_ledger()
    run_at(k$file, sprintf("UPDATE riemdp_ledger SET format = %s", format))
    expect_true("facts" %in% kinds(k$ledger), label = format)
  }
  reset <- "BEGIN UPDATE riemdp_account SET spent = '0x0p+0 0x0p+0 0x0p+0 0x0p+0'; END"
  schemas <- list(paste("CREATE TRIGGER zz AFTER INSERT ON riemdp_entry", reset),
                  c("CREATE TABLE mine (x)", paste("CREATE TRIGGER zz AFTER INSERT ON mine", reset)),
                  "ALTER TABLE riemdp_ledger ADD COLUMN spent TEXT", "ALTER TABLE riemdp_entry ADD COLUMN more TEXT", "DROP INDEX riemdp_link",
                  c("DROP INDEX riemdp_link", "CREATE INDEX riemdp_link ON riemdp_entry (link)"), "DROP TABLE riemdp_token",
                  c("ALTER TABLE riemdp_entry RENAME TO hidden", "CREATE VIEW riemdp_entry AS SELECT * FROM hidden"),
                  "ALTER TABLE riemdp_ledger DROP COLUMN earlier", "CREATE UNIQUE INDEX more ON riemdp_entry (what)")
  for (sql in schemas) {
    k <- kept_ledger()
    run_at(k$file, sql)
    expect_true("tables" %in% kinds(k$ledger), label = sql[length(sql)])
  }
  # another's tables in the same database are no finding
  k <- kept_ledger()
  run_at(k$file, "CREATE TABLE mine (x)", "CREATE INDEX mine_x ON mine (x)", "CREATE VIEW costs AS SELECT cost FROM riemdp_entry")
  expect_identical(kinds(k$ledger), character())
  run_at(k$file, paste("INSERT INTO riemdp_ledger SELECT 2, uid, format, budget_rule, epsilon, delta, adjacency, reserve, orders, limits,",
                       "made_at, sampled, links, head, earlier FROM riemdp_ledger"))
  expect_identical(kinds(k$ledger), "facts")
  # a temporary table in the way of the true one
  file <- tempfile(fileext = ".sqlite")
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con))
  ledger <- dp_ledger(con, 1, create = TRUE)
  expect_true(ledger_verify(ledger)$ok)
  DBI::dbExecute(con, "CREATE TEMP TABLE riemdp_account AS SELECT * FROM main.riemdp_account")
  expect_true("tables" %in% kinds(ledger))
})

# ---- false alarms ----------------------------------------------------------------------------------------------------------

test_that("names are no false alarm: other letters, hidden ones, line ends, long ones", {
  names <- c("caf\u00e9", ".a", "a\rb", "a", strrep("\U1F600", 200), "NA", "1e5")
  sets <- stats::setNames(list("\u00fcber", NULL, "c", c("b\rc", "b\r", "b"), strrep("\u00e9", 200), NULL, NULL), names)
  go <- function(place) {
    ledger <- dp_ledger(place, 9, create = !is.null(place), data_sets = sets)
    for (set in names) for (part in c(list(NULL), as.list(sets[[set]]))) {
      ledger_spend(ledger, event_pure(0.01 * nchar(set)^0.1), "n\u00f6te \u2603", data_set = set, part = part, source = "\u00b5")
    }
    ledger_verify(ledger)$findings$says
  }
  places <- c(list(NULL), if (requireNamespace("RSQLite", quietly = TRUE)) list(tempfile(fileext = ".sqlite")))
  for (place in places) expect_identical(go(place), character())
  old <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", old))
  suppressWarnings(Sys.setlocale("LC_CTYPE", "C"))
  for (place in places) {
    expect_identical(go(if (!is.null(place)) tempfile(fileext = ".sqlite")), character())
    if (!is.null(place)) expect_true(ledger_verify(dp_ledger(place))$ok)
  }
  Sys.setlocale("LC_CTYPE", old)
  # one whose sums are gone isn't hidden by its name
  skip_without_sqlite()
  run_at(place, "DELETE FROM riemdp_account WHERE data_set = '.a'")
  expect_identical(ledger_verify(dp_ledger(place))$findings$data_set, ".a")
})

test_that("two parts may fit at different orders", {
  ledger <- dp_ledger(NULL, 4, 1e-3, "rdp", orders = c(8, 128), data_sets = list(d = c("A", "B")), adjacency = "add-remove")
  ledger_spend(ledger, event_pure(3.6), data_set = "d", part = "A")
  for (i in 1:3) ledger_spend(ledger, event_poisson(0.02, event_gaussian(0.9)), data_set = "d", part = "B")
  expect_identical(ledger_verify(ledger)$findings$says, character())
  # a part over the budget, and the whole alone, are told
  skip_without_sqlite()
  for (at in c("part = 'a'", "part = '' AND data_set = 'trial'", "data_set = 'default'")) {
    k <- kept_ledger("basic")
    run_at(k$file, paste("UPDATE riemdp_entry SET cost = '0x1p+1 0x0p+0' WHERE", at))
    expect_true("over" %in% kinds(k$ledger), label = at)
  }
})

test_that("names in another encoding are taken as what they say", {
  name <- iconv("caf\u00e9", "UTF-8", "latin1")
  ledger <- dp_ledger(NULL, 1, data_sets = "caf\u00e9")
  expect_identical(ledger_spend(ledger, event_pure(0.1), name, data_set = name, source = name)$data_set, "caf\u00e9")
  expect_identical(ledger_history(ledger)$what, "caf\u00e9")
  expect_true(ledger_verify(ledger)$ok)
  Encoding(name) <- "bytes"
  expect_error(ledger_spend(ledger, event_pure(0.1), name), class = "riemdp_error_argument")
})

# ---- receipts that nobody drops --------------------------------------------------------------------------------------------

test_that("each receipt that is given is compared", {
  one <- dp_ledger(NULL, 1)
  good <- ledger_receipt(ledger_spend(one, event_pure(0.1)))
  next_one <- ledger_receipt(ledger_spend(one, event_pure(0.1)))
  bad <- ledger_receipt(ledger_spend(dp_ledger(NULL, 1), event_pure(0.1)))
  spent <- ledger_spend(one, event_pure(0.1))
  both <- list(list(receipt1 = good, board = bad), list(receipt = good, board = bad), paste(good, bad), paste0(good, bad),
               list(paste("ours:", good, "\nand", bad)), list(list(receipt = good), list(receipt = bad)), list(spent, bad))
  for (kept in both) {
    status <- ledger_verify(one, kept)$receipts$status
    expect_identical(status, c("found", "of another ledger"))
  }
  for (kept in list(good, spent, list(spent), paste("\u201c", good, "\u201d"))) expect_identical(nrow(ledger_verify(one, kept)$receipts), 1L)
  # a mail that quotes
  quoted <- paste0("> see ", substr(good, 1, 50), "\n> ", substr(good, 51, 200), "\n>\n> > ", substr(next_one, 1, 30), "\r\n> > ", substr(next_one, 31, 200))
  expect_identical(ledger_verify(one, quoted)$receipts$link, c(1, 2))
  # none, or less than one, is no receipt that was compared
  broken <- list(character(), list(), paste(good, substr(bad, 1, 90)), list(good, "x"), list(list(receipt1 = good)), list(list()), factor(good),
                 list(NULL), NA_character_)
  for (kept in broken) expect_error(ledger_verify(one, kept), class = "riemdp_error_argument")
})

# ---- the report, where others spend or write -------------------------------------------------------------------------------

test_that("a report isn't written over a ledger, by whatever name", {
  skip_without_sqlite()
  skip_on_os("windows")
  begins <- function(file) rawToChar(readBin(file, "raw", 15))
  k <- kept_ledger()
  link <- tempfile()
  hard <- tempfile()
  file.symlink(k$file, link)
  file.link(k$file, hard)
  con <- DBI::dbConnect(RSQLite::SQLite(), k$file)
  on.exit(DBI::dbDisconnect(con))
  other <- kept_ledger()
  for (ledger in list(k$ledger, dp_ledger(link), dp_ledger(con), other$ledger)) {
    for (file in c(k$file, link, hard, paste0(k$file, c("-wal", "-journal", "-shm")))) {
      expect_error(ledger_report(ledger, file), class = "riemdp_error_argument")
      expect_identical(begins(k$file), "SQLite format 3")
      expect_false(any(file.exists(paste0(k$file, c("-wal", "-shm")))))
      expect_true(all(readBin(paste0(k$file, "-journal"), "raw", 8) == 0))
    }
  }
})

test_that("a report shows one state while others spend", {
  skip_without_sqlite()
  skip_on_os("windows")
  k <- kept_ledger()
  # one more entry whenever the ledger is asked for its entries
  seen <- list()
  enough <- tempfile("enough")
  spender <- parallel::mcparallel({
    while (!file.exists(enough)) ledger_spend(k$ledger, event_pure(1e-4), data_set = "trial")
    "done"
  })
  # on a slow machine a report may take longer than many releases
  until <- Sys.time() + 60
  most <- if (quick()) 3 else 8
  repeat {
    report <- ledger_report(k$ledger)
    seen <- c(seen, list(c(nrow(report$entries), report$verification$entries, max(report$entries$link),
                           sum(report$accounts$releases[report$accounts$unit == "rho" & is.na(report$accounts$part)]))))
    expect_true(report$verification$ok)
    changes <- length(unique(vapply(seen, `[`, 0, 1)))
    if (changes > most || Sys.time() > until) break
  }
  file.create(enough)
  done <- parallel::mccollect(spender)
  expect_identical(done[[1]], "done")
  seen <- do.call(rbind, seen)
  expect_true(all(seen == seen[, 1]))
  expect_gt(max(seen), min(seen))
})

test_that("a page shows what was tampered with, and no character that turns the text around it", {
  ledger <- dp_ledger(NULL, 1)
  ledger_spend(ledger, event_pure(0.1), "good \u202e live \u2066 \u0085 \u007f \u001b[2J \u00fc")
  page <- tempfile(fileext = ".html")
  ledger_report(ledger, page)
  text <- paste(readLines(page, encoding = "UTF-8"), collapse = "\n")
  expect_match(text, "good \uFFFD live \uFFFD \uFFFD \uFFFD \uFFFD[2J \u00fc", fixed = TRUE)
  expect_identical(inner$number_words(c(1e5, 0.25, 1234567, NA, Inf, 1e-5, -3)), c("100000", "0.25", "1234567", NA, "Inf", "1e-05", "-3"))
  skip_without_sqlite()
  classed <- function(expr) tryCatch(suppressWarnings({
    expr
    "done"
  }), riemdp_error_ledger = function(e) "classed", error = function(e) conditionMessage(e))
  for (column in inner$ENTRY_COLUMNS) for (to in c("x'00ff'", "CAST(x'ff3c' AS TEXT)", "'2abc'", "1.7")) {
    k <- kept_ledger()
    run_at(k$file, sprintf("UPDATE riemdp_entry SET %s = %s WHERE link = 5", column, to))
    how <- paste(column, to)
    expect_false(suppressWarnings(ledger_verify(k$ledger, k$receipts))$ok, label = how)
    expect_identical(classed(ledger_report(k$ledger, page)), "done", label = how)
    if (grepl("3c", to) && column %in% c("what", "source")) expect_match(paste(readLines(page), collapse = ""), "&lt;ff&gt;&lt;", fixed = TRUE)
    grDevices::pdf(NULL)
    for (one in list(classed(ledger_history(k$ledger)), classed(plot(k$ledger)), classed(utils::capture.output(print(k$ledger))),
                     classed(utils::capture.output(print(ledger_report(k$ledger)))))) {
      expect_true(one %in% c("done", "classed"), label = paste(how, one))
    }
    grDevices::dev.off()
  }
  for (sql in c("DELETE FROM riemdp_account WHERE part = ''", "UPDATE riemdp_account SET version = 'x'", "UPDATE riemdp_account SET spent = x'ff'")) {
    k <- kept_ledger()
    run_at(k$file, sql)
    expect_true("sums" %in% suppressWarnings(ledger_verify(k$ledger))$findings$kind, label = sql)
    for (one in list(classed(summary(k$ledger)), classed(format(k$ledger)))) expect_identical(one, "classed", label = sql)
    expect_identical(classed(ledger_report(k$ledger, page)), "done", label = sql)
  }
})

test_that("how many entries are from before the chain is said", {
  skip_without_sqlite()
  file <- tempfile(fileext = ".sqlite")
  ledger <- dp_ledger(file, 1, create = TRUE)
  for (i in 1:2) ledger_spend(ledger, event_pure(0.1))
  expect_false(any(grepl("before the chain", format(ledger_verify(ledger)))))
  make_old(file)
  again <- dp_ledger(file)
  ledger_spend(again, event_pure(0.1))
  found <- ledger_verify(again)
  expect_identical(found$earlier, 2L)
  expect_output(print(found), "2 of 3 entries are from before the chain")
  page <- tempfile(fileext = ".html")
  ledger_report(again, page)
  expect_match(paste(readLines(page), collapse = ""), "2 of 3 entries are from before the chain")
})

# ---- pure releases by the rule of Gaussians --------------------------------------------------------------------------------

test_that("the mu of a pure release is the least whose trade-off curve lies below", {
  for (epsilon in c(1e-6, 1e-3, 0.00399, 0.00401, 0.1, 1, 3, 10, 30)) {
    mu <- event_price(event_pure(epsilon), "gdp")
    p <- stats::plogis(-epsilon)
    alpha <- sort(c(stats::plogis(seq(-40, 40, length.out = 2001)), p))
    f <- pmax(0, 1 - exp(epsilon) * alpha, exp(-epsilon) * (1 - alpha))
    curve <- function(mu) stats::pnorm(stats::qnorm(alpha, lower.tail = FALSE) - mu)
    expect_true(all(f >= curve(mu) * (1 - 1e-9)), label = paste("epsilon", epsilon))
    expect_equal(min(abs(curve(mu)[alpha == p] / p - 1)), 0, tolerance = 1e-7)
    expect_false(all(f >= curve(0.999 * mu) * (1 - 1e-9)))
    # rounded up; twice the quantile
    if (epsilon > 0.01 && epsilon < 20) expect_gte(mu, 2 * stats::qnorm(stats::plogis(epsilon)))
    expect_equal(mu, -2 * stats::qnorm(p), tolerance = 1e-7)
  }
  # far out it is a bound
  for (epsilon in c(700, 1e4, 1e6)) expect_equal(event_price(event_pure(epsilon), "gdp"), sqrt(8 * epsilon), tolerance = 2e-3)
  expect_gt(event_price(event_pure(601), "gdp"), event_price(event_pure(600), "gdp"))
  # mixtures: squares add up, samples and parts as pure steps
  square <- function(event) event_price(event, "gdp")^2
  expect_equal(square(event_compose(event_pure(0.2), event_gaussian(10), event_laplace(5), times = 3)),
               3 * (2 * square(event_pure(0.2)) + 0.01))
  expect_equal(square(event_poisson(0.1, event_pure(1))), square(event_pure(log(1 + 0.1 * (exp(1) - 1)))))
  expect_equal(square(event_parallel(event_pure(0.1), event_gaussian(5))), max(square(event_pure(0.1)), 0.04))
  for (event in list(event_discrete_gaussian(10), event_approx(0.1, 1e-9), event_poisson(0.1, event_gaussian(1)),
                     event_compose(event_pure(0.1), event_approx(0.1, 1e-9)))) {
    expect_error(event_price(event, "gdp"), class = "riemdp_error_unpriced")
  }
  # accountants of Gaussian steps, which are exact, take none for one
  expect_null(inner$gaussian_step(event_pure(0.1)))
  expect_error(dp_delta(event_pure(0.1), 0.05, "gdp"), class = "riemdp_error")
})

test_that("pure and Gaussian releases share a ledger of Gaussians", {
  ledger <- dp_ledger(NULL, 1, 1e-5, "gdp")
  x <- cbind(quakes$long, quakes$lat)
  r <- dp_mean(x, euclidean(2), 0.05, center = c(175, -20), radius = 15, ledger = ledger)
  expect_equal(r$budget$cost[["mu^2"]], (2 * stats::qnorm(stats::plogis(0.05)))^2)
  dp_mean(x, euclidean(2), 0.05, delta = 1e-6, center = c(175, -20), radius = 15, mechanism = "wrapped_gaussian", ledger = ledger)
  expect_identical(nrow(ledger_history(ledger)), 2L)
  # randomised responses until it is full: what they come to, exactly, is within delta
  for (budget in list(c(1, 1e-2), c(0.5, 1e-3))) for (e in c(0.02, 0.1)) {
    full <- dp_ledger(NULL, budget[1], budget[2], "gdp")
    k <- 0
    while (!inherits(tryCatch(ledger_spend(full, event_pure(e)), riemdp_error_budget = identity), "error")) k <- k + 1
    expect_gt(k, 0)
    loss <- (2 * (0:k) - k) * e
    expect_lte(sum(stats::dbinom(0:k, k, stats::plogis(e)) * pmax(0, -expm1(budget[1] - loss))), budget[2])
  }
})
