#' How to split epsilon between a mean and what tells its population's region
#'
#' A region about the population ([confint()][confint.riemdp_mean()]) needs a second release beside the private mean:
#' a private mean square for a ball (`dp_mean(variance = share)`), or a private covariance for an ellipsoid
#' ([dp_covariance()] by `share * epsilon`, after a [dp_mean()] by the rest). With a small share it is so noisy that the
#' region must be wide, with a large one the mean is. This function tells how large both regions are for several shares,
#' from public numbers and a guess of how records spread. No data are touched.
#'
#' Where records spread alike in all directions a ball is smaller; where they don't, and there is enough budget to learn
#' it, an ellipsoid is. A guess with a number for each direction shows that.
#'
#' A ball's size is the mean, over the law of the noise, of what [confint()][confint.riemdp_mean()] would make of
#' releases for records around the centre. `coverage` is how often such balls hold the population's mean if records
#' spread as guessed: with a small share they are small when noise has made the mean square small, and hold less often
#' than they say. Shares whose balls fall short by more than .01 aren't chosen, nor are ellipsoids of these shares. An
#' ellipsoid's size is the mean over draws of the covariance's noise, simulated from its law with a fixed seed; its
#' coverage isn't told.
#'
#' @inheritParams dp_mean_plan
#' @param n number of records, or of units.
#' @param epsilon,center,radius as in [dp_mean()]; `center = NULL` where the answer doesn't depend on it.
#' @param delta as in [dp_mean()]; for an ellipsoid half of it is the mean's, half the covariance's.
#' @param spread a public guess of the records' standard deviation in one tangent coordinate, or of those in all of
#'   them, one after the other.
#' @param level coverage of the region, between 0 and 1.
#' @param method `"asymptotic"` or `"finite"`, as in [confint()][confint.riemdp_mean()]; an ellipsoid is asymptotic.
#' @param shares the shares of `epsilon` to compare, between 0 and 1.
#' @param kind which regions: `"ball"`, `"ellipsoid"`, or both. Where there is no ellipsoid, as in one dimension or with
#'   `method = "finite"`, balls are told.
#' @return A data frame of class `riemdp_region_plan` with a row for each share and kind: `share`, `kind`, `mechanism`
#'   (the mean's), `estimate` (radius of the region about the records' mean), `region` (radius of the region about the
#'   population's; of an ellipsoid that of a flat ball of its volume), `coverage` (of a ball that isn't `"finite"`),
#'   `chosen` (the smallest region that holds as often as it says; of several the smallest share) and `note` (why a
#'   share can't be served). Its attributes are `reach`, the radius beyond which the public ball says more, and `plain`,
#'   the radius without privacy.
#' @seealso [dp_mean()], [dp_covariance()], [dp_mean_plan()], [confint.riemdp_mean()]
#' @examples
#' plan <- dp_region_plan(sphere(2), n = 1000, epsilon = 1, radius = 0.7, spread = 0.2)
#' plan
#' plan$share[plan$chosen]
#' # records along a line
#' dp_region_plan(sphere(2), n = 1e5, epsilon = 1, radius = 0.7, spread = c(0.3, 0.02))
#' @export
dp_region_plan <- function(M, n, epsilon, center = NULL, radius, ..., spread, level = 0.95,
                           method = c("asymptotic", "finite"),
                           shares = c(0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5), kind = c("ball", "ellipsoid"),
                           delta = 0, mechanism = "auto") {
  check_dots_empty(...)
  check_manifold(M)
  check_given(c(n = missing(n), epsilon = missing(epsilon), radius = missing(radius), spread = missing(spread)))
  n <- check_count(n, "n", most = .Machine$integer.max)
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  delta <- check_number(delta, "delta", least = 0, most = 1)
  method <- check_choice(method, "method", c("asymptotic", "finite"))
  rest <- list(level = check_level(level), method = method, mechanism = mechanism,
               spread = check_spread(spread, mf_facts(M)$dimension))
  if (!is.numeric(shares) || is.object(shares) || length(shares) == 0 || !all(shares > 0 & shares < 1)) {
    abort_riemdp("argument", "`shares` must be numbers between 0 and 1.")
  }
  center <- public_center(M, center)
  table <- expand.grid(share = sort(unique(shares)), kind = region_kinds(M, kind, method), stringsAsFactors = FALSE)
  rows <- Map(function(share, kind) {
    size <- if (kind == "ball") ball_size else ellipsoid_size
    tryCatch(size(M, n, epsilon, center, radius, delta, share, rest), riemdp_error_unsupported = function(e) {
      data.frame(mechanism = NA_character_, estimate = NA_real_, region = NA_real_, coverage = NA_real_,
                 note = conditionMessage(e))
    })
  }, table$share, table$kind)
  out <- cbind(table, do.call(rbind, rows))
  out$chosen <- seq_len(nrow(out)) == c(smallest_region(out, rest$level), 0)[1]
  spread <- rest$spread
  structure(out[c("share", "kind", "mechanism", "estimate", "region", "coverage", "chosen", "note")],
            class = c("riemdp_region_plan", "data.frame"), level = level, method = method, n = n, epsilon = epsilon,
            manifold = label_manifold(M), reach = check_radius(M, radius, center)$radius,
            plain = exp(mean(log(spread))) * sqrt(stats::qchisq(level, length(spread)) / n))
}

# A small share's sums are mostly noise: its regions are small where they hold less often. Of those that hold as often
# as they say, but for .01, the smallest; where none does, that which holds most often. An ellipsoid learns more numbers
# from its share than a ball does, so it isn't trusted where the ball isn't.
smallest_region <- function(out, level) {
  short <- out$share[!is.na(out$coverage) & out$coverage < level - 0.01]
  holds <- !out$share %in% short
  if (any(holds & !is.na(out$region))) return(which.min(ifelse(holds, out$region, NA)))
  which.max(out$coverage)
}

# one for each coordinate
check_spread <- function(spread, d) {
  if (length(spread) == 1) return(rep(check_number(spread, "spread", positive = TRUE), d))
  if (!is.numeric(spread) || is.object(spread) || length(spread) != d || !all(is.finite(spread) & spread > 0)) {
    abort_riemdp("argument", sprintf("`spread` must be a positive number, or %d: one for each coordinate.", d))
  }
  as.vector(spread)
}

# those asked for, as far as there are
region_kinds <- function(M, kind, method) {
  if (!is.character(kind) || length(kind) == 0 || !all(kind %in% c("ball", "ellipsoid"))) {
    abort_riemdp("argument", "`kind` must be \"ball\" or \"ellipsoid\", or both.")
  }
  if (of_user(M) || mf_facts(M)$dimension < 2 || method == "finite") return("ball")
  unique(kind)
}

region_ask <- function(M, n, epsilon, center, radius, delta, mechanism, share = NULL) {
  ask <- mean_ask(M, n, epsilon, center, radius, delta, mechanism, NULL, "proven", "ordinary", "auto", 1e6, list(),
                  NULL, share)
  ask$manifold <- M
  ask
}

ball_size <- function(M, n, epsilon, center, radius, delta, share, rest) {
  ask <- region_ask(M, n, epsilon, center, radius, delta, rest$mechanism, share)
  ask <- variance_ask(M, ask, ask$variance$epsilon, shape = TRUE)
  plan <- plan_mean(M, ask)
  check_squares_target(plan, ask)
  r <- mean_release(list(value = ask$center, squares = squares_expected(M, ask, rest$spread)), plan, ask, list())
  sizes <- vapply(squares_drawn(r$squares), function(squares) {
    r$squares <- squares
    population_region(r, rest$level, rest$method)$radius
  }, 0)
  data.frame(mechanism = plan$mechanism, estimate = mean_region(r, rest$level)$radius, region = mean(sizes),
             coverage = if (rest$method == "finite") NA_real_ else region_coverage(sizes, r, rest$level),
             note = NA_character_)
}

# Released sums as their noise may leave them: the middles of nine parts of its law, for the two numbers in orders that
# have nothing to do with each other
squares_drawn <- function(s) {
  k <- stats::ppoints(9, 0.5)
  noise <- -sign(k - 0.5) * log(1 - abs(2 * k - 1))
  lapply(seq_along(k), function(i) {
    s$sum <- s$sum + s$scale * noise[i]
    if (!is.null(s$norm)) s$norm <- s$norm + s$norm_scale * noise[c(5, 1, 9, 3, 7, 2, 8, 4, 6)[i]]
    s
  })
}

# how often balls of these sizes hold the mean of a population that spreads as the sums without noise say
region_coverage <- function(sizes, r, level) {
  r$squares[intersect(c("scale", "norm_scale"), names(r$squares))] <- 0
  both <- population_law(mf_facts(r$manifold)$dimension, check_radius(r$manifold, r$radius, r$center), r$squares,
                         function(level) mean_region(r, level)$radius, level, r$n)
  mean(vapply(sizes, function(size) sum(both$weight[both$length <= size]), 0)) / sum(both$weight)
}

# over so many draws of the covariance's noise
ELLIPSOID_DRAWS <- 5

ellipsoid_size <- function(M, n, epsilon, center, radius, delta, share, rest) {
  ask <- region_ask(M, n, (1 - share) * epsilon, center, radius, delta / 2, rest$mechanism)
  r <- mean_release(list(value = ask$center), plan_mean(M, ask), ask, list())
  check_ellipsoid_target(r)
  about <- covariance_ask(M, n, share * epsilon, center, radius, center, delta / 2, "auto")
  plan <- covariance_estimator$plan(about)
  d <- length(rest$spread)
  s <- covariance_estimator$answer(list(sum = matrix(0, d, d)), plan, about, list())
  half <- vapply(with_simulation(2, covariance_noises(s, ELLIPSOID_DRAWS)), function(noise) {
    s$moment <- diag(pmin(rest$spread, s$length)^2) + noise
    exp(mean(log(covariance_region(r, s, rest$level)$half_axes)))
  }, 0)
  data.frame(mechanism = r$mechanism, estimate = mean_region(r, rest$level)$radius, region = mean(half),
             coverage = NA_real_, note = NA_character_)
}

# what would be released of records that spread so around the centre, if no noise were added
squares_expected <- function(M, ask, spread) {
  d <- mf_facts(M)$dimension
  s <- ask$squares
  most <- variance_most(ask, numeric(d))
  unit <- 4 * ask$ball$radius^2 / 2^s$bits
  sum <- ask$n * min(sum(spread^2) / unit, most)
  told <- squares_told(ask, list(sum = sum, scale = most / s$epsilon), most)
  if (is.null(s$norm)) return(told)
  norm <- norm_most(M, ask, numeric(d))
  scale <- 4 * ask$ball$radius^2 / 2^norm_bits(s$norm)
  length <- sum * unit * sqrt(sum(spread^4)) / sum(spread^2)
  c(told, norm_told(ask, list(sum = length / scale, scale = norm$one / s$norm)))
}

#' @export
print.riemdp_region_plan <- function(x, ...) {
  said <- function(name) attr(x, name)
  cat(strwrap(sprintf("Region about the population's mean (%g %%, %s) on %s: n = %s, epsilon = %s", 100 * said("level"),
                      said("method"), said("manifold"), format(said("n")), format(said("epsilon"))), exdent = 2),
      sep = "\n")
  table <- as.data.frame(x)
  print(data.frame(share = table$share, kind = table$kind, mechanism = table$mechanism,
                   estimate = signif(table$estimate, 3), population = signif(table$region, 3),
                   coverage = ifelse(is.na(table$coverage), "", sprintf("%.3f", table$coverage)),
                   chosen = ifelse(table$chosen, "<-", "")), row.names = FALSE)
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  for (note in unique(stats::na.omit(table$note))) say(note)
  best <- which(table$chosen)
  if (length(best) && table$region[best] >= said("reach") * (1 - 1e-9)) {
    say("The public ball says as much: no share tells more than that.")
  } else if (length(best)) {
    say(region_call(table$kind[best], table$share[best], said("epsilon")))
  }
  say(sprintf("Without privacy it would be %.3g. `spread` is a guess: nothing here rests on data.", said("plain")))
  invisible(x)
}

# the call that has this region
region_call <- function(kind, share, epsilon) {
  if (kind == "ball") return(sprintf("That is dp_mean(epsilon = %g, variance = %g).", epsilon, share))
  sprintf("That is dp_mean(epsilon = %g), and dp_covariance(epsilon = %g) around it.", (1 - share) * epsilon,
          share * epsilon)
}
