# How a table of mechanisms for the mean prints.

#' @export
print.riemdp_mean_plan <- function(x, ...) {
  if (!whole_plan(x)) {
    print(plain_table(x))
    return(invisible(x))
  }
  ask <- attr(x, "ask")
  M <- attr(x, "manifold")
  cat(sprintf("Private mean of %d records on %s, public ball of radius %.4g, %s = %g%s\n", as.integer(ask$n),
              label_manifold(M), ask$ball$radius, symbol("epsilon"), ask$total,
              if (ask$delta > 0) sprintf(", %s = %g", symbol("delta"), ask$delta) else ""))
  if (!is.null(ask$clipped)) {
    cat(sprintf(paste("  of it %g for the share of records outside the ball (standard deviation of its noise %.2g %%),",
                      "%g for the mean\n"),
                signif(ask$clipped$epsilon, 6), 100 * geometric_sd(ask$clipped$scale) / ask$n, signif(ask$epsilon, 6)))
  }
  shown <- data.frame(
    mechanism = paste0(ifelse(x$chosen, "> ", "  "), x$mechanism), label = x$label, scale = signif(x$scale, 3),
    `expected error` = signif(x$expected_error, 3), `of radius` = sprintf("%.2g %%", 100 * x$relative_error),
    acceptance = signif(x$acceptance, 2), check.names = FALSE
  )
  able <- !is.na(x$scale)
  shown$`of radius`[is.na(x$relative_error)] <- ""
  print(format(shown[able, ], na.encode = FALSE), row.names = FALSE, na.print = "")
  for (i in which(nzchar(x$note))) {
    cat(strwrap(paste0(x$mechanism[i], ": ", x$note[i]), indent = 2, exdent = 4), sep = "\n")
  }
  cat(strwrap(paste0("Errors are ", sub("^O", "o", error_note("mean"))), exdent = 2), sep = "\n")
  invisible(x)
}
