# Private functions and what is looked at of their calls: the second half of helper-neighbours.R.

# ---- the calls ----------------------------------------------------------------------------------------------------------------

# delta where a mechanism's noise needs one
delta_for <- function(mechanism) if (isTRUE(mechanism$needs_delta)) 1e-3 else 0

mean_cases <- function() {
  spaces <- function(name) switch(name, pointwise = "triangles",
                                  laplace = c("sphere", "matrices", "spectra", "hyperboloid", "plane", "triangles", "pair", "parts", "correlations",
                                              "rotations", "roots"),
                                  wrapped = , kng = c("sphere", "matrices", "hyperboloid", "plane", "triangles", "parts"),
                                  gaussian = c("sphere", "plane", "pair", "rotations"), heat = c("sphere", "triangles", "pair"), chordal = "frames",
                                  parts = "pair",
                                  staircase = c("sphere", "plane", "matrices", "pair", "rotations"),
                                  tangent = c("sphere", "plane", "matrices", "spectra", "solids"),
                                  c("sphere", "plane", "matrices"))
  mechanisms <- internal("mean_mechanisms")()
  plain <- lapply(names(mechanisms), function(m) list(method = m, spaces = spaces(m), args = list(
    mechanism = m, delta = delta_for(mechanisms[[m]]), numerics = if (m %in% c("wrapped_staircase", "staircase_truncated")) "lattice" else "real"
  )))
  names(plain) <- names(mechanisms)
  plain$chain$args$options <- list(burn_in = 10)
  plain$chain$undrawn <- "a chain promises nothing"
  c(plain, subspace_cases(), list(
    auto = list(method = "auto", spaces = "sphere", args = list(mechanism = "auto")),
    each_part = list(method = "parts", spaces = "pair", args = list(mechanism = "parts", options = list(shares = c(0.4, 0.6)))),
    lattice = list(method = "wrapped", spaces = c("sphere", "plane", "hyperboloid", "parts", "correlations", "rotations"),
                   args = list(mechanism = "wrapped", numerics = "lattice")),
    lattice_kng = list(method = "kng", spaces = c("sphere", "plane", "hyperboloid", "matrices", "spectra", "rotations"),
                       args = list(mechanism = "kng", numerics = "lattice")),
    lattice_truncated = list(method = "laplace_truncated", spaces = c("sphere", "matrices"),
                             args = list(mechanism = "laplace_truncated", numerics = "lattice")),
    lattice_product = list(method = "wrapped", spaces = "pair", args = list(mechanism = "wrapped", numerics = "lattice")),
    real_product = list(method = "wrapped", spaces = "pair", forms = c("array", "mf_points"), args = list(mechanism = "wrapped", numerics = "real")),
    product_kng = list(method = "kng", spaces = "pair", forms = c("array", "frame"), args = list(mechanism = "kng", numerics = "lattice")),
    lattice_gaussian = list(method = "wrapped_gaussian", spaces = "sphere", args = list(mechanism = "wrapped_gaussian", numerics = "lattice", delta = 1e-3)),
    lattice_tangent = list(method = "tangent", spaces = c("sphere", "matrices", "solids"), args = list(mechanism = "tangent", numerics = "lattice")),
    tangent_gaussian = list(method = "tangent", spaces = "matrices",
                            args = list(mechanism = "tangent", delta = 1e-3, options = list(noise = "gaussian"))),
    arithmetic = list(method = "euclidean", spaces = c("sphere", "matrices"),
                      args = list(mechanism = "euclidean", options = list(target = "arithmetic", into_ball = TRUE))),
    landmarks = list(method = "pointwise", spaces = "triangles", args = list(mechanism = "pointwise", options = list(rotation = "none", split = "landmarks"))),
    constant = list(method = "kng", spaces = "sphere", args = list(mechanism = "kng", timing = "constant", delta = 1e-3)),
    # five units; the record that is replaced is one of the first unit's
    unit = list(method = "laplace", spaces = c("sphere", "matrices", "hyperboloid", "plane", "triangles"),
                args = list(mechanism = "laplace", unit = rep_len(1:5, NEIGHBOURS))),
    unit_lattice = list(method = "wrapped", spaces = c("sphere", "plane"), args = list(mechanism = "wrapped", numerics = "lattice",
                                                                                     unit = rep_len(letters[1:5], NEIGHBOURS))),
    unit_column = list(method = "laplace", spaces = c("sphere", "matrices", "plane"), forms = "keyed",
                       args = list(mechanism = "laplace", unit = "who", clipped = 0.2)),
    shares = list(method = "tangent", spaces = c("sphere", "matrices"), forms = "shares", args = list(mechanism = "tangent", delta = 1e-3)),
    # with the share of records outside the ball
    clipped = list(method = "laplace", spaces = c("sphere", "matrices", "hyperboloid", "plane", "triangles"),
                   args = list(mechanism = "laplace", clipped = 0.2)),
    clipped_lattice = list(method = "wrapped", spaces = c("sphere", "plane", "hyperboloid"),
                           args = list(mechanism = "wrapped", numerics = "lattice", clipped = 0.2)),
    # with the mean squared distance from the point drawn
    variance = list(method = "wrapped", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"),
                    args = list(mechanism = "wrapped", variance = 0.2), noisy = paste0("^[$](", DRAWN, "|squares[$](sum|scale|most|norm)|draws)")),
    variance_unit = list(method = "laplace", spaces = c("sphere", "plane"),
                         noisy = paste0("^[$](", DRAWN, "|clipped[$](share|count)|squares[$](sum|scale|most|norm)|draws)"),
                         args = list(mechanism = "laplace", variance = 0.2, clipped = 0.1, unit = rep_len(1:5, NEIGHBOURS))),
    clipped_constant = list(method = "kng", spaces = "sphere", args = list(mechanism = "kng", timing = "constant", delta = 1e-3, clipped = 0.2)),
    placed = list(method = "adaptive", spaces = c("sphere", "plane", "matrices"),
                  args = list(mechanism = "adaptive", options = list(shares = c(0.5, 0.1, 0.1, 0.3)))),
    clipped_adaptive = list(method = "adaptive", spaces = c("sphere", "plane"), args = list(mechanism = "adaptive", clipped = 0.2))
  ), sized_cases())
}

# on a public subspace of each space that has some; its points are the release's own, put back
subspace_cases <- function() {
  one <- function(name, mechanism, ...) {
    space <- neighbour_spaces()[[name]]
    directions <- list(sphere = c(1, 1, 0), plane = c(1, 2), hyperboloid = c(0, 1, 1), triangles = exp(4i * pi * (1:3) / 3))[[name]]
    list(method = mechanism, spaces = name, forms = c("array", "guessed", "mf_points"), noisy = paste0("^[$](inside[$])?(", DRAWN, ")"),
         args = list(mechanism = mechanism, reduce = subspace(space$M, space$center, directions), ...))
  }
  more <- utils::modifyList(one("sphere", "wrapped", neighbours = "add_remove"),
                            list(pair = "more", forms = c("array", "mf_points"), noisy = paste0(SIZED_NOISY, "|^[$]inside[$](value|released|details)")))
  list(subspace_sphere = one("sphere", "wrapped", numerics = "real"), subspace_plane = one("plane", "laplace", numerics = "real"),
       subspace_hyperboloid = one("hyperboloid", "laplace", numerics = "real"), subspace_shapes = one("triangles", "wrapped", numerics = "real"),
       subspace_lattice = one("hyperboloid", "wrapped", numerics = "lattice"), subspace_kng = one("triangles", "kng", numerics = "real"),
       subspace_unit = one("sphere", "wrapped", numerics = "real", unit = rep_len(1:5, NEIGHBOURS)), subspace_more = more)
}

# What follows a released size is noise as well; args that are functions are of the number of records and of the side
DRAWN <- "value|released|post_processed|errors|noise_error"
SIZED_BALL <- "^[$](value|found|size|scale|sensitivity|theorem|solver_error|mechanism|shares|fraction|margin|draws)"
PRODUCTS <- c("pair", "double")
COVARIANCE_SIZED <- "^[$](value|moment|size|sensitivity|scale|noise|expected_error)"
CONFORMAL_SIZED <- "^[$](value|size|rank|least|draws)"
SIZED_LM <- "^[$](value|scaled_coefficients|bounds[$]y|expected_error|size|method|chosen|table|details|draws)"
SIZED_GLM <- "^[$](value|scaled_coefficients|expected_error|size|details|draws)"
SIZED_CURVE <- "^[$](value|size|expected_error|spread|details|chosen|mechanism|draws)"
SIZED_RUN <- "^[$](value|loadings|trace|size|steps|batch|sd|snapshot_sd|noise_multiplier|split|event|draws|sampling|chosen|mechanism)"
SIZED_NOISY <- paste0("^[$](", DRAWN, "|size|scale|sensitivity|theorem|solver_error|expected_error|chosen|mechanism|acceptance|details|draws)")

# a record more or less, of a private number; and groups, where a record is replaced, moves to another one, or is there or isn't
sized_cases <- function() {
  one <- function(m, ..., spaces = c("sphere", "matrices", "hyperboloid", "plane", "triangles"), delta = 0, numerics = "real") {
    list(method = m, spaces = spaces, forms = c("array", "mf_points"), pair = "more", noisy = SIZED_NOISY,
         args = list(mechanism = m, delta = delta, numerics = numerics, neighbours = "add_remove", ...))
  }
  grouped <- function(by, neighbours, ..., numerics = "real", clipped = NULL) {
    utils::modifyList(one("wrapped", spaces = c("sphere", "plane", "matrices")), list(noisy = "^[$](value|groups|suppressed|draws)", ..., args = c(list(
      by = by, levels = c("a", "b"), neighbours = neighbours, numerics = numerics), list(clipped = clipped)[!is.null(clipped)])))
  }
  joint <- function(by, ...) {
    utils::modifyList(grouped(by, "replace", ..., numerics = "lattice"), list(
      method = "wrapped_staircase", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"),
      args = list(mechanism = "wrapped_staircase", options = list(form = "joint"))))
  }
  halves <- function(n, side) rep_len(c("a", "b"), n)
  list(
    more_laplace = one("laplace"), more_staircase = one("staircase", spaces = c("sphere", "plane")), more_wrapped = one("wrapped"),
    more_gaussian = one("gaussian", spaces = c("sphere", "plane"), delta = 1e-3),
    more_wrapped_gaussian = one("wrapped_gaussian", delta = 1e-3),
    more_tail = one("wrapped", options = list(form = "tail"), spaces = c("sphere", "matrices"), delta = 1e-3),
    more_adaptive = one("adaptive", options = list(shares = c(0.5, 0.1, 0.1, 0.3)), spaces = c("sphere", "plane", "matrices")),
    more_adaptive_tail = one("adaptive", options = list(count = 0.3, shares = c(0.3, 0.1, 0.1, 0.5)), spaces = c("sphere", "plane"), delta = 1e-3),
    more_kng = one("kng"), more_kng_count = one("kng", options = list(count = 0.3)),
    more_lattice_staircase = one("wrapped_staircase", numerics = "lattice", spaces = c("sphere", "plane")),
    more_lattice = one("wrapped", numerics = "lattice"), more_lattice_gaussian = one("wrapped_gaussian", numerics = "lattice", delta = 1e-3),
    # with the share of records outside the ball
    more_clipped = utils::modifyList(one("wrapped", clipped = 0.2, spaces = c("sphere", "plane", "triangles")),
                                     list(noisy = sub("(", "(clipped[$](share|count)|", SIZED_NOISY, fixed = TRUE))),
    more_variance = utils::modifyList(one("wrapped", variance = 0.2, spaces = c("sphere", "plane", "triangles")),
                                      list(noisy = sub("(", "(squares[$](sum|scale|most|norm)|", SIZED_NOISY, fixed = TRUE))),
    group_variance = utils::modifyList(grouped(function(n, side) replace(halves(n), 1, if (side == 2) "b" else "a"), "replace", pair = "same"),
                                       list(args = list(variance = 0.2))),
    group_more_variance = utils::modifyList(grouped(halves, "add_remove"), list(args = list(variance = 0.2))),
    group_clipped = grouped(function(n, side) replace(halves(n), 1, if (side == 2) "b" else "a"), "replace", pair = "same", clipped = 0.2),
    group_more_clipped = grouped(halves, "add_remove", clipped = 0.2),
    # one unit more
    more_unit = one("wrapped", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS)), spaces = c("sphere", "plane")),
    more_unit_kng = one("kng", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS)), spaces = "sphere"),
    group_replaced = grouped(halves, "replace", pair = "replaced"),
    group_moved = grouped(function(n, side) replace(halves(n), 1, if (side == 2) "b" else "a"), "replace", pair = "same"),
    group_left = grouped(function(n, side) replace(halves(n), 1, if (side == 2) "none" else "a"), "replace", pair = "same"),
    group_moved_lattice = grouped(function(n, side) replace(halves(n), 1, if (side == 2) "b" else "a"), "replace", pair = "same", numerics = "lattice"),
    group_joint_replaced = joint(halves, pair = "replaced"),
    group_joint = joint(function(n, side) replace(halves(n), 1, if (side == 2) "b" else "a"), pair = "same"),
    group_joint_left = joint(function(n, side) replace(halves(n), 1, if (side == 2) "none" else "a"), pair = "same"),
    group_more = grouped(halves, "add_remove"), group_lattice = grouped(halves, "add_remove", numerics = "lattice")
  )
}

lm_cases <- function() {
  plain <- lapply(setdiff(names(internal("linear_methods")()), "paper"), function(m) {
    list(method = m, spaces = "plane", formula = if (m == "theil_sen") y ~ I(x / 10 + 0.6 * (abs(y) > 1e3)) else y ~ x + g,
         args = list(method = m, delta = if (m %in% c("adassp", "boosted", "newton", "descent", "gaussian")) 1e-3 else 0))
  })
  names(plain) <- vapply(plain, `[[`, "", "method")
  c(plain, list(
    auto = list(method = "auto", spaces = "plane", formula = y ~ x * g, args = list(method = "auto", epsilon = 5)),
    # medians of pairs; above, records that differ by much lie where lines are asked for, and all others to one side of it
    pairs = list(method = "theil_sen", spaces = "plane", n = 120, formula = y ~ x, args = list(method = "theil_sen", epsilon = 10)),
    two = list(method = "objective", spaces = "plane", formula = cbind(y, z = 2 * y) ~ x, args = list(method = "objective")),
    # terms of several columns with public knots; noise in blocks
    splines = list(method = "objective", spaces = "plane", formula = y ~ bs(x, knots = c(0.3, 0.6), degree = 2) + g, args = list(method = "objective")),
    # rows that count by their own numbers
    counted = list(method = "objective", spaces = "plane", formula = y ~ x + g, forms = c("frame", "factors", "guessed", "lists", "environment"),
                   args = list(method = "objective", weights = ~x, subset = ~ g == "F" | y > 0)),
    natural = list(method = "statistics", spaces = "plane", formula = y ~ ns(x, 2), args = list(method = "statistics")),
    splines_unit = list(method = "objective", spaces = "plane", formula = y ~ bs(x, 3) * g, forms = c("frame", "chunks"),
                        args = list(method = "objective", unit = rep_len(1:5, NEIGHBOURS))),
    # the guess is off by much, and the search has to be paid for
    guessed = list(method = "statistics", spaces = "plane", n = 120, formula = ifelse(y > 0, y, y + 40) ~ x, args = list(method = "statistics", epsilon = 10)),
    # a predictor in a small part of its range: windows are searched for, tried, and fits are in units of them
    wide = list(method = "objective", spaces = "plane", n = 120, formula = y ~ I(x / 40), args = list(method = "objective", epsilon = 10)),
    wide_unit = list(method = "recentred", spaces = "plane", n = 250, formula = y ~ I(x / 40), forms = c("frame", "chunks"),
                     args = list(method = "recentred", epsilon = 10, unit = rep_len(1:110, 250))),
    # so little noise and ridge that coefficients reach far responses, and rounding what the solver may leave
    sharp = list(method = "objective", spaces = "plane", n = 200, formula = y ~ x, args = list(method = "objective", epsilon = 100)),
    # units; the record that is replaced is one of the first unit's
    unit = list(method = "objective", spaces = "plane", formula = y ~ x + g, args = list(method = "objective", unit = rep_len(1:5, NEIGHBOURS))),
    unit_sums = list(method = "statistics", spaces = "plane", formula = y ~ x, args = list(method = "statistics", unit = rep_len(1:5, NEIGHBOURS))),
    unit_column = list(method = "objective", spaces = "plane", formula = y ~ x + g, forms = "keyed", args = list(method = "objective", unit = "who")),
    unit_column_sums = list(method = "statistics", spaces = "plane", formula = y ~ x, forms = "keyed", args = list(method = "statistics", unit = "who")),
    unit_kng = list(method = "kng", spaces = "plane", formula = y ~ x, args = list(method = "kng", unit = rep_len(1:5, NEIGHBOURS))),
    unit_guessed = list(method = "recentred", spaces = "plane", n = 250, formula = ifelse(y > 0, y, y + 40) ~ x,
                        args = list(method = "recentred", epsilon = 10, unit = rep_len(1:110, 250))),
    gaussian_unit = list(method = "gaussian", spaces = "plane", formula = y ~ x + g,
                         args = list(method = "gaussian", delta = 1e-3, unit = rep_len(1:5, NEIGHBOURS))),
    gaussian_counted = list(method = "gaussian", spaces = "plane", formula = cbind(y, z = 2 * y) ~ x, forms = c("frame", "guessed", "lists"),
                            args = list(method = "gaussian", delta = 1e-3, weights = ~x, subset = ~ y > 0)),
    # a record more or less, of a private number; all plans follow from the released one
    more_gaussian = list(method = "sized", spaces = "plane", formula = y ~ x, pair = "more", forms = c("frame", "lists"), noisy = SIZED_LM,
                         args = list(method = "gaussian", delta = 1e-3, neighbours = "add_remove")),
    more = list(method = "sized", spaces = "plane", formula = y ~ x + g, pair = "more", forms = c("frame", "factors", "guessed"), noisy = SIZED_LM,
                args = list(method = "objective", neighbours = "add_remove")),
    more_auto = list(method = "sized", spaces = "plane", formula = y ~ x, pair = "more", forms = c("frame", "lists"), noisy = SIZED_LM,
                     args = list(epsilon = 5, neighbours = "add_remove")),
    more_unit = list(method = "sized", spaces = "plane", formula = y ~ x, pair = "more", forms = c("frame", "lists"), noisy = SIZED_LM,
                     args = list(method = "statistics", neighbours = "add_remove",
                                 unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS)))),
    terms = list(method = "statistics", spaces = "plane", formula = ifelse(y > 0, y, 0) ~ log(x + 1) + as.numeric(g == "F"),
                 args = list(method = "statistics")),
    paper = list(method = "paper", spaces = "plane", formula = y ~ x, args = list(method = "paper"), undrawn = "the published method promises nothing")
  ))
}

regression_cases <- function() {
  mechanisms <- internal("regression_mechanisms")()
  plain <- lapply(names(mechanisms), function(m) {
    list(method = m, spaces = c("sphere", "plane", "hyperboloid"), args = list(method = m, delta = delta_for(mechanisms[[m]])))
  })
  names(plain) <- names(mechanisms)
  plain$paper$undrawn <- "the published method promises nothing"
  c(plain, list(
    auto = list(method = "auto", spaces = "sphere", args = list(method = "auto")),
    unit = list(method = "newton", spaces = c("sphere", "hyperboloid"), args = list(method = "newton", unit = rep_len(1:5, NEIGHBOURS))),
    unit_column = list(method = "newton", spaces = c("sphere", "hyperboloid"), forms = "keyed", args = list(method = "newton", unit = "who")),
    unit_column_kng = list(method = "kng", spaces = "sphere", forms = "keyed", args = list(method = "kng", unit = "who")),
    unit_gradient = list(method = "gradient", spaces = "sphere", args = list(method = "gradient", delta = 1e-3, unit = rep_len(1:5, NEIGHBOURS))),
    unit_kng = list(method = "kng", spaces = "sphere", args = list(method = "kng", unit = rep_len(1:5, NEIGHBOURS))),
    lad = list(method = "kng", spaces = "sphere", args = list(method = "kng", loss = "lad")),
    chain = list(method = "kng", spaces = "sphere", args = list(method = "kng", chain = 20)),
    product = list(method = "newton_product", spaces = PRODUCTS, args = list(method = "newton")),
    product_gradient = list(method = "gradient_product", spaces = PRODUCTS, args = list(method = "gradient", delta = 1e-3)),
    product_unit = list(method = "newton_product", spaces = PRODUCTS, args = list(method = "newton", unit = rep_len(1:5, NEIGHBOURS))),
    more = list(method = "sized", spaces = c("sphere", "plane"), pair = "more", forms = c("frame", "list"), noisy = SIZED_CURVE,
                args = list(method = "newton", neighbours = "add_remove")),
    more_gradient = list(method = "sized", spaces = "sphere", pair = "more", forms = c("frame", "list"), noisy = SIZED_CURVE,
                         args = list(method = "gradient", delta = 1e-3, neighbours = "add_remove"))
  ))
}

optimise_cases <- function(spaces, forms, inner = list(inner = 2)) {
  one <- function(method, ...) list(method = method, spaces = spaces, args = list(method = method, ...))
  more <- function(...) {
    list(method = "sized", spaces = spaces, pair = "more", noisy = SIZED_RUN, forms = forms, args = list(epsilon = 1, neighbours = "add_remove", ...))
  }
  list(rgd = one("rgd", epsilon = 1, steps = 4), rsgd = one("rsgd", noise_multiplier = 30, steps = 4, batch = 5),
       disjoint = one("rsgd", epsilon = 1, steps = 4, batch = 5, sampling = "disjoint"),
       rsvrg = c(do.call(one, c(list("rsvrg", noise_multiplier = 30, steps = 4, batch = 18), inner)), list(clip = c(0.5, 0.3))),
       auto = one("auto", epsilon = 1, steps = 3),
       # five units; the record that is replaced is one of the first unit's
       unit = one("rgd", epsilon = 1, steps = 3, unit = rep_len(1:5, NEIGHBOURS)),
       unit_column = c(one("rsgd", noise_multiplier = 30, batch = 2, steps = 3, unit = "who"), list(forms = "keyed")),
       # a record more or less, of a private number
       more = more(method = "rgd", steps = 3), more_auto = more(steps = 2),
       more_rsgd = more(method = "rsgd", steps = 4, batch = 5),
       more_disjoint = more(method = "rsgd", steps = 4, batch = 5, sampling = "disjoint"),
       more_rsvrg = c(do.call(more, c(list(method = "rsvrg", batch = 9), if (is.null(inner)) NULL else c(inner, steps = 4))), list(clip = c(0.5, 0.3))),
       more_unit = more(method = "rgd", steps = 3, unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS))))
}

direct_pca <- function(mechanism) {
  list(method = "direct", spaces = "plane", forms = c("array", "frame", "lists", "guessed"), args = list(epsilon = 1, mechanism = mechanism),
       noisy = "^[$](value|loadings|eigenvalues|moments?|shares)")
}
# units, whose first holds the record that is replaced; one record, or unit, more; a first look, whatever it gains
direct_pca_beside <- function() {
  one <- function(mechanism, ..., noisy = NULL, forms = c("array", "frame")) {
    case <- direct_pca(mechanism)
    case$args <- c(case$args, list(...))
    case$forms <- forms
    if (!is.null(noisy)) case$noisy <- noisy
    case
  }
  follows <- "^[$](value|loadings|eigenvalues|moments?|shares|size|sensitivity|scale|noise|expected_error|look|gap|mechanism|theorem|draws)"
  more <- function(mechanism, ...) c(one(mechanism, neighbours = "add_remove", ..., noisy = follows), list(pair = "more"))
  five <- rep_len(1:5, NEIGHBOURS)
  sixth <- function(n, side) c(five, rep(6, n - NEIGHBOURS))
  list(direct_unit = one("laplace", unit = five), direct_unit_normal = one("gauss", unit = five), direct_unit_traces = one("wishart", unit = five),
       direct_unit_drawn = one("bingham", unit = five),
       direct_more = more("laplace"), direct_more_normal = more("gauss"), direct_more_traces = more("wishart"), direct_more_drawn = more("bingham"),
       direct_more_unit = more("wishart", unit = sixth), direct_look = c(one("auto", noisy = follows), list(look = TRUE)),
       direct_look_unit = c(one("auto", unit = five, noisy = follows), list(look = TRUE)), direct_look_more = c(more("auto"), list(look = TRUE)))
}

glm_cases <- function() {
  one <- function(family, ...) list(method = family, spaces = "plane", formula = y ~ x + g, args = list(family = family), ...)
  five <- rep_len(1:5, NEIGHBOURS)
  more <- function(family, ...) {
    utils::modifyList(one(family, pair = "more", forms = c("frame", "guessed"), noisy = SIZED_GLM),
                      list(method = "sized", args = list(neighbours = "add_remove", ...)))
  }
  with <- function(case, ...) utils::modifyList(case, list(args = list(...)))
  plain <- stats::setNames(lapply(names(internal("glm_families")()), one), names(internal("glm_families")()))
  c(plain, list(
    levels = utils::modifyList(one("binomial"), list(formula = g ~ x, text = TRUE)),
    sharp = with(one("quantile", n = 200), epsilon = 100, quantile = 0.8),
    splines = utils::modifyList(one("binomial"), list(formula = y ~ bs(x, knots = 0.5) + g)),
    powers = utils::modifyList(one("poisson"), list(formula = y ~ poly(x, 3))),
    counted = with(one("binomial"), weights = ~x, subset = ~ g == "F"),
    unit = with(one("binomial"), unit = five), unit_counts = with(one("poisson"), unit = five),
    more = more("binomial"), more_counts = more("poisson"), more_unit = more("quantile", unit = function(n, side) c(five, rep(6, n - NEIGHBOURS)))
  ))
}

# whose bounds a model's terms ask for
bounded_terms <- function(formula) {
  labels <- attr(stats::terms(formula), "term.labels")
  labels[grepl("^(bs|ns|poly)[(]", labels) & !grepl(":", labels)] <- "x"
  labels
}

glm_call <- function(data, case, space, budget) {
  formula <- case$formula
  environment(formula) <- if (is.environment(data)) data else globalenv()
  left <- paste(deparse(formula[[2]]), collapse = " ")
  bounds <- list(x = c(0, 1), g = c("F", "M"))[bounded_terms(formula)]
  bounds[[left]] <- if (isTRUE(case$text)) c("F", "M") else
    switch(case$args$family, binomial = c(0, 1), poisson = c(center = 1, limit = 3), quantile = c(center = 0, scale = 1))
  do.call(dp_glm, c(list(formula, if (!is.environment(data)) data, bounds = bounds, ledger = budget), utils::modifyList(list(epsilon = 1), case$args)))
}

lm_call <- function(data, case, space, budget) {
  formula <- case$formula
  environment(formula) <- if (is.environment(data)) data else globalenv()
  variables <- all.vars(formula)
  bounds <- list(x = c(0, 1), g = c("F", "M"), `log(x + 1)` = c(0, 0.7), `as.numeric(g == "F")` = c(0, 1),
                 `I(x/10 + 0.6 * (abs(y) > 1000))` = c(0, 1), `I(x/40)` = c(0, 1))[bounded_terms(formula)]
  bounds <- bounds[!is.na(names(bounds))]
  left <- if (is.call(formula[[2]]) && identical(formula[[2]][[1]], quote(cbind))) c("y", "z") else paste(deparse(formula[[2]]), collapse = " ")
  bounds[left] <- rep(list(c(center = 0, scale = 1)), length(left))
  args <- utils::modifyList(list(epsilon = 1), case$args)
  do.call(dp_lm, c(list(formula, if (!is.environment(data)) data, bounds = bounds, ledger = budget), args))
}

regression_call <- function(data, case, space, budget) {
  formula <- if (is.list(data) && "y" %in% names(data) || holds_curves(data)) y ~ x else
    stats::as.formula(sprintf("cbind(%s) ~ x", paste(point_columns(space), collapse = ", ")), env = globalenv())
  environment(formula) <- globalenv()
  do.call(dp_regression, c(list(formula, space$M, data, epsilon = 1, center = space$center, radius = space$radius, speed = 1, residual_bound = 0.2,
                                bounds = c(0, 1), invalid = "ignore", ledger = budget), case$args))
}

# along a public point or geodesic
spline_call <- function(data, case, space, budget) {
  left <- if (is.list(data) && "y" %in% names(data) || holds_curves(data)) "y" else sprintf("cbind(%s)", paste(point_columns(space), collapse = ", "))
  formula <- stats::as.formula(sprintf("%s ~ bs(x, df = 5, degree = %d)", left, case$degree %||% 2), env = globalenv())
  environment(formula) <- globalenv()
  if (isTRUE(case$moving)) {
    case$args$velocity <- mf_from_coords(space$M, space$center, c(0.6, numeric(mf_facts(space$M)$dimension - 1)))
  }
  do.call(dp_spline, c(list(formula, space$M, data, epsilon = 1, center = space$center, radius = space$radius, bounds = c(0, 1), invalid = "ignore",
                            ledger = budget), case$args))
}

spline_cases <- function() {
  five <- rep_len(1:5, NEIGHBOURS)
  list(
    l2 = list(method = "l2", spaces = c("sphere", "plane", "hyperboloid")),
    moving = list(method = "l2", spaces = c("sphere", "hyperboloid"), moving = TRUE),
    normal = list(method = "normal", spaces = c("sphere", "plane"), args = list(delta = 0.1)),
    penalty = list(method = "l2", spaces = "sphere", forms = "frame", args = list(penalty = 1)),
    frechet = list(method = "l2", spaces = c("sphere", "hyperboloid", "matrices"), forms = c("frame", "list"), degree = 1, args = list(target = "frechet")),
    product = list(method = "l2_product", spaces = PRODUCTS),
    unit = list(method = "l2", spaces = c("sphere", "hyperboloid"), args = list(unit = five)),
    unit_column = list(method = "l2", spaces = "sphere", forms = "keyed", args = list(unit = "who")),
    unit_normal = list(method = "normal", spaces = "sphere", args = list(delta = 0.1, unit = five)),
    more = list(method = "l2", spaces = c("sphere", "plane"), pair = "more", forms = c("frame", "list"), args = list(neighbours = "add_remove")),
    more_normal = list(method = "normal", spaces = "sphere", pair = "more", forms = c("frame", "list"),
                       args = list(neighbours = "add_remove", delta = 0.1)),
    more_unit = list(method = "l2", spaces = "sphere", pair = "more", forms = "frame", args = list(
      neighbours = "add_remove", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS))))
  )
}

# chunks of frames with points in one variable
holds_curves <- function(data) is.list(data$pieces) && is.list(data$pieces[[1]]$x) && "y" %in% names(data$pieces[[1]]$x)

optimise_call <- function(data, case, space, budget, ...) {
  problem <- if (isTRUE(case$own)) own_problem() else problem_huber(space$M, 0.5)
  start <- if (isTRUE(case$own)) 0 else space$center
  clip <- if (isTRUE(case$own)) 1 else case$clip
  do.call(dp_optimize, c(list(problem, data, delta = 1e-3, start = start, clip = clip, lr = 0.1, ledger = budget, ...), case$args))
}

own_problem <- function() problem(NULL, function(w, z) w - z, euclidean(1))

# A run that was interrupted after its first saved state, and its continuation
resume_call <- function(data, case, space, budget) {
  if (is.null(budget)) budget <- dp_ledger(NULL, 100, 0.01, pairs = TRUE)
  path <- "checkpoint.rds"
  go_on <- internal("continue_run")
  times <- 0
  tryCatch(with_internals(
    optimise_call(data, case, space, budget, checkpoint = path),
    continue_run = function(run, input, until) {
      times <<- times + 1
      if (times > 2) signalCondition(structure(class = c("neighbour_stop", "condition"), list()))
      go_on(run, input, until)
    }
  ), neighbour_stop = function(e) NULL)
  dp_resume(path, if (isTRUE(case$own)) own_problem() else problem_huber(space$M, 0.5), data, budget)
}

# what a curator may ask of a site; "check" is the curator's own look at records, no part of a release
site_cases <- function() {
  lapply(c(noisy = "noisy", ball = "ball", gradients = "gradients", counts = "counts"), function(kernel) {
    list(method = kernel, spaces = c("sphere", "matrices"), args = list())
  })
}

site_call <- function(data, case, space, budget) {
  M <- space$M
  stored <- .Call(internal("riemdp_stored"), M, space$center)
  request <- c(list(kernel = case$method, private = TRUE, M = M), switch(case$method,
    noisy = list(center = stored, radius = space$radius, sd = 1, seed = 1), ball = list(center = stored, radius = space$radius, p = stored, what = "logs"),
    gradients = list(problem = problem_huber(M, 0.5), p = stored, snapshot = NULL, step = list(clip = 0.5, apart = FALSE, losses = FALSE), counts = "points"),
    counts = list(center = stored, radii = c(0.1, 0.2))))
  site_answer(request, data, if (case$method == "noisy") "noisy" else "sums")
}

# a line or curve that was released before, of rows or units, of which there was a public or a private number
residual_call <- function(data, case, space, budget) {
  of <- list(n = NEIGHBOURS, size = NULL)
  if (identical(case$args$neighbours, "add_remove")) of <- list(n = NA_real_, size = list(count = NEIGHBOURS, points = NEIGHBOURS, scale = 1))
  g <- internal("of_units")(internal("promise_of")(list(epsilon = 1, delta = 0), NULL), if (!is.null(case$args$unit)) "unit")
  if (identical(case$kind, "curve")) {
    formula <- if (is.list(data) && "y" %in% names(data) || holds_curves(data)) quote(y) else
      as.call(c(quote(cbind), lapply(point_columns(space), as.name)))
    fit <- structure(c(of, list(
      value = list(p = space$center, v = mf_from_coords(space$M, space$center, c(0.2, numeric(mf_facts(space$M)$dimension - 1)))), manifold = space$M,
      columns = data.frame(name = "x", middle = 0.5, half = 0.5), terms = ~x, response = formula, constants = list(),
      details = list(last = list(step = matrix(0, mf_facts(space$M)$dimension, 2), lambda = numeric(mf_facts(space$M)$dimension), edge = FALSE,
                                 rule = list(noisy = TRUE, tau = 0.1))),
      bounds = list(x = list(x = list(range = c(0, 1)))), residual_bound = 0.2, mechanism = "newton", guarantee = g
    )), class = c("riemdp_regression", "riemdp_release"))
    return(dp_residual_scale(fit, data, epsilon = 1, unit = case$args$unit, ledger = budget))
  }
  spec <- internal("linear_terms")(case$formula, if (inherits(data, "riemdp_chunks")) c("x", "g", "y") else names(data))
  left <- names(spec$responses)
  bounds <- internal("linear_bounds")(spec, c(list(x = c(0, 1), g = c("F", "M"))[names(spec$predictors)],
                                              stats::setNames(rep(list(c(center = 0, scale = 1)), length(left)), left)))
  columns <- internal("linear_columns")(spec, bounds)
  b <- matrix(0.3, length(left), length(columns) + 1)
  fit <- structure(c(of, list(value = b, spec = spec, bounds = bounds, columns = columns, scaled_coefficients = b, details = list(reach = 2.5),
                              method = "statistics", guarantee = g)), class = c("riemdp_lm", "riemdp_release"))
  dp_residual_scale(fit, data, epsilon = 1, unit = case$args$unit, ledger = budget)
}

# around a public point that opposite ends of the ball are not alike for, a point for each record, or a curve that was released before
conformal_call <- function(data, case, space, budget) {
  M <- space$M
  aside <- c(0.8 * space$radius, numeric(mf_facts(M)$dimension - 1))
  args <- list(at = mf_exp(M, space$center, mf_from_coords(M, space$center, aside)))
  if (!is.null(case$around)) {
    n <- internal("record_count")(M, data)
    args$at <- mf_points(space$center, M)[rep(1L, n)]
  }
  if (identical(case$around, "curve")) {
    v <- mf_from_coords(M, space$center, c(0.2, 0.1, numeric(mf_facts(M)$dimension - 2)))
    args$at <- structure(list(
      value = list(p = space$center, v = v), manifold = M, columns = data.frame(name = "x", middle = 0.5, half = 0.5), terms = ~x, constants = list(),
      bounds = list(x = list(x = list(range = c(0, 1)))), guarantee = internal("promise_of")(list(epsilon = 1, delta = 0), NULL)
    ), class = c("riemdp_regression", "riemdp_release"))
    args$data <- data.frame(x = seq(0, 1, length.out = n))
  }
  do.call(dp_conformal, c(list(data, M, epsilon = 10, bound = 2 * space$radius, level = 0.5, invalid = "at", ledger = budget), args, case$args))
}

# noisy: entries (a pattern of paths) whose numbers are released noise or functions of it; free: those whose length is as well
neighbour_calls <- function() {
  list(
    dp_mean = list(kind = "points", cases = mean_cases(), noisy = "^[$](value|released|post_processed|clipped[$](share|count))",
                   # adaptive: later stages' public numbers follow from the released ball
                   noisy_of = list(adaptive = paste0("^[$](", DRAWN, "|clipped[$](share|count)|scale|sensitivity|theorem|solver_error|expected_error|",
                                                      "draws|details[$](released_center|released_radius|last|shares))")),
                   free_of = list(adaptive = "^[$]draws"), # stages that the first leaves out
                   # one of some dozens of radii, of which what follows is a function
                   outcome_of = list(adaptive = function(value) value$details[c("none_found", "released_radius")]),
                   call = function(data, case, space, budget) {
                     do.call(dp_mean, c(list(data, space$M, epsilon = 1, center = space$center, radius = space$radius, invalid = "center",
                                             ledger = budget), case$args))
                   }),
    dp_ball = list(kind = "points", cases = list(
      ball = list(method = "ball", spaces = c("sphere", "matrices", "hyperboloid", "plane", "triangles"), args = list()),
      few = list(method = "ball", spaces = c("sphere", "plane"), args = list(radii = c(0.1, 0.3), fraction = 0.6, shares = c(0.2, 0.8))),
      placed = list(method = "placed", spaces = c("sphere", "plane", "triangles"), args = list(shares = c(0.5, 0.2, 0.3))),
      unit = list(method = "ball", spaces = c("sphere", "matrices"), args = list(unit = rep_len(1:5, NEIGHBOURS))),
      unit_column = list(method = "ball", spaces = c("sphere", "matrices"), forms = "keyed", args = list(unit = "who")),
      more = list(method = "placed", spaces = c("sphere", "plane", "matrices"), pair = "more", noisy = SIZED_BALL, forms = c("array", "mf_points"),
                  args = list(neighbours = "add_remove", shares = c(0.5, 0.2, 0.3))),
      more_unit = list(method = "placed", spaces = c("sphere", "plane"), pair = "more", noisy = SIZED_BALL, forms = c("array", "mf_points"),
                       args = list(neighbours = "add_remove", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS))))),
                   noisy = "^[$]value",
                   # what later stages use follows from the ball that the first one released
                   noisy_of = list(placed = "^[$](value|found|scale|sensitivity|theorem|solver_error|shares|draws)"),
                   free_of = list(placed = "^[$](found|draws)"),
                   call = function(data, case, space, budget) {
                     do.call(dp_ball, c(list(data, space$M, epsilon = 1, center = space$center, radius = space$radius, invalid = "center", ledger = budget),
                                        case$args))
                   }),
    dp_median = list(kind = "points", cases = list(
      median = list(method = "median", spaces = c("plane", "hyperboloid", "matrices"), args = list()),
      smooth = list(method = "median", spaces = c("plane", "matrices"), args = list(smooth = 0.1)),
      unit = list(method = "median", spaces = c("plane", "matrices"), args = list(unit = rep_len(1:5, NEIGHBOURS))),
      more = list(method = "median", spaces = c("plane", "hyperboloid", "matrices"), pair = "more", forms = c("array", "mf_points"),
                  args = list(neighbours = "add_remove")),
      more_unit = list(method = "median", spaces = "plane", pair = "more", forms = c("array", "mf_points"),
                       args = list(neighbours = "add_remove", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS))))),
                   noisy = "^[$]value",
                   call = function(data, case, space, budget) {
                     do.call(dp_median, c(list(data, space$M, epsilon = 1, center = space$center, radius = space$radius, invalid = "center", ledger = budget),
                                          case$args))
                   }),
    dp_variance = list(kind = "points", cases = list(
      frechet = list(method = "variance", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"), args = list()),
      unit = list(method = "variance", spaces = c("plane", "matrices"), args = list(unit = rep_len(1:5, NEIGHBOURS))),
      from = list(method = "variance", spaces = c("sphere", "rotations", "matrices", "hyperboloid", "triangles"), args = list(at = "center")),
      more = list(method = "variance", spaces = c("sphere", "plane", "matrices"), pair = "more", forms = c("array", "mf_points"),
                  args = list(at = "center", neighbours = "add_remove"),
                  noisy = "^[$](value|squares[$]sum|size[$]count|sensitivity|expected_error)")),
                   noisy = "^[$](value|squares[$]sum)",
                   call = function(data, case, space, budget) {
                     if (!is.null(case$args$at)) case$args$at <- space$center
                     do.call(dp_variance, c(list(data, space$M, epsilon = 1, center = space$center, radius = space$radius, invalid = "center", ledger = budget),
                                            case$args))
                   }),
    dp_test = list(kind = "points", forms = c("array", "mf_points", "guessed"), cases = list(
      equal = list(method = "lots", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles", "rotations"), args = list(bandwidth = 0.05)),
      decision = list(method = "lots", spaces = c("sphere", "plane", "matrices"), args = list(bandwidth = 0.05, alpha = 0.1)),
      ball = list(method = "lots", spaces = c("plane", "matrices", "hyperboloid"), args = list(radius = 0.5)),
      symmetric = list(method = "lots", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"),
                       args = list(null = "symmetric", at = "center", radius = 0.4)),
      # the other half of each pair is the centre
      paired = list(method = "lots", spaces = c("sphere", "plane", "matrices", "triangles"), args = list(null = "paired", bandwidth = 0.05)),
      uniform = list(method = "lots", spaces = "sphere", args = list(null = "uniform")),
      more = list(method = "lots", spaces = "sphere", pair = "more", args = list(null = "uniform", neighbours = "add_remove")),
      more_signs = list(method = "lots", spaces = c("sphere", "plane", "matrices"), pair = "more",
                        args = list(null = "symmetric", at = "center", radius = 0.4, neighbours = "add_remove")),
      variance = list(method = "lots", spaces = c("plane", "matrices", "hyperboloid"), args = list(statistic = "variance", radius = 0.5)),
      distances = list(method = "lots", spaces = c("sphere", "matrices"), args = list(statistic = "variance", at = "center", bandwidth = 0.4)),
      anova = list(method = "lots", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"), args = list(statistic = "anova", radius = 0.5)),
      unit = list(method = "lots", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"),
                  args = list(unit = rep_len(1:5, NEIGHBOURS), group = c(1, 2, 2, 2, 1), radius = 0.35, bandwidth = 0.05))),
                   noisy = "^[$](value|p.value|reject)",
                   call = function(data, case, space, budget) {
                     args <- list(data, space$M, epsilon = 1, center = space$center, draws = 99, invalid = "center", ledger = budget)
                     if (is.null(case$args$null) && is.null(case$args$unit)) args$group <- c(2, 2, rep_len(1:2, NEIGHBOURS - 2))
                     if (identical(case$args$null, "paired")) {
                       args$y <- mf_points(space$center, space$M)[rep(1, NEIGHBOURS)]
                     }
                     if (!is.null(case$args$at)) case$args$at <- space$center
                     if (!is.null(case$args$statistic) && !is.null(case$args$at)) args$center <- NULL
                     do.call(dp_test, c(args, case$args))
                   }),
    test_of_trend = list(kind = "trend", forms = "frame", cases = list(
      trend = list(method = "lots", spaces = c("sphere", "matrices", "hyperboloid"), args = list(bandwidth = 0.05)),
      more = list(method = "lots", spaces = c("sphere", "matrices"), pair = "more", args = list(bandwidth = 0.05, neighbours = "add_remove")),
      unit = list(method = "lots", spaces = c("sphere", "matrices"), args = list(unit = rep_len(1:5, NEIGHBOURS), radius = 0.35))),
                         noisy = "^[$](value|p.value|reject)",
                         call = function(data, case, space, budget) {
                           do.call(dp_test, c(list(y ~ x, space$M, data = data, epsilon = 1, bounds = c(0, 1), center = space$center, draws = 1999,
                                                   invalid = "center", ledger = budget), case$args))
                         }),
    dp_test_any = list(kind = "rows", forms = c("array", "frame"), cases = list(
      votes = list(method = "votes", spaces = "plane", args = list(m = 4, alpha0 = 0.2))),
                       noisy = "^[$](value|p.value|count)",
                       call = function(data, case, space, budget) {
                         far <- function(d) if (isTRUE(sum(as.matrix(d) %*% c(1, -1, 0.3)) > 0)) 0.1 else 0.9
                         do.call(dp_test_any, c(list(data, far, epsilon = 1, ledger = budget), case$args))
                       }),
    dp_select = list(kind = "points", cases = list(
      radius = list(method = "selection", spaces = c("sphere", "plane", "matrices"), args = list())),
                     noisy = "^[$](value|which|candidate|score)",
                     call = function(data, case, space, budget) {
                       run <- function(share, epsilon) {
                         dp_mean(data, space$M, epsilon = epsilon, center = space$center, radius = share * space$radius, clipped = 0.3, invalid = "center")
                       }
                       dp_select(c(0.5, 1), run, function(r, share) -share * max(0, r$clipped$share), 1, tries = 3, ledger = budget)
                     }),
    dp_conformal = list(kind = "points", cases = list(
      point = list(method = "conformal", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"), args = list()),
      given = list(method = "conformal", spaces = c("sphere", "matrices"), args = list(radii = c(0.1, 0.3, 0.5))),
      product = list(method = "conformal_product", spaces = PRODUCTS, args = list()),
      product_curve = list(method = "conformal_product_curve", spaces = PRODUCTS, forms = c("array", "mf_points"), around = "curve", args = list()),
      each = list(method = "conformal", spaces = c("sphere", "plane"), forms = c("array", "mf_points"), around = "each", args = list()),
      curve = list(method = "conformal", spaces = c("sphere", "hyperboloid"), forms = c("array", "mf_points"), around = "curve", args = list()),
      more = list(method = "conformal", spaces = c("sphere", "plane", "matrices"), pair = "more", forms = c("array", "mf_points"), noisy = CONFORMAL_SIZED,
                  args = list(neighbours = "add_remove")),
      more_unit = list(method = "conformal", spaces = "sphere", pair = "more", forms = c("array", "mf_points"), noisy = CONFORMAL_SIZED,
                       args = list(neighbours = "add_remove", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS)))),
      unit = list(method = "conformal", spaces = c("sphere", "matrices"), forms = c("array", "mf_points"), args = list(unit = rep_len(1:5, NEIGHBOURS)))),
                   noisy = "^[$]value", free = "^[$]value", call = conformal_call),
    dp_local = list(kind = "points", cases = list(
      cap = list(method = "local", spaces = "sphere", args = list(radius = NULL)),
      laplace = list(method = "local", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"),
                     args = list(radius = NULL, per = 0.1, mechanism = "laplace")),
      vmf = list(method = "local", spaces = "sphere", args = list(mechanism = "vmf")),
      ball = list(method = "local", spaces = c("sphere", "plane", "triangles"), args = list(mechanism = "laplace")),
      wrapped = list(method = "local", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"),
                     args = list(mechanism = "wrapped", numerics = "real")),
      lattice = list(method = "local", spaces = c("sphere", "plane", "matrices", "hyperboloid", "triangles"), args = list()),
      lattice_per = list(method = "local", spaces = "plane", args = list(per = 0.1)),
      unit = list(method = "local", spaces = c("sphere", "matrices"), args = list(unit = rep_len(1:5, NEIGHBOURS)))),
                   noisy = "^[$](value|unbiased)",
                   call = function(data, case, space, budget) {
                     args <- list(data, space$M, epsilon = 1, center = space$center, radius = space$radius, invalid = "center", ledger = budget)
                     do.call(dp_local, utils::modifyList(args, case$args))
                   }),
    dp_lm = list(kind = "table", cases = lm_cases(),
                 noisy = paste0("^[$](value|scaled_coefficients|bounds[$]y|expected_error|draws|",
                                "details[$](moments|squares|medians|ridge|scales|unit|rule|top|guess|windows|left|share|first|from|back|noise|held|inflation|",
                                "scale|steps))"),
                 # public numbers follow from the released guess where there is one
                 free = "^[$](details[$]scales|draws)",
                 free_of = list(sized = "^[$](details|table|draws)"), # how many steps there are follows from the released size
                 noisy_of = list(objective = paste0("^[$](value|scaled_coefficients|bounds[$]y|expected_error|draws|",
                                                    "details[$](guess|windows|rule|left))"),
                                 huber = "^[$](value|scaled_coefficients)"),
                 # whether there are windows is released
                 outcome_of = list(objective = function(value) !is.null(value$details$rule$window),
                                   recentred = function(value) !is.null(value$details$rule$window)),
                 call = lm_call, newdata = function(space) data.frame(x = c(0.2, 2), g = c("F", "M"), y = 0)),
    dp_glm = list(kind = "table", forms = c("frame", "factors", "guessed", "lists", "environment"), cases = glm_cases(),
                  noisy = "^[$](value|scaled_coefficients)", free_of = list(sized = "^[$](details|draws)"), call = glm_call,
                  newdata = function(space) data.frame(x = c(0.2, 2), g = c("F", "M"))),
    dp_residual_scale = list(kind = "table", cases = list(
      one = list(method = "residual", spaces = "plane", forms = c("frame", "lists", "chunks", "pieces", "csv"), formula = y ~ x + g),
      two = list(method = "residual", spaces = "plane", forms = "frame", formula = cbind(y, z = 2 * y) ~ x),
      unit = list(method = "residual", spaces = "plane", forms = c("frame", "chunks"), formula = y ~ x + g, args = list(unit = rep_len(1:5, NEIGHBOURS))),
      unit_column = list(method = "residual", spaces = "plane", forms = "keyed", formula = y ~ x, args = list(unit = "who")),
      more = list(method = "residual", spaces = "plane", pair = "more", forms = c("frame", "lists"), formula = y ~ x + g,
                  args = list(neighbours = "add_remove")),
      more_unit = list(method = "residual", spaces = "plane", pair = "more", forms = "frame", formula = y ~ x, args = list(
        neighbours = "add_remove", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS)))),
      curve = list(method = "residual", kind = "curve", spaces = c("sphere", "hyperboloid"), forms = c("frame", "chunks")),
      curve_unit = list(method = "residual", kind = "curve", spaces = c("sphere", "hyperboloid"), forms = c("frame", "keyed"),
                        args = list(unit = function(n, side) rep_len(1:5, n))),
      curve_more = list(method = "residual", kind = "curve", spaces = "sphere", pair = "more", forms = c("frame", "list"),
                        args = list(neighbours = "add_remove"))),
                             noisy = "^[$](value|squares[$]sum|moments[$]xx|cuts[$]sum)", call = residual_call),
    dp_regression = list(kind = "curve", cases = regression_cases(), noisy = "^[$](value|details[$]last)", call = regression_call,
                         # the plan of a released number has one rule or another
                         outcome_of = list(sized = function(value) names(value$details$last$rule)), free_of = list(sized = "^[$](details|draws)"),
                         newdata = function(space) data.frame(x = c(0.2, 2))),
    dp_spline = list(kind = "curve", cases = spline_cases(), noisy = "^[$](value|sums[$](moment|gram|count)|covariance|penalty)", call = spline_call,
                     newdata = function(space) data.frame(x = c(0.2, 2))),
    dp_optimize = list(kind = c("points", "own"), cases = c(optimise_cases(c("sphere", "matrices"), c("array", "mf_points")), list(
      poisson = list(method = "rsgd", spaces = "sphere",
                     args = list(method = "rsgd", noise_multiplier = 30, sampling = "poisson", rate = 0.3, batch = 6, steps = 3)),
      own = list(method = "rgd", spaces = "plane", own = TRUE, args = list(method = "rgd", epsilon = 1, steps = 3)),
      # budgets of records, of units, of a private number of records
      budgets = list(method = "rgd", spaces = c("sphere", "matrices"), args = list(epsilon = 1, steps = 4, individual = 2)),
      budgets_unit = list(method = "rgd", spaces = "sphere", args = list(epsilon = 1, steps = 4, individual = 2, unit = rep_len(1:5, NEIGHBOURS))),
      budgets_own = list(method = "rgd", spaces = "plane", own = TRUE, args = list(epsilon = 1, steps = 4, restarts = 2, individual = 3)),
      budgets_more = list(method = "sized", spaces = "sphere", pair = "more", noisy = SIZED_RUN, forms = c("array", "mf_points"),
                          args = list(epsilon = 1, steps = 4, individual = 2, neighbours = "add_remove")))),
                       noisy = "^[$](value|trace[$]gradient_norm)", call = optimise_call),
    dp_resume = list(kind = c("points", "own"), cases = list(
      rgd = list(method = "rgd", spaces = "sphere", args = list(method = "rgd", epsilon = 1, steps = 40)),
      more = list(method = "sized", spaces = "sphere", pair = "more", noisy = SIZED_RUN, forms = c("array", "mf_points"),
                  args = list(method = "rsgd", epsilon = 1, steps = 40, batch = 5, neighbours = "add_remove")),
      own = list(method = "rgd", spaces = "plane", own = TRUE, args = list(method = "rgd", epsilon = 1, steps = 40))),
                     noisy = "^[$](value|trace[$]gradient_norm)", call = resume_call),
    dp_covariance = list(kind = "points", cases = c(stats::setNames(lapply(c("laplace", "wishart"), function(mechanism) {
      list(method = "covariance", spaces = c("sphere", "plane", "matrices", "triangles"), forms = c("array", "mf_points", "guessed"),
           args = list(mechanism = mechanism))
    }), c("laplace", "wishart")), list(
      shares = list(method = "gauss", spaces = c("sphere", "matrices"), forms = "shares", args = list(mechanism = "gauss", delta = 1e-3)),
      product = list(method = "covariance_product", spaces = PRODUCTS, forms = c("array", "mf_points"), args = list(mechanism = "laplace")),
      product_more = list(method = "covariance_product_more", spaces = PRODUCTS, pair = "more", forms = c("array", "mf_points"), noisy = COVARIANCE_SIZED,
                          args = list(mechanism = "laplace", neighbours = "add_remove")),
      unit = list(method = "covariance", spaces = c("sphere", "matrices"), forms = c("array", "mf_points"),
                  args = list(mechanism = "wishart", unit = rep_len(1:5, NEIGHBOURS))),
      more = list(method = "covariance", spaces = c("sphere", "matrices"), pair = "more", forms = c("array", "mf_points"),
                  args = list(mechanism = "laplace", neighbours = "add_remove"), noisy = COVARIANCE_SIZED),
      more_unit = list(method = "covariance", spaces = "sphere", pair = "more", forms = c("array", "mf_points"),
                       noisy = COVARIANCE_SIZED, args = list(
                         mechanism = "wishart", neighbours = "add_remove", unit = function(n, side) c(rep_len(1:5, NEIGHBOURS), rep(6, n - NEIGHBOURS)))))),
    noisy = "^[$](value|moment)",
    call = function(data, case, space, budget) {
      # seen from here, opposite records at the edge have unlike products
      v <- mf_from_coords(space$M, space$center, c(0.7 * space$radius, numeric(mf_facts(space$M)$dimension - 1)))
      do.call(dp_covariance, c(list(data, space$M, epsilon = 1, center = space$center, radius = space$radius,
                                    at = mf_exp(space$M, space$center, v), invalid = "center", ledger = budget), case$args))
    }),
    dp_pga = list(kind = "points", cases = list(
      mean = list(method = "pga", spaces = c("sphere", "plane", "matrices", "triangles"), forms = c("array", "mf_points", "guessed"),
                  args = list(mean_mechanism = "wrapped", mechanism = "wishart")),
      at = list(method = "pga", spaces = c("sphere", "plane", "matrices", "hyperboloid"), forms = c("array", "mf_points"),
                args = list(at = "center", mechanism = "laplace")),
      center = list(method = "pga", spaces = c("sphere", "plane", "matrices", "triangles", "hyperboloid"), forms = c("array", "mf_points", "guessed"),
                    args = list(from = "center", mechanism = "laplace")),
      center_unit = list(method = "pga", spaces = c("sphere", "matrices"), forms = c("array", "mf_points"),
                         args = list(from = "center", mechanism = "wishart", unit = rep_len(1:5, NEIGHBOURS))),
      center_more = list(method = "pga", spaces = c("sphere", "matrices"), pair = "more", forms = c("array", "mf_points"),
                         args = list(from = "center", mechanism = "wishart", neighbours = "add_remove"),
                         noisy = "^[$](value|sd|shares|components|expected_error|size|draws)"),
      product = list(method = "pga_product", spaces = PRODUCTS, forms = c("array", "mf_points"),
                     args = list(mean_mechanism = "wrapped", mechanism = "wishart")),
      drawn = list(method = "pga", spaces = c("sphere", "plane"), forms = c("array", "mf_points"), args = list(at = "center", mechanism = "bingham")),
      shares = list(method = "pga", spaces = c("sphere", "matrices"), forms = "shares", args = list(delta = 1e-3)),
      shares_at = list(method = "pga", spaces = c("sphere", "plane"), forms = "shares", args = list(at = "center", delta = 1e-3)),
      unit = list(method = "pga", spaces = c("sphere", "matrices"), forms = c("array", "mf_points"),
                  args = list(mean_mechanism = "wrapped", mechanism = "wishart", unit = rep_len(1:5, NEIGHBOURS))),
      more = list(method = "pga", spaces = c("sphere", "matrices"), pair = "more", forms = c("array", "mf_points"),
                  args = list(mean_mechanism = "wrapped", mechanism = "laplace", neighbours = "add_remove"),
                  noisy = "^[$](value|mean_release|sd|shares|components|length|expected_error|size|draws)")),
                  # whether a mean of a released number is beyond its ball; scales and lengths follow from it
                  outcome_of = list(pga = function(value) names(value$mean_release)),
                  noisy = "^[$](value|mean_release[$](value|released|noise_error|errors|post_processed)|sd|shares|components|length|expected_error)",
                  call = function(data, case, space, budget) {
                    if (!is.null(case$args$at)) case$args$at <- space$center
                    do.call(dp_pga, c(list(data, space$M, epsilon = 1, center = space$center, radius = space$radius, invalid = "center", ledger = budget),
                                      case$args))
                  }),
    dp_pca = list(kind = "rows", cases = c(optimise_cases("plane", c("array", "frame"), NULL), list(
                    rate = list(method = "rsgd", spaces = "plane", pair = "more",
                                args = list(method = "rsgd", epsilon = 1, steps = 3, sampling = "poisson", rate = 0.3, batch = 5)),
                    gauss = direct_pca("gauss"), laplace = direct_pca("laplace"), wishart = direct_pca("wishart"),
                    bingham = direct_pca("bingham"), shares = utils::modifyList(direct_pca("gauss"), list(forms = "shares"))), direct_pca_beside()),
                   noisy = "^[$](value|loadings|trace[$]gradient_norm)",
                  free_of = list(sized = "^[$]trace"), # how many steps there are follows from the released size
                  call = function(data, case, space, budget) {
                    args <- c(list(data, q = 1, delta = if (is.null(case$look)) 1e-3 else 0, bound = 2, ledger = budget), case$args)
                    if (is.null(case$look)) return(do.call(dp_pca, args))
                    with_internals(do.call(dp_pca, args), LOOK_GAIN = -Inf)
                  }),
    # sums without noise are for a trusted curator: of them only what else is said must be the same
    site_answer = list(kind = "points", cases = site_cases(), noisy = "", free = "", forms = c("array", "mf_points"), call = site_call,
                       undrawn = "a site's noise is a share of what the curator's call pays for")
  )
}

# functions that read records privately and aren't in the table by their own name: `sites()` is a form of input
NEIGHBOURS_ELSEWHERE <- character()

# exported functions that take no records
TAKE_NO_RECORDS <- c("dp_accountants", "dp_bounds", "dp_bounds_plan", "dp_calibrate", "dp_delta", "dp_epsilon", "dp_ledger", "dp_lm_plan", "dp_mean_plan",
                     "dp_region_plan", "dp_regression_plan", "dp_spline_plan", "dp_test_plan", "dp_tradeoff", "dp_uncertainty")

# ---- what leaves a call ---------------------------------------------------------------------------------------------------------

text_of <- function(x) paste(gsub("[[:space:]]+", " ", x, useBytes = TRUE), collapse = " ")

# every entry of an object: path -> list(what kind of thing, value)
leaves_of <- function(x, path = "", seen = 0) {
  if (seen > 30) return(stats::setNames(list(list(kind = "too deep", value = NULL)), path))
  extra <- attributes(x)
  extra <- extra[setdiff(names(extra), c("names", "row.names", "srcref"))]
  out <- list()
  if (is.environment(x)) {
    out[[path]] <- list(kind = "environment", value = environmentName(x))
    return(out)
  }
  if (is.function(x)) {
    out[[path]] <- list(kind = "function", value = deparse(x))
    return(c(out, if (!is.primitive(x)) leaves_of(environment(x), paste0(path, "@environment"), seen + 1)))
  }
  if (is.list(x)) {
    keys <- names(x)
    out[[path]] <- list(kind = c("list", length(x)), value = keys)
    for (i in seq_along(x)) {
      label <- if (!is.null(keys) && nzchar(keys[i])) paste0("$", keys[i]) else sprintf("[[%d]]", i)
      out <- c(out, leaves_of(.subset2(x, i), paste0(path, label), seen + 1))
    }
  } else if (is.language(x)) {
    out[[path]] <- list(kind = c("language", class(x)), value = deparse(x))
  } else {
    out[[path]] <- list(kind = c(typeof(x), length(x)), value = list(as.vector(unclass(x)), names(x)))
  }
  for (name in names(extra)) out <- c(out, leaves_of(extra[[name]], paste0(path, "@", name), seen + 1))
  out
}

# everything that a call sends out: list(outcome, conditions, output, ticks, files, ledger, state, object)
observe <- function(expr, seconds = 60) {
  forget_ticks()
  seen <- new.env()
  seen$conditions <- character()
  # ticks that differ from the one before, as done, of
  ticks <- matrix(NA_real_, 2, 1e5)
  count <- 0
  tick <- function(done, of) {
    if (count == 0 || count < ncol(ticks) && !(ticks[1, count] == done && ticks[2, count] == of)) {
      count <<- count + 1
      ticks[, count] <<- c(done, of)
    }
    invisible()
  }
  note <- function(e) {
    seen$conditions[length(seen$conditions) + 1] <- paste0(paste(class(e), collapse = "/"), ": ", text_of(conditionMessage(e)))
    if (inherits(e, "warning")) invokeRestart("muffleWarning")
    if (inherits(e, "message")) invokeRestart("muffleMessage")
  }
  progress <- internal("progress")
  wait <- progress$wait
  progress$wait <- 0 # no tick is left out
  on.exit(progress$wait <- wait, add = TRUE)
  before <- options()
  ran <- NULL
  output <- utils::capture.output({
    setTimeLimit(elapsed = seconds, transient = TRUE)
    on.exit(setTimeLimit(), add = TRUE)
    ran <- with_internals(
      tryCatch(withCallingHandlers(list(value = force(expr)), warning = note, message = note), error = function(e) list(error = e)),
      progress_show = tick, progress_hide = function(done, of) invisible()
    )
    setTimeLimit()
  })
  after <- options()
  changed <- names(after)[!vapply(names(after), function(name) identical(after[[name]], before[[name]]), NA)]
  e <- ran$error
  list(
    outcome = if (is.null(e)) "a value" else
      paste0(paste(class(e), collapse = "/"), ": ", text_of(conditionMessage(e)), " | ", text_of(deparse(conditionCall(e))),
             " | ", paste(names(unclass(e)), collapse = " ")),
    conditions = seen$conditions, output = text_of(output), ticks = sprintf("%g of %g", ticks[1, seq_len(count)], ticks[2, seq_len(count)]), options = changed,
    value = ran$value, error = e
  )
}

# numbers in a text, masked
masked <- function(x) {
  x <- gsub("-?[0-9]*[.]?[0-9]+(e[-+]?[0-9]+)?", "#", x, useBytes = TRUE)
  x <- gsub("#[+]?#i", "#", x, useBytes = TRUE)
  gsub("[[:space:]]+", " ", gsub("-?(NaN|Inf|NA)", "#", x, useBytes = TRUE), useBytes = TRUE)
}

# what a release says of itself: its methods' texts
said_of <- function(r, newdata = NULL) {
  show <- function(expr) {
    text <- tryCatch(suppressMessages(suppressWarnings(utils::capture.output(expr))), error = function(e) paste("error:", class(e)[1], conditionMessage(e)))
    masked(text_of(text))
  }
  c(print = show(print(r)), format = show(print(format(r))), summary = show(print(summary(r))), explain = show(explain(r)),
    guarantee = show(print(guarantee(r))), tidy = show(print(tidy(r))), glance = show(print(glance(r))), coef = show(print(stats::coef(r))),
    confint = show(print(stats::confint(r))), predict = if (!is.null(newdata)) show(print(stats::predict(r, newdata))),
    uncertainty = show(print(dp_uncertainty(r, draws = 20))))
}

# entries of `leaves` whose numbers are noise keep their kind and whether they are numbers at all
blurred <- function(leaves, noisy, free) {
  for (path in grep(noisy, names(leaves), value = TRUE)) {
    v <- leaves[[path]]$value
    if (is.list(v)) leaves[[path]]$value <- list(if (is.numeric(v[[1]]) || is.complex(v[[1]])) all(is.finite(v[[1]])) else typeof(v[[1]]), v[[2]])
    if (!is.null(free) && grepl(free, path)) leaves[[path]] <- list(kind = leaves[[path]]$kind[1], value = NULL)
  }
  leaves
}

# x with the noisy entries of y
with_noise_of <- function(x, y, noisy, path = "") {
  if (nzchar(path) && grepl(noisy, path)) return(y)
  if (is.list(x) && !is.null(names(x))) {
    for (name in intersect(names(x), names(y))) if (is.list(y)) x[name] <- list(with_noise_of(x[[name]], y[[name]], noisy, paste0(path, "$", name)))
  }
  x
}

# the texts of two observations that differ: character vector
differences <- function(a, b, noisy, free = NULL) {
  out <- character()
  tell <- function(what, x, y) {
    short <- function(v) {
      v <- paste(format(v), collapse = "; ")
      if (!length(v) || !nzchar(v)) "(nothing)" else if (nchar(v, "bytes") > 200) paste0(substr(iconv(v, "", "UTF-8", sub = "byte"), 1, 200), "...") else v
    }
    out[[length(out) + 1]] <<- sprintf("%s: %s || %s", what, short(x), short(y))
  }
  for (part in c("outcome", "conditions", "output", "ticks", "options", "files", "ledger", "said", "state")) {
    if (!identical(a[[part]], b[[part]])) {
      x <- a[[part]]
      y <- b[[part]]
      if (!is.null(names(x)) && length(x) == length(y)) {
        at <- which(!mapply(identical, x, y))
        x <- x[at]
        y <- y[at]
      }
      tell(part, x, y)
    }
  }
  if (!is.null(a$value) && !is.null(b$value)) {
    x <- blurred(leaves_of(a$value), noisy, free)
    y <- blurred(leaves_of(b$value), noisy, free)
    for (path in union(names(x), names(y))) if (!identical(x[[path]], y[[path]])) tell(paste("entry", path), unlist(x[[path]]), unlist(y[[path]]))
  }
  out
}
