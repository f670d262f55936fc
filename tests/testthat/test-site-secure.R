# Secure sums: what comes out is the sum with one curator's noise, what anybody sees on the way is uniform, and no site takes part in what
# its policy doesn't have.

skip_if_not_installed("jsonlite")
skip_if_not_installed("sodium")

M <- euclidean(3)

# k sites with their keys, policies and budgets; `spoil` changes a policy
make_sites <- function(k, ..., least_noise = 0.3, n = 20, colluding = 0, least_sites = 2, value = NULL, epsilon = 1e6) {
  files <- replicate(k, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), paste0("s", seq_len(k)))
  lapply(seq_len(k), function(i) {
    x <- value %||% matrix(0.1 * i, n, 3)
    site_host(site_policy(names(keys)[i], M, 2, least_noise, trust = "secure", least_sites = least_sites, colluding = colluding, partners = keys[-i], ...), x,
              dp_ledger(epsilon = epsilon, delta = 1e-6, rule = "gdp"), identity = files[i])
  })
}
# what goes by is handed to `look(site's number, text)`, which may change it or lose it (NULL)
remotes <- function(hosts, look = function(i, text) text) {
  lapply(seq_along(hosts), function(i) {
    site_remote(function(text) {
      text <- look(i, text)
      if (is.null(text)) stop("lost")
      site_reply(hosts[[i]], text)
    })
  })
}
secure <- function(hosts, ..., look = function(i, text) text) do.call(sites, c(remotes(hosts, look), list(secure = TRUE, ...)))
mean_of <- function(x, delta = 1e-6, epsilon = 1) dp_mean(x, M, epsilon, c(0, 0, 0), 1.5, delta = delta, mechanism = "tangent")
stage_of <- function(text) {
  m <- wire_read(text)
  if (identical(m$type, "request")) m$statistic else m$type
}

test_that("any threshold of shares gives a secret back, and fewer say nothing of it", {
  a <- rep(0:255, 256)
  b <- rep(0:255, each = 256)
  # the field's table against long multiplication
  slow <- integer(length(a))
  x <- a
  for (i in 0:7) {
    slow <- bitwXor(slow, ifelse(bitwAnd(b, bitwShiftL(1L, i)) > 0, x, 0L))
    x <- bitwXor(bitwAnd(x * 2L, 255L), ifelse(x > 127, 27L, 0L))
  }
  expect_identical(field_times(a, b), slow)
  expect_identical(field_times(1:255, field_inverse(1:255)), rep(1L, 255))
  set.seed(1)
  for (case in list(c(2, 2), c(5, 3), c(50, 26), c(255, 10), c(3, 1))) {
    secret <- sodium::random(32)
    shares <- split_secret(secret, case[1], case[2])
    for (i in 1:5) {
      who <- sample(case[1], case[2])
      expect_identical(join_secret(shares[, who, drop = FALSE], who), secret)
    }
  }
  # one share of two is uniform whatever the secret is: chi-squared with 255 degrees, 1e-9 beyond 407
  one <- replicate(if (quick()) 200 else 1000, split_secret(as.raw(rep(7, 32)), 2, 2)[, 1])
  expect_lt(sum((table(factor(one, 0:255)) - length(one) / 256)^2) / (length(one) / 256), 407)
})

test_that("the noise of a secure sum is one curator's, for 2 to 50 sites", {
  for (k in c(2, 3, 10, 50)) {
    hosts <- make_sites(k)
    r <- mean_of(secure(hosts, colluding = 0))
    trusted <- dp_mean(matrix(0, 20 * k, 3), M, 1, c(0, 0, 0), 1.5, delta = 1e-6, mechanism = "tangent", options = list(noise = "gaussian"), numerics = "real")
    expect_equal(r$scale / trusted$scale, 1, tolerance = 0.002)
    expect_gte(r$scale, trusted$scale)
    expect_identical(r$n, 20 * k)
    # each site pays the price of the whole
    expect_equal(summary(hosts[[1]]$ledger)$spent[1], guarantee(r)$mu^2, tolerance = 5e-3)
    expect_lte(summary(hosts[[1]]$ledger)$spent[1], guarantee(r)$mu^2)
  }
  # against colluding ones the others make the noise
  expect_equal(mean_of(secure(make_sites(5), colluding = 2))$scale / mean_of(secure(make_sites(5), colluding = 0))$scale, sqrt(5 / 3), tolerance = 0.002)
})

test_that("the sum comes out, with noise of the size that is stated", {
  hosts <- make_sites(4)
  count <- if (quick()) 60 else 300
  draws <- with_simulation(2, replicate(count, {
    r <- mean_of(secure(hosts, colluding = 0), epsilon = 3)
    c(r$value - 0.25, r$scale)
  }))
  z <- draws[1:3, ] / draws[4, 1]
  # 5 standard errors: a false alarm in 1e6
  expect_lt(abs(mean(z)), 5 / sqrt(3 * count))
  expect_lt(abs(sd(z) - 1), 5 / sqrt(6 * count))
  # exactly, where the noise is known: the steps of the sum and of four draws
  query <- list(sites = 4, threshold = 4, colluding = 0, M = M, center = c(0, 0, 0), radius = 1.5, step = 2^-10, ratio = c(2^40, 1))
  x <- secure(hosts, colluding = 0)
  noise <- with_simulation(8, {
    for (i in 1:4) riemdp:::random_id()
    TRUE
  })
  one <- with_simulation(9, secure_sum(x, query))
  expect_identical(one$alive, 1:4)
  expect_true(all(one$sum == round(one$sum)))
  expect_lt(max(abs(one$sum - 20 * (0.1 + 0.2 + 0.3 + 0.4) * 2^10)), 7 * sqrt(4 * 2^40))
})

test_that("what a site sends is uniform, whatever it holds", {
  hosts <- make_sites(3, n = 20)
  seen <- list()
  look <- function(i, text) text
  count <- if (quick()) 40 else 200
  x <- do.call(sites, c(lapply(seq_along(hosts), function(i) {
    site_remote(function(text) {
      reply <- site_reply(hosts[[i]], text)
      if (stage_of(text) == "masked") seen[[length(seen) + 1]] <<- wire_read(reply)$value
      reply
    })
  }), list(secure = TRUE, colluding = 0)))
  for (i in seq_len(count)) mean_of(x)
  u <- unlist(seen) / MASK_MODULUS
  expect_true(all(u >= 0 & u < 1))
  expect_gt(ks.test(u, "punif")$p.value, 1e-6)
  # the masks of one message don't come again in another
  expect_identical(anyDuplicated(unlist(seen)), 0L)
})

test_that("sites that fall silent leave the sum of the others", {
  for (stage in c("share", "masked", "agree", "unmask")) {
    hosts <- make_sites(5, epsilon = 1e9, least_noise = 1e-3)
    lost <- function(i, text) if (i == 2 && stage_of(text) == stage) NULL else text
    # next to no noise, so that the sum can be seen
    r <- mean_of(secure(hosts, colluding = 0, dropouts = 1, look = lost), epsilon = 1e3)
    there <- if (stage %in% c("agree", "unmask")) 1:5 else c(1, 3:5)
    expect_identical(r$n, 20 * length(there))
    expect_lt(max(abs(r$value - mean(0.1 * there))), 8 * r$scale)
    expect_lt(r$scale, 0.02)
    expect_identical(r$details$alive, length(there))
    if (length(there) < 5) expect_output(print(r), "of 4 of 5 sites")
    expect_output(explain(r), "nobody sees one")
  }
  # too few: an error, and nobody gets their price back
  hosts <- make_sites(5)
  lost <- function(i, text) if (i < 3 && stage_of(text) == "masked") NULL else text
  expect_error(mean_of(secure(hosts, colluding = 0, dropouts = 1, look = lost)), "too few", class = "riemdp_error_chunk")
  expect_gt(summary(hosts[[3]]$ledger)$spent[1], 0)
  expect_identical(summary(hosts[[1]]$ledger)$spent[1], 0)
  # one that doesn't join: nothing is asked of anybody
  hosts <- make_sites(3)
  lost <- function(i, text) if (i == 2 && stage_of(text) == "join") NULL else text
  expect_error(mean_of(secure(hosts, colluding = 0, look = lost)), "nothing was asked", class = "riemdp_error_chunk")
  expect_identical(vapply(hosts, function(h) summary(h$ledger)$spent[1], 0), c(0, 0, 0))
  expect_error(secure(make_sites(5), colluding = 0, dropouts = 3), class = "riemdp_error_argument")
  expect_error(secure(make_sites(5), colluding = 1, dropouts = 2), class = "riemdp_error_argument")
})

test_that("a site takes part in what its policy has, and in each stage once", {
  reason <- function(hosts, stage, change, ...) {
    said <- NULL
    look <- function(i, text) {
      m <- wire_read(text)
      if (i != 1 || !identical(m$statistic, stage)) return(text)
      fields <- change(m$fields)
      text <- wire_write("request", id = m$id, policy = m$policy, statistic = stage, fields = lapply(fields, wire_value))
      reply <- wire_read(site_reply(hosts[[1]], text))
      said <<- if (reply$type == "refusal") reply$reason else ""
      NULL
    }
    try(mean_of(secure(hosts, colluding = 1, look = look)), silent = TRUE)
    said
  }
  set <- function(...) function(f) {
    f[...names()] <- list(...)
    f
  }
  join <- function(...) reason(make_sites(4, colluding = 1, least_sites = 3), "join", set(...))
  expect_identical(join(), "")
  expect_identical(join(radius = 2.1), "ball")
  expect_identical(join(M = sphere(2)), "space")
  expect_identical(join(colluding = 0), "trust") # fewer than the site wants its noise to stand
  expect_identical(join(threshold = 2), "trust") # two sets of survivors could take a site's masks off
  expect_identical(join(threshold = 5), "trust")
  expect_identical(join(sites = 2, threshold = 2), "trust")
  expect_identical(join(index = 9), "trust")
  expect_identical(join(ratio = c(100, 1)), "noise")
  expect_identical(join(ratio = c(10, 1)), "trust")
  expect_identical(join(step = 2e-12), "noise")
  # Steps so fine that the sum of all records would leave the whole numbers: it would be cut to 0, and by where that happens an analyst would tell a
  # record from none.
  expect_identical(join(step = 20 * 1.5 / 2^44 * (1 - 1e-9), ratio = c(2^62, 1)), "message")
  expect_identical(join(step = 20 * 1.5 / 2^44, ratio = c(2^62, 1)), "noise")
  expect_identical(join(ratio = c(2^63, 1)), "trust") # which no sampler draws
  expect_identical(join(ratio = c(1e6 + 0.5, 1)), "trust")
  expect_identical(join(session = "x"), "message")
  share <- function(change) reason(make_sites(4, colluding = 1, least_sites = 3), "share", change)
  expect_identical(share(identity), "")
  # another's key with a signature that isn't its own; a stranger; one partner twice; terms that others didn't see
  own <- sodium::sig_keygen()
  expect_identical(share(function(f) {
    f$keys[[2]]$mask <- f$keys[[3]]$mask
    f
  }), "trust")
  expect_identical(share(function(f) {
    f$keys[[2]]$site <- "stranger"
    f$keys[[2]]$sign <- hex_bytes(sodium::sig_sign(charToRaw("x"), own))
    f
  }), "trust")
  expect_identical(share(function(f) {
    f$keys[[2]] <- f$keys[[3]]
    f
  }), "trust")
  expect_identical(share(function(f) {
    f$keys[[1]]$mask <- strrep("0", 64)
    f
  }), "message")
  # a signature for other terms: the curator shows other sites less noise
  hosts <- make_sites(4, colluding = 1, least_sites = 3)
  look <- function(i, text) {
    m <- wire_read(text)
    if (i == 1 || !identical(m$statistic, "join")) return(text)
    wire_write("request", id = m$id, policy = m$policy, statistic = "join", fields = lapply(utils::modifyList(m$fields, list(ratio = m$fields$ratio * c(2,
      1))), wire_value))
  }
  expect_error(mean_of(secure(hosts, colluding = 1, look = look)), "trust|partner", class = "riemdp_error_refused")
  expect_identical(summary(hosts[[1]]$ledger)$spent[1], 0)
  # who isn't asked by another's shares: too few partners, tampered boxes
  masked <- function(change) reason(make_sites(4, colluding = 1, least_sites = 3), "masked", change)
  expect_identical(masked(identity), "")
  expect_identical(masked(function(f) {
    f$sealed[2:4] <- ""
    f
  }), "sites")
  expect_identical(masked(function(f) {
    f$sealed[[2]] <- f$sealed[[3]]
    f
  }), "trust")
  # one list of survivors, once; a list without the asked site; strangers on the list
  agree <- function(alive) reason(make_sites(4, colluding = 1, least_sites = 3), "agree", set(alive = alive))
  expect_identical(agree(c(1, 2, 3, 4)), "")
  for (alive in list(c(2, 3, 4), c(1, 2), c(1, 1, 2, 3), c(1, 2, 3, 5), 1.5)) expect_identical(agree(alive), "sites")
  unmask <- function(change) reason(make_sites(4, colluding = 1, least_sites = 3), "unmask", change)
  expect_identical(unmask(identity), "")
  for (signs in list(list("", "", "", ""), list("a", "b", "c", "d"))) expect_identical(unmask(set(signs = signs)), "sites")
  expect_identical(unmask(set(signs = list("", ""))), "message")
  for (stage in c("join", "share", "masked", "agree", "unmask")) {
    hosts <- make_sites(4)
    said <- NULL
    again <- function(i, text) {
      m <- wire_read(text)
      if (i != 1 || !identical(m$statistic, stage)) return(text)
      said <<- c(wire_read(site_reply(hosts[[1]], text))$type, wire_read(site_reply(hosts[[1]], sub(m$id, strrep("3", 32), text)))$reason)
      NULL
    }
    try(mean_of(secure(hosts, colluding = 0, dropouts = 1, look = again)), silent = TRUE)
    expect_identical(said, c("answer", "replayed"))
  }
})

# Ten sites, six of them enough: sites 1 to 3 get boxes of 4, 5 and 6 alone, and the others are told that each of these three fell silent. Without a
# list that all sign, six shares of the keys of 4, 5 and 6 and of the seeds of 1, 2 and 3 come together: the sum of three sites with half the noise.
test_that("who tells different sites different survivors gets nothing", {
  hosts <- make_sites(10)
  signed <- 0
  look <- function(i, text) {
    m <- wire_read(text)
    if (!identical(m$type, "request")) return(text)
    f <- m$fields
    if (m$statistic == "masked" && i <= 3) f$sealed[7:10] <- ""
    if (m$statistic == "agree") {
      f$alive <- if (i <= 3) as.double(1:6) else as.double(setdiff(1:10, setdiff(4:6, i)))
      signed <<- signed + 1
    }
    wire_write("request", id = m$id, policy = m$policy, statistic = m$statistic, fields = lapply(f, wire_value))
  }
  expect_error(mean_of(secure(hosts, colluding = 0, dropouts = 4, look = look)), "too few", class = "riemdp_error_refused")
  expect_identical(signed, 10)
})

test_that("a site without a key, without partners or without the policy has no secure sums", {
  hosts <- make_sites(3)
  hosts[[1]]$identity <- NULL
  expect_error(mean_of(secure(hosts, colluding = 0)), class = "riemdp_error_refused")
  noise <- site_host(site_policy("n", M, 2, 0.3), matrix(0, 20, 3), dp_ledger(epsilon = 1, delta = 1e-6, rule = "gdp"))
  expect_error(sites(site_remote(function(text) site_reply(noise, text)), secure = TRUE), class = "riemdp_error_argument")
  expect_error(sites(site(10, identity), secure = TRUE), class = "riemdp_error_argument")
  expect_error(sites(site(10, identity), dropouts = 1), class = "riemdp_error_argument")
  file <- withr::local_tempfile()
  key <- site_key(file)
  expect_match(key, "^[0-9a-f]{64}$")
  if (.Platform$OS.type == "unix") expect_identical(as.character(file.mode(file)), "600")
  expect_error(site_key(file), class = "riemdp_error_argument")
  expect_error(site_host(noise$policy, matrix(0, 20, 3), noise$ledger, identity = tempfile()), class = "riemdp_error_argument")
  for (bad in list(NULL, c(a = "x"), strrep("a", 64), stats::setNames(rep(strrep("a", 64), 2), c("a", "b")))) {
    expect_error(site_policy("n", M, 2, 0.3, trust = "secure", partners = bad), class = "riemdp_error_argument")
  }
  expect_error(site_policy("n", M, 2, 0.3, trust = "secure", partners = c(a = strrep("a", 64)), least_sites = 2, colluding = 2),
               class = "riemdp_error_argument")
  policy <- site_policy("n", M, 2, 0.3, trust = "secure", partners = c(a = strrep("a", 64), b = strrep("b", 64)))
  policy_file <- withr::local_tempfile()
  write_site_policy(policy, policy_file)
  expect_identical(read_site_policy(policy_file), policy)
})

test_that("an optimiser's steps are sums of clipped gradients, with the noise that is stated, paid for at each site", {
  hosts <- make_sites(3, value = matrix(0, 20, 3))
  huber <- problem_huber(M, 1)
  run <- function(how, steps = 1) {
    dp_optimize(huber, do.call(sites, c(remotes(hosts), how)), 1, 1e-6, start = c(0, 0, 0), steps = steps, lr = 1)
  }
  trusted <- dp_optimize(huber, matrix(0, 60, 3), 1, 1e-6, start = c(0, 0, 0), steps = 1, lr = 1)
  count <- if (quick()) 50 else 150
  cases <- list(list(list(shares = TRUE), sqrt(3)), list(list(shares = TRUE, colluding = 0), 1), list(list(secure = TRUE, colluding = 0), 1),
                list(list(secure = TRUE, colluding = 1), sqrt(3 / 2)))
  for (case in cases) {
    before <- summary(hosts[[2]]$ledger)$spent[1]
    r <- run(case[[1]], 4)
    expect_equal(r$sd / run(case[[1]])$sd, 2, tolerance = 1e-9)
    # of four steps and of one, each at mu: (two where only this site's own noise counts)
    cost <- (summary(hosts[[2]]$ledger)$spent[1] - before) / guarantee(r)$mu^2
    alone <- isTRUE(case[[1]]$shares) && !is.null(case[[1]]$colluding)
    expect_equal(cost, if (alone) 6 else 2, tolerance = 0.002)
    draws <- with_simulation(11, replicate(count, {
      r <- run(case[[1]])
      c(r$value, r$sd)
    }))
    expect_equal(draws[4, 1] / trusted$sd, case[[2]], tolerance = 0.002)
    # 5 standard errors: a false alarm in 1e6
    expect_lt(abs(sd(draws[1:3, ]) / draws[4, 1] - 1), 5 / sqrt(6 * count))
  }
  # without noise to speak of the sum is that of the records at hand, whatever the metric
  set.seed(3)
  P <- product(sphere(2), spd(2))
  x <- mf_random(P, 30, sd = 0.3)
  p <- .Call(riemdp_stored, P, mf_random(P, 1, sd = 0.1))
  v <- mf_log(P, stored_shape(P, p), x)
  a <- mf_coords(P, stored_shape(P, p), v)
  length <- sqrt(rowSums(a^2))
  expect_gt(sum(length > 0.7), 3)
  got <- vector_sum(list(M = P, center = p, radius = 0.7, vector = "gradient", problem = problem_frechet(P)), x)
  expect_equal(got, -colSums(a * pmin(1, 0.7 / length)), tolerance = 1e-12)
  # what can't be asked for
  all <- do.call(sites, c(remotes(hosts), list(shares = TRUE)))
  for (bad in list(list(method = "rsgd"), list(method = "rsvrg"))) {
    expect_error(do.call(dp_optimize, c(list(huber, all, 1, 1e-6, start = c(0, 0, 0), lr = 1), bad)), class = "riemdp_error_unsupported")
  }
  few <- do.call(sites, c(remotes(hosts), list(secure = TRUE, colluding = 0, dropouts = 1)))
  expect_error(dp_optimize(huber, few, 1, 1e-6, start = c(0, 0, 0), lr = 1), "dropouts", class = "riemdp_error_unsupported")
  means <- make_sites(2, sums = "mean")
  e <- expect_error(dp_optimize(huber, do.call(sites, c(remotes(means), list(shares = TRUE))), 1, 1e-6, start = c(0, 0, 0), lr = 1),
                    class = "riemdp_error_refused")
  expect_match(conditionMessage(e), "statistic")
})
