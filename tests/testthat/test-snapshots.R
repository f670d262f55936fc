# Base pictures as they were last approved by eye

test_that("pictures are as they were", {
  # a skipped picture is no left-over file
  names <- c("globe", "ellipses", "outlines", "disc", "line", "correlations", "groups", "plan", "ledger", "guarantee", "curve")
  for (name in names) announce_snapshot_file(name = paste0(name, ".svg"))
  skip_if_not_installed("vdiffr")
  draw <- function(f) function() f()
  vdiffr::expect_doppelganger("globe", draw(function() {
    plot(with_simulation(1, dp_mean(matrix(c(0, 0.1, 1), 50, 3, byrow = TRUE) / sqrt(1.01), sphere(2), 1, c(0, 0, 1), 0.4)))
  }))
  vdiffr::expect_doppelganger("ellipses", draw(function() {
    plot(frechet_mean(wishart_spd[, , 1:5], spd(2)), records = wishart_spd[, , 1:5])
  }))
  vdiffr::expect_doppelganger("outlines", draw(function() plot(mf_points(callosa[, , 1:4], kendall(50)), panels = TRUE)))
  vdiffr::expect_doppelganger("disc", draw(function() {
    at <- mf_exp(hyperbolic(2), c(1, 0, 0), cbind(0, (-5:5) / 3, 0.4))
    plot(mf_points(at, hyperbolic(2)))
  }))
  vdiffr::expect_doppelganger("line", draw(function() plot(with_simulation(1, dp_mean(rep(0.2, 50), euclidean(1), 1, 0, 1)))))
  vdiffr::expect_doppelganger("correlations", draw(function() {
    P <- diag(c(ozone = 1, wind = 4, radiation = 9)) + 0.5
    plot(with_simulation(1, dp_mean(array(P, c(3, 3, 1e5)), spd(3), 8, diag(3), 3)))
  }))
  vdiffr::expect_doppelganger("groups", draw(function() {
    x <- array(c(1, 0, 0, 2), c(2, 2, 4000))
    plot(with_simulation(1, dp_mean(x, spd(2), 4, diag(2), 1.5, by = rep(c("a", "b"), 2000), levels = c("a", "b"))))
  }))
  vdiffr::expect_doppelganger("plan", draw(function() plot(dp_lm_plan(1000, 4, epsilon = 1))))
  vdiffr::expect_doppelganger("ledger", draw(function() {
    ledger <- dp_ledger(NULL, epsilon = 1, data_sets = c("north", "south"))
    for (i in 1:4) ledger_spend(ledger, event_pure(0.1), data_set = c("north", "south")[1 + (i == 3)])
    plot(ledger)
  }))
  vdiffr::expect_doppelganger("guarantee", draw(function() plot(guarantee(with_simulation(1, dp_mean(rep(0.2, 50), euclidean(1), 1, 0, 1))))))
  vdiffr::expect_doppelganger("curve", draw(function() {
    t <- (1:20) / 20
    plot(geodesic_regression(mf_points(array(diag(2), c(2, 2, 20)) * rep(exp(t), each = 4), spd(2)) ~ t, spd(2)))
  }))
})
