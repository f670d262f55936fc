# Runs tests/testthat on the installed package, files side by side; the last line is "N passed, N failed". Used by test, sanitize and valgrind.
# RIEMDP_JOBS: how many processes, at most the cores there are; 0: in this one, for valgrind. An argument picks files by a regular expression.
# Each process is an R of its own that takes the next file while there is one: nothing is shared that tests which fork could upset.
# RIEMDP_LEAVE_OUT: a regular expression of files that a run of all of them leaves out, for the sanitizers.
# RIEMDP_FILE_SECONDS: a file that takes longer has failed; its process is ended and another one goes on.
# RIEMDP_SECONDS: no file is begun after so many seconds; those left are named and aren't failures.
# RIEMDP_LONG: the share of files whose tests of laws run in their long form; all without it. RIEMDP_SEED: of that choice, and of the order
# where time is limited.
filter <- commandArgs(TRUE)
worker <- if (length(filter) == 2 && filter[1] == "--worker") filter[2] # the folder of a queue
filter <- if (length(filter) && nzchar(filter[1])) filter[1] else "."
# everything that can run here does: without it testthat skips pictures, and then takes their files for left-overs
Sys.setenv(NOT_CRAN = "true")
started <- proc.time()[[3]]
# before every comparison a reporter sets up options, language and variables for its words, which are caught here: a sixteenth of all time
testthat::MultiReporter$set("public", "local_user_output", function(.env = parent.frame()) NULL)
names <- sub("^test-(.*)[.]R$", "\\1", list.files("tests/testthat", "^test-.*[.]R$"))

# files in short form where RIEMDP_LONG is a share
short_names <- function() {
  if (!nzchar(Sys.getenv("RIEMDP_LONG"))) return(character())
  long <- as.numeric(Sys.getenv("RIEMDP_LONG"))
  set.seed(as.integer(Sys.getenv("RIEMDP_SEED", "1")))
  on.exit(rm(".Random.seed", envir = globalenv())) # tests begin as they would without
  names[stats::runif(length(names)) > long]
}

run_file <- function(name) {
  began <- proc.time()
  if (name %in% short_names()) Sys.setenv(RIEMDP_QUICK = "1") else if (nzchar(Sys.getenv("RIEMDP_LONG"))) Sys.unsetenv("RIEMDP_QUICK")
  said <- utils::capture.output({
    result <- tryCatch({
      options(testthat.summary.omit_dots = TRUE, testthat.summary.max_reports = 1000L)
      testthat::test_dir(
        "tests/testthat", package = "riemdp", load_package = "installed", filter = paste0("^", name, "$"), stop_on_failure = FALSE,
        reporter = testthat::SummaryReporter$new(show_praise = FALSE)
      )
    }, error = function(e) {
      cat("tests did not run:", conditionMessage(e), "\n")
      NULL
    })
  })
  kinds <- unlist(lapply(result, function(test) vapply(test$results, function(one) class(one)[1], "")))
  list(name = name, said = said, seconds = (proc.time() - began)[[3]], cpu = sum((proc.time() - began)[-3]), ended = !is.null(result),
       passed = sum(kinds == "expectation_success"),
       # an error ends its test, so it counts as one failure
       failed = sum(kinds %in% c("expectation_failure", "expectation_error")) + is.null(result), skipped = sum(kinds == "expectation_skip"))
}

tell <- function(one) {
  cat(sprintf("%-32s %6d passed, %d failed%s, %.0f s, %.0f s of CPU\n", one$name, one$passed, one$failed,
              if (one$skipped) sprintf(", %d skipped", one$skipped) else "", one$seconds, one$cpu))
  if (one$failed || one$skipped) cat(one$said, sep = "\n")
  invisible(one)
}

if (!is.null(worker)) {
  for (name in readLines(file.path(worker, "names"))) {
    if (file.exists(file.path(worker, "over"))) break
    if (dir.create(file.path(worker, name), showWarnings = FALSE)) { # who makes the folder has the file
      writeLines(as.character(Sys.getpid()), file.path(worker, name, "pid"))
      one <- run_file(name)
      saveRDS(one, file.path(worker, name, "part"))
      file.rename(file.path(worker, name, "part"), file.path(worker, name, "result"))
    }
    # what this one has started threads for would meet tests that fork: another process goes on
    if ("nanonext" %in% loadedNamespaces()) break
  }
  quit()
}

leave_out <- Sys.getenv("RIEMDP_LEAVE_OUT")
if (filter == "." && nzchar(leave_out)) names <- names[!grepl(leave_out, names)]
names <- names[grepl(filter, names)]
# long files first, as far as their length in lines tells
names <- names[order(-file.size(file.path("tests/testthat", sprintf("test-%s.R", names))))]
if (nzchar(Sys.getenv("RIEMDP_SECONDS")) && nzchar(Sys.getenv("RIEMDP_SEED"))) {
  set.seed(as.integer(Sys.getenv("RIEMDP_SEED")))
  names <- sample(names)
}
jobs <- suppressWarnings(as.integer(Sys.getenv("RIEMDP_JOBS", "2")))
jobs <- max(0L, min(jobs, parallel::detectCores(), length(names), na.rm = TRUE))
results <- if (jobs == 0) stats::setNames(lapply(names, function(name) tell(run_file(name))), names) else list()
most <- as.numeric(Sys.getenv("RIEMDP_FILE_SECONDS", "900"))
in_all <- as.numeric(Sys.getenv("RIEMDP_SECONDS", "Inf"))
queue <- tempfile("tests")
dir.create(queue)
writeLines(names, file.path(queue, "names"))
workers <- 0
start_worker <- function() {
  workers <<- workers + 1
  run <- paste(shQuote(file.path(R.home("bin"), "R")), "--vanilla --no-echo -f tools/run-tests.R --args --worker", shQuote(queue))
  system2("sh", c("-c", shQuote(sprintf("%s </dev/null; touch %s", run, shQuote(file.path(queue, sprintf("ended-%d", workers)))))), wait = FALSE)
}
late <- character()
while (jobs > 0) {
  running <- sum(!file.exists(file.path(queue, sprintf("ended-%d", seq_len(workers)))))
  for (name in setdiff(names, c(names(results), late))) {
    place <- file.path(queue, name)
    pid <- file.path(place, "pid")
    if (file.exists(file.path(place, "result"))) {
      results[[name]] <- tell(readRDS(file.path(place, "result")))
    } else if (file.exists(pid) && difftime(Sys.time(), file.mtime(pid), units = "secs") > most) {
      late <- c(late, name)
      cat(sprintf("%s: not over after %g s\n", name, most))
      tools::pskill(as.integer(readLines(pid)), tools::SIGKILL)
    }
  }
  left <- sum(!dir.exists(file.path(queue, names)))
  if (proc.time()[[3]] - started > in_all) {
    file.create(file.path(queue, "over"))
    left <- 0
  }
  if (running == 0 && left == 0) break
  if (running < jobs && left > 0) start_worker() else Sys.sleep(0.2)
}
not_begun <- if (jobs > 0) names[!dir.exists(file.path(queue, names))]
unlink(queue, recursive = TRUE)
total <- function(what) sum(vapply(results, function(one) as.double(one[[what]]), 0))
passed <- total("passed")
skipped <- total("skipped")
# no test at all is a failure too, and so is a file that didn't get to its end
lost <- setdiff(names, c(names(results), not_begun))
if (length(lost)) cat("did not get to their end:", lost, "\n")
failed <- total("failed") + (passed == 0) + length(lost)
if (length(not_begun)) cat(sprintf("not begun after %g s: %s\n", in_all, toString(not_begun)))
cat(sprintf("\n%.0f s\n", proc.time()[[3]] - started))
cat(sprintf("%d passed, %d failed%s\n", as.integer(passed), as.integer(failed), if (skipped) sprintf(", %d skipped", as.integer(skipped)) else ""))
if (failed) quit(status = 1)
