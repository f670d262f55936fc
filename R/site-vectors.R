# Vectors of which sites send sums with noise: tangent vectors, gradients, products (chunk-answer.R says what an entry
# is).

# ---- means -----------------------------------------------------------------------------------------------------------

# tangent vectors at the centre, no longer than the radius
centre_rows <- function(q, x) {
  ask <- list(center = stored_shape(q$M, q$center), ball = list(radius = q$radius))
  shorten_rows(tangent_rows(q$M, x, ask, ask$center), q$radius)
}

# vectors that sites sum up with noise: tangent vectors at a public centre; two opposite ones are twice as far apart as
# they are long
MEAN_VECTORS <- list(
  mean = list(
    sum = function(q, x) exact_total(list(.Call(riemdp_chunk_ball, q$M, x, q$center, q$radius, NULL, "centre_coords"))),
    rows = function(q, x) centre_rows(q, x), trial = function(q) trial_point(q),
    length = function(q) q$radius, moved = function(q) 2 * q$radius,
    dimension = function(q) mf_facts(q$M)$dimension, fields = c("M", "center")
  )
)

# the centre as a record
trial_point <- function(q) mf_points(stored_shape(q$M, q$center), q$M)

# ---- gradients -------------------------------------------------------------------------------------------------------

# problems whose gradients sites sum up with noise
GRADIENT_SUMS <- c("frechet", "huber")

within_threshold <- function(q) {
  if (q$problem$kind == "huber") q$radius <- min(q$radius, q$problem$threshold)
  q
}

# Gradients at a public point, each no longer than `radius`, in orthonormal coordinates there: those of squared
# distances and of Huber's function are logarithms, shortened and turned round
PROBLEM_VECTORS <- list(
  gradient = list(
    sum = function(q, x) -MEAN_VECTORS$mean$sum(within_threshold(q), x),
    rows = function(q, x) -centre_rows(within_threshold(q), x), trial = function(q) trial_point(q),
    length = function(q) q$radius, moved = function(q) 2 * q$radius,
    dimension = function(q) mf_facts(q$M)$dimension, fields = c("M", "center", "problem"),
    refused = function(policy, request) if (!request$problem$kind %in% GRADIENT_SUMS) "statistic"
  )
)

# ---- products --------------------------------------------------------------------------------------------------------
# Sums that sites send with noise. Numbers of rows differ from site to site, and the grid must not: so many rows at a
# time are added up as whole numbers, and sums of these in two parts, which stay exact.

SCATTER_ROWS <- 2^12
SCATTER_PART <- 2^25

scatter_grid <- function(d) moment_grid(SCATTER_ROWS, d)

# as moment_sum(), of any number of rows, but for one rounding at last
scatter_matrix <- function(rows, grid) {
  high <- low <- matrix(0, ncol(rows), ncol(rows))
  for (first in seq(1, by = SCATTER_ROWS, length.out = ceiling(nrow(rows) / SCATTER_ROWS))) {
    S <- crossprod(rows[first:min(nrow(rows), first + SCATTER_ROWS - 1), , drop = FALSE])
    part <- floor(S / SCATTER_PART)
    high <- high + part
    low <- low + (S - part * SCATTER_PART)
  }
  (high * SCATTER_PART + low) / 4^grid$bits
}

# the bound of logarithms at the request's point, which has the coordinates `at` at the centre
scatter_bound <- function(q) tangent_bound(list(ball = list(radius = q$radius)), q$at %||% 0)

# each record's product uu', u its logarithm there; what is no point counts as the centre
scatter_sum <- function(q, x) {
  grid <- scatter_grid(mf_facts(q$M)$dimension)
  symmetric_entries(scatter_matrix(scatter_rows(q, x, grid), grid)) * scatter_bound(q)^2
}

# the logarithms as whole numbers
scatter_rows <- function(q, x, grid) {
  ask <- list(manifold = q$M, center = stored_shape(q$M, q$center), ball = list(radius = q$radius))
  p <- variance_point(q$M, ask, q$at %||% numeric(mf_facts(q$M)$dimension))
  moment_rows(tangent_rows(q$M, x, ask, p), scatter_bound(q), grid)
}

scatter_vectors <- function(q, x) {
  grid <- scatter_grid(mf_facts(q$M)$dimension)
  product_rows(scatter_rows(q, x, grid) / 2^grid$bits) * scatter_bound(q)^2
}

# products are taken at a point of the ball
scatter_refused <- function(policy, request) {
  if (is.null(request$at)) return(NULL)
  if (length(request$at) != mf_facts(request$M)$dimension) return("message")
  if (sum(request$at^2) > (request$radius * (1 + 1e-9))^2) "ball"
}

# uu' is as long as u is squared; two of orthogonal vectors are root 2 times as far apart (section 11)
SCATTER_VECTORS <- list(
  scatter = list(sum = scatter_sum, rows = scatter_vectors, trial = function(q) trial_point(q),
                 length = function(q) scatter_bound(q)^2,
                 moved = function(q) sqrt(2) * scatter_bound(q)^2,
                 dimension = function(q) symmetric_count(mf_facts(q$M)$dimension),
                 fields = c("M", "center", "at?"), refused = scatter_refused)
)
