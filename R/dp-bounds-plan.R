#' Which ball for a private mean? A plan from public or simulated records
#'
#' The ball of [dp_mean()] must be public. A small one clips: records outside are moved to its edge, which moves their
#' mean. A large one takes more noise. This function puts both errors beside each other over radii and centres, for
#' records that are public (an earlier study, a sample that was published, another country's) or simulated, and finds
#' the ball with the smallest total for n private records and an epsilon. **The private records have no place here**:
#' what goes in as `public` or `simulate` is taken for public, nothing is protected, and the ball that comes out tells
#' of it.
#'
#' * *Clipping*: the distance from the mean of all public (or simulated) records to the mean of the same records moved
#'   to the ball, as a root mean square over eight centres drawn at random: means of as many records, drawn with
#'   replacement from them, as tell as little of a mean as m public and n private ones do together, mn/(m + n).
#'   With the centre of a sample's own mean a ball of radius 0 would do, since it has the answer in its middle; private
#'   records have another mean. Simulated records say how private ones may spread rather than where they are: four of
#'   them make a centre.
#' * *Privacy noise*: the expected error of [dp_mean()]'s mechanism, as [dp_mean_plan()] tells it.
#' * *Total*: the root of the sum of both squares. How records differ from their population (sampling) isn't in it.
#'
#' A sample of m records knows little of the tails: the best radius found is made larger by a factor of
#' \eqn{1 + 1.5/\sqrt m} for public records, unless `radii` are given. Errors are told for the larger ball.
#'
#' With half of a data set as `public` and epsilon 1, the total of the ball found was at most 1.6 times that of the best
#' radius in hindsight around the same centre on 23 data sets, and above 1.5 on two (one radius for all of six splits:
#' for a single one there is nearly always a radius with which errors happen to cancel). See the article "Choosing a
#' ball" on the package's web site.
#'
#' @section Inverse questions:
#' With `error` one of `n` and `epsilon` is `NULL`: the least one is found with which the total at the best ball is at
#' most `error`, as in [dp_mean_plan()], to one in a thousand; a step below it the total is larger.
#'
#' @param M a manifold.
#' @param n number of private records; `NULL` for the least that keeps `error`.
#' @param epsilon,delta as in [dp_mean()]; `epsilon = NULL` for the least that keeps `error`.
#' @param simulate a function of a number that returns as many made-up records; or a list with `center`, a public point,
#'   and `spread`, a guess of the records' standard deviation in one tangent coordinate (normal tangent vectors are
#'   drawn). Seeds are fixed, so a plan is the same every time.
#' @param public records that are public, in any shape that functions on `M` accept, at least two.
#' @param ... nothing; later arguments must be named.
#' @param error the total error that is wanted, in the units of the metric, where `n` or `epsilon` is sought.
#' @param centers points in any shape that functions on `M` accept: candidates for the centre, taken as they are; by
#'   default the Frechet mean of the public or simulated records, or the `center` of `simulate`.
#' @param radii candidates for the radius, positive; by default 24 that follow from the records' distances. Those beyond
#'   what [dp_mean()] allows are left out.
#' @param mechanism `"auto"`, or one of [dp_mean()] whose expected error is known.
#' @return An object of class `riemdp_bounds_plan`, a list: `center` and `radius` of the best ball, for [dp_mean()],
#'   whose release then says where they come from (`source`); `error`, `clipping` and `noise` there, `outside` (the
#'   share of public records outside), `mechanism`; `n`, `epsilon` and `delta`; `around`, a data frame of the same at
#'   half and double the radius; `curve`, one for all balls tried: `center` (number), `radius`, `clipping`, `noise`,
#'   `total`, `outside`, `mechanism`; `centers`, a list; `records`, how many there were; `widened`, the factor for a
#'   small sample. `as.data.frame()` is the curve, `[` takes rows and columns of it.
#' @seealso [dp_mean_plan()], [dp_ball()] for a ball from the private records at a price
#' @examples
#' # half of the quakes near Fiji are public, the others' mean is to be released
#' direction <- function(lat, long) cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
#' x <- direction(quakes$lat * pi / 180, quakes$long * pi / 180)
#' plan <- dp_bounds_plan(sphere(2), n = 500, epsilon = 1, public = x[1:500, ])
#' plan
#' plot(plan)
#' dp_mean(x[501:1000, ], sphere(2), epsilon = 1, center = plan$center, radius = plan$radius)
#' # nothing but a guess
#' dp_bounds_plan(spd(2), n = 500, epsilon = 1, simulate = list(center = diag(2), spread = 0.3))
#' @export
dp_bounds_plan <- function(M, n = NULL, epsilon = NULL, simulate = NULL, public = NULL, ..., error = NULL, delta = 0,
                           centers = NULL, radii = NULL, mechanism = "auto") {
  check_dots_empty(...)
  check_manifold(M)
  sought <- what_is_sought(n, epsilon, error)
  if (!is.null(n)) n <- check_count(n, "n", most = .Machine$integer.max)
  if (!is.null(epsilon)) epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  if (!is.null(error)) error <- check_number(error, "error", positive = TRUE)
  ask <- list(n = n, epsilon = epsilon, delta = check_delta(delta),
              mechanism = check_choice(mechanism, "mechanism", c("auto", names(mean_mechanisms()))))
  records <- bounds_records(M, n, simulate, public, "dp_bounds_plan")
  tried <- bounds_balls(M, records, centers, radii)
  if (is.null(sought)) return(best_ball(M, ask, records, tried))
  reached <- function(value) {
    ask[[sought]] <- value
    tryCatch(best_ball(M, ask, records, tried)$error, riemdp_error_unsupported = function(e) NA_real_)
  }
  value <- least_value(reached, error, SOUGHT_RANGE[[sought]], whole = sought == "n")
  if (is.null(value)) {
    abort_riemdp("unsupported", sprintf(
      "no %s from %g to %g gives this error at any ball tried: moving records to the balls alone costs more.", sought,
      SOUGHT_RANGE[[sought]][1], SOUGHT_RANGE[[sought]][2]
    ))
  }
  ask[[sought]] <- value
  out <- best_ball(M, ask, records, tried)
  out$sought <- sought
  out$target <- error
  out
}

# ---- balls -----------------------------------------------------------------------------------------------------------

# What doesn't depend on n and epsilon: mean and centres, a list of radii for each, how the mean moves
bounds_balls <- function(M, records, centers, radii) {
  mean <- plain_mean(M, records$x)
  given <- !is.null(centers)
  centers <- if (given) bounds_centers(M, centers) else list(records$center %||% mean)
  widened <- if (is.null(radii)) records$widened else 1
  if (!is.null(radii)) radii <- check_radii(radii)
  tried <- lapply(centers, function(center) {
    r <- radii %||% bounds_radii(mf_dist(M, center, records$x))
    r <- r[vapply(r * widened, allowed_radius, NA, M = M, center = center)]
    list(center = center, radii = r)
  })
  if (!sum(lengths(lapply(tried, `[[`, "radii")))) {
    abort_riemdp("radius", "none of the radii is allowed here: see the limit of `radius` in dp_mean().")
  }
  list(balls = tried, mean = mean, given = given, widened = widened, memory = new.env(parent = emptyenv()))
}

bounds_centers <- function(M, centers) {
  centers <- mf_points(plain_numbers(public_value(centers, "center")), M)
  lapply(seq_along(centers), function(i) public_point(M, centers[i]))
}

bounds_radii <- function(apart) {
  apart <- apart[is.finite(apart) & apart > 0]
  if (!length(apart)) abort_riemdp("argument", "the public records are all one point: they say nothing of a radius.")
  exp(seq(log(stats::median(apart) / 8), log(1.5 * max(apart)), length.out = 24))
}

allowed_radius <- function(radius, M, center) {
  tryCatch({
    check_radius(M, radius, center)
    TRUE
  }, riemdp_error = function(e) FALSE)
}

# Root mean square of how far moving the records to a ball moves their mean, over centres that are means of `worth` of
# them; one centre where it is given
clipping_error <- function(M, records, tried, k, radius, n) {
  worth <- max(1, round(records$worth(n)))
  key <- paste(k, worth, format(radius, digits = 17))
  if (!is.null(tried$memory[[key]])) return(tried$memory[[key]])
  centers <- if (tried$given) list(tried$balls[[k]]$center) else random_centers(M, records, tried, worth)
  moved <- vapply(centers, function(center) {
    if (!allowed_radius(radius, M, center)) return(NA_real_)
    mf_dist(M, tried$mean, plain_mean(M, mf_to_ball(M, records$x, center, radius)))
  }, numeric(1))
  tried$memory[[key]] <- sqrt(mean(moved^2, na.rm = TRUE))
  tried$memory[[key]]
}

# the same for every radius
random_centers <- function(M, records, tried, worth) {
  key <- paste("centers", worth)
  if (is.null(tried$memory[[key]])) {
    tried$memory[[key]] <- with_simulation(1, lapply(seq_len(BOUNDS_CENTERS), function(i) {
      plain_mean(M, records_of(records$x, sample.int(records$count, worth, replace = TRUE)))
    }))
  }
  tried$memory[[key]]
}

# ---- the curve -------------------------------------------------------------------------------------------------------

bounds_row <- function(M, ask, records, tried, k, radius) {
  center <- tried$balls[[k]]$center
  plan <- tryCatch(noise_plan(M, mean_ask(M, ask$n, ask$epsilon, center, radius, ask$delta, ask$mechanism, NULL,
                                          "proven", "ordinary", "auto", 1e6, list(), post = TRUE)),
                   riemdp_error = function(e) NULL)
  noise <- plan$expected_error %||% NA_real_
  clipping <- clipping_error(M, records, tried, k, radius, ask$n)
  data.frame(center = k, radius = radius, clipping = clipping, noise = noise, total = sqrt(clipping^2 + noise^2),
             outside = mean(!(mf_dist(M, center, records$x) <= radius)),
             mechanism = plan$mechanism %||% NA_character_)
}

# What dp_mean() would choose. Laws on the ball have twice the scale, so they can't be better where the ball's edge is
# far, and needn't be planned.
noise_plan <- function(M, ask) {
  if (ask$mechanism != "auto") return(plan_mean(M, ask))
  plans <- plan_all(M, ask, c("laplace", "wrapped"))
  errors <- vapply(plans, function(p) p$expected_error %||% Inf, numeric(1))
  if (isTRUE(min(errors) < ask$ball$radius / 4)) {
    for (name in names(Filter(function(m) isTRUE(m$on_ball), mean_mechanisms()))) {
      plans[[name]] <- list(mechanism = name, why = "worse", kind = "worse")
    }
  }
  plan_mean(M, ask, plans)
}

best_ball <- function(M, ask, records, tried) {
  row <- function(k, radius) bounds_row(M, ask, records, tried, k, radius)
  curve <- do.call(rbind, unlist(lapply(seq_along(tried$balls), function(k) {
    lapply(tried$balls[[k]]$radii, row, k = k)
  }), recursive = FALSE))
  if (all(is.na(curve$total))) {
    abort_riemdp("unsupported", "no mechanism with a known expected error can be served with any of these balls.")
  }
  first <- curve[which.min(curve$total), ]
  best <- row(first$center, first$radius * tried$widened)
  if (is.na(best$total)) best <- first
  around <- lapply(c(0.5, 2) * best$radius, function(r) {
    if (allowed_radius(r, M, tried$balls[[best$center]]$center)) row(best$center, r)
  })
  said <- function(x) structure(x, riemdp_origin = records$words)
  structure(list(
    center = said(tried$balls[[best$center]]$center), radius = said(best$radius), error = best$total,
    clipping = best$clipping, noise = best$noise, outside = best$outside, mechanism = best$mechanism, n = ask$n,
    epsilon = ask$epsilon, delta = ask$delta, around = do.call(rbind, around), curve = curve, best = best$center,
    centers = lapply(tried$balls, `[[`, "center"), manifold = M, records = records$count,
    widened = best$radius / first$radius, source = records$words
  ), class = "riemdp_bounds_plan")
}

#' @rdname dp_bounds_plan
#' @param x a plan.
#' @param row.names,optional not used.
#' @export
as.data.frame.riemdp_bounds_plan <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (!is.data.frame(x$curve)) abort_riemdp("argument", "parts of the plan are missing: make it again.")
  x$curve
}

#' @export
`[.riemdp_bounds_plan` <- function(x, ...) as.data.frame(x)[...]
