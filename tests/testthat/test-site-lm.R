# Linear regression of rows that stay at sites: what a row moves the sum by, what is released of it, what a policy lets through.

skip_if_not_installed("jsonlite")

internal <- asNamespace("riemdp")
TYPES <- c(x1 = "number", x2 = "number", sex = "text", y = "number")
BOUNDS <- list(x1 = c(0, 10), x2 = c(-3, 3), sex = c("f", "m"), y = c(center = 4, scale = 2))
rows <- with_simulation(1, {
  d <- data.frame(x1 = stats::runif(600, 0, 10), x2 = stats::runif(600, -3, 3), sex = sample(c("f", "m"), 600, TRUE))
  d$y <- 1 + 0.5 * d$x1 + (d$sex == "m") - 0.3 * d$x2 + stats::rnorm(600) / 2
  d
})
budget <- function(epsilon = 1e9) dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp")
host_of <- function(name, x, ..., least_noise = 1e-6, columns = TYPES, ledger = budget()) {
  site_host(site_policy(name, least_noise = least_noise, columns = columns, ...), x, ledger)
}
remotes <- function(hosts, ...) do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(...)))
hosts_of <- function(...) list(host_of("north", rows[1:200, ], ...), host_of("mid", rows[201:350, ], ...), host_of("south", rows[351:600, ], ...))
spent <- function(host) summary(host$ledger)$spent[1]
model_of <- function(formula, bounds = BOUNDS) {
  spec <- internal$linear_terms(formula, names(bounds))
  internal$site_model(spec, internal$linear_bounds(spec, bounds))
}
request_of <- function(formula, bounds = BOUNDS, radius = 2.5, weight = 0.5, ...) {
  list(vector = "products", model = model_of(formula, bounds), radius = radius, weight = weight, ...)
}
reply <- function(host, request) {
  text <- wire_write("request", id = internal$random_id(), policy = host$hash, statistic = "noisy", fields = lapply(request, wire_value))
  m <- wire_read(site_reply(host, text))
  if (m$type == "refusal") m$reason else m$value
}

test_that("a site's sum is that of the products of features and responses", {
  for (f in list(y ~ x1 * sex + x2, y ~ 1, y ~ sex, cbind(y, x2) ~ x1)) {
    bounds <- BOUNDS
    if (length(f[[2]]) > 1) bounds$x2 <- c(center = 0, scale = 1.7)
    bounds <- bounds[all.vars(f)]
    q <- request_of(f, bounds)
    model <- internal$read_model(q$model)
    r <- internal$linear_records(model$columns, model$bounds, internal$linear_values(model$spec, rows, emptyenv(), model$wants), TRUE, 2.5)
    v <- internal$vector_sum(q, rows)
    expect_length(v, internal$vector_dimension(q))
    d <- nrow(r$x) - 1
    s <- internal$split_products(v, list(n = 600, d = d), 0.5)
    expect_equal(s$xx, tcrossprod(r$x), tolerance = 1e-5)
    expect_equal(s$xy, tcrossprod(r$x, r$y), tolerance = 1e-4)
    # in whatever order, and chunk by chunk, to the bit
    expect_identical(internal$vector_sum(q, rows[600:1, ]), v)
    parts <- internal$vector_sum(q, rows[1:250, ]) + internal$vector_sum(q, rows[251:600, ])
    expect_equal(parts, v, tolerance = 1e-14)
  }
})

test_that("a replaced row moves it by no more than is said, and that is attained", {
  vectors <- function(q, x) matrix(vapply(seq_len(nrow(x)), function(i) internal$vector_sum(q, x[i, , drop = FALSE]), numeric(internal$vector_dimension(q))),
                                   ncol = nrow(x))
  far <- function(v) max(stats::dist(t(v)))
  for (weight in c(0.02, 0.3, 1, 8)) {
    q <- request_of(y ~ x1 + x2, BOUNDS[c("x1", "x2", "y")], weight = weight)
    set.seed(5)
    corners <- expand.grid(x1 = c(0, 5, 10), x2 = c(-3, 0, 3), y = c(-1e3, 4, 1e3))
    odd <- data.frame(x1 = c(NA, Inf, -1e9, 3), x2 = c(1, 1, 1e9, NaN), y = c(1, 1, -Inf, 1))
    x <- rbind(corners, odd, data.frame(x1 = stats::runif(20, -5, 15), x2 = stats::runif(20, -5, 5), y = stats::rnorm(20) * 10))
    v <- vectors(q, x)
    expect_lte(far(v), internal$vector_moved(q))
    expect_lte(max(sqrt(colSums(v^2))), internal$vector_length(q))
  }
  # responses alone: two opposite ones
  q <- request_of(y ~ 1, BOUNDS["y"], weight = 0.7)
  expect_equal(far(vectors(q, data.frame(y = c(-99, 99)))), internal$vector_moved(q), tolerance = 1e-4)
  # a large weight: the same features, opposite responses; a small one: features at right angles
  q <- request_of(y ~ x1 + x2, BOUNDS[c("x1", "x2", "y")], weight = 50)
  expect_equal(far(vectors(q, data.frame(x1 = 10, x2 = 3, y = c(-99, 99)))), internal$vector_moved(q), tolerance = 1e-4)
  q <- request_of(y ~ x1, BOUNDS[c("x1", "y")], weight = 1e-6)
  expect_equal(far(vectors(q, data.frame(x1 = c(0, 10), y = 4))), internal$vector_moved(q), tolerance = 1e-4)
  # between: at products of features that three columns allow
  bounds <- c(BOUNDS[c("x1", "x2", "y")], list(x3 = c(0, 1)))
  q <- request_of(y ~ x1 + x2 + x3, bounds, weight = 0.8) # half of (.8 2.5)^2 is 2
  two <- data.frame(x1 = 10, x2 = 3, x3 = c(0, 1), y = c(-99, 99)) # features' product 1 + 1 + 1 - 1 = 2
  expect_equal(far(vectors(q, two)), internal$vector_moved(q), tolerance = 1e-4)
})

test_that("a fit of sites is that of the rows in memory but for noise, and each site pays for the whole", {
  f <- y ~ x1 * sex + x2
  hosts <- hosts_of()
  r <- dp_lm(f, remotes(hosts, shares = TRUE), 1000, 1e-6, BOUNDS)
  plain <- stats::lm(f, rows)
  expect_lt(max(abs(coef(r) - coef(plain)) / sqrt(diag(vcov(plain)))), 3)
  expect_identical(names(coef(r)), names(coef(plain)))
  expect_identical(r$n, 600)
  expect_identical(r$method, "adassp")
  for (host in hosts) expect_equal(spent(host), guarantee(r)$mu^2, tolerance = 1e-9)
  for (host in hosts) expect_match(guarantee(r)$assumptions, paste0(host$policy$site, ".*", host$hash), all = FALSE)
  expect_match(guarantee(r)$assumptions, "adds its share of the noise", all = FALSE)
  expect_identical(guarantee(r)$numerics, "real-valued")
  q <- request_of(f, radius = r$details$reach, weight = r$details$weight)
  mu <- internal$gaussian_mu(1, 1e-6)
  for (colluding in 0:2) {
    hosts <- hosts_of()
    one <- dp_lm(f, remotes(hosts, shares = TRUE, colluding = colluding), 1, 1e-6, BOUNDS)
    q$weight <- one$details$weight
    least <- internal$vector_moved(q) / mu
    expect_equal(unname(one$details$sd), least * sqrt(3 / (3 - colluding)) * c(1, 1 / one$details$weight), tolerance = 1e-6)
    expect_equal(guarantee(one)$mu, mu, tolerance = 1e-6)
    expect_equal(one$draws$mu, guarantee(one)$mu, tolerance = 1e-6)
    expect_equal(spent(hosts[[1]]), mu^2 * (3 - colluding), tolerance = 1e-6)
    expect_identical(one$details[c("sites", "colluding")], list(sites = 3L, colluding = colluding))
    expect_identical(c(one$epsilon, one$delta), c(1, 1e-6))
  }
  expect_output(explain(one), "shares that\\s+3 sites draw")
  expect_output(explain(one), "guess isn't checked at sites")
  expect_output(print(one), "600 records")
  # the ridge lifts the released least eigenvalue to the bound on the noise's norm
  e <- eigen(one$details$moments$xx, symmetric = TRUE)
  value <- pmax(0, e$values) + one$details$ridge
  expect_equal(min(value), one$details$lift, tolerance = 1e-9)
  expect_equal(one$details$lift, one$details$sd[["xx"]] * sqrt(5 * log(2 * 25 / 0.05)), tolerance = 1e-9)
  b <- e$vectors %*% (crossprod(e$vectors, one$details$moments$xy) / value)
  expect_equal(as.vector(one$scaled_coefficients), as.vector(b), tolerance = 1e-8)
  # intervals of the noise, as of the same method in memory
  expect_identical(dim(confint(one)), c(5L, 2L))
  expect_true(all(is.finite(confint(one))))
})

test_that("its noise has the size that is stated, in squares and in products with responses", {
  f <- y ~ x1
  hosts <- lapply(1:2, function(i) host_of(letters[i], data.frame(x1 = rep(c(0, 10), 10), y = 4), columns = c(x1 = "number", y = "number"),
                                           ledger = budget(1e9)))
  x <- remotes(hosts, shares = TRUE, colluding = 1)
  count <- if (quick()) 150 else 600
  all <- with_simulation(3, lapply(seq_len(count), function(i) dp_lm(f, x, 1, 1e-6, BOUNDS[c("x1", "y")])))
  sd <- all[[1]]$details$sd
  z <- vapply(all, function(r) {
    m <- r$details$moments
    c((m$xx[1, 2] - 0) * sqrt(2) / sd[["xx"]], (m$xx[2, 2] - 40) / sd[["xx"]], m$xy / sd[["xy"]])
  }, numeric(4))
  # 5 standard errors of each of 4, and of the mean of all: false alarms in 4e5
  for (i in 1:4) expect_lt(abs(stats::sd(z[i, ]) - 1), 5 / sqrt(2 * count))
  expect_lt(abs(stats::sd(z) - 1), 5 / sqrt(8 * count))
  expect_lt(abs(mean(z)), 5 / sqrt(4 * count))
  expect_lt(max(abs(stats::cor(t(z))[upper.tri(diag(4))])), 5.2 / sqrt(count))
})

test_that("what a record holds changes numbers and nothing else", {
  q <- request_of(y ~ x1 * sex + x2, sd = 1000)
  ledger <- budget()
  clean <- host_of("north", rows[1:50, ], ledger = ledger)
  expect_length(reply(clean, q), internal$vector_dimension(q))
  odd <- list(x1 = list("seven", NA, Inf, "", "\U1F600", 1e308, "0x10"), x2 = list(NaN, -Inf, "NA", TRUE), sex = list("other", NA, 7, "F", "\xe9"),
              y = list(NA, "high", 1e308, -1e308, "1e400"))
  for (name in names(odd)) {
    for (value in odd[[name]]) {
      x <- rows[1:50, ]
      x[[name]] <- as.character(x[[name]])
      x[[name]][7] <- as.character(value)
      host <- host_of("north", x)
      expect_identical(host$hash, clean$hash)
      expect_identical(host$n, 50)
      expect_length(reply(host, q), internal$vector_dimension(q))
      expect_equal(spent(host), spent(clean), tolerance = 1e-12)
      # the others' share is what it was
      off <- internal$vector_sum(q, host$x) - internal$vector_sum(q, x[-7, ])
      expect_lte(sqrt(sum(off^2)), internal$vector_length(q))
    }
  }
  f <- rows[1:50, ]
  f$sex <- factor(f$sex)
  expect_identical(internal$vector_sum(q, f), internal$vector_sum(q, rows[1:50, ]))
})

test_that("what a policy doesn't have is refused before anything is paid", {
  ledger <- budget()
  host <- host_of("north", rows, ledger = ledger, columns = TYPES[c("x1", "sex", "y")], least_noise = 0.5)
  ok <- request_of(y ~ x1 + sex, BOUNDS[c("x1", "sex", "y")])
  ok$sd <- 0.5 * internal$vector_moved(ok) * (1 + 1e-9)
  change <- function(...) utils::modifyList(ok, list(...))
  expect_identical(reply(host, change(sd = 0.5 * internal$vector_moved(ok) * (1 - 1e-9))), "noise")
  expect_identical(reply(host, c(request_of(y ~ x1 + x2, BOUNDS[c("x1", "x2", "y")]), sd = 1000)), "columns")
  # text isn't taken for numbers, nor numbers for text
  turned <- ok
  turned$model$x[[1]] <- list("1", "2")
  expect_identical(reply(host, turned), "columns")
  turned <- ok
  turned$model$responses <- list("sex")
  expect_identical(reply(host, turned), "columns")
  for (bad in list(list(M = euclidean(2)), list(center = 1), list(at = 1), list(weight = NULL), list(weight = 2^31), list(radius = 2^-31),
                   list(model = NULL))) {
    expect_identical(reply(host, do.call(change, bad)), "message")
  }
  with_field <- function(m, name, value) {
    m[[name]] <- value
    m
  }
  spoil <- list(
    function(m) m[-1], function(m) c(m, more = 1), function(m) with_field(m, "parts", list(c(1, 1))), function(m) with_field(m, "parts", list(3)),
    function(m) with_field(m, "parts", list(1.5)), function(m) with_field(m, "x", list(c(1, 0), list("a", "b"))),
    function(m) with_field(m, "x", list(c(0, 1), list("a", "a"))), function(m) with_field(m, "x", list(c(0, 1))),
    function(m) with_field(m, "y", matrix(c(0, -1, 1), 3)), function(m) with_field(m, "y", c(0, 1, 1)), function(m) with_field(m, "predictors",
        list("x1", "x1")),
    function(m) with_field(m, "responses", list()), function(m) with_field(m, "x", list(c(0, 1), as.list(paste0("l", 1:400)))),
    function(m) with_field(m, "parts", rep(list(c(1, 2)), 251)), function(m) with_field(m, "x", list(c(-1e308, 1e308), list("a", "b")))
  )
  for (f in spoil) {
    bad <- ok
    bad$model <- f(ok$model)
    expect_identical(reply(host, bad), "message")
  }
  # names are names: no call, no other variable
  for (name in c("x1 + 1", "system('id')", "T", "pi", ".Random.seed")) {
    bad <- ok
    bad$model$predictors[[1]] <- name
    expect_identical(reply(host, bad), "columns")
  }
  expect_identical(spent(host), 0)
  # a policy for tables gives no sums of points, and the other way round
  M <- euclidean(2)
  expect_identical(reply(host, list(M = M, center = c(0, 0), radius = 1, sd = 1000)), "statistic")
  points <- site_host(site_policy("p", M, 1, 0.1, sums = "mean"), matrix(0, 20, 2), budget())
  expect_identical(reply(points, ok), "statistic")
  expect_length(reply(host, ok), internal$vector_dimension(ok))
  expect_equal(spent(host), 4, tolerance = 1e-6)
  # the budget of a site
  poor <- host_of("south", rows, ledger = budget(0.5))
  rich <- host_of("north", rows)
  e <- expect_error(dp_lm(y ~ x1, remotes(list(rich, poor), shares = TRUE), 5, 1e-6, BOUNDS[c("x1", "y")]), class = "riemdp_error_budget")
  expect_match(conditionMessage(e), "Nothing was asked")
  expect_identical(c(spent(rich), spent(poor)), c(0, 0))
})

test_that("what isn't to be had at sites is said by public facts", {
  x <- remotes(hosts_of(), shares = TRUE)
  fit <- function(formula = y ~ x1, bounds = BOUNDS[all.vars(formula)], data = x, delta = 1e-6, ...) dp_lm(formula, data, 1, delta, bounds, ...)
  unsupported <- function(...) expect_error(fit(...), class = "riemdp_error_unsupported")
  unsupported(y ~ log(x1), list(y = BOUNDS$y, "log(x1)" = c(0, 1)))
  unsupported(y ~ bs(x1, 5), BOUNDS[c("x1", "y")])
  unsupported(log(y) ~ x1, list("log(y)" = c(0, 1), x1 = BOUNDS$x1))
  unsupported(delta = 0)
  unsupported(method = "objective")
  unsupported(unit = "sex")
  unsupported(weights = ~ x1)
  unsupported(neighbours = "add_remove")
  unsupported(data = remotes(hosts_of()))
  unsupported(bounds = "sample")
  expect_error(fit(y ~ nothing, list(y = BOUNDS$y, nothing = c(0, 1))), "doesn't have these columns", class = "riemdp_error_refused")
  expect_error(fit(y ~ x1, BOUNDS), "no variable of the formula")
  # `.` stands for what `bounds` names
  expect_identical(names(coef(fit(y ~ ., BOUNDS))), c("(Intercept)", "x1", "x2", "sexm"))
  expect_identical(names(coef(fit(y ~ . - x2, BOUNDS))), c("(Intercept)", "x1", "sexm"))
})

test_that("a policy of a table is a file, and a site's directory holds the table", {
  policy <- site_policy("north", least_noise = 0.5, columns = TYPES, least_records = 50)
  expect_identical(policy$sums, c("products", "residuals"))
  expect_identical(names(policy$columns), sort(names(TYPES)))
  dir <- withr::local_tempdir()
  write_site_policy(policy, file.path(dir, "policy.json"))
  expect_identical(read_site_policy(file.path(dir, "policy.json")), policy)
  expect_output(print(policy), "rows of sex \\(text\\), x1 \\(number\\)")
  argument <- function(...) expect_error(site_policy("north", ..., least_noise = 1), class = "riemdp_error_argument")
  argument(columns = c("number", "text"))
  argument(columns = c(a = "points"))
  argument(columns = stats::setNames(c("number", "text"), c("a", "a")))
  argument(columns = TYPES, spaces = euclidean(2))
  argument(columns = TYPES, radius = 1)
  argument(columns = TYPES, sums = "mean")
  argument(columns = stats::setNames("number", "a\"b"))
  argument()
  argument(spaces = euclidean(2), radius = 1, sums = "products")
  expect_error(site_policy("north", least_noise = 1, columns = TYPES, trust = "curator"), class = "riemdp_error_unsupported")
  expect_error(host_of("north", rows[c("x1", "y")]), class = "riemdp_error_argument")
  expect_error(host_of("north", as.matrix(rows[c("x1", "x2", "y")]), columns = TYPES[c("x1", "y")]), class = "riemdp_error_argument")
  expect_identical(names(host_of("north", cbind(rows, secret = 1))$x), sort(names(TYPES)))
  skip_if_not_installed("RSQLite")
  dp_ledger(file.path(dir, "ledger.sqlite"), 2, 1e-6, rule = "gdp", create = TRUE)
  utils::write.csv(rows, file.path(dir, "records.csv"), row.names = FALSE)
  host <- site_open(dir)
  expect_identical(host$n, 600)
  q <- request_of(y ~ x1 * sex + x2)
  # numbers were written with 15 digits
  expect_equal(internal$vector_sum(q, host$x), internal$vector_sum(q, rows), tolerance = 1e-6)
})

test_that("a secure sum has one curator's noise, and does without a site that falls silent", {
  skip_if_not_installed("sodium")
  files <- replicate(5, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:5])
  hosts <- lapply(1:5, function(i) {
    site_host(site_policy(letters[i], least_noise = 1e-4, columns = TYPES, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]),
              rows[(i - 1) * 120 + 1:120, ], budget(), identity = files[i])
  })
  lost <- integer()
  send <- function(i) function(text) if (i %in% lost && grepl("masked", text)) stop("lost") else site_reply(hosts[[i]], text)
  x <- function(...) do.call(sites, c(lapply(1:5, function(i) site_remote(send(i))), list(secure = TRUE, colluding = 0, ...)))
  f <- y ~ x1 + sex
  bounds <- BOUNDS[all.vars(f)]
  r <- dp_lm(f, x(), 1, 1e-6, bounds)
  q <- request_of(f, bounds, r$details$reach, r$details$weight)
  mu <- internal$gaussian_mu(1, 1e-6)
  expect_equal(r$details$sd[["xx"]], internal$vector_moved(q) / mu, tolerance = 2e-3)
  for (host in hosts) expect_equal(spent(host), mu^2, tolerance = 1e-3)
  expect_identical(r$details$threshold, 5L)
  expect_output(explain(r), "added under masks")
  expect_match(guarantee(r)$assumptions, "computational privacy", all = FALSE)
  # sites that were shown another model, or another weight, don't sign the same
  digest <- function(name = "session", value = strrep("0", 32)) {
    q[[name]] <- value
    internal$secure_digest(q)
  }
  expect_false(digest("weight", 2) == digest())
  expect_false(digest("model", model_of(y ~ x1, BOUNDS[c("x1", "y")])) == digest())
  x2 <- x(dropouts = 1)
  lost <- 3
  s <- dp_lm(f, x2, 1000, 1e-6, bounds)
  expect_identical(s$n, 480)
  expect_identical(s$details$moments$xx[1, 1], 480)
  expect_output(explain(s), "4 of 5 sites: the others didn't answer")
  expect_equal(unname(coef(s)), unname(coef(stats::lm(f, rows[-(241:360), ]))), tolerance = 0.05)
})
