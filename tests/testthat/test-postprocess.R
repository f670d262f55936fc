# Smoothing and display alignment of released shapes.

test_that("weights sum to one, and constants and lines come back exactly", {
  set.seed(1)
  for (closed in c(TRUE, FALSE)) for (t in list((0:19) / 20, sort(runif(20)))) for (h in c(0.08, 0.2, 0.5)) {
    s <- riemdp:::smoother_matrix(t, h, closed)
    expect_equal(rowSums(s), rep(1, 20), tolerance = 1e-12)
    # a line as the window sees it: local linear weights have no first moment
    gap <- outer(t, t, function(a, b) b - a)
    if (closed) gap <- gap - round(gap)
    alone <- rowSums(abs(gap) < h) == 1
    expect_lt(max(abs(rowSums(s * gap)[!alone])), 1e-12)
    expect_equal(diag(s)[alone], rep(1, sum(alone)))
  }
  constant <- rep(2 - 3i, 12)
  expect_equal(smooth_outline(constant, 0.2), constant, tolerance = 1e-14)
  line <- complex(real = 1:12, imaginary = 5 - 2 * (1:12))
  expect_equal(smooth_outline(line, 0.3, closed = FALSE), line, tolerance = 1e-12)
  expect_equal(smooth_outline(line, 0.3, closed = FALSE, position = "arclength"), line, tolerance = 1e-12)
  uneven <- c(0, 1, 3, 3.5, 7, 8, 12) * (1 + 2i)
  expect_equal(smooth_outline(uneven, 0.45, closed = FALSE, position = "arclength"), uneven, tolerance = 1e-12)
  expect_gt(max(Mod(smooth_outline(uneven, 0.45, closed = FALSE) - uneven)), 0.1)
  # on a closed outline, wherever the window sees one line only: the sides of a square
  square <- c(0:9, 10 + 1i * (0:9), 10i + 10:1, 1i * (10:1))
  smooth <- smooth_outline(square, 0.08)
  inside <- rep(c(FALSE, rep(FALSE, 3), rep(TRUE, 4), rep(FALSE, 2)), 4)
  expect_equal(smooth[inside], square[inside], tolerance = 1e-12)
  expect_gt(Mod(smooth[11] - square[11]), 0.1)
})

test_that("it is the weighted regression that it says", {
  set.seed(2)
  z <- complex(real = rnorm(15), imaginary = rnorm(15))
  for (position in c("index", "arclength")) {
    t <- if (position == "index") (0:14) / 15 else cumsum(c(0, Mod(diff(z)))) / sum(Mod(c(diff(z), z[1] - z[15])))
    smooth <- smooth_outline(z, 0.3, position = position)
    for (j in c(1, 7, 15)) {
      gap <- t - t[j]
      gap <- ifelse(gap > 0.5, gap - 1, ifelse(gap < -0.5, gap + 1, gap))
      w <- pmax(1 - (gap / 0.3)^2, 0)
      fit <- function(y) unname(coef(lm(y ~ gap, weights = w))[1])
      expect_equal(smooth[j], complex(real = fit(Re(z)), imaginary = fit(Im(z))), tolerance = 1e-10)
    }
  }
  # a rotation of the outline, of its start or of the plane, goes through
  expect_equal(smooth_outline(z[c(4:15, 1:3)], 0.2), smooth_outline(z, 0.2)[c(4:15, 1:3)], tolerance = 1e-12)
  expect_equal(smooth_outline(z * 2i + 1, 0.2), smooth_outline(z, 0.2) * 2i + 1, tolerance = 1e-12)
})

test_that("the chosen bandwidth has the least leave-one-out error, and smoothing helps", {
  set.seed(3)
  k <- 100
  truth <- exp(2i * pi * (0:(k - 1)) / k) * (1 + 0.3 * cos(4 * pi * (0:(k - 1)) / k))
  z <- truth + complex(real = rnorm(k), imaginary = rnorm(k)) * 0.05
  fit <- riemdp:::smooth_curve(z, NULL, TRUE, "index")
  # by hand: leave each out and fit again
  loo <- function(h) {
    t <- (0:(k - 1)) / k
    mean(vapply(seq_len(k), function(j) {
      gap <- t[-j] - t[j]
      gap <- gap - round(gap)
      w <- pmax(1 - (gap / h)^2, 0)
      fit <- function(y) lm.wfit(cbind(1, gap), y, w)$coefficients[1]
      Mod(z[j] - complex(real = fit(Re(z[-j])), imaginary = fit(Im(z[-j]))))^2
    }, 0))
  }
  grid <- 2^(0:12 / 3) * 1.5 / k
  grid <- grid[grid <= 0.25]
  errors <- vapply(grid, loo, 0)
  expect_equal(fit$bandwidth, grid[which.min(errors)])
  expect_lt(sum(Mod(fit$value - truth)^2), 0.6 * sum(Mod(z - truth)^2))
})

test_that("shapes of landmarks go through", {
  x <- callosa[, , 1:3]
  y <- smooth_outline(x, 0.06)
  expect_identical(dim(y), dim(x))
  one <- smooth_outline(x[, , 2], 0.06)
  expect_equal(unname(y[, , 2]), unname(one))
  z <- complex(real = x[, 1, 2], imaginary = x[, 2, 2])
  expect_equal(smooth_outline(z, 0.06), complex(real = one[, 1], imaginary = one[, 2]))
  expect_equal(smooth_outline(cbind(z, z), 0.06)[, 2], smooth_outline(z, 0.06), ignore_attr = TRUE)
  turned <- align_shapes(x[, , 2], x[, , 1])
  expect_equal(align_shapes(z, x[, , 1]), complex(real = turned[, 1], imaginary = turned[, 2]))
  expect_identical(dim(align_shapes(x, x[, , 1])), dim(x))
})

test_that("alignment is least squares and keeps the shape", {
  x <- callosa[, , 2]
  t <- callosa[, , 1]
  turned <- align_shapes(x, t)
  expect_equal(mf_dist(kendall(50), turned, x), 0, tolerance = 1e-7)
  expect_equal(sum(turned^2), sum(x^2)) # turned about the origin, size kept
  full <- align_shapes(x, t, scale = TRUE)
  expect_equal(mf_dist(kendall(50), full, x), 0, tolerance = 1e-7)
  loss <- function(y) sum((y - t)^2)
  z <- complex(real = full[, 1], imaginary = full[, 2])
  for (move in list(function(z) z + 0.1, function(z) z - 0.1i, function(z) z * 1.01, function(z) z * 0.99,
                    function(z) (z - mean(z)) * exp(0.02i) + mean(z))) {
    w <- move(z)
    expect_gt(loss(cbind(Re(w), Im(w))), loss(full))
  }
  expect_equal(align_shapes(t, t, scale = TRUE), t, tolerance = 1e-12)
  # a configuration that was turned comes back
  turn <- matrix(c(cos(2), sin(2), -sin(2), cos(2)), 2)
  expect_equal(unname(align_shapes(t %*% turn, sweep(t, 2, colMeans(t)))), unname(t), tolerance = 1e-12)
})

test_that("a release keeps its guarantee and says what was done", {
  r <- dp_mean(callosa[, , -1], kendall(50), 2, callosa[, , 1], 0.3, post = FALSE)
  for (f in list(function(r) smooth_outline(r), function(r) smooth_outline(r, 0.05), function(r) align_shapes(r, callosa[, , 1]),
                 function(r) align_shapes(r, callosa[, , 1], scale = TRUE))) {
    s <- f(r)
    expect_s3_class(s, class(r), exact = TRUE)
    expect_identical(guarantee(s), guarantee(r))
    expect_identical(guarantee(s)$label, "pure")
    expect_length(s$post_processed, 1)
    expect_true(mf_is_point(kendall(50), s$value))
    expect_output(print(s), "post-processed: ")
    expect_output(explain(s), "the\\s+guarantee\\s+is\\s+that\\s+of\\s+the\\s+release")
    changed <- setdiff(names(s), c("value", "post_processed", "smoothing", "released"))
    expect_identical(utils::modifyList(confint(s), list(moved = FALSE)), confint(r))
    expect_identical(s$released, r$value)
    expect_identical(unclass(s)[changed], unclass(r)[changed])
  }
  both <- align_shapes(smooth_outline(r, 0.05), callosa[, , 1])
  expect_length(both$post_processed, 2)
  expect_match(both$post_processed[1], "Epanechnikov kernel, bandwidth 0.05 \\(given\\)")
  expect_equal(both$smoothing$bandwidth, 0.05)
  expect_equal(mf_dist(kendall(50), align_shapes(r, callosa[, , 1])$value, r$value), 0, tolerance = 1e-7)
  # the smoothed release of a noisy one is nearer to the mean
  truth <- frechet_mean(callosa[, , -1], kendall(50))$mean
  noisy <- with_simulation(4, dp_mean(callosa[, , 2:101], kendall(50), 2, callosa[, , 1], 0.3))
  expect_lt(mf_dist(kendall(50), smooth_outline(noisy)$value, truth), mf_dist(kendall(50), noisy$value, truth))
  expect_identical(guarantee(smooth_outline(noisy))$label, "none") # a simulation stays one
})

test_that("what can't be done is refused", {
  r <- dp_mean(callosa[, , -1], kendall(50), 2, callosa[, , 1], 0.3)
  argument <- function(e) expect_error(e, class = "riemdp_error_argument")
  shape <- function(e) expect_error(e, class = "riemdp_error_shape")
  argument(smooth_outline(r, 0.01))
  argument(smooth_outline(r, 0.6))
  argument(smooth_outline(r, closed = NA))
  argument(align_shapes(r, frechet_mean(callosa[, , 1:5], kendall(50))))
  shape(smooth_outline(1:5))
  shape(smooth_outline(matrix(0, 2, 2)))
  shape(align_shapes(r, callosa[1:10, , 1]))
  shape(align_shapes(r, callosa))
  expect_error(smooth_outline(c(1i, NA, 2, 3)), class = "riemdp_error_not_finite")
  expect_error(align_shapes(r, rep(1i, 50)), class = "riemdp_error_zero_size")
  other <- dp_mean(c(1, 2, 3), euclidean(1), 1, 0, 5)
  expect_error(smooth_outline(other), class = "riemdp_error_unsupported")
  expect_error(align_shapes(other, callosa[, , 1]), class = "riemdp_error_unsupported")
})
