# The bench: see README.md. Called by run with the mode, this folder and a folder for scratch files.

arguments <- commandArgs(TRUE)
quick <- arguments[1] == "quick"
bench <- arguments[2]
scratch <- arguments[3]
only <- strsplit(Sys.getenv("RIEMDP_BENCH_ONLY"), ",")[[1]] # ids of rows, for work on the bench itself
save_results <- !quick && length(only) == 0

library(riemdp)
source(file.path(bench, "workloads.R"))
source(file.path(bench, "oracle.R"))
source(file.path(bench, "peers.R"))
source(file.path(bench, "noise.R"))
source(file.path(bench, "accounting.R"))

python <- if (quick) NULL else find_python("geomstats")
if (!is.null(python) && start_geomstats(python, bench, scratch)) {
  peers <- add_geomstats(peers)
} else {
  python <- NULL
}

seed <- 20240607
least_batch <- if (quick) 0.02 else 0.15   # CPU seconds of one timing: short calls are repeated until they fill it
budget <- if (quick) 0.3 else 8            # CPU seconds a row and peer, all pairs together
pairs_most <- if (quick) 3 else 9
wanted_error <- 1.5e-9                     # the error that a peer's settings are chosen for
counted_error <- 1e-6                      # a peer that is wronger than this is printed, not compared with

# ---- rows ------------------------------------------------------------------------------------------------------------
# floor: issue's estimate in CPU seconds; target: least ratio to the fastest peer

mean_row <- function(id, label, kind, n, quick_n, small_n, data, M, oracle, floor, target) {
  list(id = id, label = label, work = paste0("mean_", kind), n = n, quick_n = quick_n, small_n = small_n,
       data = function(n) list(x = data(n)), floor = floor, target = target, type = "mean", M = M, oracle = oracle,
       run = function(d) frechet_mean(d$x, M)$mean)
}

next_record <- function(n) c(seq_len(n)[-1], 1L)

batch_row <- function(work, kind, label, M, data, floor) {
  list(id = paste0(work, "_", kind), label = label, work = paste0(work, "_", kind), n = 1e5, quick_n = 500,
       small_n = 500, floor = floor, target = 3, type = "batch", kind = kind, map = work,
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
           NA, 3),
  mean_row("mean_spd11_1000", "mean SPD(11), n = 1,000", "spd_affine", 1000, 60, 1000, spd_data(11), spd(11),
           o$spd_affine, 0.016, 3),
  mean_row("mean_spd11", "mean SPD(11), n = 10,000", "spd_affine", 10000, 120, 1000, spd_data(11), spd(11), o$spd_affine,
           0.16, 3),
  mean_row("mean_spd50", "mean SPD(50), n = 200", "spd_affine", 200, 6, 30, spd_data(50), spd(50), o$spd_affine,
           0.3, 1.5),
  mean_row("mean_sphere784", "mean sphere, 784 coordinates, n = 7,000", "sphere", 7000, 200, 1500,
           function(n) data_sphere(n, 783, 0.8, seed), sphere(783), o$sphere, 0.035, 3),
  mean_row("mean_sphere3", "mean sphere, 3 coordinates, n = 10,000", "sphere", 10000, 2000, 2000,
           function(n) data_sphere(n, 2, 0.7, seed), sphere(2), o$sphere, 0.0005, 3),
  mean_row("mean_kendall", "mean Kendall k = 50, n = 409", "kendall", 409, 30, 409,
           function(n) data_kendall(n, 50, seed), kendall(50), o$kendall, 0.0002, 10),
  mean_row("mean_grassmann", "mean Grassmann(50, 5), n = 200", "grassmann", 200, 20, 60,
           function(n) data_grassmann(n, seed = seed), grassmann(50, 5), o$grassmann, 0.003, 10),
  mean_row("mean_stiefel", "mean Stiefel(50, 5) canonical, n = 200", "stiefel_canonical", 200, 5, 20,
           function(n) data_stiefel(n, seed = seed), stiefel(50, 5, "canonical"),
           oracle_stiefel(stiefel(50, 5, "canonical"), 1), 0.04, 3),
  mean_row("mean_stiefel_euclidean", "mean Stiefel(50, 5) Euclidean, n = 200", "stiefel_euclidean", 200, 5, 20,
           function(n) data_stiefel(n, seed = seed), stiefel(50, 5), oracle_stiefel(stiefel(50, 5), 2), 0.04, NA),
  mean_row("mean_bures", "mean Bures-Wasserstein SPD(11), n = 1,000", "spd_bures", 1000, 50, 1000, spd_data(11),
           spd(11, "bures"), o$spd_bures, 0.015, 3),
  mean_row("mean_hyperbolic", "mean hyperbolic d = 5, n = 1,000", "ball", 1000, 100, 1000,
           function(n) data_ball(n, seed), hyperbolic(5, "ball"), o$ball, 0.0005, 3),
  list(id = "pairs_spd11", label = "pairs SPD(11), n = 1,000", work = "pairs_spd_affine", n = 1000, quick_n = 25,
       small_n = 20, floor = 0.3, target = 10, type = "pairs", data = function(n) list(x = spd_data(11)(n)),
       run = function(d) as.vector(mf_dist_matrix(spd(11), d$x)))
)
for (work in c("log", "exp", "dist", "transport")) {
  rows <- c(rows, list(batch_row(work, "spd", sprintf("1e5 SPD(11), own base: %s", work), spd(11), spd_data(11), 0.17)))
}
for (work in c("log", "exp", "dist", "transport")) {
  rows <- c(rows, list(batch_row(work, "sphere", sprintf("1e5 sphere, 3 coordinates: %s", work), sphere(2),
                                 function(n) data_sphere(n, 2, 0.7, seed), 0.001)))
}
# An answer is the fitted line where x is 0 and 1. Peers descend in steps until these are short: what counts is 1e-5.
regression_row <- function(kind, label, n, M, data) {
  list(id = sprintf("regression_%s_%d", kind, n), label = sprintf("geodesic regression, %s, n = %s", label, format(n, big.mark = ",")),
       work = paste0("regression_", kind), n = n, quick_n = n, small_n = n, floor = NA, target = 3, type = "regression", kind = kind,
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
summaries <- list()

for (row in rows) {
  n <- if (quick) row$quick_n else row$n
  d <- row$data(n)
  judged <- judge_of(row, d)
  ours <- local_entry(function() row$run(d))
  rate <- inner_for(ours)
  mine <- judged$judge(ours$answer())
  found <- list()
  our_times <- numeric()
  for (name in names(peers)) {
    adapter <- peers[[name]][[row$work]]
    if (is.null(adapter)) next
    if (!is.null(adapter$most_coordinates) && length(d$x) / n > adapter$most_coordinates) next
    result <- tryCatch({
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
      error <- judged$judge(theirs$answer())
      our_times <- c(our_times, a)
      timings[[length(timings) + 1]] <- data.frame(
        work = row$id, n = n, peer = name, setting = setting$label, pair = seq_len(pairs), riemdp = a, peer_seconds = b,
        ratio = b / a
      )
      list(name = name, setting = setting$label, cpu = median(b), ratio = median(b / a), low = min(b / a),
           high = max(b / a), error = error[["error"]], gradient = error[["gradient"]],
           other = isTRUE(adapter$other), pairs = pairs)
    }, error = function(e) {
      say("  %s, %s: %s", row$id, name, conditionMessage(e))
      NULL
    })
    if (!is.null(result)) found[[length(found) + 1]] <- result
    if (name == "geomstats") ask_geomstats(work = "forget")
  }
  if (length(our_times) == 0) {
    our_times <- replicate(if (quick) 3 else 5, ours$time(rate$inner) / rate$inner)
    timings[[length(timings) + 1]] <- data.frame(
      work = row$id, n = n, peer = "", setting = "", pair = seq_along(our_times), riemdp = our_times, peer_seconds = NA,
      ratio = NA
    )
  }
  summaries[[length(summaries) + 1]] <- list(row = row, n = n, cpu = median(our_times), error = mine[["error"]],
                                             gradient = mine[["gradient"]], certificate = judged$gradient,
                                             peers = found)
  counts <- if (is.null(row$counted)) counted_error else row$counted
  best <- Filter(function(p) !p$other && p$error <= counts, found)
  best <- if (length(best) > 0) best[[which.min(vapply(best, `[[`, 0, "cpu"))]]
  say("%-26s riemdp %9.3g s (%.0e)   %s", row$id, median(our_times), mine[["error"]],
      if (is.null(best)) "no peer" else {
        sprintf("%s %.3g s (%.0e)  ratio %.2f (%.2f-%.2f)", best$name, best$cpu, best$error, best$ratio, best$low,
                best$high)
      })
}
if (!is.null(python)) ask_geomstats(work = "quit")

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

# ---- private releases --------------------------------------------------------------------------------------------------

# One exact draw of the K-norm gradient mechanism beside the papers' chains, run in C to the burn-in that each paper prints, both
# after the mean is known: from either call the time of a release that needs nothing but the mean (wrapped noise) is taken off.
private_releases <- function() {
  internal <- asNamespace("riemdp")
  shapes <- data_kendall(if (quick) 60 else 409, 50, seed)
  t <- 2 * pi * (0:49) / 50
  outline <- (1 + 0.3 * cos(3 * t)) * complex(real = 1.5 * cos(t), imaginary = sin(t)) # the workload's own, without its noise
  north <- c(0, 0, 1)
  cases <- list(
    list(label = "sphere, 3 coordinates, n = 1,000, r = .4", M = sphere(2), center = north, radius = 0.4, limit = 1e-3,
         x = mf_to_ball(sphere(2), data_sphere(1000, 2, 0.2, seed), north, 0.4)),
    list(label = "SPD(2), n = 1,000, r = 1.5", M = spd(2), center = diag(2), radius = 1.5, limit = 5e-3, x = wishart_spd[, , 1:1000]),
    list(label = "Kendall k = 50, n = 409, r = .35", M = kendall(50), center = outline, radius = 0.35, limit = 1, x = shapes)
  )
  lapply(cases, function(case) {
    n <- internal$record_count(case$M, case$x)
    timed <- function(mechanism, options = list(), times) {
      ask <- internal$mean_ask(case$M, n, 1, case$center, case$radius, 0, mechanism, NULL, "proven", "ordinary", "real", 1e6, options)
      plan <- internal$plan_one(case$M, ask, mechanism, error = FALSE)
      draw <- internal$mean_mechanisms()[[mechanism]]$release
      draw(case$M, case$x, plan, ask)
      replicate(times, {
        start <- proc.time()
        k <- 0
        while (k == 0 || sum((proc.time() - start)[1:2]) < least_batch) {
          draw(case$M, case$x, plan, ask)
          k <- k + 1
        }
        sum((proc.time() - start)[1:2]) / k
      })
    }
    pairs <- if (quick) 1 else 5
    base <- median(timed("wrapped", times = pairs))
    ours <- timed("kng", times = pairs)
    theirs <- timed("chain", list(proposal = "published"), times = if (quick) 1 else 3)
    ratios <- sort(outer(theirs - base, pmax(ours - base, 1e-7), "/"))
    list(label = case$label, limit = case$limit, whole = median(ours), ours = median(ours) - base, theirs = median(theirs) - base,
         ratio = median(ratios), low = ratios[1], high = ratios[length(ratios)])
  })
}
private <- if (length(only) == 0 || "private" %in% only) private_releases()

accounting <- if (length(only) == 0 || "accounting" %in% only) time_accounting(bench, scratch, quick)

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
memory <- if (!quick && length(only) == 0) t(vapply(memory_cases, memory_case, numeric(3)))

# ---- cost against n and k --------------------------------------------------------------------------------------------

cost <- function() {
  out <- list()
  add <- function(manifold, work, n, k, f) {
    seconds <- median(replicate(3, {
      entry <- local_entry(f)
      inner <- 1
      t <- entry$time(1)
      if (t < 0.05) {
        inner <- if (t < 0.002) 50 else ceiling(0.05 / t)
        t <- entry$time(inner)
        if (t < 0.02) {
          inner <- ceiling(inner * 0.05 / max(t, 0.001))
          t <- entry$time(inner)
        }
      }
      t / inner
    }))
    out[[length(out) + 1]] <<- data.frame(manifold = manifold, work = work, n = n, k = k, seconds = seconds)
  }
  all_four <- function(manifold, M, x, n, k) {
    p <- if (is.matrix(x)) x[1, ] else x[, , 1]
    v <- mf_log(M, p, x)
    add(manifold, "mean", n, k, function() frechet_mean(x, M)$mean)
    add(manifold, "dist", n, k, function() mf_dist(M, p, x))
    add(manifold, "log", n, k, function() mf_log(M, p, x))
    add(manifold, "exp", n, k, function() mf_exp(M, p, v))
  }
  # many records: a thousand draws, repeated with factors that change the numbers
  many_spd <- function(n, k) {
    x <- data_spd(min(n, 1000), k, spd_spread(k), seed)
    if (n > 1000) {
      scale <- rep(exp(seq(-0.3, 0.3, length.out = n / 1000)), each = 1000)
      x <- array(x, c(k, k, n)) * rep(scale, each = k * k)
    }
    x
  }
  for (n in 10^(2:6)) all_four("spd", spd(4), many_spd(n, 4), n, 4)
  for (n in 10^(2:6)) all_four("sphere", sphere(2), data_sphere(n, 2, 0.7, seed), n, 3)
  for (k in c(2, 3, 4, 5, 6, 8, 11, 14, 17, 20, 23, 28, 35, 50, 70, 100)) {
    all_four("spd", spd(k), data_spd(200, k, spd_spread(k), seed), 200, k)
  }
  for (k in c(2, 3, 5, 8, 12, 20, 35, 60, 100)) {
    all_four("sphere", sphere(k - 1), data_sphere(2000, k - 1, 0.7, seed), 2000, k)
  }
  do.call(rbind, out)
}

slope <- function(x, y) coef(lm(log(y) ~ log(x)))[[2]]

draw_cost <- function(costs, path) {
  png(path, width = 1100, height = 900, res = 110)
  on.exit(dev.off())
  par(mfrow = c(2, 2), mar = c(4, 4.2, 2.5, 1), mgp = c(2.6, 0.7, 0), las = 1, cex.main = 1)
  colours <- c(mean = "#1b6ca8", dist = "#c8553d", log = "#588157", exp = "#8a5a9e")
  panel <- function(part, by, title, fit_from) {
    plot(range(part[[by]]), range(part$seconds), log = "xy", type = "n", xlab = by, ylab = "CPU seconds",
         main = title, axes = FALSE)
    powers <- -7:3
    marks <- if (by == "n") 10^(2:6) else c(2, 5, 10, 20, 50, 100)
    axis(1, marks, if (by == "n") parse(text = paste0("10^", 2:6)) else TRUE)
    axis(2, 10^powers, parse(text = paste0("10^", powers)))
    box()
    abline(h = 10^powers, v = marks, col = "grey85", lty = 3)
    keys <- character()
    for (work in names(colours)) {
      w <- part[part$work == work, ]
      lines(w[[by]], w$seconds, type = "b", pch = 19, cex = 0.7, col = colours[work])
      tail <- w[w[[by]] >= fit_from, ]
      keys <- c(keys, sprintf("%s, slope %.2f", work, slope(tail[[by]], tail$seconds)))
    }
    legend("topleft", keys, col = colours, lty = 1, pch = 19, pt.cex = 0.7, bty = "n", cex = 0.85)
  }
  by_n <- function(m, k) costs[costs$manifold == m & costs$k == k & costs$n %in% 10^(2:6), ]
  panel(by_n("spd", 4), "n", "SPD(4), affine-invariant", 1e3)
  panel(by_n("sphere", 3), "n", "sphere, 3 coordinates", 1e4)
  panel(costs[costs$manifold == "spd" & costs$n == 200, ], "k", "SPD(k), n = 200", 11)
  panel(costs[costs$manifold == "sphere" & costs$n == 2000, ], "k", "sphere, k coordinates, n = 2,000", 20)
}

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

table_lines <- function() {
  lines <- c(
    paste("| work | riemdp | error, gradient | fastest peer | its CPU (error) | ratio (range; pairs) | other peers",
          "| floor | ours / floor | target | |"),
    "|---|---|---|---|---|---|---|---|---|---|---|"
  )
  for (s in summaries) {
    row <- s$row
    counts <- if (is.null(s$row$counted)) counted_error else s$row$counted
    counted <- Filter(function(p) !p$other && p$error <= counts, s$peers)
    best <- if (length(counted) > 0) counted[[which.min(vapply(counted, `[[`, 0, "cpu"))]]
    others <- Filter(function(p) is.null(best) || p$name != best$name, s$peers)
    other_text <- paste(vapply(others, function(p) {
      sprintf("%s %s (%s)", p$name, seconds(p$cpu), if (p$other) "another mean" else small(p$error))
    }, ""), collapse = ", ")
    has_floor <- !quick && !is.na(row$floor)
    lines <- c(lines, paste0("| ", paste(c(
      if (quick) label_at(row$label, s$n) else row$label,
      seconds(s$cpu),
      if (is.na(s$gradient)) small(s$error) else paste0(small(s$error), ", ", small(s$gradient)),
      if (is.null(best)) "none" else paste0(best$name, if (nzchar(best$setting)) paste0(", ", best$setting)),
      if (is.null(best)) "" else sprintf("%s (%s)", seconds(best$cpu), small(best$error)),
      if (is.null(best)) "" else sprintf("%.1f (%.1f to %.1f; %d)", best$ratio, best$low, best$high, best$pairs),
      other_text,
      if (has_floor) seconds(row$floor) else "",
      if (has_floor) sprintf("%.2g", s$cpu / row$floor) else "",
      if (is.na(row$target)) "" else sprintf("%g×", row$target),
      if (is.na(row$target) || is.null(best)) "" else if (best$ratio >= row$target) "met" else "**not met**"
    ), collapse = " | "), " |"))
  }
  lines
}

one_point_lines <- c(
  "| call | µs | target | |", "|---|---|---|---|",
  sprintf("| %s | %.1f | 8 | %s |", names(overhead), overhead, ifelse(overhead <= 8, "met", "**not met**"))
)

private_lines <- if (!is.null(private)) c(
  "| release | whole call | after the mean | allowed | papers' chain, after the mean | chain / ours (range) | target | |",
  "|---|---|---|---|---|---|---|---|",
  vapply(private, function(p) {
    met <- p$ours <= p$limit && p$ratio >= 100
    sprintf("| %s | %s | %s | %s | %s | %.0f (%.0f to %.0f) | 100× | %s |", p$label, seconds(p$whole), seconds(p$ours),
            seconds(p$limit), seconds(p$theirs), p$ratio, p$low, p$high, if (met) "met" else "**not met**")
  }, "")
)

noise_lines <- if (length(only) == 0 || "noise" %in% only) noise_bench()

version_of <- function(p) paste(p, as.character(utils::packageVersion(p)))

if (!save_results) {
  writeLines(c("", table_lines(), "", one_point_lines, "", private_lines, "", noise_lines, "", accounting_lines(accounting)))
} else {
  say("cost against n and k")
  costs <- cost()
  write.csv(costs, file.path(bench, "cost.csv"), row.names = FALSE)
  draw_cost(costs, file.path(bench, "cost.png"))
  by_n <- function(m, k, from) costs[costs$manifold == m & costs$k == k & costs$n %in% 10^(2:6) & costs$n >= from, ]
  by_k <- function(m, n, from) costs[costs$manifold == m & costs$n == n & costs$k >= from, ]
  slope_line <- function(name, part, by) {
    slopes <- vapply(c("mean", "dist", "log", "exp"), function(w) {
      sprintf("%.2f", slope(part[[by]][part$work == w], part$seconds[part$work == w]))
    }, "")
    paste0("| ", name, " | ", paste(slopes, collapse = " | "), " |")
  }
  slope_lines <- c(
    "| sweep | mean | dist | log | exp |", "|---|---|---|---|---|",
    slope_line("SPD(4), n from 1e3 to 1e6", by_n("spd", 4, 1e3), "n"),
    slope_line("sphere, 3 coordinates, n from 1e4 to 1e6", by_n("sphere", 3, 1e4), "n"),
    slope_line("SPD(k), n = 200, k from 11 to 100", by_k("spd", 200, 11), "k"),
    slope_line("sphere, n = 2,000, 20 to 100 coordinates", by_k("sphere", 2000, 20), "k")
  )
  beyond <- memory[, "peak"] - memory[, "output"]
  allowed <- 0.1 * memory[, "input"] + 4
  memory_lines <- c(
    "| call | input MB | result MB | peak beyond both, MB | allowed | |", "|---|---|---|---|---|---|",
    sprintf("| %s | %.1f | %.1f | %.1f | %.1f | %s |", vapply(memory_cases, `[`, "", 1), memory[, "input"],
            memory[, "output"], beyond, allowed, ifelse(beyond <= allowed, "met", "**not met**"))
  )
  certificate <- vapply(summaries, `[[`, 0, "certificate")
  revision <- Sys.getenv("RIEMDP_BENCH_REVISION")
  blas <- basename(extSoftVersion()[["BLAS"]])
  cores <- parallel::detectCores()
  writeLines(c(
    "# Results", "",
    "Written by `bench/run`; what the columns mean is in [README.md](README.md).", "",
    sprintf("%s%s, %s; %s%s. %s, BLAS `%s`, %d cores, one thread.", version_of("riemdp"),
            if (nzchar(revision)) paste0(" (", revision, ")") else "", R.version.string,
            paste(vapply(Filter(have, c("manifold", "RiemBase", "GeodRegr", "shapes")), version_of, ""),
                  collapse = ", "),
            if (is.null(python)) "; geomstats not run here" else paste0(", geomstats ", geomstats$version),
            R.version$platform, blas, cores), "",
    "## Work", "", table_lines(), "",
    sprintf("The oracles' own gradient norms, in plain R: %s at most.", small(max(certificate, na.rm = TRUE))), "",
    "## One point", "", one_point_lines, "",
    "## Private releases", "",
    "The K-norm gradient mechanism, drawn exactly, beside the papers' Markov chains run in C to the burn-in that each paper prints.", "",
    private_lines, "",
    "## Tangent noise", "",
    "N(0, .01) at one base point, from the secure stream; seconds a draw. The papers' own figures are drawn by `inst/reproduce/paper-002-noise.R`.", "",
    noise_lines, "",
    "## Accounting", "", accounting_lines(accounting), "",
    "## Memory", "", memory_lines, "",
    "## Cost against n and k", "", "Fitted exponents; the curves:", "", "![cost](cost.png)", "", slope_lines
  ), file.path(bench, "results.md"))
  write.csv(do.call(rbind, c(timings, list(accounting$timings))), file.path(bench, "results.csv"), row.names = FALSE)
  writeLines(c("", readLines(file.path(bench, "results.md"))))
}
