# Noise around means on products (src/mechanism/mechanism_product.c; inst/proofs/products.md, section 5). Distances of each part and of the whole
# are held against quadrature over the parts' distances: Kolmogorov and Smirnov at 1e-6 each, means at 5 standard errors (6e-7 each); some 80 of
# either, together below 1.5e-4 of a false alarm over all seeds, and the seeds are fixed. A scale that is 3 % off moves the mean of the whole
# distance by 7 standard errors or more in either form.

draws <- function() if (quick()) 4e4 else 1e5

parts_of <- function(M) riemdp:::part_leaves(M)
home <- function(M) .Call(riemdp:::riemdp_origin, M)

# distances of the parts, in their own metrics, and of the whole: a column each
apart <- function(M, x) {
  own <- vapply(parts_of(M), function(leaf) {
    mf_dist(leaf$M, riemdp:::leaf_point(M, leaf, home(M)), as.array(riemdp:::new_points(x[, leaf$at, drop = FALSE], leaf$M)))
  }, numeric(nrow(x)))
  cbind(own, mf_dist(M, home(M), x))
}

noise_of <- function(M, law, scale, seed) with_simulation(seed, .Call(riemdp:::riemdp_noise, M, home(M), draws(), law, scale, TRUE))

# logs of areas of spheres, from the volume elements
AREA <- list(
  s1 = function(r) 0 * r, s2 = function(r) log(sin(r)), r1 = function(r) 0 * r, r2 = log, h2 = function(r) log(sinh(r)),
  cp2 = function(r) 3 * log(sin(r)) + log(cos(r)),
  spd2 = function(r) {
    phi <- (seq_len(200) - 0.5) / 200 * pi # opposite directions have the same gap
    gap <- abs(cos(phi) - sin(phi))
    vapply(r, function(t) log(t) + log(mean(sinh(t * gap / 2))), 0)
  },
  hermitian2 = function(r) {
    phi <- (seq_len(200) - 0.5) / 200 * pi
    gap <- abs(cos(phi) - sin(phi))
    vapply(r, function(t) log(t) + log(mean(sinh(t * gap / 2)^2)), 0)
  }
)

# cells of the parts' distances up to `top`, their masses under exp(-energy(d)), and the law of each part and of d
joint_law <- function(area, weights, top, energy, cells) {
  edges <- lapply(top, function(t) seq(0, t, length.out = cells + 1))
  middle <- lapply(edges, function(e) (e[-1] + e[-length(e)]) / 2)
  sums <- function(each, f) Reduce(function(a, b) outer(a, b, "+"), Map(f, each, weights, area))
  d <- sqrt(sums(middle, function(r, w, a) w * r^2))
  mass <- sums(middle, function(r, w, a) AREA[[a]](r)) - energy(d)
  mass <- exp(mass - max(mass))
  mass <- mass / sum(mass)
  own <- lapply(seq_along(area), function(i) {
    p <- apply(mass, i, sum)
    list(x = edges[[i]], cdf = c(0, cumsum(p)), mean = sum(p * middle[[i]]))
  })
  at <- seq(0, max(d), length.out = 2001)
  in_bin <- rowsum(as.vector(mass), findInterval(as.vector(d), at, rightmost.closed = TRUE))
  p <- numeric(2000)
  p[as.integer(rownames(in_bin))] <- in_bin
  c(own, list(list(x = at, cdf = c(0, cumsum(p)), mean = sum(mass * d))))
}

expect_joint <- function(rho, law, label) {
  n <- nrow(rho)
  for (i in seq_along(law)) {
    seen <- findInterval(law[[i]]$x, sort(rho[, i])) / n
    expect_lt(max(abs(seen - law[[i]]$cdf)), sqrt(log(2e6) / (2 * n)), label = paste("distance of laws,", label, i))
    expect_lt(abs(mean(rho[, i]) - law[[i]]$mean), 5 * stats::sd(rho[, i]) / sqrt(n), label = paste("mean,", label, i))
  }
}

# name, M, areas and diameters of the parts, scales: narrow, and wider than what is closed or near the last that is served
spaces <- function() list(
  list(M = product(sphere(1), euclidean(1), weights = c(2, 0.5)), area = c("s1", "r1"), most = c(pi, Inf), scales = c(0.3, 3)),
  list(M = product(sphere(2), euclidean(1), weights = c(1, 0.25)), area = c("s2", "r1"), most = c(pi, Inf), scales = c(0.1, 1)),
  list(M = power(sphere(2), 2), area = c("s2", "s2"), most = c(pi, pi), scales = c(0.2, 2)),
  list(M = product(spd(2), sphere(1), weights = c(2, 0.5)), area = c("spd2", "s1"), most = c(Inf, pi), scales = c(0.2, 0.9)),
  list(M = product(hyperbolic(2), euclidean(2), weights = c(0.5, 3)), area = c("h2", "r2"), most = c(Inf, Inf), scales = c(0.1, 0.33)),
  list(M = product(product(sphere(1), euclidean(1), weights = c(2, 1)), kendall(4), weights = c(0.5, 1)), area = c("s1", "r1", "cp2"),
       most = c(pi, Inf, pi / 2), scales = c(0.15, 2)),
  list(M = torus(3), area = rep("s1", 3), most = rep(pi, 3), scales = c(0.4, 4)),
  list(M = product(hermitian_spd(2), sphere(1), weights = c(2, 0.5)), area = c("hermitian2", "s1"), most = c(Inf, pi), scales = c(0.15, 0.45))
)

weights_of <- function(M) vapply(parts_of(M), `[[`, 0, "weight")
cells_of <- function(case) if (length(case$area) == 3) 100 else 700

test_that("the Laplace law's distances, of parts and of the whole, in narrow and wide laws", {
  for (case in spaces()) for (scale in case$scales) {
    w <- weights_of(case$M)
    open <- any(case$area %in% c("spd2", "hermitian2", "h2"))
    law <- function(scale) {
      tail <- scale / (1 - mf_facts(case$M)$volume_growth * scale)
      joint_law(case$area, w, pmin(case$most, tail * (if (open) 22 else 16) / sqrt(w)), function(d) d / scale, cells_of(case))
    }
    rho <- apart(case$M, noise_of(case$M, "laplace", scale, 11))
    expect_joint(rho, law(scale), paste(label_of(case$M), scale))
    wrong <- law(1.03 * scale)
    wrong <- wrong[[length(wrong)]]$mean
    if (scale == case$scales[1]) expect_gt(abs(mean(rho[, ncol(rho)]) - wrong), 7 * stats::sd(rho[, ncol(rho)]) / sqrt(nrow(rho)))
  }
  # a nested product is the plain one, to the last draw
  M <- spaces()[[6]]$M
  flat <- product(lapply(parts_of(M), `[[`, "M"), weights = weights_of(M))
  expect_identical(noise_of(M, "laplace", 0.3, 1), noise_of(flat, "laplace", 0.3, 1))
})

test_that("the Gaussian law's distances", {
  for (case in spaces()) for (scale in c(0.15, 0.8)) {
    w <- weights_of(case$M)
    top <- pmin(case$most, (7.5 * scale + mf_facts(case$M)$volume_growth * scale^2) / sqrt(w))
    law <- joint_law(case$area, w, top, function(d) d^2 / (2 * scale^2), cells_of(case))
    expect_joint(apart(case$M, noise_of(case$M, "gaussian", scale, 12)), law, paste(label_of(case$M), scale))
  }
})

test_that("the staircase's distances", {
  stairs <- function(d, epsilon, step, first) epsilon * ifelse(d <= first, 0, ceiling((d - first) / step))
  for (case in spaces()[c(1, 2, 4)]) for (epsilon in c(1, 4)) {
    w <- weights_of(case$M)
    top <- pmin(case$most, 0.2 * (if (epsilon == 1) 16 else 6) / sqrt(w))
    law <- joint_law(case$area, w, top, function(d) stairs(d, epsilon, 0.2, 0.08), 1400)
    expect_joint(apart(case$M, noise_of(case$M, "staircase", c(0.2 / epsilon, 0.2, 0.08), 13)), law, paste(label_of(case$M), epsilon))
  }
})

test_that("a share of the trials is kept that the scale can't lower, where nothing grows exponentially", {
  kept <- function(M, scale, law = "laplace") riemdp:::radial_acceptance(M, law, scale)
  circle <- 2 * stats::pnorm(sqrt(pi / 2)) - 1
  closed <- function(volume, ricci, d) volume * (ricci / (6 * pi))^(d / 2)
  cases <- list(list(torus(6), circle^6, NA), list(power(sphere(2), 3), closed(4 * pi, 1, 2)^3, 1),
                list(product(sphere(5), kendall(6), euclidean(2), weights = c(4, 1 / 9, 1e4)), closed(pi^3, 4, 5) * closed(pi^4 / 24, 10, 8), 1))
  for (case in cases) {
    for (scale in c(0.05, 1, 10, 1e4)) expect_gt(kept(case[[1]], scale), 0.9 * case[[2]])
    # and at last no more where no circle is full
    if (!is.na(case[[3]])) expect_lt(kept(case[[1]], 1e4), 1.1 * case[[2]])
  }
  expect_gt(kept(torus(6), 1e4), 0.99)
  # in one direction after the other Ricci curvature over the weights is the same or not: seen by a public figure
  expect_equal(kept(product(euclidean(1), euclidean(3), weights = c(2, 5)), 3), 1)
  expect_gt(kept(product(spd(2), sphere(1)), 0.69), 0.45)
  # of normal laws each part is drawn by itself
  M <- product(spd(4), sphere(2), weights = c(4, 1))
  expect_identical(kept(M, 1, "gaussian"), kept(spd(4), 0.5, "gaussian"))
  expect_error(.Call(riemdp:::riemdp_radial_acceptance, M, 10, "gaussian", 1, TRUE), class = "riemdp_error_unsupported")
})

# log density of exp at origin for coordinates a, rows
log_jacobian <- function(M, a) mf_log_density(M, home(M), mf_from_coords(M, home(M), a))

test_that("the bounds of the densities are bounds, and those of the proof", {
  set.seed(5)
  M <- product(hyperbolic(3), spd(3), sphere(2), grassmann(4, 2), euclidean(1), weights = c(4, 1 / 2, 2, 1, 3))
  growth <- riemdp:::part_growth(M)
  expect_equal(growth, list(curved = 2 + 3, bend = max(2 / 4, (3 / 4) / (1 / 2))))
  d <- mf_facts(M)$dimension
  bound <- function(M, r) as.numeric(.Call(riemdp:::riemdp_radial, M, r)) - (mf_facts(M)$dimension - 1) * log(r)
  rate <- sqrt(growth$bend / growth$curved)
  for (r in c(0.5, 2)) expect_equal(bound(M, r), growth$curved * log(sinh(rate * r) / (rate * r)), tolerance = 1e-12)
  expect_false(attr(.Call(riemdp:::riemdp_radial, M, 1), "exact"))
  # the ratio of density to bound falls along each ray, also where all of the ray lies in one part
  turn <- rbind(diag(d), matrix(rnorm(200 * d), ncol = d))
  turn <- turn / sqrt(rowSums(turn^2))
  r <- c(0.05, 0.3, 0.7, 1.1, 1.5)
  ratio <- vapply(r, function(t) log_jacobian(M, t * turn) - bound(M, t), numeric(nrow(turn)))
  expect_lt(max(ratio), 1e-12)
  expect_lt(max(ratio[, -1] - ratio[, -5]), 1e-12)
  # 0F1(d/2, z^2/4) lies above the densities of hyperbolic space and positive definite matrices: Lemma 2
  log_f <- function(d, z) log(besselI(z, d / 2 - 1, TRUE)) + z + lgamma(d / 2) + (d / 2 - 1) * log(2 / z)
  for (k in c(2, 3, 5)) {
    N <- k * (k - 1) / 2
    dim <- k * (k + 1) / 2
    kappa <- sqrt(k / 4 * max(N, dim / 2))
    a <- matrix(rnorm(300 * dim), 300)
    far <- rbind(a / sqrt(rowSums(a^2)) * runif(300, 0.1, 6))
    expect_true(all(log_jacobian(spd(k), far) <= log_f(dim, kappa * sqrt(rowSums(far^2))) + 1e-9))
  }
  for (n in 2:8) {
    rho <- seq(0.05, 12, 0.05)
    expect_true(all((n - 1) * log(sinh(rho) / rho) <= log_f(n, (n - 1) * rho) + 1e-9))
  }
  # and that the square of its rate is no larger than 3/2 of the rate of volume, in the square
  for (k in 2:30) expect_lte(k / 4 * max(k * (k - 1) / 2, k * (k + 1) / 4), 1.5 * mf_facts(spd(k))$volume_growth^2 * (1 + 1e-12))
  for (k in 2:30) expect_lte(k / 2 * max(k * (k - 1), k^2 / 2), 1.5 * mf_facts(hermitian_spd(k))$volume_growth^2 * (1 + 1e-12))
})

test_that("the Gaussian law's price is that of no part alone undercut", {
  epsilon <- c(0.2, 1, 2)
  expect_identical(riemdp:::profile_space(product(euclidean(2), spd(2, "logeuclidean"), weights = 2:1)), list(kind = "flat", d = 5))
  expect_identical(riemdp:::profile_space(product(sphere(2), euclidean(1), torus(2))), list(kind = "hinge", d = 5))
  M <- product(hyperbolic(3), spd(2), sphere(2), weights = c(4, 1 / 2, 2))
  expect_equal(riemdp:::profile_space(M)[c("kind", "d", "plain", "pairs", "rate")],
               list(kind = "bound", d = 8, plain = 4, pairs = 3, rate = sqrt(max(2 / 4, 1) / 3)))
  expect_equal(riemdp:::profile_space(spd(3))[c("plain", "pairs", "rate")], list(plain = 2, pairs = 3, rate = 0.5))
  expect_equal(riemdp:::profile_space(hermitian_spd(3))[c("plain", "pairs", "rate")], list(plain = 2, pairs = 6, rate = 0.5))
  expect_equal(riemdp:::profile_space(product(hyperbolic(3), hermitian_spd(2), weights = c(4, 1 / 2)))[c("plain", "pairs", "rate")],
               list(plain = 2, pairs = 4, rate = sqrt(2 / 4)))
  # centres that differ in one part are told apart as that part's are, at its own scale
  for (M in list(product(sphere(2), euclidean(1), weights = c(1, 0.25)), product(sphere(1), hyperbolic(2), weights = c(0.5, 3)),
                 product(kendall(4), spd(2), weights = c(2, 0.2)))) {
    for (scale in c(0.1, 0.4)) for (distance in c(0.03, 0.1)) {
      stated <- privacy_profile(M, scale, distance, epsilon)
      for (leaf in parts_of(M)) {
        if (leaf$M$name == "spd_affine") next # a bound as well
        s <- sqrt(leaf$weight)
        expect_true(all(stated >= 0.99 * privacy_profile(leaf$M, scale / s, distance / s, epsilon) - 1e-12), label = paste(label_of(M), label_of(leaf$M)))
      }
    }
  }
  # and as the loss itself is where it is largest: by the draws, centres along the hyperbolic part
  M <- product(hyperbolic(2), sphere(1), weights = c(0.5, 1))
  s <- sqrt(0.5)
  x <- noise_of(M, "gaussian", 0.4, 14)
  move <- function(t) c(cosh(t / s), sinh(t / s), 0, home(M)[4:5])
  loss <- (mf_dist(M, move(0.3), x)^2 - mf_dist(M, home(M), x)^2) / (2 * 0.4^2)
  seen <- vapply(epsilon, function(e) mean(pmax(0, 1 - exp(e - loss))), 0)
  stated <- privacy_profile(M, 0.4, 0.3, epsilon)
  expect_true(all(stated > seen - 5 * 0.5 / sqrt(draws())))
  # the integral of the bound, by R: one curved direction of three, at curvature -2
  density <- function(r) r * sinh(sqrt(2) * r) * exp(-r^2 / (2 * 0.4^2))
  over <- function(f) stats::integrate(function(r) f(r) * density(r), 0, 8, rel.tol = 1e-9, subdivisions = 500)$value
  exact <- vapply(epsilon, function(e) over(function(r) pmax(0, 1 - exp(e - 0.3 * (2 * r + 0.3) / (2 * 0.4^2)))) / over(function(r) 1), 0)
  expect_true(all(stated >= exact * (1 - 1e-6) & stated < exact * 1.01))
})

records_near <- function(M, n, reach) {
  a <- matrix(rnorm(n * mf_facts(M)$dimension), n)
  mf_exp(M, home(M), mf_from_coords(M, home(M), a / sqrt(rowSums(a^2)) * reach * runif(n)))
}

test_that("releases: their scale, label, price, error and region", {
  set.seed(6)
  M <- product(direction = sphere(2), size = euclidean(1), weights = c(1, 1 / 4))
  n <- if (quick()) 150 else 400
  for (space in list(M, product(spd(2), sphere(1), weights = c(1, 2)))) {
    x <- records_near(space, 50, 0.35)
    target <- frechet_mean(x, space)$mean
    for (law in c("laplace", "staircase", "gaussian", if (identical(space, M)) "heat")) {
      ledger <- dp_ledger(NULL, 10, 1e-3)
      run <- function(...) dp_mean(x, space, 2, home(space), 0.4, delta = 1e-6, mechanism = law, post = FALSE, ...)
      r <- run(ledger = ledger)
      label <- paste(label_of(space), law)
      g <- guarantee(run())
      expect_identical(c(g$label, g$numerics), c(if (law %in% c("laplace", "staircase")) "pure" else "approx", "real-valued"), label = label)
      total <- r$sensitivity + r$solver_error
      if (law %in% c("laplace", "staircase")) {
        expect_true(r$scale >= total / 2 && r$scale < total / 2 * (1 + 1e-11), label = label)
        expect_equal(r$draws$epsilon, 2, tolerance = 1e-11)
        expect_identical(g$delta, 0)
      } else if (law == "gaussian") {
        expect_lte(privacy_profile(space, r$scale, total, 2), 1e-6)
        expect_gt(privacy_profile(space, 0.999 * r$scale, total, 2), 1e-6)
      } else {
        expect_equal(g$mu, total / r$scale, tolerance = 1e-9) # a flat part has no curvature to gain from
      }
      expect_output(explain(r), "Noise", label = label)
      expect_identical(nrow(ledger_history(ledger)), 1L)
      far <- with_simulation(7, replicate(n, mf_dist(space, target, run()$value)))
      expect_lt(abs(mean(far) - r$expected_error), 5 * stats::sd(far) / sqrt(n) + 0.02 * r$expected_error, label = label)
      radius <- stats::confint(r, level = 0.9)$radius
      expect_gt(mean(far <= radius), 0.9 - 5 * sqrt(0.09 / n), label = label)
      expect_lt(radius, 2.5 * mean(far))
    }
  }
  # errors that plans state, by quadrature (1 %: 20,000 simulated radii)
  for (case in spaces()[c(1, 4)]) {
    scale <- case$scales[2]
    tail <- scale / (1 - mf_facts(case$M)$volume_growth * scale)
    w <- weights_of(case$M)
    law <- joint_law(case$area, w, pmin(case$most, 22 * tail / sqrt(w)), function(d) d / scale, 1000)
    expect_equal(expected_error(case$M, scale), law[[3]]$mean, tolerance = 0.03)
  }
  # "auto" takes what errs least among what is drawn with doubles
  plan <- dp_mean_plan(M, 50, 4, home(M), 0.4, numerics = "real")
  chosen <- plan$expected_error[plan$chosen]
  expect_lte(chosen, 1.02 * min(plan$expected_error[plan$mechanism %in% c("laplace", "staircase", "wrapped")]))
  expect_identical(guarantee(dp_mean(records_near(M, 50, 0.3), M, 4, home(M), 0.4))$numerics, "lattice")
  # moved towards the centre where noise is large
  wide <- dp_mean(records_near(M, 5, 0.3), M, 1, home(M), 0.4, mechanism = "laplace")
  expect_lt(wide$expected_error, wide$noise_error)
  # single points, by the law around each of them
  r <- dp_local(records_near(M, 30, 0.3), M, 1, per = 0.2, mechanism = "laplace")
  expect_equal(r$scale, 0.2, tolerance = 1e-9)
})

test_that("the heat kernel of a product is its parts', each at its own time", {
  # means of what the Laplacian multiplies, and variances on the flat part, at 5 standard errors: 8 figures
  M <- product(sphere(2), euclidean(2), kendall(4), sphere(1), weights = c(2, 0.25, 0.5, 4))
  sigma <- 0.3
  x <- noise_of(M, "heat", sigma, 15)
  n <- nrow(x)
  near <- function(seen, wanted) expect_lt(abs(mean(seen) - wanted), 5 * stats::sd(seen) / sqrt(n))
  for (j in 1:2) near(mf_part(M, x, 2)[, j]^2, sigma^2 / 0.25)
  rho <- apart(M, x)
  near(cos(rho[, 1]), exp(-2 * sigma^2 / 2 / 2))
  near(cos(rho[, 3])^2 - 1 / 3, (1 - 1 / 3) * exp(-12 * sigma^2 / 2 / 0.5))
  near(cos(rho[, 4]), exp(-sigma^2 / 2 / 4))
  expect_lt(abs(stats::cor(rho[, 1], rho[, 3])), 5 / sqrt(n))
  # curvature: the least of the parts', 0 with a flat one; masses below 0 together
  space <- riemdp:::heat_space(product(sphere(3), grassmann(5, 2), weights = c(4, 2)))
  expect_equal(space$ricci, min(2 / 4, 3 / 2))
  expect_identical(riemdp:::heat_space(M)$ricci, 0)
  each <- c(riemdp:::heat_slack(riemdp:::heat_space(sphere(3)), 0.8 / 2), riemdp:::heat_slack(riemdp:::heat_space(grassmann(5, 2)), 0.8 / sqrt(2)))
  expect_true(all(each > 0))
  expect_gte(riemdp:::heat_slack(space, 0.8), 2 * expm1(sum(log1p(each / 2))))
  expect_lt(riemdp:::heat_slack(space, 0.8), 1.01 * sum(each) + 1e-15)
  expect_identical(riemdp:::heat_kept(space, 0.8), min(riemdp:::heat_kept(riemdp:::heat_space(sphere(3)), 0.4),
                                                       riemdp:::heat_kept(riemdp:::heat_space(grassmann(5, 2)), 0.8 / sqrt(2))))
  # circles keep all, however wide the law
  for (M in list(sphere(1), torus(2))) expect_identical(riemdp:::heat_kept(riemdp:::heat_space(M), 1e300), 1)
  expect_true(all(mf_is_point(torus(2), laplace_noise(torus(2), home(torus(2)), 1e300, 5, "heat"))))
  # frames with lengths of their own: the stated error is that of the draws
  M <- product(stiefel(4, 2), euclidean(1), weights = c(1, 2))
  d <- mf_dist(M, home(M), with_simulation(16, laplace_noise(M, home(M), 0.05, 20000, "heat")))
  expect_lt(abs(mean(d) - expected_error(M, 0.05, "heat")), 5 * stats::sd(d) / sqrt(20000) + 0.002 * mean(d))
  expect_equal(riemdp:::heat_space(M)$longer, sqrt(2))
})

test_that("what isn't served is refused from public facts", {
  ask <- function(M, law, ...) dp_mean(matrix(NaN, 9, mf_facts(M)$ambient), M, 1, home(M), 0.2, delta = 1e-6, mechanism = law, invalid = "center", ...)
  for (M in list(product(sphere(2), stiefel(4, 2)), product(spd(2, "bures"), euclidean(1)))) {
    for (law in c("laplace", "staircase", "gaussian")) expect_error(ask(M, law), "product of such", class = "riemdp_error_unsupported")
  }
  for (M in list(product(sphere(2), hyperbolic(2)), product(euclidean(1), euclidean(2)))) {
    expect_error(ask(M, "heat"), "products of these and of flat spaces", class = "riemdp_error_unsupported")
    expect_error(laplace_noise(M, home(M), 0.1, 1, "heat"), class = "riemdp_error_unsupported")
    expect_error(.Call(riemdp:::riemdp_noise, M, home(M), 1, "heat", 0.1, TRUE), class = "riemdp_error_unsupported")
  }
  expect_error(ask(power(stiefel(4, 2), 2), "chordal"), class = "riemdp_error_unsupported")
  own <- product(custom_sphere(2), euclidean(1))
  expect_error(dp_mean(matrix(0, 9, 4), own, 1, c(0, 0, 1, 0), 0.2, mechanism = "laplace", invalid = "center"), class = "riemdp_error_unsupported")
  # twice the rate of volume is asked for
  M <- product(hyperbolic(2), spd(2), weights = c(1, 0.5))
  growth <- sqrt(1 + 0.5 / 0.5)
  expect_equal(mf_facts(M)$volume_growth, growth)
  expect_error(laplace_noise(M, home(M), 1.001 / (2 * growth)), class = "riemdp_error_existence")
  expect_length(laplace_noise(M, home(M), 0.999 / (2 * growth)), 7)
  for (space in list(M, hyperbolic(2))) {
    for (scale in c(1e8, 1e300)) expect_error(laplace_noise(space, home(space), scale, 1, "gaussian"), class = "riemdp_error_existence")
  }
  expect_error(expected_error(product(grassmann(20, 5), euclidean(1)), 0.3), "would keep", class = "riemdp_error_unsupported")
})

test_that("noise that doubles don't hold is moved to their edge, wherever its centre lies", {
  # of a law with scale 600 around e^36: at the edges what lies beyond them, and nowhere more than the law has
  n <- 20000
  beyond <- function(logs, centre) {
    up <- exp(-(700 - centre) / 600) / 2
    down <- exp(-(700 + centre) / 600) / 2
    inside <- (exp(-(300 - centre) / 600) - exp(-(500 - centre) / 600)) / 2
    got <- c(mean(logs > 699.999), mean(logs < -699.999), mean(logs > 300 & logs < 500))
    expect_lt(max(abs(got - c(up, down, inside))), 5 * 0.5 / sqrt(n))
    expect_lte(max(abs(logs)), 700 + 1e-9)
  }
  M <- spd(1, "logeuclidean")
  logs <- with_simulation(1, log(as.vector(laplace_noise(M, matrix(exp(36)), 600, n))))
  beyond(logs, 36)
  x <- with_simulation(2, laplace_noise(product(euclidean(1), M, weights = c(1, 1e-4)), c(0, exp(36)), 6, n))
  expect_gt(mean(log(x[, 2]) > 699.999), 0.2)
  expect_lt(mean(log(x[, 2]) > 345 & log(x[, 2]) < 375), 0.02)
  expect_true(all(is.finite(x)))
  # a curved part is asked in its own units
  for (curved in list(hyperbolic(2), spd(2))) {
    wide <- product(curved, euclidean(1), weights = c(1e-6, 1))
    center <- mf_join(wide, list(if (curved$name == "hyperboloid") c(1, 0, 0) else diag(2), 0))
    expect_error(laplace_noise(wide, center, 0.05, 1, "gaussian"), class = "riemdp_error_existence")
  }
})

test_that("trials of a law around records, as many as these make it need, tick at nobody", {
  expect_identical(neighbour_trial("dp_mean", "product_kng", "array", 219)$findings, character())
})
