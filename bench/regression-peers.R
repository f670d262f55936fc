# Excess mean squared error of dp_lm(method = "newton"), and of "descent" (`own_descent`), over least squares without noise, beside peers
# that need delta > 0 and are tuned in hindsight: each has the constants that do best in the cell. Writes regression-peers.csv beside this file,
# a row as soon as it is there, and goes on where it was stopped:
# Rscript bench/regression-peers.R [draws a cell] [draws of peers] [pure, tukey or delta; all of them].
# The first ten cells are those where the package did badly before; thirty are drawn at random. Peers, each for the same delta = 1e-6:
#   adassp   Wang (2018), doi:10.48550/arXiv.1803.02596: noisy X'X, X'y and least eigenvalue; tuned: clip of y, share of the ridge
#   boosted  Tang (2023), doi:10.48550/arXiv.2303.03451: gradient boosting with AdaSSP; tuned: clip, rounds
#   descent  full-batch gradient descent, gradients of records clipped, priced by mu-GDP, second half averaged; tuned: clip, rounds, step
#   perturbed  objective perturbation with normal noise, Kifer, Smith and Thakurta (2012), of a Huber loss; tuned: its cut
#   tukey    TukeyEM, Amin, Joseph, Ribero and Vassilvitskii (2023), doi:10.48550/arXiv.2208.07353: fits of parts, the exponential mechanism of
#            their depth, restricted by a test; tuned: number of parts; for up to 5 predictors; the constant 0 where the test fails, and
#            nothing is told where it hardly ever passes. It has draws of its own
# regression-peers-pure.csv: pure dp_lm() (its choice, and each method that it has) with one predictor beside
#   theil_sen  DPExpTheilSen, Alabi, McMillan, Sarathy, Smith and Vadhan (2022), doi:10.48550/arXiv.2007.05157: records are matched, each pair predicts the
#            response at two places, the medians are drawn by the exponential mechanism; tuned: matchings, places, the responses' range
suppressPackageStartupMessages(library(riemdp))
arguments <- commandArgs(TRUE)
draws <- if (length(arguments)) as.integer(arguments[1]) else 100L
of_peers <- if (length(arguments) > 1) as.integer(arguments[2]) else 10L
what <- if (length(arguments) > 2) strsplit(arguments[3], ",")[[1]] else c("pure", "tukey", "delta")
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
key <- function(t) paste(t$law, t$n, t$d, t$epsilon, t$r_squared, t$errors)
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
# ---- peers with a look at their own -----------------------------------------------------------------------------------

# k matchings of the records, each of pairs that no other one has: a tournament's rounds
matched <- function(n, k) {
  m <- n - n %% 2
  order <- sample.int(n)[seq_len(m)]
  rounds <- sample.int(m - 1, min(k, m - 1))
  side <- function(sign) unlist(lapply(rounds, function(h) c(if (sign > 0) m else h %% (m - 1) + 1, (h + sign * seq_len(m / 2 - 1)) %% (m - 1) + 1)))
  list(i = order[side(1)], j = order[side(-1)], k = length(rounds))
}
# density exp(-rate |how many more values lie to one side than to the other|/2) on [-reach, reach]
drawn_median <- function(z, rate, reach) {
  ends <- c(-reach, sort(clipped(z, reach)), reach)
  count <- length(z)
  weight <- log(diff(ends)) - rate * abs(0:count - count / 2)
  at <- which.max(weight - log(-log(stats::runif(count + 1))))
  stats::runif(1, ends[at], ends[at + 1])
}
# The two medians have half of epsilon each, and a record is in k pairs
theil_sen <- list(grid = expand.grid(k = c(1, 10, 50), reach = c(2, 3, 5), place = c(0.15, 0.25, 0.5)), fit = function(r, cell, mu, g) {
  pair <- matched(nrow(r$x), g$k)
  x <- r$x[, 2]
  steep <- (r$y[pair$j] - r$y[pair$i]) / (x[pair$j] - x[pair$i])
  told <- function(place) (r$y[pair$i] + r$y[pair$j]) / 2 + steep * (place - (x[pair$i] + x[pair$j]) / 2)
  z <- vapply(c(-1, 1) * g$place, function(place) {
    values <- told(place)
    drawn_median(values[!is.na(values)], cell$epsilon / 2 / (2 * pair$k), g$reach)
  }, 0)
  c(mean(z), diff(z) / (2 * g$place))
})
# log volumes of the boxes of depth 1, 2, ...; `a`: sorted columns
depths <- function(a) {
  m <- nrow(a)
  top <- floor(m / 2)
  vapply(seq_len(top), function(h) sum(log(a[m + 1 - h, ] - a[h, ])), 0)
}
# how many models have to change before boxes at depth t are unsafe
safe_distance <- function(volume, epsilon, t) {
  top <- length(volume)
  safe <- function(k) {
    g <- seq_len(top - t - k - 1)
    any(volume[t - k - 1] - volume[t + k + 1 + g] - epsilon / 2 * g <= log(DELTA / (8 * exp(epsilon))))
  }
  k <- 0
  while (t - k - 1 >= 1 && t + k + 2 <= top && safe(k)) k <- k + 1
  k - 1
}
tukey <- list(grid = expand.grid(m = c(100, 200, 500, 1000, 2000)), fit = function(r, cell, mu, g) {
  p <- ncol(r$x)
  size <- floor(nrow(r$x) / g$m)
  if (size < p) return(rep(NA_real_, p))
  order <- sample.int(nrow(r$x))
  a <- vapply(seq_len(g$m), function(i) {
    of <- order[(i - 1) * size + seq_len(size)]
    qr.coef(qr(r$x[of, , drop = FALSE]), r$y[of])
  }, numeric(p))
  a <- apply(t(a) + 1e-10 * stats::runif(p * g$m), 2, sort, na.last = NA)
  volume <- depths(a)
  t <- floor(length(volume) / 2)
  half <- cell$epsilon / 2
  noise <- stats::rexp(1, half) * sample(c(-1, 1), 1)
  if (safe_distance(volume, half, t) + noise <= log(1 / (2 * DELTA)) / half) return(rep(0, p))
  h <- seq(t, length(volume) - 1)
  weight <- volume[h] + log1p(-exp(volume[h + 1] - volume[h])) + half * h
  h <- h[which.max(weight - log(-log(stats::runif(length(h)))))]
  outer <- rbind(a[h, ], a[g$m + 1 - h, ])
  inner <- rbind(a[h + 1, ], a[g$m - h, ])
  # the first coordinate that lies in the shell, those before it inside, those after it anywhere
  wide <- log(outer[2, ] - outer[1, ])
  narrow <- log(inner[2, ] - inner[1, ])
  first <- which.max(cumsum(c(0, narrow[-p])) + wide + log1p(-exp(narrow - wide)) + rev(cumsum(c(0, rev(wide)[-p]))) - log(-log(stats::runif(p))))
  b <- stats::runif(p, outer[1, ], outer[2, ])
  before <- seq_len(first - 1)
  b[before] <- stats::runif(first - 1, inner[1, before], inner[2, before])
  low <- inner[1, first] - outer[1, first]
  u <- stats::runif(1, 0, low + outer[2, first] - inner[2, first])
  b[first] <- if (u < low) outer[1, first] + u else inner[2, first] + u - low
  b
})
# in cells with so few predictors and so many records that some of the grid can be served
tukey_best <- function(cell, i) {
  if (cell$d > 5 || cell$n < 100 * (cell$d + 1)) return(NA_real_)
  with_simulation(1000 + i, {
    data <- lapply(seq_len(2 * of_peers), function(j) records(cell))
    found <- best_of(tukey, cell, 0, data)
    constant <- mean(vapply(data, function(r) excess(r, rep(0, cell$d + 1)), 0))
    if (found < 0.9 * constant) found else NA_real_ # the test hardly ever passes
  })
}
own <- function(r, cell, method = "newton", delta = DELTA) {
  names <- paste0("x", seq_len(cell$d))
  frame <- stats::setNames(data.frame(r$x[, -1, drop = FALSE], r$y), c(names, "y"))
  bounds <- c(stats::setNames(rep(list(c(-1, 1)), cell$d), names), list(y = c(center = 0, scale = 1)))
  fit <- dp_lm(stats::reformulate(names, "y"), frame, cell$epsilon, delta, bounds, method = method,
               guess = if (delta > 0) "trusted" else "checked")
  c(excess = excess(r, coef(fit)), expected = fit$expected_error)
}

# ---- pure, one predictor --------------------------------------------------------------------------------------------------

PURE <- c("auto", "objective", "recentred", "theil_sen")
set.seed(2007)
pure_cells <- data.frame(law = sample(c("even", "quarter", "correlated", "skewed"), 8, TRUE), n = round(10^stats::runif(8, 2.7, 4.4)), d = 1,
                         epsilon = signif(exp(stats::runif(8, log(0.3), log(4))), 2), r_squared = sample(c(0, 0.3, 0.6, 0.9, 0.98), 8, TRUE),
                         errors = rep(c("normal", "gamma"), 4), cell = "random")
pure_cells <- rbind(cells[cells$cell == "before" & cells$d == 1, names(pure_cells)], pure_cells)
pure_file <- file.path(dirname(script), "regression-peers-pure.csv")
pure_row <- function(cell, seed) {
  got <- with_simulation(seed, {
    mine <- vapply(PURE, function(m) {
      errors <- vapply(seq_len(draws), function(j) own(records(cell), cell, m, 0), c(0, 0))
      c(mean(errors[1, ]), stats::sd(errors[1, ]) / sqrt(draws), mean(errors[2, ]))
    }, numeric(3))
    peer <- best_of(theil_sen, cell, 0, lapply(seq_len(4 * of_peers), function(j) records(cell)))
    c(mine[1, ], error = mine[[2, 1]], expected = mine[[3, 1]], exp_theil_sen = peer)
  })
  data.frame(cell, draws = draws, t(signif(got, 3)), ratio = signif(got[["auto"]] / got[["exp_theil_sen"]], 3))
}
if ("pure" %in% what) {
  seen <- if (file.exists(pure_file)) key(utils::read.csv(pure_file)) else character()
  for (i in order(pure_cells$n)) {
    if (key(pure_cells[i, ]) %in% seen) next
    row <- pure_row(pure_cells[i, ], 100 + i)
    utils::write.table(row, pure_file, append = file.exists(pure_file), sep = ",", row.names = FALSE, col.names = !file.exists(pure_file))
  }
}

# ---- with delta -----------------------------------------------------------------------------------------------------------

file <- file.path(dirname(script), "regression-peers.csv")
done <- if (file.exists(file)) utils::read.csv(file)
if ("tukey" %in% what && !is.null(done)) { # rows that have none yet
  if (is.null(done$tukey)) done <- cbind(done[names(done) != "ratio"], tukey = NA_real_, ratio = done$ratio)
  at <- match(key(done), key(cells))
  for (row in which(is.na(done$tukey) & done$d <= 5)) {
    done$tukey[row] <- signif(tukey_best(cells[at[row], ], at[row]), 3)
    if (isTRUE(done$tukey[row] < min(done[row, names(peers)]))) done$ratio[row] <- signif(done$newton[row] / done$tukey[row], 3)
  }
  utils::write.table(done, file, sep = ",", row.names = FALSE)
}
seen <- key(done)
for (i in order(cells$n * cells$d)) {
  cell <- cells[i, ]
  if (!"delta" %in% what) break
  if (key(cell) %in% seen) next
  mu <- getFromNamespace("gaussian_mu", "riemdp")(cell$epsilon, DELTA)
  got <- with_simulation(i, {
    mine <- vapply(seq_len(draws), function(j) own(records(cell), cell), c(0, 0))
    steps <- vapply(seq_len(draws), function(j) own(records(cell), cell, "descent")[["excess"]], 0)
    data <- lapply(seq_len(of_peers), function(j) records(cell))
    best <- vapply(peers, best_of, 0, cell, mu, data)
    c(newton = mean(mine[1, ]), error = stats::sd(mine[1, ]) / sqrt(draws), expected = mean(mine[2, ]), best, own_descent = mean(steps))
  })
  got[["tukey"]] <- tukey_best(cell, i)
  row <- data.frame(cell, draws = draws, t(signif(got, 3)), ratio = signif(got[["newton"]] / min(got[c(names(peers), "tukey")], na.rm = TRUE), 3))
  utils::write.table(row, file, append = file.exists(file), sep = ",", row.names = FALSE, col.names = !file.exists(file))
}
