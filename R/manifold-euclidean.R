#' Euclidean space
#'
#' \eqn{R^d} with \eqn{\exp_p v = p + v}, \eqn{\log_p q = q - p}: flat, complete, where every law of the package has its
#' classical form. Records are rows of an n x d matrix; for d = 1 a plain vector is n records.
#'
#' @param d dimension, 1 or more.
#' @return A manifold object.
#' @examples
#' M <- euclidean(2)
#' mf_dist(M, c(0, 0), rbind(c(3, 4), c(1, 0)))
#' frechet_mean(c(1, 2, 6), euclidean(1))$mean
#' @export
euclidean <- function(d) new_manifold("euclidean", check_count(d, "d"), "riemdp_euclidean")

#' @export
manifold_label.riemdp_euclidean <- function(M) sprintf("Euclidean space R^%d", M$param)

#' @export
ambient_bounds.riemdp_euclidean <- function(M, center, radius) ambient_ball(1, 2 * radius)
#' @export
ambient_shift.riemdp_euclidean <- function(M, q) q
