#' Tidy summaries
#'
#' `glance()` gives one row about a fit or release, `tidy()` one row for each stored number of its point (of foot and
#' vectors for a regression).
#'
#' @param x a [frechet_mean()], a [geodesic_regression()] or a release of [dp_mean()] or [dp_regression()].
#' @param ... not used.
#' @return A data frame.
#' @examples
#' glance(frechet_mean(wishart_spd[, , 1:50], spd(2)))
#' tidy(frechet_mean(wishart_spd[, , 1:50], spd(2)))
#' @importFrom generics tidy glance
#' @name tidy.riemdp
NULL

#' @export
generics::tidy
#' @export
generics::glance

tidy_point <- function(point) {
  if (is.complex(point)) {
    return(data.frame(row = rep(seq_along(point), 2), part = rep(c("re", "im"), each = length(point)),
                      estimate = c(Re(point), Im(point))))
  }
  if (is.matrix(point)) {
    return(data.frame(row = as.vector(row(point)), col = as.vector(col(point)), estimate = as.vector(point)))
  }
  data.frame(row = seq_along(point), estimate = as.vector(point))
}

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_frechet_mean <- function(x, ...) tidy_point(x$mean)

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_release <- function(x, ...) tidy_point(x$value)

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_ball <- function(x, ...) {
  as_made({
    rows <- tidy_point(x$value$center)
    rows <- rows[c(seq_len(nrow(rows)), NA), , drop = FALSE] # the radius has no place in a point
    rows$estimate[nrow(rows)] <- x$value$radius
    row.names(rows) <- NULL
    cbind(term = rep(c("center", "radius"), c(nrow(rows) - 1, 1)), rows)
  })
}

#' @rdname tidy.riemdp
#' @export
glance.riemdp_frechet_mean <- function(x, ...) summary(x)

#' @rdname tidy.riemdp
#' @export
glance.riemdp_release <- function(x, ...) summary(x)

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_geodesic_regression <- function(x, ...) {
  q <- length(x$inner$scale)
  names <- colnames(predictors_of(x))
  rows <- storage_rows_tangent(x$coefficients$v, x$manifold)
  v <- new_points(rows, x$manifold, tangent = TRUE)
  parts <- c(list(cbind(term = "p", tidy_point(x$coefficients$p))),
             lapply(seq_len(q), function(j) cbind(term = names[j], tidy_point(as_single(v[j])))))
  do.call(rbind, parts)
}

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_regression <- function(x, ...) {
  as_made({
    M <- x$manifold
    v <- new_points(storage_rows_tangent(x$value$v, M), M, tangent = TRUE)
    do.call(rbind, c(list(cbind(term = "p", tidy_point(x$value$p))),
                     lapply(seq_along(v), function(j) cbind(term = x$columns$name[j], tidy_point(as_single(v[j]))))))
  })
}
