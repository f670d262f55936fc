/* Euclidean space R^d: the flat reference for every law. */
#include "manifold_certified.h"

static int init(struct manifold *m)
{
    if (m->param[0] < 1)
        return STATUS_BAD_MANIFOLD;
    m->dim = m->ambient = (size_t)m->param[0];
    m->k_min = m->k_max = 0;
    m->inj = m->rho_max = INFINITY;
    m->model = MODEL_FLAT;
    m->flags = MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_EMBEDDED | MANIFOLD_ONE_MEAN |
               MANIFOLD_ARITHMETIC | MANIFOLD_KNG;
    return STATUS_OK;
}

static size_t work_size(manifold_t m)
{
    (void)m;
    return 1;
}

static int check_point(manifold_t m, struct points x, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        if (!all_finite(m->dim, at(x, i)))
            return STATUS_NOT_FINITE;
    return STATUS_OK;
}

static int check_tangent(manifold_t m, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)p;
    return check_point(m, v, begin, end, work);
}

static int project(manifold_t m, double *out, struct points x, size_t begin, size_t end, double *work)
{
    int status = check_point(m, x, begin, end, work);
    for (size_t i = begin; i < end && status == STATUS_OK; i++)
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = at(x, i)[j];
    return status;
}

static int project_tangent(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                           double *work)
{
    (void)p;
    return project(m, out, v, begin, end, work);
}

static int exp_map(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = at(p, i)[j] + at(v, i)[j];
    return STATUS_OK;
}

static int log_map(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++)
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = at(q, i)[j] - at(p, i)[j];
    return STATUS_OK;
}

RIEMDP_HOT static int log_sum(manifold_t m, double *restrict sum, double *sum_sq, const double *restrict p,
                              struct points x, const double *w, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        const double *restrict y = at(x, i);
        double s = 0, wi = w ? w[i] : 1;
        for (size_t j = 0; j < m->dim; j++) {
            double t = y[j] - p[j];
            sum[j] += wi * t;
            s += t * t;
        }
        *sum_sq += wi * s;
    }
    return STATUS_OK;
}

static int dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    (void)work;
    for (size_t i = begin; i < end; i++) {
        const double *x = at(p, i), *y = at(q, i);
        double s = 0;
        for (size_t j = 0; j < m->dim; j++)
            s += square(y[j] - x[j]);
        out[i] = sqrt(s);
    }
    return STATUS_OK;
}

static int transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                     size_t end, double *work)
{
    (void)q;
    return project_tangent(m, out, p, v, begin, end, work);
}

static int strided_finite(size_t d, const struct strided *x, size_t n)
{
    double s = 0;
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < (x->record ? n : 1); i++)
            s += 0 * x->x[i * x->record + j * x->coordinate];
    return s == 0;
}

/* Columns or rows where they lie. What the ordinary way does with each record, in the same order. */
RIEMDP_HOT static int strided(manifold_t m, enum strided_operation op, double *out, size_t record, size_t coordinate,
                              const struct strided *in, size_t n, double *work)
{
    (void)work;
    for (int k = 0; k < (op == STRIDED_TRANSPORT ? 3 : 2); k++)
        if (!strided_finite(m->dim, in + k, n))
            return STATUS_NOT_FINITE;
    for (size_t j = 0; j < m->dim; j++) {
        const double *a = in[0].x + j * in[0].coordinate, *b = in[1].x + j * in[1].coordinate;
        size_t p = in[0].record, q = in[1].record;
        double *o = out + j * coordinate;
        for (size_t i = 0; i < n && op == STRIDED_EXP; i++)
            o[i * record] = a[i * p] + b[i * q];
        for (size_t i = 0; i < n && op == STRIDED_LOG; i++)
            o[i * record] = b[i * q] - a[i * p];
        for (size_t i = 0; i < n && op == STRIDED_DIST; i++)
            out[i] = (j ? out[i] : 0) + square(b[i * q] - a[i * p]);
        for (size_t i = 0; i < n && op == STRIDED_TRANSPORT; i++)
            o[i * record] = in[2].x[i * in[2].record + j * in[2].coordinate];
    }
    for (size_t i = 0; i < n && op == STRIDED_DIST; i++)
        out[i] = sqrt(out[i]);
    return STATUS_OK;
}

int manifold_flat_log_density(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end,
                       double *work)
{
    (void)m, (void)p, (void)v, (void)work;
    for (size_t i = begin; i < end; i++)
        out[i] = 0;
    return STATUS_OK;
}

int manifold_flat_jacobi(manifold_t m, double *out_p, double *out_v, struct points p, struct points v, struct points x,
                  struct points u, size_t begin, size_t end, double *work)
{
    (void)p, (void)v, (void)work;
    for (size_t i = begin; i < end; i++)
        for (size_t j = 0; j < m->ambient; j++) {
            double t = at(u, i)[j];
            out_p[i * m->ambient + j] = t;
            out_v[i * m->ambient + j] = *at(x, i) * t;
        }
    return STATUS_OK;
}

static void origin(manifold_t m, double *out)
{
    for (size_t j = 0; j < m->dim; j++)
        out[j] = 0;
}

static int to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                     double *work)
{
    return log_map(m, out, (struct points){base, 0}, x, begin, end, work);
}

static int from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                       double *work)
{
    return exp_map(m, out, (struct points){base, 0}, x, begin, end, work);
}

void manifold_flat_radial(manifold_t m, double rho, double *log_area, double *slope)
{
    double d = (double)m->dim;
    *log_area = (d - 1) * log(rho);
    *slope = (d - 1) / rho;
}

static int coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return project_tangent(m, out, p, v, begin, end, work);
}

const struct manifold_ops manifold_euclidean = {
    .name = "euclidean",
    .family = "euclidean",
    .init = init,
    .work = work_size,
    .check_point = check_point,
    .check_tangent = check_tangent,
    .project = project,
    .project_tangent = project_tangent,
    .exp = exp_map,
    .log = log_map,
    .inner = manifold_ambient_inner,
    .coords = coords,
    .from_coords = coords,
    .dist = dist,
    .transport = transport,
    .log_density = manifold_flat_log_density,
    .jacobi = manifold_flat_jacobi,
    .log_sum = log_sum,
    .strided = strided,
    .origin = origin,
    .to_origin = to_origin,
    .from_origin = from_origin,
    .radial = manifold_flat_radial,
    .certified = &certified_euclidean,
};
