# What one record may cost a linear regression by objective perturbation: its gradient and its curvature together
# (inst/proofs/linear-regression.md, section 2), and for curved features over all places and directions (regression.md,
# section 2). Functions of public numbers and releases.

# psi is piecewise linear in residuals over tau, with knots at 0, .04, ..., 8
LOSS_STEP <- 0.04
LOSS_KNOTS <- 200L

# what a curvature of v takes of the budget: determinants of averages are bounded by their trace
curvature_cost <- function(rule) if (isTRUE(rule$averaged)) identity else log1p

# the most of fall u + (q - 1) log(1 + t psi/r) + log(1 + t psi') over residuals
shared_budget <- function(rule, fall, t, cost) {
  at <- loss_ends(rule$g)
  max(fall * at$u + (rule$q - 1) * cost(t * at$across) + cost(t * at$slope))
}

# u, psi/r and psi' at both ends of the loss's pieces, up to the first piece on which psi stays at its most
loss_ends <- function(g) {
  from <- seq_len(min(length(g) - 1, match(max(g), g)))
  slope <- diff(g)[from] / LOSS_STEP
  across <- c(slope[1], g[from + 1] / (LOSS_STEP * from))
  list(u = c(g[from], g[from + 1]), across = c(across[from], across[from + 1]), slope = c(slope, slope))
}

# ---- curved features -------------------------------------------------------------------------------------------------

# Features C = cos(angle x) and s = sin(angle x)/angle for distinct angles, on cells of x in [0, 1], a row each: squares
# of C + s and of C - s at both ends, what they may exceed these by in between, the most that they are at all, and about
# what they are; and the most of the leverage
feature_cells <- function(angle, ridge) {
  cells <- min(400, max(48, ceiling(16 * max(angle))))
  x <- seq(0, 1, length.out = cells + 1)
  bend <- cos(outer(x, angle))
  swing <- sin(outer(x, angle)) / rep(pmax(angle, 1e-8), each = cells + 1)
  swing[, angle < 1e-8] <- x
  left <- function(f) f[-(cells + 1), , drop = FALSE]
  right <- function(f) f[-1, , drop = FALSE]
  rows <- function(v) matrix(v, cells, length(angle), byrow = TRUE)
  turn <- rows((angle / cells)^2 / 4)
  short <- rows(pmin(1, 1 / angle))
  cap <- (1 + short)^2
  beyond <- function(f) 2 * turn * (pmax(abs(left(f)), abs(right(f))) + turn)
  near <- function(f) pmin((left(f)^2 + right(f)^2) / 2 + beyond(f), cap)
  plus <- bend + swing
  minus <- bend - swing
  leverage <- bend^2 / ridge[1] + swing^2 / ridge[2]
  leverage <- pmax(left(leverage), right(leverage)) + 2 * sum(1 / ridge) * turn
  list(plus = left(plus)^2, plus_end = right(plus)^2, plus_beyond = beyond(plus), plus_near = near(plus),
       minus = left(minus)^2, minus_end = right(minus)^2, minus_beyond = beyond(minus), minus_near = near(minus),
       cap = cap, leverage = pmin(leverage, 1 / ridge[1] + short^2 / ridge[2]))
}

row_totals <- function(a) .rowSums(a, nrow(a), ncol(a))

# places of tangents, for shares p of |w|^2, a row for each cell; neither far below the other
tangent_places <- function(f, p) {
  plus <- row_totals(p * f$plus_near)
  minus <- row_totals(p * f$minus_near)
  least <- 1e-6 * (plus + minus)
  list(plus = sqrt(pmax(plus, least)), minus = sqrt(pmax(minus, least)))
}

# the most on a cell of (C + s)^2 and (C - s)^2 over the tangents' places, together
tangent_squares <- function(f, at) {
  end <- pmax(f$plus / at$plus + f$minus / at$minus, f$plus_end / at$plus + f$minus_end / at$minus)
  pmin(end + f$plus_beyond / at$plus + f$minus_beyond / at$minus, f$cap * (1 / at$plus + 1 / at$minus))
}

# Numbers for directions whose mean by the shares of |w|^2 is at least N(F'w)/|w|, on the whole cell and for all w
tangent_lengths <- function(f, p) {
  at <- tangent_places(f, p)
  (tangent_squares(f, at) + at$plus + at$minus) / 4
}

# Shares of |w|^2 at which pull N(F'w)/|w| plus the logarithm of the mean of m is about largest: a bound holds with any
steep_shares <- function(f, pull, m = NULL) {
  p <- matrix(1 / ncol(f$plus), nrow(f$plus), ncol(f$plus))
  for (i in 1:24) {
    rise <- pull * tangent_squares(f, tangent_places(f, p)) / 4
    if (!is.null(m)) rise <- rise + m / row_totals(p * m)
    p <- p * rise^2
    p <- p / row_totals(p)
  }
  p
}

cells_gauge <- function(f) max(1, tangent_lengths(f, steep_shares(f, 1))) * (1 + 1e-12)

# What a step may lose on account of two records: no more than the largest of constant + slope v, v = tau times the
# noise's rate. For each cell of x and each end of the loss's pieces there is a line, of which those are kept that are
# the largest for some v >= 0.
record_lines <- function(rule, ridge, angles) {
  angle <- unique(angles)
  count <- tabulate(match(angles, angle))
  numbers <- format(c(rule$e1, ridge, angle, count, rule$g), digits = 17)
  remember(paste(c("lines", isTRUE(rule$averaged), numbers), collapse = " "),
           function() find_lines(rule, ridge, angle, count))
}

find_lines <- function(rule, ridge, angle, count) {
  f <- feature_cells(angle, ridge)
  gauge <- cells_gauge(f)
  ends <- loss_ends(rule$g)
  cell <- rep(seq_len(nrow(f$plus)), length(ends$u))
  ends <- lapply(ends, rep, each = nrow(f$plus))
  f <- lapply(f, function(of) of[cell, , drop = FALSE])
  lost <- (ends$across - ends$slope) * f$leverage
  m <- if (isTRUE(rule$averaged)) exp(-lost) else 1 - lost / (1 + ends$across * f$leverage)
  p <- steep_shares(f, ends$u * rule$e1 / 2, m)
  mean <- row_totals(p * m)
  all <- drop(curvature_cost(rule)(ends$across * f$leverage) %*% count)
  constant <- all + if (isTRUE(rule$averaged)) -lost else log(mean) + m / mean - 1
  c(list(gauge = gauge), upper_lines(gauge + ends$u * tangent_lengths(f, p), constant))
}

# those lines that no other one exceeds in both numbers, so for all v >= 0
upper_lines <- function(slope, constant) {
  first <- order(-constant, -slope)
  slope <- slope[first]
  kept <- c(TRUE, slope[-1] > cummax(slope)[-length(slope)])
  list(slope = slope[kept], constant = constant[first][kept])
}
