# What a chunk is read from, and how.

# By the ending of files: the name of what reads one, how in words, and where it needs a package that one, and what such
# files are called.
FILE_READERS <- list(
  rds = list(read = "read_rds", by = "[readRDS()] for `.rds`"),
  csv = list(read = "read_csv", by = "a reader of lines (see below) for `.csv`"),
  parquet = list(read = "read_parquet", by = "`nanoparquet::read_parquet()` for `.parquet`", needs = "nanoparquet",
                 called = "Parquet")
)

reader_of <- function(paths) {
  ending <- unique(tolower(sub(".*[.]", "", basename(paths))))
  entry <- if (length(ending) == 1) FILE_READERS[[ending]]
  if (is.null(entry)) {
    abort_riemdp("argument", sprintf("files that don't all end in %s need a `reader`.",
                                     choice_words(paste0(".", names(FILE_READERS)), mark = "")))
  }
  if (!is.null(entry$needs) && !requireNamespace(entry$needs, quietly = TRUE)) {
    abort_riemdp("unsupported", sprintf("%s files need the package '%s': install.packages(\"%s\"). Or give a `reader`.",
                                        entry$called, entry$needs, entry$needs))
  }
  get(entry$read, mode = "function")
}

# What a task's piece holds. In private calls a table's cells have public types before anybody's code sees them.
read_piece <- function(piece, task, private, names = NULL, rowwise = TRUE) {
  x <- PIECES[[piece$kind]](piece, task)
  x <- apart_from(x, task$unit)
  own <- is.function(task$shape) && !inherits(task$shape, "riemdp_shape")
  x <- needed_columns(x, c(names(task$columns), if (is.null(task$shape)) names), !isTRUE(task$own))
  if (private && is.data.frame(x) && is.null(task$columns) && (own || !rowwise)) {
    abort_riemdp("chunk_columns",
                 paste("in private calls a table that a function of one's own works on needs `columns`, the types of",
                       "its columns."))
  }
  x <- if (!is.null(task$columns)) {
    typed_table(x, task$columns, !is.null(task$shape) || !rowwise)
  } else if (!private) {
    guessed_table(x)
  } else {
    x
  }
  if (is.null(task$shape)) x else if (own) task$shape(x) else task$shape(if (private) plain_numbers(x) else x)
}

# a table without the column that names units, where there is one
apart_from <- function(x, column) {
  if (!is.null(column) && is.list(x) && !inherits(x, "riemdp_points")) x[[column]] <- NULL
  x
}

# what a piece holds as it is stored, by its kind
PIECES <- list(
  data = function(piece, task) piece$x,
  file = function(piece, task) task$reader(piece$path),
  rows = function(piece, task) {
    connection <- task$open()
    on.exit(DBI::dbDisconnect(connection))
    rows <- DBI::dbGetQuery(connection, piece$sql)
    # some drivers say NULL, with a warning, of what failed
    if (!is.data.frame(rows)) abort_riemdp("chunk", "the database gives no rows.")
    if (is.null(piece$cells)) rows else join_cells(rows, piece$cells)
  }
)
# a site, and a database that adds its rows up, answer by themselves
PIECE_KINDS <- c(names(PIECES), "site", "sums")

has_kind <- function(x, kind) any(vapply(unclass(x)$pieces, function(piece) identical(piece$kind, kind), NA))

# a column of numbers with text beside it where a cell holds text
join_cells <- function(rows, names) {
  table <- lapply(seq_along(names), function(j) {
    text <- as.character(rows[[2 * j]])
    structure(as.double(rows[[2 * j - 1]]), riemdp_text = if (!all(is.na(text))) text)
  })
  structure(stats::setNames(table, names), row.names = .set_row_names(nrow(rows)), class = "data.frame",
            riemdp_raw = TRUE)
}

# functions of the namespace: workers get a reference, no copy
read_rds <- function(path) readRDS(path)

read_parquet <- function(path) as.data.frame(nanoparquet::read_parquet(path))
