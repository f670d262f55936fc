test_that("the adaptive mechanism is total, pure, and says its target", {
  M <- sphere(2)
  set.seed(3)
  x <- mf_exp(M, c(0, 0, 1), mf_from_coords(M, c(0, 0, 1), matrix(rnorm(400, sd = 0.05), 200)))
  r <- dp_mean(x, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive")
  g <- guarantee(r)
  expect_identical(g$label, "pure")
  expect_identical(g$epsilon, 1)
  expect_equal(sum(r$details$shares), 1)
  # each stage's scale is for its share: the first as planned, the last as released
  ask <- riemdp:::mean_ask(M, 200, 1, c(0, 0, 1), 0.7, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list())
  rough <- riemdp:::plan_one(M, ask, "adaptive", error = FALSE)$rough
  expect_gte(rough$scale * r$details$shares[["center"]], (rough$sensitivity + rough$solver_error) * (1 - 1e-9))
  expect_gte(r$scale * r$details$shares[["mean"]], (r$sensitivity + r$solver_error) * (1 - 1e-9))
  expect_match(r$target, "released ball")
  expect_output(explain(r), "Three stages")
  expect_true(mf_is_point(M, r$value))
  bad <- x
  bad[3, ] <- NA
  bad[4, ] <- c(0, 0, -1)
  expect_s3_class(dp_mean(bad, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive", invalid = "center"), "riemdp_mean")
  expect_error(dp_mean(x, M, center = c(0, 0, 1), radius = 0.7, sigma = 1, mechanism = "adaptive"),
               class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, M, 1, c(0, 0, 1), 0.7, mechanism = "adaptive", options = list(shares = c(1, 1, 1))),
               class = "riemdp_error_argument")
  for (case in list(list(spd(2), diag(2), 1), list(spd(2, "bures"), diag(2), 0.25), list(grassmann(4, 2), diag(4)[, 1:2], 0.5),
                    list(kendall(5), exp(2i * pi * (1:5) / 5), 0.35), list(euclidean(1), 0, 5))) {
    y <- mf_exp(case[[1]], case[[2]], scale_records(case[[1]], unit_tangents(case[[1]], case[[2]], 30), case[[3]] / 4))
    expect_s3_class(dp_mean(y, case[[1]], 1, case[[2]], case[[3]], mechanism = "adaptive"), "riemdp_mean")
  }
})

test_that("the radius follows its law", {
  # one dimension, distances known: scores, and so the law of the index, by hand; chi-square at rate 1e-6
  M <- euclidean(1)
  x <- seq(0.05, 1, by = 0.05)
  radii <- c(2, 1, 0.5, 0.25)
  count <- vapply(radii, function(r) sum(x <= r + 1e-12), numeric(1))
  p <- exp(-0.5 * 0.4 * abs(count - 0.8 * 20))
  p <- p / sum(p)
  draws <- if (quick()) 500 else 20000
  seen <- with_simulation(2, replicate(draws, .Call(riemdp:::riemdp_release_radius, M, x, 0, radii + 1e-12, 0.8, 0.4, TRUE)))
  expect_gt(suppressWarnings(stats::chisq.test(tabulate(seen, 4), p = p)$p.value), 1e-6)
})

test_that("a whole release chooses its radius with the radius' share of epsilon, and no more", {
  # the centre takes nearly all of a large epsilon, so that it is released where it is; the radius has .5 of 2,000. Its law by hand, twice
  # or half of that share is seen: chi-square at rate 1e-6
  M <- euclidean(1)
  x <- c(-1, 1) %o% (seq(0.05, 1, by = 0.05) - 0.02) # none where a radius of the grid ends
  total <- 2000
  shares <- c(1 - 0.5 / total - 0.1, 0.5 / total, 0.1)
  radii <- riemdp:::adaptive_grid(2)
  count <- vapply(radii / sqrt(2), function(r) sum(abs(x) <= r), 0)
  law <- exp(-0.5 * 0.5 * abs(count - 0.6 * length(x)))
  ask <- function() dp_mean(as.vector(x), M, total, 0, 2, mechanism = "adaptive", options = list(shares = shares, fraction = 0.6))$details$released_radius
  draws <- if (quick()) 300 else 2000
  seen <- with_simulation(4, replicate(draws, which.min(abs(radii - ask()))))
  groups <- cut(seq_along(radii), c(0, 1, 2, 3, 4, 5, 25))
  law <- tapply(law, groups, sum) / sum(law)
  expect_gt(suppressWarnings(stats::chisq.test(table(groups[seen]), p = law)$p.value), 1e-6)
  for (wrong in c(0.5, 2)) {
    other <- exp(-0.5 * 0.5 * wrong * abs(count - 0.6 * length(x)))
    expect_lt(suppressWarnings(stats::chisq.test(table(groups[seen]), p = tapply(other, groups, sum) / sum(other))$p.value), 1e-4)
  }
})

test_that("where records are concentrated and many it beats one stage, and is never the default", {
  skip_if(quick())
  M <- euclidean(2)
  set.seed(8)
  x <- matrix(rnorm(2e4, sd = 0.02), ncol = 2) + 0.1
  error <- function(mechanism) with_simulation(4, mean(replicate(40, {
    sqrt(sum((dp_mean(x, M, 1, c(0, 0), pi / 8, mechanism = mechanism)$value - colMeans(x))^2))
  })))
  expect_lt(error("adaptive"), 0.5 * error("laplace")) # about .2
  expect_false(dp_mean(x, M, 1, c(0, 0), pi / 8)$mechanism == "adaptive")
})

test_that("records are moved into a ball one by one", {
  M <- sphere(2)
  out <- mf_to_ball(M, rbind(c(0, 0, 1), c(1, 0, 0), c(NA, 0, 0), c(0, 0, -1)), c(0, 0, 1), 0.5)
  expect_equal(out, rbind(c(0, 0, 1), c(sin(0.5), 0, cos(0.5)), c(0, 0, 1), c(0, 0, 1)))
  inside <- mf_to_ball(spd(2), wishart_spd[, , 1:50], diag(2), 0.4)
  expect_lte(max(mf_dist(spd(2), diag(2), inside)), 0.4 * (1 + 1e-12))
  expect_error(mf_to_ball(M, c(0, 0, 1), c(0, 0, 1), -1), class = "riemdp_error_argument")
})

test_that("a last stage can be served wherever the released centre lies", {
  # near the smallest eigenvalue no radius is left between curvature and rounding, for a thousand million records
  M <- spd(2, "bures")
  center <- diag(c(1, 0.005))
  radius <- 0.3 * sqrt(0.005)
  ask <- riemdp:::mean_ask(M, 1e9, 1, center, radius, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6, list())
  share <- riemdp:::plan_one(M, ask, "adaptive", error = FALSE)$shares[["mean"]]
  v <- mf_log(M, center, diag(c(1, 0.0025)))
  edge <- mf_exp(M, center, v * radius / mf_norm(M, center, v))
  expect_error(riemdp:::adaptive_stage(M, ask, share, edge, radius / 2), class = "riemdp_error_rounding")
  balls <- riemdp:::adaptive_balls(M, ask, share, edge)
  expect_identical(balls, list(center = center, radii = radius))
  expect_gt(riemdp:::adaptive_stage(M, ask, share, balls$center, balls$radii[1])$scale, 0)
})
