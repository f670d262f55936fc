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

# Values of JuliaManifolds/Manifolds.jl (test/manifolds-old: rotations.jl, probability_simplex.jl, shape_space.jl, at 04ab464). Tangent vectors of
# rotations are p X there, in a metric that is twice ours.
test_that("rotations, compositions and shapes agree with Manifolds.jl", {
  skew <- function(x) {
    k <- (1 + sqrt(1 + 8 * length(x))) / 2
    out <- matrix(0, k, k)
    out[lower.tri(out)] <- -x
    out - t(out)
  }
  M <- rotations(3)
  p <- matrix(c(-0.5908399013383766, -0.7261666986267721, 0.35155388888753836, -0.6241917041179139, 0.13535732881097293, -0.7694563730631729,
                0.5111681988316876, -0.6740625485388226, -0.5332417398896261), 3)
  x <- skew(c(-0.30777760628130063, 0.5499897386953444, -0.32059980100053004))
  d <- skew(c(-0.4821890003925358, -0.3513148535122392, 0.37956770358148356))
  q <- mf_exp(M, p, p %*% d)
  expect_equal(t(q) %*% mf_transport(M, p, q, p %*% x), skew(c(-0.3258778314599828, 0.3903114578816008, -0.49138641089195584)), tolerance = 1e-13)
  p4 <- matrix(c(-0.09091199873970474, -0.8001176365300662, -0.5890394255366699, -0.0676707570677516, -0.5676546886791307, 0.3161567169523502,
                 -0.2597679221590146, -0.7143764493344514, -0.006808638869334249, -0.4938592872334223, 0.7267279425385695, -0.4774129704812182,
                 0.8182034009599919, 0.12633171594159726, -0.23962403743004465, -0.5071132150619608), 4)
  x4 <- skew(c(0.2554704296965055, 0.26356215573144676, -0.4070678736115306, -0.04594199053786204, -0.10586374034761421, 0.43156436122007846))
  # Its densities of exp are ours at twice the vector: they have (sin t/t)^2 where the group's is (sin(t/2)/(t/2))^2, which alone integrates to the volume
  expect_equal(exp(mf_log_density(M, p, 2 * p %*% x)), 0.8440563052346255, tolerance = 1e-13)
  expect_equal(exp(mf_log_density(rotations(4), p4, 2 * p4 %*% x4)), 0.710713830700454, tolerance = 1e-13)
  volume <- stats::integrate(function(t) 4 * pi * t^2 * vapply(t, function(s) exp(mf_log_density(M, diag(3), skew(c(s, 0, 0)))), 0), 0, pi)$value
  expect_equal(volume, 8 * pi^2, tolerance = 1e-7)
  expect_identical(c(mf_facts(M)$k_max, mf_facts(rotations(4))$k_max), 2 * c(1 / 8, 1 / 4))
  # Fisher's metric: the logarithm's representer in Euclidean space
  p <- c(1 / 2, 1 / 3, 1 / 6)
  v <- 2 * sqrt(p) * drop(mf_log(simplex(3, "fisher"), sqrt(p), sqrt(c(0.2, 0.3, 0.5))))
  expect_equal(p * (v - sum(p * v)), c(-0.10040964054128285, 0.03818665287320871, 0.06222298766807415), tolerance = 1e-14)
  # the horizontal part of a tangent vector
  p <- complex(real = c(0.4385117672460505, -0.6877826444042382, 0.24927087715818771),
               imaginary = c(-0.3830259932279294, 0.35347460720654283, 0.029551386021386548))
  x <- complex(real = c(0.6090792159558263, -0.02523987621672985, -0.5838393397390964),
               imaginary = c(0.4317628895706799, 0.12108361184633629, -0.5528465014170161))
  along <- complex(real = c(0.5218590427922166, 0.05525104866717821, -0.5771100914593948),
                   imaginary = c(0.3319078589730016, 0.2777009756923593, -0.6096088346653609))
  expect_equal(mf_project_tangent(kendall(3), p, x), along, tolerance = 1e-14)
})
