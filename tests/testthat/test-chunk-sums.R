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
    as.double(unlist(at_file(file.path(folder, "records.sqlite"), DBI::dbGetQuery, sql), use.names = FALSE))
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
  below <- 1 - 2^-53 # times a power of 2: its logarithm rounds to the power's
  x <- c(0, 1, -1, 0.1, -pi, 2^-151, 2^151, 1e100, -1e100, 1e-100, 2^53 + 2, 10^runif(200, -100, 100), 2^(-150:150) * below, -2^(2:60) * below,
         2^(1:60) * (1 + 2^-52))
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
  expect_match(riemdp:::ADDED_UP, "stands still", fixed = TRUE)
  expect_match(riemdp:::ADDED_UP, "no cell of a record makes it fail", fixed = TRUE)
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

test_that("keys cut a table where they should, or are refused before anything is spent", {
  skip_without_sqlite()
  set.seed(8)
  folder <- test_folder()
  keys <- list(double = runif(40), negative = -(1:40) / 3, digits = 1 + (1:40) * 2^-52, large = (1:40) * 1e300, tiny = (1:40) * 1e-300,
               far = 2^53 + (1:40) * 2, thousands = (1:40) * 100000L, text = sprintf("k'%02d", 1:40))
  for (kind in names(keys)) {
    open <- sqlite_of(folder, data.frame(id = keys[[kind]], a = seq(0, 1, length.out = 40)))
    for (size in c(7, 40)) {
      y <- chunk_query(open, "records", "id", size = size, sums = TRUE)
      expect_identical(all_digits(sums_of_chunks(y, 0.1, 1)), all_digits(sums_in_memory(matrix(seq(0, 1, length.out = 40)), 0.1, 1)), label = kind)
      z <- chunk_query(open, "records", "id", size = size, shape = euclidean(1))
      expect_equal(as.vector(frechet_mean(z, euclidean(1))$mean), 0.5, tolerance = 1e-12)
    }
  }
  # SQLite's cells have types of their own, and its driver makes those of a column alike
  mixed <- c("1", "2", "3", "4", "'x5'", "'x6'")
  at_file(file.path(folder, "records.sqlite"), function(con) {
    DBI::dbExecute(con, "CREATE TABLE mixed (id, a REAL)")
    for (k in mixed) DBI::dbExecute(con, sprintf("INSERT INTO mixed VALUES (%s, 0.5)", k))
    DBI::dbExecute(con, "CREATE TABLE whole (id INTEGER, a REAL)")
    for (i in 1:9) DBI::dbExecute(con, sprintf("INSERT INTO whole VALUES (9007199254740992 + %d, 0.5)", i))
  })
  for (sums in c(TRUE, FALSE)) {
    expect_error(expect_silent(chunk_query(open, "mixed", "id", "a", size = 2, sums = sums)), "`key`", class = "riemdp_error_argument")
    expect_identical(chunk_query(open, "mixed", "id", "a", sums = sums)$sizes, 6)
  }
  y <- chunk_query(open, "whole", "id", size = 2, sums = TRUE)
  expect_identical(whole_sums(sums_of_chunks(y, 0, 1)), 9 * 2^50)
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
  for (far in c(1e101, -2^1023, 1e-101, 5e-324)) {
    refused(dp_mean(y, M, 1, c(0, far), 1, mechanism = "tangent", invalid = "center", ledger = ledger))
  }
  refused(chunk_query(open, "records", "id", c(a = "text", b = "number"), sums = TRUE), "argument")
  expect_identical(chunk_query(open, "records", "id", c(a = "number", b = "number"), sums = TRUE)$sizes, 40)
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

test_that("an answer of another shape is refused when the chunks are made", {
  skip_without_sqlite()
  open <- sqlite_of(test_folder(), data.frame(id = 1:40, a = runif(40), b = runif(40)))
  con <- open()
  on.exit(DBI::dbDisconnect(con))
  answer <- riemdp:::answer_of
  expect_identical(answer(con, "SELECT 1 AS a, 2 AS b", 2, 1), data.frame(a = 1L, b = 2L))
  expect_error(answer(con, "SELECT 1 AS a, 2 AS b", 3, 1), class = "riemdp_error_argument")
  expect_error(answer(con, "SELECT 1 AS a UNION ALL SELECT 2", 1, 1), class = "riemdp_error_argument")
  expect_identical(nrow(answer(con, "SELECT 1 AS a UNION ALL SELECT 2", 1)), 2L)
  for (columns in list("nope", c("a", "nope"))) {
    for (sums in c(TRUE, FALSE)) {
      expect_error(chunk_query(open, "records", "id", columns, sums = sums), class = "riemdp_error_argument")
    }
  }
  expect_error(chunk_query(open, "records", "id", character()), class = "riemdp_error_argument")
  expect_error(chunk_query(open, DBI::SQL("SELECT id FROM records"), "id"), class = "riemdp_error_argument")
  # a driver that says NULL, with a warning, of what failed
  here <- environment()
  methods::setClass("riemdp_mute", contains = "DBIConnection", where = here)
  of <- methods::signature("riemdp_mute", "character")
  methods::setMethod(DBI::dbGetQuery, of, function(conn, statement, ...) {
    warning("it failed")
    NULL
  }, where = here)
  methods::setMethod(DBI::dbDisconnect, "riemdp_mute", function(conn, ...) TRUE, where = here)
  on.exit({
    methods::removeMethod(DBI::dbGetQuery, of, where = here)
    methods::removeMethod(DBI::dbDisconnect, "riemdp_mute", where = here)
    methods::removeClass("riemdp_mute", where = here)
  }, add = TRUE)
  mute <- methods::new("riemdp_mute")
  expect_silent(expect_error(answer(mute, "SELECT 1"), class = "riemdp_error_argument"))
  e <- expect_error(chunk_query(function() mute, "records", "id"), class = "riemdp_error_argument")
  expect_no_match(conditionMessage(e), "TRUE/FALSE")
  task <- list(open = function() mute, piece = list(kind = "rows", sql = "SELECT 1", cells = "a"))
  expect_error(suppressWarnings(riemdp:::read_piece(task$piece, task, TRUE)), class = "riemdp_error_chunk")
  expect_error(riemdp:::sums_answer(NULL, 2, 40), class = "riemdp_error_chunk")
})

test_that("sums come as text of whole numbers, all of whose digits count", {
  answer <- function(...) riemdp:::sums_answer(data.frame(...), 1, 7)
  expect_identical(answer(n = "7", h = "-3", l = "12"), cbind(0, 12 - 3 * 2^26))
  for (bad in list("7.5", "1e3", "", " 7", "NaN", "0x10", NA_character_, "12345678901234567")) {
    expect_error(answer(n = "7", h = bad, l = "12"), class = "riemdp_error_chunk")
  }
  expect_error(answer(n = "7", h = 3, l = 12), class = "riemdp_error_chunk") # who rounded to 15 digits isn't known
  expect_error(answer(n = "8", h = "3", l = "12"), class = "riemdp_error_chunk_size")
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

# keys of types: those with which each range holds what it should, one row a chunk, and those that are refused
expect_server_keys <- function(open, good, bad) {
  make <- function(type, keys) {
    con <- open()
    on.exit(DBI::dbDisconnect(con))
    if (DBI::dbExistsTable(con, "riemdp_keys")) DBI::dbExecute(con, "DROP TABLE riemdp_keys")
    DBI::dbExecute(con, sprintf("CREATE TABLE riemdp_keys (id %s, a DOUBLE PRECISION)", type))
    DBI::dbExecute(con, paste("INSERT INTO riemdp_keys VALUES", paste(sprintf("(%s, 0.5)", keys), collapse = ", ")))
  }
  for (type in names(good)) {
    make(type, good[[type]])
    for (sums in c(TRUE, FALSE)) {
      y <- chunk_query(open, "riemdp_keys", "id", "a", size = 1, sums = sums, shape = euclidean(1))
      r <- dp_mean(y, euclidean(1), 1, 0, 1, mechanism = "tangent", invalid = "center")
      expect_identical(r$n, as.double(length(good[[type]])), label = type)
    }
  }
  for (type in names(bad)) {
    make(type, bad[[type]])
    for (sums in c(TRUE, FALSE)) {
      expect_error(suppressWarnings(chunk_query(open, "riemdp_keys", "id", "a", size = 1, sums = sums)), "`key`", class = "riemdp_error_argument")
      # in one chunk there is nothing to cut
      expect_identical(chunk_query(open, "riemdp_keys", "id", "a", size = 10, sums = sums)$sizes, as.double(length(bad[[type]])))
    }
  }
}

# value of expr, without what a driver writes to the terminal
unsaid <- function(expr) {
  utils::capture.output(value <- suppressWarnings(expr), type = "message")
  value
}

extremes <- c("1.5e308", "-1.5e308", "1e151", "5e-324", "1e-200", "-1e-170", "0.1", "NULL", "0", "1e160")

test_that("PostgreSQL's sums have the bits of those in memory", {
  server <- postgres_start()
  on.exit(postgres_stop(server))
  expect_server_sums(server$open, list("DOUBLE PRECISION" = c(extremes, "'NaN'", "'Infinity'", "'-Infinity'"),
                                       NUMERIC = c("1e400", "-1e400", "1e-400", "'NaN'", "0.1", "NULL", "1e155"),
                                       BIGINT = c("9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL", "2")))
  # sessions that write doubles with fewer digits than they have
  server$query("CREATE TABLE riemdp_digits (id INTEGER PRIMARY KEY, a DOUBLE PRECISION)",
               "INSERT INTO riemdp_digits SELECT i, 5.0 FROM generate_series(1, 1938) i")
  for (digits in c(-15, -12, 0, 1)) {
    open <- function() {
      con <- server$open()
      DBI::dbExecute(con, sprintf("SET extra_float_digits = %d", digits))
      con
    }
    y <- chunk_query(open, "riemdp_digits", "id", sums = TRUE)
    expect_identical(y$sizes, 1938)
    server$query("UPDATE riemdp_digits SET a = 5 WHERE id = 7")
    a <- sums_of_chunks(y, 0, 1)
    expect_identical(all_digits(a), all_digits(sums_in_memory(matrix(5, 1938), 0, 1)))
    server$query("UPDATE riemdp_digits SET a = -5 WHERE id = 7")
    expect_lte(abs(whole_sums(a - sums_of_chunks(y, 0, 1))), 2 * 2^51)
  }
  # what a driver answers with NULL
  server$query("CREATE TABLE riemdp_ids (id INTEGER PRIMARY KEY, a OID, t TEXT)", "INSERT INTO riemdp_ids VALUES (1, 1, 'x')")
  open <- server$open
  refused <- function(expr) expect_error(expr, class = "riemdp_error_argument")
  unsaid(refused(chunk_query(open, "riemdp_ids", "id", "a", sums = TRUE)))
  for (sums in c(TRUE, FALSE)) {
    unsaid(refused(chunk_query(open, "riemdp_ids", "id", "nope", sums = sums)))
    e <- unsaid(refused(chunk_query(open, "riemdp_none", "id", sums = sums)))
    expect_no_match(conditionMessage(e), "TRUE/FALSE")
    unsaid(refused(chunk_query(open, "riemdp_ids", "nope", sums = sums)))
  }
  # what a driver says of a cell, beside R's conditions
  server$query("CREATE VIEW riemdp_view AS SELECT id, CAST(t AS DOUBLE PRECISION) AS a FROM riemdp_ids", "UPDATE riemdp_ids SET t = '0.5'")
  for (sums in c(TRUE, FALSE)) {
    y <- chunk_query(open, "riemdp_view", "id", sums = sums, shape = euclidean(1))
    server$query("UPDATE riemdp_ids SET t = 'secret'")
    said <- utils::capture.output(type = "message", {
      expect_error(dp_mean(y, euclidean(1), 1, 0, 1, mechanism = "tangent", invalid = "center"), class = "riemdp_error_chunk")
    })
    expect_identical(said, character())
    server$query("UPDATE riemdp_ids SET t = '0.5'")
  }
  doubles <- c("0.1", "0.30000000000000004", "0.7")
  close <- c("0.12345678901234567890", "0.12345678901234567891", "1")
  expect_server_keys(open, list(TEXT = c("'it''s'", "'a\\''b'", "'b\\'"), BIGINT = c("1", "9007199254740992", "9007199254740994"),
                                DATE = c("'2020-01-01'", "'2020-02-01'"), "DOUBLE PRECISION" = doubles, NUMERIC = doubles,
                                UUID = c("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'")),
                     list(NUMERIC = close, TIMESTAMP = c("'2020-01-01 00:00:00.123456'", "'2020-01-01 00:00:00.123457'", "'2020-01-02'")))
})

test_that("MariaDB's sums have the bits of those in memory", {
  server <- mariadb_start()
  on.exit(server$stop())
  expect_server_sums(server$open, list("DOUBLE PRECISION" = extremes, "DECIMAL(65, 30)" = c("0.1", "NULL", "1e34", "-1e-30"),
                                       BIGINT = c("9223372036854775807", "-9223372036854775808", "9007199254740993", "NULL", "2")))
  for (driver in server$drivers) {
    open <- function() server$open(driver)
    doubles <- c("0.1", "0.30000000000000004", "0.7")
    close <- c("0.12345678901234567890", "0.12345678901234567891", "1")
    expect_server_keys(open, list("VARCHAR(9)" = c("'a'", "'\\\\'", "'b\\\\'"), BIGINT = c("1", "9007199254740992", "9007199254740994"),
                                  DATE = c("'2020-01-01'", "'2020-02-01'"), DOUBLE = doubles, "DECIMAL(30, 20)" = doubles),
                       list("DECIMAL(30, 20)" = close, "ENUM('z', 'a', 'm')" = c("'z'", "'a'", "'m'")))
    expect_error(chunk_query(open, "riemdp_none", "id", sums = TRUE), class = "riemdp_error_argument")
  }
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
