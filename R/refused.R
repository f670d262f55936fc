# What other fitted models answer and a private release can't: said by a classed error with its reason, not by R's default methods, which would
# answer NULL or look for records.

no_records <- function(what) {
  abort_riemdp("unsupported", sprintf("%s a function of the records: a release holds none, and publishing it would not be private.", what))
}

#' @importFrom stats anova
#' @export
anova.dp_release <- function(object, ...) no_records("an analysis of variance is")

#' @importFrom stats logLik
#' @export
logLik.dp_release <- function(object, ...) no_records("the log-likelihood (and with it AIC and BIC) is")

#' @importFrom stats deviance
#' @export
deviance.dp_release <- function(object, ...) no_records("the deviance is")

#' @importFrom stats sigma
#' @export
sigma.dp_release <- function(object, ...) no_records("the residual standard deviation is")

#' @importFrom stats df.residual
#' @export
df.residual.dp_release <- function(object, ...) no_records("residuals, which degrees of freedom are about, are")

#' @export
hatvalues.dp_release <- function(model, ...) no_records("leverage is")

#' @importFrom stats influence
#' @export
influence.dp_release <- function(model, ...) no_records("influence is")

#' @importFrom stats fitted
#' @export
fitted.dp_release <- function(object, ...) no_records("a fitted value is")

#' @importFrom stats residuals
#' @export
residuals.dp_release <- function(object, ...) no_records("a residual is")

#' @importFrom stats model.frame
#' @export
model.frame.dp_release <- function(formula, ...) no_records("the model frame is")

#' @importFrom stats model.matrix
#' @export
model.matrix.dp_release <- function(object, ...) no_records("the model matrix is")

#' @export
augment.dp_release <- function(x, ...) no_records("each record's row of augment() is")

#' @importFrom stats vcov
#' @export
vcov.dp_release <- function(object, ...) {
  abort_riemdp("unsupported", "there is no covariance of this release: confint() says what is known of its error.")
}

#' @importFrom stats update
#' @export
update.dp_release <- function(object, ...) {
  abort_riemdp("unsupported", "a release can't be updated: another fit is another release with a price of its own. Call the function again.")
}
