# What whoever asks could do to sites: each test is an attack that succeeded once and has to fail.

skip_if_not_installed("jsonlite")

budget <- function(epsilon = 1e9) dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp")
asking <- function(host) {
  function(kernel, ...) {
    text <- wire_write("request", id = riemdp:::random_id(), policy = host$hash, statistic = kernel, fields = lapply(list(...), wire_value))
    m <- wire_read(site_reply(host, text))
    if (m$type == "refusal") stop(m$reason)
    m$value
  }
}
single <- function(x, i) if (length(dim(x)) == 3) x[, , i, drop = FALSE] else if (is.complex(x)) x[, i, drop = FALSE] else x[i, , drop = FALSE]
# longest vector of one record in a site's sum, over the radius that is paid for
longest <- function(M, x, count, centre, r, vector = "mean") {
  problem <- if (vector == "gradient") problem_huber(M, 1)
  max(vapply(seq_len(count), function(i) {
    s <- tryCatch(vector_sum(list(M = M, center = centre, radius = r, vector = vector, problem = problem), single(x, i)), riemdp_error = function(e) 0)
    sqrt(sum((s / r)^2))
  }, 0))
}

test_that("no record moves a sum by more than is paid for, whatever the centre is", {
  set.seed(1)
  for (M in list(sphere(2), rotations(3), grassmann(4, 2), kendall(5), spd(2, "bures"), simplex(3), correlation(3, "log-cholesky"), hyperbolic(2))) {
    x <- mf_random(M, 8)
    p <- .Call(riemdp:::riemdp_stored, M, mf_random(M, 1))
    for (centre in list(1.5 * p, 1e6 * p, 1e-6 * p, p + 100 * rnorm(length(p)), 1e150 * rnorm(length(p)))) expect_lte(longest(M, x, 8, centre, 0.3), 1 + 1e-9)
  }
  # points that are points, far out
  M <- spd(2, "bures")
  expect_lte(longest(M, mf_random(M, 8), 8, c(1e100, 0, 0, 1e-100), 1), 1 + 1e-9)
  for (case in list(list(hermitian_spd(2), 30), list(spd(2), 25), list(hyperbolic(2, "ball"), 30))) {
    M <- case[[1]]
    d <- mf_facts(M)$dimension
    for (i in 1:10) {
      u <- rnorm(d)
      origin <- mf_random(M, 1, sd = 1e-9)
      p <- tryCatch(mf_exp(M, origin, mf_from_coords(M, origin, case[[2]] * u / sqrt(sum(u^2)))), riemdp_error = function(e) NULL)
      if (is.null(p) || !isTRUE(tryCatch(mf_is_point(M, p), riemdp_error = function(e) FALSE))) next
      for (vector in c("mean", "gradient")) expect_lte(longest(M, mf_random(M, 8), 8, .Call(riemdp:::riemdp_stored, M, p), 0.3, vector), 1 + 1e-9)
    }
  }
})

test_that("no message gets the sum of a site as it is", {
  set.seed(2)
  x <- mf_random(sphere(2), 60)
  host <- site_host(site_policy("n", sphere(2), 1, 0.5), x, budget())
  ask <- asking(host)
  centre <- c(0, 0, 1e8)
  first <- tryCatch(ask("noisy", M = sphere(2), center = centre, radius = 0.5, sd = 0.5), error = function(e) NULL)
  # two answers that agree to six digits are about records and not about noise
  second <- tryCatch(ask("noisy", M = sphere(2), center = centre, radius = 0.5, sd = 0.5), error = function(e) NULL)
  expect_false(!is.null(first) && isTRUE(all.equal(first, second, tolerance = 1e-6)))
})

test_that("no record moves a sum by more than is paid for, however small the ball is", {
  x <- matrix(1, 20, 15)
  host <- site_host(site_policy("n", euclidean(15), 1, 0.5), x, budget())
  for (k in c(1, 2, 3, 10, 100)) {
    said <- tryCatch(asking(host)("noisy", M = euclidean(15), center = rep(0, 15), radius = k * 5e-324, sd = 1), error = conditionMessage)
    expect_identical(said, "ball")
    q <- list(kernel = "noisy", private = TRUE, M = euclidean(15), center = rep(0, 15), radius = k * 5e-324, sd = 1)
    expect_error(site_answer(q, x, ledger = budget()), class = "riemdp_error_refused")
  }
  for (r in c(1e-150, 1e-140, 1e-100)) expect_lte(longest(euclidean(15), x, 1, rep(0, 15), r), 1)
})

# The sum lies in [1, 2) or in [1/2, 1): an answer in (-1, 0) is a multiple of 2^-52 in the first case, as all that Z can be there is.
test_that("the digits of an answer with noise don't tell sums apart", {
  M <- euclidean(1)
  ask <- function(x) {
    host <- site_host(site_policy("n", M, 1, 0.5, least_records = 2), matrix(x), budget())
    y <- with_simulation(3, replicate(600, asking(host)("noisy", M = M, center = 0, radius = 1, sd = 2)))
    sum(y > -1 & y < 0 & (y * 2^53) %% 2 == 1)
  }
  expect_identical(ask(c(0.3 + 2^-54, 0.95)) > 0, ask(c(0.3 + 2^-54, 0.35)) > 0)
})

secure_hosts <- function(k, x, M, least_noise = 0.5) {
  files <- replicate(k, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), paste0("s", seq_len(k)))
  lapply(seq_len(k), function(i) {
    site_host(site_policy(names(keys)[i], M, 2, least_noise, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]), x[[i]], budget(),
              identity = files[i])
  })
}

# Steps so small that a site's sum is a quarter of the modulus: beyond that it would be taken for 0.
test_that("a secure sum moves by what is paid for, whatever the step is", {
  skip_if_not_installed("sodium")
  M <- euclidean(1)
  n <- 40000
  r <- 1
  step <- (n - 1) * r / 2^46
  shift <- vector_shift(list(M = M, radius = r), step)
  query <- list(M = M, center = -1e3, radius = r, step = step, ratio = c(ceiling(((shift * 0.5001)^2 + 9) / 3), 1), sites = 3, threshold = 3, colluding = 0)
  sum_with <- function(record) {
    hosts <- secure_hosts(3, list(matrix(c(record, rep(0.5, n - 1))), matrix(0, 20), matrix(0, 20)), M)
    x <- do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(secure = TRUE, colluding = 0)))
    tryCatch(secure_sum(x, query)$sum * step, riemdp_error = function(e) 0)
  }
  expect_lt(abs(sum_with(-1e4) - sum_with(0.5)), 2 * r + 12 * r)
})

# Five sites, three of them enough. Signatures of survivors are collected in sessions under one number, one after the other; in the last one each site is
# shown another list. With three shares of site 1's seed and three of the keys of its two partners its sum is bare but for a third of the noise.
test_that("signatures of one session are worth nothing in another under the same number", {
  skip_if_not_installed("sodium")
  M <- euclidean(1)
  hosts <- secure_hosts(5, lapply(1:5, function(i) matrix(0.1 * i, 20)), M)
  asks <- lapply(hosts, asking)
  session <- strrep("5", 32)
  step <- 2^-12
  query <- list(M = M, center = 0, radius = 1, step = step, ratio = as_ratio((vector_shift(list(M = M, radius = 1), step)^2 + 9) / 3, ceiling), sites = 5,
                threshold = 3, colluding = 0)
  all <- 1:5
  join <- function(session) lapply(all, function(i) do.call(asks[[i]], c(list("join", session = session, index = i), query)))
  run <- function(U, A) {
    keys <- join(session)
    sealed <- lapply(all, function(i) asks[[i]]("share", session = session, keys = keys))
    y <- lapply(all, function(i) {
      asks[[i]]("masked", session = session, sealed = lapply(all, function(j) if (j != i && j %in% U[[i]]) sealed[[j]][[i]] else ""))
    })
    signs <- lapply(all, function(i) asks[[i]]("agree", session = session, alive = as.double(A[[i]])))
    list(keys = keys, y = y, signs = signs)
  }
  named <- function(u, a) paste(c(u, "|", a), collapse = " ")
  bank <- list()
  keep <- function(U, A, signs) for (i in all) bank[[named(U[[i]], A[[i]])]][[as.character(i)]] <<- signs[[i]]
  forget <- function() for (n in 1:100) join(riemdp:::random_id())
  a1 <- c(1, 4, 5)
  a2 <- c(1, 2, 4, 5)
  a3 <- c(1, 3, 4, 5)
  whole <- rep(list(all), 5)
  before <- list(
    list(list(1:3, 1:3, 1:3, all, all), list(1:3, 1:3, 1:3, a1, a1)), list(whole, list(a1, a2, a3, a2, a2)),
    list(whole, list(a2, a2, a3, a3, a3)), list(whole, list(a3, a2, a3, a1, a1))
  )
  U <- c(list(1:3), whole[-1])
  A <- list(1:3, a2, a3, a1, a1)
  bare <- tryCatch({
    for (one in before) {
      keep(one[[1]], one[[2]], run(one[[1]], one[[2]])$signs)
      forget()
    }
    got <- run(U, A)
    keep(U, A, got$signs)
    shares <- lapply(all, function(i) {
      signs <- bank[[named(U[[i]], A[[i]])]]
      asks[[i]]("unmask", session = session, signs = lapply(all, function(j) signs[[as.character(j)]] %||% "00"))
    })
    secret <- function(j, who) join_secret(vapply(who, function(i) as.integer(bytes_hex(shares[[i]][[j]])), integer(32)), who)
    x <- take_mask(got$y[[1]], mask_of(derived_key("self", secret(1, c(1, 4, 5)), session), 1))
    for (m in list(secret(2, 3:5), secret(3, c(2, 4, 5)))) x <- take_mask(x, pair_mask(m, bytes_hex(got$keys[[1]]$mask), session, 1))
    ifelse(x >= MASK_MODULUS / 2, x - MASK_MODULUS, x)
  }, error = function(e) NULL)
  expect_null(bare)
})

test_that("a secure sum is of as many sites as the policy asks for, dropouts or none", {
  skip_if_not_installed("sodium")
  M <- euclidean(1)
  k <- 10
  files <- replicate(k, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), paste0("s", seq_len(k)))
  hosts <- lapply(seq_len(k), function(i) {
    site_host(site_policy(names(keys)[i], M, 2, 0.3, trust = "secure", least_sites = k, colluding = 0, partners = keys[-i]), matrix(0.1, 20, 1), budget(),
              identity = files[i])
  })
  expect_output(print(hosts[[1]]$policy), "secure sums of 10 sites or more")
  send <- function(i) function(text) if (i > 6 && grepl("\"masked\"", text)) stop("lost") else site_reply(hosts[[i]], text)
  alive <- tryCatch({
    x <- do.call(sites, c(lapply(seq_len(k), function(i) site_remote(send(i))), list(secure = TRUE, colluding = 0, dropouts = 4)))
    dp_mean(x, M, 1, 0, 1.5, delta = 1e-6, mechanism = "tangent")$details$alive
  }, riemdp_error = function(e) k)
  expect_gte(alive, k)
})

test_that("one record's form changes neither the number of records nor whether there is a site", {
  skip_if_not_installed("RSQLite")
  dir <- withr::local_tempdir()
  write_site_policy(site_policy("north", euclidean(2), 2, 0.5), file.path(dir, "policy.json"))
  dp_ledger(file.path(dir, "ledger.sqlite"), 50, 1e-6, rule = "gdp", create = TRUE)
  for (record in c("1,2", "NA,NA", "\"a\"b,2", "x,y,z")) {
    writeLines(c("u,v", rep("0.5,0.5", 20), record), file.path(dir, "records.csv"))
    expect_identical(site_open(dir)$n, 21)
  }
  good <- data.frame(a = as.double(1:20), b = as.double(1:20))
  odd <- list(within(good, a <- c("x", as.character(2:20))), within(good, a <- factor(c("x", as.character(2:20)))), within(good, a[1] <- NA))
  for (x in odd) {
    host <- tryCatch(site_host(site_policy("n", euclidean(2), 2, 0.5), x, budget()), riemdp_error = function(e) NULL)
    expect_identical(host$n, 20)
  }
})

test_that("an answer that is kept is whole, though the disk is full", {
  skip_on_os("windows")
  script <- withr::local_tempfile(fileext = ".R")
  writeLines(sprintf("%s", c(
    sprintf(".libPaths(%s); suppressMessages(library(riemdp)); w <- riemdp:::wire_write; v <- riemdp:::wire_value", paste(deparse(.libPaths()), collapse = "")),
    "keep <- tempfile(); dir.create(keep); M <- euclidean(200)",
    "h <- site_host(site_policy('n', M, 2, .5), matrix(0, 20, 200), dp_ledger(epsilon = 1e6, delta = 1e-6, rule = 'gdp'), keep = keep)",
    "f <- list(M = M, center = rep(0, 200), radius = 1, sd = 5)",
    "t <- w('request', id = strrep('1', 32), policy = h$hash, statistic = 'noisy', fields = lapply(f, v))",
    "a <- site_reply(h, t); b <- site_reply(h, t); type <- function(x) tryCatch(riemdp:::wire_read(x)$type, error = function(e) 'broken')",
    "cat(type(a), type(b), identical(a, b))"
  )), script)
  said <- system2("sh", c("-c", shQuote(sprintf("trap '' XFSZ; ulimit -f 1; %s --vanilla %s 2>/dev/null", file.path(R.home("bin"), "Rscript"), script))),
                  stdout = TRUE)
  # the same answer again, or none either time
  expect_no_match(paste(said, collapse = " "), "broken")
})

test_that("over HTTP another analyst's request gives her nothing, quotas or none", {
  keep <- withr::local_tempdir()
  M <- euclidean(2)
  host <- site_host(site_policy("n", M, 2, 0.5), matrix(0, 20, 2), budget(), keep = keep)
  app <- site_app(host, c(anna = strrep("a", 32), ben = strrep("b", 32)))
  text <- wire_write("request", id = strrep("7", 32), policy = host$hash, statistic = "noisy", fields = lapply(list(M = M, center = c(0, 0), radius = 1,
                                                                                                                    sd = 5), wire_value))
  post <- function(token) {
    bytes <- charToRaw(text)
    app$call(list(REQUEST_METHOD = "POST", HTTP_AUTHORIZATION = paste("Bearer", token), rook.input = list(read = function(l) utils::head(bytes, l))))$body
  }
  expect_identical(wire_read(post(strrep("a", 32)))$type, "answer")
  expect_identical(wire_read(post(strrep("b", 32)))$type, "refusal")
})

# Gradients are added up as they are stored, rounded, and only then put into coordinates: far out that rounding is longer than a record's vector.
test_that("no record moves a sum of gradients by more than is paid for, at points far out", {
  set.seed(5)
  n <- 3000
  r <- 0.3
  moved <- function(M, p) {
    x <- mf_random(M, n)
    f <- function(x) vector_sum(list(M = M, center = as.vector(p), radius = r, vector = "gradient", problem = problem_huber(M, 10)), x)
    s <- f(x)
    max(vapply(1:10, function(i) {
      if (length(dim(x)) == 3) x[, , i] <- mf_random(M, 1) else x[i, ] <- mf_random(M, 1)
      sqrt(sum((f(x) - s)^2)) / (2 * r)
    }, 0))
  }
  u <- matrix(c(cos(0.3), sin(0.3), -sin(0.3), cos(0.3)), 2)
  p <- u %*% diag(c(10^7.5, 10^-7.5)) %*% t(u)
  for (metric in c("affine", "log-euclidean")) expect_lte(moved(spd(2, metric), (p + t(p)) / 2), 1 + 1e-9)
  expect_lte(moved(hyperbolic(2), c(cosh(32), sinh(32) * cos(0.3), sinh(32) * sin(0.3))), 1 + 1e-9)
})

# ---- tables and curves: what an outsider broke ---------------------------------------------------------------------------------------------------------

lines_of <- function(n, seed = 1) with_simulation(seed, data.frame(x1 = stats::runif(n), sex = sample(c("f", "m"), n, TRUE), y = stats::rnorm(n)))
LINE_TYPES <- c(x1 = "number", sex = "text", y = "number")
LINE_BOUNDS <- list(x1 = c(0, 1), sex = c("f", "m"), y = c(center = 0, scale = 1))
wealth <- function(epsilon = 1e9) dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp")
paid_by <- function(host) summary(host$ledger)$spent[1]
table_host <- function(name, x = lines_of(30), ..., columns = LINE_TYPES, ledger = wealth()) {
  site_host(site_policy(name, least_noise = 1e-9, columns = columns, ...), x, ledger)
}
over <- function(hosts, ..., lie = function(i, text, answer) answer) {
  do.call(sites, c(lapply(seq_along(hosts), function(i) site_remote(function(text) lie(i, text, site_reply(hosts[[i]], text)))), list(...)))
}
line_request <- function(formula = y ~ x1 * sex, bounds = LINE_BOUNDS, radius = 2.5, weight = 0.5, sd = 1000) {
  spec <- riemdp:::linear_terms(formula, names(bounds))
  list(vector = "products", model = riemdp:::site_model(spec, riemdp:::linear_bounds(spec, bounds)), radius = radius, weight = weight, sd = sd)
}
says <- function(host, request) {
  m <- wire_read(site_reply(host, wire_write("request", id = riemdp:::random_id(), policy = host$hash, statistic = "noisy",
                                             fields = lapply(request, wire_value))))
  if (m$type == "refusal") m$reason else "an answer"
}

test_that("a site that is given twice is refused: its records would count twice", {
  host <- table_host("north")
  e <- expect_error(over(list(host, host), shares = TRUE), class = "riemdp_error_argument")
  expect_match(conditionMessage(e), "\"north\" is given twice")
  r <- dp_lm(y ~ x1, over(list(host), shares = TRUE), 1, 1e-6, LINE_BOUNDS[c("x1", "y")])
  expect_match(guarantee(r)$assumptions, "no record is at two sites", all = FALSE)
})

test_that("no cell decides whether there is an answer, and columns that are none aren't taken", {
  S <- sphere(2)
  shapes <- matrix(c(0, 0, 1), 12, 3, byrow = TRUE)
  for (cell in list(1, as.double(1:11), as.double(1:12), list(1, 2), NULL, "a", data.frame(a = 1:12))) {
    age <- as.list(as.double(1:12))
    age[1] <- list(cell)
    host <- site_host(site_policy("p", S, 2, 1e-9, columns = c(age = "number", shape = "points", y = "number")),
                      list(age = age, shape = shapes, y = stats::rnorm(12)), wealth())
    expect_identical(host$n, 12)
    expect_identical(says(host, line_request(y ~ age, list(age = c(0, 20), y = c(center = 0, scale = 1)))), "an answer")
  }
  bad <- list(matrix(1:60, 30), data.frame(a = 1:30), as.list(1:29), expression(a), matrix(1:30, 1), NULL, function() 1)
  for (column in bad) {
    x <- c(as.list(lines_of(30)[c("sex", "y")]), list(x1 = column))
    expect_error(table_host("north", x), class = "riemdp_error_argument")
  }
  long <- lines_of(30)
  long$sex[3] <- strrep("m", 1e6)
  expect_identical(table_host("north", long)$x$sex[3], NA_character_)
})

test_that("several responses are as long as rounding makes them, and the bound is for that", {
  for (q in c(1, 2, 10, 50)) {
    bounds <- c(stats::setNames(rep(list(c(center = 0, scale = 1)), q), paste0("y", 1:q)), list(x1 = c(0, 1)))
    f <- stats::as.formula(sprintf("cbind(%s) ~ x1", paste0("y", 1:q, collapse = ", ")))
    request <- line_request(f, bounds, radius = 2.5 * sqrt(q), weight = 20)
    x <- data.frame(stats::setNames(as.list(rep(1e3, q)), paste0("y", 1:q)), x1 = 1)
    far <- function(a, b) sqrt(sum((riemdp:::vector_sum(request, a) - riemdp:::vector_sum(request, b))^2))
    y <- with_simulation(q, matrix(stats::rnorm(q * 20), 20))
    worst <- max(apply(y, 1, function(v) {
      a <- x
      a[1:q] <- as.list(1e3 * v)
      b <- a
      b[1:q] <- as.list(-1e3 * v)
      far(a, b)
    }), far(x, replace(x, 1:q, as.list(rep(-1e3, q)))))
    expect_lte(worst, riemdp:::vector_moved(request))
    expect_equal(worst, riemdp:::vector_moved(request), tolerance = 1e-4)
  }
})

test_that("what can't be answered is refused before it is paid", {
  host <- table_host("north")
  request <- line_request()
  expect_identical(says(host, utils::modifyList(request, list(sd = 1e9))), "an answer")
  price <- paid_by(host)
  for (sd in c(1e40, 1e200)) expect_identical(says(host, utils::modifyList(request, list(sd = sd))), "noise")
  many <- c(stats::setNames(lapply(1:20, function(i) as.list(paste0("l", 1:100))), paste0("v", 1:20)), list(y = c(center = 0, scale = 1)))
  wide <- request
  wide$model$x <- c(list(c(0, 1)), list(as.list(paste0("l", 1:1200))))
  expect_identical(says(host, wide), "message")
  unused <- request
  unused$model$parts <- list(1)
  expect_identical(says(host, unused), "message")
  expect_identical(paid_by(host), price)
  # a fit that needs so much noise isn't begun
  for (epsilon in c(1e-6, 1e-5)) {
    e <- tryCatch(dp_lm(y ~ x1 * sex, over(list(host), shares = TRUE), epsilon, 1e-12, LINE_BOUNDS), riemdp_error = function(e) class(e)[1])
    if (is.character(e)) expect_identical(paid_by(host), price) else price <- paid_by(host)
  }
  # curves many times round, or nowhere
  S <- rotations(3)
  curve <- site_host(site_policy("p", S, 2, 1e-9, columns = c(age = "number", shape = "points")), list(shape = mf_random(S, 12), age = as.double(1:12)),
                     wealth())
  spec <- riemdp:::private_predictors(shape ~ age, NULL, list(age = c(0, 20)))
  model <- riemdp:::site_model(list(responses = list(spec$response), predictors = spec$predictors, parts = spec$parts),
                               list(x = spec$bounds$x, y = matrix(c(0, 1, 1), 3)))
  bend <- list(vector = "curve", M = S, center = as.vector(diag(3)), at = c(0.01, 0, 0), model = model, radius = 0.3, weight = 0.2, frame = as.vector(diag(3)),
               lambda = numeric(3), speed = 0.1, sd = 10)
  expect_identical(says(curve, bend), "an answer")
  price <- paid_by(curve)
  expect_identical(says(curve, utils::modifyList(bend, list(speed = 1e6))), "message")
  expect_identical(paid_by(curve), price)
  # far out: refused or answered, and never paid for without an answer
  for (P in list(S, spd(2), hyperbolic(2), grassmann(3, 1), product(sphere(2), spd(2)))) {
    d <- mf_facts(P)$dimension
    host <- site_host(site_policy("p", P, 2, 1e-9, columns = c(age = "number", shape = "points")), list(shape = mf_random(P, 12), age = as.double(1:12)),
                      wealth())
    here <- as.vector(.Call(riemdp:::riemdp_stored, P, mf_random(P, 1)))
    for (size in c(1e-300, 1, 1e3, 1e150, 1e308)) {
      before <- paid_by(host)
      far <- utils::modifyList(bend, list(M = P, center = here, at = rep(size, d), frame = as.vector(diag(d)) * size, lambda = rep(-size, d), weight = size))
      said <- says(host, far)
      expect_true(said %in% c("message", "an answer"))
      expect_identical(paid_by(host) > before, said == "an answer")
    }
  }
})

test_that("where one site refuses none pays", {
  ok <- table_host("a")
  for (other in list(table_host("b", columns = LINE_TYPES[c("sex", "y")]),
                     site_host(site_policy("b", least_noise = 100, columns = LINE_TYPES), lines_of(30), wealth()))) {
    e <- expect_error(dp_lm(y ~ x1, over(list(ok, other), shares = TRUE), 1, 1e-6, LINE_BOUNDS[c("x1", "y")]), class = "riemdp_error_refused")
    expect_match(conditionMessage(e), "site \"b\".*Nothing was asked")
    expect_identical(paid_by(ok), 0)
  }
  M <- sphere(2)
  shapes <- function(name, radius) site_host(site_policy(name, M, radius, 1e-9, columns = c(age = "number", shape = "points")),
                                             list(age = as.double(1:12), shape = mf_random(M, 12)), wealth())
  hosts <- list(shapes("a", 5), shapes("b", 0.01))
  expect_error(dp_regression(shape ~ age, M, over(hosts, shares = TRUE), 1, c(0, 0, 1), 0.8, 0.2, 0.5, c(0, 20), delta = 1e-6), "Nothing was asked",
               class = "riemdp_error_refused")
  expect_identical(vapply(hosts, paid_by, 0), c(0, 0))
  points <- function(name, radius) site_host(site_policy(name, M, radius, 1e-9), mf_random(M, 12), wealth())
  hosts <- list(points("a", 5), points("b", 0.01))
  expect_error(dp_mean(over(hosts, shares = TRUE), M, 1, c(0, 0, 1), 0.7, delta = 1e-6, mechanism = "tangent"), "Nothing was asked",
               class = "riemdp_error_refused")
  expect_error(dp_optimize(problem_frechet(M), over(hosts, shares = TRUE), 1, 1e-6, start = c(0, 0, 1), clip = 1, steps = 3), "Nothing was asked",
               class = "riemdp_error_refused")
  expect_identical(vapply(hosts, paid_by, 0), c(0, 0))
})

test_that("a site that sends what no sum can be is named, and nothing is released", {
  hosts <- list(table_host("a"), table_host("b"))
  lying <- function(value) {
    function(i, text, answer) {
      m <- wire_read(answer)
      if (i == 1 || m$type != "answer") return(answer)
      wire_write("answer", id = m$id, policy = m$policy, value = wire_value(value(m$value)))
    }
  }
  fit <- function(value) dp_lm(y ~ x1, over(hosts, shares = TRUE, lie = lying(value)), 1, 1e-6, LINE_BOUNDS[c("x1", "y")])
  expect_s3_class(fit(identity), "riemdp_lm")
  for (value in list(function(v) v * 0 + 1.7e308, function(v) v * 0 + 1e155, function(v) replace(v, 2, 1e9), function(v) v[-1], function(v) "a",
                     function(v) as.list(v))) {
    e <- expect_error(fit(value), class = "riemdp_error_chunk")
    expect_match(conditionMessage(e), "site 2 has sent no sum that can be")
  }
})

test_that("in a secure sum what isn't a stage's answer is silence, and a wrong sum is met", {
  skip_if_not_installed("sodium")
  files <- replicate(4, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:4])
  hosts <- lapply(1:4, function(i) table_host(letters[i], trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]))
  for (i in 1:4) hosts[[i]] <- site_host(hosts[[i]]$policy, lines_of(30), wealth(), identity = files[i])
  run <- function(stage, value) {
    lie <- function(i, text, answer) {
      if (i != 2 || !identical(wire_read(text)$statistic, stage)) return(answer)
      m <- wire_read(answer)
      wire_write("answer", id = m$id, policy = m$policy, value = wire_value(value(m$value)))
    }
    x <- over(hosts, secure = TRUE, colluding = 0, dropouts = 1, lie = lie)
    tryCatch(dp_lm(y ~ x1, x, 1, 1e-6, LINE_BOUNDS[c("x1", "y")]), riemdp_error = function(e) conditionMessage(e))
  }
  bad <- list(share = list(function(v) list(), function(v) v[-1], function(v) "a"),
              masked = list(function(v) v + 0.5, function(v) -v, function(v) v * 0 + 1e300, function(v) v[-1]),
              agree = list(function(v) "a", function(v) 1, function(v) list()), unmask = list(function(v) list(),
                                                                                              function(v) lapply(v, function(s) paste0(s, "a"))))
  for (stage in names(bad)) {
    for (value in bad[[stage]]) {
      r <- expect_silent(run(stage, value))
      expect_s3_class(r, "riemdp_lm")
      expect_identical(r$n, if (stage %in% c("share", "masked")) 90 else 120)
    }
  }
  # whole numbers of the right kind that aren't those of its records: nothing is released but an error, up to a chance of 1e-30
  for (value in list(function(v) (v + 2^40) %% 2^48, function(v) rep(0, length(v)))) expect_match(run("masked", value), "none that can be")
  # one that refuses has fallen silent, if as many are left as have to be
  poor <- hosts
  poor[[2]] <- site_host(hosts[[2]]$policy, lines_of(30), wealth(0.01), identity = files[2])
  silent <- function(i, text, answer) if (wire_read(text)$type == "ledger") "" else answer
  r <- dp_lm(y ~ x1, over(poor, secure = TRUE, colluding = 0, dropouts = 1, lie = silent), 1, 1e-6, LINE_BOUNDS[c("x1", "y")])
  expect_identical(r$n, 90)
  expect_error(dp_lm(y ~ x1, over(poor, secure = TRUE, colluding = 0, lie = silent), 1, 1e-6, LINE_BOUNDS[c("x1", "y")]), "budget",
               class = "riemdp_error_refused")
  # denominators that no sampler takes
  host <- hosts[[1]]
  fields <- c(line_request()[c("vector", "model", "radius", "weight")],
              list(session = strrep("a", 32), index = 1, sites = 4, threshold = 4, colluding = 0, step = 0.01, ratio = c(2^62, 2^40)))
  m <- wire_read(site_reply(host, wire_write("request", id = riemdp:::random_id(), policy = host$hash, statistic = "join",
                                             fields = lapply(fields, wire_value))))
  expect_identical(m$reason, "trust")
})

test_that("a policy's file has no fields that mean nothing", {
  file <- withr::local_tempfile()
  write_site_policy(site_policy("n", euclidean(2), 1, 1), file)
  text <- readLines(file)
  writeLines(sub("\"trust\"", "\"least_sites\": 3,\n  \"trust\"", text), file)
  expect_error(read_site_policy(file), class = "riemdp_error_argument")
  expect_error(site_policy("n", euclidean(2), 1, 1, partners = c(a = strrep("a", 64))), class = "riemdp_error_argument")
})

test_that("a run of many sums needs all sites for each", {
  skip_if_not_installed("sodium")
  M <- sphere(2)
  files <- replicate(3, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:3])
  hosts <- lapply(1:3, function(i) {
    site_host(site_policy(letters[i], M, 5, 1e-9, columns = c(age = "number", shape = "points"), trust = "secure", least_sites = 2, colluding = 0,
                          partners = keys[-i]),
              list(age = as.double(1:12), shape = mf_random(M, 12)), wealth(), identity = files[i])
  })
  x <- over(hosts, secure = TRUE, colluding = 0, dropouts = 1)
  expect_error(dp_regression(shape ~ age, M, x, 1, c(0, 0, 1), 0.8, 0.2, 0.5, c(0, 20), delta = 1e-6), "dropouts", class = "riemdp_error_unsupported")
})

test_that("a released mean that noise has taken beyond the space is brought back: it was paid for", {
  P <- spd(2)
  hosts <- lapply(c("a", "b"), function(name) site_host(site_policy(name, P, 2, 1e-9), wishart_spd[, , 1:10], wealth()))
  for (epsilon in c(1e-3, 1e-2)) {
    for (i in 1:10) expect_s3_class(dp_mean(over(hosts, shares = TRUE), P, epsilon, diag(2), 1, delta = 1e-6, mechanism = "tangent"), "riemdp_mean")
  }
  # coordinates of which exp is finite and no point in doubles
  for (size in c(1, 30, 40, 400, 1e5)) expect_true(mf_is_point(P, riemdp:::exp_of_coords(P, size * c(1, -1, 1), diag(2))))
})

test_that("a policy's number of answers is held against a run before anything is paid, and counts no sums without noise", {
  M <- sphere(2)
  host <- function(name, most) site_host(site_policy(name, M, 5, 1e-9, sums = c("mean", "gradient", "scatter"), most_answers = most), mf_random(M, 12),
                                         wealth())
  hosts <- list(host("a", 9), host("b", 2))
  x <- over(hosts, shares = TRUE)
  expect_error(dp_optimize(problem_frechet(M), x, 1, 1e-6, start = c(0, 0, 1), clip = 1, steps = 3), "2 answers 2 are left, and 3 are needed",
               class = "riemdp_error_refused")
  expect_identical(vapply(hosts, paid_by, 0), c(0, 0))
  few <- over(list(host("c", 1)), shares = TRUE)
  expect_error(dp_pga(few, M, 1, c(0, 0, 1), 0.7, delta = 1e-6), "1 answers 1 are left, and 2 are needed", class = "riemdp_error_refused")
  expect_s3_class(dp_optimize(problem_frechet(M), x, 1, 1e-6, start = c(0, 0, 1), clip = 1, steps = 2), "riemdp_optimize")
  # those that are left are told before any site pays, and the ledger's message says how many
  paid <- vapply(hosts, paid_by, 0)
  expect_error(dp_mean(x, M, 1, c(0, 0, 1), 0.7, delta = 1e-6, mechanism = "tangent"), "2 answers 0 are left, and 1 are needed",
               class = "riemdp_error_refused")
  expect_identical(vapply(hosts, paid_by, 0), paid)
  told <- vapply(x$holders, function(h) unique(h$budget()$answers), 0)
  expect_identical(told, c(7, 0))
  expect_identical(over(list(host("d", NULL)), shares = TRUE)$holders[[1]]$budget()$answers, c(Inf, Inf))
  expect_error(site_policy("n", M, 1, 1, trust = "curator", most_answers = 3), class = "riemdp_error_unsupported")
})

test_that("one text cell among points closes no site", {
  shapes <- matrix(as.character(c(0, 0, 1)), 12, 3, byrow = TRUE)
  shapes[7, 2] <- "0.3 mm"
  host <- site_host(site_policy("p", sphere(2), 2, 1e-9, columns = c(age = "number", shape = "points")), list(age = 1:12, shape = shapes), wealth())
  expect_identical(host$n, 12)
})

test_that("after a dropout sensitivity is that of who is left, and print says who isn't", {
  skip_if_not_installed("sodium")
  M <- euclidean(2)
  files <- replicate(4, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:4])
  of <- function(i, x, ...) site_host(site_policy(letters[i], ..., trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]), x, wealth(),
                                      identity = files[i])
  lost <- function(hosts) {
    do.call(sites, c(lapply(1:4, function(i) site_remote(function(text) if (i == 2 && grepl("masked", text)) stop("lost") else site_reply(hosts[[i]], text))),
                     list(secure = TRUE, colluding = 0, dropouts = 1)))
  }
  r <- dp_mean(lost(lapply(1:4, function(i) of(i, matrix(0.1, 20, 2), M, 2, 1e-9))), M, 1, c(0, 0), 1, delta = 1e-6, mechanism = "tangent")
  expect_identical(r$n, 60)
  expect_equal(r$sensitivity, 2 / 60, tolerance = 1e-2)
  fit <- dp_lm(y ~ x1, lost(lapply(1:4, function(i) of(i, lines_of(30), least_noise = 1e-9, columns = LINE_TYPES))), 1, 1e-6, LINE_BOUNDS[c("x1", "y")])
  expect_output(print(fit), "3 of 4 sites: the others didn't answer")
})

test_that("a request doesn't bring what stands for the site's own numbers", {
  M <- spd(2)
  n <- 60
  x <- wishart_spd[, , 1:n]
  q <- list(kernel = "noisy", private = TRUE, M = M, center = c(1, 0, 0, 1), radius = 2, sd = 1e-3)
  answer <- function(request, x, ...) with_simulation(1, site_answer(request, x, ledger = budget(), ...))
  plain <- answer(q, x)
  # one record by itself, a thousand times over
  for (own in list(list(share = c(1e3, rep(0, n - 1))), list(sharex = c(1e3, rep(0, n - 1))), list(rows = 1), list(units = 1e9), list(size = n - 1),
                   list(counts = "own"), list(counts = "frame"), list(id = "a"))) {
    expect_identical(answer(c(q, own), x), plain)
  }
  refused <- function(request, x) expect_error(answer(request, x), class = "riemdp_error_refused")
  ledger <- budget()
  for (odd in list(list(model = list(1)), list(vector = "none"), list(vector = c("mean", "mean")), list(at = 1), list(problem = problem_huber(M, 1)))) {
    expect_error(site_answer(utils::modifyList(q, odd), x, ledger = ledger), class = "riemdp_error_refused")
  }
  expect_equal(nrow(ledger_history(ledger)), 0)
  refused(utils::modifyList(q, list(center = c(1, 0))), x)
  refused(utils::modifyList(q, list(radius = 1e200)), x)
  # a table, where one cell of text speaks for itself alone
  S <- sphere(2)
  set.seed(1)
  shape <- mf_exp(S, c(0, 0, 1), cbind(matrix(rnorm(2 * n, sd = 0.2), n), 0))
  table <- list(shape = shape, sex = rep(c("f", "m"), n / 2))
  model <- list(responses = list("shape"), predictors = list("sex"), x = list(list("f", "m")), y = matrix(c(0, 1, 1), 3), parts = list(1))
  g <- list(kernel = "noisy", private = TRUE, vector = "groups", M = S, center = c(0, 0, 1), radius = 0.4, model = model, sd = 1e-6)
  clean <- answer(g, table)
  text <- table
  text$shape <- matrix(as.character(shape), n)
  text$shape[1, 1] <- "oops"
  expect_lte(sqrt(sum((answer(g, text) - clean)^2)), 0.8)
  text$shape <- as.data.frame(text$shape)
  expect_lte(sqrt(sum((answer(g, text) - clean)^2)), 0.8)
  # nor does a column that isn't there make groups of nobody
  refused(replace(g, "model", list(replace(model, "predictors", list(list("arm"))))), table)
})

test_that("what is asked again is the same request, paid for once", {
  M <- spd(2)
  folder <- tempfile()
  dir.create(folder)
  hosts <- lapply(c("a", "b"), function(name) site_host(site_policy(name, M, 2, 1e-9), wishart_spd[, , 1:40], budget(), keep = folder))
  lose <- 2
  x <- do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) site_reply(h, text))), list(shares = TRUE, map = function(X, FUN) {
    out <- lapply(X, FUN)
    lose <<- lose - 1
    if (lose >= 0) stop("lost")
    out
  })))
  r <- dp_mean(x, M, 1, diag(2), 1, delta = 1e-6, mechanism = "tangent")
  for (h in hosts) {
    expect_identical(nrow(ledger_history(h$ledger)), 1L)
    expect_equal(summary(h$ledger)$spent[1], guarantee(r)$mu^2, tolerance = 1e-6)
  }
})

test_that("a site that is sure to refuse keeps the others from paying", {
  M <- spd(2)
  host <- function(name, ledger, ...) site_host(site_policy(name, M, 2, 1e-9, ...), wishart_spd[, , 1:40], ledger)
  argument <- function(...) expect_error(host(...), class = "riemdp_error_argument")
  argument("b", budget(), data_set = "other")
  argument("b", budget(), part = "north")
  argument("b", dp_ledger(epsilon = 1, delta = 1e-6, rule = "gdp", adjacency = "add-remove"))
  quotas <- host("b", dp_ledger(epsilon = 1e9, delta = 1e-6, rule = "gdp", quotas = c(ann = 1)))
  first <- host("a", budget())
  x <- do.call(sites, c(lapply(list(first, quotas), function(h) site_remote(function(text) site_reply(h, text))), list(shares = TRUE)))
  expect_error(dp_mean(x, M, 1, diag(2), 1, delta = 1e-6, mechanism = "tangent"), "\"b\" has no budget for whoever asks",
               class = "riemdp_error_refused")
  expect_equal(nrow(ledger_history(first$ledger)), 0)
  expect_true(is.na(site_prices(x, 1, 1e-6)$left[2]))
})
