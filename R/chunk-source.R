# Sources of records in chunks: plain data that survive saveRDS() and workers. Nothing open is inside. A piece says
# where one chunk is:
#   list(kind = "data", x)          the records themselves
#   list(kind = "file", path)       what `reader` makes of the path
#   list(kind = "rows", sql)        a query for a connection that `open` gives
#   list(kind = "site", ask)        a function that sends a request to whoever holds the records and returns the answer
# What was read goes through `shape`, a function or a manifold, to become records.

#' Records in chunks
#'
#' Records that lie in many files, in a database, or in pieces too large to be worked on at once. [frechet_mean()],
#' [frechet_median()], [frechet_variance()], [dp_mean()] (but with `by` or a formula), [dp_ball()],
#' [riemannian_optimize()], [dp_optimize()], [dp_pca()] and [mf_check()] take such an object in place of their records,
#' [geodesic_regression()], [dp_regression()] and [dp_lm()] in place of `data`. Only one chunk for each worker is in
#' memory at a time.
#'
#' * `chunks()`: an array cut into pieces of `size` records, or a list whose elements are chunks.
#' * `chunk_files()`: one chunk a file. `reader` is a function of the path; by default
#'   `r paste(vapply(FILE_READERS, function(entry) entry$by, ""), collapse = ", ")`. What Arrow, DuckDB or others read
#'   comes in as a reader of one's own.
#' * `chunk_query()`: rows of a database, by ranges of a column `key` whose values differ. `open` is a function without
#'   arguments that returns a DBI connection: every worker opens and closes its own. With `sums = TRUE` records stay
#'   in the database, see below. Each range is counted when the object is made, and a key that doesn't come back from
#'   the driver as the database compares it is refused: whole numbers below 2^53 and strings do.
#'
#' Sums over chunks are exact (fixed-point numbers as wide as the range of doubles), so results are the same to the last
#' bit wherever records are cut, in whatever order chunks are worked on and by however many workers. They agree with
#' those for the same records in one array up to rounding, some 1e-14, and to the tolerance of iterations.
#'
#' @section Sizes are public:
#' Like the number of records. They are counted once, when the object is made, unless `sizes` gives them; a chunk that
#' turns out to hold another number ends the call.
#'
#' @section Workers:
#' `map` is any function like [lapply()]: it takes a list and a function. See [map_future()] and [map_mirai()]. Chunks
#' whose answer gets lost are asked for again, up to twice. In workers a chunk's own threads (`options(riemdp.threads)`)
#' are off.
#'
#' @section Sums in the database:
#' With `chunk_query(sums = TRUE)` no record leaves the database: it moves each to the public ball, adds up whole
#' numbers, and answers with one row for each `size` records. This serves [dp_mean()] on [euclidean()] with
#' `invalid = "center"` and mechanisms that add noise, on a lattice, to one sum:
#' `r paste0('"', SUMMED_MECHANISMS, '"', collapse = ", ")`. All else is refused before anything is spent. `columns` are
#' the coordinates, in their order, and may be numbers of any type. A record with a cell that is missing, NaN, infinite
#' or beyond 1e150 in size counts as the centre, and in SQLite one with a cell of text too, whatever it says. A record
#' counts by no more than the radius, whatever the database's floating point does, since the last word has a check of
#' whole numbers; releases have the same bits as those of the same records in memory, where the database computes by
#' IEEE 754 and fuses no operations. Proof: section 6 of the file `proofs/chunks.md` of the installed package. There is
#' SQL for `r paste(names(SUM_DIALECTS), collapse = ", ")`; that of DuckDB was run in its engine, not through its R
#' driver. What the guarantee takes on trust: `r ADDED_UP`. A record that moves from one chunk to another between two
#' queries would count twice, so run calls on a table that nobody writes to, or on a copy.
#'
#' @section Columns of tables:
#' In private calls a column has one public type, `"number"` or `"text"`, whatever class it has in a chunk. Bounds and
#' formula imply it: what has a range is a number, what has levels is text. `columns` declares it, which is needed where
#' functions of one's own (`shape`, or those of [problem()]) work on tables. Each cell is converted by itself, whatever
#' the others are:
#' * a number: blanks, a sign, digits with a decimal point, an exponent as in `1e3`, blanks. TRUE, True, true and T are
#'   1, FALSE, False, false and F are 0. Decimal commas, hexadecimal digits, Inf, units and all other text are missing.
#'   Factors count by their labels, dates are days since 1970, times seconds since then (UTC), time differences seconds,
#'   whole numbers of 64 bits the nearest double, labelled numbers (haven) their codes.
#' * text: as it stands, in UTF-8; what isn't UTF-8 is missing. Whole numbers are written with all their digits, others
#'   with up to 15, so that 1, 1L and 1.0 are "1"; dates as 2024-01-31.
#' * of a column of lists, elements that are single values. All else is missing.
#'
#' What a missing cell is for its record, each private function says. Names of columns are public: those of the first
#' chunk, and declared ones. A column that a `reader` of one's own leaves out of a chunk is missing there; in files,
#' databases and arrays that is an error. Plain functions see columns as they are, or of text what
#' [utils::type.convert()] makes of them chunk by chunk, unless `columns` tells.
#'
#' @section Units:
#' Where a private call takes `unit`, it does so for records in chunks (not for [sites()]): a vector with an element for
#' each record, in the order of the chunks, or the name of a column of their tables. The column's cells, the keys, are
#' read one by one as text by the rules above (where `columns` declares it a number, as a number first): 1, 1L and "1"
#' are one unit, "1" and "1.0" in a file of text are two; of numbers that aren't whole 15 digits count. A missing key, a
#' blank one or the text NA is no unit's. The column is then left out, before `shape` makes points of the others: where
#' `columns` declares a point's numbers, the key isn't among them, but for `chunk_query()`, which reads no others. A
#' `shape` of one's own must keep the rows and their order.
#'
#' A unit counts once, however its rows are spread over chunks, with the same bits wherever they are cut. One more pass
#' reads the keys. The caller holds up to some 30 bytes for each record, each key once, and for means a point for each
#' unit. Units whose rows lie in one chunk are worked out there; of others the rows are fetched for means, as
#' coordinates of points in the ball, no more at a time than the largest chunk and the largest unit hold together. So
#' records sorted by unit are fastest. How many rows a unit has is not released; who publishes the sizes of chunks tells
#' how many there are in all. That each key stands in some row is public, as the number of units is. Proof: section 5 of
#' the file `proofs/chunks.md` of the installed package.
#'
#' @section CSV files:
#' The first line has the names, and each further line is a record, whatever is in it, so that none can swallow others:
#' a field in quotes may hold commas and doubled quotes, but no end of line. A line with more or fewer fields than the
#' first, or whose quotes don't match, is a record with missing cells only, and so is an empty line. Fields are
#' separated by commas, text is UTF-8, names are made as by [utils::read.csv()]. Files of other kinds need a `reader`,
#' which should read all columns as text (`colClasses = "character"`).
#'
#' @section Private calls:
#' What a reader says when it fails may quote a record. In [dp_mean()] and the other private functions its messages and
#' output are dropped, and there is one error (class `riemdp_error_chunk`), the same for every chunk and every cause.
#' What a driver's or reader's compiled code writes to the error stream past R isn't caught. Tables and files must
#' stand still while they are read, which the guarantee says of tables. That chunks can be read, and how many records
#' each has, is taken to be public. Of a `reader` or `shape` of one's own it is assumed, and the guarantee says so,
#' that what it makes of a record depends on that record alone: [guarantee()].
#'
#' @param x for `chunks()`: records in an array, matrix, data frame or [mf_points()]; or a list of such.
#' @param size records of a chunk; of a row of sums at most 2^23.
#' @param sizes numbers of records, one a chunk, if they are known.
#' @param shape what makes records of what was read: a manifold, if that is a table whose columns are the numbers of one
#'   point (see [rows_to_points()]), or a function.
#' @param map a function like [lapply()]; `NULL` for `getOption("riemdp.map")` and, where that isn't set, [lapply()].
#' @param paths paths of files.
#' @param reader a function of a path; `NULL` to go by the file's ending.
#' @param open a function without arguments that returns a DBI connection.
#' @param table name of a table or view, or a query in [DBI::SQL()].
#' @param key name of a column with no value twice and none missing; numbers or strings.
#' @param columns types of columns of tables, `c(x = "number", sex = "text")`; `NULL` where they are implied, see below.
#'   With a manifold for `shape` the declared columns, in their order, are the numbers of a point. For `chunk_query()`
#'   names of the columns to read will do as well; `NULL` for all but the key.
#' @param sums `TRUE` where the database is to add records up by itself, see below.
#' @return An object of class `riemdp_chunks`: `length()` is the number of chunks; `print()` and `summary()` show
#'   numbers of records.
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
chunks <- function(x, size = 10000, sizes = NULL, shape = NULL, map = NULL, columns = NULL) {
  if (is.list(x) && !is.object(x)) {
    pieces <- lapply(unname(x), function(piece) list(kind = "data", x = piece))
  } else {
    size <- check_count(size, "size", most = 1e9)
    if (!(is.numeric(x) || is.complex(x) || is.logical(x) || is.data.frame(x) || inherits(x, "riemdp_points")) ||
        length(dim(x)) > 3) {
      abort_riemdp("shape", "`x` must be records in an array, matrix, data frame or mf_points, or a list of such.")
    }
    n <- records_in(x)
    if (n < 1) abort_riemdp("shape", "`x` must hold at least one record.")
    from <- seq(1, n, by = size)
    if (is.null(sizes) && is.null(shape)) sizes <- pmin(from + size - 1, n) - from + 1
    pieces <- lapply(from, function(i) list(kind = "data", x = records_of(x, i:min(i + size - 1, n))))
  }
  new_chunks(pieces, sizes, NULL, NULL, shape, map, "arrays", columns)
}

#' @rdname chunks
#' @export
chunk_files <- function(paths, reader = NULL, sizes = NULL, shape = NULL, map = NULL, columns = NULL) {
  if (!is.character(paths) || is.object(paths) || anyNA(paths)) {
    abort_riemdp("argument", "`paths` must be paths of files.")
  }
  missing <- which(!file.exists(paths))
  if (length(missing)) abort_riemdp("argument", sprintf("there is no file at `paths[%d]`.", missing[1]))
  own <- !is.null(reader)
  if (!own) reader <- reader_of(paths)
  if (!is.function(reader)) abort_riemdp("argument", "`reader` must be a function of a path.")
  paths <- normalizePath(paths)
  x <- new_chunks(lapply(paths, function(path) list(kind = "file", path = path)), sizes, reader, NULL, shape, map,
                  "files", columns, own)
  x$paths <- paths # those without records too: which they are may depend on records
  x
}

# Names of the files that records lie in, whatever is in them; `x`: what is asked for records, or a list that holds it
named_files <- function(x) {
  if (is_chunks(x) || inherits(x, "riemdp_tally")) return(x$paths)
  if (is.list(x) && !is.null(names(x)) && length(x) <= 50) unlist(lapply(unname(unclass(x)), named_files))
}

#' @rdname chunks
#' @export
chunk_query <- function(open, table, key, columns = NULL, size = if (sums) 2^23 else 10000, shape = NULL, map = NULL,
                        sums = FALSE) {
  sums <- check_flag(sums, "sums")
  check_query(open, table, key, columns)
  types <- if (!is.null(names(columns))) check_columns(columns)
  if (!is.null(types)) columns <- names(types)
  if (sums && "text" %in% types) {
    abort_riemdp("argument", "with `sums` all columns are numbers: `columns` says that one is text.")
  }
  size <- check_count(size, "size", most = if (sums) SUM_ROWS else 1e9)
  parts <- classed(query_parts(open, table, key, columns, size, sums), "the query")
  if (!sums) return(new_chunks(parts$pieces, parts$sizes, NULL, open, shape, map, "rows of a database", types))
  d <- length(parts$pieces[[1]]$columns)
  if (!is.null(shape) && !(inherits(shape, "riemdp_euclidean") && mf_facts(shape)$dimension == d)) {
    abort_riemdp("argument", "with `sums` the columns are the coordinates of euclidean(), and `shape` is no other.")
  }
  new_chunks(parts$pieces, parts$sizes, NULL, open, NULL, map, "rows that a database adds up", types)
}

check_query <- function(open, table, key, columns) {
  if (!requireNamespace("DBI", quietly = TRUE)) {
    abort_riemdp("unsupported", "databases need the package 'DBI': install.packages(\"DBI\").")
  }
  if (!is.function(open)) {
    abort_riemdp("argument", "`open` must be a function without arguments that returns a DBI connection.")
  }
  one_name <- function(x) is.character(x) && length(x) == 1 && !is.na(x) && nzchar(x)
  if (!one_name(table)) abort_riemdp("argument", "`table` must be the name of a table, or a query in DBI::SQL().")
  if (!one_name(key)) abort_riemdp("argument", "`key` must be the name of a column.")
  if (!is.null(columns) && (!is.character(columns) || anyNA(columns))) abort_riemdp("argument",
    "`columns` must be names of columns, or their types: c(x = \"number\", sex = \"text\").")
}

# list(pieces, sizes): a query for each chunk
query_parts <- function(open, table, key, columns, size, sums) {
  connection <- open()
  if (!inherits(connection, "DBIConnection")) abort_riemdp("argument", "`open` must return a DBI connection.")
  on.exit(DBI::dbDisconnect(connection))
  from <- if (inherits(table, "SQL")) paste0("(", table,
                                             ") AS riemdp_rows") else
                                               as.character(DBI::dbQuoteIdentifier(connection, table))
  id <- as.character(DBI::dbQuoteIdentifier(connection, key))
  cut <- key_ranges(connection, from, id, size)
  if (is.null(columns)) {
    columns <- setdiff(names(columns_seen(connection, "*", from)), key)
    if (!length(columns)) abort_riemdp("argument", "the query has no columns but its key.")
  }
  shown <- as.character(DBI::dbQuoteIdentifier(connection, columns))
  pieces <- if (sums) sum_pieces(connection, from, cut$ranges, shown) else
    row_pieces(connection, from, cut$ranges, columns, shown, id)
  list(pieces = pieces, sizes = cut$sizes)
}

# Where the chunks are cut: list(ranges: conditions in SQL, sizes). Keys are public, so each range is counted here,
# before anything is spent: a key may have lost digits, or its type, on the way.
key_ranges <- function(connection, from, id, size) {
  text <- written_as(connection, "text")
  count <- sprintf("SELECT %s AS n, %s AS k FROM %s", text("COUNT(*)"), text(sprintf("COUNT(DISTINCT %s)", id)), from)
  n <- whole_text(answer_of(connection, count, 2, 1))
  if (anyNA(n)) abort_riemdp("argument", "the database doesn't say how many rows there are.")
  if (n[1] < 1) abort_riemdp("shape", "the query has no rows.")
  if (n[1] != n[2]) abort_riemdp("argument", "`key` must have no value twice and none missing.")
  k <- ceiling(n[1] / size)
  if (k == 1) return(list(ranges = "", sizes = n[1]))
  # the first key of each chunk but the first
  keys <- "SELECT %s AS riemdp_key, ROW_NUMBER() OVER (ORDER BY %s) AS riemdp_row FROM %s"
  firsts <- paste("SELECT riemdp_key FROM (%s) AS riemdp_keys WHERE (riemdp_row - 1) %% %d = 0 AND riemdp_row > 1",
                  "ORDER BY riemdp_key")
  first <- answer_of(connection, sprintf(firsts, sprintf(keys, id, id, from), size), 1)[[1]]
  sizes <- c(rep(size, k - 1), n[1] - size * (k - 1))
  ok <- length(first) == k - 1 && !anyNA(first)
  if (ok) {
    bound <- key_literals(connection, first)
    ranges <- paste0(" WHERE ", c("", sprintf("%s >= %s", id, bound)), c("", rep(" AND ", k - 2), ""),
                     c(sprintf("%s < %s", id, bound), ""))
    found <- vapply(sprintf("SELECT %s AS n FROM %s%s", text("COUNT(*)"), from, ranges), function(sql) {
      tryCatch(whole_text(answer_of(connection, sql, 1, 1)), error = function(e) NaN)
    }, 0)
    ok <- !anyNA(found) && all(found == sizes)
  }
  if (!ok) {
    abort_riemdp("argument", paste("the ranges of `key` don't hold the rows that they should: what the driver makes of",
                                   "the column isn't what the database compares, or the table has changed. Whole",
                                   "numbers below 2^53 and strings will do."))
  }
  list(ranges = ranges, sizes = sizes)
}

# Keys as they stand in SQL; doubles with all their digits
key_literals <- function(connection, keys) {
  if (!is.numeric(keys) || is.object(keys)) return(as.character(DBI::dbQuoteLiteral(connection, keys)))
  double <- written_as(connection, "double")
  vapply(keys, function(x) {
    if (x == round(x) && abs(x) < 2^53) return(sprintf("%.0f", x))
    if (abs(x) > 1e-250) exact_sql(x, double) else sprintf("%.16e", x)
  }, "")
}

# What a database answers, held to so many columns and rows. Some drivers say NULL, with a warning, of what failed.
answer_of <- function(connection, sql, columns = NULL, rows = NULL) {
  answer <- suppressWarnings(DBI::dbGetQuery(connection, sql))
  fits <- function(n, asked) is.null(asked) || n == asked
  if (!is.data.frame(answer) || !fits(length(answer), columns) || !fits(nrow(answer), rows)) {
    abort_riemdp("argument", sprintf("the database doesn't answer a query as it should: %s",
                                     if (nchar(sql) > 300) paste(substr(sql, 1, 300), "...") else sql))
  }
  answer
}

row_pieces <- function(connection, from, ranges, columns, shown, id) {
  if (!length(columns)) abort_riemdp("argument", "`columns` names none.")
  columns_seen(connection, shown, from)
  cells <- if (inherits(connection, "SQLiteConnection")) columns
  if (!is.null(cells)) shown <- sqlite_cells(shown)
  sql <- sprintf("SELECT %s FROM %s%s ORDER BY %s", paste(shown, collapse = ", "), from, ranges, id)
  lapply(sql, function(q) list(kind = "rows", sql = q, cells = cells))
}

# Of no rows, the database shows that it can; what it can't, it says here, where no record is looked at.
sum_pieces <- function(connection, from, ranges, columns) {
  d <- length(columns)
  if (d < 1 || d > SUM_COLUMNS) abort_riemdp("argument", sprintf("`sums` are of 1 to %d columns.", SUM_COLUMNS))
  dialect <- sum_dialect(connection)
  none <- columns_seen(connection, columns, from)
  bad <- which(!vapply(none, function(x) is.numeric(x) || inherits(x, "integer64"), NA))[1]
  if (dialect$typed && !is.na(bad)) {
    abort_riemdp("argument", sprintf("`sums` are of columns of numbers, and %s is none.", columns[bad]))
  }
  answer_of(connection, sums_sql(dialect, from, " WHERE 1 = 0", columns, rep(0.1, d), 1, 51, 2^51), 2 * d + 1, 1)
  lapply(ranges, function(where) list(kind = "sums", from = from, where = where, columns = columns))
}

columns_seen <- function(connection, columns, from) {
  answer_of(connection, sprintf("SELECT %s FROM %s WHERE 1 = 0", paste(columns, collapse = ", "), from),
            if (!identical(columns, "*")) length(columns))
}

# In SQLite a column's cells have types of their own, and the first of a query would decide how the others are read:
# numbers and text come apart. Text with an embedded zero byte is none.
sqlite_cells <- function(column) {
  sprintf(paste("CASE WHEN typeof(%s) IN ('integer', 'real') THEN CAST(%s AS REAL) END,",
                "CASE WHEN typeof(%s) = 'text' AND instr(CAST(%s AS BLOB), x'00') = 0 THEN %s END"), column, column,
                column, column, column)
}

new_chunks <- function(pieces, sizes, reader, open, shape, map, what, columns = NULL, own = FALSE) {
  if (length(pieces) < 1) abort_riemdp("shape", "there must be at least one chunk.")
  if (!is.null(map) && !is.function(map)) abort_riemdp("argument", "`map` must be a function like lapply(), or NULL.")
  if (inherits(shape, "riemdp_manifold")) {
    shape <- shape_to(shape)
  } else if (!is.null(shape) && !is.function(shape)) {
    abort_riemdp("argument", "`shape` must be a manifold or a function.")
  }
  x <- structure(list(pieces = pieces, sizes = NULL, reader = reader, own = own, open = open, shape = shape, map = map,
                      what = what, columns = check_columns(columns)), class = "riemdp_chunks")
  if (is.null(sizes)) {
    found <- chunk_ask(x, list(kernel = "contents"))
    sizes <- vapply(found, function(one) as.double(one$n), 0)
    x$names <- found[[1]]$names
    x$pieces <- pieces[sizes > 0] # a file with a header only holds nothing
    sizes <- sizes[sizes > 0]
    if (!length(sizes)) abort_riemdp("shape", "there must be at least one record in the chunks.")
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
  structure(f, class = "riemdp_shape")
}

records_of <- function(x, which) {
  d <- dim(x)
  if (is.null(d) || inherits(x, "riemdp_points")) return(x[which])
  if (is.data.frame(x) || (length(d) == 2 && !is.complex(x))) return(x[which, , drop = FALSE])
  if (length(d) == 2) return(x[, which, drop = FALSE])
  if (length(d) == 3) return(x[, , which, drop = FALSE])
  abort_riemdp("shape", "`x` must be a vector, data frame, matrix or array of at most three dimensions.")
}

# Names of the columns of tables in chunks: those of the first, which are public, and declared ones. They were seen when
# records were counted.
chunk_names <- function(x) {
  first <- check_chunks(x)$pieces[[1]]
  seen <- if (!is.null(x$names)) x$names else if (identical(first$kind, "data") && is.null(x$shape)) names(first$x)
  if (is.null(seen)) seen <- chunk_ask(x, list(kernel = "names", counts = "frame"), only = 1, private = TRUE)[[1]]
  setdiff(union(seen, names(x$columns)), x$unit)
}

# Which names of the expressions are columns of the chunks, and the public constants behind the others: list(columns,
# constants, n)
chunk_variables <- function(expressions, names, data, env) {
  all <- unique(unlist(lapply(expressions, all.vars)))
  columns <- intersect(all, names)
  constants <- lapply(stats::setNames(nm = setdiff(all, names)), function(name) {
    value <- tryCatch(find_value(name, env), riemdp_error = function(e) NULL)
    if (!is_single(value)) {
      abort_riemdp("argument", sprintf(paste("`%s` is no column of the chunks, nor a single public value: variables",
                                             "come from the chunks."), name))
    }
    value
  })
  list(columns = columns, constants = constants, n = chunk_count(data), scaled = FALSE)
}

# what the proof assumes of code that reads records
chunk_assumptions <- function(x) {
  if (at_sites(x)) {
    return(c(if (is.null(x$shares)) "the curator is trusted with the sums that the sites send", x$policies,
             if (!is.null(x$protects)) sprintf("all records of one %s lie at one site", x$protects)))
  }
  if (gives_sums(x)) return(ADDED_UP)
  own <- c(reader = isTRUE(x$own), shape = is.function(x$shape) && !inherits(x$shape, "riemdp_shape"))
  c(if (has_kind(x, "rows")) STANDS_STILL, if (any(own)) {
    sprintf(paste("what %s makes of a record depends on that record alone; how many there are, names of columns and",
                  "failures depend on none"),
            paste0("`", names(own)[own], "`", collapse = " and "))
  })
}

# one that may come from a tampered file
check_chunks <- function(x) {
  ok <- is_chunks(x) && is.list(x) && is.list(x$pieces) && length(x$pieces) > 0 &&
    are_sizes(x$sizes, length(x$pieces)) &&
    none_or(x$map, is.function) && none_or(x$shape, is.function) && none_or(x$columns, is.character) &&
    none_or(x$names, is.character) && none_or(x$paths, is.character) && none_or(x$unit, is_string) &&
    all(vapply(x$pieces, is_piece, NA))
  if (!ok) {
    abort_riemdp("argument",
                 "`x` must be records in chunks, as chunks(), chunk_files(), chunk_query() or sites() make them.")
  }
  x
}

none_or <- function(x, is) is.null(x) || is(x)

are_sizes <- function(x, count) {
  is_doubles(x, count) && is.null(dim(x)) && all(x >= 1 & x <= 2^31 & x == round(x))
}

is_piece <- function(p) is.list(p) && is_string(p$kind) && p$kind %in% PIECE_KINDS

#' @export
length.riemdp_chunks <- function(x) length(unclass(x)$pieces)

#' @export
print.riemdp_chunks <- function(x, ...) {
  check_chunks(x)
  n <- range(x$sizes)
  cat(sprintf("<chunks> %s: %.0f records in %d chunk%s of %s\n", x$what, sum(x$sizes), length(x),
              if (length(x) == 1) "" else "s",
              if (n[1] == n[2]) sprintf("%.0f", n[1]) else sprintf("%.0f to %.0f", n[1], n[2])))
  invisible(x)
}

#' @export
summary.riemdp_chunks <- function(object, ...) {
  check_chunks(object)
  data.frame(what = object$what, n = sum(object$sizes), chunks = length(object), least = min(object$sizes),
             most = max(object$sizes))
}

at_sites <- function(x) is_chunks(x) && has_kind(check_chunks(x), "site")

chunk_count <- function(x) sum(check_chunks(x)$sizes)

#' @exportS3Method
check_points.riemdp_chunks <- function(x, M) chunk_check(M, x)

#' @exportS3Method
manifold_of.riemdp_chunks <- function(x) {
  first <- if (is.list(x$pieces) && length(x$pieces) && is.list(x$pieces[[1]])) x$pieces[[1]]$x
  manifold_of.default(first)
}

chunk_check <- function(M, x, private = FALSE) {
  found <- chunk_ask(check_chunks(x), list(kernel = "check", M = M), private = private)
  bad <- which(lengths(found) > 0)[1]
  if (!is.na(bad)) {
    abort_riemdp(sub("^riemdp_error_", "", found[[bad]]$class), sprintf("chunk %d: %s", bad, found[[bad]]$message))
  }
  invisible(x)
}

# What riemdp_release_perturbed takes for the records. Solvers ask for the Hessian where they have just been for the
# gradient: both come in one pass, unless the Hessian is large.
perturbed_tally <- function(n, shape, sums) {
  m <- prod(shape)
  last <- NULL
  structure(list(n = n, sums = function(v) {
    hessian <- v[1] == 1
    b <- v[-1]
    if (is.null(last) || !identical(last$b, b) || (hessian && length(last$sums) == m)) {
      last <<- list(b = b, sums = sums(b, hessian || m <= 60))
    }
    if (hessian) last$sums else last$sums[seq_len(m)]
  }), class = "riemdp_tally")
}
