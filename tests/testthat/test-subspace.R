# Public subspaces: records are projected one by one, the mean is released there and put back. Nothing here is a statistical test.

# one subspace of each kind, its manifold, and a matrix of stored numbers -> the foot of the perpendicular by linear algebra alone
reduced_spaces <- function() {
  turned <- qr.Q(qr(matrix(c(2, 1, 0, 1, 1, 3, 1, 0, 0, 1, 2, 1, 1, 0, 1, 4), 4)))
  boost <- mf_exp(hyperbolic(3), c(1, 0, 0, 0), c(0, 0.4, 0.3, -0.2))
  template <- exp(2i * pi * (1:7) / 7) * c(1, 1.3, 0.8, 1, 1.1, 0.9, 1)
  list(
    plane = list(S = subspace(euclidean(4), c(1, 2, 3, 4), turned[, 1:2]), radius = 2, linear = function(x) {
      x <- sweep(x, 2, 1:4)
      sweep(x %*% turned[, 1:2] %*% t(turned[, 1:2]), 2, 1:4, `+`)
    }),
    sphere = list(S = subspace(sphere(3), turned[, 1], turned[, 2:3]), radius = 0.6, linear = function(x) {
      y <- x %*% turned[, 1:3] %*% t(turned[, 1:3])
      y / sqrt(rowSums(y^2))
    }),
    hyperboloid = list(S = subspace(hyperbolic(3), boost, cbind(c(0, 1, 0, 0), c(1, 1, 2, 0))), radius = 1.5, linear = function(x) {
      # Minkowski: solve for the coefficients of a basis of the linear space
      V <- cbind(boost, c(0, 1, 0, 0), c(1, 1, 2, 0))
      J <- diag(c(-1, 1, 1, 1))
      y <- x %*% J %*% V %*% solve(t(V) %*% J %*% V, t(V))
      y / sqrt(y[, 1]^2 - rowSums(y[, -1]^2))
    }),
    shapes = list(S = outline_modes(template, 2), radius = 0.3, linear = function(x) {
      z <- t(complex_rows(x))
      V <- qr.Q(qr(cbind(template - mean(template), exp(2i * pi * outer(0:6, c(1, -1)) / 7))))
      y <- V %*% (Conj(t(V)) %*% z)
      y <- sweep(y, 2, sqrt(colSums(Mod(y)^2)), "/")
      out <- matrix(0, ncol(y), 14)
      out[, c(TRUE, FALSE)] <- t(Re(y))
      out[, c(FALSE, TRUE)] <- t(Im(y))
      out
    }),
    logarithms = list(S = subspace(spd(2, "logeuclidean"), diag(c(1, 2)), array(c(1, 0, 0, -1), c(2, 2, 1))), radius = 1.5, linear = function(x) {
      # of the logarithms, what is along the direction's own, (1, -1/2) on the diagonal
      u <- c(1, -0.5) / sqrt(1.25)
      t(apply(x, 1, function(a) {
        e <- eigen(matrix(a, 2), symmetric = TRUE)
        l <- diag(e$vectors %*% (log(e$values) * t(e$vectors))) - log(c(1, 2))
        diag(exp(log(c(1, 2)) + u * sum(l * u)))
      }))
    })
  )
}
complex_rows <- function(x) matrix(complex(real = x[, c(TRUE, FALSE)], imaginary = x[, c(FALSE, TRUE)]), nrow(x))

# records as a matrix of stored numbers
rows_of <- function(x, M) as.matrix(mf_points(x, M))
around <- function(S, n, sd, seed = 1) {
  d <- mf_facts(S$manifold)$dimension
  with_simulation(seed, {
    a <- matrix(rnorm(n * d, sd = sd), n)
    mf_points(mf_exp(S$manifold, S$center, mf_from_coords(S$manifold, S$center, a)), S$manifold)
  })
}
lifted <- function(S, p) {
  rows <- lapply(seq_along(p), function(i) rows_of(riemdp:::put_back(S, riemdp:::as_single(p[i])), S$manifold))
  mf_points(riemdp:::rows_to_points(do.call(rbind, rows), S$manifold), S$manifold)
}

test_that("each record goes to the nearest point of the subspace, found by linear algebra, and no farther from the centre", {
  for (name in names(reduced_spaces())) {
    case <- reduced_spaces()[[name]]
    S <- case$S
    M <- S$manifold
    x <- around(S, 40, case$radius / 3)
    p <- riemdp:::projected(S, x)
    back <- lifted(S, p)
    expect_silent(mf_check(M, back))
    expect_silent(mf_check(S$inside, p))
    by_hand <- mf_points(riemdp:::rows_to_points(case$linear(as.matrix(x)), M), M)
    expect_lt(max(mf_dist(M, back, by_hand)), 1e-7, label = name)
    from <- mf_dist(M, S$center, x)
    expect_true(all(mf_dist(S$inside, S$origin, p) <= from * (1 + 1e-9)), label = name)
    # the two are one space: distances, and the subspace's own points stay
    expect_equal(as.vector(mf_dist_matrix(S$inside, p)), as.vector(mf_dist_matrix(M, back)), tolerance = 1e-7, label = name)
    expect_lt(max(mf_dist(S$inside, riemdp:::projected(S, back), p)), 1e-7, label = name)
    # no point of the subspace nearby is nearer
    d <- mf_facts(S$inside)$dimension
    step <- with_simulation(3, mf_from_coords(S$inside, p, matrix(rnorm(40 * d, sd = 0.01), 40)))
    near <- mf_points(mf_exp(S$inside, p, step), S$inside)
    expect_true(all(mf_dist(M, x, lifted(S, near)) >= mf_dist(M, x, back) - 1e-12), label = name)
    expect_lte(mf_facts(S$inside)$k_max, mf_facts(M)$k_max)
    expect_gte(mf_facts(S$inside)$k_min, mf_facts(M)$k_min)
  }
})

test_that("whatever a record is, it has a point no farther from the centre, and the others' last digits don't depend on it", {
  for (name in names(reduced_spaces())) {
    case <- reduced_spaces()[[name]]
    S <- case$S
    M <- S$manifold
    usual <- as.matrix(around(S, 12, case$radius))
    d <- ncol(usual)
    edge <- riemdp:::subspace_reach(M)
    far <- as.matrix(around(S, 12, if (edge < 2) 1 else 12, seed = 5)) # to the other side of spheres, and far out
    nasty <- rbind(NA, Inf, -Inf, 0, 1e300, 5e-324, -usual[1, ], replace(usual[2, ], 1, NaN), 1e8 * usual[3, ])
    # orthogonal to the subspace
    b <- if (name == "logarithms") matrix(0, 1, d) else matrix(residuals(lm.fit(t(rbind(S$basis, rows_of(S$center, M))), usual[4, ])), 1)
    records <- rbind(usual, far, nasty, b)
    shaped <- riemdp:::rows_to_points(records, M)
    p <- riemdp:::projected(S, shaped)
    expect_length(p, nrow(records))
    expect_true(all(mf_is_point(S$inside, p)), label = name)
    known <- mf_is_point(M, shaped)
    from <- rep(0, nrow(records))
    from[known] <- mf_dist(M, S$center, riemdp:::records_of(shaped, known))
    expect_true(all(mf_dist(S$inside, S$origin, p) <= from * (1 + 1e-7) + 1e-9), label = name)
    expect_equal(mf_dist(S$inside, S$origin, p[!known]), rep(0, sum(!known)), label = name)
    # each alone, and in another order
    backwards <- rev(seq_len(nrow(records)))
    expect_identical(as.matrix(riemdp:::projected(S, riemdp:::rows_to_points(records[backwards, ], M))), as.matrix(p)[backwards, , drop = FALSE], label = name)
    for (i in c(1, 14, nrow(records))) {
      alone <- riemdp:::projected(S, riemdp:::rows_to_points(records[i, , drop = FALSE], M))
      expect_identical(as.matrix(alone), as.matrix(p)[i, , drop = FALSE], label = name)
    }
  }
})

test_that("a record for which a logarithm fails is the centre, alone, and one beyond the hemisphere is moved to its edge first", {
  S <- reduced_spaces()$sphere$S
  out <- mf_from_coords(sphere(3), S$center, c(0.3, 0.5, -0.2) / sqrt(0.38))
  at <- function(t) as.matrix(riemdp:::projected(S, mf_exp(sphere(3), S$center, t * out)))
  expect_equal(at(2.5), at(0.999 * pi / 2), tolerance = 1e-9)
  expect_gt(max(abs(at(1.4) - at(0.999 * pi / 2))), 1e-3)
  x <- around(S, 5, 0.2)
  whole <- riemdp:::projected(S, x)
  failing <- as.matrix(x)[3, ]
  log <- mf_log
  out <- with_internals(riemdp:::projected(S, x), mf_log = function(M, p, q) {
    if (any(colSums(t(as.matrix(q)) == failing) == length(failing))) riemdp:::abort_riemdp("cut_locus", "no logarithm")
    log(M, p, q)
  })
  expect_identical(as.matrix(out)[-3, ], as.matrix(whole)[-3, ])
  expect_equal(mf_dist(S$inside, S$origin, out[3]), 0)
})

test_that("a mean on the subspace is dp_mean() there, put back, whatever goes with it", {
  for (name in names(reduced_spaces())) {
    case <- reduced_spaces()[[name]]
    S <- case$S
    M <- S$manifold
    x <- around(S, 60, case$radius / 2)
    p <- riemdp:::projected(S, x)
    both <- function(...) {
      there <- with_simulation(1, dp_mean(p, S$inside, 1, center = S$origin, radius = case$radius, ...))
      here <- with_simulation(1, dp_mean(x, M, 1, radius = case$radius, reduce = S, ...))
      expect_silent(mf_check(M, here$value))
      expect_identical(here$inside$value, there$value, label = name)
      expect_identical(as.vector(here$value), as.vector(riemdp:::put_back(S, there$value)))
      shared <- setdiff(names(there), c("manifold", "center", "value", "released", "guarantee", "details"))
      expect_identical(unclass(here)[shared], unclass(there)[shared], label = name)
      expect_equal(confint(here)$radius, confint(there)$radius)
      expect_equal(mf_dist(M, here$center, here$value), mf_dist(S$inside, there$center, there$value), tolerance = 1e-6)
      here
    }
    r <- both()
    expect_identical(r$sensitivity, as.numeric(mean_sensitivity(S$inside, 60, case$radius)), label = name)
    both(mechanism = "laplace", numerics = "real")
    both(neighbours = "add_remove")
    both(unit = rep(1:12, 5))
    both(clipped = 0.2)
    both(mechanism = "wrapped_gaussian", delta = 1e-6)
  }
  S <- reduced_spaces()$sphere$S
  x <- around(S, 60, 0.2)
  p <- riemdp:::projected(S, x)
  by <- gl(2, 30, labels = c("a", "b"))
  g <- with_simulation(1, dp_mean(x, sphere(3), 2, radius = 0.6, reduce = S, by = by))
  h <- with_simulation(1, dp_mean(p, S$inside, 2, center = S$origin, radius = 0.6, by = by))
  for (one in c("a", "b")) expect_equal(as.vector(g[[one]]$value), as.vector(riemdp:::put_back(S, h[[one]]$value)))
  expect_identical(g$center, S$center)
  expect_equal(g$value$a, g[["a"]]$value)
  expect_equal(as.data.frame(g), as.data.frame(h))
  expect_equal(mean_difference(g, "a", "b")$lower, mean_difference(h, "a", "b")$lower)
  expect_match(said(print(g)), "dimension 2 of 3")
  expect_match(said(explain(g)), "section 17")
  a <- with_simulation(1, dp_mean(x, sphere(3), 5, radius = 0.6, reduce = S, mechanism = "adaptive", options = list(shares = c(0.5, 0.1, 0.1, 0.3))))
  expect_equal(mf_dist(sphere(3), a$center, a$details$released_center),
               mf_dist(S$inside, S$origin, riemdp:::release_inside(a)$details$released_center), tolerance = 1e-6)
  expect_silent(confint(a))
})

test_that("neighbours' means differ by no more on the subspace than the price says, and nothing is left to the records", {
  for (name in names(reduced_spaces())) {
    case <- reduced_spaces()[[name]]
    S <- case$S
    M <- S$manifold
    n <- 5
    # all at one end of a direction of the subspace, one moved to the other end
    at <- function(t) {
      d <- rows_of(S$center, M)
      v <- riemdp:::tangent_at(M, t * S$basis[1, ])
      rows_of(mf_exp(M, S$center, v), M)
    }
    ends <- list(at(case$radius), at(-case$radius))
    x <- ends[[1]][rep(1, n), ]
    y <- rbind(ends[[2]], x[-1, ])
    mean_of <- function(rows) {
      inside <- mf_to_ball(S$inside, riemdp:::projected(S, riemdp:::rows_to_points(rows, M)), S$origin, case$radius)
      frechet_mean(inside, S$inside, tol = 1e-13)$mean
    }
    moved <- mf_dist(S$inside, mean_of(x), mean_of(y))
    bound <- as.numeric(mean_sensitivity(S$inside, n, case$radius))
    expect_lte(moved, bound * (1 + 1e-9), label = name)
    expect_gt(moved, 0.85 * bound, label = name)
    # far outside, or no point at all: the ball of the subspace holds the projected records
    p <- riemdp:::projected(S, riemdp:::rows_to_points(rbind(x, NA), M))
    r <- with_simulation(1, dp_mean(riemdp:::rows_to_points(rbind(x, NA), M), M, 1, radius = case$radius / 2, reduce = S, invalid = "center"))
    there <- with_simulation(1, dp_mean(p, S$inside, 1, center = S$origin, radius = case$radius / 2))
    expect_identical(r$inside$value, there$value)
    expect_identical(r$radius, case$radius / 2)
  }
})

test_that("what is refused is refused for public facts, the curator's check comes before anything is spent", {
  S <- reduced_spaces()$sphere$S
  x <- as.array(around(S, 20, 0.2))
  ask <- function(x, ...) dp_mean(x, sphere(3), 1, radius = 0.6, reduce = S, ...)
  expect_error(subspace(spd(2), diag(2), diag(2)), class = "riemdp_error_unsupported")
  expect_error(subspace(hyperbolic(2, "ball"), c(0, 0), c(1, 0)), class = "riemdp_error_unsupported")
  expect_error(subspace(stiefel(4, 2), diag(4)[, 1:2], diag(4)[, 3:4]), class = "riemdp_error_unsupported")
  expect_error(subspace(sphere(2), c(0, 0, 1), c(0, 0, 2)), class = "riemdp_error_argument")
  for (basis in list(diag(2), NULL, "a", list(1, 2, 3))) expect_error(subspace(sphere(2), c(0, 0, 1), basis), class = "riemdp_error_shape")
  expect_error(subspace(sphere(2), frechet_mean(x[, -4] / sqrt(rowSums(x[, -4]^2)), sphere(2)), c(1, 0, 0)), "non-private")
  expect_error(ask(chunks(x, 5)), class = "riemdp_error_unsupported")
  expect_error(ask(x, timing = "constant"), class = "riemdp_error_unsupported")
  expect_error(ask(x, center = c(1, 0, 0, 0)), class = "riemdp_error_argument")
  expect_silent(ask(x, center = S$center))
  expect_error(dp_mean(x, sphere(3), 1, radius = 0.6, reduce = list()), class = "riemdp_error_argument")
  expect_error(dp_mean(x[, -4], sphere(2), 1, radius = 0.6, reduce = S), class = "riemdp_error_manifold")
  expect_error(dp_mean(x, sphere(3), 1, radius = 0.9, reduce = S), class = "riemdp_error_radius")
  budget <- dp_ledger(NULL, 10)
  bad <- replace(x, 3, NA)
  expect_error(ask(bad, ledger = budget), class = "riemdp_error_not_finite")
  expect_equal(nrow(ledger_history(budget)), 0)
  r <- ask(bad, ledger = budget, invalid = "center")
  expect_equal(nrow(ledger_history(budget)), 1)
  expect_match(paste(r$guarantee$assumptions, collapse = "; "), "the subspace of dimension 2 to which records are projected is public")
  none <- ask(x[0, ], neighbours = "add_remove")
  expect_silent(mf_check(sphere(3), none$value))
})

test_that("a release says that it is about projected records, in which dimension, and where the subspace comes from", {
  S <- reduced_spaces()$shapes$S
  x <- around(S, 50, 0.05)
  r <- dp_mean(x, S$manifold, 1, radius = 0.3, reduce = S)
  about <- "the mean of the records projected to the public subspace and moved to the public ball"
  for (text in c(said(print(r)), said(explain(r)))) {
    expect_match(text, about, fixed = TRUE)
    expect_match(text, "not in it: projection (what projecting records to the subspace does to the mean), clipping", fixed = TRUE)
  }
  expect_match(said(print(r)), "dimension 4 of 10")
  expect_match(said(explain(r)), "That the subspace is public is assumed")
  expect_match(said(explain(r)), "Projected records outside the public ball are moved to its nearest point", fixed = TRUE)
  region <- confint(r)
  expect_identical(region$about, about)
  expect_identical(region$leaves_out, c("projection", "clipping", "sampling"))
  expect_match(said(print(region)), "projection, clipping and sampling are not in it")
  expect_identical(region$manifold, S$manifold)
  expect_equal(nrow(tidy(r)), 14)
  # smoothing is post-processing: the region stays with the draw
  s <- smooth_outline(r, bandwidth = 0.3)
  expect_equal(confint(s)$center, confint(r)$center)
  expect_equal(confint(s)$radius, confint(r)$radius)
  # the lower bound is that of the subspace
  bound <- mean_lower_bound(S$inside, 50, 1, radius = 0.3)
  expect_match(said(explain(r)), sprintf("expected error of %.3g or more", as.numeric(bound)), fixed = TRUE)
  # where centre and directions come from
  center <- dp_mean(around(reduced_spaces()$sphere$S, 500, 0.1), sphere(3), 1, center = c(0, 0, 0, 1), radius = 0.7)
  from <- subspace(sphere(3), center, c(1, 0, 0, 0))
  expect_match(said(print(from)), "center: a release of dp_mean() (epsilon = 1); basis: not stated", fixed = TRUE)
  r <- dp_mean(around(from, 50, 0.1), sphere(3), 1, radius = 0.3, reduce = from, source = "an atlas")
  expect_match(said(print(r)), "subspace: center: a release of dp_mean() (epsilon = 1)", fixed = TRUE)
  expect_match(said(print(from)), "taken from the records themselves would void the guarantee", fixed = TRUE)
})

test_that("modes of an outline and partial warps span what they say", {
  template <- callosum_template
  z <- complex(real = template[, 1], imaginary = template[, 2])
  z <- (z - mean(z)) / sqrt(sum(Mod(z - mean(z))^2))
  basis <- function(S) t(complex_rows(S$basis))
  inside <- function(S, v) { # share of v in the complex span of basis and template
    Q <- qr.Q(qr(cbind(z, basis(S))))
    v <- v - mean(v)
    sum(Mod(Conj(t(Q)) %*% v)^2) / sum(Mod(v)^2)
  }
  for (m in c(1, 3, 4)) {
    S <- outline_modes(template, m)
    expect_equal(S$dimension, 2 * m)
    wave <- function(c) exp(2i * pi * c * (0:49) / 50)
    for (c in c(1, -1, 2, -2)[seq_len(m)]) expect_equal(inside(S, wave(c)), 1)
    expect_lt(inside(S, wave(c(1, -1, 2, -2, 3)[m + 1])), 0.9)
  }
  expect_identical(outline_modes(z, 3)$dimension, 6L)
  W <- partial_warps(template, 2)
  expect_equal(W$dimension, 6)
  # all affine images of the template
  for (a in list(c(1, 0.3), c(0.2i, -1))) expect_equal(inside(W, a[1] * Re(z) + a[2] * Im(z)), 1)
  # bending energy by its definition: that of the thin-plate spline that takes the values v
  energy <- function(v) {
    u <- Mod(outer(z, z, `-`))^2
    u <- ifelse(u > 0, u * log(u), 0)
    P <- cbind(1, Re(z), Im(z))
    w <- solve(rbind(cbind(u, P), cbind(t(P), matrix(0, 3, 3))), c(v, 0, 0, 0))[1:50]
    sum(v * w)
  }
  of <- function(m) {
    b <- basis(partial_warps(template, m))
    b[, ncol(b)] # i times the last warp, which is real but for what the template takes off
  }
  energies <- vapply(1:4, function(m) {
    v <- of(m)
    sum(energy(Re(v)), energy(Im(v)))
  }, 0)
  expect_true(all(diff(energies) > 0))
  expect_lt(energies[4], 0.05 * sum(energy(Re(exp(2i * pi * 12 * (0:49) / 50)))))
  expect_error(partial_warps(1:5 + 0i, 1), "on one line")
  expect_error(outline_modes(template, 48), class = "riemdp_error_argument")
  expect_error(outline_modes(callosa, 4), class = "riemdp_error_shape")
})

test_that("a plan of subspaces has the noise of each and what projecting public records does, by other means", {
  M <- kendall(50)
  public <- callosa[, , 1:60]
  modes <- list(two = outline_modes(callosum_template, 2), outline_modes(callosum_template, 8))
  plan <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = modes, public = public)
  expect_s3_class(plan, "riemdp_subspace_plan")
  expect_identical(plan$subspace, c("two", modes[[2]]$name, "the whole space"))
  expect_equal(plan$dimension, c(4, 16, 96))
  for (i in 1:2) {
    r <- dp_mean(callosa[, , 1:100], M, 1, radius = 0.25, reduce = modes[[i]])
    expect_equal(plan$noise[i], r$expected_error)
    expect_identical(plan$mechanism[i], r$mechanism)
  }
  whole <- dp_mean_plan(M, n = 100, epsilon = 1, center = callosum_template, radius = 0.25)
  expect_equal(plan$noise[3], whole$expected_error[whole$chosen])
  # root mean square over means of 60 * 100/160 public records
  apart <- with_simulation(1, lapply(1:8, function(i) sample.int(60, 38, replace = TRUE)))
  by_hand <- function(S) {
    sqrt(mean(vapply(apart, function(at) {
      p <- mf_to_ball(S$inside, riemdp:::projected(S, public[, , at]), S$origin, 0.25)
      mf_dist(M, frechet_mean(public[, , at], M)$mean, riemdp:::put_back(S, frechet_mean(p, S$inside)$mean))
    }, 0)^2))
  }
  expect_equal(plan$projection[1:2], vapply(modes, by_hand, 0, USE.NAMES = FALSE), tolerance = 1e-6)
  expect_lt(plan$projection[3], 1e-9)
  expect_gt(plan$projection[1], plan$projection[2])
  expect_equal(plan$total, sqrt(plan$noise^2 + plan$projection^2))
  expect_identical(which(plan$chosen), which.min(plan$total))
  # a hundred shapes in eight dimensions
  four <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = outline_modes(callosum_template, 4), public = public)
  expect_lt(four$total[1], 0.05)
  expect_gt(four$total[2], 0.2)
  for (text in c(said(print(plan)), said(print(four)))) expect_match(text, "nothing of them is protected")
  # a ball that is too small costs, on a subspace as on the whole
  small <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.02, reduce = modes[[1]], public = public)
  expect_gt(small$projection[2], 1e-4)
  alone <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = modes[[1]])
  expect_true(all(is.na(alone$projection)))
  expect_equal(alone$total, alone$noise)
  expect_match(said(print(alone)), "isn't known")
  more <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = modes[[1]], neighbours = "add_remove")
  expect_match(more$label[1], "pure")
  expect_match(said(print(more)), "100 records, their number private,", fixed = TRUE)
  other <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = modes[[1]], delta = 1e-6, clipped = 0.1)
  expect_match(said(print(other)), "= 1e-06, with the share outside of the ball", fixed = TRUE)
  expect_error(dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = modes[[1]], spread = 0.1), "`spread` is for",
               class = "riemdp_error_argument")
  made <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = modes[[1]], simulate = list(center = callosum_template, spread = 0.005))
  expect_gt(made$projection[1], 0.01) # ninety-two directions of a half of .005 each
  expect_lt(made$projection[1], 0.05)
  named <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.25, reduce = modes[[1]], mechanism = "laplace")
  expect_identical(named$mechanism, c("laplace", "laplace"))
})

test_that("a whole space that loses nothing is said to lose nothing", {
  M <- sphere(3)
  S <- subspace(M, c(0, 0, 0, 1), cbind(c(1, 0, 0, 0), c(0, 1, 0, 0)))
  plan <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 0.5, reduce = S, public = mf_to_ball(M, around(S, 50, 0.1), S$center, 0.5))
  expect_lt(plan$projection[2], 1e-9)
  expect_no_match(said(print(plan)), "e-1[0-9]")
})

test_that("the least n and epsilon keep the total error for each subspace, a little less doesn't", {
  S <- subspace(euclidean(3), c(0, 0, 0), c(1, 0, 0))
  public <- around(S, 30, 0.3)
  at <- function(n, epsilon) dp_mean_plan(euclidean(3), n = n, epsilon = epsilon, radius = 2, reduce = S, public = public)$total
  n <- dp_mean_plan(euclidean(3), epsilon = 1, radius = 2, reduce = S, public = public, error = 0.2)$n
  expect_lte(at(n[1], 1)[1], 0.2)
  expect_gt(at(n[1] - 1, 1)[1], 0.2)
  expect_lte(at(n[2], 1)[2], 0.2)
  expect_gt(at(n[2] - 1, 1)[2], 0.2)
  plan <- dp_mean_plan(euclidean(3), n = 100, radius = 2, reduce = S, public = public, error = 0.2)
  for (i in 1:2) {
    expect_lte(at(100, plan$nominal_epsilon[i])[i], 0.2)
    expect_gt(at(100, plan$nominal_epsilon[i] * 0.998)[i], 0.2)
  }
  never <- dp_mean_plan(euclidean(3), n = 100, radius = 2, reduce = S, public = public, error = 1e-3)
  expect_true(is.na(never$nominal_epsilon[1]))
  expect_match(never$note[1], "no epsilon from")
  expect_match(said(print(never)), "no epsilon from")
  expect_error(dp_mean_plan(euclidean(3), 100, 1, radius = 2, public = public), "give `reduce`")
  expect_error(dp_mean_plan(euclidean(3), 100, 1, radius = 2, reduce = list()), class = "riemdp_error_argument")
  expect_error(dp_mean_plan(euclidean(3), 100, 1, radius = 2, reduce = list(S, 3)), class = "riemdp_error_argument")
})

test_that("what a share outside costs is in a subspace's plan, and no records are served in every way", {
  M <- euclidean(10)
  S <- subspace(M, rep(0, 10), diag(10)[, 1:2])
  for (neighbours in c("replace", "add_remove")) {
    plan <- dp_mean_plan(M, n = 100, radius = 1, reduce = S, error = 0.05, clipped = 0.5, post = FALSE, neighbours = neighbours)
    epsilon <- plan$nominal_epsilon[1]
    r <- with_simulation(1, dp_mean(matrix(0, 100, 10), M, epsilon, radius = 1, reduce = S, clipped = 0.5, post = FALSE, neighbours = neighbours))
    if (neighbours == "replace") expect_equal(r$expected_error, 0.05, tolerance = 2e-3)
    whole <- dp_mean_plan(M, n = 100, epsilon = 1, radius = 1, reduce = S, clipped = 0.5, neighbours = neighbours)
    expect_equal(whole$nominal_epsilon, c(1, 1), tolerance = 1e-6)
  }
  inside <- subspace(sphere(4), c(0, 0, 0, 0, 1), diag(5)[, 1:2])
  none <- function(...) dp_mean(matrix(0, 0, 5), sphere(4), 1, radius = 0.4, reduce = inside, ...)
  for (invalid in c("error", "center")) for (neighbours in c("replace", "add_remove")) {
    expect_s3_class(none(by = character(), levels = c("a", "b"), neighbours = neighbours, invalid = invalid), "riemdp_groups")
  }
  far <- matrix(rep(c(0, sin(1), cos(1)), each = 50), 50)
  r <- dp_mean(far, sphere(2), 5, radius = 0.4, reduce = subspace(sphere(2), c(0, 0, 1), c(1, 0, 0)), clipped = 0.5)
  expect_output(print(r), "of the projected records as released")
})
