# Pictures by 'ggplot2': drawn on every manifold, and made of the release alone

skip_if_not_installed("ggplot2")

draw <- function(plot) {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  ggplot2::ggplot_gtable(ggplot2::ggplot_build(plot))
}

drawable <- function(M) M$name != "custom" && mf_facts(M)$dimension <= 6

test_that("points and means draw on every manifold", {
  cases <- Filter(function(case) drawable(case$M), all_manifolds())
  # the short form takes the last of each space
  if (quick()) cases <- cases[!duplicated(vapply(cases, function(case) case$M$name, ""), fromLast = TRUE)]
  for (case in cases) {
    M <- case$M
    set.seed(3)
    base <- record(M, mf_random(M, 1, sd = 0.1), 1)
    x <- mf_exp(M, base, scale_records(M, unit_tangents(M, base, 6), case$reach / 4 * runif(6)))
    expect_s3_class(draw(ggplot2::autoplot(mf_points(x, M))), "gtable")
    expect_s3_class(draw(ggplot2::autoplot(frechet_mean(x, M), records = x)), "gtable")
  }
})

test_that("releases draw, with the guarantee above and the coordinates of the release within", {
  for (case in list(list(sphere(2), c(0, 0, 1), 0.3), list(spd(2), diag(2), 1), list(spd(3), diag(3), 1),
                    list(kendall(50), callosa[, , 1], 0.2), list(hyperbolic(2), c(1, 0, 0), 1),
                    list(euclidean(2), c(0, 0), 1), list(stiefel(4, 1), diag(4)[, 1, drop = FALSE], 0.3))) {
    M <- case[[1]]
    x <- mf_exp(M, case[[2]], scale_records(M, unit_tangents(M, case[[2]], 30), rep(case[[3]] / 2, 30)))
    r <- dp_mean(x, M, 5, case[[2]], case[[3]])
    plot <- ggplot2::autoplot(r)
    expect_s3_class(draw(plot), "gtable")
    expect_match(plot$labels$subtitle, "5", fixed = TRUE)
    expect_false(any(vapply(plot$layers, function(l) NROW(l$data) == 30, NA)))
  }
  r <- dp_mean(matrix(1, 40, 2), euclidean(2), 1, c(0, 0), 2)
  data <- plot_data(r)
  layers <- unique(data[c("role", "kind")])
  layers <- layers[order(match(layers$role, rownames(attr(data, "looks")))), ]
  mean <- ggplot2::layer_data(ggplot2::autoplot(r), which(layers$role == "private mean"))
  expect_equal(c(mean$x, mean$y), r$value)
})

test_that("shapes are coloured along the outline, one panel each where asked for", {
  p <- ggplot2::autoplot(mf_points(callosa[, , 1:3], kendall(50)), panels = TRUE, labels = c("a", "b", "c"))
  d <- ggplot2::layer_data(p)
  expect_equal(nrow(d), 150)
  expect_equal(length(unique(d$colour)), 50)
  expect_equal(as.vector(table(d$PANEL)), rep(50, 3))
  # each segment ends where the next begins
  expect_equal(d$xend[1:49], d$x[2:50])
  expect_error(ggplot2::autoplot(mf_points(callosa[, , 1:3], kendall(50)), labels = "a"), class = "riemdp_error_shape")
})

test_that("a plan's picture shows the plan's errors", {
  plan <- dp_mean_plan(sphere(2), 500, 1, c(0, 0, 1), 0.4, mechanism = c("laplace", "wrapped"))
  p <- ggplot2::autoplot(plan, against = "n", points = 3)
  expect_s3_class(draw(p), "gtable")
  here <- p$data[p$data$x %in% 500 & p$data$kind == "point", ]
  expect_equal(here$y[match(plan$mechanism, here$role)], plan$expected_error)
})

test_that("colours differ in grey from their neighbours, and landmarks go from dark to light", {
  grey <- function(x) drop(c(0.299, 0.587, 0.114) %*% grDevices::col2rgb(x))
  expect_gt(min(abs(diff(grey(riemdp_colours(5))))), 12)
  expect_equal(length(unique(riemdp_colours())), 8)
  expect_gt(min(diff(grey(riemdp_colours(20, landmarks = TRUE)))), 0)
  expect_lt(max(grey(riemdp_colours(50, landmarks = TRUE))), 205)
  expect_error(riemdp_colours(9), class = "riemdp_error_argument")
})
