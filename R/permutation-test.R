# Permutation tests with noise: statistics of a kernel, what one record moves them by, and the law of a p-value that is
# released. Proofs: inst/proofs/testing.md.

# ---- the law of a p-value ------------------------------------------------------------------------------------------
# T_0 is the statistic, T_1, ... what it is under other labels, G(x) the mean of P(T_i + Laplace noise >= x) over all of
# them, p = G(T_0 + Laplace noise). Under the null hypothesis p is uniform.

# What log-densities move by where every statistic moves by the sensitivity, in units of sensitivity over scale: of the
# p-value, and of whether it is at most a number fixed beforehand. "permuted": all statistics move; "fixed": the first
# one does, the others are drawn from a public law (proofs/testing.md, sections 3 and 4).
TEST_LOSS <- list(permuted = c(p = 9 / 4, decision = 2), fixed = c(p = 1, decision = 1))

# what of epsilon is left to rounding, and how finely levels are told
TEST_ROUNDING <- 2^-10
TEST_CELLS <- 10000

# list(scale, cells, at, loss, rounding): the scale of the noise, and cells between at/cells of which one is drawn
test_law <- function(moves, sensitivity, epsilon, draws, alpha) {
  loss <- TEST_LOSS[[moves]][[if (is.null(alpha)) "p" else "decision"]]
  scale <- outwards(loss * sensitivity / (epsilon * (1 - TEST_ROUNDING)))
  for (cells in if (is.null(alpha)) TEST_CELLS / c(1, 10, 100) else TEST_CELLS) {
    at <- if (is.null(alpha)) seq_len(cells - 1) else round(alpha * cells)
    rounding <- law_rounding(draws + 1, scale, min(at, cells - at) / cells)
    if (rounding <= epsilon * TEST_ROUNDING) {
      return(list(scale = scale, cells = cells, at = at, loss = loss, rounding = rounding))
    }
  }
  abort_riemdp("argument", "`epsilon` is too small for what doubles weigh: fewer `draws` or records would do.")
}

# What rounding adds to the loss: weights are off by the shares below, those of both data sets and their sums. `least`:
# the smallest cell (proofs/testing.md, section 5).
law_rounding <- function(count, scale, least) {
  edge <- count * 2^-41 + 2^-49 / scale
  4.04 * (1.01 * edge / least + 1 / floor(WEIGHT_FLOOR * least))
}

# weights are whole multiples of 1/WEIGHT_ONE, to which a share of the uniform law is added
WEIGHT_ONE <- 2^50
WEIGHT_FLOOR <- 2^34

# The points x at which G is at/cells, decreasing. Between two neighbouring statistics G is (a/y - b y)/2 plus a whole
# number, over the count, in y = exp(x/scale): a quadratic equation, whose root is taken without differences.
law_edges <- function(statistics, law) {
  t <- sort(statistics)
  n <- length(t)
  gap <- diff(t)
  fall <- exp(-gap / law$scale)
  left <- right <- rep(1, n) # sums of exp(-distance/scale) over those on one side, with the point's own
  for (j in seq_len(n - 1)) left[j + 1] <- left[j] * fall[j] + 1
  for (j in rev(seq_len(n - 1))) right[j] <- right[j + 1] * fall[j] + 1
  beyond <- c(right[-1] * fall, 0)
  above <- cummin((n - seq_len(n)) + (left - beyond) / 2) # n G at each statistic
  j <- findInterval(-law$at * n / law$cells, -above) # how many statistics lie below the root
  c <- (law$at * n - (n - j) * law$cells) / law$cells # whole numbers: exact but for the last division
  a <- c(0, left)[j + 1]
  b <- c(right, 0)[j + 1]
  between <- j > 0 & j < n
  root <- sqrt(c^2 + ifelse(between, a * b * c(0, fall, 0)[j + 1], 0))
  low <- c(-Inf, t)[j + 1]
  high <- c(t, Inf)[j + 1]
  x <- ifelse(c > 0, low + law$scale * log(a / (c + root)), high - law$scale * log(b / (root - c)))
  even <- c == 0
  x[even] <- low[even] + (high[even] - low[even]) / 2 + law$scale / 2 * log(a[even] / b[even])
  cummin(pmin(pmax(x, low), high))
}

# Whole numbers, proportional to the chances of the cells but for rounding and the floor: sums of positive terms, so
# that small ones have as many digits as large ones.
law_weights <- function(statistics, law) {
  x <- (law_edges(statistics, law) - statistics[1]) / law$scale
  low <- c(x, -Inf)
  high <- c(Inf, x)
  width <- -expm1(low - high)
  chance <- ifelse(low >= 0, exp(-low) * width, ifelse(high <= 0, exp(high) * width, -expm1(low) - expm1(-high))) / 2
  floor(chance * WEIGHT_ONE) + floor(WEIGHT_FLOOR * diff(c(0, law$at, law$cells)) / law$cells)
}

# one cell, by integer arithmetic: the upper end of p
draw_p <- function(statistics, law, sensitivity, proof) {
  price <- draw_price("p-value", proof, sensitivity, law$scale,
                      epsilon = law$loss * sensitivity / law$scale + law$rounding)
  c(law$at, law$cells)[.Call(riemdp_weighted_cell, law_weights(statistics, law), pay(price))] / law$cells
}

# ---- kernels -------------------------------------------------------------------------------------------------------
# Each is positive definite where it is used, 1 at 0 and nowhere negative; `diameter` is the farthest that two records
# can be apart in its distance, Inf where that isn't known.

KERNEL_UNIT <- 2^-28
HYPERBOLIC_REACH <- 8

# By the manifold's name, flat ones apart: `flat`, the manifold at whose centre coordinates are taken, where vectors are
# those; else how far two vectors can be apart, of records within r of the centre (Inf for all records).
KERNEL_SPACES <- list(
  hyperboloid = list(flat = identity), ball = list(flat = identity), hermitian_spd = list(flat = identity),
  spd_affine = list(flat = function(M) spd(M$param[1], "logeuclidean", floor = M$floor)),
  sphere = list(diameter = function(p, r) 2 * sin(min(r, pi / 2))),
  spd_bures = list(diameter = function(p, r) Inf),
  stiefel_euclidean = list(diameter = function(p, r) min(2 * sqrt(p[2]), 2 * r)),
  stiefel_canonical = list(diameter = function(p, r) min(2 * sqrt(p[2]), sqrt(8) * r)),
  rotations = list(diameter = function(p, r) sqrt(8) * sin(min(if (p == 2) r else 2 * r, pi / 2))),
  rotations_frames = list(diameter = function(p, r) min(2 * sqrt(p), sqrt(8) * r)),
  grassmann = list(diameter = function(p, r) min(sqrt(2 * min(p[2], p[1] - p[2])), sqrt(8) * r)),
  kendall = list(diameter = function(p, r) sqrt(2) * sin(min(2 * r, pi / 2)))
)

# list(kind, diameter, flat, reach): `flat` is NULL where vectors are those of an embedding; `reach` how far from the
# centre records may lie, NULL where they may lie anywhere.
test_space <- function(M, radius, kernel = "gaussian") {
  leaves <- part_leaves(M)
  leaf <- leaves[[1]]
  space <- if (length(leaves) == 1) if (is_flat(leaf$M)) list(flat = identity) else KERNEL_SPACES[[leaf$M$name]]
  if (is.null(space)) {
    abort_riemdp("unsupported", "no kernel is proven on this space, nor for products or a manifold of your own.")
  }
  if (leaf$M$name == "spd_bures" && !is.null(radius)) {
    abort_riemdp("unsupported", "`radius` isn't available for the Bures-Wasserstein metric.")
  }
  reach <- if (is.null(radius)) Inf else check_number(radius, "radius", positive = TRUE, most = 1e100)
  if (kernel == "exponential") return(exponential_space(M, reach))
  space <- list(kind = "gaussian", flat = if (!is.null(space$flat)) rescaled(space$flat(leaf$M), leaf$weight),
                diameter = if (!is.null(space$flat)) 2 * reach else
                  space$diameter(leaf$M$param, reach / sqrt(leaf$weight)))
  if (!is.null(space$flat)) reach <- min(reach, 1e100)
  if (is.finite(reach)) space$reach <- reach
  space
}

exponential_space <- function(M, reach) {
  if (M$name == "sphere") {
    return(list(kind = "angle", diameter = min(pi, 2 * reach), reach = if (is.finite(reach)) reach))
  }
  if (!M$name %in% c("hyperboloid", "ball")) {
    abort_riemdp("unsupported", "kernel = \"exponential\" is for sphere() and hyperbolic() spaces.")
  }
  list(kind = "hyperbolic", flat = M, diameter = 2 * reach, reach = min(reach, HYPERBOLIC_REACH))
}

# `space` with its bandwidth and with `apart`: the most that the squared distance of two records' features may be, their
# number known. Kernels are rounded, and what that does to their being positive definite is put on the diagonal.
test_kernel <- function(space, bandwidth, points, length) {
  if (is.null(bandwidth)) {
    if (!is.finite(space$diameter)) abort_no_default("bandwidth")
    bandwidth <- space$diameter / 2
  }
  b <- check_number(bandwidth, "bandwidth", least = 1e-3, most = 1e100)
  far <- space$diameter * (1 + 1e-6)
  least <- if (is.finite(far)) exp(if (space$kind == "gaussian") -far^2 / (2 * b^2) else -far / b) else 0
  bent <- if (space$kind == "hyperbolic") (length + 20) * 2^-50 * cosh(space$reach)^2 / b else 0
  unit <- KERNEL_UNIT + bent
  slack <- (points + 1) * unit
  c(space, list(bandwidth = b, slack = slack, apart = 2 * (1 + slack) - 2 * max(0, least - unit)))
}

# The same for squares of distances, in units of the bandwidth's, beyond which they are cut. `whole`: none may be, since
# features are made of them; the largest distance of two records is the bandwidth then.
squares_kernel <- function(space, bandwidth, points, whole) {
  if (whole && !is.null(bandwidth)) abort_riemdp("argument", "statistic = \"anova\" takes no `bandwidth`.")
  if (is.null(bandwidth)) {
    if (!is.finite(space$diameter)) abort_no_default(if (whole) "radius" else "bandwidth")
    bandwidth <- space$diameter * (1 + 1e-6)
  }
  b <- check_number(bandwidth, "bandwidth", least = 1e-3, most = 1e100)
  slack <- (points + 1) * KERNEL_UNIT
  space$kind <- "squares"
  c(space, list(bandwidth = b, slack = slack, apart = 1 + 2 * slack))
}

# n x m: of each record the vector that the kernel is a function of, from that record alone
test_vectors <- function(M, x, space, center) {
  if (!is.null(space$flat)) {
    v <- coords_within(space$flat, x, center, space$reach)
    if (space$kind != "hyperbolic") return(v)
    far <- sqrt(rowSums(v^2))
    return(v * ifelse(far > 0, sinh(far) / far, 1))
  }
  if (!is.null(space$reach)) x <- .Call(riemdp_to_ball, M, x, center, space$reach)
  rows <- if (inherits(x, "riemdp_points")) as.matrix(x) else storage_rows(x, M)
  leaf <- part_leaves(M)[[1]]$M
  p <- leaf$param
  switch(leaf$name,
    sphere = rows / sqrt(rowSums(rows^2)),
    spd_bures = packed(p[1], function(i, j) rows[, i + (j - 1) * p[1]]),
    grassmann = packed(p[1], function(i, j) rowSums(rows[, i + p[1] * (seq_len(p[2]) - 1), drop = FALSE] *
                                                     rows[, j + p[1] * (seq_len(p[2]) - 1), drop = FALSE])),
    kendall = shape_vectors(matrix(complex(real = rows[, c(TRUE, FALSE)], imaginary = rows[, c(FALSE, TRUE)]),
                                   nrow(rows))),
    rows
  )
}

# Coordinates of logarithms, of records moved to a ball, a row each. Total: what has none counts as the centre.
coords_within <- function(M, x, center, radius) {
  v <- tangent_rows(M, x, list(center = center, ball = list(radius = radius)), center)
  v[!is.finite(v)] <- 0
  v * pmin(1, radius * (1 - 2^-40) / pmax(sqrt(rowSums(v^2)), 1e-300))
}

# a symmetric matrix's entries, so that lengths are those of the matrix
packed <- function(k, entry) {
  at <- which(upper.tri(diag(k), TRUE), arr.ind = TRUE)
  do.call(cbind, lapply(seq_len(nrow(at)), function(r) {
    entry(at[r, 1], at[r, 2]) * if (at[r, 1] == at[r, 2]) 1 else sqrt(2)
  }))
}

# of a shape z the matrix z z^*
shape_vectors <- function(z) {
  z <- z / sqrt(rowSums(Mod(z)^2))
  k <- ncol(z)
  cbind(packed(k, function(i, j) Re(z[, i] * Conj(z[, j]))), packed(k, function(i, j) Im(z[, i] * Conj(z[, j]))))
}

# Records that are no points, replaced one by one; in the shape in which they came. What is done is the same where there
# are none.
with_center <- function(M, x, center) {
  bad <- !mf_is_point(M, x)
  point <- mf_points(center, M)
  if (inherits(x, "riemdp_points")) {
    x[bad] <- point
  } else if (length(dim(x)) == 3) {
    planar <- is.complex(center) && mf_facts(M)$cols == 0
    x[, , bad] <- if (planar) c(Re(center), Im(center)) else as.vector(center)
  } else if (is.complex(x) && is.matrix(x)) {
    x[, bad] <- center
  } else if (is.matrix(x) && length(bad) == nrow(x)) {
    x[bad, ] <- rep(as.vector(center), each = sum(bad))
  } else if (length(bad) == length(x)) {
    x[bad] <- center
  } else {
    x[] <- center # one record
  }
  x
}

# ---- statistics ----------------------------------------------------------------------------------------------------
# The first number is the data's, the others are those of lots that are public. They are rounded to whole multiples of
# STATISTIC_STEP, so that differences are exact.

STATISTIC_STEP <- 2^-40
# what rounding does to a statistic of a kernel, at most: the root of what it does to its square
STATISTIC_ERROR <- 2^-21

on_steps <- function(t) floor(t / STATISTIC_STEP) * STATISTIC_STEP

# Of groups that lots make anew. "kernel": how far the projections of groups lie apart, the length of the between-groups
# part of all features, over the root of n. "variance": how far the groups' mean squared distances within lie apart.
# "anova": the root of both squares.
group_statistics <- function(z, group, kernel, draws, statistic = "kernel") {
  n <- length(group)
  lots <- cbind(group, matrix(group[orders_by_lot(n, draws)], n)) - 1L
  sums <- .Call(riemdp_kernel_sums_nonprivate, t(z), NULL, kernel$kind, kernel$bandwidth, lots)
  size <- tabulate(group)
  square <- if (statistic != "variance") pmax(0, between_squares(sums, size, kernel)) else 0
  if (statistic != "kernel") square <- square + spread_squares(KERNEL_UNIT * sums$within / size^2, size)
  on_steps(sqrt(square))
}

# of squared distances the kernel is minus a half
between_squares <- function(sums, size, kernel) {
  n <- sum(size)
  square <- if (kernel$kind == "squares") {
    KERNEL_UNIT * (sums$all / n - colSums(sums$within / size))
  } else {
    colSums((size + 2 * KERNEL_UNIT * sums$within) / size) - (n + 2 * KERNEL_UNIT * sums$all) / n
  }
  (square + (length(size) - 1) * kernel$slack) / n
}

# the weighted variance of a number of each group, a column for each lot
spread_squares <- function(value, size) {
  share <- size / sum(size)
  colSums(share * (value - rep(colSums(share * value), each = length(size)))^2)
}

# how far the groups' mean squared distances from a public point lie apart
distance_statistics <- function(z, at, group, kernel, draws) {
  n <- length(group)
  s <- round(pmin(1, rowSums((z - rep(at, each = n))^2) / kernel$bandwidth^2) / KERNEL_UNIT)
  size <- tabulate(group)
  sums <- rowsum(cbind(s, matrix(s[orders_by_lot(n, draws)], n)), group)
  on_steps(sqrt(spread_squares(KERNEL_UNIT * unname(sums) / size, size)))
}

# The length of the cross-covariance of two records' features; lots permute those of one. u: a column for each record
product_statistics <- function(u, z, predictors, kernel, draws) {
  n <- nrow(z)
  orders <- cbind(seq_len(n), orders_by_lot(n, draws))
  p <- .Call(riemdp_kernel_products_nonprivate, u, t(z), list(predictors$kind, kernel$kind),
             list(predictors$bandwidth, kernel$bandwidth), orders)
  all <- n + 2 * KERNEL_UNIT * p$all
  slack <- c(predictors$slack, kernel$slack)
  rows <- n + 2 * KERNEL_UNIT * sum(p$all) + KERNEL_UNIT^2 * p$rows
  square <- n + 2 * KERNEL_UNIT^2 * p$pairs - 2 * rows / n + all[1] / n * all[2] / n +
    slack[1] * (n - all[2] / n) + slack[2] * (n - all[1] / n) + slack[1] * slack[2] * (n - 1)
  on_steps(sqrt(pmax(0, square)) / n)
}

# the length of the mean of differences of features, each with its sign
pair_statistics <- function(x, y, kernel, draws) {
  n <- nrow(x)
  lots <- cbind(0L, sides_by_lot(n, draws))
  sums <- .Call(riemdp_kernel_sums_nonprivate, t(x), t(y), kernel$kind, kernel$bandwidth, lots)
  square <- KERNEL_UNIT * (sums$diagonal + 2 * (2 * colSums(sums$within) - sums$all)) + 2 * n * kernel$slack
  on_steps(sqrt(pmax(0, square)) / n)
}

# a column for each lot: the numbers from 1 to n, each order as likely as any other
orders_by_lot <- function(n, draws) {
  block <- max(1, floor(1e6 / n))
  do.call(cbind, lapply(split(seq_len(draws), ceiling(seq_len(draws) / block)), function(lots) {
    z <- .Call(riemdp_noise, euclidean(1), 0, n * length(lots), "wrapped_gaussian", 1, in_simulation())
    matrix(apply(matrix(z, n), 2, order), n)
  }))
}

# 0 or 1, for each record of each lot, as by the toss of a coin
sides_by_lot <- function(n, draws) {
  matrix(as.integer(.Call(riemdp_noise, euclidean(1), 0, n * draws, "wrapped_gaussian", 1, in_simulation()) > 0), n)
}

# the length of the mean of vectors, each with its sign
sign_statistics <- function(v, draws) {
  n <- nrow(v)
  signs <- cbind(1, 1 - 2 * sides_by_lot(n, draws))
  on_steps(sqrt(rowSums((crossprod(signs, v) / n)^2)))
}

# the length of the mean direction; the others are of directions that are drawn from the uniform law
uniform_statistics <- function(z, draws) {
  length_of <- function(z) sqrt(sum(colMeans(z)^2))
  on_steps(c(length_of(z), vapply(seq_len(draws), function(b) length_of(directions_by_lot(nrow(z), ncol(z))), 0)))
}

directions_by_lot <- function(n, d) {
  z <- matrix(.Call(riemdp_noise, euclidean(1), 0, n * d, "wrapped_gaussian", 1, in_simulation()), n)
  z / sqrt(rowSums(z^2))
}

# Statistics of n records as sums, over the public number of the most that there may be: not divided by n, which is
# private (section 11)
counted_statistics <- function(statistics, n, most) on_steps(statistics * (n / most))

# What one record moves every statistic by, with what rounding does to both (proofs/testing.md, sections 1, 2, 6, 8, 9
# and 11)
test_sensitivity <- function(ask, d) {
  rounded <- 2 * (STATISTIC_ERROR + STATISTIC_STEP)
  n <- if (ask$private) ask$most else ask$n
  sums <- 2 * ((n + d + 8) * sqrt(d) * 2^-51 + 2 * STATISTIC_STEP)
  if (ask$private && ask$null == "independent") {
    return(outwards(2 * sqrt(ask$kernel$apart * ask$predictors$apart) / n + rounded))
  }
  if (ask$private && ask$null == "uniform") return(outwards(1 / n + sums))
  outwards(switch(ask$null,
    equal = groups_sensitivity(ask) + rounded,
    paired = 2 * sqrt(ask$kernel$apart) / n + rounded,
    independent = 2 * (n - 1) / n^2 * sqrt(ask$predictors$apart * ask$kernel$apart) + rounded,
    symmetric = (2 / n + sums) * (1 + 1e-9),
    2 / n + sums
  ))
}

groups_sensitivity <- function(ask) {
  n <- ask$n
  m <- ask$sizes
  between <- sqrt((1 / min(m) - 1 / n) * ask$kernel$apart / n)
  if (ask$statistic == "kernel") return(between)
  if (!is.null(ask$at)) return(sqrt((1 / min(m) - 1 / n) / n))
  spread <- max(sqrt(m * (n - m)) * (m - 1) / (n * m^2))
  if (ask$statistic == "anova") sqrt(between^2 + spread^2) else spread
}
