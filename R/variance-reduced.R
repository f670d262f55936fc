# What variance-reduced descent costs, as Utpala et al. (2023) price it and as proven accountants do.

#' The privacy of variance-reduced descent as its paper counts it
#'
#' For comparison with Utpala et al. (2023): `epochs` times `steps` steps, each with noise that is split into a share
#' `alpha` for the full gradient (clipped at `C0`) and the rest for one sampled gradient (clipped at `C1`).
#'
#' `accountant = "moments"` is the paper's bound. It isn't proven with the paper's constant, and it holds only where the
#' sampled step's variance is at least 12 C1^2 and for small orders; `conditions = FALSE` leaves these conditions out.
#' Every other accountant takes the same steps as events ([dp_event]); the paper's Figure 2 is of the kind `"rdp"`.
#'
#' @param n number of records.
#' @param epochs,steps numbers of epochs and of steps in each.
#' @param C0,C1 clipping lengths, positive.
#' @param sigma total noise, positive.
#' @param delta above 0, below 1.
#' @param alpha share of the variance for the full gradient, or `NULL` for the best one: for `"moments"` without
#'   conditions 1/(1 + sqrt(14) C1/C0), else by search.
#' @param accountant `"moments"`, or another of [dp_epsilon()].
#' @param conversion how a moments bound becomes epsilon: see [dp_epsilon()].
#' @param conditions whether the moments bound is held to the conditions of its claim.
#' @return The epsilon, as [dp_epsilon()] returns it, with attribute `alpha`.
#' @references Utpala, Han, Jawanpuria and Mishra (2023), Improved Differentially Private Riemannian Optimization,
#'   Transactions on Machine Learning Research. Wang, Balle and Kasiviswanathan (2019),
#'   \url{https://proceedings.mlr.press/v89/wang19b.html}.
#' @examples
#' # Figure 2 at sigma = 0.05: the usual split, and the better one
#' variance_reduced_epsilon(1e5, 100, 1e4, C0 = 0.1, C1 = 0.01,
#'                          sigma = 0.05, delta = 1e-6, alpha = 0.5, accountant = "rdp")
#' variance_reduced_epsilon(1e5, 100, 1e4, C0 = 0.1, C1 = 0.01,
#'                          sigma = 0.05, delta = 1e-6, accountant = "rdp")
#' @export
variance_reduced_epsilon <- function(n, epochs, steps, C0, C1, sigma, delta, alpha = NULL, accountant = "moments",
                                     conversion = "best", conditions = TRUE) {
  n <- check_count(n, "n", least = 2, most = 1e9)
  times <- as.double(check_count(epochs, "epochs")) * check_count(steps, "steps", most = 1e9)
  C0 <- check_number(C0, "C0", positive = TRUE)
  C1 <- check_number(C1, "C1", positive = TRUE)
  sigma <- check_number(sigma, "sigma", positive = TRUE)
  delta <- check_delta(delta)
  conditions <- check_flag(conditions, "conditions")
  conversion <- check_choice(conversion, "conversion", RDP_CONVERSIONS)
  accountant <- check_choice(accountant, "accountant", ACCOUNTANTS)
  best <- 1 / (1 + sqrt(14) * C1 / C0)
  price <- function(alpha) {
    event <- variance_reduced_event(n, times, C0, C1, sigma, alpha)
    if (accountant != "moments") return(dp_epsilon(event, delta, accountant, conversion))
    found <- moments_epsilon(event, delta, conversion, conditions)
    new_price(found$value, "epsilon", "moments", event, found)
  }
  if (is.null(alpha)) {
    alpha <- best
    if (accountant == "moments" && conditions) {
      # the conditions limit the share, and the order with it
      most <- 1 - 12 * C1^2 / sigma^2
      if (most <= 0) {
        unpriced(variance_reduced_event(n, times, C0, C1, sigma, 0.5), "the moments accountant",
                 "sigma^2 is below 12 C1^2")
      }
      f <- function(a) tryCatch(min(as.double(price(a)), 1e300), riemdp_error_unpriced = function(e) 1e300)
      alpha <- stats::optimize(f, c(0, most), tol = 1e-4)$minimum
    }
    if (accountant != "moments") {
      alpha <- stats::optimize(function(a) min(as.double(price(a)), 1e300), c(0.01, 0.99), tol = 0.01)$minimum
    }
  } else {
    alpha <- check_number(alpha, "alpha", least = 0, most = 1)
    if (alpha == 0 || alpha == 1) abort_riemdp("argument", "`alpha` must be above 0 and below 1.")
  }
  out <- price(alpha)
  attr(out, "alpha") <- alpha
  out
}

variance_reduced_event <- function(n, times, C0, C1, sigma, alpha) {
  # less noise than that where doubles end: a price from above
  event_compose(event_gaussian(min(n * sqrt(alpha) * sigma / (2 * C0), 1e300)),
                event_sample(1 / n, event_gaussian(min(sqrt(1 - alpha) * sigma / (4 * C1), 1e300))), times = times)
}
