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
  other <- site_remote(function(text) site_reply(host_of("south", records[, , 1:120], ledger = ledger), text))
  x <- sites(remote, other)
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

# ---- directions ----------------------------------------------------------------------------------------------------------------------------------

sums <- c("mean", "scatter")
both_hosts <- function(...) list(host_of("north", records[, , 1:120], sums = sums, ...), host_of("south", records[, , 121:200], sums = sums, ...))
# what rounding rows makes of the squared bound
stretched <- function(r) (r$length * internal$scatter_grid(nrow(r$components$loadings))$stretch)^2

test_that("directions of sites are those of records in memory but for noise, at a public point, a released one and one of their own", {
  hosts <- both_hosts(ledger = budget(1e9))
  x <- remotes(hosts, shares = TRUE)
  exact <- function(at) dp_pga(records, M, 2^20, center, 1.5, at = at, mechanism = "laplace", q = 2)
  same <- function(r, e) {
    expect_identical(r$value$mean, e$value$mean)
    expect_identical(r$length, e$length)
    # 8 standard deviations of the largest of 6 numbers
    expect_lt(max(abs(r$components$moment - e$components$moment)), 8 * sqrt(2) * r$components$noise$sd * r$components$noise$unit + 1e-5)
    expect_equal(abs(colSums(r$components$loadings * e$components$loadings)), c(1, 1), tolerance = 1e-3)
    expect_equal(r$sd, e$sd, tolerance = 1e-2)
    expect_equal(r$shares, e$shares, tolerance = 1e-2)
    expect_identical(r$n, 200)
  }
  run <- function(...) dp_pga(x, M, 1e5, center, 1.5, delta = 1e-6, q = 2, ...)
  r <- run(at = at)
  same(r, exact(at))
  expect_identical(r$from, "at")
  expect_null(r$mean_release)
  m <- dp_mean(records, M, 1, center, 1.5, mechanism = "wrapped")
  same(run(at = m), exact(m))
  # its own: the mean of logarithms, then products there
  r <- run()
  mean <- r$mean_release
  expect_identical(r$from, "mean")
  expect_identical(mean$mechanism, "tangent")
  trusted <- dp_mean(records, M, 1e5, center, 1.5, mechanism = "tangent", delta = 1e-6)
  expect_lt(mf_dist(M, mean$value, trusted$value), 1e-3)
  expect_lt(mf_dist(M, r$value$mean, mean$value), 1e-9)
  same(r, exact(mean$value))
  # further geometry: the sphere, complex shapes, a product
  spaces <- list(list(sphere(2), c(0, 0, 1), with_simulation(1, mf_random(sphere(2), 30))),
                 list(kendall(4), exp(2i * pi * (1:4) / 4), with_simulation(1, mf_random(kendall(4), 20))))
  for (s in spaces) {
    host <- host_of("one", s[[3]], s[[1]], sums = sums, ledger = budget(1e9))
    r <- dp_pga(remotes(list(host), shares = TRUE), s[[1]], 1e5, s[[2]], 0.35, delta = 1e-6)
    e <- dp_pga(s[[3]], s[[1]], 2^20, s[[2]], 0.35, at = r$mean_release$value, mechanism = "laplace")
    expect_identical(r$value$mean, e$value$mean)
    expect_lt(max(abs(r$components$moment - e$components$moment)), 8 * sqrt(2) * r$components$noise$sd * r$components$noise$unit + 1e-5)
  }
})

test_that("both parts of a geodesic analysis are one normal release, of which each site pays all", {
  for (colluding in 0:1) {
    hosts <- both_hosts()
    x <- remotes(hosts, shares = TRUE, colluding = colluding)
    r <- dp_pga(x, M, 3, center, 1.5, delta = 1e-6, share = 0.3)
    mu <- internal$gaussian_mu(3, 1e-6)
    expect_equal(guarantee(r)$mu, mu, tolerance = 1e-8)
    expect_lte(guarantee(r)$mu, mu)
    expect_identical(guarantee(r)[c("epsilon", "delta", "numerics")], list(epsilon = 3, delta = 1e-6, numerics = "real-valued"))
    expect_equal(r$draws$mu, sqrt(c(0.3, 0.7)) * mu, tolerance = 1e-8)
    # a single site's sum carries less where sites may not collude, and costs more
    for (host in hosts) expect_equal(spent(host), guarantee(r)$mu^2 * (2 - colluding), tolerance = 1e-8)
    # closed forms
    sensitivity <- sqrt(2) * stretched(r) / 200
    expect_equal(r$components$sensitivity, sensitivity, tolerance = 1e-12)
    expect_equal(r$components$scale, sensitivity / (sqrt(0.7) * mu) * sqrt(2 / (2 - colluding)), tolerance = 1e-8)
    expect_equal(r$components$noise$sd * r$components$noise$unit, r$components$scale / sqrt(2), tolerance = 1e-12)
    expect_equal(r$mean_release$scale, 2 * 1.5 / 200 / (sqrt(0.3) * mu) * sqrt(2 / (2 - colluding)), tolerance = 1e-8)
    lost <- internal$component_lost(200 * 0.1, list(mechanism = "gauss", sd = r$components$noise$sd), list(d = 3, q = 1))
    expect_equal(r$expected_error, lost * 0.1 * r$length^2, tolerance = 1e-8)
    expect_identical(r$components$details, list(sites = 2L, colluding = colluding))
  }
  # a curator's ledger takes the same
  own <- budget()
  hosts <- both_hosts()
  r <- dp_pga(remotes(hosts, shares = TRUE), M, 3, center, 1.5, delta = 1e-6, ledger = own)
  expect_equal(summary(own)$spent[1], spent(hosts[[1]]), tolerance = 1e-8)
  # at a public point there is one part
  hosts <- both_hosts()
  r <- dp_pga(remotes(hosts, shares = TRUE), M, 3, center, 1.5, delta = 1e-6, at = at)
  expect_equal(spent(hosts[[2]]), guarantee(r)$mu^2, tolerance = 1e-8)
  expect_equal(r$components$scale, sqrt(2) * stretched(r) / 200 / guarantee(r)$mu * sqrt(2), tolerance = 1e-8)
  # sites that answer functions, not messages
  ledger <- budget()
  plain <- sites(site(120, function(request) site_answer(request, records[, , 1:120], ledger = ledger)), shares = TRUE)
  r <- dp_pga(plain, M, 3, center, 1.5, delta = 1e-6)
  expect_equal(summary(ledger)$spent[1], guarantee(r)$mu^2, tolerance = 1e-8)
})

test_that("what a geodesic analysis of sites says of its noise is so", {
  hosts <- both_hosts()
  r <- dp_pga(remotes(hosts, shares = TRUE), M, 3, center, 1.5, delta = 1e-6)
  for (host in hosts) expect_match(guarantee(r)$assumptions, paste0(host$policy$site, ".*", host$hash), all = FALSE)
  expect_match(guarantee(r)$assumptions, "adds its share of the noise as asked", all = FALSE)
  expect_match(guarantee(r)$assumptions, "whose squares add up", all = FALSE)
  expect_identical(r$theorem, "proofs/subspaces.md, section 11")
  words <- gsub("\\s+", " ", paste(capture.output(explain(r)), collapse = " "))
  expect_length(gregexpr("made up of shares that 2 sites draw and add, so large that it holds against 1 of them", words)[[1]], 2) # of each part
  expect_match(words, "NOT the Frechet mean")
  expect_match(words, "normal noise on the second-moment matrix, made up of shares that 2 sites draw")
  expect_match(words, sprintf("by at most %.6g \\(proofs/subspaces.md, section 11\\)", r$components$sensitivity))
  expect_no_match(words, "integer arithmetic")
  expect_output(print(r), "private mean (tangent: exp of the mean of logarithms at the centre)", fixed = TRUE)
  expect_output(print(r), "real-number model")
  expect_identical(summary(r)$n, 200)
  expect_s3_class(tidy(r), "data.frame")
  there <- dp_pga(remotes(hosts, shares = TRUE), M, 3, center, 1.5, delta = 1e-6, at = at)
  for (host in hosts) expect_match(guarantee(there)$assumptions, paste0(host$policy$site, ".*", host$hash), all = FALSE)
  expect_match(guarantee(there)$assumptions, "adds its share of the noise as asked", all = FALSE)
  # nothing that holds records or can reach them
  expect_false(internal$holds_code(unclass(r)[setdiff(names(r), c("manifold", "guarantee"))]))
})

test_that("the shares' noise spreads no farther than the bound of an angle takes it to", {
  M <- euclidean(3)
  hosts <- lapply(c("a", "b", "c"), function(name) host_of(name, matrix(c(0.5, 0, 0), 20, 3, byrow = TRUE), M, sums = sums, ledger = budget(1e9)))
  x <- remotes(hosts, shares = TRUE, colluding = 1)
  count <- if (quick()) 120 else 1000
  all <- with_simulation(4, lapply(seq_len(count), function(i) dp_pga(x, M, 2, c(0, 0, 0), 1, at = c(0, 0, 0), delta = 1e-6)))
  f <- all[[1]]$components
  truth <- diag(c(0.25, 0, 0))
  z <- vapply(all, function(r) internal$symmetric_entries(r$components$moment - truth), numeric(6)) / f$scale
  # 5 standard errors: a false alarm in 1e6
  for (i in 1:6) expect_lt(abs(stats::sd(z[i, ]) - 1), 5 / sqrt(2 * count))
  expect_lt(abs(mean(z)), 5 / sqrt(6 * count))
  # the bound is that of normal noise of this size, and a little for steps
  s <- f$noise$spread
  expect_gte(s$sd, f$noise$sd)
  expect_lt(s$sd, 1.001 * f$noise$sd)
  steps <- internal$noise_steps(c(request_of(M, c(0, 0, 0), 1), sd = 1), f$noise$sd * sqrt(2) / sqrt(3) / sqrt(2), 20)
  expect_equal(s$rounding, 3 * steps$step * (8 * sqrt(6) + 40), tolerance = 1e-6)
  for (level in c(0.5, 0.95)) {
    h <- internal$noise_spread("gauss", f$noise, 3, level)
    noises <- vapply(all, function(r) max(abs(eigen(r$components$moment - truth, TRUE, TRUE)$values)), 0) / f$noise$unit
    expect_lte(mean(noises > h), 1 - level + 5 * sqrt(level * (1 - level) / count))
    trusted <- list(sd = s$sd, fine = 60, lattice = TRUE)
    expect_equal(h, internal$noise_spread("gauss", trusted, 3, level) + s$rounding, tolerance = 1e-12)
  }
  # angles hold, and say something where noise is small
  strong <- with_simulation(5, lapply(1:10, function(i) dp_pga(x, M, 500, c(0, 0, 0), 1, at = c(0, 0, 0), delta = 1e-6)))
  for (r in strong) {
    expect_lte(acos(min(1, abs(r$components$loadings[1]))), confint(r)[2])
    expect_lt(confint(r)[2], 0.3)
  }
})

test_that("rows at sites have principal components as rows in memory, and no row changes more than the noise allows", {
  X <- with_simulation(3, matrix(stats::rnorm(600), 150) * rep(c(1, 0.6, 0.3, 0.1), each = 150))
  types <- c(a = "number", b = "number", c = "number", d = "number")
  ledgers <- list(budget(1e9), budget(1e9))
  at_sites <- function(X, ..., columns = types) {
    sites(site(100, function(request) site_answer(request, X[1:100, ], ledger = ledgers[[1]])),
          site(50, function(request) site_answer(request, X[101:150, ], ledger = ledgers[[2]])), ..., columns = columns)
  }
  r <- dp_pca(at_sites(X, shares = TRUE), 2, 1e5, 1e-6, bound = 2)
  e <- dp_pca(X, 2, 2^20, bound = 2, mechanism = "laplace")
  expect_s3_class(r, c("riemdp_components", "riemdp_pca", "riemdp_release"), exact = TRUE)
  expect_lt(max(abs(r$moment - e$moment)), 8 * sqrt(2) * r$noise$sd * r$noise$unit + 1e-5)
  expect_equal(abs(unname(colSums(r$loadings * e$loadings))), c(1, 1), tolerance = 1e-4)
  expect_identical(rownames(r$loadings), names(types))
  expect_identical(r[c("n", "bound", "mechanism")], list(n = 150, bound = 2, mechanism = "gauss"))
  expect_identical(r$manifold, grassmann(4, 2))
  one <- dp_pca(at_sites(X, shares = TRUE, colluding = 0), 1, 1, 1e-6, bound = 2)
  mu <- internal$gaussian_mu(1, 1e-6)
  expect_equal(guarantee(one)$mu, mu, tolerance = 1e-8)
  for (ledger in ledgers) expect_equal(summary(ledger)$spent[1], guarantee(r)$mu^2 + 2 * mu^2, tolerance = 1e-8)
  moved <- sqrt(2) * 4 * internal$scatter_grid(4)$stretch^2 / 150
  expect_equal(one$sensitivity, moved, tolerance = 1e-8)
  expect_equal(one$scale, moved / mu, tolerance = 1e-8)
  expect_match(guarantee(one)$assumptions, "bound and number of columns are public", all = FALSE)
  expect_output(explain(one), "shares\\s+that\\s+2\\s+sites\\s+draw")
  expect_output(print(one), "2 sites|150 records")
  expect_lt(confint(dp_pca(at_sites(X, shares = TRUE), 1, 1e3, 1e-6, bound = 2))[2], 0.5)
  # a row that holds no numbers counts as 0, whatever is in it: the same bits as a row of zeros
  changed <- function(row) {
    Y <- X
    Y[7, ] <- row
    with_simulation(9, dp_pca(at_sites(Y, shares = TRUE), 1, 1, 1e-6, bound = 2))
  }
  zero <- changed(0)
  for (row in list(NA, c(1, NA, 0, 0), Inf, c(-Inf, 1, 1, 1), NaN)) expect_identical(changed(row), zero)
  expect_identical(changed(c(30, 0, 0, 0))$moment, changed(c(3, 0, 0, 0))$moment) # shortened
  # of one table text can stand in
  table <- as.data.frame(X[1:100, ])
  table[[2]] <- as.character(table[[2]])
  ask <- function(x, i) function(request) site_answer(request, x, ledger = ledgers[[i]])
  typed <- function(x) {
    there <- sites(site(100, ask(x, 1)), site(50, ask(X[101:150, ], 2)), shares = TRUE, columns = types)
    with_simulation(9, dp_pca(there, 1, 1, 1e-6, bound = 2))
  }
  expect_equal(typed(table)$moment, typed(X[1:100, ])$moment, tolerance = 1e-5)
  table[[2]][7] <- "none"
  expect_identical(class(typed(table)), class(one))
})

test_that("how many columns sites' rows have is said, or the one that all policies have", {
  rows <- matrix(0.1, 60, 3)
  host <- function(name, spaces, sums = "scatter") site_host(site_policy(name, spaces, 2, 1e-4, sums = sums), rows, budget())
  run <- function(hosts, ..., columns = NULL) dp_pca(remotes(hosts, shares = TRUE, columns = columns), 1, 1, 1e-6, bound = 1, ...)
  threes <- c(x = "number", y = "number", z = "number")
  r <- run(list(host("a", euclidean(3)), host("b", list(sphere(2), euclidean(3)))))
  expect_identical(dim(r$loadings), c(3L, 1L))
  expect_null(rownames(r$loadings))
  # of several the one that all have
  width <- function(...) {
    policies <- lapply(list(...), function(spaces) if (!is.null(spaces)) list(spaces = spaces))
    x <- sites(site(1, identity), site(1, identity), shares = TRUE)
    for (i in 1:2) x$pieces[[i]]$policy <- policies[[i]]
    internal$site_width(x)
  }
  expect_equal(width(list(euclidean(3), euclidean(1)), list(sphere(4), euclidean(3), euclidean(4))), 3)
  expect_equal(width(list(euclidean(3)), NULL), 3) # a site without a policy says nothing
  refused <- function(...) expect_error(width(...), "columns", class = "riemdp_error_argument")
  refused(list(euclidean(3)), list(euclidean(4)))
  refused(list(euclidean(3), euclidean(1)), NULL)
  refused(list(euclidean(3)), list(sphere(2)))
  refused(NULL, NULL)
  host_one <- list(host("a", list(sphere(2), euclidean(3))))
  expect_identical(rownames(run(host_one, columns = threes)$loadings), names(threes))
  none <- sites(site(60, function(request) stop("asked")), shares = TRUE)
  expect_error(dp_pca(none, 1, 1, 1e-6, bound = 1), "columns", class = "riemdp_error_argument")
  host_one <- list(host("a", list(sphere(2), euclidean(3))))
  expect_error(run(host_one, columns = c(x = "number", y = "text")), "numbers", class = "riemdp_error_argument")
  expect_error(run(host_one, columns = c("x", "y")), class = "riemdp_error_argument")
  # what is said and no policy has isn't asked
  expect_error(run(host_one, columns = c(x = "number", y = "number")), "this manifold", class = "riemdp_error_refused")
  expect_identical(spent(host_one[[1]]), 0)
  # a trusted curator's gradient steps know it the same way
  X <- with_simulation(3, matrix(stats::rnorm(450), 150))
  told <- sites(site(90, function(request) site_answer(request, X[1:90, ], "sums")), site(60, function(request) site_answer(request, X[91:150, ], "sums")),
                columns = threes)
  steps <- function(x) with_simulation(2, dp_pca(x, 1, 1, 1e-6, bound = 2, steps = 5))
  expect_identical(steps(told)$value, steps(chunks(X, 40))$value)
  expect_match(guarantee(steps(told))$assumptions, "trusted", all = FALSE)
})

test_that("directions that sites don't serve are refused before anything is paid", {
  hosts <- both_hosts(least_noise = 0.5)
  run <- function(x = remotes(hosts, shares = TRUE), ..., delta = 1e-6) dp_pga(x, M, 1, center, 1.5, delta = delta, ...)
  refused <- function(class, ..., words = NULL) expect_error(run(...), words, class = paste0("riemdp_error_", class))
  refused("unsupported", delta = 0)
  refused("unsupported", delta = 0, at = at)
  for (mechanism in c("laplace", "wishart", "bingham")) refused("unsupported", mechanism = mechanism, words = "normal noise")
  refused("unsupported", from = "center", words = "center")
  refused("unsupported", mean_mechanism = "wrapped", words = "tangent")
  refused("unsupported", mean_mechanism = 1)
  refused("unsupported", unit = rep(1:100, 2), words = "unit")
  refused("unsupported", neighbours = "add_remove", words = "add_remove")
  refused("unsupported", remotes(hosts), words = "add noise")
  refused("unsupported", chunks(records, 50), words = "add noise")
  refused("argument", share = 2)
  refused("argument", q = 3)
  refused("argument", at = at, share = 0.2)
  # what the second site's policy lacks is told before the first one pays, of the second request too
  other <- function(sums, M = spd(2), radius = 2, least_noise = 0.5) {
    list(hosts[[1]], site_host(site_policy("south", M, radius, least_noise, sums = sums), records[, , 121:200], budget()))
  }
  one <- function(...) remotes(other(...), shares = TRUE)
  refused("refused", one("mean"), words = "\"south\": the site's policy doesn't have this statistic")
  refused("refused", one("mean"), at = at)
  refused("refused", one("scatter"))
  expect_identical(spent(hosts[[1]]), 0)
  expect_s3_class(run(one("scatter"), at = at), "riemdp_pga")
  paid <- spent(hosts[[1]])
  expect_gt(paid, 0)
  refused("refused", one(sums, M = spd(2, "logeuclidean")), words = "manifold")
  refused("refused", one(sums, radius = 1), words = "ball")
  # each part has its own multiplier: the whole has 4.2, directions with a 2nd of mu^2 root 2 times it
  mu <- internal$gaussian_mu(1, 1e-6)
  refused("refused", one(sums, least_noise = 1.001 / (sqrt(0.5) * mu)), share = 0.5, words = "noise")
  refused("refused", one(sums, least_noise = 1.001 / (sqrt(0.85) * mu)), words = "noise")
  expect_error(dp_covariance(one("mean"), M, 1, center, 1.5, at = at, delta = 1e-6), "statistic", class = "riemdp_error_refused")
  expect_identical(spent(hosts[[1]]), paid)
  expect_s3_class(run(one(sums, least_noise = 0.999 / (sqrt(0.85) * mu))), "riemdp_pga")
  # components
  X <- matrix(0.1, 60, 3)
  ledger <- budget()
  x <- function(...) sites(site(60, function(request) site_answer(request, X, ledger = ledger)), ..., columns = c(a = "number", b = "number", c = "number"))
  pca <- function(..., delta = 1e-6, shared = TRUE) dp_pca(x(shares = shared), 1, 1, delta, bound = 1, ...)
  refuses <- function(..., words = NULL) expect_error(pca(...), words, class = "riemdp_error_unsupported")
  refuses(mechanism = "rgd", words = "one sum of products")
  refuses(steps = 5, words = "one sum of products")
  for (mechanism in c("laplace", "wishart", "bingham")) refuses(mechanism = mechanism, words = "normal noise")
  refuses(delta = 0)
  refuses(unit = rep(1:30, 2), words = "unit")
  refuses(neighbours = "add_remove", words = "add_remove")
  refuses(mechanism = "gauss", shared = FALSE)
  expect_identical(summary(ledger)$spent[1], 0)
  # a matrix that no message holds
  wide <- host_of("wide", matrix(0, 60, 3000), euclidean(3000))
  expect_error(dp_pca(remotes(list(wide), shares = TRUE), 1, 1, 1e-6, bound = 1), "doesn't fit", class = "riemdp_error_unsupported")
  expect_identical(spent(wide), 0)
  # an answer that is none
  lying <- sites(site(120, function(request) c(1, 2)), shares = TRUE)
  expect_error(run(lying), class = "riemdp_error_chunk")
})

test_that("where a site's budget isn't told and ends the others have paid for each request once", {
  start <- function(limit) { # an epsilon
    list(host_of("north", records[, , 1:120], sums = sums), host_of("south", records[, , 121:200], sums = sums, ledger = budget(limit)))
  }
  mu <- internal$gaussian_mu(3, 1e-6)
  # what is left there isn't told, as where others spend from the same ledger meanwhile
  silent <- function(hosts) {
    do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) if (grepl("\"ledger\"", text)) stop("lost") else site_reply(h, text))),
                     list(shares = TRUE)))
  }
  run <- function(hosts) {
    expect_silent(expect_error(dp_pga(silent(hosts), M, 3, center, 1.5, delta = 1e-6), "budget", class = "riemdp_error_refused"))
  }
  hosts <- start(0.9) # not even for the mean
  run(hosts)
  expect_equal(vapply(hosts, spent, 0), c(0.15 * mu^2, 0), tolerance = 1e-8)
  expect_error(dp_mean(silent(hosts), M, 3, center, 1.5, delta = 1e-6, mechanism = "tangent"), "budget", class = "riemdp_error_refused")
  expect_equal(spent(hosts[[1]]), 1.15 * mu^2, tolerance = 1e-8)
  hosts <- start(2) # for the mean alone
  run(hosts)
  expect_equal(vapply(hosts, spent, 0), c(1, 0.15) * mu^2, tolerance = 1e-8)
  # where it is told nobody pays
  hosts <- start(2)
  expect_error(dp_pga(remotes(hosts, shares = TRUE), M, 3, center, 1.5, delta = 1e-6), "Nothing was asked", class = "riemdp_error_budget")
  expect_identical(vapply(hosts, spent, 0), c(0, 0))
})

test_that("secure sums give directions with one curator's noise; who falls silent takes records and noise along", {
  skip_if_not_installed("sodium")
  make <- function(k, space = M, part = function(i) records[, , 20 * (i - 1) + 1:20], sums = c("mean", "scatter")) {
    files <- replicate(k, tempfile())
    keys <- stats::setNames(vapply(files, site_key, ""), paste0("s", seq_len(k)))
    lapply(seq_len(k), function(i) {
      policy <- site_policy(names(keys)[i], space, 2, 0.01, sums = sums, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i])
      site_host(policy, part(i), budget(1e9), identity = files[i])
    })
  }
  masked <- function(text) identical(wire_read(text)$statistic, "masked")
  join <- function(hosts, ..., lost = function(i, text) FALSE) {
    do.call(sites, c(lapply(seq_along(hosts), function(i) {
      site_remote(function(text) if (lost(i, text)) stop("lost") else site_reply(hosts[[i]], text))
    }), list(secure = TRUE, colluding = 0, ...)))
  }
  hosts <- make(3)
  r <- dp_pga(join(hosts), M, 4, center, 1.5, delta = 1e-6)
  mu <- internal$gaussian_mu(4, 1e-6)
  expect_equal(guarantee(r)$mu, mu, tolerance = 1e-8)
  expect_equal(r$draws$mu, sqrt(c(0.15, 0.85)) * mu, tolerance = 1e-3)
  for (host in hosts) {
    expect_equal(spent(host), guarantee(r)$mu^2, tolerance = 5e-3)
    expect_lte(spent(host), guarantee(r)$mu^2)
  }
  # one curator's
  expect_equal(r$components$scale, sqrt(2) * stretched(r) / 60 / (sqrt(0.85) * mu), tolerance = 3e-3)
  expect_match(guarantee(r)$assumptions, "computational", all = FALSE)
  expect_output(explain(r), "nobody\\s+sees\\s+one")
  # silent in the sum of products alone: the mean is of all
  hosts <- make(4)
  seen <- 0
  x <- join(hosts, dropouts = 1, lost = function(i, text) {
    if (i == 2 && masked(text)) seen <<- seen + 1
    i == 2 && masked(text) && seen == 2
  })
  gone <- dp_pga(x, M, 1000, center, 1.5, delta = 1e-6)
  expect_identical(gone$n, 60)
  expect_identical(gone$mean_release$n, 80)
  expect_identical(gone$components$details$alive, 3L)
  expect_identical(gone$mean_release$details$alive, 4L)
  exact <- dp_pga(records[, , c(1:20, 41:80)], M, 2^20, center, 1.5, at = gone$mean_release$value, mechanism = "laplace")
  expect_lt(max(abs(gone$components$moment - exact$components$moment)), 8 * sqrt(2) * gone$components$noise$sd * gone$components$noise$unit + 1e-4)
  expect_output(print(gone), "of 3 of 4 sites")
  expect_no_match(capture.output(print(gone)), "the mean is")
  expect_equal(gone$components$sensitivity, sqrt(2) * stretched(gone) / 60, tolerance = 1e-9)
  # three shares of the four
  expect_equal(gone$components$scale, sqrt(2) * stretched(gone) / 60 / (sqrt(0.85) * guarantee(gone)$mu), tolerance = 5e-3)
  expect_equal(gone$components$noise$spread$sd, gone$components$noise$sd, tolerance = 1e-9)
  expect_lt(confint(gone)[2], 0.5)
  early <- dp_pga(join(make(4), dropouts = 1, lost = function(i, text) i == 2 && masked(text)), M, 1000, center, 1.5, delta = 1e-6)
  expect_identical(c(early$n, early$mean_release$n), c(60, 60))
  expect_output(print(early), "the mean is of 3 of 4 sites")
  # rows, whose policies say how wide they are; a policy that doesn't sum products is told before any site pays
  rows <- with_simulation(3, matrix(stats::rnorm(180), 60) * rep(c(1, 0.5, 0.2), each = 60))
  third <- function(i) rows[20 * (i - 1) + 1:20, ]
  p <- dp_pca(join(make(3, euclidean(3), third)), 1, 1000, 1e-6, bound = 2)
  expect_equal(abs(sum(p$loadings * dp_pca(rows, 1, 2^20, bound = 2, mechanism = "laplace")$loadings)), 1, tolerance = 1e-3)
  expect_identical(p$n, 60)
  hosts <- make(3, sums = "mean")
  expect_error(dp_pga(join(hosts), M, 4, center, 1.5, delta = 1e-6), "Nothing was asked", class = "riemdp_error_refused")
  expect_identical(vapply(hosts, spent, 0), c(0, 0, 0))
  # and so are its terms: a multiplier, and how many may collude
  other <- function(...) lapply(hosts, function(h) {
    policy <- utils::modifyList(h$policy, list(sums = c("mean", "scatter"), ...))
    site_host(policy, h$x, h$ledger, identity = internal$hex_bytes(h$identity))
  })
  loud <- other(least_noise = 10)
  expect_error(dp_pga(join(loud), M, 4, center, 1.5, delta = 1e-6), "noise is less", class = "riemdp_error_refused")
  # the mean has a multiplier of 3.1, directions one of 1.3: the mean isn't paid for in vain
  expect_error(dp_pga(join(other(least_noise = 2)), M, 4, center, 1.5, delta = 1e-6), "Nothing was asked", class = "riemdp_error_refused")
  expect_identical(vapply(hosts, spent, 0), c(0, 0, 0))
  wary <- other(colluding = 1)
  expect_error(dp_pga(join(wary), M, 4, center, 1.5, delta = 1e-6, at = at), "trust", class = "riemdp_error_refused")
  expect_identical(vapply(hosts, spent, 0), c(0, 0, 0))
})
