# What a spend costs: ledger_spend() on a file by each rule, beside the least that the same database does in a transaction of its own, one number
# read, one changed and one row added, and in memory. CPU milliseconds of the median block; a script of its own, half a minute:
#   Rscript bench/ledger.R [revision]
# writes bench/ledger.csv: low and high are the tenth and ninetieth percent of blocks, ratio is to the bare transaction of the same round.
library(riemdp)
gaussian <- event_gaussian(1000)
file <- function() tempfile(fileext = ".sqlite")
con <- DBI::dbConnect(RSQLite::SQLite(), file(), synchronous = NULL)
invisible(DBI::dbExecute(con, "PRAGMA synchronous = EXTRA"))
for (sql in c("CREATE TABLE a (id INTEGER PRIMARY KEY, s TEXT)", "INSERT INTO a VALUES (1, 'x')", "CREATE TABLE b (id INTEGER PRIMARY KEY, s TEXT)")) {
  DBI::dbExecute(con, sql)
}
bare <- function(i) {
  DBI::dbExecute(con, "BEGIN IMMEDIATE")
  DBI::dbGetQuery(con, "SELECT s FROM a WHERE id = 1")
  DBI::dbExecute(con, "UPDATE a SET s = ? WHERE id = 1", params = list(as.character(i)))
  DBI::dbExecute(con, "INSERT INTO b VALUES (?, ?)", params = list(i, "z"))
  DBI::dbExecute(con, "COMMIT")
}
spends <- function(event, ...) {
  ledger <- dp_ledger(...)
  function(i) ledger_spend(ledger, event)
}
calls <- list(
  bare = bare,
  memory = spends(gaussian, epsilon = 1e5, delta = 1e-6, rule = "gdp"),
  basic = spends(event_pure(0.01), file(), epsilon = 1e5, create = TRUE),
  zcdp = spends(gaussian, file(), epsilon = 1e5, delta = 1e-6, rule = "zcdp", create = TRUE),
  rdp = spends(gaussian, file(), epsilon = 1e5, delta = 1e-6, rule = "rdp", create = TRUE),
  gdp = spends(gaussian, file(), epsilon = 1e5, delta = 1e-6, rule = "gdp", create = TRUE),
  steps = spends(event_pure(0.1), file(), epsilon = 100, delta = 1e-6, rule = "steps", step = 0.1, create = TRUE),
  quotas = spends(gaussian, file(), epsilon = 1e5, delta = 1e-6, rule = "gdp", create = TRUE, quotas = c(a = 0.5, b = 0.5), analyst = "a")
)
blocks <- 30
each <- 20
cpu <- replicate(blocks, {
  at <- sample.int(1e9, each)
  vapply(calls, function(call) {
    start <- proc.time()
    for (i in at) call(i)
    sum((proc.time() - start)[1:2]) / each * 1000
  }, 0)
})[, -(1:2)]
ratios <- sweep(cpu, 2, cpu["bare", ], "/")
range_of <- function(x, p) apply(x, 1, stats::quantile, p, names = FALSE)
out <- data.frame(what = names(calls), ms = round(range_of(cpu, 0.5), 2), low = round(range_of(cpu, 0.1), 2), high = round(range_of(cpu, 0.9), 2),
                  ratio = round(range_of(ratios, 0.5), 2), revision = c(commandArgs(TRUE), "")[1])
print(out, row.names = FALSE)
utils::write.csv(out, "bench/ledger.csv", row.names = FALSE, quote = FALSE)
