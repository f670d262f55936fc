#' Red wines: chemistry and quality
#'
#' Eleven physicochemical measurements and a sensory score of 1,599 red Vinho Verde wines from the north of Portugal,
#' in the order of the original file. It is the data set of the linear regressions in Kulkarni and Soto (2025).
#'
#' Units are those of Cortez et al. (2009). There are no missing values; 240 rows repeat an earlier row, as in the
#' original.
#'
#' With `alcohol` as predictor, `fixed_acidity`, `density`, `pH` and `residual_sugar` as responses, and every column
#' standardised (mean 0, variance 1 with divisor n) within the rows used, the mean squared error of least squares,
#' averaged over the four responses, is .87359 for the first 100 rows and .92649 for all 1,599. Standardising by the
#' data's own means and standard deviations is not a private step; a private fit takes public bounds instead.
#'
#' @format A data frame with 1,599 rows and 12 columns:
#' \describe{
#'   \item{`fixed_acidity`}{tartaric acid, g/dm³}
#'   \item{`volatile_acidity`}{acetic acid, g/dm³}
#'   \item{`citric_acid`}{g/dm³}
#'   \item{`residual_sugar`}{g/dm³}
#'   \item{`chlorides`}{sodium chloride, g/dm³}
#'   \item{`free_sulfur_dioxide`}{mg/dm³}
#'   \item{`total_sulfur_dioxide`}{mg/dm³}
#'   \item{`density`}{g/cm³}
#'   \item{`pH`}{pH value}
#'   \item{`sulphates`}{potassium sulphate, g/dm³}
#'   \item{`alcohol`}{percent by volume}
#'   \item{`quality`}{integer score on a scale from 0 (very bad) to 10 (excellent): the median of at least three blind
#'     tastings; 3 to 8 occur}
#' }
#'
#' @source UCI Machine Learning Repository, data set 186, "Wine Quality", \doi{10.24432/C56S3T}, by P. Cortez,
#'   A. Cerdeira, F. Almeida, T. Matos and J. Reis, under the licence
#'   [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/); copied from the CRAN package 'liver' (`red_wines`).
#'   Changes: red wines only, column names in snake case, stored as a data frame.
#'
#' @references
#' Cortez, P., Cerdeira, A., Almeida, F., Matos, T. and Reis, J. (2009). Modeling wine preferences by data mining from
#' physicochemical properties. *Decision Support Systems* 47(4), 547-553. \doi{10.1016/j.dss.2009.05.016}
#'
#' Kulkarni, A. and Soto, C. (2025). Differentially private geodesic and linear regression.
#' \doi{10.48550/arXiv.2504.11304}
#'
#' @examples
#' summary(red_wine$quality)
#'
#' # Mean squared error of the plain fit on the first 100 rows
#' score <- function(v) (v - mean(v)) / sqrt(mean((v - mean(v))^2))
#' z <- as.data.frame(lapply(red_wine[1:100, ], score))
#' fit <- lm(cbind(fixed_acidity, density, pH, residual_sugar) ~ alcohol, data = z)
#' mean(residuals(fit)^2)
#'
#' plot(density ~ alcohol, data = red_wine, pch = 20)
"red_wine"

#' Simulated outlines of the corpus callosum
#'
#' Outlines of 409 corpora callosa in the mid-sagittal plane, each given by 50 landmarks. **The shapes are simulated**:
#' they have the number and layout of the shapes that Soto et al. (2022) analysed (from Cornea et al., 2017), but no
#' image and no patient's record went into them, and no anatomical conclusion can be drawn from them.
#'
#' The landmarks are raw, as if digitised: position, size and tilt vary and are no part of the shape. Landmark 1 is the
#' tip of the rostrum (the hook under the front end); the others follow clockwise at equal arc length along the genu,
#' the upper side of the body, the splenium, and back along the lower side. The front of the head is on the left.
#'
#' In Kendall's planar shape space, with distance arccos of the modulus of the inner product of two centred
#' configurations of unit norm, all shapes lie within .22 of their Fréchet mean, of their full Procrustes mean, and of
#' the template (all factors 0 below, a centre chosen without the data). This is below the limit \eqn{\pi/8} for
#' private means on this space.
#'
#' @section Generator:
#' A shape has nine independent factors, standard normals restricted to ±2.5: length \eqn{l}, body \eqn{b}, genu
#' \eqn{g}, isthmus \eqn{i}, splenium \eqn{u}, arch \eqn{a}, apex \eqn{p}, droop \eqn{d}, hook \eqn{h}. Its centre line
#' has length \eqn{106 (1 + .08 l)} mm and, at the fraction \eqn{s} of it, the direction in degrees
#' \deqn{178 + 13 h + 5 a - (142 + 13 h) F(s; .185, .055) - (56 + 10 a) F(s; .55 + .04 p, .2)
#'   - (50 + 13 d) F(s; .925, .05),}
#' where \eqn{F(s; m, w)} is the normal distribution function with mean \eqn{m} and standard deviation \eqn{w},
#' shifted and scaled to run from 0 to 1 on \eqn{[0, 1]}: the line turns at the genu, over the body, and at the
#' splenium. With \eqn{B(s; m, w) = e^{-(s - m)^2 / (2 w^2)}}, half the thickness in mm is
#' \deqn{3.1 e^{.14 b} [1 - e^{-(s + .02)/.09} - .24 e^{.3 i} B(s; .76, .055)] + 2.6 e^{.2 g} B(s; .215, .06)
#'   + 3 e^{.18 u} B(s; .965, .065).}
#' The outline is the envelope of discs of that radius along the centre line. It is displaced along its normal by a
#' random Fourier series of arc length (harmonics 3 to 9, variances proportional to order\eqn{^{-2}}, standard deviation
#' .3 mm in total), cut into 50 landmarks, centred, and then multiplied by \eqn{e^{.06 z_1}}, rotated by \eqn{8 z_2}
#' degrees and shifted by \eqn{6 z_3} and \eqn{6 z_4} mm, the \eqn{z_j} again standard normals restricted to ±2.5.
#' Coordinates are rounded to .01 mm. The script is `data-raw/callosa.R` in the package's sources.
#'
#' @format A numeric array of dimension 50 × 2 × 409: landmark, coordinate (`"x"`, `"y"`, in mm), shape.
#'
#' @source Simulated for this package. The number of shapes and of landmarks follows Soto et al. (2022),
#'   \doi{10.48550/arXiv.2209.12667}.
#'
#' @references
#' Cornea, E., Zhu, H., Kim, P. and Ibrahim, J. G. (2017). Regression models on Riemannian symmetric spaces. *Journal of
#' the Royal Statistical Society, Series B* 79(2), 463-482.
#'
#' Soto, C., Bharath, K., Reimherr, M. and Slavković, A. (2022). Shape and structure preserving differential privacy.
#' *Advances in Neural Information Processing Systems* 35, 24693-24705. \doi{10.48550/arXiv.2209.12667}
#'
#' @examples
#' dim(callosa)
#'
#' # The first shape; its first landmark, the tip of the rostrum, is filled
#' plot(callosa[, , 1], type = "n", asp = 1, xlab = "mm", ylab = "mm")
#' polygon(callosa[, , 1], col = "grey90")
#' points(callosa[, , 1], pch = c(19, rep(1, 49)), cex = .6)
#'
#' # Full Procrustes mean: centre, scale to unit norm, take the leading eigenvector
#' z <- apply(callosa, 3, function(x) complex(real = x[, 1], imaginary = x[, 2]))
#' z <- apply(z, 2, function(v) (v - mean(v)) / sqrt(sum(Mod(v - mean(v))^2)))
#' mean_shape <- eigen(z %*% Conj(t(z)), symmetric = TRUE)$vectors[, 1]
#'
#' # Distances to it by atan2, which is accurate for shapes that are close
#' inner <- drop(Conj(mean_shape) %*% z)
#' distance <- atan2(sqrt(colSums(Mod(z - outer(mean_shape, inner))^2)), Mod(inner))
#' summary(distance)
"callosa"

#' Template of a corpus callosum
#'
#' The outline from which [callosa] are simulated, all factors 0: 50 landmarks in the same order. No individual, real or
#' simulated, went into it, so it can stand for the template of an atlas, a public centre of [dp_mean()]. All shapes of
#' [callosa] lie within .22 of it.
#'
#' @format A 50 × 2 matrix: landmark, coordinate (`"x"`, `"y"`, in mm), centred.
#' @source The generator of [callosa]; the script is `data-raw/callosa.R` in the package's sources.
#' @seealso [callosa]
#' @examples
#' plot(mf_points(array(callosum_template, c(50, 2, 1)), kendall(50)))
#' max(mf_dist(kendall(50), callosa, callosum_template))
"callosum_template"

#' Truncated Wishart matrices
#'
#' A sample of 1,000 symmetric positive definite 2 × 2 matrices, all within 1.5 of the identity in the
#' affine-invariant metric: the law of the simulations in Reimherr et al. (2021) and Soto et al. (2022). The first n
#' matrices are a sample of size n.
#'
#' Each matrix is a draw of the Wishart distribution with \eqn{k = 2} degrees of freedom and scale matrix
#' \eqn{I_k / k}, so that its expectation before truncation is the identity. **Truncation is by rejection**: a draw
#' \eqn{X} is kept if
#' \deqn{\rho(X, I) = \sqrt{\sum_j (\log \lambda_j)^2} < 1.5,}{
#'   rho(X, I) = sqrt(sum_j (log lambda_j)^2) < 1.5,}
#' \eqn{\lambda_j} being the eigenvalues of \eqn{X}, and is otherwise thrown away and drawn anew; nothing is projected
#' or shrunk. A draw is kept with probability .2369. The sample therefore follows the Wishart density restricted to the
#' ball, proportional to \eqn{|X|^{-1/2} e^{-\mathrm{tr} X}}{|X|^(-1/2) exp(-tr X)} there with respect to Lebesgue
#' measure on the entries. Neither the expectation nor the Fréchet mean of the restricted law is the identity. Entries
#' are rounded to six decimals; the radius was checked after rounding. The script is `data-raw/wishart_spd.R` in the
#' package's sources.
#'
#' @format A numeric array of dimension 2 × 2 × 1,000; `wishart_spd[, , i]` is the i-th matrix, exactly symmetric.
#'
#' @source Simulated for this package after appendix A.2.1 of Reimherr et al. (2021) and section 2.3.1 of the supplement
#'   to Soto et al. (2022), \doi{10.48550/arXiv.2209.12667}.
#'
#' @references
#' Reimherr, M., Bharath, K. and Soto, C. (2021). Differential privacy over Riemannian manifolds. *Advances in Neural
#' Information Processing Systems* 34, 12292-12303.
#'
#' Soto, C., Bharath, K., Reimherr, M. and Slavković, A. (2022). Shape and structure preserving differential privacy.
#' *Advances in Neural Information Processing Systems* 35, 24693-24705. \doi{10.48550/arXiv.2209.12667}
#'
#' @examples
#' wishart_spd[, , 1]
#'
#' # Affine-invariant distances to the identity; log1p is accurate for matrices near it
#' distance <- apply(wishart_spd, 3, function(x) {
#'   sqrt(sum(log1p(eigen(x - diag(2), symmetric = TRUE, only.values = TRUE)$values)^2))
#' })
#' max(distance)
#' hist(distance, breaks = 30, main = "", xlab = "distance to the identity")
"wishart_spd"
