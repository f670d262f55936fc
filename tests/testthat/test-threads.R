# short work isn't shared, unless a test wants it
shared_always <- function(expr) {
  old <- .Call(riemdp:::riemdp_lanes_least, 0)
  on.exit(.Call(riemdp:::riemdp_lanes_least, old))
  force(expr)
}

test_that("results are the same to the last bit with one thread and with two", {
  with_threads <- function(n, expr) {
    old <- options(riemdp.threads = n)
    on.exit(options(old))
    force(expr)
  }
  set.seed(1)
  for (M in list(spd(4), sphere(3), kendall(6), hyperbolic(3, "ball"), grassmann(6, 2), stiefel(6, 2), spd(3, "bures"))) {
    x <- mf_random(M, 3000, sd = 0.2)
    base <- frechet_mean(record_range(M, x, 1:5), M)$mean
    v <- mf_random_tangent(M, base, 3000, 0.1)
    x <- mf_exp(M, base, v)
    run <- function() {
      list(mf_exp(M, base, v), mf_log(M, base, x), mf_dist(M, x, base), mf_transport(M, base, x, v), mf_coords(M, base, v),
           frechet_mean(x, M)[c("mean", "gradient_norm", "iterations", "variance")], mf_dist(M, mf_points(x, M), base))
    }
    expect_identical(with_threads(2, shared_always(run())), with_threads(1, run()), label = label_of(M))
  }
  # sums of chunks too
  x <- mf_random(spd(4), 4000, sd = 0.2)
  run <- function() frechet_mean(chunks(list(x[, , 1:2500], x[, , 2501:4000])), spd(4))$mean
  expect_identical(with_threads(2, shared_always(run())), with_threads(1, run()))
  # a bad record is named alike
  x <- mf_random(sphere(2), 5000)
  x[4321, 2] <- NA
  x[4999, ] <- 7
  for (n in 1:2) {
    e <- expect_error(with_threads(n, shared_always(mf_dist(sphere(2), x, c(1, 0, 0)))), class = "riemdp_error_not_finite")
    expect_match(conditionMessage(e), "record 4321", fixed = TRUE)
  }
})

test_that("forked workers fall back to one thread", {
  skip_on_os("windows")
  old <- options(riemdp.threads = 2)
  on.exit(options(old))
  x <- mf_random(spd(4), 500)
  here <- frechet_mean(x, spd(4))$variance
  there <- parallel::mclapply(1:2, function(i) c(frechet_mean(x, spd(4))$variance, riemdp:::threads_allowed()), mc.cores = 2)
  expect_identical(there, list(c(here, 0), c(here, 0)))
})
