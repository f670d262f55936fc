test_that("a bar is drawn where it is wanted, and never fails", {
  old <- options(riemdp.progress = TRUE, cli.progress_show_after = 0, cli.progress_clear = FALSE)
  on.exit(options(old))
  riemdp:::progress_show(1, 10)
  expect_false(is.null(riemdp:::progress$bar))
  riemdp:::progress_show(5, 10)
  riemdp:::progress_hide(0, 0)
  expect_null(riemdp:::progress$bar)
  riemdp:::progress_show(1, 0) # a count without a known end
  expect_false(is.null(riemdp:::progress$bar))
  riemdp:::progress_hide(0, 0)
  options(riemdp.progress = FALSE)
  riemdp:::progress_show(1, 10)
  expect_null(riemdp:::progress$bar)
})

test_that("a long call shows a bar and takes it away, also when it is ended early", {
  old <- options(riemdp.progress = TRUE)
  on.exit(options(old))
  try(with_time_limit(2.6, suppressMessages(laplace_noise(spd(3), diag(3), 0.05, 3e6))), silent = TRUE)
  expect_null(riemdp:::progress$bar)
})

# every tick of expr, as text
ticks_of <- function(expr) {
  inner <- asNamespace("riemdp")
  bar <- inner$progress_show
  state <- inner$progress
  seen <- character()
  unlockBinding("progress_show", inner)
  assign("progress_show", function(done, of) seen <<- c(seen, paste(done, "of", of)), inner)
  state$wait <- 0
  forget_ticks()
  on.exit({
    state$wait <- 2
    assign("progress_show", bar, inner)
    lockBinding("progress_show", inner)
  })
  force(expr)
  seen
}

# what a bar shows one after the other; how often it shows the same is a matter of time, which private calls don't hide
shown <- function(expr) rle(ticks_of(expr))$values

test_that("ticks of private calls don't tell neighbours apart", {
  set.seed(1)
  n <- 150
  frame <- data.frame(x = runif(n, -1, 1))
  frame$y <- frame$x + rnorm(n)
  other <- frame
  other[5, ] <- c(-1, 1e9)
  M <- sphere(2)
  near <- mf_exp(M, c(0, 0, 1), cbind(0.2 * frame$x, 0.05 * frame$y, 0))
  far <- near
  far[5, ] <- c(0.1, 0, -sqrt(0.99)) # almost opposite to the centre
  curve <- data.frame(x = frame$x)
  curve$y <- near
  bent <- curve
  bent$y <- far
  pieces <- function(x) chunks(x, 40)
  told <- character()
  compare <- function(what, run, one, two, forms = list(identity, pieces)) {
    for (form in forms) {
      first <- with_simulation(3, shown(run(form(one))))
      expect_identical(with_simulation(3, shown(run(form(two)))), first, label = what)
      told <<- c(told, first)
    }
  }
  memory <- list(identity)
  bounds <- list(x = c(-1, 1), y = c(center = 0, scale = 1))
  for (method in setdiff(names(riemdp:::linear_methods()), c("theil_sen", "kng", "paper"))) {
    delta <- if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-6 else 0
    compare(paste("dp_lm", method), function(d) dp_lm(y ~ x, d, 1, delta, bounds, method = method), frame, other)
  }
  compare("dp_lm theil_sen", function(d) dp_lm(y ~ x, d, 1, bounds = bounds, method = "theil_sen"), frame, other, memory)
  compare("dp_lm kng", function(d) dp_lm(y ~ x, d, 0.6, bounds = bounds, method = "kng"), frame[1:50, ], other[1:50, ], memory)
  bounded <- function(d, method, n = 0, ...) {
    dp_regression(y ~ x, M, d, epsilon = if (method == "kng") 0.5 else 1, center = c(0, 0, 1), radius = 0.5, speed = 1,
                  residual_bound = 0.2, bounds = c(-1, 1), method = method, invalid = "ignore", ...)
  }
  for (method in c("newton", "tangent", "gradient")) {
    compare(paste("dp_regression", method), function(d) bounded(d, method, delta = 1e-6), curve, bent)
  }
  some <- c(1:10, 20:30)
  compare("dp_regression kng", function(d) bounded(d, "kng"), curve[some, ], bent[some, ])
  compare("dp_regression kng, chain", function(d) bounded(d, "kng", chain = 60), curve[some, ], bent[some, ])
  ask_mean <- function(x, mechanism, ...) {
    delta <- if (isTRUE(riemdp:::mean_mechanisms()[[mechanism]]$needs_delta)) 1e-6 else 0
    dp_mean(x, M, 1, c(0, 0, 1), 0.5, mechanism = mechanism, delta = delta, ...)
  }
  for (mechanism in setdiff(names(riemdp:::mean_mechanisms()), c("pointwise", "chordal", "parts"))) {
    forms <- if (isTRUE(riemdp:::mean_mechanisms()[[mechanism]]$chunks)) list(identity, pieces) else memory
    few <- if (mechanism == "chain") list(burn_in = 50) else list()
    compare(paste("dp_mean", mechanism), function(x) ask_mean(x, mechanism, options = few), near, far, forms)
  }
  for (mechanism in c("wrapped", "wrapped_gaussian")) {
    compare(paste("dp_mean lattice", mechanism), function(x) ask_mean(x, mechanism, numerics = "lattice"), near[1:60, ], far[1:60, ])
  }
  shapes <- with_simulation(2, mf_random(kendall(4), 60))
  moved <- shapes
  moved[, 5] <- shapes[, 5] * c(1, 5i, 1, 1)
  compare("dp_mean pointwise", function(x) dp_mean(x, kendall(4), 1, shapes[, 1], 0.3, mechanism = "pointwise"), shapes, moved, memory)
  compare("dp_mean constant time", function(x) {
    dp_mean(x, M, 1, c(0, 0, 1), 0.5, mechanism = "kng", timing = "constant", delta = 1e-6)
  }, near, far, memory)
  for (method in c("rgd", "rsgd", "rsvrg")) {
    compare(paste("dp_optimize", method), function(x) {
      dp_optimize(problem_frechet(M), x, 1, 1e-6, start = c(0, 0, 1), method = method, clip = 1, lr = 0.5, steps = 8,
                  batch = if (method != "rgd") 20, inner = if (method == "rsvrg") 4)
    }, near, far)
  }
  compare("dp_pca", function(x) dp_pca(x, 1, 1, 1e-6, bound = 1, steps = 8, method = "rgd"), near, far)
  # the comparison sees something, and counts where they are public
  expect_true(all(c("0 of 0", "1 of 8", "8 of 8") %in% told))
  # a bar whose end isn't known shows no counts, however often it is drawn
  old <- options(riemdp.progress = TRUE, cli.progress_show_after = 0, cli.progress_clear = FALSE)
  on.exit(options(old))
  said <- testthat::capture_messages({
    for (i in 1:5) riemdp:::progress_show(0, 0)
    riemdp:::progress_hide(0, 0)
  })
  expect_no_match(paste(said, collapse = ""), "done|/s|[1-9] of")
})

test_that("a pass over many records can be ended on its way, with the Hessian and without", {
  rule <- riemdp:::perturbation_rule(50, 1, 1, 1)
  ticks <- function(empty) { # records that change nothing, so that the solver's steps are the same
    x <- cbind(rbind(1, seq(-1, 1, length.out = 50)), matrix(0, 2, empty))
    y <- rbind(c(sin(1:50), numeric(empty)))
    solver <- riemdp:::newton_solver(1e-6, 100 / ncol(x), 0) # one pass with the Hessian, then gradients alone
    ridge <- rbind(rule$ridge)
    length(ticks_of(.Call(riemdp:::riemdp_perturbed_fit_nonprivate, x, y, ridge, 0 * ridge, 0 * ridge, riemdp:::kernel_loss(rule), solver)))
  }
  few <- ticks(0)
  expect_gt(few, 5)
  expect_equal(ticks(3 * 4096), 4 * few)
})
