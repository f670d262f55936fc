# Events as text that other accountants read: the fields of Google's dp_accounting, as JSON.

#' Events as JSON
#'
#' `event_to_json()` writes an event as text that the Python package dp_accounting of Google can take in, and
#' `event_from_json()` reads such text: an object has a `module_name` and a `class_name`, which dp_accounting's
#' `DpEvent.from_named_tuple()` wants, and the fields of that class. Numbers have 17 digits, so they come back as they
#' were; those that stand there as 1 over ours, and shares, are rounded to the dearer side.
#'
#' Classes know no adjacency, which the accountant there is told: neighbours that differ by a replaced record or by one
#' record more or less have other noise multipliers. So `adjacency` has to be said where it matters.
#'
#' | event | class |
#' |---|---|
#' | `event_gaussian()`, `event_gdp()` | `GaussianDpEvent` |
#' | `event_laplace()`, `event_discrete_laplace()` | `LaplaceDpEvent`, `DiscreteLaplaceDpEvent`: of one number |
#' | `event_discrete_gaussian()` | `DiscreteGaussianDpEvent`; there without a dimension: more than one here |
#' | `event_mixture()` | `MixtureOfGaussiansDpEvent` |
#' | `event_pure()` | `EpsilonDeltaDpEvent`, with a range `ExponentialMechanismDpEvent` |
#' | `event_approx()`, `event_zcdp()` | `EpsilonDeltaDpEvent`, `ZCDpEvent` |
#' | `event_poisson()`, `event_select()` | `PoissonSampledDpEvent`, `RepeatAndSelectDpEvent` |
#' | `event_poisson()` with `most`, of Gaussian noise | `TruncatedSubsampledGaussianDpEvent` |
#' | `event_resample()` | `SampledWithReplacementDpEvent` |
#' | `event_allocation()` | `RandomAllocationDpEvent` with one step selected |
#' | `event_compose()` | `ComposedDpEvent`, `SelfComposedDpEvent` |
#'
#' Read, but not written: `SampledWithoutReplacementDpEvent` (the share is all that is kept of two sizes),
#' `PermuteAndFlipDpEvent` and `RandomizedResponseDpEvent` (as `event_pure()`), `SingleEpochTreeAggregationDpEvent` (as
#' the normal noise that it is), `NoOpDpEvent`. Of others nothing is known on one side.
#'
#' @param event an event ([dp_event]).
#' @param text one string.
#' @param adjacency of the event that is read: `"replace-one"`, `"add-remove"`, or `NULL` where the event says it itself
#'   or leaves it open.
#' @return One string; an event.
#' @section Errors:
#' `riemdp_error_unsupported` for what the other side has no class for, `riemdp_error_event` for text that is no such
#' JSON, and those of the events' constructors. Reading needs the package `jsonlite`.
#' @references Google's differential privacy library, dp_accounting,
#'   <https://github.com/google/differential-privacy/tree/main/python/dp_accounting>
#' @seealso [dp_event], [check_event()]
#' @examples
#' plan <- event_compose(event_poisson(0.01, event_gaussian(1)), times = 1000)
#' text <- event_to_json(plan)
#' text
#' if (requireNamespace("jsonlite", quietly = TRUE)) event_from_json(text)
#' @name event_json
NULL

#' @rdname event_json
#' @export
event_to_json <- function(event) json_of_event(check_event(event))

# long: a line for each kind of event
json_of_event <- function(e) {
  p <- e$parameters
  inner <- vapply(e$children, json_of_event, "")
  number <- function(x) sprintf("%.17g", x)
  list_of <- function(x) sprintf("[%s]", paste(x, collapse = ", "))
  switch(e$type,
    gaussian = json_class("Gaussian", noise_multiplier = number(p$noise_multiplier)),
    gdp = if (p$mu > 0) json_class("Gaussian", noise_multiplier = number(min(outwards_down(1 / p$mu), 1e308))) else
      json_class("NoOp"),
    laplace = json_class("Laplace", noise_multiplier = number(p$scale)),
    discrete_laplace = json_class("DiscreteLaplace", noise_parameter = number(outwards(json_rate(p$scale))),
                                  sensitivity = number(p$sensitivity)),
    discrete_gaussian = json_class("DiscreteGaussian", sigma = number(p$sigma), sensitivity = number(p$sensitivity),
                                   dimension = number(p$dimension)),
    mixture = json_class("MixtureOfGaussians", standard_deviation = number(p$noise_multiplier),
                         sensitivities = list_of(number(p$moves)), sampling_probs = list_of(number(p$probabilities))),
    pure = if (isTRUE(p$range)) json_class("ExponentialMechanism", epsilon = number(p$epsilon)) else
      json_class("EpsilonDelta", epsilon = number(p$epsilon), delta = "0"),
    approx = json_class("EpsilonDelta", epsilon = number(p$epsilon), delta = number(p$delta)),
    zcdp = json_class("ZC", rho = number(p$rho), xi = "0"),
    poisson = json_class("PoissonSampled", sampling_probability = number(p$q), event = inner),
    poisson_capped = {
      if (e$children[[1]]$type != "gaussian") {
        abort_riemdp("unsupported", "dp_accounting has a class for samples that are cut of Gaussian noise alone.")
      }
      json_class("TruncatedSubsampledGaussian", dataset_size = sprintf("%.0f", p$records),
                 sampling_probability = number(p$q), truncated_batch_size = sprintf("%.0f", p$most),
                 noise_multiplier = number(e$children[[1]]$parameters$noise_multiplier))
    },
    allocation = json_class("RandomAllocation", event = inner, num_selected = "1",
                            num_steps = sprintf("%.0f", p$steps)),
    resample = json_class("SampledWithReplacement", source_dataset_size = sprintf("%.0f", p$n),
                          sample_size = sprintf("%.0f", p$size), event = inner),
    select = json_class("RepeatAndSelect", event = inner, mean = number(p$mean), shape = number(p$shape)),
    compose = {
      one <- if (length(inner) == 1) inner else json_class("Composed", events = list_of(inner))
      if (p$times == 1) one else json_class("SelfComposed", event = one, count = sprintf("%.0f", p$times))
    },
    abort_riemdp("unsupported", sprintf("dp_accounting has no class for an event of type \"%s\".", e$type))
  )
}

json_class <- function(name, ...) {
  fields <- c(module_name = "\"dp_accounting.dp_event\"", class_name = sprintf("\"%sDpEvent\"", name), ...)
  sprintf("{%s}", paste(sprintf("\"%s\": %s", names(fields), fields), collapse = ", "))
}

#' @rdname event_json
#' @export
event_from_json <- function(text, adjacency = NULL) {
  if (!is_string(text)) abort_riemdp("argument", "`text` must be one string.")
  adjacency <- open_adjacency(adjacency)
  if (!requireNamespace("jsonlite", quietly = TRUE)) {
    abort_riemdp("unsupported", "event_from_json() needs the package 'jsonlite'.")
  }
  # brackets within brackets: the parser calls itself for each
  bytes <- charToRaw(text)
  deep <- max(0, cumsum((bytes %in% charToRaw("[{")) - (bytes %in% charToRaw("]}"))))
  if (deep > 200) broken_json()
  read <- tryCatch(jsonlite::parse_json(text), error = function(e) broken_json())
  check_event(event_of_json(read, adjacency, 1))
}

broken_json <- function() {
  abort_riemdp("event", "`text` must be JSON of an event with its `class_name` and the fields of that class.")
}

# One object. Its fields must be those of its class, each a number, or list of numbers, or another event.
event_of_json <- function(x, adjacency, depth) {
  name <- if (is.list(x) && is_string(x$class_name)) sub("DpEvent$", "", x$class_name)
  if (is.null(name) || depth > 50 || is.null(names(x)) || anyDuplicated(names(x))) broken_json()
  fields <- JSON_FIELDS[[name]] %||% json_unknown(name)
  module <- x[["module_name"]] %||% "dp_accounting.dp_event"
  if (!all(names(x) %in% c("module_name", "class_name", fields)) || !identical(module, "dp_accounting.dp_event")) {
    broken_json()
  }
  within <- if ("events" %in% fields) x[["events"]] else if ("event" %in% fields) list(x[["event"]])
  if (any(c("event", "events") %in% fields) && !(is.list(within) && length(within))) broken_json()
  inner <- list()
  for (one in within) inner[[length(inner) + 1]] <- event_of_json(one, adjacency, depth + 1)
  event_of_class(name, x, inner, adjacency)
}

# long: a line for each class
event_of_class <- function(name, x, inner, adjacency) {
  number <- function(field) json_numbers(x[[field]], 1)
  switch(name,
    Gaussian = event_gaussian(number("noise_multiplier"), adjacency),
    Laplace = event_laplace(number("noise_multiplier"), adjacency),
    DiscreteLaplace = event_discrete_laplace(outwards_down(1 / number("noise_parameter")),
                                              number("sensitivity"), adjacency),
    DiscreteGaussian = event_discrete_gaussian(
      number("sigma"), if (is.null(x$sensitivity)) 1 else number("sensitivity"),
      if (is.null(x$dimension)) 2 else number("dimension"), adjacency
    ),
    MixtureOfGaussians = {
      set_adjacency("add-remove", adjacency, "a mixture of moves")
      event_mixture(number("standard_deviation"), json_numbers(x$sensitivities), json_numbers(x$sampling_probs))
    },
    EpsilonDelta = if (number("delta") == 0) event_pure(number("epsilon"), adjacency) else
      event_approx(number("epsilon"), number("delta"), adjacency),
    ExponentialMechanism = event_pure(number("epsilon"), adjacency, range = TRUE),
    PermuteAndFlip = event_pure(number("epsilon"), adjacency),
    RandomizedResponse = event_pure(response_epsilon(number("noise_parameter"), number("num_buckets")), adjacency),
    ZC = {
      if (!is.null(x$xi) && number("xi") != 0) abort_riemdp("unsupported", "zCDP with an `xi` has no event here.")
      event_zcdp(number("rho"), adjacency)
    },
    SingleEpochTreeAggregation = event_gaussian(
      outwards_down(number("noise_multiplier") / sqrt(tree_levels(json_numbers(x$step_counts)))), adjacency
    ),
    PoissonSampled = poisson_of(number("sampling_probability"), inner[[1]]),
    SampledWithoutReplacement = sample_of(json_share(number("sample_size"), number("source_dataset_size")), inner[[1]]),
    TruncatedSubsampledGaussian = poisson_capped(
      number("sampling_probability"), event_gaussian(number("noise_multiplier"), adjacency),
      min(number("truncated_batch_size"), number("dataset_size")), number("dataset_size")
    ),
    RandomAllocation = {
      if (number("num_selected") != 1) {
        abort_riemdp("unsupported", "a record in more than one step has an event here by blocks alone.")
      }
      allocation_of(number("num_steps"), inner[[1]])
    },
    SampledWithReplacement = resample_of(number("sample_size"), number("source_dataset_size"), inner[[1]]),
    RepeatAndSelect = select_of(inner[[1]], number("mean"), number("shape")),
    SelfComposed = compose_of(inner, number("count"), adjacency),
    Composed = compose_of(inner, 1, adjacency),
    NoOp = event_pure(0, adjacency)
  )
}

JSON_FIELDS <- list(
  Gaussian = "noise_multiplier", Laplace = "noise_multiplier", DiscreteLaplace = c("noise_parameter", "sensitivity"),
  DiscreteGaussian = c("sigma", "sensitivity", "dimension"),
  MixtureOfGaussians = c("standard_deviation", "sensitivities", "sampling_probs"), EpsilonDelta = c("epsilon", "delta"),
  ExponentialMechanism = "epsilon", PermuteAndFlip = "epsilon",
  RandomizedResponse = c("noise_parameter", "num_buckets"), ZC = c("rho", "xi"),
  SingleEpochTreeAggregation = c("noise_multiplier", "step_counts"),
  PoissonSampled = c("sampling_probability", "event"),
  SampledWithoutReplacement = c("source_dataset_size", "sample_size", "event"),
  SampledWithReplacement = c("source_dataset_size", "sample_size", "event"),
  TruncatedSubsampledGaussian = c("dataset_size", "sampling_probability", "truncated_batch_size", "noise_multiplier"),
  RandomAllocation = c("event", "num_selected", "num_steps"),
  RepeatAndSelect = c("event", "mean", "shape"), SelfComposed = c("event", "count"), Composed = "events",
  NoOp = character()
)

json_unknown <- function(name) {
  known <- grepl("^[A-Za-z]{1,60}$", name)
  abort_riemdp("unsupported", sprintf("there is no event here for dp_accounting's class %s.",
                                      if (known) paste0(name, "DpEvent") else "of that name"))
}

# `count` numbers, or however many there are
json_numbers <- function(x, count = length(x)) {
  plain <- function(one) is.numeric(one) && length(one) == 1
  ok <- length(x) == count && length(x) > 0 && is.null(names(x)) && all(vapply(x, plain, NA))
  if (!ok) broken_json()
  as.double(unlist(x))
}

# 1/scale, where that is a number
json_rate <- function(scale) {
  if (scale < 1e-307) abort_riemdp("unsupported", "dp_accounting has no number for noise that small.")
  1 / scale
}

# the share of a sample, rounded up
json_share <- function(size, of) {
  if (!(size >= 1 && size <= of && size == round(size) && of == round(of))) broken_json()
  if (size == of) 1 else min(1, outwards(size / of))
}

# in how many nodes of its tree a record is at most
tree_levels <- function(steps) {
  if (!all(steps >= 1 & steps <= 1e9 & steps == round(steps))) broken_json()
  ceiling(log2(max(steps) + 1))
}

# with probability p another answer by lot, of k: log(1 + k (1 - p)/p), rounded up
response_epsilon <- function(p, k) {
  if (!(p > 0 && p <= 1 && k >= 2 && k == round(k))) broken_json()
  outwards(log1p(k * (1 - p) / p))
}
