#' Private linear regression
#'
#' Fits a linear model with one or several responses and releases its coefficients with differential privacy. A record
#' is a row.
#'
#' @section Bounds:
#' All ranges are public and none is taken from the data. `bounds` is a list with a name for each variable of the
#' formula:
#' * a numeric predictor: `c(lower, upper)`, its range; values outside are moved to the nearer end, one by one and
#'   silently;
#' * a factor, character or logical predictor: its levels, the first being the reference; other values count as missing;
#' * a response: `c(center = , scale = )`, a public guess of its mean and standard deviation, and `limit` (how far from
#'   the centre a value may lie before it is moved) where one is known; or a range `c(lower, upper)`, of which the
#'   middle is the centre and a sixth of the width the scale.
#'
#' The better `center` and `scale` fit, the smaller the error, see "Wrong guesses"; privacy never depends on them.
#' Z-scores of the sample are data: a fit to columns that were standardised by their own mean and standard deviation is
#' private relative to the scaled rows, and a release whose columns come from [scale()] says so. `bounds = "sample"`
#' takes everything from the records, for comparison: labelled none.
#'
#' @section Splines and polynomials:
#' A predictor may be a basis of one variable, whose range is public and named for that variable: for
#' `bs(alcohol, 6) + pH` `bounds` has `alcohol` and `pH`.
#' * `bs(x, df, knots, degree, Boundary.knots)`: B-splines, as [splines::bs()] has them at the same knots;
#' * `ns(x, df, knots, Boundary.knots)`: natural cubic splines, as [splines::ns()];
#' * `poly(x, degree)`: Legendre polynomials, which are orthogonal over the public range and not, as those of
#'   [stats::poly()], over the records; `poly(x, degree, raw = TRUE)`: powers.
#'
#' `Boundary.knots` are the ends of the public range, or lie beyond them. `knots` (at most 100) are public numbers
#' within: numbers in the formula, made by `c()`, `seq()`, `:` and arithmetic, or a variable that isn't in `data`
#' nor elsewhere in the call,
#' which [guarantee()] names. With `df` knots are spaced evenly over the range, not at quantiles, which would be data.
#' `degree` is at most 10. Values beyond the range are moved to its ends before anything else. `explain()` tells the
#' knots; [predict()][predict.riemdp_lm] evaluates the same basis.
#'
#' B-splines are not negative and add up to 1, for which `"objective"` has noise and ridge of its own: with a single
#' `bs()` noise of one law for each basis function, however many there are. `"auto"` takes it. In simulations of a sine
#' (`bs(x, 6)`, epsilon = 1; 500, 3,000 and 20,000 records) the same method with noise for columns by themselves had
#' 2.7, 3.2 and 8 times the error. Its expected error is for variables that are spread evenly over their ranges and
#' independent; other methods have none to tell in advance. With `delta` > 0 `method = "newton"` may do better.
#'
#' @section Wrong guesses:
#' Where n is at least 100 and n epsilon at least 300 for each response, methods that `"auto"` may choose,
#' `"descent"`, `"boosted"` and `"theil_sen"` check the guess of each response first, by noisy counts of values far from
#' the centre (more than 1.75 scales: too many if some 24 %), to one side of it (by more than .7: 45 %) and very near it
#' (within .15: 40 %).
#' That costs the larger of 20/n and .005 epsilon (shared by the responses) of privacy loss a response (.02 of epsilon
#' at n epsilon = 1,000). Where the guess is found to be off, centre and scale are released by the exponential mechanism
#' from centres up to a million scales away and scales from a millionth to a million times the guess, for the larger of
#' 110/n and .03 epsilon (shared by the responses); the fit, its intervals and its expected error are then in units of
#' what was released, and with what is left of epsilon. In all it is epsilon.
#'
#' Measured at n = 1,000, epsilon = 1, one predictor, normal errors (250 fits each, standard errors .2): centres 3 to
#' 10,000 standard deviations off, scales 2 to 10,000 times too large or 10,000 times too small, mean errors 1.26 to
#' 1.47 times that of a good guess; the worst, a centre 1 standard deviation off with a scale 2.5 times too large, 1.6
#' times, since it often passes. It can't be much less: check and search leave .87 of epsilon. Skewed errors ask for a
#' scale that isn't too small: .7 of the right one mostly passes the check, and fits to gamma errors in such units had
#' 2.5 times the error. With a good guess the check's price adds some 4 % at n = 1,000. A guess that is wholly wrong
#' passes the check about once in a hundred thousand times, and a search goes wrong as rarely; then the fit is as
#' useless as the guess.
#'
#' A response whose standard deviation is made by its tail looks like one whose scale is guessed too large. The check
#' leaves such as the residual sugar of the wines ([red_wine]) alone: found windows follow the bulk, and fits in their
#' units have more error. Who knows mean and standard deviation, as of variables that were standardised by public
#' numbers, says `guess = "trusted"`: nothing is checked, and all of epsilon is the fit's (1,599 wines, four responses,
#' epsilon = 2: mean squared error .9279 checked, .9276 trusted, .9260 without privacy).
#'
#' With fewer records the search takes more: at n = 300 (400), normal and gamma errors, wrong guesses had 2.3 to 2.6
#' (1.8 to 1.9) times the error of a good one, and 40 to 350 times without a check; a good one paid 0 to 12 % (0 to 3 %)
#' for it. At n = 200 it would pay 27 to 53 %, and wrong ones 4 to 6 times: no check there.
#'
#' Ranges of up to three numeric predictors are checked likewise for `"objective"` and `"recentred"` (models without
#' bases), where n epsilon is at least 300 for each of them and of the responses: by noisy counts of the records in the
#' fullest window of some 30 % of the range (less where noise costs little) and of those that have the same value, for
#' the larger of 25/n and .005 epsilon (shared by them). Where two thirds lie in it, a narrower window is searched for
#' by the exponential mechanism (the larger of 100/n and .01 epsilon) and tried (90/n and .01 epsilon): records must lie
#' on both sides of its middle, and few far out. The fit is in units of it, and a row whose predictor lies z half widths
#' from its middle, z > 1, counts 1/z^2; print and [explain()] say which windows were found. What is estimated is then a
#' weighted fit, with weights that depend on predictors alone: the same line where means are linear, another one where
#' they aren't, from which least squares differs by more than `expected_error` tells. At n = 1,000, epsilon = 1, one
#' normal predictor and R-squared .9, public ranges of 8, 16 and 40 standard deviations had 5, 30 and 100 times less
#' mean excess error than with `guess = "trusted"` (medians 12, 180 and 1,700 times); with three predictors, n = 3,000
#' and R-squared .3, 8 and 20 of them 2 and 16 times less. The search takes a fifth of epsilon there. Filled ranges pay
#' some 5 % of error for the check at n = 1,000, those of six standard deviations 10 %. In 1 % of fits of narrow normal
#' predictors the range stays as it is, in 5 to 20 % of skewed ones.
#'
#' A guess that is off by more than is searched gives a warning of class `riemdp_warning_guess`, a function of the
#' release. So do responses most of which are the same value, for which no scale can be told: the centre is found, the
#' scale stays.
#'
#' Below these n epsilon, with `guess = "trusted"`, and for `"huber"`, `"kng"` and `"paper"`, which are there to
#' compare, the guess is taken as it is. There a wrong guess costs much and expected errors and intervals, which believe
#' it, say too little: a scale k times too large multiplies the error by about k squared, responses further from the
#' centre than some ten scales may never be reached. `"recentred"` alone corrects itself, by the released scale of its
#' residuals: units shrink and grow with it, up to a million times.
#'
#' @section At sites:
#' `data` may be [sites()] that add noise (`shares = TRUE` or `secure = TRUE`), whose policies have `columns`
#' ([site_policy()]). Rows stay there, and one sum is asked for, of products of features and responses: `"adassp"`, with
#' `delta` > 0. It has normal noise alike in all products and no eigenvalue of its own; the ridge follows from the
#' released matrix. The terms of the formula are columns and products of them, `.` stands for all that `bounds` names,
#' and the guess of responses isn't checked.
#'
#' @section Methods:
#' * `"objective"`: objective perturbation. A random linear term tilts a Huber-like loss with a ridge; gradient and
#'   curvature of a record share one budget, and the noise is the smaller of two laws. Ridge, threshold and the budget's
#'   split follow from n, epsilon, the number of predictors and of responses: by a closed form, or by minimising a
#'   public error model where that promises 15 % less error (`rule = "closed"`, `"model"` force one). Pure.
#' * `"recentred"`: a rough fit and a scale for its residuals by the exponential mechanism, again if the scale is small,
#'   and a fit of the scaled residuals with what is left. For a high R-squared; pure. Where rough fit and scale cost at
#'   most a tenth of epsilon (n epsilon of about 1,000 with one predictor and one response), `"auto"` takes it as an
#'   insurance. On 30 made sets of data, with normal, skewed and heavy-tailed errors, its mean error over that of
#'   `"objective"` was 1.4 at R-squared 0, 1.3 at .3, 1.4 at .7, .15 at .95 and .08 at .99 (geometric means over the
#'   sets), with `r_squared` of .7 or more 1.4, 1.25, 1.0, .09 and .04; at worst 6.6, for lognormal errors at R-squared
#'   .7.
#' * `"huber"`: objective perturbation of Huber's loss with plain accounting, to compare. Pure.
#' * `"statistics"`: sums of squares and products with K-norm noise, then a ridge regression. Pure.
#' * `"adassp"`: the same with normal noise and a ridge chosen by a private eigenvalue (Wang 2018); needs `delta` > 0.
#'   How much of the budget each has follows from a public error model (in a simulation with 50 predictors a quarter
#'   less error than by fixed shares).
#' * `"boosted"`: rounds of `"adassp"` (Tang, Aydore, Kearns, Rho, Roth, Wang, Wang and Wu 2023): squares and least
#'   eigenvalue once, then up to eight times the sums of features and cut residuals of what was released so far. Number
#'   of rounds, cuts and shares of the budget have the least error by a public model, in geometric mean over predictors
#'   as it has them and with a quarter of that variance; `r_squared` moves them: told .9 where it is, errors were 3 to
#'   7 times less than with .3. Needs `delta` > 0. In six simulations (even, narrow, correlated and skewed predictors,
#'   1,000 to 5,000 records, told nothing of R-squared) the excess error of `"adassp"` was 2 to 45 times its own, its
#'   own 4 to 100 times that of `"newton"` and 1.3 to 5 times that of `"gaussian"`; so `"auto"` never takes it, whose
#'   choice by expected errors for even predictors it hardly ever was. Beyond those its expected error says too little,
#'   as that of `"adassp"` does: measured 1.3 to 3 times that where predictors have half the model's spread, 7 where
#'   they fill a third of their range, and 80 where they fill a tenth or two of them nearly coincide. No intervals.
#' * `"newton"`: eight steps of Newton's method with normal noise on a lattice, in features that follow the released
#'   centre, spread and second moments of the predictors; pulls are cut in the residual and in the features
#'   (Avella-Medina, Bradshaw and Loh 2023, from whom it differs in the cuts, in that the residuals' scale comes with
#'   each step at no cost, and in that steps are averaged by their noise). Needs `delta` > 0. Where noise is so large
#'   that the fit says little, coefficients are shortened. With `guess = "trusted"` its promise is about what the
#'   computer does. Where released second moments don't tell how steeply all pulls fall (rare levels, strong
#'   correlations, few records) steps may end on the way: [explain()] says so, and there are no intervals. `"auto"`
#'   takes it where its expected error is at most .7 of all others'.
#' * `"descent"`: the same steps with nothing released of the predictors: gradient descent in features on public scales,
#'   for predictors that are known to be spread about evenly over their ranges. Beside `"newton"` it had .5 to 1.2 times
#'   the excess error with such (median .8), up to 2,300 times with others. No intervals; `"auto"` never takes it.
#' * `"gaussian"`: objective perturbation with normal noise (Kifer, Smith and Thakurta 2012; Redberg, Koskela and Wang
#'   2023), for several responses and replacement of a record, whose gradient and curvature share a budget. Features are
#'   the predictors, moved into \[-1, 1\], times root 6; a row whose features are longer than the root of their number
#'   counts so much less. Needs `delta` > 0; the promise is one \eqn{(\epsilon, \delta)}, no \eqn{\mu}-Gaussian one. For
#'   many coefficients and few records: in eight simulations with 10 and 40 predictors, 25 to 50 records for each and
#'   epsilon = 1, in which `"auto"` takes it, errors of `"newton"` were .7 to 4.4 times its own (geometric mean 1.5), of
#'   `"objective"` 1.06 to 2.6 times (1.4); with more records `"newton"` is better unless predictors are strongly
#'   correlated. With one predictor and delta = 1e-6 `"objective"` had a quarter.
#' * `"theil_sen"`: for one predictor and one response, medians of what pairs of records predict at two places, by the
#'   exponential mechanism from a public grid (Alabi, McMillan, Sarathy, Smith and Vadhan 2022); pairs are those of up
#'   to 50 matchings of all records by lot. Pure, drawn by integer arithmetic. For predictors that fill a small part of
#'   their range while R-squared is high: at n = 1,000, epsilon = 1 and R-squared .9, with normal predictors of which a
#'   standard deviation is a sixteenth or an eighth of the range, it had .3 to .4 times the mean excess error of
#'   `"auto"`, whose search for the predictor's window now and then fails, and about its median; with even ones and
#'   normal errors .5 to 6 times. It is after medians: skewed errors move it from least squares for good, gamma errors
#'   with skewness 1 by .02 to .04 of their variance. So `"auto"` never takes it. No intervals, and standard errors are
#'   `NA`.
#' * `"output"`: noise on the minimiser of Huber's loss with a ridge. Pure.
#' * `"kng"`: density proportional to exp(-rate N(gradient)) on a public ball, N a norm of the clipped gradient with a
#'   ridge; by rejection, so for at most three coefficients and n epsilon up to about 40, less with many records. Pure.
#' * `"paper"`: the mechanism of Kulkarni and Soto (2025) as published; never labelled private.
#' * `"auto"`: the least expected error at the public numbers, see [dp_lm_plan()], which also says why.
#'
#' `r_squared` is a public guess and moves the choice, constants of `"boosted"`, and shares of `"recentred"`, only; from
#' .7 on its rough fits get more.
#'
#' @section Units:
#' With `unit` each unit counts with the average of what its rows contribute: of their clipped losses (`"objective"`,
#' `"recentred"`, `"huber"`, `"gaussian"`, `"output"`, `"kng"`), of their cut pulls (`"newton"`, `"descent"`) or of
#' their products (`"statistics"`, `"adassp"`, `"boosted"`), and of the counts by which guesses and scales are checked.
#' Each row is moved into the bounds by itself, so a unit's contribution lies wherever a row's lies, and the number of
#' units takes the place of n. What is fitted is the regression in which each row weighs 1 over how many its unit has
#' (rounded down to a multiple of \eqn{2^{-30}}): a unit with many rows weighs as much as one with few. The number of
#' units is public, unless `neighbours` is `"add_remove"`; how many rows each has is not, and is not released.
#'
#' For `"objective"`, `"huber"`, `"recentred"` and `"gaussian"` that costs something: curvatures of a unit's rows may
#' add up in more directions than one row's, so the ridge grows (`proofs/linear-regression.md`, section 9, says by how
#' much); one row a unit is no exception, since how many rows units have isn't known to the plan. All other methods draw
#' with the same constants as for rows at equal n. `dp_lm_plan(unit = TRUE)` says what all of them cost. Rows without a
#' unit (`NA`) and levels without a row are refused before anything is spent: a check on the curator's side. The column
#' of units is no variable of the formula. `"paper"` and `"theil_sen"` are refused. For tables in chunks see [chunks()],
#' "Units".
#'
#' @section Weights and subsets:
#' `weights` and `subset` are one-sided formulas of one row, of the same functions as terms: `weights = ~ hours`,
#' `subset = ~ age >= 18 & sex == "f"`. A weight has public bounds `c(0, largest)` under its name in `bounds`; it is
#' moved there and divided by the largest, and a missing one is 0. A row for which the condition isn't true, or missing,
#' counts nothing. What is fitted is the weighted loss (of [stats::lm()] with `weights` moved into the bounds, but for
#' the cut of residuals), whose ridge is as for weights that are all the largest: with small weights and small subsets
#' coefficients are shrunk the more. Which records are in the subset is as private as all else about them, so n is still
#' the number of all records, and none of them becomes known by the subset's size, which isn't released. Neither are
#' therefore the expected error and standard errors known; `confint(type = "bound")` holds. The guess of responses is
#' taken as it is. For `"objective"`, which `"auto"` takes, `"huber"`, `"gaussian"` and `"output"`, without chunks.
#' Where the condition is about public facts alone, as a year, take these rows before: that costs nothing and tells n.
#'
#' @section A private number of records:
#' With `neighbours = "add_remove"` what is protected is whether a record (a unit) is there at all. A noisy number of
#' records is released first, with a twentieth of `epsilon`, and the fit, planned for that number N, has the rest: where
#' there are fewer records those that are missing count nothing, where there are more some are left out by lot. Given N
#' the noise is that of replacing a record, so whoever replaces one is protected as well, with less than `epsilon`. A
#' proof for one record more or less alone could do with less noise. In simulations with one and three predictors the
#' error (root mean square) was 1.3 times that for the same, public number at n epsilon of 100, 1.1 at 500, 1.08 at
#' 1,000 and 1.07 at 5,000. [dp_lm_plan()] at a guess of the number and .95 `epsilon` says what to expect. Not for
#' `"kng"`, `"paper"`, chunks, or variables outside of `data`. Proof: section 16 of the file
#' `proofs/mean-sensitivity.md`.
#'
#' @section What is promised:
#' Errors depend on public facts: the formula, names of columns, lengths, bounds, budget. A row with a missing, NaN or
#' infinite cell counts with a fixed contribution, and n stays as it is. So does a cell that isn't what its column is
#' asked for: what has a range is read as a number, what has levels as text, cell by cell, whatever class the column has
#' (the rules are those of [chunks()], "Columns of tables"). The object holds coefficients, public numbers and the
#' formula, no record, no residual and no fitted value, so [predict()][predict.riemdp_lm] needs `newdata`.
#'
#' Terms of the formula must be functions of one row: arithmetic, comparisons, `exp()`, `log()`, `ifelse()`,
#' `as.numeric()`, `as.character()`, `factor()` and the like, and the bases of "Splines and polynomials"; `scale(x)` is
#' refused, and so is the order or code of text. Differences of dates are days, of times seconds; `as.numeric(gap, units
#' = "hours")` reads a time difference. Single values that the formula names and `data` doesn't have are constants,
#' public by assumption: [guarantee()] names them. Proofs: the file `proofs/linear-regression.md` of the installed
#' package.
#'
#' @param formula as in [stats::lm()], with an intercept; `cbind(y1, y2) ~ x` for several responses.
#' @param data a data frame; its number of rows is public. Or data frames in [chunks()], for all methods but
#'   `"theil_sen"`, `"kng"` and `"paper"`: one pass over them for statistics, some 2 to 10 for the others.
#' @param epsilon,delta privacy budget; `delta` only for `"adassp"`, `"boosted"`, `"newton"`, `"descent"` and
#'   `"gaussian"`.
#' @param bounds public bounds, see below.
#' @param method one of the methods below.
#' @param ... nothing; later arguments must be named.
#' @param r_squared public guess of the share of variance that the predictors explain, from 0 to below 1; it never
#'   affects privacy.
#' @param rule how `"objective"` and `"recentred"` get their constants.
#' @param guess `"checked"` or `"trusted"`: whether the guess of the responses, and predictors' ranges, are checked
#'   first, see "Wrong guesses".
#' @param unit `NULL`: one record is one row, and nobody who has several rows is protected as a whole. Else which unit,
#'   a person say, each row is of: a vector with an element for each row (numbers, text, dates; the levels of a factor
#'   are all its units), or the name of a column of `data`. What is protected then is one unit, replaced with all its
#'   rows; see "Units".
#' @param weights,subset `NULL`, or one-sided formulas of one row: how much it counts, and whether it does; see "Weights
#'   and subsets".
#' @param ledger,data_set,part a budget to take the price from, as in [dp_mean()].
#' @inheritParams dp_mean
#' @return An object of class `riemdp_lm` and [riemdp_release]: `value` (coefficients on the variables' scales: a
#'   vector, or a matrix with a column for each response), `formula`, `bounds` (of responses the centre and scale in
#'   use, released where the guess was off), `method`, `n` (of records or units), `unit`, `epsilon`, `delta` (under the
#'   label `none`: `nominal_epsilon`, `nominal_delta`), `expected_error` (excess of the mean squared error over least
#'   squares, per response and in units of its squared `scale` in use, by the public model; NA where the guess is off by
#'   more than is searched, with `weights` or `subset`, and of splines and polynomials by other methods than
#'   `"objective"`), `chosen`, `details` (public constants, and what else was released: `guess`, a data frame of
#'   the centres and scales in use, `windows`, one of the ranges of predictors that were checked, `left`, what checks
#'   and searches left of epsilon for the fit), `source`,
#'   `guarantee` (see [guarantee()]), `budget`; with a private number of records `n` is `NA`, and `size` a list of the
#'   released `count`, of how many `points` the fit was planned for, the `scale` of the count's noise and its `epsilon`.
#' @references
#' Chaudhuri, K., Monteleoni, C. and Sarwate, A. D. (2011). Differentially private empirical risk minimization. *Journal
#' of Machine Learning Research* 12, 1069-1109. <https://www.jmlr.org/papers/v12/chaudhuri11a.html>
#'
#' Kifer, D., Smith, A. and Thakurta, A. (2012). Private convex empirical risk minimization and high-dimensional
#' regression. *Conference on Learning Theory* 25. <https://proceedings.mlr.press/v23/kifer12.html>
#'
#' Redberg, R., Koskela, A. and Wang, Y.-X. (2023). Improving the privacy and practicality of objective perturbation for
#' differentially private linear learners. *Advances in Neural Information Processing Systems* 36.
#' \doi{10.48550/arXiv.2401.00583}
#'
#' Awan, J. and Slavkovic, A. (2021). Structure and sensitivity in differential privacy: comparing K-norm mechanisms.
#' *Journal of the American Statistical Association* 116, 935-954. \doi{10.1080/01621459.2020.1773831}
#'
#' Alabi, D., McMillan, A., Sarathy, J., Smith, A. and Vadhan, S. (2022). Differentially private simple linear
#' regression. *Proceedings on Privacy Enhancing Technologies* 2022(2), 184-204. \doi{10.48550/arXiv.2007.05157}
#'
#' Wang, Y.-X. (2018). Revisiting differentially private linear regression. *Uncertainty in Artificial Intelligence* 34.
#' \doi{10.48550/arXiv.1803.02596}
#'
#' Tang, S., Aydore, S., Kearns, M., Rho, S., Roth, A., Wang, Y., Wang, Y.-X. and Wu, Z. S. (2023). Improved
#' differentially private regression via gradient boosting. \doi{10.48550/arXiv.2303.03451}
#'
#' Avella-Medina, M., Bradshaw, C. and Loh, P.-L. (2023). Differentially private inference via noisy optimization.
#' *Annals of Statistics* 51, 2067-2092. \doi{10.48550/arXiv.2103.11003}
#'
#' Kulkarni, A. and Soto, C. (2025). Differentially private geodesic and linear regression.
#' \doi{10.48550/arXiv.2504.11304}
#'
#' de Boor, C. (1978). *A Practical Guide to Splines*. Springer. \doi{10.1007/978-1-4612-6333-3}
#' @seealso [predict.riemdp_lm()], [dp_lm_plan()], [dp_ledger()], [guarantee()]
#' @examples
#' # ranges by what wines are like, not by these wines
#' bounds <- list(alcohol = c(8, 14), density = c(center = 0.997, scale = 0.002),
#'                pH = c(center = 3.3, scale = 0.15))
#' fit <- dp_lm(cbind(density, pH) ~ alcohol, red_wine, epsilon = 1, bounds = bounds)
#' fit
#' predict(fit, data.frame(alcohol = c(9, 12)))
#' # a curve with public knots
#' curve <- dp_lm(density ~ bs(alcohol, knots = c(9.5, 10.5, 12)), red_wine, epsilon = 1,
#'                bounds = bounds[1:2])
#' predict(curve, data.frame(alcohol = 9:13), interval = "noise")
#' # which wines are sweet stays private
#' dp_lm(density ~ alcohol, red_wine, epsilon = 1, bounds = bounds[1:2], subset = ~ residual_sugar < 3)
#' # five rows a person: whole persons are protected
#' dp_lm(density ~ alcohol, red_wine[1:1000, ], epsilon = 1, bounds = bounds[1:2],
#'       unit = rep(1:200, each = 5))
#' @export
dp_lm <- function(formula, data = NULL, epsilon, delta = 0, bounds, ...,
                  method = c("auto", "objective", "recentred", "huber", "statistics", "adassp", "boosted", "newton",
                             "descent", "gaussian", "theil_sen", "output", "kng", "paper"),
                  r_squared = 0.3, rule = c("auto", "model", "closed"), guess = c("checked", "trusted"), unit = NULL,
                  weights = NULL, subset = NULL, neighbours = c("replace", "add_remove"), source = NULL, ledger = NULL,
                  data_set = "default", part = NULL) {
  check_no_more(...)
  if (!is.null(ledger)) check_ledger(ledger)
  check_given(c(formula = missing(formula), epsilon = missing(epsilon), bounds = missing(bounds)))
  replace <- check_choice(neighbours, "neighbours", c("replace", "add_remove")) == "replace"
  check_whole_rows(data, unit, replace)
  given <- with_units(unit, data, "data", least = replace)
  data <- given$x
  chunked <- is_chunks(data)
  check_fit_size(replace, data, method, identical(bounds, "sample"))
  names <- fit_names(data, bounds)
  env <- environment(formula) %||% globalenv()
  spec <- with_counts(linear_terms(formula, names), weights, subset, names, env, chunked)
  from_sample <- identical(bounds, "sample")
  if (chunked && from_sample) {
    abort_riemdp("unsupported",
                 "for records in chunks `bounds` must be given: bounds from the sample need all records at once.")
  }
  wants <- rep("", length(spec$predictors))
  if (!from_sample) {
    public <- linear_bounds(spec, bounds)
    wants <- predictor_types(spec, public)
  }
  values <- if (chunked) {
    fit_variables(spec, names, data, env)
  } else {
    linear_values(spec, data, env, wants, least = replace, units = given$units,
                  most = weight_bound(spec, bounds))
  }
  if (from_sample) public <- sample_bounds(spec, values)
  spec$constants <- values$constants
  columns <- linear_columns(spec, public)
  shares <- fit_shares(given$units, values$n, method, !replace)
  ask <- linear_ask(counted(shares, values$n), length(columns), length(spec$responses), epsilon, delta, method,
                    r_squared, rule, guess, unit_name(given$units, data))
  if (chunked && ask$method != "auto") linear_in_chunks(ask$method)
  ask$weighted <- length(spec$counts) > 0
  ask$trusted <- ask$trusted || ask$weighted # its check counts rows
  ask$source <- stated_source(source %||% if (from_sample) "the records")
  ask$spec <- spec
  ask$bounds <- public
  ask$columns <- columns
  ask$ranged <- ranged_columns(columns)
  ask$simplex <- linear_simplex(spec, columns, public)
  ask$reasons <- if (from_sample) "the bounds are taken from the records"
  ask$assumptions <- c(if (values$scaled) SCALED, constants_said(c(values$constants, basis_constants(spec))),
                       if (chunked) chunk_assumptions(data))
  if (chunked) ask <- shared_lm(ask, data)
  records <- list(data = if (chunked) data, names = names, values = values, shares = shares, of = given$units$of,
                  n = counted(shares, values$n))
  fit <- release_fit(linear_estimator, sized_linear_estimator(), replace, ask, records,
                     c("adassp", "boosted", "newton", "descent", "gaussian"), ledger, data_set, part)
  warn_guess(fit)
  fit
}

# what may stand in a formula: of sites nothing is known but what `bounds` names
fit_names <- function(data, bounds) {
  if (at_sites(data)) names(bounds) else if (is_chunks(data)) chunk_names(data) else names(data)
}

fit_variables <- function(spec, names, data, env) {
  if (at_sites(data)) check_site_terms(spec)
  chunk_variables(c(spec$responses, spec$predictors), names, data, env)
}

linear_estimator <- list(
  entry = function(plan, ask) entry_words("dp_lm", plan$method, ask$unit),
  parts = c(method = "text", error = "number", chosen = "text"),
  plan = function(ask) {
    plan <- plan_linear(ask)
    plan$guarantee <- of_units(linear_promise(plan, ask$reasons, ask$assumptions), ask$unit)
    plan
  },
  ready = function(records, plan, ask) {
    if (!is.null(ask$shares)) check_policies(records$data, list(shared_request(plan$shared, plan$shared$about)))
    records
  },
  draw = function(records, plan, ask, budget) {
    if (!is.null(ask$shares)) return(release_shared_lm(records$data, plan, ask))
    # a guess is checked before responses are shortened
    reach <- if (!is.null(plan$check)) Inf else plan$reach %||% REACH
    numbers <- if (is_chunks(records$data)) linear_chunks(records$data, ask$spec, ask$columns, ask$bounds, reach,
                                                          records$names) else
      linear_records(ask$columns, ask$bounds, records$values, !isFALSE(plan$clip), reach)
    shares <- counted_shares(records$shares, records$values$counts, records$values$n)
    numbers <- shared_numbers(numbers, shares, is_chunks(records$data))
    release_linear(numbers$x, numbers$y, plan, ask)
  },
  answer = function(out, plan, ask, budget) {
    public <- ask$bounds
    own <- c("error", "guarantee", "method", "chosen", "table", "clip")
    details <- c(out$plan[setdiff(names(out$plan), own)], out$details, list(left = out$left))
    if (!is.null(out$guess)) {
      details$guess <- guess_told(out$guess, public)
      public$y[c("center", "scale"), ] <- t(details$guess[c("center", "scale")])
    }
    if (!is.null(out$windows)) details$windows <- windows_told(out$windows, ask$columns)
    new_release(
      raw_coefficients(out$b, ask$columns, public, names(ask$spec$responses)), "riemdp_lm",
      formula = ask$spec$formula, spec = ask$spec, bounds = public, columns = ask$columns, method = plan$method,
      n = out$n %||% ask$n, unit = ask$unit, epsilon = ask$total %||% ask$epsilon, delta = ask$delta,
      r_squared = ask$r_squared,
      expected_error = out$error %||% out$plan$error, constant_error = public_guess(ask)$constant, chosen = plan$chosen,
      table = plan$table, scaled_coefficients = out$b, details = details, budget = budget, guarantee = plan$guarantee
    )
  }
)

# features and responses with the rows' shares
shared_numbers <- function(numbers, shares, chunked = FALSE) {
  if (!is.null(shares) && !chunked) numbers <- lapply(numbers, replaced_columns, shares == 0)
  numbers$x <- with_shares(numbers$x, shares)
  numbers
}

# a row that counts nothing is as one that is missing
replaced_columns <- function(a, which) {
  a[, which] <- 0
  a
}

# the number of records is private: its noisy value is released first
sized_linear_estimator <- function(estimator = linear_estimator) sized_fit(estimator, function(records, points) {
  values <- records$values
  records$shares <- taken_shares(values$n, points, records$shares, records$of)
  if (values$n == 0) { # a row of which nothing is known, and which counts nothing
    missing <- function(columns) lapply(columns, function(v) NA_real_)
    records$values <- list(x = missing(values$x), y = missing(values$y), n = 1)
    records$shares <- structure(0, units = points)
  }
  records
})

linear_ask <- function(n, d, q, epsilon, delta, method, r_squared, rule, guess = "checked", unit = NULL) {
  methods <- c("auto", names(linear_methods())) # as dp_lm() has them
  r_squared <- check_number(r_squared, "r_squared", least = 0, most = 1)
  if (r_squared > 0.999) abort_riemdp("argument", "`r_squared` must be from 0 to .999.")
  if ((d + 1) * q > 500) abort_riemdp("shape", "there may be at most 500 coefficients.")
  list(n = as.double(n), d = as.double(d), q = as.double(q), epsilon = fit_epsilon(epsilon), delta = check_delta(delta),
       r_squared = r_squared,
       method = check_choice(if (identical(method, methods)) "auto" else method, "method", methods),
       rule = check_choice(rule, "rule", c("auto", "model", "closed")),
       trusted = check_choice(guess, "guess", c("checked", "trusted")) == "trusted", unit = unit, weighted = FALSE)
}

fit_epsilon <- function(epsilon) {
  epsilon <- check_number(epsilon, "epsilon", positive = TRUE)
  if (epsilon < 1e-6 || epsilon > 1e3) abort_riemdp("argument", "`epsilon` must be between 1e-6 and 1000.")
  epsilon
}

linear_promise <- function(plan, reasons = NULL, assumptions = NULL) {
  g <- plan$guarantee
  g$reasons <- c(g$reasons, reasons)
  promise_of(g, c("bounds, guesses and the formula are public; the number of records is public", assumptions),
             numerics = g$numerics %||% "real-valued")
}

plan_linear_one <- function(ask, name) {
  m <- linear_methods()[[name]]
  check <- guess_prices(ask, m)
  left <- guess_left(ask, check, 0)
  why <- weights_why(ask, name) %||% m$unsupported(left) %||%
    if (!is.null(check)) m$unsupported(guess_left(ask, check, ask$q, every_window(check$window)))
  if (!is.null(why)) abort_riemdp("unsupported", why)
  plan <- c(m$plan(left), method = name)
  if (ask$weighted) plan$rule$weighted <- TRUE
  # models are for a column each, and for rows that count alike
  if (ask$weighted || (!is.null(ask$simplex) && name != "objective")) plan$error <- NA_real_
  if (!is.null(check)) { # together with the check the fit costs what was asked for, and is no longer normal noise alone
    plan$check <- check
    if (!is.null(check$window)) plan$check$window$half <- window_half(ask, plan$error)
    plan$guarantee$epsilon <- ask$epsilon
    plan$guarantee[c("mu", "mu_slack")] <- NULL
  }
  plan
}

# methods whose plan and estimate don't rest on how many rows there are of full weight
WEIGHTED_METHODS <- c("objective", "huber", "output", "gaussian")

weights_why <- function(ask, name) {
  if (ask$weighted && !name %in% WEIGHTED_METHODS) {
    sprintf("method = \"%s\" is not available with `weights` or `subset`: it takes the number of rows for their sum.",
            name)
  }
}

plan_linear <- function(ask) {
  if (!is.null(ask$shares)) return(plan_shared_lm(ask))
  if (ask$method != "auto") {
    plan <- plan_linear_one(ask, ask$method)
    plan$chosen <- "asked for"
    return(plan)
  }
  if (ask$weighted || !is.null(ask$simplex)) {
    plan <- plan_linear_one(ask, "objective")
    plan$chosen <- paste("the method for", if (ask$weighted) "rows that don't count alike" else
      "splines and polynomials, whose noise or error is made for them")
    plan$table <- data.frame(method = "objective", expected_error = plan$error)
    return(plan)
  }
  names <- names(Filter(function(m) m$auto, linear_methods()))
  plans <- lapply(stats::setNames(nm = names),
                  function(name) tryCatch(plan_linear_one(ask, name), riemdp_error = function(e) conditionMessage(e)))
  able <- Filter(is.list, plans)
  error <- vapply(able, `[[`, 0, "error")
  worth <- vapply(names(error), function(name) linear_methods()[[name]]$worth %||% 1, 0)
  best <- names(error)[which.min(error / worth)]
  insured <- best == "objective" && !is.null(able$recentred) && insured_fit(ask)
  if (insured) best <- "recentred"
  plan <- able[[best]]
  plan$chosen <- paste0(
    if (insured) "insurance against a high R-squared, which costs little here: " else "smallest expected error: ",
    paste(sprintf("%s %.4g", names(error), error), collapse = ", "),
    if (length(able) < length(plans)) paste0("; not available here: ",
                                             paste(setdiff(names(plans), names(able)), collapse = ", ")))
  plan$table <- data.frame(method = names(error), expected_error = unname(error))
  plan
}

# "recentred" insures against a high R-squared that nobody guessed: it is taken where a useful rough fit and its scale
# are cheap
insured_fit <- function(ask) {
  share <- recentring_shares(ask)
  share$first + share$scale <= PREMIUM[["share"]] && share$error <= PREMIUM[["error"]]
}

#' Compare methods of private linear regression before data are touched
#'
#' What [dp_lm()] would do with so many records, predictors and responses, from public numbers alone: the expected
#' excess of the mean squared error over least squares, per response and in units of its squared public scale, if the
#' guess of responses is about right; its check ("Wrong guesses" in [dp_lm()]) is counted in. A constant fit has
#' `signal` excess, so a method with an expected error near that says nothing.
#'
#' @param n number of records, with `unit = TRUE` of units.
#' @param d number of predictors (columns of the model without the intercept).
#' @param q number of responses.
#' @param epsilon,delta,r_squared,rule,guess as in [dp_lm()].
#' @param unit whether the fit is to be one with `unit`, which protects n units with all their rows.
#' @param x a plan.
#' @param ... not used.
#' @return A data frame of class `riemdp_lm_plan` with a row for each method: `method`, `expected_error` at `r_squared`,
#'   `high` (at \eqn{R^2 = .95}), `label` (of a release with public bounds, see [guarantee()]), `chosen`, `why` (why not
#'   available), `population` (why public numbers rule out an interval about the population, `""` where they don't; what
#'   is released may still do) and `residual_epsilon` (what [dp_residual_scale()] must have of epsilon for one, beside
#'   the fit's; 0 where any will do; if the guess of responses holds). `print()` returns it invisibly, `plot()` draws
#'   the errors.
#' @examples
#' dp_lm_plan(n = 1000, d = 2, epsilon = 1)
#' # 200 persons with any number of rows each
#' dp_lm_plan(n = 200, d = 2, epsilon = 1, unit = TRUE)
#' @export
dp_lm_plan <- function(n, d, q = 1, epsilon, delta = 0, r_squared = 0.3, rule = c("auto", "model", "closed"),
                       guess = c("checked", "trusted"), unit = FALSE) {
  check_given(c(n = missing(n), d = missing(d), epsilon = missing(epsilon)))
  ask <- linear_ask(check_count(n, "n", most = 1e9), check_count(d, "d", 0, 500), check_count(q, "q", most = 500),
                    epsilon, delta, "auto", r_squared, rule, guess, if (check_flag(unit, "unit")) "unit")
  chosen <- plan_linear(ask)
  high <- ask
  high$r_squared <- 0.95
  rows <- lapply(names(linear_methods()), function(name) {
    one <- function(ask) tryCatch(plan_linear_one(ask, name), riemdp_error = function(e) conditionMessage(e))
    plan <- one(ask)
    if (!is.list(plan)) {
      return(data.frame(method = name, expected_error = NA_real_, high = NA_real_, label = NA_character_,
                        chosen = FALSE, why = plan, population_columns(plan, NULL)))
    }
    data.frame(method = name, expected_error = plan$error, high = one(high)$error, label = linear_promise(plan)$label,
               chosen = name == chosen$method, why = "", line_population(ask, plan))
  })
  out <- do.call(rbind, rows)
  structure(out, ask = ask, reason = chosen$chosen, signal = public_guess(ask)$constant, check = chosen$check,
            class = c("riemdp_lm_plan", "data.frame"))
}

#' @export
`[.riemdp_lm_plan` <- function(x, ...) part_of_plan(x, NextMethod())
