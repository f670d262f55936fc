# Local Frechet means along a public grid (R/spline-local.R; inst/proofs/regression.md, section 7)

internal <- asNamespace("riemdp")
SPACES <- list(
  plane = list(M = euclidean(2), center = c(0, 0), radius = 1), sphere = list(M = sphere(2), center = c(0, 0, 1), radius = 0.7),
  hyperbolic = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1.5), matrices = list(M = spd(2), center = diag(c(1, 2)), radius = 1),
  bures = list(M = spd(2, "bures"), center = diag(2), radius = 0.25), frames = list(M = stiefel(3, 2), center = diag(3)[, 1:2], radius = 0.3),
  shapes = list(M = kendall(4), center = exp(2i * pi * (1:4) / 4), radius = 0.3)
)
asked <- function(s, df = 4, n = 20, epsilon = 1) {
  basis <- internal$basis_on(internal$spline_term(stats::as.formula(sprintf("y ~ bs(t, df = %d, degree = 1)", df)), "t", globalenv())$term, c(0, 1))
  internal$local_means_ask(c(internal$spline_ask(s$M, n, epsilon, s$center, s$radius, NULL, 0, basis, c(0, 1)), list(penalty = "auto")))
}
points <- function(s, a) mf_points(mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, a)), s$M)
drawn <- function(s, n, sd = 0.4) {
  d <- internal$mf_facts(s$M)$dimension
  a <- matrix(stats::rnorm(n * d, sd = sd / sqrt(d)), n) * s$radius
  list(x = matrix(stats::runif(n) - 0.5, 1), y = points(s, a), a = a, n = n)
}
# the sums of some records: list(moment, knots x coordinates; rest)
totals <- function(records, ask, bits = 20) {
  sums <- internal$local_total(internal$spline_numbers_of(records$x, records$y, internal$numbers_asked(ask)), list(bits = bits), ask)
  at <- seq_len(internal$spline_count(ask$basis) * ask$d)
  list(moment = matrix(sums[at], ncol = ask$d), rest = sums[-at])
}

test_that("a record counts in eighths at the two knots beside it, eight in all, by itself", {
  basis <- asked(SPACES$plane, df = 5)$basis
  t <- c(0, 1, 0.2, 0.1, 0.05, 0.33, stats::runif(50), NA, 0.5)
  s <- internal$spline_features(basis, c(0, 1), t)
  s[, 58] <- 0 # a response that is no point
  parts <- internal$local_parts(s)
  expect_identical(colSums(parts), c(rep(8, 56), 0, 0))
  expect_lte(max(abs(parts[, 1:56] / 8 - s[, 1:56])), 1 / 16 + 1e-9)
  expect_true(all(apply(parts > 0, 2, function(k) sum(k) <= 1 || (sum(k) == 2 && diff(which(k)) == 1))[1:56]))
  expect_identical(parts[, 1], c(8, 0, 0, 0, 0, 0))
  expect_identical(parts[, 4], c(4, 4, 0, 0, 0, 0))
  for (i in c(4, 20, 57)) expect_identical(internal$local_parts(s[, i, drop = FALSE])[, 1], parts[, i])
})

test_that("sums are numbers of records times the logarithms of their means, of records moved to the ball", {
  set.seed(1)
  for (s in SPACES) {
    ask <- asked(s)
    records <- drawn(s, 20, 0.9)
    parts <- internal$local_parts(internal$spline_features(ask$basis, c(0, 1), as.vector(records$x) + 0.5))
    moved <- points(s, records$a * pmin(1, s$radius / sqrt(rowSums(records$a^2))))
    found <- totals(records, ask, 30)
    expect_identical(found$rest, 2^30 * c(rowSums(parts) / 8, 20))
    for (j in seq_len(nrow(parts))) {
      mean <- frechet_mean(moved, s$M, weights = parts[j, ], tol = 1e-12)$mean
      log <- as.vector(mf_coords(s$M, s$center, mf_log(s$M, s$center, mean)))
      expect_lt(max(abs(found$moment[j, ] / 2^30 - sum(parts[j, ]) / 8 * log / s$radius)), 1e-7)
    }
  }
})

test_that("no replaced record moves the sums farther than the noise is for, and some nearly as far", {
  set.seed(2)
  for (name in names(SPACES)) {
    s <- SPACES[[name]]
    worst <- c(0, 0)
    for (n in c(1, 2, 5, 20)) {
      ask <- asked(s, n = n)
      noise <- internal$spline_pure(ask, 0.6)
      reach <- 2 * internal$counted_reach(ask$ball, TRUE) / s$radius
      expect_equal(noise$shift[1] / 2^noise$bits, reach, tolerance = 1e-4)
      # rounding of four vectors, and what doubles make of the means at four knots, before and after
      expect_gte(noise$shift[1], 2^noise$bits * reach + 4 * sqrt(ask$d))
      steps <- internal$mean_steps(s$M, ask$ball, 8 * n, lattice = TRUE)
      expect_gte(ask$local$off * s$radius, 8 * n * steps$error)
      e <- c(s$radius, numeric(ask$d - 1))
      for (k in 1:12) {
        records <- drawn(s, n, if (k < 7) 0.4 else 0.05)
        if (k %% 3 == 0) records$x[] <- stats::runif(1) - 0.5
        # one that goes from edge to edge, or elsewhere, or stops counting; beside others that are spread or at one end
        if (k %% 2 == 0) records$y <- points(s, matrix(-0.999 * e, n, ask$d, byrow = TRUE))
        here <- there <- records
        at <- sample(n, 1)
        here$y[at] <- points(s, matrix(e, 1))
        there$y[at] <- points(s, matrix(if (k %% 3 == 0) -e else drop(stats::rnorm(ask$d)) * s$radius / 2, 1))
        there$x[at] <- if (k == 1) NaN else if (k %% 3 == 0) here$x[at] else stats::runif(1) - 0.5
        a <- totals(here, ask, noise$bits)
        b <- totals(there, ask, noise$bits)
        moved <- c(sum(sqrt(rowSums((a$moment - b$moment)^2))), sum(abs(a$rest - b$rest)))
        expect_true(all(moved <= noise$shift))
        worst <- pmax(worst, moved / noise$shift)
      }
    }
    flat <- s$radius / internal$counted_reach(asked(s)$ball, TRUE)
    expect_gt(worst[1], 0.99 * flat)
    expect_gt(worst[2], 0.999)
  }
})

test_that("records that are broken count nothing, and those far out as those at the edge", {
  s <- SPACES$sphere
  set.seed(3)
  d <- drawn(s, 40)
  call <- function(t, y) {
    with_simulation(4, dp_spline(y ~ bs(t, df = 4, degree = 1), s$M, list(t = t, y = y), 1, s$center, s$radius, c(0, 1), target = "frechet", source = "s",
                                 invalid = "ignore"))
  }
  t <- as.vector(d$x) + 0.5
  y <- as.matrix(d$y)
  at_edge <- y
  at_edge[3, ] <- c(sin(s$radius), 0, cos(s$radius))
  farther <- y
  farther[3, ] <- c(sin(2), 0, cos(2))
  expect_equal(call(t, farther)$value, call(t, at_edge)$value)
  gone <- call(replace(t, 3, NA), y)
  opposite <- y
  opposite[3, ] <- c(0, 0, -1)
  expect_identical(call(t, opposite)$value, gone$value)
  expect_identical(call(t, replace(y, cbind(3, 1), NA))$value, gone$value)
})

test_that("plain means are those with these weights, and averages of logarithms in flat space", {
  set.seed(5)
  for (s in SPACES[c("plane", "sphere", "matrices")]) {
    records <- drawn(s, 60)
    d <- list(t = as.vector(records$x) + 0.5, y = records$y)
    fit <- spline_regression(y ~ bs(t, df = 3, degree = 1), s$M, d, center = s$center, bounds = c(0, 1), penalty = 0, target = "frechet")
    w <- internal$spline_features(fit$basis, c(0, 1), d$t)
    for (j in 1:4) {
      mean <- frechet_mean(d$y, s$M, weights = w[j, ])$mean
      expect_lt(mf_dist(s$M, predict(fit, data.frame(t = (j - 1) / 3)), mean), 1e-5)
    }
    if (s$M$name == "euclidean") expect_equal(coef(fit), (w %*% records$a) / rowSums(w), tolerance = 1e-6)
    smooth <- spline_regression(y ~ bs(t, df = 3, degree = 1), s$M, d, center = s$center, bounds = c(0, 1), penalty = 1e9, target = "frechet")
    expect_lt(max(abs(diff(coef(smooth), differences = 2))), 1e-4)
  }
  # a knot without records
  few <- spline_regression(y ~ bs(t, df = 9, degree = 1), s$M, list(t = c(0, 0.01, 1), y = d$y[1:3]), center = s$center, bounds = c(0, 1), target = "frechet")
  expect_true(all(is.finite(coef(few))))
})

test_that("where records are far apart the curve is one of Frechet means, and errors are near what is told", {
  s <- list(M = hyperbolic(2), center = c(1, 0, 0), radius = 3)
  set.seed(6)
  n <- 20000
  t <- stats::runif(n)
  curve <- function(t) mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, 1.5 * cbind(cos(3 * t), sin(3 * t))))
  foot <- curve(t)
  y <- mf_points(mf_exp(s$M, foot, mf_from_coords(s$M, foot, matrix(stats::rnorm(2 * n, sd = 0.64), n))), s$M)
  d <- list(t = t, y = y)
  at <- data.frame(t = seq(0, 1, 0.05))
  off <- function(r, true = curve(at$t)) sqrt(mean(mf_dist(s$M, predict(r, at), true)^2))
  fit <- function(target) with_simulation(7, dp_spline(y ~ bs(t, df = 16, degree = 1), s$M, d, 1, s$center, s$radius, c(0, 1), target = target, source = "s"))
  frechet <- fit("frechet")
  tangent <- fit("tangent")
  expect_lt(off(frechet), 0.08)
  expect_gt(off(tangent), 0.12)
  plain <- spline_regression(y ~ bs(t, df = 16, degree = 1), s$M, d, center = s$center, bounds = c(0, 1), target = "frechet")
  expect_lt(off(frechet, predict(plain, at)), 4 * frechet$expected_error)
  expect_gt(off(frechet, predict(plain, at)), frechet$expected_error / 4)
})

test_that("a release says what it is, a plan says the same, and what isn't served is refused", {
  s <- SPACES$sphere
  set.seed(8)
  records <- drawn(s, 200)
  d <- list(t = as.vector(records$x) + 0.5, y = records$y)
  call <- function(...) dp_spline(y ~ bs(t, df = 6, degree = 1), s$M, d, 1, s$center, s$radius, c(0, 1), ..., target = "frechet", source = "a map")
  r <- call()
  expect_identical(r$guarantee$label, "pure")
  expect_identical(r$target, "frechet")
  said <- paste(utils::capture.output(print(r)), collapse = " ")
  expect_match(said, "Frechet means of the records near each knot")
  expect_match(said, "records moved to the public ball")
  expect_match(said, "not in it: +flattening \\(of what bends between knots")
  expect_match(paste(utils::capture.output(explain(r)), collapse = " "), "counts in eighths")
  expect_true(all(grepl("regression.md, 7", r$draws$proof)))
  plan <- dp_spline_plan(s$M, 200, 1, s$radius, 6, target = "frechet")
  expect_equal(plan$expected_error, r$expected_error)
  expect_identical(plan$share, r$share)
  unserved <- function(...) expect_error(call(...), class = "riemdp_error_unsupported")
  unserved(delta = 0.1)
  unserved(velocity = c(0.1, 0, 0))
  unserved(unit = rep(1:20, 10))
  unserved(neighbours = "add_remove")
  expect_error(dp_spline(y ~ bs(t, df = 6), s$M, d, 1, s$center, s$radius, c(0, 1), target = "frechet"), class = "riemdp_error_unsupported")
  expect_error(dp_spline(y ~ bs(t, df = 6, degree = 1), s$M, d, 1, s$center, 0.9, c(0, 1), target = "frechet"), class = "riemdp_error_radius")
  expect_error(call(penalty = "some"), class = "riemdp_error_argument")
})
