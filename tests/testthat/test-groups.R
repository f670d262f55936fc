# Means of groups whose members and sizes are private: the price, what a moved record tells, totality, what is shown

internal <- asNamespace("riemdp")
SPACE <- list(M = sphere(2), center = c(0, 0, 1), radius = 0.6)
points_of <- function(a) mf_exp(SPACE$M, SPACE$center, mf_from_coords(SPACE$M, SPACE$center, a))
grouped <- function(x, by, levels = c("a", "b", "c"), ..., epsilon = 2) {
  dp_mean(x, SPACE$M, epsilon, SPACE$center, SPACE$radius, by = by, levels = levels, ...)
}
some <- function(n) points_of(matrix(0.2 * sin(seq_len(2 * n)), n))

test_that("each group is an add-remove release at half of epsilon where a record is replaced, else at all of it", {
  x <- some(90)
  by <- rep(c("a", "b", "c"), 30)
  cases <- list(list(0, "laplace"), list(1e-5, "laplace"), list(1e-5, "wrapped_gaussian"), list(1e-5, "gaussian"))
  for (case in cases) for (neighbours in c("replace", "add_remove")) {
    delta <- case[[1]]
    mechanism <- case[[2]]
    ledger <- dp_ledger(NULL, 5, 1e-3, adjacency = if (neighbours == "replace") "replace-one" else "add-remove")
    g <- grouped(x, by, delta = delta, neighbours = neighbours, mechanism = mechanism, ledger = ledger,
                 options = list(form = if (delta > 0) "tail" else "plain"))
    promised <- guarantee(g)
    expect_identical(promised$adjacency, if (neighbours == "replace") "replace-one" else "add-remove")
    expect_identical(promised$epsilon, 2)
    expect_identical(promised$delta, delta)
    expect_equal(g$budget$cost[["epsilon"]], 2, tolerance = 1e-12)
    expect_identical(nrow(ledger_history(ledger)), 1L)
    each <- if (neighbours == "replace") 1 else 2
    own <- if (neighbours == "replace") delta / (1 + exp(1)) else delta
    for (name in c("a", "b", "c")) {
      r <- g[[name]]
      left <- each - r$draws$epsilon[1]
      if (r$draws$mu[2] == 0) expect_lte(r$draws$epsilon[2], left + 1e-12)
      q <- exp(-1 / r$size$scale)
      tail <- if (r$size$form == "tail") q^r$size$shift / (1 + q) else 0
      noise <- if (r$draws$mu[2] > 0) internal$gaussian_delta(r$draws$mu[2], left) else r$draws$delta[2]
      expect_lte(tail + noise, own * (1 + 1e-3))
      expect_gte(r$draws$epsilon[1] + max(r$draws$epsilon[2], r$draws$mu[2] / 10), 0.2 * each)
      expect_equal(r$size$epsilon * r$size$scale, 1, tolerance = 1e-8)
      expect_identical(guarantee(r)$adjacency, promised$adjacency)
      expect_identical(r$n, NA_real_)
    }
  }
})

test_that("a record that moves between groups loses no more than epsilon, and all of it for each group is caught", {
  draws <- if (quick()) 2500 else 20000
  space <- list(M = euclidean(1), center = 0, radius = 1)
  ask <- internal$mean_ask(space$M, NA_real_, 2, 0, 1, 0, "laplace", NULL, "proven", "ordinary", "real", 1e6, list(count = 0.5))
  # a record at the edge moves from one group to the other
  one <- list(a = c(1, 1), b = numeric())
  two <- list(a = 1, b = 1)
  loss <- function(ask) {
    events <- function(data, seed) with_simulation(seed, vapply(seq_len(draws), function(i) {
      out <- lapply(data, function(x) internal$release_size(space$M, x, length(x), ask))
      out$a$size$count >= 2 && out$b$size$count <= 0 && out$a$value * out$a$size$points >= 2 && out$b$value * out$b$size$points <= 0
    }, NA))
    k <- sum(events(one, 1))
    l <- sum(events(two, 2))
    log(stats::qbeta(1e-3, k, draws - k + 1)) - log(stats::qbeta(1 - 1e-3, l + 1, draws - l))
  }
  held <- loss(internal$size_ask(space$M, internal$group_share(ask, TRUE)))
  expect_lte(held, 2)
  expect_gt(held, 0.8)
  expect_gt(loss(internal$size_ask(space$M, internal$group_share(ask, FALSE))), 2)
})

test_that("a record's group is found from the record alone, and counted nowhere where it is none", {
  read <- internal$read_groups
  x <- data.frame(u = 1:4, v = 4:1, sex = c("f", "m", NA, "x"), site = factor(c("s", "t", "s", "t")))
  one <- read("sex", c("m", "f"), x)
  expect_identical(one$of, c(2L, 1L, NA, NA))
  expect_identical(names(one$x), c("u", "v", "site"))
  two <- read(c("sex", "site"), list(c("m", "f"), NULL), x)
  expect_identical(two$names, c("m:s", "f:s", "m:t", "f:t"))
  expect_identical(two$of, c(2L, 3L, NA, NA))
  expect_identical(read(c(2, NA, 3), c(3, 2), NULL)$of, c(2L, NA, 1L))
  expect_identical(read(c(TRUE, NA), NULL, NULL)$of, c(2L, NA))
  expect_identical(read(factor("b", c("a", "b")), NULL, NULL)$names, c("a", "b"))
  expect_error(read(c("a", "b"), NULL, NULL), "declared", class = "riemdp_error_argument")
  for (bad in list(c("a", "a"), c("a", NA), character())) expect_error(read("a", bad, NULL), class = "riemdp_error_argument")
  expect_error(read(sum, "a", NULL), class = "riemdp_error_argument")
  # none of what is in no group is read
  counts <- NULL
  with_internals(grouped(some(6), c("a", "a", "b", NA, "z", "a"), invalid = "center"),
                 noisy_count = function(count, ratio, proof) {
                   counts <<- c(counts, count)
                   internal$pay(internal$price_laplace(1, ratio[1] / ratio[2], proof))
                   count
                 })
  expect_equal(counts, c(3, 1, 0))
  ledger <- dp_ledger(NULL, 10)
  expect_error(grouped(some(2), c("a", "z"), ledger = ledger), "none of the declared", class = "riemdp_error_argument")
  expect_error(grouped(some(2), "a", ledger = ledger), class = "riemdp_error_shape")
  expect_error(grouped(some(2), c("a", "b"), mechanism = "kng", ledger = ledger), class = "riemdp_error_unsupported")
  expect_error(dp_mean(some(2), SPACE$M, 1, SPACE$center, SPACE$radius, levels = "a"), class = "riemdp_error_argument")
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("a formula gives what `by` gives, bit for bit, and a mean of all where its right side is 1", {
  x <- some(24)
  d <- data.frame(sex = rep(c("f", "m"), 12), site = rep(c("A", "B", "A"), 8), id = rep(1:12, 2))
  d$scan <- mf_points(x, SPACE$M)
  levels <- list(site = c("B", "A"), sex = c("m", "f"))
  ask <- function(x, ..., M = SPACE$M, seed = 1) with_simulation(seed, dp_mean(x, M, 2, SPACE$center, SPACE$radius, ...))
  same <- function(a, b) {
    expect_identical(a$value, b$value)
    expect_identical(as.data.frame(a), as.data.frame(b))
    expect_identical(a$draws, b$draws)
    expect_identical(guarantee(a)[1:9], guarantee(b)[1:9])
  }
  by <- ask(x, by = d[c("sex", "site")], levels = levels[2:1])
  expect_identical(names(by$groups), c("m:B", "f:B", "m:A", "f:A"))
  same(ask(scan ~ sex + site, data = d, levels = levels), by)
  same(ask(scan ~ (sex + site), data = as.list(d), levels = rev(levels)), by)
  same(with_simulation(1, dp_mean(scan ~ sex + site, data = d, levels = levels, epsilon = 2, center = SPACE$center, radius = SPACE$radius)), by)
  inter <- interaction(d$sex, d$site, sep = ":")
  same(ask(x, by = as.character(inter), levels = names(by$groups)), by)
  # points of columns, lists, and of the formula's environment
  apart <- cbind(d[c("sex", "site")], x = x[, 1], y = x[, 2], z = x[, 3])
  same(ask(cbind(x, y, z) ~ sex + site, data = apart, levels = levels), by)
  M <- SPACE$M
  same(ask(mf_points(cbind(x, y, z), M) ~ sex + site, data = apart, levels = levels), by)
  apart$list <- lapply(1:24, function(i) x[i, ])
  same(ask(list ~ sex + site, data = apart, levels = levels), by)
  sex <- d$sex
  same(ask(mf_points(x, M) ~ sex + site, data = d["site"], levels = levels), by)
  same(ask(x ~ sex, levels = c("f", "m")), ask(x, by = sex, levels = c("f", "m")))
  # a factor's levels are declared with it, as for `by`; others never come from the records
  d$sex <- factor(d$sex, c("m", "f", "none"))
  same(ask(scan ~ sex + site, data = d, levels = levels["site"]), ask(x, by = d[1:2], levels = list(NULL, c("B", "A"))))
  d$sex <- as.character(d$sex)
  # records in no group, units, neighbours
  d$sex[3] <- NA
  same(ask(scan ~ sex, data = d, levels = list(sex = "m"), invalid = "center"), ask(x, by = d$sex, levels = "m", invalid = "center"))
  d$sex[3] <- "f"
  d$sex <- rep(c("f", "m"), 12)
  unit <- rep(1:12, 2)
  a <- ask(scan ~ sex, data = d, levels = list(sex = c("f", "m")), unit = "id", neighbours = "add_remove")
  b <- ask(x, by = d$sex, levels = c("f", "m"), unit = unit, neighbours = "add_remove")
  expect_identical(a$value, b$value)
  expect_identical(guarantee(a)$unit, "id")
  expect_identical(ask(scan ~ sex, data = d, levels = list(sex = c("f", "m")), unit = unit)$value, ask(x, by = d$sex, levels = c("f", "m"), unit = unit)$value)
  # 1: the plain call, with all that it has
  expect_identical(ask(scan ~ 1, data = d)$value, ask(x)$value)
  expect_identical(ask(scan ~ 1, data = d, unit = "id", clipped = 0.2)$value, ask(x, unit = unit, clipped = 0.2)$value)
  expect_identical(ask(scan ~ 1, data = d, neighbours = "add_remove")$value, ask(x, neighbours = "add_remove")$value)
  expect_s3_class(ask(scan ~ sex, data = d[0, ], levels = list(sex = c("f", "m"))), "riemdp_groups")
  # constants are public, and named
  by_two <- 1
  apart$sex <- d$sex
  for (r in list(ask(cbind(x, y, z) * by_two ~ sex, data = apart, levels = list(sex = c("f", "m"))), ask(cbind(x, y, z) * by_two ~ 1, data = apart))) {
    expect_match(paste(guarantee(r)$assumptions, collapse = " "), "by_two")
  }
})

test_that("a mean's formula is refused from public facts, before anything is spent or read", {
  d <- data.frame(sex = rep(c("f", "m"), 3), n = 1:6)
  d$scan <- mf_points(some(6), SPACE$M)
  ledger <- dp_ledger(NULL, 10)
  refused <- function(kind, x, ..., data = d, levels = list(sex = c("f", "m")), words = NULL) {
    expect_error(dp_mean(x, SPACE$M, 1, SPACE$center, SPACE$radius, data = data, levels = levels, ledger = ledger, ...), words,
                 class = paste0("riemdp_error_", kind))
  }
  refused("argument", scan ~ sex, levels = NULL, words = "of `sex`. must be declared")
  refused("argument", scan ~ sex, levels = list(c("f", "m")), words = "as names")
  refused("argument", scan ~ sex, levels = list(sex = "f", site = "A"), words = "as names")
  refused("argument", scan ~ sex + n, levels = c("f", "m"), words = "as names")
  refused("argument", scan ~ sex + n, words = "of `n`. must be declared")
  refused("argument", scan ~ sex + sex, words = "twice")
  refused("argument", scan ~ 1, words = "as names")
  refused("argument", scan ~ 1, levels = NULL, suppress = 5, words = "for groups")
  refused("argument", scan ~ nobody, words = "could not be found", levels = list(nobody = 1))
  refused("argument", scan ~ sex, by = d$sex, words = "one of them")
  refused("argument", ~sex, words = "left side")
  refused("argument", scan ~ sex, data = 3, words = "data frame")
  refused("argument", scan ~ sex, unit = "sex", words = "could not be found")
  for (right in list(quote(.), quote(factor(sex)), quote(sex * n), quote(sex - 1), quote(0), quote(sex:n), quote(sex + 2))) {
    refused("unsupported", eval(call("~", quote(scan), right)), words = "joined by")
  }
  refused("unsupported", scale(n) ~ sex, words = "mix rows")
  refused("unsupported", scan ~ sex, data = chunks(d, 3), words = "in memory")
  one <- "f"
  refused("shape", scan ~ one, levels = list(one = "f"), words = "an element for each record")
  long <- rep("f", 7)
  refused("shape", scan ~ long, levels = list(long = "f"))
  refused("argument", scan ~ scan, levels = list(scan = 1), words = "`scan` must be a vector")
  expect_error(dp_mean(some(6), SPACE$M, 1, SPACE$center, SPACE$radius, data = d), "for a formula", class = "riemdp_error_argument")
  expect_error(dp_mean(cbind(n, n) ~ 1, data = d, epsilon = 1, center = c(0, 0), radius = 1), "`M` must be given", class = "riemdp_error_manifold")
  # functions of the right side are never called, nor is what a variable holds
  called <- 0
  sex <- function(...) called <<- called + 1
  refused("unsupported", scan ~ sex(n))
  expect_identical(called, 0)
  expect_identical(nrow(ledger_history(ledger)), 0L)
})

test_that("empty groups, one level, all in one group: each is served, shown and drawn", {
  x <- some(40)
  for (by in list(rep("a", 40), rep(c("a", "b"), 20), rep("z", 40))) {
    g <- grouped(x, by, invalid = "center")
    table <- as.data.frame(g)
    expect_identical(table$group, c("a", "b", "c"))
    expect_true(all(is.finite(table$size)) && all(table$lower <= table$upper) && all(table$region > 0))
    expect_output(print(g), "3 groups")
    expect_output(explain(g), "section 15")
    expect_identical(unique(tidy(g)$group), c("a", "b", "c"))
    pdf(NULL)
    plot(g)
    dev.off()
  }
  expect_identical(nrow(as.data.frame(grouped(x, rep("a", 40), "a"))), 1L)
  expect_identical(nrow(as.data.frame(grouped(x[0, ], character()))), 3L)
  hidden <- grouped(x, rep("a", 40), suppress = 1e6)
  expect_identical(hidden$suppressed, c("a", "b", "c"))
  expect_identical(nrow(as.data.frame(hidden)), 0L)
  expect_output(print(hidden), "not shown")
  expect_error(hidden[["a"]], "isn't shown", class = "riemdp_error_argument")
  expect_error(hidden[["q"]], class = "riemdp_error_argument")
  some_shown <- grouped(x, rep("a", 40), suppress = 25, epsilon = 20)
  expect_identical(names(some_shown$groups), "a")
  expect_length(some_shown$value, 1)
})

test_that("the distance of two means has an interval that holds it, from both regions", {
  a <- points_of(matrix(c(0.3, 0), 60, 2, byrow = TRUE))
  b <- points_of(matrix(c(-0.1, 0.2), 60, 2, byrow = TRUE))
  truth <- mf_dist(SPACE$M, a[1, ], b[1, ])
  count <- if (quick()) 60 else 300
  held <- vapply(seq_len(count), function(i) {
    d <- mean_difference(grouped(rbind(a, b), rep(c("a", "b"), each = 60)), "a", "b", level = 0.8)
    d$lower <= truth && truth <= d$upper
  }, NA)
  expect_gt(stats::pbinom(sum(held), count, 0.8), 1e-5)
  g <- grouped(rbind(a, b), rep(c("a", "b"), each = 60))
  d <- mean_difference(g, "a", "b", level = 0.9)
  radius <- function(name) confint(g[[name]], level = 0.95)$radius
  expect_equal(d$upper - d$distance, radius("a") + radius("b"))
  expect_equal(d$distance, mf_dist(SPACE$M, g[["a"]]$value, g[["b"]]$value))
  expect_equal(mf_norm(SPACE$M, d$from, d$vector), d$distance)
  expect_output(print(d), "distance")
  one <- dp_mean(a, SPACE$M, 1, SPACE$center, SPACE$radius)
  expect_equal(mean_difference(one, g[["b"]])$distance, mf_dist(SPACE$M, one$value, g[["b"]]$value))
  expect_error(mean_difference(one, dp_mean(0, euclidean(1), 1, 0, 1)), class = "riemdp_error_manifold")
  expect_error(mean_difference(one, 3), class = "riemdp_error_argument")
  expect_error(mean_difference(g, "a", "q"), class = "riemdp_error_argument")
})

test_that("persons in private groups: a person has one group, of all their rows, and one point", {
  M <- euclidean(2)
  set.seed(31)
  id <- rep(1:60, 1 + (1:60) %% 4)
  group <- ifelse(id %% 2 == 0, "a", "b")
  x <- cbind(ifelse(group == "a", 1, -1), 0) + rnorm(2 * length(id), sd = 0.1)
  ask <- function(x, id, group, ...) {
    dp_mean(x, M, epsilon = 1e5, center = c(0, 0), radius = 2, unit = id, by = group, levels = c("a", "b"), ...)
  }
  g <- ask(x, id, group)
  expect_equal(as.data.frame(g)$size, c(30, 30))
  own <- rowsum(x, id) / as.vector(table(id))
  expect_equal(g[["a"]]$value, colMeans(own[seq(2, 60, 2), ]), tolerance = 1e-3)
  expect_identical(guarantee(g)$unit, "unit")
  expect_output(print(g), "protects one unit with all its rows, also which group it is in")
  # one row a unit: the same as without
  one <- with_simulation(3, ask(x[1:60, ], 1:60, group[1:60]))
  expect_equal(one[["b"]]$value, with_simulation(3, dp_mean(x[1:60, ], M, 1e5, c(0, 0), 2, by = group[1:60], levels = c("a", "b")))[["b"]]$value)
  # a person with rows in two groups is in none, whatever the others are; rows without a group don't count against one
  mixed <- group
  mixed[id == 6][1] <- "b"
  expect_error(ask(x, id, mixed), "several groups", class = "riemdp_error_argument")
  expect_equal(as.data.frame(ask(x, id, mixed, invalid = "center"))$size, c(29, 30))
  mixed[id == 6][1] <- NA
  expect_equal(as.data.frame(ask(x, id, mixed, invalid = "center"))$size, c(30, 30))
  expect_identical(riemdp:::unit_groups(c(1L, 1L, 2L, 1L, NA, NA), list(of = c(1L, 1L, 2L, 2L, 3L, NA), count = 4L)), c(1L, NA, NA, NA))
  expect_output(print(g), "about the mean of the units' means")
  expect_output(explain(g), "A record is here a unit")
  ledger <- dp_ledger(NULL, 2e5)
  ask(x, id, group, ledger = ledger)
  expect_match(ledger_history(ledger)$what, "unit") # as of any release about units
  expect_error(ask(x, id[-1], group), class = "riemdp_error_shape")
  expect_error(ask(x, id, group[-1]), class = "riemdp_error_shape")
  # a person of 50 rows who is replaced by one in the other group moves each size by one
  many <- c(rep(0, 50), id)
  moved <- function(to) ask(rbind(matrix(c(1, 0), 50, 2, byrow = TRUE), x), many, c(rep(to, 50), group))
  expect_equal(as.data.frame(moved("a"))$size, c(31, 30))
  expect_equal(as.data.frame(moved("b"))$size, c(30, 31))
})
