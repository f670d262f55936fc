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

/* sum of the clipped gradients of the records `which` */
static void clipped_sum(struct optim *o, double *sum, const double *p, double clip, const size_t *which, size_t count,
                        double *work)
{
    manifold_t m = o->m;
    size_t n = m->ambient, block = o->problem->block;
    double *g = work, *rest = g + 2 * block * n;
    for (size_t j = 0; j < n; j++)
        sum[j] = 0;
    for (size_t begin = 0; begin < count; begin += block) {
        size_t some = count - begin < block ? count - begin : block;
        problem_gradients(o->problem, g, NULL, p, which + begin, some, rest);
        optim_clip(m, g, p, some, clip, rest);
        for (size_t i = 0; i < some; i++)
            for (size_t j = 0; j < n; j++)
                sum[j] += g[i * n + j];
        host_tick(m->host, o->done, o->total);
    }
}

int optim_gradient(struct optim *o, double *v, const double *p, size_t step, double *work)
{
    const size_t *which;
    size_t count = optim_draw_batch(o, step, &which);
    clipped_sum(o, v, p, o->clip, which, count, work);
    double divisor = o->sampling == OPTIM_POISSON ? o->divisor : (double)count;
    for (size_t j = 0; j < o->m->ambient; j++)
        v[j] /= divisor;
    return optim_add_noise(o, v, p, o->sd, work);
}

int optim_snapshot(struct optim *o, double *r, const double *p, double *work)
{
    size_t n = o->problem->n;
    clipped_sum(o, r, p, o->snapshot_clip, o->which, n, work); /* `which` is a permutation of all */
    for (size_t j = 0; j < o->m->ambient; j++)
        r[j] /= (double)n;
    return optim_add_noise(o, r, p, o->snapshot_sd, work);
}
