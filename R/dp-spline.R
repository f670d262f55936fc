# Private smooth curves: noisy sums of B-splines times logarithms at a public geodesic, and of products of B-splines;
# all else follows from these. Proof: inst/proofs/regression.md, section 6.

spline_proof <- function(ask) if (is.null(ask$local)) "regression.md, 6" else "regression.md, 7"
# what contributions are shortened by, which covers the rounding of doubles
SPLINE_SAFE <- 1 - 1e-12
# Of pure noise: which parts of epsilon the sums of logarithms may have. Of normal noise: by what products of B-splines
# are multiplied. Where the number of records is private, plans are for `nominal`/epsilon of them.
SPLINE_SHARES <- c(0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SPLINE_WEIGHTS <- sqrt(c(0.5, 1, 2, 4))
SPLINE_NOMINAL <- 1000
# standard deviations, in units of the radius, of the change of slope that a curve may have over the whole range
SPLINE_BENDS <- 10^seq(-1, 2.5, by = 0.25)

# The predictors' density: which bends it may have, and by which part of themselves products may differ from those of
# any; the model's of both for plans. Of more pairs of B-splines products are taken as they were released.
GRAM_BENDS <- 10^(-1:2)
GRAM_MISFITS <- c(0.003, 0.05, 0.3, 1, 3)
GRAM_NOMINAL <- c(bend = 3, misfit = 0.03)
GRAM_MOST <- 250

#' Private smooth curves on a manifold
#'
#' Releases a differentially private curve through records \eqn{(t_i, y_i)} with responses on a manifold: a penalised
#' spline of one predictor with public knots, in the tangent spaces along a public reference. [dp_regression()] fits
#' geodesics; this is for what bends: tracks, trends of covariance matrices or shapes. The plain counterpart is
#' [spline_regression()].
#'
#' The reference is a point, `center`, or the geodesic through it with the given `velocity`. A record becomes its
#' B-splines \eqn{B_j(t)} and the logarithm c of y at the reference's point for t, carried back to `center` along the
#' geodesic and shortened to `radius`. Released are the sums \eqn{\sum_i B_j(t_i) c_i} and \eqn{\sum_i B_j(t_i)
#' B_k(t_i)}, and how many records count, with noise. B-splines are not negative and add up to 1, so one record moves
#' all sums of the first kind together by at most twice the radius, however many knots there are: each B-spline has
#' noise of its own, with density \eqn{\exp(-|z|/\mathrm{scale})} in d dimensions, for `delta` > 0 normal noise where
#' that is less. It is drawn on a lattice by integer arithmetic: the guarantee is about what the machine does, on
#' every manifold.
#'
#' @section Penalty: Coefficients are found from the noisy sums, whose noise has a known variance, by a Gaussian
#'   model: changes of the curve's slope are independent and normal, what noise and the records' own scatter add to
#'   the sums as well. With `"auto"` curves are averaged over the variances of bends and scatter, by how likely they
#'   make the released sums; a number is \eqn{\lambda} of [spline_regression()]. Products of B-splines are taken as
#'   what the released ones, and how many records count, say of a density of the predictor that may bend, or lie on a
#'   few values. All of that happens after the release. So many knots do little harm, and where an interval between
#'   knots has few records, or none, the curve goes on from its neighbours. No coefficient is longer than the radius.
#'
#' @section Records: Each counts as it is, whatever the others are: a predictor outside of its range is moved to its
#'   end; a record whose predictor or response is missing, or whose response is no point or has no logarithm at the
#'   reference, counts nothing; how many count is told with noise. The formula's terms are functions of one row, and
#'   knots public numbers, as in [dp_lm()], section "Splines and polynomials" there; numbers under a name are
#'   constants, and [guarantee()] names them. With `invalid = "error"` (for the curator, who may see the records)
#'   responses that are no points are reported by number before anything is drawn; this check is not part of the
#'   release.
#'
#' @section Local Frechet means: With `target = "frechet"` the curve is one of Frechet means and not of logarithms'
#'   averages: local Frechet regression (Petersen and Mueller 2019) at the knots, with weights that a record has by
#'   itself. With `bs(t, df = 8, degree = 1)` a record counts at the two knots beside its predictor, in eighths, by how
#'   near they are. Released are, for each knot, how many records that is, and this number times the logarithm at
#'   `center` of their mean on the manifold: one record moves the latter, over all knots together, by at most twice a
#'   number near the radius (more where curvature isn't 0). The curve is smoothed by the same model, and joined between
#'   knots in the tangent space. Knots are the bandwidth: means at few knots flatten what bends between them, which
#'   `expected_error` leaves out, while the penalty holds the noise of many down (`df = 32` did well from 4,000 records
#'   on). It makes a difference where records at one predictor are far apart: with 20,000 records, a scatter of .3 radii
#'   and epsilon = 1 the curve was off by .047 on the hyperbolic plane in a ball of radius 3 (`"tangent"`: .146, of
#'   which noise is the least part), by .044 (.053) on `spd(2)` with radius 3, and by .010 (.010) on the sphere with
#'   radius .75. The reference is constant, the ball as small as in [dp_mean()], the noise pure, and records are rows in
#'   memory, their number public.
#'
#' @section Units and private numbers of records: With `unit` each unit counts with the average over its rows, and is
#'   protected with all of them. With `neighbours = "add_remove"` the number of records (units) is private: what
#'   the fit needs of it is how many count, which is released anyway, and a record moves the sums less. Variables must
#'   be columns of `data` then.
#'
#' @section Bands: There are none; `confint()` says so. Bands from the model above (Wahba 1983), at level .95, held .91
#'   to .99 of the curve for even predictors and little scatter, but .85 to .90 with few B-splines and much scatter,
#'   .77 where units have effects of their own, and .11 where predictors are five values: `covariance` is that of the
#'   model, and no more.
#'
#' @inheritParams dp_regression
#' @param formula points on the left as in [geodesic_regression()]; on the right one term, `bs()` or `poly()` of one
#'   variable, as in [dp_lm()]: `y ~ bs(t, df = 8)`, `y ~ bs(t, knots = c(1, 4))`, `y ~ poly(t, 3)`. Knots for `df` are
#'   even over the range.
#' @param data a data frame or list, or such tables in [chunks()]: then variables come from `data` only.
#' @param center,radius a public point, and the distance from the reference within which responses are expected: longer
#'   logarithms are shortened to it. Below the injectivity radius, in the units of the metric; at most 15 on
#'   hyperbolic space and 21 for matrices but with the Bures-Wasserstein metric, beyond which doubles hold no points.
#' @param bounds public range of the predictor, two numbers.
#' @param velocity `NULL` for a constant reference, or the reference's velocity at the middle of the range, where it
#'   passes through `center`: one public tangent vector for one unit of the predictor. Times half the range it is no
#'   longer than half of the injectivity radius. What [dp_regression()] has released is public: its `p` and `v` will do.
#' @param delta from 0 to below 1; above 0 normal noise may be drawn.
#' @param penalty `"auto"`, or a number from 0 to 1e12.
#' @param target `"tangent"`: a spline of logarithms; `"frechet"`: local Frechet means, see there.
#' @param object a release.
#' @param newdata a data frame with the predictor, or `NULL` for 51 values along its range; others are moved to its
#'   ends.
#' @param parm,level not used.
#' @return An object of class `riemdp_spline` and [riemdp_release]: `value` (coefficients, a row for each B-spline,
#'   in the coordinates of [mf_coords()] at the centre), `sums` (as released: `moment`, `gram`, `count`, their
#'   noise's standard deviations), `covariance` (of a coordinate of the coefficients, by the model), `penalty` (by
#'   which the coefficients were found, a geometric mean), `manifold`, `mechanism` (`"l2"` or `"normal"`), `n` (`NA`
#'   where it is private), `unit`, `center`, `radius`, `velocity`, `columns` (name, middle and half width of the
#'   predictor), `expected_error` (see [dp_spline_plan()]), `constant`, `share`, `target`, `source`, `guarantee`,
#'   `budget`, `draws`. `predict()`: points of the curve. There are `coef()`, `print()`, `summary()`, [explain()],
#'   `plot()`, `nobs()`, `formula()`, `tidy()` and
#'   `glance()` methods. Errors: `riemdp_error_argument`, `riemdp_error_radius`, `riemdp_error_shape` and
#'   `riemdp_error_unsupported` for arguments, formulas and budgets of other kinds, all from public numbers.
#' @references
#' Eilers, P. H. C. and Marx, B. D. (1996). Flexible smoothing with B-splines and penalties. *Statistical Science* 11,
#' 89-121. \doi{10.1214/ss/1038425655}
#'
#' Wahba, G. (1983). Bayesian "confidence intervals" for the cross-validated smoothing spline. *Journal of the Royal
#' Statistical Society B* 45, 133-150. \doi{10.1111/j.2517-6161.1983.tb01239.x}
#'
#' Petersen, A. and Mueller, H.-G. (2019). Frechet regression for random objects with Euclidean predictors. *Annals of
#' Statistics* 47, 691-719. \doi{10.1214/17-AOS1624}
#'
#' Vu, D. and Slavkovic, A. (2009). Differential privacy for clinical trial data: preliminary evaluations. *IEEE
#' International Conference on Data Mining Workshops*, 138-143. \doi{10.1109/ICDMW.2009.52}
#' @seealso [spline_regression()], [dp_spline_plan()], [dp_regression()]
#' @examples
#' # a track that bends; bounds are round numbers that one would know beforehand
#' set.seed(1)
#' t <- runif(2000)
#' y <- mf_exp(sphere(2), c(0, 0, 1), cbind(0.8 * (t - 0.5), 0.3 * sin(2 * pi * t), 0))
#' y <- mf_project(sphere(2), y + rnorm(6000, sd = 0.03))
#' r <- dp_spline(y ~ bs(t, df = 8), sphere(2), epsilon = 1, center = c(0, 0, 1), radius = 0.6,
#'                bounds = c(0, 1))
#' r
#' predict(r, data.frame(t = c(0, 0.5, 1)))
#' plot(r)
#'
#' # covariances of stock returns over five days; what is protected is one of these matrices
#' returns <- 100 * diff(log(EuStockMarkets[, 1:2]))
#' days <- seq_len(1855)
#' y <- vapply(days, function(i) cov(returns[i + 0:4, ]) + diag(0.05, 2), matrix(0, 2, 2))
#' d <- list(y = y, year = 1991.5 + days / 260)
#' dp_spline(y ~ bs(year, df = 10), spd(2), d, epsilon = 2, center = diag(2), radius = 3,
#'           bounds = c(1991.5, 1998.7))
#' @export
dp_spline <- function(formula, M, data = NULL, epsilon, center, radius, bounds, ..., velocity = NULL, delta = 0,
                      penalty = "auto", target = c("tangent", "frechet"), invalid = c("error", "ignore"), unit = NULL,
                      neighbours = c("replace", "add_remove"), source = NULL, ledger = NULL, data_set = "default",
                      part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius),
                          bounds = missing(bounds)))
  invalid <- check_choice(invalid, "invalid", c("error", "ignore"))
  penalty <- check_penalty(penalty)
  target <- check_choice(target, "target", c("tangent", "frechet"))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  env <- (if (inherits(formula, "formula")) environment(formula)) %||% parent.frame()
  given <- with_units(unit, data, "data", least = replace)
  check_fit_size(replace, given$x, "sums")
  records <- spline_records(formula, M, given, bounds, env, replace, invalid)
  n <- counted(records$shares, records$n)
  ask <- spline_ask(M, if (replace) n else NA_real_, epsilon, center, radius, velocity, delta, records$basis,
                    records$range)
  if (target == "frechet") ask <- local_means_ask(ask, list(units = given$units, chunks = is_chunks(data)))
  given <- list(center = center, radius = radius)
  if (!is.null(velocity)) given$velocity <- velocity
  ask$source <- stated_source(source, given)
  ask <- c(ask, list(penalty = penalty, invalid = invalid, unit = unit_name(records$units), spec = records$spec,
                     constants = records$constants, terms = strip_environment(formula),
                     assumptions = c(if (isTRUE(records$scaled)) SCALED, constants_said(records$constants),
                                     if (is_chunks(data)) chunk_assumptions(data))))
  uncounted(release_private(spline_estimator, ask, records, ledger, data_set, part))
}

# The records of a call: list(x, y, n, shares, basis, range, spec, constants, scaled, units)
spline_records <- function(formula, M, given, bounds, env, replace, invalid) {
  data <- given$x
  names <- if (is_chunks(data)) chunk_names(check_chunks(data)) else names(data)
  asked <- spline_term(formula, names, env)
  if (!replace) check_inside(list(asked$formula[[2]], asked$formula[[3]]), data, env)
  records <- regression_records(asked$formula, M, data, bounds, env, least = replace && is.null(given$units))
  if (replace) check_constant_sizes(list(bases = list(asked$term)), given$units$count %||% records$n)
  column <- strip_columns(records$spec$columns)
  if (nrow(column) != 1 || is.null(records$spec$bounds$x[[1]]$range)) {
    abort_riemdp("shape", "`bounds` must be two numbers, the smaller first: a smooth curve has one predictor.")
  }
  range <- records$spec$bounds$x[[1]]$range
  shares <- fit_shares(given$units, records$n, "sums", !replace, if (invalid == "error") {
    paste("With invalid = \"ignore\"", c("they are left out.", "each counts as a missing record."))
  })
  records$constants <- c(records$constants, asked$term$constants)
  c(records, list(shares = shares, basis = basis_on(asked$term, range), range = range, units = given$units))
}

spline_radius <- function(M, radius) {
  radius <- check_number(public_value(radius, "radius"), "radius", least = 1e-60, most = 1e60)
  limit <- mf_facts(M)$injectivity_radius
  if (limit > 0 && radius >= limit) {
    abort_riemdp("radius", sprintf("`radius` is %.4g, but must be below %.4g, the injectivity radius.", radius, limit))
  }
  farthest <- farthest_held(M)
  if (radius > farthest) {
    abort_riemdp("radius", sprintf("`radius` is %.4g, but must be at most %.4g: doubles hold no points farther out.",
                                   radius, farthest))
  }
  radius
}

# How far from a centre there are points in doubles, by the least curvature; eigenvalues and parts grow as fast where
# logarithms make the metric flat
farthest_held <- function(M) {
  logs <- if (!is_flat(M) || inherits(M, "riemdp_euclidean")) 0 else if (M$name == "spd_logeuclidean") sqrt(0.5) else 1
  bend <- max(sqrt(max(0, -mf_facts(M)$k_min)), logs)
  if (bend > 0) 15 / bend else Inf
}

# what is asked for, checked: public quantities only
spline_ask <- function(M, n, epsilon, center, radius, velocity, delta, basis, range) {
  radius <- spline_radius(M, radius)
  reference <- spline_reference(M, center, velocity, diff(range) / 2)
  d <- mf_facts(M)$dimension
  if (d > 5000 || spline_count(basis) * d > 1e5) {
    abort_riemdp("unsupported", "so many knots in so many dimensions can't be had.")
  }
  list(manifold = M, n = n, epsilon = check_number(epsilon, "epsilon", positive = TRUE), delta = check_delta(delta),
       center = reference$center, radius = radius, velocity = velocity, reference = reference, d = d, basis = basis,
       range = range, pairs = spline_pairs(basis))
}

# ---- noise -----------------------------------------------------------------------------------------------------------

# Bits of a part: sums over records are exact in doubles, and the noise is within the sampler's reach
spline_bits <- function(n, wide) {
  most <- if (is.na(n)) SIZE_MOST else max(2, n)
  bits <- min(50 - ceiling(log2(most)), floor(29 - log2(wide)))
  if (!(bits >= 12)) {
    abort_riemdp("unsupported", paste("so small an `epsilon`, or so many records, leave no room for whole numbers: ask",
                                      "for more budget."))
  }
  bits
}

# By how many records' worth the sums move, and the sums of logarithms, a record's being 1 (of local means more, see
# spline-local.R); and how many numbers they are: logarithms, products, how many records count
spline_moves <- function(ask) if (is.na(ask$n)) 1 else 2
block_moves <- function(ask) spline_moves(ask) * (ask$local$reach %||% 1) + (ask$local$off %||% 0)
spline_numbers <- function(ask) spline_count(ask$basis) * ask$d + nrow(ask$pairs) + 1

# Noise of density exp(-|z|/scale) for each B-spline's sum of logarithms, two-sided geometric for each product's and for
# how many records count; a share of epsilon for the former. A replaced record that stops counting moves products by
# half of what others do, so the count costs nothing. Of units, sums are rounded as a whole.
spline_pure <- function(ask, share) {
  parts <- c(moment = share, gram = 1 - share) * outwards_down(ask$epsilon)
  moves <- spline_moves(ask)
  bits <- spline_bits(ask$n, moves / min(parts))
  loose <- if (is.null(ask$unit)) c(0, 0) else c(spline_count(ask$basis) * sqrt(ask$d), nrow(ask$pairs) + 1)
  if (!is.null(ask$local)) loose[1] <- LOCAL_TOUCHED * sqrt(ask$d)
  count <- if (moves == 2) 1 else 0.5
  shift <- ceiling(outwards(c(block_moves(ask), 1 + count) * 2^bits + loose))
  scales <- vapply(1:2, function(i) noise_ratio(shift[i], parts[[i]])$scale, 0)
  if (20 * scales[1] < sqrt(ask$d)) {
    abort_riemdp("unsupported", "so large an `epsilon` promises nothing, and its noise can't be drawn on a lattice.")
  }
  list(law = "l2", share = share, bits = bits, parts = parts, shift = shift, scale = scales,
       variance = c(moment = (ask$d + 1) * scales[1]^2, gram = 2 * scales[2]^2, beside = scales[2]^2 / 2,
                    count = 2 * (scales[2] / count)^2) / 4^bits,
       weight = c(1, 2, count), guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"))
}

# Discrete normals on all sums together, products multiplied by `weight`, the count by what costs nothing, or little
spline_normal <- function(ask, weight) {
  w <- weight^2
  move <- sqrt(if (is.na(ask$n)) 1.25 * (1 + w) else max(4, if (w > 0.5) 2 + 2 * w + 1 / (2 * w)))
  count <- sqrt(move^2 - 1 - w)
  bits <- spline_bits(ask$n, move * gaussian_scale(FLAT_SPACE, 1, ask$epsilon, ask$delta))
  shift <- outwards(move * 2^bits + (2 + !is.null(ask$unit)) * sqrt(spline_numbers(ask)))
  noise <- normal_lattice_scale(shift, list(epsilon = ask$epsilon, delta = ask$delta, options = list()), 1)
  list(law = "normal", share = weight, bits = bits, shift = shift, scale = noise$scale, ratio = noise$ratio,
       fine = bits,
       variance = noise$scale^2 / 4^bits * c(moment = 1, gram = 1 / w, beside = 1 / (2 * w), count = count^-2),
       weight = c(weight * c(1, sqrt(2)), count), guarantee = noise$guarantee)
}

# the noise with the least expected error, which is told in units of the radius
spline_noise <- function(ask) {
  why <- NULL
  # which can be had follows from public numbers
  had <- function(f) function(x) {
    tryCatch(f(ask, x), riemdp_error_unsupported = function(e) {
      why <<- why %||% e
      NULL
    })
  }
  all <- lapply(SPLINE_SHARES, had(spline_pure))
  if (ask$delta > 0) all <- c(all, lapply(SPLINE_WEIGHTS, had(spline_normal)))
  all <- Filter(length, all)
  if (!length(all)) stop(why)
  nominal <- spline_nominal(ask$basis, ask$range, ask$pairs, local = !is.null(ask$local))
  errors <- vapply(all, spline_error, 0, ask, nominal, spline_penalty(ask$basis))
  errors[is.na(errors)] <- Inf # numbers near the ends of doubles
  c(all[[which.min(errors)]], list(error = min(errors)))
}

# the variance of the noise in each pair's product, and in the count
pair_variance <- function(noise, ask) {
  unname(noise$variance[c(ifelse(ask$pairs[, 1] == ask$pairs[, 2], "gram", "beside"), "count")])
}

# a number for each pair as a matrix
pair_matrix <- function(values, ask) {
  count <- spline_count(ask$basis)
  out <- matrix(0, count, count)
  out[ask$pairs] <- values
  out[ask$pairs[, 2:1]] <- values
  out
}

# Products of B-splines, given the noise's variance v in them and in the count, which is the sum of all: predictors have
# a density that is 1 and a spline's bends, and what none of these explains. list(mean, gain: of what is released beyond
# it, covariance of what is left, factor, seen: products and count from products)
gram_given <- function(bend, misfit, v, n, triple, pairs, P) {
  even <- n * rowSums(triple)
  prior <- firm_solve(P / bend^2 + diag(1 / ncol(triple), ncol(triple)), diag(ncol(triple)))
  C <- n^2 * (triple %*% tcrossprod(prior, triple)) + diag((misfit * even)^2, length(even))
  seen <- rbind(diag(length(even)), 1 + (pairs[, 1] != pairs[, 2]))
  R <- firm_factor(seen %*% tcrossprod(C, seen) + diag(v))
  A <- forwardsolve(t(R), seen %*% C)
  list(factor = R, gain = A, mean = even, covariance = C - crossprod(A), seen = seen)
}

# What errors of such a covariance in the products do to B-splines' sums, as a matrix, mean over coordinates: the
# products meet coefficients theta (basis x coordinates)
gram_blur <- function(covariance, theta, pairs) {
  each <- svd(theta, nv = 0)
  out <- 0
  at <- seq_len(nrow(pairs))
  beside <- pairs[, 1] != pairs[, 2]
  for (k in seq_along(each$d)) {
    one <- each$u[, k] * each$d[k]
    map <- matrix(0, nrow(theta), length(at))
    map[cbind(pairs[, 1], at)] <- one[pairs[, 2]]
    map[cbind(pairs[, 2], at)[beside, , drop = FALSE]] <- one[pairs[beside, 1]]
    out <- out + map %*% tcrossprod(covariance, map)
  }
  out / ncol(theta)
}

# The model's curve: a wave over the range, half the radius high, in one coordinate; predictors are even over their
# range, of which the products' noise leaves what it leaves of a density with GRAM_NOMINAL, and the smoothing is the
# best for it. Root mean squared distance, of noise and of what smoothing loses.
spline_error <- function(noise, ask, nominal, P) {
  count <- nrow(nominal$gram)
  wave <- 0.5 * sin(2 * pi * (seq_len(ncol(nominal$s)) - 0.5) / ncol(nominal$s))
  theta <- firm_solve(nominal$gram + diag(1e-9, count), nominal$s %*% wave / length(wave))
  n <- if (is.na(ask$n)) SPLINE_NOMINAL / ask$epsilon else ask$n
  G <- n * nominal$gram
  v <- pair_variance(noise, ask)
  left <- if (length(v) > GRAM_MOST) diag(v[-length(v)]) else
    gram_given(GRAM_NOMINAL[1], GRAM_NOMINAL[2], v, n, nominal$triple, ask$pairs, P)$covariance
  V <- diag(noise$variance[["moment"]], count) + gram_blur(left, theta, ask$pairs) / ask$d
  VG <- firm_solve(V, G)
  B <- crossprod(G, VG)
  errors <- vapply(SPLINE_BENDS, function(bend) {
    prior <- P / bend^2 + diag(ask$d / count, count)
    bias <- firm_solve(B + prior, prior %*% theta)
    A <- firm_solve(B + prior, t(VG))
    sum(bias * (nominal$gram %*% bias)) + ask$d * sum((nominal$gram %*% A) * (A %*% V))
  }, 0)
  sqrt(max(0, min(errors)))
}

firm_solve <- function(A, b) factor_solve(firm_factor(A), b)

# ---- sums ------------------------------------------------------------------------------------------------------------

# Of each record by itself: B-splines, basis x n, and logarithms over the radius, none longer than 1; both 0 where
# something is missing
spline_numbers_of <- function(x, y, q) {
  found <- spline_responses(q$manifold, q$reference, x, y)
  s <- spline_features(q$basis, q$range, as.vector(x) + q$middle)
  s[, !found$there] <- 0
  size <- sqrt(colSums(found$c^2))
  factor <- pmin(1, size / q$radius) / size
  factor[!is.finite(factor)] <- 0
  logs <- found$c * rep(factor, each = nrow(found$c))
  logs[!is.finite(logs)] <- 0
  list(s = s, logs = logs)
}

# Whole numbers, a column for each record: a row for each B-spline and coordinate, then products of B-splines, then
# whether it counts. Rounded towards 0, so that no record counts more than it may.
spline_rows <- function(s, logs, q) {
  moment <- s[rep(seq_len(nrow(s)), nrow(logs)), , drop = FALSE] *
    logs[rep(seq_len(nrow(logs)), each = nrow(s)), , drop = FALSE]
  a <- q$pairs[, 1]
  b <- q$pairs[, 2]
  gram <- s[a, , drop = FALSE] * s[b, , drop = FALSE] * q$weight[1 + (a != b)]
  trunc(rbind(moment, gram, q$weight[3] * (colSums(s) > 0)) * (2^q$bits * SPLINE_SAFE))
}

# what some records add to the sums, in parts; of units' rows their shares of it, in sums of doubles without rounding
spline_part <- function(x, y, share, q) {
  numbers <- spline_numbers_of(x, y, q)
  n <- ncol(numbers$s)
  lapply(split(seq_len(n), (seq_len(n) - 1) %/% max(1, floor(2^22 / q$numbers))), function(i) {
    rows <- spline_rows(numbers$s[, i, drop = FALSE], numbers$logs[, i, drop = FALSE], q)
    if (is.null(share)) rowSums(rows) else exact_rows(t(rows * rep(share[i], each = nrow(rows))))
  })
}

# what spline_numbers_of() asks for, and chunks
numbers_asked <- function(ask) {
  c(ask[c("manifold", "reference", "basis", "range", "pairs", "radius")], list(middle = mean(ask$range)))
}

# all sums, in whole numbers
spline_total <- function(records, plan, ask) {
  noise <- plan$noise
  q <- c(numbers_asked(ask), noise[c("bits", "weight")], list(numbers = spline_numbers(ask)))
  if (records$n == 0) return(numeric(q$numbers))
  parts <- if (inherits(records$y, "riemdp_regression_chunks")) {
    records$y$share <- records$shares
    do.call(c, regression_ask_chunks(records$y, "spline", spline = q))
  } else {
    spline_part(records$x, records$y, records$shares, q)
  }
  if (is.null(records$shares)) Reduce(`+`, parts) else round(exact_total(parts))
}

# what private curves ask of the records of a chunk
SPLINE_KERNELS <- list(
  spline = function(q, x) {
    d <- chunk_private(q, x)
    spline_part(matrix(d$x, 1), d$y, shares_of(d$x), q$spline)
  }
)

# The released sums: list(moment, basis x coordinates in units of the radius; gram; count)
noisy_spline_sums <- function(sums, noise, ask) {
  count <- spline_count(ask$basis)
  at <- seq_len(count * ask$d)
  if (noise$law == "normal") {
    all <- noisy_steps(sums, noise, spline_proof(ask))
  } else {
    moment <- noisy_blocks(matrix(sums[at], count), noise$shift[1], noise$parts[["moment"]], spline_proof(ask))
    gram <- noisy_squares(sums[-at], noise$shift[2], noise$parts[["gram"]], spline_proof(ask))$sum
    all <- c(moment, gram) / 2^noise$bits
  }
  rest <- all[-at] / noise$weight[c(1 + (ask$pairs[, 1] != ask$pairs[, 2]), 3)]
  list(moment = matrix(all[at], count), gram = pair_matrix(rest[-length(rest)], ask), count = rest[length(rest)])
}

# Whole numbers, a row for each B-spline, with noise of density exp(-|z|/scale) on each row: one record moves the rows
# by lengths that add up to `shift` at most.
noisy_blocks <- function(steps, shift, epsilon, proof) {
  noise <- noise_ratio(shift, epsilon)
  z <- .Call(riemdp_lattice_noise, euclidean(ncol(steps)), nrow(steps), "l2", noise$ratio,
             pay(price_laplace(shift, noise$scale, proof)))
  steps + as.vector(z)
}

# ---- coefficients ----------------------------------------------------------------------------------------------------

# Coefficients from released sums, in units of the radius: list(theta, covariance of one coordinate, penalty). Bends are
# normal with a precision, B-splines' sums have the noise's variance, what the noise in the products does to them, and
# that of the records' scatter. Over precisions and scatters, even on a grid of logarithms, means are taken.
spline_posterior <- function(sums, noise, ask) {
  P <- spline_penalty(ask$basis)
  told <- smooth_gram(sums, pair_variance(noise, ask), P, ask)
  G <- without_negative(told$gram)
  theta <- matrix(1 / (2 * sqrt(ask$d)), nrow(G), ask$d)
  for (round in 1:3) {
    V <- diag(noise$variance[["moment"]], nrow(G)) + gram_blur(told$covariance, theta, ask$pairs)
    found <- averaged_curve(likely_curves(G, sums$moment, V, P, ask))
    theta <- shorten_rows(found$theta, 1)
  }
  found$theta <- shorten_rows(found$theta, 1)
  found
}

# Products of B-splines from the released ones, and the covariance of what is left of their noise: means by likelihood
# over the density's bends and misfits
smooth_gram <- function(sums, v, P, ask) {
  if (length(v) > GRAM_MOST) return(list(gram = sums$gram, covariance = diag(v[-length(v)])))
  n <- if (is.na(ask$n)) max(1, sums$count) else ask$n
  triple <- spline_nominal(ask$basis, ask$range, ask$pairs, local = !is.null(ask$local))$triple
  each <- unlist(lapply(GRAM_BENDS, function(bend) lapply(GRAM_MISFITS, function(misfit) {
    one <- gram_given(bend, misfit, v, n, triple, ask$pairs, P)
    e <- forwardsolve(t(one$factor), c(sums$gram[ask$pairs], sums$count) - as.vector(one$seen %*% one$mean))
    list(score = -(sum(e^2) + log_det(one$factor)) / 2, gram = one$mean + as.vector(crossprod(one$gain, e)),
         covariance = one$covariance)
  })), recursive = FALSE)
  w <- likely_weights(each)
  total <- function(part) Reduce(`+`, Map(function(one, w) w * part(one), each, w))
  mean <- total(function(one) one$gram)
  list(gram = pair_matrix(mean, ask),
       covariance = total(function(one) one$covariance + tcrossprod(one$gram - mean)))
}

# weights by the likelihood whose logarithm is `score`
likely_weights <- function(each) {
  score <- vapply(each, `[[`, 0, "score")
  score[!is.finite(score)] <- -Inf
  w <- if (any(score > -Inf)) exp(score - max(score)) else rep(1, length(score))
  w / sum(w)
}

# given precision and scatter, for each pair of them: list(theta, covariance, penalty, score: the log likelihood)
likely_curves <- function(G, moment, V, P, ask) {
  count <- nrow(G)
  weak <- ask$d / count
  roots <- pmax(0, eigen(P, symmetric = TRUE, only.values = TRUE)$values)
  unlist(lapply(exp(seq(log(1e-5), log(1 / ask$d), length.out = 7)), function(scatter) {
    R <- firm_factor(V + scatter * G)
    A <- forwardsolve(t(R), G)
    y <- forwardsolve(t(R), moment)
    B <- crossprod(A)
    b <- crossprod(A, y)
    lapply(if (identical(ask$penalty, "auto")) SPLINE_BENDS^-2 else ask$penalty / scatter, function(precision) {
      U <- firm_factor(B + precision * P + diag(weak, count))
      theta <- factor_solve(U, b)
      deviance <- sum(y^2) - sum(theta * b) +
        ask$d * (log_det(R) + log_det(U) - sum(log(precision * roots + weak)))
      list(theta = theta, covariance = chol2inv(U), penalty = precision * scatter, score = -deviance / 2)
    })
  }), recursive = FALSE)
}

# their mean by likelihood, and the covariance of a coordinate with what they differ by
averaged_curve <- function(curves) {
  w <- likely_weights(curves)
  total <- function(part) Reduce(`+`, Map(function(curve, w) w * part(curve), curves, w))
  theta <- total(function(curve) curve$theta)
  logs <- w * log(vapply(curves, `[[`, 0, "penalty"))
  list(theta = theta, penalty = exp(sum(logs[w > 0])),
       covariance = total(function(curve) curve$covariance + tcrossprod(curve$theta - theta) / ncol(theta)))
}

# ---- the release -----------------------------------------------------------------------------------------------------

spline_estimator <- list(
  entry = function(plan, ask) entry_words("dp_spline", plan$noise$law, ask$unit),
  parts = c(expected_error = "number"),
  plan = function(ask) {
    noise <- spline_noise(ask)
    private <- is.na(ask$n)
    g <- promise_of(noise$guarantee, c(
      sprintf("center, radius, velocity, bounds and knots are public; the number of records is %s",
              if (private) "private" else "public"),
      ask$local$assumptions,
      if (of_user(ask$manifold)) "a callback's result for a record depends on that record and the reference alone",
      ask$assumptions
    ), numerics = "lattice", adjacency = if (private) "add-remove" else "replace-one")
    list(noise = noise, expected_error = if (private) NA_real_ else noise$error * ask$radius,
         guarantee = of_units(g, ask$unit))
  },
  ready = function(records, plan, ask) {
    if (ask$invalid == "error" && records$n > 0) {
      chunked <- inherits(records$y, "riemdp_regression_chunks")
      records$y <- if (chunked) check_responses(records$y) else checked_responses(records$y, ask$manifold)
    }
    records
  },
  draw = function(records, plan, ask, budget) {
    sums <- if (is.null(ask$local)) spline_total(records, plan, ask) else
      local_total(spline_numbers_of(records$x, records$y, numbers_asked(ask)), plan$noise, ask)
    noisy_spline_sums(sums, plan$noise, ask)
  },
  answer = function(out, plan, ask, budget) {
    found <- spline_posterior(out, plan$noise, ask)
    sd <- sqrt(plan$noise$variance)
    new_release(
      found$theta * ask$radius, "riemdp_spline",
      sums = list(moment = out$moment * ask$radius, gram = out$gram, count = out$count,
                  sd = sd * c(ask$radius, 1, 1, 1)),
      covariance = found$covariance * ask$radius^2, penalty = found$penalty, manifold = ask$manifold,
      mechanism = plan$noise$law, n = ask$n, unit = ask$unit, center = ask$center, radius = ask$radius,
      velocity = ask$velocity, reference = ask$reference, basis = ask$basis, range = ask$range,
      columns = strip_columns(ask$spec$columns), formula = ask$terms, terms = ask$spec$formula,
      constants = ask$constants,
      bounds = ask$spec$bounds, share = plan$noise$share, expected_error = plan$expected_error,
      target = if (is.null(ask$local)) "tangent" else "frechet", constant = ask$radius / sqrt(8), budget = budget,
      guarantee = plan$guarantee
    )
  }
)
