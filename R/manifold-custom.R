#' A manifold of your own
#'
#' A manifold written in R, used by every function of the package as the built-in ones are. Points are vectors of
#' `ambient` numbers; records are rows of a matrix.
#'
#' Every function is called with matrices whose rows are records (all with the same number of rows) and must return one
#' row a record (one number a record for `inner`, one logical for `check`), finite and without mixing rows.
#'
#' @param dim dimension of the manifold.
#' @param ambient numbers that store one point, at least `dim`.
#' @param exp `function(p, v)`: exponential map.
#' @param log `function(p, q)`: logarithmic map.
#' @param inner `function(p, u, v)`: inner product at p, one number a record; default: that of the surrounding space.
#' @param project `function(x)`: nearest point of the manifold; default: x as it is.
#' @param project_tangent `function(p, v)`: tangential part; default: v as it is (for coordinates without constraint).
#' @param transport `function(p, q, v)`: parallel transport along the geodesic; default: the pole ladder, from `exp` and
#'   `log`.
#' @param check `function(x)`: whether each row is a point; default: whether `project` leaves it in place within 1e-8.
#' @param random `function(n)`: n random points, for [mf_random()]; default: none.
#' @param k_min,k_max bounds of the sectional curvature; unknown: `-Inf`, `Inf`.
#' @param injectivity_radius a lower bound; unknown: 0.
#' @param symmetric whether it is a Riemannian symmetric space (the pole ladder is then exact in one rung).
#' @param label name for printing.
#'
#' @section Private use:
#' [dp_mean()] works on such a manifold with `mechanism = "wrapped"`. Curvature bounds and injectivity radius are then
#' taken on trust, so the release is labelled `none` and the reason says so. In private functions a callback that
#' raises, has the wrong shape or returns something not finite never causes an error: the record concerned counts as the
#' public centre. A release holds the manifold, and functions keep the environment in which they were written: write
#' them where no records lie, or a saved release takes those along.
#' @return A manifold object.
#' @references Guigui, N. and Pennec, X. (2022). Numerical accuracy of ladder schemes for parallel transport on
#'   manifolds. *Foundations of Computational Mathematics* 22, 757-790. \doi{10.1007/s10208-021-09515-x}
#' @examples
#' # a flat torus: angles modulo 2 pi
#' wrap <- function(a) (a + pi) %% (2 * pi) - pi
#' torus <- manifold_custom(2, 2,
#'   exp = function(p, v) wrap(p + v), log = function(p, q) wrap(q - p), project = wrap,
#'   k_min = 0, k_max = 0, injectivity_radius = pi, symmetric = TRUE, label = "flat torus")
#' mf_dist(torus, c(3, 0), c(-3, 0))
#'
#' # the sphere, written by hand
#' size <- function(v) sqrt(rowSums(v^2))
#' ball <- manifold_custom(2, 3,
#'   exp = function(p, v) cos(size(v)) * p + ifelse(size(v) > 0, sin(size(v)) / size(v), 1) * v,
#'   log = function(p, q) {
#'     v <- q - rowSums(p * q) * p
#'     ifelse(size(v) > 0, atan2(size(v), rowSums(p * q)) / size(v), 1) * v
#'   },
#'   project = function(x) x / size(x), project_tangent = function(p, v) v - rowSums(p * v) * p,
#'   k_min = 1, k_max = 1, injectivity_radius = pi, symmetric = TRUE, label = "my sphere")
#' frechet_mean(diag(3), ball)$mean - frechet_mean(diag(3), sphere(2))$mean
#' @export
manifold_custom <- function(dim, ambient, exp, log, inner = NULL, project = NULL, project_tangent = NULL,
                            transport = NULL, check = NULL, random = NULL, k_min = -Inf, k_max = Inf,
                            injectivity_radius = 0,
                            symmetric = FALSE, label = "custom manifold") {
  ambient <- check_count(ambient, "ambient")
  dim <- check_count(dim, "dim", most = ambient)
  given <- list(exp = exp, log = log, inner = inner, project = project, project_tangent = project_tangent,
                transport = transport, check = check, random = random)
  wrong <- names(given)[!vapply(given, function(f) is.null(f) || is.function(f), logical(1))]
  if (length(wrong) || is.null(exp) || is.null(log)) {
    abort_riemdp("argument", paste0("`", c(wrong, "exp")[1], "` must be a function; `exp` and `log` are required."))
  }
  inner <- inner %||% function(p, u, v) rowSums(u * v)
  project <- project %||% identity
  given$inner <- inner
  given$project <- project
  given$project_tangent <- project_tangent %||% function(p, v) v
  given$check <- check %||% function(x) sqrt(rowSums((project(x) - x)^2)) <= 1e-8 * (1 + sqrt(rowSums(x^2)))
  number <- function(x, name) {
    if (!is.numeric(x) || length(x) != 1 || is.na(x)) {
      abort_riemdp("argument", sprintf("`%s` must be one number.", name))
    }
    as.double(x)
  }
  facts <- list(
    k_min = number(k_min, "k_min"), k_max = number(k_max, "k_max"),
    injectivity_radius = number(injectivity_radius, "injectivity_radius"), symmetric = as.double(isTRUE(symmetric))
  )
  if (facts$k_min > facts$k_max || facts$injectivity_radius < 0) {
    abort_riemdp("argument", "`k_min` must not exceed `k_max`, and `injectivity_radius` must not be negative.")
  }
  if (!is.character(label) || length(label) != 1 || is.na(label)) {
    abort_riemdp("argument", "`label` must be one string.")
  }
  new_manifold("custom", c(dim, ambient), "riemdp_custom",
               functions = given[!vapply(given, is.null, logical(1))], facts = facts, label = label)
}

#' @export
manifold_label.riemdp_custom <- function(M) M$label

#' @export
random_points.riemdp_custom <- function(M, n, sd) {
  if (is.null(M$functions$random)) {
    abort_riemdp("unsupported",
                 "this manifold has no law of random points: give manifold_custom() a `random` function.")
  }
  M$functions$random(n)
}

# Called from C for each callback. Quiet (private) calls: whatever goes wrong is a NULL, which C reads as "failed".
custom_call <- function(f, args, quiet) {
  run <- function() {
    value <- do.call(f, args)
    if (is.integer(value)) value[] <- as.double(value)
    value
  }
  if (!quiet) {
    return(run())
  }
  contained(run(), NULL)
}
