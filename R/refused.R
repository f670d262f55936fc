# What fitted models and numbers answer and a private release can't: said by a classed error with its reason, not by R's
# default methods, which would answer NULL, look for records or fail without a class.

no_records <- function(what) {
  abort_riemdp("unsupported", sprintf(paste("%s a function of the records: a release holds none, and publishing it",
                                            "would not be private."), what))
}

#' @importFrom stats anova
#' @export
anova.riemdp_release <- function(object, ...) no_records("an analysis of variance is")

#' @importFrom stats logLik
#' @export
logLik.riemdp_release <- function(object, ...) no_records("the log-likelihood (and with it AIC and BIC) is")

#' @importFrom stats deviance
#' @export
deviance.riemdp_release <- function(object, ...) no_records("the deviance is")

#' @importFrom stats sigma
#' @export
sigma.riemdp_release <- function(object, ...) no_records("the residual standard deviation is")

#' @importFrom stats df.residual
#' @export
df.residual.riemdp_release <- function(object, ...) no_records("residuals, which degrees of freedom are about, are")

#' @export
hatvalues.riemdp_release <- function(model, ...) no_records("leverage is")

#' @importFrom stats influence
#' @export
influence.riemdp_release <- function(model, ...) no_records("influence is")

#' @importFrom stats fitted
#' @export
fitted.riemdp_release <- function(object, ...) no_records("a fitted value is")

#' @importFrom stats residuals
#' @export
residuals.riemdp_release <- function(object, ...) no_records("a residual is")

#' @importFrom stats model.frame
#' @export
model.frame.riemdp_release <- function(formula, ...) no_records("the model frame is")

#' @importFrom stats model.matrix
#' @export
model.matrix.riemdp_release <- function(object, ...) no_records("the model matrix is")

#' @export
augment.riemdp_release <- function(x, ...) no_records("each record's row of augment() is")

#' @importFrom stats vcov
#' @export
vcov.riemdp_release <- function(object, ...) {
  abort_riemdp("unsupported", "there is no covariance of this release: explain() says what is known of its noise.")
}

#' @export
confint.riemdp_release <- function(object, parm, level = 0.95, ...) {
  abort_riemdp("unsupported",
               "no region is known for a release of this kind: explain() says what is known of its noise.")
}

# the answer of a release that is a point, or is one number for each coefficient
#' @importFrom stats coef
#' @export
coef.riemdp_release <- function(object, ...) {
  value <- object$value
  if ((is.numeric(value) || is.complex(value)) && !inherits(object, "riemdp_test")) return(value)
  abort_riemdp("unsupported", "a release of this kind has no coefficients: its answer is `$value`.")
}

# of records, or of units where the unit is what is protected
#' @importFrom stats nobs
#' @export
nobs.riemdp_release <- function(object, ...) {
  n <- unclass(object)$n
  if (is.numeric(n) && length(n) == 1 && is.finite(n)) return(n)
  abort_riemdp("unsupported",
               paste("the number of records of this release isn't public, or there is one for each group: what was",
                     "released of it is in summary()."))
}

#' @importFrom stats update
#' @export
update.riemdp_release <- function(object, ...) {
  abort_riemdp("unsupported",
               paste("a release can't be updated: another fit is another release with a price of its own. Call the",
                     "function again."))
}

# ---- a release is no number, and two are no vector -------------------------------------------------------------------

no_number <- function(...) {
  abort_riemdp("unsupported",
               paste("a release isn't a number: take its value out, r$value or as.matrix(r). What is made of that",
                     "keeps its guarantee."))
}

#' @export
Ops.riemdp_release <- no_number
#' @export
Math.riemdp_release <- no_number
#' @export
Summary.riemdp_release <- no_number
#' @export
Complex.riemdp_release <- no_number
#' @export
mean.riemdp_release <- no_number
#' @importFrom stats median
#' @export
median.riemdp_release <- no_number
#' @export
sort.riemdp_release <- no_number
#' @export
t.riemdp_release <- no_number

no_vector <- function(...) {
  abort_riemdp("unsupported",
               "releases can't be made into one: put them in a list(), and let a ledger add up what they cost.")
}

#' @export
c.riemdp_release <- no_vector
#' @export
rbind.riemdp_release <- no_vector
#' @export
cbind.riemdp_release <- no_vector
#' @export
rep.riemdp_release <- no_vector
#' @export
unique.riemdp_release <- no_vector
