/* One step's gradient of DP-RGD and DP-RSGD: clipped in the metric at the public iterate, averaged, noise added. Replacing a
 * record of a batch of b moves the mean by at most 2 clip/b; adding or removing one moves a Poisson batch's sum by at most clip. */
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
    for (size_t begin = 0; begin < count; begin += block) {
        size_t some = count - begin < block ? count - begin : block;
        optim_rows(q, s, g, h, NULL, which + begin, some, rest);
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
    double divisor = o->sampling == OPTIM_POISSON ? o->divisor : (double)count;
    for (size_t j = 0; j < o->m->ambient; j++)
        v[j] /= divisor;
    return optim_add_noise(o, v, p, o->sd, work);
}

int optim_snapshot(struct optim *o, double *r, const double *p, double *work)
{
    size_t n = o->problem->n;
    const struct problem_step s = {.p = p, .clip = o->snapshot_clip};
    optim_sum(o, r, &s, o->which, n, work); /* `which` is a permutation of all */
    for (size_t j = 0; j < o->m->ambient; j++)
        r[j] /= (double)n;
    return optim_add_noise(o, r, p, o->snapshot_sd, work);
}
