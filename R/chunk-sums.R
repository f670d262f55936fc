# Sums that a database makes by itself: of a query's rows it returns one row, the number of records and the sums over
# them of whole numbers, a record's coordinates at the public centre, each record first moved to the public ball. What
# numbers those are, and why one record moves the sums by no more than the ball allows, whatever the database's floating
# point does: inst/proofs/chunks.md, section 6.

# rows of one query: each sum stays below 2^49
SUM_ROWS <- 2^23
SUM_COLUMNS <- 100

# whole numbers up to 2^51 come in two parts, below 2^25 + 1 and below 2^26
SUM_PART <- 2^26

# By the class of a connection, what the databases say differently: types of doubles and text; `cell` makes a double of
# a column's cell, NULL where it is none; `whole` the whole part of a number from 0 up; `over` a quotient of whole
# numbers without its rest. `fence` ends a subquery that isn't to be merged with the one around it, where an expression
# would be worked out again wherever it is named. `typed`: a column has one type, which is part of the table's
# definition.
SUM_DIALECTS <- list(
  SQLite = list(
    of = "SQLiteConnection", double = "DOUBLE PRECISION", text = "VARCHAR(20)", fence = " LIMIT -1", over = "/",
    typed = FALSE, whole = function(z) sprintf("CAST(%s AS INTEGER)", z),
    cell = function(x, double) {
      sprintf("CASE WHEN typeof(%s) IN ('integer', 'real') THEN CASE WHEN %s BETWEEN -1e150 AND 1e150 THEN %s END END",
              x, x, double(x))
    }
  ),
  PostgreSQL = list(
    of = c("PqConnection", "PostgreSQLConnection"), double = "DOUBLE PRECISION", text = "VARCHAR(20)",
    fence = " OFFSET 0", over = "/", typed = TRUE, whole = function(z) sprintf("CAST(FLOOR(%s) AS BIGINT)", z),
    cell = function(x, double) typed_cell(x, double)
  ),
  MariaDB = list(
    of = c("MariaDBConnection", "MySQLConnection"), double = "DOUBLE", text = "CHAR(20)",
    fence = " LIMIT 18446744073709551615", over = "DIV", typed = TRUE,
    whole = function(z) sprintf("CAST(FLOOR(%s) AS SIGNED)", z),
    cell = function(x, double) typed_cell(x, double)
  ),
  DuckDB = list(
    of = "duckdb_connection", double = "DOUBLE", text = "VARCHAR(20)", fence = "", over = "//", typed = TRUE,
    whole = function(z) sprintf("CAST(FLOOR(%s) AS BIGINT)", z),
    cell = function(x, double) typed_cell(x, double)
  )
)

# Compared before it is made a double: where a database raises for what doubles can't hold, at either end, there is
# nothing left to raise for.
typed_cell <- function(x, double) {
  sprintf("CASE WHEN %s BETWEEN -1e150 AND 1e150 THEN CASE WHEN %s BETWEEN -1e-250 AND 1e-250 THEN %s ELSE %s END END",
          x, x, double("0"), double(x))
}

# How a connection's database writes a number as "text" or "double", a function of SQL; text, as some hand doubles over
# in fewer digits than they have, as a session's settings say. The others write as SQLite does.
written_as <- function(connection, type) {
  cast_to(SUM_DIALECTS[[if (inherits(connection, SUM_DIALECTS$MariaDB$of)) "MariaDB" else "SQLite"]][[type]])
}

cast_to <- function(type) function(x) sprintf("CAST(%s AS %s)", x, type)

sum_dialect <- function(connection) {
  found <- Filter(function(dialect) inherits(connection, dialect$of), SUM_DIALECTS)
  if (!length(found)) {
    abort_riemdp("unsupported", sprintf("`sums = TRUE` is for %s.", toString(names(SUM_DIALECTS))))
  }
  found[[1]]
}

# A double that a database is to have with all its digits: some read decimal ones a unit in the last place off, but none
# a whole number below 2^53, nor a power of 2
exact_sql <- function(x, double) {
  if (x == 0) return(double("0"))
  e <- floor(log2(abs(x))) - 52
  m <- x * 2^-e
  if (m != round(m)) { # just below a power of 2, whose logarithm that of x rounds to
    e <- e - 1
    m <- x * 2^-e
  }
  powers <- sprintf("%.0f", 2^c(rep(62, abs(e) %/% 62), abs(e) %% 62))
  sprintf("(%s)", paste(vapply(c(sprintf("%.0f", m), powers), double, ""), collapse = if (e > 0) " * " else " / "))
}

# whole numbers a_j of a record as parts h_j, l_j; what their squares add up to, in units of 2^52 and the rest
square_parts <- function(h, l) {
  squares <- sum(h^2)
  products <- sum(h * l)
  rest <- sum(l^2) + products %% 2^25 * 2^27
  c(squares + floor(products / 2^25) + floor(rest / 2^52), rest %% 2^52)
}

# The query. `from`, `where` and `columns` are SQL; `center` a number for each column; lengths are cut to `edge`, and
# numbers are multiples of 2^-bits. The last check is of whole numbers: their length is at most `limit`.
sums_sql <- function(dialect, from, where, columns, center, edge, bits, limit) {
  k <- seq_along(columns)
  double <- cast_to(dialect$double)
  text <- cast_to(dialect$text)
  exact <- function(x) exact_sql(x, double)
  each <- function(form, ...) paste(sprintf(form, ...), collapse = ", ")
  sum_of <- function(form) paste(vapply(k, function(j) gsub("#", j, form, fixed = TRUE), ""), collapse = " + ")
  level <- function(select, inner) sprintf("SELECT %s FROM (%s%s) AS riemdp_rows", select, inner, dialect$fence)
  all <- function(name) each("%s%d", name, k)
  cells <- sprintf("SELECT %s FROM %s%s", each("%s AS c%d", vapply(columns, dialect$cell, "", double), k), from, where)
  moved <- sprintf("c%d - %s", k, vapply(center, exact, ""))
  # what is below 2^-200 is nothing beside any ball, and its square might be too little for a double
  sql <- level(each("CASE WHEN ABS(%s) < 1e-60 THEN %s ELSE %s END AS u%d", moved, double("0"), moved, k), cells)
  sql <- level(paste0(all("u"), ", SQRT(", sum_of("u# * u#"), ") AS s"), sql)
  sql <- level(each("u%d * CASE WHEN s > %s THEN %s / s ELSE %s END * %s AS y%d", k, exact(edge), exact(edge),
                    double("1"), exact(2^bits), k), sql)
  most <- exact(2^51)
  sql <- level(paste0(each("CASE WHEN y%d < 0 THEN -1 ELSE 1 END AS g%d", k, k), ", ",
                      each("CASE WHEN y%d BETWEEN -%s AND %s THEN %s END AS a%d", k, most, most,
                           dialect$whole(sprintf("ABS(y%d)", k)), k)), sql)
  part <- sprintf("%.0f", SUM_PART)
  sql <- level(paste(all("g"), each("a%d %s %s AS h%d", k, dialect$over, part, k), each("a%d %% %s AS l%d", k, part, k),
                     sep = ", "), sql)
  sql <- level(paste0(all("g"), ", ", all("h"), ", ", all("l"), ", ", sum_of("h# * h#"), " AS p, ", sum_of("h# * l#"),
                      " AS q, ", sum_of("l# * l#"), " AS r"), sql)
  sql <- level(paste0(all("g"), ", ", all("h"), ", ", all("l"), ", ", whole_check(dialect$over, limit), " AS fits"),
               sql)
  total <- function(form) each(paste0(text(paste0("SUM(CASE WHEN fits = 1 THEN ", form, " ELSE 0 END)")),
                                      " AS ", substr(form, 5, 5), "s%d"), k, k, k)
  level(paste0(text("COUNT(*)"), " AS n, ", total("g%d*h%d"), ", ", total("g%d*l%d")), sql)
}

# 1 where the squares of a record's whole numbers add up to no more than that of `limit`, in whole numbers; 0 where they
# don't, or one of them is missing
whole_check <- function(over, limit) {
  most <- sprintf("%.0f", square_parts(limit %/% SUM_PART, limit %% SUM_PART))
  rest <- "(r + (q % 33554432) * 134217728)"
  high <- sprintf("(p + (q %s 33554432) + (%s %s 4503599627370496))", over, rest, over)
  low <- sprintf("(%s %% 4503599627370496)", rest)
  sprintf("CASE WHEN %s < %s OR (%s = %s AND %s <= %s) THEN 1 ELSE 0 END", high, most[1], high, most[1], low, most[2])
}

# Whole numbers that came as text, one in each column of a row, and NaN for all else: what a driver has made numbers of
# may have lost digits
whole_text <- function(row) {
  vapply(unname(as.list(row)), function(x) {
    if (is.character(x) && length(x) == 1 && grepl("^-?[0-9]{1,15}$", x)) as.double(x) else NaN
  }, 0)
}

# The sums as chunks of records in memory have them: multiples of 2^31, and the rest. `got`: a row of text.
sums_answer <- function(got, d, size) {
  got <- whole_text(got)
  if (length(got) != 2 * d + 1 || anyNA(got) || any(abs(got) > 2^49)) {
    abort_riemdp("chunk", "the database's sums are no whole numbers.")
  }
  if (got[1] != size) abort_riemdp("chunk_size", "it has another number of records than when the chunks were made.")
  high <- got[1 + seq_len(d)]
  rest <- (high - 32 * trunc(high / 32)) * SUM_PART + got[1 + d + seq_len(d)]
  cbind(trunc(high / 32) + trunc(rest / 2^31), rest - trunc(rest / 2^31) * 2^31)
}

# in the worker
database_sums <- function(task) {
  q <- task$request
  piece <- task$piece
  d <- length(piece$columns)
  why <- unsummed_request(q, d)
  if (!is.null(why)) abort_riemdp("unsupported", why)
  connection <- task$open()
  on.exit(DBI::dbDisconnect(connection))
  r <- q$numbers$radius
  sql <- sums_sql(sum_dialect(connection), piece$from, piece$where, piece$columns, as.vector(q$center),
                  r * (1 - 4 * .Machine$double.eps * (d + 8)), q$numbers$bits, floor(r * 2^q$numbers$bits))
  sums_answer(DBI::dbGetQuery(connection, sql), d, task$size)
}

# ---- what is served --------------------------------------------------------------------------------------------------

ONLY_SUMS <- paste("records that a database adds up by itself (`sums = TRUE`) give sums of coordinates and nothing",
                   "else: dp_mean() on euclidean() has mechanisms that need no more.")

# what the proof takes on trust: of any queries for chunks, and of sums
STANDS_STILL <- "the table stands still from the first query to the last"
ADDED_UP <- paste("the database adds whole numbers up without error and makes them of each row by itself, as the query",
                  "says, and no cell of a record makes it fail or speak; what a view or query of one's own makes of a",
                  "record depends on that record alone;", STANDS_STILL)

# why a request is none that databases answer with sums of d columns, or NULL; public, as the request is
unsummed_request <- function(q, d) {
  center <- as.vector(q$center)
  ok <- identical(q$kernel, "steps") && inherits(q$M, "riemdp_euclidean") && is.null(q$squares) &&
    length(center) == d && all(is.finite(center)) && all(q$at == 0) && identical(q$numbers$carried, FALSE)
  if (!ok) ONLY_SUMS else unsummed_center(center)
}

unsummed_center <- function(center) {
  if (any(abs(center) > 1e100 | (center != 0 & abs(center) < 1e-100))) {
    "a database's sums need a `center` of numbers that are 0, or between 1e-100 and 1e100 in size."
  }
}

gives_sums <- function(x) is_chunks(x) && has_kind(x, "sums")

# before anything is asked of any chunk
check_summed <- function(x, request) {
  if (!gives_sums(x)) return(invisible())
  why <- unsummed_request(request, length(x$pieces[[1]]$columns))
  if (!is.null(why)) abort_riemdp("unsupported", why)
}

# before a private call spends anything: `records` as release_private() has them; `served`: whether it asks for no more
check_only_sums <- function(records, served) {
  if (!isTRUE(served) && holds_sums(records)) abort_riemdp("unsupported", ONLY_SUMS)
}

# whether what is asked for records is such a source, or holds one somewhere
holds_sums <- function(x) {
  if (is_chunks(x)) return(gives_sums(x))
  if (!is.list(x) || is.data.frame(x) || length(x) > 50) return(FALSE)
  for (one in unclass(x)) if (is.list(one) && holds_sums(one)) return(TRUE)
  FALSE
}
