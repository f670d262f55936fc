#' How to split epsilon between a mean and what tells its population's region
#'
#' A region about the population ([confint()][confint.riemdp_mean()] of a release of `dp_mean(variance = )`) needs a
#' private mean square beside the private mean. The share of `epsilon` for it is `variance`: with a small share the mean
#' square is so noisy that the region must be wide, with a large one the mean is. This function tells the region's
#' radius for several shares, from public numbers and a guess of how records spread. No data are touched.
#'
#' Each radius is that of the region which [confint()][confint.riemdp_mean()] would make if the released numbers came
#' out as they are without noise, for records that spread evenly in all directions around the centre. Nothing is
#' simulated.
#'
#' @inheritParams dp_mean_plan
#' @param n number of records, or of units.
#' @param epsilon,center,radius,delta as in [dp_mean()]; `center = NULL` where the answer doesn't depend on it.
#' @param spread a public guess of the records' standard deviation in one tangent coordinate.
#' @param level coverage of the region, between 0 and 1.
#' @param method `"asymptotic"` or `"finite"`, as in [confint()][confint.riemdp_mean()].
#' @param shares the shares of `epsilon` to compare, between 0 and 1.
#' @return A data frame of class `riemdp_region_plan` with a row for each share: `share`, `mechanism`, `estimate`
#'   (radius of the region about the records' mean), `region` (about the population's), `chosen` (the smallest region;
#'   of several the smallest share) and `note` (why a share can't be served). Its attributes are `reach`, the radius
#'   beyond which the public ball says more, and `plain`, the radius without privacy.
#' @seealso [dp_mean()], [dp_mean_plan()], [confint.riemdp_mean()]
#' @examples
#' plan <- dp_region_plan(sphere(2), n = 1000, epsilon = 1, radius = 0.7, spread = 0.2)
#' plan
#' plan$share[plan$chosen]
#' @export
dp_region_plan <- function(M, n, epsilon, center = NULL, radius, ..., spread, level = 0.95,
                           method = c("asymptotic", "finite"),
                           shares = c(0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5), delta = 0, mechanism = "auto") {
  check_dots_empty(...)
  check_manifold(M)
  check_given(c(n = missing(n), epsilon = missing(epsilon), radius = missing(radius), spread = missing(spread)))
  n <- check_count(n, "n", most = .Machine$integer.max)
  spread <- check_number(spread, "spread", positive = TRUE)
  level <- check_level(level)
  method <- check_choice(method, "method", c("asymptotic", "finite"))
  if (!is.numeric(shares) || is.object(shares) || length(shares) == 0 || !all(shares > 0 & shares < 1)) {
    abort_riemdp("argument", "`shares` must be numbers between 0 and 1.")
  }
  center <- public_center(M, center)
  rows <- lapply(sort(unique(shares)), function(share) {
    tryCatch(shared_row(M, n, epsilon, center, radius, delta, mechanism, share, spread, level, method),
             riemdp_error_unsupported = function(e) {
               data.frame(share = share, mechanism = NA_character_, estimate = NA_real_, region = NA_real_,
                          note = conditionMessage(e))
             })
  })
  out <- do.call(rbind, rows)
  out$chosen <- seq_len(nrow(out)) == c(which.min(out$region), 0)[1]
  d <- mf_facts(M)$dimension
  structure(out[c("share", "mechanism", "estimate", "region", "chosen", "note")],
            class = c("riemdp_region_plan", "data.frame"), level = level, method = method, n = n, epsilon = epsilon,
            manifold = label_manifold(M), reach = check_radius(M, radius, center)$radius,
            plain = spread * sqrt(stats::qchisq(level, d) / n))
}

shared_row <- function(M, n, epsilon, center, radius, delta, mechanism, share, spread, level, method) {
  ask <- mean_ask(M, n, epsilon, center, radius, delta, mechanism, NULL, "proven", "ordinary", "auto", 1e6, list(),
                  NULL, share)
  ask$manifold <- M
  ask <- variance_ask(M, ask, ask$variance$epsilon, shape = TRUE)
  plan <- plan_mean(M, ask)
  check_squares_target(plan, ask)
  r <- mean_release(list(value = ask$center, squares = squares_expected(M, ask, spread)), plan, ask, list())
  data.frame(share = share, mechanism = plan$mechanism, estimate = mean_region(r, level)$radius,
             region = population_region(r, level, method)$radius, note = NA_character_)
}

# what would be released of records that spread evenly around the centre, if no noise were added
squares_expected <- function(M, ask, spread) {
  d <- mf_facts(M)$dimension
  s <- ask$squares
  most <- variance_most(ask, numeric(d))
  unit <- 4 * ask$ball$radius^2 / 2^s$bits
  sum <- ask$n * min(d * spread^2 / unit, most)
  told <- squares_told(ask, list(sum = sum, scale = most / s$epsilon), most)
  if (is.null(s$norm)) return(told)
  norm <- norm_most(M, ask, numeric(d))
  scale <- 4 * ask$ball$radius^2 / 2^norm_bits(s$norm)
  c(told, norm_told(ask, list(sum = sum * unit / sqrt(d) / scale, scale = norm$one / s$norm)))
}

#' @export
print.riemdp_region_plan <- function(x, ...) {
  said <- function(name) attr(x, name)
  cat(strwrap(sprintf("Region about the population's mean (%g %%, %s) on %s: n = %s, epsilon = %s", 100 * said("level"),
                      said("method"), said("manifold"), format(said("n")), format(said("epsilon"))), exdent = 2),
      sep = "\n")
  table <- as.data.frame(x)
  print(data.frame(variance = table$share, mechanism = table$mechanism, estimate = signif(table$estimate, 3),
                   population = signif(table$region, 3), chosen = ifelse(table$chosen, "<-", "")), row.names = FALSE)
  say <- function(...) cat(strwrap(paste0(...), exdent = 2), sep = "\n")
  for (note in unique(stats::na.omit(table$note))) say(note)
  best <- which(table$chosen)
  if (length(best) && table$region[best] >= said("reach") * (1 - 1e-9)) {
    say("The public ball says as much: no share tells more than that.")
  }
  say(sprintf("Without privacy it would be %.3g. `spread` is a guess: nothing here rests on data.", said("plain")))
  invisible(x)
}
