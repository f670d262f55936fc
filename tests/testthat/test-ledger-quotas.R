# Quotas of analysts in one ledger: what a share is of each rule's sums, that a quota only restricts, and that nothing gets around it unnoticed.

inner <- asNamespace("riemdp")
places <- function() c(list(NULL), if (requireNamespace("RSQLite", quietly = TRUE)) list(tempfile("ledger", fileext = ".sqlite")))
over <- function(expr, ...) expect_error(expr, ..., class = "riemdp_error_budget")
argument <- function(expr, ...) expect_error(expr, ..., class = "riemdp_error_argument")
make <- function(place, epsilon = 1, ..., quotas = c(anna = 0.5, ben = 0.3)) dp_ledger(place, epsilon, ..., create = !is.null(place), quotas = quotas)
as_analyst <- function(ledger, ...) lapply(stats::setNames(nm = c(...)), function(name) dp_ledger(ledger, analyst = name))
row_of <- function(ledger, analyst, unit = 1) {
  s <- summary(ledger)
  s[s$analyst %in% analyst & is.na(s$part), ][unit, ]
}

# ---- what a share is ---------------------------------------------------------------------------------------------------------

test_that("a quota is a share of each of the rule's sums, and holds to the last release", {
  # a release of which `k` use up all of a sum that may come to `limit`, by each rule: from the price of an event in closed form
  size <- list(basic = function(limit, k) event_pure(limit / k), zcdp = function(limit, k) event_gaussian(sqrt(k / (2 * limit))),
               rdp = function(limit, k) event_gaussian(sqrt(8 * k / (2 * limit))), gdp = function(limit, k) event_gaussian(sqrt(k / limit)))
  for (rule in names(size)) for (place in places()) {
    ledger <- make(place, 2, 1e-5, rule, orders = if (rule == "rdp") 8)
    whole <- dp_ledger(NULL, 2, 1e-5, rule, orders = if (rule == "rdp") 8)$limits
    for (name in c("anna", "ben")) expect_identical(row_of(ledger, name, 1:2)$limit, c(anna = 0.5, ben = 0.3)[[name]] * whole)
    expect_identical(row_of(ledger, NA, 1:2)$limit, whole)
    own <- as_analyst(ledger, "anna", "ben")
    event <- size[[rule]](0.5 * whole[1] * (1 - 1e-9), 3)
    for (i in 1:3) done <- ledger_spend(own$anna, event)
    expect_lt(done$left[[1]], 1e-8 * whole[1])
    over(ledger_spend(own$anna, size[[rule]](1e-6 * whole[1], 1)), "quota of analyst \"anna\" on data set \"default\"")
    expect_equal(row_of(ledger, "anna")$spent / whole[1], 0.5, tolerance = 1e-8)
    # it is hers alone
    expect_identical(row_of(ledger, "ben")$spent, 0)
    ledger_spend(own$ben, size[[rule]](0.3 * whole[1] * (1 - 1e-9), 1))
    expect_equal(row_of(ledger, NA)$spent / whole[1], 0.8, tolerance = 1e-8)
    expect_identical(nrow(ledger_history(ledger)), 4L)
    expect_true(ledger_verify(ledger, done)$ok)
  }
  # of steps and of the normal noise beside them
  expect_setequal(c(names(size), "steps"), names(inner$LEDGER_RULES))
  for (place in places()) {
    ledger <- make(place, 2, 1e-5, "steps", step = 0.05, reserve = 0.2)
    own <- as_analyst(ledger, "anna", "ben")
    whole <- ledger$limits[1:2]
    expect_identical(row_of(ledger, "ben", 1:3)$limit, 0.3 * c(whole, 0))
    ledger_spend(own$anna, event_compose(event_pure(0.05), times = floor(whole[1] / 2)))
    over(ledger_spend(own$anna, event_pure(0.05)), "quota of analyst \"anna\"")
    done <- ledger_spend(own$anna, event_gaussian((1 + 1e-9) / sqrt(whole[2] / 2)))
    over(ledger_spend(own$anna, event_gaussian(1e3)), "quota of analyst \"anna\"")
    ledger_spend(own$ben, event_compose(event_pure(0.05), times = floor(0.3 * whole[1])))
    expect_true(ledger_verify(ledger, done)$ok)
  }
  # and so it is of deltas
  for (rule in c("basic", "zcdp", "rdp")) {
    ledger <- make(NULL, 2, 1e-5, rule)
    most <- ledger$limits[length(ledger$limits)]
    anna <- dp_ledger(ledger, analyst = "anna")
    ledger_spend(anna, event_approx(1e-3, 0.49 * most))
    over(ledger_spend(anna, event_approx(1e-3, 0.02 * most)), "anna")
    ledger_spend(dp_ledger(ledger, analyst = "ben"), event_approx(1e-3, 0.02 * most))
  }
})

test_that("a quota only restricts: the whole budget holds as well", {
  for (place in places()) {
    ledger <- make(place, quotas = c(anna = 0.75, ben = 0.75, carl = 1))
    own <- as_analyst(ledger, "anna", "ben", "carl")
    ledger_spend(own$anna, event_pure(0.75))
    expect_identical(c(row_of(ledger, "ben")$left, row_of(ledger, "carl")$left, row_of(ledger, NA)$left), c(0.25, 0.25, 0.25))
    over(ledger_spend(own$ben, event_pure(0.5)), "the budget of data set \"default\" doesn't cover this: it costs epsilon 0.5, left 0.25")
    over(ledger_spend(own$ben, event_pure(0.8)), "the quota of analyst \"ben\" on data set \"default\" doesn't cover this: it costs epsilon 0.8, left 0.25")
    expect_identical(ledger_spend(own$ben, event_pure(0.125))$left[["epsilon"]], 0.125)
    ledger_spend(own$carl, event_pure(0.125))
    for (l in own) over(ledger_spend(l, event_pure(1e-9)))
    expect_identical(row_of(ledger, "ben")$share_left, 0)
    # other data sets have quotas of their own
    dp_ledger(ledger, data_sets = list(more = c("x", "y")))
    ledger_spend(own$anna, event_pure(0.5), data_set = "more", part = "y")
    expect_identical(subset(summary(ledger), analyst %in% "anna" & part %in% "y")$left[1], 0.25)
    expect_identical(summary(ledger)$analyst, rep(rep(c(NA, "anna", "ben", "carl"), each = 2), 4))
    expect_true(ledger_verify(ledger)$ok)
  }
})

test_that("who is admitted is what plain sums say, with parts and by several at once", {
  set.seed(4)
  units <- 64 # all prices are whole numbers of 64ths, so that sums are exact
  quotas <- c(anna = 32, ben = 24, carl = 48)
  sets <- list(trial = c("a", "b"), survey = NULL)
  for (place in places()) {
    ledger <- make(place, 1, 0.5, quotas = quotas / units, data_sets = sets)
    own <- as_analyst(ledger, names(quotas))
    done <- data.frame(set = character(), part = character(), who = character(), cost = numeric())
    total <- function(rows, set, part) {
      mine <- rows[rows$set == set, ]
      parts <- vapply(c("a", "b"), function(p) sum(mine$cost[mine$part == p]), 0)
      sum(mine$cost[mine$part == ""]) + if (part == "") max(parts) else parts[[part]]
    }
    refused <- 0
    for (i in seq_len(if (quick()) 60 else 150)) {
      set <- sample(names(sets), 1)
      part <- if (set == "trial") sample(c("", "a", "b"), 1) else ""
      one <- data.frame(set, part, who = sample(names(quotas), 1), cost = sample(8, 1))
      after <- rbind(done, one)
      fits <- total(after, set, part) <= units && total(after[after$who == one$who, ], set, part) <= quotas[[one$who]]
      spend <- function() ledger_spend(own[[one$who]], event_pure(one$cost / units), data_set = set, part = if (part != "") part)
      if (fits) spend() else over(spend())
      if (fits) done <- after else refused <- refused + 1
    }
    expect_gt(refused, 15)
    expect_gt(nrow(done), 15)
    for (set in names(sets)) for (who in names(quotas)) {
      seen <- subset(summary(ledger), data_set == set & is.na(part) & analyst %in% who & unit == "epsilon")
      mine <- done[done$who == who, ]
      expect_identical(c(seen$spent * units, seen$releases), c(total(mine, set, ""), sum(mine$set == set)))
      expect_identical(seen$left * units, min(quotas[[who]] - total(mine, set, ""), units - total(done, set, "")))
    }
    expect_identical(ledger_history(ledger)$analyst[ledger_history(ledger)$data_set == "trial"], done$who[done$set == "trial"])
    expect_true(ledger_verify(ledger)$ok)
  }
})

test_that("equal shares use a quota up at its limit, and shares that add up to 1 the budget", {
  for (analysts in c(3, 7, 10)) {
    names <- paste0("a", seq_len(analysts))
    ledger <- make(NULL, quotas = stats::setNames(rep(1 / analysts, analysts), names))
    for (own in as_analyst(ledger, names)) {
      for (i in 1:3) ledger_spend(own, event_pure(1 / analysts / 3))
      over(ledger_spend(own, event_pure(1e-12)), "quota")
    }
    expect_true(ledger_verify(ledger)$ok)
    expect_lt(row_of(ledger, NA)$left, 1e-15)
  }
})

test_that("at an order of a grid where nothing is known her quota is used up as well", {
  ledger <- make(NULL, 2, 1e-5, "rdp", orders = c(12, 20))
  own <- as_analyst(ledger, "anna", "ben")
  ledger_spend(own$anna, event_rdp(12, 0.01))
  expect_identical(row_of(ledger, "anna", 1:2)$left > 0, c(TRUE, FALSE))
  room <- row_of(ledger, "anna")$left
  over(ledger_spend(own$anna, event_rdp(12, room * 1.001)), "quota")
  ledger_spend(own$anna, event_rdp(12, room * 0.999))
  expect_identical(row_of(ledger, "ben", 1:2)$left > 0, c(TRUE, FALSE)) # of the whole nothing is left at that order
  expect_true(ledger_verify(ledger)$ok)
})

# ---- who spends --------------------------------------------------------------------------------------------------------------

test_that("without a name a ledger with quotas is read, and nothing is spent or drawn", {
  M <- euclidean(2)
  x <- cbind(quakes$long, quakes$lat)
  drawn <- 0
  watch_releases("mean_mechanisms", function() drawn <<- drawn + 1)
  mean <- function(ledger, epsilon = 0.25) dp_mean(x, M, epsilon, center = c(175, -20), radius = 15, mechanism = "laplace", ledger = ledger)
  for (place in places()) {
    ledger <- make(place)
    own <- as_analyst(ledger, "anna", "ben")
    drawn <- 0
    expect_error(ledger_spend(ledger, event_pure(0.1)), "dp_ledger(path, analyst = )", fixed = TRUE, class = "riemdp_error_ledger")
    expect_error(mean(ledger), class = "riemdp_error_ledger")
    over(mean(own$ben, 0.31), "the quota of analyst \"ben\"")
    expect_identical(c(drawn, nrow(ledger_history(ledger))), c(0, 0))
    r <- mean(own$anna)
    expect_identical(drawn, 1)
    expect_identical(r$budget$cost, c(epsilon = 0.25, delta = 0))
    expect_true(ledger_verify(ledger, r)$ok)
    expect_identical(summary(ledger), summary(own$ben))
    expect_identical(ledger_history(ledger)[c("analyst", "epsilon")], data.frame(analyst = "anna", epsilon = 0.25))
    report <- ledger_report(ledger)
    expect_identical(report$facts[["quotas"]], "anna 0.5, ben 0.3")
    expect_identical(report$accounts, summary(ledger))
    page <- tempfile(fileext = ".html")
    ledger_report(own$anna, page)
    expect_match(paste(readLines(page), collapse = ""), "<th>analyst</th>.*<td>anna</td>.*<td>ben</td>.*<td>anna</td>")
    expect_output(print(ledger), "quotas of analysts; opened to read")
    expect_output(print(own$anna), "opened as \"anna\".*analyst \"anna\": 1 release, left epsilon 0.25 of 0.5; enough for one pure release with .* = 0.25")
    expect_output(print(own$anna), "analyst \"ben\": 0 releases, left epsilon 0.3 of 0.3;")
    grDevices::pdf(NULL)
    expect_identical(plot(ledger), ledger)
    grDevices::dev.off()
    # a simulation is free, by whatever name
    expect_output(print(with_simulation(1, mean(ledger))), "nothing was taken")
  }
})

test_that("quotas are made once, with the ledger, and only its analysts open it", {
  twice <- stats::setNames(c(0.1, 0.2), c("a", "a"))
  for (bad in list(twice, 0.5, c(a = 0), c(a = -1), c(a = 1.001), c(a = NA), c(a = Inf), c(a = "1"), numeric(), c(a = 0.1, 0.2), list(a = 1),
                   stats::setNames(0.5, NA), stats::setNames(0.5, strrep("a", 201)), stats::setNames(rep(0.001, 1001), seq_len(1001)), TRUE)) {
    argument(dp_ledger(NULL, 1, quotas = bad))
  }
  argument(dp_ledger(NULL, 1, quotas = c(anna = 0.5), analyst = "ben"), "no quota for the analyst \"ben\"")
  argument(dp_ledger(NULL, 1, analyst = "anna"), "quotas")
  for (place in places()) {
    # refused before there is a ledger
    argument(dp_ledger(place, 1, create = !is.null(place), quotas = c(anna = 0.5), analyst = "ben"))
    if (!is.null(place)) expect_false(file.exists(place))
    ledger <- make(place)
    again <- if (is.null(place)) ledger else place
    for (bad in list("carl", "Anna", "", NA_character_, 1, c("anna", "ben"), list("anna"))) argument(dp_ledger(again, analyst = bad))
    expect_error(dp_ledger(again, quotas = c(anna = 0.6, ben = 0.3)), "quotas = anna 0.5, ben 0.3, which can't be changed", class = "riemdp_error_ledger")
    for (other in list(c(anna = 0.5), c(anna = 0.3, ben = 0.5), c(anna = 0.5, ben = 0.3, carl = 0.1))) {
      expect_error(dp_ledger(again, quotas = other), class = "riemdp_error_ledger")
    }
    expect_identical(dp_ledger(again, quotas = c(ben = 0.3, anna = 0.5), analyst = "ben")$analyst, "ben")
    expect_identical(dp_ledger(dp_ledger(again, analyst = "ben"))$analyst, NULL)
    # an object that was changed by hand
    anna <- dp_ledger(again, analyst = "anna")
    richer <- anna
    richer$quotas[["anna"]] <- 1
    expect_error(ledger_spend(richer, event_pure(0.1)), class = "riemdp_error_ledger")
    for (field in c("quotas", "analyst")) for (bad in list(NA, "", list(), function() 1, 1:3, c(carl = 1))) {
      bent <- anna
      bent[[field]] <- bad
      expect_error(ledger_spend(bent, event_pure(0.1)), class = "riemdp_error")
      expect_error(summary(bent), class = "riemdp_error")
    }
    free <- anna
    free$quotas <- numeric()
    free$analyst <- NULL
    expect_error(ledger_spend(free, event_pure(0.1)), class = "riemdp_error_ledger")
    expect_identical(nrow(ledger_history(ledger)), 0L)
  }
  # a ledger without any gets none
  plain <- dp_ledger(NULL, 1)
  expect_error(dp_ledger(plain, quotas = c(anna = 0.5)), "quotas = none", class = "riemdp_error_ledger")
  expect_identical(dp_ledger(plain)$uid, plain$uid)
  expect_false("analyst" %in% c(names(summary(plain)), names(ledger_history(plain))))
})

test_that("names of analysts may be any", {
  odd <- c("caf\u00e9", "a b", "a=b", "%41", "A", "'; DROP TABLE riemdp_quota; --", "?set", "x\r\ny", strrep("\U1F600", 200), "NA", ".a", "\"", "1e5")
  for (place in places()) {
    ledger <- make(place, quotas = stats::setNames(seq_along(odd) / 64, odd))
    for (i in seq_along(odd)) {
      own <- dp_ledger(if (is.null(place)) ledger else place, analyst = odd[i])
      ledger_spend(own, event_pure(i / 1024))
      over(ledger_spend(own, event_pure(i / 64)), odd[i], fixed = TRUE)
    }
    expect_identical(ledger_history(ledger)$analyst, odd)
    s <- subset(summary(ledger), unit == "epsilon" & !is.na(analyst))
    expect_identical(s$spent[match(odd, s$analyst)], seq_along(odd) / 1024)
    expect_identical(ledger_verify(ledger)$findings$says, character())
    expect_identical(dp_ledger(if (is.null(place)) ledger else place, analyst = iconv("caf\u00e9", "UTF-8", "latin1"))$analyst, "caf\u00e9")
  }
  old <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", old))
  suppressWarnings(Sys.setlocale("LC_CTYPE", "C"))
  for (place in places()) {
    ledger <- make(place, quotas = stats::setNames(rep(0.5, length(odd)), odd))
    for (name in odd) ledger_spend(dp_ledger(if (is.null(place)) ledger else place, analyst = name), event_pure(1 / 64))
    expect_true(ledger_verify(ledger)$ok)
  }
})

# ---- processes ---------------------------------------------------------------------------------------------------------------

test_that("processes that spend at once share a quota, and a killed one gives nothing back", {
  skip_without_sqlite()
  skip_on_os(c("windows", "mac"))
  file <- tempfile("ledger", fileext = ".sqlite")
  make(file, 1, quotas = c(anna = 0.25, ben = 0.5))
  spend <- function(name, tries) {
    own <- dp_ledger(file, analyst = name)
    sum(vapply(seq_len(tries), function(i) {
      tryCatch(ledger_spend(own, event_pure(1 / 64))$entry > 0, riemdp_error_budget = function(e) FALSE)
    }, NA))
  }
  jobs <- lapply(c("anna", "anna", "ben"), function(name) parallel::mcparallel(spend(name, 12), silent = TRUE))
  expect_identical(sort(unlist(parallel::mccollect(jobs), use.names = FALSE)[1:2] |> sum()), 16L)
  ledger <- dp_ledger(file)
  expect_identical(c(row_of(ledger, "anna")$spent, row_of(ledger, "ben")$spent, row_of(ledger, NA)$spent), c(16, 12, 28) / 64)
  expect_identical(as.vector(table(ledger_history(ledger)$analyst)), c(16L, 12L))
  # killed when all sums are written and the entry isn't, and before any is
  die <- function(...) {
    tools::pskill(Sys.getpid(), tools::SIGKILL)
    Sys.sleep(60)
  }
  ben <- dp_ledger(file, analyst = "ben")
  for (at in c("utc_now", "write_own")) {
    suppressWarnings(parallel::mccollect(parallel::mcparallel({
      unlockBinding(at, inner)
      assign(at, die, envir = inner)
      ledger_spend(ben, event_pure(1 / 64))
    }, silent = TRUE)))
    expect_identical(c(row_of(ledger, "ben")$spent, row_of(ledger, NA)$spent), c(12, 28) / 64)
  }
  expect_true(ledger_verify(ledger)$ok)
  # and after the commit it is spent
  suppressWarnings(parallel::mccollect(parallel::mcparallel({
    ledger_spend(ben, event_pure(20 / 64))
    die()
  }, silent = TRUE)))
  over(ledger_spend(ben, event_pure(1 / 64)), "ben")
  expect_identical(row_of(ledger, "ben")$left, 0)
})

test_that("a part by a public column takes no record of another part, and holds for all parts from then on", {
  x <- cbind(seq(-1, 1, length.out = 30), 0.2)
  site <- rep(c("north", "south"), c(20, 10))
  north <- site == "north"
  part <- function(name, key, ...) ledger_part(name, key, "site", ...)
  argument(part("north", site), "not every record is of the part \"north\"")
  argument(part("north", c("north", NA)))
  for (bad in list(character(), 1, NULL, list("north"), cbind("north"))) argument(part("north", bad))
  argument(ledger_part("", "north"))
  expect_output(print(part("north", site[north])), "^part \"north\" by the column \"site\"$")
  for (place in places()) {
    ledger <- dp_ledger(place, 3, create = !is.null(place), data_sets = list(trial = c("north", "south"), other = c("north", "south")))
    mean_of <- function(x, part, data_set = "trial") {
      dp_mean(x, euclidean(2), 0.5, center = c(0, 0), radius = 2, ledger = ledger, data_set = data_set, part = part)
    }
    spent_by <- function(data_set) sum(ledger_history(ledger)$data_set == data_set)
    # one value for each record
    argument(mean_of(x, part("north", site[north])), "one value for each record")
    expect_identical(spent_by("trial"), 0L)
    r <- mean_of(x[north, ], part("north", factor(site)[north]))
    expect_identical(r$budget$part, "north")
    expect_identical(ledger_history(ledger)$part, "north")
    # the same records as another part: only with a column that says so, of another name, or without one
    argument(mean_of(x[north, ], "south"), "ledger_part\\(name, key, \"site\"\\)")
    argument(mean_of(x[north, ], "north"), "told apart by the column")
    argument(mean_of(x[north, ], ledger_part("south", rep("south", 20), "ward")), "told apart by the column \"site\"")
    argument(ledger_spend(ledger, event_pure(0.1), data_set = "trial", part = "south"), "told apart")
    # nor by what only looks like one, or is no name
    argument(ledger_spend(ledger, event_pure(0.1), data_set = "trial", part = structure("south", column = "site")), "told apart")
    argument(ledger_spend(ledger, event_pure(0.1), data_set = "trial", part = factor("south")), "`part` must be one string")
    argument(inner$spend_event(ledger, event_pure(0.1), "x", "trial", "south", files = "a file"), "told apart")
    expect_identical(spent_by("trial"), 1L)
    mean_of(x[!north, ], part("south", site[!north]))
    ledger_spend(ledger, event_pure(0.1), data_set = "trial", part = part("south", "south"))
    mean_of(x, NULL)
    # another data set is free to do otherwise
    mean_of(x[north, ], "south", "other")
    mean_of(x[north, ], part("north", site[north]), "other")
    argument(mean_of(x[north, ], "south", "other"), "told apart")
    expect_identical(c(spent_by("trial"), spent_by("other")), c(4L, 2L))
    expect_true(ledger_verify(ledger)$ok)
  }
})

test_that("a refused release binds neither a column nor a file", {
  for (place in places()) {
    ledger <- dp_ledger(place, 1, create = !is.null(place), data_sets = list(trial = c("north", "south")))
    spend <- function(part, files) inner$spend_event(ledger, event_pure(0.1), "x", "trial", part, files = files)
    spend("north", "a")
    argument(spend(ledger_part("south", "south", "site"), "a"), "parts must not overlap")
    argument(spend("south", c("a", "b")), "parts must not overlap")
    spend("north", "b")
    expect_identical(nrow(ledger_history(ledger)), 2L)
  }
})

test_that("each function holds a part's column to its number of records", {
  set.seed(1)
  n <- 40
  x <- cbind(runif(n, -1, 1), runif(n, -1, 1))
  M <- euclidean(2)
  d <- data.frame(y = runif(n), a = runif(n), z = rep(0:1, n / 2), g = factor(rep(c("p", "q"), n / 2)))
  calls <- list(
    mean = function(...) dp_mean(x, M, 1, center = c(0, 0), radius = 2, ...),
    size = function(...) dp_mean(x, M, 1, center = c(0, 0), radius = 2, neighbours = "add_remove", ...),
    groups = function(...) dp_mean(x, M, 1, center = c(0, 0), radius = 2, by = d$g, ...),
    variance = function(...) dp_variance(x, M, 1, center = c(0, 0), radius = 2, ...),
    covariance = function(...) dp_covariance(x, M, 1, center = c(0, 0), radius = 2, at = c(0, 0), ...),
    median = function(...) dp_median(x, M, 1, center = c(0, 0), radius = 2, ...),
    pga = function(...) dp_pga(x, M, 1, center = c(0, 0), radius = 2, ...),
    pca = function(...) dp_pca(x, 1, 1, bound = 2, ...),
    lm = function(...) dp_lm(y ~ a, d, 1, bounds = list(y = c(0, 1), a = c(0, 1)), ...),
    glm = function(...) dp_glm(z ~ a, d, 1, bounds = list(a = c(0, 1), z = c(0, 1)), ...),
    local = function(...) dp_local(x, M, 1, center = c(0, 0), radius = 2, ...),
    ball = function(...) dp_ball(x, M, 1, center = c(0, 0), radius = 4, ...),
    conformal = function(...) dp_conformal(x, M, 5, at = c(0, 0), bound = 4, level = 0.5, ...),
    optimize = function(...) dp_optimize(problem_huber(spd(2), threshold = 1), wishart_spd[, , 1:40], epsilon = 1, delta = 1e-3, start = diag(2),
                                         clip = 1, lr = 0.1, steps = 3, ...)
  )
  for (name in names(calls)) {
    ledger <- dp_ledger(NULL, 100, 0.1, data_sets = list(trial = c("north", "south")), pairs = TRUE)
    ask <- function(count) calls[[name]](ledger = ledger, data_set = "trial", part = ledger_part("north", rep("north", count), "site"))
    argument(ask(n - 1), "one value for each record")
    expect_identical(nrow(ledger_history(ledger)), 0L, label = name)
    ask(n)
    expect_identical(ledger_history(ledger)$part, "north", label = name)
  }
})

test_that("PostgreSQL: quotas hold on a server as well", {
  server <- postgres_start()
  on.exit(postgres_stop(server))
  odd <- "O'Brien ?set \u00fc"
  ledger <- dp_ledger(server$open, 1, create = TRUE, quotas = stats::setNames(c(0.25, 0.5), c("anna", odd)),
                      data_sets = list(default = NULL, trial = c("a", "b")))
  expect_identical(names(dp_ledger(server$open)$quotas), c(odd, "anna"))
  spend <- function(name, tries) {
    own <- dp_ledger(server$open, analyst = name)
    sum(vapply(seq_len(tries), function(i) {
      tryCatch(ledger_spend(own, event_pure(1 / 16))$entry > 0, riemdp_error_budget = function(e) FALSE)
    }, NA))
  }
  jobs <- lapply(c("anna", "anna", odd), function(name) parallel::mcparallel(spend(name, 3), silent = TRUE))
  done <- unlist(parallel::mccollect(jobs), use.names = FALSE)
  expect_identical(c(done[1] + done[2], done[3]), c(4L, 3L))
  own <- dp_ledger(server$open, analyst = odd)
  for (part in list("a", NULL)) ledger_spend(own, event_pure(0.25), data_set = "trial", part = part)
  over(ledger_spend(own, event_pure(0.25), data_set = "trial", part = "a"), odd, fixed = TRUE)
  seen <- subset(summary(ledger), unit == "epsilon" & is.na(part) & !is.na(analyst))
  expect_identical(seen$spent, c(3, 4, 8, 0) / 16)
  # and a file is of one part
  release <- function(part) inner$spend_event(dp_ledger(ledger, analyst = "anna"), event_pure(1 / 32), "x", "trial", part, files = "a 'file'")
  for (i in 1:2) release("b")
  argument(release("a"), "part \"b\" of data set")
  expect_true(ledger_verify(ledger)$ok)
  server$query("ALTER TABLE riemdp_quota SET UNLOGGED")
  expect_error(ledger_spend(own, event_pure(0.01)), "unlogged", class = "riemdp_error_ledger")
  server$query("ALTER TABLE riemdp_quota SET LOGGED", "UPDATE riemdp_quota SET spent = largest_part WHERE analyst = 'anna'")
  expect_identical(unique(ledger_verify(ledger)$findings$kind), "sums")
})

# ---- the chain ---------------------------------------------------------------------------------------------------------------

test_that("quotas and analysts are in the text that is hashed", {
  ledger <- make(NULL, quotas = c("b \u00fc" = 0.25, anna = 0.5))
  receipt <- as.data.frame(ledger_receipt(ledger_spend(dp_ledger(ledger, analyst = "b \u00fc"), event_pure(0.125))))
  field <- function(x) sprintf("%d:%s,", length(charToRaw(enc2utf8(x))), x)
  hash <- function(...) digest::digest(enc2utf8(paste0(...)), "sha256", serialize = FALSE)
  begin <- hash("15:riemdp-ledger-2,", field(ledger$uid), "5:basic,6:0x1p+0,6:0x0p+0,11:replace-one,6:0x0p+0,0:,13:0x1p+0 0x0p+0,10:0x1p+0 row,",
                field(inner$memory_state(ledger)$meta$made_at), field("anna=0x1p-1 b%20%C3%BC=0x1p-2"), "0:,")
  made_at <- ledger_history(ledger)$made_at
  expect_identical(receipt$head, hash("14:riemdp-entry-2,", field(ledger$uid), field(begin), "1:1,7:default,1:1,0:,", field(made_at), "0:,~,",
                                      field("pure(epsilon = 0.125) [adjacency open]"), "13:0x1p-3 0x0p+0,", field("b \u00fc")))
})

test_that("quotas, analysts and their sums that were changed by hand are told", {
  skip_without_sqlite()
  kept <- tempfile("ledger", fileext = ".sqlite")
  own <- as_analyst(make(kept, 1, 1e-5, "zcdp", data_sets = list(default = NULL, trial = c("a", "b"))), "anna", "ben")
  ledger_spend(own$anna, event_pure(0.03), "first")
  ledger_spend(own$ben, event_pure(0.02), "second")
  ledger_spend(own$anna, event_pure(0.01), "third", data_set = "trial", part = "a")
  ledger_spend(own$anna, event_pure(0.01), "fourth", data_set = "trial")
  expect_identical(ledger_verify(own$anna)$findings$says, character())
  zero <- "'0x0p+0 0x0p+0 0x0p+0 0x0p+0'"
  entry <- function(to) sprintf("UPDATE riemdp_entry SET analyst = %s WHERE link = 2", to)
  attacks <- list(
    raised = list("UPDATE riemdp_ledger SET quotas = 'anna=0x1p+0 ben=0x1.3333333333333p-2'", c("entry", "facts")),
    none = list("UPDATE riemdp_ledger SET quotas = ''", c("entry", "facts")), null = list("UPDATE riemdp_ledger SET quotas = NULL", c("entry", "facts")),
    garbage = list("UPDATE riemdp_ledger SET quotas = '%zz=1 =='", c("entry", "facts")),
    bytes = list("UPDATE riemdp_ledger SET quotas = CAST(quotas AS BLOB)", c("entry", "facts")),
    above = list("UPDATE riemdp_ledger SET quotas = 'anna=0x1p+4 ben=0x1.3333333333333p-2'", c("entry", "facts")),
    one_more = list("UPDATE riemdp_ledger SET quotas = quotas || ' carl=0x1p+0'", c("entry", "facts", "sums")),
    column = list("ALTER TABLE riemdp_ledger DROP COLUMN quotas", c("entry", "facts", "tables")),
    format = list("UPDATE riemdp_ledger SET format = 3", "facts"),
    put_back = list(c("ALTER TABLE riemdp_ledger DROP COLUMN quotas", "UPDATE riemdp_ledger SET format = 3"), c("entry", "facts", "tables")),
    analyst = list(entry("'anna'"), c("entry", "sums")), nobody = list(entry("NULL"), c("entry", "sums")), stranger = list(entry("'carl'"), c("entry", "sums")),
    bytes_of = list(entry("CAST(analyst AS BLOB)"), "entry"), hidden = list(entry("analyst || char(0) || 'x'"), "entry"),
    analysts = list("ALTER TABLE riemdp_entry DROP COLUMN analyst", c("entry", "sums", "tables")),
    reset = list(sprintf("UPDATE riemdp_quota SET spent = %s WHERE analyst = 'anna'", zero), "sums"),
    largest = list(sprintf("UPDATE riemdp_quota SET largest_part = %s", zero), "sums"),
    part = list(sprintf("UPDATE riemdp_quota SET spent = %s WHERE part = 'a'", zero), "sums"),
    count = list("UPDATE riemdp_quota SET version = 0", "sums"), gone = list("DELETE FROM riemdp_quota WHERE analyst = 'ben'", "sums"),
    part_gone = list("DELETE FROM riemdp_quota WHERE part = 'b'", "sums"), all_gone = list("DROP TABLE riemdp_quota", c("sums", "tables")),
    moved = list("UPDATE riemdp_quota SET analyst = 'carl' WHERE analyst = 'ben'", "sums"),
    type = list("UPDATE riemdp_quota SET spent = CAST(spent AS BLOB)", "facts"),
    trigger = list("CREATE TRIGGER zz AFTER INSERT ON riemdp_entry BEGIN UPDATE riemdp_quota SET version = 0; END", "tables")
  )
  stops <- c("raised", "none", "null", "garbage", "bytes", "above", "one_more", "column", "put_back", "format", "gone", "all_gone", "analysts", "moved")
  for (name in names(attacks)) {
    file <- tempfile("ledger", fileext = ".sqlite")
    file.copy(kept, file)
    ledger <- dp_ledger(file)
    for (sql in attacks[[name]][[1]]) at_file(file, DBI::dbExecute, sql)
    forget_ledger(file)
    found <- suppressWarnings(ledger_verify(ledger))
    expect_identical(sort(unique(found$findings$kind)), attacks[[name]][[2]], label = name)
    expect_false(found$ok, label = name)
    # nobody opens what can't be read, or spends by an object that has other quotas
    if (name %in% stops) {
      ben <- tryCatch(dp_ledger(file, analyst = "ben"), error = identity)
      if (name %in% c("none", "null", "garbage", "bytes", "above", "column", "format")) expect_s3_class(ben, "riemdp_error")
      before <- ledger
      before$analyst <- "ben"
      spend <- if (inherits(ben, "error")) ben else tryCatch(ledger_spend(before, event_pure(0.001)), error = identity)
      expect_s3_class(spend, "riemdp_error")
    }
  }
  # a quota that was raised for a while: sums and hashes fit, and the entries cost more
  ledger <- make(NULL)
  state <- inner$memory_state(ledger)
  state$meta$quotas[["anna"]] <- 1
  free <- ledger
  free$quotas[["anna"]] <- 1
  ledger_spend(dp_ledger(free, analyst = "anna"), event_pure(0.6))
  state$meta$quotas[["anna"]] <- 0.5
  expect_identical(ledger_verify(ledger)$findings[c("kind", "says")],
                   data.frame(kind = "over", says = "analyst \"anna\": its entries cost more than the quota"))
})

test_that("ledgers without quotas stay as they are, and other versions refuse those with them", {
  skip_without_sqlite()
  tables <- function(file) {
    list(sort(at_file(file, DBI::dbListTables)), at_file(file, DBI::dbListFields, "riemdp_ledger"), at_file(file, DBI::dbListFields, "riemdp_entry"),
         at_file(file, DBI::dbGetQuery, "SELECT format FROM riemdp_ledger")[[1]])
  }
  plain <- tempfile(fileext = ".sqlite")
  ledger_spend(dp_ledger(plain, 1, create = TRUE), event_pure(0.25))
  before <- c("budget_rule", "epsilon", "delta", "adjacency", "reserve", "orders", "limits", "made_at", "sampled", "links", "head", "earlier")
  expect_identical(tables(plain), list(c("riemdp_account", "riemdp_entry", "riemdp_ledger", "riemdp_token"), c("id", "uid", "format", before),
                                       inner$ENTRY_COLUMNS, 3L))
  expect_error(dp_ledger(plain, quotas = c(anna = 0.5)), class = "riemdp_error_ledger")
  argument(dp_ledger(plain, analyst = "anna"))
  make_old(plain)
  again <- dp_ledger(plain)
  ledger_spend(again, event_pure(0.25))
  expect_true(ledger_verify(again)$ok)
  with <- tempfile(fileext = ".sqlite")
  make(with)
  expect_identical(tables(with)[[4]], 4L)
})

# ---- together with all else --------------------------------------------------------------------------------------------------

test_that("quotas are of a sample's limits, and count groups of two as what they are", {
  for (place in places()) {
    ledger <- make(place, 1, sampled = 0.25, quotas = c(anna = 0.5, ben = 0.5))
    inside <- log(1 + expm1(1) / 0.25)
    expect_equal(row_of(ledger, "anna")$limit, inside / 2, tolerance = 1e-11)
    anna <- dp_ledger(ledger, analyst = "anna", pairs = TRUE)
    ledger_spend(anna, event_pure(inside / 5, adjacency = "add-remove")) # twice that
    expect_equal(row_of(ledger, "anna")$spent, 0.4 * inside)
    over(ledger_spend(anna, event_pure(inside / 15, adjacency = "add-remove")), "anna")
    over(ledger_spend(anna, event_pure(inside * 0.11)), "anna")
    expect_error(ledger_spend(dp_ledger(ledger, analyst = "ben"), event_pure(0.1, adjacency = "add-remove")), class = "riemdp_error_adjacency")
    expect_true(ledger_verify(ledger)$ok)
  }
})

test_that("a run that was paid from a quota goes on, by whoever opens the ledger", {
  ledger <- make(NULL, 2, 1e-5)
  token <- inner$ledger_token(dp_ledger(ledger, analyst = "anna"), "a seal")
  expect_true(inner$ledger_use_token(ledger, token, "a seal"))
})

test_that("a ledger is opened once more by itself", {
  skip_without_sqlite()
  file <- tempfile(fileext = ".sqlite")
  ledger <- dp_ledger(file, 1, create = TRUE)
  expect_identical(dp_ledger(ledger), ledger)
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  for (path in list(con, function() DBI::dbConnect(RSQLite::SQLite(), file))) expect_identical(dp_ledger(dp_ledger(path))$uid, ledger$uid)
  DBI::dbDisconnect(con)
  expect_error(dp_ledger(ledger, 2), class = "riemdp_error_ledger")
  expect_error(dp_ledger(ledger, 1, create = TRUE), class = "riemdp_error_ledger")
  # another one in its place
  unlink(file)
  inner$drop_connection(ledger$path)
  dp_ledger(file, 1, create = TRUE)
  expect_error(dp_ledger(ledger), "another ledger", class = "riemdp_error_ledger")
  unlink(file)
  inner$drop_connection(ledger$path)
  expect_error(dp_ledger(ledger), class = "riemdp_error_ledger")
  expect_error(dp_ledger(ledger, 1, create = TRUE), class = "riemdp_error_ledger")
  bent <- ledger
  bent$path <- NULL
  argument(dp_ledger(bent), "`path` must be a ledger")
})
