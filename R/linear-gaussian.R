# Objective perturbation with normal noise (section 14 of inst/proofs/linear-regression.md): the public rule for its
# constants and the model of its error. Features are those of short_features().

# What a record's curvature may cost where its gradient is 0, of epsilon, and of that by how much less where the
# gradient is as long as it can be: the best of these
TILTED_SPLITS <- list(c(0.25, 0.2), c(0.25, 0.6), c(0.45, 0.4), c(0.45, 0.6), c(0.45, 0.9))

tilted_rule <- function(n, epsilon, delta, d, q, averaged = FALSE) {
  key <- paste(c("tilted", format(c(n, epsilon, delta, d, q), digits = 17), averaged), collapse = " ")
  remember(key, function() {
    core <- epsilon - solver_share(n) * epsilon
    rules <- Filter(Negate(is.null), lapply(TILTED_SPLITS, function(split) {
      find_tilted(n, epsilon, core, delta, d, q, averaged, split[1] * core, split[1] * split[2] * core)
    }))
    if (length(rules)) rules[[which.min(vapply(rules, nominal_tilted, 0))]]
  })
}

nominal_tilted <- function(rule) tilted_error(rule, nominal_prior(rule$d)) + covering_error(rule)

# t, its split and tau by the model, where curvature costs at most k - fall u; NULL where no loss is found
find_tilted <- function(n, epsilon, core, delta, d, q, averaged, k, fall) {
  m <- tilted_size(core, k, fall, q, delta, averaged) * (1 - 1e-12)
  make <- function(par) {
    part <- stats::plogis(par[1:2])
    t <- leverage(part[1], k, q, averaged)
    g <- if (t > 1e-300) shared_loss(k, 2 * fall, q, t, averaged)
    if (is.null(g)) return(NULL)
    tau <- exp(par[3])
    c(list(e1 = 2 * fall, t = t, g = g, tau = tau, ridge = short_ridge(t, part[2], d), n = n, d = d, q = q,
           epsilon = epsilon, delta = delta, solver = epsilon - core, norm = "normal",
           rate = m / (tau * sqrt(d + 1)), loss = "shared"), if (averaged) list(averaged = TRUE))
  }
  first <- lapply(c(0.5, 0.15), function(h) c(stats::qlogis(c(h, 1 / (d + 1.5))), log(q) / 2))
  first <- Filter(function(par) !is.null(make(par)), first)
  if (!length(first)) return(NULL)
  modelled_rule(make, function(rule) if (is.null(rule)) Inf else nominal_tilted(rule), first[[1]], q)
}

# ridges of which the intercept has the share w of t; the slopes, on the scale of shortened features, share the rest
short_ridge <- function(t, w, d) {
  if (d == 0) return(1 / t)
  ridge <- c(1 / w, rep(d / (1 - w), d))
  ridge * short_leverage(ridge, d) / t
}

# Expected excess of the mean squared error per response over least squares, as perturbation_error() has it, for errors
# of standard deviation 1; features count less where they are long (cut_features())
tilted_error <- function(rule, prior, tau = rule$tau) {
  psi <- loss_moments(rule$g, tau, rule$q, nominal_errors(rule$q, "gamma"))
  if (is.null(psi)) return(Inf)
  features <- cut_features(rule$d)
  scale <- c(1, rep(SHORT_SCALE, rule$d))^2
  penalised_error(rule$n * features$slope, rule$d, psi$kappa, rule$ridge / scale, prior,
                  (tau / rule$tau / rule$rate)^2 / scale,
                  c(sampling = features$slope,
                    cut = features$slope * max(0, features$lever * psi$spread / psi$kappa^2 - 1)), psi$bias)
}
