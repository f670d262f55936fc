# The shapes in which records come: arrays, tables, vectors of points, chunks; what is public beside them.

is_chunks <- function(x) inherits(x, "riemdp_chunks")

# Records of any container: rows, the last dimension of an array, columns of a complex matrix; of a list with names its
# first element's.
records_in <- function(x) {
  d <- dim(x)
  # variables of a model
  if (is.list(x) && !is.data.frame(x) && !is.null(names(x)) && length(x)) return(records_in(x[[1]]))
  if (is.null(d) || inherits(x, "riemdp_points")) return(length(x))
  if (is.data.frame(x) || (length(d) == 2 && !is.complex(x))) d[1] else d[length(d)]
}

own_count <- function(data, least = 1) {
  if (is.null(data)) {
    return(1L)
  }
  d <- dim(data)
  n <- if (is.null(d)) length(data) else if (is.data.frame(data) || length(d) == 2) d[1] else d[length(d)]
  if (n < least) abort_riemdp("shape", "`data` must hold at least one record.")
  n
}

# numbers as the optimiser takes them, other containers as they are
plain_records <- function(x) {
  if (is.data.frame(x) && all(vapply(x, is.numeric, NA))) x <- as.matrix(x)
  if (inherits(x, "riemdp_points")) x <- as.array(x)
  if (!is.numeric(x) || is.object(x)) return(x)
  array(as.double(x), if (is.null(dim(x))) length(x) else dim(x))
}

#' Tables as records
#'
#' Makes records of a manifold from a table with one row a record, as CSV files, Parquet files and databases have them.
#' Columns are the numbers of a point in the order in which R stores them; for symmetric matrices k(k + 1)/2 columns,
#' the lower triangle by columns, will do as well; for [kendall()] landmarks as x1, y1, x2, y2, ..., for
#' [hermitian_spd()] real and imaginary parts in turn.
#'
#' @param x a data frame or matrix of numbers, one row a record.
#' @param M a manifold.
#' @return Records in the plain shape of many points. Errors: `riemdp_error_shape` where the number of columns doesn't
#'   fit.
#' @seealso [chunk_files()], [chunk_query()]
#' @examples
#' rows_to_points(rbind(c(2, 0.5, 1), c(1, 0, 3)), spd(2))
#' @export
rows_to_points <- function(x, M) {
  check_manifold(M)
  if (is.data.frame(x)) x <- data_frame_matrix(x)
  if (!is.matrix(x) || !is.numeric(x) || is.object(x)) {
    abort_riemdp("shape", "`x` must be a table of numbers, one row a record.")
  }
  facts <- mf_facts(M)
  x <- unname(x)
  storage.mode(x) <- "double"
  square <- facts$rows > 1 && facts$cols == facts$rows && !of_complex(facts)
  if (square && ncol(x) == facts$rows * (facts$rows + 1) / 2) {
    index <- matrix(0L, facts$rows, facts$rows)
    index[lower.tri(index, TRUE)] <- seq_len(ncol(x))
    index <- pmax(index, t(index))
    x <- x[, index, drop = FALSE]
  }
  if (ncol(x) != facts$ambient) {
    abort_riemdp("shape", sprintf("`x` must have %d columns, the numbers of a point.", as.integer(facts$ambient)))
  }
  if (facts$rows == 0) return(x)
  array(if (of_complex(facts)) pairs_complex(t(x)) else t(x), c(facts$rows, if (facts$cols > 0) facts$cols, nrow(x)))
}

seal_of <- function(key, ...) {
  # this form doesn't tell how R happens to store a vector; its first 14 bytes are about R's version
  bytes <- serialize(list(...), NULL, version = 2, xdr = TRUE)
  .Call(riemdp_seal, key, bytes[-(1:14)])
}

# A public centre: one checked point, stripped of what a data object may carry along.
public_point <- function(M, center, name = "center") one_point(M, public_value(center, name), name)

# What is given as public: as it is, or what a release with a proven guarantee released
public_value <- function(x, name) {
  if (inherits(x, "riemdp_frechet_mean")) {
    abort_riemdp("argument", sprintf("`%s` must be public: a non-private Frechet mean of records is not.", name))
  }
  if (inherits(x, "riemdp_bounds_plan")) return(x[[if (name == "radius") "radius" else "center"]])
  if (!inherits(x, "riemdp_release")) return(x)
  # (in a simulation nothing is promised, and every release is so labelled)
  proven <- inherits(x$guarantee, "riemdp_guarantee") && x$guarantee$label %in% c("pure", "approx", "approx-sampler")
  if (!isTRUE(proven) && !in_simulation()) {
    abort_riemdp("argument", sprintf("`%s` must be public: a release that is labelled NOT PRIVATE is not.", name))
  }
  if (inherits(x, "riemdp_ball")) x$value[[if (name == "radius") "radius" else "center"]] else x$value
}

# Where public numbers come from: the caller's words, and which of those that were `given` are releases. NA where
# nothing is known.
stated_source <- function(source, given = list()) {
  if (!is.null(source)) source <- check_name(source, "source", 1000)
  told <- lapply(given, known_origin)
  if (!length(unlist(told))) return(source %||% NA_character_)
  there <- !vapply(given, is.null, NA)
  given <- given[there]
  told <- told[there]
  known <- !vapply(told, is.null, NA)
  # a call that a plan has written says what the numbers say themselves
  if (!is.null(source) && all(unlist(told) == source)) return(source)
  rest <- names(given)[!known]
  paste(c(paste0(names(given)[known], ": ", unlist(told)),
          source %||% if (length(rest)) paste0(rest, ": not stated")), collapse = "; ")
}

# of what is a release, or comes from a plan
known_origin <- function(x) {
  if (is.null(attributes(x))) return(NULL)
  if (inherits(x, "riemdp_release")) return(released_by(x))
  origin <- if (inherits(x, "riemdp_bounds_plan")) x$source else attr(x, "riemdp_origin")
  if (is_string(origin)) origin
}

released_by <- function(r) {
  g <- r$guarantee
  budget <- if (isTRUE(g$label != "none")) {
    paste0("epsilon = ", format(g$epsilon), if (g$delta > 0) paste0(", delta = ", format(g$delta)))
  } else {
    "NOT PRIVATE"
  }
  sprintf("a release of %s() (%s)", sub("^riemdp_", "dp_", class(r)[1]), budget)
}

# a checked point in its plain single shape, from any shape that holds one
one_point <- function(M, x, name) {
  if (is.data.frame(x)) x <- data_frame_matrix(x)
  tryCatch(mf_check(M, x), riemdp_error = function(e) {
    e$message <- sub("`x`", sprintf("`%s`", name), conditionMessage(e), fixed = TRUE)
    stop(e)
  })
  if (.Call(riemdp_count, M, x) != 1) abort_riemdp("shape", sprintf("`%s` must be one point.", name))
  if (inherits(x, "riemdp_points")) x <- as_single(x)
  facts <- mf_facts(M)
  if (facts$cols > 0 && of_complex(facts)) return(matrix(as.complex(x), facts$rows))
  if (is.complex(x)) return(as.vector(x))
  if (facts$rows > 0) matrix(as.double(x), facts$rows) else as.double(x)
}

# the sums over all chunks as doubles, or the status in which one of them ended
exact_total <- function(parts) .Call(riemdp_exact_total, parts)

# exact sums of a matrix's rows, to be added up: points of a flat space, all of them in the ball
exact_rows <- function(a) {
  a[!is.finite(a)] <- 0
  .Call(riemdp_chunk_ball, euclidean(ncol(a)), a, rep(0, ncol(a)), 1e150, NULL, "points")
}

# one point's or tangent vector's numbers as they are stored, in the plain shape and back
stored_shape <- function(M, numbers) {
  v <- rows_to_points(matrix(numbers, 1), M)
  if (length(dim(v)) == 3) dim(v) <- dim(v)[1:2]
  shape <- is.complex(v) && identical(dim(v)[2], 1L) # in the plane, landmark by landmark
  if (is.null(dim(v)) || shape || length(dim(v)) == 2 && mf_facts(M)$rows == 0) as.vector(v) else v
}

coords_stored <- function(M, p, a) {
  v <- as.vector(mf_from_coords(M, stored_shape(M, p), a))
  if (is.complex(v)) as.vector(rbind(Re(v), Im(v))) else v
}
