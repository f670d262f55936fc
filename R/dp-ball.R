#' Private ball for later releases
#'
#' Releases a ball that holds most of the records, for whoever knows no better public ball than a wide one. It is a
#' release with a price of its own; from then on centre and radius are public, and [dp_mean()] and other functions take
#' it as both: `center = ball, radius = ball`.
#'
#' Three stages share `epsilon`. A place: a ball that holds most records, or the answer that there is none, by the
#' exponential mechanism over places and radii at once, the first stage of mechanism `"adaptive"` of [dp_mean()]. Where
#' it finds none the wide ball stays, and half of its share is left to the others; where `n * epsilon` is too small for
#' it, and for records in chunks without `unit`, it is left out. Then a rough centre: the Frechet mean of the records
#' moved to the ball found, by mechanism `"wrapped"`, or `"laplace"` where the space is flat or there is no lattice.
#' Then a radius from a grid by the exponential mechanism, which aims at `margin` times the one that holds `fraction` of
#' the records around that centre; replacing a record changes such a count by at most one. All are functions of any
#' records: what is no point counts as the centre, and nothing fails. All stages draw by integer arithmetic, see
#' "Lattice mode" in [dp_mean()]; only where the centre has no lattice the label says "real-number model". Proof:
#' section 12 of the file `proofs/mean-sensitivity.md` of the installed package.
#'
#' With `neighbours = "add_remove"` the number of records is private: a noisy one is released first, for a part of
#' `epsilon`, and the stages, which divide the rest, follow from it. The first stage costs half there, and all of its
#' share where it finds none. Records must be in memory. Proof: sections 12 and 14 of that file.
#'
#' The ball is no claim that the records lie in it: a later release moves those outside to its edge, as always. With few
#' records or a small `epsilon` centre and radius say little, and their price is lost. From simulations of normal
#' records, `epsilon` for the ball and as much for the mean, over the error of one mean with both and no ball: in a
#' public ball twenty times too wide .7, .15, .09, .1 times in two dimensions at `n * epsilon` = 50, 100, 300, 1,000,
#' and 1.7, .27, .15, .10 in five; in one a thousand times too wide .7, .02, .002, .002 and 1.4, .24, .003, .002 times.
#' Without the place (`shares = c(0.6, 0.4)`, and for chunks) the latter are 2.1, 1.8, 1.4, .4 and 2.7, 2.5, 2.0, .5.
#' With a private number of records it is much the same, but 1.1 where the first figure is .7. Where the public ball was
#' tight to begin with there is nothing to gain: 1.5 to 2.1 times from 300 on, up to 3.9 at 100 and less. Standard
#' errors are up to a fifth of these figures.
#'
#' @param x,M,invalid,unit,neighbours,source,ledger,data_set,part as in [dp_mean()].
#' @param epsilon privacy budget of the ball, positive.
#' @param center,radius the wide ball, public as in [dp_mean()].
#' @param ... nothing; later arguments must be named. Methods don't use them.
#' @param shares which parts of `epsilon` place, centre and radius have: three numbers that add up to 1, the first may
#'   be 0; or two, without the place. By default from n, `epsilon` and the wide ball, which are public; without the
#'   place in more than 20 dimensions, where its trials may take ten seconds and more. With a private number of records
#'   of what that has left.
#' @param fraction the share of records that the radius aims at, between 0 and 1; by default from .9 for many records
#'   down to .5 for few, from n and the radius' part of epsilon, which are public.
#' @param margin a number of at least 1 by which the radius exceeds the one that aims at that share; by default what is
#'   \eqn{\sqrt 2} at .9 on the tails of normal records in a plane.
#' @param radii the grid: positive numbers of at most `radius`, public; by default 13 or 25 from twice the
#'   radius that the first stage found down, or from `radius` down by factors of the square root of 2.
#' @return An object of class `riemdp_ball` and [riemdp_release]: `value`, a list of `center` (in the shape of a single
#'   record) and `radius`; `within`, the wide ball, a list of the same; `found`, the ball of the first stage, a list of
#'   the same, the wide one where it found none or was left out; `manifold`, `n`, `mechanism`, `scale`, `sensitivity`,
#'   `theorem` and `solver_error` (of the centre), `fraction`, `margin`, `shares` (as they were spent), `source`,
#'   `guarantee`, `budget` and `draws`; `size`, for a private number of records: a list of the released `count`, the
#'   `scale` of its noise, its part of `epsilon`, and what the centre does with it. `coef()` is the value, `confint()` a
#'   matrix of one row, the ends of the interval.
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
dp_ball <- function(x, M = manifold_of(x), epsilon, center, radius, ..., shares = NULL, fraction = NULL,
                    margin = NULL, radii = NULL, invalid = c("error", "center"), unit = NULL,
                    neighbours = c("replace", "add_remove"), source = NULL, ledger = NULL, data_set = "default",
                    part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius)))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  records <- records_or_units(M, x, unit, replace)
  x <- records$x
  ask <- mean_ask(M, if (replace) records$n else NA_real_, epsilon, center, radius, 0, "adaptive", NULL, "proven",
                  "ordinary", "auto", 1e6, list())
  ask <- ball_ask(M, ask, shares, fraction, margin, radii)
  ask$source <- stated_source(source, list(center = center, radius = radius))
  ask$invalid <- invalid
  ask$chunked <- is_chunks(x) && (!replace || is.null(records$units)) # units' points are in memory
  ask$sites <- at_sites(x)
  if (ask$sites) {
    abort_riemdp("unsupported", "a ball needs counts of records: sites answer with sums, and with no counts.")
  }
  if (is_chunks(x)) ask$assumptions <- chunk_assumptions(x)
  ask$unit <- unit_name(records$units)
  if (replace) return(release_private(ball_estimator, ask, records, ledger, data_set, part))
  uncounted(release_private(sized_ball_estimator, size_ask(M, ask), records, ledger, data_set, part))
}

# public numbers of a ball, checked; what follows from n is planned by ball_stages()
ball_ask <- function(M, ask, shares, fraction, margin, radii) {
  if (of_user(M)) abort_riemdp("unsupported", "dp_ball() isn't offered on a user's manifold.")
  ask$manifold <- M
  ask$given <- list(
    shares = if (!is.null(shares)) ball_shares(shares),
    fraction = if (!is.null(fraction)) check_number(fraction, "fraction", least = 0, most = 1),
    margin = if (!is.null(margin)) check_number(margin, "margin", least = 1),
    radii = if (!is.null(radii)) rev(check_radii(radii, ask$ball$radius, ", none above `radius`, the wide ball's own"))
  )
  ask
}

# three shares, or two without the first
ball_shares <- function(shares) {
  shares <- as_shares(shares, paste("positive numbers that add up to 1: for the place (which may be 0), the centre,",
                                    "and the radius, or without the first"),
                      length(shares) %in% 2:3 && isTRUE(all(shares[length(shares) - 1:0] > 0)))
  stats::setNames(c(if (length(shares) == 2) 0, shares), BALL_STAGES)
}

BALL_STAGES <- c("place", "center", "radius")

# Found by simulation, as radius_fraction() was: lines, planes, R^5, the sphere and 2 x 2 matrices, public balls up to
# a thousand times too wide, n epsilon from 50 to 1,000. BALL_PLACE is the largest rate of the first stage, as a part of
# epsilon; what it leaves is divided between centre and radius.
BALL_PLACE <- 0.3
BALL_CENTER <- 0.6
BALL_DEEP <- 40 # times that the radius' part of epsilon weighs n, from where small radii may be looked at

# The stages from public numbers and, where it is private, the released number of records: what adaptive_place() looks
# through, the shares, and the radius' fraction and margin.
ball_stages <- function(M, ask) {
  ways <- adaptive_ways(ask)
  given <- ask$given
  shares <- given$shares
  how <- if (is.null(shares) && !places_unasked(M, ask)) list(levels = 0) else
    place_reach(M, ask, if (is.null(shares)) BALL_PLACE else shares[["place"]] / ways)
  if (is.null(shares)) {
    first <- if (how$levels < 1) 0 else ways * how$part
    shares <- ball_shares(c(first, (1 - first) * c(BALL_CENTER, 1 - BALL_CENTER)))
  }
  plan <- if (shares[["place"]] > 0) place_weights(how, shares[["place"]] / ways, ask)
  fraction <- given$fraction %||% radius_fraction(ask$n, shares[["radius"]] * ask$epsilon)
  c(plan, list(shares = shares, fraction = fraction, margin = given$margin %||% ball_margin(fraction)))
}

# so that normal records of a plane are as far from the edge at every fraction as with sqrt(2) at .9
ball_margin <- function(fraction) {
  max(1, sqrt(2 * log(0.1) / log1p(-min(max(fraction, 0.01), 0.99))))
}

# The radii with which a mean can be released around that centre (with the Bures-Wasserstein metric it depends on it);
# where there is none the wide ball serves, as the plan has shown, and the budget is spent by now.
ball_grid <- function(M, ask, center, radii) {
  served <- vapply(radii, function(r) stage_served(M, ask, 1, list(center = center, radius = r)), logical(1))
  if (any(served)) list(center = center, radii = radii[served]) else
    list(center = ask$center, radii = ask$ball$radius)
}

# From twice the radius that the first stage found, or from the public one down. That stage may find too wide a ball;
# but where little is left to tell radii apart, those far below are as likely as any that holds too many.
ball_radii <- function(found, weight) {
  if (found$wide) return(adaptive_grid(found$radius))
  2 * found$radius * 2^(-(0:(if (weight < BALL_DEEP) 12 else 24)) / 4)
}

# What the first stage leaves is divided between the others: half of its share more where it found none.
ball_rest <- function(shares, spent) {
  rest <- shares[c("center", "radius")]
  c(place = spent, rest / sum(rest) * (1 - spent) * (1 - 1e-15))
}

# the three stages, each given what those before released
ball_drawn <- function(M, x, ask, plan) {
  wide <- list(center = ask$center, radius = ask$ball$radius, wide = TRUE)
  found <- wide
  if (plan$shares[["place"]] > 0) {
    found <- place_drawn(M, x, plan, ask)
    plan$shares <- ball_rest(plan$shares, found$spent)
    if (!(found$radius < ask$ball$radius)) found <- wide
  }
  around <- adaptive_center(M, x, plan, ask, found)
  radii <- ask$given$radii %||% ball_radii(found, plan$shares[["radius"]] * ask$epsilon * ask$n)
  ball <- ball_grid(M, ask, around$center, radii[radii <= ask$ball$radius])
  radius <- drawn_radius(M, x, ball$center, ask, ball$radii, plan$margin, plan$fraction * ask$n,
                         plan$shares[["radius"]])
  list(value = list(center = ball$center, radius = radius), found = found[c("center", "radius")],
       stages = plan, rough = around$rough)
}

# on a lattice where that can be had with any share, else with doubles
ball_center <- function(M, ask, share) {
  ball <- list(center = ask$center, radius = ask$ball$radius)
  with <- function(numerics) {
    ask$numerics <- numerics
    if (numerics == "lattice") adaptive_stage(M, ask, 1, ball, first = TRUE)
    adaptive_stage(M, ask, share, ball)
  }
  if (ask$numerics == "real") with("real") else lattice_or_real(with)
}

ball_estimator <- list(
  entry = function(plan, ask) paste0("dp_ball", if (!is.null(ask$unit)) paste(", unit", ask$unit)),
  parts = MEAN_PARTS,
  plan = function(ask) {
    M <- ask$manifold
    stages <- ball_stages(M, ask)
    if (stages$shares[["place"]] > 0 && !adaptive_places(ask)) {
      abort_riemdp("unsupported", "the first of three stages needs the records in memory: give two `shares`.")
    }
    check_stage_rates(M, ask, stages$shares)
    # what the centre would be on the wide ball: shows that it can be served at all
    plan <- ball_center(M, ask, stages$shares[["center"]])
    g <- list(epsilon = ask$epsilon, delta = 0, reasons = unproven_mean(M, plan), sampler = "exact")
    assumptions <- c("center and radius are public; the number of records is public", steps_assumptions(M, plan),
                     "stages, each private given what those before released, their budgets added",
                     if (stages$shares[["place"]] > 0) EXP_ASSUMES, ask$assumptions)
    plan$guarantee <- of_units(promise_of(g, assumptions, trusted = M, numerics = plan$guarantee$numerics), ask$unit)
    plan$stages <- stages
    plan
  },
  ready = function(records, plan, ask) mean_estimator$ready(records, plan, ask)$x,
  draw = function(records, plan, ask, budget) {
    ask$numerics <- plan$numerics
    ball_drawn(ask$manifold, records, ask, plan$stages)
  },
  answer = function(out, plan, ask, budget) {
    rough <- out$rough
    out$value$center <- center_form(out$value$center, ask$center)
    out$found$center <- center_form(out$found$center, ask$center)
    new_release(
      out$value, "riemdp_ball",
      within = list(center = ask$center, radius = ask$ball$radius), found = out$found, manifold = ask$manifold,
      n = ask$n, unit = ask$unit, mechanism = rough$mechanism, sensitivity = rough$sensitivity, theorem = rough$theorem,
      solver_error = rough$solver_error, scale = rough$scale, shares = out$stages$shares,
      fraction = out$stages$fraction, margin = out$stages$margin, size = out$size, budget = budget,
      guarantee = plan$guarantee
    )
  }
)

# Shapes may be given as complex or as real numbers: what is released has the form of the public centre, whatever form
# the records have, as with none there is no form.
center_form <- function(x, center) {
  if (is.complex(x) == is.complex(center)) return(x)
  center[] <- if (is.complex(x)) c(Re(x), Im(x)) else complex(real = x[, 1], imaginary = x[, 2])
  center
}

# the number of records is private: its noisy value is released first, and all stages follow from it
sized_ball_estimator <- utils::modifyList(ball_estimator, list(
  plan = function(ask) {
    # at the smallest number: what can't be served at all is refused before anything is spent
    plan <- ball_estimator$plan(ask_at_size(ask, 1))
    plan$guarantee <- with_size(plan$guarantee, ask)
    plan$guarantee$assumptions <- sub("the mean with the rest", "the ball with the rest", plan$guarantee$assumptions,
                                      fixed = TRUE)
    plan
  },
  ready = function(records, plan, ask) sized_mean_estimator$ready(records, plan, ask),
  event = function(plan, ask) if (plan$guarantee$label != "none") size_event(ask),
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    ask$numerics <- plan$numerics
    ask <- ask_at_size(ask, noisy_count(records$n, ask$size$ratio, "mean-sensitivity.md, 14"))
    out <- ball_drawn(M, list(x = if (records$n > 0) records$x, n = records$n), ask, ball_stages(M, ask))
    at <- out$rough$ask
    c(out, list(size = list(count = at$size$count, points = at$n, form = at$size$form, shift = at$size$shift,
                            reach = at$size$reach, epsilon = at$size$epsilon, scale = at$size$scale)))
  }
))
