# Called from C, at most five times a second, by anything that has run for two seconds. Sees public counts only, and
# can't fail: a bar that can't be drawn must not end a computation.

progress <- new.env(parent = baseenv())
progress$wait <- 2 # seconds before anything is shown; where it is 0 every tick is
progress$silent <- FALSE
progress$muted <- FALSE

progress_wait <- function() progress$wait

progress_wanted <- function() {
  asked <- getOption("riemdp.progress")
  if (is.null(asked)) interactive() else isTRUE(asked)
}

# `of` 0: there is no count that may be told
progress_tick <- function(done, of) {
  if (progress$muted) return(invisible())
  if (progress$silent) progress_show(0, 0) else progress_show(done, of)
}

# value of expr, without any tick: of runs of which nobody may know how many there were, or which
muted <- function(expr) {
  before <- progress$muted
  on.exit(progress$muted <- before)
  progress$muted <- TRUE
  expr
}

# value of expr, whose ticks tell no counts: in private calls, of loops that run as often as the records make them
uncounted <- function(expr) {
  before <- progress$silent
  on.exit(progress$silent <- before)
  progress$silent <- TRUE
  expr
}

progress_show <- function(done, of) {
  if (progress_wanted()) {
    tryCatch({
      if (is.null(progress$bar)) {
        progress$bar <- if (of > 0) {
          cli::cli_progress_bar("riemdp", total = of, .auto_close = FALSE, .envir = progress)
        } else {
          cli::cli_progress_bar("riemdp", total = NA, format = "{cli::pb_spin} riemdp {cli::pb_elapsed}",
                                .auto_close = FALSE, .envir = progress)
        }
      }
      if (of > 0) {
        cli::cli_progress_update(set = done, id = progress$bar, .envir = progress)
      } else {
        cli::cli_progress_update(inc = 0, id = progress$bar, .envir = progress)
      }
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
