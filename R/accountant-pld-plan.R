# ---- a plan: theta, step and window ----------------------------------------------------------------------------------

# Gauss-Legendre with five nodes on each of `pieces` equal parts of range: list(z, weight)
quadrature_nodes <- function(range, pieces) {
  node <- c(0.5384693101056830910, 0.9061798459386639928)
  weight <- c(0.2369268850561890875, 0.4786286704993664680, 0.5688888888888888889, 0.4786286704993664680,
              0.2369268850561890875)
  half <- diff(range) / (2 * pieces)
  mid <- range[1] + half * (2 * seq_len(pieces) - 1)
  list(z = as.vector(outer(half * c(-rev(node), 0, node), mid, `+`)), weight = rep(half * weight, pieces))
}

# The source as few atoms, for planning. Their moments must be as exact as a million steps need: a trapezoidal sum, cut
# where the folded law has its edge, has a mass beside 1 that is taken to that power.
plan_atoms <- function(source, tail, low) {
  loss <- source$loss
  mass <- source$mass
  if (!is.null(source$pair)) {
    range <- smooth_range(source$pair, tail, low)
    if (source$fold) range[1] <- if (source$pair$family == "gaussian") source$pair$size / 2 else 0 # where the loss is 0
    nodes <- quadrature_nodes(range, max(80, min(1000, ceiling(diff(range) * 4))))
    # great tilts see nothing but the end where the law is cut: a node there
    end <- if (source$pair$family != "laplace") if (source$pair$enter) range[1] else range[2]
    z <- c(nodes$z, end)
    loss <- c(loss, smooth_loss(source$pair, z))
    mass <- c(mass, smooth_density(source$pair, z) * c(nodes$weight, nodes$weight[seq_along(end)]))
  }
  if (source$fold) {
    keep <- loss > 0
    loss <- loss[keep]
    mass <- mass[keep]
    mirror <- mass * exp(-loss)
    loss <- c(-loss, 0, loss)
    mass <- c(mirror, max(0, 1 - sum(mass, mirror)), mass)
  }
  keep <- mass > 0
  # never more than a probability, whatever the quadrature does
  list(loss = loss[keep], log_mass = log(mass[keep] / max(1, sum(mass))), infinite = source$infinite)
}

log_moment <- function(atoms, theta) {
  if (length(theta) == 1) return(log_sum(atoms$log_mass + theta * atoms$loss))
  l <- atoms$log_mass + outer(atoms$loss, theta)
  top <- apply(l, 2, max)
  top + log(colSums(exp(l - rep(top, each = nrow(l)))))
}

# mean and variance of the tilted law
tilted <- function(atoms, theta) {
  l <- atoms$log_mass + theta * atoms$loss
  w <- exp(l - max(l))
  w <- w / sum(w)
  mean <- sum(w * atoms$loss)
  c(mean, sum(w * (atoms$loss - mean)^2))
}

# `delta` or `epsilon` is the question; with both, the tilt is for epsilon and the truncation for delta
pld_plan <- function(sources, times, delta = NULL, epsilon = NULL, tol = 1e-4) {
  steps <- sum(times)
  if (steps > PLD_STEPS) {
    abort_riemdp("unpriced", sprintf("more than %g steps are beyond what the transform's rounding allows.", PLD_STEPS))
  }
  tail <- 1e-30 / steps
  low <- 1e-6 / steps
  log_delta <- -Inf
  for (round in 1:4) {
    atoms <- lapply(sources, plan_atoms, tail, low)
    K <- function(theta) { # of several theta at once
      out <- 0
      for (i in seq_along(atoms)) out <- out + times[i] * log_moment(atoms[[i]], theta)
      out
    }
    moments <- function(theta) colSums(times * t(vapply(atoms, tilted, double(2), theta)))
    if (round == 4) break # the atoms of the final truncation
    # where nothing is left of what the tail was cut to, its tilt is none for what the next cut leaves
    logs <- if (log_delta < -600) seq(log(1e-3), log(1e7), length.out = 47) else log(theta) + seq(-1.5, 1.5, by = 0.5)
    if (is.null(epsilon)) {
      f <- function(s) pmin((K(exp(s)) - log(delta)) / exp(s), 1e300)
    } else {
      f <- function(s) pmax(K(exp(s)) - exp(s) * epsilon, -1e300)
    }
    scores <- f(logs)
    i <- which.min(scores)
    best <- stats::optimize(f, logs[c(max(1, i - 1), min(length(logs), i + 1))], tol = 1e-3)
    if (best$objective > scores[i]) best <- list(minimum = logs[i], objective = scores[i])
    # the smallest tilt that is nearly as good: where losses are bounded the best one is at infinity
    enough <- best$objective + if (is.null(epsilon)) 0.02 * abs(best$objective) else 0.05
    near <- c(logs, best$minimum)[c(scores, best$objective) <= enough]
    theta <- exp(min(near))
    # near the largest loss a greater tilt tells apart what the wanted accuracy of epsilon doesn't
    goal <- if (is.null(epsilon)) best$objective else epsilon
    if (!is.null(delta) && goal > 0) theta <- min(theta, 1 / (min(tol, 1e-5) * goal))
    aim <- moments(theta)
    widest <- max(vapply(atoms, function(a) max(abs(a$loss)), 0))
    sd <- max(sqrt(max(aim[2], 0)), 1e-6 * widest * sqrt(steps), 1e-12)
    target <- if (is.null(epsilon)) best$objective else epsilon
    if (is.null(epsilon) && target <= 0) theta <- 1e-3
    # the bound is above delta by about sqrt(2 pi) sd theta (theta + 1)
    log_delta <- if (is.null(delta)) best$objective - plan_excess(list(sd = sd, theta = theta)) else log(delta)
    tail <- exp(max(-600, min(log_delta, 0) - log(steps) - 10))
  }
  # bounds of epsilon (or delta) from the moments: Canonne, Kamath and Steinke (2020)
  list(theta = theta, mean = aim[1], sd = sd, target = target, log_delta = log_delta, tail = tail, low = low,
       atoms = atoms, K = K, steps = steps, tol = tol, known = !is.null(epsilon))
}

# The window outside of which less than e^-14 of the answer lies: c(low, high), and the tilts that show it. From above
# what lies beyond weighs e^(-theta loss) only, or its image's weight where that is above the target; from below all of
# it is taken off at its largest weight.
tilted_window <- function(plan, upper, h) {
  k0 <- plan$K(plan$theta)
  room <- 14 + max(plan_excess(plan), k0 - plan$theta * plan$target - plan$log_delta)
  s <- 2^seq(-3, 6, 0.5) * sqrt(2 * room) / plan$sd / 4
  above <- function(s) (plan$K(plan$theta + s) - k0 + room) / s
  light <- function(s) (plan$K(plan$theta + s) - k0 + room + plan$theta * plan$target) / (s + plan$theta)
  below <- function(s) -(plan$K(plan$theta - s) - k0 + room) / s
  least <- function(f) { # rare large losses need small tilts
    # beyond, the grid's splitting, steps (s h)^2/8, takes the bound's room
    t <- s[s * h <= min(1, sqrt(8 / plan$steps)) | seq_along(s) == 1]
    g <- function(t) {
      value <- f(t)
      ifelse(is.nan(value), Inf, value)
    }
    value <- g(t)
    for (round in 1:40) {
      if (which.min(value) > 1 || (round > 1 && value[1] > value[2] - 1e-2 * abs(value[2]))) break
      t <- c(t[1] / 2, t)
      value <- c(g(t[1]), value)
    }
    c(min(value), t[which.min(value)])
  }
  high <- least(above)
  low <- least(function(s) -below(s))
  low[1] <- -low[1]
  if (upper) {
    first <- least(light)
    image <- high[1] - max(0, plan$target - low[1])
    if (max(first[1], image) < high[1]) high <- c(max(first[1], image), first[2])
  }
  list(high = high[1], high_tilt = high[2], low = low[1], low_tilt = low[2])
}

# Where answers come from rare large losses no tilt brings them forward, and rounding of the bulk would drown them. Then
# sums without a loss above `cut` are composed by themselves, with a tilt of their own (`bulk`), or bounded where they
# don't matter; and sums with one by themselves, whose rounding is relative to the mass above the cut. The plan with the
# cut and the tilts at which rounding weighs least; as it is where rounding is small, or no cut gains anything.
with_jumps <- function(plan, times) {
  excess <- plan$K(plan$theta) - plan$theta * plan$target - plan$log_delta
  if (log(plan$steps * 1e-13) + excess < -14) return(plan)
  tilts <- c(plan$theta, 2^(-6:12) / plan$target)
  best <- list(score = excess - 1)
  for (cut in plan$target * c(0.025, 0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 3, 5)) {
    found <- cut_at(cut, plan, times, tilts)
    if (isTRUE(found$score < best$score)) best <- found
  }
  if (is.null(best$cut)) return(plan)
  plan$cut <- best$cut
  plan$theta <- best$theta
  plan$sd <- max(sqrt(sum(times * vapply(plan$atoms, function(a) tilted(a, best$theta)[2], 0))), 1e-12)
  # below e^-16 of the answer a bound is enough
  if (best$bulk_excess > -16) plan$bulk <- bulk_plan(plan, best, times)
  plan
}

# what lies below the cut, as a plan for that alone
bulk_plan <- function(plan, found, times) {
  bulk <- plan
  bulk$bulk <- bulk$cut <- NULL
  bulk$atoms <- lapply(plan$atoms, atoms_at, found$cut, `<=`)
  bulk$theta <- found$bulk_theta
  bulk$K <- function(theta) composed_moment(bulk$atoms, times, theta)
  bulk$sd <- max(sqrt(sum(times * vapply(bulk$atoms, function(a) tilted(a, bulk$theta)[2], 0))), 1e-12)
  bulk
}

atoms_at <- function(a, cut, side) {
  keep <- side(a$loss, cut)
  list(loss = a$loss[keep], log_mass = a$log_mass[keep])
}

composed_moment <- function(atoms, times, theta) {
  Reduce(`+`, Map(function(a, k) if (length(a$loss)) k * log_moment(a, theta) else -Inf, atoms, times))
}

# logs of how far the two parts' rounding is above that of the answer itself, each at its best tilt
cut_at <- function(cut, plan, times, tilts) {
  bulk <- lapply(plan$atoms, atoms_at, cut, `<=`)
  if (any(vapply(bulk, function(a) !length(a$loss), NA))) return(NULL)
  jumps <- lapply(plan$atoms, atoms_at, cut, `>`)
  below <- composed_moment(bulk, times, tilts)
  lift <- Reduce(`+`, Map(function(a, j, k) {
    if (length(j$loss)) k * log1p_exp(log_moment(j, tilts) - log_moment(a, tilts)) else 0 * tilts
  }, bulk, jumps, times))
  off <- tilts * plan$target + plan$log_delta
  rare <- below + ifelse(lift > 30, lift, log(expm1(pmin(lift, 30)))) - off
  i <- which.min(below - off)
  j <- which.min(rare)
  if (!length(j)) return(NULL)
  bulk_excess <- (below - off)[i]
  list(cut = cut, theta = tilts[j], bulk_theta = tilts[i], bulk_excess = bulk_excess,
       score = logs_add(if (bulk_excess > -16) bulk_excess else -Inf, rare[j]))
}

grid_step <- function(plan, for_delta) {
  # delta falls by this factor, at most, over a loss of 1: theta in the tail, the spread near the middle
  rate <- max(plan$theta, 0.5 / plan$sd, plan$bulk$theta, if (!is.null(plan$cut)) 2 / plan$target) + 1
  # the grid adds at most h^2/6 of variance a step (a quarter where the law is rough), which moves epsilon by steps h^2
  # rate/12
  tol <- plan$tol / if (plan$steps <= 100) 16 else 1
  slack <- if (for_delta) tol * min(1 / plan$theta, plan$sd) else tol * max(abs(plan$target), 1e-3 * plan$sd)
  min(sqrt(12 * slack / (plan$steps * rate)), 0.25 / rate)
}

# the same where splitting of atoms has to be told apart: it moves the composed loss by some 2.5 h sqrt(steps)
couple_step <- function(parts, plan, for_delta) {
  split <- sum(parts$times[vapply(parts$sources, function(source) length(source$loss) > 0, NA)])
  slack <- plan$tol * if (for_delta) min(1 / plan$theta, plan$sd) else max(abs(plan$target), 1e-3 * plan$sd)
  min(grid_step(plan, for_delta), slack / (2.5 * sqrt(max(1, split))))
}

# log of how far Chernoff's bound is above delta, for smooth sums
plan_excess <- function(plan) log(max(1, 2.5 * plan$sd * plan$theta * (plan$theta + 1)))
