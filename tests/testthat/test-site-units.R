# Persons with several records at a site: one counts once, with the average over its records, and is replaced with all of them.

skip_if_not_installed("jsonlite")

internal <- asNamespace("riemdp")
budget <- function(epsilon = 1e9) dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp")
spent <- function(host) summary(host$ledger)$spent[1]
remotes <- function(hosts, ...) do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(...)))

M <- spd(2)
x <- wishart_spd[, , 1:60]
who <- with_simulation(1, sample(c(paste0("p", 1:24), NA), 60, TRUE))
shares <- internal$person_shares(who, 60)
rows <- with_simulation(2, data.frame(age = stats::runif(60, 0, 10), sex = sample(c("f", "m"), 60, TRUE), y = stats::rnorm(60)))
S <- sphere(2)
points <- mf_exp(S, c(0, 0, 1), cbind(rows$age / 20, rows$y / 10, 0))
requests <- local({
  table <- c("age", "sex", "y")
  bounds <- list(age = c(0, 10), sex = c("f", "m"), y = c(center = 0, scale = 1))
  spec <- internal$linear_terms(y ~ age * sex, table)
  lines <- internal$site_model(spec, internal$linear_bounds(spec, bounds))
  curve <- internal$private_predictors(shape ~ age, NULL, bounds["age"])
  bend <- internal$site_model(list(responses = list(curve$response), predictors = curve$predictors, parts = curve$parts),
                              list(x = curve$bounds$x, y = matrix(c(0, 1, 1), 3)))
  frame <- .Call(internal$riemdp_gauss_newton_frame, S, c(0, 0, 1), internal$tangent_vectors(S, c(0, 0, 1), matrix(c(0.05, 0), 2)))
  list(
    mean = list(x, list(vector = "mean", M = M, center = c(1, 0, 0, 1), radius = 1.2)),
    gradient = list(x, list(vector = "gradient", M = M, center = c(1, 0, 0, 1), radius = 1.2, problem = problem_huber(M, 0.9))),
    scatter = list(x, list(vector = "scatter", M = M, center = c(1, 0, 0, 1), radius = 1.2, at = c(0.1, 0, 0.2))),
    products = list(rows, list(vector = "products", model = lines, radius = 2.5, weight = 0.7)),
    residuals = list(rows, list(vector = "residuals", model = lines, radius = 2.5, at = c(0.3, -0.2, 0.5, 0.1), weight = 1.5)),
    curve = list(list(shape = points, age = rows$age),
                 list(vector = "curve", M = S, center = c(0, 0, 1), at = c(0.05, 0), model = bend, radius = 0.05, weight = 0.2,
                                                              frame = as.vector(frame[[1]]), lambda = frame[[2]], speed = 0.2))
  )
})
take <- function(x, i) if (is.data.frame(x)) x[i, , drop = FALSE] else if (is.list(x)) list(shape = x$shape[i, , drop = FALSE], age = x$age[i]) else x[, , i,
    drop = FALSE]

test_that("a sum over units is that of the averages of their records' vectors", {
  expect_identical(shares$units, 21)
  expect_equal(as.vector(tapply(shares$share, who, sum)), rep(1, 21))
  expect_identical(shares$share[is.na(who)], rep(0, sum(is.na(who))))
  for (one in requests) {
    q <- one[[2]]
    each <- vapply(1:60, function(i) internal$vector_sum(q, take(one[[1]], i)), numeric(internal$vector_dimension(q)))
    expect_equal(internal$vector_sum(c(q, shares), one[[1]]), as.vector(each %*% shares$share), tolerance = 1e-6)
    # all of one record each: the same as of records
    alone <- internal$person_shares(1:60, 60)
    expect_equal(internal$vector_sum(c(q, alone), one[[1]]), internal$vector_sum(q, one[[1]]), tolerance = 1e-6)
    # in whatever order, and a few at a time, the same bits
    expect_identical(internal$vector_sum(utils::modifyList(c(q, shares), list(share = rev(shares$share))), take(one[[1]], 60:1)),
                     internal$vector_sum(c(q, shares), one[[1]]))
    expect_identical(internal$units_sum(c(q, shares), one[[1]], 50), internal$vector_sum(c(q, shares), one[[1]]))
  }
})

test_that("a record counts the same alone and among others, on every space", {
  spaces <- list(euclidean(3), sphere(2), spd(2), spd(2, "bures"), hyperbolic(2), stiefel(4, 2), grassmann(4, 2), kendall(5), kendall(5, 3),
                 product(sphere(2), spd(2)), rotations(3),
                 correlation(3), simplex(3), hermitian_spd(2))
  groups <- list(responses = list("p"), predictors = list("g"), x = list(list("a", "b")), y = matrix(c(0, 1, 1), 3), parts = list(1))
  for (P in spaces) {
    all <- with_simulation(1, mf_points(mf_random(P, 5), P))
    center <- as.vector(.Call(internal$riemdp_stored, P, with_simulation(2, mf_random(P, 1))))
    at <- rep(0.05, mf_facts(P)$dimension)
    for (q in list(list(vector = "mean"), list(vector = "gradient", problem = problem_huber(P, 0.2)), list(vector = "scatter", at = at),
                   list(vector = "groups", model = groups))) {
      q <- c(q, list(M = P, center = center, radius = 0.3))
      grouped <- !is.null(q$model)
      pick <- function(i) if (grouped) list(p = all[i], g = c("a", "b", "b", "a", "b")[i]) else all[i]
      each <- vapply(1:5, function(i) internal$vector_sum(q, pick(i)), numeric(internal$vector_dimension(q)))
      expect_equal(rowSums(matrix(each, ncol = 5)), internal$vector_sum(q, pick(1:5)), tolerance = 1e-10)
      if (grouped) expect_equal(t(each), internal$vector_of(q)$rows(q, pick(1:5)), tolerance = 1e-7)
      expect_gt(min(colSums(matrix(each, ncol = 5)^2)), 0)
    }
  }
})

test_that("a unit's records move a sum by no more than a record does", {
  for (one in requests) {
    q <- one[[2]]
    d <- internal$vector_dimension(q)
    # all records of one person, and of others alone
    for (i in 1:6) {
      mine <- with_simulation(i, sample(60, 9))
      a <- internal$vector_sum(c(q, internal$person_shares(rep("a", 9), 9)), take(one[[1]], mine))
      b <- internal$vector_sum(c(q, internal$person_shares("b", 1)), take(one[[1]], 7 * i))
      expect_lte(sqrt(sum(a^2)), internal$vector_length(q) * (1 + 1e-9))
      expect_lte(sqrt(sum((a - b)^2)), internal$vector_moved(q) * (1 + 1e-9))
    }
  }
})

test_that("releases of sites protect the unit that all policies name", {
  host <- function(name, i, ...) {
    site_host(site_policy(name, M, 2, 1e-6, sums = c("mean", "gradient", "scatter"), unit = "patient", ...), x[, , i], budget(), unit = paste0(who[i], i %% 3))
  }
  hosts <- list(host("north", 1:25), host("south", 26:60))
  n <- sum(vapply(hosts, `[[`, 0, "n"))
  expect_identical(n, as.double(length(unique(paste0(who, 1:60 %% 3)[1:25])) + length(unique(paste0(who, 1:60 %% 3)[26:60]))))
  both <- remotes(hosts, shares = TRUE)
  r <- dp_mean(both, M, 1000, diag(2), 1.2, delta = 1e-6, mechanism = "tangent")
  expect_identical(r$n, n)
  expect_identical(c(r$unit, guarantee(r)$unit), c("patient", "patient"))
  expect_match(guarantee(r)$assumptions, "all records of one patient lie at one site", all = FALSE)
  expect_output(print(r), "patient")
  # the mean over units of their averages
  all <- lapply(hosts, function(h) internal$vector_sum(c(requests$mean[[2]], h$shares), h$x))
  # 8 standard deviations of the largest of 3 numbers: less than 1e-14
  expect_lt(max(abs(drop(mf_coords(M, diag(2), mf_log(M, diag(2), r$value))) - (all[[1]] + all[[2]]) / n)), 8 * r$scale + 1e-6)
  expect_lt(r$scale, 0.005)
  for (h in hosts) expect_equal(spent(h), guarantee(r)$mu^2, tolerance = 1e-9)
  o <- dp_optimize(problem_frechet(M), both, 10, 1e-6, start = diag(2), clip = 1, steps = 2)
  s <- dp_covariance(both, M, 10, diag(2), 1.2, at = diag(2), delta = 1e-6)
  expect_identical(c(o$unit, s$unit), c("patient", "patient"))
  table <- data.frame(rows, patient = who)
  lines <- lapply(list(1:30, 31:60), function(i) {
    site_host(site_policy(paste0("t", i[1]), least_noise = 1e-6, columns = c(age = "number", y = "number"), unit = "patient"), table[i, ], budget())
  })
  expect_identical(names(lines[[1]]$x), c("age", "y")) # whose a row is isn't asked about
  fit <- dp_lm(y ~ age, remotes(lines, shares = TRUE), 1000, 1e-6, list(age = c(0, 10), y = c(center = 0, scale = 1)))
  expect_identical(fit$n, as.double(length(unique(na.omit(who[1:30]))) + length(unique(na.omit(who[31:60])))))
  expect_identical(fit$unit, "patient")
  expect_output(print(fit), "patient")
  # other policies
  plain <- site_host(site_policy("east", M, 2, 1e-6), x, budget())
  expect_error(remotes(c(hosts, list(plain)), shares = TRUE), "different units", class = "riemdp_error_argument")
})

test_that("a policy with a unit needs whose each record is, and no other has that", {
  policy <- site_policy("north", M, 2, 1, unit = "patient", least_records = 21)
  file <- withr::local_tempfile()
  write_site_policy(policy, file)
  expect_identical(read_site_policy(file), policy)
  expect_output(print(policy), "a patient counts once|from 21 units on")
  argument <- function(...) expect_error(site_host(...), class = "riemdp_error_argument")
  argument(policy, x, budget())
  argument(policy, x, budget(), unit = 1:59)
  argument(policy, x, budget(), unit = rep(letters[1:20], length.out = 60)) # too few units
  argument(site_policy("north", M, 2, 1), x, budget(), unit = 1:60)
  expect_identical(site_host(policy, x, budget(), unit = who)$n, 21)
  expect_error(site_policy("north", M, 2, 1, unit = "patient", trust = "curator"), class = "riemdp_error_unsupported")
})

test_that("secure sums are of units as well", {
  skip_if_not_installed("sodium")
  files <- replicate(3, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:3])
  hosts <- lapply(1:3, function(i) {
    site_host(site_policy(letters[i], M, 2, 1e-4, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i], unit = "patient"), x, budget(),
              identity = files[i], unit = who)
  })
  r <- dp_mean(remotes(hosts, secure = TRUE, colluding = 0), M, 1000, diag(2), 1.2, delta = 1e-6, mechanism = "tangent")
  expect_identical(r$n, 63)
  v <- internal$vector_sum(c(requests$mean[[2]], shares), x)
  expect_lt(max(abs(drop(mf_coords(M, diag(2), mf_log(M, diag(2), r$value))) - v / 21)), 8 * r$scale + 1e-6)
})

test_that("what is said of units at sites is what is summed up there", {
  # three records a unit, all scatter within: averages of products have it, products of means a third
  E2 <- euclidean(2)
  z <- with_simulation(3, matrix(stats::rnorm(1200), 600))
  ids <- rep(1:200, each = 3)
  host <- function(name, i) site_host(site_policy(name, E2, 20, 1e-9, sums = c("mean", "scatter"), unit = "patient"), z[i, ], budget(), unit = ids[i])
  x <- remotes(list(host("a", 1:300), host("b", 301:600)), shares = TRUE, colluding = 0)
  s <- dp_covariance(x, E2, 1e4, c(0, 0), 6, at = c(0, 0), delta = 1e-6)
  memory <- dp_covariance(z, E2, 1e4, c(0, 0), 6, at = c(0, 0), unit = ids)
  expect_gt(sum(diag(s$moment)), 2 * sum(diag(memory$moment)))
  expect_equal(s$moment, crossprod(z) / 600, tolerance = 0.02)
  m <- dp_mean(x, E2, 1e4, c(0, 0), 6, delta = 1e-6, mechanism = "tangent")
  g <- dp_pga(x, E2, 100, c(0, 0), 6, at = c(0, 0), delta = 1e-6)
  for (r in list(s, m, g)) {
    for (said in list(format(r), capture.output(explain(r)))) expect_no_match(paste(said, collapse = " "), "units'\\s+means|Frechet mean of its own")
    expect_output(print(r), "200 units")
  }
  expect_output(explain(m), "average of its records' vectors")
  expect_output(print(s), "differ within a unit")
  expect_match(s$target, "units' records \\(averaged for each unit\\)")
  # in memory the words are those of means
  expect_output(print(memory), "units' means")
})

test_that("whose a record is: 64 bits, labels and text apart, and no coordinate", {
  expect_identical(internal$integer64_keys(structure(c(4.94065645841247e-324, NaN)[c(1, 1)], class = "integer64")), rep("0 1", 2))
  skip_if_not_installed("bit64")
  two <- bit64::as.integer64("9007199254740992") + 0:1
  expect_identical(internal$person_shares(two, 2)$units, 2)
  expect_identical(internal$person_shares(bit64::as.integer64(c("1", NA)), 2)$units, 1)
  labels <- factor(c("a", "", "b"), levels = c("a", "", "b", "c"))
  expect_identical(internal$person_shares(labels, 3), internal$person_shares(c("a", "", "b"), 3))
  # a table of points with whose they are, in memory and as a file
  table <- data.frame(a = (1:12) / 12, b = 1, patient = rep(1001:1004, 3))
  policy <- site_policy("n", euclidean(2), 2, 1e-9, unit = "patient", least_records = 4)
  host <- site_host(policy, table, budget())
  q <- list(vector = "mean", M = euclidean(2), center = c(0, 0), radius = 5)
  expect_equal(internal$vector_sum(c(q, host$shares), host$x) / 4, c(mean(table$a), 1), tolerance = 1e-9)
  expect_output(print(host), "units \\(4\\)")
  expect_error(site_host(site_policy("n", euclidean(3), 2, 1e-9, unit = "patient", least_records = 4), table, budget()), class = "riemdp_error")
  for (word in c("row", "record")) expect_error(site_policy("n", euclidean(2), 2, 1, unit = word), class = "riemdp_error_argument")
  skip_if_not_installed("RSQLite")
  dir <- withr::local_tempdir()
  write_site_policy(policy, file.path(dir, "policy.json"))
  dp_ledger(file.path(dir, "ledger.sqlite"), 2, 1e-6, rule = "gdp", create = TRUE)
  utils::write.csv(table, file.path(dir, "records.csv"), row.names = FALSE)
  file <- site_open(dir)
  expect_identical(file$n, 4)
  expect_equal(internal$vector_sum(c(q, file$shares), file$x), internal$vector_sum(c(q, host$shares), host$x), tolerance = 1e-12)
})
