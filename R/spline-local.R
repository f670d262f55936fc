# Local Frechet means along a public grid: what dp_spline() and spline_regression() do for target = "frechet". A record
# counts in eighths at the two knots beside its predictor; released are each knot's number of eighths and that number
# times the logarithm of their mean, by dp_spline()'s noise. Proof: inst/proofs/regression.md, section 7.

LOCAL_PARTS <- 8
# knots at which a replaced record counts, before and after
LOCAL_TOUCHED <- 4

# refuses local means that can't be had, from public facts; `why`: what else speaks against them
check_local <- function(ask, why = NULL) {
  why <- c(if (ask$basis$degree != 1) "it is for B-splines of degree 1: y ~ bs(t, df = 8, degree = 1).",
           if (!is.null(ask$velocity)) "it has a constant reference: give no `velocity`.", why)
  if (length(why)) abort_riemdp("unsupported", paste("target = \"frechet\":", why[1]))
}

# What is asked for with what local means add: `reach`, by which multiple of the radius a record moves the sums of
# logarithms, `off`, what doubles' errors add in units of the radius, and how means are computed.
local_means_ask <- function(ask, given = NULL) {
  check_local(ask, c(
    if (!is.null(given$units)) "not for units.", if (isTRUE(given$chunks)) "not for records in chunks.",
    if (is.na(ask$n)) "the number of records must be public.", if (ask$delta > 0) "it is pure: give no `delta`.",
    if (isTRUE(ask$n * LOCAL_PARTS > 2^31)) "there are too many records."
  ))
  ask$ball <- check_radius(ask$manifold, ask$radius, ask$center)
  steps <- mean_steps(ask$manifold, ask$ball, max(1, ask$n * LOCAL_PARTS), lattice = TRUE)
  check_local(ask, if (!is.null(steps$why)) paste0(steps$why, "."))
  reach <- counted_reach(ask$ball, wrapped = TRUE)
  # of sums over all records, at each knot that a record touches, with it and without it
  off <- 2 * LOCAL_TOUCHED * ask$n * (steps$error + 4 * UNIT_ROUNDOFF * ask$radius)
  check_rounding(off, reach)
  ask$pairs <- cbind(seq_len(spline_count(ask$basis)), seq_len(spline_count(ask$basis)))
  ask$local <- list(reach = outwards(reach / ask$radius), off = outwards(off / ask$radius), numbers = steps$numbers,
                    assumptions = steps_assumptions(ask$manifold, steps))
  ask
}

# Eighths at each knot, knots x n, of each record by itself: 8 in all where it counts, at one knot or two neighbours
local_parts <- function(s) {
  at <- round(LOCAL_PARTS * colSums(s * (seq_len(nrow(s)) - 1)))
  at <- pmin(pmax(at, 0), LOCAL_PARTS * (nrow(s) - 1))
  at[!is.finite(at) | colSums(s) == 0] <- NA
  out <- matrix(0, nrow(s), ncol(s))
  there <- which(!is.na(at))
  low <- at[there] %/% LOCAL_PARTS + 1
  high <- at[there] %% LOCAL_PARTS
  out[cbind(low, there)] <- LOCAL_PARTS - high
  beside <- high > 0
  out[cbind(low[beside] + 1, there[beside])] <- high[beside]
  out
}

# Of B-splines and logarithms of records, whole numbers as spline_total() has them: number of records times the
# logarithm of their mean over the radius, a row for each knot; that number; and how many records count
local_total <- function(found, noise, ask) {
  M <- ask$manifold
  parts <- local_parts(found$s)
  # the responses, moved to the ball
  y <- storage_rows(mf_exp(M, ask$center, tangent_vectors(M, ask$center, found$logs * ask$radius)), M)
  moment <- vapply(seq_len(nrow(parts)), function(j) {
    each <- rep(seq_len(ncol(parts)), parts[j, ])
    if (!length(each)) return(numeric(ask$d))
    here <- new_points(y[each, , drop = FALSE], M)
    a <- .Call(riemdp_steps_mean_nonprivate, M, here, ask$center, ask$local$numbers, NULL)
    length(each) / LOCAL_PARTS * as.vector(a) / ask$radius
  }, numeric(ask$d))
  numbers <- c(rowSums(parts), sum(parts)) / LOCAL_PARTS
  c(round(2^noise$bits * t(matrix(moment, ask$d))), 2^noise$bits * numbers)
}

# The plain counterpart, by whole weights: number of records times the logarithm of their mean, knots x coordinates, and
# those numbers as a diagonal matrix
local_sums <- function(fit, s, y) {
  M <- fit$manifold
  moment <- vapply(seq_len(nrow(s)), function(j) {
    if (!any(s[j, ] > 0)) return(numeric(mf_facts(M)$dimension))
    mean <- frechet_mean(y, M, weights = s[j, ])$mean
    sum(s[j, ]) * as.vector(mf_coords(M, fit$center, mf_log(M, fit$center, mean)))
  }, numeric(mf_facts(M)$dimension))
  list(gram = diag(rowSums(s), nrow(s)), moment = t(matrix(moment, ncol = nrow(s))))
}
