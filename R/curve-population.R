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
    return(c(eq, list(loss = last_loss(object), pull = ridge * last$step, ridge = ridge)))
  }
  size <- matrix(rule$size, q, p, byrow = TRUE)
  c(eq, list(loss = last_loss(object), pull = last$step / size, size = size, turn = -1))
}

# what is left out of a draw where it changes lengths by less than half of it
CURVE_NEGLIGIBLE <- 0.02

# One draw of how far the release is from a population's curve (inference.md, 10): list(off; sampled, what is of the
# error of sampling alone; share, of errors in the standard deviation of residuals; lost, where no curve goes with the
# draw). `sd` of residuals, `table` of normal_cuts().
curve_root <- function(eq, sd, table, moments, limit) {
  q <- nrow(eq$step)
  both <- c("privacy", "sampling")
  drawn <- equation_drawn(eq, moments, both)
  sampled <- sampled_at(eq, drawn, rep(sd^2, q))
  off <- root_at(eq, drawn, sampled, both, limit)
  lost <- moments$short || max(abs(off)) >= limit - max(abs(eq$step))
  share <- error_share(eq, drawn$features, off, sd, table)
  if (share < 1) {
    sampled <- sampled_at(eq, drawn, rep((share * sd)^2, q))
    off <- root_at(eq, drawn, sampled, both, limit)
  }
  if (!lost) off <- released_again(eq, drawn$features, sampled, share * sd, off, table, limit)
  drawn$noise <- 0 * eq$step
  list(off = off, sampled = root_at(eq, drawn, sampled, "sampling", limit), share = share, lost = lost)
}

# Residuals are errors less how far the curves are apart. The share s of their standard deviation that is of errors:
# s^2 sd^2 + |F c|^2/q = sd^2, where c moves with what the loss leaves of slopes.
error_share <- function(eq, features, off, sd, table) {
  fixed <- if (isTRUE(eq$turn < 0)) eq$step else 0 * off
  parts <- lapply(list(fixed, off - fixed), function(b) features_times(features, b))
  mean <- function(i, j) sum(parts[[i]] * parts[[j]]) / length(parts[[1]])
  if (mean(1, 1) + 2 * mean(1, 2) + mean(2, 2) < CURVE_NEGLIGIBLE * sd^2) return(1)
  slope <- function(flat) pmax(1 - flat, 1e-6)
  ratio <- slope(flat_at(table, sd)) / slope(table$flat)
  apart <- mean(1, 1) + 2 * mean(1, 2) * ratio + mean(2, 2) * ratio^2
  over <- table$sd^2 + apart - sd^2
  at <- max(c(0, which(over < 0 & table$sd < sd)))
  if (at == 0) return(min(1, sqrt(max(1e-4, 1 - apart[1] / sd^2)))) # the loss cuts nothing of such errors
  if (at == nrow(table)) return(1)
  at <- at + over[at] / (over[at] - over[at + 1])
  min(1, stats::approx(seq_along(table$sd), table$sd, at)$y / sd)
}

# what a loss takes off the slope of errors of this standard deviation
flat_at <- function(table, sd) stats::approx(log(table$sd), table$flat, log(sd), rule = 2)$y

# F b, q x K
features_times <- function(features, b) {
  out <- 0
  for (j in seq_len(ncol(b))) out <- out + one_feature(features, j, nrow(b)) * b[, j]
  out
}

# How far the release is from the population's curve when the noise of its last step is drawn anew: its ridge pulls it
# to where the step began, or its step ends short. Records stay the drawn ones, as the step began at an estimate from
# them. `sd` of errors; `off` itself where that is next to nothing.
released_again <- function(eq, features, sampled, sd, off, table, limit) {
  truth <- eq$step - off
  slope <- 1 - flat_at(table, sd)
  weight <- eq$n * slope * apply(features^2, c(1, 2), mean)
  left <- if (is.null(eq$ridge)) abs(eq$size * weight - 1) else eq$ridge / weight
  if (max(left) < CURVE_NEGLIGIBLE) return(off)
  noise <- eq$noise()
  each <- ncol(sampled$errors) / eq$n
  if (!is.null(eq$ridge)) {
    h <- (eq$ridge * truth + noise) * each - sampled$sum
    return(solved_equation(features, sampled$errors, h, eq$loss, limit, eq$ridge * each))
  }
  psi <- psi_of(eq$loss, sampled$errors + features_times(features, truth))
  eq$size * ((summed_features(features, psi) + sampled$sum) / each - noise) - truth
}

# Draws of how far the released curve is from the population's, of both parts and of sampling alone:
# list(off, sampled: q x (1 + k) x nsim, variances)
curve_draws <- function(object, residual, nsim, new = FALSE) {
  k <- nrow(object$columns)
  known <- released_moments(residual$moments, k)
  n <- counted_or_told(object)
  abort_blurred(known$sd, k, n)
  if (new && residual$squares$sum > CUT_MOST * n * residual$bound^2) abort_cut()
  eq <- curve_equation(object)
  unit <- object$residual_bound
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
      curve_root(eq, cuts$sd[i], cuts$table, moments, limit)
    })
  })
  if (mean(vapply(each, `[[`, NA, "lost")) > LOST_MOST) abort_lost()
  list(off = vapply(each, `[[`, 0 * eq$step, "off"), sampled = vapply(each, `[[`, 0 * eq$step, "sampled"),
       variances = v * vapply(each, `[[`, 0, "share")^2)
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
  sampling <- pmin(size(curve_apart(object, draws$sampled, x)), all)
  structure(list(
    x = t(x), curve = curve_of_state(object$manifold, object$value, x), radius = band_radii(total, level),
    level = level, manifold = object$manifold,
    std.error = cbind(total = all, privacy = sqrt(all^2 - sampling^2), sampling = sampling),
    basis = "the noise's law and the released scale of residuals, for many records",
    about = if (new) "a new record" else "the curve of the population",
    covers = c(COVERS, "sampling", if (new) "a record's own error"), leaves_out = "clipping"
  ), class = c("riemdp_population_band", "riemdp_band"))
}
