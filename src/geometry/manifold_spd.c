/* Shared by the SPD metrics. */
#include "manifold_spd.h"

int spd_init(struct manifold *m)
{
    if (m->param[0] < 1 || !(m->floor >= 0 && m->floor < 1))
        return STATUS_BAD_MANIFOLD;
    m->rows = m->cols = (size_t)m->param[0];
    m->ambient = m->rows * m->rows;
    m->dim = m->rows * (m->rows + 1) / 2;
    return STATUS_OK;
}

static int check_symmetric(size_t k, const double *x)
{
    double big = 0, off = 0;
    if (!all_finite(k * k, x))
        return STATUS_NOT_FINITE;
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            if (fabs(x[i + j * k]) > big)
                big = fabs(x[i + j * k]);
            if (fabs(x[i + j * k] - x[j + i * k]) > off)
                off = fabs(x[i + j * k] - x[j + i * k]);
        }
    return off > RIEMDP_TOL * big ? STATUS_NOT_SYMMETRIC : STATUS_OK;
}

int spd_check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    for (size_t i = begin; i < end; i++) {
        int status = check_symmetric(m->rows, at(x, i));
        if (status == STATUS_OK)
            status = la_chol(m->rows, at(x, i), work);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

int spd_check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        int status = check_symmetric(m->rows, at(v, i));
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* The symmetric part, its eigenvalues lifted to floor times the largest; unchanged where none is below. */
int spd_project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    size_t k = m->rows, n = m->ambient;
    double *v = work, *w = v + n, *t = w + k, *rest = t + n;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * n;
        for (size_t j = 0; j < n; j++) {
            o[j] = at(x, i)[j];
            if (!(fabs(o[j]) < INFINITY))
                return STATUS_NOT_FINITE;
        }
        la_symmetrize(k, o);
        for (size_t j = 0; j < n; j++)
            v[j] = o[j];
        int status = la_symeig(k, v, w, 1, rest);
        if (status != STATUS_OK)
            return status;
        double least = m->floor * w[k - 1];
        if (!(w[k - 1] > 0) || (w[0] <= 0 && least <= 0))
            return STATUS_NOT_POSITIVE;
        if (w[0] < least) {
            for (size_t j = 0; j < k && w[j] < least; j++)
                w[j] = least;
            la_spectral(k, v, w, o, t);
        }
    }
    return STATUS_OK;
}

int spd_project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                        double *work)
{
    (void)p, (void)work;
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * m->ambient;
        for (size_t j = 0; j < m->ambient; j++)
            o[j] = at(v, i)[j];
        if (!all_finite(m->ambient, o))
            return STATUS_NOT_FINITE;
        la_symmetrize(m->rows, o);
    }
    return STATUS_OK;
}

void spd_origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = j % (m->rows + 1) == 0;
}

int spd_spectrum(size_t k, const double *x, double *v, double *w, double *rest)
{
    for (size_t j = 0; j < k * k; j++)
        v[j] = x[j];
    int status = la_symeig(k, v, w, 1, rest);
    if (status == STATUS_OK && !(w[0] > 0))
        status = STATUS_NOT_POSITIVE;
    return status;
}

int spd_group_spectrum(const struct spd_groups *c, size_t k, struct points p, size_t i, size_t end, wide *v, wide *w)
{
    const double *x[WIDE];
    size_t count = spd_group(p, i, end, x);
    wide_load(k, x, v);
    int status = c->kernels->symeig(k, count, v, w, 1, c->rest);
    for (size_t j = 0; j < k && status == STATUS_OK; j++)
        for (size_t a = 0; a < count; a++)
            if (!(w[j][a] > 0))
                return STATUS_NOT_POSITIVE;
    return status;
}

void spd_dlog(size_t k, const double *v, const double *w, const double *u, double *s, int inverse, double *rest)
{
    la_to_basis(k, v, u, s, rest);
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++) {
            double f = log_mean(w[i], w[j]), a = s[i + j * k], b = s[j + i * k];
            s[i + j * k] = inverse ? a * f : a / f;
            s[j + i * k] = inverse ? b * f : b / f;
        }
    la_from_basis(k, v, s, s, rest);
}
