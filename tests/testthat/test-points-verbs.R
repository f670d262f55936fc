# Whatever base R, dplyr, tidyr, data.table or tibble do with a column of points: what comes out are the same points, or a classed
# error, and never a number. `whole` holds the rows of y (1 to 6, the fifth a copy of the second) and z (7 to 12) of one manifold.

manifolds <- function() list(sphere(2), spd(2), kendall(3), euclidean(1), custom_sphere(2))
# the short form: matrices and complex numbers
tried <- function() if (quick()) manifolds()[2:3] else manifolds()

setting <- function(M) {
  set.seed(7)
  whole <- as.matrix(mf_points(mf_random(M, 12), M))
  whole[5, ] <- whole[2, ]
  make <- function(at) riemdp:::new_points(whole[at, , drop = FALSE], M)
  g <- rep(c("a", "b"), 3)
  d <- data.frame(id = 1:6, g = g)
  d$y <- make(1:6)
  list2env(list(M = M, whole = whole, y = make(1:6), z = make(7:12), g = g, d = d, other = mf_points(diag(3), euclidean(3))))
}

# stored numbers of points, or of the texts that are left where a class is dropped
rows_of <- function(value, M) {
  if (is.list(value) && !is.data.frame(value)) return(do.call(rbind, lapply(unname(value), rows_of, M = M)))
  if (is.character(value) && !inherits(value, "riemdp_points")) value <- mf_points(as.vector(unclass(value)), M)
  expect_s3_class(value, "riemdp_points")
  expect_identical(attr(value, "manifold"), M)
  expect_true(all(mf_is_point(M, value[!is.na(value)])))
  unname(as.matrix(value))
}

classes_of <- function(e) if (is.null(e)) character() else c(class(e), classes_of(e$parent))

# each `verb = expr` of ...: its value holds the points `at`; `at` refused: a classed error, whoever raises it
follow <- function(s, ...) {
  calls <- eval(substitute(alist(...)))
  for (k in seq_along(calls)) {
    what <- paste(deparse(calls[[k]][[2]]), collapse = " ")
    at <- eval(calls[[k]][[3]], list(refused = "refused"), s)
    if (identical(at, "refused")) {
      old <- options(warn = getOption("warn"))
      e <- tryCatch(suppressWarnings(eval(calls[[k]][[2]], s)), error = identity)
      options(old) # table() leaves warnings as errors where an argument has no order
      expect_true(any(grepl("^(riemdp|vctrs)_error", classes_of(e))), label = paste(what, "is refused on", s$M$name))
    } else {
      got <- rows_of(eval(calls[[k]][[2]], s), s$M)
      expect_identical(got, unname(s$whole[as.integer(at), , drop = FALSE]), label = paste(what, "on", s$M$name))
    }
  }
}

verbs_of <- function(package) {
  list2env(lapply(stats::setNames(nm = getNamespaceExports(package)), getExportedValue, ns = package), parent = globalenv())
}

test_that("base R: parts, wholes and frames", {
  for (M in tried()) {
    s <- setting(M)
    follow(s,
      subset(d, g == "a")$y ~ c(1, 3, 5), d[4:2, "y"] ~ 4:2, d[9, "y"] ~ NA, head(y, 2) ~ 1:2, tail(d, 2)$y ~ 5:6, rev(y) ~ 6:1,
      y[-1] ~ 2:6, y[c(TRUE, FALSE)] ~ c(1, 3, 5), y[c(2, NA, 9)] ~ c(2, NA, NA), y[[3]] ~ 3, y[["a"]] ~ refused, y[[7]] ~ refused,
      y[1, 2] ~ refused, y$a ~ refused, y[list(1)] ~ refused, c(y, z[2]) ~ c(1:6, 8), c(y[1], NA, NULL) ~ c(1, NA), c(y, 1) ~ refused,
      c(y, other) ~ refused, rep(y[1:2], each = 2) ~ c(1, 1, 2, 2), rep_len(y, 8) ~ c(1:6, 1:2), append(y, z[1], 2) ~ c(1:2, 7, 3:6),
      unique(y) ~ c(1:4, 6), replace(y, 2, z[1]) ~ c(1, 7, 3:6), rbind(y, z) ~ 1:12,
      do.call(rbind, lapply(1:3, function(i) y[i])) ~ 1:3, cbind(y, z) ~ refused, rbind(d, d[2:3, ])$y ~ c(1:6, 2:3),
      rbind(d, data.frame(id = 9, g = "a", y = NA))$y ~ c(1:6, NA), rbind(d, data.frame(id = 9, g = "a", y = other[1])) ~ refused,
      rbind(d, data.frame(id = 9, g = "a", y = "p")) ~ refused, cbind(d, w = z)$w ~ 7:12, data.frame(y)$y ~ 1:6,
      as.data.frame(y)$y ~ 1:6, transform(d, w = rev(y))$w ~ 6:1, within(d, w <- z)$w ~ 7:12, with(d, y[2]) ~ 2,
      list2DF(list(a = y))$a ~ 1:6, unlist(list(y, z)) ~ 1:12, as.list(y) ~ 1:6,
      merge(d, data.frame(id = c(6, 2, 9), w = 1:3), by = "id", all = TRUE)$y ~ c(1:6, NA),
      merge(d[3:4, ], data.frame(y = y[c(3, 1)], w = 1:2), by = "y")$y ~ 3,
      merge(d[3:4, ], data.frame(y = y[c(3, 1)], g = "a", w = 1:2), by = c("g", "y"))$y ~ 3, split(y, g)$b ~ c(2, 4, 6),
      unsplit(split(y, g), g) ~ 1:6, unsplit(split(d, g), g)$y ~ 1:6, lapply(y, identity) ~ 1:6, sapply(y, identity) ~ 1:6,
      Map(function(a, b) b, y, z) ~ 7:12, Filter(function(p) p == y[2], y) ~ c(2, 5), mapply(identity, y) ~ 1:6,
      Reduce(function(a, b) b, y) ~ 6, tapply(y, g, function(p) p[2]) ~ 3:4, by(d, g, function(part) part$y[3]) ~ 5:6,
      aggregate(y ~ g, d, function(p) p[1])$y ~ 1:2, aggregate(d["y"], d["g"], function(p) p[2])$y ~ 3:4,
      ave(y, g, FUN = function(p) p[1]) ~ rep(1:2, 3), na.omit(c(y[1], NA)) ~ 1, na.omit(data.frame(y = c(NA, y)))$y ~ 1:6,
      model.frame(y ~ id, d)$y ~ 1:6, model.frame(y ~ id, d, subset = id > 2)$y ~ 3:6, model.response(model.frame(y ~ id, d)) ~ 1:6,
      setdiff(y, y[1:2]) ~ c(3, 4, 6), union(y[1:2], z[1]) ~ c(1, 2, 7), intersect(y, y[3:4]) ~ 3:4,
      expand.grid(y = y[1:2], k = 1:2, stringsAsFactors = FALSE)$y ~ c(1, 2, 1, 2),
      reshape(data.frame(i = rep(1:3, 2), t = rep(1:2, each = 3), y = y), direction = "wide", idvar = "i", timevar = "t")$y.2 ~ 4:6,
      reshape(data.frame(i = 1:6, a = y, b = z), direction = "long", idvar = "i", varying = c("a", "b"), v.names = "y")$y ~ 1:12,
      as.character(y) ~ 1:6, as.vector(y) ~ 1:6, matrix(y, 2) ~ 1:6, combn(y, 6) ~ 1:6,
      local({o <- NULL; for (p in y) o <- c(o, p); o}) ~ 1:6, local({a <- y; length(a) <- 8; a}) ~ c(1:6, NA, NA),
      local({a <- y; length(a) <- 2; a}) ~ 1:2, local({a <- y; a[8] <- z[1]; a}) ~ c(1:6, NA, 7),
      local({a <- y; a[c(2, 4)] <- z[1:2]; a}) ~ c(1, 7, 3, 8, 5, 6), local({a <- y; a[[2]] <- z[2]; a}) ~ c(1, 8, 3:6),
      local({a <- y; is.na(a) <- 2; a}) ~ c(1, NA, 3:6), y ~ 1:6, local({a <- y; a[] <- z[1]; a}) ~ rep(7, 6),
      local({a <- y; a[2] <- other[1]; a}) ~ refused, local({a <- y; a[2] <- "p"; a}) ~ refused,
      local({a <- y; a[1:4] <- z[1:3]; a}) ~ refused, local({a <- y; a[2] <- z[0]; a}) ~ refused,
      local({f <- d; f$y[2] <- z[1]; f$y}) ~ c(1, 7, 3:6))
    expect_identical(s$y == s$y[2], seq_len(6) %in% c(2, 5))
    expect_identical(s$y != s$z, rep(TRUE, 6))
    expect_identical(s$y == NA, rep(NA, 6))
    expect_identical(s$y == as.character(s$y), rep(TRUE, 6))
    expect_identical(duplicated(s$y), 1:6 == 5)
    expect_identical(match(s$y, rev(s$y)), c(6L, 2L, 4L, 3L, 2L, 1L))
    expect_identical(c(s$y[2], NA) %in% s$y, c(TRUE, FALSE))
    expect_identical(any(s$y %in% s$z), FALSE)
    expect_identical(is.na(c(s$y[1], NA)), c(FALSE, TRUE))
    expect_identical(complete.cases(data.frame(y = c(s$y[1], NA))), c(TRUE, FALSE))
    expect_identical(vapply(s$y, function(p) mf_dist(s$M, p, s$y[[1]]), 1), mf_dist(s$M, s$y, s$y[[1]]))
    expect_false(identical(s$y, s$z))
    expect_true(all.equal(s$y, s$y))
    expect_false(isTRUE(all.equal(s$y, s$z)))
    expect_identical(nrow(unique(s$d[c(1, 1, 2), c("g", "y")])), 2L)
  }
})

test_that("base R: what points are not", {
  s <- setting(sphere(2))
  follow(s,
    ifelse(g == "a", y, z) ~ refused, ifelse(TRUE, y, z) ~ refused, order(y) ~ refused, sort(y) ~ refused, rank(y) ~ refused,
    xtfrm(y) ~ refused, d[order(d$y), ] ~ refused, which.max(y) ~ refused, y < z ~ refused, y + 1 ~ refused, 2 * y ~ refused,
    -y ~ refused, !y ~ refused, y & TRUE ~ refused, y == 1 ~ refused, y == "a" ~ refused, y == other ~ refused, 1 == y ~ refused,
    sum(y) ~ refused, range(y) ~ refused, max(y) ~ refused, any(y) ~ refused, pmax(y, z) ~ refused, exp(y) ~ refused,
    round(y) ~ refused, cumsum(y) ~ refused, Re(y) ~ refused, diff(y) ~ refused, quantile(y) ~ refused, fivenum(y) ~ refused,
    var(y) ~ refused, sd(y) ~ refused, mad(y) ~ refused, cut(y, 3) ~ refused, factor(y) ~ refused,
    factor(y, levels = unique(y)) ~ refused, expand.grid(y = y, k = 1) ~ refused, table(y) ~ refused, table(g, y) ~ refused,
    split(g, y) ~ refused, tapply(1:6, y, sum) ~ refused, aggregate(id ~ y, d, sum) ~ refused, interaction(g, y) ~ refused,
    xtabs(y ~ g, d) ~ refused, lm(y ~ id, d) ~ refused, lm(id ~ y, d) ~ refused, glm(id ~ y, data = d) ~ refused,
    aov(y ~ g, d) ~ refused, loess(y ~ id, d) ~ refused, nls(y ~ a * id, d, start = list(a = 1)) ~ refused,
    model.matrix(id ~ y, d) ~ refused, t.test(y) ~ refused, t.test(y ~ g, d) ~ refused, wilcox.test(y) ~ refused,
    kruskal.test(y, g) ~ refused, bartlett.test(y, g) ~ refused, as.integer(y) ~ refused, as.numeric(y) ~ refused,
    as.double(y) ~ refused, as.logical(y) ~ refused, as.complex(y) ~ refused, as.raw(y) ~ refused, as.vector(y, "numeric") ~ refused,
    as.Date(y) ~ refused, local({a <- y; storage.mode(a) <- "integer"; a}) ~ refused, local({a <- y; dim(a) <- 2:3; a}) ~ refused)
  # these have no method to ask: R's own errors
  blind <- list(function(y) cor(y, 1:6), hist, density, rowSums, function(y) colMeans(data.frame(y)), function(y) y %*% 1:6, chol, tabulate)
  for (f in blind) expect_error(f(s$y))
})

test_that("text that isn't a point's is none", {
  s <- setting(sphere(2))
  text <- as.character(s$y)
  expect_match(text, "^p[0-9A-Za-z_-]{37}$")
  expect_identical(as.character(mf_points(-s$whole[1:6, ], s$M)) == text, logical(6))
  expect_identical(as.character(mf_points(rbind(c(0, -0, 1)), s$M)), as.character(mf_points(rbind(c(0, 0, 1)), s$M)))
  expect_error(mf_points(text, euclidean(3)), class = "riemdp_error_shape")
  expect_error(mf_points("p", s$M), class = "riemdp_error_shape")
  for (change in list(toupper, tolower, function(t) sub("[A-Z]", "0", t), function(t) substring(t, 2), function(t) paste0(t, "0"))) {
    bad <- structure(change(text), class = class(s$y), manifold = s$M)
    expect_error(as.matrix(bad), class = "riemdp_error_shape")
    expect_error(mf_dist(s$M, bad, s$z), class = "riemdp_error_shape")
    expect_error(mf_points(change(text), s$M), class = "riemdp_error_shape")
  }
  old <- structure(1:6, rows = s$whole, manifold = s$M, class = "riemdp_points")
  expect_error(as.matrix(old), "earlier version", class = "riemdp_error_shape")
  # tangent vectors are none, and the other way round
  v <- mf_log(s$M, s$y, s$z)
  expect_error(c(s$y, v), class = "riemdp_error_shape")
  expect_error(vctrs::vec_c(s$y, v), class = "vctrs_error_incompatible_type")
  expect_error(mf_dist(s$M, v, s$z), class = "riemdp_error_shape")
  expect_error(mf_exp(s$M, s$y, s$z), class = "riemdp_error_shape")
  expect_error(mean(v), class = "riemdp_error_unsupported")
  expect_error(mf_points(as.character(v), s$M), class = "riemdp_error_shape")
  expect_identical(as.matrix(c(v, v[1]))[7, ], as.matrix(v)[1, ])
  # files: of R and of text
  path <- tempfile()
  for (M in manifolds()[1:4]) {
    s <- setting(M)
    s$d$y[3] <- NA
    saveRDS(s$d, path)
    expect_identical(readRDS(path)$y, s$d$y)
    dput(s$d, path)
    expect_identical(rows_of(dget(path)$y, M), s$whole[c(1, 2, NA, 4:6), , drop = FALSE])
    utils::write.csv(s$d, path)
    expect_identical(rows_of(utils::read.csv(path)$y, M), s$whole[c(1, 2, NA, 4:6), , drop = FALSE])
  }
  unlink(path)
})

test_that("writing into a copy leaves the original alone", {
  s <- setting(sphere(2))
  text <- unclass(s$y)
  expect_identical(vctrs::vec_slice(text, 2L), text[2], ignore_attr = TRUE) # the texts are made here, and shared with copies
  copy <- text
  copy[1] <- "none"
  expect_identical(copy[1:2], c("none", as.character(s$y)[2]), ignore_attr = TRUE)
  expect_identical(rows_of(text, s$M), s$whole[1:6, ])
  expect_error(mf_dist(s$M, structure(copy, class = class(s$y)), s$z), class = "riemdp_error_shape")
})

test_that("names go along", {
  s <- setting(spd(2))
  y <- stats::setNames(s$y, letters[1:6])
  expect_named(y[c("b", "d")], c("b", "d"))
  expect_identical(rows_of(y["d"], s$M), s$whole[4, , drop = FALSE])
  expect_identical(rows_of(y[["d"]], s$M), s$whole[4, , drop = FALSE])
  expect_named(rev(y), letters[6:1])
  expect_named(c(y[1], q = s$z[1:2]), c("a", "q1", "q2"))
  expect_named(rep(y[1:2], 2), c("a", "b", "a", "b"))
  y["q"] <- s$z[1]
  expect_named(y, c(letters[1:6], "q"))
  expect_named(mf_log(s$M, y, y), names(y))
  expect_named(vctrs::vec_c(y[1], s$z[1]), c("a", ""))
  expect_named(vctrs::vec_slice(y, 2:1), c("b", "a"))
  expect_identical(rownames(as.matrix(y)), names(y))
  expect_named(format(y), names(y))
  expect_output(print(y, n = 7), "q \\(")
  expect_named(unserialize(serialize(y, NULL)), names(y))
})

test_that("mean and median are points, and frechet_mean() takes the column's manifold", {
  for (M in tried()) {
    s <- setting(M)
    single <- function(fit) rows_of(riemdp:::middle(s$y, function(...) fit, FALSE), M)
    expect_identical(rows_of(mean(s$y), M), single(frechet_mean(s$y, M)))
    expect_identical(frechet_mean(s$y)$mean, frechet_mean(s$y, M)$mean)
    expect_identical(frechet_mean(s$d["y"])$mean, frechet_mean(s$y, M)$mean)
    expect_identical(frechet_mean(chunks(s$y, 2))$mean, frechet_mean(chunks(s$y, 2), M)$mean)
    expect_identical(rows_of(median(s$y), M), single(frechet_median(s$y)))
    expect_identical(frechet_variance(s$y), frechet_variance(s$y, M))
    expect_identical(rows_of(weighted.mean(s$y, 1:6), M), single(frechet_mean(s$y, M, weights = 1:6)))
    expect_identical(is.na(mean(c(s$y, NA))), TRUE)
    expect_identical(rows_of(mean(c(s$y, NA), na.rm = TRUE), M), rows_of(mean(s$y), M))
    expect_identical(rows_of(aggregate(y ~ g, s$d, mean)$y, M), rbind(rows_of(mean(s$y[c(1, 3, 5)]), M), rows_of(mean(s$y[c(2, 4, 6)]), M)))
    expect_identical(rows_of(tapply(s$y, s$g, mean), M), rows_of(aggregate(y ~ g, s$d, mean)$y, M))
  }
  expect_error(frechet_mean(diag(3)), class = "riemdp_error_manifold")
  expect_error(dp_mean(diag(3), epsilon = 1, center = c(0, 0, 1), radius = 0.5), class = "riemdp_error_manifold")
  expect_warning(mean(setting(spd(2))$y, max_iter = 0), class = "riemdp_warning_convergence")
})

test_that("dplyr", {
  skip_if_not_installed("dplyr")
  skip_if_not_installed("tibble")
  for (M in manifolds()[1:3]) {
    s <- setting(M)
    s$d <- tibble::as_tibble(s$d)
    parent.env(s) <- verbs_of("dplyr")
    follow(s,
      mutate(d, w = rev(y))$w ~ 6:1, filter(d, g == "a")$y ~ c(1, 3, 5), filter(d, y == y[2])$y ~ c(2, 5),
      filter(d, y %in% z)$y ~ integer(), arrange(d, desc(id))$y ~ 6:1, arrange(d, y) ~ refused, slice(d, 3:2)$y ~ 3:2,
      slice_max(d, y) ~ refused, summarise(group_by(d, g), m = first(y), k = last(y))$k ~ 5:6,
      summarise(group_by(d, g), m = list(y))$m ~ c(1, 3, 5, 2, 4, 6), summarise(d, sum(y)) ~ refused, mutate(d, w = y + 1) ~ refused,
      mutate(d, across(y, toupper)) ~ refused, distinct(d, y)$y ~ c(1:4, 6), group_by(d, y) ~ refused, count(d, y) ~ refused,
      bind_rows(d, d)$y ~ c(1:6, 1:6), bind_rows(d, d[0, ], data.frame(id = 1))$y ~ c(1:6, NA),
      bind_rows(d, data.frame(y = other)) ~ refused, bind_rows(d, data.frame(y = 1)) ~ refused,
      bind_rows(d, data.frame(y = "a")) ~ refused, bind_cols(d, w = z)$w ~ 7:12,
      full_join(d, data.frame(id = 7L, w = 1), by = "id")$y ~ c(1:6, NA),
      left_join(d, data.frame(id = c(2L, 9L), w = z[1:2]), by = "id")$w ~ c(NA, 7, NA, NA, NA, NA),
      semi_join(d, data.frame(y = y[2:3]), by = "y")$y ~ c(2, 3, 5),
      left_join(d[3:4, ], data.frame(y = y[3:1], k = 1:3), by = "y")$y ~ 3:4,
      anti_join(d, data.frame(y = y[2:3]), by = "y")$y ~ c(1, 4, 6),
      mutate(d, w = case_when(g == "a" ~ y, TRUE ~ z))$w ~ c(1, 8, 3, 10, 5, 12),
      mutate(d, w = if_else(g == "a", y, z))$w ~ c(1, 8, 3, 10, 5, 12),
      mutate(d, w = if_else(g == "a", y, other[c(1:3, 1:3)])) ~ refused, coalesce(c(y[1], NA), z[1:2]) ~ c(1, 8), pull(d, y) ~ 1:6,
      mutate(rowwise(d), m = y)$m ~ 1:6, lag(y) ~ c(NA, 1:5), lead(y, 2) ~ c(3:6, NA, NA), union(d, d)$y ~ 1:6,
      setdiff(d, d[1:2, ])$y ~ 3:6, rows_update(d, tibble::tibble(id = 1L, y = z[1]), by = "id")$y ~ c(7, 2:6),
      group_modify(group_by(d, g), ~ .x[2, ])$y ~ 3:4, tibble::add_row(d, id = 9L, y = z[1])$y ~ 1:7,
      tibble::add_row(d, y = 1) ~ refused, tibble::deframe(d[c("g", "y")]) ~ 1:6, local({e <- d; e$y[2] <- z[1]; e$y}) ~ c(1, 7, 3:6),
      local({e <- d; e[2, "y"] <- e[3, "y"]; e$y}) ~ c(1, 3, 3:6), d$y ~ 1:6)
    means <- aggregate(y ~ g, s$d, mean)$y
    expect_identical(rows_of(dplyr::summarise(dplyr::group_by(s$d, g), m = mean(y))$m, M), rows_of(means, M))
    expect_identical(dplyr::count(s$d, g)$n, c(3L, 3L))
    expect_identical(dplyr::n_distinct(s$y), 5L)
    expect_output(print(s$d), "<points>")
    expect_output(print(s$d), "(", fixed = TRUE)
    expect_error(dplyr::left_join(s$d, data.frame(y = s$other), by = "y"), "incompatible types") # dplyr's own words
    expect_error(local({ # tibble's
      e <- s$d
      e[2, "y"] <- 1
    }), class = "tibble_error_assign_incompatible_type")
  }
})

test_that("tidyr", {
  skip_if_not_installed("tidyr")
  skip_if_not_installed("tibble")
  for (M in manifolds()[1:3]) {
    s <- setting(M)
    s$d <- tibble::as_tibble(s$d)
    s$two <- tibble::tibble(id = 1:6, a = s$y, b = s$z)
    s$long <- tibble::tibble(id = rep(1:3, 2), k = rep(c("a", "b"), each = 3), y = s$y)
    parent.env(s) <- verbs_of("tidyr")
    follow(s,
      pivot_longer(two, c(a, b))$value ~ c(rbind(1:6, 7:12)), pivot_longer(transform(two, b = 1:6), c(a, b)) ~ refused,
      pivot_longer(transform(two, b = other[c(1:3, 1:3)]), c(a, b)) ~ refused,
      pivot_wider(long, names_from = k, values_from = y)$b ~ 4:6,
      pivot_wider(long[1:5, ], names_from = k, values_from = y)$b ~ c(4, 5, NA),
      pivot_wider(tibble::tibble(y = y[c(1, 1, 3, 3)], k = c("a", "b", "a", "b"), v = 1:4), names_from = k, values_from = v)$y ~ c(1, 3),
      unnest(nest(d, data = c(id, y)), data)$y ~ c(1, 3, 5, 2, 4, 6), nest(d, data = c(id, y))$data[[2]]$y ~ c(2, 4, 6),
      unnest(tibble::tibble(y = list(y[1:2], z[1])), y)$y ~ c(1, 2, 7), unnest(tibble::tibble(y = list(y, other)), y) ~ refused,
      unchop(chop(d[c("g", "y")], y), y)$y ~ c(1, 3, 5, 2, 4, 6), drop_na(tibble::tibble(y = c(y[1], NA)), y)$y ~ 1,
      fill(tibble::tibble(y = c(y[1], NA)), y)$y ~ c(1, 1),
      complete(tibble::tibble(g = c("a", "b"), k = 1:2, y = y[1:2]), g, k)$y ~ c(1, NA, NA, 2), complete(d, y, id) ~ refused,
      replace_na(c(y[1], NA), z[1]) ~ c(1, 7), gather(two, k, v, a, b)$v ~ 1:12, uncount(d[1:2, ], id)$y ~ c(1, 2, 2),
      spread(long, k, y) ~ refused, two$a ~ 1:6)
  }
})

test_that("data.table", {
  skip_if_not_installed("data.table")
  for (M in manifolds()[1:3]) {
    s <- setting(M)
    tables <- data.table::as.data.table
    s$d <- tables(s$d)
    s$two <- tables(data.frame(id = 1:6, a = s$y, b = s$z))
    # by name: `[` of a data.table looks at whose namespace it is called from
    s$.datatable.aware <- TRUE
    parent.env(s) <- verbs_of("data.table")
    follow(s,
      rbindlist(list(d, d[2:1]))$y ~ c(1:6, 2:1), rbindlist(list(d[1:2], data.table(id = 1L, g = "a", y = z[1])))$y ~ c(1, 2, 7),
      rbindlist(list(d, data.table(id = 1L)), fill = TRUE)$y ~ c(1:6, NA), rbind(d, d)$y ~ c(1:6, 1:6), d[4:2]$y ~ 4:2,
      d[g == "b"]$y ~ c(2, 4, 6), mean(rbindlist(list(d, data.table(id = 1L, g = "a", y = other)))$y) ~ refused,
      as.matrix(rbindlist(list(d, data.table(id = 1L, g = "a", y = other)))$y) ~ refused, d[, .(m = y[2]), by = g]$m ~ 3:4,
      d[, .N, by = y]$y ~ c(1:4, 6), d[, .SD[3], by = g]$y ~ 5:6, d[, lapply(.SD, rev), .SDcols = "y"]$y ~ 6:1,
      copy(d)[, w := rev(y)]$w ~ 6:1, copy(d)[2, y := z[1]]$y ~ c(1, 7, 3:6), set(copy(d), 2L, "y", z[1])$y ~ c(1, 7, 3:6), d$y ~ 1:6,
      y ~ 1:6, mf_dist(M, set(copy(d), 2L, "y", "a")$y, y) ~ refused, mf_dist(M, set(copy(d), 2L, "y", other[1])$y, y) ~ refused,
      set(copy(d), 2L, "y", NA)$y ~ c(1, NA, 3:6), merge(d, data.table(id = c(1L, 9L), w = 1:2), by = "id", all = TRUE)$y ~ c(1:6, NA),
      merge(d[3:4], data.table(y = y[c(3, 1)], w = 1:2), by = "y")$y ~ 3,
      merge(d, data.table(y = other, w = 1:3), by = "y")$y ~ integer(), setkey(copy(d), g)$y ~ c(1, 3, 5, 2, 4, 6),
      setkey(copy(d), y)[, .(id, y)][order(id)]$y ~ 1:6, unique(d, by = "y")$y ~ c(1:4, 6), unique(d)$y ~ 1:6, d[, sum(y)] ~ refused,
      d[data.table(y = z[1]), on = "y", nomatch = NULL]$y ~ integer(), d[data.table(y = y[3]), on = "y"]$y ~ 3,
      dcast(data.table(id = rep(1:3, 2), k = rep(c("a", "b"), each = 3), y = y), id ~ k, value.var = "y")$b ~ 4:6,
      melt(two, id.vars = "id")$value ~ 1:12,
      mf_dist(M, melt(copy(two)[, b := other[c(1:3, 1:3)]], id.vars = "id")$value, c(y, z)) ~ refused,
      fifelse(g == "a", y, z) ~ c(1, 8, 3, 10, 5, 12), mean(fifelse(g == "a", y, other[c(1:3, 1:3)])) ~ refused,
      fcoalesce(c(y[1], NA), z[1:2]) ~ c(1, 8), shift(y) ~ c(NA, 1:5), split(d, by = "g")$b$y ~ c(2, 4, 6),
      fsetdiff(d, d[1:2])$y ~ 3:6, two$a ~ 1:6)
    expect_error(data.table::rbindlist(list(s$d, data.frame(id = 1L, g = "a", y = 1))), "Class attribute") # data.table's own words
    # writing into one table leaves texts that another one shares alone
    once <- data.table::copy(s$d)
    data.table::setkeyv(once, "y") # texts are made
    twice <- data.table::copy(once)
    before <- as.matrix(once$y)
    data.table::set(twice, 1L, "y", s$z[1])
    expect_identical(as.matrix(once$y), before)
    expect_identical(as.matrix(twice$y)[1, ], s$whole[7, ])
    v <- unclass(s$y)
    expect_true(data.table::`%chin%`(v[1], v))
    w <- s$y
    data.table::setattr(w, "note", 1)
    expect_identical(rows_of(w, M), s$whole[1:6, , drop = FALSE])
  }
})

test_that("two tables bound by data.table are all of their people, once each, or nobody's mean", {
  skip_if_not_installed("data.table")
  M <- sphere(2)
  centre <- c(0, 0, 1)
  set.seed(3)
  x <- mf_exp(M, centre, cbind(matrix(rnorm(80, sd = 0.1), 40), 0))
  tables <- lapply(list(1:20, 21:40), function(i) data.table::data.table(id = i, y = mf_points(x[i, ], M)))
  both <- data.table::rbindlist(tables)
  expect_identical(as.matrix(both$y), x)
  expect_identical(frechet_mean(both$y)[c("mean", "n")], frechet_mean(x, M)[c("mean", "n")])
  release <- function(x, M = riemdp:::manifold_of(x), ...) {
    with_simulation(5, dp_mean(x, M, 1, centre, 0.6, mechanism = "wrapped", ...)$value)
  }
  expect_identical(release(both$y), release(x, M))
  expect_identical(release(both[, "y"]), release(x, M))
  # columns of two manifolds: an error before anything is spent, or each such record as the public centre
  mixed <- data.table::rbindlist(list(tables[[1]], data.table::data.table(id = 21:40, y = mf_points(x[21:40, ], euclidean(3)))))
  ledger <- dp_ledger(NULL, 2)
  e <- tryCatch(dp_mean(mixed$y, epsilon = 1, center = centre, radius = 0.6, ledger = ledger), error = identity)
  expect_s3_class(e, "riemdp_error")
  expect_identical(nrow(ledger_history(ledger)), 0L)
  expect_identical(release(mixed$y, invalid = "center"), release(rbind(x[1:20, ], matrix(centre, 20, 3, byrow = TRUE)), M))
})
