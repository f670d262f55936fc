#' Poincare embeddings of graphs
#'
#' Places the nodes of a graph in the Poincare ball so that nodes with an edge come to lie close (Nickel and Kiela
#' 2017), by Riemannian stochastic gradients. **Not private**: it is how records in hyperbolic space come about, whose
#' mean `dp_mean()` or `dp_optimize()` then release.
#'
#' The loss of an edge (u, v) is \eqn{\log \sum_{w} e^{-d(u, w)} + d(u, v)}, the sum over v and `negatives` random nodes
#' that u has no edge to. A step moves u, v and these nodes against the Riemannian gradient of that loss, and back to
#' length 1 - 1e-5 where it leads beyond; edges come in random order, each once an epoch. Nodes start uniformly within
#' .001 of the centre, and the first `burn_in` epochs have a tenth of the step size. Random numbers follow [set.seed()].
#'
#' Embeddings are determined up to an isometry of the ball, and differ between seeds.
#'
#' @param edges two columns (matrix or data frame): whole numbers from 1, or names of nodes. From the first column's
#'   node to the second's, e.g. from a word to what it is a kind of; repeated edges count once.
#' @param dimension of the ball.
#' @param ... nothing; later arguments must be named.
#' @param epochs how often each edge is used.
#' @param negatives random nodes a step.
#' @param lr step size.
#' @param burn_in epochs with a tenth of it.
#' @param start matrix of points to start from, or `NULL`.
#' @return A list of class `riemdp_poincare_embedding`: `points` (matrix, a row for each node, named where `edges` has
#'   names: points of `hyperbolic(dimension, "ball")`), `manifold`, `loss` (mean of each epoch), `edges` (numbers).
#'   `summary()` adds the quality of the reconstruction: over edges (u, v), the mean rank of d(u, v) among the distances
#'   of u to nodes without an edge from u, and the mean average precision. Errors: `riemdp_error_shape`,
#'   `riemdp_error_argument`.
#' @references
#' Nickel, M. and Kiela, D. (2017). Poincare embeddings for learning hierarchical representations. *Advances in Neural
#' Information Processing Systems* 30. \doi{10.48550/arXiv.1705.08039}
#' @seealso [read_wordnet_mammals()], [hyperbolic()], [problem_frechet()]
#' @examples
#' # a binary tree with 31 nodes: every node and its ancestors
#' edges <- do.call(rbind, lapply(2:31, function(i) {
#'   above <- i %/% 2^(1:4)
#'   cbind(i, above[above > 0])
#' }))
#' set.seed(1)
#' tree <- poincare_embedding(edges, dimension = 2, epochs = 200, negatives = 5)
#' tree
#' plot(tree)
#' # the root's place: the private mean of the embedding
#' dp_mean(tree$points, tree$manifold, epsilon = 5, center = c(0, 0), radius = 6)$value
#' @export
poincare_embedding <- function(edges, dimension = 5, ..., epochs = 300, negatives = 10, lr = 0.3, burn_in = 10,
                               start = NULL) {
  check_no_more(...)
  graph <- read_edges(edges)
  dimension <- check_count(dimension, "dimension", most = 1000)
  M <- hyperbolic(dimension, "ball")
  n <- length(graph$names)
  settings <- list(nodes = n, negatives = check_count(negatives, "negatives", least = 0, most = 1e4),
                   epochs = check_count(epochs, "epochs"), burn_in = check_count(burn_in, "burn_in", least = 0),
                   lr = check_number(lr, "lr", positive = TRUE, most = 1e5), burn_factor = 0.1)
  if (is.null(start)) {
    start <- matrix(stats::runif(n * dimension, -1e-3, 1e-3), n)
  } else if (!is.matrix(start) || !is.numeric(start) || !identical(dim(start), c(n, dimension))) {
    abort_riemdp("shape", "`start` must be a matrix with a row for each node and `dimension` columns.")
  }
  storage.mode(start) <- "double"
  fit <- .Call(riemdp_poincare_embedding, M, graph$edges, start, settings)
  points <- fit[[1]]
  if (graph$named) rownames(points) <- graph$names
  structure(list(points = points, manifold = M, loss = fit[[2]], edges = graph$edges),
            class = "riemdp_poincare_embedding")
}

# sorted numbers of nodes, each edge once, and the nodes' names
read_edges <- function(edges) {
  bad <- function(...) abort_riemdp("shape", paste0(...))
  if (is.data.frame(edges)) {
    if (ncol(edges) != 2) bad("`edges` must have two columns.")
    edges <- if (all(vapply(edges, is.numeric, NA))) data_frame_matrix(edges) else as.matrix(edges)
  }
  if (!is.matrix(edges) || is.object(edges) || ncol(edges) != 2 || nrow(edges) < 1) {
    bad("`edges` must have two columns, and a row for each edge.")
  }
  if (anyNA(edges)) abort_riemdp("argument", "`edges` must have no missing nodes.")
  named <- is.character(edges)
  if (named) {
    names <- sort(unique(as.vector(edges)), method = "radix")
    edges <- matrix(as.double(match(edges, names)), ncol = 2)
  } else {
    ok <- is.numeric(edges) && all(is.finite(edges)) && all(edges == round(edges)) && min(edges) >= 1 &&
      max(edges) <= 1e7
    if (!ok) abort_riemdp("argument", "`edges` must be whole numbers from 1, or names.")
    edges <- matrix(as.double(edges), ncol = 2)
    names <- as.character(seq_len(max(edges)))
  }
  edges <- unique(edges[edges[, 1] != edges[, 2], , drop = FALSE])
  if (!nrow(edges)) abort_riemdp("argument", "`edges` must join different nodes.")
  list(edges = edges[order(edges[, 1], edges[, 2]), , drop = FALSE], names = names, named = named)
}

# mean rank and mean average precision of the edges among all distances
reconstruction <- function(x) {
  points <- x$points
  to <- split(x$edges[, 2], x$edges[, 1])
  each <- vapply(names(to), function(name) {
    u <- as.integer(name)
    d <- mf_dist(x$manifold, points[u, ], points)
    v <- to[[name]]
    others <- sort(d[-c(u, v)])
    rank <- findInterval(d[v], others, left.open = TRUE) + 1 # among v and the nodes without an edge
    near <- sort(rank)
    # average precision: of the nodes up to the i-th neighbour, i are neighbours
    precision <- mean(seq_along(near) / (near + seq_along(near) - 1))
    c(sum(rank), length(rank), precision)
  }, double(3))
  c(mean_rank = sum(each[1, ]) / sum(each[2, ]), map = mean(each[3, ]))
}

#' @export
print.riemdp_poincare_embedding <- function(x, ...) {
  cat(sprintf("Poincare embedding: %d nodes, %d edges, dimension %d (not private)\n", nrow(x$points), nrow(x$edges),
              ncol(x$points)))
  cat(sprintf("  mean loss of the last of %d epochs: %.4g\n", length(x$loss), x$loss[length(x$loss)]))
  invisible(x)
}

#' @rdname poincare_embedding
#' @param object,x an embedding.
#' @export
summary.riemdp_poincare_embedding <- function(object, ...) {
  found <- reconstruction(object)
  data.frame(nodes = nrow(object$points), edges = nrow(object$edges), dimension = ncol(object$points),
             epochs = length(object$loss), loss = object$loss[length(object$loss)], mean_rank = found[["mean_rank"]],
             map = found[["map"]])
}

#' @rdname poincare_embedding
#' @export
plot.riemdp_poincare_embedding <- function(x, ...) {
  if (ncol(x$points) != 2) abort_riemdp("argument", "a picture needs an embedding in two dimensions.")
  graphics::plot.default(NA, xlim = c(-1, 1), ylim = c(-1, 1), asp = 1, xlab = "", ylab = "", axes = FALSE, ...)
  angle <- seq(0, 2 * pi, length.out = 200)
  graphics::lines(cos(angle), sin(angle), col = "grey60")
  from <- x$points[x$edges[, 1], , drop = FALSE]
  to <- x$points[x$edges[, 2], , drop = FALSE]
  graphics::segments(from[, 1], from[, 2], to[, 1], to[, 2], col = "grey85")
  graphics::points(x$points, pch = 20, cex = 0.6)
  invisible(x)
}
