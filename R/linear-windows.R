# A private check of the predictors' public ranges before a linear fit, and a private search for the window in which a
# predictor's values lie where its range is much too wide, and the prices of this and of the check of the responses'
# guess (R/linear-guess.R). Rows beyond a window stay, and count less. Proof: inst/proofs/linear-regression.md, section
# 8. Predictors are features u in [-1, 1] here.

# A range is too wide where some window of a public length holds more than `wide` of the records, and no value more than
# `alike`. The length is .3 of the range, or less where noise costs little (window_half()). A window that was
# found is tried: it stays where more than `side` of the records lie to either side of its middle fifth, as is not so
# where most values are alike, and less than `beyond` are far out, where they would tell more than all others.
WINDOW_SHARES <- c(wide = 0.66, alike = 0.6, side = 0.14, beyond = 0.07)
# half ranges within which values are alike
WINDOW_ALIKE <- 2^-15
# n epsilon of a predictor's check, search and trial; each gets this share of epsilon where that is more
WINDOW_CHECK <- c(least = 25, share = 0.005)
WINDOW_SEARCH <- c(least = 100, share = 0.01)
WINDOW_TRIAL <- c(least = 90, share = 0.01)
# Up to so many predictors are looked at, and from this n epsilon on for each of them and each response
WINDOW_USEFUL <- c(most = 3, epsilon = 300)
# The search is for the middle `WINDOW_FRACTION` of the records
WINDOW_FRACTION <- 0.65
WINDOW_GRID <- list(levels = -80:0, centres = function(k) floor(2^(2 - k / 4)), none = c(share = 0.25, weight = 0),
                    least = function(k, m) rep(FALSE, length(m)))
# So many times the middle's half width is a window's, for one, two and three predictors; where the middle is wider than
# `WINDOW_WIDEST` of the range, that stays as it is
WINDOW_FACTOR <- c(2, 2.2, 2.4)
WINDOW_WIDEST <- 0.27
WINDOW_HALF <- c(least = 2^-6, most = 0.3)

# which predictors are looked at, and prices of one's check, search and trial; NULL where none is
window_prices <- function(ask, m) {
  which <- which(ask$ranged %||% rep(TRUE, ask$d))
  count <- length(which)
  few <- ask$n * ask$epsilon < WINDOW_USEFUL[["epsilon"]] * (ask$q + count)
  if (!isTRUE(m$windows) || few || count == 0 || count > WINDOW_USEFUL[["most"]] || !is.null(ask$simplex)) return(NULL)
  price <- function(of) max(of[["least"]] / ask$n, of[["share"]] * ask$epsilon / count)
  list(which = which, check = price(WINDOW_CHECK), search = price(WINDOW_SEARCH), trial = price(WINDOW_TRIAL))
}

windows_price <- function(window, times) {
  if (is.null(window)) return(0)
  length(window$which) * window$check + times[["search"]] * window$search + times[["trial"]] * window$trial
}

# all that may be searched for and tried
every_window <- function(window) c(search = 1, trial = 1) * length(window$which)

# Half the length of the check's window: with predictors that are spread evenly over such a window of their range the
# noise would cost some four times as much as sampling does. `error` is the plan's, for ranges that are filled.
window_half <- function(ask, error) {
  sampling <- (ask$d + 1) * (1 - ask$r_squared) / ask$n
  clamp(sqrt(error / sampling) / 2, WINDOW_HALF[["least"]], WINDOW_HALF[["most"]])
}

# which columns are a number with a range each
ranged_columns <- function(columns) {
  vapply(columns, function(column) {
    length(column$of) == 1 && is.null(column$of[[1]]$level) && is.null(column$of[[1]]$k)
  }, NA)
}

# ---- what is counted: sums over records ------------------------------------------------------------------------------

# for each predictor in `which` how many valid records lie within `half` of each of these centres, which are no farther
# apart than a quarter of it
window_centres <- function(half) seq(half - 1, 1 - half, length.out = 1 + ceiling(8 * (1 - half) / half))

window_counts <- function(x, which, half) {
  valid <- x[1, ] != 0
  share <- valid_shares(x, valid)
  at <- window_centres(half)
  counts <- vapply(which, function(j) {
    u <- x[j + 1, valid]
    vapply(at, function(c) sum(share[abs(u - c) <= half]), 0)
  }, numeric(length(at)))
  t(matrix(counts, length(at)))
}

# tables of cells in which values are alike, one for each predictor in `which`
window_alike <- function(x, which) {
  valid <- x[1, ] != 0
  share <- valid_shares(x, valid)
  lapply(which, function(j) count_cells(floor(x[j + 1, valid] / WINDOW_ALIKE), share))
}

# both, and both of two sets of records
window_check <- function(x, which, half) list(counts = window_counts(x, which, half), alike = window_alike(x, which))

add_checks <- function(a, b) list(counts = a$counts + b$counts, alike = add_tables(a$alike, b$alike))

# ---- the search ------------------------------------------------------------------------------------------------------

# The window of a candidate, c(center, half); without one, and where it is hardly narrower, all of the range
found_window <- function(found, count) {
  scale <- 2^(found[["k"]] / 4)
  if (is.na(scale) || scale > WINDOW_WIDEST) return(c(center = 0, half = 1))
  c(center = scale * found[["m"]] / 4, half = WINDOW_FACTOR[count] * scale)
}

# How many valid records lie below and above a window's middle fifth, no farther out than half its length, and how
# many one and a half times its length and more from its middle
window_sides <- function(x, column, window) {
  valid <- x[1, ] != 0
  share <- valid_shares(x, valid)
  far <- (x[column + 1, valid] - window[["center"]]) / window[["half"]]
  c(sum(share[far >= -2 & far < -0.2]), sum(share[far > 0.2 & far <= 2]), sum(share[abs(far) > 3]))
}

# for each predictor in `which` by how many records its range is too wide
window_wide <- function(x, y, prices, n) {
  seen <- linear_total(x, y, "linear_windows", window_check(x, prices$which, prices$half), which = prices$which,
                       half = prices$half, add = add_checks)
  pmin(apply(seen$counts, 1, max) - WINDOW_SHARES[["wide"]] * n,
       WINDOW_SHARES[["alike"]] * n - vapply(seen$alike, function(table) max(0, table$count), 0))
}

# windows that the fit is to use, released; rows: predictors that were looked at
release_windows <- function(x, y, prices, n) {
  wide <- found_off(window_wide(x, y, prices, n), outwards_down(prices$check))
  out <- data.frame(column = prices$which, center = 0, half = 1, searched = wide, tried = FALSE)
  if (!any(wide)) return(out)
  rows <- which(wide)
  at <- prices$which[rows] + 1
  cells <- linear_total(x, y, "linear_cells", guess_cells(x, x, at), which = at, of = "x", add = add_cells)
  for (i in seq_along(rows)) {
    row <- rows[i]
    found <- search_guess(cells[[i]], WINDOW_FRACTION, outwards_down(prices$search), grid = WINDOW_GRID)
    window <- found_window(found, nrow(out))
    out$tried[row] <- window[["half"]] < 1
    if (out$tried[row] && tried_window(x, y, out$column[row], window, prices$trial, n)) {
      out[row, c("center", "half")] <- as.list(window)
    }
  }
  out
}

tried_window <- function(x, y, column, window, epsilon, n) {
  counts <- linear_total(x, y, "linear_sides", window_sides(x, column, window), column = column, of = window)
  found_off(window_fits(counts, n), outwards_down(epsilon))
}

# by how many records a window fits, for counts of window_sides()
window_fits <- function(counts, n) {
  min(counts[1:2] - WINDOW_SHARES[["side"]] * n, WINDOW_SHARES[["beyond"]] * n - counts[3])
}

# of all d predictors, as fits take it; NULL where all ranges stay
fit_window <- function(found, d) {
  if (all(found$half == 1)) return(NULL)
  window <- list(center = numeric(d), half = rep(1, d))
  window$center[found$column] <- found$center
  window$half[found$column] <- found$half
  window
}

# ---- what both checks cost -------------------------------------------------------------------------------------------

# Prices of one response's check and search, and as `window` of a predictor's, or NULL where there is no check; `m` is
# the method. Public numbers only.
guess_prices <- function(ask, m) {
  total <- ask$n * ask$epsilon
  few <- ask$n < GUESS_USEFUL[["records"]] || total < GUESS_USEFUL[["epsilon"]] * ask$q
  if (!(m$auto || isTRUE(m$checked)) || ask$trusted || few) {
    return(NULL)
  }
  price <- function(of) max(of[["least"]] / ask$n, of[["share"]] * ask$epsilon / ask$q)
  search <- price(GUESS_SEARCH)
  list(check = price(GUESS_CHECK), search = search, fraction = clamp(1 - 35 / (ask$n * search), 0.6, 0.9),
       window = window_prices(ask, m))
}

# The question with what is left of epsilon after the check of all responses and ranges, the search for `searched` of
# the former, and searches and trials of `windows`; less than there is, for the rounding of sums
guess_left <- function(ask, prices, searched, windows = c(search = 0, trial = 0)) {
  if (is.null(prices)) return(ask)
  ask$checked <- TRUE
  of_windows <- windows_price(prices$window, windows)
  ask$epsilon <- (ask$epsilon - ask$q * prices$check - searched * prices$search - of_windows) * (1 - 1e-14)
  ask
}

# ---- what is told ----------------------------------------------------------------------------------------------------

# windows in use, on the variables' scales
windows_told <- function(windows, columns) {
  of <- columns[windows$column]
  middle <- vapply(of, `[[`, 0, "middle")
  half <- vapply(of, `[[`, 0, "half")
  end <- function(side) middle + half * clamp(windows$center + side * windows$half, -1, 1)
  data.frame(predictor = vapply(of, `[[`, "", "name"), lower = end(-1), upper = end(1), searched = windows$searched,
             tried = windows$tried, narrowed = windows$half < 1)
}

# Sentences about windows, from released numbers alone
windows_words <- function(r) {
  told <- r$details$windows
  if (is.null(told)) return(NULL)
  price <- r$details$check$window
  share <- function(price) price / r$guarantee$nominal_epsilon
  c(sprintf(paste("The range of %s was checked (%.3g of epsilon): noisy counts of records in windows of %.3g of its",
                  "width."),
            if (nrow(told) == 1) "the predictor" else "each predictor", share(nrow(told) * price$check), price$half),
    if (any(told$searched)) sprintf(paste("For %s a narrower one was searched for by the exponential mechanism, and",
                                          "tried if found (%.3g of epsilon)."),
                                    quoted_names(told$predictor[told$searched]),
                                    share(sum(told$searched) * price$search + sum(told$tried) * price$trial)),
    if (any(told$searched & !told$narrowed)) {
      sprintf("The range of %s stays as it is.", quoted_names(told$predictor[told$searched & !told$narrowed]))
    },
    if (any(told$narrowed)) paste0("The fit is in units of what was found, and rows beyond it count less: ",
                                   windows_listed(told),
                                   ". It is a weighted fit, about which errors and intervals are."))
}

windows_listed <- function(told) {
  told <- told[told$narrowed, ]
  paste(sprintf("`%s` %s to %s", told$predictor, signif(told$lower, 3), signif(told$upper, 3)), collapse = "; ")
}
