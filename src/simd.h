/* Loops that vector units run. Sums have a fixed number of partial sums and products are never fused, so that answers
 * don't depend on the width of the registers. */
#ifndef RIEMDP_SIMD_H
#define RIEMDP_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h> /* defines __GLIBC__ where that is the C library */
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define RIEMDP_VECTOR "O3", "no-math-errno", "no-trapping-math", "fp-contract=off"
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define RIEMDP_SIMD __attribute__((optimize(RIEMDP_VECTOR), target_clones("avx2", "default")))
#else
#define RIEMDP_SIMD __attribute__((optimize(RIEMDP_VECTOR)))
#endif
#define RIEMDP_INLINE static inline __attribute__((always_inline))
#else
#define RIEMDP_SIMD
#define RIEMDP_INLINE static inline
#endif

enum { SIMD_SUMS = 8 }; /* partial sums: enough to hide the latency of additions */

RIEMDP_INLINE double simd_total(const double *s)
{
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

/* Square roots in place: compilers leave sqrt(), which may set errno, alone. */
RIEMDP_INLINE void simd_sqrt(size_t n, double *x)
{
    size_t i = 0;
#ifdef __SSE2__
    for (; i + 2 <= n; i += 2)
        _mm_storeu_pd(x + i, _mm_sqrt_pd(_mm_loadu_pd(x + i)));
#endif
    for (; i < n; i++)
        x[i] = sqrt(x[i]);
}

/* to be inlined into a function that is RIEMDP_SIMD */
RIEMDP_INLINE double simd_dot(size_t n, const double *x, const double *y)
{
    double s[SIMD_SUMS] = {0};
    size_t j = 0;
    for (; j + SIMD_SUMS <= n; j += SIMD_SUMS)
        for (size_t k = 0; k < SIMD_SUMS; k++)
            s[k] += x[j + k] * y[j + k];
    for (size_t k = 0; j < n; j++, k++)
        s[k] += x[j] * y[j];
    return simd_total(s);
}

#endif
