# Releases of single points, each by itself: local differential privacy and metric privacy. Proof: inst/proofs/local.md

#' Private points, each released by itself
#'
#' Moves each record at random and releases it: n records give n points. Nobody has to be trusted with the others'
#' records; a person can do it with the own point alone. There are two promises, and each release says which one it
#' makes:
#'
#' * **local differential privacy**, without `per`: for any two values of a record, in the public ball if there is one
#'   and else anywhere, the probabilities of every outcome differ by a factor of at most \eqn{e^\epsilon};
#' * **metric privacy** (geo-indistinguishability), with the public length `per` = L: for two values at distance d the
#'   factor is at most \eqn{e^{\epsilon d/L}}. Who knows a place up to L learns little; that a record is in one country
#'   and not in another may be learned. It is no differential privacy with \eqn{\epsilon}, and its outcome is a point
#'   within some multiple of \eqn{L/\epsilon}, however large the space is.
#'
#' A person with several records pays for each of them, and one who reports a place every hour pays every hour.
#'
#' @section Mechanisms:
#' * `"laplace"`: density proportional to \eqn{\exp(-d(x,y)/s)} around the record x, drawn exactly; on spheres that is
#'   Purkayastha's law. On a homogeneous space the normalising constant is the same everywhere, so \eqn{s = L/\epsilon}
#'   (without `per`, L is the largest distance of two values) and no factor 2. Needs neither ball nor centre.
#' * `"vmf"`, on spheres: the von Mises-Fisher law, density proportional to \eqn{\exp(\kappa\langle x,y\rangle)},
#'   \eqn{\kappa=\epsilon/L}. It keeps metric privacy in the chord \eqn{|x-x'|}, which is no longer than the distance:
#'   so it keeps it in the distance, too. Without `per`, L is the largest chord.
#' * `"privunit"`, on whole spheres without `per`: PrivUnit. With probability p uniform on the cap of points within an
#'   angle of x, else uniform on the rest; p and angle have the least variance for `epsilon` among all such caps, and
#'   among all unbiased mechanisms with vectors of one length (Asi, Feldman and Talwar 2022).
#' * `"wrapped"`, on every space, in a ball: the record's coordinates at the public centre plus a vector with density
#'   proportional to \eqn{\exp(-|z|/s)}. Coordinates of points in the ball are at most 2 radii apart, whatever the
#'   curvature; with `per` \eqn{s = FL/\epsilon}, F = \eqn{\rho/\sin\rho} where curvature is positive
#'   (\eqn{\rho=r\sqrt\kappa}), else 1.
#' * `"auto"`: what is drawn on a lattice where there is that, else the smallest expected distance from the record, or
#'   on whole spheres without `per` the smallest variance of `unbiased`. From public numbers only.
#'
#' @section Numerics:
#' With `numerics = "lattice"` (`"wrapped"` only; the default where it can be had) the promise is about what the
#' computer does: without `per` in every ball, with `per` on Euclidean space. The coordinates are rounded to a lattice
#' there; with `per` the factor is at most \eqn{\exp(\epsilon(d+\eta)/(L+\eta))}, where \eqn{\eta} (`rounding`) is some
#' millionth of L. Elsewhere labels say "real-number model".
#'
#' @section Places on the earth:
#' A pair of degrees is a point of `sphere(2)`, and `per` is a length in kilometres over the earth's radius of 6,371 km;
#' see the examples. Laplace noise in the plane of degrees, or of a map in Mercator's projection, whose scale is right
#' at the equator doesn't keep the promise elsewhere: at 70 degrees of latitude two places are 1/cos(70) = 2.92 times as
#' far apart there as on the ground, and that many times \eqn{\epsilon} is lost. On the sphere nothing depends on where
#' one is. The earth is no sphere: the ellipsoid's distances are up to .6 % longer or shorter, and with them what is
#' promised.
#'
#' @section Records outside, and records that are none:
#' With a ball records outside are moved to its nearest point, one by one and silently, and with `per` distances are
#' those of the points moved (where curvature is at most 0 these are no longer than before). With `invalid = "center"`
#' what is no point counts as the centre; `"error"` is the curator's own check, before anything is spent, and no part of
#' the release. No record has a part in what comes of another.
#'
#' @param x records, in the shapes of [dp_mean()]; one point for one person.
#' @param M a manifold of the package.
#' @param epsilon privacy budget of each record, positive.
#' @param ... nothing; later arguments must be named.
#' @param per for metric privacy, the length L at which `epsilon` holds, in the units of the metric; `NULL` for local
#'   differential privacy.
#' @param center,radius the public ball, as in [dp_mean()]. Without `per` it may be left out on compact homogeneous
#'   spaces. A centre alone is what stands for records that are no points.
#' @param mechanism `"auto"`, `"privunit"`, `"vmf"`, `"laplace"` or `"wrapped"`.
#' @param numerics `"auto"`, `"lattice"` or `"real"`.
#' @param invalid `"error"` or `"center"`, see below.
#' @param unit as in [dp_mean()], with a ball: one point for each unit, the Frechet mean of its rows moved to the ball.
#'   Without `unit` who has m rows pays m times `epsilon`.
#' @param source,ledger,data_set,part as in [dp_mean()]. Releasing all records costs each of them `epsilon` once. With
#'   `per` a ledger is told what the whole ball or space costs, \eqn{\epsilon} times its diameter over L, and at least
#'   `epsilon`; where there is no bound it is refused.
#' @return An object of class `riemdp_local` and [riemdp_release]: `value` (n points in the plain shape of many, or
#'   one for one; of positive definite matrices such as noise for a small `epsilon` takes beyond what doubles hold are
#'   no points, which [mf_is_point()] and `print()` tell), `unbiased` (on spheres, of laws around the record: `value`
#'   times `factor`, a matrix with one row a point, whose expectation is the record as a unit vector, so that averages
#'   of many have no bias), `factor`, `unbiased_error` (root mean square error of a row), `manifold`, `mechanism`,
#'   `n`, `per`, `center`, `radius` (`Inf` for none), `whole_epsilon` (what any two values cost; `Inf` where there is
#'   no bound), `sensitivity`, `scale` (kappa is its inverse; of `"privunit"` p and angle are in `cap`), `rounding`,
#'   `expected_error` (mean distance from the record in the ball), `unit`, `source`, `guarantee`, `budget`, `draws`.
#'   `guarantee()` has `promise` (`"local DP"` or `"metric privacy"`) and `per`. Errors: `riemdp_error_unsupported`
#'   for what a space or ball can't have, `riemdp_error_existence` where the Laplace law doesn't exist at this scale,
#'   `riemdp_error_argument`, `riemdp_error_radius` and `riemdp_error_shape` as for [dp_mean()].
#' @references
#' Andres, M. E., Bordenabe, N. E., Chatzikokolakis, K. and Palamidessi, C. (2013). Geo-indistinguishability:
#' differential privacy for location-based systems. *Proceedings of the 2013 ACM Conference on Computer and
#' Communications Security*, 901-914. \doi{10.1145/2508859.2516735}
#'
#' Asi, H., Feldman, V. and Talwar, K. (2022). Optimal algorithms for mean estimation under local differential privacy.
#' *International Conference on Machine Learning*. \doi{10.48550/arXiv.2205.02466}
#'
#' Bhowmick, A., Duchi, J., Freudiger, J., Kapoor, G. and Rogers, R. (2018). Protection against reconstruction and its
#' applications in private federated learning. \doi{10.48550/arXiv.1812.00984}
#'
#' Chatzikokolakis, K., Andres, M. E., Bordenabe, N. E. and Palamidessi, C. (2013). Broadening the scope of differential
#' privacy using metrics. *Privacy Enhancing Technologies*, 82-102. \doi{10.1007/978-3-642-39077-7_5}
#'
#' Wood, A. T. A. (1994). Simulation of the von Mises Fisher distribution. *Communications in Statistics - Simulation
#' and Computation* 23, 157-164. \doi{10.1080/03610919408813161}
#' @seealso [dp_mean()] where a curator is trusted with all records
#' @examples
#' # places in degrees, hidden among all within some 2 km: epsilon = 1 for each 2 km
#' earth <- function(long, lat) {
#'   a <- pi / 180
#'   cbind(cos(a * lat) * cos(a * long), cos(a * lat) * sin(a * long), sin(a * lat))
#' }
#' places <- earth(long = c(18.96, 19.02), lat = c(69.65, 69.66))
#' r <- dp_local(places, sphere(2), epsilon = 1, per = 2 / 6371)
#' r
#' cbind(long = atan2(r$value[, 2], r$value[, 1]), lat = asin(r$value[, 3])) * 180 / pi
#' 6371 * r$expected_error # in km
#'
#' # unit vectors under local differential privacy, and their mean
#' x <- matrix(c(0.6, 0, 0.8), 1000, 3, byrow = TRUE)
#' r <- dp_local(x, sphere(2), epsilon = 2)
#' colMeans(r$unbiased)
#'
#' # in a public ball, on any space
#' dp_local(wishart_spd[, , 1:3], spd(2), epsilon = 4, center = diag(2), radius = 1)
#' @export
dp_local <- function(x, M = manifold_of(x), epsilon, ..., per = NULL, center = NULL, radius = NULL,
                     mechanism = c("auto", "privunit", "vmf", "laplace", "wrapped"),
                     numerics = c("auto", "lattice", "real"), invalid = c("error", "center"), unit = NULL,
                     source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_no_more(...)
  check_manifold(M)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(epsilon = missing(epsilon), center = is.null(center) && !is.null(radius)))
  if (is_chunks(x)) abort_riemdp("unsupported", "points are released from memory: gather them first.")
  if (!is.null(unit) && is.null(radius)) {
    abort_riemdp("unsupported", "`unit` needs `center` and `radius`: a unit's point is the mean of its rows in a ball.")
  }
  records <- records_or_units(M, x, unit, TRUE)
  ask <- local_ask(M, records$n, epsilon, per, center, radius)
  ask$mechanism <- check_choice(mechanism, "mechanism", c("auto", LOCAL_MECHANISMS))
  ask$numerics <- check_choice(numerics, "numerics", c("auto", "lattice", "real"))
  ask$invalid <- check_choice(invalid, "invalid", c("error", "center"))
  if (ask$invalid == "center" && is.null(center)) abort_no_default("center")
  ask$source <- stated_source(source, list(center = center, radius = radius, per = per))
  ask$unit <- unit_name(records$units)
  ask$told <- !is.null(ledger)
  uncounted(release_private(local_estimator, ask, records, ledger, data_set, part))
}

LOCAL_MECHANISMS <- c("privunit", "vmf", "laplace", "wrapped")

# Public numbers, checked. reach: how far two values may lie apart; far: what costs epsilon.
local_ask <- function(M, n, epsilon, per, center, radius) {
  if (of_user(M)) abort_riemdp("unsupported", "dp_local() isn't offered on a user's manifold.")
  check_proven(M)
  ask <- list(manifold = M, n = n, epsilon = check_number(epsilon, "epsilon", positive = TRUE),
              per = if (!is.null(per)) check_number(public_value(per, "per"), "per", positive = TRUE))
  ask$center <- if (!is.null(center)) public_point(M, center)
  if (!is.null(radius)) ask$ball <- check_radius(M, public_value(radius, "radius"), ask$center)
  ask$reach <- if (is.null(ask$ball)) mf_facts(M)$diameter else 2 * ask$ball$radius
  if (is.null(ask$per) && ask$reach == Inf) {
    abort_riemdp("argument", paste("local differential privacy needs `center` and `radius` on this space, where values",
                                   "may lie any distance apart; metric privacy needs the length `per`."))
  }
  ask$far <- ask$per %||% ask$reach
  if (is.null(center)) {
    if (!has_laplace(M)) abort_riemdp("unsupported", no_local(M, "laplace"))
    ask$center <- one_point(M, .Call(riemdp_origin, M), "center")
  }
  ask
}

no_local <- function(M, name) {
  switch(name,
    laplace = sprintf(paste("on %s no exact sampler is known of a Laplace law whose normalising constant is the same",
                            "everywhere: give `center` and `radius` for mechanism = \"wrapped\"."), label_manifold(M)),
    vmf = , privunit = sprintf("mechanism = \"%s\" is for spheres%s.", name,
                               if (name == "privunit") ", whole, and without `per`" else ""),
    wrapped = "mechanism = \"wrapped\" needs `center` and `radius`."
  )
}

# why a mechanism can't be had, or NULL
local_unsupported <- function(ask, name) {
  M <- ask$manifold
  sphere <- model_everywhere(mf_facts(M)) == "sphere"
  able <- switch(name, laplace = has_laplace(M), vmf = sphere, wrapped = !is.null(ask$ball),
                 privunit = sphere && is.null(ask$ball) && is.null(ask$per))
  if (!able) return(no_local(M, name))
  if (ask$numerics == "lattice" && name != "wrapped") {
    "numerics = \"lattice\" is there for mechanism = \"wrapped\" only, in a ball."
  }
}

chord_of <- function(d) 2 * sin(min(d, pi) / 2)

# One mechanism's numbers. sensitivity: what the exponent moves by, times the scale, between values that cost epsilon;
# widest: between any two. (local.md, 1 to 3)
local_numbers <- function(ask, name) {
  M <- ask$manifold
  d <- mf_facts(M)$dimension
  if (name == "privunit") {
    cap <- cap_best(d, ask$epsilon)
    return(list(sensitivity = 1, widest = 1, scale = 1 / ask$epsilon, cap = cap,
                cosine = cap_cosine(d, cap$p, cap$angle), expected_error = cap_angle(d, cap$p, cap$angle)))
  }
  moved <- switch(name,
    laplace = c(ask$far, ask$reach),
    vmf = c(ask$per %||% chord_of(ask$reach), chord_of(ask$reach)),
    wrapped = c(if (is.null(ask$per)) ask$reach else outwards(log_stretch(ask$ball) * ask$per), ask$reach)
  )
  scale <- outwards(moved[1] / ask$epsilon)
  if (name == "laplace") check_laplace(M, scale)
  if (name == "laplace") check_radial(M, "laplace", scale)
  means <- if (name == "vmf") vmf_means(d, 1 / scale) else
    if (name == "laplace" && inherits(M, "riemdp_sphere")) laplace_means(d, scale)
  list(sensitivity = moved[1], widest = moved[2], scale = scale, cosine = means$cosine,
       expected_error = means$angle %||% expected_error(M, scale, name, ask$center, ask$ball$radius))
}

# how much longer than distances in the ball distances of coordinates at its centre are, at most
log_stretch <- function(ball) {
  rho <- ball$radius * sqrt(max(0, ball$k_max))
  if (rho > 0) rho / sin(rho) else 1
}

# "wrapped" on a lattice: numbers, or NULL where there are none. Coordinates are exact without `per`, whatever doubles
# did to them; with it their rounding counts (local.md, 5).
local_lattice <- function(ask) {
  M <- ask$manifold
  d <- mf_facts(M)$dimension
  r <- ask$ball$radius
  bounds <- mean_steps(M, ask$ball, 1, "tangent", lattice = TRUE)
  if (!is.null(bounds$why) || (!is.null(ask$per) && !inherits(M, "riemdp_euclidean"))) return(NULL)
  finest <- room_bits(r)
  move <- ask$per %||% ask$reach
  k <- min(150, finest, lattice_bits(move / ask$epsilon, move, d, finest) + if (is.null(ask$per)) 0 else 10)
  step <- 2^-k
  error <- if (is.null(ask$per)) 0 else 16 * (d + 8) * UNIT_ROUNDOFF * r + sqrt(d) * 2^-finest
  rounding <- 2 * error + sqrt(d) * step
  if (rounding > move / 100) return(NULL)
  shift <- outwards((move + rounding) / step)
  law <- pure_lattice_scale("l2", shift, d, list(epsilon = ask$epsilon), step)
  if (20 * law$scale < sqrt(d)) return(NULL)
  list(sensitivity = shift, widest = outwards((ask$reach + rounding) / step), scale = law$scale * step,
       steps = law$scale, rounding = if (!is.null(ask$per)) rounding, k = k, ratio = law$ratio,
       numbers = bounds$numbers,
       expected_error = expected_error(M, law$scale * step, "wrapped", ask$center, r))
}

# a mechanism's plan; classed errors from public numbers
local_plan <- function(ask, name) {
  why <- local_unsupported(ask, name)
  if (!is.null(why)) abort_riemdp("unsupported", why)
  on <- if (name == "wrapped" && ask$numerics != "real") tryCatch(local_lattice(ask), riemdp_error = function(e) NULL)
  if (is.null(on) && ask$numerics == "lattice") {
    abort_riemdp("unsupported", paste("numerics = \"lattice\": with `per` there is none but on Euclidean space, nor",
                                      "where the noise is too fine beside the ball."))
  }
  plan <- on %||% local_numbers(ask, name)
  plan$mechanism <- name
  plan$numerics <- if (is.null(on)) "real-valued" else "lattice"
  if (!is.null(plan$cosine)) plan$variance <- 1 / plan$cosine^2 - 1
  plan
}

# the smallest error; on a lattice where there is one
local_chosen <- function(ask) {
  if (ask$mechanism != "auto") return(local_plan(ask, ask$mechanism))
  refused <- NULL
  plans <- lapply(LOCAL_MECHANISMS, function(name) {
    tryCatch(local_plan(ask, name), riemdp_error = function(e) {
      refused <<- e
      NULL
    })
  })
  plans <- Filter(Negate(is.null), plans)
  if (!length(plans)) stop(refused)
  exact <- Filter(function(p) p$numerics == "lattice", plans)
  if (length(exact)) return(exact[[1]])
  error <- if (is.null(ask$per) && is.null(ask$ball) && !is.null(plans[[1]]$variance)) "variance" else "expected_error"
  plans[[which.min(vapply(plans, `[[`, 0, error))]]
}

local_price <- function(plan, d) {
  if (!is.null(plan$cap)) {
    loss <- cap_loss(d, plan$cap$p, plan$cap$angle)
    return(draw_price("cap", "local.md, 4", 1, 1 / loss, epsilon = loss))
  }
  proof <- if (plan$numerics == "lattice") "local.md, 5" else switch(plan$mechanism, vmf = "local.md, 2",
                                                                   laplace = "local.md, 1", wrapped = "local.md, 3")
  price <- price_laplace(plan$sensitivity, if (plan$numerics == "lattice") plan$steps else plan$scale, proof)
  if (plan$mechanism == "vmf") price$law <- "vmf"
  price
}

# what the release says of itself: one of two promises
local_promise <- function(ask, plan) {
  private <- if (!is.null(ask$ball)) "center and radius are public" else if (!is.null(ask$per)) "per is public"
  g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"),
                  c(private, "each record is released by itself; who has several pays for each",
                    steps_assumptions(ask$manifold, plan)),
                  numerics = plan$numerics,
                  adjacency = if (is.null(ask$per)) "any two values of one record" else
                    sprintf("values of one record at distance %.6g", ask$per))
  g$promise <- if (is.null(ask$per)) "local DP" else "metric privacy"
  g$per <- ask$per
  of_units(g, ask$unit)
}

local_estimator <- list(
  entry = function(plan, ask) entry_words("dp_local", plan$mechanism, ask$unit),
  parts = c(mechanism = "text", scale = "scale", sensitivity = "number", expected_error = "number", whole = "scale"),
  plan = function(ask) {
    plan <- local_chosen(ask)
    # what any two values cost
    plan$whole <- if (is.null(ask$per)) ask$epsilon else
      max(ask$epsilon, outwards(plan$widest / if (plan$numerics == "lattice") plan$steps else plan$scale))
    if (plan$whole == Inf && ask$told) {
      abort_riemdp("unsupported", paste("metric privacy on a space without bounds has no finite epsilon for a ledger:",
                                        "give `center` and `radius`. Nothing is released."))
    }
    plan$guarantee <- local_promise(ask, plan)
    plan
  },
  ready = function(records, plan, ask) mean_estimator$ready(records, plan, ask),
  event = function(plan, ask) {
    if (plan$guarantee$label != "none" && plan$whole < Inf) event_pure(plan$whole, adjacency = "replace-one")
  },
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    price <- local_price(plan, mf_facts(M)$dimension)
    if (plan$numerics == "lattice") {
      return(.Call(riemdp_release_local_lattice, M, records$x, ask$center, plan$numbers, plan$k, plan$ratio,
                   pay(price)))
    }
    .Call(riemdp_release_local, M, records$x, ask$center, ask$ball$radius %||% Inf, plan$mechanism,
          unlist(plan$cap) %||% plan$scale, pay(price))
  },
  answer = function(out, plan, ask, budget) {
    factor <- if (!is.null(plan$cosine)) 1 / plan$cosine
    new_release(
      out, "riemdp_local", unbiased = if (!is.null(factor)) out * factor, factor = factor,
      unbiased_error = if (!is.null(factor)) sqrt(plan$variance), manifold = ask$manifold, mechanism = plan$mechanism,
      n = ask$n, per = ask$per, center = if (!is.null(ask$ball)) ask$center, radius = ask$ball$radius %||% Inf,
      whole_epsilon = if (plan$guarantee$label == "none") Inf else plan$whole,
      sensitivity = plan$sensitivity * if (plan$numerics == "lattice") 2^-plan$k else 1,
      scale = plan$scale, cap = plan$cap, rounding = plan$rounding, expected_error = plan$expected_error,
      unit = ask$unit, budget = budget, guarantee = plan$guarantee
    )
  }
)
