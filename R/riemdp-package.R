# The house, from the ground up. A file calls what stands above it in this list and never what stands below; what a
# lower storey finds without naming it (kernels for chunks, mechanisms) is entered in zzz.R, and plots and prints are
# methods. DESCRIPTION's Collate is this order, written by tools/document; tools/house checks all of that.
#
#  1  Ground: errors, checks, numbers, words
#    conditions registry check numeric words threads progress simulation
#  2  Geometry: manifolds, points, bounds of sensitivities
#    manifold manifold-custom manifold-euclidean manifold-sphere manifold-spd manifold-hermitian manifold-stiefel
#    manifold-grassmann manifold-kendall manifold-correlation geometry points manifold-product manifold-simplex
#    manifold-hyperbolic manifold-rotations manifold-psd sensitivity data
#  3  Records: arrays, tables, formulas, chunks
#    records subspace columns as-points landmarks as-rotations pullback formula chunk-reader chunk-sums chunk-answer
#    chunk-map chunk-source chunk-units
#  4  Accounts: events, accountants, the ledger
#    event-shuffle event event-words event-matrix event-json event-price accountant-gdp accountant-pld-source
#    accountant-shuffle accountant-pure accountant-rdp accountant-zcdp accountant-moments accountant-pld-plan
#    accountant-pld-grid accountant-shuffle-pair accountant-allocation accountant-pld accountant variance-reduced
#    ledger-database ledger-chain ledger-part ledger-store ledger-rules ledger ledger-verify ledger-report wire
#    site-policy site-secure chunk-sites site-host
#  5  Noise: guarantees, laws, mechanisms for a mean
#    guarantee mean-records mean-steps tangent-noise gaussian-profile private-release noise-error heat-kernel
#    chord-law lower-bound shrinkage mechanism
#    mechanism-laplace mechanism-chordal mechanism-staircase mechanism-gaussian mechanism-heat mechanism-wrapped
#    joint-law mechanism-lattice private-size joint-sizes fit-size
#    mechanism-tangent mechanism-euclidean mechanism-kng mechanism-kng-lattice mechanism-pointwise mechanism-chain
#    mechanism-adaptive mechanism-parts mechanism-local
#  6  Estimators: means, linear and curved regression, the optimiser
#    chunk-mean chunk-dist mean clipped-share variance mean-ask mean-estimator mean-groups dp-ball
#    dp-median dp-local dp-variance permutation-test plan-parts subspace-plan
#    dp-mean-plan dp-bounds-plan basis linear-frame chunk-linear record-cost objective-perturbation
#    linear-statistics linear-guess linear-windows linear-newton linear-gaussian population-plan
#    dp-lm-methods
#    linear-theil-sen linear-boosted linear-methods second-moment site-vectors linear-sites dp-lm glm-families
#    dp-glm regression regression-methods
#    frechet-regression regression-inference
#    chunk-regression regression-records
#    regression-state regression-newton regression-gradient
#    regression-kng regression-published regression-sites groups-sites dp-mean dp-regression dp-conformal dp-test
#    dp-test-plan dp-test-any dp-select
#    chunk-optimize problem optimize optimum-run optimum-size checkpoint dp-optimize components-plan
#    dp-pca dp-pga dp-covariance spline-local spline dp-spline residual-sums residual-sites dp-residual-scale
#  7  Answers: what releases print, say and refuse
#    error-words uncertainty release refused dp-region-plan dp-mean-object dp-median-object dp-local-object
#    dp-variance-object dp-conformal-object population-equation lm-population dp-test-object dp-lm-object
#    dp-glm-object tidy dp-pca-object dp-groups-object curve-population dp-regression-object dp-spline-object
#    dp-optimize-object postprocess
#  8  Pictures and the roof: plots, reports, the app, what is entered at loading
#    plot-colours picture plot-manifold theme plot-regression plot-release plot-modes plot-accountant explore-plan
#    datashield zzz riemdp-package

#' Differential privacy where data are curved
#'
#' Private statistics of records on Riemannian manifolds. Start with [dp_mean()]; the geometry is on [mf_exp()], the
#' manifolds on [sphere()], [spd()], [hyperbolic()], [kendall()], [stiefel()], [grassmann()], [euclidean()],
#' [product()] and [manifold_custom()].
#'
#' @section What a release promises:
#' Every release carries a guarantee (see [guarantee()]) whose label says what is proven: `pure` and `approx` are
#' differential privacy under replacement of one record with the number of records public; `none` is no guarantee at
#' all. Bounds (`center`, `radius`) are public and never taken from the data.
#'
#' @section Options:
#' * `riemdp.threads`: threads inside one call, where the compiler has OpenMP; 1 by default, and in forked workers.
#'   Work of less than about 0.03 s is done by one, and so is the rest of a call in which several are no faster.
#'   Results are the same to the last bit whatever their number. Operations of [manifold_custom()] always run on one.
#' * `riemdp.progress`: whether anything that takes over two seconds draws a progress bar; by default in interactive
#'   use.
#'
#' @references Reimherr, M., Bharath, K. and Soto, C. (2021). Differential Privacy over Riemannian Manifolds. *Advances
#'   in Neural Information Processing Systems* 34.
#' @keywords internal
#' @useDynLib riemdp, .registration = TRUE
#' @importFrom generics explain
#' @importFrom stats coef confint deviance df.residual fitted formula hatvalues logLik model.frame model.matrix nobs
#'   predict
#' @importFrom stats residuals update vcov weights
"_PACKAGE"
