M <- spd(2)
north <- wishart_spd[, , 1:120]
south <- wishart_spd[, , 121:200]
budget <- function(epsilon = 1e6, rule = "gdp") dp_ledger(epsilon = epsilon, delta = 1e-6, rule = rule)
two_sites <- function(answers = "sums", ..., least = 0, ledgers = list(budget(), budget())) {
  sites(site(120, function(request) site_answer(unserialize(serialize(request, NULL)), north, answers, ledgers[[1]], least = least)),
        site(80, function(request) site_answer(unserialize(serialize(request, NULL)), south, answers, ledgers[[2]], least = least)), ...)
}

test_that("sites give what one curator with all records gives", {
  for (mechanism in c("laplace", "wrapped", "tangent", "kng", "euclidean")) {
    run <- function(x) with_simulation(1, dp_mean(x, M, 1, diag(2), 1.5, mechanism = mechanism))$value
    expect_lt(mf_dist(M, run(two_sites()), run(wishart_spd[, , 1:200])), 1e-12)
  }
  run <- function(x) with_simulation(1, dp_optimize(problem_huber(M, 1), x, 1, 1e-6, start = diag(2), steps = 4))$value
  expect_lt(mf_dist(M, run(two_sites()), run(wishart_spd[, , 1:200])), 1e-12)
})

test_that("sites send clipped sums and nothing else", {
  sent <- new.env()
  sent$all <- list()
  listen <- function(x) {
    function(request) {
      answer <- site_answer(request, x, "sums")
      sent$all <- c(sent$all, list(list(kernel = request$kernel, answer = answer)))
      answer
    }
  }
  dp_mean(sites(site(120, listen(north)), site(80, listen(south))), M, 1, diag(2), 1.5, mechanism = "wrapped", invalid = "center")
  expect_setequal(unique(vapply(sent$all, `[[`, "", "kernel")), c("ball", "steps"))
  for (one in sent$all) {
    if (one$kernel == "ball") expect_identical(dim(one$answer$digits)[1], 5L) # a tangent vector and a squared length
    if (one$kernel == "steps") expect_identical(dim(one$answer), c(3L, 2L)) # coordinates of a tangent vector, in two parts
  }
  # where curvature asks how far records lie from a point: one whole number
  sent$all <- list()
  ball <- matrix(c(0, 0.6, 0.8, 0.6, 0, 0.8), 2, byrow = TRUE)
  dp_mean(sites(site(1, listen(ball[1, ])), site(1, listen(ball[2, ]))), sphere(2), 1, c(0, 0, 1), 0.7, mechanism = "kng", invalid = "center")
  squares <- Filter(function(one) one$kernel == "squares", sent$all)
  expect_length(squares, 2)
  for (one in squares) expect_true(is.double(one$answer) && length(one$answer) == 1 && one$answer == floor(one$answer))
  x <- two_sites()
  expect_error(frechet_mean(x, M), class = "riemdp_error_refused")
  expect_error(mf_dist_blocks(M, x), class = "riemdp_error_refused")
  expect_error(riemannian_optimize(problem_huber(M, 1), x, diag(2)), class = "riemdp_error_refused")
  own <- problem(NULL, function(w, z) -mf_log(M, w, z), M)
  expect_error(dp_optimize(own, x, 1, 1e-6, start = diag(2), clip = 1, lr = 1), class = "riemdp_error_refused")
  for (request in list(NULL, list(), list(kernel = "records", private = TRUE, M = M, which = 1), list(kernel = "ball"),
                       list(kernel = "ball", private = TRUE, M = M, center = function() 1), list(kernel = c("ball", "records"),
                         private = TRUE))) {
    for (answers in c("sums", "noisy")) expect_error(site_answer(request, north, answers, budget()), class = "riemdp_error_refused")
  }
  bad <- north
  bad[1, 1, 1] <- NA
  request <- list(kernel = "gradients", private = TRUE, M = M, problem = problem_huber(M, 1), step = list(clip = Inf, apart = FALSE, losses = FALSE), p = c(1,
    0, 0, 1), counts = "points")
  expect_error(site_answer(request, north, "sums"), class = "riemdp_error_refused")
})

test_that("no policy answers counts without noise", {
  stored <- c(1, 0, 0, 1)
  for (request in list(list(kernel = "counts", M = M, center = stored, radii = c(0.5, 1)),
                       list(kernel = "kng", M = M, center = stored, radius = 1.5, n = 200, base = stored, far = 1),
                       list(kernel = "kng", M = M, center = stored, radius = 1.5, n = 200, base = stored, far = -1))) {
    request$private <- TRUE
    for (answers in c("sums", "noisy")) expect_error(site_answer(request, north, answers, budget()), class = "riemdp_error_refused")
  }
  e <- expect_error(dp_mean(two_sites(), M, 1, diag(2), 1.5, mechanism = "adaptive"), class = "riemdp_error_unsupported")
  expect_match(conditionMessage(e), "no counts")
  # a draw by the K-norm gradient asks for sums alone
  asked <- character()
  listen <- function(x) function(request) {
    asked <<- c(asked, request$kernel)
    site_answer(request, x, "sums")
  }
  r <- dp_mean(sites(site(120, listen(north)), site(80, listen(south))), M, 1, diag(2), 1.5, mechanism = "kng", invalid = "center")
  expect_identical(setdiff(asked, c("ball", "steps")), character())
  expect_match(guarantee(r)$assumptions, "curator is trusted with the sums", all = FALSE)
})

test_that("a site pays for each noisy answer before its noise is drawn", {
  request <- list(kernel = "noisy", private = TRUE, M = M, center = c(1, 0, 0, 1), radius = 1.5, sd = 6)
  # the default policy needs a budget
  expect_error(site_answer(request, north), "ledger", class = "riemdp_error_argument")
  expect_error(site_answer(list(kernel = "ball", private = TRUE, M = M), north, ledger = budget()), class = "riemdp_error_refused")
  # a whole request for a sum as it is, which a trusted curator would get
  sum <- list(kernel = "ball", private = TRUE, M = M, center = c(1, 0, 0, 1), radius = 1.5, what = "centre_coords")
  expect_true(is.list(site_answer(sum, north, "sums")))
  expect_error(site_answer(sum, north, ledger = budget()), "that carry noise", class = "riemdp_error_refused")
  # mu of one answer: 2 radius/sd; so many answers fit into the budget and no more
  mu <- 2 * request$radius / request$sd
  ledger <- budget(6)
  most <- floor(ledger$limits[1] / mu^2)
  expect_gt(most, 2)
  answers <- replicate(most, site_answer(request, north, ledger = ledger))
  expect_identical(dim(answers), c(3L, as.integer(most)))
  expect_equal(summary(ledger)$spent[1], most * mu^2, tolerance = 1e-9)
  expect_error(site_answer(request, north, ledger = ledger), "budget of this site", class = "riemdp_error_refused")
  expect_equal(summary(ledger)$releases[1], most)
  # paid before the records are touched: whatever happens then, the price is gone
  broken <- budget()
  bad <- request
  bad$center <- c(1, 0)
  expect_error(site_answer(bad, north, ledger = broken), "a sum that there is", class = "riemdp_error_refused")
  expect_equal(summary(broken)$spent[1], 0)
  expect_error(site_answer(request, list("no", "points"), ledger = broken), "can't be answered", class = "riemdp_error_refused")
  expect_equal(summary(broken)$spent[1], mu^2, tolerance = 1e-9)
  # a trusted curator's noisy sums are paid for as well where the site keeps a ledger
  kept <- budget()
  site_answer(request, north, "sums", kept)
  expect_equal(summary(kept)$spent[1], mu^2, tolerance = 1e-9)
  # "basic" needs a delta
  basic <- dp_ledger(epsilon = 10, delta = 1e-5)
  expect_error(site_answer(request, north, ledger = basic), class = "riemdp_error")
  expect_length(site_answer(request, north, ledger = basic, delta = 1e-6), 3)
  expect_equal(summary(basic)$spent, c(dp_epsilon(event_gaussian(1 / mu), 1e-6), 1e-6), tolerance = 1e-6)
  # through a whole call: each site's budget, and a curator who is told that one is used up
  ledgers <- list(budget(), dp_ledger(epsilon = 0.3, delta = 1e-6, rule = "gdp"))
  run <- function() dp_mean(two_sites("noisy", shares = TRUE, ledgers = ledgers), M, 0.1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")
  run()
  first <- vapply(ledgers, function(l) summary(l)$spent[1], 0)
  expect_true(all(first > 0))
  e <- tryCatch(for (i in 1:50) run(), error = function(e) e)
  expect_s3_class(e, "riemdp_error_refused")
  expect_lte(summary(ledgers[[2]])$spent[1], ledgers[[2]]$limits[1])
})

test_that("noise shares add up to what the guarantee needs", {
  e <- expect_error(dp_mean(two_sites(shares = TRUE), M, 1, diag(2), 1.5, delta = 1e-6), class = "riemdp_error_unsupported")
  expect_error(dp_mean(two_sites(shares = TRUE), M, 1, diag(2), 1.5, mechanism = "tangent"), class = "riemdp_error_unsupported")
  run <- function(x) dp_mean(x, M, 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent", options = list(noise = "gaussian"), numerics = "real")
  trusted <- run(wishart_spd[, , 1:200])
  all <- run(two_sites("noisy", shares = TRUE))
  none <- run(two_sites("noisy", shares = TRUE, colluding = 0))
  expect_equal(all$scale, sqrt(2) * trusted$scale, tolerance = 1e-12)
  expect_equal(none$scale, trusted$scale, tolerance = 1e-12)
  expect_identical(guarantee(all)[c("epsilon", "delta", "label")], guarantee(trusted)[c("epsilon", "delta", "label")])
  # the noise has that size: relative standard error of the deviation .5/sqrt(3 * 1500) = .0075 (short form .5/sqrt(3 * 300) = .0167), so
  # 5 % (11 %) is 6.6 of them and a false alarm has a probability below 1e-9; in flat space the release is the mean plus the noise
  count <- if (quick()) 300 else 1500
  set.seed(1)
  x <- matrix(runif(300, -0.3, 0.3), 100)
  ledger <- budget()
  shared <- sites(site(60, function(q) site_answer(q, x[1:60, ], "noisy", ledger)), site(40, function(q) site_answer(q, x[61:100, ],
    "noisy", ledger)), shares = TRUE)
  draws <- with_simulation(4, replicate(count, {
    r <- dp_mean(shared, euclidean(3), 1, c(0, 0, 0), 1, delta = 1e-6, mechanism = "tangent")
    c(r$value - colMeans(x), r$scale)
  }))
  expect_lt(abs(sd(draws[1:3, ]) / draws[4, 1] - 1), if (quick()) 0.11 else 0.05)
  expect_lt(max(abs(rowMeans(draws[1:3, ]))), 5 * draws[4, 1] / sqrt(count))
  # outside a simulation no seed repeats it
  expect_false(identical(run(two_sites("noisy", shares = TRUE))$value, run(two_sites("noisy", shares = TRUE))$value))
  # a site's least noise is relative to the ball that the curator names
  multiplier <- all$scale * 200 / (sqrt(2) * 2 * 1.5)
  expect_error(run(two_sites("noisy", shares = TRUE, least = 1.01 * multiplier)), class = "riemdp_error_refused")
  expect_identical(guarantee(run(two_sites("noisy", shares = TRUE, least = 0.99 * multiplier)))$label, "approx")
  expect_output(explain(all), "shares")
  expect_error(two_sites(colluding = 1), class = "riemdp_error_argument")
  expect_error(two_sites(shares = TRUE, colluding = 2), class = "riemdp_error_argument")
  expect_error(sites(1), class = "riemdp_error_argument")
  expect_error(site(0, identity), class = "riemdp_error_argument")
})
