# Sources of records in chunks: plain data that survive saveRDS() and workers. Nothing open is inside. A piece says where one
# chunk is:
#   list(kind = "data", x)          the records themselves
#   list(kind = "file", path)       what `reader` makes of the path
#   list(kind = "rows", sql)        a query for a connection that `open` gives
#   list(kind = "site", ask)        a function that sends a request to whoever holds the records and returns the answer
# What was read goes through `shape`, a function or a manifold, to become records.

#' Records in chunks
#'
#' Records that lie in many files, in a database, or in pieces too large to be worked on at once. [frechet_mean()],
#' [frechet_median()], [frechet_variance()], [dp_mean()], [riemannian_optimize()], [dp_optimize()], [dp_pca()] and [mf_check()]
#' take such an object in place of their records, [geodesic_regression()], [dp_regression()] and [dp_lm()] in place of `data`. Only one chunk for
#' each worker is in memory at a time.
#'
#' * `chunks()`: an array cut into pieces of `size` records, or a list whose elements are chunks.
#' * `chunk_files()`: one chunk a file. `reader` is a function of the path; by default [readRDS()] for `.rds`,
#'   [utils::read.csv()] for `.csv`, `nanoparquet::read_parquet()` for `.parquet`. What Arrow, DuckDB or others read comes in as
#'   a reader of one's own.
#' * `chunk_query()`: rows of a database, by ranges of a column `key` whose values differ. `open` is a function without
#'   arguments that returns a DBI connection: every worker opens and closes its own.
#'
#' Sums over chunks are exact (fixed-point numbers as wide as the range of doubles), so results are the same to the last bit
#' wherever records are cut, in whatever order chunks are worked on and by however many workers. They agree with those for the
#' same records in one array up to rounding, some 1e-14, and to the tolerance of iterations.
#'
#' @section Sizes are public:
#' Like the number of records. They are counted once, when the object is made, unless `sizes` gives them; a chunk that turns out
#' to hold another number ends the call.
#'
#' @section Workers:
#' `map` is any function like [lapply()]: it takes a list and a function. See [map_future()] and [map_mirai()]. Chunks whose
#' answer gets lost are asked for again, up to twice. In workers a chunk's own threads (`options(riemdp.threads)`) are off.
#'
#' @section Private calls:
#' What a reader says when it fails may quote a record. In [dp_mean()] and the other private functions its messages and output
#' are dropped, and the error (class `riemdp_error_chunk`) tells the number of the chunk only. That a chunk can be read is taken
#' to be public, what it holds is not.
#'
#' @param x for `chunks()`: records in an array, matrix, data frame or [mf_points()]; or a list of such.
#' @param size records of a chunk.
#' @param sizes numbers of records, one a chunk, if they are known.
#' @param shape what makes records of what was read: a manifold, if that is a table whose columns are the numbers of one point
#'   (see [rows_to_points()]), or a function.
#' @param map a function like [lapply()]; `NULL` for `getOption("riemdp.map")` and, where that isn't set, [lapply()].
#' @param paths paths of files.
#' @param reader a function of a path; `NULL` to go by the file's ending.
#' @param open a function without arguments that returns a DBI connection.
#' @param table name of a table or view, or a query in [DBI::SQL()].
#' @param key name of a column with no value twice and none missing; numbers or strings.
#' @param columns names of the columns to read; `NULL` for all but the key.
#' @return An object of class `riemdp_chunks`: `length()` is the number of chunks; `print()` and `summary()` show numbers of
#'   records.
#' @seealso [map_future()], [sites()], [mf_dist_blocks()], `vignette("chunks", package = "riemdp")`
#' @examples
#' M <- spd(2)
#' whole <- frechet_mean(wishart_spd, M)
#' frechet_mean(chunks(wishart_spd, size = 100), M)$mean - whole$mean
#'
#' folder <- tempfile()
#' dir.create(folder)
#' paths <- file.path(folder, sprintf("part-%d.rds", 1:4))
#' for (i in 1:4) saveRDS(wishart_spd[, , 1:50 + 50 * (i - 1)], paths[i])
#' x <- chunk_files(paths)
#' x
#' dp_mean(x, M, epsilon = 1, center = diag(2), radius = 1.5)
#' unlink(folder, recursive = TRUE)
#' @export
chunks <- function(x, size = 10000, sizes = NULL, shape = NULL, map = NULL) {
  if (is.list(x) && !is.object(x)) {
    pieces <- lapply(unname(x), function(piece) list(kind = "data", x = piece))
  } else {
    size <- check_count(size, "size", most = 1e9)
    if (!(is.numeric(x) || is.complex(x) || is.logical(x) || is.data.frame(x)) || length(dim(x)) > 3) {
      abort_riemdp("shape", "`x` must be records in an array, matrix, data frame or mf_points, or a list of such.")
    }
    n <- records_in(x)
    if (n < 1) abort_riemdp("shape", "`x` must hold at least one record.")
    from <- seq(1, n, by = size)
    if (is.null(sizes) && is.null(shape)) sizes <- pmin(from + size - 1, n) - from + 1
    pieces <- lapply(from, function(i) list(kind = "data", x = records_of(x, i:min(i + size - 1, n))))
  }
  new_chunks(pieces, sizes, NULL, NULL, shape, map, "arrays")
}

#' @rdname chunks
#' @export
chunk_files <- function(paths, reader = NULL, sizes = NULL, shape = NULL, map = NULL) {
  if (!is.character(paths) || is.object(paths) || anyNA(paths)) abort_riemdp("argument", "`paths` must be paths of files.")
  missing <- which(!file.exists(paths))
  if (length(missing)) abort_riemdp("argument", sprintf("there is no file at `paths[%d]`.", missing[1]))
  if (is.null(reader)) reader <- reader_of(paths)
  if (!is.function(reader)) abort_riemdp("argument", "`reader` must be a function of a path.")
  paths <- normalizePath(paths)
  new_chunks(lapply(paths, function(path) list(kind = "file", path = path)), sizes, reader, NULL, shape, map, "files")
}

#' @rdname chunks
#' @export
chunk_query <- function(open, table, key, columns = NULL, size = 10000, shape = NULL, map = NULL) {
  if (!requireNamespace("DBI", quietly = TRUE)) {
    abort_riemdp("unsupported", "databases need the package 'DBI': install.packages(\"DBI\").")
  }
  if (!is.function(open)) abort_riemdp("argument", "`open` must be a function without arguments that returns a DBI connection.")
  one_name <- function(x) is.character(x) && length(x) == 1 && !is.na(x) && nzchar(x)
  if (!one_name(table)) abort_riemdp("argument", "`table` must be the name of a table, or a query in DBI::SQL().")
  if (!one_name(key)) abort_riemdp("argument", "`key` must be the name of a column.")
  if (!is.null(columns) && (!is.character(columns) || anyNA(columns))) abort_riemdp("argument",
    "`columns` must be names of columns.")
  size <- check_count(size, "size", most = 1e9)
  parts <- classed(query_parts(open, table, key, columns, size), "the query")
  new_chunks(lapply(parts$sql, function(q) list(kind = "rows", sql = q)), parts$sizes, NULL, open, shape, map,
             "rows of a database")
}

# list(sql, sizes): a query for each chunk
query_parts <- function(open, table, key, columns, size) {
  connection <- open()
  if (!inherits(connection, "DBIConnection")) abort_riemdp("argument", "`open` must return a DBI connection.")
  on.exit(DBI::dbDisconnect(connection))
  from <- if (inherits(table, "SQL")) paste0("(", table,
                                             ") AS riemdp_rows") else as.character(DBI::dbQuoteIdentifier(connection, table))
  id <- as.character(DBI::dbQuoteIdentifier(connection, key))
  # how many rows there are (as doubles: some databases count in integers of 64 bits), and the first key of each chunk
  count <- "SELECT CAST(COUNT(*) AS DOUBLE PRECISION) AS n, CAST(COUNT(DISTINCT %s) AS DOUBLE PRECISION) AS k FROM %s"
  n <- as.double(DBI::dbGetQuery(connection, sprintf(count, id, from))[1, ])
  if (n[1] < 1) abort_riemdp("shape", "the query has no rows.")
  if (n[1] != n[2]) abort_riemdp("argument", "`key` must have no value twice and none missing.")
  keys <- "SELECT %s AS riemdp_key, ROW_NUMBER() OVER (ORDER BY %s) AS riemdp_row FROM %s"
  firsts <- "SELECT riemdp_key FROM (%s) AS riemdp_keys WHERE (riemdp_row - 1) %% %d = 0 ORDER BY riemdp_key"
  first <- DBI::dbGetQuery(connection, sprintf(firsts, sprintf(keys, id, id, from), size))[[1]]
  if (is.null(columns)) {
    columns <- setdiff(names(DBI::dbGetQuery(connection, sprintf("SELECT * FROM %s WHERE 1 = 0", from))), key)
  }
  shown <- paste(as.character(DBI::dbQuoteIdentifier(connection, columns)), collapse = ", ")
  bound <- as.character(DBI::dbQuoteLiteral(connection, first))
  k <- length(first)
  sql <- sprintf("SELECT %s FROM %s WHERE %s >= %s%s ORDER BY %s", shown, from, id, bound,
                 c(if (k > 1) sprintf(" AND %s < %s", id, bound[-1]), ""), id)
  sizes <- c(rep(size, k - 1), n[1] - size * (k - 1))
  list(sql = sql, sizes = sizes)
}

#' Tables as records
#'
#' Makes records of a manifold from a table with one row a record, as CSV files, Parquet files and databases have them. Columns
#' are the numbers of a point in the order in which R stores them; for symmetric matrices k(k + 1)/2 columns, the lower triangle
#' by columns, will do as well; for [kendall()] landmarks as x1, y1, x2, y2, ...
#'
#' @param x a data frame or matrix of numbers, one row a record.
#' @param M a manifold.
#' @return Records in the plain shape of many points. Errors: `riemdp_error_shape` where the number of columns doesn't fit.
#' @seealso [chunk_files()], [chunk_query()]
#' @examples
#' rows_to_points(rbind(c(2, 0.5, 1), c(1, 0, 3)), spd(2))
#' @export
rows_to_points <- function(x, M) {
  check_manifold(M)
  if (is.data.frame(x)) x <- data_frame_matrix(x)
  if (!is.matrix(x) || !is.numeric(x) || is.object(x)) abort_riemdp("shape", "`x` must be a table of numbers, one row a record.")
  facts <- mf_facts(M)
  x <- unname(x)
  storage.mode(x) <- "double"
  if (facts$rows > 0 && facts$cols == facts$rows && ncol(x) == facts$rows * (facts$rows + 1) / 2 && facts$rows > 1) {
    index <- matrix(0L, facts$rows, facts$rows)
    index[lower.tri(index, TRUE)] <- seq_len(ncol(x))
    index <- pmax(index, t(index))
    x <- x[, index, drop = FALSE]
  }
  if (ncol(x) != facts$ambient) {
    abort_riemdp("shape", sprintf("`x` must have %d columns, the numbers of a point.", as.integer(facts$ambient)))
  }
  if (facts$rows == 0) {
    x
  } else if (facts$cols > 0) {
    array(t(x), c(facts$rows, facts$cols, nrow(x)))
  } else {
    odd <- seq(1, ncol(x), 2)
    t(matrix(complex(real = x[, odd], imaginary = x[, odd + 1]), nrow(x)))
  }
}

new_chunks <- function(pieces, sizes, reader, open, shape, map, what) {
  if (length(pieces) < 1) abort_riemdp("shape", "there must be at least one chunk.")
  if (!is.null(map) && !is.function(map)) abort_riemdp("argument", "`map` must be a function like lapply(), or NULL.")
  if (inherits(shape, "manifold")) {
    shape <- shape_to(shape)
  } else if (!is.null(shape) && !is.function(shape)) {
    abort_riemdp("argument", "`shape` must be a manifold or a function.")
  }
  x <- structure(list(pieces = pieces, sizes = NULL, reader = reader, open = open, shape = shape, map = map, what = what),
                 class = "riemdp_chunks")
  if (is.null(sizes)) {
    sizes <- vapply(chunk_ask(x, list(kernel = "count")), as.double, 0)
  } else if (!is.numeric(sizes) || is.object(sizes) || length(sizes) != length(pieces) || anyNA(sizes) ||
               any(sizes != round(sizes) | sizes < 1 | sizes > 2^31 - 1)) {
    abort_riemdp("argument", "`sizes` must be whole numbers, one a chunk.")
  }
  x$sizes <- as.double(sizes)
  x
}

# a function that carries its manifold and nothing else to a worker
shape_to <- function(M) {
  force(M)
  f <- function(x) rows_to_points(x, M)
  environment(f) <- list2env(list(M = M), parent = environment(rows_to_points))
  f
}

reader_of <- function(paths) {
  ending <- unique(tolower(sub(".*[.]", "", basename(paths))))
  if (length(ending) == 1 && ending == "parquet" && !requireNamespace("nanoparquet", quietly = TRUE)) {
    abort_riemdp("unsupported",
                 "Parquet files need the package 'nanoparquet': install.packages(\"nanoparquet\"). Or give a `reader`.")
  }
  switch(if (length(ending) == 1) ending else "",
    rds = read_rds, csv = read_csv, parquet = read_parquet,
    abort_riemdp("argument", "files that don't all end in .rds, .csv or .parquet need a `reader`.")
  )
}

# functions of the namespace: workers get a reference, no copy
read_rds <- function(path) readRDS(path)
read_csv <- function(path) utils::read.csv(path)
read_parquet <- function(path) as.data.frame(nanoparquet::read_parquet(path))

read_piece <- function(piece, reader, open, shape) {
  x <- switch(piece$kind,
    data = piece$x,
    file = reader(piece$path),
    rows = {
      connection <- open()
      on.exit(DBI::dbDisconnect(connection))
      DBI::dbGetQuery(connection, piece$sql)
    }
  )
  if (is.null(shape)) x else shape(x)
}

# Records of any container: rows, the last dimension of an array, columns of a complex matrix; of a list with names its first
# element's.
records_in <- function(x) {
  d <- dim(x)
  if (is.list(x) && !is.data.frame(x) && !is.null(names(x)) && length(x)) return(records_in(x[[1]])) # variables of a model
  if (is.null(d) || inherits(x, "mf_points")) return(length(x))
  if (is.data.frame(x) || (length(d) == 2 && !is.complex(x))) d[1] else d[length(d)]
}

records_of <- function(x, which) {
  d <- dim(x)
  if (is.null(d) || inherits(x, "mf_points")) return(x[which])
  if (is.data.frame(x) || (length(d) == 2 && !is.complex(x))) return(x[which, , drop = FALSE])
  if (length(d) == 2) return(x[, which, drop = FALSE])
  if (length(d) == 3) return(x[, , which, drop = FALSE])
  abort_riemdp("shape", "`x` must be a vector, data frame, matrix or array of at most three dimensions.")
}

is_chunks <- function(x) inherits(x, "riemdp_chunks")

# one that may come from a tampered file
check_chunks <- function(x) {
  sizes <- if (is.list(x)) x$sizes
  ok <- is_chunks(x) && is.list(x$pieces) && length(x$pieces) > 0 && is.double(sizes) && is.null(dim(sizes)) &&
    length(sizes) == length(x$pieces) && !anyNA(sizes) && all(sizes >= 1 & sizes <= 2^31 & sizes == round(sizes)) &&
    (is.null(x$map) || is.function(x$map)) && (is.null(x$shape) || is.function(x$shape)) &&
    all(vapply(x$pieces, function(p) is.list(p) && is.character(p$kind) && length(p$kind) == 1 &&
                 p$kind %in% c("data", "file", "rows", "site"), NA))
  if (!ok) abort_riemdp("argument",
                        "`x` must be records in chunks, as chunks(), chunk_files(), chunk_query() or sites() make them.")
  x
}

#' @export
length.riemdp_chunks <- function(x) length(unclass(x)$pieces)

#' @export
print.riemdp_chunks <- function(x, ...) {
  check_chunks(x)
  n <- range(x$sizes)
  cat(sprintf("<chunks> %s: %.0f records in %d chunk%s of %s\n", x$what, sum(x$sizes), length(x), if (length(x) == 1) "" else "s",
              if (n[1] == n[2]) sprintf("%.0f", n[1]) else sprintf("%.0f to %.0f", n[1], n[2])))
  invisible(x)
}

#' @export
summary.riemdp_chunks <- function(object, ...) {
  check_chunks(object)
  data.frame(what = object$what, n = sum(object$sizes), chunks = length(object), least = min(object$sizes),
             most = max(object$sizes))
}
