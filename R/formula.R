# Terms of private formulas, evaluated here and not by R: every function is one of a row, and every name is a column,
# whose cells are converted to what their place asks for ("number" or "text", see R/columns.R), or a public constant. So
# no method of a class, no set of levels and no type that a column happens to have can let one record change what is
# made of another. Checks are of the formula alone.

# functions of numbers, row by row
ROWWISE_NUMBERS <- c("+", "-", "*", "/", "^", "exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "abs", "sin",
                     "cos", "tan", "atan", "sinh", "cosh", "tanh", "<", ">", "<=", ">=", "!", "&", "|", "round",
                     "floor", "ceiling", "sign", "pmin", "pmax")
ROWWISE <- c(ROWWISE_NUMBERS, "(", "I", "as.numeric", "as.double", "as.integer", "as.character", "as.factor", "factor",
             "is.na", "ifelse", "==", "!=")

called <- function(expr) if (is.call(expr) && is.name(expr[[1]])) as.character(expr[[1]]) else ""

refuse_call <- function(name) {
  if (name %in% c("bs", "ns", "poly")) {
    abort_riemdp("unsupported", sprintf(
      paste("the formula calls %s() where it isn't offered: dp_lm() and dp_glm() take it as a predictor by itself, and",
            "all other terms are functions of one row that are one column."), name))
  }
  abort_riemdp("unsupported", sprintf(
    paste("the formula calls %s(), which may mix rows (as scale() does): a private fit needs terms that are",
          "functions of one row. Make such a column from public numbers first."),
    if (nzchar(name)) name else "a function"))
}

check_rowwise <- function(expr) {
  if (is.call(expr)) {
    name <- called(expr)
    if (!name %in% ROWWISE) refuse_call(name)
    check_arguments_of(expr, name)
    for (part in as.list(expr)[-1]) if (!missing(part)) check_rowwise(part)
    if (name == "ifelse") branches(expr)
  } else if (!is.name(expr) && !(is.atomic(expr) && length(expr) == 1 && is.null(attributes(expr)))) {
    abort_riemdp("unsupported", "the formula may hold names, calls and single numbers, no data.")
  }
  invisible(expr)
}

# functions of which more can be asked than terms and numbers give: levels, units, what becomes of missing values
check_arguments_of <- function(expr, name) {
  if (name %in% c("factor", "as.factor", "as.character", "is.na", "(", "I", "as.integer") && length(expr) != 2) {
    why <- if (name %in% c("factor", "as.factor")) ": levels are public and belong into the bounds" else ""
    abort_riemdp("unsupported", sprintf("%s() takes one argument here%s.", name, why))
  }
  if (name %in% c("as.numeric", "as.double") && length(expr) != 2 && !in_units(expr)) {
    abort_riemdp("unsupported",
                 sprintf("%s() takes a term here, or a variable that is a time difference and its `units`.", name))
  }
  if (name %in% c("pmin", "pmax") && "na.rm" %in% names(expr) && !is.logical(expr$na.rm)) {
    abort_riemdp("unsupported", sprintf("`na.rm` of %s() in the formula must be TRUE or FALSE.", name))
  }
}

# as.numeric(variable, units = "days")
in_units <- function(expr) {
  length(expr) == 3 && identical(names(expr)[3], "units") && is.name(expr[[2]]) && is.character(expr[[3]]) &&
    expr[[3]] %in% names(TIME_UNITS)
}

TIME_UNITS <- c(secs = 1, mins = 60, hours = 3600, days = 86400, weeks = 604800)

# list(test, yes, no) of a call of ifelse()
branches <- function(expr) {
  expr <- tryCatch(match.call(function(test, yes, no) NULL, expr), error = function(e) NULL)
  if (length(expr) != 4) abort_riemdp("unsupported", "ifelse() in the formula takes a test and two branches.")
  as.list(expr)[c("test", "yes", "no")]
}

# ---- types, from the formula alone -----------------------------------------------------------------------------------

# "number", "text", or "" for what takes the type that its place asks for. `types`: those of names
static_type <- function(expr, types = character()) {
  if (is.name(expr)) {
    name <- as.character(expr)
    return(if (name %in% names(types)) types[[name]] else "")
  }
  if (!is.call(expr)) return(if (is.character(expr)) "text" else if (is.logical(expr) && is.na(expr)) "" else "number")
  switch(called(expr), "(" = , I = static_type(expr[[2]], types), as.character = , factor = , as.factor = "text",
         ifelse = common_type(branches(expr)[-1], types, "ifelse"), "number")
}

common_type <- function(parts, types, name) {
  found <- setdiff(unique(vapply(parts, static_type, "", types)), "")
  if (length(found) > 1) {
    abort_riemdp("unsupported", sprintf(paste("%s() in the formula: both %s must be numbers, or both text, so that the",
                                              "type doesn't depend on the rows."),
                                        name, if (name == "ifelse") "branches" else "sides"))
  }
  if (length(found)) found else ""
}

# what each argument of a call is asked for, where the call itself is asked for `want`
asked_types <- function(expr, want, types) {
  name <- called(expr)
  k <- length(expr) - 1
  parts <- as.list(expr)[-1]
  if (name %in% c("(", "I")) return(want)
  or_text <- function(type) if (nzchar(type)) type else "text"
  if (name %in% c("as.character", "factor", "as.factor")) return(or_text(static_type(parts[[1]])))
  if (name == "is.na") {
    return(if (is.name(parts[[1]])) static_type(parts[[1]], types) else or_text(static_type(parts[[1]], types)))
  }
  if (name %in% c("as.numeric", "as.double")) return(if (static_type(parts[[1]]) == "text") "text" else "number")
  if (name %in% c("==", "!=")) return(rep(common_type(parts, types, name), 2))
  if (name == "ifelse") {
    own <- common_type(branches(expr)[-1], types, name)
    return(c("number", rep(if (nzchar(own)) own else want, 2)))
  }
  rep("number", k)
}

arguments_of <- function(expr) {
  name <- called(expr)
  if (name == "ifelse") {
    unname(branches(expr))
  } else if (name %in% c("as.numeric", "as.double")) {
    as.list(expr)[2]
  } else {
    as.list(expr)[-1]
  }
}

# Types of the names in `expressions`, of which `wants` are asked for: where a name's places agree, that; `declared`
# ones go first. What is left open by a comparison of two columns is refused.
name_types <- function(expressions, wants, declared = character()) {
  found <- list()
  visit <- function(expr, want, types) {
    if (is.name(expr)) {
      if (nzchar(want)) found[[as.character(expr)]] <<- c(found[[as.character(expr)]], want)
    } else if (is.call(expr)) {
      asked <- asked_types(expr, want, types)
      parts <- arguments_of(expr)
      for (i in seq_along(parts)) visit(parts[[i]], asked[i], types)
    }
  }
  types <- declared
  for (round in 1:3) { # what one comparison settles may settle the next
    for (i in seq_along(expressions)) visit(expressions[[i]], wants[i], types)
    agreed <- Filter(function(t) length(unique(t)) == 1, found)
    types <- c(declared, vapply(agreed[setdiff(names(agreed), names(declared))], `[`, "", 1))
  }
  for (i in seq_along(expressions)) check_types(expressions[[i]], wants[i], types)
  types
}

check_types <- function(expr, want, types) {
  if (!is.call(expr)) return(invisible())
  name <- called(expr)
  parts <- arguments_of(expr)
  asked <- asked_types(expr, want, types)
  for (i in seq_along(parts)) {
    if (name %in% c("==", "!=") && asked[i] == "") {
      abort_riemdp("unsupported", sprintf(paste("`%s` in the formula: are these numbers or text? as.numeric() or",
                                                "as.character() of one side tells."),
                                          paste(deparse(expr, 60L), collapse = " ")))
    }
    coded <- name %in% c("as.numeric", "as.double") && called(parts[[i]]) %in% c("factor", "as.factor")
    if (coded || (asked[i] == "number" && !is.name(parts[[i]]) && static_type(parts[[i]]) == "text")) {
      abort_riemdp("unsupported", sprintf(paste("%s() in the formula asks for numbers: codes and order of text depend",
                                                "on what was found. as.numeric() of text reads it."), name))
    }
    check_types(parts[[i]], asked[i], types)
  }
}

# ---- columns and constants -------------------------------------------------------------------------------------------

# The names in `expressions`: list(columns, constants, n, scaled). What isn't in `data` comes from `env`: a single value
# is a public constant, a vector with as many values as there are records a column. `count` tells how many records a
# variable holds.
formula_names <- function(expressions, data, env, n = NULL, count = function(name, x) records_in(x)) {
  names <- unique(unlist(lapply(expressions, all.vars)))
  here <- if (is.null(data)) {
    character()
  } else {
    Filter(function(name) !is.function(data[[name]]), intersect(names, names(data)))
  }
  columns <- lapply(stats::setNames(nm = here), function(name) .subset2(unclass_table(data), name))
  if (is.null(n) && is.data.frame(data)) n <- .row_names_info(data, 2L)
  outside <- lapply(stats::setNames(nm = setdiff(names, here)), find_value, env)
  single <- vapply(outside, is_single, NA)
  if (is.null(n)) {
    found <- c(columns, outside[!single])
    sizes <- unique(mapply(count, names(found), found))
    if (length(sizes) > 1) abort_riemdp("shape", "all variables of the formula must have the same number of rows.")
    n <- if (length(sizes)) sizes else 1
  }
  if (n == 1 && is.null(data)) single[] <- FALSE # one record: its values are no constants
  for (name in names(outside)[!single]) {
    if (count(name, outside[[name]]) != n) {
      abort_riemdp("shape", sprintf(paste("`%s` isn't in `data`: it must be a single public value, or a variable with",
                                          "as many rows as the others."), name))
    }
  }
  list(columns = c(columns, outside[!single]), constants = outside[single], n = n,
       scaled = any(vapply(c(columns, outside), is_scaled, NA)))
}

unclass_table <- function(x) if (is.object(x)) unclass(x) else x

is_single <- function(x) {
  inherits(x, "riemdp_manifold") || (is.atomic(x) && !is.null(x) && length(x) == 1 && is.null(dim(x)))
}

# the first value under this name that is no function
find_value <- function(name, env) {
  while (!identical(env, emptyenv())) {
    value <- if (exists(name, env, inherits = FALSE)) {
      tryCatch(get(name, env, inherits = FALSE), error = function(e) NULL)
    }
    if (!is.null(value) && !is.function(value)) return(value)
    env <- parent.env(env)
  }
  abort_riemdp("argument", sprintf("variable `%s` could not be found.", name))
}

is_scaled <- function(value) !is.null(attr(value, "scaled:center")) || !is.null(attr(value, "scaled:scale"))

SCALED <- paste("columns come from scale(): the scaled rows are the records, the sample's mean and standard deviation",
                "are not protected")

# What a guarantee says of them; those of R itself (pi, T) are nobody's data. Which they are depends on the number of
# records where all variables lie outside of `data`: of one record all have single values. Where that number is private
# no names are told.
constants_said <- function(constants, told = TRUE) {
  if (!told) return("single values under a name in the formula are public, where there is more than one record")
  base <- vapply(names(constants), function(name) identical(get0(name, baseenv(), inherits = FALSE), constants[[name]]),
                 NA)
  constants <- constants[!base]
  if (length(constants)) {
    sprintf("constants of the formula are public: %s",
            paste0("`", sort(names(constants), method = "radix"), "`", collapse = ", "))
  }
}

# cells of a column or a constant under `name`, in the type asked for; "" is what the column's class says
name_cells <- function(name, want, rows) {
  constant <- name %in% names(rows$constants)
  x <- if (constant) rows$constants[[name]] else rows$columns[[name]]
  if (inherits(x, c("riemdp_points", "riemdp_manifold")) || cell_count(x) < 0) {
    abort_riemdp("shape", sprintf("variable `%s` must be a vector.", name))
  }
  if (!constant && cell_count(x) != rows$n) {
    abort_riemdp("shape", sprintf("variable `%s` must have as many rows as the others.", name))
  }
  cells_in_type(x, want)
}

cells_in_type <- function(x, want) {
  if (nzchar(want)) return(column_cells(x, want))
  if (is.logical(x)) truths(x) else if (is.factor(x) || is.character(x)) text_cells(x) else number_cells(x)
}

# ---- values ----------------------------------------------------------------------------------------------------------

# a vector without attributes, of one value or of as many as there are rows
term_values <- function(expr, want, types, rows) {
  if (is.name(expr)) return(name_cells(as.character(expr), want, rows))
  if (!is.call(expr)) return(in_type(expr, want))
  name <- called(expr)
  if (name %in% c("as.numeric", "as.double") && length(expr) == 3) {
    return(in_type(name_cells(as.character(expr[[2]]), "number", rows) / TIME_UNITS[[expr[[3]]]], want))
  }
  parts <- arguments_of(expr)
  asked <- asked_types(expr, want, types)
  if (name == "is.na" && is.name(parts[[1]]) && asked == "") {
    return(in_type(blank_cells(as.character(parts[[1]]), rows), want))
  }
  args <- lapply(seq_along(parts), function(i) term_values(parts[[i]], asked[i], types, rows))
  names(args) <- if (name != "ifelse") names(parts)
  in_type(call_rowwise(name, args), want)
}

# which cells are missing, of a name that no other place says to be numbers or text
blank_cells <- function(name, rows) {
  text <- name_cells(name, "text", rows)
  is.na(text) | grepl("^[ \t]*(NA)?[ \t]*$", text)
}

call_rowwise <- function(name, args) {
  switch(name,
    "(" = , I = , as.character = , factor = , as.factor = args[[1]],
    as.numeric = , as.double = if (is.character(args[[1]])) text_numbers(args[[1]]) else as.double(args[[1]]),
    ifelse = do.call(rowwise_ifelse, args),
    suppressWarnings(tryCatch(do.call(get(name, baseenv()), args), error = function(e) {
      abort_riemdp("argument", sprintf("%s() in the formula could not be called with these arguments.", name))
    }))
  )
}

# a value for each row, of each of the terms
row_values <- function(expressions, wants, rows, declared = character()) {
  types <- name_types(expressions, wants, declared)
  lapply(seq_along(expressions), function(i) rep_len(term_values(expressions[[i]], wants[i], types, rows), rows$n))
}

# values that were computed, or written in the formula
in_type <- function(x, want) {
  if (want == "text" && !is.character(x)) return(if (is.logical(x)) logical_text(x) else number_text(x))
  if (want == "number" && is.character(x)) return(text_numbers(x))
  x
}

rowwise_ifelse <- function(test, yes, no) {
  n <- max(length(test), length(yes), length(no))
  hit <- rep_len(as.logical(test), n)
  out <- rep_len(no, n)
  one <- which(hit)
  out[one] <- rep_len(yes, n)[one]
  out[is.na(hit)] <- NA
  out
}

# ---- points on the left side -----------------------------------------------------------------------------------------

# A left side that gives points: a variable, columns bound together, numbers taken element by element, mf_points(),
# mf_project() or rows_to_points() of such. What each record is depends on that record alone, and no number of it raises
# anything.

POINTS_OF <- c("mf_points", "mf_project", "rows_to_points")
# who makes a manifold is called as its class is; a user's own isn't made from single numbers
MAKERS <- local({
  here <- environment(euclidean)
  classes <- sub("^manifold_label[.]riemdp_", "", ls(here, pattern = "^manifold_label[.]riemdp_"))
  classes <- setdiff(classes, c("pullback", "quotient")) # run functions of a user's, or are made of matrices
  classes[vapply(classes, exists, NA, here, mode = "function", inherits = FALSE)]
})

check_points_term <- function(expr) {
  if (!is.call(expr)) return(check_rowwise(expr))
  name <- called(expr)
  if (name %in% POINTS_OF) {
    of <- point_arguments(expr)
    literal <- function(x) is.atomic(x) && length(x) == 1
    if (!(is.name(of$M) || (called(of$M) %in% MAKERS && all(vapply(as.list(of$M)[-1], literal, NA))))) {
      abort_riemdp("unsupported", sprintf(paste("the manifold of %s() in the formula must be a variable, or made there",
                                                "from single numbers."), name))
    }
    check_points_term(of$x)
  } else if (name == "[") {
    ok <- length(expr) == 4 && is.name(expr[[2]]) && identical(expr[[3]], quote(expr = )) && is.null(names(expr)) &&
      is_index(expr[[4]])
    if (!ok) {
      abort_riemdp("unsupported",
                   "the left side may take columns only, by numbers or names that stand there: y[, 1] or y[, 1:2].")
    }
  } else if (name %in% c("cbind", "(", "I", ROWWISE_NUMBERS)) {
    for (part in as.list(expr)[-1]) check_points_term(part)
  } else {
    check_rowwise(expr)
  }
  invisible(expr)
}

is_index <- function(x) {
  if (is.call(x)) return(called(x) %in% c("c", ":", "-", "(") && all(vapply(as.list(x)[-1], is_index, NA)))
  is.atomic(x) && length(x) == 1 && !is.logical(x)
}

# list(M, x) of a call on the left side
point_arguments <- function(expr) {
  like <- if (called(expr) == "mf_project") function(M, x) NULL else function(x, M) NULL
  found <- tryCatch(as.list(match.call(like, expr))[-1], error = function(e) NULL)
  if (!setequal(names(found), c("M", "x"))) {
    abort_riemdp("unsupported", sprintf("%s() in the formula takes points and a manifold.", called(expr)))
  }
  found
}

# records as a vector, matrix, array or points: whatever numbers they hold
points_values <- function(expr, rows, M = NULL) {
  if (is.name(expr)) {
    name <- as.character(expr)
    return(if (name %in% names(rows$constants)) number_cells(rows$constants[[name]]) else
           points_column(rows$columns[[name]], M))
  }
  name <- called(expr)
  if (name %in% c("(", "I")) return(points_values(expr[[2]], rows, M))
  if (name %in% POINTS_OF) return(values_on_manifold(expr, rows))
  if (name == "[") return(chosen_columns(expr, rows, M))
  if (!name %in% c("cbind", ROWWISE_NUMBERS)) {
    return(term_values(expr, "number", name_types(list(expr), "number"), rows))
  }
  parts <- lapply(as.list(expr)[-1], function(part) array_of(points_values(part, rows, if (name != "cbind") M)))
  if (name == "cbind") return(bound_columns(parts, rows$n))
  check_alike(parts, rows$n, is.null(M) || mf_facts(M)$rows == 0)
  suppressWarnings(do.call(get(name, baseenv()), parts))
}

# mf_points(x, M) and the like
values_on_manifold <- function(expr, rows) {
  of <- point_arguments(expr)
  M <- check_manifold(if (is.name(of$M)) rows$constants[[as.character(of$M)]] else
                      eval(of$M, list(), environment(euclidean)))
  name <- called(expr)
  x <- points_values(of$x, rows, if (name != "rows_to_points") M)
  switch(name, mf_points = x, mf_project = project_records(M, x), rows_to_points = rows_to_points(plain_numbers(x), M))
}

# y[, 1:2]
chosen_columns <- function(expr, rows, M) {
  x <- array_of(points_values(expr[[2]], rows, M))
  if (length(dim(x)) != 2) abort_riemdp("shape", "only a matrix has columns that the left side may take.")
  tryCatch(x[, eval(expr[[4]], list(), baseenv())],
           error = function(e) abort_riemdp("shape", "the left side takes a column that isn't there."))
}

bound_columns <- function(parts, n) {
  same <- vapply(parts, function(x) length(dim(x)) < 3 && !is.complex(x) && NROW(x) %in% c(n, if (is.null(dim(x))) 1),
                 NA)
  if (!all(same)) abort_riemdp("shape", "cbind() on the left side takes variables with one row for each record.")
  unname(do.call(cbind, lapply(parts, function(x) if (is.null(dim(x))) rep_len(x, n) else x)))
}

# arrays of one shape, single numbers, and beside matrices whose rows are records (`by_rows`) a number for each of them
check_alike <- function(parts, n, by_rows) {
  shapes <- unique(Filter(Negate(is.null), lapply(parts, dim)))
  vectors <- parts[vapply(parts, function(x) is.null(dim(x)) && length(x) != 1, NA)]
  long <- length(unique(lengths(vectors))) <= 1
  apart <- length(shapes) == 0 || !length(vectors) ||
    (by_rows && length(shapes[[1]]) == 2 && shapes[[1]][1] == n && all(lengths(vectors) == n))
  if (length(shapes) > 1 || !long || !apart) abort_riemdp("shape", "the left side works on arrays of different shapes.")
}

array_of <- function(x) if (inherits(x, "riemdp_points")) as.array(x) else x

# a variable that holds records
points_column <- function(x, M) {
  if (inherits(x, "riemdp_points")) return(x)
  if (is.list(x) && !is.data.frame(x)) return(if (is.null(M)) number_cells(x) else list_points(x, M))
  plain_numbers(x)
}

# a list with one record's numbers in each element, as they are stored; other elements are missing
list_points <- function(x, M) {
  facts <- mf_facts(M)
  rows <- matrix(NA_real_, length(x), facts$ambient)
  if (is.object(x) && !inherits(x, c("AsIs", "vctrs_list_of"))) return(new_points(rows, M))
  for (i in seq_along(x)) {
    one <- .subset2(x, i)
    whole <- is.complex(one) || (is.numeric(one) && facts$cols > 0 && !is.object(one))
    if (of_complex(facts) && whole && 2 * length(one) == facts$ambient) one <- complex_pairs(one, facts)
    if ((is.numeric(one) || is.logical(one)) && !is.object(one) && length(one) == facts$ambient) {
      rows[i, ] <- as.double(one)
    }
  }
  new_points(rows, M)
}

# Projected records as points, one by one where one of them has no projection, and where the projection is a function of
# a user's.
project_records <- function(M, x) {
  if (inherits(x, "riemdp_points")) x <- as.array(x)
  n <- .Call(riemdp_count, M, x)
  facts <- mf_facts(M)
  at <- matrix(seq_along(x), ncol = n)
  if (facts$rows == 0 && is.matrix(x)) at <- matrix(seq_along(x), ncol = n, byrow = TRUE)
  pick <- function(i) {
    one <- x[as.vector(at[, i])] # a matrix of as many columns as x has dimensions would be one of subscripts
    if (facts$rows > 0 && facts$cols > 0) {
      array(one, c(facts$rows, facts$cols, length(i)))
    } else if (facts$rows > 0) {
      if (is.complex(x)) matrix(one, facts$rows) else array(one, c(facts$rows, 2, length(i)))
    } else {
      matrix(one, length(i), byrow = TRUE)
    }
  }
  rows <- matrix(NA_real_, n, facts$ambient)
  project <- function(i) storage_rows(mf_project(M, pick(i)), M)
  good <- which(colSums(matrix(!is.finite(x[as.vector(at)]), ncol = n)) == 0)
  all <- if (length(good) && !of_user(M)) tryCatch(project(good), riemdp_error = function(e) NULL)
  if (!is.null(all)) {
    rows[good, ] <- all
  } else {
    for (i in good) rows[i, ] <- tryCatch(project(i), riemdp_error = function(e) NA)
  }
  new_points(rows, M)
}
