# A private ball: its stages, their price, and what uses it afterwards.

near_pole <- function(n, spread = 0.05, seed = 3) with_simulation(seed, {
  M <- sphere(2)
  at <- c(sin(0.2), 0, cos(0.2))
  mf_exp(M, at, mf_from_coords(M, at, matrix(rnorm(2 * n, sd = spread), n)))
})

test_that("without a place a ball is a pure release of two draws, whose prices add up to what it states", {
  M <- sphere(2)
  x <- near_pole(300)
  ledger <- dp_ledger(NULL, 2, 0)
  b <- dp_ball(x, M, 0.8, c(0, 0, 1), 0.7, shares = c(0.3, 0.7), source = "the meaning of directions", ledger = ledger)
  expect_s3_class(b, c("riemdp_ball", "riemdp_release"), exact = TRUE)
  g <- guarantee(b)
  expect_identical(list(g$label, g$epsilon, g$delta, g$adjacency, g$unit), list("pure", 0.8, 0, "replace-one", "row"))
  expect_equal(b$draws$epsilon, c(0.3, 0.7) * 0.8, tolerance = 1e-9)
  expect_identical(b$draws$law, c("laplace", "choice"))
  # the scale pays for the centre's sensitivity by its share, and the radius' utilities move by 1
  expect_gte(b$scale * 0.3 * 0.8, (b$sensitivity + b$solver_error) * (1 - 1e-9))
  expect_gte(b$sensitivity, as.numeric(mean_sensitivity(M, 300, 0.7)))
  expect_equal(b$draws$scale[2], 2 / (0.7 * 0.8), tolerance = 1e-9)
  expect_equal(ledger_history(ledger)$epsilon, 0.8)
  expect_match(ledger_history(ledger)$what, "^dp_ball")
  expect_identical(ledger_history(ledger)$source, "the meaning of directions")
  expect_true(mf_is_point(M, b$value$center))
  expect_lte(mf_dist(M, c(0, 0, 1), b$value$center), 0.7)
  expect_lte(b$value$radius, 0.7)
  # what is left out: records, counts, the mean
  expect_setequal(names(b), c("value", "within", "found", "manifold", "n", "unit", "mechanism", "sensitivity", "theorem", "solver_error",
                              "scale", "shares", "fraction", "margin", "size", "budget", "guarantee", "draws", "source"))
  expect_setequal(names(b$value), c("center", "radius"))
  # a second one that the ledger hasn't room for
  expect_error(dp_ball(x, M, 1.5, c(0, 0, 1), 0.7, ledger = ledger), class = "riemdp_error_budget")
  expect_identical(nrow(ledger_history(ledger)), 1L)
})

# a ball of records on a line, with the draws' prices as they are for a user
line_ball <- function(x, radius = 100, ...) dp_ball(x, euclidean(1), 1, 0, radius, ...)

test_that("with a place there are three stages, each of which spends its share", {
  narrow <- 40 + cos(1:500) / 10
  ledger <- dp_ledger(NULL, 2, 0)
  b <- line_ball(narrow, shares = c(0.5, 0.2, 0.3), ledger = ledger)
  expect_identical(guarantee(b)$label, "pure")
  expect_identical(b$draws$law, c("choice", "choice", "laplace", "choice"))
  expect_equal(b$draws$epsilon, c(0.25, 0.25, 0.2, 0.3), tolerance = 1e-9)
  expect_equal(unname(b$shares), c(0.5, 0.2, 0.3), tolerance = 1e-9)
  expect_equal(ledger_history(ledger)$epsilon, 1)
  # the centre's noise is that of the ball found, whatever the wide one is
  expect_lt(b$found$radius, 2)
  expect_lt(abs(b$found$center - 40), 2)
  expect_gte(b$scale * 0.2, (b$sensitivity + b$solver_error) * (1 - 1e-9))
  expect_gte(b$sensitivity, as.numeric(mean_sensitivity(euclidean(1), 500, b$found$radius)) * (1 - 1e-9))
  expect_lt(b$sensitivity, as.numeric(mean_sensitivity(euclidean(1), 500, 2)))
  expect_lt(abs(b$value$center - 40), 1)
  expect_lt(b$value$radius, 4)
  # none: half of the first share is left to the others
  wide <- line_ball(seq(-100, 100, length.out = 500), shares = c(0.5, 0.2, 0.3))
  expect_identical(wide$found, wide$within)
  expect_identical(wide$draws$law, c("choice", "laplace", "choice"))
  expect_equal(wide$draws$epsilon, c(0.25, 0.75 * c(0.4, 0.6)), tolerance = 1e-9)
  expect_equal(unname(wide$shares), c(0.25, 0.75 * c(0.4, 0.6)), tolerance = 1e-9)
  expect_gte(wide$sensitivity, as.numeric(mean_sensitivity(euclidean(1), 500, 100)))
  # radii of the caller's stay, whatever was found
  expect_true(line_ball(narrow, radii = c(0.7, 3))$value$radius %in% c(0.7, 3))
  # a ball that exp stretches beyond the wide one is none
  M <- hyperbolic(2)
  far <- matrix(c(cosh(15), sinh(15), 0), 1000, 3, byrow = TRUE)
  none <- with_simulation(13, dp_ball(far, M, 1, c(1, 0, 0), 20, shares = c(0.8, 0.1, 0.1))) # one in 400 live ones finds none
  expect_equal(none$shares[["place"]], 0.8)
  expect_identical(none$found, none$within)
})

test_that("shares follow from public numbers: no place where it would find none, and what it takes falls with n", {
  at <- function(n, ...) line_ball(rep(1, n), ...)$shares
  expect_equal(at(20), c(place = 0, center = 0.6, radius = 0.4))
  planned <- function(n) {
    ask <- riemdp:::mean_ask(euclidean(1), n, 1, 0, 100, 0, "auto", NULL, "proven", "ordinary", "real", 1e6, list())
    riemdp:::ball_stages(euclidean(1), riemdp:::ball_ask(euclidean(1), ask, NULL, NULL, NULL, NULL))
  }
  for (n in c(60, 200, 1000, 1e6)) {
    shares <- planned(n)$shares
    expect_equal(sum(shares), 1)
    expect_lte(shares[["place"]], 0.6)
    expect_equal(shares[["center"]] / shares[["radius"]], 1.5)
  }
  expect_gt(planned(60)$shares[["place"]], planned(1000)$shares[["place"]])
  expect_gt(planned(1000)$shares[["place"]], 0)
})

test_that("where the wide ball is far too wide the first stage finds the records", {
  skip_if(quick())
  # error of ball and mean together, as of the wide ball alone: about .02, and 1.5 without the place
  M <- euclidean(2)
  error <- function(...) mean(vapply(1:25, function(seed) with_simulation(seed, {
    x <- matrix(rnorm(200, sd = 1 / 3000), 100) + 0.3
    at <- dp_ball(x, M, 1, c(0, 0), 1, ...)$value
    sqrt(sum((dp_mean(x, M, 1, at$center, at$radius)$value - colMeans(x))^2))
  }), 0))
  expect_lt(error(), 0.2 * error(shares = c(0.6, 0.4)))
})

test_that("where records are many it holds most of them and is far smaller than the wide one", {
  b <- with_simulation(5, dp_ball(near_pole(5000), sphere(2), 1, c(0, 0, 1), 0.7))
  apart <- mf_dist(sphere(2), near_pole(5000), b$value$center)
  expect_gt(mean(apart <= b$value$radius), 0.9)
  expect_lt(b$value$radius, 0.3)
  line <- with_simulation(5, dp_ball(c(7 + cos(1:4000)), euclidean(1), 1, 0, 1000))
  expect_lt(abs(line$value$center - 7), 2)
  expect_lt(line$value$radius, 20)
})

test_that("it is centre and radius of what is released afterwards, which says so and pays for itself", {
  x <- near_pole(400)
  M <- sphere(2)
  b <- dp_ball(x, M, 0.5, c(0, 0, 1), 0.7)
  ledger <- dp_ledger(NULL, 1, 0)
  r <- dp_mean(x, M, 0.5, b, b, ledger = ledger)
  expect_identical(r$center, b$value$center)
  expect_identical(r$radius, b$value$radius)
  expect_identical(guarantee(r)$label, "pure")
  expect_identical(guarantee(r)$epsilon, 0.5)
  expect_match(r$source, "center: a release of dp_ball() (epsilon = 0.5); radius: a release of dp_ball() (epsilon = 0.5)", fixed = TRUE)
  expect_match(ledger_history(ledger)$source, "dp_ball", fixed = TRUE)
  expect_match(paste(format(r), collapse = " "), "dp_ball", fixed = TRUE)
  # one of them only
  expect_match(dp_mean(x, M, 0.5, b, 0.3)$source, "center: a release of dp_ball() (epsilon = 0.5); radius: not stated", fixed = TRUE)
  expect_identical(dp_mean(x, M, 0.5, c(0, 0, 1), b)$radius, b$value$radius)
  expect_identical(dp_mean_plan(M, 400, 0.5, b, b, mechanism = "laplace")$scale, dp_mean(x, M, 0.5, b, b, mechanism = "laplace")$scale)
  o <- dp_optimize(problem_frechet(M), x, 1, 1e-6, center = b, radius = b, steps = 2)
  expect_match(o$source, "dp_ball", fixed = TRUE)
  curve <- dp_regression(y ~ x, M, list(x = seq(0, 1, length.out = 400), y = x), 1, b, b, 1, 0.2, c(0, 1))
  expect_match(curve$source, "dp_ball", fixed = TRUE)
  # what is labelled none stays out
  seeded <- with_simulation(1, dp_ball(x, M, 0.5, c(0, 0, 1), 0.7))
  expect_identical(guarantee(seeded)$label, "none")
  expect_error(dp_mean(x, M, 0.5, seeded, 0.3), "NOT PRIVATE", class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 0.5, c(0, 0, 1), seeded), "NOT PRIVATE", class = "riemdp_error_argument")
})

test_that("the radius follows its law", {
  # the centre takes nearly all of a large epsilon, so that it is released where it is; the radius has .5. Chi-square at rate 1e-6; twice or
  # half of that share is seen
  M <- euclidean(1)
  x <- as.vector(c(-1, 1) %o% (seq(0.05, 1, by = 0.05) - 0.02))
  total <- 2000
  radii <- c(2, 1.4, 1, 0.7, 0.5, 0.35)
  scores <- -abs(vapply(radii / 1.25, function(r) sum(abs(x) <= r), 0) - 0.6 * length(x))
  law <- function(epsilon) exp(epsilon * scores / 2) / sum(exp(epsilon * scores / 2))
  one <- function() dp_ball(x, M, total, 0, 2, shares = c(1 - 0.5 / total, 0.5 / total), fraction = 0.6, margin = 1.25, radii = radii)$value$radius
  draws <- if (quick()) 400 else 800
  seen <- with_simulation(4, replicate(draws, match(one(), radii)))
  fits <- function(p) suppressWarnings(stats::chisq.test(tabulate(seen, 6), p = p)$p.value)
  expect_gt(fits(law(0.5)), 1e-6)
  for (wrong in c(0.25, 1)) expect_lt(fits(law(wrong)), 1e-4)
})

# lower bounds of the loss from draws of a statistic under two neighbours, all thresholds together at rate 1e-4
loss_from_below <- function(s, t) {
  cuts <- unique(stats::quantile(c(s, t), seq(0.01, 0.99, 0.07)))
  alpha <- 1e-4 / (8 * length(cuts))
  n <- length(s)
  lower <- function(k) if (k == 0) 0 else stats::qbeta(alpha, k, n - k + 1)
  upper <- function(k) if (k == n) 1 else stats::qbeta(1 - alpha, k + 1, n - k)
  ratio <- function(k) log(lower(k[1]) / upper(k[2]))
  max(vapply(cuts, function(cut) {
    k <- c(sum(s > cut), sum(t > cut))
    max(ratio(k), ratio(rev(k)), ratio(n - k), ratio(n - rev(k)))
  }, 0))
}

test_that("on the worst neighbours nothing loses more than its label, and a ball whose price is too low would be caught", {
  # all records at one end, one of them moved to the other
  n <- 5
  draws <- 1500
  balls <- function(x, epsilon) with_simulation(6, replicate(draws, unlist(dp_ball(x, euclidean(1), epsilon, 0, 1, margin = 1, radii = c(1, 0.3))$value)))
  a <- balls(rep(1, n), 2)
  b <- balls(c(rep(1, n - 1), -1), 2)
  # the statistics that tell most
  along <- list(function(v) v["center", ], function(v) v["radius", ], function(v) v["center", ] + v["radius", ], function(v) v["center", ] - v["radius", ])
  for (f in along) expect_lte(loss_from_below(f(a), f(b)), 2)
  # the same draws under a label of half the price or less: the centre's share alone is 1.2
  expect_gt(loss_from_below(a["center", ], b["center", ]), 0.5)
})

test_that("with a place no outcome on neighbours loses more than its label, and the first stage loses of it what it has", {
  # all records at one end, one of them moved to the other: none and a ball, and what follows each
  n <- 8
  draws <- 1500
  balls <- function(x, shares) with_simulation(7, replicate(draws, {
    b <- dp_ball(x, euclidean(1), 3, 0, 1, shares = shares, margin = 1, radii = c(1, 0.3))
    c(none = identical(b$found, b$within), center = b$value$center, radius = b$value$radius)
  }))
  a <- balls(rep(1, n), c(0.9, 0.05, 0.05))
  b <- balls(c(rep(1, n - 1), -1), c(0.9, 0.05, 0.05))
  for (f in list(function(v) v["none", ], function(v) v["center", ], function(v) v["center", ] - v["none", ], function(v) v["radius", ] - v["none", ])) {
    expect_lte(loss_from_below(f(a), f(b)), 3)
  }
  expect_lte(loss_from_below(a["none", ], b["none", ]), 0.9 * 3)
  expect_gt(mean(a["none", ]), 0.01)
  expect_lt(mean(a["none", ]), 0.99)
})

test_that("it is total: whatever the records are it releases a ball within the wide one", {
  spaces <- list(list(sphere(2), c(0, 0, 1), 0.7), list(spd(2), diag(2), 1), list(spd(2, "bures"), diag(2), 0.25), list(spd(2, "logeuclidean"), diag(2), 1),
                 list(hyperbolic(2), c(1, 0, 0), 1), list(kendall(5), exp(2i * pi * (1:5) / 5), 0.35), list(grassmann(4, 2), diag(4)[, 1:2], 0.5),
                 list(stiefel(4, 2), diag(4)[, 1:2], 0.3), list(euclidean(1), 0, 5))
  for (case in spaces) for (epsilon in c(1e-3, 100)) {
    M <- case[[1]]
    y <- mf_exp(M, case[[2]], scale_records(M, unit_tangents(M, case[[2]], 12), case[[3]] / 4))
    for (shares in list(NULL, c(0.4, 0.3, 0.3))) {
      b <- dp_ball(y, M, epsilon, case[[2]], case[[3]], shares = shares)
      expect_identical(guarantee(b)$label, "pure")
      expect_lte(mf_dist(M, case[[2]], b$value$center), case[[3]] * (1 + 1e-9))
      expect_lte(b$value$radius, case[[3]])
    }
    expect_s3_class(dp_mean(y, M, 1, b, b), "riemdp_mean")
    grDevices::pdf(NULL)
    expect_identical(plot(b), b)
    grDevices::dev.off()
  }
  bad <- near_pole(20)
  bad[3, ] <- NA
  bad[4, ] <- c(0, 0, -1)
  expect_error(dp_ball(bad, sphere(2), 1, c(0, 0, 1), 0.7), class = "riemdp_error")
  for (shares in list(NULL, c(0.4, 0.3, 0.3))) {
    expect_s3_class(dp_ball(bad, sphere(2), 1, c(0, 0, 1), 0.7, invalid = "center", shares = shares), "riemdp_ball")
    for (x in list(5, c(5, 5), rep(1e300, 9))) expect_s3_class(dp_ball(x, euclidean(1), 1, 0, 7, shares = shares), "riemdp_ball")
  }
})

test_that("radii with which nothing could be released around the centre aren't offered; the wide ball always can", {
  # near the smallest eigenvalue no radius is left between curvature and rounding, for a thousand million records
  M <- spd(2, "bures")
  center <- diag(c(1, 0.005))
  radius <- 0.3 * sqrt(0.005)
  ask <- riemdp:::mean_ask(M, 1e9, 1, center, radius, 0, "auto", NULL, "proven", "ordinary", "real", 1e6, list())
  ask <- riemdp:::ball_ask(M, ask, c(0.5, 0.5), NULL, NULL, NULL)
  radii <- riemdp:::adaptive_grid(radius)
  v <- mf_log(M, center, diag(c(1, 0.0025)))
  edge <- mf_exp(M, center, v * radius / mf_norm(M, center, v))
  expect_identical(riemdp:::ball_grid(M, ask, edge, radii), list(center = center, radii = radius))
  some <- riemdp:::ball_grid(M, ask, center, radii)$radii
  expect_lt(length(some), 25)
  expect_gt(length(some), 0)
})

test_that("units are protected with all their rows, and chunks give the bits of memory", {
  M <- sphere(2)
  x <- near_pole(60)
  person <- rep(1:20, 3)
  b <- dp_ball(x, M, 1, c(0, 0, 1), 0.7, unit = person)
  expect_identical(b$n, 20L)
  expect_identical(guarantee(b)$unit, "unit")
  expect_gte(b$sensitivity, as.numeric(mean_sensitivity(M, 20, 0.7)))
  expect_match(paste(format(b), collapse = " "), "one unit with all its rows")
  # one row a unit: the very ball of the rows
  alone <- with_simulation(2, dp_ball(x, M, 1, c(0, 0, 1), 0.7))
  expect_equal(with_simulation(2, dp_ball(x, M, 1, c(0, 0, 1), 0.7, unit = 1:60))$value, alone$value, tolerance = 1e-7)
  expect_error(dp_ball(x, M, 1, c(0, 0, 1), 0.7, unit = 1:59), class = "riemdp_error_shape")
  # chunks have no first stage
  expect_identical(with_simulation(2, dp_ball(chunks(x, 7), M, 1, c(0, 0, 1), 0.7))$value,
                   with_simulation(2, dp_ball(x, M, 1, c(0, 0, 1), 0.7, shares = c(0.6, 0.4)))$value)
  ledger <- dp_ledger(NULL, 1, 0)
  expect_error(dp_ball(chunks(x, 7), M, 1, c(0, 0, 1), 0.7, shares = c(0.4, 0.3, 0.3), ledger = ledger), "in memory", class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  parts <- sites(site(60, function(request) site_answer(request, x, "sums")))
  expect_error(dp_ball(parts, M, 1, c(0, 0, 1), 0.7), "counts", class = "riemdp_error_unsupported")
})

test_that("what is asked for is public and checked", {
  x <- near_pole(20)
  ask <- function(...) dp_ball(x, sphere(2), epsilon = 1, center = c(0, 0, 1), radius = 0.7, ...)
  expect_error(dp_ball(x, sphere(2), center = c(0, 0, 1), radius = 0.7), "public", class = "riemdp_error_argument")
  expect_error(dp_ball(x, sphere(2), 1, c(0, 0, 1)), "public", class = "riemdp_error_argument")
  expect_error(dp_ball(x, sphere(2), 1, c(0, 0, 1), 1.5), class = "riemdp_error_radius")
  expect_error(dp_ball(x, sphere(2), 1, frechet_mean(x, sphere(2)), 0.7), "non-private", class = "riemdp_error_argument")
  for (shares in list(c(0.5, 0.6), c(1, 0), 1, c(NA, 1), "a", c(0.5, 0.5, 0), c(0.5, 0, 0.5), c(-0.2, 0.6, 0.6), c(0.2, 0.2, 0.2),
                      rep(0.25, 4))) expect_error(ask(shares = shares), class = "riemdp_error_argument")
  for (radii in list(c(0.5, 0.8), numeric(), c(0.1, -0.1), Inf, "a")) expect_error(ask(radii = radii), class = "riemdp_error_argument")
  for (f in list(-1, 2, NA)) expect_error(ask(fraction = f), class = "riemdp_error_argument")
  expect_error(ask(margin = 0.5), class = "riemdp_error_argument")
  expect_error(dp_ball(x, sphere(2), 1, c(0, 0, 1), 0.7, 3), "by name", class = "riemdp_error_argument")
  circle <- manifold_custom(1, 1, exp = function(p, v) p + v, log = function(p, q) q - p, k_min = 0, k_max = 0, injectivity_radius = 3)
  expect_error(dp_ball(1:3 / 9, circle, 1, 0, 1), class = "riemdp_error_unsupported")
  # defaults from public numbers: n and the radius' part of epsilon
  expect_equal(ask()$fraction, 0.5)
  expect_equal(dp_ball(cos(1:5000), euclidean(1), 10, 0, 5)$fraction, 0.9)
  expect_equal(riemdp:::ball_margin(0.9), sqrt(2))
  expect_gt(riemdp:::ball_margin(0.5), sqrt(2))
})

test_that("it says what it is", {
  b <- dp_ball(near_pole(50), sphere(2), 1, c(0, 0, 1), 0.7)
  said <- paste(c(capture.output(print(b)), capture.output(explain(b))), collapse = " ")
  for (text in c("Private ball for 50 records", "center = ball, radius = ball", "within the public ball of radius 0.7", "no claim that the records lie in it",
                 "section 12", "not stated")) expect_match(said, text, fixed = TRUE)
  explained <- function(...) gsub("\\s+", " ", paste(capture.output(explain(line_ball(...))), collapse = " "))
  found <- explained(rep(40, 500), shares = c(0.5, 0.2, 0.3))
  for (text in c("Place: by the exponential mechanism over places and radii at once, or none, with 0.5 of epsilon; it found a ball of radius",
                 "moved to the found ball, by mechanism laplace with 0.2 of epsilon")) expect_match(found, text, fixed = TRUE)
  none <- explained(seq(-100, 100, length.out = 500), shares = c(0.5, 0.2, 0.3))
  for (text in c("or none, with 0.25 of epsilon; the wide ball stays", "moved to the public ball, by mechanism laplace with 0.3 of epsilon")) {
    expect_match(none, text, fixed = TRUE)
  }
  expect_no_match(explained(rep(40, 500), shares = c(0.4, 0.6)), "Place")
  expect_identical(coef(b), b$value)
  expect_identical(tidy(b)$estimate, c(as.vector(b$value$center), b$value$radius))
  expect_identical(summary(b)$radius, b$value$radius)
  expect_error(confint(b), class = "riemdp_error_unsupported")
})

# ---- a private number of records ---------------------------------------------------------------------------------------

test_that("with a private number of records that is released first, and the stages divide the rest", {
  narrow <- 40 + cos(1:500) / 10
  ledger <- dp_ledger(NULL, 2, 0, adjacency = "add-remove")
  b <- line_ball(narrow, neighbours = "add_remove", shares = c(0.5, 0.2, 0.3), ledger = ledger)
  g <- guarantee(b)
  expect_identical(list(g$label, g$epsilon, g$delta, g$adjacency, g$unit), list("pure", 1, 0, "add-remove", "row"))
  expect_identical(b$draws$law, c("laplace", "choice", "laplace", "choice"))
  left <- 1 - b$size$epsilon
  expect_equal(b$draws$epsilon, c(b$size$epsilon, left * c(0.5, 0.2, 0.3)), tolerance = 1e-6)
  expect_identical(b$draws$proof[1], "mean-sensitivity.md, 14")
  # scores move one way there, so the place is one draw of its whole share
  expect_equal(b$draws$scale[2], 1 / (left * 0.5), tolerance = 1e-6)
  # one more or one less in the ball found: a sum over N
  expect_identical(b$size$form, "sum")
  expect_gte(b$sensitivity, b$found$radius / b$size$points * (1 - 1e-9))
  expect_gte(b$scale * left * 0.2, (b$sensitivity + b$solver_error) * (1 - 1e-6))
  expect_identical(b$n, NA_real_)
  expect_lt(abs(b$size$count - 500), 200)
  expect_lt(abs(b$value$center - 40), 2)
  # none costs its whole share
  wide <- line_ball(seq(-100, 100, length.out = 500), neighbours = "add_remove", shares = c(0.5, 0.2, 0.3))
  expect_identical(wide$found, wide$within)
  expect_equal(wide$draws$epsilon, c(wide$size$epsilon, (1 - wide$size$epsilon) * c(0.5, 0.2, 0.3)), tolerance = 1e-6)
  # the ledger's row is about its own notion of neighbours
  expect_match(ledger_history(ledger)$event, "add-remove", fixed = TRUE)
  expect_error(line_ball(narrow, neighbours = "add_remove", ledger = dp_ledger(NULL, 2, 0)), class = "riemdp_error")
  said <- gsub("\\s+", " ", paste(c(capture.output(print(b)), capture.output(explain(b)), capture.output(print(g))), collapse = " "))
  for (text in c("Private ball for about", "(as released;", "and whether it is there", "the number of records is private",
                 "one record more or one less moves that mean",
                 "Size: the number of records is released", "section 14", "One more or one less moves a count", "the ball with the rest")) {
    expect_match(said, text, fixed = TRUE)
  }
  expect_no_match(said, "number of records is public|eplacing")
})

test_that("the interval of a private number of records holds it as often as it says, by the law of its noise", {
  b <- line_ball(rep(1, 40), neighbours = "add_remove", shares = c(0.6, 0.4))
  for (level in c(0.5, 0.8, 0.95, 0.999)) {
    ends <- confint(b, "size", level)
    # P(|Z| <= j), Z two-sided geometric, for the least j that gives the level; negative numbers are none
    q <- exp(-1 / b$size$scale)
    far <- ends[2] - b$size$count
    held <- function(j) 1 - 2 * q^(j + 1) / (1 + q)
    expect_gte(held(far), level - 1e-9)
    expect_lt(held(far - 1), level)
    expect_identical(ends[1], max(0, b$size$count - far))
  }
  ends <- confint(b)
  expect_identical(dimnames(ends), list("number of records", c("2.5 %", "97.5 %")))
  # the number that is printed
  expect_match(format(b)[1], sprintf("%.0f to %.0f with probability 0.95", ends[1], ends[2]), fixed = TRUE)
  # whole calls
  count <- if (quick()) 200 else 500
  inside <- with_simulation(9, replicate(count, {
    ends <- confint(line_ball(rep(1, 40), neighbours = "add_remove", shares = c(0.6, 0.4)), level = 0.8)
    ends[1] <= 40 && 40 <= ends[2]
  }))
  exact <- held(confint(b, level = 0.8)[2] - b$size$count)
  expect_lt(exact, 0.9)
  for (sided in c(TRUE, FALSE)) expect_gt(stats::pbinom(sum(inside) - !sided, count, exact, lower.tail = sided), 1e-5)
  unit <- line_ball(rep(1, 60), neighbours = "add_remove", unit = rep(1:20, 3))
  expect_identical(rownames(confint(unit)), "number of units")
  expect_error(confint(line_ball(rep(1, 40))), "number of records is public", class = "riemdp_error_unsupported")
  expect_error(confint(b, "mean"), class = "riemdp_error_argument")
  for (level in list(0, 1, NA, "a")) expect_error(confint(b, level = level), class = "riemdp_error_argument")
  b$size$scale <- NULL
  expect_error(confint(b), class = "riemdp_error_argument")
})

test_that("a ball of a private number is total: no record, one, or many, on every space, whatever size is released", {
  spaces <- list(list(sphere(2), c(0, 0, 1), 0.7), list(spd(2), diag(2), 1), list(spd(2, "bures"), diag(2), 0.25), list(hyperbolic(2), c(1, 0, 0), 1),
                 list(kendall(5), exp(2i * pi * (1:5) / 5), 0.35), list(grassmann(4, 2), diag(4)[, 1:2], 0.5), list(euclidean(1), 0, 5))
  for (case in spaces) for (epsilon in c(1e-2, 100)) for (n in c(0, 1, 12)) for (shares in list(NULL, c(0.4, 0.3, 0.3))) {
    M <- case[[1]]
    y <- mf_points(mf_exp(M, case[[2]], scale_records(M, unit_tangents(M, case[[2]], 12), case[[3]] / 4)), M)[seq_len(n)]
    b <- dp_ball(y, M, epsilon, case[[2]], case[[3]], neighbours = "add_remove", shares = shares)
    expect_identical(guarantee(b)$label, "pure")
    expect_lte(mf_dist(M, case[[2]], b$value$center), case[[3]] * (1 + 1e-9))
    expect_lte(b$value$radius, case[[3]])
  }
  ledger <- dp_ledger(NULL, 1, 0, adjacency = "add-remove")
  expect_error(line_ball(chunks(1:60, 7), neighbours = "add_remove", ledger = ledger), "in memory", class = "riemdp_error_unsupported")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  unit <- line_ball(rep(1, 60), neighbours = "add_remove", unit = rep(1:20, 3))
  expect_identical(guarantee(unit)$unit, "unit")
  expect_match(paste(format(unit), collapse = " "), "one unit with all its rows, and whether it is there")
  expect_lt(abs(with_simulation(1, dp_ball(rep(1, 60), euclidean(1), 100, 0, 5, neighbours = "add_remove", unit = rep(1:20, 3)))$size$count - 20), 5)
})

test_that("with a private number of records one more or one less loses no more than the label", {
  n <- 8
  draws <- 1500
  balls <- function(x) with_simulation(8, replicate(draws, {
    b <- dp_ball(x, euclidean(1), 3, 0, 1, shares = c(0.4, 0.3, 0.3), margin = 1, radii = c(1, 0.3), neighbours = "add_remove")
    c(none = identical(b$found, b$within), center = b$value$center, radius = b$value$radius, count = b$size$count)
  }))
  a <- balls(rep(1, n))
  b <- balls(rep(1, n - 1))
  for (f in list(function(v) v["none", ], function(v) v["center", ], function(v) v["radius", ], function(v) v["count", ],
                 function(v) v["center", ] + v["count", ], function(v) v["count", ] - v["none", ])) expect_lte(loss_from_below(f(a), f(b)), 3)
})

test_that("a ball's stages draw by integers, or its label says that one doesn't", {
  set.seed(31)
  M <- spd(2)
  x <- mf_exp(M, diag(2), mf_from_coords(M, diag(2), matrix(rnorm(600, sd = 0.1), 200)))
  for (neighbours in c("replace", "add_remove")) {
    b <- dp_ball(x, M, epsilon = 1, center = diag(2), radius = 2, neighbours = neighbours)
    expect_identical(guarantee(b)$numerics, "lattice")
    # around the mean where the number of records is public
    expect_identical(b$mechanism, if (neighbours == "replace") "laplace" else "wrapped")
    expect_output(explain(b), "integer arithmetic")
    expect_no_match(paste(capture.output(explain(b)), collapse = " "), "real numbers")
  }
  # of doubles where a lattice can't be had: far from the origin, where coordinates are rounded too coarsely
  far <- with_internals(dp_ball(x, M, epsilon = 1, center = diag(2), radius = 2),
                        lattice_bounds = function(...) list(error = 1, numbers = NULL, why = NULL, model = "none"),
                        around_plan = function(...) riemdp:::abort_riemdp("unsupported", "no room."))
  expect_identical(guarantee(far)$numerics, "real-valued")
  expect_output(explain(far), "real numbers")
  ledger <- dp_ledger(NULL, 10)
  expect_error(dp_ball(x, M, epsilon = 1, center = diag(2), radius = 2, shares = c(0.5, 0.5 - 1e-11, 1e-11), ledger = ledger), "no integer arithmetic",
               class = "riemdp_error_argument")
  expect_identical(nrow(ledger_history(ledger)), 0L)
})
