# Means of groups of records that stay at sites: what a record moves, what is released with it, what a policy lets through.

skip_if_not_installed("jsonlite")

internal <- asNamespace("riemdp")
M <- sphere(2)
CENTER <- c(0, 0, 1)
TYPES <- c(scan = "points", sex = "text", arm = "text", age = "number")
n <- 300
records <- with_simulation(1, {
  sex <- sample(c("f", "m", NA, "other"), n, TRUE, c(0.5, 0.3, 0.1, 0.1))
  arm <- sample(c("A", "B", "C"), n, TRUE)
  noise <- cbind(matrix(stats::rnorm(2 * n, sd = 0.2), n), 0)
  list(scan = mf_exp(M, CENTER, outer(sex %in% "m", c(0.3, 0, 0)) + noise), sex = sex, arm = arm, age = stats::runif(n))
})
part <- function(i, x = records) c(list(scan = x$scan[i, , drop = FALSE]), lapply(x[-1], `[`, i))
budget <- function() dp_ledger(epsilon = 1e9, delta = 1e-6, rule = "gdp")
host_of <- function(name, x, ..., radius = 1, least_noise = 1e-6) {
  site_host(site_policy(name, M, radius, least_noise, columns = TYPES, ...), x, budget())
}
hosts_of <- function(...) list(host_of("north", part(1:80), ...), host_of("mid", part(81:120), ...), host_of("south", part(121:300), ...))
remotes <- function(hosts, ...) do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(...)))
spent <- function(host) summary(host$ledger)$spent[1]
LEVELS <- list(sex = c("f", "m"), arm = c("A", "B", "C"))
means <- function(data, epsilon, formula = scan ~ sex, levels = LEVELS["sex"], ...) {
  dp_mean(formula, data = data, M = M, epsilon = epsilon, center = CENTER, radius = 0.4, delta = 1e-6, mechanism = "tangent", levels = levels, ...)
}
model_of <- function(names, levels = LEVELS[names]) {
  list(responses = list("scan"), predictors = as.list(names), x = unname(lapply(levels, as.list)), y = matrix(c(0, 1, 1), 3),
       parts = lapply(seq_along(names), as.double))
}
request_of <- function(names = "sex", ..., radius = 0.4) {
  utils::modifyList(list(vector = "groups", M = M, center = CENTER, radius = radius, model = model_of(names)), list(...))
}
reply <- function(host, request) {
  text <- wire_write("request", id = internal$random_id(), policy = host$hash, statistic = "noisy", fields = lapply(request, wire_value))
  m <- wire_read(site_reply(host, text))
  if (m$type == "refusal") m$reason else m$value
}
logs <- function(x, radius = 0.4) {
  v <- mf_coords(M, CENTER, mf_log(M, CENTER, x))
  v * pmin(1, radius / sqrt(rowSums(v^2)))
}

test_that("a site's sum has a block for each group: its logarithms, and its number of records times the radius", {
  own <- logs(records$scan)
  block <- function(i) c(colSums(own[i, , drop = FALSE]), 0.4 * sum(i))
  by_hand <- list(sex = function() unlist(lapply(c("f", "m"), function(s) block(records$sex %in% s))),
                  both = function() {
                    cross <- expand.grid(sex = c("f", "m"), arm = c("A", "B", "C"))
                    unlist(Map(function(s, a) block(records$sex %in% s & records$arm == a), cross$sex, cross$arm))
                  }, none = function() colSums(own))
  requests <- list(sex = request_of(), both = request_of(c("sex", "arm")), none = request_of(character()))
  for (name in names(requests)) {
    q <- requests[[name]]
    v <- internal$vector_sum(q, records)
    expect_equal(v, by_hand[[name]](), tolerance = 1e-10)
    expect_length(v, internal$vector_dimension(q))
    expect_identical(internal$vector_sum(q, part(n:1)), v)
    # as rows, for units
    expect_equal(colSums(internal$vector_of(q)$rows(q, records)), v, tolerance = 1e-10)
  }
})

test_that("no record, whatever it holds, is farther from another than twice the radius, and some are", {
  edge <- mf_exp(M, CENTER, rbind(c(1, 0, 0), c(-1, 0, 0), c(0, 0.9, 0), c(0.1, 0, 0), c(0, 0, 0)))
  bad <- rbind(c(NA, 0, 1), c(0, 0, 0), c(Inf, 0, 0), c(5, 5, 5), -CENTER)
  all <- expand.grid(i = 1:10, sex = c("f", "m", NA, "other", "F", "f "), stringsAsFactors = FALSE)
  x <- list(scan = rbind(edge, bad)[all$i, ], sex = all$sex, arm = rep("A", nrow(all)), age = numeric(nrow(all)))
  for (names in list("sex", c("sex", "arm"), character())) {
    q <- request_of(names)
    v <- t(vapply(seq_len(nrow(all)), function(i) internal$vector_sum(q, part(i, x)), numeric(internal$vector_dimension(q))))
    expect_identical(internal$vector_moved(q), 0.8)
    expect_lte(max(stats::dist(v)), 0.8 * (1 + 1e-9))
    expect_gte(max(stats::dist(v)), 0.8 * (1 - 1e-9))
    expect_lte(max(sqrt(rowSums(v^2))), internal$vector_length(q) * (1 + 1e-9))
    expect_gte(max(sqrt(rowSums(v^2))), internal$vector_length(q) * (1 - 1e-9))
    # a record alone is what it is among others, and others are what they are without it
    expect_equal(colSums(v), internal$vector_sum(q, x), tolerance = 1e-9)
    rows <- internal$vector_of(q)$rows(q, x)
    expect_equal(rows, v, tolerance = 1e-9)
  }
  # two records of different groups at the edge, too
  q <- request_of()
  two <- vapply(list(c("f", "f"), c("f", "m")), function(sex) {
    one <- function(i) internal$vector_sum(q, list(scan = edge[i, , drop = FALSE], sex = sex[i]))
    sqrt(sum((one(1) - one(2))^2))
  }, 0)
  expect_equal(two, c(0.8, 0.8), tolerance = 1e-9)
})

test_that("means and sizes of groups are those in memory but for noise, and cost each site what they cost", {
  own <- logs(records$scan)
  hosts <- hosts_of()
  g <- means(remotes(hosts, shares = TRUE), 1000)
  expect_s3_class(g, "riemdp_groups")
  for (s in c("f", "m")) {
    there <- records$sex %in% s
    target <- mf_exp(M, CENTER, mf_from_coords(M, CENTER, colMeans(own[there, ])))
    expect_lt(mf_dist(M, g[[s]]$value, target), 0.01)
    expect_equal(g[[s]]$size$count, sum(there), tolerance = 0.01)
    expect_identical(g[[s]]$n, NA_real_)
    expect_identical(g[[s]]$sensitivity, 0.8)
  }
  for (host in hosts) {
    expect_equal(spent(host), guarantee(g)$mu^2, tolerance = 1e-9)
    expect_identical(summary(host$ledger)$releases[1], 1L)
    expect_match(guarantee(g)$assumptions, paste0(host$policy$site, ".*", host$hash), all = FALSE)
  }
  mu <- internal$gaussian_mu(1, 1e-6)
  for (colluding in 0:2) {
    hosts <- hosts_of()
    one <- means(remotes(hosts, shares = TRUE, colluding = colluding), 1)
    excess <- sqrt(3 / (3 - colluding))
    expect_equal(one[["f"]]$size$sd, 2 / mu * excess, tolerance = 1e-3)
    expect_equal(one[["f"]]$scale * one[["f"]]$size$points, 0.8 / mu * excess, tolerance = 1e-3)
    expect_equal(guarantee(one)$mu, mu, tolerance = 1e-9)
    expect_equal(one$draws$mu, mu, tolerance = 1e-6)
    expect_equal(spent(hosts[[2]]), mu^2 * (3 - colluding), tolerance = 1e-6)
  }
  expect_identical(guarantee(g)$label, "approx")
  expect_match(guarantee(g)$assumptions, "that in each group private", all = FALSE)
  expect_output(print(g), "also which group it is in; sizes are released with noise")
  expect_output(explain(g), "twice\\s+the\\s+radius")
  expect_output(explain(g[["m"]]), "normal noise of standard deviation")
  expect_output(explain(g[["m"]]), "in both groups that it may touch")
  crossed <- means(remotes(hosts_of(), shares = TRUE), 1000, scan ~ sex + arm, LEVELS, suppress = 40)
  table <- table(records$sex, records$arm)
  expect_setequal(crossed$suppressed, c("m:A", "m:B", "m:C")[table["m", ] < 40])
  expect_setequal(c(names(crossed$groups), crossed$suppressed), as.vector(outer(c("f", "m"), c("A", "B", "C"), paste, sep = ":")))
  expect_equal(crossed[["f:B"]]$size$count, table[["f", "B"]], tolerance = 0.05)
})

test_that("a table's points have one mean as well, whose number of records is public", {
  hosts <- hosts_of()
  r <- means(remotes(hosts, shares = TRUE), 1000, scan ~ 1, NULL)
  expect_s3_class(r, "riemdp_mean")
  expect_identical(r$n, 300)
  target <- mf_exp(M, CENTER, mf_from_coords(M, CENTER, colMeans(logs(records$scan))))
  expect_lt(mf_dist(M, r$value, target), 0.01)
  expect_equal(spent(hosts[[1]]), guarantee(r)$mu^2, tolerance = 1e-9)
  # the same noise as that of sites without tables
  plain <- do.call(sites, c(lapply(list(1:80, 81:120, 121:300), function(i) {
    site(length(i), function(request) site_answer(request, records$scan[i, ], ledger = budget()))
  }), shares = TRUE))
  other <- dp_mean(plain, M, 1000, CENTER, 0.4, delta = 1e-6, mechanism = "tangent")
  expect_identical(r$scale, other$scale)
})

test_that("its noise has the size that is stated, and its regions and intervals hold", {
  count <- if (quick()) 400 else 2000
  hosts <- lapply(letters[1:2], host_of,
                  part(1:20, list(scan = matrix(CENTER, 20, 3, byrow = TRUE), sex = rep("f", 20), arm = rep("A", 20), age = numeric(20))))
  x <- remotes(hosts, shares = TRUE, colluding = 1)
  about <- list(vector = "groups", M = M, radius = 0.4, model = model_of("sex"))
  plan <- internal$sites_plan(x$shares, about, 3, 40)
  z <- with_simulation(4, replicate(count, internal$noisy_sum(x, internal$shared_request(plan, about, M, CENTER))))
  z <- z - c(0, 0, 16, 0, 0, 0)
  # 5 standard errors: false alarms in 1e6 each
  expect_lt(abs(stats::sd(z) / (3 * sqrt(2)) - 1), 5 / sqrt(2 * 6 * count))
  expect_lt(max(abs(rowMeans(z))), 5 * 3 * sqrt(2) / sqrt(count))
  expect_lt(max(abs(stats::cor(t(z)) - diag(6))), 5.5 / sqrt(count))
  # a group of 30 whose mean lies at the edge, its number in noise that is a fifth of it, on a space where exp stretches
  H <- hyperbolic(3)
  o <- c(1, 0, 0, 0)
  ask <- list(manifold = H, center = o, ball = list(radius = 1.5), names = "a", epsilon = 1)
  a <- c(1.5, 0, 0)
  at <- mf_exp(H, o, mf_from_coords(H, o, a))
  made <- list(mechanism = "tangent", details = list(noise = "gaussian"), guarantee = list(numerics = "real-valued"))
  found <- with_simulation(7, replicate(count, {
    sd <- 6 * 1.5
    block <- c(30 * a, 30 * 1.5) + stats::rnorm(4, sd = sd)
    one <- internal$shared_group(block, list(sd = sd), made, utils::modifyList(ask, list(expected = NULL)))
    r <- c(list(value = one$value, manifold = H, radius = 1.5, solver_error = 0, size = one$size), one$plan)
    ends <- internal$size_interval(r, 0.9)
    c(mf_dist(H, one$value, at), internal$shared_group_region(r, 0.9)$radius, 30 >= ends[1] && 30 <= ends[2], one$plan$expected_error * one$size$points,
      mf_norm(H, o, mf_log(H, o, one$value)))
  }))
  held <- mean(found[1, ] <= found[2, ])
  expect_gt(held, 0.9 - 5 * sqrt(0.09 / count))
  expect_lt(abs(mean(found[3, ]) - 0.9), 5 * sqrt(0.09 / count))
  expect_lte(max(found[5, ]), 1.5 * (1 + 1e-9))
  # the quantile is that of noise in the sum and in its number together
  for (d in c(1, 2, 5)) {
    u <- with_simulation(d, sqrt(rowSums((cbind(matrix(stats::rnorm(d * 1e5), 1e5)) + cbind(stats::rnorm(1e5), matrix(0, 1e5, d - 1)))^2)))
    for (level in c(0.5, 0.95)) expect_lt(abs(mean(u <= internal$counted_quantile(d, level)) - level), 5 * sqrt(level * (1 - level) / 1e5))
  }
  # and the expected error that of draws
  flat <- euclidean(2)
  z <- with_simulation(3, matrix(stats::rnorm(4e5), ncol = 2) + cbind(stats::rnorm(2e5), 0))
  error <- internal$shared_group_error(list(manifold = flat, center = c(0, 0), ball = list(radius = 1)), 1e-3) / 1e-3
  expect_equal(error, mean(sqrt(rowSums(z^2))), tolerance = 0.03)
})

test_that("an empty group is released like any other", {
  hosts <- lapply(c("a", "b"), function(name) host_of(name, replace(part(1:50), "sex", list(rep("f", 50)))))
  for (i in 1:5) {
    g <- means(remotes(hosts, shares = TRUE), 1)
    m <- g[["m"]]
    expect_lte(mf_dist(M, CENTER, m$value), 0.4 * (1 + 1e-9))
    expect_gte(m$size$points, 1)
    expect_true(is.finite(confint(m)$radius))
    expect_output(print(g), "m")
  }
})

test_that("what a record holds changes numbers and nothing else", {
  q <- request_of(sd = 1000)
  clean <- host_of("north", part(1:50))
  odd <- list(scan = list(c(NA, 0, 1), c(0, 0, 0), c(Inf, 0, 0), c(5, 5, 5), c(0, 0, -1)), sex = list(NA, "other", "", "\xff", strrep("f", 1e5)),
              age = list(NA))
  for (name in names(odd)) {
    for (value in odd[[name]]) {
      x <- part(1:50)
      if (name == "scan") x$scan[7, ] <- value else x[[name]][7] <- value
      host <- host_of("north", x)
      expect_length(reply(host, q), 6)
      expect_equal(spent(host), 0.8^2 / 1e6, tolerance = 1e-3)
      off <- internal$vector_sum(q, host$x) - internal$vector_sum(q, part(c(1:6, 8:50)))
      expect_lte(sqrt(sum(off^2)), 0.4 * sqrt(2) * (1 + 1e-9))
    }
  }
})

test_that("what a policy doesn't have is refused before anything is paid", {
  host <- host_of("north", records, radius = 0.5, least_noise = 0.5)
  ok <- request_of(sd = 0.5 * 0.8 * (1 + 1e-9))
  change <- function(...) utils::modifyList(ok, list(...))
  expect_identical(reply(host, change(sd = 0.5 * 0.8 * (1 - 1e-9))), "noise")
  expect_identical(reply(host, change(radius = 0.51, sd = 1000)), "ball")
  expect_identical(reply(host, change(M = sphere(3))), "space")
  for (bad in list(list(model = NULL), list(M = NULL), list(center = NULL), list(at = 1), list(weight = 1), list(problem = problem_frechet(M)))) {
    expect_identical(reply(host, do.call(change, bad)), "message")
  }
  with_model <- function(...) {
    out <- ok
    given <- list(...)
    out$model[names(given)] <- given
    out
  }
  expect_identical(reply(host, with_model(responses = list("scan", "age"), y = matrix(c(0, 1, 1), 3, 2))), "message")
  expect_identical(reply(host, with_model(x = list(c(0, 1)))), "message")
  expect_identical(reply(host, with_model(x = list(list("f")))), "message")
  expect_identical(reply(host, with_model(responses = list("age"))), "columns")
  expect_identical(reply(host, with_model(predictors = list("age"))), "columns")
  expect_identical(reply(host, with_model(predictors = list("scan"))), "columns")
  expect_identical(reply(host, with_model(predictors = list("height"))), "columns")
  both <- ok
  both$model <- model_of(c("sex", "arm"))
  both$model$parts <- list(c(1, 2))
  expect_identical(reply(host, both), "message")
  many <- ok
  many$model <- model_of(c("sex", "arm"), list(sex = sprintf("s%d", 1:120), arm = sprintf("a%d", 1:120)))
  expect_identical(reply(host, many), "message")
  only <- host_of("p", records, sums = c("curve", "products"))
  expect_identical(reply(only, ok), "statistic")
  expect_identical(spent(host), 0)
  expect_identical(spent(only), 0)
  expect_length(reply(host, ok), 6)
  expect_identical(site_policy("q", M, 1, 1, columns = TYPES)$sums, c("curve", "groups", "products", "residuals"))
  expect_identical(site_policy("q", M, 1, 1, columns = TYPES["scan"])$sums, c("curve", "groups", "products", "residuals"))
  expect_error(site_policy("q", least_noise = 1, columns = TYPES["sex"], sums = "groups"), class = "riemdp_error_argument")
  # the analyst's side looks before anybody pays
  hosts <- list(host_of("a", part(1:100)), host_of("b", part(101:300), sums = "products"))
  expect_error(means(remotes(hosts, shares = TRUE), 1), "Nothing was asked", class = "riemdp_error_refused")
  expect_identical(spent(hosts[[1]]), 0)
})

test_that("what isn't to be had at sites is said by public facts", {
  x <- remotes(hosts_of(), shares = TRUE)
  unsupported <- function(...) expect_error(means(x, 1, ...), class = "riemdp_error_unsupported")
  wrong <- function(...) expect_error(means(x, 1, ...), class = "riemdp_error_argument")
  unsupported(formula = mf_project(scan, sphere(2)) ~ sex)
  unsupported(formula = scan ~ sex * arm, levels = LEVELS)
  unsupported(neighbours = "add_remove")
  unsupported(numerics = "lattice")
  wrong(levels = NULL)
  wrong(levels = list(sex = "f"))
  wrong(unit = "arm")
  wrong(by = "sex")
  expect_error(dp_mean(scan ~ sex, data = x, M = M, epsilon = 1, center = CENTER, radius = 0.4, delta = 1e-6, levels = LEVELS["sex"]),
               class = "riemdp_error_unsupported")
  expect_error(dp_mean(scan ~ sex, data = x, M = M, epsilon = 1, center = CENTER, radius = 0.4, mechanism = "tangent", levels = LEVELS["sex"]),
               "delta", class = "riemdp_error_unsupported")
  expect_error(dp_mean(scan ~ sex, data = x, epsilon = 1, center = CENTER, radius = 0.4, delta = 1e-6, mechanism = "tangent", levels = LEVELS["sex"]),
               "`M` must be given", class = "riemdp_error_argument")
  expect_error(means(remotes(hosts_of()), 1), class = "riemdp_error_unsupported")
})

test_that("a unit counts once, in parts where its records are in several groups", {
  who <- rep(sprintf("p%d", 1:100), each = 3)
  host <- site_host(site_policy("north", M, 1, 1e-6, columns = TYPES, unit = "patient"), c(records, list(patient = who)), budget())
  x <- sites(site_remote(function(text) site_reply(host, text)), shares = TRUE)
  g <- means(x, 1000)
  own <- internal$vector_of(request_of())$rows(request_of(), records)
  expected <- colSums(rowsum(own, who) / 3)
  expect_equal(g[["f"]]$size$count, expected[3] / 0.4, tolerance = 0.01)
  expect_lt(mf_dist(M, g[["m"]]$value, mf_exp(M, CENTER, mf_from_coords(M, CENTER, expected[4:5] / expected[6] * 0.4))), 0.02)
  expect_identical(guarantee(g)$unit, "patient")
  expect_output(print(g), "patient")
})

test_that("secure sums of groups have one curator's noise", {
  skip_if_not_installed("sodium")
  files <- replicate(3, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:3])
  hosts <- lapply(1:3, function(i) {
    policy <- site_policy(letters[i], M, 1, 1e-4, columns = TYPES, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i])
    site_host(policy, part((i - 1) * 100 + 1:100), budget(), identity = files[i])
  })
  mu <- internal$gaussian_mu(1, 1e-6)
  g <- means(remotes(hosts, secure = TRUE, colluding = 0), 1)
  expect_equal(g[["f"]]$size$sd, 2 / mu, tolerance = 2e-3)
  expect_equal(g[["f"]]$size$count, sum(records$sex %in% "f"), tolerance = 0.5)
  for (host in hosts) expect_equal(spent(host), mu^2, tolerance = 1e-3)
  one <- means(remotes(hosts, secure = TRUE, colluding = 0), 1, scan ~ 1, NULL)
  expect_equal(one$scale * 300, 0.8 / mu, tolerance = 2e-3)
  expect_output(explain(g[["f"]]), "added under masks")
})

test_that("what is printed of groups at sites is what was released", {
  refused <- function(class, ...) expect_error(means(remotes(hosts_of(), shares = TRUE), 1, ...), class = paste0("riemdp_error_", class))
  refused("unsupported", timing = "constant")
  refused("unsupported", calibration = "paper")
  refused("unsupported", options = list(noise = "knorm"))
  g <- means(remotes(hosts_of(), shares = TRUE), 1e-3, suppress = 1e9)
  expect_length(g$groups, 0)
  expect_output(explain(g), "one vector, which it moves")
  expect_output(print(g), "NOT the Frechet mean")
  # no farther from what it is about than the ball is wide
  g <- with_simulation(1, means(remotes(hosts_of(), shares = TRUE), 1e-3))
  for (one in g$groups) expect_lte(one$expected_error, 0.8)
  # names that can't be told apart, and too many
  columns <- c(scan = "points", a = "text", b = "text")
  x <- list(scan = records$scan[1:20, ], a = rep("a", 20), b = rep("c", 20))
  host <- site_host(site_policy("n", M, 1, 1e-6, columns = columns), x, budget())
  expect_error(means(remotes(list(host), shares = TRUE), 1, scan ~ a + b, list(a = c("a", "a:b"), b = c("c", "b:c"))), "one name, \"a:b:c\"",
               class = "riemdp_error_argument")
  expect_error(means(remotes(list(host), shares = TRUE), 1, scan ~ a, list(a = 1:600)), "at most 500 groups", class = "riemdp_error_unsupported")
  expect_error(means(remotes(list(host), shares = TRUE), 1, scan ~ a, list(a = c("m\"", "f"))), "plain letters", class = "riemdp_error_unsupported")
  # whole numbers are the text that cells are read as
  x$a <- rep(c(1e5, 2), 10)
  host <- site_host(site_policy("n", M, 1, 1e-6, columns = columns), x, budget())
  g <- means(remotes(list(host), shares = TRUE), 1000, scan ~ a, list(a = c(1e5, 2)))
  expect_identical(names(g$groups), c("100000", "2"))
  for (one in g$groups) expect_lt(abs(one$size$count - 10), 1)
})

test_that("a unit at sites is said to count in parts, and a site that fell silent is told", {
  who <- paste0("p", rep(1:150, 2))
  unit <- lapply(list(1:150, 151:300), function(i) {
    site_host(site_policy(paste0("t", i[1]), M, 1, 1e-6, columns = TYPES, unit = "patient"), part(i), budget(), unit = paste(i[1], who[i]))
  })
  g <- means(remotes(unit, shares = TRUE), 1)
  expect_output(explain(g), "counts once, in each group by the share")
  expect_output(print(g), "average over units of the")
  skip_if_not_installed("sodium")
  files <- replicate(3, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:3])
  hosts <- lapply(1:3, function(i) {
    site_host(site_policy(letters[i], M, 1, 1e-6, columns = TYPES, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]),
              part(1:100 + 100 * (i - 1)), budget(), identity = files[i])
  })
  send <- function(i) function(text) if (i == 2 && grepl("masked", text)) stop("lost") else site_reply(hosts[[i]], text)
  x <- do.call(sites, c(lapply(1:3, function(i) site_remote(send(i))), list(secure = TRUE, colluding = 0, dropouts = 1)))
  expect_output(print(means(x, 1)), "sizes and means of 2 of 3 sites")
})
