# Objective perturbation for linear regression with q responses and d predictors in [-1, 1]: the public rules for its
# constants, and a model of its error. Everything here is a function of public numbers; proofs in
# inst/proofs/linear-regression.md. Responses are on a scale on which their public standard deviation is 1.

# What the noise that pays for the solver's error takes of epsilon: eta grows with n, the noise of the mechanism does
# not
solver_share <- function(n) min(0.02, max(5e-4, 1e-8 * n))
# Newton steps before the method whose number of steps is proven takes over. Tables may be flat and steep in turn: there
# damped steps are slow, and that method far slower.
NEWTON_STEPS <- 60
TABLE_NEWTON_STEPS <- 10000

# The largest loss with e1 u/2 + (q - 1) log(1 + t g/z) + log(1 + t g') <= k, at 0, .04, ..., 8; NULL where there is
# none. `averaged`, here and below: for units that count with the average over their rows, v in the place of log(1 + v).
shared_loss <- function(k, e1, q, t, averaged = FALSE) {
  .Call(riemdp_shared_loss, k, e1, q, t, averaged, LOSS_STEP, LOSS_KNOTS)
}

# Huber's loss, psi = tau min(1, |e|/tau), for plain accounting e1 + q log(1 + t) <= epsilon
huber_loss <- function() pmin(1, LOSS_STEP * (0:LOSS_KNOTS))

# E|b_k|^2 of one coefficient row at rate 1; with `simplex` (see linear_simplex()) of each
noise_second_moment <- function(norm, d, q, simplex = NULL) {
  m <- q * (d + 1)
  size <- if (!is.null(simplex)) tabulate(simplex$block)[simplex$block] * q
  switch(norm, vertex = 2^d * q * (q + 1), max = (m + 1) * (m + 2) * q / (q + 2),
         simplex = (m + 1) * (m + 2) * q * (q + 1) / ((size + 1) * (size + 2)), normal = q)
}

# what the kernel is told of the noise's law
law_of <- function(rule) if (rule$norm == "simplex") rule$simplex$block else rule$norm

# t of Theorem 1: the most of F L^-1 F' over possible features
most_leverage <- function(ridge, simplex = NULL) {
  if (is.null(simplex)) sum(1 / ridge) else sum(tapply(1 / ridge, simplex$block, max))
}

best_norm <- function(d, q) {
  if (d <= 15 && noise_second_moment("vertex", d, q) < noise_second_moment("max", d, q)) "vertex" else "max"
}

# ---- nominal errors --------------------------------------------------------------------------------------------------

# Lengths and first coordinates of a fixed sample (a Kronecker sequence) of error vectors with independent standardised
# coordinates
nominal_errors <- function(q, tails) {
  remember(paste("errors", q, tails), function() {
    count <- if (q == 1) 1000 else 2000
    first <- c(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
    u <- if (q == 1) matrix((seq_len(count) - 0.5) / count) else
      vapply(seq_len(q), function(j) (seq_len(count) * sqrt(first[(j - 1) %% 16 + 1] + 60 * ((j - 1) %/% 16)) +
                                      0.5) %% 1, numeric(count))
    e <- if (tails == "normal") stats::qnorm(u) else (stats::qgamma(u, 4) - 4) / 2
    e <- matrix(e, count)
    list(r = sqrt(rowSums(e^2)), first = e[, 1])
  })
}

# psi at lengths r: list(across = psi/r, slope = psi')
loss_at <- function(g, tau, r) {
  z <- r / (tau * LOSS_STEP)
  i <- pmin.int(floor(z), LOSS_KNOTS)
  rise <- c(g[-1] - g[-length(g)], 0)[i + 1]
  psi <- tau * (g[i + 1] + rise * (z - i))
  slope <- rise / LOSS_STEP
  across <- psi / r
  none <- r == 0
  if (any(none)) across[none] <- slope[none]
  list(psi = psi, across = across, slope = slope)
}

# Nominal squared coefficients: intercept, and each of d slopes; S_k = 1/6 is the nominal second moment of a predictor
NOMINAL_MOMENT <- 1 / 6
nominal_prior <- function(d) c(0.15, if (d > 0) 0.2 / (d * NOMINAL_MOMENT))

# Of psi at these errors: the mean slope `kappa`, the mean square of a number, and by how much cutting moves a level;
# NULL where psi is flat
loss_moments <- function(g, tau, q, errors) {
  loss <- loss_at(g, tau, errors$r)
  count <- length(errors$r)
  kappa <- sum(loss$slope + (q - 1) * loss$across) / (q * count)
  if (!(kappa > 1e-6)) return(NULL)
  list(kappa = kappa, spread = sum(loss$psi^2) / (q * count), bias = sum(loss$across * errors$first) / (kappa * count))
}

# The model: expected excess of the mean squared error per response over least squares, in units of the public variance
perturbation_error <- function(n, d, q, g, tau, e1, ridge, norm, prior, errors, simplex = NULL) {
  psi <- loss_moments(g, tau, q, errors)
  if (is.null(psi)) return(Inf)
  v <- (2 * tau / e1)^2 * noise_second_moment(norm, d, q, simplex) / q
  penalised_error(n, d, psi$kappa, ridge, prior, v, c(sampling = 1, cut = max(0, psi$spread / psi$kappa^2 - 1)),
                  psi$bias, simplex)
}

# The same from the mean slope kappa of psi, the variance v of a number of the noise, and what n times the variance of
# an estimate without noise is for features of variance 1: of the best one, and what cutting adds to it
penalised_error <- function(n, d, kappa, ridge, prior, v, variance, bias, simplex = NULL) {
  if (!is.null(simplex)) return(simplex_error(n, kappa, ridge, prior, v, variance, bias, simplex))
  moment <- c(1, rep(NOMINAL_MOMENT, d))
  prior <- c(prior[1], rep(prior[2], d))
  s <- n * kappa * moment / (n * kappa * moment + ridge)
  sum(moment * ((1 - s)^2 * (prior + variance[["sampling"]] / (n * moment)) + v / (n * kappa * moment + ridge)^2 +
                  s^2 * variance[["cut"]] / (n * moment))) + s[1]^2 * bias^2
}

# The same for features whose second moments are G, where coefficients of a curve that isn't flat are alike and
# independent. With A = n kappa G + L, S = n kappa A^-1 G is what is left of coefficients.
simplex_error <- function(n, kappa, ridge, prior, v, variance, bias, simplex) {
  g <- simplex$gram
  p <- length(ridge)
  flat <- as.double(simplex$block == 1) # coefficients of the constant 1
  mean <- drop(g %*% flat)
  bent <- sum(diag(g)) - sum(mean^2)
  prior <- prior[1] * tcrossprod(flat) + diag(if (p > 1) prior[2] * (p - 1) * NOMINAL_MOMENT / bent else 0, p)
  inverse <- tryCatch(solve(n * kappa * g + diag(ridge, p)), error = function(e) NULL)
  if (is.null(inverse)) return(Inf)
  lost <- inverse %*% diag(ridge, p)
  kept <- diag(p) - lost
  size <- function(a) sum(g * a) # tr G a
  # (I - S) G^-1 (I - S)' = G^-1 - 2 A^-1 n kappa + A^-1 G A^-1 (n kappa)^2, of which tr G is p less what is kept
  sampled <- p - 2 * sum(diag(kept)) + sum(diag(kept %*% kept))
  size(lost %*% prior %*% t(lost)) + variance[["sampling"]] / n * sampled +
    size(inverse %*% (rep_len(v, p) * inverse)) + variance[["cut"]] / n * sum(diag(kept %*% kept)) +
    size(tcrossprod(kept %*% flat)) * bias^2
}

# ---- the rules -------------------------------------------------------------------------------------------------------

# Ridge from its share of t: 1/(t ridge_0) = w, the slopes, or the blocks of features behind the first, share the rest
ridge_by_blocks <- function(t, w, d, simplex) {
  if (is.null(simplex)) return(shared_ridge(t, if (d > 0) w else 1, d))
  others <- max(simplex$block) - 1
  shared_ridge(t, if (others > 0) w else 1, others)[simplex$block]
}

shared_ridge <- function(t, w, d) if (d == 0) 1 / t else c(1 / (w * t), rep(d / ((1 - w) * t), d))

# Beyond this t the ridge is as good as none, and the solver's error (eta over the ridge) would begin to cost
LEVERAGE_MOST <- 100

leverage <- function(h, k, q, averaged = FALSE) min(LEVERAGE_MOST, h * if (averaged) k / q else expm1(min(k / q, 50)))

# t = h (e^(k/q) - 1), less where no loss exists for it
existing_loss <- function(k, e1, q, h, averaged = FALSE) {
  repeat {
    t <- leverage(h, k, q, averaged)
    if (!isTRUE(t > 1e-300)) return(NULL)
    g <- shared_loss(k, e1, q, t, averaged)
    if (!is.null(g)) return(list(g = g, t = t))
    h <- 0.9 * h
  }
}

clamp <- function(x, least, most) pmin(most, pmax(least, x))

# the closed form: by hand from the error model's optima
closed_rule <- function(n, epsilon, d, q, averaged = FALSE, simplex = NULL) {
  e1 <- (if (q == 1) 0.9 else 0.8) * epsilon
  h <- clamp((n * epsilon)^-0.154 * q^0.354 * epsilon^-0.184, 0.2, 0.8)
  found <- existing_loss(epsilon - e1 / 2, e1, q, h, averaged)
  if (is.null(found)) return(NULL)
  tau <- clamp(0.22 * (n * epsilon / sqrt(max(d, 1)))^0.34, 0.35 * sqrt(q), 5 * sqrt(q))
  list(e1 = e1, t = found$t, g = found$g, tau = tau, ridge = ridge_by_blocks(found$t, 1 / 4, d, simplex))
}

# Constants of one fit that is `epsilon`-DP, its solver's share included. `rule`: "closed" as above; "model" minimises
# perturbation_error() from there; "auto" the model's where it promises MODEL_GAIN less error: in smaller things the
# closed form is no worse on data that aren't as nominal (over the settings of inst/reproduce/linear-regression.R), in
# large ones it is. `loss`: "shared", or "huber" for plain accounting with the max norm, to compare. NULL where no loss
# exists.
MODEL_GAIN <- 0.15

perturbation_rule <- function(n, epsilon, d, q, rule = "auto", loss = "shared", tails = "gamma",
                              prior = nominal_prior(d), averaged = FALSE, simplex = NULL) {
  if (n < 1) return(NULL)
  key <- paste(c("rule", format(c(n, epsilon, d, q, prior, unlist(simplex)), digits = 17), rule, loss, tails, averaged),
               collapse = " ")
  remember(key, function() find_rule(n, epsilon, d, q, rule, loss, tails, prior, averaged, simplex))
}

find_rule <- function(n, epsilon, d, q, rule, loss, tails, prior, averaged, simplex) {
  solver <- solver_share(n) * epsilon
  core <- epsilon - solver
  errors <- nominal_errors(q, tails)
  huber <- loss == "huber"
  start <- closed_rule(n, core, d, q, averaged, simplex)
  norm <- if (!is.null(simplex)) "simplex" else if (huber) "max" else best_norm(d, q)
  whole <- function(found) {
    c(found, list(n = n, d = d, q = q, epsilon = epsilon, solver = solver, norm = norm,
                  rate = found$e1 / (2 * found$tau), loss = loss, rule = rule), if (averaged) list(averaged = TRUE),
      if (!is.null(simplex)) list(simplex = simplex))
  }
  judge <- function(found) {
    if (is.null(found)) return(Inf)
    perturbation_error(n, d, q, found$g, found$tau, found$e1, found$ridge, norm, prior, errors, simplex) +
      covering_error(whole(found))
  }
  best <- if (!huber) start
  if (rule != "closed" || huber) {
    tried <- modelled_rule(function(par) rule_constants(par, core, d, q, huber, averaged, simplex), judge,
                           rule_numbers(start, core, q, huber, averaged), q)
    margin <- if (rule == "auto" && !huber) 1 - MODEL_GAIN else 1
    if (!is.null(tried) && (is.null(best) || judge(tried) < margin * judge(best))) best <- tried
  }
  if (is.null(best)) return(NULL)
  c(whole(best), list(error = judge(best)))
}

# the constants of the least error by the model, from `first` on; tau, whose logarithm comes last, stays where responses
# are
modelled_rule <- function(constants, judge, first, q) {
  limit <- sqrt(q) * c(0.05, 20)
  target <- function(par) {
    tau <- exp(par[length(par)])
    if (tau < limit[1] || tau > limit[2]) return(1e6)
    min(judge(constants(par)), 1e6)
  }
  constants(stats::optim(first, target, control = list(maxit = 250, reltol = 1e-4))$par)
}

# What is searched over: e1's share of `core`, t's of the largest, the intercept's of the leverage (all three by
# plogis), and log tau. NULL where no loss has these.
rule_constants <- function(par, core, d, q, huber, averaged, simplex = NULL) {
  part <- stats::plogis(par[1:3])
  e1 <- part[1] * core
  if (huber) {
    t <- leverage(1, (core - e1) * (1 - 1e-12), q, averaged)
    g <- huber_loss()
  } else {
    k <- core - e1 / 2
    t <- leverage(part[2], k, q, averaged)
    g <- if (t > 1e-300) shared_loss(k, e1, q, t, averaged)
  }
  if (!is.null(g)) list(e1 = e1, t = t, g = g, tau = exp(par[4]), ridge = ridge_by_blocks(t, part[3], d, simplex))
}

# the same numbers of the closed form, to start from
rule_numbers <- function(start, core, q, huber, averaged) {
  t <- if (huber) 1 / 2 else clamp(start$t / leverage(1, core - start$e1 / 2, q, averaged), 1e-3, 0.999)
  c(stats::qlogis(c(if (huber) 0.7 else start$e1 / core, t, 0.25)), log(start$tau))
}

# A length that noise of the objective doesn't exceed but with a probability below e^-400: a sum of Gamma variables
noise_most <- function(norm, d, q, rate) {
  if (norm == "normal") return((sqrt(q * (d + 1)) + 30) / rate) # a normal vector's length is 1-Lipschitz
  shape <- switch(norm, vertex = 2^d * q, max = , simplex = q * (d + 1) + 1)
  sqrt(d + 1) * (shape + 40 * sqrt(shape) + 800) / rate
}

# eta, the gradient norm within which the solver's end lies: four times what rounding may do to a gradient, by public
# bounds (proof in inst/proofs/linear-regression.md, "Rounding"). `reach` is the most of sum_k F_kj^2 over features,
# `most` that of a response's length.
solver_tolerance <- function(rule, ridge, rate, most, reach = most_reach(rule), output = FALSE) {
  u <- 2^-53
  p <- rule$d + 1
  pull <- rule$n * sqrt(reach) * rule$tau
  tilt <- if (output) 0 else noise_most(rule$norm, rule$d, rule$q, rate)
  far <- if (is.null(rule$window)) reach else longest_window_features(rule$window)
  size <- most + sqrt(far * p) * 3 * (pull + tilt) / min(ridge) # of |y| + |F B|, B any point on the solver's last way
  residual <- 8 * (p + 1)^2 * u^2 * sqrt(rule$q) * size
  counts <- isTRUE(rule$averaged) || isTRUE(rule$weighted) || identical(rule$norm, "normal") || !is.null(rule$window)
  shares <- if (counts) 2 else 0 # their products, and sums of up to 2^26 rows
  of_psi <- if (is.null(rule$first)) rule$tau * (rule$q + 15 + shares) else table_rounding(rule, shares)
  4 * (rule$n * sqrt(reach) * (of_psi * u + rule$tau * 2 * (rule$n * u)^2 + steepest(rule) * residual) +
         4 * u * tilt) * (1 + 1e-6)
}

# the most of sum_k F_kj^2 over features on the scale that noise is drawn for, of windows with what their record counts
most_reach <- function(rule) if (identical(rule$norm, "normal")) 1 + SHORT_SCALE^2 * rule$d else rule$d + 1

# Rate of the noise z, of density exp(-rate |z|), that covers the solver's error: a minimiser is found within
# tolerance/min(ridge)
covering_rate <- function(rule, ridge, tolerance) outwards_down(rule$solver * min(ridge) / (2 * tolerance))

rule_cover <- function(rule, output) {
  covering_rate(rule, rule$ridge, solver_tolerance(rule, rule$ridge, rule$rate, REACH, output = output))
}

# its variance in each number, for |z| is a Gamma variable whose shape is how many there are
covering_variance <- function(rule, output = FALSE) {
  if (is.null(rule$solver)) 0 else (rule$q * (rule$d + 1) + 1) / rule_cover(rule, output)^2
}

# what it adds to the mean squared error per response
covering_error <- function(rule, output = FALSE) {
  moments <- if (!is.null(rule$simplex)) sum(diag(rule$simplex$gram)) else
    1 + rule$d * if (identical(rule$norm, "normal")) 1 else NOMINAL_MOMENT # those of features are 1 on its scale
  moments * covering_variance(rule, output)
}

# a length that it and the solver's error don't exceed but with a probability below 1e-6
covering_length <- function(rule) {
  (stats::qgamma(1e-6, rule$q * (rule$d + 1), lower.tail = FALSE) + rule$solver / 2) / rule_cover(rule, FALSE)
}

# in units of u, what rounding does to a table's psi and its sums
table_rounding <- function(rule, shares) {
  ends <- rule$first + c(0, rule$step * (length(rule$g) - 1))
  steepest(rule) * (max(abs(ends)) + 2.2 * diff(ends) + 3 * rule$step) + max(abs(rule$g)) + (8 + shares) * rule$tau
}

# the largest slope of psi
steepest <- function(rule) if (is.null(rule$first)) 1 else max(diff(rule$g)) / rule$step * (1 + 1e-9)

# what its solver is told: to which length of the gradient, by how many steps, for features of which length
newton_solver <- function(eta, reach, steps = NEWTON_STEPS) list(eta = eta, steps = steps, reach = reach)

kernel_loss <- function(rule) {
  c(list(tau = rule$tau, step = rule$step %||% LOSS_STEP, g = as.double(rule$g)),
    rule[intersect(c("first", "added"), names(rule))])
}

# One private fit. x: (d + 1) x n with first row 1 (a missing record: 0), y: q x n; or x records in chunks and y what is
# done to their responses, none of them longer than REACH. With `output` noise is added to the minimiser, in the ridge's
# metric, instead of tilting the objective.
release_perturbed <- function(x, y, rule, output = FALSE) {
  ridge <- matrix(rep(rule$ridge, each = rule$q), rule$q)
  tolerance <- solver_tolerance(rule, ridge, rule$rate, REACH, output = output)
  if (inherits(x, "riemdp_linear_chunks")) {
    x$ask$drawn <- list(norm = rule$norm, simplex = rule$simplex, window = rule$window)
    x <- linear_tally(x, y, kernel_loss(rule), dim(ridge))
  } else x <- drawn_features(x, rule)
  b <- draw_perturbed(x, y, ridge, rule, outwards_down(rule$rate), tolerance, most_reach(rule) * steepest(rule), output)
  map <- drawn_map(rule)
  if (is.null(map)) b else b %*% map
}

# what coefficients that noise was drawn for are multiplied with to be those of (1, u); NULL where they are
drawn_map <- function(rule) {
  if (identical(rule$norm, "normal")) return(diag(c(1, rep(SHORT_SCALE, rule$d)), rule$d + 1))
  if (is.null(rule$window)) rule$simplex$map else window_map(rule$window)
}

# `angles`: where curvature is positive, those of a step's features (record_lines())
draw_perturbed <- function(x, y, ridge, rule, rate, tolerance, reach, output = FALSE, angles = NULL) {
  cover <- covering_rate(rule, ridge, tolerance)
  price <- price_perturbed(rule, rate, ridge[1, ], cover * 2 * tolerance / min(ridge), output, angles)
  solver <- newton_solver(tolerance, reach, if (is.null(rule$first)) NEWTON_STEPS else TABLE_NEWTON_STEPS)
  .Call(riemdp_release_perturbed, x, y, ridge, 0 * ridge, kernel_loss(rule), solver,
        list(norm = law_of(rule), rate = rate, cover = cover, output = output), pay(price))
}

# Theorem 1 of linear-regression.md read backwards, from the constants that are drawn with: the noise of the objective,
# what its density pays for the records' curvature, and the solver's share; or of noise on the minimiser, its section 6.
# Between two knots the sum is convex, so at its largest at one of them.
price_perturbed <- function(rule, rate, ridge, solver, output = FALSE, angles = NULL) {
  if (rule$norm == "normal") return(price_tilted(rule, rate, ridge, solver))
  moved <- 2 * rule$tau
  if (!is.null(angles)) {
    lines <- record_lines(rule, ridge, angles)
    return(draw_price("perturbed objective", "regression.md, 2", moved * lines$gauge, 1 / rate,
                      epsilon = solver + max(lines$constant + lines$slope * rate * rule$tau)))
  }
  t <- most_leverage(ridge, rule$simplex)
  if (output) {
    far <- moved * sqrt(t)
    return(draw_price("perturbed output", "linear-regression.md, 6", far, 1 / rate, epsilon = solver + far * rate))
  }
  cost <- curvature_cost(rule)
  if (!is.null(rule$first)) return(price_table(rule, moved, rate, t, cost, solver))
  draw_price("perturbed objective", "linear-regression.md, 2", moved, 1 / rate,
            epsilon = solver + moved * rate * max(1, rule$g) / 2 + shared_budget(rule, moved * rate / 2, t, cost))
}

# ---- normal noise (section 14 of the proof) --------------------------------------------------------------------------

# E (1 - exp(E - mu^2/2 - mu R))+ of the length R of q independent normals, rounded up: the integral from r0 on of
# mu exp(-mu (r - r0)) P(R > r), P taken at the left end of each step
chi_delta <- function(mu, epsilon, q) {
  from <- epsilon / mu - mu / 2
  at <- 0.02 / (1 + max(0, from) + mu) * (0:600)
  weight <- exp(-mu * at)
  tail <- stats::pchisq(pmax(0, from + at)^2, q, lower.tail = FALSE)
  (sum((weight[-601] - weight[-1]) * tail[-601]) + weight[601] * tail[601]) * (1 + 1e-9) + 1e-307
}

# E (R - r)+, rounded up
chi_beyond <- function(r, q) {
  tail <- function(q) stats::pchisq(pmax(0, r)^2, q, lower.tail = FALSE)
  first <- sqrt(2) * exp(lgamma((q + 1) / 2) - lgamma(q / 2)) * tail(q + 1)
  pmax(0, first - r * tail(q)) + 1e-11 * first + 1e-307
}

# Theorems 6 and 7: delta at `epsilon` where a record's curvature costs at most k - fall u, and its gradient is no
# longer than m standard deviations of the noise
tilted_delta <- function(epsilon, k, fall, m, q, averaged = FALSE) {
  m <- outwards(m)
  rest <- epsilon - k + fall
  if (averaged) { # G of section 14, at points v where it touches
    v <- seq(0, 3, by = 0.05)
    from <- epsilon + v + 1 - exp(v)
    return(min(1, exp(-v) * m * (chi_beyond((from - k - m^2 / 2) / m, q) +
                                   4 * chi_beyond((from - k + fall - 2 * m^2) / (2 * m), q))))
  }
  if (q > 1) return(min(1, chi_delta(m, epsilon - k, q) + 2 * chi_delta(2 * m, rest, q)))
  signs <- if (rest > 0 && (rest / (2 * m))^2 - m^2 >= 2) 2 else 4
  min(1, 2 * gaussian_delta(m, epsilon - k) + signs * gaussian_delta(2 * m, rest))
}

# the largest m for which that is at most delta, rounded down
tilted_size <- function(epsilon, k, fall, q, delta, averaged = FALSE) {
  check_normal_delta(delta)
  over <- function(log_m) log(tilted_delta(epsilon, k, fall, exp(log_m), q, averaged)) - log(delta)
  lower <- log(epsilon + 1e-3) - log(50)
  while (over(lower) > 0) lower <- lower - 2
  upper <- lower + 2
  while (over(upper) < 0) upper <- upper + 2
  root <- stats::uniroot(over, c(lower, upper), tol = 1e-10)$root
  exp(step_until(root, -1e-10, function(x) over(x) <= 0))
}

# the most of w x'L^-1 x over shortened features: along |u|^2 it rises, falls and rises
short_leverage <- function(ridge, d) {
  p <- d + 1
  of <- function(square) min(1, sqrt(p / (1 + square))) * (1 / ridge[1] + if (d > 0) square / ridge[2] else 0)
  max(of(d), of(SHORT_SCALE^2 * d))
}

# Theorem 6 or 7 read backwards from the constants that are drawn with, at the epsilon that the rule is made for
price_tilted <- function(rule, rate, ridge, solver) {
  cost <- curvature_cost(rule)
  far <- rule$tau * sqrt(rule$d + 1)
  fall <- rule$e1 / 2
  k <- shared_budget(rule, fall, short_leverage(ridge, rule$d), cost)
  core <- rule$epsilon - rule$solver
  draw_price("normal tilt", "linear-regression.md, 14", 2 * far, 1 / rate, epsilon = core + solver,
             delta = tilted_delta(core, max(k, fall), fall, far * rate, rule$q, isTRUE(rule$averaged)))
}

# The same of a table of residuals themselves, interval by interval, and where psi is tau and has no slope
price_table <- function(rule, moved, rate, t, cost, solver) {
  at <- table_steps(rule)
  worst <- max(moved * rate / 2, moved * rate * at$u / 2 + cost(t * at$slope))
  draw_price("perturbed objective", "linear-regression.md, 11", moved, 1 / rate,
             epsilon = solver + moved * rate / 2 + worst)
}

# On each interval of a table the largest |psi|/tau that any possible response, from 0 to `most`, leaves it, and psi's
# slope there: 0 where no response leaves psi within its limits
table_steps <- function(loss) {
  low <- loss$g[-length(loss$g)]
  high <- loss$g[-1] + loss$most
  slope <- diff(loss$g) / loss$step
  slope[high <= -loss$tau | low >= loss$tau] <- 0
  list(u = pmin(1, pmax(abs(low), abs(high)) / loss$tau), slope = slope)
}

# Responses are moved to this many public standard deviations where a method has no bound of its own: doubles stay
# finite
REACH <- 1e6

ridge_words <- function(rule) {
  if (rule$norm == "simplex") return(sprintf("from %.4g to %.4g", min(rule$ridge), max(rule$ridge)))
  sprintf("%.4g for the intercept%s", rule$ridge[1],
          if (rule$d > 0) sprintf(", %.4g for slopes", rule$ridge[2]) else "")
}
