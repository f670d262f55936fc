/* Ground floor: status codes, the host's services, small mathematics.
 *
 * Kernels return a status and never raise: R errors are made in ffi_value.c from the one table below, which R reads as
 * well (riemdp_statuses), so that class names and messages exist once. */
#ifndef RIEMDP_GROUND_H
#define RIEMDP_GROUND_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* name, class suffix, what must be, how to mend it */
#define RIEMDP_STATUSES(X)                                                                                             \
    X(OK, "none", "", "")                                                                                              \
    X(NOT_FINITE, "not_finite", "must hold finite numbers only (no NA, NaN or Inf)",                                   \
      "A private call counts such a record by a public rule (see `invalid`): without it n would be another number.")   \
    X(OFF_MANIFOLD, "off_manifold", "must lie on the manifold within tolerance",                                       \
      "mf_project() moves a record to the manifold; mf_is_point() finds the ones that are off.")                       \
    X(NOT_SYMMETRIC, "not_symmetric", "must be a symmetric matrix", "Symmetrise it: (x + t(x)) / 2, complex (x + Conj(t(x))) / 2.") \
    X(NOT_POSITIVE, "not_positive_definite", "must be a positive definite matrix",                                     \
      "mf_project() lifts small eigenvalues to the floor given to spd() or hermitian_spd().") \
    X(NOT_TANGENT, "not_tangent", "must be tangent to the manifold at its base point",                                 \
      "mf_project_tangent() removes the normal part.")                                                                 \
    X(NOT_COMPOSITION, "not_composition", "must have parts that are nowhere negative and not all zero",                \
      "mf_project() raises zeros to the floor given to simplex(); where that is 0 all parts must be positive.")        \
    X(ZERO_SIZE, "zero_size", "must have landmarks that don't all coincide",                                           \
      "A configuration of size zero has no shape; a private call counts it by a public rule (see `invalid`).")         \
    X(CUT_LOCUS, "cut_locus", "must not lie at or beyond the cut locus of its base point, where log is not defined",   \
      "Take another base point; in private calls a public one.")                                                       \
    X(DOMAIN_EXCEEDED, "domain", "must be a tangent vector for which exp stays inside the manifold",                   \
      "Shorten the tangent vector: this manifold is not complete.")                                                    \
    X(OUT_OF_REACH, "out_of_reach",                                                                                     \
      "must stay where doubles tell points apart: in hyperbolic space within 32.5 of the apex or centre, "              \
      "matrices and compositions away from singular ones, landmarks in space from a line, sizes within 1e70",                                                             \
      "Move the data nearer to the apex or centre: further out rounding alone moves points.")                          \
    X(NO_CONVERGENCE, "no_convergence", "could not be reached: the iteration did not converge",                        \
      "The points may be at or near the cut locus of each other.")                                                     \
    X(UNSUPPORTED, "unsupported", "is not available on this manifold", "mf_facts() lists what the manifold offers.")   \
    X(BAD_MANIFOLD, "manifold", "must be a manifold object as its constructor made it",                                \
      "Make it again with its constructor, e.g. sphere(2).")                                                           \
    X(BAD_CALLBACK, "callback", "must be a function that returns finite numbers of the right type and length",         \
      "See ?manifold_custom for the shapes that each function must return.")                                           \
    X(OUT_OF_RANGE, "argument", "comes with a number out of its range", "See the help page for its range.")            \
    X(RANDOMNESS, "randomness", "could not be obtained: the operating system gave no random bytes, or the same again and again", \
      "Nothing was released. Try again.")                                                                              \
    X(TRIALS, "unsupported", "rejects nearly all that it draws on this manifold at this scale",                        \
      "Nothing was released. A smaller scale would do, or a wrapped law.")                                             \
    X(LINALG, "linalg", "could not be factored", "The matrix may be too ill-conditioned.")

enum status {
#define X(name, class, must, mend) STATUS_##name,
    RIEMDP_STATUSES(X)
#undef X
        STATUS_COUNT
};

/* What the lower storeys may ask of the one above. `tick` (may be NULL) need not return, `fail` must not: nothing below owns more
 * than the caller's workspace. `tick` sees public counts only. */
struct host {
    void (*tick)(struct host *host, double done, double of);
    void (*fail)(struct host *host, int status);
    double (*uniform)(struct host *host), (*normal)(struct host *host); /* the host's own generator: RNG_HOST alone asks for it */
};

static inline void host_tick(struct host *host, double done, double of)
{
    if (host && host->tick)
        host->tick(host, done, of);
}

/* inner loops of small matrices: vectorised where the compiler needs to be told */
#if defined(__GNUC__) && !defined(__clang__)
#define RIEMDP_HOT __attribute__((optimize("O3", "no-math-errno")))
#else
#define RIEMDP_HOT
#endif

#define RIEMDP_PI 3.141592653589793238462643383280
#define RIEMDP_SQRT2 1.414213562373095048801688724210
#define RIEMDP_EPS 2.220446049250313e-16

/* relative tolerance of point and tangent checks */
#define RIEMDP_TOL 1e-8

static inline double square(double x)
{
    return x * x;
}

/* sin(x)/x */
static inline double sinc(double x)
{
    return fabs(x) < 1e-4 ? 1 - x * x / 6 : sin(x) / x;
}

/* sinh(x)/x */
static inline double sinhc(double x)
{
    return fabs(x) < 1e-4 ? 1 + x * x / 6 : sinh(x) / x;
}

/* log(sin(x)/x), 0 <= x < pi */
static inline double log_sinc(double x)
{
    double y = x * x;
    return y < 1e-4 ? -y * (1.0 / 6 + y * (1.0 / 180 + y / 2835)) : log(sin(x) / x);
}

/* log(sinh(x)/x) without overflow */
static inline double log_sinhc(double x)
{
    double y = x * x;
    x = fabs(x);
    if (y < 1e-4)
        return y * (1.0 / 6 - y * (1.0 / 180 - y / 2835));
    return x < 20 ? log(sinh(x) / x) : x - log(2 * x);
}

/* whether two rows hold the same numbers */
static inline int same(size_t n, const double *x, const double *y)
{
    for (size_t j = 0; j < n; j++)
        if (!(x[j] == y[j]))
            return 0;
    return 1;
}

static inline double dot(size_t n, const double *x, const double *y)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

static inline double norm2(size_t n, const double *x)
{
    return sqrt(dot(n, x, x));
}

static inline int all_finite(size_t n, const double *x)
{
    double s[4] = {0, 0, 0, 0}; /* apart, so that no addition waits for the one before */
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            s[k] += 0 * x[i + k];
    for (; i < n; i++)
        s[0] += 0 * x[i];
    return s[0] + s[1] + s[2] + s[3] == 0;
}

#endif
