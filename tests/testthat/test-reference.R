# Against values to 25 digits (reference/geometry.json): distances, logs and transports of the stored doubles.

reference_cases <- function() {
  jsonlite::fromJSON(test_path("reference", "geometry.json"), simplifyDataFrame = FALSE)
}

reference_manifold <- function(case) {
  p <- case$params
  switch(case$manifold,
    sphere = sphere(p$d), hyperboloid = hyperbolic(p$d), ball = hyperbolic(p$d, "ball"), spd_affine = spd(p$k),
    spd_bures = spd(p$k, "bures"), spd_logeuclidean = spd(p$k, "logeuclidean"), grassmann = grassmann(p$n, p$p),
    kendall = kendall(p$k), stiefel_euclidean = stiefel(p$n, p$p), stiefel_canonical = stiefel(p$n, p$p, "canonical")
  )
}

reference_record <- function(M, x) {
  facts <- mf_facts(M)
  if (facts$rows > 0 && facts$cols == 0) {
    complex(real = x[c(TRUE, FALSE)], imaginary = x[c(FALSE, TRUE)])
  } else if (facts$rows > 0) {
    matrix(x, facts$rows)
  } else {
    x
  }
}

flat <- function(x) if (is.complex(x)) as.vector(rbind(Re(x), Im(x))) else as.vector(x)

test_that("distances, logs and transports agree with the 25-digit oracle", {
  skip_if_not_installed("jsonlite")
  # near: points 1e-9 and 1e-6 apart. Where representatives are turned (Grassmann, planar shapes) the alignment rounds.
  near <- c(sphere = 1e-12, hyperboloid = 1e-12, ball = 1e-12, spd_affine = 1e-12, spd_bures = 1e-12,
            spd_logeuclidean = 1e-12, grassmann = 1e-8, kendall = 1e-8, stiefel_euclidean = 1e-8, stiefel_canonical = 1e-8)
  for (case in reference_cases()) {
    M <- reference_manifold(case)
    p <- reference_record(M, case$p)
    q <- reference_record(M, case$q)
    d <- as.numeric(case$dist)
    allowed <- if (case$case == "near") near[[case$manifold]] else max(1e-12, 20 * case$sens)
    if (grepl("stiefel", case$manifold)) allowed <- max(allowed, 1e-10)
    # the yardstick is a few random changes: of graded matrices they seldom hit the smallest eigenvalue
    if (case$case == "graded") allowed <- max(1e-12, 300 * case$sens)
    # in hyperbolic space the stored numbers are taken as they are: no case is worse than another
    if (case$manifold %in% c("hyperboloid", "ball")) allowed <- 2e-15 * (10 + length(p))
    expect_lt(abs(mf_dist(M, p, q) - d) / d, allowed, label = paste("distance", case$id))
    if (!is.null(case$log)) {
      # the logarithm of ill-conditioned pairs loses more than the distance; what it loses is bounded with the condition
      allowed_log <- switch(case$case, ill = 0.02, graded = 1e-7, edge = 1e-12, max(allowed, 1e-10))
      error <- max(abs(flat(mf_log(M, p, q)) - case$log)) / max(abs(case$log))
      expect_lt(error, allowed_log, label = paste("log", case$id))
    }
    if (!is.null(case$transport)) {
      error <- max(abs(flat(mf_transport(M, p, q, reference_record(M, case$v))) - case$transport)) /
        max(abs(case$transport))
      expect_lt(error, 1e-9, label = paste("transport", case$id))
    }
  }
})

test_that("Jacobi factors give the reference gradients of geodesic regression", {
  skip_if_not_installed("jsonlite")
  ref <- jsonlite::fromJSON(test_path("reference", "regression_gradients.json"))
  for (name in c("s2", "spd3", "h2")) {
    M <- switch(name, s2 = sphere(2), spd3 = spd(3), h2 = hyperbolic(2))
    r <- ref[[name]]
    q <- mf_exp(M, r$p, r$x * r$v)
    eps <- mf_transport(M, q, r$p, mf_log(M, q, r$y))
    f <- mf_jacobi(M, r$p, r$v, r$x, eps)
    expect_lt(max(abs(-f$p - r$gp)), 1e-12)
    expect_lt(max(abs(-f$v - r$gv)), 1e-12)
  }
})
