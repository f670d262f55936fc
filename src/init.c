/* Registration, nothing else. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>

#define ENTRIES(X)                                                                                                     \
    X(aliased, 4)                                                                                                      \
    X(ambient_noise, 9)                                                                                                \
    X(ball_bounds, 3)                                                                                                  \
    X(ball_steps, 4)                                                                                                   \
    X(block_noise, 3)                                                                                                  \
    X(carry, 4)                                                                                                        \
    X(chain, 15)                                                                                                       \
    X(chacha, 4)                                                                                                       \
    X(check, 2)                                                                                                        \
    X(chunk_ball, 6)                                                                                                   \
    X(chunk_counts, 4)                                                                                                 \
    X(chunk_gradients, 10)                                                                                             \
    X(chunk_kng, 7)                                                                                                    \
    X(chunk_lattice, 6)                                                                                                \
    X(chunk_logs, 5)                                                                                                   \
    X(chunk_perturbed, 5)                                                                                              \
    X(chunk_reach, 4)                                                                                                  \
    X(chunk_records, 3)                                                                                                \
    X(chunk_regression, 6)                                                                                             \
    X(chunk_start, 4)                                                                                                  \
    X(coords, 3)                                                                                                       \
    X(count, 2)                                                                                                        \
    X(covariance_descriptors, 3)                                                                                       \
    X(dist, 3)                                                                                                         \
    X(dist_matrix, 2)                                                                                                  \
    X(euclidean_mean, 11)                                                                                              \
    X(exact_total, 1)                                                                                                  \
    X(exp, 3)                                                                                                          \
    X(exponential_choice, 3)                                                                                           \
    X(facts, 1)                                                                                                        \
    X(from_coords, 3)                                                                                                  \
    X(gauss_newton_frame, 3)                                                                                           \
    X(gauss_newton_records_nonprivate, 9)                                                                              \
    X(gaussian_radii, 4)                                                                                               \
    X(inner, 4)                                                                                                        \
    X(is_point, 2)                                                                                                     \
    X(jacobi, 5)                                                                                                       \
    X(kng_acceptance_nonprivate, 10)                                                                                   \
    X(kng_domination_nonprivate, 7)                                                                                    \
    X(kng_least_acceptance, 5)                                                                                         \
    X(kng_nonprivate, 11)                                                                                              \
    X(laplace_radii, 4)                                                                                                \
    X(lattice_mean_nonprivate, 4)                                                                                      \
    X(lattice_model, 1)                                                                                                \
    X(lattice_noise, 5)                                                                                                \
    X(log, 3)                                                                                                          \
    X(log_density, 3)                                                                                                  \
    X(mean, 8)                                                                                                         \
    X(mean_of, 9)                                                                                                      \
    X(noise, 6)                                                                                                        \
    X(norm, 3)                                                                                                         \
    X(objective_nonprivate, 7)                                                                                         \
    X(optimize, 11)                                                                                                    \
    X(origin, 1)                                                                                                       \
    X(perturbation_noise, 6)                                                                                           \
    X(perturbed_fit_nonprivate, 7)                                                                                     \
    X(pld_cells, 2)                                                                                                    \
    X(pld_merge, 3)                                                                                                    \
    X(poincare_embedding, 4)                                                                                           \
    X(pointwise_mean, 10)                                                                                              \
    X(pole, 5)                                                                                                         \
    X(project, 2)                                                                                                      \
    X(project_tangent, 3)                                                                                              \
    X(radial, 2)                                                                                                       \
    X(regression, 7)                                                                                                   \
    X(regression_gradient, 7)                                                                                          \
    X(regression_of, 8)                                                                                                \
    X(regression_records, 6)                                                                                           \
    X(release_clipped_kng, 8)                                                                                          \
    X(release_kng, 9)                                                                                                  \
    X(release_lattice, 7)                                                                                              \
    X(release_mean, 9)                                                                                                 \
    X(release_optimum, 12)                                                                                             \
    X(release_perturbed, 8)                                                                                            \
    X(release_radius, 7)                                                                                               \
    X(shared_loss, 6)                                                                                                  \
    X(statuses, 0)                                                                                                     \
    X(stored, 2)                                                                                                       \
    X(stream, 2)                                                                                                       \
    X(system_uniform, 1)                                                                                               \
    X(tangent_noise, 8)                                                                                                \
    X(to_ball, 4)                                                                                                      \
    X(transport, 4)                                                                                                    \
    X(wide, 4)

/* the routines take SEXP arguments only; their number is what R checks */
#define X(name, count) extern SEXP riemdp_##name();
ENTRIES(X)
#undef X

static const R_CallMethodDef entries[] = {
#define X(name, count) {"riemdp_" #name, (DL_FUNC)riemdp_##name, count},
    ENTRIES(X)
#undef X
        {NULL, NULL, 0}};

attribute_visible void R_init_riemdp(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
