# Fits of any number of records (neighbours = "add_remove"). What is private where one of N records is replaced, N
# public, is so for a private number of records too: given a released size, N of them are taken, or those that are
# missing count nothing. Proof: inst/proofs/mean-sensitivity.md, section 16.

# the part of epsilon that the number of records has
FIT_COUNT <- 0.05

# what explain() says
TAKEN <- paste("So many are taken for the fit: those that are missing count nothing, and what is more is left out by",
               "lot. The fit has the rest of epsilon, for replacing a record (proofs/mean-sensitivity.md, section 16).")

# `ask` of a fit that replaces one record, for one record more or less. N is the released number and `shift` scales of
# its noise more, `least` scales at least.
fit_ask <- function(ask, gaussian, form = "taken", shift = 0, least = 0, most = SIZE_MOST) {
  own <- FIT_COUNT * ask$epsilon
  if (!(own >= 1e-5)) {
    abort_riemdp("argument", sprintf(paste("`epsilon` is too small for a private number of records: %.3g of it is its",
                                           "part, and its noise would be larger than most numbers of records."), own))
  }
  ratio <- geometric_ratio(own)
  scale <- ratio[1] / ratio[2]
  ask$size <- list(share = FIT_COUNT, epsilon = own, ratio = ratio, scale = scale, form = form,
                   shift = round(shift * scale), least = max(1, round(least * scale)), most = most)
  ask$total <- ask$epsilon
  ask$whole_delta <- if (gaussian) ask$delta else 0
  ask$epsilon <- outwards_down(ask$epsilon - own)
  ask$n <- ask$size$least
  ask
}

# What has no private number of records is refused before anything is spent. Without `data` what is a record, and what a
# constant, follows from lengths.
check_fit_size <- function(replace, data, method, sample = FALSE) {
  if (replace) return(invisible())
  no <- function(...) abort_riemdp("unsupported", paste0("neighbours = \"add_remove\": ", ...))
  if (is_chunks(data)) no("records must be in memory: the sizes of chunks are public.")
  if (is.null(data)) no("give the variables in `data`.")
  if (identical(method, "paper")) no("method = \"paper\" is for study, and promises nothing.")
  if (identical(method, "kng")) no("method = \"kng\" has no plan for most numbers of records.")
  if (sample) no("bounds = \"sample\" isn't available: it promises nothing.")
}

# What each of n rows counts where N records or units are taken, as fit_shares() has it: those that are more are left
# out by lot. `shares`: of units' rows, `of`: the unit of each.
taken_shares <- function(n, points, shares = NULL, of = NULL) {
  count <- counted(shares, n)
  left <- if (count > points) by_lot(count)[-seq_len(points)]
  if (is.null(shares)) shares <- replace(rep(1, n), left, 0) else shares[of %in% left] <- 0
  structure(shares, units = points)
}

# the numbers from 1 to n, each order as likely as any other
by_lot <- function(n) order(.Call(riemdp_noise, euclidean(1), 0, n, "wrapped_gaussian", 1, in_simulation()))

# A release by one of two estimators; the second is only made where it is used. `gaussian`: methods that use delta.
release_fit <- function(estimator, sized, replace, ask, records, gaussian, ledger, data_set, part) {
  if (replace) return(release_private(estimator, ask, records, ledger, data_set, part))
  ask <- fit_ask(ask, ask$delta > 0 && ask$method %in% c("auto", gaussian))
  uncounted(release_private(sized, ask, records, ledger, data_set, part))
}

# An estimator of fits, for a private number of records. `taken(records, points)`: the records, of which so many count.
# A plan's `sure`: the event of its draws, where that is the same for every N. What is drawn is told of the whole call.
sized_fit <- function(estimator, taken) {
  event <- function(plan, ask) {
    if (plan$guarantee$label == "none") return(NULL)
    fit <- plan$sure %||% if (ask$whole_delta > 0) {
      event_approx(ask$epsilon, ask$whole_delta, adjacency = "add-remove")
    } else {
      event_pure(ask$epsilon, adjacency = "add-remove")
    }
    event_compose(list(event_pure(ask$size$epsilon, adjacency = "add-remove"), fit))
  }
  utils::modifyList(estimator, list(
    plan = function(ask) {
      # at the smallest number: what can't be served at all is refused before anything is spent
      plan <- estimator$plan(ask)
      plan$guarantee <- sized_promise(plan$guarantee, ask)
      if (ask$method == "auto") plan[intersect(c("method", "mechanism"), names(plan))] <- "auto"
      plan
    },
    event = event,
    draw = function(records, plan, ask, budget) {
      count <- noisy_count(records$n, ask$size$ratio, "mean-sensitivity.md, 14")
      ask$n <- min(max(ask$size$least, count + ask$size$shift), ask$size$most)
      at <- estimator$plan(ask)
      if (!keeps_promise(at$guarantee, plan$guarantee, ask)) abort_contract("the fit's plan promises less")
      size <- c(list(count = count, points = ask$n), ask$size[c("form", "epsilon", "scale")])
      ask$whole <- list(size = size, guarantee = plan$guarantee, event = event(plan, ask))
      out <- estimator$draw(taken(records, ask$n), at, ask, budget)
      at$guarantee <- plan$guarantee
      list(out = out, plan = at, size = size)
    },
    answer = function(out, plan, ask, budget) {
      ask$n <- out$size$points
      release <- estimator$answer(out$out, out$plan, ask, budget)
      release$n <- NA_real_
      release$size <- out$size
      release
    }
  ))
}

# whether what the plan at a released size promises is enough for what was promised before
keeps_promise <- function(at, stated, ask) {
  stated$label == "none" || (at$label %in% c("pure", if (ask$whole_delta > 0) "approx") &&
                               isTRUE(at$epsilon <= ask$epsilon && at$delta <= ask$whole_delta))
}

# what a promise about a replaced record becomes with that about a size
sized_promise <- function(g, ask) {
  g <- one_more_or_less(g, ask$total, ask$whole_delta)
  g$assumptions <- c(sub("(the number of (records|units)) is public", "\\1 is private", g$assumptions), sprintf(
    "a noisy number of %s is a release of its own, with %.3g of epsilon, the fit with the rest",
    if (is.null(ask$unit)) "records" else "units", ask$size$share))
  g
}
