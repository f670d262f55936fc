# Private second-moment matrices and directions: sensitivities that are attained, exact densities on worst-case neighbours, laws against
# quadrature. Family-wise, statistical tests fail with a probability below 1e-4.

internals <- function(name) get(name, asNamespace("riemdp"))
unit_rows <- function(n, d) {
  x <- matrix(rnorm(n * d), n)
  x / sqrt(rowSums(x^2))
}
# what is drawn for a sum by a mechanism, in a simulation
drawn_for <- function(S, ask, seed = 1, plan = internals("component_plan")(ask)) {
  with_simulation(seed, internals("draw_components")(S, plan, ask$q))
}
asked <- function(n, d, q = 1, epsilon = 1, delta = 1e-6, mechanism = "auto", gap = NULL) {
  internals("component_ask")(n, d, q, epsilon, delta, mechanism, gap)
}

test_that("rows become whole numbers of bounded length, whatever they hold, and their sums are exact", {
  set.seed(1)
  for (d in c(2, 7, 40)) {
    grid <- internals("moment_grid")(500, d)
    x <- rbind(unit_rows(200, d) * 3, unit_rows(100, d) * runif(100), 1e-300, 1e300, 1e200 * unit_rows(5, d), c(NA, rep(1, d - 1)), c(Inf, rep(1, d - 1)),
               c(NaN, rep(0, d - 1)), 0, rep(c(1, -1), length.out = d))
    k <- internals("moment_rows")(x, 3, grid)
    expect_identical(k, round(k))
    expect_true(all(is.finite(k)))
    expect_lte(max(rowSums(k^2)), 4^grid$bits)
    expect_true(all(k[nrow(x) - 2:4, ] == 0)) # missing, infinite, not a number
    # in whatever order, and as R's own sums of whole numbers
    S <- internals("moment_sum")(k, grid)
    o <- sample(nrow(k))
    expect_identical(internals("moment_sum")(k[o, ], grid), S)
    expect_identical(S[1, 2] * 4^grid$bits, sum(k[, 1] * k[, 2]))
    expect_identical(S, t(S))
  }
  x <- unit_rows(400, 5) * runif(400)
  grid <- internals("moment_grid")(400, 5)
  S <- internals("moment_sum")(internals("moment_rows")(x, 1, grid), grid)
  expect_equal(internals("moment_value")(S, 400, 1, grid), crossprod(x) / 400, tolerance = 1e-5)
  # longer rows count as shortened ones
  long <- x * rep(c(1, 50), each = 200)
  k <- internals("moment_rows")(long, 0.5, grid)
  short <- pmin(1, 0.5 / sqrt(rowSums(long^2)))
  expect_lt(max(abs(k - long * short / 0.5 * grid$inside)), 0.500001)
  # room for sums of so many records
  for (n in c(1, 1e3, 1e6, 2^31)) expect_lte(n * 4^internals("moment_grid")(n, 10)$bits, 2^50)
})

test_that("one record moves sums by what the proof says, and no less would do", {
  set.seed(2)
  d <- 6
  entries <- internals("symmetric_entries")
  back <- internals("symmetric_matrix")
  S <- crossprod(matrix(rnorm(36), d))
  expect_equal(back(entries(S), d), S)
  expect_equal(sum(entries(S)^2), sum(S^2))
  moved <- function(u, w) {
    D <- tcrossprod(u) - tcrossprod(w)
    e <- eigen(D, symmetric = TRUE)$values
    c(frobenius = sqrt(sum(D^2)), nuclear = sum(abs(e)), largest = max(e), least = -min(e))
  }
  pairs <- replicate(2000, moved(unit_rows(1, d)[1, ] * runif(1), unit_rows(1, d)[1, ] * runif(1)^0.1))
  expect_lte(max(pairs["frobenius", ]), sqrt(2))
  expect_lte(max(pairs["nuclear", ]), 2)
  expect_lte(max(pairs[c("largest", "least"), ]), 1)
  expect_equal(moved(diag(d)[1, ], diag(d)[2, ]), c(frobenius = sqrt(2), nuclear = 2, largest = 1, least = 1))
  # on the lattice: orthogonal rows of full length attain it but for rounding
  for (mechanism in c("gauss", "laplace")) {
    ask <- asked(10, d, mechanism = mechanism)
    plan <- internals("component_plan")(ask)
    steps <- function(x) round(entries(internals("moment_sum")(internals("moment_rows")(x, 1, ask$grid), ask$grid)) * 2^plan$fine)
    others <- unit_rows(9, d)
    far <- sqrt(sum((steps(rbind(others, diag(d)[1, ])) - steps(rbind(others, diag(d)[2, ])))^2))
    expect_lte(far, plan$shift)
    expect_gt(far, 0.9999 * plan$shift * (ask$grid$inside / 2^ask$grid$bits)^2)
    expect_equal(plan$shift, sqrt(2) * 2^plan$fine + 2 * sqrt(21), tolerance = 1e-9)
  }
})

test_that("scales are those of the guarantee, by independent formulas", {
  e <- 0.7
  # normal noise: delta at epsilon from the analytic formula
  for (delta in c(1e-4, 1e-9)) {
    plan <- internals("component_plan")(asked(100, 4, epsilon = e, delta = delta, mechanism = "gauss"))
    mu <- plan$shift / sqrt(plan$scale^2 - 9)
    expect_equal(pnorm(mu / 2 - e / mu) - exp(e) * pnorm(-mu / 2 - e / mu), delta, tolerance = 1e-6)
    expect_equal(plan$guarantee$mu, mu)
  }
  plan <- internals("component_plan")(asked(100, 4, epsilon = e, mechanism = "laplace"))
  expect_equal(plan$shift / plan$scale, e)
  expect_lte(plan$shift / plan$scale, e)
  expect_equal(internals("component_plan")(asked(100, 4, epsilon = e, mechanism = "wishart"))$scale, 2 / e)
  expect_equal(internals("component_plan")(asked(100, 4, 3, epsilon = e, mechanism = "bingham"))$scale, 6 / e)
})

test_that("noise has the law that is priced", {
  d <- 3
  S <- diag(c(5, 2, 1))
  draws <- function(mechanism, n = 400) {
    ask <- asked(100, d, mechanism = mechanism)
    plan <- internals("component_plan")(ask)
    list(plan = plan, H = with_simulation(3, lapply(seq_len(n), function(i) internals("draw_components")(S, plan, 1)$sum - S)))
  }
  for (mechanism in c("gauss", "laplace", "wishart")) {
    x <- draws(mechanism)
    expect_true(all(vapply(x$H, isSymmetric, NA)))
    entry <- function(i, j) vapply(x$H, function(H) H[i, j], 0)
    # mean 0, the stated standard deviation beside the diagonal, root 2 times that on it where it is isotropic
    for (i in 1:3) {
      expect_lt(abs(mean(entry(i, i))), 5 * sd(entry(i, i)) / sqrt(400))
      expect_equal(sd(entry(i, i %% 3 + 1)), x$plan$sd, tolerance = 0.25)
      expect_equal(sd(entry(i, i)), sqrt(2) * x$plan$sd, tolerance = 0.25)
    }
  }
  # l2: the length is Gamma(6, scale)
  x <- draws("laplace")
  far <- vapply(x$H, function(H) sqrt(sum(H^2)), 0)
  expect_gt(ks.test(far, pgamma, 6, scale = x$plan$scale * 2^-x$plan$fine)$p.value, 1e-6)
  # Wishart: along a direction the difference of two Gamma((d + 1)/2, scale)
  x <- draws("wishart")
  along <- vapply(x$H, function(H) sum(c(0.6, 0, 0.8) * (H %*% c(0.6, 0, 0.8))), 0)
  p <- vapply(along, function(v) integrate(function(w) pgamma(v + w, 2, scale = x$plan$scale) * dgamma(w, 2, scale = x$plan$scale), 0, Inf)$value, 0)
  expect_gt(ks.test(p, punif)$p.value, 1e-6)
})

test_that("differences of Wishart matrices lose epsilon at most on worst-case neighbours, one Wishart matrix everything", {
  # S moves by uu' - ww', u and w orthogonal: the entries along u and along w are independent, each the difference of two Gammas
  epsilon <- 1.3
  s <- internals("component_plan")(asked(100, 4, epsilon = epsilon, mechanism = "wishart"))$scale
  a <- 5 / 2
  log_density <- function(x) (a - 0.5) * log(abs(x)) + log(besselK(abs(x) / s, a - 0.5, TRUE)) - abs(x) / s
  x <- seq(-60, 60, length.out = 4001) + 1e-4
  loss <- log_density(x) - log_density(x - 1)
  expect_lte(2 * max(abs(loss)), epsilon)
  expect_gt(2 * max(abs(loss)), 0.9 * epsilon)
  # one matrix alone: which matrices can come out tells the neighbours apart
  one <- with_simulation(1, replicate(200, {
    W <- 0.5 * s * crossprod(matrix(rnorm(10), 5))
    min(eigen(W + diag(c(1, -1)), TRUE, TRUE)$values) < 0
  }))
  expect_gt(mean(one), 0)
})

test_that("directions have the Bingham law: quadrature in 2 and 3 dimensions, closed moments", {
  draw <- function(fall, n, seed) with_simulation(seed, t(replicate(n, internals("bingham_coordinates")(fall, TRUE))))
  # a circle: cos(2 angle) has the mean I1(k/2)/I0(k/2)
  for (k in c(0, 0.7, 6, 80)) {
    v <- draw(c(0, k), 800, 4)
    expect_equal(rowSums(v^2), rep(1, 800))
    expect_lt(abs(mean(v[, 1]^2 - v[, 2]^2) - besselI(k / 2, 1, TRUE) / besselI(k / 2, 0, TRUE)), 4.9 * sd(v[, 1]^2 - v[, 2]^2) / sqrt(800) + 1e-9)
    angle <- atan2(v[, 2], v[, 1]) %% pi
    angle <- pmin(angle, pi - angle) # 0 to pi/2
    f <- function(t) exp(-k * sin(t)^2)
    whole <- integrate(f, 0, pi / 2)$value
    p <- vapply(angle, function(t) integrate(f, 0, t)$value / whole, 0)
    expect_gt(ks.test(p, punif)$p.value, 1e-6)
  }
  # the sphere: the law of the third coordinate, the others integrated out by a Bessel function
  for (fall in list(c(0, 1, 3), c(0, 0, 10), c(0, 30, 31))) {
    v <- draw(fall, 800, 5)
    f <- function(z) exp(-fall[3] * z^2) * besselI((1 - z^2) * fall[2] / 2, 0, TRUE)
    whole <- integrate(f, 0, 1, rel.tol = 1e-9)$value
    p <- vapply(abs(v[, 3]), function(z) integrate(f, 0, z, rel.tol = 1e-9)$value / whole, 0)
    expect_gt(ks.test(p, punif)$p.value, 1e-6)
  }
  # of a matrix and a scale: what their ratio says, turned as the matrix is
  axis <- c(cos(0.4), sin(0.4))
  S <- 7 * tcrossprod(axis) + 2 * diag(2)
  v <- with_simulation(8, t(replicate(600, internals("bingham_direction")(S, 3.5, 1)[, 1])))
  along <- 2 * drop(v %*% axis)^2 - 1
  expect_lt(abs(mean(along) - besselI(1, 1) / besselI(1, 0)), 4.9 * sd(along) / sqrt(600))
  v <- with_simulation(9, t(replicate(600, internals("bingham_direction")(S, 0.5, 1)[, 1])))
  along <- 2 * drop(v %*% axis)^2 - 1
  expect_lt(abs(mean(along) - besselI(7, 1) / besselI(7, 0)), 4.9 * sd(along) / sqrt(600))
  # many dimensions, all alike but one: its square is a Beta(1/2, (d - 1)/2) weighted by exp
  d <- 40
  v <- draw(c(0, rep(60, d - 1)), 400, 6)
  w <- integrate(function(u) u^-0.5 * (1 - u)^((d - 3) / 2) * exp(60 * (u - 1)), 0, 1)$value
  m <- integrate(function(u) u^0.5 * (1 - u)^((d - 3) / 2) * exp(60 * (u - 1)), 0, 1)$value / w
  expect_lt(abs(mean(v[, 1]^2) - m), 4.9 * sd(v[, 1]^2) / 20)
  expect_equal(1 - internals("bingham_lost")(1, d - 1, 60), m, tolerance = 1e-6)
})

test_that("drawn directions lose epsilon at most on worst-case neighbours, and the factor 2 is needed", {
  epsilon <- 1.6
  s <- internals("component_plan")(asked(100, 2, epsilon = epsilon, mechanism = "bingham"))$scale
  log_density <- function(S) {
    t <- seq(0, pi, length.out = 4001)[-1]
    e <- (S[1, 1] * cos(t)^2 + 2 * S[1, 2] * cos(t) * sin(t) + S[2, 2] * sin(t)^2) / s
    e - max(e) - log(mean(exp(e - max(e))))
  }
  worst <- 0
  for (n in c(0, 3, 30, 3000)) for (turn in c(pi / 2, 1, 0.3)) {
    w <- c(0, 1)
    u <- c(sin(turn), cos(turn))
    worst <- max(worst, abs(log_density(n * tcrossprod(w) + tcrossprod(u)) - log_density(n * tcrossprod(w) + tcrossprod(w))))
  }
  expect_lte(worst, epsilon * (1 + 1e-9))
  expect_gt(worst, 0.95 * epsilon)
})

test_that("several directions are orthonormal, each drawn in the complement of those before", {
  S <- diag(c(400, 200, 100, 0, 0))
  Q <- qr.Q(qr(matrix(cos(1:25 * 1.7), 5)))
  v <- with_simulation(7, internals("bingham_directions")(Q %*% S %*% t(Q), 3, 0.5, 1))
  expect_equal(crossprod(v), diag(3))
  expect_gt(min(abs(diag(crossprod(Q[, 1:3], v)))), 0.9)
  # all of one complement: the last direction of two in two dimensions is what is left
  v <- with_simulation(8, internals("bingham_directions")(diag(c(3, 1)), 2, 1, 1))
  expect_equal(crossprod(v), diag(2))
  first <- function(q) with_simulation(8, internals("bingham_directions")(diag(3), q, 1, 1))[, 1]
  expect_equal(first(1), first(2))
})

test_that("bounds of the noise's eigenvalues and of the angle hold", {
  set.seed(9)
  for (mechanism in c("gauss", "laplace", "wishart")) for (d in c(2, 6)) {
    ask <- asked(300, d, mechanism = mechanism)
    plan <- internals("component_plan")(ask)
    S <- diag(c(200, rep(20, d - 1)))
    h <- internals("noise_spread")(mechanism, plan, d, 0.9)
    out <- with_simulation(10, lapply(1:100, function(i) internals("draw_components")(S, plan, 1)))
    lengths <- vapply(out, function(o) max(abs(eigen(o$sum - S, TRUE, TRUE)$values)), 0)
    expect_gt(mean(lengths <= h), 0.8)
    expect_lt(h, 4 * median(lengths))
    angles <- vapply(out, function(o) acos(min(1, abs(o$directions[1]))), 0)
    bounds <- vapply(out, function(o) internals("angle_bound")(o$values, 1, h), 0)
    expect_gt(mean(angles <= bounds), 0.8)
    if (mechanism == "gauss") expect_lt(median(bounds), pi / 2)
    held <- vapply(out, function(o) internals("angle_bound")(o$values, 1, max(abs(eigen(o$sum - S, TRUE, TRUE)$values))), 0)
    expect_true(all(angles <= held + 1e-9)) # whatever was drawn, with its own length
  }
  expect_equal(internals("angle_bound")(c(10, 4, 1), 1, 2), asin(2 / 4))
  expect_equal(internals("angle_bound")(c(10, 4, 1), 1, 3), pi / 2)
})

test_that("the least expected error is chosen, from public numbers, and comes near what simulations lose", {
  chosen <- function(...) internals("component_plan")(asked(...))$mechanism
  expect_identical(chosen(1e4, 50, delta = 1e-6), "gauss")
  expect_identical(chosen(1e4, 3, delta = 0), "laplace")
  expect_identical(chosen(1e5, 50, delta = 0), "wishart")
  expect_identical(chosen(1e3, 50, delta = 0), "look")
  expect_identical(chosen(1e3, 50, delta = 0, gap = 0.05), "bingham")
  expect_identical(chosen(1e3, 50, delta = 0, gap = 0.5), "wishart")
  expect_identical(chosen(1e3, 50, delta = 1e-6), "gauss")
  for (case in list(list(4, 1), list(20, 1), list(20, 3))) {
    d <- case[[1]]
    q <- case[[2]]
    for (mechanism in c("gauss", "laplace", "wishart", "bingham")) {
      errors <- vapply(c(1e2, 1e3, 1e4, 1e5), function(n) internals("component_plan")(asked(n, d, q, mechanism = mechanism))$error, 0)
      expect_true(all(diff(errors) < 0), label = mechanism)
      ask <- asked(2e4, d, q, mechanism = mechanism)
      plan <- internals("component_plan")(ask)
      S <- diag(c(rep(ask$gap, q), rep(0, d - q))) * ask$n
      lost <- with_simulation(11, vapply(1:60, function(i) {
        v <- internals("draw_components")(S, plan, q)$directions
        q * ask$gap - sum(v * (S %*% v)) / ask$n
      }, 0))
      expect_equal(mean(lost), plan$error, tolerance = 0.45, label = paste(mechanism, d, q))
    }
  }
})

test_that("releases find the directions, say what they are and what they promise", {
  set.seed(12)
  d <- 8
  Q <- qr.Q(qr(matrix(rnorm(d * d), d)))
  x <- matrix(rnorm(4000 * d), 4000) %*% (c(0.5, 0.35, rep(0.05, d - 2)) * t(Q))
  colnames(x) <- letters[1:d]
  for (mechanism in c("gauss", "laplace", "wishart", "bingham")) {
    r <- dp_pca(x, 2, epsilon = if (mechanism == "bingham") 20 else 4, delta = if (mechanism == "gauss") 1e-6 else 0, bound = 2, mechanism = mechanism)
    expect_s3_class(r, c("riemdp_components", "riemdp_pca", "riemdp_release"), exact = TRUE)
    expect_identical(guarantee(r)$label, if (mechanism == "gauss") "approx" else "pure")
    expect_identical(guarantee(r)$numerics, if (mechanism %in% c("gauss", "laplace")) "lattice" else "real-valued")
    expect_equal(unname(crossprod(r$loadings)), diag(2))
    expect_gt(min(svd(crossprod(Q[, 1:2], r$loadings))$d), 0.9)
    expect_identical(rownames(r$loadings), letters[1:d])
    expect_true(mf_is_point(r$manifold, r$value))
    if (mechanism == "bingham") {
      expect_null(r$eigenvalues)
      expect_null(r$moment)
      expect_null(r$shares)
      expect_match(paste(format(r), collapse = " "), "no matrix was released")
      expect_error(confint(r), class = "riemdp_error_unsupported")
    } else {
      expect_equal(eigen(r$moment, TRUE)$values, r$eigenvalues)
      expect_equal(r$moments, c(0.25, 0.1225), tolerance = 0.15)
      expect_equal(sum(r$shares), 1, tolerance = 0.15)
      ends <- confint(r)
      expect_identical(ends[1], 0)
      expect_lte(ends[2], pi / 2)
      if (mechanism == "gauss") {
        expect_lt(ends[2], 1)
        expect_gt(confint(r, level = 0.999)[2], ends[2])
      }
    }
    expect_equal(r$sensitivity, c(gauss = sqrt(2), laplace = sqrt(2), wishart = 2, bingham = 1)[[mechanism]] * 4 / 4000, tolerance = 1e-4)
    expect_identical(nrow(summary(r)), 1L)
    expect_identical(is.na(summary(r)$share), mechanism == "bingham")
    expect_identical(nrow(tidy(r)), 16L)
    expect_output(explain(r), "Sensitivity: replacing one record")
    expect_output(print(r), "expected error")
  }
  one <- dp_pca(x, epsilon = 4, bound = 2)
  expect_identical(one$manifold, sphere(7))
  expect_length(one$value, 8)
})

test_that("few records, equal ones and those of no numbers are released, and what is refused is refused before anything is spent", {
  ledger <- dp_ledger(NULL, epsilon = 100, delta = 1e-3)
  for (mechanism in c("gauss", "laplace", "wishart", "bingham", "auto")) {
    for (x in list(matrix(1, 1, 3), rbind(c(1, 0, 0), c(0, 1, 0)), matrix(0, 5, 3), matrix(c(NA, Inf, NaN), 4, 3), matrix(1e308, 3, 3), matrix(2, 50, 3))) {
      r <- dp_pca(x, 2, 1, 1e-6, bound = 2, mechanism = mechanism, ledger = ledger)
      expect_equal(unname(crossprod(r$loadings)), diag(2))
    }
  }
  spent <- ledger_history(ledger)
  expect_identical(nrow(spent), 30L)
  x <- matrix(rnorm(40), 10)
  refused <- function(expr, class) expect_error(expr, class = paste0("riemdp_error_", class))
  refused(dp_pca(x, 1, 1, 0, bound = 1, mechanism = "gauss", ledger = ledger), "unsupported")
  refused(dp_pca(x, 1, 1, 1e-6, bound = 1, mechanism = "gauss", unit = 1:5, ledger = ledger), "shape")
  refused(dp_pca(x, 1, 1, bound = 1, gap = 0.2, neighbours = "add_remove"), "argument")
  refused(dp_pca(chunks(x, 5), 1, 1, 1e-6, bound = 1, mechanism = "bingham", ledger = ledger), "unsupported")
  refused(dp_pca(x, 1, 1, 1e-6, bound = 1, mechanism = "gauss", steps = 3, ledger = ledger), "argument")
  refused(dp_pca(x, 1, 1, 1e-6, bound = 1, mechanism = "rgd", gap = 0.1, ledger = ledger), "argument")
  refused(dp_pca(x, 4, 1, 1e-6, bound = 1, ledger = ledger), "argument")
  refused(dp_pca(x, 2, 1, 1e-6, bound = 1, gap = 0.6, ledger = ledger), "argument")
  refused(dp_pca(x, 1, 1, bound = 1, steps = 3, ledger = ledger), "argument")
  refused(dp_pca(x, 1, delta = 1e-6, bound = 1, ledger = ledger), "argument")
  refused(dp_pca(x, 1, 1e-9, bound = 1, ledger = ledger), "argument")
  refused(dp_pca(x[0, ], 1, 1, bound = 1, ledger = ledger), "shape")
  refused(dp_pca(x[, 1, drop = FALSE], 1, 1, bound = 1, ledger = ledger), "shape")
  refused(dp_pca(x, 1, 1000, bound = 1, ledger = ledger), "budget")
  expect_identical(ledger_history(ledger), spent)
  # gradient steps where an argument of theirs is given
  for (r in list(dp_pca(x, 1, 1, 1e-6, bound = 1, steps = 3), dp_pca(x, 1, 1, 1e-6, bound = 1, mechanism = "rgd"), dp_pca(chunks(x, 5), 1, 1, 1e-6, bound = 1),
                 dp_pca(x, 1, 1, 1e-6, bound = 1, unit = rep(1:5, 2), mechanism = "rgd"))) {
    expect_s3_class(r, c("riemdp_pca", "riemdp_optimize"))
  }
})

test_that("many columns take seconds", {
  skip_if(nzchar(Sys.getenv("RIEMDP_QUICK")))
  x <- with_simulation(13, matrix(rnorm(400 * 600), 400))
  for (mechanism in c("gauss", "wishart", "bingham")) {
    took <- system.time(r <- dp_pca(x, 1, 1, 1e-6, bound = 25, mechanism = mechanism))[[1]]
    expect_lt(took, 30)
    expect_equal(sum(r$value^2), 1)
  }
  expect_error(dp_pca(x, 1, 1, bound = 25, mechanism = "laplace"), class = "riemdp_error_unsupported")
  for (bound in c(1e300, 1e-300)) expect_error(dp_pca(x, 1, 1, bound = bound), "`bound`", class = "riemdp_error_argument")
})

test_that("a mechanism whose guarantee is about the machine comes first where it errs by up to 5 % more", {
  chosen <- function(errors) {
    with_internals(internals("smallest_noise")(NULL, names(errors), "error")$mechanism, component_noise = function(mechanism, ask) {
      list(mechanism = mechanism, error = errors[[mechanism]], lattice = mechanism %in% c("gauss", "laplace"))
    })
  }
  expect_identical(chosen(c(gauss = 1.04, wishart = 1)), "gauss")
  expect_identical(chosen(c(gauss = 1.06, wishart = 1)), "wishart")
  expect_identical(chosen(c(gauss = 1.04, laplace = 1.03, bingham = 1)), "laplace")
  expect_identical(chosen(c(bingham = 2, wishart = 1)), "wishart")
})

# ---- a first look ------------------------------------------------------------------------------------------------------------------

test_that("a record moves what a first look shows by what the proof says, and no less would do", {
  set.seed(21)
  over <- function(S, q) { # independent of the code: the first q eigenvalues above the mean of the others
    e <- eigen(S, TRUE, TRUE)$values
    sum(e[seq_len(q)] - mean(e[-seq_len(q)]))
  }
  for (d in c(3, 6)) for (q in 1:2) {
    rows <- internals("look_moves")(d, q, internals("moment_grid")(100, d), FALSE)
    alone <- internals("look_moves")(d, q, internals("moment_grid")(NA, d), TRUE)
    expect_equal(rows / 2^20, d / (d - q), tolerance = 1e-5)
    expect_equal(alone / 2^20, max(1, q / (d - q)), tolerance = 1e-5)
    most <- c(0, 0)
    for (i in 1:400) {
      S <- crossprod(matrix(rnorm(d * d), d) * exp(rnorm(d)))
      u <- unit_rows(1, d)[1, ]
      w <- unit_rows(1, d)[1, ]
      most <- pmax(most, abs(c(over(S + tcrossprod(u) - tcrossprod(w), q) - over(S, q), over(S + tcrossprod(u), q) - over(S, q))))
    }
    S <- diag(c(rep(50, q), rep(0, d - q))) # attained: from the last axis to the first, and both alone
    e <- diag(d)
    most <- pmax(most, c(over(S + tcrossprod(e[1, ]) - tcrossprod(e[d, ]), q) - over(S, q), max(abs(over(S + tcrossprod(e[1, ]), q) - over(S, q)),
                                                                                              abs(over(S + tcrossprod(e[d, ]), q) - over(S, q)))))
    expect_lte(most[1] * 2^20, rows)
    expect_lte(most[2] * 2^20, alone)
    expect_equal(most, c(rows, alone) / 2^20, tolerance = 1e-4)
  }
  # what is released is that with two-sided geometric noise, over the q directions
  S <- diag(c(40, 30, 3, 2, 1))
  seen <- with_simulation(22, vapply(1:300, function(i) internals("look_at")(S, 2, 2^20, 0.5)$gap, 0))
  expect_gt(ks.test((seen - 33) / 1, function(x) ifelse(x < 0, exp(x) / 2, 1 - exp(-x) / 2))$p.value, 1e-6)
  expect_equal(internals("look_at")(S, 2, 2^20, 0.5)$scale, 1)
})

test_that("a first look is paid for out of epsilon, decides as it should, and is told", {
  d <- 60
  ask <- asked(2000, d, epsilon = 0.5, delta = 0)
  plan <- internals("component_plan")(ask)
  expect_identical(plan$mechanism, "look")
  expect_equal(plan$look$epsilon + plan$choices$bingham$guarantee$epsilon, 0.5)
  expect_equal(plan$choices$wishart$scale, 2 / (0.5 - plan$look$epsilon))
  expect_equal(plan$look$scale, d / (d - 1) / plan$look$epsilon, tolerance = 1e-5)
  # far below and far above where noise on the matrix begins to pay
  expect_identical(unname(internals("look_choice")(0, plan$look)), 2L)
  expect_identical(unname(internals("look_choice")(2000, plan$look)), 1L)
  mechanisms <- function(gap) {
    S <- 2000 * diag(c(gap, rep(0, d - 1)))
    with_simulation(23, vapply(1:20, function(i) internals("draw_components")(S, plan, 1)$noise$mechanism, ""))
  }
  expect_true(all(mechanisms(0.9) == "wishart"))
  expect_gt(mean(mechanisms(0.02) == "bingham"), 0.6)
  # a gap of .56, as far from the choice's edge as from 1 by some 26 scales of the look's noise: it decides nothing in a
  # call that draws as private ones do
  x <- with_simulation(24, cbind(sample(c(-0.75, 0.75), 6000, TRUE), matrix(rnorm(6000 * (d - 1), sd = 0.02), 6000)))
  ledger <- dp_ledger(NULL, epsilon = 1)
  r <- dp_pca(x, 1, 0.5, bound = 1, ledger = ledger)
  expect_identical(r$mechanism, "wishart")
  expect_identical(guarantee(r)[c("label", "epsilon", "numerics")], list(label = "pure", epsilon = 0.5, numerics = "real-valued"))
  expect_equal(r$draws$proof, c("subspaces.md, 7", "subspaces.md, 3"))
  expect_equal(sum(r$draws$epsilon), 0.5)
  expect_lte(sum(r$draws$epsilon), 0.5 * (1 + 1e-9))
  expect_equal(ledger_history(ledger)$epsilon, 0.5)
  e <- eigen(crossprod(x * pmin(1, 1 / sqrt(rowSums(x^2)))) / nrow(x), TRUE, TRUE)$values
  expect_lt(abs(r$look$gap - (e[1] - mean(e[-1]))), 20 * r$look$scale)
  expect_equal(r$gap, r$look$gap, tolerance = 0.01)
  expect_match(paste(format(r), collapse = " "), "chosen by a first look")
  expect_output(explain(r), "geometric noise of scale")
  expect_null(dp_pca(x, 1, 0.5, bound = 1, gap = 0.3)$look)
})

test_that("without a guess of the gap no mechanism is far better than what is chosen, with one the best there is taken", {
  for (case in list(list(200, 20), list(2000, 60), list(1e5, 60), list(300, 8), list(1e4, 3))) {
    ask <- asked(case[[1]], case[[2]], delta = 0)
    plan <- internals("component_plan")(ask)
    full <- internals("component_noises")(ask, c("laplace", "wishart", "bingham"))
    signals <- case[[1]] * c(0.01, 0.03, 0.1, 0.3)
    best <- apply(internals("lost_at")(full, ask, signals), 1, min)
    if (plan$mechanism == "look") {
      u <- 1:49 / 50
      noise <- plan$look$scale * ifelse(u < 0.5, log(2 * u), -log(2 * (1 - u)))
      lost <- vapply(signals, function(s) mean(vapply(s + noise, function(v) {
        internals("component_lost")(s, plan$choices[[internals("look_choice")(v, plan$look)]], ask)
      }, 0)), 0)
    } else {
      lost <- vapply(signals, internals("component_lost"), 0, noise = plan, ask = ask)
    }
    expect_lt(max(lost / best), 1.25)
  }
  # a wrong guess loses more
  wrong <- internals("component_plan")(asked(2000, 60, delta = 0, gap = 0.04))
  expect_identical(wrong$mechanism, "bingham")
  right <- internals("component_noise")("wishart", asked(2000, 60, delta = 0))
  expect_gt(internals("component_lost")(2000 * 0.3, wrong, ask) / internals("component_lost")(2000 * 0.3, right, ask), 1.5)
})

# ---- concentrated privacy of directions drawn ----------------------------------------------------------------------------------------

test_that("drawn directions cost an eighth of epsilon squared under concentrated privacy, and that is nearly needed", {
  epsilon <- 1.2
  s <- internals("component_plan")(asked(100, 2, epsilon = epsilon, mechanism = "bingham"))$scale
  t <- seq(0, pi, length.out = 20001)[-1]
  law <- function(S) {
    f <- exp((S[1, 1] * cos(t)^2 + 2 * S[1, 2] * cos(t) * sin(t) + S[2, 2] * sin(t)^2) / s)
    f / sum(f)
  }
  worst <- 0
  for (k in c(0, 0.5, 1, 2)) {
    p <- law(diag(c(k + 1, k)))
    q <- law(diag(c(k, k + 1)))
    for (order in c(1.01, 2, 8, 60)) {
      rate <- log(sum(p^order * q^(1 - order))) / (order - 1) / order
      expect_lte(rate, epsilon^2 / 8 * (1 + 1e-6))
      worst <- max(worst, rate)
    }
  }
  expect_gt(worst, 0.4 * epsilon^2 / 8)
  e <- event_pure(epsilon, range = TRUE)
  expect_equal(event_price(e, "zcdp"), epsilon^2 / 8)
  expect_equal(event_price(event_pure(epsilon), "zcdp"), epsilon * tanh(epsilon / 2))
  expect_lte(event_price(e, "rdp", orders = 3), 3 * epsilon^2 / 8 * (1 + 1e-9))
  expect_lte(event_price(event_pure(100, range = TRUE), "rdp", orders = 30), 100) # still 100-DP
  expect_identical(as.double(dp_epsilon(e, 0)), epsilon)
  expect_lt(dp_epsilon(event_compose(e, times = 100), 1e-6, "zcdp"), dp_epsilon(event_compose(event_pure(epsilon), times = 100), 1e-6, "zcdp") / 2)
  ledger <- dp_ledger(NULL, epsilon = 50, delta = 1e-6, rule = "zcdp")
  dp_pca(matrix(0.1, 40, 3), 2, 2, bound = 1, mechanism = "bingham", ledger = ledger)
  dp_pca(matrix(0.1, 40, 3), 1, 2, bound = 1, mechanism = "wishart", ledger = ledger)
  expect_equal(ledger_history(ledger)$rho, c(2 * 1^2 / 8, 2 * tanh(1)))
})

# ---- units and private numbers -------------------------------------------------------------------------------------------------------

test_that("units count by the mean of their rows, whatever these are, and move sums no farther than records do", {
  set.seed(25)
  d <- 4
  grid <- internals("moment_grid")(7, d, TRUE)
  rows <- internals("moment_rows")(rbind(unit_rows(40, d) * runif(40), NA, 1e300), 1, grid)
  of <- c(sample(1:6, 40, TRUE), 1, 2) # the seventh has none
  units <- list(of = of, count = 7L)
  sum <- internals("unit_moment_sum")(rows, units, grid)
  by_hand <- Reduce(`+`, lapply(1:6, function(u) crossprod(rows[of == u, , drop = FALSE]) / sum(of == u))) / 4^grid$bits
  expect_equal(sum, by_hand, tolerance = 1e-7)
  expect_identical(sum, t(sum))
  o <- sample(42)
  expect_identical(internals("unit_moment_sum")(rows[o, ], list(of = of[o], count = 7L), grid), sum)
  # rows of no unit don't count
  expect_identical(internals("unit_moment_sum")(rbind(rows, rows[1:3, ]), list(of = c(of, NA, NA, NA), count = 7L), grid), sum)
  expect_identical(internals("unit_moment_sum")(rows[0, ], list(of = integer(), count = 0L), grid), matrix(0, d, d))
  # one unit with all its rows on one axis, or on another: as far as a record
  axis <- function(i, k) internals("moment_rows")(diag(d)[rep(i, k), ], 1, grid)
  ends <- lapply(1:2, function(i) internals("unit_moment_sum")(rbind(rows, axis(i, 5)), list(of = c(of, rep(7, 5)), count = 7L), grid))
  D <- ends[[1]] - ends[[2]]
  full <- (grid$inside / 2^grid$bits)^2
  moves <- internals("moment_moves")(grid, FALSE)
  expect_equal(sqrt(sum(D^2)), sqrt(2) * full, tolerance = 1e-3)
  expect_equal(unname(moves), c(sqrt(2), 2, 1) + grid$loose)
  expect_equal(unname(internals("moment_moves")(grid, TRUE)), c(1, 1, 0.5) + grid$loose)
  expect_equal(grid$loose, 1.01 * d^1.5 / 2^grid$fine, tolerance = 1e-9)
  expect_identical(internals("moment_grid")(7, d)$loose, 0)
  for (m in c(1, 1e3, 2^26)) expect_lte(m * 2^internals("moment_grid")(m, d, TRUE)$fine, 2^50)
  # random units: their matrices differ by no more
  for (i in 1:200) {
    one <- function() internals("unit_moment_sum")(internals("moment_rows")(unit_rows(3, d), 1, grid), list(of = rep(1L, 3), count = 1L), grid)
    e <- eigen(one() - one(), TRUE, TRUE)$values
    expect_lte(sqrt(sum(e^2)), moves[["frobenius"]])
    expect_lte(sum(abs(e)), moves[["trace"]])
    expect_lte(max(abs(e)), moves[["along"]])
  }
})

test_that("releases about units, and of a private number of records, say so and are priced so", {
  set.seed(26)
  x <- as.data.frame(matrix(rnorm(3000 * 4), 3000) * rep(c(0.6, 0.3, 0.1, 0.1), each = 3000))
  who <- rep(1:300, 10)
  x$who <- who
  plain <- crossprod(as.matrix(x[1:4]) * pmin(1, 1 / sqrt(rowSums(x[1:4]^2)))) / 3000 # ten rows each
  for (mechanism in c("gauss", "laplace", "wishart", "bingham")) {
    delta <- if (mechanism == "gauss") 1e-6 else 0
    for (neighbours in c("replace", "add_remove")) {
      alone <- neighbours == "add_remove"
      r <- dp_pca(x, 1, 20, delta, bound = 1, mechanism = mechanism, unit = "who", neighbours = neighbours)
      expect_identical(guarantee(r)$unit, "who")
      expect_identical(guarantee(r)$adjacency, if (alone) "add-remove" else "replace-one")
      expect_identical(guarantee(r)$epsilon, 20)
      expect_identical(r$n, if (alone) NA_real_ else 300L)
      expect_gt(abs(r$value[1]), 0.9)
      if (mechanism != "bingham") expect_lt(max(abs(r$moment - plain)), 0.05)
      own <- if (alone) 18 else 20
      noise <- r$draws[nrow(r$draws), ]
      if (mechanism %in% c("wishart", "bingham")) {
        expect_equal(noise$scale, switch(mechanism, wishart = if (alone) 1 else 2, bingham = if (alone) 1 else 2) / own, tolerance = 1e-4)
      } else {
        expect_equal(noise$sensitivity, (if (alone) 1 else sqrt(2)) * 2^24, tolerance = 1e-4)
      }
      if (alone) {
        expect_equal(r$draws$epsilon[1], 2)
        expect_lt(abs(r$size$count - 300), 20)
        expect_match(paste(format(r), collapse = " "), "as released")
      }
      expect_output(explain(r), if (alone) "one unit more or less" else "replacing one unit")
      expect_match(format(r)[1], "units")
      if (mechanism != "bingham") expect_lt(confint(r)[2], pi / 2)
    }
  }
  y <- as.matrix(x[1:4])
  r <- dp_pca(y, 2, 1, bound = 1, neighbours = "add_remove")
  expect_identical(guarantee(r)$unit, "row")
  expect_equal(sum(r$draws$epsilon), 1)
  expect_identical(r$draws$proof[1], "mean-sensitivity.md, 14")
  # none at all is a number of records like any other
  for (mechanism in c("wishart", "laplace", "bingham")) {
    r <- dp_pca(y[0, ], 2, 1, bound = 1, neighbours = "add_remove", mechanism = mechanism)
    expect_equal(unname(crossprod(r$loadings)), diag(2))
  }
  expect_equal(sum(dp_pca(y[0, ], 1, 1, bound = 1, neighbours = "add_remove", unit = integer())$value^2), 1)
  r <- dp_pca(y, 1, 2, 1e-6, bound = 1, neighbours = "add_remove", mechanism = "gauss")
  expect_identical(guarantee(r)[c("label", "epsilon", "delta")], list(label = "approx", epsilon = 2, delta = 1e-6))
  ledger <- dp_ledger(NULL, epsilon = 2, delta = 1e-6, adjacency = "add-remove")
  dp_pca(y, 1, 2, 1e-6, bound = 1, neighbours = "add_remove", mechanism = "gauss", ledger = ledger)
  expect_equal(ledger_history(ledger)$epsilon, 2)
})
