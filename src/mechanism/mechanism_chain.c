/* Metropolis chains for the K-norm gradient and Laplace densities.
 *
 * Isotropic: a Gaussian vector in an orthonormal frame at the current state, mapped by exp. Such a proposal is symmetric with
 * respect to the volume on every manifold, for steps of any length: a geodesic from p to q is, run backwards, one from q to p of
 * the same length and with the same Jacobi determinant (the Wronskian of the two Jacobi tensors is constant), so the Hastings
 * factor is one. Where exp isn't defined for all vectors the geodesic that is missing one way is missing the other way too, and
 * the candidate is rejected. Every state is kept, also one that repeats.
 *
 * Published: the candidates of Soto et al. (2022), supplement 2.3 to 2.5, and Reimherr et al. (2021), appendix A.5; no Hastings
 * factor; a rejected candidate is drawn again and leaves no trace. On positive definite matrices the proposal isn't symmetric,
 * and a chain of accepted states has the density times the probability of acceptance as its law: for reproduction only. */
#include "baseline.h"

#include <string.h>

enum { CHAIN_MOST_TRIES = 1000, CHAIN_BATCH = 256 };

size_t chain_work(manifold_t m)
{
    return 4 * m->ambient + m->dim + manifold_work(m);
}

/* length of the mean of the records' logarithms at x; 0 where there is none */
static int gradient_length(const struct chain *c, const double *x, double *length, double *work)
{
    manifold_t m = c->m;
    double *sum = work, *there = work + m->ambient, *rest = there + m->ambient, ignored = 0, scale = (double)c->n;
    if (c->elsewhere) {
        memcpy(there, x, m->ambient * sizeof *there);
        if (c->base && m->ops->to_origin(m, there, c->base, one(x), 0, 1, rest) != STATUS_OK)
            return 0;
        if (c->elsewhere->eval(c->elsewhere, there, sum, &ignored) != STATUS_OK)
            return 0;
        x = there;
        scale = 1;
    } else {
        for (size_t j = 0; j < m->ambient; j++)
            sum[j] = 0;
        for (size_t begin = 0; begin < c->n; begin += CHAIN_BATCH) {
            size_t end = begin + CHAIN_BATCH < c->n ? begin + CHAIN_BATCH : c->n;
            if (manifold_log_sum(m, sum, &ignored, x, c->records, NULL, begin, end, rest) != STATUS_OK)
                return 0;
            host_tick(m->host, 0, 0);
        }
    }
    if (m->ops->inner(m, length, one(x), one(sum), one(sum), 0, 1, rest) != STATUS_OK || !(*length >= 0))
        return 0;
    *length = sqrt(*length) / scale;
    return 1;
}

static double log_density(const struct chain *c, const double *x, double *work)
{
    manifold_t m = c->m;
    double *rest = work + m->ambient, size = 0;
    if (c->radius > 0 &&
        !(manifold_dist(m, &size, one(c->centre), one(x), 0, 1, rest) == STATUS_OK && size <= c->radius))
        return -INFINITY;
    if (c->target == CHAIN_LAPLACE) {
        if (manifold_dist(m, &size, one(c->mean), one(x), 0, 1, rest) != STATUS_OK)
            return -INFINITY;
    } else if (!gradient_length(c, x, &size, work)) {
        return -INFINITY;
    }
    return size < INFINITY ? -size / c->sigma : -INFINITY;
}

/* the papers' tangent vectors at x */
static int published(const struct chain *c, const double *x, struct rng *rng, double *v, double *work)
{
    manifold_t m = c->m;
    size_t n = m->ambient, k = m->rows;
    switch (m->ops->published) {
    case PUBLISHED_DIRECTION:
        /* a normal vector scaled to length sigma, then projected */
        rng_direction(rng, n, v);
        for (size_t j = 0; j < n; j++)
            v[j] *= c->step * c->sigma;
        break;
    case PUBLISHED_ENTRIES:
        /* entries on and below the diagonal uniform on [-.5, .5] */
        for (size_t j = 0; j < k; j++)
            for (size_t i = j; i < k; i++)
                v[i + j * k] = v[j + i * k] = c->step * c->sigma * (rng_uniform(rng) - 0.5);
        return STATUS_OK;
    case PUBLISHED_LANDMARKS:
        /* real and imaginary parts uniform on [0, 1]; the projection centres them and makes them horizontal */
        for (size_t j = 0; j < n; j++)
            v[j] = c->step * rng_uniform(rng);
        break;
    default:
        return STATUS_UNSUPPORTED;
    }
    return m->ops->project_tangent(m, v, one(x), one(v), 0, 1, work);
}

int chain_start(struct chain *c, double *state, double *work)
{
    manifold_t m = c->m;
    if (c->proposal == CHAIN_PUBLISHED && m->ops->published == PUBLISHED_NONE)
        return STATUS_UNSUPPORTED;
    c->accepted = c->proposed = 0;
    c->log_density = log_density(c, state, work + 2 * m->ambient + m->dim);
    return STATUS_OK;
}

void chain_step(struct chain *c, double *state, struct rng *rng, double *work)
{
    manifold_t m = c->m;
    size_t n = m->ambient;
    double *v = work, *y = v + n, *a = y + n, *rest = a + m->dim;
    for (int tries = 0; tries < CHAIN_MOST_TRIES; tries++) {
        int status;
        host_tick(m->host, 0, 0);
        if (c->proposal == CHAIN_PUBLISHED) {
            status = published(c, state, rng, v, rest);
        } else {
            for (size_t j = 0; j < m->dim; j++)
                a[j] = c->step * rng_normal(rng);
            status = manifold_from_coords(m, v, one(state), one(a), 0, 1, rest);
        }
        if (status == STATUS_OK)
            status = m->ops->exp(m, y, one(state), one(v), 0, 1, rest);
        if (status == STATUS_OK && all_finite(n, y))
            status = m->ops->project(m, y, one(y), 0, 1, rest); /* rounding adds up over a long chain */
        double u = log(rng_uniform(rng)), l = -INFINITY;
        if (status == STATUS_OK && all_finite(n, y))
            l = log_density(c, y, rest);
        c->proposed++;
        if (l > -INFINITY && u < l - c->log_density) {
            for (size_t j = 0; j < n; j++)
                state[j] = y[j];
            c->log_density = l;
            c->accepted++;
            return;
        }
        if (!c->redraw)
            return;
    }
}
