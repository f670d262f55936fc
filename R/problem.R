# Problems of optimisation: plain data, and functions where they are the user's own.

PROBLEM_KINDS <- c("frechet", "huber", "pca", "callback")

new_problem <- function(kind, M, ..., threshold = 1) {
  structure(list(kind = kind, manifold = M, threshold = threshold, ...), class = "riemdp_problem")
}

#' Optimisation problems on manifolds
#'
#' A problem is a loss f(w; z) of a point w of a manifold and one record z; what is minimised is the mean loss of n
#' records. Gradients are given record by record, so that private optimisers can clip each.
#'
#' * `problem_frechet(M)`: half the squared distance, gradient \eqn{-\log_w z}; the minimiser is the Frechet mean. With
#'   `M = hyperbolic(d, "ball")` it is the mean of Poincare embeddings. Records are points of M.
#' * `problem_huber(M, threshold)`: Huber's function of the distance, \eqn{d^2/2} up to the threshold t and
#'   \eqn{t(d - t/2)} beyond: a robust mean, whose gradients are never longer than t. Records are points of M.
#' * `problem_pca(M)`: \eqn{-|W^\top z|^2}: the leading eigenvector of the second-moment matrix on `sphere(m - 1)`, its
#'   leading subspace on `grassmann(m, q)` (and a frame of it on `stiefel(m, q)`). Gradient
#'   \eqn{-2(I - WW^\top)zz^\top W}, at most \eqn{|z|^2} long. Records are rows of a numeric matrix with m columns.
#' * `problem(loss, gradient, M)`: a user's own. `gradient(w, z)` returns the Riemannian gradient at w in w's shape (a
#'   gradient in the surrounding space is projected, which is right where the metric is the surrounding space's),
#'   `loss(w, z)` one number; `NULL` where it isn't needed: [dp_optimize()] needs no loss, [riemannian_optimize()] needs
#'   both. `data` may be anything that has records: a vector, a list, a matrix or data frame (rows), a k x k x n array,
#'   `NULL` for a function of w alone. `z` is one record (an element, a row as a vector or a one-row data frame, a
#'   matrix). With `batched = TRUE`, z holds many records in the form of `data`, and the functions return many: losses
#'   as a vector, gradients as rows (vectors), k x k x b arrays (matrices) or complex k x b matrices (shapes). Rows may
#'   not mix: a result belongs to one record and is made of it and w alone.
#'
#' Whether rows mix is tried with made-up records, which are the same for everyone: a few points of M when the problem
#' is made, and where the functions fail on these, records in the form of `data` (type and columns, no values) when a
#' private run begins. Results must move with their records when these are put in another order, stay when others are
#' replaced, and be the same for one record alone. What fails this is an error of class `riemdp_error_callback`. A
#' private run that can try neither, because the functions fail on made-up records or `data` has a form of its own
#' (lists, factors, chunks), gives the functions one record at a time. Beyond what was tried the functions are trusted,
#' and the guarantee says so: one that mixes rows only for certain records or numbers of them, keeps a state between
#' calls, or draws random numbers isn't found by this.
#'
#' In a private run each call is caught: where a callback fails, or returns a wrong shape or a number that isn't finite,
#' that record's gradient is 0, and nothing tells so. A batch that fails is repeated record by record.
#'
#' @param M a manifold.
#' @param threshold positive, in the units of the metric.
#' @param loss,gradient functions of a point and a record (or many), see above.
#' @param batched whether they take many records at once.
#' @return A list of class `riemdp_problem`. `problem_facts()`: a list with `clip`, the largest length of a record's
#'   gradient for records and iterates in a ball of radius `radius` (for `problem_pca()`: records of length up to
#'   `radius`); `smoothness`, a bound of the loss's second derivative along geodesics there; both `NA` where nothing is
#'   known.
#' @references
#' Nickel, M. and Kiela, D. (2017). Poincare embeddings for learning hierarchical representations. *Advances in Neural
#' Information Processing Systems* 30.
#'
#' Huber, P. J. (1964). Robust estimation of a location parameter. *Annals of Mathematical Statistics* 35, 73-101.
#' \doi{10.1214/aoms/1177703732}
#'
#' Edelman, A., Arias, T. A. and Smith, S. T. (1998). The geometry of algorithms with orthogonality constraints. *SIAM
#' Journal on Matrix Analysis and Applications* 20, 303-353. \doi{10.1137/S0895479895290954}
#' @seealso [riemannian_optimize()], [dp_optimize()]
#' @examples
#' problem_facts(problem_frechet(spd(2)), radius = 1)
#' # least squares on a sphere: loss (y - <w, x>)^2 of records (x, y)
#' own <- problem(
#'   loss = function(w, z) (z[4] - sum(w * z[1:3]))^2,
#'   gradient = function(w, z) -2 * (z[4] - sum(w * z[1:3])) * z[1:3],
#'   M = sphere(2)
#' )
#' x <- cbind(diag(3), c(0.9, 0.1, 0.2))
#' riemannian_optimize(own, x, start = c(0, 0, 1))$value
#' @export
problem <- function(loss, gradient, M, batched = FALSE) {
  check_manifold(M)
  if (!is.null(loss) && !is.function(loss)) {
    abort_riemdp("argument", "`loss` must be a function of a point and a record, or NULL.")
  }
  if (!is.function(gradient)) abort_riemdp("argument", "`gradient` must be a function of a point and a record.")
  out <- new_problem("callback", M, loss = loss, gradient = gradient, batched = check_flag(batched, "batched"))
  if (out$batched) out$tried <- rows_apart(out, made_up_points(M))
  out
}

#' @rdname problem
#' @export
problem_frechet <- function(M) new_problem("frechet", check_manifold(M))

#' @rdname problem
#' @export
problem_huber <- function(M, threshold) {
  check_manifold(M)
  if (missing(threshold)) abort_no_default("threshold")
  new_problem("huber", M, threshold = check_number(threshold, "threshold", positive = TRUE))
}

#' @rdname problem
#' @export
problem_pca <- function(M) {
  check_manifold(M)
  if (!mf_facts(M)$orthonormal) {
    abort_riemdp("unsupported", "principal components are points of a sphere, a Grassmann or a Stiefel manifold.")
  }
  new_problem("pca", M)
}

#' @rdname problem
#' @param problem a problem.
#' @param radius radius of the ball that holds records and iterates; for `problem_pca()` the largest length of a record.
#' @export
problem_facts <- function(problem, radius) {
  check_problem(problem)
  radius <- check_number(radius, "radius", positive = TRUE)
  facts <- mf_facts(problem$manifold)
  far <- 2 * radius * sqrt(max(-facts$k_min, 0)) # distances in the ball are up to 2 radius
  bend <- if (far > 1e-4) far / tanh(far) else 1
  switch(problem$kind,
    frechet = list(clip = 2 * radius, smoothness = bend),
    huber = list(clip = min(problem$threshold, 2 * radius), smoothness = bend),
    pca = list(clip = radius^2, smoothness = 2 * radius^2),
    list(clip = NA_real_, smoothness = NA_real_)
  )
}

check_problem <- function(problem) {
  ok <- inherits(problem, "riemdp_problem") && is.list(problem) && is_string(problem$kind) &&
    problem$kind %in% PROBLEM_KINDS &&
    inherits(problem$manifold, "riemdp_manifold") && is_doubles(problem$threshold, 1) && problem$threshold > 0 &&
    is.null(dim(problem$threshold)) && (problem$kind != "callback" || holds_callbacks(problem))
  if (!ok) abort_riemdp("argument", "`problem` must be an optimisation problem, e.g. problem_frechet(spd(2)).")
  problem
}

holds_callbacks <- function(problem) {
  is.function(problem$gradient) && (is.null(problem$loss) || is.function(problem$loss)) &&
    (identical(problem$batched, TRUE) || identical(problem$batched, FALSE))
}

#' @export
print.riemdp_problem <- function(x, ...) {
  cat(sprintf("<problem> %s on %s\n", x$kind, label_manifold(x$manifold)))
  invisible(x)
}

# What C is given: kind, threshold, data, callback and number of records. `private` callbacks never fail aloud. Where
# `least` is 0 there may be none: one without a gradient, then.
problem_call <- function(problem, data, private, bound = NULL, least = 1) {
  kind <- problem$kind
  M <- problem$manifold
  if (is_chunks(data)) {
    facts <- mf_facts(M)
    if (problem$kind == "pca" && chunk_width(data) != (if (facts$cols > 0) facts$rows else facts$ambient)) {
      abort_riemdp("shape", "`data` must have a column for each coordinate of the manifold's surrounding space.")
    }
    return(list(kind = kind, threshold = as.double(problem$threshold),
                data = problem_tally(problem, data, private, bound), fun = NULL,
                n = chunk_count(data)))
  }
  if (problem$kind != "callback") {
    if (private) data <- plain_numbers(data)
    if (problem$kind == "pca") data <- pca_rows(data)
    n <- if (problem$kind == "pca") nrow(data) else .Call(riemdp_count, M, data)
    if (n < least) abort_riemdp("shape", "`data` must hold at least one record.")
    if (n == 0) return(no_record())
    return(list(kind = kind, threshold = as.double(problem$threshold), data = data, fun = NULL, n = as.double(n)))
  }
  n <- own_count(data, least)
  if (n == 0) return(no_record())
  list(kind = kind, threshold = 1, data = NULL, fun = own_function(problem, data, n, private), n = as.double(n))
}

no_record <- function() {
  list(kind = "callback", threshold = 1, data = NULL, n = 1, none = TRUE,
       fun = function(p, which) matrix(NaN, length(p) + 1, length(which)))
}

pca_rows <- function(data) {
  if (is.data.frame(data)) data <- data_frame_matrix(data)
  if (!is.matrix(data) || !is.numeric(data) || is.object(data)) {
    abort_riemdp("shape", "`data` must be a numeric matrix whose rows are records.")
  }
  storage.mode(data) <- "double"
  data
}

# ---- a user's own data and callbacks ---------------------------------------------------------------------------------

# records `which` of any container; a single one by itself unless `many`
own_records <- function(data, which, many) {
  d <- dim(data)
  if (is.null(d)) {
    return(if (!many && is.list(data) && !is.object(data)) data[[which]] else data[which])
  }
  if (is.data.frame(data)) {
    return(data[which, , drop = FALSE])
  }
  if (length(d) == 2) {
    return(data[which, , drop = !many])
  }
  if (length(d) == 3) {
    return(if (many) data[, , which, drop = FALSE] else matrix(data[, , which], d[1]))
  }
  abort_riemdp("shape", "`data` must be a vector, list, data frame, matrix or array of at most three dimensions.")
}

plain_point <- function(facts, x) {
  if (of_complex(facts)) x <- pairs_complex(x)
  if (facts$cols > 0) matrix(x, facts$rows) else x
}

# gradients -> ambient x count doubles, or NULL for a wrong shape
storage_columns <- function(facts, g, count, many) {
  if (of_complex(facts)) {
    if (!(is.complex(g) || (is.numeric(g) && facts$cols > 0)) || 2 * length(g) != facts$ambient * count) {
      return(NULL)
    }
    return(complex_pairs(g, facts))
  }
  if (!is.numeric(g) || length(g) != facts$ambient * count) {
    return(NULL)
  }
  by_rows <- many && facts$rows == 0
  if (by_rows && facts$ambient > 1 && !identical(as.integer(dim(g)), as.integer(c(count, facts$ambient)))) {
    return(NULL)
  }
  if (many && facts$rows > 0 && !identical(as.integer(dim(g)), as.integer(c(facts$rows, facts$cols, count)))) {
    return(NULL)
  }
  if (by_rows) t(matrix(as.double(g), count)) else matrix(as.double(g), ncol = count)
}

own_function <- function(problem, data, n, private) {
  facts <- mf_facts(problem$manifold)
  gradient <- problem$gradient
  loss <- if (private) NULL else problem$loss
  batched <- problem$batched && !is.null(data)
  together <- batched && !isTRUE(problem$alone)
  ask <- function(f, w, which, many) {
    if (is.null(data)) f(w) else f(w, own_records(data, which, many))
  }
  # (ambient + 1) x count
  some <- function(w, which, many) {
    count <- length(which)
    g <- storage_columns(facts, ask(gradient, w, which, many), count, many)
    if (is.null(g)) stop("wrong shape")
    l <- if (is.null(loss)) rep(0, count) else ask(loss, w, which, many)
    if (!is.numeric(l) || length(l) != count) stop("wrong shape")
    rbind(g, as.double(l))
  }
  failed <- matrix(NaN, facts$ambient + 1, 1)
  alone <- function(w, i) {
    if (private) contained(some(w, i, batched), failed) else some(w, i, batched)
  }
  function(p, which) {
    w <- plain_point(facts, p)
    if (together) {
      out <- if (private) contained(some(w, which, TRUE), NULL) else some(w, which, TRUE)
      if (!is.null(out)) {
        return(out)
      }
    }
    out <- vapply(which, function(i) alone(w, i)[, 1], double(facts$ambient + 1))
    matrix(out, facts$ambient + 1)
  }
}

# ---- whether rows mix ------------------------------------------------------------------------------------------------

# made-up records: numbers of (-1, 1) that are the same for everyone, none of them whole
MADE_UP <- 6

made_up_numbers <- function(n, columns, base = 0) {
  matrix(2 * ((outer(seq_len(n) + 7 * base,
                     sqrt(c(2, 3, 5, 7, 11, 13, 17, 19)[(seq_len(columns) - 1) %% 8 + 1]) +
                       floor((seq_len(columns) - 1) / 8) / 9)) %% 1) - 1,
         n)
}

# list(w, a, b): a point, records of M and others, in M's plain form; NULL where they can't be had
made_up_points <- function(M, at = NULL) {
  contained({
    if (is.null(at)) at <- plain_point(mf_facts(M), as.vector(.Call(riemdp_origin, M)))
    d <- mf_facts(M)$dimension
    some <- function(base) mf_exp(M, at, mf_from_coords(M, at, 0.3 / sqrt(d) * made_up_numbers(MADE_UP, d, base)))
    near <- mf_exp(M, at, mf_from_coords(M, at, 0.1 / sqrt(d) * made_up_numbers(1, d, 3)[1, ]))
    list(w = near, a = some(1), b = some(2))
  }, NULL)
}

# the same in the form of `data`, of which type and columns are looked at and no value; NULL for other forms
made_up_records <- function(M, data, at) {
  points <- made_up_points(M, at)
  if (is.null(points) || is.null(data)) return(NULL)
  points[c("a", "b")] <- lapply(1:2, function(base) {
    contained(made_up_like(M, data, points[[c("a", "b")[base]]], base), NULL)
  })
  points
}

# `points`, or made-up numbers, in the form of `data`; `base` tells one such set from another
made_up_like <- function(M, data, points, base) {
  if (inherits(data, "riemdp_points")) return(if (identical(manifold_of(data), M)) mf_points(points, M))
  if (is.data.frame(data)) return(made_up_table(data, base))
  if (is.object(data) || is.list(data)) return(NULL)
  d <- dim(data)
  if (is.null(d)) return(made_up_column(data, 1, base))
  if (!is.numeric(data)) return(NULL)
  facts <- mf_facts(M)
  if (length(d) == 2) {
    return(if (facts$rows == 0 && d[2] == facts$ambient) points else made_up_numbers(MADE_UP, d[2], base))
  }
  if (length(d) != 3) return(NULL)
  if (identical(as.integer(d[1:2]), as.integer(c(facts$rows, facts$cols)))) return(points)
  array(t(made_up_numbers(MADE_UP, d[1] * d[2], base)), c(d[1:2], MADE_UP))
}

made_up_table <- function(data, base) {
  out <- lapply(seq_along(data), function(j) made_up_column(data[[j]], j, base))
  if (any(lengths(out) == 0)) return(NULL)
  structure(stats::setNames(out, names(data)), class = class(data), row.names = seq_len(MADE_UP))
}

# of the type of x, the j-th column
made_up_column <- function(x, j, base) {
  u <- made_up_numbers(MADE_UP, j, base)[, j]
  if (is.object(x)) return(NULL)
  switch(typeof(x), double = u, integer = order(u), logical = u > 0, character = letters[order(u)],
         complex = complex(real = u, imaginary = rev(u)))
}

# Whether each result is a function of its own record, as far as `made_up` shows: NA where the functions fail on these
# records or don't give results of the right shape; an error where rows mix. Random numbers are left as they were.
rows_apart <- function(problem, made_up) {
  if (is.null(made_up$a) || is.null(made_up$b)) return(NA)
  keep_random_state(made_up_apart(problem, made_up))
}

made_up_apart <- function(problem, made_up) {
  facts <- mf_facts(problem$manifold)
  n <- MADE_UP
  apart <- function(f, shape) {
    # columns of results for records of `a`, those in `other` replaced by those of `b`, in the order `which`
    results <- function(w, which, other = integer()) {
      contained({
        z <- own_records(made_up$a, which, TRUE)
        if (length(other)) z <- put_records(z, match(other, which), own_records(made_up$b, other, TRUE))
        shape(f(w, z), length(which))
      }, NULL)
    }
    w <- made_up$w
    base <- results(w, seq_len(n))
    if (is.null(base) || !all(is.finite(base))) return(NA)
    far <- 1e-8 * (1 + max(abs(base)))
    same <- function(x, which) {
      !is.null(x) && identical(dim(x), dim(base[, which, drop = FALSE])) && isTRUE(max(abs(x - base[, which])) <= far)
    }
    order <- c(4, 1, 6, 2, 3, 5)
    held <- same(results(w, order), order) && all(vapply(c(1, 4, n), function(i) same(results(w, i), i), NA)) &&
      all(vapply(list(2, c(1, 3:5)), function(o) same(results(w, seq_len(n), o)[, -o, drop = FALSE], seq_len(n)[-o]),
                 NA))
    if (!held) {
      abort_riemdp("callback", paste0(
        paste("with `batched = TRUE` each result must be a function of its own record and the point alone. Here",
              "results of made-up records change with "),
        paste("the order, the number or the values of other records (or at random): leave out what joins records, such",
              "as means over them, or `batched`.")
      ))
    }
    TRUE
  }
  checks <- c(
    apart(problem$gradient, function(g, count) storage_columns(facts, g, count, TRUE)),
    if (is.null(problem$loss)) TRUE else
      apart(problem$loss, function(l, count) if (is.numeric(l) && length(l) == count) matrix(as.double(l), 1))
  )
  if (isTRUE(checks[1])) TRUE else NA
}

put_records <- function(z, at, other) {
  if (is.data.frame(z) || length(dim(z)) == 2) {
    z[at, ] <- other
  } else if (is.null(dim(z))) {
    z[at] <- other
  } else {
    z[, , at] <- other
  }
  z
}

# A private run's problem: rows that can't be shown to stay apart come one at a time
apart_in <- function(problem, data, start) {
  if (problem$kind != "callback" || !problem$batched || is.null(data)) return(problem)
  if (isTRUE(problem$tried)) return(problem)
  shown <- if (is_chunks(data)) NA else rows_apart(problem, made_up_records(problem$manifold, data, start))
  problem$alone <- !isTRUE(shown)
  problem
}

# what the optimiser asks of the records of a chunk
DESCENT_KERNELS <- list(
  columns = function(q, x) ncol(pca_rows(x)),
  gradients = function(q, x) {
    if (!is.null(q$bound)) x <- shorten_rows(pca_rows(x), q$bound)
    input <- problem_call(q$problem, x, private = q$private)
    .Call(riemdp_chunk_gradients, q$M, input$data, input$kind, input$threshold, input$fun, input$n, q$p, q$snapshot,
          q$step, q$which, q$share)
  }
)

# problems without functions of their own, by kind: of a manifold and a threshold
PROBLEM_MAKERS <- list(
  frechet = function(M, threshold) problem_frechet(M), huber = function(M, threshold) problem_huber(M, threshold),
  pca = function(M, threshold) problem_pca(M)
)
