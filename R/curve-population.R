# What a released curve says about the population's, from released numbers and public laws (inst/proofs/inference.md,
# section 10): its last step turned round, in the coordinates of that step.

# why there is no band about the population, NULL where there is one; from the release and public facts
curve_why <- function(object, residual) {
  why <- lawless_why(object$mechanism, "band")
  if (!is.null(why)) return(c("unsupported", why))
  last <- object$details$last
  if (is.null(last)) {
    return(c("argument", "the release must be as dp_regression() made it: parts of it are missing or of another kind."))
  }
  if (!inherits(residual, "riemdp_residual_scale")) {
    return(c("argument", "about the population: give `residual`, a release of dp_residual_scale() for this curve."))
  }
  if (!identical(residual$coefficients, object$value)) return(c("argument", "`residual` must be of this very curve."))
  if (!is.numeric(residual$cuts$sum)) {
    return(c("argument", "`residual` must be as dp_residual_scale() makes it: what the loss cuts is missing."))
  }
  if (isTRUE(last$edge)) {
    return(c("unsupported", paste("no band about the population: the last step left the public domain and was moved",
                                  "back to its edge. A larger `radius` or `speed`, or more `epsilon`, would do.")))
  }
}

# Features of the last step at predictors u, (1, u) on [-1, 1]: q x (1 + k) x K
curve_features <- function(last, reach, u) {
  q <- length(last$lambda)
  out <- array(rep(u, each = q), c(q, dim(u)))
  if (nrow(u) == 2) {
    bent <- bent_features(last$lambda, reach, u[2, ] * reach)
    out[, 1, ] <- bent$bend
    out[, 2, ] <- bent$swing
  }
  out
}

curve_equation <- function(object) {
  last <- object$details$last
  rule <- last$rule
  reach <- object$columns$half
  q <- nrow(last$step)
  p <- ncol(last$step)
  eq <- list(step = last$step, features = function(u) curve_features(last, reach, u))
  newton <- !is.null(rule$ridge)
  noisy <- isTRUE(rule$noisy)
  scale <- feature_scale(last$lambda, reach)
  eq$noise <- if (newton || noisy) { # as the step draws it
    rate <- if (newton) newton_rate(rule, bent_angles(last$lambda, reach, rule$norm)) else
      outwards_down(rule$rate / newton_gauge(last$lambda, reach, rule$norm))
    function() perturbation_draw(rule$norm, p, q, rate) * scale
  } else function() matrix(stats::rnorm(p * q, sd = rule$sd), q)
  if (newton) {
    ridge <- rep(rule$ridge, each = q) * scale^2
    return(c(eq, list(loss = last_loss(object), pull = ridge * last$step)))
  }
  c(eq, list(loss = last_loss(object), pull = last$step / rep(rule$size, each = q), turn = -1))
}

# Draws of how far the released curve is from the population's: list(off, q x (1 + k) x nsim, variances)
curve_draws <- function(object, residual, nsim, parts = c("privacy", "sampling"), new = FALSE) {
  k <- nrow(object$columns)
  known <- released_moments(residual$moments, k)
  n <- counted_or_told(object)
  abort_blurred(known$sd, k, n)
  if (new && residual$squares$sum > CUT_MOST * n * residual$bound^2) abort_cut()
  eq <- curve_equation(object)
  unit <- object$residual_bound
  q <- nrow(eq$step)
  # draws that are farther away than two curves of the public domain tell nothing
  limit <- 2 * (object$radius + sum(object$speed * object$columns$half))
  with_simulation(1, {
    sizes <- drawn_sizes(object, nsim, k + 2)
    v <- unit^2 * as.vector(sized_variances(residual, sizes$all, residual$bound^2,
                                            function(n) residual_left(object, n), nsim))
    cuts <- drawn_cuts(residual$cuts, eq$loss, sizes$all, residual_left(object, sizes$all))
    each <- lapply(seq_len(nsim), function(i) {
      moments <- drawn_moments(known$xx, sizes$all[i], known$noise)
      eq$n <- sizes$taken[i]
      eq$gain <- cuts$gain[i]
      list(off = equation_root(eq, rep(cuts$sd[i]^2, q), moments, parts, limit), short = moments$short)
    })
  })
  off <- vapply(each, `[[`, 0 * eq$step, "off")
  lost <- mean(vapply(each, `[[`, NA, "short") | apply(abs(off), 3, max) >= limit - max(abs(eq$step)))
  if (lost > LOST_MOST) abort_lost()
  list(off = off, variances = v)
}

# How far apart both curves are at predictors x (k x n, from the middle): q coordinates, n x nsim x q, to first order
curve_apart <- function(object, off, x) {
  reach <- object$columns$half
  features <- curve_features(object$details$last, reach, rbind(1, x / reach))
  q <- dim(off)[1]
  vapply(seq_len(q), function(j) {
    t(matrix(features[j, , ], ncol(off))) %*% matrix(off[j, , ], ncol(off))
  }, matrix(0, ncol(x), dim(off)[3]))
}

# radii of lengths, a row of draws each
band_radii <- function(apart, level) {
  apply(sqrt(rowSums(apart^2, dims = 2)), 1, stats::quantile, level, names = FALSE, type = 6)
}

# the band about the population's curve, or with `new` where a new record lies
curve_population <- function(object, residual, level, x, nsim, new = FALSE) {
  draws <- curve_draws(object, residual, nsim, new = new)
  apart <- curve_apart(object, draws$off, x)
  total <- apart
  if (new) total <- apart + with_simulation(2, stats::rnorm(length(apart))) * rep(sqrt(draws$variances), each = ncol(x))
  size <- function(a) sqrt(apply(rowSums(a^2, dims = 2), 1, stats::median) / stats::qchisq(0.5, dim(a)[3]))
  all <- size(apart)
  sampled <- curve_draws(object, residual, min(nsim, max(200, nsim / 4)), "sampling")
  sampling <- pmin(size(curve_apart(object, sampled$off, x)), all)
  structure(list(
    x = t(x), curve = curve_of_state(object$manifold, object$value, x), radius = band_radii(total, level),
    level = level, manifold = object$manifold,
    std.error = cbind(total = all, privacy = sqrt(all^2 - sampling^2), sampling = sampling),
    basis = "the noise's law and the released scale of residuals, for many records",
    about = if (new) "a new record" else "the curve of the population",
    covers = c(COVERS, "sampling", if (new) "a record's own error"), leaves_out = "clipping"
  ), class = c("riemdp_population_band", "riemdp_band"))
}
