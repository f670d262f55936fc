# Sites and curators that are killed at any point: budgets never come back, no request is answered twice under other noise, and a run goes on or
# ends with a classed error.

skip_if_not_installed("jsonlite")
skip_if_not_installed("RSQLite")

M <- spd(2)
spent <- function(ledger) summary(ledger)$spent[1]

# a site's directory with its policy, its budget and its records
directory <- function(epsilon = 100) {
  dir <- tempfile("site")
  dir.create(file.path(dir, "answers"), recursive = TRUE)
  write_site_policy(site_policy("north", M, radius = 2, least_noise = 0.5), file.path(dir, "policy.json"))
  dp_ledger(file.path(dir, "ledger.sqlite"), epsilon, 1e-6, rule = "gdp", create = TRUE)
  saveRDS(wishart_spd[, , 1:40], file.path(dir, "records.rds"))
  dir
}
request <- function(host) {
  fields <- list(M = M, center = c(1, 0, 0, 1), radius = 1.5, sd = 6)
  wire_write("request", id = riemdp:::random_id(), policy = host$hash, statistic = "noisy", fields = lapply(fields, wire_value))
}
# what a site replies in a process of its own that is killed where `fall` says: NULL if it came to no reply
reply_in_process <- function(dir, text, fall = function() NULL) {
  out <- file.path(dir, "said")
  unlink(out)
  job <- parallel::mcparallel({
    fall()
    writeLines(site_reply(site_open(dir), text), out)
  }, silent = TRUE)
  suppressWarnings(parallel::mccollect(job))
  if (file.exists(out)) readLines(out)
}
killed <- function() tools::pskill(Sys.getpid(), tools::SIGKILL)
# a function of the package is replaced in the process; `before`: it is killed instead of calling it, else after it
falls_at <- function(name, before) {
  function() {
    space <- asNamespace("riemdp")
    own <- get(name, space)
    get("unlockBinding", baseenv())(name, space)
    assign(name, function(...) {
      if (before) killed()
      value <- own(...)
      killed()
      value
    }, space)
  }
}

test_that("a site that is killed at any point of an answer never answers twice, nor for nothing", {
  skip_on_os("windows")
  dir <- directory()
  host <- site_open(dir)
  price <- 4 * (1.5 / 6)^2
  # where it falls, whether the price is gone by then, and whether the answer is kept
  points <- list(
    list("kept_answer", TRUE, FALSE, FALSE), list("pay_request", TRUE, FALSE, FALSE), list("pay_request", FALSE, TRUE, FALSE), list("chunk_answer", TRUE, TRUE,
        FALSE),
    list("chunk_answer", FALSE, TRUE, FALSE), list("keep_answer", TRUE, TRUE, FALSE), list("write_new", FALSE, TRUE, FALSE), list("keep_answer", FALSE, TRUE,
        TRUE)
  )
  paid <- 0
  for (p in points) {
    text <- request(host)
    expect_null(reply_in_process(dir, text, falls_at(p[[1]], p[[2]])))
    paid <- paid + p[[3]]
    expect_equal(spent(dp_ledger(file.path(dir, "ledger.sqlite"))), paid * price, tolerance = 1e-6)
    # the same again, of a process that lives: what was paid for and isn't kept is lost
    kept <- list.files(file.path(dir, "answers"), wire_read(text)$id, full.names = TRUE)
    expect_length(kept, as.integer(p[[4]]))
    again <- reply_in_process(dir, text)
    m <- wire_read(again)
    if (p[[4]]) expect_identical(again, readLines(kept, warn = FALSE)) else expect_identical(if (m$type == "refusal") m$reason else "",
                                                                                             if (p[[3]]) "replayed" else "")
    if (!p[[3]]) paid <- paid + 1
    expect_equal(spent(dp_ledger(file.path(dir, "ledger.sqlite"))), paid * price, tolerance = 1e-6)
    # and once more: the same bits, at no price
    if (m$type == "answer") expect_identical(reply_in_process(dir, text), again)
    expect_equal(spent(dp_ledger(file.path(dir, "ledger.sqlite"))), paid * price, tolerance = 1e-6)
  }
  expect_true(all(ledger_verify(dp_ledger(file.path(dir, "ledger.sqlite")))$ok))
})

test_that("a curator who falls after any message leaves budgets that hold what was paid, and another run goes on", {
  hosts <- lapply(c("a", "b", "c"), function(name) {
    site_host(site_policy(name, M, radius = 2, least_noise = 1e-3), wishart_spd[, , 1:40], dp_ledger(epsilon = 1000, delta = 1e-6, rule = "gdp"))
  })
  messages <- 0
  last <- Inf
  x <- function() {
    do.call(sites, c(lapply(hosts, function(h) site_remote(function(text) {
      if (grepl("\"request\"", text)) messages <<- messages + 1
      if (messages > last) stop("killed")
      site_reply(h, text)
    })), list(shares = TRUE)))
  }
  run <- function() dp_optimize(problem_frechet(M), x(), 1, 1e-6, start = diag(2), clip = 1, steps = 3)
  whole <- run()
  expect_identical(messages, 9)
  step <- guarantee(whole)$mu^2 / 3
  before <- vapply(hosts, function(h) spent(h$ledger), 0)
  expect_equal(before, rep(3 * step, 3), tolerance = 1e-6)
  for (last in c(0, 1, 4, 8)) {
    messages <- 0
    before <- vapply(hosts, function(h) spent(h$ledger), 0)
    e <- expect_error(run(), class = "riemdp_error_callback")
    expect_match(conditionMessage(e), "a site: `send` stopped: killed", fixed = TRUE)
    after <- vapply(hosts, function(h) spent(h$ledger), 0)
    expect_equal(after - before, step * c((last + 2) %/% 3, (last + 1) %/% 3, last %/% 3), tolerance = 1e-6)
  }
  last <- Inf
  messages <- 0
  before <- vapply(hosts, function(h) spent(h$ledger), 0)
  expect_s3_class(run(), "riemdp_optimize")
  expect_equal(vapply(hosts, function(h) spent(h$ledger), 0) - before, rep(3 * step, 3), tolerance = 1e-6)
})

test_that("a site of a secure sum that starts anew after any message is one that fell silent, and pays once", {
  skip_if_not_installed("sodium")
  files <- replicate(5, tempfile())
  keys <- stats::setNames(vapply(files, site_key, ""), letters[1:5])
  ledgers <- lapply(1:5, function(i) dp_ledger(epsilon = 1000, delta = 1e-6, rule = "gdp"))
  open <- function(i) {
    site_host(site_policy(letters[i], M, radius = 2, least_noise = 1e-3, trust = "secure", least_sites = 2, colluding = 0, partners = keys[-i]),
              wishart_spd[, , (i - 1) * 40 + 1:40], ledgers[[i]], identity = files[i])
  }
  hosts <- lapply(1:5, open)
  stages <- c("join", "share", "masked", "agree", "unmask")
  fall <- ""
  x <- do.call(sites, c(lapply(1:5, function(i) site_remote(function(text) {
    # before it hears of that stage it has forgotten all
    m <- wire_read(text)
    if (i == 2 && identical(m$statistic, fall)) hosts[[2]] <<- open(2)
    site_reply(hosts[[i]], text)
  })), list(secure = TRUE, colluding = 0, dropouts = 1)))
  for (stage in stages) {
    fall <- stage
    before <- vapply(ledgers, spent, 0)
    out <- tryCatch(dp_mean(x, M, 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent"), riemdp_error = function(e) class(e)[1])
    paid <- vapply(ledgers, spent, 0) - before
    if (is.character(out)) {
      expect_match(out, "^riemdp_error_(refused|chunk)$")
    } else {
      expect_true(out$n %in% c(160, 200))
      expect_equal(paid[-2], rep(guarantee(out)$mu^2, 4), tolerance = 1e-3)
    }
    expect_lte(max(paid), max(paid[-2]) * (1 + 1e-9))
    # the next one goes on
    fall <- ""
    hosts[[2]] <- open(2)
    expect_identical(dp_mean(x, M, 1, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")$n, 200)
  }
})
