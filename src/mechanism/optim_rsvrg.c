/* One step's gradient of DP-RSVRG (Utpala, Han, Jawanpuria and Mishra 2023, Algorithm 11, sign and transport corrected):
 * sum over the batch of grad f(w; z) - PT grad f(w~; z), divided by a public number b, plus PT r, where r is the released gradient at the
 * snapshot w~. The difference is clipped for each record at C1, so replacing a record moves it by at most 2 C1/b, one more or less by C1/b. As published both gradients are
 * clipped apart (4 C1/b) and r is without noise, which the steps have instead. */
#include "optim.h"

int optim_reduced_gradient(struct optim *o, double *v, const double *p, const double *snapshot, const double *r,
                           size_t step, double *work)
{
    manifold_t m = o->m;
    const size_t *which;
    size_t n = m->ambient, block = o->problem->block, count = optim_draw_batch(o, step, &which);
    double *h = work + block * n, *rest = h + block * n;
    const struct problem_step s = {p, snapshot, o->clip, o->paper};
    optim_sum(o, v, &s, which, count, work);
    for (size_t j = 0; j < n; j++) {
        v[j] /= o->divisor;
        h[j] = r[j];
    }
    optim_carry(m, h, snapshot, p, 1, rest);
    for (size_t j = 0; j < n; j++)
        v[j] += h[j];
    return optim_add_noise(o, v, p, o->sd, rest);
}
