# Landmarks: how records of them are read, completed, slid and made symmetric, each by itself.

#' @export
read_points.riemdp_kendall <- function(M, x, how) {
  check_unused(how, "units")
  k <- M$param
  read <- read_configurations(M, x, how)
  z <- matrix(complex(real = read$rows[, seq_len(k)], imaginary = read$rows[, k + seq_len(k)]), ncol = k)
  z <- z - rowMeans(z)
  size <- sqrt(rowSums(Mod(z)^2))
  z <- z / ifelse(size > 0, size, NA)
  out <- matrix(0, nrow(z), 2 * k)
  out[, c(TRUE, FALSE)] <- Re(z)
  out[, c(FALSE, TRUE)] <- Im(z)
  list(rows = out, names = read$names, hint = " (landmarks that are missing, or all in one place)")
}

#' @export
read_points.riemdp_kendall_space <- function(M, x, how) {
  check_unused(how, "units")
  read <- read_configurations(M, x, how)
  good <- rowSums(!is.finite(read$rows)) == 0
  good[good] <- mf_is_point(M, new_points(read$rows[good, , drop = FALSE], M))
  read$rows[!good, ] <- NA
  if (any(good)) { # centred, and of shapes scaled
    read$rows[good, ] <- storage_rows(as.array(new_points(read$rows[good, , drop = FALSE], M)), M)
  }
  c(read, hint = " (landmarks that are missing, all in one place or all on a line)")
}

#' @export
read_points.riemdp_size_and_shape <- read_points.riemdp_kendall_space

# how many coordinates landmarks have; none on other spaces
landmark_sides <- function(M) {
  facts <- mf_facts(M) # what it says is checked there
  pulled <- inherits(M, "riemdp_pullback") # records of which are no landmarks
  if (!pulled && inherits(M, "riemdp_kendall")) return(2)
  if (!pulled && inherits(M, c("riemdp_kendall_space", "riemdp_size_and_shape"))) return(facts$cols)
  abort_riemdp("unsupported", sprintf("landmarks are those of kendall() and size_and_shape(), not of %s.",
                                      label_manifold(M)))
}

# records of landmarks, one a row, all x first: list(rows, names)
read_configurations <- function(M, x, how = list()) {
  if (inherits(x, c("gpagen", "symproc", "nosymproc"))) {
    abort_riemdp("unsupported", paste("landmarks that have been superimposed together depend on each other (projection",
                                      "at their mean, sliding). Give the raw ones: shapes need no superimposition."))
  }
  if (inherits(x, "riemdp_points") && !identical(label_manifold(attr(x, "manifold")), label_manifold(M))) {
    abort_other_space(M)
  }
  read <- landmark_rows(x, M$param, landmark_sides(M), how$layout)
  if (!is.null(how$template)) read$rows <- complete_landmarks(read$rows, template_rows(M, how$template))
  read
}

landmark_rows <- function(x, k, m, layout) {
  if (inherits(x, "riemdp_points")) {
    names <- names(x)
    x <- as.array(x)
    if (length(dim(x)) == 3) dimnames(x) <- list(NULL, NULL, names) else colnames(x) <- names
  }
  if (m == 2 && is.complex(x)) {
    check_unused(list(layout = layout), "layout")
    if (NROW(x) != k) abort_form(sprintf("configurations of %d landmarks", k))
    x <- matrix(x, k, dimnames = list(NULL, if (is.matrix(x)) colnames(x)))
    return(list(rows = cbind(t(Re(x)), t(Im(x))), names = colnames(x)))
  }
  if (!is_table(x) || ncol(x) != m * k) {
    check_unused(list(layout = layout), "layout")
    return(plain_rows(x, c(k, m)))
  }
  orders <- if (m == 2) c("xyxy", "xxyy") else c("xyzxyz", "xxyyzz")
  if (is.null(layout)) {
    abort_riemdp("argument", sprintf("`layout` must say how a row is ordered: %s.",
                                     paste(dQuote(orders, FALSE), collapse = " or ")))
  }
  read <- table_rows(x)
  if (check_choice(layout, "layout", orders) == orders[1]) {
    read$rows <- read$rows[, t(matrix(seq_len(m * k), m)), drop = FALSE]
  }
  read
}

# k x m numbers of public landmarks
template_rows <- function(M, template) {
  k <- M$param
  m <- landmark_sides(M)
  t <- public_value(template, "template")
  if (m == 2 && is.complex(t)) t <- cbind(Re(as.vector(t)), Im(as.vector(t)))
  if (!is.numeric(t) || !identical(dim(t), c(as.integer(k), as.integer(m))) || !all(is.finite(t))) {
    abort_riemdp("shape", sprintf("`template` must have %d landmarks with %d coordinates, all of them there.", k, m))
  }
  matrix(as.double(t), k)
}

# Of each row the landmarks that are missing, by the thin-plate spline from the template's others to its own. What has
# too few, or all on a line (in space: in a plane), stays as it is.
complete_landmarks <- function(rows, template) {
  m <- ncol(template)
  by_record(rows, m, function(x) {
    seen <- rowSums(is.finite(x)) == m
    if (all(seen) || sum(seen) <= m) return(x)
    x[!seen, ] <- spline_image(template[seen, , drop = FALSE], x[seen, , drop = FALSE], template[!seen, , drop = FALSE])
    x
  }, function(x) x)
}

# f of each record's k x m landmarks, and what stands there where f can't be worked out
by_record <- function(rows, m, f, otherwise = function(x) NA * x) {
  for (i in seq_len(nrow(rows))) {
    x <- matrix(rows[i, ], ncol = m)
    rows[i, ] <- tryCatch(f(x), error = function(e) otherwise(x))
  }
  rows
}

# where the thin-plate spline that takes `from` to `to` takes `x`: landmarks in rows
spline_image <- function(from, to, x) {
  middle <- colMeans(from)
  from <- from - rep(middle, each = nrow(from))
  size <- sqrt(max(rowSums(from^2)))
  from <- from / size
  x <- (x - rep(middle, each = nrow(x))) / size
  bend <- function(p) thin_plate(squares_between(p, from), ncol(from))
  zero <- matrix(0, ncol(from) + 1, ncol(from) + 1)
  system <- rbind(cbind(bend(from), 1, from), cbind(rbind(1, t(from)), zero))
  solved <- solve(system, rbind(to, matrix(0, nrow(zero), ncol(to))), tol = 1e-12)
  cbind(bend(x), 1, x) %*% solved
}

# ---- before shapes are taken -----------------------------------------------------------------------------------------

#' Landmarks slid along curves, or made symmetric, each record by itself
#'
#' Programs that slide semilandmarks, or separate symmetry from asymmetry, most often do so for all records at once, so
#' that each record holds something of the others. These two functions do it record by record, beside a public template
#' or a public list of pairs: nothing of one record depends on another one, and private functions keep their promise
#' about rows when they are given the result.
#'
#' `slide_landmarks()`: a landmark of a curve is known across the curve and not along it. Each one moves along the
#' tangent at its place, the direction from the landmark before it to the one after it, so that the thin-plate spline
#' from the template to the record bends least (Bookstein 1997). The bending energy knows nothing of place, size and
#' rotation, so nothing is superimposed. With several `passes` tangents are taken anew.
#'
#' `symmetric_landmarks()`: the record and its mirror image, in which left and right landmarks have changed names, are
#' superimposed by a rotation and averaged. The result is symmetric, and its shape is the midpoint of the two (Mardia,
#' Bookstein and Moreton 2000). Its distance from the record's own shape says how asymmetric a record is.
#'
#' @param x landmarks as [as_mf_points()] takes them for this manifold; `layout` as there.
#' @param M [kendall()] or [size_and_shape()], in the plane or in space.
#' @param template public landmarks, k x 2 or k x 3, or a complex vector.
#' @param curves a matrix with a row for each landmark that slides: the numbers of the landmark before it, its own, and
#'   that of the one after it. At least three landmarks that aren't on a line (in space four, not in a plane) must stay.
#' @param pairs a matrix with a row for each pair of landmarks that mirror each other; the others lie in the middle.
#' @param passes how often landmarks slide.
#' @param layout order of numbers where `x` is a table.
#' @return A k x 2 x n or k x 3 x n array for [as_mf_points()], in the record's own units, with records' names. A record
#'   with missing landmarks, or two landmarks in one place where a direction is needed, is missing altogether.
#' @section Errors:
#' `riemdp_error_argument` for `curves` and `pairs` that don't fit, `riemdp_error_shape` for other forms of `x` and
#' `template`, `riemdp_error_unsupported` for other manifolds and for records that were superimposed together.
#' @references Bookstein, F. L. (1997). Landmark methods for forms without landmarks: morphometrics of group differences
#'   in outline shape. *Medical Image Analysis* 1, 225-243. \doi{10.1016/S1361-8415(97)85012-8}
#'
#' Mardia, K. V., Bookstein, F. L. and Moreton, I. J. (2000). Statistical assessment of bilateral symmetry of shapes.
#'   *Biometrika* 87, 285-300. \doi{10.1093/biomet/87.2.285}
#' @seealso [as_mf_points()], [read_tps()]
#' @examples
#' # a house: landmarks 6 and 7 are on the walls
#' house <- cbind(c(0, 1, 1, 0, 0.5, 1, 0), c(0, 0, 1, 1, 1.5, 0.5, 0.5))
#' x <- house + c(rep(0, 12), -0.2, 0)
#' slide_landmarks(x, kendall(7), house, rbind(c(2, 6, 3), c(1, 7, 4)))
#' y <- symmetric_landmarks(x, kendall(7), rbind(c(1, 2), c(3, 4), c(6, 7)))
#' mf_dist(kendall(7), x, y) # how asymmetric it was
#' @export
slide_landmarks <- function(x, M, template, curves, passes = 1, layout = NULL) {
  m <- landmark_sides(M)
  template <- template_rows(M, template)
  curves <- landmark_numbers(M$param, curves, "curves", 3)
  passes <- check_count(passes, "passes", most = 100)
  slid <- curves[, 2]
  if (anyDuplicated(slid)) abort_riemdp("argument", "`curves` must have each sliding landmark once.")
  bent <- bending_energy(template, "template")
  of_slid <- bent[slid, slid, drop = FALSE]
  if (min(eigen(of_slid, TRUE, only.values = TRUE)$values) < 1e-9 * max(abs(bent))) {
    abort_riemdp("argument", sprintf("`curves`: at least %d landmarks must stay, not all of them %s.", m + 1,
                                     if (m == 2) "on one line" else "in one plane"))
  }
  read <- read_configurations(M, x, list(layout = layout))
  configurations(M, by_record(read$rows, m, function(y) {
    for (i in seq_len(passes)) {
      along <- y[curves[, 3], , drop = FALSE] - y[curves[, 1], , drop = FALSE]
      along <- along / sqrt(rowSums(along^2))
      pull <- rowSums(along * (bent %*% y)[slid, , drop = FALSE])
      y[slid, ] <- y[slid, ] - along * solve(of_slid * tcrossprod(along), pull)
    }
    y
  }), read$names)
}

#' @rdname slide_landmarks
#' @export
symmetric_landmarks <- function(x, M, pairs, layout = NULL) {
  m <- landmark_sides(M)
  pairs <- landmark_numbers(M$param, pairs, "pairs", 2)
  if (anyDuplicated(c(pairs))) abort_riemdp("argument", "`pairs` must have each landmark at most once.")
  other <- seq_len(M$param)
  other[pairs] <- pairs[, 2:1]
  read <- read_configurations(M, x, list(layout = layout))
  configurations(M, by_record(read$rows, m, function(y) {
    middle <- rep(colMeans(y), each = nrow(y))
    y <- y - middle
    mirrored <- y[other, ] * rep(c(-1, rep(1, m - 1)), each = nrow(y))
    s <- svd(crossprod(mirrored, y))
    sign <- if (det(s$u) * det(s$v) < 0) -1 else 1
    apart <- s$d[m - 1] + sign * s$d[m] # 0 where no rotation is the best one
    if (!(apart > 1e-12 * sum(y^2))) return(NA * y)
    (y + mirrored %*% s$u %*% (c(rep(1, m - 1), sign) * t(s$v))) / 2 + middle
  }), read$names)
}

# rows as an array with records last; a record without some number has none
configurations <- function(M, rows, names) {
  rows[rowSums(!is.finite(rows)) > 0, ] <- NA
  array(t(rows), c(M$param, landmark_sides(M), nrow(rows)), if (!is.null(names)) list(NULL, NULL, names))
}

# ---- files -----------------------------------------------------------------------------------------------------------

#' Landmarks from TPS and NTS files
#'
#' Reads the text files in which programs for digitising landmarks write them. TPS files (tpsDig and others) have a
#' block for each configuration: `LM=` (in space `LM3=`) and a number, as many lines with two or three coordinates, and
#' lines such as `ID=`, `IMAGE=` and `SCALE=`. NTS files (NTSYSpc) have comments, which begin with a quotation mark, a
#' line of sizes, labels where that line says so, and a matrix.
#'
#' Each block, or each record's lines of a matrix, gives a record by itself: what can't be read there is that record's
#' missing value, a block of another number of landmarks, or with a `SCALE=` that is no positive number, is missing
#' altogether. Where blocks begin is public: a line with `LM=` or `LM3=` begins one. `SCALE=` multiplies a block's
#' coordinates, which changes sizes and no shape. Curves (`CURVES=`, `POINTS=`) are left out.
#'
#' The line of sizes of an NTS file has a 1, the number of rows, that of columns, and whether numbers may be missing,
#' with the number that stands for a missing one; `DIM=` is not needed. `L` behind the rows' or columns' number: labels
#' stand before the matrix; `B` or `E` behind the rows': each row begins or ends with its label. Sizes and labels before
#' the matrix are public: they say where records are. A matrix with a column for each coordinate holds one
#' configuration, else a row is a record.
#'
#' @param file name of a file.
#' @param k number of landmarks that a configuration has, 3 or more: public, since it decides what a record is.
#' @param m number of their coordinates, 2 or 3.
#' @param negative what coordinates below 0 are: `"keep"`, numbers, or `"missing"`, as some programs mark landmarks that
#'   could not be seen.
#' @param lines number of lines that a row of the matrix takes, where it is longer than a line.
#' @return A k x m x n array for [as_mf_points()] and [kendall()]; names of the third dimension are those of `ID=` (else
#'   `IMAGE=`), or the rows' labels, where there are any. Errors: `riemdp_error_argument` where there is no such file,
#'   `riemdp_error_shape` where sizes of a matrix don't fit `k` and `m`.
#' @seealso [as_mf_points()] with `template = ` for missing landmarks
#' @examples
#' file <- tempfile(fileext = ".tps")
#' writeLines(c("LM=3", "0 0", "1 0", "0 1", "ID=a", "LM=3", "0 0", "2 0", "1 ?", "ID=b"), file)
#' read_tps(file, 3)
#' writeLines(c("\"two triangles", "1 2L 6 1 999 DIM=2", "a b", "0 0 1 0 0 1", "0 0 2 0 1 999"), file)
#' read_nts(file, 3)
#' @export
read_tps <- function(file, k, m = 2, negative = c("keep", "missing")) {
  negative <- check_choice(negative, "negative", c("keep", "missing"))
  k <- check_count(k, "k", least = 3)
  m <- check_count(m, "m", least = 2, most = 3)
  lines <- file_lines(file)
  key <- toupper(trimws(sub("=.*", "", lines)))
  keyed <- grepl("=", lines, fixed = TRUE)
  value <- trimws(sub("^[^=]*=", "", lines))
  start <- which(keyed & key %in% c("LM", "LM3"))
  end <- c(start[-1] - 1, length(lines))[seq_along(start)]
  out <- array(NA_real_, c(k, m, length(start)))
  names <- character(length(start))
  for (i in seq_along(start)) {
    at <- seq_len(end[i] - start[i]) + start[i]
    said <- function(what) value[at[keyed[at] & key[at] == what]][1]
    if (key[start[i]] == c("LM", "LM3")[m - 1] && identical(text_numbers(value[start[i]]), as.double(k))) {
      out[, , i] <- block_landmarks(lines[at], keyed[at], k, m, negative)
      scale <- if (is.na(said("SCALE"))) 1 else text_numbers(said("SCALE"))
      out[, , i] <- out[, , i] * if (is.finite(scale) && scale > 0) scale else NA
    }
    name <- c(said("ID"), said("IMAGE"), "")
    names[i] <- name[!is.na(name)][1]
  }
  dimnames(out) <- list(NULL, NULL, names)
  out
}

check_file <- function(file) {
  if (!is.character(file) || length(file) != 1 || is.na(file) || !file.exists(file) || dir.exists(file)) {
    abort_riemdp("argument", "`file` must be the name of a file.")
  }
}

file_lines <- function(file) {
  check_file(file)
  lines <- readLines(file, warn = FALSE, skipNul = TRUE)
  iconv(lines, "UTF-8", "UTF-8", sub = "?")
}

# lines that end with a line feed: a carriage return inside one ends none
nts_lines <- function(file) {
  check_file(file)
  con <- gzfile(file, "rb")
  on.exit(close(con))
  bytes <- list()
  while (length(one <- readBin(con, "raw", 1e6))) bytes <- c(bytes, list(one))
  bytes <- c(raw(), unlist(bytes))
  text <- rawToChar(bytes[bytes != 0])
  lines <- strsplit(iconv(text, "UTF-8", "UTF-8", sub = "?"), "\n", fixed = TRUE)[[1]]
  sub("\r$", "", sub("^\ufeff", "", lines))
}

# of the k lines after LM=, m numbers each
block_landmarks <- function(lines, keyed, k, m, negative) {
  lines <- utils::head(lines, k)
  fields <- strsplit(trimws(lines), "[[:space:]]+")
  one <- function(i) if (keyed[i] || length(fields[[i]]) != m) rep(NA_real_, m) else text_numbers(fields[[i]])
  found <- vapply(seq_along(lines), one, numeric(m))
  out <- matrix(NA_real_, k, m)
  out[seq_along(lines), ] <- t(found)
  out[rowSums(is.na(out) | (negative == "missing" & out < 0)) > 0, ] <- NA
  out
}

#' @rdname read_tps
#' @export
read_nts <- function(file, k, m = 2, lines = 1) {
  k <- check_count(k, "k", least = 3)
  m <- check_count(m, "m", least = 2, most = 3)
  per_row <- check_count(lines, "lines", most = 1e4)
  text <- nts_lines(file)
  about <- cumsum(nzchar(trimws(text)) & !grepl("^[[:space:]]*[\"']", text)) == 0 # later ones are of records
  text <- text[!about]
  sizes <- nts_sizes(text[1])
  single <- sizes$columns == m && sizes$rows == k
  if (!single && sizes$columns != k * m) {
    abort_riemdp("shape", sprintf("`file` must have a matrix with %d columns, or of %d rows and %d columns.", k * m, k,
                                  m))
  }
  read <- nts_rows(strsplit(trimws(text[-1]), "[[:space:]]+"), sizes, per_row)
  if (single) return(array(t(read$numbers), c(k, m, 1)))
  out <- aperm(array(read$numbers, c(m, k, sizes$rows)), c(2, 1, 3))
  if (!is.null(read$names)) dimnames(out) <- list(NULL, NULL, read$names)
  out
}

# of fields line by line: list(numbers, columns x rows, names)
nts_rows <- function(fields, sizes, per_row) {
  labels <- list()
  for (count in c(if (sizes$row_labels == "L") sizes$rows, if (sizes$column_labels) sizes$columns)) {
    taken <- which(cumsum(lengths(fields)) >= count)[1]
    if (is.na(taken)) taken <- length(fields)
    labels <- c(labels, list(utils::head(unlist(fields[seq_len(taken)]), count)))
    fields <- fields[-seq_len(taken)]
  }
  length(fields) <- sizes$rows * per_row
  rows <- lapply(seq_len(sizes$rows), function(i) unlist(fields[(i - 1) * per_row + seq_len(per_row)]))
  ends <- function(i) vapply(rows, function(row) c(row, "")[max(1, i(row))], "")
  at <- match(sizes$row_labels, c("B", "E", "L"), 0L) # label first, last, or in a list of their own; 0: none
  names <- if (at == 1) ends(function(row) 1) else if (at == 2) ends(length) else if (at == 3) {
    c(labels[[1]], rep("", sizes$rows))[seq_len(sizes$rows)]
  }
  numbers <- vapply(rows, function(row) {
    row <- if (at == 1) row[-1] else if (at == 2) row[-length(row)] else row
    if (length(row) != sizes$columns) return(rep(NA_real_, sizes$columns))
    x <- text_numbers(row)
    replace(x, x %in% sizes$missing, NA)
  }, numeric(sizes$columns))
  list(numbers = numbers, names = names)
}

# of the line of sizes
nts_sizes <- function(line) {
  word <- toupper(strsplit(trimws(line %||% ""), "[[:space:]]+")[[1]])
  word <- word[!startsWith(word, "DIM")]
  counts <- suppressWarnings(as.integer(sub("[LBE]$", "", word[2:3])))
  if (length(word) < 4 || word[1] != "1" || anyNA(counts) || any(counts < 1 | counts > 1e7)) {
    abort_riemdp("shape", paste("`file` must begin with a line of sizes after its comments: 1, rows, columns, and 0 or",
                                "1 and the number that stands for missing ones."))
  }
  list(rows = counts[1], columns = counts[2], column_labels = endsWith(word[3], "L"),
       row_labels = sub("^[0-9]+", "", word[2]), missing = if (word[4] != "0") text_numbers(word[5]))
}
