# Numerical companion of inst/proofs/*.md: base R only, no package needed, under a minute.
#   Rscript tools/proofs/check.R
# Nothing in the proofs rests on this script. It looks for mistakes: every inequality on a grid, every statement
# on random and on extremal data. A line that starts with FAIL makes the exit status 1.

set.seed(1)
failed <- FALSE
check <- function(name, ok, figure = NULL) {
  if (!isTRUE(ok)) failed <<- TRUE
  cat(sprintf("%-4s %s%s\n", if (isTRUE(ok)) "ok" else "FAIL", name,
              if (is.null(figure)) "" else paste0("  [", paste(format(figure, digits = 6), collapse = ", "), "]")))
}

# ---- scalar functions -------------------------------------------------------------------------------------------
a_fun <- function(s) ifelse(abs(s) < 1e-2, 1 - s^2 / 3 - s^4 / 45 - 2 * s^6 / 945, s / tan(s))
b_fun <- function(s) ifelse(abs(s) < 1e-2, 1 + s^2 / 6 + 7 * s^4 / 360 + 31 * s^6 / 15120, s / sin(s))
coth_fun <- function(s) ifelse(abs(s) < 1e-2, 1 + s^2 / 3 - s^4 / 45, s / tanh(s))
F_fun <- function(c) asinh(sqrt(c)) / sqrt(c * (1 + c))
Delta <- function(r, n) 2 * tan(r) / n * F_fun(r * tan(r) / (3 * n))            # curvature 1
Delta0 <- function(r, n, kappa) if (kappa > 0) Delta(r * sqrt(kappa), n) / sqrt(kappa) else 2 * r / n
S_fun <- function(r) {                                                        # curvature 1, by bisection
  g <- function(c) {
    d <- acos(cos(r)^2 - c * sin(r)^2)
    sin(r)^2 * (sin(d) - d * cos(d)) / (d * sin(d)^2) - c / (1 - c^2)
  }
  c <- uniroot(g, c(0, 1 - 1e-9), tol = 1e-14)$root
  2 * b_fun(acos(cos(r)^2 - c * sin(r)^2)) * sin(r) * sqrt(1 - c^2)
}

# ---- mean-sensitivity.md: inequalities on a grid ------------------------------------------------------------------
s <- seq(1e-3, pi / 2 - 1e-3, length.out = 4000)
q <- a_fun(s) * (1 - a_fun(s)) / s^2
check("q <= 1/3 - 4s^2/45 - 4s^4/315", all(q <= 1 / 3 - 4 * s^2 / 45 - 4 * s^4 / 315 + 1e-9))
h <- (s - sin(s) * cos(s)) / (sin(s) - s * cos(s))
check("h = -a'/b' decreases", all(diff(h[s > .02]) < 0))
y <- (1 - a_fun(s)) / sin(s)^2
k <- s <= pi / 3
check("y (3 - 3D/2) <= 1 up to pi/3", all((y * (3 - 1.5 * sin(s)^2))[k] <= 1 + 1e-9))

grid <- expand.grid(r = seq(.02, pi / 4 - 1e-4, length.out = 300), f = seq(0, 1, length.out = 300))
r <- grid$r; t <- grid$f * r; A <- sin(r)^2; T <- sin(t)^2
ds <- acos(cos(r) * cos(t)); d0 <- acos(pmin(1, cos(r) / cos(t)))
den <- cos(r) * T + b_fun(ds) * cos(t) * A
R <- b_fun(ds) * sin(r) * sqrt(1 + T * A * (1 - a_fun(ds))^2 / den^2)
check("R_t <= a(d0) tan r", all(R <= a_fun(d0) * tan(r) + 1e-12), max((R / (a_fun(d0) * tan(r)))[grid$f > 0]))
i <- grid$f > .05 & r > .1
slack <- (1 - b_fun(t) * R / (a_fun(d0) * tan(r))) / (r^2 * t^2)
check("b(t) R_t <= a(d0) tan r", all(b_fun(t) * R <= a_fun(d0) * tan(r) + 1e-12), min(slack[i]))
check("r b(t)^2 <= a(d0) tan r", all(r * b_fun(t)^2 <= a_fun(d0) * tan(r) + 1e-12))
yy <- (1 - a_fun(ds)) / sin(ds)^2
psi <- (1 - A) * yy^2 / (1 - A * yy)^2
eps2 <- T * A * (1 - a_fun(ds))^2 / den^2
check("eps_t^2 = T A psi", all(abs(eps2 - T * A * psi) < 1e-12))
check("psi <= 8/(7 - 3T)^2", all(psi <= 8 / (7 - 3 * T)^2 + 1e-9))
cubic <- (1 + T / 2 + T^2 / 3) * (168 + 164 * T - 228 * T^2) / 945
check("8/(7 - 3T)^2 <= the polynomial", all(8 / (7 - 3 * T)^2 <= cubic), min(cubic - 8 / (7 - 3 * T)^2))
for (rr in c(.2, .5, .78)) for (f in c(.3, .7, .99)) {
  tt <- f * rr; c0 <- cos(rr) / cos(tt); dd0 <- acos(c0); aa <- a_fun(dd0); qq <- aa * (1 - aa) / dd0^2
  d <- seq(1e-3, 2 * rr, length.out = 2000)
  g <- qq * a_fun(d) + (1 - qq) * c0 * b_fun(d)
  if (any(g < aa - 1e-10)) check("Lemma A's g has its minimum at d0", FALSE)
}
check("Lemma A's g has its minimum at d0", TRUE)
check("integral of 1/(1 + 4cs(1-s))", abs(integrate(function(s) 1 / (1 + 4 * .3 * s * (1 - s)), 0, 1)$value - F_fun(.3)) < 1e-8)
cat("     n Delta/2r at pi/8, n = 2, 5, 10, 1e6:", format(sapply(c(2, 5, 10, 1e6), function(n) n * Delta(pi / 8, n) / (pi / 4)), digits = 5),
    "; at .78:", format(1e6 * Delta(.78, 1e6) / 1.56, digits = 5), "\n")
cat("     S/2r at .2, pi/8, .6, .78:", format(sapply(c(.2, pi / 8, .6, .78), function(r) S_fun(r) / (2 * r)), digits = 5), "\n")

# ---- manifolds: a point is a vector -------------------------------------------------------------------------------
sphere <- list(k_min = 1, k_max = 1, dim = 2, o = c(1, 0, 0),
  dist = function(p, q) 2 * atan2(sqrt(sum((p - q)^2)), sqrt(sum((p + q)^2))),
  log = function(p, q) { v <- q - sum(p * q) * p; m <- sqrt(sum(v^2)); if (m < 1e-15) 0 * p else v / m * atan2(m, sum(p * q)) },
  exp = function(p, v) { m <- sqrt(sum(v^2)); x <- cos(m) * p + (if (m < 1e-15) v else sin(m) / m * v); x / sqrt(sum(x^2)) },
  inner = function(p, u, v) sum(u * v), from = function(a) c(0, a))
lor <- function(x, y) sum(x[-1] * y[-1]) - x[1] * y[1]
hyper <- list(k_min = -1, k_max = -1, dim = 2, o = c(1, 0, 0),
  dist = function(p, q) 2 * asinh(sqrt(max(0, lor(p - q, p - q))) / 2),
  log = function(p, q) { d <- 2 * asinh(sqrt(max(0, lor(p - q, p - q))) / 2)
    (if (d < 1e-8) 1 else d / sinh(d)) * ((q - p) - 2 * sinh(d / 2)^2 * p) },
  exp = function(p, v) { m <- sqrt(max(0, lor(v, v))); x <- cosh(m) * p + (if (m < 1e-15) 1 else sinh(m) / m) * v
    x[1] <- sqrt(1 + sum(x[-1]^2)); x },
  inner = function(p, u, v) lor(u, v), from = function(a) c(0, a))
product <- list(k_min = -1, k_max = 1, dim = 4, o = c(1, 0, 0, 1, 0, 0),
  dist = function(p, q) sqrt(sphere$dist(p[1:3], q[1:3])^2 + hyper$dist(p[4:6], q[4:6])^2),
  log = function(p, q) c(sphere$log(p[1:3], q[1:3]), hyper$log(p[4:6], q[4:6])),
  exp = function(p, v) c(sphere$exp(p[1:3], v[1:3]), hyper$exp(p[4:6], v[4:6])),
  inner = function(p, u, v) sum(u[1:3] * v[1:3]) + lor(u[4:6], v[4:6]), from = function(a) c(0, a[1:2], 0, a[3:4]))
sym_fun <- function(X, f) { e <- eigen((X + t(X)) / 2, symmetric = TRUE); e$vectors %*% (f(e$values) * t(e$vectors)) }
spd <- function(k) {
  mat <- function(x) matrix(x, k)
  list(k_min = -1 / 2, k_max = 0, dim = k * (k + 1) / 2, o = c(diag(k)),
    dist = function(p, q) { L <- t(chol(mat(p))); W <- forwardsolve(L, t(forwardsolve(L, mat(q))))
      sqrt(sum(log(eigen((W + t(W)) / 2, symmetric = TRUE, only.values = TRUE)$values)^2)) },
    log = function(p, q) { L <- t(chol(mat(p))); W <- forwardsolve(L, t(forwardsolve(L, mat(q)))); c(L %*% sym_fun(W, log) %*% t(L)) },
    exp = function(p, v) { L <- t(chol(mat(p))); W <- forwardsolve(L, t(forwardsolve(L, mat(v)))); c(L %*% sym_fun(W, exp) %*% t(L)) },
    inner = function(p, u, v) { P <- solve(mat(p)); sum(diag(P %*% mat(u) %*% P %*% mat(v))) },
    from = function(a) { S <- matrix(0, k, k); S[lower.tri(S)] <- a[-(1:k)] / sqrt(2); S <- S + t(S); diag(S) <- a[1:k]; c(S) })
}
flat <- list(k_min = 0, k_max = 0, dim = 2, o = c(0, 0), dist = function(p, q) sqrt(sum((p - q)^2)), log = function(p, q) q - p,
  exp = function(p, v) p + v, inner = function(p, u, v) sum(u * v), from = identity)
norm_at <- function(M, p, v) sqrt(max(0, M$inner(p, v, v)))
in_ball <- function(M, r, boundary = FALSE) { a <- rnorm(M$dim); M$exp(M$o, M$from(a / sqrt(sum(a^2)) * r * if (boundary) 1 else runif(1)^(1 / 2))) }
mean_log <- function(M, p, X, w = rep(1 / ncol(X), ncol(X))) drop(sapply(seq_len(ncol(X)), function(i) M$log(p, X[, i])) %*% w)

# ---- mean-solver.md -------------------------------------------------------------------------------------------------
solver <- function(r, k_min, k_max, tau) {
  rho <- r * sqrt(max(0, k_max)); kr <- r * sqrt(max(0, -k_min))
  zeta <- coth_fun(kr); a1 <- if (k_max > 0) a_fun(rho) else 1; h <- if (k_max > 0) (3 + a_fun(2 * rho)) / 4 else 1
  t <- min(a1 / zeta, 2 / (zeta * (zeta + h)))
  q <- sqrt((1 - t * h)^2 + (zeta - 1) * t^2 * h^2)
  steps <- if (zeta * r <= tau) 0 else if (q == 0) 1 else ceiling(log(zeta * r / tau) / -log(q))
  list(t = t, q = q, h = h, L = zeta, steps = steps)
}
solve_mean <- function(M, X, r, tau = 1e-12) {
  s <- solver(r, M$k_min, M$k_max, tau); p <- M$o
  for (i in seq_len(s$steps)) p <- M$exp(p, s$t * mean_log(M, p, X))
  p
}
cases <- list(list("S2, pi/8", sphere, pi / 8), list("S2, .78", sphere, .78), list("H2, 1", hyper, 1), list("H2, 3", hyper, 3),
              list("SPD(2), 1.5", spd(2), 1.5), list("SPD(3), 1.5", spd(3), 1.5), list("S2 x H2, .7", product, .7), list("flat, 2", flat, 2))
for (cs in cases) {
  M <- cs[[2]]; r <- cs[[3]]; tau <- 1e-9; s <- solver(r, M$k_min, M$k_max, tau); worst <- 0; out <- 0; grad <- 0
  for (rep in 1:12) {
    n <- sample(c(1, 2, 3, 8), 1)
    X <- sapply(seq_len(n), function(i) in_ball(M, r, rep %% 2 == 0))
    if (rep %% 3 == 0 && n > 1) X[, -1] <- X[, 1]                       # one cluster and one outlier
    m <- solve_mean(M, X, r); p <- M$o; tr <- M$dist(p, m)
    for (i in seq_len(s$steps)) {
      p <- M$exp(p, s$t * mean_log(M, p, X)); d <- M$dist(p, m)
      if (tr > 1e-5) worst <- max(worst, d / tr)
      out <- max(out, M$dist(M$o, p) - r); tr <- d
    }
    grad <- max(grad, norm_at(M, p, mean_log(M, p, X)))
  }
  check(sprintf("solver %-12s t = %.4f, q = %.4f, T = %d; worst ratio seen, gradient at the end", cs[[1]], s$t, s$q, as.integer(s$steps)),
        worst <= s$q + 1e-6 && out < 1e-9 && grad <= tau, c(worst, grad))
}

cat("     T(r, k_min, k_max) at tau = 1e-10:\n")
for (z in list(c(2, 0, 0), c(pi / 8, 1, 1), c(.6, 1, 1), c(.78, 1, 1), c(pi / 8 * .999, 1, 4), c(.5, 0, 2), c(1, -1, -1), c(3, -1, -1), c(1.5, -.5, 0),
               c(.7, -.5, 1))) {
  w <- solver(z[1], z[2], z[3], 1e-10)
  cat(sprintf("     r = %.4f, K in [%.1f, %.1f]: t = %.4f, h' = %.4f, zeta = %.4f, q = %.4f, T = %d\n", z[1], z[2], z[3], w$t, w$h, w$L, w$q,
              as.integer(w$steps)))
}
# the radial projection can increase distances to the ball's points: real projective plane, r = .78, a point .05 outside
rp <- function(p, q) acos(min(1, abs(sum(p * q))))
at <- function(phi) c(cos(phi), sin(phi))
check("projection on RP^2: distance before, after", rp(at(-.78), at(.83)) < rp(at(-.78), at(.78)), c(rp(at(-.78), at(.83)), rp(at(-.78), at(.78))))

# ---- mean-sensitivity.md: random and extremal neighbours --------------------------------------------------------------
for (cs in cases[c(1, 2, 3, 5, 7)]) {
  M <- cs[[2]]; r <- cs[[3]]; best <- 0; wrapped <- 0
  for (rep in 1:60) {
    n <- sample(c(2, 3, 5, 9), 1)
    X <- sapply(seq_len(n), function(i) in_ball(M, r, TRUE)); Y <- X; Y[, 1] <- in_ball(M, r, TRUE)
    if (rep %% 2 == 0) {                                                # the moved record crosses the ball
      v <- M$log(M$o, X[, 1]); Y[, 1] <- M$exp(M$o, -v)
      if (rep %% 4 == 0 && n > 2) for (i in 2:n) X[, i] <- Y[, i] <- M$exp(M$o, (-1)^i * M$log(M$o, X[, 2]))
    }
    m1 <- solve_mean(M, X, r, 1e-11); m2 <- solve_mean(M, Y, r, 1e-11); D <- Delta0(r, n, M$k_max)
    best <- max(best, M$dist(m1, m2) / D)
    wrapped <- max(wrapped, norm_at(M, M$o, M$log(M$o, m1) - M$log(M$o, m2)) / D)
  }
  check(sprintf("mean %-12s largest move / Delta, largest wrapped move / Delta", cs[[1]]), max(best, wrapped) <= 1 + 1e-8, c(best, wrapped))
}
ext <- sapply(c(11, 101, 1001), function(n) {
  X <- cbind(sphere$exp(sphere$o, c(0, 0, pi / 8)), sphere$exp(sphere$o, c(0, pi / 8, 0)), sphere$exp(sphere$o, c(0, -pi / 8, 0)))
  w <- c(1 / n, (n - 1) / (2 * n), (n - 1) / (2 * n)); p <- sphere$o
  for (i in 1:60) p <- sphere$exp(p, mean_log(sphere, p, X, w))
  2 * sphere$dist(p, sphere$o) / Delta(pi / 8, n)
})
check("extremal data on S2, pi/8, n = 11, 101, 1001: move / Delta", all(ext <= 1) && ext[3] > .9995, ext)

# ---- gradient-sensitivity.md --------------------------------------------------------------------------------------------
for (r in c(.3, .6, .78)) {
  top <- 0
  for (rep in 1:4000) {
    m <- in_ball(sphere, r, rep %% 2 == 0); x <- in_ball(sphere, r, TRUE); z <- in_ball(sphere, r, TRUE)
    top <- max(top, sqrt(sum((sphere$log(m, x) - sphere$log(m, z))^2)))
  }
  check(sprintf("S at r = %.2f: largest seen / S", r), top <= S_fun(r) * (1 + 1e-12), top / S_fun(r))
}

# ---- laplace.md -----------------------------------------------------------------------------------------------------------
sinhc <- function(x) ifelse(abs(x) < 1e-6, 1 + x^2 / 6, sinh(x) / x)
bad <- 0
for (rep in 1:20000) {
  k <- sample(2:8, 1); v <- rnorm(k) * rexp(1, .5); g <- abs(outer(v, v, "-"))[lower.tri(diag(k))] / 2
  bad <- max(bad, sum(log(sinhc(g))) - k * (k - 1) / 2 * log(sinhc(sqrt(sum(v^2) / (2 * (k - 1))))))
}
check("SPD area element <= its bound (largest log ratio)", bad <= 1e-10, bad)
sinc <- function(x) ifelse(abs(x) < 1e-6, 1 - x^2 / 6, sin(x) / x)
bad <- 0
for (rep in 1:20000) {
  rr <- sample(2:4, 1); mm <- 2 * rr + sample(0:3, 1); s <- runif(rr, 0, pi / 2); up <- lower.tri(diag(rr)); N <- rr * (mm - rr) - rr
  J <- sum(log(sinc((outer(s, s, "-"))[up]))) + sum(log(sinc((outer(s, s, "+"))[up]))) + (mm - 2 * rr) * sum(log(sinc(s)))
  bad <- max(bad, J - N * log(sinc(sqrt(sum(s^2) * (mm - 2) / N))))
}
check("Grassmann area element <= its bound (largest log ratio)", bad <= 1e-10, bad)
# SPD(2) = R x H^2(-1/2): mean radius of the two-stage sampler against quadrature
sigma <- .3; N <- 2e5
dens <- function(x) x^2 * exp(-x / sigma) * sinhc(x / sqrt(2)); rho_grid <- seq(0, 12, length.out = 20001)
cdf <- cumsum(dens(rho_grid)); rho <- approx(cdf / max(cdf), rho_grid, runif(N), rule = 2)$y
a <- matrix(rnorm(3 * N), 3); a <- sweep(a, 2, rho / sqrt(colSums(a^2)), "*")
gap <- sqrt(2 * a[1, ]^2 + 2 * a[2, ]^2)                                       # v1 - v2, orthonormal coordinates
keep <- runif(N) < sinhc(gap / 2) / sinhc(rho / sqrt(2))
radial <- function(p) integrate(function(x) sapply(x, function(z) z^(2 + p) * exp(-z / sigma) *
  integrate(function(u) sinhc(z * sqrt(1 - u^2) / sqrt(2)), 0, 1)$value), 0, 12)$value
exact <- radial(1) / radial(0)
check("two-stage sampler on SPD(2): mean radius, quadrature, acceptance", abs(mean(rho[keep]) - exact) < 5 * sd(rho[keep]) / sqrt(sum(keep)),
      c(mean(rho[keep]), exact, mean(keep)))

# ---- gaussian.md ----------------------------------------------------------------------------------------------------------
# Lemma 3: J/beta decreases along every ray
bad <- -Inf
for (rep in 1:5000) {
  k <- sample(2:8, 1); v <- rnorm(k); v <- v / sqrt(sum(v^2)); t <- sort(rexp(2, .2))
  ratio <- function(t) sum(log(sinhc(t * abs(outer(v, v, "-"))[lower.tri(diag(k))] / 2))) - k * (k - 1) / 2 * log(sinhc(t / sqrt(2 * (k - 1))))
  bad <- max(bad, ratio(t[2]) - ratio(t[1]))
}
check("SPD area over its bound decreases along rays (largest rise)", bad <= 1e-10, bad)
# Theorem 2: on the far side of q the geodesic symmetry at q brings points nearer to p, on CP^2
herm <- function(x, y) sum(Conj(x) * y)
bad <- -Inf
for (rep in 1:20000) {
  u <- function() { x <- complex(real = rnorm(3), imaginary = rnorm(3)); x / sqrt(sum(Mod(x)^2)) }
  q <- u(); h <- function() { x <- u(); x <- x - q * herm(q, x); x / sqrt(sum(Mod(x)^2)) }
  w <- h(); x <- h(); rho <- runif(1, 0, pi / 2); far <- runif(1, 0, pi / 2)
  if (Re(herm(w, x)) < 0) x <- -x
  p <- cos(far) * q - sin(far) * w
  to <- function(x) acos(min(1, Mod(herm(p, cos(rho) * q + sin(rho) * x))))
  bad <- max(bad, to(-x) - to(x))
}
check("CP^2: symmetry at q brings the far side nearer to p (largest rise)", bad <= 1e-7, bad)
# the inclusion behind the bound on CP^n: real angle alone gives at least the distance
bad <- -Inf
for (rep in 1:20000) {
  z <- complex(modulus = sqrt(runif(1)), argument = runif(1, 0, 2 * pi)); rho <- runif(1, 0, pi / 2); far <- runif(1, 0, pi / 2)
  a <- cos(rho) * cos(far); b <- sin(rho) * sin(far)
  bad <- max(bad, (a + b * Re(z)) - Mod(a + b * z))
}
check("CP^n: |a + bz| >= a + b Re z", bad <= 1e-15, bad)

# ---- lattice.md -----------------------------------------------------------------------------------------------------------
for (s in c(.5, 1, 4)) {
  z1 <- -400:400
  check("l2 law, d = 1: lattice sum >= integral", sum(exp(-abs(z1) / s)) >= 2 * s, sum(exp(-abs(z1) / s)) / (2 * s))
  g <- expand.grid(-150:150, -150:150)
  w <- sum(exp(-sqrt(g[, 1]^2 + g[, 2]^2) / s)) / (2 * pi * s^2)
  check("l2 law, d = 2: lattice sum >= integral", w >= 1 - 1e-12, w)
}
for (r in c(.3, 1, 2, 3)) {
  b <- tanh(1.001 * r / 2); tau <- 2 * b / (1 + b^2); l <- seq(-2 * r, 2 * r, length.out = 401); y <- tanh(l / 2) / tau
  for (J in c(5, 20, 80)) {
    j <- 0:(J - 1)
    series <- colSums(4 * b^(2 * j + 1) / (2 * j + 1) * cos(outer(2 * j + 1, acos(y))))
    rest <- 4 * b^(2 * J + 1) / ((2 * J + 1) * (1 - b^2))
    check("2 atanh series and its remainder", max(abs(series - l)) <= rest + 1e-12, c(max(abs(series - l)), rest))
  }
  check("room for the spectrum", tanh(1.001 * r) - tanh(r) >= .0009 * r / cosh(1.001 * r)^2)
}
check("Taylor remainder of degree 14 at 1/2", exp(.5) - sum(.5^(0:14) / factorial(0:14)) < 2.6e-17 + 2^-52)
j <- 0:4000
for (b in c(.1, .7, .99)) check("sum of (j + 2) b^2j <= 2/(1 - b^2)^2", sum((j + 2) * b^(2 * j)) <= 2 / (1 - b^2)^2)

# subspaces: the logarithm without eigenvalues, and its Lipschitz constant on all matrices near orthonormal ones
subspace_beta <- function(v, terms = 1500) {
  out <- diag(nrow(v))
  for (j in terms:1) out <- diag(nrow(v)) + j / (2 * j + 1) * v %*% out
  out
}
subspace_log <- function(y, p) {
  top <- y[1:p, , drop = FALSE]
  y[-(1:p), , drop = FALSE] %*% t(top) %*% subspace_beta(2 * (diag(p) - tcrossprod(top)))
}
local({
  gap <- 0
  steep <- 0
  for (case in list(c(4, 2, 0.55), c(7, 3, 0.5), c(5, 4, 0.7), c(6, 1, 0.7))) {
    n <- case[1]
    p <- case[2]
    far <- 2 * case[3]
    angle <- acos(1 - (1 - cos(2 * far)) - 1e-3 * (1 + cos(2 * far)))
    bound <- angle / 2 / sin(angle / 2) + angle / sin(angle) + 2 * (1 - angle / tan(angle)) / sin(angle)^2
    for (i in 1:200) {
      b <- matrix(rnorm((n - p) * p), n - p)
      if (i %% 2) b <- outer(b[, 1], rnorm(p)) # one principal angle, the largest
      b <- b * far / sqrt(sum(b^2))
      z <- svd(b, nu = min(dim(b)), nv = p)
      full <- c(z$d, numeric(p))[1:p]
      y <- rbind(z$v %*% (cos(full) * t(z$v)), z$u %*% (sin(z$d) * t(z$v)[seq_along(z$d), , drop = FALSE]))
      y <- y %*% qr.Q(qr(matrix(rnorm(p^2), p)))
      gap <- max(gap, abs(subspace_log(y, p) - b))
      e <- matrix(rnorm(n * p), n)
      e <- e / sqrt(sum(e^2)) * 1e-6
      steep <- max(steep, sqrt(sum((subspace_log(y + e, p) - subspace_log(y - e, p))^2)) / 2e-6 / bound)
    }
  }
  check("subspaces: logarithm by products and a power series", gap < 1e-10, gap)
  check("subspaces: Lipschitz constant over its bound", steep <= 1, steep)
})

# ---- kng.md ---------------------------------------------------------------------------------------------------------------
g_fun <- function(D) ifelse(D < 1e-2, 1 / 3 + 2 / 15 * D^2, (1 - a_fun(D)) / sin(D)^2)
bend <- function(D) ifelse(D < .1, 4 / 15 + 6 / 35 * D^2 + .062 * D^4, (D * (1 + 2 * cos(D)^2) - 3 * sin(D) * cos(D)) / sin(D)^5)
V <- seq(0, 1, length.out = 500); bV <- bend(acos(1 - V))
check("beta'' = its integral", max(abs(bV[c(50, 200, 500)] - sapply(V[c(50, 200, 500)], function(v)
  integrate(function(x) 2 * (2 * x * (1 - x))^2 / (1 - 2 * x * (1 - x) * v)^3, 0, 1)$value))) < 1e-6)
check("beta'' is increasing and convex", all(diff(bV) > 0) && all(diff(diff(bV[V > .02])) > 0))
check("3 beta' <= 2 (2 - V) beta''", all(3 * g_fun(acos(1 - V)) <= 2 * (2 - V) * bV + 1e-9))
# phi'' on CP^2 against differences of the distance
cdist <- function(x, y) { s <- sum(Conj(x) * y); atan2(sqrt(sum(Mod(y - x * s)^2)), Mod(s)) }
gap <- 0; excess <- -Inf
rho_max <- pi / 4 * .999
E_sphere <- function(R, d, complex, parts = 1, cells = 4) {
  most <- if (complex) (1 + cos(d)) / 2 else cos(d); V0 <- 1 - cos(d); top <- 0
  cap <- function(v) bend(acos(1 - pmin(v, 1 - cos(2 * rho_max))))
  for (i in seq_len(cells)) {
    p1 <- i / cells; x <- y <- G <- 0
    for (h in seq_len(parts)) {
      s0 <- R * (h - 1) / parts; s1 <- R * h / parts
      w <- (cap(V0) + cap(V0 + most * (1 - cos(s1)) + p1 * sin(d) * sin(s1))) / 2; G <- max(G, w)
      x <- x + w * ((s1 - sin(s1)) - (s0 - sin(s0))); y <- y + w * sin(d) * (cos(s0) - cos(s1))
    }
    one <- if (complex && cos(d) < G * sin(d)^2) most else cos(d)
    p <- seq((i - 1) / cells, p1, length.out = 50)
    top <- max(top, (1 - p^2) * (one * x + y * p))
  }
  sin(d)^2 * top
}
for (rep in 1:4000) {
  x <- c(1, 0, 0) + 0i
  y <- c(0, complex(real = rnorm(2), imaginary = rnorm(2) * (rep %% 4 > 0))); y <- y / sqrt(sum(Mod(y)^2))
  u <- if (rep %% 3 == 0) y * exp(1i * runif(1, 0, 2 * pi)) else { z <- c(0, complex(real = rnorm(2), imaginary = rnorm(2))); z / sqrt(sum(Mod(z)^2)) }
  d <- runif(1, .02, rho_max); s <- runif(1, .02, rho_max); xi <- cos(d) * x + sin(d) * y
  phi <- function(t) cdist(cos(t) * x + sin(t) * u, xi)^2 / 2
  w <- sum(Conj(y) * u); p <- Re(w); m2 <- Mod(w)^2; D <- cdist(cos(s) * x + sin(s) * u, xi)
  if (D > rho_max || D < .02) next
  k0 <- sin(d)^2 * (1 - m2); b2 <- 2 * D / sin(2 * D); T <- sin(2 * d)^2 * (1 - p^2) - 2 * k0 * (cos(2 * d) - cos(2 * D))
  gap <- max(gap, abs((phi(s + 1e-3) - 2 * phi(s) + phi(s - 1e-3)) / 1e-6 - (1 + b2 * k0 - g_fun(2 * D) * T)))
  dphi <- function(t) (phi(t + 1e-5) - phi(t - 1e-5)) / 2e-5
  model <- p^2 + (m2 - p^2) * a_fun(2 * d) + (1 - m2) * a_fun(d)
  excess <- max(excess, -(dphi(s) + d * p - s * model) - E_sphere(2 * s, 2 * d, TRUE) / 2)
}
check("phi'' on CP^2, formula and differences", gap < 1e-4, gap)
check("-F <= E on CP^2", excess < 1e-8, excess)
ratio <- sapply(c(.2, .6), function(R) sapply(c(.2, .6), function(d) {
  best <- max(sapply(seq(-1, 1, .02), function(p) (1 - p^2) * sin(d)^2 *
    integrate(function(s) g_fun(acos(cos(s) * cos(d) + sin(s) * sin(d) * p)) - g_fun(d), 0, R)$value))
  c(E_sphere(R, d, FALSE), E_sphere(R, d, FALSE, 2, 8)) / best
}))
check("E over the largest -F on S^2 (coarse and fine)", all(ratio >= 1 - 1e-6) && all(ratio < 1.35), range(ratio))
# hyperbolic plane
bad <- 0
for (rep in 1:3000) {
  d <- runif(1, .05, 3); s <- runif(1, .05, 3); p <- runif(1, -1, 1)
  D <- function(t) acosh(pmax(1, cosh(t) * cosh(d) - sinh(t) * sinh(d) * p))
  gh <- function(z) ifelse(z < 1e-2, 1 / 3 - 2 / 15 * z^2, (coth_fun(z) - 1) / sinh(z)^2)
  F <- sinh(d)^2 * (1 - p^2) * integrate(function(t) gh(D(t)) - gh(d), 0, s)$value
  q <- seq(0, 1, .01); slope <- if (d < .1) 4 / 15 else (d * (1 + 2 * cosh(d)^2) - 3 * sinh(d) * cosh(d)) / sinh(d)^5
  bad <- max(bad, -F - sinh(d)^2 * slope * max((1 - q^2) * (cosh(d) * (sinh(s) - s) + q * sinh(d) * (cosh(s) - 1))))
}
check("-F <= E on the hyperbolic plane", bad < 1e-9, bad)
# third derivatives on Gr(4, 2), random directions and rank-one ones, against Theorem 4
grass_dist <- function(W, Y) {
  q <- svd(crossprod(W, Y))
  Z <- Y %*% q$v %*% t(q$u)
  sqrt(sum(asin(pmin(1, svd(Z - W %*% crossprod(W, Z))$d))^2))
}
grass_exp <- function(W, U) { z <- svd(U); W %*% z$v %*% (cos(z$d) * t(z$v)) + z$u %*% (sin(z$d) * t(z$v)) }
third <- function(D) {
  L <- 2 * D^2; s <- sqrt(L); a <- a_fun(s); mu <- 1 - a; c <- (1:400)^2 * pi^2; nu <- L / (c - L)
  f1 <- s * sin(s)^3 * bend(s); f2 <- sum((2 * nu + 4 * nu^2 + 8 * nu * mu + 4 * nu^2 * mu) / c) + mu / 3
  S <- seq(0, 1, .01); max(S^2 * (sqrt(1 - S^2) * f1 + S * L * f2)) / D
}
W <- diag(4)[, 1:2]; worst <- 0
for (rep in 1:3000) {
  tangent <- function() {
    U <- rbind(matrix(0, 2, 2), matrix(rnorm(4), 2))
    if (rep %% 3 == 0) { z <- svd(U); U <- z$u[, 1] %o% z$v[, 1] }
    U / sqrt(sum(U^2))
  }
  D <- runif(1, .2, 1); Y <- grass_exp(W, D * tangent()); U <- tangent(); e <- .02
  phi <- function(t) grass_dist(grass_exp(W, t * U), Y)^2 / 2
  worst <- max(worst, abs((phi(2 * e) - 2 * phi(e) + 2 * phi(-e) - phi(-2 * e)) / (2 * e^3)) / third(D + 2 * e))
}
check("third derivative on Gr(4, 2): largest seen over the bound", worst <= 1 && worst > .1, worst)
# privacy by quadrature on S^2: all data at the edge, one record moved across; loss over epsilon at 2 Delta and at Delta
loss <- sapply(c(2, 1), function(f) {
  n <- 20; r <- pi / 8; sigma <- f * S_fun(r) / n
  grid <- expand.grid(t = (1:120 - .5) / 120 * r, f = (1:120 - .5) / 120 * 2 * pi)
  P <- cbind(cos(grid$t), sin(grid$t) * cos(grid$f), sin(grid$t) * sin(grid$f))
  logs <- function(x) { c <- drop(P %*% x); v <- -c * P; v <- sweep(v, 2, x, "+"); v * (acos(pmin(1, c)) / sqrt(pmax(1e-300, rowSums(v^2)))) }
  e1 <- logs(c(cos(r), sin(r), 0)); e2 <- logs(c(cos(r), -sin(r), 0))
  N <- function(v) sqrt(rowSums(v^2)); a <- -N(e1) / sigma; b <- -N(((n - 1) * e1 + e2) / n) / sigma
  w <- sin(grid$t); max(abs((a - log(sum(w * exp(a)))) - (b - log(sum(w * exp(b))))))
})
check("loss/epsilon with 2 Delta/epsilon below 1, with Delta/epsilon above", loss[1] < 1 && loss[2] > 1, loss)
# the cap: worst case of Theorem 5 on two points
f <- .01; K <- c(.5, .5) ; P <- (1 - f) * K + f * c(1, 0)
check("capped sampler: excess over e^eps at most (1 + e^eps) f", P[1] - exp(0) * .5 <= 2 * f)

# ---- geometry.md, sections 2 and 3 ------------------------------------------------------------------------------------------
# curvature from (S, T) or coordinates of two tangent vectors, as numerator over the area's square; maximised from random starts
sq <- function(A) sum(A^2)
area <- function(x, y) sum(x^2) * sum(y^2) - sum(x * y)^2
best_of <- function(d, K, sign = 1, starts = 4) max(replicate(starts, {
  from <- stats::optim(rnorm(2 * d), function(z) -sign * K(z[1:d], z[d + 1:d]), method = "BFGS", control = list(maxit = 400))
  -from$value
}))
skew_of <- function(x, p) { A <- matrix(0, p, p); A[lower.tri(A)] <- x; A - t(A) }
frame_of <- function(x, n, p) { m <- p * (p - 1) / 2; list(A = skew_of(x[seq_len(m)], p), B = matrix(x[-seq_len(m)], n - p, p)) }
euclidean_K <- function(n, p) function(x, y) {
  X <- frame_of(x, n, p); Y <- frame_of(y, n, p); X <- rbind(X$A, X$B); Y <- rbind(Y$A, Y$B)
  M <- crossprod(X, Y)
  (sum(crossprod(X) * crossprod(Y)) - sq((M + t(M)) / 2)) / area(as.vector(X), as.vector(Y))
}
canonical_K <- function(n, p) function(x, y) {
  full <- function(f) { Z <- matrix(0, n, n); Z[1:p, 1:p] <- f$A; Z[-(1:p), 1:p] <- f$B; Z[1:p, -(1:p)] <- -t(f$B); Z }
  X <- full(frame_of(x, n, p)); Y <- full(frame_of(y, n, p)); C <- X %*% Y - Y %*% X
  h <- -(1:p)
  (sq(C) / 8 + 3 / 8 * sq(C[h, h])) / (area(as.vector(X), as.vector(Y)) / 4)
}
for (np in list(c(3, 2), c(4, 2), c(5, 2), c(5, 3), c(4, 3))) {
  n <- np[1]; p <- np[2]; d <- p * (p - 1) / 2 + (n - p) * p
  name <- sprintf("St(%d, %d)", n, p)
  top <- best_of(d, euclidean_K(n, p)); low <- best_of(d, euclidean_K(n, p), -1)
  most <- if (n == 3) .5 else 1
  check(paste(name, "Euclidean: curvature in its range, ends found"),
        top <= most + 1e-9 && low <= .5 + 1e-9 && top > most - (if (p == n - 1) .6 else 1e-4) && low > .5 - 1e-4, c(-low, top))
  top <- best_of(d, canonical_K(n, p)); low <- best_of(d, canonical_K(n, p), -1)
  most <- if (n == 3) .25 else if (p == n - 1) .5 else 1.25
  check(paste(name, "canonical: curvature in its range, top found"), top <= most + 1e-9 && low <= 1e-9 && top > most - 1e-4, c(-low, top))
}
# a closed geodesic of the Euclidean metric turns by at most 1 a unit of length, of the canonical one as well
turns <- replicate(2000, {
  n <- sample(3:6, 1); p <- 1 + sample(n - 2, 1); f <- frame_of(rnorm(p * (p - 1) / 2 + (n - p) * p), n, p)
  X <- rbind(cbind(f$A, -t(f$B)), cbind(f$B, matrix(0, n - p, n - p))); e <- diag(n)[, 1:p]
  U <- rbind(f$A, f$B)
  c(sqrt(sq(X %*% X %*% e) / sq(X %*% e)) / sqrt(sq(X) / 2), sqrt(sq(crossprod(U))) / sq(U))
})
check("geodesics turn by at most 1 a unit of length", max(turns) <= 1 + 1e-12, range(turns))
for (k in 2:5) {
  w <- sort(exp(rnorm(k)))
  K <- function(x, y) {
    sym <- function(z) { S <- matrix(0, k, k); S[lower.tri(S, TRUE)] <- z; S + t(S) - diag(diag(S), k) }
    S <- sym(x); T <- sym(y); N <- (T %*% S - S %*% T) / 2
    3 * sum(2 * outer(w, w) / outer(w, w, "+") * N^2) / area(as.vector(S %*% diag(sqrt(w))), as.vector(T %*% diag(sqrt(w))))
  }
  top <- best_of(k * (k + 1) / 2, K) * (w[1] + w[2]) / 3
  check(sprintf("Bures-Wasserstein k = %d: largest curvature over its bound", k), top <= 1 + 1e-9 && top > .999, top)
}

# ---- linear-regression.md -------------------------------------------------------------------------------------------
# the table of g, written again
shared_table <- function(k, e1, q, t, h = .04, top = 200) {
  g <- 0; before <- 1
  for (i in seq_len(top)) {
    a <- if (i > 1) g[i] / (h * (i - 1)) else 1
    ahead <- min(1, g[i] + before * h)
    before <- max(0, min((exp(k - e1 * ahead / 2 - (q - 1) * log1p(t * a)) - 1) / t, a, 1, (1 - g[i]) / h))
    g[i + 1] <- g[i] + before * h
  }
  g
}
q <- 4; e1 <- 1.6; k <- 2 - e1 / 2; t <- .22247
g <- shared_table(k, e1, q, t)
z <- .04 * (0:200)
spent <- e1 * g[-1] / 2 + (q - 1) * log1p(t * c(1, (g / z)[2:200])) + log1p(t * diff(g) / .04)
check("shared accounting: every interval of g meets (S)", all(spent <= k - 1e-12), max(spent) / k)
# determinants: det(M + H)/det(M + H') <= (1 + t psi')(1 + t psi/r)^(q-1), unequal ridges, own features
worst <- replicate(2000, {
  q <- sample(4, 1); p <- sample(3, 1)
  L <- exp(runif(p, -1, 1))
  t <- sum(1 / L)
  rec <- function() {
    x <- c(1, runif(p - 1, -1, 1)); e <- rnorm(q) * 3; r <- sqrt(sum(e^2))
    across <- runif(1); slope <- runif(1, 0, across)
    P <- across * diag(q) + (slope - across) * tcrossprod(e) / r^2
    list(H = kronecker(tcrossprod(x), P), bound = log1p(t * slope) + (q - 1) * log1p(t * across))
  }
  M <- kronecker(diag(L, p), diag(q)) + if (runif(1) < .5) 0 else rec()$H
  a <- rec(); b <- rec()
  ld <- function(A) as.numeric(determinant(A)$modulus)
  ld(M + a$H) - ld(M + b$H) - a$bound
})
check("determinants of replaced records", max(worst) <= 1e-10, max(worst))
# vertex noise: (1, u) as a convex combination of vertices, and the second moments of both laws
u <- c(.3, -.7, .1)
v <- as.matrix(expand.grid(c(-1, 1), c(-1, 1), c(-1, 1)))
w <- apply(1 + t(t(v) * u), 1, prod) / 8
check("(1, u) is a convex combination of vertices", all(w >= 0) && abs(sum(w) - 1) < 1e-12 && max(abs(colSums(w * v) - u)) < 1e-12)
q <- 3; d <- 1; m <- q * (d + 1)
draw <- function(n, k) { y <- matrix(rnorm(n * k), n); y / sqrt(rowSums(y^2)) }
n <- 2e5
w1 <- draw(n, q) * rgamma(n, q); w2 <- draw(n, q) * rgamma(n, q)
check("vertex noise: E|b_k|^2 = 2^d q (q + 1)", abs(mean(rowSums((w1 - w2)^2)) / (2 * q * (q + 1)) - 1) < .02)
b <- rgamma(n, m + 1) * runif(n)^(1 / q)
check("max norm: E|b_k|^2 = (m + 1)(m + 2) q/(q + 2)", abs(mean(b^2) / ((m + 1) * (m + 2) * q / (q + 2)) - 1) < .02)
# output perturbation: the ridged Huber minimiser moves by at most 2 tau sqrt(t) in the ridge's metric
moves <- replicate(300, {
  n <- sample(1:6, 1); tau <- 1; L <- exp(runif(2, -2, 1)); t <- sum(1 / L)
  x <- cbind(1, runif(n + 1, -1, 1)); y <- rnorm(n + 1, sd = 5)
  fit <- function(rows) {
    B <- c(0, 0)
    for (i in 1:500) {
      e <- y[rows] - x[rows, , drop = FALSE] %*% B
      gr <- -colSums(x[rows, , drop = FALSE] * pmax(-tau, pmin(tau, as.vector(e)))) + L * B
      B <- B - gr / (max(L) + 2 * n)
    }
    B
  }
  D <- fit(seq_len(n)) - fit(c(seq_len(n - 1), n + 1))
  sqrt(sum(L * D^2)) / (2 * tau * sqrt(t))
})
check("output perturbation: sensitivity", max(moves) <= 1 + 1e-6, max(moves))
# adassp: |x x' - z z'|_F <= sqrt 2 b^2
far <- replicate(5000, { x <- c(1, runif(2, -1, 1)); z <- c(1, runif(2, -1, 1)); sqrt(sum((tcrossprod(x) - tcrossprod(z))^2)) / (sqrt(2) * 3) })
check("second moments: sensitivity in the Frobenius norm", max(far) <= 1, max(far))

# ---- accounting.md ------------------------------------------------------------------------------------------------
g <- expand.grid(r = exp(seq(.01, 12, length.out = 120)), q = c(1e-6, 1e-3, .05, .3, .7, .99), alpha = c(1.0001, 1.3, 2, 7.7, 40))
# logarithms of u^alpha - u^(1 - alpha) for u > 1, and of minus r times the same at w(1/r) < 1
up <- log1p(g$q * (g$r - 1)); down <- -log1p(g$q * (1 / g$r - 1)); a <- g$alpha - .5
left <- up / 2 + a * up + log(-expm1(-2 * a * up))
right <- log(g$r) - down / 2 + a * down + log(-expm1(-2 * a * down))
check("mirrored pairs: leaving dominates entering, pointwise", all(left >= right - 1e-9), min(left - right))
e <- .7; alpha <- 1 + exp(seq(-9, 6, .1))
slope <- (log(cosh((alpha - .5) * e)) - log(cosh(e / 2))) / (alpha * (alpha - 1))
check("zCDP of a pure step: e tanh(e/2)", all(slope <= e * tanh(e / 2) * (1 + 1e-8)), max(slope) / (e * tanh(e / 2)))

profile_of <- function(loss, mass, e) vapply(e, function(x) sum(mass * pmax(0, -expm1(x - loss))), 0)
worst_up <- worst_down <- worst_two <- 0
for (i in 1:300) {
  P <- rexp(12); P <- P / sum(P); Q <- rexp(12); Q <- Q / sum(Q); loss <- log(P / Q); h <- runif(1, .02, 1)
  low <- floor(loss / h); share <- expm1(low * h - loss) / expm1(-h)
  dots <- list(loss = c(low, low + 1) * h, mass = c(P * (1 - share), P * share))
  e <- seq(-3, 3, .05)
  worst_up <- min(worst_up, profile_of(dots$loss, dots$mass, e) - profile_of(loss, P, e))
  groups <- split(1:12, sample(4, 12, replace = TRUE))
  pm <- vapply(groups, function(k) sum(P[k]), 0); qm <- vapply(groups, function(k) sum(Q[k]), 0)
  worst_down <- max(worst_down, profile_of(log(pm / qm), pm, e) - profile_of(loss, P, e))
  two <- function(l, m) list(loss = as.vector(outer(l, l, "+")), mass = as.vector(outer(m, m)))
  A <- two(dots$loss, dots$mass); B <- two(loss, P)
  worst_two <- min(worst_two, profile_of(A$loss, A$mass, e) - profile_of(B$loss, B$mass, e))
}
check("connected dots dominate, merged outcomes are dominated, also twice", worst_up > -1e-12 && worst_down < 1e-12 && worst_two > -1e-12,
      c(worst_up, worst_down, worst_two))

# the folded law of a sample without replacement: total 1 under both, symmetric, and equal to the convex hull of f_q and its inverse
q <- .2; e0 <- 1.1; p1 <- plogis(e0)
top <- log(1 - q + q * exp(e0)); mass <- (1 - q) * (1 - p1) + q * p1
fold <- list(loss = c(top, -top, 0), mass = c(mass, mass * exp(-top), 1 - mass * (1 + exp(-top))))
e <- seq(0, 2, .01)
check("folded law: Q has mass 1", abs(sum(fold$mass * exp(-fold$loss)) - 1) < 1e-12)
check("folded law: delta(-e) = 1 - e^-e (1 - delta(e))",
      max(abs(profile_of(fold$loss, fold$mass, -e) - (1 - exp(-e) * (1 - profile_of(fold$loss, fold$mass, e))))) < 1e-12)
alpha_grid <- seq(0, 1, .001)
f <- function(x) pmax(0, 1 - exp(e0) * x, exp(-e0) * (1 - x))
f_q <- q * f(alpha_grid) + (1 - q) * (1 - alpha_grid)
ee <- seq(-3, 3, .002); d <- profile_of(fold$loss, fold$mass, ee)
tradeoff <- vapply(alpha_grid, function(x) max(0, 1 - d - exp(ee) * x), 0)
at <- seq(0, 1, .05)
back <- vapply(at, function(y) alpha_grid[which(tradeoff <= y + 1e-9)[1]], 0) # the inverse
check("folded law: below f_q and its own inverse",
      all(tradeoff <= f_q + 1e-9) && max(abs(back - tradeoff[match(round(at, 3), round(alpha_grid, 3))])) < 3e-3)

# Kairouz, Oh and Viswanath by enumeration of three responses with a part that tells all
e0 <- .4; d0 <- .01; p <- plogis(e0); law <- list(P = c((1 - d0) * c(p, 1 - p), d0, 0), Q = c((1 - d0) * c(1 - p, p), 0, d0))
P3 <- as.vector(outer(outer(law$P, law$P), law$P)); Q3 <- as.vector(outer(outer(law$Q, law$Q), law$Q))
e <- c(0, .3, .9, 1.1)
brute <- vapply(e, function(x) sum(pmax(0, P3 - exp(x) * Q3)), 0)
kov <- vapply(e, function(x) 1 - (1 - d0)^3 + (1 - d0)^3 * sum(dbinom(0:3, 3, p) * pmax(0, 1 - exp(x - (2 * 0:3 - 3) * e0))), 0)
check("optimal composition against enumeration", max(abs(brute - kov)) < 1e-12)

# R's fft of geometric sequences
fft_miss <- function(n, r) {
  x <- r^(0:(n - 1)); x <- x / sum(x)
  k <- 0:(n - 1)
  exact <- (1 - r) / complex(real = (1 - r) + 2 * r * sinpi(k / n)^2, imaginary = r * sinpi(2 * k / n))
  max(Mod(fft(x) - exact)) / (16 * 2^-53 * log2(n + 1))
}
two <- max(vapply(2^c(6, 10, 14, 18, 20), function(n) max(fft_miss(n, .5), fft_miss(n, .99), fft_miss(n, 1 - 3 / n)), 0))
check("fft with powers of two within the margin", two < .1, two)
check("and with threes and fives not (a note)", fft_miss(390625, 1 - 3 / 390625) > 1, fft_miss(390625, 1 - 3 / 390625))
node <- sqrt((c(35 - 2 * sqrt(70), 35 + 2 * sqrt(70))) / 63); node <- c(-node[2:1], 0, node)
weight <- c(322 - 13 * sqrt(70), 322 + 13 * sqrt(70)) / 900; weight <- c(weight, 128 / 225, rev(weight))
z <- seq(-40, 40, 1); half <- .01
miss <- vapply(z, function(x) { # relative to e^(-x^2/2), with the exponent's own part divided out
  t <- x + half * node
  quad <- sum(half * weight * exp(-(t^2 - x^2) / 2))
  fine <- (0:2000) / 2000 * 2 * half - half
  v <- exp(-((x + fine)^2 - x^2) / 2)
  simpson <- sum(v * c(1, rep(c(4, 2), 999), 4, 1)) * (fine[2] - fine[1]) / 3
  abs(quad / simpson - 1)
}, 0)
check("five nodes on pieces of .02: below 1e-12 of the integral", max(miss) < 1e-12, max(miss))

if (failed) quit(status = 1)
