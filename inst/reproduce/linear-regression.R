# Private linear regression on 15 settings and on the wines: mean excess of the mean squared error over least squares (per response, in units of
# the squared public scale), by method. Writes linear-regression.csv to the folder given as first argument (here by default); the second is
# the number of draws for small n (300), fewer for large.
#   Rscript inst/reproduce/linear-regression.R [folder] [draws]
# "best statistics" is K-norm statistics at the best of a grid of clips and ridges, chosen with the result in hand: a comparison that no
# private analyst has. AdaSSP has delta = 1e-6. Everything is a simulation: releases are labelled not private.
library(riemdp)
arguments <- commandArgs(TRUE)
folder <- if (length(arguments) > 0) arguments[1] else "."
most <- if (length(arguments) > 1) as.numeric(arguments[2]) else 300
internal <- asNamespace("riemdp")

made <- function(name, n, epsilon, d, q, r_squared, law) {
  set.seed(n + 7 * d + 13 * q)
  u <- matrix(runif(n * d, -1, 1), n)
  beta <- matrix(rnorm(q * d), d)
  beta <- t(t(beta) / sqrt(colSums(beta^2))) * sqrt(3 * r_squared)
  e <- switch(law, normal = rnorm(n * q), t3 = rt(n * q, 3) / sqrt(3), gamma = (rgamma(n * q, 2) - 2) / sqrt(2),
              lognormal = (exp(rnorm(n * q)) - exp(0.5)) / sqrt(exp(2) - exp(1)))
  y <- u %*% beta + matrix(e, n) * sqrt(1 - r_squared) + 0.2 # the public centre is off
  colnames(u) <- paste0("x", seq_len(d))
  colnames(y) <- paste0("y", seq_len(q))
  range <- function(names, value) sapply(names, function(i) value, simplify = FALSE)
  setting(name, data.frame(u, y), colnames(u), colnames(y), epsilon,
          c(range(colnames(u), c(-1, 1)), range(colnames(y), c(center = 0, scale = 1.1))))
}

setting <- function(name, data, x, y, epsilon, bounds) list(name = name, data = data[c(x, y)], x = x, y = y, epsilon = epsilon, bounds = bounds)

z <- function(v) (v - mean(v)) / sqrt(mean((v - mean(v))^2))
wine_y <- c("fixed_acidity", "density", "pH", "residual_sugar")
wines <- function(n) {
  setting(paste("wine", n), cbind(red_wine[seq_len(n), "alcohol", drop = FALSE], lapply(red_wine[seq_len(n), wine_y], z)), "alcohol", wine_y, 2,
          c(list(alcohol = c(8, 14)), sapply(wine_y, function(i) c(center = 0, scale = 1), simplify = FALSE)))
}

settings <- list(
  made("small, large epsilon", 50, 8, 1, 1, 0.5, "normal"),
  made("small", 100, 1, 1, 1, 0.3, "normal"),
  made("skewed", 200, 2, 2, 1, 0.5, "gamma"),
  made("two responses, small epsilon", 500, 0.25, 1, 2, 0.3, "normal"),
  made("three predictors", 500, 1, 3, 1, 0.5, "normal"),
  made("five predictors, lognormal", 1000, 1, 5, 1, 0.5, "lognormal"),
  made("four responses", 2000, 0.5, 2, 4, 0.3, "normal"),
  made("five predictors, three responses, t3", 5000, 1, 5, 3, 0.5, "t3"),
  made("large, small epsilon", 20000, 0.25, 1, 1, 0.3, "normal"),
  made("R-squared .95", 1000, 1, 1, 1, 0.95, "normal"),
  made("R-squared 0", 1000, 1, 1, 1, 0, "normal"),
  made("t3", 300, 2, 1, 1, 0.4, "t3"),
  setting("airquality", airquality, c("Temp", "Wind"), "Ozone", 2,
          list(Temp = c(50, 100), Wind = c(0, 25), Ozone = c(center = 45, scale = 30))),
  setting("mtcars", mtcars, "wt", "mpg", 4, list(wt = c(1, 6), mpg = c(center = 20, scale = 6))),
  setting("quakes", quakes, "mag", "stations", 1, list(mag = c(4, 7), stations = c(center = 40, scale = 25))),
  wines(100), wines(1599)
)

run <- function(s) {
  formula <- as.formula(sprintf("cbind(%s) ~ %s", paste(s$y, collapse = ", "), paste(s$x, collapse = " + ")))
  spec <- internal$linear_terms(formula, s$data)
  bounds <- internal$linear_bounds(spec, s$bounds)
  columns <- internal$linear_columns(spec, bounds)
  records <- internal$linear_records(columns, bounds, internal$linear_values(spec, s$data, globalenv()))
  n <- nrow(s$data)
  d <- length(s$x)
  q <- length(s$y)
  whole <- records$x[1, ] == 1
  x <- records$x[, whole]
  y <- records$y[, whole, drop = FALSE]
  best <- t(solve(tcrossprod(x), tcrossprod(x, y)))
  excess <- function(b) mean(((b - best) %*% x)^2)
  draws <- max(40, round(most * min(1, 500 / n)))
  average <- function(release) with_simulation(1, {
    e <- vapply(seq_len(draws), function(i) excess(release()), 0)
    c(mean(e), sd(e) / sqrt(draws))
  })
  of <- function(method, delta = 0) {
    ask <- internal$linear_ask(n, d, q, s$epsilon, delta, method, 0.3, "auto")
    plan <- internal$plan_linear(ask)
    r <- internal$linear_records(columns, bounds, internal$linear_values(spec, s$data, globalenv()), TRUE,
                                if (!is.null(plan$check)) Inf else if (is.null(plan$reach)) internal$REACH else plan$reach)
    list(found = average(function() {
      out <- internal$release_linear(r$x, r$y, plan, ask)
      if (is.null(out$guess)) return(out$b)
      # in units of a guess that was searched for: back to those of the bounds
      b <- out$b * out$guess$scale
      b[, 1] <- b[, 1] + out$guess$center
      b
    }), expected = plan$error, method = plan$method)
  }
  grid <- Inf
  for (clip in sqrt(q) * c(1.5, 2.5, 4)) {
    size <- sqrt(colSums(records$y^2))
    moved <- records$y * rep(pmin(1, clip / pmax(size, 1e-300)), each = q)
    for (ridge in c(0, 0.3, 1, 3) * internal$statistics_sd(d, q, s$epsilon)[["one"]]) {
      grid <- min(grid, average(function() internal$solve_statistics(internal$release_statistics(records$x, moved, s$epsilon, clip, n), ridge))[1])
    }
  }
  auto <- of("auto")
  objective <- of("objective")
  data.frame(setting = s$name, n = n, epsilon = s$epsilon, predictors = d, responses = q, r_squared = 1 - sum((y - best %*% x)^2) / sum((y - rowMeans(y))^2),
             draws = draws, chosen = auto$method, auto = auto$found[1], se = auto$found[2], expected = auto$expected, objective = objective$found[1],
             recentred = of("recentred")$found[1], huber = of("huber")$found[1], statistics = of("statistics")$found[1], best_statistics = grid,
             adassp = of("adassp", 1e-6)$found[1], output = of("output")$found[1])
}

table <- do.call(rbind, lapply(settings, function(s) {
  row <- run(s)
  message(sprintf("%-38s auto %.5f (%s)", row$setting, row$auto, row$chosen))
  row
}))
write.csv(table, file.path(folder, "linear-regression.csv"), row.names = FALSE)
ratio <- function(column) exp(mean(log(table$auto[1:15] / table[[column]][1:15])))
cat(sprintf("auto over 15 settings, geometric means: %.2f of plain Huber, %.2f of K-norm statistics at their best, %.2f of AdaSSP\n",
            ratio("huber"), ratio("best_statistics"), ratio("adassp")))
