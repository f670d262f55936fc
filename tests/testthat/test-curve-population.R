# Bands about the population of released curves, and their private residual scale (R/curve-population.R, R/dp-residual-scale.R)

internal <- asNamespace("riemdp")
S2 <- sphere(2)
north <- c(0, 0, 1)
truth <- function(x) mf_points(mf_exp(S2, c(sin(0.1), 0, cos(0.1)), outer(x - 0.5, 0.7 * c(0.8 * cos(0.1), 0.6, -0.8 * sin(0.1)))), S2)
curve_data <- function(n, sd = 0.05) {
  x <- stats::runif(n)
  at <- truth(x)
  list(x = x, y = mf_points(mf_exp(S2, at, mf_from_coords(S2, at, matrix(stats::rnorm(2 * n, sd = sd), n))), S2))
}
release <- function(d, epsilon, ..., residual_bound = 0.12) {
  dp_regression(y ~ x, S2, d, epsilon = epsilon, center = north, radius = 0.4, speed = 1.2, residual_bound = residual_bound, bounds = c(0, 1), ...)
}
AT <- data.frame(x = c(0, 0.3, 0.5, 1))

test_that("the scale of a curve is that of its records' distances, and costs what it says", {
  d <- with_simulation(1, curve_data(200))
  r <- release(d, 3)
  s <- dp_residual_scale(r, d, 1e7)
  far <- mf_dist(S2, mf_points(predict(r, AT[rep(1, 200), , drop = FALSE]), S2), d$y)
  far <- mf_dist(S2, mf_points(predict(r, data.frame(x = d$x)), S2), d$y)
  expect_equal(s$value^2 * 2 * (200 - 2), sum(pmin(far, 0.24)^2), tolerance = 1e-4)
  expect_equal(s$moments$xx, crossprod(cbind(1, 2 * d$x - 1)), tolerance = 1e-5)
  ledger <- dp_ledger(NULL, 1)
  g <- guarantee(dp_residual_scale(r, d, 0.7, ledger = ledger))
  expect_identical(c(g$label, g$numerics), c("pure", "lattice"))
  expect_equal(sum(dp_residual_scale(r, d, 0.7)$draws$epsilon), 0.7, tolerance = 1e-9)
  # a record moves each sum by no more than is paid, whatever it holds
  ask <- internal$residual_shares(list(fit = r, curve = TRUE, n = 200, epsilon = 1, bound = 2))
  numbers <- function(d) internal$residual_numbers(internal$curve_values(r, d), ask)
  plain <- numbers(d)
  for (bad in list(c(NA, NA, NA), c(0, 0, -1), c(5, 5, 5))) for (x in c(0.2, NA, Inf, -7)) {
    y <- unclass(as.matrix(d$y))
    y[3, ] <- bad
    moved <- numbers(list(x = replace(d$x, 3, x), y = y))
    expect_lte(abs(sum(pmin(1, moved$off)^2) - sum(pmin(1, plain$off)^2)), 1)
    expect_lte(abs(sum(moved$u) - sum(plain$u)), 2)
    expect_identical(moved$u[, -3], plain$u[, -3])
  }
  expect_output(print(s), "released curve")
  expect_identical(summary(s)$response, "curve")
  no <- function(..., class = "riemdp_error_argument") expect_error(dp_residual_scale(...), class = class)
  no(r, data.frame(x = 1:3), 1, class = "riemdp_error")
  broken <- r
  broken$columns <- NULL
  no(broken, d, 1)
  no(release(d, 3, unit = rep(1:100, 2)), d, 1)
})

test_that("what a loss cuts is released for what it costs, and bands need no normal residuals", {
  d <- with_simulation(11, curve_data(300))
  for (method in c("gradient", "newton")) {
    r <- release(d, 3, method = method, delta = if (method == "gradient") 1e-6 else 0)
    s <- dp_residual_scale(r, d, 1e7)
    far <- mf_dist(S2, mf_points(predict(r, data.frame(x = d$x)), S2), d$y)
    rule <- r$details$last$rule
    psi <- if (method == "gradient") function(r) pmin(r, rule$tau) / rule$tau else
      stats::approxfun(rule$tau * internal$LOSS_STEP * (seq_along(rule$g) - 1), rule$g, rule = 2)
    h <- 1e-7 * rule$tau
    slope <- rule$tau * (psi(far + h) - psi(far)) / h
    expect_equal(s$cuts$sum, c(sum(psi(far)^2), sum(1 - (slope + rule$tau * psi(far) / far) / 2)), tolerance = 1e-4, label = method)
    expect_true(all(s$cuts$sum > 10 & s$cuts$sum < 290))
  }
  expect_equal(sum(s$draws$epsilon), 1e7, tolerance = 1e-9)
  expect_output(print(s), "two numbers of what the loss cuts")
  # a record moves both by all that is paid, whatever it holds by no more
  ask <- internal$residual_shares(list(fit = r, curve = TRUE, n = 300, epsilon = 1, bound = 2))
  sums <- function(y, ask) {
    numbers <- internal$residual_numbers(list(x = matrix(0.1, 1, 1), y = y), ask)
    internal$residual_part(numbers, ask)[2:3]
  }
  on <- internal$curve_of_state(S2, r$value, matrix(0.1, 1, 1))
  expect_equal(sums(matrix(on, 1), ask), c(0, 0), tolerance = 1e-3)
  for (y in list(c(NA, NA, NA), c(0, 0, -1), c(5, 5, 5), -on)) {
    expect_true(all(sums(matrix(y, 1), ask) >= 0 & sums(matrix(y, 1), ask) <= 2^ask$cut_bits))
  }
  expect_identical(internal$cut_numbers(c(NaN, Inf), list(tau = 1, g = internal$huber_loss(), q = 2)), matrix(1, 2, 2))
  # a table that rises beyond its most counts no more
  expect_true(all(range(internal$cut_numbers(c(0, 0.3, 5), list(tau = 1, g = 1.5 * internal$huber_loss(), q = 1))) == c(0, 1)))
  ask$loss$q <- 1
  expect_equal(sums(matrix(-on, 1), ask), rep(2^ask$cut_bits, 2), tolerance = 1e-9)
  paid <- dp_residual_scale(r, d, 1)$draws
  expect_equal(paid$sensitivity[2], 2 * 2^ask$cut_bits)
  expect_equal(paid$sensitivity / paid$scale, paid$epsilon)
  # where the number of records is private, none of them releases as much as one
  more <- release(d, 5, neighbours = "add_remove")
  none <- list(x = numeric(), y = mf_points(matrix(0, 0, 3), S2))
  one <- list(x = d$x[1], y = d$y[1])
  parts_of <- function(r, ...) {
    s <- unclass(dp_residual_scale(r, ..., epsilon = 0.5))[c("value", "squares", "moments", "cuts")]
    rapply(s, function(v) all(is.finite(v)), how = "unlist")
  }
  expect_identical(parts_of(more, none), parts_of(more, one))
  expect_true(all(parts_of(more, none)))
  of <- release(d, 5, neighbours = "add_remove", unit = rep(1:150, 2))
  expect_identical(parts_of(of, none, unit = integer()), parts_of(of, one, unit = 1L))
  # a release that was tampered with is refused before anything is spent
  ledger <- dp_ledger(NULL, 10)
  places <- list(c("columns", "half"), "residual_bound", c("details", "last", "lambda"))
  for (bad in list(NULL, "a", list(1), numeric(), NA, 1:1000, Inf)) for (where in places) {
    broken <- unclass(r)
    table <- attributes(broken$columns)
    broken$columns <- unclass(broken$columns)
    broken[[where]] <- bad
    attributes(broken$columns) <- c(list(names = names(broken$columns)), table[c("class", "row.names")])
    expect_error(dp_residual_scale(structure(broken, class = class(r)), d, 1, ledger = ledger), class = "riemdp_error")
  }
  expect_identical(nrow(ledger_history(ledger)), 0L)
  # uniform and normal residuals, cut at one standard deviation: by the integrals
  loss <- list(tau = 1, g = internal$huber_loss(), q = 1)
  cuts <- function(square, flat) internal$drawn_cuts(list(sum = 1e6 * c(square, flat), scale = 1), loss, rep(1e6, 50), 1e6)
  even <- 1 / sqrt(3)
  light <- cuts(even / 3 + 1 - even, 1 - even)
  inside <- 2 * stats::pnorm(1) - 1
  normal <- cuts(inside - 2 * stats::dnorm(1) + 1 - inside, 1 - inside)
  expect_equal(mean(normal$sd), 1, tolerance = 0.01)
  expect_equal(mean(normal$gain), 1, tolerance = 0.01)
  table <- internal$normal_cuts(loss)
  error <- function(draw) {
    at <- stats::approx(table$sd, table$square, mean(draw$sd))$y
    mean(draw$gain)^2 * at / (2 * stats::pnorm(1 / mean(draw$sd)) - 1)^2
  }
  expect_equal(error(light), (even / 3 + 1 - even) / even^2, tolerance = 0.01)
  expect_equal(error(normal), 1.1075, tolerance = 0.01)
  # where noise prevails: both between 0 and n, and the slope misses no more than the square
  draw <- with_simulation(12, internal$drawn_cuts(list(sum = c(40, 60), scale = 20), loss, rep(100, 4000), 1e6))
  plain <- with_simulation(13, {
    z <- matrix(c(40, 60), 2, 4e4) - 20 * stats::rexp(8e4) * sample(c(-1, 1), 8e4, TRUE)
    z[, z[1, ] < 100 & z[1, ] > z[2, ] & z[2, ] > 0]
  })
  flat <- 2 * stats::pnorm(-1 / draw$sd)
  expect_lt(abs(mean(flat) - mean(plain[2, ]) / 100), 5 * stats::sd(flat) / sqrt(3000))
  square <- 1e4 * draw$gain^2 * stats::approx(table$sd, table$square, draw$sd)$y # over a chi-squared number near 1e6
  expect_lt(abs(mean(square) - mean(plain[1, ]) / 100), 5 * stats::sd(square) / sqrt(3000))
  # in a band: the error of sampling of uniform residuals, of which the released loss cuts many, and of short and long ones
  directions <- function(n) {
    z <- matrix(stats::rnorm(2 * n), n)
    z / sqrt(rowSums(z^2))
  }
  laws <- list(light = function(n) matrix(stats::runif(2 * n, -1, 1) * 0.05 * sqrt(3), n),
               far = function(n) ifelse(stats::runif(n) < 0.6, 0.01, 0.4) * directions(n))
  for (law in names(laws)) {
    light <- with_simulation(14, {
      x <- stats::runif(4000)
      at <- truth(x)
      e <- laws[[law]](4000)
      list(x = x, y = mf_points(mf_exp(S2, at, mf_from_coords(S2, at, e)), S2), far = sqrt(rowSums(e^2)))
    })
    r <- with_simulation(15, release(light[1:2], 20, residual_bound = 0.05))
    band <- confint(r, newdata = data.frame(x = 0.5), residual = with_simulation(16, dp_residual_scale(r, light[1:2], 100, bound = 12)), nsim = 800)
    made <- rowMeans(internal$cut_numbers(light$far, internal$last_loss(r)))
    expect_gt(made[2], 0.2)
    first_order <- internal$last_loss(r)$tau * sqrt(made[1] / 2 / 4000) / (1 - made[2])
    ratio <- unname(band$std.error[, "sampling"]) / first_order
    expect_lt(abs(ratio - 1.03), 0.08, label = paste(law, signif(ratio, 3))) # 3 % is of 300 drawn records
  }
  r <- release(light[1:2], 20, residual_bound = 0.05)
  bare <- dp_residual_scale(r, light[1:2], 1)
  bare$cuts <- NULL
  expect_error(confint(r, residual = bare, nsim = 100), class = "riemdp_error_argument")
})

test_that("a draw takes noise off residuals, and pulls as the step's ridge or size will pull the next release", {
  loss <- internal$kernel_loss(list(tau = 20, g = internal$huber_loss())) # psi is the residual itself
  loss$q <- 1
  moments <- list(mean = 0.2, cov = matrix(0.25), short = FALSE)
  A <- 1000 * rbind(c(1, 0.2), c(0.2, 0.29))
  B <- c(0.05, -0.03)
  noise <- 60 # standard deviation
  eq <- list(step = matrix(B, 1), loss = loss, noise = function() matrix(stats::rnorm(2, sd = noise), 1), n = 1000,
             features = function(u) array(u, c(1, dim(u))))
  table <- internal$normal_cuts(loss)
  draws <- function(eq, seed) with_simulation(seed, lapply(1:1500, function(i) internal$curve_root(eq, 1, table, moments, 10)))
  compare <- function(draws, mean, cov, name) {
    off <- t(vapply(draws, function(d) drop(d$off), B))
    share <- mean(vapply(draws, `[[`, 0, "share"))
    expect_true(share > 0.98 && share <= 1)
    expect_lt(max(abs(colMeans(off) - mean) / sqrt(diag(cov) / 1500)), 5, label = name)
    expect_lt(max(abs(sqrt(diag(stats::cov(off)) / diag(cov)) - 1)), 0.12, label = name) # of 300 drawn predictors: 4 %
  }
  L <- diag(c(300, 150))
  again <- solve(A + L)
  compare(draws(c(eq, list(pull = matrix(L %*% B, 1), ridge = matrix(diag(L), 1))), 31), -again %*% L %*% (B + solve(A, L %*% B)),
          solve(A) + noise^2 * again %*% (diag(2) + L %*% solve(A %*% A, L)) %*% again, "ridge")
  h <- diag(c(8e-4, 2.4e-3))
  left <- h %*% A - diag(2)
  first <- draws(c(eq, list(pull = matrix(solve(h, B), 1), size = matrix(diag(h), 1), turn = -1)), 32)
  compare(first, left %*% solve(A, solve(h, B)), solve(A) + noise^2 * (left %*% solve(A %*% A, t(left)) + h %*% h), "size")
  # of sampling alone: that of least squares
  sampled <- t(vapply(first, function(d) drop(d$sampled), B))
  expect_lt(max(abs(sqrt(diag(stats::cov(sampled)) / diag(solve(A))) - 1)), 0.12)
  # a draw takes errors of that share
  loud <- utils::modifyList(eq, list(loss = utils::modifyList(loss, list(tau = 1)), pull = matrix(0, 1, 2), ridge = matrix(1e-9, 1, 2)))
  loud$noise <- function() matrix(250, 1, 2)
  drawn_of <- function(f) with_simulation(33, f())
  out <- drawn_of(function() internal$curve_root(loud, 1, internal$normal_cuts(loud$loss), moments, 10))
  again <- drawn_of(function() {
    drawn <- internal$equation_drawn(loud, moments, c("privacy", "sampling"))
    internal$root_at(loud, drawn, internal$sampled_at(loud, drawn, out$share^2), c("privacy", "sampling"), 10)
  })
  expect_lt(out$share, 0.97)
  expect_equal(out$off / again, matrix(1, 1, 2), tolerance = 1e-6)
  # the share of errors, by the slope of a loss cut at one: a step of .4 at three records, then one along a gradient
  cut <- list(tau = 1, g = internal$huber_loss(), q = 1)
  slope <- function(s) 2 * stats::pnorm(1 / s) - 1
  root <- function(f) stats::uniroot(f, c(0.03, 1), tol = 1e-8)$root
  u <- array(rbind(1, c(-1, 0, 1)), c(1, 2, 3))
  one <- function(eq, off) internal$error_share(eq, u, off, 1, internal$normal_cuts(cut))
  off <- matrix(c(0.4, 0.3), 1)
  expect_equal(one(list(), off), root(function(s) s^2 + (0.16 + 0.06) * (slope(1) / slope(s))^2 - 1), tolerance = 1e-3)
  expect_equal(one(list(turn = -1, step = 2 * off), off), root(function(s) s^2 + 0.22 * (2 - slope(1) / slope(s))^2 - 1), tolerance = 1e-3)
  expect_identical(one(list(), 0.1 * off), 1)
  expect_equal(one(list(), 10 * off), 0.01)
})

test_that("bands hold the population's curve about as often as they say, by every method that has one", {
  runs <- if (quick()) 12 else 40
  for (case in list(list("auto", 200, 3, 0), list("gradient", 400, 3, 1e-6), list("newton", 1000, 1, 0))) {
    held <- with_simulation(2, replicate(runs, {
      d <- curve_data(case[[2]])
      r <- release(d, 0.7 * case[[3]], method = case[[1]], delta = case[[4]])
      band <- confint(r, newdata = AT, residual = dp_residual_scale(r, d, 0.3 * case[[3]]), nsim = 150)
      mf_dist(S2, band$curve, truth(AT$x)) <= band$radius
    }))
    expect_gt(mean(held), 0.93 - 5 * sqrt(0.95 * 0.05 / runs), label = case[[1]])
  }
})

test_that("without noise a band is that of the curve's own error, and both errors are told apart", {
  d <- with_simulation(3, curve_data(1500))
  r <- release(d, 500)
  s <- dp_residual_scale(r, d, 100)
  band <- confint(r, newdata = AT, residual = s)
  # the plain model: normal errors of a line in each coordinate, Jacobi fields apart (a few per cent at this speed); the loss loses 10 % at most
  u <- AT$x - mean(d$x)
  plain <- 0.05 * sqrt((1 / 1500 + u^2 / sum((d$x - mean(d$x))^2)) * stats::qchisq(0.95, 2))
  expect_gt(min(band$radius / plain), 0.93)
  expect_lt(max(band$radius / plain), 1.15)
  expect_lt(max(band$std.error[, "privacy"] / band$std.error[, "total"]), 0.5)
  noisy <- with_simulation(17, release(d, 0.5))
  wide <- confint(noisy, newdata = AT, residual = with_simulation(18, dp_residual_scale(noisy, d, 0.5)))
  expect_true(all(wide$radius > band$radius))
  expect_equal(wide$std.error[, "total"]^2, wide$std.error[, "privacy"]^2 + wide$std.error[, "sampling"]^2)
  expect_equal(wide$std.error[, "sampling"] / plain * sqrt(stats::qchisq(0.95, 2)), rep(1, 4), tolerance = 0.2, ignore_attr = TRUE)
  expect_output(print(wide), "noise of privacy .*, of sampling .*, total")
  expect_output(print(confint(noisy)), "privacy noise alone")
  table <- tidy(wide)
  expect_identical(names(table), c("predictor", "radius", "std.error", "std.error.privacy", "std.error.sampling"))
  expect_identical(table$radius, wide$radius)
  expect_identical(names(tidy(confint(noisy))), c("predictor", "radius"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(wide), wide)
  expect_identical(plot(confint(noisy)), confint(noisy))
  expect_identical(plot(r, residual = s), r)
  # a new record
  ball <- predict(r, data.frame(x = d$x[1:300]), interval = "prediction", residual = s, nsim = 300)
  new <- with_simulation(4, {
    at <- truth(d$x[1:300])
    mf_points(mf_exp(S2, at, mf_from_coords(S2, at, matrix(stats::rnorm(600, sd = 0.05), 300))), S2)
  })
  inside <- mean(mf_dist(S2, ball$curve, new) <= ball$radius)
  expect_gt(inside, 0.95 - 5 * sqrt(0.0475 / 300))
  expect_lt(mean(ball$radius), 1.1 * 0.05 * sqrt(stats::qchisq(0.95, 2)))
})

test_that("noise and ridge of a band are those that the last step was drawn with", {
  runs <- if (quick()) 1000 else 5000
  for (lambda in list(c(0, -6), c(0, 4), c(0, 0))) for (averaged in c(FALSE, TRUE)) {
    rule <- internal$newton_rule(200, 1, 2, 1, 0.1, c(0.4, 0.6), FALSE, averaged = averaged)
    # of records that are all missing: the noise over the ridge
    none <- list(features = array(0, c(2, 2, 1)), responses = matrix(0, 2, 1), lambda = lambda)
    told <- rule[setdiff(names(rule), "epsilon")] # as a release has it
    object <- list(details = list(last = list(step = matrix(1, 2, 2), rule = told, lambda = lambda)), columns = data.frame(half = 0.5))
    eq <- internal$curve_equation(object)
    handed <- with_internals(internal$newton_step(none, rule, 0.5), draw_perturbed = function(x, y, ridge, rule, rate, ...) rate)
    units <- handed[1] / handed # what is solved for comes back divided by its units
    expect_equal(with_simulation(9, eq$noise()), with_simulation(9, internal$perturbation_draw("vertex", 2, 2, handed[1])) * units, tolerance = 1e-12)
    drawn <- with_simulation(9, replicate(runs, internal$newton_step(none, rule, 0.5)))
    noise <- with_simulation(9, replicate(runs, eq$noise()))
    size <- function(a) sqrt(rowMeans(a^2, dims = 2))
    # standard errors of a ratio of two such sizes: kurtosis below 6
    expect_lt(max(abs(size(drawn) / (size(noise) / eq$pull) - 1)), 5 * sqrt(5 / 4 / runs) * sqrt(2))
  }
})

test_that("features are derivatives of the curve, and refusals follow from public facts and releases", {
  d <- with_simulation(5, curve_data(400))
  r <- release(d, 5)
  last <- r$details$last
  # move foot and vector a little in the step's frame: predictions move by the features
  u <- c(-1, 0.4, 1)
  f <- internal$curve_features(last, 0.5, rbind(1, u))
  frame <- .Call(internal$riemdp_gauss_newton_frame, S2, r$value$p, r$value$v)
  f2 <- internal$curve_features(list(lambda = frame[[2]]), 0.5, rbind(1, u))
  h <- 1e-5
  for (part in 1:2) for (j in 1:2) {
    v <- drop(mf_coords(S2, r$value$p, r$value$v))
    e <- frame[[1]][, j]
    moved <- if (part == 2) list(p = r$value$p, v = mf_from_coords(S2, r$value$p, v + h * e / 0.5)) else {
      p <- mf_exp(S2, r$value$p, mf_from_coords(S2, r$value$p, h * e))
      list(p = p, v = drop(mf_transport(S2, r$value$p, p, r$value$v)))
    }
    x <- matrix(u * 0.5, 1)
    gap <- mf_dist(S2, mf_points(internal$curve_of_state(S2, moved, x), S2), mf_points(internal$curve_of_state(S2, r$value, x), S2)) / h
    expect_equal(gap, abs(f2[j, part, ]), tolerance = 1e-3)
  }
  expect_equal(dim(f), c(2, 2, 3))
  s <- dp_residual_scale(r, d, 1)
  refused <- function(r, s, words, class = "riemdp_error_unsupported") expect_error(confint(r, residual = s, nsim = 100), words, class = class)
  expect_error(confint(r, about = "population"), class = "riemdp_error_argument")
  refused(release(d, 5), s, "very curve", "riemdp_error_argument")
  k <- dp_regression(y ~ x, S2, list(x = d$x[1:9], y = d$y[1:9]), epsilon = 1, center = north, radius = 0.4, speed = 1.2, residual_bound = 0.12,
                     bounds = c(0, 1), method = "kng")
  refused(k, dp_residual_scale(k, list(x = d$x[1:9], y = d$y[1:9]), 1), "kng")
  few <- with_simulation(6, curve_data(40))
  tight <- dp_regression(y ~ x, S2, d, epsilon = 20, center = north, radius = 0.02, speed = 0.5, residual_bound = 0.12, bounds = c(0, 1))
  refused(tight, dp_residual_scale(tight, d, 1), "edge")
  blurred <- release(few, 0.1)
  blurred$details$last$edge <- FALSE
  refused(blurred, dp_residual_scale(blurred, few, 0.05), "public numbers")
  # residuals that were cut tell no new record's ball
  expect_error(predict(r, AT, interval = "prediction", residual = dp_residual_scale(r, d, 2, bound = 0.3), nsim = 100), "larger `bound`",
               class = "riemdp_error_unsupported")
  expect_error(predict(r, AT, interval = "prediction"), class = "riemdp_error_argument")
})

test_that("curves of units, of a private number of records and from chunks have bands, and a plan says which epsilon that takes", {
  runs <- if (quick()) 6 else 12
  frame <- function(d) {
    out <- data.frame(x = d$x)
    out$y <- d$y
    out
  }
  ways <- list(
    unit = function(d) list(data = d, unit = rep(1:200, 2)),
    more = function(d) list(data = d, neighbours = "add_remove"),
    chunks = function(d) list(data = chunks(frame(d), 150))
  )
  paid <- function(...) dp_residual_scale(...)$draws$sensitivity[2]
  d <- with_simulation(7, curve_data(400))
  expect_identical(paid(release(d, 2, unit = rep(1:200, 2)), d, 1, unit = rep(1:200, 2)) %% 64, 4) # a power of 2 without rounding
  for (way in names(ways)) {
    held <- with_simulation(7, replicate(runs, {
      d <- curve_data(400)
      given <- ways[[way]](d)
      r <- do.call(release, c(list(given$data, 2), given[-1]))
      s <- dp_residual_scale(r, given$data, 1, unit = given$unit)
      band <- confint(r, newdata = AT, residual = s, nsim = 120)
      mf_dist(S2, band$curve, truth(AT$x)) <= band$radius
    }))
    expect_gt(mean(held), 0.93 - 5 * sqrt(0.95 * 0.05 / runs), label = way)
  }
  d <- with_simulation(8, curve_data(300))
  r <- release(d, 3)
  both <- lapply(list(d, chunks(frame(d), 120)), function(data) with_simulation(1, dp_residual_scale(r, data, 1))[c("squares", "moments")])
  expect_identical(both[[1]], both[[2]])
  # rows of no unit count nothing, as in the fit
  of <- c(NA, NA, rep(1:149, 2))
  r <- release(d, 3, unit = of, invalid = "ignore")
  both <- lapply(list(d, list(x = c(0, 1, d$x[-(1:2)]), y = d$y)), function(data) with_simulation(1, dp_residual_scale(r, data, 1, unit = of))$squares)
  expect_identical(both[[1]], both[[2]])
  r <- release(d, 3)
  plan <- dp_regression_plan(S2, 300, 3, north, 0.4, 1.2, 0.12, c(0, 1), 1e-6)
  expect_output(print(plan), "what of epsilon dp_residual_scale")
  for (method in plan$method) for (factor in c(0.97, 1.03)) {
    r <- release(d, 3, method = method, delta = if (method == "gradient") 1e-6 else 0)
    s <- dp_residual_scale(r, d, factor * plan$residual_epsilon[plan$method == method])
    words <- tryCatch({
      confint(r, residual = s, nsim = 100)
      ""
    }, riemdp_error = conditionMessage)
    expect_identical(grepl("public numbers", words), factor < 1)
  }
  expect_identical(internal$curve_population_row(list(n = 10, k = 1), "kng")$residual_epsilon, NA_real_)
})
