#!/usr/bin/env Rscript
# Geodesic regressions by the CRAN package GeodRegr (0.2.0; gradient descent), on small simulated data. Writes
# tests/testthat/reference/regression_geodregr.json. A minute or two.
#     Rscript tools/oracle/geodregr.R
suppressPackageStartupMessages({
  library(GeodRegr)
  library(jsonlite)
})

sphere_data <- function(n, q, d) {
  x <- matrix(runif(n * q), n)
  x <- x - rep(colMeans(x), each = n)
  v <- matrix(rnorm(q * d), q) * 0.8
  y <- t(vapply(seq_len(n), function(i) exp_map("sphere", c(1, numeric(d)), c(0, drop(x[i, ] %*% v))), numeric(d + 1)))
  y <- y + rnorm(length(y), sd = 0.1)
  y[1:3, ] <- y[1:3, ] + 0.5 # something for the robust losses
  list(x = x, y = y / sqrt(rowSums(y^2)))
}

hyperbolic_data <- function(n, d) {
  x <- matrix(runif(n), n)
  x <- x - mean(x)
  u <- cbind(0, x %*% t(seq(1, 0.2, length.out = d)) + rnorm(n * d, sd = 0.15))
  list(x = x, y = t(vapply(seq_len(n), function(i) drop(exp_map("hyperbolic", c(1, numeric(d)), u[i, ])), numeric(d + 1))))
}

shape_data <- function(n, k) {
  x <- matrix(runif(n), n)
  x <- x - mean(x)
  t <- 2 * pi * seq_len(k) / k
  z <- outer(exp(1i * t), rep(1, n)) + outer(cos(2 * t) + 0.5i * sin(t), x[, 1]) +
    complex(real = rnorm(k * n, sd = 0.08), imaginary = rnorm(k * n, sd = 0.08))
  z <- z - rep(colMeans(z), each = k)
  list(x = x, y = z / rep(sqrt(colSums(Mod(z)^2)), each = k))
}

numbers <- function(a) if (is.complex(a)) c(rbind(as.vector(Re(a)), as.vector(Im(a)))) else as.vector(a)

fit <- function(id, manifold, d, loss) {
  estimator <- c(squared = "l2", huber = "huber", lad = "l1")[[loss]]
  y <- if (is.complex(d$y)) d$y else t(d$y)
  g <- geo_reg(manifold, d$x, y, estimator, c = if (loss == "huber") 1.345, p_tol = 1e-9, V_tol = 1e-9, max_iter = 5000)
  message(id)
  list(id = id, manifold = manifold, loss = loss, size = nrow(y), x = d$x, y = numbers(y), p = numbers(g$p), v = numbers(g$V))
}

set.seed(20261121)
cases <- list()
for (loss in c("squared", "huber", "lad")) {
  set.seed(7)
  one <- sphere_data(40, 1, 2)
  two <- sphere_data(40, 2, 3)
  shapes <- shape_data(30, 5)
  cases <- c(cases, list(
    fit(paste("sphere", loss), "sphere", one, loss), fit(paste("sphere, two predictors,", loss), "sphere", two, loss),
    fit(paste("shapes", loss), "kendall", shapes, loss)
  ))
}
cases <- c(cases, list(fit("hyperbolic", "hyperbolic", hyperbolic_data(40, 3), "squared")))
writeLines(toJSON(cases, digits = I(17), auto_unbox = TRUE), "tests/testthat/reference/regression_geodregr.json")
