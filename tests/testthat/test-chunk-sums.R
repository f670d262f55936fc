# Sums that a database makes by itself. Sums of whole numbers as chunks in memory make them are what is compared with.

# list(high: multiples of 2^31, low) as one matrix, of the rows of a matrix in memory
sums_in_memory <- function(x, center, radius) {
  M <- euclidean(length(center))
  numbers <- riemdp:::mean_steps(M, list(radius = radius, k_max = 0, k_min = 0), nrow(x), "tangent", lattice = TRUE)$numbers
  .Call(riemdp:::riemdp_chunk_steps, M, x, center, numbers, nrow(x), rep(0, length(center)), NULL)
}

# the same of a source's chunks
sums_of_chunks <- function(source, center, radius) {
  M <- euclidean(length(center))
  numbers <- riemdp:::mean_steps(M, list(radius = radius, k_max = 0, k_min = 0), sum(source$sizes), "tangent", lattice = TRUE)$numbers
  request <- list(kernel = "steps", M = M, center = center, numbers = numbers, n = sum(source$sizes), at = rep(0, length(center)))
  Reduce(`+`, riemdp:::chunk_ask(source, request, private = TRUE))
}

# in steps of 2^-bits, as whole numbers that doubles hold where there are few records
whole_sums <- function(s) s[, 1] * 2^31 + s[, 2]

# the same, whole number by whole number, however many records there are
all_digits <- function(s) {
  more <- floor(s[, 2] / 2^31)
  cbind(s[, 1] + more, s[, 2] - more * 2^31)
}

# records near and far, at the ball's edge, missing
mixed_records <- function(n, d, center, radius) {
  x <- matrix(rnorm(n * d, sd = radius), n) * 2^sample(-3:3, n, TRUE)
  at <- sample(n, n / 4)
  x[at, ] <- x[at, ] / sqrt(rowSums(x[at, , drop = FALSE]^2)) * radius * (1 + sample(-4:4, length(at), TRUE) * 1e-16)
  x <- x + rep(center, each = n)
  x[sample(length(x), n / 20)] <- NA
  x[sample(length(x), n / 20)] <- 10^runif(n / 20, -140, 140)
  x[sample(length(x), n / 20)] <- rep_len(center, 1)
  x
}

sqlite_of <- function(folder, table) {
  path <- file.path(folder, "records.sqlite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), path)
  DBI::dbWriteTable(connection, "records", table, overwrite = TRUE)
  DBI::dbDisconnect(connection)
  function() DBI::dbConnect(RSQLite::SQLite(), path)
}

settings <- list(list(center = 0.1, radius = 1), list(center = c(-3.7, 1e-3, 42), radius = 1 / 3),
                 list(center = c(1e6, -0.1, 0, pi, 2^-40), radius = 12345.678), list(center = c(0, 0), radius = 2^-60),
                 list(center = sqrt(1:100) - 5, radius = 4))

test_that("SQLite's sums have the bits of those in memory", {
  skip_without_sqlite()
  set.seed(1)
  for (s in settings) {
    d <- length(s$center)
    x <- mixed_records(2000, d, s$center, s$radius)
    open <- sqlite_of(test_folder(), data.frame(id = seq_len(nrow(x)), x))
    y <- chunk_query(open, "records", "id", size = 700, sums = TRUE)
    expect_identical(y$sizes, c(700, 700, 600))
    plain <- all_digits(sums_in_memory(x, s$center, s$radius))
    expect_identical(all_digits(sums_of_chunks(y, s$center, s$radius)), plain)
    y$map <- function(X, FUN) rev(lapply(rev(X), FUN))
    expect_identical(all_digits(sums_of_chunks(y, s$center, s$radius)), plain)
  }
})

test_that("a private mean of sums is that of the records", {
  skip_without_sqlite()
  set.seed(2)
  M <- euclidean(3)
  center <- c(-3.7, 1e-3, 42)
  x <- mixed_records(500, 3, center, 1)
  open <- sqlite_of(test_folder(), data.frame(id = seq_len(nrow(x)), x))
  y <- chunk_query(open, "records", "id", shape = M, sums = TRUE)
  for (mechanism in c("auto", "tangent", "wrapped", "wrapped_staircase", "wrapped_gaussian", "gaussian")) {
    run <- function(x) with_simulation(5, dp_mean(x, M, 1, center, 1, delta = if (grepl("gaussian", mechanism)) 1e-6 else 0,
                                                  mechanism = mechanism, invalid = "center"))
    a <- run(y)
    # "auto" chooses among those that there are
    b <- if (mechanism == "auto") with_simulation(5, dp_mean(x, M, 1, center, 1, mechanism = a$mechanism, invalid = "center")) else run(x)
    expect_identical(a$value, b$value, label = mechanism)
    same <- c("n", "mechanism", "scale", "sensitivity", "guarantee", "expected_error")
    expect_match(a$guarantee$assumptions, "the database adds", all = FALSE)
    a$guarantee$assumptions <- setdiff(a$guarantee$assumptions, riemdp:::ADDED_UP)
    b$guarantee$assumptions <- c(b$guarantee$assumptions)
    expect_equal(unclass(a)[same], unclass(b)[same], tolerance = 0, label = mechanism)
    expect_identical(a$guarantee$numerics, "lattice")
  }
  r <- dp_mean(y, M, 1, center, 1, mechanism = "tangent", invalid = "center")
  expect_identical(r$guarantee$label, "pure")
})

# what a cell of SQLite may hold, as SQL
NASTY <- c("NULL", "9e999", "-9e999", "'1e999'", "'0.5'", "'abc'", "''", "x'00ff'", "x''", "9223372036854775807", "-9223372036854775808",
           "9007199254740993", "-0.0", "0.0", "5e-324", "-5e-324", "2.3e-308", "1.7976931348623157e308", "-1.7976931348623157e308", "1e150",
           "1.0000001e150", "1e154", "1e-162", "1e-60", "0.1", "0.99999999999999989", "1", "-1", "1.0000000000000002", "1e15", "'Inf'", "'NaN'",
           "4503599627370496", "2251799813685249.5", "char(0)", "1e999 - 1e999")

test_that("no content of a record moves the whole sums by more than the ball allows, nor raises anything", {
  skip_without_sqlite()
  set.seed(3)
  center <- c(0.1, -0.2)
  radius <- 1
  folder <- test_folder()
  path <- file.path(folder, "records.sqlite")
  open <- sqlite_of(folder, data.frame(id = 1:4, a = c(0, 3, -1, 0.5), b = c(0, 1, 2, 0.25)))
  y <- chunk_query(open, "records", "id", sums = TRUE)
  base <- function() whole_sums(sums_of_chunks(y, center, radius))
  put <- function(a, b) at_file(path, DBI::dbExecute, sprintf("UPDATE records SET a = %s, b = %s WHERE id = 2", a, b))
  put("NULL", "NULL")
  without <- base()
  pairs <- expand.grid(a = NASTY, b = NASTY, stringsAsFactors = FALSE)
  if (quick()) pairs <- pairs[sample(nrow(pairs), 250), ]
  limit <- radius * 2^51
  # a table without types: cells stay what they are
  at_file(path, function(con) {
    DBI::dbExecute(con, "DROP TABLE records")
    DBI::dbExecute(con, "CREATE TABLE records (id INTEGER PRIMARY KEY, a, b)")
    DBI::dbExecute(con, "INSERT INTO records VALUES (1, 0.0, 0.0), (2, NULL, NULL), (3, -1.0, 2.0), (4, 0.5, 0.25)")
  })
  expect_identical(base(), without)
  numbers <- function(cell) {
    value <- suppressWarnings(as.numeric(cell))
    kept <- grepl("^-?[0-9]", cell) && !grepl("9e999|1e999", cell) && abs(value) <= 1e150
    if (kept) value else NA
  }
  for (i in seq_len(nrow(pairs))) {
    put(pairs$a[i], pairs$b[i])
    expect_silent(moved <- base() - without)
    expect_lte(sqrt(sum((moved / limit)^2)), 1)
    # the same as that record by itself in memory
    own <- cbind(numbers(pairs$a[i]), numbers(pairs$b[i]))
    expect_identical(moved, whole_sums(sums_in_memory(own, center, radius)), label = paste(pairs[i, ], collapse = ", "))
  }
  # in columns of text, too, which SQLite compares with numbers letter by letter
  at_file(path, function(con) {
    DBI::dbExecute(con, "DROP TABLE records")
    DBI::dbExecute(con, "CREATE TABLE records (id INTEGER PRIMARY KEY, a TEXT, b TEXT)")
    DBI::dbExecute(con, "INSERT INTO records VALUES (1, '0.5', '0.25'), (2, 'abc', '1'), (3, '-0.1', NULL), (4, 0.5, 0.25)")
  })
  expect_identical(base(), whole_sums(sums_in_memory(cbind(rep(NA, 4), NA_real_), center, radius)))
})

test_that("whole numbers have the last word, whatever doubles come to", {
  skip_without_sqlite()
  folder <- test_folder()
  open <- sqlite_of(folder, data.frame(id = 1:3, a = c(5, 0.25, 0), b = c(5, 0.25, 0)))
  dialect <- riemdp:::SUM_DIALECTS$SQLite
  ask <- function(edge, limit = 2^51) {
    sql <- riemdp:::sums_sql(dialect, "records", "", c("a", "b"), c(0, 0), edge, 51, limit)
    unlist(at_file(file.path(folder, "records.sqlite"), DBI::dbGetQuery, sql), use.names = FALSE)
  }
  honest <- ask(1 - 1e-14)
  # a database that cuts to a wrong length: what is too long counts as 0, a little or a lot
  for (edge in c(1 + 1e-14, 1.5, 1e5, 1e30, 1e90)) {
    wrong <- ask(edge)
    expect_identical(wrong[1], 3)
    expect_identical(wrong[-1], c(2^23, 2^23, 0, 0), label = edge) # the second record, as it is
  }
  expect_identical(honest[1], 3)
  expect_gt(honest[2], 2^23)
  # the limit is exact: the record (0.25, 0.25) has the square 2^99
  inside <- ceiling(sqrt(2^99))
  expect_identical(ask(1e-3, 2^30)[1], 3)
  at_file(file.path(folder, "records.sqlite"), DBI::dbExecute, "DELETE FROM records WHERE id = 1")
  expect_identical(ask(1, inside)[2:3], c(2^23, 2^23))
  expect_identical(ask(1, inside - 1)[2:5], c(0, 0, 0, 0))
  # squares in parts are those of the whole
  set.seed(4)
  for (i in 1:50) {
    a <- floor(runif(4, 0, 2^sample(51, 4)))
    parts <- riemdp:::square_parts(a %/% 2^26, a %% 2^26)
    expect_equal(parts[1] * 2^52 + parts[2], sum(a^2), tolerance = 1e-12)
    expect_lt(parts[2], 2^52)
    small <- floor(a %% 2^25)
    expect_identical(riemdp:::square_parts(rep(0, 4), small)[2], sum(small^2) %% 2^52)
  }
})

test_that("doubles reach a database with all their digits", {
  skip_without_sqlite()
  set.seed(5)
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  x <- c(0, 1, -1, 0.1, -pi, 2^-151, 2^151, 1e100, -1e100, 1e-100, 1 - 2^-53, 2^53 + 2, 10^runif(200, -100, 100))
  got <- vapply(x, function(v) DBI::dbGetQuery(con, paste("SELECT", riemdp:::exact_sql(v, function(x) sprintf("CAST(%s AS DOUBLE PRECISION)", x))))[[1]], 0)
  expect_identical(got, x)
})

test_that("the budget is taken before the database is asked, and what goes wrong there isn't told", {
  skip_without_sqlite()
  folder <- test_folder()
  table <- data.frame(id = 1:40, a = runif(40), b = runif(40))
  plain <- sqlite_of(folder, table)
  seen <- new.env()
  seen$spent <- NULL
  ledger <- dp_ledger(epsilon = 2)
  open <- function() {
    if (isTRUE(seen$watch)) seen$spent <- c(seen$spent, summary(ledger)$spent[1])
    plain()
  }
  y <- chunk_query(open, "records", "id", sums = TRUE)
  mean_of <- function(epsilon = 1) {
    dp_mean(y, euclidean(2), epsilon, c(0, 0), 1, mechanism = "tangent", invalid = "center", ledger = ledger)
  }
  seen$watch <- TRUE
  mean_of()
  expect_identical(seen$spent, 1)
  expect_error(mean_of(1.5), class = "riemdp_error_budget")
  expect_identical(seen$spent, 1) # it wasn't asked
  words <- NULL
  for (how in c("DROP TABLE records", "CREATE TABLE records (id INTEGER PRIMARY KEY, a, b)",
                "INSERT INTO records VALUES (1, 'secret 0.123', 2)", "DROP TABLE records; ")) {
    at_file(file.path(folder, "records.sqlite"), DBI::dbExecute, how)
    e <- expect_error(dp_mean(y, euclidean(2), 1, c(0, 0), 1, mechanism = "tangent", invalid = "center"), class = "riemdp_error_chunk")
    words <- c(words, conditionMessage(e))
  }
  expect_length(unique(words), 1)
  expect_no_match(words[1], "secret|0[.]1|SELECT|DROP")
})

test_that("only sums are given, and that is said before anything is spent", {
  skip_without_sqlite()
  open <- sqlite_of(test_folder(), data.frame(id = 1:40, a = runif(40), b = runif(40)))
  y <- chunk_query(open, "records", "id", sums = TRUE)
  M <- euclidean(2)
  ledger <- dp_ledger(epsilon = 100, delta = 1e-3)
  refused <- function(expr, class = "unsupported") {
    expect_error(expr, class = paste0("riemdp_error_", class))
    expect_identical(summary(ledger)$spent[1], 0)
  }
  mean_of <- function(...) dp_mean(y, M, 1, c(0, 0), 1, invalid = "center", ledger = ledger, ...)
  refused(frechet_mean(y, M))
  refused(dp_variance(y, M, 1, c(0, 0), 1, invalid = "center", ledger = ledger))
  refused(dp_median(y, M, 1, c(0, 0), 1, invalid = "center", ledger = ledger))
  refused(dp_covariance(y, M, 1, c(0, 0), 1, at = c(0, 0), invalid = "center", ledger = ledger))
  refused(mf_check(M, y))
  for (mechanism in c("kng", "laplace", "adaptive", "euclidean")) refused(mean_of(mechanism = mechanism))
  refused(mean_of(numerics = "real"))
  refused(mean_of(clipped = 0.1))
  refused(mean_of(variance = 0.1))
  refused(mean_of(neighbours = "add_remove"))
  refused(mean_of(unit = "a"))
  refused(mean_of(unit = rep(1:20, 2)))
  refused(dp_mean(y, M, 1, c(0, 0), 1, ledger = ledger), "argument") # invalid = "error"
  refused(dp_mean(y, euclidean(3), 1, rep(0, 3), 1, invalid = "center", ledger = ledger), "argument")
  refused(dp_mean(y, sphere(1), 1, c(1, 0), 0.5, invalid = "center", ledger = ledger), "argument")
  refused(dp_ball(y, M, 1, c(0, 0), 1, ledger = ledger))
  refused(dp_optimize(problem_frechet(M), y, 1, 1e-6, center = c(0, 0), radius = 1, steps = 2, ledger = ledger))
  refused(dp_lm(b ~ a, y, 1, bounds = list(a = c(0, 1), b = c(center = 0, scale = 1)), ledger = ledger))
  refused(chunk_query(open, "records", "id", shape = euclidean(3), sums = TRUE), "argument")
  refused(chunk_query(open, "records", "id", shape = identity, sums = TRUE), "argument")
  refused(chunk_query(open, "records", "id", size = 2^24, sums = TRUE), "argument")
  refused(chunk_query(open, "records", "id", sums = NA), "argument")
  expect_output(print(y), "40 records")
})

# one server's tables and types
expect_server_sums <- function(open, literal) {
  set.seed(6)
  for (s in settings) {
    d <- length(s$center)
    x <- mixed_records(400, d, s$center, s$radius)
    con <- open()
    if (DBI::dbExistsTable(con, "riemdp_sums")) DBI::dbRemoveTable(con, "riemdp_sums")
    columns <- sprintf("x%d", seq_len(d))
    DBI::dbExecute(con, sprintf("CREATE TABLE riemdp_sums (id INTEGER PRIMARY KEY, %s)", paste(columns, "DOUBLE PRECISION", collapse = ", ")))
    rows <- apply(cbind(seq_len(nrow(x)), x), 1, function(r) sprintf("(%s)", paste(ifelse(is.na(r), "NULL", sprintf("%.16e", r)), collapse = ", ")))
    DBI::dbExecute(con, paste("INSERT INTO riemdp_sums VALUES", paste(rows, collapse = ", ")))
    DBI::dbDisconnect(con)
    y <- chunk_query(open, "riemdp_sums", "id", size = 150, sums = TRUE)
    expect_identical(all_digits(sums_of_chunks(y, s$center, s$radius)), all_digits(sums_in_memory(x, s$center, s$radius)))
  }
  # columns of other types, with what they may hold and doubles may not
  for (type in names(literal)) {
    con <- open()
    DBI::dbExecute(con, "DROP TABLE riemdp_sums")
    DBI::dbExecute(con, sprintf("CREATE TABLE riemdp_sums (id INTEGER PRIMARY KEY, a %s, b DOUBLE PRECISION)", type))
    rows <- sprintf("(%d, %s, 0.5)", seq_along(literal[[type]]), literal[[type]])
    DBI::dbExecute(con, paste("INSERT INTO riemdp_sums VALUES", paste(rows, collapse = ", ")))
    DBI::dbDisconnect(con)
    y <- chunk_query(open, "riemdp_sums", "id", sums = TRUE)
    value <- suppressWarnings(as.numeric(gsub("'", "", literal[[type]])))
    value[!is.finite(value) | abs(value) > 1e150] <- NA
    expect_identical(whole_sums(sums_of_chunks(y, c(0.1, 0.2), 3)), whole_sums(sums_in_memory(cbind(value, 0.5), c(0.1, 0.2), 3)), label = type)
  }
  con <- open()
  DBI::dbExecute(con, "DROP TABLE riemdp_sums")
  DBI::dbExecute(con, "CREATE TABLE riemdp_sums (id INTEGER PRIMARY KEY, a DOUBLE PRECISION)")
  DBI::dbExecute(con, paste("INSERT INTO riemdp_sums VALUES", paste(sprintf("(%d, %d)", 1:50, 1:50), collapse = ", ")))
  DBI::dbDisconnect(con)
  y <- chunk_query(open, "riemdp_sums", "id", size = 20, shape = euclidean(1)) # as rows
  expect_identical(y$sizes, c(20, 20, 10))
  expect_identical(as.vector(frechet_mean(y, euclidean(1))$mean), 25.5)
  con <- open()
  DBI::dbExecute(con, "DROP TABLE riemdp_sums")
  DBI::dbExecute(con, "CREATE TABLE riemdp_sums (id INTEGER PRIMARY KEY, a VARCHAR(20))")
  DBI::dbExecute(con, "INSERT INTO riemdp_sums VALUES (1, '0.5')")
  DBI::dbDisconnect(con)
  expect_error(chunk_query(open, "riemdp_sums", "id", sums = TRUE), class = "riemdp_error_argument")
}

extremes <- c("1.5e308", "-1.5e308", "1e151", "5e-324", "1e-200", "-1e-170", "0.1", "NULL", "0", "1e160")

test_that("PostgreSQL's sums have the bits of those in memory", {
  server <- postgres_start()
  on.exit(postgres_stop(server))
  expect_server_sums(server$open, list("DOUBLE PRECISION" = c(extremes, "'NaN'", "'Infinity'", "'-Infinity'"),
                                       NUMERIC = c("1e400", "-1e400", "1e-400", "'NaN'", "0.1", "NULL", "1e155"),
                                       BIGINT = c("9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL", "2")))
})

test_that("MariaDB's sums have the bits of those in memory", {
  server <- mariadb_start()
  on.exit(server$stop())
  expect_server_sums(server$open, list("DOUBLE PRECISION" = extremes, "DECIMAL(65, 30)" = c("0.1", "NULL", "1e34", "-1e-30"),
                                       BIGINT = c("9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL", "2")))
})

test_that("DuckDB's sums have the bits of those in memory, and its rows come as chunks", {
  skip_on_cran()
  driver <- "duckdb" # not among the suggested packages: it builds for an hour
  skip_if_not_installed(driver)
  folder <- test_folder()
  open <- function() DBI::dbConnect(getExportedValue(driver, "duckdb")(), file.path(folder, "records.duckdb"))
  expect_server_sums(open, list("DOUBLE PRECISION" = c(extremes, "'NaN'", "'Infinity'", "'-Infinity'"),
                                HUGEINT = c("170141183460469231731687303715884105727", "NULL", "2"), "DECIMAL(38, 10)" = c("0.1", "NULL"),
                                BIGINT = c("9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL", "2")))
  con <- open()
  table <- data.frame(id = 1:50, a = runif(50), b = runif(50))
  DBI::dbWriteTable(con, "plain", table)
  DBI::dbDisconnect(con, shutdown = TRUE)
  y <- chunk_query(open, "plain", "id", size = 20, shape = euclidean(2))
  expect_identical(y$sizes, c(20, 20, 10))
  expect_identical(frechet_mean(y, euclidean(2)), frechet_mean(chunks(as.matrix(table[2:3]), 20), euclidean(2)))
})
