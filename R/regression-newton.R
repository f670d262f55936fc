# Private geodesic regression by Gauss-Newton steps, each a linear regression by objective perturbation in the tangent
# space at what the step before released (inst/proofs/regression.md). Everything but newton_step() is a function of
# public numbers and releases.

# ---- what a record may cost ------------------------------------------------------------------------------------------
# Section 2 of the proof. Where curvature is negative features are divided by their largest values, and no record is
# beyond those of flat space then. Where it is positive a direction's leverage is small where its gradient is long: both
# are bounded together.

# Features of records with one predictor x, up to `reach`: list(bend, swing), what multiplies dp and reach times dv, a
# row for each eigenvalue of the curvature along the curve
bent_features <- function(lambda, reach, x) {
  root <- sqrt(abs(lambda))
  bend <- swing <- matrix(0, length(root), length(x))
  for (j in seq_along(root)) {
    angle <- root[j] * abs(x)
    low <- lambda[j] < 0
    bend[j, ] <- if (low) cosh(angle) else cos(angle)
    swing[j, ] <- ifelse(angle < 1e-8, 1, (if (low) sinh(angle) else sin(angle)) / pmax(angle, 1e-8)) * x / reach
  }
  list(bend = bend, swing = swing)
}

# The largest values of features where curvature is negative, else 1: noise is multiplied by them, ridges by their
# squares
feature_scale <- function(lambda, reach) {
  scale <- matrix(1, length(lambda), 1 + length(reach))
  angle <- sqrt(pmax(0, -lambda)) * reach[1]
  low <- angle > 1e-8
  if (length(reach) == 1) scale[low, ] <- outwards(cbind(cosh(angle), sinh(angle) / angle)[low, ])
  scale
}

scaled_features <- function(features, scale) {
  if (all(scale == 1)) return(features)
  features <- features / as.vector(scale)
  features[!is.finite(features)] <- 0
  features
}

# The largest angle sqrt(lambda) |x| of each direction, 0 where curvature isn't positive; NULL where no record is beyond
# those of flat space: for smaller angles than 1e-8 features are these to the last digit
bent_angles <- function(lambda, reach, norm) {
  if (length(reach) > 1 || norm != "vertex") return(NULL)
  angles <- sqrt(pmax(0, lambda)) * reach
  if (any(angles > 1e-8)) angles
}

# The most of N(F'w)/|w| over records, F scaled
newton_gauge <- function(lambda, reach, norm) {
  angles <- bent_angles(lambda, reach, norm)
  if (is.null(angles)) 1 else cells_gauge(feature_cells(unique(angles), c(1, 1)))
}

# the largest rate of the noise for these ridges and this loss
newton_rate <- function(rule, angles) {
  if (is.null(angles)) return(outwards_down(rule$rate))
  lines <- record_lines(rule, rule$ridge, angles)
  left <- rule$core * (1 - 1e-11 * length(angles)) - 1e-13 - lines$constant # rounding
  outwards_down(min(left / lines$slope) / rule$tau)
}

# ---- the plan --------------------------------------------------------------------------------------------------------

# beyond this budget steps don't change: the noise is nothing beside the records' own
NEWTON_EPSILON <- 1000

# Shares of epsilon by step
newton_patterns <- list(1, c(0.4, 0.6), c(0.25, 0.75), c(0.1, 0.2, 0.7), c(0.06, 0.14, 0.8), c(0.04, 0.12, 0.84))

# Nominal records: predictors uniform, errors normal, 95 % of them within the bound. `lengths` are quantiles of the
# length of a standard normal vector, sd that of a coordinate, `moment` the mean squares of (1, x/reach).
newton_model <- function(q, k, bound) {
  list(q = q, k = k, sd = bound / sqrt(stats::qchisq(0.95, q)), moment = c(1, rep(1 / 3, k)),
       lengths = sqrt(stats::qchisq((seq_len(60) - 0.5) / 60, q)))
}

# Constants of a step with `epsilon` of its own; q the manifold's dimension, k predictors. m = 2 n epsilon/q.
newton_start <- function(n, epsilon, q, predictors, bound, share, first, averaged = FALSE) {
  solver <- solver_share(n) * epsilon
  core <- epsilon - solver
  m <- 2 * n * epsilon / q
  e1 <- (if (first) 0.7 else 0.75) * core
  found <- existing_loss(core - e1 / 2, e1, q, if (first) 0.7 else 0.75, averaged)
  if (is.null(found)) return(NULL)
  tau <- bound * (if (first) clamp(1.1 * (40 / m)^0.3, 0.8, 1.33) else 0.5 * clamp(sqrt(60 / m), 1, 2))
  if (!first) share <- c(0.2, rep(0.8 / predictors, predictors))
  norm <- best_norm(predictors, q)
  c(list(e1 = e1, t = found$t, g = found$g, tau = tau, ridge = 1 / (found$t * share), share = share, n = n, q = q,
         d = predictors, epsilon = epsilon, solver = solver, core = core, norm = norm, rate = e1 / (2 * tau)),
    if (averaged) list(averaged = TRUE))
}

newton_rule <- function(n, epsilon, q, k, bound, share, first, prior = NULL, model = newton_model(q, k, bound),
                        averaged = FALSE) {
  start <- newton_start(n, epsilon, q, k, bound, share, first, averaged)
  if (is.null(start) || is.null(prior)) return(start)
  core <- epsilon - start$solver
  constants <- function(par) {
    part <- stats::plogis(par[1:3])
    e1 <- part[1] * core
    t <- leverage(part[2], core - e1 / 2, q, averaged)
    tau <- exp(par[4])
    g <- if (t > 1e-300) shared_loss(core - e1 / 2, e1, q, t, averaged)
    if (is.null(g)) return(NULL)
    share <- c(part[3], rep((1 - part[3]) / k, k))
    utils::modifyList(start, list(e1 = e1, t = t, g = g, tau = tau, ridge = 1 / (t * share), share = share,
                                  rate = e1 / (2 * tau)))
  }
  low <- if (first) 0.5 else 0.35
  judge <- function(par) {
    if (exp(par[4]) < low * bound || exp(par[4]) > 3 * bound) return(1e6)
    rule <- constants(par)
    if (is.null(rule)) 1e6 else log(sum(newton_error(rule, prior, model) * model$moment))
  }
  part <- c(start$e1 / core, start$t / leverage(1, core - start$e1 / 2, q, averaged), start$share[1])
  from <- c(stats::qlogis(clamp(part, 0.02, 0.98)), log(start$tau))
  fit <- stats::optim(from, judge, control = list(maxit = 100, reltol = 1e-3))
  if (fit$value < log(sum(newton_error(start, prior, model) * model$moment))) constants(fit$par) else start
}

KNOT_MIDDLES <- LOSS_STEP * (seq_len(LOSS_KNOTS) - 0.5)

# Expected squared distance to the non-private curve after a step from prior second moments (foot point, then reach
# times vectors), in total over coordinates: c(foot point, vectors).
newton_error <- function(rule, prior, model) {
  q <- model$q
  pull <- rule$n * model$moment
  rise <- diff(rule$g)
  # trace of psi's derivative between knots
  curved <- rise / LOSS_STEP + (q - 1) * (rule$g[-1] - rise / 2) / KNOT_MIDDLES
  curved <- c(curved, curved[LOSS_KNOTS])
  kappa_at <- function(sd) {
    knot <- pmin.int(sd * model$lengths / (rule$tau * LOSS_STEP), LOSS_KNOTS) + 1
    sum(curved[knot]) / (q * length(knot))
  }
  v <- noise_second_moment(rule$norm, model$k, q) / rule$rate^2
  spread <- mean(loss_at(rule$g, rule$tau, model$sd * model$lengths)$psi^2) / q
  after <- 0
  for (i in 1:6) { # the loss is as curved as it is at residuals of the perturbed fit, which hold its error too
    kappa <- kappa_at(sqrt(model$sd^2 + sum(after * model$moment) / q))
    s <- kappa * pull / (kappa * pull + rule$ridge)
    before <- after
    # s/kappa, since kappa is 0 where no residual is within the loss's reach
    after <- (1 - s)^2 * (prior + q * model$sd^2 / pull) + v / (kappa * pull + rule$ridge)^2 +
      (pull / (kappa * pull + rule$ridge))^2 * max(0, spread - (kappa * model$sd)^2) * q / pull
    if (sum(abs(after - before)) <= 0.01 * sum(after)) break
  }
  after
}

# What a step leaves because geodesics bend, however many the records: of the size of curvature times the cubed distance
# before. The constant is that of a single step on the sphere and in the hyperbolic plane, .0014 from a distance of .27.
left_by_bending <- function(prior, model, bend) {
  0.005 * bend^2 * sum(prior * model$moment)^3 * c(0.5, rep(1.5 / model$k, model$k))
}

# A step along the sum of clipped gradients with the noise on it: all of epsilon goes into the noise, none into a ridge,
# but its length rests on nominal moments of residuals and predictors, which may be off by these shares. Good for many
# dimensions.
MOMENT_DOUBT <- c(0.15, 0.5)

noisy_rule <- function(n, epsilon, q, k, bound, prior, model = newton_model(q, k, bound)) {
  norm <- best_norm(k, q)
  pull <- n * model$moment
  doubt <- MOMENT_DOUBT[c(1, rep(2, k))]
  width <- sqrt(model$sd^2 + sum(prior * model$moment) / q)
  best <- NULL
  for (tau in bound * exp(seq(log(0.35), log(3), length.out = 18))) {
    slope <- function(sd) {
      r <- sd * model$lengths
      mean(ifelse(r < tau, q, (q - 1) * tau / r)) / q
    }
    kappa <- slope(width)
    spread <- mean(pmin(tau, model$sd * model$lengths)^2) / q
    v <- noise_second_moment(norm, k, q) * (2 * tau / epsilon)^2 +
      pull * q * max(0, spread - (slope(model$sd) * model$sd)^2)
    size <- kappa * pull * prior / ((1 + doubt^2) * (kappa * pull)^2 * prior + v)
    after <- ((1 - size * kappa * pull)^2 + (doubt * size * kappa * pull)^2) * prior + size^2 * v
    if (!is.finite(sum(after * model$moment))) next
    if (is.null(best) || sum(after * model$moment) < sum(best$after * model$moment)) {
      best <- list(tau = tau, size = size, after = after)
    }
  }
  if (is.null(best)) {
    abort_riemdp("existence", "no step can be planned in doubles: n times epsilon is too small, or a bound too large.")
  }
  c(best, list(noisy = TRUE, norm = norm, rate = epsilon / (2 * best$tau), epsilon = epsilon, n = n, q = q, k = k))
}

# The plan with the least expected error: shares of epsilon from `patterns`, by objective perturbation throughout
# (`noisy` FALSE) or with a last step along the noisy gradient (TRUE). Constants of steps are optimised for patterns
# that are near the best without it.
newton_plan <- function(n, epsilon, q, k, radius, speed, bound, reach, patterns = newton_patterns,
                        noisy = c(FALSE, TRUE), bend = 1, averaged = FALSE) {
  numbers <- format(c(n, epsilon, q, k, radius, speed, bound, reach, bend), digits = 17)
  key <- paste(c("newton", numbers, unlist(patterns), lengths(patterns), noisy, averaged), collapse = " ")
  remember(key, function() {
    share <- c(radius, speed * reach)
    share <- share / sum(share)
    epsilon <- min(epsilon, NEWTON_EPSILON)
    model <- newton_model(q, k, bound)
    domain <- c(radius^2, (speed * reach)^2)
    of_pattern <- function(pattern, best, last) {
      prior <- domain / 4
      steps <- list()
      for (i in seq_along(pattern)) {
        if (last && i == length(pattern)) {
          rule <- noisy_rule(n, pattern[i] * epsilon, q, k, bound, prior, model)
          after <- rule$after
        } else {
          rule <- if (best) newton_rule(n, pattern[i] * epsilon, q, k, bound, share, i == 1, prior, model,
                                        averaged) else
            newton_start(n, pattern[i] * epsilon, q, k, bound, share, i == 1, averaged)
          if (is.null(rule)) return(NULL)
          after <- newton_error(rule, prior, model)
        }
        # what is released lies in the public domain
        after <- pmin(after + left_by_bending(prior, model, bend), 4 * domain)
        total <- sum(after * model$moment)
        steps <- c(steps, list(rule))
        prior <- pmin(2 * after + total^2 / 2, 4 * domain)
      }
      list(pattern = pattern, last = last, steps = steps, spread = after, error = sqrt(total))
    }
    rough <- do.call(c, lapply(noisy, function(last) lapply(patterns, of_pattern, best = FALSE, last = last)))
    rough <- Filter(Negate(is.null), rough)
    error <- vapply(rough, `[[`, 0, "error")
    rough <- utils::head(rough[order(error)], 4)
    plans <- lapply(rough, function(p) of_pattern(p$pattern, TRUE, p$last))
    if (length(plans)) plans[[which.min(vapply(plans, function(p) p$error, 0))]]
  })
}

# The model leaves out what curvature and a non-uniform design add: its error times this was at or above the measured
# mean
newton_margin <- function(ask) if (2 * ask$n * ask$epsilon / ask$q < 60) 1.35 else 1.2

constant_error <- function(ask) sqrt(ask$radius^2 / 4 + sum((ask$speed * ask$reach)^2) / 12)

newton_mechanism <- function(name, patterns) {
  list(
    name = name,
    needs_delta = FALSE,
    plan = function(M, ask) {
      facts <- mf_facts(M)
      bend <- max(abs(c(facts$k_min, facts$k_max)))
      plan <- newton_plan(ask$n, ask$epsilon, ask$q, ask$k, ask$radius, ask$speed, ask$residual_bound, ask$reach,
                          patterns, if (isTRUE(facts$k_min >= 0)) c(FALSE, TRUE) else FALSE,
                          if (is.finite(bend)) bend else 1, !is.null(ask$unit))
      if (is.null(plan)) return(NULL)
      margin <- newton_margin(ask)
      list(steps = plan$steps, expected_error = margin * plan$error, spread = margin^2 * plan$spread,
           details = list(shares = plan$pattern, noisy = plan$last, constant = constant_error(ask)),
           guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = NULL))
    },
    release = function(M, x, y, plan, ask) {
      regression_steps(M, x, y, plan$steps, ask, function(records, rule) {
        (if (isTRUE(rule$noisy)) noisy_step else newton_step)(records, rule, ask$reach)
      })
    },
    words = function(r) {
      paste0(sprintf(paste("Gauss-Newton steps with shares %s of epsilon, whose sum is epsilon. Each is a linear",
                           "regression of residuals carried back to the last released foot point, released by",
                           "objective perturbation: the loss is bounded so that gradient and curvature of a",
                           "single %s cannot both be large, and a random linear term is added (theorem %d of",
                           "proofs/linear-regression.md)."),
                     paste(format(r$details$shares), collapse = ", "), if (is.null(r$unit)) "record" else "row",
                     if (is.null(r$unit)) 1 else 2),
             if (isTRUE(r$details$noisy)) paste(" The last one follows the sum of the records' clipped gradients with",
                                                "noise of the same law on it."),
             " Given what was released before, all constants are public.")
    }
  )
}

mechanism_newton <- newton_mechanism("newton", newton_patterns)
mechanism_regression_tangent <- newton_mechanism("tangent", newton_patterns[1])

# ---- one step --------------------------------------------------------------------------------------------------------
# Coordinates in the records' frame, q x (1 + k): dp, then reach times dv

newton_step <- function(records, rule, reach) {
  q <- rule$q
  scale <- feature_scale(records$lambda, reach)
  angles <- bent_angles(records$lambda, reach, rule$norm)
  most <- REACH * rule$tau # beyond it a residual says no more: moved there, record by record
  ridge <- matrix(rep(rule$ridge, each = q), q)
  rate <- newton_rate(rule, angles)
  x <- if (is.null(records$perturbed)) scaled_features(records$features, scale) else
    records$perturbed(most, kernel_loss(rule), scale)
  y <- if (is.null(records$perturbed)) limited_responses(records$responses, most)
  reach <- length(reach) + 1
  tolerance <- solver_tolerance(rule, ridge, rate, most, reach)
  draw_perturbed(x, y, ridge, rule, rate, tolerance, reach, angles = angles) / scale
}

limited_responses <- function(y, most) {
  y <- y * rep(pmin(1, most / sqrt(colSums(y^2))), each = nrow(y))
  y[!is.finite(y)] <- 0
  y
}

noisy_step <- function(records, rule, reach) {
  scale <- feature_scale(records$lambda, reach)
  if (!all(is.finite(scale))) return(matrix(0, rule$q, 1 + length(reach))) # a curve that bends beyond doubles
  gauge <- newton_gauge(records$lambda, reach, rule$norm)
  rate <- outwards_down(rule$rate / gauge)
  noise <- .Call(riemdp_perturbation_noise, length(reach) + 1, rule$q, 1, rule$norm, rate,
                 pay(price_laplace(2 * rule$tau * gauge, 1 / rate, "regression.md, 1")))
  noise <- noise[, , 1] * scale
  (clipped_gradient(records, rule$tau) + noise) * rep(rule$size, each = rule$q)
}
