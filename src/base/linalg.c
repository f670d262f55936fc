/* Small dense linear algebra: own loops where matrices are small, LAPACK above. */
#include "linalg.h"
#include "lapack.h"

#include <string.h>

/* Sizes up to which own loops are used: beyond, an optimised BLAS may win, and reference BLAS hardly loses. */
enum { SMALL_MUL = 128, SMALL_EIG = 64, BLOCK = 32 };

RIEMDP_HOT static void mul_plain(char tb, size_t m, size_t n, size_t k, const double *restrict a, size_t lda,
                                 const double *restrict b, size_t ldb, double *restrict c, size_t ldc)
{
    for (size_t j = 0; j < n; j++) {
        double *cj = c + j * ldc;
        for (size_t i = 0; i < m; i++)
            cj[i] = 0;
        for (size_t l = 0; l < k; l++) {
            const double *al = a + l * lda;
            double t = tb == 'T' ? b[j + l * ldb] : b[l + j * ldb];
            for (size_t i = 0; i < m; i++)
                cj[i] += al[i] * t;
        }
    }
}

RIEMDP_HOT static void mul_transposed(char tb, size_t m, size_t n, size_t k, const double *restrict a, size_t lda,
                                      const double *restrict b, size_t ldb, double *restrict c, size_t ldc)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            const double *ai = a + i * lda;
            double s = 0;
            if (tb == 'T')
                for (size_t l = 0; l < k; l++)
                    s += ai[l] * b[j + l * ldb];
            else
                for (size_t l = 0; l < k; l++)
                    s += ai[l] * b[l + j * ldb];
            c[i + j * ldc] = s;
        }
}

void la_mul(char ta, char tb, size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
            double *c, size_t ldc)
{
    if (m > SMALL_MUL || n > SMALL_MUL || k > SMALL_MUL) {
        int im = (int)m, in = (int)n, ik = (int)k, ia = (int)lda, ib = (int)ldb, ic = (int)ldc;
        double one = 1, zero = 0;
        if (m == 0 || n == 0)
            return;
        if (ia < 1)
            ia = 1;
        if (ib < 1)
            ib = 1;
        F77_CALL(dgemm)(&ta, &tb, &im, &in, &ik, &one, a, &ia, b, &ib, &zero, c, &ic FCONE FCONE);
        return;
    }
    if (ta == 'T')
        mul_transposed(tb, m, n, k, a, lda, b, ldb, c, ldc);
    else
        mul_plain(tb, m, n, k, a, lda, b, ldb, c, ldc);
}

void la_mul_square(char ta, char tb, size_t n, const double *a, const double *b, double *c)
{
    la_mul(ta, tb, n, n, n, a, n, b, n, c, n);
}

void la_mirror_lower(size_t n, double *a)
{
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++)
            a[i + j * n] = a[j + i * n];
}

void la_symmetrize(size_t n, double *a)
{
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++)
            a[i + j * n] = a[j + i * n] = 0.5 * (a[i + j * n] + a[j + i * n]);
}

RIEMDP_HOT int la_chol(size_t n, const double *a, double *l)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            double s = a[i + j * n];
            l[i + j * n] = s;
        }
        for (size_t k = 0; k < j; k++) {
            double t = l[j + k * n];
            for (size_t i = j; i < n; i++)
                l[i + j * n] -= l[i + k * n] * t;
        }
        double d = l[j + j * n];
        if (!(d > 0) || !(d < INFINITY))
            return STATUS_NOT_POSITIVE;
        d = 1 / sqrt(d);
        for (size_t i = j; i < n; i++)
            l[i + j * n] *= d;
        for (size_t i = 0; i < j; i++)
            l[i + j * n] = 0;
    }
    return STATUS_OK;
}

RIEMDP_HOT static void solve_lower_small(char trans, size_t n, size_t m, const double *restrict l, double *restrict b)
{
    for (size_t c = 0; c < m; c++) {
        double *x = b + c * n;
        if (trans == 'T') {
            for (size_t i = n; i-- > 0;) {
                double s = x[i];
                for (size_t k = i + 1; k < n; k++)
                    s -= l[k + i * n] * x[k];
                x[i] = s / l[i + i * n];
            }
        } else {
            for (size_t k = 0; k < n; k++) {
                double t = x[k] /= l[k + k * n];
                for (size_t i = k + 1; i < n; i++)
                    x[i] -= l[i + k * n] * t;
            }
        }
    }
}

void la_solve_lower(char trans, size_t n, size_t m, const double *l, double *b)
{
    if (n <= SMALL_MUL) {
        solve_lower_small(trans, n, m, l, b);
    } else {
        int in = (int)n, im = (int)m;
        double one = 1;
        if (m > 0)
            F77_CALL(dtrsm)("L", "L", &trans, "N", &in, &im, &one, l, &in, b, &in FCONE FCONE FCONE FCONE);
    }
}

/* B = L^-1 A, then the lower triangle of S from S L' = B, column by column. Row j of the first step needs only what
 * the second will read: columns 0, ..., i of row i. */
RIEMDP_HOT void la_whiten(size_t n, const double *l, const double *a, double *s, double *work)
{
    double *restrict b = work;
    for (size_t j = 0; j < n; j++) {
        double *bj = b + j * n;
        for (size_t i = 0; i < j; i++)
            bj[i] = a[j + i * n];
        for (size_t i = j; i < n; i++)
            bj[i] = a[i + j * n];
        for (size_t k = 0; k < n; k++) {
            const double *lk = l + k * n;
            double t = bj[k] /= lk[k];
            for (size_t i = k + 1; i < n; i++)
                bj[i] -= lk[i] * t;
        }
    }
    for (size_t j = 0; j < n; j++) {
        double *restrict sj = b + j * n;
        for (size_t k = 0; k < j; k++) {
            const double *sk = b + k * n;
            double t = l[j + k * n];
            for (size_t i = j; i < n; i++)
                sj[i] -= t * sk[i];
        }
        double d = 1 / l[j + j * n];
        for (size_t i = j; i < n; i++)
            sj[i] *= d;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            s[i + j * n] = s[j + i * n] = b[i + j * n];
}

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

/* both products skip what is zero in L */
RIEMDP_HOT void la_unwhiten(size_t n, const double *l, const double *s, double *a, double *work)
{
    double *restrict b = work;
    for (size_t j = 0; j < n; j++) {
        double *bj = b + j * n;
        for (size_t i = 0; i < n; i++)
            bj[i] = 0;
        for (size_t k = 0; k < n; k++) {
            double t = s[k + j * n];
            const double *lk = l + k * n;
            for (size_t i = k; i < n; i++)
                bj[i] += lk[i] * t;
        }
    }
    for (size_t j = 0; j < n; j++) {
        double *restrict aj = a + j * n;
        for (size_t i = j; i < n; i++)
            aj[i] = 0;
        for (size_t k = 0; k <= j; k++) {
            double t = l[j + k * n];
            const double *bk = b + k * n;
            for (size_t i = j; i < n; i++)
                aj[i] += bk[i] * t;
        }
    }
    la_mirror_lower(n, a);
}

RIEMDP_HOT void la_inverse_from_chol(size_t n, const double *l, double *a, double *work)
{
    double *restrict r = work; /* R = L^-1, lower triangular */
    for (size_t j = 0; j < n; j++) {
        double *rj = r + j * n;
        for (size_t i = 0; i < n; i++)
            rj[i] = i == j;
        for (size_t k = j; k < n; k++) {
            double t = rj[k] /= l[k + k * n];
            for (size_t i = k + 1; i < n; i++)
                rj[i] -= l[i + k * n] * t;
        }
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double s = 0;
            for (size_t k = i; k < n; k++)
                s += r[k + i * n] * r[k + j * n];
            a[i + j * n] = a[j + i * n] = s;
        }
}

/* Householder reduction to tridiagonal form (diagonal d, subdiagonal e) and, with vectors, the product of the
 * reflections in a; then QL with implicit shifts. Martin, Reinsch and Wilkinson 1968, doi:10.1007/BF02161360;
 * Dubrulle, Martin and Wilkinson 1968, doi:10.1007/BF02165404. */
RIEMDP_HOT static void tridiagonalize(size_t n, double *a, double *d, double *e, int vectors)
{
    for (size_t j = 0; j < n; j++)
        d[j] = a[n - 1 + j * n];
    for (size_t i = n - 1; i > 0; i--) {
        double scale = 0, h = 0;
        for (size_t k = 0; k < i; k++)
            scale += fabs(d[k]);
        if (scale == 0) {
            e[i] = d[i - 1];
            for (size_t j = 0; j < i; j++) {
                d[j] = a[i - 1 + j * n];
                a[i + j * n] = 0;
                a[j + i * n] = 0;
            }
        } else {
            for (size_t k = 0; k < i; k++) {
                d[k] /= scale;
                h += d[k] * d[k];
            }
            double f = d[i - 1], g = f > 0 ? -sqrt(h) : sqrt(h);
            e[i] = scale * g;
            h -= f * g;
            d[i - 1] = f - g;
            for (size_t j = 0; j < i; j++)
                e[j] = 0;
            for (size_t j = 0; j < i; j++) {
                f = d[j];
                a[j + i * n] = f;
                g = e[j] + a[j + j * n] * f;
                for (size_t k = j + 1; k < i; k++) {
                    g += a[k + j * n] * d[k];
                    e[k] += a[k + j * n] * f;
                }
                e[j] = g;
            }
            f = 0;
            for (size_t j = 0; j < i; j++) {
                e[j] /= h;
                f += e[j] * d[j];
            }
            double hh = f / (h + h);
            for (size_t j = 0; j < i; j++)
                e[j] -= hh * d[j];
            for (size_t j = 0; j < i; j++) {
                f = d[j];
                g = e[j];
                for (size_t k = j; k < i; k++)
                    a[k + j * n] -= f * e[k] + g * d[k];
                d[j] = a[i - 1 + j * n];
                a[i + j * n] = 0;
            }
        }
        d[i] = h;
    }
    if (!vectors) {
        /* the diagonal of the reduced matrix stands on the diagonal of a */
        for (size_t i = 0; i < n; i++)
            d[i] = a[i + i * n];
        e[0] = 0;
        return;
    }
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
    e[0] = 0;
}

RIEMDP_HOT static int ql_implicit(size_t n, double *a, double *d, double *e)
{
    for (size_t i = 1; i < n; i++)
        e[i - 1] = e[i];
    e[n - 1] = 0;
    double f = 0, tst1 = 0;
    for (size_t l = 0; l < n; l++) {
        double t = fabs(d[l]) + fabs(e[l]);
        if (t > tst1)
            tst1 = t;
        size_t m = l;
        while (m < n - 1 && fabs(e[m]) > 0.5 * RIEMDP_EPS * tst1)
            m++;
        if (m > l) {
            int iter = 0;
            do {
                if (++iter > 60)
                    return STATUS_LINALG;
                double g = d[l], p = (d[l + 1] - g) / (2 * e[l]), r = sqrt(p * p + 1);
                if (p < 0)
                    r = -r;
                d[l] = e[l] / (p + r);
                d[l + 1] = e[l] * (p + r);
                double dl1 = d[l + 1], h = g - d[l];
                for (size_t i = l + 2; i < n; i++)
                    d[i] -= h;
                f += h;
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
            } while (fabs(e[l]) > 0.5 * RIEMDP_EPS * tst1);
        }
        d[l] += f;
        e[l] = 0;
    }
    /* ascending order; insertion, since matrices are small */
    for (size_t i = 1; i < n; i++) {
        size_t j = i;
        while (j > 0 && d[j - 1] > d[j]) {
            double t = d[j];
            d[j] = d[j - 1];
            d[j - 1] = t;
            for (size_t k = 0; k < n; k++) {
                t = a[k + j * n];
                a[k + j * n] = a[k + (j - 1) * n];
                a[k + (j - 1) * n] = t;
            }
            j--;
        }
    }
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

size_t la_svd_work(size_t m, size_t n)
{
    size_t big = m > n ? m : n;
    return (BLOCK + 5) * big + 3 * (m + n) + 1;
}

int la_svd(size_t m, size_t n, double *a, double *u, double *s, double *vt, double *work)
{
    if (!all_finite(m * n, a))
        return STATUS_NOT_FINITE;
    int im = (int)m, in = (int)n, ir = (int)(m < n ? m : n), lwork = (int)la_svd_work(m, n), info = 0, one = 1;
    if (ir == 0)
        return STATUS_OK;
    const char *job = u ? "S" : "N";
    double none;
    F77_CALL(dgesvd)
    (job, job, &im, &in, a, &im, s, u ? u : &none, u ? &im : &one, u ? vt : &none, u ? &ir : &one, work, &lwork,
     &info FCONE FCONE);
    return info ? STATUS_LINALG : STATUS_OK;
}

size_t la_polar_work(size_t n)
{
    return 2 * n * n + n + la_svd_work(n, n);
}

int la_polar(size_t n, double *a, double *q, double *work)
{
    double *u = work, *vt = u + n * n, *s = vt + n * n, *rest = s + n;
    int status = la_svd(n, n, a, u, s, vt, rest);
    if (status == STATUS_OK)
        la_mul_square('N', 'N', n, u, vt, q);
    return status;
}

size_t la_qr_work(size_t m, size_t n)
{
    return BLOCK * (m + n) + 1;
}

int la_qr(size_t m, size_t n, double *a, double *tau, double *work)
{
    int im = (int)m, in = (int)n, lwork = (int)la_qr_work(m, n), info = 0;
    F77_CALL(dgeqrf)(&im, &in, a, &im, tau, work, &lwork, &info);
    return info ? STATUS_LINALG : STATUS_OK;
}

int la_qr_apply(char trans, size_t m, size_t n, size_t k, const double *a, const double *tau, double *b, double *work)
{
    int im = (int)m, in = (int)k, ir = (int)(m < n ? m : n), lwork = (int)la_qr_work(m, k), info = 0;
    if (k == 0 || ir == 0)
        return STATUS_OK;
    F77_CALL(dormqr)("L", &trans, &im, &in, &ir, a, &im, tau, b, &im, work, &lwork, &info FCONE FCONE);
    return info ? STATUS_LINALG : STATUS_OK;
}

int la_solve(size_t n, size_t m, double *a, double *b, double *work)
{
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i + k * n]) > fabs(a[p + k * n]))
                p = i;
        double pivot = a[p + k * n];
        if (pivot == 0 || !(fabs(pivot) < INFINITY))
            return STATUS_LINALG;
        if (p != k) {
            for (size_t j = 0; j < n; j++) {
                double t = a[k + j * n];
                a[k + j * n] = a[p + j * n];
                a[p + j * n] = t;
            }
            for (size_t j = 0; j < m; j++) {
                double t = b[k + j * n];
                b[k + j * n] = b[p + j * n];
                b[p + j * n] = t;
            }
        }
        for (size_t i = k + 1; i < n; i++)
            work[i] = a[i + k * n] /= pivot;
        for (size_t j = k + 1; j < n; j++) {
            double t = a[k + j * n];
            for (size_t i = k + 1; i < n; i++)
                a[i + j * n] -= work[i] * t;
        }
        for (size_t j = 0; j < m; j++) {
            double t = b[k + j * n];
            for (size_t i = k + 1; i < n; i++)
                b[i + j * n] -= work[i] * t;
        }
    }
    for (size_t j = 0; j < m; j++) {
        double *x = b + j * n;
        for (size_t k = n; k-- > 0;) {
            double t = x[k] /= a[k + k * n];
            for (size_t i = 0; i < k; i++)
                x[i] -= a[i + k * n] * t;
        }
    }
    return STATUS_OK;
}

int la_log_abs_det(size_t n, double *a, double *log_det, double *work)
{
    int status = la_solve(n, 0, a, NULL, work);
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += log(fabs(a[i + i * n]));
    *log_det = s;
    return status;
}

static double norm_one(size_t n, const double *a)
{
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        double s = 0;
        for (size_t i = 0; i < n; i++)
            s += fabs(a[i + j * n]);
        if (s > most)
            most = s;
    }
    return most;
}

size_t la_expm1_work(size_t n)
{
    return 5 * n * n + n;
}

/* Pade [7/7] with scaling and squaring (Higham 2005, doi:10.1137/04061101X), in the form that keeps small results:
 * exp(A) - I = (V - U)^-1 2U with U odd and V even, and expm1(2A) = E (E + 2 I). */
int la_expm1(size_t n, const double *a, double *out, double *work)
{
    static const double b[8] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
    size_t nn = n * n;
    double *x = work, *x2 = x + nn, *u = x2 + nn, *v = u + nn, *t = v + nn, *rest = t + nn;
    double norm = norm_one(n, a);
    if (!(norm < INFINITY))
        return STATUS_NOT_FINITE;
    int s = 0;
    while (ldexp(norm, -s) > 0.9)
        s++;
    for (size_t i = 0; i < nn; i++)
        x[i] = ldexp(a[i], -s);
    la_mul_square('N', 'N', n, x, x, x2);
    /* u = b7 x2^3 + b5 x2^2 + b3 x2 + b1, v = b6 x2^3 + b4 x2^2 + b2 x2 + b0 by Horner */
    for (size_t i = 0; i < nn; i++) {
        u[i] = b[7] * x2[i];
        v[i] = b[6] * x2[i];
    }
    for (int k = 5; k >= 3; k -= 2) {
        for (size_t i = 0; i < n; i++) {
            u[i * (n + 1)] += b[k];
            v[i * (n + 1)] += b[k - 1];
        }
        la_mul_square('N', 'N', n, u, x2, t);
        for (size_t i = 0; i < nn; i++)
            u[i] = t[i];
        la_mul_square('N', 'N', n, v, x2, t);
        for (size_t i = 0; i < nn; i++)
            v[i] = t[i];
    }
    for (size_t i = 0; i < n; i++) {
        u[i * (n + 1)] += b[1];
        v[i * (n + 1)] += b[0];
    }
    la_mul_square('N', 'N', n, x, u, t);
    for (size_t i = 0; i < nn; i++) {
        v[i] -= t[i];
        out[i] = 2 * t[i];
    }
    int status = la_solve(n, n, v, out, rest);
    if (status != STATUS_OK)
        return status;
    while (s-- > 0) {
        la_mul_square('N', 'N', n, out, out, t);
        for (size_t i = 0; i < nn; i++)
            out[i] = 2 * out[i] + t[i];
    }
    return STATUS_OK;
}

size_t la_log1p_orthogonal_work(size_t n)
{
    size_t solve = 2 * n * n + n, polar = n * n + la_polar_work(n);
    return n * n + (solve > polar ? solve : polar);
}

/* Square roots by the polar factor (the polar factor of I + Q is the principal root of Q), then
 * log Q = 2 atanh((Q - I)(Q + I)^-1). */
int la_log1p_orthogonal(size_t n, double *e, double *out, double *work)
{
    size_t nn = n * n;
    double *t = work, *rest = work + nn;
    int halvings = 0;
    while (norm_one(n, e) > 0.25) {
        if (++halvings > 24)
            return STATUS_CUT_LOCUS;
        double *u = rest, *vt = u + nn, *s = vt + nn, *more = s + n;
        for (size_t i = 0; i < nn; i++)
            t[i] = e[i];
        for (size_t i = 0; i < n; i++)
            t[i * (n + 1)] += 2;
        int status = la_svd(n, n, t, u, s, vt, more);
        if (status != STATUS_OK)
            return status;
        if (s[n - 1] < 1e-7) /* an eigenvalue -1: no principal logarithm */
            return STATUS_CUT_LOCUS;
        la_mul_square('N', 'N', n, u, vt, e);
        for (size_t i = 0; i < n; i++)
            e[i * (n + 1)] -= 1;
    }
    /* x = (2 I + E)^-1 E: both commute */
    double *x = rest, *y = x + nn, *more = y + nn;
    for (size_t i = 0; i < nn; i++) {
        y[i] = e[i];
        x[i] = e[i];
    }
    for (size_t i = 0; i < n; i++)
        y[i * (n + 1)] += 2;
    int status = la_solve(n, n, y, x, more);
    if (status != STATUS_OK)
        return status;
    la_mul_square('N', 'N', n, x, x, y);
    /* series of atanh by Horner, |x| <= .15 in the spectral norm */
    for (size_t i = 0; i < nn; i++)
        out[i] = 0;
    for (int k = 12; k >= 0; k--) {
        la_mul_square('N', 'N', n, out, y, t);
        for (size_t i = 0; i < nn; i++)
            out[i] = t[i];
        for (size_t i = 0; i < n; i++)
            out[i * (n + 1)] += 1.0 / (2 * k + 1);
    }
    la_mul_square('N', 'N', n, out, x, t);
    double scale = ldexp(2, halvings);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            out[i + j * n] = 0.5 * scale * (t[i + j * n] - t[j + i * n]);
    return STATUS_OK;
}
