test_that("files of every kind hold the same records", {
  folder <- test_folder()
  M <- spd(2)
  x <- wishart_spd[, , 1:60]
  rows <- as.data.frame(t(matrix(x, 4)))
  part <- rep(1:3, each = 20)
  whole <- frechet_mean(chunks(x, 20), M)
  for (i in 1:3) {
    saveRDS(x[, , part == i], file.path(folder, sprintf("%d.rds", i)))
    write.csv(format(rows[part == i, ], digits = 17), file.path(folder, sprintf("%d.csv", i)), row.names = FALSE, quote = FALSE)
  }
  rds <- chunk_files(file.path(folder, sprintf("%d.rds", 1:3)))
  expect_identical(rds$sizes, c(20, 20, 20))
  expect_identical(frechet_mean(rds, M), whole)
  csv <- chunk_files(file.path(folder, sprintf("%d.csv", 1:3)), shape = M)
  expect_identical(frechet_mean(csv, M), whole)
  own <- chunk_files(file.path(folder, sprintf("%d.csv", 1:3)), shape = M, sizes = c(20, 20, 20),
                     reader = function(path) read.csv(path, colClasses = "numeric"))
  expect_identical(frechet_mean(own, M), whole)
  # it survives a file
  saveRDS(own, file.path(folder, "source.rds"))
  expect_identical(frechet_mean(readRDS(file.path(folder, "source.rds")), M), whole)
  expect_error(chunk_files(file.path(folder, "none.rds")), class = "riemdp_error_argument")
  expect_error(chunk_files(c(file.path(folder, "1.rds"), file.path(folder, "1.csv"))), class = "riemdp_error_argument")

  skip_if_not_installed("nanoparquet")
  for (i in 1:3) nanoparquet::write_parquet(rows[part == i, ], file.path(folder, sprintf("%d.parquet", i)))
  parquet <- chunk_files(file.path(folder, sprintf("%d.parquet", 1:3)), shape = M)
  expect_identical(frechet_mean(parquet, M), whole)
})

test_that("an Arrow dataset's files are chunks, and Arrow reads their columns", {
  reader <- "arrow" # not among the suggested packages: it builds for half an hour
  skip_if_not_installed(reader)
  of <- function(name) getExportedValue(reader, name)
  folder <- test_folder()
  M <- spd(2)
  x <- wishart_spd[, , 1:60]
  table <- data.frame(year = rep(2021:2023, each = 20), site = "n", a = x[1, 1, ], b = x[2, 1, ], c = x[2, 2, ])
  of("write_dataset")(table, folder, partitioning = "year")
  visits <- of("open_dataset")(folder)
  expect_identical(visits$num_rows, 60L)
  y <- chunk_files(visits$files, shape = M, reader = function(path) {
    as.data.frame(getExportedValue("arrow", "read_parquet")(path, col_select = c("a", "b", "c")))
  })
  expect_identical(y$sizes, c(20, 20, 20))
  expect_identical(frechet_mean(y, M), frechet_mean(chunks(x, 20), M))
  released <- function(x) with_simulation(1, dp_mean(x, M, 1, diag(2), 2))$value
  expect_identical(released(y), released(chunks(x, 20)))
})

test_that("rows of a database come by ranges of their key", {
  skip_if_not_installed("RSQLite")
  folder <- test_folder()
  path <- file.path(folder, "records.sqlite")
  set.seed(1)
  x <- mf_random(sphere(2), 101)
  table <- data.frame(id = sample(1e6, 101), a = x[, 1], b = x[, 2], c = x[, 3], name = "n")
  table <- table[order(table$id), ]
  connection <- DBI::dbConnect(RSQLite::SQLite(), path)
  DBI::dbWriteTable(connection, "odd name", table[sample(101), ])
  DBI::dbDisconnect(connection)
  open <- function() DBI::dbConnect(RSQLite::SQLite(), path)
  M <- sphere(2)
  y <- chunk_query(open, "odd name", "id", c("a", "b", "c"), size = 20, shape = M)
  expect_identical(y$sizes, c(20, 20, 20, 20, 20, 1))
  expect_identical(frechet_mean(y, M), frechet_mean(chunks(unname(as.matrix(table[2:4])), 50), M))
  part <- chunk_query(open, DBI::SQL("SELECT id, a, b, c FROM \"odd name\" WHERE a > 0"), "id", size = 7, shape = M)
  expect_identical(sum(part$sizes), as.double(sum(table$a > 0)))
  expect_identical(frechet_mean(part, M)$mean, frechet_mean(chunks(unname(as.matrix(table[table$a > 0, 2:4])), 9), M)$mean)
  # keys of text
  text <- chunk_query(open, DBI::SQL("SELECT 'k' || id AS k, a, b, c FROM \"odd name\""), "k", size = 30, shape = M)
  expect_lt(mf_dist(M, frechet_mean(text, M)$mean, frechet_mean(y, M)$mean), 1e-9) # records in another order
  r <- dp_mean(y, M, 1, c(0, 0, 1), 0.5, mechanism = "tangent", invalid = "center")
  expect_match(r$guarantee$assumptions, "the table stands still", all = FALSE)
  in_memory <- dp_mean(chunks(unname(as.matrix(table[2:4])), 50), M, 1, c(0, 0, 1), 0.5, mechanism = "tangent", invalid = "center")
  expect_no_match(in_memory$guarantee$assumptions, "the table")
  expect_error(chunk_query(open, "odd name", "name"), class = "riemdp_error_argument")
  expect_error(chunk_query(open, DBI::SQL("SELECT * FROM \"odd name\" WHERE a > 2"), "id"), class = "riemdp_error_shape")
})

test_that("PostgreSQL serves the same queries", {
  server <- postgres_start()
  on.exit(postgres_stop(server))
  open <- server$open
  table <- data.frame(id = sample(1e6, 50), a = runif(50), b = runif(50))
  connection <- open()
  DBI::dbWriteTable(connection, "riemdp_records", table, row.names = FALSE)
  DBI::dbDisconnect(connection)
  M <- euclidean(2)
  y <- chunk_query(open, "riemdp_records", "id", size = 20, shape = M)
  expect_identical(y$sizes, c(20, 20, 10))
  expect_equal(frechet_mean(y, M)$mean, colMeans(table[2:3]), tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("tables become records of every shape", {
  expect_identical(rows_to_points(rbind(1:4), euclidean(4)), matrix(as.double(1:4), 1))
  expect_identical(rows_to_points(data.frame(a = 2, b = 0.5, c = 1), spd(2)), array(c(2, 0.5, 0.5, 1), c(2, 2, 1)))
  expect_identical(rows_to_points(rbind(c(6, 1, 2, 5, 3, 4)), spd(3))[, , 1], rbind(c(6, 1, 2), c(1, 5, 3), c(2, 3, 4)))
  z <- rows_to_points(rbind(1:6, 7:12), kendall(3))
  expect_identical(z, cbind(complex(real = c(1, 3, 5), imaginary = c(2, 4, 6)), complex(real = c(7, 9, 11), imaginary = c(8, 10,
    12))))
  expect_error(rows_to_points(rbind(1:3), euclidean(2)), class = "riemdp_error_shape")
  expect_error(rows_to_points("a", euclidean(2)), class = "riemdp_error_shape")
})

test_that("sources of arrays keep shapes and show sizes only", {
  set.seed(1)
  frame <- as.data.frame(mf_random(sphere(2), 30))
  expect_identical(frechet_mean(chunks(frame, 7), sphere(2))$mean, frechet_mean(chunks(as.matrix(frame), 11), sphere(2))$mean)
  points <- mf_points(as.matrix(frame), sphere(2))
  expect_identical(frechet_mean(chunks(points, 7), sphere(2))$mean, frechet_mean(chunks(frame, 7), sphere(2))$mean)
  parts <- chunks(list(as.matrix(frame)[1:4, ], as.matrix(frame)[5:30, ]))
  expect_identical(frechet_mean(parts, sphere(2))$mean, frechet_mean(chunks(frame, 7), sphere(2))$mean)
  expect_identical(length(parts), 2L)
  expect_identical(summary(parts), data.frame(what = "arrays", n = 30, chunks = 2L, least = 4, most = 26))
  expect_output(print(parts), "30 records in 2 chunks of 4 to 26", fixed = TRUE)
  shapes <- callosa[, , 1:8]
  expect_equal(frechet_mean(chunks(shapes, 3), kendall(50))$variance, frechet_mean(shapes, kendall(50))$variance,
               tolerance = 1e-10)
  expect_error(chunks(list()), class = "riemdp_error_shape")
  expect_error(chunks(1:3, size = 0), class = "riemdp_error_argument")
  expect_error(chunks(1:3, map = 1), class = "riemdp_error_argument")
  expect_error(chunks(sum), class = "riemdp_error_shape")
  expect_error(chunks(list(1:3, 4), sizes = c(3, 2)), NA)
  expect_error(frechet_mean(chunks(list(1:3, 4), sizes = c(3, 2)), euclidean(1)), class = "riemdp_error_chunk")
})

test_that("only the chunks that are hit are read", {
  folder <- test_folder()
  for (i in 1:20) saveRDS(wishart_spd[, , 1:50 + 50 * (i - 1)], file.path(folder, sprintf("%02d.rds", i)))
  seen <- new.env()
  seen$paths <- character()
  reader <- function(path) {
    seen$paths <- c(seen$paths, basename(path))
    readRDS(path)
  }
  x <- chunk_files(list.files(folder, full.names = TRUE), reader, sizes = rep(50, 20))
  dp_optimize(problem_huber(spd(2), 1), x, 1, 1e-6, start = diag(2), method = "rsgd", batch = 3, steps = 4)
  expect_lte(length(seen$paths), 12)
  seen$paths <- character()
  dp_optimize(problem_huber(spd(2), 1), x, 1, 1e-6, start = diag(2), method = "rgd", steps = 2)
  expect_identical(length(seen$paths), 40L)
})

test_that("pairwise distances come in blocks", {
  x <- wishart_spd[, , 1:25]
  whole <- mf_dist_matrix(spd(2), x)
  found <- mf_dist_blocks(spd(2), chunks(x, 7))
  expect_equal(as.matrix(found), as.matrix(whole), tolerance = 1e-13)
  expect_identical(attr(found, "Size"), 25L)
  expect_identical(found, mf_dist_blocks(spd(2), chunks(x, 7, map = backwards)))
  sums <- mf_dist_blocks(spd(2), chunks(x, 10), function(d, i, j) c(sum(d) * if (identical(i, j)) 1 else 2, nrow(d), ncol(d)))
  expect_length(sums, 6)
  expect_equal(sum(vapply(sums, `[`, 0, 1)), 2 * sum(whole), tolerance = 1e-12)
  expect_identical(sums[[4]][2:3], c(10, 5))
  expect_error(mf_dist_blocks(spd(2), x), class = "riemdp_error_argument")
})
