# One shared set of laws. Tolerances are absolute for quantities of order one.

for (case in all_manifolds()) {
  local({
    M <- case$M
    name <- label_of(M)
    n <- if (M$name == "custom") 5 else 12
    loose <- if (has_part(M, "stiefel")) 1e-9 else 1e-10

    test_that(paste("exp and log are inverse, distances are norms:", name), {
      s <- law_pairs(case, n)
      expect_true(all(mf_is_point(M, s$q)))
      u <- mf_log(M, s$p, s$q)
      expect_lt(gap(u, s$v), loose * 10)
      expect_lt(gap(mf_dist(M, s$p, mf_exp(M, s$p, u)), s$length), loose)
      expect_lt(gap(mf_dist(M, s$p, s$q), s$length), loose)
      expect_lt(gap(mf_norm(M, s$p, u), mf_dist(M, s$p, s$q)), loose)
      expect_lt(gap(mf_dist(M, s$p, s$q), mf_dist(M, s$q, s$p)), loose)
      expect_equal(mf_norm(M, s$p, s$v)^2, mf_inner(M, s$p, s$v, s$v), tolerance = 1e-12)
    })

    test_that(paste("triangle inequality and zero distance:", name), {
      s <- law_pairs(list(M = M, reach = case$reach / 2), n)
      r <- mf_exp(M, s$p, scale_records(M, unit_tangents(M, s$p, n), case$reach / 2 * runif(n)))
      slack <- mf_dist(M, s$p, s$q) + mf_dist(M, s$p, r) - mf_dist(M, s$q, r)
      expect_gt(min(slack), -1e-9)
      # the rounding of a factor's rotation is of the size of the factor, up to 2.4 here
      expect_lt(max(mf_dist(M, s$p, s$p)), if (has_part(M, "^psd")) 4e-15 else 1e-15)
      tiny <- mf_exp(M, s$p, scale_records(M, s$v, 1e-15 / s$length))
      expect_true(all(is.finite(mf_dist(M, s$p, tiny))))
      expect_false(anyNA(mf_log(M, s$p, tiny)))
    })

    test_that(paste("transport is isometric, inverse, keeps the geodesic and agrees with the ladder:", name), {
      s <- law_pairs(case, n)
      u <- mf_random_tangent(M, s$p, n)
      w <- mf_random_tangent(M, s$p, n)
      tu <- mf_transport(M, s$p, s$q, u)
      tw <- mf_transport(M, s$p, s$q, w)
      parallel <- if (has_part(M, "custom")) 1e-7 else 1e-8
      expect_lt(gap(mf_inner(M, s$q, tu, tw), mf_inner(M, s$p, u, w)), parallel)
      expect_lt(gap(mf_transport(M, s$q, s$p, tu), u), parallel)
      along <- mf_transport(M, s$p, s$q, s$v)
      expect_lt(gap(along, -mf_log(M, s$q, s$p)), parallel)
      iso <- mf_transport(M, s$p, s$q, u, method = "isometric")
      isow <- mf_transport(M, s$p, s$q, w, method = "isometric")
      expect_lt(gap(mf_inner(M, s$q, iso, isow), mf_inner(M, s$p, u, w)), 1e-9)
      if (mf_facts(M)$symmetric) {
        expect_lt(gap(mf_transport(M, s$p, s$q, u, method = "pole"), tu), 1e-7)
      } else {
        near <- mf_exp(M, s$p, scale_records(M, s$v, 0.3))
        exact <- mf_transport(M, s$p, near, u)
        one <- gap(mf_transport(M, s$p, near, u, method = "pole", rungs = 20), exact)
        two <- gap(mf_transport(M, s$p, near, u, method = "pole", rungs = 40), exact)
        expect_lt(two, 5e-4)
        if (one > 1e-7) expect_lt(two, one / 3) # second order in the rung
      }
    })

    test_that(paste("facts are those of the geometry:", name), {
      facts <- mf_facts(M)
      p <- if (is.null(case$p)) law_pairs(case, 1)$p else case$p
      # the volume density near p: its logarithm is -Ric(v, v)/6, and the sum of Ric over a frame is d (d - 1) times the mean
      # sectional curvature
      known <- facts$has_kng || (M$name == "product" && !has_part(M, "custom|stiefel|bures"))
      if (known && facts$dimension > 1) {
        d <- facts$dimension
        ricci <- -6 * mf_log_density(M, p, mf_from_coords(M, p, diag(0.01, d))) / 0.01^2
        expect_equal(sum(ricci), d * (d - 1) * facts$mean_curvature, tolerance = 2e-4)
        expect_true(facts$k_min <= facts$mean_curvature && facts$mean_curvature <= facts$k_max)
      } else if (M$name != "custom") {
        expect_identical(facts$mean_curvature, 0)
      }
      if (!has_part(M, "custom")) {
        set.seed(3)
        expect_true(all(mf_is_point(M, mf_random(M, 20, sd = 3)))) # far out, too
      }
      if (facts$orthonormal) {
        one <- matrix(as.double(p), ncol = max(1, facts$cols))
        expect_equal(crossprod(one), diag(ncol(one)))
      }
      # proofs of bounds and samplers name the spaces that they are about
      expect_identical(facts$has_kng, facts$symmetric && !grepl("custom|stiefel|product|rotations_frames", M$name))
      expect_identical(facts$arithmetic_stays, (if (inherits(M, "riemdp_scaled")) M$parts[[1]] else M)$name %in% c("euclidean", "sphere"))
      if (facts$arithmetic_stays) {
        radius <- min(case$reach, 1.5)
        for (k in 1:5) {
          v <- scale_records(M, unit_tangents(M, p, 6), radius * rbeta(6, 4, 1))
          m <- mf_project(M, matrix(colMeans(matrix(mf_exp(M, p, v), 6)), 1))
          expect_lte(mf_dist(M, p, m), radius)
        }
      }
      expect_identical(facts$local_bounds, facts$injectivity_radius == 0 && M$name != "custom")
    })

    test_that(paste("coordinates are orthonormal and inverse:", name), {
      s <- law_pairs(case, n)
      u <- mf_random_tangent(M, s$p, n)
      w <- mf_random_tangent(M, s$p, n)
      a <- matrix(mf_coords(M, s$p, u), n)
      b <- matrix(mf_coords(M, s$p, w), n)
      expect_equal(dim(a), c(n, s$d))
      expect_lt(gap(rowSums(a * b), mf_inner(M, s$p, u, w)), 1e-9)
      expect_lt(gap(mf_from_coords(M, s$p, if (s$d == 1) as.vector(a) else a), u), 1e-9)
      expect_lt(gap(mf_project_tangent(M, s$p, u), u), 1e-10)
    })

    test_that(paste("exp along a line is a geodesic:", name), {
      s <- law_pairs(case, n)
      h <- 1e-3
      t <- 0.6
      at <- lapply(c(t - h, t, t + h), function(f) mf_exp(M, s$p, scale_records(M, s$v, rep(f, n))))
      back <- mf_log(M, at[[2]], at[[1]])
      forth <- mf_log(M, at[[2]], at[[3]])
      # no acceleration: the two velocities are opposite
      expect_lt(max(mf_norm(M, at[[2]], back + forth)), 1e-8 * (1 + case$reach))
      expect_lt(gap(mf_dist(M, at[[1]], at[[3]]), 2 * h * s$length), 1e-9)
    })

    small <- mf_facts(M)$dimension <= 30 # differences along every axis are slow beyond
    if (small) test_that(paste("volume density agrees with a finite-difference determinant:", name), {
      s <- law_pairs(case, 2)
      for (i in 1:2) {
        p <- record(M, s$p, i)
        a <- as.vector(mf_coords(M, p, record(M, s$v, i)))
        q <- mf_exp(M, p, mf_from_coords(M, p, a))
        h <- 1e-4
        J <- vapply(seq_len(s$d), function(j) {
          e <- replace(numeric(s$d), j, h)
          one <- mf_coords(M, q, mf_log(M, q, mf_exp(M, p, mf_from_coords(M, p, a + e))))
          two <- mf_coords(M, q, mf_log(M, q, mf_exp(M, p, mf_from_coords(M, p, a - e))))
          as.vector(one - two) / (2 * h)
        }, numeric(s$d))
        expect_lt(abs(mf_log_density(M, p, mf_from_coords(M, p, a)) -
                        as.numeric(determinant(matrix(J, s$d))$modulus)), 2e-6 * s$d)
      }
    })

    if (small) test_that(paste("Jacobi factors are adjoint derivatives of exp:", name), {
      s <- law_pairs(list(M = M, reach = min(case$reach, 1.2)), 1, seed = 5)
      p <- record(M, s$p, 1)
      v <- record(M, s$v, 1)
      x <- 0.7
      u <- mf_random_tangent(M, p, 1)
      u <- record(M, u, 1)
      f <- mf_jacobi(M, p, v, x, u)
      q <- mf_exp(M, p, x * v)
      pu <- mf_transport(M, p, q, u)
      w <- record(M, mf_random_tangent(M, p, 1), 1)
      h <- 1e-4
      end <- function(t, moved) {
        if (moved) {
          foot <- mf_exp(M, p, t * w)
          mf_exp(M, foot, x * mf_transport(M, p, foot, v))
        } else {
          mf_exp(M, p, x * (v + t * w))
        }
      }
      for (moved in c(TRUE, FALSE)) {
        dq <- (mf_log(M, q, end(h, moved)) - mf_log(M, q, end(-h, moved))) / (2 * h)
        expect_lt(abs(mf_inner(M, q, dq, pu) - mf_inner(M, p, w, if (moved) f$p else f$v)), 2e-6)
      }
    })

    test_that(paste("batches equal single calls, either side may be one:", name), {
      s <- law_pairs(case, 4)
      all <- mf_log(M, s$p, s$q)
      for (i in 1:4) {
        expect_identical(as.vector(mf_log(M, record(M, s$p, i), record(M, s$q, i))), as.vector(record(M, all, i)))
        expect_identical(mf_dist(M, record(M, s$p, i), record(M, s$q, i)), mf_dist(M, s$p, s$q)[i])
      }
      first <- record(M, s$p, 1)
      near <- mf_exp(M, first, scale_records(M, unit_tangents(M, first, 4), case$reach * (1:4) / 5))
      many <- mf_log(M, first, near)
      expect_identical(as.vector(record(M, many, 3)), as.vector(mf_log(M, first, record(M, near, 3))))
      expect_lt(gap(as.matrix(mf_dist_matrix(M, near))[2, 4], mf_dist(M, record(M, near, 2), record(M, near, 4))), 1e-12)
    })

    if (M$name != "custom") test_that(paste("sums of logarithms are those of the logarithms, for any number of records:", name), {
      for (count in c(1:3, 5:7, 34)) expect_mean_told(case, count, 1e-8)
    })

    test_that(paste("output may be written over an input:", name), {
      s <- law_pairs(case, 4)
      aliased <- function(name, args, over) .Call(riemdp:::riemdp_aliased, M, name, args, over)
      u <- mf_random_tangent(M, s$p, 4)
      same <- function(got, want) expect_identical(as.vector(got), as.vector(want))
      v <- mf_log(M, s$p, s$q)
      same(aliased("exp", list(s$p, v), 1), mf_exp(M, s$p, v))
      same(aliased("exp", list(s$p, v), 2), mf_exp(M, s$p, v))
      for (over in 1:2) same(aliased("log", list(s$p, s$q), over), v)
      for (over in 1:3) same(aliased("transport", list(s$p, s$q, u), over), mf_transport(M, s$p, s$q, u))
      for (over in 1:3) {
        same(aliased("carry", list(s$p, s$q, u), over), mf_transport(M, s$p, s$q, u, method = "isometric"))
      }
      for (over in 1:2) same(aliased("project_tangent", list(s$p, u), over), mf_project_tangent(M, s$p, u))
      same(aliased("project", list(s$p), 1), mf_project(M, s$p))
    })

    move <- isometry(M)
    if (!is.null(move)) test_that(paste("invariant under isometries:", name), {
      s <- law_pairs(case, n)
      p <- move(s$p)
      q <- move(s$q)
      expect_lt(gap(mf_dist(M, p, q), s$length), 1e-9)
      # the geodesic's mid-point goes along
      mid <- mf_exp(M, s$p, scale_records(M, s$v, rep(0.5, n)))
      expect_lt(max(mf_dist(M, move(mid), mf_exp(M, p, scale_records(M, mf_log(M, p, q), rep(0.5, n))))), 1e-8)
      base <- record(M, s$p, 1)
      x <- mf_exp(M, base, scale_records(M, unit_tangents(M, base, 6), rep(case$reach / 3, 6)))
      expect_lt(max(mf_dist(M, move(frechet_mean(x, M)$mean), frechet_mean(move(x), M)$mean)), 1e-7)
    })

    test_that(paste("mf_points gives the same answers:", name), {
      s <- law_pairs(case, 4)
      P <- mf_points(s$p, M)
      Q <- mf_points(s$q, M)
      expect_length(P, 4)
      expect_lt(gap(mf_dist(M, P, Q), mf_dist(M, s$p, s$q)), 1e-14)
      expect_s3_class(mf_exp(M, P, mf_log(M, P, Q)), "riemdp_points")
      expect_lt(max(mf_dist(M, mf_exp(M, P, mf_log(M, P, Q)), Q)), 1e-8)
      expect_lt(gap(as.vector(as.array(P)), as.vector(s$p)), 1e-15)
    })
  })
}

test_that("the sphere written in R equals the C sphere", {
  C <- sphere(2)
  R <- custom_sphere(2)
  set.seed(3)
  p <- mf_random(C, 20)
  q <- mf_random(C, 20)
  expect_lt(gap(mf_dist(R, p, q), mf_dist(C, p, q)), 1e-14)
  expect_lt(gap(mf_log(R, p, q), mf_log(C, p, q)), 1e-13)
  v <- mf_log(C, p, q)
  expect_lt(gap(mf_transport(R, p, q, v), mf_transport(C, p, q, v)), 1e-7)
  expect_lt(gap(mf_log_density(R, p, v / 2), mf_log_density(C, p, v / 2)), 1e-8)
  near <- mf_exp(C, c(0, 0, 1), mf_random_tangent(C, c(0, 0, 1), 30, 0.4))
  expect_lt(gap(frechet_mean(near, R)$mean, frechet_mean(near, C)$mean), 1e-9)
})

test_that("sums over records of sizes that leave the caches are right in every lane", {
  # 112 rows is the last size at which four matrices go in step
  spaces <- list(spd(113), if (!quick()) spd(112), if (!quick()) spd(113, "bures"), if (!quick()) spd(113, "log-euclidean"),
                 if (!quick()) correlation(113), if (!quick()) hermitian_spd(57))
  for (M in Filter(Negate(is.null), spaces)) for (count in c(3, 6)) expect_mean_told(list(M = M, reach = 0.2), count, 1e-8)
})

test_that("large matrices and shapes: the laws at k = 100", {
  set.seed(8)
  for (metric in c("affine", "bures", "logeuclidean")) {
    M <- spd(100, metric)
    p <- mf_random(M, 2, sd = 0.05)
    d <- mf_dist(M, p[, , 1], p[, , 2])
    v <- mf_log(M, p[, , 1], p[, , 2])
    expect_lt(abs(mf_norm(M, p[, , 1], v) - d) / d, 1e-10)
    expect_lt(mf_dist(M, mf_exp(M, p[, , 1], v), p[, , 2]) / d, 1e-9)
    expect_identical(v, t(v))
    a <- mf_coords(M, p[, , 1], v)
    expect_lt(abs(sqrt(sum(a^2)) - d) / d, 1e-10)
  }
  for (M in list(stiefel(100, 10), stiefel(100, 10, "canonical"), grassmann(100, 10))) {
    p <- mf_random(M, 1)[, , 1]
    v <- mf_random_tangent(M, p, 1)[, , 1]
    v <- v / mf_norm(M, p, v)
    expect_lt(gap(mf_log(M, p, mf_exp(M, p, v)), v), 1e-8)
  }
  M <- kendall(100)
  x <- mf_random(M, 2)
  expect_lt(mf_dist(M, mf_exp(M, x[, 1], mf_log(M, x[, 1], x[, 2])), x[, 2]), 1e-9)
})

test_that("matrices of condition 1e12", {
  # exactly representable factors: P = D A D with A well conditioned, so that the distance is known
  a <- matrix(c(1, 0.5, 0.5, 1), 2)
  b <- matrix(c(1, -0.25, -0.25, 0.75), 2)
  s <- diag(c(2^20, 2^-20))
  for (k in 1:2) {
    d <- mf_dist(spd(2), s %*% a %*% s, s %*% b %*% s)
    expect_lt(abs(d - mf_dist(spd(2), a, b)), 1e-9)
    expect_lt(mf_dist(spd(2), mf_exp(spd(2), s %*% a %*% s, mf_log(spd(2), s %*% a %*% s, s %*% b %*% s)), s %*% b %*% s), 1e-9)
    s <- s[2:1, 2:1]
  }
})

test_that("volume grows at the rate that facts state", {
  for (d in c(2, 5)) {
    M <- hyperbolic(d)
    p <- c(1, rep(0, d))
    v <- c(0, 1, rep(0, d - 1))
    growth <- diff(c(mf_log_density(M, p, 60 * v), mf_log_density(M, p, 80 * v)) + (d - 1) * log(c(60, 80))) / 20
    expect_equal(growth, mf_facts(M)$volume_growth, tolerance = 1e-9)
    expect_identical(mf_facts(hyperbolic(d, "ball"))$volume_growth, mf_facts(M)$volume_growth)
  }
  for (k in 2:4) {
    M <- spd(k)
    v <- diag(seq(1 - k, k - 1, 2)) # the direction of fastest growth
    v <- v / sqrt(sum(v^2))
    at <- function(rho) mf_log_density(M, diag(k), rho * v) + k * (k - 1) / 2 * log(rho)
    expect_equal((at(80) - at(60)) / 20, mf_facts(M)$volume_growth, tolerance = 1e-9)
  }
  for (M in list(euclidean(3), sphere(3), kendall(4), grassmann(4, 2), spd(3, "logeuclidean"))) {
    expect_identical(mf_facts(M)$volume_growth, 0)
  }
})
