# What a private mean, a private ball, and a table of mechanisms for a mean say of themselves.

#' @export
print.riemdp_mean_plan <- function(x, ...) {
  if (!whole_plan(x)) {
    print(plain_table(x))
    return(invisible(x))
  }
  ask <- attr(x, "ask")
  cat(plan_question(x), sep = "\n")
  if (!is.null(ask$clipped)) {
    cat(sprintf(paste("  of it %g for the share of records outside the ball (standard deviation of its noise %.2g %%),",
                      "%g for the mean\n"),
                signif(ask$clipped$epsilon, 6), 100 * geometric_sd(ask$clipped$scale) / ask$n, signif(ask$epsilon, 6)))
  }
  if (!is.null(ask$variance)) {
    cat(sprintf("  of it %g for the mean squared distance from the point drawn, %g for the mean\n",
                signif(ask$variance$epsilon, 6), signif(ask$epsilon, 6)))
  }
  shown <- data.frame(mechanism = paste0(ifelse(x$chosen, "> ", "  "), x$mechanism), label = x$label,
                      numerics = x$numerics)
  if (!is.null(attr(x, "sought"))) shown[[attr(x, "sought")]] <- found_number(x)
  shown <- data.frame(
    shown, scale = signif(x$scale, 3),
    `expected error` = signif(x$expected_error, 3), `of radius` = sprintf("%.2g %%", 100 * x$relative_error),
    ratio = sub("NA", "", sprintf("%.2f", x$over_bound)),
    check.names = FALSE
  )
  able <- !is.na(x$scale)
  shown$`of radius`[is.na(x$relative_error)] <- ""
  print(format(shown[able, ], na.encode = FALSE), row.names = FALSE, na.print = "")
  for (i in which(nzchar(x$note))) {
    cat(strwrap(paste0(x$mechanism[i], ": ", x$note[i]), indent = 2, exdent = 4), sep = "\n")
  }
  if ("adaptive" %in% x$mechanism[x$chosen]) {
    cat(strwrap(paste("Chosen for the guess of the spread. dp_mean() knows of none: its mechanism = \"auto\" takes",
                      "another, so ask for mechanism = \"adaptive\" there."), exdent = 2), sep = "\n")
  }
  cat(strwrap(paste0("Errors are ", sub("^O", "o", error_note("mean"))), exdent = 2), sep = "\n")
  if (any(!is.na(x$over_bound))) {
    cat(strwrap(paste("Ratio: the expected error over mean_lower_bound(), which no mechanism with the same promise",
                      "stays below for all records of the ball."), exdent = 2), sep = "\n")
  }
  invisible(x)
}

# whether the first stage of a private ball found a smaller one than the public one
found_smaller <- function(x) isTRUE(x$found$radius < x$within$radius)

# what was found, in four digits: rounded up, so that what is read keeps the error
found_number <- function(x) {
  value <- x[[SOUGHT[[attr(x, "sought")]]]]
  if (attr(x, "sought") == "n") return(format(value, scientific = FALSE, trim = TRUE))
  unit <- 10^(floor(log10(value)) - 3)
  signif(ceiling(value / unit) * unit, 4)
}

# what the plan was asked, in a line or two
plan_question <- function(x) {
  ask <- attr(x, "ask")
  sought <- attr(x, "sought") %||% ""
  records <- if (sought == "n") "n records" else sprintf("%d records", as.integer(ask$n))
  if (isTRUE(ask$private_n)) records <- paste("a private number of about", records)
  budget <- if (sought == "epsilon") "" else sprintf(", %s = %g", symbol("epsilon"), ask$total)
  c(
    sprintf("Private mean of %s on %s, public ball of radius %.4g%s%s", records, label_manifold(attr(x, "manifold")),
            ask$ball$radius, budget, if (ask$delta > 0) sprintf(", %s = %g", symbol("delta"), ask$delta) else ""),
    if (nzchar(sought)) sprintf("  the least %s for an expected error of %.4g or less:",
                                if (sought == "n") "n" else symbol("epsilon"), attr(x, "error"))
  )
}

#' @rdname riemdp_release
#' @export
format.riemdp_mean <- function(x, ...) {
  c(
    sprintf("Private mean of %s on %s", how_many_words(x), label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", protection_words(x)),
    silent_sites(x$details),
    if (!is.null(x$target)) paste0("  target: ", x$target),
    if (!is.null(x$size)) paste0("  ", missing_words(x)),
    if (!is.null(x$subspace)) paste0("  ", subspace_words(x)),
    if (x$mechanism == "parts") sprintf("  mechanism parts, public balls of radius %s",
                                        paste(format(x$details$radii, digits = 4), collapse = ", ")) else
      sprintf("  mechanism %s, scale %.4g, public ball of radius %.4g", x$mechanism, x$scale, x$radius),
    paste0("  ", origin_words(x)),
    paste0("  expected error of the ", COVERS, error_beside_radius(x)),
    shrunk_words(x),
    mean_error_lines(x),
    release_lines(x)
  )
}

subspace_words <- function(x) {
  sprintf("on a public subspace: %s, dimension %d of %d", x$subspace$name, as.integer(x$subspace$dimension),
          as.integer(mf_facts(x$manifold)$dimension))
}

# how many records, or units' means
how_many_words <- function(r) {
  what <- counted_words(r)
  paste(size_words(r), if (isTRUE(r$n == 1)) sub("s$", "", sub("units'", "unit's", what)) else what)
}

# the number, or the released one and where the true one lies
size_words <- function(x, level = 0.95) {
  if (!private_size(x)) return(sprintf("%.0f", x$n))
  if (is.null(x$size)) return("a private number, not released, of")
  ends <- size_interval(x, level)
  sprintf("about %.0f (as released; %.0f to %.0f with probability %g)", max(0, x$size$count), ends[1], ends[2], level)
}

# what the released number does to the mean
missing_words <- function(x) {
  if (x$size$form == "none") return("the released number is for errors and regions: the noise doesn't use it")
  center <- if (identical(x$mechanism, "adaptive") || found_smaller(x)) "released" else "public"
  if (x$size$form %in% c("joint", "shared")) {
    return(sprintf("the noisy sum that goes with the released number is divided by N = %.0f", x$size$points))
  }
  if (x$size$form == "sum") {
    return(sprintf("the sum of the logarithms at the %s is divided by N = %.0f, whatever the number of records is",
                   if (center == "public") "centre" else "released centre", x$size$points))
  }
  shift <- x$size$points - max(x$size$count, 1)
  sprintf("%s that are fewer than N = %.0f%s are filled up with the %s centre%s",
          if (is.null(x$unit)) "records" else "units' means", x$size$points,
          if (shift == 0) "" else sprintf(", %.0f %s than the released number,", abs(shift),
                                          if (shift > 0) "more" else "less"), center,
          if (x$size$form == "scaled") ", the mean of more is moved away from it by their number over N" else "")
}

# whether the draw was moved towards the centre, so that errors differ from place to place
is_moved <- function(x) any(x$errors != x$noise_error, na.rm = TRUE)

# where it was
shrunk_words <- function(x) {
  if (!is_moved(x)) return(NULL)
  sprintf(paste("    for a mean at the centre %.2g, half-way to the edge %.2g, at the edge %.2g; of the point",
                "drawn %.2g"), x$errors[1], x$errors[3], x$errors[5], x$noise_error)
}

error_beside_radius <- function(x) {
  if (is.na(x$expected_error)) {
    return(if (private_size(x) && is.null(x$size)) " not known: it depends on the number of records" else
      " not known in advance")
  }
  error <- sprintf(" %.4g%s", x$expected_error, if (is_moved(x)) " at most" else "")
  if (x$expected_error > x$radius) {
    return(paste0(error, ": LARGER than the public radius, the release says less than the bounds do"))
  }
  sprintf("%s, %.2g %% of the radius%s", error, 100 * x$expected_error / x$radius,
          if (x$expected_error > 0.5 * x$radius) ": the release says LITTLE MORE than the bounds do" else "")
}

#' @rdname riemdp_release
#' @export
summary.riemdp_mean <- function(object, ...) {
  g <- object$guarantee
  data.frame(
    manifold = label_manifold(object$manifold), n = object$n, mechanism = object$mechanism, label = g$label,
    epsilon = g$epsilon, delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
    radius = object$radius, sensitivity = object$sensitivity, scale = object$scale,
    expected_error = object$expected_error, covers = COVERS,
    outside = if (is.null(object$clipped)) NA_real_ else min(1, max(0, object$clipped$share)),
    source = object$source %||% NA_character_
  )
}

moving_words <- function(x) {
  if (identical(x$size$form, "joint")) {
    return(sprintf("one %s more in a group or one less", if (is.null(x$unit)) "record" else "unit with all its rows"))
  }
  if (identical(x$size$form, "shared")) {
    return(sprintf("a replaced %s, in both groups that it may touch,", if (is.null(x$unit)) "record" else "unit"))
  }
  if (isTRUE(x$size$law %in% c("sum", "normal"))) {
    return(sprintf("given the released size N = %.0f, a replaced %s, in both groups that it may touch together,",
                   x$size$points, if (is.null(x$unit)) "record" else "unit"))
  }
  if (private_size(x)) {
    return(sprintf("%sone %s more or one less", if (isTRUE(x$size$form != "none"))
      sprintf("given the released size N = %.0f, ", x$size$points) else "",
      if (is.null(x$unit)) "record" else "unit with all its rows"))
  }
  sprintf("replacing one of the n = %d %s", as.integer(x$n),
          if (is.null(x$unit)) "records" else "units, with all its rows,")
}

#' @rdname riemdp_release
#' @export
explain.riemdp_mean <- function(x, ...) {
  g <- x$guarantee
  cat(format(g), "\n\n", sep = "")
  moved <- if (!is.null(x$details$moved)) x$details$moved else if (is.null(x$target)) "Frechet mean" else
    sub("^the ", "", sub(",.*", "", x$target))
  if (!is.na(x$sensitivity)) {
    cat(strwrap(sprintf(
      paste("Sensitivity: %s moves the %s by at most %.6g, by the bound %s. The solver's error adds %.3g."),
      moving_words(x), moved, x$sensitivity, x$theorem, x$solver_error), exdent = 2), sep = "\n")
  }
  explain_subspace(x)
  if (of_averages(x)) {
    cat(strwrap(AVERAGES_SENTENCE, exdent = 2), sep = "\n")
  } else if (!is.null(x$unit)) {
    cat(strwrap(paste("A unit counts once: by the Frechet mean of its own rows moved to the public ball, which is a",
                      "function of that unit alone and lies in the ball (proofs/mean-sensitivity.md, section 13). How",
                      "many rows it has is not part of the release."), exdent = 2), sep = "\n")
  }
  cat(strwrap(mean_mechanisms()[[x$mechanism]]$words(x), exdent = 2), sep = "\n")
  if (!is.null(x$size)) explain_size(x)
  if (is_moved(x)) {
    cat(strwrap(paste("Where the noise is not small beside the ball, the point drawn is moved towards the public",
                      "centre, as far as a guess of the mean from the noise's law says, if its distance from the",
                      "centre may be any up to the radius. That is a function of the point drawn and of public",
                      "numbers. Regions are about the point drawn (proofs/shrinkage.md)."), exdent = 2), sep = "\n")
  }
  cat(strwrap(origin_sentence(x), exdent = 2), sep = "\n")
  cat(strwrap(paste(
    if (is.null(x$subspace)) "Records" else "Projected records",
    "outside the public ball are moved to its nearest point, one by one; records that are no points, or lie at the cut",
    "locus of the centre, count as the centre.", if (x$mechanism == "parts") "All of that holds for each part."),
    exdent = 2), sep = "\n")
  cat(strwrap(c(outside_sentence(x), squares_sentence(x)), exdent = 2), sep = "\n")
  cat(strwrap(paste0("Errors: what is stated is ", sub("^O", "o", error_note(error_kind(x)))), exdent = 2), sep = "\n")
  bound <- bound_words(x)
  if (!is.null(bound)) cat(strwrap(bound, exdent = 2), sep = "\n")
  for (line in c(clipped_words(x), edge_words(x))) {
    cat(strwrap(paste0(toupper(substr(line, 1, 1)), substring(line, 2), "."), exdent = 2), sep = "\n")
  }
  cat(strwrap(unprotected_sentence(g), exdent = 2), sep = "\n")
  explain_end(x)
  sources <- mechanism_sources(x$mechanism)
  if (length(sources)) cat(strwrap(paste0("Sources: ", paste(sources, collapse = "; "), "."), exdent = 2), sep = "\n")
  invisible(x)
}

outside_sentence <- function(x) {
  if (is.null(x$clipped)) return("The number of records outside is not part of the release.")
  one <- if (is.null(x$unit)) "record" else "unit"
  paste0(sprintf(paste("The number of %s (those that are no points not among them) is released with two-sided",
                       "geometric noise of scale %.6g: "),
                 paste0(if (is.null(x$unit)) "records outside" else "units with a row outside",
                        if (!is.null(x$subspace)) ", as projected"), x$clipped$scale),
         if (!is.null(x$size$categories)) {
           sprintf("a replaced %s moves those of two groups by 1 (proofs/mean-sensitivity.md, section 15).", one)
         } else {
           sprintf("%s one %s moves it by at most 1 (proofs/mean-sensitivity.md, section 11).",
                   if (private_size(x)) "adding or removing" else "replacing", one)
         })
}

# what else was drawn, for regions about the population
squares_sentence <- function(x) {
  s <- x$squares
  if (is.null(s)) return(NULL)
  paste0(sprintf(paste("The sum of squared distances from the point drawn is released with two-sided geometric noise",
                       "of scale %.6g, at epsilon = %.4g: one %s counts at most %.6g (proofs/inference.md, 1)."),
                 s$scale, s$epsilon, if (is.null(x$unit)) "record" else "unit", s$most),
         if (!is.null(s$norm)) {
           sprintf(" So is the length of the matrix of their products, scale %.6g at epsilon = %.4g (section 2 there).",
                   s$norm_scale, s$norm_epsilon)
         })
}

# what no mechanism can do better, where that is proven
bound_words <- function(x) {
  x <- release_inside(x)
  if (private_size(x)) return(NULL)
  bound <- bound_of_promise(x$manifold, x$guarantee, check_radius(x$manifold, x$radius, x$center), x$n, x$target)
  if (is.na(bound)) return(NULL)
  ratio <- x$expected_error / bound
  paste0(sprintf(paste("Lower bound: with the same n, budget and ball every mechanism has an expected error of %.3g or",
                       "more for some records of the ball (%s, proofs/lower-bounds.md)"), bound, bound_argument(bound)),
         if (!is.na(ratio)) sprintf("; here it is %.2f times that", ratio), ".",
         if (isTRUE(ratio > 2)) paste0(" ", bound_blame(x$manifold, x$guarantee, attr(bound, "argument"))))
}

explain_subspace <- function(x) {
  if (is.null(x$subspace)) return(invisible())
  cat(strwrap(sprintf(
    paste("Subspace: each record is projected to %s by itself, which keeps the ball's records in the ball; all that",
          "follows takes place there, in dimension %d, and the point drawn is put back (proofs/mean-sensitivity.md,",
          "section 17). That the subspace is public is assumed."),
    label_manifold(x$subspace$inside), as.integer(x$subspace$dimension)), exdent = 2), sep = "\n")
}

explain_size <- function(x) {
  s <- x$size
  if (!is.null(s$categories)) {
    cat(strwrap(switch(s$form, joint = joint_size_words(x), shared = shared_size_words(x), sprintf(
      paste("Size: the sizes of all groups are one release, with noise that is 0 in all and proportional to",
            "exp(-(sum of |z|)/%.6g), at epsilon = %.4g: a replaced %s moves two of them by 1. N follows from the",
            "size, so N is public; %s. What that does to the mean is part of the expected error and of regions",
            "(proofs/mean-sensitivity.md, section 15)."),
      s$scale, s$epsilon, if (is.null(x$unit)) "record" else "unit", missing_words(x))), exdent = 2), sep = "\n")
    return(invisible())
  }
  size <- size_sentence(x)
  use <- if (s$form == "none") paste0("T", substring(missing_words(x), 2), " (proofs/kng.md, section 8).") else sprintf(
    paste("N follows from it, so N is public; %s. What that does to the mean is part of the expected error and of",
          "regions (proofs/mean-sensitivity.md, section 14)."), missing_words(x))
  cat(strwrap(paste(size, use), exdent = 2), sep = "\n")
}

size_sentence <- function(x) {
  sprintf(paste("Size: the number of %s is released with two-sided geometric noise of scale %.6g, at epsilon = %.4g:",
                "one more or one less moves it by 1."), if (is.null(x$unit)) "records" else "units", x$size$scale,
          x$size$epsilon)
}

# ---- balls -----------------------------------------------------------------------------------------------------------

#' @rdname riemdp_release
#' @export
format.riemdp_ball <- function(x, ...) {
  c(
    sprintf("Private ball for %s on %s", how_many_words(x), label_manifold(x$manifold)),
    paste0("  ", c(format(x$guarantee), budget_remarks(x$guarantee, x$n))),
    paste0("  ", c(protection_words(x), origin_words(x))),
    sprintf("  radius %.4g, within the public ball of radius %.4g", x$value$radius, x$within$radius),
    "  public from now on: center = ball, radius = ball in dp_mean() and the like",
    "  no claim that the records lie in it: those outside are moved to its edge",
    release_lines(x)
  )
}

#' @rdname riemdp_release
#' @export
print.riemdp_ball <- function(x, ...) {
  cat(format(x), sep = "\n")
  print(x$value$center)
  invisible(x)
}

#' @rdname riemdp_release
#' @export
summary.riemdp_ball <- function(object, ...) {
  g <- object$guarantee
  data.frame(manifold = label_manifold(object$manifold), n = object$n, label = g$label, epsilon = g$epsilon,
             delta = g$delta, nominal_epsilon = g$nominal_epsilon, adjacency = g$adjacency,
             radius = object$value$radius, within = object$within$radius, fraction = object$fraction,
             source = object$source %||% NA_character_)
}

unprotected_sentence <- function(g) {
  paste0("Not protected: the time that the call takes", if (g$numerics == "lattice") "." else
    "; the rounding of doubles (the proof is about real numbers).")
}

#' @rdname riemdp_release
#' @export
explain.riemdp_ball <- function(x, ...) {
  cat(format(x$guarantee), "\n\n", sep = "")
  proven <- "(proofs/mean-sensitivity.md, section 12)."
  if (!is.null(x$size)) {
    cat(strwrap(paste(size_sentence(x), "All that follows is planned for that number, and has the rest of epsilon; for",
                      "the centre", missing_words(x), "(proofs/mean-sensitivity.md, section 14)."), exdent = 2),
        sep = "\n")
  }
  if (x$shares[["place"]] > 0) {
    cat(strwrap(sprintf(
      paste("Place: by the exponential mechanism over places and radii at once, or none, with %.3g of epsilon; %s",
            proven), x$shares[["place"]], if (!found_smaller(x)) "the wide ball stays" else
              sprintf("it found a ball of radius %.4g", x$found$radius)), exdent = 2), sep = "\n")
  }
  cat(strwrap(sprintf(
    paste("Centre: the Frechet mean of the %s moved to the %s ball, by mechanism %s with %.3g of epsilon, scale",
          "%.6g; %s moves that mean by at most %.6g (%s, and %.3g for the solver). It is moved into the public ball,",
          "which is post-processing."),
    counted_words(x), if (found_smaller(x)) "found" else "public", x$mechanism, x$shares[["center"]], x$scale,
    moving_words(x), x$sensitivity, x$theorem, x$solver_error), exdent = 2), sep = "\n")
  cat(strwrap(sprintf(
    paste("Radius: from a grid by the exponential mechanism with %.3g of epsilon, %.3g times one that aims at holding",
          "%.3g of the %s around the centre. %s moves a count by at most 1", proven),
    x$shares[["radius"]], x$margin, x$fraction, counted_words(x),
    if (private_size(x)) "One more or one less" else "Replacing one"), exdent = 2), sep = "\n")
  cat(strwrap(origin_sentence(x), exdent = 2), sep = "\n")
  cat(strwrap(paste("How many records lie in the ball is not part of the release.", integers_sentence(x$guarantee),
                    unprotected_sentence(x$guarantee)), exdent = 2), sep = "\n")
  explain_end(x)
}

#' @rdname dp_ball
#' @export
coef.riemdp_ball <- function(object, ...) object$value

# ---- plans of balls --------------------------------------------------------------------------------------------------

#' @export
print.riemdp_bounds_plan <- function(x, ...) {
  if (!is.data.frame(x$curve) || !inherits(x$manifold, "riemdp_manifold")) {
    print(unclass(x))
    return(invisible(x))
  }
  figure <- function(v) format(signif(v, 3), trim = TRUE)
  number <- function(v) format(v, digits = 5, trim = TRUE, scientific = FALSE)
  cat(sprintf("Public ball for a private mean of %s records on %s, %s = %s%s\n", number(x$n),
              label_manifold(x$manifold), symbol("epsilon"), number(x$epsilon),
              if (x$delta > 0) sprintf(", %s = %g", symbol("delta"), x$delta) else ""))
  cat("  ", x$source, ": nothing of them is protected\n", sep = "")
  if (!is.null(x$sought)) {
    cat(sprintf("  the least %s for an error of %s or less at the best ball\n",
                if (x$sought == "n") "n" else symbol("epsilon"), figure(x$target)))
  }
  cat(sprintf("  best radius %s, around `$center`; %s %% of the public or simulated records lie outside\n",
              figure(x$radius), percent(x$outside)))
  if (x$widened > 1) {
    cat(sprintf("  (%s times the best one of so few records: they don't know the tails)\n", figure(x$widened)))
  }
  cat(sprintf("  error there %s: clipping %s and privacy noise %s (%s), root of the sum of squares; no sampling\n",
              figure(x$error), figure(x$clipping), figure(x$noise), x$mechanism))
  if (x$outside > 0.5) {
    cat("  most records would be moved: the release says little more than its centre, which comes from these records\n")
  }
  for (i in seq_len(NROW(x$around))) {
    row <- x$around[i, ]
    cat(sprintf("  %s the radius: error %s (clipping %s, noise %s)\n", if (row$radius < x$radius) "half" else "double",
                figure(row$total), figure(row$clipping), figure(row$noise)))
  }
  cat(bounds_call(x), sep = "\n")
  invisible(x)
}

# the call to use with the plan
bounds_call <- function(x, name = "plan") {
  c(sprintf("dp_mean(x, M, epsilon = %s, center = %s$center, radius = %s$radius%s,", format(x$epsilon, digits = 15),
            name, name, if (x$delta > 0) paste(", delta =", format(x$delta, digits = 15)) else ""),
    sprintf("        source = %s)", encodeString(x$source, quote = "\"")))
}

# ---- plans of subspaces ----------------------------------------------------------------------------------------------

#' @export
`[.riemdp_subspace_plan` <- function(x, ...) plain_table(x)[...]

#' @export
print.riemdp_subspace_plan <- function(x, ...) {
  table <- plain_table(x)
  asked <- attr(x, "asked")
  sought <- attr(x, "sought")
  terms <- attr(x, "terms")
  cat(strwrap(paste0(
    sprintf("Private mean on public subspaces of %s, public ball of radius %.4g", label_manifold(attr(x, "manifold")),
            attr(x, "radius")),
    if (!is.null(asked$n)) sprintf(", %.0f records", asked$n),
    if (terms$private_n) ", their number private",
    if (!is.null(asked$epsilon)) sprintf(", %s = %g", symbol("epsilon"), asked$epsilon),
    if (terms$delta > 0) sprintf(", %s = %g", symbol("delta"), terms$delta),
    if (!is.null(terms$clipped)) ", with the share outside of the ball"
  ), exdent = 2), sep = "\n")
  if (!is.null(sought)) {
    cat(sprintf("  the least %s for a total error of %.4g or less:\n", if (sought == "n") "n" else symbol("epsilon"),
                attr(x, "error")))
  }
  shown <- data.frame(subspace = paste0(ifelse(table$chosen, "> ", "  "), table$subspace), dimension = table$dimension)
  if (!is.null(sought)) shown[[sought]] <- signif(table[[SOUGHT[[sought]]]], 4)
  errors <- table[c("noise", "projection", "total")]
  errors[!is.na(errors) & errors < 1e-9 * attr(x, "radius")] <- 0 # of rounding alone
  shown <- cbind(shown, mechanism = table$mechanism, signif(errors, 3))
  print(format(shown, na.encode = FALSE), row.names = FALSE, na.print = "")
  for (i in which(nzchar(table$note))) {
    cat(strwrap(paste0(table$subspace[i], ": ", table$note[i]), indent = 2, exdent = 4), sep = "\n")
  }
  cat(strwrap(subspace_errors(attr(x, "records")), exdent = 2), sep = "\n")
  invisible(x)
}

subspace_errors <- function(records) {
  noise <- paste("Noise: the expected error of the privacy noise, about the mean of the records projected and moved to",
                 "the ball.")
  if (is.null(records)) return(paste(noise, "What projecting does isn't known: give `public` or `simulate`."))
  paste(noise, paste0("Projection: how far projecting them and moving them to the ball moves their mean, ", records,
                      ": nothing of them is protected."), "Total: the root of the sum of squares; no sampling.")
}
