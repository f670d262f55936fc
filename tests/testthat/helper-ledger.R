# Processes that spend from one ledger and are killed at random. Used by test-ledger.R and tools/ledger-stress.

skip_without_sqlite <- function() {
  skip_if_not_installed("DBI")
  skip_if_not_installed("RSQLite")
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
  ledger <- dp_ledger(place, budget)
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
      ends[i] <- stats::rexp(1, 1 / mean_life)
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
