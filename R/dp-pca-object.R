# What private principal directions and covariances answer.

# "3 directions of the 10"
directions_words <- function(q, d) {
  sprintf("%d direction%s of %d", as.integer(q), if (q == 1) "" else "s", as.integer(d))
}

# what a first look showed, where there was one
look_words <- function(facts) {
  if (!is.null(facts$look)) {
    sprintf(paste("  chosen by a first look: the directions' mean second moment exceeds that of all others by about",
                  "%.3g (noise of scale %.3g)"), facts$look$gap, facts$look$scale)
  }
}

# lines about shares and errors that both kinds have; `facts` as components_facts() makes them
direction_lines <- function(facts, error, kind) {
  shares <- facts$shares
  c(
    if (is.null(shares)) "  no matrix was released: eigenvalues and shares are not known" else {
      paste0("  shares of the second moment: ", paste(sprintf("%.3g", shares), collapse = ", "),
             if (any(shares == 0)) " (0: not more than noise alone might give)")
    },
    sprintf(paste("  expected error %.3g of the mean square along the directions, if the last one's exceeds the next",
                  "one's by %.3g"), error, facts$gap * facts$bound^2),
    error_lines(c(paste("it is about", error_about(kind)), error_left_out(kind)))
  )
}

#' @rdname riemdp_release
#' @export
format.riemdp_components <- function(x, ...) {
  d <- nrow(x$loadings)
  c(
    sprintf("Private principal components: %s, of %s", directions_words(ncol(x$loadings), d), how_many_words(x)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n), protection_words(x))),
    sprintf("  mechanism %s, scale %.4g; rows are no longer than %.4g", x$mechanism, x$scale, x$bound),
    paste0("  ", origin_words(x)),
    silent_sites(x$details),
    look_words(x),
    direction_lines(x, x$expected_error, error_kind(x)),
    release_lines(x)
  )
}

#' @rdname riemdp_release
#' @export
print.riemdp_components <- function(x, ...) {
  cat(format(x), sep = "\n")
  print(x$loadings)
  invisible(x)
}

#' @rdname riemdp_release
#' @export
format.riemdp_pga <- function(x, ...) {
  c(
    sprintf("Private principal geodesic analysis of %s on %s", how_many_words(x), label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n), protection_words(x))),
    sprintf("  %s at %s; public ball of radius %.4g",
            directions_words(ncol(x$components$loadings), nrow(x$components$loadings)),
            switch(x$from, at = "a public point", mean = private_mean_words(x$mean_release),
                   center = "a private mean of logarithms, by one matrix with them"), x$radius),
    sprintf("  mechanism %s, scale %.4g; logarithms are no longer than %.4g", x$mechanism, x$components$scale,
            x$length),
    if (!is.null(x$sd)) paste0("  standard deviations: ", paste(sprintf("%.3g", x$sd), collapse = ", ")),
    paste0("  ", origin_words(x)),
    silent_sites(x$components$details),
    silent_sites(x$mean_release$details, "the mean is "),
    look_words(x$components),
    direction_lines(x$components, x$expected_error, error_kind(x)),
    if (x$from == "center" && is.finite(x$expected_error)) "    it is for a mean at the centre: more for others",
    release_lines(x)
  )
}

# the point where directions are taken, where a mean was released
private_mean_words <- function(r) {
  sprintf("a private mean (%s%s)", r$mechanism,
          if (r$mechanism == "tangent") ": exp of the mean of logarithms at the centre" else "")
}

#' @rdname riemdp_release
#' @export
print.riemdp_pga <- function(x, ...) {
  cat(format(x), sep = "\n")
  print(x$value$mean)
  print(x$value$directions)
  invisible(x)
}

# one row: `second_moment` and `share` are those of all released directions together, NA where no matrix was released
direction_row <- function(g, facts, ...) {
  data.frame(
    ..., directions = ncol(facts$loadings), second_moment = sum(facts$moments %||% NA_real_),
    share = sum(facts$shares %||% NA_real_), label = g$label, epsilon = g$epsilon, delta = g$delta,
    nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency, mechanism = facts$mechanism,
    expected_error = facts$expected_error, covers = COVERS
  )
}

#' @rdname riemdp_release
#' @export
summary.riemdp_components <- function(object, ...) {
  cbind(direction_row(object$guarantee, object, n = object$n, bound = object$bound),
        source = object$source %||% NA_character_)
}

#' @rdname riemdp_release
#' @export
summary.riemdp_pga <- function(object, ...) {
  cbind(direction_row(object$guarantee, object$components, manifold = label_manifold(object$manifold), n = object$n,
                      radius = object$radius), source = object$source %||% NA_character_)
}

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_components <- function(x, ...) tidy_point(unname(x$loadings))

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_pga <- function(x, ...) {
  v <- x$value$directions
  do.call(rbind, c(list(cbind(term = "mean", tidy_point(x$value$mean))), lapply(seq_along(v), function(i) {
    cbind(term = paste("direction", i), tidy_point(as_single(v[i])))
  })))
}

explain_noise <- function(facts, g, say) {
  one <- if (of_rows(g)) "record" else "unit"
  change <- if (g$adjacency == "add-remove") paste("one", one, "more or less") else paste("replacing one", one)
  say("Sensitivity: ", change,
      " moves ", switch(facts$mechanism,
        gauss = , laplace = "the second-moment matrix, in the Frobenius norm, by at most ",
        wishart = "the second-moment matrix by the difference of two positive ones whose traces sum to at most ",
        bingham = "the mean square along a direction, but for a constant, up or down by at most "),
      sprintf("%.6g (%s).", facts$sensitivity, facts$theorem))
  if (!is.null(facts$look)) {
    say(sprintf(paste("Before that, by how much the directions' mean second moment exceeds that of all others was",
                      "released with geometric noise of scale %.6g (proofs/subspaces.md, section 7): which noise was",
                      "taken follows from it."), facts$look$scale))
  }
  words <- if (is.null(facts$details)) COMPONENT_WORDS[[facts$mechanism]] else
    paste("normal noise on the second-moment matrix,", share_words(facts$details))
  say("Noise: ", words, sprintf("; scale %.6g.", facts$scale))
}

#' @rdname riemdp_release
#' @export
explain.riemdp_components <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(x$guarantee), "\n\n", sep = "")
  explain_noise(x, x$guarantee, say)
  say(origin_sentence(x))
  say("Rows longer than the bound are shortened to it, one by one; a row with a number that is missing or not finite ",
      "counts as 0.")
  say(unprotected_sentence(x$guarantee))
  explain_end(x)
}

#' @rdname riemdp_release
#' @export
explain.riemdp_pga <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(x$guarantee), "\n\n", sep = "")
  if (!is.null(x$mean_release)) {
    r <- x$mean_release
    say("The mean: ", format(r$guarantee), ", mechanism ", r$mechanism, ", scale ",
        sprintf("%.6g (%s)", r$scale, r$theorem),
        if (!is.null(r$details$sites)) paste0(", ", share_words(r$details)), ".",
        if (r$mechanism == "tangent") sprintf(" It stands for %s.", r$target))
  }
  say("The directions are those of logarithms at the ",
      switch(x$from, at = "public point", mean = "released mean", center = "public centre"),
      sprintf(", which are no longer than %.6g (%s).", x$length, x$theorem),
      if (x$from == "center") " One matrix with a constant column tells their mean as well: both are paid for by it.")
  explain_noise(x$components, x$guarantee, say)
  say(origin_sentence(x))
  say("Records outside the public ball are moved to its nearest point, one by one; records that are no points count ",
      "as the centre.")
  say(unprotected_sentence(x$guarantee))
  explain_end(x)
}

#' @rdname riemdp_release
#' @export
format.riemdp_covariance <- function(x, ...) {
  c(
    sprintf("Private covariance of %s at a point of %s", how_many_words(x), label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x)),
    sprintf("  mechanism %s, scale %.4g; public ball of radius %.4g, logarithms are no longer than %.4g", x$mechanism,
            x$scale, x$radius, x$length),
    paste0("  ", origin_words(x)),
    silent_sites(x$details),
    sprintf("  root mean square %.3g of the privacy noise, in the Frobenius norm", x$expected_error),
    error_lines(c(paste("it is about", error_about(error_kind(x))), error_left_out(error_kind(x)))),
    release_lines(x)
  )
}

#' @rdname riemdp_release
#' @export
summary.riemdp_covariance <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, trace = max(0, sum(diag(object$moment))), label = g$label,
    epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    mechanism = object$mechanism, radius = object$radius, sensitivity = object$sensitivity,
    expected_error = object$expected_error, covers = COVERS, source = object$source %||% NA_character_
  )
}

#' @rdname riemdp_release
#' @export
explain.riemdp_covariance <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(x$guarantee), "\n\n", sep = "")
  say("The matrix is that of logarithms at ", sprintf("a public point, which are no longer than %.6g.", x$length))
  explain_noise(x, x$guarantee, say)
  explain_records(x, say)
  say(unprotected_sentence(x$guarantee))
  explain_end(x)
}

# ---- how far the subspace may be -------------------------------------------------------------------------------------

#' @rdname dp_pca
#' @param object a release of this function or of [dp_pga()].
#' @param parm `"angle"`: the largest angle, in radians, between the released subspace and that of the same rows without
#'   noise.
#' @param level coverage, between 0 and 1.
#' @section Angles:
#' `confint()` bounds the largest angle between the released subspace and the one without noise (of the shortened rows):
#' it is 0 to an upper end that holds with probability `level`. The largest eigenvalue that the noise has with that
#' probability follows from its law, and Davis and Kahan's theorem with the released eigenvalues turns it into an angle.
#' It is pi/2, which says nothing, where the gap of the released eigenvalues is below twice that. Where no matrix was
#' released (`"bingham"`, gradient steps) there is no such bound (`riemdp_error_unsupported`).
#' @export
confint.riemdp_components <- function(object, parm = "angle", level = 0.95, ...) {
  check_no_more(...)
  check_choice(parm, "parm", "angle")
  angle_row(object, check_level(level))
}

#' @rdname dp_pga
#' @param object a release of this function.
#' @param parm,level as for [dp_pca()].
#' @export
confint.riemdp_pga <- function(object, parm = "angle", level = 0.95, ...) {
  check_no_more(...)
  check_choice(parm, "parm", "angle")
  level <- check_level(level)
  if (object$from != "center" || !private_size(object)) return(angle_row(object$components, level))
  # the product of the mean is that of sums over a released number
  fails <- SIZE_FAILS * (1 - level)
  off <- as_made(max(abs(size_interval(object, 1 - fails) / max(1, object$size$count) - 1)))
  angle_row(object$components, level, if (off < 1) off / (1 - off) else Inf, fails)
}

# `off`: by which part the number of records may differ from the one that sums were divided by, but for the probability
# `fails`
angle_row <- function(facts, level, off = 0, fails = 0) {
  if (is.null(facts$eigenvalues)) {
    abort_riemdp("unsupported", "no bound of an angle: the law of the drawn directions depends on the records.")
  }
  as_made({
    length <- angle_noise(facts, level + fails, off)
    matrix(c(0, angle_bound(facts$eigenvalues, ncol(facts$loadings), length)), 1,
           dimnames = list("angle", c("0 %", paste(format(100 * level), "%"))))
  })
}

# A length that what was added to the matrix exceeds with probability 1 - level at most: noise, with a mean's product
# taken off what that errs by, and what rounding rows does (proofs/subspaces.md, sections 5 and 10)
angle_noise <- function(facts, level, off) {
  d <- nrow(facts$loadings)
  o <- facts$offset
  w <- facts$noise$unit * noise_spread(facts$mechanism, facts$noise, d + !is.null(o), level)
  if (!is.null(o)) {
    radius <- facts$bound / sqrt(1 + EXTENDED)
    away <- o$length * radius
    far <- w / (o$column * radius)
    w <- w + (1 - o$kept^2 + off) * away^2 + 2 * away * far + far^2
  }
  if (w == Inf) return(Inf)
  w + 2 * facts$rounding * sqrt(max(0, facts$eigenvalues[1] + w)) + facts$rounding^2
}
