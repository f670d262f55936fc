# Excess mean squared error of dp_lm(method = "newton"), and of "descent" (`own_descent`), over least squares without noise, beside peers
# that need delta > 0 and are tuned in hindsight: each has the constants that do best in the cell. Writes regression-peers.csv beside this file, a row as soon as it is there, and
# goes on where it was stopped: Rscript bench/regression-peers.R [draws a cell] [draws of peers].
# The first ten cells are those where the package did badly before; thirty are drawn at random. Peers, each for the same delta = 1e-6:
#   adassp   Wang (2018), doi:10.48550/arXiv.1803.02596: noisy X'X, X'y and least eigenvalue; tuned: clip of y, share of the ridge
#   boosted  Tang (2023), doi:10.48550/arXiv.2303.03451: gradient boosting with AdaSSP; tuned: clip, rounds
#   descent  full-batch gradient descent, gradients of records clipped, priced by mu-GDP, second half averaged; tuned: clip, rounds, step
#   perturbed  objective perturbation with normal noise, Kifer, Smith and Thakurta (2012), of a Huber loss; tuned: its cut
suppressPackageStartupMessages(library(riemdp))
arguments <- commandArgs(TRUE)
draws <- if (length(arguments)) as.integer(arguments[1]) else 100L
of_peers <- if (length(arguments) > 1) as.integer(arguments[2]) else 10L
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
DELTA <- 1e-6

cells <- rbind(
  data.frame(law = "even", n = c(1000, 5000, 1000, 1e5, 1000, 20000, 5000, 20000, 10000), d = c(1, 1, 5, 10, 1, 20, 20, 50, 20),
             epsilon = c(1, 0.1, 1, 1, 1, 1, 1, 1, 1), r_squared = c(0.3, 0.9, 0.9, 0.5, 0.9, 0.3, 0.9, 0.5, 0.9))[-c(5, 9), ],
  data.frame(law = "quarter", n = c(1000, 1000, 10000), d = c(5, 1, 20), epsilon = 1, r_squared = c(0.5, 0.9, 0.9)))
set.seed(29)
random <- data.frame(law = sample(c("even", "quarter", "correlated", "skewed"), 30, TRUE), n = round(10^stats::runif(30, 2.7, 4.7)),
                     d = sample(c(1:5, 10, 20, 40), 30, TRUE), epsilon = signif(exp(stats::runif(30, log(0.3), log(4))), 2),
                     r_squared = sample(c(0, 0.3, 0.6, 0.9, 0.98), 30, TRUE), errors = rep(c("normal", "gamma"), 15))
cells <- rbind(cbind(cells, errors = "normal"), random)
cells$cell <- rep(c("before", "random"), c(10, 30))

records <- function(cell) {
  n <- cell$n
  d <- cell$d
  u <- switch(cell$law, even = matrix(stats::runif(n * d, -1, 1), n), quarter = matrix(stats::rnorm(n * d, sd = 0.25), n),
              correlated = 0.7 * stats::runif(n, -1, 1) + matrix(stats::runif(n * d, -0.3, 0.3), n),
              skewed = matrix(stats::rexp(n * d, 4), n) - 0.5)
  u[] <- pmin(1, pmax(-1, u))
  line <- drop(u %*% stats::rnorm(d))
  line <- (line - mean(line)) / stats::sd(line) * sqrt(cell$r_squared)
  e <- if (cell$errors == "normal") stats::rnorm(n) else (stats::rgamma(n, 4) - 4) / 2
  list(x = cbind(1, u), y = line + sqrt(1 - cell$r_squared) * e)
}
excess <- function(r, b) {
  off <- b - solve(crossprod(r$x) + diag(1e-9, ncol(r$x)), crossprod(r$x, r$y))
  mean((r$x %*% off)^2)
}
symmetric <- function(p, sd) {
  z <- matrix(stats::rnorm(p * p), p)
  sd * (z + t(z)) / 2
}
clipped <- function(y, clip) pmax(-clip, pmin(clip, y))
noisy_gram <- function(r, mu, share) {
  p <- ncol(r$x)
  sd <- sqrt(2) * p / (mu * sqrt(share))
  list(xx = crossprod(r$x) + symmetric(p, sd), lift = sd * sqrt(p * log(2 * p^2 / 0.05)))
}
least <- function(r, mu, share) {
  sd <- ncol(r$x) / (mu * sqrt(share))
  max(0, min(eigen(crossprod(r$x), TRUE, TRUE)$values) + sd * (stats::rnorm(1) - stats::qnorm(0.95)))
}
peers <- list(
  adassp = list(grid = expand.grid(clip = c(1, 2, 3), part = c(0.1, 0.3, 1)), fit = function(r, cell, mu, g) {
    gram <- noisy_gram(r, mu, 0.35)
    p <- ncol(r$x)
    xy <- crossprod(r$x, clipped(r$y, g$clip)) + stats::rnorm(p, sd = 2 * sqrt(p) * g$clip / (mu * sqrt(0.55)))
    solve(gram$xx + diag(max(0, g$part * gram$lift - least(r, mu, 0.1)) + 1e-6, p), xy)
  }),
  boosted = list(grid = expand.grid(clip = c(0.5, 1, 2), rounds = c(2, 5)), fit = function(r, cell, mu, g) {
    gram <- noisy_gram(r, mu, 0.3)
    p <- ncol(r$x)
    step <- solve(gram$xx + diag(max(0, gram$lift - least(r, mu, 0.1)) + 1e-6, p))
    b <- rep(0, p)
    for (t in seq_len(g$rounds)) {
      pull <- crossprod(r$x, clipped(r$y - drop(r$x %*% b), g$clip))
      b <- b + drop(step %*% (pull + stats::rnorm(p, sd = 2 * sqrt(p * g$rounds) * g$clip / (mu * sqrt(0.6)))))
    }
    b
  }),
  descent = list(grid = expand.grid(clip = c(0.03, 0.1, 0.25, 0.5, 1), rounds = c(10, 50), step = c(1, 3, 10)), fit = function(r, cell, mu, g) {
    p <- ncol(r$x)
    clip <- g$clip * sqrt(p)
    length <- sqrt(rowSums(r$x^2))
    b <- rep(0, p)
    sum <- 0
    for (t in seq_len(g$rounds)) {
      e <- clipped(r$y - drop(r$x %*% b), clip / length)
      b <- b + g$step * (drop(crossprod(r$x, e)) + stats::rnorm(p, sd = 2 * clip * sqrt(g$rounds) / mu)) / nrow(r$x)
      if (t > g$rounds / 2) sum <- sum + b
    }
    sum / floor(g$rounds / 2)
  }),
  perturbed = list(grid = expand.grid(tau = c(0.2, 0.5, 1, 2)), fit = function(r, cell, mu, g) {
    p <- ncol(r$x)
    most <- sqrt(p)
    sd <- g$tau * most * sqrt(8 * log(2 / DELTA) + 4 * cell$epsilon) / cell$epsilon
    ridge <- 2 * p / cell$epsilon
    noise <- stats::rnorm(p, sd = sd)
    b <- rep(0, p)
    h <- crossprod(r$x) + diag(ridge, p)
    for (i in 1:50) b <- b + drop(solve(h, crossprod(r$x, clipped(r$y - drop(r$x %*% b), g$tau)) - ridge * b - noise))
    b
  })
)
best_of <- function(peer, cell, mu, data) {
  at <- peer$grid
  # what does best in some draws is then looked at in as many others
  half <- seq_len(ceiling(length(data) / 2))
  errors <- vapply(seq_len(nrow(at)), function(i) {
    mean(vapply(data[half], function(r) tryCatch(excess(r, peer$fit(r, cell, mu, at[i, , drop = FALSE])), error = function(e) Inf), 0))
  }, 0)
  best <- at[which.min(errors), , drop = FALSE]
  mean(vapply(data, function(r) excess(r, peer$fit(r, cell, mu, best)), 0))
}
own <- function(r, cell, method = "newton") {
  names <- paste0("x", seq_len(cell$d))
  frame <- stats::setNames(data.frame(r$x[, -1, drop = FALSE], r$y), c(names, "y"))
  bounds <- c(stats::setNames(rep(list(c(-1, 1)), cell$d), names), list(y = c(center = 0, scale = 1)))
  fit <- dp_lm(stats::reformulate(names, "y"), frame, cell$epsilon, DELTA, bounds, method = method, guess = "trusted")
  c(excess = excess(r, coef(fit)), expected = fit$expected_error)
}
file <- file.path(dirname(script), "regression-peers.csv")
key <- function(t) paste(t$law, t$n, t$d, t$epsilon, t$r_squared, t$errors)
seen <- if (file.exists(file)) key(utils::read.csv(file)) else character()
for (i in order(cells$n * cells$d)) {
  cell <- cells[i, ]
  if (key(cell) %in% seen) next
  mu <- getFromNamespace("gaussian_mu", "riemdp")(cell$epsilon, DELTA)
  got <- with_simulation(i, {
    mine <- vapply(seq_len(draws), function(j) own(records(cell), cell), c(0, 0))
    steps <- vapply(seq_len(draws), function(j) own(records(cell), cell, "descent")[["excess"]], 0)
    data <- lapply(seq_len(of_peers), function(j) records(cell))
    best <- vapply(peers, best_of, 0, cell, mu, data)
    c(newton = mean(mine[1, ]), error = stats::sd(mine[1, ]) / sqrt(draws), expected = mean(mine[2, ]), best, own_descent = mean(steps))
  })
  row <- data.frame(cell, draws = draws, t(signif(got, 3)), ratio = signif(got[["newton"]] / min(got[names(peers)]), 3))
  utils::write.table(row, file, append = file.exists(file), sep = ",", row.names = FALSE, col.names = !file.exists(file))
}
