# Called from C, at most five times a second, by anything that has run for two seconds. Sees public counts only.

progress <- new.env(parent = emptyenv())

progress_show <- function(done, of) {
  if (!is.null(getOption("riemdp.progress")) && !isTRUE(getOption("riemdp.progress"))) {
    return(invisible())
  }
  if (is.null(progress$bar)) {
    total <- if (of > 0) of else NA
    progress$bar <- cli::cli_progress_bar("riemdp", total = total, .auto_close = FALSE, .envir = progress)
  }
  cli::cli_progress_update(set = if (of > 0) done else NULL, id = progress$bar, .envir = progress)
  invisible()
}

progress_hide <- function(done, of) {
  if (!is.null(progress$bar)) {
    bar <- progress$bar
    progress$bar <- NULL
    cli::cli_progress_done(id = bar, .envir = progress)
  }
  invisible()
}
