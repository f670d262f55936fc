# Private principal geodesic analysis: directions of variation at a private mean, or at a public point. Proofs:
# inst/proofs/subspaces.md, section 6.

#' Private principal geodesic analysis
#'
#' Releases in which directions records on a manifold vary: the leading `q` directions of the second moment of their
#' logarithms at a private mean, or at a point that is public already.
#'
#' Records outside the public ball are moved to its nearest point, one by one and silently; what is no point counts as
#' the centre. Where directions are taken, `from` says:
#' * `"center"`: logarithms at the public centre, which are no longer than the radius, and a constant beside each, whose
#'   square is a tenth of the radius squared. Noise on the second-moment matrix of both, as [dp_pca()] draws it, makes
#'   their mean private as well as their covariance, for 1.1 times the noise of the latter alone: there is no budget to
#'   share. The point p is where the mean leads to from the centre, shrunk by what noise alone may give; directions are
#'   those of the covariance (the second moment less the shrunk mean's product), carried to p along the geodesic. In
#'   flat space p is a mean of the records and directions are those around it. Elsewhere p is not their Frechet mean,
#'   and directions are turned by curvature, the farther p lies from the centre (by .002 to .045 radian in simulations
#'   with p at .2 to .7 of the radius), however many records there are. The expected error is stated for a mean at the
#'   centre. Where it lies off, in the direction that varies most, the error is larger: 1.8 times with p at .35 of the
#'   radius and 5 times at .7, in ten dimensions; `confint()` counts that.
#' * `"mean"`: a Frechet mean by [dp_mean()] with a share of epsilon, and then the second moment around it with the
#'   rest (and of `delta`, of which the mean may take half). Coordinates of logarithms there are no longer than L, the
#'   radius and the distance of p from the centre together, and are shortened to that. What the mean errs by counts as a
#'   direction in which records vary.
#' * `"auto"`: `"center"` where its noise is expected to turn directions farther than curvature does, by public numbers
#'   (and where the number of records is private, unless curvature times the squared radius is 20 or more); else
#'   `"mean"`. `share` and `mean_mechanism` ask for `"mean"`, and so does `"bingham"`, which releases no matrix.
#'
#' With `at`, p is that point, moved into the ball where it lies outside, and L is as for `"mean"`. See [dp_pca()] for
#' the mechanisms.
#'
#' With `unit` each unit's mean in the ball counts as one record, as in [dp_mean()]. With `neighbours = "add_remove"`
#' the number of records (units) is private: a noisy one is released first (by `"mean"` one for each part).
#'
#' In simulations (spheres, matrices, shapes, the outlines of [callosa]; 200 to 20,000 records; the file `bench/pga.csv`
#' of the sources) the angle to the directions without noise, at a public point, was at most 1.3 times that of the best
#' of all mechanisms and of [dp_pca()]. That of a whole call with `"auto"`, to the directions about the records' own
#' mean, was .58 to 1.41 times the best at a public centre (of records that lie around it) or at that mean (of records
#' around a point .4 radii away), had the mean been public; 1.54 times in one cell, the outlines in 96 dimensions with
#' epsilon = 10 and no `delta`, where directions drawn by `"bingham"` are best.
#'
#' Of [sites()] with `shares = TRUE` or `secure = TRUE` each adds its noise to the sum of its records' products, normal
#' noise (`"gauss"`, with `delta`), for a public number of records. `from` is `"mean"` there, and the mean that of
#' logarithms at the centre (`"tangent"` of [dp_mean()], not the Frechet mean on curved spaces): one request for their
#' sum, and a second one, at the point that follows from it, for that of the products. Each site pays for both. Together
#' they cost what one normal release of the same \eqn{\mu} does, as squares of \eqn{\mu} add up: `share` is the mean's
#' part of these, and the directions' noise grows by 1/sqrt(1 - share). What a site's policy refuses is told before any
#' site pays; if a site refuses the second request for want of budget, the first is paid and nothing is released. The
#' guarantee is about real numbers, and assumes what [guarantee()] lists.
#'
#' The frame of coordinates is a public function of p. Both parts are paid for at once, before either is drawn. No
#' record's scores are ever released.
#'
#' Proof: the file `proofs/subspaces.md` of the installed package.
#'
#' @inheritParams dp_median
#' @param q number of directions, below the manifold's dimension.
#' @param delta for normal noise; 0 for pure differential privacy.
#' @param at a public point, or a release of one, e.g. by [dp_mean()]; `NULL` for one that this call finds.
#' @param from where directions are taken, see above; not with `at`.
#' @param share the part of epsilon that the mean has, between 0 and 1, for `from = "mean"`. Noise of the directions
#'   grows by 1/(1 - share). With a small share the released mean lies off the records' own, and the way there counts as
#'   a direction in which they vary.
#' @param mechanism of the directions, see [dp_pca()].
#' @param mean_mechanism of the mean, see [dp_mean()]; for sites `"auto"` is `"tangent"`.
#' @param gap public guess of how far the q-th eigenvalue is above the next one, a share of L^2, as in [dp_pca()].
#' @param unit whose record each one is, or the name of the column of `x` that says so: units are protected then, each
#'   with all its records, and `n` counts them. See [dp_mean()].
#' @param neighbours `"replace"`: the number of records (units) is public. `"add_remove"`: it is private.
#' @return An object of class `riemdp_pga` and [riemdp_release]: `value`, a list with `mean` (the point p) and
#'   `directions` (q orthonormal tangent vectors there, see [mf_log()]); `sd` (standard deviation along them: root
#'   of `moments` of [dp_pca()], 0 where noise alone might give it) and `shares` of the second moment, both `NULL` where
#'   no matrix was released; `mean_release` (that of [dp_mean()], `NULL` but for `from = "mean"`), `components` (the
#'   rest of what [dp_pca()] says, in the coordinates that [mf_coords()] gives at p), `manifold`, `n` (`NA` where it is
#'   private; of a secure sum those at sites that answered for the directions), `size`, `unit`, `center`, `radius`,
#'   `length` (L), `at`, `from` (`"at"` where that is given), `mechanism`, `expected_error`, `source`, `guarantee` (of
#'   both parts together), `budget`, `draws`. Errors: `riemdp_error_unsupported` for users' manifolds, those of
#'   dimension 1, chunks, sites without noise, and what a mechanism does not do; `riemdp_error_refused` for what a
#'   site's policy or budget doesn't allow; `riemdp_error_argument`, `riemdp_error_shape` and `riemdp_error_radius` as
#'   for [dp_mean()].
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
dp_pga <- function(x, M = manifold_of(x), epsilon, center, radius, ..., q = 1, delta = 0, at = NULL,
                   from = c("auto", "center", "mean"), share = 0.15,
                   mechanism = c("auto", "gauss", "laplace", "wishart", "bingham"), mean_mechanism = "auto", gap = NULL,
                   invalid = c("error", "center"), unit = NULL, neighbours = c("replace", "add_remove"), source = NULL,
                   ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius)))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  mechanism <- check_choice(mechanism, "mechanism", c("auto", COMPONENT_MECHANISMS))
  from <- check_choice(from, "from", c("auto", "center", "mean"))
  check_pga_space(M, x)
  from <- pga_from(from, mechanism, at, missing(share) && missing(mean_mechanism))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  if (is_chunks(x)) {
    check_whole_rows(x, unit, replace)
    from <- shared_from(from, mean_mechanism)
  }
  records <- records_or_units(M, x, unit, replace)
  n <- if (replace) records$n else NA_real_
  ask <- pga_ask(M, n, epsilon, center, radius, q, delta, at, share, mechanism, mean_mechanism, gap, from, is_chunks(x))
  given <- list(center = center, radius = radius)
  if (!is.null(at)) given$at <- at
  ask$source <- stated_source(source, given)
  ask$invalid <- invalid
  ask$unit <- unit_name(records$units, x)
  if (ask$from == "mean") ask$mean[c("invalid", "unit")] <- list(invalid, ask$unit)
  if (is_chunks(x)) ask <- shared_pga(ask, x)
  uncounted(release_private(pga_estimator, ask, records, ledger, data_set, part))
}

check_pga_space <- function(M, x) {
  if (of_user(M)) {
    abort_riemdp("unsupported", "no principal directions on a user's manifold: its coordinates are taken on trust.")
  }
  if (mf_facts(M)$dimension < 2) abort_riemdp("unsupported", "there is but one direction on a manifold of dimension 1.")
  if (is_chunks(x) && is.null(x$shares)) {
    abort_riemdp("unsupported", paste("principal directions need the records in memory, or at sites that add noise:",
                                      "sites(shares = TRUE) or sites(secure = TRUE)."))
  }
}

# sites send a mean of logarithms, and products at a point without a constant beside them
shared_from <- function(from, mean_mechanism) {
  if (!(is_string(mean_mechanism) && mean_mechanism %in% c("auto", "tangent"))) {
    abort_riemdp("unsupported", "sites send a mean of logarithms: mean_mechanism = \"tangent\" is theirs.")
  }
  if (from == "center") {
    abort_riemdp("unsupported", "from = \"center\" needs the records in memory: sites have from = \"mean\", and `at`.")
  }
  if (from == "auto") "mean" else from
}

# what is asked of sites that add noise; where products are taken is known when the mean is
shared_pga <- function(ask, x) {
  ask <- ask_shared(ask, x, if (ask$from == "at") variance_at(ask$manifold, ask, ask$at))
  if (ask$from == "mean") ask$mean <- ask_where(ask$mean, x, NULL, FALSE, NULL)
  ask
}

# Where directions are taken: "at", "mean", "center", or "auto" where public numbers decide between the latter two.
# `free`: nothing is said of a mean.
pga_from <- function(from, mechanism, at, free) {
  no <- function(...) abort_riemdp("argument", paste(...))
  if (!is.null(at)) {
    if (!free) no("`share` and `mean_mechanism` are for the mean: with `at` none is released.")
    if (from != "auto") no("`from` is for a call without `at`, which is the point.")
    return("at")
  }
  if (from == "center" && !free) no("`share` and `mean_mechanism` are for from = \"mean\".")
  if (mechanism == "bingham" && from == "center") {
    no("from = \"center\" needs a released matrix, which mechanism = \"bingham\" has not.")
  }
  if (from != "auto") from else if (free && mechanism != "bingham") "auto" else "mean"
}

# public numbers, checked; `mean` is what a mean is asked, where one is released
pga_ask <- function(M, n, epsilon, center, radius, q, delta, at, share, mechanism, mean_mechanism, gap, from,
                    shared = FALSE) {
  center <- public_point(M, center)
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  delta <- check_delta(delta)
  ask <- list(manifold = M, center = center,
              ball = check_radius(M, check_length(public_value(radius, "radius"), "radius"), center),
              epsilon = epsilon, delta = delta, n = n)
  ask$parts <- component_ask(n, mf_facts(M)$dimension, q, epsilon, delta, mechanism, gap)
  ask$from <- if (from == "auto" && !logs_at_center(ask)) "mean" else if (from == "auto") "center" else from
  if (ask$from == "at") ask$at <- public_point(M, at, "at")
  if (ask$from == "center") ask$parts <- extended_ask(ask$parts)
  if (ask$from != "mean") return(ask)
  ask$share <- check_number(share, "share", least = 0.01, most = 0.99)
  if (shared) return(shared_parts(ask, radius))
  ask$parts <- component_ask(n, mf_facts(M)$dimension, q, outwards_down((1 - share) * epsilon), delta / 2, mechanism,
                             gap)
  ask$mean <- mean_ask(M, n, share * epsilon, center, radius, delta / 2, mean_mechanism, NULL, "proven", "ordinary",
                       "auto", 1e6, list(), NULL, NULL, TRUE)
  ask$mean$manifold <- M
  if (is.na(n)) ask$mean <- size_ask(M, ask$mean)
  ask
}

# Where sites add noise it is normal in both parts, and together they are one normal release: squares of mu add up
# (proofs/accounting.md, section 3), and `share` is the mean's part of these
shared_parts <- function(ask, radius) {
  check_normal_noise(ask$parts)
  mu <- gaussian_mu(ask$epsilon, ask$delta) * (1 - 1e-9)
  ask$parts$mu <- sqrt(1 - ask$share) * mu
  ask$mean <- mean_ask(ask$manifold, ask$n, NULL, ask$center, radius, ask$delta, "tangent", NULL, "proven", "ordinary",
                       "auto", 1e6, list(mu = sqrt(ask$share) * mu), NULL, NULL, TRUE)
  ask$mean$manifold <- ask$manifold
  ask
}

# ---- mean and directions from one matrix, at the public centre -------------------------------------------------------
# A column beside the coordinates holds sqrt(EXTENDED) of the radius for every record: what stands beside it in the
# matrix is the mean (section 10)

EXTENDED <- 0.1

# the column as a part of the radius: a whole number of the grid, so that rounding leaves it as it is
extended_column <- function(grid) {
  floor(sqrt(EXTENDED / (1 + EXTENDED)) * grid$inside) / grid$inside * sqrt(1 + EXTENDED)
}

# of what `ask` says of d coordinates
extended_ask <- function(ask) {
  wide <- component_ask(ask$n, ask$d + 1, ask$q, ask$whole, ask$delta, ask$mechanism, NULL)
  wide$gap <- ask$gap / (1 + EXTENDED)
  wide
}

extended_noise <- function(ask) {
  if (ask$mechanism == "auto") smallest_noise(ask, c("gauss", "laplace", "wishart"), "sd") else
    component_noise(ask$mechanism, ask)
}

# By how much logarithms at the centre may turn directions away from those at the mean: an angle, a guess from what was
# seen on spheres, matrices, shapes and hyperbolic space, times curvature and squared radius
CENTER_BEND <- 0.05

# whether noise turns directions farther than that, where their gap is as guessed; always where n is private
logs_at_center <- function(ask) {
  facts <- mf_facts(ask$manifold)
  bend <- CENTER_BEND * max(abs(facts$k_min), abs(facts$k_max)) * ask$ball$radius^2
  if (is.na(ask$n)) return(bend < 1)
  wide <- extended_ask(ask$parts)
  isTRUE(component_lost(wide$n * wide$gap, extended_noise(wide), wide) >= bend^2)
}

# What a noisy matrix of rows with the constant column says: list(mean, offset, covariance), in units of the radius. The
# mean is shrunk as James and Stein do, so its product is taken off where it stands out of the noise; `offset` is its
# length before, and how much of it was kept.
mean_apart <- function(noisy, n, sd, column) {
  d <- ncol(noisy) - 1
  one <- seq_len(d)
  mean <- noisy[one, d + 1] / (n * column)
  kept <- max(0, 1 - max(0, d - 2) * (sd / (n * column))^2 / max(sum(mean^2), .Machine$double.xmin))
  list(mean = kept * mean, offset = list(length = sqrt(sum(mean^2)), kept = kept, column = column),
       covariance = noisy[one, one] / n - kept^2 * tcrossprod(mean))
}

# coordinates at the centre in those at p, to which tangent vectors are carried along the geodesic
carry_to <- function(M, center, p) {
  d <- mf_facts(M)$dimension
  t(mf_coords(M, p, mf_transport(M, center, p, modes_at(M, center, diag(d)))))
}

# The sum with its noise; then nothing but what follows from it: the point, and the second moment there
draw_extended <- function(records, plan, ask) {
  M <- ask$manifold
  size <- drawn_size(records$n, ask$parts)
  length <- tangent_bound(ask, 0)
  column <- extended_column(ask$parts$grid)
  sum <- tangent_moment(records, ask, ask$center, length, ask$parts$grid, column, sqrt(1 + EXTENDED))
  noisy <- noisy_moment(sum, plan$noise)
  n <- ask_after(ask$parts, list(size = size))$n
  unit <- moment_value(1, 1, sqrt(1 + EXTENDED), ask$parts$grid)
  apart <- mean_apart(noisy * unit, n, plan$noise$sd * unit, column)
  p <- variance_point(M, ask, drop(shorten_rows(t(apart$mean * length), ask$ball$radius * (1 - 1e-12))))
  carried <- carry_to(M, ask$center, p)
  moment <- carried %*% apart$covariance %*% t(carried) * n / unit
  e <- eigen((moment + t(moment)) / 2, symmetric = TRUE)
  drawn <- list(noise = plan$noise, directions = e$vectors[, seq_len(ask$parts$q), drop = FALSE], sum = moment,
                values = e$values)
  list(point = p, length = length, size = size, drawn = drawn, offset = apart$offset)
}

# the mean's part of it
pga_mean <- function(ask) if (is.na(ask$n)) sized_mean_estimator else mean_estimator

pga_estimator <- list(
  entry = function(plan, ask) {
    paste0("dp_pga ", switch(ask$from, at = "", center = "mean and ",
                             mean = paste0("mean (", plan$mean$mechanism, ") and ")), "directions (",
           component_words(plan$noise), ")", if (!is.null(ask$unit)) paste(", unit", ask$unit))
  },
  parts = c(event = "event"),
  plan = function(ask) {
    mean <- if (ask$from == "mean") typed_plan(pga_mean(ask)$plan(ask$mean), mean_estimator$parts)
    # what a pure mean leaves of delta
    if (!is.null(mean) && is.null(ask$shares)) ask$parts$delta <- ask$delta - mean$guarantee$nominal_delta
    noise <- if (!is.null(ask$shares)) shared_noise(ask$parts, ask$shares, ask$about) else
      if (ask$from == "center") extended_noise(ask$parts) else component_plan(ask$parts)
    own <- component_price(noise, ask$parts, sprintf("center, radius%s are", if (ask$from == "at") " and at" else ""),
                           unit = ask$unit)
    own$guarantee$assumptions <- c(own$guarantee$assumptions, ask$assumptions)
    if (is.null(mean)) return(c(list(noise = noise), own))
    told <- if (!is.null(pga_mean(ask)$event)) pga_mean(ask)$event(mean, ask$mean)
    both <- if (is.null(ask$shares)) pga_promise(mean$guarantee, own$guarantee, ask$epsilon) else
      shared_promise(mean$guarantee, own$guarantee, ask)
    list(noise = noise, mean = mean, guarantee = both, event = pga_event(told, own$event))
  },
  ready = function(records, plan, ask) {
    if (!is.null(ask$shares)) {
      first <- if (ask$from == "mean") {
        shared_request(plan$mean, list(M = ask$manifold, radius = ask$ball$radius), ask$manifold, ask$center)
      }
      check_shared(records$x, plan$noise, ask$manifold, ask$center, if (!is.null(first)) list(first))
    }
    sized_mean_estimator$ready(records, plan, ask)
  },
  event = function(plan, ask) plan$event,
  draw = function(records, plan, ask, budget) {
    if (ask$from == "center") return(draw_extended(records, plan, ask))
    mean <- if (ask$from == "mean") pga_mean(ask)$draw(records, plan$mean, ask$mean, budget)
    a <- variance_at(ask$manifold, ask, ask$at %||% mean$value)
    p <- variance_point(ask$manifold, ask, a)
    length <- tangent_bound(ask, a)
    if (!is.null(ask$shares)) {
      noise <- shared_about(plan$noise, utils::modifyList(ask$about, list(at = a)), ask$parts)
      drawn <- draw_shared_components(records$x, noise, ask$manifold, ask$center, ask$parts)
      return(list(mean = mean, point = p, length = length, drawn = drawn))
    }
    size <- drawn_size(records$n, ask$parts)
    sum <- tangent_moment(records, ask, p, length, ask$parts$grid)
    list(mean = mean, point = p, length = length, size = size, drawn = draw_components(sum, plan$noise, ask$parts$q))
  },
  answer = function(out, plan, ask, budget) {
    M <- ask$manifold
    extended <- ask$from == "center"
    facts <- components_facts(c(out$drawn, list(size = out$size)), ask$parts,
                              out$length * if (extended) sqrt(1 + EXTENDED) else 1)
    facts$offset <- out$offset
    directions <- modes_at(M, out$point, t(facts$loadings))
    mean <- if (!is.null(out$mean)) pga_mean(ask)$answer(out$mean, out$mean$plan, ask$mean, NULL)
    if (!is.null(mean)) mean$source <- ask$source
    new_release(
      list(mean = out$point, directions = directions), "riemdp_pga",
      manifold = M, mechanism = facts$mechanism, n = out$drawn[["n"]] %||% ask$n, size = out$size, unit = ask$unit,
      center = ask$center,
      radius = ask$ball$radius, length = out$length, at = ask$at, from = ask$from,
      sd = if (!is.null(facts$moments)) sqrt(facts$moments), shares = facts$shares, mean_release = mean,
      components = facts, expected_error = facts$expected_error,
      theorem = paste("proofs/subspaces.md, section", if (extended) 10 else if (is.null(ask$shares)) 6 else 11),
      budget = budget,
      guarantee = plan$guarantee
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

# the same of two normal releases
shared_promise <- function(mean, own, ask) {
  mu <- c(ask$mean$options$mu, ask$parts$mu)
  both <- outwards(sqrt(sum(mu^2)))
  if (!(gaussian_delta(both, ask$epsilon) <= ask$delta)) abort_contract("its two parts cost more than was asked for")
  reasons <- unique(c(mean$reason, own$reason))
  new_guarantee(
    ask$epsilon, ask$delta, reasons[!is.na(reasons)], sampler = own$sampler, rng = own$rng, numerics = own$numerics,
    adjacency = own$adjacency, unit = own$unit, mu = both,
    assumptions = unique(c(mean$assumptions, own$assumptions, sprintf(paste(
      "the mean and the directions at it are two releases with normal noise, of mu = %.4g and %.4g, whose squares add",
      "up"), mu[1], mu[2])))
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
