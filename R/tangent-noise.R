TANGENT_LAWS <- c("gaussian", "laplace")
TANGENT_METHODS <- c("isometric", "basis", "gram-schmidt", "chain")

#' Noise in tangent spaces
#'
#' Draws tangent vectors at p that are isotropic in the metric: in any orthonormal coordinates at p, independent normals
#' with standard deviation `sd` (`law = "gaussian"`), or the law with density proportional to
#' \eqn{\exp(-|v|_p/\mathrm{sd})} (`law = "laplace"`, the K-norm law of the metric's ball). Randomness is that of every
#' private function, ChaCha20 under a key that the operating system gives each call, and R's generator inside
#' [with_simulation()].
#'
#' An isometry of tangent spaces keeps the law, so normals at a reference point, where the tangent space is a coordinate
#' space, are carried to p. What costs least is drawn:
#' * positive definite matrices, affine-invariant: \eqn{LZL^\top} with \eqn{p = LL^\top} and Z symmetric with variances
#'   1 on the diagonal and 1/2 off it (the law of \eqn{p^{1/2}Zp^{1/2}}, since \eqn{QZQ^\top} has the law of Z);
#' * Bures-Wasserstein, log-Euclidean: entries of Z scaled by \eqn{\sqrt{2(\lambda_i + \lambda_j)}} and by
#'   \eqn{(\lambda_i - \lambda_j)/(\log\lambda_i - \log\lambda_j)} in the frame of p's eigenvectors;
#' * sphere, hyperbolic space: one reflection; planar shapes, Stiefel, Grassmann: the frame of p's Householder
#'   vectors, or the projection of a normal matrix where the metric is the surrounding space's;
#' * a user's manifold: a Gram-Schmidt basis.
#'
#' The other methods are what the papers compare with, Gaussian only: `"basis"` stores the analytic orthonormal basis,
#' of \eqn{d} vectors, and sums it up for each draw; `"gram-schmidt"` makes that basis from projected axes; `"chain"`
#' runs a random walk Metropolis chain of `steps` steps from 0 for each draw and has no certificate. Bases of more than
#' 5e7 numbers are refused.
#'
#' @param M a manifold.
#' @param p a base point, or many: then one draw at each.
#' @param n number of draws at one base point, a whole number from 0 to 1e8; with many base points their number, or left
#'   out.
#' @param sd scale, positive, in the units of the metric.
#' @param method `"isometric"`, `"basis"`, `"gram-schmidt"` or `"chain"`.
#' @param law `"gaussian"` or `"laplace"`.
#' @param steps length of each chain.
#' @return n tangent vectors, in the shape of many records; with many base points in their shape. Errors of class
#'   `riemdp_error_argument` or `riemdp_error_shape` for arguments out of range, and those of [mf_check()] for p.
#' @references
#' Utpala, S., Han, A., Jawanpuria, P. and Mishra, B. (2023). Improved differentially private Riemannian optimization:
#' fast sampling and variance reduction. *Transactions on Machine Learning Research*.
#' <https://openreview.net/forum?id=paguBNtqiO>
#'
#' Marsaglia, G. and Tsang, W. W. (2000). The ziggurat method for generating random variables. *Journal of Statistical
#' Software* 5(8). \doi{10.18637/jss.v005.i08}
#' @examples
#' p <- matrix(c(2, 1, 1, 3), 2)
#' v <- tangent_noise(spd(2), p, n = 1000, sd = 0.1)
#' mean(mf_norm(spd(2), p, v)^2) # about 3 * 0.1^2: the dimension is 3
#' @export
tangent_noise <- function(M, p, n = 1, sd = 1, method = c("isometric", "basis", "gram-schmidt", "chain"),
                          law = c("gaussian", "laplace"), steps = 1000) {
  check_manifold(M)
  method <- check_choice(method, "method", TANGENT_METHODS)
  law <- check_choice(law, "law", TANGENT_LAWS)
  sd <- check_number(sd, "sd", positive = TRUE)
  steps <- check_count(steps, "steps", most = 1e8)
  count <- .Call(riemdp_count, M, p)
  n <- if (missing(n) && count > 1) count else check_count(n, "n", least = 0, most = 1e8)
  .Call(riemdp_tangent_noise, M, p, n, sd, law, method, steps, in_simulation())
}
