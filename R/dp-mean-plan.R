#' What a private mean would cost, before any data are touched
#'
#' Puts every mechanism of [dp_mean()] beside each other, from public quantities only: the scale of its noise, the
#' expected error, the sampler's acceptance, the label that a release would carry. `plot()` draws the expected error
#' against the number of records and against epsilon.
#'
#' @param M a manifold.
#' @param n number of records.
#' @param epsilon,center,radius,delta,calibration,timing,numerics,max_trials,clipped as in [dp_mean()]. With `clipped`
#'   scales and errors are those of a mean that has what is left of `epsilon`.
#' @param ... nothing; later arguments must be named.
#' @param mechanism `"auto"` for all of them, or the names of some.
#' @param spread a public guess of the records' standard deviation in one tangent coordinate around their mean. Only the
#'   error of `"adaptive"` depends on it: it is then simulated (20 data sets with a fixed seed, their mean half-way from
#'   the centre to the edge); without a guess that error is `NA`.
#' @return A data frame of class `riemdp_mean_plan` with one row for each mechanism, best first: `mechanism`, `label`,
#'   `epsilon` and `delta` (`Inf` and 1 for the label `none`, as in [guarantee()]), `nominal_epsilon`, `scale`,
#'   `sensitivity`, `expected_error` (of the privacy noise alone, about the mean of records moved to the ball),
#'   `relative_error` (of the public radius), `acceptance`, `chosen` (what `mechanism = "auto"` would take) and `note`
#'   (why one can't be served, or what its target is).
#' @seealso [dp_mean()], [expected_error()]
#' @examples
#' plan <- dp_mean_plan(sphere(2), n = 500, epsilon = 1, center = c(0, 0, 1), radius = 0.4)
#' plan
#' \donttest{plot(plan)}
#' @export
dp_mean_plan <- function(M, n, epsilon, center, radius, ..., delta = 0, mechanism = "auto", spread = NULL,
                         calibration = c("proven", "paper"), timing = c("ordinary", "constant"),
                         numerics = c("real", "lattice"), max_trials = 1e6, clipped = NULL) {
  check_dots_empty(...)
  check_manifold(M)
  check_given(c(epsilon = missing(epsilon), center = missing(center), radius = missing(radius)))
  n <- check_count(n, "n", most = .Machine$integer.max)
  known <- names(mean_mechanisms())
  wanted <- if (identical(mechanism, "auto")) {
    known
  } else {
    unique(vapply(as.list(mechanism), check_choice, "", name = "mechanism", choices = known))
  }
  if (!is.null(spread)) spread <- check_number(spread, "spread", positive = TRUE)
  ask <- mean_ask(M, n, epsilon, center, radius, delta, "auto", NULL, calibration, timing, numerics, max_trials, list(),
                  clipped)
  plans <- plan_all(M, ask, wanted)
  rows <- lapply(plans, plan_row, M = M, ask = ask, spread = spread)
  table <- do.call(rbind, rows)
  best <- tryCatch(plan_mean(M, ask, plans)$mechanism, riemdp_error = function(e) NA_character_)
  table$chosen <- !is.na(best) & table$mechanism == best
  table <- table[order(!is.na(table$expected_error), -table$expected_error, decreasing = TRUE), ]
  row.names(table) <- NULL
  structure(table, class = c("riemdp_mean_plan", "data.frame"), ask = ask, manifold = M, wanted = wanted,
            spread = spread)
}

plan_row <- function(plan, M, ask, spread) {
  if (!is.null(plan$why)) {
    return(data.frame(mechanism = plan$mechanism, label = NA_character_, epsilon = NA_real_, delta = NA_real_,
                      nominal_epsilon = NA_real_, scale = NA_real_, sensitivity = NA_real_, expected_error = NA_real_,
                      relative_error = NA_real_, acceptance = NA_real_, chosen = FALSE, note = plan$why))
  }
  g <- with_clipped(plan$guarantee, ask)
  error <- plan$expected_error
  if (plan$mechanism == "adaptive" && !is.null(spread)) error <- adaptive_error(M, ask, plan, spread)
  data.frame(
    mechanism = plan$mechanism, label = g$label, epsilon = g$epsilon, delta = g$delta,
    nominal_epsilon = g$nominal_epsilon, scale = plan$scale, sensitivity = plan$sensitivity, expected_error = error,
    relative_error = error / ask$ball$radius, acceptance = plan$acceptance, chosen = FALSE,
    note = if (is.null(plan$target)) "" else paste("target:", plan$target)
  )
}

# Mean error of the adaptive mechanism on simulated data: tangent normals around a point half-way to the edge of the
# public ball
adaptive_error <- function(M, ask, plan, spread, draws = 20) {
  d <- mf_facts(M)$dimension
  target <- public_point(M, mf_exp(M, ask$center, mf_from_coords(M, ask$center, c(ask$ball$radius / 2, rep(0, d - 1)))))
  with_simulation(1, mean(vapply(seq_len(draws), function(i) {
    a <- matrix(stats::rnorm(ask$n * d, sd = spread), ask$n)
    long <- sqrt(rowSums(a^2))
    limit <- min(mf_facts(M)$injectivity_radius, 4 * ask$ball$radius) * 0.99
    a <- a * pmin(1, limit / long)
    x <- mf_exp(M, target, mf_from_coords(M, target, a))
    inside <- .Call(riemdp_to_ball, M, x, ask$center, ask$ball$radius)
    mf_dist(M, mean_mechanisms()$adaptive$release(M, x, plan, ask)$value, frechet_mean(inside, M)$mean)
  }, numeric(1))))
}

# ---- parts of plans, of whatever function ----------------------------------------------------------------------------

# what each kind of plan needs to be printed and drawn
PLAN_COLUMNS <- list(
  riemdp_mean_plan = c("mechanism", "label", "scale", "expected_error", "relative_error", "acceptance", "chosen",
                       "note"),
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
  check_plan(x)
  drawn <- x$mechanism[!is.na(x$expected_error) & x$mechanism != "adaptive"]
  if (length(drawn) == 0) abort_riemdp("unsupported", "no mechanism of this plan has a known expected error.")
  drawn
}

# their expected errors (rows) from a tenth to ten times the plan's n or epsilon (columns)
plan_errors <- function(x, what, points) {
  drawn <- plan_drawn(x)
  ask <- attr(x, "ask")
  grid <- (if (what == "n") ask$n else ask$total) * 10^seq(-1, 1, length.out = points)
  if (what == "n") grid <- unique(pmax(1, round(grid)))
  errors <- vapply(grid, function(value) {
    here <- ask
    if (what == "n") here$n <- value else {
      here$epsilon <- value
      here <- share_epsilon(here, value, ask$clipped$share)
    }
    vapply(plan_all(attr(x, "manifold"), here, drawn), function(p) if (is.null(p$why)) p$expected_error else NA_real_,
           numeric(1))
  }, numeric(length(drawn)))
  list(grid = grid, errors = matrix(errors, length(drawn), dimnames = list(drawn, NULL)))
}
