# Private principal geodesic analysis. Bounds and laws of the directions are in test-dp-pca.R; here is what manifolds add.

internals <- function(name) get(name, asNamespace("riemdp"))
# records with given standard deviations along the coordinates at a public centre
spread_at <- function(M, center, n, sd, seed = 1) {
  with_simulation(seed, {
    d <- mf_facts(M)$dimension
    a <- matrix(rnorm(n * d), n) * rep(rep_len(sd, d), each = n)
    mf_points(mf_exp(M, center, mf_from_coords(M, center, a)), M)
  })
}
spaces <- function() {
  shape <- exp(2i * pi * (1:5) / 5) * c(1, 1.2, 0.9, 1, 1)
  list(
    plane = list(M = euclidean(3), center = c(1, 2, 3), radius = 1), sphere = list(M = sphere(3), center = c(0, 0, 0, 1), radius = 0.6),
    matrices = list(M = spd(2), center = diag(c(1, 2)), radius = 1), logarithms = list(M = spd(2, "logeuclidean"), center = diag(2), radius = 1),
    hyperboloid = list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1), shapes = list(M = kendall(5), center = mf_project(kendall(5), shape), radius = 0.3),
    planes = list(M = grassmann(4, 2), center = diag(4)[, 1:2], radius = 0.3)
  )
}

test_that("directions are those of the logarithms at the released mean, on every manifold", {
  for (name in names(spaces())) {
    s <- spaces()[[name]]
    d <- mf_facts(s$M)$dimension
    sd <- s$radius * c(0.25, 0.15, rep(0.03, d))[seq_len(d)]
    x <- spread_at(s$M, s$center, 1500, sd)
    q <- min(2, d - 1)
    r <- dp_pga(x, s$M, epsilon = 60, center = s$center, radius = s$radius, delta = 1e-6, q = q, mechanism = "gauss", from = "mean")
    expect_s3_class(r, c("riemdp_pga", "riemdp_release"), exact = TRUE)
    expect_lt(mf_dist(s$M, r$value$mean, r$mean_release$value), 1e-6)
    # orthonormal tangent vectors at the point
    v <- r$value$directions
    for (i in seq_len(q)) for (j in seq_len(q)) {
      expect_equal(as.numeric(mf_inner(s$M, r$value$mean, v[i], v[j])), as.numeric(i == j), tolerance = 1e-6, label = name)
    }
    # the records' own second moment there, without noise
    a <- mf_coords(s$M, r$value$mean, mf_log(s$M, r$value$mean, mf_points(mf_to_ball(s$M, x, s$center, s$radius), s$M)))
    e <- eigen(crossprod(a) / 1500, TRUE)
    expect_gt(min(svd(crossprod(e$vectors[, seq_len(q)], r$components$loadings))$d), 0.98)
    expect_equal(r$sd, sqrt(e$values[seq_len(q)]), tolerance = 0.1, label = name)
    expect_equal(r$shares, e$values[seq_len(q)] / sum(e$values), tolerance = 0.1)
    expect_equal(r$length, s$radius + mf_dist(s$M, s$center, r$value$mean), tolerance = 1e-6)
    expect_identical(guarantee(r)$label, "approx")
    expect_output(print(r), "Private principal geodesic analysis")
    expect_output(explain(r), "directions are those of logarithms")
    expect_identical(summary(r)$directions, as.integer(q))
    expect_lte(confint(r)[2], pi / 2)
    expect_setequal(tidy(r)$term, c("mean", paste("direction", seq_len(q))))
  }
})

test_that("records lie as far as the bound says and no farther, each by itself", {
  for (name in names(spaces())) {
    s <- spaces()[[name]]
    d <- mf_facts(s$M)$dimension
    ask <- internals("pga_ask")(s$M, 40, 1, s$center, s$radius, 1, 0, s$center, 0.5, "auto", "auto", NULL, "at")
    away <- c(0.8 * s$radius, rep(0, d - 1))
    p <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, away))
    # opposite the point, outside the ball by far: moved to its edge, as far from p as can be
    x <- spread_at(s$M, s$center, 40, s$radius)
    far <- mf_points(mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, rbind(c(-1.3 * s$radius, rep(0, d - 1)), away))), s$M)
    rows <- internals("tangent_rows")(s$M, c(x, far), ask, p)
    bound <- internals("tangent_bound")(ask, away)
    lengths <- sqrt(rowSums(rows^2))
    expect_lte(max(lengths), bound)
    expect_equal(max(lengths), 1.8 * s$radius, tolerance = 1e-6, label = name)
    # none depends on the others
    expect_identical(internals("tangent_rows")(s$M, x[7], ask, p)[1, ], rows[7, ])
    expect_identical(internals("tangent_rows")(s$M, c(far, x[5:9]), ask, p)[5, ], rows[7, ])
  }
  # what is no point is the centre
  s <- spaces()$sphere
  ask <- internals("pga_ask")(s$M, 3, 1, s$center, s$radius, 1, 0, s$center, 0.5, "auto", "auto", NULL, "at")
  rows <- internals("tangent_rows")(s$M, rbind(c(NA, 1, 0, 0), c(5, 5, 5, 5), c(0, 0, 0, -1)), ask, s$center)
  expect_equal(rows[1:2, ], matrix(0, 2, 3))
  expect_true(all(is.finite(rows)))
})

test_that("at a public point or an earlier release only the directions are paid for", {
  s <- spaces()$sphere
  x <- spread_at(s$M, s$center, 400, c(0.2, 0.05, 0.05))
  call <- function(...) dp_pga(x, s$M, epsilon = 1, center = s$center, radius = s$radius, ...)
  at <- call(at = c(0, 0, 0.6, 0.8))
  expect_equal(mf_dist(s$M, at$value$mean, s$center), s$radius, tolerance = 1e-6) # moved into the ball
  expect_null(at$mean_release)
  expect_identical(nrow(at$draws), 1L)
  expect_equal(guarantee(at)$epsilon, 1)
  m <- dp_mean(x, s$M, epsilon = 1, center = s$center, radius = s$radius)
  r <- call(at = m, mechanism = "wishart")
  expect_equal(mf_dist(s$M, r$value$mean, m$value), 0, tolerance = 1e-6)
  both <- call(share = 0.3)
  expect_equal(guarantee(both)$epsilon, 1)
  expect_equal(guarantee(both$mean_release)$epsilon, 0.3)
  expect_equal(sum(both$draws$epsilon), 1, tolerance = 1e-6)
  expect_match(both$draws$proof[2], "subspaces")
  ledger <- dp_ledger(NULL, epsilon = 3, delta = 1e-5)
  r <- call(delta = 1e-6, mechanism = "gauss", ledger = ledger)
  history <- ledger_history(ledger)
  expect_identical(nrow(history), 1L)
  expect_equal(c(history$epsilon, history$delta), c(1, 1e-6))
  expect_equal(c(guarantee(r)$epsilon, guarantee(r)$delta), c(1, 1e-6))
  expect_identical(guarantee(both)$epsilon, 1)
  wide <- dp_ledger(NULL, epsilon = 3, delta = 1e-5, rule = "zcdp")
  call(delta = 1e-6, mechanism = "gauss", mean_mechanism = "wrapped_gaussian", ledger = wide)
  expect_lt(ledger_history(wide)$rho, 0.1)
  r <- call(delta = 1e-6, mechanism = "gauss", mean_mechanism = "wrapped_gaussian")
  expect_equal(c(guarantee(r)$epsilon, guarantee(r)$delta), c(1, 1e-6))
  expect_equal(guarantee(r$mean_release)$delta, 5e-7)
  expect_identical(guarantee(with_simulation(1, call()))$label, "none")
  drawn <- call(mechanism = "bingham")
  expect_null(drawn$sd)
  expect_null(drawn$shares)
})

test_that("what can't be had is refused from public facts, and odd records are no reason", {
  s <- spaces()$sphere
  ledger <- dp_ledger(NULL, epsilon = 100)
  x <- as.matrix(spread_at(s$M, s$center, 30, 0.1))
  refused <- function(class, ..., M = s$M, records = x, radius = s$radius) {
    expect_error(dp_pga(records, M, center = s$center, radius = radius, ledger = ledger, ...), class = paste0("riemdp_error_", class))
  }
  refused("unsupported", epsilon = 1, records = chunks(x, 10))
  refused("argument", epsilon = 1, q = 3)
  refused("argument", epsilon = 1, at = s$center, share = 0.4)
  refused("argument", epsilon = 1, share = 1)
  refused("argument", epsilon = 1, at = s$center, from = "mean")
  refused("argument", epsilon = 1, from = "center", share = 0.4)
  refused("argument", epsilon = 1, from = "center", mean_mechanism = "auto")
  refused("argument", epsilon = 1, from = "center", mechanism = "bingham")
  refused("argument", epsilon = 1, gap = 2)
  refused("argument", epsilon = -1)
  refused("argument", epsilon = 1, mechanism = "rgd")
  refused("shape", epsilon = 1, unit = 1:20)
  refused("argument", epsilon = 1, gap = 0.1, neighbours = "add_remove")
  refused("radius", epsilon = 1, radius = 2)
  refused("unsupported", epsilon = 1, mechanism = "gauss")
  refused("unsupported", epsilon = 1, at = c(0, 1), M = sphere(1))
  refused("budget", epsilon = 101)
  expect_error(dp_pga(rbind(x, NA), s$M, 1, s$center, s$radius, ledger = ledger), class = "riemdp_error")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  edge <- mf_exp(s$M, s$center, c(2, 0, 0, 0))
  for (records in list(x[1, , drop = FALSE], x[1:2, ], x[rep(1, 9), ], rbind(edge, edge, edge), rbind(s$center, -s$center), rbind(x, NA, Inf, 1e308))) {
    for (mechanism in c("auto", "bingham")) {
      r <- dp_pga(records, s$M, 1, s$center, s$radius, q = 2, mechanism = mechanism, invalid = "center", mean_mechanism = "kng", ledger = ledger)
      expect_length(r$value$directions, 2)
    }
    r <- dp_pga(records, s$M, 1, s$center, s$radius, q = 2, invalid = "center", from = "center", ledger = ledger)
    expect_lte(mf_dist(s$M, r$value$mean, s$center), s$radius * (1 + 1e-9))
  }
})

test_that("modes are drawn: shapes, ellipses, arcs", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (name in c("plane", "matrices", "sphere", "shapes", "planes", "hyperboloid")) {
    s <- spaces()[[name]]
    d <- mf_facts(s$M)$dimension
    x <- spread_at(s$M, s$center, 300, s$radius * c(0.3, rep(0.05, d))[seq_len(d)])
    for (mechanism in c("wishart", "bingham")) {
      r <- dp_pga(x, s$M, epsilon = 50, center = s$center, radius = s$radius, q = min(2, d - 1), at = s$center, mechanism = mechanism)
      expect_silent(plot(r))
      expect_silent(plot(r, mode = 1, main = "one"))
    }
    p <- internals("mode_points")(r, 1, c(-2, 0, 2))
    expect_equal(as.numeric(mf_dist(s$M, r$value$mean, p)), s$radius / 4 * c(2, 0, 2), tolerance = 1e-6)
    expect_error(plot(r, mode = 9), class = "riemdp_error_argument")
  }
})

test_that("units count with their means, and the number of records can be private", {
  s <- spaces()$matrices
  d <- mf_facts(s$M)$dimension
  x <- spread_at(s$M, s$center, 1200, c(0.3, 0.1, 0.02))
  who <- rep(1:300, each = 4)
  near <- mf_points(mf_to_ball(s$M, x, s$center, s$radius), s$M)
  means <- mf_points(array(unlist(lapply(1:300, function(u) frechet_mean(near[who == u], s$M)$mean)), c(2, 2, 300)), s$M)
  a <- mf_coords(s$M, s$center, mf_log(s$M, s$center, means))
  for (neighbours in c("replace", "add_remove")) {
    r <- dp_pga(x, s$M, epsilon = 400, center = s$center, radius = s$radius, delta = 1e-6, at = s$center, mechanism = "gauss", unit = who,
                neighbours = neighbours)
    expect_gt(abs(sum(eigen(crossprod(a), TRUE)$vectors[, 1] * r$components$loadings)), 0.99)
    expect_equal(r$sd, sqrt(eigen(crossprod(a) / 300, TRUE)$values[1]), tolerance = 0.05)
    expect_identical(guarantee(r)$unit, "unit")
    expect_match(format(r)[1], "units' means")
  }
  alone <- dp_pga(x, s$M, epsilon = 2, center = s$center, radius = s$radius, neighbours = "add_remove", share = 0.3)
  expect_identical(guarantee(alone)[c("label", "epsilon", "adjacency")], list(label = "pure", epsilon = 2, adjacency = "add-remove"))
  expect_identical(alone$n, NA_real_)
  expect_identical(nrow(alone$draws), 4L)
  expect_equal(sum(alone$draws$epsilon), 2)
  expect_equal(alone$draws$epsilon[3:4], c(0.14, 1.26))
  expect_lt(abs(alone$size$count - 1200), 200)
  expect_match(paste(format(alone), collapse = " "), "and whether it is there")
  ledger <- dp_ledger(NULL, epsilon = 4, delta = 1e-6, adjacency = "add-remove")
  normal <- dp_pga(x, s$M, epsilon = 2, center = s$center, radius = s$radius, delta = 1e-6, mechanism = "gauss", neighbours = "add_remove", unit = who,
                   ledger = ledger)
  expect_identical(guarantee(normal)$unit, "unit")
  expect_equal(c(ledger_history(ledger)$epsilon, ledger_history(ledger)$delta), c(2, 1e-6))
  # the mean's noise is normal and told as approximate, the directions' as normal
  for (epsilon in c(0.02, 0.2, 1)) {
    ledger <- dp_ledger(epsilon = 2, delta = 0.01, adjacency = "add-remove")
    r <- dp_pga(x, s$M, epsilon = epsilon, center = s$center, radius = s$radius, delta = 1e-3, from = "mean", neighbours = "add_remove", ledger = ledger)
    expect_identical(r$guarantee$label, "approx")
  }
  none <- dp_pga(as.array(x)[, , 0], s$M, epsilon = 2, center = s$center, radius = s$radius, neighbours = "add_remove")
  expect_length(none$value$directions, 1)
  both <- dp_pga(x, s$M, epsilon = 2, center = s$center, radius = s$radius, unit = who, from = "mean")
  expect_identical(both$n, 300L)
  expect_identical(guarantee(both$mean_release)$unit, "unit")
})

# without noise: the mean of logarithms at the centre and their covariance about it
logs_of <- function(s, x) {
  a <- mf_coords(s$M, s$center, mf_log(s$M, s$center, mf_points(mf_to_ball(s$M, x, s$center, s$radius), s$M)))
  list(mean = colMeans(a), covariance = crossprod(scale(a, scale = FALSE)) / nrow(a))
}
test_that("one matrix at the centre tells the mean of logarithms and their covariance, for one price", {
  for (name in names(spaces())) {
    s <- spaces()[[name]]
    d <- mf_facts(s$M)$dimension
    away <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, s$radius * c(0.2, -0.25, rep(0, d))[seq_len(d)]))
    x <- spread_at(s$M, away, 1000, s$radius * c(0.25, 0.12, rep(0.03, d))[seq_len(d)])
    q <- min(2, d - 1)
    r <- dp_pga(x, s$M, epsilon = 3000, center = s$center, radius = s$radius, delta = 1e-6, q = q, mechanism = "gauss", from = "center")
    plain <- logs_of(s, x)
    p <- mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, plain$mean))
    expect_lt(mf_dist(s$M, p, r$value$mean), 2e-3 * s$radius, label = name)
    # carried back along the geodesic, in coordinates at the centre
    back <- t(mf_coords(s$M, s$center, mf_transport(s$M, r$value$mean, s$center, r$value$directions)))
    e <- eigen(plain$covariance, TRUE)
    expect_gt(min(svd(crossprod(e$vectors[, seq_len(q)], back))$d), 0.999, label = name)
    expect_equal(r$sd, sqrt(e$values[seq_len(q)]), tolerance = 0.01, label = name)
    expect_equal(r$shares, e$values[seq_len(q)] / sum(e$values), tolerance = 0.01, label = name)
    expect_equal(sum(r$components$eigenvalues), sum(e$values), tolerance = 0.01, label = name)
    expect_equal(r$length, s$radius, tolerance = 1e-6)
    expect_null(r$mean_release)
    expect_identical(c(nrow(r$draws), guarantee(r)$epsilon), c(1, 3000))
    expect_lt(confint(r)[2], 0.2)
    expect_output(print(r), "by one matrix with them")
    expect_output(explain(r), "both are paid for by it")
  }
})

test_that("the price of one matrix is that of rows with the constant, and no row is longer", {
  s <- spaces()$sphere
  x <- spread_at(s$M, s$center, 50, 0.3)
  for (mechanism in c("laplace", "wishart")) {
    r <- dp_pga(x, s$M, epsilon = 2, center = s$center, radius = s$radius, mechanism = mechanism, from = "center")
    most <- if (mechanism == "wishart") 2 else sqrt(2)
    expect_gte(r$draws$sensitivity / (if (mechanism == "wishart") 1 else 2^r$components$noise$fine), most)
    expect_equal(r$components$sensitivity * 50 / s$radius^2, most * 1.1, tolerance = 1e-3)
    expect_equal(r$components$bound, s$radius * sqrt(1.1), tolerance = 1e-6)
    expect_equal(r$draws$epsilon, 2)
  }
  ask <- internals("pga_ask")(s$M, 50, 1, s$center, s$radius, 1, 0, NULL, 0.5, "auto", "auto", NULL, "center")
  column <- internals("extended_column")(ask$parts$grid)
  rows <- function(x) internals("tangent_moment")(list(x = x, n = nrow(x)), ask, s$center, s$radius, ask$parts$grid, column, sqrt(1.1))
  # at the edge and beyond it, at the centre, and what is no point
  edge <- rows(t(c(0.96, 0, 0, -0.28)))
  expect_equal(c(sum(diag(edge)[1:3]), edge[4, 4]) * 1.1, c(1, 0.1), tolerance = 1e-4)
  expect_equal(sqrt(sum(edge[1:3, 4]^2)) * 1.1, sqrt(0.1), tolerance = 1e-4)
  expect_lte(sum(diag(edge)), 1)
  for (odd in list(c(0, 0, 0, 1), c(NA, 1, 2, 3), c(0, 0, 0, -1), c(1e300, 0, 0, 0))) {
    one <- rows(t(odd))
    expect_lte(sum(diag(one)), 1)
    expect_gte(sum(diag(one)), 0.09)
  }
  expect_identical(dim(rows(matrix(0, 0, 4))), c(4L, 4L))
  # longer than the length they may have, they are shortened before the constant comes to them
  long <- internals("tangent_moment")(list(x = t(c(sin(0.5), 0, 0, cos(0.5))), n = 1), ask, s$center, 0.1, ask$parts$grid, column, sqrt(1.1))
  expect_equal(c(sum(diag(long)[1:3]), long[4, 4]) * 1.1, c(1, 0.1), tolerance = 1e-4)
})

test_that("a mean within the noise is shrunk, and only what is kept of it is taken off", {
  d <- 5
  at <- c(0.3, 0, 0, 0, 0)
  S <- rbind(cbind(diag(5:1) / 10 + tcrossprod(at), sqrt(0.1) * at), c(sqrt(0.1) * at, 0.1)) * 40
  apart <- internals("mean_apart")(S, 40, 0, sqrt(0.1))
  expect_equal(apart$mean, at)
  expect_equal(apart$covariance, diag(5:1) / 10)
  s <- 0.12 * 40 * sqrt(0.1) # the mean's coordinates have standard deviation .12
  k <- 1 - 3 * 0.12^2 / 0.09
  apart <- internals("mean_apart")(S, 40, s, sqrt(0.1))
  expect_equal(apart$mean, k * at)
  expect_equal(apart$covariance, diag(5:1) / 10 + (1 - k^2) * tcrossprod(at))
  expect_equal(apart$offset, list(length = 0.3, kept = k, column = sqrt(0.1)))
  expect_equal(internals("mean_apart")(S, 40, 2 * s, sqrt(0.1))$offset$kept, 0)
})

test_that("the bound of what was added to the covariance holds as often as it says", {
  s <- spaces()$logarithms
  x <- spread_at(s$M, mf_exp(s$M, s$center, mf_from_coords(s$M, s$center, c(0.3, 0.1, 0))), 400, c(0.3, 0.1, 0.05))
  plain <- logs_of(s, x)$covariance
  e <- eigen(plain, TRUE)$vectors[, 1]
  for (mechanism in c("gauss", "laplace", "wishart")) {
    far <- with_simulation(5, vapply(1:60, function(i) {
      r <- dp_pga(x, s$M, epsilon = 8, center = s$center, radius = s$radius, delta = if (mechanism == "gauss") 1e-6 else 0, mechanism = mechanism,
                  from = "center")
      back <- t(mf_coords(s$M, s$center, mf_transport(s$M, r$value$mean, s$center, mf_from_coords(s$M, r$value$mean, diag(3)))))
      off <- max(abs(eigen(back %*% r$components$moment %*% t(back) - plain, TRUE)$values))
      c(off / internals("angle_noise")(r$components, 0.5, 0), acos(min(1, abs(sum(e * back %*% r$components$loadings)))) - confint(r)[2])
    }, numeric(2)))
    # at least half; fewer than 13 of 60 by chance 6e-6
    expect_gte(sum(far[1, ] <= 1), 13)
    expect_lt(max(far[1, ]), 4)
    expect_lt(sum(far[2, ] > 0), 16) # of 60 with .05 each, 1e-7
  }
})

test_that("where logarithms are taken follows from public numbers", {
  from <- function(M, n, radius, center, ...) internals("pga_ask")(M, n, 1, center, radius, 1, 0, NULL, 0.2, "auto", "auto", NULL, "auto", ...)$from
  s <- spaces()
  expect_identical(from(s$sphere$M, 200, 0.6, s$sphere$center), "center")
  expect_identical(from(s$sphere$M, 1e5, 0.6, s$sphere$center), "mean")
  expect_identical(from(s$sphere$M, 1e5, 0.05, s$sphere$center), "center")
  expect_identical(from(s$plane$M, 1e9, 1, s$plane$center), "center") # nothing is bent
  expect_identical(from(s$sphere$M, NA_real_, 0.6, s$sphere$center), "center")
  expect_identical(from(s$hyperboloid$M, NA_real_, 5, s$hyperboloid$center), "mean")
  x <- spread_at(s$sphere$M, s$sphere$center, 100, 0.1)
  call <- function(...) dp_pga(x, s$sphere$M, 1, s$sphere$center, 0.6, ...)$from
  expect_identical(c(call(), call(share = 0.2), call(mean_mechanism = "wrapped"), call(mechanism = "bingham"), call(at = s$sphere$center), call(from = "mean")),
                   c("center", "mean", "mean", "mean", "at", "mean"))
  # the number of records may be private
  r <- dp_pga(x, s$sphere$M, 40, s$sphere$center, 0.6, neighbours = "add_remove", mechanism = "wishart")
  expect_equal(r$draws$epsilon, c(4, 36))
  expect_equal(r$components$sensitivity * max(1, r$size$count), 1.1 * 0.36, tolerance = 0.01)
  expect_length(dp_pga(as.matrix(x)[0, ], s$sphere$M, 1, s$sphere$center, 0.6, neighbours = "add_remove")$value$directions, 1)
})

test_that("few bits don't turn the covariance: the constant is a whole number, rounding and the released number are counted", {
  # a private number of records leaves nine bits; the mean is far from the centre, and long beside what varies
  set.seed(1)
  n <- 2e5
  x <- cbind(0.7 + 0.04 * rnorm(n), 0.03 * rnorm(n))
  r <- dp_pga(x, euclidean(2), epsilon = 20, center = c(0, 0), radius = 1, neighbours = "add_remove", from = "center")
  expect_equal(r$components$eigenvalues, c(0.0016, 0.0009), tolerance = 0.02)
  across <- function(r) abs(mf_coords(euclidean(2), r$value$mean, r$value$directions))
  expect_gt(across(r)[1], 0.99)
  expect_lt(confint(r)[2], 0.8)
  for (bits in c(9, 12, 19)) {
    for (d in c(3, 13)) {
      grid <- list(bits = bits, inside = 2^bits - sqrt(d) / 2 - 1)
      column <- riemdp:::extended_column(grid)
      row <- riemdp:::moment_rows(matrix(c(rep(0, d - 1), column), 1), sqrt(1.1), grid)
      expect_equal(row[d] / grid$inside * sqrt(1.1), column, tolerance = 1e-13)
      expect_true(column <= sqrt(0.1) && column > sqrt(0.1) - 2^(1 - bits))
    }
  }
  # rows that round to one point have no variance left: the bound says so
  for (neighbours in c("replace", "add_remove")) {
    tight <- cbind(1e-4 * rnorm(5000), 2e-4 * rnorm(5000))
    s <- dp_pga(tight, euclidean(2), epsilon = 1e4, center = c(0, 0), radius = 1, neighbours = neighbours, from = "center")
    expect_gte(confint(s)[2], acos(min(1, across(s)[2])))
  }
  facts <- r$components
  plain <- riemdp:::angle_noise(facts, 0.95, 0)
  expect_equal((riemdp:::angle_noise(facts, 0.95, 0.01) - plain) / (0.01 * (facts$offset$length * facts$bound)^2 / 1.1), 1, tolerance = 0.1)
  exact <- facts
  exact$rounding <- 0
  w <- riemdp:::angle_noise(exact, 0.95, 0)
  expect_equal(plain - w, 2 * facts$rounding * sqrt(facts$eigenvalues[1] + w) + facts$rounding^2, tolerance = 1e-8)
  expect_equal(facts$rounding, sqrt(1.1) * sqrt(3) / (2 * (2^9 - sqrt(3) / 2 - 1)), tolerance = 1e-8)
})
