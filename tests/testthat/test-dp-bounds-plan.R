# Balls from public or simulated records: what moving records to a ball costs, what noise costs, and the best radius.

line <- function(n, seed = 1) with_simulation(seed, rnorm(n, 3, 0.5))

test_that("the curve holds clipping, noise and their root of squares, by other means", {
  x <- line(80)
  plan <- dp_bounds_plan(euclidean(1), n = 400, epsilon = 0.5, public = x, centers = 2.8, radii = c(0.2, 0.5, 1, 2))
  curve <- as.data.frame(plan)
  expect_identical(names(curve), c("center", "radius", "clipping", "noise", "total", "outside", "mechanism"))
  for (i in 1:4) {
    r <- c(0.2, 0.5, 1, 2)[i]
    expect_equal(curve$clipping[i], abs(mean(pmin(pmax(x, 2.8 - r), 2.8 + r)) - mean(x)), tolerance = 1e-9)
    expect_equal(curve$noise[i], subset(dp_mean_plan(euclidean(1), 400, 0.5, 2.8, r), chosen)$expected_error, tolerance = 1e-9)
    expect_equal(curve$outside[i], mean(abs(x - 2.8) > r))
  }
  expect_equal(curve$total, sqrt(curve$clipping^2 + curve$noise^2))
  best <- which.min(curve$total)
  expect_equal(as.vector(plan$radius), curve$radius[best]) # radii that were given aren't widened
  expect_equal(plan$error, curve$total[best])
  expect_equal(as.vector(plan$center), 2.8)
  # the mechanism is that of a release
  r <- dp_mean(x, euclidean(1), 0.5, plan$center, plan$radius)
  expect_identical(r$mechanism, plan$mechanism)
  expect_equal(dp_mean(rep_len(x, 400), euclidean(1), 0.5, plan$center, plan$radius)$expected_error, plan$noise)
})

test_that("the mechanism is the one that dp_mean() would choose, near and far from the ball's edge", {
  for (epsilon in c(0.02, 0.1, 1)) for (delta in c(0, 1e-3)) {
    plan <- dp_bounds_plan(sphere(2), n = 50, epsilon = epsilon, delta = delta, simulate = list(center = c(0, 0, 1), spread = 0.1), radii = c(0.1, 0.5))
    for (i in 1:2) {
      full <- dp_mean_plan(sphere(2), 50, epsilon, c(0, 0, 1), plan$curve$radius[i], delta = delta)
      expect_identical(plan$curve$mechanism[i], full$mechanism[full$chosen])
      expect_equal(plan$curve$noise[i], full$expected_error[full$chosen])
    }
  }
})

test_that("with a centre of the records' own, the centre is taken for as uncertain as it is", {
  # at their very mean a ball of radius 0 would do
  x <- line(400)
  plan <- dp_bounds_plan(euclidean(1), n = 400, epsilon = 1, public = x)
  small <- as.data.frame(plan)[1, ]
  # the means of as many as tell that much lie about sd/sqrt(200) from it
  expect_gt(small$clipping, 0.3 * sd(x) / sqrt(200))
  expect_lt(small$clipping, 3 * sd(x) / sqrt(200))
  # few public records: more so
  few <- as.data.frame(dp_bounds_plan(euclidean(1), n = 400, epsilon = 1, public = x[1:10]))[1, ]
  expect_gt(few$clipping, 1.5 * small$clipping)
  # the best radius doesn't collapse where noise is small beside that
  expect_lt(plan$outside, 0.1)
})

test_that("few public records have a wider ball than many, and the same call gives the same plan", {
  x <- line(300)
  set.seed(1)
  before <- .Random.seed
  many <- dp_bounds_plan(euclidean(1), n = 500, epsilon = 1, public = x)
  expect_identical(.Random.seed, before)
  expect_equal(dp_bounds_plan(euclidean(1), n = 500, epsilon = 1, public = x)$curve, many$curve)
  few <- dp_bounds_plan(euclidean(1), n = 500, epsilon = 1, public = x[1:16])
  expect_equal(few$widened, 1 + 1.5 / 4)
  expect_equal(many$widened, 1 + 1.5 / sqrt(300))
  expect_true(any(abs(few$curve$radius * few$widened - few$radius) < 1e-12))
  # errors are those of the wider ball
  expect_equal(few$noise, subset(dp_mean_plan(euclidean(1), 500, 1, few$center, few$radius), chosen)$expected_error, tolerance = 1e-9)
  # small margins for limits of curvature
  round <- with_simulation(1, mf_random(sphere(2), 30))
  wide <- dp_bounds_plan(sphere(2), n = 500, epsilon = 1, public = round, radii = c(0.5, 0.7, 0.9))
  expect_true(all(wide$curve$radius < pi / 4))
  expect_error(dp_bounds_plan(sphere(2), n = 500, epsilon = 1, public = round, radii = 1.5), class = "riemdp_error_radius")
})

test_that("half of a data set leads the other half near the best radius in hindsight", {
  spaces <- list(
    list(sphere(2), c(0, 0, 1), 0.15), list(spd(2), diag(2), 0.4), list(hyperbolic(2), c(1, 0, 0), 0.5), list(euclidean(3), c(1, 2, 3), 1),
    list(kendall(5), exp(2i * pi * (1:5) / 5), 0.05)
  )
  if (quick()) spaces <- spaces[c(1, 4)]
  for (space in spaces) {
    M <- space[[1]]
    n <- 200
    made <- lapply(1:4, function(seed) with_simulation(seed, list(public = riemdp:::tangent_normals(M, space[[2]], n, space[[3]]),
                                                                  private = riemdp:::tangent_normals(M, space[[2]], n, space[[3]]))))
    errors <- vapply(made, function(d) {
      plan <- dp_bounds_plan(M, n = n, epsilon = 1, public = d$public)
      m <- frechet_mean(d$private, M)$mean
      total <- function(r) {
        moved <- mf_dist(M, m, frechet_mean(mf_to_ball(M, d$private, plan$center, r), M)$mean)
        c(moved^2, dp_mean_plan(M, n, 1, plan$center, r, mechanism = "wrapped")$expected_error^2)
      }
      grid <- plan$curve$radius[24] * 2^seq(0, -3, by = -0.5)
      c(sum(total(as.vector(plan$radius))), vapply(grid, function(r) sum(tryCatch(total(r), riemdp_error = function(e) NA)), 0))
    }, numeric(8))
    mean_square <- rowMeans(errors)
    expect_lt(sqrt(mean_square[1] / min(mean_square[-1], na.rm = TRUE)), 1.5)
  }
})

test_that("simulated records do as well: by a function, or a spread and a public point", {
  own <- dp_bounds_plan(euclidean(2), n = 300, epsilon = 1, simulate = function(n) matrix(rnorm(2 * n), n))
  expect_equal(own$records, 1000)
  expect_equal(own$widened, 1)
  point <- dp_bounds_plan(spd(2), n = 300, epsilon = 1, simulate = list(center = diag(2), spread = 0.3))
  expect_identical(unname(unlist(lapply(point$centers, as.vector))), as.vector(diag(2)))
  bures <- dp_bounds_plan(spd(2, "bures"), n = 300, epsilon = 1, simulate = list(center = diag(2), spread = 0.05))
  expect_gt(max(bures$curve$outside), 0.5)
  # the centre is uncertain by half of a record's distance
  expect_gt(own$curve$clipping[1], 0.25 * sqrt(2))
  for (wrong in list(3, list(center = 0), list(center = 0, spread = -1), function(n) "a", function(n) rnorm(3), function(n) stop("no"))) {
    expect_error(dp_bounds_plan(euclidean(1), n = 300, epsilon = 1, simulate = wrong), class = "riemdp_error")
  }
})

test_that("the least n and the least epsilon keep the error at the best ball, and a little less doesn't", {
  x <- line(60)
  total <- function(n, epsilon) dp_bounds_plan(euclidean(1), n = n, epsilon = epsilon, public = x, mechanism = "laplace")$error
  by_epsilon <- dp_bounds_plan(euclidean(1), n = 500, error = 0.02, public = x, mechanism = "laplace")
  expect_lte(total(500, by_epsilon$epsilon), 0.02)
  expect_gt(total(500, by_epsilon$epsilon / 1.002), 0.02)
  expect_lte(by_epsilon$error, 0.02)
  by_n <- dp_bounds_plan(euclidean(1), epsilon = 1, error = 0.02, public = x, mechanism = "laplace")
  expect_lte(total(by_n$n, 1), 0.02)
  expect_gt(total(by_n$n - 2, 1), 0.02)
  expect_output(print(by_n), "the least n for an error of 0.02")
  expect_error(dp_bounds_plan(euclidean(1), n = 5, epsilon = 1, error = 0.1, public = x), class = "riemdp_error_argument")
  # beyond what any of the balls gives
  expect_error(dp_bounds_plan(euclidean(1), n = 500, error = 1e-9, public = x, centers = 0, radii = 2), "alone costs more", class = "riemdp_error_unsupported")
})

test_that("a ball's provenance stays with what uses it", {
  x <- line(60)
  plan <- dp_bounds_plan(euclidean(1), n = 60, epsilon = 1, public = x)
  says <- "computed from 60 records that were called public (dp_bounds_plan)"
  for (r in list(dp_mean(x, euclidean(1), 1, plan$center, plan$radius), dp_mean(x, euclidean(1), 1, plan, plan))) {
    expect_identical(r$source, sprintf("center: %s; radius: %s", says, says))
    expect_identical(guarantee(r)$label, "pure")
    expect_identical(r$radius, as.vector(plan$radius))
    expect_match(paste(format(r), collapse = " "), "called public", fixed = TRUE)
  }
  expect_identical(dp_mean(x, euclidean(1), 1, plan$center, 2)$source, sprintf("center: %s; radius: not stated", says))
  expect_identical(dp_mean(x, euclidean(1), 1, plan$center, plan$radius, source = "a census")$source, sprintf("center: %s; radius: %s; a census", says, says))
  # the call that is printed runs, and says it once
  called <- paste(riemdp:::bounds_call(plan), collapse = "\n")
  r <- eval(parse(text = called), list(x = x, M = euclidean(1), plan = plan), parent.frame())
  expect_identical(r$source, says)
  ball <- dp_ball(x, euclidean(1), 1, plan, plan)
  expect_match(ball$source, says, fixed = TRUE)
  simulated <- dp_bounds_plan(spd(2), n = 300, epsilon = 1, simulate = list(center = diag(2), spread = 0.3))
  expect_match(dp_mean(wishart_spd[, , 1:300], spd(2), 1, simulated, simulated)$source, "simulated records", fixed = TRUE)
})

test_that("it says in a few lines what it found, that its records aren't protected, and draws it", {
  plan <- dp_bounds_plan(euclidean(2), n = 300, epsilon = 1, public = with_simulation(2, matrix(rnorm(80), 40)), centers = rbind(c(0, 0), c(3, 3)))
  said <- capture.output(print(plan))
  expect_lte(length(said), 12)
  all <- paste(said, collapse = " ")
  for (text in c("records that were called public", "nothing of them is protected", "half the radius", "double the radius", "clipping", "privacy noise",
                 "center = plan$center, radius = plan$radius", "root of the sum of squares")) expect_match(all, text, fixed = TRUE)
  expect_equal(sort(unique(plan$curve$center)), 1:2)
  expect_equal(as.vector(plan$center), c(0, 0))
  expect_s3_class(plan[1:3, ], "data.frame")
  expect_identical(plan[2, "radius"], plan$curve$radius[2])
  expect_identical(as.data.frame(plan), plan$curve)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(plan), plan)
  # where the release would say nothing but the centre
  useless <- dp_bounds_plan(euclidean(2), n = 20, epsilon = 0.01, public = with_simulation(2, matrix(rnorm(80), 40)))
  expect_match(paste(capture.output(print(useless)), collapse = " "), "little more than its centre")
})

test_that("what is asked for is checked, and private things are refused as public ones", {
  x <- line(40)
  ask <- function(...) dp_bounds_plan(euclidean(1), n = 100, epsilon = 1, ...)
  expect_error(ask(), "give one of", class = "riemdp_error_argument")
  expect_error(ask(public = x, simulate = rnorm), "give one of", class = "riemdp_error_argument")
  expect_error(ask(public = chunks(x, 7)), class = "riemdp_error_argument")
  expect_error(ask(public = dp_mean(x, euclidean(1), 1, 3, 2)), class = "riemdp_error_argument")
  expect_error(ask(public = 1), "two records", class = "riemdp_error_argument")
  expect_error(ask(public = c(1, 1, 1)), "one point", class = "riemdp_error_argument")
  expect_error(ask(public = c(1, NA)), class = "riemdp_error")
  for (radii in list(-1, numeric(), NA, "a", Inf)) expect_error(ask(public = x, radii = radii), class = "riemdp_error_argument")
  expect_error(ask(public = x, mechanism = "none"), class = "riemdp_error_argument")
  expect_error(ask(public = x, mechanism = "adaptive"), class = "riemdp_error_unsupported") # its error isn't known
  expect_error(dp_bounds_plan(euclidean(1), epsilon = 1, public = x), "`n` is public", class = "riemdp_error_argument")
  expect_error(dp_bounds_plan(euclidean(1), 10, 1, NULL, x, 3), "by name", class = "riemdp_error_argument")
})
