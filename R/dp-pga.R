# Private principal geodesic analysis: directions of variation at a private mean, or at a public point. Proofs:
# inst/proofs/subspaces.md, section 6.

#' Private principal geodesic analysis
#'
#' Releases in which directions records on a manifold vary: the leading `q` directions of the second moment of their
#' logarithms at a private mean, which is released first with a share of epsilon, or at a point that is public already.
#'
#' Records outside the public ball are moved to its nearest point, one by one and silently; what is no point counts as
#' the centre. The point p that directions start from is the private mean, or `at`, moved into the ball where it lies
#' outside. Coordinates of logarithms at p are no longer than L, the radius and the distance of p from the centre
#' together, and are shortened to that. Their second-moment matrix around p is then treated as [dp_pca()] does with rows
#' of `bound` L, with the rest of epsilon (and of `delta`, of which the mean may take half): see there for the
#' mechanisms.
#' With `unit` each unit's mean in the ball counts as one record, as in [dp_mean()]. With `neighbours = "add_remove"`
#' the number of records (units) is private: mean and directions each release a noisy one first.
#'
#' In simulations (spheres, matrices, shapes, the outlines of [callosa]; 200 to 20,000 records; the file `bench/pga.csv`
#' of the sources) the angle to the directions without noise, at the same point, was at most 1.3 times that of the best
#' of all mechanisms and of [dp_pca()]. With a private mean it is larger, by 1.4 times and more: the mean has its share,
#' and L grows with its distance from the centre (2.8 times at 200 records on a sphere with epsilon = 2, .9 to 1.9 times
#' at 2,000 and 20,000).
#'
#' The frame of coordinates is a public function of p. Both parts are paid for at once, before either is drawn. No
#' record's scores are ever released.
#'
#' Proof: the file `proofs/subspaces.md` of the installed package.
#'
#' @inheritParams dp_median
#' @param q number of directions, below the manifold's dimension.
#' @param delta for normal noise; 0 for pure differential privacy.
#' @param at a public point, or a release of one, e.g. by [dp_mean()]; `NULL` for a private mean by this call.
#' @param share the part of epsilon that the mean has, between 0 and 1; not with `at`. Noise of the directions grows by
#'   1/(1 - share). With a small share the released mean lies off the records' own, and the way there counts as a
#'   direction in which they vary.
#' @param mechanism of the directions, see [dp_pca()].
#' @param mean_mechanism of the mean, see [dp_mean()].
#' @param gap public guess of how far the q-th eigenvalue is above the next one, a share of L^2, as in [dp_pca()].
#' @param unit whose record each one is, or the name of the column of `x` that says so: units are protected then, each
#'   with all its records, and `n` counts them. See [dp_mean()].
#' @param neighbours `"replace"`: the number of records (units) is public. `"add_remove"`: it is private.
#' @return An object of class `riemdp_pga` and [riemdp_release]: `value`, a list with `mean` (the point p) and
#'   `directions` (q orthonormal tangent vectors there, see [mf_log()]); `sd` (standard deviation along them: root
#'   of `moments` of [dp_pca()], 0 where noise alone might give it) and `shares` of the second moment, both `NULL` where
#'   no matrix was released; `mean_release` (that
#'   of [dp_mean()], `NULL` with `at`), `components` (the rest of what [dp_pca()] says, in the coordinates that
#'   [mf_coords()] gives at p), `manifold`, `n` (`NA` where it is private), `size`, `unit`, `center`, `radius`,
#'   `length` (L), `at`, `mechanism`, `expected_error`, `source`, `guarantee` (of both parts
#'   together), `budget`, `draws`. Errors: `riemdp_error_unsupported` for users'
#'   manifolds, those of dimension 1, chunks, and what a mechanism does not do; `riemdp_error_argument`,
#'   `riemdp_error_shape` and `riemdp_error_radius` as for [dp_mean()].
#' @references
#' Fletcher, P. T., Lu, C., Pizer, S. M. and Joshi, S. (2004). Principal geodesic analysis for the study of nonlinear
#' statistics of shape. *IEEE Transactions on Medical Imaging* 23, 995-1005. \doi{10.1109/TMI.2004.831793}
#'
#' Dwork, C., Talwar, K., Thakurta, A. and Zhang, L. (2014). Analyze Gauss: optimal bounds for privacy-preserving
#' principal component analysis. *Proceedings of the 46th ACM Symposium on Theory of Computing*, 11-20.
#' \doi{10.1145/2591796.2591883}
#' @seealso [dp_pca()], [dp_mean()], [dp_variance()]
#' @examples
#' x <- wishart_spd[, , 1:400]
#' r <- dp_pga(x, spd(2), epsilon = 2, center = diag(2), radius = 1.5, delta = 1e-6)
#' r
#' plot(r)
#' # at a mean that was released before
#' m <- dp_mean(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' dp_pga(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5, q = 2, at = m)
#' @export
dp_pga <- function(x, M = manifold_of(x), epsilon, center, radius, ..., q = 1, delta = 0, at = NULL, share = 0.3,
                   mechanism = c("auto", "gauss", "laplace", "wishart", "bingham"), mean_mechanism = "auto",
                   gap = NULL, invalid = c("error", "center"), unit = NULL, neighbours = c("replace", "add_remove"),
                   source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius)))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  mechanism <- check_choice(mechanism, "mechanism", c("auto", COMPONENT_MECHANISMS))
  check_pga_space(M, x, at, missing(share), missing(mean_mechanism))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  records <- records_or_units(M, x, unit, replace)
  n <- if (replace) records$n else NA_real_
  ask <- pga_ask(M, n, epsilon, center, radius, q, delta, at, share, mechanism, mean_mechanism, gap)
  given <- list(center = center, radius = radius)
  if (!is.null(at)) given$at <- at
  ask$source <- stated_source(source, given)
  ask$invalid <- ask$mean$invalid <- invalid
  ask$unit <- ask$mean$unit <- unit_name(records$units)
  uncounted(release_private(pga_estimator, ask, records, ledger, data_set, part))
}

check_pga_space <- function(M, x, at, own_share, own_mean) {
  if (of_user(M)) {
    abort_riemdp("unsupported", "no principal directions on a user's manifold: its coordinates are taken on trust.")
  }
  if (mf_facts(M)$dimension < 2) abort_riemdp("unsupported", "there is but one direction on a manifold of dimension 1.")
  if (is_chunks(x)) abort_riemdp("unsupported", "principal directions need the records in memory, not in chunks.")
  if (!is.null(at) && !(own_share && own_mean)) {
    abort_riemdp("argument", "`share` and `mean_mechanism` are for the mean: with `at` none is released.")
  }
}

# public numbers, checked; `mean` is what a mean is asked, where one is released
pga_ask <- function(M, n, epsilon, center, radius, q, delta, at, share, mechanism, mean_mechanism, gap) {
  center <- public_point(M, center)
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  delta <- check_delta(delta)
  share <- if (is.null(at)) check_number(share, "share", least = 0.01, most = 0.99) else 0
  halved <- if (is.null(at)) delta / 2 else delta
  ask <- list(manifold = M, center = center,
              ball = check_radius(M, check_length(public_value(radius, "radius"), "radius"), center),
              epsilon = epsilon, delta = delta, share = share, n = n)
  rest <- if (is.null(at)) outwards_down((1 - share) * epsilon) else epsilon
  ask$parts <- component_ask(n, mf_facts(M)$dimension, q, rest, halved, mechanism, gap)
  if (is.null(at)) {
    ask$mean <- mean_ask(M, n, share * epsilon, center, radius, halved, mean_mechanism, NULL, "proven", "ordinary",
                         "auto", 1e6, list(), NULL, NULL, TRUE)
    ask$mean$manifold <- M
    if (is.na(n)) ask$mean <- size_ask(M, ask$mean)
  } else {
    ask$at <- public_point(M, at, "at")
  }
  ask
}

# the mean's part of it
pga_mean <- function(ask) if (is.na(ask$n)) sized_mean_estimator else mean_estimator

pga_estimator <- list(
  entry = function(plan, ask) {
    paste0("dp_pga ", if (is.null(ask$at)) paste0("mean (", plan$mean$mechanism, ") and "), "directions (",
           component_words(plan$noise), ")", if (!is.null(ask$unit)) paste(", unit", ask$unit))
  },
  parts = c(event = "event"),
  plan = function(ask) {
    mean <- if (is.null(ask$at)) typed_plan(pga_mean(ask)$plan(ask$mean), mean_estimator$parts)
    # what a pure mean leaves of delta
    if (!is.null(mean)) ask$parts$delta <- ask$delta - mean$guarantee$nominal_delta
    noise <- component_plan(ask$parts)
    own <- component_price(noise, ask$parts, sprintf("center, radius%s are", if (is.null(ask$at)) "" else " and at"),
                           unit = ask$unit)
    if (is.null(mean)) return(c(list(noise = noise), own))
    told <- if (!is.null(pga_mean(ask)$event)) pga_mean(ask)$event(mean, ask$mean)
    list(noise = noise, mean = mean, guarantee = pga_promise(mean$guarantee, own$guarantee, ask$epsilon),
         event = pga_event(told, own$event))
  },
  ready = function(records, plan, ask) sized_mean_estimator$ready(records, plan, ask),
  event = function(plan, ask) plan$event,
  draw = function(records, plan, ask, budget) {
    mean <- if (is.null(ask$at)) pga_mean(ask)$draw(records, plan$mean, ask$mean, budget)
    a <- variance_at(ask$manifold, ask, ask$at %||% mean$value)
    p <- variance_point(ask$manifold, ask, a)
    length <- tangent_bound(ask, a)
    size <- drawn_size(records$n, ask$parts)
    sum <- tangent_moment(records, ask, p, length, ask$parts$grid)
    list(mean = mean, point = p, length = length, size = size, drawn = draw_components(sum, plan$noise, ask$parts$q))
  },
  answer = function(out, plan, ask, budget) {
    M <- ask$manifold
    facts <- components_facts(c(out$drawn, list(size = out$size)), ask$parts, out$length)
    directions <- modes_at(M, out$point, t(facts$loadings))
    mean <- if (!is.null(out$mean)) pga_mean(ask)$answer(out$mean, out$mean$plan, ask$mean, NULL)
    if (!is.null(mean)) mean$source <- ask$source
    new_release(
      list(mean = out$point, directions = directions), "riemdp_pga",
      manifold = M, mechanism = facts$mechanism, n = ask$n, size = out$size, unit = ask$unit, center = ask$center,
      radius = ask$ball$radius, length = out$length, at = ask$at,
      sd = if (!is.null(facts$moments)) sqrt(facts$moments), shares = facts$shares, mean_release = mean,
      components = facts, expected_error = facts$expected_error, theorem = "proofs/subspaces.md, section 6",
      budget = budget, guarantee = plan$guarantee
    )
  }
)

# Both parts together: what they state is added
pga_promise <- function(mean, own, asked) {
  reasons <- unique(c(mean$reason, own$reason))
  reasons <- reasons[!is.na(reasons)]
  epsilon <- max(asked, mean$nominal_epsilon + own$nominal_epsilon)
  delta <- mean$nominal_delta + own$nominal_delta
  new_guarantee(
    epsilon, delta, reasons, sampler = mean$sampler, rng = own$rng,
    numerics = if (all(c(mean$numerics, own$numerics) == "lattice")) "lattice" else "real-valued",
    adjacency = own$adjacency, unit = own$unit,
    assumptions = unique(c(mean$assumptions, own$assumptions, sprintf(
      "the mean and the directions at it are two releases, with epsilon = %.4g and %.4g", mean$nominal_epsilon,
      own$nominal_epsilon)))
  )
}

# NULL where nothing is promised
pga_event <- function(mean, own) {
  events <- list(mean, own)
  if (!any(vapply(events, is.null, NA))) event_compose(events)
}

# tangent vectors at p with these coordinates as rows
modes_at <- function(M, p, a) {
  tangent_at(M, storage_rows_tangent(mf_from_coords(M, p, a), M))
}
