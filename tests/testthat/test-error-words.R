# What a stated error is about: said wherever one is told; what may be said of records near the ball's edge, and how often it is false

quakes_on_sphere <- function() {
  lat <- quakes$lat * pi / 180
  long <- quakes$long * pi / 180
  cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
}
FIJI <- c(-cos(pi / 9), 0, -sin(pi / 9))


ABOUT <- "the mean of the records moved to the public ball"
NOT_IN_IT <- "not in it: clipping.*sampling"

test_that("a mean's errors are of the noise and about the records moved to the ball, wherever they are told", {
  x <- quakes_on_sphere()
  r <- dp_mean(x, sphere(2), 1, FIJI, 0.1)
  for (text in c(said(print(r)), said(explain(r)), said(print(dp_mean_plan(sphere(2), 1000, 1, FIJI, 0.1))))) {
    expect_match(text, ABOUT, fixed = TRUE)
    expect_match(text, NOT_IN_IT)
  }
  expect_match(said(print(r)), "expected error of the privacy noise")
  region <- confint(r)
  expect_identical(region[c("about", "covers", "leaves_out")], list(about = ABOUT, covers = "privacy noise", leaves_out = c("clipping", "sampling")))
  expect_match(said(print(region)), paste("for", ABOUT), fixed = TRUE)
  expect_match(said(print(region)), "clipping and sampling are not in it", fixed = TRUE)
  for (table in list(summary(r), glance(r), dp_uncertainty(r))) expect_true(all(table$covers == "privacy noise"))
  # another target is named as such
  tangent <- dp_mean(x, sphere(2), 1, FIJI, 0.1, mechanism = "tangent")
  expect_match(confint(tangent)$about, "exp of the mean of the records' logarithms.*moved to the public ball")
  adaptive <- dp_mean(x, sphere(2), 1, FIJI, 0.4, mechanism = "adaptive")
  expect_match(said(print(adaptive)), "moved to the released ball", fixed = TRUE)
  expect_match(confint(adaptive)$about, "moved to the released ball", fixed = TRUE)
})

test_that("pictures say it, too", {
  r <- dp_mean(quakes_on_sphere(), sphere(2), 1, FIJI, 0.1)
  written <- paste(attr(plot_data(r), "caption"), collapse = " ")
  expect_match(written, paste0("privacy noise alone, about ", ABOUT, " clipping and sampling are not in it"), fixed = TRUE)
  # base graphics print them below the picture
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, 7, 7, compress = FALSE, useKerning = FALSE)
  plot(r)
  grDevices::dev.off()
  page <- readLines(file, warn = FALSE, encoding = "latin1")
  expect_length(grep("clipping and sampling are not in it", page, fixed = TRUE, useBytes = TRUE), 1)
  skip_if_not_installed("ggplot2")
  expect_match(gsub("\\s+", " ", ggplot2::autoplot(r)$labels$caption), ABOUT, fixed = TRUE)
})

test_that("regressions and optimisers say what their errors are about", {
  fit <- dp_lm(mpg ~ wt, mtcars, epsilon = 4, bounds = list(wt = c(1, 6), mpg = c(center = 20, scale = 6)))
  for (text in c(said(print(fit)), said(print(summary(fit))), said(explain(fit)), said(print(dp_lm_plan(100, 1, epsilon = 1))))) {
    expect_match(text, "the fit without noise to records that keep the public bounds", fixed = TRUE)
    expect_match(text, NOT_IN_IT)
  }
  expect_match(attr(confint(fit), "covers"), "privacy noise alone, neither clipping nor sampling")
  expect_match(attr(confint(fit, "wt"), "covers"), "privacy noise alone")
  expect_identical(glance(fit)$covers, "privacy noise")
  x <- seq(0, 1, length.out = 200)
  y <- mf_exp(sphere(2), c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0)))
  r <- dp_regression(y ~ x, sphere(2), epsilon = 2, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1))
  for (text in c(said(print(r)), said(explain(r)), said(print(confint(r))))) {
    expect_match(text, "the curve without noise of records that keep the public bounds", fixed = TRUE)
    expect_match(text, NOT_IN_IT)
  }
  expect_identical(summary(r)$covers, "privacy noise")
  expect_identical(confint(r)$leaves_out, c("clipping", "sampling"))
  o <- dp_optimize(problem_huber(spd(2), 1), wishart_spd, epsilon = 1, delta = 1e-6, start = diag(2), steps = 2)
  p <- dp_pca(as.matrix(mtcars[c("mpg", "wt", "hp")]), 1, epsilon = 1, delta = 1e-6, bound = 100, steps = 2)
  for (text in c(said(print(o)), said(explain(o)))) {
    expect_match(text, "o error is stated, neither of the privacy noise nor of clipping \\(what clipping gradients")
  }
  expect_match(said(print(p)), "shortening rows and clipping gradients", fixed = TRUE)
})

test_that("a region holds the mean of moved records as often as it says, and the records' own mean is another matter", {
  x <- quakes_on_sphere()
  moved <- .Call(riemdp:::riemdp_to_ball, sphere(2), x, FIJI, 0.1)
  targets <- list(moved = frechet_mean(moved, sphere(2))$mean, own = frechet_mean(x, sphere(2))$mean)
  draws <- if (quick()) 100 else 1000
  hits <- rowSums(with_simulation(3, vapply(seq_len(draws), function(i) {
    r <- dp_mean(x, sphere(2), 1, FIJI, 0.1, mechanism = "laplace")
    radius <- confint(r)$radius
    vapply(targets, function(m) mf_dist(sphere(2), r$value, m) <= radius, NA)
  }, c(moved = NA, own = NA))))
  expect_gt(hits[["moved"]], qbinom(1e-6, draws, 0.95) - 1)
  expect_identical(hits[["own"]], 0)
})

test_that("the adaptive mechanism's region is about its released ball, and holds", {
  M <- hyperbolic(2)
  x <- hyperbolic_line(seq(-0.3, 1.2, length.out = 300))
  draws <- if (quick()) 60 else 500
  hits <- sum(with_simulation(4, vapply(seq_len(draws), function(i) {
    r <- dp_mean(x, M, 2, c(1, 0, 0), 3, mechanism = "adaptive")
    moved <- .Call(riemdp:::riemdp_to_ball, M, x, r$details$released_center, r$details$released_radius)
    mf_dist(M, r$value, frechet_mean(moved, M)$mean) <= confint(r, level = 0.8)$radius
  }, NA)))
  expect_gt(hits, qbinom(1e-6, draws, 0.8) - 1)
  # the released ball sticks out of the public one, and no mean of records in the public ball can be meant
  r <- dp_mean(x, M, 2, c(1, 0, 0), 3, mechanism = "adaptive")
  at <- function(t) as.vector(hyperbolic_line(t))
  r$details[c("released_center", "released_radius")] <- list(at(3), 2)
  r$value <- at(5)
  expect_equal(riemdp:::ball_reach(r), 4)
  expect_gt(riemdp:::edge_share(r), 0.5)
})

# ---- at the ball's edge -------------------------------------------------------------------------------------------------------

test_that("records are at least as far from the centre on average as their mean", {
  set.seed(8)
  for (case in all_manifolds()) {
    M <- case$M
    if (!is.finite(mf_facts(M)$k_max) || has_part(M, "custom")) next
    d <- mf_facts(M)$dimension
    center <- riemdp:::as_single(mf_points(mf_random(M, 1), M))
    limit <- riemdp:::radius_limit(riemdp:::ball_facts(M, 0.1, center))
    for (trial in 1:4) {
      r <- min(1.5, 0.95 * limit)
      a <- matrix(rnorm(12 * d), 12)
      a[, 1] <- a[, 1] + c(0, 1, 3, 10)[trial]
      a <- a / sqrt(rowSums(a^2)) * r * runif(12)^0.2
      x <- mf_exp(M, center, mf_from_coords(M, center, if (d == 1) as.vector(a) else a))
      m <- frechet_mean(x, M, start = center)$mean
      expect_gte(mean(mf_dist(M, center, x)), mf_dist(M, center, m) - 1e-7, label = label_of(M))
    }
  }
})

test_that("a release at the edge says so, and only then", {
  x <- quakes_on_sphere()
  all_outside <- dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.4)
  for (text in c(said(print(all_outside)), said(explain(all_outside)))) {
    expect_match(text, paste("AT THE BALL'S EDGE: [5-9][0-9] % of the records or more lie beyond 0.9 of the radius, or outside the ball \\(wrong with",
                             "probability 1 % at most\\)"))
  }
  expect_match(riemdp:::mean_caption(all_outside)[2], "at the ball's edge")
  expect_no_match(said(print(dp_mean(x, sphere(2), 1, FIJI, 0.4))), "EDGE")
  expect_no_match(said(print(dp_mean(x, sphere(2), 1, FIJI, 0.1))), "EDGE") # clipped on all sides
  # every mechanism with a public law or tail; without one nothing is said
  shifted <- matrix(c(30, 1), 2000, 2, byrow = TRUE)
  edge <- function(...) riemdp:::edge_share(dp_mean(shifted, euclidean(2), 1, c(0, 0), 1, delta = 1e-3, ...))
  for (m in c("laplace", "wrapped", "gaussian", "wrapped_gaussian", "tangent", "kng", "laplace_truncated")) expect_gt(edge(mechanism = m), 0.5, label = m)
  expect_gt(edge(mechanism = "wrapped", numerics = "lattice"), 0.5)
  expect_identical(riemdp:::edge_share(with_simulation(1, dp_mean(shifted, euclidean(2), 1, c(0, 0), 1, mechanism = "chain", options = list(burn_in = 10)))), 0)
})

test_that("what is said of records near the edge is false as rarely as stated", {
  # The worst records for it: just under half at the edge, all others at nine tenths of the radius, on one ray
  n <- 200
  far <- 99
  cases <- list(
    list(M = euclidean(2), center = c(0, 0), radius = 1, mechanism = "laplace"),
    list(M = sphere(2), center = c(0, 0, 1), radius = 0.7, mechanism = "wrapped"),
    list(M = sphere(2), center = c(0, 0, 1), radius = 0.3, mechanism = "kng"),
    list(M = hyperbolic(2), center = c(1, 0, 0), radius = 2, mechanism = "laplace"),
    list(M = euclidean(3), center = c(0, 0, 0), radius = 1, mechanism = "wrapped_gaussian")
  )
  for (case in cases) {
    draws <- (if (quick()) 30 else 300) * if (case$mechanism == "kng") 1 else 4 # exact draws take their time
    d <- mf_facts(case$M)$dimension
    along <- case$radius * rep(c(1 - 1e-9, 0.9 - 1e-9), c(far, n - far))
    x <- mf_exp(case$M, case$center, mf_from_coords(case$M, case$center, cbind(along, matrix(0, n, d - 1))))
    shares <- with_simulation(6, vapply(seq_len(draws), function(i) {
      riemdp:::edge_share(dp_mean(x, case$M, if (case$mechanism == "kng") 40 else 4, case$center, case$radius, mechanism = case$mechanism,
                                  delta = if (case$mechanism == "wrapped_gaussian") 1e-3 else 0))
    }, 0))
    expect_lte(sum(shares > far / n), qbinom(1 - 1e-6, draws, 0.01), label = paste(label_of(case$M), case$mechanism))
    # without the allowance for noise a good part would be false: the test can fail
    expect_gt(sum(shares > 0), 0, label = paste(label_of(case$M), case$mechanism))
  }
})
