# Called from C, at most five times a second, by anything that has run for two seconds. Sees public counts only, and can't
# fail: a bar that can't be drawn must not end a computation.

progress <- new.env(parent = baseenv())

progress_wanted <- function() {
  asked <- getOption("riemdp.progress")
  if (is.null(asked)) interactive() else isTRUE(asked)
}

progress_show <- function(done, of) {
  if (progress_wanted()) {
    tryCatch({
      if (is.null(progress$bar)) {
        progress$bar <- cli::cli_progress_bar("riemdp", total = if (of > 0) of else NA, .auto_close = FALSE,
                                              .envir = progress)
      }
      cli::cli_progress_update(set = if (of > 0) done else NULL, id = progress$bar, .envir = progress)
    }, error = function(e) NULL)
  }
  invisible()
}

progress_hide <- function(done, of) {
  if (!is.null(progress$bar)) {
    bar <- progress$bar
    progress$bar <- NULL
    tryCatch(cli::cli_progress_done(id = bar, .envir = progress), error = function(e) NULL)
  }
  invisible()
}
