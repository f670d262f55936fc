# Pictures of fits, plans, runs and guarantees: curves and intervals against what they depend on.

#' @rdname plot.riemdp_guarantee
#' @export
plot.riemdp_guarantee <- function(x, main = format(x, ascii = TRUE), ...) {
  plot(plot_data(x), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_guarantee <- function(x, ...) {
  check_dots_empty(...)
  alpha <- seq(0, 1, length.out = 401)
  beta <- if (x$label == "none") 0 * alpha else {
    pmax(0, 1 - x$delta - exp(x$epsilon) * alpha, exp(-x$epsilon) * (1 - x$delta - alpha))
  }
  errors_picture(alpha, beta, format(x))
}

# two kinds of error of whoever guesses from a release which of two neighbours it was
errors_picture <- function(alpha, beta, title) {
  promise <- "no guess errs less"
  chance <- "guessing without looking"
  new_picture(list(corners("path", chance, 0:1, 1:0), corners("path", promise, alpha, beta)),
              frame_of("type I error", "smallest type II error", equal = TRUE, xlim = 0:1, ylim = 0:1),
              rbind(look(promise, COLOURS[["release"]], width = 1), look(chance, "grey50", line = 3)), title)
}

#' @rdname dp_mean_plan
#' @param x a plan.
#' @param against `"n"`, `"epsilon"` or both.
#' @param points number of grid points from a tenth to ten times the plan's value.
#' @export
plot.riemdp_mean_plan <- function(x, ..., against = c("n", "epsilon"), points = 9) {
  plot(plot_data(x, against = against, points = points), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_mean_plan <- function(x, ..., against = c("n", "epsilon"), points = 9) {
  check_dots_empty(...)
  against <- match.arg(against, several.ok = TRUE)
  points <- check_count(points, "points", least = 2, most = 200)
  drawn <- plan_curves(x)
  if (!nrow(x)) plan_drawn(x) # which raises
  staged <- x[x$mechanism == "adaptive" & !is.na(x$expected_error), , drop = FALSE]
  each <- lapply(stats::setNames(nm = against), function(what) plan_against(x, what, points, drawn, staged))
  names(each) <- c(n = "number of records", epsilon = "epsilon")[against]
  out <- if (length(each) > 1) side_by_side(each, length(each)) else each[[1]]
  attr(out, "caption") <- plan_undrawn(x)
  out
}

plan_against <- function(x, what, points, drawn, staged) {
  ask <- attr(x, "ask")
  e <- if (length(drawn)) plan_errors(x, what, points)
  for_this <- if (what == "n") ask$n else ask$total
  looks <- do.call(rbind, Map(look, drawn, rep_len(riemdp_colours(7), length(drawn)),
                              rep_len(c(16, 17, 15, 3, 4, 8, 1, 2, 0, 5), length(drawn))))
  looks <- rbind(looks, if (nrow(staged)) look("adaptive", "black", 8, 2.4), look("public radius", "grey50", line = 3),
                 look("the plan", "grey70", line = 3))
  limits <- range(e$grid %||% (for_this * c(0.1, 10)), if (what == "n") staged$n else staged$nominal_epsilon)
  new_picture(c(
    list(corners("across", "public radius", NA, ask$ball$radius), corners("up", "the plan", for_this, NA)),
    lapply(seq_along(drawn), function(i) {
      keep <- is.finite(e$errors[i, ])
      rbind(corners("path", drawn[i], e$grid[keep], e$errors[i, keep], group = i),
            corners("point", drawn[i], e$grid[keep], e$errors[i, keep], group = i))
    }),
    if (nrow(staged)) {
      list(corners("point", "adaptive", if (what == "n") staged$n else staged$nominal_epsilon, staged$expected_error))
    }
  ), frame_of(if (what == "n") "number of records" else "epsilon", "expected error of the privacy noise", "xy",
              xlim = limits), looks)
}

#' @rdname dp_bounds_plan
#' @export
plot.riemdp_bounds_plan <- function(x, ...) {
  plot(plot_data(x), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_bounds_plan <- function(x, ...) {
  check_dots_empty(...)
  curve <- as.data.frame(x)
  here <- curve[curve$center == x$best & !is.na(curve$total), ]
  shown <- c(clipping = "clipping", noise = "privacy noise", total = "both")
  errors <- c(unlist(curve[names(shown)]), x$error)
  drawn <- errors[which(errors > 1e-3 * max(here$noise))]
  best <- sprintf("best radius, %.3g", x$radius)
  others <- setdiff(unique(curve$center), x$best)
  new_picture(c(
    lapply(others, function(k) {
      corners("path", "both, other centres", curve$radius[curve$center == k], curve$total[curve$center == k], group = k)
    }),
    lapply(names(shown), function(name) corners("path", shown[[name]], here$radius, pmax(here[[name]], 1e-300))),
    list(corners("up", best, x$radius, NA), corners("point", best, x$radius, x$error))
  ), frame_of("radius of the public ball", "error", "xy", xlim = range(curve$radius, x$radius), ylim = range(drawn)),
  rbind(look("clipping", riemdp_colours(3)[1]), look("privacy noise", riemdp_colours(3)[2]),
        look("both", riemdp_colours(3)[3], width = 1.5), look(best, COLOURS[["release"]], 19, 2.6, line = 3),
        if (length(others)) look("both, other centres", "grey75")), caption = x$source)
}

# ---- linear models ---------------------------------------------------------------------------------------------------

#' @rdname predict.riemdp_lm
#' @export
plot.riemdp_lm <- function(x, level = 0.95, ...) {
  plot(plot_data(x, level = level), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_lm <- function(x, level = 0.95, ...) {
  check_dots_empty(...)
  whole_release(x)
  level <- check_level(level)
  numeric <- length(x$bounds$x) == 1 && !is.null(x$bounds$x[[1]]$range)
  made_by_dp_lm(x, if (numeric) line_picture_of(x, level) else coefficient_picture(x, level))
}

coefficient_picture <- function(x, level) {
  table <- cbind(tidy(x), confint(x, level = level))
  at <- rev(seq_len(nrow(table)))
  bounded <- is.finite(table[[5]]) & is.finite(table[[6]])
  interval <- interval_name(level)
  new_picture(list(
    corners("up", "zero", 0, NA),
    if (any(bounded)) {
      corners("segment", interval, table[[5]][bounded], at[bounded], xend = table[[6]][bounded], yend = at[bounded])
    },
    corners("point", "released", table$estimate, at)
  ), frame_of("coefficient", ylim = c(0.5, nrow(table) + 0.5), ymarks = list(at = at, labels = rownames(table))),
  rbind(look("released", COLOURS[["release"]], 19, 2.4), look(interval, COLOURS[["release"]], width = 1),
        look("zero", "grey60", line = 3, legend = FALSE)), paste(deparse(x$formula, 500L), collapse = " "),
  format(x$guarantee))
}

interval_name <- function(level) sprintf("what noise may have added, level %g", level)

# over the public range; a variable that is a call is drawn on its own scale; a panel for each response
line_picture_of <- function(x, level) {
  u <- seq(x$bounds$x[[1]]$range[1], x$bounds$x[[1]]$range[2], length.out = 101)
  design <- cbind(1, column_values(x$columns, x$bounds, list(u)))
  value <- as_matrix_value(x)
  width <- vapply(noise_covariance(x), function(c) {
    stats::qnorm((1 + level) / 2) * sqrt(rowSums((design %*% c) * design))
  }, numeric(101))
  fit <- design %*% value
  inverse <- if (inherits(x, "riemdp_glm")) glm_families()[[x$family]]$inverse else identity
  name <- (x$spec$ranged %||% names(x$spec$predictors))[1]
  line <- if (inherits(x, "riemdp_glm")) "released curve" else "released line"
  looks <- rbind(look(interval_name(level), COLOURS[["release"]]), look(line, COLOURS[["release"]], width = 1))
  each <- lapply(seq_len(ncol(value)), function(j) {
    low <- inverse(fit[, j] - width[, j])
    high <- inverse(fit[, j] + width[, j])
    new_picture(list(
      if (all(is.finite(width[, j]))) corners("area", rownames(looks)[1], c(u, rev(u)), c(low, rev(high))),
      corners("path", line, u, inverse(fit[, j]))
    ), frame_of(name, colnames(value)[j]), looks, format(x$guarantee))
  })
  if (length(each) == 1) return(each[[1]])
  side_by_side(stats::setNames(each, colnames(value)))
}

#' @rdname dp_lm_plan
#' @export
plot.riemdp_lm_plan <- function(x, ...) {
  plot(plot_data(x), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_lm_plan <- function(x, ...) {
  check_dots_empty(...)
  check_plan(x)
  show <- x[!is.na(x$expected_error), , drop = FALSE]
  at <- rev(seq_len(nrow(show)))
  here <- function(role, values, which = TRUE) {
    ok <- which & is.finite(values) & values > 0
    if (any(ok)) corners("point", role, values[ok], at[ok])
  }
  roles <- c(chosen = "chosen, at the guess of R-squared", other = "at the guess of R-squared",
             high = "at R-squared .95")
  new_picture(list(
    corners("up", "constant fit", attr(x, "signal"), NA), here(roles[["high"]], show$high),
    here(roles[["other"]], show$expected_error, !show$chosen), here(roles[["chosen"]], show$expected_error, show$chosen)
  ), frame_of("expected excess of the mean squared error", log = "x", ylim = c(0.5, nrow(show) + 0.5),
              ymarks = list(at = at, labels = show$method)),
  rbind(look(roles[["chosen"]], COLOURS[["release"]], 19, 2.4), look(roles[["other"]], COLOURS[["release"]], 1, 2.4),
        look(roles[["high"]], COLOURS[["mean"]], 4, 2.4), look("constant fit", "grey50", line = 3)),
  "Private linear regression")
}

# ---- runs and plans of curves ----------------------------------------------------------------------------------------

#' Trace of a private run
#'
#' Draws the length of the noisy gradient against the step, noisy quantities only, and as a dotted line the length that
#' noise alone would have.
#'
#' @param x a release of [dp_optimize()].
#' @param main title.
#' @param ... further arguments of [graphics::plot.default()].
#' @return The release, invisibly.
#' @examples
#' plot(dp_optimize(problem_huber(spd(2), 1), wishart_spd, epsilon = 1, delta = 1e-6, start = diag(2)))
#' @export
plot.riemdp_optimize <- function(x, main = "length of the noisy gradient", ...) {
  plot(plot_data(x), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_optimize <- function(x, ...) {
  check_dots_empty(...)
  noise <- x$sd * sqrt(mf_facts(x$manifold)$dimension)
  new_picture(list(corners("path", "noisy gradient", x$trace$step, x$trace$gradient_norm),
                   corners("across", "noise alone", NA, noise)),
              frame_of("step", "length", ylim = range(0, noise, x$trace$gradient_norm)),
              rbind(look("noisy gradient", riemdp_colours(1), width = 1),
                    look("noise alone", "grey40", width = 1, line = 3)),
              "length of the noisy gradient")
}

#' @rdname dp_regression_plan
#' @param x a plan.
#' @param ... further arguments of [graphics::plot.default()].
#' @export
plot.riemdp_regression_plan <- function(x, ...) {
  check_plan(x)
  if (nrow(x)) plot(plot_data(x), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_regression_plan <- function(x, ...) {
  check_dots_empty(...)
  check_plan(x)
  ways <- unique(x[c("method", "nominal_epsilon")])
  if (length(unique(x$n)) == 1) return(regression_plan_rows(x))
  many <- length(unique(ways$nominal_epsilon)) > 1
  name <- function(row) paste0(row$method, if (many) sprintf(", epsilon %s", format(row$nominal_epsilon)))
  methods <- unique(x$method)
  looks <- do.call(rbind, lapply(seq_len(nrow(ways)), function(i) {
    look(name(ways[i, ]), riemdp_colours(7)[(match(ways$method[i], methods) - 1) %% 7 + 1], 19, 2,
         line = match(ways$nominal_epsilon[i], unique(ways$nominal_epsilon)))
  }))
  new_picture(c(
    list(corners("across", "constant curve", NA, x$constant[1])),
    lapply(seq_len(nrow(ways)), function(i) {
      part <- x[x$method == ways$method[i] & x$nominal_epsilon == ways$nominal_epsilon[i], ]
      part <- part[order(part$n), ]
      rbind(if (nrow(part) > 1) corners("path", name(ways[i, ]), part$n, part$expected_error),
            corners("point", name(ways[i, ]), part$n, part$expected_error))
    })
  ), frame_of(if (is.null(attr(x, "unit"))) "records" else "units", "expected distance to the non-private curve", "xy"),
  rbind(looks, look("constant curve", "grey50", line = 3)))
}

# with one number of records: a row for each method and epsilon
regression_plan_rows <- function(x) {
  many <- length(unique(x$nominal_epsilon)) > 1
  at <- rev(seq_len(nrow(x)))
  names <- paste0(x$method, if (many) sprintf(", epsilon %s", format(x$nominal_epsilon)))
  new_picture(list(corners("up", "constant curve", x$constant[1], NA),
                   corners("point", "expected", x$expected_error, at)),
              frame_of("expected distance to the non-private curve", log = "x", ylim = c(0.5, nrow(x) + 0.5),
                       ymarks = list(at = at, labels = names)),
              rbind(look("expected", COLOURS[["release"]], 19, 2.4, legend = FALSE),
                    look("constant curve", "grey50", line = 3)),
              caption = sprintf("%s %s", format(x$n[1]), if (is.null(attr(x, "unit"))) "records" else "units"))
}

#' @rdname confint.riemdp_regression
#' @export
plot.riemdp_band <- function(x, main = sprintf("band of level %g", x$level), ...) {
  plot(plot_data(x), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_band <- function(x, ...) {
  check_dots_empty(...)
  as_made({
    if (ncol(x$x) != 1) abort_riemdp("argument", "only bands along one predictor can be drawn.")
    at <- order(x$x[, 1])
    kinds <- c(total = "total", privacy = "noise of privacy", sampling = "sampling")
    if (is.null(x$std.error)) kinds <- kinds[0]
    looks <- rbind(look("radius", "black", width = 1),
                   do.call(rbind, Map(look, unname(kinds), "grey40", line = seq_along(kinds))))
    new_picture(c(
      list(corners("path", "radius", x$x[at, 1], x$radius[at])),
      lapply(names(kinds), function(kind) corners("path", kinds[[kind]], x$x[at, 1], x$std.error[at, kind]))
    ), frame_of("predictor, from the middle of its range", "distance from the curve", ylim = c(0, max(x$radius))),
    looks, sprintf("band of level %g", x$level))
  })
}

# ---- groups ----------------------------------------------------------------------------------------------------------

#' @rdname riemdp_groups
#' @export
plot.riemdp_groups <- function(x, ...) {
  plot(plot_data(x), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_groups <- function(x, ...) {
  check_dots_empty(...)
  if (!length(x$groups)) abort_riemdp("unsupported", "no group is shown.")
  out <- side_by_side(lapply(x$groups, plot_data))
  # the first line of each names its error, the others are alike for all or say whose they are
  lines <- lapply(x$groups, mean_caption)
  errors <- vapply(x$groups, function(g) as.double(g$expected_error), 0)
  first <- sprintf("expected error of the %s alone: %s", COVERS,
                   paste(sprintf("%s %.3g", names(lines), errors), collapse = ", "))
  rest <- vapply(lines, function(line) paste(line[-1], collapse = "; "), "")
  attr(out, "caption") <- c(first, if (length(unique(rest)) == 1) rest[[1]] else paste0(names(rest), ": ", rest))
  out
}
