test_that("a plan shows what a release would be", {
  plan <- dp_mean_plan(spd(2), 200, 1, diag(2), 1.5)
  expect_s3_class(plan, "riemdp_mean_plan")
  expect_identical(sum(plan$chosen), 1L)
  r <- dp_mean(wishart_spd[, , 1:200], spd(2), 1, diag(2), 1.5)
  row <- plan[plan$chosen, ]
  expect_identical(r$mechanism, row$mechanism)
  expect_identical(r$scale, row$scale)
  expect_identical(r$expected_error, row$expected_error)
  expect_identical(guarantee(r)$label, row$label)
  known <- plan$expected_error[!is.na(plan$expected_error)]
  expect_false(is.unsorted(known))
  expect_output(print(plan), "expected error")
})

test_that("what can't be served is said with its reason", {
  plan <- dp_mean_plan(stiefel(4, 2), 50, 1, diag(4)[, 1:2], 0.3)
  expect_match(plan$note[plan$mechanism == "laplace"], "homogeneous")
  expect_true(is.na(plan$scale[plan$mechanism == "laplace"]))
  expect_error(dp_mean_plan(sphere(2), 50, 1, c(0, 0, 1)), class = "riemdp_error_argument")
  expect_error(dp_mean_plan(sphere(2), 50, 1, c(0, 0, 1), 1), class = "riemdp_error_radius")
  expect_error(dp_mean_plan(sphere(2), 50, 1, c(0, 0, 1), 0.4, mechanism = "nonsense"), class = "riemdp_error_argument")
})

test_that("a guess of the spread gives the adaptive mechanism its simulated error, without R's generator noticing", {
  set.seed(1)
  before <- .Random.seed
  plan <- dp_mean_plan(euclidean(2), 1000, 1, c(0, 0), 0.5, spread = 0.02, mechanism = c("laplace", "adaptive"))
  expect_identical(.Random.seed, before)
  expect_false(anyNA(plan$expected_error))
  expect_identical(nrow(plan), 2L)
})

test_that("a plan can be drawn", {
  plan <- dp_mean_plan(sphere(2), 100, 1, c(0, 0, 1), 0.4, mechanism = c("laplace", "wrapped"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(plan, points = 3), plan)
})

test_that("rows of a plan are a plan, columns of one are a table", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plans <- list(
    dp_mean_plan(sphere(2), 100, 1, c(0, 0, 1), 0.4, mechanism = c("laplace", "wrapped")), dp_lm_plan(100, 1, epsilon = 1),
    dp_regression_plan(sphere(2), c(20, 50), 2, c(0, 0, 1), pi / 8, 1.5, 0.1, c(0, 1))
  )
  for (plan in plans) {
    kind <- class(plan)[1]
    for (rows in list(plan[1:2, ], subset(plan, expected_error > 0), head(plan, 1), plan[order(plan$expected_error), ], plan[0, ], plan[rep(1, 3), ])) {
      expect_s3_class(rows, kind)
      expect_output(print(rows))
    }
    expect_identical(subset(plan), plan)
    expect_identical(plot(plan[1:2, ]), plan[1:2, ])
    for (part in list(plan[, 1:3], plan[1:3], plan[1, 1:2], subset(plan, select = 2:3), plan["expected_error"])) {
      expect_identical(class(part), "data.frame")
      expect_output(print(part))
    }
    expect_identical(plan[, 2], plan[[2]])
    expect_identical(plan[["expected_error"]], plan$expected_error)
    # columns taken away by hand: still printed, and not drawn
    bent <- plan
    bent$expected_error <- NULL
    expect_output(print(bent))
    expect_error(plot(bent), class = "riemdp_error_argument")
    bent <- plan
    attributes(bent) <- attributes(plan)[c("names", "row.names", "class")]
    expect_output(print(bent))
  }
})

# ---- without a centre ------------------------------------------------------------------------------------------------------------

test_that("where isometries act transitively the plan needs no centre, and is that of any", {
  for (M in list(sphere(2), spd(2), spd(2, "logeuclidean"), hyperbolic(2), hyperbolic(2, "ball"), kendall(5), stiefel(4, 2), grassmann(4, 2), euclidean(2))) {
    plan <- dp_mean_plan(M, 300, 1, radius = 0.2, delta = 1e-6)
    there <- with_simulation(4, mf_random(M, 1))
    other <- dp_mean_plan(M, 300, 1, center = there, radius = 0.2, delta = 1e-6)
    other <- other[match(plan$mechanism, other$mechanism), ]
    served <- !is.na(plan$scale)
    expect_equal(plan$scale[served], other$scale[served], tolerance = 1e-9)
    # simulated where directions differ
    expect_equal(plan$expected_error[served], other$expected_error[served], tolerance = 0.05)
    # what uses more than the metric isn't told
    more <- plan$mechanism[is.na(plan$scale) & !is.na(other$scale)]
    expect_true(all(more %in% c("euclidean", "pointwise")))
    expect_true(all(grepl("depends on the centre", plan$note[plan$mechanism %in% more])))
    expect_false(any(grepl("give `center`", plan$note[!plan$mechanism %in% more])))
  }
  # costs of these do depend on it
  expect_true(is.na(subset(dp_mean_plan(spd(2), 300, 1, radius = 0.2), mechanism == "euclidean")$scale))
  expect_true(is.na(subset(dp_mean_plan(kendall(5), 300, 1, radius = 0.2), mechanism == "pointwise")$scale))
  wide <- dp_mean_plan(spd(2), 300, 1, diag(c(9, 1)), 0.2, mechanism = "euclidean")
  expect_gt(wide$scale, 2 * dp_mean_plan(spd(2), 300, 1, diag(2), 0.2, mechanism = "euclidean")$scale)
})

test_that("elsewhere the centre has no default", {
  circle <- manifold_custom(1, 1, exp = function(p, v) p + v, log = function(p, q) q - p, k_min = 0, k_max = 0, injectivity_radius = 3)
  for (M in list(spd(2, "bures"), circle)) expect_error(dp_mean_plan(M, 300, 1, radius = 0.2), "`center` is public", class = "riemdp_error_argument")
})

# ---- inverse questions -----------------------------------------------------------------------------------------------------------

test_that("the least epsilon and the least n keep the error, and a little less doesn't", {
  for (case in list(list(sphere(2), 0.3, 0.01), list(spd(2), 1, 0.05), list(hyperbolic(2), 1, 0.02))) {
    M <- case[[1]]
    ways <- c("laplace", "wrapped", "kng", "gaussian")
    error <- case[[3]]
    error_at <- function(way, n, epsilon) dp_mean_plan(M, n, epsilon, radius = case[[2]], delta = 1e-6, mechanism = way)$expected_error
    by_epsilon <- dp_mean_plan(M, 400, radius = case[[2]], delta = 1e-6, error = error, mechanism = ways)
    by_n <- dp_mean_plan(M, epsilon = 0.7, radius = case[[2]], delta = 1e-6, error = error, mechanism = ways)
    for (way in ways) {
      epsilon <- by_epsilon$nominal_epsilon[by_epsilon$mechanism == way]
      expect_lte(error_at(way, 400, epsilon), error)
      expect_false(isTRUE(error_at(way, 400, epsilon / 1.002) <= error))
      n <- by_n$n[by_n$mechanism == way]
      expect_identical(n, round(n))
      expect_lte(error_at(way, n, 0.7), error)
      expect_false(isTRUE(error_at(way, n - max(1, ceiling(n * 0.002)), 0.7) <= error))
    }
    expect_false(is.unsorted(by_epsilon$nominal_epsilon))
    expect_false(is.unsorted(by_n$n))
    # what `auto` takes with the least number keeps the error
    best <- by_n[by_n$chosen, ]
    expect_identical(nrow(best), 1L)
    expect_lte(dp_mean_plan(M, best$n, 0.7, radius = case[[2]], delta = 1e-6)$expected_error[1], error * 1.001)
    release <- with_simulation(1, dp_mean(mf_random(M, 400), M, by_epsilon$nominal_epsilon[by_epsilon$chosen], mf_random(M, 1), case[[2]], delta = 1e-6))
    expect_lte(release$expected_error, error * 1.001)
    expect_output(print(by_n), "the least n for an expected error of")
    expect_output(print(by_epsilon), "or less")
  }
})

test_that("the table of mechanisms is that of the plans, space by space", {
  spaces <- list(sphere(2), stiefel(4, 2), kendall(4))
  table <- mechanism_table(spaces, epsilon = 4)
  expect_identical(nrow(table), 3L * length(riemdp:::mean_mechanisms()))
  for (M in spaces) {
    rows <- table[table$space == label_of(M), ]
    plan <- dp_mean_plan(M, 1000, 4, .Call(riemdp:::riemdp_origin, M), 0.1, delta = 1e-6)
    expect_identical(rows$expected_error, plan$expected_error[match(rows$mechanism, plan$mechanism)])
    expect_identical(rows$label, plan$label[match(rows$mechanism, plan$mechanism)])
    own <- rows$label %in% c("pure", "approx") & !grepl("^target", rows$note)
    expect_identical(min(rows$over_best[own], na.rm = TRUE), 1)
    expect_equal(rows$over_best * min(rows$expected_error[own], na.rm = TRUE), rows$expected_error)
  }
  # baselines and what has no guarantee are no measure: at .05 the tangent mean errs least, about a target of its own
  low <- mechanism_table(list(sphere(2), kendall(4)), epsilon = 0.05)
  expect_true(all(low$over_best[low$mechanism == "tangent"] < 1))
  expect_identical(low$over_best[low$mechanism == "laplace_truncated"] >= 1, c(TRUE, TRUE))
  own <- low$label %in% c("pure", "approx") & !grepl("^target", low$note)
  expect_identical(as.vector(tapply(low$over_best[own], low$space[own], min, na.rm = TRUE)), c(1, 1))
  expect_output(print(table), "Stiefel manifold St\\(4, 2\\), Euclidean metric .*-.*1[.]00")
  expect_output(print(table), "[0-9]~ .*[*] .*none")
  expect_output(print(table[1:3]), "mechanism")
  expect_identical(nrow(mechanism_table(sphere(2))), length(riemdp:::mean_mechanisms()))
  expect_error(mechanism_table(list()), class = "riemdp_error_argument")
  expect_error(mechanism_table(list(3)), class = "riemdp_error")
})

test_that("whole numbers are found exactly, and what is printed keeps the error", {
  # on the line the error of Laplace's noise is 2r/(n epsilon), up to the solver's part
  plan <- dp_mean_plan(euclidean(1), epsilon = 1, radius = 1, error = 0.1, mechanism = "laplace", post = FALSE)
  expect_identical(plan$n, 21) # 20 but for that part
  plan <- dp_mean_plan(euclidean(1), 100, radius = 1, error = 0.0123, mechanism = "laplace")
  shown <- riemdp:::found_number(plan)
  expect_gte(shown, plan$nominal_epsilon)
  expect_lte(shown, plan$nominal_epsilon * 1.001)
  expect_lte(dp_mean_plan(euclidean(1), 100, shown, radius = 1, mechanism = "laplace")$expected_error, 0.0123)
})

test_that("an inverse question is one, with one unknown", {
  ask <- function(...) dp_mean_plan(sphere(2), radius = 0.3, ...)
  expect_error(ask(error = 0.1), class = "riemdp_error_argument")
  expect_error(ask(n = 10, epsilon = 1, error = 0.1), class = "riemdp_error_argument")
  expect_error(ask(n = 10), "`epsilon` is public", class = "riemdp_error_argument")
  expect_error(ask(epsilon = 1), "`n` is public", class = "riemdp_error_argument")
  expect_error(ask(n = 10, error = -1), class = "riemdp_error_argument")
  expect_error(ask(n = 10, epsilon = 1, mechanism = character()), class = "riemdp_error_argument")
})

test_that("what can't be found is said with its reason", {
  plan <- dp_mean_plan(sphere(2), 100, radius = 0.3, error = 0.01, mechanism = c("gaussian", "adaptive", "wrapped_staircase"))
  expect_match(plan$note[plan$mechanism == "gaussian"], "delta")
  expect_match(plan$note[plan$mechanism == "adaptive"], "spread")
  expect_identical(plan$mechanism[plan$chosen], "wrapped_staircase")
  # rounding errors stand in the way of any n
  plan <- dp_mean_plan(hyperbolic(2), epsilon = 1, radius = 19, error = 1e-9)
  expect_false(any(plan$chosen))
  expect_true(all(nzchar(plan$note)))
  expect_output(print(plan))
  # an error that the ball alone keeps, by a law on the ball: any epsilon
  plan <- dp_mean_plan(sphere(2), 100, radius = 0.3, error = 0.3, mechanism = "laplace_truncated")
  expect_identical(plan$nominal_epsilon, 1e-6)
})

test_that("with a share for the count the whole of epsilon is found", {
  plan <- dp_mean_plan(sphere(2), 100, radius = 0.3, error = 0.01, mechanism = "laplace", clipped = 0.5)
  alone <- dp_mean_plan(sphere(2), 100, radius = 0.3, error = 0.01, mechanism = "laplace")
  expect_equal(plan$nominal_epsilon, 2 * alone$nominal_epsilon, tolerance = 2e-3)
})

# ---- with a guess of the spread ----------------------------------------------------------------------------------------------------

test_that("the adaptive mechanism is chosen for a guess of the spread alone, and dp_mean() never chooses it", {
  ask <- function(...) dp_mean_plan(euclidean(2), 20000, 1, radius = 5, ...)
  expect_identical(ask()$mechanism[ask()$chosen], "laplace")
  narrow <- ask(spread = 0.02)
  expect_identical(narrow$mechanism[narrow$chosen], "adaptive")
  expect_output(print(narrow), "ask for mechanism")
  expect_lt(narrow$expected_error[1], min(narrow$expected_error[-1], na.rm = TRUE))
  # where it isn't the better
  wide <- dp_mean_plan(euclidean(2), 200, 1, radius = 1, spread = 0.5)
  expect_identical(wide$mechanism[wide$chosen], "laplace")
  expect_no_match(paste(capture.output(print(wide)), collapse = ""), "ask for mechanism")
  expect_false(any(ask(spread = 0.02, mechanism = "laplace")$mechanism == "adaptive"))
  x <- with_simulation(1, matrix(rnorm(4e4, sd = 0.02), ncol = 2))
  expect_identical(dp_mean(x, euclidean(2), 1, c(0, 0), 5)$mechanism, "laplace")
  # inverse questions
  skip_if(quick())
  least <- dp_mean_plan(euclidean(2), 20000, radius = 5, error = 0.0005, spread = 0.02, mechanism = c("laplace", "adaptive"))
  expect_identical(least$mechanism[least$chosen], "adaptive")
  expect_lt(least$nominal_epsilon[1], least$nominal_epsilon[2])
})

# ---- the picture -----------------------------------------------------------------------------------------------------------------

test_that("the picture names every row of the table: as a curve, as a point, or with its reason", {
  plan <- dp_mean_plan(stiefel(4, 2), 50, 1, radius = 0.3, spread = 0.05)
  below <- paste(riemdp:::plan_undrawn(plan), collapse = " ")
  curves <- riemdp:::plan_curves(plan)
  for (name in setdiff(plan$mechanism, curves)) expect_match(below, paste0(name, ": [a-z]"))
  for (name in curves) expect_no_match(below, paste0("(^| )", name, ": "))
  expect_match(below, "laplace: the Laplace mechanism needs a homogeneous manifold")
  expect_match(below, "adaptive: simulated")
  expect_match(paste(riemdp:::plan_undrawn(dp_mean_plan(sphere(2), 50, 1, radius = 0.3)), collapse = " "), "adaptive: its error depends .* spread")
  # what is written at the margin is all of that
  file <- tempfile(fileext = ".ps")
  on.exit(unlink(file))
  grDevices::postscript(file, width = 8, height = 6, useKerning = FALSE)
  expect_identical(plot(plan, points = 2), plan)
  grDevices::dev.off()
  written <- paste(readLines(file, warn = FALSE), collapse = " ")
  for (name in setdiff(plan$mechanism, curves)) expect_true(grepl(paste0("(", name, ": "), written, fixed = TRUE))
  # nothing but rows that can't be served: named all the same
  none <- plan[is.na(plan$scale), ]
  grDevices::pdf(NULL)
  expect_identical(plot(none, points = 2), none)
  expect_error(plot(plan[0, ]), class = "riemdp_error_unsupported")
  grDevices::dev.off()
})

test_that("a plan for a private number of records chooses as the release will: on a lattice where there is one", {
  for (s in list(list(sphere(2), c(0, 0, 1), 0.5), list(hyperbolic(2), c(1, 0, 0), 1), list(spd(2), diag(2), 1), list(euclidean(2), c(0, 0), 1))) {
    ask <- function(...) dp_mean_plan(s[[1]], n = 60, epsilon = 1, center = s[[2]], radius = s[[3]], neighbours = "add_remove", ...)
    chosen <- function(plan) plan$numerics[plan$chosen]
    x <- mf_exp(s[[1]], s[[2]], scale_records(s[[1]], unit_tangents(s[[1]], s[[2]], 60), s[[3]] / 4))
    r <- with_simulation(1, dp_mean(x, s[[1]], 1, s[[2]], s[[3]], neighbours = "add_remove"))
    expect_identical(r$guarantee$numerics, "lattice")
    expect_identical(chosen(ask()), "lattice")
    expect_identical(chosen(ask(numerics = "real")), "real")
  }
  # and of subspaces, whose last row is the whole space: only the wrapped laws are on a lattice there
  M <- sphere(3)
  plan <- dp_mean_plan(M, n = 60, epsilon = 1, radius = 0.5, neighbours = "add_remove",
                       reduce = subspace(M, c(0, 0, 0, 1), cbind(c(1, 0, 0, 0), c(0, 1, 0, 0))))
  expect_match(plan$mechanism, "^wrapped")
})

test_that("a mean is released as it was planned, and a row of the plan chooses its mechanism", {
  M <- sphere(2)
  o <- c(0, 0, 1)
  set.seed(3)
  x <- mf_exp(M, o, mf_from_coords(M, o, matrix(rnorm(400, sd = 0.1), 200)))
  told <- function(r) list(r$mechanism, r$expected_error, r$scale, r$guarantee$label, r$guarantee$nominal_epsilon, r$guarantee$delta, r$clipped$epsilon)
  for (args in list(list(delta = 1e-6), list(clipped = 0.2, post = FALSE), list(variance = 0.3, numerics = "real"), list(timing = "constant", delta = 1e-6),
                    list(calibration = "paper"), list(max_trials = 50, numerics = "real"))) {
    plan <- do.call(dp_mean_plan, c(list(M, 200, 0.8, o, 0.5), args))
    call <- c(list(x, M, 0.8, o, 0.5), args)
    expect_identical(told(dp_mean(x, plan = plan)), told(do.call(dp_mean, call)))
    for (i in which(!is.na(plan$scale) & plan$mechanism != "adaptive")) {
      r <- dp_mean(x, plan = plan[i, ])
      expect_identical(told(r), told(do.call(dp_mean, c(call, mechanism = plan$mechanism[i]))))
      expect_identical(list(r$mechanism, r$scale, r$guarantee$label, r$guarantee$nominal_epsilon),
                       as.list(unname(plan[i, c("mechanism", "scale", "label", "nominal_epsilon")])), info = plan$mechanism[i])
    }
  }
  # an epsilon that was sought: of the choice, and of a row its own
  plan <- dp_mean_plan(M, 200, center = o, radius = 0.5, error = 0.05, clipped = 0.2)
  for (rows in list(which(plan$chosen), which(plan$mechanism == "kng"))) {
    r <- dp_mean(x, plan = if (plan$chosen[rows]) plan else plan[rows, ])
    expect_equal(r$guarantee$nominal_epsilon, plan$nominal_epsilon[rows], tolerance = 1e-12)
    expect_equal(r$expected_error, plan$expected_error[rows], tolerance = 1e-12)
  }
  expect_false(identical(plan$nominal_epsilon[plan$mechanism == "kng"], plan$nominal_epsilon[plan$chosen]))
  # the number of records is theirs; it may be private
  expect_identical(dp_mean(x[1:50, ], plan = dp_mean_plan(M, 200, 1, o, 0.5))$n, 50)
  private <- dp_mean(x, plan = dp_mean_plan(M, 200, 1, o, 0.5, neighbours = "add_remove"))
  expect_identical(private$n, NA_real_)
  # without a centre it is given; a release that stands for it is named in the source
  plan <- dp_mean_plan(M, 200, 1, radius = 0.5)
  expect_error(dp_mean(x, plan = plan), "`center` is public", class = "riemdp_error_argument")
  first <- dp_mean(x, plan = plan, center = o)
  expect_identical(dp_mean(x, plan = dp_mean_plan(M, 200, 1, first, 0.5), source = "a guess")$source,
                   dp_mean(x, M, 1, first, 0.5, source = "a guess")$source)
})

test_that("what a plan says isn't said twice, and what it doesn't know is refused", {
  M <- sphere(2)
  o <- c(0, 0, 1)
  x <- mf_points(rbind(o, o, o, o), M)
  plan <- dp_mean_plan(M, 4, 1, o, 0.5)
  for (more in list(list(M = M), list(epsilon = 1), list(center = o), list(radius = 0.5), list(delta = 0), list(mechanism = "auto"), list(post = TRUE),
                    list(numerics = "real"), list(neighbours = "replace"), list(sigma = 1), list(options = list()), list(clipped = 0.1))) {
    expect_error(do.call(dp_mean, c(list(x, plan = plan), more)), sprintf("`%s` is the plan's", names(more)), class = "riemdp_error_argument")
  }
  table <- data.frame(at = x)
  table$sex <- c("f", "m", "f", "m")
  expect_error(dp_mean(at ~ sex, data = table, plan = plan), "of groups there is none", class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, plan = plan, by = table$sex), "of groups there is none", class = "riemdp_error_unsupported")
  expect_error(dp_mean(at ~ 1, table, plan = plan), "data = ", class = "riemdp_error_argument")
  expect_identical(dp_mean(at ~ 1, data = table, plan = plan)$n, 4)
  for (other in list(list(), 1, as.data.frame(plan)[1, 1:3], plan[, c("mechanism", "label")], structure(as.list(plan), class = "riemdp_mean_plan"),
                     mechanism_table(M))) {
    expect_error(dp_mean(x, plan = other), "`plan` must be one of dp_mean_plan\\(\\)", class = "riemdp_error_argument")
  }
  none <- which(is.na(plan$scale))[1]
  expect_error(dp_mean(x, plan = plan[none, ]), "isn't available", class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, plan = plan[c(none, none), ]), "chosen no mechanism", class = "riemdp_error_argument")
  # mechanisms that have no mean squared distance beside them aren't planned with one
  planned <- dp_mean_plan(M, 100, 1, o, 0.5, variance = 0.2)
  for (name in c("tangent", "euclidean", "adaptive")) {
    expect_identical(planned$label[planned$mechanism == name], NA_character_)
    expect_match(planned$note[planned$mechanism == name], "whose target is another", fixed = TRUE)
  }
})
