# What a private prediction ball answers.

#' @rdname riemdp_release
#' @export
format.riemdp_conformal <- function(x, ...) {
  c(
    sprintf("Private prediction ball from %s %s on %s", size_words(x), if (is.null(x$unit)) "records" else "units",
            label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), if (is.finite(x$value)) budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x)),
    paste0("  ", conformal_words(x)),
    if (is.finite(x$value)) {
      sprintf("  aimed at rank %.0f of %.0f, one of %d radii up to the public bound %.4g", x$rank, conformal_told(x),
              length(x$radii), x$bound)
    },
    paste0("  ", origin_words(x)),
    release_lines(x)
  )
}

# how many records there are, or were released to be
conformal_told <- function(x) if (is.null(x$size)) x$n else max(0, x$size$count)

# what it says of a new record
conformal_words <- function(x) {
  new <- if (is.null(x$unit)) "a new record, drawn as these were, lies" else
    "all rows of a new unit, drawn as these were, lie"
  around <- switch(x$around, point = "the point `at`", curve = "the released curve", each = "its prediction")
  if (is.finite(x$value)) {
    return(c(sprintf("%s within %.4g of %s with probability %g or more", new, x$value, around, x$level),
             "(over records, noise and the new record together; the prediction must be made without these records)"))
  }
  if (x$rank <= conformal_told(x)) {
    return(sprintf("the whole space: no radius up to the bound %.4g was drawn; another bound, or more records, may do",
                   x$bound))
  }
  whole_words(x)
}

# which n and epsilon would do, from public numbers
whole_words <- function(x) {
  enough <- c(sprintf("n = %.0f", x$least[[1]]),
              if (is.finite(x$least[[2]])) sprintf("epsilon = %.3g", signif_up(x$least[[2]])))
  sprintf("the whole space: at this n and epsilon nothing smaller holds level %g for certain; %s would", x$level,
          paste(enough, collapse = ", or "))
}

# three digits, rounded up
signif_up <- function(x) {
  unit <- 10^(floor(log10(x)) - 2)
  ceiling(x / unit * (1 - 1e-9)) * unit
}

#' @rdname riemdp_release
#' @export
print.riemdp_conformal <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @rdname riemdp_release
#' @export
summary.riemdp_conformal <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, radius = object$value, level = object$level,
    coverage = object$coverage, rank = object$rank, bound = object$bound, label = g$label, epsilon = g$epsilon,
    delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    source = object$source %||% NA_character_
  )
}

#' @rdname riemdp_release
#' @export
explain.riemdp_conformal <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  one <- if (is.null(x$unit)) "record" else "unit"
  cat(format(x$guarantee), "\n\n", sep = "")
  say("Scores: distances from ", switch(x$around, point = "the point `at`", curve = "the released curve",
                                        each = "each record's prediction"),
      if (!is.null(x$unit)) ", of a unit the largest of its rows'",
      "; what is no point, or has no distance, has the score 0.")
  told <- conformal_told(x)
  if (!is.null(x$size)) {
    say(sprintf("Number: %.0f as released, with %.3g of epsilon; the rank follows from it, and the level holds over ",
                x$size$count, x$size$epsilon), "its noise as well (proofs/conformal.md, section 4).")
  }
  if (x$rank > told) {
    say(if (is.null(x$size)) "Nothing was drawn and nothing spent: " else "No radius was drawn: ", whole_words(x), ".")
  } else {
    say(sprintf("Choice: each of %d radii, and the whole space, misses the smallest one that holds %.0f of %.0f ",
                length(x$radii), x$rank, told),
        sprintf("by a number of %ss that %s moves by 1 at most; ", one,
                if (is.null(x$size)) "a replaced one" else "one more or less"),
        "weights exp(-epsilon miss/2), by integer arithmetic (proofs/conformal.md, section 1).")
    say(sprintf("Level: the rank is %.3g above (n + 1) %g, of which %.3g is for draws that are too small%s. ",
                x$rank - (told + 1) * x$level, x$level, x$margin,
                if (is.null(x$size)) "" else " and a number that is too large"),
        sprintf("Proven for these public numbers: %.5g, for exchangeable %ss of any law and a prediction made without ",
                x$coverage, one), "them (section 2). It is no statement about these records, or about a single place.")
  }
  say(origin_sentence(x))
  say(unprotected_sentence(x$guarantee))
  if (!is.null(x$guarantee$assumptions)) say("Assumed: ", paste(x$guarantee$assumptions, collapse = "; "), ".")
  explain_end(x)
}

#' @rdname dp_conformal
#' @param object a release of this function.
#' @param newdata around a curve: a data frame of predictors.
#' @export
predict.riemdp_conformal <- function(object, newdata = NULL, ...) {
  center <- conformal_center(object, newdata)
  as_made(structure(list(center = center, radius = object$value, level = object$level, manifold = object$manifold),
                    class = "riemdp_prediction"))
}

# where predictions are
conformal_center <- function(object, newdata, at = NULL) {
  if (object$around == "curve") {
    if (!is.data.frame(newdata)) {
      abort_riemdp("argument", "around a curve predictors must be given, in a data frame.")
    }
    return(conformal_curve(object$at, newdata))
  }
  if (!is.null(newdata)) abort_riemdp("argument", "there is no curve, so no predictors.")
  if (object$around == "point") return(object$at)
  if (is.null(at)) abort_riemdp("argument", "each record has a prediction of its own: give them as `at`.")
  plain_numbers(at)
}

#' @export
format.riemdp_prediction <- function(x, ...) {
  n <- .Call(riemdp_count, x$manifold, x$center)
  where <- if (n == 1) "the point" else sprintf("each of %d points", n)
  if (!is.finite(x$radius)) return(sprintf("Prediction of level %g on %s: the whole space", x$level,
                                           label_manifold(x$manifold)))
  sprintf("Prediction ball of level %g on %s: within %.4g of %s", x$level, label_manifold(x$manifold), x$radius, where)
}

#' @export
print.riemdp_prediction <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  print(x$center)
  invisible(x)
}

#' Whether points lie in a region, or records in their prediction balls
#'
#' Not private: what it says of records is a function of them.
#'
#' @param r a region that [confint()][confint.riemdp_mean()] made of a mean or a median, or a release of
#'   [dp_conformal()].
#' @param x points, in any accepted shape; for a prediction ball records, as there.
#' @param data around a curve: a data frame of their predictors, a row for each.
#' @param at where each record has its own prediction: these.
#' @return A logical vector, an element for each point or record. A point without a logarithm from an ellipsoid's centre
#'   is not in it. A record that is no point, or has no distance from its prediction, lies at it.
#' @section Errors: `riemdp_error_argument` for what is neither, `riemdp_error_shape` for points of another shape; for a
#'   region what is no point is an error as in [mf_check()].
#' @examples
#' m <- dp_mean(wishart_spd, spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' region_contains(confint(m), diag(2))
#' r <- dp_conformal(wishart_spd[, , 1:400], spd(2), epsilon = 1, at = diag(2), bound = 10)
#' mean(region_contains(r, wishart_spd[, , 401:800]))
#' @export
region_contains <- function(r, x, data = NULL, at = NULL) {
  if (inherits(r, "riemdp_region") && is.null(data) && is.null(at)) return(as_made(points_inside(r, x)))
  if (!inherits(r, "riemdp_conformal")) {
    abort_riemdp("argument", "`r` must be a region that confint() made, or a release of dp_conformal().")
  }
  as_made({
    x <- plain_numbers(x)
    center <- conformal_center(r, data, at)
    conformal_scores(r$manifold, x, center) <= r$value
  })
}
