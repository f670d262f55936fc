library(testthat)
library(riemdp)

# As on CRAN, files that take a quarter of a minute or more in their short form are left out: the project's tools/test runs all, in full.
long <- c("accountant", "chunk-regression", "chunk-units", "dp-ball", "dp-bounds-plan", "dp-lm", "dp-mean", "dp-mean-plan", "dp-median",
          "dp-regression", "errors", "explore-plan", "groups", "guarantee", "kng-lattice", "ledger", "linear-guess", "lower-bound", "mean-steps",
          "mechanism-adaptive", "mechanism-chordal", "mechanism-gaussian", "mechanism-heat", "mechanism-kng", "mechanism-laplace",
          "mechanism-lattice", "neighbours", "objective-perturbation", "optimize", "optimum-size", "private-release", "private-size", "progress",
          "regression-kng", "regression-newton", "report", "shrinkage", "subspace", "units", "variance")
if (identical(Sys.getenv("NOT_CRAN"), "true")) {
  test_check("riemdp")
} else {
  test_check("riemdp", filter = sprintf("^(%s)$", paste(long, collapse = "|")), invert = TRUE)
}
