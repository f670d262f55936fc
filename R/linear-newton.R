# A line by steps of Newton's method with normal noise, in features that follow the predictors' released spread.
# Proof: inst/proofs/linear-regression.md, section 10.

# Shares of mu^2: for the predictors' centres and spreads, for their second moments where those are worth it, for the
# first steps; less, to the least part, where a step with `enough` would do; the others have the same share each
NEWTON_SHARES <- list(spread = 0.05, moments = 0.1, first = c(0.05, 0.1, 0.12), least = 0.2, enough = 6000)
# Of centres and spreads, where records are few: the share with which noise moves centres by no more than the standard
# deviation of predictors that fill a quarter of their range, `center` times (d/(mu n))^2, up to `most`, beyond which
# centres can't be had; and that which tells the mean spread, (`scale`/(mu n))^2 up to `of_scale`
NEWTON_SPREAD <- c(center = 80, most = 0.25, scale = 24, of_scale = 0.1)
NEWTON_ROUNDS <- 8
DESCENT_SPREAD <- sqrt(1 / 3) # of even predictors, where nothing is released of them
# What the level, the mean of residuals cut further out, may get of mu^2, and where they are cut, in standard deviations
NEWTON_LEVEL <- list(share = c(0, 0.02, 0.05, 0.1, 0.2, 0.3), cut = c(1, 1.5, 2, 3, 4, 6))
# Of second moments, by how much noise moves a mean slope, over that of even predictors: they are released where it is
# at most `most`, as squares alone where products would be blurred; `aim` is what the share and the reach ask for. Reach
# is where squares of features are cut, over where features are. With mu n below `NEWTON_FEW` for each coefficient a
# step with all of mu tells more.
NEWTON_FEW <- 16
NEWTON_BLUR <- list(all = c(most = 2, aim = 0.15), squares = c(most = 0.5, aim = 0.1))
NEWTON_REACH <- 6
# what is said of a fit where noise hides them, or nothing is released of them
NEWTON_BLURRED <- paste(c(newton = "Noise hides how steeply some pulls fall: with rare levels or correlated predictors",
                          descent = "Nothing is released of the predictors: unless they are spread evenly"),
                        "steps may end on the way and the error be far larger than is told. So there are no intervals")
names(NEWTON_BLURRED) <- c("newton", "descent")
# What "is there" and squares count beside numbers, so that no record moves a sum further for them; and what all
# contributions are shortened by, which covers their rounding
NEWTON_WEIGHTS <- c(there = 0.8, square = 1.5, safe = 1 - 1e-12)

# ---- sums ------------------------------------------------------------------------------------------------------------

# By how much one record or unit moves the sums of a stage: of centres and squares of the predictors, of second moments
# of features, of pulls on the coefficients and squares of residuals, of residuals
newton_moves <- c(spread = 2, moments = sqrt(2), step = 2, level = 2)

# Exact sums over records of what each adds. `stage`: its name and what was released before, center, spread, turn, b;
# tau and length, at which residuals and features are cut.
newton_part <- function(x, y, stage) {
  .Call(riemdp_newton_sums, x, y, shares_of(x), c(stage, list(weights = NEWTON_WEIGHTS)))
}

newton_sum <- function(x, y, stage) {
  exact_total(if (inherits(x, "riemdp_linear_chunks")) linear_ask_chunks(x, "linear_stage", y, stage = stage) else
    list(newton_part(x, y, stage)))
}

# The lattice of a sum of m numbers that one record moves by `moved`, for mu: steps of 2^-fine, fine enough that
# rounding costs little, coarse enough for the sampler's integers and for sums over n records
newton_lattice <- function(moved, m, mu, n) {
  fine <- floor(min(29 - log2(moved / mu), 44 - log2(max(2, n))))
  shift <- if (fine >= 1) outwards(moved * 2^fine + 1.01 * sqrt(m))
  if (is.null(shift) || !(shift <= 1.1 * moved * 2^fine)) return(NULL)
  ratio <- as_ratio(outwards((shift / mu)^2 + ROUNDING_VARIANCE))
  list(law = "normal", fine = fine, shift = shift, ratio = ratio, scale = sqrt(ratio[1] / ratio[2]))
}

# the sum with its noise, and the standard deviation of that
noisy_newton_sum <- function(x, y, stage, lattice) {
  steps <- round(newton_sum(x, y, stage) * 2^lattice$fine)
  list(sum = noisy_steps(steps, lattice, "linear-regression.md, 10"), sd = lattice$scale / 2^lattice$fine)
}

# ---- what normal residuals say ---------------------------------------------------------------------------------------

# Of residuals of q numbers with variance 1 that are cut at a length of k: the mean slope `kappa`, the mean square of
# the cut length over k^2, and by how much the variance of an estimate by them exceeds that of least squares
cut_normal <- function(k, q) {
  inside <- stats::pchisq(k^2, q)
  across <- if (q == 1) 0 else {
    k * exp(lgamma((q - 1) / 2) - lgamma(q / 2)) / sqrt(2) * stats::pchisq(k^2, q - 1, lower.tail = FALSE)
  }
  kappa <- inside + (q - 1) / q * across
  square <- q * stats::pchisq(k^2, q + 2) / k^2 + 1 - inside
  list(kappa = kappa, square = square, loss = k^2 * square / (q * kappa^2) - 1)
}

# the standard deviation at which residuals cut at tau have this mean square
cut_scale <- function(square, tau, q) {
  ends <- log(tau / sqrt(q)) + c(-log(8), log(100))
  over <- function(log_sd) cut_normal(tau / exp(log_sd), q)$square - square
  if (over(ends[1]) > 0) return(exp(ends[1]))
  if (over(ends[2]) < 0) return(exp(ends[2]))
  exp(stats::uniroot(over, ends, tol = 1e-9)$root)
}

# Of d even predictors with variance 1, and 1 before them, cut at a length of the root of d + 1: the mean slope of a
# pull over that without cuts, the variance of an estimate over that of least squares, and what is left of second
# moments of features that count as in pulls, up to a length of `reach`
cut_features <- function(d) {
  p <- d + 1
  length <- sqrt(p)
  at <- stats::ppoints(400)
  squares <- if (d == 0) 1 else if (d == 1) 1 + 3 * at^2 else pmax(0.05 * p, p + sqrt(0.8 * d) * stats::qnorm(at))
  cut <- function(reach) sqrt(pmax(squares, reach^2)) / reach
  slope <- mean(squares / cut(length)) / p
  list(length = length, slope = slope, lever = mean(squares / cut(length)^2) / p / slope^2,
       counted = function(reach) mean(squares / cut(length) / cut(reach)) / p)
}

# variance of the noise of an estimate by residuals that are cut at k, with `mu`
newton_noise <- function(k, cut, features, mu, n) (2 * features$length * k / (cut$kappa * features$slope * mu * n))^2

# Where residuals are cut, in standard deviations: the least variance of a fit with `mu` in all, more for cuts from
# whose squares a step with `own` tells the scale badly
newton_cut <- function(ask, mu, own) {
  features <- cut_features(ask$d)
  p <- ask$d + 1
  log_k <- stats::optimize(function(log_k) {
    k <- exp(log_k)
    cut <- cut_normal(k, ask$q)
    noise <- p * newton_noise(k, cut, features, mu, ask$n)
    slope <- (cut_normal(0.95 * k, ask$q)$square - cut_normal(1.05 * k, ask$q)$square) / 0.1
    log(noise + cut$loss * p / ask$n) + log1p(8 * (2 / (NEWTON_WEIGHTS[["square"]] * own * ask$n * slope))^2)
  }, log(sqrt(ask$q) * c(0.3, 4)))$minimum
  exp(log_k)
}

# By how much the level of skewed errors with variance 1, where cut residuals add up to 0, is off their mean
newton_bias <- function(k) {
  e <- nominal_errors(1, "gamma")$first
  stats::uniroot(function(m) mean(clamp(e - m, -k, k)), c(-1, 1), tol = 1e-10)$root
}

# ---- the plan --------------------------------------------------------------------------------------------------------

linear_newton_rule <- function(ask, descent = FALSE) {
  numbers <- format(c(ask$n, ask$epsilon, ask$delta, ask$d, ask$q), digits = 17)
  key <- paste(c("newton", descent, numbers), collapse = " ")
  remember(key, function() make_newton_rule(ask, descent))
}

# `descent`: nothing is released of the predictors, whose public scales stand for their spreads
make_newton_rule <- function(ask, descent = FALSE) {
  if (!(ask$delta >= 1e-40)) abort_riemdp("argument", "the discrete Gaussian needs a `delta` of at least 1e-40.")
  mu <- gaussian_mu(ask$epsilon, ask$delta) * (1 - 1e-9)
  if (!(is.finite(mu) && mu > 0)) {
    abort_riemdp("argument", "`epsilon` and `delta` are out of the range in which Gaussian noise is calibrated.")
  }
  d <- ask$d
  share <- lapply(NEWTON_SHARES, `*`, clamp(NEWTON_SHARES$enough * ((d + 1) / (mu * ask$n))^2, NEWTON_SHARES$least, 1))
  moment <- newton_moment(d, mu * ask$n, share$moments)
  of <- c(spread = newton_spread_share(d, mu * ask$n, share$spread), moments = moment$share) * (d > 0 && !descent)
  levels <- lapply(NEWTON_LEVEL$share, newton_level, ask, mu, 1 - sum(of) - sum(share$first))
  level <- levels[[which.min(vapply(levels, function(l) l$error + l$noise, 0))]]
  rounds <- NEWTON_ROUNDS - length(share$first)
  step <- c(share$first, rep(level$later / rounds, rounds))
  first <- vapply(mu * sqrt(share$first), function(own) newton_cut(ask, own, own), 0)
  first[1] <- max(first[1], sqrt(ask$q))
  size <- c(spread = 2 * d + 1, moments = if (moment$diagonal) d + 1 else symmetric_count(d + 1),
            step = (d + 1) * ask$q + 1, level = ask$q)
  lattice <- function(name, part) newton_lattice(newton_moves[[name]], size[[name]], mu * sqrt(part), ask$n)
  list(mu = mu, moment = moment[c("length", "reach", "diagonal")], cuts = c(first, rep(level$of_step, rounds)),
       cut = level$cut, error = level$error, noise = level$noise * level$later, shares = step,
       spread = if (of[["spread"]] > 0) lattice("spread", of[["spread"]]),
       moments = if (of[["moments"]] > 0) lattice("moments", of[["moments"]]),
       steps = lapply(step, function(part) lattice("step", part)),
       level = if (level$share > 0) lattice("level", level$share),
       served = c(spread = of[["spread"]] > 0, moments = of[["moments"]] > 0, level = level$share > 0))
}

newton_spread_share <- function(d, count, usual) {
  center <- NEWTON_SPREAD[["center"]] * (d / count)^2
  most <- NEWTON_SPREAD[["most"]]
  max(usual, min(NEWTON_SPREAD[["of_scale"]], (NEWTON_SPREAD[["scale"]] / count)^2),
      if (center > most) most^2 / center else center)
}

# What is left of slopes that explain r_squared, with errors that have the rest of the responses' variance, and the
# variance of the last residuals. A step's noise grows with the residuals that the one before left, as its cut does; all
# steps count by what they tell.
newton_left <- function(rule, ask) {
  left <- rep(ask$r_squared, 2)
  known <- 0
  for (share in if (ask$d > 0) rule$shares) {
    known <- known + share / (1 - ask$r_squared + left[1])
    left <- c(left[2], shortened_error(ask$r_squared, rule$noise / known, ask$d * ask$q))
  }
  list(slopes = left[2], residuals = 1 - ask$r_squared + left[2])
}

# Of second moments: the share of mu^2, where features are cut, and whether they are squares alone; a share of 0 where
# these would be blurred too. `count`: mu times the number of records.
newton_moment <- function(d, count, least) {
  p <- d + 1
  for (diagonal in if (count >= NEWTON_FEW * p) c(FALSE, TRUE)) {
    limits <- NEWTON_BLUR[[if (diagonal) "squares" else "all"]]
    # noise of an entry, and of an eigenvalue, with all of mu and features cut at the root of p
    entry <- sqrt(2) * p / count
    blur <- if (diagonal) entry else entry * sqrt(2 * p)
    share <- clamp((blur / limits[["aim"]])^2, least, NEWTON_SHARES$moments)
    if (blur / sqrt(share) <= limits[["most"]] && entry / sqrt(share) <= NEWTON_BLUR$squares[["most"]]) {
      reach <- clamp(limits[["aim"]] * sqrt(share) / blur, 1, NEWTON_REACH)
      return(list(share = share, length = sqrt(p), reach = reach * sqrt(p), diagonal = diagonal))
    }
  }
  list(share = 0, length = sqrt(p), reach = sqrt(p), diagonal = TRUE)
}

newton_serves <- function(rule) {
  !any(vapply(c(rule$steps, rule[names(which(rule$served))]), is.null, NA))
}

# With this share for the level: what is left of `rest` for the later steps, where residuals are cut in each of them
# (`of_step`) and for the level, and the expected error of residuals with variance 1 and even predictors, half of it
# where errors are normal, half where they are skewed; steps before the later ones don't count.
newton_level <- function(share, ask, mu, rest) {
  features <- cut_features(ask$d)
  later <- rest - share
  k <- newton_cut(ask, mu * sqrt(later), mu * sqrt(later / (NEWTON_ROUNDS - length(NEWTON_SHARES$first))))
  cut <- cut_normal(k, ask$q)
  noise <- newton_noise(k, cut, features, mu * sqrt(later), ask$n)
  excess <- ((1 + cut$loss) * features$lever - 1) / ask$n
  risk <- function(k, noise) noise + newton_bias(k / sqrt(ask$q))^2 / 2
  own <- risk(k, noise) + excess
  at <- NULL
  if (share > 0) {
    each <- vapply(NEWTON_LEVEL$cut * sqrt(ask$q), function(k) {
      risk(k, (2 * k / (cut_normal(k, ask$q)$kappa * mu * sqrt(share) * ask$n))^2)
    }, 0)
    own <- (min(each) + min(each, noise + excess)) / 2
    at <- NEWTON_LEVEL$cut[which.min(each)] * sqrt(ask$q)
  }
  list(share = share, later = later, of_step = k, cut = at, error = own + ask$d * excess, noise = ask$d * noise)
}

# ---- the release -----------------------------------------------------------------------------------------------------

# Centres, spreads and the number of records of which something is known, from the released sums of u and u^2
newton_spread <- function(x, y, rule, ask) {
  d <- ask$d
  if (is.null(rule$spread)) return(list(n = ask$n, center = numeric(d), spread = rep(DESCENT_SPREAD, d)))
  out <- noisy_newton_sum(x, y, list(name = "spread"), rule$spread)
  sums <- out$sum * sqrt(d)
  sd <- out$sd * sqrt(d)
  count <- sums[1] / NEWTON_WEIGHTS[["there"]]
  n <- if (count < ask$n - 4 * sd / NEWTON_WEIGHTS[["there"]]) max(count, ask$n / 50) else ask$n
  noise <- sd / n
  center <- clamp(sums[1 + seq_len(d)] / n, -1, 1)
  kept <- max(0, 1 - d * noise^2 / sum(center^2))
  center <- center * kept
  # where correlations stay unknown, spreads below that of the error that noise leaves would make steps too long
  least <- if (is.null(rule$moments) || rule$moment$diagonal) kept * d * noise^2 else 0
  noise <- noise / NEWTON_WEIGHTS[["square"]]
  v <- sums[1 + d + seq_len(d)] / NEWTON_WEIGHTS[["square"]] / n - center^2
  # moved to their mean as far as noise alone would spread them
  all <- max(mean(pmax(v, 0)), noise / sqrt(d))
  nominal <- rep(sqrt(NOMINAL_MOMENT), d)
  if (noise / sqrt(d) > 0.5 * NOMINAL_MOMENT) return(list(n = n, center = center, spread = nominal))
  own <- if (d > 1) max(0, 1 - noise^2 / max(stats::var(v), 1e-300)) else 1
  v <- pmax(all + own * (v - all), 0.7 * noise, 0.05 * all, least)
  list(n = n, center = center, spread = sqrt(pmin(1, v)))
}

# Released second moments of features that count as in pulls, over those of even predictors: entries of which noise
# explains a part are moved to what they are there by as much
newton_moments <- function(x, y, rule, stage, features) {
  p <- length(stage$spread) + 1
  stage$name <- "moments"
  stage[c("length", "reach", "diagonal")] <- rule$moment
  most <- sqrt(1 + sum(((1 + abs(stage$center)) / stage$spread)^2)) # no row's features are longer
  stage$reach <- min(stage$reach, max(stage$length, most))
  out <- noisy_newton_sum(x, y, stage, rule$moments)
  unit <- stage$length * stage$reach / stage$n / features$counted(stage$reach)
  sd <- out$sd * unit
  moments <- if (stage$diagonal) diag(out$sum * unit, p) else symmetric_matrix(out$sum, p) * unit
  of <- diag(moments)
  blurred <- stage$diagonal || any(of < 3 * sd)
  of <- 1 + left_of_noise(p * sd^2, sum((of - 1)^2)) * (of - 1)
  diag(moments) <- pmax(of, min(2 * sd, 0.5), 0.02)
  list(moments = moments, sd = sd, alike = stage$diagonal, blurred = blurred)
}

# the part of a square that noise of that variance doesn't explain
left_of_noise <- function(noise, square) max(0, 1 - noise / max(1e-300, square))

# What turns predictors into uncorrelated ones, and the mean slopes of pulls in those, from second moments; `blurred`
# where some slope may be nothing but noise
newton_slopes <- function(found) {
  if (found$alike) return(list(turn = NULL, slopes = found$moments, blurred = TRUE))
  p <- ncol(found$moments)
  root <- sqrt(diag(found$moments))
  alike <- found$moments / outer(root, root)
  noise <- sqrt(p / 2) * found$sd / mean(root^2) # of an eigenvalue, half the most
  e <- eigen(alike[-1, -1, drop = FALSE], symmetric = TRUE)
  blurred <- found$blurred || any(e$values < 2 * noise)
  values <- 1 + left_of_noise(noise^2, mean((e$values - 1)^2)) * (e$values - 1)
  values <- pmax(values, min(noise, 0.5), 0.02)
  rebuilt <- function(e, values) e$vectors %*% (t(e$vectors) * values)
  turn <- rebuilt(e, 1 / sqrt(pmax(values, min(2 * noise, 1))))
  alike[-1, -1] <- rebuilt(e, values)
  turn_all <- diag(1, p)
  turn_all[-1, -1] <- turn
  e <- eigen(turn_all %*% (alike * outer(root, root)) %*% turn_all, symmetric = TRUE)
  list(turn = turn, slopes = rebuilt(e, pmax(e$values, min(2 * found$sd, 0.3), 0.02)), blurred = blurred)
}

release_newton <- function(x, y, rule, ask) {
  p <- ask$d + 1
  stage <- newton_spread(x, y, rule, ask)
  features <- cut_features(ask$d)
  known <- if (is.null(rule$moments)) list(slopes = diag(1, p), blurred = ask$d > 0) else {
    newton_slopes(newton_moments(x, y, rule, stage, features))
  }
  stage$turn <- known$turn
  features$slopes <- known$slopes
  features$inverse <- solve(known$slopes)
  stage$name <- "step"
  stage$length <- features$length
  now <- list(b = matrix(0, ask$q, p), sd = 1, seen = list(), stride = 1)
  for (t in seq_len(NEWTON_ROUNDS)) {
    stage$tau <- now$sd * rule$cuts[t]
    stage$b <- now$b
    out <- noisy_newton_sum(x, y, stage, rule$steps[[t]])
    now$seen[[t]] <- newton_seen(out, stage, ask)
    now <- newton_next(now, features, ask, last = t == NEWTON_ROUNDS)
  }
  back <- newton_back(stage, ask$d)
  inflation <- (1 + now$loss) * features$lever
  # a root of the covariance of what noise, and the way that is left, add to a response's coefficients
  noise <- t(chol(now$noise^2 * features$inverse %*% features$inverse + diag(now$gap / p, p)))
  raw <- b <- now$b
  cut <- stage$tau / now$scale # where the level's bias comes from
  if (!is.null(rule$level)) {
    level <- newton_level_step(x, y, rule, ask, stage, now)
    raw[, 1] <- raw[, 1] + level$off
    # both levels by what is known of them: what noise doesn't explain of their distance is bias of the steps
    own <- sum(noise[1, ]^2)
    own <- own + pmax(0, level$off^2 - level$noise^2 - own)
    b[, 1] <- b[, 1] + level$off * own / (own + level$noise^2)
    noise[1, ] <- 0
    noise[1, 1] <- sqrt(level$noise^2 + now$gap / p)
    cut <- rule$cut
  }
  bias <- newton_bias(cut / sqrt(ask$q)) * now$scale
  short <- newton_shortened(b, tcrossprod(noise))
  b <- short$b
  excess <- (inflation - 1) * now$scale^2 / ask$n * (ask$d + is.null(rule$level))
  list(b = b %*% t(back), error = min(1, short$error + bias^2 + excess),
       details = list(back = back, noise = noise, held = (raw - b) %*% t(back), inflation = inflation,
                      scale = now$scale, steps = now$steps, turned = !is.null(stage$turn), blurred = known$blurred))
}

# Coefficients with noise of this covariance, shortened as if slopes were normal with a variance that they tell
# themselves, together with no more than a response's, and levels with one of their own, more where noise says more than
# a quarter of that; and the variance that is left, with the slopes' own as large as it may still be
newton_shortened <- function(b, cov) {
  level <- max(0, mean(b[, 1]^2) - cov[1, 1])
  b[, 1] <- b[, 1] * level / max(1e-300, level + cov[1, 1]) / (1 + max(0, cov[1, 1] - 0.25))
  slopes <- ncol(b) - 1
  if (slopes == 0) return(list(b = b, error = cov[1, 1]))
  e <- eigen(cov[-1, -1, drop = FALSE], symmetric = TRUE)
  noise <- pmax(e$values, 1e-300)
  square <- colMeans((b[, -1, drop = FALSE] %*% e$vectors)^2)
  unlikely <- function(log_own) {
    all <- noise + exp(log_own)
    sum(log(all) + square / all)
  }
  own <- exp(stats::optimize(unlikely, c(-25, 0) - log(slopes))$minimum)
  b[, -1] <- b[, -1, drop = FALSE] %*% e$vectors %*% (t(e$vectors) * (own / (own + noise)))
  list(b = b, error = cov[1, 1] + sum(shortened_error(own, noise, length(square) * nrow(b))))
}

# of numbers with noise of such variances, shortened by a variance of theirs that `count` of them tell
shortened_error <- function(own, noise, count) {
  most <- own + sqrt(2 / count) * noise
  noise * most / pmax(most + noise, 1e-300)
}

# the mean of what is left, of residuals cut further out: skewed errors have their mean near 0 then
newton_level_step <- function(x, y, rule, ask, stage, now) {
  stage$name <- "level"
  stage$b <- now$b
  stage$tau <- rule$cut * now$scale
  out <- noisy_newton_sum(x, y, stage, rule$level)
  slope <- cut_normal(rule$cut, ask$q)$kappa * stage$n
  noise <- out$sd * stage$tau / slope
  list(off = out$sum * stage$tau / slope, noise = noise)
}

# what one step has told: the mean pull, its noise, and the residuals' scale (a logarithm, its error, and two errors to
# either side)
newton_seen <- function(out, stage, ask) {
  last <- length(out$sum)
  noise <- out$sd / NEWTON_WEIGHTS[["square"]] / stage$n
  square <- clamp(out$sum[last] / NEWTON_WEIGHTS[["square"]] / stage$n, 0.02, 0.999)
  scale <- function(square) log(cut_scale(clamp(square, 0.02, 0.999), stage$tau, ask$q))
  ends <- c(scale(square - 2 * noise), if (square + 2 * noise < 0.999) scale(square + 2 * noise) else Inf)
  list(b = stage$b, tau = stage$tau, pull = matrix(out$sum[-last], ask$q) * stage$length * stage$tau / stage$n,
       noise = out$sd * stage$length * stage$tau / stage$n, scale = scale(square),
       error = max(0.02, (scale(square + noise) - scale(square - noise)) / 2), low = ends[1], high = ends[2])
}

# Where the next step starts and how far residuals reach there. Steps from places with larger residuals aren't counted;
# the others' estimates are averaged by their noise.
newton_next <- function(now, features, ask, last) {
  of <- function(name) vapply(now$seen, `[[`, 0, name)
  scale <- of("scale")
  error <- of("error")
  t <- length(scale)
  good <- of("low") <= min(of("high")) + 0.1
  common <- sum((scale / error^2)[good]) / sum(1 / error[good]^2)
  common <- min(exp(common), newton_most(common, sum(1 / error[good]^2)^-0.5))
  cut <- lapply(seq_along(scale), function(t) {
    cut_normal(of("tau")[t] / if (good[t]) common else exp(scale[t]), ask$q)
  })
  slope <- vapply(cut, `[[`, 0, "kappa") * features$slope
  variance <- (of("noise") / slope)^2
  pulls <- Map(function(s, slope) s$pull / slope, now$seen, slope) # as long as errors of even predictors
  steps <- lapply(pulls, `%*%`, features$inverse)
  used <- newton_window(Map(function(s, pull) s$b %*% features$slopes + pull, now$seen, pulls), variance, which(good))
  mean_of <- function(parts) precise_mean(parts[used], variance[used])
  noise <- 1 / sum(1 / variance[used])
  count <- length(now$b)
  spread <- ask$q * sum(features$inverse^2) # of a step with noise of variance 1, squared
  # by how much the last pull exceeds its noise: where slopes differ from those of even predictors, the way that is left
  gap <- max(0, 1 - stats::qchisq(0.99, count) * variance[t] / sum(pulls[[t]]^2)) * sum(steps[[t]]^2) / ask$q
  stride <- if (!good[t]) now$stride / 2 else if (gap == 0) min(1, 1.5 * now$stride) else
    newton_stride(now$seen, pulls, features, variance, now$stride)
  step <- mean_of(steps)
  real <- sqrt(max(0, sum(step^2) - spread * noise) / ask$q)
  stride <- min(stride, 1.2 * common / real) # predictions don't vary more than what is left
  b <- mean_of(lapply(now$seen, `[[`, "b")) + stride * step
  moved <- max(0, sum((b - now$b)^2) - spread * noise) / ask$q
  if (!last) b <- newton_shortened(b, noise * features$inverse %*% features$inverse)$b
  least <- max(spread / ask$q * noise * 0.7, 0.25 * exp(2 * scale[t]), if (moved < 0.2 * common^2) 0.8 * common^2)
  list(b = b, sd = sqrt(min(max(exp(2 * scale[t]) - moved, least), newton_most(scale[t], error[t]))), seen = now$seen,
       stride = stride, gap = gap, noise = sqrt(noise), steps = length(used), scale = common,
       loss = mean_of(lapply(cut, `[[`, "loss")))
}

# How long a step is, over that for the slopes that are known, by what the last move did to the pull (Barzilai and
# Borwein 1988); `otherwise` where noise is too large to tell
newton_stride <- function(seen, pulls, features, variance, otherwise) {
  t <- length(seen)
  if (t < 2) return(otherwise)
  move <- (seen[[t]]$b - seen[[t - 1]]$b) %*% features$slopes
  change <- pulls[[t - 1]] - pulls[[t]]
  if (sum(change^2) < 2 * stats::qchisq(0.99, length(move)) * sum(variance[c(t - 1, t)])) return(otherwise)
  along <- sum(move * change)
  if (along > 0) clamp(sum(move^2) / along, 0.1, 4) else otherwise
}

# Which estimates are averaged: the last of `good`, and those before it as far as each more changes the mean by no more
# than noise. Where slopes differ from those that are known early estimates are off.
newton_window <- function(estimates, variance, good) {
  used <- good[length(good)]
  at <- estimates[[used]]
  all <- variance[used] * length(at)
  best <- list(used = used, risk = all)
  for (s in rev(good)[-1]) {
    used <- c(used, s)
    left <- length(at) / sum(1 / variance[used])
    off <- sum((precise_mean(estimates[used], variance[used]) - at)^2)
    risk <- max(0, off - (all - left) * (1 + sqrt(2 / length(at)))) + left
    if (risk < best$risk) best <- list(used = used, risk = risk)
  }
  best$used
}

# a mean by what is known of each
precise_mean <- function(parts, variance) Reduce(`+`, Map(`/`, parts, variance)) / sum(1 / variance)

# residuals are as long as responses of the guessed scale at most, unless the release says otherwise
newton_most <- function(scale, error) if (scale - 2 * error > log(1.5)) Inf else 1.5

# the matrix that turns coefficients of a stage's features into those on public scales
newton_back <- function(stage, d) {
  if (d == 0) return(matrix(1))
  slopes <- if (is.null(stage$turn)) diag(1, d) else stage$turn
  slopes <- slopes / stage$spread
  rbind(c(1, -drop(stage$center %*% slopes)), cbind(0, slopes, deparse.level = 0), deparse.level = 0)
}
