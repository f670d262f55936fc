# Metrics pulled back by a map, and orbits of a group.

half_plane <- function(r) {
  x <- r$mean / sqrt(2)
  c((x^2 + r$sd^2 + 1) / 2, x, (x^2 + r$sd^2 - 1) / 2) / r$sd
}
law_of <- function(y) {
  sd <- 1 / (y[1] - y[3])
  list(mean = sqrt(2) * y[2] * sd, sd = sd)
}
new_points_of <- function(rows, M) riemdp:::new_points(rows, M)
as_of <- function(M, row) {
  facts <- mf_facts(M)
  if (facts$cols > 0) matrix(row, facts$rows) else row
}
# tangent vectors made `lengths` long
scaled_to <- function(M, p, v, lengths) {
  c <- mf_coords(M, p, v)
  mf_from_coords(M, p, matrix(c, length(lengths)) / sqrt(rowSums(matrix(c, length(lengths))^2)) * lengths)
}
laws <- function() pullback(product(hyperbolic(2), weights = 2), half_plane, law_of, "normal laws")

test_that("normal laws are as far apart as Rao's distance says, and come back", {
  set.seed(1)
  P <- laws()
  people <- data.frame(mean = rnorm(30, 5, 2), sd = exp(rnorm(30)), row.names = paste0("p", 1:30))
  x <- as_mf_points(people, P)
  expect_identical(names(x), row.names(people))
  # Atkinson and Mitchell 1981
  rao <- function(i, j) {
    a <- people[i, ]
    b <- people[j, ]
    sqrt(2) * acosh(1 + ((a$mean - b$mean)^2 / 2 + (a$sd - b$sd)^2) / (2 * a$sd * b$sd))
  }
  expect_equal(mf_dist(P, x[1:29], x[2:30]), vapply(1:29, function(i) rao(i, i + 1), 0), tolerance = 1e-10)
  # near one law the metric is Fisher's information
  near <- as_mf_points(data.frame(mean = c(5, 5 + 1e-4, 5), sd = c(2, 2, 2 + 1e-4)), P)
  expect_equal(mf_dist(P, near[c(1, 1)], near[2:3]) * 1e4, c(1 / 2, sqrt(2) / 2), tolerance = 1e-4)
  back <- mf_original(x, P)
  expect_identical(names(back), row.names(people))
  expect_equal(vapply(back, `[[`, 0, "mean"), stats::setNames(people$mean, row.names(people)), tolerance = 1e-10)
  expect_equal(mf_original(frechet_mean(x[c(1, 1)]), P)$sd, people$sd[1], tolerance = 1e-10)
  expect_identical(mf_facts(P), mf_facts(product(hyperbolic(2), weights = 2)))
  expect_identical(mf_facts(P)$k_min, -0.5) # Atkinson and Mitchell
  expect_match(label_of(P), "^normal laws, as points of ")
})

test_that("what is released of images is what the manifold releases", {
  set.seed(2)
  cases <- list(list(sphere(2), c(0, 0, 1), 0.5), list(spd(2), diag(2), 1), list(rotations(3), diag(3), 0.5),
                list(product(sphere(2), euclidean(1)), c(0, 0, 1, 0), 0.5))
  for (case in cases) {
    M <- case[[1]]
    P <- pullback(M, identity, identity)
    stored <- as.matrix(mf_points(mf_exp(M, case[[2]], mf_random_tangent(M, case[[2]], 40, sd = 0.1)), M))
    records <- lapply(1:40, function(i) as_of(M, stored[i, ]))
    x <- as_mf_points(records, P)
    expect_identical(as.matrix(x), stored)
    for (mechanism in c("laplace", "wrapped", "tangent")) {
      of <- function(space) with_simulation(3, dp_mean(new_points_of(stored, space), space, 1, case[[2]], case[[3]], mechanism = mechanism))
      expect_identical(of(P)[c("value", "expected_error")], of(M)[c("value", "expected_error")])
    }
    r <- dp_mean(x, P, 1, case[[2]], case[[3]])
    expect_identical(guarantee(r)$label, "pure")
    expect_equal(as.vector(mf_original(r, P)), as.vector(r$value), tolerance = 1e-14)
  }
})

test_that("a record for which f fails is missing, and no other one", {
  P <- pullback(sphere(1), function(a) if (a > 0) c(cos(a), sin(a)) else stop("secret ", a))
  x <- as_mf_points(c(a = 0.1, b = -1, c = NA, d = 0.2), P, invalid = "missing")
  expect_identical(is.na(x), c(a = FALSE, b = TRUE, c = TRUE, d = FALSE))
  expect_identical(as.matrix(x)[c(1, 4), ], as.matrix(as_mf_points(c(a = 0.1, d = 0.2), P)))
  told <- tryCatch(as_mf_points(c(0.1, -1), P), error = identity)
  expect_s3_class(told, "riemdp_error_off_manifold")
  expect_no_match(conditionMessage(told), "secret")
  for (f in list(function(a) "a", function(a) c(1, 0, 0), function(a) NULL, function(a) c(2, 0), function(a) c(Inf, 0))) {
    expect_true(all(is.na(as_mf_points(c(1, 2), pullback(sphere(1), f), invalid = "missing"))))
  }
  expect_identical(length(as_mf_points(numeric(), P)), 0L)
  rows <- rbind(a = c(0.6, 0.8), b = c(0, 1))
  expect_equal(as.matrix(as_mf_points(rows, pullback(sphere(1), function(r) r))), rows)
  expect_equal(unname(as.matrix(as_mf_points(as.data.frame(rows), pullback(sphere(1), function(r) c(r$V1, r[["V2"]]))))), unname(rows))
  expect_identical(as_mf_points(unname(x), P, invalid = "missing"), unname(x))
  expect_error(as_mf_points(as_mf_points(rows, sphere(1)), P), "another space", class = "riemdp_error_argument")
  expect_error(as_mf_points(rows, P, layout = "xy"), class = "riemdp_error_argument")
  for (bad in list(NULL, Sys.time(), array(1, c(1, 1, 1)), quote(a))) expect_error(as_mf_points(bad, P), class = "riemdp_error_shape")
  expect_error(mf_original(x, P), "inverse", class = "riemdp_error_argument")
  expect_error(mf_original(x, sphere(1)), class = "riemdp_error_argument")
  expect_error(pullback(sphere(1), 3), class = "riemdp_error_argument")
  expect_error(pullback(sphere(1), identity, 3), class = "riemdp_error_argument")
  expect_error(pullback(sphere(1), identity, name = 3), class = "riemdp_error_argument")
  expect_error(pullback(P, identity), class = "riemdp_error_unsupported")
})

test_that("one record's cell changes no other record, whatever type or levels its column has then", {
  P <- pullback(euclidean(1), function(r) log(r$a))
  a <- data.frame(a = c(exp(1), 2, 3))
  plain <- as.matrix(as_mf_points(a, P))
  text <- transform(a, a = replace(as.character(a), 1, "n/a"))
  for (b in list(text, data.frame(a = factor(text$a)), data.frame(a = I(list("n/a", 2, 3))), data.frame(a = c(NA, 2L, 3L)))) {
    got <- as_mf_points(b, P, invalid = "missing")
    expect_identical(unname(is.na(got)), c(TRUE, FALSE, FALSE))
    expect_identical(as.matrix(got)[-1, ], plain[-1, ])
  }
  levels <- pullback(euclidean(1), function(r) if (is.factor(r$g)) length(levels(r$g)) else r$g)
  one <- as.matrix(as_mf_points(data.frame(g = factor(c("1", "2"))), levels))
  expect_identical(as.matrix(as_mf_points(data.frame(g = factor(c("7", "2"))), levels))[2, ], one[2, ])
  # types of numbers, matrices, vectors
  whole <- pullback(euclidean(1), function(r) if (is.integer(r[[1]])) stop() else r[[1]])
  expect_identical(as.matrix(as_mf_points(data.frame(a = 1:2), whole)), as.matrix(as_mf_points(data.frame(a = c(1, 2)), whole)))
  rows <- pullback(euclidean(1), function(r) sum(r))
  expect_identical(as.matrix(as_mf_points(cbind(c("x", "2"), c("1", "3")), rows, invalid = "missing"))[2, ], 5)
  expect_identical(as.matrix(as_mf_points(c("x", "2"), rows, invalid = "missing"))[2, ], 2)
  expect_error(as_mf_points(data.frame(a = I(diag(2))), rows), class = "riemdp_error_shape")
})

test_that("points and releases of another space have no original here", {
  logs <- pullback(euclidean(1), log, exp, "logs")
  roots <- pullback(euclidean(1), sqrt, function(y) y^2, "roots")
  x <- as_mf_points(c(1, 4, 9), roots)
  expect_identical(mf_original(x, roots), list(1, 4, 9))
  expect_error(mf_original(x, logs), "another space", class = "riemdp_error_argument")
  expect_error(mf_original(dp_mean(x, roots, 1, 2, 2), logs), "another space", class = "riemdp_error_argument")
  expect_error(slide_landmarks(matrix(1:6, 3), pullback(kendall(3, 2), identity), matrix(1:6, 3), 1:3), class = "riemdp_error_unsupported")
})

test_that("a pullback carries nothing of the function in which it was made", {
  # nor of functions inside it
  hidden <- function() {
    people <- "SECRET"
    h <- function(v) v
    f <- function(r, g = NULL) g(r)
    formals(f)$g <- h
    list(f, eval(bquote(function(r) .(h)(r))), structure(function(r) r, who = people))
  }
  for (f in hidden()) {
    P <- pullback(euclidean(1), f)
    bytes <- serialize(dp_mean(as_mf_points(c(1, 2), P), P, 1, 1, 1), NULL)
    expect_false(grepl("SECRET", rawToChar(bytes[bytes != 0]), useBytes = TRUE))
    expect_identical(as.matrix(as_mf_points(c(1, 2), P)), cbind(c(1, 2)))
  }
  holder <- eval(bquote(function(r) get("x", .(new.env()))))
  expect_error(pullback(euclidean(1), holder), "written out", class = "riemdp_error_argument")
  expect_error(pullback(euclidean(1), identity, name = "a\nb"), class = "riemdp_error_argument")
  expect_null(attributes(pullback(euclidean(1), identity, name = structure("a", who = "SECRET"))$pulled))
  made <- local({
    records <- rnorm(1e5) # what must not travel with a release
    pullback(sphere(1), function(a) c(cos(a), sin(a)), function(y) atan2(y[2], y[1]))
  })
  r <- dp_mean(as_mf_points(c(0.1, 0.2), made), made, 1, c(1, 0), 0.5)
  expect_lt(length(serialize(r, NULL)), 2e4)
  expect_identical(environment(made$f), globalenv())
  expect_identical(environment(made$inverse), globalenv())
  expect_null(attr(made$f, "srcref"))
})

test_that("a record at the cut locus of an image is brought to the centre as others are", {
  t <- function(a) {
    m <- diag(4)
    m[1:2, 1:2] <- c(cos(a), sin(a), -sin(a), cos(a))
    m
  }
  M <- rotations(4)
  three <- lapply(0:2 * 2 * pi / 3, t)
  Q <- quotient(M, three, diag(4))
  both <- as_mf_points(list(a = t(pi), b = t(0.1)), Q)
  expect_identical(names(both), c("a", "b"))
  expect_identical(as.matrix(both)[2, ], as.matrix(as_mf_points(list(b = t(0.1)), Q))[1, ])
  expect_equal(mf_dist(M, diag(4), both), c(pi / 3, 0.1), tolerance = 1e-7, ignore_attr = TRUE)
  # a member at the cut locus of the centre
  expect_identical(as.matrix(as_mf_points(list(diag(4)), quotient(M, list(diag(4), -diag(4)), diag(4))))[1, ], as.vector(diag(4)))
})

test_that("orbits are as far apart as their representatives near the centre", {
  set.seed(4)
  turns <- function(axis, angle) {
    K <- matrix(c(0, axis[3], -axis[2], -axis[3], 0, axis[1], axis[2], -axis[1], 0), 3)
    diag(3) + sin(angle) * K + (1 - cos(angle)) * K %*% K
  }
  square <- lapply(0:3, function(i) turns(c(0, 0, 1), i * pi / 2)) # a four-fold axis
  M <- rotations(3)
  bound <- pi / 8
  cases <- list(list(M, square, diag(3), bound, function(x, A) x %*% A),
                list(sphere(2), list(diag(3), -diag(3)), c(0, 0, 1), pi / 4, function(x, A) A %*% x),
                list(sphere(1), lapply(0:2, function(i) turns(c(0, 0, 1), 2 * pi * i / 3)[1:2, 1:2]), c(1, 0), pi / 6, function(x, A) A %*% x))
  for (case in cases) {
    M <- case[[1]]
    group <- case[[2]]
    act <- case[[5]]
    v <- mf_random_tangent(M, case[[3]], 60, sd = 1)
    x <- mf_exp(M, case[[3]], scaled_to(M, case[[3]], v, runif(60, 0, case[[4]])))
    rows <- as.matrix(mf_points(x, M))
    mixed <- t(vapply(1:60, function(i) as.vector(act(as_of(M, rows[i, ]), group[[sample(length(group), 1)]])), rows[1, ]))
    Q <- quotient(M, group, case[[3]])
    read <- function(rows, ...) as_mf_points(new_points_of(rows, M), Q, ...)
    y <- new_points_of(as.matrix(read(mixed)), M)
    given <- if (inherits(M, "riemdp_sphere")) mixed else array(t(mixed), c(3, 3, 60))
    expect_identical(as.matrix(mf_points(given, Q)), as.matrix(y))
    expect_lt(max(mf_dist(M, y, new_points_of(rows, M))), 1e-7)
    # by all members of the orbit
    moved <- function(A) new_points_of(t(vapply(2:60, function(i) as.vector(act(as_of(M, mixed[i, ]), A)), rows[1, ])), M)
    orbit <- vapply(group, function(A) mf_dist(M, y[1:59], moved(A)), numeric(59))
    expect_equal(mf_dist(M, y[1:59], y[2:60]), apply(orbit, 1, min), tolerance = 1e-9)
    # a ball within a sixth of the way to the nearest image, which is four quarters of the bound above
    limit <- case[[4]] * 4 / 6
    scale <- function(center, radius) dp_mean(read(mixed), Q, 1, center, radius)$scale
    beside <- as_of(M, as.matrix(mf_points(mf_exp(M, case[[3]], scaled_to(M, case[[3]], v, rep(limit / 2, 60))), M))[1, ])
    if (limit < riemdp:::radius_limit(riemdp:::ball_facts(M, limit))) {
      expect_gt(scale(case[[3]], 0.999 * limit), 0)
      expect_error(scale(case[[3]], 1.001 * limit), "sixth", class = "riemdp_error_radius")
    }
    expect_gt(scale(beside, 0.499 * limit), 0)
    expect_error(scale(beside, 0.501 * limit), "sixth", class = "riemdp_error_radius")
    expect_error(dp_median(read(mixed), Q, 1, beside, 0.501 * limit), class = "riemdp_error_radius")
    expect_error(mean_sensitivity(Q, 10, 1.001 * limit), class = "riemdp_error_radius")
    # means of orbits: unique where all records lie within that, and then from whatever members
    near <- scaled_to(M, case[[3]], v, runif(60, 0, limit / 2.1))
    near <- as.matrix(mf_points(mf_exp(M, case[[3]], near), M))
    moved <- t(vapply(1:60, function(i) as.vector(act(as_of(M, near[i, ]), group[[i %% length(group) + 1]])), near[1, ]))
    fit <- frechet_mean(read(moved))
    expect_equal(fit$mean, frechet_mean(new_points_of(near, M))$mean, tolerance = 1e-9)
    expect_true(fit$unique)
    expect_identical(frechet_mean(read(mixed))$unique, NA)
    expect_output(print(Q), sprintf("up to %d symmetries", length(group)))
    # one record by itself
    expect_identical(as.matrix(read(mixed[3, , drop = FALSE])), as.matrix(y)[3, , drop = FALSE])
    missing <- read(rbind(mixed[1, ], NA), invalid = "missing")
    expect_identical(is.na(missing), c(FALSE, TRUE))
    expect_identical(as.matrix(missing)[1, ], as.matrix(y)[1, ])
  }
  M <- rotations(3)
  for (bad in list(list(), diag(3), list(diag(3), square[[2]]), square[-1], list(diag(3), diag(c(1, 1, -1))),
                   list(diag(2)), c(square, square[1]), list(2 * diag(3)), list("a"))) {
    expect_error(quotient(M, bad, diag(3)), class = "riemdp_error_argument")
  }
  # a centre that a member leaves where it is has no such ball
  expect_error(quotient(sphere(2), list(diag(3), diag(c(-1, -1, 1))), c(0, 0, 1)), class = "riemdp_error_argument")
  Q <- quotient(M, square, diag(3))
  for (wrong in list(quote(quotient(spd(2), list(diag(2)), diag(2))), quote(quotient(Q, square, diag(3))), quote(product(Q, sphere(2))),
                     quote(power(Q, 2)), quote(product(Q, weights = 2)), quote(pullback(Q, identity)))) {
    expect_error(eval(wrong), class = "riemdp_error_unsupported", label = deparse(wrong))
  }
  expect_identical(length(as_mf_points(new_points_of(matrix(0, 0, 9), M), quotient(M, square, diag(3)))), 0L)
  # a space that was tampered with
  for (bad in list(NULL, 1, list(center = 1), replace(Q$orbit, "apart", "a"), replace(Q$orbit, "moves", list(list(diag(2)))))) {
    broken <- Q
    broken$orbit <- bad
    expect_error(as_mf_points(new_points_of(t(as.vector(diag(3))), M), broken), class = "riemdp_error_manifold")
    expect_error(mean_sensitivity(broken, 10, 0.1), class = "riemdp_error_manifold")
  }
  # other units
  twice <- quotient(product(M, weights = 4), square, diag(3))
  expect_error(mean_sensitivity(twice, 10, 1.001 * pi / 6), class = "riemdp_error_radius")
  expect_gt(mean_sensitivity(twice, 10, 0.999 * pi / 6), 0)
})
