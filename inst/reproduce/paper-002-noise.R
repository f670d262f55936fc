# Figure 1 and Table 2 of Utpala, Han, Jawanpuria and Mishra (2023), https://openreview.net/forum?id=paguBNtqiO: the time of one draw of tangent
# noise by isometric transport, from an explicit basis, from a Gram-Schmidt basis and by a Markov chain of 1,000 steps, for
# matrices and vectors up to the paper's sizes; and what that means for 3e5 steps of DP-RSGD.
#
#   Rscript paper-002-noise.R [folder] [seconds]
# writes paper-002-noise.csv, paper-002-noise-steps.csv and paper-002-noise.png to the folder (here by default). CPU seconds, averaged over five
# random base points. A method is left out of a panel from the size on for which one draw would take longer than `seconds` (2 by default),
# or whose basis can't be stored (5e7 numbers). All methods run in C; in the paper they ran in Python.
library(riemdp)

arguments <- commandArgs(TRUE)
folder <- if (length(arguments) > 0) arguments[1] else "."
limit <- if (length(arguments) > 1) as.numeric(arguments[2]) else 2
options(riemdp.progress = FALSE)

matrices <- c(5, 10, 20, 30, 50)
vectors <- c(250, 500, 1000, 1500, 2000)
tall <- c(100, 250, 500, 750, 1000)
panels <- list(
  list(name = "SPD, affine-invariant", sizes = matrices, make = function(m) spd(m)),
  list(name = "SPD, Bures-Wasserstein", sizes = matrices, make = function(m) spd(m, "bures")),
  list(name = "SPD, log-Euclidean", sizes = matrices, make = function(m) spd(m, "logeuclidean")),
  list(name = "sphere", sizes = vectors, make = function(m) sphere(m - 1)),
  list(name = "Stiefel, r = 5", sizes = tall, make = function(m) stiefel(m, 5)),
  list(name = "Stiefel, r = 20", sizes = tall, make = function(m) stiefel(m, 20)),
  list(name = "Grassmann, r = 5", sizes = tall, make = function(m) grassmann(m, 5)),
  list(name = "Grassmann, r = 20", sizes = tall, make = function(m) grassmann(m, 20)),
  list(name = "Poincare ball", sizes = vectors, make = function(m) hyperbolic(m, "ball")),
  list(name = "hyperboloid", sizes = vectors, make = function(m) hyperbolic(m - 1))
)
methods <- c(isometric = "isometric transport", basis = "explicit basis", `gram-schmidt` = "Gram-Schmidt basis", chain = "chain, 1,000 steps")

cpu <- function(f) {
  start <- proc.time()
  f()
  sum((proc.time() - start)[1:2])
}

one_of <- function(M, x, i) if (length(dim(x)) == 3) x[, , i] else x[i, ]

# seconds a draw over the base points, short ones repeated; the dearest methods get one base point
time_draw <- function(M, bases, method) {
  draw <- function(i) tangent_noise(M, bases[[i]], 1, 1, method = method, steps = 1000)
  first <- cpu(function() draw(1))
  if (first > 0.5) return(first)
  times <- max(1, ceiling(0.03 / max(first, 1e-4)))
  cpu(function() for (k in seq_len(times)) for (i in seq_along(bases)) draw(i)) / (times * length(bases))
}

set.seed(1)
rows <- list()
for (panel in panels) {
  known <- lapply(methods, function(m) NULL)
  for (m in panel$sizes) {
    M <- panel$make(m)
    facts <- mf_facts(M)
    x <- mf_random(M, 5, sd = 1 / sqrt(facts$dimension))
    bases <- lapply(1:5, function(i) one_of(M, x, i))
    for (method in names(methods)) {
      before <- known[[method]]
      # as the last two sizes grew, at least as fast as the number of entries of a basis
      slope <- if (is.null(before)) 0 else if (nrow(before) > 1) diff(log(utils::tail(before$seconds, 2))) / diff(log(utils::tail(before$m, 2))) else 0
      expected <- if (is.null(before)) 0 else utils::tail(before$seconds, 1) * (m / utils::tail(before$m, 1))^max(slope, 2, if (method == "gram-schmidt") 6)
      framed <- method %in% c("basis", "gram-schmidt")
      if (expected > limit || framed && facts$dimension * facts$ambient > 5e7 || isTRUE(attr(before, "over"))) {
        if (!is.null(before)) attr(known[[method]], "over") <- TRUE
        next
      }
      seconds <- time_draw(M, bases, method)
      known[[method]] <- rbind(before, data.frame(m = m, seconds = seconds))
      rows[[length(rows) + 1]] <- data.frame(panel = panel$name, m = m, dimension = facts$dimension, method = method, seconds = seconds)
    }
    message(panel$name, ", m = ", m)
  }
}
figure <- do.call(rbind, rows)
utils::write.csv(figure, file.path(folder, "paper-002-noise.csv"), row.names = FALSE)

grDevices::png(file.path(folder, "paper-002-noise.png"), width = 1500, height = 720, res = 110)
graphics::par(mfrow = c(2, 5), mar = c(3.4, 3.2, 2.2, 0.6), oma = c(0, 1.4, 0, 0), mgp = c(2, 0.6, 0), las = 1, cex.main = 1)
colours <- stats::setNames(riemdp_colours(4), c("isometric", "basis", "gram-schmidt", "chain"))
for (panel in panels) {
  part <- figure[figure$panel == panel$name, ]
  graphics::plot(range(panel$sizes), 10^c(-5.3, log10(limit) + 0.3), type = "n", log = "y", xlab = "m", ylab = "", main = panel$name,
                 yaxt = "n")
  powers <- -5:1
  graphics::axis(2, 10^powers, parse(text = paste0("10^", powers)))
  graphics::abline(h = 10^powers, col = "grey88")
  for (method in names(methods)) {
    line <- part[part$method == method, ]
    graphics::lines(line$m, line$seconds, type = "b", pch = 19, cex = 0.7, col = colours[[method]])
  }
  if (panel$name == panels[[10]]$name) graphics::legend("bottomright", methods, col = colours, lty = 1, pch = 19, pt.cex = 0.7, bty = "n", cex = 0.8)
}
graphics::mtext("CPU seconds a draw", 2, outer = TRUE, las = 0, cex = 0.8)
invisible(grDevices::dev.off())

# ---- Table 2 -----------------------------------------------------------------------------------------------------------------------------
# Whole runs with isometric noise; for the others what 3e5 draws at one base point would add, from fewer draws.
steps <- 3e5
overhead <- function(M, p, data, problem, name) {
  run <- cpu(function() dp_optimize(problem, data, epsilon = 1, delta = 1e-6, method = "rsgd", steps = steps, batch = 1, clip = 0.1, lr = 0.01, start = p,
                                    calibration = "paper"))
  each <- function(method, n, steps) { # more draws until the clock can tell
    many <- if (is.matrix(p)) array(rep(p, n), c(dim(p), n)) else matrix(rep(p, n), n, byrow = TRUE)
    took <- cpu(function() tangent_noise(M, many, sd = 0.1, method = method, steps = steps))
    if (took < 0.2 && n < 1e5) each(method, 4 * n, steps) else took / n
  }
  count <- ceiling(5e6 / length(p))
  isometric <- cpu(function() tangent_noise(M, p, count, 0.1)) / count
  other <- c(basis = each("basis", 5, 1), chain_1000 = each("chain", 5, 1000), chain_10000 = each("chain", 2, 10000))
  data.frame(problem = name, method = c("isometric", names(other)), draw = c(isometric, other), run = run + steps * (c(isometric, other) - isometric),
             measured = c(TRUE, FALSE, FALSE, FALSE), over_isometric = c(1, other / isometric))
}
s <- c(1, rep(0, 784))
table <- rbind(
  overhead(spd(11), diag(11), mf_random(spd(11), 10704, sd = 0.3), problem_frechet(spd(11)), "Frechet mean, SPD(11)"),
  overhead(sphere(784), s, mf_random(sphere(784), 6903, sd = 0.01), problem_pca(sphere(784)), "eigenvector, 785 coordinates")
)
utils::write.csv(table, file.path(folder, "paper-002-noise-steps.csv"), row.names = FALSE)
print(table, digits = 3, row.names = FALSE)
