# What a release promises, from its label to what a user sees of it. Nothing here is a statistical test.

curve_data <- function(n = 40) {
  x <- seq(0, 1, length.out = n)
  list(x = x, y = mf_exp(sphere(2), c(0, 0, 1), outer(x - 0.5, c(0.8, 0.2, 0))))
}
car_bounds <- list(wt = c(1, 6), mpg = c(center = 20, scale = 6))
made <- new.env()
once <- function(name, expr) {
  if (is.null(made[[name]])) assign(name, expr, made)
  made[[name]]
}

test_that("a plan's label is that of the release, for every mechanism and circumstance", {
  plain <- function(expr) expr
  seeded <- function(expr) with_simulation(1, expr)
  compared <- 0
  for (M in list(sphere(2), spd(2), kendall(3), custom_sphere(2))) for (way in list(plain, seeded)) {
    custom <- inherits(M, "riemdp_custom")
    x <- with_simulation(2, mf_random(M, 12))
    center <- if (custom || identical(M, sphere(2))) c(0, 0, 1) else if (inherits(M, "riemdp_spd")) diag(2) else c(1, 0, -1) / sqrt(2) + 0i
    variants <- list(list(), list(calibration = "paper"), list(numerics = "lattice", delta = 1e-6), list(timing = "constant", delta = 1e-6))
    if (quick() && !identical(M, sphere(2))) variants <- variants[if (custom) 4 else if (identical(way, plain)) 1:2]
    for (more in variants) {
      ask <- c(list(epsilon = 1, center = center, radius = 0.3), more)
      plan <- tryCatch(way(do.call(dp_mean_plan, c(list(M, 12), ask))), riemdp_error = function(e) NULL)
      for (i in which(!is.na(plan$label))) {
        r <- way(do.call(dp_mean, c(list(x, M), ask, mechanism = plan$mechanism[i])))
        about <- paste(c(M$name, plan$mechanism[i], names(more), if (identical(way, seeded)) "seeded"), collapse = " ")
        expect_identical(unlist(unclass(plan)[c("label", "epsilon", "delta", "nominal_epsilon")] |> lapply(`[`, i)),
                         unlist(unclass(guarantee(r))[c("label", "epsilon", "delta", "nominal_epsilon")]), label = about)
        if (custom || identical(way, seeded) || plan$mechanism[i] == "chain") expect_identical(plan$label[i], "none", label = about)
        compared <- compared + 1
      }
    }
  }
  expect_gt(compared, if (quick()) 65 else 140)

  d <- curve_data()
  curve <- list(epsilon = 1, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1)
  for (M in list(sphere(2), custom_sphere(2))) for (way in list(plain, seeded)) for (delta in c(0, 1e-6)) {
    plan <- way(do.call(dp_regression_plan, c(list(M, 40), curve, list(bounds = c(0, 1), delta = delta))))
    for (i in seq_len(nrow(plan))) {
      r <- way(do.call(dp_regression, c(list(y ~ x, M, d), curve, list(bounds = c(0, 1), delta = delta, method = plan$method[i]))))
      expect_identical(plan$label[i], guarantee(r)$label)
      if (identical(way, seeded)) expect_identical(plan$label[i], "none")
    }
    expect_gt(nrow(plan), 1)
  }

  for (way in list(plain, seeded)) for (delta in c(0, 1e-6)) {
    plan <- way(dp_lm_plan(nrow(mtcars), 1, epsilon = 1, delta = delta))
    able <- which(!is.na(plan$label))
    expect_gt(length(able), 6)
    for (i in able) {
      r <- way(dp_lm(mpg ~ wt, mtcars, 1, delta, car_bounds, method = plan$method[i]))
      expect_identical(plan$label[i], guarantee(r)$label, label = plan$method[i])
    }
    expect_identical(all(plan$label[able] == "none"), identical(way, seeded))
    expect_identical(plan$label[plan$method == "paper"], "none")
  }

  P <- problem_frechet(sphere(2))
  x <- with_simulation(2, mf_random(sphere(2), 20))
  run <- function(P, ...) guarantee(dp_optimize(P, x, 1, 1e-6, start = c(0, 0, 1), clip = 1, lr = 0.1, steps = 2, ...))$label
  expect_identical(c(run(P), run(P, calibration = "paper"), run(problem_frechet(custom_sphere(2))), with_simulation(1, run(P))),
                   c("approx", "none", "none", "none"))
})

# made once
some_releases <- function() once("some", {
  d <- curve_data()
  list(
    matrix = dp_mean(wishart_spd[, , 1:50], spd(2), 1, diag(2), 1.5), vector = dp_mean(cbind(1:9, 2), euclidean(2), 1, c(5, 2), 6),
    shape = dp_mean(with_simulation(1, mf_random(kendall(3), 9)), kendall(3), 1, c(1, 0, -1) / sqrt(2) + 0i, 0.3),
    pca = dp_pca(as.matrix(iris[, 1:4]), epsilon = 2, delta = 1e-6, bound = 12),
    pca_steps = dp_pca(as.matrix(iris[, 1:4]), epsilon = 2, delta = 1e-6, bound = 12, mechanism = "rgd"),
    pga = dp_pga(cbind(1:9, 2), euclidean(2), 1, c(5, 2), 6),
    covariance = dp_covariance(cbind(1:9, 2), euclidean(2), 1, c(5, 2), 6, at = c(5, 2)),
    ball = dp_ball(cbind(1:9, 2), euclidean(2), 1, c(5, 2), 6), shape_ball = dp_ball(with_simulation(1, mf_random(kendall(3), 9)), kendall(3), 1,
                                                                                     c(1, 0, -1) / sqrt(2) + 0i, 0.3),
    median = dp_median(cbind(1:9, 2), euclidean(2), 1, c(5, 2), 6, smooth = 1), variance = dp_variance(cbind(1:9, 2), euclidean(2), 1, c(5, 2), 6),
    test = dp_test(cbind(1:9, 2), euclidean(2), epsilon = 1, group = c(1, 1, rep(2, 7)), bandwidth = 3, draws = 99),
    votes = dp_test_any(1:9, function(d) 0.5, 1, 3),
    selection = dp_select(1, function(candidate, epsilon) dp_mean(cbind(1:9, 2), euclidean(2), epsilon, c(5, 2), 6), function(r, candidate) 0, 1),
    prediction = dp_conformal(cbind(1:9, 2), euclidean(2), 5, c(5, 2), 6, level = 0.3),
    glm = dp_glm(am ~ wt, mtcars, 4, bounds = list(wt = c(1, 6), am = c(0, 1))),
    lm = dp_lm(mpg ~ wt, mtcars, 4, bounds = car_bounds), residual = dp_residual_scale(dp_lm(mpg ~ wt, mtcars, 4, bounds = car_bounds), mtcars, 1),
    curve = dp_regression(y ~ x, sphere(2), d, epsilon = 1, center = c(0, 0, 1), radius = 0.4, speed = 1.5, residual_bound = 0.1, bounds = c(0, 1)),
    spline = dp_spline(y ~ bs(x, df = 4), sphere(2), d, epsilon = 1, center = c(0, 0, 1), radius = 0.6, bounds = c(0, 1))
  )
})

test_that("what makes numbers, tables and vectors of things takes a release's value out or says why not", {
  all <- some_releases()
  for (r in all) {
    expect_identical(as.data.frame(r), tidy(r))
    expect_identical(data.frame(r), data.frame(tidy(r)))
    for (f in list(function(r) r + 1, function(r) 1 * r, function(r) -r, function(r) r == r, function(r) !r, sum, range, max, exp, cumsum, Mod, mean,
                   stats::median, t, sort, function(r) c(r, r), function(r) rbind(r, 1), function(r) cbind(r, r), function(r) rep(r, 2), unique)) {
      expect_error(f(r), class = "riemdp_error_unsupported")
    }
    expect_true(is.character(format(r)))
    expect_output(explain(r))
    expect_false(any(grepl("the the\\b", utils::capture.output(explain(r)))))
  }
  expect_identical(as.matrix(all$matrix), all$matrix$value)
  expect_identical(as.array(all$matrix), all$matrix$value)
  expect_identical(as.matrix(all$vector), rbind(all$vector$value))
  expect_identical(as.numeric(all$matrix), as.vector(all$matrix$value))
  expect_identical(as.complex(all$shape), all$shape$value)
  expect_identical(colnames(as.matrix(all$lm)), c("(Intercept)", "wt"))
  for (f in list(as.matrix, as.array, as.numeric, as.complex)) for (r in all[c("curve", "ball")]) expect_error(f(r), class = "riemdp_error_unsupported")
  expect_error(as.numeric(all$shape), class = "riemdp_error_unsupported")
  expect_error(confint(all$pca_steps), class = "riemdp_error_unsupported")
  expect_error(stats::vcov(all$matrix), class = "riemdp_error_unsupported")
  adaptive <- dp_mean(cbind(1:9, 2), euclidean(2), 1, c(5, 2), 6, mechanism = "adaptive")
  expect_match(paste(trimws(utils::capture.output(explain(adaptive))), collapse = " "), "moves the Frechet mean of the records")
})

# names of all entries, also of lists inside; classed ones say for themselves what they are
entry_names <- function(x) {
  if (!is.list(x) || inherits(x, c("riemdp_guarantee", "riemdp_manifold", "riemdp_event"))) return(NULL)
  c(names(x), unlist(lapply(unclass(x), entry_names), use.names = FALSE))
}

unpromised <- function() once("unpromised", {
  d <- curve_data()
  x <- with_simulation(2, mf_random(sphere(2), 12))
  mean <- function(mechanism, ...) dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.3, delta = 1e-6, mechanism = mechanism, ...)
  seeded <- with_simulation(1, c(
    lapply(c("laplace", "wrapped", "gaussian", "wrapped_gaussian", "kng", "laplace_truncated", "tangent", "adaptive", "euclidean", "chain"), mean),
    list(mean("wrapped", numerics = "lattice")),
    lapply(c("objective", "recentred", "huber", "statistics", "adassp", "boosted", "newton", "descent", "gaussian", "theil_sen", "output", "kng",
             "paper"), function(method) {
      dp_lm(mpg ~ wt, mtcars, 1, 1e-6, car_bounds, method = method)
    }),
    lapply(c("newton", "tangent", "gradient", "paper"), function(method) {
      dp_regression(y ~ x, sphere(2), d, 1, c(0, 0, 1), 0.4, 1.5, 0.1, c(0, 1), delta = 1e-6, method = method)
    }),
    list(dp_pca(as.matrix(iris[, 1:4]), epsilon = 2, delta = 1e-6, bound = 12), dp_pga(x, sphere(2), 1, c(0, 0, 1), 0.3),
         dp_pca(as.matrix(iris[, 1:4]), epsilon = 2, delta = 1e-6, bound = 12, mechanism = "rgd"),
         dp_optimize(problem_frechet(sphere(2)), x, 1, 1e-6, start = c(0, 0, 1), clip = 1, lr = 0.1, steps = 2))
  ))
  c(seeded, list(
    mean("laplace", calibration = "paper"), dp_lm(mpg ~ wt, mtcars, 1, bounds = "sample"),
    nonprivate_regression_kng(y ~ I(x - 0.5), sphere(2), list(x = d$x, y = mf_project(sphere(2), as.matrix(d$y) + sin(1:120) / 50)), epsilon = 1, feet = 3),
    with_simulation(1, dp_ball(x, sphere(2), 1, c(0, 0, 1), 0.3)), with_simulation(1, dp_median(x, sphere(2), 1, c(0, 0, 1), 0.3)),
    with_simulation(1, dp_variance(x, sphere(2), 1, c(0, 0, 1), 0.3)),
    with_simulation(1, dp_test(x, sphere(2), epsilon = 1, null = "uniform", draws = 99)), with_simulation(1, dp_test_any(x, function(d) 0.5, 1, 3)),
    with_simulation(1, dp_select(1, function(candidate, epsilon) dp_mean(x, sphere(2), epsilon, c(0, 0, 1), 0.3), function(r, candidate) 0, 1)),
    with_simulation(1, dp_conformal(x, sphere(2), 5, c(0, 0, 1), 0.3, level = 0.3)),
    with_simulation(1, dp_spline(y ~ bs(x, df = 4), sphere(2), d, 1, c(0, 0, 1), 0.6, c(0, 1))),
    with_simulation(1, dp_glm(am ~ wt, mtcars, 1, bounds = list(wt = c(1, 6), am = c(0, 1)))),
    with_simulation(1, dp_residual_scale(dp_lm(mpg ~ wt, mtcars, 1, bounds = car_bounds), mtcars, 1)),
    with_simulation(1, dp_conformal(x, sphere(2), 0.1, c(0, 0, 1), 0.3, level = 0.99))
  ))
})

test_that("where nothing is promised no number goes by the name of a promise", {
  for (r in unpromised()) {
    expect_identical(guarantee(r)$label, "none")
    expect_identical(intersect(entry_names(r), c("epsilon", "delta")), character(), label = class(r)[1])
    expect_identical(c(guarantee(r)$epsilon, guarantee(r)$delta), c(Inf, 1))
    expect_true(is.finite(guarantee(r)$nominal_epsilon))
    expect_output(print(r), "NOT PRIVATE")
    expect_output(print(summary(r)), "none|NOT PRIVATE|Length") # (a comparison's own class has no summary)
  }
  fit <- dp_lm(mpg ~ wt, mtcars, 1, bounds = car_bounds)
  expect_identical(c(fit$epsilon, fit$delta), c(1, 0))
})

test_that("every class that the package sets has its prefix", {
  ours <- function(class) grepl("^(summary\\.)?riemdp_", class)
  base <- c("data.frame", "error", "warning", "condition", "dist", "logLik", "vctrs_vctr", "Date", "POSIXct", "POSIXt", "htest") # others', with their meaning
  base <- c("data.frame", "error", "warning", "condition", "dist", "htest", "logLik", "vctrs_vctr", "Date", "POSIXct", "POSIXt") # others', with their meaning
  # the text of all code: what is given as a class anywhere
  named <- character()
  strings <- function(e) if (is.character(e)) e else if (is.call(e)) unlist(lapply(as.list(e)[-1], strings))
  walk <- function(e) {
    if (!is.call(e)) return()
    head <- if (is.name(e[[1]])) as.character(e[[1]]) else ""
    if (head == "structure" && "class" %in% names(e)) named <<- c(named, strings(e[["class"]]))
    if (head == "new_release") named <<- c(named, strings(e[[3]]))
    if (head %in% c("<-", "<<-") && is.call(e[[2]]) && as.character(e[[2]][[1]])[1] %in% c("class", "oldClass")) named <<- c(named, strings(e[[3]]))
    for (part in as.list(e)) if (!missing(part)) walk(part)
  }
  space <- asNamespace("riemdp")
  for (name in ls(space, all.names = TRUE)) {
    found <- get(name, space)
    for (f in if (is.function(found)) list(found) else if (is.list(found)) Filter(is.function, found)) walk(body(f))
  }
  named <- setdiff(unique(named), c(base, "AsIs"))
  expect_gt(length(named), 20)
  expect_identical(named[!ours(named) & !grepl("^riemdp_error", named)], character())
  # and what comes out
  out <- c(some_releases(), lapply(some_releases(), function(r) tryCatch(confint(r), error = identity)), list(
    sphere(2), spd(2), hyperbolic(2), stiefel(3, 2), grassmann(3, 2), kendall(3), euclidean(1), custom_sphere(2), mf_points(diag(3), sphere(2)),
    frechet_mean(diag(3), sphere(2)), dp_mean_plan(euclidean(1), 9, 1, 0, 1), dp_lm_plan(50, 1, epsilon = 1), dp_ledger(NULL, 1), event_pure(1),
    problem_frechet(sphere(2)), problem_huber(sphere(2), 1), chunks(list(diag(3))), dp_epsilon(event_gaussian(1), 1e-6),
    dp_regression_plan(sphere(2), 50, 1, c(0, 0, 1), 0.4, 1, 0.1, c(-1, 1)), guarantee(some_releases()$lm), summary(some_releases()$lm)
  ), unpromised()[c(10, 26)])
  for (x in out) expect_true(all(ours(setdiff(class(x), base)) | inherits(x, "error") | class(x) == "matrix" | class(x) == "array"), label = class(x)[1])
  methods <- getNamespaceInfo(space, "S3methods")
  expect_identical(unique(methods[!ours(methods[, 2]) & methods[, 2] != "default", 2]), character())
})

test_that("another package's methods for likely class names don't print a release", {
  skip_on_cran()
  names <- c("dp_lm", "dp_mean", "dp_release", "dp_optimize", "dp_pca", "dp_regression", "dp_guarantee", "dp_ledger", "frechet_mean", "mf_points", "lm")
  script <- tempfile(fileext = ".R")
  results <- tempfile(fileext = ".rds")
  on.exit(unlink(c(script, results)))
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), "library(riemdp)",
    # what loading a package does that registers such methods
    "for (class in CLASSES) for (generic in c(\"print\", \"format\", \"summary\")) {",
    "  registerS3method(generic, class, function(x, ...) { cat(\"epsilon = 1.000, delta = 0\\n\"); \"epsilon = 1.000, delta = 0\" }, envir = baseenv())",
    "}",
    "made <- structure(list(), class = \"dp_lm\")",
    "x <- sqrt(1:20)",
    "seeded <- with_simulation(1, list(",
    "  dp_lm(mpg ~ wt, mtcars, 1, bounds = list(wt = c(1, 6), mpg = c(center = 20, scale = 6))), dp_mean(x, euclidean(1), 1, 2, 5),",
    "  dp_regression(y ~ x, euclidean(1), list(x = x, y = x), 1, 2, 5, 2, 0.5, c(0, 5)), dp_pca(cbind(x, 1), epsilon = 1, delta = 1e-6, bound = 6)",
    "))",
    "seen <- lapply(seeded, function(r) list(capture.output(print(r)), capture.output(r), format(r), capture.output(print(summary(r)))))",
    "saveRDS(list(works = capture.output(print(made)), seen = seen), RESULTS)"
  ) |> sub(pattern = "CLASSES", replacement = paste(deparse(names), collapse = ""), fixed = TRUE) |>
    sub(pattern = "RESULTS", replacement = deparse(results), fixed = TRUE), script)
  expect_identical(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = FALSE, stderr = FALSE), 0L)
  found <- readRDS(results)
  expect_identical(found$works[1], "epsilon = 1.000, delta = 0") # the other package's methods are in force
  for (r in found$seen) {
    for (text in r[1:3]) expect_match(paste(text, collapse = " "), "NOT PRIVATE")
    expect_match(paste(r[[4]], collapse = " "), "none|NOT PRIVATE")
    expect_no_match(unlist(r), "1.000, delta = 0", fixed = TRUE)
  }
})

test_that("where no bound of rounding errors is proven nothing is promised", {
  said <- function(M, x, center, radius, ...) guarantee(dp_mean(x, M, 1, center, radius, ...))$assumptions
  # frames have bounds, however many rows
  for (M in list(stiefel(60, 2), stiefel(60, 2, "canonical"))) {
    w <- diag(60)[, 1:2]
    x <- array(w, c(60, 2, 2))
    for (mechanism in c("auto", "wrapped", "wrapped_gaussian", "adaptive", "euclidean", "tangent")) {
      g <- guarantee(dp_mean(x, M, 1, w, 0.05, delta = if (mechanism == "wrapped_gaussian") 1e-6 else 0, mechanism = mechanism))
      expect_identical(g$label, if (mechanism == "wrapped_gaussian") "approx" else "pure", label = mechanism)
    }
  }
  # a manifold without one would say so
  expect_match(riemdp:::unproven_mean(stiefel(60, 2), list(solver_error = 1e-12)), "no bound of the mean's rounding errors is proven", fixed = TRUE)
  expect_null(riemdp:::unproven_mean(stiefel(60, 2), list(solver_error = 1e-12, numbers = 1)))
  expect_null(riemdp:::unproven_mean(stiefel(60, 2), list(solver_error = 0)))
  # every stage of adaptive is about the same solver
  expect_no_match(paste(said(sphere(2), diag(3)[c(3, 3, 3), ], c(0, 0, 1), 0.4, mechanism = "adaptive"), collapse = "; "), "no bound")
  expect_no_match(paste(said(spd(2, "bures"), wishart_spd[, , 1:20], diag(2), 0.1), collapse = "; "), "no bound of rounding")
  expect_no_match(paste(said(sphere(2), diag(3)[c(3, 3, 3), ], c(0, 0, 1), 0.4), collapse = "; "), "no bound of rounding")
})

# ---- where public numbers come from, and what budgets are worth --------------------------------------------------------------

test_that("a release says where its public numbers come from, wherever it speaks of them", {
  d <- curve_data()
  x <- cbind(1:9, 2)
  table <- as.matrix(iris[, 1:4])
  calls <- list(
    list(about = "ball", call = function(...) dp_mean(x, euclidean(2), 1, c(5, 2), 6, ...)),
    list(about = "ball", call = function(...) dp_ball(x, euclidean(2), 1, c(5, 2), 6, ...)),
    list(about = "ball", call = function(...) dp_median(x, euclidean(2), 1, c(5, 2), 6, ...)),
    list(about = "ball", call = function(...) dp_variance(x, euclidean(2), 1, c(5, 2), 6, ...)),
    list(about = "ball", call = function(...) dp_pga(x, euclidean(2), 1, c(5, 2), 6, ...)),
    list(about = "ball", call = function(...) dp_covariance(x, euclidean(2), 1, c(5, 2), 6, at = c(5, 2), ...)),
    list(about = "numbers", call = function(...) dp_test(x, euclidean(2), epsilon = 1, group = c(1, 1, rep(2, 7)), bandwidth = 3, draws = 99, ...)),
    list(about = "numbers", call = function(...) dp_test_any(x, function(d) 0.5, 1, 3, ...)),
    list(about = "bounds", call = function(...) {
      dp_select(1, function(candidate, epsilon) dp_mean(x, euclidean(2), epsilon, c(5, 2), 6), function(r, candidate) 0, 1, ...)
    }),
    list(about = "bound", call = function(...) dp_conformal(x, euclidean(2), 5, c(5, 2), 6, level = 0.3, ...)),
    list(about = "ball", call = function(...) dp_regression(y ~ x, sphere(2), d, 1, c(0, 0, 1), 0.4, 1.5, 0.1, c(0, 1), ...)),
    list(about = "ball", call = function(...) dp_spline(y ~ bs(x, df = 4), sphere(2), d, 1, c(0, 0, 1), 0.6, c(0, 1), ...)),
    list(about = "bounds", call = function(...) dp_lm(mpg ~ wt, mtcars, 4, bounds = car_bounds, ...)),
    list(about = "bounds", call = function(...) dp_glm(am ~ wt, mtcars, 4, bounds = list(wt = c(1, 6), am = c(0, 1)), ...)),
    list(about = "start and clip", call = function(...) {
      dp_optimize(problem_frechet(euclidean(2)), x, 1, 1e-6, start = c(5, 2), clip = 1, lr = 0.1, steps = 2, ...)
    }),
    list(about = "ball", call = function(...) dp_optimize(problem_frechet(euclidean(2)), x, 1, 1e-6, center = c(5, 2), radius = 6, steps = 2, ...)),
    list(about = "bound", call = function(...) dp_pca(table, epsilon = 2, delta = 1e-6, bound = 12, ...)),
    list(about = "bound", call = function(...) dp_pca(table, epsilon = 2, delta = 1e-6, bound = 12, mechanism = "rgd", ...))
  )
  for (k in calls) {
    ledger <- dp_ledger(NULL, 20, 0.1)
    r <- k$call(source = "an atlas of 1980", ledger = ledger)
    silent <- k$call(ledger = ledger)
    expect_identical(list(r$source, silent$source), list("an atlas of 1980", NA_character_))
    expect_identical(ledger_history(ledger)$source, c("an atlas of 1980", NA))
    stated <- sprintf("rigin of the public %s: an atlas of 1980", k$about)
    missing <- sprintf("rigin of the public %s not stated", k$about)
    expect_identical(sum(grepl(paste0("  o", stated), format(r), fixed = TRUE)), 1L)
    expect_identical(sum(grepl(paste0("  o", missing), format(silent), fixed = TRUE)), 1L)
    expect_output(explain(r), paste0("O", stated, "."), fixed = TRUE)
    expect_output(explain(silent), paste0("O", missing, "."), fixed = TRUE)
    expect_identical(c(glance(r)$source, glance(silent)$source), c("an atlas of 1980", NA))
    for (bad in list("", 1, NA, character(), c("a", "b"), strrep("a", 1001), "\xff", list("a"), factor("a"))) {
      expect_error(k$call(source = bad, ledger = ledger), class = "riemdp_error_argument")
    }
    expect_identical(nrow(ledger_history(ledger)), 2L) # refused before anything is spent
  }
  old <- calls[[1]]$call()
  old$source <- NULL # saved by an earlier version
  expect_match(format(old), "origin of the public ball not stated", all = FALSE)
  expect_identical(summary(old)$source, NA_character_)
  expect_identical(dp_lm(mpg ~ wt, mtcars, 4, bounds = "sample")$source, "the records")
})

test_that("what was released is public, and says itself where it comes from", {
  x <- cbind(1:9, 2)
  M <- euclidean(2)
  first <- dp_mean(x, M, 0.5, c(5, 2), 6)
  width <- dp_mean(rep(3, 5000), euclidean(1), 1.5, 3, 1, delta = 1e-6, mechanism = "gaussian")
  centre <- "center: a release of dp_mean() (epsilon = 0.5)"
  radius <- "radius: a release of dp_mean() (epsilon = 1.5, delta = 1e-06)"
  again <- function(...) dp_mean(x, M, 1, ...)
  r <- again(first, 6)
  expect_identical(r$source, paste0(centre, "; radius: not stated"))
  expect_identical(r$center, first$value)
  expect_identical(again(first, 6, source = "a map")$source, paste0(centre, "; a map"))
  r <- again(first, width)
  expect_identical(r$source, paste0(centre, "; ", radius))
  expect_identical(r$radius, as.numeric(width))
  expect_identical(again(c(5, 2), width)$source, paste0(radius, "; center: not stated"))
  curve <- dp_regression(y ~ x, M, list(y = x, x = 1:9), 1, first, width, 1, 1, c(0, 10))
  expect_identical(curve$source, paste0(centre, "; ", radius))
  run <- dp_optimize(problem_frechet(M), x, 1, 1e-6, start = first, clip = 1, lr = 0.1, steps = 2)
  expect_identical(run$source, sub("center", "start", centre))
  own <- problem(NULL, function(w, z) -mf_log(M, w, z), M, batched = TRUE)
  run <- dp_optimize(own, x, 1, 1e-6, start = run, center = first, radius = width, clip = 1, lr = 0.1, steps = 2)
  expect_identical(run$source, paste0("start: a release of dp_optimize() (epsilon = 1, delta = 1e-06); ", centre, "; ", radius))
  ledger <- dp_ledger(NULL, 2)
  again(first, 6, ledger = ledger)
  expect_identical(ledger_history(ledger)$source, paste0(centre, "; radius: not stated"))

  # what has no proof isn't public, and nothing is spent on it
  unproven <- list(dp_mean(x, M, 1, c(5, 2), 6, mechanism = "chain"), with_simulation(1, dp_mean(x, M, 1, c(5, 2), 6)), frechet_mean(x, M))
  broken <- first
  broken$guarantee <- NULL
  for (r in c(unproven, list(broken))) {
    expect_error(again(r, 6, ledger = ledger), "`center` must be public", class = "riemdp_error_argument")
    expect_error(again(c(5, 2), r, ledger = ledger), "`radius` must be public", class = "riemdp_error_argument")
    expect_error(dp_optimize(problem_frechet(M), x, 1, 1e-6, start = r, clip = 1, lr = 0.1), "`start` must be public", class = "riemdp_error_argument")
    expect_error(dp_regression(y ~ x, M, list(y = x, x = 1:9), 1, c(5, 2), r, 1, 1, c(0, 10)), "`radius` must be public", class = "riemdp_error_argument")
  }
  expect_identical(nrow(ledger_history(ledger)), 1L)
  for (r in list(first, dp_lm(mpg ~ wt, mtcars, 4, bounds = car_bounds))) { # a release, but no number
    expect_error(again(c(5, 2), r), "`radius` must be one number", class = "riemdp_error_argument")
  }
  # in a simulation nothing is promised, of neither
  seeded <- with_simulation(1, dp_mean(x, M, 1, dp_mean(x, M, 1, c(5, 2), 6), 6))
  expect_identical(seeded$source, "center: a release of dp_mean() (NOT PRIVATE); radius: not stated")
  expect_identical(guarantee(seeded)$label, "none")
})

test_that("budgets that promise little are remarked on, from public numbers", {
  remarks <- function(epsilon, delta = 0, n = 100, adjacency = "replace-one", unit = "row") {
    g <- riemdp:::new_guarantee(epsilon, delta, NULL, "exact", "operating system", "real-valued", adjacency, unit = unit)
    gsub("\u03b5", "epsilon", gsub("\u03b4", "delta", riemdp:::budget_remarks(g, n)))
  }
  expect_length(c(remarks(10), remarks(1, 0.0099), remarks(1, 0.01, adjacency = "add-remove"), remarks(1, 0.01, NA)), 0)
  # the best guess of which of two neighbours it was, by randomised response, the worst of what is epsilon-private
  expect_match(remarks(50), "epsilon = 50 promises next to nothing: a bet at even odds on which of two a record is can be won with probability 1 - ",
               fixed = TRUE)
  for (epsilon in c(10.1, 12, 50, 600)) for (delta in c(0, 0.3)) {
    rest <- as.numeric(sub(".* 1 - ", "", remarks(epsilon, delta, 2)[1]))
    wins <- (exp(epsilon) + delta) / (1 + exp(epsilon))
    if (epsilon < 20) expect_lte(wins, 1 - rest)
    expect_equal(rest, (1 - delta) * exp(-epsilon), tolerance = 0.1)
  }
  expect_match(remarks(1e4), "probability 1$")
  expect_match(remarks(50, 1e-6, NA, "add-remove"), "on whether one record is there can be won", fixed = TRUE)
  expect_identical(remarks(1, 0.01), "delta = 0.01 is not below 1/n: a mechanism that publishes one whole record, drawn by lot, meets it")
  expect_match(remarks(50, 0.01, unit = "person"), "two a unit is|one whole unit")
  expect_identical(remarks(1, 0.5), "delta = 0.5: a mechanism that publishes all records with probability 0.5 meets it")
  expect_match(remarks(1, 0.5, NA, "add-remove"), "all records with probability 0.5", fixed = TRUE)
  expect_length(remarks(20, 0.2), 2)
  # every release prints them, and one without a promise makes none of this sort
  d <- curve_data()
  x <- cbind(1:9, 2)
  for (r in list(
    dp_mean(x, euclidean(2), 50, c(5, 2), 6, delta = 0.2, mechanism = "gaussian"), dp_lm(mpg ~ wt, mtcars, 50, 0.2, car_bounds, method = "adassp"),
    dp_regression(y ~ x, sphere(2), d, 50, c(0, 0, 1), 0.4, 1.5, 0.1, c(0, 1), delta = 0.2, method = "gradient"),
    dp_optimize(problem_frechet(euclidean(2)), x, 50, 0.2, start = c(5, 2), clip = 1, lr = 0.1, steps = 2)
  )) {
    for (text in c("= 50 promises next to nothing", "= 0.2 is not below 1/n")) {
      expect_identical(sum(grepl(text, format(r), fixed = TRUE)), 1L, label = class(r)[1])
    }
  }
  for (r in some_releases()) expect_no_match(format(r), "promises next to nothing|meets it")
  expect_no_match(format(with_simulation(1, dp_mean(x, euclidean(2), 50, c(5, 2), 6))), "promises next to nothing")
  sampled <- dp_optimize(problem_frechet(euclidean(2)), x, 1, 0.2, start = c(5, 2), clip = 1, lr = 0.1, steps = 2, method = "rsgd", sampling = "poisson",
                         rate = 0.5, batch = 4)
  expect_no_match(format(sampled), "1/n") # which is private there
})
