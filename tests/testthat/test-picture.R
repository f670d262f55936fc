# What is drawn, and that both kinds of picture draw it: the same data, with all words inside the figure.

# words of an uncompressed PDF with their places and sizes in points: each is set by "a b c d x y Tm (words) Tj"
words_drawn <- function(draw, wide = 5, high = 5) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, wide, high, compress = FALSE, useKerning = FALSE)
  draw()
  grDevices::dev.off()
  text <- readLines(file, warn = FALSE, encoding = "latin1")
  set <- paste0("^/F([0-9]) 1 Tf ", strrep("([-0-9.]+) ", 6), "Tm \\((.*)\\) Tj$")
  found <- regmatches(text, regexec(set, text, useBytes = TRUE))
  found <- do.call(rbind, Filter(function(f) length(f) == 9, found))
  if (is.null(found)) return(NULL)
  numbers <- matrix(as.numeric(found[, 2:8]), nrow(found))
  data.frame(words = gsub("\\\\([()\\\\])", "\\1", found[, 9]), bold = numbers[, 1] == 3, size = sqrt(numbers[, 2]^2 + numbers[, 3]^2),
             up = abs(numbers[, 3]) > abs(numbers[, 2]), x = numbers[, 6], y = numbers[, 7])
}

# those that begin or end outside of the figure
cut_off <- function(words, wide = 5, high = 5) {
  if (is.null(words)) return(character())
  words <- words[words$bold %in% c(TRUE, FALSE) & nzchar(words$words), ]
  grDevices::pdf(NULL, 7, 7)
  on.exit(grDevices::dev.off())
  graphics::plot.new()
  long <- vapply(seq_len(nrow(words)), function(i) {
    72 * graphics::strwidth(words$words[i], "inches", cex = words$size[i] / 12, font = if (words$bold[i]) 2 else 1)
  }, 0)
  end <- ifelse(words$up, words$y, words$x) + long
  words$words[words$x < -1 | words$y < -1 | end > 72 * ifelse(words$up, high, wide) + 1]
}

objects <- local({
  set.seed(5)
  o <- c(0, 0, 1)
  M <- sphere(2)
  x <- mf_exp(M, o, mf_from_coords(M, o, matrix(rnorm(400, sd = 0.1), 200)))
  t <- seq(0, 1, length.out = 200)
  line <- mf_exp(M, o, outer(t - 0.5, c(0.8, 0.2, 0)))
  ledger <- dp_ledger(NULL, epsilon = 1, data_sets = c("one", "two"))
  ledger_spend(ledger, event_pure(0.1), data_set = "one")
  scans <- list(scan = mf_points(wishart_spd[, , 1:200], spd(2)), sex = rep(c("f", "m"), 100))
  step <- event_poisson(0.01, event_gaussian(1))
  table <- data.frame(y = t + rnorm(200, sd = 0.1), t = t, a = rnorm(200), b = rnorm(200))
  bounds <- list(y = c(-1, 2), t = c(0, 1), a = c(-3, 3), b = c(-3, 3))
  square <- matrix(c(0, 1, 1, 0, 0, 0, 1, 1), 4)
  list(
    globe = dp_mean(x, M, 1, o, 0.4), line = dp_mean(x[, 1], euclidean(1), 1, 0, 1),
    circle = dp_mean(mf_random(sphere(1), 50), sphere(1), 1, c(0, 1), 0.7),
    disc = dp_mean(mf_random(hyperbolic(2), 50, sd = 0.1), hyperbolic(2), 1, c(1, 0, 0), 1),
    matrices = dp_mean(wishart_spd[, , 1:100], spd(2), 1, diag(2), 1.5),
    correlations = dp_mean(array(diag(3), c(3, 3, 500)), spd(3), 1, diag(3), 1),
    wide = dp_mean(array(diag(20), c(20, 20, 5000)), spd(20), 1, diag(20), 1),
    high = dp_mean(matrix(0, 500, 20), euclidean(20), 1, rep(0, 20), 1),
    dots = dp_mean(array(square, c(4, 2, 20)), kendall(4), 1, square, 0.2),
    median = dp_median(x[, 1:2], euclidean(2), 1, c(0, 0), 1), groups = dp_mean(scan ~ sex, data = scans, epsilon = 2, center = diag(2), radius = 1.5,
                                                                               levels = list(sex = c("f", "m"))),
    curve = dp_regression(line ~ t, M, epsilon = 2, center = o, radius = 0.4, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1)),
    pga = dp_pga(matrix(rnorm(2000), 500), euclidean(4), q = 2, epsilon = 4, delta = 1e-6, center = rep(0, 4), radius = 3),
    lm = dp_lm(y ~ t, table, epsilon = 2, bounds = bounds[c("y", "t")]), coefficients = dp_lm(y ~ t + a + b, table, epsilon = 2, bounds = bounds),
    optimum = dp_optimize(problem_huber(spd(2), 1), wishart_spd, epsilon = 1, delta = 1e-6, start = diag(2)),
    plan = dp_mean_plan(M, 500, 1, radius = 0.4, mechanism = c("laplace", "wrapped", "gaussian")), lm_plan = dp_lm_plan(1000, 4, epsilon = 1),
    curve_plan = dp_regression_plan(M, c(100, 1000), 1, o, 0.4, speed = 1, residual_bound = 0.1, bounds = c(0, 1)),
    curve_plan_one = dp_regression_plan(M, 100, 1, o, 0.4, speed = 1, residual_bound = 0.1, bounds = c(0, 1)),
    guarantee = guarantee(dp_mean(x, M, 1, o, 0.4)), event = event_compose(step, times = 100), tradeoff = dp_tradeoff(step),
    accountants = dp_accountants(event_compose(step, times = 100), 1e-6), ledger = ledger, points = mf_points(x, M), mean = frechet_mean(x, M),
    fit = geodesic_regression(mf_points(line, M) ~ t, M)
  )
})

test_that("a picture is a table of corners, with a look for each role and a frame for each panel", {
  for (name in names(objects)) {
    p <- plot_data(objects[[name]])
    expect_s3_class(p, "riemdp_picture")
    expect_identical(names(p), c("panel", "kind", "role", "group", "x", "y", "xend", "yend", "text", "value"), info = name)
    expect_true(all(p$kind %in% names(riemdp:::DRAWN)), info = name)
    expect_identical(names(riemdp:::GG_DRAWN), names(riemdp:::DRAWN))
    expect_setequal(rownames(attr(p, "looks")), unique(p$role))
    expect_setequal(names(attr(p, "frames")), unique(p$panel))
    expect_false(anyNA(attr(p, "looks")))
    expect_gt(sum(is.finite(p$x) | is.finite(p$y)), 0)
    expect_error(plot_data(objects[[name]], nonsense = 1), class = "riemdp_error_argument")
  }
  expect_error(plot_data(1), class = "riemdp_error_argument")
  expect_error(plot(structure(data.frame(panel = ""), class = c("riemdp_picture", "data.frame"))), class = "riemdp_error_argument")
})

test_that("no word is cut, in square, wide and narrow figures", {
  for (name in names(objects)) for (size in list(c(5, 5), c(8, 4), c(3.6, 5))) {
    words <- words_drawn(function() plot(objects[[name]]), size[1], size[2])
    expect_identical(cut_off(words, size[1], size[2]), character(), info = paste(name, paste(size, collapse = " x ")))
  }
  # and one that is cut is found
  words <- words_drawn(function() {
    graphics::plot.new()
    graphics::mtext(strrep("too long for its figure ", 8), 1)
  })
  expect_length(cut_off(words), 1)
})

test_that("the legend names what is drawn, and the caption what it is about", {
  for (name in c("globe", "disc", "high")) {
    words <- words_drawn(function() plot(objects[[name]]))$words
    expect_true(all(c("public ball", "95 % noise region", "private mean", "public centre") %in% words), info = name)
    expect_match(paste(words, collapse = " "), "expected error .* of the privacy noise alone")
  }
  # in one dimension each role has a row, and none a legend
  words <- words_drawn(function() plot(objects$line))$words
  expect_identical(sum(words == "public ball"), 1L)
  expect_true(all(c("sd", "variable") %in% words_drawn(function() plot(objects$correlations))$words))
  expect_true("coordinate 1 of 20" %in% words_drawn(function() plot(objects$high))$words)
})

test_that("what is drawn of a release are its own numbers", {
  p <- plot_data(objects$high)
  at <- function(role, kind = "point") as.matrix(p[p$role == role & p$kind == kind, c("x", "y")])
  expect_equal(drop(unname(at("private mean"))), objects$high$value[1:2])
  expect_equal(drop(unname(at("public centre"))), c(0, 0))
  expect_equal(unname(apply(at("public ball", "path"), 2, range)), matrix(c(-1, 1, -1, 1), 2), tolerance = 1e-3)
  region <- riemdp:::mean_region(objects$high, 0.95)
  expect_equal(sqrt(rowSums((at("95 % noise region", "path") - rep(objects$high$value[1:2], each = 181))^2)), rep(region$radius, 181), ignore_attr = TRUE)
  # a region that isn't smaller than the ball isn't drawn
  expect_false("95 % noise region" %in% plot_data(dp_mean(matrix(0, 5, 20), euclidean(20), 0.1, rep(0, 20), 1))$role)
  # on a globe the view reaches as far as the ball and a little beyond
  p <- plot_data(objects$globe)
  view <- attr(p, "frames")[[1]]
  expect_equal(view$xlim, c(-1, 1) * 1.2 * sin(0.4), tolerance = 1e-3)
  line <- plot_data(objects$line)
  expect_equal(unlist(line[line$role == "public ball", c("x", "xend")], use.names = FALSE), c(-1, 1))
  # correlations and standard deviations
  k <- 3
  p <- plot_data(objects$correlations)
  expect_equal(p$value[p$kind == "tile"], as.vector(stats::cov2cor(objects$correlations$value)))
  sds <- p[p$kind == "text" & p$role == "label", ]
  expect_identical(sds$text[-1], sprintf("%.3g", sqrt(diag(objects$correlations$value))))
  expect_equal(sds$y[-1], 3:1)
  wide <- plot_data(objects$wide)
  expect_identical(sum(wide$kind == "text" & wide$role == "cell"), 0L)
  # groups: each in a panel, its error by name
  p <- plot_data(objects$groups)
  expect_setequal(p$panel, c("f", "m"))
  expect_match(attr(p, "caption")[1], sprintf("f %.3g, m %.3g", objects$groups[["f"]]$expected_error, objects$groups[["m"]]$expected_error), fixed = TRUE)
})

test_that("circles are round in a row of ellipses, and marks are the predictor's", {
  t <- seq(0, 1, length.out = 50)
  y <- mf_points(array(diag(2), c(2, 2, 50)) * rep(exp(t), each = 4), spd(2))
  p <- plot_data(geodesic_regression(y ~ t, spd(2)))
  frame <- attr(p, "frames")[[1]]
  expect_true(frame$equal)
  expect_identical(frame$xmarks$labels[c(1, 7)], c("0", "1"))
  for (g in unique(p$group[p$role == "fitted"])) {
    one <- p[p$group == g & p$role == "fitted", ]
    expect_equal(diff(range(one$x)), diff(range(one$y)), tolerance = 1e-3)
  }
})

test_that("a plan's picture holds the plan's errors, and one number of records gives rows", {
  plan <- objects$plan
  p <- plot_data(plan, against = "n", points = 3)
  here <- p[p$kind == "point" & p$x == 500, ]
  expect_equal(here$y[match(c("laplace", "wrapped"), here$role)], plan$expected_error[match(c("laplace", "wrapped"), plan$mechanism)])
  expect_match(attr(p, "caption"), "^gaussian: ")
  p <- plot_data(objects$curve_plan_one)
  expect_identical(attr(p, "frames")[[1]]$ymarks$labels, objects$curve_plan_one$method)
  expect_equal(p$x[p$role == "expected"], objects$curve_plan_one$expected_error)
})

test_that("a ledger's picture goes down step by step", {
  p <- plot_data(objects$ledger)
  expect_equal(p$y[p$role == "one"], c(1, 1, 0.9))
  expect_equal(p$x[p$role == "one"], c(0, 1, 1))
  # without a release all is left to the end
  expect_equal(p$y[p$role == "two"], c(1, 1))
  expect_equal(p$x[p$role == "two"], c(0, 1))
  expect_identical(unique(plot_data(objects$ledger, data_set = "one")$role), "one")
})

test_that("ggplot2 draws the same corners", {
  skip_if_not_installed("ggplot2")
  for (name in names(objects)) {
    p <- plot_data(objects[[name]])
    g <- ggplot2::autoplot(objects[[name]])
    expect_s3_class(g, "ggplot")
    grDevices::pdf(NULL)
    built <- ggplot2::ggplot_build(g)
    ggplot2::ggplot_gtable(built)
    grDevices::dev.off()
    drawn <- sum(vapply(built$data, nrow, 0L))
    gone <- sum(is.na(p$x) & p$kind == "area")
    expect_equal(drawn + gone, nrow(p), info = name)
  }
  expect_error(ggplot2::autoplot(objects$globe, nonsense = 1), class = "riemdp_error_argument")
})

test_that("what the caller asks of the plane is done", {
  asked <- function(...) words_drawn(function() plot(objects$high, ...))$words
  expect_true(all(c("mine", "across", "up") %in% asked(main = "mine", xlab = "across", ylab = "up")))
  expect_true("coordinate 1 of 20" %in% asked(xaxt = "n"))
  plain <- asked()
  expect_false("coordinate 1 of 20" %in% asked(axes = FALSE))
  expect_lt(length(asked(xaxt = "n")), length(plain))
  expect_true(any(startsWith(asked(xlim = c(4, 6)), "5")))
  expect_identical(asked(ann = TRUE), plain)
})

test_that("margins are left alone where the words have room", {
  grDevices::pdf(NULL, 7, 7)
  on.exit(grDevices::dev.off())
  before <- graphics::par("mar")
  plot(objects$globe)
  expect_identical(graphics::par("mar"), before)
  # a point added afterwards lies where it should
  graphics::par(mar = before)
  plot(objects$high)
  usr <- graphics::par("usr")
  plot(plot_data(objects$coefficients))
  expect_identical(graphics::par("mar"), before)
  expect_lt(usr[1], -1)
})
