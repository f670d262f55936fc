# Private permutation tests. Proofs: inst/proofs/testing.md.

#' Private permutation tests
#'
#' Tests whether groups of records have one law, whether responses have nothing to do with predictors, whether pairs can
#' be swapped, whether records lie evenly around a public point, or uniformly on a sphere. What is released is a p-value
#' that is valid at any number of records, or with `alpha` the decision alone; neither the statistic nor what it is
#' under other labels leaves the call.
#'
#' The statistic measures how far apart the mean features of groups are, for a kernel that is positive definite on the
#' space. `"gaussian"`: exp(-d^2/(2 b^2)) of the straight distance d of vectors: records (Euclidean space, spheres),
#' logarithms of matrices (affine-invariant and log-Euclidean metrics), matrices (Bures-Wasserstein), coordinates at
#' `center` (hyperbolic space, Hermitian matrices), frames (Stiefel), projections (Grassmann), z z^* (shapes).
#' `"exponential"`: exp(-d/b) of the geodesic distance d, on spheres and in hyperbolic space (within 8 of `center`, to
#' which farther records are moved). It is computed again for `draws` lots that are drawn without the records, and
#' Laplace noise is added to it.
#' p is the mean, over all of these statistics, of the chance that one with noise is at least what the noisy one came
#' to.
#'
#' * `null = "equal"`: the groups have one law. Groups and their sizes are public; lots permute the labels. It is a test
#'   of equal laws: groups of one mean but of different spread are told apart, too.
#' * `"independent"`, of a formula, response ~ predictors: the responses' law doesn't depend on the predictors, so lots
#'   permute the responses. The statistic is the root of the HSIC, with a Gaussian kernel of the predictors whose
#'   bandwidth is half the largest distance within their `bounds`. Predictors are private. So is a group, if it is one
#'   of them (`shape ~ sex`): what is public then is which groups there are; the noise is as large as with public groups
#'   of a fourth of the records. With `neighbours = "add_remove"` groups' sizes are private as well, at no further cost.
#' * `"paired"`: `x[i]` and `y[i]` can be swapped. One record is one pair; lots swap within pairs.
#' * `"symmetric"`: the law is symmetric about the public point `at`: logarithms there, shortened to `radius`, have
#'   random signs. It tells mainly whether the mean is `at`.
#' * `"uniform"`: the records are independent and uniform on the [sphere()]; the statistic is the length of their mean
#'   (Rayleigh), the lots are uniform directions.
#'
#' For `"equal"` there are two more statistics, of the straight distances above, in units of the `bandwidth`, which is
#' the largest distance that there can be unless it is given. `statistic = "variance"`: how far the groups' Fréchet
#' variances (half the mean squared distances within groups) lie apart, whatever the groups' means are; with `at` mean
#' squared distances from that public point. Distances beyond `bandwidth` count as that. `"anova"`: the root of the
#' pooled variance less the mean of the groups' variances, plus the square of the former (after Dubey and Müller 2019):
#' means and spreads. The null hypothesis is the same, one law in all groups, and the statistic says what the test looks
#' for. A p-value of `"variance"` is not proven to be valid for groups with equal variances but different laws; in two
#' groups of one size, each symmetric about its mean, it is so in the limit of many records.
#'
#' Each statistic moves by at most `sensitivity` with one record, so the p-value's law by a factor of at most
#' exp(9/4 sensitivity/scale) (exp(sensitivity/scale) where the lots don't depend on records), and the decision's by
#' exp(2 sensitivity/scale): `alpha` saves a ninth of the noise. p is one of 10,000 values (fewer for a small
#' `epsilon`), drawn by integer arithmetic. Proof: the file `proofs/testing.md` of the installed package. Kim and Schrab
#' (2023) add noise to every statistic and release the decision.
#'
#' @section Units:
#' With `unit` each unit counts once, as in [dp_mean()]: by the Fréchet mean of its rows moved to the public ball
#' (`center` and `radius` are needed) and the average of its predictors. `group` then holds a public label for each
#' unit, in the order of the levels of `unit` or in which units first come. What is tested is about units' means, which
#' vary more for units with few rows: groups that differ in numbers of rows have different laws of these.
#'
#' @section Private numbers and sizes:
#' With `neighbours = "add_remove"` what is protected is whether a record (a unit) is there at all. How many there are,
#' and how many in each group, is private then and isn't released, not even with noise: statistics are sums, which one
#' record more moves by as much as a replaced one moves sums of a public number, and a p-value doesn't ask what they
#' would have to be divided by. So the noise is the same, and p is as valid, at any number of records (none, too). Of
#' more than 10,000 records (1,000,000 for `"symmetric"` and `"uniform"`) so many are taken by lot.
#'
#' Not for `null = "equal"`. Its statistics compare means over groups, so one record weighs as much as its group is
#' small, and lots deal out as many labels of each kind as there are: where a record may come or go with its label,
#' another one's label changes too. Noise for any sizes would be root n times what the formula `x ~ group` needs, which
#' tests the same hypothesis. The formula is less powerful than groups whose sizes are public: of two groups of 250
#' directions in a ball of radius .7, half a standard deviation apart, these told .95 and .98 at level .05 with epsilon
#' = 1 and 4, the formula .48 and .96 (.97 without privacy).
#'
#' @section Power: A rejection at .05 needs a statistic that is above those of most lots by some 2.3 `scale`. For two
#'   equal groups without a radius that is 7/(n epsilon), and the statistic is half the distance of mean features. A
#'   tight public ball, a bandwidth near the records' usual distance and few directions in which they vary help. With
#'   500 records and epsilon = 1 simulated tests of shifted groups had .84 of the power of the test without privacy on
#'   spheres where that was .84, .93 where it was .99; for 3 x 3 matrices .65 where it was .94, .85 where it was .99;
#'   for shapes of ten landmarks that vary alike in all 16 directions .33 where it was .83, .86 where it was 1.
#'   With a standard deviation 1.3 times as large in one group the test of variances had .73, .89 and .99 on these
#'   spaces, and that of independence .88, .45 and .20 where the mean moved by two standard deviations over the range of
#'   the predictor; without privacy all of these were 1.
#'
#' @param x n records, in any shape that functions on `M` accept; in memory. Or a formula, response ~ predictors, as for
#'   [dp_regression()].
#' @param M a manifold; not one of your own. A formula needs it.
#' @param epsilon privacy budget, positive.
#' @param ... not used: further arguments are given by name.
#' @param y further records: the second group, or the other halves of pairs.
#' @param group for `"equal"` without `y`: a public label for each record, or the name of a column of the data frame
#'   `x`; with `unit` a label for each unit. At least two groups, at most 500.
#' @param null what is tested, see above; `"independent"` for a formula.
#' @param statistic for `"equal"`: `"kernel"`, `"variance"` or `"anova"`, see above.
#' @param at for `"symmetric"`, and for `statistic = "variance"` if you like: a public point, or a release of one. It is
#'   the ball's centre then.
#' @param kernel `"gaussian"` or `"exponential"`, for `statistic = "kernel"`.
#' @param bandwidth b of the kernel, public, at least .001, in units of its distance. By default half the largest
#'   distance that there can be, where that is known (compact spaces, or a `radius`). Of `"variance"` the distance
#'   beyond which others are cut, by default the largest.
#' @param center a public point: what invalid records count as; where coordinates are taken (by default the origin, the
#'   identity, the apex); and with `radius` the ball's centre.
#' @param radius public, positive. For `"symmetric"` how far logarithms may reach. For groups and pairs: records farther
#'   from `center` are moved to that distance (of the logarithms of matrices for SPD). Features then lie nearer to each
#'   other, and less noise is needed. Not for the Bures-Wasserstein metric, which has no `"anova"` and no `unit`
#'   therefore.
#' @param data for a formula: a data frame or list with its variables; what it doesn't have comes from the formula's
#'   environment.
#' @param bounds for a formula: public ranges of the predictors, as for [dp_regression()]: `c(lower, upper)` for a
#'   single one, else a list with a name for each variable (two numbers, or the levels of a factor). A predictor outside
#'   is moved to its end; one that is missing counts as the middle.
#' @param unit `NULL`, or which unit each row is of: a vector, or the name of a column of the data frame `x` or `data`.
#'   What is protected then is one unit with all its rows, see below. Not for `"symmetric"` and `"uniform"`.
#' @param alpha `NULL`: the p-value is released. A level, a multiple of .0001 between 0 and 1: whether p is at most
#'   that.
#' @param draws number of lots, 99 to 9,999.
#' @param invalid records that are no points: `"error"` (a check on the curator's side, before anything is spent), or
#'   `"center"`: each counts as `center` (as `at` for `"symmetric"`).
#' @param neighbours `"replace"`: one record (unit) is replaced by another, their number is public. `"add_remove"`: one
#'   is there or not, their number is private.
#' @param source,ledger,data_set,part as for [dp_mean()].
#' @return An object of classes `riemdp_test`, `htest` and [riemdp_release]: `value` and `p.value` (between 0 and 1, a
#'   multiple of .0001; with `alpha` the value is `TRUE` for a rejection, `reject`, and `p.value` is `NA`), `method`,
#'   `alternative`, `data.name` (public numbers only), `parameter` (the number of lots), `null`, `alpha`, `reject`,
#'   `manifold`, `n` (`NA` where it is private), `members` (of each group), `bandwidth`, `radius`, `at`, `unit`,
#'   `sensitivity` and `scale` (of statistics, which lie between 0 and 1.5), `cells`, `theorem`, `source`, `guarantee`,
#'   `budget`, `draws`. There is no statistic.
#'   Errors: `riemdp_error_argument`, `riemdp_error_shape`, `riemdp_error_radius` (with `unit`),
#'   `riemdp_error_unsupported` (chunks, users' manifolds, over 10,000 records of a public number for tests with a
#'   kernel, `null = "equal"` with private sizes).
#' @references
#' Kim, I. and Schrab, A. (2023). Differentially private permutation tests: applications to kernel methods.
#' \doi{10.48550/arXiv.2310.19043}
#'
#' Gretton, A., Borgwardt, K., Rasch, M., Schoelkopf, B. and Smola, A. (2012). A kernel two-sample test. *Journal of
#' Machine Learning Research* 13, 723-773.
#'
#' Gretton, A., Bousquet, O., Smola, A. and Schoelkopf, B. (2005). Measuring statistical dependence with Hilbert-Schmidt
#' norms. *Algorithmic Learning Theory*, 63-77. \doi{10.1007/11564089_7}
#'
#' Dubey, P. and Mueller, H.-G. (2019). Frechet analysis of variance for random objects. *Biometrika* 106, 803-821.
#' \doi{10.1093/biomet/asz052}
#'
#' Mueller, R., Schuhmacher, D. and Mateu, J. (2022). ANOVA for data in metric spaces, with applications to spatial
#' point patterns. \doi{10.48550/arXiv.2201.08664}
#'
#' Hemerik, J. and Goeman, J. (2018). Exact testing with random permutations. *TEST* 27, 811-825.
#' \doi{10.1007/s11749-017-0571-1}
#' @seealso [dp_test_any()] for any other test
#' @examples
#' x <- mf_random(sphere(2), 200)
#' group <- rep(c("a", "b"), 100)
#' r <- dp_test(x, sphere(2), epsilon = 1, group = group, draws = 199)
#' r
#' r$p.value
#' # the decision alone
#' dp_test(x, sphere(2), epsilon = 1, group = group, draws = 199, alpha = 0.05)$reject
#' dp_test(x, sphere(2), epsilon = 1, null = "uniform", draws = 199)
#' # spread alone, and means and spreads
#' dp_test(x, sphere(2), epsilon = 1, group = group, statistic = "variance", draws = 199)$p.value
#' dp_test(x, sphere(2), epsilon = 1, group = group, statistic = "anova", draws = 199)$p.value
#' # is there a trend, and one with a group that is private
#' age <- runif(200, 20, 80)
#' dp_test(x ~ age, sphere(2), epsilon = 1, bounds = c(20, 80), draws = 199)
#' dp_test(x ~ group, sphere(2), epsilon = 1, bounds = list(group = c("a", "b")), draws = 199)$p.value
#' # nor is it told how many there are in it
#' dp_test(x ~ group, sphere(2), epsilon = 1, bounds = list(group = c("a", "b")), draws = 199,
#'         neighbours = "add_remove")
#' # persons with two records each
#' dp_test(x, sphere(2), epsilon = 1, group = rep(c("a", "b"), 50), unit = rep(1:100, 2),
#'         center = c(0, 0, 1), radius = 0.7, draws = 199)$members
#' @export
dp_test <- function(x, M = manifold_of(x), epsilon, ..., y = NULL, group = NULL,
                    null = c("equal", "paired", "symmetric", "uniform", "independent"),
                    statistic = c("kernel", "variance", "anova"), at = NULL, kernel = c("gaussian", "exponential"),
                    bandwidth = NULL, center = NULL, radius = NULL, data = NULL, bounds = NULL, unit = NULL,
                    alpha = NULL, draws = 999, invalid = c("error", "center"), neighbours = c("replace", "add_remove"),
                    source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_no_more(...)
  if (inherits(x, "formula") && missing(M)) abort_no_default("M")
  check_call(M, ledger, c(epsilon = missing(epsilon)))
  asked <- asked_test(list(
    x = x, M = M, epsilon = epsilon, y = y, group = group, null = null, statistic = statistic, at = at, kernel = kernel,
    bandwidth = bandwidth, center = center, radius = radius, data = data, bounds = bounds, unit = unit, alpha = alpha,
    draws = draws, invalid = invalid, neighbours = neighbours
  ))
  asked$ask$source <- stated_source(source, list(at = at, center = center, radius = radius, bandwidth = bandwidth))
  release <- function() release_private(test_estimator, asked$ask, asked$records, ledger, data_set, part)
  if (asked$ask$private) uncounted(release()) else release()
}

TEST_NULLS <- c("equal", "paired", "symmetric", "uniform", "independent")

# list(ask, records): what is asked, checked, and of which records
asked_test <- function(given) {
  M <- given$M
  formula <- inherits(given$x, "formula")
  null <- if (formula && identical(given$null, TEST_NULLS)) "independent" else given$null
  ask <- list(manifold = M, epsilon = check_number(given$epsilon, "epsilon", positive = TRUE),
              null = check_choice(null, "null", TEST_NULLS),
              statistic = check_choice(given$statistic, "statistic", c("kernel", "variance", "anova")),
              kind = check_choice(given$kernel, "kernel", c("gaussian", "exponential")),
              alpha = if (!is.null(given$alpha)) check_alpha(given$alpha),
              draws = check_count(given$draws, "draws", 99, 9999),
              invalid = check_choice(given$invalid, "invalid", c("error", "center")),
              private = check_choice(given$neighbours, "neighbours", c("replace", "add_remove")) == "add_remove")
  check_test_arguments(ask, given)
  read <- function() {
    if (formula) trend_records(given$x, M, given$data, given$bounds, given$unit, !ask$private) else
      test_records(M, given$x, given$y, given$group, given$unit, ask$null, !ask$private)
  }
  records <- if (ask$private) uncounted(read()) else read()
  list(ask = test_question(M, ask, records, given$at, given$bandwidth, given$center, given$radius), records = records)
}

check_alpha <- function(alpha) {
  alpha <- check_level(alpha)
  if (abs(alpha * TEST_CELLS - round(alpha * TEST_CELLS)) > 1e-6 || round(alpha * TEST_CELLS) %in% c(0, TEST_CELLS)) {
    abort_riemdp("argument", "`alpha` must be a multiple of 0.0001 between 0 and 1.")
  }
  round(alpha * TEST_CELLS) / TEST_CELLS
}

# which of the arguments a null hypothesis takes
check_test_arguments <- function(ask, given) {
  null <- ask$null
  there <- function(...) !vapply(given[c(...)], is.null, NA)
  must <- function(ok, what) if (!ok) abort_riemdp("argument", sprintf("null = \"%s\" %s.", null, what))
  from_point <- null == "symmetric" || (null == "equal" && ask$statistic == "variance")
  formula <- inherits(given$x, "formula")
  must(formula == (null == "independent"), if (formula) "takes no formula" else "needs a formula, response ~ predictor")
  must(formula || !any(there("data", "bounds")), "takes neither `data` nor `bounds`")
  must(null != "equal" || sum(there("y", "group")) == 1, "needs one of `group` and `y`")
  must(null != "paired" || identical(there("y", "group"), c(y = TRUE, group = FALSE)), "needs `y`, and no `group`")
  must(null %in% c("equal", "paired") || !any(there("y", "group")), "takes neither `y` nor `group`")
  must(null != "symmetric" || there("at"), "needs a public point `at`")
  must(from_point || !there("at"), "takes no point `at`")
  must(null == "equal" || ask$statistic == "kernel", "has one `statistic` only")
  check_test_unit(null, there("unit", "y"))
  if (ask$private && null == "equal") abort_riemdp("unsupported", SIZES_PUBLIC)
}

SIZES_PUBLIC <- paste(
  "null = \"equal\" needs groups whose sizes are public: lots deal out as many labels as there are, and where a record",
  "may enter or leave, with its label, another record's label changes too, in a group that may hold any number. A",
  "formula, x ~ group, with `bounds` for the labels there are, tests the same with neighbours = \"add_remove\"."
)

check_test_unit <- function(null, there) {
  if (!there[["unit"]]) return(invisible())
  if (null %in% c("symmetric", "uniform")) {
    abort_riemdp("unsupported", sprintf("null = \"%s\" takes no `unit`: lots turn records, one by one.", null))
  }
  if (null == "equal" && there[["y"]]) abort_riemdp("argument", "with `unit`, give a `group` for each unit, no `y`.")
}

# list(x, y, n, group, units): group is a number for each record or unit, from 1 on
test_records <- function(M, x, y, group, unit, null, replace = TRUE) {
  if (is_chunks(x) || is_chunks(y)) abort_riemdp("unsupported", "dp_test() needs the records in memory.")
  if (is.null(unit) && !is.null(group) && names_column(group, x)) {
    labels <- x[[group]]
    x <- x[names(x) != group]
    group <- labels
  }
  given <- with_units(unit, x, "x", replace)
  x <- plain_numbers(given$x)
  least <- replace && is.null(unit)
  rows <- record_count(M, x, least)
  if (!is.null(unit)) check_mean_units(given$units, rows, "ordinary", !replace)
  n <- given$units$count %||% rows
  if (!is.null(y)) {
    y <- plain_numbers(y)
    m <- record_count(M, y, least)
    if (null == "paired" && m != rows) abort_riemdp("shape", "`x` and `y` must hold as many records as each other.")
    if (null == "equal") group <- rep(1:2, c(n, m))
  }
  if (null == "equal") {
    group <- test_groups(group, n + if (is.null(y)) 0 else m, if (is.null(unit)) "record" else "unit")
  }
  list(x = x, y = y, n = if (null == "equal") length(group) else n, group = group, units = given$units)
}

# list(x, predictors, n, units, said): responses, and predictors between -1 and 1, a column for each record
trend_records <- function(formula, M, data, bounds, unit, replace = TRUE) {
  if (is_chunks(data)) abort_riemdp("unsupported", "dp_test() needs the records in memory.")
  if (is.null(bounds)) abort_no_default("bounds")
  given <- with_units(unit, data, "data", replace)
  env <- environment(formula) %||% globalenv()
  records <- regression_records(formula, M, given$x, bounds, env, replace && is.null(unit))
  u <- records$x / vapply(records$spec$columns, `[[`, 0, "half")
  u[is.na(u)] <- 0
  if (!is.null(unit)) check_mean_units(given$units, records$n, "ordinary", !replace)
  list(x = records$y, predictors = pmin(pmax(u, -1), 1), n = given$units$count %||% records$n, units = given$units,
       said = c(if (isTRUE(records$scaled)) SCALED, constants_said(records$constants, replace || !is.null(data))))
}

test_groups <- function(group, n, each) {
  if (is.factor(group)) group <- factor_labels(group)
  if (!is.atomic(group) || is.null(group) || length(group) != n || anyNA(group)) {
    abort_riemdp("argument", sprintf("`group` must hold a public label for each %s, none missing.", each))
  }
  group <- as.integer(factor(group))
  if (max(group) < 2 || max(group) > 500) abort_riemdp("argument", "there must be 2 to 500 groups with records.")
  group
}

# what is public of the question, checked
test_question <- function(M, ask, records, at, bandwidth, center, radius) {
  ask$n <- if (ask$private) NA_real_ else records$n
  kernels <- ask$null %in% c("equal", "paired", "independent")
  ask$most <- if (kernels) 1e4 else 1e6
  if (!ask$private && ask$n > ask$most) {
    abort_riemdp("unsupported", sprintf("null = \"%s\" takes at most %s records.", ask$null,
                                        format(ask$most, big.mark = ",", scientific = FALSE)))
  }
  ask$said <- records$said
  if (!is.null(center)) ask$center <- public_point(M, center)
  if (kernels) {
    if (!is.null(at)) ask <- from_public_point(M, ask, at)
    if (!is.null(records$units)) ask <- units_question(M, ask, records$units, radius)
    return(kernel_question(M, ask, records, bandwidth, radius))
  }
  if (!is.null(bandwidth)) abort_riemdp("argument", "`bandwidth` is for tests of groups and pairs.")
  if (ask$null == "symmetric") return(symmetry_question(M, ask, at, radius))
  if (M$name != "sphere") abort_riemdp("unsupported", "null = \"uniform\" is for sphere().")
  if (!is.null(radius)) abort_riemdp("argument", "null = \"uniform\" takes no `radius`.")
  ask$kernel <- test_space(M, NULL)
  centered(M, ask)
}

# the public point that distances are from is the centre
from_public_point <- function(M, ask, at) {
  if (!is.null(ask$center)) abort_riemdp("argument", "with `at`, which is the centre then, give no `center`.")
  ask$center <- ask$at <- public_point(M, at, "at")
  ask
}

# units' means are those of rows moved to the public ball
units_question <- function(M, ask, units, radius) {
  if (is.null(ask$center)) abort_no_default("center")
  if (is.null(radius)) abort_no_default("radius")
  ask$ball <- check_radius(M, public_value(radius, "radius"), ask$center)
  ask$unit <- unit_name(units)
  ask
}

# the point that invalid records count as, and where coordinates are taken
centered <- function(M, ask) {
  if (!is.null(ask$center)) return(ask)
  if (!is.null(ask$kernel$flat)) {
    ask$center <- one_point(M, .Call(riemdp_origin, M), "center")
  } else if (ask$invalid == "center" || !is.null(ask$kernel$reach)) {
    abort_no_default("center")
  }
  ask
}

kernel_question <- function(M, ask, records, bandwidth, radius) {
  if (ask$statistic != "kernel" && ask$kind != "gaussian") {
    abort_riemdp("argument", "variances are of straight distances: `kernel` is for statistic = \"kernel\".")
  }
  if (!is.null(radius)) radius <- public_value(radius, "radius")
  space <- test_space(M, radius, ask$kind)
  if (ask$null == "equal") ask$sizes <- tabulate(records$group)
  ask$radius <- if (!is.null(radius)) space$reach
  # from the centre they are as far as two records of a ball of half the radius
  if (!is.null(ask$at)) space$diameter <- test_space(M, if (!is.null(radius)) radius / 2)$diameter
  n <- if (ask$private) ask$most else ask$n
  points <- if (ask$null == "paired") 2 * n + 1 else n
  ask$kernel <- if (ask$statistic == "kernel") test_kernel(space, bandwidth, points, mf_facts(M)$dimension) else
    squares_kernel(space, bandwidth, points, ask$statistic == "anova")
  if (ask$null == "independent") {
    box <- list(kind = "gaussian", diameter = 2 * sqrt(nrow(records$predictors)))
    ask$predictors <- test_kernel(box, NULL, points, nrow(records$predictors))
  }
  centered(M, ask)
}

symmetry_question <- function(M, ask, at, radius) {
  if (of_user(M)) abort_riemdp("unsupported", "null = \"symmetric\" needs a space of the package.")
  ask$at <- public_point(M, at, "at")
  if (is.null(radius)) abort_no_default("radius")
  ask$radius <- check_number(public_value(radius, "radius"), "radius", positive = TRUE, most = 1e100)
  if (M$name != "spd_bures" && !(ask$radius < mf_facts(M)$injectivity_radius)) {
    abort_riemdp("argument", "`radius` must be below the injectivity radius, see mf_facts().")
  }
  ask
}

test_estimator <- list(
  entry = function(plan, ask) entry_words("dp_test", ask$null, ask$unit),
  parts = c(sensitivity = "number", theorem = "text"),
  plan = function(ask) {
    M <- ask$manifold
    sensitivity <- test_sensitivity(ask, mf_facts(M)$ambient)
    moves <- if (ask$null == "uniform" && !ask$private) "fixed" else "permuted"
    law <- test_law(moves, sensitivity, ask$epsilon, ask$draws, ask$alpha)
    counted <- paste("the number of records is", if (ask$private) "private" else "public")
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"), c(
      switch(ask$null, equal = "groups, their sizes, kernel and bandwidth are public",
             paired = paste("kernel and bandwidth are public; a record is a pair;", counted),
             symmetric = paste("at and radius are public;", counted), uniform = counted,
             independent = paste("kernel, bandwidth and bounds are public;", counted)),
      ask$said, TEST_ASSUMES), trusted = M, numerics = "lattice",
      adjacency = if (ask$private) "add-remove" else "replace-one")
    list(sensitivity = sensitivity, law = law, theorem = "proofs/testing.md", guarantee = of_units(g, ask$unit))
  },
  ready = function(records, plan, ask) {
    M <- ask$manifold
    if (ask$invalid == "error") {
      if (ask$null == "independent") about_left_side(check_records(M, records$x)) else check_records(M, records$x)
      if (!is.null(records$y)) check_records(M, records$y)
      if (!is.null(records$units)) {
        check_units(records$units, paste("With invalid = \"center\"",
                                         c("they are left out.", "each counts as `center`.")))
      }
    }
    if (is.null(records$units)) records else units_ready(records, ask)
  },
  draw = function(records, plan, ask, budget) {
    statistics <- test_statistics(records, ask)
    section <- if (ask$private) 11 else if (ask$null == "uniform") 4 else 3
    draw_p(statistics, plan$law, plan$sensitivity, paste0("testing.md, ", section))
  },
  answer = function(out, plan, ask, budget) {
    decided <- !is.null(ask$alpha)
    reject <- if (decided) out <= ask$alpha
    words <- test_words(ask)
    new_release(
      if (decided) reject else out, c("riemdp_test", "htest"),
      p.value = if (decided) NA_real_ else out, method = words[["method"]], alternative = words[["alternative"]],
      data.name = test_data_words(ask), parameter = c(lots = ask$draws), null = ask$null, alpha = ask$alpha,
      reject = reject, manifold = ask$manifold, mechanism = "p-value", n = ask$n, members = ask$sizes,
      kernel = ask$kernel$kind, bandwidth = ask$kernel$bandwidth, center = ask$center, radius = ask$radius, at = ask$at,
      unit = ask$unit, sensitivity = plan$sensitivity, scale = plan$law$scale, cells = plan$law$cells,
      theorem = plan$theorem, expected_error = NA_real_, budget = budget, guarantee = plan$guarantee
    )
  }
)

TEST_ASSUMES <- "the C library's exp, expm1, log, atan2 and asinh are right to 2^-44 of their values"

TEST_WORDS <- list(
  equal = c(method = "Private permutation test of equal laws", alternative = "the groups have different laws"),
  paired = c(method = "Private test of pairs by random swaps", alternative = "the halves of pairs have different laws"),
  symmetric = c(method = "Private test of symmetry about a point by random signs",
                alternative = "the law is not symmetric about the point"),
  uniform = c(method = "Private Rayleigh test of uniformity", alternative = "the law is not uniform on the sphere"),
  variance = c(method = "Private permutation test of equal laws by variances within groups",
               alternative = "the groups have different laws"),
  distances = c(method = "Private permutation test of equal laws by mean squared distances from a point",
                alternative = "distances from the point have different laws"),
  anova = c(method = "Private permutation test of equal laws by Frechet ANOVA",
            alternative = "the groups have different laws"),
  independent = c(method = "Private permutation test of independence",
                  alternative = "responses and predictors are dependent"),
  any = c(method = "Private test by votes of disjoint parts", alternative = "that of the test which was given")
)

test_words <- function(ask) {
  TEST_WORDS[[if (ask$statistic == "kernel") ask$null else if (is.null(ask$at)) ask$statistic else "distances"]]
}

# public numbers only: an expression of the call may hold records
test_data_words <- function(ask) {
  each <- if (!is.null(ask$unit)) "units" else if (ask$null == "paired") "pairs" else "records"
  n <- if (is.na(ask$n)) paste(each, "of a private number") else sprintf("%d %s", as.integer(ask$n), each)
  counted <- if (ask$null == "equal") sprintf("%s in %d groups", n, length(ask$sizes)) else n
  if (is.null(ask$manifold)) counted else paste(counted, "on", label_manifold(ask$manifold))
}

# One point a unit, the mean of its rows, and one vector of predictors, the middle of the ranges where it has no row
units_ready <- function(records, ask) {
  M <- ask$manifold
  units <- records$units
  if (units$count == 0) return(list(n = 0)) # no statistic is asked of them
  some <- length(units$of) > 0
  if (!some) units$of <- NA_integer_
  mean_of <- function(x) uncounted(unit_means(M, if (some) x else ask$center, units, ask$center, ask$ball))
  x <- mean_of(records$x)
  y <- if (!is.null(records$y)) mean_of(records$y)
  u <- records$predictors
  list(x = x, y = y, predictors = if (!is.null(u)) units_average(u, units), n = units$count, group = records$group)
}

units_average <- function(u, units) {
  out <- matrix(0, nrow(u), units$count)
  own <- which(!is.na(units$of))
  if (!length(own)) return(out)
  sums <- rowsum(cbind(1, t(u[, own, drop = FALSE])), units$of[own])
  out[, as.integer(rownames(sums))] <- t(sums[, -1, drop = FALSE] / sums[, 1])
  out
}

# The data's statistic and those of the lots. Total in the records: each counts by its own vector.
test_statistics <- function(records, ask) {
  if (!ask$private) return(statistics_of(records, ask))
  if (records$n == 0) return(numeric(ask$draws + 1))
  counted_statistics(statistics_of(records, ask), min(records$n, ask$most), ask$most)
}

# of at most ask$most records, by lot where there are more
statistics_of <- function(records, ask) {
  M <- ask$manifold
  taken <- function(rows) rows
  if (records$n > ask$most) {
    lot <- orders_by_lot(records$n, 1)[seq_len(ask$most)]
    taken <- function(rows) rows[lot, , drop = FALSE]
  }
  if (ask$null == "symmetric") {
    v <- coords_within(M, records$x, ask$at, ask$radius) / ask$radius
    return(sign_statistics(taken(matrix(v, records$n)), ask$draws))
  }
  vectors <- function(x) {
    if (is.null(ask$kernel$reach) && ask$invalid == "center") x <- with_center(M, x, ask$center)
    taken(test_vectors(M, x, ask$kernel, ask$center))
  }
  z <- vectors(records$x)
  if (!is.null(records$y) && ask$null == "equal") z <- rbind(z, vectors(records$y))
  switch(ask$null,
    uniform = uniform_statistics(z, ask$draws),
    paired = pair_statistics(z, vectors(records$y), ask$kernel, ask$draws),
    independent = product_statistics(t(taken(t(records$predictors))), z, ask$predictors, ask$kernel, ask$draws),
    equal = if (is.null(ask$at)) group_statistics(z, records$group, ask$kernel, ask$draws, ask$statistic) else
      distance_statistics(z, vectors(ask$at), records$group, ask$kernel, ask$draws)
  )
}
