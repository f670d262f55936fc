# Nothing here is random.

test_that("events are plain data that survive a file, and broken ones are refused", {
  e <- event_compose(event_poisson(0.01, event_gaussian(1)), event_parallel(event_laplace(2), event_pure(0.1)), times = 3)
  file <- tempfile()
  saveRDS(e, file)
  expect_identical(check_event(readRDS(file)), e)
  expect_identical(e$adjacency, "add-remove")
  expect_identical(e$children[[2]]$adjacency, "either")
  expect_output(print(e), "3 x \\(Poisson sample\\(q = 0.01, Gaussian\\(noise multiplier = 1\\)\\)")
  tamper <- function(change) {
    x <- event_poisson(0.1, event_gaussian(1))
    x <- change(x)
    expect_error(check_event(x), class = "riemdp_error")
    expect_error(dp_epsilon(x, 1e-5), class = "riemdp_error")
    expect_error(event_price(x, "rdp", 2), class = "riemdp_error")
  }
  tamper(function(x) { x$parameters$q <- 2; x })
  tamper(function(x) { x$parameters$q <- NULL; x })
  tamper(function(x) { x$adjacency <- "replace-one"; x })
  tamper(function(x) { x$type <- "unknown"; x })
  tamper(function(x) { x$children <- list(); x })
  tamper(function(x) { x$children[[1]]$parameters$noise_multiplier <- -1; x })
  tamper(function(x) { x$children[[1]] <- 3; x })
  tamper(function(x) { x$extra <- 1; x })
  tamper(function(x) { names(x$children[[1]]$parameters) <- "noise_multi"; x })
  tamper(function(x) { x$children[[1]] <- event_pure(1); x$children[[1]]$parameters$rangefoo <- TRUE; x })
  tamper(function(x) { x$children[[1]]$adjacency <- "replace-one"; x })
})

test_that("events in events in events are checked once a level", {
  e <- event_pure(0.1)
  for (i in 1:45) e <- event_compose(e, times = 1)
  expect_identical(check_event(e), e) # doubling at each level would last for years
  expect_equal(as.double(dp_epsilon(e, 0)), 0.1)
  expect_error(for (i in 1:10) e <- event_compose(e), class = "riemdp_error_event")
  expect_output(print(event_custom("two\nlines", rho = 1)), "two\\nlines", fixed = TRUE)
})

test_that("bad parameters are classed errors", {
  for (bad in list(-1, Inf, NaN, NA_real_, "a", c(1, 2), NULL, TRUE)) {
    for (make in list(event_pure, event_laplace, event_gaussian, event_discrete_gaussian, event_zcdp, event_gdp)) {
      expect_error(make(bad), class = "riemdp_error_argument")
    }
    if (!is.null(bad)) expect_error(event_compose(event_pure(1), times = bad), class = "riemdp_error_argument")
  }
  for (q in list(0, -0.1, 1.1, NaN)) {
    expect_error(event_poisson(q, event_gaussian(1)), class = "riemdp_error_argument")
    expect_error(event_sample(q, event_gaussian(1)), class = "riemdp_error_argument")
  }
  expect_error(event_rdp(c(2, 2), c(1, 1)), class = "riemdp_error_argument")
  expect_error(event_rdp(1, 1), class = "riemdp_error_argument")
  expect_error(event_approx(1, 1), class = "riemdp_error_argument")
  expect_error(event_custom("x"), class = "riemdp_error_argument")
  expect_error(event_custom("x", rho = 1, assumed = FALSE), class = "riemdp_error_argument")
  expect_error(event_shuffle(100, event_gaussian(1)), class = "riemdp_error_unsupported")
  expect_error(event_compose(), class = "riemdp_error_event")
  expect_error(event_compose(3), class = "riemdp_error_event")
})

test_that("adjacencies are never mixed", {
  poisson <- event_poisson(0.1, event_gaussian(1))
  sample <- event_sample(0.1, event_gaussian(1))
  mixed <- function(x) expect_error(x, class = "riemdp_error_adjacency")
  mixed(event_compose(poisson, sample))
  mixed(event_parallel(poisson, sample))
  mixed(event_poisson(0.1, sample))
  mixed(event_sample(0.1, poisson))
  mixed(event_compose(poisson, event_gaussian(1, "replace-one")))
  mixed(event_compose(event_gaussian(1, "add-remove"), event_gaussian(1, "replace-one")))
  mixed(event_compose(sample, adjacency = "add-remove"))
  mixed(event_parallel(event_gaussian(1, "replace-one"), event_gaussian(1), keys = "private"))
  expect_identical(event_compose(sample, event_gaussian(2))$adjacency, "replace-one")
  expect_identical(event_parallel(event_pure(1), event_pure(1), keys = "private")$adjacency, "replace-one")
})

test_that("no label makes two events one: each part of a composition has its price", {
  label <- "A;TRUE}(gdp{0x1.999999999999ap-4}())|laplace{0x1p-2}()|custom{C"
  cheap <- event_parallel(event_custom(label, mu = 0.1))
  dear <- event_parallel(event_custom("A", mu = 0.1), event_laplace(0.25), event_custom("C", mu = 0.1))
  expect_false(riemdp:::event_key(cheap) == riemdp:::event_key(dear))
  expect_length(riemdp:::event_parts(event_compose(cheap, dear)), 2)
  expect_gt(as.double(dp_epsilon(event_compose(cheap, dear), 1e-5)), 3.9)
  expect_identical(riemdp:::event_parts(event_compose(dear, dear))[[1]]$times, 2)
})
