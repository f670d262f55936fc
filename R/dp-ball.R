#' Private ball for later releases
#'
#' Releases a ball that holds most of the records, for whoever knows no better public ball than a wide one. It is a
#' release with a price of its own; from then on centre and radius are public, and [dp_mean()] and other functions take
#' it as both: `center = ball, radius = ball`.
#'
#' Two releases share `epsilon`. A rough centre: the Frechet mean of the records moved to the wide public ball, by
#' mechanism `"laplace"` of [dp_mean()], or `"wrapped"` where that can't be served. Then a radius from a public grid by
#' the exponential mechanism, which aims at `margin` times the one that holds `fraction` of the records around that
#' centre; replacing a record changes such a count by at most one. Both are functions of any records: what is no point
#' counts as the centre, and nothing fails. Proof: section 12 of the file `proofs/mean-sensitivity.md` of the installed
#' package.
#'
#' The ball is no claim that the records lie in it: a later release moves those outside to its edge, as always. With few
#' records or a small `epsilon` centre and radius say little, and their price is lost. From simulations of normal
#' records, `epsilon` for the ball and as much for the mean, over the error of one mean with both and no ball: in a
#' public ball twenty times too wide 1.4, .6, .16, .10 times in two dimensions at `n * epsilon` = 50, 100, 300, 1,000,
#' and 2.5, 1.7, .33, .15 times in five. In one a thousand times too wide 1.9, 1.6, 1.3, .32 times in two dimensions,
#' 2.6, 2.3, 2.1, .47 times in five: there mechanism `"adaptive"` of [dp_mean()], which looks for places and radii at
#' once, finds a small ball with far fewer records.
#'
#' @param x,M,invalid,unit,source,ledger,data_set,part as in [dp_mean()].
#' @param epsilon privacy budget of the ball, positive.
#' @param center,radius the wide ball, public as in [dp_mean()].
#' @param ... nothing; later arguments must be named.
#' @param shares two positive numbers that add up to 1: which parts of `epsilon` centre and radius have.
#' @param fraction the share of records that the radius aims at, between 0 and 1; by default from .9 for many records
#'   down to .5 for few, from n and the radius' part of epsilon, which are public.
#' @param margin a number of at least 1 by which the radius exceeds the one that aims at that share; by default what is
#'   \eqn{\sqrt 2} at .9 on the tails of normal records in a plane.
#' @param radii the public grid: positive numbers of at most `radius`; by default 25 from `radius` down by factors of
#'   the square root of 2.
#' @return An object of class `riemdp_ball` and [riemdp_release]: `value`, a list of `center` (in the shape of a single
#'   record) and `radius`; `within`, the wide ball, a list of the same; `manifold`, `n`, `mechanism`, `scale`,
#'   `sensitivity`, `theorem` and `solver_error` (of the centre), `fraction`, `margin`, `shares`, `source`, `guarantee`,
#'   `budget` and `draws`. `coef()` is the value.
#' @references
#' McSherry, F. and Talwar, K. (2007). Mechanism design via differential privacy. *Foundations of Computer Science*,
#' 94-103. \doi{10.1109/FOCS.2007.66}
#' @seealso [dp_mean()], whose mechanism `"adaptive"` makes a ball and a mean in one call
#' @examples
#' # all that is known of the matrices: eigenvalues between 1/20 and 20
#' ball <- dp_ball(wishart_spd, spd(2), epsilon = 0.5, center = diag(2), radius = 4,
#'                 source = "units of measurement")
#' ball
#' dp_mean(wishart_spd, spd(2), epsilon = 0.5, center = ball, radius = ball)
#' @export
dp_ball <- function(x, M = manifold_of(x), epsilon, center, radius, ..., shares = c(center = 0.6, radius = 0.4),
                    fraction = NULL, margin = NULL, radii = NULL, invalid = c("error", "center"), unit = NULL,
                    source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_manifold(M)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius)))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  given <- with_units(unit, x, "x")
  x <- given$x
  units <- given$units
  if (!is_chunks(x)) x <- plain_numbers(x)
  n <- record_count(M, x)
  if (!is.null(units)) check_mean_units(units, n, "ordinary")
  ask <- mean_ask(M, units$count %||% n, epsilon, center, radius, 0, "auto", NULL, "proven",
                  "ordinary", "real", 1e6, list())
  ask <- ball_ask(M, ask, shares, fraction, margin, radii)
  ask$source <- stated_source(source, list(center = center, radius = radius))
  ask$invalid <- invalid
  ask$chunked <- is_chunks(x)
  ask$sites <- at_sites(x)
  if (ask$sites) {
    abort_riemdp("unsupported", "a ball needs counts of records: sites answer with sums, and with no counts.")
  }
  if (is_chunks(x)) ask$assumptions <- chunk_assumptions(x)
  ask$unit <- unit_name(units)
  release_private(ball_estimator, ask, list(x = x, units = units), ledger, data_set, part)
}

# public numbers of a ball, checked
ball_ask <- function(M, ask, shares, fraction, margin, radii) {
  if (inherits(M, "riemdp_custom")) abort_riemdp("unsupported", "dp_ball() isn't offered on a user's manifold.")
  ask$manifold <- M
  ask$split <- ball_shares(shares)
  ask$fraction <- if (is.null(fraction)) radius_fraction(ask$n, ask$split[["radius"]] * ask$epsilon) else
    check_number(fraction, "fraction", least = 0, most = 1)
  ask$margin <- if (is.null(margin)) ball_margin(ask$fraction) else check_number(margin, "margin", least = 1)
  ask$radii <- if (is.null(radii)) adaptive_grid(ask$ball$radius) else
    rev(check_radii(radii, ask$ball$radius, ", none above `radius`, the wide ball's own"))
  ask
}

ball_shares <- function(shares) {
  shares <- as_shares(shares, "two positive numbers that add up to 1: for the centre, and the radius",
                      length(shares) == 2 && isTRUE(all(shares > 0)))
  stats::setNames(shares, c("center", "radius"))
}

# The shares and radius_fraction() were found by simulation: planes, R^5 and the sphere, n from 100 to 3,000, epsilon
# .25 and 1, a public ball twenty times too wide. The margin: so that normal records of a plane are as far from the edge
# at every fraction as with sqrt(2) at .9.
ball_margin <- function(fraction) {
  max(1, sqrt(2 * log(0.1) / log1p(-min(max(fraction, 0.01), 0.99))))
}

# The radii with which a mean can be released around that centre (with the Bures-Wasserstein metric it depends on it);
# where there is none the wide ball serves, as the plan has shown, and the budget is spent by now.
ball_grid <- function(M, ask, center) {
  served <- vapply(ask$radii, function(r) stage_served(M, ask, 1, list(center = center, radius = r)), logical(1))
  if (any(served)) list(center = center, radii = ask$radii[served]) else
    list(center = ask$center, radii = ask$ball$radius)
}

ball_estimator <- list(
  entry = function(plan, ask) paste0("dp_ball", if (!is.null(ask$unit)) paste(", unit", ask$unit)),
  parts = MEAN_PARTS,
  plan = function(ask) {
    M <- ask$manifold
    plan <- adaptive_stage(M, ask, ask$split[["center"]], list(center = ask$center, radius = ask$ball$radius))
    g <- list(epsilon = ask$epsilon, delta = 0, reasons = unproven_mean(M, plan), sampler = "exact")
    assumptions <- c("center and radius are public; the number of records is public", steps_assumptions(M, plan),
                     "two stages, each private, their budgets added", ask$assumptions)
    plan$guarantee <- of_units(promise_of(g, assumptions, trusted = M), ask$unit)
    plan
  },
  ready = function(records, plan, ask) mean_estimator$ready(records, plan, ask)$x,
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    point <- adaptive_pick(M, records, plan)
    ball <- ball_grid(M, ask, clamp_to_ball(M, ask$center, ask$ball$radius, point))
    list(center = ball$center, radius = drawn_radius(M, records, ball$center, ask, ball$radii, ask$margin,
                                                     ask$fraction * ask$n, ask$split[["radius"]]))
  },
  answer = function(out, plan, ask, budget) {
    new_release(
      out, "riemdp_ball",
      within = list(center = ask$center, radius = ask$ball$radius), manifold = ask$manifold, n = ask$n,
      unit = ask$unit, mechanism = plan$mechanism, sensitivity = plan$sensitivity, theorem = plan$theorem,
      solver_error = plan$solver_error, scale = plan$scale, shares = ask$split, fraction = ask$fraction,
      margin = ask$margin, budget = budget, guarantee = plan$guarantee
    )
  }
)
