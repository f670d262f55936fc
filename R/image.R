# Images into points: covariance descriptors and directions.

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
