# A line by the medians of what pairs of records predict at two places (Alabi, McMillan, Sarathy, Smith and Vadhan
# 2022), drawn from a public grid by the exponential mechanism. Proof: inst/proofs/linear-regression.md, section 15.

# `place`: pairs predict at so much to either side of the middle of the predictor's public range, which is [-1, 1];
# `matchings`: of all records, with `pairs` pairs at most together; the grid has `choices` values, close to each other
# up to about `middle` public scales and wider to `far` of them. `loss`: n times the excess over least squares without
# noise, of all pairs and, over the number of matchings, of few.
THEIL_SEN <- list(place = 0.4, matchings = 50, pairs = 5e6, choices = 2^20, middle = 4, far = 100,
                  loss = c(all = 0.9, few = 3.6))

# how many matchings n records are in; each has so many
theil_sen_matchings <- function(n) {
  if (n < 2) return(0)
  min(THEIL_SEN$matchings, n - n %% 2 - 1, max(1, floor(2 * THEIL_SEN$pairs / n)))
}

# k matchings of n records, no pair twice: rounds of a tournament in an order by lot; one of an odd number is left out
theil_sen_pairs <- function(n, k) {
  m <- n - n %% 2
  if (k == 0) return(list(i = integer(), j = integer()))
  order <- by_lot(n)[seq_len(m)]
  other <- seq_len(m / 2 - 1)
  side <- function(sign) {
    unlist(lapply(seq_len(k), function(h) c(if (sign > 0) m else h %% (m - 1) + 1, (h + sign * other) %% (m - 1) + 1)))
  }
  list(i = order[side(1)], j = order[side(-1)])
}

# The records of a fit: with shares (of a private number) those that count, and missing ones to the number told
theil_sen_records <- function(x, y) {
  share <- shares_of(x)
  if (is.null(share)) return(list(x = x[2, ], y = y[1, ], there = x[1, ] != 0))
  kept <- which(share > 0)
  n <- counted_in(x, length(kept))
  filled <- function(v) c(v[kept], rep(0, n - length(kept)))
  list(x = filled(x[2, ]), y = filled(y[1, ]), there = filled(x[1, ]) != 0)
}

# what pairs say at a place: nothing where one is missing, or both predictors are equal
theil_sen_told <- function(r, pair, place) {
  x <- r$x[pair$i]
  y <- r$y[pair$i]
  run <- r$x[pair$j] - x
  told <- y + (r$y[pair$j] - y) / run * (place - x)
  told[r$there[pair$i] & r$there[pair$j] & run != 0 & !is.nan(told)]
}

theil_sen_grid <- function() {
  remember("theil_sen grid", function() {
    most <- THEIL_SEN$far / (THEIL_SEN$far + THEIL_SEN$middle)
    v <- most * (2 * seq_len(THEIL_SEN$choices) - THEIL_SEN$choices - 1) / THEIL_SEN$choices
    THEIL_SEN$middle * v / (1 - abs(v))
  })
}

# By how many more pairs lie to one side of each value of the grid than to the other; a record, which is in k of them,
# moves that by 2 k at most
theil_sen_misses <- function(told, grid = theil_sen_grid()) {
  told <- sort(told)
  as.double(abs(findInterval(grid, told) + findInterval(grid, told, left.open = TRUE) - length(told)))
}

release_theil_sen <- function(x, y, rule) {
  r <- theil_sen_records(x, y)
  k <- rule$matchings
  pair <- theil_sen_pairs(length(r$x), k)
  median <- function(place) {
    misses <- theil_sen_misses(theil_sen_told(r, pair, place))
    theil_sen_grid()[.Call(riemdp_release_choice, misses, rule$ratio,
                           pay(price_choice(rule$half, "linear-regression.md, 15")))]
  }
  low <- median(-THEIL_SEN$place)
  high <- median(THEIL_SEN$place)
  matrix(c((low + high) / 2, (high - low) / (2 * THEIL_SEN$place)), 1)
}

# half of epsilon for each of the two medians
theil_sen_rule <- function(n, epsilon) {
  k <- theil_sen_matchings(n)
  half <- outwards_down(epsilon / 2)
  list(matchings = k, half = half, ratio = as_ratio(min(half / (2 * max(1, k)), 1e6), floor))
}

# what pairs of nominal records are off by at a place, for errors of standard deviation 1: a fixed sample
theil_sen_nominal <- function() {
  remember("theil_sen pairs", function() {
    u <- vapply(sqrt(c(2, 3, 5, 7)), function(root) (seq_len(2^15) * root + 0.5) %% 1, numeric(2^15))
    x <- sqrt(3 * NOMINAL_MOMENT) * (2 * u[, 1:2] - 1)
    e <- (stats::qgamma(u[, 3:4], 4) - 4) / 2 # as in nominal_errors()
    sort(e[, 1] + (e[, 2] - e[, 1]) / (x[, 2] - x[, 1]) * (THEIL_SEN$place - x[, 1]))
  })
}

# Expected excess over least squares with nominal records: the second moment of the law that is drawn from, were there
# infinitely many pairs, and what medians lose without noise. Its mean is not 0: errors are skewed.
theil_sen_error <- function(rule, n, sd) {
  t <- theil_sen_grid()[seq(1, THEIL_SEN$choices, 16)]
  off <- abs(2 * findInterval(t / sd, theil_sen_nominal()) / 2^15 - 1)
  k <- rule$matchings
  weight <- exp(-rule$half * n * off / 8) # n k/2 pairs, the rate half/(4 k)
  weight <- weight / sum(weight)
  mean <- sum(weight * t)
  loss <- sum(THEIL_SEN$loss / c(1, max(1, k))) * sd^2 / n
  mean^2 + (sum(weight * t^2) - mean^2) / 2 * (1 + NOMINAL_MOMENT / THEIL_SEN$place^2) + loss
}

linear_theil_sen <- list(
  auto = FALSE, # it is after medians, and its error is known for symmetric errors only
  checked = TRUE,
  whole = TRUE, # pairs are of any two records
  unsupported = function(ask) {
    if (ask$d != 1 || ask$q != 1) return("method = \"theil_sen\" is for one predictor and one response.")
    if (!is.null(ask$unit)) "method = \"theil_sen\" is not available with `unit`: its pairs are of rows."
  },
  plan = function(ask) {
    rule <- theil_sen_rule(ask$n, ask$epsilon)
    list(medians = rule, error = theil_sen_error(rule, ask$n, public_guess(ask)$sd),
         guarantee = pure(ask, numerics = if (ask$trusted) "lattice"))
  },
  release = function(x, y, plan, ask) release_theil_sen(x, y, plan$medians),
  words = function(r) {
    c(sprintf(paste("Medians of what pairs of records predict at %.2g to either side of the middle of the predictor's",
                    "range (half of which is 1), by the exponential mechanism from a public grid, exactly: half of",
                    "what the fit has of epsilon each. Pairs are those of %d matchings by lot, so a record is in no",
                    "more of them."),
              THEIL_SEN$place, r$details$medians$matchings),
      "What lies in the middle is a median: skewed errors move it from the mean.",
      "Section 15 of proofs/linear-regression.md.")
  }
)
