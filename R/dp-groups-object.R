# What private means of groups say of themselves, and how far two released means are apart.

#' Private means of groups
#'
#' What [dp_mean()] returns with `by`: the released means of groups whose members and sizes are private. `x[[name]]` is
#' the release of one group, of class `riemdp_mean`. Everything here is computed from what was released.
#'
#' @param x,object private means of groups.
#' @param level coverage of intervals and regions, between 0 and 1; of each by itself.
#' @param i name or number of a group that is shown.
#' @param row.names,optional,... not used; of `plot()` further arguments of [plot.riemdp_release()].
#' @return `as.data.frame()` and `summary()`: a row for each group that is shown: `group`, `size` (as released), `lower`
#'   and `upper` ends of its interval, `expected_error` (of the privacy noise), `region` (radius of the region for the
#'   group's mean), `mechanism`; with `clipped` also `outside`, the share of the group's records outside the ball as
#'   released, and `outside_lower`, `outside_upper`, the ends of its interval. `tidy()`: a row for each stored number of
#'   each mean. `print()`, `plot()`, `explain()`:
#'   the means, invisibly.
#' @examples
#' sex <- rep(c("f", "m"), 250)
#' g <- dp_mean(wishart_spd[, , 1:500], spd(2), epsilon = 2, center = diag(2), radius = 1.5, by = sex,
#'              levels = c("f", "m"))
#' g
#' g[["f"]]
#' mean_difference(g, "f", "m")
#' @name riemdp_groups
NULL

#' @rdname riemdp_groups
#' @export
as.data.frame.riemdp_groups <- function(x, row.names = NULL, optional = FALSE, level = 0.95, ...) {
  as_made({
    ends <- vapply(x$groups, size_interval, numeric(2), level = level)
    with_outside(data.frame(
      group = names(x$groups) %||% character(), size = vapply(x$groups, function(r) r$size$count, 0),
      lower = if (length(x$groups)) ends[1, ] else numeric(), upper = if (length(x$groups)) ends[2, ] else numeric(),
      expected_error = vapply(x$groups, `[[`, 0, "expected_error"),
      region = vapply(x$groups, function(r) mean_region(r, level)$radius, 0),
      mechanism = vapply(x$groups, `[[`, "", "mechanism"), row.names = NULL
    ), x$groups, level)
  })
}

# the table with the released shares of records outside the ball, where they were asked for
with_outside <- function(table, groups, level) {
  if (!length(groups) || is.null(groups[[1]]$clipped)) return(table)
  ends <- vapply(groups, clipped_interval, numeric(2), level = level)
  table$outside <- vapply(groups, function(r) min(1, max(0, r$clipped$share)), 0)
  table$outside_lower <- ends[1, ]
  table$outside_upper <- ends[2, ]
  table
}

#' @rdname riemdp_groups
#' @export
summary.riemdp_groups <- function(object, ...) as.data.frame(object, ...)

#' @rdname riemdp_groups
#' @export
format.riemdp_groups <- function(x, ...) {
  k <- length(x$groups) + length(x$suppressed)
  c(
    sprintf("Private means of %d group%s on %s", k, if (k == 1) "" else "s", label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, NA))),
    sprintf("  protects %s, %s group it is in%s", protected_words(x$guarantee),
            if (x$guarantee$adjacency == "add-remove") "whether it is there and which" else "also which",
            "; sizes are released with noise"),
    paste0("  ", origin_words(x)),
    if (!is.null(x$subspace)) paste0("  ", subspace_words(x)),
    silent_sites(x$sites, "sizes and means "),
    if (!is.null(x$target)) paste0("  each ", x$target),
    if (length(x$suppressed)) sprintf("  not shown, as their released size is below %g: %s", x$suppress,
                                      paste(x$suppressed, collapse = ", ")),
    strwrap(paste0("expected errors and 95 % regions are ", sub("^O", "o", error_note(error_kind(x)))), 110, 2, 4),
    if (length(x$groups)) paste0(
      "  in brackets where sizes ",
      if (!is.null(x$groups[[1]]$clipped)) {
        sprintf("and shares of %s%s outside the ball ", if (!is.null(x$subspace)) "projected " else "",
                if (is.null(x$unit)) "records" else "units with a row")
      }, "lie with probability 0.95 each"
    ),
    release_lines(x)
  )
}

#' @rdname riemdp_groups
#' @export
print.riemdp_groups <- function(x, ...) {
  cat(format(x), sep = "\n")
  table <- as.data.frame(x)
  range <- function(value, lower, upper) sprintf("%s (%s to %s)", value, lower, upper)
  sizes <- lapply(table[c("size", "lower", "upper")], round, 1)
  shown <- data.frame(group = table$group, size = range(sizes[[1]], sizes[[2]], sizes[[3]]),
                      error = signif(table$expected_error, 3), region = signif(table$region, 3),
                      mechanism = table$mechanism)
  if (!is.null(table$outside)) {
    shares <- lapply(table[c("outside", "outside_lower", "outside_upper")], function(share) signif(100 * share, 2))
    shown$`outside, %` <- range(shares[[1]], shares[[2]], shares[[3]])
  }
  if (nrow(shown)) print(shown, row.names = FALSE)
  invisible(x)
}

#' @rdname riemdp_groups
#' @export
explain.riemdp_groups <- function(x, ...) {
  cat(format(x$guarantee), "\n\n", sep = "")
  cat(strwrap(if (x$guarantee$adjacency == "add-remove") {
    paste("Groups: one record more or less touches one group, so each has all of epsilon",
          "(proofs/mean-sensitivity.md, section 15).")
  } else if (identical(x$form, "shared")) {
    paste("Groups: a replaced record leaves one group and enters another, or changes within one. All sizes and the",
          "sums of all groups' logarithms at the centre are one vector, which it moves by at most twice the radius, a",
          "size counting as much as the radius. Sizes and sums are released with normal noise of all sites",
          "(proofs/federation.md, section 3).")
  } else if (identical(x$form, "joint")) {
    paste("Groups: a replaced record leaves one group and enters another, or changes within one. All sizes and means",
          "are one release, in which each of the two groups costs half of the price. Sizes add up to the public number",
          "of all records (with those in none of the groups, where there may be some; proofs/mean-sensitivity.md,",
          "section 15).")
  } else {
    paste("Groups: a replaced record leaves one group and enters another, or changes within one. All sizes are one",
          "release, with noise that is 0 in all, so that they add up to the public number of all records (with those",
          "in none of the groups, where there may be some); the means of the two groups that a record touches together",
          "cost the rest of epsilon (proofs/mean-sensitivity.md, section 15).")
  }, exdent = 2), sep = "\n")
  if (!is.null(x$unit) && identical(x$form, "shared")) {
    cat(strwrap(paste("A record is here a unit: it counts once, in each group by the share of its rows that name that",
                      "group, with the average of their logarithms. Rows without a group, or in none, count in none",
                      "(proofs/federation.md)."), exdent = 2), sep = "\n")
  } else if (!is.null(x$unit)) {
    cat(strwrap(paste("A record is here a unit with all its rows: the mean of its own, in the one group that its rows",
                      "name. Rows without a group say nothing of it; a unit whose rows name several groups, or none,",
                      "is in none (proofs/mean-sensitivity.md, section 13)."), exdent = 2), sep = "\n")
  }
  if (x$guarantee$adjacency == "add-remove") {
    cat(strwrap("The number of records of all groups together is not part of the release.", exdent = 2), sep = "\n")
  }
  clipped <- if (length(x$groups)) x$groups[[1]]$clipped
  if (!is.null(clipped)) {
    cat(strwrap(paste0(sub("^The number", "Outside: in each group the number", outside_sentence(x$groups[[1]])),
                       sprintf(" %.3g of epsilon pays for all of them.", clipped$epsilon)), exdent = 2), sep = "\n")
  }
  explain_subspace(x)
  cat(strwrap(origin_sentence(x), exdent = 2), sep = "\n")
  explain_end(x)
}

#' @rdname riemdp_groups
#' @export
`[[.riemdp_groups` <- function(x, i) {
  parts <- unclass(x)
  if (is.character(i) && length(i) == 1 && i %in% names(parts$groups)) return(parts$groups[[i]])
  if (is.character(i) && length(i) == 1 && i %in% parts$suppressed) {
    abort_riemdp("argument", "this group isn't shown: its released size is below `suppress`.")
  }
  if (is.numeric(i) && length(i) == 1 && i %in% seq_along(parts$groups)) return(parts$groups[[i]])
  if (is.character(i) && length(i) == 1 && i %in% names(parts)) return(parts[[i]])
  abort_riemdp("argument", "there is no such group.")
}

#' @rdname riemdp_groups
#' @export
tidy.riemdp_groups <- function(x, ...) {
  do.call(rbind, lapply(names(x$groups), function(name) cbind(group = name, tidy_point(x$groups[[name]]$value))))
}

#' How far two private means are apart
#'
#' The distance between two released means (where noise is large between the points drawn, see "Large noise" of
#' [dp_mean()]), with an interval for the distance between the means without noise: the two regions
#' ([confint()][confint.riemdp_mean]) at half of what may fail each, whatever their dependence. Post-processing.
#'
#' @param g private means of groups, or one release of [dp_mean()].
#' @param a,b names of two groups of `g`; or `a` another release of [dp_mean()] on the same manifold, and no `b`.
#' @param level coverage of the interval.
#' @return A list of class `riemdp_difference`: `distance`, `lower`, `upper`, `level`, `vector` (the logarithm of the
#'   second mean at the first, `NULL` where there is none), `from`, `to` (the two points), `manifold`, `covers`.
#' @examples
#' x <- wishart_spd
#' one <- dp_mean(x[, , 1:300], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' two <- dp_mean(x[, , 301:600], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' mean_difference(one, two)
#' @export
mean_difference <- function(g, a, b = NULL, level = 0.95) {
  level <- check_level(level)
  pair <- if (inherits(g, "riemdp_groups")) list(g[[a]], g[[b]]) else list(g, a)
  if (!all(vapply(pair, inherits, NA, "riemdp_mean")) || (inherits(g, "riemdp_mean") && !is.null(b))) {
    abort_riemdp("argument", "`g` must hold two groups, or `g` and `a` be two releases of dp_mean().")
  }
  M <- pair[[1]]$manifold
  if (!identical(label_manifold(M), label_manifold(pair[[2]]$manifold))) {
    abort_riemdp("manifold", "the two means must lie on one manifold.")
  }
  as_made({
    regions <- lapply(pair, mean_region, level = (1 + level) / 2)
    apart <- mf_dist(M, regions[[1]]$center, regions[[2]]$center)
    reach <- regions[[1]]$radius + regions[[2]]$radius
    structure(list(
      distance = apart, lower = max(0, apart - reach), upper = min(apart + reach, mf_facts(M)$diameter), level = level,
      vector = tryCatch(mf_log(M, regions[[1]]$center, regions[[2]]$center), riemdp_error = function(e) NULL),
      from = regions[[1]]$center, to = regions[[2]]$center, manifold = M, covers = COVERS
    ), class = "riemdp_difference")
  })
}

#' @export
format.riemdp_difference <- function(x, ...) {
  sprintf("Two private means on %s: distance %.4g; without the %s it lies from %.4g to %.4g with probability %g",
          label_manifold(x$manifold), x$distance, x$covers, x$lower, x$upper, x$level)
}

#' @export
print.riemdp_difference <- function(x, ...) {
  cat(strwrap(format(x), exdent = 2), sep = "\n")
  invisible(x)
}
