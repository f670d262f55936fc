# Private covariance of logarithms at a public or released point. Proofs: inst/proofs/subspaces.md, section 6, and
# inst/proofs/inference.md, section 9.

#' Private covariance at a point
#'
#' Releases the mean of the products of the records' logarithms at a point that is public or was released: their
#' covariance matrix around it. [confint()][confint.riemdp_mean()] of a mean that was released before makes an ellipsoid
#' about the population's mean from it.
#'
#' Records outside the public ball are moved to its nearest point, one by one and silently; what is no point counts as
#' the centre. Coordinates of logarithms at the point, in the frame of [mf_coords()], are no longer than L, the radius
#' and the distance of the point from the centre together, and are shortened to that. Noise is added to the matrix of
#' their products as [dp_pca()] does for rows of `bound` L, by the mechanism whose noise is the smallest (`"auto"`; one
#' on a lattice where it is up to 5 % more). What is released can have negative eigenvalues; `value` has 0 in their
#' place, and so a trace that is too large where noise isn't small: that of `moment`, which [summary()] tells, isn't.
#'
#' With `unit` each unit's mean in the ball counts as one record, as in [dp_mean()]: the covariance is that of units'
#' means, which is what a mean of units needs for its ellipsoid. With `neighbours = "add_remove"` the number of records
#' (units) is private: a tenth of epsilon goes to a noisy one, by which the sum is divided. An ellipsoid then needs a
#' mean with a private number as well.
#'
#' Of [sites()] with `shares = TRUE` or `secure = TRUE` each adds its noise to the sum of its records' products, normal
#' noise (`"gauss"`, with `delta`), for a public number of records; the guarantee is about real numbers then.
#'
#' Proof: the file `proofs/subspaces.md` of the installed package, sections 6 and 11.
#'
#' @inheritParams dp_median
#' @param at a public point, or a release of one. Of a release of [dp_mean()] it is the point that was drawn, before it
#'   was moved towards the centre. A point outside the ball is moved into it.
#' @param delta for normal noise; 0 for pure differential privacy.
#' @param mechanism `"auto"`, or which noise: see [dp_pca()].
#' @param unit whose record each one is, or the name of the column of `x` that says so: units are protected then, each
#'   with all its records, and `n` counts them. See [dp_mean()].
#' @param neighbours `"replace"`: the number of records (units) is public. `"add_remove"`: it is private.
#' @return An object of class `riemdp_covariance` and [riemdp_release]: `value` (a symmetric positive semidefinite
#'   matrix in the coordinates that [mf_coords()] gives at `point`, in squared units of the metric), `moment` (the same
#'   as it was released), `point` (`at`, moved into the ball), `manifold`, `mechanism`, `n` (`NA` where it
#'   is private), `size`, `details` (of sites: how many, and against how many the guarantee holds), `unit`, `center`,
#'   `radius`, `length` (L), `sensitivity`, `scale`, `noise`, `expected_error` (root mean square of the noise, in
#'   the Frobenius norm), `theorem`, `target`, `source`, `guarantee`, `budget`, `draws`. Errors:
#'   `riemdp_error_unsupported` for
#'   users' manifolds, those of dimension 1 (there [dp_variance()] is the same), chunks, and sites without noise;
#'   `riemdp_error_argument`, `riemdp_error_shape` and `riemdp_error_radius` as for [dp_mean()].
#' @references
#' Dwork, C., Talwar, K., Thakurta, A. and Zhang, L. (2014). Analyze Gauss: optimal bounds for privacy-preserving
#' principal component analysis. *Proceedings of the 46th ACM Symposium on Theory of Computing*, 11-20.
#' \doi{10.1145/2591796.2591883}
#' @seealso [dp_variance()], [dp_pga()], [confint.riemdp_mean()]
#' @examples
#' x <- wishart_spd[, , 1:800]
#' m <- dp_mean(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' s <- dp_covariance(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5, at = m)
#' s
#' confint(m, covariance = s)
#' @export
dp_covariance <- function(x, M = manifold_of(x), epsilon, center, radius, ..., at, delta = 0,
                          mechanism = c("auto", "gauss", "laplace", "wishart"), invalid = c("error", "center"),
                          unit = NULL, neighbours = c("replace", "add_remove"), source = NULL, ledger = NULL,
                          data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius),
                          at = missing(at)))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  mechanism <- check_choice(mechanism, "mechanism", c("auto", "gauss", "laplace", "wishart"))
  check_covariance_space(M, x)
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  check_whole_rows(x, unit, replace)
  records <- records_or_units(M, x, unit, replace)
  ask <- covariance_ask(M, if (replace) records$n else NA_real_, epsilon, center, radius, at, delta, mechanism)
  if (is_chunks(x)) ask <- ask_shared(ask, x, ask$coords)
  ask$source <- stated_source(source, list(center = center, radius = radius, at = at))
  ask$invalid <- invalid
  ask$unit <- unit_name(records$units, x)
  uncounted(release_private(covariance_estimator, ask, records, ledger, data_set, part))
}

check_covariance_space <- function(M, x) {
  if (of_user(M)) {
    abort_riemdp("unsupported", "no covariance on a user's manifold: its coordinates are taken on trust.")
  }
  if (mf_facts(M)$dimension < 2) {
    abort_riemdp("unsupported", "on a manifold of dimension 1 a covariance is a mean square: dp_variance() has it.")
  }
  if (is_chunks(x) && is.null(x$shares)) {
    abort_riemdp("unsupported", paste("a covariance needs the records in memory, or at sites that add noise:",
                                      "sites(shares = TRUE) or sites(secure = TRUE)."))
  }
}

# public numbers, checked
covariance_ask <- function(M, n, epsilon, center, radius, at, delta, mechanism) {
  center <- public_point(M, center)
  ask <- list(manifold = M, center = center,
              ball = check_radius(M, check_length(public_value(radius, "radius"), "radius"), center),
              epsilon = check_number(epsilon, "epsilon", positive = TRUE), n = n)
  if (inherits(at, "riemdp_mean") && !is.null(at$released)) at$value <- at$released
  ask$at <- public_point(M, at, "at")
  a <- variance_at(M, ask, ask$at)
  ask$coords <- a
  ask$point <- variance_point(M, ask, a)
  ask$length <- tangent_bound(ask, a)
  ask$parts <- component_ask(n, mf_facts(M)$dimension, 1, ask$epsilon, delta, mechanism, NULL)
  ask
}

# the mechanism that is asked for, or the one with the smallest noise
covariance_noise <- function(ask) {
  if (!is.null(ask$shares)) return(shared_noise(ask$parts, ask$shares, ask$about))
  parts <- ask$parts
  if (parts$mechanism != "auto") component_noise(parts$mechanism, parts) else
    smallest_noise(parts, c("gauss", "laplace", "wishart"), "sd")
}

covariance_estimator <- list(
  entry = function(plan, ask) entry_words("dp_covariance", plan$noise$mechanism, ask$unit),
  parts = c(scale = "scale", theorem = "text", event = "event"),
  plan = function(ask) {
    noise <- covariance_noise(ask)
    price <- component_price(noise, ask$parts, "center, radius and at are", ask$manifold, ask$unit)
    price$guarantee$assumptions <- c(price$guarantee$assumptions, ask$assumptions)
    list(noise = noise, scale = noise$scale, theorem = "proofs/subspaces.md, section 6", guarantee = price$guarantee,
         event = price$event)
  },
  ready = function(records, plan, ask) {
    if (!is.null(ask$shares)) check_shared(records$x, plan$noise, ask$manifold, ask$center)
    sized_mean_estimator$ready(records, plan, ask)
  },
  event = function(plan, ask) plan$event,
  draw = function(records, plan, ask, budget) {
    if (!is.null(ask$shares)) return(draw_shared(records$x, plan$noise, ask$manifold, ask$center, ask$parts))
    size <- drawn_size(records$n, ask$parts)
    sum <- tangent_moment(records, ask, ask$point, ask$length, ask$parts$grid)
    list(size = size, sum = noisy_moment(sum, plan$noise))
  },
  answer = function(out, plan, ask, budget) {
    d <- ncol(out$sum)
    n <- out$n %||% ask_after(ask$parts, out)$n
    unit <- moment_value(1, n, ask$length, ask$parts$grid)
    told <- component_units(out$noise %||% plan$noise, unit)
    new_release(
      without_negative(out$sum * unit), "riemdp_covariance",
      moment = out$sum * unit, point = ask$point, manifold = ask$manifold, mechanism = plan$noise$mechanism,
      n = out$n %||% ask$n, size = out$size, details = shared_details(out$noise), unit = ask$unit,
      center = ask$center, radius = ask$ball$radius, length = ask$length,
      sensitivity = told$sensitivity, scale = told$scale, noise = told["sd"],
      rounding = moment_rounding(d, ask$length, ask$parts$grid),
      expected_error = told$sd * sqrt(d * (d + 1)), theorem = plan$theorem,
      target = sprintf("the mean product of the logarithms at a public point of the %s moved to the public ball",
                       if (is.null(ask$unit)) "records" else if (is.null(ask$shares)) "units' means" else
                         "units' records (averaged for each unit)"),
      budget = budget, guarantee = plan$guarantee
    )
  }
)

# the nearest positive semidefinite matrix
without_negative <- function(S) {
  e <- eigen((S + t(S)) / 2, symmetric = TRUE)
  tcrossprod(e$vectors * rep(sqrt(pmax(e$values, 0)), each = nrow(S)))
}

# draws of the noise of a release, for what is said of it afterwards: a list of matrices
covariance_noises <- function(r, draws) {
  d <- ncol(r$moment)
  normal <- function(rows) matrix(stats::rnorm(rows * d), rows)
  one <- switch(r$mechanism,
    gauss = function() {
      z <- normal(d)
      r$noise$sd * (z + t(z)) / sqrt(2)
    },
    laplace = function() {
      v <- stats::rnorm(symmetric_count(d))
      symmetric_matrix(v / sqrt(sum(v^2)) * stats::rgamma(1, length(v)) * r$scale, d)
    },
    wishart = function() r$scale / 2 * (crossprod(normal(d + 1)) - crossprod(normal(d + 1)))
  )
  lapply(seq_len(draws), function(i) one())
}

# ---- which covariances a released matrix may stand for ---------------------------------------------------------------
# Noise spreads eigenvalues that lie closer together than its own do: the least of those released are too small, and
# below 0. Proofs: inst/proofs/inference.md, section 9.

# an eigenvalue is seen where it stands above the mean of those that are no larger by more than one of noise in as many
# directions does with this probability
SEEN_LEVEL <- 0.95

eigenvalues_seen <- function(values, noises) {
  d <- length(values)
  longest <- max(vapply(noises, function(h) sqrt(sum(h^2)), 0)) # no eigenvalue is further from the mean
  for (k in seq_len(d - 1) - 1) {
    rest <- values[(k + 1):d]
    if (rest[1] - mean(rest) > longest) next
    i <- seq_along(rest)
    above <- vapply(noises, function(h) {
      e <- eigen(h[i, i, drop = FALSE], symmetric = TRUE, only.values = TRUE)$values
      e[1] - mean(e)
    }, 0)
    if (!(rest[1] - mean(rest) > stats::quantile(above, SEEN_LEVEL, names = FALSE))) return(k)
  }
  d - 1
}

# how far eigenvalues that are seen stand above the q others: at what noise makes 0 of, where they don't
seen_excess <- function(value, sd, q) pmax(without_noise(value, sd, q), sd * sqrt(q))

# draws of noise that leave a trace that can be; at least this share do
LEAST_LEFT <- 0.05

# `draws` covariances that the release may stand for, some lost, in the basis of its eigenvectors: list(basis, seen,
# all). The eigenvalues that are seen and their directions are those released but for noise; of the others only the
# trace and the distance from an even matrix are known, and they are one direction apart, as in section 5.
covariance_draws <- function(r, draws) {
  e <- eigen((r$moment + t(r$moment)) / 2, symmetric = TRUE)
  noises <- covariance_noises(r, draws)
  d <- length(e$values)
  k <- eigenvalues_seen(e$values, noises)
  known <- list(sd = r$noise$sd, values = e$values, seen = seq_len(k), rest = (k + 1):d)
  level <- mean(e$values[known$rest])
  # noise pushes seen ones up and takes that from the others
  trace <- sum(e$values) - sum(seen_excess(e$values[known$seen] - level, known$sd, d - k)) - k * level
  off <- vapply(noises, function(h) sum(diag(h)[known$rest]), 0)
  trace <- max(trace, stats::quantile(off, LEAST_LEFT, names = FALSE))
  left <- which(trace - off >= 0)
  list(basis = e$vectors, seen = k, all = lapply(left, function(i) {
    covariance_draw(known, trace / (d - k), trace - off[i], noises[[i]])
  }))
}

# one of them: `level` is the mean of the unseen eigenvalues as released, `trace` their sum without noise
covariance_draw <- function(known, level, trace, noise) {
  rest <- known$rest
  q <- length(rest)
  S <- matrix(0, length(known$values), length(known$values))
  S[rest, rest] <- unseen_draw(known$values[rest], trace, noise[rest, rest, drop = FALSE])
  for (i in known$seen) {
    excess <- seen_excess(known$values[i] - noise[i, i] - level, known$sd, q)
    # how much of its direction noise has turned towards the others (Benaych-Georges and Nadakuditi 2011)
    turned <- min(1, q * (known$sd / excess)^2)
    v <- numeric(nrow(S))
    v[i] <- sqrt(1 - turned)
    v[rest] <- sqrt(turned) * even_direction(q)
    S <- S + excess * tcrossprod(v)
    S[i, i] <- S[i, i] + trace / q
  }
  S
}

even_direction <- function(q) {
  u <- stats::rnorm(q)
  u / sqrt(sum(u^2))
}

# Where no eigenvalue is seen: one direction apart by what the released ones are less noise, which is split into that
# along the difference and all other
unseen_draw <- function(values, trace, noise) {
  q <- length(values)
  if (q == 1) return(matrix(trace))
  u <- even_direction(q)
  uneven <- noise - diag(mean(diag(noise)), q)
  along <- sum(u * (uneven %*% u)) / sqrt(1 - 1 / q)
  apart <- sqrt(max(0, sum((values - mean(values))^2) - sum(uneven^2) + along^2)) - along
  above <- min(trace, max(0, apart) / sqrt(1 - 1 / q))
  diag((trace - above) / q, q) + above * tcrossprod(u)
}
