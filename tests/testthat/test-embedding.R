# Fixed seeds; no test of a sampling law.

embedding_settings <- function(nodes, negatives, epochs, burn_in, lr) {
  list(nodes = nodes, negatives = negatives, epochs = epochs, burn_in = burn_in, lr = lr, burn_factor = 0.1)
}

test_that("one step is the Riemannian gradient of the loss", {
  # edges 1 -> 2 alone of three nodes: the one negative is node 3, whatever the draw
  M <- hyperbolic(2, "ball")
  x <- rbind(c(0.3, -0.2), c(-0.1, 0.4), c(0.5, 0.55))
  loss <- function(x) {
    d <- c(mf_dist(M, x[1, ], x[2, ]), mf_dist(M, x[1, ], x[3, ]))
    log(sum(exp(-d))) + d[1]
  }
  fit <- .Call(riemdp:::riemdp_poincare_embedding, M, matrix(c(1, 2), 1), x, embedding_settings(3, 1, 1, 0, 0.02))
  slope <- x
  for (i in 1:3) for (j in 1:2) {
    e <- x * 0
    e[i, j] <- 1e-6
    slope[i, j] <- (loss(x + e) - loss(x - e)) / 2e-6
  }
  expect_equal(fit[[1]], x - 0.02 * (1 - rowSums(x^2))^2 / 4 * slope, tolerance = 1e-8)
  expect_equal(fit[[2]], loss(x), tolerance = 1e-14)
  # the first epochs have a tenth of the step size
  slow <- .Call(riemdp:::riemdp_poincare_embedding, M, matrix(c(1, 2), 1), x, embedding_settings(3, 1, 1, 1, 0.2))
  expect_equal(slow[[1]], fit[[1]], tolerance = 1e-14)
})

test_that("nodes with an edge are no negatives, and no step leaves the ball", {
  M <- hyperbolic(2, "ball")
  x <- rbind(c(0.3, -0.2), c(-0.1, 0.4), c(0.5, 0.55))
  # node 1 has an edge to all others: nothing to tell them from
  still <- .Call(riemdp:::riemdp_poincare_embedding, M, rbind(c(1, 2), c(1, 3)), x, embedding_settings(3, 5, 4, 0, 0.5))
  expect_identical(still[[1]], x)
  expect_equal(still[[2]], double(4))
  set.seed(2)
  far <- poincare_embedding(cbind(1:19, 2:20), 2, lr = 50, epochs = 20)
  expect_true(all(mf_is_point(M, far$points)))
  expect_lte(max(sqrt(rowSums(far$points^2))), 1 - 1e-5 + 1e-15)
})

test_that("a tree is reconstructed, and names are kept", {
  edges <- do.call(rbind, lapply(2:31, function(i) {
    above <- i %/% 2^(1:4)
    cbind(i, above[above > 0])
  }))
  set.seed(1)
  fit <- poincare_embedding(matrix(sprintf("n%02d", edges), ncol = 2), 2, epochs = 300, negatives = 10)
  expect_identical(rownames(fit$points), sprintf("n%02d", 1:31))
  s <- summary(fit)
  expect_equal(s$nodes, 31)
  expect_gt(s$map, 0.85)
  expect_lt(s$mean_rank, 2)
  expect_lt(fit$loss[300], 0.5 * fit$loss[1])
  # the root comes to lie nearer the centre than leaves
  radius <- sqrt(rowSums(fit$points^2))
  expect_lt(radius[1], min(radius[16:31]))
  set.seed(1)
  expect_identical(poincare_embedding(matrix(sprintf("n%02d", edges), ncol = 2), 2, epochs = 300, negatives = 10)$points, fit$points)
  # ranks by hand on a path 1 - 2 - 3 with one edge
  line <- structure(list(points = cbind(c(0, 0.1, 0.5), 0), manifold = hyperbolic(2, "ball"), edges = rbind(c(1, 3)), loss = 1),
                    class = "riemdp_poincare_embedding")
  expect_equal(unlist(summary(line)[c("mean_rank", "map")]), c(mean_rank = 2, map = 0.5))
  expect_output(print(fit), "not private")
  expect_error(plot(poincare_embedding(edges, 3, epochs = 1)), class = "riemdp_error_argument")
})

test_that("wrong graphs end in clear errors", {
  bad <- function(..., class = "riemdp_error_argument") expect_error(poincare_embedding(...), class = class)
  bad(1:3, class = "riemdp_error_shape")
  bad(matrix(1:6, 2), class = "riemdp_error_shape")
  bad(cbind(1, 1))
  bad(cbind(0, 1))
  bad(cbind(1.5, 1))
  bad(cbind(NA, 1))
  bad(cbind(1, 2), dimension = 0)
  bad(cbind(1, 2), lr = -1)
  bad(cbind(1, 2), epochs = 0)
  bad(cbind(1, 2), start = matrix(0, 3, 5), class = "riemdp_error_shape")
  bad(cbind(1, 2), 2, start = rbind(c(2, 0), c(0, 0)))
  bad(cbind(1, 2), 2, 3)
  M <- hyperbolic(2, "ball")
  expect_error(.Call(riemdp:::riemdp_poincare_embedding, M, rbind(c(2, 1), c(1, 2)), matrix(0, 2, 2), c(2, 1, 1, 0, 0.1, 0.1)),
               class = "riemdp_error_argument") # not sorted
  expect_error(.Call(riemdp:::riemdp_poincare_embedding, sphere(1), rbind(c(1, 2)), matrix(0, 2, 2), c(2, 1, 1, 0, 0.1, 0.1)),
               class = "riemdp_error_argument")
})
