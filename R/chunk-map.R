# The one seam between chunks and whoever works on them. A request is a plain list: the name of a kernel and what it
# needs besides the chunk's records, all of it public, or an iterate that the worker may see. chunk_answer() answers it
# where the records are.

CHUNK_ATTEMPTS <- 3

# all that a private call says of a chunk that fails, whichever it is and whatever was raised
UNREADABLE <- paste("a chunk can't be read or worked on, or holds another number of records than was fixed when",
                    "the chunks were made.",
                    "A plain function of the same records says which and why; that isn't private.")

# Answers of the chunks `only`, in their order. `each`: further entries of the request, a list for each of them;
# `other`: the number of a second chunk for each. Who answers, and when, has no say in what is answered.
chunk_ask <- function(x, request, each = NULL, only = seq_along(x$pieces), private = FALSE, other = NULL) {
  map <- x$map %||% getOption("riemdp.map", NULL) %||% map_here
  if (!is.function(map)) abort_riemdp("argument", "the option riemdp.map must be a function like lapply().")
  check_summed(x, request)
  request$private <- private
  tasks <- chunk_tasks(x, request, each, only, other)
  # how many passes a private call makes, and over which chunks, may depend on records
  if (private) map <- uncounted_map(map)
  answers <- gather_answers(map, tasks, only, private)
  for (one in answers) if (!is.null(one$failed)) raise_failed(one, private)
  lapply(answers, `[[`, "value")
}

chunk_tasks <- function(x, request, each, only, other) {
  home <- process_name()
  lapply(seq_along(only), function(j) {
    i <- only[j]
    if (identical(x$pieces[[i]]$kind, "site")) request$id <- random_id() # asked again it is the same request
    list(number = j, chunk = i, piece = x$pieces[[i]], other = if (!is.null(other)) x$pieces[[other[j]]],
         reader = x$reader, own = x$own, open = x$open, shape = x$shape, columns = x$columns, unit = x$unit,
         size = if (is.null(x$sizes)) NULL else x$sizes[i], request = c(request, if (!is.null(each)) each[[j]]),
         home = home)
  })
}

# an answer to each task, what is missing being asked for again
gather_answers <- function(map, tasks, only, private) {
  answers <- vector("list", length(tasks))
  open <- seq_along(tasks)
  said <- NULL
  for (attempt in seq_len(CHUNK_ATTEMPTS)) {
    # what a map says of a lost worker may quote what was sent
    got <- tryCatch(keep_random_state(map(tasks[open], chunk_task)), error = function(e) {
      if (limit_reached(e)) stop(e)
      said <<- conditionMessage(e)
      NULL
    })
    for (one in if (is.list(got)) Filter(is_answer, got)) {
      k <- match(one$number, seq_along(tasks))
      if (!is.na(k)) answers[[k]] <- one
    }
    open <- which(vapply(answers, is.null, NA))
    if (length(open) == 0) return(answers)
  }
  abort_riemdp("worker", paste0(
    if (private) "a chunk" else sprintf("chunk %d", only[open[1]]),
    sprintf(" was given to workers %d times and no answer came back.", CHUNK_ATTEMPTS),
    if (!private && !is.null(said)) paste0(" The last of them said: ", said)
  ))
}

raise_failed <- function(answer, private) {
  failed <- answer$failed
  abort_riemdp(failed$class, if (!private) {
    sprintf("chunk %d: %s", answer$chunk, failed$message)
  } else if (failed$public) {
    paste(if (failed$class %in% c("callback", "wire", "refused")) "a site:" else "a chunk:", failed$message)
  } else {
    UNREADABLE
  })
}

is_answer <- function(x) {
  inherits(x, "riemdp_answer") && is.list(x) && is.numeric(x$number) && length(x$number) == 1 &&
    (!is.null(x$failed) || "value" %in% names(x))
}

# what a map does with R's random numbers is no part of the computation
keep_random_state <- function(expr) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(old)) {
    if (exists(".Random.seed", globalenv(), inherits = FALSE)) rm(".Random.seed", envir = globalenv())
  } else {
    assign(".Random.seed", old, globalenv())
  })
  expr
}

# 128 random bits of the system's, as text
random_id <- function() {
  parts <- vapply(1:8, function(i) .Call(riemdp_system_uniform, euclidean(1)), numeric(1))
  paste(sprintf("%04x", as.integer(floor(parts * 65536))), collapse = "")
}

process_name <- function() paste(remember("node", function() Sys.info()[["nodename"]]), Sys.getpid())

# In the worker. Whatever goes wrong comes back as a value: errors of workers are for lost ones.
chunk_task <- function(task) {
  if (!identical(process_name(), task$home)) {
    old <- options(riemdp.threads = 1, riemdp.progress = FALSE)
    on.exit(options(old))
  }
  private <- isTRUE(task$request$private)
  failed <- function(e, class = NULL) {
    known <- inherits(e, "riemdp_error")
    if (is.null(class)) class <- if (known) sub("^riemdp_error_", "", class(e)[1]) else "chunk"
    # names and types of columns, policies, how a site is reached
    public <- class %in% c("chunk_columns", "refused") ||
      (identical(task$piece$kind, "site") && class %in% c("callback", "wire"))
    list(failed = list(class = if (private && !public) "chunk" else sub("_(size|columns)$", "", class),
                       message = if (private && !public) "" else conditionMessage(e), public = public))
  }
  work <- function() {
    if (identical(task$piece$kind, "site")) {
      answer <- task$piece$ask(task$request)
      if (inherits(answer, "riemdp_error")) stop(answer)
      return(answer)
    }
    if (identical(task$piece$kind, "sums")) return(database_sums(task))
    read <- function(piece) {
      read_piece(piece, task, private, task$request$names, !identical(task$request$problem$kind, "callback"))
    }
    x <- read(task$piece)
    if (!is.null(task$other)) task$request$other <- read(task$other)
    chunk_answer(task$request, x, task$size)
  }
  out <- tryCatch(list(value = if (private) silently(work()) else work()), error = failed)
  structure(c(list(number = task$number, chunk = task$chunk), out), class = "riemdp_answer")
}

# value of expr; messages, warnings and what it prints are dropped, and what it writes past R's conditions: some drivers
# tell by try() what a database said of a cell. R keeps the last words that try() caught; they are the same here
# whether anything failed or not.
silently <- function(expr) {
  nowhere <- file(if (.Platform$OS.type == "windows") "nul" else "/dev/null", open = "wt")
  depth <- sink.number()
  words <- sink.number(type = "message")
  old <- options(try.outFile = nowhere)
  on.exit({
    while (sink.number() > depth) sink()
    sink_words(words)
    options(old)
    close(nowhere)
    try(untold(), silent = TRUE)
  })
  sink(nowhere)
  sink(nowhere, type = "message")
  suppressWarnings(suppressMessages(expr))
}

untold <- function() stop("what a private call met isn't told.", call. = FALSE)

# messages go where they went: to a connection by its number, 2 being the terminal. There is one such sink, no stack.
sink_words <- function(number) {
  to <- if (number != 2) tryCatch(getConnection(number), error = function(e) NULL)
  sink(to, type = "message")
}

uncounted_map <- function(map) {
  force(map)
  function(X, FUN) uncounted(map(X, FUN))
}

# lapply() with progress over chunks
map_here <- function(X, FUN) {
  started <- proc.time()[[3]]
  shown <- FALSE
  on.exit(if (shown) progress_hide(0, 0))
  lapply(seq_along(X), function(i) {
    out <- FUN(X[[i]])
    if (length(X) > 1 && proc.time()[[3]] - started >= progress$wait) {
      shown <<- TRUE
      progress_tick(i, length(X))
    }
    out
  })
}

#' Workers for records in chunks
#'
#' Functions like [lapply()] for the argument `map` of [chunks()] or the option `riemdp.map`, with which chunks are
#' worked on in parallel. Results are the same to the last bit as with one process.
#'
#' * `map_future()`: by `future.apply`, wherever `future::plan()` says: `plan(multisession)`, `plan(cluster)` on several
#'   machines, `plan(future.batchtools::batchtools_slurm)` on a cluster. Where a worker is lost its chunks run again,
#'   and a plan whose workers are gone is set up anew.
#' * `map_mirai()`: by `mirai`, on the daemons that `mirai::daemons()` has set up, here or over TCP on other machines.
#'   Where a daemon is lost the chunk that it had runs again on another one.
#'
#' Workers need this package, and the packages that readers use, installed. They read their chunks themselves, so paths
#' must mean the same there. Elements of [chunks()] of arrays are sent along.
#'
#' @param ... further arguments of `future.apply::future_lapply()`, e.g. `future.scheduling`.
#' @param compute name of the compute profile of mirai's daemons, `NULL` for the default.
#' @param timeout milliseconds after which a chunk counts as lost; `NULL` for none: then a call waits for daemons.
#' @return A function of a list and a function, like [lapply()].
#' @examples
#' x <- chunks(wishart_spd, size = 100, map = function(X, FUN) lapply(rev(X), FUN))
#' identical(frechet_mean(x, spd(2))$mean, frechet_mean(chunks(wishart_spd, 17), spd(2))$mean)
#' \donttest{
#' if (requireNamespace("future.apply", quietly = TRUE)) {
#'   old <- future::plan("multicore", workers = 2) # on other machines: "cluster"
#'   print(frechet_mean(chunks(wishart_spd, 100, map = map_future()), spd(2)))
#'   future::plan(old)
#' }
#' }
#' @export
map_future <- function(...) {
  if (!requireNamespace("future.apply", quietly = TRUE)) {
    abort_riemdp("unsupported", "this needs the package 'future.apply': install.packages(\"future.apply\").")
  }
  more <- list(...)
  function(X, FUN) {
    call <- c(list(X, FUN, future.seed = NULL), more)
    call <- call[!duplicated(names(call)) | names(call) == ""]
    tryCatch(do.call(future.apply::future_lapply, call), FutureError = function(e) {
      # a lost worker takes its plan with it: set it up anew and leave what is missing to the next attempt
      plan <- future::plan("next")
      future::plan("sequential")
      future::plan(plan)
      stop(e)
    })
  }
}

#' @rdname map_future
#' @export
map_mirai <- function(compute = NULL, timeout = NULL) {
  if (!requireNamespace("mirai", quietly = TRUE)) {
    abort_riemdp("unsupported", "this needs the package 'mirai': install.packages(\"mirai\").")
  }
  force(compute)
  force(timeout)
  function(X, FUN) {
    one <- function(task) {
      eval(quote(mirai::mirai(f(x), .args = list(f = FUN, x = task), .timeout = timeout, .compute = compute)))
    }
    jobs <- lapply(X, one)
    lapply(jobs, function(job) mirai::call_mirai(job)$data)
  }
}
