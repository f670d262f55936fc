# Units whose rows lie in several chunks: wherever records are cut, a unit counts once. Nothing here is a statistical test.

# 20 persons with 1 to some 15 rows each, in no order
unit_table <- function(n = 120, persons = 20) {
  with_simulation(6, {
    d <- data.frame(x = stats::runif(n), y = stats::rnorm(n), a = stats::runif(n), b = stats::runif(n))
    d$who <- sprintf("p%02d", c(seq_len(persons), sample(c(1, 1, 1:persons), n - persons, TRUE)))
    d[sample(n), ]
  })
}

# sizes of chunks: persons are split by each but the last
unit_cuts <- function(n) list(c(1, n - 1), rep(n / 6, 6), rep(1, n), n)

cut_into <- function(x, sizes) {
  ends <- cumsum(sizes)
  Map(function(from, to) riemdp:::records_of(x, from:to), ends - sizes + 1, ends)
}

keys_of <- function(...) {
  riemdp:::chunk_keys(chunks(list(...)), "who")
}

lm_in <- function(data, unit, method = "objective", ..., bounds = list(x = c(0, 1), y = c(center = 0, scale = 1))) {
  dp_lm(y ~ x, data, delta = if (method %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-3 else 0, bounds = bounds, method = method,
        unit = unit, ...)
}

curve_in <- function(data, unit, method, ..., M = sphere(2), center = c(0, 0, 1), formula = y ~ x) {
  dp_regression(formula, M, data, 1, center, radius = 0.4, speed = 1, residual_bound = 0.1, bounds = c(0, 1), method = method,
                delta = if (method == "gradient") 1e-3 else 0, unit = unit, ...)
}

optimum_in <- function(data, unit, ..., problem = problem_huber(euclidean(2), 0.5)) {
  dp_optimize(problem, data, delta = 1e-3, start = c(0, 0), lr = 0.5, clip = c(0.5, 0.3)[seq_len(1 + identical(list(...)$method, "rsvrg"))], unit = unit, ...)
}

# every way to work on units: a function of the data and their units, and what the data are of
unit_calls <- function() {
  lm <- lapply(c("objective", "recentred", "huber", "statistics", "adassp", "boosted", "newton", "descent", "gaussian", "output"), function(m) list(
    columns = c("x", "y"), call = function(d, u) lm_in(d, u, m, epsilon = 3)))
  curve <- lapply(c("newton", "tangent", "gradient", "kng"), function(m) list(columns = c("x", "p"), call = function(d, u) curve_in(d, u, m, formula = p ~ x)))
  runs <- lapply(list(
    list(method = "rgd", epsilon = 1, steps = 3), list(method = "rsgd", epsilon = 1, batch = 5, steps = 3),
    list(method = "rsgd", epsilon = 1, sampling = "disjoint", batch = 5, steps = 3),
    list(method = "rsgd", noise_multiplier = 30, sampling = "poisson", rate = 0.3, batch = 6, steps = 3),
    list(method = "rsvrg", noise_multiplier = 30, batch = 5, inner = 2, epochs = 1)
  ), function(args) list(columns = c("a", "b"), call = function(d, u) do.call(optimum_in, c(list(d, u), args))))
  mean <- lapply(list(
    list(mechanism = "auto"), list(mechanism = "laplace", numerics = "real", clipped = 0.2), list(mechanism = "kng"), list(mechanism = "tangent"),
    list(mechanism = "adaptive", epsilon = 20), list(mechanism = "wrapped", invalid = "center")
  ), function(args) list(columns = c("a", "b"), same = TRUE, call = function(d, u) do.call(dp_mean, utils::modifyList(list(
    d, euclidean(2), epsilon = 1, center = c(0.5, 0.5), radius = 0.6, unit = u), args))))
  own <- problem(NULL, function(w, z) w - unlist(z), euclidean(2))
  c(lm, curve, runs, mean, list(
    guess = list(columns = c("x", "y"), n = 360, persons = 120, call = function(d, u) {
      lm_in(d, u, "statistics", epsilon = 10, bounds = list(x = c(0, 1), y = c(center = 40, scale = 1)))
    }),
    own = list(columns = c("a", "b"), types = TRUE, call = function(d, u) optimum_in(d, u, epsilon = 1, steps = 3, problem = own)),
    pca = list(columns = c("x", "y", "a"), call = function(d, u) dp_pca(d, 1, 1, 1e-3, 2, steps = 3, unit = u)),
    ball = list(columns = c("a", "b"), same = TRUE, call = function(d, u) dp_ball(d, euclidean(2), 5, c(0, 0), 50, unit = u))
  ))
}

test_that("wherever records are cut, units give the bits of one chunk and what records in memory give, by a vector and by a column", {
  for (one in unit_calls()) {
    d <- unit_table(one$n %||% 120, one$persons %||% 20)
    d$p <- mf_points(mf_exp(sphere(2), c(0, 0, 1), cbind(d$x - 0.5, 0.1 * sin(9 * d$x), 0)), sphere(2))
    run <- function(data, unit) with_simulation(3, one$call(data, unit))
    what <- paste(deparse(body(one$call)), deparse(as.list(environment(one$call))$args), collapse = " ")
    memory <- run(d[one$columns], d$who)
    cuts <- unit_cuts(nrow(d))
    some <- if (quick()) cuts[2] else cuts
    types <- if (isTRUE(one$types)) stats::setNames(rep("number", length(one$columns)), one$columns)
    for (sizes in some) {
      by_vector <- run(chunks(cut_into(d[one$columns], sizes), columns = types), d$who)
      by_column <- run(chunks(cut_into(d[c("who", one$columns)], sizes), columns = types), "who")
      if (!identical(sizes, some[[1]])) expect_identical(by_vector$value, first$value, label = what)
      expect_identical(by_column$value, by_vector$value, label = what)
      expect_identical(by_column$unit, "who")
      expect_identical(by_vector$n, memory$n)
      if (isTRUE(one$same)) expect_identical(by_vector[c("value", "clipped", "draws")], memory[c("value", "clipped", "draws")], label = what)
      expect_equal(by_vector$value, memory$value, tolerance = 1e-6, label = what)
      expect_equal(by_vector$draws, memory$draws, label = what)
      first <- by_vector
    }
  }
})

test_that("means have the bits of memory on every manifold, for rows in one chunk and in several", {
  set.seed(41)
  for (case in all_manifolds()) {
    M <- case$M
    if (has_part(M, "custom|kendall_space|size_|psd")) next
    x <- mf_points(with_simulation(7, mf_random(M, 24)), M)
    center <- riemdp:::one_point(M, as.array(x[1]), "center")
    x <- mf_points(mf_to_ball(M, as.array(x), center, 0.15), M)
    ball <- riemdp:::check_radius(M, 0.1, center)
    unit <- c(rep(c("b", "a", "c"), 7), "d", "d", "d")
    points <- function(x) {
      units <- riemdp:::read_units(unit, x)
      as.array(mf_points(riemdp:::unit_means(M, x, units, center, ball), M))
    }
    whole <- points(as.array(x))
    for (size in c(5, 24)) expect_identical(points(chunks(as.array(x), size)), whole, label = label_of(M))
    expect_identical(points(chunks(x, 1)), whole, label = label_of(M))
    # what is no point counts as the centre there as well
    if (mf_facts(M)$rows > 0 || mf_facts(M)$ambient == 1) next
    rows <- as.matrix(x)
    rows[c(2, 8, 23), ] <- c(NaN, Inf, NA)
    expect_identical(points(chunks(rows, 5)), points(rows), label = label_of(M))
  }
})

test_that("a person of 50 rows in every chunk moves what noise is added to as one of m, row by row 50 times as far", {
  m <- 8
  unit <- rep(seq_len(m), 50)
  first <- unit == 1
  others <- with_simulation(3, cbind(stats::runif(350, -0.2, 0.2), stats::runif(350, -0.2, 0.2)))
  plane <- function(far) {
    x <- matrix(0, 400, 2)
    x[first, ] <- rep(far, each = 50)
    x[!first, ] <- others
    x
  }
  told <- function(call) {
    run <- function(sign, after = NULL) draws_of(with_simulation(1, call(sign)), after)
    one <- run(1)
    moved <- moved_between(one, run(-1, one))
    expect_false(anyNA(moved), label = paste(names(moved)[is.na(moved)], collapse = " "))
    max(moved)
  }
  cut <- function(x) chunks(x, 3 * m)
  table <- function(sign) data.frame(x = ifelse(first, 1, rep((1:50) / 50, each = m)), y = ifelse(first, sign * 1e3, sin(1:400)))
  curve <- function(sign, M, center) {
    d <- data.frame(x = ifelse(first, 1, rep((1:50) / 50, each = m)))
    d$y <- mf_points(mf_exp(M, center, mf_from_coords(M, center, plane(c(sign * 0.39, 0)))), M)
    d
  }
  calls <- c(
    list(mean = function(sign, ...) dp_mean(cut(plane(c(2 * sign, 0))), euclidean(2), 1, c(0, 0), 2, mechanism = "laplace", ...)),
    lapply(c(objective = "objective", recentred = "recentred", statistics = "statistics", adassp = "adassp", boosted = "boosted", newton = "newton",
             gaussian = "gaussian",
             output = "output"), function(method) {
      function(sign, unit = NULL) lm_in(cut(table(sign)), unit, method, epsilon = 1)
    }),
    lapply(c(newton = "newton", tangent = "tangent", gradient = "gradient"), function(method) {
      function(sign, unit = NULL) curve_in(cut(curve(sign, hyperbolic(2), c(1, 0, 0))), unit, method, M = hyperbolic(2), center = c(1, 0, 0))
    }),
    list(optimum = function(sign, unit = NULL) optimum_in(cut(plane(c(5 * sign, 0))), unit, epsilon = 1, steps = 1, method = "rgd"),
         reduced = function(sign, unit = NULL) {
           optimum_in(cut(plane(c(5 * sign, 0))), unit, noise_multiplier = 30, batch = if (is.null(unit)) 400 else m, inner = 2, epochs = 1, method = "rsvrg")
         })
  )
  for (name in names(calls)) {
    whole <- told(function(sign) calls[[name]](sign, unit = unit))
    expect_lte(whole, 1, label = name)
    expect_gt(whole, 0.55, label = name)
    if (name != "recentred") expect_gt(told(function(sign) calls[[name]](sign)), 20, label = name)
  }
  kng <- told(function(sign) curve_in(cut(curve(sign, sphere(2), c(0, 0, 1))), unit, "kng"))
  expect_lte(kng, 1)
  expect_gt(kng, 0.55)
})

test_that("a key is its cell's text, whatever the other cells of its chunk are", {
  one <- keys_of(data.frame(who = c(1, 2, NA)), data.frame(who = c("2", "1", "x")), data.frame(who = factor(c("x", "2"))), data.frame(who = 1:2))
  expect_identical(levels(one), c("1", "2", "x"))
  expect_identical(as.integer(one), c(1L, 2L, NA, 2L, 1L, 3L, 3L, 2L, 1L, 2L))
  two <- keys_of(data.frame(who = as.Date("2024-01-31") + 0:1), data.frame(who = c("2024-02-01", "2024-01-31")))
  expect_identical(as.integer(two), c(1L, 2L, 2L, 1L))
  lists <- data.frame(n = 1:3)
  lists$who <- list("a", 1:2, NULL)[c(1, 2, 1)]
  expect_identical(as.integer(keys_of(lists, data.frame(n = 1, who = "a"))), c(1L, NA, 1L, 1L))
  latin <- "\xe9"
  Encoding(latin) <- "latin1"
  expect_identical(nlevels(keys_of(data.frame(who = latin), data.frame(who = "\u00e9"))), 1L)
  expect_identical(as.integer(keys_of(data.frame(who = "\xe9"), data.frame(who = "a"))), c(NA, 1L)) # no UTF-8
  points <- data.frame(n = 1:2)
  points$who <- mf_points(diag(2), euclidean(2))
  expect_identical(as.integer(keys_of(points, data.frame(n = 1, who = "a"))), c(NA, NA, 1L))
  # a cell that makes a column of text of one of numbers changes no other key
  expect_identical(as.integer(keys_of(data.frame(who = c(10, 20, 30)), data.frame(who = 20))), c(1L, 2L, 3L, 2L))
  expect_identical(as.integer(keys_of(data.frame(who = c("10", "20", "zzz")), data.frame(who = 20))), c(1L, 2L, 3L, 2L))
  expect_identical(as.integer(keys_of(data.frame(who = c("1.0", "01")), data.frame(who = c("1.0", "zzz")))), c(1L, 2L, 1L, 3L))
  # a declared type is the cell's first
  typed <- chunks(list(data.frame(who = c("1.0", "1", "a")), data.frame(who = 1)), columns = c(who = "number"))
  expect_identical(as.integer(riemdp:::chunk_keys(typed, "who")), c(1L, 1L, NA, 1L))
})

test_that("files, databases and shapes come with a column of units", {
  folder <- test_folder()
  d <- unit_table()
  at <- function(name) file.path(folder, name)
  value <- function(data, unit = "who", M = euclidean(2)) with_simulation(4, dp_mean(data, M, 1, c(0.5, 0.5), 0.6, unit = unit))$value
  fit <- function(data) with_simulation(4, lm_in(data, "who", "statistics", epsilon = 3))$value
  points <- d[c("who", "a", "b")]
  whole <- value(points)
  whole_fit <- with_simulation(4, lm_in(d, "who", "statistics", epsilon = 3))$value
  halves <- list(1:50, 51:120)
  paths <- at(c("1.rds", "2.rds"))
  for (i in 1:2) saveRDS(points[halves[[i]], ], paths[i])
  expect_identical(value(chunk_files(paths)), whole)
  # with a manifold the column of units is no coordinate, declared or not
  numbers <- c(a = "number", b = "number")
  expect_identical(value(chunk_files(paths, shape = euclidean(2), columns = numbers)), whole)
  expect_identical(value(chunk_files(paths, shape = euclidean(2), columns = c(who = "text", numbers), sizes = c(50, 70))), whole)
  expect_identical(value(chunk_files(paths, shape = euclidean(2), sizes = c(50, 70))), whole)
  expect_identical(value(chunk_files(paths, shape = function(x) as.matrix(x[c("b", "a")])[, 2:1], columns = numbers)), whole)
  paths <- at(c("1.csv", "2.csv"))
  for (i in 1:2) utils::write.csv(format(d[halves[[i]], ], digits = 17, trim = TRUE), paths[i], row.names = FALSE)
  expect_equal(value(chunk_files(paths, shape = euclidean(2), columns = numbers)), whole, tolerance = 1e-12)
  expect_equal(fit(chunk_files(paths)), whole_fit, tolerance = 1e-9)
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    paths <- at(c("1.parquet", "2.parquet"))
    for (i in 1:2) nanoparquet::write_parquet(d[halves[[i]], ], paths[i])
    expect_identical(value(chunk_files(paths, columns = numbers, shape = euclidean(2))), whole)
    expect_equal(fit(chunk_files(paths)), whole_fit, tolerance = 1e-9)
  }
  skip_if_not_installed("RSQLite")
  path <- at("d.sqlite")
  open <- function() DBI::dbConnect(RSQLite::SQLite(), path)
  connection <- open()
  DBI::dbWriteTable(connection, "records", data.frame(id = seq_len(120), points))
  DBI::dbDisconnect(connection)
  expect_identical(value(chunk_query(open, "records", "id", size = 7)), whole)
  expect_identical(value(chunk_query(open, "records", "id", columns = c(numbers, who = "text"), size = 50, shape = euclidean(2))), whole)
  # the order of rows is that of the key
  expect_identical(value(chunk_query(open, "records", "id", columns = c("a", "b"), size = 50), points$who), whole)
})

test_that("bad units are refused by their class before anything is spent, or have a total rule", {
  d <- unit_table()
  ledger <- dp_ledger(NULL, 100, 0)
  cut <- function(d) chunks(d, 50)
  ask <- function(data, unit, ...) dp_mean(data, euclidean(2), 1, c(0.5, 0.5), 0.6, mechanism = "laplace", unit = unit, ledger = ledger, ...)
  refused <- function(kind, ...) expect_error(ask(...), class = paste0("riemdp_error_", kind))
  x <- cut(d[c("a", "b")])
  keyed <- d[c("a", "b", "who")]
  with_keys <- function(...) cut(utils::modifyList(keyed, list(...)))
  refused("argument", x, replace(d$who, 3, NA))
  refused("argument", x, factor(d$who, levels = c(unique(d$who), "z")))
  refused("argument", x, rep(NA, 120))
  refused("argument", x, as.list(d$who))
  refused("argument", x, character())
  refused("shape", x, 1:3)
  refused("unsupported", x, d$who, timing = "constant", delta = 1e-6)
  refused("unsupported", x, d$who, neighbours = "add_remove")
  expect_error(dp_ball(x, euclidean(2), 1, c(0, 0), 5, unit = d$who, neighbours = "add_remove", ledger = ledger), class = "riemdp_error_unsupported")
  for (call in list(function(...) lm_in(..., epsilon = 1), function(...) curve_in(..., "newton"))) {
    expect_error(call(cut(d), "who", neighbours = "add_remove", ledger = ledger), class = "riemdp_error_unsupported")
  }
  e <- expect_error(ask(x, "nobody"), class = "riemdp_error_chunk")
  expect_match(conditionMessage(e), "no column `nobody`", fixed = TRUE)
  refused("chunk", chunks(as.matrix(d[c("a", "b")]), 50), "who") # no table
  refused("argument", with_keys(who = replace(d$who, 3, NA)), "who")
  refused("argument", with_keys(who = rep(NA, 120)), "who")
  refused("argument", with_keys(who = rep(NA, 120)), "who", invalid = "center") # no unit at all
  sited <- sites(site(120, function(request) site_answer(request, as.matrix(d[c("a", "b")]), "sums")))
  refused("unsupported", sited, d$who)
  refused("unsupported", sited, "who")
  expect_error(lm_in(cut(d), replace(d$who, 3, NA), epsilon = 1, ledger = ledger), class = "riemdp_error_argument")
  expect_error(optimum_in(x, replace(d$who, 3, NA), epsilon = 1, ledger = dp_ledger(NULL, 100, 1e-2)), class = "riemdp_error_argument")
  expect_error(lm_in(cut(d), "who", epsilon = 1, ledger = ledger, formula = 1), class = "error")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  # total rules are those of memory
  some <- replace(d$who, c(3, 70), NA)
  value <- function(...) with_simulation(2, ask(..., invalid = "center"))[c("value", "n")]
  expect_identical(value(x, some), value(d[c("a", "b")], some))
  expect_identical(value(with_keys(who = some), "who"), value(d[c("a", "b")], some))
  more <- factor(d$who, levels = c("z", unique(d$who)))
  expect_identical(value(x, more), value(d[c("a", "b")], more))
  d$p <- mf_points(mf_exp(sphere(2), c(0, 0, 1), cbind(d$x - 0.5, 0.1, 0)), sphere(2))
  ignored <- function(data) with_simulation(5, curve_in(data, some, "gradient", formula = p ~ x, invalid = "ignore"))$value
  expect_equal(ignored(cut(d)), ignored(d), tolerance = 1e-9)
  # one unit, and one record
  expect_identical(ask(x, rep("a", 120))$n, 1L, ignore_attr = TRUE)
  expect_identical(ask(with_keys(who = rep("a", 120)), "who")$n, 1L, ignore_attr = TRUE)
  expect_identical(ask(chunks(keyed[1, ]), "who")$n, 1L, ignore_attr = TRUE)
  expect_identical(ask(chunks(keyed[1, 1:2]), "me")$n, 1L, ignore_attr = TRUE)
})

test_that("guarantee, ledger and print say who is protected, and nowhere how many rows there are", {
  d <- unit_table()
  ledger <- dp_ledger(NULL, 10, 0)
  r <- dp_mean(chunks(d[c("a", "b", "who")], 50), euclidean(2), 1, c(0.5, 0.5), 0.6, mechanism = "laplace", unit = "who", ledger = ledger)
  expect_identical(guarantee(r)$unit, "who")
  expect_output(print(guarantee(r)), "of one unit (who) with all its rows (the number of units is public)", fixed = TRUE)
  expect_equal(r$sensitivity, 2 * 0.6 / 20)
  fit <- lm_in(chunks(d, 50), "who", epsilon = 1, ledger = ledger)
  expect_identical(ledger_history(ledger)$what, c("dp_mean laplace, unit who", "dp_lm objective, unit who"))
  expect_error(lm_in(chunks(d, 50), "x", epsilon = 1), class = "riemdp_error_argument") # no variable any more
  for (one in list(r, fit)) {
    numbers <- rapply(unclass(one)[setdiff(names(one), c("value", "details"))], as.numeric, c("numeric", "integer"), how = "unlist")
    expect_false(any(numbers == 120, na.rm = TRUE))
  }
  # records in chunks have no assumption more
  memory <- dp_mean(d[c("a", "b", "who")], euclidean(2), 1, c(0.5, 0.5), 0.6, mechanism = "laplace", unit = "who")
  expect_identical(guarantee(r)$assumptions, guarantee(memory)$assumptions)
})

test_that("a chunk that fails says nothing of keys or records, whenever it does", {
  folder <- test_folder()
  d <- unit_table()[c("a", "b", "who")]
  paths <- file.path(folder, c("1.rds", "2.rds", "3.rds"))
  for (i in 1:3) saveRDS(d[40 * (i - 1) + 1:40, ], paths[i])
  calls <- 0
  fail <- 0
  reader <- function(path) {
    calls <<- calls + 1
    if (calls == fail) stop("the key of this person is 4711")
    readRDS(path)
  }
  ask <- function(at, unit = "who") {
    x <- chunk_files(paths, reader = reader, sizes = rep(40, 3))
    calls <<- 0
    fail <<- at
    dp_mean(x, euclidean(2), 1, c(0.5, 0.5), 0.6, mechanism = "laplace", unit = unit, clipped = 0.1)
  }
  ask(0)
  passes <- calls
  expect_gt(passes, 9) # keys, check, units' rows, counts
  said <- vapply(seq_len(passes), function(i) {
    e <- tryCatch(ask(i), error = identity)
    paste(class(e)[1], conditionMessage(e))
  }, "")
  expect_identical(unique(said), paste("riemdp_error_chunk", riemdp:::UNREADABLE))
  # another number of rows than was fixed
  saveRDS(d[1:39, ], paths[1])
  expect_error(ask(0), class = "riemdp_error_chunk")
})

test_that("workers give the same bits", {
  d <- unit_table()
  ask <- function(map) {
    x <- chunks(d[c("a", "b", "who")], 25, map = map)
    list(with_simulation(3, dp_mean(x, euclidean(2), 1, c(0.5, 0.5), 0.6, unit = "who", clipped = 0.1))[c("value", "clipped")],
         with_simulation(3, optimum_in(x, "who", epsilon = 1, steps = 3, batch = 5, method = "rsgd"))$value,
         with_simulation(3, lm_in(chunks(d, 25, map = map), "who", epsilon = 1))$value)
  }
  here <- ask(NULL)
  expect_identical(ask(backwards), here)
  skip_if(quick())
  skip_if_not_installed("future.apply")
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  expect_identical(ask(map_future()), here)
  skip_if_not_installed("mirai")
  mirai::daemons(2)
  on.exit(mirai::daemons(0), add = TRUE)
  expect_identical(ask(map_mirai()), here)
})

test_that("a run over chunks goes on with the same units only", {
  d <- unit_table()[c("a", "b", "who")]
  ledger <- dp_ledger(NULL, 10, 1e-2)
  path <- tempfile(fileext = ".rds")
  x <- chunks(d, 50)
  go_on <- internal("continue_run")
  times <- 0
  problem <- problem_huber(euclidean(2), 0.5)
  tryCatch(with_internals(
    optimum_in(x, "who", epsilon = 1, steps = 40, ledger = ledger, checkpoint = path),
    continue_run = function(run, input, until) {
      times <<- times + 1
      if (times > 2) signalCondition(structure(class = c("units_stop", "condition"), list()))
      go_on(run, input, until)
    }
  ), units_stop = function(e) NULL)
  expect_error(dp_resume(path, problem, chunks(d[1:2], 50), ledger), class = "riemdp_error_argument")
  expect_error(dp_resume(path, problem, chunks(transform(d, who = rev(who)), 50), ledger, unit = "who"), class = "riemdp_error_argument")
  expect_identical(dp_resume(path, problem, x, ledger, unit = "who")$n, 20)
})

test_that("rows of spread units are fetched by few at a time", {
  d <- with_simulation(3, matrix(stats::runif(400), 200))
  unit <- rep(1:20, 10) # each in every chunk of 20
  most <- 0
  ask <- internal("chunk_ask")
  one <- with_internals(with_simulation(1, dp_mean(chunks(d, 20), euclidean(2), 1, c(0.5, 0.5), 0.6, unit = unit)), chunk_ask = function(x, request, ...) {
    got <- ask(x, request, ...)
    if (request$kernel == "ball_rows") most <<- max(most, sum(vapply(got, ncol, 0L)))
    got
  })
  expect_identical(one$value, with_simulation(1, dp_mean(d, euclidean(2), 1, c(0.5, 0.5), 0.6, unit = unit))$value)
  expect_gt(most, 0)
  expect_lte(most, 20 + 10) # the largest chunk's, and the largest unit's
  # a unit is outside once, in however many chunks it has a row there
  units <- list(of = unit, count = 20L)
  outside <- function(x) internal("outside_count")(euclidean(2), x, list(center = c(0.5, 0.5), ball = list(radius = 0.45)), units)
  expect_identical(outside(chunks(d, 20)), outside(d))
  expect_gt(outside(d), 15)
})

test_that("keys that name nobody, long numbers, empty files and unknown columns", {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  at <- function(name) file.path(folder, name)
  d <- data.frame(id = sprintf("p%02d", rep(1:30, 4)), a = 0, b = 0, c = 1)
  d$id[c(3, 50)] <- NA
  utils::write.csv(d, at("na.csv"), row.names = FALSE)
  utils::write.csv(d, at("blank.csv"), row.names = FALSE, na = "")
  writeLines("id,a,b,c", at("none.csv"))
  ask <- function(x, ...) dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.3, unit = "id", ...)
  for (name in c("na.csv", "blank.csv")) {
    x <- chunk_files(at(name), shape = sphere(2), columns = c(a = "number", b = "number", c = "number"))
    expect_error(ask(x), "2 of the records have no unit", class = "riemdp_error_argument")
    expect_identical(ask(x, invalid = "center")$n, 30L, ignore_attr = TRUE)
  }
  x <- chunk_files(c(at("na.csv"), at("none.csv")), shape = sphere(2), columns = c(a = "number", b = "number", c = "number"))
  expect_output(print(x), "120 records in 1 chunk")
  expect_identical(ask(x, invalid = "center")$n, 30L, ignore_attr = TRUE)
  expect_error(chunk_files(at("none.csv")), "at least one record", class = "riemdp_error_shape")
  long <- data.frame(id = 1234567890123456 + 0:3, a = 0, b = 0, c = 1)
  text <- data.frame(id = sprintf("%.0f", long$id), a = 0, b = 0, c = 1)
  expect_identical(ask(chunks(list(long, text)))$n, 4L, ignore_attr = TRUE)
  expect_error(dp_mean(chunks(list(long, text)), sphere(2), 1, c(0, 0, 1), 0.3, unit = "idd"), class = "riemdp_error_argument")
})

test_that("tampered chunks are refused before anything is asked of them", {
  broken <- unclass(chunks(data.frame(x = 1:6 / 6, y = 1:6 / 6), 3))
  for (pieces in list(2^31, NULL, list(), list(1, 2), list(list(kind = "none")), "a")) {
    broken["pieces"] <- list(pieces)
    x <- structure(broken, class = "riemdp_chunks")
    unit <- rep(1:3, 2)
    plane <- list(center = c(0, 0), radius = 1)
    expect_error(dp_lm(y ~ x, x, 1, bounds = list(x = c(0, 1), y = c(0, 1)), unit = unit), "in chunks", class = "riemdp_error_argument")
    for (f in list(dp_mean, dp_ball, dp_variance)) {
      expect_error(f(x, euclidean(2), 1, plane$center, plane$radius, unit = unit), "in chunks", class = "riemdp_error_argument")
      expect_error(f(x, euclidean(2), 1, plane$center, plane$radius), "in chunks", class = "riemdp_error_argument")
    }
  }
})
