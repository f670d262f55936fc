# Means of groups of records that stay at sites: one sum of blocks, one for each group, with the noise of all sites.
# Proof: inst/proofs/federation.md, section 3.

# ---- a formula of columns at sites -----------------------------------------------------------------------------------

# what a formula says, or the records and `by` as they are given
mean_input <- function(x, M, data, unit, by, levels) {
  if (inherits(x, "formula")) {
    read <- if (at_sites(data)) sites_formula else mean_formula
    return(uncounted(read(x, M, data, unit, by, levels)))
  }
  if (!is.null(data)) abort_riemdp("argument", "`data` is for a formula in the place of `x`.")
  list(x = x, by = by, levels = levels)
}

# list(x, model: what a request says of the columns, names: the groups, NULL for one mean of all) of points ~ groups
sites_formula <- function(formula, M, data, unit, by, levels) {
  if (!is.null(by) || !is.null(unit)) {
    abort_riemdp("argument", paste("at sites the formula's right side says what `by` would, and the policy's unit what",
                                   "`unit` would."))
  }
  if (length(formula) != 3 || !is.name(formula[[2]])) {
    abort_riemdp("unsupported", "at sites the formula's left side is the name of a column of points: scan ~ sex.")
  }
  if (is.null(M)) abort_riemdp("argument", "`M` must be given: points at sites are not looked at.")
  names <- group_variables(formula[[3]])
  levels <- sites_levels(formula_levels(levels, names), names)
  p <- length(names)
  model <- list(responses = list(as.character(formula[[2]])), predictors = as.list(names), x = unname(levels),
                y = matrix(c(0, 1, 1), 3), parts = lapply(seq_len(p), as.double))
  if (model_width(model) > MODEL_COLUMNS || model_groups(list(model = model)) > GROUPS_MOST) {
    abort_riemdp("unsupported", sprintf("sites take at most %d groups, and %d levels of all variables together.",
                                        GROUPS_MOST, MODEL_COLUMNS))
  }
  if (!is_model(model)) {
    abort_riemdp("unsupported", "sites take names of columns and levels of plain letters, digits and signs (ASCII).")
  }
  list(x = data, model = model, names = if (p) groups_of_model(model)$names)
}

# each variable's as text, of which there are two at least
sites_levels <- function(levels, names) {
  lapply(seq_along(names), function(i) {
    told <- read_group(character(), levels[[i]], names[i])$names
    if (length(told) < 2) abort_riemdp("argument", sprintf("`levels` of `%s` must be two or more.", names[i]))
    as.list(told)
  })
}

# list(of: each record's group by the texts of its columns, or NA; names)
groups_of_model <- function(model, columns = lapply(model$x, function(l) character())) {
  crossed <- cross_groups(Map(read_group, columns, lapply(model$x, unlist)), NULL)
  crossed[c("of", "names")]
}

# ---- at a site -------------------------------------------------------------------------------------------------------
# A record's vector has a block for each group: in that of its own its logarithm at the centre and the radius, which
# counts it. In none of the groups it is 0. Without groups it is the logarithm.

GROUPS_MOST <- 500

model_groups <- function(q) if (length(q$model$x)) prod(lengths(q$model$x)) else 1

groups_counted <- function(q) length(q$model$x) > 0

groups_block <- function(q) mf_facts(q$M)$dimension + groups_counted(q)

# list(x: points, of: groups)
groups_records <- function(q, x) {
  points <- plain_numbers(unclass(x)[[q$model$responses[[1]]]])
  n <- q$rows %||% records_in(points)
  if (!holds_points(q$M, points, n)) points <- NULL # they count as the centre
  if (!groups_counted(q)) return(list(x = points, of = rep(1L, n)))
  columns <- lapply(unclass(x)[unlist(q$model$predictors)], column_cells, "text")
  list(x = points, of = groups_of_model(q$model, columns)$of)
}

groups_sum <- function(q, x) {
  r <- groups_records(q, x)
  unlist(lapply(seq_len(model_groups(q)), function(i) {
    which <- which(r$of == i)
    sum <- if (length(which) && !is.null(r$x)) MEAN_VECTORS$mean$sum(q, records_of(r$x, which)) else
      numeric(mf_facts(q$M)$dimension)
    c(sum, if (groups_counted(q)) q$radius * length(which))
  }))
}

groups_rows <- function(q, x) {
  r <- groups_records(q, x)
  n <- length(r$of)
  own <- if (is.null(r$x)) matrix(0, n, mf_facts(q$M)$dimension) else centre_rows(q, r$x)
  own[!is.finite(rowSums(own)), ] <- 0
  if (groups_counted(q)) own <- cbind(own, q$radius)
  rows <- matrix(0, n, model_groups(q) * ncol(own))
  there <- which(!is.na(r$of))
  for (j in seq_len(ncol(own))) {
    rows[cbind(there, (r$of[there] - 1) * ncol(own) + j)] <- own[there, j]
  }
  rows
}

groups_refused <- function(policy, request) {
  model <- request$model
  ok <- is_model(model) && length(model$responses) == 1 && all(vapply(model$x, is.list, NA)) &&
    identical(unname(model$parts), lapply(seq_along(model$x), as.double)) && model_groups(request) <= GROUPS_MOST
  if (!ok) return("message")
  hold_to_types(policy, replace(model_types(model), 1, "points"))
}

# Within a group two logarithms lie twice the radius apart at most, and so do two records of different groups
GROUP_VECTORS <- list(
  groups = list(sum = groups_sum, rows = groups_rows, trial = function(q) trial_record(q),
                length = function(q) if (groups_counted(q)) outwards(sqrt(2) * q$radius) else q$radius,
                moved = function(q) 2 * q$radius,
                dimension = function(q) model_groups(q) * groups_block(q), refused = groups_refused,
                fields = c("M", "center", "model"))
)

# ---- the plan and the release ----------------------------------------------------------------------------------------

# what dp_mean() asks of sites with tables
shared_groups_ask <- function(ask, x, given, suppress) {
  if (is.na(ask$n)) {
    abort_riemdp("unsupported", "neighbours = \"add_remove\" needs the records in memory.")
  }
  if (is.null(x$shares)) {
    abort_riemdp("unsupported",
                 "sites with tables answer with noise: sites(shares = TRUE) or sites(secure = TRUE) would do.")
  }
  if (ask$mechanism != "tangent" || ask$numerics == "lattice" || ask$delta == 0 || is.null(ask$epsilon)) {
    abort_riemdp("unsupported", paste("sites add normal noise to sums of logarithms at the centre: mechanism =",
                                      "\"tangent\" with `epsilon`, `delta` > 0 and numerics = \"real\" would do."))
  }
  if (ask$timing != "ordinary" || ask$calibration != "proven" || length(ask$options)) {
    abort_riemdp("unsupported", paste("groups at sites have normal noise in ordinary time: no `options`, and neither",
                                      "timing = \"constant\" nor calibration = \"paper\"."))
  }
  ask$about <- list(vector = "groups", model = given$model)
  ask$invalid <- "center" # nobody looks at records
  ask$names <- given$names
  if (!is.null(suppress)) ask$suppress <- check_number(suppress, "suppress")
  ask
}

plan_shared_groups <- function(ask) {
  M <- ask$manifold
  about <- tangent_about(M, ask)
  moved <- vector_moved(about)
  law <- gaussian_law(ask, FLAT_SPACE, moved)
  shares <- ask$shares
  plan <- c(sites_plan(shares, about, law$scale, ask$n), list(
    mechanism = "tangent", numerics = "real", sensitivity = moved, theorem = "2r, proofs/federation.md, section 3",
    solver_error = 0, acceptance = 1, about = about,
    target = "exp of the mean of the group's logarithms at the centre: NOT the Frechet mean on curved spaces",
    details = c(list(noise = "gaussian", moved = "vector of all groups' sums and sizes"), shares),
    chosen = "the mechanism for sites that add noise"
  ))
  sd <- if (is.null(plan$query)) law$scale * share_excess(shares) else summed_scale(plan$query, shares$sites, 1)
  g <- promise_of(law$guarantee, c("center and radius are public; the number of records is public", ask$assumptions),
                  trusted = M)
  g$assumptions <- c(sub("records is public", "records is public, that in each group private", g$assumptions,
                         fixed = TRUE),
                     "the groups' names are public, which record is in which group is private",
                     share_assumption(shares))
  plan$guarantee <- of_units(g, ask$unit)
  group_at(plan, ask, sd, ask$n / length(ask$names))
}

# a plan of one group at its released size
group_at <- function(plan, ask, sd, count) {
  plan$scale <- sd / max(1, count)
  # the release and the mean of logarithms are both in the ball
  plan$noise_error <- plan$expected_error <- min(2 * ask$ball$radius, shared_group_error(ask, plan$scale))
  plan
}

# By draws with a fixed seed, as the sum over the number has both's noise: the larger one of means at the centre and at
# the ball's edge
shared_group_error <- function(ask, scale, draws = 4000) {
  M <- ask$manifold
  d <- mf_facts(M)$dimension
  tryCatch(told_error(with_simulation(1, {
    z <- matrix(stats::rnorm(draws * d), draws) * scale
    counted <- z + outer(stats::rnorm(draws) * scale, most_stretched(M))
    max(tangent_errors(M, z, ask$center, 0), tangent_errors(M, counted, ask$center, ask$ball$radius))
  })), riemdp_error = function(e) NA_real_)
}

# each group's release of its block of the sum: post-processing
shared_group <- function(block, found, plan, ask) {
  d <- length(block) - 1
  radius <- ask$ball$radius
  count <- block[d + 1] / radius
  points <- max(1, count)
  # the mean of logarithms lies in the ball, so that moving there takes it no farther from what was released
  at <- drop(shorten_rows(t(block[-(d + 1)] / points), radius))
  plan <- group_at(plan, ask, found$sd, count)
  plan$details$alive <- found$alive
  list(value = exp_of_coords(ask$manifold, at, ask$center), plan = plan,
       size = list(count = count, points = points, form = "shared", shift = 0, reach = 0, epsilon = ask$epsilon,
                   sd = found$sd / radius, categories = length(ask$names)))
}

shared_groups_estimator <- list(
  entry = function(plan, ask) groups_estimator$entry(plan, ask),
  parts = groups_estimator$parts,
  plan = plan_shared_groups,
  ready = function(records, plan, ask) {
    check_policies(records$x, list(shared_request(plan, plan$about, ask$manifold, ask$center)))
    records
  },
  draw = function(records, plan, ask, budget) {
    found <- draw_shared_sum(records$x, plan, ask$shares, "federation.md, 3", ask$manifold, ask$center)
    blocks <- matrix(found$sum, ncol = length(ask$names))
    list(groups = stats::setNames(lapply(seq_along(ask$names), function(i) {
      shared_group(blocks[, i], found, plan, ask)
    }), ask$names))
  },
  answer = function(out, plan, ask, budget) {
    ask[c("n", "post")] <- list(NA_real_, FALSE)
    groups_estimator$answer(out, plan, ask, budget)
  }
)

shared_size_words <- function(r) {
  paste("Size: released with the mean, as one vector with those of all groups, with normal noise of standard deviation",
        sprintf("%.4g. The noisy sum is divided by N = %.4g, and moved into the public ball. What the", r$size$sd,
                r$size$points),
        "size's noise does to the mean is part of the expected error and of regions (proofs/federation.md, section 3).")
}
