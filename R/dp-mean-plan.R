#' What a private mean would cost, before any data are touched
#'
#' Puts every mechanism of [dp_mean()] beside each other, from public quantities only: the scale of its noise, the
#' expected error, the sampler's acceptance, the label that a release would carry. `plot()` draws the expected error
#' against the number of records and against epsilon, and names below the picture what has no curve, and why. The plan,
#' or a row of it, is the argument `plan` of [dp_mean()], which then does what it says.
#'
#' @section Inverse questions:
#' With `error`, an expected error that a release may have, one of `n` and `epsilon` is `NULL`, and the plan finds the
#' smallest one that will do, for each mechanism by itself: each row is the plan with its own number. Numbers are
#' found to one in a thousand (whole ones up to 1,000 exactly), and both ends are tried: with the number that is told
#' the expected error is `error` or less, a step below it isn't. Sought are an epsilon from \eqn{10^{-6}} to
#' \eqn{10^6} and an n up to two thousand million (100,000 for `"adaptive"`, whose error is simulated). `chosen` is
#' then what `mechanism = "auto"` takes with the smallest number for which its choice keeps the error.
#'
#' @section Without a centre:
#' Where the isometries of a space carry every point to every other, its curvature, volumes and noise laws are the same
#' everywhere, and `center` may be left out: the plan is made for another one. Mechanisms that use more than the metric
#' (`"euclidean"` on matrices, `"pointwise"`) then can't be served. With the Bures-Wasserstein metric and on users'
#' manifolds the centre must be given.
#'
#' @section Subspaces:
#' With `reduce` the plan has a row for each [subspace()] and one for the whole space, for the mechanism that
#' [dp_mean()] would choose there. *Noise*: its expected error, on the subspace. *Projection*: how far projecting
#' records, and moving them to the ball, moves their mean, with `public` or `simulate` records: a root mean square over
#' eight samples of as many as tell as little of a mean as m public and n private ones do together, mn/(m + n) (of four
#' simulated ones), since around a sample's own mean nothing would be lost. *Total*: the root of the sum of both
#' squares. The best has the smallest total. With `error` the least `n` or `epsilon` is found with which the total is at
#' most that, for each subspace.
#'
#' @param M a manifold.
#' @param n number of records, or of units; with `neighbours = "add_remove"` a public guess of it. `NULL` for the least
#'   that keeps `error`.
#' @param epsilon,center,radius,delta,calibration,timing,numerics,max_trials,clipped,variance,neighbours,post as in
#'   [dp_mean()]. With `clipped` or `variance` scales and errors are those of a mean that has what is left of `epsilon`.
#'   `epsilon = NULL` for the least that keeps `error`; `center = NULL` where the answer doesn't depend on it.
#' @param ... nothing; later arguments must be named.
#' @param error the expected error that is wanted, in the units of the metric, where `n` or `epsilon` is sought.
#' @param mechanism `"auto"` for all of them, or the names of some.
#' @param reduce `NULL`, or a public [subspace()], or a list of them (names are shown), to compare with the whole space;
#'   see "Subspaces". `center` is then that of the first and may be left out; `radius` must be allowed on `M` itself.
#'   Mechanisms are those whose error is known without `spread`, which is refused.
#' @param public,simulate with `reduce`: records that are public, or how to make some up, as in [dp_bounds_plan()]. What
#'   goes in is taken for public, nothing is protected.
#' @param spread a public guess of the records' standard deviation in one tangent coordinate around their mean. Only the
#'   error of `"adaptive"` depends on it: it is then simulated (20 data sets with a fixed seed, their mean half-way from
#'   the centre to the edge); without a guess that error is `NA`. With it the plan chooses `"adaptive"` where that error
#'   is the smallest, which `mechanism = "auto"` of [dp_mean()] never does, as it knows of no spread: `print()` says
#'   which mechanism to ask for.
#' @return A data frame of class `riemdp_mean_plan` with one row for each mechanism, best first: `mechanism`,
#'   `label`, `numerics` (`"lattice"` or `"real"`, what `"auto"` comes to), `epsilon` and `delta` (`Inf` and 1 for the
#'   label `none`, as in [guarantee()]), `nominal_epsilon`, `scale`, `sensitivity`, `expected_error` (of the privacy
#'   noise alone, about the mean of records moved to the ball; where noise is large the largest over all means in the
#'   ball, see "Large noise" of [dp_mean()]), `relative_error` (of the public radius), `acceptance`, `n`, `chosen`
#'   (what `mechanism = "auto"` would take, or what to ask for), `lower_bound` ([mean_lower_bound()] for the row's
#'   numbers: what no mechanism can do better for all records; `NA` with a private `n`, for the label `none` and other
#'   targets), `over_bound` (the expected error over it) and `note` (why one can't be
#'   served, or what its target is). With
#'   `error` the best are those that need the smallest number.
#'
#'   With `reduce` a data frame of class `riemdp_subspace_plan` with a row for each subspace and the whole space:
#'   `subspace` (its name), `dimension`, `mechanism`, `label`, `n`, `nominal_epsilon`, `noise`, `projection` (`NA`
#'   without records), `total`, `chosen` (the smallest total, or the smallest number) and `note`.
#' @seealso [dp_mean()], [expected_error()], [mean_lower_bound()], [dp_bounds_plan()] for the ball
#' @examples
#' plan <- dp_mean_plan(sphere(2), n = 500, epsilon = 1, radius = 0.4)
#' plan
#' # how many records would it take, and which epsilon?
#' dp_mean_plan(sphere(2), n = NULL, epsilon = 1, radius = 0.4, error = 0.001, mechanism = "laplace")
#' dp_mean_plan(sphere(2), n = 500, radius = 0.4, error = 0.01, mechanism = c("laplace", "wrapped"))
#' # as planned, once there are records
#' x <- mf_random(sphere(2), 500, sd = 0.1)
#' dp_mean(x, plan = plan, center = c(0, 0, 1))
#' \donttest{plot(plan)}
#' # how many modes of an outline? Half of the shapes are public
#' modes <- lapply(c(2, 4, 8), outline_modes, center = callosum_template)
#' dp_mean_plan(kendall(50), n = 100, epsilon = 1, radius = 0.25, reduce = modes,
#'              public = callosa[, , 1:200])
#' @export
dp_mean_plan <- function(M, n = NULL, epsilon = NULL, center = NULL, radius, ..., error = NULL, delta = 0,
                         mechanism = "auto", spread = NULL, calibration = c("proven", "paper"),
                         timing = c("ordinary", "constant"), numerics = c("auto", "lattice", "real"), max_trials = NULL,
                         clipped = NULL, variance = NULL, neighbours = c("replace", "add_remove"), post = TRUE,
                         reduce = NULL, public = NULL, simulate = NULL) {
  check_dots_empty(...)
  check_manifold(M)
  check_given(c(radius = missing(radius)))
  sought <- what_is_sought(n, epsilon, error)
  if (!is.null(n)) n <- check_count(n, "n", most = .Machine$integer.max)
  wanted <- wanted_mechanisms(mechanism)
  if (!is.null(spread)) spread <- check_number(spread, "spread", positive = TRUE)
  private_n <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "add_remove"
  asked <- function(space, center, n, epsilon) {
    of <- if (identical(wanted, "tangent")) "tangent" else "auto" # which alone needs no model of rounding errors
    ask <- mean_ask(space, n, epsilon, center, radius, delta, of, NULL, calibration, timing, numerics, max_trials,
                    list(), clipped, variance, post)
    ask$private_n <- private_n
    ask
  }
  if (!is.null(reduce)) {
    if (!is.null(error)) error <- check_number(error, "error", positive = TRUE)
    if (!is.null(spread)) {
      abort_riemdp("argument", paste("`spread` is for \"adaptive\" on the whole space: a plan of subspaces compares",
                                     "mechanisms whose error is known without it."))
    }
    best <- function(space, center, n, epsilon) {
      best_mean(space, asked(space, center, n, epsilon), if (!identical(mechanism, "auto")) wanted)
    }
    out <- subspace_plan(M, reduce, center, radius, public, simulate, best, sought, n, epsilon, error, timing)
    return(structure(out, terms = list(delta = delta, private_n = private_n, clipped = clipped, variance = variance)))
  }
  check_no_records(public, simulate)
  ask <- asked(M, public_center(M, center), n %||% 1, epsilon %||% 1)
  ask$any_center <- is.null(center)
  # as dp_mean() is to be given them: releases stay releases, whose place in `source` is told
  ask$arguments <- mget(PLANNED)
  if (is.null(sought)) return(new_mean_plan(M, ask, mean_plans(M, ask, wanted, spread), wanted, spread))
  error <- check_number(error, "error", positive = TRUE)
  least_mean_plan(M, ask, wanted, spread, sought, error)
}

# arguments of dp_mean() that a plan answers
PLANNED <- c("M", "epsilon", "center", "radius", "delta", "calibration", "timing", "numerics", "max_trials", "clipped",
             "variance", "neighbours", "post")

# these with the plan's answers, and the mechanism; `given`: the names of the call's arguments
planned_arguments <- function(plan, given, x) {
  # (of a plan that is where code may be, that of a user's manifold)
  facts <- list(plan, attr(plan, "ask"), given)
  answers <- latest("plan given", facts, function() answered_arguments(plan, given, x))
  check_one_mean(given, x)
  answers
}

check_one_mean <- function(given, x) {
  if (any(c("by", "levels", "suppress") %in% given) || inherits(x, "formula") && !identical(x[[length(x)]], 1)) {
    abort_riemdp("unsupported", "a plan is about one mean: of groups there is none.")
  }
}

answered_arguments <- function(plan, given, x) {
  made <- inherits(plan, "riemdp_mean_plan") && is.data.frame(plan) && whole_plan(plan)
  asked <- if (made) attr(plan, "ask")$arguments
  if (!is.list(asked)) {
    abort_riemdp("argument", "`plan` must be one of dp_mean_plan(), without `reduce`, or a row of it.")
  }
  answered <- setdiff(PLANNED, if (is.null(asked$center)) "center")
  twice <- intersect(c(answered, "mechanism", "sigma", "options", "reduce"), given)
  if (length(twice)) {
    abort_riemdp("argument", paste0("`", twice[1], "` is the plan's to say: leave it out, or `plan`.",
                                    if (twice[1] == "M") " Variables of a formula are named: `data = `."))
  }
  check_one_mean(given, x)
  row <- if (nrow(plan) == 1) 1L else which(plan$chosen)
  if (length(row) != 1) {
    abort_riemdp("argument", "the plan has chosen no mechanism: give one of its rows, e.g. plan[1, ].")
  }
  if (is.na(plan$scale[row])) {
    abort_riemdp("unsupported", sprintf("\"%s\" isn't available: %s", plan$mechanism[row], plan$note[row]))
  }
  if (identical(attr(plan, "sought"), "epsilon")) asked$epsilon <- plan$nominal_epsilon[row]
  c(lapply(stats::setNames(nm = answered), function(name) asked[[name]]), mechanism = plan$mechanism[row])
}

check_no_records <- function(public, simulate) {
  if (!is.null(public) || !is.null(simulate)) {
    abort_riemdp("argument", paste("`public` and `simulate` are for subspaces: give `reduce`. For a ball there is",
                                   "dp_bounds_plan()."))
  }
}

# arguments of a plan of subspaces, checked
subspace_plan <- function(M, reduce, center, radius, public, simulate, best, sought, n, epsilon, error, timing) {
  first <- if (inherits(reduce, "riemdp_subspace")) reduce else if (is.list(reduce) && length(reduce)) reduce[[1]]
  mean_space(M, first %||% list(), center, NULL, timing)
  if (!is.null(epsilon)) epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  radius <- check_radius(M, public_value(radius, "radius"), first$center)$radius
  records <- if (!is.null(public) || !is.null(simulate)) bounds_records(M, n, simulate, public, "dp_mean_plan")
  plan_subspaces(M, reduce, radius, records, best, sought, n, epsilon, error)
}

# the plan of what dp_mean() would choose, or of the best of those that are named; why there is none
best_mean <- function(M, ask, names) {
  plans <- if (is.null(names) && !ask$private_n) {
    list(tryCatch(plan_mean(M, ask), riemdp_error = function(e) {
      if (inherits(e, "riemdp_error_contract")) stop(e)
      list(why = conditionMessage(e))
    }))
  } else {
    plans_of(M, ask, names %||% SIZE_MECHANISMS)
  }
  errors <- vapply(plans, function(p) if (is.null(p$why)) p$expected_error else NA_real_, 0)
  if (all(is.na(errors))) return(list(why = plans[[1]]$why %||% no_error_why(plans[[1]]$mechanism)))
  plan <- if (is.null(names) && ask$private_n) best_size(plans, ask) else plans[[which.min(errors)]]
  plan$guarantee <- with_parts(plan$guarantee, ask)
  plan
}

wanted_mechanisms <- function(mechanism) {
  known <- names(mean_mechanisms())
  if (identical(mechanism, "auto")) return(known)
  if (!length(mechanism)) abort_riemdp("argument", "`mechanism` must name one at least.")
  unique(vapply(as.list(mechanism), check_choice, "", name = "mechanism", choices = known))
}

# the centre, or a point that stands for any where isometries carry it everywhere
public_center <- function(M, center) {
  if (!is.null(center)) return(center)
  facts <- mf_facts(M)
  if (!facts$homogeneous || facts$local_bounds || of_user(M)) abort_no_default("center")
  .Call(riemdp_origin, M)
}

# plans of the mechanisms wanted, with the errors that a guess of the spread tells
mean_plans <- function(M, ask, wanted, spread) {
  lapply(plans_of(M, ask, wanted), function(plan) {
    if (is.null(plan$why) && plan$mechanism == "adaptive" && !is.null(spread)) {
      plan$expected_error <- adaptive_error(M, ask, plan, spread)
    }
    plan$ask <- ask
    plan
  })
}

# What a plan chooses: what dp_mean() would, or the adaptive mechanism where a guess of the spread makes it the better
choose_mean <- function(M, ask, plans) {
  best <- if (ask$private_n) best_size(plans, ask) else
    tryCatch(plan_mean(M, ask, plans), riemdp_error = function(e) NULL)
  staged <- plans$adaptive$expected_error
  if (!is.null(staged) && !is.na(staged) && !isTRUE(staged >= best$expected_error / 1.01)) return(plans$adaptive)
  best
}

new_mean_plan <- function(M, ask, plans, wanted, spread, chosen = choose_mean(M, ask, plans), sought = NULL,
                          error = NULL) {
  table <- do.call(rbind, lapply(plans, plan_row, M))
  table$chosen <- table$mechanism %in% chosen$mechanism
  rank <- table[[if (is.null(sought)) "expected_error" else SOUGHT[[sought]]]]
  table <- table[order(!is.na(rank), -rank, decreasing = TRUE), ]
  row.names(table) <- NULL
  structure(table, class = c("riemdp_mean_plan", "data.frame"), ask = ask, manifold = M, wanted = wanted,
            spread = spread, sought = sought, error = error)
}

# ---- inverse questions -----------------------------------------------------------------------------------------------

ADAPTIVE_MOST <- 1e5 # records of a simulation

# `ask` with another n or epsilon
ask_at <- function(ask, what, value) {
  if (what == "n") {
    ask$n <- value
    return(ask)
  }
  ask$epsilon <- value
  share_epsilon(ask, value, ask$clipped$share, ask$variance$share)
}

least_mean_plan <- function(M, ask, wanted, spread, sought, error) {
  plans <- lapply(stats::setNames(nm = wanted), function(name) least_plan(M, ask, name, spread, sought, error))
  values <- vapply(plans, function(p) p$value %||% NA_real_, numeric(1))
  able <- names(Filter(function(m) isTRUE(m$auto), mean_mechanisms()))
  # the least number with which the choice that is made there keeps the error
  chosen <- NULL
  tried <- c(able, intersect("adaptive", wanted))
  for (name in names(sort(values[names(values) %in% tried]))) {
    best <- choose_mean(M, plans[[name]]$ask, mean_plans(M, plans[[name]]$ask, tried, spread))
    if (isTRUE(best$expected_error <= error)) {
      chosen <- best
      ask <- plans[[name]]$ask
      break
    }
  }
  if (is.null(chosen) && any(!is.na(values))) ask <- plans[[which.min(values)]]$ask
  new_mean_plan(M, ask, plans, wanted, spread, chosen, sought, error)
}

# The plan of one mechanism with the least n or epsilon that keeps the error, and that number as `value`; or why there
# is none
least_plan <- function(M, ask, name, spread, sought, error) {
  at <- function(value) mean_plans(M, ask_at(ask, sought, value), name, spread)[[1]]
  range <- SOUGHT_RANGE[[sought]]
  if (name == "adaptive" && sought == "n") range[2] <- ADAPTIVE_MOST
  value <- least_value(function(v) at(v)$expected_error %||% NA_real_, error, range, whole = sought == "n")
  if (!is.null(value)) return(c(at(value), list(value = value)))
  last <- at(min(range[2], if (sought == "n") 1e4 else 1e3))
  why <- last$why %||% if (is.na(last$expected_error)) no_error_why(name) else
    sprintf("no %s from %g to %g gives this error.", sought, range[1], range[2])
  list(mechanism = name, why = why, kind = last$kind %||% "sought")
}

no_error_why <- function(name) {
  if (name == "adaptive") "its error depends on how the records are spread: give a guess as `spread`." else
    "its expected error isn't known before the release."
}

plan_row <- function(plan, M) {
  if (!is.null(plan$why)) {
    return(data.frame(mechanism = plan$mechanism, label = NA_character_, numerics = NA_character_, epsilon = NA_real_,
                      delta = NA_real_,
                      nominal_epsilon = NA_real_, scale = NA_real_, sensitivity = NA_real_, expected_error = NA_real_,
                      relative_error = NA_real_, acceptance = NA_real_, n = NA_real_, chosen = FALSE,
                      lower_bound = NA_real_, over_bound = NA_real_, note = plan$why))
  }
  g <- with_parts(plan$guarantee, plan$ask)
  bound <- if (plan$ask$private_n) NA_real_ else
    as.vector(bound_of_promise(M, g, plan$ask$ball, plan$ask$n, plan$target))
  data.frame(
    mechanism = plan$mechanism, label = g$label, numerics = plan$numerics, epsilon = g$epsilon, delta = g$delta,
    nominal_epsilon = g$nominal_epsilon, scale = plan$scale, sensitivity = plan$sensitivity,
    expected_error = plan$expected_error, relative_error = plan$expected_error / plan$ask$ball$radius,
    acceptance = plan$acceptance, n = plan$ask$n, chosen = FALSE, lower_bound = bound,
    over_bound = plan$expected_error / bound,
    note = paste(c(plan$note, if (is.null(plan$note) && !is.null(plan$target)) paste("target:", plan$target),
                   drawn_note(plan)), collapse = "; ")
  )
}

# where the draw is moved towards the centre
drawn_note <- function(plan) {
  if (!is.null(plan$shrinkage)) {
    sprintf("the largest error over all means in the ball (%.3g at the centre); of the point drawn %.3g",
            plan$shrinkage$errors[1], plan$noise_error)
  }
}

plans_of <- function(M, ask, names) {
  plans <- if (ask$private_n) plan_sizes(M, ask, names) else plan_all(M, ask, names)
  lapply(plans, function(plan) {
    why <- if (is.null(plan$why)) squares_refused(plan, ask)
    if (is.null(why)) plan else list(mechanism = plan$mechanism, why = why, kind = "unsupported")
  })
}

# plans by name where the number of records is private and `ask$n` a public guess of it: each as if it were asked for
plan_sizes <- function(M, ask, names) {
  out <- lapply(names, function(name) {
    ask$mechanism <- name
    tryCatch({
      sized <- size_ask(M, ask)
      plan <- plan_one(M, ask_at_size(sized, ask$n), name)
      plan$sized <- sized
      plan$guarantee <- with_size(plan$guarantee, sized)
      plan$note <- size_note(sized$size)
      plan$auto <- name %in% SIZE_MECHANISMS
      plan
    }, riemdp_error = function(e) list(mechanism = name, why = conditionMessage(e)))
  })
  stats::setNames(out, names)
}

size_note <- function(s) {
  if (s$form == "none") {
    return(paste("needs no number of records and releases none, so the release can't tell its error, and its region is",
                 "the ball; \"auto\" never takes it"))
  }
  paste0(sprintf("%.3g %% of epsilon for the number of records (standard deviation of its noise %.3g); ", 100 * s$share,
                 geometric_sd(s$scale)), switch(s$form,
    stages = "each stage of so many points",
    sum = "the sum of logarithms over N, which one record moves by r/N",
    scaled = "a mean of N points or all records, stretched if they are more, which one record moves by about r/N",
    plain = "a mean of N points or all records, which one record moves by about 2r/N",
    tail = sprintf("a mean of N points, N larger by %.0f, which one record moves by about r/N", s$shift)
  ))
}

# as plan_size() chooses: on a lattice where there is one
best_size <- function(plans, ask) {
  able <- Filter(function(p) is.null(p$why) && p$auto, plans)
  exact <- if (ask$numerics == "auto") Filter(function(p) identical(p$numerics, "lattice"), able)
  if (length(exact)) able <- exact
  if (length(able)) plans <- able
  errors <- vapply(plans, function(p) if (is.null(p$why)) p$expected_error else NA_real_, 0)
  if (!all(is.na(errors))) plans[[which.min(errors)]]
}

# Mean error of the adaptive mechanism on simulated data: tangent normals around a point half-way to the edge of the
# public ball
adaptive_error <- function(M, ask, plan, spread, draws = 20) {
  d <- mf_facts(M)$dimension
  target <- public_point(M, mf_exp(M, ask$center, mf_from_coords(M, ask$center, c(ask$ball$radius / 2, rep(0, d - 1)))))
  with_simulation(1, mean(vapply(seq_len(draws), function(i) {
    x <- tangent_normals(M, target, ask$n, spread, 4 * ask$ball$radius)
    inside <- .Call(riemdp_to_ball, M, x, ask$center, ask$ball$radius)
    out <- if (is.null(plan$sized)) release_plan(M, x, plan, ask) else
      release_size(M, x, ask$n, plan$sized)
    mf_dist(M, out$value, frechet_mean(inside, M)$mean)
  }, numeric(1))))
}

#' Which mechanism serves which space
#'
#' The mechanisms of [dp_mean()] on one space of each kind, or on those that are given: what is proven of each, and how
#' its expected error compares with the smallest one there. From public numbers alone.
#'
#' @param spaces a list of manifolds; by default one of each kind, of dimension 1 to 8. Users' manifolds have no centre
#'   that stands for all and can't be among them.
#' @param n,epsilon,delta,radius,post public numbers of the plans, as in [dp_mean_plan()]: one number of records, budget
#'   and radius for all.
#' @return A data frame of class `riemdp_mechanism_table` with a row for each space and mechanism: `space`, `mechanism`,
#'   `label` (`"pure"`, `"approx"`, `"none"`; `NA` where it can't be served), `expected_error` (`NA` where it isn't
#'   known in advance), `over_best` (over the smallest of those that are labelled private and have the Frechet mean as
#'   their target) and `note` (why it can't be served, or what its target is). `print()` has a column for each
#'   mechanism: `over_best`, with `~` where `delta` is needed, a star where the target is another one, `none` for no
#'   guarantee, `?` where the error isn't known in advance and `-` where the mechanism isn't available.
#' @seealso [dp_mean_plan()] for one space
#' @examples
#' mechanism_table(list(sphere(2), stiefel(4, 2)), epsilon = 4)
#' @export
mechanism_table <- function(spaces = NULL, n = 1000, epsilon = 1, delta = 1e-6, radius = 0.1, post = TRUE) {
  if (is.null(spaces)) {
    spaces <- list(euclidean(2), sphere(2), hyperbolic(2), spd(2), hermitian_spd(2),
                   spd(2, "logeuclidean"), spd(2, "bures"), stiefel(4, 2), stiefel(4, 2, "canonical"), grassmann(4, 2),
                   kendall(5), rotations(3), simplex(3), correlation(3), product(sphere(2), euclidean(1)))
  }
  if (inherits(spaces, "riemdp_manifold")) spaces <- list(spaces)
  if (!is.list(spaces) || !length(spaces)) abort_riemdp("argument", "`spaces` must be a list of manifolds.")
  rows <- lapply(spaces, function(M) {
    check_manifold(M)
    if (of_user(M)) abort_no_default("center")
    plan <- as.data.frame(dp_mean_plan(M, n, epsilon, .Call(riemdp_origin, M), radius, delta = delta, post = post))
    plan <- plan[match(names(mean_mechanisms()), plan$mechanism), ]
    own <- is.na(plan$note) | !grepl("^target:", plan$note)
    best <- min(plan$expected_error[own & plan$label %in% c("pure", "approx")], na.rm = TRUE)
    data.frame(space = label_manifold(M), plan[c("mechanism", "label", "expected_error")],
               over_best = plan$expected_error / best, note = plan$note)
  })
  out <- do.call(rbind, rows)
  row.names(out) <- NULL
  structure(out, class = c("riemdp_mechanism_table", "data.frame"))
}

#' @export
print.riemdp_mechanism_table <- function(x, ...) {
  if (!all(c("space", "mechanism", "label", "over_best", "note") %in% names(x))) {
    print(plain_table(x))
    return(invisible(x))
  }
  cell <- ifelse(is.na(x$label), "-", ifelse(x$label == "none", "none", ifelse(is.na(x$over_best), "?", paste0(
    sprintf("%.2f", x$over_best), ifelse(x$label == "approx", "~", ""), ifelse(grepl("^target:", x$note), "*", "")
  ))))
  spaces <- unique(x$space)
  mechanisms <- unique(x$mechanism)
  wide <- matrix("", length(spaces), length(mechanisms), dimnames = list(spaces, mechanisms))
  wide[cbind(match(x$space, spaces), match(x$mechanism, mechanisms))] <- cell
  cat("Expected error over the best one's, space by space\n")
  print(wide, quote = FALSE, right = TRUE)
  cat(strwrap(paste("~ needs delta; * about another target than the Frechet mean; none: no guarantee; ? not known in",
                    "advance; - not available (the column `note` says why)"), exdent = 2), sep = "\n")
  invisible(x)
}

# ---- parts of plans, of whatever function ----------------------------------------------------------------------------

# what each kind of plan needs to be printed and drawn
PLAN_COLUMNS <- list(
  riemdp_mean_plan = c("mechanism", "label", "numerics", "scale", "expected_error", "relative_error", "acceptance",
                       "chosen", "note"),
  riemdp_regression_plan = c("n", "nominal_epsilon", "method", "expected_error", "constant"),
  riemdp_lm_plan = c("method", "expected_error", "high", "chosen")
)

whole_plan <- function(x) {
  kind <- intersect(class(x), names(PLAN_COLUMNS))
  is.list(x) && all(PLAN_COLUMNS[[kind]] %in% names(x)) && (kind == "riemdp_regression_plan" || is.list(attr(x, "ask")))
}

# rows of a plan are a plan; what lacks a column is a plain table
part_of_plan <- function(x, part) {
  if (!is.data.frame(part)) return(part)
  kept <- attributes(x)
  for (name in setdiff(names(kept), c("names", "row.names", "class"))) attr(part, name) <- kept[[name]]
  if (whole_plan(part)) part else plain_table(part)
}

plain_table <- function(x) {
  kept <- attributes(x)[c("names", "row.names")]
  x <- unclass(x)
  attributes(x) <- c(kept, class = "data.frame")
  x
}

check_plan <- function(x) {
  if (!whole_plan(x)) abort_riemdp("argument", "columns of the plan are missing: make it again from the same numbers.")
}

#' @export
`[.riemdp_mean_plan` <- function(x, ...) part_of_plan(x, NextMethod())

# mechanisms whose error is known without a guess of the records' spread
plan_drawn <- function(x) {
  drawn <- plan_curves(x)
  if (length(drawn) == 0) abort_riemdp("unsupported", "no mechanism of this plan has a known expected error.")
  drawn
}

plan_curves <- function(x) {
  check_plan(x)
  unique(x$mechanism[!is.na(x$expected_error) & x$mechanism != "adaptive"])
}

# rows without a curve, each with why: named below pictures
plan_undrawn <- function(x) {
  x <- x[!duplicated(x$mechanism) & !x$mechanism %in% plan_curves(x), , drop = FALSE]
  why <- ifelse(is.na(x$scale) & nzchar(x$note), x$note,
                ifelse(is.na(x$expected_error), vapply(x$mechanism, no_error_why, ""),
                       "simulated for the guess of the spread: drawn where the plan is"))
  sprintf("%s: %s", x$mechanism, why)
}

# their expected errors (rows) from a tenth to ten times the plan's n or epsilon (columns)
plan_errors <- function(x, what, points) {
  drawn <- plan_drawn(x)
  ask <- attr(x, "ask")
  grid <- (if (what == "n") ask$n else ask$total) * 10^seq(-1, 1, length.out = points)
  if (what == "n") grid <- unique(pmax(1, round(grid)))
  errors <- vapply(grid, function(value) {
    vapply(plans_of(attr(x, "manifold"), ask_at(ask, what, value), drawn),
           function(p) if (is.null(p$why)) p$expected_error else NA_real_, numeric(1))
  }, numeric(length(drawn)))
  list(grid = grid, errors = matrix(errors, length(drawn), dimnames = list(drawn, NULL)))
}
