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
