/* Eigenvalues and eigenvectors of symmetric matrices, and what is made of them. */
#include "linalg.h"
#include "lapack.h"

/* size up to which own loops are used */
enum { SMALL_EIG = 64, BLOCK = 32 };

/* the lower triangle of A B' for a product that is symmetric, mirrored */
RIEMDP_HOT static void symmetric_product(size_t n, const double *restrict a, const double *restrict b,
                                         double *restrict c)
{
    for (size_t j = 0; j < n; j++) {
        double *cj = c + j * n;
        for (size_t i = j; i < n; i++)
            cj[i] = 0;
        for (size_t k = 0; k < n; k++) {
            const double *ak = a + k * n;
            double t = b[j + k * n];
            for (size_t i = j; i < n; i++)
                cj[i] += ak[i] * t;
        }
    }
    la_mirror_lower(n, c);
}

/* The row in d[0], ..., d[i - 1] becomes the vector u of the reflection that leaves but its last entry, e[i]. Returns
 * |u|^2/2, or 0 where the row vanishes. */
RIEMDP_HOT static inline double reflector(size_t i, double *d, double *e)
{
    double scale = 0, h = 0;
    for (size_t k = 0; k < i; k++)
        scale += fabs(d[k]);
    if (scale == 0) {
        e[i] = d[i - 1];
        return 0;
    }
    for (size_t k = 0; k < i; k++) {
        d[k] /= scale;
        h += d[k] * d[k];
    }
    double f = d[i - 1], g = f > 0 ? -sqrt(h) : sqrt(h);
    e[i] = scale * g;
    h -= f * g;
    d[i - 1] = f - g;
    return h;
}

/* The leading block of size i between two reflections, A - u q' - q u' with q = A u/h - (u'A u/(2 h^2)) u. u goes to
 * column i, the next row to d. */
RIEMDP_HOT static inline void reflect_block(size_t n, size_t i, double h, double *a, double *d, double *e)
{
    for (size_t j = 0; j < i; j++)
        e[j] = 0;
    for (size_t j = 0; j < i; j++) {
        double f = d[j], g = e[j] + a[j + j * n] * f;
        a[j + i * n] = f;
        for (size_t k = j + 1; k < i; k++) {
            g += a[k + j * n] * d[k];
            e[k] += a[k + j * n] * f;
        }
        e[j] = g;
    }
    double along = 0;
    for (size_t j = 0; j < i; j++) {
        e[j] /= h;
        along += e[j] * d[j];
    }
    double half = along / (h + h);
    for (size_t j = 0; j < i; j++)
        e[j] -= half * d[j];
    for (size_t j = 0; j < i; j++) {
        double f = d[j], g = e[j];
        for (size_t k = j; k < i; k++)
            a[k + j * n] -= f * e[k] + g * d[k];
        d[j] = a[i - 1 + j * n];
        a[i + j * n] = 0;
    }
}

RIEMDP_HOT static inline void pass_row(size_t n, size_t i, double *a, double *d)
{
    for (size_t j = 0; j < i; j++) {
        d[j] = a[i - 1 + j * n];
        a[i + j * n] = 0;
        a[j + i * n] = 0;
    }
}

/* The product of the reflections, of which a holds the vectors and d their |u|^2/2, in a; the diagonal, which stood on
 * that of a, waits in the last row meanwhile and goes to d. */
RIEMDP_HOT static inline void multiply_reflections(size_t n, double *a, double *d)
{
    for (size_t i = 0; i + 1 < n; i++) {
        a[n - 1 + i * n] = a[i + i * n];
        a[i + i * n] = 1;
        double h = d[i + 1];
        if (h != 0) {
            for (size_t k = 0; k <= i; k++)
                d[k] = a[k + (i + 1) * n] / h;
            for (size_t j = 0; j <= i; j++) {
                double g = 0;
                for (size_t k = 0; k <= i; k++)
                    g += a[k + (i + 1) * n] * a[k + j * n];
                for (size_t k = 0; k <= i; k++)
                    a[k + j * n] -= g * d[k];
            }
        }
        for (size_t k = 0; k <= i; k++)
            a[k + (i + 1) * n] = 0;
    }
    for (size_t j = 0; j < n; j++) {
        d[j] = a[n - 1 + j * n];
        a[n - 1 + j * n] = 0;
    }
    a[n - 1 + (n - 1) * n] = 1;
}

/* Householder reduction to tridiagonal form (diagonal d, subdiagonal e) and, with vectors, the product of the
 * reflections in a; then QL with implicit shifts. Martin, Reinsch and Wilkinson 1968, doi:10.1007/BF02161360;
 * Dubrulle, Martin and Wilkinson 1968, doi:10.1007/BF02165404. */
RIEMDP_HOT static void tridiagonalize(size_t n, double *a, double *d, double *e, int vectors)
{
    for (size_t j = 0; j < n; j++)
        d[j] = a[n - 1 + j * n];
    for (size_t i = n - 1; i > 0; i--) {
        double h = reflector(i, d, e);
        if (h == 0)
            pass_row(n, i, a, d);
        else
            reflect_block(n, i, h, a, d, e);
        d[i] = h;
    }
    e[0] = 0;
    if (vectors) {
        multiply_reflections(n, a, d);
        return;
    }
    /* the diagonal of the reduced matrix stands on the diagonal of a */
    for (size_t i = 0; i < n; i++)
        d[i] = a[i + i * n];
}

/* One step for the block of rows l, ..., m, with the shift of its leading two rows, which it returns: all values from l
 * on are less by that. */
RIEMDP_HOT static inline double ql_step(size_t n, size_t l, size_t m, double *a, double *d, double *e)
{
    double g = d[l], p = (d[l + 1] - g) / (2 * e[l]), r = sqrt(p * p + 1);
    if (p < 0)
        r = -r;
    d[l] = e[l] / (p + r);
    d[l + 1] = e[l] * (p + r);
    double dl1 = d[l + 1], h = g - d[l], shift = h;
    for (size_t i = l + 2; i < n; i++)
        d[i] -= h;
    p = d[m];
    double c = 1, c2 = 1, c3 = 1, el1 = e[l + 1], s = 0, s2 = 0;
    for (size_t i = m; i-- > l;) {
        c3 = c2;
        c2 = c;
        s2 = s;
        g = c * e[i];
        h = c * p;
        r = sqrt(p * p + e[i] * e[i]);
        e[i + 1] = s * r;
        s = e[i] / r;
        c = p / r;
        p = c * d[i] - s * g;
        d[i + 1] = h + s * (c * g + s * d[i]);
        double *restrict vi = a + i * n, *restrict vj = vi + n;
        for (size_t k = 0; k < n; k++) {
            double x = vj[k], y = vi[k];
            vj[k] = s * y + c * x;
            vi[k] = c * y - s * x;
        }
    }
    p = -s * s2 * c3 * el1 * e[l] / dl1;
    e[l] = s * p;
    d[l] = c * p;
    return shift;
}

/* ascending order, vectors along; insertion, since matrices are small */
RIEMDP_HOT static inline void sort_vectors(size_t n, double *a, double *d)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && d[j - 1] > d[j]; j--) {
            double t = d[j];
            d[j] = d[j - 1];
            d[j - 1] = t;
            for (size_t k = 0; k < n; k++) {
                t = a[k + j * n];
                a[k + j * n] = a[k + (j - 1) * n];
                a[k + (j - 1) * n] = t;
            }
        }
}

RIEMDP_HOT static int ql_implicit(size_t n, double *a, double *d, double *e)
{
    for (size_t i = 1; i < n; i++)
        e[i - 1] = e[i];
    e[n - 1] = 0;
    double shifted = 0, size = 0;
    for (size_t l = 0; l < n; l++) {
        double t = fabs(d[l]) + fabs(e[l]);
        if (t > size)
            size = t;
        size_t m = l;
        while (m < n - 1 && fabs(e[m]) > 0.5 * RIEMDP_EPS * size)
            m++;
        for (int iter = 0; fabs(e[l]) > 0.5 * RIEMDP_EPS * size; iter++) {
            if (iter == 60)
                return STATUS_LINALG;
            shifted += ql_step(n, l, m, a, d, e);
        }
        d[l] += shifted;
        e[l] = 0;
    }
    sort_vectors(n, a, d);
    return STATUS_OK;
}

/* Eigenvalues alone by the square-root-free variant of Pal, Walker and Kahan (Parlett 1998, doi:10.1137/1.9781611971163,
 * section 8.15): e holds squares of the off-diagonal. */
RIEMDP_HOT static int ql_values(size_t n, double *d, double *e)
{
    for (size_t i = 1; i < n; i++)
        e[i - 1] = e[i] * e[i];
    e[n - 1] = 0;
    for (size_t l = 0; l < n; l++) {
        for (int iter = 0;; iter++) {
            size_t m = l;
            while (m < n - 1 && e[m] > RIEMDP_EPS * RIEMDP_EPS * (fabs(d[m] * d[m + 1]) + RIEMDP_EPS))
                m++;
            if (m == l)
                break;
            if (iter > 80)
                return STATUS_LINALG;
            double root = sqrt(e[l]), shift = (d[l + 1] - d[l]) / (2 * root);
            shift = d[l] - root / (shift + (shift < 0 ? -1 : 1) * sqrt(shift * shift + 1));
            double c = 1, s = 0, gamma = d[m] - shift, p = gamma * gamma;
            for (size_t i = m; i-- > l;) {
                double b = e[i], r = p + b, old = c, previous = gamma;
                if (i + 1 != m)
                    e[i + 1] = s * r;
                c = p / r;
                s = b / r;
                gamma = c * (d[i] - shift) - s * previous;
                d[i + 1] = previous + (d[i] - gamma);
                p = c != 0 ? gamma * gamma / c : old * b;
            }
            e[l] = s * p;
            d[l] = shift + gamma;
        }
    }
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && d[j - 1] > d[j]; j--) {
            double t = d[j];
            d[j] = d[j - 1];
            d[j - 1] = t;
        }
    return STATUS_OK;
}

size_t la_symeig_work(size_t n)
{
    return n <= SMALL_EIG ? n : (BLOCK + 3) * n;
}

int la_symeig(size_t n, double *a, double *w, int vectors, double *work)
{
    if (!all_finite(n * n, a))
        return STATUS_NOT_FINITE;
    if (n == 1) {
        w[0] = a[0];
        a[0] = 1;
        return STATUS_OK;
    }
    if (n <= SMALL_EIG) {
        /* scaled by a power of two to size one: no overflow in the squares below */
        double big = 0;
        int exponent;
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++)
                if (fabs(a[i + j * n]) > big)
                    big = fabs(a[i + j * n]);
        frexp(big, &exponent);
        double down = big > 0 ? ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent) : 1;
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++)
                a[i + j * n] = a[j + i * n] = a[i + j * n] * down;
        tridiagonalize(n, a, w, work, vectors);
        int status = vectors ? ql_implicit(n, a, w, work) : ql_values(n, w, work);
        for (size_t j = 0; j < n; j++)
            w[j] /= down;
        return status;
    }
    int in = (int)n, lwork = (int)((BLOCK + 3) * n), info = 0;
    F77_CALL(dsyev)(vectors ? "V" : "N", "L", &in, a, &in, w, work, &lwork, &info FCONE FCONE);
    return info ? STATUS_LINALG : STATUS_OK;
}

void la_spectral(size_t n, const double *v, const double *f, double *a, double *work)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            work[i + j * n] = v[i + j * n] * f[j];
    symmetric_product(n, work, v, a);
}

void la_gram(size_t n, const double *b, double *a)
{
    symmetric_product(n, b, b, a);
}

void la_to_basis(size_t n, const double *v, const double *a, double *b, double *work)
{
    /* (A V)' V: the transposed factor stands in rows, so that the inner loops run down columns */
    la_mul_square('N', 'N', n, a, v, work);
    la_mul_square('T', 'N', n, v, work, b);
    la_symmetrize(n, b);
}

void la_from_basis(size_t n, const double *v, const double *b, double *a, double *work)
{
    la_mul_square('N', 'N', n, v, b, work);
    symmetric_product(n, work, v, a);
}
