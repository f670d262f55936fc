# The adaptive mechanism: for users who only know that the data lie in a wide ball.

# Found by simulation in the plane (public radius pi/8, epsilon 1, n from 100 to 10,000, spreads .02 to .2): of the
# shares tried the best over all of them together. A larger share for the mean (.10, .05, .85) loses at n <= 300;
# without the margin clipping costs 13 times the error of one stage where the spread is wide and n large.
ADAPTIVE_SHARES <- c(center = 0.15, radius = 0.15, mean = 0.70)
ADAPTIVE_FRACTION <- 0.9
ADAPTIVE_MARGIN <- sqrt(2)

# radii from the public one down, by factors of the square root of 2
adaptive_grid <- function(radius) radius * 2^(-(0:24) / 2)

mechanism_adaptive <- list(
  name = "adaptive",
  auto = FALSE, # its target is another one, and its error depends on the data
  chunks = TRUE,
  counts = TRUE,
  options = c("shares", "fraction"),
  unsupported = function(M, ask) {
    if (ask$calibration == "paper") {
      "`calibration = \"paper\"` doesn't exist for mechanism = \"adaptive\"."
    } else if (!is.null(ask$sigma)) {
      "mechanism = \"adaptive\" has three stages and no single scale: give `epsilon` instead of `sigma`."
    } else if (inherits(M, "riemdp_custom")) {
      "mechanism = \"adaptive\" isn't offered on a user's manifold."
    }
  },
  plan = function(M, ask) {
    shares <- adaptive_shares(ask$options$shares)
    fraction <- ask$options$fraction
    fraction <- if (is.null(fraction)) ADAPTIVE_FRACTION else check_number(fraction, "fraction", least = 0, most = 1)
    rough <- adaptive_stage(M, ask, shares[["center"]], ask$center, ask$ball$radius)
    # what the last stage would be with the released ball as wide as the public one: shows that it can be served at all
    last <- adaptive_stage(M, ask, shares[["mean"]], ask$center, ask$ball$radius)
    list(
      scale = last$scale, sensitivity = last$sensitivity, theorem = last$theorem, solver_error = last$solver_error,
      acceptance = NA_real_, numbers = last$numbers, shares = shares, fraction = fraction, rough = rough,
      target = "the Frechet mean of the records moved into the released ball",
      details = list(shares = shares, fraction = fraction),
      guarantee = list(
        epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = rough$guarantee$sampler,
        assumptions = "three stages, each private, their budgets added"
      )
    )
  },
  error = function(M, plan, ask) {
    # known once the first two stages are released; before, only by simulation for a public guess of the spread
    if (is.null(plan$last)) NA_real_ else mean_mechanisms()[[plan$last$mechanism]]$error(M, plan$last, plan$last$ask)
  },
  release = function(M, x, plan, ask) {
    pick <- function(stage) mean_mechanisms()[[stage$mechanism]]$release(M, x, stage, stage$ask)
    balls <- adaptive_balls(M, ask, plan$shares[["mean"]],
                            clamp_to_ball(M, ask$center, ask$ball$radius, pick(plan$rough)))
    center <- balls$center
    radii <- balls$radii
    chosen <- radii[.Call(riemdp_release_radius, M, mean_records(M, x, center, ask$ball$radius), center,
                          radii / ADAPTIVE_MARGIN, plan$fraction, plan$shares[["radius"]] * ask$epsilon,
                          pay(price_choice(plan$shares[["radius"]] * ask$epsilon, "mean-sensitivity.md, 12")))]
    last <- adaptive_stage(M, ask, plan$shares[["mean"]], center, chosen)
    structure(list(
      value = pick(last),
      details = c(plan$details, list(released_center = center, released_radius = chosen, last = last$mechanism)),
      last = last, expected_error = NULL, scale = last$scale, sensitivity = last$sensitivity, theorem = last$theorem,
      solver_error = last$solver_error
    ), class = "riemdp_staged")
  },
  # the last stage's law around the mean of the records in the released ball
  region = function(r, level) {
    last <- r
    last[c("center", "radius")] <- moved_ball(r)
    last$mechanism <- r$details$last
    mean_mechanisms()[[last$mechanism]]$region(last, level)
  },
  words = function(r) {
    share <- r$details$shares
    sprintf(paste("Three stages, their budgets added: a rough centre (%.3g of epsilon), a radius by the exponential",
                  "mechanism on a public grid, sqrt(2) times one that aims at holding %.3g of the records",
                  "(%.3g), and the mean of the records moved into the released ball of radius %.4g around the",
                  "released centre, by mechanism %s (%.3g). The last stage's bounds and scale depend on what the",
                  "first two released only."),
            share[["center"]], r$details$fraction, share[["radius"]], r$details$released_radius, r$details$last,
            share[["mean"]])
  }
)

adaptive_shares <- function(shares) {
  if (is.null(shares)) return(ADAPTIVE_SHARES)
  ok <- is.numeric(shares) && !is.object(shares) && length(shares) == 3 && !anyNA(shares) && all(shares > 0) &&
    abs(sum(shares) - 1) < 1e-9
  if (!ok) {
    abort_riemdp("argument",
                 "`shares` must be three positive numbers that add up to 1: for the centre, the radius, the mean.")
  }
  stats::setNames(shares / sum(shares) * (1 - 1e-15), names(ADAPTIVE_SHARES))
}

# One stage on a ball that is public by then: Laplace where it exists, else wrapped, whose errors hardly differ
adaptive_stage <- function(M, ask, share, center, radius) {
  ask$epsilon <- share * ask$epsilon
  ask$delta <- 0
  ask$options <- list()
  ask$center <- center
  ask$ball <- check_radius(M, radius, center)
  stage <- tryCatch(plan_one(M, ask, "laplace", error = FALSE),
                    riemdp_error = function(e) plan_one(M, ask, "wrapped", error = FALSE))
  stage$ask <- ask
  stage
}

# The radii of the grid whose last stage can be served around a released centre (on Bures-Wasserstein that depends on
# it). Where there is none the public ball serves: the plan has shown that it does, and the budget is spent by now.
adaptive_balls <- function(M, ask, share, center) {
  radii <- adaptive_grid(ask$ball$radius)
  served <- vapply(radii, function(r) {
    tryCatch({
      adaptive_stage(M, ask, share, center, r)
      TRUE
    }, riemdp_error = function(e) FALSE)
  }, logical(1))
  if (any(served)) list(center = center, radii = radii[served]) else list(center = ask$center, radii = radii[1])
}

# post-processing: a released point moved to the nearest point of the public ball
clamp_to_ball <- function(M, center, radius, point) {
  tryCatch({
    v <- mf_log(M, center, point)
    size <- mf_norm(M, center, v)
    if (size <= radius) point else public_point(M, mf_exp(M, center, v * (radius / size)))
  }, riemdp_error = function(e) center)
}
