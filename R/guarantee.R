# What a release promises. The label is decided here and nowhere else.

new_guarantee <- function(epsilon, delta, reasons, sampler, rng, numerics, adjacency = "replace-one", assumptions = NULL) {
  label <- if (length(reasons)) "none" else if (delta > 0) "approx" else "pure"
  structure(list(
    label = label,
    epsilon = if (label == "none") Inf else epsilon,
    delta = if (label == "none") 1 else delta,
    nominal_epsilon = epsilon,
    nominal_delta = delta,
    adjacency = adjacency,
    reason = if (length(reasons)) paste(reasons, collapse = "; ") else NA_character_,
    assumptions = assumptions,
    sampler = sampler,
    rng = rng,
    numerics = numerics
  ), class = "dp_guarantee")
}

#' What a release promises
#'
#' @param r a private release, e.g. of [dp_mean()].
#' @return A list of class `dp_guarantee`:
#' * `label`: `"pure"` (\eqn{\epsilon}-differential privacy: exact sampler, proven sensitivity, public bounds), `"approx"`
#'   (\eqn{(\epsilon, \delta)}), `"approx-sampler"` or `"none"` (no guarantee);
#' * `epsilon`, `delta`: what holds; `Inf` and 1 for `"none"`, so that no script trusts it;
#' * `nominal_epsilon`, `nominal_delta`: what was asked for;
#' * `adjacency`: `"replace-one"`: neighbouring data sets differ in one record, their number is public;
#' * `reason`: for `"none"`, why; `NA` otherwise;
#' * `assumptions`: what the proof rests on beyond the public bounds;
#' * `sampler` (`"exact"`), `rng` (`"operating system"` or `"simulation"`), `numerics` (`"real-valued"`: the proof is about real
#'   numbers, the computation uses doubles).
#' @examples
#' r <- dp_mean(wishart_spd[, , 1:200], spd(2), epsilon = 1, center = diag(2), radius = 1.5)
#' guarantee(r)
#' guarantee(r)$label
#' @export
guarantee <- function(r) UseMethod("guarantee")

#' @export
guarantee.dp_release <- function(r) r$guarantee

symbol <- function(which, ascii = FALSE) {
  if (!ascii && isTRUE(l10n_info()[["UTF-8"]])) {
    c(epsilon = "\u03b5", delta = "\u03b4", sigma = "\u03c3")[[which]]
  } else {
    which
  }
}

#' @export
format.dp_guarantee <- function(x, ascii = FALSE, ...) {
  e <- symbol("epsilon", ascii)
  d <- symbol("delta", ascii)
  model <- if (x$numerics == "real-valued") ", real-number model" else ""
  switch(x$label,
    pure = sprintf("%s-DP, %s = %s (exact sampler%s)", e, e, format(x$epsilon), model),
    approx = sprintf("(%s, %s)-DP, %s = %s, %s = %s%s", e, d, e, format(x$epsilon), d, format(x$delta),
                     if (nzchar(model)) " (real-number model)" else ""),
    none = sprintf("NOT PRIVATE (%s)", x$reason)
  )
}

#' @export
print.dp_guarantee <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  cat(sprintf("  adjacency: %s (the number of records is public)\n", x$adjacency))
  if (!is.null(x$assumptions)) cat(paste0("  assumes: ", x$assumptions, "\n"), sep = "")
  cat(sprintf("  sampler: %s; randomness: %s; numerics: %s\n", x$sampler, x$rng, x$numerics))
  invisible(x)
}
