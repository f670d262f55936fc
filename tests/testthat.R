library(testthat)
library(riemdp)

# As on CRAN, files that take ten seconds or more are left out, so that a check takes minutes: the project's tools/test runs all, in full.
long <- c("accountant", "accountant-judged", "accountant-shuffle", "as-points-data", "basis", "chunk-mean", "chunk-regression", "chunk-sites", "chunk-units",
          "curve-population", "datashield", "dp-ball",
          "dp-bounds-plan", "dp-covariance", "dp-glm", "dp-lm", "dp-mean", "dp-mean-plan", "dp-median", "dp-pca", "dp-pga", "dp-regression", "dp-select",
          "dp-spline", "dp-test", "dp-test-statistics", "error-words", "errors", "event-price", "event-sampling", "explore-plan", "geometry-laws", "groups",
          "guarantee", "kng-lattice", "ledger", "ledger-quotas", "ledger-sampled", "ledger-verify", "linalg-wide", "linear-boosted", "linear-gaussian",
          "linear-guess", "linear-newton", "linear-theil-sen", "lower-bound", "manifold-chart", "manifold-product", "mean-steps",
          "mechanism-adaptive", "mechanism-around", "mechanism-chordal", "mechanism-gaussian", "mechanism-heat", "mechanism-kng",
          "mechanism-laplace", "mechanism-lattice", "mechanism-parts", "mechanism-product", "neighbours", "objective-perturbation", "optimize",
          "optimum-size", "points-verbs", "private-release", "private-size", "progress", "regression", "regression-inference", "regression-kng",
          "regression-newton", "regression-published", "report", "residual-scale", "row-counts", "sampler-lattice", "shrinkage",
          "site-adversary", "site-falls", "site-host", "site-lm", "site-regression", "site-scatter", "site-secure", "spline-local",
          "subspace", "tangent-noise", "theme", "uncertainty", "units", "variance")
if (identical(Sys.getenv("NOT_CRAN"), "true")) {
  test_check("riemdp")
} else {
  test_check("riemdp", filter = sprintf("^(%s)$", paste(long, collapse = "|")), invert = TRUE)
}
