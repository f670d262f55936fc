# Checkpoints of private optimisers: noisy and public quantities only, in a file; and a token in the ledger, so that
# what was paid for once is drawn once, and on the records that it was paid for.

CHECKPOINT_PARTS <- 20 # states saved in a run

check_checkpoint <- function(path, ledger) {
  if (!is_string(path) || !nzchar(path)) {
    abort_riemdp("argument", "`checkpoint` must be the path of a file.")
  }
  if (is.null(ledger)) {
    abort_riemdp("argument",
                 "`checkpoint` needs a `ledger`, which keeps it from being resumed twice: give dp_ledger(path, ...).")
  }
  if (!dir.exists(dirname(path.expand(path)))) abort_riemdp("argument", "the directory of `checkpoint` doesn't exist.")
  if (file.exists(path)) {
    abort_riemdp("argument", "there is a file at `checkpoint`: go on with dp_resume(), or give another path.")
  }
  path
}

# ---- which records ---------------------------------------------------------------------------------------------------
# A fingerprint of the records and of what was paid for, under a random key. The key is in the checkpoint's file and the
# fingerprint in the ledger: whoever has one of them can't try guesses of records against it.

new_key <- function() bytes_hex(paste0(random_id(), random_id()))

run_seal <- function(key, problem, data, units, ledger, data_set, part) {
  code <- lapply(problem[c("loss", "gradient")],
                 function(f) if (is.function(f)) c(deparse(args(f), control = NULL), deparse(body(f), control = NULL)))
  records <- if (is_chunks(data)) {
    chunk_ask(data, list(kernel = "seal", key = key, problem = problem, counts = problem_counts(problem),
                         M = problem$manifold), private = TRUE)
  } else {
    seal_of(key, plain_records(data))
  }
  if (!is.null(units)) records <- list(records, units$of)
  paste(seal_of(key, ledger$uid, data_set, part, problem$kind, problem$threshold, problem$batched, code, records),
        collapse = "")
}

# A run in parts. Whenever a file could be used, no other one can: its token is used up before it is replaced.
run_saved <- function(run, input, path, ledger, token, seal) {
  total <- steps_in_all(run)
  parts <- unique(ceiling(total * seq_len(CHECKPOINT_PARTS) / CHECKPOINT_PARTS))
  for (until in parts[parts > steps_done(run)]) {
    run <- tryCatch(continue_run(run, input, until), riemdp_error_diverged = function(e) {
      # the budget is spent: no second attempt from the last checkpoint
      drop_checkpoint(path, ledger, token, seal)
      stop(e)
    })
    if (until < total) token <- save_checkpoint(run, path, ledger, token, seal)
  }
  drop_checkpoint(path, ledger, token, seal)
  run
}

steps_done <- function(run) if (is.null(run$state)) 0 else run$state[1] * run$ask$steps + run$state[2]

save_checkpoint <- function(run, path, ledger, old, seal) {
  token <- ledger_token(ledger, seal)
  partial <- paste0(path, ".part")
  run$value <- NULL
  unwritten <- function(...) {
    abort_riemdp("argument", "the file at `checkpoint` can't be written. The run is over, its budget is spent.")
  }
  state <- c(list(what = "riemdp checkpoint", format = 3L, ledger = ledger$uid, token = token), run)
  tryCatch(suppressWarnings(saveRDS(state, partial)), error = unwritten)
  if (!is.null(old)) ledger_use_token(ledger, old, seal)
  if (!suppressWarnings(file.rename(partial, path))) unwritten()
  token
}

drop_checkpoint <- function(path, ledger, token, seal) {
  if (!is.null(token)) ledger_use_token(ledger, token, seal)
  unlink(path)
}

#' Go on with an interrupted private run
#'
#' `dp_optimize(..., checkpoint = path, ledger = )` saves its state to a file some twenty times in a run. Where the run
#' was interrupted or the process killed, `dp_resume()` goes on from the last state and returns what the run would have
#' returned. Nothing is taken from the ledger again: the whole run was paid for before its first draw.
#'
#' A checkpoint is resumed **once**: going on twice would draw noise for one price twice. The ledger keeps a token for
#' each checkpoint, which is used up when it is resumed, replaced by a later one, or when the run ends; copies of the
#' file share it. A second attempt ends in an error of class `riemdp_error_ledger`. If a resumed run is interrupted
#' again before its next state is saved, it is over, and its budget is spent.
#'
#' The file holds the iterate and further noisy or public quantities: as much as the trace of a release and no more, no
#' record, no index of one and no state of a random generator, besides the key below. Steps that were drawn after the
#' last state are drawn anew; nothing was shown of them (a callback of a user's own problem sees iterates: that it
#' doesn't pass them on is assumed). Whoever may write to the file may change what a resumed run does: keep it with the
#' curator.
#'
#' @param checkpoint path of the file.
#' @section The same records:
#' A run that was paid for one data set is not gone on with on another one. The token stands for the problem, data set
#' and part that were paid for and for the records, by a fingerprint under a random key of 256 bits. The key is in the
#' checkpoint's file and the fingerprint in the ledger, and neither is ever shown: with one of them alone nothing can be
#' found out about records, with both a guess of all records can be tested, so that both belong to the curator. The
#' file, and the key with it, is removed when the run ends. The records have to be given in the same form (values,
#' order, chunks), and a problem's functions with the same text. That records are the same is checked for the curator
#' and is no part of the release. Records at [sites()] can't be compared: no checkpoint is kept for those.
#'
#' @param problem,data,unit the problem, the records and their units, as given to [dp_optimize()]: none is in the file.
#' @param ledger the ledger that the run was paid from.
#' @param ... nothing; later arguments must be named.
#' @param data_set,part what the run was paid for, as given to [dp_optimize()].
#' @return An object of class `riemdp_optimize`, see [dp_optimize()]. Errors: `riemdp_error_argument` where file,
#'   problem or data don't belong together (nothing is used up then), `riemdp_error_ledger` for a checkpoint that was
#'   resumed before or belongs to another ledger, `riemdp_error_diverged`.
#' @seealso [dp_optimize()], [dp_ledger()]
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 2, delta = 1e-5)
#' file <- tempfile(fileext = ".rds")
#' M <- spd(2)
#' calls <- 0
#' stopped <- problem(NULL, function(w, z) {
#'   calls <<- calls + 1 # the user interrupts in the middle
#'   if (calls == 60) signalCondition(structure(class = c("interrupt", "condition"), list()))
#'   -mf_log(M, w, z)
#' }, M, batched = TRUE)
#' tryCatch(
#'   dp_optimize(stopped, wishart_spd, epsilon = 1, delta = 1e-6, start = diag(2), clip = 1,
#'               lr = 0.5, steps = 100, ledger = budget, checkpoint = file),
#'   interrupt = function(e) cat("interrupted\n")
#' )
#' dp_resume(file, stopped, wishart_spd, budget)
#' ledger_history(budget) # one entry
#' @export
dp_resume <- function(checkpoint, problem, data, ledger, ..., unit = NULL, data_set = "default", part = NULL) {
  check_no_more(...)
  check_problem(problem)
  check_ledger(ledger)
  run <- read_checkpoint(checkpoint)
  if (!is.null(run$ask$individual)) {
    abort_riemdp("unsupported", "what records had used up isn't in a checkpoint: a run by `individual` doesn't go on.")
  }
  if (!identical(run$ledger, ledger$uid)) abort_riemdp("ledger", "this checkpoint belongs to another ledger.")
  if (!identical(unclass(run$problem), unclass(problem)[c("kind", "manifold", "threshold")])) {
    abort_riemdp("argument", "`problem` isn't the one of the checkpoint.")
  }
  given <- with_units(unit, data, "data", least = !is.na(run$ask$n))
  units <- given$units
  data <- given$x
  if (!identical(unit_name(units), run$ask$unit)) {
    abort_riemdp("argument", "`unit` isn't that of the checkpoint.")
  }
  input <- problem_call(apart_in(problem, data, NULL), data, private = TRUE, least = as.integer(!is.na(run$ask$n)))
  input <- input_of_units(input, units)
  # where the number of records is private it may not be checked
  if (!is.na(run$ask$n) && run$ask$n != unit_count(input)) {
    abort_riemdp("argument", "`data` has another number of records than the run began with.")
  }
  if (run$guarantee$rng == "operating system" && in_simulation()) {
    abort_riemdp("argument",
                 "a private run can't be gone on with inside with_simulation(): its noise could be drawn again.")
  }
  seal <- run_seal(run$key, problem, data, units, ledger, check_name(data_set, "data_set"),
                   if (!is.null(part)) check_name(part, "part"))
  ledger_use_token(ledger, run$token, seal)
  if (problem$kind == "callback" && !is.null(run$guarantee$assumptions)) {
    run$guarantee$assumptions <- union(run$guarantee$assumptions, "callbacks pass on no iterate that they see")
  }
  note_try(run$guarantee, ledger)
  # what is in the file is held to what it states, too
  paid <- out_of_purse(run$guarantee, {
    if (!is.null(run$size)) pay(price_laplace(1, run$size$scale, "mean-sensitivity.md, 14"))
    pay(price_steps(run$ask, run$plan))
    run_saved(run, input, checkpoint, ledger, NULL, seal)
  }, run$told)
  release <- release_optimum(paid$out)
  release$draws <- paid$draws
  release$source <- run$ask$source %||% NA_character_ # (older files have none)
  release
}

read_checkpoint <- function(path) {
  if (!is_string(path) || !file.exists(path)) {
    abort_riemdp("argument", "`checkpoint` must be the path of a file that dp_optimize() has written.")
  }
  run <- tryCatch(suppressWarnings(readRDS(path)), error = function(e) NULL)
  if (!is_checkpoint(run)) {
    abort_riemdp("argument", "the file at `checkpoint` is damaged, or was written by another version of the package.")
  }
  run
}

is_checkpoint <- function(run) {
  is.list(run) && identical(run$what, "riemdp checkpoint") && identical(run$format, 3L) && is.character(run$token) &&
    is.raw(run$key) && length(run$key) == 32 && is.list(run$budget) && is.list(run$ask) && is.list(run$plan) &&
    inherits(run$guarantee, "riemdp_guarantee") && is.double(run$state) && length(run$state) > 3 &&
    is.data.frame(run$trace)
}
