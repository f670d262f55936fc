test_that("plain optimisation over chunks finds what it finds in memory", {
  M <- spd(2)
  x <- wishart_spd[, , 1:200]
  own <- problem(function(w, z) mf_dist(M, w, z)^2 / 2, function(w, z) -mf_log(M, w, z), M)
  for (method in c("lbfgs", "conjugate", "gradient")) {
    run <- function(x) riemannian_optimize(problem_huber(M, 1), x, diag(2), method, tol = 1e-8)
    whole <- run(x)
    first <- run(chunks(x, 37))
    expect_lt(mf_dist(M, first$value, whole$value), 1e-8)
    expect_identical(run(chunks(x, 71, map = backwards)), first)
    expect_identical(first$n, 200)
  }
  run <- function(x) riemannian_optimize(own, x, diag(2), tol = 1e-6)$value
  expect_identical(run(chunks(x, 37)), run(chunks(x, 100)))
  expect_lt(mf_dist(M, run(chunks(x, 37)), run(x)), 1e-6)
  y <- as.matrix(iris[, 1:4])
  pca <- function(y) riemannian_optimize(problem_pca(sphere(3)), y, c(1, 1, 1, 1) / 2)$value
  expect_equal(pca(chunks(y, 40)), pca(y), tolerance = 1e-8)
  broken <- problem(function(w, z) 0, function(w, z) stop("none"), M)
  expect_error(riemannian_optimize(broken, chunks(x, 37), diag(2)), class = "riemdp_error_chunk")
})

test_that("private optimisation over chunks takes the steps that it takes in memory", {
  M <- spd(2)
  x <- wishart_spd[, , 1:200]
  x[1, 1, 9] <- NA # has no gradient
  own <- problem(NULL, function(w, z) if (anyNA(z)) stop("no record") else -mf_log(M, w, z), M)
  kinds <- list(list(method = "rgd", steps = 5), list(method = "rsgd", batch = 20, steps = 8), list(method = "rsgd",
    sampling = "poisson", rate = 0.1, batch = 20, steps = 8),
                list(method = "rsgd", sampling = "disjoint", batch = 20), list(method = "rsvrg", epochs = 2, inner = 4,
                  batch = 30),
                list(method = "rsvrg", epochs = 1, inner = 4, batch = 30, calibration = "paper"))
  for (kind in kinds) {
    for (problem in list(problem_huber(M, 1), own)) {
      run <- function(x) {
        with_simulation(3, do.call(dp_optimize, c(list(problem, x, 1, 1e-6, start = diag(2), clip = 1, lr = 0.3), kind)))
      }
      whole <- run(x)
      first <- run(chunks(x, 37))
      expect_equal(first$value, whole$value, tolerance = 1e-12)
      expect_equal(first$trace, whole$trace, tolerance = 1e-12)
      expect_identical(first[c("n", "noise_multiplier", "guarantee", "batch")], whole[c("n", "noise_multiplier", "guarantee",
        "batch")])
      expect_identical(run(chunks(x, 90, map = backwards))$value, first$value)
    }
  }
})

test_that("private principal components over chunks are those of memory", {
  y <- as.matrix(iris[, 1:4]) - matrix(c(6, 3, 4, 1), 150, 4, TRUE)
  for (q in 1:2) {
    run <- function(y) with_simulation(3, dp_pca(y, q, 2, 1e-6, bound = 3, mechanism = "rgd"))$value
    expect_equal(run(chunks(y, 40)), run(y), tolerance = 1e-11)
    expect_identical(run(chunks(y, 40)), run(chunks(as.data.frame(y), 33)))
  }
})

test_that("an interrupted run over chunks goes on", {
  M <- spd(2)
  budget <- dp_ledger(NULL, 2, 1e-5)
  file <- tempfile(fileext = ".rds")
  calls <- new.env()
  calls$count <- 0
  stops <- function(X, FUN) {
    calls$count <- calls$count + 1
    if (calls$count == 30) signalCondition(structure(class = c("interrupt", "condition"), list()))
    lapply(X, FUN)
  }
  x <- chunks(wishart_spd, 200, map = stops)
  stopped <- tryCatch(dp_optimize(problem_huber(M, 1), x, 1, 1e-6, start = diag(2), steps = 60, ledger = budget,
                                  checkpoint = file),
                      interrupt = function(e) "interrupted")
  expect_identical(stopped, "interrupted")
  saved <- readRDS(file)
  expect_false(any(c("data", "which", "records", "pieces") %in% names(saved)))
  # the records are compared chunk by chunk
  expect_error(dp_resume(file, problem_huber(M, 1), chunks(wishart_spd, 300), budget), class = "riemdp_error_argument")
  r <- dp_resume(file, problem_huber(M, 1), chunks(wishart_spd, 200), budget)
  expect_s3_class(r, "riemdp_optimize")
  expect_identical(nrow(ledger_history(budget)), 1L)
  expect_error(dp_resume(file, problem_huber(M, 1), chunks(wishart_spd, 200), budget), class = "riemdp_error")
})
