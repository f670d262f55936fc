# Rounds of AdaSSP for delta > 0 (method = "boosted"; Tang et al. 2023): the public rule for its constants, the model of
# its error, and the release. Section 16 of inst/proofs/linear-regression.md.

BOOSTED_ROUNDS <- 8
# Constants are for predictors as spread out as the model has them and for others whose variance is this part of that:
# rounds stop on the way where the ridge is large beside X'X
BOOSTED_NARROW <- 0.25

# What a clip of `tau` standard deviations does to errors, as loss_moments() has it: a function of tau
clipped_moments <- function(q) {
  remember(paste("clipped", q), function() {
    at <- exp(seq(-4, 4, length.out = 81))
    rows <- lapply(at, function(tau) unlist(loss_moments(huber_loss(), tau, q, nominal_errors(q, "gamma"))))
    able <- lengths(rows) > 0
    rows <- do.call(cbind, rows[able])
    at <- log(at[able])
    function(tau) {
      where <- clamp((log(tau) - at[1]) / 0.1 + 1, 1, length(at) - 1e-9)
      i <- floor(where)
      rows[, i] + (where - i) * (rows[, i + 1] - rows[, i])
    }
  })
}

# The model: squares `off` of what coefficients lack, round by round, and the `level` that skewed errors move. A clip
# lets kappa of a step through. Predictors have `spread` times the model's variance.
boosted_error <- function(ask, noise, spread = 1) {
  g <- public_guess(ask)
  clipped <- clipped_moments(ask$q)
  moment <- c(1, rep(NOMINAL_MOMENT * spread, ask$d))
  off <- c(g$prior[1], rep(g$prior[2] / spread, ask$d))
  level <- 0
  sums <- ask$n * moment
  ridge <- expected_ridge(ask, noise$lift, spread)
  for (i in seq_along(noise$reach)) {
    size <- sqrt(g$sd^2 + sum(moment * off) + level^2)
    psi <- clipped(noise$reach[i] / size)
    kept <- ridge + (1 - psi[["kappa"]]) * sums
    cut <- size^2 * max(0, psi[["spread"]] - psi[["kappa"]]^2)
    blur <- noise$sd[["xx"]]^2 / 2 * (sum(off) + off)
    off <- (noise$sd[[i + 2]]^2 + blur + kept^2 * off + cut * sums) / (sums + ridge)^2
    level <- (kept[1] * level + sums[1] * psi[["kappa"]] * psi[["bias"]] * size) / (sums[1] + ridge)
  }
  sum(moment * off) + level^2
}

# Clips from par[1] in equal ratios down to par[2] times that; X'X has a part of mu^2 that par[3] tells, and par[4] the
# ratio of two rounds' parts
boosted_noise <- function(ask, mu, rounds, par) {
  at <- if (rounds > 1) (seq_len(rounds) - 1) / (rounds - 1) else 0
  parts <- exp(par[4] * at)
  products_noise(ask, mu, 0.9 * stats::plogis(par[3]), sqrt(ask$q) * exp(par[1] + par[2] * at), parts / sum(parts))
}

# the constants with the least error by the model, in geometric mean over both variances
boosted_rule <- function(ask, mu) {
  key <- paste(c("boosted", format(c(ask$n, ask$d, ask$q, mu, ask$r_squared), digits = 17)), collapse = " ")
  remember(key, function() {
    best <- NULL
    least <- Inf
    start <- c(log(STATISTICS_CLIP), 0, 0, 0)
    for (rounds in seq_len(BOOSTED_ROUNDS)) {
      found <- stats::optim(start, function(par) {
        if (any(abs(par) > c(3, 3, 5, 3)) || par[2] > 0) return(1e6)
        noise <- boosted_noise(ask, mu, rounds, par)
        min(1e6, sqrt(boosted_error(ask, noise) * boosted_error(ask, noise, BOOSTED_NARROW)))
      }, control = list(maxit = 200))
      if (found$value > 0.99 * least) break # a round more must be worth it
      least <- found$value
      best <- boosted_noise(ask, mu, rounds, found$par)
      start <- replace(found$par, 2, min(found$par[2], -0.3))
    }
    c(best, error = boosted_error(ask, best))
  })
}

linear_boosted <- list(
  auto = FALSE, # its error, told for even predictors, is hardly ever below that of "newton"
  checked = TRUE,
  unsupported = function(ask) if (ask$delta == 0) "method = \"boosted\" needs `delta` > 0.",
  plan = function(ask) {
    mu <- adassp_mu(ask)
    noise <- boosted_rule(ask, mu)
    names(noise)[1] <- "clips" # responses stay as long as they are for later rounds
    c(noise, list(mu = mu, guarantee = list(epsilon = ask$epsilon, delta = ask$delta, mu = mu)))
  },
  release = function(x, y, plan, ask) {
    squares <- release_gram(moment_matrices(x, y)$xx, plan, ask, "linear-regression.md, 16")
    b <- matrix(0, ask$q, ask$d + 1)
    for (i in seq_along(plan$clips)) {
      sums <- moment_matrices(x, residual_responses(x, y, b, 1, limit = plan$clips[i]))$xy
      most <- adassp_sensitivity(ask$d, plan$clips[i])[["xy"]]
      squares$xy <- normal_products(sums, most, plan$sd[[i + 2]], "linear-regression.md, 16")
      b <- b + solve_statistics(squares, squares$ridge)
    }
    list(b = b, details = list(squares = squares$xx, ridge = squares$ridge))
  },
  words = function(r) {
    clips <- r$details$clips
    c(sprintf(paste("Rounds of AdaSSP: the smallest eigenvalue of X'X and X'X are released with normal noise, then %d",
                    "time%s the sums of features and residuals of what was released so far, moved to %s public",
                    "standard deviations (together %.4g-GDP). Each solves the same equations with ridge %.4g, and",
                    "what solves them is added."),
              length(clips), if (length(clips) > 1) "s" else "", paste(signif(clips, 3), collapse = ", "), r$details$mu,
              r$details$ridge), "Section 16 of proofs/linear-regression.md.")
  }
)
