# Pictures of prices.

ACCOUNTANT_COLOURS <- vapply(ACCOUNTANT_TABLE, `[[`, "", "colour")

# `ask` may find an event beyond an accountant; such points are left out
tolerant <- function(x, ask) {
  vapply(x, function(v) tryCatch(as.double(ask(v)), riemdp_error_unpriced = function(e) NA_real_), 0)
}

priced_by <- function(event, delta, names = SOUND) {
  names[!is.na(vapply(names, function(name) tolerant(delta, function(d) upper_epsilon(event, d, name)), 0))]
}

# curves of accountants' prices, those without a proof dashed
price_picture <- function(x, lines, log, xlab, ylab, title) {
  seen <- lapply(lines, function(v) is.finite(v) & (v > 0 | !grepl("y", log)))
  if (!any(unlist(seen))) abort_riemdp("unpriced", "no accountant prices this event here.")
  looks <- do.call(rbind, lapply(names(lines), function(name) {
    look(name, ACCOUNTANT_COLOURS[[name]], width = 1, line = if (name %in% SOUND) 1 else 2, legend = length(lines) > 1)
  }))
  new_picture(lapply(names(lines), function(name) corners("path", name, x[seen[[name]]], lines[[name]][seen[[name]]])),
              frame_of(xlab, ylab, log, xlim = range(x)), looks, title)
}

# a long description on several lines
event_title <- function(text) paste(strwrap(text, 40), collapse = "\n")

#' Pictures of what events cost
#'
#' @param x an event, or what [dp_tradeoff()] or [dp_accountants()] returned.
#' @param what `"delta"`: epsilon against delta; `"tradeoff"`: the trade-off curve; `"steps"`: epsilon against the
#'   number of times that the event happens; `"accountants"`: accountants side by side.
#' @param delta the delta of `"steps"` and `"accountants"`; the deltas of `"delta"`, where `NULL` is 1e-12 to 1e-2.
#' @param accountants which ones; `NULL` for the best one (`"delta"`), or all proven ones that apply (`"steps"`).
#' @param times numbers of repetitions for `"steps"`.
#' @param main title; the event's description if not given.
#' @param ... passed to [graphics::plot.default()] by the method for trade-off curves.
#' @return What was drawn, a data frame, invisibly.
#' @examples
#' step <- event_poisson(0.01, event_gaussian(1))
#' plot(step, "steps", delta = 1e-5, times = c(10, 100, 1000))
#' plot(dp_tradeoff(event_compose(step, times = 1000)))
#' @name plot_accountant
NULL

#' @rdname plot_accountant
#' @export
plot.riemdp_event <- function(x, what = c("delta", "tradeoff", "steps", "accountants"), delta = NULL,
                              accountants = NULL,
                          times = c(1, 3, 10, 30, 100, 300, 1000, 3000, 10000), main = NULL, ...) {
  found <- event_prices(x, what, delta, accountants, times)
  plot(found$picture, main = main %||% attr(found$picture, "title"), ...)
  invisible(found$table)
}

#' @export
plot_data.riemdp_event <- function(x, what = c("delta", "tradeoff", "steps", "accountants"), delta = NULL,
                                   accountants = NULL,
                                   times = c(1, 3, 10, 30, 100, 300, 1000, 3000, 10000), ...) {
  check_dots_empty(...)
  event_prices(x, what, delta, accountants, times)$picture
}

# list(picture, table): what a picture of an event shows, and the numbers in it
event_prices <- function(x, what, delta, accountants, times) {
  x <- check_event(x)
  what <- check_choice(what, "what", c("delta", "tradeoff", "steps", "accountants"))
  title <- event_title(describe_event(x))
  if (what == "tradeoff") {
    curve <- dp_tradeoff(x)
    return(list(picture = plot_data(curve), table = curve))
  }
  if (what == "delta") {
    deltas <- if (is.null(delta)) 10^seq(-12, -2, length.out = 21) else vapply(delta, check_delta, 0)
    names <- if (is.null(accountants)) as.character(attr(upper_epsilon(x, deltas[1]), "accountant")) else
      vapply(accountants, check_choice, "", "accountants", ACCOUNTANTS[-1])
    lines <- lapply(stats::setNames(nm = names), function(name) tolerant(deltas, function(d) upper_epsilon(x, d, name)))
    return(list(picture = price_picture(deltas, lines, "x", "delta", "epsilon", title),
                table = data.frame(delta = deltas, lines)))
  }
  delta <- check_delta(if (is.null(delta)) 1e-6 else delta)
  if (what == "accountants") {
    out <- dp_accountants(x, delta)
    picture <- plot_data(out)
    attr(picture, "title") <- title
    return(list(picture = picture, table = out))
  }
  times <- vapply(times, check_times, 0)
  many <- setdiff(SOUND, accountants_with("once"))
  names <- if (is.null(accountants)) priced_by(event_compose(x, times = 2), delta, many) else
    vapply(accountants, check_choice, "", "accountants", ACCOUNTANTS[-1])
  lines <- lapply(stats::setNames(nm = names), function(name) {
    tolerant(times, function(k) upper_epsilon(event_compose(x, times = k), delta, name))
  })
  list(picture = price_picture(times, lines, "xy", "times", "epsilon", title), table = data.frame(times = times, lines))
}

#' @rdname plot_accountant
#' @export
plot.riemdp_tradeoff <- function(x, main = event_title(attr(x, "label")), ...) {
  plot(plot_data(x), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_tradeoff <- function(x, ...) {
  check_dots_empty(...)
  errors_picture(x$alpha, x$beta, event_title(attr(x, "label")))
}

#' @rdname plot_accountant
#' @export
plot.riemdp_accountants <- function(x, main = "Accountants", ...) {
  plot(plot_data(x), main = main, ...)
  invisible(x)
}

#' @export
plot_data.riemdp_accountants <- function(x, ...) {
  check_dots_empty(...)
  shown <- x[is.finite(x$epsilon), , drop = FALSE]
  if (!nrow(shown)) abort_riemdp("unpriced", "no accountant prices this event.")
  shown <- shown[order(-shown$epsilon), , drop = FALSE]
  at <- seq_len(nrow(shown))
  looks <- do.call(rbind, lapply(at, function(i) {
    look(shown$accountant[i], ACCOUNTANT_COLOURS[[shown$accountant[i]]], 19, 2.6, 2, legend = FALSE)
  }))
  new_picture(lapply(at, function(i) {
    rbind(corners("segment", shown$accountant[i], 0, i, xend = shown$epsilon[i], yend = i, group = i),
          corners("point", shown$accountant[i], shown$epsilon[i], i, group = i))
  }), frame_of("epsilon", ylim = c(0.5, nrow(shown) + 0.5),
               ymarks = list(at = at, labels = paste0(shown$accountant, ifelse(shown$proven, "", "*")))), looks,
  "Accountants", if (!all(shown$proven)) "* no proven bound" else character())
}

#' Picture of what is left in a ledger
#'
#' The share of the budget that is left after each release, for each data set. Where a data set has parts, it is what
#' its most used part leaves.
#'
#' @param x a ledger.
#' @param data_set names of data sets; all of them by default.
#' @param main title.
#' @param ... further arguments of [graphics::plot.default()].
#' @return The ledger, invisibly.
#' @examples
#' budget <- dp_ledger(NULL, epsilon = 1)
#' for (i in 1:5) ledger_spend(budget, event_pure(0.15))
#' plot(budget)
#' @export
plot.riemdp_ledger <- function(x, data_set = NULL, main = NULL, ...) {
  p <- plot_data(x, data_set = data_set)
  plot(p, main = main %||% attr(p, "title"), ...)
  invisible(x)
}

#' @export
plot_data.riemdp_ledger <- function(x, data_set = NULL, ...) {
  check_dots_empty(...)
  check_ledger(x)
  history <- ledger_history(x)
  known <- unique(vapply(ledger_accounts(x), `[[`, "", "data_set"))
  sets <- if (is.null(data_set)) {
    known
  } else {
    vapply(as.list(data_set), check_choice, "", name = "data_set", choices = known)
  }
  if (!length(sets)) abort_riemdp("argument", "the ledger has no data set yet.")
  curves <- lapply(sets, function(set) share_left(x, history[history$data_set == set, , drop = FALSE]))
  last <- max(1, lengths(curves) - 1)
  marks <- unique(round(pretty(c(0, last)))) # releases are whole
  looks <- do.call(rbind, Map(look, sets, rep_len(riemdp_colours(7), length(sets)), width = 1,
                              legend = length(sets) > 1))
  new_picture(Map(function(curve, set) {
    at <- seq_along(curve) - 1
    # steps: the share is left until the next release, and to the picture's end
    x <- c(at[1], rep(at[-1], each = 2))
    y <- c(rep(curve[-length(curve)], each = 2), curve[length(curve)])
    more <- at[length(at)] < last
    corners("path", set, c(x, last[more]), c(y, y[length(y)][more]))
  }, curves, sets), frame_of("releases", "share of the budget left", xlim = c(0, last), ylim = 0:1,
                             xmarks = list(at = marks, labels = as.character(marks))), looks,
  sprintf("Privacy budget left, rule %s", x$rule))
}

# after 0, 1, ... entries: the least of what delta and the best of the other sums leave
share_left <- function(ledger, history) {
  units <- rule_units(ledger)
  limits <- ledger$limits
  used <- vapply(seq_along(units), function(j) {
    if (limits[j] == 0) return(rep(0, nrow(history) + 1))
    cost <- pmin(history[[units[j]]], 4 * limits[j])
    spent <- cumsum(ifelse(is.na(history$part), cost, 0))
    top <- rep(0, nrow(history))
    for (part in unique(history$part[!is.na(history$part)])) {
      top <- pmax(top, cumsum(ifelse(history$part %in% part, cost, 0)))
    }
    c(0, spent + top) / limits[j]
  }, numeric(nrow(history) + 1))
  used <- matrix(used, nrow(history) + 1)
  last <- length(units)
  main <- do.call(pmin, lapply(seq_len(last - 1), function(j) used[, j]))
  pmax(0, 1 - pmax(main, used[, last]))
}
