# Private variances, and regions about the population (R/variance.R, R/uncertainty.R, R/dp-variance.R; inst/proofs/inference.md)

internal <- asNamespace("riemdp")
SPREAD <- list(
  line = list(M = euclidean(1), center = 0, radius = 1), plane = list(M = euclidean(2), center = c(0.5, 0), radius = 2),
  sphere = list(M = sphere(2), center = c(0, 0, 1), radius = 0.7), wide = list(M = sphere(4), center = c(0, 0, 0, 0, 1), radius = 0.6),
  hyperbolic = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1.5), ball = list(M = hyperbolic(2, "ball"), center = c(0, 0), radius = 1),
  spd = list(M = spd(2), center = diag(c(1, 2)), radius = 1),
  hermitian = list(M = hermitian_spd(2), center = matrix(c(1, 0.2i, -0.2i, 2), 2), radius = 1),
  bures = list(M = spd(2, "bures"), center = diag(2), radius = 0.25),
  log = list(M = spd(2, "logeuclidean"), center = diag(2), radius = 1), shapes = list(M = kendall(4), center = exp(2i * pi * (1:4) / 4), radius = 0.35),
  subspaces = list(M = grassmann(4, 2), center = diag(4)[, 1:2], radius = 0.4), frames = list(M = stiefel(4, 2), center = diag(4)[, 1:2], radius = 0.4),
  canonical = list(M = stiefel(4, 2, "canonical"), center = diag(4)[, 1:2], radius = 0.4)
)
placed <- function(s, n, seed = 1, size = 0.5) {
  d <- mf_facts(s$M)$dimension
  a <- with_simulation(seed, matrix(stats::rnorm(n * d), n)) * size * s$radius / sqrt(d)
  a <- a * pmin(1, 0.99 * s$radius / sqrt(rowSums(a^2)))
  mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, a))
}
asked_at <- function(s, at, n = 20, epsilon = 1, shape = FALSE) {
  ask <- internal$variance_question(s$M, n, epsilon, s$center, s$radius, at, FALSE)
  if (shape) internal$variance_ask(s$M, ask, epsilon, TRUE) else ask
}

test_that("sums of squares and of products are those of logarithms, from any point", {
  for (s in SPREAD) {
    d <- mf_facts(s$M)$dimension
    x <- placed(s, 20)
    for (at in list(s$center, record(s$M, x, 3))) {
      ask <- asked_at(s, at, shape = TRUE)
      a <- ask$from
      squares <- mf_dist(s$M, at, x)^2
      unit <- 4 * s$radius^2 / 2^ask$squares$bits
      sum <- internal$squares_sum(s$M, x, ask, a, c(ask$squares$bits, internal$variance_most(ask, a)), 20)
      expect_identical(sum, floor(sum))
      expect_lt(abs(sum * unit - sum(squares)), 20 * unit + 1e-9 * s$radius^2, label = label_of(s$M))
      # no record counts more than it may, whatever was computed
      expect_lte(internal$squares_sum(s$M, x, ask, a, c(ask$squares$bits, 5), 20), 100)
      if (d == 1) next
      short <- list(reach = 1e-4, one = 1)
      expect_lte(internal$norm_sum(s$M, x, ask, a, short, 20), 20 * 2^internal$norm_bits(ask$squares$norm) * 1e-8 + d^2 * 20)
      v <- mf_coords(s$M, at, mf_log(s$M, at, x))
      norm <- internal$norm_sum(s$M, x, ask, a, internal$norm_most(s$M, ask, a), 20)
      expect_equal(norm * 4 * s$radius^2 / 2^internal$norm_bits(ask$squares$norm), sqrt(sum(crossprod(v)^2)), tolerance = 1e-4, label = label_of(s$M))
    }
    # chunks hold the same whole numbers
    both <- lapply(list(x, chunks(mf_points(x, s$M), 7)), function(x) {
      internal$squares_sum(s$M, x, ask, a, c(ask$squares$bits, 2^ask$squares$bits), 20)
    })
    expect_identical(both[[1]], both[[2]])
  }
})

test_that("one record moves the sums by no more than is said, and by nearly that", {
  for (s in SPREAD) {
    d <- mf_facts(s$M)$dimension
    edge <- function(t) mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, matrix(c(t * s$radius, rep(0, (d - 1) * length(t))), length(t))))
    at <- record(s$M, edge(rep(0.3, 2)), 1)
    ask <- asked_at(s, at, shape = TRUE)
    a <- ask$from
    most <- internal$variance_most(ask, a)
    one <- function(x) internal$squares_sum(s$M, x, ask, a, c(ask$squares$bits, most), 1)
    # the far end, beyond it, at the point itself, and what is no point
    far <- one(edge(-0.999999))
    expect_lte(far, most)
    expect_gt(far, 0.999 * most)
    if (s$M$name %in% c("euclidean", "hyperboloid", "spd")) expect_lte(one(edge(-1.5)), most)
    expect_lt(one(edge(0.3)), 1e-4 * most)
    if (d > 1) {
      reach <- internal$norm_most(s$M, ask, a)
      norm <- function(x, n) internal$norm_sum(s$M, x, ask, a, reach, n)
      expect_lte(abs(norm(edge(-0.999), 1) - norm(edge(0.3), 1)), reach$one)
      expect_lte(norm(edge(-0.999), 1), reach$one)
      ask0 <- asked_at(s, s$center, shape = TRUE)
      r0 <- internal$norm_most(s$M, ask0, ask0$from)
      expect_gt(internal$norm_sum(s$M, edge(0.9999), ask0, ask0$from, r0, 1), 0.69 * r0$one)
    }
  }
})

test_that("sums have room for every number of records: where it is private no refusal tells it", {
  most <- internal$SIZE_MOST
  for (epsilon in c(1e-6, 1, 100)) {
    expect_lte(2^internal$variance_bits(NA, epsilon) * most, 2^53)
    for (n in c(1, 2, 3, 2^20 + 1, most)) expect_lte(2^internal$variance_bits(n, epsilon) * n, 2^53)
    expect_lte(2^internal$variance_bits(NA, epsilon) / epsilon, 2^42)
  }
  # the kernel takes these numbers
  s <- SPREAD$plane
  ask <- asked_at(s, s$center, n = NA)
  expect_gt(internal$squares_sum(s$M, placed(s, 5), ask, ask$from, c(ask$squares$bits, internal$variance_most(ask, ask$from)), most), 0)
})

test_that("the Frechet variance moves by 4 r^2/n at most, and in flat space by nearly that", {
  for (s in SPREAD) for (seed in 1:3) {
    d <- mf_facts(s$M)$dimension
    n <- 5
    a <- with_simulation(seed, matrix(stats::rnorm((n + 1) * d), n + 1))
    a <- a / sqrt(rowSums(a^2)) * s$radius * 0.999
    if (seed == 1) a[seq_len(n), ] <- rep(-a[n + 1, ], each = n)
    x <- mf_points(mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, a)), s$M)
    moved <- abs(frechet_mean(x[c(1:4, 6)], s$M)$variance - frechet_mean(x[1:5], s$M)$variance)
    ask <- asked_at(s, NULL, n = n)
    bounds <- internal$variance_bounds(ask)
    stated <- bounds$sensitivity * 4 * s$radius^2 / 2^ask$squares$bits / n
    expect_lte(moved, stated)
    expect_equal(stated, 4 * s$radius^2 / n)
    if (seed == 1 && mf_facts(s$M)$k_max <= 0 && mf_facts(s$M)$k_min >= 0) expect_gt(moved, 0.78 * stated)
    expect_lt(bounds$extra, 1e-3 * bounds$sensitivity)
    # the machine's sum is within what is added
    sum <- with_internals(dp_variance(x[1:5], s$M, 1, s$center, s$radius), noisy_squares = function(sum, ...) list(sum = sum, scale = 1),
                          check_paid = function(...) NULL, pay = function(...) NULL, out_of_purse = function(g, expr, ...) list(out = expr, draws = NULL))
    expect_lte(abs(sum$squares$sum - n * frechet_mean(x[1:5], s$M, tol = 1e-13)$variance), bounds$extra * sum$squares$unit * (1 + 1e-9) + 1e-10 * s$radius^2)
  }
})

test_that("a release says what it is, costs what it says, and its noise has the promised scale", {
  s <- SPREAD$sphere
  x <- placed(s, 50)
  ledger <- dp_ledger(NULL, 2)
  r <- dp_variance(x, s$M, 1, s$center, s$radius, ledger = ledger)
  g <- guarantee(r)
  expect_identical(c(g$label, g$numerics, g$adjacency), c("pure", "lattice", "replace-one"))
  expect_identical(g$epsilon, 1)
  expect_equal(r$sensitivity, 4 * s$radius^2 / 50)
  expect_equal(r$expected_error, r$sensitivity + r$solver_error, tolerance = 1e-6)
  expect_gte(r$squares$scale, (r$sensitivity + r$solver_error) * 50)
  expect_identical(nrow(ledger_history(ledger)), 1L)
  expect_true(any(grepl("dp_variance", unlist(ledger_history(ledger)))))
  expect_output(print(r), "Private Frechet variance of 50 records")
  expect_output(explain(r), "integer arithmetic")
  at <- dp_variance(x, s$M, 1, s$center, s$radius, at = s$center)
  expect_equal(at$sensitivity, s$radius^2 / 50, tolerance = 1e-8)
  expect_output(print(at), "mean squared distance")
  expect_null(r$at)
  # 400 draws: mean distance and variance of the noise, at 5 standard errors
  draws <- if (quick()) 400 else 2000
  z <- with_simulation(3, replicate(draws, dp_variance(x, s$M, 1, s$center, s$radius, at = s$center)$squares$sum)) - sum(mf_dist(s$M, s$center, x)^2)
  expect_lt(abs(mean(abs(z)) / s$radius^2 - 1), 5 / sqrt(draws))
  expect_lt(abs(mean(z)) / s$radius^2, 5 * sqrt(2 / draws))
  # units count once, by their means; a private number is another release
  unit <- dp_variance(x, s$M, 1, s$center, s$radius, unit = rep(1:25, 2))
  expect_identical(unit$n, 25L)
  expect_identical(guarantee(unit)$unit, "unit")
  private <- dp_variance(x, s$M, 1, s$center, s$radius, at = s$center, neighbours = "add_remove")
  expect_true(is.na(private$n) && is.na(private$squares$n))
  expect_identical(guarantee(private)$adjacency, "add-remove")
  expect_equal(sum(private$draws$epsilon), 1, tolerance = 1e-9)
  for (n in c(0, 1)) {
    few <- mf_points(x, s$M)[seq_len(n)]
    expect_s3_class(dp_variance(few, s$M, 1, s$center, s$radius, at = s$center, neighbours = "add_remove"), "riemdp_variance")
  }
  # refused from public facts, and nothing spent
  no <- function(..., class = "riemdp_error_unsupported") {
    expect_error(dp_variance(..., epsilon = 0.5, center = s$center, radius = s$radius, ledger = ledger), class = class)
  }
  no(x, s$M, neighbours = "add_remove")
  no(chunks(x, 7), s$M)
  no(x, custom_sphere(2))
  no(x, s$M, at = frechet_mean(x, s$M), class = "riemdp_error_argument")
  expect_error(dp_variance(x, s$M, 0.5, s$center, s$radius, at = "a", ledger = ledger), "`at`", class = "riemdp_error")
  expect_error(dp_variance(x, s$M, 1e-12, s$center, s$radius, ledger = ledger), class = "riemdp_error_argument")
  expect_identical(nrow(ledger_history(ledger)), 1L)
  # whatever the records are
  for (value in c(NA, Inf, 1e300)) {
    y <- x
    y[4, ] <- value
    expect_s3_class(dp_variance(y, s$M, 1, s$center, s$radius, invalid = "center"), "riemdp_variance")
  }
})

test_that("intervals hold the mean square of the records, and of the population, as often as they say", {
  # 300 releases a case, below the level by more than 5 standard errors fails
  s <- SPREAD$line
  runs <- if (quick()) 200 else 600
  for (n in c(5, 60)) for (epsilon in c(0.3, 5)) {
    held <- with_simulation(n, replicate(runs, {
      x <- sample(c(-0.9, 0.1, 0.2), n, TRUE, prob = c(0.1, 0.5, 0.4))
      v <- dp_variance(x, s$M, epsilon, 0, 1, at = 0)
      inside <- function(truth, about) {
        ends <- confint(v, level = 0.8, about = about)
        ends[1] <= truth && truth <= ends[2]
      }
      c(inside(mean(x^2), "estimate"), inside(0.1 * 0.81 + 0.5 * 0.01 + 0.4 * 0.04, "population"))
    }))
    expect_gt(stats::pbinom(sum(held[1, ]), runs, 0.8), 1e-6)
    expect_gt(stats::pbinom(sum(held[2, ]), runs, 0.8), 1e-6)
  }
  # by enumeration, without noise: Hoeffding's bound holds the binomial law
  for (n in c(3, 20)) for (k in 0:n) {
    ends <- internal$squares_population(list(sum = k, scale = 1e-12, unit = 1e-9, most = 1, n = n), 0.9)
    if (k < n) expect_lte(stats::pbinom(k, n, ends[2]), 0.05 + 1e-6)
    if (k > 0) expect_lte(stats::pbinom(k - 1, n, ends[1], lower.tail = FALSE), 0.05 + 1e-6)
  }
})

test_that("a mean with a mean square costs what is asked for, and its region is about the population", {
  for (s in SPREAD[c("sphere", "spd", "bures", "line")]) {
    x <- placed(s, 60)
    ledger <- dp_ledger(NULL, 10)
    r <- dp_mean(x, s$M, 2, s$center, s$radius, variance = 0.2, ledger = ledger)
    expect_identical(guarantee(r)$epsilon, 2)
    expect_equal(sum(r$draws$epsilon), 2, tolerance = 1e-9)
    expect_equal(sum(r$draws$epsilon[grepl("inference", r$draws$proof)]), 0.4, tolerance = 1e-9)
    expect_equal(r$budget$cost[["epsilon"]], 2, tolerance = 1e-9)
    expect_identical(is.null(r$squares$norm), mf_facts(s$M)$dimension == 1)
    expect_output(print(r), "mean squared distance")
    expect_output(explain(r), "sum of squared\\s+distances")
    region <- confint(r)
    noise <- confint(r, about = "estimate")
    expect_gte(region$radius, noise$radius * 0.99)
    expect_gte(confint(r, method = "finite")$radius, region$radius * 0.999)
    expect_output(print(region), "population of\\s+records")
    expect_output(print(region), "both privacy\\s+noise and sampling; clipping\\s+is not")
    expect_output(print(noise), "clipping and\\s+sampling are\\s+not in it")
    expect_length(confint(r, "variance"), 2)
    # a table says of each radius what it covers
    table <- dp_uncertainty(r, 0.95)
    expect_equal(c(table$radius, table$population), c(noise$radius, region$radius))
    expect_identical(table$covers, "privacy noise")
    # about the estimate where nothing is known of the population
    plain <- dp_mean(x, s$M, 2, s$center, s$radius)
    expect_identical(confint(plain)$covers, "privacy noise")
    expect_error(confint(plain, about = "population"), "variance = ", class = "riemdp_error_unsupported")
  }
  s <- SPREAD$sphere
  x <- placed(s, 60)
  expect_error(dp_mean(x, s$M, 1, s$center, s$radius, mechanism = "adaptive", variance = 0.2), class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, s$M, 1, s$center, s$radius, mechanism = "tangent", variance = 0.2), class = "riemdp_error_unsupported")
  for (bad in list(0, 1, -1, NA, "a")) expect_error(dp_mean(x, s$M, 1, s$center, s$radius, variance = bad), class = "riemdp_error_argument")
  expect_error(dp_mean(x, s$M, 1, s$center, s$radius, variance = 0.6, clipped = 0.5), class = "riemdp_error_argument")
  # with a private number, units, a subspace, chunks and groups
  sized <- dp_mean(x, s$M, 2, s$center, s$radius, variance = 0.2, neighbours = "add_remove")
  expect_true(is.na(sized$squares$n))
  expect_equal(sum(sized$draws$epsilon), 2, tolerance = 1e-9)
  expect_true(is.finite(confint(sized)$radius))
  expect_identical(confint(dp_mean(x, s$M, 2, s$center, s$radius, variance = 0.2, unit = rep(1:30, 2)))$about,
                   paste("the mean of the population of units' means, each of its records moved to the public ball"))
  inside <- dp_mean(x, s$M, 2, radius = 0.5, reduce = subspace(s$M, s$center, c(1, 0, 0)), variance = 0.2)
  expect_gt(confint(inside)$radius, confint(inside, about = "estimate")$radius * 0.99)
  expect_length(confint(inside)$center, 3)
  both <- lapply(list(x, chunks(x, 13)), function(x) with_simulation(4, dp_mean(x, s$M, 2, s$center, s$radius, variance = 0.2))$squares)
  expect_equal(both[[1]], both[[2]], tolerance = 1e-9)
  for (neighbours in c("replace", "add_remove")) {
    groups <- dp_mean(x, s$M, 2, s$center, s$radius, variance = 0.2, by = rep(c("a", "b"), 30), levels = c("a", "b", "none"), neighbours = neighbours)
    expect_identical(guarantee(groups)$epsilon, 2)
    expect_true(all(vapply(c("a", "b", "none"), function(g) is.finite(confint(groups[[g]])$radius), NA)))
    expect_true(all(is.na(vapply(groups$groups, function(g) g$squares$n, 0))))
  }
})

test_that("regions hold the mean of a population as often as they say", {
  # below 95 % by 5 standard errors, or wider than twice the region without privacy where noise is small
  cases <- list(list(SPREAD$sphere, 0.2, 200), list(SPREAD$wide, 0.15, 200), list(SPREAD$hyperbolic, 0.3, 60), list(SPREAD$line, 0.3, 60))
  runs <- if (quick()) 120 else 240
  for (case in cases) for (epsilon in c(1, 20)) {
    s <- case[[1]]
    d <- mf_facts(s$M)$dimension
    out <- with_simulation(8, replicate(runs, {
      x <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, matrix(stats::rnorm(case[[3]] * d, sd = case[[2]]), case[[3]])))
      r <- dp_mean(x, s$M, epsilon, s$center, s$radius, variance = 0.2, mechanism = "wrapped", post = FALSE)
      c(mf_dist(s$M, r$value, s$center), confint(r)$radius)
    }))
    expect_gt(stats::pbinom(sum(out[1, ] <= out[2, ]), runs, 0.95), 1e-6, label = paste(label_of(s$M), epsilon))
    if (epsilon == 20) expect_lt(mean(out[2, ]), 1.6 * case[[2]] * sqrt(stats::qchisq(0.95, d) / case[[3]]), label = label_of(s$M))
  }
})

test_that("of all covariances with a trace and a length the one taken has the largest radius", {
  set.seed(5)
  for (d in c(2, 5, 9)) for (i in 1:10) {
    lambda <- stats::rexp(d)^sample(1:3, 1)
    lambda <- lambda / sum(lambda)
    z <- matrix(stats::rnorm(2e4 * d)^2, d)
    # 1 % for the spectrum (2.5 % at a level of .9), the rest for steps of quantiles and simulation
    for (level in c(0.9, 0.95)) {
      cells <- internal$level_cells(level)
      taken <- internal$sampling_lengths(1, sqrt(sum(lambda^2)), d, 1e6, cells) * 1000
      expect_gt(internal$weighted_quantile(taken, cells$weight, level), sqrt(stats::quantile(colSums(lambda * z), level)) * 0.94)
    }
  }
})

test_that("where records hardly differ a population's region is that of the noise", {
  for (s in SPREAD) for (level in c(0.5, 0.8, 0.95, 0.99)) {
    r <- with_simulation(1, dp_mean(placed(s, 400, size = 1e-6), s$M, 2, s$center, s$radius, variance = 0.2))
    r$squares$sum <- r$squares$scale <- r$squares$unit
    if (!is.null(r$squares$norm)) r$squares$norm <- r$squares$norm_scale <- 0
    estimate <- confint(r, level = level, about = "estimate")$radius
    expect_equal(confint(r, level = level)$radius, estimate, tolerance = 0.003, label = paste(label_of(s$M), level))
  }
})

test_that("finite regions rest on bounds that hold", {
  # Pinelis's bound at the code's t, for vectors of few and of many values
  for (p in c(0.5, 0.02)) {
    n <- 50
    t <- function(x, v) 2 * x / 3 + sqrt((2 * x / 3)^2 + 2 * v * x) # vectors of length 2 at most
    part <- 0.05
    sums <- with_simulation(1, replicate(4000, {
      angle <- stats::runif(n, 0, 2 * pi)
      far <- 2 * stats::rbinom(n, 1, p)
      sqrt(mean(far * cos(angle))^2 + mean(far * sin(angle))^2)
    }))
    expect_lt(mean(sums > t(log(2 / part) / n, 4 * p)), part)
  }
  # all of it once more on a line, with a root of Hoeffding's equation found by another routine
  n <- 300
  seen <- list(sum = 12, scale = 0.5, unit = 1e-9, most = 4, n = n)
  part <- 0.05 / 4
  root <- sqrt((12 - 0.5 * log(part)) / n)
  kl <- function(u, y) u * log(u / y) + (1 - u) * log((1 - u) / (1 - y))
  far <- 2
  for (i in 1:200) {
    share <- min(2, root + far)^2 / 4
    square <- if (share >= 1) 4 else 4 * stats::uniroot(function(y) n * kl(share, y) + log(part), c(share, 1 - 1e-12), tol = 1e-12)$root
    x <- log(2 / part) / n
    bound <- 0.01 + 2 * x / 3 + sqrt((2 * x / 3)^2 + 2 * square * x)
    far <- min(2, bound)
  }
  ball <- riemdp:::check_radius(euclidean(1), 1, 0)
  expect_equal(riemdp:::population_finite(ball, seen, function(p) 0.01, 0.95, c(n, n)), bound, tolerance = 1e-6)
  expect_lt(bound, 0.5)
  s <- SPREAD$sphere
  x <- placed(s, 400)
  r <- with_simulation(1, dp_mean(x, s$M, 5, s$center, s$radius, variance = 0.2))
  radii <- vapply(c(0.5, 0.9, 0.99), function(level) confint(r, level = level, method = "finite")$radius, 0)
  expect_true(all(diff(radii) > 0))
})

test_that("tidy() has the errors of noise and of sampling apart, and intervals that cover each stored number", {
  simulate <- function(n) with_simulation(3, stats::rnorm(n, 0.1, 0.2))
  r <- with_simulation(3, dp_mean(simulate(2000), euclidean(1), epsilon = 1, center = 0, radius = 1, variance = 0.2))
  table <- tidy(r)
  # noise of scale b has the standard deviation sqrt(2) b, and 2,000 records leave .2/sqrt(2000)
  expect_equal(table$std.error.privacy, sqrt(2) * 2 / (0.8 * 2000), tolerance = 0.03)
  expect_equal(table$std.error.sampling, 0.2 / sqrt(2000), tolerance = 0.1)
  expect_equal(table$std.error^2, table$std.error.privacy^2 + table$std.error.sampling^2)
  expect_equal(table$conf.high - table$estimate, confint(r)$radius, tolerance = 0.03)
  expect_equal(table$conf.high + table$conf.low, 2 * table$estimate)
  expect_match(internal$variance_words(r), "0.0[34][0-9]* as released, so sampling errs by about 0.00[45]")
  expect_match(internal$mean_caption(r)[2], "sampling errs by about 0.00[45][0-9]* more; clipping is in neither")
  about <- tidy(r, about = "estimate", conf.level = 0.9)
  expect_identical(about$std.error.sampling, NA_real_)
  expect_identical(about$std.error, about$std.error.privacy)
  expect_equal(about$conf.high - about$estimate, confint(r, about = "estimate", level = 0.9)$radius, tolerance = 0.05)
  expect_error(tidy(r, conf.level = 1), class = "riemdp_error_argument")
  # without a released mean square nothing is said of the population
  plain <- dp_mean(simulate(100), euclidean(1), epsilon = 1, center = 0, radius = 1)
  expect_named(tidy(plain), c("row", "estimate"))
  expect_identical(unique(tidy(plain, conf.int = TRUE)$about), "estimate")
  expect_error(tidy(plain, conf.int = TRUE, about = "population"), class = "riemdp_error_unsupported")

  # a unit step changes a sphere's coordinates by what is left of 1
  p <- c(1, 2, 2) / 3
  expect_equal(internal$entry_weights(sphere(2), p), sqrt(1 - p^2))
  expect_equal(internal$entry_weights(euclidean(3), p), c(1, 1, 1))
  # records along one line, or even in all directions, in three
  one <- function(norm, noise = 0) {
    squares <- list(sum = 1, norm = norm, scale = 0, norm_scale = 0, unit = 0, most = 1)
    internal$population_direction(3, list(radius = 1, k_max = 0), squares, function(level) noise, 0.95, 100)
  }
  expect_equal(one(1, 0.3)$privacy, 0.3 / sqrt(3))
  expect_equal(one(1)$sampling, sqrt(1 / 100 / 100))
  expect_equal(one(1 / sqrt(3))$sampling, sqrt(1 / 3 / 100 / 100))
  expect_equal(one(1)$half, one(1)$sampling * stats::qt(0.975, 99), tolerance = 0.01)
  for (s in SPREAD) {
    table <- tidy(dp_mean(placed(s, 60), s$M, epsilon = 4, center = s$center, radius = s$radius, variance = 0.3), about = "population")
    expect_true(all(is.finite(table$std.error)) && all(table$conf.low <= table$conf.high), label = label_of(s$M))
  }
})

test_that("intervals of single numbers cover the population's, at any rate as often as they say", {
  M <- sphere(2)
  center <- c(0, 0, 1)
  mean <- mf_exp(M, center, c(0.1, 0.2, 0))
  runs <- if (quick()) 80 else 250
  for (epsilon in c(0.5, 20)) {
    inside <- with_simulation(17, vapply(seq_len(runs), function(i) {
      v <- matrix(stats::rnorm(400), 200) %*% diag(c(0.25, 0.05)) # most along one line
      x <- mf_exp(M, mean, mf_from_coords(M, mean, v))
      table <- tidy(dp_mean(x, M, epsilon = epsilon, center = center, radius = 0.75, variance = 0.2))
      table$conf.low <= mean & mean <= table$conf.high
    }, logical(3)))
    expect_gt(min(rowMeans(inside)), 0.95 - 5 * sqrt(0.95 * 0.05 / runs)) # five standard errors
  }
})

test_that("a plan of shares tells the regions that releases have, from public numbers", {
  M <- sphere(2)
  plan <- dp_region_plan(M, n = 400, epsilon = 2, radius = 0.7, spread = 0.2, shares = c(0.3, 0.1), kind = "ball")
  expect_s3_class(plan, "riemdp_region_plan")
  expect_identical(plan$share, c(0.1, 0.3))
  expect_identical(which(plan$chosen), which.min(plan$region))
  expect_lt(max(abs(plan$coverage - 0.95)), 0.01)
  expect_identical(plan, dp_region_plan(M, n = 400, epsilon = 2, center = c(1, 0, 0), radius = 0.7, spread = c(0.2, 0.2), kind = "ball",
                                         shares = c(0.1, 0.3)))
  center <- c(0, 0, 1)
  radii <- with_simulation(4, replicate(60, {
    x <- mf_exp(M, center, mf_from_coords(M, center, matrix(stats::rnorm(800, sd = 0.2), 400)))
    r <- dp_mean(x, M, epsilon = 2, center = center, radius = 0.7, variance = 0.1)
    c(confint(r, about = "estimate")$radius, confint(r)$radius, confint(r, method = "finite")$radius)
  }))
  expect_equal(plan$estimate[1], mean(radii[1, ]), tolerance = 0.01)
  expect_equal(plan$region[1], mean(radii[2, ]), tolerance = 0.05)
  finite <- dp_region_plan(M, n = 400, epsilon = 2, radius = 0.7, spread = 0.2, shares = 0.1, method = "finite")
  expect_equal(finite$region, mean(radii[3, ]), tolerance = 0.05)
  # a share whose sums are mostly noise has smaller balls that hold less often: they are told so, and aren't chosen
  flat <- dp_region_plan(euclidean(2), n = 182, epsilon = 1, radius = 1, spread = 0.6, shares = c(0.005, 0.1, 0.3))
  inside <- with_simulation(8, vapply(c(0.005, 0.3), function(share) {
    mean(replicate(1000, {
      a <- stats::runif(182, 0, 2 * pi)
      at <- confint(dp_mean(sqrt(0.72) * cbind(cos(a), sin(a)), euclidean(2), 1, center = c(0, 0), radius = 1, variance = share))
      sqrt(sum(at$center^2)) <= at$radius
    }))
  }, 0))
  expect_lt(max(abs(inside - flat$coverage[c(1, 3)])), 0.05) # four standard errors of the first, and angles are no normal vectors
  expect_lt(flat$coverage[1], 0.92)
  expect_lt(flat$region[1], flat$region[2])
  expect_equal(flat$share[flat$chosen], 0.1)
  # little noise: little is needed for the mean square, and the region comes near that without privacy
  rich <- dp_region_plan(euclidean(1), n = 1e6, epsilon = 5, radius = 1, spread = 0.2)
  expect_lt(rich$share[rich$chosen], 0.1)
  expect_equal(min(rich$region), attr(rich, "plain"), tolerance = 0.01)
  # where nothing can be told the ball says as much
  poor <- dp_region_plan(euclidean(1), n = 2, epsilon = 0.01, radius = 1, spread = 0.2)
  expect_output(print(poor), "public ball says as much")
  expect_output(print(plan), "population")
  refused <- dp_region_plan(sphere(2), n = 40, epsilon = 1, radius = 0.7, spread = 0.2, mechanism = "adaptive")
  expect_true(all(is.na(refused$region)) && !any(refused$chosen))
  expect_match(refused$note[1], "adaptive")
  for (bad in list(0, -1, Inf, "1", c(1, 0), 1:3)) {
    expect_error(dp_region_plan(M, 40, 1, radius = 0.7, spread = bad), class = "riemdp_error_argument")
  }
  expect_error(dp_region_plan(M, 40, 1, radius = 0.7, spread = 1, kind = "cube"), class = "riemdp_error_argument")
  expect_error(dp_region_plan(M, 40, 1, radius = 0.7), class = "riemdp_error_argument")
  expect_error(dp_region_plan(M, 40, 1, radius = 0.7, spread = 1, shares = 1), class = "riemdp_error_argument")
})

test_that("a plan chooses between a ball and an ellipsoid, whose size is that which releases have", {
  M <- sphere(2)
  center <- c(0, 0, 1)
  spread <- c(0.3, 0.03)
  plan <- function(...) dp_region_plan(M, ..., radius = 0.75)
  both <- plan(n = 2e4, epsilon = 1, spread = spread, shares = c(0.1, 0.3))
  expect_identical(both$kind, rep(c("ball", "ellipsoid"), each = 2))
  found <- with_simulation(6, replicate(20, {
    x <- mf_exp(M, center, mf_from_coords(M, center, matrix(stats::rnorm(4e4) * rep(spread, each = 2e4), 2e4)))
    ball <- dp_mean(x, M, epsilon = 1, center = center, radius = 0.75, variance = 0.1)
    r <- dp_mean(x, M, epsilon = 0.7, center = center, radius = 0.75)
    s <- dp_covariance(x, M, epsilon = 0.3, center = center, radius = 0.75, at = r)
    c(confint(ball)$radius, confint(r, about = "estimate")$radius, exp(mean(log(confint(r, covariance = s)$half_axes))))
  }))
  expect_equal(both$region[1], mean(found[1, ]), tolerance = 0.05)
  expect_equal(both$estimate[4], mean(found[2, ]), tolerance = 0.02)
  expect_equal(both$region[4], mean(found[3, ]), tolerance = 0.05)
  expect_true(both$kind[both$chosen] == "ellipsoid" && any(grepl("dp_covariance", utils::capture.output(print(both)))))
  # one direction apart from the others makes a ball larger than the same mean square spread evenly: 1.96 of one against the root of 5.99 of two halves
  sharp <- function(spread) plan(n = 2e4, epsilon = 100, spread = spread, shares = 0.3, kind = "ball")$region
  expect_equal(sharp(spread) / sharp(rep(sqrt(sum(spread^2) / 2), 2)), stats::qnorm(0.975) * 0.3 / sqrt(stats::qchisq(0.95, 2) * sum(spread^2) / 2),
               tolerance = 0.02)
  # alike in all directions, or too few records to know: a ball
  even <- plan(n = 2e4, epsilon = 1, spread = 0.2, shares = c(0.1, 0.3))
  expect_identical(even$kind[even$chosen], "ball")
  few <- plan(n = 50, epsilon = 1, spread = spread, shares = c(0.1, 0.3))
  expect_identical(few$kind[few$chosen], "ball")
  # half of delta each
  normal <- plan(n = 1000, epsilon = 1, delta = 1e-6, spread = spread, shares = 0.3, kind = "ellipsoid", mechanism = "wrapped_gaussian")
  x <- matrix(center, 1000, 3, byrow = TRUE)
  alone <- dp_mean(x, M, epsilon = 0.7, delta = 5e-7, center = center, radius = 0.75, mechanism = "wrapped_gaussian")
  expect_equal(normal$estimate, confint(alone)$radius, tolerance = 0.01)
  expect_true(all(plan(n = 40, epsilon = 1, spread = 0.2, method = "finite")$kind == "ball"))
  expect_true(all(dp_region_plan(euclidean(1), 40, 1, radius = 1, spread = 0.2)$kind == "ball"))
})
