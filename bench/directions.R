# dp_pca() by its mechanisms: what the released directions lose, against records, columns and epsilon. Writes directions.csv beside this file, some
# minutes:
#   Rscript bench/directions.R [quick]
# Rows are normal with the stated spectrum and second moments that add up to 1/2; the bound is 1, so some rows are shortened. `lost` is the mean
# second moment along the best q directions of the shortened rows that the released ones do not have, as a share of that of the best; `angle` the
# largest angle to them, in radians. Means over runs. `chosen` is what mechanism = "auto" takes, with its default guess of the gap.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])

spectra <- list(spiked = function(d, q) c(rep(1, q), rep(q / (2 * d), d - q)), falling = function(d, q) 1 / seq_len(d))
rows_with <- function(spectrum, n, d, q) {
  l <- spectra[[spectrum]](d, q)
  matrix(rnorm(n * d), n) * rep(sqrt(l / sum(l) / 2), each = n)
}
mechanisms <- c("gauss", "laplace", "wishart", "bingham", "rgd")

one <- function(x, q, epsilon, delta, mechanism, seed) {
  if (mechanism %in% c("gauss", "rgd") && delta == 0) return(c(NA, NA))
  r <- tryCatch(with_simulation(seed, dp_pca(x$rows, q, epsilon, delta, bound = 1, mechanism = mechanism)), riemdp_error_unsupported = function(e) NULL)
  if (is.null(r)) return(c(NA, NA))
  best <- x$eigen$vectors[, seq_len(q), drop = FALSE]
  lost <- 1 - sum(r$loadings * (x$moment %*% r$loadings)) / sum(x$eigen$values[seq_len(q)])
  c(lost, acos(min(1, svd(crossprod(best, r$loadings))$d[q])))
}

cells <- expand.grid(epsilon = c(0.5, 2), delta = c(0, 1e-6), q = c(1, 3), n = c(500, 5000, 50000), d = c(5, 50, 100), spectrum = names(spectra),
                     stringsAsFactors = FALSE)
# many records where it matters most, several directions at one number of them
cells <- cells[(cells$n < 50000 | (cells$d == 100 & cells$q == 1 & cells$epsilon == 2)) & (cells$q == 1 | cells$n == 5000), ]
if (quick) cells <- cells[cells$n < 50000 & cells$d < 100 & cells$epsilon == 2, ]
runs <- if (quick) 4 else 5
keys <- unique(cells[c("spectrum", "d", "n", "q")])
table <- do.call(rbind, lapply(seq_len(nrow(keys)), function(k) {
  key <- keys[k, ]
  message(k, " of ", nrow(keys))
  set.seed(k)
  x <- list(rows = rows_with(key$spectrum, key$n, key$d, key$q))
  x$moment <- crossprod(x$rows * pmin(1, 1 / sqrt(rowSums(x$rows^2)))) / key$n
  x$eigen <- eigen(x$moment, TRUE)
  part <- do.call(rbind, lapply(which(cells$spectrum == key$spectrum & cells$d == key$d & cells$n == key$n & cells$q == key$q), function(i) {
    cell <- cells[i, ]
    chosen <- with_simulation(1, dp_pca(x$rows, cell$q, cell$epsilon, cell$delta, bound = 1))$mechanism
    out <- lapply(mechanisms, function(m) rowMeans(vapply(seq_len(runs), function(s) one(x, cell$q, cell$epsilon, cell$delta, m, s), c(0, 0))))
    lost <- signif(vapply(out, `[`, 0, 1), 2)
    angle <- signif(vapply(out, `[`, 0, 2), 2)
    data.frame(cell[c("spectrum", "d", "n", "q", "epsilon", "delta")], t(stats::setNames(lost, paste0("lost_", mechanisms))),
               t(stats::setNames(angle, paste0("angle_", mechanisms))), chosen = chosen,
               over_best = signif(lost[match(chosen, mechanisms)] / min(lost, na.rm = TRUE), 3))
  }))
  utils::write.table(part, row.names = FALSE, col.names = k == 1, quote = FALSE)
  part
}))
row.names(table) <- NULL
if (!quick) utils::write.csv(table, file.path(dirname(script), "directions.csv"), row.names = FALSE, na = "")
