# Pictures are drawn on every manifold; what they hold is checked by the drawing instructions that reach the device.
drawn <- function(expr) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, compress = FALSE)
  force(expr)
  grDevices::dev.off()
  readLines(file, warn = FALSE, encoding = "latin1")
}

test_that("points, means and releases draw on every manifold", {
  for (case in all_manifolds()) {
    M <- case$M
    if (M$name == "custom") next
    set.seed(3)
    base <- record(M, mf_random(M, 1, sd = 0.1), 1)
    x <- mf_exp(M, base, scale_records(M, unit_tangents(M, base, 6), case$reach / 4 * runif(6)))
    empty <- length(drawn(graphics::plot.new()))
    expect_gt(length(drawn(plot(mf_points(x, M)))), empty)
    expect_gt(length(drawn(plot(frechet_mean(x, M), records = x))), empty)
  }
  for (case in list(list(sphere(2), c(0, 0, 1), 0.3), list(spd(2), diag(2), 1), list(spd(3), diag(3), 1),
                    list(kendall(50), callosa[, , 1], 0.2), list(hyperbolic(2), c(1, 0, 0), 1),
                    list(euclidean(1), 0, 1), list(stiefel(4, 2), diag(4)[, 1:2], 0.3))) {
    M <- case[[1]]
    x <- mf_exp(M, case[[2]], scale_records(M, unit_tangents(M, case[[2]], 30), rep(case[[3]] / 2, 30)))
    r <- dp_mean(x, M, 5, case[[2]], case[[3]])
    expect_gt(length(drawn(plot(r))), length(drawn(graphics::plot.new())))
  }
})

test_that("the picture of a release depends on the release alone", {
  r <- dp_mean(wishart_spd[, , 1:40], spd(2), 1, diag(2), 1.5)
  clean <- function(text) text[!grepl("CreationDate|ModDate", text)]
  saved <- unserialize(serialize(r, NULL))
  expect_identical(clean(drawn(plot(saved))), clean(drawn(plot(r))))
})

test_that("shapes have panels, and outlines the colours of their landmarks", {
  x <- mf_points(callosa[, , 1:4], kendall(50))
  pages <- function(text) sum(grepl("/Type /Page\\b[^s]", text))
  one <- drawn(plot(x))
  four <- drawn(plot(x, panels = TRUE))
  expect_equal(pages(one), 1)
  expect_equal(pages(four), 1)
  colours <- unique(grep(" (SCN|RG)$", one, value = TRUE))
  expect_gte(length(colours), 50)
  expect_error(plot(x, panels = NA), class = "riemdp_error_argument")
})
