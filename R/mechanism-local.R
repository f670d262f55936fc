# Laws of single points that are released each by itself: scales, prices, mean cosines. Proof: inst/proofs/local.md.

# Means of cosine and angle from x under a law around x in S^d whose log density at angle t is log_weight(t); it may
# jump at `breaks`, from 0 to where next to nothing is left.
angle_means <- function(d, log_weight, breaks) {
  parts <- lapply(seq_len(length(breaks) - 1), function(i) {
    t <- seq(breaks[i], breaks[i + 1], length.out = 20001)
    inside <- (t[-1] + t[-length(t)]) / 2
    list(t = inside, w = (d - 1) * log(sin(inside)) + log_weight(inside) + log(diff(t)))
  })
  t <- unlist(lapply(parts, `[[`, "t"))
  w <- unlist(lapply(parts, `[[`, "w"))
  w <- exp(w - max(w))
  list(cosine = 1 - sum(w * 2 * sin(t / 2)^2) / sum(w), angle = sum(w * t) / sum(w))
}

# as far as a law reaches whose exponent falls like that of a gamma law of shape d
gamma_reach <- function(d) d + 12 * sqrt(d) + 60

laplace_means <- function(d, scale) angle_means(d, function(t) -t / scale, c(0, min(pi, scale * gamma_reach(d))))

vmf_means <- function(d, kappa) {
  angle_means(d, function(t) -2 * kappa * sin(t / 2)^2, c(0, min(pi, pi * sqrt(gamma_reach(d) / (2 * kappa)))))
}

# log of the share of S^d within that angle of a point, or beyond
log_cap <- function(d, angle, within = TRUE) {
  stats::pbeta(sin(angle / 2)^2, d / 2, d / 2, lower.tail = within, log.p = TRUE)
}

# log density ratio of the two values that the law has: what PrivUnit costs
cap_loss <- function(d, p, angle) log(p) - log1p(-p) + log_cap(d, angle, FALSE) - log_cap(d, angle)

# <x, y> on average
cap_cosine <- function(d, p, angle) {
  log_moment <- d * log(sin(angle)) - log(d) - lbeta(1 / 2, d / 2)
  exp(log_moment + log(p) - log_cap(d, angle)) - exp(log_moment + log1p(-p) - log_cap(d, angle, FALSE))
}

# angle on average
cap_angle <- function(d, p, angle) {
  heights <- c(log(p) - log_cap(d, angle), log1p(-p) - log_cap(d, angle, FALSE))
  angle_means(d, function(t) ifelse(t < angle, heights[1], heights[2]), c(0, angle, pi))$angle
}

# The cap and its probability with the largest mean cosine, so the least variance (local.md, 4). The probability leaves
# 1e-9 of epsilon, for the incomplete beta function's last digits and those of uniform numbers.
cap_best <- function(d, epsilon) {
  rest <- 1 / expm1(epsilon)
  # the derivative of log cosine has the sign of this
  angle <- exp(stats::uniroot(function(s) {
    a <- exp(s)
    log(cos(a)) + log(rest + exp(log_cap(d, a))) - (d * log(sin(a)) - log(d) - lbeta(1 / 2, d / 2))
  }, log(pi / 2) + c(-300, -1e-12), tol = 1e-10, extendInt = "no", f.upper = -Inf, f.lower = 1)$root)
  p <- stats::plogis(epsilon * (1 - 1e-9) - 1e-9 + log_cap(d, angle) - log_cap(d, angle, FALSE))
  if (!(p <= 1 - 1e-6)) {
    abort_riemdp("unsupported", paste("at this epsilon the cap is so small, and so likely, that it says where the",
                                      "record is: a smaller epsilon, or mechanism = \"vmf\"."))
  }
  list(p = p, angle = angle)
}
