#' Tidy summaries
#'
#' `glance()` gives one row about a fit or release, `tidy()` one row for each stored number of its point (of foot and
#' vectors for a regression).
#'
#' @section Errors of a private mean:
#' `std.error.privacy` is the root mean square of the noise in the direction in which a stored number changes most,
#' `std.error.sampling` that of the records' mean about the population's (`NA` where no mean square was released), and
#' `std.error` both together; with `about = "estimate"` the noise alone. The covariance of sampling is taken as large in
#' that direction as the released trace and length allow, and a stored number as linear near the released point. From
#' `conf.low` to `conf.high` each number has its own interval, for that direction's law of noise and a Student error of
#' sampling. Where the value was made from the point drawn (shrunk, projected) all of this is about that point, as the
#' region of [confint()][confint.riemdp_mean()] for all numbers together is.
#'
#' @param x a [frechet_mean()], a [geodesic_regression()] or a release of [dp_mean()] or [dp_regression()].
#' @param conf.int `TRUE` for errors and intervals.
#' @param conf.level coverage of one interval, between 0 and 1.
#' @param about `"estimate"` or `"population"`, as in [confint()][confint.riemdp_mean()].
#' @param ... not used.
#' @return A data frame.
#' @examples
#' glance(frechet_mean(wishart_spd[, , 1:50], spd(2)))
#' tidy(frechet_mean(wishart_spd[, , 1:50], spd(2)))
#' tidy(dp_mean(wishart_spd, spd(2), epsilon = 1, center = diag(2), radius = 1.5, variance = 0.2))
#' @importFrom generics tidy glance
#' @name tidy.riemdp
NULL

#' @export
generics::tidy
#' @export
generics::glance

tidy_point <- function(point) {
  if (is.complex(point)) {
    place <- if (is.matrix(point)) data.frame(row = as.vector(row(point)), col = as.vector(col(point))) else
      data.frame(row = seq_along(point))
    return(data.frame(rbind(place, place), part = rep(c("re", "im"), each = length(point)),
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

#' @export
coef.riemdp_frechet_mean <- function(object, ...) object$mean

#' @export
nobs.riemdp_frechet_mean <- function(object, ...) object$n

#' @export
vcov.riemdp_frechet_mean <- function(object, ...) no_error_of_mean()

#' @export
confint.riemdp_frechet_mean <- function(object, parm, level = 0.95, ...) no_error_of_mean()

no_error_of_mean <- function() {
  abort_riemdp("unsupported",
               paste("a mean holds no records, so nothing is known of its error: geodesic_regression(x ~ 1) keeps",
                     "them, and has vcov() and confint()."))
}

#' @export
as.data.frame.riemdp_frechet_mean <- function(x, row.names = NULL, optional = FALSE, ...) tidy(x)

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_release <- function(x, ...) tidy_point(x$value)

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_mean <- function(x, conf.int = !is.null(x$squares), conf.level = 0.95,
                             about = if (is.null(x$squares)) "estimate" else "population", ...) {
  conf.int <- check_flag(conf.int, "conf.int")
  about <- check_choice(about, "about", c("estimate", "population"))
  level <- check_level(conf.level)
  if (!conf.int) return(tidy_point(x$value))
  as_made({
    one <- mean_direction(x, level, about)
    drawn <- x$released %||% x$value # smoothing moves the value, not what is known of the noise
    weight <- entry_weights(x$manifold, drawn)
    middle <- tidy_point(drawn)$estimate
    total <- sqrt(one$privacy^2 + if (about == "population") one$sampling^2 else 0)
    cbind(tidy_point(x$value), about = about, std.error = weight * total, std.error.privacy = weight * one$privacy,
          std.error.sampling = weight * one$sampling, conf.low = middle - weight * one$half,
          conf.high = middle + weight * one$half)
  })
}

# How much each stored number changes, to first order, with a unit step from a point in the direction in which it
# changes most
entry_weights <- function(M, at) {
  units <- diag(mf_facts(M)$dimension)
  steps <- lapply(seq_len(nrow(units)), function(i) tidy_point(mf_from_coords(M, at, units[i, ]))$estimate)
  sqrt(Reduce(`+`, lapply(steps, function(v) v^2)))
}

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
