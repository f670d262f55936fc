# Checks of arguments at R level: class, range, budget. Numbers in records are checked in C.

check_manifold <- function(M) {
  if (!inherits(M, "riemdp_manifold")) {
    abort_riemdp("manifold", "`M` must be a manifold, e.g. sphere(2) or spd(3).")
  }
  M
}

is_string <- function(x) is.character(x) && !is.object(x) && length(x) == 1 && !is.na(x)

is_doubles <- function(x, count) is.double(x) && !is.object(x) && length(x) == count && !anyNA(x)

check_count <- function(x, name, least = 1, most = 1e6) {
  if (!is.numeric(x) || is.object(x) || length(x) != 1 || is.na(x) || x != round(x) || x < least || x > most) {
    abort_riemdp("argument", sprintf("`%s` must be one whole number from %g to %g.", name, least, most))
  }
  if (abs(x) <= .Machine$integer.max) as.integer(x) else as.double(x)
}

check_number <- function(x, name, positive = FALSE, least = -Inf, most = Inf) {
  ok <- is.numeric(x) && !is.object(x) && length(x) == 1 && !is.na(x) && is.finite(x) && x >= least && x <= most &&
    (!positive || x > 0)
  if (!ok) {
    range <- if (positive) "positive and finite" else if (is.finite(least) || is.finite(most)) {
      sprintf("between %g and %g", least, most)
    } else {
      "finite"
    }
    abort_riemdp("argument", sprintf("`%s` must be one number, %s.", name, range))
  }
  as.double(x)
}

# delta: a probability below 1
check_delta <- function(x) {
  x <- check_number(x, "delta", least = 0, most = 1)
  if (x >= 1) abort_riemdp("argument", "`delta` must be below 1.")
  x
}

check_choice <- function(x, name, choices) {
  if (identical(x, choices)) {
    return(choices[1])
  }
  if (!is_string(x) || !x %in% choices) {
    abort_riemdp("argument", sprintf("`%s` must be one of %s.", name, paste(dQuote(choices, FALSE), collapse = ", ")))
  }
  x
}

# the same for the name of a metric, with or without hyphens; returned without
check_metric <- function(x, choices) {
  bare <- function(x) gsub("-", "", x, fixed = TRUE)
  if (is_string(x) && bare(x) %in% bare(choices)) return(bare(x))
  bare(check_choice(x, "metric", choices))
}

check_level <- function(level) {
  level <- check_number(level, "level", least = 0, most = 1)
  if (level <= 0 || level >= 1) abort_riemdp("argument", "`level` must lie between 0 and 1.")
  level
}

check_flag <- function(x, name, default = FALSE) {
  if (is.null(x)) return(default)
  if (!is.logical(x) || is.object(x) || length(x) != 1 || is.na(x)) {
    abort_riemdp("argument", sprintf("`%s` must be TRUE or FALSE.", name))
  }
  as.vector(x)
}

check_dots_empty <- function(...) {
  if (...length() > 0) {
    named <- names(list(...))
    named <- named[nzchar(named)]
    abort_riemdp("argument", paste0(
      "arguments after `radius` must be given by name",
      if (length(named)) paste0("; unknown: ", paste0("`", named, "`", collapse = ", ")), "."
    ))
  }
}

# used by C for arguments that are data frames; these may be broken ones
data_frame_matrix <- function(x) {
  columns <- unclass(x)
  n <- .row_names_info(x, 2L)
  if (length(columns) == 1 && inherits(columns[[1]], "riemdp_points")) {
    return(columns[[1]])
  }
  numeric <- vapply(columns, function(column) {
    is.null(dim(column)) && !is.object(column) && (is.numeric(column) || is.logical(column)) && length(column) == n
  }, logical(1))
  if (!all(numeric)) {
    abort_riemdp("shape", "a data frame of records must have numeric columns only, all of one length.")
  }
  out <- matrix(as.double(unlist(columns, use.names = FALSE)), nrow = n, ncol = length(columns))
  if (length(names(x)) == ncol(out)) colnames(out) <- names(x)
  out
}

# what isn't UTF-8 is missing; strings without a declared encoding count as UTF-8, wherever the code runs
utf8_text <- function(x) {
  encoding <- Encoding(x)
  x[encoding == "bytes"] <- NA
  latin1 <- which(encoding == "latin1")
  x[latin1] <- enc2utf8(x[latin1])
  Encoding(x) <- "UTF-8"
  x[!validUTF8(x)] <- NA
  x
}

check_name <- function(x, name, most = 200) {
  text <- if (is_string(x)) utf8_text(as.vector(x)) else NA
  if (is.na(text) || !nzchar(text) || nchar(text) > most) {
    abort_riemdp("argument", sprintf("`%s` must be one string of 1 to %d characters.", name, as.integer(most)))
  }
  text
}

# increasing, none above `most`; `also` says so
check_radii <- function(radii, most = Inf, also = "") {
  ok <- is.numeric(radii) && !is.object(radii) && length(radii) >= 1 && length(radii) <= 1000 &&
    all(is.finite(radii)) && all(radii > 0) && all(radii <= most)
  if (!ok) abort_riemdp("argument", paste0("`radii` must be 1 to 1,000 positive numbers", also, "."))
  sort(unique(as.double(radii)))
}

check_no_more <- function(...) {
  if (...length() > 0) abort_riemdp("argument", "an argument is not known, or must be given by its name.")
}

abort_no_default <- function(name) {
  abort_riemdp("argument", sprintf("`%s` is public and has no default: give it.", name))
}

# lacking: a named flag for each argument
check_given <- function(lacking) if (any(lacking)) abort_no_default(names(lacking)[lacking][1])
