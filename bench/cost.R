# Seconds of user calls against n and k, beyond the places where a kernel changes its way, and what jumps there. Sourced by bench.R.

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

slope_lines <- function(costs) {
  by_n <- function(m, k, from) costs[costs$manifold == m & costs$k == k & costs$n %in% 10^(2:6) & costs$n >= from, ]
  by_k <- function(m, n, from) costs[costs$manifold == m & costs$n == n & costs$k >= from, ]
  line <- function(name, part, by) {
    slopes <- vapply(c("mean", "dist", "log", "exp"), function(w) {
      sprintf("%.2f", slope(part[[by]][part$work == w], part$seconds[part$work == w]))
    }, "")
    paste0("| ", name, " | ", paste(slopes, collapse = " | "), " |")
  }
  c("| sweep | mean | dist | log | exp |", "|---|---|---|---|---|",
    line("SPD(4), n from 1e3 to 1e6", by_n("spd", 4, 1e3), "n"),
    line("sphere, 3 coordinates, n from 1e4 to 1e6", by_n("sphere", 3, 1e4), "n"),
    line("SPD(k), n = 200, k from 11 to 100", by_k("spd", 200, 11), "k"),
    line("sphere, n = 2,000, 20 to 100 coordinates", by_k("sphere", 2000, 20), "k"))
}

# Costs per unit of work around the places where sizes could change the way of a kernel: blocks of 16 to 512 records, 112 rows of a matrix,
# 16,384 coordinates
cliffs <- function() {
  each <- function(f) {
    entry <- local_entry(f)
    inner <- inner_for(entry)$inner
    median(replicate(5, entry$time(inner) / inner))
  }
  sweep <- function(name, sizes, unit, make) {
    do.call(rbind, lapply(sizes, function(size) {
      f <- make(size)
      f()
      data.frame(sweep = name, size = size, seconds = each(f), unit = unit(size))
    }))
  }
  spd_few <- function(n, call) function(k) {
    x <- data_spd(n, k, spd_spread(k), seed)
    M <- spd(k)
    switch(call, log = function() mf_log(M, x[, , 1], x), mean = function() frechet_mean(x, M))
  }
  long_data <- function(k) { # near one axis, as far as other data of spheres
    x <- with_seed(seed, matrix(rnorm(50 * k, sd = 0.7 / sqrt(k)), 50))
    x[, 1] <- 1
    x / sqrt(rowSums(x^2))
  }
  long <- c(4096, 8192, 16000, 16383, 16384, 16385, 16400, 20000, 32768, 65536)
  records <- c(15:17, 31:33, 63:65, 127:129, 255:257, 511:513, 1023:1025, 2047:2049, 4095:4097)
  rbind(
    sweep("log, SPD(k), 10 records", c(48, 64, 80, 96, 104, 110:114, 120, 128, 144, 160), function(k) k^3, spd_few(10, "log")),
    sweep("mean, SPD(k), 5 records", c(8, 11, 14, 17, 20, 24, 28, 35, 42, 50, 60, 70, 85, 100, 111:113, 128), function(k) k^3, spd_few(5, "mean")),
    sweep("mean, sphere with k coordinates, 50 records", long, function(k) k, function(k) {
      x <- long_data(k)
      function() frechet_mean(x, sphere(k - 1))
    }),
    sweep("log, sphere with k coordinates, 50 records", long, function(k) k, function(k) {
      x <- long_data(k)
      function() mf_log(sphere(k - 1), x[1, ], x)
    }),
    sweep("mean, SPD(3), n records", records, function(n) n + 40, function(n) {
      x <- data_spd(n, 3, 0.4, seed)
      function() frechet_mean(x, spd(3))
    }),
    sweep("mean, sphere, 3 coordinates, n records", records, function(n) n + 400, function(n) {
      x <- data_sphere(n, 2, 0.7, seed)
      function() frechet_mean(x, sphere(2))
    })
  )
}

cliff_lines <- function(found) {
  rows <- vapply(split(found, factor(found$sweep, unique(found$sweep))), function(part) {
    per <- part$seconds / part$unit
    jump <- per[-1] / per[-length(per)]
    at <- which.max(jump)
    sprintf("| %s | %s to %s | %.2f | %s to %s | 1.5 | %s |", part$sweep[1], min(part$size), max(part$size), jump[at], part$size[at], part$size[at + 1],
            met(jump[at] <= 1.5))
  }, "")
  c("| sweep | sizes | largest jump of the cost a unit | between | allowed | |", "|---|---|---|---|---|---|", unname(rows))
}
