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

int gaussian_make(struct gaussian *law, manifold_t m, double sigma)
{
    if (!m->ops->radial || !(m->flags & MANIFOLD_HOMOGENEOUS))
        return STATUS_UNSUPPORTED;
    law->m = m;
    law->sigma = sigma;
    law->radial = (struct logconcave){radial_law, law, 0, m->rho_max};
    return hull_make(&law->hull, &law->radial, sigma * sqrt((double)m->dim));
}

int gaussian_draw(const struct gaussian *law, struct rng *rng, double *coords, double *work)
{
    return radial_draw(law->m, &law->hull, rng, coords, work);
}

void normal_draw(size_t d, double sigma, struct rng *rng, double *z)
{
    for (size_t j = 0; j < d; j++)
        z[j] = sigma * rng_normal(rng);
}
