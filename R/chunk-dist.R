#' Pairwise distances in blocks
#'
#' Distances between all pairs of records in [chunks()], one block of two chunks at a time, so that no more than two
#' chunks are in memory in each worker.
#'
#' @param M a manifold.
#' @param x records in [chunks()].
#' @param each a function of a block (a matrix of distances, rows for the records of one chunk and columns for those of
#'   another or the same) and the numbers of its rows' and of its columns' records; it runs where the block is made.
#'   `NULL`: all distances are returned.
#' @return With `each`: a list of its results, one for each pair of chunks i <= j, in the order (1, 1), (1, 2), (2, 2),
#'   (1, 3), ... Without: an object of class `dist`, which takes 4 n (n - 1) bytes. Errors: `riemdp_error_cut_locus` and
#'   those of [chunks()].
#' @seealso [mf_dist_matrix()]
#' @examples
#' x <- chunks(wishart_spd[, , 1:30], size = 10)
#' # the nearest neighbour of each record, block by block
#' near <- mf_dist_blocks(spd(2), x, function(d, i, j) {
#'   d[outer(i, j, "==")] <- Inf
#'   rbind(data.frame(record = i, distance = apply(d, 1, min)),
#'         data.frame(record = j, distance = apply(d, 2, min)))
#' })
#' tapply(do.call(rbind, near)$distance, do.call(rbind, near)$record, min)[1:5]
#' @export
mf_dist_blocks <- function(M, x, each = NULL) {
  check_manifold(M)
  check_chunks(x)
  if (!is.null(each) && !is.function(each)) {
    abort_riemdp("argument", "`each` must be a function of a block and two vectors of numbers, or NULL.")
  }
  k <- length(x)
  pairs <- do.call(rbind, lapply(seq_len(k), function(j) cbind(seq_len(j), j)))
  same <- pairs[, 1] == pairs[, 2]
  ends <- cumsum(x$sizes)
  numbers <- lapply(seq_len(k), function(i) seq(ends[i] - x$sizes[i] + 1, ends[i]))
  ask <- function(rows, other) {
    chunk_ask(x, list(kernel = "distances", M = M, each = each), lapply(rows, function(r) {
      list(i = numbers[[pairs[r, 1]]], j = numbers[[pairs[r, 2]]])
    }), pairs[rows, 1], other = other)
  }
  out <- vector("list", nrow(pairs))
  out[same] <- ask(which(same), NULL)
  if (any(!same)) out[!same] <- ask(which(!same), pairs[!same, 2])
  if (!is.null(each)) return(out)
  n <- ends[k]
  if (n > 65536) abort_riemdp("argument", "so many distances don't fit: give `each`, which takes them block by block.")
  all <- matrix(0, n, n)
  for (r in seq_len(nrow(pairs))) all[numbers[[pairs[r, 2]]], numbers[[pairs[r, 1]]]] <- t(out[[r]])
  d <- stats::as.dist(all)
  attr(d, "method") <- "geodesic"
  attr(d, "call") <- NULL
  d
}

# distances between the records of two chunks
dist_across <- function(M, x, y) {
  if (is.data.frame(x)) x <- data_frame_matrix(x)
  n <- .Call(riemdp_count, M, x)
  m <- .Call(riemdp_count, M, y)
  one <- function(i) {
    p <- records_of(x, i)
    if (!inherits(p, "riemdp_points") && !is.null(dim(p)) && length(dim(p)) == 3) p <- matrix(p, dim(p)[1])
    mf_dist(M, p, y)
  }
  matrix(vapply(seq_len(n), one, double(m)), n, m, byrow = TRUE)
}

# what distance matrices ask of the records of a chunk
DISTANCE_KERNELS <- list(
  distances = function(q, x) {
    d <- if (is.null(q$other)) as.matrix(mf_dist_matrix(q$M, x)) else dist_across(q$M, x, q$other)
    dimnames(d) <- NULL
    if (is.null(q$each)) d else q$each(d, q$i, q$j)
  }
)

# ---- in memory -------------------------------------------------------------------------------------------------------

#' All pairwise distances
#'
#' @param M a manifold.
#' @param x n records, in any accepted shape.
#' @return An object of class `dist` with n(n - 1)/2 distances, for [stats::hclust()], [stats::cmdscale()] and the like.
#' @examples
#' mf_dist_matrix(sphere(2), diag(3))
#' @export
mf_dist_matrix <- function(M, x) {
  d <- flat_distances(M, x) %||% .Call(riemdp_dist_matrix, M, x)
  n <- as.integer(round((1 + sqrt(1 + 8 * length(d))) / 2))
  if (length(d) == 0) n <- as.integer(.Call(riemdp_count, M, x))
  structure(d, Size = n, Diag = FALSE, Upper = FALSE, method = "geodesic", class = "dist")
}

# Distances on a flat space that isn't R^d itself: those of logarithms at one point, of which each record has one, and
# near pairs, whose digits they don't have, by themselves. NULL where that is no gain: few records, or near ones.
flat_distances <- function(M, x) {
  facts <- mf_facts(M)
  flat <- facts$k_min == 0 && facts$k_max == 0 && facts$injectivity_radius == Inf && !inherits(M, "riemdp_euclidean")
  if (!flat || of_user(M)) return(NULL)
  .Call(riemdp_check, M, x)
  n <- .Call(riemdp_count, M, x)
  if (n < 20 || n * (n - 1) / 2 > 1e9) return(NULL)
  o <- .Call(riemdp_origin, M)
  v <- mf_coords(M, o, mf_log(M, o, x))
  d <- as.vector(stats::dist(v))
  near <- which(d < FLAT_NEAR * sqrt(max(rowSums(v^2))))
  if (length(near) > length(d) / 10) return(NULL)
  if (length(near)) {
    first <- cumsum(c(0, (n - 1):1)) # before a record's distances to later ones
    j <- findInterval(near - 1, first)
    d[near] <- mf_dist(M, records_of(x, j), records_of(x, j + near - first[j]))
  }
  d
}

FLAT_NEAR <- 1e-3
