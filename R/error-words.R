# What an error is about, wherever one is told: of three errors, those of privacy noise, clipping and sampling, the
# package knows the first.

COVERS <- "privacy noise"
COVERS_SHORT <- "the privacy noise alone, neither clipping nor sampling"

# what the noise's error is about, and what the other two would be
ERROR_WORDS <- list(
  mean = c(about = "the mean of the records moved to the public ball",
           clipping = "what moving records to the ball does to the mean"),
  adaptive = c(about = "the mean of the records moved to the released ball",
               clipping = "what moving records to the balls does to the mean"),
  unit = c(about = "the mean of the units' means, each of its own records moved to the public ball",
           clipping = "what moving records to the ball does to these means"),
  averages = c(about = paste("exp of the average over units of the averages of their records' logarithms at the",
                             "centre, each record moved to the public ball"),
               clipping = "what moving records to the ball does to these averages"),
  covariance_averages = c(about = paste("the average over units, without noise, of the average products of their",
                                        "records' logarithms, which differ within a unit as well"),
                          clipping = "what moving records to the ball does to their logarithms"),
  adaptive_unit = c(about = paste("the mean of the units' means, each of its own records moved to the public ball and",
                                  "itself to the released one"),
                    clipping = "what moving to the balls does to these means"),
  median = c(about = "the geometric median of the records moved to the public ball",
             clipping = "what moving records to the ball does to the median"),
  median_unit = c(about = "the geometric median of the units' means, each of its own records moved to the public ball",
                  clipping = "what moving records to the ball does to these means"),
  variance = c(about = "the mean of squares, without noise, of the records moved to the public ball",
               clipping = "what moving records to the ball does to the squares"),
  variance_unit = c(about = "the mean of squares, without noise, of the units' means",
                    clipping = "what moving records to the ball does to these means"),
  lm = c(about = "the fit without noise to records that keep the public bounds",
         clipping = "what moving rows into their ranges and limits does where they don't"),
  regression = c(about = "the curve without noise of records that keep the public bounds",
                 clipping = "what moving predictors and shortening residuals does where they don't"),
  spline = c(about = paste("the spline without noise, with the best penalty, of the logarithms at the reference,",
                           "shortened to the radius"),
             clipping = "what moving predictors and shortening logarithms does to the curve"),
  spline_local = c(about = "the same smooth of local Frechet means of records moved to the public ball, without noise",
                   clipping = "what moving predictors and records does to the curve",
                   flattening = "of what bends between knots, by means of records around each: more knots have less"),
  optimize = c(about = "the run without noise, of clipped gradients",
               clipping = "what clipping gradients does to the minimum, where they are longer than the clip"),
  pca = c(about = "the run without noise, of rows shortened to the public bound and clipped gradients",
          clipping = "what shortening rows and clipping gradients does to the subspace"),
  components = c(about = "the directions without noise of rows shortened to the public bound",
                 clipping = "what shortening rows does to the directions"),
  pga = c(about = paste("the directions without noise, at the same point, of the logarithms of records moved to the",
                        "public ball"),
          clipping = "what moving records to the ball does to the directions"),
  pga_center = c(about = paste("the directions without noise, at the public centre, of the covariance of logarithms",
                               "of records moved to the public ball"),
                 clipping = "what moving records to the ball does to the directions"),
  covariance = c(about = paste("the mean product without noise, at the same point, of the logarithms of records moved",
                               "to the public ball"),
                 clipping = "what moving records to the ball does to their logarithms")
)

# the same of records that are projected first, of which a third error is left out
ERROR_WORDS[paste0("subspace_", c("mean", "adaptive", "unit", "adaptive_unit"))] <- lapply(
  ERROR_WORDS[c("mean", "adaptive", "unit", "adaptive_unit")],
  function(words) {
    words[["about"]] <- sub("records moved", "records projected to the public subspace and moved", words[["about"]])
    c(words, projection = "what projecting records to the subspace does to the mean")
  }
)

mean_error_kind <- function(r) {
  if (of_averages(r)) return("averages")
  kinds <- if (is.null(r$unit)) c("mean", "adaptive") else c("unit", "adaptive_unit")
  paste0(if (!is.null(r$subspace)) "subspace_", kinds[1 + identical(r$mechanism, "adaptive")])
}

error_kind <- function(r) {
  if (inherits(r, c("riemdp_mean", "riemdp_groups"))) return(mean_error_kind(r))
  if (inherits(r, "riemdp_median")) return(if (is.null(r$unit)) "median" else "median_unit")
  if (inherits(r, "riemdp_variance")) return(if (is.null(r$unit)) "variance" else "variance_unit")
  if (inherits(r, "riemdp_lm")) return("lm")
  if (inherits(r, "riemdp_regression")) return("regression")
  if (inherits(r, "riemdp_spline")) return(c(tangent = "spline", frechet = "spline_local")[[r$target %||% "tangent"]])
  if (inherits(r, "riemdp_pga")) return(if (identical(r$from, "center")) "pga_center" else "pga")
  if (inherits(r, "riemdp_covariance")) return(paste0("covariance", if (of_averages(r)) "_averages"))
  if (inherits(r, "riemdp_components")) return("components")
  if (inherits(r, "riemdp_pca")) "pca" else "optimize"
}

# what a mean is of
counted_words <- function(r) {
  if (is.null(r$unit)) "records" else if (inherits(r, "riemdp_components") || of_averages(r)) "units" else
    "units' means"
}

# whether units count with averages of their records' vectors, as at sites, not with a point each
of_averages <- function(r) {
  !is.null(r$unit) && !is.null(r$details$sites %||% r$components$details$sites %||% r$sites$sites)
}

AVERAGES_SENTENCE <- paste(
  "At sites a unit counts once, with the average of its records' vectors (proofs/federation.md): not with a mean of",
  "its records, as in memory. How many records it has is not part of the release."
)

error_about <- function(kind) ERROR_WORDS[[kind]][["about"]]

# the errors that a stated one leaves out
error_left_out <- function(kind) {
  paste0("not in it: ", projection_words(kind), sprintf(
    "clipping (%s) and sampling (how the records differ from those they stand for)", ERROR_WORDS[[kind]][["clipping"]]))
}

projection_words <- function(kind) {
  words <- ERROR_WORDS[[kind]]
  third <- intersect(THIRD_ERRORS, names(words))
  if (length(third)) sprintf("%s (%s), ", third, words[[third]]) else ""
}

# names of the errors that are left out
THIRD_ERRORS <- c("projection", "flattening")
errors_left_out <- function(kind) c(intersect(THIRD_ERRORS, names(ERROR_WORDS[[kind]])), "clipping", "sampling")

# "a, b and c"
and_words <- function(words) sub(", ([^,]*)$", " and \\1", paste(words, collapse = ", "))

# lines of print() after an error
error_lines <- function(lines) unlist(lapply(lines, strwrap, width = 110, indent = 4, exdent = 6))

model_error_lines <- function(kind) error_lines(c(paste("it is about", error_about(kind)), error_left_out(kind)))

# where no error is stated at all
no_error_words <- function(kind) {
  sprintf("no error is stated, neither of the %s nor of clipping (%s) nor of sampling", COVERS,
          ERROR_WORDS[[kind]][["clipping"]])
}

# one sentence for tables, regions, bands and pictures
error_note <- function(kind) sprintf("Of the %s alone, about %s; %s.", COVERS, error_about(kind), error_left_out(kind))
