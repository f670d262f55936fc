# What an error is about, wherever one is told: of three errors, those of privacy noise, clipping and sampling, the package knows the first.

COVERS <- "privacy noise"
COVERS_SHORT <- "the privacy noise alone, neither clipping nor sampling"

# what the noise's error is about, and what the other two would be
ERROR_WORDS <- list(
  mean = c(about = "the mean of the records moved to the public ball", clipping = "what moving records to the ball does to the mean"),
  adaptive = c(about = "the mean of the records moved to the released ball", clipping = "what moving records to the balls does to the mean"),
  lm = c(about = "the fit without noise to records that keep the public bounds", clipping = "what moving rows into their ranges and limits does where they don't"),
  regression = c(about = "the curve without noise of records that keep the public bounds",
                 clipping = "what moving predictors and shortening residuals does where they don't"),
  optimize = c(about = "the run without noise, of clipped gradients",
               clipping = "what clipping gradients does to the minimum, where they are longer than the clip"),
  pca = c(about = "the run without noise, of rows shortened to the public bound and clipped gradients",
          clipping = "what shortening rows and clipping gradients does to the subspace")
)

error_kind <- function(r) {
  if (inherits(r, "riemdp_mean")) return(if (identical(r$mechanism, "adaptive")) "adaptive" else "mean")
  if (inherits(r, "riemdp_lm")) return("lm")
  if (inherits(r, "riemdp_regression")) return("regression")
  if (inherits(r, "riemdp_pca")) "pca" else "optimize"
}

error_about <- function(kind) ERROR_WORDS[[kind]][["about"]]

# the errors that a stated one leaves out
error_left_out <- function(kind) {
  sprintf("not in it: clipping (%s) and sampling (how the records differ from those they stand for)", ERROR_WORDS[[kind]][["clipping"]])
}

# lines of print() after an error
error_lines <- function(lines) unlist(lapply(lines, strwrap, width = 110, indent = 4, exdent = 6))

model_error_lines <- function(kind) error_lines(c(paste("it is about", error_about(kind)), error_left_out(kind)))

# where no error is stated at all
no_error_words <- function(kind) {
  sprintf("no error is stated, neither of the %s nor of clipping (%s) nor of sampling", COVERS, ERROR_WORDS[[kind]][["clipping"]])
}

# one sentence for tables, regions, bands and pictures
error_note <- function(kind) sprintf("Of the %s alone, about %s; %s.", COVERS, error_about(kind), error_left_out(kind))

# ---- a release at the ball's edge -----------------------------------------------------------------------------------------------

# The statement is false with at most this probability, whatever the records are; it is about records beyond this share of the radius, and
# made if they are at least half of all (proofs/mean-sensitivity.md, section 10).
EDGE_ERROR <- 0.01
EDGE_FROM <- 0.9
EDGE_LEAST <- 0.5

# the ball to which the records were moved before their mean was taken
moved_ball <- function(r) {
  if (identical(r$mechanism, "adaptive") && !is.null(r$details$released_center)) {
    list(center = r$details$released_center, radius = r$details$released_radius)
  } else {
    r[c("center", "radius")]
  }
}

# The share of records that lie beyond EDGE_FROM of the radius or outside, at least; 0 where nothing is known. From the release and public
# numbers: if the mean of the moved records lies at distance t from the centre, so do they at least on average.
edge_share <- function(r) {
  tryCatch({
    ball <- moved_ball(r)
    value <- if (is.null(r$released)) r$value else r$released
    apart <- mf_dist(r$manifold, ball$center, value)
    from_center <- apart - mean_region(r, 1 - EDGE_ERROR)$radius - 1e-6 * ball$radius # rounding
    share <- (from_center / ball$radius - EDGE_FROM) / (1 - EDGE_FROM)
    if (is.finite(share)) max(0, min(1, share)) else 0
  }, error = function(e) 0) # a broken release, or a user's callbacks
}

edge_words <- function(r) {
  share <- edge_share(r)
  if (share < EDGE_LEAST) return(NULL)
  adaptive <- error_kind(r) == "adaptive"
  sprintf("AT THE BALL'S EDGE: %.0f %% of the records or more lie beyond %g of the radius%s, or outside the ball (wrong with probability %g %% at most): %s",
          floor(100 * share), EDGE_FROM, if (adaptive) " of the released ball" else "", 100 * EDGE_ERROR,
          if (adaptive) "the released ball may not fit them" else "centre or radius may not fit them, and the mean may be far from theirs")
}

# ---- what a mean says of its errors -----------------------------------------------------------------------------------------------

# lines of print() after the expected error
mean_error_lines <- function(r) {
  kind <- error_kind(r)
  share <- clipped_words(r)
  error_lines(c(paste("it is about", error_about(kind)), if (is.null(share)) error_left_out(kind) else c(
    "not in it: sampling (how the records differ from those they stand for)", share
  ), edge_words(r)))
}

# two short lines under a picture
mean_caption <- function(r) {
  known <- is.finite(r$expected_error)
  edge <- edge_share(r)
  c(sprintf("%s of the %s alone, about %s", if (known) sprintf("expected error %.3g", r$expected_error) else "error", COVERS, error_about(error_kind(r))),
    if (edge >= EDGE_LEAST) {
      sprintf("at the ball's edge: %.0f %% of the records or more lie near it or outside", floor(100 * edge))
    } else {
      "clipping and sampling are not in it"
    })
}
