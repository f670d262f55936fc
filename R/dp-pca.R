#' Private principal components
#'
#' Releases the leading q-dimensional subspace of the second-moment matrix \eqn{\frac1n\sum z_iz_i^\top} of records with
#' differential privacy: by noise on that matrix, by drawing directions, or by noisy gradient steps. Rows are not
#' centred: subtract a public centre first.
#'
#' Rows longer than `bound` are shortened to it, one by one; a row with a missing or infinite number counts as 0.
#'
#' * `"gauss"`: discrete normal noise on the matrix (Analyze Gauss), (epsilon, delta). One record moves the matrix by
#'   \eqn{\sqrt2\,\mathrm{bound}^2/n} at most, in the Frobenius norm;
#' * `"laplace"`: noise H with density \eqn{\exp(-\|H\|_F/s)}, pure; for few columns (140 at most);
#' * `"wishart"`: the difference of two independent Wishart matrices with d + 1 degrees of freedom, pure. (One such
#'   matrix alone, as in the literature, is not private: sums that differ by a record differ in which matrices they
#'   can give.)
#' * `"bingham"`: q unit vectors by the exponential mechanism, one after the other, each in the orthogonal complement of
#'   those before and with a q-th of epsilon, drawn exactly (Kent, Ganeiber and Mardia); pure. No matrix and no
#'   eigenvalues are released;
#' * `"rgd"`: noisy gradient steps on the sphere (q = 1) or the Grassmann manifold, see [dp_optimize()].
#'
#' The first two are drawn by integer arithmetic: records are rounded to whole numbers and the guarantee is about what
#' the machine does. The others have proofs about real numbers. Proofs: the file `proofs/subspaces.md` of the installed
#' package.
#'
#' `"auto"` takes one of the first four, from public numbers alone. With `gap`, a public guess of how far the q-th
#' eigenvalue is above the next one, it is the one with the least expected error there. Without, it is the one that is
#' on average, over gaps from 0.3 % to all of what is possible (evenly in the logarithm), by the least factor above the
#' best at each. The error of the first three falls with 1/(n^2 gap), that of `"bingham"` with 1/n whatever the gap, so
#' large samples and gaps speak for noise on the matrix. Where that makes a difference, which needs a dozen columns or
#' more, a first look comes before: .5 to 5 % of epsilon buy a noisy number of by how much the directions' second
#' moments exceed the others', and that decides between `"wishart"` and `"bingham"` (`look` of the release). In
#' simulations (2 to 1,000 columns, 100 to 10^6 records, epsilon of .5 and 2, with and without `delta`; the file
#' `bench/directions.csv` of the sources) the loss was at most 1.05 times that of the best mechanism in 222 of 226
#' cells, and 1.12 times in the worst.
#' `"gauss"` or `"laplace"`, whose guarantee is about the machine, is taken where it errs by up to 5 % more.
#' Gradient steps are taken where records are in [chunks()] or at [sites()] that trust the curator, and where an
#' argument of theirs is given (`lr`, `steps`, `clip`, `method`, `batch`, `sampling`, `rate`, `output`,
#' `noise_multiplier`, `calibration`); the others are for rows in memory.
#'
#' @section Sites that add noise:
#' Of [sites()] with `shares = TRUE` or `secure = TRUE` each adds its noise to the sum of its rows' products, normal
#' noise (`"gauss"`, with `delta`), for a public number of rows; no gradient steps. How many columns they have is
#' public: it is said by `columns` of [sites()], or the policies of all sites have one Euclidean space in common.
#' Policies need `sums = "scatter"` and the space [euclidean()] of so many dimensions. The guarantee is about real
#' numbers, and assumes what [guarantee()] lists. Proof: section 11 of the file.
#'
#' @section Units and private numbers:
#' With `unit` what is released is about \eqn{\frac1m\sum_u\frac1{k_u}\sum_{i\in u}z_iz_i^\top}, the mean over the m
#' units of each one's own second-moment matrix (of its \eqn{k_u} rows, shortened to `bound`): not that of the units'
#' mean rows. A unit moves it no farther than a record does without. Rows of no unit (`NA`) don't count, a unit without
#' rows counts as 0.
#'
#' With `neighbours = "add_remove"` the number of records (units) is private. A tenth of epsilon goes to a noisy one
#' (`size`), by which mean squares are divided; directions and shares don't need it. One record more or less moves sums
#' by half of what a replaced one does (by a factor of 0.7 in the Frobenius norm), so the noise is smaller.
#'
#' @section Gradient steps:
#' A record's gradient is no longer than `bound`^2, to which it is clipped; a row with a missing or infinite number
#' counts with gradient 0. The start is a fixed subspace.
#'
#' The step that suits is about 1/(2 L), L the largest eigenvalue, which is private and anything up to `bound`^2. So
#' step sizes fall from 8/`bound`^2 (from m/`bound`^2 where there are only m < 8 columns) to 1/(4 `bound`^2) by a
#' constant factor: the early ones suit data whose variance is spread over many directions, the late ones data with one
#' large eigenvalue, and small last steps let in less noise. On digits, on flowers and on simulated spectra this came
#' closer than any constant step size.
#'
#' For `unit` see above, and "Units" in [dp_optimize()].
#'
#' With `neighbours = "add_remove"` the number of records (units) is private: see "A private number of records" in
#' [dp_optimize()]. Step sizes then are n/N times the above, and the noise is about half of that for a public number. On
#' simulated rows with 10 columns the error (sine of the angle, root mean square of 150 runs) was .35, .49, .53 and .55
#' times that for a public number at n epsilon of 200, 500, 2,000 and 10,000.
#'
#' @param data numeric matrix or data frame, rows are records; or such tables in [chunks()], or at [sites()].
#' @param q dimension of the subspace, below the number of columns.
#' @param epsilon,delta privacy budget; gradient steps and `"gauss"` need `delta` > 0.
#' @param bound public bound of the length of a row.
#' @param ... nothing; later arguments must be named.
#' @param mechanism one of those above.
#' @param gap public guess of how far the q-th eigenvalue is above the next one, a share of `bound`^2 between 0 and 1/q;
#'   `NULL` for none: then `expected_error` is that at 0.1/q, or at what a first look showed. For a public number of
#'   records.
#' @param lr step sizes, as in [dp_optimize()]; `NULL` for those above.
#' @param steps number of steps; 20 of `"rgd"` if not given, one pass of `"rsgd"`.
#' @param clip clipping norm of gradients; a smaller one than `bound`^2 trades bias for noise.
#' @param method,batch,sampling,rate,output,noise_multiplier,calibration,unit,neighbours,ledger,data_set,part as in
#'   [dp_optimize()].
#' @inheritParams dp_mean
#' @return An object of class `riemdp_pca` and [riemdp_release]. By gradient steps also of `riemdp_optimize`, as of
#'   [dp_optimize()], with `loadings`: a matrix with q orthonormal columns that span the subspace, whose order and signs
#'   mean nothing. Else of class `riemdp_components`: `value` (a point of the sphere or the Grassmann manifold),
#'   `loadings` (in decreasing order of the released eigenvalues, or in the order of draws; signs mean nothing),
#'   `eigenvalues` (of the released matrix, all d, spread by the noise and maybe below 0), `moments` (the second moment
#'   along the q directions: the eigenvalue less what noise adds to one that stands alone, 0 where noise alone might
#'   give it), `shares` (of these in the trace), `moment` (the released matrix) - all `NULL`, which is to say not
#'   released, by `"bingham"` - `manifold`, `mechanism`, `n` (`NA` where it is private), `size`, `unit`, `bound`, `gap`,
#'   `look` (`NULL` without one; `gap` and `scale` of the noise), `sensitivity` (of the mean second moment,
#'   in the norm of the proof), `scale` (in the same units), `noise`, `expected_error` (of the mean square that the
#'   directions hold, below the most that is possible, at the stated gap), `theorem`, `source`, `guarantee`, `budget`,
#'   `draws`. Errors: `riemdp_error_unsupported` for what a mechanism does not do, `riemdp_error_argument`,
#'   `riemdp_error_shape`.
#' @references
#' Dwork, C., Talwar, K., Thakurta, A. and Zhang, L. (2014). Analyze Gauss: optimal bounds for privacy-preserving
#' principal component analysis. *Proceedings of the 46th ACM Symposium on Theory of Computing*, 11-20.
#' \doi{10.1145/2591796.2591883}
#'
#' Cesar, M. and Rogers, R. (2021). Bounding, concentrating, and truncating: unifying privacy loss composition for data
#' analytics. *Proceedings of the 32nd International Conference on Algorithmic Learning Theory*, PMLR 132, 421-457. Of
#' what `"bingham"` costs under concentrated privacy: see [event_pure()].
#'
#' Kent, J. T., Ganeiber, A. M. and Mardia, K. V. (2018). A new unified approach for the simulation of a wide class of
#' directional distributions. *Journal of Computational and Graphical Statistics* 27, 291-301.
#' \doi{10.1080/10618600.2017.1390468}
#'
#' Utpala, S., Han, A., Jawanpuria, P. and Mishra, B. (2023). Improved differentially private Riemannian optimization:
#' fast sampling and variance reduction. *Transactions on Machine Learning Research*.
#' <https://openreview.net/forum?id=paguBNtqiO>
#' @examples
#' x <- scale(as.matrix(iris[, 1:4]), center = c(6, 3, 4, 1), scale = FALSE) # a public centre
#' r <- dp_pca(x, q = 1, epsilon = 2, delta = 1e-6, bound = 4)
#' r
#' confint(r)
#' # without delta; by gradient steps
#' dp_pca(x, q = 2, epsilon = 2, bound = 4)
#' dp_pca(x, q = 1, epsilon = 2, delta = 1e-6, bound = 4, mechanism = "rgd")
#' @seealso [dp_pga()] for records on manifolds
#' @export
dp_pca <- function(data, q = 1, epsilon = NULL, delta = 0, bound, ...,
                   mechanism = c("auto", "gauss", "laplace", "wishart", "bingham", "rgd"), gap = NULL, lr = NULL,
                   steps = NULL, clip = NULL, method = c("auto", "rgd", "rsgd", "rsvrg"), batch = NULL,
                   sampling = c("without-replacement", "poisson", "disjoint"), rate = NULL,
                   output = c("last", "average", "random"), noise_multiplier = NULL,
                   calibration = c("proven", "paper"), unit = NULL, neighbours = c("replace", "add_remove"),
                   source = NULL, ledger = NULL, data_set = "default", part = NULL) {
  check_no_more(...)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(bound = missing(bound)))
  bound <- check_length(bound, "bound")
  mechanism <- if (missing(mechanism)) "auto" else
    check_choice(mechanism, "mechanism", c("auto", COMPONENT_MECHANISMS, "rgd"))
  steps_given <- !c(lr = missing(lr), steps = missing(steps), clip = missing(clip), method = missing(method),
                    batch = missing(batch), sampling = missing(sampling), rate = missing(rate),
                    output = missing(output), noise_multiplier = missing(noise_multiplier),
                    calibration = missing(calibration))
  about <- run_neighbours(neighbours, sampling)
  kind <- pca_kind(mechanism, names(which(steps_given)), is_chunks(data), is_chunks(data) && !is.null(data$shares))
  if (kind != "rgd") {
    return(release_components(data, q, epsilon, delta, bound, kind, gap, unit, about, source, ledger, data_set, part))
  }
  check_given(c(delta = missing(delta)))
  if (!is.null(gap)) abort_riemdp("argument", "`gap` is not for gradient steps.")
  pca_by_steps(data, q, epsilon, delta, bound, lr, steps, clip, method, batch, sampling, rate, output,
               noise_multiplier, calibration, unit, about, source, ledger, data_set, part)
}

# "rgd", or which of the others; from how the call is made
pca_kind <- function(mechanism, steps_given, chunked, shared) {
  if (shared) {
    if (mechanism != "rgd" && !length(steps_given)) return(mechanism)
    abort_riemdp("unsupported", "sites that add noise send one sum of products, and no gradient steps.")
  }
  if (mechanism == "rgd") return(mechanism)
  if (mechanism == "auto") return(if (length(steps_given) || chunked) "rgd" else mechanism)
  if (chunked) {
    abort_riemdp("unsupported", sprintf("mechanism = \"%s\" is for rows in memory: chunks have mechanism = \"rgd\".",
                                        mechanism))
  }
  if (length(steps_given)) {
    abort_riemdp("argument", sprintf("`%s` is for gradient steps, not for mechanism = \"%s\".", steps_given[1],
                                     mechanism))
  }
  mechanism
}

# ---- by noise on the matrix, or directions drawn ---------------------------------------------------------------------

release_components <- function(data, q, epsilon, delta, bound, mechanism, gap, unit, about, source, ledger, data_set,
                               part) {
  replace <- about == "replace"
  if (is_chunks(data)) {
    check_whole_rows(data, unit, replace)
    ask <- component_ask(chunk_count(data), site_width(data), q, epsilon, delta, mechanism, gap)
    ask <- pca_shared(data, ask, bound)
    ask$unit <- unit_name(NULL, data)
    ask$source <- stated_source(source)
    return(release_private(components_estimator, ask, list(x = data, n = ask$n), ledger, data_set, part))
  }
  given <- with_units(unit, data, "data", least = replace)
  units <- given$units
  data <- pca_rows(plain_numbers(given$x))
  if (!is.null(units)) check_mean_units(units, nrow(data), "ordinary", !replace)
  n <- units$count %||% nrow(data)
  ask <- component_ask(if (replace) n else NA_real_, ncol(data), q, epsilon, delta, mechanism, gap, !is.null(units))
  ask$bound <- bound
  ask$columns <- colnames(data)
  ask$unit <- unit_name(units)
  ask$source <- stated_source(source)
  release_private(components_estimator, ask, list(x = data, units = units, n = n), ledger, data_set, part)
}

# `ask` for sites that add noise: rows are points of R^d, and are shortened as points that are moved to a ball around 0
pca_shared <- function(x, ask, bound) {
  M <- euclidean(ask$d)
  shared <- ask_shared(list(manifold = M, ball = list(radius = bound), parts = ask), x)
  ask <- shared$parts
  own <- c("shares", "holders", "assumptions", "about")
  ask[own] <- shared[own]
  ask[c("bound", "columns", "space", "center")] <- list(bound, names(x$columns), M, numeric(ask$d))
  ask
}

# the sum of what each record, or unit, counts
records_moment <- function(rows, units, grid) {
  if (is.null(units)) moment_sum(rows, grid) else unit_moment_sum(rows, units, grid)
}

components_estimator <- list(
  entry = function(plan, ask) entry_words("dp_pca", component_words(plan$noise), ask$unit),
  parts = c(scale = "scale", theorem = "text", event = "event"),
  plan = function(ask) {
    noise <- if (is.null(ask$shares)) component_plan(ask) else shared_noise(ask, ask$shares, ask$about)
    said <- if (is.null(ask$shares)) "bound is" else "bound and number of columns are"
    price <- component_price(noise, ask, said, unit = ask$unit)
    price$guarantee$assumptions <- c(price$guarantee$assumptions, ask$assumptions)
    list(noise = noise, scale = noise$scale, theorem = component_theorem(noise$mechanism, noise$shares),
         guarantee = price$guarantee, event = price$event)
  },
  ready = function(records, plan, ask) {
    if (!is.null(ask$shares)) check_shared(records$x, plan$noise, ask$space, ask$center)
    records
  },
  event = function(plan, ask) plan$event,
  draw = function(records, plan, ask, budget) {
    if (!is.null(ask$shares)) return(draw_shared_components(records$x, plan$noise, ask$space, ask$center, ask))
    size <- drawn_size(records$n, ask)
    sum <- records_moment(moment_rows(records$x, ask$bound, ask$grid), records$units, ask$grid)
    c(draw_components(sum, plan$noise, ask$q), list(size = size))
  },
  answer = function(out, plan, ask, budget) {
    # points of the ball have logarithms of its radius, and of what doubles make of that
    facts <- components_facts(out, ask, if (is.null(ask$shares)) ask$bound else scatter_bound(ask$about), ask$columns)
    facts$bound <- ask$bound
    M <- if (ask$q == 1) sphere(ask$d - 1) else grassmann(ask$d, ask$q)
    value <- unname(facts$loadings)
    do.call(new_release, c(list(
      if (ask$q == 1) as.vector(value) else value, c("riemdp_components", "riemdp_pca"), manifold = M,
      n = out[["n"]] %||% ask$n, size = out$size, unit = ask$unit), facts,
      list(budget = budget, guarantee = plan$guarantee)))
  }
)

# ---- by gradient steps -----------------------------------------------------------------------------------------------

pca_by_steps <- function(data, q, epsilon, delta, bound, lr, steps, clip, method, batch, sampling, rate, output,
                         noise_multiplier, calibration, unit, about, source, ledger, data_set, part) {
  given <- with_units(unit, data, "data", least = about == "replace")
  units <- given$units
  data <- given$x
  if (!is_chunks(data)) data <- pca_rows(plain_numbers(data))
  d <- if (is_chunks(data)) chunk_width(data) else ncol(data)
  if (d < 2) abort_riemdp("shape", "`data` must have at least two columns.")
  q <- check_count(q, "q", most = d - 1)
  if (!is_chunks(data)) data <- shorten_rows(data, bound)
  if (about == "size") check_run_size(data, method, sampling, lr, !is.null(steps), NULL, noise_multiplier, calibration,
                                      NULL)
  M <- if (q == 1) sphere(d - 1) else grassmann(d, q)
  start <- pca_start(d, q)
  if (is.null(clip)) clip <- bound^2
  if (is.null(lr)) lr <- falling_steps(d, bound)
  if (is.null(steps) && is.null(batch) && (length(method) != 1 || method %in% c("auto", "rgd"))) steps <- 20
  problem <- problem_pca(M)
  input <- problem_call(problem, data, private = TRUE, bound, as.integer(about == "replace"))
  input <- input_of_units(input, units)
  source <- stated_source(source)
  asked <- function(n, epsilon) {
    ask <- optimum_ask(problem, n, epsilon, delta, method, start, clip, lr, steps, NULL, batch, sampling, rate, NULL,
                       NULL, 1, output, NULL, NULL, noise_multiplier, calibration, about == "size")
    c(ask, list(problem = problem, unit = unit_name(units), source = source,
                assumptions = if (is_chunks(data)) chunk_assumptions(data)))
  }
  records <- list(input = input, n = unit_count(input))
  r <- release_run(optimum_estimator("dp_pca"), about, asked, epsilon, records, ledger, data_set, part)
  r$loadings <- matrix(r$value, d, dimnames = list(if (!is_chunks(data)) colnames(data), NULL))
  class(r) <- c("riemdp_pca", class(r))
  r
}

# any fixed subspace would do that is not likely to be orthogonal to what is looked for
pca_start <- function(d, q) {
  if (q == 1) return(rep(1, d) / sqrt(d))
  qr.Q(qr(outer(seq_len(d) - 0.5, seq_len(q) - 1, function(i, j) cos(pi * i * j / d))))
}
