/* Riemannian Laplace law (Hajri et al. 2016, doi:10.3390/e18030098; Reimherr, Bharath and Soto 2021), exactly: the radius from
 * the log-concave bound of the sphere's area times exp(-rho/sigma), the direction uniform, both kept with probability true
 * area over bound. Proof: inst/proofs/laplace.md. */
#include "mechanism.h"

static void radial_law(const void *data, double rho, double *value, double *slope)
{
    const struct laplace *law = data;
    law->m->ops->radial(law->m, rho, value, slope);
    *value -= rho / law->sigma;
    *slope -= 1 / law->sigma;
}

int laplace_make(struct laplace *law, manifold_t m, double sigma)
{
    if (!m->ops->radial || !(m->flags & MANIFOLD_HOMOGENEOUS))
        return STATUS_UNSUPPORTED;
    law->m = m;
    law->sigma = sigma;
    law->width = law->first = law->drift = 0;
    if (manifold_parts(m))
        mixture_make(law);
    else
        law->radial = (struct logconcave){radial_law, law, 0, m->rho_max};
    return hull_make(&law->hull, &law->radial, sigma * (double)m->dim);
}

double radial_propose(manifold_t m, const struct hull *hull, struct rng *rng, double *coords, double *work)
{
    double rho = hull_draw(hull, rng);
    rng_direction(rng, m->dim, coords);
    for (size_t j = 0; j < m->dim; j++)
        coords[j] *= rho;
    return m->ops->radial_accept ? m->ops->radial_accept(m, coords, rho, work) : 0;
}

int radial_draw(manifold_t m, const struct hull *hull, struct rng *rng, double *coords, double *work)
{
    for (long trial = 0; trial < RADIAL_TRIALS; trial++) {
        host_tick(m->host, 0, 0);
        double kept = radial_propose(m, hull, rng, coords, work);
        if (!m->ops->radial_accept || log(rng_uniform(rng)) <= kept)
            return STATUS_OK;
    }
    return STATUS_TRIALS;
}

int staircase_make(struct laplace *law, manifold_t m, double sigma, double width, double first)
{
    int status = laplace_make(law, m, sigma);
    law->width = width;
    law->first = first;
    return status;
}

double staircase_kept(const struct laplace *law, double rho)
{
    double beyond = (rho - law->first) / law->width, steps = beyond > 0 ? ceil(beyond) : 0;
    return (beyond - steps) * (law->width / law->sigma);
}

int laplace_draw(const struct laplace *law, struct rng *rng, double *coords, double *work)
{
    for (long trial = 0; trial < RADIAL_TRIALS; trial++) {
        int status = manifold_parts(law->m) ? mixture_draw(law, rng, coords, work) : radial_draw(law->m, &law->hull, rng, coords, work);
        if (status != STATUS_OK || !(law->width > 0) ||
            log(rng_uniform(rng)) <= staircase_kept(law, norm2(law->m->dim, coords)))
            return status;
    }
    return STATUS_TRIALS;
}

void knorm_draw(size_t d, double sigma, struct rng *rng, double *z)
{
    double r = sigma * rng_gamma(rng, (double)d);
    rng_direction(rng, d, z);
    for (size_t j = 0; j < d; j++)
        z[j] *= r;
}
