# Excess loss of dp_glm() for logistic regression over the fit without privacy, per record, beside objective perturbation as published, with the
# ridge that does best in each cell in hindsight. Writes logistic-peers.csv beside this file: Rscript bench/logistic-peers.R [draws a cell].
#   published  Chaudhuri, Monteleoni and Sarwate (2011), doi:10.48550/arXiv.0912.0071, algorithm 2: features shortened to length 1 by the root of
#              d + 1, noise of density prop. to exp(-e1 |b|/2), e1 = epsilon - 2 log(1 + 1/(4 n Lambda)). The price is that of its theorem 9
#   apart      the same with the features' cube and the noise of the largest coefficient, and log(1 + t/4) once: what dp_glm() has, but for the
#              shared budget
suppressPackageStartupMessages(library(riemdp))
arguments <- commandArgs(TRUE)
draws <- if (length(arguments)) as.integer(arguments[1]) else 100L
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])

cells <- rbind(expand.grid(n = c(300, 1000, 10000), d = c(1, 4, 10), epsilon = c(0.3, 1, 3), law = "even", stringsAsFactors = FALSE),
               expand.grid(n = 1000, d = c(1, 4), epsilon = c(0.3, 1, 3), law = c("rare", "strong"), stringsAsFactors = FALSE))

records <- function(cell) {
  u <- matrix(stats::runif(cell$n * cell$d, -1, 1), cell$n)
  slope <- switch(cell$law, strong = 4, 1) * rep_len(c(1.5, -1, 0.5), cell$d) / sqrt(cell$d)
  list(u = u, y = stats::rbinom(cell$n, 1, stats::plogis(switch(cell$law, rare = -3, 0.3) + drop(u %*% slope))))
}

loss <- function(b, x, y) mean(log1p(exp(-abs(x %*% b))) + pmax(x %*% b, 0) - y * (x %*% b))

# the minimiser of the mean loss + ridge |B|^2/2 + <b, B>/n by Newton's steps that don't raise it
fit <- function(x, y, ridge, b) {
  n <- nrow(x)
  goal <- function(B) loss(B, x, y) + sum(ridge * B^2) / (2 * n) + sum(b * B) / n
  B <- numeric(ncol(x))
  for (i in 1:200) {
    p <- stats::plogis(drop(x %*% B))
    gradient <- (drop(crossprod(x, p - y)) + ridge * B + b) / n
    if (sum(gradient^2) < 1e-18) break
    step <- solve(crossprod(x, x * (p * (1 - p))) + diag(ridge, ncol(x)), n * gradient)
    s <- 1
    while (goal(B - s * step) > goal(B) && s > 1e-9) s <- s / 2
    B <- B - s * step
  }
  B
}

peers <- list(
  published = function(x, y, epsilon, e1) {
    scale <- sqrt(ncol(x))
    ridge <- 1 / (4 * expm1((epsilon - e1) / 2)) # n Lambda
    z <- stats::rnorm(ncol(x))
    b <- z / sqrt(sum(z^2)) * stats::rgamma(1, ncol(x), e1 / 2)
    fit(x / scale, y, rep(ridge, ncol(x)), b) / scale
  },
  apart = function(x, y, epsilon, e1) {
    t <- 4 * expm1(epsilon - e1)
    b <- stats::rgamma(1, ncol(x) + 1, e1 / 2) * stats::runif(ncol(x), -1, 1)
    fit(x, y, rep(ncol(x) / t, ncol(x)), b)
  }
)

rows <- NULL
for (i in seq_len(nrow(cells))) {
  cell <- cells[i, ]
  set.seed(i)
  r <- records(cell)
  x <- cbind(1, r$u)
  best <- loss(fit(x, r$y, rep(1e-9, ncol(x)), 0), x, r$y)
  frame <- data.frame(r$u, y = r$y)
  bounds <- c(stats::setNames(rep(list(c(-1, 1)), cell$d), names(frame)[seq_len(cell$d)]), list(y = c(0, 1)))
  own <- replicate(draws, loss(coef(dp_glm(y ~ ., frame, cell$epsilon, bounds)), x, r$y) - best)
  out <- data.frame(cell, constant = loss(c(stats::qlogis(mean(r$y)), numeric(cell$d)), x, r$y) - best, dp_glm = mean(own),
                    error = stats::sd(own) / sqrt(draws))
  for (name in names(peers)) {
    tried <- vapply(c(0.3, 0.5, 0.7, 0.8, 0.9, 0.97), function(share) {
      mean(replicate(draws, loss(peers[[name]](x, r$y, cell$epsilon, share * cell$epsilon), x, r$y) - best))
    }, 0)
    out[[name]] <- min(tried)
  }
  rows <- rbind(rows, out)
  numbers <- vapply(rows, is.numeric, NA)
  shown <- rows
  shown[numbers] <- lapply(rows[numbers], signif, 3)
  utils::write.csv(shown, file.path(dirname(script), "logistic-peers.csv"), row.names = FALSE, quote = FALSE)
  print(shown[i, ], row.names = FALSE)
}
