# Public totally geodesic subspaces: records are projected to them one by one, what is released there is put back.
# Proof: inst/proofs/mean-sensitivity.md, section 17.

#' Public subspaces for means of few records
#'
#' In many dimensions most of a release's noise points in directions in which means hardly differ. `subspace()` names
#' the directions that matter, and [dp_mean()] with `reduce =` confines the noise to them. `outline_modes()` and
#' `partial_warps()` make such subspaces for shapes.
#'
#' The subspace holds the public centre \eqn{m_0} and all geodesics from there in the given directions: a plane or line
#' of Euclidean space (of logarithms with the log-Euclidean metric), a great subsphere, a smaller hyperbolic space, or
#' the shapes whose landmarks are complex combinations of the centre's and the directions'. Each is totally geodesic and
#' a space of the same kind, of lower dimension. Each record is moved to its nearest point there, by itself, and the
#' whole of [dp_mean()] takes place on the subspace, with the same n and radius: noise has the subspace's dimension. The
#' projection sends the ball around the centre into the ball of the same radius there. What is no point of the manifold
#' counts as the centre; records at a distance of \eqn{\pi/2} from the centre or beyond (spheres, shapes) are moved to
#' .999 of that first. The released point is put back into the manifold. Proof: section 17 of the file
#' `proofs/mean-sensitivity.md` of the installed package.
#'
#' **The subspace must be public, as the ball is**: from an atlas, from theory (smooth deformations), from another
#' study. Directions taken from the records themselves, principal components say, void the guarantee, and nothing can
#' check that. A release labelled private may be given as `center` or `basis`.
#'
#' What the projection takes off the mean is an error of its own, and no release tells how large it is: `expected_error`
#' and regions are about the mean of the projected records. [dp_mean_plan()] with `reduce` and public or simulated
#' records shows both errors, so that the number of directions can be chosen by public information.
#'
#' @section Subspaces of shapes:
#' `outline_modes()`: landmarks that follow a closed outline, the j-th of k at \eqn{z_j = \sum_c a_c\exp(2\pi i c j/k)}.
#' The subspace has the template and the `m` lowest complex frequencies c = 1, -1, 2, -2, ... (Fourier descriptors; Zahn
#' and Roskies 1972, Kuhl and Giardina 1982), so smooth deformations of it.
#'
#' `partial_warps()`: landmarks that are no outline. The bending energy of thin-plate splines through the template's
#' landmarks (Bookstein 1989) orders its deformations by scale: the subspace has the uniform ones, which cost no energy,
#' and the `m` with the least energy. There are k - 3.
#'
#' Each complex direction has two real dimensions.
#'
#' @param M a manifold: [sphere()], [hyperbolic()] (the hyperboloid), [kendall()], or a flat one: [euclidean()],
#'   [simplex()], [correlation()], [spd()] with the log-Euclidean or log-Cholesky metric. On others no such subspaces
#'   are offered (error `riemdp_error_unsupported`).
#' @param center the ball's public centre, one point, or a release that holds one. Of shapes, the template.
#' @param basis public directions at the centre that span the subspace: the columns of a matrix (complex or k x 2 x q
#'   landmarks for shapes, a k x k x q array for matrices), or tangent vectors as [mf_log()] gives them. They are
#'   projected to the tangent space and orthonormalised; those that add nothing are left out. On [kendall()] each
#'   direction comes with its complex multiples.
#' @param m number of complex directions, from 1 to k - 3 (k the number of landmarks; for `partial_warps()` from 0).
#' @param x a subspace.
#' @param ... not used.
#' @return An object of class `riemdp_subspace`, a list: `manifold`, `center`, `dimension` (real), `inside` (the
#'   manifold that the subspace is), `name`, `basis` (orthonormal tangent vectors at the centre, as rows of stored
#'   numbers), `source` (where centre and directions come from, as far as known) and what maps one to the other.
#'   `print()` returns it invisibly.
#' @references
#' Bookstein, F. L. (1989). Principal warps: thin-plate splines and the decomposition of deformations. *IEEE
#' Transactions on Pattern Analysis and Machine Intelligence* 11, 567-585. \doi{10.1109/34.24792}
#'
#' Kuhl, F. P. and Giardina, C. R. (1982). Elliptic Fourier features of a closed contour. *Computer Graphics and Image
#' Processing* 18, 236-258. \doi{10.1016/0146-664X(82)90034-X}
#'
#' Zahn, C. T. and Roskies, R. Z. (1972). Fourier descriptors for plane closed curves. *IEEE Transactions on Computers*
#' C-21, 269-281. \doi{10.1109/TC.1972.5008949}
#' @seealso [dp_mean_plan()] for how many directions to take
#' @examples
#' # a hundred outlines of fifty landmarks: 96 dimensions, or the eight of four frequencies
#' modes <- outline_modes(callosum_template, 4)
#' modes
#' dp_mean(callosa[, , 1:100], kendall(50), epsilon = 1, radius = 0.25, reduce = modes,
#'         mechanism = "laplace")
#' # a great circle through the pole
#' subspace(sphere(2), c(0, 0, 1), c(1, 0, 0))
#' @export
subspace <- function(M, center, basis) {
  check_manifold(M)
  check_given(c(center = missing(center), basis = missing(basis)))
  new_subspace(M, center, basis, "given directions")
}

#' @rdname subspace
#' @export
outline_modes <- function(center, m) {
  check_given(c(center = missing(center), m = missing(m)))
  M <- template_space(center)
  k <- M$param
  m <- check_count(m, "m", most = k - 3)
  frequency <- rep(seq_len(m), each = 2)[seq_len(m)] * c(1, -1)[(seq_len(m) - 1) %% 2 + 1]
  new_subspace(M, center, exp(outer(seq_len(k) - 1, frequency) * 2i * pi / k),
               sprintf("template and %d Fourier modes of the outline", m))
}

#' @rdname subspace
#' @export
partial_warps <- function(center, m) {
  check_given(c(center = missing(center), m = missing(m)))
  M <- template_space(center)
  m <- check_count(m, "m", least = 0, most = M$param - 3)
  z <- x_complex(M, public_point(M, center))
  e <- eigen(bending_energy(cbind(Re(as.vector(z)), Im(as.vector(z))), "center"), symmetric = TRUE)
  # the last three cost no energy; before them those of the largest scale
  warps <- e$vectors[, M$param - 3 - seq_len(m) + 1, drop = FALSE]
  new_subspace(M, center, cbind(Conj(as.vector(z)), warps + 0i),
               sprintf("template, its uniform deformations and %d partial warps", m))
}

# the space of a template's shapes
template_space <- function(center) {
  z <- public_value(center, "center")
  if (inherits(z, "riemdp_points")) return(check_template(attr(z, "manifold")))
  if (is.data.frame(z)) z <- data_frame_matrix(z)
  d <- dim(z)
  planar <- if (is.complex(z)) is.null(d) || identical(d[-1], 1L) else
    is.numeric(z) && length(d) %in% 2:3 && d[2] == 2 && prod(d[-1]) == 2
  if (!planar) {
    abort_riemdp("shape", "`center` must be one template: a complex vector or a k x 2 matrix of landmarks.")
  }
  check_template(kendall(if (is.null(d)) length(z) else d[1]))
}

check_template <- function(M) {
  if (!inherits(M, "riemdp_kendall")) abort_riemdp("manifold", "`center` must be a shape of kendall().")
  if (M$param < 4) abort_riemdp("shape", "`center` must have four landmarks at least.")
  M
}

# the thin-plate spline's kernel in m dimensions, of squared distances
thin_plate <- function(d2, m) if (m == 3) -sqrt(d2) else ifelse(d2 > 0, d2 * log(d2), 0)

# squared distances between rows of x and of y
squares_between <- function(x, y) {
  Reduce(`+`, lapply(seq_len(ncol(x)), function(j) outer(x[, j], y[, j], `-`)^2))
}

# Bookstein's bending-energy matrix of k x m landmarks: the upper left block of the inverse of the spline's system
bending_energy <- function(z, name) {
  m <- ncol(z)
  z <- z - rep(colMeans(z), each = nrow(z))
  z <- z / max(sqrt(rowSums(z^2)))
  d2 <- squares_between(z, z)
  q <- if (all(is.finite(d2))) qr(cbind(1, z)) else list(rank = 0)
  if (q$rank <= m || any(d2[upper.tri(d2)] < 1e-12)) {
    abort_riemdp("argument", sprintf("`%s` must have landmarks that differ and don't lie %s.", name,
                                     if (m == 2) "on one line" else "in one plane"))
  }
  free <- qr.Q(q, complete = TRUE)[, -seq_len(m + 1), drop = FALSE]
  bent <- free %*% solve(crossprod(free, thin_plate(d2, m) %*% free), t(free))
  (bent + t(bent)) / 2
}

# ---- the object ------------------------------------------------------------------------------------------------------

# the smaller space of the same kind, NULL where none is offered
smaller_space <- function(M, dimension) {
  if (is_flat(M)) return(euclidean(dimension))
  if (inherits(M, "riemdp_sphere")) return(sphere(dimension))
  if (identical(M$name, "hyperboloid")) return(hyperbolic(dimension))
  if (inherits(M, "riemdp_kendall")) return(kendall(dimension / 2 + 2))
}

new_subspace <- function(M, center, basis, name) {
  if (is.null(smaller_space(M, 2))) {
    abort_riemdp("unsupported", sprintf(paste(
      "no public subspaces are offered on %s: on spheres, the hyperboloid, planar shapes and flat spaces, Euclidean or",
      "with charts such as spd(k, \"log-euclidean\"), they are."), label_manifold(M)))
  }
  m0 <- public_point(M, center)
  source <- stated_source(NULL, list(center = center, basis = basis))
  basis <- orthonormal_rows(M, m0, public_directions(M, m0, public_value(basis, "basis")))
  inside <- smaller_space(M, nrow(basis))
  origin <- .Call(riemdp_origin, inside)
  images <- storage_rows_tangent(mf_from_coords(inside, origin, diag(nrow(basis))), inside)
  # on shapes in pairs of a direction and i times it, as the basis is
  if (inherits(M, "riemdp_kendall")) images <- orthonormal_rows(inside, origin, images)
  structure(list(manifold = M, center = m0, dimension = nrow(basis), inside = inside, origin = origin, basis = basis,
                 images = images, name = name, source = source), class = "riemdp_subspace")
}

# rows of stored numbers of tangent vectors at the centre, from columns, slices or tangent vectors
public_directions <- function(M, center, basis) {
  if (is.data.frame(basis)) basis <- data_frame_matrix(basis)
  facts <- mf_facts(M)
  if (facts$rows == 0 && !inherits(basis, "riemdp_points")) {
    if (is.numeric(basis)) basis <- as.matrix(basis)
    if (!is.numeric(basis) || nrow(basis) != facts$ambient) {
      abort_riemdp("shape", sprintf("`basis` must be numeric with %d rows, its columns the directions.",
                                    as.integer(facts$ambient)))
    }
    basis <- t(basis)
  }
  storage_rows_tangent(mf_project_tangent(M, center, basis), M)
}

DIRECTION_LEAST <- 1e-8 # of a direction's length, for it to add one

# By Gram and Schmidt, twice, in the order given. On shapes v is followed by iv.
orthonormal_rows <- function(M, center, rows) {
  inner <- function(u, v) mf_inner(M, center, tangent_at(M, u), tangent_at(M, v))
  kept <- matrix(0, 0, ncol(rows))
  for (i in seq_len(nrow(rows))) {
    v <- rows[i, ]
    length <- sqrt(inner(v, v))
    if (!(length > 0)) next
    v <- v / length
    for (again in 1:2) for (j in seq_len(nrow(kept))) v <- v - inner(kept[j, ], v) * kept[j, ]
    left <- sqrt(inner(v, v))
    if (!(left > DIRECTION_LEAST)) next
    v <- v / left
    kept <- rbind(kept, v, if (inherits(M, "riemdp_kendall")) times_i(v), deparse.level = 0)
  }
  if (!nrow(kept)) abort_riemdp("argument", "`basis` must hold a direction other than the centre's own.")
  kept
}

# of complex numbers that are stored as real, imaginary, ...
times_i <- function(v) as.vector(rbind(-v[c(FALSE, TRUE)], v[c(TRUE, FALSE)]))

tangent_at <- function(M, rows) new_points(rbind(rows, deparse.level = 0), M, tangent = TRUE)

check_subspace <- function(reduce, M) {
  whole <- inherits(reduce, "riemdp_subspace") && is.list(reduce) && inherits(reduce$inside, "riemdp_manifold") &&
    is.matrix(reduce$basis) && is.matrix(reduce$images)
  if (!whole) abort_riemdp("argument", "`reduce` must be a public subspace: see subspace() and outline_modes().")
  if (!identical(manifold_key(M), manifold_key(reduce$manifold))) {
    abort_riemdp("manifold", sprintf("`reduce` must be a subspace of %s.", label_manifold(M)))
  }
  reduce
}

#' @rdname subspace
#' @export
format.riemdp_subspace <- function(x, ...) {
  c(sprintf("%s: dimension %d of the %d of %s", x$name, as.integer(x$dimension),
            as.integer(mf_facts(x$manifold)$dimension), label_manifold(x$manifold)),
    sprintf("  %s through the centre; records are projected to it one by one", label_manifold(x$inside)),
    "  public: directions taken from the records themselves would void the guarantee",
    if (is_string(x$source)) paste0("  origin: ", x$source))
}

#' @rdname subspace
#' @export
print.riemdp_subspace <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

# ---- to the subspace and back ----------------------------------------------------------------------------------------

# How far records are first moved: where what is near has one nearest point in the subspace, and a logarithm
subspace_reach <- function(M) {
  if (mf_facts(M)$k_max > 0 || inherits(M, "riemdp_sphere")) 0.999 * pi / 2 else .Machine$double.xmax
}

# The records as points of the subspace, each by itself and whatever it is. Sums run over one record's numbers in one
# order, so that its last digits don't depend on the others.
projected <- function(S, x) {
  M <- S$manifold
  near <- mf_points(.Call(riemdp_to_ball, M, x, S$center, subspace_reach(M)), M)
  v <- tangent_at(M, each_row(near, function(y) mf_log(M, S$center, y)))
  length <- mf_norm(M, S$center, v)
  along <- vapply(seq_len(S$dimension), function(i) mf_inner(M, S$center, v, tangent_at(M, S$basis[i, ])),
                  numeric(length(v)))
  along <- matrix(along, length(v))
  reach <- sqrt(rowSums(along^2))
  part <- ifelse(length > 0, pmin(1, reach / length), 0)
  way <- foot_distance(mf_facts(M)$model, length, part) / reach
  way[!(is.finite(way))] <- 0
  out <- each_row(tangent_at(S$inside, rows_times(along * way, S$images)), function(u) mf_exp(S$inside, S$origin, u))
  out[!mf_is_point(S$inside, new_points(out, S$inside)), ] <- storage_rows(S$origin, S$inside)
  new_points(out, S$inside)
}

# The distance from the centre of the foot of a perpendicular: of a right-angled triangle with hypotenuse `length`, the
# leg of whose direction `part` is the cosine
foot_distance <- function(model, length, part) {
  pmin(length, switch(model,
    flat = length * part,
    hyperbolic = {
      t <- tanh(length)
      (log1p(t * part) - log(2 / (exp(2 * length) + 1) + t * (1 - part))) / 2
    },
    atan2(sin(length) * part, cos(length))
  ))
}

# a product with a matrix, each row by itself
rows_times <- function(a, b) {
  out <- vapply(seq_len(ncol(b)), function(j) rowSums(a * rep(b[, j], each = nrow(a))), numeric(nrow(a)))
  matrix(out, nrow(a))
}

# f of points as rows; of those for which it fails, alone, 0
each_row <- function(x, f, width = ncol(as.matrix(x))) {
  tryCatch(as.matrix(f(x)), riemdp_error = function(e) {
    rows <- lapply(seq_along(x), function(i) tryCatch(as.matrix(f(x[i])), riemdp_error = function(e) NULL))
    do.call(rbind, lapply(rows, function(row) row %||% matrix(0, 1, width)))
  })
}

# a point of the subspace as one of the manifold, in the shape of the centre; the centre for one without a logarithm
put_back <- function(S, y) {
  M <- S$manifold
  value <- tryCatch({
    v <- mf_log(S$inside, S$origin, y)
    along <- vapply(seq_len(S$dimension), function(i) {
      mf_inner(S$inside, S$origin, v, tangent_at(S$inside, S$images[i, ]))
    }, 0)
    u <- tangent_at(M, rows_times(matrix(along, 1), S$basis))
    as_center(S, mf_exp(M, S$center, u))
  }, riemdp_error = function(e) S$center)
  point_held(M, value, S$center)
}

# a single point in the plain shape that the centre has
as_center <- function(S, p) {
  p <- as_single(p)
  if (is.complex(p) && !is.complex(S$center)) cbind(Re(p), Im(p)) else p
}

# ---- calls and releases ----------------------------------------------------------------------------------------------

# Where a mean takes place: the manifold and centre, or those of the subspace; from public facts
mean_space <- function(M, reduce, center, x, timing) {
  if (is.null(reduce)) return(list(M = M, center = center, given = list(center = center)))
  check_subspace(reduce, M)
  if (is_chunks(x)) {
    abort_riemdp("unsupported", "`reduce` needs the records in memory: project them before they go into chunks.")
  }
  if (identical(timing, "constant")) {
    abort_riemdp("unsupported", "`timing = \"constant\"` isn't available with `reduce`: projecting takes its own time.")
  }
  if (!is.null(center) && !isTRUE(mf_dist(M, public_point(M, center), reduce$center) < 1e-9)) {
    abort_riemdp("argument", "`center` must be that of the subspace, or be left out.")
  }
  list(M = reduce$inside, center = reduce$origin,
       given = list(subspace = structure(list(), riemdp_origin = reduce$source)),
       said = sprintf("the subspace of dimension %d to which records are projected is public",
                      as.integer(reduce$dimension)))
}

# An estimator of means (or groups of them) on the subspace: records are projected where they are checked, and the
# answer is put back
on_subspace <- function(estimator, S) {
  if (is.null(S)) return(estimator)
  utils::modifyList(estimator, list(
    ready = function(records, plan, ask) {
      if (records$rows > 0) {
        if (ask$invalid == "error") check_points(records$x, S$manifold)
        records$x <- projected(S, records$x)
      } else {
        records$x <- mf_points(S$origin, S$inside)[0]
      }
      estimator$ready(records, plan, ask)
    },
    answer = function(out, plan, ask, budget) {
      release <- estimator$answer(out, plan, ask, budget)
      if (is.null(release$groups)) return(release_back(release, S))
      release$groups <- lapply(release$groups, release_back, S)
      release$value <- lapply(release$groups, `[[`, "value")
      release[c("manifold", "center", "subspace")] <- list(S$manifold, S$center, S)
      release
    }
  ))
}

INSIDE <- c("manifold", "center", "value", "released", "details")

# the release with its points put back, and what they are on the subspace as `inside`
release_back <- function(r, S) {
  r$inside <- unclass(r)[intersect(INSIDE, names(r))]
  r$subspace <- S
  r$manifold <- S$manifold
  r$center <- S$center
  r$value <- put_back(S, r$value)
  if (!is.null(r$released)) r$released <- put_back(S, r$released)
  if (!is.null(r$details$released_center)) r$details$released_center <- put_back(S, r$details$released_center)
  r
}

# the release as it is on the subspace, whose dimension noise and bounds have
release_inside <- function(r) {
  if (is.null(r$inside)) return(r)
  r[names(r$inside)] <- r$inside
  if (is.null(r$inside$released)) r$released <- NULL # what was done afterwards doesn't move the draw
  r$inside <- NULL
  r
}
