# Rounds of AdaSSP: inst/proofs/linear-regression.md, section 16

inner <- function(name) getFromNamespace(name, "riemdp")
asked <- function(n, d, epsilon = 1, r_squared = 0.3, q = 1) inner("linear_ask")(n, d, q, epsilon, 1e-6, "boosted", r_squared, "auto", "trusted")
bounds_of <- function(d) c(stats::setNames(rep(list(c(-1, 1)), d), paste0("X", seq_len(d))), list(y = c(center = 0, scale = 1)))
boosted <- function(data, epsilon = 1, ..., guess = "trusted") {
  dp_lm(y ~ ., data, epsilon, 1e-6, bounds_of(ncol(data) - 1), method = "boosted", guess = guess, ...)
}

# how far each draw's numbers lie apart beside what its price allows, given what the first data's draws released
moved <- function(one, two) {
  own <- function(data, after = NULL) draws_of(with_simulation(1, boosted(data, 3)), after)
  a <- own(one)
  b <- own(two, a)
  unlist(Map(moved_moments, a$draws, b$draws))
}

test_that("no replaced record moves what noise is added to by more than the price states, and worst ones by as much", {
  at <- function(x, y) stats::setNames(data.frame(t(x), y), c(paste0("X", seq_along(x)), "y"))
  # orthogonal rows of full length, in turn: the last one is what the least eigenvalue lacks, X'X moves by two projections
  frame <- function(x, y) {
    rest <- do.call(rbind, lapply(list(c(1, -1, -1), c(-1, 1, -1), c(-1, -1, 1)), at, y = 0))
    rbind(at(x, y), rest[rep(1:3, each = 15), ])
  }
  plan <- inner("linear_boosted")$plan(asked(46, 3, 3))
  reach <- moved(frame(c(1, 1, 1), 1e5), frame(c(1, 1, 1), -1e5))
  expect_length(reach, 2 + length(plan$clips))
  expect_true(all(reach <= 1))
  expect_true(all(reach[names(reach) == "sums"] >= 0.999)) # every round
  reach <- moved(frame(c(1, 1, 1), 0), frame(c(1, -1, -1), 0))
  expect_true(all(reach <= 1))
  expect_true(all(reach[c("eigenvalue", "squares")] >= 0.999))
  # others, among them rows beyond the bounds and missing ones
  set.seed(5)
  base <- stats::setNames(data.frame(matrix(stats::runif(180, -1, 1), 60), stats::rnorm(60)), c("X1", "X2", "X3", "y"))
  worst <- 0
  for (i in seq_len(if (quick()) 20 else 150)) {
    row <- function() at(sample(c(-1, 1, 0, 9, NA, stats::runif(1)), 3, TRUE, c(4, 4, 1, 1, 0.3, 1)), sample(c(-1e9, -1, 0, 1, 1e9, NA), 1))
    pair <- list(rbind(row(), base[-1, ]), rbind(row(), base[-1, ]))
    worst <- max(worst, moved(pair[[1]], pair[[2]]))
  }
  expect_lte(worst, 1)
  expect_gt(worst, 0.7)
})

test_that("prices are of the noise that is drawn, and their squares add up to mu's", {
  for (case in list(c(200, 1, 1), c(3000, 5, 2), c(50, 0, 1))) {
    ask <- asked(case[1], case[2], q = case[3])
    plan <- inner("linear_boosted")$plan(ask)
    b <- sqrt(case[2] + 1)
    spent <- c(b^2, sqrt(2) * b^2, 2 * b * plan$clips) / plan$sd
    expect_equal(sqrt(sum(spent^2)), plan$mu, tolerance = 1e-9)
    expect_lte(sqrt(sum(spent^2)), plan$mu)
    expect_lte(gaussian_delta(plan$mu, 1), 1e-6)
    expect_gte(gaussian_delta(plan$mu * 1.001, 1), 1e-6)
    # what is asked for as it is drawn
    x <- matrix(0, case[2] + 1, case[1])
    prices <- lapply(draws_of(with_simulation(1, inner("linear_boosted")$release(x, matrix(0, case[3], case[1]), plan, ask)))$draws, `[[`, "price")
    expect_equal(vapply(prices, function(p) p$sensitivity, 0), c(b^2, sqrt(2) * b^2, 2 * b * plan$clips))
    expect_true(all(diff(plan$clips) <= 0)) # rounds from the public scale downwards
  }
  # rounds cost what one would
  ledger <- dp_ledger(epsilon = 1, delta = 1e-5)
  fit <- boosted(data.frame(X1 = stats::runif(50), y = 0), 0.6, ledger = ledger)
  expect_identical(nrow(ledger_history(ledger)), 1L)
  expect_identical(guarantee(fit)[c("label", "epsilon", "delta")], list(label = "approx", epsilon = 0.6, delta = 1e-6))
  expect_error(boosted(data.frame(X1 = stats::runif(50), y = 0), 0.6, ledger = ledger), class = "riemdp_error_budget")
})

test_that("noise has the law that is told", {
  plan <- inner("linear_boosted")$plan(asked(4000, 1, q = 2))
  plan$clips <- plan$clips[1:2]
  # records that are all missing: X'X and the sums are noise
  draws <- if (quick()) 4000 else 20000
  noise <- with_simulation(2, replicate(draws, {
    seen <- list()
    keep <- function(a, sensitivity, sd) { # as each release draws
      drawn <- inner("normal_products")(a, sensitivity, sd, "linear-regression.md, 16", both = ncol(a) == nrow(a) && sd == plan$sd[["xx"]])
      seen[[length(seen) + 1]] <<- drawn
    }
    keep(matrix(0, 2, 2), 1, plan$sd[["xx"]])
    keep(matrix(0, 3, 2), 1, plan$sd[[3]])
    squares <- inner("release_gram")(matrix(0, 2, 2), plan, list(d = 1, n = 40), "linear-regression.md, 16")
    c(seen[[1]][c(1, 2, 4)], seen[[2]][c(1, 4, 6)], squares$xx[2, ], squares$ridge)
  }))
  near <- function(x, to) expect_lt(abs(mean(x^2) / to^2 - 1), 6 * sqrt(2 / length(x)))
  near(noise[c(1, 3), ], plan$sd[["xx"]])
  near(noise[2, ], plan$sd[["xx"]] / sqrt(2)) # weighed by sqrt 2 off the diagonal
  near(noise[4:6, ], plan$sd[[3]])
  near(noise[8, ], plan$sd[["xx"]])
  near(noise[7, ], plan$sd[["xx"]] / sqrt(2))
  # the ridge: what the noise may take, less the eigenvalue's lower end
  high <- replace(plan, "lift", 100 * plan$sd[["value"]])
  value <- with_simulation(3, replicate(draws, {
    100 - inner("release_gram")(diag(40 * plan$sd[["value"]], 2), high, list(d = 1, n = 40), "linear-regression.md, 16")$ridge / plan$sd[["value"]]
  }))
  expect_lt(abs(mean(value) - 40 + stats::qnorm(0.95)), 5 / sqrt(draws))
  near(value - mean(value), 1)
  # from the whole release: all that the first solve of sums of pure noise is
  ask <- asked(40, 1, q = 2)
  one <- plan
  one$clips <- plan$clips[1]
  solved <- function(out) {
    e <- eigen(out$details$squares + diag(out$details$ridge, 2), symmetric = TRUE)
    out$b %*% e$vectors %*% (pmax(e$values, out$details$ridge) * t(e$vectors))
  }
  x <- matrix(0, 2, 40)
  b <- with_simulation(4, replicate(draws, solved(inner("linear_boosted")$release(x, x, one, ask))))
  near(b[, 1, ], plan$sd[[3]])
  # the second round's noise comes to what is left of the first, which sums of missing records don't know
  b <- with_simulation(5, replicate(draws, solved(inner("linear_boosted")$release(x, x, plan, ask))))
  near(b[, 1, ], sqrt(sum(plan$sd[3:4]^2)))
})

# predictors with the model's variance, and its errors
boosted_excess <- function(n, d, r_squared, runs, epsilon = 1, q = 1, method = "boosted", wide = 1 / sqrt(2)) {
  got <- with_simulation(3, replicate(runs, {
    u <- matrix(stats::runif(n * d, -wide, wide), n)
    y <- replicate(q, {
      slopes <- stats::rnorm(d)
      line <- drop(u %*% (slopes / sqrt(sum(slopes^2) * wide^2 / 3))) * sqrt(r_squared)
      sqrt(0.15) * sample(c(-1, 1), 1) + line + sqrt(1 - r_squared) * (stats::rgamma(n, 4) - 4) / 2
    })
    ask <- asked(n, d, epsilon, r_squared, q)
    plan <- inner("linear_methods")()[[method]]$plan(ask)
    x <- rbind(1, t(u))
    out <- inner("linear_methods")()[[method]]$release(x, t(y), plan, ask)$b
    off <- out - t(solve(tcrossprod(x), x %*% y))
    c(mean((off %*% x)^2), plan$error)
  }))
  c(excess = mean(got[1, ]), expected = got[2, 1])
}

test_that("the error is the one that is expected, and far below that of AdaSSP", {
  for (case in list(list(1000, 1, 0.3), list(5000, 5, 0.9), list(3000, 3, 0.6), list(3000, 2, 0.5, q = 2), list(5000, 10, 0.9, epsilon = 3))) {
    runs <- if (quick()) 25 else 80
    got <- do.call(boosted_excess, c(case, runs = runs))
    # squares of a dozen numbers or fewer: to 30 %
    expect_gt(got[["excess"]] / got[["expected"]], 0.6, label = paste(case, collapse = " "))
    expect_lt(got[["excess"]] / got[["expected"]], 1.5, label = paste(case, collapse = " "))
    expect_lt(got[["excess"]], 0.7 * do.call(boosted_excess, c(case, runs = runs, method = "adassp"))[["excess"]])
  }
  # with so many records that noise is small it is the level that skewed errors move, once more by quadrature, and what a cut adds to sampling
  ask <- asked(1e6, 1, 5)
  plan <- inner("linear_boosted")$plan(ask)
  e <- function(u) sqrt(0.7) * (stats::qgamma(u, 4) - 4) / 2
  last <- plan$clips[length(plan$clips)]
  psi <- stats::integrate(function(u) pmax(-last, pmin(last, e(u))), 0, 1)$value
  kappa <- stats::integrate(function(u) as.numeric(abs(e(u)) <= last), 0, 1, rel.tol = 1e-6)$value
  expect_lt(plan$error, 2 * (psi / kappa)^2 + 1e-4)
})

test_that("constants have the least error by the model, over both spreads of predictors", {
  for (ask in list(asked(1000, 3), asked(5000, 10, r_squared = 0.9))) {
    plan <- inner("linear_boosted")$plan(ask)
    rounds <- length(plan$clips)
    both <- function(noise) sqrt(inner("boosted_error")(ask, noise) * inner("boosted_error")(ask, noise, inner("BOOSTED_NARROW")))
    parts <- (plan$clips / plan$sd[-(1:2)])^2
    xx <- (inner("adassp_sensitivity")(ask$d, 1)[["xx"]] / plan$sd[["xx"]] / plan$mu)^2
    made <- function(clips = plan$clips, part = xx, weights = parts / sum(parts)) {
      both(inner("products_noise")(ask, plan$mu, part, clips, weights / sum(weights)))
    }
    best <- made()
    expect_gt(rounds, 2)
    for (factor in c(0.8, 1.25)) {
      expect_lt(best, made(plan$clips * factor) * 1.001)
      expect_lt(best, made(part = xx * factor) * 1.001)
      expect_lt(best, made(weights = parts * factor^seq_along(parts)) * 1.01)
    }
    # one round less, and AdaSSP's own clip and split in as many
    expect_lt(best, 0.995 * made(plan$clips[-1], weights = parts[-1]))
    expect_lt(best, made(rep(2.5, rounds), 0.35, rep(1, rounds)))
  }
  # who knows that much is explained gets smaller cuts
  last <- function(r_squared) utils::tail(inner("linear_boosted")$plan(asked(5000, 5, r_squared = r_squared))$clips, 1)
  expect_lt(last(0.9), 0.7 * last(0.3))
})

test_that("it is a method as others are, which auto leaves alone", {
  set.seed(2)
  data <- data.frame(X1 = stats::runif(400, -1, 1), X2 = stats::runif(400, -1, 1))
  data$y <- data$X1 + 0.3 * stats::rnorm(400)
  fit <- boosted(data)
  out <- gsub("\\s+", " ", paste(utils::capture.output(explain(fit)), collapse = " "))
  expect_match(out, "Rounds of AdaSSP")
  expect_match(out, "Tang et al. (2023)", fixed = TRUE)
  expect_match(out, "Section 16 of proofs/linear-regression.md", fixed = TRUE)
  expect_identical(out, gsub("\\s+", " ", paste(utils::capture.output(explain(fit)), collapse = " ")))
  # neither of the noise nor about the population is a law told
  expect_true(all(is.na(confint(fit))))
  expect_error(confint(fit, type = "bound"), class = "riemdp_error_unsupported")
  scale <- dp_residual_scale(fit, data, 1)
  expect_error(confint(fit, residual = scale), "cut residuals", class = "riemdp_error_unsupported")
  plan <- dp_lm_plan(5000, 2, epsilon = 1, delta = 1e-6)
  expect_match(plan$population[plan$method == "boosted"], "cut residuals")
  expect_identical(plan$label[plan$method == "boosted"], "approx")
  expect_no_match(attr(plan, "reason"), "boosted")
  expect_error(dp_lm(y ~ X1, data, 1, bounds = bounds_of(2)[c("X1", "y")], method = "boosted"), "needs `delta`",
               class = "riemdp_error_unsupported")
  # a wrong guess is found, and the fit is in units of what was released
  data <- data[rep(1:400, 5), ]
  data$y <- 100 + 10 * data$y
  off <- with_simulation(1, boosted(data, 4, guess = "checked"))
  expect_true(off$details$guess$searched)
  expect_lt(max(abs(coef(off) - c(100, 10, 0))), 4)
})
