# answers of a lapply() whose calls get lost now and then
losing <- function(times) {
  lost <- new.env()
  lost$count <- 0
  function(X, FUN) {
    lapply(X, function(task) {
      lost$count <- lost$count + 1
      if (lost$count %in% times) structure("connection reset", class = "errorValue") else FUN(task)
    })
  }
}

test_that("lost answers are asked for again, and not for ever", {
  M <- spd(2)
  whole <- frechet_mean(chunks(wishart_spd, 100), M)
  expect_identical(frechet_mean(chunks(wishart_spd, 100, map = losing(c(2, 5, 31))), M), whole)
  e <- expect_error(frechet_mean(chunks(wishart_spd, 100, map = losing(1:1000)), M), class = "riemdp_error_worker")
  expect_match(conditionMessage(e), "3 times", fixed = TRUE)
  # a map that stops, and one that returns less, or more, or something else
  stops <- new.env()
  stops$count <- 0
  once <- function(X, FUN) {
    stops$count <- stops$count + 1
    if (stops$count %% 2) stop("a cluster node has gone, it had record 0.123")
    lapply(X, FUN)
  }
  expect_identical(frechet_mean(chunks(wishart_spd, 100, map = once), M), whole)
  expect_identical(frechet_mean(chunks(wishart_spd, 100, map = function(X, FUN) lapply(X[seq_len(max(1, length(X) - 1))], FUN)),
                                M,
                                max_iter = 1, tol = 1)$n, 1000)
  expect_identical(frechet_mean(chunks(wishart_spd, 100, map = function(X, FUN) rep(c(list(NULL, 3), lapply(X, FUN)), 2)), M),
                   whole)
  gone <- function(X, FUN) stop("a node has gone, it had record 0.123")
  x <- chunks(wishart_spd, 100, map = gone)
  e <- expect_error(dp_mean(x, M, 1, diag(2), 1.5), class = "riemdp_error_worker")
  expect_no_match(conditionMessage(e), "0.123", fixed = TRUE)
  # the option
  old <- options(riemdp.map = losing(3))
  on.exit(options(old))
  expect_identical(frechet_mean(chunks(wishart_spd, 100), M), whole)
})

test_that("what readers say stays out of private errors", {
  folder <- test_folder()
  paths <- file.path(folder, sprintf("%d.csv", 1:3))
  for (p in paths) writeLines("0.8123456", p)
  loud <- function(path) {
    print("secret 0.8123456")
    message("secret 0.8123456")
    warning("secret 0.8123456")
    if (grepl("2.csv", path, fixed = TRUE)) stop("secret 0.8123456")
    matrix(c(0.5, 0.5), 2)
  }
  x <- chunk_files(paths, loud, sizes = c(2, 2, 2))
  said <- character()
  withCallingHandlers(
    expect_output(caught <- expect_error(dp_mean(x, euclidean(1), 1, 0, 1), class = "riemdp_error_chunk"), NA),
    message = function(m) said <<- c(said, conditionMessage(m)), warning = function(w) said <<- c(said, conditionMessage(w))
  )
  expect_identical(said, character())
  expect_match(conditionMessage(caught), "a chunk can't be read", fixed = TRUE)
  expect_no_match(conditionMessage(caught), "8123", fixed = TRUE)
  expect_null(conditionCall(caught))
  # nor is a record's shape told, or how many there are
  short <- chunk_files(paths, function(path) matrix(0.8123456, 3), sizes = c(2, 2, 2))
  e <- expect_error(dp_mean(short, euclidean(1), 1, 0, 1), class = "riemdp_error_chunk")
  expect_no_match(conditionMessage(e), "8123|\\b3 records")
  e <- expect_error(dp_optimize(problem_huber(euclidean(1), 1), chunk_files(paths, loud, sizes = c(2, 2, 2)), 1, 1e-6, start = 0),
                    class = "riemdp_error_chunk")
  expect_no_match(conditionMessage(e), "8123", fixed = TRUE)
  # plain calls pass on what helps
  e <- expect_error(suppressWarnings(suppressMessages(capture.output(frechet_mean(x, euclidean(1))))),
                    class = "riemdp_error_chunk")
  expect_match(conditionMessage(e), "chunk 2: secret", fixed = TRUE)
})

test_that("simulations don't depend on what a map does with random numbers", {
  M <- spd(2)
  noisy <- function(X, FUN) {
    runif(17)
    lapply(X, function(x) {
      rnorm(3)
      FUN(x)
    })
  }
  run <- function(map) {
    x <- chunks(wishart_spd, 100, map = map)
    with_simulation(5, list(dp_mean(x, M, 1, diag(2), 1.5)$value, dp_optimize(problem_huber(M, 1), x, 1, 1e-6, start = diag(2),
      method = "rsgd",
                                                                            batch = 20, steps = 5)$value, runif(1)))
  }
  expect_identical(run(noisy), run(NULL))
  set.seed(1)
  before <- .Random.seed
  frechet_mean(chunks(wishart_spd, 100, map = noisy), M)
  expect_identical(.Random.seed, before)
})

test_that("mirai's daemons give the same answer, with one killed in the middle too, and over TCP", {
  skip_if(quick(), "workers are started in full runs only")
  skip_if_not_installed("mirai")
  skip_on_os("windows")
  M <- spd(2)
  x <- chunks(wishart_spd, 50)
  whole <- frechet_mean(x, M)
  private <- with_simulation(2, dp_mean(x, M, 1, diag(2), 1.5))$value
  mirai::daemons(2, .compute = "riemdp-test")
  on.exit(mirai::daemons(0, .compute = "riemdp-test"))
  x$map <- map_mirai("riemdp-test", timeout = 60000)
  expect_identical(frechet_mean(x, M), whole)
  expect_identical(with_simulation(2, dp_mean(x, M, 1, diag(2), 1.5))$value, private)
  # the worker that gets the third chunk dies there, once
  flag <- tempfile()
  deadly <- x
  third <- wishart_spd[1, 1, 101]
  once <- function(z) {
    if (!file.exists(flag) && z[1, 1, 1] == third) {
      file.create(flag)
      tools::pskill(Sys.getpid(), 9)
    }
    z
  }
  environment(once) <- list2env(list(flag = flag, third = third), parent = globalenv())
  deadly$shape <- once
  expect_identical(frechet_mean(deadly, M), whole)
  expect_true(file.exists(flag))
  mirai::daemons(0, .compute = "riemdp-test")

  # two machines played by processes that find this one over TCP
  mirai::daemons(url = "tcp://127.0.0.1:0", .compute = "riemdp-tcp")
  on.exit(mirai::daemons(0, .compute = "riemdp-tcp"), add = TRUE)
  url <- mirai::nextget("url", .compute = "riemdp-tcp")
  for (i in 1:2) {
    system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(sprintf("mirai::daemon('%s')", url))), wait = FALSE,
            stdout = FALSE, stderr = FALSE, env = paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep)))
  }
  x$map <- map_mirai("riemdp-tcp", timeout = 60000)
  expect_identical(frechet_mean(x, M), whole)
  pids <- unique(unlist(x$map(as.list(1:20), function(i) {
    Sys.sleep(0.01)
    Sys.getpid()
  })))
  expect_false(Sys.getpid() %in% pids)
})

test_that("future's workers give the same answer, with one killed in the middle too", {
  skip_if(quick(), "workers are started in full runs only")
  skip_if_not_installed("future.apply")
  skip_on_os("windows")
  M <- spd(2)
  x <- chunks(wishart_spd, 50)
  whole <- frechet_mean(x, M)
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  x$map <- map_future()
  expect_identical(frechet_mean(x, M), whole)
  flag <- tempfile()
  once <- function(z) {
    if (!file.exists(flag)) {
      file.create(flag)
      tools::pskill(Sys.getpid(), 9)
    }
    z
  }
  environment(once) <- list2env(list(flag = flag), parent = globalenv())
  x$shape <- once
  expect_identical(frechet_mean(x, M), whole)
  expect_true(file.exists(flag))
})

test_that("future's clusters over TCP, batchtools and mirai give the same answer", {
  skip_if(quick(), "workers are started in full runs only")
  skip_if_not_installed("future.apply")
  skip_on_os("windows")
  M <- spd(2)
  frame <- data.frame(t = runif(60))
  frame$y <- mf_points(mf_exp(M, diag(2), mf_from_coords(M, diag(2), outer(frame$t - 0.5, rep(0.3, 3)))), M)
  private <- function(map) {
    with_simulation(2, dp_regression(y ~ t, M, chunks(frame, 30, map = map), 1, diag(2), 0.4, speed = 1.5, residual_bound = 0.1,
                                     bounds = c(0, 1), method = "tangent"))$value
  }
  whole <- frechet_mean(chunks(wishart_spd, 250), M)
  short <- function(map = NULL) frechet_mean(chunks(wishart_spd, 500, map = map), M, tol = 0.1)
  old <- future::plan("cluster", workers = rep("localhost", 2), rscript_libs = .libPaths())
  on.exit(future::plan(old))
  expect_identical(frechet_mean(chunks(wishart_spd, 250, map = map_future()), M), whole)
  expect_identical(private(map_future()), private(NULL))
  backend <- function(package, name) if (requireNamespace(package, quietly = TRUE)) getExportedValue(package, name)
  if (!is.null(how <- backend("future.mirai", "mirai_multisession"))) {
    future::plan(how, workers = 2)
    expect_identical(short(map_future()), short())
  }
  if (!is.null(how <- backend("future.batchtools", "batchtools_multicore"))) {
    folder <- setwd(test_folder()) # where its registries go
    on.exit(setwd(folder), add = TRUE, after = FALSE)
    future::plan(how, workers = 2)
    expect_identical(short(map_future()), short())
  }
})

test_that("threads are off in workers, and change nothing here", {
  task <- list(number = 1, chunk = 1, piece = list(kind = "data", x = 1:3), request = list(kernel = "count"),
               home = "elsewhere 1")
  old <- options(riemdp.threads = 2)
  on.exit(options(old))
  seen <- NULL
  task$shape <- function(x) {
    seen <<- getOption("riemdp.threads")
    x
  }
  riemdp:::chunk_task(task)
  expect_identical(seen, 1)
  task$home <- riemdp:::process_name()
  riemdp:::chunk_task(task)
  expect_identical(seen, 2)
  set.seed(1)
  y <- mf_random(spd(3), 4000, sd = 0.3)
  two <- frechet_mean(chunks(y, 1500), spd(3))
  options(riemdp.threads = 1)
  expect_identical(frechet_mean(chunks(y, 700), spd(3)), two)
})

test_that("what is written past R's conditions is dropped in private calls, and sinks stay as they were", {
  fail <- function(words) stop(words)
  secret <- function(...) {
    try(fail("secret 0.123"))
    cat("secret\n", file = stderr())
    message("secret")
    warning("secret")
    print("secret")
    sink(file(tempfile(), "w"), type = "message") # left behind
    sink(tempfile())
    list(...)
  }
  kept <- file(tempfile(), "w+")
  mine <- file(tempfile(), "w+")
  old <- options(try.outFile = mine)
  sink(kept, type = "message")
  on.exit({
    sink(type = "message")
    options(old)
    close(kept)
    close(mine)
  })
  mark <- sink.number(type = "message")
  depth <- sink.number()
  silently <- riemdp:::silently
  try(stop("before"), silent = TRUE)
  expect_silent(value <- silently(secret(1)))
  expect_identical(value, list(1))
  expect_identical(sink.number(type = "message"), mark)
  expect_identical(sink.number(), depth)
  expect_silent(silently(silently(secret(1))))
  expect_identical(sink.number(type = "message"), mark)
  failed <- structure(class = c("riemdp_error_odd", "riemdp_error", "error", "condition"), list(message = "odd", call = NULL))
  expect_identical(tryCatch(silently(silently({
    secret()
    stop(failed)
  })), error = function(e) e), failed)
  expect_identical(sink.number(type = "message"), mark)
  expect_identical(sink.number(), depth)
  expect_identical(getOption("try.outFile"), mine)
  cat("after\n", file = stderr())
  expect_identical(readLines(kept), "after")
  expect_identical(readLines(mine), character())
  # R keeps the last words that try() caught
  expect_no_match(geterrmessage(), "secret")
  once <- geterrmessage()
  silently(1)
  expect_identical(geterrmessage(), once) # the same whether something failed or not
})

test_that("a reader's words don't reach the terminal in private calls", {
  folder <- test_folder()
  paths <- file.path(folder, c("a", "b"))
  for (path in paths) writeLines("0.5", path)
  state <- new.env()
  state$speaks <- FALSE
  fail <- function(path) stop("secret ", readLines(path))
  reader <- function(path) {
    if (state$speaks) try(fail(path))
    data.frame(a = as.numeric(readLines(path)))
  }
  x <- chunk_files(paths, reader, shape = euclidean(1))
  state$speaks <- TRUE
  said <- utils::capture.output(type = "message", dp_mean(x, euclidean(1), 1, 0, 1, mechanism = "tangent", invalid = "center"))
  expect_identical(said, character())
  expect_no_match(geterrmessage(), "secret")
})
