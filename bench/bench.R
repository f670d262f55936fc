# The bench: see README.md. Called by run with the mode, this folder and a folder for scratch files; by itself with mode "blas" and a file, for
# the table of work with another BLAS.

arguments <- commandArgs(TRUE)
quick <- arguments[1] == "quick"
bench <- arguments[2]
scratch <- arguments[3]
work_alone <- if (arguments[1] == "blas") arguments[4] # where its summaries go
only <- strsplit(Sys.getenv("RIEMDP_BENCH_ONLY"), ",")[[1]] # ids of rows, for work on the bench itself
wanted <- function(part) is.null(work_alone) && (length(only) == 0 || part %in% only)
save_results <- !quick && length(only) == 0 && is.null(work_alone)

library(riemdp)
for (file in c("workloads", "oracle", "peers", "machine", "private", "noise", "accounting", "cost")) source(file.path(bench, paste0(file, ".R")))

python <- if (quick) NULL else find_python("geomstats")
if (!is.null(python) && start_geomstats(python, bench, scratch)) {
  peers <- add_geomstats(peers)
} else {
  python <- NULL
}

seed <- 20240607
least_batch <- if (quick) 0.02 else 0.15   # CPU seconds of one timing: short calls are repeated until they fill it
budget <- if (quick) 0.3 else if (is.null(work_alone)) 8 else 3 # CPU seconds a row and peer, all pairs together
pairs_most <- if (quick) 3 else if (is.null(work_alone)) 9 else 5
wanted_error <- 1.5e-9                     # the error that a peer's settings are chosen for
counted_error <- 1e-6                      # a peer that is wronger than this is printed, not compared with

# ---- rows ------------------------------------------------------------------------------------------------------------
# size: what FLOPS of machine.R wants to know; target: least ratio to the fastest peer

mean_row <- function(id, label, kind, n, quick_n, small_n, data, M, oracle, size, target) {
  list(id = id, label = label, work = paste0("mean_", kind), n = n, quick_n = quick_n, small_n = small_n,
       data = function(n) list(x = data(n)), cost = list(kind = sub("_(canonical|euclidean)$", "", kind), size = size, arrays = 1, times = 3),
       target = target, type = "mean", M = M, oracle = oracle, run = function(d) frechet_mean(d$x, M)$mean)
}

next_record <- function(n) c(seq_len(n)[-1], 1L)

batch_row <- function(work, kind, label, M, data, size) {
  arrays <- c(log = 3, exp = 3, dist = 2, transport = 4)[[work]] # points and vectors in and out
  list(id = paste0(work, "_", kind), label = label, work = paste0(work, "_", kind), n = 1e5, quick_n = 500,
       small_n = 500, cost = list(kind = paste0(work, "_", kind), size = size, arrays = arrays, times = 1), target = 3, type = "batch", kind = kind, map = work,
       data = function(n) {
         x <- data(n)
         to <- next_record(n)
         q <- if (is.matrix(x)) x[to, ] else x[, , to]
         at <- round(seq(1, n, length.out = min(n, if (quick) 30 else 300)))
         list(p = x, q = q, v = if (work %in% c("exp", "transport")) mf_log(M, x, q), check = at)
       },
       run = switch(work,
         log = function(d) mf_log(M, d$p, d$q),
         exp = function(d) mf_exp(M, d$p, d$v),
         dist = function(d) mf_dist(M, d$p, d$q),
         transport = function(d) mf_transport(M, d$p, d$q, d$v)
       ))
}

spd_data <- function(k) function(n) data_spd(n, k, spd_spread(k), seed)
o <- oracle_of
rows <- list(
  mean_row("mean_spd2", "mean SPD(2), n = 1,000", "spd_affine", 1000, 100, 1000, spd_data(2), spd(2), o$spd_affine,
           2, 3),
  mean_row("mean_spd11_1000", "mean SPD(11), n = 1,000", "spd_affine", 1000, 60, 1000, spd_data(11), spd(11),
           o$spd_affine, 11, 3),
  mean_row("mean_spd11", "mean SPD(11), n = 10,000", "spd_affine", 10000, 120, 1000, spd_data(11), spd(11), o$spd_affine,
           11, 3),
  mean_row("mean_spd50", "mean SPD(50), n = 200", "spd_affine", 200, 6, 30, spd_data(50), spd(50), o$spd_affine,
           50, 1.5),
  mean_row("mean_sphere784", "mean sphere, 784 coordinates, n = 7,000", "sphere", 7000, 200, 1500,
           function(n) data_sphere(n, 783, 0.8, seed), sphere(783), o$sphere, 784, 3),
  mean_row("mean_sphere3", "mean sphere, 3 coordinates, n = 10,000", "sphere", 10000, 2000, 2000,
           function(n) data_sphere(n, 2, 0.7, seed), sphere(2), o$sphere, 3, 3),
  mean_row("mean_kendall", "mean Kendall k = 50, n = 409", "kendall", 409, 30, 409,
           function(n) data_kendall(n, 50, seed), kendall(50), o$kendall, 50, 10),
  mean_row("mean_grassmann", "mean Grassmann(50, 5), n = 200", "grassmann", 200, 20, 60,
           function(n) data_grassmann(n, seed = seed), grassmann(50, 5), o$grassmann, c(50, 5), 10),
  mean_row("mean_stiefel", "mean Stiefel(50, 5) canonical, n = 200", "stiefel_canonical", 200, 5, 20,
           function(n) data_stiefel(n, seed = seed), stiefel(50, 5, "canonical"),
           oracle_stiefel(stiefel(50, 5, "canonical"), 1), c(50, 5), 3),
  mean_row("mean_stiefel_euclidean", "mean Stiefel(50, 5) Euclidean, n = 200", "stiefel_euclidean", 200, 5, 20,
           function(n) data_stiefel(n, seed = seed), stiefel(50, 5), oracle_stiefel(stiefel(50, 5), 2), c(50, 5), NA),
  mean_row("mean_bures", "mean Bures-Wasserstein SPD(11), n = 1,000", "spd_bures", 1000, 50, 1000, spd_data(11),
           spd(11, "bures"), o$spd_bures, 11, 3),
  mean_row("mean_hyperbolic", "mean hyperbolic d = 5, n = 1,000", "ball", 1000, 100, 1000,
           function(n) data_ball(n, seed), hyperbolic(5, "ball"), o$ball, 5, 3),
  list(id = "pairs_spd11", label = "pairs SPD(11), n = 1,000", work = "pairs_spd_affine", n = 1000, quick_n = 25,
       small_n = 20, cost = list(kind = "pairs_spd", size = 11, arrays = 0, times = 499.5), target = 10, type = "pairs", data = function(n) list(x = spd_data(11)(n)),
       run = function(d) as.vector(mf_dist_matrix(spd(11), d$x)))
)
for (work in c("log", "exp", "dist", "transport")) {
  rows <- c(rows, list(batch_row(work, "spd", sprintf("1e5 SPD(11), own base: %s", work), spd(11), spd_data(11), 11)))
}
for (work in c("log", "exp", "dist", "transport")) {
  rows <- c(rows, list(batch_row(work, "sphere", sprintf("1e5 sphere, 3 coordinates: %s", work), sphere(2),
                                 function(n) data_sphere(n, 2, 0.7, seed), 3)))
}
# An answer is the fitted line where x is 0 and 1. Peers descend in steps until these are short: what counts is 1e-5.
regression_row <- function(kind, label, n, M, data) {
  list(id = sprintf("regression_%s_%d", kind, n), label = sprintf("geodesic regression, %s, n = %s", label, format(n, big.mark = ",")),
       work = paste0("regression_", kind), n = n, quick_n = n, small_n = n, target = 3, type = "regression", kind = kind,
       wanted = 1e-5, counted = 1e-5, data = data,
       run = function(d, tol = 1e-10) {
         line <- predict(geodesic_regression(y ~ x, M, list(x = d$x, y = d$y), tol = tol), data.frame(x = 0:1))
         if (is.complex(line)) c(rbind(Re(line), Im(line))) else c(t(line))
       })
}
for (n in c(20, 1000)) {
  rows <- c(rows, list(regression_row("sphere", "sphere", n, sphere(2), function(n) data_regression_sphere(n, seed))))
}
rows <- c(rows, list(regression_row("kendall", "Kendall k = 8", 144, kendall(8), function(n) data_regression_kendall(n, 8, seed))))
if (length(only) > 0) rows <- Filter(function(row) row$id %in% only, rows)

# ---- errors ----------------------------------------------------------------------------------------------------------

# What every answer of a row is held against, and how
judge_of <- function(row, d) {
  if (row$type == "mean") {
    start <- frechet_mean(d$x, row$M, tol = 1e-13)$mean
    best <- polish(row$oracle, d$x, start)
    return(list(
      gradient = best$gradient,
      judge = function(a) {
        c(error = row$oracle$error(a, best$point), gradient = row$oracle$norm(a, row$oracle$log(a, d$x)))
      }
    ))
  }
  if (row$type == "pairs") {
    n <- dim(d$x)[3]
    i <- rep(round(seq(1, n, length.out = min(n, 25))), each = 12)
    j <- 1 + (i - 1 + round(seq(1, n - 1, length.out = 12))) %% n
    truth <- vapply(seq_along(i), function(t) batch_oracle$spd$dist(d$x[, , i[t]], d$x[, , j[t]]), 0)
    at <- function(i, j) n * (pmin(i, j) - 1) - pmin(i, j) * (pmin(i, j) - 1) / 2 + abs(i - j)
    return(list(gradient = NA, judge = function(a) c(error = max(abs(a[at(i, j)] - truth) / truth), gradient = NA)))
  }
  if (row$type == "batch") {
    spherical <- row$kind == "sphere"
    one <- function(x, i) if (spherical) x[i, ] else x[, , i]
    f <- batch_oracle[[row$kind]][[row$map]]
    truth <- lapply(d$check, function(i) {
      switch(row$map, log = , dist = f(one(d$p, i), one(d$q, i)), exp = f(one(d$p, i), one(d$v, i)),
             transport = f(one(d$p, i), one(d$q, i), one(d$v, i)))
    })
    return(list(gradient = NA, judge = function(a) {
      value <- if (is.list(a)) a$value else lapply(d$check, function(i) if (row$map == "dist") a[i] else one(a, i))
      c(error = max(mapply(relative_frobenius, value, truth)), gradient = NA)
    }))
  }
  oracle <- regression_oracle(row$kind, d)
  best <- oracle$polish(row$run(d, tol = 1e-13))
  list(gradient = best$gradient, judge = function(a) {
    c(error = oracle$error(a, best$point), gradient = oracle$gradient(a))
  })
}

# ---- timing ----------------------------------------------------------------------------------------------------------

inner_for <- function(entry) {
  inner <- 1
  repeat {
    t <- entry$time(inner)
    if (t >= least_batch / 2) break
    inner <- if (t < least_batch / 50) inner * 20 else ceiling(inner * least_batch / t)
  }
  list(inner = max(1, ceiling(inner * least_batch / t)), each = t / inner)
}

# The cheapest setting within the wanted error of the oracle, on a small draw; of each ladder no rung above the first
# such
choose_setting <- function(adapter, row) {
  if (is.null(adapter$settings)) return(list(label = ""))
  d <- row$data(row$small_n)
  judge <- judge_of(row, d)$judge
  wanted <- if (is.null(row$wanted)) wanted_error else row$wanted
  tried <- list()
  done <- character()
  for (setting in adapter$settings) {
    if (setting$kind %in% done) next
    result <- tryCatch({
      entry <- adapter$make(d, setting)
      each <- entry$time(1)
      repeats <- max(1, min(20, round(0.05 / max(each, 1e-4))))
      if (repeats > 1) each <- entry$time(repeats) / repeats
      list(setting = setting, each = each, error = judge(entry$answer())[["error"]])
    }, error = function(e) NULL)
    if (is.null(result) || is.na(result$error)) next
    tried <- c(tried, list(result))
    if (result$error <= wanted || result$each > 10) done <- c(done, setting$kind)
  }
  if (length(tried) == 0) stop("no setting of it runs")
  each <- vapply(tried, `[[`, 0, "each")
  error <- vapply(tried, `[[`, 0, "error")
  good <- which(error <= wanted)
  tried[[if (length(good) > 0) good[which.min(each[good])] else which.min(error)]]$setting
}

quick_setting <- function(adapter) {
  settings <- c(adapter$settings, list(list(label = "")))
  Filter(function(s) is.null(adapter$quick) || s$label == adapter$quick, settings)[[1]]
}

say <- function(...) message(sprintf(...))

timings <- list()

# A peer's fastest setting that is as near as wanted, by turns with ours, and the peer as it comes
time_peer <- function(name, adapter, row, d, ours, rate, judge) {
  setting <- if (quick) quick_setting(adapter) else choose_setting(adapter, row)
  theirs <- adapter$make(d, setting)
  first <- theirs$time(1)
  inner <- if (first >= least_batch / 2) 1 else inner_for(theirs)$inner
  each <- if (inner == 1) first else least_batch
  pairs <- max(2, min(pairs_most, floor(budget / (each + rate$inner * rate$each))))
  if (each > 20 || (quick && each > 0.1)) pairs <- 1
  a <- b <- numeric(pairs)
  for (i in seq_len(pairs)) {
    a[i] <- ours$time(rate$inner) / rate$inner
    # a slow peer's first call is one of its timings, not a rehearsal
    b[i] <- if (i == 1 && each > 1) first else theirs$time(inner) / inner
  }
  error <- judge(theirs$answer())
  timings[[length(timings) + 1]] <<- data.frame(work = row$id, n = row$n, peer = name, setting = setting$label, pair = seq_len(pairs), riemdp = a,
                                                peer_seconds = b, ratio = b / a)
  plain <- if (!is.null(adapter$settings) && !quick && is.null(work_alone)) as_it_comes(adapter, d, judge)
  list(name = name, setting = setting$label, cpu = median(b), ratio = median(b / a), low = min(b / a), high = max(b / a), error = error[["error"]],
       gradient = error[["gradient"]], other = isTRUE(adapter$other), pairs = pairs, ours = a, plain = plain)
}

as_it_comes <- function(adapter, d, judge) {
  entry <- adapter$make(d, list(label = "", arguments = as.list(adapter$defaults)))
  cpu <- entry$time(1)
  if (cpu < least_batch / 2) {
    inner <- inner_for(entry)$inner
    cpu <- median(replicate(3, entry$time(inner) / inner))
  }
  list(cpu = cpu, error = judge(entry$answer())[["error"]])
}

time_row <- function(row) {
  row$n <- if (quick) row$quick_n else row$n
  d <- row$data(row$n)
  judged <- judge_of(row, d)
  ours <- local_entry(function() row$run(d))
  rate <- inner_for(ours)
  mine <- judged$judge(ours$answer())
  found <- list()
  for (name in names(peers)) {
    adapter <- peers[[name]][[row$work]]
    if (is.null(adapter)) next
    if (!is.null(adapter$most_coordinates) && length(d$x) / row$n > adapter$most_coordinates) next
    result <- tryCatch(time_peer(name, adapter, row, d, ours, rate, judged$judge), error = function(e) {
      say("  %s, %s: %s", row$id, name, conditionMessage(e))
      NULL
    })
    if (!is.null(result)) found[[length(found) + 1]] <- result
    if (name == "geomstats") ask_geomstats(work = "forget")
  }
  our_times <- unlist(lapply(found, `[[`, "ours"))
  if (length(our_times) == 0) {
    our_times <- replicate(if (quick) 3 else 5, ours$time(rate$inner) / rate$inner)
    timings[[length(timings) + 1]] <<- data.frame(work = row$id, n = row$n, peer = "", setting = "", pair = seq_along(our_times), riemdp = our_times,
                                                  peer_seconds = NA, ratio = NA)
  }
  out <- list(row = row, n = row$n, cpu = median(our_times), error = mine[["error"]], gradient = mine[["gradient"]], certificate = judged$gradient,
              peers = found, floor = floor_of(row$cost, row$n, d, rates))
  best <- fastest(out)
  say("%-26s riemdp %9.3g s (%.0e)   %s", row$id, out$cpu, mine[["error"]],
      if (is.null(best)) "no peer" else
        sprintf("%s %.3g s (%.0e)  ratio %.2f (%.2f-%.2f)", best$name, best$cpu, best$error, best$ratio, best$low, best$high))
  out
}

# of the peers that are near enough the fastest, or NULL
fastest <- function(s) {
  counts <- if (is.null(s$row$counted)) counted_error else s$row$counted
  good <- Filter(function(p) !p$other && p$error <= counts, s$peers)
  if (length(good) > 0) good[[which.min(vapply(good, `[[`, 0, "cpu"))]]
}

blas <- if (!quick) other_blas()
rates <- if (is.null(work_alone)) machine_rates(blas) else c(flops = NA, bytes = NA)
summaries <- lapply(rows, time_row)
if (!is.null(python)) ask_geomstats(work = "quit")
if (!is.null(work_alone)) {
  saveRDS(lapply(summaries, function(s) c(s[c("cpu", "n")], label = s$row$label, best = list(fastest(s)))), work_alone)
  quit(status = 0)
}

# the same rows with the other BLAS, in a process of its own
other <- NULL
if (!is.null(blas) && save_results) {
  say("work with %s", blas)
  own <- file.path(scratch, "blas")
  dir.create(own)
  path <- file.path(own, "summaries.rds")
  run_with_blas(blas, file.path(bench, "bench.R"), "blas", shQuote(bench), shQuote(own), shQuote(path))
  other <- if (file.exists(path)) readRDS(path)
}

# ---- one point -------------------------------------------------------------------------------------------------------

one_point <- function() {
  p <- c(1, 0, 0)
  q <- c(0, 0.6, 0.8)
  v <- c(0, 0.3, 0.2)
  S <- sphere(2)
  M <- spd(2)
  id <- diag(2)
  m <- matrix(c(2, 0.5, 0.5, 1), 2)
  calls <- list(
    "mf_dist, sphere(2)" = function(k) for (i in seq_len(k)) mf_dist(S, p, q),
    "mf_exp, sphere(2)" = function(k) for (i in seq_len(k)) mf_exp(S, p, v),
    "mf_dist, spd(2)" = function(k) for (i in seq_len(k)) mf_dist(M, id, m),
    "mf_exp, spd(2)" = function(k) for (i in seq_len(k)) mf_exp(M, id, m)
  )
  k <- if (quick) 5000 else 50000
  vapply(calls, function(f) {
    f(1000)
    median(replicate(if (quick) 3 else 9, {
      start <- proc.time()
      f(k)
      sum((proc.time() - start)[1:2])
    })) / k * 1e6
  }, 0)
}
overhead <- one_point()

# ---- private releases, accounting ------------------------------------------------------------------------------------

private <- if (wanted("private")) private_rows()
chains <- if (wanted("private")) chain_rows()
accounting <- if (wanted("accounting")) time_accounting(bench, scratch, quick)

# ---- memory ----------------------------------------------------------------------------------------------------------

memory_cases <- list(
  c("mean SPD(11), n = 10,000", "x <- data_spd(10000, 11, .4, 1); M <- spd(11)", "frechet_mean(x, M)$mean"),
  c("mean sphere, 784 coordinates, n = 7,000", "x <- data_sphere(7000, 783, .8, 1); M <- sphere(783)",
    "frechet_mean(x, M)$mean"),
  c("mean sphere, 3 coordinates, n = 1e6", "x <- data_sphere(1e6, 2, .7, 1); M <- sphere(2)",
    "frechet_mean(x, M)$mean"),
  c("mean Grassmann(50, 5), n = 2,000", "x <- data_grassmann(2000, seed = 1); M <- grassmann(50, 5)",
    "frechet_mean(x, M)$mean"),
  c("mean Kendall k = 50, n = 20,000", "x <- data_kendall(20000, 50, 1); M <- kendall(50)", "frechet_mean(x, M)$mean"),
  c("log SPD(11), n = 20,000", "x <- data_spd(20000, 11, .4, 1); M <- spd(11); p <- x[, , 1]", "mf_log(M, p, x)"),
  c("distance SPD(11), n = 20,000", "x <- data_spd(20000, 11, .4, 1); M <- spd(11); p <- x[, , 1]", "mf_dist(M, p, x)"),
  c("log sphere, 3 coordinates, n = 1e6", "x <- data_sphere(1e6, 2, .7, 1); M <- sphere(2); p <- x[1, ]",
    "mf_log(M, p, x)"),
  c("distance sphere, 3 coordinates, n = 1e6", "x <- data_sphere(1e6, 2, .7, 1); M <- sphere(2); p <- x[1, ]",
    "mf_dist(M, p, x)")
)

# In a process of its own: the input comes from a file, the high-water mark is set back, then the call; megabytes
memory_case <- function(case) {
  file <- tempfile(tmpdir = scratch, fileext = ".rds")
  input <- new.env()
  sys.source(file.path(bench, "workloads.R"), input)
  eval(parse(text = case[2]), input)
  saveRDS(as.list(input)[intersect(c("x", "M", "p"), ls(input))], file, compress = FALSE)
  script <- c(
    "library(riemdp)",
    sprintf("d <- readRDS(%s); x <- d$x; M <- d$M; p <- d$p; rm(d)", deparse(file)),
    "lines <- function(key) grep(key, readLines('/proc/self/status'), value = TRUE)",
    "status <- function(key) as.double(gsub('[^0-9]', '', lines(key))) / 1024",
    "few <- function(x) if (length(dim(x)) == 3) x[, , 1:30] else if (is.complex(x)) x[, 1:30] else x[1:30, ]",
    sprintf("local({ x <- few(x); %s })", case[3]),
    "invisible(gc()); invisible(gc(reset = TRUE))",
    "linux <- file.exists('/proc/self/clear_refs')",
    "if (linux) { cat('5', file = '/proc/self/clear_refs'); before <- status('^VmRSS') } else before <- sum(gc()[, 2])",
    sprintf("out <- %s", case[3]),
    "after <- if (linux) status('^VmHWM') else sum(gc()[, 6])",
    "cat(unclass(object.size(x)) / 2^20, unclass(object.size(out)) / 2^20, after - before)"
  )
  path <- tempfile(tmpdir = scratch, fileext = ".R")
  writeLines(script, path)
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(path)), stdout = TRUE)
  unlink(c(file, path))
  setNames(as.double(strsplit(out[length(out)], " ")[[1]]), c("input", "output", "peak"))
}
memory <- if (save_results) t(vapply(memory_cases, memory_case, numeric(3)))

# ---- report ----------------------------------------------------------------------------------------------------------

seconds <- function(x) {
  if (is.na(x)) return("")
  unit <- if (x >= 0.9995) 1 else if (x >= 0.9995e-3) 2 else 3
  paste(format(signif(x * c(1, 1e3, 1e6)[unit], 3), scientific = FALSE), c("s", "ms", "µs")[unit])
}
small <- function(x) {
  if (is.na(x)) return("")
  if (x == 0) "0" else if (x < 1e-15) "< 1e-15" else sub("e-0", "e-", sprintf("%.0e", x))
}

label_at <- function(label, n) sub("n = [0-9,]+", paste("n =", format(n, big.mark = ",")), sub("1e5", format(n), label))

met <- function(ok) ifelse(is.na(ok), "", ifelse(ok, "met", "**not met**"))

table_lines <- function() {
  lines <- c(
    paste("| work | riemdp | error, gradient | fastest peer | its CPU (error) | ratio (range; pairs) | other peers",
          "| floor | ours / floor | target | |"),
    "|---|---|---|---|---|---|---|---|---|---|---|"
  )
  for (s in summaries) {
    row <- s$row
    best <- fastest(s)
    others <- Filter(function(p) is.null(best) || p$name != best$name, s$peers)
    other_text <- paste(vapply(others, function(p) {
      sprintf("%s %s (%s)", p$name, seconds(p$cpu), if (p$other) "another mean" else small(p$error))
    }, ""), collapse = ", ")
    lines <- c(lines, paste0("| ", paste(c(
      if (quick) label_at(row$label, s$n) else row$label,
      seconds(s$cpu),
      if (is.na(s$gradient)) small(s$error) else paste0(small(s$error), ", ", small(s$gradient)),
      if (is.null(best)) "none" else paste0(best$name, if (nzchar(best$setting)) paste0(", ", best$setting)),
      if (is.null(best)) "" else sprintf("%s (%s)", seconds(best$cpu), small(best$error)),
      if (is.null(best)) "" else sprintf("%.1f (%.1f to %.1f; %d)", best$ratio, best$low, best$high, best$pairs),
      other_text, seconds(s$floor), if (is.na(s$floor)) "" else sprintf("%.2g", s$cpu / s$floor),
      if (is.na(row$target)) "" else sprintf("%g×", row$target),
      if (is.na(row$target) || is.null(best)) "" else met(best$ratio >= row$target)
    ), collapse = " | "), " |"))
  }
  lines
}

# peers whose accuracy can be set, as they come
plain_lines <- function() {
  lines <- c("| work | riemdp (error) | peers as they come: CPU (error), times ours |", "|---|---|---|")
  for (s in summaries) {
    plain <- Filter(function(p) !is.null(p$plain), s$peers)
    if (!length(plain)) next
    told <- vapply(plain, function(p) sprintf("%s %s (%s), %.2g×", p$name, seconds(p$plain$cpu), small(p$plain$error), p$plain$cpu / s$cpu), "")
    lines <- c(lines, sprintf("| %s | %s (%s) | %s |", s$row$label, seconds(s$cpu), small(s$error), paste(told, collapse = "; ")))
  }
  lines
}

blas_lines <- function() {
  if (is.null(other)) return("No other BLAS was found.")
  lines <- c("| work | riemdp | fastest peer | its CPU | ratio (range; pairs) | target | |", "|---|---|---|---|---|---|---|")
  for (i in seq_along(other)) {
    o <- other[[i]]
    best <- o$best
    target <- summaries[[i]]$row$target
    lines <- c(lines, sprintf("| %s | %s | %s | %s | %s | %s | %s |", o$label, seconds(o$cpu), if (is.null(best)) "none" else best$name,
                              if (is.null(best)) "" else seconds(best$cpu),
                              if (is.null(best)) "" else sprintf("%.1f (%.1f to %.1f; %d)", best$ratio, best$low, best$high, best$pairs),
                              if (is.na(target)) "" else sprintf("%g×", target), if (is.na(target) || is.null(best)) "" else met(best$ratio >= target)))
  }
  lines
}

one_point_lines <- c("| call | µs | target | |", "|---|---|---|---|", sprintf("| %s | %.1f | 8 | %s |", names(overhead), overhead, met(overhead <= 8)))

noise_lines <- if (wanted("noise")) noise_bench()

version_of <- function(p) paste(p, as.character(utils::packageVersion(p)))

memory_lines <- function() {
  beyond <- memory[, "peak"] - memory[, "output"]
  allowed <- 0.1 * memory[, "input"] + 4
  c("| call | input MB | result MB | peak beyond both, MB | allowed | |", "|---|---|---|---|---|---|",
    sprintf("| %s | %.1f | %.1f | %.1f | %.1f | %s |", vapply(memory_cases, `[`, "", 1), memory[, "input"], memory[, "output"], beyond, allowed,
            met(beyond <= allowed)))
}

head_lines <- function() {
  named <- vapply(Filter(have, c("manifold", "RiemBase", "GeodRegr", "shapes")), version_of, "")
  c(sprintf("Written by `bench/run` of revision %s, which refuses a tree with changes; `bench/run check` says whether it was edited since, and how much",
            Sys.getenv("RIEMDP_BENCH_REVISION")),
    "of the package is newer. What the columns mean is in [README.md](README.md).", "",
    sprintf("%s, %s; %s%s. %s, BLAS `%s`, %d cores, one thread. Products of large matrices: %.3g billion additions and multiplications a second%s; memory: %.2g GB a second.",
            version_of("riemdp"), R.version.string, paste(named, collapse = ", "),
            if (is.null(python)) "; geomstats not run here" else paste0(", geomstats ", geomstats$version),
            R.version$platform, basename(extSoftVersion()[["BLAS"]]), parallel::detectCores(), rates[["flops"]] / 1e9,
            if (is.null(blas)) "" else " (OpenBLAS)", rates[["bytes"]] / 1e9))
}

write_results <- function() {
  say("cost against n and k")
  costs <- cost()
  write.csv(costs, file.path(bench, "cost.csv"), row.names = FALSE)
  draw_cost(costs, file.path(bench, "cost.png"))
  certificate <- vapply(summaries, `[[`, 0, "certificate")
  writeLines(c(
    "# Results", "", head_lines(), "",
    "## Work", "", table_lines(), "",
    sprintf("The oracles' own gradient norms, in plain R: %s at most.", small(max(certificate, na.rm = TRUE))), "",
    "## Peers as they come", "", plain_lines(), "",
    "## Work with OpenBLAS", "", blas_lines(), "",
    "## One point", "", one_point_lines, "",
    "## Private means", "", private_lines(private), "",
    "The K-norm gradient mechanism, drawn exactly, beside the papers' Markov chains run in C to the burn-in that each paper prints.", "",
    chain_lines(chains), "",
    "## Tangent noise", "",
    "N(0, .01) at one base point, from the secure stream; seconds a draw. The papers' own figures are drawn by `inst/reproduce/paper-002-noise.R`.", "",
    noise_lines, "",
    "## Accounting", "", accounting_lines(accounting), "",
    "## Memory", "", memory_lines(), "",
    "## Cost against n and k", "", "Fitted exponents; the curves:", "", "![cost](cost.png)", "", slope_lines(costs), "",
    cliff_lines(cliffs())
  ), file.path(bench, "results.md"))
  write.csv(do.call(rbind, c(timings, list(accounting$timings))), file.path(bench, "results.csv"), row.names = FALSE)
}

if (save_results) {
  write_results()
} else {
  writeLines(c("", table_lines(), "", one_point_lines, "", if (!is.null(private)) c(private_lines(private), "", chain_lines(chains)), "", noise_lines, "",
               accounting_lines(accounting)))
}
