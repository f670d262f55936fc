# Private permutation tests. Proofs: inst/proofs/testing.md.

#' Private permutation tests
#'
#' Tests whether groups of records have one law, whether pairs can be swapped, whether records lie evenly around a
#' public point, or uniformly on a sphere. What is released is a p-value that is valid at any number of records, or with
#' `alpha` the decision alone; neither the statistic nor what it is under other labels leaves the call.
#'
#' The statistic measures how far apart the mean features of groups are, for a kernel that is positive definite on the
#' space. `"gaussian"`: exp(-d^2/(2 b^2)) of the straight distance d of vectors: records (Euclidean space, spheres),
#' logarithms of matrices (affine-invariant and log-Euclidean metrics), matrices (Bures-Wasserstein), coordinates at
#' `center` (hyperbolic space), frames (Stiefel), projections (Grassmann), z z^* (shapes). `"exponential"`: exp(-d/b) of
#' the geodesic distance d, on spheres and in hyperbolic space (within 8 of `center`, to which farther records are
#' moved). It is computed again for `draws` lots that are drawn without the records, and Laplace noise is added to it.
#' p is the mean, over all of these statistics, of the chance that one with noise is at least what the noisy one came
#' to.
#'
#' * `null = "equal"`: the groups have one law. Groups and their sizes are public; lots permute the labels. It is a test
#'   of equal laws: groups of one mean but of different spread are told apart, too.
#' * `"paired"`: `x[i]` and `y[i]` can be swapped. One record is one pair; lots swap within pairs.
#' * `"symmetric"`: the law is symmetric about the public point `at`: logarithms there, shortened to `radius`, have
#'   random signs. It tells mainly whether the mean is `at`.
#' * `"uniform"`: the records are independent and uniform on the [sphere()]; the statistic is the length of their mean
#'   (Rayleigh), the lots are uniform directions.
#'
#' Each statistic moves by at most `sensitivity` with one record, so the p-value's law by a factor of at most
#' exp(9/4 sensitivity/scale) (exp(sensitivity/scale) where the lots don't depend on records), and the decision's by
#' exp(2 sensitivity/scale): `alpha` saves a ninth of the noise. p is one of 10,000 values (fewer for a small
#' `epsilon`), drawn by integer arithmetic. Proof: the file `proofs/testing.md` of the installed package. Kim and Schrab
#' (2023) add noise to every statistic and release the decision.
#'
#' @section Power: A rejection at .05 needs a statistic that is above those of most lots by some 2.3 `scale`. For two
#'   equal groups without a radius that is 7/(n epsilon), and the statistic is half the distance of mean features. A
#'   tight public ball, a bandwidth near the records' usual distance and few directions in which they vary help. With
#'   500 records and epsilon = 1 simulated tests of shifted groups had .84 of the power of the test without privacy on
#'   spheres where that was .84, .93 where it was .99; for 3 x 3 matrices .65 where it was .94, .85 where it was .99;
#'   for shapes of ten landmarks that vary alike in all 16 directions .33 where it was .83, .86 where it was 1.
#'
#' @param x n records, in any shape that functions on `M` accept; in memory.
#' @param M a manifold; not one of your own.
#' @param epsilon privacy budget, positive.
#' @param ... not used: further arguments are given by name.
#' @param y further records: the second group, or the other halves of pairs.
#' @param group for `"equal"` without `y`: a public label for each record, or the name of a column of the data frame
#'   `x`. At least two groups, at most 500.
#' @param null what is tested, see above.
#' @param at for `"symmetric"`: a public point, or a release of one.
#' @param kernel `"gaussian"` or `"exponential"`, for tests of groups and pairs.
#' @param bandwidth b of the kernel, public, at least .001, in units of its distance. By default half the largest
#'   distance that there can be, where that is known (compact spaces, or a `radius`).
#' @param center a public point: what invalid records count as; where coordinates are taken (by default the origin, the
#'   identity, the apex); and with `radius` the ball's centre.
#' @param radius public, positive. For `"symmetric"` how far logarithms may reach. For groups and pairs: records farther
#'   from `center` are moved to that distance (of the logarithms of matrices for SPD). Features then lie nearer to each
#'   other, and less noise is needed. Not for the Bures-Wasserstein metric.
#' @param alpha `NULL`: the p-value is released. A level, a multiple of .0001 between 0 and 1: whether p is at most
#'   that.
#' @param draws number of lots, 99 to 9,999.
#' @param invalid records that are no points: `"error"` (a check on the curator's side, before anything is spent), or
#'   `"center"`: each counts as `center` (as `at` for `"symmetric"`).
#' @param source,ledger,data_set,part as for [dp_mean()].
#' @return An object of classes `riemdp_test`, `htest` and [riemdp_release]: `value` and `p.value` (between 0 and 1, a
#'   multiple of .0001; with `alpha` the value is `TRUE` for a rejection, `reject`, and `p.value` is `NA`), `method`,
#'   `alternative`, `data.name` (public numbers only), `parameter` (the number of lots), `null`, `alpha`, `reject`,
#'   `manifold`, `n`, `members` (of each group), `bandwidth`, `radius`, `at`, `sensitivity` and `scale` (of statistics,
#'   which lie between 0 and 1.5), `cells`, `theorem`, `source`, `guarantee`, `budget`, `draws`. There is no statistic.
#'   Errors: `riemdp_error_argument`, `riemdp_error_shape`, `riemdp_error_unsupported` (chunks, users' manifolds, over
#'   10,000 records for tests with a kernel).
#' @references
#' Kim, I. and Schrab, A. (2023). Differentially private permutation tests: applications to kernel methods.
#' \doi{10.48550/arXiv.2310.19043}
#'
#' Gretton, A., Borgwardt, K., Rasch, M., Schoelkopf, B. and Smola, A. (2012). A kernel two-sample test. *Journal of
#' Machine Learning Research* 13, 723-773.
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
#' @export
dp_test <- function(x, M = manifold_of(x), epsilon, ..., y = NULL, group = NULL,
                    null = c("equal", "paired", "symmetric", "uniform"), at = NULL,
                    kernel = c("gaussian", "exponential"), bandwidth = NULL, center = NULL, radius = NULL,
                    alpha = NULL, draws = 999, invalid = c("error", "center"), source = NULL, ledger = NULL,
                    data_set = "default", part = NULL) {
  check_no_more(...)
  check_call(M, ledger, c(epsilon = missing(epsilon)))
  ask <- list(manifold = M, epsilon = check_number(epsilon, "epsilon", positive = TRUE),
              null = check_choice(null, "null", c("equal", "paired", "symmetric", "uniform")),
              kind = check_choice(kernel, "kernel", c("gaussian", "exponential")),
              alpha = if (!is.null(alpha)) check_alpha(alpha), draws = check_count(draws, "draws", 99, 9999),
              invalid = check_choice(invalid, "invalid", c("error", "center")))
  check_test_arguments(ask$null, y, group, at)
  records <- test_records(M, x, y, group, ask$null)
  ask <- test_question(M, ask, records, at, bandwidth, center, radius)
  given <- list(at = at, center = center, radius = radius, bandwidth = bandwidth)
  ask$source <- stated_source(source, given)
  release_private(test_estimator, ask, records, ledger, data_set, part)
}

check_alpha <- function(alpha) {
  alpha <- check_level(alpha)
  if (abs(alpha * TEST_CELLS - round(alpha * TEST_CELLS)) > 1e-6 || round(alpha * TEST_CELLS) %in% c(0, TEST_CELLS)) {
    abort_riemdp("argument", "`alpha` must be a multiple of 0.0001 between 0 and 1.")
  }
  round(alpha * TEST_CELLS) / TEST_CELLS
}

# which of the arguments a null hypothesis takes
check_test_arguments <- function(null, y, group, at) {
  wrong <- function(must) abort_riemdp("argument", sprintf("null = \"%s\" %s.", null, must))
  if (null == "equal" && is.null(y) == is.null(group)) wrong("needs one of `group` and `y`")
  if (null == "paired" && (is.null(y) || !is.null(group))) wrong("needs `y`, and no `group`")
  if (null %in% c("symmetric", "uniform") && !(is.null(y) && is.null(group))) wrong("takes neither `y` nor `group`")
  if (null == "symmetric" && is.null(at)) wrong("needs a public point `at`")
  if (null != "symmetric" && !is.null(at)) wrong("takes no point `at`")
}

# list(x, y, n, group): group is a number for each record, from 1 on
test_records <- function(M, x, y, group, null) {
  if (is_chunks(x) || is_chunks(y)) abort_riemdp("unsupported", "dp_test() needs the records in memory.")
  if (!is.null(group) && names_column(group, x)) {
    labels <- x[[group]]
    x <- x[names(x) != group]
    group <- labels
  }
  x <- plain_numbers(x)
  n <- record_count(M, x)
  if (null == "paired" || !is.null(y)) {
    y <- plain_numbers(y)
    m <- record_count(M, y)
    if (null == "paired" && m != n) abort_riemdp("shape", "`x` and `y` must hold as many records as each other.")
    if (null == "equal") group <- rep(1:2, c(n, m))
  }
  if (null == "equal") group <- test_groups(group, n + if (is.null(y)) 0 else m)
  list(x = x, y = y, n = if (null == "equal") length(group) else n, group = group)
}

test_groups <- function(group, n) {
  if (!is.atomic(group) || is.null(group) || length(group) != n || anyNA(group)) {
    abort_riemdp("argument", "`group` must hold a public label for each record, none missing.")
  }
  group <- as.integer(factor(group))
  if (max(group) < 2 || max(group) > 500) abort_riemdp("argument", "there must be 2 to 500 groups with records.")
  group
}

# what is public of the question, checked
test_question <- function(M, ask, records, at, bandwidth, center, radius) {
  ask$n <- records$n
  if (!is.null(center)) ask$center <- public_point(M, center)
  if (ask$null %in% c("equal", "paired")) return(kernel_question(M, ask, records, bandwidth, radius))
  if (ask$n > 1e6) abort_riemdp("unsupported", sprintf("null = \"%s\" takes at most 1,000,000 records.", ask$null))
  if (!is.null(bandwidth)) abort_riemdp("argument", "`bandwidth` is for tests of groups and pairs.")
  if (ask$null == "symmetric") return(symmetry_question(M, ask, at, radius))
  if (M$name != "sphere") abort_riemdp("unsupported", "null = \"uniform\" is for sphere().")
  if (!is.null(radius)) abort_riemdp("argument", "null = \"uniform\" takes no `radius`.")
  ask$kernel <- test_space(M, NULL)
  centered(M, ask)
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
  if (ask$n > 1e4) abort_riemdp("unsupported", sprintf("null = \"%s\" takes at most 10,000 records.", ask$null))
  space <- test_space(M, if (!is.null(radius)) public_value(radius, "radius"), ask$kind)
  if (ask$null == "equal") ask$sizes <- tabulate(records$group)
  ask$radius <- if (!is.null(radius)) space$reach
  points <- if (ask$null == "paired") 2 * ask$n + 1 else ask$n
  ask$kernel <- test_kernel(space, bandwidth, points, mf_facts(M)$dimension)
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
  entry = function(plan, ask) entry_words("dp_test", ask$null, NULL),
  parts = c(sensitivity = "number", theorem = "text"),
  plan = function(ask) {
    M <- ask$manifold
    sensitivity <- test_sensitivity(ask$null, ask$kernel, ask$n, ask$sizes, mf_facts(M)$ambient)
    if (ask$null == "symmetric") sensitivity <- sensitivity * (1 + 1e-9)
    law <- test_law(if (ask$null == "uniform") "fixed" else "permuted", sensitivity, ask$epsilon, ask$draws, ask$alpha)
    g <- promise_of(list(epsilon = ask$epsilon, delta = 0, reasons = NULL, sampler = "exact"), c(
      switch(ask$null, equal = "groups, their sizes, kernel and bandwidth are public",
             paired = "kernel and bandwidth are public; a record is a pair; the number of records is public",
             symmetric = "at and radius are public; the number of records is public",
             uniform = "the number of records is public"), TEST_ASSUMES), trusted = M, numerics = "lattice")
    list(sensitivity = sensitivity, law = law, theorem = "proofs/testing.md", guarantee = g)
  },
  ready = function(records, plan, ask) {
    if (ask$invalid == "error") {
      check_records(ask$manifold, records$x)
      if (!is.null(records$y)) check_records(ask$manifold, records$y)
    }
    records
  },
  draw = function(records, plan, ask, budget) {
    statistics <- test_statistics(records, ask)
    draw_p(statistics, plan$law, plan$sensitivity, if (ask$null == "uniform") "testing.md, 4" else "testing.md, 3")
  },
  answer = function(out, plan, ask, budget) {
    decided <- !is.null(ask$alpha)
    reject <- if (decided) out <= ask$alpha
    words <- TEST_WORDS[[ask$null]]
    new_release(
      if (decided) reject else out, c("riemdp_test", "htest"),
      p.value = if (decided) NA_real_ else out, method = words[["method"]], alternative = words[["alternative"]],
      data.name = test_data_words(ask), parameter = c(lots = ask$draws), null = ask$null, alpha = ask$alpha,
      reject = reject, manifold = ask$manifold, mechanism = "p-value", n = ask$n, members = ask$sizes,
      kernel = ask$kernel$kind, bandwidth = ask$kernel$bandwidth, center = ask$center, radius = ask$radius, at = ask$at,
      sensitivity = plan$sensitivity, scale = plan$law$scale, cells = plan$law$cells, theorem = plan$theorem,
      expected_error = NA_real_, budget = budget, guarantee = plan$guarantee
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
  any = c(method = "Private test by votes of disjoint parts", alternative = "that of the test which was given")
)

# public numbers only: an expression of the call may hold records
test_data_words <- function(ask) {
  counted <- switch(ask$null, equal = sprintf("%d records in %d groups", as.integer(ask$n), length(ask$sizes)),
                    paired = sprintf("%d pairs", as.integer(ask$n)), sprintf("%d records", as.integer(ask$n)))
  if (is.null(ask$manifold)) counted else paste(counted, "on", label_manifold(ask$manifold))
}

# The data's statistic and those of the lots. Total in the records: each counts by its own vector.
test_statistics <- function(records, ask) {
  M <- ask$manifold
  if (ask$null == "symmetric") {
    v <- coords_within(M, records$x, ask$at, ask$radius) / ask$radius
    return(sign_statistics(matrix(v, records$n), ask$draws))
  }
  vectors <- function(x) {
    if (is.null(ask$kernel$reach) && ask$invalid == "center") x <- with_center(M, x, ask$center)
    test_vectors(M, x, ask$kernel, ask$center)
  }
  z <- vectors(records$x)
  if (ask$null == "uniform") return(uniform_statistics(z, ask$draws))
  if (ask$null == "paired") return(pair_statistics(z, vectors(records$y), ask$kernel, ask$draws))
  if (!is.null(records$y)) z <- rbind(z, vectors(records$y))
  group_statistics(z, records$group, ask$kernel, ask$draws)
}
