# Private Frechet variances and mean squared distances from a public point. Proofs: inst/proofs/inference.md.

#' Private Frechet variance
#'
#' Releases the Frechet variance of records in a public ball: their smallest mean squared distance from a point, or with
#' `at` that from a point which is public. What was released by [dp_mean()] or [dp_median()] is public too.
#'
#' Records outside the ball are moved to its nearest point, one by one and silently; what is no point counts as the
#' centre. Each squared distance is rounded up to a whole number of small units, and the sum of these is released with
#' two-sided geometric noise, drawn by integer arithmetic: the guarantee is about what the machine does.
#'
#' * with `at`, a point at distance a from the centre (moved into the ball where it lies outside): a record's number is
#'   at most that of \eqn{(r+a)^2}, which is what one record moves the sum by. Near the centre that is a fourth of what
#'   it is without `at`, so a mean that is released anyway is worth giving;
#' * without: the variance is the smallest value of the mean of squares over all points. One record moves that mean by
#'   \eqn{4r^2/n} at most at every point, so its smallest value too, although the mean moves with the record. What
#'   rounding does to the mean is bounded and added.
#'
#' Proof: the file `proofs/inference.md` of the installed package.
#'
#' @section Intervals: `confint()` gives two. `about = "estimate"`: for the mean of squares of the records, moved to the
#'   ball, without noise. `about = "population"`, the default: for that of a population of which the records are
#'   independent draws (moved to the ball as well). It holds at any number of records and for any law: squared distances
#'   are numbers between 0 and \eqn{(r+a)^2}, for whose mean Hoeffding's inequality holds, averaged over the noise's
#'   law. It is wide where the squares are much smaller than that bound. `at` must be chosen without these records for
#'   it, or be a release of other ones; where it is a release of the same records the interval is about the population's
#'   mean square from there up to terms of order 1/n. Without `at` the interval is for the population's Frechet
#'   variance.
#'
#' @inheritParams dp_median
#' @param at a public point, or a release of one; `NULL` for the Frechet variance.
#' @return An object of class `riemdp_variance` and [riemdp_release]: `value` (the variance, between 0 and the most that
#'   there can be; its root is the standard deviation), `manifold`, `n` (`NA` where it is private), `center`, `radius`,
#'   `at` (`NULL` without), `squares` (the released `sum`, the noise's `scale`, the `most` that one record may count and
#'   the `unit`, all in squared units of the metric), `size`, `sensitivity` (of the mean of squares), `solver_error`,
#'   `theorem`, `expected_error` (of `value`, of the noise alone), `unit`, `source`, `guarantee`, `budget`, `draws`.
#'   Errors: `riemdp_error_unsupported` for users' manifolds, balls without bounds of rounding errors, and without `at`
#'   for a private number of records or chunks; `riemdp_error_argument` and `riemdp_error_shape` as for [dp_mean()].
#' @references
#' Dubey, P. and Mueller, H.-G. (2019). Frechet analysis of variance for random objects. *Biometrika* 106, 803-821.
#' \doi{10.1093/biomet/asz052}
#'
#' Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. *Journal of the American
#' Statistical Association* 58, 13-30. \doi{10.1080/01621459.1963.10500830}
#' @seealso [dp_mean()], whose argument `variance` releases a mean and the mean squared distance from it together
#' @examples
#' x <- wishart_spd[, , 1:400]
#' v <- dp_variance(x, spd(2), epsilon = 0.5, center = diag(2), radius = 1.5)
#' v
#' confint(v)
#' # around a mean that was released anyway
#' m <- dp_mean(x, spd(2), epsilon = 0.5, center = diag(2), radius = 1.5)
#' dp_variance(x, spd(2), epsilon = 0.5, center = diag(2), radius = 1.5, at = m)
#' @export
dp_variance <- function(x, M = manifold_of(x), epsilon, center, radius, ..., at = NULL,
                        invalid = c("error", "center"), unit = NULL, neighbours = c("replace", "add_remove"),
                        source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius)))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  records <- records_or_units(M, x, unit, replace)
  ask <- variance_question(M, if (replace) records$n else NA_real_, epsilon, center, radius, at, is_chunks(records$x))
  given <- list(center = center, radius = radius)
  if (!is.null(at)) given$at <- at
  ask$source <- stated_source(source, given)
  ask$invalid <- invalid
  ask$unit <- unit_name(records$units)
  uncounted(release_private(variance_estimator, ask, records, ledger, data_set, part))
}

# public numbers, checked
variance_question <- function(M, n, epsilon, center, radius, at, chunked) {
  center <- public_point(M, center)
  ask <- list(manifold = M, n = n, epsilon = check_number(epsilon, "epsilon", positive = TRUE), center = center,
              ball = check_radius(M, public_value(radius, "radius"), center))
  if (is.null(at) && (is.na(n) || chunked)) {
    abort_riemdp("unsupported", paste(if (is.na(n)) "with a private number of records" else "over chunks", "a mean",
                                      "squared distance is from a public point: give `at`, a released mean say."))
  }
  ask$size <- if (is.na(n)) {
    ratio <- geometric_ratio(SIZE_SHARE * ask$epsilon)
    list(epsilon = SIZE_SHARE * ask$epsilon, ratio = ratio, scale = ratio[1] / ratio[2])
  }
  ask <- variance_ask(M, ask, if (is.na(n)) outwards_down((1 - SIZE_SHARE) * ask$epsilon) else ask$epsilon)
  if (is.null(at)) return(ask)
  ask$at <- public_point(M, at, "at")
  ask$from <- variance_at(M, ask, ask$at)
  ask
}

# what of epsilon a private number of records costs
SIZE_SHARE <- 0.2

# What one record moves the sum by, in whole numbers. Without `at` with what rounding of squares and the computed mean's
# place may hide, in all records (proofs/inference.md, section 3).
variance_bounds <- function(ask) {
  one <- 2^ask$squares$bits
  if (!is.null(ask$at)) {
    return(list(sensitivity = variance_most(ask, ask$from), extra = 0, theorem = "proofs/inference.md, section 1"))
  }
  steps <- ask$squares$steps
  r <- ask$ball$radius
  slip <- steps$gradient / r # of a length, over the radius
  hidden <- 2 * slip + slip^2 # of a square, over that of the diameter
  steep <- coth_factor(2 * r * sqrt(max(0, -ask$ball$k_min)))
  off <- steep * (steps$distance / (2 * r))^2
  list(sensitivity = one, extra = outwards(ask$n * (1 + one * (2 * hidden + off))),
       theorem = "proofs/inference.md, section 3")
}

variance_estimator <- list(
  entry = function(plan, ask) entry_words("dp_variance", "geometric", ask$unit),
  parts = c(sensitivity = "number", extra = "number", theorem = "text"),
  plan = function(ask) {
    bounds <- variance_bounds(ask)
    check_rounding(bounds$extra, bounds$sensitivity)
    private <- is.na(ask$n)
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"),
                    c(sprintf("center, radius%s are public; the number of records is %s",
                              if (is.null(ask$at)) "" else " and at", if (private) "private" else "public"),
                      steps_assumptions(ask$manifold, ask$squares$steps)), trusted = ask$manifold,
                    adjacency = if (private) "add-remove" else "replace-one", numerics = "lattice")
    c(bounds, list(guarantee = of_units(g, ask$unit)))
  },
  ready = function(records, plan, ask) sized_mean_estimator$ready(records, plan, ask),
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    x <- records$x
    size <- if (is.na(ask$n)) {
      list(count = noisy_count(records$n, ask$size$ratio, "mean-sensitivity.md, 14"), epsilon = ask$size$epsilon,
           scale = ask$size$scale, form = "counted")
    }
    a <- ask$from
    if (is.null(a)) {
      a <- as.vector(.Call(riemdp_steps_mean_nonprivate, M, x, ask$center, ask$squares$steps$numbers, NULL))
    }
    most <- if (is.null(ask$at)) plan$sensitivity else variance_most(ask, a)
    sum <- squares_sum(M, x, ask, a, c(ask$squares$bits, most), if (is.na(ask$n)) records$n else ask$n)
    noisy <- noisy_squares(sum, most + plan$extra, ask$squares$epsilon,
                           if (is.null(ask$at)) "inference.md, 3" else "inference.md, 1")
    list(squares = squares_told(ask, noisy, most), size = size)
  },
  answer = function(out, plan, ask, budget) {
    s <- out$squares
    n <- if (is.na(ask$n)) max(1, out$size$count) else ask$n
    new_release(
      squares_value(s, n), "riemdp_variance",
      manifold = ask$manifold, mechanism = "geometric", n = ask$n, center = ask$center, radius = ask$ball$radius,
      at = ask$at, squares = s, size = out$size, unit = ask$unit, sensitivity = plan$sensitivity * s$unit / n,
      solver_error = plan$extra * s$unit / n, theorem = plan$theorem,
      expected_error = s$scale / n, target = variance_target(ask), budget = budget, guarantee = plan$guarantee
    )
  }
)

variance_target <- function(ask) {
  paste0(if (is.null(ask$at)) "the Frechet variance" else "the mean squared distance from a public point", " of the ",
         if (is.null(ask$unit)) "records" else "units' means", " moved to the public ball")
}
