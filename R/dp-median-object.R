# What a private median answers.

#' @rdname riemdp_release
#' @export
format.riemdp_median <- function(x, ...) {
  c(
    sprintf("Private geometric median of %s on %s", how_many_words(x), label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x)),
    sprintf("  K-norm gradient mechanism, scale %.4g, public ball of radius %.4g%s", x$scale, x$radius,
            if (x$smooth > 0) sprintf(", distances smoothed by %.4g", x$smooth) else ""),
    paste0("  ", origin_words(x)),
    error_lines(no_error_words(error_kind(x))),
    finest_words(x),
    release_lines(x)
  )
}

finest_words <- function(x) {
  if (!isTRUE(x$finest > 1e-4 * x$radius)) return(NULL)
  sprintf("  %snormal records with a standard deviation below about %.2g would be missed as likely as found",
          if (x$finest > 0.2 * x$radius) "FEW RECORDS for so wide a ball: " else "", x$finest)
}

#' @rdname riemdp_release
#' @export
summary.riemdp_median <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, label = g$label,
    epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    radius = object$radius, smooth = object$smooth, sensitivity = object$sensitivity, scale = object$scale,
    finest = object$finest, source = object$source %||% NA_character_
  )
}

#' @rdname riemdp_release
#' @export
explain.riemdp_median <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(x$guarantee), "\n\n", sep = "")
  say("Sensitivity: ", moving_words(x), " moves the sum S of the vectors log/sqrt(d^2 + a^2), ",
      sprintf("a = %.3g,", x$smoothed),
    sprintf(" by at most %g, at every point and whatever the radius (%s). Rounding adds %.3g.", x$sensitivity,
            x$theorem, x$solver_error))
  say("Noise: a point of a lattice of normal coordinates at the public centre, drawn by integer arithmetic on random ",
      sprintf("bits with probability proportional to exp(-|S|/scale); scale = 2 x sensitivity/epsilon = %.6g.",
              x$scale),
      " The normalising constant depends on the records and takes the second half of epsilon (proofs/median.md).")
  explain_records(x, say)
  say(sub("^n", "N", no_error_words(error_kind(x))), ".")
  say("Not protected: the time that the call takes, as the number of trials depends on the records.")
  explain_end(x)
}

# what was sought, and of which records
explain_records <- function(x, say) {
  say("Target: ", x$target, ".")
  if (of_averages(x)) {
    say(AVERAGES_SENTENCE)
  } else if (!is.null(x$unit)) {
    say("A unit counts once: by the Frechet mean of its own rows moved to the public ball ",
        "(proofs/mean-sensitivity.md, section 13).")
  }
  say(origin_sentence(x))
  say("Records outside the public ball are moved to its nearest point, one by one; records that are no points count ",
      "as the centre.")
}

#' @rdname confint.riemdp_mean
#' @export
confint.riemdp_median <- function(object, parm = "median", level = 0.95, ...) {
  check_no_more(...)
  check_choice(parm, "parm", "median")
  level <- check_level(level)
  as_made(structure(list(
    center = object$value, moved = FALSE, radius = ball_reach(object), level = level, manifold = object$manifold,
    basis = "the public ball alone: how near a draw lies depends on the records' spread",
    about = error_about(error_kind(object)), covers = COVERS, leaves_out = c("clipping", "sampling")
  ), class = "riemdp_region"))
}
