#include "tall.h"

#include "linalg.h"
#include "simd.h"

/* more columns: an optimised BLAS may win */
enum { TALL_MOST = 64 };

RIEMDP_SIMD void tall_cross(size_t n, size_t p, const double *x, const double *y, double *out)
{
    if (p > TALL_MOST) {
        la_mul('T', 'N', p, p, n, x, n, y, n, out, p);
        return;
    }
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < p; i++)
            out[i + j * p] = simd_dot(n, x + i * n, y + j * n);
}

RIEMDP_SIMD void tall_gram(size_t n, size_t p, const double *x, double *out)
{
    if (p > TALL_MOST) {
        la_mul('T', 'N', p, p, n, x, n, x, n, out, p);
        la_symmetrize(p, out);
        return;
    }
    for (size_t j = 0; j < p; j++)
        for (size_t i = j; i < p; i++)
            out[i + j * p] = out[j + i * p] = simd_dot(n, x + i * n, x + j * n);
}

RIEMDP_SIMD void tall_add(size_t n, size_t p, const double *y, const double *x, const double *a, double *out)
{
    for (size_t j = 0; j < p; j++) {
        const double *yj = y + j * n, *aj = a + j * p;
        double *o = out + j * n;
        size_t i = 0;
        for (; i + 8 <= n; i += 8) {
            simd_four s = SIMD_LOAD(yj + i), t = SIMD_LOAD(yj + i + 4);
            for (size_t h = 0; h < p; h++) {
                s += SIMD_LOAD(x + i + h * n) * aj[h];
                t += SIMD_LOAD(x + i + 4 + h * n) * aj[h];
            }
            *(simd_four *)(o + i) = s;
            *(simd_four *)(o + i + 4) = t;
        }
        for (; i < n; i++) {
            double s = yj[i];
            for (size_t h = 0; h < p; h++)
                s += x[i + h * n] * aj[h];
            o[i] = s;
        }
    }
}

/* `count` (1 or 2) columns of C */
RIEMDP_INLINE void mul_columns(const size_t count, size_t m, size_t k, const double *a, size_t lda, const double *b,
                               size_t ldb, double *c, size_t ldc)
{
    size_t i = 0;
    const double *d = b + (count - 1) * ldb;
    double *e = c + (count - 1) * ldc;
    for (; i + 8 <= m; i += 8) {
        simd_four s[2] = {{0}, {0}}, t[2] = {{0}, {0}};
        for (size_t h = 0; h < k; h++) {
            simd_four u = SIMD_LOAD(a + i + h * lda), v = SIMD_LOAD(a + i + 4 + h * lda);
            s[0] += u * b[h];
            s[1] += v * b[h];
            if (count == 2) {
                t[0] += u * d[h];
                t[1] += v * d[h];
            }
        }
        *(simd_four *)(c + i) = s[0];
        *(simd_four *)(c + i + 4) = s[1];
        if (count == 2) {
            *(simd_four *)(e + i) = t[0];
            *(simd_four *)(e + i + 4) = t[1];
        }
    }
    if (i + 4 <= m) {
        simd_four s = {0}, t = {0};
        for (size_t h = 0; h < k; h++) {
            s += SIMD_LOAD(a + i + h * lda) * b[h];
            if (count == 2)
                t += SIMD_LOAD(a + i + h * lda) * d[h];
        }
        *(simd_four *)(c + i) = s;
        if (count == 2)
            *(simd_four *)(e + i) = t;
        i += 4;
    }
    if (i + 2 <= m) {
        simd_two s = {0}, t = {0};
        for (size_t h = 0; h < k; h++) {
            s += *(const simd_two *)(a + i + h * lda) * b[h];
            if (count == 2)
                t += *(const simd_two *)(a + i + h * lda) * d[h];
        }
        *(simd_two *)(c + i) = s;
        if (count == 2)
            *(simd_two *)(e + i) = t;
        i += 2;
    }
    if (i < m) {
        double s = 0, t = 0;
        for (size_t h = 0; h < k; h++) {
            s += a[i + h * lda] * b[h];
            t += a[i + h * lda] * d[h];
        }
        c[i] = s;
        if (count == 2)
            e[i] = t;
    }
}

RIEMDP_SIMD void tall_mul(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
                          double *c, size_t ldc)
{
    size_t j = 0;
    if (m > 2 * TALL_MOST || n > 2 * TALL_MOST || k > 2 * TALL_MOST) {
        la_mul('N', 'N', m, n, k, a, lda, b, ldb, c, ldc);
        return;
    }
    for (; j + 2 <= n; j += 2)
        mul_columns(2, m, k, a, lda, b + j * ldb, ldb, c + j * ldc, ldc);
    if (j < n)
        mul_columns(1, m, k, a, lda, b + j * ldb, ldb, c + j * ldc, ldc);
}
