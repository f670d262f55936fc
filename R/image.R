# Images into points: covariance descriptors, directions, tiles; and simulated images of the papers' sizes.

#' Covariance descriptors of colour images
#'
#' The 11 x 11 covariance matrix of the pixels' features: column, row, red, green, blue, \eqn{|I_x|}, \eqn{|I_y|},
#' \eqn{|I_{xx}|}, \eqn{|I_{yy}|}, \eqn{\sqrt{I_x^2 + I_y^2}} and \eqn{\arctan(|I_x|/|I_y|)}, where \eqn{I} is the
#' intensity, plus `eta` on the diagonal. They are points of `spd(11)`, as in Utpala et al. (2023, Appendix C.1).
#'
#' Derivatives are those of the paper, with the filter for \eqn{I_y} as it should be: Sobel's
#' \eqn{\frac14 (1, 2, 1)^\top (1, 0, -1)} and its transpose, and \eqn{\frac1{32} (1, 4, 6, 4, 1)^\top (1, 0, -2, 0, 1)}
#' and its transpose. The printed filters have a wrong row, and give \eqn{I_x} twice; its last feature is printed as a
#' quotient of intensities. Where both derivatives vanish the angle is 0. Pixels beyond the border repeat the border's.
#' Covariances divide by the number of pixels; columns and rows count from 1.
#'
#' Each descriptor is a function of its own image alone. An image with a missing or infinite number gives a matrix of
#' such numbers: no error here, and for private functions a record that is no point.
#'
#' @param images colour images: an array rows x columns x 3 (one image) or rows x columns x 3 x n, or a list of such
#'   images of any sizes. The usual scale is 0 to 1.
#' @param eta positive, added to the diagonal.
#' @param weights three numbers: share of red, green and blue in the intensity; by default those of ITU-R BT.601.
#' @return An array 11 x 11 x n of points of `spd(11)`. Errors: `riemdp_error_shape`, `riemdp_error_argument`.
#' @references
#' Tuzel, O., Porikli, F. and Meer, P. (2006). Region covariance: a fast descriptor for detection and classification.
#' *European Conference on Computer Vision*, 589-600. \doi{10.1007/11744047_45}
#'
#' Utpala, S., Han, A., Jawanpuria, P. and Mishra, B. (2023). Improved differentially private Riemannian optimization:
#' fast sampling and variance reduction. *Transactions on Machine Learning Research*.
#' <https://openreview.net/forum?id=paguBNtqiO>
#' @seealso [image_tiles()], [simulate_tissue()], [images_to_sphere()]
#' @examples
#' set.seed(1)
#' images <- simulate_tissue(20, size = 16)
#' x <- covariance_descriptors(images)
#' dim(x)
#' mf_dist(spd(11), x[, , 1], x[, , 2])
#' @export
covariance_descriptors <- function(images, eta = 1e-6, weights = c(0.299, 0.587, 0.114)) {
  eta <- check_number(eta, "eta", positive = TRUE)
  if (!is.numeric(weights) || is.object(weights) || length(weights) != 3 || !all(is.finite(weights))) {
    abort_riemdp("argument", "`weights` must be three numbers: of red, green and blue.")
  }
  if (is.list(images) && !is.object(images) && length(images) > 0) {
    each <- lapply(images, function(image) as_images(image, "an element of `images`"))
    if (any(vapply(each, function(image) dim(image)[4] != 1, NA))) {
      abort_riemdp("shape", "the elements of `images` must be single images, rows x columns x 3.")
    }
    return(array(vapply(each, function(image) .Call(riemdp_covariance_descriptors, image, as.double(weights), eta),
                        double(121)),
                 c(11, 11, length(each))))
  }
  .Call(riemdp_covariance_descriptors, as_images(images, "`images`"), as.double(weights), eta)
}

# rows x columns x 3 x n
as_images <- function(x, what) {
  d <- dim(x)
  if (!is.numeric(x) || is.object(x) || !length(d) %in% 3:4 || d[3] != 3 || any(d == 0)) {
    abort_riemdp("shape", sprintf("%s must be a numeric array of rows x columns x 3 (x images).", what))
  }
  array(as.double(x), c(d[1:3], if (length(d) == 4) d[4] else 1))
}

#' Tiles of an image
#'
#' Cuts an image into square tiles without overlap, column by column; what is left at the right and lower border is
#' dropped.
#'
#' A 512 x 512 image such as `ihc.png` of scikit-image gives 324 tiles of 28 x 28, the size of the images in Utpala et
#' al. (2023).
#'
#' @param image a matrix, or an array rows x columns x channels, e.g. of `png::readPNG()`.
#' @param size pixels along a tile's side.
#' @param channels how many channels to keep: 3 drops transparency.
#' @return An array size x size x n, or size x size x channels x n.
#' @seealso [covariance_descriptors()]
#' @examples
#' dim(image_tiles(volcano, size = 28))
#' @export
image_tiles <- function(image, size = 28, channels = 3) {
  size <- check_count(size, "size", most = 1e5)
  d <- dim(image)
  if (!is.numeric(image) || is.object(image) || !length(d) %in% 2:3 || any(d == 0)) {
    abort_riemdp("shape", "`image` must be a numeric matrix, or an array of rows x columns x channels.")
  }
  down <- d[1] %/% size
  across <- d[2] %/% size
  if (down * across == 0) abort_riemdp("shape", "`image` is smaller than one tile.")
  k <- if (length(d) == 3) min(d[3], check_count(channels, "channels")) else 1L
  image <- array(image, c(d[1:2], if (length(d) == 3) d[3] else 1))
  image <- image[seq_len(down * size), seq_len(across * size), seq_len(k), drop = FALSE]
  tiles <- aperm(array(as.double(image), c(size, down, size, across, k)), c(1, 3, 5, 2, 4))
  array(tiles, c(size, size, if (length(d) == 3) k, down * across))
}

#' Images as points of a sphere
#'
#' Each image's pixels, put one after the other and divided by their Euclidean length: a point of `sphere(pixels - 1)`.
#' The leading eigenvector of such points' second-moment matrix is the problem of Utpala et al. (2023, Section 6.3) on
#' handwritten digits.
#'
#' A row is a function of its own image alone: an image without light, or with a missing or infinite number, becomes the
#' fixed point whose coordinates are all equal.
#'
#' @param images an array rows x columns x n, or a matrix or data frame whose rows are images.
#' @return A numeric matrix n x pixels, rows are points.
#' @seealso [dp_pca()], [problem_pca()], [simulate_digits()]
#' @examples
#' set.seed(1)
#' x <- images_to_sphere(simulate_digits(200, size = 12))
#' dim(x)
#' r <- dp_pca(x, epsilon = 2, delta = 1e-6, bound = 1)
#' image(matrix(abs(r$loadings), 12)[, 12:1], axes = FALSE)
#' @export
images_to_sphere <- function(images) {
  if (is.data.frame(images)) images <- data_frame_matrix(images)
  d <- dim(images)
  if (!is.numeric(images) || is.object(images) || !length(d) %in% 2:3 || any(d == 0)) {
    abort_riemdp("shape", "`images` must be an array of rows x columns x images, or a matrix whose rows are images.")
  }
  x <- if (length(d) == 3) t(matrix(as.double(images), d[1] * d[2])) else matrix(as.double(images), d[1])
  if (ncol(x) < 2) abort_riemdp("shape", "an image must have at least two pixels.")
  largest <- do.call(pmax, lapply(seq_len(ncol(x)), function(j) abs(x[, j])))
  bad <- !is.finite(largest) | largest == 0
  x[bad, ] <- 1
  largest[bad] <- 1
  x <- x / largest # squares of large or tiny numbers would leave the range of doubles
  x / sqrt(rowSums(x^2))
}

#' Simulated images
#'
#' Images drawn at random, for studies of the size of those in Utpala et al. (2023) where their image collections aren't
#' at hand. No picture of a patient or writer went into them. They follow [set.seed()].
#'
#' `simulate_tissue()`: colour images of a stained section. A pixel's colour is a convex combination of three public
#' colours: pale background (.93, .90, .93), a pink (.86, .62, .76) and a violet (.45, .32, .62). The share of pink is
#' the normal distribution function of a smooth Gaussian field \eqn{m_1 + .8 F_1}, the violet's that of
#' \eqn{m_2 + 1.1 F_2} (it covers the pink); every image has its own \eqn{m_1 \sim N(0, 1)},
#' \eqn{m_2 \sim N(-1.2, .6^2)} and brightness, a factor \eqn{e^{.08 z}}. A field is white noise averaged over a square
#' window of 5 (\eqn{F_1}) or 3 pixels (\eqn{F_2}), twice, and scaled to unit variance. Every channel gets normal noise
#' of standard deviation .02, and is cut to 0 to 1.
#'
#' `simulate_digits()`: the digit 0 in grey. The pixel at distance \eqn{d} (in units of the image's half width) from a
#' tilted ellipse has \eqn{e^{-d^2/(2 t^2)}}, with the distance to first order. Half axes are \eqn{.62 e^{.12 z_1}} up
#' and \eqn{.42 e^{.2 z_2}} across, the tilt \eqn{.2 + .25 z_3} radians, the centre \eqn{.05 (z_4, z_5)},
#' \eqn{t = .11 e^{.25 z_6}}; the \eqn{z_j} are standard normals restricted to \eqn{\pm 2.5}. Values below .05 are 0.
#'
#' @param n number of images. The paper's sets have 10,704 and 10,356 sections, 6,903 and 7,877 digits (a 0 and a 1
#'   each).
#' @param size pixels along a side.
#' @return `simulate_tissue()`: an array size x size x 3 x n; `simulate_digits()`: size x size x n. Numbers from 0 to 1.
#' @references
#' Utpala, S., Han, A., Jawanpuria, P. and Mishra, B. (2023). Improved differentially private Riemannian optimization:
#' fast sampling and variance reduction. *Transactions on Machine Learning Research*.
#' <https://openreview.net/forum?id=paguBNtqiO>
#' @seealso [covariance_descriptors()], [images_to_sphere()]
#' @examples
#' set.seed(1)
#' image <- simulate_tissue(1)
#' plot(as.raster(image[, , , 1]), interpolate = FALSE)
#' digits <- simulate_digits(3)
#' plot(as.raster(digits[, , 1]), interpolate = FALSE)
#' @export
simulate_tissue <- function(n, size = 28) {
  if (missing(n)) abort_no_default("n")
  n <- check_count(n, "n", most = 1e5)
  size <- check_count(size, "size", least = 5, most = 256)
  pixels <- size^2
  colours <- cbind(c(0.93, 0.90, 0.93), c(0.86, 0.62, 0.76), c(0.45, 0.32, 0.62))
  out <- array(0, c(pixels, 3, n))
  # in blocks, so that memory stays small
  for (begin in seq(1, n, by = 1000)) {
    block <- begin:min(n, begin + 999)
    k <- length(block)
    each <- function(x) rep(x, each = pixels)
    pink <- stats::pnorm(each(stats::rnorm(k)) + 0.8 * as.vector(smooth_field(k, size, 5)))
    violet <- stats::pnorm(each(stats::rnorm(k, -1.2, 0.6)) + 1.1 * as.vector(smooth_field(k, size, 3)))
    light <- each(exp(0.08 * stats::rnorm(k)))
    for (c in 1:3) {
      value <- (1 - violet) * ((1 - pink) * colours[c, 1] + pink * colours[c, 2]) + violet * colours[c, 3]
      out[, c, block] <- pmin(1, pmax(0, light * value + 0.02 * stats::rnorm(k * pixels)))
    }
  }
  array(out, c(size, size, 3, n))
}

# size x size x k: white noise, averaged twice over a window that wraps round, unit variance
smooth_field <- function(k, size, window) {
  x <- array(stats::rnorm(size^2 * k), c(size, size, k))
  half <- (window - 1) / 2
  average <- function(x) {
    shifted <- function(s) (seq_len(size) - 1 + s) %% size + 1
    x <- Reduce(`+`, lapply(-half:half, function(s) x[shifted(s), , , drop = FALSE]))
    Reduce(`+`, lapply(-half:half, function(s) x[, shifted(s), , drop = FALSE]))
  }
  # a box convolved with itself has weights 1, ..., window, ..., 1 along each side
  weights <- c(seq_len(window), rev(seq_len(window - 1)))
  average(average(x)) / sum(weights^2)
}

#' @rdname simulate_tissue
#' @export
simulate_digits <- function(n, size = 28) {
  if (missing(n)) abort_no_default("n")
  n <- check_count(n, "n", most = 1e5)
  size <- check_count(size, "size", least = 2, most = 256)
  z <- matrix(stats::qnorm(stats::runif(6 * n, stats::pnorm(-2.5), stats::pnorm(2.5))), n)
  place <- (seq_len(size) - 0.5) / size * 2 - 1
  across <- rep(place, each = size)
  down <- rep(place, size)
  image <- function(i) {
    tilt <- 0.2 + 0.25 * z[i, 3]
    x <- across - 0.05 * z[i, 4]
    y <- down - 0.05 * z[i, 5]
    u <- (x * cos(tilt) + y * sin(tilt)) / (0.42 * exp(0.2 * z[i, 2]))
    v <- (-x * sin(tilt) + y * cos(tilt)) / (0.62 * exp(0.12 * z[i, 1]))
    radius <- sqrt(u^2 + v^2)
    # |f| over the length of its gradient
    slope <- sqrt((u / (0.42 * exp(0.2 * z[i, 2])))^2 + (v / (0.62 * exp(0.12 * z[i, 1])))^2) / pmax(radius, 1e-9)
    ink <- exp(-((radius - 1) / pmax(slope, 1e-9))^2 / (2 * (0.11 * exp(0.25 * z[i, 6]))^2))
    ink[ink < 0.05] <- 0
    ink
  }
  array(vapply(seq_len(n), image, double(size^2)), c(size, size, n))
}
