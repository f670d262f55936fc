# What a chunk is read from, and how.

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

# What a task's piece holds. In private calls a table's cells have public types before anybody's code sees them.
read_piece <- function(piece, task, private, names = NULL, rowwise = TRUE) {
  x <- piece_contents(piece, task)
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

# as it is stored
piece_contents <- function(piece, task) {
  switch(piece$kind,
    data = piece$x,
    file = task$reader(piece$path),
    rows = {
      connection <- task$open()
      on.exit(DBI::dbDisconnect(connection))
      rows <- DBI::dbGetQuery(connection, piece$sql)
      if (is.null(piece$cells)) rows else join_cells(rows, piece$cells)
    }
  )
}

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
