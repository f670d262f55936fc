# Regions for the non-private estimate, from the release and public quantities: post-processing, no budget.

#' Region for the non-private mean, or for the population's
#'
#' With `about = "estimate"`: how far the released point may be from the mean without noise **of the records moved to
#' the public ball**, the error of the privacy noise. It covers neither clipping, what moving records to the ball did to
#' the mean, nor sampling, how the records differ from their population: where the ball doesn't fit the records, the
#' region need not hold their mean (see [dp_mean()]). Made from the release and public bounds alone, it costs no budget.
#'
#' * `"laplace"`, `"gaussian"`: the noise's law is public; the region is the geodesic ball around the released point
#'   whose radius is that law's quantile.
#' * `"wrapped"` and other noise in the tangent space at the public centre: the quantile of the noise's length there,
#'   turned into a geodesic radius by how much exp can stretch on the ball that holds both.
#' * a private number of records: a mean of N points, N a released size, has missing ones at the centre; how far that is
#'   from the mean of the records is added, by the law of the size.
#' * mechanisms whose law depends on the records (`"kng"`, truncated laws): from the public ball and a bound of the
#'   law's tail. `"kng"` with a private number of records: the same from the lower end of the released size's interval
#'   on; the public ball alone where no size was released.
#'
#' @section About the population:
#' A journal's interval is about the population that the records are a sample of. That takes a private scale: a release
#' of `dp_mean(variance = )` has one, the mean squared distance of the records from the point that was drawn and the
#' length of the matrix of their products, and its region is then about the **population of records moved to the ball**,
#' their own mean's error and that of the noise together. Neither method covers clipping.
#'
#' * `method = "asymptotic"`: for many records. The error of sampling is taken for normal, with a covariance that has
#'   the released trace and length: one direction apart, all others alike. That no other such covariance has a larger
#'   region was tried, not proven (within 1 % at a level of .95, 2.5 % at .9). The noise of the mean and of both numbers
#'   is in it, averaged over its law. Where curvature is positive the mean's Hessian is bounded from the mean square.
#' * `"finite"`: at any number of records, for independent records of any law (proofs/inference.md, section 6). Wider.
#' * with `covariance`: an ellipsoid, for many records. Its axes are those of the released covariance and the noise
#'   together; how large it must be is simulated from the noise's laws, with a fixed seed (section 9). Of a covariance
#'   that is small beside its noise only the trace is known and how uneven it may be: directions that noise doesn't tell
#'   apart have one axis, and where there are no others the ellipsoid is a ball. Where even the trace of those is within
#'   its noise the ellipsoid is too large there, and its coverage up to 1. Where the number of records is private, in
#'   both releases, it is made for the least number that there may be, and wide enough for whatever way missing points
#'   pull the mean. [region_contains()] says which points are in it.
#'
#' @section More on regions:
#' The region never exceeds what the public ball says by itself: the mean of the moved records lies within `radius` of
#' `center`. With `"adaptive"` all of this is about the released ball, to which its last stage moves the records.
#' Arithmetic means of matrices, and those of configurations as they lie (see [baselines]), can leave the ball: their
#' region is then the whole space.
#'
#' @param object,r a release of [dp_mean()]; `dp_uncertainty()` takes one of [dp_regression()] as well.
#' @param parm `"mean"`; `"clipped"` for the share of records outside the ball, `"size"` for the number of records, or
#'   `"variance"` for the mean squared distance from the point that was drawn, where they were released.
#' @param about `"estimate"`, or `"population"`: the default where a mean square was released.
#' @param method of a region about the population, see there.
#' @param covariance a release of [dp_covariance()] around this mean: the region about the population is an ellipsoid.
#' @param level coverage, between 0 and 1.
#' @param ... not used.
#' @return `confint()`: an object of class `riemdp_region`, a list with `center` (the released point), `radius`
#'   (geodesic), `level`, `manifold`, `basis` (what the radius rests on), `about` (of which mean it is a region),
#'   `covers` (which error) and `leaves_out` (which not); an ellipsoid has `half_axes` as well, `axes` (unit tangent
#'   vectors at `center`) and `shape` (coordinates v are in it where v'shape^-1 v is 1 at most); for other `parm` a
#'   matrix of one row, lower and upper end of an interval. `dp_uncertainty()`: a data frame with a row for each of
#'   `levels`: `level`, `radius` (about the estimate), `covers`, and where a mean square was released `population`, the
#'   radius about the population's mean; for a curve the radius of its band at the ends of the predictors' ranges, see
#'   [confint.riemdp_regression()].
#' @param levels coverages for the table.
#' @references Vu, D. and Slavkovic, A. (2009). Differential privacy for clinical trial data: preliminary evaluations.
#'   *ICDM Workshops*, 138-143. \doi{10.1109/ICDMW.2009.52}
#'
#'   Benaych-Georges, F. and Nadakuditi, R. R. (2011). The eigenvalues and eigenvectors of finite, low rank
#'   perturbations of large random matrices. *Advances in Mathematics* 227, 494-521. \doi{10.1016/j.aim.2011.02.007}
#' @examples
#' x <- wishart_spd[, , 1:200]
#' r <- dp_mean(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' confint(r)
#' dp_uncertainty(r)
#' # about the population
#' r <- dp_mean(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5, variance = 0.2)
#' confint(r)
#' confint(r, about = "estimate")
#' @importFrom stats confint
#' @export
confint.riemdp_mean <- function(object, parm = c("mean", "clipped", "size", "variance"), level = 0.95,
                                about = if (is.null(c(object$squares, covariance))) "estimate" else "population",
                                method = c("asymptotic", "finite"), covariance = NULL, ...) {
  check_no_more(...)
  parm <- check_choice(parm, "parm", c("mean", "clipped", "size", "variance"))
  level <- check_level(level)
  about <- check_choice(about, "about", c("estimate", "population"))
  method <- check_choice(method, "method", c("asymptotic", "finite"))
  if (!is.null(covariance)) {
    check_covariance(object, covariance, parm, about, method)
    return(as_made(covariance_region(object, covariance, level)))
  }
  as_made(switch(parm,
    mean = if (about == "estimate") mean_region(object, level) else population_region(object, level, method),
    variance = interval_row(variance_interval(object, level, about), "mean squared distance", level),
    clipped = interval_row(clipped_interval(object, level), "share outside the ball", level),
    size = size_row(object, level)
  ))
}

interval_row <- function(ends, what, level) {
  matrix(ends, 1, dimnames = list(what, paste(format(50 * c(1 - level, 1 + level), trim = TRUE, digits = 3), "%")))
}

size_row <- function(r, level) {
  interval_row(size_interval(r, level), paste("number of", if (is.null(r$unit)) "records" else "units"), level)
}

#' @rdname dp_ball
#' @param object a ball.
#' @param parm `"size"`, all that is known of the records: an interval for their number, where that is private, from the
#'   law of its noise ([confint.riemdp_mean()]). Post-processing.
#' @param level coverage, between 0 and 1.
#' @export
confint.riemdp_ball <- function(object, parm = "size", level = 0.95, ...) {
  check_no_more(...)
  check_choice(parm, "parm", "size")
  level <- check_level(level)
  as_made(size_row(object, level))
}

# a release that was tampered with, or comes from a broken file, is told so
as_made <- function(expr) {
  tryCatch(expr, error = function(e) {
    pass_on(e)
    abort_riemdp("argument", "the release must be as it was made: parts of it are missing or of another kind.")
  })
}

mean_region <- function(object, level) {
  if (!is.null(object$inside)) return(subspace_region(object, level))
  # smoothing moves the value, not what is known of the noise
  if (!is.null(object$released)) object$value <- object$released
  region <- mean_mechanisms()[[object$mechanism]]$region
  # where a point stands for one beyond the reach of doubles the noise's law says nothing of it
  found <- if (is.null(region) || isTRUE(object$beyond)) NULL else sized_region(object, region, level)
  reach <- if (leaves_ball(object)) mf_facts(object$manifold)$diameter else ball_reach(object)
  if (is.null(found) || !(found$radius < reach)) {
    found <- list(radius = reach, basis = if (leaves_ball(object)) {
      "nothing: this mechanism's target need not lie in the ball"
    } else if (isTRUE(object$beyond)) {
      "the public ball alone: the noise went beyond the reach of doubles"
    } else if (is.null(found)) {
      unknown_tail(object)
    } else {
      "the public ball, which says more than the noise's law"
    })
  }
  about <- if (is.null(object$target) || object$mechanism == "adaptive") error_about(error_kind(object)) else
    paste0(sub(":.*", "", object$target), " (of the records ", if (!is.null(object$subspace)) "projected and ",
           "moved to the public ball)")
  structure(list(center = object$value, moved = !is.null(object$released), radius = found$radius, level = level,
                 manifold = object$manifold, basis = found$basis, about = about, covers = COVERS,
                 leaves_out = errors_left_out(error_kind(object))),
                 class = "riemdp_region")
}

# the region on the subspace, told in the manifold: distances are the same in both
subspace_region <- function(object, level, of = mean_region) {
  region <- of(release_inside(object), level)
  region$center <- object$released %||% object$value
  region$moved <- !is.null(object$released)
  region$manifold <- object$manifold
  region
}

unknown_tail <- function(object) {
  if (!private_size(object)) return("the public ball alone: no bound of the noise's tail is known for this mechanism")
  paste("the public ball alone: how small the noise is depends on the number of records, which is",
        if (is.null(object$size)) "not released" else "small as released")
}

# Half of what may fail goes to the noise, half to the size: the mean of all records is no farther from what noise was
# added to than missing points, or a wrong divisor, can carry it
sized_region <- function(object, region, level) {
  if (is.null(object$size) || object$size$form %in% c("none", "shared")) return(region(object, level))
  found <- region(object, (1 + level) / 2)
  if (is.null(found)) return(NULL)
  found$radius <- found$radius + size_reach(object, (1 + level) / 2)
  found$basis <- paste0(found$basis, ", and the law of the released size")
  found
}

#' @rdname confint.riemdp_mean
#' @export
dp_uncertainty <- function(r, levels = c(0.5, 0.8, 0.95, 0.99)) {
  curve <- inherits(r, "riemdp_regression")
  if (!curve && !inherits(r, "riemdp_mean")) {
    abort_riemdp("argument", "`r` must be a release of dp_mean() or dp_regression().")
  }
  if (!is.numeric(levels) || is.object(levels) || length(levels) == 0 || anyNA(levels) ||
      any(levels <= 0 | levels >= 1)) {
    abort_riemdp("argument", "`levels` must be numbers between 0 and 1.")
  }
  if (!curve) {
    radii <- function(about) vapply(levels, function(l) confint(r, level = l, about = about)$radius, numeric(1))
    table <- data.frame(level = levels, radius = radii("estimate"), covers = COVERS)
    if (!is.null(r$squares)) table$population <- radii("population")
    return(table)
  }
  if (is.null(r$spread)) abort_riemdp("unsupported", "there is no error model for this method, so no band.")
  as_made({
    q <- mf_facts(r$manifold)$dimension
    data.frame(level = levels, radius = sqrt(sum(r$spread) / q * stats::qchisq(levels, q)), covers = COVERS)
  })
}

#' @export
format.riemdp_region <- function(x, ...) {
  c(
    sprintf("%g %% region on %s for %s: %s (%s)", 100 * x$level, label_manifold(x$manifold), x$about, region_words(x),
            x$basis),
    sprintf(paste("It covers %s; %s %s not in it: where records lie outside the ball their own mean may be",
                  "elsewhere"), paste(if (length(x$covers) > 1) "both" else "the", and_words(x$covers)),
            and_words(x$leaves_out), if (length(x$leaves_out) > 1) "are" else "is")
  )
}

# where it is
region_words <- function(x) {
  point <- if (isTRUE(x$moved)) "point drawn, of which the value was made" else "released point"
  if (!inherits(x, "riemdp_ellipsoid")) return(sprintf("within %.4g of the %s", x$radius, point))
  half <- x$half_axes
  sprintf("an ellipsoid around the %s with half-axes %s", point, if (length(half) <= 4)
    paste(sprintf("%.4g", half), collapse = ", ") else sprintf("from %.4g to %.4g", half[1], half[length(half)]))
}

#' @export
print.riemdp_region <- function(x, ...) {
  cat(strwrap(paste0(format(x), "."), exdent = 2), sep = "\n")
  invisible(x)
}

# the farthest that a point of the ball to which records were moved can be from the released one
ball_reach <- function(r) {
  ball <- moved_ball(r)
  apart <- tryCatch(mf_dist(r$manifold, ball$center, r$value), riemdp_error = function(e) mf_facts(r$manifold)$diameter)
  min(mf_facts(r$manifold)$diameter, apart + ball$radius)
}

# Arithmetic means that can leave the ball of the records: of matrices, and of configurations that weren't turned to the
# centre
leaves_ball <- function(r) {
  if (identical(r$mechanism, "pointwise")) return(identical(r$details$rotation, "none"))
  identical(r$mechanism, "euclidean") && identical(r$details$target, "arithmetic") &&
    !mf_facts(r$manifold)$arithmetic_stays
}

EDGE_LEAST <- 0.5

EDGE_FROM <- 0.9

# The statement is false with at most this probability, whatever the records are; it is about records beyond this share
# of the radius, and made if they are at least half of all (proofs/mean-sensitivity.md, section 10).
EDGE_ERROR <- 0.01

# The share of records that lie beyond EDGE_FROM of the radius or outside, at least; 0 where nothing is known. From the
# release and public numbers: if the mean of the moved records lies at distance t from the centre, so do they at least
# on average.
edge_share <- function(r) {
  unless({ # fails for a broken release, or a user's callbacks
    ball <- moved_ball(r)
    value <- if (is.null(r$released)) r$value else r$released
    apart <- mf_dist(r$manifold, ball$center, value)
    from_center <- apart - mean_region(r, 1 - EDGE_ERROR)$radius - 1e-6 * ball$radius # rounding
    share <- (from_center / ball$radius - EDGE_FROM) / (1 - EDGE_FROM)
    if (is.finite(share)) max(0, min(1, share)) else 0
  }, 0)
}

edge_words <- function(r) {
  share <- edge_share(r)
  if (share < EDGE_LEAST) return(NULL)
  adaptive <- identical(r$mechanism, "adaptive")
  sprintf(paste("AT THE BALL'S EDGE: %.0f %% of the %s or more lie beyond %g of the radius%s, or outside the ball",
                "(wrong with probability %g %% at most): %s"),
          floor(100 * share), counted_words(r), EDGE_FROM, if (adaptive) " of the released ball" else "",
          100 * EDGE_ERROR, if (adaptive) "the released ball may not fit them" else
            "centre or radius may not fit them, and the mean may be far from theirs")
}

# lines of print() after the expected error
mean_error_lines <- function(r) {
  kind <- error_kind(r)
  share <- clipped_words(r)
  error_lines(c(paste("it is about", error_about(kind)), if (is.null(share)) error_left_out(kind) else c(
    paste0("not in it: ", projection_words(kind), "sampling (how the records differ from those they stand for)"), share
  ), edge_words(r), variance_words(r)))
}

# two short lines under a picture
mean_caption <- function(r) {
  known <- is.finite(r$expected_error)
  edge <- edge_share(r)
  c(sprintf("%s of the %s alone, about %s", if (known) sprintf("expected error %.3g", r$expected_error) else "error",
            COVERS, error_about(error_kind(r))),
    if (edge >= EDGE_LEAST) {
      sprintf("at the ball's edge: %.0f %% of the %s or more lie near it or outside", floor(100 * edge),
              counted_words(r))
    } else if (!is.null(r$squares)) {
      left <- setdiff(errors_left_out(error_kind(r)), "sampling")
      sprintf("sampling errs by about %.3g more; %s %s in neither", sampling_error(r), and_words(left),
              if (length(left) > 1) "are" else "is")
    } else {
      paste(and_words(errors_left_out(error_kind(r))), "are not in it")
    })
}

median_caption <- function() paste("error of the", COVERS, "not known in advance: it depends on the records' spread")

# ---- the population --------------------------------------------------------------------------------------------------
# From a released mean square, which only the noise and public numbers enter beside. Proofs: inst/proofs/inference.md,
# sections 4 to 6.

# between which numbers of records all that follows holds, with probability `level`
squares_sizes <- function(r, level) if (private_size(r)) pmax(1, size_interval(r, level)) else c(r$n, r$n)

no_squares <- function() {
  abort_riemdp("unsupported", paste("no mean squared distance was released, so nothing is known of how far the",
                                    "records' mean may be from the population's: dp_mean(variance = ) does."))
}

population_region <- function(r, level, method) {
  if (is.null(r$squares)) no_squares()
  if (!is.null(r$inside)) return(subspace_region(r, level, function(r, level) population_region(r, level, method)))
  if (!is.null(r$released)) r$value <- r$released
  private <- private_size(r)
  # a released size may be off: half of what may fail, and noise is that of the mean of as many records as it says
  sizes <- squares_sizes(r, (1 + level) / 2)
  noise <- function(level) mean_region(r, level)$radius
  ball <- check_radius(r$manifold, r$radius, r$center)
  radius <- if (method == "asymptotic") {
    population_asymptotic(mf_facts(r$manifold)$dimension, ball, r$squares, noise, level, counted_or_told(r))
  } else {
    population_finite(ball, r$squares, noise, if (private) (1 + level) / 2 else level, sizes)
  }
  reach <- ball_reach(r)
  structure(list(
    center = r$value, moved = !is.null(r$released), radius = min(radius, reach), level = level, manifold = r$manifold,
    basis = if (!(radius < reach)) "the public ball, which says more" else if (method == "finite")
      "the law of the noise, the released mean square, any number of records and any law of theirs" else
        "the law of the noise, the released mean square, a normal error of sampling",
    about = population_about(error_kind(r)), covers = c(COVERS, "sampling"), method = method,
    leaves_out = setdiff(errors_left_out(error_kind(r)), "sampling")
  ), class = "riemdp_region")
}

check_covariance <- function(r, covariance, parm, about, method) {
  if (!inherits(covariance, "riemdp_covariance")) {
    abort_riemdp("argument", "`covariance` must be a release of dp_covariance().")
  }
  if (parm != "mean" || about != "population" || method != "asymptotic") {
    abort_riemdp("argument", "`covariance` is for an asymptotic region about the population's mean.")
  }
  as_made({
    check_ellipsoid_target(r)
    check_same(r, covariance)
  })
}

# the covariance is that of records moved to the public ball
check_ellipsoid_target <- function(r) {
  if (!is.null(r$inside) || another_target(r)) {
    abort_riemdp("unsupported", "no ellipsoid for a mean on a subspace, or of another target.")
  }
  if (private_size(r) && (is.null(r$size) || identical(r$size$form, "none"))) {
    abort_riemdp("unsupported", paste("no ellipsoid for a mean by mechanism = \"kng\" of a private number of records:",
                                      "nothing bounds how far its noise is from that of a released number."))
  }
}

check_same <- function(r, covariance) {
  M <- r$manifold
  counted <- if (private_size(r)) private_size(covariance) else isTRUE(r$n == covariance$n)
  same <- identical(label_manifold(M), label_manifold(covariance$manifold)) && counted &&
    identical(r$guarantee$unit, covariance$guarantee$unit)
  if (!same) {
    abort_riemdp("argument", "mean and covariance must be of the same records: their spaces, numbers or units differ.")
  }
  ball <- check_radius(M, r$radius, r$center)
  ask <- list(center = r$center, ball = ball)
  a <- variance_at(M, ask, r$released %||% r$value)
  p <- variance_point(M, ask, a)
  if (!(mf_dist(M, p, covariance$point) <= 1e-6 * ball$radius)) {
    abort_riemdp("argument", "the covariance must be around the released point: dp_covariance(at = ) takes the mean.")
  }
}

# An ellipsoid: {mu: v'A^-1 v <= c}, v the coordinates of the logarithm of mu at the point. Over covariances that the
# release may stand for A is the mean of that of both errors together, c a quantile of v'A^-1 v over the noise of the
# mean and a normal error of sampling (proofs/inference.md, section 9). From public laws with a fixed seed.
covariance_region <- function(r, covariance, level) {
  M <- r$manifold
  told <- ellipsoid_counted(r, covariance, level)
  known <- population_known(mf_facts(M)$dimension, NULL, NULL, told$noise, told$level, told$n)
  found <- with_simulation(1, {
    drawn <- covariance_draws(covariance, ELLIPSOID_COVARIANCES)
    each <- sampling_covariances(drawn$all, covariance, told, check_radius(M, r$radius, r$center))
    A <- ellipsoid_shape(each, drawn, known)
    list(A = A, c = ellipsoid_quantile(each, A, told$n, known$far, known$cells$weight, told$level),
         basis = drawn$basis)
  })
  shape <- found$basis %*% with_ball(diag(found$c * found$A), told$pull) %*% t(found$basis)
  e <- eigen(shape, symmetric = TRUE)
  reach <- ball_reach(r)
  structure(list(
    center = covariance$point, moved = !is.null(r$released), radius = min(sqrt(e$values[1]), reach), level = level,
    manifold = M, half_axes = pmin(sqrt(e$values), reach), axes = modes_at(M, covariance$point, t(e$vectors)),
    shape = shape, basis = paste0("the law of the noise, the released covariance, a normal error of sampling",
                                  if (private_size(r)) ", and the law of the released size"),
    about = population_about(error_kind(r)), covers = c(COVERS, "sampling"), method = "asymptotic",
    leaves_out = setdiff(errors_left_out(error_kind(r)), "sampling")
  ), class = c("riemdp_ellipsoid", "riemdp_region"))
}

# how many covariances are drawn, and how many errors for all of them
ELLIPSOID_COVARIANCES <- 160
ELLIPSOID_ERRORS <- 10000

# Those of the error of sampling: second moments are no more than the square of the length that is allowed
sampling_covariances <- function(covariances, covariance, told, ball) {
  most <- covariance$length^2
  lapply(covariances, function(S) {
    S <- unrounded(S, covariance$rounding, told$times)
    square <- told$times * sum(diag(S))
    S * told$times * min(1, most / square) / (told$n * least_bend(ball, min(most, square), most)^2)
  })
}

# the squares of its axes: those of the released eigenvectors, one for all that aren't seen
ellipsoid_shape <- function(each, drawn, known) {
  axes <- rowMeans(vapply(each, diag, numeric(ncol(drawn$basis))))
  rest <- drawn$seen + seq_len(length(axes) - drawn$seen)
  axes[rest] <- mean(axes[rest])
  axes + sum(known$cells$weight * known$far^2) / length(axes)
}

# Second moments before rows were rounded, at least: root mean squares add up as lengths do, `times` the released ones
# being those over the least number of records
unrounded <- function(S, far, times) with_ball(times * S, far) / times

# What may fail of a released size: a twentieth for how many records there are at least, a twentieth for how far the
# mean is from what noise was added to
SIZE_FAILS <- 0.05

# What follows from how many records there are: list(n, level, noise, pull, times). Where the number is private n is the
# least there may be, `pull` how far missing points may carry the mean, one way, and the covariance is of sums over n.
ellipsoid_counted <- function(r, covariance, level) {
  if (!private_size(r)) {
    return(list(n = r$n, level = level, noise = function(level) mean_region(r, level)$radius, pull = 0, times = 1))
  }
  each <- 1 - SIZE_FAILS * (1 - level)
  n <- max(1, size_interval(r, each)[1])
  list(n = n, level = level + 2 * SIZE_FAILS * (1 - level), noise = function(level) unsized_noise(r, level),
       pull = size_reach(r, each), times = counted_or_told(covariance) / n)
}

# how far noise alone carries the mean of a released number of points
unsized_noise <- function(r, level) {
  if (!is.null(r$released)) r$value <- r$released
  region <- mean_mechanisms()[[r$mechanism]]$region
  found <- if (!is.null(region) && !isTRUE(r$beyond)) region(r, level)
  min(found$radius, ball_reach(r))
}

# An ellipsoid that holds all sums of a point of {v'Q^-1 v <= 1} and one no longer than `far`, of those of the form
# (1 + 1/p) Q + (1 + p) far^2 I that with the least trace
with_ball <- function(Q, far) {
  if (far == 0) return(Q)
  p <- sqrt(mean(diag(Q))) / far
  if (p == 0) return(diag(far^2, nrow(Q)))
  (1 + 1 / p) * Q + diag((1 + p) * far^2, nrow(Q))
}

# for errors of sampling with each of these covariances; `axes`: the diagonal of A
ellipsoid_quantile <- function(covariances, axes, n, far, weight, level) {
  d <- length(axes)
  each <- ceiling(ELLIPSOID_ERRORS / length(covariances))
  lengths <- lapply(covariances, function(S) {
    e <- eigen(S, symmetric = TRUE)
    z <- matrix(stats::rnorm(d * each), d) * rep(sqrt(max(1, n - 1) / stats::rchisq(each, max(1, n - d))), each = d)
    u <- matrix(stats::rnorm(d * each), d)
    l <- far[sample.int(length(far), each, TRUE, weight)]
    v <- e$vectors %*% (sqrt(pmax(e$values, 0)) * z) + u * rep(l / sqrt(colSums(u^2)), each = d)
    colSums(v^2 / axes)
  })
  stats::quantile(unlist(lengths), level, names = FALSE)
}

# which points a ball or an ellipsoid holds
points_inside <- function(region, x) {
  M <- region$manifold
  check_points(x, M)
  if (!inherits(region, "riemdp_ellipsoid")) return(mf_dist(M, region$center, x) <= region$radius)
  x <- mf_points(x, M)
  inverse <- solve(region$shape)
  vapply(seq_along(x), function(i) {
    v <- tryCatch(as.vector(mf_coords(M, region$center, mf_log(M, region$center, as_single(x[i])))),
                  riemdp_error = function(e) NaN)
    isTRUE(sum(v * (inverse %*% v)) <= 1)
  }, NA)
}

# Both errors of the released point in any one direction: list(privacy, sampling, half)
mean_direction <- function(r, level, about) {
  if (!is.null(r$inside)) r <- release_inside(r)
  s <- if (about == "population") r$squares %||% no_squares()
  ball <- if (!is.null(s)) check_radius(r$manifold, r$radius, r$center)
  population_direction(mf_facts(r$manifold)$dimension, ball, s, function(level) mean_region(r, level)$radius, level,
                       counted_or_told(r))
}

# the mean of a population of such records
population_about <- function(kind) {
  sub("the mean of the", "the mean of the population of", sub(", each of its own", ", each of its", error_about(kind)))
}

variance_interval <- function(r, level, about) {
  if (is.null(r$squares)) no_squares()
  private <- private_size(r)
  sizes <- squares_sizes(r, (1 + level) / 2)
  each <- if (private) (1 + level) / 2 else level
  if (about == "estimate") squares_interval(r$squares, each, sizes[1], sizes[2]) else
    squares_population(r$squares, each, sizes[1], sizes[2])
}

# lines of print()
variance_words <- function(r) {
  if (is.null(r$squares)) return(NULL)
  sprintf(paste("mean squared distance of the %s from the %s: %.3g as released, so sampling errs by about %.3g;",
                "confint() takes both errors together"), counted_words(r),
          if (is.null(r$released)) "released point" else "point drawn", squares_value(r$squares, counted_or_told(r)),
          sampling_error(r))
}

# root mean square of the distance of the records' mean from the population's, as in flat space
sampling_error <- function(r) {
  n <- counted_or_told(r)
  sqrt(squares_value(r$squares, n) / n)
}

# how many records (units) there are, or what was released of it
counted_or_told <- function(r) if (private_size(r)) max(1, r$size$count) else r$n
