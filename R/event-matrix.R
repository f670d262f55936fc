# Gaussian noise on linear combinations of steps, by matrix factorisation or by trees.

#' Matrix mechanisms and trees
#'
#' Noise that is correlated over the steps of a stream or of a training run (matrix factorisation, DP-FTRL): Gaussian
#' noise on `strategy %*% x`, where row t of `x` is what the records add up to in step t. Any linear estimates of these
#' are post-processing. `event_matrix()` is the Gaussian event of that noise over the sensitivity, the largest norm by
#' which one record moves the whole.
#'
#' A record is part of at most `participations` steps. With `pattern = "cyclic"` they lie in a row, `separation` apart,
#' as where each epoch goes through the records in one order; the first may be any. With `"apart"` they are any that are
#' at least `separation` apart; that is for coefficients that don't increase, of which the first columns are the worst
#' (Kalinin and Lampert 2024). `x` may depend on earlier releases (Denisov et al. 2022); the strategy, and the pattern
#' that records keep to, may not. What a record adds in a step must not depend on whether other records are there, and a
#' replaced record is part of the steps of the one that it replaces.
#'
#' @param strategy a matrix with a column for each step, or a vector: the coefficients of a lower-triangular Toeplitz
#'   matrix, from the diagonal down. Finite numbers of at least 0.
#' @param noise_multiplier the noise's standard deviation over the most by which a record changes one row of `x` (in
#'   Euclidean length, under the event's adjacency), positive and finite.
#' @param participations,separation whole numbers from 1 to the number of steps; `separation` is needed where
#'   `participations` is above 1.
#' @param pattern `"cyclic"` or `"apart"`.
#' @param adjacency `"replace-one"`, `"add-remove"`, or `NULL` for open.
#' @return An event as [event_gaussian()] makes it.
#' @section Errors: `riemdp_error_argument` for numbers out of range, `riemdp_error_unsupported` for `"apart"` with a
#'   strategy for which the sensitivity isn't proven.
#' @references Denisov, McMahan, Rush, Smith and Thakurta (2022), Improved differential privacy for SGD via optimal
#'   private linear operators on adaptive streams, \doi{10.48550/arXiv.2202.08312}.
#'   Kalinin and Lampert (2024), Banded square root matrix factorization for differentially private model training,
#'   \doi{10.48550/arXiv.2405.13763}.
#' @examples
#' # a binary tree over eight steps: each step is in four of its sums
#' tree <- do.call(rbind, lapply(2^(0:3), function(k) kronecker(diag(8 / k), t(rep(1, k)))))
#' event_matrix(tree, noise_multiplier = 10)
#' # square root factorisation over 100 steps, of which a record is part of five
#' root <- cumprod(c(1, 1 - 1 / (2 * 1:99)))
#' training <- event_matrix(root, 10, participations = 5, separation = 20)
#' dp_epsilon(training, 1e-6)
#' @export
event_matrix <- function(strategy, noise_multiplier, participations = 1, separation = NULL, pattern = "cyclic",
                         adjacency = NULL) {
  noise_multiplier <- check_number(noise_multiplier, "noise_multiplier", positive = TRUE)
  check_strategy(strategy)
  toeplitz <- is.null(dim(strategy))
  n <- if (toeplitz) length(strategy) else ncol(strategy)
  participations <- check_count(participations, "participations", most = n)
  pattern <- check_choice(pattern, "pattern", c("cyclic", "apart"))
  separation <- if (participations == 1) n else check_count(separation, "separation", most = n)
  if (participations > 1 && pattern == "apart" && !(toeplitz && all(diff(strategy) <= 0))) {
    abort_riemdp("unsupported", paste("`pattern` \"apart\" has a proven sensitivity for vectors of coefficients that",
                                      "don't increase."))
  }
  moved <- matrix_sensitivity(strategy, participations, separation)
  if (!(moved > 0 && is.finite(moved))) {
    abort_riemdp("argument", "`strategy` must not be 0, and the largest norm must be finite.")
  }
  event_gaussian(noise_multiplier / moved, adjacency)
}

check_strategy <- function(strategy) {
  ok <- is.numeric(strategy) && !is.object(strategy) && (is.null(dim(strategy)) || is.matrix(strategy)) &&
    length(strategy) >= 1 && length(strategy) <= 1e8 && all(is.finite(strategy)) && all(strategy >= 0)
  if (!ok) abort_riemdp("argument", "`strategy` must be a matrix or vector of finite numbers of at least 0.")
}

# The largest Euclidean norm of `times` columns that are `apart` from each other, rounded up: of a vector of
# coefficients the first ones, of a matrix by trial (proofs/accounting.md, 1)
matrix_sensitivity <- function(strategy, times, apart) {
  size <- max(strategy)
  if (size == 0) return(0)
  strategy <- strategy / size # squares of small or large numbers aren't doubles
  if (is.null(dim(strategy))) {
    rows <- length(strategy)
    total <- 0
    for (i in seq_len(times) - 1) if (i * apart < rows) {
      total <- total + c(double(i * apart), strategy[seq_len(rows - i * apart)])
    }
    most <- sum(total^2)
  } else {
    rows <- nrow(strategy)
    n <- ncol(strategy)
    # later starts have parts of what earlier ones have
    starts <- seq_len(min(n, max(apart, n - (times - 1) * apart)))
    most <- max(vapply(starts, function(j) {
      steps <- j + apart * (seq_len(times) - 1)
      sum(rowSums(strategy[, steps[steps <= n], drop = FALSE])^2)
    }, 0))
  }
  size * (sqrt(most) * (1 + (2 * times + rows + 12) * 2^-53))
}
