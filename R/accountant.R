# One door to all accountants: dp_epsilon() and what is made of it.

# The accountants: one entry each, in the order in which "auto" asks them. What it must hold:
#   epsilon  name of the function of (event, delta) that gives it in a list with `value`
#   delta    name of the one of (event, epsilon), NA where there is none
#   prices   which events, in words
#   by       how, in words
#   suits    what it is for, in words
#   colour   its colour in pictures
# and, where they hold:
#   auto     TRUE: an upper bound whatever the event, so "auto" may take it
#   proven   TRUE: a bound with a proof
#   exact    TRUE: nothing is below its price where it has one
#   closed   TRUE: a closed form, quick enough to be found to the last digits
#   converts TRUE: its functions take a `conversion`
#   lower    name of the function of (event, given, wanted, value) that bounds the true value from below, NA where it
#            can't; `given` is delta where `wanted` is "epsilon", and the other way round
#   both     name of the function of (event, given, wanted) that gives list(value, lower), finer than `epsilon` alone
#   once     TRUE: it prices one step, so it has no line in a picture over numbers of steps
#   note     what a price by it says of itself
ACCOUNTANT_TABLE <- list(
  gdp = list(
    epsilon = "gdp_accountant_epsilon", delta = "gdp_accountant_delta",
    prices = "Gaussian steps", by = "exact", suits = "Gaussian noise alone: exact", colour = "#CC79A7",
    lower = "gdp_lower", auto = TRUE, proven = TRUE, exact = TRUE, closed = TRUE
  ),
  pure = list(
    epsilon = "pure_epsilon", delta = "pure_delta",
    prices = "(epsilon, delta) steps", by = "sums", suits = "few steps with a pure epsilon, no delta wanted",
    colour = "#000000", lower = "pure_lower", auto = TRUE, proven = TRUE, closed = TRUE
  ),
  single = list(
    epsilon = "single_epsilon", delta = "single_delta",
    prices = "one step, sampled or not; one shuffle", by = "its privacy profile in closed form",
    suits = "one step: exact", colour = "#F0E442", lower = "single_lower",
    auto = TRUE, proven = TRUE, exact = TRUE, once = TRUE
  ),
  optimal = list(
    epsilon = "optimal_epsilon", delta = "optimal_delta",
    prices = "equal (epsilon, delta) steps", by = "exact composition of these numbers (Kairouz, Oh and Viswanath)",
    suits = "many equal steps of which only (epsilon, delta) is known", colour = "#56B4E9",
    lower = "optimal_lower", auto = TRUE, proven = TRUE
  ),
  zcdp = list(
    epsilon = "zcdp_accountant_epsilon", delta = "zcdp_accountant_delta",
    prices = "Gaussian, discrete, pure, zCDP", by = "sum of rho",
    suits = "Gaussian and pure steps mixed, many of them; simple to add up by hand", colour = "#009E73",
    auto = TRUE, proven = TRUE, closed = TRUE, converts = TRUE
  ),
  rdp = list(
    epsilon = "rdp_epsilon", delta = "rdp_delta",
    prices = "those of zCDP, and Poisson samples, samples without replacement, tables", by = "sum at the best order",
    suits = "steps of these kinds and samples of them; a few milliseconds", colour = "#D55E00",
    auto = TRUE, proven = TRUE, converts = TRUE
  ),
  pld = list(
    epsilon = "pld_epsilon", delta = "pld_delta",
    prices = "all but zCDP and RDP bounds", by = "privacy-loss distributions, convolved by FFT",
    suits = "nearly everything: the tightest, a little slower", colour = "#0072B2", both = "pld_both", auto = TRUE,
    proven = TRUE
  ),
  advanced = list(
    epsilon = "advanced_epsilon", delta = NA,
    prices = "pure steps", by = "Dwork, Rothblum and Vadhan; for comparison",
    suits = "comparison with what others report", colour = "#E69F00", proven = TRUE, closed = TRUE
  ),
  moments = list(
    epsilon = "moments_epsilon", delta = "moments_delta",
    prices = "Gaussian steps, samples without replacement",
    by = "Utpala et al., Claims 3 and 4: constant not proven", suits = "comparison: not proven, and says so",
    colour = "grey30", converts = TRUE, note = "a published bound whose constant is not proven"
  ),
  clt = list(
    epsilon = "clt_epsilon", delta = "clt_delta",
    prices = "sampled Gaussian steps", by = "central limit theorem: an **estimate**, no bound",
    suits = "comparison: an estimate, and says so", colour = "grey60",
    note = "an estimate by the central limit theorem, no bound"
  )
)
# names of those whose entry says something of `what`
accountants_with <- function(what) names(Filter(function(a) !is.null(a[[what]]), ACCOUNTANT_TABLE))

ACCOUNTANTS <- c("auto", names(ACCOUNTANT_TABLE))
SOUND <- accountants_with("auto")

#' What events cost
#'
#' `dp_epsilon()` gives an epsilon at which the event is (epsilon, delta)-DP, `dp_delta()` a delta for a given epsilon.
#' Both are upper bounds: rounding, truncation and grids are accounted for on the safe side. The price is for a plan
#' whose events were all fixed before the first draw; events chosen after earlier results add up in a ledger by
#' [event_price()].
#'
#' `r entry_rows(ACCOUNTANT_TABLE, c("accountant", "prices", "by"), c("prices", "by"))`
#'
#' `"auto"` takes the smallest of those that are proven bounds and apply. An event that an accountant can't price is an
#' error, never free.
#'
#' @param event an event ([dp_event]).
#' @param delta from 0 (pure steps only) to below 1.
#' @param epsilon at least 0.
#' @param accountant `r choice_words(ACCOUNTANTS, code = TRUE)`.
#' @param conversion how a Renyi bound becomes (epsilon, delta): `"best"`, `"asoodeh"` (Asoodeh et al. 2020, which is
#'   optimal at its order), `"balle"` (Balle et al. 2020; Canonne, Kamath and Steinke 2020), `"mironov"` (Mironov 2017),
#'   and for `"zcdp"` also `"bun-steinke"` (Bun and Steinke 2016).
#' @return A number of class `riemdp_price` that names its accountant: attributes `accountant`, `assumed` (whether a
#'   custom event's bound was taken on trust), `proven` (`FALSE` for
#'   `r choice_words(setdiff(ACCOUNTANTS[-1], accountants_with("proven")), "and", TRUE)`), `lower`, and where there is
#'   one the Renyi `order` or `mu`. Arithmetic gives plain numbers.
#' @section How near the answer is to the truth:
#' The attribute `lower` bounds the true value from below: closed forms are exact up to 1e-10 of the value, and `"pld"`
#' rounds the other way as well and refines its grid until both ends are within 1e-4 of each other, as far as memory and
#' rounding allow. The price's line says `exact`, or `at least` and where the ends are further apart by how much.
#' `lower` is `NA`, and the line says why, where an accountant bounds from above only (`"zcdp"`, `"rdp"`), and where the
#' event's own bound isn't known to be attained: claims of `event_custom()`, shuffles, and private parts of one record
#' more or less.
#' @section Errors: `riemdp_error_unpriced`, `riemdp_error_event`, `riemdp_error_adjacency`, `riemdp_error_argument`.
#' @references Balle and Wang (2018), \url{https://proceedings.mlr.press/v80/balle18a.html}. Kairouz, Oh and Viswanath
#'   (2017), \doi{10.1109/TIT.2017.2685505}. Mironov, Talwar and Zhang (2019), \doi{10.48550/arXiv.1908.10530}. Wang,
#'   Balle and Kasiviswanathan (2019), \url{https://proceedings.mlr.press/v89/wang19b.html}. Asoodeh et al. (2020),
#'   \doi{10.1109/ISIT44484.2020.9174015}. Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022),
#'   \doi{10.56553/popets-2022-0122}. Dong, Roth and Su (2022), \doi{10.1111/rssb.12454}.
#' @examples
#' training <- event_compose(event_poisson(0.01, event_gaussian(1)), times = 10000)
#' dp_epsilon(training, 1e-6)
#' dp_epsilon(training, 1e-6, accountant = "rdp")
#' dp_delta(event_gaussian(1), epsilon = 1)
#' dp_epsilon(event_compose(event_pure(0.1), times = 100), delta = 1e-6)
#' @export
dp_epsilon <- function(event, delta, accountant = "auto", conversion = "best") {
  event <- check_event(event)
  delta <- check_delta(delta)
  ask_accountants(event, delta, "epsilon", accountant, conversion, both = TRUE)
}

# the answer alone: what is asked many times needs no lower end
upper_epsilon <- function(event, delta, accountant = "auto") {
  ask_accountants(check_event(event), check_delta(delta), "epsilon", accountant, "best")
}

upper_delta <- function(event, epsilon) ask_accountants(event, epsilon, "delta", "auto", "best")

#' @rdname dp_epsilon
#' @export
dp_delta <- function(event, epsilon, accountant = "auto", conversion = "best") {
  event <- check_event(event)
  epsilon <- check_number(epsilon, "epsilon", least = 0)
  ask_accountants(event, epsilon, "delta", accountant, conversion, both = TRUE)
}

# `given` is delta where epsilon is wanted, and the other way round; `both`: with a lower bound of the true value, where
# there is one
ask_accountants <- function(event, given, wanted, accountant, conversion, both = FALSE) {
  accountant <- check_choice(accountant, "accountant", ACCOUNTANTS)
  conversion <- check_choice(conversion, "conversion", ZCDP_CONVERSIONS)
  if (conversion == "bun-steinke" && accountant != "zcdp") {
    abort_riemdp("argument", "`conversion` \"bun-steinke\" is for `accountant` \"zcdp\".")
  }
  event <- top_level(event)
  capped <- uncapped(event)
  if (capped$chance > 0) {
    out <- ask_capped(capped, given, wanted, accountant, conversion)
    attr(out, "lower") <- if (both) NA_real_
    attr(out, "attained") <- FALSE
    return(out)
  }
  if (both && !pairs_attained(event)) {
    out <- ask_accountants(event, given, wanted, accountant, conversion)
    attr(out, "lower") <- NA_real_
    attr(out, "attained") <- FALSE
    return(out)
  }
  choices <- if (event$type == "parallel") parallel_choices(event)
  if (length(choices)) {
    # the dearest of what a record may meet, at this very question
    each <- lapply(choices, function(choice) ask_accountants(choice, given, wanted, accountant, conversion, both))
    out <- each[[which.max(vapply(each, as.double, 0))]]
    attr(out, "assumed") <- event_assumed(event)
    # one of the choices costs as much as its own lower end
    if (both) attr(out, "lower") <- max_known(vapply(each, attr, 0, "lower"))
    return(out)
  }
  if (accountant != "auto") return(ask_one(accountant, event, given, wanted, conversion, both))
  best_answer(event, given, wanted, conversion, both)
}

# The event with samples of any size in place of those that are cut to `most` records, as far as steps are composed, and
# the chance that any of them is cut: list(event, chance)
uncapped <- function(event) {
  if (event$type == "poisson_capped") {
    p <- event$parameters
    return(list(event = new_event("poisson", event$adjacency, list(q = p$q), event$children),
                chance = capped_chance(p)))
  }
  if (event$type != "compose") return(list(event = event, chance = 0))
  each <- lapply(event$children, uncapped)
  event$children <- lapply(each, `[[`, "event")
  list(event = event, chance = event$parameters$times * sum(vapply(each, `[[`, 0, "chance")))
}

# The price of what differs from a priced event with a small chance: delta grows by chance (1 + e^epsilon)
# (proofs/accounting.md, section 1). An epsilon is found by raising it until the rest of delta is enough for it.
ask_capped <- function(capped, given, wanted, accountant, conversion) {
  ask <- function(given) ask_accountants(capped$event, given, wanted, accountant, conversion)
  if (wanted == "delta") {
    out <- ask(given)
    out[] <- min(1, as.double(out) + capped_delta(capped$chance, given))
    return(out)
  }
  epsilon <- 0
  for (round in 1:100) {
    rest <- given - capped_delta(capped$chance, epsilon)
    if (!(rest > 0)) break
    out <- ask(rest)
    if (as.double(out) <= epsilon) {
      out[] <- epsilon
      return(out)
    }
    epsilon <- as.double(out) * (1 + 1e-7)
  }
  unpriced(capped$event, "(epsilon, delta)", "the chance that a sample is cut to fewer records leaves nothing of delta")
}

max_known <- function(x) if (all(is.na(x))) NA_real_ else max(x, na.rm = TRUE)

ask_one <- function(name, event, given, wanted, conversion, both) {
  entry <- ACCOUNTANT_TABLE[[name]]
  if (is.na(entry[[wanted]])) unpriced(event, dQuote(name, FALSE), sprintf("it gives no %s", wanted))
  by <- function(what) get(entry[[what]], mode = "function")
  if (both && !is.null(entry$both)) {
    found <- by("both")(event, given, wanted)
  } else {
    found <- if (isTRUE(entry$converts)) by(wanted)(event, given, conversion) else by(wanted)(event, given)
  }
  if (both && !is.null(entry$lower)) found$lower <- by("lower")(event, given, wanted, found$value)
  new_price(found$value, wanted, name, event, found, both)
}

best_answer <- function(event, given, wanted, conversion, both) {
  refusals <- character()
  best <- NULL
  lower <- NA_real_
  for (name in SOUND) {
    found <- tryCatch(ask_one(name, event, given, wanted, conversion, both), riemdp_error_unpriced = function(e) {
      refusals[[name]] <<- conditionMessage(e)
      NULL
    })
    if (is.null(found)) next
    # whoever finds it, a lower bound is one
    if (both) lower <- max_known(c(lower, attr(found, "lower")))
    if (is.null(best) || as.double(found) < as.double(best)) best <- found
    # nothing is below an exact price, or below 0
    if (as.double(found) == 0) lower <- 0
    if (name %in% accountants_with("exact") || as.double(found) == 0) break
  }
  if (is.null(best)) {
    abort_riemdp("unpriced",
                 paste("no accountant prices this event at this", if (wanted == "epsilon") "delta:" else "epsilon:",
                       refusals[[length(refusals)]]))
  }
  if (both) attr(best, "lower") <- min(lower, as.double(best))
  best
}

# Whether the events' dominating pairs are attained, so that a lower bound for them is one for the truth: not what is
# only claimed, not the pairs of a shuffle and of a choice, not a group of two in a part
pairs_attained <- function(event) {
  grouped <- identical(event$parameters$keys, "private") &&
    any(vapply(event$children, `[[`, "", "adjacency") == "add-remove")
  claimed <- event$type %in% c("custom", "shuffle", "select", "pair", "resample")
  !claimed && !grouped && all(vapply(event$children, pairs_attained, NA))
}

# an event that stands for one other
top_level <- function(event) {
  while ((event$type == "compose" && length(event$children) == 1 && event$parameters$times == 1) ||
           (event$type %in% c("poisson", "sample") && event$parameters$q == 1) ||
           (event$type == "allocation" && event$parameters$steps == 1)) {
    event <- event$children[[1]]
  }
  event
}

new_price <- function(value, quantity, accountant, event, found = list(), both = FALSE) {
  structure(as.double(value), quantity = quantity, accountant = accountant, assumed = event_assumed(event),
            proven = accountant %in% accountants_with("proven"), order = found$order, mu = found$mu,
            lower = if (both) as.double(found$lower %||% NA), class = "riemdp_price")
}

#' @rdname dp_epsilon
#' @param x a price.
#' @param ... not used.
#' @export
format.riemdp_price <- function(x, ...) {
  quantity <- attr(x, "quantity")
  accountant <- attr(x, "accountant")
  sprintf("%s = %.6g by %s%s%s%s", quantity, as.double(x), accountant,
          if (accountant %in% accountants_with("note")) sprintf(" (%s)", ACCOUNTANT_TABLE[[accountant]]$note) else "",
          if (isTRUE(attr(x, "assumed"))) " (rests on an assumed bound)" else "", lower_words(x))
}

# what is known from below, in words
lower_words <- function(x) {
  lower <- attr(x, "lower")
  value <- as.double(x)
  if (is.null(lower) || !is.finite(value)) return("")
  if (is.na(lower)) return(sprintf(", no lower bound: %s", why_no_lower(x)))
  if (value - lower <= 1e-9 * value) return(", exact")
  if (lower == 0) return(", nothing is known from below")
  gap <- value / lower - 1
  sprintf(", at least %.6g%s", lower, if (gap > BRACKET) sprintf(" (%.2g %% apart)", 100 * gap) else "")
}

BRACKET <- 1e-4 # relative distance of the two ends that needs no words

why_no_lower <- function(x) {
  entry <- ACCOUNTANT_TABLE[[attr(x, "accountant")]]
  if (is.null(entry$proven)) return("it is no proven bound")
  if (isFALSE(attr(x, "attained"))) return("the events' own bound isn't known to be attained")
  if (is.null(entry$lower)) return("this accountant bounds from above only")
  "none is near"
}

#' @rdname dp_epsilon
#' @param row.names,optional as in [as.data.frame()].
#' @return `as.data.frame()`: one row with `quantity`, `value`, `lower`, `accountant`, `proven` and `assumed`.
#' @export
as.data.frame.riemdp_price <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(quantity = attr(x, "quantity"), value = as.double(x), lower = attr(x, "lower") %||% NA_real_,
             accountant = attr(x, "accountant"), proven = isTRUE(attr(x, "proven")),
             assumed = isTRUE(attr(x, "assumed")), row.names = row.names)
}

#' @rdname dp_epsilon
#' @export
print.riemdp_price <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' @export
Ops.riemdp_price <- function(e1, e2) {
  plain <- function(e) if (inherits(e, "riemdp_price")) as.double(e) else e
  f <- get(.Generic, mode = "function") # nolint: object_usage_linter.
  if (missing(e2)) f(plain(e1)) else f(plain(e1), plain(e2))
}

#' @export
Math.riemdp_price <- function(x, ...) get(.Generic, mode = "function")(as.double(x), ...) # nolint: object_usage_linter.

#' Lower and upper bounds of epsilon
#'
#' Privacy-loss distributions rounded both ways: the true epsilon of the events' dominating pairs lies between. The grid
#' is refined until the two are within `tol` of each other, as far as memory and rounding allow; where they stay further
#' apart the other accountants are asked as well, and both bounds still hold. [dp_epsilon()] tells the same two numbers
#' for the events that are priced so.
#'
#' @inheritParams dp_epsilon
#' @param delta above 0, below 1.
#' @param tol relative distance wanted.
#' @return `c(lower =, upper =)`. Where the two are further apart than `tol` an attribute `apart` says by how much,
#'   relative to the lower one.
#' @examples
#' dp_bounds(event_compose(event_poisson(0.01, event_gaussian(1)), times = 1000), 1e-5)
#' @export
dp_bounds <- function(event, delta, tol = 1e-4) {
  event <- top_level(check_event(event))
  delta <- check_delta(delta)
  tol <- check_number(tol, "tol", positive = TRUE)
  need_delta(event, delta, "pld")
  if (uncapped(event)$chance > 0) return(say_apart(c(lower = 0, upper = as.double(dp_epsilon(event, delta))), tol))
  choices <- if (event$type == "parallel") parallel_choices(event)
  if (length(choices)) return(say_apart(apply(vapply(choices, dp_bounds, double(2), delta, tol), 1, max), tol))
  found <- pld_bracket(event, delta = delta, tol = tol)
  if (found[[2]] - found[[1]] > tol * found[[2]] && pairs_attained(event)) found <- narrowed(found, event, delta)
  found[["upper"]] <- max(found[["upper"]], price_in_closed_form(event, delta))
  say_apart(found, tol)
}

# what dp_epsilon() says without asking further: its margins may be the wider ones in the last digits
price_in_closed_form <- function(event, delta) {
  for (name in accountants_with("exact")) {
    found <- tryCatch(ask_one(name, event, delta, "epsilon", "best", FALSE), riemdp_error_unpriced = function(e) NULL)
    if (!is.null(found)) return(as.double(found))
  }
  0
}

# by what the other accountants know from above and from below
narrowed <- function(bounds, event, delta) {
  for (name in setdiff(SOUND, "pld")) {
    found <- tryCatch(ask_one(name, event, delta, "epsilon", "best", TRUE), riemdp_error_unpriced = function(e) NULL)
    if (is.null(found)) next
    bounds[["upper"]] <- min(bounds[["upper"]], as.double(found))
    bounds[["lower"]] <- max(bounds[["lower"]], attr(found, "lower"), na.rm = TRUE)
  }
  bounds[["lower"]] <- min(bounds)
  bounds
}

say_apart <- function(bounds, tol) {
  gap <- if (bounds[["upper"]] == 0) 0 else bounds[["upper"]] / bounds[["lower"]] - 1
  if (gap > tol * (1 + 1e-3)) structure(bounds, apart = gap) else bounds
}

#' Trade-off curve of an event
#'
#' The smallest type II error of a test between neighbouring data sets at each type I error, from below: no attack does
#' better.
#'
#' @inheritParams dp_epsilon
#' @param alpha type I errors, from 0 to 1.
#' @return A data frame of class `riemdp_tradeoff` with `alpha` and `beta`, for `plot()`.
#' @references Dong, Roth and Su (2022), \doi{10.1111/rssb.12454}.
#' @examples
#' dp_tradeoff(event_gaussian(1), alpha = c(0.05, 0.5))
#' @export
dp_tradeoff <- function(event, alpha = seq(0, 1, 0.005)) {
  event <- check_event(event)
  if (!is.numeric(alpha) || is.object(alpha) || !length(alpha) || anyNA(alpha) || any(alpha < 0 | alpha > 1)) {
    abort_riemdp("argument", "`alpha` must be numbers from 0 to 1.")
  }
  curve <- whole_profile(event)
  # every (epsilon, delta) bounds the curve by two lines (Dong, Roth and Su 2022, Proposition 2.5)
  beta <- vapply(alpha, function(a) {
    max(0, 1 - curve$delta - if (a > 0) exp(curve$epsilon) * a else 0, exp(-curve$epsilon) * (1 - curve$delta - a))
  }, 0)
  structure(data.frame(alpha = alpha, beta = beta), class = c("riemdp_tradeoff", "data.frame"),
            label = describe_event(event))
}

# delta at many epsilons, from above
whole_profile <- function(event) {
  mu <- gaussian_step(event)
  if (!is.null(mu)) {
    epsilon <- seq(0, min(max(mu^2 / 2 + 9 * mu, 1e-3), 800), length.out = 2000)
    return(list(epsilon = epsilon, delta = if (mu == 0) 0 * epsilon else gaussian_delta(mu, epsilon)))
  }
  if (identical(basic_price(event), c(0, 0))) return(list(epsilon = 0, delta = 0))
  curves <- tryCatch(lapply(pld_directions(event), function(direction) {
    d <- pld_distribution(event, direction, TRUE)
    d <- list(h = d$h, loss = d$loss, mass = d$mass, error = 0, rounding = PLD_ROUNDING, theta = 0, log_scale = 0,
              infinite = d$infinite, high = 0, log_out_high = -Inf)
    p <- pld_profile(d, TRUE, 0)
    keep <- p$loss >= 0
    list(epsilon = p$loss[keep], delta = p$delta[keep])
  }), riemdp_error_unpriced = function(e) NULL)
  if (is.null(curves)) {
    epsilon <- c(seq(0, 3, 0.1), seq(3.5, 20, 0.5))
    return(list(epsilon = epsilon, delta = vapply(epsilon, function(e) {
      tryCatch(as.double(upper_delta(event, e)), riemdp_error_unpriced = function(e) 1)
    }, 0)))
  }
  epsilon <- sort(unique(unlist(lapply(curves, `[[`, "epsilon"))))
  if (length(epsilon) > 4000) epsilon <- epsilon[unique(round(seq(1, length(epsilon), length.out = 4000)))]
  delta <- Reduce(pmax, lapply(curves, function(curve) {
    # a falling curve: the last value at or before is an upper bound
    i <- findInterval(epsilon, curve$epsilon)
    c(1, curve$delta)[i + 1]
  }))
  list(epsilon = epsilon, delta = delta)
}

#' All accountants side by side
#'
#' @inheritParams dp_epsilon
#' @return A data frame of class `riemdp_accountants`, one row an accountant: `accountant`, `epsilon` (`NA` where it
#'   doesn't apply), `proven`, `note`. It has a `plot()` method.
#' @examples
#' dp_accountants(event_compose(event_poisson(0.01, event_gaussian(1)), times = 1000), 1e-5)
#' @export
dp_accountants <- function(event, delta) {
  event <- check_event(event)
  delta <- check_delta(delta)
  names <- names(ACCOUNTANT_TABLE)
  rows <- lapply(names, function(name) {
    tryCatch(list(as.double(dp_epsilon(event, delta, name)), ""),
             riemdp_error_unpriced = function(e) list(NA_real_, conditionMessage(e)))
  })
  note <- vapply(rows, `[[`, "", 2)
  known <- note == "" & names %in% accountants_with("note")
  note[known] <- vapply(ACCOUNTANT_TABLE[names[known]], `[[`, "", "note")
  structure(data.frame(accountant = names, epsilon = vapply(rows, `[[`, 0, 1),
                       proven = names %in% accountants_with("proven"), note = note),
            class = c("riemdp_accountants", "data.frame"))
}

#' Find the noise for a wanted price
#'
#' The smallest `sigma` for which the event costs at most `epsilon` at `delta`, rounded up: the returned value has been
#' priced and fits. The price must fall as `sigma` grows.
#'
#' @param make a function of `sigma` that returns an event.
#' @param epsilon positive.
#' @inheritParams dp_epsilon
#' @param tol relative distance from the smallest `sigma`; by default 1e-12 where the accountant is a closed form and
#'   1e-5 else.
#' @return A number of class `riemdp_price` with attributes `accountant`, `epsilon` (the price at it) and `tol`.
#' @section Errors: `riemdp_error_calibration` where no `sigma` between 1e-6 and 1e9 fits, or all do;
#'   `riemdp_error_argument` where `make` fails; errors of [dp_epsilon()].
#' @examples
#' dp_calibrate(event_gaussian, epsilon = 1, delta = 1e-5)
#' steps <- function(sigma) event_compose(event_poisson(0.01, event_gaussian(sigma)), times = 1000)
#' dp_calibrate(steps, 1, 1e-5)
#' @export
dp_calibrate <- function(make, epsilon, delta, accountant = "auto", tol = NULL) {
  if (!is.function(make)) abort_riemdp("argument", "`make` must be a function of sigma that returns an event.")
  user <- make
  make <- function(sigma) {
    tryCatch(user(sigma), error = function(e) {
      pass_on(e)
      abort_riemdp("argument", paste("`make` failed:", conditionMessage(e)))
    })
  }
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  delta <- check_delta(delta)
  accountant <- check_choice(accountant, "accountant", ACCOUNTANTS)
  # far from the answer prices may be beyond an accountant: that is dear
  price <- function(sigma, name) {
    tryCatch(as.double(upper_epsilon(make(sigma), delta, name)), riemdp_error_unpriced = function(e) Inf)
  }
  # the cheap accountants first; they leave a bracket for the dear one
  first <- top_level(check_event(make(1)))
  closed <- if (accountant == "auto") {
    !is.null(gaussian_step(first))
  } else {
    accountant %in% accountants_with("closed")
  }
  quick <- if (accountant != "auto") accountant else if (closed) "gdp" else "rdp"
  if (accountant == "auto" && !closed && is.infinite(price(1, "rdp"))) quick <- "auto"
  if (quick == "pld") quick <- if (is.finite(price(1, "rdp"))) "rdp" else "pld"
  if (is.null(tol)) tol <- if (closed) 1e-13 else 1e-5
  tol <- check_number(tol, "tol", positive = TRUE, most = 0.1)
  sigma <- bracket_sigma(function(s) price(s, quick), epsilon)
  final <- if (closed && accountant == "auto") "gdp" else accountant
  if (final != quick) {
    # the same, from a start that is near
    start <- find_sigma(function(s) price(s, quick), sigma, epsilon, 1e-2)
    sigma <- bracket_sigma(function(s) price(s, final), epsilon, start, 1.1)
  }
  found <- find_sigma(function(s) price(s, final), sigma, epsilon, tol)
  reached <- upper_epsilon(make(found), delta, final)
  structure(found, quantity = "sigma", accountant = attr(reached, "accountant"), epsilon = as.double(reached),
            tol = tol, class = "riemdp_price")
}

# c(too small, large enough)
bracket_sigma <- function(price, epsilon, start = 1, factor = 4) {
  none <- function() abort_riemdp("calibration", "no sigma between 1e-6 and 1e9 gives this epsilon at this delta.")
  s <- start
  if (price(s) <= epsilon) {
    while (price(s / factor) <= epsilon) {
      s <- s / factor
      if (s < 1e-6) none()
      factor <- min(factor^1.5, 64)
    }
    return(c(s / factor, s))
  }
  while (price(s * factor) > epsilon) {
    s <- s * factor
    if (s > 1e9) none()
    factor <- min(factor^1.5, 64)
  }
  c(s, s * factor)
}

# regula falsi (Illinois) on logarithms, then a step up until the price fits
find_sigma <- function(price, range, epsilon, tol) {
  f <- function(x) {
    p <- price(exp(x))
    if (is.finite(p)) log(max(p, 1e-300)) - log(epsilon) else 50
  }
  lo <- log(range[1])
  hi <- log(range[2])
  f_lo <- f(lo)
  f_hi <- f(hi)
  side <- 0
  for (i in 1:200) {
    if (hi - lo <= tol || f_hi == 0) break
    share <- if (i %% 12 == 0) 0.5 else f_lo / (f_lo - f_hi)
    # a little to either side of the root, so that the bracket closes from both
    share <- min(max(share, 0.3 * tol / (hi - lo)), 1 - 0.3 * tol / (hi - lo))
    x <- lo + share * (hi - lo)
    y <- f(x)
    if (y <= 0) {
      hi <- x
      f_hi <- y
      if (side == 1) f_lo <- f_lo / 2
      side <- 1
    } else {
      lo <- x
      f_lo <- y
      if (side == -1) f_hi <- f_hi / 2
      side <- -1
    }
  }
  exp(step_until(hi, tol / 4, function(x) price(exp(x)) <= epsilon))
}
