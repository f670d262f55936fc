# What a released linear model says about the population, from released numbers and public laws
# (inst/proofs/inference.md, section 8), and the residual scale's own words.

#' @rdname riemdp_release
#' @export
format.riemdp_residual_scale <- function(x, ...) {
  c(
    sprintf("Private residual standard deviation of %s %s around a released %s", size_words(x),
            if (of_rows(x$guarantee)) "records" else "units", scale_of(x)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x)),
    sprintf("  residuals cut at %.4g public scales; the noise's %s is %.3g of a mean square, on public scales",
            x$bound, if (is.null(x$squares$law)) "scale" else "standard deviation",
            x$squares$scale / counted_or_told(x)),
    if (!is.null(x$details$sites)) paste0("  noise ", share_words(x$details)),
    if (!is.null(x$moments)) {
      sprintf("  with first and second moments of %d predictor%s; the noise's scale is %.3g of a mean",
              nrow(x$moments$xx) - 1L, if (nrow(x$moments$xx) > 2) "s" else "", x$moments$scale / counted_or_told(x))
    },
    if (!is.null(x$cuts)) {
      sprintf("  with two numbers of what the loss cuts of residuals; the noise's scale is %.3g of a mean",
              x$cuts$scale / counted_or_told(x))
    },
    release_lines(x)
  )
}

scale_of <- function(x) if (is.matrix(x$coefficients)) "line" else "curve"

#' @rdname riemdp_release
#' @export
summary.riemdp_residual_scale <- function(object, ...) {
  g <- object$guarantee
  data.frame(response = names(object$value) %||% scale_of(object), n = object$n, sd = unname(object$value),
             label = g$label, epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon,
             adjacency = g$adjacency, bound = object$bound, source = object$source %||% NA_character_)
}

# why there are no intervals about the population, NULL where there are; from public facts
population_why <- function(object, residual) {
  if (inherits(object, "riemdp_glm")) {
    return(c("unsupported", "about the population there are no intervals for a release of dp_glm()."))
  }
  if (length(object$spec$counts)) {
    return(c("unsupported", "about the population there are no intervals for fits with `weights` or `subset`."))
  }
  if (!is.null(object$details$rule$simplex)) {
    return(c("unsupported", paste("about the population there are no intervals for objective perturbation with bs(),",
                                  "ns() or poly().")))
  }
  why <- lawless_why(object$method, "interval")
  if (!is.null(why)) return(c("unsupported", why))
  if (!inherits(residual, "riemdp_residual_scale")) {
    return(c("argument", "about the population: give `residual`, a release of dp_residual_scale() for this fit."))
  }
  if (!identical(residual$coefficients, object$scaled_coefficients)) {
    return(c("argument", "`residual` must be of this very fit."))
  }
}

# What is known of a line's predictors: list(xx, sd of the noise of a product, and where xx is all that was released of
# them noise = function() of one draw)
line_moments <- function(object, residual) {
  details <- object$details
  d <- length(object$columns)
  if (is.null(details$moments)) return(released_moments(residual$moments, d))
  list(xx = details$moments$xx,
       sd = products_sd(object$method, d, nrow(object$scaled_coefficients), details$left, details$sd))
}

# of a release of dp_residual_scale(); without predictors there are none
released_moments <- function(moments, d) {
  list(xx = moments$xx %||% matrix(1), sd = sqrt(2) * moments$scale, noise = function() {
    m <- d + symmetric_count(d)
    bordered(moments$scale * stats::rexp(m) * sample(c(-1, 1), m, TRUE), d)
  })
}

# the noise of both sums of products, as "statistics" draws it: list(xx, xy), (d + 1) x (d + 1) and (d + 1) x q
statistics_draw <- function(object) {
  details <- object$details
  d <- length(object$columns)
  q <- nrow(object$scaled_coefficients)
  if (object$method == "adassp") {
    z <- matrix(stats::rnorm((d + 1)^2, sd = details$sd[["xx"]]), d + 1)
    return(list(xx = (z + t(z)) / 2, xy = matrix(stats::rnorm((d + 1) * q, sd = details$sd[["xy"]]), d + 1)))
  }
  z <- .Call(riemdp_block_noise, statistic_blocks(d, q), outwards_down(details$left), TRUE)
  statistics_noise(z, d, q, details$reach)
}

# the equation of a fit by a loss, in units of its last fit
line_equation <- function(object) {
  details <- object$details
  rule <- details$rule
  unit <- details$unit %||% 1
  b <- object$scaled_coefficients
  q <- nrow(b)
  step <- (b - (details$from %||% 0)) / unit
  map <- drawn_map(rule) # the equation is for coefficients that noise was drawn for
  if (!is.null(map)) step <- step %*% solve(map)
  ridge <- matrix(rep(rule$ridge, each = q), q)
  draw <- function() perturbation_draw(rule$norm, ncol(b), q, outwards_down(rule$rate))
  eq <- list(step = step, unit = unit, loss = kernel_loss(rule), pull = ridge * step, noise = draw,
             features = if (rule$norm == "normal") short_features else identity, map = map)
  if (object$method == "output") { # of the minimiser, which is the release less z = noise/sqrt(ridge)
    eq$noise <- function() -draw() * sqrt(ridge)
    eq$shift <- function(noise) -noise / ridge
  }
  eq
}

# Draws of how far a released line is from the population's, on public scales: list(off, (q (d + 1)) x nsim; variances,
# nsim x q; cov, of predictors, d^2 x nsim). `parts`: of "privacy" and "sampling".
line_draws <- function(object, residual, nsim, parts = c("privacy", "sampling")) {
  b <- object$scaled_coefficients
  d <- ncol(b) - 1
  n <- counted_or_told(object)
  known <- line_moments(object, residual)
  abort_blurred(known$sd, d, n)
  if (isTRUE(object$details$blurred)) abort_lost()
  if (any(residual$squares$sum > CUT_MOST * n * residual$bound^2)) abort_cut()
  sums <- !is.null(object$details$moments)
  steps <- object$method %in% names(NEWTON_BLURRED)
  eq <- if (steps || sums) list() else line_equation(object)
  with_simulation(1, {
    sizes <- drawn_sizes(object, nsim, d + 2)
    v <- sized_variances(residual, sizes$all, residual$bound^2, function(n) residual_left(object, n), nsim)
    each <- lapply(seq_len(nsim), function(i) {
      if (sums) return(statistics_root(object, known$xx, v[i, ], parts, sizes$taken[i]))
      moments <- drawn_moments(known$xx, sizes$all[i], known$noise)
      if (steps) {
        return(c(list(off = newton_root(object, v[i, ], moments, parts, sizes$taken[i])), moments[c("short", "cov")]))
      }
      root <- equation_root(c(eq, list(n = sizes$taken[i])), v[i, ] / eq$unit^2, moments, parts)
      c(list(off = eq$unit * if (is.null(eq$map)) root else root %*% eq$map, root = root), moments[c("short", "cov")])
    })
  })
  off <- vapply(each, function(one) as.vector(one$off), numeric(length(b)))
  lost <- mean(vapply(each, function(one) one$short || max(abs(one$root %||% one$off)) >= 1e3, NA))
  if (lost > LOST_MOST) abort_lost()
  cov <- vapply(each, function(one) as.vector(one$cov), numeric(d^2))
  list(off = matrix(off, length(b)), variances = v, cov = matrix(cov, d^2, nsim))
}

# the same where sums of products were released: X'X and X'Y less a draw of their noise, and of the error of sampling
statistics_root <- function(object, xx, v, parts, n) {
  b <- object$scaled_coefficients
  noise <- NULL
  drawn <- drawn_moments(xx, n, function() {
    noise <<- statistics_draw(object)
    noise$xx
  })
  if (is.null(noise)) noise <- statistics_draw(object)
  mean <- c(1, drawn$mean)
  own <- n * tcrossprod(mean)
  own[-1, -1] <- own[-1, -1] + n * drawn$cov
  root <- t(chol(own))
  sampled <- root %*% (matrix(stats::rnorm(length(b)), ncol(b)) * rep(sqrt(v), each = ncol(b)))
  if (!"sampling" %in% parts) sampled <- 0
  if (!"privacy" %in% parts) {
    return(list(off = t(solve(own, sampled + matrix(0, ncol(b), nrow(b)))), short = FALSE, cov = drawn$cov))
  }
  truth <- solve(own, object$details$moments$xy - noise$xy - sampled)
  list(off = b - t(truth), short = drawn$short, cov = drawn$cov)
}

# the same of an average of Newton's steps: its noise is known, and so is how much more sampling moves it than least
# squares
newton_root <- function(object, v, moments, parts, n) {
  details <- object$details
  p <- ncol(object$scaled_coefficients)
  draw <- function() matrix(stats::rnorm(length(v) * p), length(v))
  mean <- c(1, moments$mean)
  own <- tcrossprod(mean)
  own[-1, -1] <- own[-1, -1] + moments$cov
  root <- chol(own * n / details$inflation)
  off <- draw() * sqrt(v)
  off <- if ("sampling" %in% parts) t(backsolve(root, t(off))) else 0 * off
  if (!"privacy" %in% parts) return(off)
  off - details$held + draw() %*% t(details$back %*% details$noise)
}

# draws of how far coefficients as given are from the population's: (d + 1) x responses x nsim
raw_draws <- function(object, off) {
  back <- back_transform(object$columns)
  q <- nrow(object$scaled_coefficients)
  scale <- object$bounds$y["scale", ]
  off <- array(off, c(q, nrow(back), ncol(off)))
  aperm(array(vapply(seq_len(q), function(j) scale[[j]] * back %*% matrix(off[j, , ], nrow(back)),
                     matrix(0, nrow(back), dim(off)[3])), c(nrow(back), dim(off)[3], q)), c(1, 3, 2))
}

# c(lower, upper) for each coefficient as given, d + 1 x responses x 2
population_ends <- function(object, residual, level, nsim) {
  off <- raw_draws(object, line_draws(object, residual, nsim)$off)
  value <- as.vector(as.matrix(object$value))
  ends <- apply(off, c(1, 2), stats::quantile, (1 + c(level, -level)) / 2, names = FALSE, type = 6)
  array(value - t(matrix(ends, 2)), c(dim(off)[1:2], 2))
}

# Errors of coefficients as given, d + 1 x responses each: of both together, of sampling, and what of the former isn't
# the latter's; half the width of a normal law's middle .68 stands for a standard deviation, as tails are heavy
population_errors <- function(object, residual, nsim) {
  spread <- function(parts) {
    off <- raw_draws(object, line_draws(object, residual, nsim, parts)$off)
    apply(off, c(1, 2), function(x) diff(stats::quantile(x, stats::pnorm(c(-1, 1)), names = FALSE)) / 2)
  }
  total <- spread(c("privacy", "sampling"))
  sampling <- pmin(spread("sampling"), total)
  list(total = total, sampling = sampling, privacy = sqrt(total^2 - sampling^2))
}

# How much of each response's variance the population's line tells, and the likelihood of a normal law: a row for each.
# What slopes seem to tell because they are off, by draws, is taken out (inference.md, 8).
population_fit <- function(object, residual, nsim) {
  b <- object$scaled_coefficients
  draws <- line_draws(object, residual, nsim)
  slopes <- rep(c(FALSE, rep(TRUE, ncol(b) - 1)), each = nrow(b))
  told <- function(j, s) { # s: slopes of response j, a column for each draw
    vapply(seq_len(nsim), function(i) sum(tcrossprod(s[, i]) * draws$cov[, i]), 0)
  }
  n <- counted_or_told(object)
  rows <- lapply(seq_len(nrow(b)), function(j) {
    off <- draws$off[slopes & seq_along(b) %% nrow(b) == j %% nrow(b), , drop = FALSE]
    own <- b[j, -1]
    excess <- middle_mean(told(j, off))
    share <- function(told, rest) pmax(0, told) / (pmax(0, told) + rest)
    mean <- max(0, residual$squares$sum[j]) / n
    likely <- if (mean > 0 && of_rows(object$guarantee)) {
      -n / 2 * (log(2 * pi * mean * object$bounds$y["scale", j]^2) + 1)
    } else NA_real_
    moved <- share(told(j, own - off) - 2 * excess, draws$variances[, j])
    data.frame(r.squared = share(mean(told(j, matrix(own, length(own), nsim))) - excess, mean),
               r.squared.std.error = diff(stats::quantile(moved, stats::pnorm(c(-1, 1)), names = FALSE)) / 2,
               logLik = likely, AIC = 2 * (ncol(b) + 1) - 2 * likely)
  })
  rows <- do.call(rbind, rows)
  # of windows' predictors no spread is known but within
  if (!is.null(object$details$rule$window)) rows[c("r.squared", "r.squared.std.error")] <- NA_real_
  cbind(data.frame(response = names(object$spec$responses), sigma = unname(residual$value)), rows)
}

# tails are heavy where a draw's predictors hardly vary
middle_mean <- function(x) mean(pmin(x, stats::quantile(x, 0.99, names = FALSE)))

# Bands at rows of a design: lower and upper ends, rows x responses x 2, of the population's line, or with `new` of a
# new record's response; `value` the coefficients as given
line_band <- function(object, design, value, residual, level, nsim, new) {
  draws <- line_draws(object, residual, nsim)
  off <- raw_draws(object, draws$off)
  fit <- design %*% value
  scale <- object$bounds$y["scale", ]
  errors <- with_simulation(2, matrix(stats::rnorm(length(draws$variances)), nsim)) * sqrt(draws$variances)
  ends <- vapply(seq_len(ncol(fit)), function(j) {
    moved <- design %*% matrix(off[, j, ], ncol(design))
    if (new) moved <- moved + rep(scale[[j]] * errors[, j], each = nrow(moved))
    fit[, j] - t(apply(moved, 1, stats::quantile, (1 + c(level, -level)) / 2, names = FALSE, type = 6))
  }, matrix(0, nrow(fit), 2))
  aperm(array(ends, c(nrow(fit), 2, ncol(fit))), c(1, 3, 2))
}
