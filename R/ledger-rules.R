# The ledger is a privacy filter: it says, before a release, whether the budget still covers it, although what is asked
# may depend on everything released before. So each rule is a sum that is proven for that (proofs/ledger.md), and none
# is a privacy-loss distribution.

# Sums may exceed their limits by this share: what typing a tenth as a double costs, so that ten releases of .1 use up a
# budget of 1
LEDGER_ROUNDING <- 2^-50

# c(epsilon, delta) of a whole event; `delta`: at which one that has an epsilon only together with one is priced
stated_price <- function(event, delta) {
  price <- basic_price(event)
  if (is.null(price)) {
    if (is.null(delta)) unpriced(event, "basic", "give `delta`, at which the event's epsilon is then taken")
    delta <- check_delta(delta)
    price <- c(as.double(upper_epsilon(event, delta)), delta)
  }
  stats::setNames(as.double(price), c("epsilon", "delta"))
}

# The rules: one entry each, and all else that tells them apart is read from it. What it must hold:
#   adds         what is added, in words
#   suits        for which releases it is, in words
#   help         its item in ?dp_ledger
#   unit         what event_price() gives in its unit, in words
#   price        function(event, orders, delta): that price
#   units        function(orders): names of its sums; one more, of deltas, comes last
#   limits       function(epsilon, delta, reserve, orders): what the sums may come to, the last one too
#   cost         function(event, orders, delta, kept): what an event adds to each sum, or an error of class "unpriced"
#   room         function(left, fits): size of the largest release that is still covered; `fits` says it of an event
#   enough       function(room): that release in words
# and, where they hold:
#   stated       TRUE: an event may be priced at a `delta` of one's own, and dp_*() functions enter what they state
#   needs_delta  TRUE: without a delta nothing could be spent
#   reserves     TRUE: a share of delta is kept for releases that have one of their own
#   keeps        TRUE: a share of the first sum may be kept and never spent, `kept`, for what that does to prices
#   divides      TRUE: a share of mu^2 is kept for normal noise
#   each         TRUE: every sum has to keep its limit; else one beside delta is enough
#   orders       function(epsilon, delta): the orders where none are asked for
#   step         function(epsilon, delta): the step where none is asked for; it takes the place of orders
#   nothing      what to say where `room` finds nothing
#   told         function(sums, delta, meta, which): epsilon at `delta` of releases whose sums, those of number `which`,
#                never exceed these; where there is none the first sum is an epsilon
LEDGER_RULES <- list(
  basic = list(
    adds = "epsilons are added, and deltas",
    suits = "a handful of releases; no delta needed",
    help = "epsilons are added, and deltas. No `delta` needed for mechanisms that need none.",
    unit = "`c(epsilon, delta)`",
    price = function(event, orders, delta) stated_price(event, delta),
    units = function(orders) "epsilon",
    limits = function(epsilon, delta, reserve, orders) c(epsilon, delta),
    cost = function(event, orders, delta, kept) unname(stated_price(event, delta)),
    room = function(left, fits) left[1],
    enough = function(room) enough_pure(room),
    stated = TRUE
  ),
  zcdp = list(
    adds = "rhos (zero-concentrated differential privacy) are added",
    suits = "more than ten or so, pure or Gaussian",
    help = paste("a release of pure epsilon or with Gaussian noise has a \\eqn{\\rho} (zero-concentrated differential",
                 "privacy); these are added. Many small releases cost far less than by `\"basic\"`."),
    unit = "rho of zero-concentrated DP",
    price = function(event, orders, delta) zcdp_price(event),
    units = function(orders) "rho",
    limits = function(epsilon, delta, reserve, orders) c(zcdp_rho(epsilon, delta * (1 - reserve)), delta * reserve),
    cost = function(event, orders, delta, kept) cost_of_parts(event, "zCDP", zcdp_price),
    room = function(left, fits) largest_fit(fits, event_pure),
    enough = function(room) enough_pure(room),
    told = function(sums, delta, meta, which) rho_epsilon(sums, delta)$value,
    needs_delta = TRUE, reserves = TRUE
  ),
  rdp = list(
    adds = "Renyi divergences at fixed orders are added",
    suits = "samples, as in optimisation",
    help = paste("the Renyi divergence at one order, or at a grid of `orders` with `delta` divided among them. For",
                 "subsampled Gaussian noise, as in optimisation."),
    unit = "Renyi divergence at each of `orders`",
    price = function(event, orders, delta) rdp_value(event, check_orders(orders)),
    units = function(orders) sprintf("divergence (order %g)", orders),
    limits = function(epsilon, delta, reserve, orders) {
      each <- delta * (1 - reserve) / length(orders)
      c(inwards(renyi_limit(orders, epsilon, each)), delta * reserve)
    },
    cost = function(event, orders, delta, kept) {
      cost_of_parts(event, "Renyi DP", function(e) rdp_value(e, orders))
    },
    room = function(left, fits) largest_fit(fits, event_pure),
    enough = function(room) enough_pure(room),
    told = function(sums, delta, meta, which) outwards(max(0, sums + epsilon_balle(meta$orders[which], 0, delta))),
    needs_delta = TRUE, reserves = TRUE,
    orders = function(epsilon, delta) max(2, round(zcdp_order(epsilon, delta)))
  ),
  gdp = list(
    adds = "squares of mu (Gaussian differential privacy) are added",
    suits = "Gaussian noise, with few pure releases",
    help = paste("squares of \\eqn{\\mu} are added. Nothing is lost for normal noise; a pure release counts as the",
                 "normal noise that shows no less, which is 1.6 times what `\"zcdp\"` takes where epsilon is small, or",
                 "next to no more than that with a `reserve`, see there."),
    unit = "mu of Gaussian DP, for Gaussian and pure steps",
    price = function(event, orders, delta) gdp_bound(event),
    units = function(orders) "mu^2",
    limits = function(epsilon, delta, reserve, orders) {
      c(inwards((1 - reserve) * gaussian_mu(epsilon, delta)^2), 0)
    },
    cost = function(event, orders, delta, kept) c(never_free(gdp_bound(event, kept)^2, event), 0),
    room = function(left, fits) largest_fit(fits, event_gdp),
    enough = function(room) sprintf("enough for one release with Gaussian noise of multiplier %.4g", 1 / room),
    told = function(sums, delta, meta, which) gdp_epsilon(outwards(sqrt(sums + kept_beside(meta))), delta),
    needs_delta = TRUE, keeps = TRUE
  ),
  steps = list(
    adds = "pure releases are counted in steps of one size, and squares of mu are added",
    suits = "many pure releases of about one epsilon",
    help = paste("pure releases are counted: one of at most `step` is one step, a larger one as many as show no less.",
                 "Nothing is lost: there are as many steps as the best plan of such releases has. Gaussian noise is",
                 "paid from `reserve`, a share of \\eqn{\\mu^2} that is left out of the steps beforehand."),
    unit = "`c(steps =, \"mu^2\" =)`, for Gaussian and pure steps",
    price = function(event, orders, delta) steps_price(event, check_step(orders)),
    units = function(orders) c(sprintf("steps of %.15g", orders), "mu^2"),
    limits = function(epsilon, delta, reserve, orders) c(steps_limits(epsilon, delta, reserve, orders), 0),
    cost = function(event, orders, delta, kept) c(unname(steps_price(event, orders)), 0),
    room = function(left, fits) largest_fit(fits, event_pure),
    enough = function(room) enough_pure(room),
    told = function(sums, delta, meta, which) {
      count <- floor(sums[1]) # they are whole
      step <- outwards(meta$orders)
      most <- count * step + if (sums[2] > 0) gdp_epsilon(sqrt(sums[2]), delta) else 0
      falling_root(function(epsilon) steps_delta(step, count, sums[2], epsilon), delta, most)
    },
    needs_delta = TRUE, divides = TRUE, each = TRUE, nothing = "no further pure release",
    step = function(epsilon, delta) epsilon / 50
  )
)

# names of those rules whose entry says something of `what`
rules_with <- function(what) names(Filter(function(rule) !is.null(rule[[what]]), LEDGER_RULES))

# names of a ledger's sums
rule_units <- function(meta) c(LEDGER_RULES[[meta$rule]]$units(meta$orders), "delta")

# what of the first sum is kept beside its limit, and never spent
kept_beside <- function(meta) {
  if (is.null(LEDGER_RULES[[meta$rule]]$keeps)) return(0)
  meta$limits[1] * meta$reserve / (1 - meta$reserve) * (1 - 1e-12)
}

# a limit rounded down
inwards <- function(x) x * (1 - 1e-12)

# The event's price, or that of its parts where one of them has an epsilon only together with a delta: it is epsilon-DP
# but for a part of mass delta, so it costs what epsilon does, and delta.
cost_of_parts <- function(event, unit, price) {
  known <- function(e) tryCatch(price(e), riemdp_error_unpriced = function(e) Inf)
  whole <- known(event)
  if (any(is.finite(whole))) return(c(whole, 0))
  total <- 0
  for (part in event_parts(event)) {
    one <- known(part$event)
    failure <- 0
    if (!any(is.finite(one))) {
      both <- basic_price(part$event)
      # says why there is none
      if (is.null(both)) price(part$event)
      if (is.null(both)) unpriced(part$event, unit)
      one <- known(event_pure(both[1]))
      failure <- both[2]
    }
    total <- total + part$times * c(one, failure)
  }
  total
}

# the largest size of an event that fits
largest_fit <- function(fits, make) {
  top <- 1e-6
  if (!fits(make(top))) return(0)
  while (top < 1e6 && fits(make(top))) top <- 2 * top
  low <- top / 2
  for (i in 1:30) {
    mid <- (low + top) / 2
    if (fits(make(mid))) low <- mid else top <- mid
  }
  low
}

enough_pure <- function(room) sprintf("enough for one pure release with %s = %.4g", symbol("epsilon"), room)

# What can't be paid is entered as four times the limit: it fails now, and for an order of a grid ever after. Where each
# sum has to keep its limit, which may be 0, a price stays as it is. `cost`: a vector, or a column for each entry.
bounded_cost <- function(meta, cost) {
  if (is_each(meta$rule)) return(cost)
  pmin(cost, c(4 * meta$limits[-length(meta$limits)], Inf))
}

is_each <- function(rule) !is.null(LEDGER_RULES[[rule]]$each)

# total: sums in twice double precision. Delta has to hold, and one of the others: with a grid of orders each has its
# own delta. Or all have to.
within_limits <- function(meta, total, share = 1) {
  limits <- share * meta$limits
  ok <- (total[1, ] - limits) + total[2, ] <= limits * LEDGER_ROUNDING
  last <- length(limits)
  ok[last] && if (is_each(meta$rule)) all(ok) else any(ok[-last])
}

# The filter. `state`: sums of one data set; `cost`: what is asked; `share`: of the limits, where the sums are those of
# one analyst. New state, or NULL where the budget doesn't cover it.
filter_step <- function(meta, state, cost, part, share = 1) {
  cost <- bounded_cost(meta, cost)
  if (part) {
    state$part <- sums_add(state$part, cost)
    state$largest <- sums_max(state$largest, state$part)
    total <- sums_add(state$spent, state$part)
  } else {
    state$spent <- sums_add(state$spent, cost)
    total <- sums_add(state$spent, state$largest)
  }
  if (within_limits(meta, total, share)) state
}

# The same where an analyst spends, whose own sums are in state$own: her quota and the whole budget have to hold
# (proofs/ledger.md, section 9). list(state, lacks): the new state, or whose budget doesn't cover it, "quota" or
# "budget".
spend_step <- function(meta, state, cost, part, analyst = NULL) {
  own <- if (!is.null(analyst)) filter_step(meta, state$own, cost, part, meta$quotas[[analyst]])
  if (!is.null(analyst) && is.null(own)) return(list(lacks = "quota"))
  after <- filter_step(meta, state, cost, part)
  if (is.null(after)) return(list(lacks = "budget"))
  after$own <- own
  list(state = after)
}

# what is left for the next release, of an analyst what both her quota and the whole budget leave
state_left <- function(meta, state, part, analyst = NULL) {
  left <- sums_left(meta$limits, state, part)
  if (is.null(analyst)) left else pmin(left, sums_left(meta$quotas[[analyst]] * meta$limits, state$own, part))
}

sums_left <- function(limits, state, part) {
  total <- sums_add(state$spent, if (part) state$part else state$largest)
  pmax(0, (limits - total[1, ]) - total[2, ])
}

# ---- steps of one size -----------------------------------------------------------------------------------------------
# An epsilon-DP release is a post-processing of one randomised response of that epsilon, and so of as many of a smaller
# one as dominate it (proofs/ledger.md, section 1). What is counted are those.

# beyond that many steps their binomial sums take long
STEPS_MOST <- 1e5

check_step <- function(x) {
  if (is.null(x)) abort_riemdp("argument", "give `step`, the epsilon of one step.")
  check_number(x, "step", positive = TRUE)
}

# c(steps, mu^2): how many steps fit beside the normal noise that a share of mu^2 may come to
steps_limits <- function(epsilon, delta, reserve, step) {
  mu2 <- if (reserve > 0) inwards(reserve * gaussian_mu(epsilon, delta)^2) else 0
  fits <- function(count) steps_delta(outwards(step), count, mu2, epsilon) <= delta
  if (fits(STEPS_MOST)) {
    abort_riemdp("argument", sprintf("`step` is too small: the budget has more than %.0f steps of it.", STEPS_MOST))
  }
  c(largest_count(fits, STEPS_MOST), mu2)
}

# the largest count from 0 to `most` that fits, where 0 does and smaller ones do if larger ones do
largest_count <- function(fits, most) {
  low <- 0
  while (most - low > 1) {
    middle <- floor((low + most) / 2)
    if (fits(middle)) low <- middle else most <- middle
  }
  low
}

# delta at epsilon of `count` randomised responses beside normal noise of mu^2 = mu2, rounded up
steps_delta <- function(step, count, mu2, epsilon) {
  if (mu2 == 0) return(optimal_delta_of(list(epsilon = step, delta = 0, times = count), epsilon))
  up <- 0:count
  weight <- stats::dbinom(up, count, stats::plogis(step)) * (1 + 1e-10)
  at <- epsilon - (2 * up - count) * step
  # delta at a negative epsilon: by the mirror image of the pair
  beside <- gaussian_delta(sqrt(mu2), abs(at))
  beside <- ifelse(at < 0, -expm1(at) + exp(at) * beside, beside)
  min(1, sum(weight * beside) * (1 + 1e-10) + 1e-300)
}

# how many steps dominate one epsilon-DP release: two pairs with piecewise linear divergences, the smaller of which is
# one line where it isn't 0, so that the corners of the other decide
steps_of <- function(epsilon, step) {
  step <- step * (1 + LEDGER_ROUNDING) # three tenths are a step of .3
  if (epsilon <= step) return(as.double(epsilon > 0))
  beyond <- 10 * STEPS_MOST # more than a ledger has
  if (epsilon > STEPS_MOST * step) return(beyond)
  covers <- function(count) {
    corners <- step * seq(count %% 2, min(count, floor(epsilon / step)), by = 2)
    each <- list(epsilon = step, delta = 0, times = count)
    for (x in corners[corners < epsilon]) {
      if (optimal_delta_of(each, x, below = TRUE) < response_delta(epsilon, x, 1)) return(FALSE)
    }
    TRUE
  }
  # fewer have no loss as large, and then no total variation as large
  least <- ceiling(epsilon / step)
  most <- least
  while (most <= STEPS_MOST && !covers(most)) most <- 2 * most
  if (most > STEPS_MOST) return(beyond)
  least + largest_count(function(more) !covers(least - 1 + more), most - least + 1)
}

# c(steps, mu^2) of an event: its pure parts in steps, its normal ones as they are
steps_price <- function(event, step) {
  total <- c(steps = 0, "mu^2" = 0)
  for (part in event_parts(event)) {
    pure <- basic_price(part$event)
    one <- if (!is.null(pure) && pure[2] == 0) c(steps_of(pure[1], step), 0) else
      c(0, never_free(gdp_bound(part$event)^2, part$event))
    total <- total + part$times * one
  }
  total
}

# ---- quotas ----------------------------------------------------------------------------------------------------------
# Shares of the limits by the names of analysts, in the order of their bytes; numeric() for a ledger without any.

check_quotas <- function(x) {
  if (is.null(x)) return(NULL)
  ok <- is.numeric(x) && !is.object(x) && length(x) >= 1 && length(x) <= 1000 && !is.null(names(x)) && !anyNA(x) &&
    all(x > 0) && all(x <= 1)
  if (!ok) {
    abort_riemdp("argument", paste("`quotas` must be shares of the budget, above 0 and at most 1, that have the names",
                                   "of analysts, such as c(anna = 0.5, ben = 0.3)."))
  }
  names <- vapply(names(x), check_name, "", name = "quotas", USE.NAMES = FALSE)
  if (anyDuplicated(names)) abort_riemdp("argument", "`quotas` must have one share for each analyst.")
  stats::setNames(as.double(x), names)[order(names, method = "radix")]
}

# the name of one of a ledger's analysts, or NULL
check_analyst <- function(meta, analyst) {
  if (is.null(analyst)) return(NULL)
  analyst <- check_name(analyst, "analyst")
  if (analyst %in% names(meta$quotas)) return(analyst)
  abort_riemdp("argument", if (has_quotas(meta)) {
    sprintf("the ledger has no quota for the analyst \"%s\".", analyst)
  } else {
    "`analyst` is for a ledger with quotas: dp_ledger(quotas = ) makes one."
  })
}

# that somebody spends whose quota is known
check_spender <- function(ledger) {
  if (has_quotas(ledger) && is.null(ledger$analyst)) {
    abort_riemdp("ledger", paste("this ledger has quotas: who spends from it has to open it as one of its analysts,",
                                 "dp_ledger(path, analyst = ). Nothing is released."))
  }
}

# what a ledger's quotas are, in words
quota_words <- function(meta) {
  if (!has_quotas(meta)) return("none")
  paste(sprintf("%s %s", names(meta$quotas), vapply(meta$quotas, format, "", digits = 15)), collapse = ", ")
}

# ---- prices of entries, as a store keeps them ------------------------------------------------------------------------

# what a history shows of a store's rows
history_table <- function(ledger, rows) {
  units <- rule_units(ledger)
  analyst <- if (has_quotas(ledger)) "analyst"
  texts <- vapply(rows[c("data_set", "part", analyst, "what", "event", "cost", "made_at", "source")], is.character, NA)
  costs <- if (all(texts)) cost_columns(rows$cost, length(units))
  if (is.null(costs) || anyNA(costs) || !is.numeric(rows$entry)) {
    abort_riemdp("ledger",
                 "the ledger's entries are of another rule, or were changed by hand: open it again with dp_ledger().")
  }
  rows$part[rows$part %in% ""] <- NA_character_
  costs <- as.data.frame(t(costs))
  names(costs) <- units
  cbind(rows[c("data_set", "entry", "part", analyst, "what", "source", "event")], costs, rows["made_at"])
}

# the numbers of entries' prices, a column for each; NA where a text isn't as many numbers
cost_columns <- function(text, units) {
  each <- unique(text) # many releases cost the same
  plain <- !is.na(each) & !grepl("[^ -~]", each, perl = TRUE, useBytes = TRUE)
  words <- strsplit(replace(each, !plain, ""), " ", fixed = TRUE)
  fit <- lengths(words) == units
  cost <- matrix(NA_real_, units, length(each))
  cost[, fit] <- suppressWarnings(as.numeric(unlist(words[fit])))
  cost[, match(text, each), drop = FALSE]
}

# ---- secret samples --------------------------------------------------------------------------------------------------
# A ledger's budget may be about a population of which the records are a secret sample (proofs/ledger.md, section 7).
# `sampled` is the rate, its name what was drawn: "row", or a unit with all its rows.

# a sample of public size, without replacement
fixed_sample <- function(meta) is_sampled(meta) && meta$adjacency == "replace-one"

check_sampled <- function(x) {
  if (is.null(x)) return(NULL)
  stats::setNames(check_share(x, "sampled"), if (is.null(names(x))) "row" else check_name(names(x), "sampled"))
}

# what all releases on the sample may cost together, c(epsilon, delta), rounded so that the promise holds
inside_budget <- function(epsilon, delta, q) {
  if (q == 1) return(c(epsilon, delta))
  if (delta >= q) {
    abort_riemdp("argument", paste("`delta` must be below `sampled`: else the whole sample could be shown, which",
                                   "protects nobody in it."))
  }
  inwards(c(above_sample(epsilon, q), delta / q))
}

check_sampled_parts <- function(meta, data_sets) {
  if (fixed_sample(meta) && any(lengths(data_sets) > 0)) {
    abort_riemdp("unsupported", paste("a sample of public size has no parts: in it a record may have taken the place",
                                      "of one of another part. With Poisson sampling, adjacency = \"add-remove\", it",
                                      "may have them."))
  }
}

# that a release protects what was drawn: else the rate says nothing about it
check_sampled_unit <- function(ledger, unit) {
  if (is_sampled(ledger) && !identical(unit, names(ledger$sampled))) {
    abort_riemdp("unsupported", sprintf(
      paste("the ledger is about a sample by %s, the release protects one %s: what was drawn must be what is",
            "protected. Nothing is released."), dQuote(names(ledger$sampled), FALSE), dQuote(unit, FALSE)
    ))
  }
}

rate_words <- function(meta) {
  unit <- names(meta$sampled)
  paste0(format(meta$sampled[[1]], digits = 15), if (unit != "row") sprintf(" of %s", dQuote(unit, FALSE)))
}

# what a release says whose price such a ledger took
sample_note <- function(b) {
  sprintf("; its budget is that of a population of which these records are a secret sample (rate %s)", rate_words(b))
}

# what a sampled ledger prints; NULL where there is no sample
sampled_words <- function(meta) {
  if (!is_sampled(meta)) return(NULL)
  inside <- inside_budget(meta$epsilon, meta$delta, meta$sampled[[1]])
  sprintf("  of a population: the records are a secret sample of it, %s, rate %s; on the sample %s = %.4g, %s = %.4g",
          if (fixed_sample(meta)) "without replacement" else "Poisson", rate_words(meta), symbol("epsilon"), inside[1],
          symbol("delta"), inside[2])
}

# ---- places ----------------------------------------------------------------------------------------------------------

check_ledger <- function(ledger, name = "ledger") {
  l <- if (inherits(ledger, "riemdp_ledger") && is.list(ledger)) unclass(ledger)
  if (!(holds_ledger_facts(l) && holds_ledger_place(l))) {
    abort_riemdp("argument", sprintf("`%s` must be a ledger made by dp_ledger().", name))
  }
  ledger
}

holds_ledger_facts <- function(l) {
  is_string(l$uid) && nzchar(l$uid) && is_string(l$rule) && l$rule %in% names(LEDGER_RULES) &&
    is_string(l$adjacency) && l$adjacency %in% ADJACENCIES &&
    is_doubles(l$epsilon, 1) && is_doubles(l$delta, 1) && is_doubles(l$reserve, 1) &&
    is_doubles(l$orders, length(l$orders)) && is_doubles(l$sampled, 1) && is_string(names(l$sampled)) &&
    is_doubles(l$limits, length(rule_units(l))) && holds_quotas(l)
}

holds_quotas <- function(l) {
  is_doubles(l$quotas, length(l$quotas)) && length(names(l$quotas)) == length(l$quotas) &&
    (is.null(l$analyst) || (is_string(l$analyst) && l$analyst %in% names(l$quotas)))
}

holds_ledger_place <- function(l) {
  is_string(l$kind) && switch(l$kind, memory = is.integer(l$pid), file = is_string(l$path),
                              connection = inherits(l$connection, "DBIConnection"), `function` = is.function(l$open),
                              FALSE)
}

# the object, without what only the store knows
ledger_place <- function(path) {
  ledger <- if (is.null(path) || identical(path, ":memory:")) {
    list(kind = "memory", pid = Sys.getpid())
  } else if (is_string(path) && nzchar(path)) {
    need_database(TRUE)
    directory <- dirname(path.expand(path))
    if (!dir.exists(directory)) abort_riemdp("ledger", "the directory of the ledger's file doesn't exist.")
    if (dir.exists(path.expand(path))) abort_riemdp("ledger", "`path` is a directory: give the path of a file.")
    file <- file.path(normalizePath(directory, winslash = "/"), basename(path.expand(path)))
    list(kind = "file", path = file, creating = !file.exists(file) || file.size(file) == 0)
  } else if (inherits(path, "DBIConnection")) {
    need_database(FALSE)
    list(kind = "connection", connection = path, pid = Sys.getpid())
  } else if (is.function(path)) {
    need_database(FALSE)
    list(kind = "function", open = path)
  } else if (inherits(path, "riemdp_ledger")) {
    kept <- c("kind", "path", "connection", "open", "pid", "uid")
    Filter(Negate(is.null), unclass(check_ledger(path, "path"))[kept])
  } else {
    abort_riemdp("argument",
                 "`path` must be the path of a file, a DBI connection, a function that returns one, a ledger, or NULL.")
  }
  structure(ledger, class = "riemdp_ledger")
}

# whether what a server says of its commits is checked
trust_place <- function(ledger, durable) {
  ledger$trusted <- if (durable == "trusted") TRUE
  if (is.null(ledger$trusted)) return(ledger)
  if (!ledger$kind %in% c("connection", "function") || is_sqlite(ledger$connection)) abort_no_server()
  ledger
}

# ---- one event -------------------------------------------------------------------------------------------------------

#' The price of an event in a unit that adds up
#'
#' @param event an event ([dp_event]).
#' @param unit what a ledger's rule adds up. `r entry_list(LEDGER_RULES, "unit")`.
#' @param orders orders above 1, for `r choice_words(rules_with("orders"), code = TRUE)`.
#' @param step for `r choice_words(rules_with("step"), code = TRUE)`: the epsilon of one step.
#' @param delta for `r choice_words(rules_with("stated"), code = TRUE)`, and needed there where the event has no pure or
#'   stated (epsilon, delta) price: the whole event is then turned into its epsilon at this delta by the best
#'   accountant.
#' @return `c(epsilon =, delta =)`, or a number, or one number an order (`Inf` where no finite bound is known).
#' @section Errors: `riemdp_error_unpriced` where the unit can't hold the event: never a price of zero.
#' @details Basic: pure parts count as they are; sampling takes epsilon to log(1 + q(e^epsilon - 1)) and delta to q
#'   delta. zCDP: Gaussian 1/(2 sigma^2), also for the discrete one (sensitivity over sigma, squared, half), epsilon-DP
#'   epsilon tanh(epsilon/2), which is exact and at most epsilon^2/2. GDP: 1/sigma, and for epsilon-DP twice the normal
#'   quantile of e^epsilon/(1 + e^epsilon), about 1.25 epsilon. Sampled Gaussians have no price in zCDP or GDP.
#' @references Bun and Steinke (2016), \doi{10.1007/978-3-662-53641-4_24}. Mironov (2017), \doi{10.1109/CSF.2017.11}.
#'   Dong, Roth and Su (2022), \doi{10.1111/rssb.12454}.
#' @examples
#' event_price(event_compose(event_pure(0.1), event_laplace(5), times = 3), "basic")
#' event_price(event_gaussian(2), "zcdp")
#' event_price(event_poisson(0.01, event_gaussian(1)), "rdp", orders = c(2, 8))
#' @export
event_price <- function(event, unit = "basic", orders = NULL, delta = NULL, step = NULL) {
  event <- check_event(event)
  unit <- check_choice(unit, "unit", names(LEDGER_RULES))
  LEDGER_RULES[[unit]]$price(event, if (unit %in% rules_with("step")) step else orders, delta)
}
