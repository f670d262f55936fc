/* SPD matrices with the log-Cholesky metric of Lin (2019, doi:10.1137/18M1221084): P = LL' has the coordinates log L_jj and L_ij, i > j, and
 * the metric is Euclidean in them. */
#include "manifold_chart.h"
#include "manifold_spd.h"

static int init(struct manifold *m)
{
    int status = spd_init(m);
    chart_init(m);
    return status;
}

/* coordinates by columns, and L */
static size_t size(manifold_t m)
{
    return m->dim + m->ambient;
}

static size_t work_size(manifold_t m)
{
    return 4 * m->ambient + m->rows + la_symeig_work(m->rows); /* also for checks and projections */
}

static int to(manifold_t m, double *y, const double *x, double *work)
{
    size_t k = m->rows;
    double *l = y + m->dim;
    (void)work;
    int status = la_chol(k, x, l);
    for (size_t j = 0; j < k && status == STATUS_OK; j++) {
        *y++ = log(l[j + j * k]);
        for (size_t i = j + 1; i < k; i++)
            *y++ = l[i + j * k];
    }
    return status;
}

static int from(manifold_t m, double *x, const double *a, double *work)
{
    size_t k = m->rows;
    for (size_t j = 0; j < m->ambient; j++)
        work[j] = 0;
    for (size_t j = 0; j < k; j++) {
        work[j + j * k] = exp(*a++);
        for (size_t i = j + 1; i < k; i++)
            work[i + j * k] = *a++;
    }
    la_gram(k, work, x);
    return STATUS_OK;
}

/* dL = L (L^-1 V L^-T)_(1/2): the lower triangle with half the diagonal */
static int push(manifold_t m, double *a, const double *y, const double *v, double *work)
{
    size_t k = m->rows;
    const double *l = y + m->dim;
    double *s = work, *t = s + m->ambient;
    la_whiten(k, l, v, s, t);
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < j; i++)
            s[i + j * k] = 0;
        s[j + j * k] *= 0.5;
    }
    la_mul_square('N', 'N', k, l, s, t);
    for (size_t j = 0; j < k; j++) {
        *a++ = s[j + j * k];
        for (size_t i = j + 1; i < k; i++)
            *a++ = t[i + j * k];
    }
    return STATUS_OK;
}

static int pull(manifold_t m, double *v, const double *y, const double *a, double *work)
{
    size_t k = m->rows;
    const double *l = y + m->dim;
    double *d = work, *t = d + m->ambient;
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < j; i++)
            d[i + j * k] = 0;
        d[j + j * k] = *a++ * l[j + j * k];
        for (size_t i = j + 1; i < k; i++)
            d[i + j * k] = *a++;
    }
    la_mul_square('N', 'T', k, d, l, t);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            v[i + j * k] = t[i + j * k] + t[j + i * k];
    return STATUS_OK;
}

static const struct chart chart = {size, work_size, to, from, push, pull};

const struct manifold_ops manifold_spd_logcholesky = {
    .name = "spd_logcholesky",
    .family = "spd",
    .chart = &chart,
    .init = init,
    .check_point = spd_check_point,
    .check_tangent = spd_check_tangent,
    .project = spd_project,
    .project_tangent = spd_project_tangent,
    .origin = spd_origin,
    CHART_OPERATIONS,
};
