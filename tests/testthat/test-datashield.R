# Sites in directories, behind DataSHIELD's methods and over HTTP.

skip_if_not_installed("jsonlite")
skip_if_not_installed("RSQLite")

M <- spd(2)
parts <- list(1:60, 61:120, 121:200)

# directories of sites under `root`; with keys they are each other's partners
make_dirs <- function(root, names = "north", trust = "noise", epsilon = 50) {
  for (n in names) dir.create(file.path(root, n, "answers"), recursive = TRUE)
  keys <- if (trust == "secure") vapply(names, function(n) site_key(file.path(root, n, "key")), "")
  for (i in seq_along(names)) {
    at <- function(file) file.path(root, names[i], file)
    partners <- if (trust == "secure") keys[-i]
    sums <- c("mean", "gradient", "scatter")
    policy <- site_policy(names[i], M, 2, 0.5, sums = sums, trust = trust, least_sites = 2, colluding = 0, partners = partners)
    write_site_policy(policy, at("policy.json"))
    dp_ledger(at("ledger.sqlite"), epsilon, 1e-6, rule = "gdp", create = TRUE)
    saveRDS(wishart_spd[, , parts[[i]]], at("records.rds"))
  }
  root
}
mean_of <- function(x, epsilon = 1) dp_mean(x, M, epsilon, diag(2), 1.5, delta = 1e-6, mechanism = "tangent")
reason <- function(text) wire_read(text, "refusal")$reason

test_that("a site's directory holds all it needs, or there is no site", {
  root <- make_dirs(withr::local_tempdir())
  dir <- file.path(root, "north")
  host <- site_open(dir)
  expect_identical(host$n, 60)
  expect_true(is.double(mean_of(sites(site_remote(function(text) site_reply(host, text)), shares = TRUE))$value))
  expect_length(list.files(file.path(dir, "answers")), 1)
  # a table of numbers gives the same records; a cell that is none makes its record missing, and none of the others
  rows <- t(apply(wishart_spd[, , 1:60], 3, as.vector))
  utils::write.csv(rows, file.path(dir, "records.csv"), row.names = FALSE)
  expect_error(site_open(dir), class = "riemdp_error_argument") # two of them
  unlink(file.path(dir, "records.rds"))
  expect_equal(unclass(site_open(dir)$x), wishart_spd[, , 1:60], tolerance = 1e-14, ignore_attr = TRUE)
  lines <- readLines(file.path(dir, "records.csv"))
  lines[5] <- "a,b,c,d"
  writeLines(lines, file.path(dir, "records.csv"))
  broken <- site_open(dir)
  expect_identical(broken$n, 60)
  expect_true(is.double(mean_of(sites(site_remote(function(text) site_reply(broken, text)), shares = TRUE))$value))
  for (file in c("policy.json", "ledger.sqlite", "records.csv")) {
    file.rename(file.path(dir, file), file.path(dir, "away"))
    expect_error(site_open(dir), class = "riemdp_error_argument")
    file.rename(file.path(dir, "away"), file.path(dir, file))
  }
  expect_error(site_open(tempfile()), class = "riemdp_error_argument")
})

test_that("a server's disclosure profile stands above the policies of its sites", {
  root <- make_dirs(withr::local_tempdir(), "north", trust = "curator")
  withr::local_options(riemdp.sites = root, riemdp.analyst = NULL, riemdp.curator = NULL, riemdp.least_noise = NULL, nfilter.subset = NULL,
                       default.nfilter.subset = NULL)
  send <- function(text) riemdpReplyDS(text_url(text))
  told <- function() wire_read(send(wire_write("hello")), c("policy", "refusal"))
  expect_identical(told()$reason, "profile") # sums without noise, where the analyst isn't the curator
  expect_identical(wire_read(send(wire_write("ledger")), c("budget", "refusal"))$reason, "profile")
  expect_error(site_remote(send), "disclosure profile is stricter", class = "riemdp_error_refused")
  # a request that doesn't say hello first gets no answer either
  policy <- asNamespace("riemdp")$policy_hash(read_site_policy(file.path(root, "north", "policy.json")))
  count <- wire_write("request", id = asNamespace("riemdp")$random_id(), policy = policy, statistic = "check", fields = list(M = wire_value(M)))
  expect_identical(reason(send(count)), "profile")
  # an argument that sets the options comes too late
  expect_identical(reason(riemdpReplyDS(text_url(wire_write("hello")), site = {
    options(riemdp.curator = TRUE)
    "north"
  })), "profile")
  for (off in list("FALSE", NA, 0, "no", c(TRUE, TRUE), -1, 2, list(TRUE))) {
    options(riemdp.curator = off)
    expect_identical(told()$reason, "profile")
  }
  for (on in list(TRUE, "TRUE", 1)) {
    options(riemdp.curator = on)
    expect_identical(told()$type, "policy")
  }
  remote <- site_remote(send)
  expect_match(wire_read(send(count), "answer")$policy, policy)
  options(riemdp.curator = FALSE)
  expect_error(remote$ask(list(kernel = "check", M = M)), "disclosure profile is stricter", class = "riemdp_error_refused")
  # noise and numbers of records
  root <- make_dirs(withr::local_tempdir(), "north")
  options(riemdp.sites = root)
  expect_identical(told()$type, "policy")
  for (least in list(0.5, "0.5")) {
    options(riemdp.least_noise = least)
    expect_identical(told()$type, "policy")
  }
  for (least in list(0.51, "0.51", NA, "much", c(0, 0))) {
    options(riemdp.least_noise = least)
    expect_identical(told()$reason, "profile")
  }
  options(riemdp.least_noise = NULL, default.nfilter.subset = 61)
  expect_identical(told()$reason, "profile")
  options(nfilter.subset = 60)
  expect_identical(told()$type, "policy")
  declared <- read.dcf(system.file("DATASHIELD", package = "riemdp"))
  expect_match(declared[, "Options"], "riemdp.curator=FALSE")
  expect_identical(strsplit(declared[, "AggregateMethods"], ", ")[[1]], c("riemdpReplyDS", "riemdpSitesDS"))
})

test_that("DataSHIELD's method answers messages of the sites it was given, and nothing else", {
  root <- make_dirs(withr::local_tempdir(), c("north", "south"))
  outside <- make_dirs(withr::local_tempdir(), "other")
  hello <- text_url(wire_write("hello"))
  expect_match(hello, "^[A-Za-z0-9_-]+$")
  withr::local_options(riemdp.sites = NULL)
  expect_identical(reason(riemdpReplyDS(hello)), "failed")
  expect_identical(riemdpSitesDS(), character())
  withr::local_options(riemdp.sites = root)
  expect_setequal(riemdpSitesDS(), c("north", "south"))
  expect_identical(wire_read(riemdpReplyDS(hello, "north"))$records, 60)
  for (site in list(NULL, "..", ".", "", "north/", "../north", "/", file.path(outside, "other"), file.path("..", basename(outside), "other"), NA, 1, c("north",
    "south"))) {
    expect_identical(reason(riemdpReplyDS(hello, site)), "failed")
  }
  for (text in list("", "a", "=", "a b", "\u00e4", NULL, NA, 1, quote(stop()), paste0(hello, "="), "AA", "AAAA")) expect_identical(reason(riemdpReplyDS(text,
    "north")), "message")
  # what is printed, warned or raised in the site's process doesn't reach the analyst
  unlink(file.path(root, "south", "policy.json"))
  expect_silent(out <- riemdpReplyDS(hello, "south"))
  expect_identical(reason(out), "failed")
  # the file that the package declares its methods in
  told <- read.dcf(system.file("DATASHIELD", package = "riemdp"))
  methods <- strsplit(told[, "AggregateMethods"], ", *")[[1]]
  expect_setequal(methods, c("riemdpReplyDS", "riemdpSitesDS"))
  for (name in methods) expect_true(name %in% getNamespaceExports("riemdp"))
})

test_that("what is left of a budget is told to whom it belongs", {
  root <- make_dirs(withr::local_tempdir(), epsilon = 5)
  host <- site_open(file.path(root, "north"))
  send <- function(text) site_reply(host, text)
  r <- mean_of(sites(site_remote(send), shares = TRUE))
  left <- budget_left(send)
  expect_identical(left$site[1], "north")
  expect_equal(left$spent[1], guarantee(r)$mu^2, tolerance = 1e-9)
  expect_equal(left[c("limit", "spent", "left")], summary(host$ledger)[c("limit", "spent", "left")], ignore_attr = TRUE)
  quotas <- dp_ledger(epsilon = 3, delta = 1e-6, rule = "gdp", quotas = c(anna = 0.5, ben = 0.25))
  host <- site_host(host$policy, wishart_spd[, , 1:60], quotas)
  of <- function(analyst) budget_left(function(text) site_reply(host, text, analyst))$limit[1]
  expect_equal(of("anna"), 2 * of("ben"), tolerance = 1e-9)
  for (stranger in list(NULL, "carl", "anna ")) expect_identical(reason(site_reply(host, wire_write("ledger"), stranger)), "failed")
})

# how httpuv hands over what came in
posted <- function(text, token, method = "POST") {
  bytes <- charToRaw(text)
  list(REQUEST_METHOD = method, HTTP_AUTHORIZATION = paste("Bearer", token), rook.input = list(read = function(l) utils::head(bytes, l)))
}

test_that("over HTTP a token says who asks", {
  root <- make_dirs(withr::local_tempdir())
  quotas <- dp_ledger(epsilon = 5, delta = 1e-6, rule = "gdp", quotas = c(anna = 0.9, ben = 0.1))
  host <- site_host(file.path(root, "north", "policy.json"), wishart_spd[, , 1:60], quotas)
  tokens <- c(anna = strrep("a", 32), ben = strrep("b", 32))
  app <- site_app(host, tokens)
  expect_identical(app$call(posted(wire_write("hello"), strrep("c", 32)))$status, 401L)
  expect_identical(app$call(posted(wire_write("hello"), ""))$status, 401L)
  expect_identical(app$call(list(REQUEST_METHOD = "POST"))$status, 401L)
  expect_identical(app$call(posted("", tokens[["anna"]], "GET"))$status, 405L)
  expect_identical(reason(app$call(posted("rubbish", tokens[["anna"]]))$body), "message")
  send <- function(who) function(text) app$call(posted(text, tokens[[who]]))$body
  left <- function(who) budget_left(send(who))$spent[1]
  mean_of(sites(site_remote(send("anna")), shares = TRUE))
  expect_gt(left("anna"), 0)
  expect_identical(left("ben"), 0)
  expect_error(site_app(host, c(anna = "short")), class = "riemdp_error_argument")
  expect_error(site_app(host, strrep("a", 32)), class = "riemdp_error_argument")
  expect_error(site_app(host, c(anna = strrep("a", 32), ben = strrep("a", 32))), class = "riemdp_error_argument")
  expect_error(site_http("ftp://a", "b"), class = "riemdp_error_argument")
})

# an R process that serves a site's directory until `stop` is there
serve <- function(dir, port, token, stop) {
  script <- tempfile(fileext = ".R")
  writeLines(sprintf(".libPaths(%s); suppressMessages(library(riemdp)); host <- site_open(%s);
    s <- httpuv::startServer('127.0.0.1', %d, site_app(host, c(anna = %s)));
    start <- proc.time()[[3]]; while (!file.exists(%s) && proc.time()[[3]] - start < 120) httpuv::service(50); httpuv::stopServer(s)",
    paste(deparse(.libPaths()), collapse = ""), deparse(dir), port, deparse(token), deparse(stop)), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), wait = FALSE, stdout = FALSE, stderr = FALSE)
}

# with a trusted curator the bits of all records on one machine, whoever carries the messages
expect_pooled_bits <- function(x) {
  all <- chunks(wishart_spd[, , 1:200], 70)
  for (mechanism in c("laplace", "tangent", "kng")) {
    run <- function(x) with_simulation(3, dp_mean(x, M, 1, diag(2), 1.5, mechanism = mechanism))$value
    expect_identical(run(x), run(all), info = mechanism)
  }
}

test_that("three R processes over HTTP give the bits of one machine, a mean by shares and a secure one, and a lost one doesn't hold it up", {
  skip_on_cran()
  for (p in c("httpuv", "curl", "sodium")) skip_if_not_installed(p)
  root <- make_dirs(withr::local_tempdir(), c("north", "south", "west"), "secure")
  names <- c("north", "south", "west")
  token <- strrep("t", 40)
  ports <- vapply(names, function(n) httpuv::randomPort(), 0L)
  stops <- file.path(root, paste0("stop-", names))
  withr::defer(file.create(stops))
  for (i in 1:3) serve(file.path(root, names[i]), ports[i], token, stops[i])
  urls <- sprintf("http://127.0.0.1:%d/", ports)
  up <- function(url) {
    for (i in 1:600) {
      found <- tryCatch(site_http(url, token), error = function(e) NULL)
      if (!is.null(found)) return(found)
      Sys.sleep(0.1)
    }
    stop("no server")
  }
  remote <- lapply(urls, up)
  trusted <- make_dirs(withr::local_tempdir(), names, "curator")
  more <- vapply(names, function(n) httpuv::randomPort(), 0L)
  ends <- file.path(trusted, paste0("stop-", names))
  withr::defer(file.create(ends))
  for (i in 1:3) serve(file.path(trusted, names[i]), more[i], token, ends[i])
  expect_pooled_bits(do.call(sites, lapply(sprintf("http://127.0.0.1:%d/", more), up)))
  file.create(ends)
  r <- mean_of(do.call(sites, c(remote, list(shares = TRUE))))
  s <- mean_of(do.call(sites, c(remote, list(secure = TRUE, colluding = 0, dropouts = 1))))
  expect_identical(c(r$n, s$n), c(200, 200))
  expect_equal(r$scale / s$scale, sqrt(2), tolerance = 0.01) # sqrt(3) against sqrt(3/2)
  expect_error(site_http(urls[1], strrep("x", 40)), "401", class = "riemdp_error_refused")
  # the third falls: two are enough, and the ledger of a fallen one has what it paid
  file.create(stops[3])
  for (i in 1:300) {
    if (is.null(tryCatch(curl::curl_fetch_memory(urls[3]), error = function(e) NULL))) break
    Sys.sleep(0.1)
  }
  e <- expect_error(mean_of(do.call(sites, c(remote, list(secure = TRUE, colluding = 0, dropouts = 1)))), class = "riemdp_error_chunk")
  expect_match(conditionMessage(e), "nothing was asked")
  spent <- vapply(names, function(n) summary(dp_ledger(file.path(root, n, "ledger.sqlite")))$spent[1], 0)
  expect_equal(unname(spent[1]), unname(spent[3]), tolerance = 1e-9)
})

test_that("geodesic analysis over connections is that of their sites", {
  root <- make_dirs(withr::local_tempdir(), c("north", "south"))
  withr::local_options(riemdp.sites = root)
  asked <- NULL
  # what DSI would carry: a call of the aggregate method for one connection
  sends <- function(conns, site) {
    asked <<- list(conns, site)
    lapply(site, function(name) function(text) riemdpReplyDS(text_url(text), name))
  }
  site <- c("north", "south")
  with_internals({
    r <- ds_dp_pga("conns", M, 4, diag(2), 1.5, delta = 1e-6, site = site)
    at <- ds_dp_pga("conns", M, 2, diag(2), 1.5, delta = 1e-6, at = diag(2), how = list(shares = TRUE, colluding = 0), site = site)
    left <- ds_ledger("conns", site)
  }, ds_sends = sends)
  expect_identical(asked, list("conns", site))
  expect_s3_class(r, "riemdp_pga")
  expect_identical(r$n, 120)
  expect_identical(r$components$details, list(sites = 2L, colluding = 1L))
  expect_identical(at$components$details, list(sites = 2L, colluding = 0L))
  expect_identical(unique(left$site), site)
  expect_equal(left$spent[left$unit == "mu^2"], rep(guarantee(r)$mu^2 + 2 * guarantee(at)$mu^2, 2), tolerance = 1e-8)
})

test_that("DSLite's servers answer", {
  skip_if_not_installed("DSI")
  skip_if_not_installed("DSLite")
  skip_if_not_installed("sodium")
  of <- getExportedValue # neither is among the suggested packages
  root <- make_dirs(withr::local_tempdir(), c("s1", "s2", "s3"), "secure")
  withr::local_options(riemdp.sites = root)
  config <- of("DSLite", "defaultDSConfiguration")(include = "riemdp")
  builder <- of("DSI", "newDSLoginBuilder")()
  for (n in c("s1", "s2", "s3")) {
    assign(n, of("DSLite", "newDSLiteServer")(config = config), globalenv())
    eval(substitute(withr::defer(rm(list = name, envir = globalenv())), list(name = n)))
    builder$append(server = n, url = n, driver = "DSLiteDriver")
  }
  conns <- of("DSI", "datashield.login")(builder$build())
  withr::defer(of("DSI", "datashield.logout")(conns))
  site <- c("s1", "s2", "s3")
  for (how in list(list(shares = TRUE), list(secure = TRUE, colluding = 0))) {
    r <- ds_dp_mean(conns, M, 1, diag(2), 1.5, delta = 1e-6, how = how, site = site)
    expect_identical(r$n, 200)
    o <- ds_dp_optimize(conns, problem_huber(M, 1), 1, 1e-6, start = diag(2), steps = 3, how = how, site = site)
    expect_equal(o$steps, 3)
    expect_identical(ds_dp_pga(conns, M, 1, diag(2), 1.5, delta = 1e-6, how = how, site = site)$n, 200)
  }
  # the curator is trusted: refused unless the server allows it
  withr::local_options(riemdp.sites = make_dirs(withr::local_tempdir(), site, "curator"))
  expect_error(ds_sites(conns, site = site), "profile", class = "riemdp_error_refused")
  withr::local_options(riemdp.curator = TRUE)
  expect_pooled_bits(ds_sites(conns, site = site))
  withr::local_options(riemdp.sites = root, riemdp.curator = FALSE)
  # a table of its own beside them
  dir.create(file.path(root, "table"))
  columns <- c(alcohol = "number", pH = "number")
  write_site_policy(site_policy("table", least_noise = 0.1, columns = columns), file.path(root, "table", "policy.json"))
  dp_ledger(file.path(root, "table", "ledger.sqlite"), 10, 1e-6, rule = "gdp", create = TRUE)
  saveRDS(red_wine, file.path(root, "table", "records.rds"))
  wine <- ds_dp_lm(conns[1], pH ~ alcohol, 1, 1e-6, list(alcohol = c(8, 14), pH = c(center = 3.3, scale = 0.15)), site = "table")
  expect_identical(wine$n, as.double(nrow(red_wine)))
  expect_named(coef(wine), c("(Intercept)", "alcohol"))
  left <- ds_ledger(conns, site)
  expect_identical(unique(left$site), site)
  expect_equal(left$spent[1], 6 * guarantee(r)$mu^2, tolerance = 0.01)
  # nothing but the package's two methods, and no other's data
  expect_error(of("DSI", "datashield.aggregate")(conns, quote(readRDS("records.rds"))))
})
