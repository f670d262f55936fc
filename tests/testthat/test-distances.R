# Tables of all distances: those of pairs, however they are made.

test_that("distances on flat spaces by one logarithm a record are those of pairs, near ones to all digits", {
  for (M in list(spd(3, "logeuclidean"), spd(2, "logcholesky"), correlation(3, "log-cholesky"), simplex(4), product(spd(2, "logeuclidean"), euclidean(2)))) {
    set.seed(2)
    x <- mf_random(M, 40)
    first <- mf_points(x, M)[1:3]
    close <- mf_exp(M, first, mf_from_coords(M, first, matrix(1e-9 * rnorm(3 * mf_facts(M)$dimension), 3)))
    stored <- mf_points(x, M)
    both <- c(stored, mf_points(close, M))
    d <- mf_dist_matrix(M, both)
    by_pairs <- .Call(riemdp:::riemdp_dist_matrix, M, both)
    expect_length(d, 43 * 42 / 2)
    expect_lt(max(abs(d - by_pairs) / by_pairs), 1e-12)
    expect_lt(min(d), 1e-7)
    expect_false(is.null(riemdp:::flat_distances(M, both)))
    # all near each other: pair by pair
    p <- stored[rep(1, 30)]
    crowd <- mf_exp(M, p, mf_from_coords(M, p, matrix(1e-8 * rnorm(30 * mf_facts(M)$dimension), 30)))
    expect_null(riemdp:::flat_distances(M, crowd))
    expect_identical(as.vector(mf_dist_matrix(M, crowd)), .Call(riemdp:::riemdp_dist_matrix, M, crowd))
  }
  bad <- wishart_spd[, , 1:30]
  bad[1, 1, 7] <- NA
  expect_error(mf_dist_matrix(spd(2, "logeuclidean"), bad), "`x`", class = "riemdp_error")
  expect_null(riemdp:::flat_distances(spd(2), wishart_spd[, , 1:30]))
})
