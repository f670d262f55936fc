# The K-norm gradient mechanism for foot point and vector at once, one predictor, drawn exactly by rejection from the
# uniform law on the public domain (inst/proofs/regression.md, section 4).

# logarithm of the expected number of trials at most, beyond which the draw would take long
KNG_LOG_TRIALS <- log(1e5)

# candidates that are made at once
KNG_BLOCK <- 256

# How many blocks exact draws take at most. A candidate, before the volume has its say, ends the draw with probability
# exp(-L - Lambda) at least, whatever the records are; after so many the last resort costs less of epsilon than the
# scale was rounded up by (proofs/regression.md, section 4).
kng_blocks <- function(M, rule, ask) {
  log_least <- -rule$log_trials - diff(kng_volume(M, ask))
  ceiling((log(1e13) - log(min(1, ask$epsilon)) - log_least) * exp(-log_least) / KNG_BLOCK)
}

# Blocks of the uniform law within which a chain's candidate is found, but for a probability below exp(-800); else there
# is no move.
chain_blocks <- function(M, ask) ceiling(800 * exp(diff(kng_volume(M, ask))) / KNG_BLOCK)

# Largest lengths of the gradients with respect to p and v of a residual of length 1, at speed |v| and predictors within
# `reach`
kng_factors <- function(k_min, speed, reach) {
  if (k_min >= 0) return(c(1, reach))
  a <- sqrt(-k_min) * speed * reach
  c(cosh(a), reach * (if (a < 1e-4) 1 + a^2 / 6 else sinh(a) / a)) * (1 + 1e-12)
}

# Constants of the law, of public numbers alone. Gradients of the least absolute deviations have length 1 whatever the
# residual. The ridge's pull, at the edge of the domain, is as long as one unit of the exponent, or a clipped residual
# where that is less: it costs trials at most a factor e, and no privacy.
curve_kng_rule <- function(M, ask) {
  lad <- identical(ask$loss, "lad")
  tau <- if (lad) 1 else ask$residual_bound
  scale <- 2 * (2 * tau / ask$n) / ask$epsilon
  ridge <- min(tau, scale)
  list(tau = tau, loss = curve_loss(if (lad) "lad" else "huber", tau, tau), scale = scale,
       ridge = c(ridge / ask$radius, ridge * ask$reach / ask$speed), log_trials = (tau + ridge) / scale,
       k_min = mf_facts(M)$k_min)
}

# one predictor moved into its range: list(x, y, lost = which records count as missing, share)
kng_predictors <- function(x, reach, y) {
  share <- shares_of(x)
  x <- clamp(x[1, ], -reach, reach)
  lost <- is.na(x)
  x[lost] <- 0
  list(x = x, y = y, lost = lost, share = share)
}

# Records' gradients with respect to p and v, in orthonormal coordinates at p (n x q each). They are cut to their bounds
# once more, so that the sensitivity holds for the numbers in the computer.
kng_gradients <- function(M, p, v, speed, d, rule, reach) {
  g <- .Call(riemdp_regression_records, M, p, v, d$x, d$y, rule$loss, TRUE)$gradient
  g[d$lost, ] <- 0
  g[!is.finite(g)] <- 0
  q <- ncol(g) / 2
  most <- rule$tau * kng_factors(rule$k_min, speed, reach)
  foot <- g[, seq_len(q), drop = FALSE]
  vector <- g[, q + seq_len(q), drop = FALSE]
  list(foot * pmin(1, most[1] / pmax(sqrt(rowSums(foot^2)), 1e-300)),
       vector * pmin(1, most[2] / pmax(sqrt(rowSums(vector^2)), 1e-300)))
}

kng_point <- function(M, a, b, center) {
  tryCatch({
    p <- public_point(M, mf_exp(M, center, mf_from_coords(M, center, a)))
    list(p = p, v = mf_from_coords(M, p, b), b = b, speed = sqrt(sum(b^2)),
         back = drop(mf_coords(M, p, mf_log(M, p, center))))
  }, riemdp_error = function(e) NULL)
}

# list(p, v, norm): N there, of the mean gradients
kng_judge <- function(at, foot, vector, rule, ask) {
  foot <- foot - rule$ridge[1] * at$back
  vector <- vector + rule$ridge[2] * at$b
  list(p = at$p, v = at$b,
       norm = max(sqrt(c(sum(foot^2), sum(vector^2))) / kng_factors(rule$k_min, at$speed, ask$reach)))
}

# N at the point with coordinates a at the centre and the vector with coordinates b: list(p, v, norm). Points that
# doubles can't hold are outside the domain (N infinite), whatever the records are.
kng_norm <- function(M, a, b, d, rule, ask) {
  if (inherits(d$y, "riemdp_regression_chunks")) return(kng_norms(M, matrix(a, 1), matrix(b, 1), d, rule, ask)[[1]])
  at <- kng_point(M, a, b, ask$center)
  if (is.null(at)) return(list(norm = Inf))
  g <- kng_gradients(M, at$p, at$v, at$speed, d, rule, ask$reach)
  mean_of <- function(g) if (is.null(d$share)) colMeans(g) else colSums(g * d$share) / ask$n
  kng_judge(at, mean_of(g[[1]]), mean_of(g[[2]]), rule, ask)
}

# The same for several candidates, a row of coordinates for each: records in chunks are passed over once for all of them
kng_norms <- function(M, a, b, d, rule, ask) {
  if (!inherits(d$y, "riemdp_regression_chunks")) {
    return(lapply(seq_len(nrow(a)), function(i) kng_norm(M, a[i, ], b[i, ], d, rule, ask)))
  }
  at <- lapply(seq_len(nrow(a)), function(i) kng_point(M, a[i, ], b[i, ], ask$center))
  there <- which(lengths(at) > 0)
  out <- rep(list(list(norm = Inf)), length(at))
  pulls <- if (length(there)) chunk_pull(d$y, lapply(at[there], `[`, c("p", "b", "speed")), rule, ask$reach)
  for (i in seq_along(there)) out[[there[i]]] <- kng_judge(at[[there[i]]], pulls[[i]][1, ], pulls[[i]][2, ], rule, ask)
  out
}

# bounds of the logarithm of exp's volume density in the ball, at the centre: c(least, most)
kng_volume <- function(M, ask) {
  facts <- mf_facts(M)
  if (ask$q == 1) return(c(0, 0))
  s <- sqrt(pmax(c(facts$k_max, -facts$k_min), 0)) * ask$radius
  (ask$q - 1) * c(if (s[1] > 0) log(max(sin(min(s[1], pi)), 1e-300) / s[1]) else 0,
                  if (s[2] > 1e-4) s[2] + log(-expm1(-2 * s[2]) / (2 * s[2])) else s[2]^2 / 6)
}

# `count` draws each of: a uniform point of the ball as coordinates at its centre, which is kept with probability volume
# over bound; a uniform vector; an exponential. Without `reject` none is left out.
kng_candidates <- function(M, ask, count, reject = TRUE) {
  q <- ask$q
  z <- .Call(riemdp_noise, euclidean(2 * q + 4), rep(0, 2 * q + 4), count, "wrapped_gaussian", 1,
             in_simulation())
  u <- stats::pnorm(z[, 2 * q + 1:4, drop = FALSE])
  even <- function(cols, radius, u) {
    d <- z[, cols, drop = FALSE]
    d / sqrt(rowSums(d^2)) * radius * u^(1 / q)
  }
  a <- even(seq_len(q), ask$radius, u[, 1])
  b <- even(q + seq_len(q), ask$speed, u[, 2])
  if (!reject) return(list(a = a, b = b))
  top <- kng_volume(M, ask)[2]
  volume <- if (q > 1) mf_log_density(M, ask$center, mf_from_coords(M, ask$center, a)) else rep(0, count)
  keep <- log(u[, 3]) <= volume - top
  list(a = a[keep, , drop = FALSE], b = b[keep, , drop = FALSE],
       level = -stats::pnorm(z[keep, 2 * q + 4], log.p = TRUE))
}

# share of uniform moves in a chain: what bounds its distance from the law
KNG_UNIFORM <- 0.1

# Log of a bound of the total variation distance between the state after `steps` and the law: a uniform move from
# anywhere lands on a part of the law that is as large as the share times the rejection sampler's acceptance (Doeblin's
# condition; inst/proofs/regression.md, section 4)
chain_log_distance <- function(steps, log_trials) steps * log1p(-KNG_UNIFORM * exp(-log_trials))

# what the chain's distance from the law costs
chain_delta <- function(ask, rule) (1 + exp(ask$epsilon)) * exp(chain_log_distance(ask$chain, rule$log_trials))

# State after `steps` of a Metropolis chain from the centre: uniform moves, and local ones p' = exp_p(w), v' = v + u
# carried along, whose length varies over the scales between the law's and the domain's. Both are symmetric under
# dvol(p) dv. `seen`: a function of each state, for tests.
kng_chain <- function(M, d, rule, ask, steps, seen = NULL) {
  q <- ask$q
  inj <- mf_facts(M)$injectivity_radius
  limit <- if (inj > 0) inj else Inf
  now <- kng_norm(M, rep(0, q), rep(0, q), d, rule, ask)
  pool <- NULL
  left <- 0
  done <- 0
  while (done < steps) {
    block <- min(1000, steps - done)
    z <- .Call(riemdp_noise, euclidean(2 * q + 3), rep(0, 2 * q + 3), block, "wrapped_gaussian", 1,
               in_simulation())
    z <- matrix(z, block)
    u <- matrix(stats::pnorm(z[, 2 * q + 1:3]), block)
    for (i in seq_len(block)) {
      if (!is.null(seen)) seen(now)
      if (u[i, 1] < KNG_UNIFORM) {
        for (more in seq_len(chain_blocks(M, ask))) {
          if (left > 0) break
          pool <- kng_candidates(M, ask, KNG_BLOCK)
          left <- length(pool$level)
        }
        if (left < 1) next
        new <- kng_norm(M, pool$a[left, ], pool$b[left, ], d, rule, ask)
        left <- left - 1
      } else {
        size <- exp(log(rule$scale) + u[i, 2] * max(log(ask$radius / rule$scale), 0)) / sqrt(q)
        w <- size * z[i, seq_len(q)]
        if (sqrt(sum(w^2)) >= limit) next
        # NULL outside the domain; an error, at the cut locus, would tell of the path and so of the records
        place <- tryCatch({
          to <- mf_exp(M, now$p, mf_from_coords(M, now$p, w))
          a <- drop(mf_coords(M, ask$center, mf_log(M, ask$center, to)))
          if (sqrt(sum(a^2)) <= ask$radius) {
            moved <- mf_transport(M, now$p, to,
                                  mf_from_coords(M, now$p,
                                                 now$v + size * ask$speed / ask$radius * z[i, q + seq_len(q)]))
            b <- drop(mf_coords(M, to, moved))
            if (sqrt(sum(b^2)) <= ask$speed) list(a = a, b = b)
          }
        }, riemdp_error = function(e) NULL)
        if (is.null(place)) next
        new <- kng_norm(M, place$a, place$b, d, rule, ask)
      }
      if (isTRUE(log(u[i, 3]) <= (now$norm - new$norm) / rule$scale)) now <- new
    }
    done <- done + block
  }
  now
}

mechanism_regression_kng <- list(
  name = "kng",
  auto = FALSE, # no model of its error
  needs_delta = FALSE,
  plan = function(M, ask) {
    if (!mf_facts(M)$has_kng) {
      abort_riemdp("unsupported", sprintf(paste("method = \"kng\" needs a symmetric space with known curvature, which",
                                                "%s isn't here. Use method = \"newton\"."),
                                          label_manifold(M)))
    }
    if (ask$k != 1) abort_riemdp("unsupported", "method = \"kng\" takes one predictor. Use method = \"newton\".")
    if (!(sqrt(max(-mf_facts(M)$k_min, 0)) * ask$speed * ask$reach <= 100)) {
      abort_riemdp("unsupported",
                   paste("method = \"kng\" needs `speed` times half a predictor's range below 100 units of curvature:",
                         "cosh of it must fit into doubles."))
    }
    rule <- curve_kng_rule(M, ask)
    guarantee <- list(epsilon = ask$epsilon, delta = 0, reasons = NULL)
    if (!is.null(ask$chain)) {
      delta <- chain_delta(ask, rule)
      guarantee$sampler <- "chain"
      if (delta <= ask$delta) {
        guarantee$delta <- delta
      } else {
        guarantee$reasons <- sprintf(
          "a Markov chain of %d steps, whose distance from the mechanism's law is not proven to be small%s",
          as.integer(ask$chain),
          if (ask$delta > 0) sprintf("; %.2g steps would do for `delta`",
                                     log((1 + exp(ask$epsilon)) / ask$delta) / KNG_UNIFORM * exp(rule$log_trials)) else
            " (give `delta`)"
        )
      }
    } else if (!(rule$log_trials <= KNG_LOG_TRIALS)) {
      abort_riemdp("unsupported", sprintf(
        paste("method = \"kng\" draws by rejection, which may take exp(%.3g) trials at n = %g and epsilon = %g: only n",
              "* epsilon up to about %d can be had. Use method = \"newton\"."),
        rule$log_trials, ask$n, ask$epsilon, as.integer(4 * (KNG_LOG_TRIALS - 1))
      ))
    }
    if (diff(kng_volume(M, ask)) > KNG_LOG_TRIALS) {
      abort_riemdp("unsupported", sprintf(paste("method = \"kng\" has no fast way to draw uniform points from a ball",
                                                "of radius %.4g on %s. Use method = \"newton\"."),
                                          ask$radius, label_manifold(M)))
    }
    edges <- c(lapply(seq_len(ask$q), function(j) ask$radius * (seq_len(ask$q) == j)),
               lapply(seq_len(ask$q), function(j) -ask$radius * (seq_len(ask$q) == j)))
    if (any(vapply(edges, function(a) is.null(kng_point(M, a, 0 * a, ask$center)), NA))) {
      abort_riemdp("unsupported", sprintf(paste("method = \"kng\" needs a ball whose points fit into doubles, which on",
                                                "%s those at distance %.4g don't."),
                                          label_manifold(M), ask$radius))
    }
    list(steps = list(rule), blocks = kng_blocks(M, rule, ask), expected_error = NA_real_, spread = NULL,
         details = list(shares = 1, constant = constant_error(ask), scale = rule$scale, loss = ask$loss,
                        chain = ask$chain),
         guarantee = guarantee)
  },
  release = function(M, x, y, plan, ask) {
    rule <- plan$steps[[1]]
    rule$scale <- outwards(rule$scale)
    price <- price_normalised(2 * rule$tau / ask$n, rule$scale, "regression.md, 4")
    if (!is.null(ask$chain)) price$delta <- chain_delta(ask, rule)
    pay(price)
    chunked <- inherits(y, "riemdp_regression_chunks")
    d <- if (chunked) list(y = y) else kng_predictors(x, ask$reach, y)
    if (!is.null(ask$chain)) {
      at <- kng_chain(M, d, rule, ask, ask$chain)
      return(regression_value(M, list(p = public_point(M, at$p), v = matrix(at$v))))
    }
    together <- if (chunked) KNG_TOGETHER else 1
    block <- 0
    while (block < plan$blocks) {
      block <- block + 1
      new <- kng_candidates(M, ask, KNG_BLOCK)
      for (first in seq(1, by = together, length.out = ceiling(length(new$level) / together))) {
        some <- first:min(first + together - 1, length(new$level))
        tried <- kng_norms(M, new$a[some, , drop = FALSE], new$b[some, , drop = FALSE], d, rule, ask)
        kept <- vapply(seq_along(some), function(i) isTRUE(tried[[i]]$norm <= rule$scale * new$level[some[i]]), NA)
        if (any(kept)) {
          at <- tried[[which(kept)[1]]]
          return(regression_value(M, list(p = public_point(M, at$p), v = matrix(at$v))))
        }
      }
    }
    last <- kng_candidates(M, ask, 1, reject = FALSE)
    at <- kng_point(M, last$a[1, ], last$b[1, ], ask$center) %||% list(p = ask$center, b = 0 * last$b[1, ])
    regression_value(M, list(p = public_point(M, at$p), v = matrix(at$b)))
  },
  words = function(r) {
    sprintf(paste("The K-norm gradient mechanism: density proportional to exp(-N/scale) on the public domain of foot",
                  "points and vectors, N the larger of the lengths of the mean %s gradients, each over the",
                  "largest that a record can have, scale = %.6g = 2/epsilon times how far a record can move N. %s"),
            if (identical(r$details$loss, "lad")) "unit (least absolute deviations)" else "clipped", r$details$scale,
            if (is.null(r$details$chain)) {
              "Drawn exactly, by rejection from the uniform law; the number of trials depends on the records."
            } else {
              sprintf("Drawn by a Markov chain of %d steps from the public centre, a tenth of them uniform.",
                      as.integer(r$details$chain))
            })
  }
)

# trials that share a pass
KNG_TOGETHER <- 32

# mean clipped gradients at some candidates (2 x q each), in one pass
chunk_pull <- function(y, at, rule, reach) {
  sums <- exact_total(regression_ask_chunks(y, "regression_pull", at = at, rule = rule, reach = reach))
  q <- length(at[[1]]$b)
  n <- counted(y$share, chunk_count(y$data))
  lapply(seq_along(at), function(i) matrix(sums[(i - 1) * 2 * q + seq_len(2 * q)], 2, byrow = TRUE) / n)
}
