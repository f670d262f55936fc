# What a released linear model says about the population: a parametric bootstrap on released numbers and public laws
# (inst/proofs/inference.md, section 8), and the residual scale's own words.

#' @rdname riemdp_release
#' @export
format.riemdp_residual_scale <- function(x, ...) {
  c(
    sprintf("Private residual standard deviation of %.0f records around a released line", x$n),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x)),
    sprintf("  residuals cut at %.4g public scales; the noise's scale is %.3g of a mean square, on public scales",
            x$bound, x$squares$scale / x$n),
    release_lines(x)
  )
}

#' @rdname riemdp_release
#' @export
summary.riemdp_residual_scale <- function(object, ...) {
  g <- object$guarantee
  data.frame(response = names(object$value), n = object$n, sd = unname(object$value), label = g$label,
             epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
             bound = object$bound, source = object$source %||% NA_character_)
}

# why there are no intervals about the population, NULL where there are; from public facts
population_why <- function(object, residual) {
  if (!isTRUE(object$method %in% c("statistics", "adassp"))) {
    return(c("unsupported", paste("about the population there are intervals for methods \"statistics\" and \"adassp\",",
                                  "which release sums of squares and products.")))
  }
  if (!of_rows(object$guarantee) || is.na(object$n)) {
    return(c("unsupported", "about the population there are intervals for fits of a public number of rows."))
  }
  if (!inherits(residual, "riemdp_residual_scale")) {
    return(c("argument", "about the population: give `residual`, a release of dp_residual_scale() for this fit."))
  }
  if (!identical(residual$coefficients, object$scaled_coefficients)) {
    return(c("argument", "`residual` must be of this very fit."))
  }
}

# Draws of what a fit like this one would release, less what it is drawn from: (coefficients on public scales) x nsim
population_draws <- function(object, residual, nsim) {
  details <- object$details
  b <- t(object$scaled_coefficients)
  n <- object$n
  d <- nrow(b) - 1
  e <- eigen(details$moments$xx, symmetric = TRUE)
  value <- pmax(e$values, n / 1000)
  xx <- e$vectors %*% (value * t(e$vectors))
  root <- e$vectors %*% (sqrt(value) * t(e$vectors))
  left <- max(1, residual$n - d - 1)
  one <- function(i) {
    noise <- residual$squares$scale * stats::rexp(ncol(b)) * sample(c(-1, 1), ncol(b), TRUE)
    mean <- pmin(pmax((residual$squares$sum - noise) / left, residual$squares$sum / left / 20, 1e-12),
                 residual$bound^2)
    sd <- sqrt(mean * left / stats::rchisq(ncol(b), left))
    xy <- xx %*% b + root %*% (matrix(stats::rnorm(length(b)), d + 1) * rep(sd, each = d + 1))
    noisy <- moments_again(object, xx, xy)
    t(solve_statistics(noisy, details$ridge)) - b
  }
  with_simulation(1, vapply(seq_len(nsim), one, matrix(0, d + 1, ncol(b)))) # (d + 1) x responses x nsim
}

# sums with noise of the law that the release has drawn from
moments_again <- function(object, xx, xy) {
  details <- object$details
  d <- nrow(xx) - 1
  q <- ncol(xy)
  if (object$method == "adassp") {
    z <- matrix(stats::rnorm((d + 1)^2, sd = details$sd[["xx"]]), d + 1)
    more <- (z + t(z)) / 2
    more[1, 1] <- 0
    return(list(xx = xx + more, xy = xy + stats::rnorm((d + 1) * q, sd = details$sd[["xy"]])))
  }
  width <- statistic_widths(d)
  k <- d + d * (d + 1) / 2
  z <- .Call(riemdp_block_noise, as.double(c(rep(1, k), rep(q, d + 1))), outwards_down(details$left), TRUE)
  more <- matrix(0, d + 1, d + 1)
  if (d > 0) {
    noise <- z[seq_len(k)] * c(width$u, width$uu)
    more[1, -1] <- more[-1, 1] <- noise[seq_len(d)]
    more[-1, -1] <- from_lower(noise[-seq_len(d)], d)
  }
  list(xx = xx + more, xy = xy + width$xy * details$reach * t(matrix(z[k + seq_len(q * (d + 1))], q)))
}

# c(lower, upper) for each coefficient as given, d + 1 x responses x 2: the release less the draws' other end
population_ends <- function(object, residual, level, nsim) {
  draws <- population_draws(object, residual, nsim)
  back <- back_transform(object$columns)
  value <- as.matrix(object$value)
  scale <- object$bounds$y["scale", ]
  ends <- vapply(seq_len(ncol(value)), function(j) {
    moved <- scale[[j]] * back %*% matrix(draws[, j, ], nrow(value))
    value[, j] - t(apply(moved, 1, stats::quantile, (1 + c(level, -level)) / 2, names = FALSE))
  }, matrix(0, nrow(value), 2))
  aperm(array(ends, c(nrow(value), 2, ncol(value))), c(1, 3, 2))
}
