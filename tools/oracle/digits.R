# Cases for tools/oracle/digits.py: records that are hard for doubles, what the package computes of them, and how wrong it says that may be.
# One a line: space, parameters, what, first argument, second one, value, told error; numbers in hexadecimal, so that they are exact.
#   Rscript tools/oracle/digits.R COUNT SEED [ONLY] > cases
# COUNT cases of each kind, of the spaces whose name matches ONLY.

suppressPackageStartupMessages(library(riemdp))
args <- commandArgs(TRUE)
count <- as.integer(args[1])
set.seed(as.integer(args[2]))
only <- if (length(args) > 2) args[3] else ""

hex <- function(x) paste(sprintf("%a", as.vector(x)), collapse = " ")
normals <- function(n, d) matrix(rnorm(n * d), n)
directions <- function(n, d) {
  x <- normals(n, d)
  x / sqrt(rowSums(x^2))
}
# now and then as small as doubles are, where squares are 0
size <- function(n, from, to) ifelse(from < 0 & to < 20 & runif(n) < 0.03, 10^runif(n, -322, -100), 10^runif(n, from, to))
# some coordinates are 0, and some numbers are small beside the others
uneven <- function(x) x * ifelse(runif(length(x)) < 0.2, sample(c(0, 1e-3, 1e-9), length(x), TRUE), 1)

emit <- function(space, parameters, what, p, second, value, error) {
  cat(sprintf("%s|%s|%s|%s|%s|%s|%a\n", space, parameters, what, hex(p), hex(second), hex(value), error), sep = "")
}

# rows are records, matrices by columns; what the package refuses (points that are none, the cut locus) is no case
records <- function(space, parameters, M, p, q, v) {
  shape <- function(x) if (mf_facts(M)$rows > 0) matrix(x, mf_facts(M)$rows) else x
  for (i in seq_len(nrow(p))) {
    a <- shape(p[i, ])
    for (what in c("dist", "log", "exp")) {
      b <- shape(if (what == "exp") v[i, ] else q[i, ])
      f <- switch(what, dist = mf_dist, log = mf_log, exp = mf_exp)
      got <- tryCatch(f(M, a, b, error = TRUE), riemdp_error = function(e) NULL)
      if (is.null(got)) next
      emit(space, parameters, what, a, b, got$value, got$error)
      # the double that is nearest to the enclosed distance: what is told of it is as small as the set that encloses it
      if (what == "dist") {
        near <- got$value + c(-1, 1) * got$error
        told <- vapply(near, function(d) .Call(riemdp:::riemdp_certified_dist, M, a, b, d), 0)
        emit(space, parameters, "nearest", a, b, near[which.min(told)], min(told))
      }
    }
  }
}

sphere_cases <- function(d, n) {
  p <- uneven(directions(n, d + 1))
  p <- p / sqrt(rowSums(p^2))
  away <- directions(n, d + 1) * size(n, -16, 0.5)
  q <- sample(c(1, -1, 0), n, TRUE) * p + away
  q <- q / sqrt(rowSums(q^2))
  stretch <- function(x) x * (1 + sample(c(0, 1e-16, 1e-12, 4e-9), n, TRUE) * rnorm(n))
  v <- normals(n, d + 1)
  v <- v - rowSums(v * p) * p
  v <- v / sqrt(rowSums(v^2)) * size(n, -13, 1.5)
  records("sphere", d, sphere(d), stretch(p), stretch(q), v)
}

# a tangent vector with coordinates z at the point of the hyperboloid with space part a
hyperboloid_tangent <- function(a, z) {
  a0 <- sqrt(1 + rowSums(a^2))
  time <- rowSums(a * z)
  cbind(time, z + time / (1 + a0) * a)
}

hyperbolic_cases <- function(d, n, model) {
  far <- function(n) ifelse(runif(n) < 0.3, size(n, -13, 0), runif(n, 0, 32))
  a <- uneven(directions(n, d)) * sinh(far(n))
  z <- directions(n, d) * pmin(size(n, -13, 1.6), 32)
  M <- hyperbolic(d)
  at <- function(a) cbind(sqrt(1 + rowSums(a^2)), a)
  v <- hyperboloid_tangent(a, z)
  b <- directions(n, d) * sinh(far(n))
  near <- which(runif(n) < 0.7)
  for (i in near) b[i, ] <- tryCatch(mf_exp(M, at(a[i, , drop = FALSE])[1, ], v[i, ])[-1], riemdp_error = function(e) b[i, ])
  if (model == "ball") {
    down <- function(a) a / (1 + sqrt(1 + rowSums(a^2)))
    x <- down(a)
    records("ball", d, hyperbolic(d, "ball"), x, down(b), z * (1 - rowSums(x^2)) / 2)
  } else {
    records("hyperboloid", d, M, at(a), at(b), v)
  }
}

spd_cases <- function(k, n, metric = "affine") {
  one <- function(condition) {
    u <- qr.Q(qr(matrix(rnorm(k * k), k)))
    e <- condition^runif(k, -0.5, 0.5) * 10^runif(1, -3, 3)
    x <- u %*% (e * t(u))
    (x + t(x)) / 2
  }
  M <- spd(k, metric)
  p <- q <- v <- matrix(0, n, k * k)
  for (i in seq_len(n)) {
    a <- one(10^runif(1, 0, 12))
    s <- matrix(rnorm(k * k), k)
    s <- s + t(s)
    l <- t(chol(a))
    w <- l %*% (s / sqrt(sum(s^2)) * size(1, -13, 1.5)) %*% t(l)
    w <- (w + t(w)) / 2
    b <- if (runif(1) < 0.4) one(10^runif(1, 0, 12)) else tryCatch(mf_exp(M, a, w), riemdp_error = function(e) one(10))
    p[i, ] <- a
    q[i, ] <- b
    v[i, ] <- w
  }
  records(if (metric == "affine") "spd" else metric, k, M, p, q, v)
}

# The arithmetic itself: numbers of two doubles with no set around them.
arithmetic_cases <- function(n) {
  number <- function(hi) {
    lo <- hi * runif(n, -1, 1) * 2^-54
    rbind(hi, ifelse(runif(n) < 0.1, 0, lo), 0)
  }
  any <- function(from, to) sample(c(-1, 1), n, TRUE) * 10^runif(n, from, to)
  near <- any(-9, 9)
  arguments <- list(
    add = list(near, ifelse(runif(n) < 0.5, -near * (1 + any(-16, 0)), any(-9, 9))), multiply = list(any(-9, 9), any(-9, 9)),
    divide = list(any(-9, 9), any(-9, 9)), root = list(abs(any(-9, 9))), sine = list(any(-9, 1)), cosine = list(any(-9, 1)),
    sinh = list(any(-9, 1.5)), cosh = list(any(-9, 1.5)), exp = list(any(-9, 1.5)), log = list(abs(any(-9, 9))),
    asinh = list(abs(any(-9, 9))), angle = list(abs(any(-9, 0)), any(-9, 0))
  )
  for (operation in names(arguments)) {
    x <- number(arguments[[operation]][[1]])
    y <- if (length(arguments[[operation]]) > 1) number(arguments[[operation]][[2]]) else 0 * x
    z <- matrix(.Call(riemdp:::riemdp_twofold, operation, as.vector(x), as.vector(y)), 3)
    for (i in seq_len(n)) emit("arithmetic", 0, operation, x[, i], y[, i], z[, i], z[3, i])
  }
}

# Means of few records with weights, by a solver that may stop early.
mean_cases <- function(space, M, n) {
  d <- mf_facts(M)$dimension
  for (i in seq_len(n)) {
    spread <- 10^runif(1, -8, if (space == "sphere") 0 else 0.5)
    base <- as.vector(as.matrix(mf_points(mf_random(M, 1), M)))
    x <- tryCatch(mf_exp(M, base, mf_from_coords(M, base, matrix(rnorm(5 * d, sd = spread / sqrt(d)), 5))), riemdp_error = function(e) NULL)
    if (is.null(x)) next
    w <- sample(c(1, runif(1)), 5, TRUE)
    fit <- suppressWarnings(frechet_mean(x, M, w, tol = 10^runif(1, -12, -1), error = TRUE))
    emit(space, d, "mean", t(x), w, fit$mean, fit$error_bound)
  }
}

spaces <- list(
  means = function() for (d in 1:3) {
    mean_cases("sphere", sphere(d), count)
    mean_cases("hyperboloid", hyperbolic(d), count)
    mean_cases("ball", hyperbolic(d, "ball"), count)
  },
  arithmetic = function() arithmetic_cases(20 * count),
  sphere = function() for (d in 1:6) sphere_cases(d, count), hyperboloid = function() for (d in 1:6) hyperbolic_cases(d, count, "hyperboloid"),
  ball = function() for (d in 1:6) hyperbolic_cases(d, count, "ball"), spd = function() for (k in 1:6) spd_cases(k, ceiling(count / 20) + 1),
  logeuclidean = function() for (k in 1:6) spd_cases(k, ceiling(count / 20) + 1, "logeuclidean")
)
for (space in grep(only, names(spaces), value = TRUE)) spaces[[space]]()
