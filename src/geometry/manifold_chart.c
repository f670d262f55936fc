/* The operations of every flat space that is seen through a chart (manifold_chart.h). */
#include "manifold_chart.h"

void chart_init(struct manifold *m)
{
    m->k_min = m->k_max = 0;
    m->inj = m->rho_max = INFINITY;
    m->model = MODEL_FLAT;
    m->flags |= MANIFOLD_HOMOGENEOUS | MANIFOLD_TWO_POINT | MANIFOLD_SYMMETRIC | MANIFOLD_ONE_MEAN | MANIFOLD_KNG;
}

/* what is made of two points, two vectors of coordinates, a point, and what the chart needs */
struct room {
    double *p, *q, *a, *b, *x, *rest;
};

static struct room make_room(manifold_t m, double *work)
{
    size_t size = m->ops->chart->size(m);
    struct room r = {.p = work};
    r.q = r.p + size;
    r.a = r.q + size;
    r.b = r.a + m->dim;
    r.x = r.b + m->dim;
    r.rest = r.x + m->ambient;
    return r;
}

size_t chart_work(manifold_t m)
{
    const struct chart *c = m->ops->chart;
    return 2 * c->size(m) + 2 * m->dim + m->ambient + c->work(m);
}

static int base(manifold_t m, struct points p, size_t i, size_t begin, double *y, double *work)
{
    return fresh(p, i, begin) ? m->ops->chart->to(m, y, at(p, i), work) : STATUS_OK;
}

/* coordinates of v at p, to a */
static int pushed(manifold_t m, double *a, struct points p, struct points v, size_t i, size_t begin, const struct room *r)
{
    int status = base(m, p, i, begin, r->p, r->rest);
    return status == STATUS_OK ? m->ops->chart->push(m, a, r->p, at(v, i), r->rest) : status;
}

/* The point at coordinates r->a. Doubles hold it if they have the coordinates to a hundredth when they are read back (into r->q). */
static int point_at(manifold_t m, double *out, const struct room *r)
{
    const struct chart *c = m->ops->chart;
    if (!all_finite(m->dim, r->a) || c->from(m, r->x, r->a, r->rest) != STATUS_OK || !all_finite(m->ambient, r->x) ||
        m->ops->check_point(m, one(r->x), 0, 1, r->rest) != STATUS_OK || c->to(m, r->q, r->x, r->rest) != STATUS_OK)
        return STATUS_OUT_OF_REACH;
    for (size_t j = 0; j < m->dim; j++)
        if (!(fabs(r->q[j] - r->a[j]) <= 0.01 * (1 + fabs(r->a[j]))))
            return STATUS_OUT_OF_REACH;
    for (size_t j = 0; j < m->ambient; j++)
        out[j] = r->x[j];
    return STATUS_OK;
}

/* The same, total: coordinates that doubles hold no point for are shortened until they do, which says nothing but the point. */
static void point_held(manifold_t m, double *out, const struct room *r)
{
    enum { TRIES = 3000 }; /* 2^1024 * 0.75^2500 is below 1 */
    if (!all_finite(m->dim, r->a))
        for (size_t j = 0; j < m->dim; j++)
            r->a[j] = 0;
    for (int t = 0; t < TRIES; t++) {
        if (point_at(m, out, r) == STATUS_OK)
            return;
        for (size_t j = 0; j < m->dim; j++)
            r->a[j] *= 0.75;
    }
    m->ops->origin(m, out);
}

static int exp_any(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work, int hold)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        double *o = out + i * m->ambient;
        int status = pushed(m, r.a, p, v, i, begin, &r);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->dim; j++)
            r.a[j] += r.p[j];
        if (hold)
            point_held(m, o, &r);
        else if ((status = point_at(m, o, &r)) != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

int chart_exp(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return exp_any(m, out, p, v, begin, end, work, 0);
}

int chart_exp_held(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    return exp_any(m, out, p, v, begin, end, work, 1);
}

/* coordinates of q less those of p, to r->a */
static int difference(manifold_t m, struct points p, struct points q, size_t i, size_t begin, const struct room *r)
{
    int status = base(m, p, i, begin, r->p, r->rest);
    if (status == STATUS_OK)
        status = base(m, q, i, begin, r->q, r->rest);
    for (size_t j = 0; j < m->dim; j++)
        r->a[j] = r->q[j] - r->p[j];
    return status == STATUS_OK && !all_finite(m->dim, r->a) ? STATUS_OUT_OF_REACH : status;
}

int chart_log(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        int status = difference(m, p, q, i, begin, &r);
        if (status == STATUS_OK)
            status = m->ops->chart->pull(m, out + i * m->ambient, r.p, r.a, r.rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

int chart_dist(manifold_t m, double *out, struct points p, struct points q, size_t begin, size_t end, double *work)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        int status = difference(m, p, q, i, begin, &r);
        if (status != STATUS_OK)
            return status;
        out[i] = norm2(m->dim, r.a);
    }
    return STATUS_OK;
}

int chart_inner(manifold_t m, double *out, struct points p, struct points u, struct points v, size_t begin, size_t end,
                double *work)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        int status = pushed(m, r.a, p, u, i, begin, &r);
        if (status == STATUS_OK)
            status = m->ops->chart->push(m, r.b, r.p, at(v, i), r.rest);
        if (status != STATUS_OK)
            return status;
        out[i] = dot(m->dim, r.a, r.b);
    }
    return STATUS_OK;
}

int chart_coords(manifold_t m, double *out, struct points p, struct points v, size_t begin, size_t end, double *work)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        int status = pushed(m, r.a, p, v, i, begin, &r);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->dim; j++)
            out[i * m->dim + j] = r.a[j];
    }
    return STATUS_OK;
}

int chart_from_coords(manifold_t m, double *out, struct points p, struct points a, size_t begin, size_t end,
                      double *work)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        int status = base(m, p, i, begin, r.p, r.rest);
        for (size_t j = 0; j < m->dim; j++)
            r.a[j] = at(a, i)[j];
        if (status == STATUS_OK)
            status = m->ops->chart->pull(m, out + i * m->ambient, r.p, r.a, r.rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

int chart_transport(manifold_t m, double *out, struct points p, struct points q, struct points v, size_t begin,
                    size_t end, double *work)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        int status = pushed(m, r.a, p, v, i, begin, &r);
        if (status == STATUS_OK)
            status = base(m, q, i, begin, r.q, r.rest);
        if (status == STATUS_OK)
            status = m->ops->chart->pull(m, out + i * m->ambient, r.q, r.a, r.rest);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* differences are summed as coordinates and come down once */
int chart_log_sum(manifold_t m, double *sum, double *sum_sq, const double *p, struct points x, const double *w,
                  size_t begin, size_t end, double *work)
{
    struct room r = make_room(m, work);
    for (size_t j = 0; j < m->dim; j++)
        r.b[j] = 0;
    int status = m->ops->chart->to(m, r.p, p, r.rest);
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        double wi = w ? w[i] : 1;
        status = m->ops->chart->to(m, r.q, at(x, i), r.rest);
        for (size_t j = 0; j < m->dim; j++)
            r.a[j] = r.q[j] - r.p[j];
        if (status == STATUS_OK && !all_finite(m->dim, r.a))
            status = STATUS_OUT_OF_REACH;
        *sum_sq += wi * dot(m->dim, r.a, r.a);
        for (size_t j = 0; j < m->dim; j++)
            r.b[j] += wi * r.a[j];
    }
    if (status == STATUS_OK)
        status = m->ops->chart->pull(m, r.x, r.p, r.b, r.rest);
    for (size_t j = 0; j < m->ambient && status == STATUS_OK; j++)
        sum[j] += r.x[j];
    return status;
}

/* the mean of coordinates is the mean's coordinates */
int chart_start_add(manifold_t m, double *acc, struct points x, const double *w, size_t begin, size_t end, double *work)
{
    struct room r = make_room(m, work);
    for (size_t i = begin; i < end; i++) {
        int status = m->ops->chart->to(m, r.q, at(x, i), r.rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->dim; j++)
            acc[j] += (w ? w[i] : 1) * r.q[j];
    }
    return STATUS_OK;
}

int chart_start_end(manifold_t m, double *out, double *acc, double total, double *work)
{
    struct room r = make_room(m, work);
    for (size_t j = 0; j < m->dim; j++)
        r.a[j] = acc[j] / total;
    point_held(m, out, &r);
    return STATUS_OK;
}

/* the group of translations */
static int shift(manifold_t m, double *out, const double *by, struct points x, size_t begin, size_t end, double *work,
                 double sign)
{
    struct room r = make_room(m, work);
    int status = m->ops->chart->to(m, r.p, by, r.rest);
    for (size_t i = begin; i < end && status == STATUS_OK; i++) {
        status = m->ops->chart->to(m, r.q, at(x, i), r.rest);
        if (status != STATUS_OK)
            return status;
        for (size_t j = 0; j < m->dim; j++)
            r.a[j] = r.q[j] + sign * r.p[j];
        point_held(m, out + i * m->ambient, &r);
    }
    return status;
}

int chart_to_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                    double *work)
{
    return shift(m, out, base, x, begin, end, work, -1);
}

int chart_from_origin(manifold_t m, double *out, const double *base, struct points x, size_t begin, size_t end,
                      double *work)
{
    return shift(m, out, base, x, begin, end, work, 1);
}
