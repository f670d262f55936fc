# tau: gradient norm to which the private solver goes; public and fixed
SOLVER_TOLERANCE <- 1e-10

#' Private Frechet mean
#'
#' Releases a differentially private Frechet mean of records that lie in a public ball.
#'
#' The ball around `center` with `radius` must be chosen without looking at the records: from the meaning of the data, earlier
#' published results or a standard. Records outside are moved to the ball's nearest point, one by one and silently, so that
#' the guarantee holds for any data. There is no default taken from the data, and a non-private [frechet_mean()] is refused as a
#' centre.
#'
#' @section Mechanisms:
#' * `"laplace"`: a draw around the mean with density proportional to \eqn{\exp(-d/\sigma)}, on homogeneous manifolds (sphere,
#'   hyperbolic, positive definite matrices with the affine-invariant or log-Euclidean metric, planar shapes, Euclidean),
#'   \eqn{\sigma = \Delta/\epsilon}.
#' * `"wrapped"`: noise with density proportional to \eqn{\exp(-|z|/\sigma)} added to the mean's logarithm at `center`,
#'   mapped back by exp; on every manifold for which curvature bounds are known (also Bures-Wasserstein, Stiefel, Grassmann).
#' * `"auto"`: of the two, the one with the smaller [expected_error()], which depends on public quantities only.
#'
#' \eqn{\Delta} is the [mean_sensitivity()] plus what the solver's error adds. Samplers are exact.
#'
#' @section Failures don't speak:
#' Errors depend on public facts only: types, shapes, dimensions, bounds, budget. With `invalid = "error"` (for the curator, who
#' may see the records) records that are no points of the manifold are reported by number before anything is drawn; this check
#' is not part of the release. With `invalid = "center"` such a record counts as the centre, and the number of records
#' stays as it is. Records at the cut locus of the centre count as the centre in both cases.
#'
#' @param x records, in any shape that functions on `M` accept (see [geometry]); their number is public.
#' @param M a manifold.
#' @param epsilon privacy budget, positive.
#' @param center the ball's public centre, one point.
#' @param radius its public radius, in the units of the metric; below \eqn{\pi/4} on spheres, \eqn{\pi/8} on planar shapes, in
#'   general below half of \eqn{\min(\mathrm{inj}, \pi/(2\sqrt\kappa))} for curvature up to \eqn{\kappa > 0}.
#' @param ... nothing; later arguments must be named.
#' @param delta 0: both mechanisms are pure.
#' @param mechanism `"auto"`, `"laplace"` or `"wrapped"`.
#' @param calibration `"proven"`, or `"paper"` for the constants of Reimherr, Bharath and Soto (2021), labelled not private
#'   (Laplace only).
#' @param invalid `"error"` or `"center"`, what to do with records that are no points.
#' @return An object of class `dp_mean` and [dp_release]: `value` (the released point, in the shape of a single record),
#'   `manifold`, `mechanism`, `n`, `center`, `radius`, `sensitivity`, `theorem`, `solver_error`, `scale`, `expected_error`,
#'   `calibration`, `chosen` (why this mechanism), `guarantee` (see [guarantee()]).
#' @references
#' Reimherr, M., Bharath, K. and Soto, C. (2021). Differential Privacy over Riemannian Manifolds. *Advances in Neural
#' Information Processing Systems* 34.
#'
#' Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private data analysis. *Theory of
#' Cryptography*, 265-284. \doi{10.1007/11681878_14}
#' @seealso [guarantee()], [mean_sensitivity()], [expected_error()], [with_simulation()]
#' @examples
#' # epicentres near Fiji as directions; the centre is 20 S, 180 E, a round figure from the map
#' direction <- function(lat, long) {
#'   cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
#' }
#' x <- direction(quakes$lat * pi / 180, quakes$long * pi / 180)
#' fiji <- drop(direction(-20 * pi / 180, pi))
#' dp_mean(x, sphere(2), epsilon = 1, center = fiji, radius = 0.4)
#' @export
dp_mean <- function(x, M, epsilon, center, radius, ..., delta = 0, mechanism = c("auto", "laplace", "wrapped"),
                    calibration = c("proven", "paper"), invalid = c("error", "center")) {
  check_dots_empty(...)
  check_manifold(M)
  missing_one <- c("epsilon", "center", "radius")[c(missing(epsilon), missing(center), missing(radius))]
  if (length(missing_one)) {
    abort_riemdp("argument", sprintf("`%s` is public and has no default: give it.", missing_one[1]))
  }
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  delta <- check_number(delta, "delta", least = 0, most = 1)
  mechanism <- check_choice(mechanism, "mechanism", c("auto", "laplace", "wrapped"))
  calibration <- check_choice(calibration, "calibration", c("proven", "paper"))
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  if (delta != 0) {
    abort_riemdp("argument", "`delta` must be 0: the Laplace and the wrapped mechanism are pure.")
  }
  center <- public_point(M, center)
  n <- record_count(M, x)
  plan <- plan_mean(M, n, epsilon, center, radius, mechanism, calibration)
  if (invalid == "error") mf_check(M, x)
  value <- .Call(riemdp_release_mean, M, x, center, plan$facts$radius, c(plan$facts$k_min, plan$facts$k_max),
                 LAW[[plan$mechanism]], plan$scale, SOLVER_TOLERANCE, in_simulation())
  new_release(
    value, "dp_mean",
    manifold = M, mechanism = plan$mechanism, n = n, center = center, radius = plan$facts$radius,
    sensitivity = as.numeric(plan$sensitivity), theorem = attr(plan$sensitivity, "theorem"),
    solver_error = plan$solver_error, scale = plan$scale, expected_error = plan$expected_error,
    calibration = calibration, chosen = plan$chosen, guarantee = plan$guarantee
  )
}

# A public centre: one checked point, stripped of what a data object may carry along.
public_point <- function(M, center) {
  if (inherits(center, "frechet_mean") || inherits(center, "dp_release")) {
    if (inherits(center, "frechet_mean")) {
      abort_riemdp("argument", "`center` must be public: a non-private Frechet mean of records is not.")
    }
    center <- center$value
  }
  if (is.data.frame(center)) center <- data_frame_matrix(center)
  mf_check(M, center)
  if (inherits(center, "mf_points")) {
    center <- as.array(center)
    if (mf_facts(M)$rows > 0) center <- center[seq_along(center)]
    facts <- mf_facts(M)
    center <- if (facts$cols > 0) matrix(center, facts$rows) else as.vector(center)
  }
  if (.Call(riemdp_count, M, center) != 1) {
    abort_riemdp("shape", "`center` must be one point.")
  }
  if (is.complex(center)) {
    return(as.vector(center))
  }
  facts <- mf_facts(M)
  if (facts$rows > 0) {
    matrix(as.double(center), facts$rows)
  } else {
    as.double(center)
  }
}

record_count <- function(M, x) {
  n <- .Call(riemdp_count, M, x)
  if (n < 1) {
    abort_riemdp("shape", "`x` must hold at least one record.")
  }
  n
}

# everything that is decided before records are touched
plan_mean <- function(M, n, epsilon, center, radius, mechanism, calibration) {
  facts <- check_radius(M, radius, center)
  if (facts$k_min == -Inf) {
    abort_riemdp("unsupported", "a private mean needs a finite lower bound of the curvature, `k_min`.")
  }
  sensitivity <- mean_sensitivity_at(n, facts, calibration)
  option <- function(mechanism) {
    extra <- solver_error(facts, SOLVER_TOLERANCE, mechanism == "wrapped")
    list(mechanism = mechanism, solver_error = extra, scale = outwards((as.numeric(sensitivity) + extra) / epsilon))
  }
  has_laplace <- mf_facts(M)$has_laplace && mf_facts(M)$homogeneous
  error_of <- function(o) {
    # a user's callbacks aren't asked: what they do is their own, and an error here would be loud
    if (inherits(M, "mf_custom")) {
      return(mf_facts(M)$dimension * o$scale)
    }
    expected_error(M, o$scale, o$mechanism, center, facts$radius)
  }
  if (mechanism == "auto") {
    wrapped <- option("wrapped")
    laplace <- option("laplace")
    if (calibration == "paper") {
      plan <- laplace
      plan$chosen <- "the only mechanism that the papers calibrate"
    } else if (!has_laplace || !laplace_exists(M, laplace$scale)) {
      plan <- wrapped
      plan$chosen <- if (has_laplace) "the Laplace law does not exist at this scale" else "no exact Laplace law on this manifold"
    } else {
      errors <- c(laplace = error_of(laplace), wrapped = error_of(wrapped))
      # simulated errors carry some noise: the wrapped mechanism has to be clearly better
      plan <- if (errors[["laplace"]] <= 1.02 * errors[["wrapped"]]) laplace else wrapped
      plan$chosen <- sprintf("smaller expected error: laplace %.4g, wrapped %.4g", errors[[1]], errors[[2]])
    }
  } else {
    plan <- option(mechanism)
    plan$chosen <- "asked for"
  }
  if (plan$mechanism == "laplace") check_laplace(M, plan$scale, n, epsilon, facts$radius)
  if (plan$mechanism == "wrapped" && calibration == "paper") {
    abort_riemdp("argument", "`calibration = \"paper\"` exists for mechanism = \"laplace\" only.")
  }
  reasons <- c(
    if (calibration == "paper") "a paper's calibration, kept for comparison",
    if (in_simulation()) "seeded simulation: the noise can be drawn again",
    if (inherits(M, "mf_custom")) "curvature bounds and callbacks of a user's manifold are taken on trust"
  )
  plan$guarantee <- new_guarantee(
    epsilon, 0, reasons,
    sampler = "exact", rng = if (in_simulation()) "simulation" else "operating system", numerics = "real-valued",
    assumptions = "center and radius are public; the number of records is public"
  )
  plan$expected_error <- error_of(plan)
  plan$facts <- facts
  plan$sensitivity <- sensitivity
  plan
}
