# The check of a response's public guess and the search for centre and scale: prices, utilities, laws, what a wrong guess does to the error.

guess_of <- function(n, d = 1, q = 1, epsilon = 1, method = "auto") {
  ask <- riemdp:::linear_ask(n, d, q, epsilon, 0, method, 0.3, "auto")
  list(ask = ask, plan = riemdp:::plan_linear(ask))
}

# utilities by their definition: a window's count, the median's place, and the floor
plain_utility <- function(v, k, m, fraction) {
  s <- 2^(k / 4)
  v <- v[!is.na(v)]
  center <- m * s / 4
  window <- sum(v >= center - s & v < center + s) - fraction * length(v)
  if (k <= -77 || abs(m) > 2^21) window <- min(0, window)
  -min(max(abs(window), sum(v < center - s / 4) - length(v) / 2, length(v) / 2 - sum(v < center + s / 4)), (fraction - 0.05) * length(v))
}

# utility of any candidate as the search has it
search_utility <- function(cells, k, m, fraction, level = riemdp:::guess_level(cells, k, fraction)) {
  at <- match(m, level$at)
  ifelse(is.na(at), level$floor, level$score[at])
}

cells_of <- function(v) {
  x <- rbind(as.double(!is.na(v)))
  v[is.na(v)] <- 0
  riemdp:::guess_cells(x, rbind(v), 1)[[1]]
}

nasty_values <- function(n) {
  switch(sample(6, 1), stats::rnorm(n), 1e4 + stats::rnorm(n), 1e-5 * stats::rnorm(n), sample(c(0, 1, 2^-18, -3e6, NA), n, TRUE),
         10^stats::runif(n, -12, 12) * sample(c(-1, 1), n, TRUE), round(100 * stats::rt(n, 1)) / 64)
}

test_that("prices are public numbers that never add up to more than epsilon, whatever is searched", {
  grid <- expand.grid(n = c(60, 100, 299, 300, 1000, 2345, 1e4, 1e7), epsilon = c(0.01, 1, 8, 100), q = c(1, 2, 5),
                      method = c("objective", "recentred", "statistics"))
  checked <- 0
  for (i in seq_len(nrow(grid))) {
    g <- grid[i, ]
    ask <- riemdp:::linear_ask(g$n, 1, g$q, g$epsilon, 0, as.character(g$method), 0.3, "auto")
    prices <- riemdp:::guess_prices(ask, riemdp:::linear_methods()[[ask$method]])
    expect_identical(is.null(prices), g$n < 100 || g$n * g$epsilon < 300 * g$q)
    if (is.null(prices)) next
    checked <- checked + 1
    expect_equal(prices$check, max(20 / g$n, 0.005 * g$epsilon / g$q))
    expect_equal(prices$search, max(110 / g$n, 0.03 * g$epsilon / g$q))
    for (searched in 0:g$q) {
      left <- riemdp:::guess_left(ask, prices, searched)$epsilon
      expect_lte(g$q * prices$check + searched * prices$search + left, g$epsilon)
      expect_gt(left, 0.56 * g$epsilon)
    }
  }
  expect_gt(checked, 40)
  # those that are there to compare take the guess as it is
  for (method in c("huber", "kng", "paper")) expect_null(riemdp:::guess_prices(guess_of(2000)$ask, riemdp:::linear_methods()[[method]]))
  # a fit's own plan has what is left, its promise and its ledger's entry the whole
  for (method in c("objective", "recentred", "statistics", "output")) {
    g <- guess_of(2000, method = method)
    expect_identical(g$plan$guarantee$epsilon, 1)
    spent <- g$plan$rule$epsilon
    if (!is.null(spent)) expect_lte(spent, 1 - 20 / 2000)
    if (method == "output") expect_lte(g$plan$rule$rate * 2 * g$plan$rule$tau * sqrt(g$plan$rule$t) + g$plan$rule$solver, 1 - 20 / 2000)
  }
  g <- riemdp:::plan_linear(riemdp:::linear_ask(2000, 1, 1, 1, 1e-6, "adassp", 0.3, "auto"))
  expect_equal(g$mu, riemdp:::gaussian_mu(1 - 20 / 2000, 1e-6), tolerance = 1e-9)
  expect_null(g$guarantee$mu) # normal noise isn't all that is released
})

test_that("utilities are those of the definition, for every candidate, and one record moves each by at most 1", {
  set.seed(1)
  fraction <- 0.682
  trials <- if (quick()) 40 else 300
  for (i in seq_len(trials)) {
    v <- nasty_values(sample(c(1, 7, 61), 1))
    w <- v
    w[sample(length(v), 1)] <- sample(c(NA, 0, 1e300, -1e-9, stats::rnorm(1), 1e4), 1)
    for (k in sample(-80:80, 6)) {
      m <- c(sample(-3:3, 3), unlist(lapply(list(v, w), function(v) round(v[sample.int(length(v), 1)] / 2^(k / 4 - 2)) + (-3:3))), -2^22, 2^22)
      m <- unique(m[!is.na(m) & abs(m) <= 2^22])
      of <- lapply(list(v, w), function(v) search_utility(cells_of(v), k, m, fraction))
      expect_equal(of[[1]], vapply(m, function(m) plain_utility(v, k, m, fraction), 0), tolerance = 1e-12)
      expect_lte(max(abs(of[[1]] - of[[2]])), 1 + 1e-9)
    }
    # the check's
    off <- vapply(list(v, w), function(v) riemdp:::guess_off(riemdp:::guess_counts(rbind(as.double(!is.na(v))), rbind(ifelse(is.na(v), 0, v))), length(v)), 0)
    over <- function(counted, share) sum(counted, na.rm = TRUE) - share * length(v)
    expect_equal(off[1], max(over(abs(v) > 1.75, 0.24), over(v > 0.7, 0.45), over(v < -0.7, 0.45), over(abs(v) <= 0.15, 0.4)))
    expect_lte(abs(diff(off)), 1 + 1e-9)
  }
})

test_that("levels that are passed over have no window above the floor", {
  set.seed(3)
  for (v in list(c(-30:-1, 0.01 * 1:5, 2:31), stats::rnorm(200), rep(0.3, 40), c(rep(0.3, 9), 1:30), 5)) {
    cells <- cells_of(v)
    tables <- lapply(cells, riemdp:::guess_sums)
    same <- vapply(-80:80, function(k) {
      table <- tables[[1 + k %% 4]]
      level <- riemdp:::guess_level(cells, k, 0.682, table)
      table$span <- -Inf
      whole <- riemdp:::guess_level(cells, k, 0.682, table)
      if (length(level$at)) identical(whole, level) else all(whole$score == whole$floor)
    }, NA)
    expect_true(all(same))
  }
})

# exact log probabilities of the search
search_law <- function(v, fraction, epsilon) {
  cells <- cells_of(v)
  levels <- lapply(-80:80, function(k) riemdp:::guess_level(cells, k, fraction))
  none <- 13.2 - epsilon * (fraction - 0.25) * sum(!is.na(v)) / 2
  whole <- riemdp:::log_sum_exp(c(unlist(lapply(levels, riemdp:::level_weights, epsilon = epsilon)), none))
  function(k, m) if (is.na(k)) none - whole else epsilon * search_utility(cells, k, m, fraction, levels[[k + 81]]) / 2 - whole
}

# the candidates of a level that may be above the floor
law_at <- function(law, k) environment(law)$levels[[k + 81]]$at

test_that("exact probabilities of neighbours differ by no more than the prices say", {
  set.seed(2)
  epsilon <- 0.7
  most <- 0
  for (i in seq_len(if (quick()) 10 else 60)) {
    v <- nasty_values(25)
    w <- v
    w[1] <- sample(c(NA, 1e4, -2.6, 0, stats::rnorm(1)), 1)
    law <- lapply(list(v, w), search_law, fraction = 0.682, epsilon = epsilon)
    most <- max(most, abs(law[[1]](NA) - law[[2]](NA)))
    for (k in if (quick()) sample(-80:80, 20) else -80:80) {
      m <- unique(c(-1:1, 5000, law_at(law[[1]], k), law_at(law[[2]], k)))
      most <- max(most, abs(law[[1]](k, m) - law[[2]](k, m)))
    }
  }
  expect_lte(most, epsilon + 1e-9)
  expect_gt(most, 0.25 * epsilon)
  # the probabilities are all there are, and the draws have them
  v <- c(stats::rnorm(30), 50)
  law <- search_law(v, 0.682, epsilon)
  cells <- cells_of(v)
  levels <- lapply(-80:80, function(k) riemdp:::guess_level(cells, k, 0.682))
  mass <- vapply(levels, function(l) exp(riemdp:::log_sum_exp(riemdp:::level_weights(l, 0.7))), 0)
  search <- function(epsilon) riemdp:::search_guess(cells, 0.682, epsilon, levels)
  draws <- if (quick()) 50 else 200 # nearly all are of candidates without records, among four million a level
  got <- with_simulation(3, replicate(draws, search(epsilon)))
  expect_lt(exp(law(NA)), 0.05)
  got <- got[, !is.na(got[1, ])]
  draws <- ncol(got)
  expect_gt(stats::ks.test(got[1, ] + stats::runif(draws), "punif", -80, 81)$p.value, 1e-6) # levels weigh much the same
  expect_lt(diff(range(mass)) / mean(mass), 0.01)
  expect_gt(stats::ks.test(got[2, ], "punif", -2^22, 2^22)$p.value, 1e-6)
  epsilon <- 4 # and here those near the records
  law <- search_law(v, 0.682, epsilon)
  draws <- if (quick()) 250 else 1000
  got <- with_simulation(4, replicate(draws, paste(search(epsilon), collapse = " ")))
  candidates <- do.call(rbind, lapply(-80:80, function(k) {
    at <- law_at(law, k)
    if (length(at)) data.frame(k = k, m = at, p = exp(law(k, at)))
  }))
  often <- candidates[candidates$p > 10 / draws, ]
  count <- table(factor(got, paste(often$k, often$m)))
  p <- c(often$p, 1 - sum(often$p))
  expect_gt(sum(often$p), 0.5)
  expect_gt(stats::chisq.test(c(count, draws - sum(count)), p = p)$p.value, 1e-6)
})

test_that("the check's draw has the probabilities that its price allows", {
  draws <- if (quick()) 4000 else 20000
  got <- with_simulation(5, replicate(draws, riemdp:::found_off(c(4, -1), 0.4)))
  # one record moves -s and s by 1 each, so the odds by exp(epsilon)
  expect_lt(max(abs(rowMeans(got) - stats::plogis(0.4 * c(4, -1)))), 5 * 0.5 / sqrt(draws))
})

test_that("good guesses pass, nearly right ones are searched, and windows that are found fit: exact probabilities, no draws", {
  n <- 1000
  u <- (seq_len(n) - 0.5) / n
  responses <- list(normal = stats::qnorm(u), gamma = (stats::qgamma(u, 2) - 2) / sqrt(2), t = stats::qt(u, 3) / sqrt(3))
  prices <- guess_of(n)$plan$check
  for (name in names(responses)) {
    y <- responses[[name]]
    searched <- function(center, scale) {
      counts <- riemdp:::guess_counts(rbind(rep(1, n)), rbind((y - center) / scale))
      stats::plogis(n * prices$check * riemdp:::guess_off(counts, n) / n)
    }
    # a search that wasn't needed costs a third more error, and of heavy tails it finds a smaller scale
    expect_lt(searched(0, 1), 0.05)
    for (guess in list(c(2, 2.5), c(3, 2.5), c(3, 4), c(-4, 5), c(2, 1))) expect_gt(searched(guess[1], guess[2]), 0.8, label = paste(name, guess[1], guess[2]))
    expect_gt(searched(0, 10), 0.99)
    expect_gt(min(searched(20, 1), searched(0, 1e4)), 1 - 1e-5) # a miss costs more than anything else
    for (guess in list(c(20, 1), c(3, 2.5), c(0, 1.3), c(-1e4, 1e-3))[seq_len(if (quick()) 2 else 4)]) {
      law <- search_law((y - guess[1]) / guess[2], prices$fraction, prices$search)
      p <- unlist(lapply(-80:80, function(k) {
        at <- law_at(law, k)
        found <- lapply(at, function(m) riemdp:::found_guess(c(k = k, m = m), prices$fraction))
        scale <- vapply(found, `[[`, 0, "scale") * guess[2]
        center <- vapply(found, `[[`, 0, "center") * guess[2] + guess[1]
        fits <- scale > 0.6 & scale < 1.33 & abs(center) < 0.6
        exp(law(k, at[fits]))
      }))
      expect_gt(sum(p), 0.9, label = paste(name, guess[1], guess[2]))
    }
  }
})

test_that("a check and a search are paid for before they read, and the fit has what they leave", {
  set.seed(6)
  n <- 1000
  frame <- data.frame(x = stats::runif(n, -1, 1))
  frame$y <- 500 + 3 * stats::rnorm(n)
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  ledger <- dp_ledger(epsilon = 1.5)
  entries <- NULL
  records <- chunks(list(frame[1:500, ], frame[501:1000, ]), sizes = c(500, 500), columns = c(x = "number", y = "number"), shape = function(x) {
    entries <<- c(entries, nrow(ledger_history(ledger)))
    x
  })
  fit <- dp_lm(y ~ x, records, 1, bounds = bounds, ledger = ledger)
  expect_identical(sum(entries == 0), 1L) # the names of columns
  expect_equal(fit$budget$cost[["epsilon"]], 1)
  expect_identical(guarantee(fit)$epsilon, 1)
  expect_true(fit$details$guess$searched)
  expect_false(fit$details$windows$searched)
  expect_equal(fit$details$left, 1 - 20 / n - 110 / n - 25 / n) # the last checks the predictor's range
  expect_lte(fit$details$rule$epsilon + length(fit$details$scales) * (fit$details$first$epsilon + fit$details$share$scale * fit$details$left),
             fit$details$left)
  expect_equal(fit$bounds$y[["center", 1]], fit$details$guess$center)
  expect_output(print(fit), "guess of `y` was off")
  expect_output(explain(fit), "checked first")
  expect_output(print(dp_lm_plan(n, 1, epsilon = 1)), "check of the guess")
  # noise of statistics is that of what is left, in units of the released scale
  fit <- with_simulation(1, dp_lm(y ~ x, frame, 1, bounds = bounds, method = "statistics"))
  sd <- riemdp:::statistics_sd(1, 1, fit$details$left)
  a <- solve(fit$details$moments$xx + diag(fit$details$ridge, 2))
  variance <- ((2 * fit$details$reach * sd[["block"]])^2 + (2 * sd[["one"]])^2 * sum(fit$scaled_coefficients^2)) * (a %*% a)[2, 2]
  expect_equal(diff(confint(fit)[2, ]), c(2 * stats::qnorm(0.975) * sqrt(variance) * fit$details$guess$scale), ignore_attr = TRUE)
})

test_that("a wrong guess costs little more error than a good one", {
  # mean excess over 20 (short form) or 40 draws; a ratio's standard deviation is about .35 or .25, so that 4.5 of them are allowed
  draws <- if (quick()) 20 else 40
  error <- function(n, d, center, scale) {
    set.seed(7)
    u <- matrix(stats::runif(n * d, -1, 1), d)
    y <- stats::rnorm(n) + colSums(u) / sqrt(d)
    y <- (y - mean(y)) / stats::sd(y)
    x <- rbind(1, u)
    best <- drop(t(x) %*% solve(tcrossprod(x), x %*% y))
    g <- guess_of(n, d)
    with_simulation(8, mean(vapply(seq_len(draws), function(i) {
      out <- riemdp:::release_linear(x, rbind((y - center) / scale), g$plan, g$ask)
      b <- out$b * out$guess$scale
      b[1] <- b[1] + out$guess$center
      mean((drop(b %*% x) * scale + center - best)^2)
    }, 0)))
  }
  allowed <- 3.1
  for (n in c(1000, if (!quick()) 10000)) {
    for (d in 1:2) {
      good <- error(n, d, 0, 1)
      # (-1.6, .4) in units of the guess passed the check once, at five times the error
      for (guess in list(c(20, 1), c(-1e4, 1), c(0, 1e4), c(0, 1e-4), c(2e3, 100), c(3, 2.5), c(4, 2.5), c(-4, 5))) {
        expect_lt(error(n, d, guess[1], guess[2]) / good, allowed, label = paste(n, d, guess[1], guess[2]))
      }
    }
  }
})

test_that("intervals after a wrong guess cover, and errors are in units of the released scale", {
  set.seed(9)
  n <- 1000
  frame <- data.frame(x = stats::runif(n, -1, 1))
  frame$y <- 20 + 5 * stats::rnorm(n)
  want <- coef(stats::lm(y ~ x, frame))
  draws <- if (quick()) 60 else 200
  fits <- with_simulation(10, lapply(seq_len(draws), function(i) {
    dp_lm(y ~ x, frame, 1, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1)))
  }))
  covered <- mean(vapply(fits, function(f) {
    ci <- confint(f)
    mean(ci[, 1] <= want & want <= ci[, 2])
  }, 0))
  expect_gt(covered, 0.8) # .10 without the check
  scale <- vapply(fits, function(f) f$details$guess$scale, 0)
  expect_true(all(scale > 2 & scale < 12))
  excess <- vapply(fits, function(f) mean((predict(f, frame) - want[1] - want[2] * frame$x)^2), 0)
  stated <- vapply(fits, function(f) f$expected_error * f$details$guess$scale^2, 0)
  expect_lt(mean(excess), 3 * mean(stated))
})

test_that("guesses that are off by more than is searched are said so, from released numbers", {
  set.seed(11)
  n <- 1000
  frame <- data.frame(x = stats::runif(n, -1, 1), far = 1e9 + stats::rnorm(n), wide = 1e9 * stats::rnorm(n), same = 7, rare = as.double(seq_len(n) <= 5))
  fit <- function(formula, ...) {
    bounds <- list(x = c(-1, 1), c(center = 0, scale = 1))
    names(bounds)[2] <- all.vars(formula)[1]
    with_simulation(12, dp_lm(formula, frame, 1, bounds = bounds, ...))
  }
  expect_warning(far <- fit(far ~ x), "off by more", class = "riemdp_warning_guess")
  expect_identical(far$expected_error, NA_real_)
  expect_warning(wide <- fit(wide ~ x), "`wide`", class = "riemdp_warning_guess")
  # where most values are the same the centre is found, and no scale made up
  expect_warning(same <- fit(same ~ x), "`same`", class = "riemdp_warning_guess")
  expect_identical(same$bounds$y[["scale", 1]], 1)
  expect_lt(abs(same$bounds$y[["center", 1]] - 7), 1e-5)
  expect_lt(abs(coef(same)[[1]] - 7), 1)
  expect_warning(rare <- fit(rare ~ x), class = "riemdp_warning_guess")
  expect_lt(max(abs(coef(rare))), 0.5)
  # re-centring without a check has the residuals' scale only
  data <- data.frame(x = stats::runif(290, -1, 1), y = 1e8 + stats::rnorm(290))
  expect_warning(top <- with_simulation(13, dp_lm(y ~ x, data, 1, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1)), method = "recentred")),
                 "top of its grid", class = "riemdp_warning_guess")
  expect_identical(top$expected_error, NA_real_)
  expect_length(top$details$scales, 1)
})

test_that("chunks give the check, the search and the fit of memory", {
  set.seed(14)
  n <- 1200
  frame <- data.frame(x = stats::runif(n, -1, 1), y = 300 + 0.01 * stats::rnorm(n), z = stats::rnorm(n))
  frame$y[5] <- NA
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1), z = c(center = 0, scale = 1))
  for (method in c("auto", "statistics")) {
    run <- function(data) with_simulation(15, dp_lm(cbind(y, z) ~ x, data, 1, bounds = bounds, method = method))
    whole <- run(frame)
    expect_identical(whole$details$guess$searched, c(TRUE, FALSE))
    for (size in c(500, 77)) {
      first <- run(chunks(frame, size))
      expect_equal(first$value, whole$value, tolerance = 1e-9)
      expect_identical(first$details$guess, whole$details$guess)
      expect_identical(first$bounds, whole$bounds)
    }
  }
})

test_that("a record with a missing cell counts alike everywhere", {
  v <- c(NA, 1:9)
  w <- c(NA, NA, 2:9)
  x <- rbind(as.double(!is.na(v)))
  expect_equal(riemdp:::guess_counts(x, rbind(ifelse(is.na(v), 0, v))), cbind(8, 9, 0, 0))
  expect_equal(riemdp:::guess_counts(cbind(1, 0, 1, 1), rbind(c(-5, 0, 0.1, -0.72))), cbind(1, 0, 2, 1))
  expect_identical(sum(cells_of(w)[[1]]$count), 8)
  out <- riemdp:::guessed_responses(rbind(1), rbind(5), data.frame(center = 3, scale = 2), Inf)
  expect_equal(out[1, 1], 1)
  # fits see responses no longer than the proof of their rounding allows
  far <- riemdp:::residual_responses(rbind(1), rbind(5e7), matrix(0), 2, limit = riemdp:::REACH)
  expect_equal(far[1, 1], riemdp:::REACH)
  expect_equal(riemdp:::guessed_responses(rbind(1), rbind(5e9), data.frame(center = 0, scale = 1), 3)[1, 1], 3)
  expect_identical(riemdp:::guessed_responses(rbind(0), rbind(0), data.frame(center = 3, scale = 2), Inf)[1, 1], 0)
})
