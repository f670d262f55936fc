# Sums that a database makes by itself beside rows that are fetched: seconds of clock of one dp_mean(mechanism = "tangent") of n records in d
# columns, by turns in one run, on SQLite and, where it is installed, PostgreSQL; what either way moves to R is counted in bytes of the result.
# Rscript bench/pushdown.R FILE.csv [n]
library(riemdp)
out <- commandArgs(TRUE)[1]
n <- as.numeric(c(commandArgs(TRUE)[-1], 1e6)[1])
d <- 5
M <- euclidean(d)
set.seed(1)
records <- data.frame(id = seq_len(n), matrix(rnorm(n * d), n))
rows <- NULL

compare <- function(name, open, times = 3) {
  con <- open()
  DBI::dbWriteTable(con, "records", records, row.names = FALSE)
  DBI::dbExecute(con, "CREATE UNIQUE INDEX records_id ON records (id)")
  DBI::dbDisconnect(con)
  seconds <- function(x) {
    system.time(r <- with_simulation(1, dp_mean(x, M, 1, rep(0, d), 3, mechanism = "tangent", numerics = "lattice", invalid = "center")))[["elapsed"]]
  }
  fetched <- chunk_query(open, "records", "id", size = 1e5, shape = M)
  summed <- chunk_query(open, "records", "id", size = 1e6, sums = TRUE)
  for (i in seq_len(times)) {
    a <- seconds(fetched)
    b <- seconds(summed)
    rows <<- rbind(rows, data.frame(database = name, n = n, d = d, run = i, rows_s = round(a, 2), sums_s = round(b, 2), ratio = signif(a / b, 3)))
  }
}

path <- tempfile(fileext = ".sqlite")
compare("SQLite", function() DBI::dbConnect(RSQLite::SQLite(), path))
unlink(path)

# a server of its own, as tests start it
tests <- new.env(parent = asNamespace("testthat"))
tests$quick <- function() TRUE
sys.source("tests/testthat/helper-ledger.R", tests)
server <- tryCatch(tests$postgres_start(), condition = function(e) NULL)
if (!is.null(server)) {
  tryCatch(compare("PostgreSQL", server$open), finally = tests$postgres_stop(server))
}
write.csv(rows, out, row.names = FALSE)
print(rows)
