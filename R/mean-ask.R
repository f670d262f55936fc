# What a private mean is asked, and of which records.

# list(M, data): a formula's variables may stand behind it, before M or, where M is named, alone
asked_variables <- function(x, M, data, ...) {
  if (inherits(x, "formula") && is.null(data)) {
    behind <- c(if (!is.null(M)) list(M), list(...))
    variables <- vapply(behind, function(v) is.list(v) && !inherits(v, "riemdp_manifold"), NA)
    if (sum(variables) == 1 && length(behind) <= 2 && !any(nzchar(...names()))) {
      return(list(M = if (!all(variables)) behind[[which(!variables)]], data = behind[[which(variables)]]))
    }
  }
  check_dots_empty(...)
  list(M = M, data = data)
}

# those of a formula's data, or of the records, which lose their column then
mean_units <- function(units, unit, x, least) {
  if (is.null(units) && !is.null(unit)) units <- read_units(unit, x, least = 0)
  if (least) check_unit_count(units)
  units
}

check_mean_units <- function(units, n, timing, private_n = FALSE) {
  if (!private_n) check_unit_length(units, n)
  if (length(units$of) != n) abort_riemdp("shape", "`unit` must have an element for each record.")
  if (identical(timing, "constant")) {
    abort_riemdp("unsupported", paste("`timing = \"constant\"` isn't available with `unit`: the time tells how many",
                                      "records units have."))
  }
}

# list(x, units, n): records, or the units that they belong to, and how many count
records_or_units <- function(M, x, unit, replace) {
  given <- with_units(unit, x, "x", least = replace)
  units <- given$units
  x <- if (is_chunks(given$x)) given$x else plain_numbers(given$x)
  n <- record_count(M, x, least = replace && is.null(units))
  if (!is.null(units)) check_mean_units(units, n, "ordinary", !replace)
  list(x = x, units = units, n = units$count %||% n)
}

# What is asked for, checked: public quantities only, so the same ones are checked once. (In a simulation what was
# released in another passes for public.)
mean_ask <- function(M, n, epsilon, center, radius, delta, mechanism, sigma, calibration, timing, numerics, max_trials,
                     options, clipped = NULL, variance = NULL, post = FALSE) {
  asked <- list(M, n, epsilon, center, radius, delta, mechanism, sigma, calibration, timing, numerics, max_trials,
                options, clipped, variance, post)
  latest("plan asked for", c(asked, in_simulation()), function() do.call(checked_mean, asked, quote = TRUE))
}

checked_mean <- function(M, n, epsilon, center, radius, delta, mechanism, sigma, calibration, timing, numerics,
                         max_trials, options, clipped, variance, post) {
  if (is.null(epsilon) && is.null(sigma) && !(is.list(options) && !is.null(options[["mu"]]))) {
    abort_no_default("epsilon")
  }
  if (!is.null(epsilon) && !is.null(sigma)) {
    abort_riemdp("argument", "give one of `epsilon` and `sigma`: a scale set by hand implies its own epsilon.")
  }
  mechanism <- check_choice(mechanism, "mechanism", c("auto", names(mean_mechanisms())))
  given <- parts_ask(M, n, epsilon, radius, mechanism, options)
  epsilon <- given$epsilon
  mechanism <- given$mechanism
  options <- given$options
  if (!is.null(sigma) && mechanism == "auto") {
    abort_riemdp("argument", "`sigma` needs a `mechanism` by name: it is the scale of that mechanism's law.")
  }
  if (mechanism != "tangent" || !is.null(variance)) check_proven(M)
  if (is.na(n)) check_options(options, mechanism, size_options(mechanism)) else check_options(options, mechanism)
  center <- public_point(M, center)
  ask <- list(
    n = n, epsilon = if (!is.null(epsilon)) check_number(epsilon, "epsilon", positive = TRUE),
    delta = check_delta(delta), sigma = if (!is.null(sigma)) check_number(sigma, "sigma", positive = TRUE),
    center = center, mechanism = mechanism,
    ball = if (by_parts(radius)) product_ball(M, radius, center) else
      check_radius(M, public_value(radius, "radius"), center),
    calibration = check_choice(calibration, "calibration", c("proven", "paper")),
    timing = check_choice(timing, "timing", c("ordinary", "constant")),
    numerics = check_choice(numerics, "numerics", c("auto", "lattice", "real")),
    max_trials = if (!is.null(max_trials)) check_count(max_trials, "max_trials", most = 1e9), options = options,
    post = check_flag(post, "post")
  )
  share_epsilon(ask, ask$epsilon, clipped, variance)
}

# `ask` with where records are and what one of them is; `said`: what is assumed of those in memory
ask_where <- function(ask, x, units, private_n, said) {
  in_chunks <- is_chunks(x)
  ask$sites <- in_chunks && at_sites(x)
  if (ask$sites && !is.null(ask$clipped)) {
    abort_riemdp("unsupported", "`clipped` needs a count: sites answer with sums, and with no counts.")
  }
  ask$summed <- in_chunks && gives_sums(x)
  if (ask$summed) check_summed_mean(ask, x, units, private_n)
  ask$chunked <- in_chunks && (private_n || is.null(units)) # units' points are in memory
  if (in_chunks) ask <- c(ask, noise_of_sites(x))
  if (!is.null(ask$variance) && !is.null(ask$shares)) {
    abort_riemdp("unsupported", "`variance` isn't available from sites that answer with noisy sums only.")
  }
  ask$assumptions <- if (in_chunks) chunk_assumptions(x) else said
  ask$unit <- unit_name(units, x)
  ask
}

# what a mean of sums from a database has no part in; `x`: the chunks
check_summed_mean <- function(ask, x, units, private_n) {
  columns <- length(x$pieces[[1]]$columns)
  if (!(inherits(ask$manifold, "riemdp_euclidean") && mf_facts(ask$manifold)$dimension == columns)) {
    abort_riemdp("argument", sprintf("`M` must be euclidean(%d): a database adds up that many columns.", columns))
  }
  further <- c(unit = !is.null(units), neighbours = private_n, clipped = !is.null(ask$clipped),
               variance = !is.null(ask$variance), reduce = !is.null(ask$reduce))
  if (any(further)) {
    abort_riemdp("unsupported", sprintf("`%s` needs more of the records than the sums that a database gives.",
                                        names(further)[further][1]))
  }
  if (ask$invalid == "error") {
    abort_riemdp("argument", paste("a database that adds records up looks for no bad ones: say invalid = \"center\",",
                                   "by which they count as the centre."))
  }
  why <- unsummed_center(as.vector(ask$center))
  if (!is.null(why)) abort_riemdp("unsupported", why)
}

# names that the mechanism knows
check_options <- function(options, mechanism, known = if (mechanism != "auto") mean_mechanisms()[[mechanism]]$options) {
  named <- is.list(options) && !is.object(options) &&
    (!length(options) || (!is.null(names(options)) && all(nzchar(names(options)))))
  if (!named) abort_riemdp("argument", "`options` must be a list with names.")
  unknown <- setdiff(names(options), known)
  if (length(unknown)) {
    abort_riemdp("argument", sprintf("mechanism = \"%s\" has no option `%s`.", mechanism, unknown[1]))
  }
}

# the curator's check, which names the first bad record
check_records <- function(M, x) {
  # sites that answer with noisy sums only do their own checking
  if (!is_chunks(x)) mf_check(M, x) else if (is.null(x$shares)) chunk_check(M, x, private = TRUE)
}
