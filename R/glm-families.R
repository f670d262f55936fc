# Families of private generalised linear models: what bounds say of a response, tables of the loss's derivative, and the
# public rule for the constants of objective perturbation. Everything here is a function of public numbers; proofs in
# inst/proofs/linear-regression.md, section 11.
#
# A family is a list:
#   left    function(b, name, level): a response's bounds, checked: list(type, "text" or "number"; range to which
#           values are moved; levels; units, list(center, scale) in which the loss sees it; link, center and scale of
#           the linear predictor on the variables' scale)
#   loss    function(left, par): a table: list(tau, g, step, first, added, most). psi moves g(e) + y, e = -eta
#           (`added`), or g(e), e = y - eta, into [-tau, tau]; `most` is the largest y that is added. exp(par) is free:
#           where psi is cut, or smoothed
#   nominal function(left): records as they are guessed to be: list(e, y, weight, sampling: n times the variance of the
#           best estimate of a coefficient whose feature has variance 1)
#   prior   function(d): squared coefficients, as nominal_prior() has them
#   slope   function(left, rule, eta): the mean slope of psi where linear predictors are so on public scales; NULL where
#           a release doesn't tell
#   inverse the response's mean, or quantile, at a linear predictor
#   model, of, guess: words

glm_families <- function() list(binomial = glm_binomial, poisson = glm_poisson, quantile = glm_quantile)

TABLE_STEP <- 0.01
TABLE_END <- 18 # beyond it a logistic curve is flat

table_knots <- function(from, to) {
  count <- ceiling((to - from) / TABLE_STEP)
  from + (to - from) * (0:count) / count
}

no_bounds <- function(name, what) {
  abort_riemdp("argument", sprintf("the bounds of response `%s` must be %s.", name, what))
}

LOGISTIC_PRIOR <- c(1, 1) # of the intercept, and of all slopes' part of the linear predictor
POISSON_PRIOR <- c(0.1, 0.3)
COUNTS <- c(1e-3, 1e9) # the least guess of a mean, the largest limit; and of their ratio

glm_binomial <- list(
  left = function(b, name, level) {
    units <- list(center = 0, scale = 1)
    if (is_levels(b) && length(b) == 2) {
      return(list(type = "text", levels = utf8_text(b), range = c(0, 1), units = units, link = c(0, 1)))
    }
    if (is_range(b) && is.null(names(b)) && all(b == c(0, 1))) {
      return(list(type = "number", range = c(0, 1), units = units, link = c(0, 1)))
    }
    no_bounds(name, "two levels, the second one that whose odds are fitted, or c(0, 1)")
  },
  loss = function(left, par) {
    e <- table_knots(-TABLE_END, TABLE_END)
    list(tau = 1, g = -stats::plogis(-e), step = e[2] - e[1], first = e[1], added = TRUE, most = 1)
  },
  nominal = function(left) {
    eta <- sqrt(sum(LOGISTIC_PRIOR)) * stats::qnorm((seq_len(200) - 0.5) / 200)
    p <- stats::plogis(eta)
    list(e = -c(eta, eta), y = rep(0:1, each = 200), weight = c(1 - p, p) / 200, sampling = 1 / mean(p * (1 - p)))
  },
  prior = function(d) spread_prior(LOGISTIC_PRIOR, d),
  slope = function(left, rule, eta) table_at(rule, -eta, 0.5)$slope,
  inverse = stats::plogis,
  model = "logistic", of = "log-odds", guess = "about even odds"
)

glm_poisson <- list(
  left = function(b, name, level) {
    guessed <- is.numeric(b) && is_plain(b) && setequal(names(b), c("center", "limit")) && length(b) == 2
    if (is.null(names(b)) && is_range(b) && b[1] == 0) {
      b <- c(center = b[2] / 4, limit = b[2])
    } else if (!(guessed && all(is.finite(b)) && b[["center"]] > 0 && b[["limit"]] > b[["center"]])) {
      no_bounds(name, "c(center = , limit = ), a guess of the mean and the largest count, or c(0, limit)")
    }
    if (b[["center"]] < COUNTS[1] || b[["limit"]] > COUNTS[2] * min(1, b[["center"]])) {
      no_bounds(name, sprintf("of a size that counts have: `center` at least %g, `limit` at most %g and %g centres",
                              COUNTS[1], COUNTS[2], COUNTS[2]))
    }
    list(type = "number", range = c(0, b[["limit"]]), units = list(center = 0, scale = b[["center"]]),
         link = c(log(b[["center"]]), 1))
  },
  loss = function(left, par) {
    most <- left$range[2] / left$units$scale
    tau <- min(most, exp(par) / sqrt(left$units$scale))
    e <- table_knots(-log(most) - tau / most, 12)
    list(tau = tau, g = -ifelse(-e <= log(most), exp(-e), most * (1 - e - log(most))), step = e[2] - e[1], first = e[1],
         added = TRUE, most = most)
  },
  nominal = function(left) {
    center <- left$units$scale
    grid <- expand.grid(z = (seq_len(40) - 0.5) / 40, u = (seq_len(25) - 0.5) / 25)
    v <- sum(POISSON_PRIOR)
    eta <- sqrt(v) * stats::qnorm(grid$z) - v / 2
    y <- pmin(left$range[2], stats::qpois(grid$u, center * exp(eta))) / center
    list(e = -eta, y = y, weight = rep(1 / 1000, 1000), sampling = 1 / center)
  },
  prior = function(d) spread_prior(POISSON_PRIOR, d),
  slope = function(left, rule, eta) {
    u <- (seq_len(25) - 0.5) / 25
    center <- left$units$scale
    y <- outer(pmin(left$range[2], center * exp(eta)), u, function(mean, u) stats::qpois(u, mean))
    rowMeans(matrix(table_at(rule, rep(-eta, 25), pmin(left$range[2], y) / center)$slope, length(eta)))
  },
  inverse = exp,
  model = "Poisson", of = "log mean", guess = "a mean about the guessed centre"
)

glm_quantile <- list(
  left = function(b, name, level) {
    b <- response_bounds(b, name)
    list(type = "number", range = b[1] + c(-1, 1) * b[3], units = list(center = b[1], scale = b[2]), link = b[1:2],
         level = level)
  },
  loss = function(left, par) {
    z <- table_knots(-TABLE_END, TABLE_END)
    e <- exp(par) * z
    list(tau = max(left$level, 1 - left$level), g = left$level - stats::plogis(-z), step = e[2] - e[1], first = e[1],
         added = FALSE, most = 0)
  },
  nominal = function(left) {
    sd <- sqrt(0.7)
    at <- stats::qnorm(left$level)
    list(e = sd * (stats::qnorm((seq_len(1000) - 0.5) / 1000) - at), y = rep(0, 1000), weight = rep(1 / 1000, 1000),
         sampling = left$level * (1 - left$level) * sd^2 / stats::dnorm(at)^2)
  },
  prior = function(d) nominal_prior(d),
  slope = NULL, # is the responses' density there
  inverse = identity,
  model = "quantile", of = "quantile", guess = "normal responses of the guessed centre and scale"
)

spread_prior <- function(variance, d) c(variance[1], if (d > 0) variance[2] / (d * NOMINAL_MOMENT))

# psi and its slope by a table, for residuals e and responses y that are added
table_at <- function(loss, e, y) {
  z <- (e - loss$first) / loss$step
  knots <- length(loss$g) - 1
  i <- pmax(0, pmin(knots - 1, floor(z)))
  rise <- loss$g[i + 2] - loss$g[i + 1]
  value <- loss$g[i + 1] + rise * pmax(0, pmin(1, z - i)) + if (loss$added) y else 0
  inside <- z > 0 & z < knots & abs(value) < loss$tau
  list(psi = pmax(-loss$tau, pmin(loss$tau, value)), slope = ifelse(inside, rise / loss$step, 0))
}

# The largest e1 for which e1 u/2 + log(1 + t psi') <= epsilon - e1/2 on each interval, t a record's leverage against
# the ridge; of averages over a unit's rows, with t psi'. Not positive where there is none.
table_noise <- function(loss, epsilon, t, averaged) {
  at <- table_steps(loss)
  cost <- if (averaged) t * at$slope else log1p(t * at$slope)
  min(epsilon, 2 * (epsilon - cost) / (1 + at$u)) * (1 - 1e-12)
}

# Constants of one fit that is `epsilon`-DP, its solver's share included: those of the least error by the model
glm_rule <- function(ask) {
  key <- paste(c("glm", ask$family, format(c(ask$n, ask$epsilon, ask$d, unlist(ask$left[c("range", "units", "level")])),
                                           digits = 17), format(unlist(ask$simplex), digits = 17), !is.null(ask$unit)),
               collapse = " ")
  remember(key, function() find_glm_rule(ask, glm_families()[[ask$family]], !is.null(ask$unit)))
}

# What pays for the solver's error grows where its noise, which a steep table makes large, would be a tenth of the error
find_glm_rule <- function(ask, family, averaged) {
  rule <- glm_rule_paying(solver_share(ask$n), ask, family, averaged)
  if (is.null(rule) || covering_error(rule) < 0.1 * rule$error) return(rule)
  more <- glm_rule_paying(0.02, ask, family, averaged)
  if (!is.null(more) && more$error < rule$error) more else rule
}

glm_rule_paying <- function(share, ask, family, averaged) {
  d <- ask$d
  solver <- share * ask$epsilon
  core <- (ask$epsilon - solver) * (1 - 1e-12)
  norm <- if (is.null(ask$simplex)) best_norm(d, 1) else "simplex"
  nominal <- family$nominal(ask$left)
  constants <- function(par) {
    part <- stats::plogis(par[1:2])
    loss <- family$loss(ask$left, par[3])
    t <- part[1] * leverage(1 / steepest(loss), core, 1, averaged)
    e1 <- table_noise(loss, core, t, averaged)
    if (t > 1e-300 && e1 > 0) c(loss, list(e1 = e1, t = t, ridge = ridge_by_blocks(t, part[2], d, ask$simplex)))
  }
  whole <- function(found) {
    c(found, list(n = ask$n, d = d, q = 1, epsilon = ask$epsilon, solver = solver, norm = norm,
                  rate = found$e1 / (2 * found$tau), loss = ask$family), if (averaged) list(averaged = TRUE),
      if (!is.null(ask$simplex)) list(simplex = ask$simplex))
  }
  judge <- function(found) {
    if (is.null(found)) return(Inf)
    at <- table_at(found, nominal$e, nominal$y)
    kappa <- sum(nominal$weight * at$slope)
    if (!(kappa > 1e-9)) return(Inf)
    cut <- max(0, sum(nominal$weight * at$psi^2) / kappa^2 - nominal$sampling)
    v <- (2 * found$tau / found$e1)^2 * noise_second_moment(norm, d, 1, ask$simplex)
    penalised_error(ask$n, d, kappa, found$ridge, family$prior(d), v, c(sampling = nominal$sampling, cut = cut),
                    sum(nominal$weight * at$psi) / kappa, ask$simplex) + covering_error(whole(found))
  }
  best <- modelled_rule(constants, judge, c(stats::qlogis(c(0.2, 0.25)), 0), 1)
  if (is.null(best)) return(NULL)
  kappa <- sum(nominal$weight * table_at(best, nominal$e, nominal$y)$slope)
  c(whole(best), list(error = judge(best), kappa = kappa))
}

# Mean curvature of a record at released coefficients (on public scales), for predictors about normal with mean 0 and
# second moment NOMINAL_MOMENT: E k(eta) (1, u)'(1, u), by 200 points of the linear predictor. Post-processing.
glm_curvature <- function(object) {
  rule <- object$details$rule
  slope <- glm_families()[[object$family]]$slope
  b <- drop(object$scaled_coefficients)
  if (!is.null(rule$simplex)) { # at the nominal rows, in mapped features
    if (is.null(slope)) return(rule$kappa * rule$simplex$gram)
    x <- nominal_features(object$spec, object$columns, object$bounds)
    s <- simplex_features(x, rule$simplex)
    return(tcrossprod(s * rep(slope(object$bounds$left, rule, drop(b %*% x)), each = nrow(s)), s) / ncol(s))
  }
  if (is.null(slope)) return(diag(rule$kappa * c(1, rep(NOMINAL_MOMENT, rule$d)), rule$d + 1))
  length <- sqrt(sum(b[-1]^2))
  z <- stats::qnorm((seq_len(200) - 0.5) / 200)
  k <- slope(object$bounds$left, rule, b[1] + sqrt(NOMINAL_MOMENT) * length * z)
  along <- if (length > 0) b[-1] / length else 0 * b[-1]
  across <- mean(k * z) * sqrt(NOMINAL_MOMENT) * along
  slopes <- NOMINAL_MOMENT * (diag(mean(k), rule$d) + (mean(k * z^2) - mean(k)) * outer(along, along))
  unname(rbind(c(mean(k), across), cbind(across, slopes)))
}

# a response's values, a total function of each: numbers in the bounds, levels as 0 and 1, NA for anything else
glm_response <- function(v, left) {
  if (!is.null(left$levels)) return(as.double(match(v, left$levels)) - 1)
  v <- as.double(v)
  v[!is.finite(v)] <- NA
  pmin(left$range[2], pmax(left$range[1], v))
}
