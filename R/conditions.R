# Classed errors. The table of statuses lives in src/base/ground.h; errors that only R can find are raised here as well.
# No error keeps its call: a call deparses its arguments, and arguments are records.

abort_riemdp <- function(suffix, message) {
  stop(structure(
    class = c(paste0("riemdp_error_", suffix), "riemdp_error", "error", "condition"),
    list(message = paste(message, collapse = " "), call = NULL)
  ))
}

# The value of a callback's call, or `otherwise` where it fails: no error, warning or message of it gets out. (Nothing
# stops conditions of other classes, which meet the handlers of whoever called.) What stop() is given need be no error;
# it would end a script past every handler of errors, and is made one here.
contained <- function(expr, otherwise) {
  stopped <- function(e) {
    inside <- vapply(seq_len(sys.nframe()), function(k) identical(sys.function(k), base::stop), NA)
    if (!inherits(e, "error") && any(inside)) stop("a callback stopped", call. = FALSE)
  }
  tryCatch(withCallingHandlers(suppressWarnings(suppressMessages(expr)), condition = stopped),
           error = function(e) otherwise)
}

# the value of an expression; what goes to the screen's error stream meanwhile is lost
unheard <- function(expr) {
  nowhere <- file(nullfile(), "w")
  messages <- sink.number("message")
  sink(nowhere, type = "message")
  on.exit({
    if (messages == 2) sink(type = "message") else sink(getConnection(messages), type = "message")
    close(nowhere)
  })
  expr
}

# Whether an error is the end of a time limit, which R tells without a class. What a callback raises may hold anything.
limit_reached <- function(e) {
  limits <- c("reached elapsed time limit", "reached session elapsed time limit", "reached CPU time limit",
              "reached session CPU time limit")
  said <- conditionMessage(e)
  is.character(said) && any(said %in% c(limits, gettext(limits, domain = "R")))
}

# the value of an expression, or `otherwise` where that fails for another reason than a time limit
unless <- function(expr, otherwise) {
  tryCatch(expr, error = function(e) if (limit_reached(e)) stop(e) else otherwise)
}

# whoever takes other errors for an answer lets these pass: the package's own, and ends of a time limit
pass_on <- function(e) if (inherits(e, "riemdp_error") || limit_reached(e)) stop(e)

# a status as C returns it
status_number <- function(name) match(name, .Call(riemdp_statuses)[, 1]) - 1L

#' Errors of the package
#'
#' Every error of the package is a condition of class `riemdp_error` and of a class that names its cause,
#' `riemdp_error_<cause>`, so that scripts can tell them apart with [tryCatch()]. Messages say what must be, what was
#' given (its shape, never its numbers) and how to mend it.
#'
#' @return A data frame with one row for each cause that the numerical routines know: `class`, `must` (what must be) and
#'   `mend` (how to mend it). Further classes are `riemdp_error_shape` (wrong dimensions), `riemdp_error_argument` (an
#'   argument out of its range), `riemdp_error_radius` (a ball too large for the curvature), `riemdp_error_existence` (a
#'   noise law that can't be normalised) and `riemdp_error_failed` (no try of [dp_select()] gave a release).
#' @examples
#' riemdp_errors()
#' tryCatch(mf_log(sphere(2), c(1, 0, 0), c(-1, 0, 0)),
#'          riemdp_error_cut_locus = function(e) conditionMessage(e))
#' @export
riemdp_errors <- function() {
  table <- .Call(riemdp_statuses)[-1, , drop = FALSE]
  data.frame(class = paste0("riemdp_error_", table[, 2]), must = table[, 3], mend = table[, 4])
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# R's own errors become conditions of the package
classed <- function(expr, what) {
  tryCatch(expr, error = function(e) {
    pass_on(e)
    abort_riemdp("argument", sprintf("%s could not be used: %s", what, conditionMessage(e)))
  })
}
