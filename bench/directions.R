# Private principal directions by each mechanism and by mechanism = "auto": what the released directions lose, against records, columns and epsilon.
# Writes directions.csv beside this file, in less than ten minutes of one core:
#   Rscript bench/directions.R [quick]
# The second-moment matrix is diagonal with the stated spectrum and trace 1/2, the bound is 1. Draws are those of the package, for n times that matrix;
# `lost` is the mean square along the best q directions that the drawn ones do not have, as a share of that of the best, a mean over `draws` (so many
# that its own relative error is 3 to 6 % where noise is small and d is 20 or more, up to 12 % below). `chosen` is what "auto" plans ("look": a first look, then one of
# two), `over_best` what it loses over the least of the columns before. Gradient steps ("rgd") are run on normal rows with that spectrum, shortened,
# where these are few, `draws_rgd` times, and then `lost_rgd` and its neighbours are about the rows' own matrix.
suppressPackageStartupMessages(library(riemdp))
quick <- "quick" %in% commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
internals <- function(name) get(name, asNamespace("riemdp"))

spectra <- list(spiked = function(d, q) c(rep(1, q), rep(q / (2 * d), d - q)), falling = function(d, q) 1 / seq_len(d))
spectrum <- function(name, d, q) {
  l <- spectra[[name]](d, q)
  l / sum(l) / 2
}
NOISES <- c("gauss", "laplace", "wishart", "bingham")

# share of the second moment S that directions lose
lost <- function(V, S, q) {
  e <- if (is.matrix(S)) eigen(S, TRUE, TRUE)$values else S
  1 - sum(V * (if (is.matrix(S)) S %*% V else S * V)) / sum(e[seq_len(q)])
}

drawn <- function(cell, S, mechanism, draws) {
  ask <- internals("component_ask")(cell$n, cell$d, cell$q, cell$epsilon, cell$delta, mechanism, NULL)
  plan <- tryCatch(internals("component_plan")(ask), riemdp_error_unsupported = function(e) NULL)
  if (is.null(plan)) return(list(mechanism = NA, lost = NA_real_))
  sum <- cell$n * if (is.matrix(S)) S else diag(S)
  list(mechanism = plan$mechanism, lost = if (mechanism != "auto" || plan$mechanism == "look") {
    mean(with_simulation(cell$seed, vapply(seq_len(draws), function(i) lost(internals("draw_components")(sum, plan, cell$q)$directions, S, cell$q), 0)))
  })
}

steps_lost <- function(cell, x, S, draws) {
  mean(with_simulation(cell$seed, vapply(seq_len(draws), function(i) {
    lost(dp_pca(x, cell$q, cell$epsilon, cell$delta, bound = 1, mechanism = "rgd")$loadings, S, cell$q)
  }, 0)))
}

row_of <- function(cell) {
  S <- spectrum(cell$spectrum, cell$d, cell$q)
  draws <- max(if (cell$d < 1000) 4 else 2, min(150, round(2500 / (cell$q * (cell$d - cell$q)))))
  runs <- if (cell$delta > 0 && cell$n * cell$d <= 1e5 && cell$epsilon == 2) 10 else 0
  if (runs) {
    set.seed(cell$seed)
    x <- matrix(rnorm(cell$n * cell$d), cell$n) * rep(sqrt(S), each = cell$n)
    S <- crossprod(x * pmin(1, 1 / sqrt(rowSums(x^2)))) / cell$n
  }
  # noise on all of a large matrix takes seconds: what is worse by far is left out there
  one <- vapply(NOISES, function(m) {
    if (cell$d > 140 && cell$delta > 0 && m %in% c("wishart", "bingham")) NA_real_ else drawn(cell, S, m, draws)$lost
  }, 0)
  steps <- if (runs) steps_lost(cell, x, S, runs) else NA_real_
  auto <- drawn(cell, S, "auto", draws)
  own <- auto$lost %||% one[[auto$mechanism]]
  data.frame(cell[c("spectrum", "d", "n", "q", "epsilon", "delta")], t(signif(stats::setNames(one, paste0("lost_", NOISES)), 2)),
             lost_rgd = signif(steps, 2), chosen = auto$mechanism, lost_auto = signif(own, 2),
             over_best = signif(own / min(one, steps, na.rm = TRUE), 3), draws = draws, draws_rgd = runs)
}
`%||%` <- function(a, b) if (is.null(a)) b else a

cells <- expand.grid(epsilon = c(0.5, 2), delta = c(0, 1e-6), q = c(1, 3), n = 10^c(2:4, 6), d = c(2, 5, 10, 20, 50, 100, 300, 1000), spectrum = names(spectra),
                     stringsAsFactors = FALSE)
# several directions at one number of records; the largest matrices where something is left and something is lost
cells <- cells[cells$q == 1 | (cells$n == 1e4 & cells$d %in% c(5, 20, 100)), ]
cells <- cells[cells$d < 300 | (cells$epsilon == 2 & cells$n >= 1e4), ]
cells <- cells[cells$d < 1000 | (cells$spectrum == "spiked" & cells$n > 1e4), ]
cells <- cells[order(cells$d, cells$spectrum, cells$q, cells$n), ]
if (quick) cells <- cells[cells$d < 100 & cells$epsilon == 2 & cells$n == 1e3, ]
cells$seed <- seq_len(nrow(cells))
table <- do.call(rbind, lapply(seq_len(nrow(cells)), function(i) {
  row <- row_of(cells[i, ])
  utils::write.table(row, row.names = FALSE, col.names = i == 1, quote = FALSE)
  row
}))
row.names(table) <- NULL
if (!quick) utils::write.csv(table, file.path(dirname(script), "directions.csv"), row.names = FALSE, na = "")
