/* riemdp's core from C: geometry, Frechet means, Riemannian Laplace noise, secure random bytes.
 *
 * In an R package, with `LinkingTo: riemdp` and `Imports: riemdp`: define RIEMDP_FROM_R before including this header;
 * the functions below then call those of the loaded package. Without R: link with libriemdpcore (src/Makevars.core),
 * LAPACK and BLAS.
 *
 * A point is rdp_ambient() doubles in a row, many points follow one another; matrices are stored by columns, complex
 * numbers as pairs. `out` has room for as many and overlaps no input. Functions return 0, or a status that rdp_status()
 * names; what `out` holds then is unspecified. Nothing raises, prints or ends the program. A handle has room of its own
 * to work in: one thread at a time.
 *
 * Nothing here is a private release. rdp_laplace() draws from a law; which scale protects records, what the rounding
 * of a mean adds to it and what a budget has left is the work of the R package. */
#ifndef RIEMDP_CORE_H
#define RIEMDP_CORE_H

#include <stddef.h>

#define RIEMDP_VERSION 1 /* goes up where a program made for an older one would go wrong */

#ifdef RIEMDP_FROM_R
#define RIEMDP_API static inline
#elif defined(__GNUC__)
#define RIEMDP_API __attribute__((visibility("default")))
#else
#define RIEMDP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rdp_manifold rdp_manifold;

RIEMDP_API int rdp_version(void); /* RIEMDP_VERSION of the library, to compare with the header's */
/* "none", "off_manifold", ...: ends of the names of R's error classes; and what must be in words */
RIEMDP_API const char *rdp_status(int status);
RIEMDP_API const char *rdp_message(int status);

/* Names and parameters as in the R package: euclidean, sphere, hyperboloid, ball: d; spd_affine, spd_logeuclidean,
 * spd_bures, spd_logcholesky, correlation_offlog, correlation_logcholesky: k; simplex_aitchison: k parts, none zero; kendall: k
 * landmarks; stiefel_euclidean, stiefel_canonical, grassmann: n, p; rotations: n = 2, or 3, where distances are half the angle;
 * rotations_frames: n from 4 on. *out is NULL where the status isn't 0. */
RIEMDP_API int rdp_open(rdp_manifold **out, const char *name, size_t parameters, const int *parameter);
RIEMDP_API void rdp_close(rdp_manifold *m); /* NULL is fine */
RIEMDP_API size_t rdp_ambient(const rdp_manifold *m);
RIEMDP_API size_t rdp_dim(const rdp_manifold *m);

/* nearest points of the manifold, for numbers that are close to it; and whether points are on it */
RIEMDP_API int rdp_project(rdp_manifold *m, size_t n, const double *x, double *out);
RIEMDP_API int rdp_check(rdp_manifold *m, size_t n, const double *x);

/* Both counts are the same, or one of them is 1: that point or vector is taken for all. */
RIEMDP_API int rdp_dist(rdp_manifold *m, size_t p_count, const double *p, size_t q_count, const double *q, double *out);
RIEMDP_API int rdp_log(rdp_manifold *m, size_t p_count, const double *p, size_t q_count, const double *q, double *out);
RIEMDP_API int rdp_exp(rdp_manifold *m, size_t p_count, const double *p, size_t v_count, const double *v, double *out);

/* Frechet mean of n points, not private; weights and gradient_norm may be NULL. tol: the gradient norm to reach, in
 * units of the data's spread; 1e-10 is the R package's. */
RIEMDP_API int rdp_mean(rdp_manifold *m, size_t n, const double *x, const double *weights, double tol, double *out,
                        double *gradient_norm);

/* n independent points with density proportional to exp(-d(x, centre)/sigma), from the operating system's
 * randomness. On homogeneous spaces with a known volume; others have status "unsupported". */
RIEMDP_API int rdp_laplace(rdp_manifold *m, const double *centre, double sigma, size_t n, double *out);

/* bytes from the operating system's generator, for seeds and keys */
RIEMDP_API int rdp_random(size_t bytes, void *out);

#ifdef RIEMDP_FROM_R
#include <R_ext/Rdynload.h>
#define RIEMDP_CALL(name, type, parameters, arguments)                                                                 \
    RIEMDP_API type name parameters                                                                                    \
    {                                                                                                                  \
        static type(*f) parameters;                                                                                    \
        if (!f)                                                                                                        \
            f = (type(*) parameters)R_GetCCallable("riemdp", #name);                                                   \
        return f arguments;                                                                                            \
    }
RIEMDP_CALL(rdp_version, int, (void), ())
RIEMDP_CALL(rdp_status, const char *, (int status), (status))
RIEMDP_CALL(rdp_message, const char *, (int status), (status))
RIEMDP_CALL(rdp_open, int, (rdp_manifold * *out, const char *name, size_t parameters, const int *parameter),
            (out, name, parameters, parameter))
RIEMDP_CALL(rdp_ambient, size_t, (const rdp_manifold *m), (m))
RIEMDP_CALL(rdp_dim, size_t, (const rdp_manifold *m), (m))
RIEMDP_CALL(rdp_project, int, (rdp_manifold * m, size_t n, const double *x, double *out), (m, n, x, out))
RIEMDP_CALL(rdp_check, int, (rdp_manifold * m, size_t n, const double *x), (m, n, x))
RIEMDP_CALL(rdp_dist, int,
            (rdp_manifold * m, size_t p_count, const double *p, size_t q_count, const double *q, double *out),
            (m, p_count, p, q_count, q, out))
RIEMDP_CALL(rdp_log, int,
            (rdp_manifold * m, size_t p_count, const double *p, size_t q_count, const double *q, double *out),
            (m, p_count, p, q_count, q, out))
RIEMDP_CALL(rdp_exp, int,
            (rdp_manifold * m, size_t p_count, const double *p, size_t v_count, const double *v, double *out),
            (m, p_count, p, v_count, v, out))
RIEMDP_CALL(rdp_mean, int,
            (rdp_manifold * m, size_t n, const double *x, const double *weights, double tol, double *out,
             double *gradient_norm),
            (m, n, x, weights, tol, out, gradient_norm))
RIEMDP_CALL(rdp_laplace, int, (rdp_manifold * m, const double *centre, double sigma, size_t n, double *out),
            (m, centre, sigma, n, out))
RIEMDP_CALL(rdp_random, int, (size_t bytes, void *out), (bytes, out))
RIEMDP_API void rdp_close(rdp_manifold *m)
{
    ((void (*)(rdp_manifold *))R_GetCCallable("riemdp", "rdp_close"))(m);
}
#undef RIEMDP_CALL
#endif

#ifdef __cplusplus
}
#endif

#endif
