#include "chunk.h"
#include "lanes.h"

#include <float.h>

static size_t lane_work(const struct chunk_pass *c)
{
    return c->x->block * c->width + c->work + manifold_work(c->m);
}

size_t chunk_work(const struct chunk_pass *c)
{
    return (size_t)c->x->lanes * lane_work(c);
}

static int block(const struct chunk_pass *c, struct exact *sums, int lane, size_t begin, size_t end, double *work)
{
    double *row = work, *rest = row + c->x->block * c->width;
    struct points x;
    int status = c->x->read(c->x, lane, begin, end, rest, &x);
    if (status != STATUS_OK)
        return status;
    status = c->rows(c, row, x, begin, end - begin, rest);
    if (status == STATUS_OK && (!c->total || all_finite((end - begin) * c->width, row))) {
        for (size_t i = 0; i < end - begin; i++)
            exact_add(sums, row + i * c->width);
        return STATUS_OK;
    }
    if (!c->total)
        return status;
    for (size_t i = 0; i < end - begin; i++)
        if (c->rows(c, row, one(at(x, i)), begin + i, 1, rest) == STATUS_OK && all_finite(c->width, row))
            exact_add(sums, row);
    return STATUS_OK;
}

/* the blocks of a round from record `start` */
struct round {
    const struct chunk_pass *c;
    struct exact *sums;
    double *work;
    size_t start, stop;
};

static int round_block(const void *data, size_t k, int lane)
{
    const struct round *r = data;
    size_t size = r->c->x->block, begin = r->start + k * size, end = begin + size < r->stop ? begin + size : r->stop;
    return block(r->c, r->sums + lane, lane, begin, end, r->work + (size_t)lane * lane_work(r->c));
}

int chunk_run(const struct chunk_pass *c, struct exact *sums, double *work)
{
    enum { ALONE = 64 }; /* where there is one lane only */
    size_t size = c->x->block, n = c->x->n;
    struct lanes lanes = {.most = c->x->lanes};
    for (size_t start = 0; start < n;) {
        size_t left = (n - start + size - 1) / size, blocks = lanes_round(&lanes, left, lanes.most > 1 ? 1 : ALONE, left);
        size_t stop = blocks < left ? start + blocks * size : n;
        struct round r = {c, sums, work, start, stop};
        int bad = lanes_run(&lanes, blocks, round_block, &r, NULL);
        if (bad != STATUS_OK)
            return bad;
        host_tick(c->m->host, 0, 0);
        start = stop;
    }
    for (int lane = 1; lane < lanes.most; lane++)
        exact_merge(sums, sums + lane);
    exact_carry(sums);
    return sums->bad ? STATUS_NO_CONVERGENCE : STATUS_OK;
}

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

static int logs_rows(const struct chunk_pass *c, double *out, struct points x, size_t begin, size_t count, double *work)
{
    const struct chunk_logs *d = c->data;
    manifold_t m = c->m;
    size_t n = m->ambient;
    double *log = work, *sq = log + c->x->block * n, *rest = sq + c->x->block;
    int status = m->ops->log(m, log, one(d->p), x, 0, count, rest);
    if (status == STATUS_OK && d->median) /* lengths of logarithms lose their digits far out in a hyperbolic space */
        status = manifold_dist(m, sq, one(d->p), x, 0, count, rest);
    else if (status == STATUS_OK)
        status = m->ops->inner(m, sq, one(d->p), (struct points){log, n}, (struct points){log, n}, 0, count, rest);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        double w = d->w ? d->w[begin + i] : 1, *row = out + i * (n + 1), f = w;
        row[n] = w * sq[i];
        if (d->median)
            f = sq[i] > 0 && !same(n, d->p, at(x, i)) ? w / sq[i] : 0;
        for (size_t j = 0; j < n; j++)
            row[j] = f * log[i * n + j];
    }
    return status;
}

struct chunk_pass chunk_logs_pass(manifold_t m, const struct source *x, const struct chunk_logs *data, int total)
{
    return (struct chunk_pass){m, x, m->ambient + 1, x->block * (m->ambient + 1), logs_rows, total, data};
}

static int start_rows(const struct chunk_pass *c, double *out, struct points x, size_t begin, size_t count,
                      double *work)
{
    const struct chunk_start *d = c->data;
    size_t n = c->width;
    int status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        double *row = out + i * n, w = d->w ? d->w[begin + i] : 1;
        for (size_t j = 0; j < n; j++)
            row[j] = d->seed[j];
        status = manifold_start_add(c->m, row, one(at(x, i)), &w, 0, 1, work);
        for (size_t j = 0; j < n; j++)
            row[j] -= d->seed[j];
    }
    return status;
}

struct chunk_pass chunk_start_pass(manifold_t m, const struct source *x, const struct chunk_start *data)
{
    return (struct chunk_pass){m, x, 2 * m->ambient, 0, start_rows, 0, data};
}

static int coords_rows(const struct chunk_pass *c, double *out, struct points x, size_t begin, size_t count,
                       double *work)
{
    const double *p = c->data;
    manifold_t m = c->m;
    double *log = work, *rest = log + c->x->block * m->ambient;
    int status = m->ops->log(m, log, one(p), x, 0, count, rest);
    (void)begin;
    if (status == STATUS_OK)
        status = manifold_coords(m, out, one(p), (struct points){log, m->ambient}, 0, count, rest);
    return status;
}

/* The same, each no longer than `most`: whatever the point is, and whatever rounding does, what is added up is. */
static void shorten(size_t d, double *v, double most)
{
    double limit = most * (1 - 8 * (DBL_EPSILON / 2) * ((double)d + 8));
    double length = all_finite(d, v) ? norm2(d, v) : INFINITY;
    double scale = length > limit ? limit / length : 1;
    for (size_t j = 0; j < d; j++)
        v[j] = length < INFINITY ? v[j] * scale : 0;
}

static int short_coords_rows(const struct chunk_pass *c, double *out, struct points x, size_t begin, size_t count,
                             double *work)
{
    const struct coords_within *w = c->data;
    struct chunk_pass plain = *c;
    plain.data = w->p;
    int status = coords_rows(&plain, out, x, begin, count, work);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        shorten(c->width, out + i * c->width, w->most);
    return status;
}

struct chunk_pass chunk_short_coords_pass(manifold_t m, const struct source *x, const struct coords_within *w)
{
    return (struct chunk_pass){m, x, m->dim, x->block * m->ambient, short_coords_rows, 1, w};
}

struct chunk_pass chunk_coords_pass(manifold_t m, const struct source *x, const double *p)
{
    return (struct chunk_pass){m, x, m->dim, x->block * m->ambient, coords_rows, 1, p};
}

static int points_rows(const struct chunk_pass *c, double *out, struct points x, size_t begin, size_t count,
                       double *work)
{
    (void)begin, (void)work;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < c->width; j++)
            out[i * c->width + j] = at(x, i)[j];
    return STATUS_OK;
}

struct chunk_pass chunk_points_pass(manifold_t m, const struct source *x)
{
    return (struct chunk_pass){m, x, m->ambient, 0, points_rows, 1, NULL};
}

/* ---- the public ball ------------------------------------------------------------------------------------------------ */

void ball_view(const struct ball_view *b, double *out, struct points x, size_t count, double *work)
{
    manifold_t m = b->m;
    size_t n = m->ambient;
    manifold_to_ball(m, out, b->centre, b->radius, x, 0, count, work);
    for (size_t i = 0; i < count && b->carried; i++) {
        double *o = out + i * n;
        if (m->ops->to_origin(m, o, b->centre, one(o), 0, 1, work) != STATUS_OK || !all_finite(n, o))
            m->ops->origin(m, o);
        /* rounding of the isometry: back into the ball */
        manifold_to_ball(m, o, b->origin, b->radius, one(o), 0, 1, work);
    }
}
