# One protocol for every private release: what is drawn is paid for out of what the guarantee states.

stated <- function(epsilon = 1, delta = 0, mu = NULL, reasons = NULL) {
  riemdp:::new_guarantee(epsilon, delta, reasons, sampler = "exact", rng = "operating system", numerics = "real-valued", mu = mu)
}

draw_all <- function(g, ...) riemdp:::out_of_purse(g, for (price in list(...)) riemdp:::pay(price))

test_that("draws that cost more than is stated are stopped before they are made", {
  laplace <- riemdp:::price_laplace
  normal <- riemdp:::price_normal
  breach <- function(...) expect_error(draw_all(...), class = "riemdp_error_contract")
  expect_silent(draw_all(stated(1), laplace(0.3, 1), laplace(0.7, 1)))
  breach(stated(1), laplace(1 + 1e-6, 1))
  breach(stated(1), laplace(0.6, 1), riemdp:::price_choice(0.5, "kng.md"))
  breach(stated(1), riemdp:::price_normalised(0.51, 1, "kng.md"))
  breach(stated(1), laplace(c(0.5, 0.6), 1))
  breach(stated(1), riemdp:::price_normalised(0.4, 1, "kng.md", delta = 1e-9)) # a pure release has no delta
  breach(stated(5), normal(0.1, 1))
  mu <- riemdp:::gaussian_mu(1, 1e-6)
  expect_silent(draw_all(stated(1, 1e-6, mu), normal(mu * (1 - 1e-12), 1)))
  expect_silent(draw_all(stated(1, 1e-6), normal(0.6 * mu, 1), normal(0.7 * mu, 1)))
  breach(stated(1, 1e-6), normal(0.8 * mu, 1), normal(0.7 * mu, 1))
  breach(stated(1, 1e-6, mu / 2), normal(0.6 * mu, 1)) # within epsilon and delta, beyond mu
  breach(stated(1, 1e-6), normal(mu, 1), laplace(0.01, 1))
  breach(stated(1, 1e-6), riemdp:::price_normalised(0.3, 1, "kng.md", delta = 2e-6))
  space <- riemdp:::profile_space(sphere(2))
  scale <- riemdp:::gaussian_scale(space, 0.1, 1, 1e-6)
  expect_silent(draw_all(stated(1, 1e-6), riemdp:::price_normal_curved(space, 0.1, scale, 1)))
  breach(stated(1, 1e-6), riemdp:::price_normal_curved(space, 0.1, 0.99 * scale, 1))
  expect_silent(draw_all(stated(1, 1e-6, mu), riemdp:::price_normal_discrete(mu * (1 - 1e-12), sqrt(10))))
  breach(stated(1, 1e-6, mu), riemdp:::price_normal_discrete(1.01 * mu, sqrt(10)))
  # a release without noise is none, and a draw whose price nobody stated isn't made
  breach(stated(1))
  breach(stated(1), NULL)
  breach(stated(1), list(law = "new", epsilon = 0.1))
  breach(stated(1), laplace(0, 1))
  breach(stated(1), laplace(NaN, 1))
  expect_error(riemdp:::mean_price(sphere(2), list(sensitivity = 1, solver_error = 0, scale = 1), "new"), "what the law \"new\" costs",
               class = "riemdp_error_contract")
  # what promises nothing is not held to anything; a simulation is held as what it simulates
  expect_silent(draw_all(stated(1, reasons = "a baseline"), laplace(2, 1)))
  expect_silent(draw_all(stated(1, reasons = "a baseline")))
  breach(stated(1, reasons = riemdp:::SIMULATED), laplace(2, 1))
  expect_null(riemdp:::purse$open)
})

test_that("draws that cost more than the ledger was told of are stopped", {
  laplace <- riemdp:::price_laplace
  normal <- riemdp:::price_normal
  told <- function(event, ..., g = stated(1, 1e-6)) riemdp:::out_of_purse(g, for (price in list(...)) riemdp:::pay(price), event)
  breach <- function(...) expect_error(told(...), "the ledger was told", class = "riemdp_error_contract")
  mu <- riemdp:::gaussian_mu(1, 1e-6)
  expect_silent(told(event_pure(0.8), laplace(0.8, 1)))
  breach(event_pure(0.8), laplace(0.801, 1))
  expect_silent(told(event_compose(event_laplace(4), event_pure(0.1), times = 2), laplace(0.7, 1)))
  breach(event_compose(event_laplace(4), event_pure(0.1), times = 2), laplace(0.701, 1))
  expect_silent(told(event_compose(event_gaussian(2 / mu), times = 4), normal(mu, 1)))
  breach(event_compose(event_gaussian(2 / mu), times = 3), normal(mu, 1))
  breach(event_gdp(mu / 2), normal(0.51 * mu, 1))
  expect_silent(told(event_approx(1, 1e-6), normal(mu, 1)))
  breach(event_approx(0.9, 1e-6), normal(mu, 1))
  # two normal draws, of which one was told as such and the other as approximate: what is left of it covers what is left of them
  half <- riemdp:::gaussian_mu(0.5, 1e-6)
  both <- function(event, size) told(event, laplace(0.1, 1), normal(size * half, 1), normal(0.2, 1), g = stated(2, 2e-6))
  event <- event_compose(event_approx(0.6, 1e-6), event_gdp(0.2))
  expect_silent(both(event, 1))
  expect_error(both(event, 1.01), "the ledger was told", class = "riemdp_error_contract")
  expect_error(both(event_compose(event_approx(0.6, 1e-6), event_gdp(0.19)), 1), "the ledger was told", class = "riemdp_error_contract")
  expect_error(both(event_compose(event_approx(0.6, 9e-7), event_gdp(0.2)), 1), "the ledger was told", class = "riemdp_error_contract")
  breach(event_pure(0), laplace(0.1, 1))
  # where an event is no sum it must be the very one
  expect_silent(told(event_poisson(0.1, event_gaussian(1)), normal(0.1, 1)))
  expect_null(riemdp:::event_sum(event_poisson(0.1, event_gaussian(1))))
  sampled <- event_poisson(0.1, event_gaussian(1))
  steps <- function(event) riemdp:::out_of_purse(stated(1, 1e-6), {
    riemdp:::check_told(event)
    riemdp:::pay(normal(0.1, 1))
  }, sampled)
  expect_silent(steps(sampled))
  expect_error(steps(event_poisson(0.1, event_gaussian(1.01))), "another event", class = "riemdp_error_contract")
  x <- matrix(cos(1:60), 20)
  for (sampling in c("without-replacement", "poisson")) {
    r <- dp_optimize(problem_frechet(euclidean(3)), x, epsilon = 1, delta = 1e-4, start = numeric(3), steps = 3, batch = 4, clip = 1, lr = 0.1,
                     sampling = sampling, rate = if (sampling == "poisson") 0.2, method = "rsgd")
    expect_identical(r$budget$event, r$event)
  }
})

test_that("the second of two draws is stopped, not the first", {
  made <- 0
  one <- function() {
    riemdp:::pay(riemdp:::price_laplace(0.6, 1))
    made <<- made + 1
  }
  expect_error(riemdp:::out_of_purse(stated(1), {
    one()
    one()
  }), class = "riemdp_error_contract")
  expect_equal(made, 1)
})

test_that("records are not read before the price is taken", {
  read <- character()
  note <- function(what) read <<- c(read, what)
  ledger <- dp_ledger(NULL, 1, 0)
  estimator <- list(
    entry = function(plan, ask) {
      note("entry")
      "made up"
    },
    plan = function(ask) {
      note("plan")
      list(guarantee = stated(0.6))
    },
    draw = function(records, plan, ask, budget) {
      note(paste("draw after", nrow(ledger_history(ledger)), "entry of", budget$cost[["epsilon"]]))
      riemdp:::pay(riemdp:::price_laplace(0.6, 1))
    },
    answer = function(out, plan, ask, budget) list()
  )
  riemdp:::release_private(estimator, list(), { note("records"); 1 }, ledger)
  expect_identical(read, c("plan", "entry", "draw after 1 entry of 0.6")) # nothing wanted the records
  read <- character()
  expect_error(riemdp:::release_private(estimator, list(), 1, ledger), class = "riemdp_error_budget")
  expect_identical(read, c("plan", "entry"))
  # a price of its own covers what is drawn
  estimator$event <- function(plan, ask) event_pure(0.3)
  expect_error(riemdp:::release_private(estimator, list(), 1, ledger), "the ledger was told", class = "riemdp_error_contract")
  estimator$event <- function(plan, ask) event_laplace(1 / 0.6)
  expect_silent(riemdp:::release_private(estimator, list(), 1, dp_ledger(NULL, 1, 0)))
})

# a plan of dp_mean() with one mechanism whose plan is changed
with_mechanism <- function(name, change) {
  kept <- riemdp:::registry[["mean mechanism"]]
  on.exit(assign("mean mechanism", kept, riemdp:::registry))
  changed <- kept[[name]]
  changed$plan <- function(M, ask) change(kept[[name]]$plan(M, ask))
  riemdp:::register("mean mechanism", stats::setNames(list(changed), name))
  dp_mean_plan(sphere(2), 20, epsilon = 1, center = c(0, 0, 1), radius = 0.3)
}

test_that("a plan with a part missing or of another kind is stopped before anything is spent", {
  whole <- list(guarantee = stated(0.5), mechanism = "made up", scale = 2, event = event_pure(0.5), acceptance = NA_real_)
  parts <- c(mechanism = "text", scale = "scale", event = "event", acceptance = "number")
  ledger <- dp_ledger(NULL, 1, 0)
  estimator <- list(
    entry = function(plan, ask) "made up", parts = parts, plan = function(ask) ask,
    draw = function(records, plan, ask, budget) riemdp:::pay(riemdp:::price_laplace(0.5, 1)), answer = function(out, plan, ask, budget) list()
  )
  broken <- list(guarantee = list(list(epsilon = 1), NULL), mechanism = list(NULL, NA_character_, c("a", "b")), scale = list(0, NaN, numeric()),
                 event = list(0.5), acceptance = list(NULL, NaN, c(1, 1)))
  for (part in names(broken)) for (value in broken[[part]]) {
    plan <- whole
    plan[part] <- list(value)
    expect_error(riemdp:::release_private(estimator, plan, 1, ledger), paste0("`", part, "` of its plan"), class = "riemdp_error_contract")
  }
  expect_identical(nrow(ledger_history(ledger)), 0L)
  expect_silent(riemdp:::release_private(estimator, whole, 1, ledger))
  # what the package's own mechanisms plan
  expect_error(with_mechanism("laplace", function(plan) within(plan, acceptance <- NULL)), "`acceptance` of its plan", class = "riemdp_error_contract")
})

# what was paid for the draws of a release, in the terms of its guarantee
paid <- function(r) {
  d <- r$draws
  names(d) <- sub("nominal_", "", names(d))
  mu <- sqrt(sum(d$mu^2))
  left <- r$guarantee$nominal_delta - sum(d$delta)
  c(epsilon = sum(d$epsilon) + if (mu > 0) riemdp:::gdp_epsilon(mu, left) else 0, delta = sum(d$delta))
}

# "file, section": a section of that number or name
has_proof <- function(proof) {
  at <- regmatches(proof, regexec("^([a-z-]+[.]md), (.*)$", proof))[[1]]
  file <- system.file("proofs", at[2], package = "riemdp")
  nzchar(file) && any(startsWith(readLines(file, warn = FALSE), paste0("## ", sub("^([0-9]+)$", "\\1.", at[3]))))
}

test_that("what every private release pays for its draws is what it states, and each draw's proof is there", {
  set.seed(1)
  n <- 400
  x <- runif(n, -1, 1)
  frame <- data.frame(x = x, y = 0.5 * x + rnorm(n, sd = 0.5))
  M <- sphere(2)
  near <- mf_exp(M, c(0, 0, 1), cbind(0.2 * x, 0.05 * frame$y, 0))
  shapes <- with_simulation(2, mf_random(kendall(4), 60))
  curve <- data.frame(x = x)
  curve$y <- mf_points(near, M)
  at <- function(mechanism, ...) dp_mean(near, M, 1, center = c(0, 0, 1), radius = 0.5, mechanism = mechanism, ...)
  line <- function(method, ...) dp_lm(y ~ x, frame, 1, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1)), method = method, ...)
  wins <- function(family, ...) dp_glm(y ~ x, frame, 1, bounds = list(x = c(-1, 1), y = if (family == "quantile") c(-2, 2) else c(0, 1)), family = family, ...)
  bent <- function(method, data = curve, ...) {
    dp_regression(y ~ x, M, data, epsilon = if (method == "kng") 0.5 else 1, center = c(0, 0, 1), radius = 0.5, speed = 1, residual_bound = 0.2,
                  bounds = c(-1, 1), method = method, ...)
  }
  steps <- function(...) dp_optimize(problem_frechet(M), near, 1, 1e-6, start = c(0, 0, 1), clip = 1, lr = 0.5, steps = 8, ...)
  calls <- list(
    laplace = at("laplace"), wrapped = at("wrapped"), gaussian = at("gaussian", delta = 1e-6), wrapped_gaussian = at("wrapped_gaussian", delta = 1e-6),
    heat = at("heat", delta = 1e-6),
    kng = at("kng"), truncated = at("laplace_truncated"), adaptive = at("adaptive"), tangent = at("tangent"),
    tangent_gaussian = at("tangent", delta = 1e-6, options = list(noise = "gaussian")), euclidean = at("euclidean"),
    arithmetic = at("euclidean", options = list(target = "arithmetic")),
    lattice = at("wrapped", numerics = "lattice"), lattice_l1 = at("wrapped", numerics = "lattice", options = list(law = "laplace")),
    lattice_gaussian = at("wrapped_gaussian", delta = 1e-6, numerics = "lattice"), constant = at("kng", timing = "constant", delta = 1e-6),
    by_hand = dp_mean(near, M, center = c(0, 0, 1), radius = 0.5, mechanism = "laplace", sigma = 0.01),
    mu = dp_mean(near, M, center = c(0, 0, 1), radius = 0.5, mechanism = "wrapped_gaussian", delta = 1e-6, options = list(mu = 0.5)),
    clipped = at("laplace", clipped = 0.2), clipped_gaussian = at("gaussian", delta = 1e-6, clipped = 0.2),
    pointwise = dp_mean(shapes, kendall(4), 1, shapes[, 1], 0.3, mechanism = "pointwise"),
    landmarks = dp_mean(shapes, kendall(4), 1, shapes[, 1], 0.3, mechanism = "pointwise", options = list(split = "landmarks")),
    objective = line("objective"), trusted = line("objective", guess = "trusted"), recentred = line("recentred"), huber = line("huber"),
    statistics = line("statistics"),
    adassp = line("adassp", delta = 1e-6), adassp_trusted = line("adassp", delta = 1e-6, guess = "trusted"),
    boosted = line("boosted", delta = 1e-6), boosted_trusted = line("boosted", delta = 1e-6, guess = "trusted"),
    line_gaussian = line("gaussian", delta = 1e-6), gaussian_unit = line("gaussian", delta = 1e-6, unit = rep_len(1:40, n), guess = "trusted"),
    line_newton = line("newton", delta = 1e-6), descent = line("descent", delta = 1e-6), newton_trusted = line("newton", delta = 1e-6, guess = "trusted"),
    output = line("output"),
    theil_sen = line("theil_sen"), theil_sen_trusted = line("theil_sen", guess = "trusted"),
    linear_kng = dp_lm(y ~ x, frame[1:50, ], 0.5, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1)), method = "kng"),
    searched = dp_lm(y ~ x, frame, 1, bounds = list(x = c(-1, 1), y = c(center = 50, scale = 1)), method = "recentred"),
    splines = dp_lm(y ~ bs(x, 4) + poly(x, 2), frame, 1, bounds = list(x = c(-1, 1), y = c(center = 0, scale = 1))),
    spline_odds = dp_glm(y ~ bs(x, 4), frame, 1, bounds = list(x = c(-1, 1), y = c(0, 1))),
    subset = line("objective", subset = ~ x > 0),
    weighted = dp_glm(y ~ x, frame, 1, bounds = list(x = c(-1, 1), y = c(0, 1), `abs(x)` = c(0, 1)), weights = ~ abs(x)),
    logistic = wins(family = "binomial"), logistic_unit = wins(family = "binomial", unit = rep_len(1:40, n)), counts = wins(family = "poisson"),
    quantile = wins(family = "quantile", quantile = 0.9), logistic_more = wins(family = "binomial", neighbours = "add_remove"),
    newton = bent("newton"), tangent_step = bent("tangent"), gradient = bent("gradient", delta = 1e-6), curve_kng = bent("kng", curve[1:20, ]),
    chunked = at("laplace"), rgd = steps(method = "rgd"), budgets = steps(individual = 3), more_budgets = steps(individual = 3, neighbours = "add_remove"),
    rsgd = steps(method = "rsgd", batch = 20), rsvrg = steps(method = "rsvrg", batch = 20, inner = 4),
    poisson = steps(method = "rsgd", sampling = "poisson", rate = 0.1, batch = 40), disjoint = steps(method = "rsgd", sampling = "disjoint", batch = 40),
    more_rgd = steps(neighbours = "add_remove"), more_rsgd = steps(neighbours = "add_remove", method = "rsgd", batch = 20),
    more_disjoint = steps(neighbours = "add_remove", method = "rsgd", sampling = "disjoint", batch = 20),
    more_rsvrg = steps(neighbours = "add_remove", method = "rsvrg", batch = 20, inner = 4),
    multiplier = dp_optimize(problem_frechet(M), near, delta = 1e-6, noise_multiplier = 3, start = c(0, 0, 1), clip = 1, lr = 0.5, steps = 8,
                             method = "rsgd", batch = 20),
    pca = dp_pca(matrix(rnorm(300), 100), 1, 1, 1e-6, bound = 2),
    pca_laplace = dp_pca(matrix(rnorm(300), 100), 1, 1, bound = 2, mechanism = "laplace"),
    pca_wishart = dp_pca(matrix(rnorm(300), 100), 1, 1, bound = 2, mechanism = "wishart"),
    pca_bingham = dp_pca(matrix(rnorm(300), 100), 2, 1, bound = 2, mechanism = "bingham"),
    pca_steps = dp_pca(matrix(rnorm(300), 100), 1, 1, 1e-6, bound = 2, mechanism = "rgd"),
    pca_gauss = dp_pca(matrix(rnorm(300), 100), 1, 1, 1e-6, bound = 2, mechanism = "gauss"),
    covariance = dp_covariance(near, M, 1, c(0, 0, 1), 0.5, at = c(0, 0, 1)),
    covariance_normal = dp_covariance(near, M, 1, c(0, 0, 1), 0.5, at = c(0, 0, 1), delta = 1e-6, mechanism = "gauss"),
    covariance_wishart = dp_covariance(near, M, 1, c(0, 0, 1), 0.5, at = c(0, 0, 1), mechanism = "wishart"),
    pga = dp_pga(near, M, 1, c(0, 0, 1), 0.5), pga_at = dp_pga(near, M, 1, c(0, 0, 1), 0.5, at = c(0, 0, 1), delta = 1e-6, mechanism = "gauss"),
    spline = dp_spline(y ~ bs(x, df = 5), M, curve, epsilon = 1, center = c(0, 0, 1), radius = 0.5, bounds = c(0, 1)),
    spline_normal = dp_spline(y ~ bs(x, df = 5), M, curve, epsilon = 1, center = c(0, 0, 1), radius = 0.5, bounds = c(0, 1), delta = 0.1),
    spline_local = dp_spline(y ~ bs(x, df = 5, degree = 1), M, curve, epsilon = 1, center = c(0, 0, 1), radius = 0.5, bounds = c(0, 1), target = "frechet"),
    spline_more = dp_spline(y ~ bs(x, df = 5), M, curve, epsilon = 1, center = c(0, 0, 1), radius = 0.5, bounds = c(0, 1), neighbours = "add_remove"),
    subspace = dp_mean(near, M, 1, radius = 0.5, reduce = subspace(M, c(0, 0, 1), c(1, 0, 0))),
    local = dp_local(near, M, 1), local_laplace = dp_local(near, M, 1, per = 0.1, mechanism = "laplace"),
    local_vmf = dp_local(near, M, 1, mechanism = "vmf"),
    local_wrapped = dp_local(near, M, 1, center = c(0, 0, 1), radius = 0.5, numerics = "real", mechanism = "wrapped"),
    local_lattice = dp_local(near, M, 1, center = c(0, 0, 1), radius = 0.5),
    variance = dp_variance(near, M, 1, c(0, 0, 1), 0.5), variance_at = dp_variance(near, M, 1, c(0, 0, 1), 0.5, at = c(0, 0, 1)),
    variance_more = dp_variance(near, M, 1, c(0, 0, 1), 0.5, at = c(0, 0, 1), neighbours = "add_remove"),
    conformal = dp_conformal(near, M, 1, c(0, 0, 1), 3, level = 0.5),
    conformal_sized = dp_conformal(near, M, 20, c(0, 0, 1), 3, level = 0.3, neighbours = "add_remove"),
    conformal_unit = dp_conformal(near, M, 5, c(0, 0, 1), 3, level = 0.5, unit = rep_len(1:40, nrow(near))),
    residual = dp_residual_scale(line("statistics"), frame, 0.5), residual_moments = dp_residual_scale(line("objective"), frame, 0.5),
    mean_variance = dp_mean(near, M, 1, c(0, 0, 1), 0.5, variance = 0.3, clipped = 0.1),
    median = dp_median(cos(1:20), euclidean(1), 1, 0, 5), median_more = dp_median(cos(1:20), euclidean(1), 1, 0, 5, neighbours = "add_remove"),
    test = dp_test(near, M, epsilon = 1, group = rep(1:2, n / 2), draws = 99), decision = dp_test(near, M, epsilon = 1, y = near, alpha = 0.05, draws = 99),
    swaps = dp_test(near, M, epsilon = 1, y = near, null = "paired", draws = 99), rayleigh = dp_test(near, M, epsilon = 1, null = "uniform", draws = 99),
    signs = dp_test(near, M, epsilon = 1, null = "symmetric", at = c(0, 0, 1), radius = 0.5, draws = 99),
    spread = dp_test(near, M, epsilon = 1, group = rep(1:2, n / 2), statistic = "variance", draws = 99),
    anova = dp_test(near, M, epsilon = 1, group = rep(1:2, n / 2), statistic = "anova", draws = 99),
    trend = dp_test(near ~ a, M, data = list(a = seq_len(n)), epsilon = 1, bounds = c(0, 99), draws = 99),
    test_unit = dp_test(near, M, epsilon = 1, group = rep(1:2, 2), unit = rep_len(1:4, n), center = c(0, 0, 1), radius = 0.5, draws = 99),
    votes = dp_test_any(frame, function(d) stats::t.test(d$x), 1, 5),
    selection = dp_select(1:2, function(candidate, epsilon) dp_mean(near, M, epsilon, c(0, 0, 1), 0.7), function(r, candidate) candidate, 1),
    ball = dp_ball(near, M, 1, c(0, 0, 1), 0.7), flat_ball = dp_ball(cos(1:100), euclidean(1), 1, 0, 5, shares = c(0.9, 0.1))
  )
  for (name in names(calls)) {
    r <- calls[[name]]
    expect_false(guarantee(r)$label == "none", label = name)
    p <- paid(r)
    expect_lte(p[["epsilon"]], r$guarantee$epsilon * (1 + 1e-9), label = name)
    # what a plan leaves unspent: later stages that were not needed, a delta of which little is
    expect_gt(p[["epsilon"]], r$guarantee$epsilon * 0.97, label = name)
    expect_lte(p[["delta"]], r$guarantee$delta * (1 + 1e-9), label = name)
    expect_gte(nrow(r$draws), 1)
    for (proof in unique(r$draws$proof)) expect_true(has_proof(proof), label = proof)
  }
  none <- with_simulation(1, at("laplace"))
  expect_true(all(c("nominal_epsilon", "nominal_delta", "nominal_mu") %in% names(none$draws)))
  expect_false(any(c("epsilon", "delta", "mu") %in% names(none$draws)))
})

test_that("whatever draws noise for a release pays for it first", {
  space <- asNamespace("riemdp")
  draws_freely <- function(e) {
    found <- FALSE
    look <- function(e) {
      if (is.call(e)) {
        if (identical(e[[1]], quote(.Call)) && any(vapply(as.list(e), identical, NA, quote(in_simulation())))) found <<- TRUE
        for (i in seq_along(e)) if (!identical(e[[i]], quote(expr = ))) look(e[[i]])
      } else if (is.list(e)) {
        for (i in seq_along(e)) if (!identical(e[[i]], quote(expr = ))) look(e[[i]])
      } else if (is.function(e)) {
        look(body(e))
      }
    }
    look(e)
    found
  }
  names <- Filter(function(name) draws_freely(get(name, space)), ls(space, all.names = TRUE))
  # samplers for users, what is labelled none, the optimiser's steps (paid for as one), uniform candidates of samplers (whose law is paid for) and
  # lots: which records a fit leaves out, the order of units, labels of tests, how many tries count (the same whatever they hold); a site's own noise,
  # paid from its own ledger
  expect_setequal(names, c("laplace_noise", "discrete_draws", "tangent_noise", "run_chain", "linear_paper", "continue_run", "kng_candidates",
                           "kng_chain", "by_lot", "orders_by_lot", "sides_by_lot", "directions_by_lot", "one_by_weight", "site_integers"))
})

test_that("each proof names the functions that it is about", {
  proofs <- list.files(system.file("proofs", package = "riemdp"), "[.]md$", full.names = TRUE)
  expect_gt(length(proofs), 14)
  space <- asNamespace("riemdp")
  for (file in proofs) {
    line <- readLines(file, 3, warn = FALSE)[3]
    expect_match(line, "^In the code: `", label = basename(file))
    names <- gsub("[`()]", "", regmatches(line, gregexpr("`[a-z_]+\\(\\)`", line))[[1]])
    expect_gt(length(names), 1)
    for (name in names) expect_true(exists(name, space, inherits = FALSE), label = paste(basename(file), name))
  }
})

test_that("a breach that a callback catches still stops the release, and simulations inside are no draws of it", {
  caught <- function() {
    riemdp:::pay(riemdp:::price_laplace(0.6, 1))
    try(riemdp:::pay(riemdp:::price_laplace(0.6, 1)), silent = TRUE)
  }
  expect_error(riemdp:::out_of_purse(stated(1), caught()), class = "riemdp_error_contract")
  M <- euclidean(2)
  asked <- problem(NULL, function(w, z) {
    dp_mean_plan(M, 30, 0.1, center = c(0, 0), radius = 1, mechanism = "adaptive", spread = 0.1)
    w - z
  }, M)
  r <- dp_optimize(asked, matrix(0.1, 4, 2), 1, 1e-6, start = c(0, 0), clip = 1, lr = 0.1, steps = 1)
  expect_equal(nrow(r$draws), 1)
})

test_that("a cap on trials is priced by the trials that are made", {
  plan <- list(sensitivity = 0.5, solver_error = 0, scale = 1, acceptance = 0.5, trials = 24)
  price <- riemdp:::kng_price(plan, TRUE)
  expect_equal(price$delta, (1 + exp(1)) * 0.5^24, tolerance = 1e-12)
  expect_silent(draw_all(stated(1, 1e-6), price))
  plan$trials <- 20
  expect_error(draw_all(stated(1, 1e-6), riemdp:::kng_price(plan, TRUE)), class = "riemdp_error_contract")
  expect_identical(riemdp:::kng_price(plan, FALSE)$delta, 0)
})

test_that("no call is stopped that keeps its guarantee, at the ends of what can be asked for", {
  set.seed(1)
  x <- matrix(rnorm(400, sd = 0.2), 200)
  flat <- function(...) dp_mean(x, euclidean(2), center = c(0, 0), radius = 1, ...)
  expect_s3_class(dp_pca(x, 1, 1e-6, 1e-10, bound = 1, steps = 2), "riemdp_pca")
  for (epsilon in c(1e-7, 1e-5, 1, 300)) for (delta in c(1e-100, 1e-12, 1e-6, 0.3)) {
    expect_s3_class(flat(epsilon = epsilon, delta = delta, mechanism = "wrapped_gaussian"), "riemdp_mean")
  }
  expect_s3_class(flat(delta = 1e-300, mechanism = "gaussian", options = list(mu = 1e-6)), "riemdp_mean")
  tiny <- dp_optimize(problem_huber(spd(2), threshold = 1), wishart_spd[, , 1:60], epsilon = 1, delta = 1e-300, start = diag(2), method = "rsgd",
                      batch = 7, steps = 3)
  expect_lte(tiny$draws$epsilon, 1 + 1e-9)
  none <- dp_mean(wishart_spd[, , 1:60], spd(2), center = diag(2), radius = 1.5, delta = 1e-6, mechanism = "gaussian", sigma = 1e-3)
  expect_identical(guarantee(none)$label, "none")
  sample <- dp_lm(density ~ alcohol, red_wine, 1, bounds = "sample")
  expect_identical(guarantee(sample)$label, "none")
})

test_that("a run that was changed in its file is stopped when it goes on", {
  M <- spd(2)
  calls <- 0
  P <- problem(NULL, function(w, z) {
    calls <<- calls + 1
    if (calls == 60) signalCondition(structure(class = c("interrupt", "condition"), list()))
    -mf_log(M, w, z)
  }, M, batched = TRUE)
  ledger <- dp_ledger(NULL, 5, 1e-5)
  file <- tempfile(fileext = ".rds")
  tryCatch(dp_optimize(P, wishart_spd, epsilon = 1, delta = 1e-6, start = diag(2), clip = 1, lr = 0.5, steps = 100, ledger = ledger,
                       checkpoint = file), interrupt = identity)
  run <- readRDS(file)
  run$plan$sd <- run$plan$sd / 2
  saveRDS(run, file)
  expect_error(dp_resume(file, P, wishart_spd, ledger), "its steps are another event", class = "riemdp_error_contract")
})

test_that("a release of a new kind says what it promises and what was drawn, and nothing of a mean", {
  estimator <- list(
    entry = function(plan, ask) "made up", plan = function(ask) list(guarantee = stated(0.5)),
    draw = function(records, plan, ask, budget) riemdp:::pay(riemdp:::price_laplace(0.25, 0.5)),
    answer = function(out, plan, ask, budget) riemdp:::new_release(3, "riemdp_new", budget = budget, guarantee = plan$guarantee)
  )
  r <- riemdp:::release_private(estimator, list(), 1)
  expect_identical(class(r), c("riemdp_new", "riemdp_release"))
  said <- gsub(" +", " ", paste(c(capture.output(print(r)), capture.output(explain(r)), names(summary(r))), collapse = " "))
  expect_match(said, "Private release +.*-DP, .* = 0.5")
  expect_match(said, "Noise: laplace, scale 0.5, where replacing one record moves at most 0.25 (proofs/laplace.md, 1).", fixed = TRUE)
  expect_match(said, "origin of the public bounds not stated .* Origin of the public bounds not stated.* source$")
  expect_no_match(said, "mean|centre|radius")
  expect_identical(summary(r)$epsilon, 0.5)
  expect_error(plot(r), class = "riemdp_error_unsupported")
  expect_identical(as.numeric(r), 3)
})

test_that("the stored form of what is released is decided by the point and the public centre, not by the records' or the mean's", {
  # a subspace has many bases, a shape many rotations: one that fits the private mean's would tell it apart from all others
  spaces <- list(list(M = grassmann(4, 2), center = diag(4)[, 1:2]), list(M = grassmann(3, 1), center = diag(3)[, 1, drop = FALSE]),
                 list(M = grassmann(5, 3), center = diag(5)[, 1:3]), list(M = kendall(4), center = c(1, 1i, -1, -1i) / 2))
  mechanisms <- c("laplace", "staircase", "gaussian", "kng", "laplace_truncated", "wrapped", "wrapped_staircase",
                  "wrapped_gaussian", "heat", "tangent") # not of several stages, which go on from centres that are released
  for (s in spaces) {
    d <- mf_facts(s$M)$dimension
    a <- with_simulation(1, matrix(stats::rnorm(12 * d, sd = 0.1), 12) + 0.1)
    x <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, a))
    one <- function(y, label) expect_lt(max(Mod(y - mf_exp(s$M, s$center, mf_log(s$M, s$center, y)))), 1e-12, label = label)
    for (mechanism in mechanisms) for (neighbours in c("replace", "add_remove")) for (timing in c("ordinary", "constant")) {
      delta <- if (grepl("gaussian|heat", mechanism) || timing == "constant") 1e-4 else 0
      r <- tryCatch(with_simulation(2, dp_mean(x, s$M, 2, s$center, 0.35, delta = delta, mechanism = mechanism, neighbours = neighbours, timing = timing)),
                    riemdp_error_unsupported = function(e) NULL)
      expect_false(is.null(r) && timing == "ordinary" && neighbours == "replace", label = paste(label_of(s$M), mechanism))
      if (is.null(r)) next
      one(r$value, paste(label_of(s$M), mechanism, neighbours, timing))
      if (!is.null(r$released)) one(r$released, paste(label_of(s$M), mechanism, neighbours, timing, "as drawn"))
    }
    one(with_simulation(3, dp_mean(x, s$M, center = s$center, radius = 0.35, sigma = 0.01, mechanism = "laplace", numerics = "real"))$value, "by hand")
    from <- list(M = s$M, center = riemdp:::one_point(s$M, .Call(riemdp:::riemdp_origin, s$M), "center"))
    for (case in list(list(s, list(center = s$center)), list(from, list(per = 0.1)))) {
      y <- with_simulation(4, do.call(dp_local, c(list(x, s$M, 1, mechanism = "laplace"), case[[2]])))$value
      s$center <- case[[1]]$center
      for (i in 1:12) one(record(s$M, y, i), paste(label_of(s$M), "local"))
    }
  }
})

test_that("what was asked before is compared bit by bit, and code is not kept", {
  forget <- function() rm(list = ls(riemdp:::cache, all.names = TRUE), envir = riemdp:::cache)
  made <- 0
  asked <- function(...) riemdp:::latest("a test", list(...), function() made <<- made + 1)
  facts <- list(list(0), list(-0), list(0L), list(0, NULL), list(NaN), list(NA_real_), list(structure(0, a = 1, b = 2)), list(structure(0, b = 2, a = 1)))
  for (time in 1:2) for (i in seq_along(facts)) expect_equal(do.call(asked, facts[[i]]), i)
  expect_equal(do.call(asked, list(2)), made)
  for (i in seq_len(riemdp:::LATEST)) asked(paste("another", i))
  before <- made
  expect_equal(asked(0), before + 1) # so many were asked since
  for (code in list(mean, quote(a + b), globalenv(), structure(list(list(mean)), class = "riemdp_points"))) {
    before <- made
    for (time in 1:2) asked(1, code)
    expect_equal(made, before + 2)
  }
  expect_error(riemdp:::latest("a test", "fails", function() stop("once")), "once")
  expect_identical(riemdp:::latest("a test", "fails", function() NULL), NULL)
  forget()
  # calls that differ in one argument, cold and after all others
  M <- sphere(2)
  x <- mf_exp(M, c(0, 0, 1), cbind(matrix(cos(1:100) / 10, 50), 0))
  base <- list(x, M, epsilon = 1, center = c(0, 0, 1), radius = 0.3, mechanism = "tangent")
  other <- list(list(), list(epsilon = 1.5), list(center = c(0, 0.6, 0.8)), list(radius = 0.31), list(mechanism = "laplace"),
                list(mechanism = "laplace", epsilon = 0.5), list(mechanism = "laplace", epsilon = 0.5, post = FALSE),
                list(mechanism = "laplace", variance = 0.1), list(mechanism = "wrapped_gaussian", delta = 1e-6),
                list(mechanism = "wrapped_gaussian", delta = 1e-7), list(mechanism = "wrapped", neighbours = "add_remove"), list(numerics = "real"),
                list(clipped = 0.1), list(source = "a paper"), list(center = structure(c(0, 0, 1), riemdp_origin = "a standard")),
                list(unit = rep(1:25, 2)), list(epsilon = NULL, sigma = 0.1), list(invalid = "center"), list(timing = "constant"))
  ask <- function(change) with_simulation(5, do.call(dp_mean, utils::modifyList(base, change)))
  cold <- lapply(other, function(change) {
    forget()
    ask(change)
  })
  expect_length(unique(cold), length(other) - 2) # who checks the records isn't told, nor of the time
  for (time in 1:2) for (i in seq_along(other)) expect_identical(ask(other[[i]]), cold[[i]])
  # plans
  plans <- list(dp_mean_plan(M, 50, 1, c(0, 0, 1), 0.3), dp_mean_plan(M, 50, 2, c(0, 0, 1), 0.3), dp_mean_plan(M, 50, 1, radius = 0.3))
  by_plan <- function(plan, ...) with_simulation(5, dp_mean(x, plan = plan, ...))
  expect_identical(by_plan(plans[[1]])$guarantee$nominal_epsilon, 1)
  expect_identical(by_plan(plans[[2]])$guarantee$nominal_epsilon, 2)
  expect_identical(by_plan(plans[[1]]), by_plan(plans[[3]], center = c(0, 0, 1)))
  expect_error(by_plan(plans[[1]], center = c(0, 0, 1)), "plan's to say", class = "riemdp_error_argument")
  expect_error(by_plan(plans[[1]], by = rep(1:2, 25)), "of groups", class = "riemdp_error_unsupported")
  expect_error(dp_mean(x ~ g, plan = plans[[1]]), "of groups", class = "riemdp_error_unsupported")
})

test_that("a plan that is kept is that of the same public facts, and of a simulation none", {
  forget <- function() rm(list = ls(riemdp:::cache, all.names = TRUE), envir = riemdp:::cache)
  M <- sphere(2)
  ask_of <- function(n = 50, epsilon = 1, center = c(0, 0, 1), radius = 0.3, delta = 0, mechanism = "laplace", numerics = "auto") {
    riemdp:::mean_ask(M, n, epsilon, center, radius, delta, mechanism, NULL, "proven", "ordinary", numerics, NULL, list())
  }
  asks <- list(ask_of(), ask_of(n = 51), ask_of(epsilon = 1.01), ask_of(radius = 0.31), ask_of(mechanism = "wrapped"), ask_of(mechanism = "auto"),
               ask_of(numerics = "real"), ask_of(mechanism = "gaussian", delta = 1e-6), ask_of(mechanism = "gaussian", delta = 1e-7))
  fresh <- lapply(asks, function(ask) {
    forget()
    riemdp:::plan_mean(M, ask)
  })
  expect_length(unique(fresh[-7]), length(asks) - 1)
  forget()
  for (time in 1:2) for (i in seq_along(asks)) expect_identical(riemdp:::plan_mean(M, asks[[i]]), fresh[[i]])
  # of another space
  other <- asks[[1]]
  expect_false(identical(riemdp:::plan_mean(hyperbolic(2), other)$scale, fresh[[1]]$scale) && identical(riemdp:::plan_mean(sphere(5), other), fresh[[1]]))
  # what was simulated promises nothing, before and after
  x <- mf_exp(M, c(0, 0, 1), cbind(matrix(0.1, 50, 2), 0))
  label <- function() guarantee(dp_mean(x, M, 1, c(0, 0, 1), 0.3))$label
  for (first in c(TRUE, FALSE)) {
    forget()
    if (first) expect_identical(with_simulation(1, label()), "none")
    expect_identical(label(), "pure")
    expect_identical(with_simulation(1, label()), "none")
  }
  # and prices of curved normal noise
  price <- function(...) riemdp:::price_normal_curved(riemdp:::profile_space(M), ...)$delta
  cases <- list(c(0.01, 0.1, 0.2), c(0.011, 0.1, 0.2), c(0.01, 0.11, 0.2), c(0.01, 0.1, 0.21))
  all <- vapply(cases, function(v) do.call(price, as.list(v)), 0)
  expect_false(anyDuplicated(all) > 0)
  expect_identical(vapply(cases, function(v) do.call(price, as.list(v)), 0), all)
  for (i in 1:4) expect_identical(all[i], riemdp:::profile_delta(riemdp:::profile_space(M), cases[[i]][2], cases[[i]][1], cases[[i]][3]))
})

test_that("coef() and nobs() answer what a release is, or say why not", {
  M <- sphere(2)
  x <- mf_exp(M, c(0, 0, 1), cbind(matrix(cos(1:100) / 10, 50), 0))
  ask <- function(...) dp_mean(x, M, epsilon = 5, center = c(0, 0, 1), radius = 0.3, ...)
  refused <- function(expr, why) expect_error(expr, why, class = "riemdp_error_unsupported")
  r <- ask()
  expect_identical(coef(r), r$value)
  expect_identical(nobs(r), 50)
  median <- dp_median(x, M, epsilon = 5, center = c(0, 0, 1), radius = 0.3)
  expect_identical(coef(median), median$value)
  # of units
  expect_equal(nobs(ask(unit = rep(1:25, 2))), 25)
  # a private number is told by no other name than its own
  refused(nobs(ask(neighbours = "add_remove")), "isn't public")
  groups <- ask(by = rep(c("a", "b"), 25), levels = c("a", "b"))
  refused(nobs(groups), "one for each group")
  refused(coef(groups), "no coefficients")
  refused(coef(dp_test(x, M, epsilon = 5, group = rep(1:2, 25), bandwidth = 1, draws = 99)), "no coefficients")
  # plain means
  plain <- frechet_mean(x, M)
  expect_identical(coef(plain), plain$mean)
  expect_equal(nobs(plain), 50)
  expect_identical(as.data.frame(plain), tidy(plain))
  for (f in list(vcov, confint)) refused(f(plain), "holds no records")
})
