#' Compositions
#'
#' Vectors of k positive parts that sum to 1: shares of time, of a budget, of species or of cells. Records are rows of
#' an n x k matrix. With Aitchison's metric the space is flat and isometric to \eqn{R^{k-1}}, so means, regressions
#' and every mechanism are exact, as on [euclidean()].
#'
#' With \eqn{\mathrm{clr}\,x = \log x - \frac1k\sum\log x_j}: \eqn{d(x, y) = |\mathrm{clr}\,x - \mathrm{clr}\,y|},
#' \eqn{\exp_x v} is in proportion to \eqn{x_j e^{v_j/x_j}}, and \eqn{\langle u, v\rangle_x} is the product of
#' \eqn{\mathrm{clr}} images of \eqn{u/x} and \eqn{v/x}. Tangent vectors sum to 0. Coordinates ([mf_coords()]) are
#' isometric log-ratios in Helmert's basis. The distance doesn't depend on the order of parts, nor does it change
#' where both records are perturbed, multiplied part by part by the same positive numbers and closed again. Frechet
#' means are geometric means, closed.
#'
#' **Records are brought to the simplex on entry** to every function that takes points: counts, percentages and shares
#' can be used as they are. A record's parts may be zero, none may be negative, one must be positive. A zero counts as
#' `floor` times the record's largest part, positive parts as they are; then all are divided by their sum. That is a
#' function of this record alone, so it costs no privacy, and `floor` is public: choose it by what can be detected,
#' never by the data. A zero lies \eqn{\log(1/\mathrm{floor})} from the largest part, in logarithms, so that a small
#' `floor` makes zeros far points. With `floor = 0` a record with a zero is no point (`riemdp_error_not_composition`).
#' Points stay as they are, also private means with parts below the `floor`. Doubles hold parts down to 1e-300 of the
#' largest
#' ([mf_exp()] beyond: `riemdp_error_out_of_reach`; noise beyond is shortened).
#'
#' **Fisher's metric**, `metric = "fisher"`, is that of the sphere of radius 2 that roots of compositions lie on: the
#' distance of compositions p and q is \eqn{2\arccos\sum\sqrt{p_jq_j}}, at most \eqn{\pi}, and curvature is 1/4.
#' Zeros are points like others. **Points are the roots**, unit vectors \eqn{y_j = \sqrt{p_j}}: [as_mf_points()] makes
#' them of counts or shares, `y^2` is the composition again. (Shares themselves are no points: `dp_mean()` refuses them,
#' and with `invalid = "center"` counts each as the centre.) The space is the whole sphere, which goes on beyond the
#' compositions: noise may lead there, and so may [mf_exp()]. Squares of the parts are a composition all the same; to
#' take them costs no privacy, and brings a release no farther from any composition, so it never errs more (proof:
#' `proofs/geometry.md` of the installed package, section 7). [mf_random()] draws from Dirichlet's law with all
#' parameters 1/2, uniform in this metric.
#'
#' @param k number of parts, 2 or more.
#' @param metric `"aitchison"` or `"fisher"`.
#' @param floor what a zero counts, relative to the largest part of its record; at least 0 and below 1. Aitchison's
#'   metric alone has a use for it.
#' @return A manifold object.
#' @references Aitchison, J. (1982). The statistical analysis of compositional data. *Journal of the Royal Statistical
#'   Society B* 44, 139-177. \doi{10.1111/j.2517-6161.1982.tb01195.x}
#'
#' Egozcue, J. J., Pawlowsky-Glahn, V., Mateu-Figueras, G. and Barcelo-Vidal, C. (2003). Isometric logratio
#' transformations for compositional data analysis. *Mathematical Geology* 35, 279-300. \doi{10.1023/A:1023818214614}
#' @examples
#' M <- simplex(3)
#' mf_dist(M, c(50, 30, 20), c(5, 3, 2))
#' mf_project(M, c(3, 0, 1))
#' hours <- rbind(c(8, 9, 7), c(7, 12, 5), c(9, 4, 11))
#' frechet_mean(hours, M)$mean
#' dp_mean(hours, M, epsilon = 100, center = c(1, 1, 1), radius = 2)
#' # with Fisher's metric points are roots, and squares are compositions
#' S <- simplex(3, "fisher")
#' roots <- as_mf_points(hours, S)
#' dp_mean(roots, S, epsilon = 100, center = sqrt(c(1, 1, 1) / 3), radius = 0.7)$value^2
#' @export
simplex <- function(k, metric = "aitchison", floor = 1e-6) {
  metric <- check_metric(metric, c("aitchison", "fisher"))
  floor <- check_number(floor, "floor", least = 0, most = 1 - 1e-15)
  if (metric == "fisher") {
    M <- rescaled(sphere(check_count(k, "k", least = 2) - 1), 4, sprintf("roots of compositions of %d parts", k))
    return(structure(M, class = c("riemdp_roots", class(M))))
  }
  new_manifold(paste0("simplex_", metric), check_count(k, "k", least = 2), "riemdp_simplex", metric = metric,
               floor = floor)
}

#' @export
manifold_label.riemdp_simplex <- function(M) {
  metric <- c(simplex_aitchison = "Aitchison")
  sprintf("compositions of %d parts, %s metric", M$param, metric[[M$name]])
}

#' @export
random_points.riemdp_roots <- function(M, n, sd) abs(NextMethod())
