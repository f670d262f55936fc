# Private means of groups. Which record is in which group is private, and so are their sizes: each is a release about
# one record more or less. Proof: inst/proofs/mean-sensitivity.md, section 15.

asked_groups <- function(by, levels, suppress, x) {
  if (is.null(by)) {
    if (!is.null(levels) || !is.null(suppress)) {
      abort_riemdp("argument", "`levels` and `suppress` are for groups: give `by`.")
    }
    return(NULL)
  }
  if (!is.null(suppress)) suppress <- check_number(suppress, "suppress")
  c(read_groups(by, levels, x), list(suppress = suppress))
}

release_groups <- function(M, ask, records, replace, ledger, data_set, part) {
  if (length(records$groups$of) != records$rows) abort_riemdp("shape", "`by` must have an element for each record.")
  if (ask$mechanism == "kng") abort_riemdp("unsupported", "mechanism = \"kng\" isn't available with `by`.")
  if (replace && ask$mechanism == "adaptive") {
    abort_riemdp("unsupported", paste("mechanism = \"adaptive\" isn't available with `by` where a record is replaced:",
                                      "with neighbours = \"add_remove\" it is."))
  }
  ask$names <- records$groups$names
  ask$suppress <- records$groups$suppress
  ask <- groups_ask(M, ask, replace, records$n)
  uncounted(release_private(on_subspace(groups_estimator, ask$reduce), ask, records, ledger, data_set, part))
}

# Where a record is there or not it touches one group, and each has all of epsilon. Where it is replaced, the sizes are
# one release, and of the means two are touched. That no record is in none of two groups or more is then public if the
# curator checks it.
groups_ask <- function(M, ask, replace, n) {
  ask$replace <- replace
  k <- length(ask$names)
  ask$elsewhere <- k < 2 || ask$invalid != "error"
  if (!replace) return(size_ask(M, ask))
  ask$guess <- n / k
  if (!is.null(ask$clipped)) { # two groups' numbers of records outside move
    ask$clipped$ratio <- geometric_ratio(ask$clipped$epsilon / 2)
    ask$clipped$scale <- ask$clipped$ratio[1] / ask$clipped$ratio[2]
  }
  categories <- k + ask$elsewhere
  if (identical(ask$options[["form"]], "joint")) return(joint_ask(M, ask, n, categories))
  apart <- one_law(M, size_ask(M, ask, categories))
  if (length(ask$options) || !is.null(joint_refused(ask, categories))) return(apart)
  joint <- tryCatch(joint_ask(M, ask, n, categories), riemdp_error = function(e) {
    if (inherits(e, "riemdp_error_contract")) stop(e)
  })
  if (is.null(joint) || !joint_errs_less(M, joint, apart)) apart else joint
}

# the promise about all groups, of that about one
with_groups <- function(g, ask) {
  g$adjacency <- if (ask$replace) "replace-one" else "add-remove"
  if (g$nominal_delta > 0) g$nominal_delta <- ask$whole_delta
  if (g$label != "none") g[c("epsilon", "delta")] <- g[c("nominal_epsilon", "nominal_delta")]
  words <- "the number of records is private"
  g$assumptions <- c(sub(words, paste("the number of records in each group is private", if (ask$replace)
    "that of all is public" else "as is that of all", sep = ", "), g$assumptions, fixed = TRUE),
    "the groups' names are public, which record is in which group is private",
    if (ask$replace && !ask$elsewhere) "each record is in one of the groups, which is checked before anything is spent")
  g
}

# one group's mean, with its size and how many of its records lie outside, which came for all groups together where a
# record is replaced
release_group <- function(M, x, n, ask, size, outside) {
  if (ask$replace) {
    out <- release_size(M, x, n, ask, size)
  } else {
    if (!is.null(outside)) outside <- noisy_count(outside, ask$clipped$ratio, "mean-sensitivity.md, 11")
    out <- release_size(M, x, n, ask)
    out$squares <- release_variance(M, x, ask, out$value, n)
  }
  c(out, list(outside = share_of_size(if (!is.null(outside)) outside_share(outside, n, ask), out$size)))
}

groups_estimator <- list(
  entry = function(plan, ask) sprintf("%s, %d groups", mean_estimator$entry(plan, ask), length(ask$names)),
  parts = mean_estimator$parts,
  plan = function(ask) {
    plan <- sized_mean_estimator$plan(ask)
    plan$group_guarantee <- plan$guarantee
    if (ask$replace) plan$group_guarantee[c("nominal_epsilon", "nominal_delta")] <- list(ask$epsilon, ask$delta)
    plan$guarantee <- with_groups(plan$guarantee, ask)
    plan
  },
  ready = function(records, plan, ask) {
    if (ask$invalid == "error") {
      check_records(ask$manifold, records$x)
      if (anyNA(records$groups$of)) {
        abort_riemdp("argument", paste("there are records in none of the declared groups. With invalid = \"center\"",
                                       "they count in none."))
      }
    }
    records$rows <- records$x
    if (is.null(records$units)) return(records)
    of <- unit_groups(records$groups$of, records$units)
    if (ask$invalid == "error" && any(is.na(of) & !records$units$empty)) {
      abort_riemdp("argument", paste("there are units with rows in several groups. With invalid = \"center\" they",
                                     "count in none."))
    }
    records$groups$of <- of
    with_means <- sized_mean_estimator$ready(records, plan, ask)
    records[names(with_means)] <- with_means
    records
  },
  draw = function(records, plan, ask, budget) {
    M <- ask$manifold
    k <- length(ask$names)
    counts <- tabulate(records$groups$of, k)
    inside <- function(i) {
      which <- which(records$groups$of == i)
      if (counts[i]) .Call(riemdp_gathered, M, records$x, ask$center, ask$ball$radius, which)
    }
    outside <- outside_in_groups(M, records, ask)
    if (ask$size$form == "joint") {
      paid <- out_of_purse(plan$group_guarantee, joint_release(M, lapply(seq_len(k), inside), records$x, plan, ask))
      out <- lapply(seq_len(k), function(i) {
        share <- if (!is.null(outside)) outside_share(outside[i], 1, ask)
        c(paid$out[[i]], list(outside = share_of_size(share, paid$out[[i]]$size), draws = paid$draws))
      })
    } else {
      sizes <- if (ask$replace) {
        noisy_sizes(c(counts, if (ask$elsewhere) length(records$groups$of) - sum(counts)), ask$size$ratio)
      }
      out <- lapply(seq_len(k), function(i) {
        paid <- out_of_purse(plan$group_guarantee,
                             release_group(M, inside(i), counts[i], ask, sizes[i], outside[i]))
        c(paid$out, list(draws = paid$draws))
      })
    }
    if (ask$replace && !is.null(ask$variance)) {
      squares <- squares_in_groups(M, lapply(seq_len(k), inside), ask, lapply(out, `[[`, "value"), counts)
      out <- Map(function(one, s) c(one, list(squares = s)), out, squares)
    }
    g <- plan$guarantee # each group has paid for itself: what all of them are to one record, beside what came together
    together <- sum(2 / ask$size$scale, 2 / ask$clipped$scale, ask$variance$epsilon, na.rm = TRUE) * ask$replace
    pay(draw_price("groups", "mean-sensitivity.md, 15", 1 + ask$replace, 1, epsilon = g$nominal_epsilon - together,
                   delta = g$nominal_delta))
    list(groups = stats::setNames(out, ask$names))
  },
  answer = function(out, plan, ask, budget) {
    releases <- lapply(out$groups, function(one) {
      one$plan$guarantee <- plan$guarantee
      release <- mean_release(one, one$plan, ask, list(note = "one of several groups, which have one price"))
      release[c("size", "draws", "source")] <- list(one$size, one$draws, ask$source)
      release
    })
    first <- out$groups[[1]]
    shown <- vapply(releases, function(r) is.null(ask$suppress) || r$size$count >= ask$suppress, NA)
    new_release(
      lapply(releases[shown], `[[`, "value"), "riemdp_groups",
      groups = releases[shown], suppressed = names(releases)[!shown], suppress = ask$suppress, unit = ask$unit,
      form = first$size$form, target = first$plan$target,
      sites = first$plan$details[c("sites", "colluding", "threshold", "alive")],
      manifold = ask$manifold, center = ask$center, radius = ask$ball$radius, mechanism = plan$mechanism,
      budget = budget, guarantee = plan$guarantee
    )
  }
)
