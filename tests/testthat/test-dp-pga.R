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
    r <- dp_pga(x, s$M, epsilon = 60, center = s$center, radius = s$radius, delta = 1e-6, q = q, mechanism = "gauss")
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
    ask <- internals("pga_ask")(s$M, 40, 1, s$center, s$radius, 1, 0, s$center, 0.5, "auto", "auto", NULL)
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
  ask <- internals("pga_ask")(s$M, 3, 1, s$center, s$radius, 1, 0, s$center, 0.5, "auto", "auto", NULL)
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
  alone <- dp_pga(x, s$M, epsilon = 2, center = s$center, radius = s$radius, neighbours = "add_remove")
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
  none <- dp_pga(as.array(x)[, , 0], s$M, epsilon = 2, center = s$center, radius = s$radius, neighbours = "add_remove")
  expect_length(none$value$directions, 1)
  both <- dp_pga(x, s$M, epsilon = 2, center = s$center, radius = s$radius, unit = who)
  expect_identical(both$n, 300L)
  expect_identical(guarantee(both$mean_release)$unit, "unit")
})
