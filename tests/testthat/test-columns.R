# Columns of tables: what one record's cells make of the others', from the file to the sums that are paid for.

# sufficient statistics of dp_lm() over chunks, and the K-norm of their difference that the noise pays for (proven: at most 1)
moments <- function(source, formula, bounds) {
  spec <- riemdp:::linear_terms(formula)
  public <- riemdp:::linear_bounds(spec, bounds)
  riemdp:::linear_moments(riemdp:::linear_chunks(source, spec, riemdp:::linear_columns(spec, public), public, riemdp:::REACH)$x)
}
k_norm <- function(a, b) {
  d <- nrow(a$xx) - 1
  width <- riemdp:::statistic_widths(d)
  square <- (a$xx - b$xx)[-1, -1, drop = FALSE]
  max(abs(a$xx[1, -1] - b$xx[1, -1]) / width$u, abs(square[lower.tri(square, TRUE)]) / width$uu,
      sqrt(rowSums((a$xy - b$xy)^2)) / (2 * riemdp:::REACH))
}

# sum of clipped gradients of dp_regression() at its first step
clipped_sum <- function(source, formula, M, center, bounds, tau) {
  r <- riemdp:::regression_records(formula, M, source, bounds, globalenv())
  ask <- riemdp:::regression_ask(M, r$n, 1, center, 0.4, 1.5, 0.1, r$spec$columns, 1e-6, "gradient")
  state <- list(p = ask$center, v = matrix(0, ask$q, ask$k))
  riemdp:::clipped_gradient(riemdp:::step_records(M, state, r$x, r$y, ask), tau)
}

csv_of <- function(folder, frame, name, cells = list()) {
  frame[] <- lapply(frame, function(column) if (is.numeric(column)) format(column, digits = 17, trim = TRUE) else column)
  for (one in cells) frame[one[[1]], one[[2]]] <- one[[3]]
  path <- file.path(folder, name)
  utils::write.csv(frame, path, row.names = FALSE)
  path
}

test_that("one cell of text moves the statistics by one record", {
  folder <- test_folder()
  set.seed(1)
  frame <- data.frame(x = runif(200, -1, 1), y = rnorm(200))
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  whole <- moments(chunk_files(csv_of(folder, frame, "0.csv")), y ~ x, bounds)
  for (cell in list(list(7, "x", "unknown"), list(7, "y", "unknown"), list(7, "x", "1,5"), list(200, "y", "\"\""), list(1, "x", "1e999"))) {
    other <- chunk_files(csv_of(folder, frame, "1.csv", list(cell)))
    expect_lte(k_norm(whole, moments(other, y ~ x, bounds)), 1)
    expect_equal(moments(other, y ~ x, bounds), moments(chunks(frame[-cell[[1]], ]), y ~ x, bounds), tolerance = 1e-12)
  }
})

test_that("a chunk in which all cells of a text column look like another type keeps its records", {
  folder <- test_folder()
  set.seed(1)
  for (word in c("F", "T", "1", "NA", "1e3")) {
    frame <- data.frame(sex = rep(word, 200), y = rnorm(200))
    bounds <- list(sex = c(word, "M"), y = c(center = 0, scale = 1))
    one <- moments(chunk_files(csv_of(folder, frame, "0.csv")), y ~ sex, bounds)
    two <- moments(chunk_files(csv_of(folder, frame, "1.csv", list(list(3, "sex", "M")))), y ~ sex, bounds)
    expect_identical(one$xx[1, 1], 200)
    expect_lte(k_norm(one, two), 1)
  }
})

test_that("one cell of text moves a clipped sum of responses by one record", {
  folder <- test_folder()
  set.seed(1)
  M <- sphere(2)
  frame <- data.frame(x = runif(200))
  frame[c("a", "b", "c")] <- mf_exp(M, c(0, 0, 1), outer(frame$x - 0.5, c(0.8, 0.2, 0)))
  sums <- function(...) clipped_sum(chunk_files(csv_of(folder, frame, "0.csv", list(...))), cbind(a, b, c) ~ x, M, c(0, 0, 1), c(0, 1), 0.3)
  whole <- sums()
  for (cell in list(list(5, "x", "unknown"), list(5, "b", "unknown"), list(9, "c", "1e999"))) {
    expect_lte(max(sqrt(colSums((sums(cell) - whole)^2))), 2 * 0.3)
  }
})

test_that("text becomes a number by a fixed grammar", {
  number <- riemdp:::text_numbers
  expect_identical(number(c(" 1 ", "1e3", "+.5", "-5.", "1E-2", "\t7", "0", "-0", "00012")), c(1, 1000, 0.5, -5, 0.01, 7, 0, 0, 12))
  expect_identical(number(c("TRUE", "T", "true", "True", "FALSE", "F", "false", "False")), rep(c(1, 0), each = 4))
  none <- c("0x1p3", "0x10", "1,5", "1 000", "1_000", "Inf", "-inf", "NaN", "NA", "", " ", "-", ".", "e3", "1e", "1e3.5", "1d3", "1L", "1%", "1.2.3", "--1",
            "1e999", "1i", "\u0661", "\uff11", "1\u00a0", "\u22121", "tRUE", " TRUE", "1\r", "1\n", strrep("1", 500), NA)
  expect_identical(number(none), rep(NA_real_, length(none)))
  # cell by cell, in whatever company
  all <- c(none, "1", "bytes\xff", "2")
  expect_identical(number(all), vapply(all, number, 0, USE.NAMES = FALSE))
  # a number has the text of its value, however it is stored
  text <- riemdp:::text_cells
  expect_identical(text(c(1e5, 0.1, -0, 1e15, NA, 1 / 3)), c("100000", "0.1", "0", "1000000000000000", NA, "0.333333333333333"))
  expect_identical(text(100000L), "100000")
})

test_that("a cell counts the same whatever class its column has", {
  day <- as.Date("2024-01-31")
  moment <- as.POSIXct("2024-01-31 12:00:00", tz = "Asia/Tokyo")
  labelled <- structure(c(1, 2), labels = c(yes = 1), class = c("haven_labelled", "vctrs_vctr", "double"))
  tagged <- structure(c(1, NA), class = "made_up")
  whole <- structure(c(4.94065645841247e-324, NaN)[c(1, 1)], class = "integer64") # the bits of 1
  cases <- list(
    list(c(1, NA), c(1, NA), c("1", NA)), list(c(1L, NA), c(1, NA), c("1", NA)), list(c(TRUE, FALSE), c(1, 0), c("TRUE", "FALSE")),
    list(c("1", "x"), c(1, NA), c("1", "x")), list(factor(c("3", "x", "3")), c(3, NA, 3), c("3", "x", "3")),
    list(factor(c("7", "5"), levels = c("7", "6", "5"), ordered = TRUE), c(7, 5), c("7", "5")),
    list(list(1, "2", "x", NULL, 1:2, factor("4"), list(1), mean), c(1, 2, NA, NA, NA, 4, NA, NA), c("1", "2", "x", NA, NA, "4", NA, NA)),
    list(I(list(1L, raw(1))), c(1, NA), c("1", NA)), list(c(1i, 2), c(NA_real_, NA), c(NA_character_, NA)),
    list(as.raw(1:2), c(NA_real_, NA), c(NA_character_, NA)), list(day, 19753, "2024-01-31"), list(moment, 1706670000, "2024-01-31 03:00:00"),
    list(as.POSIXlt(moment), 1706670000, "2024-01-31 03:00:00"), list(as.difftime(90, units = "mins"), 5400, "5400"), list(whole, c(1, 1), c("1", "1")),
    list(labelled, c(1, 2), c("1", "2")), list(tagged, c(1, NA), c("1", NA)), list(I(3), 3, "3"), list(structure(5L, class = "ITime"), 5, "5")
  )
  for (case in cases) {
    expect_identical(riemdp:::number_cells(case[[1]]), case[[2]])
    expect_identical(riemdp:::text_cells(case[[1]]), case[[3]])
  }
  skip_if_not_installed("bit64")
  many <- c("-9007199254740992", "-1", "0", "1", "2147483648", "4294967295", "4294967296", "1000000000000000", NA)
  expect_identical(riemdp:::number_cells(bit64::as.integer64(many)), as.double(many))
})

test_that("text is UTF-8, whatever encoding its neighbours declare", {
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  bytes <- "caf\xe9"
  Encoding(bytes) <- "bytes"
  cells <- c("caf\u00e9", latin, bytes, "caf\xe9", "a")
  expect_identical(riemdp:::text_cells(cells), c("caf\u00e9", "caf\u00e9", NA, NA, "a"))
  bounds <- list(g = c("caf\u00e9", "a"), y = c(center = 0, scale = 1))
  frame <- data.frame(g = rep(c("caf\u00e9", "a"), 10), y = 1:20)
  whole <- moments(chunks(frame), y ~ g, bounds)
  for (cell in cells) {
    frame$g[2] <- cell
    expect_lte(k_norm(whole, moments(chunks(frame), y ~ g, bounds)), 1)
  }
})

# lines of a CSV file as they come, with the bytes of one line replaced
lines_of <- function(folder, lines, at = NULL, bytes = NULL) {
  path <- file.path(folder, "lines.csv")
  all <- lapply(lines, charToRaw)
  if (!is.null(at)) all[[at]] <- bytes
  writeBin(unlist(lapply(all, function(line) c(line, as.raw(10)))), path)
  path
}
nasty_lines <- lapply(list("", ",", "1,2,3,4,5", "\"", "\"\"\"", "1,\"", "\"1,b", "1,\"b\"x\"", "1,b,", ",,,", "1;b", "\t", "\"1\",\"b\"", " 1 ,b",
                           "unknown,zzz", "1,b\r", "\r", "1\r2,b", "NA,NA", "1,\"a,b\"", "1,'b", "#", "\\", "1,b\\", strrep("9", 1e5), strrep(",", 1e4),
                           strrep("\"", 1001)), charToRaw)
nasty_lines <- c(nasty_lines, list(as.raw(c(0x31, 0x2c, 0x00, 0x62)), as.raw(0), as.raw(c(0x31, 0x2c, 0xff)), as.raw(c(0xef, 0xbb, 0xbf, 0x31, 0x2c, 0x62)),
                                   as.raw(c(0x31, 0x2c, 0xe9)), as.raw(c(0xff, 0xfe, 0x31, 0x00)), raw()))

test_that("a line is a record: none swallows, shifts or hides another", {
  folder <- test_folder()
  set.seed(2)
  lines <- c("x,g", sprintf("%.6f,%s", runif(30), rep(c("a", "\"b\"", "\"a,b\""), 10)))
  whole <- riemdp:::read_csv(lines_of(folder, lines))
  expect_identical(dim(whole), c(30L, 2L))
  expect_identical(whole$g, rep(c("a", "b", "a,b"), 10))
  for (bytes in nasty_lines) for (at in if (quick()) sample(2:31, 1) else c(2, 17, 31)) {
    other <- riemdp:::read_csv(lines_of(folder, lines, at, bytes))
    expect_identical(dim(other), c(30L, 2L))
    expect_identical(as.list(other[-(at - 1), ]), as.list(whole[-(at - 1), ]))
  }
  # what is in such a line: all or nothing
  cells <- function(line) unlist(riemdp:::read_csv(lines_of(folder, c("x,g", line)))[1, ], use.names = FALSE)
  for (line in c("", "1", "1,2,3", "1,\"b", "\"1,b")) expect_identical(cells(line), c(NA_character_, NA))
  expect_identical(cells("1,\"a \"\"b\"\"\""), c("1", "a \"b\""))
  expect_identical(cells(" 1 , b"), c(" 1 ", " b"))
  expect_identical(cells("1,"), c("1", ""))
  # an end of line at the end of the file, a mark of byte order, ends of two characters and compression make no difference
  path <- file.path(folder, "other.csv")
  plain <- readBin(lines_of(folder, lines), "raw", 1e4)
  for (bytes in list(plain[-length(plain)], c(as.raw(c(0xef, 0xbb, 0xbf)), plain), charToRaw(gsub("\n", "\r\n", rawToChar(plain))),
                     memCompress(plain, "gzip"))) {
    if (identical(bytes, memCompress(plain, "gzip"))) {
      file <- gzfile(path, "wb")
      writeBin(plain, file)
      close(file)
    } else {
      writeBin(bytes, path)
    }
    expect_identical(riemdp:::read_csv(path), whole)
  }
  expect_error(riemdp:::read_csv(lines_of(folder, "\"x,g")), class = "riemdp_error_shape")
})

test_that("nasty lines move private fits over files by one record, and nothing that is said", {
  folder <- test_folder()
  set.seed(3)
  lines <- c("x,g", sprintf("%.6f,%s", runif(40), rep(c("a", "b"), 20)))
  bounds <- list(g = c("a", "b"), x = c(center = 0.5, scale = 0.3))
  whole <- moments(chunk_files(lines_of(folder, lines)), x ~ g, bounds)
  told <- function() {
    r <- dp_lm(x ~ g, chunk_files(file.path(folder, "lines.csv")), 1, bounds = bounds, method = "statistics")
    r <- unclass(r)
    r$details <- NULL
    r[setdiff(names(r), c("value", "scaled_coefficients"))]
  }
  said <- told()
  for (bytes in nasty_lines) {
    path <- lines_of(folder, lines, sample(2:41, 1), bytes)
    expect_lte(k_norm(whole, moments(chunk_files(path), x ~ g, bounds)), 1)
    expect_identical(told(), said)
  }
})

test_that("cells of a database keep types of their own", {
  skip_if_not_installed("RSQLite")
  folder <- test_folder()
  path <- file.path(folder, "records.sqlite")
  open <- function() DBI::dbConnect(RSQLite::SQLite(), path)
  set.seed(4)
  x <- runif(40, -1, 1)
  run <- function(...) {
    connection <- open()
    on.exit(DBI::dbDisconnect(connection))
    for (sql in list(...)) DBI::dbExecute(connection, sql)
  }
  run("CREATE TABLE records (id INTEGER PRIMARY KEY, x, g, y)",
      sprintf("INSERT INTO records VALUES %s", paste(sprintf("(%d, %.17g, '%s', %.17g)", 1:40, x, rep(c("a", "1"), 20), rev(x)), collapse = ", ")))
  source <- function() chunk_query(open, "records", "id", size = 15)
  bounds <- list(x = c(-1, 1), g = c("a", "1"), y = c(center = 0, scale = 1))
  whole <- moments(source(), y ~ x + g, bounds)
  expect_equal(whole, moments(chunks(data.frame(x = x, g = rep(c("a", "1"), 20), y = rev(x))), y ~ x + g, bounds), tolerance = 1e-15)
  for (cell in c("'unknown'", "NULL", "''", "'0.25'", "9223372036854775807", "1e400", "x'00ff'", "CAST(x'610062' AS TEXT)", "CAST(x'ff' AS TEXT)", "'1e3'",
                 "1")) {
    for (column in c("x", "g", "y")) for (id in if (quick()) sample(40, 1) else c(1, 16, 40)) {
      run(sprintf("CREATE TABLE kept AS SELECT * FROM records WHERE id = %d", id), sprintf("UPDATE records SET %s = %s WHERE id = %d", column, cell, id))
      expect_lte(k_norm(whole, moments(source(), y ~ x + g, bounds)), 1)
      run(sprintf("DELETE FROM records WHERE id = %d", id), "INSERT INTO records SELECT * FROM kept", "DROP TABLE kept")
    }
  }
  expect_identical(moments(source(), y ~ x + g, bounds), whole)
  # a whole number in a text column is its digits, and text in a number's place is read
  run("UPDATE records SET g = 1 WHERE g = '1'", "UPDATE records SET x = '0.5' WHERE id = 3")
  typed <- riemdp:::typed_table(riemdp:::read_piece(source()$pieces[[1]], source(), TRUE), c(x = "number", g = "text"))
  expect_identical(typed$g, rep_len(c("a", "1"), 15))
  expect_identical(typed$x, c(x[1:2], 0.5, x[4:15]))
  # plain calls see what they did
  expect_identical(class(riemdp:::read_piece(source()$pieces[[2]], source(), FALSE)$y), "numeric")
})

test_that("a Parquet file has types of its own, and a column the same in all of them", {
  skip_if_not_installed("nanoparquet")
  folder <- test_folder()
  set.seed(7)
  base <- data.frame(x = sample(0:1, 40, TRUE), g = sample(c("0", "1"), 40, TRUE), y = sample(-3:3, 40, TRUE))
  bounds <- list(x = c(0, 1), g = c("0", "1"), y = c(center = 0, scale = 1))
  forms <- list(
    function(d) d, function(d) transform(d, x = x == 1, y = as.double(y)), function(d) transform(d, x = as.character(x), g = as.integer(g)),
    function(d) transform(d, x = factor(x), g = factor(g), y = as.character(y))
  )
  paths <- file.path(folder, sprintf("%d.parquet", 1:4))
  for (i in 1:4) nanoparquet::write_parquet(forms[[i]](base[10 * (i - 1) + 1:10, ]), paths[i])
  expect_identical(moments(chunk_files(paths), y ~ x + g, bounds), moments(chunks(base), y ~ x + g, bounds))
})

test_that("tables of a reader in code get the same conversion, whatever class a column has in a chunk", {
  set.seed(5)
  n <- 60
  base <- data.frame(x = sample(-3:3, n, TRUE), g = sample(c("a", "b"), n, TRUE), y = round(rnorm(n), 3))
  bounds <- list(x = c(-3, 3), g = c("a", "b"), y = c(center = 0, scale = 1))
  whole <- moments(chunks(base), y ~ x + g, bounds)
  forms <- list(
    function(d) transform(d, x = as.character(x)), function(d) transform(d, x = factor(x), y = factor(y)),
    function(d) transform(d, g = factor(g, levels = c("b", "z", "a"))), function(d) transform(d, x = as.double(x), extra = 1), function(d) d[c("y", "g", "x")],
    function(d) structure(d, class = c("tbl_df", "tbl", "data.frame")), function(d) within(d, x <- as.list(x)), function(d) within(d, g <- I(as.list(g))),
    function(d) within(d, x <- structure(x, class = "made_up", labels = 1)),
    function(d) `rownames<-`(d, paste("row", seq_len(nrow(d)))), function(d) within(d, x <- as.difftime(x / 60, units = "mins")),
    function(d) structure(d, class = c("data.table", "data.frame"))
  )
  reader <- function(path) {
    i <- as.integer(sub("[.]own", "", basename(path)))
    forms[[(i - 1) %% length(forms) + 1]](base[1:5 + 5 * (i - 1), ])
  }
  folder <- test_folder()
  paths <- file.path(folder, sprintf("%d.own", 1:12))
  file.create(paths)
  source <- chunk_files(paths, reader, sizes = rep(5, 12))
  expect_identical(moments(source, y ~ x + g, bounds), whole)
  expect_match(guarantee(dp_lm(y ~ x, source, 1, bounds = bounds[c("x", "y")]))$assumptions, "`reader`", all = FALSE)
  expect_no_match(guarantee(dp_lm(y ~ x, chunks(base, 9), 1, bounds = bounds[c("x", "y")]))$assumptions, "reader")
  # a column that a reader leaves out has no cell there; one that no chunk has isn't in the formula's reach
  lacking <- function(path) if (grepl("^3", basename(path))) reader(path)[c("g", "y")] else reader(path)
  some <- base
  some$x[11:15] <- NA
  expect_identical(moments(chunk_files(paths, lacking, sizes = rep(5, 12)), y ~ x + g, bounds), moments(chunks(some), y ~ x + g, bounds))
  expect_error(dp_lm(y ~ z, source, 1, bounds = list(z = c(0, 1), y = c(0, 1))), "`z` is no column", class = "riemdp_error_argument")
})

test_that("whatever a reader raises, and in whichever chunk, the same is said", {
  folder <- test_folder()
  paths <- file.path(folder, sprintf("%d.own", 1:3))
  file.create(paths)
  frame <- data.frame(x = runif(6), y = runif(6))
  bounds <- list(x = c(0, 1), y = c(center = 0, scale = 1))
  bad <- list(function() stop("secret 0.8123456"), function() NULL, function() 1:3, function() list(1), function() frame["x"][0, , drop = FALSE],
              function() "text", function() quote(x),
              function() stop(structure(class = c("riemdp_error_shape", "riemdp_error", "error", "condition"), list(message = "x", call = NULL))),
              function() data.frame(x = 1:2, y = I(matrix(1, 2, 2))), function() 1:2, function() matrix(1:4, 2), function() list(x = 1:2, y = 1:2))
  texts <- character()
  for (i in 1:3) for (fail in bad) {
    source <- chunk_files(paths, function(path) if (basename(path) == sprintf("%d.own", i)) fail() else frame[1:2, ], sizes = c(2, 2, 2))
    e <- expect_error(dp_lm(y ~ x, source, 1, bounds = bounds), class = "riemdp_error_chunk")
    texts <- c(texts, conditionMessage(e))
  }
  expect_identical(unique(texts), riemdp:::UNREADABLE)
})

test_that("names and types of columns are public: what is declared, and what lacks", {
  folder <- test_folder()
  frame <- data.frame(a = c(1, 0.6), b = c(0, 0.8), name = c("u", "v"))
  utils::write.csv(frame, file.path(folder, "1.csv"), row.names = FALSE)
  utils::write.csv(frame[c("name", "b", "a")], file.path(folder, "2.csv"), row.names = FALSE)
  paths <- file.path(folder, c("1.csv", "2.csv"))
  # declared columns, in the order of their declaration, make the points
  source <- chunk_files(paths, shape = sphere(1), columns = c(a = "number", b = "number"))
  expect_identical(frechet_mean(source, sphere(1))$mean, frechet_mean(chunks(as.matrix(frame[c(1, 2, 1, 2), 1:2])), sphere(1))$mean)
  expect_identical(with_simulation(1, dp_mean(source, sphere(1), 1, c(1, 0), 0.5))$value,
                   with_simulation(1, dp_mean(unname(as.matrix(frame[c(1, 2, 1, 2), 1:2])), sphere(1), 1, c(1, 0), 0.5))$value)
  utils::write.csv(frame["a"], file.path(folder, "2.csv"), row.names = FALSE)
  e <- expect_error(dp_lm(a ~ b, chunk_files(paths), 1, bounds = list(a = c(0, 1), b = c(0, 1))), "no column `b`", class = "riemdp_error_chunk")
  expect_error(chunk_files(paths, columns = c(a = "numeric")), class = "riemdp_error_argument")
  expect_error(chunk_files(paths, columns = c("number", "text")), class = "riemdp_error_argument")
  # a function of one's own sees declared types, and none else in private calls
  own <- problem(NULL, function(w, z) w - z[["a"]], euclidean(1))
  ask <- function(...) dp_optimize(own, chunk_files(paths, ...), 1, 1e-6, start = 0, clip = 1, lr = 1, steps = 2)
  expect_error(ask(), "needs `columns`", class = "riemdp_error_chunk")
  expect_error(ask(shape = function(d) d), "needs `columns`", class = "riemdp_error_chunk")
  expect_identical(ask(columns = c(a = "number"))$n, 4)
  expect_match(guarantee(ask(shape = function(d) d, columns = c(a = "number")))$assumptions, "`shape`", all = FALSE)
})

test_that("a cell of a list may have any class, and is missing where that can't be read, without a word", {
  strange <- list(structure(1L, class = "factor", levels = function(x) x), structure(1, riemdp_text = quote(z)), structure(1, riemdp_text = 2),
                  structure("abc", class = "integer64"), structure(1i, class = "integer64"), structure("abc", class = "difftime", units = "secs"),
                  structure("1", riemdp_text = c("a", "b")), structure("abc", class = "Date"), structure("abc", class = c("POSIXct", "POSIXt")),
                  structure(2, class = "riemdp_no_length"), structure(list(1), class = "AsIs"), quote(x), NULL, sum, as.raw(1))
  length_stops <- function(x) stop("never asked")
  registerS3method("length", "riemdp_no_length", length_stops, envir = environment())
  for (cell in strange) {
    column <- list("1", 2, TRUE)
    column[2] <- list(cell)
    for (type in c("number", "text")) {
      found <- expect_silent(riemdp:::column_cells(column, type))
      expect_identical(found[c(1, 3)], if (type == "number") c(1, 1) else c("1", "TRUE"))
      expect_identical(typeof(found), if (type == "number") "double" else "character")
    }
  }
  # a whole column whose class is for numbers, over text
  for (class in list("Date", c("POSIXct", "POSIXt"), "difftime", "integer64")) {
    x <- structure(c("1", "a"), class = class, units = "secs")
    expect_identical(expect_silent(riemdp:::text_cells(x)), c(NA_character_, NA))
    if (!class[1] %in% c("Date", "POSIXct")) expect_identical(expect_silent(riemdp:::number_cells(x)), c(NA_real_, NA))
  }
})

test_that("a factor's code without a label, and a truth value that is stored as another number, are cells like others", {
  five <- function(code) structure(c(1L, 2L, code, 1L, 2L), levels = c("1", "2.5"), class = "factor")
  for (code in c(0L, -1L, 3L, NA, -.Machine$integer.max)) {
    expect_identical(expect_silent(riemdp:::number_cells(five(code))), c(1, 2.5, NA, 1, 2.5), label = code)
    expect_identical(expect_silent(riemdp:::text_cells(five(code))), c("1", "2.5", NA, "1", "2.5"), label = code)
    # whose records they are, of which group, and of which part
    expect_identical(riemdp:::read_units(five(code), 1:5)$of, c(1L, 2L, NA, 1L, 2L), label = code)
    expect_identical(riemdp:::read_groups(five(code), NULL, 1:5)$of, c(1L, 2L, NA, 1L, 2L), label = code)
    e <- expect_error(ledger_part("1", five(code)), "not every record", class = "riemdp_error_argument")
    frame <- data.frame(y = 1:5)
    frame$who <- five(code)
    expect_identical(riemdp:::read_units("who", chunks(frame, 2))$of, c(1L, 2L, NA, 1L, 2L), ignore_attr = TRUE, label = code)
  }
  for (stored in c(-1L, 2L, 5L)) {
    truth <- readBin(writeBin(c(1L, 0L, stored, NA), raw()), "logical", 4)
    expect_identical(riemdp:::text_cells(truth), c("TRUE", "FALSE", "TRUE", NA), label = stored)
    expect_identical(riemdp:::number_cells(truth), c(1, 0, 1, NA), label = stored)
    expect_identical(riemdp:::read_groups(truth, NULL, 1:4)$of, c(2L, 1L, 2L, NA), label = stored)
    expect_identical(riemdp:::cells_in_type(truth, ""), c(TRUE, FALSE, TRUE, NA), label = stored)
  }
  # what is read has a cell for each that was there
  longer <- structure(c(1, 2), riemdp_text = c("a", "b", "c"))
  expect_identical(riemdp:::number_cells(longer), c(NA_real_, NA))
  expect_identical(riemdp:::text_cells(longer), c(NA_character_, NA))
})

test_that("a table in memory is read cell by cell in private calls", {
  set.seed(6)
  frame <- data.frame(a = rnorm(30), b = rnorm(30))
  text <- frame
  text$a <- format(frame$a, digits = 17)
  text$a[4] <- "unknown"
  missing <- frame
  missing$a[4] <- NA
  forms <- list(text, within(missing, a <- as.list(a)), within(text, a <- factor(a)), cbind(a = text$a, b = sprintf("%.17g", text$b)),
                structure(missing, class = c("tbl_df", "tbl", "data.frame")))
  run <- list(
    function(x) dp_mean(x, euclidean(2), 1, c(0, 0), 2, invalid = "center"),
    function(x) dp_optimize(problem_huber(euclidean(2), 1), x, 1, 1e-6, start = c(0, 0), steps = 2),
    function(x) dp_pca(x, 1, 1, 1e-6, bound = 2, steps = 2)
  )
  for (f in run) {
    whole <- with_simulation(1, f(missing))
    for (form in forms) expect_equal(with_simulation(1, f(form))$value, whole$value, tolerance = 1e-12)
    expect_equal(with_simulation(1, f(chunks(text, 7)))$value, whole$value, tolerance = 1e-9)
  }
  expect_error(dp_mean(text, euclidean(2), 1, c(0, 0), 2), "record 4", class = "riemdp_error_not_finite") # the curator's check
  fit <- function(data) with_simulation(1, dp_lm(b ~ a, data, 1, bounds = list(a = c(-2, 2), b = c(center = 0, scale = 1))))$value
  curve <- function(data) with_simulation(1, dp_regression(cbind(a, b) ~ a, euclidean(2), data, 1, c(0, 0), 1, 1, 1, c(-2, 2), invalid = "ignore"))$value
  for (form in forms[-4]) {
    expect_equal(fit(form), fit(missing), tolerance = 1e-12)
    expect_equal(curve(form), curve(missing), tolerance = 1e-12)
  }
  # plain functions say what is wrong
  expect_error(frechet_mean(text, euclidean(2)), class = "riemdp_error_shape")
})
