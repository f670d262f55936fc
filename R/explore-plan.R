# A page with sliders over dp_mean_plan(), by 'shiny', which is only suggested.

# What can be chosen: space, public centre, largest radius offered (below what the mechanisms allow) and the one to
# begin with. `blob` is a shape of 20 landmarks that belongs to nobody.
explore_spaces <- function() {
  t <- 2 * pi * seq_len(20) / 20
  blob <- complex(real = 2 * cos(t), imaginary = sin(t) + 0.4 * cos(2 * t))
  list(
    sphere = list(label = "directions (sphere)", M = sphere(2), center = c(0, 0, 1), limit = 0.78, radius = 0.4),
    spd = list(label = "2 x 2 covariance matrices", M = spd(2), center = diag(2), limit = 3, radius = 1.5),
    hyperbolic = list(label = "hierarchies (hyperbolic plane)", M = hyperbolic(2, "ball"), center = c(0, 0), limit = 2,
                      radius = 1),
    kendall = list(label = "outlines of 20 landmarks", M = kendall(20), center = blob, limit = 0.39, radius = 0.25),
    euclidean = list(label = "points of the plane", M = euclidean(2), center = c(0, 0), limit = 5, radius = 1)
  )
}

# The user's own space: its centre and radius are the best for the public records where there are any, else those given
explore_own <- function(M, public, center) {
  check_manifold(M)
  plan <- if (!is.null(public)) dp_bounds_plan(M, n = 200, epsilon = 1, public = public, centers = center)
  center <- public_point(M, public_center(M, plan$center %||% center))
  wide <- if (is.null(plan)) 3 else 3 * max(mf_dist(M, center, public))
  limit <- Find(function(r) allowed_radius(r, M, center), wide * 0.97^(0:300))
  if (is.null(limit)) abort_riemdp("radius", "no radius is allowed around this centre.")
  limit <- signif(limit * 0.999, 3) * 0.999
  list(own = list(label = label_manifold(M), M = M, center = center, limit = limit,
                  radius = min(limit, signif(as.vector(plan$radius %||% (limit / 2)), 2)),
                  step = signif(limit / 300, 1), public = public, source = plan$source))
}

explore_records_word <- function(space) {
  if (is.null(space$public)) "simulated records" else "records drawn from the public ones"
}

# n records for the picture: of the public ones where there are any, else simulated in the public ball, normal around a
# point a third of the radius from the centre
explore_records <- function(space, n, radius) {
  if (!is.null(space$public)) {
    x <- plain_numbers(space$public)
    return(records_of(x, sample.int(records_in(x), n, replace = TRUE)))
  }
  d <- mf_facts(space$M)$dimension
  a <- matrix(stats::rnorm(n * d), n) * radius / (3 * sqrt(d))
  a[, 1] <- a[, 1] + radius / 3
  a <- a * pmin(1, 0.999 * radius / sqrt(rowSums(a^2)))
  mf_exp(space$M, space$center, mf_from_coords(space$M, space$center, a))
}

# list(x, mean, releases): a study with `count` releases of the same records; mechanisms without a plan raise as
# dp_mean() does
explore_study <- function(space, n, epsilon, radius, delta, mechanism, count, seed) {
  with_simulation(seed, {
    x <- explore_records(space, n, radius)
    one <- function(i) dp_mean(x, space$M, epsilon, space$center, radius, delta = delta, mechanism = mechanism)
    list(x = x, mean = frechet_mean(x, space$M)$mean, releases = lapply(seq_len(count), one))
  })
}

some_records <- function(M, x, most) {
  n <- .Call(riemdp_count, M, x)
  keep <- seq_len(min(n, most))
  if (is.complex(x)) {
    x[, keep, drop = FALSE]
  } else if (length(dim(x)) == 3) {
    x[, , keep, drop = FALSE]
  } else {
    x[keep, , drop = FALSE]
  }
}

# without a legend, which the page writes below
explore_picture <- function(space, study, radius) {
  M <- space$M
  center <- space$center
  values <- lapply(study$releases, `[[`, "value")
  x <- some_records(M, study$x, 400)
  old <- graphics::par(mar = c(0, 0, 0, 0))
  on.exit(graphics::par(old))
  if (picture(M) != "point") {
    released <- do.call(c, lapply(values, function(v) closed_curves(M, v, center)))
    curves <- c(closed_curves(M, some_records(M, x, 40), center), released, closed_curves(M, study$mean, center))
    roles <- rep(c("record", "release", "mean"), c(length(curves) - length(values) - 1, length(values), 1))
    all <- do.call(rbind, curves)
    graphics::plot.default(all, type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "")
    lwd <- c(record = 0.8, release = 1.6, mean = 3)[roles]
    for (i in seq_along(curves)) {
      graphics::lines(curves[[i]], col = EXPLORE_COLOURS[[roles[i]]], lwd = lwd[i])
    }
    return(invisible())
  }
  place <- function(x) layout_points(M, as_rows(M, x), center)$xy
  edge <- place(circle_points(M, center, radius))
  graphics::plot.default(edge * 1.03, type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "")
  for (l in backdrop(M, center)) graphics::lines(l$xy, col = "grey85")
  graphics::lines(edge, col = COLOURS[["ball"]], lwd = 2, lty = 2)
  graphics::points(place(x), pch = 20, cex = 0.7, col = EXPLORE_COLOURS[["record"]])
  graphics::points(place(study$mean), pch = 19, cex = 1.6, col = COLOURS[["mean"]])
  graphics::points(place(do.call(rbind, values)), pch = 2, lwd = 2, cex = 1.3, col = COLOURS[["release"]])
}

# records lighter than elsewhere, so that releases stand out
EXPLORE_COLOURS <- c(record = "#BFBFBF", release = "#D55E00", mean = "#0072B2", ball = "#009E73")

explore_colours <- function(mechanisms) stats::setNames(rep_len(riemdp_colours(7), length(mechanisms)), mechanisms)

explore_curves <- function(plan, against) {
  ask <- attr(plan, "ask")
  colours <- explore_colours(plan_drawn(plan))
  old <- graphics::par(mfrow = c(1, length(against)), mar = c(4, 5, 0.5, 1), mgp = c(2.4, 0.7, 0), las = 1)
  on.exit(graphics::par(old))
  for (what in against) {
    e <- plan_errors(plan, what, 9)
    graphics::matplot(e$grid, t(e$errors), type = "b", log = "xy", pch = seq_along(colours), lty = 1, lwd = 1.6,
                      col = colours, xlab = if (what == "n") "number of records" else "epsilon", ylab = "")
    graphics::title(ylab = "expected error", line = 3.8)
    graphics::abline(h = ask$ball$radius, lty = 3, col = "grey50")
    graphics::abline(v = ask[[what]], lty = 3, col = "grey50")
  }
}

# coloured names below a picture
explore_key <- function(colours) {
  shiny::p(class = "key", lapply(names(colours), function(name) {
    shiny::span(shiny::span(style = paste0("background:", colours[[name]])), name)
  }))
}

# the call that would make this release of real records
explore_code <- function(name, n, epsilon, radius, delta, mechanism, source = "") {
  space <- switch(name, sphere = "sphere(2)", spd = "spd(2)", hyperbolic = "hyperbolic(2, \"ball\")",
                  kendall = "kendall(20)", euclidean = "euclidean(2)", own = "M")
  number <- function(v) format(signif(v, 3), scientific = FALSE, drop0trailing = TRUE)
  given <- c("center = center", paste("radius =", number(radius)), if (delta > 0) paste("delta =", format(delta)),
             if (mechanism != "auto") paste0("mechanism = \"", mechanism, "\""),
             if (nzchar(source)) paste("source =", encodeString(source, quote = "\"")))
  paste0("# `x`: ", format(n, scientific = FALSE), " records\n# `center`: a public point\n",
         "dp_mean(x, ", space, ",\n",
         paste0("        ", c(paste("epsilon =", number(epsilon)), given), collapse = ",\n"), ")")
}

# what a board has to know before it says yes: who is protected, what somebody can win who bets on a person, what isn't
# protected, and where the public numbers come from
explore_board <- function(w, best) {
  delta <- if (best$delta > 0) best$delta else 0
  won <- (exp(best$epsilon) + delta) / (1 + exp(best$epsilon))
  bet <- if (best$label == "none") "Nothing is promised by this mechanism." else paste0(
    "What a bet can win: somebody who knows all other records, and holds two versions of one person's record for ",
    "equally likely, tells the right one from the release with a probability of at most ",
    if (won > 0.9995) one_without((1 - delta) / (1 + exp(best$epsilon))) else format(signif(won, 3)),
    ", whatever else is known (one half would be a guess)."
  )
  paste(c(
    paste("Who is protected: one row of the data. Somebody with several rows is protected as a whole only with",
          "`unit =`, which names whose row each is."),
    bet,
    paste0(paste("What isn't protected: the number of records; that the study was made and what it is about; what the",
                 "mean of all tells about everybody, with or without their record; the time that the",
                 "computation takes"),
           if (best$numerics == "real") "; the rounding of doubles", "."),
    sprintf("The error: %s expected from the noise, for which the public ball of radius %s is responsible. %s",
            format(signif(best$expected_error, 2)), format(signif(w$radius, 3)), error_note("mean")),
    origin_sentence(list(source = explore_source(w)), "ball")
  ), collapse = "\n\n")
}

explore_source <- function(w) if (nzchar(w$source)) w$source else w$space$source

# the ledger's first line, for this release alone
explore_ledger <- function(w, best) {
  number <- function(v) format(v, digits = 6, trim = TRUE)
  paste0("# once, before anything is released: the budget of all releases about these people\n",
         "ledger <- dp_ledger(\"study.ledger\", epsilon = ", number(w$epsilon), ", delta = ",
         number(if (best$delta > 0 && best$delta < 1) best$delta else 0), ", create = TRUE)\n",
         "# and `ledger = ledger` in the call below")
}

explore_table <- function(plan) {
  able <- !is.na(plan$scale)
  told <- function(v, digits = 3) ifelse(is.na(v), "", format(signif(v, digits), digits = digits, trim = TRUE))
  data.frame(mechanism = paste0(ifelse(plan$chosen, "\u25b6 ", ""), plan$mechanism), label = plan$label,
             `expected error` = told(plan$expected_error),
             `of the radius` = ifelse(is.na(plan$relative_error), "", sprintf("%.2g %%", 100 * plan$relative_error)),
             `noise scale` = told(plan$scale), check.names = FALSE)[able, ]
}

# sliders in powers of ten: they hold logarithms and show numbers
EXPLORE_SCRIPT <- "
$(document).on('shiny:sessioninitialized', function() {
  ['log_n', 'log_epsilon'].forEach(function(id) {
    $('#' + id).data('ionRangeSlider').update({
      prettify_enabled: true,
      prettify: function(v) { return Number(Math.pow(10, v).toPrecision(2)).toLocaleString('en'); }
    });
  });
});"

EXPLORE_STYLE <- "
body { max-width: 75em; margin: auto; }
table { font-variant-numeric: tabular-nums; }
.told { font-size: 120%; }
.shiny-output-error-validation { color: #a33c00; }
.scroll { overflow-x: auto; }
.key > span { white-space: nowrap; margin-right: 1.2em; display: inline-block; }
.key > span > span { display: inline-block; width: 1em; height: .7em; margin-right: .4em; }"

explore_ui <- function(spaces = explore_spaces()) {
  first <- spaces[[1]]
  mechanisms <- setdiff(names(mean_mechanisms()), "chain")
  shiny::fluidPage(
    title = "riemdp: what would a private mean cost?", lang = "en",
    shiny::tags$head(
      shiny::tags$meta(name = "viewport", content = "width=device-width, initial-scale=1"),
      shiny::tags$script(shiny::HTML(EXPLORE_SCRIPT)),
      shiny::tags$style(shiny::HTML(EXPLORE_STYLE))
    ),
    shiny::h2("What would a private mean cost?"),
    shiny::p(if (is.null(first$public)) "From public quantities alone. The records of the picture are simulated," else
      "From public quantities alone. The records of the picture are drawn from those that were called public,",
      "and the noise is simulated: nothing here is private, or has to be."),
    shiny::sidebarLayout(
      shiny::sidebarPanel(
        width = 4,
        shiny::selectInput("space", "records", stats::setNames(names(spaces), vapply(spaces, `[[`, "", "label"))),
        shiny::sliderInput("log_n", "number of records, n", 1, 5, log10(200), step = 0.05, ticks = FALSE),
        shiny::sliderInput("log_epsilon", "privacy budget, epsilon", -1.5, 1.5, 0, step = 0.05, ticks = FALSE),
        shiny::sliderInput("radius", "radius of the public ball, r", first$step %||% 0.01, first$limit, first$radius,
                           step = first$step %||% 0.01, ticks = FALSE),
        shiny::textInput("source", "where its centre and radius come from", first$source %||% ""),
        shiny::selectInput("delta", "delta", c("0 (pure)" = "0", "1e-6" = "1e-6", "1e-9" = "1e-9")),
        shiny::selectInput("mechanism", "mechanism of the picture",
                           c("least expected error" = "auto", stats::setNames(nm = mechanisms))),
        shiny::sliderInput("count", "releases in the picture", 1, 20, 5, step = 1, ticks = FALSE),
        shiny::actionButton("again", "draw again")
      ),
      shiny::mainPanel(
        width = 8,
        shiny::div(class = "told", shiny::textOutput("told")),
        shiny::plotOutput("picture", height = "420px"),
        shiny::uiOutput("key"),
        shiny::h4("Expected error of each mechanism"),
        shiny::div(class = "scroll", shiny::tableOutput("table")),
        shiny::plotOutput("curves", height = "320px"),
        shiny::uiOutput("curves_key"),
        if (!is.null(first$public)) explore_bounds_ui(),
        shiny::h4("Before the first release"),
        shiny::verbatimTextOutput("opening"),
        shiny::h4("The call"),
        shiny::verbatimTextOutput("code"),
        shiny::h4("For a board"),
        shiny::div(style = "white-space: pre-line", shiny::textOutput("board"))
      )
    )
  )
}

explore_bounds_ui <- function() {
  shiny::tagList(shiny::h4("Which radius?"), shiny::plotOutput("bounds", height = "320px"),
                 shiny::div(class = "scroll", shiny::verbatimTextOutput("bounds_told")))
}

explore_words <- function(w, best) {
  sprintf("%s, n = %s, epsilon = %g: expected error %.2g of the privacy noise, %.2g %% of the radius (%s).%s %s",
          w$space$label,
          format(w$n, big.mark = ",", scientific = FALSE), w$epsilon, best$expected_error, 100 * best$relative_error,
          best$mechanism, if (best$relative_error > 1) " That is more than the public ball says by itself." else "",
          origin_sentence(list(source = explore_source(w)), "ball"))
}

# what can't be had is said in the place of the output
explore_tell <- function(expr) {
  tryCatch(expr, riemdp_error = function(e) shiny::validate(shiny::need(FALSE, conditionMessage(e))))
}

# the texts to take away, and the curve over radii where there are public records
explore_papers <- function(output, settled, chosen) {
  output$board <- shiny::renderText(explore_board(settled(), chosen()))
  output$opening <- shiny::renderText(explore_ledger(settled(), chosen()))
  bounds <- shiny::reactive({
    w <- settled()
    shiny::req(w$space$public)
    explore_tell(dp_bounds_plan(w$space$M, w$n, w$epsilon, public = w$space$public, delta = w$delta))
  })
  output$bounds <- shiny::renderPlot(plot(bounds()), res = 90, alt = paste(
    "Error of clipping, of the privacy noise and of both against the radius of the public ball, the best radius marked."
  ))
  output$bounds_told <- shiny::renderText(paste(utils::capture.output(print(bounds())), collapse = "\n"))
}

explore_server <- function(input, output, session, spaces = explore_spaces()) {
  shiny::observeEvent(input$space, {
    space <- spaces[[input$space]]
    shiny::updateSliderInput(session, "radius", value = space$radius, max = space$limit)
  })
  wanted <- shiny::reactive({
    shiny::req(input$space, input$log_n, input$log_epsilon, input$radius)
    space <- spaces[[input$space]]
    # until the slider has followed the space, its value may lie beyond
    list(space = space, n = round(signif(10^input$log_n, 2)), epsilon = signif(10^input$log_epsilon, 2),
         radius = min(input$radius, space$limit), delta = as.numeric(input$delta), mechanism = input$mechanism,
         source = trimws(input$source %||% ""))
  })
  settled <- shiny::debounce(wanted, 250)
  plan <- shiny::reactive({
    w <- settled()
    explore_tell(dp_mean_plan(w$space$M, w$n, w$epsilon, w$space$center, w$radius, delta = w$delta))
  })
  chosen <- shiny::reactive({
    best <- plan()[plan()$chosen, ]
    none <- "No mechanism is available here: take more records, a larger epsilon or a smaller radius."
    shiny::validate(shiny::need(nrow(best) == 1, none))
    best
  })
  output$told <- shiny::renderText(explore_words(settled(), chosen()))
  explore_papers(output, settled, chosen)
  output$table <- shiny::renderTable(explore_table(plan()), na = "")
  output$curves <- shiny::renderPlot({
    wide <- isTRUE(session$clientData$output_curves_width > 500)
    explore_tell(explore_curves(plan(), if (wide) c("n", "epsilon") else "n"))
  }, res = 90, alt = paste("Expected error of each mechanism against the number of records, and where there is room",
                           "against epsilon."))
  output$curves_key <- shiny::renderUI(explore_tell(shiny::tagList(
    explore_key(explore_colours(plan_drawn(plan()))), shiny::p("Dotted: the public radius, and what the sliders say.")
  )))
  output$key <- shiny::renderUI({
    space <- settled()$space
    ball <- picture(space$M) == "point"
    explore_key(stats::setNames(EXPLORE_COLOURS[c("record", "mean", "release", if (ball) "ball")],
                                c(explore_records_word(space), "their mean, not private", "private means",
                                  if (ball) "public ball")))
  })
  output$picture <- shiny::renderPlot({
    w <- settled()
    explore_tell({
      study <- explore_study(w$space, w$n, w$epsilon, w$radius, w$delta, w$mechanism, input$count,
                             1 + as.integer(input$again))
      explore_picture(w$space, study, w$radius)
    })
  }, res = 90, alt = "Simulated records in grey, their mean in blue, private means in orange.")
  output$code <- shiny::renderText({
    w <- settled()
    explore_code(input$space, w$n, w$epsilon, w$radius, w$delta, w$mechanism, w$source)
  })
}

#' Explore the cost of a private mean with sliders
#'
#' A page in the browser: sliders for the number of records, epsilon and the radius of the public ball, on your own
#' space or on five examples. It shows the expected error of every mechanism of [dp_mean()] as [dp_mean_plan()] finds
#' it, which one is chosen, a picture of private means of simulated records, the call that would make such a release,
#' the line that opens its ledger, and what a board has to know: who is protected, what somebody can win who bets on a
#' person's record, what isn't protected, and where the public numbers come from.
#'
#' With `public` records the page shows how the error depends on the radius, by [dp_bounds_plan()], and begins with the
#' best ball; pictures are of those records. They are taken for public: nothing on the page protects them. Private
#' records have no place here.
#'
#' @param M your manifold; `NULL` for the examples.
#' @param public records on `M` that are public, as in [dp_bounds_plan()].
#' @param center the ball's public centre; by default the mean of the public records, or any point where the answer
#'   doesn't depend on it.
#' @return A 'shiny' application (class `shiny.appobj`), which runs when it is printed. An error of class
#'   `riemdp_error_unsupported` where the package 'shiny' is missing.
#' @seealso [dp_mean_plan()], [dp_bounds_plan()], [dp_mean()]
#' @examples
#' if (interactive()) {
#'   explore_plan()
#'   explore_plan(spd(2), public = wishart_spd[, , 1:100])
#' }
#' if (requireNamespace("shiny", quietly = TRUE)) {
#'   page <- explore_plan(sphere(3)) # not printed: nothing runs
#'   class(page)
#' }
#' @export
explore_plan <- function(M = NULL, public = NULL, center = NULL) {
  if (!requireNamespace("shiny", quietly = TRUE)) {
    abort_riemdp("unsupported",
                 "this page needs the package 'shiny': install.packages(\"shiny\"). dp_mean_plan() works without it.")
  }
  if (is.null(M) && !(is.null(public) && is.null(center))) {
    abort_riemdp("argument", "`public` and `center` are points of a manifold: give `M` as well.")
  }
  spaces <- if (is.null(M)) explore_spaces() else explore_own(M, public, center)
  shiny::shinyApp(explore_ui(spaces), function(input, output, session) explore_server(input, output, session, spaces))
}
