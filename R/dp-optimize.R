#' Private optimisation on manifolds
#'
#' Minimises the mean loss of a [problem()] with (epsilon, delta)-differential privacy: gradients are clipped in the
#' metric, record by record, Gaussian noise is added in the tangent space of the public iterate, and the iterate moves
#' along a geodesic.
#'
#' @section Methods:
#' * `"rgd"`: all records in every step. T steps cost exactly what one Gaussian with noise multiplier \eqn{z/\sqrt T}
#'   costs (Gaussian differential privacy), and nothing else is spent on sampling.
#' * `"rsgd"`: a batch of records in every step. `sampling = "without-replacement"`: `batch` records, uniformly
#'   (neighbours replace a record). `"poisson"`: each record with probability `rate`, the sum divided by the public
#'   number `batch` (neighbours have one record more or less, whatever `neighbours` says by default: not comparable with
#'   the other kinds, whose neighbours are further apart). `"disjoint"`: consecutive batches, each record in one step an
#'   epoch, so that an epoch costs one Gaussian.
#' * `"rsvrg"`: variance reduction. Once an epoch the clipped gradient of all records is released at the snapshot (noise
#'   multiplier `split` times that of the steps); each of the `inner` steps adds the difference of a batch's gradients
#'   at the iterate and, carried along, at the snapshot, clipped record by record at the second number of `clip`.
#' * `"auto"` decides by public quantities: `"rgd"`, unless `epochs` allows fewer passes through the data than such
#'   steps are needed (some three times the condition number for means in a public ball, 4 to 8 without one, 20 for
#'   other problems): then `"rsgd"` with batches so large that this many steps come out. Where `batch`, `rate` or
#'   `sampling` is given it is `"rsgd"`.
#'
#' Why all records: at the same number of steps a batch of b saves n/b in gradients, its noise is at best the same
#' (amplification by sampling makes up for the smaller divisor, and less than that where the noise multiplier is below 3
#' or so), and it adds the error of sampling. At the same number of gradients the stochastic methods' more and shorter
#' steps let in as much noise at best. What was tried: the mean of 10,704 descriptors on SPD(11), the leading
#' eigenvector of 6,903 digits with 784 pixels (both simulated), the mean of WordNet's 1,180 mammals in the hyperbolic
#' ball, each at epsilon = .1, .3 and .5 with every method tuned on other data
#' (`inst/reproduce/paper-002-optimisers.R`), and the tests' two problems with 5,000 records at .3 and 1. With as many
#' passes as it needs `"rgd"` came closest in all of these but one: `"rsvrg"` on the mammals at epsilon = .5. But
#' stochastic methods came near, with a fifth to a tenth of the gradients: they are for data where passes over all
#' records are too dear.
#'
#' @section Units:
#' With `unit` each unit counts with the average of its rows' clipped gradients, which is no longer than `clip`, and
#' steps sample units, with all their rows; disjoint batches are of units in an order by lot, as one unit's rows may
#' decide how others are counted. So everything holds with the number of units for n (`batch` and `rate` are
#' about units), and what is minimised is the mean over units of the mean loss of each one's rows: a unit with many rows
#' weighs as much as one with few. The number of units is public (but for `sampling = "poisson"` and
#' `neighbours = "add_remove"`); how many rows each has isn't, and is not released; the time that a step takes depends
#' on it. Rows without a unit (`NA`) and levels without a row are refused before anything is spent: a check on the
#' curator's side. Spellings are taken as they are: `"P1"` and `"P1 "` are two units. For records in chunks see
#' [chunks()], "Units". Proof: the file `proofs/optimisers.md` of the installed package.
#'
#' @section A private number of records:
#' With `neighbours = "add_remove"` what is protected is whether a record (a unit) is there at all. A noisy number of
#' records is released first, with a twentieth of `epsilon`, and the steps have the rest. N is that number and twice the
#' scale of its noise (40 at epsilon = 1), and takes the place of n in all that is planned: batches, steps, epochs.
#' `"rgd"` divides the sum of all gradients by N. In `"rsgd"` and `"rsvrg"` each record enters a batch by itself, with
#' probability `batch`/N, and the sum is divided by `batch`; with `sampling = "disjoint"` each falls by lot into one of
#' the batches of an epoch. So no record is left out and none is made up: where N isn't n, steps are n/N times as long.
#'
#' One record more or less moves a sum by `clip`, where one that is replaced moves it by twice that. So the noise is
#' about half of that for a public number of records; but so is the change that the promise is about: a replaced record
#' is one that left and one that came. In simulations (a mean on 2 x 2 matrices, epsilon = 1, delta = 1e-6, 40 to 200
#' runs) the error of `"rgd"` (root mean square) was .42 times that for the same, public number of records at n epsilon
#' of 100, .48 at 200 and .50 at 2,000. Disjoint batches of a twentieth of the records came to .5 to .6, `"rsvrg"` too;
#' other batches of that size to .53 at n epsilon of 200, and to .66 and .86 at 1,000 and 5,000, where most of their
#' error is that of sampling. Below n epsilon of 100 either is noise.
#'
#' What can't be planned for every N is refused before anything is spent: `noise_multiplier`, `calibration = "paper"`,
#' `sampling = "without-replacement"` by name (a batch of a fixed size is about a replaced record), `"rsvrg"` with
#' `steps` and without `inner`, several step sizes or a function of the step without `steps`, records in chunks, and a
#' `checkpoint` for disjoint batches (who was in which is kept nowhere, as with `unit`). With `sampling = "poisson"`,
#' `rate` and `batch` a run needs no N, and nothing is released of the number of records; `neighbours = "replace"` is an
#' error there, as the price of such batches says nothing of a replaced record. Proof: the file `proofs/optimisers.md`
#' of the installed package.
#'
#' @section Individual budgets:
#' With `individual = k` a run takes more steps than it pays for (Feldman and Zrnic 2021). Each record has a budget, the
#' square of `clip` times k, from which every step takes its squared clipped gradient; one that costs more than is left
#' is shortened to that, and then the record counts no more. Who has used up how much is secret. Replacing a record then
#' moves all steps together by no more than k clipped steps would, so noise and price are those of k steps. It is for
#' `"rgd"` (`"auto"` is that here) with records in memory, by `unit` with a budget for each unit, and for both kinds of
#' `neighbours`; samples, chunks, a `checkpoint` and `calibration = "paper"` are refused. Batched problems are asked
#' unit by unit. What is stated is no promise by record: it holds for all alike.
#'
#' It helps where `clip` is longer than most gradients and most are short: with the default `clip` of a mean in a ball
#' of radius 2, 500 records on 2 x 2 matrices with a spread of .2 or .5 at epsilon = 1 (`inst/reproduce`, step sizes
#' tuned on other data), 20 steps and 60 steps erred by .17, 60 steps with k = 20 by .11, with k = 5 by .07 and .10.
#' **Beside a clip that fits it does not help**: with `clip = 0.75` plain runs came to .04 and .05, those with k = 20 to
#' .05 and .18. Logistic regression told the same. Where gradients stay long records are used up before the iterate has
#' arrived, and what is minimised is then about the others. So choose `clip` first, and take budgets where it has to be
#' long for what one doesn't know.
#'
#' @section What is released:
#' The output is a function of noisy gradients, of public settings and of random numbers; so are the trace and every
#' decision to stop. Losses, batches, their sizes under Poisson sampling, numbers of clipped or failed records are never
#' shown. There is no refund where `lr` is too large and the iterate, which is public, leaves the manifold: then the run
#' ends in an error of class `riemdp_error_diverged` and the budget is spent. A record without a gradient (no point of
#' the manifold, at the cut locus, a callback that fails) counts with gradient 0. Under Poisson sampling the time a step
#' takes depends on the size of its batch.
#'
#' @param problem a problem, see [problem()].
#' @param data its records, or these in [chunks()] or [sites()]. Their number is public, but for `sampling = "poisson"`
#'   and `neighbours = "add_remove"`; there may be none then.
#' @param epsilon privacy budget, positive; or `NULL` where `noise_multiplier` is given.
#' @param delta above 0 and below 1.
#' @param ... nothing; later arguments must be named.
#' @param method `"auto"`, `"rgd"`, `"rsgd"` or `"rsvrg"`.
#' @param start public start, one point; default: `center`.
#' @param clip clipping norm of a record's gradient, in the units of the metric; for `"rsvrg"` two numbers, for the
#'   snapshot and for differences (one: both). Default: the threshold of [problem_huber()], `2 * radius` for
#'   [problem_frechet()].
#' @param lr step sizes: one number, one for each step, or a function of the step's number (and, if it takes two
#'   arguments, of how many there are). Default: 1/smoothness for means ([problem_facts()] at `radius`); falling ones
#'   for [problem_pca()], see [dp_pca()].
#' @param steps,epochs how long to run; one of them. An epoch of `"rsgd"` is n/b steps (1/`rate` under Poisson
#'   sampling), of `"rsvrg"` `inner` steps. Default: 30 steps of `"rgd"`, one epoch of `"rsgd"`, 2 of `"rsvrg"`.
#' @param batch records of a batch; under Poisson sampling the public number that divides the sum. Default: n/50,
#'   rounded up.
#' @param sampling see above; `"rsgd"` only (`"rsvrg"` samples without replacement).
#' @param rate Poisson sampling's probability, public; no default.
#' @param inner steps of an epoch of `"rsvrg"`; default n/10, rounded up.
#' @param split noise multiplier of the snapshots over that of the steps. Default: the least noise in the iterate at the
#'   wanted price; a snapshot's noise counts for all steps of an epoch, that of a step fades as the iterate is drawn
#'   back.
#' @param restarts runs one after the other, each starting where the last ended (Algorithm 12 of the paper).
#' @param output `"last"` iterate, intrinsic `"average"` of the iterates, or one at `"random"` (option II).
#' @param center,radius public ball to which iterates are brought back, if given.
#' @param noise_multiplier noise over sensitivity by hand, instead of `epsilon`.
#' @param calibration `"proven"`, or `"paper"` for the moment bounds of Utpala and others (2023), labelled not private.
#' @param individual `NULL`, or for how many steps each record has a budget, up to all of them: the price of the run;
#'   see "Individual budgets".
#' @param unit `NULL`: one record is one row, and nobody who has several rows is protected as a whole. Else which unit,
#'   a person say, each row is of: a vector with an element for each record (numbers, text, dates; the levels of a
#'   factor are all its units), or the name of a column of a table `data`. What is protected then is one unit, replaced
#'   with all its rows; see "Units".
#' @param neighbours `"replace"`: what is protected is what a record holds, and their number is public. `"add_remove"`:
#'   also whether it is there, and the number is private; see "A private number of records". With
#'   `sampling = "poisson"` it is always the latter.
#' @param ledger,data_set,part a privacy budget to take the run's price from before its first draw, as in [dp_mean()].
#' @inheritParams dp_mean
#' @param checkpoint path of a file where the run's state is saved some twenty times, so that an interrupted run can go
#'   on, once, by [dp_resume()]; needs a `ledger`.
#' @return An object of class `riemdp_optimize` and [riemdp_release]: `value`, `manifold`, `mechanism` (the method),
#'   `problem` (its kind), `n` (of records or units), `unit`, `steps` (in all), `batch`, `sampling`, `restarts`, `clip`,
#'   `noise_multiplier`, `sd` (of the noise on a step's mean gradient, in each orthonormal coordinate), for `"rsvrg"`
#'   also `split` and `snapshot_sd`, `event`, `trace` (a data frame: step, step size, length of the noisy gradient; at
#'   most some thousand rows), `calibration`, `chosen`, `source`, `budget`, `guarantee`, and `individual` where it was
#'   given. With a private number of records `n` is `NA`; where a noisy one was released there is `size`, a list:
#'   `count` (as released), `points` (N), `form`, `epsilon` (its part) and `scale` (of its noise). No error is stated:
#'   where gradients are longer than the clip, clipping alone moves the minimum, by an amount that nothing released
#'   tells.
#' @references
#' Utpala, S., Han, A., Jawanpuria, P. and Mishra, B. (2023). Improved differentially private Riemannian optimization:
#' fast sampling and variance reduction. *Transactions on Machine Learning Research*.
#' <https://openreview.net/forum?id=paguBNtqiO>
#'
#' Han, A., Mishra, B., Jawanpuria, P. and Gao, J. (2022). Differentially private Riemannian optimization.
#' \doi{10.48550/arXiv.2205.09494}
#'
#' Dong, J., Roth, A. and Su, W. J. (2022). Gaussian differential privacy. *Journal of the Royal Statistical Society B*
#' 84, 3-37. \doi{10.1111/rssb.12454}
#'
#' Feldman, V. and Zrnic, T. (2021). Individual privacy accounting via a Renyi filter. *Advances in Neural Information
#' Processing Systems* 34. \doi{10.48550/arXiv.2008.11193}
#'
#' Koskela, A., Tobaben, M. and Honkela, A. (2022). Individual privacy accounting with Gaussian differential privacy.
#' \doi{10.48550/arXiv.2209.15596}
#' @seealso [dp_resume()], [dp_pca()], [dp_mean()] (more accurate for Frechet means in a public ball),
#'   [riemannian_optimize()], [tangent_noise()]
#' @examples
#' r <- dp_optimize(problem_huber(spd(2), threshold = 1), wishart_spd, epsilon = 1,
#'                  delta = 1e-6, start = diag(2))
#' r
#' plot(r)
#' # five matrices a person: whole persons are protected
#' dp_optimize(problem_huber(spd(2), threshold = 1), wishart_spd[, , 1:500], epsilon = 1,
#'             delta = 1e-6, start = diag(2), unit = rep(1:100, each = 5))
#' # 60 steps at the price of 20: for gradients most of which are shorter than the clip
#' dp_optimize(problem_huber(spd(2), threshold = 2), wishart_spd, epsilon = 1, delta = 1e-6,
#'             start = diag(2), lr = 0.2, steps = 60, individual = 20)
#' # whether somebody is there is protected as well
#' dp_optimize(problem_huber(spd(2), threshold = 1), wishart_spd, epsilon = 1,
#'             delta = 1e-6, start = diag(2), neighbours = "add_remove")
#' @export
dp_optimize <- function(problem, data, epsilon = NULL, delta, ..., method = c("auto", "rgd", "rsgd", "rsvrg"),
                        start = NULL, clip = NULL, lr = NULL, steps = NULL, epochs = NULL, batch = NULL,
                        sampling = c("without-replacement", "poisson", "disjoint"), rate = NULL, inner = NULL,
                        split = NULL, restarts = 1, output = c("last", "average", "random"), center = NULL,
                        radius = NULL, noise_multiplier = NULL, calibration = c("proven", "paper"), individual = NULL,
                        unit = NULL, neighbours = c("replace", "add_remove"), source = NULL, ledger = NULL,
                        data_set = "default", part = NULL, checkpoint = NULL) {
  check_no_more(...)
  check_proven(check_problem(problem)$manifold)
  if (!is.null(ledger)) check_ledger(ledger)
  if (!is.null(checkpoint)) check_checkpoint(checkpoint, ledger)
  if (missing(delta)) abort_no_default("delta")
  check_individual(individual, data, method, sampling, calibration, checkpoint)
  if (!is.null(individual)) method <- "rgd"
  about <- run_neighbours(neighbours, sampling)
  given <- with_units(unit, data, "data", least = about == "replace")
  units <- given$units
  data <- given$x
  if (about == "size") check_run_size(data, method, sampling, lr, !is.null(steps), inner, noise_multiplier,
                                      calibration, checkpoint)
  problem <- apart_in(problem, data, public_value(start, "start"))
  input <- problem_call(problem, data, private = TRUE, least = as.integer(about == "replace"))
  input <- input_of_units(input, units)
  source <- stated_source(source, list(start = start, center = center, radius = radius))
  asked <- function(n, epsilon) {
    ask <- optimum_ask(problem, n, epsilon, delta, method, start, clip, lr, steps, epochs, batch, sampling, rate, inner,
                       split, restarts, output, center, radius, noise_multiplier, calibration, about == "size",
                       individual)
    assumptions <- c(
      if (is_chunks(data)) c(chunk_assumptions(data), if (!is.null(data$shares)) share_assumption(data$shares)),
      if (is.data.frame(data) && problem$kind == "callback") "the types of the columns of `data` are public"
    )
    c(ask, noise_of_sites(data), list(problem = problem, unit = unit_name(units, data), source = source,
                                      assumptions = assumptions))
  }
  if (!is.null(checkpoint) && is_chunks(data) && any(vapply(data$pieces, function(p) identical(p$kind, "site"), NA))) {
    abort_riemdp("unsupported", "records at sites can't be compared when a run goes on: leave `checkpoint` out.")
  }
  seal <- if (!is.null(checkpoint)) function(key) run_seal(key, problem, data, units, ledger, data_set, part)
  records <- list(input = input, n = unit_count(input), checkpoint = checkpoint, ledger = ledger, seal = seal)
  release_run(optimum_estimator("dp_optimize"), about, asked, epsilon, records, ledger, data_set, part)
}

# entry: the function's name. Where there is a checkpoint `records` have its path, the ledger and what makes a seal of a
# key.
optimum_estimator <- function(entry) {
  list(
    entry = function(plan, ask) entry_words(entry, ask$method, ask$unit),
    plan = function(ask) {
      plan <- plan_optimum(ask)
      list(steps = plan, guarantee = of_units(optimum_guarantee(ask$problem, ask, plan), ask$unit), event = plan$event,
           scale = plan$sd)
    },
    parts = c(event = "event", scale = "scale"),
    ready = function(records, plan, ask) {
      if (!is.null(input_shares(records$input))) check_shared_run(records$input$data$chunks, ask, plan$steps$sd)
      if (!is.null(records$checkpoint) && lots_of_units(ask)) {
        abort_riemdp("unsupported", paste("disjoint batches of units are drawn by lot, and who is in which is kept",
                                          "nowhere: leave `checkpoint` out."))
      }
      # no step at all: what can be refused is refused before anything is spent
      continue_run(new_run(ask, plan), records$input, 0)
      if (!is.null(records$checkpoint)) {
        records$key <- new_key()
        records$seal <- records$seal(records$key)
      }
      records
    },
    event = function(plan, ask) plan$event,
    draw = function(records, plan, ask, budget) {
      run <- new_run(ask, plan, records$key)
      run["budget"] <- list(budget)
      pay(price_steps(ask, plan$steps))
      if (lots_of_units(ask)) records$input <- units_by_lot(records$input)
      if (is.null(records$checkpoint)) return(run_steps(run, records$input))
      run_saved(run, records$input, records$checkpoint, records$ledger, NULL, records$seal)
    },
    answer = function(out, plan, ask, budget) release_optimum(out)
  )
}

# whether units have to be put into an order by lot: where each record falls into a batch by lot, they are
lots_of_units <- function(ask) {
  ask$sampling == "disjoint" && ask$adjacency == "replace-one" && !is.null(ask$unit)
}

# What is asked for, checked: public quantities only. `sized`: n is a released number, of which each record enters a
# batch by itself; there may be fewer than a batch.
optimum_ask <- function(problem, n, epsilon, delta, method, start, clip, lr, steps, epochs, batch, sampling, rate,
                        inner, split, restarts, output, center, radius, noise_multiplier, calibration, sized = FALSE,
                        individual = NULL) {
  if (is.null(epsilon) == is.null(noise_multiplier)) bad_run("give one of `epsilon` and `noise_multiplier`.")
  batches <- asked_batches(problem, n, method, radius, steps, epochs, batch, sampling, rate, sized)
  inner <- if (batches$method != "rsvrg") {
    0
  } else if (is.null(inner)) {
    ceiling(n / 10)
  } else {
    check_count(inner, "inner", most = 1e8)
  }
  steps <- asked_steps(batches, n, steps, epochs, inner, if (sized) 1e8 else Inf)
  domain <- asked_domain(problem, start, center, radius)
  clip <- asked_clip(problem, batches$method, clip, domain$facts)
  if (is.null(lr)) lr <- usual_step_sizes(problem, clip, domain$facts)
  calibration <- check_choice(calibration, "calibration", c("proven", "paper"))
  if (calibration == "paper" &&
      (!batches$sampling %in% c("full", "without-replacement") || !is.null(noise_multiplier))) {
    bad_run(paste("`calibration = \"paper\"` needs `epsilon`, and exists for \"rgd\", \"rsgd\" without replacement and",
                  "\"rsvrg\"."))
  }
  delta <- check_delta(delta)
  if (delta == 0) bad_run("`delta` must be positive: the noise is Gaussian.")
  restarts <- check_count(restarts, "restarts", most = 1e4)
  lr <- step_sizes(lr, steps)
  if (!is.null(individual)) individual <- check_count(individual, "individual", most = as.double(steps) * restarts)
  given <- function(x, name) if (!is.null(x)) check_number(x, name, positive = TRUE)
  poisson <- batches$sampling == "poisson"
  c(
    run_number(n, poisson, sized),
    list(epsilon = given(epsilon, "epsilon"), delta = delta),
    batches[c("method", "chosen", "open", "sampling", "batch", "rate")],
    list(share = if (poisson) batches$rate else batches$batch / n, inner = inner, steps = steps, restarts = restarts,
         start = domain$start),
    domain[c("center", "radius")],
    list(clip = clip, lr = lr, contraction = expected_contraction(lr, inner, domain$facts),
         split = given(split, "split"), output = check_choice(output, "output", c("last", "average", "random")),
         noise_multiplier = given(noise_multiplier, "noise_multiplier"), calibration = calibration,
         individual = individual)
  )
}

# `points`: the public number of records, or the one that stands for it
run_number <- function(n, poisson, sized) {
  private <- poisson || sized
  list(n = if (private) NA_real_ else n, points = if (poisson && !sized) NA_real_ else n,
       adjacency = if (private) "add-remove" else "replace-one")
}

bad_run <- function(...) abort_riemdp("argument", paste0(...))

# The method, whether that depends on n, and which records its steps take: list(method, chosen, open, sampling, batch,
# rate)
asked_batches <- function(problem, n, method, radius, steps, epochs, batch, sampling, rate, sized) {
  method <- check_choice(method, "method", c("auto", "rgd", "rsgd", "rsvrg"))
  chosen <- "asked for"
  open <- FALSE
  if (method == "auto") {
    at <- function(n) optimum_auto(problem, n, radius, steps, epochs, batch, rate, sampling)
    open <- at(1)$method != at(Inf)$method
    auto <- at(n)
    method <- auto$method
    chosen <- auto$chosen
    batch <- auto$batch
  }
  given <- !identical(sampling, c("without-replacement", "poisson", "disjoint"))
  sampling <- check_choice(sampling, "sampling", c("without-replacement", "poisson", "disjoint"))
  if (given && method != "rsgd" && !(method == "rsvrg" && sampling == "without-replacement")) {
    bad_run("`sampling` belongs to method = \"rsgd\"; \"rsvrg\" samples without replacement.")
  }
  if (method == "rgd" && !is.null(batch)) bad_run("`batch` belongs to stochastic methods; \"rgd\" takes all records.")
  if (method == "rsgd" && sampling == "poisson") {
    return(c(list(method = method, chosen = chosen, open = open, sampling = sampling), asked_rate(rate, batch)))
  }
  if (!is.null(rate)) {
    bad_run(paste("`rate` belongs to sampling = \"poisson\", whose neighbours have one record more or less; here they",
                  "replace a record."))
  }
  c(list(method = method, chosen = chosen, open = open),
    if (method == "rgd") list(sampling = "full", batch = n, rate = 1) else counted_batches(n, batch, sampling, sized))
}

# batches of n records: so many of these, or each by itself
counted_batches <- function(n, batch, sampling, sized) {
  batch <- if (is.null(batch)) ceiling(n / 50) else check_count(batch, "batch", most = 1e9)
  if (sized) {
    return(list(sampling = if (sampling == "disjoint") sampling else "poisson", batch = batch,
                rate = min(1, batch / n)))
  }
  if (batch > n) bad_run("`batch` must not exceed the number of records.")
  list(sampling = if (batch == n && sampling == "without-replacement") "full" else sampling, batch = batch, rate = 1)
}

asked_rate <- function(rate, batch) {
  if (is.null(rate) || is.null(batch)) {
    bad_run("Poisson sampling needs a public `rate` and `batch`: the number of records isn't public.")
  }
  rate <- check_number(rate, "rate", positive = TRUE)
  if (rate > 1) bad_run("`rate` must be at most 1.")
  list(batch = check_number(batch, "batch", positive = TRUE), rate = rate)
}

# how many steps, as given or from passes over the records; `most`: what is more than these is left out
asked_steps <- function(batches, n, steps, epochs, inner, most) {
  if (!is.null(steps) && !is.null(epochs)) bad_run("give one of `steps` and `epochs`.")
  method <- batches$method
  if (!is.null(steps)) {
    steps <- check_count(steps, "steps", most = 1e8)
    if (method == "rsvrg" && steps %% inner) bad_run("`steps` of \"rsvrg\" must be a multiple of `inner`.")
    return(steps)
  }
  epochs <- if (is.null(epochs)) {
    c(rgd = 30, rsgd = 1, rsvrg = 2)[[method]]
  } else {
    check_number(epochs, "epochs", positive = TRUE)
  }
  of_stochastic <- switch(batches$sampling, poisson = 1 / batches$rate, disjoint = disjoint_batches(n, batches$batch),
                          n / batches$batch)
  epoch <- switch(method, rgd = 1, rsvrg = inner, of_stochastic)
  steps <- check_count(max(1, min(most, ceiling(epochs * epoch - 1e-9))), "steps", most = 1e8)
  if (method == "rsvrg") inner * max(1, min(most %/% inner, ceiling(epochs))) else steps
}

# Where the iterates may go and begin, and what is known of the problem there: list(center, radius, start, facts)
asked_domain <- function(problem, start, center, radius) {
  M <- problem$manifold
  if (is.null(center) != is.null(radius)) bad_run("give both `center` and `radius`, or neither.")
  if (!is.null(center)) {
    center <- public_point(M, center)
    radius <- check_number(public_value(radius, "radius"), "radius", positive = TRUE)
  }
  if (is.null(start)) start <- center
  if (is.null(start)) bad_run("`start` is public and has no default: give it.")
  list(center = center, radius = radius, start = public_point(M, start, "start"),
       facts = if (!is.null(radius) && problem$kind != "pca") problem_facts(problem, radius))
}

# of snapshots' and of steps' gradients
asked_clip <- function(problem, method, clip, facts) {
  if (is.null(clip)) clip <- if (problem$kind == "huber") problem$threshold else facts$clip
  if (is.null(clip) || anyNA(clip)) bad_run("`clip` has no default here: give the norm to which gradients are clipped.")
  if (!is.numeric(clip) || length(clip) != 1 && !(method == "rsvrg" && length(clip) == 2)) {
    bad_run("`clip` must be one number (for \"rsvrg\" one or two), positive.")
  }
  clip <- vapply(rep_len(clip, 2), check_number, 0, "clip", positive = TRUE)
  if (min(clip) < CLIP_LEAST) {
    bad_run(sprintf("`clip` must be at least %g: squares of lengths must fit into doubles.", CLIP_LEAST))
  }
  clip
}

# The squared length of a gradient of less rounds to 0, and what has no length isn't clipped
CLIP_LEAST <- 1e-150

usual_step_sizes <- function(problem, clip, facts) {
  M <- problem$manifold
  switch(problem$kind, pca = falling_steps(mf_facts(M)$ambient, sqrt(clip[1])),
         callback = bad_run("`lr` has no default for a user's problem: give it."),
         if (!is.null(facts)) 1 / facts$smoothness else if (mf_facts(M)$k_min >= 0) 1 else 0.5)
}

# for steps of variance reduction: step size times curvature, as far as that is known
expected_contraction <- function(lr, inner, facts) {
  known <- !is.null(facts) && !is.na(facts$smoothness)
  min(1, max(if (known) lr[length(lr)] * facts$smoothness else 1 / sqrt(max(inner, 1)), 1 / max(inner, 1)))
}

step_sizes <- function(lr, steps) {
  if (is.function(lr)) {
    both <- length(formals(args(lr))) > 1
    lr <- tryCatch(vapply(seq_len(steps), function(t) as.double(if (both) lr(t, steps) else lr(t)), 0),
                   error = function(e) NULL)
  }
  if (!is.numeric(lr) || is.object(lr) || !length(lr) %in% c(1, steps) || anyNA(lr) || any(lr <= 0) || any(lr == Inf)) {
    abort_riemdp("argument", paste("`lr` must be one positive number, one for each step, or a function of the",
                                   "step's number (and of",
                                   "how many there are)."))
  }
  as.double(lr)
}

# ---- what a run costs ------------------------------------------------------------------------------------------------

# Methods by public quantities: all records in every step unless fewer passes are allowed than such steps are needed.
optimum_auto <- function(problem, n, radius, steps, epochs, batch, rate, sampling) {
  if (!is.null(batch) || !is.null(rate) || length(sampling) == 1) {
    return(list(method = "rsgd", chosen = "`batch`, `rate` or `sampling` was given", batch = batch))
  }
  rgd <- list(method = "rgd", chosen = "at equal privacy all records in every step err less than batches")
  if (is.null(epochs) || !is.null(steps)) {
    return(rgd)
  }
  epochs <- check_number(epochs, "epochs", positive = TRUE)
  need <- steps_needed(problem, radius)
  if (epochs >= need || n < 2 * need) {
    return(rgd)
  }
  list(method = "rsgd", batch = max(1, ceiling(n * epochs / need)),
       chosen = sprintf("steps with all records need about %d passes, and %g are allowed", need, epochs))
}

# steps after which noise is what counts: some three times the condition number where it is known
steps_needed <- function(problem, radius) {
  if (!problem$kind %in% c("frechet", "huber")) return(20L)
  if (is.null(radius)) return(if (mf_facts(problem$manifold)$k_min >= 0) 4L else 8L)
  as.integer(min(100, ceiling(1 + 3 * problem_facts(problem, radius)$smoothness)))
}

plan_optimum <- function(ask) {
  split <- if (is.null(ask$split)) best_split(ask) else ask$split
  sensitivity <- step_sensitivity(ask)
  if (ask$calibration == "paper") {
    return(paper_plan(ask, sensitivity))
  }
  z <- ask$noise_multiplier
  if (is.null(z)) {
    one <- gaussian_total(ask, 1, split)
    z <- if (!is.null(one)) {
      one / gaussian_mu(ask$epsilon, ask$delta)
    } else {
      numbers <- format(c(ask$steps, ask$restarts, ask$inner, ask$share, ask$rate, split, ask$epsilon, ask$delta),
                        digits = 17)
      remember(paste(c("steps", ask$method, ask$sampling, ask$adjacency, numbers), collapse = " "), function() {
        calibrate_steps(function(z) optimum_event(ask, z, split), ask$epsilon, ask$delta,
                        function(z) steps_epsilon(ask, z, split))
      })
    }
  }
  sd <- c(z * sensitivity, if (ask$inner > 0) z * split * snapshot_sensitivity(ask))
  if (!all(is.finite(sd) & sd > 1e-300)) {
    abort_riemdp("argument", "`clip`, `batch` and budget make a noise that doesn't fit into doubles.")
  }
  mu <- gaussian_total(ask, z, split)
  epsilon <- ask$epsilon
  if (is.null(epsilon)) {
    epsilon <- if (!is.null(mu)) gdp_epsilon(mu, ask$delta) else steps_epsilon(ask, z, split)
  }
  list(
    multiplier = z, split = split, sd = sd[1], snapshot_sd = if (ask$inner > 0) sd[2] else 0, mu = mu,
    epsilon = epsilon, event = optimum_event(ask, z, split)
  )
}

# Least multiplier, within 2e-4, whose privacy-loss distribution keeps the budget: a secant from where the Renyi bound
# starts it, since each of these prices takes a tenth of a second and dp_calibrate() asks for some fifteen.
calibrate_steps <- function(make, epsilon, delta, price = function(z) as.double(upper_epsilon(make(z), delta, "pld"))) {
  by_bisection <- function(...) as.double(dp_calibrate(make, epsilon, delta))
  excess <- function(x) log(price(exp(x))) - log(epsilon)
  attempt <- function() {
    x <- log(as.double(dp_calibrate(make, epsilon, delta, "rdp", tol = 0.02)))
    f <- excess(x)
    slope <- -1.5 # Gaussian noise alone has -1, sampled steps fall faster
    for (i in 1:15) {
      if (f <= 0 && f >= -2e-4) {
        return(exp(x))
      }
      move <- -(f + 1e-4) / slope
      y <- x + min(max(move, -1), 1)
      f_y <- excess(y)
      if (is.finite(f_y) && is.finite(f) && (f_y - f) / (y - x) < -0.2) slope <- (f_y - f) / (y - x)
      x <- y
      f <- f_y
      if (!is.finite(f)) break
    }
    by_bisection()
  }
  tryCatch(attempt(), riemdp_error = by_bisection)
}

# Noise multiplier of the snapshots over that of the steps. Near the minimum a step multiplies the iterate's error by
# 1 - a, a the step size times the curvature: noise that stays for an epoch then weighs 1, fresh noise a/(2 - a). The
# split minimises that sum of variances at a fixed total of mu^2; what sampled steps add to it is taken from the central
# limit theorem, which steers this public choice only: the price is exact for any split.
best_split <- function(ask) {
  if (ask$inner == 0) return(1)
  steps <- as.double(ask$steps) * ask$restarts
  epochs <- steps / ask$inner
  total <- if (is.null(ask$epsilon)) 1 else gaussian_mu(ask$epsilon, ask$delta)^2
  weight <- ask$contraction / (2 - ask$contraction)
  multipliers <- function(share) {
    c(sqrt(epochs / (share * total)), step_multiplier(ask$share, (1 - share) * total / steps))
  }
  error <- function(x) {
    z <- multipliers(stats::plogis(x))
    log((z[1] * ask$clip[1] / ask$points)^2 + weight * (z[2] * ask$clip[2] / ask$batch)^2)
  }
  z <- multipliers(stats::plogis(stats::optimize(error, c(-12, 12))$minimum))
  z[1] / z[2]
}

# z at which a step with a share q of the records adds `square` to mu^2 (Dong, Roth and Su 2022, Corollary 5.4)
step_multiplier <- function(q, square) {
  if (q == 1 || square < 1e-6 * q^2) return(q / sqrt(square)) # many steps, or much noise: as without sampling
  if (!(square < 1e300)) abort_riemdp("existence", "the noise would be less than doubles hold: `epsilon` is too large.")
  excess <- function(log_x) {
    x <- exp(log_x)
    rest <- 3 * stats::pnorm(-0.5 * x) - 2
    # without overflow
    log_sum <- if (x > 8) x^2 + stats::pnorm(1.5 * x, log.p = TRUE) else log(exp(x^2) * stats::pnorm(1.5 * x) + rest)
    log(2 * q^2) + log_sum - log(square)
  }
  exp(-stats::uniroot(excess, log(c(1e-4, 20)), tol = 1e-6, extendInt = "upX")$root)
}

# Claims 3 and 4 of the paper, its equation (3) with C_0 and C_1 apart, and Mironov's conversion: K(l) = A l(l + 1)
paper_plan <- function(ask, sensitivity) {
  log_delta <- -log(ask$delta)
  a <- (sqrt(log_delta + ask$epsilon) - sqrt(log_delta))^2
  c0 <- ask$clip[1]
  c1 <- ask$clip[2]
  square <- switch(ask$method, rgd = 2 * c1^2, rsgd = 7 * c1^2, rsvrg = (sqrt(2) * c0 + sqrt(28) * c1)^2)
  sd <- sqrt(ask$steps * ask$restarts * square / a) / ask$n
  list(multiplier = sd / sensitivity, split = 0, sd = sd, snapshot_sd = 0, mu = NULL, epsilon = ask$epsilon,
       event = NULL)
}

# step sizes for eigenvalues up to bound^2 of unknown size
falling_steps <- function(d, bound) {
  high <- min(d, 8)
  function(t, steps) high * (0.25 / high)^((t - 1) / max(1, steps - 1)) / bound^2
}
