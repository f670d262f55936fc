# A private check of the public guess of responses (centre and scale) before a linear fit, and a private search for both
# where the check fails. What is decided here is decided by public numbers and by what was released. Proof:
# inst/proofs/linear-regression.md, "The guess is checked". Responses are in units of the guess: those of a good one
# have mean about 0 and standard deviation about 1.

# The check counts records far from the centre, to one side of it and very near it: the guess is off where more than
# these shares of all are. So is a scale 2.5 times too large with a centre 2 to 4 standard deviations off. Where all are
# very near the check hardly ever errs.
GUESS_FAR <- c(length = 1.75, share = 0.24)
GUESS_SIDE <- c(length = 0.7, share = 0.45)
GUESS_NEXT <- c(length = 0.15, share = 0.4)
# n epsilon of one response's check, and of its search; either gets this share of epsilon where that is more
GUESS_CHECK <- c(least = 20, share = 0.005)
GUESS_SEARCH <- c(least = 110, share = 0.03)
# Below this n epsilon for each response (and this n) a check tells too little for its price
GUESS_USEFUL <- c(epsilon = 300, records = 100)
# The search's candidates: scales 2^(k/4), centres at so many multiples of a quarter of the scale to either side
GUESS_LEVELS <- -80:80
GUESS_CENTRES <- 2^22
# Skewed and heavy-tailed responses have larger standard deviations than their quantiles say
GUESS_MARGIN <- 1.05
# Windows with less than this share of the records all count alike
GUESS_FLOOR <- 0.05
# What is searched: levels k (scales 2^(k/4)), how many centres to either side each has, where no candidate has the same
# centre and a smaller scale, and "none of these": as good as a window that lacks all but `share` of the records, with a
# weight of its own (its logarithm)
GUESS_GRID <- list(
  levels = GUESS_LEVELS, centres = function(k) GUESS_CENTRES, none = c(share = 0.25, weight = 13.2),
  least = function(k, m) k <= GUESS_LEVELS[4] | abs(m) > GUESS_CENTRES / 2
)

# ---- what is counted: sums over records ------------------------------------------------------------------------------

# what valid records count
valid_shares <- function(x, valid) shares_of(x)[valid] %||% rep(1, sum(valid))

# For each response how many valid records lie far from the guess's centre, above it, below it and very near it; q x 4.
# What lies merely near is not counted: heavy tails in units of their standard deviation look there like a scale twice
# too large, and suffer more from a smaller one.
guess_counts <- function(x, y) {
  valid <- x[1, ] != 0
  y <- y[, valid, drop = FALSE]
  size <- abs(y)
  share <- valid_shares(x, valid)
  count <- function(which) drop(which %*% share)
  cbind(count(size > GUESS_FAR[["length"]]), count(y > GUESS_SIDE[["length"]]),
        count(y < -GUESS_SIDE[["length"]]), count(size <= GUESS_NEXT[["length"]]))
}

# For each response by how many records the guess is off
guess_off <- function(counts, n) {
  most <- n * c(GUESS_FAR[["share"]], GUESS_SIDE[["share"]], GUESS_SIDE[["share"]], GUESS_NEXT[["share"]])
  apply(counts - rep(most, each = nrow(counts)), 1, max)
}

# The check's answers, TRUE where a guess is to be searched for: of utilities -s and s
found_off <- function(off, epsilon) {
  vapply(off, function(s) {
    .Call(riemdp_exponential_choice, c(-s, s), epsilon, pay(price_choice(epsilon, "linear-regression.md, 8")))
  }, 0) == 2
}

# The cell (its lower end) of the finest lattice that has a centre within reach of v. Lattices of halves are nested, so
# the cells of all coarser ones follow; finer ones have no centre there.
finest_cell <- function(v) {
  least <- 2^(GUESS_LEVELS[1] / 4 - 2)
  coarser <- pmax(0, ceiling(log2(abs(v) / (least * (GUESS_CENTRES + 16)))))
  width <- least * 2^coarser
  floor(v / width) * width
}

count_cells <- function(v, times = rep(1, length(v))) {
  value <- sort(unique(v))
  list(value = value, count = as.double(rowsum(times, match(v, value))[seq_along(value)]))
}

# Tables of cells for each row in `which` of y: those of whole powers of two and those of 2^(1/4), 2^(1/2) and 2^(3/4)
# times them
guess_cells <- function(x, y, which) {
  valid <- x[1, ] != 0
  share <- valid_shares(x, valid)
  lapply(which, function(j) {
    v <- y[j, valid]
    lapply(0:3, function(i) count_cells(finest_cell(v / 2^(i / 4)), share))
  })
}

add_tables <- function(a, b) Map(function(a, b) count_cells(c(a$value, b$value), c(a$count, b$count)), a, b)
add_cells <- function(a, b) Map(add_tables, a, b)

# ---- the search ------------------------------------------------------------------------------------------------------

# What levels read of a table of cells: cumulative counts; every g-th record, one of which is in each window of more
# than GUESS_FLOOR of the records; and the shortest span of g neighbouring records: no half-open window of that length
# or less holds as many. Counts are whole, or sums of shares.
guess_sums <- function(table) {
  sums <- cumsum(table$count)
  total <- if (length(sums)) sums[length(sums)] else 0
  least <- if (all(table$count == floor(table$count))) 1 else 2^-30
  step <- max(least, least * floor(GUESS_FLOOR * total / least))
  if (step > total) return(list(total = total))
  at_rank <- function(r) table$value[findInterval(r, sums, left.open = TRUE) + 1]
  before <- c(0, sums[-length(sums)])
  from <- which(before + step <= total)
  list(value = table$value, below = c(0, sums), total = total, some = at_rank(seq(step, total, step)),
       span = min(at_rank(before[from] + step) - table$value[from]))
}

# Utilities of the candidates of one level k of a grid (scale 2^(k/4), centres at multiples m of a quarter of it): minus
# the larger of how far the count in [centre - scale, centre + scale) is from `fraction` of the records and how far the
# median is from [centre - scale/4, centre + scale/4), in records, and at least `floor`. Returns those that may be above
# it: list(at = m, score), floor, and how many `others`.
guess_level <- function(cells, k, fraction, table = guess_sums(cells[[1 + k %% 4]]),
                        grid = GUESS_GRID) {
  unit <- 2^(k %/% 4 - 2)
  total <- table$total
  floor <- -(fraction - GUESS_FLOOR) * total
  count <- 2 * grid$centres(k) + 1
  if (total == 0 || 8 * unit <= table$span) {
    return(list(at = double(), score = double(), floor = floor, others = count))
  }
  cell <- base::floor(table$some / unit)
  cell <- cell[c(TRUE, diff(cell) > 0)]
  at <- rep(cell, each = 8) + -3:4
  at <- unique(at[abs(at) <= grid$centres(k)])
  below <- table$below[findInterval(c(at - 4, at - 1, at + 1, at + 4) * unit, table$value, left.open = TRUE) + 1]
  dim(below) <- c(length(at), 4)
  window <- below[, 4] - below[, 1] - fraction * total
  least <- grid$least(k, at)
  window[least] <- pmin.int(window[least], 0) # "at most this scale"
  score <- -pmax.int(abs(window), below[, 2] - total / 2, total / 2 - below[, 3])
  list(at = at, score = pmax.int(floor, score), floor = floor, others = count - length(at))
}

guess_levels <- function(cells, fraction, grid = GUESS_GRID) {
  tables <- lapply(cells, guess_sums)
  lapply(grid$levels, function(k) guess_level(cells, k, fraction, tables[[1 + k %% 4]], grid))
}

# log of sums of exp(epsilon score/2), the rest of the candidates with the floor's
level_weights <- function(level, epsilon) {
  c(epsilon * level$score / 2, if (level$others > 0) epsilon * level$floor / 2 + log(level$others))
}

none_weight <- function(cells, fraction, epsilon, grid = GUESS_GRID) {
  grid$none[["weight"]] - epsilon * (fraction - grid$none[["share"]]) * sum(cells[[1]]$count) / 2
}

log_sum_exp <- function(a) max(a) + log(sum(exp(a - max(a))))

# One candidate by the exponential mechanism: c(k, m), or NA for none of them. In two steps, a level and one of its
# centres, which have the law of one.
search_guess <- function(cells, fraction, epsilon, levels = guess_levels(cells, fraction, grid),
                         grid = GUESS_GRID) {
  simulated <- pay(price_choice(epsilon, "linear-regression.md, 8")) # once: all steps together draw from one law
  draw <- function(log_weights) {
    .Call(riemdp_exponential_choice, as.double(2 * log_weights / epsilon), epsilon, simulated)
  }
  i <- draw(c(vapply(levels, function(level) log_sum_exp(level_weights(level, epsilon)), 0),
              none_weight(cells, fraction, epsilon, grid)))
  if (i > length(levels)) return(c(k = NA, m = NA))
  level <- levels[[i]]
  j <- draw(level_weights(level, epsilon))
  m <- if (j <= length(level$at)) level$at[j] else other_centre(level, draw)
  c(k = grid$levels[i], m = m)
}

# One of the centres of a level that aren't listed, all alike: its place is drawn by two digits
other_centre <- function(level, draw) {
  first <- seq(0, level$others - 1, by = 2048)
  block <- draw(log(pmin(2048, level$others - first)))
  m <- first[block] + draw(numeric(min(2048, level$others - first[block]))) - 1 -
    (level$others + length(level$at) - 1) / 2
  for (taken in sort(level$at)) if (taken <= m) m <- m + 1
  m
}

# Centre and scale from a released candidate; without one they stay. The least scale at a centre says that most values
# are the same, for which no scale is right: it stays as it was.
found_guess <- function(found, fraction) {
  if (is.na(found[["k"]])) return(list(center = 0, scale = 1, lowest = FALSE, highest = TRUE))
  lowest <- GUESS_GRID$least(found[["k"]], found[["m"]])
  scale <- 2^(found[["k"]] / 4)
  center <- found[["m"]] * scale / 4
  list(center = center, scale = if (lowest) 1 else GUESS_MARGIN * scale / stats::qnorm((1 + fraction) / 2),
       lowest = lowest, highest = found[["k"]] == max(GUESS_LEVELS) || abs(center) >= 1e6)
}

# Centres and scales that the fit is to use, released; rows: responses
release_guess <- function(x, y, prices, n, q) {
  counts <- linear_total(x, y, "linear_guess", guess_counts(x, y))
  searched <- found_off(guess_off(counts, n), outwards_down(prices$check))
  out <- data.frame(center = rep(0, q), scale = rep(1, q), searched = searched, lowest = FALSE, highest = FALSE)
  if (!any(searched)) return(out)
  which <- which(searched)
  cells <- linear_total(x, y, "linear_cells", guess_cells(x, y, which), which = which, add = add_cells)
  for (i in seq_along(which)) {
    found <- search_guess(cells[[i]], prices$fraction, outwards_down(prices$search))
    out[which[i], c("center", "scale", "lowest", "highest")] <- found_guess(found, prices$fraction)
  }
  out
}

# Responses in units of the released guess, none longer than `reach`
guessed_responses <- function(x, y, guess, reach) {
  step <- list(b = cbind(guess$center, matrix(0, nrow(guess), linear_width(x) - 1)), scale = guess$scale, limit = reach)
  if (inherits(x, "riemdp_linear_chunks")) c(y, list(step)) else stepped(x, y, step)
}

# ---- what is told ----------------------------------------------------------------------------------------------------

# the guess in use, on the variables' scales
guess_told <- function(guess, public) {
  data.frame(response = colnames(public$y), center = public$y["center", ] + public$y["scale", ] * guess$center,
             scale = public$y["scale", ] * guess$scale, searched = guess$searched, lowest = guess$lowest,
             highest = guess$highest, row.names = NULL)
}

# Sentences about the guess, from released numbers alone
guess_words <- function(r) {
  told <- r$details$guess
  if (is.null(told)) return(NULL)
  price <- r$details$check
  share <- function(price) price / r$guarantee$nominal_epsilon
  c(sprintf(paste("The guess of %s was checked first (%.3g of epsilon): noisy counts of responses far from and near",
                  "the centre."),
            if (nrow(told) == 1) "the response" else "each response", share(nrow(told) * price$check)),
    if (any(told$searched)) sprintf(paste("It was found to be off for %s; centre and scale were released by the",
                                          "exponential mechanism (%.3g of epsilon), and the fit is in units of",
                                          "them: %s."),
                                    quoted_names(told$response[told$searched]),
                                    share(sum(told$searched) * price$search), guess_listed(told)))
}

guess_listed <- function(told) {
  told <- told[told$searched, ]
  paste(sprintf("`%s` centre %s, scale %s", told$response, signif(told$center, 4), signif(told$scale, 3)),
        collapse = "; ")
}

quoted_names <- function(names) paste0("`", names, "`", collapse = ", ")

guess_warning <- function(...) {
  warning(structure(class = c("riemdp_warning_guess", "warning", "condition"),
                    list(message = paste0(...), call = NULL)))
}

# Warnings about guesses that are off by more than is searched: functions of the release
warn_guess <- function(fit) {
  told <- fit$details$guess
  if (any(told$highest)) {
    guess_warning("the released centre or scale of ", quoted_names(told$response[told$highest]),
                  " is at the end of what is searched, a million times the guessed ",
                  "scale, or beyond: the guess is off by more, and the fit says little. Give a better guess.")
  }
  same <- if (!is.null(told)) told$lowest & !told$highest
  if (any(same)) {
    guess_warning("most values of ", quoted_names(told$response[same]),
                  " seem to lie within a millionth of the guessed scale, or of their distance from its ",
                  "centre: no scale can be told from them, and the guessed one stays.")
  }
  if (isTRUE(fit$details$top)) {
    guess_warning(paste("the released scale of the residuals is at the top of its grid, a million times the guess: the",
                        "guess of the responses is off by more, "),
                  "or most records have missing cells. Give a better guess of centre and scale.")
  }
}
