/* Checks and projections of full-rank correlation matrices: positive definite with unit diagonal; tangent vectors are symmetric with
 * zero diagonal. */
#include "manifold_correlation.h"

int correlation_init(struct manifold *m)
{
    int status = m->param[0] < 2 ? STATUS_BAD_MANIFOLD : spd_init(m);
    if (status != STATUS_OK)
        return status;
    m->dim = m->rows * (m->rows - 1) / 2;
    chart_init(m);
    return STATUS_OK;
}

size_t correlation_work(manifold_t m)
{
    return 4 * m->ambient + m->rows + la_symeig_work(m->rows);
}

int correlation_check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    int status = spd_check_point(m, x, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        for (size_t j = 0; j < m->rows; j++)
            if (!(fabs(at(x, i)[j + j * m->rows] - 1) <= RIEMDP_TOL))
                return STATUS_OFF_MANIFOLD;
    return status;
}

int correlation_check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    int status = spd_check_tangent(m, p, v, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        double big = 0;
        for (size_t j = 0; j < m->ambient; j++)
            big = fmax(big, fabs(at(v, i)[j]));
        for (size_t j = 0; j < m->rows; j++)
            if (!(fabs(at(v, i)[j + j * m->rows]) <= RIEMDP_TOL * big))
                return STATUS_NOT_TANGENT;
    }
    return status;
}

int correlation_scale(size_t k, double *x)
{
    for (size_t j = 0; j < k; j++)
        if (!(x[j + j * k] > 0 && x[j + j * k] < INFINITY))
            return STATUS_NOT_POSITIVE;
    for (size_t j = 0; j < k; j++)
        for (size_t i = j + 1; i < k; i++)
            x[i + j * k] = x[j + i * k] = x[i + j * k] / sqrt(x[i + i * k]) / sqrt(x[j + j * k]);
    for (size_t j = 0; j < k; j++)
        x[j + j * k] = 1;
    return STATUS_OK;
}

/* The symmetric part scaled to unit diagonal, its eigenvalues lifted to floor times the largest and scaled again, until none is below;
 * unchanged where none was. */
int correlation_project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    enum { PASSES = 30 };
    size_t k = m->rows, n = m->ambient;
    double *v = work, *w = v + n, *t = w + k, *rest = t + n;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * n;
        int status = spd_project_tangent(m, o, one(at(x, i)), one(at(x, i)), 0, 1, work);
        if (status == STATUS_OK)
            status = correlation_scale(k, o);
        for (int pass = 0; pass < PASSES && status == STATUS_OK; pass++) {
            for (size_t j = 0; j < n; j++)
                v[j] = o[j];
            status = la_symeig(k, v, w, 1, rest);
            double least = m->floor * w[k - 1];
            if (status != STATUS_OK || w[0] >= least)
                break;
            for (size_t j = 0; j < k && w[j] < least; j++)
                w[j] = (1 + 1e-3) * least;
            la_spectral(k, v, w, o, t);
            status = correlation_scale(k, o);
        }
        if (status == STATUS_OK)
            status = la_chol(k, o, t);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

int correlation_project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                                double *work)
{
    int status = spd_project_tangent(m, out, p, v, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        for (size_t j = 0; j < m->rows; j++)
            out[i * m->ambient + j + j * m->rows] = 0;
    return status;
}
