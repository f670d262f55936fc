# How every private release is made: what is asked for is public and checked, a plan follows from it, its price is
# taken, and only then are records read and noise drawn. Each draw is priced by its own law, sensitivity and scale, and
# all of them together may cost what the guarantee states.

# ---- the protocol --------------------------------------------------------------------------------------------
# An estimator is a list of functions:
#   entry    function(plan, ask): what a ledger calls the release
#   plan     function(ask): all that is decided before records are touched, a list with `guarantee`, see promise_of()
#   parts    what else a plan holds: names, and of which of PLAN_KINDS each is
#   once     where there is one, a name under which the last plans are kept: the same `ask` has the same plan
#   ready    function(records, plan, ask): where there is one, the last checks before anything is spent, of records
#            too where the curator asks for that; returns the records
#   event    function(plan, ask): the price; where there is none, release_event() of the guarantee
#   draw     function(records, plan, ask, budget): reads the records and draws
#   answer   function(out, plan, ask, budget): the release
# `ask` holds public numbers only, so `plan` does. What is drawn passes pay().

release_private <- function(estimator, ask, records, ledger = NULL, data_set = "default", part = NULL) {
  plan <- planned(estimator, ask)
  note_try(plan$guarantee, ledger)
  part <- check_part(part, records$n)
  if (!is.null(estimator$ready)) {
    check_only_sums(records, ask$summed)
    records <- estimator$ready(records, plan, ask)
  }
  event <- if (is.null(estimator$event)) release_event(plan$guarantee) else estimator$event(plan, ask)
  files <- if (!is.null(part)) named_files(records)
  if (!is.null(ask$holders) && !in_simulation()) check_holders(ask$holders, ask$shares, plan$guarantee$mu)
  budget <- spend_release(ledger, plan$guarantee, event, estimator$entry(plan, ask), data_set, part, ask$source, files)
  paid <- out_of_purse(plan$guarantee, estimator$draw(records, plan, ask, budget), event)
  release <- estimator$answer(paid$out, plan, ask, budget)
  release$draws <- paid$draws
  release$source <- ask$source
  release
}

# the plan of what is asked; of a simulation it is another one, which promises nothing
planned <- function(estimator, ask) {
  make <- function() typed_plan(estimator$plan(ask), estimator$parts)
  if (is.null(estimator$once)) make() else latest(estimator$once, list(ask, in_simulation()), make)
}

# What every private call asks of its space, its ledger and the arguments that have no default; `lacking` as for
# check_given()
check_call <- function(M, ledger, lacking) {
  check_manifold(M)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(lacking)
  check_proven(M)
}

# No proof bounds what doubles add on a space whose formulas have no model: only what reads a record by its logarithm at
# a public point, and solves nothing, is private there. A user's space has rules of its own.
check_proven <- function(M) {
  if (!has_no_model(M)) return(invisible(M))
  abort_riemdp("unsupported", sprintf(
    "no bound of rounding errors is proven on %s. There, dp_mean(mechanism = \"tangent\") is private.",
    label_manifold(M)
  ))
}

# ---- plans ---------------------------------------------------------------------------------------------------
# A plan whose parts are missing or of another kind is a fault of the package, met before anything is spent.

PLAN_KINDS <- list(
  guarantee = function(x) inherits(x, "riemdp_guarantee"),
  event = function(x) is.null(x) || inherits(x, "riemdp_event"), # none where nothing is promised
  text = function(x) is.character(x) && length(x) == 1 && !is.na(x),
  number = function(x) is.numeric(x) && length(x) == 1 && !is.nan(x), # NA where it isn't known in advance
  scale = function(x) is.numeric(x) && length(x) == 1 && !is.nan(x) && (is.na(x) || x > 0)
)

typed_plan <- function(plan, parts) {
  parts <- c(guarantee = "guarantee", parts)
  for (name in names(parts)) {
    if (!isTRUE(PLAN_KINDS[[parts[[name]]]](plan[[name]]))) {
      abort_contract(sprintf("`%s` of its plan is no %s", name, parts[[name]]))
    }
  }
  plan
}

# ---- the purse -----------------------------------------------------------------------------------------------
# What a release may draw while its records are read: as much as its guarantee states. A simulation inside, by which an
# error is predicted, has no part in it: with_simulation() puts the purse away.

# Within a try of dp_select(): what the release about to be made states. A rehearsal ends here, before anything is spent
# or drawn.
note_try <- function(g, ledger) {
  if (is.null(purse$tries)) return(invisible())
  if (!is.null(ledger)) purse$tries$ledger <- TRUE
  purse$tries$made <- c(purse$tries$made, list(g))
  if (purse$tries$rehearsal) stop("a rehearsal ends here")
}

# list(out = value of `expr`, draws), whose draws are paid for by the guarantee `g`, and by the event that a ledger
# takes; where nothing is promised nothing is held against them
out_of_purse <- function(g, expr, event = NULL) {
  before <- purse$open
  on.exit(purse$open <- before)
  mine <- new.env(parent = emptyenv())
  mine$stated <- list(epsilon = g$nominal_epsilon, delta = g$nominal_delta,
                      mu = if (isTRUE(g$mu_slack <= LATTICE_SLACK) && g$label != "none") g$mu else NA_real_)
  mine$event <- event
  mine$taken <- if (!is.null(event)) latest("sum of an event", event, function() event_sum(event))
  mine$held <- g$label != "none" || identical(g$reason, SIMULATED)
  mine$prices <- list()
  mine$checked <- 0
  purse$open <- mine
  out <- expr
  if (mine$held && !length(mine$prices)) abort_contract("nothing was drawn")
  # a user's callback may have caught the error of a draw
  if (mine$held && mine$checked < length(mine$prices)) check_paid(mine)
  list(out = out, draws = drawn_table(mine$prices, g$label == "none"))
}

# what was drawn, a row for each draw: public numbers, and what follows from releases
drawn_table <- function(prices, nominal) {
  if (!length(prices)) return(NULL)
  column <- function(name) unlist(lapply(prices, `[[`, name), use.names = FALSE)
  table <- if (length(prices) == 1) lapply(prices[[1]], as.vector) else
    lapply(stats::setNames(nm = names(prices[[1]])), column)
  attr(table, "class") <- "data.frame"
  attr(table, "row.names") <- .set_row_names(length(prices))
  if (nominal) names(table) <- sub("^(epsilon|delta|mu)$", "nominal_\\1", names(table))
  table
}

# Called in the place of in_simulation() by whatever draws noise for a release, so before it is drawn: takes the price,
# and stops the release where more would be drawn than was paid for. Returns whether noise is that of a simulation.
pay <- function(price) {
  mine <- purse$open
  if (!is.null(mine)) {
    cost <- unlist(price[c("epsilon", "delta", "mu")])
    if (mine$held && !isTRUE(length(cost) >= 3 && any(cost > 0) && !anyNA(cost))) abort_contract("a draw has no price")
    mine$prices <- c(mine$prices, list(price))
    if (mine$held) check_paid(mine)
  }
  in_simulation()
}

# Draws must cost no more than the guarantee states. Neither may they cost more than what was taken from the ledger,
# where that is a sum: of pure and approximate prices, and a Gaussian one, which normal draws are set against first. (Of
# steps on samples check_told() asks for the very event.)
check_paid <- function(mine) {
  first <- if (length(mine$prices) == 1) mine$prices[[1]]
  all_of <- function(name) if (is.null(first)) unlist(lapply(mine$prices, `[[`, name)) else first[[name]]
  cost <- list(epsilon = sum(all_of("epsilon")), delta = sum(all_of("delta")), mu = sqrt(sum(all_of("mu")^2)))
  words <- function(b) sprintf("epsilon %.10g, delta %.6g and mu %.6g", b$epsilon, b$delta, b$mu)
  if (!covers(mine$stated, cost) || isTRUE(cost$mu > mine$stated$mu * (1 + 1e-9))) {
    abort_contract(sprintf("its draws cost %s, its guarantee states %s", words(cost), words(mine$stated)))
  }
  if (!is.null(mine$taken) && !covers(mine$taken, cost, mine$taken$mu)) {
    abort_contract(sprintf("its draws cost %s, the ledger was told of %s", words(cost), words(mine$taken)))
  }
  mine$checked <- length(mine$prices)
}

# that the noise about to be drawn makes this event, and no other is in the ledger
check_told <- function(event) {
  told <- purse$open$event
  if (!is.null(told) && !identical(told, event)) {
    abort_contract("its steps are another event than the ledger was told of")
  }
}

# A Gaussian cost beyond `mu` turned into what of epsilon and delta the rest leaves: normal draws together are one, of
# the root of the sum of their squares, and that is one of `mu` beside one of what is left. With room for the rounding
# of sums, and for that of small deltas, which two ways to one number may differ by.
covers <- function(budget, cost, mu = 0) {
  rest <- budget$epsilon * (1 + 1e-9) - cost$epsilon
  left <- budget$delta * (1 + 1e-9) - cost$delta
  beyond <- sqrt(max(0, cost$mu^2 - (mu * (1 + 1e-9))^2))
  isTRUE(rest >= 0 && left >= 0 && (beyond == 0 || gaussian_delta(beyond, rest) <= 1.001 * left))
}

# the numbers in it are public, or follow from what was released
abort_contract <- function(why) {
  abort_riemdp("contract", paste0("this release breaks its own guarantee: ", why, ". Nothing is released. ",
                                  "This is a fault of the package: please report it."))
}

# ---- prices of draws -----------------------------------------------------------------------------------------
# From what one record moves (in the law's norm, what the solver adds counted in) and the scale of the noise, and from
# nothing else: what was asked for has no part in it. `proof` is a file of inst/proofs and its section.

draw_price <- function(law, proof, sensitivity, scale, epsilon = 0, delta = 0, mu = 0) {
  list(law = law, proof = proof, sensitivity = sensitivity, scale = scale, epsilon = epsilon, delta = delta, mu = mu)
}

# density exp(-distance/scale) over a constant that is the same wherever the mean lies; several of them, one for each
# number, add up
price_laplace <- function(sensitivity, scale, proof = "laplace.md, 1") {
  draw_price("laplace", proof, sensitivity, scale, epsilon = sensitivity / scale)
}

# density lower by exp(-step/scale) on each further shell of width `step`, over such a constant
price_staircase <- function(sensitivity, step, scale, proof = "laplace.md, 4") {
  draw_price("staircase", proof, sensitivity, scale, epsilon = ceiling(sensitivity / step) * step / scale)
}

# density exp(-f/scale), f moved by the sensitivity at most, over a constant that moves with the records
price_normalised <- function(sensitivity, scale, proof, delta = 0) {
  draw_price("normalised", proof, sensitivity, scale, epsilon = 2 * sensitivity / scale, delta = delta)
}

# the exponential mechanism, whose utilities a record moves by 1: weights exp(epsilon utility/2)
price_choice <- function(epsilon, proof) {
  draw_price("choice", proof, 1, 2 / epsilon, epsilon = epsilon)
}

# W - W' of density exp(-(tr W + tr W')/scale), which a record moves by matrices of such traces together
price_wishart <- function(sensitivity, scale, proof) {
  draw_price("wishart", proof, sensitivity, scale, sensitivity / scale)
}

# independent normals in flat coordinates
price_normal <- function(sensitivity, sd, proof = "gaussian.md, 1") {
  draw_price("normal", proof, sensitivity, sd, mu = sensitivity / sd)
}

# the Riemannian normal law, at the epsilon that is stated: its delta there
price_normal_curved <- function(space, sensitivity, scale, epsilon) {
  if (space$kind == "flat") return(price_normal(sensitivity, scale))
  if (epsilon == Inf) return(draw_price("normal", "gaussian.md, 3", sensitivity, scale, epsilon = Inf))
  delta <- function() profile_delta(space, scale, sensitivity, epsilon)
  draw_price("normal", "gaussian.md, 3", sensitivity, scale, epsilon = epsilon,
             delta = remembered("curved normal", list(space, scale, sensitivity, epsilon), delta))
}

# `fun()` once for the same public facts, whatever they are made of, but functions
remembered <- function(what, facts, fun) remember(paste(what, sha256(serialize(facts, NULL, xdr = FALSE))), fun)

price_normal_discrete <- function(sensitivity, scale, proof = "lattice.md, 1") {
  draw_price("discrete normal", proof, sensitivity, scale,
             mu = sensitivity / sqrt(scale^2 - ROUNDING_VARIANCE))
}
