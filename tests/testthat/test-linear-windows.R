# The check of predictors' public ranges, the search for narrower windows and their trial; fits in windows' features.

windows_of <- function(n, d = 1, q = 1, epsilon = 1, method = "recentred", r_squared = 0.3) {
  ask <- riemdp:::linear_ask(n, d, q, epsilon, 0, method, r_squared, "auto")
  list(ask = ask, plan = riemdp:::plan_linear(ask))
}
features_of <- function(u) rbind(as.double(!is.na(u)), ifelse(is.na(u), 0, u))

test_that("prices are public numbers that never add up to more than epsilon, whatever is searched and tried", {
  grid <- expand.grid(n = c(100, 599, 600, 1000, 5e4), epsilon = c(0.1, 1, 30), q = 1:2, d = c(1, 3, 4), method = c("objective", "recentred", "statistics"))
  checked <- 0
  for (i in seq_len(nrow(grid))) {
    g <- grid[i, ]
    ask <- riemdp:::linear_ask(g$n, g$d, g$q, g$epsilon, 0, as.character(g$method), 0.3, "auto")
    prices <- riemdp:::guess_prices(ask, riemdp:::linear_methods()[[ask$method]])
    looked <- g$method != "statistics" && g$d <= 3 && g$n * g$epsilon >= 300 * (g$q + g$d)
    expect_identical(is.null(prices$window), !looked)
    if (!looked) next
    checked <- checked + 1
    w <- prices$window
    expect_identical(w$which, seq_len(g$d))
    expect_equal(unlist(w[c("check", "search", "trial")]), pmax(c(check = 25, search = 100, trial = 90) / g$n, c(0.005, 0.01, 0.01) * g$epsilon / g$d))
    for (searched in 0:g$d) for (tried in 0:searched) {
      left <- riemdp:::guess_left(ask, prices, g$q, c(search = searched, trial = tried))$epsilon
      spent <- g$q * (prices$check + prices$search) + g$d * w$check + searched * w$search + tried * w$trial
      expect_lte(spent + left, g$epsilon)
      expect_equal(left, g$epsilon - spent, tolerance = 1e-12)
      expect_gt(left, 0.2 * g$epsilon)
    }
  }
  expect_gt(checked, 15)
  # bases have noise and features of their own
  ask <- riemdp:::linear_ask(5000, 4, 1, 1, 0, "objective", 0.3, "auto")
  ask$simplex <- list(map = diag(5))
  expect_null(riemdp:::guess_prices(ask, riemdp:::linear_methods()$objective)$window)
  # columns that are no numbers with ranges aren't looked at
  ask <- riemdp:::linear_ask(5000, 4, 1, 1, 0, "objective", 0.3, "auto")
  ask$ranged <- c(FALSE, TRUE, FALSE, FALSE)
  expect_identical(riemdp:::guess_prices(ask, riemdp:::linear_methods()$objective)$window$which, 2L)
  ask$ranged[] <- FALSE
  expect_null(riemdp:::guess_prices(ask, riemdp:::linear_methods()$objective)$window)
  data <- data.frame(y = 1:2, a = 1:2, b = c("u", "v"), t = 1:2)
  columns <- function(formula) {
    spec <- riemdp:::linear_terms(formula, names(data))
    bounds <- list(y = c(0, 1), a = c(0, 1), b = c("u", "v"), t = c(0, 1))
    riemdp:::linear_columns(spec, riemdp:::linear_bounds(spec, bounds[c("y", all.vars(formula)[-1])]))
  }
  expect_identical(riemdp:::ranged_columns(columns(y ~ a * b + bs(t, 4))), c(TRUE, FALSE, rep(FALSE, 4), FALSE))
})

test_that("counts, sides and candidates move by at most 1 with one record, and are those of the definition", {
  set.seed(1)
  for (i in seq_len(if (quick()) 60 else 400)) {
    n <- sample(c(1, 5, 40), 1)
    u <- switch(sample(3, 1), stats::runif(n, -1, 1), sample(c(-1, 0, 0.25, 1, NA), n, TRUE), pmax(-1, pmin(1, stats::rnorm(n, 0.3, 0.1))))
    v <- u
    v[sample(n, 1)] <- sample(c(NA, -1, 0.3, 1, 0.29), 1)
    half <- sample(c(0.5, 0.2, 1 / 64), 1)
    at <- riemdp:::window_centres(half)
    expect_identical(range(at), c(half - 1, 1 - half))
    expect_lte(max(diff(at)), half / 4 + 1e-12)
    both <- lapply(list(u, v), function(u) riemdp:::window_counts(features_of(u), 1, half))
    expect_equal(drop(both[[1]]), vapply(at, function(c) sum(abs(u - c) <= half, na.rm = TRUE), 0))
    expect_lte(abs(max(both[[1]]) - max(both[[2]])), 1)
    window <- c(center = stats::runif(1, -1, 1), half = stats::runif(1, 0.01, 0.6))
    sides <- lapply(list(u, v), function(u) riemdp:::window_sides(features_of(u), 1, window))
    z <- (u - window[["center"]]) / window[["half"]]
    expect_identical(sides[[1]], as.double(c(sum(z >= -2 & z < -0.2, na.rm = TRUE), sum(z > 0.2 & z <= 2, na.rm = TRUE), sum(abs(z) > 3, na.rm = TRUE))))
    # what check and trial decide by
    prices <- list(which = 1L, half = half)
    wide <- vapply(list(u, v), function(u) riemdp:::window_wide(features_of(u), rbind(0 * u), prices, n), 0)
    most <- max(0, tabulate(floor(u[!is.na(u)] * 2^15) + 2^15 + 1, 2^16 + 1))
    expect_equal(wide[1], min(max(both[[1]]) - 0.66 * n, 0.6 * n - most))
    expect_lte(abs(diff(wide)), 1 + 1e-9)
    asked <- lapply(sides, riemdp:::window_fits, n)
    expect_equal(asked[[1]], min(sides[[1]][1:2] - 0.14 * n, 0.07 * n - sides[[1]][3]))
    expect_lte(abs(asked[[1]] - asked[[2]]), 1 + 1e-9)
    k <- sample(-80:0, 1)
    score <- lapply(list(u, v), function(u) {
      cells <- riemdp:::guess_cells(features_of(u), features_of(u), 2)[[1]]
      level <- riemdp:::guess_level(cells, k, 0.65, grid = riemdp:::WINDOW_GRID)
      most <- floor(2^(2 - k / 4))
      expect_lte(max(0, abs(level$at)), most)
      expect_identical(level$others + length(level$at), 2 * most + 1)
      list(level = level, at = function(m) ifelse(m %in% level$at, level$score[match(m, level$at)], level$floor))
    })
    m <- union(score[[1]]$level$at, score[[2]]$level$at)
    if (length(m)) expect_lte(max(abs(score[[1]]$at(m) - score[[2]]$at(m))), 1 + 1e-9)
    expect_lte(abs(score[[1]]$level$floor - score[[2]]$level$floor), 1)
  }
})

test_that("exact probabilities of a search differ by no more than its price, and draws have them", {
  grid <- riemdp:::WINDOW_GRID
  grid$levels <- -24:0 # all candidates are listed below
  epsilon <- 0.7
  law <- function(u) {
    cells <- riemdp:::guess_cells(features_of(u), features_of(u), 2)[[1]]
    levels <- riemdp:::guess_levels(cells, 0.65, grid)
    none <- -epsilon * 0.4 * sum(!is.na(u)) / 2
    weights <- lapply(levels, riemdp:::level_weights, epsilon = epsilon)
    whole <- riemdp:::log_sum_exp(c(unlist(weights), none))
    p <- unlist(lapply(seq_along(levels), function(i) {
      k <- grid$levels[i]
      at <- -grid$centres(k):grid$centres(k)
      score <- ifelse(at %in% levels[[i]]$at, levels[[i]]$score[match(at, levels[[i]]$at)], levels[[i]]$floor)
      stats::setNames(epsilon * score / 2 - whole, paste(k, at))
    }))
    list(p = c(p, none = none - whole), cells = cells)
  }
  set.seed(2)
  most <- 0
  for (i in seq_len(if (quick()) 6 else 40)) {
    u <- switch(1 + i %% 3, stats::runif(20, -1, 1), stats::rnorm(20, 0.3, 0.05), sample(c(-1, 1), 20, TRUE))
    v <- u
    v[1] <- sample(c(NA, -1, 1, 0.3), 1)
    pair <- lapply(list(u, v), law)
    expect_equal(sum(exp(pair[[1]]$p)), 1)
    most <- max(most, abs(pair[[1]]$p - pair[[2]]$p))
  }
  expect_lte(most, epsilon + 1e-9)
  expect_gt(most, 0.4 * epsilon)
  epsilon <- 3
  one <- law(c(stats::rnorm(30, 0.3, 0.05), 1))
  draws <- if (quick()) 400 else 2000
  got <- with_simulation(3, replicate(draws, {
    found <- riemdp:::search_guess(one$cells, 0.65, epsilon, grid = grid)
    if (is.na(found[["k"]])) "none" else paste(found, collapse = " ")
  }))
  expect_true(all(got %in% names(one$p)))
  often <- one$p[exp(one$p) > 8 / draws]
  count <- table(factor(got, names(often)))
  p <- c(exp(often), 1 - sum(exp(often)))
  expect_gt(sum(exp(often)), 0.5)
  expect_gt(stats::chisq.test(c(count, draws - sum(count)), p = p)$p.value, 1e-6)
})

test_that("features of windows and what records count are within what the noise is for, and rest on their own row", {
  set.seed(4)
  u <- rbind(stats::runif(300, -1, 1), c(-1, 1, stats::runif(298, -1, 1)))
  x <- rbind(1, u)
  x[, 7] <- 0
  window <- list(center = c(0.4, -0.9), half = c(0.02, 0.3))
  f <- riemdp:::window_features(x, window)
  w <- riemdp:::shares_of(f)
  expect_true(all(f[, 7] == 0))
  expect_equal(f[-1, -7], (x[-1, -7] - window$center) / window$half, ignore_attr = TRUE)
  expect_equal(w[-7], 1 / pmax(1, apply(abs(f[-1, -7]), 2, max))^2)
  expect_true(all(w > 0 & w <= 1))
  # Theorem 1's constants: gradients in the cube, and w x_k^2 at most 1
  expect_lte(max(rep(w, each = 3) * abs(f)), 1)
  expect_lte(max(rep(w, each = 3) * f^2), 1)
  expect_identical(riemdp:::window_features(x[, 3, drop = FALSE], window)[, 1], f[, 3])
  # units' shares are counted in, and their number stays
  shared <- riemdp:::window_features(riemdp:::with_shares(x, structure(rep(0.5, 300), units = 150)), window)
  expect_equal(riemdp:::shares_of(shared), w / 2)
  expect_identical(riemdp:::counted_in(shared, 300), 150)
  # coefficients go back to those of (1, u)
  b <- rbind(c(1, -2, 0.5), c(0, 3, 1))
  expect_equal(b %*% f[, -7], (b %*% riemdp:::window_map(window)) %*% x[, -7], ignore_attr = TRUE)
  rule <- riemdp:::linear_rule(c(windows_of(1000, 2)$ask, list(window = window)), 1)
  # the solver's: gradients and curvature have the record's weight, predictions don't
  expect_gte(riemdp:::most_reach(rule), max(w * colSums(f^2), w^2 * colSums(f^2)))
  expect_gte(riemdp:::longest_window_features(window), max(colSums(f^2)))
  expect_lt(riemdp:::longest_window_features(window), 2 * max(colSums(riemdp:::window_features(rbind(1, c(-1, 1), c(1, 1)), window)^2)))
  ridge <- matrix(rule$ridge, 1)
  tolerance <- function(rule) riemdp:::solver_tolerance(rule, ridge, rule$rate, riemdp:::REACH)
  near <- rule
  near$window$half <- near$window$half * 1e6
  expect_equal(tolerance(rule), tolerance(near), tolerance = 1e-3) # squares of rounding alone
  expect_gt(tolerance(rule), tolerance(near))
  none <- rule
  none$window <- NULL
  expect_gt(tolerance(near) / tolerance(none), 17 / 16) # products with what a record counts
})

test_that("with next to no noise a fit in windows is the weighted one", {
  set.seed(5)
  n <- 4000
  x <- rbind(1, stats::rnorm(n, 0.2, 0.1))
  y <- rbind(20 * (x[2, ] - 0.2)^2 + 2 * x[2, ] + 0.1 * stats::rnorm(n)) # no line: weights matter
  ask <- windows_of(n, method = "objective", epsilon = 900)$ask
  ask$window <- list(center = 0.25, half = 0.08)
  f <- riemdp:::window_features(x, ask$window)
  out <- drop(with_simulation(1, riemdp:::release_perturbed(x, y, riemdp:::linear_rule(ask, 900))))
  off <- function(fit) max(abs(out - stats::coef(fit)))
  expect_lt(off(stats::lm(y[1, ] ~ x[2, ], weights = riemdp:::shares_of(f))), 0.01)
  expect_gt(off(stats::lm(y[1, ] ~ x[2, ])), 0.1)
})

test_that("narrow predictors are found, filled ranges and values that are alike are left alone: exact probabilities of check and trial", {
  n <- 1000
  p <- (seq_len(n) - 0.5) / n
  w <- windows_of(n)$plan$check$window
  expect_equal(w$half, 0.3)
  searched <- function(u) stats::plogis(w$check * riemdp:::window_wide(features_of(u), rbind(0 * u), w, n))
  tried <- function(u, window) {
    stats::plogis(w$trial * riemdp:::window_fits(riemdp:::window_sides(features_of(u), 1, window), n))
  }
  window_around <- function(u) c(center = stats::median(u), half = 2 * diff(stats::quantile(u, c(0.175, 0.825), names = FALSE)) / 2)
  narrow <- list(normal = stats::qnorm(p, 0.2, 0.1), tiny = stats::qnorm(p, -0.5, 0.001), even = stats::qunif(p, 0.3, 0.6), skewed = stats::qexp(p, 20) - 1)
  for (name in names(narrow)) {
    u <- narrow[[name]]
    expect_gt(searched(u), 1 - 1e-3, label = name)
    expect_gt(tried(u, window_around(u)), if (name == "skewed") 0.98 else 0.995, label = name)
  }
  expect_lt(searched(stats::qunif(p, -1, 1)), 1e-3)
  expect_lt(searched(stats::qnorm(p, 0, 1 / 3)), 0.45) # ranges of three standard deviations to either side
  # values that many records share: no window around one, which would leave the others next to nothing
  for (share in c(0.7, 0.9)) expect_lt(searched(rep(c(-1, 1), n * c(share, 1 - share))), 0.1)
  for (share in c(0.55, 0.7, 0.9)) {
    u <- rep(c(-1, 1), n * c(share, 1 - share))
    for (window in list(c(center = -1, half = 0.1), c(center = -0.97, half = 0.1), c(center = -1.05, half = 0.1))) expect_lt(tried(u, window), 1e-5)
  }
  # far records, which tell more of a slope than all others
  far <- c(stats::qnorm(p[seq_len(800)] / 0.8, -0.8, 0.05), stats::qnorm((p[801:1000] - 0.8) / 0.2, 0.8, 0.05))
  expect_lt(tried(far, window_around(far[1:800])), 1e-4)
  # as it is done
  u <- rep(c(-1, 1), n * c(0.7, 0.3))
  try_it <- function(window) with_simulation(1, riemdp:::tried_window(features_of(u), rbind(u), 1, window, 0.2, n))
  expect_false(try_it(c(center = -0.95, half = 0.1))) # all on one side
  u <- stats::qnorm(p, -0.95, 0.03)
  expect_true(try_it(c(center = -0.95, half = 0.06)))
  # the more records, the narrower a range must be to be worth it
  halves <- vapply(c(1e3, 1e4, 1e5, 1e6), function(n) windows_of(n)$plan$check$window$half, 0)
  expect_true(all(diff(halves) < 0))
  expect_gte(min(halves), 2^-6)
})

test_that("errors of narrow predictors are far below those without, and what is told is about right", {
  skip_if(quick())
  # means of 60 fits; without windows errors are 20 to 40 times larger
  n <- 2000
  set.seed(6)
  frame <- data.frame(x = stats::rnorm(n, 0.2, 0.1))
  frame$y <- 7 * (frame$x - 0.2) + 0.7 * stats::rnorm(n)
  best <- stats::fitted(stats::lm(y ~ x, frame))
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  for (method in c("objective", "recentred")) {
    fits <- function(guess) with_simulation(7, lapply(1:60, function(i) dp_lm(y ~ x, frame, 1, bounds = bounds, method = method, guess = guess)))
    excess <- function(fits) vapply(fits, function(f) mean((predict(f, frame) - best)^2), 0)
    good <- fits("checked")
    expect_gt(mean(vapply(good, function(f) f$details$windows$narrowed, NA)), 0.9)
    expect_lt(stats::median(excess(good)), 0.15 * stats::median(excess(fits("trusted"))))
    told <- mean(vapply(good, `[[`, 0, "expected_error"))
    expect_lt(mean(pmin(excess(good), 10 * told)), 2 * told)
    # errors about the estimate, as vcov() has them
    z <- vapply(good, function(f) (coef(f)[[2]] - stats::coef(stats::lm(y ~ x, frame))[[2]]) / sqrt(vcov(f)[2, 2]), 0)
    expect_lt(stats::mad(z), 1.4)
    expect_gt(stats::mad(z), 0.3)
    if (method == "objective") {
      within <- vapply(good, function(f) {
        ends <- confint(f, type = "bound")
        all(ends[, 1] <= stats::coef(stats::lm(y ~ x, frame)) & stats::coef(stats::lm(y ~ x, frame)) <= ends[, 2])
      }, NA)
      expect_gt(mean(within[vapply(good, function(f) f$details$windows$narrowed, NA)]), 0.85)
    }
  }
})

test_that("what was found is said, paid for and used: prints, chunks, intervals", {
  set.seed(8)
  n <- 1500
  frame <- data.frame(x = 40 + 10 * stats::rnorm(n, 0.2, 0.1), z = stats::runif(n), g = sample(c("a", "b"), n, TRUE))
  frame$y <- (frame$x - 42) / 2 + frame$z + 0.5 * stats::rnorm(n)
  frame$y[3] <- NA
  bounds <- list(x = c(30, 50), z = c(0, 1), g = c("a", "b"), y = c(center = 0, scale = 1))
  ledger <- dp_ledger(epsilon = 3)
  run <- function(data, ...) with_simulation(9, dp_lm(y ~ x + z + g, data, 2, bounds = bounds, method = "recentred", ...))
  fit <- dp_lm(y ~ x + z + g, frame, 2, bounds = bounds, method = "recentred", ledger = ledger)
  expect_equal(ledger_history(ledger)$epsilon, 2)
  fit <- run(frame)
  told <- fit$details$windows
  expect_identical(told$predictor, c("x", "z"))
  expect_identical(told$narrowed, c(TRUE, FALSE))
  expect_true(told$lower[1] > 38 && told$upper[1] < 46)
  expect_identical(unlist(told[2, c("lower", "upper")], use.names = FALSE), c(0, 1))
  w <- fit$details$check$window
  expect_equal(fit$details$left, 2 - fit$details$check$check - 2 * w$check - sum(told$searched) * w$search - sum(told$tried) * w$trial)
  expect_lte(fit$details$rule$nominal_epsilon + length(fit$details$scales) * (fit$details$first$nominal_epsilon + fit$details$share$scale * fit$details$left),
             fit$details$left)
  expect_output(print(fit), "rows count less beyond `x`")
  expect_output(explain(fit), "range of each predictor was checked")
  expect_output(explain(fit), "count less:\\s+`x`")
  expect_output(print(dp_lm_plan(n, 1, epsilon = 2)), "check of the range")
  trusted <- run(frame, guess = "trusted")
  expect_null(trusted$details$windows)
  expect_no_match(paste(utils::capture.output(print(trusted), explain(trusted)), collapse = " "), "rows count less|range of")
  for (size in c(700, 111)) {
    chunked <- run(chunks(frame, size))
    expect_identical(chunked$details$windows, told)
    expect_equal(chunked$value, fit$value, tolerance = 1e-8)
  }
  one <- rep(seq_len(n / 3), each = 3)
  units <- with_simulation(9, dp_lm(y ~ x, cbind(frame, id = one), 2, bounds = bounds[c("x", "y")], unit = "id"))
  expect_true(units$details$windows$narrowed)
  residual <- with_simulation(10, dp_residual_scale(fit, frame, 0.5))
  ends <- confint(fit, residual = residual, nsim = 200, level = 0.999)
  expect_true(all(ends[c("x", "z"), 1] < c(0.5, 1) & c(0.5, 1) < ends[c("x", "z"), 2]))
  # moments of predictors are of window features, those beyond at its ends
  f <- riemdp:::window_features(rbind(1, (frame$x[-3] - 40) / 10, 2 * frame$z[-3] - 1, 2 * (frame$g[-3] == "b") - 1), fit$details$rule$window)
  f[] <- pmin(1, pmax(-1, f))
  exact <- with_simulation(1, dp_residual_scale(fit, frame, 1e6))
  expect_equal(exact$moments$xx[2, ], drop(f %*% f[2, ]), tolerance = 1e-4, ignore_attr = TRUE)
  chunked <- with_simulation(1, dp_residual_scale(fit, chunks(frame, 700), 1e6))
  expect_equal(chunked$moments$xx, exact$moments$xx, tolerance = 1e-4)
  expect_true(all(is.na(summary(fit, residual = residual)$fit[c("r.squared", "r.squared.std.error")])))
  torn <- fit
  torn$details$rule$window$half <- torn$details$rule$window$half[-1]
  expect_error(with_simulation(1, dp_residual_scale(torn, frame, 1)), "as dp_lm\\(\\) made it", class = "riemdp_error_argument")
  eq <- riemdp:::line_equation(fit)
  expect_equal(eq$step %*% riemdp:::window_map(fit$details$rule$window), (fit$scaled_coefficients - fit$details$from) / fit$details$unit)
  expect_equal(eq$pull, fit$details$rule$ridge * eq$step, ignore_attr = TRUE)
  # as wide as sampling and noise make it: without the window's map it would be 30 times as wide, or next to nothing
  width <- diff(confint(fit, "x", residual = residual, nsim = 400)[1, ]) / diff(stats::confint(stats::lm(y ~ x + z + g, frame), "x")[1, ])
  expect_true(width > 1 && width < 4)
})

test_that("intervals about the population hold for predictors of any shape, however wide the range", {
  skip_if(quick())
  # two laws, 60 fits each: fewer than 50 of 60 have a probability below 1e-4 if .95 hold
  laws <- list(thin = function(n) stats::rnorm(n, 0.2, 0.01), skewed = function(n) exp(stats::rnorm(n)) / 10 - 1)
  n <- 1500
  for (name in names(laws)) {
    held <- vapply(1:60, function(i) {
      set.seed(100 + i)
      x <- pmin(1, laws[[name]](n))
      slope <- if (name == "thin") 70 else 4
      frame <- data.frame(x = x, y = slope * (x - if (name == "thin") 0.2 else -0.9) + 0.7 * stats::rnorm(n))
      fit <- dp_lm(y ~ x, frame, 1, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1)), method = "objective")
      if (!fit$details$windows$narrowed) return(NA)
      ends <- confint(fit, residual = dp_residual_scale(fit, frame, 0.3), nsim = 200)
      ends[2, 1] <= slope && slope <= ends[2, 2]
    }, NA)
    expect_gt(mean(!is.na(held)), 0.6, label = name)
    expect_gt(mean(held, na.rm = TRUE), 50 / 60, label = name)
  }
})

test_that("models with bases have no windows, and are paid for once they can be fitted", {
  set.seed(11)
  n <- 3000
  frame <- data.frame(a = stats::rnorm(n, 0.3, 0.02), t = stats::runif(n))
  frame$y <- 10 * frame$a + sin(6 * frame$t) + stats::rnorm(n, 0, 0.1)
  bounds <- list(a = c(-2, 2), t = c(0, 1), y = c(center = 3, scale = 1))
  for (method in c("auto", "objective", "recentred")) {
    for (formula in list(y ~ a + bs(t, 4), y ~ a + poly(t, 2))) {
      fit <- dp_lm(formula, frame, 2, bounds = bounds, method = method)
      expect_null(fit$details$windows)
      expect_null(fit$details$rule$window)
    }
  }
})
