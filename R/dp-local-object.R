# What points that are released each by itself answer.

local_promise_words <- function(x) {
  if (is.null(x$per)) {
    return(paste0("any two values of a record", if (x$radius < Inf) " in the public ball", " differ by e^epsilon"))
  }
  paste0(sprintf("two values at distance d differ by e^(epsilon d/L), L = %.4g", x$per),
         if (!is.null(x$rounding)) sprintf(", to within %.1g in d", x$rounding),
         if (x$whole_epsilon < Inf) sprintf("; any two by e^%.4g", x$whole_epsilon) else "; no bound for any two")
}

#' @rdname riemdp_release
#' @export
format.riemdp_local <- function(x, ...) {
  gone <- sum(!mf_is_point(x$manifold, x$value))
  c(
    sprintf("Private points, each released by itself: %d on %s", as.integer(x$n), label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", local_promise_words(x)),
    paste0("  mechanism ", x$mechanism, if (is.null(x$cap)) sprintf(", scale %.4g", x$scale) else
      sprintf(", cap of angle %.4g with probability %.4g", x$cap$angle, x$cap$p),
      if (x$radius < Inf) sprintf(", public ball of radius %.4g", x$radius)),
    paste0("  ", origin_words(x)),
    sprintf("  expected distance from the record%s %.4g", if (x$radius < Inf) ", moved to the ball," else "",
            x$expected_error),
    if (gone > 0) sprintf("  NO POINTS: %d of what is released %s beyond what doubles hold; a larger epsilon would do",
                          gone, if (gone == 1) "is" else "are"),
    if (!is.null(x$factor)) sprintf("  `unbiased`: the points times %.4g, root mean square error %.4g each", x$factor,
                                    x$unbiased_error),
    release_lines(x)
  )
}

#' @rdname riemdp_release
#' @export
print.riemdp_local <- function(x, ...) {
  cat(format(x), sep = "\n")
  # far out, noise may lead to where doubles tell no points
  points <- tryCatch(mf_points(x$value, x$manifold), riemdp_error = function(e) NULL)
  print(if (is.null(points)) x$value else utils::head(points, 6))
  if (length(points) > 6) cat(sprintf("... and %d more\n", length(points) - 6L))
  invisible(x)
}

#' @rdname riemdp_release
#' @export
summary.riemdp_local <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, label = g$label,
    promise = g$promise, per = object$per %||% NA_real_, epsilon = g$epsilon, delta = g$delta,
    nominal_epsilon = g$nominal_epsilon, whole_epsilon = object$whole_epsilon, adjacency = g$adjacency,
    radius = object$radius, sensitivity = object$sensitivity, scale = object$scale,
    expected_error = object$expected_error, source = object$source %||% NA_character_
  )
}

#' @rdname riemdp_release
#' @export
explain.riemdp_local <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(x$guarantee), "\n\n", sep = "")
  say("Promise: ", local_promise_words(x), ", for the probability of every outcome.")
  say("Noise: ", switch(x$mechanism,
    laplace = sprintf(paste("density proportional to exp(-d/scale) around the record, scale = %.6g; the space is",
                            "homogeneous, so the normalising constant cancels (proofs/local.md, 1)."), x$scale),
    vmf = sprintf(paste("density proportional to exp(kappa <x, y>), kappa = %.6g, which keeps the promise in the chord",
                        "and so in the distance (proofs/local.md, 2)."), 1 / x$scale),
    privunit = sprintf(paste("uniform on the cap of angle %.6g around the record with probability %.6g, else on the",
                             "rest (proofs/local.md, 4)."), x$cap$angle, x$cap$p),
    wrapped = sprintf(paste("a vector with density proportional to exp(-|z|/scale) on the record's coordinates at the",
                            "public centre, scale = %.6g (proofs/local.md, %d)."), x$scale,
                      if (x$guarantee$numerics == "lattice") 5L else 3L)
  ))
  if (!is.null(x$unit)) say("A unit's point is the Frechet mean of its own rows moved to the public ball.")
  say(origin_sentence(x))
  if (x$radius < Inf) say("Records outside the public ball are moved to its nearest point, one by one.")
  explain_end(x)
}

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_local <- function(x, ...) {
  as_made({
    rows <- storage_rows(x$value, x$manifold)
    data.frame(record = rep(seq_len(nrow(rows)), ncol(rows)), row = as.vector(col(rows)), estimate = as.vector(rows))
  })
}
