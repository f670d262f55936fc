# What happened, apart from what it costs: events are plain data (they survive saveRDS() and a trip to a worker).
# Accountants (accountant-*.R) price them, event-price.R gives the figures that a ledger adds up.

EVENT_TYPES <- c("pure", "laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "mixture", "gdp", "zcdp",
                 "rdp", "approx", "custom", "pair", "shuffle", "poisson", "poisson_replaced", "poisson_capped",
                 "allocation", "sample", "resample", "select", "compose", "parallel")
ADJACENCIES <- c("replace-one", "add-remove")
TIMES_MOST <- 1e12

#' Events: what was done to the data
#'
#' An event describes a noisy step apart from its price. [dp_epsilon()] and [dp_delta()] price events, [dp_calibrate()]
#' finds the noise for a wanted price. Noise multipliers are the noise's scale over the sensitivity under the event's
#' adjacency.
#'
#' Adjacency says which data sets are neighbours: one record replaced by another, or one record more or less. It belongs
#' to the event. `NULL` leaves it open: such an event takes the adjacency of what it stands in. `event_poisson()` and
#' `event_allocation()` are about data sets that differ by one record more or less (`"add-remove"`), the first unless
#' asked otherwise, `event_sample()`, `event_resample()` and `event_shuffle()` about a replaced record
#' (`"replace-one"`). Events of both kinds can't be composed: the same noise multiplier means different noise. Where a
#' record's contribution is replaced by nothing while the public size stays, plain steps, Poisson samples and
#' allocations cost what they cost with `"add-remove"`; samples of a fixed size don't, and have no price for that here.
#'
#' * `event_pure(epsilon)`: any epsilon-DP step; manifold Laplace and K-norm releases are of this kind, and so are the
#'   exponential mechanism and permute-and-flip. `range = TRUE` holds for the exponential mechanism alone: the losses of
#'   permute-and-flip span more than epsilon (two answers told apart by half of it, either way: \eqn{2\log(2
#'   e^{\varepsilon/2} - 1)}), and its Kullback-Leibler divergence exceeds epsilon^2/8.
#' * `event_laplace(scale)`: Laplace noise on one number, `scale` over sensitivity. For other Laplace laws use
#'   `event_pure()`.
#' * `event_discrete_laplace(scale, sensitivity)`: noise on the integers with mass proportional to
#'   \eqn{\exp(-|k|/\mathrm{scale})}, as [discrete_laplace_noise()] draws it, on a whole number that moves by at most
#'   `sensitivity` whole steps; both in lattice steps. Epsilon is `sensitivity/scale`, less in compositions.
#' * `event_gaussian(noise_multiplier)`: Gaussian noise, standard deviation over the Euclidean sensitivity.
#' * `event_discrete_gaussian(sigma, sensitivity, dimension)`: discrete Gaussian noise on a lattice, both numbers in
#'   lattice steps. It is never priced as a Gaussian: its delta is up to 2.5 times as large at `sigma = 1`. In one
#'   dimension what is on the lattice moves by whole steps, so there `sensitivity` must be a whole number. A number that
#'   moves by 1.5 steps before it is rounded to the lattice moves by up to two.
#' * `event_mixture(noise_multiplier, moves, probabilities)`: Gaussian noise of that standard deviation on a statistic
#'   that one record more or less moves by a random vector, in Euclidean length at most `moves[i]` with the public
#'   probability `probabilities[i]`; 0 may be among the moves. The draw must be the record's own: independent of the
#'   noise and of what the others draw. With moves `c(0, 1)` it is a Poisson sample of Gaussian noise. Matrix mechanisms
#'   with sampling are of this kind (Choquette-Choo et al. 2023); without it see [event_matrix()].
#' * `event_gdp(mu)`, `event_zcdp(rho)`, `event_rdp(orders, epsilons)`, `event_approx(epsilon, delta)`: steps of which
#'   only such a bound is known. Between the given orders the bound is interpolated by convexity, beyond the largest it
#'   is infinite.
#' * `event_custom(label, ..., assumed = TRUE)`: one or more of these bounds, stated by the user and not proven here;
#'   every price that rests on it says `assumed`.
#' * `event_pair(label, p, q, adjacency)`: a step of which the user states a dominating pair of probability mass
#'   functions on the same outcomes. With `"add-remove"` `p` is the law with the record and `q` the one without, and
#'   both directions are priced; with `"replace-one"` the pair has to dominate every ordered pair of neighbours. Not
#'   proven here, so every price says `assumed`. Densities have to be made into such a pair by the user, so that it
#'   still dominates.
#' * `event_poisson(q, event)`: each record enters with probability `q`, independently; the step must divide by a public
#'   number. With `adjacency = "replace-one"` it is about a replaced record, for `event_gaussian()` alone, whose noise
#'   multiplier is then still over what one record more or less changes.
#' * `event_allocation(steps, event)`: `steps` steps like `event`, each on the records that were allotted to it: every
#'   record to one of them, uniformly, secretly and independently of the others (balls and bins). It is the price of all
#'   the steps together, which may depend on earlier results; each must divide by a public number. For a record that is
#'   part of k of them compose k allocations to as many blocks, in each of which it is allotted anew. Shuffling records
#'   into batches of a fixed size isn't that: it costs more.
#' * `event_poisson(q, event, most, records)`: the same of which `most` records are taken at most, whatever is left out
#'   where there are more, of data sets of at most `records` records, a public number. The chance of more counts in
#'   full: \eqn{1 + e^\varepsilon} times as a delta. Priced as a whole and in compositions, not within other samples.
#' * `event_sample(q, event)`: a share `q` of the records, of public size, drawn without replacement. Not of parts with
#'   public keys: a sample in each part is.
#' * `event_resample(size, n, event)`: `size` records out of `n`, drawn with replacement, each of which counts as often
#'   as it was drawn; the noise multiplier is over what a replaced record changes that was drawn once (Balle, Barthe and
#'   Gaboardi 2018).
#' * `event_shuffle(n, event)`: `n` reports in random order, each of one record by the same epsilon-DP randomiser, which
#'   sees no other report. Only for `event_pure()`: there the theorem holds (Feldman, McMillan and Talwar 2022).
#' * `event_shuffle(n, event, variation, common)`: the same of a randomiser of which more is known. `variation` bounds
#'   the total variation distance between the laws of any two records' reports: for randomised response among k answers
#'   \eqn{(e^\varepsilon-1)/(e^\varepsilon+k-1)}, for Laplace noise on numbers from an interval
#'   \eqn{1-e^{-\varepsilon/2}}. `common` is \eqn{\kappa} where for the densities a, b, c of any three records' reports
#'   \eqn{\kappa c \ge [(e^\varepsilon-\kappa)\min(a,b) + (\kappa-1)\max(a,b)]/(e^\varepsilon-1)} everywhere: 1 where no
#'   report is likelier than at its least for more than one record, as in randomised response; `NULL` is
#'   \eqn{e^\varepsilon}, which always holds. Both must hold for all records, not only for likely ones.
#' * `event_select(event, mean, shape)`: the event run a secret number of times, of which only the best result by a
#'   score that is part of each run's own result is shown; to choose a radius or a method. The number is drawn from the
#'   negative binomial law of that shape without its zero, of this mean; shape 1 is geometric, 0 logarithmic. A pure
#'   step costs `2 + shape` times its epsilon, whatever the mean; others are priced by Renyi DP (Papernot and Steinke
#'   2022). Runs must be independent, and everything that they show must be in the event.
#' * `event_group(event, size)`: not a type of its own but the event as it protects `size` records together that one
#'   person may have, each replaced, or each more or less. Not of samples, shuffles and choices, or of compositions with
#'   a delta.
#' * `event_compose(..., times)`: all of them, `times` over, on the same data; each may depend on earlier results, but
#'   the events are fixed beforehand.
#'   Of a sample it is a sample drawn once and used by all; each step has a sample of its own in
#'   `event_compose(event_poisson(q, event), times = 10)`, but not in `event_poisson(q, event_compose(event, times =
#'   10))`, which costs more. For a sample drawn before anything was asked see `sampled` in [dp_ledger()].
#' * `event_parallel(..., keys)`: each on its own part of the data. With `keys = "public"` a record's part doesn't
#'   depend on its private values, and the dearest part is the cost. With `keys = "private"` it does: a replaced record
#'   leaves one part and enters another, so the cost is that of the two dearest parts, and the parts' sizes are private
#'   as well. The parts' events must hold for one record more or less and for one that is replaced within its part; an
#'   event that is stated for `"add-remove"` neighbours alone counts as a group of two there (twice its `mu` or
#'   epsilon).
#'
#' @param epsilon,delta,rho,mu privacy parameters, non-negative and finite; `delta` below 1.
#' @param range whether the loss, for each pair of neighbours, lies between two numbers that are epsilon apart, as that
#'   of an exponential mechanism does: then it is epsilon^2/8-zCDP (Cesar and Rogers 2021).
#' @param scale,noise_multiplier,sigma noise, positive and finite.
#' @param sensitivity positive, in lattice steps; a whole number, up to 2^53, unless `dimension` is above 1.
#' @param dimension number of coordinates of the noise. Above 1 a discrete Gaussian is priced by its concentrated DP
#'   alone.
#' @param moves,probabilities numeric vectors of one length, 1 to 1,000: how far the record moves the statistic, finite
#'   and at least 0, in the unit of the noise; and how likely, summing to 1 within 1e-9.
#' @param orders,epsilons numeric vectors of one length: orders above 1 (increasing) and the Renyi divergence bounds
#'   there.
#' @param label one string of 1 to 200 characters.
#' @param assumed must be `TRUE`: that the bound is taken on trust.
#' @param p for `event_pair()`: masses of the first law, numbers of at least 0 that sum to 1 within 1e-9; 1 to 1e6 of
#'   them. They are divided by their sum.
#' @param q probability or share, above 0 and at most 1; for `event_pair()` masses of the second law, as many as `p`.
#' @param n number of reports, or of records, a whole number of at least 2.
#' @param variation a number above 0 and at most tanh(epsilon/2), or `NULL` for that: it always holds.
#' @param common a number from 1 to \eqn{e^\varepsilon}, or `NULL` for that; only with `variation`.
#' @param most,records whole numbers: how many records a sample holds at most, and a data set.
#' @param event,... events.
#' @param mean mean number of runs, above 1 and at most 1e9.
#' @param shape of their law, from 0 to 100.
#' @param size number of records, a whole number: of a group from 1 to 1e6, of a sample from 1 to 1e12.
#' @param steps number of steps, a whole number from 1 to 1e9.
#' @param times a whole number of at least 1.
#' @param keys `"public"` or `"private"`.
#' @param adjacency `"replace-one"`, `"add-remove"`, or `NULL` for open.
#' @return A `dp_event`: a list with `type`, `adjacency` (one of the two, or `"either"`), `parameters` and `children`.
#' @section Errors:
#' `riemdp_error_argument` for numbers out of range, `riemdp_error_adjacency` where adjacencies are mixed,
#' `riemdp_error_event` for an object that is no event.
#' @references
#'   Lebeda, Regehr, Kamath and Steinke (2024), Avoiding pitfalls for privacy accounting of subsampled mechanisms under
#'   composition, \doi{10.48550/arXiv.2405.20769}.
#'   Cesar and Rogers (2021), Bounding, concentrating, and truncating, *Proceedings of Machine Learning
#'   Research* 132, 421-457.
#'   Choquette-Choo, Ganesh, Steinke and Thakurta (2023), Privacy amplification for matrix mechanisms,
#'   \doi{10.48550/arXiv.2310.15526}.
#'   Feldman and Shenfeld (2025), Privacy amplification by random allocation, \doi{10.48550/arXiv.2502.08202}.
#'   Chua, Harrison, Kamath, Leeman, Sinha and others (2025), Balls-and-Bins sampling for DP-SGD,
#'   \doi{10.48550/arXiv.2412.16802}.
#'   Feldman, McMillan and Talwar (2022), Stronger privacy amplification by shuffling, SODA 2023,
#'   \doi{10.1137/1.9781611977554.ch181}, whose erratum (arXiv 2208.04591) names a gap; our proof is in
#'   `inst/proofs/accounting.md`, section 1.
#'   Wang, Peng, Li, Wen and others (2024), Privacy amplification via shuffling: unified, simplified, and tightened,
#'   \doi{10.48550/arXiv.2304.05007}, which has no number like `common`.
#'   Papernot and Steinke (2022), Hyperparameter tuning with Renyi differential privacy, ICLR 2022,
#'   \doi{10.48550/arXiv.2110.03620}.
#'   Balle, Barthe and Gaboardi (2018), Privacy amplification by subsampling, \doi{10.48550/arXiv.1807.01647}.
#'   Chua, Ghazi, Kamath, Kumar and others (2024), Scalable DP-SGD: shuffling vs. Poisson subsampling,
#'   \doi{10.48550/arXiv.2411.04205}.
#'   Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, \doi{10.29012/jpc.784}.
#' @examples
#' step <- event_poisson(0.01, event_gaussian(1))
#' event_compose(step, times = 1000)
#' event_compose(event_pure(0.1), event_gaussian(5), adjacency = "replace-one")
#' # randomised response among three answers, as a pair of laws
#' dp_epsilon(event_pair("three answers", c(0.6, 0.2, 0.2), c(0.2, 0.6, 0.2), "replace-one"), 1e-6)
#' # the best of some 20 radii, each tried at epsilon = .1; what three records of one person share
#' dp_epsilon(event_select(event_pure(0.1), mean = 20), 0)
#' event_group(event_gaussian(5), 3)
#' # a record that is drawn with probability .1 in each of three steps of one release
#' event_mixture(2, moves = 0:3, probabilities = dbinom(0:3, 3, 0.1))
#' # ten releases on one secret sample of a tenth, and on ten samples
#' dp_epsilon(event_poisson(0.1, event_compose(event_pure(0.1), times = 10)), 0)
#' dp_epsilon(event_compose(event_poisson(0.1, event_pure(0.1)), times = 10), 0)
#' # 10,000 shuffled reports by randomised response among 100 answers, and by any randomiser
#' variation <- expm1(4) / (exp(4) + 99)
#' dp_epsilon(event_shuffle(1e4, event_pure(4), variation, common = 1), 1e-6)
#' dp_epsilon(event_shuffle(1e4, event_pure(4)), 1e-6)
#' # three epochs, in each of which every record is in one of a hundred batches by lot
#' event_compose(event_allocation(100, event_gaussian(1)), times = 3)
#' @name dp_event
NULL

new_event <- function(type, adjacency, parameters = list(), children = list()) {
  structure(list(type = type, adjacency = adjacency, parameters = parameters, children = children),
            class = "riemdp_event")
}

open_adjacency <- function(adjacency) {
  if (is.null(adjacency)) return("either")
  check_choice(adjacency, "adjacency", c(ADJACENCIES, "either"))
}

#' @rdname dp_event
#' @export
event_pure <- function(epsilon, adjacency = NULL, range = FALSE) {
  parameters <- list(epsilon = check_number(epsilon, "epsilon", least = 0))
  if (check_flag(range, "range")) parameters$range <- TRUE
  new_event("pure", open_adjacency(adjacency), parameters)
}

#' @rdname dp_event
#' @export
event_laplace <- function(scale, adjacency = NULL) {
  new_event("laplace", open_adjacency(adjacency), list(scale = check_number(scale, "scale", positive = TRUE)))
}

#' @rdname dp_event
#' @export
event_discrete_laplace <- function(scale, sensitivity = 1, adjacency = NULL) {
  new_event("discrete_laplace", open_adjacency(adjacency), list(
    scale = check_number(scale, "scale", positive = TRUE),
    sensitivity = as.double(check_count(sensitivity, "sensitivity", most = 2^53))
  ))
}

# What of delta is left out where noise on a lattice is told as normal noise (proofs/lattice.md, section 1): below all
# that is priced
LATTICE_SLACK <- 1e-60

#' @rdname dp_event
#' @export
event_gaussian <- function(noise_multiplier, adjacency = NULL) {
  new_event("gaussian", open_adjacency(adjacency),
            list(noise_multiplier = check_number(noise_multiplier, "noise_multiplier", positive = TRUE)))
}

#' @rdname dp_event
#' @export
event_discrete_gaussian <- function(sigma, sensitivity = 1, dimension = 1, adjacency = NULL) {
  # of 1.5 nobody can tell whether a number was rounded to the lattice, and may move by two steps, or lay on it
  if (identical(as.double(check_count(dimension, "dimension")), 1)) check_count(sensitivity, "sensitivity", most = 2^53)
  new_event("discrete_gaussian", open_adjacency(adjacency), list(
    sigma = check_number(sigma, "sigma", positive = TRUE),
    sensitivity = check_number(sensitivity, "sensitivity", positive = TRUE),
    dimension = as.double(check_count(dimension, "dimension"))
  ))
}

#' @rdname dp_event
#' @export
event_mixture <- function(noise_multiplier, moves, probabilities) {
  noise_multiplier <- check_number(noise_multiplier, "noise_multiplier", positive = TRUE)
  probabilities <- check_masses(probabilities, "probabilities", MOVES_MOST)
  ok <- is.numeric(moves) && !is.object(moves) && is.null(dim(moves)) && length(moves) == length(probabilities) &&
    all(is.finite(moves)) && all(moves >= 0) && any(moves[probabilities > 0] > 0)
  if (!ok) {
    abort_riemdp("argument", "`moves` must be finite numbers of at least 0, one a probability, and not all 0.")
  }
  new_event("mixture", "add-remove", list(noise_multiplier = noise_multiplier, moves = as.double(moves),
                                          probabilities = probabilities))
}

MOVES_MOST <- 1000

#' @rdname dp_event
#' @export
event_gdp <- function(mu, adjacency = NULL) {
  new_event("gdp", open_adjacency(adjacency), list(mu = check_number(mu, "mu", least = 0)))
}

#' @rdname dp_event
#' @export
event_zcdp <- function(rho, adjacency = NULL) {
  new_event("zcdp", open_adjacency(adjacency), list(rho = check_number(rho, "rho", least = 0)))
}

check_rdp_curve <- function(orders, epsilons) {
  plain <- function(x) {
    is.numeric(x) && !is.object(x) && is.null(dim(x)) && length(x) > 0 && !anyNA(x) && all(is.finite(x))
  }
  if (!plain(orders) || any(orders <= 1) || is.unsorted(orders, strictly = TRUE)) {
    abort_riemdp("argument", "`orders` must be increasing finite numbers above 1.")
  }
  if (!plain(epsilons) || length(epsilons) != length(orders) || any(epsilons < 0)) {
    abort_riemdp("argument", "`epsilons` must be finite numbers of at least 0, one for each order.")
  }
  list(orders = as.double(orders), epsilons = as.double(epsilons))
}

#' @rdname dp_event
#' @export
event_rdp <- function(orders, epsilons, adjacency = NULL) {
  new_event("rdp", open_adjacency(adjacency), check_rdp_curve(orders, epsilons))
}

#' @rdname dp_event
#' @export
event_approx <- function(epsilon, delta, adjacency = NULL) {
  new_event("approx", open_adjacency(adjacency),
            list(epsilon = check_number(epsilon, "epsilon", least = 0), delta = check_delta(delta)))
}

#' @rdname dp_event
#' @export
event_custom <- function(label, epsilon = NULL, delta = 0, rho = NULL, mu = NULL, orders = NULL, epsilons = NULL,
                         assumed = TRUE, adjacency = NULL) {
  label <- check_name(label, "label")
  if (!identical(assumed, TRUE)) {
    abort_riemdp("argument", "`assumed` must be TRUE: nothing here proves the bound of a custom event.")
  }
  adjacency <- open_adjacency(adjacency)
  claims <- c(
    if (!is.null(epsilon)) list(event_approx(epsilon, delta, adjacency)),
    if (!is.null(rho)) list(event_zcdp(rho, adjacency)),
    if (!is.null(mu)) list(event_gdp(mu, adjacency)),
    if (!is.null(orders) || !is.null(epsilons)) list(event_rdp(orders, epsilons, adjacency))
  )
  if (!length(claims)) {
    abort_riemdp("argument",
                 "a custom event needs a bound: `epsilon` (and `delta`), `rho`, `mu`, or `orders` and `epsilons`.")
  }
  new_event("custom", adjacency, list(label = label, assumed = TRUE), claims)
}

#' @rdname dp_event
#' @export
event_pair <- function(label, p, q, adjacency) {
  label <- check_name(label, "label")
  adjacency <- check_choice(adjacency, "adjacency", ADJACENCIES)
  p <- check_masses(p, "p")
  q <- check_masses(q, "q")
  if (length(p) != length(q)) abort_riemdp("argument", "`p` and `q` must be masses of the same outcomes.")
  new_event("pair", adjacency, list(label = label, p = p, q = q))
}

check_masses <- function(x, name, most = 1e6) {
  ok <- is.numeric(x) && !is.object(x) && is.null(dim(x)) && length(x) >= 1 && length(x) <= most && !anyNA(x) &&
    all(x >= 0) && isTRUE(abs(sum(x) - 1) <= 1e-9)
  if (!ok) {
    abort_riemdp("argument", sprintf("`%s` must be 1 to %g numbers of at least 0 that sum to 1 within 1e-9.", name,
                                     most))
  }
  as.double(x)
}

# the laws of a pair in one direction, list(p, q): the second first where a record enters
pair_laws <- function(parameters, enter = FALSE) {
  laws <- list(p = parameters$p / sum(parameters$p), q = parameters$q / sum(parameters$q))
  if (enter) list(p = laws$q, q = laws$p) else laws
}

# in the directions that count
pair_directions <- function(event) {
  lapply(c(FALSE, if (event$adjacency == "add-remove") TRUE), function(enter) pair_laws(event$parameters, enter))
}

# the adjacency of events that stand together
join_adjacency <- function(adjacencies) {
  fixed <- setdiff(unique(adjacencies), "either")
  if (length(fixed) > 1) {
    abort_riemdp("adjacency", paste(
      paste("events about a replaced record can't be combined with events about one record more or less: their noise",
            "multipliers"),
      "and prices mean different things. Restate all of them under one adjacency."))
  }
  if (length(fixed)) fixed else "either"
}

# fixes the adjacency of a combined event to what the caller or the theorem asks for
set_adjacency <- function(found, wanted, what) {
  if (wanted == "either") return(found)
  if (!found %in% c("either", wanted)) {
    abort_riemdp("adjacency",
                 sprintf("%s is about %s neighbours, but an event in it is about %s ones.", what, wanted, found))
  }
  wanted
}

check_share <- function(q, name = "q") {
  q <- check_number(q, name, least = 0, most = 1)
  if (q == 0) abort_riemdp("argument", sprintf("`%s` must be above 0.", name))
  q
}

#' @rdname dp_event
#' @export
event_poisson <- function(q, event, adjacency = "add-remove", most = NULL, records = NULL) {
  event <- check_event(event)
  add_remove <- check_choice(adjacency, "adjacency", rev(ADJACENCIES)) == "add-remove"
  if (is.null(most) != is.null(records) || !(is.null(most) || add_remove)) {
    abort_riemdp("argument", "`most` and `records` belong together, to one record more or less.")
  }
  if (!is.null(most)) return(poisson_capped(q, event, most, records))
  if (add_remove) return(poisson_of(q, event))
  if (event$type != "gaussian") {
    abort_riemdp("unsupported", paste("a Poisson sample about a replaced record has a theorem for Gaussian noise:",
                                      "`event` must be event_gaussian()."))
  }
  set_adjacency(event$adjacency, "add-remove", "the step of a Poisson sample")
  poisson_replaced(q, event$parameters$noise_multiplier)
}

poisson_replaced <- function(q, noise_multiplier) {
  q <- check_share(q)
  if (q == 1) {
    abort_riemdp("argument", "`q` must be below 1 about a replaced record: all records have half the noise multiplier.")
  }
  new_event("poisson_replaced", "replace-one",
            list(q = q, noise_multiplier = check_number(noise_multiplier, "noise_multiplier", positive = TRUE)))
}

poisson_capped <- function(q, event, most, records) {
  records <- as.double(check_count(records, "records", most = TIMES_MOST))
  most <- as.double(check_count(most, "most", most = records))
  whole <- poisson_of(q, event)
  if (most == records) return(whole)
  new_event("poisson_capped", whole$adjacency, list(q = whole$parameters$q, most = most, records = records),
            whole$children)
}

# The makers of events that hold others: these have been checked, and checking them again at every level would double
# the work each time.
poisson_of <- function(q, event) {
  q <- check_share(q)
  new_event("poisson", set_adjacency(event$adjacency, "add-remove", "Poisson sampling"), list(q = q), list(event))
}

#' @rdname dp_event
#' @export
event_allocation <- function(steps, event) allocation_of(steps, check_event(event))

allocation_of <- function(steps, event) {
  steps <- as.double(check_count(steps, "steps", most = ALLOCATION_MOST))
  new_event("allocation", set_adjacency(event$adjacency, "add-remove", "allocation by lot"), list(steps = steps),
            list(event))
}

ALLOCATION_MOST <- 1e9

#' @rdname dp_event
#' @export
event_sample <- function(q, event) sample_of(q, check_event(event))

sample_of <- function(q, event) {
  q <- check_share(q)
  if (q < 1) refuse_public_parts(event)
  new_event("sample", set_adjacency(event$adjacency, "replace-one", "sampling without replacement"), list(q = q),
            list(event))
}

#' @rdname dp_event
#' @export
event_resample <- function(size, n, event) resample_of(size, n, check_event(event))

resample_of <- function(size, n, event) {
  size <- as.double(check_count(size, "size", most = TIMES_MOST))
  n <- as.double(check_count(n, "n", least = 2, most = TIMES_MOST))
  if (event$type != "gaussian") {
    abort_riemdp("unsupported", paste("`event` must be event_gaussian(): what several copies of one record change is",
                                      "known for Gaussian noise."))
  }
  new_event("resample", set_adjacency(event$adjacency, "replace-one", "sampling with replacement"),
            list(size = size, n = n), list(event))
}

# In a sample of fixed size a record may have taken the place of one of another part, so that the dearest part alone
# isn't its price (proofs/ledger.md, section 7)
refuse_public_parts <- function(event) {
  if (identical(event$parameters$keys, "public")) {
    abort_riemdp("unsupported", paste("parts with public keys have no price where all records together are a sample",
                                      "without replacement: a record may have taken the place of one of another part."))
  }
  for (child in event$children) refuse_public_parts(child)
}

#' @rdname dp_event
#' @export
event_shuffle <- function(n, event, variation = NULL, common = NULL) {
  shuffle_of(n, check_event(event), variation, common)
}

shuffle_of <- function(n, event, variation = NULL, common = NULL) {
  n <- as.double(check_count(n, "n", least = 2, most = 1e9))
  if (event$type != "pure") {
    abort_riemdp("unsupported",
                 "`event` must be event_pure(): shuffling has a theorem for local randomisers that are epsilon-DP.")
  }
  told <- shuffle_numbers(event$parameters$epsilon, variation, common)
  new_event("shuffle", set_adjacency(event$adjacency, "replace-one", "shuffling"), c(list(n = n), told), list(event))
}

#' @rdname dp_event
#' @export
event_select <- function(event, mean, shape = 1) select_of(check_event(event), mean, shape)

select_of <- function(event, mean, shape) {
  mean <- check_number(mean, "mean", least = 1, most = 1e9)
  shape <- check_number(shape, "shape", least = 0, most = 100)
  if (mean <= 1) abort_riemdp("argument", "`mean` must be above 1: a step that is run once is the step itself.")
  new_event("select", event$adjacency, list(mean = mean, shape = shape), list(event))
}

# events given one by one or as a list
gather_events <- function(...) {
  children <- list(...)
  if (length(children) == 1 && is.list(children[[1]]) && !inherits(children[[1]], "riemdp_event") &&
      !is.object(children[[1]])) {
    children <- children[[1]]
  }
  if (!length(children)) abort_riemdp("event", "at least one event is needed.")
  unname(lapply(children, check_event))
}

check_times <- function(times) {
  times <- check_number(times, "times", least = 1, most = TIMES_MOST)
  if (times != round(times)) {
    abort_riemdp("argument", sprintf("`times` must be a whole number from 1 to %g.", TIMES_MOST))
  }
  as.double(times)
}

#' @rdname dp_event
#' @export
event_compose <- function(..., times = 1, adjacency = NULL) compose_of(gather_events(...), times, adjacency)

compose_of <- function(children, times, adjacency) {
  times <- check_times(times)
  found <- join_adjacency(vapply(children, `[[`, "", "adjacency"))
  new_event("compose", set_adjacency(found, open_adjacency(adjacency), "the composition"), list(times = times),
            children)
}

#' @rdname dp_event
#' @export
event_parallel <- function(..., keys = "public", adjacency = NULL) parallel_of(gather_events(...), keys, adjacency)

parallel_of <- function(children, keys, adjacency) {
  keys <- check_choice(keys, "keys", c("public", "private"))
  found <- join_adjacency(vapply(children, `[[`, "", "adjacency"))
  adjacency <- open_adjacency(adjacency)
  if (keys == "public") {
    return(new_event("parallel", set_adjacency(found, adjacency, "the composition"), list(keys = keys), children))
  }
  # a replaced record changes the sizes of two parts
  set_adjacency(found, "add-remove", "a part chosen by private values")
  new_event("parallel", set_adjacency("replace-one", adjacency, "parallel composition over private keys"),
            list(keys = keys), children)
}

#' Checks that an object is an event as its constructor makes it
#'
#' For events that come from a file. Every number is checked again, and the adjacencies of everything inside.
#'
#' @param event an object.
#' @return The event, made anew.
#' @section Errors: `riemdp_error_event` and those of the constructors ([dp_event]).
#' @examples
#' check_event(event_gaussian(2))
#' @export
check_event <- function(event) check_event_at(event, 1)

check_event_at <- function(event, depth) {
  parts <- event_entries(event, depth)
  inner <- lapply(unname(parts$children), check_event_at, depth + 1)
  # atomic parts have no children, and wrappers one: else something was added by hand
  count <- switch(parts$type, poisson = , poisson_capped = , allocation = , sample = , resample = , shuffle = ,
                  select = 1, compose = , parallel = , custom = NA, 0)
  if (if (is.na(count)) !length(inner) else length(inner) != count) broken_event()
  made <- remake_event(parts$type, parts$parameters, parts$adjacency, inner)
  # also by their whole names
  if (!identical(made$adjacency, parts$adjacency) || !setequal(names(made$parameters), names(parts$parameters))) {
    broken_event()
  }
  made
}

broken_event <- function() {
  abort_riemdp("event", "an event must be as its constructor makes it, e.g. event_gaussian(1).")
}

# an event's entries, each of the kind that it must be
event_entries <- function(event, depth) {
  if (!inherits(event, "riemdp_event") || !is.list(event) || depth > 50) broken_event()
  parts <- unclass(event)
  if (!identical(names(parts), c("type", "adjacency", "parameters", "children"))) broken_event()
  plain_list <- function(x) is.list(x) && !is.object(x)
  one_of <- function(x, words) is.character(x) && length(x) == 1 && x %in% words
  ok <- one_of(parts$type, EVENT_TYPES) && plain_list(parts$parameters) && plain_list(parts$children) &&
    one_of(parts$adjacency, c(ADJACENCIES, "either"))
  if (!ok) broken_event()
  parts
}

# by its constructor, which checks each parameter
# long: a line for each kind of event
remake_event <- function(type, p, adjacency, inner) {
  switch(type,
    pure = event_pure(p$epsilon, adjacency, p$range %||% FALSE), laplace = event_laplace(p$scale, adjacency),
    discrete_laplace = event_discrete_laplace(p$scale, p$sensitivity, adjacency),
    gaussian = event_gaussian(p$noise_multiplier, adjacency),
    discrete_gaussian = event_discrete_gaussian(p$sigma, p$sensitivity, p$dimension, adjacency),
    mixture = event_mixture(p$noise_multiplier, p$moves, p$probabilities),
    gdp = event_gdp(p$mu, adjacency), zcdp = event_zcdp(p$rho, adjacency),
    rdp = event_rdp(p$orders, p$epsilons, adjacency), approx = event_approx(p$epsilon, p$delta, adjacency),
    custom = remake_custom(p, adjacency, inner), pair = event_pair(p$label, p$p, p$q, adjacency),
    poisson = poisson_of(p$q, inner[[1]]), poisson_replaced = poisson_replaced(p$q, p$noise_multiplier),
    poisson_capped = poisson_capped(p$q, inner[[1]], p$most, p$records),
    allocation = allocation_of(p$steps, inner[[1]]), sample = sample_of(p$q, inner[[1]]),
    resample = resample_of(p$size, p$n, inner[[1]]), shuffle = shuffle_of(p$n, inner[[1]], p$variation, p$common),
    select = select_of(inner[[1]], p$mean, p$shape),
    compose = compose_of(inner, p$times, adjacency), parallel = parallel_of(inner, p$keys, adjacency)
  )
}

remake_custom <- function(p, adjacency, claims) {
  known <- vapply(claims, `[[`, "", "type") %in% c("approx", "zcdp", "gdp", "rdp")
  if (!all(known) || !identical(p$assumed, TRUE) || !is.character(p$label) || length(p$label) != 1) broken_event()
  new_event("custom", adjacency, list(label = check_name(p$label, "label"), assumed = TRUE), claims)
}
