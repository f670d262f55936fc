# Sums of products of logarithms at sites that add noise: what one record moves them by, what each site pays, and what is released of them.

skip_if_not_installed("jsonlite")

internal <- asNamespace("riemdp")
M <- spd(2)
center <- diag(2)
at <- diag(c(1.3, 0.9))
records <- wishart_spd[, , 1:200]
budget <- function(epsilon = 1e6) dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp")
host_of <- function(name, x, M = spd(2), ..., least_noise = 1e-4, sums = "scatter", ledger = budget()) {
  site_host(site_policy(name, M, radius = 2, least_noise = least_noise, sums = sums, ...), x, ledger)
}
hosts_of <- function() list(host_of("north", records[, , 1:120]), host_of("south", records[, , 121:200]))
remotes <- function(hosts, ...) do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(...)))
spent <- function(host) summary(host$ledger)$spent[1]
request_of <- function(M, center, radius, ...) list(vector = "scatter", M = M, center = .Call(internal$riemdp_stored, M, center), radius = radius, ...)
coords <- function(M, center, p) as.vector(mf_coords(M, center, mf_log(M, center, p)))

test_that("a site's sum is that of records in memory, bit by bit, in every number of them", {
  spaces <- list(list(M, center, at, records), list(sphere(2), c(0, 0, 1), c(0.3, 0, sqrt(0.91)), with_simulation(1, mf_random(sphere(2), 30))),
                 list(kendall(4), exp(2i * pi * (1:4) / 4), NULL, with_simulation(1, mf_random(kendall(4), 20))))
  for (s in spaces) {
    radius <- if (identical(s[[1]], M)) 1.5 else 0.35
    # what is no point, or has no logarithm, counts as the centre in both
    a <- if (is.null(s[[3]])) numeric(mf_facts(s[[1]])$dimension) else coords(s[[1]], s[[2]], s[[3]])
    q <- request_of(s[[1]], s[[2]], radius, at = a)
    v <- internal$vector_sum(q, s[[4]])
    ask <- internal$covariance_ask(s[[1]], 100, 1, s[[2]], radius, s[[3]] %||% s[[2]], 0, "laplace")
    grid <- internal$moment_grid(100, mf_facts(s[[1]])$dimension)
    expect_identical(grid, internal$scatter_grid(mf_facts(s[[1]])$dimension))
    sum <- internal$tangent_moment(list(x = s[[4]], n = internal$records_in(s[[4]])), ask, ask$point, ask$length, grid)
    expect_identical(v, internal$symmetric_entries(sum) * ask$length^2)
    expect_length(v, internal$vector_dimension(q))
    expect_identical(internal$vector_length(q), ask$length^2)
  }
  # against products of logarithms, made another way
  near <- records[, , mf_dist(M, center, records) < 1.5, drop = FALSE]
  rows <- matrix(mf_coords(M, at, mf_log(M, at, near)), dim(near)[3])
  v <- internal$vector_sum(request_of(M, center, 1.5, at = coords(M, center, at)), near)
  S <- crossprod(rows)
  expect_equal(v, c(diag(S), sqrt(2) * S[upper.tri(S)]), tolerance = 1e-4)
  # more rows than are added up at a time: exact as long as doubles hold the sum, and then but for the last bit
  grid <- internal$scatter_grid(3)
  set.seed(2)
  k <- internal$moment_rows(matrix(stats::rnorm(30000), 10000) + 1, 2, grid)
  expect_identical(internal$scatter_matrix(k, grid), internal$moment_sum(k, grid))
  for (n in c(1, 4095, 4096, 4097, 8192)) {
    some <- k[seq_len(n), , drop = FALSE]
    expect_identical(internal$scatter_matrix(some, grid), internal$moment_sum(some, grid))
  }
  many <- k[rep(1, 2^18 + 1), ]
  expect_identical(internal$scatter_matrix(many, grid), crossprod(k[1, , drop = FALSE]) / 4^grid$bits * (2^18 + 1))
})

test_that("a replaced record moves the sum by root 2 times the squared bound, no more, and that is attained", {
  M <- euclidean(3)
  for (a in list(c(0, 0, 0), c(0.7, 0, 0), c(0, 0.6, 0.8))) {
    q <- request_of(M, c(0, 0, 0), 1.5, at = a)
    far <- 1.5 + sqrt(sum(a^2))
    expect_equal(internal$scatter_bound(q), far, tolerance = 1e-8)
    expect_gte(internal$scatter_bound(q), far)
    set.seed(3)
    worst <- longest <- 0
    for (i in 1:200) {
      x <- matrix(stats::rnorm(6) * 10^sample(-1:2, 1), 2)
      one <- internal$vector_sum(q, x[1, , drop = FALSE])
      two <- internal$vector_sum(q, x[2, , drop = FALSE])
      longest <- max(longest, sqrt(sum(one^2)))
      worst <- max(worst, sqrt(sum((one - two)^2)))
    }
    expect_lte(longest, internal$vector_length(q))
    expect_lte(worst, internal$vector_moved(q))
  }
  # orthogonal ones at the edge
  q <- request_of(M, c(0, 0, 0), 1.5)
  moved <- internal$vector_sum(q, matrix(c(1.5, 0, 0), 1)) - internal$vector_sum(q, matrix(c(0, 9, 0), 1))
  expect_equal(sqrt(sum(moved^2)), internal$vector_moved(q), tolerance = 1e-4)
  expect_equal(internal$vector_moved(q), sqrt(2) * 1.5^2, tolerance = 1e-8)
  # beside the diagonal lengths are those of the Frobenius norm
  v <- internal$vector_sum(q, matrix(c(1, 1, 0) * 1.5 / sqrt(2), 1))
  expect_equal(sqrt(sum(v^2)), 1.5^2, tolerance = 1e-4)
})

test_that("a release of sites is that of records in memory but for noise, and each site pays for the whole", {
  hosts <- hosts_of()
  r <- dp_covariance(remotes(hosts, shares = TRUE), M, 1000, center, 1.5, at = at, delta = 1e-6)
  exact <- dp_covariance(records, M, 2^20, center, 1.5, at = at, mechanism = "laplace")
  # 8 standard deviations of the largest of 6 numbers: less than 1e-13
  expect_lt(max(abs(r$moment - exact$moment)), 8 * sqrt(2) * r$noise[["sd"]] + 1e-6)
  expect_lt(r$noise[["sd"]], 1e-3)
  expect_identical(r$point, exact$point)
  expect_identical(r$length, exact$length)
  for (host in hosts) expect_equal(spent(host), guarantee(r)$mu^2, tolerance = 1e-9)
  for (host in hosts) expect_match(guarantee(r)$assumptions, paste0(host$policy$site, ".*", host$hash), all = FALSE)
  # the scale is a curator's, of all noise that is needed against all others: root 2 of it
  trusted <- dp_covariance(records, M, 1, center, 1.5, at = at, delta = 1e-6, mechanism = "gauss")
  for (colluding in 0:1) {
    one <- dp_covariance(remotes(hosts, shares = TRUE, colluding = colluding), M, 1, center, 1.5, at = at, delta = 1e-6)
    expect_equal(one$scale / trusted$scale, sqrt(2 / (2 - colluding)), tolerance = 1e-3)
    expect_equal(one$sensitivity / trusted$sensitivity, 1, tolerance = 1e-5)
    # what its draw is said to cost is what is promised
    expect_equal(one$draws$mu, guarantee(one)$mu, tolerance = 1e-9)
    expect_identical(one$details, list(sites = 2L, colluding = colluding))
  }
  expect_output(explain(one), "shares that\\s+2 sites draw")
  expect_identical(guarantee(one)$numerics, "real-valued")
  # a mean of sites and its ellipsoid
  both <- list(host_of("north", records[, , 1:120], sums = c("mean", "scatter")), host_of("south", records[, , 121:200], sums = c("mean", "scatter")))
  m <- dp_mean(remotes(both, shares = TRUE), M, 2, center, 1.5, delta = 1e-6, mechanism = "tangent")
  s <- dp_covariance(remotes(both, shares = TRUE), M, 2, center, 1.5, at = m, delta = 1e-6)
  expect_s3_class(s, "riemdp_covariance")
  expect_identical(both[[1]]$ledger$path, NULL)
  expect_equal(spent(both[[1]]), guarantee(m)$mu^2 + guarantee(s)$mu^2, tolerance = 1e-9)
})

test_that("noise has the size that is stated, entry by entry", {
  M <- euclidean(2)
  hosts <- lapply(c("a", "b", "c"), function(name) host_of(name, matrix(0.5, 20, 2), M, ledger = budget(1e9)))
  x <- remotes(hosts, shares = TRUE, colluding = 1)
  count <- if (quick()) 150 else 1000
  all <- with_simulation(4, lapply(seq_len(count), function(i) dp_covariance(x, M, 1, c(0, 0), 1, at = c(0, 0), delta = 1e-6)))
  z <- vapply(all, function(r) c(diag(r$moment), r$moment[1, 2] * sqrt(2)) - c(0.25, 0.25, 0.25 * sqrt(2)), numeric(3)) / all[[1]]$scale
  # 5 standard errors: a false alarm in 1e6
  for (i in 1:3) expect_lt(abs(stats::sd(z[i, ]) - 1), 5 / sqrt(2 * count))
  expect_lt(abs(mean(z)), 5 / sqrt(3 * count))
  size <- vapply(all, function(r) sum((r$moment - 0.25)^2), 0)
  expect_lt(abs(mean(size) / all[[1]]$expected_error^2 - 1), 5 * sqrt(2 / 3 / count))
  # by a step of each site
  expect_equal(all[[1]]$scale, sqrt(3 / 2) * sqrt(2) / internal$gaussian_mu(1, 1e-6) / 60, tolerance = 1e-4)
})

test_that("messages carry the bits, and what they cost is what they move", {
  ledger <- budget()
  host <- host_of("north", records[, , 1:120], ledger = ledger)
  q <- c(list(kernel = "noisy", sd = 7), request_of(M, center, 1.5, at = coords(M, center, at)))
  there <- with_simulation(5, site_remote(function(text) with_simulation(6, site_reply(host, text)))$ask(q))
  here <- with_simulation(6, internal$chunk_answer(c(q, private = TRUE), records[, , 1:120]))
  expect_identical(there, here)
  expect_length(here, 6)
  far <- 1.5 + sqrt(sum(q$at^2))
  expect_equal(spent(host), (sqrt(2) * far^2 / 7)^2, tolerance = 1e-8)
  expect_gte(spent(host), (sqrt(2) * far^2 / 7)^2 * (1 - 1e-12))
  answer <- site_answer(c(q, private = TRUE), records[, , 1:120], ledger = ledger, least = 7 / internal$vector_moved(q) * (1 - 1e-9))
  expect_length(answer, 6)
  expect_error(site_answer(c(q, private = TRUE), records, ledger = ledger, least = 7 / internal$vector_moved(q) * (1 + 1e-9)), class = "riemdp_error_refused")
  for (bad in list("other", 1, NA, c("mean", "scatter"))) {
    expect_error(site_answer(utils::modifyList(c(q, private = TRUE), list(vector = bad)), records, ledger = ledger), class = "riemdp_error_refused")
  }
  # in a simulation by the seed that the curator draws, one after the other; it isn't sent
  heard <- NULL
  remote <- site_remote(function(text) {
    heard <<- text
    site_reply(host, text)
  })
  expect_identical(with_simulation(5, remote$ask(c(q, seed = 6))), here)
  expect_no_match(heard, "seed")
  x <- sites(remote, remote)
  two <- with_simulation(7, list(internal$noisy_sum(x, c(q, private = TRUE)), internal$noisy_sum(x, c(q, private = TRUE)), stats::runif(1)))
  by <- with_simulation(7, floor(stats::runif(5) * 1e9))
  parts <- lapply(by[1:4], function(s) with_simulation(s, internal$chunk_answer(c(q, private = TRUE), records[, , 1:120])))
  expect_identical(two[1:2], list(parts[[1]] + parts[[2]], parts[[3]] + parts[[4]]))
  expect_identical(floor(two[[3]] * 1e9), by[5])
})

test_that("what a policy doesn't have is refused before anything is paid", {
  ledger <- budget()
  host <- host_of("north", records[, , 1:120], ledger = ledger, least_noise = 0.5, sums = c("mean", "scatter"))
  a <- coords(M, center, at)
  moved <- internal$vector_moved(request_of(M, center, 1.5, at = a))
  reply <- function(host, ...) {
    fields <- utils::modifyList(list(M = M, center = c(1, 0, 0, 1), radius = 1.5, sd = moved, vector = "scatter", at = a), list(...))
    text <- wire_write("request", id = internal$random_id(), policy = host$hash, statistic = "noisy", fields = lapply(fields, wire_value))
    m <- wire_read(site_reply(host, text))
    if (m$type == "refusal") m$reason else ""
  }
  expect_identical(reply(host_of("north", records, sums = c("gradient", "mean"))), "statistic")
  expect_identical(reply(host, sd = 0.5 * moved * (1 - 1e-9)), "noise")
  expect_identical(reply(host, radius = 2.1, sd = 1e3), "ball")
  expect_identical(reply(host, at = c(1.2, 1.2, 1.2), sd = 1e3), "ball") # a point outside the ball
  expect_identical(reply(host, at = c(0.1, 0.1)), "message")
  expect_identical(reply(host, at = numeric(0)), "message")
  expect_identical(reply(host, at = "a"), "message")
  expect_identical(reply(host, vector = "mean"), "message")
  expect_identical(reply(host, problem = problem_huber(M, 1)), "message")
  expect_identical(spent(host), 0)
  expect_identical(reply(host, sd = 0.5 * moved * (1 + 1e-9)), "")
  expect_identical(reply(host, at = NULL), "")
  expect_error(site_policy("n", M, 2, 0.5, sums = "other"), "scatter", class = "riemdp_error_argument")
  policy <- site_policy("n", M, 2, 0.5, sums = c("scatter", "mean"))
  expect_identical(policy$sums, c("mean", "scatter"))
  expect_identical(internal$parse_policy(policy_text(policy)), policy)
})

test_that("calls that sites don't serve are refused before anything is paid", {
  hosts <- hosts_of()
  run <- function(x = remotes(hosts, shares = TRUE), ..., delta = 1e-6) dp_covariance(x, M, 1, center, 1.5, at = at, delta = delta, ...)
  unsupported <- function(...) expect_error(run(...), class = "riemdp_error_unsupported")
  unsupported(delta = 0)
  unsupported(mechanism = "laplace")
  unsupported(mechanism = "wishart")
  unsupported(unit = rep(1:100, 2))
  unsupported(neighbours = "add_remove")
  unsupported(remotes(hosts))
  unsupported(chunks(records, 50))
  expect_identical(vapply(hosts, spent, 0), c(0, 0))
  lying <- sites(site(120, function(request) c(1, 2, 3)), shares = TRUE)
  expect_error(run(lying), class = "riemdp_error_chunk")
})

test_that("a secure sum of products is one curator's noise, and its sites pay for it", {
  skip_if_not_installed("sodium")
  make <- function(k, colluding = 0) {
    files <- replicate(k, tempfile())
    keys <- stats::setNames(vapply(files, site_key, ""), paste0("s", seq_len(k)))
    lapply(seq_len(k), function(i) {
      site_host(site_policy(names(keys)[i], M, 2, 1e-4, sums = "scatter", trust = "secure", least_sites = 2, colluding = colluding, partners = keys[-i]),
                records[, , 20 * (i - 1) + 1:20], budget(1e9), identity = files[i])
    })
  }
  run <- function(hosts, epsilon, ..., lost = function(i, text) FALSE) {
    x <- do.call(sites, c(lapply(seq_along(hosts), function(i) {
      site_remote(function(text) if (lost(i, text)) stop("lost") else site_reply(hosts[[i]], text))
    }), list(secure = TRUE, colluding = 0, ...)))
    dp_covariance(x, M, epsilon, center, 1.5, at = at, delta = 1e-6)
  }
  exact <- function(which) dp_covariance(records[, , which], M, 2^20, center, 1.5, at = at, mechanism = "laplace")$moment
  hosts <- make(3)
  r <- run(hosts, 1000)
  expect_lt(max(abs(r$moment - exact(1:60))), 8 * sqrt(2) * r$noise[["sd"]] + 1e-5)
  expect_lt(r$noise[["sd"]], 0.01)
  one <- run(hosts, 1)
  trusted <- dp_covariance(records[, , 1:60], M, 1, center, 1.5, at = at, delta = 1e-6, mechanism = "gauss")
  expect_equal(one$scale / trusted$scale, 1, tolerance = 0.003)
  for (host in hosts) {
    expect_equal(spent(host), guarantee(r)$mu^2 + guarantee(one)$mu^2, tolerance = 5e-3)
    expect_lte(spent(host), guarantee(r)$mu^2 + guarantee(one)$mu^2)
  }
  expect_equal(one$draws$mu, guarantee(one)$mu, tolerance = 1e-3)
  expect_output(explain(one), "nobody\\s+sees\\s+one")
  expect_match(guarantee(one)$assumptions, "computational", all = FALSE)
  # noise, drawn anew, of the size that is stated
  count <- if (quick()) 40 else 200
  all <- with_simulation(7, lapply(seq_len(count), function(i) run(hosts, 1)))
  size <- vapply(all, function(r) sum((r$moment - exact(1:60))^2), 0) / one$expected_error^2
  expect_lt(abs(mean(size) - 1), 5 * sqrt(2 / 6 / count))
  # one that falls silent takes its records along
  hosts <- make(4)
  gone <- run(hosts, 1000, dropouts = 1, lost = function(i, text) i == 2 && identical(wire_read(text)$statistic, "masked"))
  expect_identical(gone$n, 60)
  # and its noise
  expect_equal(gone$scale / run(make(4), 1000, dropouts = 1)$scale, sqrt(3 / 4) * 80 / 60, tolerance = 1e-9)
  expect_identical(gone$details$alive, 3L)
  expect_lt(max(abs(gone$moment - exact(c(1:20, 41:80)))), 8 * sqrt(2) * gone$noise[["sd"]] + 1e-5)
  expect_output(print(gone), "3 of 4 sites")
  # all sites see where products are taken
  hosts <- make(3)
  changed <- lapply(1:3, function(i) {
    site_remote(function(text) {
      m <- wire_read(text)
      if (i == 2 && identical(m$statistic, "join")) {
        m$fields$at <- m$fields$at / 2
        text <- wire_write("request", id = m$id, policy = m$policy, statistic = "join", fields = lapply(m$fields, wire_value))
      }
      site_reply(hosts[[i]], text)
    })
  })
  x <- do.call(sites, c(changed, list(secure = TRUE, colluding = 0)))
  expect_error(dp_covariance(x, M, 1, center, 1.5, at = at, delta = 1e-6), "trust|partner", class = "riemdp_error_refused")
  expect_identical(vapply(hosts, spent, 0), c(0, 0, 0))
})
