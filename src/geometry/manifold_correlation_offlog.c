/* Correlation matrices with the off-log metric of Thanwerdas (2024, doi:10.1137/22M1538144): the off-diagonal part S of log C is any
 * symmetric matrix with zero diagonal (Archakov and Hansen 2021, doi:10.3982/ECTA16910), and the metric is Frobenius' of S, which no
 * order of the variables changes. Back from S: the one diagonal matrix D for which exp(D + S) has unit diagonal is the minimum of
 * the strictly convex tr exp(D + S) - tr D. */
#include "manifold_correlation.h"
#include "simd.h"

/* below 2^-56 times the largest an eigenvalue is rounding */
#define LEAST 0x1p-56

/* S's entries by columns, times sqrt(2); eigenvectors and eigenvalues */
static size_t size(manifold_t m)
{
    return m->dim + m->ambient + m->rows;
}

static size_t work_size(manifold_t m)
{
    return 6 * m->ambient + 12 * m->rows + la_symeig_work(m->rows);
}

static void unpack(size_t k, const double *a, double *s)
{
    for (size_t j = 0; j < k; j++) {
        s[j + j * k] = 0;
        for (size_t i = j + 1; i < k; i++)
            s[i + j * k] = s[j + i * k] = *a++ / RIEMDP_SQRT2;
    }
}

static void pack(size_t k, const double *s, double *a)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = j + 1; i < k; i++)
            *a++ = RIEMDP_SQRT2 * s[i + j * k];
}

static int to(manifold_t m, double *y, const double *x, double *work)
{
    size_t k = m->rows;
    double *v = y + m->dim, *w = v + m->ambient, *s = work, *t = s + m->ambient;
    for (size_t j = 0; j < m->ambient; j++)
        v[j] = x[j];
    int status = la_symeig(k, v, w, 1, work);
    if (status != STATUS_OK || !(w[k - 1] > 0))
        return STATUS_NOT_POSITIVE;
    for (size_t j = 0; j < k; j++) {
        w[j] = fmax(w[j], LEAST * w[k - 1]);
        t[m->ambient + j] = log(w[j]);
    }
    la_spectral(k, v, t + m->ambient, s, t);
    pack(k, s, y);
    return STATUS_OK;
}

static int push(manifold_t m, double *a, const double *y, const double *u, double *work)
{
    const double *v = y + m->dim, *w = v + m->ambient;
    spd_dlog(m->rows, v, w, u, work, 0, work + m->ambient);
    pack(m->rows, work, a);
    return STATUS_OK;
}

/* The derivative at X = log C of the diagonal of exp X along diagonal matrices: h = H z. Its eigenvalues lie between
 * 1/(1 + log condition) and 1. work: 2 k^2 */
static void apply(size_t k, const double *v, const double *f, const double *z, double *h, double *work)
{
    double *t = work, *g = t + k * k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            t[i + j * k] = z[i] * v[i + j * k];
    la_mul_square('T', 'N', k, v, t, g);
    for (size_t j = 0; j < k * k; j++)
        g[j] *= f[j];
    la_mul_square('N', 'N', k, v, g, t);
    for (size_t i = 0; i < k; i++)
        h[i] = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            h[i] += t[i + j * k] * v[i + j * k];
}

static void mean_table(size_t k, const double *w, double *f)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++)
            f[i + j * k] = f[j + i * k] = log_mean(w[i], w[j]);
}

/* H itself, lower triangle: entry (i, j) is u'F u with u the product of rows i and j of V. work: 2 k */
RIEMDP_SIMD static void table(size_t k, const double *v, const double *f, double *restrict h, double *restrict work)
{
    double *u = work, *g = u + k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            double s = 0;
            for (size_t b = 0; b < k; b++) {
                u[b] = v[i + b * k] * v[j + b * k];
                g[b] = 0;
            }
            for (size_t b = 0; b < k; b++)
                for (size_t a = 0; a < k; a++)
                    g[a] += f[a + b * k] * u[b];
            for (size_t b = 0; b < k; b++)
                s += u[b] * g[b];
            h[i + j * k] = s;
        }
}

/* H z = b by Cholesky's factor, b overwritten; not OK where it has none. work: 2 k + 2 k^2 */
static int solve_small(size_t k, const double *v, const double *f, double *b, double *z, double *work)
{
    double *h = work + 2 * k, *l = h + k * k;
    table(k, v, f, h, work);
    if (la_chol(k, h, l) != STATUS_OK)
        return STATUS_NOT_POSITIVE;
    for (size_t j = 0; j < k; j++) {
        b[j] /= l[j + j * k];
        for (size_t i = j + 1; i < k; i++)
            b[i] -= l[i + j * k] * b[j];
    }
    for (size_t j = k; j-- > 0;) {
        double s = b[j];
        for (size_t i = j + 1; i < k; i++)
            s -= l[i + j * k] * z[i];
        z[j] = s / l[j + j * k];
    }
    return STATUS_OK;
}

/* H z = b, of large matrices by conjugate gradients, to `tol` times |b|; b is overwritten. work: 2 k + 2 k^2 */
static void solve(size_t k, const double *v, const double *f, double *b, double *z, double tol, double *work)
{
    enum { SMALL = 20 }; /* H costs k^4/2, a step 2 k^3 */
    if (k <= SMALL && solve_small(k, v, f, b, z, work) == STATUS_OK)
        return;
    double *p = work, *h = p + k, *rest = h + k, old = dot(k, b, b), first = old;
    for (size_t i = 0; i < k; i++) {
        z[i] = 0;
        p[i] = b[i];
    }
    for (size_t t = 0; t < 10 * k + 100 && old > square(tol) * first; t++) {
        apply(k, v, f, p, h, rest);
        double curve = dot(k, p, h);
        if (!(curve > 0))
            return;
        double step = old / curve;
        for (size_t i = 0; i < k; i++) {
            z[i] += step * p[i];
            b[i] -= step * h[i];
        }
        double now = dot(k, b, b);
        for (size_t i = 0; i < k; i++)
            p[i] = b[i] + now / old * p[i];
        old = now;
    }
}

/* logarithms of the diagonal of exp(S + diag(d)), to r; its spectrum to (v, w), logarithms of eigenvalues. Returns the largest |r|. */
static double residual(size_t k, const double *s, const double *d, double *v, double *w, double *r, double *work)
{
    double most = 0;
    for (size_t j = 0; j < k * k; j++)
        v[j] = s[j];
    for (size_t j = 0; j < k; j++)
        v[j + j * k] = d[j];
    if (la_symeig(k, v, w, 1, work) != STATUS_OK)
        return NAN;
    for (size_t i = 0; i < k; i++) {
        double t = 0;
        for (size_t j = 0; j < k; j++)
            t += square(v[i + j * k]) * exp(w[j] - w[k - 1]);
        r[i] = w[k - 1] + log(t);
        most = fabs(r[i]) > most || r[i] != r[i] ? fabs(r[i]) : most;
    }
    return most;
}

/* Newton's step of log diag exp(S + diag(d)) = 0 from (v, w, r), to z */
static void newton(size_t k, const double *v, const double *w, const double *r, double *z, double *work)
{
    double *f = work, *b = f + k * k, *e = b + k, *rest = e + k, most = 0;
    for (size_t j = 0; j < k; j++) {
        most = fmax(most, fabs(r[j]));
        e[j] = exp(w[j]);
        b[j] = -exp(r[j]) * r[j];
    }
    mean_table(k, e, f);
    solve(k, v, f, b, z, 0.1 * fmin(most, 1), rest);
}

/* where D ends for 2 x 2 matrices, and to second order for all */
static void start(size_t k, const double *s, double *d)
{
    for (size_t j = 0; j < k; j++) {
        double t = norm2(k, s + j * k);
        d[j] = log(2) - t - log1p(exp(-2 * t));
    }
}

/* Where a Newton's step makes the residual larger, or it is large, the step of Archakov and Hansen, d - r, which always gets there. */
static int from(manifold_t m, double *x, const double *a, double *work)
{
    enum { STEPS = 2000, NEWTON = 50 };
    size_t k = m->rows;
    double *s = work, *v = s + m->ambient, *w = v + m->ambient, *d = w + k, *z = d + k, *r = z + k, *rest = r + k;
    double best = INFINITY;
    int stalled = 0;
    if (!(norm2(m->dim, a) <= 40 * sqrt((double)k))) /* |log C| is no less */
        return STATUS_OUT_OF_REACH;
    unpack(k, a, s);
    start(k, s, d);
    for (int t = 0; t < STEPS && stalled < 2; t++) {
        double most = residual(k, s, d, v, w, r, rest);
        if (!(most < INFINITY))
            return STATUS_OUT_OF_REACH;
        if (most <= 4 * RIEMDP_EPS || (best < 1e-7 && most <= 64 * RIEMDP_EPS)) /* the step before squared it */
            break;
        stalled += most < 1e-12 && most > 0.5 * best;
        if (most < 1 && most < best && t < NEWTON)
            newton(k, v, w, r, z, rest);
        else
            for (size_t i = 0; i < k; i++)
                z[i] = -r[i];
        best = fmin(best, most);
        for (size_t i = 0; i < k; i++)
            d[i] += z[i];
    }
    for (size_t j = 0; j < k; j++)
        w[j] = exp(w[j]);
    la_spectral(k, v, w, x, rest);
    return correlation_scale(k, x);
}

/* D exp [S], F its table; rest: k^2 */
static void through(size_t k, const double *v, const double *f, const double *s, double *out, double *rest)
{
    la_to_basis(k, v, s, out, rest);
    for (size_t j = 0; j < k * k; j++)
        out[j] *= f[j];
    la_from_basis(k, v, out, out, rest);
}

/* W = D exp [S + diag(z)] with z such that the diagonal of W is zero */
static int pull(manifold_t m, double *out, const double *y, const double *a, double *work)
{
    size_t k = m->rows;
    const double *v = y + m->dim, *w = v + m->ambient;
    double *s = work, *f = s + m->ambient, *t = f + m->ambient, *b = t + m->ambient, *z = b + k, *rest = z + k;
    unpack(k, a, s);
    mean_table(k, w, f);
    through(k, v, f, s, t, rest);
    for (size_t i = 0; i < k; i++)
        b[i] = -t[i + i * k];
    solve(k, v, f, b, z, 1e-16, rest);
    for (size_t i = 0; i < k; i++)
        s[i + i * k] = z[i];
    through(k, v, f, s, out, rest);
    for (size_t i = 0; i < k; i++)
        out[i + i * k] = 0;
    return STATUS_OK;
}

static const struct chart chart = {size, work_size, to, from, push, pull};

const struct manifold_ops manifold_correlation_offlog = {
    .name = "correlation_offlog",
    .chart = &chart,
    CORRELATION_OPERATIONS,
};
