test_that("sums over chunks are exact", {
  M <- euclidean(1)
  total <- function(x, size) {
    parts <- lapply(split(x, ceiling(seq_along(x) / size)), function(y) .Call(riemdp:::riemdp_chunk_logs, M, y, NULL, 0, FALSE))
    .Call(riemdp:::riemdp_exact_total, unname(parts))[1]
  }
  expect_identical(total(c(1e16, 1, -1e16), 1), 1)
  expect_identical(total(c(1e150, 2^-1074, -1e150), 2), 2^-1074)
  expect_identical(total(c(-1, 2^-60, -2^-61), 3), -1 + 2^-61)
  expect_identical(total(c(0, -0), 1), 0)
  # whole numbers times a power of two, whose sum is known: 52 bits in all
  set.seed(1)
  whole <- sample(-1e9:1e9, 4000, TRUE)
  expect_identical(total(whole * 2^-40, 7), sum(whole) * 2^-40)
  # any order of numbers of very different size gives the same, within a unit of what long doubles give
  x <- rnorm(2000) * 2^sample(-60:60, 2000, TRUE)
  seen <- vapply(1:5, function(i) total(sample(x), 100 * i), 0)
  expect_identical(length(unique(seen)), 1L)
  expect_lt(abs(seen[1] - sum(sort(x))), 1e-15 * sum(abs(x)))
  # what isn't finite ends a plain pass with a status
  expect_type(.Call(riemdp:::riemdp_chunk_logs, M, c(1, Inf), NULL, 0, FALSE), "integer")
})

test_that("means are the same to the last bit for any chunks and any order, and those of memory up to rounding", {
  set.seed(1)
  for (case in all_manifolds()) {
    M <- case$M
    if (mf_facts(M)$ambient > 60) next
    r <- chunk_records_on(case, 90)
    whole <- frechet_mean(r$x, M)
    first <- frechet_mean(chunks(r$x, 13), M)
    for (x in list(chunks(r$x, 40), chunks(r$x, 90), chunks(r$x, 7, map = backwards))) {
      expect_identical(frechet_mean(x, M), first, label = label_of(M))
    }
    # the iteration ends at 1e-10, so means may differ by about as much
    expect_lt(mf_dist(M, whole$mean, first$mean), 1e-9)
    # parts of a product are looked at one by one in memory only
    if (!inherits(M, "riemdp_product") || !is.na(first$unique)) expect_identical(first$unique, whole$unique)
    expect_identical(first$n, 90)
    expect_lt(abs(first$variance - whole$variance), 1e-12 * max(1, whole$variance))
    expect_lt(abs(frechet_variance(chunks(r$x, 31), M, center = r$one) - frechet_variance(r$x, M, center = r$one)),
              1e-12 * max(1, whole$variance))
  }
})

test_that("weights, starts and medians work over chunks", {
  set.seed(2)
  for (M in list(spd(2), sphere(2), grassmann(4, 2), euclidean(3))) {
    r <- chunk_records_on(list(M = M, reach = 1), 60)
    w <- runif(60) * (runif(60) > 0.2)
    w[1:3] <- 0
    a <- frechet_mean(r$x, M, w)
    b <- frechet_mean(chunks(r$x, 11), M, w)
    expect_lt(mf_dist(M, a$mean, b$mean), 1e-9)
    expect_identical(frechet_mean(chunks(r$x, 25, map = backwards), M, w)$mean, b$mean)
    expect_lt(mf_dist(M, frechet_mean(chunks(r$x, 11), M, start = r$one, method = "gradient")$mean, frechet_mean(r$x, M)$mean),
              1e-8)
    expect_lt(mf_dist(M, frechet_median(r$x, M, tol = 1e-8)$mean, frechet_median(chunks(r$x, 11), M, tol = 1e-8)$mean), 1e-6)
  }
  # a median that lies on a record
  x <- rbind(matrix(rep(c(0, 0, 1), 6), ncol = 3, byrow = TRUE), c(1, 0, 0), c(0, 1, 0), c(-1, 0, 0))
  expect_equal(frechet_median(chunks(x, 4), sphere(2))$mean, c(0, 0, 1), tolerance = 1e-7)
  expect_error(frechet_mean(chunks(x, 4), sphere(2), weights = 1:3), class = "riemdp_error_argument")
  expect_error(frechet_mean(chunks(x, 4), sphere(2), weights = rep(0, 9)), class = "riemdp_error_argument")
})

test_that("private means over chunks are those of memory, mechanism by mechanism", {
  set.seed(3)
  served <- character()
  for (case in list(list(M = euclidean(3), reach = 1), list(M = sphere(2), reach = 1), list(M = hyperbolic(2), reach = 1),
                    list(M = spd(2), reach = 1), list(M = spd(2, "bures"), reach = 0.3), list(M = spd(2, "logeuclidean"),
                      reach = 1),
                    list(M = stiefel(4, 2), reach = 1), list(M = grassmann(4, 2), reach = 1), list(M = kendall(5), reach = 0.7),
                    list(M = custom_sphere(2), reach = 1))) {
    M <- case$M
    if (quick() && !M$name %in% c("sphere", "spd_affine", "kendall")) next
    r <- chunk_records_on(case, 70, share = 0.3)
    x <- r$x
    if (mf_facts(M)$rows == 0 && M$name != "custom") x[5, ] <- NA # counts as the centre
    for (mechanism in names(riemdp:::mean_mechanisms())) {
      for (numerics in c("real", "lattice")) {
        run <- function(x) {
          tryCatch(with_simulation(7, dp_mean(x, M, 2, r$one, 0.6 * r$radius, mechanism = mechanism, numerics = numerics,
                                              invalid = "center",
                                              delta = if (grepl("gaussian|heat", mechanism)) 1e-6 else 0,
                                              # in memory it has a stage more otherwise
                                              options = switch(mechanism, chain = list(burn_in = 12), adaptive = list(shares = c(0.1, 0.1, 0.8)), list()))),
                   riemdp_error_unsupported = function(e) NULL, riemdp_error_argument = function(e) NULL)
        }
        memory <- run(x)
        if (is.null(memory)) next
        one <- run(chunks(x, 11))
        two <- run(chunks(x, 37, map = backwards))
        label <- paste(label_of(M), mechanism, numerics)
        served <- union(served, paste(mechanism, numerics))
        expect_identical(one$value, two$value, label = label)
        # laws on the ball start their trials from a mean that chunks find with other last bits
        if (numerics == "lattice" && !mechanism %in% c("kng", "laplace_truncated", "staircase_truncated")) {
          expect_identical(one$value, memory$value, label = label)
        }
        expect_lt(mf_dist(M, one$value, memory$value), 1e-11)
        same <- c("n", "mechanism", "scale", "sensitivity", "guarantee")
        expect_identical(unclass(one)[same], unclass(memory)[same], label = label)
        # of the last stage of "adaptive" it is about the released centre, which may be another in its last bits
        if (mechanism != "adaptive") expect_identical(one$expected_error, memory$expected_error, label = label)
        expect_equal(one$expected_error, memory$expected_error, tolerance = 1e-9, label = label)
      }
    }
  }
  never <- c("wrapped_staircase", "staircase_truncated", "parts", if (quick()) "chordal")
  expect_setequal(served, c(paste(setdiff(names(riemdp:::mean_mechanisms()), never), "real"),
                            paste(c("wrapped", "wrapped_staircase", "wrapped_gaussian", "tangent", "adaptive", "kng", "laplace_truncated",
                              "staircase_truncated",
                                    "laplace", "staircase", if (!quick()) "gaussian"), "lattice")))
  x <- chunks(wishart_spd, 100)
  for (options in list(list(target = "laplace"), list(proposal = "published", step = 0.1))) {
    moved <- function(x) with_simulation(3, dp_mean(x, spd(2), 1, diag(2), 1.5, mechanism = "chain", options = c(options, burn_in = 12)))$value
    expect_lt(mf_dist(spd(2), moved(x), moved(wishart_spd)), 1e-9)
  }
  expect_error(dp_mean(x, spd(2), 1, diag(2), 1.5, mechanism = "kng", timing = "constant", delta = 1e-6),
               class = "riemdp_error_unsupported")
  expect_identical(with_simulation(1, dp_mean(x, spd(2), 1, diag(2), 1.5))$mechanism,
                   with_simulation(1, dp_mean(wishart_spd, spd(2), 1, diag(2), 1.5))$mechanism)
})

test_that("noise over chunks comes from the operating system, and the budget is taken once", {
  x <- chunks(wishart_spd, 100)
  draw <- function() {
    set.seed(1)
    dp_mean(x, spd(2), 1, diag(2), 1.5, mechanism = "wrapped")$value
  }
  expect_false(identical(draw(), draw()))
  budget <- dp_ledger(NULL, 1.5, 0)
  dp_mean(x, spd(2), 1, diag(2), 1.5, ledger = budget)
  expect_error(dp_mean(x, spd(2), 1, diag(2), 1.5, ledger = budget), class = "riemdp_error_budget")
})

test_that("bad records over chunks follow the public rule", {
  x <- wishart_spd[, , 1:40]
  x[1, 1, 27] <- NA
  M <- spd(2)
  e <- expect_error(dp_mean(chunks(x, 10), M, 1, diag(2), 1.5), class = "riemdp_error_not_finite")
  expect_match(conditionMessage(e), "chunk 3: .*record 7")
  expect_s3_class(dp_mean(chunks(x, 10), M, 1, diag(2), 1.5, invalid = "center"), "riemdp_mean")
  expect_error(frechet_mean(chunks(x, 10), M), class = "riemdp_error_not_finite")
  expect_error(mf_check(M, chunks(x, 10)), class = "riemdp_error_not_finite")
  expect_silent(mf_check(M, chunks(x[, , 1:20], 7)))
})
