# What residual scales make of each record, alone: cut squares, what a loss cuts, predictors' moments; whole numbers, so
# that sums are exact. Proof: inst/proofs/inference.md, section 7.

# Of each record alone: residuals over the bound, a row for each sum, predictors on [-1, 1], and where the fit's loss is
# asked for what it cuts; all 0 where something is missing
residual_numbers <- function(values, ask) {
  fit <- ask$fit
  if (ask$curve) return(curve_residuals(values$x, values$y, fit, ask$bound, ask$loss))
  records <- linear_records(fit$columns, fit$bounds, values, TRUE, fit$details$reach %||% REACH)
  line_residuals(records$x, records$y, fit$scaled_coefficients, ask$bound, fit$details$rule$window)
}

# predictors beyond a fit's window are moved to its ends
line_residuals <- function(x, y, b, bound, window = NULL) {
  off <- fitted_away(x, y, b) / bound
  off[, x[1, ] == 0] <- 0
  if (!is.null(window)) x[] <- clamp(window_features(x, window), -1, 1)
  list(off = off, u = x[-1, , drop = FALSE])
}

curve_residuals <- function(x, y, fit, bound, loss = NULL) {
  x[!is.finite(x)] <- 0
  x[] <- pmin(fit$columns$half, pmax(-fit$columns$half, x))
  off <- matrix(.Call(riemdp_scores_nonprivate, fit$manifold, y, curve_anyway(fit, x)), 1)
  u <- x / fit$columns$half
  u[] <- pmin(1, pmax(-1, u))
  list(off = off / (bound * fit$residual_bound), u = u, cut = if (!is.null(loss)) cut_numbers(off, loss))
}

# squares over that of the bound, from 0 to 1
cut_squares <- function(off, q) {
  share <- pmin(1, abs(off))^2
  share[is.nan(share)] <- 1 # where a line goes beyond doubles
  matrix(share, q)
}

# What a loss makes of residuals of these lengths, from 0 to 1: the square of psi over its most, and the mean slope of
# psi's q coordinates that is missing to 1
cut_numbers <- function(r, loss) {
  at <- loss_at(loss$g, loss$tau, ifelse(is.nan(r), Inf, as.vector(r)))
  share <- rbind((at$psi / loss$tau)^2, 1 - (at$slope + (loss$q - 1) * at$across) / loss$q)
  share[is.nan(share)] <- 1
  share[] <- clamp(share, 0, 1)
  share
}

# Whole numbers for each response, summed: each residual by its own row alone
residual_sums <- function(values, ask, numbers = residual_numbers(values, ask)) {
  rowSums(ceiling(2^ask$bits * cut_squares(numbers$off, ask$q)))
}

# predictors, then their products (lower triangle), a row each
predictor_rows <- function(u) {
  at <- which(lower.tri(diag(nrow(u)), TRUE), arr.ind = TRUE)
  rbind(u, u[at[, 1], , drop = FALSE] * u[at[, 2], , drop = FALSE])
}

# their sums, in whole numbers
predictor_sums <- function(u, bits) rowSums(round(2^bits * predictor_rows(u)))

# What some records add to the sums. Of units' rows their shares of it: sums of doubles without rounding, so that a
# unit in several chunks counts no more than one.
residual_part <- function(numbers, ask, share = NULL) {
  moments <- !is.null(ask$moment_bits)
  cuts <- if (!is.null(ask$cut_bits)) 2^ask$cut_bits * numbers$cut
  if (is.null(share)) {
    return(c(residual_sums(NULL, ask, numbers), if (!is.null(cuts)) rowSums(round(cuts)),
             if (moments) predictor_sums(numbers$u, ask$moment_bits)))
  }
  rows <- rbind(2^ask$bits * cut_squares(numbers$off, ask$q), cuts,
                if (moments) 2^ask$moment_bits * predictor_rows(numbers$u))
  exact_rows(t(rows * rep(as.vector(share), each = nrow(rows))))
}

# the sums of all parts, in whole numbers
residual_total <- function(parts, ask, shared) {
  if (!shared) return(Reduce(`+`, parts))
  sums <- exact_total(parts)
  ifelse(sum_kinds(ask) == "squares", ceiling(sums), round(sums))
}

# what each of the sums is, in their order
sum_kinds <- function(ask) {
  rep(c("squares", "cuts", "moments"), c(ask$q, if (is.null(ask$cut_bits)) 0 else 2,
                                         if (is.null(ask$moment_bits)) 0 else moments_count(ask$d)))
}

# what a row, or a unit, moves a sum of such whole numbers by, rounding counted in
whole_most <- function(bits, ask) 2^bits + if (is.null(ask$unit)) 0 else 2

# what residual scales ask of the records of a chunk
RESIDUAL_KERNELS <- list(
  line_residuals = function(q, x) {
    r <- linear_chunk(q, x)
    residual_part(line_residuals(r$x, r$y, q$b, q$residual$bound, q$residual$window), q$residual, shares_of(r$x))
  },
  curve_residuals = function(q, x) {
    d <- chunk_private(q, x)
    ask <- q$residual
    residual_part(curve_residuals(matrix(d$x, nrow(d$x)), d$y, q$fit, ask$bound, ask$loss), ask, shares_of(d$x))
  }
)
