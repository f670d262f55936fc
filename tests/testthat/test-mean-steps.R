# The mean that every private release rests on: its promise against 60 digits at the edge of what is served, its steps counted, its work.

steps_bounds <- function(M, radius, center, n, ...) {
  riemdp:::mean_steps(M, riemdp:::check_radius(M, radius, center), n, ...)
}

# coordinates of the mean as computed: all steps from the centre, or from a start
steps_mean <- function(M, x, center, numbers, start = NULL) {
  .Call(riemdp:::riemdp_steps_mean_nonprivate, M, x, center, numbers, start)
}

reference_space <- function(ref) {
  word <- strsplit(ref$model, " ")[[1]]
  M <- switch(word[1], grassmann = grassmann(as.numeric(word[2]), as.numeric(word[3])), sphere = sphere(ref$d),
              hyperbolic = hyperbolic(ref$d), kendall = kendall(ref$d / 2 + 2), spd = spd((sqrt(8 * ref$d + 1) - 1) / 2))
  center <- if (word[1] == "grassmann") diag(mf_facts(M)$rows)[, seq_len(mf_facts(M)$cols), drop = FALSE] else
    riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))
  list(M = M, center = center)
}

# distance of exp(a) and exp(high + low) in curvature k_min, for coordinates that differ little: radial and other parts of the difference
coordinate_distance <- function(a, high, low = 0, k_min = 0) {
  off <- (a - high) - low
  size <- sqrt(sum(high^2))
  along <- if (size > 0) sum(off * high) / size else 0
  across <- sqrt(max(sum(off^2) - along^2, 0))
  stretch <- size * sqrt(max(-k_min, 0))
  abs(along) + across * (if (stretch > 1e-4) sinh(stretch) / stretch else 1)
}

# the same for any coordinates of the hyperbolic plane, where distances of exp() would lose the digits that matter
plane_distance <- function(a, b) {
  s <- sqrt(sum(a^2))
  t <- sqrt(sum(b^2))
  angle <- atan2(a[1] * b[2] - a[2] * b[1], sum(a * b))
  2 * asinh(sqrt(sinh((t - s) / 2)^2 + sinh(s) * sinh(t) * sin(angle / 2)^2))
}

test_that("the mean keeps its bound against 60 digits at the edge of the range, and neighbours keep the sensitivity", {
  skip_if_not_installed("jsonlite")
  reference <- jsonlite::fromJSON(test_path("reference", "mean_steps.json"), simplifyDataFrame = FALSE)
  far <- Filter(function(ref) !is.null(ref$kind), reference)
  expect_length(far, 45)
  closest <- 0
  for (ref in far) {
    s <- reference_space(ref)
    label <- paste(ref$model, ref$d, ref$radius, ref$kind)
    n <- nrow(ref$records) - 1
    b <- steps_bounds(s$M, ref$radius, s$center, n)
    expect_null(b$why, label = label)
    # coordinates go in as they are: the way from points to coordinates is a record's own affair
    mean_of <- function(rows, start = NULL) steps_mean(s$M, t(ref$records[rows, ]), NULL, b$numbers, start)
    k_min <- mf_facts(s$M)$k_min
    sets <- list(list(rows = seq_len(n), mean = ref$mean, rest = ref$rest),
                 list(rows = c(n + 1, 2:n), mean = ref$other_mean, rest = ref$other_rest))
    for (start in c(FALSE, TRUE)) {
      means <- lapply(sets, function(set) mean_of(set$rows, if (start) set$mean + ref$radius * 1e-13))
      off <- mapply(function(a, set) coordinate_distance(a, set$mean, set$rest, k_min), means, sets)
      expect_lte(max(off), b$distance, label = label)
      closest <- max(closest, off / b$distance)
      delta <- as.numeric(mean_sensitivity(s$M, n, ref$radius, s$center))
      if (ref$model == "hyperbolic" && ref$d == 2) {
        expect_lte(plane_distance(means[[1]], means[[2]]), delta + 2 * b$distance, label = label)
      }
      # for coordinates, which is what noise is added to, on every space
      expect_lte(sqrt(sum((means[[1]] - means[[2]])^2)), delta + 2 * b$error, label = label)
    }
  }
  expect_gt(closest, 1e-6) # the bound is far from sharp, but it isn't compared with nothing
})

# The means of a reference's first n records and of its neighbour's, with a start and without one, against its own (two doubles each) and against
# each other: the largest error over the bound
pair_off <- function(M, ref, b, n, delta, label) {
  closest <- 0
  for (start in c(FALSE, TRUE)) {
    means <- lapply(list(list(seq_len(n), ref$mean), list(c(n + 1, 2:n), ref$other_mean)), function(set) {
      steps_mean(M, t(ref$records[set[[1]], ]), NULL, b$numbers, if (start) set[[2]] + ref$radius * 1e-13)
    })
    off <- c(sqrt(sum(((means[[1]] - ref$mean) - ref$rest)^2)), sqrt(sum(((means[[2]] - ref$other_mean) - ref$other_rest)^2)))
    expect_lte(max(off), b$error, label = label)
    closest <- max(closest, off / b$error)
    expect_lte(sqrt(sum((means[[1]] - means[[2]])^2)), delta + 2 * b$error, label = label)
  }
  closest
}

test_that("Bures-Wasserstein means keep their bound against 60 digits at the edge of the range, and neighbours keep the sensitivity", {
  skip_if_not_installed("jsonlite")
  reference <- jsonlite::fromJSON(test_path("reference", "mean_steps_bures.json"), simplifyDataFrame = FALSE)
  expect_length(reference, 28)
  closest <- 0
  for (ref in reference) {
    label <- paste(c(ref$roots, ref$radius, ref$kind), collapse = " ")
    M <- spd(length(ref$roots), "bures")
    center <- diag(ref$roots^2)
    b <- steps_bounds(M, ref$radius, center, 5)
    expect_null(b$why, label = label)
    expect_identical(b$numbers$roots, as.numeric(ref$roots), label = label)
    delta <- as.numeric(mean_sensitivity(M, 5, ref$radius, center))
    expect_lt(2 * b$error, if (max(ref$roots) > 10 * min(ref$roots)) 1e-4 * delta else 1e-6 * delta, label = label)
    closest <- max(closest, pair_off(M, ref, b, 5, delta, label))
  }
  expect_gt(closest, 1e-6)
  # the bound, written once more from the proof
  for (case in list(list(c(1, 1), 0.3), list(c(1, 2, 30), 0.3), list(rep(4, 10), 1e-3))) {
    rho <- case[[1]]
    r <- case[[2]]
    k <- length(rho)
    u <- 2^-53
    R <- sqrt(sum(rho^2)) + 1.01 * r
    top <- rho[k] + 1.01 * r
    slip <- (2.1 * k^2 + 1.6 * sqrt(k)) * u
    at <- (1.02 * k * u * R^2 + 2.1 * 7 * u * R * top) / (top^2 * (1 + 1e-6)) + 1.01 * sqrt(k) * u
    s <- (rho[1] - 1.01 * r)^2 / (top^2 * (1 + 1e-6)) - at
    b <- steps_bounds(spd(k, "bures"), r, diag(rho^2), 1000)
    theta <- at / s
    for (i in seq_len(b$numbers$terms)) theta <- theta + slip / (s <- min(s * (3 - s^2) / 2, 1 - 8 * slip^2) - slip)
    lambda <- 1.01 * top * (theta + sqrt(k) * (u / 2 + slip)) + 1.03 * k^1.5 * u * R
    gradient <- 2 * 7 * u * R + lambda + k * 2^-b$numbers$bits + 10 * u * r
    expect_lt(abs(b$gradient / gradient - 1), 0.05)
    q <- riemdp:::steps_length(riemdp:::check_radius(spd(k, "bures"), r, diag(rho^2)), 1e-4)
    place <- 7 * u * R + b$numbers$step * gradient + u * R + lambda + 13 * u * r
    facts <- riemdp:::check_radius(spd(k, "bures"), r, diag(rho^2))
    # what accepts a mean is above what steps add up to: those are seen by themselves
    series <- riemdp:::steps_series("bures", mf_facts(spd(k, "bures")), facts)
    s <- riemdp:::fitting_steps("bures", mf_facts(spd(k, "bures")), facts, series, 2^-b$numbers$bits)
    expect_lt(abs(s$eta / (2 * place) - 1), 0.05)
    expect_lte(riemdp:::settled_distance(s, r), b$distance)
    found <- ((1 + 1e-6) * b$numbers$accept + gradient) / riemdp:::cot_factor(2 * r * sqrt(facts$k_max))
    expect_lt(abs(b$distance / max(q$q^q$count * r + 2 * place / (1 - q$q), found) - 1), 0.05)
  }
  expect_equal(riemdp:::settled_distance(list(q = 0.5, count = 3, eta = 0.1), 2), 0.45)
  # polar factors are found in the stated number of steps, from products with the smallest singular value that there can be, and not sooner
  for (roots in list(c(1, 1), c(1, 100), c(1, 2, 3, 50))) {
    p <- riemdp:::polar_steps(roots, 0.3)
    s <- (min(roots) - 0.303)^2 / (max(roots) + 0.303)^2
    for (i in seq_len(p$terms)) s <- c(s, s[i] * (3 - s[i]^2) / 2)
    expect_gte(s[p$terms + 1], 1 - 2^-52)
    expect_lt(s[p$terms - 1], 1 - 2^-30)
    expect_gt(p$error, 2^-53 * max(roots)^2 / min(roots)^2)
  }
})

test_that("means of frames keep their bound against 40 digits, and neighbours keep the sensitivity", {
  skip_if_not_installed("jsonlite")
  reference <- jsonlite::fromJSON(test_path("reference", "mean_steps_stiefel.json"), simplifyDataFrame = FALSE)
  expect_length(reference, 26)
  # the same with 64 rows below the first ones, each of them of some size: (A, B) becomes (A, Q B)
  hadamard <- Reduce(function(a, b) rbind(cbind(a, a), cbind(a, -a)), 1:6, 1) / 8
  spread <- function(x, n, p) {
    first <- seq_len(p * (p - 1) / 2)
    c(x[first], hadamard[, seq_len(n - p)] %*% matrix(x[-c(first, 0)], n - p))
  }
  large <- lapply(Filter(function(ref) ref$n > ref$p && ref$kind == "any", reference), function(ref) {
    for (name in c("mean", "rest", "other_mean", "other_rest")) ref[[name]] <- spread(ref[[name]], ref$n, ref$p)
    ref$records <- t(apply(ref$records, 1, spread, ref$n, ref$p))
    ref$n <- 64 + ref$p
    ref
  })
  expect_length(large, 10)
  closest <- 0
  for (ref in c(reference, large)) {
    label <- paste(c(ref$metric, ref$n, ref$p, ref$radius, ref$kind), collapse = " ")
    M <- stiefel(ref$n, ref$p, ref$metric)
    center <- diag(ref$n)[, seq_len(ref$p)]
    b <- steps_bounds(M, ref$radius, center, 4)
    expect_null(b$why, label = label)
    delta <- as.numeric(mean_sensitivity(M, 4, ref$radius))
    expect_lt(2 * b$error, 1e-6 * delta, label = label)
    closest <- max(closest, pair_off(M, ref, b, 4, delta, label))
  }
  expect_gt(closest, 1e-6)
  # one record is its own mean: more columns than small loops are for, and rotations so far apart that transport takes more terms
  for (case in list(list(stiefel(20, 9), 0.5), list(stiefel(20, 9, "canonical"), 0.5), list(stiefel(5, 5), 1.5))) {
    M <- case[[1]]
    b <- steps_bounds(M, case[[2]], diag(mf_facts(M)$rows)[, seq_len(mf_facts(M)$cols)], 1)
    a <- matrix(sin(seq_len(mf_facts(M)$dimension)^2))
    a <- 0.99 * case[[2]] * a / sqrt(sum(a^2))
    expect_lte(sqrt(sum((steps_mean(M, a, NULL, b$numbers) - a)^2)), b$error, label = riemdp:::label_manifold(M))
  }
  # a refusal from public numbers: rotations reach further than the contraction
  expect_match(steps_bounds(stiefel(3, 3, "canonical"), 0.9, diag(3), 4)$why, "smaller `radius`|another `radius`|this radius")
  # the bound, written once more from the proof
  turned <- function(y, l, p) {
    m <- max(1, ceiling(y / 1.6))
    1.03 * m * sqrt(p) * exp(y / m) * (2.1 + (l + 4 * p + 16) * (y / m + (y / m)^2 / 2)) * 2^-53
  }
  for (r in c(0.001, 0.3, 0.65)) for (size in list(c(4, 2), c(100, 5))) {
    n <- size[1]
    p <- size[2]
    d <- p * (p - 1) / 2 + (n - p) * p
    u <- 2^-53
    b <- function(x) sqrt(mean((1 - cos((1:1e5 - 0.5) / 1e5 * x)))^2 + mean(sin((1:1e5 - 0.5) / 1e5 * x))^2)
    D <- min(0.2 * r, 0.18 * (1 - b(sqrt(2) * 2.02 * r)))
    q <- b(sqrt(2) * (2.02 * r + D)) + sqrt(2) * D
    one <- (2 * turned(1.04 * r, n - p, p) + turned(2.23 * r, n - p, p) + 6 * r * u) / (1 - q)
    s <- steps_bounds(stiefel(n, p, "canonical"), r, diag(n)[, 1:p], 1000)
    expect_lt(abs(s$gradient / (one + 1e-16 * r + sqrt(d) * 2^-s$numbers$bits + 8 * r * u) - 1), 0.02)
    angle <- 2.02 * r * sqrt(1.25)
    expect_gte(s$numbers$terms, 1.03 * r * angle / sin(angle) / (0.97 * (1 - q) * D) * (1 - 1e-3))
    expect_lte(q^s$numbers$terms * D, 1.1e-16 * r)
    exact <- steps_bounds(stiefel(n, p, "canonical"), r, diag(n)[, 1:p], 1000, lattice = TRUE)
    expect_gt(exact$distance, 2 * one * (1 + s$numbers$step))
    # Euclidean
    sc <- function(x) sinh(x) / x
    D <- min(0.2 * r, 0.07 * (2 - sc(2.02 * r)))
    q <- sc(2.02 * r + D) * (1 + 4.25 * D) - 1
    both <- function(y) 1.01 * (turned(y, n - p, p) + turned(y, 0, p)) + 1.02 * p^2 * u
    one <- (2 * both(1.46 * r) + both(3.15 * r) + 8 * r * u) / (1 - q)
    s <- steps_bounds(stiefel(n, p), r, diag(n)[, 1:p], 1000)
    expect_lt(abs(s$gradient / (one + 1e-16 * r + sqrt(d) * 2^-s$numbers$bits + 8 * r * u) - 1), 0.02)
    angle <- 2.02 * r
    expect_gte(s$numbers$terms, 1.03 * r * angle / sin(angle) / (0.97 * (1 - q) * D) * (1 - 1e-3))
    expect_lte(q^s$numbers$terms * D, 1.1e-16 * r)
    exact <- steps_bounds(stiefel(n, p), r, diag(n)[, 1:p], 1000, lattice = TRUE)
    expect_gt(exact$distance, 2 * one * (1 + s$numbers$step))
  }
  # the transport's own errors count in the contraction, where there are many rows
  u <- function(n) riemdp:::transported_steps(0.7, n, 300, 1, 1)$q
  grow <- 3.13 * 2.23 * 0.7
  expect_lt(abs((u(33000) - u(400)) / (2 * (1.5 * grow + 6) * exp(grow) * 32600 * (1 + sqrt(300)) * 2^-53) - 1), 1e-3)
  # products that are the BLAS's are said to be
  said <- function(n, p) {
    M <- stiefel(n, p)
    paste(riemdp:::steps_assumptions(M, list(numbers = steps_bounds(M, 0.1, diag(n)[, 1:p], 10)$numbers)), collapse = " ")
  }
  for (case in list(c(131, 2), c(80, 65))) expect_match(said(case[1], case[2]), "BLAS")
  for (case in list(c(130, 2), c(128, 64))) expect_no_match(said(case[1], case[2]), "BLAS")
})

# Records elsewhere whose sums are counted; `logs` may lie to the fast steps, `steps` gives what the proof is about.
counted <- function(M, x, center, radius, numbers, logs = NULL) {
  seen <- new.env()
  seen$logs <- seen$steps <- 0
  m0 <- .Call(riemdp:::riemdp_stored, M, center)
  n <- .Call(riemdp:::riemdp_count, M, x)
  true_logs <- function(p) riemdp:::exact_total(list(.Call(riemdp:::riemdp_chunk_ball, M, x, m0, radius, p, "logs")))
  tally <- structure(list(
    n = n,
    logs = function(p) {
      seen$logs <- seen$logs + 1
      if (is.null(logs)) true_logs(p) else logs(p, seen$logs, true_logs)
    },
    steps = function(a) {
      seen$steps <- seen$steps + 1
      .Call(riemdp:::riemdp_chunk_steps, M, x, m0, numbers, n, a, NULL)
    }
  ), class = "riemdp_tally")
  list(tally = tally, seen = seen)
}

wrapped_center <- function(M, tally, center, radius, numbers, constant = FALSE, tol = 1e-10) {
  facts <- mf_facts(M)
  with_simulation(1, .Call(riemdp:::riemdp_release_mean, M, tally, center, radius, c(facts$k_min, facts$k_max), "wrapped", 1e-300, tol, numbers,
                           constant, TRUE))
}

test_that("whatever the fast steps say, the mean is there after a public number of steps", {
  for (case in list(list(sphere(2), 0.7), list(hyperbolic(2), 6), list(spd(2), 2), list(hermitian_spd(2), 2), list(kendall(4), 0.35),
                    list(grassmann(4, 2), 0.5), list(spd(2, "bures"), 0.3), list(stiefel(4, 2, "canonical"), 0.5), list(stiefel(4, 2), 0.6))) {
    M <- case[[1]]
    radius <- case[[2]]
    center <- riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))
    d <- mf_facts(M)$dimension
    set.seed(4)
    a <- matrix(stats::rnorm(7 * d), 7)
    a <- a / sqrt(rowSums(a^2)) * radius * c(1, 1, 1, 1, 0.5, 0.9, 0.1)
    x <- mf_exp(M, center, mf_from_coords(M, center, a))
    b <- steps_bounds(M, radius, center, 7)
    exact <- frechet_mean(x, M, tol = 1e-13)$mean
    lies <- list(
      honest = NULL,
      # far from the mean, and content
      content = function(p, count, true) {
        s <- true(p)
        s[-length(s)] <- 0
        s
      },
      opposite = function(p, count, true) -true(p),
      silent = function(p, count, true) 7L,
      noisy = function(p, count, true) true(p) * (1 + count %% 3)
    )
    for (name in names(lies)) {
      one <- counted(M, x, center, radius, b$numbers, lies[[name]])
      y <- wrapped_center(M, one$tally, center, radius, b$numbers)
      expect_lt(mf_dist(M, exact, y), 2 * b$distance + 1e-9, label = paste(M$name, name))
      expect_lte(one$seen$steps, b$steps + 12)
      # an honest start is taken; one of no use costs its tries and all steps, or fewer where a few steps mend it
      if (name == "honest") expect_lte(one$seen$steps, 3)
      if (name %in% c("content", "silent") && b$steps > 100) expect_identical(one$seen$steps, b$steps + 12)
    }
    # without a start all steps are taken, and no sum of logarithms is asked for
    expect_gt(b$steps, 5)
  }
})

test_that("where no rounding bound is known, steps of a public number settle what fast steps can't", {
  # the solver of users' manifolds: its fast steps get no answer, its own ones do
  M <- sphere(2)
  center <- c(0, 0, 1)
  radius <- 0.7
  set.seed(5)
  x <- mf_exp(M, center, mf_from_coords(M, center, matrix(stats::runif(20, -0.45, 0.45), 10)))
  mean <- frechet_mean(x, M, tol = 1e-14)$mean
  most <- .Call(riemdp:::riemdp_ball_steps, 1, 1, radius, 0.5e-10)[2]
  expect_gt(most, 10)
  o <- as.vector(.Call(riemdp:::riemdp_origin, M)) # where the ball is carried
  for (lie in list(function(count) -1, function(count) (-1)^count)) {
    last <- 0 # lies until it is asked at the centre again
    one <- counted(M, x, center, radius, NULL, function(p, count, true) {
      if (count > 1 && identical(p, o) && last == 0) last <<- count
      true(p) * if (last == 0) c(rep(lie(count), 3), 1) else 1
    })
    y <- wrapped_center(M, one$tally, center, radius, NULL)
    expect_gt(last, 0)
    expect_lt(mf_dist(M, y, mean), 2e-10 / (2 * radius / tan(2 * radius)))
    expect_lte(one$seen$logs - last, most)
    expect_lte(last, 61 * 41 + 2) # 60 fast steps of at most 40 trials each
    # and no sooner than it is needed: the first step contracts by `q` at least
    expect_gt(one$seen$logs - last, 4)
  }
})

test_that("what rounding takes is paid for, or the plan is refused from public numbers", {
  x <- matrix(rep(c(1, 0, 0), 200), 200, byrow = TRUE)
  refused <- function(M, radius, n, mechanism, ..., center = riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))) {
    d <- mf_facts(M)$dimension
    x <- mf_exp(M, center, mf_from_coords(M, center, matrix(0.1, n, d)))
    expect_error(dp_mean(x, M, 1, center, radius, mechanism = mechanism, ...), class = "riemdp_error_rounding")
  }
  # the examples that once lost everything
  for (mechanism in c("laplace", "wrapped", "adaptive")) refused(hyperbolic(2), 24, 200, mechanism)
  refused(hyperbolic(2, "ball"), 24, 200, "wrapped")
  for (mechanism in c("gaussian", "wrapped_gaussian")) refused(hyperbolic(2), 24, 200, mechanism, delta = 1e-6)
  for (radius in c(8, 25, 26)) refused(spd(2), radius, 1000, "wrapped")
  refused(spd(2), 8, 1000, "kng")
  refused(spd(2, "bures"), 0.3, 1000, "wrapped", center = diag(c(1, 1e8)))
  refused(spd(2, "bures"), 0.3, 1e4, "euclidean", center = diag(c(1, 1e7)))
  refused(spd(2), 8, 1000, "laplace_truncated")
  # more records leave less to protect, until rounding is as large
  b <- steps_bounds(hyperbolic(2), 18, c(1, 0, 0), 1)
  n <- floor(18 / b$distance)
  ask <- function(n) riemdp:::mean_ask(hyperbolic(2), n, 1, c(1, 0, 0), 18, 0, "wrapped", NULL, "proven", "ordinary", "real", 1e6, list())
  plan <- riemdp:::plan_mean(hyperbolic(2), ask(floor(0.9 * n)))
  expect_gt(plan$solver_error, 0.8 * plan$sensitivity)
  expect_error(riemdp:::plan_mean(hyperbolic(2), ask(ceiling(1.1 * n))), "rounding errors adds", class = "riemdp_error_rounding")
  # where it is served the noise pays for twice the error, of coordinates or of the point
  for (case in list(list(hyperbolic(2), 11.9, c(1, 0, 0)), list(spd(3), 4, diag(3)), list(sphere(3), 0.78, c(1, 0, 0, 0)),
                    list(spd(2, "bures"), 0.3, diag(c(1, 9))), list(stiefel(4, 2, "canonical"), 0.6, diag(4)[, 1:2]),
                    list(stiefel(4, 2), 0.6, diag(4)[, 1:2]))) {
    b <- steps_bounds(case[[1]], case[[2]], case[[3]], 50)
    plan <- function(mechanism) {
      ask <- riemdp:::mean_ask(case[[1]], 50, 0.1, case[[3]], case[[2]], 1e-6, mechanism, NULL, "proven", "ordinary", "real", 1e6, list())
      riemdp:::plan_one(case[[1]], ask, mechanism, error = FALSE)
    }
    paid <- function(mechanism, bound) {
      p <- plan(mechanism)
      expect_gte(p$solver_error, 2 * bound)
      expect_lt(p$solver_error, 2 * bound * (1 + 1e-9))
      expect_gte(p$scale * 0.1, (p$sensitivity + 2 * bound) * if (mechanism == "laplace_truncated") 2 else 1)
    }
    paid("wrapped", b$error)
    if (case[[1]]$name == "sphere") paid("laplace", b$distance)
    if (!case[[1]]$name %in% c("spd_bures", "stiefel_canonical", "stiefel_euclidean")) {
      paid("laplace_truncated", b$distance)
      expect_gte(plan("kng")$solver_error, 2 * b$gradient)
    }
    expect_gte(plan("tangent")$solver_error, 8 * 2^-53 * case[[2]])
    expect_match(paste(plan("wrapped")$guarantee$assumptions, collapse = " "), "IEEE 754")
  }
})

test_that("constant timing takes all steps on whatever records, or is refused", {
  M <- hyperbolic(2)
  center <- c(1, 0, 0)
  at <- function(a) mf_exp(M, center, mf_from_coords(M, center, a))
  n <- 300 # fewer take less time than can be told
  same <- at(matrix(c(0.1, 0), n, 2, byrow = TRUE))
  angle <- seq(0, 2 * pi, length.out = n)
  spread <- at(6 * cbind(cos(angle), sin(angle)))
  spread[1, ] <- at(rbind(c(900, 0) / 100))[1, ] # outside
  seconds <- function(x, timing) {
    min(replicate(if (quick()) 3 else 5, system.time(dp_mean(x, M, 1, center, 6, mechanism = "wrapped", timing = timing, post = FALSE))[["user.self"]]))
  }
  one <- seconds(same, "constant")
  other <- seconds(spread, "constant")
  # 650 passes each; a solver that stops when it is there needs 3 of them for one and some 40 for the other
  expect_lt(abs(log(other / one)), log(2.5)) # machines have other things to do
  expect_lt(seconds(same, "ordinary"), one / 3)
  # records that are all at the centre, or cancel, take no way round the work
  centered <- at(matrix(0, n, 2))
  expect_lt(abs(log(seconds(centered, "constant") / one)), log(2.5))
  pairs <- at(matrix(c(3, 0, -3, 0), n, 2, byrow = TRUE))
  expect_lt(abs(log(seconds(pairs, "constant") / one)), log(2.5))
  # the result is the same mean
  same_noise <- function(timing) {
    with_simulation(3, dp_mean(spread, M, 1, center, 6, mechanism = "laplace", timing = timing, numerics = "real"))$value
  }
  expect_lt(mf_dist(M, same_noise("constant"), same_noise("ordinary")), 1e-8)
  for (mechanism in c("laplace", "wrapped", "tangent", "adaptive")) {
    expect_identical(guarantee(dp_mean(same, M, 1, center, 6, mechanism = mechanism, timing = "constant"))$label, "pure")
  }
  x <- mf_exp(spd(2, "bures"), diag(2), mf_from_coords(spd(2, "bures"), diag(2), matrix(0.01, 4, 3)))
  for (mechanism in c("wrapped", "tangent", "adaptive")) {
    expect_identical(guarantee(dp_mean(x, spd(2, "bures"), 1, diag(2), 0.2, mechanism = mechanism, timing = "constant"))$label, "pure")
  }
  # a Stiefel frame's logarithm takes as many steps as it needs
  refused <- list(list(stiefel(60, 2), diag(60)[, 1:2], "takes longer for farther records"),
                  list(product(stiefel(6, 2), euclidean(1)), c(diag(6)[, 1:2], 0), "takes longer for farther records"),
                  list(custom_sphere(2), c(0, 0, 1), "fixed number of steps"))
  for (case in refused) {
    x <- mf_exp(case[[1]], case[[2]], mf_from_coords(case[[1]], case[[2]], matrix(0.01, 2, mf_facts(case[[1]])$dimension)))
    for (mechanism in c("wrapped", "tangent")) {
      expect_error(dp_mean(x, case[[1]], 1, case[[2]], 0.05, mechanism = mechanism, timing = "constant"), case[[3]], class = "riemdp_error_unsupported")
    }
  }
  expect_error(dp_mean(chunks(list(same)), M, 1, center, 6, mechanism = "wrapped", timing = "constant"), "chunks",
               class = "riemdp_error_unsupported")
})

test_that("the error that is paid for is at least what each of its parts asks for, recomputed", {
  for (case in list(list(sphere(2), c(0, 0, 1), 0.6), list(kendall(5), exp(2i * pi * (1:5) / 5), 0.3), list(grassmann(4, 2), diag(4)[, 1:2], 0.3),
                    list(hyperbolic(2), c(1, 0, 0), 1), list(spd(2), diag(2), 1))) {
    ball <- riemdp:::check_radius(case[[1]], case[[3]], case[[2]])
    for (lattice in c(FALSE, TRUE)) {
      s <- riemdp:::mean_steps(case[[1]], ball, 500, lattice = lattice)
      rho <- ball$radius * sqrt(max(ball$k_max, 0))
      stretch <- if (rho > 0) rho / sin(rho) else 1
      expect_equal(s$error / (s$distance * stretch), 1, tolerance = 1e-9) # the logarithm at the centre stretches it
      # a mean found otherwise has a gradient of `accept` at most, as computed: over the least curvature of the energy
      across <- if (rho > 0) 2 * rho / tan(2 * rho) else 1
      if (!lattice) expect_gte(s$distance * across / (s$numbers$accept + s$gradient), 1 - 1e-9)
      expect_gt(s$numbers$accept, 4 * s$gradient * (1 - 1e-9))
    }
  }
})

test_that("bounds of rounding errors have the constants of the proof", {
  # mean-solver.md, the displayed bounds of e_G and eta_0; measured errors are a hundredth of them and would not tell
  u <- 2^-53
  for (case in list(c(d = 2, r = 0.7, t = 0.5), c(d = 40, r = 0.3, t = 0.2))) {
    d <- case[["d"]]
    r <- case[["r"]]
    t <- case[["t"]]
    unit <- 2^-50
    same <- function(model, gradient, place) {
      got <- riemdp:::steps_errors(model, d, r, t, unit, 2, 0.3, 20)
      expect_equal(unlist(got) / u, c(gradient = gradient, place = place) / u, tolerance = 1e-12)
    }
    sigma <- 40 * (d + 2)^2 * exp(r) * u^2
    sums <- sqrt(d) * unit
    log <- 2 * r * ((16 * d + 900) * u + sigma)
    same("sphere", log + sums + 8 * r * u, 1.01 * (2 * log + sums + 8 * r * u))
    same("planar", (18 * d + 2000) * u + sums, (40 * d + 4000) * u + sums)
    nu <- (d / 2 + 6) * u
    log <- 2 * r * (nu * (9 + 12 * r) + (800 + 10 * d) * u + sigma)
    gradient <- log + sums + 8 * r * u
    omega <- 2.02 * r * t
    place <- 1.01 * (sinh(omega) / omega * t * gradient + log + 2.9 * r * nu * (1 + sinh(omega)) +
                       sinh(omega) * (nu * (5 + 5 * r) + (490 + 7 * d) * u + sigma) + 6 * u * sinh(1.01 * r))
    same("hyperbolic", gradient, place)
    # matrices; complex ones are real ones of twice the size and vectors sqrt(2) times as long
    for (root in c(1, sqrt(2))) {
      k <- 2 * root^2
      half <- 1.001 * r
      own <- 8 * r * u * (root > 1)
      tau <- function(R) (1.1 * max(1, 8 * root * r) * (k^2 + 2 * k^1.5 + 10 * sqrt(k)) + 2.2 * root * R) * u
      e3 <- function(R) (22 * (k + 4) * k * (1 + exp(R)) * cosh(R / 2)^2 + cosh(half / 2)^4 * (28 * k^2 + 80 * k) + 2 * half * sqrt(k) * (3 * 20 + 80) +
                           8 * sqrt(k) * cosh(half)^2) * u + 4 * sqrt(k) * 0.3^41 / (41 * (1 - 0.3^2))
      there <- 1.02 * (exp(2 * r) * (1.01 * tau(r) + 2.02 * tau(r / 2)) + k^2 * u * (1.03 * exp(3 * r) + 1.04 * exp(4 * r)))
      back <- 1.02 * (2.02 * exp(r + omega) * tau(r / 2) + 1.01 * exp(2 * omega) * tau(omega) +
                        k^2 * u * (1.03 * exp(r + 2 * omega) + 1.05 * exp(2 * r + omega)))
      sc <- function(x) sinh(x) / x
      gradient <- (there + e3(2 * half)) / root + own + sums + 8 * r * u
      off <- if (root > 1) sc(1.01 * r / sqrt(2)) * (back / root + e3(1.01 * r) / root + own) else back + sc(1.01 * r / sqrt(2)) * e3(1.01 * r)
      place <- 1.01 * (sc(omega / sqrt(2)) * t * gradient + off)
      got <- riemdp:::steps_errors(if (root > 1) "hermitian" else "spd", d, r, t, unit, k, 0.3, 20)
      expect_equal(unlist(got) / u, c(gradient = gradient, place = place) / u, tolerance = 1e-12)
    }
    expect_identical(riemdp:::steps_rows("hermitian", mf_facts(hermitian_spd(3))), 6)
  }
})

# sums in two parts, the second of which stays below 2^31
carry <- function(s) {
  over <- floor(s[, 2] / 2^31)
  cbind(s[, 1] + over, s[, 2] - 2^31 * over)
}
# what records add to the whole sums at coordinates `at`, in units
steps_sum <- function(M, x, center, numbers, n, at) {
  carry(.Call(riemdp:::riemdp_chunk_steps, M, x, .Call(riemdp:::riemdp_stored, M, center), numbers, n, at, NULL))
}

# a record that is nowhere, among records in arrays, or a list of parts
without_record <- function(x, i) {
  if (is.list(x)) return(replace(x, 1, list(without_record(x[[1]], i))))
  if (length(dim(x)) == 3) x[, , i] <- NaN
  else if (is.complex(x)) x[, i] <- NaN
  else x[i, ] <- NaN
  x
}

test_that("a record's coordinates, and what it adds, are its own, whatever stands beside it", {
  for (case in list(list(sphere(2), 0.6), list(sphere(50), 0.4), list(hyperbolic(3), 3), list(spd(2), 2), list(spd(5), 3), list(hermitian_spd(2), 2),
                    list(kendall(4), 0.35), list(grassmann(5, 2), 0.4), list(spd(3, "bures"), 0.2), list(stiefel(4, 2, "canonical"), 0.4),
                    list(stiefel(4, 2), 0.4), list(rotations(3), 0.5), list(product(sphere(2), spd(2)), 0.6), list(euclidean(3), 1))) {
    M <- case[[1]]
    radius <- case[[2]]
    center <- riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))
    d <- mf_facts(M)$dimension
    set.seed(5)
    a <- matrix(stats::rnorm(35 * d), 35)
    a <- a / sqrt(rowSums(a^2)) * radius * stats::runif(35, 0, 1.05) # some are moved to the ball
    plain <- mf_exp(M, center, mf_from_coords(M, center, a))
    x <- mf_points(plain, M)
    for (lattice in c(FALSE, TRUE)) {
      numbers <- steps_bounds(M, radius, center, 35, lattice = lattice)$numbers
      coords <- function(x) attr(steps_mean(M, x, center, numbers, numeric(d)), "records")
      whole <- coords(x)
      label <- paste(riemdp:::label_manifold(M), lattice)
      expect_identical(do.call(cbind, lapply(1:35, function(i) coords(x[i]))), whole, label = label)
      # one that is nowhere counts as the centre, and moves no other
      y <- without_record(plain, 7)
      expect_identical(coords(y), replace(whole, cbind(seq_len(d), 7), 0), label = label)
      at <- 0.3 * whole[, 3]
      alone <- lapply(1:35, function(i) steps_sum(M, x[i], center, numbers, 35, at))
      expect_identical(steps_sum(M, x, center, numbers, 35, at), carry(Reduce(`+`, alone)), label = label)
    }
  }
})

test_that("near matrices have shorter series that are as good, and none where time is to be even", {
  for (case in list(list(spd(3), 1), list(spd(3), 4), list(hermitian_spd(2), 1))) {
    M <- case[[1]]
    radius <- case[[2]]
    d <- mf_facts(M)$dimension
    center <- riemdp:::public_point(M, .Call(riemdp:::riemdp_origin, M))
    b <- steps_bounds(M, radius, center, 1)
    set.seed(6)
    lengths <- radius * exp(seq(log(1e-3), 0, length.out = 60)) * 0.999
    a <- matrix(stats::rnorm(60 * d), 60)
    a <- a / sqrt(rowSums(a^2)) * lengths
    x <- mf_points(mf_exp(M, center, mf_from_coords(M, center, a)), M)
    unit <- 2^-b$numbers$bits
    for (i in 1:60) {
      own <- drop(attr(steps_mean(M, x[i], center, b$numbers, numeric(d)), "records"))
      s <- steps_sum(M, x[i], center, b$numbers, 1, numeric(d))
      expect_lt(sqrt(sum(((s[, 1] * 2^31 + s[, 2]) * unit - own)^2)), if (radius == 1) 4e-14 * sqrt(d) else b$gradient, label = paste(radius, i))
    }
    # seen from one edge of the ball, one at the other is as far as there is
    x <- mf_points(mf_exp(M, center, mf_from_coords(M, center, rbind(a, -a[60, ]))), M)
    used <- function(start) attr(steps_mean(M, x, center, b$numbers, start), "series")
    few <- used(a[60, ]) + used(numeric(d))
    expect_true(few[1] > 0 && few[length(few)] > 0 && sum(few > 0) > 8, label = radius)
    all <- used(NULL)
    expect_gt(all[1], 0)
    expect_identical(sum(all[-1]), 0)
  }
})

test_that("fast steps are about the records in the ball, wherever some were, and spare all others", {
  for (radius in c(0.3, 1.5)) for (lattice in c(FALSE, TRUE)) for (nowhere in c(FALSE, TRUE)) {
    M <- spd(2)
    center <- diag(c(2, 0.5))
    set.seed(7)
    a <- matrix(stats::rnorm(60), 20)
    a[1:4, ] <- 5 * a[1:4, ]
    x <- mf_exp(M, center, mf_from_coords(M, center, 0.4 * radius * a))
    if (nowhere) x[, , 5] <- NaN
    b <- steps_bounds(M, radius, center, 20, lattice = lattice)
    fast <- steps_mean(M, x, center, b$numbers, TRUE)
    expect_lte(sum(attr(fast, "series")), 3 * 20, label = radius)
    all <- steps_mean(M, x, center, b$numbers)
    expect_gt(sum(attr(all, "series")), 5 * 20)
    expect_lt(sqrt(sum((fast - all)^2)), b$error)
  }
})

test_that("a radius just above a power of 2 is served", {
  # log2() of 1 + 2^-52 times a power is that of the power
  for (radius in c(0.0625, 1, 8) * (1 + .Machine$double.eps)) {
    expect_equal(dp_mean(c(-1, 0, 1) * radius, euclidean(1), 1e9, 0, radius)$value, 0, tolerance = 1e-6)
    expect_s3_class(dp_mean(c(-1, 0, 1) * radius, euclidean(1), 1, 0, radius, numerics = "lattice", mechanism = "wrapped"), "riemdp_mean")
  }
  r <- 2^(-100:100)
  expect_identical(vapply(r, riemdp:::room_bits, 0), 51 - log2(r))
  expect_identical(vapply(r * (1 + .Machine$double.eps), riemdp:::room_bits, 0), 50 - log2(r))
  expect_identical(vapply(r * (1 - .Machine$double.eps / 2), riemdp:::room_bits, 0), 51 - log2(r))
})
