/* Registration, nothing else. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>

#include "ffi.h"

#include <riemdp.h>

#define ENTRIES(X)                                                                                                     \
    X(aliased, 4)                                                                                                      \
    X(allocation_merge, 3)                                                                                             \
    X(allocation_spread, 3)                                                                                            \
    X(ambient_noise, 9)                                                                                                \
    X(ball_bounds, 3)                                                                                                  \
    X(ball_roots, 2)                                                                                                   \
    X(ball_steps, 4)                                                                                                   \
    X(block_noise, 3)                                                                                                  \
    X(carry, 4)                                                                                                        \
    X(certified_dist, 4)                                                                                               \
    X(certified_exp, 4)                                                                                                \
    X(certified_log, 4)                                                                                                \
    X(certified_mean, 4)                                                                                               \
    X(chain, 15)                                                                                                       \
    X(chacha, 4)                                                                                                       \
    X(chord, 3)                                                                                                        \
    X(check, 2)                                                                                                        \
    X(chunk_ball, 6)                                                                                                   \
    X(chunk_counts, 6)                                                                                                 \
    X(chunk_gradients, 11)                                                                                             \
    X(chunk_kng, 7)                                                                                                    \
    X(chunk_logs, 5)                                                                                                   \
    X(chunk_perturbed, 5)                                                                                              \
    X(chunk_reach, 4)                                                                                                  \
    X(chunk_records, 3)                                                                                                \
    X(chunk_regression, 6)                                                                                             \
    X(chunk_start, 4)                                                                                                  \
    X(chunk_steps, 7)                                                                                                  \
    X(coords, 3)                                                                                                       \
    X(count, 2)                                                                                                        \
    X(dist, 3)                                                                                                         \
    X(dist_matrix, 2)                                                                                                  \
    X(euclidean_mean, 12)                                                                                              \
    X(exact_total, 1)                                                                                                  \
    X(exp, 3)                                                                                                          \
    X(exponential_choice, 3)                                                                                           \
    X(facts, 1)                                                                                                        \
    X(fft, 1)                                                                                                          \
    X(from_coords, 3)                                                                                                  \
    X(gauss_newton_frame, 3)                                                                                           \
    X(gauss_newton_records_nonprivate, 9)                                                                              \
    X(gaussian_radii, 4)                                                                                               \
    X(heat_group, 1)                                                                                                   \
    X(heat_parts, 2)                                                                                                   \
    X(inner, 4)                                                                                                        \
    X(is_point, 2)                                                                                                     \
    X(jacobi, 5)                                                                                                       \
    X(kernel_products_nonprivate, 5)                                                                                   \
    X(kernel_sums_nonprivate, 5)                                                                                       \
    X(kng_acceptance_nonprivate, 10)                                                                                   \
    X(kng_domination_nonprivate, 8)                                                                                    \
    X(kng_least_acceptance, 5)                                                                                         \
    X(kng_nonprivate, 11)                                                                                              \
    X(kng_proposed, 9)                                                                                                 \
    X(lanes_least, 1)                                                                                                  \
    X(laplace_radii, 4)                                                                                                \
    X(lattice_law_bounds_nonprivate, 9)                                                                                \
    X(lattice_law_nonprivate, 9)                                                                                       \
    X(lattice_law_sum_nonprivate, 7)                                                                                   \
    X(lattice_noise, 5)                                                                                                \
    X(log, 3)                                                                                                          \
    X(log_density, 3)                                                                                                  \
    X(mean, 8)                                                                                                         \
    X(mean_of, 9)                                                                                                      \
    X(newton_sums, 4)                                                                                                  \
    X(noise, 6)                                                                                                        \
    X(norm, 3)                                                                                                         \
    X(objective_nonprivate, 7)                                                                                         \
    X(optimize, 11)                                                                                                    \
    X(origin, 1)                                                                                                       \
    X(perturbation_noise, 6)                                                                                           \
    X(perturbed_fit_nonprivate, 7)                                                                                     \
    X(placed, 4)                                                                                                       \
    X(pld_cells, 3)                                                                                                    \
    X(pld_merge, 3)                                                                                                    \
    X(pointwise_mean, 10)                                                                                              \
    X(points, 4)                                                                                                       \
    X(points_rows, 3)                                                                                                  \
    X(pole, 5)                                                                                                         \
    X(project, 2)                                                                                                      \
    X(project_tangent, 3)                                                                                              \
    X(radial, 2)                                                                                                       \
    X(radial_acceptance, 5)                                                                                            \
    X(regression, 8)                                                                                                   \
    X(regression_gradient, 7)                                                                                          \
    X(regression_of, 9)                                                                                                \
    X(regression_records, 7)                                                                                           \
    X(release_choice, 3)                                                                                               \
    X(release_clipped_kng, 8)                                                                                          \
    X(release_groups, 7)                                                                                               \
    X(release_kng, 10)                                                                                                 \
    X(release_kng_lattice, 7)                                                                                          \
    X(release_lattice, 9)                                                                                              \
    X(release_local, 7)                                                                                                \
    X(release_local_lattice, 7)                                                                                        \
    X(release_mean, 11)                                                                                                \
    X(release_median, 7)                                                                                               \
    X(release_optimum, 11)                                                                                             \
    X(release_perturbed, 8)                                                                                            \
    X(release_place, 13)                                                                                               \
    X(release_radius, 7)                                                                                               \
    X(scores_nonprivate, 3)                                                                                            \
    X(seal, 2)                                                                                                         \
    X(shared_loss, 7)                                                                                                  \
    X(statuses, 0)                                                                                                     \
    X(steps_mean_nonprivate, 5)                                                                                        \
    X(unit_coords, 6)                                                                                                  \
    X(unit_points, 5)                                                                                                  \
    X(unit_rows, 5)                                                                                                    \
    X(steps_model, 1)                                                                                                  \
    X(stored, 2)                                                                                                       \
    X(stream, 2)                                                                                                       \
    X(system_uniform, 1)                                                                                               \
    X(tangent_noise, 8)                                                                                                \
    X(gathered, 5)                                                                                                     \
    X(to_ball, 4)                                                                                                      \
    X(transport, 4)                                                                                                    \
    X(twofold, 3)                                                                                                      \
    X(weighted_cell, 2)                                                                                                \
    X(wide, 4)

/* the routines take SEXP arguments only; their number is what R checks, and what the prototypes say */
#define ARGUMENTS_0 void
#define ARGUMENTS_1 SEXP
#define ARGUMENTS_2 ARGUMENTS_1, SEXP
#define ARGUMENTS_3 ARGUMENTS_2, SEXP
#define ARGUMENTS_4 ARGUMENTS_3, SEXP
#define ARGUMENTS_5 ARGUMENTS_4, SEXP
#define ARGUMENTS_6 ARGUMENTS_5, SEXP
#define ARGUMENTS_7 ARGUMENTS_6, SEXP
#define ARGUMENTS_8 ARGUMENTS_7, SEXP
#define ARGUMENTS_9 ARGUMENTS_8, SEXP
#define ARGUMENTS_10 ARGUMENTS_9, SEXP
#define ARGUMENTS_11 ARGUMENTS_10, SEXP
#define ARGUMENTS_12 ARGUMENTS_11, SEXP
#define ARGUMENTS_13 ARGUMENTS_12, SEXP
#define ARGUMENTS_14 ARGUMENTS_13, SEXP
#define ARGUMENTS_15 ARGUMENTS_14, SEXP
#define X(name, count) extern SEXP riemdp_##name(ARGUMENTS_##count);
ENTRIES(X)
#undef X

static const R_CallMethodDef entries[] = {
#define X(name, count) {"riemdp_" #name, (DL_FUNC)(void (*)(void))riemdp_##name, count},
    ENTRIES(X)
#undef X
        {NULL, NULL, 0}};

/* for C code of other packages: inst/include/riemdp.h */
#define CALLABLES(X)                                                                                                   \
    X(ambient) X(check) X(close) X(dim) X(dist) X(exp) X(laplace) X(log) X(mean) X(message) X(open) X(project)         \
    X(random) X(status) X(version)

attribute_visible void R_init_riemdp(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
#define X(name) R_RegisterCCallable("riemdp", "rdp_" #name, (DL_FUNC)(void (*)(void))rdp_##name);
    CALLABLES(X)
#undef X
    ffi_points_register(dll);
    ffi_custom_register();
}
