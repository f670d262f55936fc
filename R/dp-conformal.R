# Private conformal prediction: a ball around a public prediction that a new record lies in, with a probability that
# holds at any number of records and for any law of theirs. Proofs: inst/proofs/conformal.md.

#' Private prediction ball for a new record
#'
#' Releases a radius so that a new record lies within it of a prediction, with probability `level` or more, at any
#' number of records and for any law of theirs. The prediction is a public point, a released one, or a curve that
#' [dp_regression()] has released. This is split conformal prediction (Vovk, Gammerman and Shafer 2005) with a private
#' quantile, as Angelopoulos, Bates, Zrnic and Jordan (2022) have it.
#'
#' A record's score is its distance from its prediction. From a public grid of radii one is drawn by the exponential
#' mechanism: its weight is \eqn{\exp(-\epsilon u/2)}, where u says by how many records it misses the smallest radius
#' that holds `rank` of them. Replacing a record changes each u by 1 at most, whatever it holds. The draw is exact, by
#' integer arithmetic: the guarantee is about what the machine does. The last of the choices is the whole space, `Inf`.
#'
#' The rank is higher than without privacy, so that the level holds although the draw may be too small: with J radii and
#' \eqn{V=\frac2\epsilon(\log(J/y)-1-y)}, y a public number just below 1 (`margin`, 7.4/epsilon records for the grid of
#' 240 radii; less where epsilon is above 9), it is the smallest whole number from
#' \eqn{(n+1)\cdot}`level`\eqn{{}+V} on. **Where that is more than n no finite radius holds the level.** Then the
#' release is the whole space, follows from public numbers alone, and costs nothing; `print()` says from which n, and
#' which epsilon, there is more to say. At a level of .95 that is n = 167 for epsilon = 1, and 32 for epsilon = 10.
#' Proof: the file `proofs/conformal.md` of the installed package.
#'
#' @section A private number of records:
#' With `neighbours = "add_remove"` what is protected is whether a record (a unit) is there at all. A noisy number of
#' records is released first, with a fifth of `epsilon`, and the rank is that of this number. The level still holds,
#' whatever the number is and over its noise as well: the margin grows to 9.2/epsilon and 2.5/epsilon more. Where
#' the released number is too small for a radius the whole space is the answer, and what was paid is not given back.
#' Records must be in memory.
#'
#' @section What the level means:
#' If the n records and a new one are exchangeable (n + 1 independent draws of one law, say), and the prediction was
#' made without them, the new record lies in its ball with probability `level` at least: over records, noise and the new
#' record together. It says nothing of single records, nor of where on a curve; the ball is as wide everywhere. Nothing
#' is said of a record that is drawn otherwise.
#'
#' **The prediction must not be made from these records**, not even privately: split them by public row numbers (not by
#' what they hold), release a mean or curve of one part, and calibrate with the other; the parts' prices don't add up
#' (`part` in [dp_ledger()]). This can't be checked here.
#'
#' A record that is no point, or that has no distance, counts as lying at its prediction (`invalid = "at"`), in this
#' call and in [region_contains()] alike, so the level holds with such records as well. For a curve predictors are moved
#' into their public ranges, and missing ones to the middle; in `predict()` too.
#'
#' @inheritParams dp_median
#' @param x records (the responses, for a curve), as in [dp_mean()]. Chunks too, around one point and without `unit`.
#' @param epsilon privacy budget, positive.
#' @param at where predictions are: a public point or a release of one ([dp_mean()], [dp_median()], [dp_ball()]); a
#'   release of [dp_regression()], with `data`; or a point for each record, made from that record by a public or
#'   released rule (any model that was fitted elsewhere). One point has the shape of a single one, as with [mf_dist()]:
#'   what has a row or a slice for each record is one for each, also where there is one record. No default.
#' @param bound a public distance, positive: the largest radius of the grid. What lies farther away counts as outside of
#'   each; choose it large, as the grid has a fixed ratio. No default.
#' @param level the probability with which a new record is to lie in its ball, between 0 and 1.
#' @param data with a released curve: a data frame of predictors, a row for each record.
#' @param radii the grid: 1 to 1,000 positive numbers of at most `bound`, public; by default 240 from `bound` down by
#'   factors of \eqn{2^{1/24}} (3 %), to a thousandth of it. Fewer of them cost fewer records: the margin is 4.7/epsilon
#'   for 50, 2.4/epsilon for 10.
#' @param invalid what happens to a record that is no point: `"error"` (the curator's check before anything is spent, no
#'   part of the release), or `"at"`, see above.
#' @param unit as in [dp_mean()]: a unit's score is the largest of its rows', and the ball holds **all rows of a new
#'   unit** with probability `level`. One without rows has the score 0.
#' @return An object of class `riemdp_conformal` and [riemdp_release]: `value` (the radius, `Inf` for the whole space),
#'   `manifold`, `mechanism`, `n` (`NA` where it is private, `size` then has the released `count`, its `epsilon` and its
#'   noise's `scale`), `level`, `coverage` (what is proven for these public numbers, at least `level`),
#'   `rank`, `margin`, `least` (which `n` and which `epsilon`, the other one kept, a finite radius needs at least;
#'   `epsilon` is `Inf` where none will do), `at` (the point, or the release of the curve; `NULL` where each record has
#'   its own), `around` (`"point"`, `"curve"` or `"each"`), `bound`, `radii`, `sensitivity`, `unit`, `source`,
#'   `guarantee`, `budget`, `draws`. `predict()`: a list of class `riemdp_prediction` with `center` (the point; for a
#'   curve a point for each row of `newdata`), `radius`, `level` and `manifold`. Errors: `riemdp_error_unsupported` for
#'   users' manifolds, records at sites, chunks with `unit`, of a private number or around more than one point;
#'   `riemdp_error_argument` and `riemdp_error_shape` as for [dp_mean()].
#' @references
#' Angelopoulos, A. N., Bates, S., Zrnic, T. and Jordan, M. I. (2022). Private prediction sets. *Harvard Data Science
#' Review* 4(2). \doi{10.1162/99608f92.16c71dad}
#'
#' Vovk, V., Gammerman, A. and Shafer, G. (2005). *Algorithmic Learning in a Random World*. Springer.
#' \doi{10.1007/b106715}
#'
#' McSherry, F. and Talwar, K. (2007). Mechanism design via differential privacy. *Foundations of Computer Science*,
#' 94-103. \doi{10.1109/FOCS.2007.66}
#' @seealso [region_contains()], [dp_mean()], [dp_regression()]
#' @examples
#' # a mean of the first half, and a ball around it that a new matrix lies in
#' first <- 1:400
#' m <- dp_mean(wishart_spd[, , first], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' r <- dp_conformal(wishart_spd[, , 401:800], spd(2), epsilon = 1, at = m, bound = 10)
#' r
#' region_contains(r, wishart_spd[, , 801:805])
#' # few records: only the whole space holds the level, and nothing is spent
#' dp_conformal(wishart_spd[, , 1:50], spd(2), epsilon = 1, at = diag(2), bound = 10)
#' @export
dp_conformal <- function(x, M = manifold_of(x), epsilon, at, bound, ..., level = 0.95, data = NULL, radii = NULL,
                         invalid = c("error", "at"), unit = NULL, neighbours = c("replace", "add_remove"),
                         source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_dots_empty(...)
  check_call(M, ledger, c(epsilon = missing(epsilon), at = missing(at), bound = missing(bound)))
  invalid <- check_choice(invalid, "invalid", c("error", "at"))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  if (!replace && is_chunks(x)) {
    abort_riemdp("unsupported", paste("neighbours = \"add_remove\": records must be in memory: the sizes of chunks are",
                                      "public."))
  }
  records <- records_or_units(M, x, unit, replace)
  rows <- records$units$of %||% seq_len(if (is_chunks(records$x)) 0 else records$n)
  ask <- conformal_ask(M, if (replace) records$n else NA_real_, epsilon, bound, level, radii)
  counted <- replace && is.null(records$units)
  ask <- c(ask, conformal_around(M, at, data, length(rows), is_chunks(records$x), counted))
  if (is_chunks(records$x)) conformal_chunks(records)
  ask$source <- stated_source(source, list(at = at, bound = bound))
  ask$invalid <- invalid
  ask$unit <- unit_name(records$units)
  ask$assumptions <- if (is_chunks(records$x)) chunk_assumptions(records$x)
  if (isTRUE(ask$rank > ask$n)) return(whole_conformal(ask))
  records$data <- data
  records$at <- if (ask$around == "each") plain_numbers(at)
  uncounted(release_private(conformal_estimator, ask, records, ledger, data_set, part))
}

# ---- public numbers --------------------------------------------------------------------------------------------------

conformal_ask <- function(M, n, epsilon, bound, level, radii) {
  if (of_user(M)) abort_riemdp("unsupported", "dp_conformal() isn't offered on a user's manifold.")
  ask <- list(manifold = M, n = as.double(n), epsilon = check_number(epsilon, "epsilon", positive = TRUE),
              level = check_level(level),
              bound = check_number(public_value(bound, "bound"), "bound", positive = TRUE, most = 1e150))
  if (!(ask$epsilon >= 2^-30)) {
    abort_riemdp("argument", "an `epsilon` below 2^-30 is too small for what doubles weigh.")
  }
  if (ask$bound < 1e-150) abort_riemdp("argument", "`bound` must be from 1e-150 to 1e150.")
  ask$radii <- if (is.null(radii)) ask$bound * 2^(-(239:0) / 24) else
    check_radii(radii, ask$bound, ", none above `bound`")
  c(ask, conformal_prices(ask, ask$epsilon))
}

# What the draws have of epsilon, and so the rank: list(ratio, what one record less weighs twice; margin, rank; where n
# is private also size, its noise's)
conformal_prices <- function(ask, epsilon) {
  private <- is.na(ask$n)
  own <- SIZE_SHARE * epsilon
  ratio <- as_ratio(min(if (private) outwards_down(epsilon - own) else epsilon, 1e6), floor)
  margin <- conformal_margin(length(ask$radii), ratio[1] / ratio[2] / 2)
  if (!private) return(list(ratio = ratio, margin = margin, rank = conformal_rank(ask$n, ask$level, margin)))
  noise <- geometric_ratio(own)
  size <- list(epsilon = own, ratio = noise, scale = noise[1] / noise[2])
  # a number that is too large by chance asks for more than there are (proofs/conformal.md, section 4)
  list(ratio = ratio, margin = outwards(margin + 1 / expm1(2 / size$scale)), rank = NA_real_, size = size)
}

# By how many records the rank is raised, for the draws that are too small (proofs/conformal.md, section 2); rate: what
# one record less weighs
conformal_margin <- function(count, rate) {
  few <- exp(1) / count
  y <- 1 + few / 2 - sqrt(few + few^2 / 4)
  close <- (log(count / y) - 1 - y) / rate
  if (rate < 1) return(outwards(close))
  s <- seq_len(ceiling((log(count) + 40) / rate))
  # what is left of the sum is less than its last term, over 1 - exp(-1)
  far <- sum(1 / (1 + exp(rate * s - log(count)))) + 2 * count * exp(-rate * (length(s) + 1))
  outwards(min(close, far))
}

# the smallest rank with which the level holds, above n where none does
conformal_rank <- function(n, level, margin) ceiling(outwards((n + 1) * level + margin))

# what is proven of a rank
conformal_coverage <- function(n, rank, margin) (rank - margin) / (n + 1)

# which n at this epsilon, and which epsilon at this n (`told` where it is private), give a finite radius at least
conformal_least <- function(ask, told = ask$n) {
  n <- max(1, floor((1 + ask$margin) / (1 - ask$level)) - 2)
  while (conformal_rank(n, ask$level, ask$margin) > n) n <- n + 1
  served <- function(epsilon) conformal_rank(told, ask$level, conformal_prices(ask, epsilon)$margin) <= told
  if (!served(1e6)) return(list(n = n, epsilon = Inf))
  ends <- c(-30, log2(1e6))
  for (i in 1:60) {
    middle <- mean(ends)
    ends[1 + served(2^middle)] <- middle
  }
  list(n = n, epsilon = 2^ends[2])
}

# What scores are distances from. The form of `at` decides, never how many there are of a private number of rows;
# `counted`: the number of rows is public. list(around, at)
conformal_around <- function(M, at, data, rows, chunked, counted) {
  if (inherits(at, "riemdp_regression")) {
    public_value(at, "at")
    if (!identical(label_manifold(at$manifold), label_manifold(M))) {
      abort_riemdp("argument", "the curve `at` must lie on the manifold `M`.")
    }
    if (chunked) abort_riemdp("unsupported", "around a curve the records must be in memory.")
    if (!is.data.frame(data)) abort_riemdp("argument", "with a curve `data` must be a data frame of its predictors.")
    if (.row_names_info(data, 2L) != rows) abort_riemdp("shape", "`data` must have a row for each record.")
    return(list(around = "curve", at = at))
  }
  if (!is.null(data)) abort_riemdp("argument", "`data` goes with a curve: give a release of dp_regression() as `at`.")
  value <- public_value(at, "at")
  count <- tryCatch(.Call(riemdp_count, M, plain_numbers(value)), riemdp_error = function(e) NA)
  if (is.na(count) || inherits(at, "riemdp_release") || is_single_point(value, M) ||
      (counted && count == 1 && rows != 1)) {
    return(list(around = "point", at = one_point(M, value, "at")))
  }
  if (chunked) abort_riemdp("unsupported", "around more than one point the records must be in memory.")
  if (count != rows) abort_riemdp("shape", "`at` must be one point, or one for each record.")
  list(around = "each")
}

conformal_chunks <- function(records) {
  if (at_sites(records$x)) {
    abort_riemdp("unsupported", "a quantile needs counts of records: sites answer with sums, and with no counts.")
  }
  if (!is.null(records$units)) abort_riemdp("unsupported", "with `unit` the records must be in memory.")
}

# ---- the release -----------------------------------------------------------------------------------------------------

conformal_guarantee <- function(ask, epsilon) {
  g <- promise_of(list(epsilon = epsilon, delta = 0, reasons = NULL, sampler = "exact"),
                  c(sprintf("at, bound and radii are public; the number of records is %s",
                            if (is.na(ask$n)) "private" else "public"),
                    if (ask$around == "each") {
                      "each record's prediction depends on that record alone and on a public rule"
                    },
                    ask$assumptions), trusted = ask$manifold,
                  adjacency = if (is.na(ask$n)) "add-remove" else "replace-one", numerics = "lattice")
  of_units(g, ask$unit)
}

# how many scores lie within each of the radii
conformal_counts <- function(M, records, ask) {
  x <- records$x
  if (is_chunks(x)) {
    request <- list(kernel = "counts", M = M, center = .Call(riemdp_stored, M, ask$at), radii = ask$radii)
    return(Reduce(`+`, chunk_ask(x, request, private = TRUE)))
  }
  at <- switch(ask$around, point = ask$at, curve = conformal_curve(ask$at, records$data), each = records$at)
  scores <- conformal_scores(M, x, at, records$units)
  cells <- findInterval(scores, ask$radii, left.open = TRUE) + 1
  cumsum(tabulate(cells, length(ask$radii) + 1))[seq_along(ask$radii)]
}

# Distances from the predictions, each by its own row; of units the largest, 0 where there is none
conformal_scores <- function(M, x, at, units = NULL) {
  far <- .Call(riemdp_scores_nonprivate, M, x, at)
  if (is.null(units)) return(far)
  score <- numeric(units$count)
  rows <- order(far)
  rows <- rows[!is.na(units$of[rows])]
  score[units$of[rows]] <- far[rows] # a later one is larger
  score
}

# Points of a released curve at a table's rows, each by its own row: predictors moved into their ranges, missing ones to
# the middle; the foot where there is no point
conformal_curve <- function(fit, data) curve_anyway(fit, regression_predictors(fit, data, clip = TRUE))

curve_anyway <- function(fit, x) {
  M <- fit$manifold
  points <- function(x) mf_points(curve_of_state(M, fit$value, x), M)
  tryCatch(points(x), riemdp_error = function(e) {
    one <- function(i) tryCatch(points(x[, i, drop = FALSE]), riemdp_error = function(e) mf_points(fit$value$p, M))
    new_points(do.call(rbind, lapply(seq_len(ncol(x)), function(i) as.matrix(one(i)))), M)
  })
}

# By how many records each radius, and the whole space after them, misses the smallest one that holds `rank` of n; n is
# infinite where it is private: the whole space holds all there are
conformal_misses <- function(inside, n, rank) {
  pmax(rank - c(inside, n), c(0, inside) + 1 - rank, 0)
}

conformal_estimator <- list(
  entry = function(plan, ask) entry_words("dp_conformal", "exponential", ask$unit),
  plan = function(ask) list(guarantee = conformal_guarantee(ask, ask$epsilon)),
  ready = function(records, plan, ask) {
    if (ask$invalid != "error") return(records)
    check_records(ask$manifold, records$x)
    if (!is.null(records$units)) {
      check_units(records$units, paste("With invalid = \"at\"", c("they count nothing.", "each has the score 0.")))
    }
    records
  },
  draw = function(records, plan, ask, budget) {
    size <- NULL
    if (is.na(ask$n)) { # what is told of it decides the rank, and whether there is a radius at all
      size <- list(count = noisy_count(records$n, ask$size$ratio, "mean-sensitivity.md, 14"),
                   epsilon = ask$size$epsilon, scale = ask$size$scale, form = "counted")
      told <- max(0, size$count)
      ask$rank <- conformal_rank(told, ask$level, ask$margin)
      if (ask$rank > told) return(list(radius = Inf, rank = ask$rank, size = size))
    }
    inside <- if (records$n == 0) 0 * ask$radii else conformal_counts(ask$manifold, records, ask)
    misses <- conformal_misses(inside, if (is.null(size)) ask$n else Inf, ask$rank)
    price <- price_choice(if (is.null(size)) ask$epsilon else outwards_down(ask$epsilon - size$epsilon),
                          "conformal.md, 1")
    list(radius = c(ask$radii, Inf)[.Call(riemdp_release_choice, as.double(misses), ask$ratio, pay(price))],
         rank = ask$rank, size = size)
  },
  answer = function(out, plan, ask, budget) {
    ask$rank <- out$rank
    conformal_release(out$radius, ask, budget, plan$guarantee, out$size)
  }
)

conformal_release <- function(radius, ask, budget, guarantee, size = NULL) {
  told <- if (is.null(size)) ask$n else max(0, size$count)
  whole <- ask$rank > told
  new_release(
    radius, "riemdp_conformal", manifold = ask$manifold, mechanism = "exponential", n = as.integer(ask$n),
    size = size, level = ask$level,
    coverage = if (!is.null(size)) ask$level else if (whole) 1 else
      conformal_coverage(ask$n, ask$rank, ask$margin),
    rank = ask$rank, margin = ask$margin, least = conformal_least(ask, told), at = ask$at, around = ask$around,
    bound = ask$bound, radii = ask$radii, sensitivity = 1, unit = ask$unit, budget = budget, guarantee = guarantee
  )
}

# nothing is drawn, and nothing spent: the answer follows from public numbers
whole_conformal <- function(ask) {
  release <- conformal_release(Inf, ask, NULL, conformal_guarantee(ask, 0))
  release$source <- ask$source
  release
}
