# Which noise for principal directions: scales, and errors expected at a public reference. Proofs:
# inst/proofs/subspaces.md.

COMPONENT_MECHANISMS <- c("gauss", "laplace", "wishart", "bingham")

# what each does, in words
COMPONENT_WORDS <- c(
  gauss = "discrete normal noise on the second-moment matrix, by integer arithmetic",
  laplace = "noise with density exp(-|H|/scale), |H| the Frobenius norm, on the second-moment matrix, in whole numbers",
  wishart = "the difference of two Wishart matrices, on the second-moment matrix",
  bingham = "directions drawn by the exponential mechanism, one after the other; no matrix is released"
)

releases_matrix <- function(mechanism) mechanism != "bingham"

# the l2 law's sampler is proven up to so many dimensions
LAPLACE_MOST <- 1e4

# what a mechanism needs that is not given, in words, or NULL
component_refused <- function(mechanism, ask) {
  if (mechanism == "gauss" && !(ask$delta >= 1e-40)) "mechanism = \"gauss\" needs a `delta` of at least 1e-40." else
    if (mechanism == "laplace" && symmetric_count(ask$d) > LAPLACE_MOST) {
      sprintf("mechanism = \"laplace\" is for at most %d columns: \"wishart\" is better there.",
              as.integer(floor((sqrt(8 * LAPLACE_MOST + 1) - 1) / 2)))
    }
}

# One mechanism's noise, from public numbers: everything is in units of the square of the bound, which need not be known
component_noise <- function(mechanism, ask) {
  why <- component_refused(mechanism, ask)
  if (!is.null(why)) abort_riemdp("unsupported", why)
  pure <- list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact")
  noise <- switch(mechanism,
    gauss = lattice_moment("normal", ask$d, ask$grid, ask$epsilon, ask$delta),
    laplace = lattice_moment("l2", ask$d, ask$grid, ask$epsilon, 0),
    wishart = list(scale = outwards(2 / ask$epsilon), guarantee = pure),
    bingham = list(scale = outwards(2 * ask$q / ask$epsilon), guarantee = pure)
  )
  noise$mechanism <- mechanism
  noise$lattice <- mechanism %in% c("gauss", "laplace")
  # of an entry beside the diagonal
  noise$sd <- switch(mechanism,
    gauss = noise$scale * 2^-noise$fine / sqrt(2),
    laplace = noise$scale * 2^-noise$fine * sqrt((symmetric_count(ask$d) + 1) / 2),
    wishart = noise$scale * sqrt((ask$d + 1) / 2),
    bingham = NA_real_
  )
  noise$error <- component_error(mechanism, noise, ask)
  noise
}

# The least expected error of those that there are
component_plan <- function(ask) {
  if (ask$mechanism != "auto") return(component_noise(ask$mechanism, ask))
  least_noise(ask, COMPONENT_MECHANISMS, "error")
}

# One on a lattice, whose guarantee is about the machine, is taken where it has up to 5 % more than the least
least_noise <- function(ask, mechanisms, what) {
  plans <- lapply(mechanisms, function(mechanism) {
    tryCatch(component_noise(mechanism, ask), riemdp_error_unsupported = function(e) NULL)
  })
  plans <- Filter(Negate(is.null), plans)
  size <- vapply(plans, `[[`, 0, what)
  lattice <- vapply(plans, `[[`, NA, "lattice")
  if (any(lattice) && min(size[lattice]) <= 1.05 * min(size)) size[!lattice] <- Inf
  plans[[which.min(size)]]
}

# what a record moves, the scale and the standard deviation of an entry, where 1 stands for `unit`
component_units <- function(noise, unit) {
  step <- if (noise$lattice) 2^-noise$fine else 1
  moved <- switch(noise$mechanism, gauss = , laplace = noise$shift * step, wishart = 2, bingham = 1)
  list(sensitivity = moved * unit, scale = noise$scale * step * unit, sd = noise$sd * unit)
}

# ---- expected errors -------------------------------------------------------------------------------------------------
# The second moment that the released directions have less than the best ones, as a share of the square of the bound,
# where q eigenvalues exceed all others, which are alike, by `gap` such shares.

component_error <- function(mechanism, noise, ask) {
  lost <- if (mechanism == "bingham") {
    sum(vapply(seq_len(ask$q), function(j) {
      bingham_lost(ask$q - j + 1, ask$d - ask$q, ask$n * ask$gap / noise$scale)
    }, 0)) / ask$q
  } else {
    spiked_lost(mechanism, noise, ask)
  }
  ask$q * ask$gap * lost
}

# Share of a direction that noise turns away: that of many dimensions, where below a certain gap nothing is left
# (Benaych-Georges and Nadakuditi 2011), smoothed to what a direction by chance loses.
spiked_lost <- function(mechanism, noise, ask) {
  d <- ask$d
  chance <- 1 - ask$q / d
  z <- noise$sd / (ask$n * ask$gap)
  turned <- (d - ask$q) * z^2
  if (mechanism == "wishart" && d >= 10) { # of the law of the noise's eigenvalues, which isn't the semicircle
    y <- min(z^2 * d / 2, 0.24) # where nothing is left
    turned <- turned * (1 + y) / (1 - y)^2
  }
  power <- if (d < 10) 1 else 3 # as simulations are met
  if (turned == 0) return(0)
  (turned^-power + chance^-power)^(-1 / power)
}

# mean of 1 - u, u with density u^(a/2 - 1) (1 - u)^(b/2 - 1) exp(k u) on [0, 1]
bingham_lost <- function(a, b, k) {
  y <- seq(-60, 40, 0.01)
  w <- stats::plogis(y)
  log_density <- b / 2 * stats::plogis(y, log.p = TRUE) + a / 2 * stats::plogis(-y, log.p = TRUE) - k * w
  p <- exp(log_density - max(log_density))
  sum(p * w) / sum(p)
}

# ---- after the noise -------------------------------------------------------------------------------------------------

noisy_moment <- function(sum, plan) {
  if (plan$lattice) noisy_moment_lattice(sum, plan) else noisy_moment_wishart(sum, plan$scale)
}

# What is drawn for records' sum of squares, and the leading directions of that
draw_components <- function(sum, plan, q) {
  if (!releases_matrix(plan$mechanism)) return(list(directions = bingham_directions(sum, q, plan$scale)))
  noisy <- noisy_moment(sum, plan)
  e <- eigen(noisy, symmetric = TRUE)
  list(directions = e$vectors[, seq_len(q), drop = FALSE], sum = noisy, values = e$values)
}

# The parts of an answer: directions with the largest number positive; where a matrix was released, that, its
# eigenvalues, what the second moment along the directions may be without noise, and their shares
components_told <- function(out, noise, ask, bound, names = NULL) {
  v <- out$directions
  v <- v * rep(sign(v[cbind(max.col(abs(t(v)), "first"), seq_len(ncol(v)))]), each = nrow(v))
  told <- list(loadings = matrix(v, nrow(v), dimnames = list(names, NULL)), eigenvalues = NULL, moments = NULL,
               shares = NULL, moment = NULL)
  if (is.null(out$sum)) return(told)
  unit <- moment_value(1, ask$n, bound, ask$grid)
  told$eigenvalues <- out$values * unit
  told$moments <- without_noise(told$eigenvalues[seq_len(ncol(v))], noise$sd * unit, ask$d)
  told$shares <- told$moments / max(sum(diag(out$sum)) * unit, sum(told$moments), .Machine$double.xmin)
  told$moment <- out$sum * unit
  told
}

# An eigenvalue g that stands alone becomes g + d sd^2/g by noise with that standard deviation beside the diagonal, and
# is lost below sd root d. Post-processing: a guess of g from that.
without_noise <- function(value, sd, d) {
  edge <- 2 * sd * sqrt(d)
  ifelse(value > edge, (value + sqrt(pmax(0, value^2 - edge^2))) / 2, 0)
}

# ---- how far the subspace may be from that without noise -------------------------------------------------------------
# A length that the noise's largest eigenvalue, in absolute value, exceeds with probability 1 - level at most, in units
# of the square of the bound (section 5)

noise_spread <- function(mechanism, noise, d, level) {
  t <- function(part) sqrt(-2 * log(part))
  rest <- (1 - level) * 0.999
  m <- symmetric_count(d)
  if (mechanism == "wishart") { # of each of two, whose trace is a Gamma number
    root <- (sqrt(d) + sqrt(d + 1) + t(rest / 2))^2 / 2
    return(noise$scale * min(root, stats::qgamma(rest / 2, m, lower.tail = FALSE)))
  }
  step <- 2^-noise$fine
  # of a matrix with normal entries, 1 beside the diagonal and root 2 on it; the Frobenius norm is no less
  normal <- function(part) 2 * sqrt(d) + sqrt(2) * t(part / 2)
  rounding <- step * (8 * sqrt(m) + 40) # of entries, and of what makes normal noise discrete
  if (mechanism == "gauss") {
    return(1.001 * noise$sd * min(normal(rest), sqrt(2 * stats::qchisq(rest, m, lower.tail = FALSE))) + rounding)
  }
  short <- sqrt(2 * stats::qchisq(rest / 3, m))
  length <- min(stats::qgamma(rest / 3, m, lower.tail = FALSE) * normal(rest / 3) / short,
                stats::qgamma(rest, m, lower.tail = FALSE))
  1.001 * noise$scale * step * length + rounding
}

# The largest angle between the released subspace and that without noise is at most this: Davis and Kahan's theorem with
# the released eigenvalues
angle_bound <- function(values, q, length) {
  gap <- values[q] - values[q + 1] - length
  if (gap > length) asin(length / gap) else pi / 2
}
