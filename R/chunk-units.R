# Units of records in chunks: which record is whose, and what the records of one unit come to wherever they lie. Proof:
# inst/proofs/chunks.md, section 5.

# Values that come one for each record, cut as the chunks are: a list for each chunk, as chunk_ask() takes them. Shares
# keep the number of units.
each_chunk <- function(sizes, values, name) {
  if (is.null(values)) return(NULL)
  ends <- cumsum(sizes)
  Map(function(from, to) {
    piece <- values[from:to]
    attr(piece, "units") <- attr(values, "units")
    stats::setNames(list(piece), name)
  }, ends - sizes + 1, ends)
}

# numbers of records -> list(chunk, which): chunks hit, and the numbers of their records there
locate_records <- function(sizes, which) {
  ends <- cumsum(sizes)
  chunk <- findInterval(which - 1, ends) + 1
  hit <- sort(unique(chunk))
  list(chunk = hit, which = lapply(hit, function(i) as.double(which[chunk == i] - (ends[i] - sizes[i]))))
}

# whether `unit` is the name of a column: one string can't be a vector with an element for each of several records
names_chunk_column <- function(unit, x) {
  is_string(unit) && (chunk_count(x) > 1 || unit %in% c(x$names, names(x$columns), names(x$pieces[[1]]$x)))
}

# The column that names units, as a factor whose levels are all units, in the order in which they come. A key is its
# cell's text, by the public rule for columns, whatever the other cells are.
chunk_keys <- function(x, column) {
  if (!is.null(x$names) && !column %in% c(x$names, names(x$columns))) { # else they weren't seen yet
    abort_riemdp("argument", sprintf("`unit`: the chunks have no column `%s`.", column))
  }
  x["shape"] <- list(NULL) # it makes records of the other columns
  x$columns <- x$columns[names(x$columns) == column]
  found <- chunk_ask(x, list(kernel = "keys", column = column, names = column, counts = "frame"), private = TRUE)
  all <- as.character(unlist(lapply(found, `[[`, "keys")))
  keys <- unique(all)
  codes <- match(all, keys)
  before <- cumsum(c(0, lengths(lapply(found, `[[`, "keys"))))
  of <- unlist(lapply(seq_along(found), function(i) codes[before[i] + found[[i]]$of]))
  factor(of, levels = seq_along(keys), labels = keys)
}

# chunks whose tables come without that column
without_column <- function(x, column) {
  x$unit <- column
  left <- x$columns[names(x$columns) != column]
  x["columns"] <- list(if (length(left)) left)
  x
}

# ---- means -----------------------------------------------------------------------------------------------------------

# The chunk that holds all records of a unit; 0 of one without a record, -1 of one in several
unit_homes <- function(of, count) {
  home <- integer(count)
  for (i in seq_along(of)) {
    here <- unique(of[[i]]$unit)
    here <- here[!is.na(here)]
    home[here] <- ifelse(home[here] == 0L, i, -1L)
  }
  home
}

# What riemdp_unit_coords() gives for records in memory, with the same bits: coordinates of the units' means, a column a
# unit. Units in one chunk are worked out there; records of others are fetched, moved to the ball, no more at a time
# than the largest chunk and the largest unit hold together. How often that is depends on where units' records lie.
chunk_unit_coords <- function(M, x, units, center, numbers) {
  asked <- function(kernel, each, only) {
    chunk_ask(x, list(kernel = kernel, M = M, center = center, numbers = numbers), each, only, private = TRUE)
  }
  of <- each_chunk(x$sizes, units$of, "unit")
  home <- unit_homes(of, units$count)
  out <- matrix(0, mf_facts(M)$dimension, units$count)
  here <- split(seq_along(home), factor(home, seq_along(of)))
  only <- which(lengths(here) > 0)
  got <- if (length(only)) asked("unit_coords", lapply(only, function(i) {
    list(unit = match(of[[i]]$unit, here[[i]]), count = length(here[[i]]))
  }), only)
  for (j in seq_along(only)) out[, here[[only[j]]]] <- got[[j]]
  spread <- which(home < 0)
  batch <- cumsum(as.double(tabulate(units$of, units$count)[spread])) %/% max(x$sizes)
  rows <- which(home[units$of] < 0)
  for (at in split(rows, batch[match(units$of[rows], spread)])) {
    those <- unique(units$of[at])
    place <- locate_records(x$sizes, at)
    got <- asked("ball_rows", lapply(place$which, function(w) list(which = w)), place$chunk)
    out[, those] <- uncounted(.Call(riemdp_unit_coords, M, do.call(cbind, got), NULL, numbers,
                                    match(units$of[at], those), length(those)))
  }
  out
}

# how many units have a record beyond the radius, in whatever chunk
chunk_units_beyond <- function(M, x, units, center, radius) {
  request <- list(kernel = "unit_beyond", M = M, center = center, radius = radius)
  found <- chunk_ask(x, request, each_chunk(x$sizes, units$of, "unit"), private = TRUE)
  as.double(length(unique(unlist(found))))
}

UNIT_KERNELS <- list(
  keys = function(q, x) {
    cells <- if (is.list(x)) .subset2(x, q$column)
    if (is.null(cells)) abort_riemdp("chunk_columns", "`unit` names a column, and there is no table.")
    plain <- cell_count(cells) == q$size && !inherits(cells, "riemdp_points")
    cells <- if (plain) named_cells(text_cells(cells)) else rep(NA_character_, q$size)
    keys <- unique(cells[!is.na(cells)])
    list(keys = keys, of = match(cells, keys))
  },
  unit_coords = function(q, x) .Call(riemdp_unit_coords, q$M, x, q$center, q$numbers, q$unit, q$count),
  ball_rows = function(q, x) .Call(riemdp_unit_rows, q$M, x, q$center, q$numbers, q$which),
  unit_beyond = function(q, x) {
    here <- unique(q$unit[!is.na(q$unit)])
    here[.Call(riemdp_chunk_counts, q$M, x, q$center, q$radius, match(q$unit, here), length(here)) > 0]
  }
)
