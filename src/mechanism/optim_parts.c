/* What steps of every kind are made of: batches, clipping, noise, carrying vectors along. */
#include "optim.h"
#include "tangent_noise.h"

enum { CLIP_BATCH = 32 };

void optim_start(struct optim *o)
{
    for (size_t i = 0; i < o->problem->n && o->which; i++)
        o->which[i] = i;
}

/* Of the records from `from` on each by itself with probability `rate`, to the front of them; returns how many. Gaps between chosen ones
 * are geometric. For lots those that are left stay in the list, where the next ones are drawn. */
static size_t draw_each(struct optim *o, size_t from, double rate)
{
    size_t n = o->problem->n, count = 0, *w = o->which + from;
    if (rate >= 1)
        return n - from;
    for (double i = -1, scale = 1 / log1p(-rate);;) {
        i += 1 + floor(log(rng_uniform(o->rng)) * scale);
        if (!(i < (double)(n - from)))
            return count;
        size_t j = (size_t)i, t = o->lots ? w[j] : j;
        if (o->lots)
            w[j] = w[count];
        w[count++] = t;
    }
}

/* A record falls into each of the lots with chance `rate`, and into one at most: given that it isn't in those before, it is in this one
 * with chance rate/(1 - rate * lots before). */
static size_t draw_lot(struct optim *o, size_t step, const size_t **which)
{
    size_t before = step % o->lots, from = before ? o->taken : 0;
    size_t count = draw_each(o, from, o->rate / (1 - (double)before * o->rate));
    o->taken = from + count;
    *which = o->which + from;
    return count;
}

/* The first `batch` entries of a shuffle are a uniform subset, in whatever order the earlier steps left the indices. */
size_t optim_draw_batch(struct optim *o, size_t step, const size_t **which)
{
    size_t n = o->problem->n, *w = o->which;
    *which = w;
    switch (o->sampling) {
    case OPTIM_FULL:
        return n;
    case OPTIM_DISJOINT: {
        if (o->lots)
            return draw_lot(o, step, which);
        size_t batches = n / o->batch;
        *which = w + step % batches * o->batch;
        return o->batch;
    }
    case OPTIM_POISSON:
        return draw_each(o, 0, o->rate);
    default:
        for (size_t i = 0; i < o->batch; i++) {
            size_t j = i + rng_below(o->rng, n - i), t = w[i];
            w[i] = w[j];
            w[j] = t;
        }
        return o->batch;
    }
}

void optim_clip(manifold_t m, double *v, const double *p, size_t count, double clip, double *work)
{
    size_t n = m->ambient;
    double sq[CLIP_BATCH];
    for (size_t begin = 0; begin < count; begin += CLIP_BATCH) {
        size_t some = count - begin < CLIP_BATCH ? count - begin : CLIP_BATCH;
        double *batch = v + begin * n;
        struct points u = {batch, n};
        int together = m->ops->inner(m, sq, one(p), u, u, 0, some, work) == STATUS_OK;
        for (size_t i = 0; i < some; i++) {
            double *g = batch + i * n, scale = 0;
            if (!together && m->ops->inner(m, sq + i, one(p), one(g), one(g), 0, 1, work) != STATUS_OK)
                sq[i] = NAN;
            if (sq[i] >= 0) {
                double length = sqrt(sq[i]);
                scale = length <= clip ? 1 : clip / length;
            }
            if (scale != 1)
                for (size_t j = 0; j < n; j++)
                    g[j] = scale > 0 ? scale * g[j] : 0;
        }
    }
}

int optim_budgets(struct optim *o, double *spent)
{
    o->spent = spent;
    for (size_t i = 0; i < o->problem->n; i++)
        spent[i] = 0;
    return o->sampling == OPTIM_FULL && !o->inner && !o->problem->sum;
}

/* a + b of numbers that aren't negative, rounded up; whole numbers stay exact. (What is taken off the sum first is exact.) */
static double sum_up(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a, sum = high + low;
    return sum - high < low ? nextafter(sum, INFINITY) : sum;
}

void optim_ration(struct optim *o, double *v, const double *p, const size_t *who, size_t count, double *work)
{
    manifold_t m = o->m;
    size_t n = m->ambient;
    double slack = (double)(16 + n) * RIEMDP_EPS; /* of the sum of squares, and of what is made of it */
    for (size_t i = 0; i < count; i++) {
        double *g = v + i * n, *spent = o->spent + who[i], sq, scale = 0;
        if (m->ops->inner(m, &sq, one(p), one(g), one(g), 0, 1, work) == STATUS_OK && sq >= 0) {
            double length = sqrt(sq) / o->clip, cost = length * length * (1 + slack);
            double sum = sum_up(*spent, cost > 1 - 1e-12 ? 1 : cost); /* a clipped one's is 1: the clip's own rounding is the noise's matter */
            scale = sum <= o->most ? 1 : fmin(1, sqrt(o->most - *spent) / length * (1 - slack));
            *spent = sum <= o->most ? sum : o->most;
        }
        for (size_t j = 0; j < n; j++) /* in any case: those whose budget is used up take as long as others */
            g[j] = scale > 0 ? scale * g[j] : 0;
    }
}

int optim_add_noise(struct optim *o, double *v, const double *p, double sd, double *work)
{
    manifold_t m = o->m;
    double *z = work, *rest = z + m->ambient;
    if (!(sd > 0))
        return STATUS_OK;
    int status = tangent_noise(m, z, one(p), TANGENT_GAUSSIAN, sd, o->rng, 0, 1, rest);
    for (size_t j = 0; j < m->ambient; j++)
        v[j] += z[j];
    return status;
}

void optim_carry(manifold_t m, double *v, const double *p, const double *q, size_t count, double *work)
{
    size_t n = m->ambient;
    for (size_t i = 0; i < count; i++) {
        double *u = v + i * n;
        int status = STATUS_UNSUPPORTED;
        if (m->ops->transport && (m->flags & MANIFOLD_SYMMETRIC))
            status = m->ops->transport(m, u, one(p), one(q), one(u), 0, 1, work);
        if (status != STATUS_OK || !all_finite(n, u))
            status = manifold_carry(m, u, one(p), one(q), one(u), 0, 1, work);
        if (status != STATUS_OK || !all_finite(n, u))
            for (size_t j = 0; j < n; j++)
                u[j] = 0;
    }
}
