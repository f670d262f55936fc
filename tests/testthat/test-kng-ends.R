# Trials have a public end, whatever the records: plans refuse what would take long, and what is planned takes no more trials than stated.

origin_of <- function(M) riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))

test_that("what the worst records would make long is refused from public facts, before anything is paid", {
  M <- grassmann(50, 5)
  o <- origin_of(M)
  plan <- function(max_trials = NULL) {
    riemdp:::plan_mean(M, riemdp:::mean_ask(M, 4000, 1, o, 0.25, 0, "kng", NULL, "proven", "ordinary", "real", max_trials, list()))
  }
  expect_error(plan(), "may take about a second", class = "riemdp_error_unsupported")
  expect_true(plan(max_trials = 1e6)$acceptance < 1e-4)
  expect_error(plan(max_trials = 100), "`max_trials` is 100", class = "riemdp_error_unsupported")
  x <- mf_exp(M, o, mf_from_coords(M, o, matrix(c(0.2, rep(0, mf_facts(M)$dimension - 1)), 4000, mf_facts(M)$dimension, byrow = TRUE)))
  ledger <- dp_ledger(epsilon = 1)
  expect_error(dp_mean(x, M, 1, o, 0.25, mechanism = "kng", numerics = "real", ledger = ledger), class = "riemdp_error_unsupported")
  expect_equal(nrow(ledger_history(ledger)), 0)
})

test_that("auto leaves alone what would take a tenth of a second for the worst records", {
  ask <- list(n = 4000, ball = list(radius = 0.25), timing = "ordinary", numerics = "real")
  M <- grassmann(50, 5)
  one <- riemdp:::trial_seconds(M, ask, "kng")
  room <- riemdp:::trials_room(M, ask, riemdp:::TRIALS_AUTO)
  expect_true(riemdp:::trials_slow(M, ask, "kng", 0.99 * one / room))
  expect_false(riemdp:::trials_slow(M, ask, "kng", 1.01 * one / room))
  expect_true(room <= max(0.1, 10 * 4000 * riemdp:::record_seconds(M)))
  expect_equal(riemdp:::most_trials(M, ask, "kng"), max(1, room) / one)
  expect_equal(riemdp:::most_trials(M, c(ask, max_trials = 7), "kng"), 7)
})

# of 30 draws, each trial with the stated chance: more than three times as many as that is less likely than 1e-12
test_that("the worst records take no more trials than the plan states", {
  cells <- list(list(stiefel(4, 2), 0.2, 200), list(spd(2), 1.5, 50), list(kendall(5), 0.2, 200), list(hyperbolic(2), 1, 50), list(sphere(3), 0.7, 20))
  for (cell in cells) for (law in c("kng", "laplace_truncated", "staircase_truncated")) {
    M <- cell[[1]]
    o <- origin_of(M)
    d <- mf_facts(M)$dimension
    ask <- riemdp:::mean_ask(M, cell[[3]], 1, o, cell[[2]], 0, law, NULL, "proven", "ordinary", "lattice", 1e6, list())
    plan <- riemdp:::plan_mean(M, ask)
    expect_true(plan$acceptance > 0 && plan$acceptance <= 1)
    a <- matrix(0, cell[[3]], d)
    for (worst in c("edge", "two", "centre")) {
      a[, 1] <- cell[[2]] * (1 - 1e-9) * switch(worst, edge = 1, two = rep_len(c(1, -1), cell[[3]]), centre = 0)
      x <- mf_exp(M, o, mf_from_coords(M, o, a))
      scale <- c(plan$scale, if (law == "staircase_truncated") c(plan$details$shell, plan$details$first))
      out <- with_simulation(1, .Call(riemdp:::riemdp_lattice_law_nonprivate, M, x, o,
                                      c(plan$numbers, list(gradient = plan$gradient, public = plan$public)),
                                      if (law == "kng") "kng" else "laplace_truncated", 0, scale, 30, TRUE))
      expect_lte(out$trials, 90 / plan$acceptance)
    }
  }
})
