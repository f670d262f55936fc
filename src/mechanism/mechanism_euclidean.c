/* l2 K-norm noise in the space around the manifold, projected back: what the manifold mechanisms are compared with. */
#include "baseline.h"

void ambient_noise(manifold_t m, enum ambient_norm norm, double sigma, struct rng *rng, double *x, double *z)
{
    size_t k = m->rows;
    if (norm == AMBIENT_ENTRIES) {
        knorm_draw(m->ambient, sigma, rng, z);
        for (size_t j = 0; j < m->ambient; j++)
            x[j] += z[j];
        return;
    }
    /* an off-diagonal entry counts twice in the Frobenius norm */
    double off = norm == AMBIENT_FROBENIUS ? 1 / RIEMDP_SQRT2 : 1;
    knorm_draw(k * (k + 1) / 2, sigma, rng, z);
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++, z++) {
            double e = i == j ? *z : off * *z;
            x[i + j * k] += e;
            if (i != j)
                x[j + i * k] += e;
        }
}

void ambient_finish(manifold_t m, double *x, const double *centre, double radius, double *work)
{
    size_t n = m->ambient;
    double *y = work, *rest = y + n;
    int found = all_finite(n, x) && m->ops->project(m, y, one(x), 0, 1, rest) == STATUS_OK &&
                m->ops->check_point(m, one(y), 0, 1, rest) == STATUS_OK;
    for (size_t j = 0; j < n; j++)
        x[j] = found ? y[j] : centre[j];
    if (radius > 0)
        manifold_to_ball(m, x, centre, radius, one(x), 0, 1, rest);
}
