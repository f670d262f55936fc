# Discrete laws. Chi-square tests at a false-alarm rate of 1e-6 each and moments within 5 standard errors (6e-7 each): some 60 of
# them, below 1e-4 in all. With 2e4 draws a scale 5 % off
# shifts the mean by 5 %: 7 standard errors in one dimension, more in others.

draws_lattice <- function(full) ceiling(full / if (quick()) 20 else 4)

noise <- function(law, n, d, num, den = 1, seed = 1, simulate = TRUE) {
  with_simulation(seed, .Call(riemdp:::riemdp_lattice_noise, euclidean(d), n, law, c(num, den), simulate))
}

# counts against probabilities, cells expected below 10 joined to one
expect_counts <- function(cell, p, n) {
  small <- n * p < 10
  expected <- c(n * p[!small], n * max(0, 1 - sum(p[!small])))
  found <- c(cell[!small], n - sum(cell[!small]))
  if (expected[length(expected)] < 5) {
    expected <- c(expected[seq_len(length(expected) - 2)], sum(utils::tail(expected, 2)))
    found <- c(found[seq_len(length(found) - 2)], sum(utils::tail(found, 2)))
  }
  statistic <- sum((found - expected)^2 / expected)
  expect_lt(stats::pchisq(statistic, length(expected) - 1, lower.tail = FALSE, log.p = TRUE) * -1, -log(1e-6))
}

expect_pmf <- function(z, range, weight) {
  p <- weight / sum(weight)
  expect_counts(tabulate(match(z, range), length(range)), p, length(z))
}

test_that("discrete Laplace and discrete Gaussian have their exact probabilities", {
  n <- draws_lattice(2e5)
  for (s in list(c(1, 3), c(3, 2), c(7, 1), c(81, 4))) {
    scale <- s[1] / s[2]
    range <- seq(-ceiling(50 * scale) - 3, ceiling(50 * scale) + 3)
    expect_pmf(noise("laplace", n, 1, s[1], s[2])[, 1], range, exp(-abs(range) / scale))
  }
  for (s in list(c(1, 5), c(1, 1), c(9, 4), c(300, 7))) {
    variance <- s[1] / s[2]
    range <- seq(-ceiling(12 * sqrt(variance)) - 3, ceiling(12 * sqrt(variance)) + 3)
    expect_pmf(noise("gaussian", n, 1, s[1], s[2])[, 1], range, exp(-range^2 / (2 * variance)))
  }
  # the operating system's bits, and what users call
  expect_pmf(noise("laplace", n, 1, 3, 2, simulate = FALSE)[, 1], -80:80, exp(-abs(-80:80) / 1.5))
  expect_pmf(discrete_gaussian_noise(n, 1.5), -30:30, exp(-(-30:30)^2 / 4.5))
  expect_pmf(discrete_laplace_noise(n, 0.75), -60:60, exp(-abs(-60:60) / 0.75))
  expect_pmf(discrete_l2_noise(ceiling(n / 10), 1, 2.5)[, 1], -99:99, exp(-abs(-99:99) / 2.5))
})

test_that("large scales: moments and no overflow", {
  n <- draws_lattice(2e4)
  z <- noise("laplace", n, 1, 2^40 + 1, 3)[, 1] * 3 / 2^40
  expect_lt(abs(mean(abs(z)) - 1), 5 / sqrt(n))
  z <- noise("gaussian", n, 1, 2^60, 1)[, 1] / 2^30
  expect_lt(abs(mean(z^2) - 1), 5 * sqrt(2 / n))
  expect_lt(abs(mean(z)), 5 / sqrt(n))
  z <- noise("gaussian", n, 1, 2^52 + 1, 2^31)[, 1]
  expect_lt(abs(mean(z^2) / 2^21 - 1), 5 * sqrt(2 / n))
  z <- noise("l2", ceiling(n / 10), 2, 2^50)
  expect_lt(abs(mean(sqrt(rowSums(z^2))) / 2^50 - 2), 5 * sqrt(2 / (n / 10)))
})

test_that("the l2 law on Z^1 and Z^2 has its exact probabilities", {
  n <- draws_lattice(4e4)
  for (s in list(c(1, 2), c(5, 2), c(9, 1))) {
    scale <- s[1] / s[2]
    range <- seq(-ceiling(45 * scale), ceiling(45 * scale))
    expect_pmf(noise("l2", n, 1, s[1], s[2])[, 1], range, exp(-abs(range) / scale))
  }
  for (s in list(c(1, 2), c(3, 2), c(4, 1))) {
    scale <- s[1] / s[2]
    most <- ceiling(30 * scale)
    grid <- expand.grid(a = -most:most, b = -most:most)
    z <- noise("l2", n, 2, s[1], s[2])
    inside <- abs(z[, 1]) <= most & abs(z[, 2]) <= most
    expect_pmf((z[, 1] * (2 * most + 1) + z[, 2])[inside], grid$a * (2 * most + 1) + grid$b,
               exp(-sqrt(grid$a^2 + grid$b^2) / scale))
  }
})

test_that("staircases on Z^1 and Z^2 have their exact probabilities", {
  n <- draws_lattice(2e5)
  # scale, width of a shell and of the first one: steps of 2, of 1/2, of 6; a first shell that holds 0 alone
  cases <- list(c(5, 2, 5, 2), c(8, 1, 4, 4), c(1, 1, 6, 3), c(3, 2, 2, 0))
  shells <- function(length, s) exp(-pmax(ceiling((length - s[4]) / s[3] - 1e-12), 0) * s[3] * s[2] / s[1])
  for (s in cases) {
    range <- -400:400
    draw <- function(d) with_simulation(1, .Call(riemdp:::riemdp_lattice_noise, euclidean(d), n, "staircase", s, TRUE))
    expect_pmf(draw(1)[, 1], range, shells(abs(range), s))
    grid <- expand.grid(a = -90:90, b = -90:90)
    z <- draw(2)
    inside <- abs(z[, 1]) <= 90 & abs(z[, 2]) <= 90
    expect_pmf((z[, 1] * 181 + z[, 2])[inside], grid$a * 181 + grid$b, shells(sqrt(grid$a^2 + grid$b^2), s))
  }
  # in many dimensions: the mean length, by shells as they are filled by volume
  for (d in c(6, 20)) {
    s <- c(4096, 1, 8192, 3000)
    z <- with_simulation(2, .Call(riemdp:::riemdp_lattice_noise, euclidean(d), ceiling(n / 50), "staircase", s, TRUE))
    long <- sqrt(rowSums(z^2))
    edge <- s[4] + s[3] * (0:200)
    mass <- function(power) sum(exp(-2 * (0:200)) * diff(c(0, edge / s[3])^power) / power)
    expect_lt(abs(mean(long) - s[3] * mass(d + 1) / mass(d)), 5 * sd(long) / sqrt(length(long)))
  }
})

test_that("counts that add up to 0 and vectors beside them have their exact probabilities, with shells or without", {
  n <- draws_lattice(1e5)
  # scale, width of a shell and of the first one, the edge: how many steps of the vector a count of one is
  cases <- list(c(5, 2, 0, 0, 3), c(3, 2, 0, 0, 7), c(5, 2, 4, 1, 3), c(4, 1, 3, 3, 9), c(3, 2, 2, 0, 2))
  weight <- function(t, z, s) {
    far <- pmax(s[5] * abs(t), z)
    if (s[3] > 0) far <- s[4] + s[3] * pmax(ceiling((far - s[4]) / s[3] - 1e-12), 0)
    -far * s[2] / s[1]
  }
  # groups, whether there is a count without a vector, the vectors' dimension
  for (form in list(c(2, 0, 1), c(1, 1, 1), c(1, 1, 2), c(2, 1, 1))) for (s in if (sum(form) > 3) cases[c(2, 5)] else cases) {
    groups <- form[1]
    counts <- sum(form[1:2])
    d <- form[3]
    most <- ceiling((if (sum(form) > 3) 12 else 20) * s[1] / s[2])
    steps <- c(rep(ceiling(most / s[5]), counts - 1), rep(most, groups * d))
    grid <- as.matrix(do.call(expand.grid, lapply(steps, function(most) -most:most)))
    z <- with_simulation(3, .Call(riemdp:::riemdp_lattice_noise, euclidean(counts + groups * d), n, "joint", c(s, d, form[2]), TRUE))
    expect_true(all(rowSums(z[, seq_len(counts)]) == 0))
    z <- z[, -counts]
    z <- z[rowSums(abs(z) > rep(steps, each = n)) == 0, ]
    expect_gt(nrow(z), 0.99 * n)
    code <- function(x) as.vector((x + rep(steps, each = nrow(x))) %*% cumprod(c(1, 2 * steps + 1))[seq_along(steps)])
    log_p <- if (form[2]) -abs(rowSums(grid[, seq_len(groups), drop = FALSE])) * s[5] * s[2] / s[1] else 0
    for (j in seq_len(groups)) {
      t <- if (j < counts) grid[, j] else -rowSums(grid[, seq_len(counts - 1), drop = FALSE])
      log_p <- log_p + weight(t, sqrt(rowSums(grid[, counts - 1 + (j - 1) * d + seq_len(d), drop = FALSE]^2)), s)
    }
    expect_pmf(code(z), code(grid), exp(log_p))
  }
  for (bad in list(c(5, 2, 0, 0, 3, 1), c(5, 2, 0, 0, 0, 1, 1), c(5, 2, 0, 0, 1.5, 1, 1), c(2^62, 1, 0, 0, 1, 1, 1), c(1, 2^31, 0, 0, 2^32, 1, 1),
                   c(5, 2, 4, 5, 3, 1, 1), c(5, 2, 0, 0, 3, 1, 0), c(5, 2, 0, 0, 3, 2, 1), c(5, 2, 0, 0, 3, 0, 1), c(5, 2, 0, 0, 3, 1, 2))) {
    expect_error(.Call(riemdp:::riemdp_lattice_noise, euclidean(3), 1, "joint", bad, TRUE), class = "riemdp_error_argument")
  }
})

# Moments of |z| under the l2 law on Z^d by counting lattice points: the number r_d(N) of z with |z|^2 = N is the d-fold convolution of r_1.
# Numbers times exp(-N/(2 d scale^2)) are largest where the law is; what is too small for the transform is left out: below .1 % of the mean.
shell_moments <- function(d, scale, top) {
  tilt <- exp(-(0:top) / (2 * d * scale^2))
  one <- c(1, rep(0, top))
  one[seq_len(floor(sqrt(top)))^2 + 1] <- 2
  one <- one * tilt / sum(one * tilt)
  count <- Re(stats::fft(stats::fft(c(one, 0 * one))^d, inverse = TRUE))[seq_len(top + 1)]
  count[count < 1e-12 * max(count)] <- 0
  r <- sqrt(0:top)
  w <- count * exp((0:top) / (2 * d * scale^2) - (r - d * scale) / scale)
  w <- w / sum(w)
  c(mean = sum(w * r), square = sum(w * r^2))
}

test_that("the l2 law in dimensions 3, 10 and 50: radial moments by counting lattice points", {
  for (case in list(list(3, 2, 1), list(10, 1, 1), list(10, 3, 2), list(50, 3, 2))) {
    d <- case[[1]]
    n <- draws_lattice(if (d < 50) 1e4 else 2000)
    scale <- case[[2]] / case[[3]]
    top <- ceiling((scale * (d + 7 * sqrt(d) + 12))^2)
    exact <- shell_moments(d, scale, top)
    z <- noise("l2", n, d, case[[2]], case[[3]])
    r <- sqrt(rowSums(z^2))
    expect_lt(abs(mean(r) - exact[["mean"]]), 5 * stats::sd(r) / sqrt(n))
    expect_lt(abs(mean(r^2) - exact[["square"]]), 5 * stats::sd(r^2) / sqrt(n))
    # coordinates share the square and have balanced signs
    share <- rowSums(z[, seq_len(ceiling(d / 2)), drop = FALSE]^2) / pmax(r^2, 1)
    target <- ceiling(d / 2) / d * mean(r > 0)
    expect_lt(abs(mean(share) - target), 5 * stats::sd(share) / sqrt(n))
    expect_lt(abs(mean(z)), 5 * stats::sd(rowMeans(z)) / sqrt(n))
  }
})

test_that("the l2 law with a fine lattice is the continuous one, and nearly every trial is kept", {
  n <- draws_lattice(4000)
  for (d in c(1, 10, 100)) {
    z <- noise("l2", n, d, 4096)
    r <- sqrt(rowSums(z^2)) / 4096
    # Gamma(d); the lattice changes moments by less than d/4096^2
    expect_lt(abs(mean(r) - d), 5 * sqrt(d / n))
    expect_lt(abs(stats::var(r) / d - 1), 5 * sqrt((2 + 6 / d) / n) + 0.01)
    expect_gt(n / attr(z, "trials"), exp(-sqrt(d) / 8192) - 5 * sqrt(0.005 / n))
  }
})

test_that("likelihood ratios on small cases: epsilon is what it is said to be, and attained", {
  for (scale in c(0.7, 2)) {
    most <- 40
    grid <- as.matrix(expand.grid(-most:most, -most:most))
    loss <- function(shift, norm) (norm(sweep(grid, 2, shift, "+")) - norm(grid)) / scale
    l2 <- function(z) sqrt(rowSums(z^2))
    l1 <- function(z) rowSums(abs(z))
    for (shift in list(c(1, 0), c(1, 1), c(2, -1), c(3, 2))) {
      expect_equal(max(loss(shift, l2)), l2(rbind(shift))[[1]] / scale, tolerance = 0.02)
      expect_lte(max(abs(loss(shift, l2))), l2(rbind(shift))[[1]] / scale + 1e-12)
      expect_lte(max(abs(loss(shift, l1))), sqrt(2) * l2(rbind(shift))[[1]] / scale + 1e-12)
    }
  }
})

test_that("discrete Gaussians are priced by zCDP: above their exact delta, which the continuous Gaussian's formula misses", {
  exact_delta <- function(sigma, shift, epsilon) {
    z <- seq(-400, 400)
    p <- exp(-z^2 / (2 * sigma^2))
    q <- exp(-(z - shift)^2 / (2 * sigma^2))
    sum(pmax(0, p - exp(epsilon) * q)) / sum(p)
  }
  gaussian_delta <- function(mu, epsilon) {
    stats::pnorm(mu / 2 - epsilon / mu) - exp(epsilon) * stats::pnorm(-mu / 2 - epsilon / mu)
  }
  zcdp_delta <- function(rho, epsilon) as.double(dp_delta(event_zcdp(rho), epsilon, "zcdp", "balle"))
  worst <- 0
  for (sigma in c(1, 2, 5)) for (shift in 1:3) for (epsilon in c(0.1, 0.5, 1, 2, 4, 6)) {
    delta <- exact_delta(sigma, shift, epsilon)
    expect_lte(delta, zcdp_delta(shift^2 / (2 * sigma^2), epsilon) + 1e-15)
  }
  for (epsilon in seq(0.01, 5, by = 0.01)) {
    delta <- exact_delta(1, 1, epsilon)
    if (delta > 1e-6) worst <- max(worst, delta / gaussian_delta(1, epsilon))
  }
  expect_gt(worst, 1.8)
  # there and back, and better than Bun and Steinke's bound
  for (epsilon in c(0.1, 1, 5)) for (delta in c(1e-9, 1e-3)) {
    rho <- riemdp:::zcdp_rho(epsilon, delta)
    expect_lte(zcdp_delta(rho, epsilon), delta * (1 + 1e-9))
    expect_gt(rho, (sqrt(epsilon + log(1 / delta)) - sqrt(log(1 / delta)))^2)
    expect_gt(zcdp_delta(rho * 1.001, epsilon), delta)
    expect_equal(as.double(dp_epsilon(event_zcdp(rho), delta, "zcdp", "balle")), epsilon, tolerance = 1e-6)
  }
})

test_that("no floating-point number between bits and noise", {
  source <- test_path("..", "..", "src", c("mechanism/sampler_discrete.c", "mechanism/sampler_lattice.c", "base/big.c", "base/big.h"))
  skip_if_not(all(file.exists(source)), "sources are not here")
  text <- paste(unlist(lapply(source, readLines)), collapse = "\n")
  text <- gsub("(?s)/[*].*?[*]/", "", text, perl = TRUE)
  used <- unique(regmatches(text, gregexpr("[A-Za-z_][A-Za-z_0-9]*", text))[[1]])
  expect_true(all(c("uint64_t", "rng_bits", "rng_use_system") %in% used)) # the system's bits, no stream
  expect_length(intersect(used, c("double", "float", "sqrt", "exp", "log", "log1p", "pow", "floor", "ldexp", "fabs",
                                  "rng_uniform", "rng_normal", "rng_gamma", "rng_direction", "unif_rand")), 0)
  expect_no_match(text, "[0-9][.][0-9]|[0-9][.]?[eE][-+]?[0-9]")
})

test_that("the same seed gives the same noise, the system's bits never do", {
  a <- with_simulation(4, discrete_l2_noise(3, 5, 1000))
  expect_identical(a, with_simulation(4, discrete_l2_noise(3, 5, 1000)))
  set.seed(1)
  b <- discrete_laplace_noise(10, 1e9)
  set.seed(1)
  expect_false(identical(b, discrete_laplace_noise(10, 1e9)))
  expect_identical(dim(discrete_l2_noise(0, 3, 2)), c(0L, 3L))
  expect_identical(discrete_laplace_noise(0, 2), numeric())
})

test_that("arguments out of range are refused", {
  expect_error(discrete_l2_noise(1, 1600, 1.9), class = "riemdp_error_argument")
  expect_error(discrete_laplace_noise(1, 0), class = "riemdp_error_argument")
  expect_error(discrete_gaussian_noise(1, 2^31), class = "riemdp_error_argument")
  expect_error(noise("l2", 1, 1600, 1), class = "riemdp_error_unsupported")
  for (bad in list(c(0, 1), c(1, 0), c(1.5, 1), c(NA, 1), 1, c(2^63, 1), c(1, 2^32))) {
    expect_error(.Call(riemdp:::riemdp_lattice_noise, euclidean(1), 1, "l2", bad, TRUE), class = "riemdp_error_argument")
  }
})
