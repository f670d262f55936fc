# The residual scale of a line from rows that stay at sites: what a row moves its sums by, what is released, what a policy lets through.

skip_if_not_installed("jsonlite")

internal <- asNamespace("riemdp")
TYPES <- c(x1 = "number", sex = "text", y = "number", z = "number")
BOUNDS <- list(x1 = c(0, 10), sex = c("f", "m"), y = c(center = 4, scale = 2))
n <- 900
rows <- with_simulation(1, {
  d <- data.frame(x1 = stats::runif(n, 0, 10), sex = sample(c("f", "m"), n, TRUE))
  d$y <- 1 + 0.5 * d$x1 + (d$sex == "m") + 0.6 * stats::rnorm(n)
  d$z <- stats::rnorm(n)
  d
})
budget <- function() dp_ledger(epsilon = 1e9, delta = 1e-6, rule = "gdp")
host_of <- function(name, x, ..., least_noise = 1e-6) site_host(site_policy(name, least_noise = least_noise, columns = TYPES, ...), x, budget())
hosts_of <- function(...) list(host_of("north", rows[1:300, ], ...), host_of("mid", rows[301:400, ], ...), host_of("south", rows[401:900, ], ...))
remotes <- function(hosts, ...) do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(...)))
spent <- function(host) summary(host$ledger)$spent[1]
line_of <- function(x, epsilon = 1000) dp_lm(y ~ x1 + sex, x, epsilon, 1e-6, BOUNDS)
request_of <- function(at = c(0.1, 1.2, 0.2), ..., responses = y ~ x1 + sex, bounds = BOUNDS) {
  spec <- internal$linear_terms(responses, names(bounds))
  utils::modifyList(list(vector = "residuals", model = internal$site_model(spec, internal$linear_bounds(spec, bounds)), radius = 2.5, at = at,
                         weight = 1.5), list(...))
}
reply <- function(host, request) {
  text <- wire_write("request", id = internal$random_id(), policy = host$hash, statistic = "noisy", fields = lapply(request, wire_value))
  m <- wire_read(site_reply(host, text))
  if (m$type == "refusal") m$reason else m$value
}

test_that("a site's sum is that of cut squares, each of its own row alone", {
  q <- request_of()
  x <- rows
  x$x1[5] <- NA
  x$sex[6] <- "other"
  x$y[7] <- Inf
  rows$y[8] <- 99
  model <- internal$read_model(q$model)
  r <- internal$linear_records(model$columns, model$bounds, internal$linear_values(model$spec, rows, emptyenv(), model$wants), TRUE, 2.5)
  by_fit <- pmin(1, (drop(r$y) - drop(q$at %*% r$x))^2 / q$weight^2)
  expect_equal(internal$vector_sum(utils::modifyList(q, list(weight = 20)), rows[8, ]), ((2.5 - sum(q$at * r$x[, 8])) / 20)^2, tolerance = 1e-3)
  one <- vapply(seq_len(50), function(i) internal$vector_sum(q, rows[i, , drop = FALSE]), 0)
  expect_true(all(one - by_fit[1:50] > -1e-12 & one - by_fit[1:50] < 2^-20 + 1e-12)) # rounded up
  expect_identical(internal$vector_sum(q, rows[1:50, ]), sum(one))
  expect_identical(internal$vector_sum(q, rows[50:1, ]), sum(one))
  expect_identical(drop(internal$vector_of(q)$rows(q, rows[1:50, ])), one)
  for (i in 5:7) expect_identical(internal$vector_sum(q, x[i, , drop = FALSE]), 0)
})

test_that("a replaced row moves it by no more than is said, and that is attained", {
  both <- list(x1 = c(0, 10), y = c(center = 4, scale = 2), z = c(center = 0, scale = 1))
  for (q in list(request_of(), request_of(c(0.1, -0.2, 1, 2), responses = cbind(y, z) ~ x1, bounds = both))) {
    k <- internal$vector_dimension(q)
    odd <- expand.grid(x1 = c(0, 5, NA, -1e300, 1e300, Inf), sex = c("f", NA, "M"), y = c(4, -1e300, Inf, NA), z = c(0, 1e300, NaN), stringsAsFactors = FALSE)
    v <- matrix(vapply(seq_len(nrow(odd)), function(i) internal$vector_sum(q, odd[i, , drop = FALSE]), numeric(k)), k)
    expect_true(all(v >= 0 & v <= 1))
    expect_lte(max(stats::dist(t(v))), internal$vector_moved(q))
    expect_lte(max(sqrt(colSums(v^2))), internal$vector_length(q))
    expect_equal(max(stats::dist(t(v))), internal$vector_moved(q), tolerance = 1e-5)
    expect_equal(internal$vector_moved(q), sqrt(k), tolerance = 1e-11)
  }
})

test_that("the scale is that of the rows in memory but for noise, and each site pays for the whole", {
  hosts <- hosts_of()
  x <- remotes(hosts, shares = TRUE)
  fit <- line_of(x)
  before <- vapply(hosts, spent, 0)
  r <- dp_residual_scale(fit, x, 1000, delta = 1e-6)
  plain <- dp_residual_scale(fit, rows, 1000)
  expect_equal(r$value, plain$value, tolerance = 0.01)
  expect_equal(unname(r$value), 0.6, tolerance = 0.1)
  mu <- guarantee(r)$mu
  expect_equal(mu, internal$gaussian_mu(1000, 1e-6), tolerance = 1e-9)
  for (i in 1:3) expect_equal(spent(hosts[[i]]) - before[i], mu^2, tolerance = 1e-6)
  expect_equal(r$draws$mu, mu, tolerance = 1e-6)
  expect_identical(guarantee(r)[c("label", "numerics", "adjacency", "epsilon", "delta")],
                   list(label = "approx", numerics = "real-valued", adjacency = "replace-one", epsilon = 1000, delta = 1e-6))
  expect_match(guarantee(r)$assumptions, "adds its share of the noise", all = FALSE)
  for (host in hosts) expect_match(guarantee(r)$assumptions, host$hash, all = FALSE)
  expect_identical(r$mechanism, "gaussian")
  expect_equal(r$squares$scale, 9 / mu * sqrt(3), tolerance = 1e-6) # against two that collude
  expect_output(print(r), "standard deviation is.*shares that 3 sites draw")
  ends <- confint(fit, about = "population", residual = r)
  truth <- coef(stats::lm(y ~ x1 + sex, rows))
  expect_true(all(ends[, 1] < truth & truth < ends[, 2]))
  expect_true(all(ends[, 2] - ends[, 1] < 0.5))
})

test_that("a secure sum has one curator's noise", {
  skip_if_not_installed("sodium")
  files <- replicate(3, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:3])
  hosts <- lapply(1:3, function(i) {
    site_host(site_policy(letters[i], least_noise = 1e-4, columns = TYPES, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]),
              rows[(i - 1) * 300 + 1:300, ], budget(), identity = files[i])
  })
  x <- remotes(hosts, secure = TRUE, colluding = 0)
  fit <- line_of(x)
  before <- spent(hosts[[1]])
  r <- dp_residual_scale(fit, x, 1000, delta = 1e-6)
  mu <- internal$gaussian_mu(1000, 1e-6)
  expect_equal(r$squares$scale, 9 / mu, tolerance = 2e-3)
  expect_equal(spent(hosts[[1]]) - before, mu^2, tolerance = 1e-3)
  expect_equal(r$value, dp_residual_scale(fit, rows, 1000)$value, tolerance = 0.01)
  expect_error(dp_residual_scale(fit, remotes(hosts, secure = TRUE, colluding = 0, dropouts = 1), 1, delta = 1e-6), "dropouts",
               class = "riemdp_error_unsupported")
})

test_that("its noise has the size that is stated", {
  hosts <- lapply(1:2, function(i) host_of(letters[i], rows[1:50 + 50 * i, ]))
  x <- remotes(hosts, shares = TRUE, colluding = 1)
  fit <- line_of(x)
  count <- if (quick()) 150 else 600
  z <- with_simulation(4, vapply(seq_len(count), function(i) {
    r <- dp_residual_scale(fit, x, 1, delta = 1e-6, bound = 2)
    r$squares$sum / r$squares$scale
  }, 0))
  # 5 standard errors: false alarms in 1e6
  expect_lt(abs(stats::sd(z) - 1), 5 / sqrt(2 * count))
  q <- request_of(as.vector(fit$scaled_coefficients), weight = 2, radius = fit$details$reach)
  scale <- with_simulation(1, dp_residual_scale(fit, x, 1, delta = 1e-6, bound = 2))$squares$scale
  expect_lt(abs(mean(z) - 4 * internal$vector_sum(q, rows[51:150, ]) / scale), 5 / sqrt(count))
  expect_equal(scale, 4 / internal$gaussian_mu(1, 1e-6) * sqrt(2), tolerance = 1e-6)
})

test_that("draws of a normal law between two numbers are of that law, far out as well", {
  set.seed(3)
  for (case in list(c(-1, 2), c(0.5, 0.6), c(-3, -1), c(-Inf, 1), c(6, 9), c(30, 31), c(-31, -30))) {
    z <- internal$normal_between(2000, 3, 3 * case[1], 3 * case[2]) / 3
    expect_true(all(is.finite(z) & z >= case[1] - 1e-9 & z <= case[2] + 1e-9))
    side <- if (case[1] > 0) -1 else 1
    ends <- sort(side * case)
    below <- function(v) stats::pnorm(v, log.p = TRUE)
    part <- function(v) -expm1(below(ends[1]) - below(v)) * exp(below(v) - below(ends[2])) / -expm1(below(ends[1]) - below(ends[2]))
    expect_gt(suppressWarnings(stats::ks.test(part(side * z), "punif"))$p.value, 1e-6)
  }
})

test_that("variances are drawn by the noise's own law", {
  v <- with_simulation(1, internal$drawn_variances(list(sum = 500, scale = 50, law = "normal"), 1000, 9, 1e12, 4000)) * 1e12
  expect_lt(abs(stats::sd(v) / 50 - 1), 5 / sqrt(8000))
  expect_lt(abs(mean(v) - 500) / 50, 5 / sqrt(4000))
})

test_that("what can't be is refused before anything is paid", {
  hosts <- hosts_of()
  x <- remotes(hosts, shares = TRUE)
  fit <- line_of(x)
  paid <- vapply(hosts, spent, 0)
  refused <- function(class, ...) expect_error(dp_residual_scale(...), class = paste0("riemdp_error_", class))
  refused("unsupported", fit, x, 1)
  refused("unsupported", fit, rows, 1, delta = 1e-6)
  refused("argument", fit, x, 1, delta = 1e-6, unit = "sex")
  refused("argument", fit, remotes(hosts[1:2], shares = TRUE), 1, delta = 1e-6)
  refused("unsupported", fit, remotes(hosts[1:2]), 1, delta = 1e-6)
  other <- dp_lm(y ~ x1 + sex, rows, 1, 1e-6, BOUNDS, method = "gaussian")
  refused("unsupported", other, x, 1, delta = 1e-6)
  expect_identical(vapply(hosts, spent, 0), paid)
  # one site's policy has no residuals: nobody pays
  mixed <- list(host_of("north", rows[1:300, ]), host_of("mid", rows[301:400, ]), host_of("south", rows[401:900, ], sums = "products"))
  y <- remotes(mixed, shares = TRUE)
  fit <- line_of(y)
  paid <- vapply(mixed, spent, 0)
  refused("refused", fit, y, 1, delta = 1e-6)
  expect_identical(vapply(mixed, spent, 0), paid)
  # at a site
  host <- host_of("north", rows)
  ok <- request_of(sd = 10)
  expect_length(reply(host, ok), 1)
  for (bad in list(list(at = c(1, 2)), list(at = c(1, 2, NaN)), list(at = NULL), list(weight = NULL), list(weight = 2^31), list(radius = 2^-31),
                   list(model = NULL), list(M = euclidean(2)))) {
    expect_identical(reply(host, utils::modifyList(ok, bad)), "message")
  }
  two <- request_of(numeric(6), sd = 10, responses = cbind(y, z) ~ x1 + sex, bounds = c(BOUNDS, list(z = c(center = 0, scale = 1))))
  expect_length(reply(host, two), 2)
  expect_identical(reply(host, utils::modifyList(two, list(at = numeric(5)))), "message")
  expect_identical(reply(site_host(site_policy("west", least_noise = 1e-6, columns = TYPES[c("x1", "y")]), rows, budget()), ok), "columns")
  # of a curve, whichever
  M <- sphere(2)
  points <- mf_exp(M, c(0, 0, 1), cbind(0.05 * rows$x1[1:60], 0, 0))
  curve <- dp_regression(place ~ x1, M, list(place = points, x1 = rows$x1[1:60]), 1, center = c(0, 0, 1), radius = 0.8, speed = 0.6, residual_bound = 0.5,
                         bounds = list(x1 = c(0, 10)))
  paid <- vapply(hosts, spent, 0)
  expect_error(dp_residual_scale(curve, x, 1, delta = 1e-6), "of a curve", class = "riemdp_error_unsupported")
  expect_identical(vapply(hosts, spent, 0), paid)
})

test_that("a line that was tampered with is refused before any site pays", {
  hosts <- hosts_of()
  x <- remotes(hosts, shares = TRUE)
  fit <- line_of(x)
  before <- vapply(hosts, spent, 0)
  for (reach in list(NULL, c(1, 2), "a", NA, -1, Inf, list(1))) {
    broken <- fit
    broken$details["reach"] <- list(reach)
    expect_error(dp_residual_scale(broken, x, 1, delta = 1e-6), class = "riemdp_error")
  }
  expect_identical(vapply(hosts, spent, 0), before)
})
