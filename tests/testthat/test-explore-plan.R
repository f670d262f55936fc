# The page of explore_plan(): its server without a browser. Nothing here is a statistical test.

server <- function() riemdp:::explore_server

choose <- function(session, ...) {
  given <- list(space = "sphere", log_n = log10(200), log_epsilon = 0, radius = 0.4, delta = "0", mechanism = "auto", count = 3,
                again = structure(0L, class = c("shinyActionButtonValue", "integer")))
  do.call(session$setInputs, utils::modifyList(given, list(...)))
  session$elapse(500) # sliders come to rest
}

# the short form draws curves through three points in place of nine
with_page <- function(expr) {
  if (!quick()) return(expr)
  all <- riemdp:::plan_errors
  with_internals(expr, plan_errors = function(x, what, points) all(x, what, 3))
}

test_that("the page shows what dp_mean_plan() finds", {
  skip_if_not_installed("shiny")
  with_page(shiny::testServer(server(), {
    choose(session)
    want <- dp_mean_plan(sphere(2), 200, 1, c(0, 0, 1), 0.4)
    expect_equal(plan()$expected_error, want$expected_error)
    expect_equal(plan()$mechanism, want$mechanism)
    best <- want[want$chosen, ]
    expect_match(output$told, sprintf("expected error %.2g", best$expected_error), fixed = TRUE)
    expect_match(output$told, best$mechanism, fixed = TRUE)
    for (m in want$mechanism[!is.na(want$scale)]) expect_match(output$table, m, fixed = TRUE)
    expect_no_match(output$table, "gaussian", fixed = TRUE) # needs a delta
    expect_match(output$code, "dp_mean(x, sphere(2),\n        epsilon = 1,\n        center = center,\n        radius = 0.4)", fixed = TRUE)
    for (m in want$mechanism[!is.na(want$expected_error)]) expect_match(output$curves_key$html, m, fixed = TRUE)
    expect_match(output$key$html, "public ball", fixed = TRUE)
    choose(session, delta = "1e-6", log_n = 3, log_epsilon = log10(0.5), radius = 0.2, mechanism = "gaussian")
    expect_match(output$table, "gaussian", fixed = TRUE)
    expect_equal(attr(plan(), "ask")$n, 1000)
    expect_equal(attr(plan(), "ask")$epsilon, 0.5)
    expect_match(output$code, "mechanism = \"gaussian\"", fixed = TRUE)
    expect_match(output$told, "Origin of the public ball not stated.", fixed = TRUE)
    choose(session, source = " a \"map\" of 1980 ")
    expect_match(output$told, "Origin of the public ball: a \"map\" of 1980.", fixed = TRUE)
    expect_match(output$code, "source = \"a \\\"map\\\" of 1980\"", fixed = TRUE)
    choose(session, delta = "1e-6", log_n = 3, log_epsilon = log10(0.5), radius = 0.2, mechanism = "gaussian")
    expect_match(output$code, "delta = 1e-06", fixed = TRUE)
  }))
})

test_that("every space draws, with any number of releases", {
  skip_if_not_installed("shiny")
  spaces <- riemdp:::explore_spaces()
  for (name in names(spaces)) {
    with_page(shiny::testServer(server(), {
      choose(session, space = name, radius = spaces[[name]]$radius, count = if (name == "spd") 1 else 3)
      expect_true(file.exists(output$picture$src) || startsWith(output$picture$src, "data:image/png"))
      expect_match(output$picture$alt, "orange", fixed = TRUE)
      expect_true(nzchar(output$curves$src))
      expect_match(output$told, spaces[[name]]$label, fixed = TRUE)
    }))
  }
})

test_that("the code shown is one that runs, and its radius is allowed", {
  for (name in names(riemdp:::explore_spaces())) {
    space <- riemdp:::explore_spaces()[[name]]
    # at the end of the slider
    x <- with_simulation(1, riemdp:::explore_records(space, 100, space$limit))
    expect_true(all(mf_dist(space$M, space$center, x) <= space$limit))
    code <- riemdp:::explore_code(name, 100, 5, space$limit, 0, "auto", "a \"map\"")
    r <- eval(parse(text = code), list2env(list(x = x, center = space$center), parent = globalenv()))
    expect_s3_class(r, "riemdp_mean")
    expect_identical(r$manifold, space$M)
    expect_identical(r$source, "a \"map\"")
  }
})

test_that("what can't be had is said, not raised", {
  skip_if_not_installed("shiny")
  with_page(shiny::testServer(server(), {
    # the volume grows too fast for Laplace noise here, but not for the chosen mechanism
    choose(session, space = "spd", log_n = 1, log_epsilon = -1.5, radius = 3, mechanism = "laplace")
    expect_error(output$picture, class = "shiny.silent.error")
    expect_true(nzchar(output$table))
    expect_match(output$told, "of the radius (wrapped)", fixed = TRUE)
    # a slider that hasn't followed the space yet
    choose(session, space = "kendall", radius = 3)
    expect_equal(attr(plan(), "ask")$ball$radius, 0.39)
  }))
})

test_that("a picture can be drawn again, and is the same for the same click", {
  space <- riemdp:::explore_spaces()$sphere
  study <- function(seed) riemdp:::explore_study(space, 50, 1, 0.4, 0, "auto", 2, seed)
  expect_identical(study(1)$releases[[1]]$value, study(1)$releases[[1]]$value)
  expect_false(identical(study(1)$releases[[1]]$value, study(2)$releases[[1]]$value))
  expect_identical(guarantee(study(1)$releases[[1]])$label, "none") # simulated
})

test_that("the page is an application", {
  skip_if_not_installed("shiny")
  page <- explore_plan()
  expect_s3_class(page, "shiny.appobj")
  html <- as.character(riemdp:::explore_ui())
  for (id in c("space", "log_n", "log_epsilon", "radius", "source", "delta", "mechanism", "count", "again")) {
    expect_match(html, sprintf("id=\"%s\"", id), fixed = TRUE)
  }
})

test_that("the texts for a board and a ledger say what the release would be", {
  skip_if_not_installed("shiny")
  with_page(shiny::testServer(server(), {
    choose(session, source = "a map", log_epsilon = log10(0.5))
    board <- output$board
    # exp(.5)/(1 + exp(.5))
    for (text in c("Who is protected: one row", "at most 0.622,", "What isn't protected: the number of records", "clipping",
                   "Origin of the public ball: a map.")) {
      expect_match(board, text, fixed = TRUE)
    }
    expect_match(output$opening, "dp_ledger(\"study.ledger\", epsilon = 0.5, delta = 0, create = TRUE)", fixed = TRUE)
    choose(session, source = "", delta = "1e-6", mechanism = "gaussian", log_epsilon = 1.5)
    expect_match(output$board, "probability of at most 1 - ", fixed = TRUE)
    expect_match(output$board, "not stated", fixed = TRUE)
  }))
  # the line runs, and has room for the call
  path <- tempfile(fileext = ".ledger")
  w <- list(space = list(), epsilon = 0.25, radius = 1, source = "")
  line <- sub("study.ledger", path, riemdp:::explore_ledger(w, list(delta = 0)), fixed = TRUE)
  ledger <- eval(parse(text = line))
  on.exit(unlink(path))
  expect_s3_class(dp_mean(1:9 / 9, euclidean(1), 0.25, 0, 1, ledger = ledger), "riemdp_mean")
})

test_that("the page takes one's own space, and public records for the radius", {
  skip_if_not_installed("shiny")
  x <- wishart_spd[, , 1:60]
  spaces <- riemdp:::explore_own(spd(2), x, NULL)
  own <- spaces$own
  expect_identical(own$source, "computed from 60 records that were called public (dp_bounds_plan)")
  expect_lte(own$radius, own$limit)
  page <- explore_plan(spd(2), public = x)
  expect_s3_class(page, "shiny.appobj")
  html <- as.character(riemdp:::explore_ui(spaces))
  for (id in c("bounds", "bounds_told", "board", "opening")) expect_match(html, sprintf("id=\"%s\"", id), fixed = TRUE)
  expect_no_match(html, "simulated,", fixed = TRUE)
  expect_no_match(as.character(riemdp:::explore_ui()), "id=\"bounds\"", fixed = TRUE)
  expect_match(as.character(riemdp:::explore_ui()), "are simulated,", fixed = TRUE)
  bound <- riemdp:::explore_server
  formals(bound)$spaces <- spaces
  with_page(shiny::testServer(bound, {
    choose(session, space = "own", radius = own$radius)
    expect_match(output$told, "affine-invariant", fixed = TRUE)
    expect_match(output$told, "called public", fixed = TRUE)
    expect_match(output$code, "dp_mean(x, M,", fixed = TRUE)
    expect_match(output$bounds_told, "best radius", fixed = TRUE)
    expect_match(output$key$html, "drawn from the public ones", fixed = TRUE)
    expect_true(nzchar(output$bounds$src))
    expect_true(nzchar(output$picture$src))
  }))
  for (M in list(sphere(3), grassmann(4, 2), kendall(5))) {
    own <- riemdp:::explore_own(M, NULL, NULL)$own
    expect_true(riemdp:::allowed_radius(own$limit, M, own$center))
    expect_s3_class(dp_mean_plan(M, 200, 1, own$center, own$radius), "riemdp_mean_plan")
  }
  expect_error(explore_plan(spd(2, "bures")), "`center` is public", class = "riemdp_error_argument")
  expect_error(explore_plan(public = x), "give `M`", class = "riemdp_error_argument")
  expect_error(explore_plan(3), class = "riemdp_error_manifold")
})
