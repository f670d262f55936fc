# Geodesic regression as paper 004 has it, for study and as method = "paper" of dp_regression(): never labelled private.

PUBLISHED_REASONS <- c(
  "the paper's constants for the gradients' lengths are exceeded up to 1.85 and 1.19 times on the unit sphere",
  "the residuals' bound is the largest residual of the records",
  "the foot point is drawn along the non-private vector",
  "the scale lacks a factor 2, as if the density's integral didn't depend on the records",
  "Markov chains of finite length, started at the non-private fit"
)

#' Geodesic regression by the published K-norm gradient mechanism
#'
#' The mechanism of Kulkarni and Soto, as published, **which is not private**: `guarantee()` says `none`, whatever
#' `epsilon`. For comparison with [dp_regression()].
#'
#' Foot points are drawn by a Metropolis chain with density proportional to
#' \eqn{\exp(-\epsilon |\sum_i g_{p,i}|/(2 \tau \cos\sqrt\kappa))}, g the records' gradients of half the squared
#' distance with the non-private shooting vector transported along, and \eqn{\tau} the largest residual of the
#' non-private fit; then vectors at each of them, with \eqn{\sin\sqrt\kappa/\sqrt\kappa} in place of the cosine.
#' \eqn{\kappa} is the largest sectional curvature; for 0 both factors are 1, below they are cosh and sinh. Both chains
#' start at the non-private fit; candidates are uniform in a disc of the tangent space. Each pair (p, v) nominally costs
#' twice `epsilon`.
#'
#' @section Why it is not private:
#' The part of a residual along the curve isn't shrunk by curvature, so a record can move the foot point's gradient
#' 1/cos(1) = 1.85 times as far as assumed and the vector's 1/sin(1) = 1.19 times; comparison of Jacobi fields needs the
#' least curvature, not the largest; \eqn{\tau} is read off the records; the non-private vector steers the foot point's
#' law; the normalising integral depends on the records, so \eqn{\sigma} lacks a factor 2. Proof of what holds instead:
#' proofs/regression.md of the installed package, section 4.
#'
#' @param formula,data as in [geodesic_regression()], with one numeric predictor. The paper has it in \[0, 1\].
#' @param M a manifold.
#' @param epsilon nominal budget of each of p and v, positive.
#' @param ... nothing; later arguments must be named.
#' @param feet number of foot points drawn, successive states of a chain.
#' @param vectors number of vectors drawn at each of them.
#' @param burn_in states dropped first in each chain.
#' @param step radius of the disc of candidates, over the density's scale. The paper doesn't state it.
#' @return An object of class `riemdp_nonprivate_regression_kng`: `p` (foot points, as [mf_points()]), `v` (a list with
#'   the vectors at each, in the same form), `fit` (the non-private fit), `tau`, `scale` (of p and v), `distance` (of
#'   each foot point from the fit's), `angle` (of each vector with the fit's transported one, radians; feet in rows),
#'   `nominal_epsilon`, `mae` (mean distance of records from each private curve; feet in rows), `acceptance` (of both
#'   chains), `guarantee`. There are `print()` and [guarantee()] methods.
#' @references Kulkarni, A. and Soto, C. (2025). Differentially private geodesic and linear regression.
#'   \doi{10.48550/arXiv.2504.11304}
#' @seealso [dp_regression()], [nonprivate_chain()]
#' @examples
#' set.seed(1)
#' x <- runif(20)
#' y <- mf_exp(sphere(2), c(0, 0, 1), outer(x, c(0.8, 0.2, 0)))
#' y <- mf_project(sphere(2), y + rnorm(60, sd = sqrt(0.001)))
#' nonprivate_regression_kng(y ~ x, sphere(2), epsilon = 1, feet = 10)
#' @export
nonprivate_regression_kng <- function(formula, M, data = NULL, epsilon, ..., feet = 50, vectors = feet, burn_in = 100,
                                      step = 3) {
  check_dots_empty(...)
  check_manifold(M)
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  feet <- check_count(feet, "feet", most = 1e5)
  vectors <- check_count(vectors, "vectors", most = 1e5)
  burn_in <- check_count(burn_in, "burn_in", least = 0)
  step <- check_number(step, "step", positive = TRUE)
  factor <- published_factors(M)
  fit <- geodesic_regression(formula, M, data)
  x <- regression_design(list(model = fit$model, terms = fit$terms))$x
  if (ncol(x) != 1) abort_riemdp("unsupported", "the paper has one predictor.")
  y <- fit$model$.response
  p <- fit$coefficients$p
  tau <- max(fit$residuals)
  if (!(tau > 0)) abort_riemdp("unsupported", "the curve goes through all records: the paper's scale is 0.")
  n <- length(y)
  scale <- 2 * tau * factor / (n * epsilon)
  chains <- published_chains(M, fit, x[, 1], y, scale, feet, vectors, burn_in, step)
  foot <- chains$foot
  hits <- sum(vapply(chains$vectors, function(chain) chain$accepted, 0))
  draws <- angle <- mae <- vector("list", feet)
  for (i in seq_len(feet)) {
    at <- foot$states[[i]]
    a <- chains$vectors[[i]]$fit
    b <- do.call(rbind, chains$vectors[[i]]$states)
    draws[[i]] <- as_points_tangent(M, at, b)
    angle[[i]] <- acos(clamp(drop(b %*% a) / sqrt(rowSums(b^2) * sum(a^2)), -1, 1))
    mae[[i]] <- apply(b, 1, function(one) {
      mean(.Call(riemdp_regression_records, M, at, mf_from_coords(M, at, one), x[, 1], y,
                 curve_loss(), TRUE)$distance, na.rm = TRUE)
    })
  }
  points <- new_points(do.call(rbind, lapply(foot$states, function(at) as.matrix(mf_points(behind_many(M, at), M)))), M)
  structure(list(
    p = points, v = draws, fit = fit, tau = tau, scale = scale, distance = mf_dist(M, p, points),
    angle = do.call(rbind, angle), mae = do.call(rbind, mae), nominal_epsilon = epsilon, n = n, manifold = M,
    acceptance = c(p = foot$accepted / (feet + burn_in), v = hits / (feet * (vectors + burn_in))),
    guarantee = new_guarantee(2 * epsilon, 0, PUBLISHED_REASONS, sampler = "chain",
                              rng = if (in_simulation()) "simulation" else "session", numerics = "real-valued")
  ), class = "riemdp_nonprivate_regression_kng")
}

# Foot points, and vectors at each: the two chains, from the non-private fit. `scale`: of p and of v.
published_chains <- function(M, fit, x, y, scale, feet, vectors, burn_in, step) {
  p <- fit$coefficients$p
  v <- fit$coefficients$v
  part <- function(p, v, which) { # of the mean gradient, its length; records without a logarithm have none
    g <- colMeans(.Call(riemdp_regression_records, M, p, v, x, y, curve_loss(), TRUE)$gradient)
    sqrt(sum(g[seq_len(length(g) / 2) + if (which == 2) length(g) / 2 else 0]^2))
  }
  foot <- metropolis(p, function(at) part(at, mf_transport(M, p, at, v), 1) / scale[1], function(at) {
    mf_exp(M, at, mf_from_coords(M, at, disc_draw(M, step * scale[1])))
  }, feet, burn_in)
  list(foot = foot, vectors = lapply(foot$states, function(at) {
    a <- drop(mf_coords(M, at, mf_transport(M, p, at, v)))
    chain <- metropolis(a, function(b) part(at, mf_from_coords(M, at, b), 2) / scale[2],
                        function(b) b + disc_draw(M, step * scale[2]), vectors, burn_in)
    c(chain, list(fit = a))
  }))
}

# one pair for dp_regression(), half of epsilon for the foot point and half for the vector
mechanism_regression_paper <- list(
  name = "paper",
  auto = FALSE,
  needs_delta = FALSE,
  plan = function(M, ask) {
    if (ask$k != 1) abort_riemdp("unsupported", "method = \"paper\" takes one predictor, as the paper has it.")
    published_factors(M)
    list(steps = list(), expected_error = NA_real_, spread = NULL,
         details = list(shares = 1, constant = constant_error(ask)),
         guarantee = list(epsilon = ask$epsilon, delta = 0, reasons = PUBLISHED_REASONS, sampler = "chain",
                          rng = "session"))
  },
  release = function(M, x, y, plan, ask) {
    u <- (clamp(x[1, ], -ask$reach, ask$reach) + ask$reach) / (2 * ask$reach)
    state <- list(p = ask$center, v = matrix(0, ask$q, 1)) # where there is no fit to draw around
    tryCatch({
      use <- !is.na(u) & mf_is_point(M, y)
      y <- records_of(y, which(use))
      fit <- geodesic_regression(y ~ x, M, list(x = u[use], y = y))
      tau <- max(fit$residuals)
      if (tau > 0) {
        chains <- published_chains(M, fit, u[use], fit$model$.response,
                                   2 * tau * published_factors(M) / (sum(use) * ask$epsilon / 2), 1, 1,
                                   1000, 3)
        p <- chains$foot$states[[1]]
        v <- mf_from_coords(M, p, chains$vectors[[1]]$states[[1]])
        middle <- public_point(M, mf_exp(M, p, v / 2))
        state <- list(p = middle, v = matrix(mf_coords(M, middle, mf_transport(M, p, middle, v)) / (2 * ask$reach)))
      }
    }, riemdp_error = function(e) NULL)
    regression_value(M, state)
  },
  words = function(r) {
    paste("As published by Kulkarni and Soto (2025): Markov chains for the foot point, then for the vector, around the",
          "non-private fit, with the largest residual of the records as their bound. For comparison only.")
  }
)

# lengths of the paper's Jacobi fields at 1: c(p, v)
published_factors <- function(M) {
  k <- mf_facts(M)$k_max
  s <- sqrt(abs(k))
  if (!is.finite(k) || s >= pi / 2 && k > 0) {
    abort_riemdp("unsupported", "the paper's factors need a largest curvature below (pi/2)^2.")
  }
  if (k > 0) c(cos(s), sin(s) / s) else if (k < 0) c(cosh(s), sinh(s) / s) else c(1, 1)
}

# coordinates, uniform in a ball
disc_draw <- function(M, radius) {
  q <- mf_facts(M)$dimension
  z <- stats::rnorm(q)
  z / sqrt(sum(z^2)) * radius * stats::runif(1)^(1 / q)
}

# successive states for the density exp(-energy), rejected candidates repeat the state: list(states, accepted)
metropolis <- function(state, energy, candidate, count, burn_in) {
  states <- vector("list", count)
  now <- energy(state)
  accepted <- 0
  for (i in seq_len(count + burn_in)) {
    new <- candidate(state)
    then <- energy(new)
    if (stats::runif(1) < exp(now - then)) {
      state <- new
      now <- then
      accepted <- accepted + 1
    }
    if (i > burn_in) states[[i - burn_in]] <- state
  }
  list(states = states, accepted = accepted)
}

as_points_tangent <- function(M, p, b) {
  rows <- do.call(rbind,
                  lapply(seq_len(nrow(b)), function(i) drop(storage_rows_tangent(mf_from_coords(M, p, b[i, ]), M))))
  new_points(rows, M, tangent = TRUE)
}

#' @export
guarantee.riemdp_nonprivate_regression_kng <- function(r) r$guarantee

#' @export
print.riemdp_nonprivate_regression_kng <- function(x, ...) {
  cat(sprintf("NOT PRIVATE: %d foot points with %d vectors each, as published, of %d records on %s\n", length(x$v),
              ncol(x$mae), x$n, label_manifold(x$manifold)))
  cat(sprintf("  nominal epsilon %g for each of p and v; largest residual %.4g; scales %.4g and %.4g\n",
              x$nominal_epsilon, x$tau, x$scale[1], x$scale[2]))
  cat(sprintf(paste("  foot points %.4g from the fit's on average; mean distance from the records %.4g (fit: %.4g);",
                    "accepted %.2f and %.2f\n"),
              mean(x$distance), mean(x$mae), mean(x$fit$residuals), x$acceptance[[1]], x$acceptance[[2]]))
  invisible(x)
}
