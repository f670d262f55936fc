# Base pictures as they were last approved by eye

test_that("pictures are as they were", {
  # a skipped picture is no left-over file
  for (name in c("globe", "ellipses", "outlines", "disc")) announce_snapshot_file(name = paste0(name, ".svg"))
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
})
