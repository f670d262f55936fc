# Means on products part by part (R/mechanism-parts.R)

internal <- asNamespace("riemdp")
M <- product(turn = sphere(2), size = euclidean(2), weights = c(1, 1 / 4))
north <- c(0, 0, 1)
center <- mf_join(M, list(north, c(0, 0)))
parts_data <- function(n, sd = 0.1) {
  turn <- mf_exp(sphere(2), north, cbind(matrix(stats::rnorm(2 * n, sd = sd), n), 0))
  mf_join(M, list(turn, matrix(stats::rnorm(2 * n), n)))
}
x <- with_simulation(1, parts_data(200))
ask <- function(..., data = x, epsilon = 1, radius = c(0.4, 3)) dp_mean(data, M, epsilon, center, radius, ...)

test_that("a release part by part is one release of each part, with the budget that it has", {
  r <- with_simulation(2, ask(epsilon = c(0.3, 0.7)))
  each <- with_simulation(2, list(
    dp_mean(mf_part(M, x, 1), sphere(2), 0.3, north, 0.4, post = FALSE), dp_mean(mf_part(M, x, 2), euclidean(2), 0.7, c(0, 0), 3, post = FALSE)
  ))
  expect_identical(r$value, mf_join(M, lapply(each, `[[`, "value")))
  expect_equal(r$draws$scale, c(each[[1]]$draws$scale, each[[2]]$draws$scale))
  r <- ask(epsilon = c(0.3, 0.7))
  expect_equal(r$draws$epsilon, c(0.3, 0.7), tolerance = 1e-6)
  expect_lte(sum(r$draws$epsilon), 1)
  g <- guarantee(r)
  expect_identical(c(g$label, g$numerics, g$adjacency), c("pure", "lattice", "replace-one"))
  expect_equal(g$epsilon, 1)
  ledger <- dp_ledger(NULL, 1)
  ask(epsilon = c(0.3, 0.7), ledger = ledger)
  expect_equal(ledger_history(ledger)$epsilon, 1)
  expect_error(ask(epsilon = 0.1, ledger = ledger), class = "riemdp_error_budget")
  expect_output(print(r), "public balls of radius 0.4, 3.0")
  expect_output(explain(r), "turn by\\s+mechanism wrapped in a ball of radius 0.4")
  wide <- dp_mean(matrix(0, 50, 40), power(euclidean(20), 2), 1, numeric(40), c(1, 2), delta = 1e-3)
  expect_match(vapply(wide$details$parts, `[[`, "", "mechanism"), "gaussian")
  expect_equal(guarantee(wide)$delta, 1e-3, tolerance = 1e-6)
  expect_lte(sum(wide$draws$delta), 1e-3)
  expect_identical(ask(mechanism = "parts", radius = 0.5)$details$radii, 0.5 * (1 - 1e-12) / c(1, 1 / 2))
  expect_identical(dim(ask(data = x[1, , drop = FALSE])$value), dim(r$value))
  expect_length(ask(mechanism = "parts", radius = 0.5, unit = rep(1:50, 4))$value, 5)
  constant <- ask(timing = "constant", delta = 1e-6)
  expect_length(constant$value, 5)
})

test_that("balls are the parts' own, and a record changes in the part alone that lies outside", {
  sure <- function(data) {
    plan <- ask(data = data, epsilon = 1e6, invalid = "center")
    mf_dist(M, plan$value, frechet_mean(moved(data), M)$mean)
  }
  moved <- function(data) {
    mf_join(M, list(mf_to_ball(sphere(2), mf_part(M, data, 1), north, 0.4), mf_to_ball(euclidean(2), mf_part(M, data, 2), c(0, 0), 3)))
  }
  expect_lt(sure(x), 1e-3)
  far <- x
  far[1:60, 1:3] <- rep(c(1, 0, 0), each = 60)
  far[61:120, 4] <- 50
  expect_lt(sure(far), 1e-3)
  # what is no point in one part is that part's centre
  bad <- x
  bad[1:100, 1:3] <- NA
  bad[101:150, 5] <- Inf
  as_center <- x
  as_center[1:100, 1:3] <- rep(north, each = 100)
  as_center[101:150, 4:5] <- 0
  both <- lapply(list(bad, as_center), function(data) with_simulation(3, ask(data = data, invalid = "center"))$value)
  expect_identical(both[[1]], both[[2]])
  expect_error(ask(data = bad), class = "riemdp_error")
  # angles up to a right one each, where a ball's radius is no longer than that
  torus <- torus(3)
  angles <- with_simulation(4, matrix(stats::runif(600, -1.4, 1.4), 200))
  y <- mf_join(torus, lapply(1:3, function(i) cbind(cos(angles[, i]), sin(angles[, i]))))
  origin <- rep(c(1, 0), 3)
  r <- dp_mean(y, torus, 1e6, origin, rep(1.5, 3))
  expect_lt(mf_dist(torus, r$value, frechet_mean(y, torus)$mean), 1e-3)
  expect_error(dp_mean(y, torus, 1, origin, 1.6), class = "riemdp_error_radius")
  expect_error(dp_mean(y, torus, 1, origin, c(0.1, 0.1, 1.6)), class = "riemdp_error_radius")
})

test_that("errors and regions are those of the parts together, and shares are the best that public numbers know", {
  draws <- if (quick()) 300 else 1500
  mean <- frechet_mean(x, M)$mean
  r <- ask()
  away <- with_simulation(5, replicate(draws, mf_dist(M, ask()$value, mean)))
  expect_lt(abs(mean(away) / r$expected_error - 1), 0.05 + 5 * stats::sd(away) / mean(away) / sqrt(draws))
  expect_identical(r$noise_error, r$expected_error)
  # two exponential lengths: the mean of the root of the sum of their squares, by quadrature over the angle
  root <- stats::integrate(function(a) 2 / (cos(a) + sin(a))^3, 0, pi / 2)$value
  expect_equal(internal$joined_error(product(euclidean(1), sphere(1), weights = c(1, 4)), c(1, 1 / 2)), root, tolerance = 0.02)
  region <- confint(r, level = 0.9)
  expect_gt(mean(away <= region$radius), 0.9 - 5 * sqrt(0.09 / draws))
  own <- c(confint(internal$part_release(r, 1), level = 0.95)$radius, confint(internal$part_release(r, 2), level = 0.95)$radius)
  expect_equal(region$radius, sqrt(sum(c(1, 1 / 4) * own^2)))
  told <- vapply(seq(0.05, 0.95, 0.05), function(s) ask(options = list(shares = c(s, 1 - s)))$expected_error, 0)
  expect_lt(r$expected_error, 1.02 * min(told))
  expect_gt(max(told), 2 * r$expected_error)
})

test_that("what can't be had part by part is said from public facts", {
  no <- function(..., class = "riemdp_error_argument") expect_error(ask(...), class = class)
  no(mechanism = "laplace")
  plan <- dp_mean_plan(M, 200, 1, center, c(0.4, 3))
  expect_identical(plan$mechanism[!is.na(plan$label)], "parts")
  expect_equal(plan$expected_error[plan$mechanism == "parts"], ask()$expected_error)
  no(radius = c(1, 1, 1))
  no(epsilon = c(1, -1))
  no(epsilon = c(1, 1, 1))
  no(radius = c(0.4, NA))
  for (tiny in c(5e-324, 1e-300, 1e-160, 1e-12)) {
    no(epsilon = c(tiny, 1))
    no(epsilon = c(1, tiny))
  }
  no(epsilon = c(1, 1), options = list(shares = c(0.5, 0.5)))
  no(options = list(shares = c(0.5, 0.4)))
  no(options = list(shares = c(0, 1)))
  no(neighbours = "add_remove", class = "riemdp_error_unsupported")
  no(clipped = 0.1, class = "riemdp_error_unsupported")
  no(variance = 0.1, radius = 0.5, mechanism = "parts", class = "riemdp_error_unsupported")
  no(data = chunks(x, 50), class = "riemdp_error_unsupported")
  expect_error(dp_mean(x[, 1:3], sphere(2), 1, north, c(0.4, 0.4)), class = "riemdp_error_argument")
  expect_error(dp_mean(x[, 1:3], sphere(2), 1, north, 0.4, mechanism = "parts"), class = "riemdp_error_unsupported")
  expect_error(dp_mean(x[, 1:3], product(sphere(2), weights = 4), 1, north, 0.4, mechanism = "parts"), class = "riemdp_error_unsupported")
  expect_error(ask(epsilon = NULL, mechanism = "parts", sigma = 1, radius = 0.5), class = "riemdp_error")
})
