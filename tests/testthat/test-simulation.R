test_that("noise ignores set.seed() and follows with_simulation()", {
  M <- sphere(2)
  draw <- function() laplace_noise(M, c(0, 0, 1), 0.1)
  set.seed(1)
  a <- draw()
  set.seed(1)
  expect_false(identical(a, draw()))
  expect_identical(with_simulation(1, draw()), with_simulation(1, draw()))
  expect_false(identical(with_simulation(1, draw()), with_simulation(2, draw())))
})

test_that("with_simulation() restores the generator, nests, and ends on errors", {
  set.seed(42, kind = "Wichmann-Hill")
  before <- .Random.seed
  inner <- outer <- NULL
  with_simulation(3, {
    outer <- runif(1)
    inner <- with_simulation(4, runif(1))
    after <- runif(1)
  })
  expect_identical(.Random.seed, before)
  expect_identical(RNGkind()[1], "Wichmann-Hill")
  expect_identical(with_simulation(3, runif(2)), c(outer, after))
  expect_error(with_simulation(3, stop("no")), "no")
  expect_identical(.Random.seed, before)
  expect_identical(guarantee(dp_mean(1:3 + 0, euclidean(1), 1, 0, 5))$label, "pure")
  set.seed(1, kind = "default")
  rm(".Random.seed", envir = globalenv())
  with_simulation(3, runif(1))
  expect_false(exists(".Random.seed", envir = globalenv(), inherits = FALSE))
  # private calls leave the generator alone
  set.seed(9)
  before <- .Random.seed
  dp_mean(1:3 + 0, euclidean(1), 1, 0, 5)
  expect_identical(.Random.seed, before)
})

test_that("a simulation is over though its end is broken off", {
  purse <- riemdp:::purse
  kind <- RNGkind()
  expect_error(with_simulation(1, lockBinding("open", purse)), "locked")
  unlockBinding("open", purse)
  do.call(RNGkind, as.list(kind))
  expect_identical(riemdp:::simulation$depth, 0L)
  expect_identical(guarantee(dp_mean(1:3 + 0, euclidean(1), 1, 0, 5))$label, "pure")
})

test_that("forked workers never share a draw", {
  skip_on_os("windows")
  draws <- parallel::mclapply(1:8, function(i) laplace_noise(euclidean(1), 0, 1, 3), mc.cores = 2)
  expect_length(unique(unlist(draws)), 24)
  serial <- replicate(5, .Call(riemdp:::riemdp_system_uniform, euclidean(1)))
  expect_length(unique(serial), 5)
})

test_that("an interrupted simulation replays nothing", {
  state <- function() get(".Random.seed", envir = globalenv())
  with_simulation(1, {
    before <- state()
    # long enough to have begun, and far from enough to end; more where the machine is so busy that it hasn't begun
    for (limit in c(0.3, 1, 3)) {
      if (!identical(state(), before)) break
      try(with_time_limit(limit, laplace_noise(sphere(50), c(1, rep(0, 50)), 0.1, 1e6)), silent = TRUE)
    }
    expect_false(identical(state(), before))
  })
})

test_that("time limits end samplers and solvers", {
  # each would work for 6 to 20 seconds; the bound is on what they work, not on the clock, because machines are busy
  slow <- list(
    quote(laplace_noise(sphere(50), c(1, rep(0, 50)), 0.1, 5e6)),
    quote(mf_dist_matrix(spd(11), twice)),
    quote(frechet_mean(many, spd(11), tol = 1e-300, method = "gradient")),
    quote(dp_mean(many, spd(11), 1, diag(11), 4, mechanism = "wrapped"))
  )
  set.seed(1)
  big <- mf_random(spd(11), 3000, sd = 0.3)
  twice <- big[, , rep(1:3000, 2)]
  many <- big[, , rep(1:3000, 40)]
  # what a first call loads, R loads in spite of limits
  dp_mean(big, spd(11), 1, diag(11), 4, mechanism = "wrapped")
  for (call in slow) {
    t <- system.time(said <- tryCatch(with_time_limit(0.3, eval(call)), error = conditionMessage), gcFirst = FALSE)
    expect_match(as.character(said)[1], "time limit")
    expect_lt(sum(t[1:2]), 5)
  }
})

test_that("no plan takes the end of a time limit for a number that can't be had", {
  limit <- gettext("reached elapsed time limit", domain = "R")
  expect_error(riemdp:::told_error(stop(limit)), limit, class = "simpleError")
  expect_error(riemdp:::told_error(stop("non-finite")), class = "riemdp_error_existence")
  expect_error(riemdp:::classed(stop(limit), "it"), limit, class = "simpleError")
  expect_error(riemdp:::as_made(stop(limit)), limit, class = "simpleError")
  expect_error(riemdp:::unless(stop(limit), 1), limit, class = "simpleError")
  expect_identical(riemdp:::unless(stop("other"), 1), 1)
  # what a callback raises may hold no words, or many
  for (odd in list(NULL, character(), c("a", limit), 3, sum)) {
    raise <- function() stop(structure(class = c("odd", "error", "condition"), list(message = odd, call = NULL)))
    expect_identical(tryCatch(riemdp:::unless(raise(), "other"), error = function(e) "passed on"), if (length(odd) == 2) "passed on" else "other")
  }
  # wherever it ends, no plan goes over to real numbers for want of time
  plan <- function(n) as.data.frame(dp_mean_plan(spd(11), n, 1, diag(11), 4, mechanism = "wrapped"))$numerics
  expect_identical(plan(500), "lattice")
  said <- vapply(seq_len(if (quick()) 12 else 60), function(k) {
    tryCatch(with_time_limit(0.002 * k, plan(600 + k)), error = conditionMessage)
  }, "")
  expect_true(all(said == "lattice" | grepl("time limit", said)))
})

test_that("R code in the middle of a call draws none of a simulation's numbers, and makes none come again", {
  # bars, handlers and finalizers run where a call looks for interrupts: here they draw at every such place
  progress <- riemdp:::progress
  wait <- progress$wait
  inner <- asNamespace("riemdp")
  before <- inner$progress_show
  put <- function(f) {
    unlockBinding("progress_show", inner)
    assign("progress_show", f, inner)
    lockBinding("progress_show", inner)
  }
  on.exit({
    progress$wait <- wait
    put(before)
  })
  draw <- function() with_simulation(3, list(laplace_noise(spd(2), diag(2), 0.3, 300), stats::runif(1)))
  still <- draw()
  calls <- 0
  progress$wait <- 0
  put(function(done, of) {
    calls <<- calls + 1
    stats::runif(5)
  })
  expect_identical(draw(), still)
  expect_gt(calls, 5)
  put(before)
  progress$wait <- wait
  # a user's gradient that draws: the noise of steps is no repetition of the first's
  P <- problem(NULL, function(w, z) {
    stats::runif(1)
    c(0, 0)
  }, euclidean(2))
  r <- with_simulation(5, dp_optimize(P, list(1, 2), noise_multiplier = 1, delta = 1e-6, start = c(0, 0), clip = 1, lr = 1, steps = 6))
  expect_identical(anyDuplicated(signif(r$trace$gradient_norm, 6)), 0L)
})
