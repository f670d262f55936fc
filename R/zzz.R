# What is entered when the package is loaded.

furnish <- function() {
  tables <- list(SOURCE_KERNELS, UNIT_KERNELS, MEAN_KERNELS, DISTANCE_KERNELS, CURVE_KERNELS, PRIVATE_CURVE_KERNELS,
                 LINEAR_KERNELS, DESCENT_KERNELS, SPLINE_KERNELS, RESIDUAL_KERNELS)
  for (kernels in tables) register("kernel", kernels)
  for (vectors in list(MEAN_VECTORS, PROBLEM_VECTORS, SCATTER_VECTORS, PRODUCT_VECTORS, CURVE_VECTORS,
                       GROUP_VECTORS, RESIDUAL_VECTORS)) {
    register("vector", vectors)
  }
  register("problem", PROBLEM_MAKERS)
  register("mean mechanism", list(
    laplace = on_lattice_around(mechanism_laplace, "l2"),
    staircase = on_lattice_around(mechanism_staircase, "staircase"),
    wrapped = on_lattice(mechanism_wrapped, "l2"),
    wrapped_staircase = on_lattice(mechanism_wrapped_staircase, "staircase"),
    kng = lattice_beside(mechanism_kng, lattice_kng, kng_on_lattice),
    laplace_truncated = lattice_beside(mechanism_laplace_truncated, lattice_laplace_truncated, kng_on_lattice),
    staircase_truncated = lattice_beside(mechanism_staircase_truncated, lattice_staircase_truncated, kng_on_lattice),
    gaussian = on_lattice(mechanism_gaussian, "gaussian", flat = TRUE),
    wrapped_gaussian = on_lattice(mechanism_wrapped_gaussian, "gaussian"), heat = mechanism_heat,
    chordal = mechanism_chordal,
    tangent = mechanism_tangent, parts = mechanism_parts,
    adaptive = mechanism_adaptive, euclidean = mechanism_euclidean, pointwise = mechanism_pointwise,
    chain = mechanism_chain
  ))
}

.onLoad <- function(libname, pkgname) {
  process$id <- Sys.getpid()
  furnish()
}
