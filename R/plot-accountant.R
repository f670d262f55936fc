# Pictures of prices.

ACCOUNTANT_COLOURS <- vapply(ACCOUNTANT_TABLE, `[[`, "", "colour")

# `ask` may find an event beyond an accountant; such points are left out
tolerant <- function(x, ask) {
  vapply(x, function(v) tryCatch(as.double(ask(v)), riemdp_error_unpriced = function(e) NA_real_), 0)
}

priced_by <- function(event, delta, names = SOUND) {
  names[!is.na(vapply(names, function(name) tolerant(delta, function(d) upper_epsilon(event, d, name)), 0))]
}

draw_lines <- function(x, lines, log, xlab, ylab, main) {
  y <- unlist(lines)
  y <- y[is.finite(y) & (y > 0 | !grepl("y", log))]
  if (!length(y)) abort_riemdp("unpriced", "no accountant prices this event here.")
  plot(range(x), range(y), type = "n", log = log, xlab = xlab, ylab = ylab, main = main, cex.main = 0.9)
  for (name in names(lines)) {
    v <- lines[[name]]
    ok <- is.finite(v) & (v > 0 | !grepl("y", log))
    graphics::lines(x[ok], v[ok], col = ACCOUNTANT_COLOURS[[name]], lwd = 2, lty = if (name %in% SOUND) 1 else 2)
  }
  if (length(lines) > 1) {
    graphics::legend("topleft", names(lines), col = ACCOUNTANT_COLOURS[names(lines)], lwd = 2,
                     lty = ifelse(names(lines) %in% SOUND, 1, 2), bty = "n")
  }
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
  x <- check_event(x)
  if (is.null(main)) main <- event_title(describe_event(x))
  what <- check_choice(what, "what", c("delta", "tradeoff", "steps", "accountants"))
  if (what == "tradeoff") return(invisible(plot(dp_tradeoff(x), main = main, ...)))
  if (what == "delta") {
    deltas <- if (is.null(delta)) 10^seq(-12, -2, length.out = 21) else vapply(delta, check_delta, 0)
    names <- if (is.null(accountants)) as.character(attr(upper_epsilon(x, deltas[1]), "accountant")) else
      vapply(accountants, check_choice, "", "accountants", ACCOUNTANTS[-1])
    lines <- lapply(stats::setNames(nm = names), function(name) tolerant(deltas, function(d) upper_epsilon(x, d, name)))
    draw_lines(deltas, lines, "x", expression(delta), expression(epsilon), main)
    return(invisible(data.frame(delta = deltas, lines)))
  }
  delta <- check_delta(if (is.null(delta)) 1e-6 else delta)
  if (what == "accountants") {
    out <- dp_accountants(x, delta)
    plot(out, main = main)
    return(invisible(out))
  }
  times <- vapply(times, check_times, 0)
  many <- setdiff(SOUND, accountants_with("once"))
  names <- if (is.null(accountants)) priced_by(event_compose(x, times = 2), delta, many) else
    vapply(accountants, check_choice, "", "accountants", ACCOUNTANTS[-1])
  lines <- lapply(stats::setNames(nm = names), function(name) {
    tolerant(times, function(k) upper_epsilon(event_compose(x, times = k), delta, name))
  })
  draw_lines(times, lines, "xy", "times", expression(epsilon), main)
  invisible(data.frame(times = times, lines))
}

#' @rdname plot_accountant
#' @export
plot.riemdp_tradeoff <- function(x, main = event_title(attr(x, "label")), ...) {
  plot(x$alpha, x$beta, type = "l", lwd = 2, col = ACCOUNTANT_COLOURS[["pld"]], xlim = 0:1, ylim = 0:1,
       xlab = "type I error", ylab = "type II error, at least", main = main, cex.main = 0.9, ...)
  graphics::abline(1, -1, lty = 3, col = "grey50")
  invisible(x)
}

#' @rdname plot_accountant
#' @export
plot.riemdp_accountants <- function(x, main = "Accountants", ...) {
  shown <- x[is.finite(x$epsilon), , drop = FALSE]
  if (!nrow(shown)) abort_riemdp("unpriced", "no accountant prices this event.")
  shown <- shown[order(-shown$epsilon), , drop = FALSE]
  old <- graphics::par(mar = pmax(graphics::par("mar"), c(0, 6, 0, 0)))
  on.exit(graphics::par(old))
  graphics::barplot(shown$epsilon, names.arg = paste0(shown$accountant, ifelse(shown$proven, "", "*")), horiz = TRUE,
                    las = 1, xlab = expression(epsilon), main = main, sub = if (!all(shown$proven)) "* no proven bound",
                    col = ACCOUNTANT_COLOURS[shown$accountant])
  invisible(x)
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
  longest <- max(lengths(curves))
  colours <- grDevices::hcl.colors(length(sets), "Dark 3")
  if (is.null(main)) main <- sprintf("Privacy budget left, rule %s", x$rule)
  arguments <- list(...)
  defaults <- list(xlim = c(0, max(1, longest - 1)), ylim = c(0, 1), xlab = "release", ylab = "share left",
                   cex.main = 0.85, xaxt = "n")
  do.call(graphics::plot.default,
          c(list(NA, main = main), defaults[setdiff(names(defaults), names(arguments))], arguments))
  if (is.null(arguments$xaxt)) graphics::axis(1, unique(round(pretty(c(0, max(1, longest - 1)))))) # releases are whole
  graphics::abline(h = 0, col = "grey60")
  for (i in seq_along(sets)) {
    graphics::lines(seq_along(curves[[i]]) - 1, curves[[i]], type = "s", col = colours[i], lwd = 2)
  }
  if (length(sets) > 1) graphics::legend("topright", sets, col = colours, lwd = 2, bty = "n", cex = 0.8)
  invisible(x)
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
