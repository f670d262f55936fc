# A private run: as many of its steps as are wanted, and the release of its end.

steps_in_all <- function(run) as.double(run$ask$steps) * run$ask$restarts

# how sites share the noise, where it is theirs
input_shares <- function(input) if (inherits(input$data, "riemdp_tally")) input$data$chunks$shares

# What problem_call() makes of records, whose units are to be sampled; a curator hears of units that aren't whole
input_of_units <- function(input, units) {
  if (is.null(units)) return(input)
  check_unit_length(units, if (isTRUE(input$none)) 0 else input$n)
  check_units(units)
  if (isTRUE(input$none)) return(input)
  if (inherits(input$data, "riemdp_tally")) { # asks for units by itself
    input$data <- input$data$of_units(units)
    input$n <- as.double(units$count)
  } else {
    input$units <- unit_rows(units)
  }
  input
}

# The same with units in an order by lot. Their numbers follow from where their rows stand: one that is replaced may
# shift those of others, and batches of consecutive units with them.
units_by_lot <- function(input) {
  order <- by_lot(unit_count(input))
  if (inherits(input$data, "riemdp_tally")) {
    gradients <- input$data$gradients
    input$data$gradients <- function(v) {
      if (!is.null(v$which)) v$which <- order[v$which]
      gradients(v)
    }
  } else {
    size <- diff(input$units$first)[order]
    input$units <- list(rows = input$units$rows[sequence(size, input$units$first[order] + 1)],
                        first = c(0L, cumsum(size)))
  }
  input
}

unit_count <- function(input) {
  if (isTRUE(input$none)) 0 else if (is.null(input$units)) input$n else length(input$units$first) - 1
}

# Before its first step. Where the number of records is private, `ask$whole` is about the call, and the plan about N.
new_run <- function(ask, plan, key = NULL) {
  whole <- ask$whole %||% list(guarantee = plan$guarantee, event = plan$event)
  list(problem = ask$problem[c("kind", "manifold", "threshold")], ask = ask[setdiff(names(ask), c("problem", "whole"))],
       plan = plan$steps, guarantee = whole$guarantee, told = whole$event, size = whole$size, budget = NULL,
       state = NULL, trace = NULL, key = key)
}

# goes on with a run until so many steps are done; noisy and public quantities only are in what comes back
continue_run <- function(run, input, until) {
  ask <- run$ask
  each <- ask$adjacency == "add-remove" # no batch has a size then: it is the divisor only
  settings <- list(
    sampling = ask$sampling, output = ask$output, steps = ask$steps, batch = if (each) 1 else ask$batch,
    lots = if (each && ask$sampling == "disjoint") disjoint_batches(ask$points, ask$batch) else 0, rate = ask$rate,
    divisor = ask$batch, clip = ask$clip[2], sd = run$plan$sd, inner = ask$inner,
    snapshot_clip = ask$clip[1], snapshot_sd = run$plan$snapshot_sd,
    snapshot_divisor = if (is.na(ask$points)) 1 else ask$points, paper = ask$calibration == "paper",
    restarts = ask$restarts, radius = if (is.null(ask$radius)) 0 else ask$radius, lr = ask$lr, until = until,
    units = input$units, individual = ask$individual
  )
  if (!is.null(input_shares(input)) && until > 0) {
    input$data$gradients <- shared_gradients(input$data$chunks, sent_problem(run$problem), ask$clip[2], run$plan$sd)
    settings$sd <- 0
  }
  out <- .Call(riemdp_release_optimum, run$problem$manifold, input$data, input$kind, input$threshold, input$fun,
               input$n, ask$start, ask$center, settings, run$state, in_simulation())
  trace <- as.data.frame(out$trace)
  names(trace) <- c("step", "lr", "gradient_norm")
  run$trace <- rbind(run$trace, trace[!is.na(trace$step), ])
  run$state <- out$state
  run$value <- out$value
  run
}

# what sites that add noise can be asked for
check_shared_run <- function(x, ask, sd) {
  if (ask$method != "rgd" || ask$calibration == "paper" || !ask$problem$kind %in% GRADIENT_SUMS) {
    abort_riemdp("unsupported", paste("sites that add noise sum over all of their records: method = \"rgd\", of",
                                      "problem_frechet() or problem_huber()."))
  }
  check_all_there(x$shares)
  at <- .Call(riemdp_stored, ask$problem$manifold, ask$start)
  check_policies(x, list(gradient_request(x, sent_problem(ask$problem), ask$clip[2], sd, at)), ask$steps * ask$restarts)
}

# what of a problem is sent to sites
sent_problem <- function(problem) new_problem(problem$kind, problem$manifold, threshold = problem$threshold)

run_steps <- function(run, input) continue_run(run, input, steps_in_all(run))

release_optimum <- function(run) {
  ask <- run$ask
  plan <- run$plan
  release <- new_release(
    run$value, "riemdp_optimize",
    manifold = run$problem$manifold, mechanism = ask$method, problem = run$problem$kind, n = ask$n, unit = ask$unit,
    steps = ask$steps * ask$restarts, batch = ask$batch, sampling = ask$sampling, restarts = ask$restarts,
    clip = ask$clip, noise_multiplier = plan$multiplier, split = if (ask$inner > 0) plan$split,
    sd = plan$sd * if (is.null(ask$shares)) 1 else share_excess(ask$shares),
    snapshot_sd = if (ask$inner > 0) plan$snapshot_sd,
    event = if (is.null(run$size)) plan$event else
      event_compose(list(event_pure(run$size$epsilon, adjacency = "add-remove"), plan$event)),
    output = ask$output, center = ask$center, radius = ask$radius, trace = run$trace, calibration = ask$calibration,
    chosen = ask$chosen, budget = run$budget, guarantee = run$guarantee
  )
  release$size <- run$size
  release$individual <- ask$individual
  release
}

# into how many batches that share no record the records go
disjoint_batches <- function(n, batch) max(1, n %/% batch)

# How many steps with all records a run costs: those that it has, or those that each record has a budget of
paid_steps <- function(ask) ask$individual %||% (as.double(ask$steps) * ask$restarts)

# What individual budgets are proven for; refused before anything is spent
check_individual <- function(individual, data, method, sampling, calibration, checkpoint) {
  if (is.null(individual)) return(invisible())
  no <- function(...) abort_riemdp("unsupported", paste0("`individual`: ", ...))
  stochastic <- !identical(sampling, c("without-replacement", "poisson", "disjoint"))
  if (stochastic || !(identical(method, "rgd") || identical(method, c("auto", "rgd", "rsgd", "rsvrg")))) {
    no("budgets of single records are proven for steps with all of them, method = \"rgd\" without `sampling`.")
  }
  if (is_chunks(data)) no("each record's budget is kept beside it, in memory: chunks and sites have none.")
  if (identical(calibration, "paper")) no("the paper's moment bounds know no such budgets.")
  if (!is.null(checkpoint)) no("what records have used up is secret and kept nowhere: leave `checkpoint` out.")
}

# the events of a run with noise multiplier z, and z * split for snapshots
optimum_event <- function(ask, z, split) {
  sampled <- function(z) {
    g <- event_gaussian(z)
    if (ask$sampling == "poisson") event_poisson(ask$rate, g) else if (ask$share < 1) event_sample(ask$share, g) else g
  }
  steps <- paid_steps(ask)
  total <- function(...) event_compose(..., adjacency = ask$adjacency)
  switch(ask$method,
    rgd = total(event_gaussian(z), times = steps),
    rsgd = if (ask$sampling == "disjoint") total(event_gaussian(z), times = disjoint_epochs(ask)) else
      total(sampled(z), times = steps),
    rsvrg = total(event_compose(event_gaussian(z * split), times = steps / ask$inner),
                  event_compose(sampled(z), times = steps))
  )
}

# how often at most a record is used by batches that share none: each run begins with the first one
disjoint_epochs <- function(ask) ceiling(ask$steps / disjoint_batches(ask$points, ask$batch)) * ask$restarts

# mu of a composition of Gaussians, or NULL
gaussian_total <- function(ask, z, split) {
  square <- switch(ask$method,
    rgd = paid_steps(ask) / z^2,
    rsgd = if (ask$sampling == "disjoint") disjoint_epochs(ask) / z^2 else
      if (ask$sampling == "full") ask$steps * ask$restarts / z^2,
    rsvrg = if (ask$sampling == "full") ask$steps * ask$restarts * (1 + 1 / (ask$inner * split^2)) / z^2
  )
  if (!is.null(square)) sqrt(square) * (1 + 1e-12)
}

# by how many clips a sum differs: one where a record is there or isn't, two where it is replaced
clips_moved <- function(ask) if (ask$adjacency == "add-remove") 1 else 2

# how far a record moves a step's sum of clipped gradients over its divisor, and a snapshot's
step_sensitivity <- function(ask) clips_moved(ask) * ask$clip[2] / ask$batch

snapshot_sensitivity <- function(ask) clips_moved(ask) * ask$clip[1] / ask$points

# epsilon of all steps at the delta that is asked for; where noise is looked for by one accountant, by that one
steps_epsilon <- function(ask, z, split) {
  accountant <- if (is.null(ask$epsilon)) "auto" else "pld"
  numbers <- format(c(ask$steps, ask$restarts, ask$inner, ask$share, ask$rate, split, z, ask$delta), digits = 17)
  key <- paste(c("steps epsilon", accountant, ask$method, ask$sampling, ask$adjacency, numbers), collapse = " ")
  remember(key, function() {
    as.double(upper_epsilon(optimum_event(ask, z, split), ask$delta, accountant))
  })
}

optimum_guarantee <- function(problem, ask, plan) {
  promise_of(
    list(
      epsilon = plan$epsilon, delta = ask$delta, mu = plan$mu,
      reasons = if (ask$calibration == "paper") paste("the paper's moment bound of sampled steps is not proven in the",
                                                      "range where it is used")
    ),
    c(
      "clip, start, step sizes, batch and the number of steps are public",
      if (is.na(ask$points)) "the rate is public and doesn't depend on the number of records" else
        "the number of records is public",
      if (problem$kind == "callback") paste0(paste("a callback's result for a record depends on that record and the",
                                                   "point alone"),
                                              if (isTRUE(problem$batched)) paste(" (tried with made-up records;",
                                                                                 "otherwise trusted)")),
      ask$assumptions
    ),
    trusted = problem$manifold, adjacency = ask$adjacency
  )
}

# The price of a run from the noise that its steps are to have: its multipliers are read off that, those of the plan
# where they agree. Where there are snapshots they come second, and the price is that of both.
price_steps <- function(ask, steps) {
  z <- steps$sd / step_sensitivity(ask)
  split <- if (ask$inner > 0) steps$snapshot_sd / (z * snapshot_sensitivity(ask)) else steps$split
  if (isTRUE(abs(z / steps$multiplier - 1) < 1e-12)) z <- steps$multiplier
  if (isTRUE(abs(split / steps$split - 1) < 1e-12)) split <- steps$split
  mu <- gaussian_total(ask, z, split)
  rows <- if (ask$inner > 0 && ask$calibration != "paper") 1:2 else 1
  price <- draw_price(c("normal, step by step", "normal, snapshots (in the steps' price)")[rows],
                      if (is.null(ask$individual)) "optimisers.md, Whole runs" else "optimisers.md, Individual budgets",
                      c(step_sensitivity(ask), snapshot_sensitivity(ask))[rows],
                      c(steps$sd, steps$snapshot_sd)[rows])
  if (ask$calibration == "paper") return(price)
  # where N wasn't known the ledger was told a sum, which the price is held against
  if (is.null(ask$size)) check_told(optimum_event(ask, z, split))
  if (!is.null(mu)) {
    price$mu <- c(mu, 0)[rows]
  } else {
    epsilon <- steps_epsilon(ask, z, split)
    # beyond what losses' distributions tell another accountant has found the noise
    if (isTRUE(epsilon > ask$epsilon)) epsilon <- as.double(upper_epsilon(optimum_event(ask, z, split), ask$delta))
    price$epsilon <- c(epsilon, 0)[rows]
    price$delta <- c(ask$delta, 0)[rows]
  }
  price
}
