# What a private optimum answers.

#' @export
format.riemdp_optimize <- function(x, ...) {
  c(
    sprintf("Private minimum of a problem (%s) on %s%s", x$problem, label_manifold(x$manifold),
            if (is.na(x$n) && is.null(x$size)) "" else sprintf(", %s %s", size_words(x),
                                                                  if (is.null(x$unit)) "records" else "units")),
    paste0("  ", c(format(x$guarantee), protection_words(x),
                   budget_remarks(x$guarantee, x$n))),
    sprintf("  %s, %d steps%s%s, gradients clipped at %s", x$mechanism, as.integer(x$steps),
            if (is.null(x$individual)) "" else sprintf(" at the price of %.0f (budgets of single %s)", x$individual,
                                                       if (is.null(x$unit)) "records" else "units"),
            if (x$mechanism == "rgd") "" else sprintf(", batches of %g (%s)", x$batch, x$sampling),
            paste(format(unique(x$clip), digits = 4), collapse = " and ")),
    sprintf("  noise multiplier %.4g: standard deviation %.4g a coordinate of the mean gradient", x$noise_multiplier,
            x$sd),
    paste0("  ", origin_words(x)),
    error_lines(no_error_words(error_kind(x)))
  )
}

divided_words <- function(x) {
  batches <- if (identical(x$sampling, "disjoint")) {
    "In each epoch every record falls by lot into one of its batches, or into none; sums are divided by `batch`"
  } else if (x$mechanism == "rgd") {
    "Sums of all gradients are divided by N"
  } else {
    paste("Sums of all gradients are divided by N; records enter batches each by itself, with the rate batch/N, and",
          "sums are divided by `batch`")
  }
  sprintf(" N = %.0f follows from it, so N is public. %s (proofs/optimisers.md, A private number of records).",
          x$size$points, batches)
}

#' @export
explain.riemdp_optimize <- function(x, ...) {
  g <- x$guarantee
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  cat(format(g), "\n\n", sep = "")
  one <- if (of_rows(g)) "record" else "unit"
  say("Each step's gradient is clipped, record by record, to length ", format(x$clip[2], digits = 6),
      " in the metric at the public iterate. ",
      if (one == "unit") paste("A unit counts with the average of its rows' clipped gradients, and how many rows it",
                               "has is not said. "),
      if (g$adjacency == "add-remove") sprintf("One %s more or less moves the sum by at most that", one) else
        sprintf("Replacing a %s of %g moves the mean by at most twice that over %g", one, x$batch, x$batch),
      "; Gaussian noise has ", format(x$noise_multiplier, digits = 6),
      " times this as its standard deviation in every orthonormal ", "coordinate.")
  if (!is.null(x$individual)) {
    say(sprintf(paste("Over all steps the squared lengths with which a %s counts add up to no more than %.0f times the",
                      "clip's square: where they would, it counts with less, and then with nothing. So the price is",
                      "that of %.0f steps. Who has used up how much is secret"), one, x$individual, x$individual),
        " (proofs/optimisers.md, Individual budgets).")
  }
  if (!is.null(x$event)) {
    cat("What happened, as events:\n")
    cat(paste0("  ", format(x$event)), sep = "\n")
  }
  if (!is.null(x$size)) say(size_sentence(x), divided_words(x))
  say(origin_sentence(x))
  say("Method: ", x$mechanism, " (", x$chosen, ").")
  say(sub("^n", "N", no_error_words(error_kind(x))), ".")
  if (g$label == "none") say("No guarantee, because: ", g$reason, ".")
  say("Assumed: ", paste(g$assumptions, collapse = "; "), ".")
  invisible(x)
}

#' @export
summary.riemdp_optimize <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, problem = object$problem,
    label = g$label, epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    steps = object$steps, individual = as.double(object$individual %||% NA), batch = object$batch,
    sampling = object$sampling, noise_multiplier = object$noise_multiplier,
    sd = object$sd, source = object$source %||% NA_character_
  )
}
