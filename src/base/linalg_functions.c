/* Solving, and functions of matrices that are not symmetric. */
#include "linalg.h"

static size_t pivot_row(size_t n, size_t k, const double *a)
{
    size_t p = k;
    for (size_t i = k + 1; i < n; i++)
        if (fabs(a[i + k * n]) > fabs(a[p + k * n]))
            p = i;
    return p;
}

static void swap_rows(size_t n, size_t columns, size_t k, size_t p, double *x)
{
    for (size_t j = 0; j < columns; j++) {
        double t = x[k + j * n];
        x[k + j * n] = x[p + j * n];
        x[p + j * n] = t;
    }
}

/* takes multiples of row k, in `work`, off the rows below it */
static inline void eliminate(size_t n, size_t columns, size_t k, double *x, const double *work)
{
    for (size_t j = 0; j < columns; j++) {
        double t = x[k + j * n];
        for (size_t i = k + 1; i < n; i++)
            x[i + j * n] -= work[i] * t;
    }
}

static void substitute_back(size_t n, size_t m, const double *a, double *b)
{
    for (size_t j = 0; j < m; j++) {
        double *x = b + j * n;
        for (size_t k = n; k-- > 0;) {
            double t = x[k] /= a[k + k * n];
            for (size_t i = 0; i < k; i++)
                x[i] -= a[i + k * n] * t;
        }
    }
}

/* a's triangular factors in its place, b (n x m) taken along; *odd: whether rows were swapped an odd number of times */
static int factor(size_t n, size_t m, double *a, double *b, double *work, int *odd)
{
    *odd = 0;
    for (size_t k = 0; k < n; k++) {
        size_t p = pivot_row(n, k, a);
        double pivot = a[p + k * n];
        if (pivot == 0 || !(fabs(pivot) < INFINITY))
            return STATUS_LINALG;
        if (p != k) {
            swap_rows(n, n, k, p, a);
            swap_rows(n, m, k, p, b);
            *odd = !*odd;
        }
        for (size_t i = k + 1; i < n; i++)
            work[i] = a[i + k * n] /= pivot;
        eliminate(n, n - k - 1, k, a + (k + 1) * n, work);
        eliminate(n, m, k, b, work);
    }
    return STATUS_OK;
}

int la_solve(size_t n, size_t m, double *a, double *b, double *work)
{
    int odd, status = factor(n, m, a, b, work, &odd);
    if (status == STATUS_OK)
        substitute_back(n, m, a, b);
    return status;
}

int la_det_positive(size_t n, double *a, double *work)
{
    int odd, status = factor(n, 0, a, NULL, work, &odd);
    for (size_t i = 0; i < n; i++)
        odd ^= a[i + i * n] < 0;
    return status == STATUS_OK && !odd;
}

int la_log_abs_det(size_t n, double *a, double *log_det, double *work)
{
    int odd, status = factor(n, 0, a, NULL, work, &odd);
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

/* I + E becomes its principal square root, the polar factor of 2 I + E */
static int take_root(size_t n, double *e, double *work)
{
    size_t nn = n * n;
    double *t = work, *u = t + nn, *vt = u + nn, *s = vt + nn, *more = s + n;
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
    return STATUS_OK;
}

/* x = (2 I + E)^-1 E: both commute; y and `work`, n doubles, are scratch */
static int cayley(size_t n, const double *e, double *x, double *y, double *work)
{
    for (size_t i = 0; i < n * n; i++) {
        y[i] = e[i];
        x[i] = e[i];
    }
    for (size_t i = 0; i < n; i++)
        y[i * (n + 1)] += 2;
    return la_solve(n, n, y, x, work);
}

/* sum of y^k/(2 k + 1), which is atanh(x)/x for y = x^2, by Horner; |x| <= .15 in the spectral norm */
static void atanh_series(size_t n, const double *y, double *out, double *t)
{
    size_t nn = n * n;
    for (size_t i = 0; i < nn; i++)
        out[i] = 0;
    for (int k = 12; k >= 0; k--) {
        la_mul_square('N', 'N', n, out, y, t);
        for (size_t i = 0; i < nn; i++)
            out[i] = t[i];
        for (size_t i = 0; i < n; i++)
            out[i * (n + 1)] += 1.0 / (2 * k + 1);
    }
}

/* Square roots by the polar factor (the polar factor of I + Q is the principal root of Q), then
 * log Q = 2 atanh((Q - I)(Q + I)^-1). */
int la_log1p_orthogonal(size_t n, double *e, double *out, double *work)
{
    size_t nn = n * n;
    double *t = work, *x = t + nn, *y = x + nn, *more = y + nn;
    int halvings = 0, status = STATUS_OK;
    while (status == STATUS_OK && norm_one(n, e) > 0.25)
        status = ++halvings > 24 ? STATUS_CUT_LOCUS : take_root(n, e, work);
    if (status == STATUS_OK)
        status = cayley(n, e, x, y, more);
    if (status != STATUS_OK)
        return status;
    la_mul_square('N', 'N', n, x, x, y);
    atanh_series(n, y, out, t);
    la_mul_square('N', 'N', n, out, x, t);
    double scale = ldexp(2, halvings);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            out[i + j * n] = 0.5 * scale * (t[i + j * n] - t[j + i * n]);
    return STATUS_OK;
}
