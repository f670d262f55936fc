# The methods of dp_lm(), and how a fit is released. A method is a list:
#   auto         TRUE where method = "auto" may choose it: proven
#   checked      TRUE where the guess is checked for it though "auto" may not
#   windows      TRUE where ranges of predictors are checked for it as well
#   whole        TRUE where all records are looked at together, so that they can't be in chunks
#   unsupported  function(ask): NULL, or one sentence on why it can't be served here
#   plan         function(ask): everything that is decided before records are touched. `error`, the expected excess of
#                the mean squared error per response over least squares in units of the responses' public variances;
#                `guarantee`: list(epsilon, delta, mu, reasons, assumptions); `clip` FALSE where features stay as they
#                are; `reach`, to which responses are moved. Where the guess is checked first (R/linear-guess.R) `ask`
#                has what is left of epsilon
#   release      function(x, y, plan, ask), x and y matrices or what chunk-linear.R makes of records in chunks:
#                coefficients on public scales, q x (d + 1); or list(b, details) with what else was released, and
#                `error` where that says more of the error than the plan could
#   words        function(r): sentences for explain()
# `ask` holds public quantities only: n, d, q, epsilon, delta, rule, r_squared.

linear_methods <- function() {
  list(objective = linear_objective, recentred = linear_recentred, huber = linear_huber, statistics = linear_statistics,
       adassp = linear_adassp, boosted = linear_boosted, newton = linear_newton, descent = linear_descent,
       gaussian = linear_gaussian, theil_sen = linear_theil_sen, output = linear_output, kng = linear_kng,
       paper = linear_paper)
}

linear_in_chunks <- function(method) {
  if (isTRUE(linear_methods()[[method]]$whole)) {
    abort_riemdp("unsupported", sprintf(paste("method = \"%s\" is not available for records in chunks: it looks at all",
                                              "records at once."), method))
  }
}

# What a fit of `plan` releases, its guess checked first where the plan has it so: list(b, details, error, plan, guess)
release_linear <- function(x, y, plan, ask) {
  m <- linear_methods()[[plan$method]]
  guess <- NULL
  windows <- NULL
  if (!is.null(plan$check)) {
    guess <- release_guess(x, y, plan$check, ask$n, ask$q)
    if (!is.null(plan$check$window)) {
      windows <- release_windows(x, y, plan$check$window, ask$n)
      ask$window <- fit_window(windows, ask$d)
    }
    y <- guessed_responses(x, y, guess, plan$reach %||% REACH)
    times <- c(search = sum(windows$searched), trial = sum(windows$tried))
    ask <- guess_left(ask, plan$check, sum(guess$searched), times)
    if (any(guess$searched, windows$searched)) { # the same method with what is left
      again <- m$plan(ask)
      kept <- setdiff(names(again), c("guarantee", if (is.na(plan$error)) "error"))
      plan[kept] <- again[kept]
    }
  }
  out <- m$release(x, y, plan, ask)
  if (!is.list(out)) out <- list(b = out)
  if (any(guess$highest)) out$error <- NA_real_
  c(out, list(plan = plan, guess = guess, windows = windows, left = ask$epsilon))
}

# what linear regressions ask of the records of a chunk
LINEAR_KERNELS <- list(
  linear_perturbed = function(q, x) {
    r <- linear_chunk(q, x)
    .Call(riemdp_chunk_perturbed, r$x, r$y, q$b, q$loss, q$hessian)
  },
  linear_within = function(q, x) {
    r <- linear_chunk(q, x)
    residuals_within(r$x, fitted_away(r$x, r$y, q$b), q$limit)$count
  },
  linear_guess = function(q, x) {
    r <- linear_chunk(q, x)
    guess_counts(r$x, r$y)
  },
  linear_cells = function(q, x) {
    r <- linear_chunk(q, x)
    guess_cells(r$x, if (is.null(q$of)) r$y else r[[q$of]], q$which)
  },
  linear_windows = function(q, x) window_check(linear_chunk(q, x)$x, q$which, q$half),
  linear_sides = function(q, x) window_sides(linear_chunk(q, x)$x, q$column, q$of),
  linear_stage = function(q, x) {
    r <- linear_chunk(q, x)
    newton_part(r$x, r$y, q$stage)
  },
  linear_moments = function(q, x) {
    r <- linear_chunk(q, x)
    both <- rbind(r$x, r$y)
    k <- nrow(r$x)
    products <- t(both[rep(seq_len(nrow(both)), each = k), , drop = FALSE] *
                    r$x[rep(seq_len(k), nrow(both)), , drop = FALSE])
    exact_rows(if (is.null(q$share)) products else products * shares_of(r$x))
  }
)
