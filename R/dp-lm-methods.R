# Methods of dp_lm(), a list each: see linear-methods.R, which says what it must hold.

pure <- function(ask, ...) list(epsilon = ask$epsilon, delta = 0, ...)

# Public guess of R^2: nominal signal and errors of total variance 1; the shares of intercept and slopes are those of
# nominal_prior()
public_guess <- function(ask) {
  prior <- nominal_prior(ask$d)
  if (ask$d > 0) prior[2] <- ask$r_squared / (ask$d * NOMINAL_MOMENT)
  list(prior = prior, sd = sqrt(1 - ask$r_squared), constant = 0.15 + ask$r_squared)
}

# constants of a fit for `epsilon`
linear_rule <- function(ask, epsilon, rule = ask$rule, loss = "shared", simplex = NULL) {
  out <- perturbation_rule(ask$n, epsilon, ask$d, ask$q, rule, loss, averaged = !is.null(ask$unit), simplex = simplex)
  if (!is.null(out)) out$window <- ask$window
  out
}

no_loss <- "no loss exists at these n and epsilon: epsilon is too small for the computer's numbers."

# What perturbation_error() says of a rule at the guess: with errors of another size everything scales, tau and the
# prior in units of them
guessed_error <- function(rule, ask, share = 1) {
  g <- public_guess(ask)
  perturbation_error(rule$n, rule$d, rule$q, rule$g, rule$tau / g$sd, rule$e1, rule$ridge, rule$norm, g$prior / g$sd^2,
                     nominal_errors(rule$q, "gamma"), rule$simplex) * g$sd^2 + covering_error(rule)
}

linear_objective <- list(
  auto = TRUE,
  windows = TRUE,
  unsupported = function(ask) if (is.null(linear_rule(ask, ask$epsilon, simplex = ask$simplex))) no_loss,
  plan = function(ask) {
    rule <- linear_rule(ask, ask$epsilon, simplex = ask$simplex)
    list(rule = rule, error = guessed_error(rule, ask), guarantee = pure(ask))
  },
  release = function(x, y, plan, ask) release_perturbed(x, y, plan$rule),
  words = function(r) perturbation_words(r$details$rule, r$guarantee$nominal_epsilon)
)

linear_huber <- list(
  auto = FALSE, # never better than "objective": to compare
  unsupported = function(ask) NULL,
  plan = function(ask) {
    rule <- linear_rule(ask, ask$epsilon, loss = "huber")
    list(rule = rule, error = guessed_error(rule, ask), guarantee = pure(ask))
  },
  release = function(x, y, plan, ask) release_perturbed(x, y, plan$rule),
  words = function(r) perturbation_words(r$details$rule, r$guarantee$nominal_epsilon)
)

perturbation_words <- function(rule, epsilon) {
  c(sprintf(paste("Objective perturbation: the released coefficients minimise the sum of a Huber-like loss of the",
                  "residuals (gradients no longer than tau = %.4g public standard deviations), a ridge (%s) and a",
                  "random linear term of rate %.4g (%s), drawn from a public law."),
            rule$tau, ridge_words(rule), rule$rate,
            switch(rule$norm, vertex = "a sum over the vertices of the predictors' range",
                   simplex = "the largest sum over a term's B-splines", "largest coefficient row")),
    if (rule$loss == "shared")
      sprintf("Where a %s's gradient is large its curvature may be small: both share one budget.",
              if (isTRUE(rule$averaged)) "row" else "record") else
      "Gradient and curvature have budgets of their own (plain accounting, to compare).",
    sprintf("%.3g of epsilon pays for the solver's error, which a little noise of its own covers.", rule$solver),
    sprintf("Theorem %d of proofs/linear-regression.md.",
            if (isTRUE(rule$weighted)) 5 else if (isTRUE(rule$averaged)) 2 else 1))
}

# ---- re-centring -----------------------------------------------------------------------------------------------------

# Scales of residuals, the last standing for all beyond it. A guess is hardly off by much: choices far from it have less
# weight (its logarithm).
SCALE_GRID <- 2^((-160:160) / 8)
SCALE_WEIGHT <- c(ifelse(SCALE_GRID < 2^-10, log(0.03), ifelse(SCALE_GRID > 8, log(0.01), 0))[-length(SCALE_GRID)], 0)
FIRST_SHARES <- c(0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15)
# Residuals count as small, and are fitted anew from there, at or below this share of the scale before
SMALLER <- 0.75
# At or above this one the scale before was too small: units grow, and beyond the second there is another rough fit;
# where the guess has been checked a scale that much larger is noise of the release
LARGER <- c(unit = 1.4, round = 3)
# Released scales may be too low, and heavy tails have larger standard deviations than their quantiles say
SCALE_MARGIN <- sqrt(2)
ROUNDS <- 4
# The price of insuring against a high R-squared that nobody guessed: at most this share of epsilon, for a rough fit
# with this error
PREMIUM <- c(share = 0.1, error = 0.2)

# Shares of epsilon for a rough fit and for a scale, and the quantile that the scale aims at. The fit gets the least
# with which the model's error is small; less so where a high R-squared isn't expected. Counts are blurred: a quantile
# far from both ends is safe. All residuals are within the largest choices, which miss by what is beyond the quantile:
# by so much that they hardly come up, also where the best of the grid misses by half a step. Near a half choices that
# are too small would come up as well where all residuals are alike.
recentring_shares <- function(ask) {
  error <- vapply(FIRST_SHARES, function(share) {
    rule <- linear_rule(ask, share * ask$epsilon, "closed")
    if (is.null(rule)) Inf else rule$error
  }, 0)
  enough <- which(error <= if (ask$r_squared >= 0.7) 0.1 else PREMIUM[["error"]])
  at <- if (length(enough)) enough[1] else length(FIRST_SHARES)
  scale <- clamp(60 / (ask$n * ask$epsilon), 0.02, 0.1)
  list(first = FIRST_SHARES[at], scale = scale, error = error[at],
       fraction = clamp(1 - 20 / (ask$n * ask$epsilon * scale), 0.5, 0.8), told = ask$n * ask$epsilon * scale >= 20)
}

# Whether rounds go on, and with what, after a released scale `size`; `unit` is the one before. Residuals that are not
# much more than the rough fit's own error say that another will find more. At the grid's top nothing is known, and the
# units stay; so they do at larger scales where n and the scale's epsilon are so small that they come up by chance.
next_round <- function(size, unit, share, checked = FALSE) {
  smaller <- size <= SMALLER * unit
  top <- size >= max(SCALE_GRID) * unit
  larger <- share$told && !top && size >= LARGER[["unit"]] * unit && !(checked && size >= LARGER[["round"]] * unit)
  list(smaller = smaller, top = top && share$told && !checked,
       unit = if (smaller) SCALE_MARGIN * size else if (larger) size else unit,
       more = (smaller && size^2 <= 2 * share$error * unit^2) || (larger && size >= LARGER[["round"]] * unit))
}

# what is left for the last fit after `rounds`; less than there is, for the rounding of sums
last_share <- function(share, rounds) (1 - rounds * (share$first + share$scale)) * (1 - 1e-14)

# rounds that leave at least half for the last fit
most_rounds <- function(share) min(ROUNDS, floor(0.5 / (share$first + share$scale)))

recentring_last <- function(ask, share, rounds) {
  linear_rule(ask, last_share(share, rounds) * ask$epsilon)
}

# the scale of residuals by the exponential mechanism; rows with missing cells count as outside
release_scale <- function(x, y, b, epsilon, fraction) {
  limit <- SCALE_GRID * sqrt(stats::qchisq(fraction, nrow(b)))
  within <- if (inherits(x, "riemdp_linear_chunks")) {
    linear_within(x, y, b, limit)
  } else {
    residuals_within(x, y - b %*% x, limit)
  }
  score <- scale_scores(within$count, fraction * within$n) + 2 * SCALE_WEIGHT / epsilon
  SCALE_GRID[.Call(riemdp_exponential_choice, as.double(score), epsilon,
                   pay(price_choice(epsilon, "linear-regression.md, 3")))]
}

# Minus how far counts within the limits are from the one that is aimed at; the last choice is "more than the limit
# before"
scale_scores <- function(count, aim) {
  last <- length(count)
  c(-abs(count[-last] - aim), -max(0, count[last - 1] - aim))
}

# how many residuals are no longer than each limit, of how many; of units, the sum of their rows' shares
residuals_within <- function(x, e, limit) {
  size <- sqrt(colSums(e^2))
  size[x[1, ] == 0] <- Inf
  share <- shares_of(x) %||% rep(1, length(size))
  longer <- factor(findInterval(size, limit, left.open = TRUE), seq_along(limit) - 1) # than so many limits
  here <- vapply(split(share, longer), sum, 0, USE.NAMES = FALSE)
  list(count = cumsum(here), n = counted_in(x, ncol(e)))
}

# (y - b x)/scale, and the same moved to `limit`
residual_responses <- function(x, y, b, scale, limit = Inf) {
  if (inherits(x, "riemdp_linear_chunks")) return(c(y, list(list(b = b, scale = scale, limit = limit))))
  limit_rows((y - b %*% x) / scale, limit)
}

# perturbation_error() of residuals with standard deviation `sd` whose coefficients have squares `prior`, fitted in
# units of `unit`
residual_error <- function(rule, unit, sd, prior) {
  perturbation_error(rule$n, rule$d, rule$q, rule$g, rule$tau * unit / sd, rule$e1, rule$ridge, rule$norm, prior / sd^2,
                     nominal_errors(rule$q, "gamma")) * sd^2 + unit^2 * covering_error(rule)
}

linear_recentred <- list(
  auto = TRUE,
  windows = TRUE,
  unsupported = function(ask) {
    share <- recentring_shares(ask)
    if (is.null(linear_rule(ask, share$first * ask$epsilon, "closed")) ||
        is.null(recentring_last(ask, share, 1))) {
      no_loss
    }
  },
  plan = function(ask) {
    share <- recentring_shares(ask)
    first <- linear_rule(ask, share$first * ask$epsilon, "closed")
    # the rounds as they go if scales are released as the model has them
    g <- public_guess(ask)
    unit <- 1
    prior <- g$prior
    for (rounds in seq_len(most_rounds(share))) {
      rough <- residual_error(first, unit, g$sd, prior)
      turn <- next_round(sqrt(g$sd^2 + rough), unit, share)
      if (turn$smaller) prior <- rough * c(0.5, if (ask$d > 0) 0.5 / (ask$d * NOMINAL_MOMENT))
      unit <- turn$unit
      if (!turn$more) break
    }
    # responses stay as long as they are for the scales; fits move them to REACH
    list(share = share, first = first, reach = Inf,
         error = residual_error(recentring_last(ask, share, rounds), unit, g$sd, prior), guarantee = pure(ask))
  },
  release = function(x, y, plan, ask) {
    share <- plan$share
    b <- matrix(0, ask$q, ask$d + 1)
    unit <- 1
    scales <- NULL
    for (rounds in seq_len(most_rounds(share))) { # what a round does is decided by releases of those before
      rough <- b + unit * release_perturbed(x, residual_responses(x, y, b, unit, limit = REACH), plan$first)
      size <- unit * release_scale(x, residual_responses(x, y, 0 * b, unit), rough / unit, share$scale * ask$epsilon,
                                   share$fraction)
      scales <- c(scales, size)
      turn <- next_round(size, unit, share, isTRUE(ask$checked))
      if (turn$smaller) b <- rough
      unit <- turn$unit
      if (!turn$more) break
    }
    rule <- recentring_last(ask, share, rounds)
    list(b = b + unit * release_perturbed(x, residual_responses(x, y, b, unit, limit = REACH), rule),
         details = list(scales = scales, unit = unit, rule = rule, top = turn$top, from = b),
         error = if (turn$top) NA_real_)
  },
  words = function(r) {
    share <- r$details$share
    c(sprintf(paste("Rounds, their budgets added: a rough fit (%.3g of epsilon) and its residuals' scale by the",
                    "exponential mechanism on a public grid (%.3g); released: %s public standard deviations.",
                    "Where a scale is at most %.2g of the one before, coefficients are fitted anew from the",
                    "rough ones, in units of %.3g times that scale, after another round if the rough fit's own",
                    "error is most of it. The last fit has the rest, %.3g."),
              share$first, share$scale, paste(signif(r$details$scales, 4), collapse = ", "), SMALLER, SCALE_MARGIN,
              last_share(share, length(r$details$scales))),
      "Later stages are chosen by earlier releases and public numbers only.",
      perturbation_words(r$details$rule, r$guarantee$nominal_epsilon)[2],
      "Sections 2 and 3 of proofs/linear-regression.md.")
  }
)

# ---- noisy statistics ------------------------------------------------------------------------------------------------

# Public clip of |y|: found over the settings of inst/reproduce/linear-regression.R, as the ridge in units of the noise
STATISTICS_CLIP <- 2.5

statistics_bias <- function(ask, reach) {
  errors <- nominal_errors(ask$q, "gamma")
  shrink <- pmin(1, reach / pmax(errors$r, 1e-300))
  c(shift = mean(shrink * errors$first), slope = 1 - mean(shrink))
}

# the model for B = (nS + ridge + N1)^-1 (S_xy + N2): sd of the numbers of N1 and N2
statistics_error <- function(ask, ridge, sd_xx, sd_xy, reach) {
  g <- public_guess(ask)
  bias <- statistics_bias(ask, reach)
  moment <- c(1, rep(NOMINAL_MOMENT, ask$d))
  prior <- c(g$prior[1], rep(g$prior[2], ask$d))
  a <- ask$n * moment + ridge
  sum(moment * ((ridge / a)^2 * prior + (sd_xy^2 + sd_xx^2 * sum(prior)) / a^2)) + bias[["shift"]]^2 +
    bias[["slope"]]^2 * sum(moment * prior)
}

linear_statistics <- list(
  auto = TRUE,
  unsupported = function(ask) NULL,
  plan = function(ask) {
    sd <- statistics_sd(ask$d, ask$q, ask$epsilon)
    reach <- STATISTICS_CLIP * sqrt(ask$q)
    ridge <- sd[["one"]]
    list(reach = reach, ridge = ridge,
         error = statistics_error(ask, ridge, 2 * sd[["one"]], 2 * reach * sd[["block"]], reach),
         guarantee = pure(ask))
  },
  release = function(x, y, plan, ask) {
    s <- release_statistics(x, y, ask$epsilon, plan$reach, ask$n)
    list(b = solve_statistics(s, plan$ridge), details = list(moments = s))
  },
  words = function(r) {
    c(sprintf(paste("The sums of x x' and x y' are released with K-norm noise, the norm being the largest change of",
                    "any of them over its public width; responses are moved to %.3g public standard deviations.",
                    "The coefficients solve the normal equations with ridge %.4g, which is post-processing."),
              r$details$reach, r$details$ridge), "Section 4 of proofs/linear-regression.md.")
  }
)

# how far a record moves the smallest eigenvalue of X'X, X'X and X'Y
adassp_sensitivity <- function(d, reach) c(value = d + 1, xx = sqrt(2) * (d + 1), xy = 2 * sqrt(d + 1) * reach)

# `xx`: the part of mu^2 that X'X has. `reach` and `parts`, of what is left, have an element for each X'Y
products_noise <- function(ask, mu, xx, reach, parts = 1) {
  share <- sqrt(c(value = 0.1, xx = xx, xy = (0.9 - xx) * parts)) * mu
  b2 <- ask$d + 1
  sd <- outwards(adassp_sensitivity(ask$d, reach) / share)
  # Wang (2018): the ridge makes up for what the noise in X'X may take from its smallest eigenvalue; p = .05
  list(reach = reach, sd = sd, lift = sd[["xx"]] * sqrt(b2 * log(2 * b2^2 / 0.05)))
}

# the ridge where the smallest eigenvalue is that of the model
expected_ridge <- function(ask, lift, spread = 1) max(0, lift - ask$n * if (ask$d > 0) NOMINAL_MOMENT * spread else 1)

adassp_noise <- function(ask, mu, xx) {
  out <- products_noise(ask, mu, xx, STATISTICS_CLIP * sqrt(ask$q))
  ridge <- expected_ridge(ask, out$lift)
  c(out, error = statistics_error(ask, ridge, out$sd[["xx"]], out$sd[["xy"]], out$reach))
}

adassp_mu <- function(ask) {
  mu <- gaussian_mu(ask$epsilon, ask$delta) * (1 - 1e-12)
  if (!(is.finite(mu) && mu > 0)) {
    abort_riemdp("argument", "`epsilon` and `delta` are out of the range in which Gaussian noise is calibrated.")
  }
  mu
}

# `a` and noise of standard deviation `sd` where a record moves it by `sensitivity`; `both`: in a symmetric matrix
normal_products <- function(a, sensitivity, sd, section, both = FALSE) {
  price <- price_normal(sensitivity, sd, section)
  z <- matrix(.Call(riemdp_perturbation_noise, nrow(a), ncol(a), 1, "normal", 1 / sd, pay(price)), ncol(a))
  a + if (both) (z + t(z)) / 2 else t(z)
}

# X'X with its noise, and the ridge that follows from its released smallest eigenvalue
release_gram <- function(xx, plan, ask, section) {
  most <- adassp_sensitivity(ask$d, 0)
  least <- matrix(min(eigen(xx, symmetric = TRUE, only.values = TRUE)$values))
  value <- normal_products(least, most[["value"]], plan$sd[["value"]], section)[1]
  value <- max(0, value - plan$sd[["value"]] * stats::qnorm(0.95))
  xx <- normal_products(xx, most[["xx"]], plan$sd[["xx"]], section, both = TRUE)
  xx[1, 1] <- ask$n
  list(xx = xx, ridge = max(0, plan$lift - value))
}

linear_adassp <- list(
  auto = TRUE,
  unsupported = function(ask) if (ask$delta == 0) "method = \"adassp\" needs `delta` > 0.",
  plan = function(ask) {
    mu <- adassp_mu(ask)
    # the part of mu^2 that X'X has, by the public error model
    xx <- stats::optimize(function(xx) adassp_noise(ask, mu, xx)$error, c(0.05, 0.85))$minimum
    c(adassp_noise(ask, mu, xx), list(mu = mu, guarantee = list(epsilon = ask$epsilon, delta = ask$delta, mu = mu)))
  },
  release = function(x, y, plan, ask) {
    plain <- moment_matrices(x, y)
    squares <- release_gram(plain$xx, plan, ask, "linear-regression.md, 5")
    most <- adassp_sensitivity(ask$d, plan$reach)[["xy"]]
    s <- list(xx = squares$xx, xy = normal_products(plain$xy, most, plan$sd[["xy"]], "linear-regression.md, 5"))
    list(b = solve_statistics(s, squares$ridge), details = list(moments = s, ridge = squares$ridge))
  },
  words = function(r) {
    c(sprintf(paste("AdaSSP: the smallest eigenvalue of X'X, X'X and X'Y are released with normal noise (together",
                    "%.4g-GDP); the ridge %.4g follows from the first. Responses are moved to %.3g public",
                    "standard deviations."),
              r$details$mu, r$details$ridge, r$details$reach), "Section 5 of proofs/linear-regression.md.")
  }
)

linear_steps <- function(name, auto, step) list(
  auto = auto,
  checked = TRUE,
  worth = 0.7, # "auto" takes it where its error, told for even predictors, is at most this part of all others'
  unsupported = function(ask) {
    if (ask$delta == 0) return(sprintf("method = \"%s\" needs `delta` > 0.", name))
    if (!newton_serves(linear_newton_rule(ask, name == "descent"))) {
      "its noise would be too large beside a lattice's steps: epsilon is too small for so many coefficients."
    }
  },
  plan = function(ask) {
    rule <- linear_newton_rule(ask, name == "descent")
    left <- newton_left(rule, ask)
    list(rule = rule, error = min(rule$error * left$residuals + left$slopes, public_guess(ask)$constant),
         guarantee = list(epsilon = ask$epsilon, delta = ask$delta, mu = rule$mu, mu_slack = LATTICE_SLACK,
                          numerics = if (ask$trusted) "lattice"))
  },
  release = function(x, y, plan, ask) release_newton(x, y, plan$rule, ask),
  words = function(r) {
    details <- r$details
    turned <- if (details$turned) ", in features that released second moments turn" else ""
    c(sprintf(paste("%d steps of %s with normal noise on a lattice (together %.4g-GDP)%s. A record's pull",
                    "is cut in the residual and in the features; %d of the steps, those with the smallest residuals,",
                    "are averaged by their noise, whose standard deviation is %.3g in features of variance 1."),
              NEWTON_ROUNDS, step, details$rule$mu, turned, details$steps, details$noise[length(details$noise)]),
      if (!is.null(details$rule$level)) {
        sprintf("The level follows at last: the mean of residuals cut at %.3g standard deviations.", details$rule$cut)
      },
      if (details$blurred) paste0(NEWTON_BLURRED[[name]], "."),
      "Section 10 of proofs/linear-regression.md.")
  }
)
linear_newton <- linear_steps("newton", TRUE, "Newton's method")
linear_descent <- linear_steps("descent", FALSE, "gradient descent") # who asks for it knows that predictors are even

# ---- objective perturbation with normal noise ------------------------------------------------------------------------

linear_gaussian <- list(
  auto = TRUE,
  worth = 0.7, # as of "newton", beside which it isn't held back
  unsupported = function(ask) {
    if (ask$delta == 0) return("method = \"gaussian\" needs `delta` > 0.")
    if (is.null(linear_tilted_rule(ask))) no_loss
  },
  plan = function(ask) {
    rule <- linear_tilted_rule(ask)
    g <- public_guess(ask)
    list(rule = rule, guarantee = list(epsilon = ask$epsilon, delta = ask$delta),
         error = tilted_error(rule, g$prior / g$sd^2, rule$tau / g$sd) * g$sd^2 + covering_error(rule))
  },
  release = function(x, y, plan, ask) release_perturbed(x, y, plan$rule),
  words = function(r) {
    rule <- r$details$rule
    c(sprintf(paste("Objective perturbation with normal noise: the released coefficients minimise the sum of a",
                    "Huber-like loss of the residuals (gradients no longer than tau = %.4g public standard",
                    "deviations), a ridge (%s) and a random linear term, normal with standard deviation %.4g.",
                    "Features are predictors times %.3g, and a row of which they are longer than %.3g counts less."),
              rule$tau, ridge_words(rule), 1 / rule$rate, SHORT_SCALE, sqrt(rule$d + 1)),
      perturbation_words(rule, NULL)[2:3],
      sprintf("Theorem %d of proofs/linear-regression.md.", if (isTRUE(rule$averaged)) 7 else 6))
  }
)

linear_tilted_rule <- function(ask) {
  tilted_rule(ask$n, ask$epsilon, ask$delta, ask$d, ask$q, !is.null(ask$unit))
}

# ---- output perturbation ---------------------------------------------------------------------------------------------

# t, its split and tau by the model: noise of length Gamma(m, 2 tau sqrt(t)/epsilon) in the ridge's metric
output_rule <- function(ask) {
  key <- paste(c("output", format(c(ask$n, ask$epsilon, ask$d, ask$q), digits = 17), !is.null(ask$unit)),
               collapse = " ")
  remember(key, function() {
    solver <- solver_share(ask$n) * ask$epsilon
    core <- ask$epsilon - solver
    d <- ask$d
    q <- ask$q
    errors <- nominal_errors(q, "gamma")
    make <- function(par) {
      t <- min(exp(par[1]), LEVERAGE_MOST)
      tau <- exp(par[2])
      c(list(t = t, tau = tau, g = huber_loss(), ridge = shared_ridge(t, if (d > 0) stats::plogis(par[3]) else 1, d),
             rate = core / (2 * tau * sqrt(t)), solver = solver, n = ask$n, d = d, q = q, norm = "length",
             loss = "huber", e1 = core), if (!is.null(ask$unit)) list(averaged = TRUE))
    }
    best <- stats::optim(c(-log(ask$n), 0, 0), function(par) {
      if (abs(par[2] - log(sqrt(q))) > 3 || abs(par[1]) > 50) return(1e6)
      min(1e6, output_error(make(par), errors, nominal_prior(d)))
    }, control = list(maxit = 300))
    make(best$par)
  })
}

output_error <- function(rule, errors, prior) {
  m <- rule$q * (rule$d + 1)
  moment <- c(1, rep(NOMINAL_MOMENT, rule$d))
  # the loss's own error without noise, and noise of variance (m + 1)/rate^2 in each number
  perturbation_error(rule$n, rule$d, rule$q, rule$g, rule$tau, Inf, rule$ridge, "max", prior, errors) +
    (m + 1) / rule$rate^2 * sum(moment / rule$ridge) + covering_error(rule, TRUE)
}

linear_output <- list(
  auto = TRUE,
  unsupported = function(ask) NULL,
  plan = function(ask) {
    rule <- output_rule(ask)
    g <- public_guess(ask)
    scaled <- rule
    scaled$tau <- rule$tau / g$sd
    scaled$rate <- rule$rate * g$sd
    errors <- nominal_errors(ask$q, "gamma")
    list(rule = rule, error = output_error(scaled, errors, g$prior / g$sd^2) * g$sd^2, guarantee = pure(ask))
  },
  release = function(x, y, plan, ask) release_perturbed(x, y, plan$rule, output = TRUE),
  words = function(r) {
    rule <- r$details$rule
    c(sprintf(paste("Output perturbation: noise is added to the minimiser of Huber's loss (tau = %.4g) with a ridge of",
                    "at least %.4g, which moves by at most 2 tau sqrt(t) in the ridge's metric."),
              rule$tau, min(rule$ridge)), "Section 6 of proofs/linear-regression.md.")
  }
)

# ---- K-norm gradient mechanism ---------------------------------------------------------------------------------------

# What is known of the sampler's acceptance whatever the records are falls like exp(-n epsilon/4): so a public limit.
KNG_COEFFICIENTS <- 3
KNG_BUDGET <- 60 # of n epsilon; beyond, nothing else needs to be looked at
KNG_WORK <- 1e10 # numbers that the last trials may read, in all
KNG_TRIALS <- 1e5 # of the envelope that suits the records

# Least acceptance of the public envelope, and so many trials of it that the last resort costs less of epsilon than the
# rate was rounded down by (proofs/linear-regression.md, section 7)
kng_last_trials <- function(rule, epsilon) {
  m <- (rule$d + 1) * rule$q
  pull <- rule$rate * rule$n * rule$tau
  reach <- rule$rate * rule$radius / sqrt(sum(1 / rule$ridge))
  least <- exp(-pull) * gamma(m) * stats::pgamma(reach, m) /
    (pull^m / m + sum(choose(m - 1, 0:(m - 1)) * pull^((m - 1):0) * gamma(1:m)))
  inside <- gamma(m) * stats::pgamma(reach, m) / (min(1, reach)^m / m) # the domain's mass over the small ball's
  rare <- log(1e13) + 1e-3 - log(min(1, epsilon)) + 1 + log(max(1, inside)) - log(least)
  c(least = least, trials = ceiling(rare / least))
}

kng_work <- function(ask) kng_last_trials(kng_rule(ask), ask$epsilon)[["trials"]] * ask$n * (ask$d + 1) * ask$q

# tau and the ridge by the model; the noise is as large as objective perturbation's at half of epsilon
kng_rule <- function(ask) {
  key <- paste(c("kng", format(c(ask$n, ask$epsilon, ask$d, ask$q), digits = 17)), collapse = " ")
  remember(key, function() {
    d <- ask$d
    q <- ask$q
    make <- function(par) {
      tau <- exp(par[2])
      ridge <- exp(par[1]) * c(1, rep(1, d))
      list(tau = tau, g = huber_loss(), ridge = ridge, e1 = ask$epsilon / 2, rate = ask$epsilon / (4 * tau), n = ask$n,
           d = d, q = q, norm = "max", loss = "huber", radius = 4 * sqrt(q * sum(ridge)))
    }
    best <- stats::optim(c(0, 0), function(par) {
      if (abs(par[2] - log(sqrt(q))) > 3 || par[1] < log(0.1) || par[1] > 50) return(1e6)
      rule <- make(par)
      min(1e6, perturbation_error(rule$n, d, q, rule$g, rule$tau, rule$e1, rule$ridge, "max", nominal_prior(d),
                                  nominal_errors(q, "gamma")))
    }, control = list(maxit = 200))
    make(best$par)
  })
}

linear_kng <- list(
  auto = FALSE, # its time depends on the records
  whole = TRUE, # sorted by their leverage
  unsupported = function(ask) {
    if ((ask$d + 1) * ask$q > KNG_COEFFICIENTS) {
      sprintf("method = \"kng\" is for at most %d coefficients: its sampler rejects too often beyond.",
              KNG_COEFFICIENTS)
    } else if (ask$n * ask$epsilon > KNG_BUDGET || kng_work(ask) > KNG_WORK) {
      paste("method = \"kng\" is for n epsilon up to about 40, less with many records: beyond, no public bound keeps",
            "its sampler's time in hand.")
    }
  },
  plan = function(ask) {
    rule <- kng_rule(ask)
    list(rule = rule, error = guessed_error(rule, ask), guarantee = pure(ask))
  },
  release = function(x, y, plan, ask) {
    rule <- plan$rule
    ridge <- matrix(rep(rule$ridge, each = rule$q), rule$q)
    tolerance <- solver_tolerance(rule, ridge, rule$rate, REACH, output = TRUE) # a start: nothing rests on it
    .Call(riemdp_release_clipped_kng, x, y, ridge, 0 * ridge, kernel_loss(rule),
          newton_solver(tolerance, rule$d + 1),
          list(rate = rule$rate * (1 - 1e-12), radius = rule$radius, trials = KNG_TRIALS,
               last = kng_last_trials(rule, ask$epsilon)[["trials"]]),
          pay(price_normalised(2 * rule$tau, 1 / (rule$rate * (1 - 1e-12)), "linear-regression.md, 7")))
  },
  words = function(r) {
    rule <- r$details$rule
    c(sprintf(paste("K-norm gradient mechanism: density proportional to exp(-N(gradient)/sigma) on the public ball |B|",
                    "<= %.4g in the ridge's metric (ridge %.4g), N the largest row of the gradient of Huber's",
                    "loss with tau = %.4g, sigma = 4 tau/epsilon; drawn by rejection."),
              rule$radius, rule$ridge[1], rule$tau), "Section 7 of proofs/linear-regression.md.")
  }
)

# ---- as published ----------------------------------------------------------------------------------------------------

# Kulkarni and Soto (2025): footpoint and shooting vector one after the other by KNG of the squared loss, epsilon/2
# each, sigma = 2 tau/(n epsilon), tau the largest residual. In flat space both are the least-squares value plus noise
# of density exp(-|z|/sigma).
linear_paper <- list(
  auto = FALSE,
  whole = TRUE,
  unsupported = function(ask) if (ask$d != 1) "method = \"paper\" is for one predictor.",
  plan = function(ask) {
    list(error = NA_real_, clip = FALSE, guarantee = pure(ask, reasons = c(
      paste("the published mechanism: tau is the largest residual of the records, the non-private slope steers the",
            "intercept's draw, and sigma lacks its factor 2"),
      "the gradient of the squared loss has no bounded sensitivity")))
  },
  release = function(x, y, plan, ask) {
    keep <- x[1, ] == 1
    if (sum(keep) < 3) return(matrix(0, ask$q, 2))
    u <- x[2, keep]
    y <- y[, keep, drop = FALSE]
    spread <- mean(u^2)
    if (!isTRUE(spread > 0 && stats::var(u) > 0)) return(matrix(0, ask$q, 2))
    b <- t(qr.coef(qr(cbind(1, u)), t(y)))
    tau <- max(sqrt(colSums((y - b %*% rbind(1, u))^2)))
    if (!is.finite(tau)) return(unname(replace(b, TRUE, NA_real_))) # a fit that doubles don't hold
    if (tau == 0) return(b)
    rate <- sum(keep) * ask$epsilon / 2 / (2 * tau)
    draw <- function() drop(.Call(riemdp_perturbation_noise, 1, ask$q, 1, "length", rate, in_simulation()))
    b[, 1] <- b[, 1] + draw() # exp(-|p - p^|/sigma) at the fitted slope
    b[, 2] <- drop((y - b[, 1]) %*% u) / (spread * length(u)) + draw() / spread
    dimnames(b) <- NULL
    b
  },
  words = function(r) "The mechanism of Kulkarni and Soto (2025), for reproduction. Its bounds don't hold."
)
