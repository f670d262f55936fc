# Noisy steps along clipped gradients, Gaussian noise: for delta > 0. All steps have the same noise multiplier.

# |F'psi| <= this times |psi| for every record, F the features on the public domain
gradient_gauge <- function(M, ask) {
  k_min <- mf_facts(M)$k_min
  if (ask$k > 1 || k_min >= 0 || !is.finite(k_min)) return(sqrt(1 + ask$k))
  a <- sqrt(-k_min) * ask$speed * ask$reach
  sqrt(cosh(a)^2 + (sinh(a) / a)^2) * (1 + 1e-12)
}

# The length to which residuals are cut, so that the gauge of the plan holds for the features of this step as they are:
# on a manifold of the user's, whose curvature bounds are taken on trust, they may be larger. A function of what was
# released.
gradient_cut <- function(step, lambda, reach) {
  low <- min(lambda)
  if (length(reach) > 1 || low >= 0) return(step$tau)
  a <- sqrt(-low) * reach
  actual <- sqrt(cosh(a)^2 + (if (a < 1e-8) 1 else sinh(a) / a)^2) * (1 + 1e-12)
  step$tau * min(1, step$gauge / actual)
}

# How the last step of a release takes residuals, distances in the space: psi as kernels take it, of q
# coordinates; NULL where there is no such step
last_loss <- function(object) {
  last <- object$details$last
  if (is.null(last)) return(NULL)
  rule <- last$rule
  own <- if (!is.null(rule$ridge)) kernel_loss(rule) else { # residuals are shortened to the cut
    cut <- if (isTRUE(rule$noisy)) rule$tau else gradient_cut(rule, last$lambda, object$columns$half)
    kernel_loss(list(tau = cut, g = huber_loss()))
  }
  c(own, q = nrow(last$step))
}

# Second moments of foot point and vectors after `steps` steps, with each step's clipping length and step sizes
gradient_steps <- function(M, ask, steps, mu) {
  moment <- c(1, rep(1 / 3, ask$k))
  left <- c(ask$radius^2, (ask$speed * ask$reach)^2) / 4
  gauge <- gradient_gauge(M, ask)
  out <- list()
  for (i in seq_len(steps)) {
    tau <- 1.5 * sqrt(ask$residual_bound^2 / 4 + sum(left * moment))
    least <- sqrt(steps) / mu * 2 * tau * gauge # what the guarantee needs; sites that collude have some of all
    sd <- least * (ask$excess %||% 1)
    pull <- 0.9 * ask$n * moment
    size <- pull * left / (pull^2 * left + ask$q * sd^2)
    left <- (1 - size * pull)^2 * left + size^2 * ask$q * sd^2
    out <- c(out, list(list(tau = tau, sd = sd, least = least, size = size, gauge = gauge)))
    left <- left + sum(left * moment)^2 / 2 # curvature
  }
  list(steps = out, spread = left, error = sqrt(sum(left * moment)))
}

# One step: what is released is the sum of gradients with its noise.
noisy_gradient <- function(records, step, reach) {
  q <- length(records$lambda)
  d <- q * (1 + length(reach))
  cut <- gradient_cut(step, records$lambda, reach)
  if (!is.null(records$noisy)) return(matrix(records$noisy(cut, step), q) * rep(step$size, each = q))
  noise <- .Call(riemdp_noise, euclidean(d), rep(0, d), 1, "wrapped_gaussian", step$sd,
                 pay(price_normal(2 * step$tau * step$gauge, step$sd, "regression.md, 3")))
  (clipped_gradient(records, cut) + matrix(noise, q)) * rep(step$size, each = q)
}

mechanism_regression_gradient <- list(
  name = "gradient",
  needs_delta = TRUE,
  plan = function(M, ask) {
    mu <- gaussian_mu(ask$epsilon, ask$delta) * (1 - 1e-12)
    tried <- lapply(c(1:6, 8, 10, 15), function(steps) gradient_steps(M, ask, steps, mu))
    tried <- Filter(function(t) is.finite(t$error), tried)
    if (!length(tried)) return(NULL) # bounds beyond what doubles hold
    best <- tried[[which.min(vapply(tried, function(t) t$error, 0))]]
    list(steps = best$steps, expected_error = 1.2 * best$error, spread = 1.44 * best$spread,
         details = list(shares = rep(1 / length(best$steps), length(best$steps)), constant = constant_error(ask),
                        mu = mu),
         guarantee = list(epsilon = ask$epsilon, delta = ask$delta, reasons = NULL, mu = mu))
  },
  release = function(M, x, y, plan, ask) {
    regression_steps(M, x, y, plan$steps, ask, function(records, step) noisy_gradient(records, step, ask$reach))
  },
  words = function(r) {
    sprintf(paste("%d steps along the sum of clipped gradients of single records, with Gaussian noise; together they",
                  "are %.6g-GDP (exact composition of Gaussians)."), length(r$details$shares), r$details$mu)
  }
)
