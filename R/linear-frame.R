# From a formula and public bounds to features in [-1, 1] and responses on public scales. Every term is a function of
# one row at a time (see R/formula.R), so that a record is a row, and no message shows a number of a record.

# Public structure of a model: no environment, no data. `names` are those that `.` stands for; `points`: the left side
# gives points, and is looked at elsewhere.
linear_terms <- function(formula, names = NULL, points = FALSE) {
  tt <- read_terms(formula, names, points)
  variables <- as.list(attr(tt, "variables"))[-1]
  names(variables) <- vapply(variables, function(v) paste(deparse(v, 500L), collapse = " "), "")
  responses <- list()
  if (!points) {
    responses <- left_side(variables[[1]])
    lapply(responses, check_rowwise)
  }
  # what `-` takes out of the formula asks for nothing
  factors <- term_factors(tt)[-1, , drop = FALSE]
  used <- rowSums(factors) > 0
  predictors <- variables[-1][used]
  of_records <- if (is.list(names)) names(names) else names
  env <- environment(formula) %||% globalenv()
  bases <- lapply(predictors, function(v) if (!points) basis_term(v, of_records, env))
  for (i in which(are_bases(bases))) predictors[[i]] <- bases[[i]]$x
  lapply(predictors, check_rowwise)
  factors <- factors[used, , drop = FALSE]
  parts <- lapply(seq_len(ncol(factors)), function(j) which(factors[, j] > 0))
  for (part in parts) {
    if (length(part) > 1 && !all(part %in% unlist(parts[lengths(parts) == 1]))) {
      abort_riemdp("unsupported", "an interaction needs its main effects in the formula, as in a * b.")
    }
  }
  spec <- list(formula = strip_environment(stats::formula(tt)), responses = responses, predictors = predictors,
               bases = bases, ranged = ranged_names(predictors, bases), parts = parts, labels = attr(tt, "term.labels"),
               left_out = unlist(lapply(variables[-1][!used], all.vars)))
  check_basis_constants(spec)
  spec
}

# which terms are of several columns
are_bases <- function(bases) !vapply(bases, is.null, NA)

# no variable of the records is a basis's public number as well
check_basis_constants <- function(spec) {
  of_records <- unlist(lapply(c(spec$responses, spec$predictors), all.vars))
  for (name in intersect(names(basis_constants(spec)), of_records)) refuse_constant(name)
}

# A vector outside of `data` under the name of a public number, with a number for each record: it is theirs. Where their
# number is private nothing is said of it, and of rows of units the number of units is asked about.
check_constant_sizes <- function(spec, n) {
  constants <- basis_constants(spec)
  for (name in names(constants)[n > 1 & lengths(constants) == n]) refuse_constant(name)
}

# Under a private number of records what is there or not is a row of `data`: a variable beside it would tell the number
# by whether it fits
check_inside <- function(expressions, data, env) {
  for (name in setdiff(unlist(lapply(expressions, all.vars)), names(data))) {
    if (!is_single(find_value(name, env))) {
      abort_riemdp("unsupported", sprintf(paste("with a private number of records all variables must be columns of",
                                                "`data`: `%s` isn't."), name))
    }
  }
}

# A model with what a row counts: `weights` and `subset` are one-sided formulas of one row, or NULL
with_counts <- function(spec, weights, subset, columns, env, chunked = FALSE) {
  given <- list(weights = weights, subset = subset)
  given <- given[!vapply(given, is.null, NA)]
  if (!length(given)) return(spec)
  if (chunked) abort_riemdp("unsupported", "`weights` and `subset` are for records in memory, not in chunks.")
  for (name in names(given)) {
    if (!(inherits(given[[name]], "formula") && length(given[[name]]) == 2)) {
      abort_riemdp("argument", sprintf("`%s` must be a one-sided formula of one row, e.g. ~ %s.", name,
                                       if (name == "weights") "w" else "x > 0"))
    }
    elsewhere <- !identical(environment(given[[name]]) %||% globalenv(), env)
    given[[name]] <- given[[name]][[2]]
    if (elsewhere && !all(all.vars(given[[name]]) %in% columns)) {
      abort_riemdp("unsupported", sprintf(paste("`%s` was written elsewhere than the formula of the fit: it may name",
                                                "columns of `data` only."), name))
    }
    check_rowwise(given[[name]])
    if (static_type(given[[name]]) == "text") {
      abort_riemdp("unsupported", sprintf("`%s` must be %s, no text.", name,
                                          if (name == "weights") "numbers" else "a condition"))
    }
  }
  spec$counts <- given
  spec$weighted_by <- if (!is.null(weights)) paste(deparse(given$weights, 500L), collapse = " ")
  spec
}

# the largest weight, by its bounds c(0, largest); 1 where there are none
weight_bound <- function(spec, bounds) {
  name <- spec$weighted_by
  if (is.null(name)) return(1)
  b <- if (is.list(bounds)) bounds[[name]]
  if (!(is_range(b) && is.null(names(b)) && b[1] == 0)) {
    abort_riemdp("argument", sprintf("the bounds of the weights `%s` must be c(0, largest).", name))
  }
  b[2]
}

# What each row counts, from 0 to 1, a total function of it: its weight over the largest, 0 where that or the condition
# is missing, and where the condition doesn't hold. NULL where all count 1.
row_counts <- function(values, most) {
  if (!length(values)) return(NULL)
  out <- 1
  if (!is.null(values$weights)) {
    w <- as.double(values$weights)
    w[!is.finite(w)] <- 0
    out <- pmin(1, pmax(0, w) / most)
  }
  if (!is.null(values$subset)) {
    holds <- as.double(values$subset)
    out <- out * (!is.na(holds) & holds != 0)
  }
  out
}

# rows' shares times what they count, in steps of 2^-30, none of them rounded up
counted_shares <- function(shares, counts, n) {
  if (is.null(counts)) return(shares)
  whole <- shares %||% structure(rep(1, n), units = as.double(n))
  structure(floor(as.vector(whole) * counts * 2^30) / 2^30, units = attr(whole, "units"))
}

# whose range bounds a predictor: its own, or the one's of which a basis is made
ranged_names <- function(predictors, bases) {
  out <- names(predictors)
  of <- are_bases(bases)
  out[of] <- vapply(predictors[of], function(v) paste(deparse(v, 500L), collapse = " "), "")
  out
}

# constants of a formula's bases, by name
basis_constants <- function(spec) do.call(c, unname(lapply(spec$bases, `[[`, "constants")))

left_side <- function(response) {
  responses <- if (is.call(response) && identical(response[[1]], quote(cbind))) {
    as.list(response)[-1]
  } else {
    list(response)
  }
  labels <- vapply(responses, function(v) paste(deparse(v, 500L), collapse = " "), "")
  if (!is.null(names(responses))) labels <- ifelse(nzchar(names(responses)), names(responses), labels)
  names(responses) <- labels
  responses
}

# the formula's terms, from the formula and names of columns alone
read_terms <- function(formula, names, points) {
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_riemdp("argument",
                 if (points) "`formula` must have points on its left side and predictors on its right: y ~ x." else
      "`formula` must be two-sided, e.g. y ~ x or cbind(y1, y2) ~ x1 + x2.")
  }
  if (is.list(names)) names <- names(names)
  empty <- if (length(names)) {
    as.data.frame(lapply(stats::setNames(nm = unique(names)), function(name) logical()), optional = TRUE)
  }
  tt <- tryCatch(stats::terms(formula, data = empty), error = function(e) {
    abort_riemdp("argument", "`formula` could not be read.")
  })
  if (attr(tt, "intercept") != 1) {
    abort_riemdp("unsupported", "a private fit needs the intercept: leave `- 1` and `+ 0` out.")
  }
  if (!is.null(attr(tt, "offset"))) {
    abort_riemdp("unsupported", "offsets are not supported: subtract a public one from the response.")
  }
  if (!points) check_sides(tt)
  tt
}

# which variables each term uses, the left side first
term_factors <- function(tt) {
  factors <- attr(tt, "factors")
  if (length(factors)) factors else matrix(0, length(attr(tt, "variables")) - 1, 0)
}

check_sides <- function(tt) {
  variables <- as.list(attr(tt, "variables"))[-1]
  right <- variables[rowSums(term_factors(tt)) > 0]
  both <- Filter(function(v) any(vapply(right, identical, NA, v)), left_side(variables[[1]]))
  if (length(both)) {
    abort_riemdp("argument", sprintf("`%s` stands on both sides of the formula: a response is no predictor of itself.",
                                     names(both)[1]))
  }
}

# a formula keeps the environment in which it was written, and with it whatever lies there
strip_environment <- function(formula) {
  attributes(formula) <- list(class = "formula", .Environment = globalenv())
  formula
}

# `bounds` checked: list(x = per predictor variable list(range) or list(levels), y = per response c(center, scale,
# limit))
linear_bounds <- function(spec, bounds, what = "bounds") {
  x <- predictors_bounds(spec, bounds, what)
  y <- vapply(as.character(names(spec$responses)), function(name) response_bounds(bounds[[name]], name), numeric(3))
  rownames(y) <- c("center", "scale", "limit")
  list(x = x, y = y)
}

# of all predictors, where each variable of the formula has bounds and nothing else has
predictors_bounds <- function(spec, bounds, what) {
  check_bound_names(spec, bounds, what)
  x <- lapply(spec$ranged, function(name) predictor_bounds(bounds[[name]], name))
  with_bases(spec, stats::setNames(x, names(spec$predictors)))
}

# bounds of predictors, those of bases with what their columns are made from
with_bases <- function(spec, x) {
  for (i in seq_along(x)) {
    if (is.null(spec$bases[[i]])) next
    if (is.null(x[[i]]$range)) {
      abort_riemdp("shape", sprintf("`%s` is made of numbers: its variable `%s` has a range, no levels.",
                                    names(spec$predictors)[i], spec$ranged[i]))
    }
    x[[i]]$basis <- basis_on(spec$bases[[i]], x[[i]]$range)
  }
  x
}

check_bound_names <- function(spec, bounds, what) {
  if (!is.list(bounds) || is.object(bounds) || is.null(names(bounds)) || anyDuplicated(names(bounds))) {
    abort_riemdp("argument", paste0("`", what,
                                    paste("` must be a list with a name for each variable: c(lower, upper) or the",
                                          "levels of a predictor"),
                                     if (length(spec$responses)) paste(", c(center = , scale = ) or c(lower, upper) of",
                                                                       "a response"), "."))
  }
  known <- c(unique(spec$ranged), names(spec$responses), spec$weighted_by)
  extra <- setdiff(names(bounds), c(known, spec$left_out))
  if (length(extra)) {
    abort_riemdp("argument",
                 sprintf("`%s` names `%s`, which is no variable of the formula (those are %s).", what, extra[1],
                         paste0("`", known, "`", collapse = ", ")))
  }
  lacking <- setdiff(known, names(bounds))
  if (length(lacking)) {
    abort_riemdp("argument",
                 sprintf("`%s` lacks `%s`: the range of every variable is public and has no default.", what,
                         lacking[1]))
  }
}

is_plain <- function(b) !is.object(b) && is.null(dim(b))

is_range <- function(b) {
  is.numeric(b) && is_plain(b) && length(b) == 2 && all(is.finite(b)) && b[1] < b[2] && is.finite(b[2] - b[1])
}

is_levels <- function(b) {
  is.character(b) && is_plain(b) && length(b) >= 2 && !anyNA(utf8_text(b)) && !anyDuplicated(utf8_text(b))
}

is_center_scale <- function(b) {
  at <- names(b)
  is.numeric(b) && is_plain(b) && all(c("center", "scale") %in% at) && all(at %in% c("center", "scale", "limit")) &&
    !anyDuplicated(at) &&
    all(is.finite(b)) && b[["scale"]] > 0
}

predictor_bounds <- function(b, name) {
  if (is_levels(b)) return(list(levels = utf8_text(b)))
  if (is_range(b)) return(list(range = as.double(b)))
  abort_riemdp("argument", sprintf(paste("the bounds of `%s` must be two finite numbers, the smaller first, or at",
                                         "least two levels."), name))
}

# center, scale, limit
response_bounds <- function(b, name) {
  if (is_center_scale(b)) {
    limit <- if ("limit" %in% names(b)) b[["limit"]] else Inf
    if (limit > 0) return(c(b[["center"]], b[["scale"]], limit))
  } else if (is.null(names(b)) && is_range(b)) {
    return(c(mean(b), diff(b) / 6, diff(b) / 2))
  }
  abort_riemdp("argument", sprintf(
    paste("the bounds of response `%s` must be c(center = , scale = ), with `limit` if wanted, or two numbers, the",
          "smaller first."), name))
}

# What each predictor is asked for: numbers where it has a range, text where it has levels. A term that is text by the
# formula has no range.
predictor_types <- function(spec, bounds, what = "bounds") {
  ranged <- vapply(bounds$x, function(b) is.null(b$levels), NA)
  for (name in names(spec$predictors)[ranged]) {
    if (static_type(spec$predictors[[name]]) == "text") {
      abort_riemdp("shape", sprintf("`%s` gives a range for `%s`, which is no number: give its levels.", what, name))
    }
  }
  ifelse(ranged, "number", "text")
}

# Bounds that are taken from the records: such a release is labelled none
sample_bounds <- function(spec, values) {
  x <- lapply(values$x, function(v) {
    if (!is.numeric(v)) {
      seen <- unique(c(sort(unique(as.character(v))), "(none)"))
      return(list(levels = seen[seq_len(max(2, length(unique(v[!is.na(v)]))))]))
    }
    v <- v[is.finite(v)]
    range <- if (length(v)) range(v) else c(0, 1)
    list(range = if (range[1] < range[2]) range else range[1] + c(-1, 1))
  })
  y <- vapply(stats::setNames(values$y, names(spec$responses)), function(v) {
    v <- v[is.finite(v)]
    s <- if (length(v) > 1) stats::sd(v) else 1
    c(center = if (length(v)) mean(v) else 0, scale = if (s > 0) s else 1, limit = Inf)
  }, numeric(3))
  list(x = with_bases(spec, stats::setNames(x, names(spec$predictors))), y = y)
}

# Columns of the model: name, middle and half width of each, from bounds alone
linear_columns <- function(spec, bounds) {
  component <- function(i) {
    b <- bounds$x[[i]]
    name <- names(spec$predictors)[i]
    if (!is.null(b$basis)) {
      return(lapply(seq_along(b$basis$lower), function(k) {
        list(name = paste0(name, if (length(b$basis$lower) > 1) k), range = c(b$basis$lower[k], b$basis$upper[k]),
             level = NULL, variable = i, k = k)
      }))
    }
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
      out[[length(out) + 1]] <- list(name = paste(vapply(picked, `[[`, "", "name"), collapse = ":"), of = picked,
                                     middle = mean(range), half = diff(range) / 2)
    }
  }
  for (column in out) {
    if (!(column$half > 0 && is.finite(column$half) && is.finite(column$middle))) {
      abort_riemdp("argument", "the bounds of the predictors are too wide or too narrow for their products.")
    }
  }
  out
}

# What objective perturbation makes of a model with bases, NULL for others (inst/proofs/linear-regression.md, section
# 12): list(block: coefficients whose features are not negative and add up to at most 1 have one number in common, the
# intercept's is 1; map: from features (1, u) to these; gram: their second moments for even and independent predictors).
# B-splines of the first bs() that stands by itself are whole: the first of them is 1 less the others, in the
# intercept's place.
linear_simplex <- function(spec, columns, bounds) {
  if (!any(are_bases(spec$bases))) return(NULL)
  p <- length(columns) + 1
  block <- seq_len(p)
  map <- diag(p)
  alone <- vapply(columns, function(column) if (length(column$of) == 1) column$of[[1]]$variable else 0L, 0L)
  first <- TRUE
  for (i in which(vapply(spec$bases, function(term) identical(term$kind, "bs"), NA))) {
    at <- which(alone == i) + 1
    if (!length(at)) next
    for (k in at) map[k, c(1, k)] <- 0.5 # features are 2 b - 1
    if (first) map[1, ] <- map[1, ] - colSums(map[at, , drop = FALSE])
    block[at] <- if (first) 1 else at[1]
    first <- FALSE
  }
  simplex <- list(block = as.double(match(block, unique(block))), map = map)
  s <- simplex_features(nominal_features(spec, columns, bounds), simplex)
  c(simplex, list(gram = tcrossprod(s) / ncol(s)))
}

# Features (1, u) of 2,000 nominal rows: variables are even over their ranges and levels, and independent
nominal_features <- function(spec, columns, bounds, n = 2000) {
  variable <- unique(spec$ranged)
  prime <- c(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
  values <- lapply(seq_along(bounds$x), function(i) {
    j <- match(spec$ranged[i], variable) - 1
    u <- (seq_len(n) * sqrt(prime[j %% 16 + 1] + 60 * (j %/% 16)) + 0.5) %% 1
    b <- bounds$x[[i]]
    if (is.null(b$levels)) b$range[1] + u * (b$range[2] - b$range[1]) else b$levels[ceiling(u * length(b$levels))]
  })
  u <- (t(column_values(columns, bounds, values)) - vapply(columns, `[[`, 0, "middle")) /
    vapply(columns, `[[`, 0, "half")
  u[] <- pmin(1, pmax(-1, u))
  rbind(rep(1, n), u)
}

# less than 1 by more than what rounding adds to a sum of at most 500 features
SIMPLEX_EDGE <- 1 - 1e-13

# Features by a map, row by row, those of one block made to lie where they belong in spite of rounding. A record that is
# missing stays 0.
simplex_features <- function(x, simplex) {
  s <- x
  for (k in seq_len(nrow(x))) {
    row <- 0
    for (j in which(simplex$map[k, ] != 0)) row <- row + simplex$map[k, j] * x[j, ]
    s[k, ] <- row
  }
  for (at in split(seq_along(simplex$block), simplex$block)) {
    if (length(at) == 1) next
    s[at, ] <- pmax(s[at, ], 0)
    s[at, ] <- s[at, ] * rep(SIMPLEX_EDGE / pmax(1, colSums(s[at, , drop = FALSE])), each = length(at))
  }
  s
}

# Features (1, u) on scales on which nominal predictors, of second moment 1/6, have 1. A record counts so much less that
# they are no longer than the root of their number.
SHORT_SCALE <- sqrt(6)

short_features <- function(x) {
  units <- counted_in(x, ncol(x))
  share <- shares_of(x) %||% 1
  x[-1, ] <- SHORT_SCALE * x[-1, ]
  long <- sqrt(colSums(x^2) / nrow(x))
  with_shares(x, structure((1 - 1e-12) / pmax(1, long) * share, units = units))
}

# features, with what records count, that noise is drawn for; of `rule` its norm, simplex and window
drawn_features <- function(x, rule) {
  if (!is.null(rule$simplex)) return(simplex_features(x, rule$simplex))
  if (!is.null(rule$window)) return(window_features(x, rule$window))
  if (identical(rule$norm, "normal")) short_features(x) else x
}

# Features (1, u) by windows: u from the window's middle, over its half width. A record counts so much less that neither
# its features nor their squares are beyond 1; one that is missing stays 0.
window_features <- function(x, window) {
  units <- counted_in(x, ncol(x))
  share <- shares_of(x) %||% 1
  there <- x[1, ] != 0
  x[-1, there] <- (x[-1, there] - window$center) / window$half
  long <- apply(abs(x), 2, max)
  with_shares(x, structure((1 - 1e-12) / pmax(1, long)^2 * share, units = units))
}

# the most of their squared length
longest_window_features <- function(window) (1 + sum(((1 + abs(window$center)) / window$half)^2)) * (1 + 1e-12)

# what coefficients of windows' features are multiplied with to be those of (1, u)
window_map <- function(window) {
  map <- diag(c(1, 1 / window$half))
  map[-1, 1] <- -window$center / window$half
  map
}

# raw columns, n x d; moved into their ranges where `clip`
column_values <- function(columns, bounds, values, clip = TRUE, n = length(values[[1]])) {
  bases <- Map(function(b, v) if (!is.null(b$basis)) basis_values(b$basis, b$range, v), bounds$x, values)
  out <- vapply(columns, function(column) {
    Reduce(`*`, lapply(column$of, function(part) {
      v <- values[[part$variable]]
      b <- bounds$x[[part$variable]]
      if (!is.null(part$k)) {
        bases[[part$variable]][, part$k]
      } else if (is.null(part$level)) {
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

# Values of all variables. `wants`: types of the predictors, "" for what a column's class says; `declared`: types of
# columns; `units`: whose rows they are; `left`: of the responses; `most`: the largest weight.
linear_values <- function(spec, data, env, wants = rep("", length(spec$predictors)), n = NULL, declared = character(),
                          least = 1, units = NULL, left = "number", most = 1) {
  if (!(is.data.frame(data) || is.null(data))) abort_riemdp("argument", "`data` must be a data frame.")
  all <- c(spec$responses, spec$predictors, unname(spec$counts))
  if (!least && !is.null(data)) check_inside(all, data, env)
  rows <- formula_names(all, data, env, n)
  if (least) check_constant_sizes(spec, units$count %||% rows$n)
  if (rows$n < least) abort_riemdp("shape", "there must be at least one record.")
  wants <- c(rep(left, length(spec$responses)), wants, rep("number", length(spec$counts)))
  values <- row_values(all, wants, rows, declared)
  first <- seq_along(spec$responses)
  y <- values[first]
  if (left == "number") y <- lapply(y, as.double)
  last <- length(first) + length(spec$predictors) + seq_along(spec$counts)
  list(x = values[length(first) + seq_along(spec$predictors)], y = y, n = rows$n,
       counts = row_counts(stats::setNames(values[last], names(spec$counts)), most),
       scaled = rows$scaled, constants = rows$constants)
}

# predictors in new data, with the constants of the fit
new_values <- function(spec, bounds, newdata, n) {
  rows <- formula_names(spec$predictors, newdata, constant_scope(spec$constants), n)
  row_values(spec$predictors, predictor_types(spec, bounds), rows)
}

constant_scope <- function(constants) list2env(as.list(constants), parent = emptyenv())

# Features (d + 1) x n and responses q x n on public scales, a total function of each row: what is missing anywhere is 0
# everywhere
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

# coefficients on public scales (q x (d + 1)) to those of the variables as given ((d + 1) x q), and the map that does
# it: a matrix, the same for all responses up to their scale
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

# a release whose parts were changed since
not_as_made <- function(object) {
  abort_riemdp("argument", sprintf(
    "the release must be as dp_%s() made it: parts of it are missing or of another kind.",
    if (inherits(object, "riemdp_glm")) "glm" else "lm"
  ))
}
