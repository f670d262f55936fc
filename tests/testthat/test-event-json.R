# Events as dp_accounting writes them (R/event-json.R)

test_that("what is written comes back, to the last digit", {
  skip_if_not_installed("jsonlite")
  same <- list(
    event_gaussian(1 / 3), event_laplace(0.1), event_discrete_gaussian(2.7, 3, 4), event_pure(pi), event_pure(0.3, range = TRUE),
    event_approx(1, 1e-300), event_zcdp(1e-9), event_mixture(1.3, c(0, 0.1, 2), c(0.5, 0.3, 0.2)),
    event_poisson(1e-7, event_gaussian(0.7)), event_allocation(7, event_gaussian(0.9)), event_resample(3, 1e11, event_gaussian(1.1)),
    event_poisson(0.1, event_gaussian(2), most = 140, records = 900), event_select(event_pure(0.1), 20, 0.5),
    event_compose(event_gaussian(2), event_laplace(3)), event_compose(event_gaussian(2), times = 1e12),
    event_compose(event_poisson(0.01, event_compose(event_gaussian(1), event_pure(0.2), times = 3)), event_zcdp(0.1), times = 7)
  )
  for (e in same) {
    back <- event_from_json(event_to_json(e))
    # what is repeated stands in another compose, which costs the same
    if (e$type != "compose") expect_identical(back, e)
    expect_identical(event_to_json(back), event_to_json(e))
    if (e$type != "select") expect_equal(as.double(dp_epsilon(back, 1e-5)), as.double(dp_epsilon(e, 1e-5)), tolerance = 1e-12)
  }
  # those whose numbers are turned round are never less than they were
  g <- event_from_json(event_to_json(event_gdp(0.7)))
  expect_lte(g$parameters$noise_multiplier, 1 / 0.7)
  expect_equal(g$parameters$noise_multiplier, 1 / 0.7, tolerance = 1e-12)
  d <- event_from_json(event_to_json(event_discrete_laplace(0.7, 3)))
  expect_equal(unlist(d$parameters), c(scale = 0.7, sensitivity = 3), tolerance = 1e-11)
  for (scale in c(0.7, 49, 98, 103, 107, 196)) {
    expect_lte(event_from_json(event_to_json(event_discrete_laplace(scale)))$parameters$scale, scale)
  }
  for (mu in c(0.3, 49, 1e-310)) expect_lte(event_from_json(event_to_json(event_gdp(mu)))$parameters$noise_multiplier, 1 / mu)
  expect_error(event_to_json(event_discrete_laplace(1e-310)), class = "riemdp_error_unsupported")
  expect_identical(event_from_json(event_to_json(event_gdp(0))), event_pure(0))
})

test_that("text is that of dp_accounting's classes and their fields", {
  expect_identical(event_to_json(event_gaussian(0.5)),
                   "{\"module_name\": \"dp_accounting.dp_event\", \"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": 0.5}")
  expect_match(event_to_json(event_compose(event_pure(1), times = 4)), "SelfComposedDpEvent.*EpsilonDeltaDpEvent.*\"delta\": 0}, \"count\": 4}")
  for (e in list(event_rdp(2, 1), event_shuffle(10, event_pure(1)), event_sample(0.1, event_pure(1)), event_parallel(event_pure(1)),
                 event_custom("a", rho = 1), event_pair("a", 1, 1, "replace-one"))) {
    expect_error(event_to_json(e), class = "riemdp_error_unsupported")
  }
})

test_that("classes that have no event of their own are read as what they promise at most", {
  skip_if_not_installed("jsonlite")
  read <- function(class, fields, ...) event_from_json(sprintf("{\"class_name\": \"%sDpEvent\"%s}", class, fields), ...)
  expect_identical(read("NoOp", ""), event_pure(0))
  expect_identical(read("PermuteAndFlip", ", \"epsilon\": 0.4"), event_pure(0.4))
  # keeps the answer with 1 - p + p/k, any other one has p/k
  r <- read("RandomizedResponse", ", \"noise_parameter\": 0.25, \"num_buckets\": 5")
  expect_equal(r$parameters$epsilon, log((0.75 + 0.05) / 0.05), tolerance = 1e-10)
  expect_gte(r$parameters$epsilon, log((0.75 + 0.05) / 0.05))
  expect_identical(read("DiscreteGaussian", ", \"sigma\": 3")$parameters, list(sigma = 3, sensitivity = 1, dimension = 2))
  # of 4 steps in a tree one is in 3 nodes, of 3 in 2
  tree <- function(steps) read("SingleEpochTreeAggregation", sprintf(", \"noise_multiplier\": 2, \"step_counts\": %s", steps))$parameters$noise_multiplier
  expect_equal(vapply(c("1", "3", "4", "[4, 3]", "1000"), tree, 0, USE.NAMES = FALSE), 2 / sqrt(c(1, 2, 3, 3, 10)), tolerance = 1e-12)
  expect_lte(tree("3"), 2 / sqrt(2))
  s <- read("SampledWithoutReplacement", ", \"source_dataset_size\": 200, \"sample_size\": 50, \"event\": {\"class_name\": \"NoOpDpEvent\"}")
  expect_equal(s$parameters$q, 0.25, tolerance = 1e-11)
  sizes <- function(a, b) {
    text <- sprintf(", \"source_dataset_size\": %d, \"sample_size\": %d, \"event\": {\"class_name\": \"NoOpDpEvent\"}", b, a)
    read("SampledWithoutReplacement", text)$parameters$q
  }
  for (b in 2:30) for (a in seq_len(b)) expect_gte(sizes(a, b) * b, a)
  expect_identical(read("Gaussian", ", \"noise_multiplier\": 1", adjacency = "replace-one")$adjacency, "replace-one")
  poisson <- ", \"sampling_probability\": 0.1, \"event\": {\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": 1}"
  expect_error(read("PoissonSampled", poisson, adjacency = "replace-one"), class = "riemdp_error_adjacency")
  mixture <- ", \"standard_deviation\": 1, \"sensitivities\": [0, 1], \"sampling_probs\": [0.5, 0.5]"
  expect_error(read("MixtureOfGaussians", mixture, adjacency = "replace-one"), class = "riemdp_error_adjacency")
  expect_error(read("ZC", ", \"rho\": 1, \"xi\": 0.1"), class = "riemdp_error_unsupported")
  allocated <- function(k) read("RandomAllocation", sprintf(", \"num_selected\": %d, \"num_steps\": 9, \"event\": {\"class_name\": \"NoOpDpEvent\"}", k))
  expect_identical(allocated(1), event_allocation(9, event_pure(0)))
  expect_error(allocated(2), class = "riemdp_error_unsupported")
  expect_error(event_to_json(event_poisson(0.1, event_laplace(1), most = 5, records = 9)), class = "riemdp_error_unsupported")
  for (class in c("NonPrivate", "Unsupported", "Odd")) {
    expect_error(read(class, ""), class = "riemdp_error_unsupported")
  }
})

test_that("what is no such text is refused by a classed error, whatever it is", {
  skip_if_not_installed("jsonlite")
  good <- event_to_json(event_compose(event_poisson(0.1, event_gaussian(1)), event_mixture(1, c(0, 1), c(0.5, 0.5)), times = 3))
  nested <- function(times) {
    paste0(strrep("{\"class_name\": \"SelfComposedDpEvent\", \"count\": 1, \"event\": ", times), "{\"class_name\": \"NoOpDpEvent\"}", strrep("}", times))
  }
  bad <- c(
    "", "{", "null", "[]", "3", "\"a\"", "{}", "[1, 2]", "{\"class_name\": 3}", "{\"class_name\": \"GaussianDpEvent\"}",
    "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": \"1\"}", "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": null}",
    "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": [1, 2]}", "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": true}",
    "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": 1e999}", "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": -1}",
    "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": 1, \"more\": 1}", "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplierx\": 1}",
    "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": 1, \"noise_multiplier\": 9}",
    "{\"module_name\": \"os\", \"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": 1}",
    "{\"class_name\": \"SelfComposedDpEvent\", \"events\": {\"class_name\": \"NoOpDpEvent\"}, \"count\": 2}",
    "{\"class_name\": \"SampledWithoutReplacementDpEvent\", \"source_dataset_size\": -2, \"sample_size\": -1, \"event\": {\"class_name\": \"NoOpDpEvent\"}}",
    "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": {\"a\": 1}}",
    "{\"class_name\": \"ComposedDpEvent\", \"events\": []}", "{\"class_name\": \"ComposedDpEvent\", \"events\": 1}",
    "{\"class_name\": \"SingleEpochTreeAggregationDpEvent\", \"noise_multiplier\": 1, \"step_counts\": [1.5]}",
    nested(60), strrep("[", 1e5)
  )
  for (text in bad) expect_error(event_from_json(text), class = "riemdp_error")
  for (text in list(NULL, 1, NA_character_, c("a", "b"), list("a"))) expect_error(event_from_json(text), class = "riemdp_error_argument")
  expect_identical(as.double(dp_epsilon(event_from_json(nested(40)), 0)), 0)
  # bytes changed at random
  set.seed(1)
  for (i in 1:300) {
    bytes <- utf8ToInt(good)
    at <- sample(length(bytes), sample(4, 1))
    bytes[at] <- sample(32:126, length(at), TRUE)
    e <- tryCatch(event_from_json(intToUtf8(bytes)), riemdp_error = function(e) NULL)
    if (!is.null(e)) expect_identical(check_event(e), e)
  }
})
