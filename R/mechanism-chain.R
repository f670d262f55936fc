# Markov chains for the K-norm gradient and Laplace densities: what the papers sample with. Always labelled none.

CHAIN_TARGETS <- c("kng", "laplace")
CHAIN_PROPOSALS <- c("isotropic", "published")

# n times the sensitivity of the gradient: the maximum of inst/proofs/gradient-sensitivity.md (1'), or the papers'
# 2r(2 - h)
chain_gradient_range <- function(ball, calibration) {
  r <- ball$radius
  if (ball$k_max <= 0) return(2 * r)
  rho <- r * sqrt(ball$k_max)
  if (calibration == "paper") return(2 * r * (2 - cot_factor(2 * rho)))
  value <- function(c) {
    d <- acos(cos(rho)^2 - c * sin(rho)^2)
    2 * sin(rho) / sqrt(ball$k_max) * d / sin(d) * sqrt(1 - c^2)
  }
  outwards(stats::optimize(value, c(0, 1), maximum = TRUE, tol = 1e-12)$objective)
}

# scale as each paper sets it: 2 sensitivity/epsilon, but sensitivity/epsilon for the gradient on the sphere and for
# Laplace
chain_scale <- function(M, ask, target) {
  loss <- 2
  if (target == "laplace") {
    sensitivity <- as.numeric(mean_sensitivity_at(ask$n, ask$ball, ask$calibration))
    loss <- 1
  } else {
    sensitivity <- chain_gradient_range(ask$ball, ask$calibration) / ask$n
    if (ask$calibration == "paper") loss <- published_settings(M, target)$loss %||% loss
  }
  c(list(sensitivity = sensitivity), pure_scale(ask, sensitivity, loss))
}

# What the papers print for their own chains, or NULL where they have none: the step's length, the burn-in, and the loss
# of privacy of the gradient's law in units of sensitivity/scale. The steps themselves are the table's.
published_settings <- function(M, target) UseMethod("published_settings")
#' @export
published_settings.default <- function(M, target) NULL
#' @export
published_settings.riemdp_sphere <- function(M, target) {
  if (target == "laplace") list(step = 1, burn_in = 10000, loss = 1) else list(step = 0.5, burn_in = 20000, loss = 1)
}
#' @export
published_settings.riemdp_spd <- function(M, target) {
  if (mf_facts(M)$model == "spd") list(step = 1, burn_in = 5000, loss = 2)
}
#' @export
published_settings.riemdp_kendall <- function(M, target) list(step = 0.01, burn_in = 7500, loss = 2)

chain_settings <- function(M, target, proposal, sigma, truncate, radius, step, burn_in) {
  d <- mf_facts(M)$dimension
  default <- if (proposal == "published") published_settings(M, target) else {
    # 2.4 standard deviations of a coordinate over sqrt(d), the rule for Gaussian proposals
    list(step = min(2.4 * sigma * sqrt((d + 1) / d), if (truncate) 2.4 * radius / sqrt(d)), burn_in = 2000)
  }
  list(
    step = if (is.null(step)) default$step else check_number(step, "step", positive = TRUE),
    burn_in = if (is.null(burn_in)) default$burn_in else check_count(burn_in, "burn_in", least = 0, most = 1e8)
  )
}

# on positive curvature the gradient vanishes at the far side as well: the density is cut off at the ball
truncate_default <- function(target, proposal, ball) target == "kng" && proposal == "isotropic" && ball$k_max > 0

refuse_published <- function(M) {
  if (is.null(published_settings(M, "kng"))) {
    sprintf(paste("the papers have chains on spheres, positive definite matrices with the affine-invariant metric and",
                  "planar shapes, not on %s."),
            label_manifold(M))
  }
}

mechanism_chain <- list(
  name = "chain",
  auto = FALSE,
  chunks = TRUE, # a pass for each step where the gradient is the target
  options = c("target", "proposal", "step", "burn_in", "truncate"),
  unsupported = function(M, ask) {
    if (baseline_option(ask, "proposal", CHAIN_PROPOSALS) == "published") {
      why <- refuse_published(M)
      if (!is.null(why)) return(why)
    }
    refuse_variants(ask, "chain")
  },
  plan = function(M, ask) {
    target <- baseline_option(ask, "target", CHAIN_TARGETS)
    proposal <- baseline_option(ask, "proposal", CHAIN_PROPOSALS)
    truncate <- check_flag(ask$options$truncate, "options$truncate", truncate_default(target, proposal, ask$ball))
    law <- chain_scale(M, ask, target)
    set <- chain_settings(M, target, proposal, law$scale, truncate, ask$ball$radius, ask$options$step,
                          ask$options$burn_in)
    list(
      scale = law$scale, sensitivity = law$sensitivity, solver_error = 0, acceptance = NA_real_,
      theorem = if (target == "kng") "of the gradient, proofs/gradient-sensitivity.md" else "of the Frechet mean",
      expected_error = mf_facts(M)$dimension * law$scale, # of the flat law
      chain_target = target, proposal = proposal, truncate = truncate, step = set$step, burn_in = set$burn_in,
      details = c(list(moved = if (target == "kng") "gradient of the energy" else "Frechet mean",
                       target = target, proposal = proposal, truncate = truncate), set),
      guarantee = list(epsilon = law$epsilon, delta = 0, sampler = "chain", reasons = c(
        paper_reason(ask),
        if (proposal == "published") {
          "a Markov chain as published, whose law is not the density that was calibrated"
        } else {
          "a Markov chain without a certificate of its distance from its limit"
        }
      ))
    )
  },
  release = function(M, x, plan, ask) {
    # the published chain starts at the mean of the records; the other one at the public centre
    run_chain(M, mean_records(M, x, ask$center, ask$ball$radius), ask$center, ask$ball,
              if (plan$proposal == "published") TRUE, plan$chain_target, plan$proposal,
              plan$proposal == "published", plan$scale,
              plan$step, list(burn_in = plan$burn_in, keep = 0, thin = 1), plan$truncate)
  },
  words = function(r) {
    d <- r$details
    sprintf(paste("Noise: the state after %g steps of a Metropolis chain for the density proportional to",
                  "exp(-%s/scale)%s, scale = %.6g, step %.4g. %s No bound of the chain's distance from its limit",
                  "is known, so nothing is promised."),
            d$burn_in, if (d$target == "kng") "|gradient|" else "distance from the mean",
            if (d$truncate) " in the public ball" else "", r$scale, d$step,
            if (d$proposal == "published")
              "Candidates, start at the mean and dropping of rejected candidates are as published." else
              "Candidates are isotropic in the metric, start is the public centre, every state is kept.")
  }
)

run_chain <- function(M, x, center, ball, start, target, proposal, redraw, sigma, step, counts, truncate) {
  .Call(riemdp_chain, M, x, center, ball$radius, c(ball$k_min, ball$k_max), start, target, proposal,
        redraw, sigma, step, counts, truncate, SOLVER_TOLERANCE, in_simulation())
}

#' Markov chains of the papers, for study
#'
#' Runs Metropolis chains for the density of the K-norm gradient mechanism or the Laplace mechanism around the records'
#' Frechet mean and returns every state. **Nothing here is private**: the states show the density, the density the
#' records. Use it on public or simulated data, to see how far such chains are from what they should sample; [dp_mean()]
#' has exact samplers.
#'
#' * `proposal = "isotropic"`: \eqn{\exp_x} of a normal vector with standard deviation `step` in each orthonormal
#'   coordinate at the current state x. With respect to the volume this is symmetric on every manifold: a geodesic run
#'   backwards has the same length and the same Jacobi determinant (proofs/baselines.md). So no Hastings factor is
#'   needed; where a candidate is rejected, the state is kept once more.
#' * `proposal = "published"`: the chains as Soto et al. (2022, supplement 2.3 to 2.5) and Reimherr et al. (2021, A.5)
#'   print them, on spheres, positive definite matrices with the affine-invariant metric, and planar shapes. Rejected
#'   candidates are drawn again and leave no trace; on positive definite matrices the candidates aren't symmetric, on
#'   planar shapes not isotropic: the limit is another law. `step` is their t; candidates have lengths of order
#'   `step * sigma` (planar shapes: `step`). The papers tune t, but give a value for the sphere only: .5 for the
#'   gradient, 1 for Laplace.
#'
#' @param x records, in any shape that functions on `M` accept.
#' @param M a manifold; by default that of the records, where those are [mf_points()].
#' @param sigma scale of the density, positive.
#' @param center,radius the ball; records outside are moved to it, as in [dp_mean()].
#' @param ... nothing; later arguments must be named.
#' @param target `"kng"` for density proportional to \eqn{\exp(-|\nabla U|/\sigma)}, U half the mean squared distance to
#'   the records, or `"laplace"` for \eqn{\exp(-d(x, \bar x)/\sigma)}.
#' @param proposal `"isotropic"` or `"published"`.
#' @param redraw whether a rejected candidate is drawn again and the state not kept once more, as published, up to 1,000
#'   times (the default for `proposal = "published"`). The limit is then the density times the probability of
#'   acceptance.
#' @param truncate whether the density is cut off outside the ball; the default is yes for `"kng"` on positive
#'   curvature.
#' @param chains,iterations number of chains, and of states kept in each.
#' @param burn_in steps before the first state that is kept.
#' @param thin steps from one kept state to the next.
#' @param step length of candidates; the default is 2.4 standard deviations of the flat law over \eqn{\sqrt d}, at most
#'   the same of the ball.
#' @param start `"spread"`: each chain at another point of the ball, so that R-hat means something; `"center"`; or
#'   `"mean"`, as published.
#' @return An object of class `riemdp_nonprivate_chain`: `draws` (all states, chain after chain, in the plain shape of
#'   many points), `variables` (iterations x chains x variables: the log density, the distance from the records' mean,
#'   and the orthonormal coordinates of the logarithm at `center`; `NA` beyond its cut locus), `acceptance` (one number
#'   a chain) and the settings. `summary()` gives mean, standard deviation, R-hat and effective sample sizes by the
#'   suggested package 'posterior', which `posterior::as_draws()` reaches directly.
#' @references
#' Soto, C., Bharath, K., Reimherr, M. and Slavković, A. (2022). Shape and structure preserving differential privacy.
#' *Advances in Neural Information Processing Systems* 35, 24693-24705. \doi{10.48550/arXiv.2209.12667}
#'
#' Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). Rank-normalization, folding, and
#' localization: an improved R-hat for assessing convergence of MCMC. *Bayesian Analysis* 16, 667-718.
#' \doi{10.1214/20-BA1221}
#' @seealso [dp_mean()] with `mechanism = "chain"`, which returns a chain's last state only.
#' @examples
#' x <- wishart_spd[, , 1:20]   # simulated matrices
#' chain <- nonprivate_chain(x, spd(2), sigma = 0.3, center = diag(2), radius = 1.5, iterations = 500)
#' chain
#' if (requireNamespace("posterior", quietly = TRUE)) summary(chain)
#' @export
nonprivate_chain <- function(x, M = manifold_of(x), sigma, center, radius, ..., target = c("kng", "laplace"),
                             proposal = c("isotropic", "published"), redraw = NULL, truncate = NULL, chains = 4,
                             iterations = 1000, burn_in = NULL, thin = 1, step = NULL,
                             start = c("spread", "center", "mean")) {
  check_dots_empty(...)
  check_manifold(M)
  sigma <- check_number(sigma, "sigma", positive = TRUE)
  target <- check_choice(target, "target", c("kng", "laplace"))
  proposal <- check_choice(proposal, "proposal", c("isotropic", "published"))
  start <- check_choice(start, "start", c("spread", "center", "mean"))
  chains <- check_count(chains, "chains", most = 1000)
  iterations <- check_count(iterations, "iterations", most = 1e7)
  thin <- check_count(thin, "thin", most = 1e6)
  if (inherits(center, "riemdp_frechet_mean")) center <- center$mean # nothing here is private
  center <- public_point(M, center)
  ball <- check_radius(M, radius, center)
  if (ball$k_min == -Inf) {
    abort_riemdp("unsupported", "the mean in the ball needs a finite lower bound of the curvature, `k_min`.")
  }
  if (proposal == "published" && !is.null(refuse_published(M))) abort_riemdp("unsupported", refuse_published(M))
  truncate <- check_flag(truncate, "truncate", truncate_default(target, proposal, ball))
  redraw <- check_flag(redraw, "redraw", proposal == "published")
  set <- chain_settings(M, target, proposal, sigma, truncate, ball$radius, step, burn_in)
  record_count(M, x)
  mf_check(M, x)

  d <- mf_facts(M)$dimension
  starts <- switch(start, spread = {
    z <- matrix(laplace_noise(euclidean(d), rep(0, d), 1, chains, "wrapped"), chains)
    size <- sqrt(rowSums(z^2))
    a <- z / size * ball$radius * stats::pgamma(size, d)^(1 / d) * 0.99 # uniform in the ball of the tangent space
    lapply(seq_len(chains), function(i) mf_exp(M, center, mf_from_coords(M, center, a[i, ])))
  }, center = vector("list", chains), mean = rep(list(TRUE), chains))
  counts <- list(burn_in = set$burn_in, keep = iterations, thin = thin)
  runs <- lapply(starts, function(s) {
    run_chain(M, x, center, ball, s, target, proposal, redraw, sigma, set$step, counts, truncate)
  })
  mean <- run_chain(M, x, center, ball, TRUE, target, "isotropic", FALSE, sigma, set$step,
                    list(burn_in = 0, keep = 0, thin = 1), truncate)
  variables <- array(NA_real_, c(iterations, chains, d + 2),
                     list(NULL, NULL, c("log_density", "distance", sprintf("coord[%d]", seq_len(d)))))
  for (i in seq_len(chains)) {
    draws <- runs[[i]][[1]]
    variables[, i, 1] <- runs[[i]][[2]]
    variables[, i, 2] <- tryCatch(mf_dist(M, mean, draws), riemdp_error = function(e) NA_real_)
    variables[, i, -(1:2)] <- tryCatch(mf_coords(M, center, mf_log(M, center, draws)),
                                       riemdp_error = function(e) NA_real_)
  }
  structure(list(
    draws = bind_records(lapply(runs, `[[`, 1)), variables = variables,
    acceptance = vapply(runs, function(r) r[[4]] / r[[3]], numeric(1)),
    manifold = M, target = target, proposal = proposal, redraw = redraw, sigma = sigma, step = set$step,
    burn_in = set$burn_in, thin = thin,
    truncate = truncate, start = start
  ), class = "riemdp_nonprivate_chain")
}

# many points, plain shapes, one after the other
bind_records <- function(parts) {
  if (is.matrix(parts[[1]])) {
    do.call(if (is.complex(parts[[1]])) cbind else rbind, parts)
  } else if (length(dim(parts[[1]])) == 3) {
    d <- dim(parts[[1]])
    array(unlist(parts), c(d[1:2], d[3] * length(parts)))
  } else {
    unlist(parts)
  }
}

#' @export
print.riemdp_nonprivate_chain <- function(x, ...) {
  size <- dim(x$variables)
  cat(sprintf("NOT PRIVATE: %d Markov chain%s of %d states on %s\n", size[2], if (size[2] == 1) "" else "s", size[1],
              label_manifold(x$manifold)))
  cat(sprintf("  %s density, scale %.4g; %s candidates, step %.4g; accepted %s\n", x$target, x$sigma, x$proposal,
              x$step, paste(sprintf("%.2f", x$acceptance), collapse = ", ")))
  invisible(x)
}

#' @rdname nonprivate_chain
#' @param object a `nonprivate_chain`.
#' @export
summary.riemdp_nonprivate_chain <- function(object, ...) {
  need_posterior()
  draws <- posterior::as_draws_array(object$variables)
  out <- as.data.frame(posterior::summarise_draws(draws, "mean", "sd", "rhat", "ess_bulk", "ess_tail"))
  out[-1] <- lapply(out[-1], as.double)
  out
}

need_posterior <- function() {
  if (!requireNamespace("posterior", quietly = TRUE)) {
    abort_riemdp("unsupported",
                 "R-hat and effective sample sizes need the package 'posterior': install.packages(\"posterior\").")
  }
}

#' @exportS3Method posterior::as_draws
as_draws.riemdp_nonprivate_chain <- function(x, ...) posterior::as_draws_array(x$variables)
