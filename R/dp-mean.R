#' Private Frechet mean
#'
#' Releases a differentially private Frechet mean of records that lie in a public ball.
#'
#' The ball around `center` with `radius` must be chosen without looking at the records: from the meaning of the data,
#' earlier published results or a standard. Records outside are moved to the ball's nearest point, one by one and
#' silently, so that the guarantee holds for any data. There is no default taken from the data, and a non-private
#' [frechet_mean()] is refused as a centre.
#' @section Mechanisms:
#' * `"laplace"`: a draw around the mean with density proportional to \eqn{\exp(-d/\sigma)}, on homogeneous manifolds
#'   (sphere, hyperbolic, positive definite matrices with the affine-invariant or log-Euclidean metric, planar shapes,
#'   Grassmann, Euclidean, products of these), \eqn{\sigma = \Delta/\epsilon}.
#' * `"chordal"`: on Stiefel manifolds, a draw around the mean with density proportional to \eqn{\exp(-D/\sigma)}, D
#'   the straight distance in a Euclidean space that holds the manifold with its metric, \eqn{\sigma = \Delta/\epsilon}
#'   (section 5 of `proofs/laplace.md`): what `"laplace"` is elsewhere.
#' * `"wrapped"`: noise with density proportional to \eqn{\exp(-|z|/\sigma)} added to the mean's logarithm at `center`,
#'   mapped back by exp; on every manifold for which curvature bounds are known (also Bures-Wasserstein, Stiefel,
#'   Grassmann).
#' * `"gaussian"`: a draw around the mean with density proportional to \eqn{\exp(-d^2/(2\sigma^2))}, where `"laplace"`
#'   is available; needs `delta` > 0. See [privacy_profile()].
#' * `"wrapped_gaussian"`: normal noise added to the mean's logarithm at `center`, mapped back by exp; needs
#'   `delta` > 0.
#' * `"heat"`: the heat kernel around the mean (where a Brownian motion from there is after a while), on spheres,
#'   Stiefel and Grassmann manifolds, planar shapes and products of these and flat spaces; needs `delta` > 0. As Ricci
#'   curvature isn't negative, it protects as normal noise in flat space does (Bakry and Ledoux 1996; section 7 of
#'   `proofs/gaussian.md`). On Stiefel manifolds with the Euclidean metric the motion is that of the canonical one.
#' * `"tangent"`: the mean of the records' logarithms at `center`, which moves by at most 2r/n, with noise as in
#'   `"wrapped"` or `"wrapped_gaussian"` (`options = list(noise = "knorm")` or `"gaussian"`), mapped back by exp. Its
#'   target is **not** the Frechet mean on curved spaces: a start or a baseline.
#' * `"euclidean"`, `"pointwise"`, `"chain"`: what the papers compare with and sample by; see [baselines].
#' * `"kng"`: the K-norm gradient mechanism, density proportional to \eqn{\exp(-|\nabla U|/\sigma)} on the ball, U the
#'   energy that the mean minimises, \eqn{\sigma = 2\Delta/\epsilon} with the [gradient_sensitivity()]; on the manifolds
#'   of `"laplace"` (with doubles not on products).
#' * `"staircase"`: density constant up to a distance from the mean, then lower by \eqn{\exp(-\epsilon)} on each
#'   further shell of width \eqn{\Delta}; where `"laplace"` is available. No law that depends on the distance to the
#'   mean alone has a smaller expected error at the same \eqn{\Delta} (section 4 of `proofs/laplace.md`): in two
#'   dimensions .99, .78, .37 of that of `"laplace"` at \eqn{\epsilon} = 1, 4, 8; in ten they hardly differ below 8.
#'   `"auto"` takes it where it is better by 1 %. `"wrapped_staircase"`: the same in the tangent space at `center`.
#' * `"laplace_truncated"`: the law of `"laplace"` on the ball only, \eqn{\sigma = 2\Delta/\epsilon}; on the same
#'   manifolds, and on a lattice on all, as `"kng"`. `"staircase_truncated"`: shells of width \eqn{\Delta} on the ball,
#'   each lower by \eqn{\exp(-\epsilon/2)}; on a lattice only.
#' * `"adaptive"`: for a ball that had to be wide. Stages, whose budgets add up, find a smaller ball and release the
#'   mean of the records moved to that one. From n epsilon / d of 100 on (d the dimension; 300 in one dimension, 150 in
#'   two) its error is on average some 2.5 times that of a tight ball that is known or less, for normal records in a
#'   public ball ten to ten thousand times as wide as their standard deviation; 1 to 1.5 times with a few times as many.
#'   Where the first stage finds no small ball it has cost at most .22 of epsilon, and with few records it is left out.
#'   With `delta` > 0 the last stage's noise is Gaussian where that is expected to be smaller, in many dimensions.
#'   `options = list(shares = )` sets what the stages take (place, centre, radius, mean), `fraction` what share of
#'   records the radius aims at. Proof: section 12 of `proofs/mean-sensitivity.md`. `"auto"` never chooses it: its error
#'   depends on the records' spread, of which [dp_mean_plan()] takes a guess. With `neighbours = "add_remove"` too.
#' * `"parts"`: on a [product()] a mean of each part, with a ball, an epsilon and a mechanism (by `"auto"`) of its own;
#'   the budgets add up. See `radius` and `epsilon`; or `options = list(shares = )`, one for each part.
#' * `"auto"`: the one with the smallest [expected_error()], which depends on public quantities only, on a lattice
#'   where there is one (see below).
#'
#' The time that a call takes depends on the records: on the steps to their mean, and for `"kng"`, the truncated laws
#' and, on a lattice of curved spaces, `"laplace"` and `"staircase"` on the sampler's trials. With `timing = "constant"`
#' the mean takes all of a public number of steps, and these samplers a fixed number of trials, each in full; if none
#' succeeds they return a point drawn without looking at the records, and `delta` pays for that. Where there are no such
#' steps (users' manifolds), or more trials than `max_trials`, this is refused. In either mode trials end: their success
#' has a proven probability for any records of the ball, and a plan whose worst records would take more than
#' `max_trials` on average is refused, before anything is paid. On a lattice they go on until a trial succeeds, which is
#' sure to happen; there `acceptance` is worked out for records at the ball's edge, not proven. Records that need the
#' most trials may need thousands of times as many as others, which takes up to about a second longer, with `"auto"` up
#' to about a tenth of one unless all that is faster (on a lattice, if there is such) errs four times as much, and with
#' a private number of records as long as a million trials take. Of what the first stage of `"adaptive"` proposes at
#' least one in a million is kept, for any records: some seconds in 20 dimensions. In more, or with a smaller
#' `max_trials`, that stage is left out unless four `shares` ask for it.
#'
#' Unless said otherwise, \eqn{\Delta} is the [mean_sensitivity()] plus twice a proven bound of the error that doubles
#' make in the mean, from space, radius, dimension and number of steps. Where that bound exceeds the sensitivity, for
#' balls so wide or so small that doubles can't tell their points (hyperbolic space from about radius 23, positive
#' definite matrices with the affine-invariant metric from about 6, with the Bures-Wasserstein metric around centres of
#' condition \eqn{10^6}), the release is refused (`riemdp_error_rounding`). Proof: `proofs/mean-solver.md`.
#'
#' @section Lattice mode:
#' The last digits of a noisy double can tell which value was perturbed (Mironov 2012). On a lattice the mean's
#' coordinates at `center` are rounded to multiples of \eqn{2^{-k}} and integer noise is added, drawn exactly by integer
#' arithmetic (see [discrete_noise]); what follows is a function of the noisy integers. The sensitivity grows by twice a
#' proven bound of the computed coordinates' error and by \eqn{\sqrt d\,2^{-k}}, some .1 % with the default k, which
#' follows from public numbers. `numerics = "auto"` does so wherever it can, and `mechanism = "auto"` then chooses among
#' the laws on lattices, unless one for which a lattice has no room there errs less than half as much with doubles; with
#' `"real"`, or where there is none, the label says "real-number model". Of laws around the mean itself on curved spaces
#' there are `"laplace"` and `"staircase"` on hyperbolic space, on positive definite matrices (affine-invariant) and on
#' products of these and of flat spaces, where doubles have room for the noise, 500,000 trials are enough on average and
#' the number of records is public (section 10 of `proofs/kng.md`); elsewhere their likes, and that of `"gaussian"`, are
#' `"wrapped"`, `"wrapped_staircase"` and `"wrapped_gaussian"`; on users' manifolds nothing, as no bound of rounding
#' errors is proven. `"wrapped_staircase"` is on a lattice only, up to \eqn{\epsilon = 12}. `"kng"`,
#' `"laplace_truncated"` and `"staircase_truncated"` draw a point of a lattice in the ball (even in coordinates, not in
#' volume) with exactly the weight computed for it: on every manifold of the package in at most 128 dimensions, up to
#' radius 15 on hyperbolic space (section 9 of `proofs/kng.md`), with doubles where that would take over `max_trials`
#' trials. `"tangent"` has a mean of numbers as its target. `"adaptive"` chooses its ball by integer arithmetic; its
#' means are `"wrapped"` then (not in constant time). `options = list(law = , k = )` of `"wrapped"` sets the law, `"l2"`
#' (default), `"laplace"` or `"gaussian"` (discrete Gaussian; needs `delta`), and k. Proof: `proofs/lattice.md`.
#'
#' @section What the error is about:
#' Three errors separate a release from what a reader may have in mind. *Privacy noise*: the distance to the mean of the
#' records moved to the ball. `expected_error`, [confint()][confint.riemdp_mean], [dp_uncertainty()] and pictures are
#' about this one alone. *Clipping*: what moving records to the ball does to the mean. It may be far larger than the
#' noise and isn't shown by it: with all records outside, the release is a point near the ball's edge with a small
#' expected error. *Sampling*: how the records differ from the population that they stand for.
#'
#' That the release lies at the ball's edge costs nothing to say: if at least half of the records must lie beyond nine
#' tenths of the radius, or outside, `print()` and `explain()` say so; the statement is false with a probability of at
#' most 1 %, whatever the records are. It is made for mechanisms whose noise has a public law or tail. Records that lie
#' outside in all directions leave the mean in the middle: no such statement doesn't mean that few are clipped.
#'
#' With `clipped = 0.1` a tenth of `epsilon` pays for the share of records outside: their number, which a replaced
#' record changes by at most 1, with two-sided geometric noise drawn by integer arithmetic ([discrete_laplace_noise()]),
#' in every mode of `numerics`. A record is outside if its distance from the centre, as computed, exceeds the radius;
#' one that is no point counts as the centre, so as inside, one at the centre's cut locus as outside. The guarantee is
#' about both releases together, and the ledger's entry holds both events. `print()` tells the share and its interval,
#' [confint()][confint.riemdp_mean] with `parm = "clipped"` the interval at any level. How far clipping moved the mean
#' can't be told without a bound on how far outside records lie; where curvature is at most 0 it is at most their share
#' times their average distance to the ball. Sites don't count, so `clipped` is refused there. Where the number of
#' records is private the share is of the released number; of groups each has its own. With `reduce` it is about the
#' projected records. Proofs: sections 10 and 11 of the
#' file `proofs/mean-sensitivity.md` of the installed package.
#'
#' @section Large noise:
#' Where the noise's expected error is more than a tenth of the radius, the point drawn is moved towards the public
#' centre (`post = FALSE` leaves it as it is). How far follows from the noise's law: to the mean's expected place on the
#' way to the draw, if the mean's distance from the centre may equally be any up to the radius or a little beyond, and
#' its direction any. In many dimensions that is like the estimator of James and Stein (1961): pure noise has its own
#' length there, so the draw tells how far out the mean is. As a function of the release and of public numbers it costs
#' nothing. 400 shapes of 50 landmarks at epsilon = 1 in a ball of radius .32 err by .18 without; with it by .02 where
#' the mean is the centre, .12 half-way to the edge, .16 at the edge.
#'
#' `expected_error` is then the largest over all means in the ball, `errors` has it for means at 0, 1/4, ..., 1 of the
#' radius, as in flat space of that dimension (of constant curvature on spheres and hyperbolic space; with what exp
#' stretches where it is negative), and `noise_error` that of the draw. It isn't done where it would make the release
#' worse by more than 5 % for some mean in the ball, for `sigma` and `calibration = "paper"`, nor for `"tangent"`, the
#' baselines and users' manifolds. `value` is biased towards the centre then: for averages take `released`, the point
#' drawn, which regions are about. Proof: `proofs/shrinkage.md`.
#'
#' @section Failures don't speak:
#' Errors depend on public facts only: types, shapes, dimensions, bounds, budget. With `invalid = "error"` (for the
#' curator, who may see the records) records that are no points of the manifold are reported by number before anything
#' is drawn; this check is not part of the release. With `invalid = "center"` such a record counts as the centre, and
#' the number of records stays as it is. Records at the cut locus of the centre count as the centre in both cases.
#'
#' @section Units:
#' With `unit` each unit counts once, by the Frechet mean of its own rows moved to the public ball. That point lies in
#' the ball and is a function of that unit alone, so everything holds with the number of units for n
#' (`proofs/mean-sensitivity.md`, section 13). The target is the mean of the units' means: a unit with many rows weighs
#' as much as one with few. The number of units is public; how many rows each has is not, and is not released. What the
#' ledger's entry names is the unit; a ledger that holds releases about rows as well promises its total about rows only.
#' `invalid = "error"` also refuses rows without a unit (`NA`, blanks, the text NA, what is no UTF-8) and levels
#' without a row, before anything is spent; with `"center"` the former are left out, and the latter count as the centre.
#' Else spellings are taken as they are: `"P1"` and `"P1 "` are two units, neither of which is protected with the other.
#' `clipped` counts units: one is outside if any of its rows is. `timing = "constant"`, sites and users' manifolds are
#' refused with `unit`. For records in chunks, whose units' points are then in memory, see [chunks()], "Units": every
#' mechanism serves them.
#'
#' @section A private number of records:
#' With `neighbours = "add_remove"` neighbouring data sets differ by one record that is there or isn't, and how many
#' there are is private. A noisy number is released first (`size`), by two-sided geometric noise drawn by integer
#' arithmetic, at a share of `epsilon`; all else follows from it. On flat spaces (Euclidean, log-Euclidean) noise is
#' then added to the sum of the logarithms at the centre over the released size N, which one record moves by r/N: the
#' mean, scaled by n/N around the centre. Elsewhere a mean of N points is released, of which those that are missing lie
#' at the centre, or of all records, if they are more; one record moves it by about 2r/N, and N is put a little below
#' the released number, so that few are missing (`"plain"`). Or, where they are more than N, the mean's logarithm at the
#' centre is made about n/N times as long, within the ball: then one record moves it by little more than r/N, and N is
#' the released number (`"scaled"`). With `delta` > 0 N may be put so far above that it is too small with a part of
#' `delta` only: then one record moves the mean by about r/N, and more points are missing (`"tail"`). The better is
#' taken. `expected_error` counts both noise and missing points, for a mean half-way from the centre to the edge, and
#' regions are for the mean of all records. For `"laplace"`, `"staircase"`, `"wrapped"`, `"gaussian"`,
#' `"wrapped_gaussian"` and `"adaptive"`; where the first two or `"gaussian"` don't exist at the scale that a small size
#' asks for, the wrapped one of its kind serves, and `chosen` says so. `options = list(count = , form = )` sets the
#' share of `epsilon` and one of the three (groups have a fourth). `"adaptive"` has one size for all its stages, which
#' divide what the size has left of `epsilon`; the first costs half of what it does where a record is replaced. Points
#' that stand for missing records lie at the centre that it found. With `delta` > 0 all of `delta` is promised. Any
#' number of records is served. Where a lattice serves every size, all is drawn by integer arithmetic. Records in
#' chunks, constant time, the papers' constants and users' manifolds are refused.
#'
#' `"kng"` needs no size: its density is proportional to \eqn{\exp(-|\sum_i\log_p x_i|/\sigma)} on the ball, and one
#' record moves the sum by 2r at most, so \eqn{\sigma = 4r/\epsilon} (with what rounding of up to \eqn{2^{31}} records
#' adds). All of `epsilon` goes to the mean, as exact as with a public number. But no number is released: `size` is
#' `NULL`, `expected_error` is `NA`, and the region is that of the ball. With `options = list(count = )` a share of
#' `epsilon` buys a noisy number, which the noise doesn't use; errors and regions do (a region rests on the lower end of
#' its interval). `scale` is that of the sum. `"auto"` never takes it, because there is no number to compare by. A
#' trial of its sampler has one proven probability of success for every number of records, and the cap on trials is
#' that for \eqn{2^{31}} of them. Proof: section 8 of `proofs/kng.md`.
#'
#' A ledger is about one notion of neighbours, see `pairs` in [dp_ledger()]. With `unit`, one unit is there or isn't,
#' with all its rows. Proof: section 14 of `proofs/mean-sensitivity.md`.
#'
#' @section Groups:
#' With `by` each group declared by `levels` has a mean of its own, and who is in which group is private; so are the
#' groups' sizes, which are released with noise (see "A private number of records"). With `neighbours = "add_remove"`
#' each group is released with all of `epsilon`. A replaced record may leave one group and enter another. With
#' `"replace"` all sizes and means are then one release, where a lattice serves and `delta` is 0: each group's number of
#' records n and n times the mean's logarithm at the public centre, which one record moves by 1 and by little more than
#' the radius, get noise together, and the mean is the noisy sum over the noisy number (`options = list(form =
#' "joint")`; up to 16 groups, `epsilon` to 8). Or the sizes are one release, and the means of two groups share the rest
#' of `epsilon` (the other forms). The noise of sizes is 0 in all. What is expected to be better is taken. The call has
#' one price. Empty groups are released like any other; a record whose group is missing or not declared is in none, or
#' an error for the curator with `invalid = "error"`, so that none is. With `unit` a unit is in the group of all its
#' rows that have one; if these are in several, it is in none, or an error for the curator. The result is of class
#' [riemdp_groups]; [mean_difference()] compares two groups. With `clipped` the numbers of records outside the ball are
#' released too, one for each group; a replaced record may move two of them, so that their noise is twice as large
#' there. `"kng"`, which releases no size, isn't offered, and `"adaptive"` with `"add_remove"` only. Proof: section 15
#' of `proofs/mean-sensitivity.md`.
#'
#' What that costs, as errors over those of groups whose members and sizes are public, each with all of `epsilon`, for
#' two and four groups of 200 and of 1,000 records on the plane, the sphere, 2 x 2 matrices, the hyperbolic plane and
#' shapes of four landmarks. Where a record is replaced: at `epsilon` = 1 1.2 to 1.5 times, wherever the groups' means
#' are; at `epsilon` = 4, where a staircase serves public groups, 1.3 to 1.9. Four groups cost a tenth more than two,
#' and more records change nothing. With `"add_remove"`, where a record touches one group and moves its mean about half
#' as far: .7 to 1.2 times. A call for each group without `by`, its budget split by hand, errs 1.1 to 3 times as much as
#' this one.
#'
#' A formula says the same: `scan ~ sex + site` with `data` and `levels = list(sex = c("f", "m"), site = c("A", "B"))`
#' is `by` with both variables. Groups are all combinations of the declared levels, whether they occur or not. The right
#' side names variables, joined by `+`; it may be `1`, for one mean of all. The left side gives points as in
#' [dp_regression()]: a variable that holds them, `cbind()` of columns, and what works row by row. Variables that `data`
#' doesn't have come from the formula's environment; `unit` may be a column of `data`.
#'
#' Of tables at [sites()] that add noise (`data`) a formula of columns gives groups as well, by `mechanism = "tangent"`
#' with `delta`: sums of logarithms and sizes are one vector, which a replaced record moves by no more than a mean of
#' all (`proofs/federation.md`, section 3). Each variable needs its `levels`; a record that is no point counts as the
#' centre, and one that names no declared group in none. `scan ~ 1` is the mean of all.
#'
#' @param x records, in any shape that functions on `M` accept (see [geometry]), or in [chunks()] or [sites()]; their
#'   number is public. Or a formula, see "Groups".
#' @param M a manifold; by default that of the records, where those are [mf_points()].
#' @param epsilon privacy budget, positive; or `NULL` where `sigma` is given. Several on a product: each part's own.
#' @param center the ball's public centre, one point; or a release that holds one, not labelled `none`.
#' @param radius its public radius (or a release that is one number), in the units of the metric; below \eqn{\pi/4} on
#'   spheres, \eqn{\pi/8} on planar shapes, in general below half of \eqn{\min(\mathrm{inj}, \pi/(2\sqrt\kappa))} for
#'   curvature up to \eqn{\kappa > 0}. Several on a product, for mechanism `"parts"`: one of each part, in its own
#'   metric; the region is a product of balls then, and only parts are limited.
#' @param ... nothing; later arguments must be named.
#' @param delta from 0 to below 1: the probability that mechanisms with Gaussian noise or a cap on trials may use. Pure
#'   mechanisms don't need it.
#' @param mechanism `"auto"` or one of the mechanisms above.
#' @param sigma the scale of the noise by hand, for experts and tests, instead of `epsilon`; needs a `mechanism` by
#'   name. The release then states the epsilon that it implies.
#' @param calibration `"proven"`, or `"paper"` for the constants of Reimherr, Bharath and Soto (2021), labelled not
#'   private (where they have any).
#' @param invalid `"error"` or `"center"`, what to do with records that are no points.
#' @param timing `"ordinary"`, or `"constant"`: a fixed number of steps and trials, none left out, whatever the records.
#'   Not on Stiefel manifolds, nor products with one, where a logarithm takes up to twenty times as long for farther
#'   records. Elsewhere each record's way to its coordinates, which is taken once, may still take some four times as
#'   long for some records as for others (on Grassmann manifolds, with the Bures-Wasserstein metric, for matrices with
#'   eigenvalues more than 10^4 apart), and so may what the system's library works out inside a step.
#' @param numerics `"lattice"`: noise by integer arithmetic on a lattice, safe against attacks on floating-point numbers
#'   (see below); `"real"`: the proof is about real numbers, the computation uses doubles; `"auto"`: a lattice wherever
#'   there is one.
#' @param max_trials the most trials that a rejection sampler may need, on average over its own chance, for the worst
#'   records of the ball; with `timing = "constant"` the most that it makes. `NULL`: as many as may take about a second
#'   of processor time, or as long as the mean, by a rule of thumb from public facts; with `timing = "constant"` or a
#'   private number of records a million.
#' @param options a list of arguments that only some mechanisms have. With Gaussian noise: `mu`, instead of `epsilon`,
#'   for \eqn{\mu}-Gaussian differential privacy (the release then states the epsilon it implies at `delta`);
#'   `report_mu = TRUE`, to have the implied \eqn{\mu} computed (about a second; on flat spaces and for wrapped noise it
#'   is always there). `noise` for `"tangent"`.
#' @param clipped `NULL`, or a number between 0 and 1: the share of `epsilon` with which the share of records outside
#'   the ball is released as well; the mean has the rest (see below).
#' @param variance `NULL`, or a number between 0 and 1: the share of `epsilon` with which `squares` are released too,
#'   the mean squared distance of the records from the point that was drawn and, beyond one dimension, the length of the
#'   matrix of their products: [confint()][confint.riemdp_mean] then tells a region for the population's mean.
#' @param unit `NULL`: one record is one row, and nobody who has several rows is protected as a whole. Else which unit,
#'   a person say, each row is of: a vector with an element for each record (numbers, text, dates; the levels of a
#'   factor are all its units), or the name of a column of a table `x` or of tables in [chunks()]. What is protected
#'   then is one unit, replaced with all its rows; see "Units".
#' @param neighbours `"replace"`: what is protected is a record's content, the number of records is public.
#'   `"add_remove"`: also whether it is there, and the number is private; see below.
#' @param by `NULL`, or which group each record is in, a private matter: a vector or factor with an element for each
#'   record, several in a list, or names of columns of a table `x`. A mean for each group is released then; see
#'   "Groups".
#' @param levels the groups' public names: the values that `by` may have, a list of them for several (with a formula a
#'   list with a name for each variable); a factor's levels and `FALSE`, `TRUE` where they are not given. Not to be
#'   taken from the records: who gives a factor declares that its levels are public.
#' @param suppress `NULL`, or a public number: groups whose released size is below it aren't shown.
#' @param post `TRUE`: large noise is answered by moving the point drawn towards the centre, see "Large noise". `FALSE`:
#'   the value is the point drawn.
#' @param reduce `NULL`, or a public [subspace()] to which records are projected one by one: noise has its dimension,
#'   and `center` is its own. The target is the mean of the projected records; see there.
#' @param data with a formula, a data frame or list that holds its variables; it may stand behind the formula:
#'   `dp_mean(scan ~ sex, scans, ...)`.
#' @param source where the public numbers of the call come from (centre and radius, bounds and guesses, or start and
#'   clip), one public string of at most 1,000 characters, or `NULL`. Whoever reads the release can't tell otherwise
#'   whether they were taken from the records; nothing is checked. Where one of them is a release, that is said of it.
#' @param ledger a privacy budget to take the release's price from before it is drawn, see [dp_ledger()]; `NULL` for
#'   none. A release that is labelled not private is refused then; a simulation (see [with_simulation()]) takes nothing.
#' @param data_set,part which data set of the ledger the records are, and which of its parts, if they are one.
#' @param plan `NULL`, or one of [dp_mean_plan()], which then says all that it was asked for: `M`, `epsilon`, `radius`,
#'   `center` where it was given one, `delta`, `calibration`, `timing`, `numerics`, `max_trials`, `clipped`, `variance`,
#'   `neighbours`, `post`, and with what it has chosen the `mechanism`. A single row, `plan[2, ]`, chooses that row's
#'   mechanism (and epsilon, where that was sought). None of these may be given besides. The number of records is that
#'   of `x`, whatever the plan's was.
#' @return With `by` an object of class [riemdp_groups]. Else one of class `riemdp_mean` and [riemdp_release]:
#'   `value` (the released point, in the shape of a single record), `manifold`, `mechanism`, `n`, `center`, `radius`,
#'   `sensitivity`, `theorem`, `solver_error`, `scale`, `expected_error` (of the privacy noise, see above),
#'   `noise_error` (of the point drawn; the same unless it was moved towards the centre, see "Large noise", where
#'   `released` is that point and `errors` the expected errors by the mean's place), `clipped`
#'   (with `clipped`: a list of the released `share` of records outside, which may lie outside of 0 to 1, the `count`
#'   that it is of n, `epsilon` and the noise's `scale`), `size` (where the number of records is private: the released
#'   `count`, which may be negative, and the number of `points` N; `n` is `NA` then; `NULL` for `"kng"` unless it was
#'   asked for), `acceptance` (expected, of the
#'   sampler, from public quantities; `NA` where unknown), `target`, `calibration`, `chosen` (why this mechanism),
#'   `source` (as given, with what is known of releases; `NA` for none), `guarantee` (see [guarantee()]), `budget` (a
#'   list: the `event` for whoever keeps account by other means, and with a ledger `rule`, `entry`, `data_set`, `part`
#'   and `cost`). Very strong noise can carry the value farther out than doubles hold points of the space: then its
#'   projection, or else the centre, stands for it (post-processing), `beyond` is `TRUE`, and its region is that of
#'   the public ball.
#' @references
#' Reimherr, M., Bharath, K. and Soto, C. (2021). Differential Privacy over Riemannian Manifolds. *Advances in Neural
#' Information Processing Systems* 34.
#'
#' Mironov, I. (2012). On significance of the least significant bits for differential privacy. *Proceedings of the 2012
#' ACM Conference on Computer and Communications Security*, 650-661. \doi{10.1145/2382196.2382264}
#'
#' James, W. and Stein, C. (1961). Estimation with quadratic loss. *Proceedings of the Fourth Berkeley Symposium on
#' Mathematical Statistics and Probability* 1, 361-379.
#'
#' Reimherr, M. and Awan, J. (2019). KNG: the K-norm gradient mechanism. *Advances in Neural Information Processing
#' Systems* 32.
#'
#' Soto, C., Bharath, K., Reimherr, M. and Slavkovic, A. (2022). Shape and structure preserving differential privacy.
#' *Advances in Neural Information Processing Systems* 35.
#'
#' Geng, Q., Kairouz, P., Oh, S. and Viswanath, P. (2015). The staircase mechanism in differential privacy. *IEEE
#' Journal of Selected Topics in Signal Processing* 9, 1176-1184. \doi{10.1109/JSTSP.2015.2425831}
#'
#' Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private data analysis.
#' *Theory of Cryptography*, 265-284. \doi{10.1007/11681878_14}
#' @seealso [dp_ledger()], [guarantee()], [mean_sensitivity()], [expected_error()], [with_simulation()]
#' @examples
#' # epicentres near Fiji as directions; the centre is 20 S, 180 E, a round figure from the map
#' direction <- function(lat, long) {
#'   cbind(cos(lat) * cos(long), cos(lat) * sin(long), sin(lat))
#' }
#' x <- direction(quakes$lat * pi / 180, quakes$long * pi / 180)
#' fiji <- drop(direction(-20 * pi / 180, pi))
#' dp_mean(x, sphere(2), epsilon = 1, center = fiji, radius = 0.4, source = "round figures from a map")
#' dp_mean(x, sphere(2), epsilon = 1, center = fiji, radius = 0.4, mechanism = "laplace")
#' # a ball that is too small: nothing but the share of records outside shows it
#' dp_mean(x, sphere(2), epsilon = 1, center = fiji, radius = 0.1, clipped = 0.1)
#' # five matrices a person: whole persons are protected
#' dp_mean(wishart_spd[, , 1:500], spd(2), epsilon = 1, center = diag(2), radius = 1.5,
#'         unit = rep(1:100, each = 5))
#' # two groups: who is in which is private, and so are their sizes
#' scans <- data.frame(scan = mf_points(wishart_spd[, , 1:500], spd(2)), sex = rep(c("f", "m"), 250))
#' dp_mean(scan ~ sex, data = scans, epsilon = 2, center = diag(2), radius = 1.5,
#'         levels = list(sex = c("f", "m")))
#' # how many records there are is private as well
#' dp_mean(wishart_spd, spd(2), epsilon = 1, center = diag(2), radius = 1.5, neighbours = "add_remove")
#' @export
dp_mean <- function(x, M = manifold_of(x), epsilon = NULL, center, radius, ..., delta = 0, mechanism = "auto",
                    sigma = NULL, calibration = c("proven", "paper"), invalid = c("error", "center"),
                    timing = c("ordinary", "constant"), numerics = c("auto", "lattice", "real"), max_trials = NULL,
                    options = list(), clipped = NULL, variance = NULL, unit = NULL,
                    neighbours = c("replace", "add_remove"), by = NULL, levels = NULL, suppress = NULL, post = TRUE,
                    reduce = NULL, data = NULL, source = NULL, ledger = NULL, data_set = "default", part = NULL,
                    plan = NULL) {
  if (!is.null(plan)) list2env(planned_arguments(plan, names(match.call()), x), environment())
  asked <- asked_variables(x, if (!missing(M)) M, data, ...)
  if (!is.null(asked$M)) check_manifold(asked$M)
  given <- mean_input(x, asked$M, asked$data, unit, by, levels)
  x <- given$x
  M <- check_manifold(asked$M %||% manifold_of(x))
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(center = missing(center) && is.null(reduce), radius = missing(radius)))
  space <- mean_space(M, reduce, if (!missing(center)) center, x, timing)
  invalid <- check_choice(invalid, "invalid", c("error", "center"))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  groups <- if (is.null(given$names)) asked_groups(given$by, given$levels, suppress, x)
  private_n <- !replace || !is.null(groups)
  if (!is.null(groups)) x <- groups$x
  units <- mean_units(given$units, unit, x, least = !private_n)
  x <- units$x %||% x
  if (!is_chunks(x)) x <- plain_numbers(x)
  n <- record_count(M, x, least = !private_n && is.null(units))
  if (!is.null(units)) check_mean_units(units, n, timing, private_n)
  count <- units$count %||% n
  M <- space$M
  ask <- mean_ask(M, if (private_n) NA_real_ else count, epsilon, space$center, radius, delta, mechanism, sigma,
                  calibration, timing, numerics, max_trials, options, clipped, variance, post)
  ask[c("entry", "source")] <- list("dp_mean", stated_source(source, c(space$given, list(radius = radius))))
  ask$manifold <- M
  if (!is.null(ask$variance)) ask <- variance_ask(M, ask, ask$variance$epsilon, shape = TRUE)
  ask$reduce <- reduce
  ask$invalid <- invalid
  ask <- ask_where(ask, x, units, private_n, given$said)
  ask$assumptions <- c(ask$assumptions, space$said)
  if (!is.null(given$model)) ask <- shared_groups_ask(ask, x, given, suppress)
  records <- list(x = x, units = units, n = count, rows = n, groups = groups)
  release_asked(M, ask, records, replace, private_n, ledger, data_set, part)
}

# of groups at sites, of groups, of a public number of records, or of a private one
release_asked <- function(M, ask, records, replace, private_n, ledger, data_set, part) {
  if (!is.null(ask$names)) return(release_private(shared_groups_estimator, ask, records, ledger, data_set, part))
  if (!is.null(records$groups)) return(release_groups(M, ask, records, replace, ledger, data_set, part))
  if (!private_n) return(release_private(on_subspace(mean_estimator, ask$reduce), ask, records, ledger, data_set, part))
  sized <- on_subspace(sized_mean_estimator, ask$reduce)
  uncounted(release_private(sized, size_ask(M, ask), records, ledger, data_set, part))
}
