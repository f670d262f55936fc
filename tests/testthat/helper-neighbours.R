# Whole calls on neighbours. Two data sets that differ in one record, drawn from a grammar of nasty ones, go through every private
# function in every form of input and by every mechanism; whatever leaves the two calls is compared, and the quantity to which noise is
# added against what the noise pays for. Used by test-neighbours.R and tools/neighbours. Tables:
#   neighbour_kinds()      what records are: columns with their types, public bounds, usual and nasty records
#   neighbour_forms()      how records come: holds = "numbers" (columns have types), "cells" (any cell may be text), "lines" (bytes),
#                          "objects" (a record is any R object)
#   neighbour_calls()      private functions: kind of records, cases (mechanisms, methods), the call, entries that hold noisy values; `undrawn`, of
#                          a call or a case, says why no draw of it is seen, `forms` of which forms alone it is,
#                          `outcome_of`, by method, a noisy choice that the rest of the release follows
#   NUMBERS                what noise is added to, by the routine that draws or by the price's proof
# A new function, form or case is a line there.

`%||%` <- function(a, b) if (is.null(a)) b else a

internal <- function(name) get(name, asNamespace("riemdp"))

# What an earlier call with the same public numbers has left is taken without the ticks that computing it has: who compares ticks of two
# calls begins both without it
forget_ticks <- function() {
  cache <- internal("cache")
  rm(list = grep("^(acceptance|steps|wrapped|radii|radial|plan) ", ls(cache), value = TRUE), envir = cache)
}

# What is kept of public numbers is all forgotten at 500 entries: not between two calls whose ticks are compared
make_room <- function() {
  cache <- internal("cache")
  if (length(cache) > 250) rm(list = ls(cache), envir = cache)
}

# value of expr while functions of the namespace are others
with_internals <- function(expr, ...) {
  new <- list(...)
  ns <- asNamespace("riemdp")
  old <- mget(names(new), ns)
  put <- function(functions) {
    for (name in names(functions)) {
      unlockBinding(name, ns)
      assign(name, functions[[name]], ns)
      lockBinding(name, ns)
    }
  }
  on.exit(put(old))
  put(new)
  expr
}

# plan_size(), or another function of a space, a request and a size, that makes the plan of each size once: for thousands of draws of one
# request
plans_of_sizes <- function(name = "plan_size") {
  plans <- list()
  make <- asNamespace("riemdp")[[name]]
  function(M, ask, count, ...) {
    key <- format(count)
    if (is.null(plans[[key]])) plans[[key]] <<- make(M, ask, count, ...)
    plans[[key]]
  }
}

# ---- kinds of records ---------------------------------------------------------------------------------------------------------

NEIGHBOURS <- 18L # records of a data set, in pieces of 7; a case may ask for more

# Points are rows of stored numbers; coordinates p1, p2, ...
neighbour_spaces <- function() {
  kite <- exp(2i * pi * (1:3) / 3) / sqrt(3)
  list(
    sphere = list(M = sphere(2), center = c(0, 0, 1), radius = 0.4),
    plane = list(M = euclidean(2), center = c(0, 0), radius = 2),
    matrices = list(M = spd(2), center = diag(2), radius = 1),
    spectra = list(M = hermitian_spd(2), center = matrix(c(1, 0.2i, -0.2i, 1), 2), radius = 1),
    hyperboloid = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1.5),
    triangles = list(M = kendall(3), center = kite, radius = 0.3),
    solids = list(M = kendall(4, 3), center = diag(4)[, 1:3] / 1.5 - 1 / 6, radius = 0.2),
    sizes = list(M = size_and_shape(3), center = cbind(c(0, 1, 0.5), c(0, 0, 1)), radius = 0.2),
    ranks = list(M = psd(3, 2), center = cbind(c(1, 0, 1), c(0, 1, -0.5)), radius = 0.25),
    frames = list(M = stiefel(3, 2), center = diag(3)[, 1:2], radius = 0.3),
    rotations = list(M = rotations(3), center = diag(3), radius = 0.8),
    pair = list(M = product(sphere(2), euclidean(1), weights = c(1, 1 / 4)), center = c(0, 0, 1, 0), radius = 0.4),
    double = list(M = power(hyperbolic(2), 2), center = c(1, 0, 0, 1, 0, 0), radius = 1),
    parts = list(M = simplex(3), center = c(0.5, 0.3, 0.2), radius = 1),
    roots = list(M = simplex(3, "fisher"), center = sqrt(c(0.5, 0.3, 0.2)), radius = 0.8),
    correlations = list(M = correlation(3), center = diag(3), radius = 1)
  )
}

# n x ambient numbers of usual records, some of them outside the ball
usual_points <- function(space, n) {
  M <- space$M
  d <- mf_facts(M)$dimension
  a <- matrix(stats::rnorm(n * d, sd = 0.7 * space$radius / sqrt(d)), n)
  unclass(internal("storage_rows")(mf_exp(M, space$center, mf_from_coords(M, space$center, a)), M))
}

point_columns <- function(space) paste0("p", seq_len(mf_facts(space$M)$ambient))

# all records at the ball's edge: there one moves sums by most
at_edge <- function(d, space) {
  edge <- nasty_points(space)$edge
  d[point_columns(space)] <- as.list(edge)
  d
}

points_frame <- function(space, rows) stats::setNames(as.data.frame(rows), point_columns(space))

neighbour_kinds <- function() {
  kinds <- list(
    table = list(
      types = c(x = "number", g = "text", y = "number"),
      usual = function(space, n) data.frame(x = stats::runif(n), g = sample(c("F", "M"), n, TRUE), y = stats::rnorm(n), stringsAsFactors = FALSE),
      # of a whole data set: what makes sums, types or levels special
      settings = list(
        usual = function(d, ...) d, far = function(d, ...) { d$y <- d$y + 1e4; d }, huge = function(d, ...) { d$y <- d$y * 1e300; d },
        equal = function(d, ...) { d[] <- d[rep(1, nrow(d)), ]; d }, one_level = function(d, ...) { d$g <- "F"; d },
        whole = function(d, ...) { d$y <- round(d$y); d }
      )
    ),
    curve = list(
      types = function(space) stats::setNames(rep("number", 1 + length(point_columns(space))), c("x", point_columns(space))),
      usual = function(space, n) cbind(x = stats::runif(n), points_frame(space, usual_points(space, n))),
      settings = list(usual = function(d, ...) d, equal = function(d, ...) { d[] <- d[rep(1, nrow(d)), ]; d }, edge = at_edge)
    ),
    points = list(
      types = function(space) stats::setNames(rep("number", length(point_columns(space))), point_columns(space)),
      usual = function(space, n) points_frame(space, usual_points(space, n)),
      settings = list(usual = function(d, ...) d, equal = function(d, ...) { d[] <- d[rep(1, nrow(d)), ]; d }, edge = at_edge)
    ),
    rows = list(
      types = c(a = "number", b = "number", c = "number"),
      usual = function(space, n) as.data.frame(matrix(stats::rnorm(3 * n), n, dimnames = list(NULL, c("a", "b", "c")))),
      settings = list(usual = function(d, ...) d, huge = function(d, ...) d * 1e300, whole = function(d, ...) round(d))
    ),
    own = list(
      types = c(v = "number"),
      usual = function(space, n) data.frame(v = stats::rnorm(n)),
      settings = list(usual = function(d, ...) d)
    )
  )
  kinds$trend <- kinds$curve # but for what moves most
  kinds
}

kind_types <- function(kind, space) {
  types <- neighbour_kinds()[[kind]]$types
  if (is.function(types)) types(space) else types
}

# ---- the grammar of nasty records -----------------------------------------------------------------------------------------------

# A record is a list of cells by column: a number, a string (text as it stands in a file), or for CSV a whole line of bytes
NASTY_NUMBERS <- c(missing = NA, nan = NaN, infinite = Inf, minus_infinite = -Inf, huge = 1e308, minus_huge = -1e308, largest = .Machine$double.xmax,
                   squares_overflow = 1e160, denormal = 5e-324, tiny = 1e-300, minus_zero = -0, beyond_integers = 2^53 + 2, minus_one = -1)
NASTY_TEXT <- c(word = "unknown", empty = "", blank = " ", says_na = "NA", says_nan = "NaN", says_inf = "Inf", too_large = "1e999", hexadecimal = "0x1A",
                leading_zeros = "007", decimal_comma = "1,5", two_numbers = "1 2", logical = "TRUE", letter = "F", other_level = "M", level_blank = "M ",
                lower = "m", new_level = "other", utf8 = "\u00e9t\u00e9", latin1 = "\xe9t\xe9", bom = "\ufeff1", quote = "\"", apostrophe = "O'Neill",
                integer_suffix = "1L", other_digits = "\u0661\u0662", exponent_d = "1d0", comment = "# 1", backslash = "\\N", long = strrep("9", 400),
                percent = "50%", underscore = "1_000", date = "2024-01-31", minus = "-", plus = "+1", dollar = "$1", null = "NULL",
                line_break = "1\n2", semicolon = "1;2", huge_integer = "9223372036854775808")

# Bytes of a line in a CSV file, from the usual cells of that record
NASTY_LINES <- list(
  extra_comma = function(cells) paste0(paste(cells, collapse = ","), ",7"), extra_commas = function(cells) paste0(paste(cells, collapse = ","), ",,,,"),
  missing_comma = function(cells) paste(cells[-1], collapse = ","), no_cells = function(cells) "", only_commas = function(cells) strrep(",", length(cells) - 1),
  unclosed_quote = function(cells) paste0("\"", paste(cells, collapse = ",")),
  quote_inside = function(cells) paste(c(paste0(cells[1], "\""), cells[-1]), collapse = ","),
  quoted = function(cells) paste0("\"", cells, "\"", collapse = ","),
  blanks = function(cells) paste0(" ", cells, " ", collapse = ","), comment = function(cells) paste0("#", paste(cells, collapse = ",")),
  carriage_return = function(cells) paste0(paste(cells, collapse = ","), "\r"), tabs = function(cells) paste(cells, collapse = "\t"),
  header_again = function(cells) paste(names(cells), collapse = ","), very_long = function(cells) paste0(paste(cells, collapse = ","), strrep("0", 1e5)),
  latin1 = function(cells) paste(c("\xe9", cells[-1]), collapse = ","), bom = function(cells) paste0("\xef\xbb\xbf", paste(cells, collapse = ","))
)

# Records as R objects: wrong types and lengths
NASTY_OBJECTS <- list(
  null = NULL, text = "unknown", long = c(1, 2), none = numeric(), list = list(1), complex = 1i, logical = TRUE, factor = factor("a"), raw = as.raw(1),
  fun = function() stop("a record was called"), matrix = matrix(1, 2, 2), date = as.Date("2024-01-31"), frame = data.frame(v = 1),
  language = quote(stop("a record"))
)

# Where points go wrong as points
nasty_points <- function(space) {
  M <- space$M
  centre <- drop(internal("storage_rows")(space$center, M))
  d <- mf_facts(M)$dimension
  at <- function(a) drop(internal("storage_rows")(mf_exp(M, space$center, mf_from_coords(M, space$center, a)), M))
  edge <- 0.999999 * space$radius
  out <- list(centre = centre, origin = 0 * centre, antipode = -centre, off = 2 * centre, nearly = centre * (1 + 1e-7), edge = at(c(edge, rep(0, d - 1))),
              opposite = at(c(-edge, rep(0, d - 1))), outside = at(c(1.4 * space$radius, rep(0, d - 1))))
  if (M$name == "sphere") out$cut_locus <- c(1e-12, 0, -1)
  if (M$name == "product" && mf_facts(M)$ambient == 4) out <- c(out, list(cut_locus = c(1e-12, 0, -1, 0), one_off = c(0, 0, 2, 0), one_far = c(0, 0, 1, 1e300)))
  if (M$name == "kendall") out$cut_locus <- drop(internal("storage_rows")(exp(-2i * pi * (1:3) / 3) / sqrt(3), M))
  if (M$name == "kendall_space") out <- c(out, list(mirrored = c(centre[1:8], -centre[9:12]), line = rep(centre[1:4], 3)))
  if (M$name == "size_plane") out <- c(out, list(nothing = rep(1, 6), huge = 1e200 * centre, tiny = 1e-200 * centre, larger = 3 * centre))
  if (M$name == "psd") {
    out <- c(out, list(deficient = rep(centre[1:3], 2), huge = 1e200 * centre, turned = centre[c(4:6, 1:3)],
                       cut_locus = c(-0.5, 1, 0.5, 1, 1, -1)))
  }
  if (inherits(M, "riemdp_spd") || grepl("^spd", M$name)) {
    out <- c(out, list(singular = c(1, 0, 0, 0), negative = c(-1, 0, 0, 1), not_symmetric = c(1, 0.5, -0.5, 1), ill = c(1e150, 0, 0, 1e-150)))
  }
  if (M$name == "hyperboloid") out$far <- c(cosh(300), sinh(300), 0)
  out
}

pick_from <- function(x) sample(length(x), 1)

# list(record, what): the record that takes the place of `old` (cells by column)
nasty_record <- function(kind, space, form, old, others) {
  types <- kind_types(kind, space)
  cells <- function(columns, values, what) {
    old[columns] <- values
    list(record = old, what = what)
  }
  one_column <- function() names(types)[pick_from(types)]
  numeric_columns <- names(types)[types == "number"]
  ways <- list(
    number = function() {
      i <- pick_from(NASTY_NUMBERS)
      column <- numeric_columns[pick_from(numeric_columns)]
      cells(column, list(NASTY_NUMBERS[[i]]), paste0(names(NASTY_NUMBERS)[i], " in ", column))
    },
    all_missing = function() cells(names(types), rep(list(NA), length(types)), "all missing"),
    same_number = function() cells(numeric_columns, rep(list(NASTY_NUMBERS[[i <- pick_from(NASTY_NUMBERS)]]), length(numeric_columns)),
                                   paste0(names(NASTY_NUMBERS)[i], " everywhere")),
    duplicate = function() list(record = others[[pick_from(others)]], what = "duplicate"),
    usual = function() list(record = as.list(neighbour_kinds()[[kind]]$usual(space, 1)), what = "another usual one")
  )
  if (kind %in% c("points", "curve", "trend")) {
    ways$point <- function() {
      all <- nasty_points(space)
      i <- pick_from(all)
      cells(point_columns(space), as.list(all[[i]]), paste(names(all)[i], "point"))
    }
  }
  text <- function(columns) function() {
    column <- columns[pick_from(columns)]
    # a line of a CSV file is a record whatever is in it: two lines are no neighbour of one
    i <- pick_from(if (form$holds == "lines") setdiff(names(NASTY_TEXT), "line_break") else names(NASTY_TEXT))
    i <- match(if (form$holds == "lines") setdiff(names(NASTY_TEXT), "line_break")[i] else names(NASTY_TEXT)[i], names(NASTY_TEXT))
    cells(column, list(NASTY_TEXT[[i]]), sprintf("text (%s) in %s", names(NASTY_TEXT)[i], column))
  }
  # text where the column is text by its type; where any cell may be text, in a number's place as well
  if (any(types == "text")) ways$text <- text(names(types)[types == "text"])
  if (form$holds %in% c("cells", "lines")) ways$wrong_type <- ways$wrong_type_again <- text(numeric_columns)
  if (form$holds == "lines") {
    ways$line <- ways$line_again <- function() {
      i <- pick_from(NASTY_LINES)
      list(record = structure(old, line = NASTY_LINES[[i]](vapply(old, cell_text, ""))), what = paste0("line: ", names(NASTY_LINES)[i]))
    }
  }
  if (form$holds == "objects") {
    ways <- c(ways, rep(list(object = function() {
      i <- pick_from(NASTY_OBJECTS)
      list(record = structure(list(), object = NASTY_OBJECTS[i]), what = paste0("object: ", names(NASTY_OBJECTS)[i]))
    }), 4))
  }
  ways[[pick_from(ways)]]()
}

cell_text <- function(cell) if (is.character(cell)) cell else if (is.na(cell) && !is.nan(cell)) "NA" else sprintf("%.17g", cell)

# list(one, two, what): data sets as lists of records. The common records may hold a nasty one as well.
neighbour_pair <- function(kind, space, form, n = NEIGHBOURS) {
  source <- neighbour_kinds()[[kind]]
  setting <- pick_from(source$settings)
  frame <- source$settings[[setting]](source$usual(space, n), space)
  records <- lapply(seq_len(n), function(i) as.list(frame[i, , drop = FALSE]))
  what <- names(source$settings)[setting]
  if (stats::runif(1) < 0.3) {
    i <- pick_from(records)
    extra <- nasty_record(kind, space, form, records[[i]], records)
    records[[i]] <- extra$record
    what <- paste0(what, ", with ", extra$what)
  }
  usual <- Filter(function(r) is.null(attributes(r)$line) && is.null(attributes(r)$object), records)
  i <- pick_from(records)
  old <- if (is.null(attributes(records[[i]])$line) && is.null(attributes(records[[i]])$object)) records[[i]] else usual[[1]]
  new <- nasty_record(kind, space, form, old, usual)
  two <- records
  two[[i]] <- new$record
  list(one = records, two = two, what = sprintf("%s; record %d: %s", what, i, new$what))
}

# As far apart as records can be for what most calls add up: beyond every bound, on opposite sides
extreme_pair <- function(kind, space, form, n = NEIGHBOURS) {
  source <- neighbour_kinds()[[kind]]
  frame <- source$usual(space, n)
  if (kind == "points") frame <- at_edge(frame, space)
  points <- function(size) {
    d <- mf_facts(space$M)$dimension
    unclass(internal("storage_rows")(mf_exp(space$M, space$center, mf_from_coords(space$M, space$center, rbind(c(size, numeric(d - 1))))), space$M))
  }
  record <- function(sign) switch(kind,
    table = list(x = max(0, sign), g = "M", y = sign * 1e6),
    own = list(v = sign * 1e6),
    points = as.list(points_frame(space, points(sign * 0.999999 * space$radius))),
    curve = c(list(x = 1), as.list(points_frame(space, points(3 * sign * space$radius)))),
    trend = c(list(x = max(0, sign)), as.list(points_frame(space, points(sign * space$radius)))),
    rows = {
      start <- internal("pca_start")(3, 1)
      across <- c(-start[2], start[1], 0) / sqrt(sum(start[1:2]^2))
      stats::setNames(as.list(1e3 * (start + sign * across)), c("a", "b", "c"))
    }
  )
  one <- lapply(seq_len(n), function(i) as.list(frame[i, , drop = FALSE]))
  two <- one
  if (kind == "trend") { # all alike, but for the predictor of one and the response of another: what some lots make of it
    one <- two <- rep(list(record(-1)), n)
    one[[2]]$x <- two[[2]]$x <- 1
    one[[3]][-1] <- two[[3]][-1] <- record(1)[-1]
  }
  one[[1]] <- record(1)
  two[[1]] <- record(-1)
  list(one = one, two = two, what = "opposite records")
}

# The pair that a case asks for instead: one that has the other's new record besides its own ("more"), or the same records ("same"), of which
# the arguments say something else
pair_of <- function(pair, asked) {
  if (is.null(asked) || asked == "replaced") return(pair)
  new <- Filter(function(i) !identical(pair$one[[i]], pair$two[[i]]), seq_along(pair$one))
  pair$two <- if (asked == "more") c(pair$one, pair$two[c(new, 1)[1]]) else pair$one
  pair$what <- paste0(pair$what, if (asked == "more") ", that is there or isn't" else ", in both")
  pair
}

# arguments that depend on how many records there are, and on which data set it is
with_side <- function(case, count, side) {
  case$args <- lapply(case$args, function(v) if (is.function(v)) v(count, side) else v)
  case
}

# ---- forms of input -------------------------------------------------------------------------------------------------------------

# columns with the types that the kind declares
typed_frame <- function(records, types) {
  out <- lapply(stats::setNames(nm = names(types)), function(name) {
    cells <- lapply(records, `[[`, name)
    if (types[[name]] == "text") return(vapply(cells, function(v) if (is.na(v)) NA_character_ else as.character(v), ""))
    # bytes that are no text of the session stop as.double()
    vapply(cells, function(v) suppressWarnings(as.double(if (is.character(v)) iconv(v, "", "UTF-8", sub = "?") else v)), 0)
  })
  as.data.frame(out, stringsAsFactors = FALSE)
}

# columns with the types that somebody guessed from these records
guessed_frame <- function(records, types) {
  out <- lapply(stats::setNames(nm = names(types)), function(name) {
    cells <- lapply(records, `[[`, name)
    if (any(vapply(cells, is.character, NA))) return(vapply(cells, function(v) if (identical(v, NA)) NA_character_ else cell_text(v), ""))
    v <- vapply(cells, as.double, 0)
    if (all(is.na(v) & !is.nan(v))) rep(NA, length(v)) else if (all(is.finite(v) & v == round(v) & abs(v) < 1e9)) as.integer(v) else v
  })
  as.data.frame(out, stringsAsFactors = FALSE)
}

pieces_of <- function(records, size = 7) split(records, (seq_along(records) - 1) %/% size)

csv_bytes <- function(records, types) {
  line <- function(record) {
    given <- attr(record, "line")
    if (!is.null(given)) return(given)
    paste(vapply(names(types), function(name) {
      text <- cell_text(record[[name]])
      if (grepl("[,\"\n]", text, useBytes = TRUE)) paste0("\"", gsub("\"", "\"\"", text, useBytes = TRUE), "\"") else text
    }, ""), collapse = ",")
  }
  # bytes as they are, whatever encodings strings are marked with
  lines <- c(paste(names(types), collapse = ","), vapply(records, line, ""))
  unlist(lapply(lines, function(l) c(charToRaw(l), as.raw(10L))))
}

# files of a folder, one for each piece
write_pieces <- function(records, folder, ending, write) {
  pieces <- pieces_of(records)
  paths <- file.path(folder, sprintf("part-%d.%s", seq_along(pieces), ending))
  for (i in seq_along(pieces)) write(pieces[[i]], paths[i])
  paths
}

# the arguments of chunk_files() and its like that say what columns are, where there are any
declared <- function(fun, kind, types) {
  if ("columns" %in% names(formals(fun))) list(columns = types)
}

piece_sizes <- function(records) as.double(lengths(unname(pieces_of(records))))

files_form <- function(ending, holds, write, reader = NULL, needs = NULL) {
  list(holds = holds, kinds = c("table", "curve", "points", "rows"), piece = "file", needs = needs, make = function(records, kind, space, folder) {
    types <- kind_types(kind, space)
    paths <- write_pieces(records, folder, ending, function(piece, path) write(piece, path, types))
    args <- list(paths, reader = reader, sizes = piece_sizes(records), shape = if (kind == "points") space$M)
    function() do.call(chunk_files, c(args, declared(chunk_files, kind, types)))
  })
}

sites_form <- function(..., kinds = "points") {
  list(holds = "numbers", kinds = kinds, piece = "site", make = function(records, kind, space, folder) {
    types <- kind_types(kind, space)
    frame <- typed_frame(records, types)
    all <- if (kind == "rows") as.matrix(frame) else plain_points(frame, space)
    columns <- if (kind == "rows") types
    half <- seq_len(length(records) %/% 2)
    parts <- list(internal("records_of")(all, half), internal("records_of")(all, -half))
    function() do.call(sites, c(lapply(parts, function(x) site(internal("records_in")(x), function(request) site_answer(request, x, "sums"))),
                                  list(..., columns = columns)))
  })
}

# forms that are for the cases which name them
ASKED_FORMS <- c("shares", "keyed")

plain_points <- function(frame, space) rows_to_points(as.matrix(frame), space$M)

# what is no point is a missing one
points_vector <- function(rows, space) {
  y <- plain_points(rows, space)
  good <- mf_is_point(space$M, y)
  if (!any(good)) return(mf_points(space$center, space$M)[rep(NA_integer_, length(good))])
  mf_points(internal("records_of")(y, which(good)), space$M)[match(seq_along(good), which(good))]
}

# what dp_regression() takes: points in one variable
curve_frame <- function(frame, space) {
  out <- data.frame(x = frame$x)
  out$y <- points_vector(as.matrix(frame[point_columns(space)]), space)
  out
}

# A form says what cells it holds, for which kinds of records it is there, of which kind its chunks are (`piece`), and make(records, kind, space,
# folder): a function without arguments that gives the data. What that function does, such as reading, is part of the call.
neighbour_forms <- function() {
  typed <- function(records, kind, space) typed_frame(records, kind_types(kind, space))
  in_memory <- function(kinds, make) {
    list(holds = "numbers", kinds = kinds, make = function(records, kind, space, folder) {
      data <- make(typed(records, kind, space), kind, space)
      function() data
    })
  }
  list(
    array = in_memory(c("points", "rows"), function(frame, kind, space) if (kind == "rows") as.matrix(frame) else plain_points(frame, space)),
    frame = in_memory(c("table", "curve", "trend", "rows"),
                      function(frame, kind, space) if (kind %in% c("curve", "trend")) curve_frame(frame, space) else frame),
    factors = in_memory("table", function(frame, kind, space) {
      frame$g <- factor(frame$g)
      frame
    }),
    # columns that hold what somebody guessed, numbers as text among them
    guessed = list(holds = "cells", kinds = c("table", "points", "rows"), make = function(records, kind, space, folder) {
      frame <- guessed_frame(records, kind_types(kind, space))
      if (kind == "points" && mf_facts(space$M)$rows > 0) frame <- rows_to_points(typed(records, kind, space), space$M)
      function() frame
    }),
    # a table of cells that are elements of lists
    lists = list(holds = "cells", kinds = c("table", "rows"), make = function(records, kind, space, folder) {
      frame <- typed(records, kind, space)
      for (name in names(frame)) frame[[name]] <- I(lapply(records, `[[`, name))
      function() frame
    }),
    mf_points = in_memory("points", function(frame, kind, space) points_vector(frame, space)),
    list = in_memory("curve", function(frame, kind, space) list(x = frame$x, y = plain_points(frame[point_columns(space)], space))),
    environment = in_memory("table", function(frame, kind, space) list2env(frame, parent = globalenv())),
    objects = list(holds = "objects", kinds = "own", make = function(records, kind, space, folder) {
      data <- lapply(records, function(r) if (is.null(attr(r, "object"))) r$v else attr(r, "object")[[1]])
      function() data
    }),
    chunks = list(holds = "numbers", kinds = c("table", "curve", "points", "rows"), piece = "data", make = function(records, kind, space, folder) {
      frame <- typed(records, kind, space)
      data <- switch(kind, curve = , trend = curve_frame(frame, space), points = plain_points(frame, space), rows = as.matrix(frame), frame)
      function() chunks(data, 7)
    }),
    # elements of a list, with types of their own
    pieces = list(holds = "cells", kinds = c("table", "points", "rows"), piece = "data", make = function(records, kind, space, folder) {
      types <- kind_types(kind, space)
      parts <- lapply(unname(pieces_of(records)), guessed_frame, types)
      function() do.call(chunks, c(list(parts, shape = if (kind == "points") space$M), declared(chunks, kind, types)))
    }),
    # with a column `who` of five units, each with rows in several elements, of another class in each
    keyed = list(holds = "cells", kinds = c("table", "curve", "points", "rows"), piece = "data", make = function(records, kind, space, folder) {
      types <- kind_types(kind, space)
      parts <- lapply(unname(pieces_of(records)), guessed_frame, types)
      who <- split(rep_len(1:5, length(records)), rep(seq_along(parts), piece_sizes(records)))
      for (i in seq_along(parts)) parts[[i]]$who <- list(as.integer, as.character, factor)[[1 + i %% 3]](who[[i]])
      function() do.call(chunks, c(list(parts, sizes = piece_sizes(records), shape = if (kind == "points") space$M), declared(chunks, kind, types)))
    }),
    csv = files_form("csv", "lines", function(piece, path, types) writeBin(csv_bytes(piece, types), path)),
    rds = files_form("rds", "cells", function(piece, path, types) saveRDS(guessed_frame(piece, types), path)),
    parquet = files_form("parquet", "cells", function(piece, path, types) {
      frame <- guessed_frame(piece, types)
      frame[] <- lapply(frame, function(v) if (is.character(v)) enc2utf8(iconv(v, "", "UTF-8", sub = "?")) else v)
      nanoparquet::write_parquet(frame, path)
    }, needs = "nanoparquet"),
    # a reader of the user's, total as the proof assumes, whose classes of columns depend on the records
    reader = files_form("bin", "cells", function(piece, path, types) saveRDS(guessed_frame(piece, types), path), reader = function(path) {
      x <- readRDS(path)
      x[] <- lapply(x, function(v) if (is.character(v)) factor(v) else v)
      x
    }),
    # columns without a type: each cell has its own
    sqlite = list(holds = "cells", kinds = c("table", "curve", "points", "rows"), piece = "rows", needs = c("DBI", "RSQLite"),
                  make = function(records, kind, space, folder) {
      types <- kind_types(kind, space)
      path <- file.path(folder, "records.sqlite")
      open <- function() DBI::dbConnect(RSQLite::SQLite(), path)
      environment(open) <- list2env(list(path = path), parent = globalenv())
      connection <- open()
      on.exit(DBI::dbDisconnect(connection))
      DBI::dbExecute(connection, sprintf("CREATE TABLE records (id INTEGER PRIMARY KEY, %s)", paste(names(types), collapse = ", ")))
      for (i in seq_along(records)) {
        cells <- lapply(names(types), function(name) {
          cell <- records[[i]][[name]]
          if (is.character(cell)) enc2utf8(iconv(cell, "", "UTF-8", sub = "?")) else if (is.nan(cell)) NA_real_ else cell
        })
        DBI::dbExecute(connection, sprintf("INSERT INTO records VALUES (%d%s)", i, strrep(", ?", length(types))), params = unname(cells))
      }
      columns <- if (typed_columns()) types else names(types)
      function() chunk_query(open, "records", "id", columns = columns, size = 7, shape = if (kind == "points") space$M)
    }),
    sites = sites_form(),
    shares = sites_form(shares = TRUE, colluding = 0, kinds = c("points", "rows"))
  )
}

# whether columns are declared with their types
typed_columns <- function() "columns" %in% names(formals(chunk_files))

able_forms <- function() {
  Filter(function(f) all(vapply(as.character(f$needs), requireNamespace, NA, quietly = TRUE)), neighbour_forms())
}
