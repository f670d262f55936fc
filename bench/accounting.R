# What accountants cost: 10,000 Poisson samples (q = .01) of Gaussian noise at delta = 1e-6, beside dp_accounting, autodp and
# prv_accountant (its upper end), where a Python with one of them is found. Sourced by bench.R.

accounting_event <- function(sigma) event_compose(event_poisson(0.01, event_gaussian(sigma)), times = 10000)
# by a contour integral in 40 digits (delta_of() of tools/oracle/accountant.py, solved for epsilon)
ACCOUNTING_EPSILON <- 6.90738449504508
# the least noise at epsilon = 1 has no such reference: its error is that of the epsilon which it gives
accounting_sigma_error <- function(sigma) {
  b <- dp_bounds(accounting_event(sigma), 1e-6, tol = 1e-4)
  abs(mean(b) - 1)
}

ACCOUNTING_ROWS <- list(
  list(id = "epsilon_rdp", label = "epsilon by Renyi divergences", run = function() as.double(dp_epsilon(accounting_event(1), 1e-6, "rdp")),
       error = function(x) x / ACCOUNTING_EPSILON - 1,
       peers = list(c("dp_accounting rdp", ""), c("autodp rdp", ""))),
  list(id = "epsilon_pld", label = "epsilon by privacy-loss distributions",
       run = function() as.double(dp_epsilon(accounting_event(1), 1e-6, "pld")), error = function(x) x / ACCOUNTING_EPSILON - 1,
       peers = list(c("dp_accounting pld", "1e-3"), c("dp_accounting pld", "1e-4"), c("prv_accountant", "1e-2"), c("prv_accountant", "1e-3"))),
  list(id = "bounds_pld", label = "lower and upper bound, 5e-5 apart", run = function() dp_bounds(accounting_event(1), 1e-6, tol = 5e-5)[["upper"]],
       error = function(x) x / ACCOUNTING_EPSILON - 1, peers = list(c("dp_accounting pld", "1e-4"))),
  list(id = "calibrate_rdp", label = "noise for epsilon = 1, Renyi divergences",
       run = function() as.double(dp_calibrate(accounting_event, 1, 1e-6, "rdp")), error = accounting_sigma_error,
       peers = list(c("dp_accounting calibrate", "rdp"))),
  list(id = "calibrate", label = "noise for epsilon = 1", run = function() as.double(dp_calibrate(accounting_event, 1, 1e-6)),
       error = accounting_sigma_error, peers = list(c("dp_accounting calibrate", "pld")))
)

time_accounting <- function(bench, scratch, quick) {
  worker <- new.env()
  python <- if (quick) NULL else c(find_python("dp_accounting"), find_python("autodp"), find_python("prv_accountant"))[1]
  if (!is.null(python) && !start_worker(worker, python, file.path(bench, "accounting-worker.py"), file.path(scratch, "accounting"))) {
    python <- NULL
  }
  timings <- rows <- list()
  for (row in ACCOUNTING_ROWS) {
    ours <- local_entry(row$run)
    rate <- inner_for(ours)
    found <- list()
    for (peer in row$peers) {
      ask <- function(inner) ask_worker(worker, work = peer[1], setting = peer[2], inner = inner)
      result <- if (!is.null(python)) tryCatch({
        first <- ask(1)
        inner <- max(1, ceiling(least_batch / first[1]))
        pairs <- if (first[1] > 3) 3 else pairs_most
        times <- vapply(seq_len(pairs), function(i) c(ours$time(rate$inner) / rate$inner, ask(inner)[1] / inner), double(2))
        data.frame(work = row$id, n = 10000, peer = sub(" .*", "", peer[1]), setting = peer[2], pair = seq_len(pairs),
                   riemdp = times[1, ], peer_seconds = times[2, ], ratio = times[2, ] / times[1, ], value = first[2])
      }, error = function(e) {
        say("  %s, %s: %s", row$id, peer[1], conditionMessage(e))
        NULL
      })
      if (!is.null(result)) found <- c(found, list(result))
    }
    alone <- if (!length(found)) ours$time(rate$inner) / rate$inner
    value <- ours$answer()
    rows <- c(rows, list(list(row = row, value = value, error = row$error(value), cpu = median(c(alone, unlist(lapply(found, `[[`, "riemdp")))),
                              peers = found)))
    timings <- c(timings, lapply(found, function(f) f[names(f) != "value"]))
  }
  if (!is.null(python)) ask_worker(worker, work = "quit")
  list(rows = rows, timings = do.call(rbind, timings), versions = if (!is.null(python)) worker$version)
}

accounting_lines <- function(found) {
  if (is.null(found)) return(character())
  lines <- c("| 10,000 Poisson samples, q = .01, noise 1, delta = 1e-6 | riemdp | value | relative error | peer | its CPU | its value (error) | ratio (range; pairs) | |",
             "|---|---|---|---|---|---|---|---|---|")
  for (r in found$rows) {
    head <- sprintf("| %s | %s | %.7g | %.1e |", r$row$label, seconds(r$cpu), r$value, r$error)
    lines <- c(lines, if (!length(r$peers)) paste(head, "| | | | |"))
    for (p in r$peers) {
      theirs <- r$row$error(p$value[1])
      met <- if (median(p$ratio) > 1 && r$error <= theirs) "faster, no worse" else if (median(p$ratio) > 1) "faster" else "**slower**"
      lines <- c(lines, sprintf("%s %s%s | %s | %.7g (%.1e) | %.1f (%.1f to %.1f; %d) | %s |", head, p$peer[1],
                                if (nzchar(p$setting[1])) paste(",", p$setting[1]) else "", seconds(median(p$peer_seconds)), p$value[1],
                                theirs, median(p$ratio), min(p$ratio), max(p$ratio), nrow(p), met))
    }
  }
  lines
}
