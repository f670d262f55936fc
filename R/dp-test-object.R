# What a private test answers.

#' @rdname riemdp_release
#' @export
format.riemdp_test <- function(x, ...) {
  known <- names(x$parameter)
  c(
    "", paste0("\t", x$method), "",
    paste0("data:  ", x$data.name),
    paste(c(test_answer_words(x), paste(known, "=", format(x$parameter, trim = TRUE, drop0trailing = TRUE))),
          collapse = ", "),
    paste("alternative hypothesis:", x$alternative),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x), switch(x$null, paired = ": a pair", equal = ", not its group")),
    paste0("  ", origin_words(x)),
    release_lines(x), ""
  )
}

test_answer_words <- function(x) {
  if (is.null(x[["alpha"]])) return(paste("p-value =", format(x$p.value, digits = 4)))
  sprintf("%s at level %g (the p-value was not released)", if (x$reject) "rejected" else "not rejected", x[["alpha"]])
}

#' @rdname riemdp_release
#' @export
print.riemdp_test <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @rdname riemdp_release
#' @export
summary.riemdp_test <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    null = object$null, n = object$n, p.value = object$p.value, alpha = object[["alpha"]] %||% NA_real_,
    reject = object$reject %||% NA, label = g$label, epsilon = g$epsilon, delta = g$delta,
    nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency, sensitivity = object$sensitivity,
    scale = object$scale, source = object$source %||% NA_character_
  )
}

#' @rdname tidy.riemdp
#' @export
tidy.riemdp_test <- function(x, ...) {
  as_made(data.frame(p.value = x$p.value, alpha = x[["alpha"]] %||% NA_real_, reject = x$reject %||% NA,
                     method = x$method, alternative = x$alternative, parameter = x$parameter[[1]]))
}

#' @rdname tidy.riemdp
#' @export
glance.riemdp_test <- function(x, ...) summary(x)

#' @rdname riemdp_release
#' @export
explain.riemdp_test <- function(x, ...) {
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  each <- if (is.null(x[["unit"]])) "record" else "unit"
  more <- x$guarantee$adjacency == "add-remove"
  change <- if (more) paste("one", each, "more or less") else paste("replacing one", each)
  cat(format(x$guarantee), "\n\n", sep = "")
  if (identical(x$null, "any")) {
    say(sprintf("Sensitivity: a record is in one of %d parts and moves the number of those that reject by 1 (%s).",
                as.integer(x$m), x$theorem))
    say(sprintf("Noise: two-sided geometric, scale %.6g, by integer arithmetic. ", x$scale),
        sprintf("The p-value is that of a binomial count of level %g with such noise.", x$part_level))
  } else {
    say(sprintf("Sensitivity: %s moves the statistic by at most %.6g, under each of %d lots (%s).",
                change, x$sensitivity, as.integer(x$parameter[[1]]), x$theorem))
    say(sprintf("Noise: Laplace of scale %.6g on the statistic; ", x$scale), if (is.null(x[["alpha"]]))
      sprintf("one of %d values of p is drawn from its law, by integer arithmetic.", as.integer(x$cells)) else
        "whether p is at most the level is drawn from its law, by integer arithmetic.")
    say("Under the null hypothesis p is at most any level with no more than that probability, at any number of ",
        "records, up to rounding by less than a share of epsilon/1024.")
  }
  say(sprintf("%s changes no outcome's probability by more than a factor of exp(%s).",
              sub("^r", "R", sub("^o", "O", change)), format(x$guarantee$nominal_epsilon)))
  say(unprotected_sentence(x$guarantee))
  say(origin_sentence(x))
  explain_end(x)
}
