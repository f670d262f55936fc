# Tangent noise beside other ways of drawing it: CPU seconds a draw, in pairs. Sourced by bench.R, which says `bench`, `scratch`, `quick`.

noise_cpu <- function(f) {
  start <- proc.time()
  f()
  sum((proc.time() - start)[1:2])
}

# the package's kernels without R around them, or NULL where they can't be built
noise_single <- function() {
  folder <- file.path(scratch, "noise-single")
  dir.create(folder)
  kernels <- c("base/*.c", "geometry/*.c", "estimate/*.c", "mechanism/*.c", "account/*.c")
  sources <- c(Sys.glob(file.path(bench, "..", "src", kernels)), file.path(bench, "noise-single.c"))
  headers <- Sys.glob(file.path(bench, "..", "src", "*", "*.h"))
  file.copy(c(sources, headers), folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  writeLines(c("PKG_CPPFLAGS = -DR_NO_REMAP", "PKG_LIBS = $(LAPACK_LIBS) $(BLAS_LIBS) $(FLIBS)"), "Makevars")
  status <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "-o", "noise-single.so", basename(sources)), stdout = FALSE, stderr = FALSE)
  if (status != 0) return(NULL)
  dll <- dyn.load(file.path(folder, "noise-single.so"))
  symbol <- getNativeSymbolInfo("noise_single", dll)
  function(name, param, p, n) {
    .C(symbol, name, as.integer(param), as.double(p), 0.1, as.double(n), double(length(p)), seconds = 0)$seconds / n
  }
}

noise_bench <- function() {
  set.seed(seed)
  w <- crossprod(matrix(rnorm(22 * 11), 22)) / 10
  s <- rnorm(784)
  s <- s / sqrt(sum(s^2))
  M <- spd(11)
  S <- sphere(783)
  many <- function(x, n) array(x, c(11, 11, n))
  batch <- if (quick) 2e4 else 2e5
  spd_batch <- function() noise_cpu(function() tangent_noise(M, w, batch, 0.1)) / batch
  sphere_batch <- function() noise_cpu(function() tangent_noise(S, s, batch / 10, 0.1)) / (batch / 10)
  r_loop <- function(n) {
    low <- t(chol(w))
    noise_cpu(function() for (i in seq_len(n)) {
      z <- matrix(rnorm(121, sd = 0.1 / 2), 11)
      low %*% (z + t(z)) %*% t(low)
    }) / n
  }
  slower <- function(method, n, ...) function() noise_cpu(function() tangent_noise(M, many(w, n), sd = 0.1, method = method, ...)) / n
  python <- find_python("numpy")
  input <- file.path(scratch, "noise-base")
  numpy <- function(work, p, rows, n) function() {
    writeBin(as.double(p), input)
    out <- system2(python, c(shQuote(file.path(bench, "noise-worker.py")), work, rows, sprintf("%.0f", n)), stdin = input, stdout = TRUE)
    out <- as.double(strsplit(out, " ")[[1]])
    expected <- if (rows > 0) rows * (rows + 1) / 2 else length(p) - 1
    stopifnot(abs(out[2] / expected - 1) < if (n < 20) 1 else 0.2) # the peer draws the same law
    out[1]
  }
  single <- noise_single()
  few <- if (quick) 20 else 1
  rows <- c(
    if (!is.null(single)) list(
      list("SPD(11)", "riemdp, one by one inside C", spd_batch, function() single("spd_affine", 11, w, batch), NA),
      list("sphere, 784 coordinates", "riemdp, one by one inside C", sphere_batch, function() single("sphere", 783, s, batch / 10), NA)
    ),
    if (!is.null(python)) list(
      list("SPD(11)", "numpy, batch of L sym(G) L'", spd_batch, numpy("batched", w, 11, 1e5 / few), 1),
      list("SPD(11)", "numpy, Algorithm 3", spd_batch, numpy("algorithm3", w, 11, 2e4 / few), 10),
      list("SPD(11)", "numpy, basis made for each draw", spd_batch, numpy("explicit", w, 11, 1000 / few), NA),
      list("SPD(11)", "numpy, chain of 10,000 steps", spd_batch, numpy("chain", w, 11, max(2, 5 / few)), 1e4),
      list("sphere, 784 coordinates", "numpy, batch of projections", sphere_batch, numpy("sphere", s, 0, 2e4 / few), NA)
    ),
    list(
      list("SPD(11)", "R loop", spd_batch, function() r_loop(5e4 / few), 10),
      list("SPD(11)", "riemdp, basis made for each draw", spd_batch, slower("basis", 2000 / few), NA),
      list("SPD(11)", "riemdp, Gram-Schmidt for each draw", spd_batch, slower("gram-schmidt", 60 / min(few, 6)), NA),
      list("SPD(11)", "riemdp, chain of 1,000 steps", spd_batch, slower("chain", 100 / few, steps = 1000), NA),
      list("SPD(11)", "riemdp, chain of 10,000 steps", spd_batch, slower("chain", max(2, 20 / few), steps = 1e4), 1e4)
    )
  )
  pairs <- if (quick) 2 else 5
  spd_batch()
  table <- lapply(rows, function(row) {
    ours <- theirs <- double()
    for (i in seq_len(pairs)) {
      ours[i] <- row[[3]]()
      theirs[i] <- row[[4]]()
    }
    list(work = row[[1]], other = row[[2]], ours = median(ours), theirs = median(theirs), ratio = median(theirs / ours),
         low = min(theirs / ours), high = max(theirs / ours), target = row[[5]])
  })
  # 3e5 steps of DP-RSGD with batches of one record, noise included
  steps <- if (quick) 2e4 else 3e5
  x <- mf_random(M, 10704, sd = 0.3)
  y <- mf_random(S, 6903, sd = 0.01)
  run <- function(problem, data, start) function() {
    noise_cpu(function() dp_optimize(problem, data, epsilon = 1, delta = 1e-6, method = "rsgd", steps = steps, batch = 1, clip = 0.1, lr = 0.01,
                                     start = start, calibration = "paper"))
  }
  runs <- list(
    list("Frechet mean, SPD(11), n = 10,704", run(problem_frechet(M), x, diag(11)), 5, 41),
    list("leading eigenvector, sphere, 784 coordinates, n = 6,903", run(problem_pca(S), y, s), 10, 24)
  )
  runs <- lapply(runs, function(r) {
    r[[2]] <- median(replicate(if (quick) 1 else 3, r[[2]]()))
    r
  })
  limits <- c(`SPD(11)` = 2e-6, `sphere, 784 coordinates` = 12e-6)
  ours <- vapply(names(limits), function(i) median(vapply(Filter(function(t) t$work == i, table), `[[`, 0, "ours")), 0)
  c(
    "| tangent space | riemdp, batch, a draw | allowed | |", "|---|---|---|---|",
    sprintf("| %s | %s | %s | %s |", names(limits), vapply(ours, seconds, ""), vapply(limits, seconds, ""), vapply(ours <= limits, met, "")), "",
    "| tangent space | other way | its time a draw | over riemdp's batch (range) | target | |", "|---|---|---|---|---|---|",
    vapply(table, function(t) {
      single <- grepl("inside C", t$other) && t$work == "SPD(11)"
      sprintf("| %s | %s | %s | %.3g (%.3g to %.3g) | %s | %s |", t$work, t$other, seconds(t$theirs), t$ratio, t$low, t$high,
              if (single) "3 µs" else if (is.na(t$target)) "" else paste0(format(t$target, big.mark = ",", scientific = FALSE), "×"),
              if (single) met(t$theirs <= 3e-6) else if (is.na(t$target)) "" else met(t$ratio >= t$target))
    }, ""), "",
    sprintf("| %s steps of DP-RSGD, one record each | CPU | allowed | paper | |", format(steps, big.mark = ",", scientific = FALSE)), "|---|---|---|---|---|",
    vapply(runs, function(r) {
      sprintf("| %s | %s | %s | %s | %s |", r[[1]], seconds(r[[2]]), seconds(r[[3]]), seconds(r[[4]]), if (quick) "" else met(r[[2]] <= r[[3]]))
    }, "")
  )
}
