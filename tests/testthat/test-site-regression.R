# Geodesic regression of records that stay at sites: what a record moves a step's sum by, what steps cost, what a policy lets through.

skip_if_not_installed("jsonlite")

internal <- asNamespace("riemdp")
M <- sphere(2)
TYPES <- c(shape = "points", age = "number", sex = "text")
n <- 240
records <- with_simulation(1, {
  age <- stats::runif(n, 0, 10)
  sex <- sample(c("f", "m"), n, TRUE)
  noise <- cbind(matrix(stats::rnorm(2 * n, sd = 0.1), n), 0)
  list(shape = mf_exp(M, c(0, 0, 1), outer(age - 5, c(0.1, 0.02, 0)) + outer(sex == "m", c(0, 0.2, 0)) + noise), age = age, sex = sex)
})
part <- function(i, x = records) list(shape = x$shape[i, , drop = FALSE], age = x$age[i], sex = x$sex[i])
budget <- function(epsilon = 1e9) dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp")
host_of <- function(name, x, ..., radius = 5, least_noise = 1e-6, ledger = budget()) {
  site_host(site_policy(name, M, radius, least_noise, columns = TYPES, ...), x, ledger)
}
hosts_of <- function(...) list(host_of("north", part(1:80), ...), host_of("mid", part(81:120), ...), host_of("south", part(121:240), ...))
remotes <- function(hosts, ...) do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(...)))
spent <- function(host) summary(host$ledger)$spent[1]
BOUNDS <- list(age = c(0, 10))
fit <- function(data, epsilon, formula = shape ~ age, bounds = BOUNDS, ...) {
  dp_regression(formula, M, data, epsilon, center = c(0, 0, 1), radius = 0.8, speed = 0.2, residual_bound = 0.5, bounds = bounds, delta = 1e-6, ...)
}
# a step's request at a curve that isn't the start
request_of <- function(formula = shape ~ age, bounds = BOUNDS, at = c(0.15, 0.02), ..., radius = 0.6, cut = 0.4, p = c(0.1, 0, sqrt(0.99))) {
  spec <- internal$private_predictors(formula, NULL, bounds)
  model <- internal$site_model(list(responses = list(spec$response), predictors = spec$predictors, parts = spec$parts),
                               list(x = spec$bounds$x, y = matrix(c(0, 1, 1), 3)))
  frame <- .Call(internal$riemdp_gauss_newton_frame, M, p, internal$tangent_vectors(M, p, matrix(at, 2)))
  utils::modifyList(list(vector = "curve", M = M, center = p, at = at, model = model, radius = radius, weight = cut, frame = as.vector(frame[[1]]),
                         lambda = frame[[2]],
                         speed = rep(0.2, length(at) / 2)), list(...))
}
reply <- function(host, request) {
  text <- wire_write("request", id = internal$random_id(), policy = host$hash, statistic = "noisy", fields = lapply(request, wire_value))
  m <- wire_read(site_reply(host, text))
  if (m$type == "refusal") m$reason else m$value
}

test_that("a site's sum is that of the gradients of records in memory", {
  two <- c(BOUNDS, list(sex = c("f", "m")))
  for (case in list(list(shape ~ age, BOUNDS, c(0.15, 0.02)), list(shape ~ age + sex, two, c(0.15, 0.02, -0.1, 0.1)))) {
    q <- request_of(case[[1]], case[[2]], case[[3]], radius = 10)
    v <- internal$vector_sum(q, records)
    expect_length(v, internal$vector_dimension(q))
    spec <- internal$private_predictors(case[[1]], NULL, case[[2]])
    rows <- internal$formula_names(c(spec$response, spec$predictors), records, emptyenv(), n)
    x <- internal$private_columns(spec, rows)
    state <- list(p = q$center, v = matrix(case[[3]], 2))
    ask <- list(reach = vapply(spec$columns, `[[`, 0, "half"), speed = q$speed)
    own <- internal$features_at(M, state, list(matrix(q$frame, 2), q$lambda), x, records$shape, ask)
    expect_equal(v, as.vector(internal$clipped_gradient(own, 0.4)), tolerance = 1e-12)
    expect_identical(internal$vector_sum(q, part(n:1)), v)
  }
})

test_that("no record moves it by more than twice the radius, whatever is asked", {
  q <- request_of(radius = 0.3)
  vectors <- function(q) vapply(1:n, function(i) internal$vector_sum(q, part(i)), numeric(internal$vector_dimension(q)))
  expect_identical(internal$vector_moved(q), 0.6)
  v <- vectors(q)
  size <- sqrt(colSums(v^2))
  expect_lte(max(size), 0.3 * (1 + 1e-9))
  expect_gt(max(size), 0.3 * (1 - 1e-9)) # some are cut
  # two records on both sides of the curve, far from the middle
  ends <- list(shape = mf_exp(M, c(0, 0, 1), rbind(c(0, 1, 0), c(0, -1, 0))), age = c(10, 10), sex = c("f", "f"))
  flat <- request_of(at = c(0, 0), p = c(0, 0, 1), radius = 0.3)
  two <- vapply(1:2, function(i) internal$vector_sum(flat, part(i, ends)), numeric(4))
  expect_equal(sqrt(sum((two[, 1] - two[, 2])^2)), 0.6, tolerance = 1e-9)
  set.seed(2)
  for (i in 1:30) {
    wild <- function(k) stats::rnorm(k) * 10^stats::runif(k, -3, if (i %% 3) 3 else 150)
    q <- request_of(radius = 0.3, at = wild(2), frame = wild(4), lambda = wild(2), speed = abs(wild(1)), weight = abs(wild(1)), cut = 1,
                    p = c(0, 0, 1)[sample(3)])
    q[c("at", "frame", "lambda")] <- list(wild(2), wild(4), wild(2))
    expect_lte(max(sqrt(colSums(vectors(q)[, 1:20]^2))), 0.3 * (1 + 1e-9))
  }
})

test_that("a curve of sites is that of records in memory but for noise, and its steps cost each site what they cost", {
  hosts <- hosts_of()
  r <- fit(remotes(hosts, shares = TRUE), 1000)
  plain <- fit(records[c("shape", "age")], 1000, method = "gradient", invalid = "ignore")
  expect_lt(mf_dist(M, coef(r)$p, coef(plain)$p), 0.02)
  expect_lt(max(abs(coef(r)$v - coef(plain)$v)), 0.02)
  expect_identical(c(r$n, r$radius, r$speed), c(240, 0.8, 0.2))
  expect_identical(r$mechanism, "gradient")
  steps <- length(r$details$shares)
  for (host in hosts) {
    expect_equal(spent(host), guarantee(r)$mu^2, tolerance = 1e-9)
    expect_equal(summary(host$ledger)$releases[1], steps)
    expect_match(guarantee(r)$assumptions, paste0(host$policy$site, ".*", host$hash), all = FALSE)
  }
  mu <- internal$gaussian_mu(1, 1e-6)
  for (colluding in 0:2) {
    hosts <- hosts_of()
    one <- fit(remotes(hosts, shares = TRUE, colluding = colluding), 1)
    steps <- length(one$details$shares)
    rule <- one$details$last$rule
    expect_equal(rule$sd, sqrt(steps) / mu * 2 * rule$tau * rule$gauge * sqrt(3 / (3 - colluding)), tolerance = 1e-9)
    expect_equal(guarantee(one)$mu, mu, tolerance = 1e-9)
    expect_equal(spent(hosts[[2]]), mu^2 * (3 - colluding), tolerance = 1e-6)
    expect_equal(sqrt(sum(one$draws$mu^2)), guarantee(one)$mu, tolerance = 1e-6)
    expect_identical(one$details[c("sites", "colluding")], list(sites = 3L, colluding = colluding))
  }
  expect_output(explain(one), "shares that 3\\s+sites draw")
  expect_match(guarantee(one)$assumptions, "adds its share of the noise", all = FALSE)
  # more noise, a larger error by the model
  alone <- fit(remotes(hosts_of(), shares = TRUE, colluding = 0), 1)
  expect_gt(one$expected_error, 1.2 * alone$expected_error)
  expect_equal(alone$expected_error, fit(records[c("shape", "age")], 1, method = "gradient", invalid = "ignore")$expected_error, tolerance = 1e-12)
})

test_that("its noise has the size that is stated", {
  # records on the curve at the centre: gradients are 0, and a single step is noise
  still <- list(shape = matrix(c(0, 0, 1), 40, 3, byrow = TRUE), age = rep(5, 40), sex = rep("f", 40))
  hosts <- lapply(letters[1:2], host_of, still)
  x <- remotes(hosts, shares = TRUE, colluding = 1)
  ask <- list(manifold = M, model = request_of()$model, speed = 0.2, n = 80, shares = x$shares)
  step <- list(tau = 0.5, gauge = sqrt(2), least = 3, sd = 3 * sqrt(2))
  noisy <- internal$noisy_curves(list(data = x), ask)$noisy
  state <- list(p = c(0, 0, 1), v = matrix(0, 2, 1))
  frame <- .Call(internal$riemdp_gauss_newton_frame, M, state$p, internal$tangent_vectors(M, state$p, state$v))
  count <- if (quick()) 200 else 1000
  z <- with_simulation(4, replicate(count, noisy(state, frame, 0.5, step))) / step$sd
  # 5 standard errors: false alarms in 1e6 each
  expect_lt(abs(stats::sd(z) - 1), 5 / sqrt(2 * 4 * count))
  expect_lt(abs(mean(z)), 5 / sqrt(4 * count))
})

test_that("what a record holds changes numbers and nothing else", {
  q <- request_of(sd = 1000)
  clean <- host_of("north", part(1:50))
  expect_length(reply(clean, q), 4)
  odd <- list(age = list(NA, Inf, NaN, 1e308, "ten"), shape = list(c(NA, 0, 1), c(0, 0, 0), c(Inf, 0, 0), c(5, 5, 5), c(0, 0, -1)), sex = list(NA, "other"))
  for (name in names(odd)) {
    for (value in odd[[name]]) {
      x <- part(1:50)
      if (name == "shape") x$shape[7, ] <- value else x[[name]][7] <- value
      host <- host_of("north", x)
      expect_identical(host$n, 50)
      expect_length(reply(host, q), 4)
      expect_equal(spent(host), spent(clean), tolerance = 1e-12)
      off <- internal$vector_sum(q, host$x) - internal$vector_sum(q, part(c(1:6, 8:50)))
      expect_lte(sqrt(sum(off^2)), 0.6 * (1 + 1e-9))
    }
  }
})

test_that("what a policy doesn't have is refused before anything is paid", {
  host <- host_of("north", records, radius = 0.7, least_noise = 0.5)
  ok <- request_of(sd = 0.5 * 1.2 * (1 + 1e-9))
  change <- function(...) utils::modifyList(ok, list(...))
  expect_identical(reply(host, change(sd = 0.5 * 1.2 * (1 - 1e-9))), "noise")
  expect_identical(reply(host, change(radius = 0.71, sd = 1000)), "ball")
  expect_identical(reply(host, change(radius = 1e-200)), "ball")
  expect_identical(reply(host, change(M = sphere(3))), "space")
  expect_identical(reply(host, change(center = c(0, 0, 2))), "message")
  for (bad in list(list(at = NULL), list(at = 1), list(at = 1:2), list(frame = c(1, 0)), list(lambda = NULL), list(lambda = 1), list(speed = -1),
                   list(speed = c(1, 1)), list(weight = NULL),
                   list(model = NULL), list(M = NULL), list(problem = problem_frechet(M)))) {
    expect_identical(reply(host, do.call(change, bad)), "message")
  }
  other <- function(name, value) {
    out <- ok
    out$model[[name]] <- value
    out
  }
  expect_identical(reply(host, other("responses", list("age"))), "columns")
  expect_identical(reply(host, other("predictors", list("shape"))), "columns")
  expect_identical(reply(host, other("predictors", list("height"))), "columns")
  expect_identical(reply(host, other("responses", list("shape", "age"))), "message")
  expect_identical(reply(host, other("parts", list())), "message")
  only <- site_host(site_policy("p", M, 1, 0.1, columns = TYPES, sums = "products"), records, budget())
  expect_identical(reply(only, ok), "statistic")
  expect_identical(spent(host), 0)
  expect_identical(spent(only), 0)
  expect_length(reply(host, ok), 4)
  expect_equal(spent(host), 4, tolerance = 1e-6)
})

test_that("what isn't to be had at sites is said by public facts", {
  x <- remotes(hosts_of(), shares = TRUE)
  unsupported <- function(...) expect_error(fit(x, 1, ...), class = "riemdp_error_unsupported")
  unsupported(method = "newton")
  unsupported(unit = "sex")
  unsupported(neighbours = "add_remove")
  unsupported(formula = shape ~ log(age), bounds = list("log(age)" = c(0, 1)))
  unsupported(formula = mf_project(shape, sphere(2)) ~ age)
  expect_error(dp_regression(shape ~ age, M, x, 1, c(0, 0, 1), 0.8, 0.2, 0.5, c(0, 10)), "delta", class = "riemdp_error_unsupported")
  expect_error(fit(remotes(hosts_of()), 1), class = "riemdp_error_unsupported")
  expect_error(fit(x, 1, formula = shape ~ height, bounds = list(height = c(0, 1))), "doesn't have these columns", class = "riemdp_error_refused")
})

test_that("a list of variables with points is a site's records, and lines run over it as well", {
  policy <- site_policy("north", M, 2, 0.5, columns = TYPES)
  expect_identical(policy$sums, c("curve", "groups", "products", "residuals"))
  dir <- withr::local_tempdir()
  write_site_policy(policy, file.path(dir, "policy.json"))
  expect_identical(read_site_policy(file.path(dir, "policy.json")), policy)
  expect_output(print(policy), "shape \\(points\\).*points of sphere.*radius of at most 2")
  expect_error(site_policy("north", least_noise = 1, columns = TYPES), class = "riemdp_error_argument")
  short <- records
  short$age <- short$age[-1]
  for (bad in list(short, records["shape"], utils::modifyList(records, list(shape = records$shape[-1, ])), records$shape, list())) {
    expect_error(site_host(policy, bad, budget()), class = "riemdp_error")
  }
  # points may be mf_points(), of a table
  table <- data.frame(age = records$age, sex = records$sex)
  table$shape <- mf_points(records$shape, M)
  q <- request_of()
  expect_identical(internal$vector_sum(q, host_of("t", table)$x), internal$vector_sum(q, records))
  only <- site_host(site_policy("o", M, 2, 0.5, columns = TYPES["shape"]), records["shape"], budget())
  expect_identical(only$n, 240)
  line <- dp_lm(age ~ sex, remotes(hosts_of(), shares = TRUE), 1000, 1e-6, list(age = c(center = 5, scale = 3), sex = c("f", "m")))
  expect_equal(unname(coef(line)), unname(coef(stats::lm(age ~ sex, records))), tolerance = 0.05)
  skip_if_not_installed("RSQLite")
  dp_ledger(file.path(dir, "ledger.sqlite"), 2, 1e-6, rule = "gdp", create = TRUE)
  saveRDS(records, file.path(dir, "records.rds"))
  expect_identical(internal$vector_sum(q, site_open(dir)$x), internal$vector_sum(q, records))
})

test_that("steps of secure sums have one curator's noise", {
  skip_if_not_installed("sodium")
  files <- replicate(3, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:3])
  hosts <- lapply(1:3, function(i) {
    host <- site_policy(letters[i], M, 5, 1e-4, columns = TYPES, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i])
    site_host(host, part((i - 1) * 80 + 1:80), budget(), identity = files[i])
  })
  x <- remotes(hosts, secure = TRUE, colluding = 0)
  r <- fit(x, 1)
  mu <- internal$gaussian_mu(1, 1e-6)
  rule <- r$details$last$rule
  expect_equal(rule$sd, sqrt(length(r$details$shares)) / mu * 2 * rule$tau * rule$gauge, tolerance = 2e-3)
  expect_gt(rule$sd, rule$least)
  for (host in hosts) expect_equal(spent(host), mu^2, tolerance = 1e-3)
  expect_output(explain(r), "added under masks")
  q <- c(request_of(), session = strrep("0", 32))
  for (name in c("frame", "lambda", "speed", "at", "weight")) {
    other <- q
    other[[name]] <- q[[name]] * 1.5
    expect_false(internal$secure_digest(other) == internal$secure_digest(q))
  }
})
