# Processes that spend from one ledger and are killed at random. Used by test-ledger.R and tools/ledger-stress.

skip_without_sqlite <- function() {
  skip_if_not_installed("DBI")
  skip_if_not_installed("RSQLite")
}

# Runs f(con, ...) on a connection of its own to an SQLite file
at_file <- function(file, f, ...) {
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con))
  f(con, ...)
}

# Makes a ledger's file what an earlier version would have written: without a chain, and without the columns in `lacking`
make_old <- function(file, format = 1L, lacking = character()) {
  run <- function(...) at_file(file, DBI::dbExecute, paste0(...))
  run("DROP INDEX riemdp_link")
  for (column in c("links", "head", "earlier", intersect(lacking, "sampled"))) run("ALTER TABLE riemdp_ledger DROP COLUMN ", column)
  for (column in c("link", "head", intersect(lacking, "source"))) run("ALTER TABLE riemdp_entry DROP COLUMN ", column)
  run("UPDATE riemdp_ledger SET format = ", format)
  costs <- unique(at_file(file, DBI::dbGetQuery, "SELECT cost FROM riemdp_entry")$cost)
  for (cost in costs) {
    decimal <- paste(sprintf("%.17g", as.numeric(strsplit(cost, " ")[[1]])), collapse = " ")
    run("UPDATE riemdp_entry SET cost = '", decimal, "' WHERE cost = '", cost, "'")
  }
  forget_ledger(file)
}

# what this process remembers of a ledger, so that what follows is as in another process
forget_ledger <- function(file) {
  inner <- asNamespace("riemdp")
  inner$drop_connection(normalizePath(file, winslash = "/"))
  uid <- at_file(file, DBI::dbGetQuery, "SELECT uid FROM riemdp_ledger")$uid
  if (length(uid)) suppressWarnings(rm(list = uid, envir = inner$chain_marks))
}

# A worker makes `count` releases: it spends, and only then writes down that the release came out
storm_worker <- function(place, file, count, cost) {
  ledger <- dp_ledger(place)
  for (i in seq_len(count)) {
    entry <- tryCatch(ledger_spend(ledger, event_pure(cost), "storm")$entry, riemdp_error_budget = function(e) 0L)
    cat(paste0(entry, "\n"), file = file, append = TRUE) # one write: half a line could run into the next worker's
  }
  file.create(paste0(file, ".done"))
}

storm_lines <- function(file) if (file.exists(file)) as.integer(readLines(file, warn = FALSE)) else integer()

# `workers` processes x `releases`, of which some two thirds fit the budget; each is killed now and then, and another one goes on
ledger_storm <- function(place, workers, releases, folder, cost = 1 / 64, mean_life = 1) {
  budget <- floor(workers * releases * 2 / 3) * cost
  ledger <- dp_ledger(place, budget, create = TRUE)
  files <- file.path(folder, paste0("worker", seq_len(workers)))
  start <- function(i) {
    left <- releases - length(storm_lines(files[i]))
    parallel::mcparallel(storm_worker(place, files[i], left, cost), silent = TRUE)
  }
  jobs <- lapply(seq_len(workers), start)
  kills <- 0L
  ends <- stats::rexp(workers, 1 / mean_life)
  clock <- function() proc.time()[[3]]
  born <- rep(clock(), workers)
  done <- function(i) file.exists(paste0(files[i], ".done"))
  on.exit(for (job in jobs) tools::pskill(job$pid, tools::SIGKILL))
  while (!all(vapply(seq_len(workers), done, NA))) {
    Sys.sleep(0.01)
    for (i in seq_len(workers)) {
      if (done(i) || clock() - born[i] < ends[i]) next
      tools::pskill(jobs[[i]]$pid, tools::SIGKILL)
      suppressWarnings(parallel::mccollect(jobs[[i]])) # waits until it is dead
      kills <- kills + 1L
      jobs[[i]] <- start(i)
      born[i] <- clock()
      ends[i] <- stats::rexp(1, 1 / mean_life) * (1 + kills / 20) # on a slow machine it comes to an end as well
    }
  }
  suppressWarnings(parallel::mccollect(jobs))
  out <- unlist(lapply(files, storm_lines))
  history <- ledger_history(ledger)
  sums <- summary(ledger)
  list(
    budget = budget, cost = cost, kills = kills, spent = sums$spent[1], entries = nrow(history), numbers = history$entry,
    added = sum(history$epsilon), released = sum(out > 0), refused = sum(out == 0), unentered = length(setdiff(out[out > 0], history$entry)),
    doubled = sum(duplicated(out[out > 0])),
    integrity = if (is.character(place)) {
      con <- DBI::dbConnect(RSQLite::SQLite(), place)
      on.exit(DBI::dbDisconnect(con), add = TRUE)
      DBI::dbGetQuery(con, "PRAGMA integrity_check")[[1]]
    }
  )
}

storm_faults <- function(found) {
  c(
    if (found$spent > found$budget) "more was spent than the budget holds",
    if (found$spent != found$added) "the sum is not that of the entries",
    if (!identical(found$numbers, seq_len(found$entries))) "entries have gaps",
    if (found$unentered > 0) "a release is not in the ledger",
    if (found$doubled > 0) "two releases share an entry",
    if (found$entries - found$released > found$kills) "more entries were lost than processes killed",
    if (found$refused > 0 && found$spent != found$budget) "a release was refused although the budget covered it",
    if (!is.null(found$integrity) && !identical(found$integrity, "ok")) "the file is damaged"
  )
}

skip_without_server <- function() {
  skip_on_cran()
  skip_on_os("windows")
  skip_if_not_installed("DBI")
  skip_if(nzchar(Sys.getenv("LD_PRELOAD")), "what is preloaded, a sanitizer, would be in the server's programs as well, which hang then")
}

# ---- a PostgreSQL server of the tests' own -----------------------------------------------------------------------------------

# `open`: a function that returns a new connection; `query`: SQL statements outside the ledger. Skipped where server or driver is missing.
postgres_start <- function() {
  skip_without_server()
  drivers <- c(RPostgres = "Postgres", RPostgreSQL = "PostgreSQL")
  package <- Filter(function(p) requireNamespace(p, quietly = TRUE), names(drivers))
  programs <- c(dirname(Sys.which("pg_ctl")), rev(Sys.glob("/usr/lib/postgresql/*/bin")))
  programs <- programs[file.exists(file.path(programs, "pg_ctl")) & file.exists(file.path(programs, "initdb"))]
  if (!length(package) || !length(programs)) skip("PostgreSQL or its driver isn't installed")
  # a server isn't run as root; sockets have short names only
  root <- identical(unname(Sys.info()[["effective_user"]]), "root")
  if (root && system2("id", "postgres", stdout = FALSE, stderr = FALSE) != 0) skip("there is no user to run PostgreSQL as")
  folder <- tempfile("pg", "/tmp")
  dir.create(folder, mode = "0755")
  run <- function(...) {
    words <- c(if (root) c("runuser", "-u", "postgres", "--"), ...)
    system2(words[1], shQuote(words[-1]), stdout = FALSE, stderr = FALSE)
  }
  if (root) system2("chown", c("postgres", folder))
  data <- file.path(folder, "data")
  control <- function(...) run(file.path(programs[1], "pg_ctl"), "-D", data, "-w", "-l", file.path(folder, "log"), ...)
  # the log's writer sleeps for long: what isn't flushed by the commit is lost for certain
  settings <- sprintf("-k %s -c listen_addresses= -c wal_writer_delay=10s -c bgwriter_delay=10s -c max_connections=30", folder)
  server <- list(
    folder = folder, start = function() control("-o", settings, "start"), stop = function(how) control("-m", how, "stop"),
    open = function() {
      driver <- getExportedValue(package[1], drivers[[package[1]]])()
      suppressWarnings(DBI::dbConnect(driver, host = folder, dbname = "postgres", user = "postgres")) # (about time zones)
    }
  )
  server$query <- function(...) {
    con <- server$open()
    on.exit(DBI::dbDisconnect(con))
    for (sql in c(...)) if (startsWith(sql, "SELECT")) DBI::dbGetQuery(con, sql) else DBI::dbExecute(con, sql)
  }
  made <- run(file.path(programs[1], "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-N") == 0
  if (!made || server$start() != 0) {
    unlink(folder, recursive = TRUE)
    skip("PostgreSQL doesn't start here")
  }
  server
}

# as if the power went
postgres_crash <- function(server) {
  expect_identical(server$stop("immediate"), 0L)
  expect_identical(server$start(), 0L)
}

postgres_stop <- function(server) {
  server$stop("immediate")
  unlink(server$folder, recursive = TRUE)
}

# From here to the end of the calling test every release of a table of mechanisms (the function `name` of the package) calls `look` first.
watch_releases <- function(name, look, env = parent.frame()) {
  inner <- asNamespace("riemdp")
  before <- get(name, inner)
  put <- function(f) {
    unlockBinding(name, inner)
    assign(name, f, inner)
    lockBinding(name, inner)
  }
  do.call(on.exit, list(substitute(put(before), list(put = put, before = before)), add = TRUE), envir = env)
  put(function() {
    lapply(before(), function(m) {
      own <- m$release
      m$release <- function(...) {
        look()
        own(...)
      }
      m
    })
  })
}

# ---- a MariaDB server of the tests' own --------------------------------------------------------------------------------------

# `open(driver)`: a new connection by one of `drivers`; `start(...)`: with further options; `crash()`: as if the power went. Skipped as above.
mariadb_start <- function() {
  skip_without_server()
  objects <- c(RMariaDB = "MariaDB", RMySQL = "MySQL")
  drivers <- Filter(function(p) requireNamespace(p, quietly = TRUE), names(objects))
  server <- Filter(nzchar, c(Sys.which("mariadbd"), Sys.glob("/usr/sbin/mariadbd")))[1]
  maker <- Sys.which("mariadb-install-db")
  if (!length(drivers) || is.na(server) || !nzchar(maker)) skip("MariaDB or its driver isn't installed")
  folder <- tempfile("maria", "/tmp") # sockets have short names only
  dir.create(folder)
  at <- function(name) file.path(folder, name)
  user <- unname(Sys.info()[["effective_user"]])
  common <- c("--no-defaults", paste0("--datadir=", at("data")), paste0("--user=", user))
  if (system2(maker, c(common, "--skip-test-db"), stdout = FALSE, stderr = FALSE) != 0) {
    unlink(folder, recursive = TRUE)
    skip("MariaDB doesn't start here")
  }
  it <- list(folder = folder, drivers = drivers)
  it$open <- function(driver = drivers[1], database = "mysql") {
    who <- if (driver == "RMySQL") list(user = user) else list(username = user)
    do.call(DBI::dbConnect, c(list(getExportedValue(driver, objects[[driver]])(), dbname = database, unix.socket = at("socket")), who))
  }
  it$query <- function(...) {
    con <- it$open()
    on.exit(DBI::dbDisconnect(con))
    for (sql in c(...)) DBI::dbExecute(con, sql)
  }
  it$start <- function(...) {
    options <- c(common, paste0("--socket=", at("socket")), paste0("--pid-file=", at("pid")), "--skip-networking", "--innodb-buffer-pool-size=32M", ...)
    system2(server, options, stdout = at("log"), stderr = at("log"), wait = FALSE)
    for (i in 1:600) {
      con <- tryCatch(it$open(), error = function(e) NULL)
      if (!is.null(con)) return(DBI::dbDisconnect(con))
      Sys.sleep(0.1)
    }
    stop("MariaDB doesn't start: ", paste(utils::tail(readLines(at("log")), 5), collapse = "\n"))
  }
  it$crash <- function() {
    pid <- as.integer(readLines(at("pid")))
    tools::pskill(pid, tools::SIGKILL)
    while (tools::pskill(pid, 0L)) Sys.sleep(0.05)
  }
  it$stop <- function() {
    try(it$crash(), silent = TRUE)
    unlink(folder, recursive = TRUE)
  }
  it$start()
  it
}
