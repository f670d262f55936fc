# A private mean as release_private() takes it: of a public number of records, and of a private one.

mean_estimator <- list(
  entry = function(plan, ask) entry_words(ask$entry, plan$mechanism, ask$unit),
  parts = c(MEAN_PARTS, MEAN_ERRORS, chosen = "text"),
  once = "plan of a mean",
  plan = function(ask) {
    plan <- plan_mean(ask$manifold, ask)
    check_squares_target(plan, ask)
    plan$guarantee$assumptions <- c(plan$guarantee$assumptions, ask$assumptions)
    plan$guarantee <- of_units(plan$guarantee, ask$unit)
    plan$mean_guarantee <- plan$guarantee
    plan$guarantee <- with_parts(plan$guarantee, ask)
    plan
  },
  ready = function(records, plan, ask) {
    if (!is.null(plan$share_sd) || !is.null(plan$query)) { # of sites that add noise
      check_policies(records$x, list(shared_request(plan, plan$about, ask$manifold, ask$center)))
    }
    if (ask$invalid == "error") check_records(ask$manifold, records$x)
    if (is.null(records$units)) return(records["x"])
    if (ask$invalid == "error") {
      check_units(records$units, paste("With invalid = \"center\"", c("they are left out.",
                                                                      "each counts as the centre.")))
    }
    if (!length(records$units$of)) { # units without rows, and no others
      records[c("x", "units")] <- list(ask$center, utils::modifyList(records$units, list(of = NA_integer_)))
    }
    list(x = unit_means(ask$manifold, records$x, records$units, ask$center, ask$ball), rows = records$x,
         units = records$units)
  },
  event = function(plan, ask) {
    shares_event(release_event(plan$mean_guarantee), ask)
  },
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    outside <- release_clipped(M, records$rows %||% records$x, ask, records$units)
    mean_plan <- plan
    mean_plan$guarantee <- plan$mean_guarantee
    out <- release_plan(M, records$x, mean_plan, ask)
    out$plan$guarantee <- plan$guarantee
    c(out, list(outside = outside, squares = release_variance(M, records$x, ask, out$value, ask$n)))
  },
  answer = function(out, plan, ask, budget) mean_release(out, out$plan, ask, budget)
)

# the number of records is private: its noisy value is released first
sized_mean_estimator <- list(
  entry = mean_estimator$entry,
  plan = function(ask) {
    plan <- ask$guessed %||% check_sizes(ask$manifold, ask)
    if (ask$mechanism != plan$mechanism) plan$mechanism <- ask$mechanism
    check_squares_target(plan, ask)
    plan$guarantee <- with_parts(with_size(plan$guarantee, ask), ask)
    plan$guarantee$assumptions <- c(plan$guarantee$assumptions, ask$assumptions)
    plan$guarantee <- of_units(plan$guarantee, ask$unit)
    plan
  },
  parts = mean_estimator$parts,
  ready = function(records, plan, ask) {
    n <- records$n
    c(if (n > 0) mean_estimator$ready(records, plan, ask) else records["x"], list(n = n))
  },
  event = function(plan, ask) if (plan$guarantee$label != "none") shares_event(size_event(ask), ask),
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    outside <- release_clipped(M, records$rows %||% records$x, ask, records$units, records$n)
    out <- release_size(M, records$x, records$n, ask)
    out$plan$guarantee <- plan$guarantee
    c(out, list(outside = share_of_size(outside, out$size),
                squares = release_variance(M, records$x, ask, out$value, records$n)))
  },
  answer = function(out, plan, ask, budget) {
    release <- mean_release(out, out$plan, ask, budget)
    release$size <- out$size
    release
  }
)
