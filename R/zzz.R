# What is entered when the package is loaded.

furnish <- function() {
  tables <- list(SOURCE_KERNELS, MEAN_KERNELS, DISTANCE_KERNELS, CURVE_KERNELS, PRIVATE_CURVE_KERNELS, LINEAR_KERNELS,
                 DESCENT_KERNELS)
  for (kernels in tables) register("kernel", kernels)
  register("mean mechanism", list(
    laplace = mechanism_laplace, staircase = mechanism_staircase, wrapped = mechanism_wrapped, kng = mechanism_kng,
    laplace_truncated = mechanism_laplace_truncated, gaussian = mechanism_gaussian,
    wrapped_gaussian = mechanism_wrapped_gaussian, tangent = mechanism_tangent, adaptive = mechanism_adaptive,
    euclidean = mechanism_euclidean, pointwise = mechanism_pointwise, chain = mechanism_chain
  ))
}

.onLoad <- function(libname, pkgname) {
  process$id <- Sys.getpid()
  furnish()
}
