#' Differential privacy where data are curved
#'
#' Private statistics of records on Riemannian manifolds. Start with [dp_mean()]; the geometry is on [mf_exp()], the
#' manifolds on [sphere()], [spd()], [hyperbolic()], [kendall()], [stiefel()], [grassmann()], [euclidean()] and
#' [manifold_custom()].
#'
#' @section What a release promises:
#' Every release carries a guarantee (see [guarantee()]) whose label says what is proven: `pure` and `approx` are
#' differential privacy under replacement of one record with the number of records public; `none` is no guarantee at all.
#' Bounds (`center`, `radius`) are public and never taken from the data.
#'
#' @section Options:
#' * `riemdp.threads`: threads inside one call, where the compiler has OpenMP; 1 by default, and in forked workers. Results are
#'   the same to the last bit whatever their number. Operations of [manifold_custom()] always run on one.
#' * `riemdp.progress`: whether anything that takes over two seconds draws a progress bar; by default in interactive use.
#'
#' @references Reimherr, M., Bharath, K. and Soto, C. (2021). Differential Privacy over Riemannian Manifolds. *Advances in
#'   Neural Information Processing Systems* 34.
#' @keywords internal
#' @useDynLib riemdp, .registration = TRUE
#' @importFrom generics explain
#' @importFrom stats coef confint deviance df.residual fitted formula hatvalues logLik model.frame model.matrix nobs predict
#' @importFrom stats residuals update vcov weights
"_PACKAGE"
