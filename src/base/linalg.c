/* Small dense linear algebra: products, triangular factors, singular values; own loops where matrices are small, LAPACK above. */
#include "linalg.h"
#include "lapack.h"

#include <string.h>

/* size up to which own loops are used: beyond, an optimised BLAS may win, and reference BLAS hardly loses */
enum { SMALL_MUL = 128, BLOCK = 32 };

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
