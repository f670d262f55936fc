# a public centre and radius on every manifold on which a private mean exists
private_cases <- function() {
  w <- function(n, p) diag(n)[, seq_len(p), drop = FALSE]
  out <- list(
    list(M = euclidean(1), center = 0, radius = 1), list(M = euclidean(3), center = c(0, 0, 0), radius = 1),
    list(M = sphere(1), center = c(1, 0), radius = 0.7), list(M = sphere(2), center = c(0, 0, 1), radius = 0.7),
    list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1), list(M = hyperbolic(3, "ball"), center = c(0.1, 0, 0), radius = 1),
    list(M = spd(2), center = diag(2), radius = 1), list(M = spd(3), center = diag(c(1, 2, 3)), radius = 1.5),
    list(M = hermitian_spd(2), center = matrix(c(2, 1i, -1i, 2), 2), radius = 1),
    list(M = spd(2, "bures"), center = diag(2), radius = 0.25), list(M = spd(3, "logeuclidean"), center = diag(3), radius = 1),
    list(M = correlation(3), center = matrix(c(1, 0.5, 0, 0.5, 1, 0, 0, 0, 1), 3), radius = 1), list(M = simplex(3), center = c(3, 2, 1), radius = 1),
    list(M = kendall(5), center = exp(2i * pi * (1:5) / 5), radius = 0.35),
    list(M = stiefel(4, 2), center = w(4, 2), radius = 0.6), list(M = stiefel(4, 2, "canonical"), center = w(4, 2), radius = 0.6),
    list(M = grassmann(4, 2), center = w(4, 2), radius = 0.5),
    list(M = custom_sphere(2), center = c(0, 0, 1), radius = 0.7), list(M = custom_torus(2), center = c(0, 0), radius = 1)
  )
  lapply(out, function(case) {
    set.seed(21)
    v <- unit_tangents(case$M, case$center, 12)
    case$x <- mf_exp(case$M, case$center, scale_records(case$M, v, case$radius * seq(0.1, 0.9, length.out = 12)))
    case
  })
}

replace_record <- function(M, x, i, value) {
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$cols == 0) x[, i] <- value
  else if (facts$rows > 0) x[, , i] <- value
  else if (is.null(dim(x))) x[i] <- value
  else x[i, ] <- value
  x
}

# everything a caller can see of a call but the noise
seen <- function(expr) {
  signals <- character()
  value <- withCallingHandlers(
    tryCatch(expr, error = function(e) structure(list(class(e), conditionMessage(e)), class = "seen_error")),
    warning = function(w) {
      signals <<- c(signals, paste("warning", conditionMessage(w)))
      invokeRestart("muffleWarning")
    },
    message = function(m) {
      signals <<- c(signals, paste("message", conditionMessage(m)))
      invokeRestart("muffleMessage")
    }
  )
  if (!inherits(value, "seen_error")) {
    value$value <- list(dim(value$value), typeof(value$value), length(value$value))
    if (!is.null(value$released)) value$released <- list(dim(value$released), typeof(value$released), length(value$released))
    value$post_processed <- length(value$post_processed)
    value$manifold <- NULL
  }
  list(value, signals)
}

test_that("the release is a total function of the records", {
  for (case in private_cases()) {
    M <- case$M
    facts <- mf_facts(M)
    release <- function(x, invalid = "center") {
      dp_mean(x, M, epsilon = 1, center = case$center, radius = case$radius, mechanism = "wrapped", invalid = invalid)
    }
    plain <- seen(release(case$x))
    expect_s3_class(plain[[1]], "riemdp_release")
    bad <- list(NA_real_, 0, NaN, Inf, -Inf, 1e300, 1e-300, 7)
    for (value in bad) {
      expect_identical(seen(release(replace_record(M, case$x, 4, value))), plain, label = paste(label_of(M), value))
    }
    all_bad <- case$x
    for (i in 1:12) all_bad <- replace_record(M, all_bad, i, NA_real_)
    expect_identical(seen(release(all_bad)), plain, label = label_of(M))
    expect_identical(plain[[1]]$n, 12)
    expect_identical(plain[[2]], character())
    expect_true(mf_is_point(M, release(case$x)$value), label = label_of(M))
  }
})

test_that("records opposite the centre or at the cut locus change nothing that can be seen", {
  M <- sphere(2)
  x <- rbind(c(0.1, 0, sqrt(0.99)), c(0, 0, 1), c(0, 0.1, sqrt(0.99)))
  far <- rbind(x[1:2, ], c(0, 0, -1))
  one <- seen(dp_mean(x, M, 1, c(0, 0, 1), 0.5, mechanism = "laplace"))
  two <- seen(dp_mean(far, M, 1, c(0, 0, 1), 0.5, mechanism = "laplace"))
  expect_identical(one, two)
  k <- kendall(3)
  z <- cbind(c(0, 1, 1i), c(0, 1, 1.1i), c(0, 1.2, 1i))
  base <- as.vector(mf_project(k, z[, 1]))
  v <- mf_from_coords(k, base, c(pi / 2, 0))
  w <- cbind(z[, 1:2], cos(pi / 2) * base + sin(pi / 2) * v / sqrt(sum(Mod(v)^2)))
  expect_identical(seen(dp_mean(z, k, 1, base, 0.3)), seen(dp_mean(w, k, 1, base, 0.3)))
  # all landmarks in one place: no shape at all
  expect_identical(seen(dp_mean(z, k, 1, base, 0.3, invalid = "center")),
                   seen(dp_mean(cbind(z[, 1:2], c(2, 2, 2)), k, 1, base, 0.3, invalid = "center")))
  g <- grassmann(4, 2)
  y <- array(diag(4)[, 1:2], c(4, 2, 3))
  y2 <- y
  y2[, , 3] <- diag(4)[, 3:4]
  expect_identical(seen(dp_mean(y, g, 1, y[, , 1], 0.4)), seen(dp_mean(y2, g, 1, y[, , 1], 0.4)))
})

test_that("a user's callback that raises, returns NaN, a wrong shape or a wrong type is silent", {
  base <- custom_sphere(2)
  x <- base$functions$random(8)
  x[, 3] <- abs(x[, 3]) + 2
  x <- x / sqrt(rowSums(x^2))
  spoil <- function(how) {
    broken <- base
    good <- base$functions$log
    broken$functions$log <- switch(how,
      raise = function(p, q) if (any(q[, 1] > 0)) stop("record ", q[1, 1]) else good(p, q),
      warn = function(p, q) {
        warning("careful")
        good(p, q)
      },
      nan = function(p, q) {
        v <- good(p, q)
        v[q[, 1] > 0, ] <- NaN
        v
      },
      shape = function(p, q) if (any(q[, 1] > 0)) 1:2 + 0.5 else good(p, q),
      type = function(p, q) if (any(q[, 1] > 0)) "text" else good(p, q)
    )
    broken
  }
  run <- function(M) seen(dp_mean(x, M, 1, c(0, 0, 1), 0.7, invalid = "center"))
  plain <- run(base)
  expect_s3_class(plain[[1]], "riemdp_release")
  for (how in c("raise", "warn", "nan", "shape", "type")) expect_identical(run(spoil(how)), plain, label = how)
})

test_that("invalid = 'error' names the record for the curator, before anything is drawn", {
  x <- rbind(c(1, 0, 0), c(0, 1, 0), c(0.7123456, 0.2, 0.9))
  e <- expect_error(dp_mean(x, sphere(2), 1, c(0, 0, 1), 0.5), class = "riemdp_error_off_manifold")
  expect_match(conditionMessage(e), "record 3")
  expect_no_match(conditionMessage(e), "7123")
})

test_that("the mean that is released is the mean of the records moved to the ball", {
  # scale so small that noise is invisible: epsilon 1e9
  for (case in private_cases()) {
    M <- case$M
    r <- dp_mean(case$x, M, epsilon = 1e9, center = case$center, radius = case$radius)
    expect_lt(mf_dist(M, r$value, frechet_mean(case$x, M)$mean), 1e-6)
    # one record far outside counts as its nearest point of the ball
    far <- mf_exp(M, case$center, scale_records(M, unit_tangents(M, case$center, 1), case$radius * 1.2))
    far <- as.vector(far)
    edge <- mf_exp(M, case$center, case$radius / 1.2 / case$radius * mf_log(M, case$center, record(M, replace_record(M, case$x, 5, far), 5)))
    r <- dp_mean(replace_record(M, case$x, 5, far), M, epsilon = 1e9, center = case$center, radius = case$radius)
    inside <- replace_record(M, case$x, 5, as.vector(edge))
    expect_lt(mf_dist(M, r$value, frechet_mean(inside, M)$mean), 1e-6)
  }
})

test_that("noise has the promised scale: error of whole releases against the law", {
  # a scale 5 % off shifts the mean error by 5 %: 4.5 standard errors of 4,000 releases, so only gross errors show here; the laws
  # themselves are tested with 1e5 draws in test-mechanism-laplace.R
  releases <- if (quick()) 200 else 1500
  for (case in list(list(sphere(2), c(0, 0, 1), "laplace"), list(euclidean(2), c(0, 0), "wrapped"))) {
    M <- case[[1]]
    set.seed(5)
    x <- mf_exp(M, case[[2]], mf_random_tangent(M, case[[2]], 20, 0.1))
    m <- frechet_mean(x, M)$mean
    errors <- with_simulation(8, replicate(releases, mf_dist(M, dp_mean(x, M, 1, case[[2]], 0.5, mechanism = case[[3]], post = FALSE)$value, m)))
    r <- dp_mean(x, M, 1, case[[2]], 0.5, mechanism = case[[3]])
    expected <- expected_error(M, r$scale, case[[3]], case[[2]], 0.5)
    expect_lt(abs(mean(errors) - expected), 5 * stats::sd(errors) / sqrt(releases))
  }
})

test_that("labels promise only what is proven", {
  x <- wishart_spd[, , 1:50]
  release <- function(...) dp_mean(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5, ...)
  g <- guarantee(release())
  expect_identical(g$label, "pure")
  expect_identical(g$epsilon, 1)
  expect_identical(g$adjacency, "replace-one")
  expect_identical(format(g), format(guarantee(release(numerics = "lattice"))))
  expect_match(format(guarantee(release(numerics = "real"))), "exact sampler, real-number model")
  paper <- guarantee(release(calibration = "paper", mechanism = "laplace"))
  simulated <- guarantee(with_simulation(1, release()))
  custom <- guarantee(dp_mean(matrix(0.1, 3, 2), custom_torus(2), 1, c(0, 0), 1))
  for (none in list(paper, simulated, custom)) {
    expect_identical(none$label, "none")
    expect_identical(none$epsilon, Inf)
    expect_identical(none$delta, 1)
    expect_identical(none$nominal_epsilon, 1)
    expect_match(format(none), "NOT PRIVATE")
  }
  expect_identical(guarantee(release())$rng, "operating system")
  expect_identical(summary(g)$label, "pure")
  expect_identical(nrow(summary(paper)), 1L)
})

test_that("a release holds no record, no estimate and no environment", {
  x <- wishart_spd[, , 1:30]
  r <- dp_mean(x, spd(2), 1, diag(2), 1.5)
  expect_lt(length(serialize(r, NULL)), 6000)
  environments <- 0
  walk <- function(o) {
    if (is.environment(o) || is.function(o)) environments <<- environments + 1
    if (is.list(o)) lapply(o, walk)
    lapply(attributes(o), function(a) if (!identical(a, o)) walk(a))
  }
  walk(unclass(r))
  expect_identical(environments, 0)
  numbers <- unlist(rapply(unclass(r), as.numeric, classes = "numeric", how = "list"))
  hidden <- c(as.vector(x)[x != 1], as.vector(frechet_mean(x, spd(2))$mean))
  expect_false(any(vapply(hidden, function(h) any(abs(numbers - h) < 1e-9, na.rm = TRUE), logical(1))))
  text <- paste(capture.output(print(r), print(summary(r)), explain(r), print(guarantee(r))), collapse = "\n")
  for (h in formatC(hidden[1:20], digits = 6)) expect_no_match(text, trimws(h), fixed = TRUE)
})

test_that("public mistakes are classed errors", {
  x <- wishart_spd[, , 1:5]
  M <- spd(2)
  expect_error(dp_mean(x, M, 0, diag(2), 1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, -1, diag(2), 1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, Inf, diag(2), 1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, NA, diag(2), 1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(2), -1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, radius = 1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(2)), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(2), 1, 5), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(2), 1, mechansim = "laplace"), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(2), 1, delta = 1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(2), 1, sigma = 0.1, mechanism = "laplace"), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, center = diag(2), radius = 1, sigma = 0.1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(2), 1, options = list(spread = 1)), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(c(1, -1)), 1), class = "riemdp_error_not_positive_definite")
  expect_error(dp_mean(x, M, 1, frechet_mean(x, M), 1), class = "riemdp_error_argument")
  expect_error(dp_mean(x, M, 1, diag(3), 1), class = "riemdp_error_shape")
  expect_error(dp_mean(x[, , 0], M, 1, diag(2), 1), class = "riemdp_error_shape")
  expect_error(dp_mean(1:3, M, 1, diag(2), 1), class = "riemdp_error_shape")
  expect_error(dp_mean(x, "spd", 1, diag(2), 1), class = "riemdp_error_manifold")
  expect_error(dp_mean(diag(3), sphere(2), 1, c(0, 0, 1), 1), class = "riemdp_error_radius")
  expect_error(dp_mean(array(diag(2), c(2, 2, 3)), spd(2, "bures"), 1, diag(2), 0.2, mechanism = "laplace"),
               class = "riemdp_error_unsupported")
})

test_that("one record, a data frame, points and landmarks in both forms work", {
  expect_s3_class(dp_mean(diag(2), spd(2), 1, diag(2), 1), "riemdp_mean")
  expect_s3_class(dp_mean(quakes[, c("long", "lat")], euclidean(2), 1, c(175, -20), 15), "riemdp_mean")
  y <- mf_points(wishart_spd[, , 1:4], spd(2))
  expect_equal(dim(dp_mean(y, spd(2), 1, diag(2), 1)$value), c(2L, 2L))
  expect_equal(dim(dp_mean(callosa[, , 1:9], kendall(50), 1, callosa[, , 1], 0.3)$value), c(50L, 2L))
  expect_equal(dp_mean(c(1, 2, 3), euclidean(1), 1e9, 2, 5)$value, 2, tolerance = 1e-6)
})

test_that("auto says which mechanism and why, from public quantities", {
  r <- dp_mean(wishart_spd[, , 1:50], spd(2), 1, diag(2), 1.5)
  expect_match(r$chosen, "on a lattice: laplace .*, wrapped_staircase")
  r <- dp_mean(wishart_spd[, , 1:50], spd(2), 1, diag(2), 1.5, numerics = "real")
  expect_match(r$chosen, "laplace")
  r <- dp_mean(wishart_spd[, , 1:3], spd(2), 1, diag(2), 1.5, numerics = "real")
  expect_identical(r$mechanism, "wrapped") # noise as wide as the ball: what is moved towards the centre errs least
  expect_match(r$chosen, "laplace (existence)", fixed = TRUE)
})

test_that("a scale set by hand implies its epsilon", {
  x <- wishart_spd[, , 1:50]
  for (how in list(c("laplace", "real"), c("wrapped", "real"), c("wrapped", "lattice"))) {
    plain <- dp_mean(x, spd(2), 0.7, diag(2), 1.5, mechanism = how[1], numerics = how[2])
    hand <- dp_mean(x, spd(2), center = diag(2), radius = 1.5, mechanism = how[1], numerics = how[2], sigma = plain$scale)
    expect_equal(guarantee(hand)$epsilon, 0.7, tolerance = 1e-9)
    expect_gte(guarantee(hand)$epsilon, 0.7 * (1 - 1e-12)) # on a lattice the first scale was rounded up
    expect_identical(hand$scale, plain$scale)
  }
})

# every mechanism that can serve a case, with what it needs
served <- function(case, n = 12) {
  out <- list()
  for (mechanism in setdiff(names(riemdp:::mean_mechanisms()), "chain")) {
    needs <- isTRUE(riemdp:::mean_mechanisms()[[mechanism]]$needs_delta)
    for (numerics in c("real", "lattice")) {
      out[[length(out) + 1]] <- list(mechanism = mechanism, delta = if (needs) 0.01 else 0, numerics = numerics)
    }
  }
  Filter(function(how) {
    is.null(tryCatch({
      ask <- riemdp:::mean_ask(case$M, n, 1, case$center, case$radius, how$delta, how$mechanism, NULL, "proven", "ordinary",
                               how$numerics, 1e6, list())
      riemdp:::plan_one(case$M, ask, how$mechanism, error = FALSE)
      NULL
    }, riemdp_error = identity))
  }, out)
}

test_that("every mechanism is total, and shows neither record nor estimate", {
  cases <- private_cases()
  if (quick()) cases <- cases[c(4, 11)]
  pairs <- 0
  for (case in cases) for (how in served(case)) {
    M <- case$M
    pairs <- pairs + 1
    what <- paste(label_of(M), how$mechanism, how$numerics)
    released <- NULL
    release <- function(x) {
      seen(released <<- dp_mean(x, M, 1, case$center, case$radius, mechanism = how$mechanism, delta = how$delta,
                                numerics = how$numerics, invalid = "center"))
    }
    # what stages release, and scales that depend on it, are part of the release: taken out before comparing
    shape <- function(s) {
      if (is.list(s[[1]])) {
        s[[1]][c("scale", "expected_error", "sensitivity", "solver_error", "details", "theorem", "draws", "noise_error", "errors")] <- NULL
        s[[1]]$guarantee <- NULL
      }
      s
    }
    keep <- if (how$mechanism == "adaptive") shape else identity
    plain <- keep(release(case$x))
    expect_s3_class(plain[[1]], "riemdp_release")
    expect_true(mf_is_point(M, released$value), label = what)
    text <- paste(utils::capture.output(print(released), explain(released), print(summary(released))), collapse = "\n")
    numbers <- unlist(rapply(unclass(released)[setdiff(names(released), c("value", "released", "center", "manifold"))], as.numeric,
                             classes = "numeric", how = "list"))
    estimate <- as.vector(frechet_mean(case$x, M)$mean)
    hidden <- c(Re(estimate), Im(estimate), Re(as.vector(case$x)))
    hidden <- hidden[abs(hidden) > 1e-3 & abs(hidden - round(hidden, 2)) > 1e-7]
    # numbers to ten digits: only a copy agrees
    expect_false(any(vapply(hidden, function(h) any(abs(numbers - h) < 1e-10 * abs(h), na.rm = TRUE), logical(1))), label = what)
    for (value in list(NA_real_, Inf, 1e300)) {
      expect_identical(keep(release(replace_record(M, case$x, 4, value))), plain, label = paste(what, value))
    }
    all_bad <- case$x
    for (i in 1:12) all_bad <- replace_record(M, all_bad, i, NaN)
    expect_identical(keep(release(all_bad)), plain, label = what)
  }
  expect_gt(pairs, if (quick()) 15 else 60)
})

test_that("the untruncated Laplace mechanism has the error that it should on S^2", {
  # r = pi/8, n = 50, epsilon = 1: quadrature with the proven sensitivity
  scale <- riemdp:::outwards(mean_sensitivity(sphere(2), 50, pi / 8))
  expect_equal(expected_error(sphere(2), as.numeric(scale)), 0.0331, tolerance = 0.01)
})

test_that("a release without a guarantee is no public centre", {
  x <- cbind(c(0.1, -0.2, 0.3), c(0, 0.2, 0.1))
  paper <- dp_mean(x, euclidean(2), 1, c(0, 0), 1, mechanism = "euclidean", calibration = "paper")
  expect_identical(guarantee(paper)$label, "none")
  expect_error(dp_mean(x, euclidean(2), 1, paper, 1), "NOT PRIVATE", class = "riemdp_error_argument")
  seeded <- with_simulation(1, dp_mean(x, euclidean(2), 1, c(0, 0), 1))
  expect_error(dp_mean(x, euclidean(2), 1, seeded, 1), class = "riemdp_error_argument")
  expect_true(mf_is_point(euclidean(2), with_simulation(2, dp_mean(x, euclidean(2), 1, seeded, 1))$value))
  good <- dp_mean(x, euclidean(2), 1, c(0, 0), 1)
  expect_true(mf_is_point(euclidean(2), dp_mean(x, euclidean(2), 1, good, 1)$value))
})

test_that("records however far away move a release by no more than the sensitivity", {
  # noise of 1e-9, so that the mean shows; a record at distance 38 once moved it seven times the bound on the hyperboloid
  set.seed(9)
  trials <- if (quick()) 30 else 80
  far_point <- function(scale) {
    u <- stats::rnorm(2)
    u <- u / sqrt(sum(u^2)) * scale
    c(sqrt(1 + sum(u^2)), u)
  }
  far_matrix <- function(k) {
    q <- qr.Q(qr(matrix(stats::rnorm(k^2), k)))
    x <- q %*% (10^(stats::runif(1, -150, 150) + stats::runif(k, 0, 14)) * t(q))
    (x + t(x)) / 2
  }
  cases <- list(
    list(M = euclidean(3), center = c(0, 0, 0), radius = 2, far = function() 10^stats::runif(3, -300, 300) * c(1, -1, 1)),
    list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1, far = function() far_point(10^stats::runif(1, 15, 18))),
    list(M = hyperbolic(2), center = c(1, 0, 0), radius = 1, far = function() far_point(10^stats::runif(1, 0, 153))),
    list(M = hyperbolic(2), center = c(cosh(9), sinh(9), 0), radius = 1, far = function() far_point(10^stats::runif(1, 3, 150))),
    list(M = hyperbolic(2, "ball"), center = c(0.1, 0), radius = 1,
         far = function() far_point(1)[-1] / sqrt(2) * (1 - 10^stats::runif(1, -17, 0))),
    list(M = spd(2), center = diag(2), radius = 1, far = function() far_matrix(2)),
    list(M = spd(2, "logeuclidean"), center = diag(2), radius = 1, far = function() far_matrix(2)),
    list(M = spd(2, "bures"), center = diag(2), radius = 0.3, far = function() far_matrix(2)),
    list(M = grassmann(4, 2), center = diag(4)[, 1:2], radius = 0.55,
         far = function() qr.Q(qr(diag(4)[, 3:4] + 1e-9 * matrix(stats::rnorm(8), 4))))
  )
  for (case in cases) {
    d <- mf_facts(case$M)$dimension
    a <- matrix(stats::rnorm(5 * d), 5)
    a <- a / sqrt(rowSums(a^2)) * case$radius * 0.5 + 0.3 * case$radius / sqrt(d)
    x <- mf_exp(case$M, case$center, mf_from_coords(case$M, case$center, a))
    release <- function(x) {
      with_simulation(3, dp_mean(x, case$M, center = case$center, radius = case$radius, mechanism = "wrapped", sigma = 1e-9,
                                 invalid = "center"))$value
    }
    before <- release(x)
    moved <- vapply(seq_len(trials), function(i) {
      z <- x
      if (length(dim(x)) == 3) z[, , 1] <- case$far() else z[1, ] <- case$far()
      mf_dist(case$M, before, release(z))
    }, numeric(1))
    expect_lte(max(moved), mean_sensitivity(case$M, 5, case$radius, case$center) + 1e-7)
  }
})

test_that("every mechanism's scale is what its sensitivity and its event ask for, recomputed", {
  n <- 40
  r <- 0.5
  center <- c(0, 0, 1)
  M <- sphere(2)
  x <- mf_exp(M, center, mf_from_coords(M, center, cbind(seq(-0.3, 0.3, length.out = n), 0.1)))
  b <- riemdp:::mean_steps(M, riemdp:::check_radius(M, r, center), n)
  # by hand: proofs/mean-sensitivity.md and proofs/gradient-sensitivity.md at curvature 1
  c <- r * tan(r) / (3 * n)
  delta_mean <- 2 * tan(r) / n * asinh(sqrt(c)) / sqrt(c * (1 + c))
  psi <- seq(0, pi, length.out = 20001)[-1]
  s <- acos(cos(r)^2 + sin(r)^2 * cos(psi))
  delta_gradient <- max(2 * s * sin(r) * sin(psi) / sin(s)) / n
  gaussian_delta <- function(move, sigma, epsilon) { # Balle and Wang 2018
    stats::pnorm(move / (2 * sigma) - epsilon * sigma / move) - exp(epsilon) * stats::pnorm(-move / (2 * sigma) - epsilon * sigma / move)
  }
  for (epsilon in c(0.2, 3)) {
    release <- function(mechanism, ...) dp_mean(x, M, epsilon, center, r, mechanism = mechanism, numerics = "real", ...)
    scales <- function(mechanism, wanted, ...) {
      got <- release(mechanism, ...)
      expect_gte(got$scale, wanted * (1 - 1e-9))
      expect_lt(got$scale, wanted * (1 + 1e-6))
      expect_identical(guarantee(got)$epsilon, epsilon)
    }
    scales("laplace", (delta_mean + 2 * b$distance) / epsilon)
    scales("wrapped", (delta_mean + 2 * b$error) / epsilon)
    scales("laplace_truncated", 2 * (delta_mean + 2 * b$distance) / epsilon)
    scales("kng", 2 * (delta_gradient + 2 * b$gradient) / epsilon)
    scales("tangent", 2 * r / n / epsilon)
    tight <- function(delta_of, got, slack) {
      expect_lte(delta_of(got$scale), 1e-5 * (1 + 1e-9))
      expect_gt(delta_of(got$scale * slack), 1e-5)
    }
    tight(function(sigma) gaussian_delta(delta_mean, sigma, epsilon), release("wrapped_gaussian", delta = 1e-5), 0.999)
    tight(function(sigma) gaussian_delta(2 * r / n, sigma, epsilon), release("tangent", delta = 1e-5, options = list(noise = "gaussian")), 0.999)
    tight(function(sigma) privacy_profile(M, sigma, delta_mean, epsilon), release("gaussian", delta = 1e-5), 0.97)
  }
  # stages, each with its share and no more
  for (epsilon in c(0.5, 4)) {
    got <- dp_mean(x, M, epsilon, center, r, mechanism = "adaptive", options = list(shares = c(0.2, 0.2, 0.6)), numerics = "real")
    share <- got$details$shares
    expect_lte(sum(share), 1)
    expect_identical(names(share), c("place", "center", "radius", "mean"))
    released <- got$details$released_radius
    facts <- riemdp:::check_radius(M, released, got$details$released_center)
    mean_of <- function(radius) {
      c <- radius * tan(radius) / (3 * n)
      2 * tan(radius) / n * asinh(sqrt(c)) / sqrt(c * (1 + c))
    }
    last <- riemdp:::mean_steps(M, facts, n)
    expect_equal(got$scale * share[["mean"]] * epsilon, mean_of(released) + 2 * last$distance, tolerance = 1e-9)
    ask <- riemdp:::mean_ask(M, n, epsilon, center, r, 0, "adaptive", NULL, "proven", "ordinary", "real", 1e6,
                             list(shares = c(0.2, 0.2, 0.6)))
    plan <- riemdp:::plan_one(M, ask, "adaptive", error = FALSE)
    expect_equal(plan$rough$scale * share[["center"]] * epsilon, delta_mean + 2 * b$distance, tolerance = 1e-9)
    expect_equal(plan$rough$guarantee$epsilon, share[["center"]] * epsilon)
  }
})

test_that("what rounding leaves of the solver's error is in every plan's scale", {
  # with a billion records it is a thousandth of the sensitivity and more
  n <- 1e9
  r <- 0.5
  for (case in list(list(sphere(2), c(0, 0, 1)), list(hyperbolic(2), c(1, 0, 0)), list(spd(2), diag(2)))) {
    M <- case[[1]]
    b <- riemdp:::mean_steps(M, riemdp:::check_radius(M, r, case[[2]]), n)
    delta <- as.numeric(mean_sensitivity(M, n, r))
    expect_gt(2 * b$distance, 1e-4 * delta)
    plan <- dp_mean_plan(M, n, 2, case[[2]], r, mechanism = c("laplace", "wrapped", "laplace_truncated"), numerics = "real")
    scale <- stats::setNames(plan$scale, plan$mechanism)
    expect_equal(scale[["laplace"]] * 2 / (delta + 2 * b$distance), 1, tolerance = 1e-9)
    expect_equal(scale[["wrapped"]] * 2 / (delta + 2 * b$error), 1, tolerance = 1e-9)
    if (!is.na(scale[["laplace_truncated"]])) expect_equal(scale[["laplace_truncated"]] / (delta + 2 * b$distance), 1, tolerance = 1e-9)
  }
})

test_that("releases draw the law whose scale they state: 3 % too little would be seen", {
  # Mean lengths against the law's, relative standard error 1/sqrt(d 6000) = .0041 (K-norm) or .0029; 3 % is 7 of them. Six laws within 4.5
  # standard errors: false alarm below 5e-5.
  d <- 10
  M <- euclidean(d)
  x <- matrix(0, 1, d)
  draws <- 6000
  laws <- c("laplace", "wrapped", "gaussian", "wrapped_gaussian", "tangent", "tangent_gaussian")
  lengths_of <- function(law, sigma) {
    numbers <- riemdp:::mean_steps(M, riemdp:::check_radius(M, 1), 1, if (startsWith(law, "tangent")) "tangent" else "frechet")$numbers
    with_simulation(match(law, laws), replicate(draws, sqrt(sum(.Call(riemdp:::riemdp_release_mean, M, x, double(d), 1, c(0, 0), law, sigma, 1e-10,
                                                                               numbers, FALSE, TRUE)^2))))
  }
  for (law in laws) {
    normal <- law %in% c("gaussian", "wrapped_gaussian", "tangent_gaussian")
    size <- lengths_of(law, 0.7)
    want <- 0.7 * if (normal) sqrt(2) * exp(lgamma((d + 1) / 2) - lgamma(d / 2)) else d
    expect_lt(abs(mean(size) - want) / (stats::sd(size) / sqrt(draws)), 4.5, label = law)
    expect_gt(0.03 * want / (stats::sd(size) / sqrt(draws)), 6)
  }
})

test_that("the price is in the ledger before anything is drawn, and nothing is drawn where it doesn't fit", {
  x <- matrix(c(0.2, -0.1), 50, 2, byrow = TRUE)
  plain <- riemdp:::mean_mechanisms()
  entries <- NULL
  watched <- function() lapply(plain, function(m) {
    release <- m$release
    m$release <- function(...) {
      entries <<- c(entries, nrow(ledger_history(ledger)))
      release(...)
    }
    m
  })
  for (m in c("laplace", "wrapped", "tangent", "kng")) {
    ledger <- dp_ledger(NULL, 1.5)
    entries <- NULL
    with_internals({
      dp_mean(x, euclidean(2), 1, c(0, 0), 1, mechanism = m, ledger = ledger)
      expect_error(dp_mean(x, euclidean(2), 1, c(0, 0), 1, mechanism = m, ledger = ledger), class = "riemdp_error_budget")
    }, mean_mechanisms = watched)
    expect_identical(entries, 1L, label = m) # once, after its entry
  }
})
