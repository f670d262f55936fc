# Private formulas: every term is one of a row, and what isn't a column is a public constant that the guarantee names.

M <- sphere(2)
north <- c(0, 0, 1)
set.seed(1)
d <- data.frame(x = runif(20), g = sample(c("a", "b"), 20, TRUE))
Y <- mf_exp(M, north, outer(d$x - 0.5, c(0.8, 0.2, 0))) + matrix(rnorm(60, sd = 0.01), 20)
d[c("a", "b", "c")] <- Y
d$y <- mf_points(mf_project(M, Y), M)

test_that("a formula may make a manifold of every kind but a user's", {
  kinds <- unique(vapply(all_manifolds(), function(case) class(case$M)[1], ""))
  expect_setequal(paste0("riemdp_", riemdp:::MAKERS), setdiff(kinds, c("riemdp_custom", "riemdp_scaled", "riemdp_roots", "riemdp_kendall_space")))
  for (name in riemdp:::MAKERS) expect_true(is.function(getExportedValue("riemdp", name)), label = name)
  for (made in list(quote(manifold_custom(2)), quote(pullback(sphere(2), identity)), quote(custom(2)), quote(new_manifold("sphere", 2)),
                    quote(sphere(sum(1))))) {
    expect_error(riemdp:::check_points_term(call("mf_project", made, quote(Y))), "made there", class = "riemdp_error_unsupported")
  }
})
ask <- function(formula, data = d, ..., bounds = c(0, 1)) {
  dp_regression(formula, M, data, epsilon = 1, center = north, radius = 0.4, speed = 1.5, residual_bound = 0.1, bounds = bounds, ...)
}
# the left side as the fit sees it, a row for each record
left <- function(formula, data = d, M = sphere(2)) {
  y <- riemdp:::regression_records(formula, M, data, c(0, 1), environment(formula))$y
  if (inherits(y, "riemdp_points")) as.matrix(y) else y
}

test_that("a left side that may mix rows is refused, one of a row is evaluated", {
  n <- 20
  z <- Y
  w <- matrix(rnorm(60), 20)
  for (f in list(mf_project(M, Y - rep(colMeans(Y), each = n)) ~ x, mf_project(M, Y[n:1, ]) ~ x, Y[1:20, ] ~ x, mf_project(M, Y - colMeans(Y)) ~ x,
                 scale(Y) ~ x, mf_project(M, sweep(Y, 2, colMeans(Y))) ~ x, apply(Y, 2, rev) ~ x, cbind(a - mean(a), b, c) ~ x, cbind(a, b, rev(c)) ~ x,
                 mf_points(cbind(a, b, cumsum(c)), M) ~ x, mf_project(sphere(length(Y)), Y) ~ x, cbind(a, b, c[order(c)]) ~ x,
                 (function(y) y)(Y) ~ x, d$y ~ x, mf_exp(M, north, Y) ~ x, identity(Y) ~ x, Y[, x > 0.5] ~ x)) {
    expect_error(left(f), class = "riemdp_error_unsupported")
    expect_error(ask(f), class = "riemdp_error_unsupported")
  }
  for (f in list(y ~ x, Y ~ x, mf_project(M, Y) ~ x, mf_project(sphere(2), Y * 2) ~ x, cbind(a, b, c) ~ x, mf_points(cbind(a, b, c), M) ~ x, I(Y) ~ x,
                 mf_project(M, cbind(log(a + 2), b, abs(c))) ~ x, mf_project(M, -Y) ~ x, mf_project(M, Y + w) ~ x, mf_project(M, Y * x) ~ x,
                 cbind(z[, 1], z[, c(2, 3)]) ~ x, cbind(z[, 1:2], c) ~ x, mf_project(M, rows_to_points(Y, M)) ~ x,
                 mf_project(M, cbind(ifelse(g == "a", a, -a), b, c)) ~ x)) {
    whole <- left(f)
    expect_identical(dim(whole), c(20L, 3L))
    for (i in c(1, 20)) { # replacing a record leaves the others; alone it is what it is among others
      other <- d
      other[i, c("a", "b", "c", "x")] <- c(NA, 1e300, -1, 0.3)
      other$y[i] <- NA
      keep <- list(Y, z, w)
      Y[i, ] <- c(NA, Inf, 1e300)
      z[i, ] <- w[i, ] <- 0
      expect_identical(left(f, other)[-i, ], whole[-i, ])
      Y <- keep[[1]]
      z <- keep[[2]]
      w <- keep[[3]]
    }
  }
  # a vector beside records that don't lie in rows would meet the numbers of others
  M3 <- grassmann(3, 1)
  x <- runif(3)
  U <- mf_random(M3, 3)
  expect_error(left(mf_project(M3, matrix(U, 3) * x) ~ x, list(x = x), M3), class = "riemdp_error_unsupported")
  V <- matrix(U, 3)
  expect_error(left(mf_project(M3, V * x) ~ x, list(x = x), M3), class = "riemdp_error_shape")
  expect_identical(dim(left(mf_project(M3, V * 2) ~ x, list(x = x), M3)), c(3L, 3L))
})

test_that("records that are no points count as missing where they were made in the formula", {
  bad <- Y
  bad[2, ] <- 0
  bad[3, 1] <- NA
  bad[4, ] <- c(0, 0, 1e-200)
  good <- Y
  good[2:3, ] <- NA
  good[4, ] <- c(0, 0, 1)
  expect_equal(left(mf_project(M, bad) ~ x)[c(1, 4:20), ], mf_project(M, good[c(1, 4:20), ]), tolerance = 1e-12)
  expect_identical(left(mf_project(M, bad) ~ x)[2:3, ], matrix(NA_real_, 2, 3))
  for (f in list(mf_points(bad) ~ x, mf_points(bad, M) ~ x, bad ~ x)) {
    if (length(f[[2]]) == 2) next
    r <- with_simulation(1, ask(f, invalid = "ignore"))
    expect_s3_class(r, "riemdp_regression")
    e <- expect_error(ask(f), class = "riemdp_error")
    expect_match(conditionMessage(e), "left side of the formula")
    expect_no_match(conditionMessage(e), "`x`")
  }
  # a column of points with missing ones
  d$y[3] <- NA
  expect_s3_class(ask(y ~ x, d, invalid = "ignore"), "riemdp_regression")
  # a list with one record's numbers in each cell
  d$list <- lapply(1:20, function(i) if (i == 3) "none" else as.double(as.matrix(d$y)[i, ]))
  expect_identical(with_simulation(1, ask(list ~ x, d, invalid = "ignore"))$value, with_simulation(1, ask(y ~ x, d, invalid = "ignore"))$value)
})

test_that("constants are single values, and the guarantee names them", {
  m <- 0.7
  lo <- 0.1
  r <- ask(y ~ pmin(x, m))
  expect_match(guarantee(r)$assumptions, "constants of the formula are public: `m`$", all = FALSE)
  expect_equal(unname(predict(r, data.frame(x = c(0.7, 0.9)))[1]), unname(predict(r, data.frame(x = c(0.7, 0.9)))[2]))
  r <- ask(mf_project(M, Y * m) ~ I(x + lo * pi))
  expect_match(guarantee(r)$assumptions, "public: `M`, `lo`, `m`$", all = FALSE)
  expect_no_match(guarantee(ask(y ~ x))$assumptions, "constants")
  fit <- function(formula, data = d, ...) {
    dp_lm(formula, data, 1, bounds = list(x = c(0, 1), `pmin(x, m)` = c(0, 1), a = c(-1, 1), `I(x * k)` = c(0, 1))[all_terms(formula)])
  }
  all_terms <- function(f) c(deparse(f[[3]]), deparse(f[[2]]))
  expect_match(guarantee(fit(a ~ pmin(x, m)))$assumptions, "public: `m`$", all = FALSE)
  expect_match(guarantee(fit(a ~ pmin(x, m), chunks(d, 7)))$assumptions, "public: `m`$", all = FALSE)
  expect_identical(with_simulation(1, fit(a ~ pmin(x, m), chunks(d, 7)))$value, with_simulation(1, fit(a ~ pmin(x, m), chunks(d, 20)))$value)
  expect_equal(with_simulation(1, fit(a ~ pmin(x, m), chunks(d, 7)))$value, with_simulation(1, fit(a ~ pmin(x, m)))$value, tolerance = 1e-9)
  # a vector with as many values as there are records is a column of theirs; others are refused
  k <- runif(20)
  expect_no_match(guarantee(fit(a ~ I(x * k)))$assumptions, "constants")
  k <- c(1, 2)
  expect_error(fit(a ~ I(x * k)), "`k` isn't in `data`", class = "riemdp_error_shape")
  expect_error(fit(a ~ I(x * k), chunks(d, 7)), "`k` is no column", class = "riemdp_error_argument")
  k <- list(1)
  expect_error(fit(a ~ I(x * k)), class = "riemdp_error")
  k <- function(x) x
  expect_error(fit(a ~ I(x * k)), "could not be found", class = "riemdp_error_argument")
})

test_that("a dot stands for the columns that the left side doesn't name", {
  for (left in list(quote(y), quote(mf_project(M, cbind(a, b, c))))) {
    part <- d[c("x", "g", if (left == "y" || is.name(left)) "y" else c("a", "b", "c"))]
    f <- eval(bquote(.(left) ~ .))
    environment(f) <- environment()
    r <- ask(f, part, bounds = list(x = c(0, 1), g = c("a", "b")))
    expect_identical(r$columns$name, c("x", "gb"))
    s <- ask(f, chunks(part, 7), bounds = list(x = c(0, 1), g = c("a", "b")))
    expect_identical(s$columns$name, c("x", "gb"))
  }
})

test_that("what a comparison of columns compares is said by the formula", {
  types <- function(...) riemdp:::name_types(as.list(substitute(c(...)))[-1], rep("number", ...length()))
  expect_identical(types(a + log(b), ifelse(g == "u", h, 1)), c(a = "number", b = "number", g = "text", h = "number"))
  expect_identical(types(ifelse(a == b, 1, 2), a + 1), c(a = "number", b = "number"))
  expect_error(types(ifelse(a == b, 1, 2)), class = "riemdp_error_unsupported")
  # text is never a number by its order or codes
  expect_error(types(a > "b"), class = "riemdp_error_unsupported")
  expect_error(types(as.numeric(factor(a))), class = "riemdp_error_unsupported")
})
