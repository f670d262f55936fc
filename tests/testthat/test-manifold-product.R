# Products: what they say of themselves against closed forms, operations and means against those of the parts, private means against their laws.
# The laws of every geometry run on them by test-geometry-laws.R.

mixed <- function() product(direction = sphere(2), size = euclidean(2), weights = c(1, 1 / 4))

nested <- function() {
  product(product(power(sphere(2), 2), kendall(3), weights = c(1, 3)), hyperbolic(2), grassmann(4, 2), weights = c(2, 1 / 3, 5))
}

leaves_of <- function(M) riemdp:::part_leaves(M)

# n points within `reach` of the origin, by its orthonormal coordinates
points_near <- function(M, n, reach) {
  o <- .Call(riemdp:::riemdp_origin, M)
  a <- matrix(rnorm(n * mf_facts(M)$dimension), n)
  mf_exp(M, o, mf_from_coords(M, o, a / sqrt(rowSums(a^2)) * reach * runif(n)^(1 / ncol(a))))
}

test_that("facts follow from the parts", {
  f <- mf_facts(product(sphere(2), hyperbolic(3), spd(3), weights = c(4, 1 / 4, 2)))
  expect_identical(c(f$ambient, f$dimension), c(3 + 4 + 9, 2 + 3 + 6))
  expect_equal(c(f$k_min, f$k_max), c(-4, 1 / 4))
  expect_equal(f$injectivity_radius, 2 * pi)
  expect_identical(f$diameter, Inf)
  # the largest sum of rates over directions of length 1
  expect_equal(f$volume_growth, sqrt(2^2 * 4 + (sqrt(3 * 8 / 3) / 2)^2 / 2))
  expect_true(f$homogeneous && f$symmetric)
  expect_false(f$one_mean || f$two_point_homogeneous || f$local_bounds || f$has_kng)
  expect_true(f$has_laplace && !mf_facts(product(sphere(2), stiefel(4, 2)))$has_laplace)
  # planes across parts are flat
  expect_identical(mf_facts(power(sphere(2), 2))[c("k_min", "k_max")], list(k_min = 0, k_max = 1))
  expect_equal(mf_facts(product(sphere(2), kendall(4), weights = c(1 / 9, 1)))$k_max, 9)
  expect_identical(mf_facts(power(hyperbolic(2), 2))[c("k_min", "k_max")], list(k_min = -1, k_max = 0))
  t <- mf_facts(power(sphere(1), 3, weight = 4))
  expect_equal(c(t$k_min, t$k_max, t$injectivity_radius, t$diameter), c(0, 0, 2 * pi, 2 * pi * sqrt(3)))
  expect_identical(mf_facts(torus(2))$homogeneous, TRUE)
  expect_true(mf_facts(product(spd(2), euclidean(1)))$one_mean)
  expect_false(mf_facts(product(sphere(2), custom_sphere(2)))$homogeneous)
  expect_false(mf_facts(product(sphere(2), stiefel(4, 2)))$symmetric)
  # of a ball: where a part's curvature depends on the place, from its own smaller or larger ball
  M <- product(spd(2, "bures"), sphere(2), weights = c(4, 100))
  center <- mf_join(M, list(diag(c(9, 4)), c(0, 0, 1)))
  ball <- riemdp:::check_radius(M, 0.3, center)
  own <- riemdp:::check_radius(spd(2, "bures"), 0.15, diag(c(9, 4)))
  expect_equal(ball$k_max, own$k_max / 4, tolerance = 1e-12)
  expect_equal(ball$injectivity_radius, 2 * own$injectivity_radius, tolerance = 1e-12)
  expect_gte(ball$k_max, own$k_max / 4)
})

test_that("operations are those of the parts, and nested products are plain ones", {
  set.seed(1)
  for (M in list(mixed(), nested(), product(stiefel(4, 2), spd(2, "bures"), weights = c(3, 1 / 2)))) {
    leaves <- leaves_of(M)
    flat <- product(lapply(leaves, `[[`, "M"), weights = vapply(leaves, `[[`, 0, "weight"))
    p <- mf_random(M, 5, sd = 0.2)
    v <- mf_random_tangent(M, p, 5, sd = 0.1)
    q <- mf_exp(M, p, v)
    u <- mf_random_tangent(M, p, 5)
    of <- function(x, leaf) as.array(riemdp:::new_points(x[, leaf$at], leaf$M))
    store <- function(x, leaf) if (mf_facts(leaf$M)$rows == 0) x else riemdp:::storage_rows_tangent(x, leaf$M)
    squares <- density <- 0
    for (leaf in leaves) {
      P <- of(p, leaf)
      Q <- of(q, leaf)
      expect_equal(unname(store(mf_exp(leaf$M, P, of(v, leaf)), leaf)), q[, leaf$at], tolerance = 1e-14)
      expect_equal(unname(store(mf_transport(leaf$M, P, Q, of(u, leaf)), leaf)), mf_transport(M, p, q, u)[, leaf$at], tolerance = 1e-12)
      squares <- squares + leaf$weight * mf_dist(leaf$M, P, Q)^2
      density <- density + mf_log_density(leaf$M, P, of(v, leaf))
    }
    expect_equal(mf_dist(M, p, q), sqrt(squares), tolerance = 1e-13)
    expect_equal(mf_log_density(M, p, v), density, tolerance = 1e-8)
    a <- mf_coords(M, p, u)
    expect_equal(rowSums(a^2), mf_inner(M, p, u, u), tolerance = 1e-12)
    for (f in list(mf_exp, mf_coords)) expect_identical(f(M, p, v), f(flat, p, v))
    expect_identical(mf_dist(M, p, q), mf_dist(flat, p, q))
    expect_identical(mf_facts(M), mf_facts(flat))
    expect_identical(mf_dist(M, mf_points(p, flat), q), mf_dist(M, p, q))
  }
  # columns of records and one record after the other: the same bits
  M <- power(sphere(2), 2, weight = 1 / 3)
  p <- mf_random(M, 300)
  q <- mf_random(M, 300)
  one <- vapply(1:300, function(i) mf_dist(M, p[i, ], q[i, ]), 0)
  expect_identical(mf_dist(M, p, q), one)
  expect_identical(mf_log(M, p, q)[300, ], mf_log(M, p[300, ], q[300, ]))
})

test_that("points are joined and taken apart in the parts' own forms", {
  set.seed(2)
  M <- product(shape = kendall(4), matrix = spd(2), number = euclidean(1))
  x <- list(shape = mf_random(kendall(4), 3), matrix = mf_random(spd(2), 3), number = c(1, 2, 3))
  y <- mf_join(M, x)
  expect_identical(dim(y), c(3L, 8L + 4L + 1L))
  expect_true(all(mf_is_point(M, y)))
  for (part in names(x)) expect_equal(as.vector(mf_part(M, y, part)), as.vector(x[[part]]), tolerance = 1e-14)
  expect_identical(mf_join(M, x[c(3, 1, 2)]), y)
  expect_identical(dim(mf_part(M, y, 2)), c(2L, 2L, 3L))
  # raw landmarks are brought to the manifold; one record goes with many; single points are a vector
  expect_equal(mf_join(M, list(2 * x$shape + 1, x$matrix[, , 1], 5))[, 9:13], matrix(c(x$matrix[, , 1], 5), 3, 5, byrow = TRUE))
  single <- mf_join(M, list(x$shape[, 2], x$matrix[, , 2], 2))
  expect_equal(single, y[2, ], tolerance = 1e-14)
  expect_equal(mf_part(M, single, "shape"), x$shape[, 2], tolerance = 1e-14)
  expect_identical(mf_part(M, single, "number"), 2)
  P <- mf_points(y, M)
  expect_identical(as.matrix(mf_part(M, P, "matrix")), as.matrix(mf_points(x$matrix, spd(2))))
  v <- mf_log(M, y[1, ], y)
  expect_equal(mf_part(M, v, "matrix"), mf_log(spd(2), x$matrix[, , 1], x$matrix), tolerance = 1e-13)
  expect_match(format(M)[1], "Kendall.* x 2 x 2 positive definite matrices.* x Euclidean space R")
  expect_match(format(torus(3))[1], "3 times sphere", fixed = TRUE)
  expect_match(format(power(sphere(2), 2, weight = 1 / 4))[1], "2 times sphere S^2 in R^3, weight 0.25", fixed = TRUE)
  expect_identical(power(sphere(2), 1), sphere(2))
  set.seed(3)
  far <- mf_random(product(euclidean(1), euclidean(1), weights = c(1, 100)), 4000, sd = 2)
  expect_equal(apply(far, 2, sd), c(2, 0.2), tolerance = 0.06) # of orthonormal coordinates
})

test_that("one part alone is that space in other units", {
  expect_identical(product(sphere(2)), sphere(2))
  expect_identical(power(spd(2), 1), spd(2))
  f <- mf_facts(product(sphere(2), weights = 9))
  expect_equal(unlist(f[c("k_min", "k_max", "mean_curvature", "injectivity_radius", "diameter")], use.names = FALSE), c(1 / 9, 1 / 9, 1 / 9, 3 * pi, 3 * pi))
  expect_true(f$two_point_homogeneous && f$orthonormal)
  f <- mf_facts(hyperbolic(3, curvature = -4))
  expect_equal(unlist(f[c("k_min", "k_max", "volume_growth")], use.names = FALSE), c(-4, -4, 4))
  expect_match(format(hyperbolic(3, "ball", -4))[1], "hyperbolic space H^3, Poincare ball, curvature -4", fixed = TRUE)
  expect_identical(hyperbolic(2, curvature = -1), hyperbolic(2))
  expect_identical(product(product(sphere(1), weights = 4), weights = 1 / 4), sphere(1))
  expect_identical(product(torus(2), weights = 4)$weights, c(4, 4))
  expect_equal(mf_facts(product(hyperbolic(2, curvature = -4), sphere(2)))$k_min, -4)
  expect_identical(mf_facts(product(product(product(product(sphere(2), weights = 4), euclidean(1)), euclidean(1)), euclidean(1)))$dimension, 5)
  set.seed(5)
  cases <- list(list(sphere(2), c(0, 0, 1)), list(hyperbolic(2), c(1, 0, 0)), list(spd(2), diag(2)), list(spd(2, "bures"), diag(2)),
                list(kendall(4), exp(2i * pi * (1:4) / 4)), list(stiefel(4, 2), diag(4)[, 1:2]), list(sphere(1), c(1, 0)))
  for (case in cases) {
    U <- case[[1]]
    M <- product(U, weights = 4)
    label <- label_of(U)
    x <- mf_exp(U, case[[2]], mf_random_tangent(U, case[[2]], 40, sd = 0.05))
    expect_identical(dim(mf_random(M, 3)), dim(mf_random(U, 3)), label = label)
    expect_equal(mf_dist(M, case[[2]], x), 2 * mf_dist(U, case[[2]], x), tolerance = 1e-13, label = label)
    for (f in list(frechet_mean, frechet_median)) {
      own <- f(x, U)
      other <- f(x, M)
      expect_identical(other$mean, own$mean, label = label)
      expect_equal(other$variance / own$variance, if (identical(f, frechet_mean)) 4 else 2, tolerance = 1e-12, label = label)
      expect_identical(other$unique, own$unique, label = label)
    }
    # the same public numbers in other units; a draw of the same law
    plans <- Map(function(M, r) as.data.frame(dp_mean_plan(M, 100, 1, center = case[[2]], radius = r)), list(M, U), c(0.2, 0.1))
    expect_true("tangent" %in% plans[[2]]$mechanism)
    for (m in intersect(c("laplace", "staircase", "wrapped", "wrapped_staircase", "tangent", "laplace_truncated"), plans[[2]]$mechanism)) {
      at <- lapply(plans, function(p) p[p$mechanism == m, ])
      expect_equal(at[[1]]$scale, 2 * at[[2]]$scale, tolerance = 0.02, label = paste(label, m))
      expect_equal(at[[1]]$expected_error, 2 * at[[2]]$expected_error, tolerance = 0.05, label = paste(label, m))
    }
    r <- dp_mean(mf_points(x, U), M, 1e4, case[[2]], 0.4)
    expect_identical(guarantee(r)$label, "pure", label = label)
    expect_lt(mf_dist(M, r$value, frechet_mean(x, U)$mean), 0.02)
  }
  # ellipses are ellipses in all units
  x <- mf_random(spd(2), 20, sd = 0.2)
  drawn <- function(M) {
    file <- tempfile()
    grDevices::postscript(file)
    plot(geodesic_regression(y ~ t, M, list(t = seq(0, 1, length.out = 20), y = mf_points(x, M))), main = "")
    grDevices::dev.off()
    readLines(file)
  }
  expect_identical(drawn(product(spd(2), weights = 4)), drawn(spd(2)))
  y <- mf_random(sphere(2), 60)
  p <- vapply(list(sphere(2), product(sphere(2), weights = 9)), function(M) {
    with_simulation(2, dp_test(y, M, 5, group = rep(1:2, 30))$p.value)
  }, 0)
  expect_identical(p[1], p[2])
  p <- Map(function(M, r) {
    with_simulation(2, dp_test(y, M, 5, group = rep(1:2, 30), center = c(0, 0, 1), radius = r)$p.value)
  }, list(sphere(2), product(sphere(2), weights = 9)), c(0.5, 1.5))
  expect_equal(p[[1]], p[[2]], tolerance = 1e-12)
})

test_that("what is no product is refused", {
  for (bad in list(quote(product()), quote(hyperbolic(2, curvature = 1)), quote(hyperbolic(2, curvature = 0)),
                   quote(product(product(sphere(2), weights = 1e9), weights = 1e9)), quote(product(sphere(2), euclidean(2), weights = c(1, 2, 3))),
                   quote(product(sphere(2), euclidean(2), weights = 0)), quote(product(sphere(2), euclidean(2), weights = NaN)),
                   quote(product(sphere(2), euclidean(2), weights = "1")), quote(power(sphere(2), 0)),
                   quote(power(power(power(torus(2), 2), 2), 2)), quote(power(power(sphere(2), 2, weight = 1e9), 2, weight = 1e9)),
                   quote(mf_join(mixed(), list(c(0, 0, 1)))), quote(mf_part(mixed(), c(0, 0, 1, 1, 1), "none")),
                   quote(mf_part(sphere(2), c(0, 0, 1), 1)), quote(mf_join(mixed(), list(direction = c(0, 0, 1), other = c(1, 2)))))) {
    expect_error(eval(bad), class = "riemdp_error_argument", label = deparse(bad))
  }
  expect_error(product(sphere(2), 3), class = "riemdp_error_manifold")
  expect_error(mf_join(mixed(), list(diag(3), matrix(0, 2, 2))), class = "riemdp_error_shape")
  expect_error(mf_part(mixed(), 1:3, 1), class = "riemdp_error_shape")
  expect_error(mf_part(mixed(), mf_points(c(0, 0, 1), sphere(2)), 1), class = "riemdp_error_shape")
  expect_error(mf_join(mixed(), list(c(0, 0, 2), c(1, 2))), class = "riemdp_error")
  expect_identical(mf_facts(power(power(torus(2), 2), 2))$dimension, 8)
  # tampered objects
  broken <- list(function(M) utils::modifyList(M, list(parts = 3)), function(M) utils::modifyList(M, list(weights = c(1, -1))),
                 function(M) utils::modifyList(M, list(weights = c(1, NaN))), function(M) utils::modifyList(M, list(weights = 1)),
                 function(M) { M$parts <- NULL; M }, function(M) { M$parts[[2]]$param <- 0L; M }, function(M) { M$parts[[1]] <- torus(2)$parts; M },
                 function(M) { M$parts[[1]] <- structure(list(name = "sphere", param = 2L), class = "riemdp_manifold"); M },
                 function(M) { M$parts[[1]] <- power(power(torus(2), 2), 2); M })
  for (f in broken) expect_error(mf_facts(f(mixed())), class = "riemdp_error_manifold", label = deparse(body(f)))
  # points of another product
  expect_error(mf_dist(mixed(), mf_points(mf_random(torus(2), 2), torus(2)), c(0, 0, 1, 0, 0)), class = "riemdp_error_shape")
})

test_that("means are the parts' means, to 1e-10, and the solver over the whole product agrees", {
  set.seed(4)
  for (case in list(list(mixed(), 0.6), list(nested(), 0.3), list(product(stiefel(4, 2), spd(2), weights = c(1, 3)), 0.4))) {
    M <- case[[1]]
    x <- points_near(M, 20, case[[2]])
    w <- runif(20)
    fit <- frechet_mean(x, M, weights = w)
    expect_true(fit$converged && isTRUE(fit$unique))
    sum <- colSums(w * mf_log(M, fit$mean, x)) / sum(w)
    expect_lt(mf_norm(M, fit$mean, sum), 1e-10)
    expect_equal(fit$variance, sum(w * mf_dist(M, fit$mean, x)^2) / sum(w), tolerance = 1e-9)
    whole <- frechet_mean(x, M, weights = w, start = x[1, ])
    expect_lt(mf_dist(M, fit$mean, whole$mean), 1e-9)
    expect_lt(whole$gradient_norm, 1e-9)
    # in chunks
    chunked <- frechet_mean(chunks(list(x[1:7, ], x[8:20, ])), M)
    expect_lt(mf_dist(M, chunked$mean, frechet_mean(x, M)$mean), 1e-9)
  }
  # on circles the smallest of all local minima
  x <- mf_random(torus(2), 15)
  best <- vapply(1:2, function(i) frechet_mean(mf_part(torus(2), x, i), sphere(1))$variance, 0)
  expect_equal(frechet_mean(x, torus(2))$variance, sum(best), tolerance = 1e-12)
})

test_that("the mean by public steps keeps its bound, with and without a start, on parts of every kind", {
  spaces <- list(list(mixed(), 0.6), list(nested(), 0.3), list(product(spd(2), hyperbolic(3), weights = c(1 / 3, 7)), 1),
                 list(product(stiefel(4, 2, "canonical"), kendall(4), sphere(1), weights = c(1, 3, 1 / 9)), 0.2),
                 list(product(stiefel(4, 2), euclidean(3)), 0.4), list(product(spd(2, "bures"), grassmann(4, 2), weights = c(1 / 2, 1)), 0.2))
  set.seed(5)
  for (case in spaces) {
    M <- case[[1]]
    r <- case[[2]]
    center <- .Call(riemdp:::riemdp_origin, M)
    x <- points_near(M, 9, 0.99 * r)
    ball <- riemdp:::check_radius(M, r, center)
    for (lattice in c(TRUE, FALSE)) {
      b <- riemdp:::mean_steps(M, ball, 9, lattice = lattice)
      expect_null(b$why)
      expect_lt(b$error, 1e-8)
      exact <- frechet_mean(x, M, tol = 1e-13)$mean
      a <- NULL
      for (start in list(NULL, "near", 0)) {
        from <- if (is.null(start)) NULL else if (start == 0) a * 0 else a + 1e-13
        a <- .Call(riemdp:::riemdp_steps_mean_nonprivate, M, x, center, b$numbers, from)
        point <- .Call(riemdp:::riemdp_unit_points, M, NULL, center, b$numbers, as.vector(a))
        # records' coordinates have errors of their own
        expect_lt(mf_dist(M, exact, as.vector(point)), b$distance + 1e-12, label = label_of(M))
        expect_gt(mf_dist(M, center, as.vector(point)), 1e-3)
      }
    }
  }
})

test_that("bounds of rounding errors are those of the proof, written once more", {
  u <- 2^-53
  # a sphere and a plane, with weights
  w <- c(4, 1 / 9)
  M <- product(sphere(3), euclidean(2), weights = w)
  r <- 0.6
  ball <- riemdp:::check_radius(M, r, c(1, 0, 0, 0, 0, 0))
  b <- riemdp:::mean_steps(M, ball, 50)
  own <- r / sqrt(w)
  unit <- 2^-b$numbers$bits
  rest <- sqrt(5) * unit + 14 * r * u
  sphere_log <- 2 * own[1] * ((16 * 3 + 900) * u + 40 * 25 * exp(own[1]) * u^2)
  gradient <- c(sphere_log + rest / sqrt(w[1]) + 8 * own[1] * u, 2.1 * own[2] * u + rest / sqrt(w[2]) + 8 * own[2] * u)
  expect_equal(b$gradient / sqrt(sum(w * gradient^2)), 1, tolerance = 1e-8)
  place <- c(1.01 * (2 * sphere_log + rest / sqrt(w[1]) + 8 * own[1] * u), b$numbers$step * gradient[2] + 3.1 * own[2] * u)
  s <- riemdp:::steps_length(ball, 1e-4)
  convert <- 4 * u * r
  rounding <- 10 * (5 + 8) * u * r + 2 * u * r + sqrt(5) * unit + convert
  eta <- 2 * sqrt(sum(w * place^2)) + rounding
  accept <- max(1e-11 * r, 4 * b$gradient + 4 * rounding)
  rho <- r * sqrt(ball$k_max)
  settled <- max(s$q^s$count * r + eta / (1 - s$q), ((1 + 1e-6) * accept + b$gradient) * tan(2 * rho) / (2 * rho)) + convert
  expect_equal(b$distance / settled, 1, tolerance = 1e-8)
  # where a start's test doesn't hide it
  expect_equal(b$numbers$accept / accept, 1, tolerance = 1e-8)
  expect_equal(vapply(b$numbers$parts, `[[`, 0, "radius") / own, c(1, 1), tolerance = 1e-10)
  expect_true(all(vapply(b$numbers$parts, `[[`, 0, "radius") >= own))
  # a small ball, in which rounding is what counts
  small <- 1e-9
  b <- riemdp:::mean_steps(M, riemdp:::check_radius(M, small, c(1, 0, 0, 0, 0, 0)), 50)
  expect_gt(b$distance, 4 * u * small)
  # the parts' numbers are asked for
  numbers <- b$numbers
  numbers$parts <- numbers$parts[1]
  x <- matrix(c(1, 0, 0, 0, 0, 0), 3, 6, byrow = TRUE)
  mean_by <- function(numbers) .Call(riemdp:::riemdp_steps_mean_nonprivate, M, x, x[1, ], numbers, NULL)
  expect_error(mean_by(numbers), class = "riemdp_error_argument")
  numbers <- b$numbers
  numbers$parts[[2]]$radius <- numbers$parts[[2]]$radius / 2
  expect_error(mean_by(numbers), class = "riemdp_error_argument")
})

test_that("one record never moves the mean, nor the gradient, by more than the bound", {
  set.seed(6)
  for (case in list(list(mixed(), 0.7), list(power(sphere(2), 3, weight = 1 / 4), 0.35), list(nested(), 0.35), list(product(spd(2), sphere(2)), 0.7),
                    list(torus(2), 1.4))) {
    M <- case[[1]]
    r <- case[[2]]
    o <- .Call(riemdp:::riemdp_origin, M)
    worst <- 0
    for (trial in 1:15) {
      n <- sample(2:5, 1)
      a <- matrix(rnorm((n + 1) * mf_facts(M)$dimension), n + 1)
      a <- a * rbinom(length(a), 1, 0.6) + 1e-9 # towards single parts, too
      x <- mf_exp(M, o, mf_from_coords(M, o, a / sqrt(rowSums(a^2)) * r * runif(n + 1)^0.1))
      one <- frechet_mean(x[1:n, ], M)$mean
      two <- frechet_mean(x[2:(n + 1), ], M)$mean
      bound <- as.numeric(mean_sensitivity(M, n, r))
      expect_lte(mf_dist(M, one, two), bound)
      worst <- max(worst, mf_dist(M, one, two) / bound)
      p <- x[1, ]
      expect_lte(mf_norm(M, p, mf_log(M, p, x[2, ]) - mf_log(M, p, x[n + 1, ])) / n, as.numeric(gradient_sensitivity(M, n, r)))
    }
    expect_gt(worst, 0.3)
  }
})

# coordinates of the noise of `count` releases, by a mechanism, around the mean's at the centre
noise_of <- function(M, x, center, radius, count, ...) {
  at <- mf_coords(M, center, mf_log(M, center, frechet_mean(x, M)$mean))
  draws <- with_simulation(7, t(vapply(seq_len(count), function(i) dp_mean(x, M, 1, center, radius, post = FALSE, ...)$value, center)))
  sweep(mf_coords(M, center, mf_log(M, center, draws)), 2, as.vector(at))
}

test_that("releases follow their laws: as much noise in each orthonormal coordinate, whatever the weights", {
  set.seed(8)
  count <- if (quick()) 300 else 1000
  M <- product(sphere(2), spd(2), weights = c(9, 1 / 4))
  center <- .Call(riemdp:::riemdp_origin, M)
  x <- points_near(M, 400, 0.4)
  r <- dp_mean(x, M, 1, center, 0.5, mechanism = "wrapped")
  expect_identical(guarantee(r)[c("label", "numerics", "epsilon")], list(label = "pure", numerics = "lattice", epsilon = 1))
  z <- noise_of(M, x, center, 0.5, count, mechanism = "wrapped")
  expect_gt(ks.test(sqrt(rowSums(z^2)) / r$scale, pgamma, 5)$p.value, 1e-5)
  # the share of the first part's two coordinates in a direction of R^5
  expect_gt(ks.test(rowSums(z[, 1:2]^2) / rowSums(z^2), pbeta, 1, 3 / 2)$p.value, 1e-5)
  g <- dp_mean(x, M, 1, center, 0.5, mechanism = "wrapped_gaussian", delta = 1e-6)
  expect_identical(guarantee(g)[c("label", "numerics")], list(label = "approx", numerics = "lattice"))
  z <- noise_of(M, x, center, 0.5, count, mechanism = "wrapped_gaussian", delta = 1e-6)
  expect_gt(ks.test(as.vector(z) / g$scale + runif(length(z)) * 1e-9, pnorm)$p.value, 1e-5) # a lattice has ties
  # laws on the ball, where it is flat and all records are at its centre
  M <- product(sphere(1), euclidean(1), weights = c(4, 1 / 9))
  center <- c(1, 0, 0)
  x <- matrix(center, 50, 3, byrow = TRUE)
  for (m in c("laplace_truncated", "kng")) {
    r <- dp_mean(x, M, 1, center, 0.5, mechanism = m)
    expect_identical(guarantee(r)[c("label", "numerics")], list(label = "pure", numerics = "lattice"))
    z <- noise_of(M, x, center, 0.5, count, mechanism = m)
    law <- function(rho) pgamma(rho / r$scale, 2) / pgamma(0.5 / r$scale, 2)
    expect_gt(ks.test(sqrt(rowSums(z^2)), law)$p.value, 1e-5)
    expect_gt(ks.test(atan2(z[, 1], z[, 2]), punif, -pi, pi)$p.value, 1e-5)
  }
})

test_that("labels are the parts', and what products haven't got is refused from public facts", {
  M <- product(spd(2), sphere(1))
  center <- .Call(riemdp:::riemdp_origin, M)
  set.seed(9)
  x <- points_near(M, 60, 0.4)
  for (m in c("wrapped_staircase", "staircase_truncated", "tangent", "adaptive")) {
    g <- guarantee(dp_mean(x, M, 2, center, 0.5, mechanism = m))
    expect_identical(g[c("label", "numerics")], list(label = "pure", numerics = "lattice"), label = m)
  }
  for (f in list(dp_median, dp_variance)) {
    expect_identical(guarantee(f(x, M, 2, center, 0.5))[c("label", "numerics")], list(label = "pure", numerics = "lattice"))
  }
  for (m in c("heat", "chordal", "euclidean", "pointwise")) {
    for (y in list(x, x * NaN)) {
      expect_error(dp_mean(y, M, 2, center, 0.5, mechanism = m, delta = 1e-6, invalid = "center"), class = "riemdp_error_unsupported", label = m)
    }
  }
  expect_error(dp_mean(x, M, 2, center, 0.5, mechanism = "kng", numerics = "real"), class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, M, 2, center, pi / 2), class = "riemdp_error_radius")
  expect_error(dp_test(x, group = rep(1:2, 30), M = M, epsilon = 1), class = "riemdp_error_unsupported")
  # far out on a hyperbolic part, as its own radius goes
  far <- product(hyperbolic(2), euclidean(1), weights = c(1 / 4, 1))
  expect_match(riemdp:::lattice_law_why(far, list(radius = 8)), "radius up to 15", fixed = TRUE)
  expect_null(riemdp:::lattice_law_why(far, list(radius = 7)))
  # a user's part
  own <- product(custom_sphere(2), euclidean(1))
  y <- cbind(0, 0, 1, seq(-0.1, 0.1, length.out = 30))
  g <- guarantee(dp_mean(y, own, 1, c(0, 0, 1, 0), 0.3))
  expect_identical(g$label, "none")
  expect_match(g$reason, "user's manifold", fixed = TRUE)
  expect_error(dp_median(y, own, 1, c(0, 0, 1, 0), 0.3), class = "riemdp_error_unsupported")
  expect_error(mechanism_table(own), class = "riemdp_error_argument")
  curve <- dp_regression(y ~ t, own, data.frame(t = 1:30 / 30), 1, c(0, 0, 1, 0), 0.3, speed = 0.5, residual_bound = 0.2, bounds = list(t = c(0, 1)))
  expect_error(dp_residual_scale(curve, data.frame(t = 1:30 / 30, y = 0), 1, bound = 1), "user's manifold", class = "riemdp_error_unsupported")
  expect_identical(unique(dp_region_plan(own, 200, 1, c(0, 0, 1, 0), 0.3, spread = 0.05, shares = 0.1)$kind), "ball")
  table <- mechanism_table(M)
  expect_identical(sort(table$mechanism[which(table$label == "pure" & is.na(table$note))]),
                   sort(intersect(c("laplace", "staircase", "wrapped", "wrapped_staircase", "kng", "laplace_truncated", "staircase_truncated"),
                                  table$mechanism[is.na(table$note)])))
  expect_identical(table$label[table$mechanism == "wrapped"], "pure")
})

test_that("joint noise errs less than each part with a share of epsilon", {
  error <- function(M, epsilon, radius) {
    plan <- as.data.frame(dp_mean_plan(M, 200, epsilon, .Call(riemdp:::riemdp_origin, M), radius, mechanism = "wrapped", post = FALSE))
    plan$expected_error[plan$mechanism == "wrapped"]
  }
  expect_lt(error(power(sphere(2), 3), 1, 0.4), 0.7 * sqrt(3) * error(sphere(2), 1 / 3, 0.4))
})

test_that("parts are read where they lie, and what is wrong is told of the whole record", {
  set.seed(8)
  n <- 301
  S <- sphere(2)
  P <- spd(2)
  M <- product(S, P, weights = c(1, 3))
  center <- c(0, 0, 1, diag(2))
  x <- mf_exp(M, center, mf_from_coords(M, center, matrix(rnorm(5 * n, sd = 0.3), n)))
  y <- x[c(2:n, 1), ]
  v <- mf_log(M, x, y)
  one <- function(f) do.call(rbind, lapply(seq_len(n), f))
  expect_identical(one(function(i) mf_log(M, x[i, ], y[i, ])), v)
  expect_identical(one(function(i) mf_exp(M, x[i, ], v[i, ])), mf_exp(M, x, v))
  expect_identical(one(function(i) mf_transport(M, x[i, ], y[i, ], v[i, ])), mf_transport(M, x, y, v))
  apart <- mf_dist(M, x, y)
  expect_identical(drop(one(function(i) mf_dist(M, x[i, ], y[i, ]))), apart)
  expect_equal(apart, sqrt(mf_dist(S, x[, 1:3], y[, 1:3])^2 + 3 * mf_dist(P, mf_part(M, x, 2), mf_part(M, y, 2))^2), tolerance = 1e-14)
  expect_identical(mf_log(M, x[1, ], y), mf_log(M, x[rep(1, n), ], y))
  bent <- v
  bent[290, 5] <- bent[290, 5] + 1
  expect_error(mf_exp(M, x, bent), "290", class = "riemdp_error_not_symmetric")
  expect_error(mf_transport(M, x, y, bent), "290", class = "riemdp_error_not_symmetric")
  x[290, 4] <- -1
  expect_error(mf_log(M, y, x), "290", class = "riemdp_error_not_positive_definite")
  x[295, 1] <- 2 # a later record, but an earlier part
  said <- function(f) tryCatch(f(M, x), error = conditionMessage)
  expect_match(said(mf_check), "290")
  expect_identical(said(function(M, x) frechet_mean(x, M)), said(mf_check))
})
