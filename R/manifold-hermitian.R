#' Hermitian positive definite matrices
#'
#' The k x k complex Hermitian positive definite matrices with the affine-invariant metric \eqn{\langle U, V\rangle_P =
#' \mathrm{Re}\,\mathrm{tr}(P^{-1} U P^{-1} V)}: covariances of complex signals, as in radar and polarimetry, and
#' cross-spectra of several series at one frequency. Records are complex k x k x n arrays; real symmetric matrices are
#' taken as well. [as_mf_points()] makes points of lists and of tables.
#'
#' Distances have no unit: \eqn{X \mapsto AXA^*} changes none, for any invertible complex A, so units and mixtures of
#' the channels don't matter. With the Cholesky factor \eqn{P = LL^*}: \eqn{\exp_P U = L \exp(L^{-1} U L^{-*}) L^*}, and
#' \eqn{d(P, Q)} is the root of the sum of squared logarithms of the eigenvalues of \eqn{P^{-1}Q}. The dimension is
#' \eqn{k^2}, curvature lies in \eqn{[-1/2, 0]}, any two points are joined by one geodesic, and records have one mean,
#' however far apart they lie. Real matrices are a totally geodesic copy of [spd()], k = 1 is the line of logarithms.
#' The volume density of exp at a tangent vector with eigenvalues v of \eqn{L^{-1}UL^{-*}} is \eqn{\prod_{i<j}
#' (\sinh(t)/t)^2} at \eqn{t = (v_i - v_j)/2}: noise around a mean is longer than on `spd(k)`. All is computed with real
#' matrices of twice the size. Proofs: `proofs/geometry.md` of the installed package, section 8.
#'
#' A matrix must be Hermitian within the tolerance 1e-8, of which the lower triangle is used. [mf_project()] takes the
#' Hermitian part and lifts eigenvalues below `floor` times the largest to that value. An estimated covariance of fewer
#' samples than channels is singular and no point: load its diagonal by a public number first. [mf_coords()] are those
#' of \eqn{L^{-1}UL^{-*}}: by columns the diagonal and, times \eqn{\sqrt 2}, real and imaginary parts below it.
#'
#' @param k number of rows, 1 or more.
#' @param floor relative eigenvalue floor of [mf_project()], at least 0 and below 1.
#' @return A manifold object.
#' @references
#' Barbaresco, F. (2013). Information geometry of covariance matrix: Cartan-Siegel homogeneous bounded domains,
#' Mostow/Berger fibration and Frechet median. In *Matrix Information Geometry*, Springer, 199-255.
#' \doi{10.1007/978-3-642-30232-9_9}
#'
#' Bhatia, R. (2007). *Positive Definite Matrices*. Princeton University Press. \doi{10.1515/9781400827787}
#' @seealso [spd()] for real matrices
#' @examples
#' M <- hermitian_spd(2)
#' P <- matrix(c(2, 0.5 - 1i, 0.5 + 1i, 1), 2)
#' mf_dist(M, diag(2), P)
#' x <- mf_random(M, 50, sd = 0.3)
#' frechet_mean(x, M)$mean
#' # a cross-spectrum: records of one length of time, cut into pieces
#' set.seed(1)
#' piece <- replicate(20, {
#'   z <- matrix(complex(real = rnorm(16), imaginary = rnorm(16)), 2)
#'   z %*% Conj(t(z)) / 8
#' })
#' mf_dist(M, piece[, , 1], piece[, , 2:4])
#' @export
hermitian_spd <- function(k, floor = 1e-10) {
  floor <- check_number(floor, "floor", least = 0, most = 1 - 1e-15)
  new_manifold("hermitian_spd", check_count(k, "k", most = 2500), "riemdp_hermitian_spd", floor = floor)
}

#' @export
manifold_label.riemdp_hermitian_spd <- function(M) {
  sprintf("%d x %d Hermitian positive definite matrices", M$param, M$param)
}
