# three coordinates have loops of their own, over columns and over single records

test_that("records in columns, in mf_points and alone give the same bits", {
  S <- sphere(2)
  set.seed(1)
  n <- 401 # not a multiple of any block
  p <- mf_random(S, n)
  q <- mf_exp(S, p, mf_random_tangent(S, p, n))
  v <- mf_log(S, p, q)
  all <- list(mf_exp(S, p, v), v, cbind(mf_dist(S, p, q)), mf_transport(S, p, q, v))
  P <- mf_points(p, S)
  Q <- mf_points(q, S)
  expect_identical(unname(as.matrix(mf_log(S, P, Q))), v)
  expect_identical(mf_dist(S, P, q), all[[3]][, 1])
  for (i in c(1, 17, 128, 129, n)) {
    one <- list(mf_exp(S, p[i, ], v[i, ]), mf_log(S, p[i, ], q[i, ]), mf_dist(S, p[i, ], q[i, ]),
                mf_transport(S, p[i, ], q[i, ], v[i, ]))
    expect_identical(lapply(one, as.vector), lapply(all, function(x) x[i, ]))
  }
  expect_identical(mf_log(S, p[3, ], q[1:300, ]), mf_log(S, p[rep(3, 300), ], q[1:300, ]))
})

test_that("exp, log and dist keep their digits from coincidence to the antipode, and exp along long vectors", {
  S <- sphere(2)
  p <- c(1, 0, 0)
  angle <- c(10^-(15:1), seq(0.05, 3.1, by = 0.01), pi - 10^-(2:7), pi / 4, pi / 2, 3 * pi / 4)
  u <- outer(sin(seq_along(angle)), c(0, 1, 0)) + outer(cos(seq_along(angle)), c(0, 0, 1))
  x <- outer(cos(angle), p) + sin(angle) * u
  expect_lt(max(abs(mf_exp(S, p, angle * u) - x)), 1e-15)
  # the points themselves are rounded: near the antipode by some 1e-16 of the radius
  expect_lt(max(abs(mf_dist(S, p, x) - angle) / pmax(angle, 1e-300)), 2e-15)
  expect_lt(max(abs(mf_norm(S, p, mf_log(S, p, x)) - angle) / angle), 2e-15)
  long <- c(10, 1e3, 9.9e5, 1.01e6, 1e9)
  y <- mf_exp(S, p, outer(long, c(0, 0.6, 0.8)))
  expect_lt(max(abs(y - (outer(cos(long), p) + outer(sin(long), c(0, 0.6, 0.8)))) / pmax(long, 1)), 3e-16)
})

test_that("a bad record among columns is named", {
  S <- sphere(2)
  set.seed(2)
  p <- mf_random(S, 700)
  bad <- function(value) {
    p[612, 2] <- value
    p[690, 1] <- NA
    p
  }
  expect_error(mf_dist(S, p, bad(NaN)), "record 612", class = "riemdp_error_not_finite")
  expect_error(mf_dist(S, p, bad(3)), "record 612", class = "riemdp_error_off_manifold")
  expect_error(mf_exp(S, p, p), "record 1[)]", class = "riemdp_error_not_tangent")
  q <- p
  q[300, ] <- -p[300, ]
  expect_error(mf_log(S, p, q), "record 300", class = "riemdp_error_cut_locus")
  expect_error(mf_transport(S, p, q, 0 * p), "record 300", class = "riemdp_error_cut_locus")
})

test_that("a mean that starts opposite to a record leaves that place", {
  for (d in c(2, 4)) {
    x <- rbind(c(1, rep(0, d)), c(-1, rep(0, d)))
    f <- frechet_mean(x, sphere(d), start = x[1, ])
    expect_equal(f$variance, (pi / 2)^2, tolerance = 1e-9)
  }
})
