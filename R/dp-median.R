# Private geometric medians by the K-norm gradient mechanism: a record's part of the gradient is no longer than 1,
# however wide the ball. Proofs: inst/proofs/median.md.

#' Private geometric median
#'
#' Releases a differentially private point near the geometric median of records in a public ball: the point with the
#' smallest mean distance to them. The ball may be far too wide, and some records may be anything: what one record can
#' do doesn't depend on the radius.
#'
#' The gradient of the mean distance at p is \eqn{-\frac1n\sum_i u_i}, \eqn{u_i=\log_px_i/|\log_px_i|}: unit vectors. A
#' replaced record moves their sum by 2 at most. The released point is one of a fine lattice of normal coordinates at
#' the public centre, with probability proportional to
#' \deqn{\exp\Bigl(-\Bigl|\sum_iu_i\Bigr|/s\Bigr),\quad s = 4/\epsilon,}
#' (K-norm gradient mechanism, Reimherr and Awan 2019; `smooth` and a private number of records below). The factor 4 is
#' twice that 2, as the normalising constant depends on the records. The radius appears only in how much room there is
#' for the release to go astray: far from all records the probability is \eqn{\exp(-n\epsilon/4)} times that at the
#' median. So a ball ten times as wide needs about \eqn{4d\log(10)/\epsilon} more records (d the dimension), and no
#' more noise. The lattice's step is between \eqn{2^{-52}} and \eqn{2^{-51}} times the radius.
#'
#' Records outside the ball are moved to its nearest point, one by one and silently. For a record at p itself the
#' vector is 0. Every manifold of the package is served, in at most 20 dimensions; users' own are refused. Where
#' curvature is positive the ball's radius is bounded as in [dp_mean()]. The draw is exact, by rejection and in
#' integers: the guarantee is about what the machine does. Proof: the file `proofs/median.md` of the installed package.
#'
#' @section Ties, and `smooth`:
#' Where most records are one and the same point, the gradient's length hardly depends on p, and the law knows little of
#' where that point is: with all records at one point and no smoothing it is **even over the ball**. `smooth = 0`
#' stands for a small length, 64 n/s steps of the lattice or 16 n/s times what doubles make of logarithms (`smoothed` in
#' the release; of a private n, \eqn{2^{20}}). Rounded or repeated records are no good data for it. With a public
#' length `smooth` = a > 0 distances count as
#' \eqn{\sqrt{d^2+a^2}}: the vectors are \eqn{\log_px_i/\sqrt{d^2+a^2}}, and what is sought minimises the mean of these
#' (Huber's idea: the mean for records near it, the median for those farther than a). Choose a well below the spread
#' that records may have, and above the step to which they are rounded. Nothing else changes.
#'
#' @section What to expect:
#' Median errors over data sets, in standard deviations of the records along an axis; epsilon = 1, normal records.
#' `dp_median()` in balls of four standard deviations, and 100 and 1,000 times as wide (their centres half-way to the
#' edge), and in the second one with 5 % of the records forty standard deviations away; `dp_mean()` in the ball of four
#' standard deviations around the truth, without and with such records, and by `"adaptive"` in the second ball:
#'
#' | space | n | x 1 | x 100 | x 1,000 | outliers | mean | outliers | adaptive |
#' |---|---|---|---|---|---|---|---|---|
#' | plane | 100 | .11 | .11 | .11 | .11 | .15 | .23 | 1.3 |
#' | | 500 | .021 | .020 | .020 | .022 | .027 | .20 | .034 |
#' | | 2,000 | .0048 | .0053 | .0053 | .0056 | .0053 | .20 | .0074 |
#' | H^2 | 100 | .11 | .11 | missed | .11 | .15 | .23 | 1.4 |
#' | | 500 | .021 | .020 | .020 | .022 | .027 | .20 | .035 |
#' | | 2,000 | .0048 | .0053 | .0053 | .0056 | .0053 | .20 | .0084 |
#' | SPD(2) | 100 | .19 | .23 | | .26 | .22 | .30 | 4.1 |
#' | | 500 | .040 | .040 | | .041 | .041 | .20 | .058 |
#' | | 2,000 | .0098 | .0088 | | .0092 | .0098 | .20 | .012 |
#' | SPD(3) | 100 | .63 | missed | | missed | .26 | .27 | 18 |
#' | | 500 | .11 | .11 | | .12 | .091 | .22 | .19 |
#' | | 2,000 | .031 | .025 | | .026 | .023 | .20 | .033 |
#'
#' A release that is missed lies anywhere in the ball (a hyperbolic ball of radius 10 is large). `bench/median.R` makes
#' the table.
#'
#' `expected_error` is `NA`: it depends on the records' spread. `finest` says from public numbers for which spread
#' there is an error to speak of at all: normal records with a standard deviation below it are about as likely to be
#' missed as found. There is no region but the ball.
#'
#' @section Time:
#' How long a call takes depends on the records, and is not protected: who sees it learns something that the guarantee
#' doesn't cover. A trial that comes near looks at all records. With a hundred normal records one trial in ten succeeds
#' in the plane and one in fifty in six dimensions, with a thousand one in two and one in four; on one line of four
#' dimensions one in 5,000, near the edge of a hyperbolic ball of radius 10 one in 1,500. No public number bounds how
#' many trials the worst records take, and the call goes on until one succeeds, after its price was taken. Records near
#' one line in many dimensions may take very long, and so may two distant groups of like size or numbers of which most
#' are 0, from four dimensions and some hundred records on. Outlines vary more in some directions than in others: of the
#' package's callosa with 6 landmarks (8 dimensions) at \eqn{\epsilon = 4} a call took up to .7 s, with 8 landmarks (12
#' dimensions) 8 s for 200 of them, and for 100 it had not ended after half a minute. Equal records, and records far
#' closer together than the radius, take some ten trials in few dimensions, at any \eqn{\epsilon}, and some thousand
#' in twenty. Try records like yours, made by hand, first.
#'
#' @section A private number of records:
#' With `neighbours = "add_remove"` a record that is there or isn't moves the sum by 1 at most: \eqn{s = 2/\epsilon}.
#' No number is in the law, and none is released. Any number up to \eqn{2^{31}} is served; with none the release is even
#' over the ball in normal coordinates at its centre.
#'
#' @inheritParams dp_mean
#' @param epsilon privacy budget, positive.
#' @param center,radius the public ball, as in [dp_mean()]; the radius up to 300 for matrices with a flat metric, 15 on
#'   hyperbolic space, else as far as there are bounds of what doubles make of the geometry.
#' @param smooth a public length, 0 or more, in the units of the metric; see "Ties".
#' @param unit as in [dp_mean()]: each unit counts once, by the Frechet mean of its own rows moved to the ball.
#' @return An object of class `riemdp_median` and [riemdp_release]: `value` (the released point, in the shape of a
#'   single record), `manifold`, `mechanism` (`"kng"`), `n` (`NA` where it is private), `center`, `radius`, `smooth`,
#'   `smoothed` (the length that distances were smoothed by), `sensitivity` and `solver_error` (of the sum of vectors),
#'   `theorem`, `scale` (s), `expected_error` (`NA`),
#'   `finest` (see above; `NA` where the number of records is private), `target`, `unit`, `source`, `guarantee`,
#'   `budget`, `draws`. `confint()` gives what the ball says, as for means ([confint.riemdp_mean()]). Errors:
#'   `riemdp_error_unsupported` for spaces and balls that are not served, records in chunks, or an `epsilon` so large
#'   that doubles don't hold the noise; `riemdp_error_argument` and `riemdp_error_shape` as for [dp_mean()].
#' @references
#' Reimherr, M. and Awan, J. (2019). KNG: the K-norm gradient mechanism. *Advances in Neural Information Processing
#' Systems* 32.
#'
#' Fletcher, P. T., Venkatasubramanian, S. and Joshi, S. (2009). The geometric median on Riemannian manifolds with
#' application to robust atlas estimation. *NeuroImage* 45, S143-S152. \doi{10.1016/j.neuroimage.2008.10.052}
#'
#' Huber, P. J. (1964). Robust estimation of a location parameter. *Annals of Mathematical Statistics* 35, 73-101.
#' \doi{10.1214/aoms/1177703732}
#' @seealso [frechet_median()] without privacy, [dp_mean()], [dp_ball()]
#' @examples
#' # epicentres near Fiji, in degrees; all that is said of them is that they lie on a map
#' x <- cbind(quakes$long, quakes$lat)
#' r <- dp_median(x, euclidean(2), epsilon = 1, center = c(180, 0), radius = 90, source = "a map",
#'                smooth = 1)
#' r
#' frechet_median(x, euclidean(2))$mean # not private
#' dp_median(wishart_spd, spd(2), epsilon = 1, center = diag(2), radius = 4)
#' @export
dp_median <- function(x, M = manifold_of(x), epsilon, center, radius, ..., smooth = 0, invalid = c("error", "center"),
                      unit = NULL, neighbours = c("replace", "add_remove"), source = NULL, ledger = NULL,
                      data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius)))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  if (is_chunks(x)) abort_riemdp("unsupported", "a private median needs the records in memory: gather them first.")
  records <- records_or_units(M, x, unit, replace)
  ask <- median_ask(M, if (replace) records$n else NA_real_, epsilon, center, radius, smooth)
  ask$source <- stated_source(source, list(center = center, radius = radius))
  ask$invalid <- invalid
  ask$unit <- unit_name(records$units)
  uncounted(release_private(median_estimator, ask, records, ledger, data_set, part))
}

# public numbers, checked
median_ask <- function(M, n, epsilon, center, radius, smooth) {
  center <- public_point(M, center)
  ask <- list(manifold = M, n = n, epsilon = check_number(epsilon, "epsilon", positive = TRUE), center = center,
              ball = check_radius(M, public_value(radius, "radius"), center),
              smooth = check_number(smooth, "smooth", least = 0, most = 2^100))
  ask$steps <- median_steps(M, ask$ball)
  if (!is.null(ask$steps$why)) abort_riemdp("unsupported", paste0(ask$steps$why, "."))
  ask
}

# The numbers of vectors seen from a point, with a bound of their rounding errors; or a sentence of public facts on why
# there is no median.
median_steps <- function(M, ball) {
  steps <- mean_steps(M, ball, 1)
  why <- lattice_law_why(M, ball, MEDIAN_DIMENSIONS)
  if (!is.null(why)) steps$why <- paste("a private median", why)
  steps
}

# Distances are smoothed at least by so much that rounding moves n vectors by a share of the scale together, and that
# the law is wider than the lattice's steps, however near to each other records lie (proofs/median.md, sections 3 and
# 4); of a private number, as if there were 2^20.
median_smooth <- function(ask, scale) {
  finest <- max(64 * lattice_law_step(ask$ball), 16 * ask$steps$gradient)
  max(ask$smooth, outwards(finest * (if (is.na(ask$n)) 2^20 else ask$n) / scale))
}

# What a record moves the sum of vectors by, with what rounding of its length adds for up to n records: vectors are
# added exactly (proofs/median.md, sections 1 and 2).
median_bounds <- function(ask) {
  moved <- if (is.na(ask$n)) 1 else 2
  most <- if (is.na(ask$n)) SIZE_MOST else ask$n
  extra <- outwards(2 * most * UNIT_ROUNDOFF * (mf_facts(ask$manifold)$ambient / 2 + 8))
  check_rounding(extra, moved)
  list(sensitivity = moved, solver_error = extra, total = moved + extra,
       theorem = if (moved == 1) "length of a vector, proofs/median.md, section 2" else
         "twice the length of a vector, proofs/median.md, section 1")
}

# The standard deviation along an axis at which normal records around the median and the rest of the ball weigh the
# same: the law near the median is exp(-h rho/(tau sigma)) with the mean curvature h of their distances, far out
# exp(-1/sigma); smoothing widens them.
median_finest <- function(ask, scale) {
  facts <- mf_facts(ask$manifold)
  d <- facts$dimension
  n <- ask$n
  if (is.na(n)) return(NA_real_)
  h <- if (d == 1) 2 * stats::dnorm(0) else exp(lgamma((d - 1) / 2) - lgamma(d / 2)) / sqrt(2) * (1 - 1 / d)
  least <- exp(log(h * n / scale) + (d * log(ask$ball$radius) - log(d) - n / scale - lgamma(d)) / d)
  sqrt(max(0, least - ask$smooth)) * sqrt(least + ask$smooth)
}

median_estimator <- list(
  entry = function(plan, ask) entry_words("dp_median", "kng", ask$unit),
  parts = c(scale = "scale", smoothed = "number", sensitivity = "number", theorem = "text", solver_error = "number",
            finest = "number"),
  plan = function(ask) {
    bounds <- median_bounds(ask)
    if (ask$epsilon < 2^-30) abort_riemdp("argument", "an `epsilon` below 2^-30 is too small for what doubles weigh.")
    scale <- outwards(2 * bounds$total / (ask$epsilon - LATTICE_WEIGHTS))
    most <- if (is.na(ask$n)) SIZE_MOST else ask$n
    # of a public number also what the levels are lowered by, which trials pay for
    if (!(scale / most >= if (is.na(ask$n)) 1e-11 else 1e-9 * sqrt(mf_facts(ask$manifold)$dimension))) {
      abort_riemdp("unsupported", "the scale would be smaller than doubles hold here. A smaller epsilon would do.")
    }
    private <- is.na(ask$n)
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"),
                    c(sprintf("center, radius and smooth are public; the number of records is %s",
                              if (private) "private" else "public"),
                      steps_assumptions(ask$manifold, ask$steps), EXP_ASSUMES, LATTICE_ASSUMES), trusted = ask$manifold,
                    adjacency = if (private) "add-remove" else "replace-one", numerics = "lattice")
    c(bounds, list(scale = scale, smoothed = median_smooth(ask, scale), finest = median_finest(ask, scale),
                   guarantee = of_units(g, ask$unit)))
  },
  ready = function(records, plan, ask) sized_mean_estimator$ready(records, plan, ask),
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    total <- plan$total + plan$scale * LATTICE_WEIGHTS / 2
    price <- price_normalised(total, plan$scale, if (is.na(ask$n)) "median.md, 2" else "median.md, 1")
    none <- records$n == 0
    .Call(riemdp_release_median, M, if (none) ask$center else records$x, ask$center,
          c(ask$steps$numbers, list(gradient = ask$steps$gradient)), plan$smoothed,
          if (none) Inf else plan$scale, pay(price))
  },
  answer = function(out, plan, ask, budget) {
    new_release(
      out, "riemdp_median",
      manifold = ask$manifold, mechanism = "kng", n = ask$n, center = ask$center, radius = ask$ball$radius,
      smooth = ask$smooth, smoothed = plan$smoothed, unit = ask$unit, sensitivity = plan$sensitivity,
      theorem = plan$theorem,
      solver_error = plan$solver_error, scale = plan$scale, expected_error = NA_real_, finest = plan$finest,
      target = paste("the geometric median of the", if (is.null(ask$unit)) "records" else "units' means",
                     "moved to the public ball"),
      budget = budget, guarantee = plan$guarantee
    )
  }
)
