# What a release promises. The label is decided here and nowhere else.

new_guarantee <- function(epsilon, delta, reasons, sampler, rng, numerics, adjacency = "replace-one",
                          assumptions = NULL, mu = NULL, mu_slack = 0, unit = "row") {
  label <- if (length(reasons)) {
    "none"
  } else if (sampler == "chain") {
    "approx-sampler"
  } else if (delta > 0) {
    "approx"
  } else {
    "pure"
  }
  structure(list(
    label = label,
    epsilon = if (label == "none") Inf else epsilon,
    delta = if (label == "none") 1 else delta,
    nominal_epsilon = epsilon,
    nominal_delta = delta,
    mu = if (label == "none") Inf else if (is.null(mu)) NA_real_ else mu,
    mu_slack = mu_slack,
    adjacency = adjacency,
    unit = unit,
    reason = if (length(reasons)) paste(reasons, collapse = "; ") else NA_character_,
    assumptions = assumptions,
    sampler = sampler,
    rng = rng,
    numerics = numerics
  ), class = "riemdp_guarantee")
}

SIMULATED <- "seeded simulation: the noise can be drawn again"

# what weights computed in doubles ask of the machine
EXP_ASSUMES <- "the C library's exp is right to 2^-44 of its value"

# What a plan shows and a release carries: what the mechanism states of itself (`g`: epsilon, delta; reasons, sampler,
# rng, mu, mu_slack and assumptions where they are not the usual ones), and what the circumstances add. `trusted`: the
# manifold whose bounds the proof takes.
promise_of <- function(g, assumptions, trusted = NULL, numerics = "real-valued", adjacency = "replace-one") {
  simulated <- in_simulation()
  new_guarantee(
    g$epsilon, g$delta,
    c(
      g$reasons,
      if (simulated) SIMULATED,
      if (of_user(trusted)) "curvature bounds and callbacks of a user's manifold are taken on trust"
    ),
    sampler = g$sampler %||% "exact", rng = if (simulated) "simulation" else g$rng %||% "operating system",
    numerics = numerics,
    adjacency = adjacency, assumptions = c(assumptions, g$assumptions), mu = g$mu, mu_slack = g$mu_slack %||% 0
  )
}

# the same promise about units, if there are any: their names are `unit`
of_units <- function(g, unit) {
  if (is.null(unit)) return(g)
  g$unit <- unit
  g$assumptions <- sub("number of records", "number of units", g$assumptions, fixed = TRUE)
  g
}

# what a release and its guarantee call them, NULL where there are none
unit_name <- function(units, x = NULL) if (!is.null(units)) units$name %||% "unit" else if (is_chunks(x)) x$protects

# what a ledger calls a release by such a function
entry_words <- function(entry, method, unit) {
  paste0(entry, " ", method, if (!is.null(unit)) paste(", unit", unit))
}

# whether one record is one row; older releases don't say, and theirs is
of_rows <- function(g) identical(g$unit %||% "row", "row")

# whether a release protects the number of its records
private_size <- function(r) identical(r$guarantee$adjacency, "add-remove") || !is.null(r$size)

# who is protected
protected_words <- function(g) {
  if (of_rows(g)) return("one row")
  sprintf("one unit%s with all its rows", if (g$unit == "unit") "" else sprintf(" (%s)", g$unit))
}

protection_words <- function(r) {
  paste0("protects ", protected_words(r$guarantee), if (identical(r$guarantee$adjacency, "add-remove"))
    ", and whether it is there" else if (!is.null(r$size)) ", also which group it is in")
}

#' What a release promises
#'
#' @param r a private release, e.g. of [dp_mean()].
#' @return A list of class `riemdp_guarantee`:
#' * `label`: `"pure"` (\eqn{\epsilon}-differential privacy: exact sampler, proven sensitivity, public bounds),
#'   `"approx"` (\eqn{(\epsilon, \delta)}), `"approx-sampler"` (the same, of a Markov chain whose proven distance from
#'   its law is part of delta) or `"none"` (no guarantee);
#' * `epsilon`, `delta`: what holds; `Inf` and 1 for `"none"`, so that no script trusts it;
#' * `nominal_epsilon`, `nominal_delta`: what was asked for;
#' * `mu`, `mu_slack`: \eqn{\mu}-Gaussian differential privacy where it is known (`NA` otherwise, `Inf` for `"none"`),
#'   up to `mu_slack` in delta;
#' * `adjacency`: `"replace-one"`: neighbouring data sets differ in one record, their number is public; `"add-remove"`:
#'   one has one record more than the other, their number is private;
#'   of releases of single points ([dp_local()]) the values of a record that are compared, and `promise` (`"local DP"`
#'   or `"metric privacy"`) and `per`, the distance at which `epsilon` holds, say which promise it is;
#' * `unit`: what one record is: `"row"`, so that somebody with five rows is not protected as a whole, or the name of
#'   the column that says which rows are one person's (see `unit` in [dp_mean()]);
#' * `reason`: for `"none"`, why; `NA` otherwise;
#' * `assumptions`: what the proof rests on beyond the public bounds;
#' * `sampler` (`"exact"` or `"chain"`), `rng` (`"operating system"`: its own bits in lattice mode, elsewhere ChaCha20
#'   under a key that it gives each call; or `"simulation"`), `numerics` (`"real-valued"`: the proof is about real
#'   numbers, the computation uses doubles; `"lattice"`: it is about what the computer does).
#' @examples
#' r <- dp_mean(wishart_spd[, , 1:200], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' guarantee(r)
#' guarantee(r)$label
#' @export
guarantee <- function(r) UseMethod("guarantee")

#' @export
guarantee.default <- function(r) {
  abort_riemdp("argument", "`r` must be a private release, e.g. of dp_mean().")
}

#' @export
guarantee.riemdp_release <- function(r) r$guarantee

#' @export
format.riemdp_guarantee <- function(x, ascii = FALSE, ...) {
  e <- symbol("epsilon", ascii)
  d <- symbol("delta", ascii)
  model <- if (x$numerics == "real-valued") ", real-number model" else ""
  per <- if (!is.null(x$per)) sprintf(" for each %.6g of distance", x$per) else ""
  switch(x$label,
    pure = sprintf("%s-%s, %s = %s%s (exact sampler%s)", e, x$promise %||% "DP", e, format(x$epsilon), per,
                   model),
    approx = , `approx-sampler` = sprintf("(%s, %s)-DP, %s = %s, %s = %s%s", e, d, e, format(x$epsilon), d,
                                          format(x$delta),
                     if (x$label == "approx-sampler") paste(" (Markov chain, its distance from the law in the delta;",
                                                            "real-number model)") else
                       if (nzchar(model)) " (real-number model)" else ""),
    none = sprintf("NOT PRIVATE (%s)", x$reason)
  )
}

#' @export
print.riemdp_guarantee <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  cat(sprintf("  adjacency: %s, of %s (the number of %s is %s)\n", x$adjacency, protected_words(x),
              if (of_rows(x)) "records" else "units",
              if (x$adjacency == "add-remove") "private" else "public"))
  if (x$label != "none" && is.finite(x$mu)) {
    cat(sprintf("  also %s-GDP, %s = %s%s\n", symbol("mu"), symbol("mu"), format(x$mu),
                if (x$mu_slack > 0) sprintf(", up to %g in %s", x$mu_slack, symbol("delta")) else ""))
  }
  if (!is.null(x$assumptions)) cat(paste0("  assumes: ", x$assumptions, "\n"), sep = "")
  cat(sprintf("  sampler: %s; randomness: %s; numerics: %s\n", x$sampler, x$rng, x$numerics))
  invisible(x)
}

# What a label leaves to the reader: remarks on budgets that promise little. From the guarantee, and from n where that
# is public. Of two neighbours that are as likely before, an (epsilon, delta)-private release tells the right one with
# a probability of at most (e^epsilon + delta)/(1 + e^epsilon).
budget_remarks <- function(g, n) {
  if (!isTRUE(g$label != "none")) return(NULL)
  private_n <- g$adjacency == "add-remove"
  one <- if (of_rows(g)) "record" else "unit"
  told <- function(name, text) sprintf(text, symbol(name), format(g[[name]]))
  c(
    if (g$epsilon > 10) paste0(
      told("epsilon", "%s = %s promises next to nothing: a bet at even odds on "),
      sprintf(if (private_n) "whether one %s is there" else "which of two a %s is", one),
      " can be won with probability ",
      one_without((1 - g$delta) / (1 + exp(g$epsilon)))
    ),
    if (g$delta >= 0.5) {
      paste(told("delta", "%s = %s: a mechanism that publishes all records with probability"), format(g$delta),
            "meets it")
    } else if (!private_n && isTRUE(g$delta >= 1 / n)) {
      paste0(told("delta", "%s = %s is not below 1/n: a mechanism that publishes one whole "), one,
             ", drawn by lot, meets it")
    }
  )
}

# 1 - rest in words that don't round it to 1; the rest rounded downwards
one_without <- function(rest) {
  if (rest < 1e-300) return("1")
  unit <- 10^(floor(log10(rest)) - 1)
  sprintf("1 - %.2g", floor(rest / unit) * unit)
}

# where a release's public numbers come from
origin_words <- function(r, what = public_numbers(r)) {
  if (is_string(r$source)) sprintf("origin of the public %s: %s", what, r$source) else
    sprintf("origin of the public %s not stated", what)
}

public_numbers <- function(r) {
  if (inherits(r, "riemdp_local") && !isTRUE(r$radius < Inf)) return(if (is.null(r$per)) "numbers" else "length")
  if (inherits(r, "riemdp_test")) return("numbers")
  if (inherits(r, c("riemdp_pca", "riemdp_conformal"))) return("bound")
  if (inherits(r, c("riemdp_mean", "riemdp_regression", "riemdp_ball")) || !is.null(r$center)) return("ball")
  if (inherits(r, "riemdp_optimize")) "start and clip" else "bounds"
}

origin_sentence <- function(...) paste0(sub("^o", "O", origin_words(...)), ".")

#' Summary and picture of a guarantee
#'
#' `plot()` draws the trade-off curve: the smallest type II error of any test that tells neighbouring data sets apart,
#' against its type I error (Wasserman and Zhou 2010; Dong, Roth and Su 2022). The diagonal is perfect privacy, the axes
#' are none.
#'
#' @param x,object a guarantee.
#' @param main title.
#' @param ... further arguments of [graphics::plot.default()].
#' @return `summary()`: a data frame with one row. `plot()`: the guarantee, invisibly.
#' @references
#' Wasserman, L. and Zhou, S. (2010). A statistical framework for differential privacy. *Journal of the American
#' Statistical Association* 105, 375-389. \doi{10.1198/jasa.2009.tm08651}
#'
#' Dong, J., Roth, A. and Su, W. J. (2022). Gaussian differential privacy. *Journal of the Royal Statistical Society B*
#' 84, 3-37. \doi{10.1111/rssb.12454}
#' @examples
#' g <- guarantee(dp_mean(c(1.2, 0.7, 3.1), euclidean(1), epsilon = 1, center = 0, radius = 5))
#' summary(g)
#' plot(g)
#' @name plot.riemdp_guarantee
NULL

#' @rdname plot.riemdp_guarantee
#' @export
summary.riemdp_guarantee <- function(object, ...) {
  as.data.frame(unclass(object)[c("label", "epsilon", "delta", "nominal_epsilon", "nominal_delta", "mu", "adjacency",
                                  "unit", "sampler", "rng", "numerics", "reason")])
}

new_release <- function(value, kind, ..., guarantee) {
  facts <- list(...)
  if (guarantee$label == "none") facts <- nominal_names(facts)
  release <- c(list(value = value), facts, list(guarantee = guarantee))
  class(release) <- c(kind, "riemdp_release")
  release
}

# Where nothing is promised no number goes by the bare name of a promise, also not deep inside
nominal_names <- function(x) {
  if (!is.list(x) || is.object(x)) return(x)
  bare <- names(x) %in% c("epsilon", "delta")
  names(x)[bare] <- paste0("nominal_", names(x)[bare])
  x[] <- lapply(x, nominal_names)
  x
}
