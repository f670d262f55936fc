# From a formula and public bounds to features in [-1, 1] and responses on public scales. Every term must be a function of one row at a
# time, so that a record is a row; what is evaluated here is shape and type, and no message shows a number of a record.

# functions that act on each row by itself
ROWWISE <- c("+", "-", "*", "/", "^", "(", "I", "exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "abs", "sin", "cos", "tan",
             "atan", "sinh", "cosh", "tanh", "<", ">", "<=", ">=", "==", "!=", "!", "&", "|", "as.numeric", "as.double", "as.integer",
             "as.character", "as.factor", "factor", "is.na", "ifelse", "round", "floor", "ceiling", "sign", "pmin", "pmax")

check_rowwise <- function(expr) {
  if (is.call(expr)) {
    name <- if (is.name(expr[[1]])) as.character(expr[[1]]) else ""
    if (!name %in% ROWWISE) {
      abort_riemdp("unsupported", sprintf(
        "the formula calls %s(), which may mix rows (as scale() and poly() do): a private fit needs terms that are functions of one row. Make such a column from public numbers first.",
        if (nzchar(name)) name else "a function"))
    }
    if (name %in% c("factor", "as.factor") && length(expr) != 2) {
      abort_riemdp("unsupported", sprintf("%s() takes one argument here: levels are public and belong into the bounds.", name))
    }
    for (part in as.list(expr)[-1]) if (!missing(part)) check_rowwise(part)
  } else if (!is.name(expr) && !(is.atomic(expr) && length(expr) == 1 && is.null(attributes(expr)))) {
    abort_riemdp("unsupported", "the formula may hold names, calls and single numbers, no data.")
  }
  invisible(expr)
}

# What the formula calls: base's functions, whatever the caller has defined under their names, on plain vectors. Methods for classes would
# mix rows: codes of a factor depend on the levels that were found, units of a time difference on the shortest.
rowwise_functions <- function(parent) {
  env <- new.env(parent = parent)
  for (name in ROWWISE) assign(name, rowwise_function(name), envir = env)
  env
}

rowwise_function <- function(name) {
  f <- get(name, baseenv())
  force(name)
  switch(name,
    "(" = , I = function(x) plain_argument(x, name, "factor"),
    factor = , as.factor = function(x) factor(as.character(plain_argument(x, name, "factor"))),
    ifelse = rowwise_ifelse,
    as.numeric = , as.double = , as.integer = function(x, units) {
      if (inherits(x, "difftime") && !missing(units)) return(f(as.numeric(x, units = units)))
      f(plain_argument(x, name, "time"))
    },
    as.character = function(x) f(plain_argument(x, name, "text")),
    is.na = function(x) f(plain_argument(x, name, if (is.factor(x)) "text" else "time")),
    "==" = , "!=" = function(...) do.call(f, same_times(unname(list(...)), name, "text")),
    "-" = , "<" = , ">" = , "<=" = , ">=" = function(...) do.call(f, same_times(unname(list(...)), name, "")),
    function(...) do.call(f, lapply(list(...), plain_argument, name))
  )
}

# A vector without class. `allow`: "factor", as it is; "text", as characters; "time", dates and times as days and seconds
plain_argument <- function(x, name, allow = "") {
  if (inherits(x, "AsIs")) class(x) <- setdiff(class(x), "AsIs")
  refuse <- function(what) abort_riemdp("unsupported", sprintf("%s() in the formula: %s", name, what))
  if (!is.atomic(x) || is.null(x) || isS4(x) || inherits(x, c("integer64", "POSIXlt"))) refuse("its arguments must be plain vectors.")
  if (length(dim(x)) > 1 && ncol(x) != 1) refuse("its arguments must be vectors, not matrices.")
  if (is.factor(x)) {
    if (allow == "factor") return(x)
    if (allow == "text") return(as.character(x))
    refuse("codes and order of a factor depend on the levels that were found. Take as.character() of it, or give its levels in the bounds.")
  }
  if (inherits(x, "difftime")) refuse("units of time differences may depend on the data: as.numeric(x, units = \"secs\") names them.")
  if (inherits(x, c("Date", "POSIXct")) && !allow %in% c("time", "factor")) {
    refuse("dates and times can be subtracted and compared with each other, or turned into numbers by as.numeric().")
  }
  if (inherits(x, c("Date", "POSIXct")) && allow == "factor") return(x)
  attributes(x) <- NULL
  x
}

# two dates are days, two times seconds; with anything else they would be read by methods that look at all rows
same_times <- function(args, name, otherwise) {
  kinds <- vapply(args, function(x) if (inherits(x, "Date")) "Date" else if (inherits(x, "POSIXct")) "POSIXct" else "", "")
  lapply(args, plain_argument, name, if (length(args) == 2 && nzchar(kinds[1]) && kinds[1] == kinds[2]) "time" else otherwise)
}

# the type of the result is that of both branches, whatever the tests say
rowwise_ifelse <- function(test, yes, no) {
  test <- plain_argument(test, "ifelse")
  branches <- lapply(list(yes, no), plain_argument, "ifelse", "text")
  if (is.character(branches[[1]]) != is.character(branches[[2]])) {
    abort_riemdp("unsupported", "ifelse() in the formula: both branches must be numbers, or both text, so that the type doesn't depend on the rows.")
  }
  n <- length(test)
  if (!all(lengths(branches) %in% c(1, n))) abort_riemdp("shape", "ifelse() in the formula: all arguments must have the same length.")
  out <- rep_len(branches[[2]], n)
  hit <- as.logical(test)
  one <- which(hit)
  out[one] <- rep_len(branches[[1]], n)[one]
  out[is.na(hit)] <- NA
  out
}

# Public structure of a model: no environment, no data
linear_terms <- function(formula, data) {
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument", "`formula` must be two-sided, e.g. y ~ x or cbind(y1, y2) ~ x1 + x2.")
  }
  tt <- tryCatch(stats::terms(formula, data = if (is.data.frame(data)) data[0, , drop = FALSE]), error = function(e) {
    abort_riemdp("argument", "`formula` could not be read.")
  })
  if (attr(tt, "intercept") != 1) abort_riemdp("unsupported", "a private fit needs the intercept: leave `- 1` and `+ 0` out.")
  if (!is.null(attr(tt, "offset"))) abort_riemdp("unsupported", "offsets are not supported: subtract a public one from the response.")
  variables <- as.list(attr(tt, "variables"))[-1]
  names(variables) <- vapply(variables, function(v) paste(deparse(v, 500L), collapse = " "), "")
  response <- variables[[1]]
  responses <- if (is.call(response) && identical(response[[1]], quote(cbind))) as.list(response)[-1] else list(response)
  lapply(responses, check_rowwise)
  lapply(variables[-1], check_rowwise)
  labels <- vapply(responses, function(v) paste(deparse(v, 500L), collapse = " "), "")
  if (!is.null(names(responses))) labels <- ifelse(nzchar(names(responses)), names(responses), labels)
  factors <- attr(tt, "factors")
  if (length(factors) == 0) factors <- matrix(0, length(variables), 0)
  factors <- factors[-1, , drop = FALSE]
  parts <- lapply(seq_len(ncol(factors)), function(j) which(factors[, j] > 0))
  for (part in parts) {
    if (length(part) > 1 && !all(part %in% unlist(parts[lengths(parts) == 1]))) {
      abort_riemdp("unsupported", "an interaction needs its main effects in the formula, as in a * b.")
    }
  }
  list(formula = strip_environment(stats::formula(tt)), responses = stats::setNames(responses, labels), predictors = variables[-1],
       parts = parts, labels = attr(tt, "term.labels"))
}

# a formula keeps the environment in which it was written, and with it whatever lies there
strip_environment <- function(formula) {
  attributes(formula) <- list(class = "formula", .Environment = globalenv())
  formula
}

# One variable, of length n; n NULL: of any length
evaluate_variable <- function(expr, name, data, env, n, what = "data") {
  if (is.list(data) && !is.data.frame(data)) data <- Filter(Negate(is.function), data)
  value <- tryCatch(suppressWarnings(eval(expr, data, env)), error = function(e) {
    if (inherits(e, "riemdp_error")) stop(e)
    abort_riemdp("argument", sprintf("variable `%s` could not be found in `%s`, or not be evaluated.", name, what))
  })
  if (inherits(value, "integer64")) abort_riemdp("shape", sprintf("variable `%s` must be numeric: turn it into doubles first.", name))
  if (is.data.frame(value) || is.list(value)) abort_riemdp("shape", sprintf("variable `%s` must be a vector.", name))
  if (!is.null(dim(value)) && length(dim(value)) > 1 && !(length(dim(value)) == 2 && ncol(value) == 1)) {
    abort_riemdp("shape", sprintf("variable `%s` must be a vector; several responses go into cbind().", name))
  }
  if (!(is.numeric(value) || is.logical(value) || is.factor(value) || is.character(value)) || inherits(value, "mf_points")) {
    abort_riemdp("shape", sprintf("variable `%s` must be numeric, logical, a factor or character.", name))
  }
  if (!is.null(n) && length(value) == 1 && n > 1) value <- rep(value, n)
  if (!is.null(n) && length(value) != n) abort_riemdp("shape", sprintf("variable `%s` must have as many rows as the others.", name))
  if (is.factor(value)) as.character(value) else if (is.logical(value)) value else as.vector(value)
}

is_scaled <- function(value) !is.null(attr(value, "scaled:center")) || !is.null(attr(value, "scaled:scale"))

# whether any variable that the expressions name comes from scale()
holds_scaled <- function(expressions, data, env) {
  names <- unique(unlist(lapply(expressions, all.vars)))
  any(vapply(names, function(name) isTRUE(tryCatch(is_scaled(eval(as.name(name), data, env)), error = function(e) FALSE)), NA))
}

SCALED <- "columns come from scale(): the scaled rows are the records, the sample's mean and standard deviation are not protected"

# `bounds` checked: list(x = per predictor variable list(range) or list(levels), y = per response c(center, scale, limit))
linear_bounds <- function(spec, bounds, what = "bounds") {
  if (!is.list(bounds) || is.object(bounds) || is.null(names(bounds)) || anyDuplicated(names(bounds))) {
    abort_riemdp("argument", paste0("`", what, "` must be a list with a name for each variable: c(lower, upper) or the levels of a predictor",
                                     if (length(spec$responses)) ", c(center = , scale = ) or c(lower, upper) of a response", "."))
  }
  known <- c(names(spec$predictors), names(spec$responses))
  extra <- setdiff(names(bounds), known)
  if (length(extra)) {
    abort_riemdp("argument", sprintf("`%s` names `%s`, which is no variable of the formula (those are %s).", what, extra[1],
                                     paste0("`", known, "`", collapse = ", ")))
  }
  lacking <- setdiff(known, names(bounds))
  if (length(lacking)) {
    abort_riemdp("argument", sprintf("`%s` lacks `%s`: the range of every variable is public and has no default.", what, lacking[1]))
  }
  two <- function(v) is.numeric(v) && !is.object(v) && is.null(dim(v)) && length(v) == 2 && all(is.finite(v))
  x <- lapply(stats::setNames(nm = names(spec$predictors)), function(name) {
    b <- bounds[[name]]
    if (is.character(b) && !is.object(b) && is.null(dim(b)) && length(b) >= 2 && !anyNA(b) && !anyDuplicated(b)) return(list(levels = b))
    if (two(b) && b[1] < b[2] && is.finite(b[2] - b[1])) return(list(range = as.double(b)))
    abort_riemdp("argument", sprintf("the bounds of `%s` must be two finite numbers, the smaller first, or at least two levels.", name))
  })
  y <- vapply(as.character(names(spec$responses)), function(name) {
    b <- bounds[[name]]
    at <- names(b)
    if (is.numeric(b) && !is.object(b) && is.null(dim(b)) && all(c("center", "scale") %in% at) && all(at %in% c("center", "scale", "limit")) &&
        !anyDuplicated(at) && all(is.finite(b)) && b[["scale"]] > 0) {
      limit <- if ("limit" %in% at) b[["limit"]] else Inf
      if (limit > 0) return(c(b[["center"]], b[["scale"]], limit))
    } else if (two(b) && is.null(at) && b[1] < b[2] && is.finite(b[2] - b[1])) {
      return(c(mean(b), diff(b) / 6, diff(b) / 2))
    }
    abort_riemdp("argument", sprintf(
      "the bounds of response `%s` must be c(center = , scale = ), with `limit` if wanted, or two numbers, the smaller first.", name))
  }, numeric(3))
  rownames(y) <- c("center", "scale", "limit")
  list(x = x, y = y)
}

# a range is for numbers; types of the columns are public
check_kinds <- function(public, values, names, what = "bounds") {
  for (i in seq_along(values)) {
    if (!is.null(public$x[[i]]$range) && !is.numeric(values[[i]]) && !is.logical(values[[i]])) {
      abort_riemdp("shape", sprintf("`%s` gives a range for `%s`, which is no number: give its levels.", what, names[i]))
    }
  }
}

# Bounds that are taken from the records: such a release is labelled none
sample_bounds <- function(spec, values) {
  x <- lapply(values$x, function(v) {
    if (!is.numeric(v)) return(list(levels = unique(c(sort(unique(as.character(v))), "(none)"))[1:max(2, length(unique(v[!is.na(v)])))]))
    v <- v[is.finite(v)]
    range <- if (length(v)) range(v) else c(0, 1)
    list(range = if (range[1] < range[2]) range else range[1] + c(-1, 1))
  })
  y <- vapply(values$y, function(v) {
    v <- v[is.finite(v)]
    s <- if (length(v) > 1) stats::sd(v) else 1
    c(center = if (length(v)) mean(v) else 0, scale = if (s > 0) s else 1, limit = Inf)
  }, numeric(3))
  list(x = x, y = y)
}

# Columns of the model: name, middle and half width of each, from bounds alone
linear_columns <- function(spec, bounds) {
  component <- function(i) {
    b <- bounds$x[[i]]
    name <- names(spec$predictors)[i]
    if (is.null(b$levels)) list(list(name = name, range = b$range, level = NULL, variable = i)) else
      lapply(b$levels[-1], function(l) list(name = paste0(name, l), range = c(0, 1), level = l, variable = i))
  }
  out <- list()
  for (part in spec$parts) {
    sets <- lapply(part, component)
    for (choice in seq_len(prod(lengths(sets)))) {
      k <- arrayInd(choice, lengths(sets))
      picked <- Map(function(set, i) set[[i]], sets, k)
      range <- Reduce(function(a, b) range(outer(a, b)), lapply(picked, `[[`, "range"))
      out[[length(out) + 1]] <- list(name = paste(vapply(picked, `[[`, "", "name"), collapse = ":"), of = picked, middle = mean(range),
                                     half = diff(range) / 2)
    }
  }
  for (column in out) {
    if (!(column$half > 0 && is.finite(column$half) && is.finite(column$middle))) {
      abort_riemdp("argument", "the bounds of the predictors are too wide or too narrow for their products.")
    }
  }
  out
}

# raw columns, n x d; moved into their ranges where `clip`
column_values <- function(columns, bounds, values, clip = TRUE, n = length(values[[1]])) {
  out <- vapply(columns, function(column) {
    Reduce(`*`, lapply(column$of, function(part) {
      v <- values[[part$variable]]
      b <- bounds$x[[part$variable]]
      if (is.null(part$level)) {
        if (!is.numeric(v) && !is.logical(v)) return(rep(NA_real_, n))
        v <- as.double(v)
        v[is.nan(v)] <- NA
        if (clip) {
          v[!is.finite(v)] <- NA
          pmin(b$range[2], pmax(b$range[1], v))
        } else v
      } else {
        v <- as.character(v)
        v[!v %in% b$levels] <- NA
        as.double(v == part$level)
      }
    }))
  }, numeric(n))
  matrix(out, n, length(columns), dimnames = list(NULL, vapply(columns, `[[`, "", "name")))
}

# values of all variables; `n` from the data, or from the first of them
linear_values <- function(spec, data, env) {
  if (!(is.data.frame(data) || is.null(data))) abort_riemdp("argument", "`data` must be a data frame.")
  env <- rowwise_functions(env)
  n <- if (is.data.frame(data)) .row_names_info(data, 2L)
  take <- function(variables) {
    out <- list()
    for (i in seq_along(variables)) {
      v <- evaluate_variable(variables[[i]], names(variables)[i], data, env, n)
      if (is.null(n)) n <<- length(v)
      out[[i]] <- v
    }
    out
  }
  y <- take(spec$responses)
  for (i in seq_along(y)) {
    if (!is.numeric(y[[i]]) && !is.logical(y[[i]])) {
      abort_riemdp("shape", sprintf("response `%s` must be numeric.", names(spec$responses)[i]))
    }
  }
  x <- take(spec$predictors)
  for (i in seq_along(x)) {
    if (length(x[[i]]) != n) abort_riemdp("shape", "all variables must have the same number of rows.")
  }
  if (is.null(n) || n < 1) abort_riemdp("shape", "there must be at least one record.")
  scaled <- holds_scaled(c(spec$responses, spec$predictors), data, env)
  list(x = x, y = lapply(y, as.double), n = n, scaled = scaled)
}

# Features (d + 1) x n and responses q x n on public scales, a total function of each row: what is missing anywhere is 0 everywhere
linear_records <- function(columns, bounds, values, clip = TRUE, reach = Inf) {
  n <- values$n
  middle <- vapply(columns, `[[`, 0, "middle")
  half <- vapply(columns, `[[`, 0, "half")
  u <- if (length(columns)) (t(column_values(columns, bounds, values$x, clip, n)) - middle) / half else matrix(0, 0, n)
  if (clip) u[] <- pmin(1, pmax(-1, u))
  y <- do.call(rbind, values$y)
  y[!is.finite(y)] <- NA
  y <- (y - bounds$y["center", ]) / bounds$y["scale", ]
  if (clip) {
    limit <- bounds$y["limit", ] / bounds$y["scale", ]
    y[] <- pmin(limit, pmax(-limit, y))
    y[] <- pmin(1e100, pmax(-1e100, y)) # squares stay finite
    length <- sqrt(colSums(y^2))
    y <- y * rep(ifelse(!is.na(length) & length > reach, reach / length, 1), each = nrow(y))
    y[!is.finite(y)] <- NA # scales near the ends of doubles
  }
  bad <- colSums(is.na(y)) > 0 | colSums(is.na(u)) > 0
  x <- rbind(rep(1, n), u)
  x[, bad] <- 0
  y[, bad] <- 0
  dimnames(x) <- dimnames(y) <- NULL
  list(x = x, y = y)
}

# coefficients on public scales (q x (d + 1)) to those of the variables as given ((d + 1) x q), and the map that does it:
# a matrix, the same for all responses up to their scale
back_transform <- function(columns) {
  d <- length(columns)
  a <- diag(1, d + 1)
  for (k in seq_len(d)) {
    a[k + 1, k + 1] <- 1 / columns[[k]]$half
    a[1, k + 1] <- -columns[[k]]$middle / columns[[k]]$half
  }
  a
}

raw_coefficients <- function(b, columns, bounds, responses) {
  out <- back_transform(columns) %*% t(b)
  out <- out * rep(bounds$y["scale", ], each = nrow(out))
  out[1, ] <- out[1, ] + bounds$y["center", ]
  dimnames(out) <- list(c("(Intercept)", vapply(columns, `[[`, "", "name")), responses)
  if (ncol(out) == 1) stats::setNames(out[, 1], rownames(out)) else out
}
