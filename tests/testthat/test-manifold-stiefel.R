# Sectional curvature of the plane of u and v (orthonormal) at p, from the third side of a small triangle:
# d(exp(t u), exp(t v))^2 = 2 t^2 - K t^4/3 + O(t^6) is even in t on a homogeneous space's average over signs
sectional <- function(M, p, u, v, t = 0.04) {
  side <- function(a, b) mf_dist(M, mf_exp(M, p, a * t * u), mf_exp(M, p, b * t * v))^2
  mean(vapply(list(c(1, 1), c(1, -1), c(-1, 1), c(-1, -1)), function(s) 3 * (2 * t^2 - side(s[1], s[2])) / t^4, numeric(1)))
}

plane <- function(M, p, u, v) {
  u <- u / mf_norm(M, p, u)
  v <- v - mf_inner(M, p, u, v) * u
  list(u, v / mf_norm(M, p, v))
}

test_that("curvature of Stiefel manifolds lies in its stated range, which is attained where it is proven", {
  set.seed(21)
  cases <- list(
    list(stiefel(2, 2), c(0, 0), pi * sqrt(2)), list(stiefel(3, 3), c(0, 1 / 8), pi * sqrt(2)), list(stiefel(4, 4), c(0, 1 / 4), pi * sqrt(2)),
    list(stiefel(5, 5), c(0, 1 / 4), pi * sqrt(2)), list(stiefel(3, 3, "canonical"), c(0, 1 / 4), pi),
    list(stiefel(4, 4, "canonical"), c(0, 1 / 2), pi), list(stiefel(3, 2, "canonical"), c(0, 1 / 4), pi),
    list(stiefel(4, 3, "canonical"), c(0, 1 / 2), pi), list(stiefel(3, 2), c(-1 / 2, 1 / 2), pi),
    list(stiefel(4, 3), c(-1 / 2, 1), pi), list(stiefel(5, 2), c(-1 / 2, 1), pi),
    list(stiefel(4, 2, "canonical"), c(0, 5 / 4), 2 * pi / sqrt(5)), list(stiefel(4, 1), c(1, 1), pi), list(stiefel(2, 1), c(0, 0), pi)
  )
  for (case in cases) {
    M <- case[[1]]
    facts <- mf_facts(M)
    expect_equal(c(facts$k_min, facts$k_max, facts$injectivity_radius), c(case[[2]], case[[3]]), label = label_of(M))
    if (facts$dimension == 1) next
    p <- diag(facts$rows)[, seq_len(facts$cols), drop = FALSE]
    k <- vapply(1:60, function(i) {
      at <- plane(M, p, record(M, mf_random_tangent(M, p, 1), 1), record(M, mf_random_tangent(M, p, 1), 1))
      sectional(M, p, at[[1]], at[[2]])
    }, numeric(1))
    expect_gt(min(k), facts$k_min - 0.01)
    expect_lt(max(k), facts$k_max + 0.01)
  }
})

test_that("the ends of proven ranges of curvature are attained", {
  skew <- function(n, ...) {
    a <- matrix(0, n, n)
    for (e in list(...)) a[e[1], e[2]] <- e[3]
    a - t(a)
  }
  curvature <- function(M, p, u, v) {
    at <- plane(M, p, u, v)
    sectional(M, p, at[[1]], at[[2]])
  }
  # two quaternions of one kind, and the rotations of three coordinates
  i <- skew(4, c(2, 1, 1), c(4, 3, 1))
  j <- skew(4, c(3, 1, 1), c(4, 2, -1))
  a <- skew(3, c(2, 1, 1))
  b <- skew(3, c(3, 1, 1))
  for (metric in c("euclidean", "canonical")) {
    scale <- if (metric == "euclidean") 1 else 2
    expect_equal(curvature(stiefel(4, 4, metric), diag(4), i, j), scale / 4, tolerance = 1e-3)
    expect_equal(curvature(stiefel(3, 3, metric), diag(3), a, b), scale / 8, tolerance = 1e-3)
  }
  M <- stiefel(3, 2)
  p <- diag(3)[, 1:2]
  expect_equal(curvature(M, p, rbind(0, 0, c(1, 0)), rbind(0, 0, c(0, 1))), -1 / 2, tolerance = 1e-3)
  expect_equal(curvature(M, p, rbind(c(0, -1), c(1, 0), 0), rbind(0, 0, c(0, 1))), 1 / 2, tolerance = 1e-3)
  # half a turn is as far as a rotation goes
  turn <- function(t) rbind(c(cos(t), -sin(t), 0), c(sin(t), cos(t), 0), c(0, 0, 1))
  for (metric in c("euclidean", "canonical")) {
    M <- stiefel(3, 3, metric)
    inj <- mf_facts(M)$injectivity_radius
    expect_equal(mf_dist(M, diag(3), turn(0.999 * pi)), 0.999 * inj, tolerance = 1e-9)
    expect_equal(mf_dist(M, diag(3), turn(1.2 * pi)), 0.8 * inj, tolerance = 1e-9)
  }
})

test_that("what has too many numbers is refused where it is asked for", {
  expect_error(grassmann(1e5, 5e4), "at most 1e7", class = "riemdp_error_argument")
  expect_error(stiefel(1e5, 300), "at most 1e7", class = "riemdp_error_argument")
  expect_error(stiefel(1, 1), "at least 2", class = "riemdp_error_argument")
  for (M in list(grassmann(1e5, 100), stiefel(1e5, 100), spd(5000), sphere(1e6), hyperbolic(1e6), kendall(1e5))) {
    expect_gt(mf_facts(M)$dimension, 1)
  }
})
