# Runs of any number of records (neighbours = "add_remove"). A noisy number is released, and N that follows from it
# takes the place of n: sums of clipped gradients are divided by public numbers, and records enter batches each by
# itself. Proof: inst/proofs/optimisers.md, "A private number of records".

# Two scales of the number's noise more than was released, one at least: steps are n/N times as long as they ought to
# be, and short ones do less harm. No more than step counts hold.
RUN_SHIFT <- 2
RUN_LEAST <- 1
RUN_MOST <- 1e8

# What neighbours a run is about: those that replace a record ("replace"), or have one more, its batches drawn by a
# public rate ("rate") or planned for a released number ("size")
run_neighbours <- function(neighbours, sampling) {
  given <- !identical(neighbours, c("replace", "add_remove"))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  if (!identical(sampling, "poisson")) return(if (replace) "replace" else "size")
  if (replace && given) {
    abort_riemdp("argument", paste("sampling = \"poisson\" is proven for one record more or less, neighbours =",
                                   "\"add_remove\": its price says nothing of one that is replaced. Leave",
                                   "`neighbours` out, or take another `sampling`."))
  }
  "rate"
}

# What can't be planned for every N is refused before anything is spent. `fixed`: `steps` was given.
check_run_size <- function(data, method, sampling, lr, fixed, inner, noise_multiplier, calibration, checkpoint) {
  no <- function(...) abort_riemdp("unsupported", paste0("neighbours = \"add_remove\": ", ...))
  check_fit_size(FALSE, data, if (identical(calibration, "paper")) "paper" else method)
  if (!is.null(noise_multiplier)) no("give `epsilon`: a number of records is released for a part of it.")
  if (identical(sampling, "without-replacement")) {
    no("batches of a fixed size are about a replaced record. Without `sampling` each record enters a batch by itself.")
  }
  if (!fixed && (is.function(lr) || length(lr) > 1)) no("how many step sizes are needed isn't known: give `steps`.")
  if (identical(method, "rsvrg") && fixed && is.null(inner)) no("give `inner` where `steps` is given.")
  if (identical(sampling, "disjoint") && !is.null(checkpoint)) {
    no("disjoint batches are drawn by lot and kept nowhere: leave `checkpoint` out.")
  }
}

# A run by what it is about. `asked(n, epsilon)`: what is asked of n records, public. Ticks of what is planned for a
# released number aren't counted.
release_run <- function(estimator, about, asked, epsilon, records, ledger, data_set, part) {
  if (about != "size") return(release_private(estimator, asked(records$n, epsilon), records, ledger, data_set, part))
  check_given(c(epsilon = is.null(epsilon)))
  ask <- asked(1, epsilon)
  if (ask$epsilon > 1e3) {
    abort_riemdp("argument", paste("neighbours = \"add_remove\" takes an `epsilon` up to 1000: the noise must fit into",
                                   "doubles whatever the number of records."))
  }
  ask <- fit_ask(ask, TRUE, "sum", RUN_SHIFT, RUN_LEAST, RUN_MOST)
  if (ask$open) ask$method <- "auto"
  uncounted(release_private(sized_run(estimator, asked), ask, records, ledger, data_set, part))
}

# The estimator of such a run: what is asked of N records is asked anew
sized_run <- function(estimator, asked) {
  anew <- function(ask) {
    at <- asked(ask$n, ask$epsilon)
    at[c("size", "whole")] <- ask[c("size", "whole")]
    at
  }
  inner <- utils::modifyList(estimator, list(
    plan = function(ask) {
      at <- anew(ask)
      plan <- estimator$plan(at)
      # steps with all records are the same ones for every N
      if (at$method == "rgd" && !at$open) plan$sure <- plan$event
      plan
    },
    ready = function(records, plan, ask) estimator$ready(records, plan, anew(ask)),
    draw = function(records, plan, ask, budget) estimator$draw(records, plan, anew(ask), budget)
  ))
  sized_fit(inner, function(records, points) records)
}
