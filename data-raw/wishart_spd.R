# 1,000 truncated Wishart matrices as in the simulations of Reimherr et al. (2021, appendix A.2.1) and Soto et al.
# (2022, supplement 2.3.1). Run from the root of the package.

RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(2021)

n <- 1000
k <- 2
radius <- 1.5

# Affine-invariant distance to the identity: log1p keeps its digits where the matrix is close to it.
distance_to_identity <- function(x) {
  sqrt(sum(log1p(eigen(x - diag(k), symmetric = TRUE, only.values = TRUE)$values)^2))
}

# One draw at a time, drawn again until it lies in the ball.
draws <- 0
draw <- function() {
  repeat {
    draws <<- draws + 1
    x <- rWishart(1, df = k, Sigma = diag(k) / k)[, , 1]
    if (distance_to_identity(x) < radius) {
      return(x)
    }
  }
}

wishart_spd <- round(replicate(n, draw()), 6)

# Checks on the rounded matrices.
distance <- apply(wishart_spd, 3, distance_to_identity)
stopifnot(
  identical(dim(wishart_spd), c(2L, 2L, 1000L)),
  identical(wishart_spd, aperm(wishart_spd, c(2, 1, 3))),
  max(distance) < radius
)

# The exact probability of the ball, as a check on the sampler. The log eigenvalues m + d and m - d, d > 0, of a Wishart
# matrix with k = df = 2 and scale I / 2 have a density proportional to exp(2m - 2 exp(m) cosh(d)) sinh(d), and the ball
# is the half disc m^2 + d^2 < radius^2 / 2; the integral over d is elementary.
inner <- function(m) {
  2 * exp(m) * (exp(-2 * exp(m)) - exp(-2 * exp(m) * cosh(sqrt(pmax(radius^2 / 2 - m^2, 0)))))
}
probability <- integrate(inner, -radius / sqrt(2), radius / sqrt(2), rel.tol = 1e-8)$value
stopifnot(abs(n / draws - probability) < 4 * sqrt(probability * (1 - probability) / draws))

message(sprintf("probability of the ball %.4f, share kept %.4f, largest distance %.4f",
                probability, n / draws, max(distance)))

save(wishart_spd, file = "data/wishart_spd.rda", version = 2, compress = "xz")
