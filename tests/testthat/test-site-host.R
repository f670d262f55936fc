# A site that answers messages: what it lets out, what it pays, what a message can't do.

skip_if_not_installed("jsonlite")

M <- spd(2)
north <- wishart_spd[, , 1:120]
south <- wishart_spd[, , 121:200]
budget <- function(epsilon = 1e6, ...) dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp", ...)
host_of <- function(name, x, ..., ledger = budget(), keep = NULL) {
  site_host(site_policy(name, M, radius = 2, least_noise = 0.5, ...), x, ledger, keep)
}
remote <- function(host, ...) site_remote(function(text) site_reply(host, text, ...))
two <- function(..., shares = FALSE) sites(remote(host_of("north", north, ...)), remote(host_of("south", south, ...)), shares = shares)
noisy_request <- function(host, id = riemdp:::random_id(), ..., center = c(1, 0, 0, 1), radius = 1.5, sd = 6, manifold = M, statistic = "noisy",
                          policy = host$hash) {
  fields <- list(M = manifold, center = center, radius = radius, sd = sd, ...)
  wire_write("request", id = id, policy = policy, statistic = statistic, fields = lapply(fields, wire_value))
}
refused <- function(text) {
  m <- wire_read(text)
  if (m$type == "refusal") m$reason else ""
}
spent <- function(ledger) summary(ledger)$spent[1]

test_that("a policy is a file that says all, and its hash is that of its bytes", {
  policy <- site_policy("north", list(M, sphere(2), simplex(3, "fisher")), 2, 0.5, least_records = 20, data_set = "default", delta = 1e-6)
  file <- withr::local_tempfile(fileext = ".json")
  hash <- write_site_policy(policy, file)
  expect_identical(read_site_policy(file), policy)
  expect_identical(digest::digest(file = file, algo = "sha256"), hash)
  expect_error(write_site_policy(policy, file), "silence", class = "riemdp_error_argument")
  text <- readLines(file)
  change <- function(from, to) {
    writeLines(sub(from, to, text, fixed = TRUE), file)
    tryCatch(read_site_policy(file), riemdp_error_argument = function(e) NULL)
  }
  for (from in list(c("\"north\"", "\"no\\rth\""), c("\"radius\": 2", "\"radius\": -2"), c("\"noise\"", "\"none\""), c("\"radius\": 2", "\"radius\": \"2\""),
                    c("policy\": 1", "policy\": 2"), c("\"radius\": 2,", ""), c("{", "{ \"more\": 1,"), c("\"sphere\"", "\"ball_\""))) {
    expect_null(change(from[1], from[2]))
  }
  # what is changed by hand and is a policy is another one
  other <- change("\"radius\": 2", "\"radius\": 3")
  expect_identical(other$radius, 3)
  expect_false(identical(policy_hash(other), hash))
  replaced <- function(one) {
    out <- unclass(policy)
    out[names(one)] <- one
    out
  }
  # in each number of it
  for (one in list(list(radius = 2.5), list(least_noise = 0.6), list(least_records = 21), list(trust = "curator"), list(data_set = "b"), list(part = "p"),
                   list(site = "n"),
                   list(delta = 1e-7), list(spaces = list(M)))) {
    expect_false(identical(policy_hash(do.call(site_policy, replaced(one))), hash))
  }
  expect_output(print(policy), "multiplier 0.5 or more")
  expect_output(print(host_of("north", north, trust = "curator")), "WITHOUT NOISE")
  for (bad in list(list(radius = 0), list(least_noise = 0), list(trust = "all"), list(site = "a\"b"), list(site = "\u00e4"), list(spaces = list()),
                   list(least_records = 0), list(trust = "secure"))) {
    expect_error(do.call(site_policy, replaced(bad)), class = "riemdp_error_argument")
  }
  expect_error(site_policy("n", list(1), 2, 0.5), class = "riemdp_error_manifold")
})

test_that("a file is written whole, or there is an error", {
  file <- withr::local_tempfile()
  write_new(file, as.raw(1:200))
  expect_identical(readBin(file, "raw", 300), as.raw(1:200))
  expect_error(write_new(file.path(tempfile(), "a"), as.raw(1)), "can't be written", class = "riemdp_error_argument")
  skip_if_not(file.exists("/dev/full"))
  expect_error(write_new("/dev/full", as.raw(1:200)), "can't be written", class = "riemdp_error_argument")
})

test_that("a host needs a policy and a ledger, and as many records as it says", {
  policy <- site_policy("north", M, 2, 0.5, least_records = 200)
  expect_error(site_host(policy, north, budget()), "fewer records", class = "riemdp_error_argument")
  expect_error(site_host(policy, north, NULL), class = "riemdp_error_argument")
  expect_error(site_host(NULL, north, budget()), class = "riemdp_error_argument")
  expect_error(site_host(site_policy("n", M, 2, 0.5), north, budget(), keep = tempfile()), class = "riemdp_error_argument")
  expect_error(site_host(site_policy("n", M, 2, 0.5), chunks(north, 10), budget()), class = "riemdp_error_unsupported")
  expect_error(site_host(site_policy("n", sphere(5), 2, 0.5), north, budget()), class = "riemdp_error")
  forged <- site_policy("n", M, 2, 0.5)
  forged$least_noise <- 0
  expect_error(site_host(forged, north, budget()), class = "riemdp_error_argument")
})

test_that("over messages a trusted curator gets the same bits as from records at hand", {
  x <- two(trust = "curator")
  all <- chunks(wishart_spd[, , 1:200], 120)
  for (mechanism in c("laplace", "wrapped", "tangent", "kng", "euclidean")) {
    run <- function(x) with_simulation(1, dp_mean(x, M, 1, diag(2), 1.5, mechanism = mechanism))$value
    expect_identical(run(x), run(all))
  }
  run <- function(x) with_simulation(1, dp_optimize(problem_huber(M, 1), x, 1, 1e-6, start = diag(2), steps = 4))$value
  expect_identical(run(x), run(all))
  r <- dp_mean(x, M, 1, diag(2), 1.5, mechanism = "wrapped")
  expect_match(guarantee(r)$assumptions, "curator is trusted", all = FALSE)
})

test_that("noise is drawn and paid for at the site, and the release names the policies", {
  ledgers <- list(budget(), budget())
  hosts <- list(host_of("north", north, ledger = ledgers[[1]]), host_of("south", south, ledger = ledgers[[2]]))
  r <- dp_mean(sites(remote(hosts[[1]]), remote(hosts[[2]]), shares = TRUE), M, 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")
  for (host in hosts) expect_match(guarantee(r)$assumptions, paste0(host$policy$site, ".*", host$hash), all = FALSE)
  mu <- guarantee(r)$mu
  # each pays what the whole release costs, as its sum carries all the noise
  for (ledger in ledgers) expect_equal(spent(ledger), mu^2, tolerance = 1e-9)
  # the noise has the size asked for: 5 standard errors of a deviation from 1,200 numbers are .102, a false alarm 1 in 1e6
  count <- if (quick()) 400 else 1200
  host <- site_host(site_policy("flat", euclidean(3), 2, 0.5), matrix(0, 40, 3), budget(1e9))
  draws <- with_simulation(3, replicate(count, wire_read(site_reply(host, noisy_request(host, center = c(0, 0, 0), manifold = euclidean(3))))$value))
  expect_lt(abs(sd(draws) / 6 - 1), 5 / sqrt(2 * 3 * count) + 1e-3)
})

test_that("a request is paid for once, and its answer is one answer", {
  keep <- withr::local_tempdir()
  ledger <- budget()
  host <- host_of("north", north, ledger = ledger, keep = keep)
  text <- noisy_request(host)
  first <- site_reply(host, text)
  expect_identical(refused(first), "")
  cost <- spent(ledger)
  expect_gt(cost, 0)
  for (i in 1:5) expect_identical(site_reply(host, text), first)
  expect_identical(spent(ledger), cost)
  # to somebody else it isn't sent, and under its number nothing else is asked
  expect_identical(refused(site_reply(host, text, analyst = "another")), "replayed")
  again <- noisy_request(host, id = wire_read(text)$id, radius = 1.4)
  expect_identical(refused(site_reply(host, again)), "replayed")
  expect_identical(spent(ledger), cost)
  # the site falls after it paid and before it kept the answer: no other noise on the same sum
  host$keep <- file.path(keep, "gone")
  text <- noisy_request(host)
  expect_identical(refused(site_reply(host, text)), "failed")
  expect_equal(spent(ledger), 2 * cost, tolerance = 1e-12)
  host$keep <- keep
  expect_identical(refused(site_reply(host, text)), "replayed")
  expect_equal(spent(ledger), 2 * cost, tolerance = 1e-12)
  # without a place to keep answers a lost one is lost
  host$keep <- NULL
  expect_identical(refused(site_reply(host, noisy_request(host))), "")
  expect_identical(refused(site_reply(host, again)), "replayed")
})

test_that("numbers of requests are kept in the ledger's file, for whoever serves from it next", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  host <- host_of("north", north, ledger = dp_ledger(file, 100, 1e-6, rule = "gdp", create = TRUE))
  text <- noisy_request(host)
  expect_identical(refused(site_reply(host, text)), "")
  next_host <- host_of("north", north, ledger = dp_ledger(file))
  before <- spent(next_host$ledger)
  expect_identical(refused(site_reply(next_host, text)), "replayed")
  expect_identical(spent(next_host$ledger), before)
})

test_that("what a release costs each site is told before anything is asked, and a run that one can't pay isn't begun", {
  ledgers <- list(budget(2), dp_ledger(epsilon = 2, delta = 1e-6, rule = "zcdp"), dp_ledger(epsilon = 2, delta = 1e-6, rule = "basic"))
  hosts <- lapply(1:3, function(i) host_of(c("north", "south", "west")[i], north, ledger = ledgers[[i]], delta = if (i == 3) 1e-7))
  asked <- 0
  plain <- site(120, function(request) site_answer(request, north, ledger = budget()))
  listening <- function(host) {
    site_remote(function(text) {
      asked <<- asked + (wire_read(text)$type == "request")
      site_reply(host, text)
    })
  }
  x <- do.call(sites, c(lapply(hosts, listening), list(plain), list(shares = TRUE, colluding = 1)))
  mu <- riemdp:::gaussian_mu(1, 1e-6)
  told <- site_prices(x, 1, 1e-6)
  expect_identical(told$site, c("north", "south", "west", "4"))
  expect_identical(told$policy, c(vapply(hosts, `[[`, "", "hash"), NA))
  expect_identical(told$unit, c("mu^2", "rho", NA, NA))
  expect_equal(told$mu, rep(mu * sqrt(3), 4), tolerance = 1e-9)
  expect_equal(told$price, c(3 * mu^2, 3 * mu^2 / 2, NA, NA), tolerance = 1e-9)
  expect_equal(told$left, c(summary(ledgers[[1]])$left[1], summary(ledgers[[2]])$left[1], NA, NA))
  expect_identical(told$covered, c(TRUE, NA, NA, NA) | c(TRUE, told$left[2] >= told$price[2], NA, NA))
  expect_identical(asked, 0)
  # what was told is what is paid
  r <- dp_mean(x, M, 0.3, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")
  small <- site_prices(x, 0.3, 1e-6)
  expect_equal(c(spent(ledgers[[1]]), spent(ledgers[[2]])), small$price[1:2], tolerance = 1e-5)
  asked <- 0
  e <- expect_error(dp_mean(x, M, 3, diag(2), 1.5, delta = 1e-6, mechanism = "tangent"), class = "riemdp_error_budget")
  expect_match(conditionMessage(e), "north.*Nothing was asked")
  expect_error(dp_optimize(problem_frechet(M), x, 3, 1e-6, start = diag(2), clip = 1, steps = 3), class = "riemdp_error_budget")
  expect_identical(asked, 0)
  for (bad in list(list(wishart_spd, 1, 1e-6), list(two(), 1, 1e-6), list(x, 1, 0), list(x, -1, 1e-6))) {
    expect_error(do.call(site_prices, bad), class = "riemdp_error_argument")
  }
  # a site that tells nonsense of its budget is one that tells nothing
  odd <- function(value) {
    site_remote(function(text) if (grepl("\"ledger\"", text)) wire_write("budget", site = "x", value = wire_value(value)) else site_reply(hosts[[1]], text))
  }
  for (value in list(list(unit = list("mu^2"), limit = 1, spent = 1, left = c(1, 2)), list(unit = list(), limit = 1, spent = 1, left = 1), "all", NULL)) {
    expect_identical(site_prices(sites(odd(value), shares = TRUE), 1, 1e-6)$left, NA_real_)
  }
})

test_that("a policy's number of answers is kept, in the ledger's file as well, and what is refused takes none of them", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  dp_ledger(file, 10, 1e-6, rule = "gdp", create = TRUE)
  for (ledger in list(dp_ledger(file), budget(10))) {
    host <- host_of("north", north, ledger = ledger, most_answers = 5)
    expect_output(print(host), "5 answers in all")
    for (i in 1:5) {
      expect_identical(refused(site_reply(host, noisy_request(host, sd = 1))), "noise")
      if (i == 3 && ledger$kind != "memory") host <- host_of("north", north, ledger = dp_ledger(file), most_answers = 5)
      if (i == 4) expect_identical(refused(site_reply(host, noisy_request(host, sd = 1.6))), "budget")
      text <- noisy_request(host)
      expect_identical(refused(site_reply(host, text)), "")
      expect_identical(refused(site_reply(host, text)), "replayed")
      expect_identical(asNamespace("riemdp")$store_slots(host$ledger, host$hash, 5), 5 - i)
    }
    price <- spent(host$ledger)
    expect_identical(refused(site_reply(host, noisy_request(host))), "answers")
    expect_identical(spent(host$ledger), price)
    # another policy has its own
    expect_identical(refused(site_reply(other <- host_of("north", north, ledger = host$ledger, most_answers = 6), noisy_request(other))), "")
    expect_identical(asNamespace("riemdp")$store_slots(host$ledger, other$hash, 6), 5)
  }
  policy <- site_policy("n", M, 1, 1, most_answers = 7)
  path <- withr::local_tempfile()
  write_site_policy(policy, path)
  expect_identical(read_site_policy(path), policy)
  expect_error(site_policy("n", M, 1, 1, most_answers = 0), class = "riemdp_error_argument")
})

test_that("the budget ends, by analyst where there are quotas", {
  ledger <- budget(12, quotas = c(anna = 0.5, ben = 0.25))
  host <- host_of("north", north, ledger = ledger)
  count <- function(analyst) {
    for (i in 0:500) if (nzchar(said <- refused(site_reply(host, noisy_request(host), analyst)))) return(list(i, said))
  }
  anna <- count("anna")
  ben <- count("ben")
  expect_identical(c(anna[[2]], ben[[2]]), c("budget", "budget"))
  expect_gt(ben[[1]], 2)
  expect_lte(abs(anna[[1]] - 2 * ben[[1]]), 1)
  for (stranger in list(NULL, "carl", "", NA, 1, c("anna", "ben"))) expect_identical(refused(site_reply(host, noisy_request(host), stranger)), "budget")
})

test_that("what the policy doesn't have is refused before anything is paid", {
  ledger <- budget()
  host <- host_of("north", north, ledger = ledger)
  expect_refused <- function(reason, ...) expect_identical(refused(site_reply(host, noisy_request(host, ...))), reason)
  expect_refused("ball", radius = 2 * (1 + 1e-9), sd = 20)
  expect_refused("noise", sd = 1.5 * (1 - 1e-9))
  expect_refused("space", manifold = spd(2, "bures"))
  expect_refused("space", manifold = spd(2, floor = 1e-9))
  expect_refused("policy", policy = strrep("b", 64))
  for (statistic in c("check", "ball", "steps", "squares", "gradients", "counts", "kng", "records", "seal", "count", "join", "share", "masked", "unmask",
                      "system")) {
    expect_refused(if (statistic %in% names(WIRE_REQUESTS)) "message" else "statistic", statistic = statistic)
  }
  for (kernel in c("check", "ball", "steps", "squares", "gradients")) {
    fields <- list(check = list(M = M), ball = list(M = M, center = c(1, 0, 0, 1), radius = 1, p = NULL, what = "centre_coords"),
                   gradients = list(M = M, problem = problem_huber(M, 1), p = c(1, 0, 0, 1), step = list(clip = 1, apart = FALSE, losses = FALSE),
                                    counts = "points"))
    numbers <- list(radius = 1.5, step = 0.6, steps = 43, bits = 50, base = 0.6, terms = 36, accept = 2e-11, carried = TRUE, tangent = FALSE)
    fields$steps <- list(M = M, center = c(1, 0, 0, 1), numbers = numbers, n = 200, at = c(0, 0, 0))
    fields$squares <- c(fields$steps, list(squares = c(20, 2^20)))
    text <- wire_write("request", id = strrep("1", 32), policy = host$hash, statistic = kernel, fields = lapply(fields[[kernel]], wire_value))
    expect_identical(refused(site_reply(host, text)), "statistic")
    # a curator who is trusted by name gets an answer to the same message
    trusted <- host_of("north", north, trust = "curator")
    said <- refused(site_reply(trusted, sub(host$hash, trusted$hash, text, fixed = TRUE)))
    if (!kernel %in% c("steps", "squares")) expect_identical(said, "") # their made-up numbers needn't fit together
    expect_false(said %in% c("statistic", "message"))
  }
  expect_refused("message", more = 1)
  expect_refused("message", seed = 1)
  expect_refused("message", sd = -6)
  expect_refused("message", sd = c(6, 6))
  expect_refused("message", center = "a")
  expect_refused("message", radius = NULL)
  # a centre that is no point, or not one
  for (center in list(c(1, 0), c(-1, 0, 0, 1), rep(c(1, 0, 0, 1), 2), 1e300 * c(1, 2, 3, 1))) expect_refused("message", center = center)
  expect_refused("ball", radius = 1e-151, sd = 1)
  expect_identical(spent(ledger), 0)
})

# Attacks by an analyst: each succeeds against a site that trusts a curator, or whose answers cost nothing, and fails here.
test_that("attacks that succeed without a policy fail with one", {
  victim <- matrix(c(30, 4, 4, 25), 2)
  with_victim <- wishart_spd[, , 1:120]
  with_victim[, , 77] <- victim
  lone <- list(M = M, center = as.vector(victim), radius = 0.01, sd = 0.01)
  # membership: a small ball around the victim; who is there adds 0, all others a vector of the ball's length
  sum_in <- function(x) {
    host <- host_of("north", x, trust = "curator")
    s <- remote(host)$ask(list(kernel = "ball", M = M, center = as.vector(victim), radius = 0.01, p = NULL, what = "centre_coords"))
    riemdp:::exact_total(list(s))
  }
  expect_gt(sqrt(sum((sum_in(north) - sum_in(with_victim))^2)), 0.009)
  for (kernel in c("counts", "ball")) {
    host <- host_of("north", with_victim)
    e <- tryCatch(remote(host)$ask(list(kernel = kernel, M = M, center = as.vector(victim), radius = 0.01, p = NULL, what = "centre_coords")),
                  riemdp_error_refused = conditionMessage)
    expect_match(e, "statistic")
  }
  # repetition: 2,000 answers without an account give the sum to a fiftieth of the noise; by the ledger there are 4
  fields <- list(kernel = "noisy", M = M, center = c(1, 0, 0, 1), radius = 1.5, sd = 3, private = TRUE)
  free <- with_simulation(5, rowMeans(replicate(2000, riemdp:::chunk_answer(fields, north))))
  truth <- riemdp:::exact_total(list(riemdp:::chunk_answer(list(kernel = "ball", M = M, center = c(1, 0, 0, 1), radius = 1.5, p = NULL, what = "centre_coords",
    private = TRUE), north)))
  expect_lt(max(abs(free - truth)), 5 * 3 / sqrt(2000))
  ledger <- budget(10)
  s <- remote(host_of("north", north, ledger = ledger))
  answers <- 0
  while (is.double(tryCatch(s$ask(fields), riemdp_error_refused = function(e) NULL))) answers <- answers + 1
  expect_lte(answers, ledger$limits[1])
  expect_gte(answers, floor(ledger$limits[1]) - 1)
  # differencing: balls that differ by one record's place cost as much as any two
  ledger <- budget(10)
  s <- remote(host_of("north", with_victim, ledger = ledger))
  for (radius in c(1.5, 1.49)) s$ask(utils::modifyList(fields, list(radius = radius)))
  expect_equal(spent(ledger), 1 + (2 * 1.49 / 3)^2, tolerance = 1e-9)
  # reconstruction: as many equations as unknowns are refused by price as well
  ledger <- budget(10)
  s <- remote(host_of("north", with_victim, ledger = ledger))
  set.seed(6)
  got <- sum(replicate(400, is.double(tryCatch(s$ask(utils::modifyList(fields, list(center = as.vector(mf_random(M, 1))))),
                                               riemdp_error_refused = function(e) NULL))))
  expect_lte(got, ledger$limits[1])
})

test_that("fuzzed messages get a reply that is one, and the same whatever the records are", {
  ledgers <- list(budget(1e-3), budget(1e-3)) # too small for an answer: every reply must be the same
  hosts <- list(host_of("north", north, ledger = ledgers[[1]]), host_of("north", mf_random(M, 120, sd = 3), ledger = ledgers[[2]]))
  seeds <- c(noisy_request(hosts[[1]]), wire_write("hello"), policy_text(hosts[[1]]$policy),
             wire_write("request", id = strrep("2", 32), policy = hosts[[1]]$hash, statistic = "gradients", fields = lapply(list(M = M,
                                                                                                                                 problem = problem_huber(M, 1),
               p = c(1, 0, 0, 1), step = list(clip = 1, apart = FALSE, losses = FALSE), counts = "points"), wire_value)))
  set.seed(7)
  byte <- function(n) as.raw(sample(c(0x20:0x7e, 1:255), n, TRUE))
  mutate <- function(text) {
    b <- charToRaw(text)
    for (i in seq_len(sample(3, 1))) {
      at <- sample(length(b), 1)
      b <- switch(sample(6, 1), replace(b, at, byte(1)), append(b, byte(1), at), b[-at], b[seq_len(at)], append(b, b[at:length(b)], at),
                  append(b, charToRaw(sample(c("{", "[", "\"", "null", "1e999", "-0", "\\u0000", "\"double\":", "true,"), 1)), at))
      if (!length(b)) b <- as.raw(0x20)
    }
    b[b == 0] <- as.raw(1)
    rawToChar(b)
  }
  count <- as.numeric(Sys.getenv("RIEMDP_FUZZ", if (quick()) "1500" else "1e4")) # 1e5 by hand
  kinds <- character()
  for (i in seq_len(count)) {
    text <- mutate(seeds[1 + i %% length(seeds)])
    replies <- vapply(hosts, site_reply, "", text = text)
    if (!identical(replies[1], replies[2])) fail(paste("the reply depends on records:", text))
    type <- tryCatch(wire_read(replies[1])$type, error = function(e) "none")
    kinds[i] <- type
  }
  expect_setequal(unique(kinds), c("refusal", "policy"))
  expect_identical(vapply(ledgers, spent, 0), c(0, 0))
  for (odd in list(NULL, NA, 1, list(), character(), c("a", "b"), quote(a), globalenv(), as.raw(1))) expect_identical(refused(site_reply(hosts[[1]], odd)),
                                                                                                                      "message")
})

test_that("an answer that is none is an error, and says nothing of what was in it", {
  host <- host_of("north", north)
  ask <- function(change) {
    site <- site_remote(function(text) {
      reply <- site_reply(host, text)
      if (grepl("\"policy\"", reply) && grepl("\"text\"", reply)) reply else change(reply)
    })
    tryCatch(site$ask(list(kernel = "noisy", M = M, center = c(1, 0, 0, 1), radius = 1.5, sd = 6)), riemdp_error = class)
  }
  expect_true(is.double(ask(identity)))
  other <- noisy_request(host)
  for (change in list(function(r) "", function(r) sub("\"answer\"", "\"request\"", r), function(r) site_reply(host, other), function(r) sub(host$hash,
                                                                                                                                            strrep("c", 64), r),
                      function(r) NULL, function(r) paste0(r, "x"))) {
    expect_true("riemdp_error_wire" %in% ask(change))
  }
  expect_error(site_remote(function(text) sub("\"hash\":\"..", "\"hash\":\"00", site_reply(host, text))), class = "riemdp_error_wire")
  expect_error(site_remote(1), class = "riemdp_error_argument")
  # a plain site's own words could be about records
  odd <- sites(site(120, function(request) stop("record 7 is odd")), shares = TRUE)
  e <- expect_error(dp_mean(odd, M, 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent"), class = "riemdp_error_chunk")
  expect_no_match(conditionMessage(e), "odd")
  # a policy's delta belongs to a ledger that takes one
  expect_error(host_of("north", north, delta = 1e-7), class = "riemdp_error_argument")
  expect_error(host_of("north", north, ledger = dp_ledger(epsilon = 2, delta = 1e-6)), "delta", class = "riemdp_error_argument")
  # through a release: the words are the parser's own
  broken <- sites(site_remote(function(text) if (grepl("request", text)) "rubbish" else site_reply(host, text)), shares = TRUE)
  e <- expect_error(dp_mean(broken, M, 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent"), class = "riemdp_error_wire")
  expect_match(conditionMessage(e), "a site: this is no message: no JSON.", fixed = TRUE)
})
