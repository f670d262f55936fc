/* Correlation matrices with the log-Euclidean-Cholesky metric of Thanwerdas and Pennec (2022, doi:10.1137/22M1471729): C = LL', the rows of
 * L over its diagonal are a unit lower triangular matrix I + A, its logarithm N is strictly lower triangular, any such matrix, and the
 * metric is Euclidean in N's entries. Logarithm and exponential are finite sums; roots and squares keep them free of cancellation. The
 * unit diagonal is never stored. */
#include "manifold_correlation.h"
#include "simd.h"

/* N's entries by columns; L; A */
static size_t size(manifold_t m)
{
    return m->dim + 2 * m->ambient;
}

static size_t work_size(manifold_t m)
{
    return 9 * m->ambient + m->rows + la_symeig_work(m->rows);
}

static void unpack(size_t k, const double *a, double *x)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            x[i + j * k] = i > j ? *a++ : 0;
}

static void pack(size_t k, const double *x, double *a)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = j + 1; i < k; i++)
            *a++ = x[i + j * k];
}

/* out += X Y, all strictly lower triangular, Y with `order` - 1 zero diagonals below the main one besides; not in place */
RIEMDP_SIMD static void add_product(size_t k, size_t order, const double *restrict x, const double *restrict y, double *restrict out)
{
    for (size_t j = 0; j < k; j++)
        for (size_t l = j + order; l < k; l++) {
            double t = y[l + j * k];
            for (size_t i = (l + 1) / 4 * 4; i < k; i++) /* zeros above, so that loops begin alike */
                out[i + j * k] += x[i + l * k] * t;
        }
}

/* I + R with (I + R)^2 = I + A, in place of A; and dR of dA, where that isn't NULL */
RIEMDP_HOT static void unit_root(size_t k, double *restrict a, double *restrict da)
{
    for (size_t j = k; j-- > 0;)
        for (size_t l = j + 1; l < k; l++) {
            double t = a[l + j * k] *= 0.5, dt = da ? da[l + j * k] *= 0.5 : 0;
            for (size_t i = l + 1; i < k; i++)
                a[i + j * k] -= a[i + l * k] * t;
            for (size_t i = l + 1; i < k && da; i++)
                da[i + j * k] -= da[i + l * k] * t + a[i + l * k] * dt;
        }
}

static double largest_column(size_t k, const double *x)
{
    double most = 0;
    for (size_t j = 0; j < k; j++) {
        double s = 0;
        for (size_t i = j + 1; i < k; i++)
            s += fabs(x[i + j * k]);
        most = fmax(most, s);
    }
    return most;
}

/* how many terms of the series of a matrix of this norm matter; all where that isn't small */
static size_t terms(size_t k, double norm)
{
    enum { ENOUGH = 13 }; /* 2^(-4 * 14) */
    return norm <= 0.0625 && k - 1 > ENOUGH ? ENOUGH : k - 1;
}

/* sum of c_t A^t, c_1 = 1 and c_(t + 1) = c_t ratio(t), in place of A, and its derivative along dA; work: 6 k^2 */
static void series(size_t k, double *a, double *da, size_t count, int logarithm, double *work)
{
    size_t n = k * k;
    double *sum = work, *dsum = sum + n, *power = dsum + n, *dpower = power + n, *next = dpower + n, *dnext = next + n;
    double c = 1;
    for (size_t j = 0; j < n; j++) {
        sum[j] = power[j] = a[j];
        dsum[j] = dpower[j] = da ? da[j] : 0;
    }
    for (size_t t = 1; t < count; t++) {
        c = logarithm ? -c : c / (double)(t + 1);
        for (size_t j = 0; j < n; j++)
            next[j] = dnext[j] = 0;
        add_product(k, t, a, power, next);
        if (da) {
            add_product(k, t, da, power, dnext);
            add_product(k, t, a, dpower, dnext);
        }
        for (size_t j = 0; j < n; j++) {
            double f = logarithm ? c / (double)(t + 1) : c;
            power[j] = next[j];
            dpower[j] = dnext[j];
            sum[j] += f * next[j];
            dsum[j] += f * dnext[j];
        }
    }
    for (size_t j = 0; j < n; j++) {
        a[j] = sum[j];
        if (da)
            da[j] = dsum[j];
    }
}

/* log(I + A) in place of A, and its derivative along dA, which may be NULL */
static void unit_log(size_t k, double *a, double *da, double *work)
{
    enum { ROOTS = 64 };
    int roots = 0;
    while (roots < ROOTS && largest_column(k, a) > 0.0625) {
        unit_root(k, a, da);
        roots++;
    }
    series(k, a, da, terms(k, largest_column(k, a)), 1, work);
    for (size_t j = 0; j < k * k; j++) {
        a[j] = ldexp(a[j], roots);
        if (da)
            da[j] = ldexp(da[j], roots);
    }
}

/* exp(N) - I in place of N, and its derivative along dN */
static void unit_exp(size_t k, double *a, double *da, double *work)
{
    double norm = largest_column(k, a);
    int squares = 0;
    if (norm > 0.0625 && norm < INFINITY)
        frexp(norm * 16, &squares);
    for (size_t j = 0; j < k * k; j++) {
        a[j] = ldexp(a[j], -squares);
        if (da)
            da[j] = ldexp(da[j], -squares);
    }
    series(k, a, da, terms(k, ldexp(norm, -squares)), 0, work);
    double *next = work, *dnext = work + k * k;
    for (int s = 0; s < squares; s++) {
        for (size_t j = 0; j < k * k; j++) {
            next[j] = 2 * a[j];
            dnext[j] = da ? 2 * da[j] : 0;
        }
        add_product(k, 1, a, a, next);
        if (da) {
            add_product(k, 1, da, a, dnext);
            add_product(k, 1, a, da, dnext);
        }
        for (size_t j = 0; j < k * k; j++) {
            a[j] = next[j];
            if (da)
                da[j] = dnext[j];
        }
    }
}

static int to(manifold_t m, double *y, const double *x, double *work)
{
    size_t k = m->rows;
    double *l = y + m->dim, *a = l + m->ambient, *n = work;
    int status = la_chol(k, x, l);
    for (size_t j = 0; j < k && status == STATUS_OK; j++)
        for (size_t i = 0; i < k; i++)
            a[i + j * k] = n[i + j * k] = i > j ? l[i + j * k] / l[i + i * k] : 0;
    if (status != STATUS_OK)
        return status;
    unit_log(k, n, NULL, work + m->ambient);
    pack(k, n, y);
    return all_finite(m->dim, y) ? STATUS_OK : STATUS_OUT_OF_REACH;
}

/* rows of I + A over their lengths */
static int from(manifold_t m, double *x, const double *y, double *work)
{
    size_t k = m->rows;
    double *a = work;
    unpack(k, y, a);
    unit_exp(k, a, NULL, work + m->ambient);
    for (size_t i = 0; i < k; i++) {
        double s = 1;
        for (size_t j = 0; j < i; j++)
            s += square(a[i + j * k]);
        if (!(s < INFINITY))
            return STATUS_OUT_OF_REACH;
        a[i + i * k] = 1;
        for (size_t j = 0; j <= i; j++)
            a[i + j * k] /= sqrt(s);
    }
    la_gram(k, a, x);
    return correlation_scale(k, x);
}

/* dL = L (L^-1 V L^-T)_(1/2), dA_ij = (dL_ij - A_ij dL_ii)/L_ii, and the logarithm's derivative */
static int push(manifold_t m, double *out, const double *y, const double *v, double *work)
{
    size_t k = m->rows;
    const double *l = y + m->dim, *a = l + m->ambient;
    double *s = work, *d = s + m->ambient, *n = d + m->ambient;
    la_whiten(k, l, v, s, d);
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < j; i++)
            s[i + j * k] = 0;
        s[j + j * k] *= 0.5;
    }
    la_mul_square('N', 'N', k, l, s, n);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            d[i + j * k] = i > j ? (n[i + j * k] - a[i + j * k] * n[i + i * k]) / l[i + i * k] : 0;
    for (size_t j = 0; j < m->ambient; j++)
        n[j] = a[j];
    unit_log(k, n, d, n + m->ambient);
    pack(k, d, out);
    return STATUS_OK;
}

/* dL is L_ii dA's row without its part along L's row */
static int pull(manifold_t m, double *v, const double *y, const double *b, double *work)
{
    size_t k = m->rows;
    const double *l = y + m->dim;
    double *n = work, *d = n + m->ambient, *t = d + m->ambient;
    unpack(k, y, n);
    unpack(k, b, d);
    unit_exp(k, n, d, t);
    for (size_t i = 0; i < k; i++) {
        double along = 0;
        for (size_t j = 0; j < i; j++)
            along += l[i + j * k] * d[i + j * k];
        for (size_t j = 0; j <= i; j++)
            d[i + j * k] = l[i + i * k] * (d[i + j * k] - along * l[i + j * k]);
    }
    la_mul_square('N', 'T', k, d, l, t);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            v[i + j * k] = i == j ? 0 : t[i + j * k] + t[j + i * k];
    return STATUS_OK;
}

static const struct chart chart = {size, work_size, to, from, push, pull};

const struct manifold_ops manifold_correlation_logcholesky = {
    .name = "correlation_logcholesky",
    .chart = &chart,
    CORRELATION_OPERATIONS,
};
