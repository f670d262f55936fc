# Private geodesic regression by Gauss-Newton steps, each a linear regression by objective perturbation in the tangent space at what the
# step before released (inst/proofs/regression.md). Everything but newton_step() is a function of public numbers and releases.

# The largest speed-up of the noise's rate that a step must pay: the gauge (|g_p + g_v| + |g_p - g_v|)/2 of a record's gradient J'psi
# over |psi| for the vertex norm, max(|g_p|, |g_v|) for the other, over all |x| <= reach and all psi. For each x a bound by duality
# (any pair alpha, beta gives one), between grid points by the slope of the features.
newton_gauge <- function(lambda, reach, norm) {
  if (length(reach) > 1) lambda <- 0
  lambda <- unique(lambda)
  if (norm == "max") return(if (any(lambda < 0)) cosh(sqrt(max(-lambda, 0)) * reach[1]) else 1)
  if (all(lambda == 0)) return(1)
  cells <- 400
  root <- sqrt(abs(lambda))
  low <- lambda < 0
  x <- seq(0, reach, length.out = cells + 1)
  best <- rep(Inf, length(x))
  bend <- swing <- matrix(0, length(root), length(x))
  for (j in seq_along(root)) {
    angle <- root[j] * x
    bend[j, ] <- if (low[j]) cosh(angle) else cos(angle)
    swing[j, ] <- ifelse(angle < 1e-8, 1, (if (low[j]) sinh(angle) else sin(angle)) / pmax(angle, 1e-8)) * x / reach
  }
  for (phi in seq(0.02, pi / 2 - 0.02, length.out = 121)) { # alpha : beta = cos : sin
    most <- apply((bend + swing)^2 / cos(phi) + (bend - swing)^2 / sin(phi), 2, max)
    best <- pmin(best, 0.5 * sqrt(most * (cos(phi) + sin(phi))))
  }
  top <- cosh(max(root[low], 0) * reach)
  slope <- max(root) * (if (any(low)) top else 1) + (if (any(low)) top else 1) / reach
  (max(best) + slope * reach / cells / 2) * (1 + 1e-12)
}

# By how much ridges must exceed those of flat space so that sup_x eig_max(J Lam^-1 J') stays at most t
newton_ridge_factor <- function(lambda, reach, share) {
  low <- min(lambda)
  if (length(reach) > 1 || low >= 0) return(1)
  a <- sqrt(-low) * reach
  (share[1] * cosh(a)^2 + share[2] * (sinh(a) / a)^2) * (1 + 1e-12)
}

# ---- the plan ---------------------------------------------------------------------------------------------------------------

newton_patterns <- list(1, c(0.4, 0.6), c(0.25, 0.75), c(0.1, 0.2, 0.7), c(0.06, 0.14, 0.8), c(0.04, 0.12, 0.84))

# Constants of a step with `epsilon` of its own; q the manifold's dimension, k predictors. m = 2 n epsilon/q.
newton_start <- function(n, epsilon, q, predictors, bound, share, first) {
  solver <- solver_share(n) * epsilon
  core <- epsilon - solver
  m <- 2 * n * epsilon / q
  e1 <- (if (first) 0.7 else 0.75) * core
  found <- existing_loss(core - e1 / 2, e1, q, if (first) 0.7 else 0.75)
  if (is.null(found)) return(NULL)
  tau <- bound * (if (first) clamp(1.1 * (40 / m)^0.3, 0.8, 1.33) else 0.5 * clamp(sqrt(60 / m), 1, 2))
  if (!first) share <- c(0.2, rep(0.8 / predictors, predictors))
  norm <- best_norm(predictors, q)
  list(e1 = e1, t = found$t, g = found$g, tau = tau, ridge = 1 / (found$t * share), share = share, n = n, q = q, k = predictors,
       epsilon = epsilon, solver = solver, norm = norm, rate = e1 / (2 * tau))
}

newton_rule <- function(n, epsilon, q, k, bound, share, first, prior = NULL) {
  start <- newton_start(n, epsilon, q, k, bound, share, first)
  if (is.null(start) || is.null(prior)) return(start)
  core <- epsilon - start$solver
  constants <- function(par) {
    part <- stats::plogis(par[1:3])
    e1 <- part[1] * core
    t <- leverage(part[2], core - e1 / 2, q)
    tau <- exp(par[4])
    g <- if (t > 1e-300) shared_loss(core - e1 / 2, e1, q, t)
    if (is.null(g)) return(NULL)
    share <- c(part[3], rep((1 - part[3]) / k, k))
    utils::modifyList(start, list(e1 = e1, t = t, g = g, tau = tau, ridge = 1 / (t * share), share = share, rate = e1 / (2 * tau)))
  }
  low <- if (first) 0.5 else 0.35
  judge <- function(par) {
    if (exp(par[4]) < low * bound || exp(par[4]) > 3 * bound) return(1e6)
    rule <- constants(par)
    if (is.null(rule)) 1e6 else log(sum(newton_error(rule, prior, bound) * c(1, rep(1 / 3, k))))
  }
  from <- c(stats::qlogis(start$e1 / core), stats::qlogis(min(0.95, start$t / expm1((core - start$e1 / 2) / q))), stats::qlogis(clamp(start$share[1], 0.02, 0.98)), log(start$tau))
  fit <- stats::optim(from, judge, control = list(maxit = 100, reltol = 1e-3))
  if (fit$value < judge(from)) constants(fit$par) else start
}

# Expected squared distance to the non-private curve after a step from prior second moments (foot point, then reach times vectors), in
# total over coordinates: c(foot point, vectors). Predictors are nominally uniform, errors normal with a root mean square of half the
# bound.
newton_error <- function(rule, prior, bound) {
  k <- rule$k
  q <- rule$q
  n <- rule$n
  moment <- c(1, rep(1 / 3, k))
  sd <- 0.5 * bound / sqrt(q)
  nominal <- nominal_errors(q, "normal")$r
  nominal <- nominal[seq(1, length(nominal), by = 7)]
  v <- noise_second_moment(rule$norm, k, q) / rule$rate^2
  after <- 0
  for (i in 1:6) { # the loss is as curved as it is at residuals of the perturbed fit, which hold its error too
    loss <- loss_at(rule$g, rule$tau, sqrt(sd^2 + sum(after * moment) / q) * nominal)
    kappa <- mean(loss$slope + (q - 1) * loss$across) / q
    spread <- mean(loss_at(rule$g, rule$tau, sd * nominal)$psi^2) / q
    s <- n * kappa * moment / (n * kappa * moment + rule$ridge)
    after <- (1 - s)^2 * (prior + q * sd^2 / (n * moment)) + v / (n * kappa * moment + rule$ridge)^2 +
      s^2 * max(0, spread / kappa^2 - sd^2) * q / (n * moment)
  }
  after
}

newton_plan <- function(n, epsilon, q, k, radius, speed, bound, reach, patterns = newton_patterns) {
  key <- paste(c("newton", format(c(n, epsilon, q, k, radius, speed, bound, reach), digits = 17), length(patterns)), collapse = " ")
  remember(key, function() {
    share <- c(radius, speed * reach)
    share <- share / sum(share)
    moment <- c(1, rep(1 / 3, k))
    of_pattern <- function(pattern) {
      prior <- c(radius^2, (speed * reach)^2) / 4
      steps <- list()
      for (i in seq_along(pattern)) {
        rule <- newton_rule(n, pattern[i] * epsilon, q, k, bound, share, i == 1, prior)
        if (is.null(rule)) return(NULL)
        after <- newton_error(rule, prior, bound)
        total <- sum(after * moment)
        steps <- c(steps, list(rule))
        prior <- 2 * after + total^2 / 2
      }
      list(steps = steps, shares = pattern, spread = after, error = sqrt(total))
    }
    plans <- Filter(Negate(is.null), lapply(patterns, of_pattern))
    if (length(plans)) plans[[which.min(vapply(plans, function(p) p$error, 0))]]
  })
}

# The model leaves out what curvature and a non-uniform design add: its error times this was at or above the measured mean
newton_margin <- function(ask) if (2 * ask$n * ask$epsilon / ask$q < 60) 1.35 else 1.2

constant_error <- function(ask) sqrt(ask$radius^2 / 4 + sum((ask$speed * ask$reach)^2) / 12)

newton_mechanism <- function(name, patterns) {
  list(
    name = name,
    needs_delta = FALSE,
    plan = function(M, ask) {
      plan <- newton_plan(ask$n, ask$epsilon, ask$q, ask$k, ask$radius, ask$speed, ask$residual_bound, ask$reach, patterns)
      if (is.null(plan)) return(NULL)
      margin <- newton_margin(ask)
      list(steps = plan$steps, expected_error = margin * plan$error, spread = margin^2 * plan$spread,
           details = list(shares = plan$shares, constant = constant_error(ask)),
           guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = NULL))
    },
    release = function(M, x, y, plan, ask) {
      state <- list(p = ask$center, v = matrix(0, ask$q, ask$k))
      legs <- regression_legs(M, ask)
      for (rule in plan$steps) {
        theta <- newton_step(M, x, y, state$p, tangent_vectors(M, state$p, state$v), rule, ask$reach, legs)
        state <- regression_move(M, state$p, state$v, theta[, 1], theta[, -1, drop = FALSE] / rep(ask$reach, each = ask$q), ask)
      }
      regression_value(M, state)
    },
    words = function(r) {
      sprintf("Gauss-Newton steps with shares %s of epsilon, whose sum is epsilon. Each is a linear regression of residuals carried back to the last released foot point, released by objective perturbation: the loss is bounded so that gradient and curvature of a single record cannot both be large, and a random linear term is added (theorem 1 of proofs/linear-regression.md). Given what was released before, all constants are public.",
              paste(format(r$details$shares), collapse = ", "))
    }
  )
}

mechanism_newton <- newton_mechanism("newton", newton_patterns)
mechanism_regression_tangent <- newton_mechanism("tangent", newton_patterns[1])

# ---- one step -----------------------------------------------------------------------------------------------------------------

newton_step <- function(M, x, y, p, v, rule, reach, legs) {
  k <- length(reach)
  q <- rule$q
  frame <- .Call(riemdp_gauss_newton_frame, M, p, v)
  lambda <- frame[[2]]
  gauge <- newton_gauge(lambda, reach, rule$norm)
  grow <- newton_ridge_factor(lambda, reach, rule$share)
  data <- .Call(riemdp_gauss_newton_records_nonprivate, M, p, v, x, y, frame[[1]], lambda, reach, legs)
  most <- 100 * rule$tau + 10 # beyond it a residual says no more: moved there, record by record
  length <- sqrt(colSums(data[[2]]^2))
  data[[2]] <- data[[2]] * rep(pmin(1, most / length), each = q)
  data[[2]][!is.finite(data[[2]])] <- 0
  ridge <- matrix(rep(rule$ridge * grow, each = q), q)
  top <- if (min(lambda) < 0 && k == 1) cosh(sqrt(-min(lambda)) * reach)^2 else 1
  rate <- outwards_down(rule$rate / gauge)
  eta <- max(1e-10, 2^-46 * (rule$n * (1 + rule$tau + most) + 10 * (k + 1) * q / rate)) * sqrt(top)
  release <- .Call(riemdp_release_perturbed, data[[1]], data[[2]], ridge, matrix(0, q, k + 1),
                   list(tau = rule$tau, step = LOSS_STEP, g = as.double(rule$g)), c(eta, NEWTON_STEPS, (k + 1) * top),
                   c(NOISE_NORM[[rule$norm]], rate, outwards_down(rule$solver * min(ridge) / (2 * eta)), 0), in_simulation())
  frame[[1]] %*% release # coordinates in the manifold's own frame: dp, then reach times dv
}
