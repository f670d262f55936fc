# What is known beforehand of intervals about the population of a released line or curve, from public numbers alone: why
# there are none, and what a private residual scale must cost. Plans and confint() ask the same functions. Proofs:
# inst/proofs/inference.md, sections 7, 8 and 10.

# why no such interval is told of a method, NULL where it can be
lawless_why <- function(method, what) {
  if (method == "boosted") {
    return(sprintf(paste("about the population there are no %ss for method \"boosted\": its rounds cut residuals, by",
                         "how much isn't released, and may end on the way."), what))
  }
  if (method %in% c("theil_sen", "kng", "paper")) {
    sprintf("about the population there are no %ss for method \"%s\", whose noise has no law without the records.",
            what, method)
  }
}

# By how much noise blurs the predictors' variances, which are up to 1/3 where they are even over their ranges: root
# mean square for one, the edge of the eigenvalues' law for several.
BLUR_MOST <- 1 / 6
blurred_spread <- function(sd, d, n) (if (d == 1) sd else 2 * sqrt(d) * sd) / n

# why there is none at that noise of one product of predictors, NULL where there is one
blurred_why <- function(sd, d, n) {
  blur <- if (d > 0) blurred_spread(sd, d, n) else 0
  if (!(blur <= BLUR_MOST)) {
    sprintf(paste("no interval about the population at these public numbers: the noise in the predictors' sums of",
                  "squares is %.2g of what they can be apart, and the level isn't held above %.2g. More records, or a",
                  "larger `epsilon`, would do."), blur, BLUR_MOST)
  }
}

# methods that release sums of predictors' products, and the noise of one where `left` is what they had of epsilon
RELEASES_PRODUCTS <- c("statistics", "adassp")
products_sd <- function(method, d, q, left, sd) {
  if (method == "adassp") return(if (d == 1) sd[["xx"]] else sd[["xx"]] / sqrt(2))
  statistics_sd(d, q, left)[["one"]] * if (d == 1) 1 else 2
}

# ---- the residual scale's public numbers -----------------------------------------------------------------------------

# how far two rows' predictors and their products, from -1 to 1, can be apart in all (section 7 of the proof)
moments_moved <- function(d) d * (2 + d)^2 / (2 * (1 + d))

moments_count <- function(d) d * (d + 3) / 2

# what a row, or a unit, moves their sums by, rounding counted in
predictor_most <- function(d, bits) ceiling(2^bits * moments_moved(d) * (1 + 1e-9)) + 2 * moments_count(d)

# What goes to the squares, to moments where the fit has none, and with `cuts` to what its loss cuts of them: by how
# large their noise is beside what they tell of nominal records, and how much an interval grows with it. n: NA where it
# is private.
residual_split <- function(n, q, d, moments, epsilon, cuts = FALSE) {
  each <- c(squares = 5 * q, moments = if (d > 0 && moments) 3 * moments_moved(d), cuts = if (cuts) 3)
  shares <- each^(2 / 3) / sum(each^(2 / 3))
  shares <- vapply(shares * epsilon, function(e) if (length(each) > 1) outwards_down(e) else e, 0)
  out <- list(q = q, d = d, shares = shares, bits = variance_bits(n, shares[["squares"]] / q))
  if ("moments" %in% names(each)) {
    out$moment_bits <- variance_bits(n, shares[["moments"]] / ceiling(moments_moved(d)))
  }
  if (cuts) out$cut_bits <- variance_bits(n, shares[["cuts"]] / 2)
  out
}

# the noise of one product of predictors that a residual scale for `epsilon` releases
moments_sd <- function(n, q, d, epsilon, cuts = FALSE) {
  split <- residual_split(n, q, d, TRUE, epsilon, cuts)
  sqrt(2) * noise_ratio(predictor_most(d, split$moment_bits), split$shares[["moments"]])[[2]] / 2^split$moment_bits
}

# The least epsilon of dp_residual_scale() with which public numbers don't rule an interval out; 0 where any will do.
# `sure`: whether n is public, else n is what is known of it.
least_residual_epsilon <- function(n, q, d, sure = TRUE, cuts = FALSE) {
  if (d == 0) return(0)
  refused <- function(e) !is.null(blurred_why(moments_sd(if (sure) n else NA_real_, q, d, e, cuts), d, n))
  ends <- c(-30, 20)
  if (!refused(2^ends[1])) return(0)
  for (i in 1:45) {
    middle <- mean(ends)
    ends[2 - refused(2^middle)] <- middle
  }
  2^ends[2]
}

# Columns of a plan: `population`, why there is no interval about the population, "" where public numbers don't rule one
# out, and `residual_epsilon`, what dp_residual_scale() must cost for it
population_columns <- function(why, epsilon) {
  data.frame(population = why %||% "", residual_epsilon = if (is.null(why)) epsilon else NA_real_)
}

line_population <- function(ask, plan) {
  why <- lawless_why(plan$method, "interval")
  if (!is.null(why) || !plan$method %in% RELEASES_PRODUCTS) {
    return(population_columns(why, if (is.null(why)) least_residual_epsilon(ask$n, ask$q, ask$d)))
  }
  sd <- products_sd(plan$method, ask$d, ask$q, guess_left(ask, plan$check, 0)$epsilon, plan$sd)
  population_columns(blurred_why(sd, ask$d, ask$n), 0)
}

curve_population_row <- function(ask, method) {
  why <- lawless_why(method, "band")
  population_columns(why, if (is.null(why)) least_residual_epsilon(ask$n, 1, ask$k, cuts = TRUE))
}

# a printed plan, which tells these columns in one
population_told <- function(x) {
  if (!has_population(x)) return(x)
  least <- ifelse(x$residual_epsilon > 0, paste0(">= ", format(x$residual_epsilon, digits = 3)), "any")
  x$population <- ifelse(nzchar(x$population), "refused", least)
  x[names(x) != "residual_epsilon"]
}

has_population <- function(x) all(c("population", "residual_epsilon") %in% names(x))

# lines below it
population_lines <- function(x) {
  if (!has_population(x)) return(NULL)
  refused <- setdiff(x$population, c("", NA, x$why)) # what isn't there at all says so itself
  c(strwrap(paste("population: what of epsilon dp_residual_scale() must have, beside the fit's, for an interval about",
                  "the population; what is released may still rule it out.")),
    if (length(refused)) strwrap(paste0("refused: ", refused)))
}
