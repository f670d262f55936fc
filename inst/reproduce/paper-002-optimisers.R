#!/usr/bin/env Rscript
# Figure 3 of Utpala, Han, Jawanpuria and Mishra (2023), redrawn: excess risk against gradient evaluations of DP-RGD, DP-RSGD and
# DP-RSVRG at epsilon = .1, .3, .5 and delta = 1e-6, five runs each, with the paper's calibration and with the package's.
#
#   Rscript paper-002-optimisers.R [quick|full] [directory of the output] [directory of WordNet's files]
#
# Three problems: (a) the Frechet mean of covariance descriptors on SPD(11), 10,704 simulated sections (simulate_tissue()); (b) the
# leading eigenvector of digits on the 783-sphere, 6,903 simulated ones (simulate_digits()); (c) the Frechet mean of the Poincare
# embedding of WordNet's mammals, 1,180 nodes in 5 dimensions (without WordNet: of a random tree with as many). Clipping norm, step size,
# batch and length are tuned for each method, calibration and epsilon on other data, with the noise of the whole set: other simulated
# images, an embedding with another seed.
# Tuning isn't private: it is free here, for every method alike, and what a user would have to guess.
#
# paper-002-optimisers-runs.csv: one row a run and mark: problem, epsilon, calibration, method, run, evaluations, excess (in the
# paper's loss: squared distances, -(w'z)^2), true_epsilon, and the settings. true_epsilon is what the noise that was drawn costs: by exact
# Gaussian accounting or privacy-loss distributions, not by the bound that calibrated it. paper-002-optimisers.csv: means and standard
# deviations over the runs.

suppressPackageStartupMessages(library(riemdp))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "data.R"))

given <- commandArgs(TRUE)
mode <- if (length(given) >= 1) match.arg(given[1], c("quick", "full")) else "quick"
output <- if (length(given) >= 2) given[2] else "reproduced"
dir.create(output, showWarnings = FALSE, recursive = TRUE)
wordnet <- if (length(given) >= 3) given[3] else "/usr/share/wordnet"
full <- mode == "full"
epsilons <- if (full) c(0.1, 0.3, 0.5) else 0.5
delta <- 1e-6
runs <- if (full) 5 else 2
marks <- 8
tried <- if (full) 18 else 10 # settings of each method: drawn from a grid
tune_records <- 1000 # tuning has the noise of the whole data, on so many records of others
internal <- function(name) get(name, asNamespace("riemdp")) # iterates within a run are no part of a release

# ---- problems: evaluation data, data to tune on, start ---------------------------------------------------------------------

descriptors <- function(seed) {
  set.seed(seed)
  covariance_descriptors(simulate_tissue(if (full) 10704 else 500, size = if (full) 28 else 12))
}
digits <- function(seed) {
  set.seed(seed)
  images_to_sphere(simulate_digits(if (full) 6903 else 500, size = if (full) 28 else 10))
}
random_tree <- function(n) { # each node and its ancestors
  parent <- c(0, vapply(2:n, function(i) sample(i - 1, 1), 1))
  do.call(rbind, lapply(2:n, function(i) {
    above <- integer()
    while ((i0 <- parent[if (length(above)) above[length(above)] else i]) > 0) above <- c(above, i0)
    cbind(i, above)
  }))
}
embedding <- function(seed) {
  set.seed(seed)
  known <- full && file.exists(file.path(wordnet, "data.noun"))
  edges <- if (known) read_wordnet_mammals(wordnet)$edges else random_tree(if (full) 1180 else 150)
  poincare_embedding(edges, dimension = 5, epochs = if (full) 300 else 50)$points
}
pixels <- if (full) 784 else 100
# a public start: the descriptor of an image of independent uniform pixels
set.seed(1)
noise_descriptor <- covariance_descriptors(array(stats::runif(3 * (if (full) 784 else 144)), if (full) c(28, 28, 3) else c(12, 12, 3)))[, , 1]
problems <- list(
  spd = list(title = "mean of descriptors, SPD(11)", problem = problem_frechet(spd(11)), data = descriptors, start = noise_descriptor, factor = 2,
             clip = c(5, 1), lr = 1),
  sphere = list(title = "leading eigenvector of digits", problem = problem_pca(sphere(pixels - 1)), data = digits,
                start = rep(1, pixels) / sqrt(pixels), factor = 1, clip = c(1, 0.3), lr = 2),
  ball = list(title = "mean of the mammals' embedding", problem = problem_frechet(hyperbolic(5, "ball")), data = embedding,
              start = c(0.6, 0, 0, 0, 0), factor = 2, clip = c(3, 0.5), lr = 1)
)

# ---- what is tried -----------------------------------------------------------------------------------------------------------

# step sizes times the problem's own; lengths in passes, as the paper's
grid_of <- function(case, method, calibration, n) {
  batches <- if (method == "rgd") NA else if (calibration == "paper") 1 else c(1, ceiling(n / 100))
  g <- switch(method,
    rgd = expand.grid(batch = NA, length = if (full) c(8, 20) else 10, clip = case$clip, ratio = 1, lr = c(0.03, 0.1, 0.3, 1, 3)),
    rsgd = expand.grid(batch = batches, length = if (full) c(1, 3) else 1, clip = case$clip, ratio = 1, lr = 3 * 10^(-(1:8) / 2)),
    rsvrg = expand.grid(batch = batches, length = if (full) c(2, 5) else 2, clip = case$clip, ratio = c(1, 0.1), lr = 3 * 10^(-(1:8) / 2))
  )
  g$lr <- g$lr * case$lr
  # a step with one record moves too far by more than a tenth
  g <- g[is.na(g$batch) | g$batch > 1 | g$lr <= 0.1 * case$lr + 1e-9, ]
  set.seed(5)
  g[sort(sample(nrow(g), min(tried, nrow(g)))), ]
}

ask_of <- function(case, method, calibration, epsilon, n, s) {
  none <- NULL
  rsvrg <- method == "rsvrg"
  batch <- if (method == "rgd") none else s$batch
  inner <- if (rsvrg) ceiling(n / 10 / s$batch) else none
  steps <- switch(method, rgd = s$length, rsgd = ceiling(n * s$length / s$batch), rsvrg = inner * s$length)
  internal("optimum_ask")(case$problem, n, epsilon, delta, method, case$start, if (rsvrg) s$clip * c(1, s$ratio) else s$clip, s$lr, steps, none,
                          batch, c("without-replacement", "poisson", "disjoint"), none, inner, none, 1, "last", none, none, none, calibration)
}

# plans by what they depend on: one costs up to a second
plans <- new.env()
plan_of <- function(ask) {
  key <- paste(c(ask$calibration, ask$method, ask$epsilon, ask$n, ask$steps, ask$batch, ask$inner, ask$clip / ask$clip[1], ask$contraction),
               collapse = " ")
  known <- plans[[key]]
  scale <- ask$clip[1]
  if (is.null(known)) {
    known <- internal("plan_optimum")(ask)
    known[c("sd", "snapshot_sd")] <- lapply(known[c("sd", "snapshot_sd")], `/`, scale)
    assign(key, known, envir = plans)
  }
  known[c("sd", "snapshot_sd")] <- lapply(known[c("sd", "snapshot_sd")], `*`, scale)
  known
}

# gradient evaluations after so many steps
evaluations <- function(ask, t) {
  switch(ask$method, rgd = t * ask$n, rsgd = t * ask$batch, rsvrg = ceiling(t / ask$inner) * ask$n + 2 * t * ask$batch)
}

true_epsilon <- function(ask, plan) {
  if (!is.null(plan$mu)) return(internal("gdp_epsilon")(plan$mu, delta))
  if (!is.null(plan$event)) return(as.double(dp_epsilon(plan$event, delta)))
  # the paper's calibration: what its noise costs in truth
  z <- plan$multiplier
  as.double(switch(ask$method,
    rgd = dp_epsilon(event_compose(event_gaussian(z), times = ask$steps), delta),
    rsgd = dp_epsilon(event_compose(event_sample(ask$batch / ask$n, event_gaussian(z)), times = ask$steps), delta),
    # one noise for two sensitivities: any division of its variance is a bound, the least of some is taken
    rsvrg = min(vapply(c(0.003, 0.01, 0.03, 0.1), function(alpha) {
      as.double(variance_reduced_epsilon(ask$n, ask$steps / ask$inner, ask$inner, ask$clip[1], ask$clip[2], plan$sd, delta, alpha, "auto"))
    }, 0))
  ))
}

# excess risk along one run; Inf where it diverged
course <- function(case, data, ask, plan, least, until) {
  input <- internal("problem_call")(case$problem, data, TRUE)
  run <- list(problem = case$problem[c("kind", "manifold", "threshold")], ask = ask, plan = plan)
  excess <- function(p) case$factor * internal("nonprivate_objective")(case$problem, data, p)$loss - least
  vapply(until, function(t) {
    if (t == 0) return(excess(case$start))
    run <<- tryCatch(internal("continue_run")(run, input, t), riemdp_error_diverged = function(e) NULL)
    if (is.null(run)) Inf else excess(run$value)
  }, 0)
}

safe <- function(expr) tryCatch(expr, riemdp_error = function(e) Inf)

# ---- everything --------------------------------------------------------------------------------------------------------------

rows <- list()
for (name in names(problems)) {
  case <- problems[[name]]
  sets <- list(tune = case$data(20), test = case$data(30))
  n <- if (length(dim(sets$test)) == 3) dim(sets$test)[3] else nrow(sets$test)
  if (n > tune_records) {
    sets$tune <- if (is.matrix(sets$tune)) sets$tune[seq_len(tune_records), ] else sets$tune[, , seq_len(tune_records)]
  }
  least <- lapply(sets, function(x) {
    start <- if (case$problem$kind == "frechet") frechet_mean(x, case$problem$manifold)$mean else svd(x, nu = 0, nv = 1)$v[, 1]
    case$factor * internal("nonprivate_objective")(case$problem, x, start)$loss
  })
  for (epsilon in epsilons) for (calibration in c("paper", "proven")) for (method in c("rgd", "rsgd", "rsvrg")) {
    grid <- grid_of(case, method, calibration, n)
    score <- vapply(seq_len(nrow(grid)), function(i) {
      ask <- ask_of(case, method, calibration, epsilon, n, grid[i, ])
      one <- function(seed) with_simulation(seed, course(case, sets$tune, ask, plan_of(ask), least$tune, ask$steps))
      safe(mean(c(one(i), one(-i))))
    }, 0)
    best <- grid[which.min(score), ]
    ask <- ask_of(case, method, calibration, epsilon, n, best)
    plan <- plan_of(ask)
    every <- if (method == "rsvrg") ask$inner else 1
    until <- unique(c(0, every * ceiling(ask$steps * (1:marks) / marks / every)))
    cost <- tryCatch(true_epsilon(ask, plan), riemdp_error = function(e) NA) # so little noise that no accountant prices it
    for (run in seq_len(runs)) {
      excess <- with_simulation(1000 + run, course(case, sets$test, ask, plan, least$test, until))
      rows[[length(rows) + 1]] <- data.frame(
        problem = name, epsilon = epsilon, calibration = calibration, method = method, run = run, evaluations = evaluations(ask, until),
        excess = excess, true_epsilon = cost, clip = paste(unique(ask$clip), collapse = "/"), lr = best$lr, batch = ask$batch,
        steps = ask$steps, noise_sd = plan$sd
      )
    }
    message(sprintf("%-6s epsilon %.1f %-6s %-5s: excess %.3g, true epsilon %.3g (clip %s, lr %.3g, batch %g, %d steps)", name, epsilon,
                    calibration, method, mean(vapply(utils::tail(rows, runs), function(r) utils::tail(r$excess, 1), 0)), cost,
                    paste(unique(ask$clip), collapse = "/"), best$lr, ask$batch, ask$steps))
  }
}
results <- do.call(rbind, rows)
utils::write.csv(results, file.path(output, "paper-002-optimisers-runs.csv"), row.names = FALSE)
same <- c("problem", "epsilon", "calibration", "method", "evaluations")
means <- results[results$run == 1, ]
for (i in seq_len(nrow(means))) {
  excess <- results$excess[Reduce(`&`, lapply(same, function(k) results[[k]] == means[[k]][i]))]
  means$excess_mean[i] <- mean(excess)
  means$excess_sd[i] <- stats::sd(excess)
}
means <- means[c(same, "excess_mean", "excess_sd", "true_epsilon", "clip", "lr", "batch", "steps", "noise_sd")]
rounded <- c("excess_mean", "excess_sd", "true_epsilon", "lr", "noise_sd")
means[rounded] <- lapply(means[rounded], signif, 4)
utils::write.csv(means[do.call(order, unname(means[same])), ], file.path(output, "paper-002-optimisers.csv"), row.names = FALSE)

# ---- picture -----------------------------------------------------------------------------------------------------------------

colours <- stats::setNames(riemdp_colours(3), c("rgd", "rsgd", "rsvrg"))
labels <- c(rgd = "DP-RGD", rsgd = "DP-RSGD", rsvrg = "DP-RSVRG")
grDevices::png(file.path(output, "paper-002-optimisers.png"), 330 * length(epsilons) + 40, 300 * length(problems) + 60, res = 96)
graphics::par(mfrow = c(length(problems), length(epsilons)), mar = c(3.2, 3.4, 2.6, 0.8), mgp = c(2, 0.6, 0), oma = c(2.4, 0, 0, 0), cex = 0.72)
for (name in names(problems)) for (epsilon in epsilons) {
  x <- results[results$problem == name & results$epsilon == epsilon, ]
  mean_of <- stats::aggregate(excess ~ evaluations + method + calibration, x, mean)
  mean_of <- mean_of[is.finite(mean_of$excess), ]
  graphics::plot(NA, xlim = range(x$evaluations), ylim = range(mean_of$excess), log = "y", xlab = "gradient evaluations", ylab = "excess risk",
                 main = sprintf("%s, epsilon %.1f", problems[[name]]$title, epsilon), cex.main = 0.95)
  ends <- character()
  for (method in names(colours)) for (calibration in c("proven", "paper")) {
    curve <- mean_of[mean_of$method == method & mean_of$calibration == calibration, ]
    curve <- curve[order(curve$evaluations), ]
    graphics::lines(curve$evaluations, curve$excess, col = colours[[method]], lty = if (calibration == "proven") 1 else 2, lwd = 1.6)
    if (calibration == "paper") {
      cost <- x$true_epsilon[x$method == method & x$calibration == calibration][1]
      ends <- c(ends, paste(labels[[method]], if (is.na(cost)) "beyond pricing" else format(signif(cost, 2))))
    }
  }
  graphics::legend("topright", ends, text.col = colours, bty = "n", cex = 0.8, title = "true epsilon of the paper's noise", title.col = "grey30")
}
graphics::par(fig = c(0, 1, 0, 1), oma = rep(0, 4), mar = rep(0, 4), new = TRUE)
graphics::plot.new()
graphics::legend("bottom", c(labels, "proven calibration", "paper's calibration"), col = c(colours, "grey30", "grey30"), lty = c(1, 1, 1, 1, 2), lwd = 1.6,
                 horiz = TRUE, bty = "n", cex = 0.75)
invisible(grDevices::dev.off())
