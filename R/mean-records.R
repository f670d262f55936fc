# Records on their way to a mean: in memory or in chunks, counted, and as the solvers' C code takes them.

# tau: gradient norm to which the private solver goes; public and fixed
SOLVER_TOLERANCE <- 1e-10

record_count <- function(M, x, least = 1) {
  n <- if (is_chunks(x)) chunk_count(x) else .Call(riemdp_count, M, x)
  if (n < least) {
    abort_riemdp("shape", "`x` must hold at least one record.")
  }
  n
}

# What a mechanism's C code takes for the records: themselves, or for chunks the functions that sum over them. `center`
# and `radius` are the public ball, `numbers` those of the mean by public steps.
mean_records <- function(M, x, center, radius, numbers = NULL) {
  if (!is_chunks(x)) return(x)
  check_chunks(x)
  m0 <- .Call(riemdp_stored, M, center)
  ball <- function(what) {
    function(p) exact_total(chunk_ask(x, list(kernel = "ball", M = M, center = m0, radius = radius, p = p, what = what),
                                      private = TRUE))
  }
  steps <- function(kernel, squares = NULL) {
    function(a) {
      request <- list(kernel = kernel, M = M, center = m0, numbers = numbers, n = sum(x$sizes), at = a,
                      squares = squares)
      as.vector(Reduce(`+`, chunk_ask(x, request, private = TRUE)))
    }
  }
  kng <- function(base, far) {
    request <- list(kernel = "kng", M = M, center = m0, radius = radius, n = sum(x$sizes), base = base, far = far)
    chunk_ask(x, request, private = TRUE)
  }
  structure(list(
    n = sum(x$sizes), logs = ball("logs"), coords = ball("coords"), points = ball("points"),
    aligned = ball("aligned"), as_given = ball("unturned"),
    look = function(base) {
      if (at_sites(x)) return(status_number("UNSUPPORTED")) # they count nothing: the envelope does without
      parts <- kng(base, -1)
      sums <- exact_total(parts)
      if (is.double(sums)) c(max(vapply(parts, function(one) attr(one, "far"), 0)), sums) else sums
    },
    cells = function(q) Reduce(`+`, kng(q[-length(q)], q[length(q)])),
    steps = if (!is.null(numbers)) steps("steps"), squares = if (!is.null(numbers)) steps("squares", c(20, 2^20)),
    counts = function(radii) {
      Reduce(`+`, chunk_ask(x, list(kernel = "counts", M = M, center = m0, radii = radii), private = TRUE))
    }
  ), class = "riemdp_tally")
}

# ---- units -----------------------------------------------------------------------------------------------------
# A unit is a person, say, with all its records: what a release protects is one of them, replaced with all its records.

# `unit` of a private call: a vector with an element for each record, or the name of a column of `x`, which the call
# knows as `arg`. Returns list(x without that column, name, of = each record's number from 1 or NA, count, empty: which
# have no record). Each record's number follows from the units alone, never from what a record holds.
read_units <- function(unit, x, arg = "x", least = 1) {
  if (at_sites(x)) {
    abort_riemdp("unsupported", paste("`unit` isn't available for records at sites: those of one unit may lie at",
                                      "several, and sites answer with sums."))
  }
  name <- NULL
  if (names_column(unit, x)) {
    column <- unit
    if (column != "row") name <- column # which would be no name of a unit in a guarantee
    unit <- if (is_chunks(x)) chunk_keys(x, column) else x[[column]]
    x <- if (is_chunks(x)) without_column(x, column) else x[names(x) != column]
  }
  if (is.data.frame(x) && is_string(unit) && nrow(x) != 1) {
    abort_riemdp("shape", sprintf("`unit` is no column of `%s`, and not one element for each record.", arg))
  }
  unit <- plain_units(unit, arg)
  given <- if (is.factor(unit)) levels(unit) else unique(unit[!is.na(unit)])
  of <- if (is.factor(unit)) factor_codes(unit) else match(unit, given)
  units <- list(x = x, name = name, of = of, count = length(given), empty = !tabulate(of, length(given)))
  if (least) check_unit_count(units)
  units
}

names_column <- function(unit, x) {
  if (is_chunks(x)) return(names_chunk_column(unit, x))
  is.data.frame(x) && is.character(unit) && length(unit) == 1 && unit %in% names(x)
}

# where the number of units is public, there is one
check_unit_count <- function(units) {
  if (isTRUE(units$count < 1)) abort_riemdp("argument", "`unit` must name one unit at least.")
}

# records and their units, NULL where `unit` is
with_units <- function(unit, x, arg, least = 1) {
  if (is.null(unit)) return(list(x = x, units = NULL))
  units <- read_units(unit, x, arg, least)
  list(x = units$x, units = units)
}

# ---- groups ----------------------------------------------------------------------------------------------------
# Which of the declared groups each record is in, by itself: private, as all that a record holds.

# `by` of a private call: a vector, or several in a list or table, or names of columns of `x`; `levels`: of one the
# values, of several a list of them. Returns list(x without these columns, of = each record's group or NA, names).
read_groups <- function(by, levels, x) {
  if (is_chunks(x)) abort_riemdp("unsupported", "`by` needs the records in memory.")
  if (names_columns(by, x)) {
    columns <- by
    by <- unclass(x)[columns]
    x <- x[setdiff(names(x), columns)]
  } else if (!is.list(by)) {
    by <- list(by)
  }
  by <- unclass(by)
  if (!is.null(levels) && !is.list(levels)) levels <- list(levels)
  if (!length(by) || !(is.null(levels) || (is.list(levels) && length(levels) == length(by)))) {
    abort_riemdp("argument", "`levels` must hold the levels of each part of `by`.")
  }
  named <- names(by) %||% rep("", length(by))
  cross_groups(lapply(seq_along(by), function(i) {
    read_group(by[[i]], levels[[i]], if (nzchar(named[i])) named[i] else "by")
  }), x)
}

# names of columns can't be as many as the records, whose groups they might be
names_columns <- function(by, x) {
  is.data.frame(x) && is.character(by) && length(by) && length(by) != nrow(x) && !anyDuplicated(by) &&
    all(by %in% names(x))
}

cross_groups <- function(parts, x) {
  if (length(unique(vapply(parts, function(p) length(p$of), 0L))) > 1) {
    abort_riemdp("shape", "the parts of `by` must have an element for each record.")
  }
  of <- parts[[1]]$of
  names <- parts[[1]]$names
  for (part in parts[-1]) {
    of <- of + length(names) * (part$of - 1L)
    names <- as.vector(outer(names, part$names, paste, sep = ":"))
  }
  if (length(names) > 1e4) abort_riemdp("argument", "there may be at most 10,000 groups.")
  if (anyDuplicated(names)) {
    abort_riemdp("argument", sprintf("two groups have one name, \"%s\": levels with \":\" in them can't be told apart.",
                                     names[anyDuplicated(names)]))
  }
  list(x = x, of = of, names = names)
}

read_group <- function(by, levels, what = "by") {
  if (is.factor(by)) {
    levels <- levels %||% base::levels(by)
    by <- factor_labels(by)
  } else if (is.logical(by)) {
    levels <- levels %||% c(FALSE, TRUE)
    by <- by != 0 # however it is stored; with its shape, which is checked below
  }
  plain <- function(x) is.atomic(x) && !is.null(x) && is.null(dim(x)) && !is.object(x)
  text <- function(x) if (is.numeric(x)) number_text(x) else as.character(x)
  if (is.factor(levels)) levels <- as.character(levels)
  if (!plain(by)) {
    abort_riemdp("argument", sprintf("`%s` must be a vector or factor with an element for each record.", what))
  }
  if (is.null(levels)) {
    abort_riemdp("argument", paste0("`levels` of the groups", if (what != "by") sprintf(" (of `%s`)", what),
                                    " must be declared: which ones occur in the records is private. A factor's ",
                                    "levels are public as they are."))
  }
  if (!plain(levels) || !length(levels) || anyNA(levels) || anyDuplicated(text(levels))) {
    abort_riemdp("argument", "`levels` must be different values, at least one, none of them missing.")
  }
  # one that is no UTF-8 is none: else R would compare all of them byte by byte
  list(of = match(utf8_text(text(by)), utf8_text(text(levels))), names = text(levels))
}

# a unit's group, of its own rows: the one of all that have one, or none
unit_groups <- function(of, units) {
  pairs <- unique(cbind(units$of, of)[!is.na(units$of) & !is.na(of), , drop = FALSE])
  alone <- tabulate(pairs[, 1], units$count) == 1
  out <- rep(NA_integer_, units$count)
  pairs <- pairs[alone[pairs[, 1]], , drop = FALSE]
  out[pairs[, 1]] <- pairs[, 2]
  out
}

# ---- formulas of means: points ~ groups ----------------------------------------------------------------------------

# list(x, by, levels, units, said) of points on the left and variables that name groups on the right, or 1; M is NULL
# where it is the points'. Which variables there are, and their lengths, is all that anything raised here comes from.
mean_formula <- function(formula, M, data, unit, by, levels) {
  if (is_chunks(data)) abort_riemdp("unsupported", "a formula of a mean needs the records in memory.")
  if (!(is.null(data) || is.list(data))) abort_riemdp("argument", "`data` must be a data frame or a list.")
  if (length(formula) != 3) abort_riemdp("argument", "the formula needs points on its left side: scan ~ sex.")
  if (!is.null(by)) abort_riemdp("argument", "the formula's right side says what `by` would: give one of them.")
  given <- if (is.null(unit)) list(x = data) else with_units(unit, data, "data", least = 0)
  env <- environment(formula) %||% globalenv()
  left <- check_points_term(formula[[2]])
  names <- group_variables(formula[[3]])
  levels <- formula_levels(levels, names)
  if (is.null(M)) {
    if (!is.name(left)) manifold_of(NULL)
    M <- manifold_of(formula_names(list(left), given$x, env, 1, function(name, x) 1)$columns[[1]])
  }
  rows <- formula_names(c(left, lapply(names, as.name)), given$x, env, count = points_count(left, M))
  lacking <- setdiff(names, names(rows$columns))
  if (length(lacking)) {
    abort_riemdp("shape", sprintf("`%s` must have an element for each record.", lacking[1]))
  }
  x <- points_values(left, rows, M)
  if (record_count(M, x, 0) != rows$n) {
    abort_riemdp("shape", "the left side of the formula must hold as many records as its variables have elements.")
  }
  units <- given$units[names(given$units) != "x"]
  list(x = x, by = if (length(names)) rows$columns[names], levels = levels, units = units,
       said = c(if (rows$scaled) SCALED, constants_said(rows$constants, !is.null(data))))
}

group_variables <- function(right) {
  names <- right_names(right)
  if (anyDuplicated(names)) abort_riemdp("argument", "the formula names a variable twice.")
  names
}

right_names <- function(right) {
  if (is.name(right) && !identical(right, quote(.))) return(as.character(right))
  if (identical(right, 1)) return(character())
  if (!(called(right) %in% c("+", "(")) || (called(right) == "+" && length(right) != 3)) {
    abort_riemdp("unsupported", paste("the right side of a mean's formula names variables, joined by +, or is 1:",
                                      "groups are all combinations of their levels."))
  }
  unlist(lapply(as.list(right)[-1], right_names))
}

# the levels of each variable, by their names
formula_levels <- function(levels, names) {
  if (is.null(levels)) return(NULL)
  if (!is.list(levels) && length(names) == 1) return(list(levels))
  if (!is.list(levels) || !setequal(intersect(names(levels), names), names(levels)) || anyDuplicated(names(levels)) ||
      length(names(levels)) != length(levels)) {
    abort_riemdp("argument", "`levels` must be a list with the formula's variables as names.")
  }
  lapply(names, function(name) levels[[name]])
}

# how many records a variable holds: what the left side takes as it is has the shape of points
points_count <- function(response, M) {
  while (called(response) %in% c("(", "I", "mf_points", "mf_project")) {
    response <- if (called(response) %in% c("(", "I")) response[[2]] else point_arguments(response)$x
  }
  function(name, x) {
    whole <- is.name(response) && identical(name, as.character(response)) && !(is.list(x) && !is.object(x))
    if (whole) record_count(M, points_column(x, M), 0) else records_in(x)
  }
}

# one for each of n records
check_unit_length <- function(units, n) {
  if (length(units$of) != n) {
    abort_riemdp("shape", sprintf("`unit` has %d elements for %d records.", length(units$of), as.integer(n)))
  }
}

# for a curator, before anything is spent; `otherwise`: what the call could do instead
check_units <- function(units, otherwise = c("", "")) {
  lost <- sum(is.na(units$of))
  if (lost) {
    abort_riemdp("argument", trimws(sprintf("%d of the records ha%s no unit: `unit` is missing there. %s", lost,
                                            if (lost == 1) "s" else "ve", otherwise[1])))
  }
  empty <- sum(units$empty)
  if (empty) {
    abort_riemdp("argument", trimws(sprintf("%d level%s of `unit` ha%s no record: droplevels() takes them out. %s",
                                            empty, if (empty == 1) "" else "s", if (empty == 1) "s" else "ve",
                                            otherwise[2])))
  }
}

# What each row counts in its unit: 1 over how many rows that has, rounded downwards to a multiple of 2^-30 (of a larger
# one beyond 2^22 units; where their number is private of 2^-26 always, as no share may depend on it), so that
# sums of shares have no rounding errors and a unit never counts more than 1. With an attribute, the number of units;
# NULL where there are none.
unit_shares <- function(units, private = FALSE) {
  if (is.null(units)) return(NULL)
  if (length(units$of) > 2^26) abort_riemdp("unsupported", "`unit` is for at most 2^26 records.")
  # sums over all units fit into doubles
  one <- if (private) 2^26 else 2^min(30, 52 - ceiling(log2(max(2, units$count))))
  share <- floor(one / tabulate(units$of, units$count)[units$of]) / one
  share[is.na(share)] <- 0 # of no unit
  structure(share, units = as.double(units$count))
}

# The shares of the n rows of a fit. `otherwise` as in check_units(), NULL where a curator doesn't ask. private: the
# number of units.
fit_shares <- function(units, n, method, private, otherwise = c("", "")) {
  if (is.null(units)) return(NULL)
  check_unit_length(units, n)
  if (!is.null(otherwise)) check_units(units, otherwise)
  if (identical(method, "paper")) {
    abort_riemdp("unsupported", "method = \"paper\" isn't available with `unit`: it is for study and promises nothing.")
  }
  unit_shares(units, private)
}

# The shares of features' records, NULL where each counts 1; and how many records or units there are. n: of records
shares_of <- function(x) as.vector(attr(x, "share"))

with_shares <- function(x, share) {
  if (!is.null(share)) attr(x, "share") <- share
  x
}

counted <- function(share, n) if (is.null(share)) n else attr(share, "units")

counted_in <- function(x, n) counted(attr(x, "share"), n)

# records unit by unit, and where each unit's begin among them, from 0, and the last one's end
unit_rows <- function(units) {
  list(rows = order(units$of, na.last = NA), first = c(0L, cumsum(tabulate(units$of, units$count))))
}
