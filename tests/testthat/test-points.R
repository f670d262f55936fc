test_that("points live in data frames, subset, merge, rbind and model.frame", {
  M <- spd(2)
  x <- wishart_spd[, , 1:6]
  y <- mf_points(x, M)
  d <- data.frame(id = 1:6, g = rep(c("a", "b"), 3))
  d$y <- y
  expect_s3_class(d$y, "riemdp_points")
  expect_length(subset(d, g == "a")$y, 3)
  expect_equal(as.array(subset(d, g == "a")$y), x[, , c(1, 3, 5)], tolerance = 1e-15)
  two <- rbind(d, d[2:3, ])
  expect_length(two$y, 8)
  expect_equal(mf_dist(M, two$y[7], y[2]), 0)
  m <- merge(d, data.frame(id = c(6, 2), w = c(0.1, 0.2)), by = "id")
  expect_length(m$y, 2)
  expect_equal(mf_dist(M, m$y, y[c(2, 6)]), c(0, 0))
  f <- model.frame(y ~ id, d)
  expect_s3_class(f$y, "riemdp_points")
  expect_equal(nrow(f), 6)
  expect_s3_class(model.response(f), "riemdp_points")
  expect_output(print(d), "\\(")
  expect_output(print(summary(d)), "missing")
  expect_output(str(d), "mf_points")
  expect_length(data.frame(y = y)$y, 6)
  expect_length(as.data.frame(y)[[1]], 6)
})

test_that("one point beside many is recycled, and points of another set are refused", {
  M <- sphere(2)
  x <- mf_points(diag(3), M)
  expect_equal(mf_dist(M, x[1], x), c(0, pi / 2, pi / 2))
  expect_equal(mf_dist(M, x, rbind(c(1, 0, 0))), c(0, pi / 2, pi / 2))
  expect_length(mf_log(M, x[1], x[2:3]), 2)
  expect_error(mf_dist(euclidean(3), x, c(0, 0, 1)), class = "riemdp_error_shape")
  expect_error(mf_dist(hyperbolic(3, "ball"), x, c(0, 0, 0)), class = "riemdp_error_shape")
  y <- mf_points(wishart_spd[, , 1:2], spd(2))
  expect_length(mf_dist(spd(2, "bures"), y, diag(2)), 2) # the same set, another metric
})

test_that("vector operations keep class and manifold", {
  M <- sphere(2)
  x <- mf_points(diag(3), M)
  expect_length(c(x, x), 6)
  expect_identical(as.matrix(rev(x)), as.matrix(x)[3:1, ])
  expect_length(x[-1], 2)
  expect_length(x[c(TRUE, FALSE, TRUE)], 2)
  expect_length(rep(x, 2), 6)
  expect_length(unique(c(x, x)), 3)
  expect_length(head(x, 2), 2)
  x[2] <- c(0, 0, 1)
  expect_equal(mf_dist(M, x[2], c(0, 0, 1)), 0)
  x[3] <- NA
  expect_identical(is.na(x), c(FALSE, FALSE, TRUE))
  expect_true(anyNA(x))
  expect_length(na.omit(data.frame(x = x))$x, 2)
  expect_match(format(x)[1], "^\\(1, 0, 0\\)$")
  expect_output(print(x), "3 points")
  expect_output(str(x), "mf_points")
  expect_output(print(summary(x)), "1 missing")
  expect_error(c(x, mf_points(diag(2), sphere(1))), class = "riemdp_error_shape")
  expect_error(x[1] <- c(1, 1, 1), class = "riemdp_error_off_manifold")
  expect_error(mf_dist(sphere(1), x, c(1, 0)), class = "riemdp_error_shape")
})

test_that("every manifold goes to points and back", {
  for (case in all_manifolds()) {
    set.seed(2)
    x <- mf_random(case$M, 3)
    y <- mf_points(x, case$M)
    expect_equal(as.vector(as.array(y)), as.vector(x), tolerance = 1e-12, label = label_of(case$M))
    if (!has_part(case$M, "custom")) expect_identical(unserialize(serialize(y, NULL)), y)
    v <- mf_log(case$M, y, y)
    expect_s3_class(v, "riemdp_tangents")
    expect_output(print(v), "tangent vectors")
  }
})

test_that("random points follow set.seed() and are points", {
  for (case in all_manifolds()) {
    set.seed(4)
    a <- mf_random(case$M, 4)
    set.seed(4)
    expect_identical(mf_random(case$M, 4), a)
    expect_true(all(mf_is_point(case$M, a)), label = label_of(case$M))
  }
})

test_that("random points on compact manifolds are uniform", {
  set.seed(6)
  n <- if (quick()) 2000 else 20000
  x <- mf_random(sphere(2), n)
  expect_lt(stats::ks.test(x[, 1], "punif", -1, 1)$statistic, sqrt(log(2e6) / (2 * n)))
  z <- mf_random(kendall(3), n) # CP^1: cos(2 d) is uniform
  d <- mf_dist(kendall(3), z, c(0, 1, 1i))
  expect_lt(stats::ks.test(cos(2 * d), "punif", -1, 1)$statistic, sqrt(log(2e6) / (2 * n)))
  w <- mf_random(stiefel(3, 2), n)
  expect_lt(stats::ks.test(w[2, 1, ], "punif", -1, 1)$statistic, sqrt(log(2e6) / (2 * n)))
})

test_that("projection mends what is off, with the floor that is set", {
  M <- spd(2, floor = 1e-3)
  p <- mf_project(M, matrix(c(1, 1, 1, 1), 2))
  expect_equal(eigen(p)$values, c(2, 2e-3))
  expect_identical(p, t(p))
  expect_error(mf_project(spd(2, floor = 0), diag(c(1, 0))), class = "riemdp_error_not_positive_definite")
  expect_identical(mf_project(M, diag(2)), diag(2))
  expect_equal(mf_project(sphere(1), c(3, 4)), c(0.6, 0.8))
  expect_error(mf_project(sphere(1), c(0, 0)), class = "riemdp_error_off_manifold")
  expect_equal(mf_project(sphere(1), c(3e200, 4e200)), c(0.6, 0.8))
  expect_error(mf_project(kendall(3), c(1, 1, 1) + 0i), class = "riemdp_error_zero_size")
})

test_that("model.frame() keeps responses beside their predictors where records are left out", {
  M <- sphere(2)
  set.seed(6)
  d <- data.frame(id = as.double(1:9))
  d$y <- mf_points(mf_random(M, 9), M)
  whole <- as.matrix(d$y)
  d$id[3] <- NA
  d$y[5] <- NA
  for (action in list(na.omit, na.exclude)) {
    f <- model.frame(y ~ id, d, na.action = action)
    expect_identical(f$id, c(1, 2, 4, 6:9))
    expect_identical(as.matrix(f$y), whole[f$id, ])
    expect_identical(mf_dist(M, f$y, whole[f$id, ]), numeric(7))
  }
  f <- model.frame(y ~ id, d, subset = id > 1.5, na.action = na.omit)
  expect_identical(as.matrix(f$y), whole[f$id, ])
  # subsets of subsets, repeated, reversed and missing records
  x <- d$y[c(8, 2, 2, NA, 9)]
  expect_identical(as.matrix(x), whole[c(8, 2, 2, NA, 9), ])
  expect_identical(as.matrix(rev(x)[2:4]), whole[c(NA, 2, 2), ])
  expect_identical(as.matrix(c(x, x[1])), whole[c(8, 2, 2, NA, 9, 8), ])
  x[2] <- whole[1, ]
  expect_identical(as.matrix(x)[1:3, ], whole[c(8, 1, 2), ])
  broken <- d$y[4:6]
  attr(broken, "manifold") <- euclidean(3)
  expect_error(as.matrix(broken), class = "riemdp_error_shape")
  expect_error(mf_dist(euclidean(3), broken, c(1, 0, 0)), class = "riemdp_error_shape")
  expect_error(mf_dist(M, broken, c(1, 0, 0)), class = "riemdp_error")
})
