# The mechanisms of dp_mean(): one list each, in R/mechanism-<name>.R. What it must hold:
#   name          as in `mechanism =`
#   auto          TRUE where mechanism = "auto" may choose it: proven, exact, and with the Frechet mean as its target
#   unsupported   function(M, ask): NULL, or one sentence on why it can't be served here
#   plan          function(M, ask): all that is decided before records are touched, a list with
#                   scale, sensitivity, theorem, solver_error, acceptance (of the sampler, NA where unknown),
#                   guarantee: list(epsilon, delta, reasons, sampler, and mu, mu_slack where known); reasons, where
#                   there are any,
#                 make the label "none"; promise_of() makes the release's guarantee of it
#                 and what `release` needs besides
#   error         function(M, plan, ask): the expected error, a number or NA; asked for only where it is needed
#   release function(M, x, plan, ask): the released point, in the plain shape of one record; or, where later stages
#   depend on
#                 earlier releases, a `staged_value`: a list with `value` and the entries of the plan that they settled
#   words         function(r): sentences for explain() on the noise and why it protects
#   region function(r, level): list(radius, basis), how far the release may be from the non-private estimate; from the
#                 release and public quantities (NULL where no bound is known)
#   needs_delta   TRUE where delta = 0 can't be served
#   chunks        TRUE where records may be in chunks: `release` gives its C code mean_records()
#   counts        TRUE where `release` counts records, which sites don't answer
#   shares        TRUE where sites may add shares of the noise
#   lattice       function(M): TRUE where numerics = "lattice" is served; on_lattice() makes it
#   lattice_only  TRUE where numerics = "real" is not served at all
#   options       names of arguments of its own in `options =`
#   on_ball       TRUE where the law is one on the ball, whose constant takes half of epsilon
#   by_center     function(M): TRUE where a plan depends on more of the centre than isometries keep
# `ask` holds public quantities only: n, epsilon, delta, center, ball (check_radius()), calibration, sigma (NULL, or a
# scale set by hand), timing, numerics ("lattice" or "real" where a plan is made), max_trials, options, chunked (TRUE
# where records are in chunks), sites (TRUE where they are at sites), summed (TRUE where a database
# adds them up), shares (how sites share the noise, or NULL) and
# any_center (TRUE where a plan is for any centre). `plan` sees nothing else, and what it raises depends on nothing
# else.

mean_mechanisms <- function() registered("mean mechanism")

has_lattice <- function(M, name) {
  served <- mean_mechanisms()[[name]]$lattice
  !is.null(served) && served(M)
}

# those whose noise needs a delta
GAUSSIAN_MECHANISMS <- c("gaussian", "wrapped_gaussian", "heat")

# those whose noise, on a lattice of a flat space, is added to one sum of coordinates
SUMMED_MECHANISMS <- c("wrapped", "wrapped_staircase", "wrapped_gaussian", "gaussian", "tangent")

# more records than are ever held
SIZE_MOST <- 2^31

# Numbers that every proven mechanism for the Frechet mean starts from, among them what computing it adds to its
# sensitivity; or a classed error where no bound of the rounding errors is known that would leave something of the mean.
# wrapped: its coordinates at the centre move, else it moves itself.
mean_bounds <- function(M, ask, wrapped) {
  sensitivity <- if (is.null(ask$size)) mean_sensitivity_at(ask$n, ask$ball, ask$calibration) else
    sized_sensitivity(ask, wrapped)
  steps <- mean_steps(M, ask$ball, ask$n)
  if (steps$model == "none") {
    extra <- solver_error(ask$ball, SOLVER_TOLERANCE, wrapped)
  } else {
    if (!is.null(steps$why)) abort_rounding(steps$why)
    extra <- outwards(2 * if (wrapped) steps$error else steps$distance)
    # sums of records that may be more than they are divided by
    if (identical(ask$size$form, "sum")) extra <- outwards(extra * max(1, SIZE_MOST / ask$n))
    # a mean that is stretched, and its errors with it; the last for what exp does to lengths in the ball
    if (identical(ask$size$form, "scaled")) {
      far <- ask$ball$radius * sqrt(max(0, ask$ball$k_max, -ask$ball$k_min))
      lengths <- if (wrapped) 1 else sinhc_r(far) * padded_reach(ask$ball) / ask$ball$radius
      extra <- outwards((STRETCH_MOST + 1) * extra * lengths)
    }
    extra <- touched_errors(ask) * extra
    if (is.null(ask$size) || ask$n == 1) check_rounding(extra, sensitivity)
  }
  list(sensitivity = as.numeric(sensitivity), theorem = attr(sensitivity, "theorem"), solver_error = extra,
       total = as.numeric(sensitivity) + extra, numbers = steps$numbers)
}

# whether the plan is about both groups that a replaced record touches; else it is about a record more or less in one
two_touched <- function(ask) isTRUE(ask$size$law %in% c("sum", "normal"))

# How often an error of the mean enters its sensitivity. Of two groups of different sizes each has its half of the
# scale, and a half doesn't grow by one of two errors (proofs/mean-sensitivity.md, section 15).
touched_errors <- function(ask) if (two_touched(ask)) 2 else 1

sized_sensitivity <- function(ask, wrapped) {
  s <- ask$size
  if (two_touched(ask)) return(moved_sensitivity(ask$n, ask$ball, s$form, s$law == "normal", wrapped))
  padded_sensitivity(ask$n, ask$ball, s$form, wrapped)
}

# why a call with timing = "constant" can't keep that promise, or NULL: where there is no mean by public steps, or a
# record's logarithm takes many times as long as another's
no_constant_time <- function(M, ask, name) {
  if (ask$timing != "constant") return(NULL)
  if (isTRUE(ask$chunked)) {
    "`timing = \"constant\"` isn't available for records in chunks: reading takes its own time."
  } else if (mean_steps(M, ask$ball, ask$n)$model == "none") {
    sprintf(paste("`timing = \"constant\"` needs a mean that is found in a fixed number of steps, and there is none on",
                  "%s."), label_manifold(M))
  } else if (any(vapply(part_leaves(M), function(leaf) inherits(leaf$M, "riemdp_stiefel"), NA))) {
    "`timing = \"constant\"` isn't available on Stiefel manifolds: a logarithm there takes longer for farther records."
  }
}

# why a plan for whatever centre can't be had
no_center <- function(M, ask, mechanism) {
  if (isTRUE(ask$any_center) && !is.null(mechanism$by_center) && mechanism$by_center(M)) {
    sprintf("what mechanism = \"%s\" costs depends on the centre: give `center`.", mechanism$name)
  }
}

abort_rounding <- function(why) {
  abort_riemdp("rounding", paste0("doubles can't promise the mean here: ", why, "."))
}

# what rounding adds may not be more than what is protected
check_rounding <- function(extra, sensitivity) {
  if (!(extra <= sensitivity)) {
    abort_rounding(sprintf(
      paste("the proven bound of its rounding errors adds %.3g to the sensitivity %.3g. A smaller `radius` or fewer",
            "records would do"),
      extra, sensitivity
    ))
  }
}

# The scale for which `loss * total / scale` is epsilon, or with a scale set by hand the epsilon that it implies
pure_scale <- function(ask, total, loss = 1) {
  if (is.null(ask$sigma)) {
    list(scale = outwards(loss * total / ask$epsilon), epsilon = ask$epsilon)
  } else {
    list(scale = ask$sigma, epsilon = outwards(loss * total / ask$sigma))
  }
}

paper_reason <- function(ask) {
  if (ask$calibration == "paper") "a paper's calibration, kept for comparison"
}

MEAN_PARTS <- c(mechanism = "text", scale = "scale", sensitivity = "number", theorem = "text",
                solver_error = "number", acceptance = "number")

# of the release, and of the noise alone
MEAN_ERRORS <- c(expected_error = "number", noise_error = "number")

# why a mechanism can't be had, from public facts, or NULL
plan_refused <- function(M, ask, name) {
  mechanism <- mean_mechanisms()[[name]]
  if (!is.null(ask$ball$radii) && name != "parts") {
    sprintf("mechanism = \"%s\" has one ball: several radii are for mechanism = \"parts\".", name)
  } else if (ask$numerics == "lattice" && !has_lattice(M, name)) {
    sprintf(paste("mechanism = \"%s\" has no lattice mode on %s: use mechanism = \"wrapped\" or \"wrapped_gaussian\",",
                  "or numerics = \"real\"."), name, label_manifold(M))
  } else if (!is.null(ask$shares) && !isTRUE(mechanism$shares)) {
    "sites that add noise shares need mechanism = \"tangent\", which adds noise to one sum."
  } else if (isTRUE(ask$sites) && isTRUE(mechanism$counts)) {
    sprintf("mechanism = \"%s\" counts records near its centre: sites answer with sums, and with no counts.", name)
  } else if (isTRUE(ask$summed) && !(ask$numerics == "lattice" && name %in% SUMMED_MECHANISMS)) {
    sprintf("of records that a database adds up, numerics = \"lattice\" serves %s.", choice_words(SUMMED_MECHANISMS))
  } else if (isTRUE(ask$chunked) && !isTRUE(mechanism$chunks)) {
    sprintf("mechanism = \"%s\" isn't available for records in chunks.", name)
  } else {
    c(mechanism$unsupported(M, ask), no_constant_time(M, ask, name), no_center(M, ask, mechanism))[1]
  }
}

PUBLIC_BALL <- "center and radius are public; the number of records is public"

# plan of one mechanism, by name; classed errors from public facts
plan_one <- function(M, ask, name, error = TRUE) {
  if (ask$numerics == "auto") return(plan_numerics(M, ask, name, error))
  mechanism <- mean_mechanisms()[[name]]
  why <- plan_refused(M, ask, name)
  if (!is.null(why)) abort_riemdp("unsupported", why)
  if (ask$delta == 0 && isTRUE(mechanism$needs_delta)) {
    abort_riemdp("unsupported", sprintf("mechanism = \"%s\" needs `delta` > 0.", name))
  }
  plan <- mechanism$plan(M, ask)
  plan$mechanism <- name
  plan$numerics <- ask$numerics
  plan$guarantee$reasons <- c(plan$guarantee$reasons, unproven_mean(M, plan))
  assumptions <- c(PUBLIC_BALL, steps_assumptions(M, plan))
  plan$guarantee <- promise_of(plan$guarantee, assumptions, trusted = M,
                               numerics = if (ask$numerics == "lattice") "lattice" else "real-valued")
  if (error) {
    if (is.null(plan$expected_error)) plan$expected_error <- mechanism$error(M, plan, ask) + missing_error(ask)
    plan <- plan_shrunk(M, plan, ask)
  }
  typed_plan(plan, c(MEAN_PARTS, if (error) MEAN_ERRORS))
}

# numerics = "auto": on a lattice where that can be had, from public numbers, else with doubles
plan_numerics <- function(M, ask, name, error) {
  with <- function(numerics) plan_one(M, utils::modifyList(ask, list(numerics = numerics)), name, error)
  if (!has_lattice(M, name)) return(with("real"))
  if (isTRUE(mean_mechanisms()[[name]]$lattice_only)) with("lattice") else lattice_or_real(with)
}

# what `with` makes of "lattice", or of "real" where that is refused
lattice_or_real <- function(with) {
  tryCatch(with("lattice"), riemdp_error = function(e) {
    if (inherits(e, "riemdp_error_contract")) stop(e)
    with("real")
  })
}

# What a plan's mechanism does with the records: list(value, plan). `ask` as it was when the plan was made.
release_plan <- function(M, x, plan, ask) {
  ask$numerics <- plan$numerics
  settled(M, mean_mechanisms()[[plan$mechanism]]$release(M, x, plan, ask), plan, ask)
}

# A plan's expected error after the draw is moved towards the centre, and that of the noise alone. Laws that were set by
# hand are studied as they are, and users' functions aren't asked about draws.
plan_shrunk <- function(M, plan, ask) {
  plan$noise_error <- plan$expected_error
  law <- mean_mechanisms()[[plan$mechanism]]$law
  if (!isTRUE(ask$post) || !is.null(ask$sigma) || ask$calibration == "paper" || is.null(law) ||
      of_user(M)) {
    return(plan)
  }
  law <- law(plan)
  law$even <- isTRUE(law$truncated) && identical(plan$numerics, "lattice")
  plan$shrinkage <- shrinkage(M, law, ask$ball$radius, plan$noise_error, ask$center, largest = TRUE)
  if (!is.null(plan$shrinkage)) plan$expected_error <- moved_error(M, plan, ask) + missing_error(ask)
  plan
}

# The largest error over means in the ball. Flat triangles stand for a compact space's: where noise fills that, they
# promise up to 4 % too little, and less than what no mechanism can go below (proofs/shrinkage.md, section 3)
moved_error <- function(M, plan, ask) {
  largest <- max(plan$shrinkage$errors)
  filled <- plan$shrinkage$law$k == 0 && is.finite(mf_facts(M)$injectivity_radius) && largest > 0.9 * ask$ball$radius
  if (!filled || isTRUE(ask$private_n)) return(largest)
  max(largest, bound_of_promise(M, plan$guarantee, ask$ball, ask$n, plan$target), na.rm = TRUE)
}

# Where a size is released: what points that stand for missing records add to the error on average, for a mean half-way
# from the centre to the edge (proofs/mean-sensitivity.md, section 14)
missing_error <- function(ask) {
  s <- ask$size
  if (is.null(s)) return(0)
  if (!length(s$missing)) abort_contract("nothing is known of how many points are missing")
  min(s$missing / ask$n, 1) * s$reach / 2
}

# list(value, plan) of what a mechanism released: where it had stages, with what the later ones settled
settled <- function(M, value, plan, ask) {
  if (inherits(value, "riemdp_staged")) {
    plan[names(value)] <- unclass(value)
    value <- value$value
    # the budget is spent: what can't be told is no reason to keep the release back
    plan$expected_error <- tryCatch(mean_mechanisms()[[plan$mechanism]]$error(M, plan, ask),
                                    riemdp_error = function(e) NA_real_)
    last <- plan$last
    if (is.null(last)) return(list(value = value, plan = plan))
    last$expected_error <- plan$expected_error
    last <- plan_shrunk(M, last, last$ask)
    plan$expected_error <- last$expected_error
    plan$noise_error <- last$noise_error
    plan$shrinkage <- last$shrinkage
  }
  list(value = value, plan = plan)
}

# Every mechanism that can serve the ask: list of plans, with `why` for those that can't
plan_all <- function(M, ask, names = names(mean_mechanisms())) {
  out <- lapply(names, function(name) {
    tryCatch(plan_one(M, ask, name), riemdp_error = function(e) {
      if (inherits(e, "riemdp_error_contract")) stop(e) # a fault of the package is no reason to choose another
      list(mechanism = name, why = conditionMessage(e), kind = sub("^riemdp_error_", "", class(e)[1]))
    })
  })
  stats::setNames(out, names)
}

# A law on a lattice comes first, but not where one with doubles errs less than this many times: some space is left to
# laws on the ball that spend half of epsilon on their sum, which err twice as much
LATTICE_DEAR <- 2.1

# mechanism = "auto": the smallest expected error among proven ones; with numerics = "auto" among those on a lattice,
# where there are any that aren't dear, since these keep their promise to the last digit. Simulated errors carry some
# noise, so a later one has to be clearly better than an earlier one. `plans`: what plan_all() has made of the same ask.
plan_auto <- function(M, ask, plans = NULL) {
  candidates <- names(Filter(function(m) isTRUE(m$auto), mean_mechanisms()))
  planned <- function(names) {
    plans <<- c(plans, plan_all(M, ask, setdiff(names, names(plans))))
    worth_waiting(plans[names])
  }
  exact <- if (ask$numerics == "auto") {
    cheap_lattice(planned(Filter(function(name) has_lattice(M, name), candidates)))
  }
  plans <- if (length(exact)) exact else planned(candidates)
  able <- Filter(function(p) is.null(p$why), plans)
  unable <- Filter(function(p) !is.null(p$why), plans)
  if (length(able) == 0) abort_riemdp("unsupported", unable[[1]]$why)
  best <- 1
  errors <- planned_errors(able)
  for (i in seq_along(able)[-1]) {
    if (errors[i] < errors[best] / 1.01) best <- i
  }
  plan <- able[[best]]
  kinds <- vapply(unable, function(p) p$kind, character(1))
  plan$chosen <- paste0(
    "smallest expected error", if (length(exact)) " on a lattice", ": ",
    paste(sprintf("%s %.4g", names(able), errors), collapse = ", "),
    if (length(unable)) paste0("; not available here: ",
                               paste(sprintf("%s (%s)", names(unable), kinds), collapse = ", "))
  )
  plan
}

# Inf where there is no plan, or no number
planned_errors <- function(plans) {
  vapply(plans, function(p) if (is.null(p$why) && !is.na(p$expected_error)) p$expected_error else Inf, 0)
}

# Laws whose trials may take long for some records, though no more than a second, are left alone unless all others err
# more than this many times as much
SLOW_WORTH <- 4
worth_waiting <- function(plans) {
  slow <- vapply(plans, function(p) isTRUE(p$slow), NA)
  error <- planned_errors(plans)
  worth <- error * SLOW_WORTH < min(error[!slow], Inf)
  for (name in names(plans)[slow & !worth]) {
    plans[[name]] <- list(mechanism = name, numerics = plans[[name]]$numerics, kind = "slow",
                          why = sprintf("mechanism = \"%s\" would take long here for some records.", name))
  }
  plans
}

# those of the plans that are on a lattice; none where one of the others errs far less than all of them
cheap_lattice <- function(plans) {
  exact <- vapply(plans, function(p) identical(p$numerics, "lattice"), NA)
  error <- planned_errors(plans)
  if (min(error[!exact], Inf) * LATTICE_DEAR < min(error[exact], Inf)) list() else plans[exact]
}

# Everything that is decided before records are touched: of public facts alone, so the same facts have the plan that was
# made for them. What is simulated promises nothing, and has a plan of its own.
plan_mean <- function(M, ask, plans = NULL) {
  make <- function() made_plan(M, ask, plans)
  if (!is.null(plans) || holds_code(M) || holds_code(ask)) return(make())
  remembered("plan", list(M, ask, in_simulation()), make)
}

made_plan <- function(M, ask, plans) {
  if (ask$ball$k_min == -Inf) {
    abort_riemdp("unsupported", "a private mean needs a finite lower bound of the curvature, `k_min`.")
  }
  if (ask$mechanism == "auto") {
    plan <- plan_auto(M, ask, plans)
  } else {
    plan <- plan_one(M, ask, ask$mechanism)
    plan$chosen <- "asked for"
  }
  plan
}

#' The papers' baselines
#'
#' What Reimherr, Bharath and Soto (2021) and Soto et al. (2022) compare their mechanisms with, and what they sample by,
#' as mechanisms of [dp_mean()]. `"auto"` never chooses them.
#'
#' @section `"euclidean"`:
#' The mean as a point of the space around the manifold, plus a vector with density proportional to
#' \eqn{\exp(-|z|/\sigma)} there, and the nearest point of the manifold to that (the centre where there is none). On
#' spheres, positive definite matrices, Stiefel manifolds and flat space. Proven sensitivities (`proofs/baselines.md`),
#' with \eqn{\lambda} the centre's largest eigenvalue:
#' * Frechet mean, the default: with \eqn{\Delta} as in [mean_sensitivity()], \eqn{2\sin(\Delta/2)} on spheres,
#'   \eqn{\lambda e^r\Delta} for the affine-invariant and the log-Euclidean, \eqn{2(\sqrt\lambda + r)\Delta} for the
#'   Bures-Wasserstein metric;
#' * `options = list(target = "arithmetic")`: the arithmetic mean, \eqn{2\sin(r)/n} on spheres,
#'   \eqn{2\lambda(e^r - 1)/n} for matrices (Bures-Wasserstein \eqn{2(2\sqrt\lambda r + r^2)/n}). Projected it is not
#'   the Frechet mean, and `expected_error` is about the noise only.
#'
#' `calibration = "paper"` takes \eqn{4\sin(r/2)/n} and \eqn{2(e^r - 1)/n}, which the Frechet mean exceeds: on 2 x 2
#' matrices 1.8 times at r = 1.5, n = 20. For matrices the papers' noise is isotropic in the entries on and below the
#' diagonal, the proven one in the Frobenius norm. `options = list(into_ball = TRUE)` moves the result into the public
#' ball, which is post-processing.
#'
#' @section `"pointwise"`:
#' On [kendall()]: Laplace noise on each coordinate of each landmark of a mean configuration. Proven: each
#' configuration, moved to the ball, centred and of size 1, is turned to the public centre, and the arithmetic mean is
#' taken; all coordinates together have \eqn{l_1} sensitivity \eqn{2\sqrt{2k}\sin(r)/n}. `options`:
#' `split = "landmarks"` divides \eqn{\epsilon} by 2k instead, each coordinate with its own range over the ball, as the
#' papers do; `rotation = "none"` leaves configurations as they lie (diameter 2 in place of \eqn{2\sin r}, whatever the
#' ball). `calibration = "paper"`: the Frechet mean, with scales read off the records.
#'
#' @section `"chain"`:
#' The last state of a Metropolis chain, always labelled none. `options`: `target` (`"kng"` or `"laplace"`), `proposal`
#' (`"isotropic"` or `"published"`), `step`, `burn_in`, `truncate`; see [nonprivate_chain()], which returns all states
#' for study.
#'
#' @references
#' Reimherr, M., Bharath, K. and Soto, C. (2021). Differential Privacy over Riemannian Manifolds. *Advances in Neural
#' Information Processing Systems* 34.
#'
#' Soto, C., Bharath, K., Reimherr, M. and Slavković, A. (2022). Shape and structure preserving differential privacy.
#' *Advances in Neural Information Processing Systems* 35, 24693-24705. \doi{10.48550/arXiv.2209.12667}
#' @examples
#' x <- wishart_spd[, , 1:100]
#' dp_mean(x, spd(2), epsilon = 1, center = diag(2), radius = 1.5, mechanism = "euclidean",
#'         options = list(into_ball = TRUE))
#' r <- dp_mean(callosa[, , -1], kendall(50), 1, callosa[, , 1], 0.3, mechanism = "pointwise")
#' explain(r)
#' @name baselines
NULL

# where each mechanism comes from, for explain()
mechanism_sources <- function(name) {
  reimherr <- "Reimherr, Bharath and Soto (2021), Differential privacy over Riemannian manifolds, NeurIPS 34"
  switch(name,
    laplace = c(reimherr, "Hajri et al. (2016), doi:10.3390/e18030098"),
    staircase = c("Geng, Kairouz, Oh and Viswanath (2015), doi:10.1109/JSTSP.2015.2425831", "proofs/laplace.md, 4"),
    wrapped = c("Dwork, McSherry, Nissim and Smith (2006), doi:10.1007/11681878_14",
                "proofs/laplace.md, proofs/mean-sensitivity.md"),
    kng = , laplace_truncated = ,
    staircase_truncated = c("Reimherr and Awan (2019), KNG: the K-norm gradient mechanism, NeurIPS 32",
                            paste("Soto, Bharath, Reimherr and Slavkovic (2022), Shape and structure preserving",
                                  "differential privacy, NeurIPS 35")),
    gaussian = c(paste("Jiang, Chang, Liu, Ding, Kong and Jiang (2023), Gaussian differential privacy on Riemannian",
                       "manifolds, NeurIPS 36"),
                 "Dong, Roth and Su (2022), doi:10.1111/rssb.12454"),
    wrapped_gaussian = "Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy, ICML",
    chordal = c(reimherr, "proofs/laplace.md, 5"),
    heat = c("Bakry and Ledoux (1996), doi:10.1007/s002220050026", "proofs/gaussian.md, 7"),
    adaptive = c("McSherry and Talwar (2007), doi:10.1109/FOCS.2007.66",
                 "Dwork et al. (2006), doi:10.1007/11681878_14"),
    euclidean = , pointwise = , chain = reimherr,
    character()
  )
}

# the ball to which the records were moved before their mean was taken
moved_ball <- function(r) {
  if (identical(r$mechanism, "adaptive") && !is.null(r$details$released_center)) {
    list(center = r$details$released_center, radius = r$details$released_radius)
  } else {
    r[c("center", "radius")]
  }
}

# The release with its value moved towards the centre of the ball. `always`: its parts are the same where the noise is
# small, so that what a released size decides changes no type. Where the draw has no logarithm at the centre it stays.
release_shrunk <- function(release, shrinkage, always) {
  if (is.null(shrinkage) && !always) return(release)
  M <- release$manifold
  release$errors <- shrinkage$errors %||% rep(release$noise_error, 5)
  part <- 1
  value <- release$value
  if (!is.null(shrinkage)) tryCatch({
    center <- moved_ball(release)$center
    v <- mf_log(M, center, release$value)
    rho <- mf_norm(M, center, v)
    part <- if (rho > 0) guessed_length(shrinkage$law, shrinkage$prior, rho) / rho else 1
    value <- public_point(M, mf_exp(M, center, v * part))
  }, riemdp_error = function(e) NULL)
  post_processed(release, value, if (is.null(shrinkage)) "left where it was drawn" else
    sprintf("moved towards the centre of the ball by %.2g %% of its distance from it", 100 * (1 - part)))
}

# the answer of a private mean
mean_release <- function(out, plan, ask, budget) {
  # far out, rounding may leave no point of the space: what stands for it follows from the released value alone
  value <- point_held(ask$manifold, out$value, ask$center)
  release <- new_release(
    value, "riemdp_mean",
    manifold = ask$manifold, mechanism = plan$mechanism, n = plan$counted %||% ask$n, unit = ask$unit,
    center = ask$center,
    radius = ask$ball$radius, sensitivity = plan$sensitivity, theorem = plan$theorem,
    solver_error = plan$solver_error, scale = plan$scale,
    expected_error = plan$expected_error, noise_error = plan$noise_error, acceptance = plan$acceptance,
    target = plan$target, calibration = ask$calibration,
    clipped = out$outside, squares = out$squares, chosen = plan$chosen, details = plan$details, budget = budget,
    guarantee = plan$guarantee
  )
  if (identical(value, out$value)) {
    return(release_shrunk(release, plan$shrinkage, always = ask$post && (is.na(ask$n) || !is.null(plan$last))))
  }
  release$beyond <- TRUE
  release$post_processed <- paste("the noise went farther out than doubles hold points of the space; a point within",
                                  "their reach stands for it")
  release
}

# an option that only lattice mode has, given without it
lattice_option <- function(ask, names) {
  if (ask$numerics != "lattice" && any(names %in% names(ask$options))) {
    sprintf("the option%s for numerics = \"lattice\".",
            if (length(names) > 1) paste0("s ", paste0("`", names, "`", collapse = " and "), " are") else
              paste0(" `", names, "` is"))
  }
}
