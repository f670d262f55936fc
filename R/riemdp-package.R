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
#' @references Reimherr, M., Bharath, K. and Soto, C. (2021). Differential Privacy over Riemannian Manifolds. *Advances in
#'   Neural Information Processing Systems* 34.
#' @keywords internal
#' @useDynLib riemdp, .registration = TRUE
#' @importFrom generics explain
"_PACKAGE"
