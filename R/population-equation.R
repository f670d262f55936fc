# The population behind a released line or curve, by turning the release's equation round (inst/proofs/inference.md,
# section 8): what was released solves an equation of sums over records, known numbers and noise of a known law. For
# drawn noise, a drawn error of sampling and drawn scales the population that fits is solved for; such draws make
# intervals (generalised fiducial inference: Hannig, Iyer, Lai and Lee 2016). All of it is a function of releases and
# public numbers.

# how many records stand for all in an equation, and the least share of n that a variance of predictors is drawn to be
EQUATION_NODES <- 300
LEAST_SPREAD <- 0.003

# ---- what is drawn ---------------------------------------------------------------------------------------------------

# `count` draws from a Laplace law of this scale, given that they lie between two numbers
laplace_between <- function(count, scale, lower, upper) {
  ends <- c(lower, upper) / scale
  below <- function(z) ifelse(z < 0, exp(z) / 2, 1 - exp(-z) / 2)
  # where both ends lie on one side, of that side's own law: no digits are lost
  if (ends[1] >= 0) return(scale * (ends[1] - log1p(stats::runif(count) * expm1(ends[1] - ends[2]))))
  if (ends[2] <= 0) return(-laplace_between(count, scale, -upper, -lower))
  u <- stats::runif(count, below(ends[1]), below(ends[2]))
  scale * ifelse(u < 0.5, log(2 * u), -log(2 * (1 - u)))
}

# the same of a normal law
normal_between <- function(count, sd, lower, upper) {
  if (lower > 0) return(-normal_between(count, sd, -upper, -lower))
  ends <- stats::pnorm(c(lower, upper), sd = sd, log.p = TRUE)
  u <- stats::runif(count)
  stats::qnorm(ends[2] + log(u + (1 - u) * exp(ends[1] - ends[2])), sd = sd, log.p = TRUE)
}

# How many records there are in each of `count` draws: list(all, taken), of which the fit took the latter. A private
# number is the released one less a draw of its noise that leaves `least` at least.
drawn_sizes <- function(r, count, least) {
  if (!is.na(r$n)) return(list(all = rep(r$n, count), taken = rep(r$n, count)))
  s <- r$size
  all <- pmax(least, s$count - laplace_between(count, s$scale, -Inf, s$count - least))
  list(all = all, taken = pmin(all, s$points))
}

# Variances of errors: the released sums less noise that leaves them between 0 and the most they can be, over
# chi-squared numbers. A row of each draw, a column for each sum; `n` and `left` may be numbers for each draw.
drawn_variances <- function(squares, n, most, left, count) {
  between <- if (identical(squares$law, "normal")) normal_between else laplace_between
  vapply(squares$sum, function(s) {
    pmax(drawn_sums(s, squares$scale, n * most, count, between) / stats::rchisq(count, left), 1e-14 * most)
  }, numeric(count))
}

# A released sum less draws of its noise that leave it between 0 and `most`, one number or one for each draw
drawn_sums <- function(sum, scale, most, count = length(most), between = laplace_between) {
  if (length(most) == 1) return(sum - between(count, scale, sum - most, sum))
  sum - vapply(most, function(m) between(1, scale, sum - m, sum), 0)
}

# Normal errors in the place of those that a loss has cut, one a draw: their standard deviation `sd` in a coordinate, so
# that psi has the released mean slope, and `gain`, by how much the root mean square of psi was larger. Both numbers lie
# between 0 and 1, and a record's square is at least what its slope misses to 1. `sizes` of the draws, `left` degrees of
# freedom.
drawn_cuts <- function(cuts, loss, sizes, left) {
  square <- flat <- 0 * sizes
  open <- seq_along(sizes)
  for (i in 1:20) {
    square[open] <- drawn_sums(cuts$sum[1], cuts$scale, sizes[open])
    flat[open] <- drawn_sums(cuts$sum[2], cuts$scale, sizes[open])
    open <- which(flat > square)
    if (!length(open)) break
  }
  table <- normal_cuts(loss)
  at <- stats::approx(table$flat, seq_along(table$flat), pmin(flat, square) / sizes, rule = 2, ties = "ordered")$y
  one <- function(column) stats::approx(seq_along(column), column, at)$y
  mean <- square * loss$q / stats::rchisq(length(sizes), left)
  list(sd = exp(one(log(table$sd))), gain = sqrt(mean / one(table$square)), table = table)
}

# both numbers of a loss for normal errors of rising standard deviation
normal_cuts <- function(loss) {
  sd <- loss$tau * exp(seq(log(0.02), log(300), length.out = 200))
  lengths <- sqrt(stats::qchisq((seq_len(400) - 0.5) / 400, loss$q))
  means <- vapply(sd, function(s) rowMeans(cut_numbers(s * lengths, loss)), c(0, 0))
  data.frame(sd = sd, square = means[1, ], flat = cummax(means[2, ]))
}

# for draws of sizes; those of a public number all at once
sized_variances <- function(residual, sizes, most, left, count) {
  n <- if (all(sizes == sizes[1])) sizes[1] else sizes
  matrix(drawn_variances(residual$squares, n, most, left(n), count), count)
}

# Mean and covariance of predictors on [-1, 1]: released sums less noise that leaves what predictors can have. `noise`:
# function() of one draw. Mean squares beyond 1 are moved there, which widens intervals: those of -1 and 1 are 1, and
# half of all draws would be refused for each such predictor. `short` where no draw did in several tries and the nearest
# that can be stands for it.
drawn_moments <- function(xx, n, noise) {
  d <- nrow(xx) - 1
  if (d == 0) return(list(mean = numeric(), cov = matrix(0, 0, 0), short = FALSE))
  for (i in 1:20) {
    s <- (xx - noise())[-1, , drop = FALSE] / n
    mean <- s[, 1]
    square <- s[, -1, drop = FALSE]
    diag(square) <- pmin(diag(square), 1)
    cov <- square - tcrossprod(mean)
    if (least_eigenvalue(cov) >= LEAST_SPREAD) { # so no mean is beyond 1
      return(list(mean = mean, cov = cov, short = FALSE))
    }
  }
  e <- eigen(cov, symmetric = TRUE)
  list(mean = pmin(pmax(mean, -1), 1), short = TRUE,
       cov = e$vectors %*% (pmin(pmax(e$values, LEAST_SPREAD), 1) * t(e$vectors)))
}

least_eigenvalue <- function(a) if (length(a) == 1) a[1] else min(eigen(a, TRUE, only.values = TRUE)$values)

# (1, u) for `count` records whose u have these moments: d + 1 rows. One predictor stays in its range.
drawn_predictors <- function(moments, count) {
  d <- length(moments$mean)
  if (d == 0) return(matrix(1, 1, count))
  if (d == 1) {
    m <- (1 + clamp(moments$mean, -0.999, 0.999)) / 2
    size <- max(m * (1 - m) / (moments$cov[1] / 4) - 1, 1e-3)
    return(rbind(1, 2 * stats::rbeta(count, m * size, (1 - m) * size) - 1))
  }
  z <- matrix(stats::runif(d * count, -sqrt(3), sqrt(3)), d)
  rbind(1, moments$mean + t(chol(moments$cov)) %*% z)
}

# ---- the equation ----------------------------------------------------------------------------------------------------

# What a release solves, as lines and curves have it: a list of
#   step   B, q x p: what was released, from where the last fit started
#   loss   as kernels take it; psi of it cuts residuals
#   pull   what B pulls with: the ridge times it, or it over the step size; q x p
#   noise  function() of one draw of the pull's noise, q x p
#   shift  where there is one, function(noise): what c is moved by once it is solved for
#   n      how many records
#   turn   -1 where the equation is for the population itself and not for what is left of it after B
#   gain   where there is one, by how much the error of sampling is larger than that of normal errors
# and of features(u), those of records with predictors u (1 first) on [-1, 1]: p x K, or q x p x K, with shares where
# records count less.

# What chance has in one equation: features of drawn records, which come in pairs of one error and its opposite, so that
# errors add none of their own; errors of standard deviation 1; weights of the error of sampling; the pull's noise
equation_drawn <- function(eq, moments, parts) {
  count <- EQUATION_NODES / 2
  q <- nrow(eq$step)
  u <- drawn_predictors(moments, count)
  e <- matrix(stats::rnorm(q * count), q)
  features <- eq$features(cbind(u, u))
  weight <- stats::rnorm(2 * count) * (shares_of(features) %||% 1) * (eq$gain %||% 1)
  list(features = features, errors = cbind(e, -e), weight = weight,
       noise = if ("privacy" %in% parts) eq$noise() else 0 * eq$step)
}

# errors whose variances are `v` in one record's numbers, and the error of sampling of sum F'psi(errors), q x p
sampled_at <- function(eq, drawn, v) {
  errors <- drawn$errors * sqrt(v)
  sum <- summed_features(drawn$features, psi_of(eq$loss, errors), drawn$weight)
  list(errors = errors, sum = sqrt(ncol(errors) / eq$n) * sum)
}

psi_of <- function(loss, errors) {
  errors * rep(loss_at(loss$g, loss$tau, sqrt(colSums(errors^2)))$across, each = nrow(errors))
}

# sum F'(weight psi) over records, q x p; psi q x K
summed_features <- function(features, psi, weight = 1) {
  q <- nrow(psi)
  each <- rep(weight, each = q) * psi
  sums <- vapply(seq_len(dim(features)[length(dim(features)) - 1]),
                 function(j) rowSums(one_feature(features, j, q) * each), numeric(q))
  matrix(sums, q)
}

# c, q x p: how far the release is from the population that goes with a draw of noise, of the errors' variances `v` (of
# one record's numbers, in units of the equation), and of the predictors' moments. w sum F'psi(e - F c) + the error of
# sampling = pull + noise, over drawn records.
equation_root <- function(eq, v, moments, parts, limit = 1e3) {
  drawn <- equation_drawn(eq, moments, parts)
  root_at(eq, drawn, sampled_at(eq, drawn, v), parts, limit)
}

root_at <- function(eq, drawn, sampled, parts, limit) {
  pull <- if ("privacy" %in% parts) eq$pull else 0 * eq$step
  h <- (pull + drawn$noise) * ncol(sampled$errors) / eq$n
  if ("sampling" %in% parts) h <- h - sampled$sum
  c <- solved_equation(drawn$features, sampled$errors, h, eq$loss, limit)
  if (!is.null(eq$shift)) c <- c + eq$shift(drawn$noise)
  if (isTRUE(eq$turn < 0)) c <- eq$step * ("privacy" %in% parts) + c
  c
}

# the j-th feature of every record, a row for each response
one_feature <- function(features, j, q) {
  if (length(dim(features)) == 3) matrix(features[, j, ], q) else rep(features[j, ], each = q)
}

# sum F'psi(e - F c) = h + ridge c; no farther than `limit`, where no c does it
solved_equation <- function(features, errors, h, loss, limit, ridge = 0) {
  count <- ncol(errors)
  reach <- ncol(h) * max(1, features^2)
  if (any(abs(h) > count * loss$tau * sqrt(reach))) return(0 * h + limit)
  ridge <- 0 * h + ridge + 1e-4 * count
  c <- .Call(riemdp_perturbed_fit_nonprivate, features, errors, ridge, 0 * ridge, h, loss,
             newton_solver(1e-7 * loss$tau * count, reach))[[1]]
  pmin(pmax(c, -limit), limit)
}

# noise as objective perturbation draws it, from the generator of a simulation
perturbation_draw <- function(norm, p, q, rate) {
  matrix(.Call(riemdp_perturbation_noise, p, q, 1, norm, rate, TRUE), q)
}

# ---- when there is none ----------------------------------------------------------------------------------------------

# the share of draws without an answer beyond which there is no interval
LOST_MOST <- 0.02

abort_blurred <- function(sd, d, n) {
  why <- blurred_why(sd, d, n)
  if (!is.null(why)) abort_riemdp("unsupported", why)
}

abort_lost <- function() {
  abort_riemdp("unsupported", paste("no interval about the population: beside its noise, what was released doesn't",
                                    "tell how the predictors vary, or how large the residuals are. More `epsilon`",
                                    "would do where they vary."))
}

# residuals most of which are cut
CUT_MOST <- 0.25
abort_cut <- function() {
  abort_riemdp("unsupported", paste("no interval about the population: the released residuals are not much below",
                                    "`bound`, so many were cut. Release their scale with a larger `bound`."))
}
