# A private run: as many of its steps as are wanted, and the release of its end.

OPTIM_OUTPUT <- c(last = 1, average = 2, random = 3)

OPTIM_SAMPLING <- c(full = 1, `without-replacement` = 2, poisson = 3, disjoint = 4)

steps_in_all <- function(run) as.double(run$ask$steps) * run$ask$restarts

# goes on with a run until so many steps are done; noisy and public quantities only are in what comes back
continue_run <- function(run, input, until) {
  ask <- run$ask
  # (a Poisson batch has no size: `batch` is its divisor only)
  numbers <- c(OPTIM_SAMPLING[[ask$sampling]], OPTIM_OUTPUT[[ask$output]], ask$steps,
               if (ask$sampling == "poisson") 1 else ask$batch, ask$rate, ask$batch, ask$clip[2],
               run$plan$sd, ask$inner, ask$clip[1], run$plan$snapshot_sd, ask$calibration == "paper", ask$restarts,
               if (is.null(ask$radius)) 0 else ask$radius, until)
  out <- .Call(riemdp_release_optimum, run$problem$manifold, input$data, input$kind, input$threshold, input$fun,
               input$n, ask$start, ask$center, as.double(numbers), ask$lr, run$state, in_simulation())
  trace <- as.data.frame(out$trace)
  names(trace) <- c("step", "lr", "gradient_norm")
  run$trace <- rbind(run$trace, trace[!is.na(trace$step), ])
  run$state <- out$state
  run$value <- out$value
  run
}

run_steps <- function(run, input) release_optimum(continue_run(run, input, steps_in_all(run)))

release_optimum <- function(run) {
  ask <- run$ask
  plan <- run$plan
  new_release(
    run$value, "riemdp_optimize",
    manifold = run$problem$manifold, mechanism = ask$method, problem = run$problem$kind, n = ask$n,
    steps = ask$steps * ask$restarts, batch = ask$batch, sampling = ask$sampling, restarts = ask$restarts,
    clip = ask$clip, noise_multiplier = plan$multiplier, split = if (ask$inner > 0) plan$split, sd = plan$sd,
    snapshot_sd = if (ask$inner > 0) plan$snapshot_sd, event = plan$event, output = ask$output, center = ask$center,
    radius = ask$radius, trace = run$trace, calibration = ask$calibration,
    chosen = ask$chosen, budget = run$budget, guarantee = run$guarantee, draws = run$draws
  )
}
