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

/* Four doubles: one register or two. Compilers' own vectors say what automatic vectorisation of sums would only guess. */
typedef double simd_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double simd_two __attribute__((vector_size(16), aligned(8), may_alias));
#define SIMD_LOAD(x) (*(const simd_four *)(x))

/* the total of eight partial sums */
RIEMDP_INLINE double simd_total(const simd_four *s)
{
    simd_four t = s[0] + s[1];
    return (t[0] + t[2]) + (t[1] + t[3]);
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
    simd_four s[2] = {{0}, {0}};
    size_t j = 0;
    double rest = 0;
    for (; j + 8 <= n; j += 8) {
        s[0] += SIMD_LOAD(x + j) * SIMD_LOAD(y + j);
        s[1] += SIMD_LOAD(x + j + 4) * SIMD_LOAD(y + j + 4);
    }
    if (j + 4 <= n) {
        s[0] += SIMD_LOAD(x + j) * SIMD_LOAD(y + j);
        j += 4;
    }
    for (; j < n; j++)
        rest += x[j] * y[j];
    return simd_total(s) + rest;
}

#define SIMD_PAIR(x) (*(simd_two *)(x))

/* n records of `length` numbers from columns that are `apart` doubles from each other, two of both at a time */
RIEMDP_INLINE void simd_to_records(size_t n, size_t length, const double *x, size_t apart, double *out)
{
    size_t j = 0;
    for (; j + 2 <= length; j += 2) {
        const double *a = x + j * apart, *b = a + apart;
        size_t i = 0;
        for (; i + 2 <= n; i += 2) {
            simd_two s = *(const simd_two *)(a + i), t = *(const simd_two *)(b + i);
            SIMD_PAIR(out + i * length + j) = (simd_two){s[0], t[0]};
            SIMD_PAIR(out + (i + 1) * length + j) = (simd_two){s[1], t[1]};
        }
        if (i < n)
            SIMD_PAIR(out + i * length + j) = (simd_two){a[i], b[i]};
    }
    for (size_t i = 0; i < n && j < length; i++)
        out[i * length + j] = x[j * apart + i];
}

/* and back */
RIEMDP_INLINE void simd_to_columns(size_t n, size_t length, const double *x, size_t apart, double *out)
{
    size_t j = 0;
    for (; j + 2 <= length; j += 2) {
        double *a = out + j * apart, *b = a + apart;
        size_t i = 0;
        for (; i + 2 <= n; i += 2) {
            simd_two s = *(const simd_two *)(x + i * length + j), t = *(const simd_two *)(x + (i + 1) * length + j);
            SIMD_PAIR(a + i) = (simd_two){s[0], t[0]};
            SIMD_PAIR(b + i) = (simd_two){s[1], t[1]};
        }
        if (i < n) {
            a[i] = x[i * length + j];
            b[i] = x[i * length + j + 1];
        }
    }
    for (size_t i = 0; i < n && j < length; i++)
        out[j * apart + i] = x[i * length + j];
}

/* n records of `length` numbers from one layout to another: number j of record i stands at i * record + j * coordinate */
RIEMDP_INLINE void simd_move(size_t n, size_t length, const double *x, size_t record, size_t coordinate, double *out, size_t out_record,
                             size_t out_coordinate)
{
    if (record == 1 && out_record == length && out_coordinate == 1) {
        simd_to_records(n, length, x, coordinate, out);
        return;
    }
    if (record == length && coordinate == 1 && out_record == 1) {
        simd_to_columns(n, length, x, out_coordinate, out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < length; j++)
            out[i * out_record + j * out_coordinate] = x[i * record + j * coordinate];
}

#endif
