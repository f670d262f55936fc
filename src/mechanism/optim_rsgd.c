/* One step's gradient of DP-RGD and DP-RSGD: clipped in the metric at the public iterate, summed, divided by a public number, noise
 * added. Replacing a record moves the sum by at most 2 clip, adding or removing one that enters the step by at most clip. So does a unit
 * of several records, which counts with the average of their clipped gradients. Where each has a budget of its own, it moves all steps' sums
 * together by no more than so many steps' would be (inst/proofs/optimisers.md, Individual budgets). */
#include "optim.h"
#include "tangent_noise.h"

size_t optim_gradient_work(const struct optim *o)
{
    size_t block = o->problem->block, n = o->m->ambient;
    size_t pieces = problem_work(o->problem), noise = n + tangent_noise_work(o->m, 1),
           carry = manifold_work(o->m) + o->m->dim + 2 * n;
    pieces = pieces > noise ? pieces : noise;
    return 2 * block * n + (pieces > carry ? pieces : carry);
}

int optim_rows(const struct problem *q, const struct problem_step *s, double *g, double *h, double *losses,
               const size_t *which, size_t count, double *work)
{
    manifold_t m = q->m;
    int status = problem_gradients(q, g, losses, s->p, which, count, work), apart = s->snapshot && s->apart;
    if (s->snapshot) {
        problem_gradients(q, h, NULL, s->snapshot, which, count, work);
        if (apart) {
            optim_clip(m, g, s->p, count, s->clip, work);
            optim_clip(m, h, s->snapshot, count, s->clip, work);
        }
        optim_carry(m, h, s->snapshot, s->p, count, work);
        for (size_t j = 0; j < count * m->ambient; j++)
            g[j] -= h[j];
    }
    if (!apart && s->clip < INFINITY)
        optim_clip(m, g, s->p, count, s->clip, work);
    return status;
}

/* The next records of the units `which`, `block` at most, and the share of each in its unit's average; from the row of the unit that
 * the last ones ended before. Returns how many. */
static size_t next_records(const struct problem *q, const size_t *which, size_t count, size_t *unit, size_t *row)
{
    size_t some = 0;
    while (*unit < count && some < q->block) {
        size_t begin = q->first[which[*unit]], size = q->first[which[*unit] + 1] - begin;
        if (*row < size) {
            q->some[some] = q->rows[begin + (*row)++];
            q->share[some++] = 1 / (double)size;
        }
        if (*row >= size) {
            ++*unit;
            *row = 0;
        }
    }
    return some;
}

/* the same of units */
static void sum_units(struct optim *o, double *sum, const struct problem_step *s, const size_t *which, size_t count,
                      double *work)
{
    const struct problem *q = o->problem;
    size_t n = o->m->ambient, block = q->block, unit = 0, row = 0;
    double *g = work, *h = g + block * n, *rest = h + block * n;
    while (unit < count) {
        size_t some = next_records(q, which, count, &unit, &row);
        optim_rows(q, s, g, h, NULL, q->some, some, rest);
        for (size_t i = 0; i < some; i++)
            for (size_t j = 0; j < n; j++)
                sum[j] += q->share[i] * g[i * n + j];
        host_tick(o->m->host, o->done, o->total);
    }
}

/* the same where each unit has a budget: its rows by themselves, as what is rationed is their average */
static void sum_rationed_units(struct optim *o, double *sum, const struct problem_step *s, const size_t *which,
                               size_t count, double *work)
{
    const struct problem *q = o->problem;
    size_t n = o->m->ambient, block = q->block;
    double *g = work, *mean = g + block * n, *rest = mean + block * n;
    for (size_t u = 0; u < count; u++) {
        for (size_t j = 0; j < n; j++)
            mean[j] = 0;
        for (size_t unit = u, row = 0; unit == u;) {
            size_t some = next_records(q, which, u + 1, &unit, &row);
            optim_rows(q, s, g, NULL, NULL, q->some, some, rest);
            for (size_t i = 0; i < some; i++)
                for (size_t j = 0; j < n; j++)
                    mean[j] += q->share[i] * g[i * n + j];
        }
        optim_ration(o, mean, s->p, which + u, 1, rest);
        for (size_t j = 0; j < n; j++)
            sum[j] += mean[j];
        host_tick(o->m->host, o->done, o->total);
    }
}

void optim_sum(struct optim *o, double *sum, const struct problem_step *s, const size_t *which, size_t count,
               double *work)
{
    const struct problem *q = o->problem;
    size_t n = o->m->ambient, block = q->block;
    double *g = work, *h = g + block * n, *rest = h + block * n;
    for (size_t j = 0; j < n; j++)
        sum[j] = 0;
    if (q->sum) { /* what can't be had is 0, as for a record */
        if (count > 0 && q->sum(q->context, sum, s, count == q->n ? NULL : which, count) != STATUS_OK)
            for (size_t j = 0; j < n; j++)
                sum[j] = 0;
        return;
    }
    if (q->first) {
        (o->spent ? sum_rationed_units : sum_units)(o, sum, s, which, count, work);
        return;
    }
    for (size_t begin = 0; begin < count; begin += block) {
        size_t some = count - begin < block ? count - begin : block;
        optim_rows(q, s, g, h, NULL, which + begin, some, rest);
        if (o->spent)
            optim_ration(o, g, s->p, which + begin, some, rest);
        for (size_t i = 0; i < some; i++)
            for (size_t j = 0; j < n; j++)
                sum[j] += g[i * n + j];
        host_tick(o->m->host, o->done, o->total);
    }
}

int optim_gradient(struct optim *o, double *v, const double *p, size_t step, double *work)
{
    const size_t *which;
    size_t count = optim_draw_batch(o, step, &which);
    const struct problem_step s = {.p = p, .clip = o->clip};
    optim_sum(o, v, &s, which, count, work);
    for (size_t j = 0; j < o->m->ambient; j++)
        v[j] /= o->divisor;
    return optim_add_noise(o, v, p, o->sd, work);
}

int optim_snapshot(struct optim *o, double *r, const double *p, double *work)
{
    const struct problem_step s = {.p = p, .clip = o->snapshot_clip};
    if (o->sampling == OPTIM_POISSON) /* else `which` is a permutation of all */
        optim_start(o);
    optim_sum(o, r, &s, o->which, o->problem->n, work);
    for (size_t j = 0; j < o->m->ambient; j++)
        r[j] /= o->snapshot_divisor;
    return optim_add_noise(o, r, p, o->snapshot_sd, work);
}
