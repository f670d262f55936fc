/* Riemannian Gaussian law (Said et al. 2017, doi:10.1109/TIT.2017.2653803), exactly: as mechanism_laplace.c with
 * exp(-rho^2/(2 sigma^2)) for exp(-rho/sigma). It exists for every sigma, as no area grows faster than exponentially.
 * Proof: inst/proofs/gaussian.md. */
#include "mechanism.h"

static void radial_law(const void *data, double rho, double *value, double *slope)
{
    const struct gaussian *law = data;
    double t = rho / law->sigma;
    law->m->ops->radial(law->m, rho, value, slope);
    *value -= 0.5 * t * t;
    *slope -= t / law->sigma;
}

size_t gaussian_parts(manifold_t m)
{
    const struct product *p = manifold_parts(m);
    return p ? p->count : 0;
}

/* squared distances of the parts add up: each part's point is drawn by itself */
static int parts_make(struct gaussian *law, const struct product *p)
{
    int status = STATUS_OK;
    for (size_t i = 0; i < p->count && status == STATUS_OK; i++)
        status = gaussian_make(law->part + i, &p->part[i].m, law->sigma / p->part[i].root, NULL);
    return status;
}

int gaussian_make(struct gaussian *law, manifold_t m, double sigma, struct gaussian *part)
{
    if (!m->ops->radial || !(m->flags & MANIFOLD_HOMOGENEOUS))
        return STATUS_UNSUPPORTED;
    law->m = m;
    law->sigma = sigma;
    law->part = part;
    if (manifold_parts(m))
        return part ? parts_make(law, manifold_parts(m)) : STATUS_UNSUPPORTED;
    law->radial = (struct logconcave){radial_law, law, 0, m->rho_max};
    return hull_make(&law->hull, &law->radial, sigma * sqrt((double)m->dim));
}

int gaussian_draw(const struct gaussian *law, struct rng *rng, double *coords, double *work)
{
    const struct product *p = manifold_parts(law->m);
    if (!p)
        return radial_draw(law->m, &law->hull, rng, coords, work);
    int status = STATUS_OK;
    for (size_t i = 0; i < p->count && status == STATUS_OK; i++) {
        const struct part *q = p->part + i;
        status = radial_draw(&q->m, &law->part[i].hull, rng, coords + q->coord, work);
        for (size_t j = 0; j < q->m.dim; j++)
            coords[q->coord + j] *= q->root;
    }
    return status;
}

void normal_draw(size_t d, double sigma, struct rng *rng, double *z)
{
    for (size_t j = 0; j < d; j++)
        z[j] = sigma * rng_normal(rng);
}
