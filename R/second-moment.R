# Second-moment matrices of rows of bounded length as sums of whole numbers, and the noise that makes them private.
# Proofs: inst/proofs/subspaces.md.

# ---- sums ------------------------------------------------------------------------------------------------------------

# Rows are rounded to whole numbers whose Euclidean length is at most 2^bits: products and sums of n of them are whole
# numbers below 2^50, exact in doubles in whatever order they are added. `inside` is what the bound becomes, so that
# rounding keeps the length. Of units the means over their rows are rounded to multiples of 2^-fine, by which a unit
# moves sums by `loose` more (section 8). n: NA where the number is private.
moment_grid <- function(n, d, units = FALSE) {
  most <- if (!is.na(n)) n else if (units) UNIT_ROWS else SIZE_MOST
  room <- 50 - ceiling(log2(max(2, most)))
  bits <- if (units) 12 else min(19, floor(room / 2))
  inside <- 2^bits - sqrt(d) / 2 - 1
  if (!(inside >= 0.9 * 2^bits)) {
    abort_riemdp("unsupported", paste("so many records of so many columns don't leave room for whole numbers:",
                                      "mechanism = \"rgd\" would do."))
  }
  fine <- if (units) min(30, room) else 2 * bits
  list(bits = bits, inside = inside, stretch = 2^bits / inside, fine = fine,
       loose = if (units) outwards(1.01 * d^1.5 * 2^-fine) else 0)
}

# so many rows of units are added up exactly
UNIT_ROWS <- 2^26

# rows longer than `bound` shortened to it, one by one
shorten_rows <- function(data, bound) {
  length <- sqrt(rowSums(data^2))
  data * ifelse(length > bound, bound / length, 1)
}

# each row by itself; one with a number that is missing or not finite counts as 0
moment_rows <- function(x, bound, grid) {
  k <- round(shorten_rows(x, bound) / bound * grid$inside)
  most <- 2^grid$bits
  k[!is.finite(k) | abs(k) > most] <- NaN
  good <- rowSums(k^2) <= most^2
  k[!(good %in% TRUE), ] <- 0
  dimnames(k) <- NULL
  k
}

# how far, at most, rounding moves a row
moment_rounding <- function(d, bound, grid) bound * sqrt(d) / (2 * grid$inside)

# sum of u u', u the rows over 2^bits, of length 1 at most
moment_sum <- function(rows, grid) crossprod(rows) / 4^grid$bits

# the sum over units of the mean of uu' over each one's rows
unit_moment_sum <- function(rows, units, grid) {
  d <- ncol(rows)
  mine <- which(!is.na(units$of))
  if (length(mine) > UNIT_ROWS) abort_riemdp("unsupported", "`unit` is for at most 2^26 records.")
  of <- units$of[mine]
  rows <- rows[mine, , drop = FALSE]
  count <- tabulate(of, units$count)
  count <- count[count > 0]
  S <- matrix(0, d, d)
  for (j in if (length(mine)) seq_len(d)) {
    sums <- rowsum(rows[, j] * rows[, j:d, drop = FALSE], of) # in the order of the units that have rows
    S[j, j:d] <- colSums(round(sums / count * 2^(grid$fine - 2 * grid$bits)))
  }
  S[lower.tri(S)] <- t(S)[lower.tri(S)]
  S / 2^grid$fine
}

# a public length, whose square doubles hold
check_length <- function(x, name) check_number(x, name, least = 2^-100, most = 2^100)

# what stands for the mean second moment, in the records' units
moment_value <- function(sum, n, bound, grid) sum / n * (bound * grid$stretch)^2

# ---- noise on a lattice ----------------------------------------------------------------------------------------------

# A step is 2^-fine of the square of the bound; where one record moves the sum by `moved` in the Frobenius norm it moves
# the entries in steps by at most this (section 2)
MOMENT_FINE <- 24

lattice_shift <- function(fine, d, moved) outwards(moved * 2^fine + 2 * sqrt(symmetric_count(d)))

# What one record, or unit, moves the sum by: in the Frobenius norm; as two positive matrices, their traces together;
# along directions, half of the range. `alone`: it is there or not, else replaced.
moment_moves <- function(grid, alone) {
  c(frobenius = if (alone) 1 else sqrt(2), trace = if (alone) 1 else 2, along = if (alone) 0.5 else 1) + grid$loose
}

# Discrete normals or the l2 law: fine enough that rounding costs little, coarse enough for the sampler's integers
lattice_moment <- function(law, d, grid, moved, epsilon, delta) {
  wide <- moved * if (law == "normal") gaussian_scale(FLAT_SPACE, 1, epsilon, delta) else 1 / epsilon
  fine <- min(MOMENT_FINE, grid$fine, floor(29 - log2(wide)))
  shift <- if (fine >= 1) lattice_shift(fine, d, moved)
  if (is.null(shift) || !(shift <= 1.1 * moved * 2^fine)) {
    abort_riemdp("unsupported", paste("the noise asked for is too large beside the lattice's steps in so many",
                                      "dimensions: a larger `epsilon` would do."))
  }
  noise <- if (law == "normal") {
    normal_lattice_scale(shift, list(epsilon = epsilon, delta = delta, options = list()), 1)
  } else {
    pure_lattice_scale("l2", shift, symmetric_count(d), list(epsilon = epsilon), 1)
  }
  list(law = law, fine = fine, shift = shift, ratio = noise$ratio, scale = noise$scale, guarantee = noise$guarantee)
}

# the sum with its noise, in units of the square of the bound
noisy_moment_lattice <- function(sum, plan) {
  steps <- round(symmetric_entries(sum) * 2^plan$fine)
  symmetric_matrix(noisy_steps(steps, plan, "subspaces.md, 2"), ncol(sum))
}

# ---- differences of Wishart matrices ---------------------------------------------------------------------------------

# standard normal numbers, paid for before
normal_numbers <- function(rows, columns, simulated) {
  z <- .Call(riemdp_tangent_noise, euclidean(columns), numeric(columns), rows, 1, "gaussian", "isometric", 1000L,
             simulated)
  matrix(z, rows)
}

# W - W', both with density exp(-tr W/scale) on positive semidefinite matrices: one record moves W by a matrix and W' by
# another, whose traces add up to `moved` at most (section 3)
noisy_moment_wishart <- function(sum, scale, moved) {
  d <- ncol(sum)
  simulated <- pay(price_wishart(moved, scale, "subspaces.md, 3"))
  one <- crossprod(normal_numbers(d + 1, d, simulated))
  two <- crossprod(normal_numbers(d + 1, d, simulated))
  sum + scale / 2 * (one - two)
}

# ---- a first look ----------------------------------------------------------------------------------------------------
# By how much the first q eigenvalues exceed the mean of the others, all q together: a whole number of 2^-20 with
# two-sided geometric noise (section 7)

LOOK_BITS <- 20

look_moves <- function(d, q, grid, alone) {
  moved <- if (alone) max(1, q / (d - q)) else d / (d - q)
  ceiling(2^LOOK_BITS * (moved + (d + q) / (d - q) * grid$loose) * (1 + 1e-9)) + 2
}

# its mean, over the q of them, and the scale of the noise
look_at <- function(sum, q, moved, epsilon) {
  d <- ncol(sum)
  e <- eigen(sum, symmetric = TRUE, only.values = TRUE)$values
  over <- (d * sum(e[seq_len(q)]) - q * sum(diag(sum))) / (d - q)
  noisy <- noisy_squares(round(2^LOOK_BITS * over), moved, epsilon, "subspaces.md, 7")
  list(gap = noisy$sum / 2^LOOK_BITS / q, scale = noisy$scale / 2^LOOK_BITS / q)
}

# ---- directions by the exponential mechanism -------------------------------------------------------------------------

# A unit vector with density proportional to exp(v'Sv/scale), exactly, by rejection from the angular central Gaussian
# law (Kent, Ganeiber and Mardia 2018; section 4). The number of trials depends on the records. v'Sv moves by `moved`,
# up or down, but for a constant.
bingham_direction <- function(S, scale, moved) {
  simulated <- pay(price_normalised(moved, scale, "subspaces.md, 4"))
  e <- eigen((S + t(S)) / 2, symmetric = TRUE)
  fall <- (e$values[1] - e$values) / scale
  e$vectors %*% bingham_coordinates(fall, simulated)
}

# the same with density exp(-sum fall v^2), the least of `fall` being 0
bingham_coordinates <- function(fall, simulated) {
  d <- length(fall)
  b <- bingham_envelope(fall)
  root <- sqrt(1 + 2 * fall / b)
  tries <- 64
  repeat {
    z <- normal_numbers(tries, d + 2, simulated)
    v <- t(z[, seq_len(d), drop = FALSE]) / root
    v <- t(v) / sqrt(colSums(v^2))
    lost <- as.vector(v^2 %*% fall)
    keep <- (d - b) / 2 - lost + d / 2 * (log1p(2 * lost / b) - log(d / b))
    kept <- which(rowSums(z[, d + 1:2, drop = FALSE]^2) / 2 >= -keep) # half that sum is a standard exponential
    if (length(kept)) return(v[kept[1], ])
  }
}

# where the bound of the density's ratio is best: the root of sum 1/(b + 2 fall) = 1
bingham_envelope <- function(fall) {
  ends <- c(0, length(fall))
  for (i in 1:200) {
    b <- mean(ends)
    ends[1 + (sum(1 / (b + 2 * fall)) < 1)] <- b
  }
  max(ends[1], .Machine$double.xmin)
}

# Directions one after the other, each in the orthogonal complement of those before, which are public then
bingham_directions <- function(S, q, scale, moved) {
  d <- ncol(S)
  basis <- diag(d)
  found <- matrix(0, d, q)
  for (j in seq_len(q)) {
    v <- as.vector(bingham_direction(S, scale, moved))
    found[, j] <- basis %*% v
    if (j < q) {
      u <- v
      u[1] <- u[1] + if (v[1] < 0) -1 else 1
      u <- u * sqrt(2 / sum(u^2)) # 1 - uu' is the reflection that sends v to the first axis
      S <- (S - tcrossprod(u, S %*% u))
      S <- (S - tcrossprod(S %*% u, u))[-1, -1, drop = FALSE]
      basis <- (basis - tcrossprod(basis %*% u, u))[, -1, drop = FALSE]
    }
  }
  found
}
