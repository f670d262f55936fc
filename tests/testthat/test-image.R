# No statistical tests but one, at 6 standard errors.

# the definition, pixel by pixel with the whole filters
descriptor_by_hand <- function(image, eta, weights) {
  sobel <- matrix(c(1, 2, 1, 0, 0, 0, -1, -2, -1), 3) / 4
  bend <- matrix(c(1, 4, 6, 4, 1, 0, 0, 0, 0, 0, -2, -8, -12, -8, -2, 0, 0, 0, 0, 0, 1, 4, 6, 4, 1), 5) / 32
  r <- nrow(image)
  k <- ncol(image)
  grey <- weights[1] * image[, , 1] + weights[2] * image[, , 2] + weights[3] * image[, , 3]
  convolve <- function(filter, i, j) {
    h <- (nrow(filter) - 1) / 2
    sum <- 0
    for (a in -h:h) for (b in -h:h) {
      sum <- sum + filter[a + h + 1, b + h + 1] * grey[min(max(i - a, 1), r), min(max(j - b, 1), k)]
    }
    sum
  }
  rows <- list()
  for (j in seq_len(k)) for (i in seq_len(r)) {
    ix <- abs(convolve(sobel, i, j))
    iy <- abs(convolve(t(sobel), i, j))
    rows[[length(rows) + 1]] <- c(j, i, image[i, j, ], ix, iy, abs(convolve(bend, i, j)), abs(convolve(t(bend), i, j)),
                                  sqrt(ix^2 + iy^2), if (ix == 0 && iy == 0) 0 else atan2(ix, iy))
  }
  f <- do.call(rbind, rows)
  stats::cov(f) * (nrow(f) - 1) / nrow(f) + eta * diag(11)
}

test_that("covariance descriptors are those of the definition", {
  set.seed(1)
  images <- array(stats::runif(6 * 7 * 3 * 2), c(6, 7, 3, 2))
  w <- c(0.3, 0.5, 0.2)
  x <- covariance_descriptors(images, eta = 1e-3, weights = w)
  expect_equal(dim(x), c(11, 11, 2))
  for (i in 1:2) expect_equal(x[, , i], descriptor_by_hand(images[, , , i], 1e-3, w), tolerance = 1e-12)
  expect_identical(x, aperm(x, c(2, 1, 3)))
  expect_true(all(mf_is_point(spd(11), x)))
  # one image, and lists of images of several sizes
  expect_identical(covariance_descriptors(images[, , , 2], 1e-3, w)[, , 1], x[, , 2])
  both <- covariance_descriptors(list(images[, , , 1], images[1:5, , , 2]), 1e-3, w)
  expect_identical(both[, , 1], x[, , 1])
  expect_equal(both[, , 2], descriptor_by_hand(images[1:5, , , 2], 1e-3, w), tolerance = 1e-12)
  # a flat image: places vary, nothing else does
  flat <- covariance_descriptors(array(0.5, c(8, 8, 3)), eta = 1e-6)[, , 1]
  expect_equal(flat, diag(c(rep((64 - 1) / 12, 2), rep(0, 9))) + 1e-6 * diag(11), tolerance = 1e-12)
  # a ramp along the columns has Ix constant inside and Iy = 0: the direction's angle is a right one inside
  ramp <- covariance_descriptors(array(rep(1:9, each = 9) / 9, c(9, 9, 3)))[, , 1]
  expect_equal(ramp[7, 7], 1e-6)
  expect_gt(ramp[6, 6], 1e-4) # the border's differences are halved
})

test_that("an image that is none of numbers gives no error, and only its own descriptor changes", {
  images <- array(stats::runif(5 * 5 * 3 * 3), c(5, 5, 3, 3))
  good <- covariance_descriptors(images)
  images[2, 2, 1, 2] <- NA
  images[1, 1, 1, 3] <- Inf
  expect_silent(x <- covariance_descriptors(images))
  expect_identical(x[, , 1], good[, , 1])
  expect_identical(mf_is_point(spd(11), x), c(TRUE, FALSE, FALSE))
  expect_error(covariance_descriptors(array(0, c(5, 5, 4))), class = "riemdp_error_shape")
  expect_error(covariance_descriptors(matrix(0, 5, 5)), class = "riemdp_error_shape")
  expect_error(covariance_descriptors(list(array(0, c(5, 5, 3)), 1)), class = "riemdp_error_shape")
  expect_error(covariance_descriptors(images, eta = 0), class = "riemdp_error_argument")
  expect_error(covariance_descriptors(images, weights = 1:2), class = "riemdp_error_argument")
})

test_that("tiles cover the image", {
  image <- array(seq_len(7 * 9 * 4), c(7, 9, 4))
  tiles <- image_tiles(image, size = 3)
  expect_equal(dim(tiles), c(3, 3, 3, 6))
  expect_equal(tiles[, , , 2], image[4:6, 1:3, 1:3])
  expect_equal(tiles[, , , 3], image[1:3, 4:6, 1:3])
  expect_equal(dim(image_tiles(image[, , 1], 3)), c(3, 3, 6))
  expect_error(image_tiles(image, 8), class = "riemdp_error_shape")
  expect_error(image_tiles(1:9, 3), class = "riemdp_error_shape")
})

test_that("images become points of a sphere, each by itself", {
  images <- array(c(1:6, rep(0, 6), 1e300 * (1:6), NA, 2:6), c(2, 3, 4))
  x <- images_to_sphere(images)
  expect_equal(x[1, ], 1:6 / sqrt(91))
  expect_equal(x[2, ], rep(1 / sqrt(6), 6))
  expect_equal(x[3, ], x[1, ])
  expect_equal(x[4, ], rep(1 / sqrt(6), 6))
  expect_true(all(mf_is_point(sphere(5), x)))
  expect_equal(images_to_sphere(matrix(1:6, 1)), x[1, , drop = FALSE])
  expect_error(images_to_sphere("a"), class = "riemdp_error_shape")
  expect_error(images_to_sphere(1:3), class = "riemdp_error_shape")
})

test_that("simulated images follow the seed, their law", {
  expect_equal(formals(simulate_digits)$size, 28)
  set.seed(3)
  a <- simulate_tissue(3, 12)
  b <- simulate_digits(3, 12)
  set.seed(3)
  expect_identical(simulate_tissue(3, 12), a)
  expect_identical(simulate_digits(3, 12), b)
  expect_true(all(a >= 0 & a <= 1) && all(b >= 0 & b <= 1))
  expect_equal(dim(a), c(12, 12, 3, 3))
  expect_error(simulate_digits(), class = "riemdp_error_argument")
  # a field has unit variance: 2,000 fields of 144 pixels that share neighbours, at least 5 independent patches each
  z <- riemdp:::figure_function("smooth_field")(2000, 12, 3)
  expect_lt(abs(mean(z^2) - 1), 6 * sqrt(2 / (5 * 2000)))
  # digits have their hole in the middle, and are alike enough for a leading eigenvector
  d <- simulate_digits(300, 14)
  expect_lt(mean(d[7:8, 7:8, ]), 0.2)
  x <- images_to_sphere(d)
  expect_gt(eigen(crossprod(x) / 300)$values[1], 0.3)
})

test_that("the stained section of scikit-image gives 324 tiles", {
  file <- "/usr/lib/python3/dist-packages/skimage/data/ihc.png"
  skip_if_not(file.exists(file) && requireNamespace("png", quietly = TRUE))
  tiles <- image_tiles(png::readPNG(file))
  expect_equal(dim(tiles), c(28, 28, 3, 324))
  x <- covariance_descriptors(tiles)
  expect_true(all(mf_is_point(spd(11), x)))
  expect_true(frechet_mean(x, spd(11))$converged)
})

test_that("the digits of 'RnavGraphImageData' become points", {
  images <- "RnavGraphImageData"
  skip_if_not_installed(images)
  env <- new.env()
  utils::data("digits", package = images, envir = env)
  x <- images_to_sphere(t(as.matrix(env$digits[, 1:50])))
  expect_equal(dim(x), c(50, 256))
  expect_true(all(mf_is_point(sphere(255), x)))
})
