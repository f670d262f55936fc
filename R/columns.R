# Columns of tables in private calls. A column has one public type, "number" or "text", whatever class a reader gave it,
# and each cell is converted by itself: a total function of that cell, so that no record decides how another one is
# read. What can't be converted is that record's missing value. The proof is in inst/proofs/chunks.md.

COLUMN_TYPES <- c("number", "text")

# `columns = c(x = "number", sex = "text")`; NULL: implied by bounds and formula
check_columns <- function(columns) {
  if (is.null(columns)) return(NULL)
  ok <- is.character(columns) && !is.object(columns) && is.null(dim(columns)) && length(columns) > 0 &&
    all(columns %in% COLUMN_TYPES) &&
    !is.null(names(columns)) && !anyNA(names(columns)) && all(nzchar(names(columns))) && !anyDuplicated(names(columns))
  if (!ok) {
    abort_riemdp("argument",
                 paste("`columns` must hold \"number\" or \"text\" for each column that it names, e.g. c(x =",
                       "\"number\", sex = \"text\")."))
  }
  columns
}

column_cells <- function(x, type) if (type == "number") number_cells(x) else text_cells(x)

# Doubles. Text counts by the grammar of text_numbers(); TRUE is 1 and FALSE 0; a factor counts by its labels, never by
# its codes; dates are days since 1970, times seconds since then, time differences seconds; of a list, elements that are
# single values. All else is missing.
number_cells <- function(x) as_many(number_values, x, NA_real_)

# A cell for each that was there: a column whose cells can't be told apart has none.
as_many <- function(values, x, one) {
  missing <- rep(one, length(x))
  cells <- values(x, missing)
  if (length(cells) == length(missing)) cells else missing
}

number_values <- function(x, missing) {
  if (is.factor(x)) return(text_numbers(factor_labels(x)))
  if (isS4(x)) return(missing)
  if (inherits(x, "integer64")) return(integer64_numbers(x))
  if (inherits(x, "POSIXlt")) x <- tryCatch(as.POSIXct(x), error = function(e) missing)
  if (inherits(x, "difftime")) {
    if (is.null(stored_numbers(x))) return(missing)
    return(tryCatch(as.double(x, units = "secs"), error = function(e) missing))
  }
  if (is.list(x)) return(single_cells(x, number_cells, missing))
  beside <- attr(x, "riemdp_text", exact = TRUE)
  x <- plain_vector(x)
  out <- switch(typeof(x), double = x, integer = as.double(x), logical = as.double(truths(x)),
                character = text_numbers(x), missing)
  if (!is.null(beside)) out[!is.na(beside)] <- text_numbers(beside[!is.na(beside)])
  out
}

# Text in UTF-8, as it stands. A factor counts by its labels; whole numbers are written out, others with up to 15
# digits, whether they are stored as whole numbers or as doubles; dates as 2024-01-31, times as 2024-01-31 12:00:00 in
# UTC. All else, and what isn't UTF-8, is missing.
text_cells <- function(x) as_many(text_values, x, NA_character_)

text_values <- function(x, missing) {
  if (is.factor(x)) return(utf8_text(factor_labels(x)))
  if (isS4(x)) return(missing)
  if (inherits(x, "POSIXlt")) x <- tryCatch(as.POSIXct(x), error = function(e) missing)
  if (inherits(x, c("integer64", "difftime"))) return(number_text(number_cells(x)))
  if (inherits(x, c("Date", "POSIXct"))) {
    time <- stored_numbers(x)
    if (is.null(time)) return(missing)
    if (inherits(x, "Date")) return(format(structure(time, class = "Date"), "%Y-%m-%d"))
    return(format(structure(time, class = c("POSIXct", "POSIXt")), "%Y-%m-%d %H:%M:%S", tz = "UTC"))
  }
  if (is.list(x)) return(single_cells(x, text_cells, missing))
  beside <- attr(x, "riemdp_text", exact = TRUE)
  x <- plain_vector(x)
  out <- switch(typeof(x), double = , integer = number_text(x), logical = logical_text(x), character = utf8_text(x),
                missing)
  if (!is.null(beside)) out[!is.na(beside)] <- utf8_text(beside[!is.na(beside)])
  out
}

plain_vector <- function(x) {
  x <- unclass(x)
  attributes(x) <- NULL
  x
}

# what lies behind a class, NULL where that isn't numbers
stored_numbers <- function(x) {
  x <- plain_vector(x)
  if (is.numeric(x) || is.logical(x)) as.double(x)
}

factor_labels <- function(x) as.character(attr(x, "levels"))[factor_codes(x)]

# Codes of labels that there are; others stand for none. As a subscript 0 would drop a cell, and a negative one raise.
factor_codes <- function(x) {
  codes <- stored_numbers(x)
  if (is.null(codes)) return(rep(NA_integer_, length(x)))
  codes[!(codes %in% seq_along(attr(x, "levels")))] <- NA
  as.integer(codes)
}

# a truth value may be stored as any number, and is TRUE for all but 0
truths <- function(x) plain_vector(x) != 0

single_cells <- function(x, convert, missing) {
  if (is.object(x) && !inherits(x, c("AsIs", "vctrs_list_of"))) return(missing)
  for (i in seq_along(missing)) {
    cell <- .subset2(x, i)
    if (is.atomic(cell) && !is.null(cell) && length(unclass(cell)) == 1) missing[i] <- own_cell(cell, convert, missing)
  }
  missing
}

# one cell, which may have any class and attributes: what can't be converted is missing, without a word
own_cell <- function(cell, convert, missing) {
  out <- tryCatch(suppressWarnings({
    attr(cell, "riemdp_text") <- NULL
    convert(cell)
  }), error = function(e) NULL)
  if (typeof(out) == typeof(missing) && length(out) == 1) out else missing[NA_integer_]
}

integer64_halves <- function(x) {
  bits <- stored_numbers(x)
  if (is.null(bits)) return(NULL)
  matrix(readBin(writeBin(bits, raw(), endian = "little"), "integer", 2 * length(bits), endian = "little"), 2)
}

# text that tells them apart, which doubles don't beyond 2^53
integer64_keys <- function(x) {
  halves <- integer64_halves(x)
  out <- if (is.null(halves)) rep(NA_character_, length(x)) else paste(halves[2, ], halves[1, ])
  out[is.na(integer64_numbers(x))] <- NA
  out
}

# Whole numbers of 64 bits lie in the bits of doubles; the least of them stands for a missing one.
integer64_numbers <- function(x) {
  halves <- integer64_halves(x)
  if (is.null(halves)) return(rep(NA_real_, length(x)))
  low <- ifelse(is.na(halves[1, ]), 2^31, halves[1, ] %% 2^32)
  high <- halves[2, ]
  ifelse(is.na(high), ifelse(low == 0, NA, -2^63 + low), high * 2^32 + low)
}

# The numbers that text may hold: blanks, a sign, digits with a point, an exponent, blanks; or a word for TRUE or FALSE.
# No decimal comma, no hexadecimal digits, no infinity; nothing depends on the locale.
NUMBER_GRAMMAR <- "^[ \t]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?[ \t]*\\z"
TRUE_WORDS <- "^(TRUE|True|true|T)\\z"
FALSE_WORDS <- "^(FALSE|False|false|F)\\z"

text_numbers <- function(x) {
  out <- rep(NA_real_, length(x))
  look <- which(!is.na(x) & nchar(x, "bytes") <= 400)
  fits <- look[grepl(NUMBER_GRAMMAR, x[look], perl = TRUE, useBytes = TRUE)]
  out[fits] <- as.double(x[fits])
  out[!is.finite(out)] <- NA
  out[look[grepl(TRUE_WORDS, x[look], perl = TRUE, useBytes = TRUE)]] <- 1
  out[look[grepl(FALSE_WORDS, x[look], perl = TRUE, useBytes = TRUE)]] <- 0
  out
}

# text that names something: blanks name nothing, nor does NA, as which write.csv() writes what is missing
named_cells <- function(x) {
  x[grepl("^[ \t]*(NA)?[ \t]*$", x, useBytes = TRUE)] <- NA
  x
}

number_text <- function(x) {
  x <- as.double(x) + 0 # no -0
  whole <- !is.na(x) & x == round(x) & abs(x) <= 2^53
  ifelse(is.na(x), NA_character_, ifelse(whole, sprintf("%.0f", x), sprintf("%.15g", x)))
}

logical_text <- function(x) c("FALSE", "TRUE")[truths(x) + 1L]

# ---- tables ----------------------------------------------------------------------------------------------------------

# Records as numbers, for private calls: tables, text and classed vectors cell by cell, in the shape that they have.
# What is of another type is left to the checks of shapes.
plain_numbers <- function(x) {
  if (inherits(x, "riemdp_points")) return(x)
  if (is.data.frame(x)) return(table_numbers(x))
  if (is.list(x) || isS4(x) || !is.atomic(x) || is.null(x) || is.complex(x) || (is.numeric(x) && !is.object(x))) {
    return(x)
  }
  structure(number_cells(x), dim = dim(x), dimnames = dimnames(x))
}

# a matrix with a row for each record, or the points that are a table's only column
table_numbers <- function(x) {
  columns <- unclass(x)
  n <- .row_names_info(x, 2L)
  if (length(columns) == 1 && inherits(columns[[1]], "riemdp_points")) return(columns[[1]])
  ok <- vapply(columns, function(column) !inherits(column, "riemdp_points") && cell_count(column) == n, NA)
  if (!all(ok)) abort_riemdp("shape", "a data frame of records must have columns that are vectors, all of one length.")
  out <- matrix(as.double(unlist(lapply(columns, number_cells), use.names = FALSE)), n, length(columns))
  if (length(names(x)) == ncol(out)) colnames(out) <- names(x)
  out
}

# number of cells of a column, -1 if it isn't one vector
cell_count <- function(x) {
  if (is.data.frame(x) || is.function(x) || is.null(x) || is.language(x) || is.environment(x)) return(-1)
  d <- dim(x)
  if (length(d) > 2 || (length(d) == 2 && d[2] != 1)) -1 else length(x)
}

# A table whose columns have their declared types. Others are kept as they are; where `only`, none but points is kept,
# and the declared ones come in the order of their declaration.
typed_table <- function(x, columns, only = FALSE) {
  if (!is.list(x) || inherits(x, "riemdp_points") || (is.object(x) && !is.data.frame(x))) return(x)
  keep <- attributes(x)[c("row.names", "class")]
  x <- unclass(x)
  for (name in intersect(names(columns), names(x))) x[[name]] <- column_cells(x[[name]], columns[[name]])
  if (only) x <- c(x[names(columns)], x[setdiff(names(x)[vapply(x, inherits, NA, "riemdp_points")], names(columns))])
  attributes(x) <- c(list(names = names(x)), keep)
  x
}

# for plain calls: what R makes of a table of text, chunk by chunk
guessed_table <- function(x) {
  if (!isTRUE(attr(x, "riemdp_raw"))) return(x)
  guess <- function(column) {
    beside <- attr(column, "riemdp_text")
    if (!is.null(beside)) {
      return(if (all(is.na(beside))) as.vector(column) else utils::type.convert(text_cells(column), as.is = TRUE))
    }
    if (is.character(column)) utils::type.convert(column, as.is = TRUE) else column
  }
  x[] <- lapply(x, guess)
  attr(x, "riemdp_raw") <- NULL
  x
}

# The columns that a call names are there: their names are public where a file, a database or an array has them; a
# reader in code may leave a column out of a chunk in which it has no cell.
needed_columns <- function(x, names, strict) {
  if (!is.list(x) || inherits(x, "riemdp_points") || (is.object(x) && !is.data.frame(x))) return(x)
  lacking <- setdiff(names, names(x))
  if (length(lacking) && strict) {
    abort_riemdp("chunk_columns", sprintf("there is no column `%s`: names of columns are public.", lacking[1]))
  }
  if (!length(lacking)) return(x)
  n <- if (is.data.frame(x)) .row_names_info(x, 2L) else records_in(x)
  keep <- attributes(x)[c("row.names", "class")]
  x <- c(unclass(x), stats::setNames(rep(list(rep(NA, n)), length(lacking)), lacking))
  attributes(x) <- c(list(names = names(x)), keep)
  x
}

# ---- CSV -------------------------------------------------------------------------------------------------------------

# A table of text. A line is a record, whatever is in it: a quoted field ends with its line at the latest, so that no
# record can swallow others, and their number is that of the lines after the header. A line whose quotes don't match, or
# with more or fewer fields than the header, is a record with missing cells only. What isn't UTF-8 ends up missing as
# well.
read_csv <- function(path) {
  bytes <- file_bytes(path)
  if (length(bytes) > 2 && identical(as.integer(bytes[1:3]), c(0xefL, 0xbbL, 0xbfL))) bytes <- bytes[-(1:3)]
  is <- function(code) which(bytes == as.raw(code))
  bytes[c(is(0x00), is(0xff))] <- as.raw(0xfe) # never in UTF-8; 0xff will stand for commas in quotes
  returns <- setdiff(is(0x0a) - 1, 0)
  returns <- returns[bytes[returns] == as.raw(0x0d)]
  if (length(returns)) bytes <- bytes[-returns]
  if (!length(bytes)) abort_riemdp("shape", "a CSV file must begin with a line of column names.")
  if (bytes[length(bytes)] != as.raw(0x0a)) bytes <- c(bytes, as.raw(0x0a))
  ends <- is(0x0a)
  line <- function(at) findInterval(at, ends) + 1
  quotes <- is(0x22)
  closed <- tabulate(line(quotes), length(ends)) %% 2 == 0
  commas <- is(0x2c)
  inside <- findInterval(commas, quotes[closed[line(quotes)]]) %% 2 == 1
  width <- tabulate(line(commas[!inside]), length(ends)) + 1
  whole <- closed & width == width[1]
  if (!whole[1]) abort_riemdp("shape", "the quotes of a CSV file's header don't match.")
  bytes[commas[inside]] <- as.raw(0xff)
  bytes[ends] <- as.raw(0x2c)
  starts <- c(1, ends[-length(ends)] + 1)
  broken <- unlist(Map(seq, starts[!whole], ends[!whole]))
  if (length(broken)) bytes <- bytes[-broken]
  words <- strsplit(rawToChar(bytes), ",", fixed = TRUE, useBytes = TRUE)[[1]]
  words <- matrix(unquoted(words, any(inside), any(bytes > as.raw(0x7f))), width[1])
  cells <- matrix(NA_character_, width[1], length(ends) - 1)
  cells[, whole[-1]] <- words[, -1]
  table <- lapply(seq_len(width[1]), function(j) cells[j, ])
  names(table) <- make.names(words[, 1], unique = TRUE)
  structure(table, row.names = .set_row_names(ncol(cells)), class = "data.frame", riemdp_raw = TRUE)
}

file_bytes <- function(path) {
  connection <- gzfile(path, "rb") # reads what isn't compressed as it is
  on.exit(close(connection))
  parts <- list()
  size <- min(2^24, max(2^16, file.size(path), na.rm = TRUE)) # room that readBin() takes, whatever it finds
  repeat {
    part <- readBin(connection, "raw", size)
    if (!length(part)) return(do.call(c, c(list(raw()), parts)))
    parts[[length(parts) + 1]] <- part
  }
}

# `commas`: whether some lay in quotes; `wide`: whether there are bytes beyond ASCII
unquoted <- function(x, commas, wide) {
  quoted <- grep("\"", x, fixed = TRUE, useBytes = TRUE)
  quoted <- quoted[grepl("^\".*\"\\z", x[quoted], perl = TRUE, useBytes = TRUE)]
  inner <- sub("\"$", "", sub("^\"", "", x[quoted], useBytes = TRUE), useBytes = TRUE)
  x[quoted] <- gsub("\"\"", "\"", inner, fixed = TRUE, useBytes = TRUE)
  if (commas) x <- gsub(rawToChar(as.raw(0xff)), ",", x, fixed = TRUE, useBytes = TRUE)
  if (!wide) return(x)
  Encoding(x) <- "UTF-8"
  utf8_text(x)
}

# units as a vector that tells them apart
plain_units <- function(unit, arg = "x") {
  if (inherits(unit, "POSIXlt")) unit <- as.POSIXct(unit)
  if (!is.atomic(unit) || is.null(unit) || !is.null(dim(unit)) || is.complex(unit) || is.raw(unit)) {
    abort_riemdp("argument", sprintf(paste("`unit` must be a vector with an element for each record, or the name of a",
                                           "column of `%s`."), arg))
  }
  if (inherits(unit, "integer64")) return(integer64_keys(unit))
  if (is.character(unit)) named_cells(utf8_text(unit)) else unit
}
