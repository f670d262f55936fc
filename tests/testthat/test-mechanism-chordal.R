# The Laplace law of the chordal distance (R/chord-law.R, R/mechanism-chordal.R, src/mechanism/mechanism_chord.c; inst/proofs/laplace.md, section 5).

FRAMES <- list(stiefel(4, 2), stiefel(4, 2, "canonical"), stiefel(5, 3), stiefel(3, 2, "canonical"), stiefel(4, 1), stiefel(6, 2, "canonical"))
first_frame <- function(M) diag(M$param[1])[, seq_len(M$param[2]), drop = FALSE]

# D by its definition, of an array of frames
chord_of <- function(M, x, y = first_frame(M)) {
  apply(x, 3, function(z) {
    flat <- sum((z - y)^2)
    if (M$name == "stiefel_euclidean") sqrt(flat) else sqrt(flat / 2 + sum((tcrossprod(z) - tcrossprod(y))^2) / 4)
  })
}

even_frames <- function(M, count) {
  n <- M$param[1]
  p <- M$param[2]
  out <- array(stats::rnorm(n * p * count), c(n, p, count))
  for (i in seq_len(count)) {
    s <- svd(out[, , i], p, p)
    out[, , i] <- tcrossprod(s$u, s$v)
  }
  out
}

test_that("the chord is no longer than the geodesic, as long near by, and moves no more than the frame it is measured from", {
  set.seed(1)
  for (M in FRAMES) {
    o <- first_frame(M)
    d <- mf_facts(M)$dimension
    for (r in c(1e-4, 0.3, 1)) {
      v <- mf_from_coords(M, o, matrix(stats::rnorm(20 * d, sd = r / sqrt(d)), 20))
      x <- mf_exp(M, o, v)
      far <- mf_dist(M, o, x)
      chord <- chord_of(M, x)
      expect_true(all(chord <= far * (1 + 1e-7)))
      if (r == 1e-4) expect_equal(chord, far, tolerance = 1e-6)
      # as long as a chord of a circle with the curvature that regions rest on
      curvature <- if (M$name == "stiefel_euclidean") 1 else sqrt(2.5)
      expect_true(all(chord >= 2 / curvature * sin(curvature * far / 2) - 1e-9), label = label_of(M))
    }
    even <- even_frames(M, 200)
    expect_lte(max(abs(chord_of(M, even) - chord_of(M, even, record(M, x, 3)))), chord[3] + 1e-12)
  }
})

test_that("draws have the law, near the frame and all over the manifold", {
  # 24 figures at 5 standard errors and 12 tests at 1e-6
  count <- if (quick()) 3000 else 1e4
  for (M in FRAMES) {
    o <- first_frame(M)
    d <- mf_facts(M)$dimension
    # small scales: the distance over the scale is a gamma variable but for curvature, 1e-4 here
    x <- with_simulation(2, laplace_noise(M, o, 1e-4, count, "chordal"))
    expect_gt(stats::ks.test(chord_of(M, x) / 1e-4, "pgamma", d)$p.value, 1e-6)
    # in any direction: coordinates have mean 0 and one variance
    a <- mf_coords(M, o, mf_log(M, o, x)) / 1e-4
    expect_lt(max(abs(colMeans(a)) / apply(a, 2, stats::sd)), 5 / sqrt(count))
    expect_lt(max(abs(colMeans(a^2) / (d + 1) - 1)), 5 * sqrt(8) / sqrt(count), label = label_of(M))
    # large ones: against evenly distributed frames with weights, where chords are as long as the space allows
    sigma <- c(0.3, 0.3, 0.2, 0.3, 0.3, 0.15)[vapply(FRAMES, identical, NA, M)]
    set.seed(3)
    even <- chord_of(M, even_frames(M, if (quick()) 2e4 else 5e4))
    weight <- exp(-(even - min(even)) / sigma)
    drawn <- tryCatch(with_simulation(4, chord_of(M, laplace_noise(M, o, sigma, count, "chordal"))), riemdp_error_unsupported = function(e) NULL)
    if (is.null(drawn)) next
    want <- sum(weight * even) / sum(weight)
    error <- sqrt(sum(weight^2 * (even - want)^2)) / sum(weight)
    expect_lt(abs(mean(drawn) - want), 5 * sqrt(error^2 + stats::var(drawn) / count), label = paste(label_of(M), sigma))
    expect_lt(error / want, 0.05)
  }
  # lines have a sphere's volume and chords: by quadrature, where leaving the volume out would be 15 standard errors or more
  M <- stiefel(4, 1)
  drawn <- mf_dist(M, first_frame(M), with_simulation(8, laplace_noise(M, first_frame(M), 0.15, 2e4, "chordal")))
  law <- function(power) stats::integrate(function(t) t^power * sin(t)^2 * exp(-2 * sin(t / 2) / 0.15), 0, pi, rel.tol = 1e-10)$value
  expect_lt(abs(mean(drawn) - law(1) / law(0)), 5 * sqrt((law(2) / law(0) - (law(1) / law(0))^2) / 2e4))
  # two columns in space are a rotation by t around an axis at height u, and D^2 = 2 (1 - cos t)(1 + u^2): how many lie near, by quadrature; turns
  # within the plane are counted by their length
  M <- stiefel(3, 2)
  t <- rep((seq_len(500) - 0.5) * pi / 500, 500)
  u <- rep((seq_len(500) - 0.5) / 500, each = 500)
  chord <- sqrt(2 * (1 - cos(t)) * (1 + u^2))
  for (sigma in c(0.2, 0.4)) {
    weight <- (1 - cos(t)) * exp(-chord / sigma)
    near <- sum(weight[chord < 0.9]) / sum(weight)
    drawn <- chord_of(M, with_simulation(9, laplace_noise(M, first_frame(M), sigma, 8000, "chordal")))
    expect_lt(abs(mean(drawn < 0.9) - near), 5 * sqrt(near * (1 - near) / 8000))
    expect_gt(near * (1 - near) * 0.4, 10 * sqrt(near * (1 - near) / 8000)) # a wrong length by root 2 would be seen
  }
  # around another frame: the same law moved there
  M <- stiefel(5, 2)
  y <- record(M, with_simulation(5, mf_random(M, 1)), 1)
  x <- with_simulation(6, laplace_noise(M, y, 0.02, count, "chordal"))
  expect_gt(stats::ks.test(chord_of(M, x, y), chord_of(M, with_simulation(7, laplace_noise(M, first_frame(M), 0.02, count, "chordal"))))$p.value, 1e-6)
})

test_that("a release: its scale, its region, its error, and who is refused", {
  for (M in FRAMES[c(1, 2, if (!quick()) 5)]) {
    o <- first_frame(M)
    x <- with_simulation(3, laplace_noise(M, o, 0.01, 60, "chordal"))
    run <- function(...) dp_mean(x, M, 2, o, 0.3, mechanism = "chordal", post = FALSE, ...)
    r <- run()
    g <- guarantee(r)
    expect_identical(c(g$label, g$numerics), c("pure", "real-valued"))
    expect_equal(r$scale * 2, r$sensitivity + r$solver_error, tolerance = 1e-9)
    expect_gte(r$scale * 2, r$sensitivity + r$solver_error)
    expect_equal(r$draws$epsilon, 2, tolerance = 1e-9)
    expect_output(explain(r), "straight\\s+distance")
    mean <- frechet_mean(x, M)$mean
    far <- with_simulation(4, replicate(if (quick()) 150 else 400, mf_dist(M, mean, run()$value)))
    expect_lt(abs(mean(far) / r$expected_error - 1), 0.03 + 5 * stats::sd(far) / mean(far) / sqrt(length(far)))
    # scales at which chords, volumes and the bound of what is proposed matter
    for (sigma in c(1e-3, 0.02, 0.05)) for (level in c(0.5, 0.95)) {
      drawn <- mf_dist(M, o, with_simulation(5, laplace_noise(M, o, sigma, 4000, "chordal")))
      q <- riemdp:::chord_quantile(M, sigma, level)
      expect_gt(mean(drawn <= q), level - 5 * sqrt(level * (1 - level) / 4000), label = paste(label_of(M), sigma, level))
      if (sigma == 1e-3) expect_lt(q / stats::quantile(drawn, level), 1.1)
    }
  }
  # noise that reaches frames whose logarithm isn't found
  expect_lt(expected_error(FRAMES[[2]], 0.12, "chordal"), mf_facts(FRAMES[[2]])$diameter / 2)
  expect_error(dp_mean(x, stiefel(3, 3), 1, diag(3), 0.2, mechanism = "chordal"), class = "riemdp_error")
  expect_error(dp_mean(matrix(c(0, 0, 1), 2, 3, byrow = TRUE), sphere(2), 1, c(0, 0, 1), 0.3, mechanism = "chordal"), class = "riemdp_error_unsupported")
  expect_error(laplace_noise(stiefel(8, 4, "canonical"), diag(8)[, 1:4], 0.3, 1, "chordal"), "keep one of", class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, M, 1, o, 0.3, mechanism = "chordal", numerics = "lattice"), class = "riemdp_error_unsupported")
  expect_error(dp_mean(x, M, 1, o, 0.3, mechanism = "laplace"), "chordal", class = "riemdp_error_unsupported")
})
